/* SPDX-License-Identifier: Apache-2.0 */
/* sample_rows.c - see sample_rows.h. */
#include "sample_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "layout/layout.h"
#include "tessera_ops.h"

/* Kernels here know numbers of 8 bytes: f64, and the field. */
static tsr_status check_dtype(const tsr_schema *s, tsr_error *err)
{
    if (s->in[0].dtype == TSR_F64 || (int)s->in[0].dtype == TSR__FIELD)
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_DTYPE, "%s: only f64", s->op->name);
}

/* ---- two outputs: a + b, and the sums of its columns, which can be switched off ---- */

static tsr_status pair_shape(tsr_schema *s, tsr_error *err)
{
    bool sums = tsr_schema_attr(s, "sums")->i[0] != 0;

    s->n_out = 2;
    s->out_dtype[0] = s->out_dtype[1] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    s->out_shape[1] = (tsr_shape){.ndim = sums ? 1 : -1, .size = {s->in[0].shape.size[1]}};
    if (s->in[1].shape.ndim >= 0 && (s->in[1].shape.size[0] != s->in[0].shape.size[0] ||
                                     s->in[1].shape.size[1] != s->in[0].shape.size[1]))
        return TSR_ERR_SHAPE;
    return check_dtype(s, err);
}

static void add_to(tsr_dtype dtype, void *to, int64_t i, const void *from, int64_t j)
{
    if ((int)dtype == TSR__FIELD)
        ((uint64_t *)to)[i] = tsr__field_add(((uint64_t *)to)[i], ((const uint64_t *)from)[j]);
    else
        ((double *)to)[i] += ((const double *)from)[j];
}

static void pair_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *y = &call->out[0], *sums = &call->out[1];
    int64_t m = x->shape.size[0], n = x->shape.size[1];

    memset(y->data, 0, (size_t)(m * n) * 8);
    if (sums->data)
        memset(sums->data, 0, (size_t)n * 8);
    for (int64_t i = 0; i < m * n; i++) {
        add_to(x->dtype, y->data, i, x->data, i);
        if (call->in[1].data)
            add_to(x->dtype, y->data, i, call->in[1].data, i);
        if (sums->data)
            add_to(x->dtype, sums->data, i % n, y->data, i);
    }
}

/* Rows sharded: the sums are partial, or as `wrong` says. */
tsr_status sample_pair_rules(const tsr_schema *s, tsr_rules *out, tsr_rule_placement sums,
                             bool columns, tsr_error *err)
{
    bool both = s->in[1].shape.ndim >= 0, has_sums = s->out_shape[1].ndim >= 0;
    tsr_status st = TSR_OK;

    for (int d = 0; d < 1 + columns; d++) {
        tsr_rule rule = {.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}};
        if (both)
            rule.in[1] = tsr_rule_shard(d);
        if (has_sums)
            rule.out[1] = d == 0 ? sums : tsr_rule_shard(0);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    for (int k = 0; k < 1 + both && !has_sums; k++)
        for (int max = 0; max < 2; max++) { /* largest elements pass where nothing is summed */
            tsr_rule rule = {.out = {tsr_rule_partial(max ? TSR_MAX : TSR_MIN)}};
            rule.in[k] = rule.out[0];
            TSR_TRY(tsr_rule_add(out, &rule, err));
        }
done:
    return st;
}

static tsr_status pair_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    return sample_pair_rules(s, out, tsr_rule_partial(TSR_SUM), true, err);
}

static const char *const pair_cases[] = {"f64[4,6]",
                                         "f64[5,3]",
                                         "f64[4,6] sums=false",
                                         "f64[5,3] sums=false",
                                         "f64[4,6] f64[4,6]",
                                         "f64[5,3] f64[5,3]",
                                         "f64[4,6] f64[4,6] sums=false",
                                         "f64[5,3] f64[5,3] sums=false",
                                         NULL};

const tsr_op sample_pair = {.name = "pair",
                            .inputs = "a,b?",
                            .attrs = "sums:bool=true",
                            .doc = "a + b, and the sums of its columns",
                            .rule = pair_rule,
                            .linear = "a+b",
                            .shape = pair_shape,
                            .kernel = pair_kernel,
                            .in_field = true,
                            .cases = pair_cases};

/* ---- rows of a table, by indices; where each was found as a second output ---- */

static tsr_status lookup_shape(tsr_schema *s, tsr_error *err)
{
    s->n_out = 2;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] =
        (tsr_shape){.ndim = 2, .size = {s->in[1].shape.size[0], s->in[0].shape.size[1]}};
    s->out_dtype[1] = s->in[1].dtype;
    s->out_shape[1] = s->in[1].shape;
    return check_dtype(s, err);
}

