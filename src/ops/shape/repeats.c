/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - elements that stand several times in the output: expand and tile. */
#include <inttypes.h>

#include "ops/shape/rearrange.h"
#include "ops/shape/shape_ops.h"
#include "ops/shape/shape_attrs.h"
#include "op/infer.h"
#include "op/sliding.h"

/* ---- expand: dims of size 1 grow, new ones come in front ---- */

static tsr_status expand_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *sizes = tsr_schema_attr(s, "sizes");
    const tsr_shape *x = &s->in[0].shape;
    const int more = (sizes->n < 0 ? 0 : sizes->n) - x->ndim;
    tsr_shape out = {.ndim = x->ndim + more};
    char a[TSR_TEXT_LEN];

    if (more < 0)
        return tsr__fail(err, TSR_ERR_SHAPE, "expand: %s has %d dims, but there are %d sizes",
                         tsr_spec_text(&s->in[0], a, sizeof a), x->ndim, out.ndim);
    for (int d = 0; d < out.ndim; d++) {
        const int64_t size = sizes->i[d], own = d < more ? 1 : x->size[d - more];

        out.size[d] = size == -1 && d >= more ? own : size;
        if (out.size[d] < 0)
            return tsr__fail(err, TSR_ERR_SHAPE, "expand: size %" PRId64 " of dim %d is invalid",
                             size, d);
        if (own != 1 && out.size[d] != own)
            return tsr__fail(err, TSR_ERR_SHAPE,
                             "expand: dim %d of %s has size %" PRId64
                             ", which does not broadcast to %" PRId64,
                             d - more, tsr_spec_text(&s->in[0], a, sizeof a), own, size);
    }
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
    return TSR_OK;
}

static tsr_status expand_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_shape *x = &s->in[0].shape, *y = &s->out_shape[0];
    tsr_status st = TSR_OK;

    for (int d = 0; d < y->ndim; d++) {
        const int own = d - (y->ndim - x->ndim);

        if (own >= 0 && x->size[own] == y->size[d])
            TSR_TRY(tsr__rule_pass(out, own, d, err));
        else /* each rank makes its own copies */
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.out = {tsr__plain_shard(d)}}, err));
    }
done:
    return st;
}

static void expand_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const int *coord, tsr_kernel_call *call)
{
    (void)s;
    (void)in;
    (void)out;
    (void)coord;
    for (int d = 0; d < call->out[0].shape.ndim; d++)
        call->attrs.value[TSR_ATTR_EXPAND_SIZES].i[d] = call->out[0].shape.size[d];
}

/* ---- tile: all of x several times along each dim ---- */

static tsr_status tile_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_attr *counts = tsr_schema_attr(s, "counts");
    const tsr_shape *x = &s->in[0].shape;
    const int n = counts->n < 0 ? 0 : counts->n;
    tsr_shape out = {.ndim = n > x->ndim ? n : x->ndim};

    for (int d = 0; d < out.ndim; d++) {
        const int own = d - (out.ndim - x->ndim), k = d - (out.ndim - n);
        const int64_t count = k < 0 ? 1 : counts->i[k];

        if (count < 0)
            return tsr__fail(err, TSR_ERR_ARG,
                             "tile: the count of dim %d is %" PRId64 ", must be at least 0", d,
                             count);
        if (__builtin_mul_overflow(own < 0 ? 1 : x->size[own], count, &out.size[d]))
            return tsr__fail(err, TSR_ERR_SHAPE, "tile: %" PRId64 " copies make dim %d too large",
                             count, d);
    }
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = out;
    return TSR_OK;
}

/* The copies of a rank's part are a strided shard, of as many pieces as there are copies. */
static tsr_status tile_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_attr *counts = tsr_schema_attr(s, "counts");
    const tsr_shape *x = &s->in[0].shape, *y = &s->out_shape[0];
    tsr_status st = TSR_OK;

    for (int d = y->ndim - x->ndim; d < y->ndim; d++) {
        const int own = d - (y->ndim - x->ndim), k = d - (y->ndim - counts->n);
        const int64_t count = counts->n < 1 || k < 0 ? 1 : counts->i[k];
        const tsr_rule_placement copies = {
            .place = {.kind = TSR_STRIDED, .dim = d, .factor = count}};

        if (count == 1)
            TSR_TRY(tsr__rule_pass(out, own, d, err));
        else if (count > 1)
            TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {tsr__plain_shard(own)}, .out = {copies}},
                                 err));
    }
done:
    return st;
}

static const char *const expand_cases[] = {
    "f64[4,1] sizes=-1,6",
    "f64[5,1] sizes=-1,6",
    "f64[4,6] sizes=2,-1,-1",
    "f64[5,3] sizes=2,-1,-1",
    NULL,
};

static const char *const tile_cases[] = {
    "f64[4,6] counts=2",
    "f64[5,3] counts=2",
    "f64[4,2] counts=3,1",
    "f64[5,3] counts=3,1",
    "f64[4] counts=2,2",
    "f64[5] counts=2,2",
    NULL,
};

const tsr_op tsr__ops_repeats[] = {
    {TSR_MOVES, .name = "expand", .inputs = "x", .attrs = "sizes:ints",
     .doc = "Broadcasts dims of size 1 to the given sizes and adds leading dims; -1 keeps a size.",
     .rule = expand_rule, .shape = expand_shape, .kernel = tsr__kernel_expand,
     .bind_rank = expand_bind_rank, .grad_expr = "x: g", .cases = expand_cases},
    {TSR_MOVES, .name = "tile", .inputs = "x", .attrs = "counts:ints",
     .doc = "Repeats x counts[i] times along each of its last dims; more counts than dims add "
            "leading dims.",
     .rule = tile_rule, .shape = tile_shape, .kernel = tsr__kernel_tile, .grad = tsr__grad_tile,
     .saves = "", .cases = tile_cases},
    {0},
};
