/* SPDX-License-Identifier: Apache-2.0 */
/* own_bags.c - which ids a rank's bags have (own_bags.h): first the offsets that the row's window
   shows, then the range of the ids that they mean. Called for deals of bags by offsets. */
#include "run/own_bags.h"

#include "op/lookups.h"
#include "run/halo.h"
#include "run/ranges.h"

/* Bounds of this rank's bags among all ids. */
static tsr_status find_bounds(const tsr_run_call *call, tsr_held *held, tsr_bags *bags,
                              int64_t **begin, tsr_error *err)
{
    const tsr_schema *s = call->schema;
    tsr_ctx *ctx = call->mesh->ctx;
    tsr_kernel_call window = {.in[TSR__OFFSETS].data = tsr__tensor_data(call->in[TSR__OFFSETS])};
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_offsets offsets = {.dtype = s->in[TSR__OFFSETS].dtype,
                           .total = s->in[TSR__OFFSETS].shape.size[0],
                           .with_last = tsr_schema_attr(s, "include_last")->i[0],
                           .n_ids = s->in[TSR__IDS].shape.size[0]};
    tsr_error wrong = {0};
    tsr_layout layout;
    tsr_halo *halo = NULL;
    int64_t first, end;
    tsr_status st;

    tsr__run_specs(call, in, out);
    TSR_TRY(tsr__halo_make(call->mesh, s, in, out, &ctx->cost, &halo));
    if (halo)
        TSR_TRY(tsr__halo_bring(halo, call->mesh, &window));
    layout = tsr__windows_layout(tsr__halo_windows(halo), in, out, TSR__OFFSETS);
    tsr__layout_interval(&layout, 0, call->mesh->coord, &offsets.first, &end);
    offsets.n = end - offsets.first;
    offsets.data = window.in[TSR__OFFSETS].data;
    layout = tsr__layout_of(tsr__lookup_is_backward(s->op->kind) ? &in[TSR__GRAD] : &out[0]);
    tsr__layout_interval(&layout, 0, call->mesh->coord, &first, &end);
    bags->n_bags = end - first;
    TSR_TRY(tsr__hold(held, (size_t)(bags->n_bags + 1) * sizeof **begin, begin));
    st = tsr__bag_offsets(&offsets, first, bags->n_bags, *begin, &wrong);
    if (st != TSR_OK)
        tsr__fail(err, st, "%s: %s", s->op->name, wrong.text);
done:
    tsr__halo_put(halo, ctx);
    tsr__halo_free(ctx, halo);
    return st;
}

/* A part of the ids is not that of a rank's bags. */
static tsr_status fetch_ids(const tsr_run_call *call, tsr_held *held, tsr_bags *bags,
                            const int64_t *begin, const char **weights)
{
    const tsr_form *ids = call->in[TSR__IDS]->form;
    const size_t size = tsr_dtype_size(ids->spec.dtype);
    const int64_t first = begin[0], end = begin[bags->n_bags];
    tsr_ranges ranges;
    void *range;
    tsr_status st;

    TSR_TRY(tsr__ranges_open(&ranges, call->mesh, &ids->spec, first, end, call->schema->op->name));
    TSR_TRY(tsr__hold(held, (size_t)(end - first) * size, &range));
    TSR_TRY(tsr__ranges_fetch(&ranges, bags->ids.data, size, range));
    bags->ids.data = range;
    if (*weights) {
        const size_t width = tsr_dtype_size(call->in[TSR__WEIGHTS]->form->spec.dtype);
        TSR_TRY(tsr__hold(held, (size_t)(end - first) * width, &range));
        TSR_TRY(tsr__ranges_fetch(&ranges, *weights, width, range));
        *weights = range;
    }
done:
    tsr__ranges_close(&ranges);
    return st;
}

tsr_status tsr__own_bags(const tsr_run_call *call, tsr_held *held, tsr_bags *bags,
                         const char **weights, tsr_error *err)
{
    const tsr_form *ids = call->in[TSR__IDS]->form;
    int64_t *begin, first;
    tsr_status st;

    TSR_TRY(find_bounds(call, held, bags, &begin, err));
    bags->begin = begin;
    first = begin[0];
    if (tsr__list_mdims(&ids->spec)) {
        TSR_TRY(fetch_ids(call, held, bags, begin, weights));
    } else {
        bags->ids.data =
            (const char *)bags->ids.data + (size_t)first * tsr_dtype_size(ids->spec.dtype);
        if (*weights)
            *weights += (size_t)first * tsr_dtype_size(call->in[TSR__WEIGHTS]->form->spec.dtype);
    }
    for (int64_t b = 0; b <= bags->n_bags; b++)
        begin[b] -= first;
    bags->ids.n = begin[bags->n_bags];
done:
    return st;
}
