/* SPDX-License-Identifier: Apache-2.0 */
/* local_bags.c - which ids a rank's bags have (local_bags.h): first the offsets that the row's
   window shows, then the range of the ids that they mean. Called for row exchanges of bags by
   offsets. */
#include "ops/embedding/local_bags.h"

#include "ops/embedding/lookups.h"
#include "run/halo.h"
#include "ops/embedding/ranges.h"

tsr_offsets tsr__offsets_of(const tsr_run_call *call)
{
    const tsr_schema *s = call->schema;
    const int ids = tsr__lookup_ids(s->op->kind);
    const tsr_local_spec *offsets = call->in[ids + 1]->local_spec;

    return (tsr_offsets){.dtype = offsets->spec.dtype,
                         .data = tsr__tensor_data(call->in[ids + 1]),
                         .n = offsets->local.size[0],
                         .total = offsets->spec.shape.size[0],
                         .with_last = tsr_schema_attr(s, "include_last")->i[0],
                         .n_ids = s->in[ids].shape.size[0]};
}

tsr_status tsr__bag_bounds(const tsr_run_call *call, const tsr_offsets *offsets, int64_t bag,
                           int64_t n, tsr_call_arena *arena, int64_t **begin, tsr_error *err)
{
    tsr_error wrong = {0};
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(arena, (size_t)(n + 1) * sizeof **begin, begin));
    if (tsr__bag_offsets(offsets, bag, n, *begin, &wrong) != TSR_OK) {
        tsr__fail(err, wrong.code, "%s: %s", call->schema->op->name, wrong.text);
        memset(*begin, 0, (size_t)(n + 1) * sizeof **begin); /* empty bags do no harm */
    }
done:
    return st;
}

/* Bounds of this rank's bags among all ids, by offsets of which some are others'. */
static tsr_status find_bounds(const tsr_run_call *call, tsr_call_arena *arena, tsr_bags *bags,
                              int64_t **begin, tsr_error *err)
{
    const tsr_schema *s = call->schema;
    const int k = tsr__lookup_ids(s->op->kind) + 1;
    tsr_ctx *ctx = call->mesh->ctx;
    tsr_offsets offsets = tsr__offsets_of(call);
    tsr_kernel_call window = {0};
    const tsr_spec *in = call->in_spec, *out = call->out_spec;
    tsr_layout layout;
    tsr_halo *halo = NULL;
    int64_t first, end;
    tsr_status st;

    window.in[k].data = tsr__tensor_data(call->in[k]);
    TSR_TRY(tsr__halo_make(call->mesh, s, in, out, false, &halo));
    if (halo) {
        TSR_TRY(tsr__halo_start(halo, call->mesh, call->in, &window));
        TSR_TRY(tsr__halo_finish(halo, call->in));
    }
    layout = tsr__windows_layout(tsr__halo_windows(halo), in, out, k);
    tsr__layout_interval(&layout, 0, call->mesh->coord, &offsets.first, &end);
    offsets.n = end - offsets.first;
    offsets.data = window.in[k].data;
    layout = tsr__layout_of(tsr__lookup_rows(s->op->kind, in, out));
    tsr__layout_interval(&layout, 0, call->mesh->coord, &first, &end);
    bags->n_bags = end - first;
    TSR_TRY(tsr__bag_bounds(call, &offsets, first, bags->n_bags, arena, begin, err));
done:
    tsr__halo_put(halo);
    tsr__halo_free(ctx, halo);
    return st;
}

/* From the parts that others have. */
static tsr_status fetch(tsr_ranges *ranges, tsr_call_arena *arena, int64_t n, size_t width,
                        const void *x, void **out)
{
    tsr_status st;

    TSR_TRY(tsr__arena_alloc(arena, (size_t)n * width, out));
    TSR_TRY(tsr__ranges_fetch(ranges, x, width, *out));
done:
    return st;
}

tsr_status tsr__local_bags(const tsr_run_call *call, tsr_call_arena *arena, tsr_bags *bags,
                           const char **weights, tsr_ranges *ranges, tsr_error *err)
{
    const int k = tsr__lookup_ids(call->schema->op->kind);
    const tsr_spec *ids = &call->in_spec[k];
    const size_t size = tsr_dtype_size(ids->dtype);
    const size_t width = *weights ? tsr_dtype_size(call->in_spec[k + 2].dtype) : 0;
    int64_t *begin, first, n;
    void *range;
    tsr_status st;

    *ranges = (tsr_ranges){0};
    TSR_TRY(find_bounds(call, arena, bags, &begin, err));
    first = begin[0];
    bags->begin = begin;
    n = begin[bags->n_bags] - first;
    if (tsr__list_mdims(ids)) {
        TSR_TRY(
            tsr__ranges_open(ranges, call->mesh, ids, first, first + n, call->schema->op->name));
        TSR_TRY(fetch(ranges, arena, n, size, bags->ids.data, &range));
        bags->ids.data = range;
        if (*weights) {
            TSR_TRY(fetch(ranges, arena, n, width, *weights, &range));
            *weights = range;
        }
    } else if (n > 0) {
        bags->ids.data = (const char *)bags->ids.data + (size_t)first * size;
        if (*weights)
            *weights += (size_t)first * width;
    }
    for (int64_t b = 0; b <= bags->n_bags; b++)
        begin[b] -= first;
    bags->ids.n = n;
done:
    return st;
}