/* Indices beyond the own rows give 0, so that ranks with other rows can add theirs. */
static void lookup_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *table = &call->in[0], *ids = &call->in[1];
    int64_t rows = table->shape.size[0], width = table->shape.size[1];
    const uint64_t *from = table->data;
    uint64_t *to = call->out[0].data; /* any 8 bytes */

    for (int64_t i = 0; i < ids->shape.size[0]; i++) {
        int64_t id = ((const int64_t *)ids->data)[i], row = id - call->number[0];
        bool here = row >= 0 && row < rows;
        for (int64_t d = 0; d < width; d++)
            to[i * width + d] = here ? from[row * width + d] : 0;
        ((int64_t *)call->out[1].data)[i] = id;
        if (id < 0 || id >= call->number[1]) {
            call->error->code = TSR_ERR_ARG;
            snprintf(call->error->text, sizeof call->error->text, "index %d of %d", (int)id,
                     (int)call->number[1]);
        }
    }
}

/* The first own row, and how many rows there are. */
static void lookup_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                             const int *coord, tsr_kernel_call *call)
{
    tsr_layout layout = tsr__layout_of(&in[0]);
    tsr_heap heap = {0};
    tsr_runs runs = {0};

    (void)out;
    call->number[0] = 0;
    call->number[1] = s->in[0].shape.size[0];
    if (call->in[0].shape.size[0] > 0 &&
        tsr__layout_runs(&heap, &layout, 0, coord, &runs, NULL) == TSR_OK)
        call->number[0] = tsr__runs_index(&runs, 0);
    tsr__runs_free(&heap, &runs);
}

static tsr_status lookup_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_rule_placement rows = {
        .place = {.kind = TSR_SHARD}}; /* plain: an offset tells which */
    const tsr_rule_placement sum = tsr_rule_partial(TSR_SUM);
    tsr_status st;

    (void)s;
    TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {rows}, .out = {sum}}, err));
    TSR_TRY(tsr_rule_add(
        out, &(tsr_rule){.in[1] = tsr_rule_shard(0), .out = {tsr_rule_shard(0), tsr_rule_shard(0)}},
        err));
    TSR_TRY(
        tsr_rule_add(out, &(tsr_rule){.in = {tsr_rule_shard(1)}, .out = {tsr_rule_shard(1)}}, err));
    for (int r = TSR_SUM; r <= TSR_MAX; r++) { /* the table passes as it is, the indices too */
        const tsr_rule_placement partial = tsr_rule_partial((tsr_reduce)r);
        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {partial}, .out = {partial}}, err));
    }
done:
    return st;
}

static const char *const lookup_cases[] = {"f64[10,4] i64[7]<10", "f64[8,6] i64[4]<8",
                                           "f64[5,3] i64[9]<5", NULL};

const tsr_op sample_lookup = {.name = "lookup",
                              .inputs = "table,ids",
                              .doc = "rows of a table",
                              .rule = lookup_rule,
                              .shape = lookup_shape,
                              .kernel = lookup_kernel,
                              .bind_rank = lookup_bind_rank,
                              .in_field = true,
                              .cases = lookup_cases};

/* ---- an op that moves data itself, and one composed of others ---- */

/* The sum of all elements, of which every rank has some. */
static tsr_status total_run(const tsr_run_call *call, tsr_error *err)
{
    tsr_local x, y;
    double sum = 0;
    tsr_status st;

    (void)err;
    TSR_TRY(tsr_local_view(call->in[0], &x));
    TSR_TRY(tsr_local_view(call->out[0], &y));
    for (int64_t i = 0; i < tsr_shape_count(&x.shape); i++)
        sum += ((double *)x.data)[i];
    TSR_TRY(tsr_all_reduce(call->mesh, TSR_F64, TSR_SUM, &sum, 1, y.data));
done:
    return st;
}

static tsr_status total_shape(tsr_schema *s, tsr_error *err)
{
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0].ndim = 0;
    return check_dtype(s, err);
}

static tsr_status total_strategy(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule[TSR_MAX_MESH] = {0};

    for (int m = 0; m < s->in[0].mesh.ndim; m++)
        rule[m].in[0].place = (tsr_placement){.kind = TSR_SHARD};
    return tsr_strategy_add(out, rule, s->in[0].mesh.ndim, err);
}

/* Replicated inputs would be added once per rank. */
static bool total_fits(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out)
{
    (void)s;
    (void)out;
    for (int m = 0; m < in->mesh.ndim; m++)
        if (in->mesh.size[m] > 1 && in->place[m].kind != TSR_SHARD)
            return false;
    return true;
}

static const char *const matrix_cases[] = {"f64[4,6]", "f64[5,3]", NULL};

const tsr_op sample_total = {.name = "total",
                             .inputs = "x",
                             .doc = "the sum of all elements",
                             .strategies = total_strategy,
                             .feasible = total_fits,
                             .shape = total_shape,
                             .run = total_run,
                             .cases = matrix_cases};

static tsr_status compose_twice(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs,
                                tsr_tensor **out, tsr_error *err)
{
    (void)n_in;
    (void)attrs;
    (void)err;
    out[0] = tsr_add(in[0], in[0]);
    out[2] = tsr_neg(in[0]);
    return TSR_OK;
}

const tsr_op sample_twice = {.name = "twice",
                             .inputs = "x",
                             .doc = "2 x, nothing and -x",
                             .compose = compose_twice,
                             .cases = matrix_cases};
