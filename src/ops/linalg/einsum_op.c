/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_op.c - products of tensors said by letters. Every axis shards in all operands that have
   it; those that the output lacks leave P(sum), and a partial operand makes a partial output. */
#include "ops/linalg/einsum.h"

#include "ops/linalg/linalg_ops.h"
#include "op/infer.h"

static tsr_status read_schema(const tsr_schema *s, tsr_einsum_axes *e, tsr_error *err)
{
    const tsr_attr *equation = tsr_schema_attr(s, "equation");
    const tsr_shape *shape[TSR_EINSUM_IN];
    int n = 0;

    if (equation->n < 0)
        return tsr__fail(
            err, TSR_ERR_ARG,
            "einsum: missing required attribute equation (for example equation=ij,jk->ik)");
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k)) {
            if (k != n)
                return tsr__fail(err, TSR_ERR_ARG, "einsum: operand %d is missing", n);
            shape[n++] = &s->in[k].shape;
        }
    return tsr__einsum_parse("einsum", equation->text, n, shape, e, err);
}

static tsr_status einsum_shape(tsr_schema *s, tsr_error *err)
{
    tsr_einsum_axes e;
    tsr_status st;

    TSR_TRY(tsr__same_dtype(s, err));
    TSR_TRY(tsr__needs_float(s, err));
    TSR_TRY(read_schema(s, &e, err));
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = tsr__einsum_shape(&e);
done:
    return st;
}

/* An axis that is twice in one operand goes along its diagonal, and no rank can hold a part of it
   that is a diagonal of its own. */
static bool is_diagonal(const tsr_einsum_axes *e, int axis)
{
    bool twice = false;

    for (int k = 0; k < e->n; k++) {
        int times = 0;

        for (int d = 0; d < e->ndim[k]; d++)
            times += e->axis[k][d] == axis;
        twice = twice || times > 1;
    }
    return twice;
}

static char *write_tensor(const tsr_einsum_axes *e, int tensor, char *p)
{
    for (int d = 0; d < e->ndim[tensor]; d++) {
        *p++ = (char)('a' + e->axis[tensor][d]);
        if (is_diagonal(e, e->axis[tensor][d]))
            *p++ = '!';
    }
    return p;
}

/* One operand of which nothing is summed is moved: any reduction may be pending. */
static tsr_status add_moves(const tsr_einsum_axes *e, tsr_rules *out, tsr_error *err)
{
    static const tsr_reduce reduce[] = {TSR_MAX, TSR_MIN, TSR_PROD};
    tsr_status st = TSR_OK;

    for (int i = 0; i < 3 && e->n == 1 && e->n_axes == e->ndim[TSR_EINSUM_OUT]; i++) {
        const tsr_rule_placement partial = tsr_rule_partial(reduce[i]);

        TSR_TRY(tsr_rule_add(out, &(tsr_rule){.in = {partial}, .out = {partial}}, err));
    }
done:
    return st;
}

/* The text of axes that a row would have: "abc,bd!d!->ac". */
static tsr_status einsum_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    char text[(TSR_EINSUM_IN + 1) * (2 * TSR_MAX_DIM + 1) + 2], *p = text;
    tsr_einsum_axes e;
    tsr_status st;

    TSR_TRY(read_schema(s, &e, err));
    for (int k = 0; k < e.n; k++) {
        p = write_tensor(&e, k, p);
        *p++ = k + 1 < e.n ? ',' : '-';
    }
    *p++ = '>';
    *write_tensor(&e, TSR_EINSUM_OUT, p) = 0;
    TSR_TRY(tsr__axes_rules(s, text, out, err));
    TSR_TRY(add_moves(&e, out, err));
done:
    return st;
}

static const char *const einsum_cases[] = {
    "f64[4,6] f64[6,2] equation=ij,jk->ik",
    "f64[5,3] f64[3,7] equation=ij,jk->ik",
    "f64[4,6] f64[6,2] equation=ij,jk->k",
    "f64[5,7] f64[7,3] equation=ij,jk->k",
    "f64[3,5] f64[4] equation=ij,k->kj",
    "f64[2,4,4] equation=...ii->i...",
    "f64[3,5,5] equation=...ii->i...",
    "f64[4,2,3] f64[1,3,6] f64[6] equation=...ij,...jk,k->...i",
    "f64[5,3,2] f64[1,2,7] f64[7] equation=...ij,...jk,k->...i",
    NULL,
};

const tsr_op tsr__ops_einsum[] = {
    {.name = "einsum",
     .inputs = "a,b?,c?,d?",
     .attrs = "equation:text",
     .doc =
         "Computes the Einstein sum of 1 to 4 tensors, such as bij,bjk->bik. A letter twice in "
         "one operand takes its diagonal; ... stands for dims that broadcast; without ->, the "
         "output has the dims of ... and then the letters that occur once, in alphabetical order. "
         "The equation has at most 63 characters.",
     .rule = einsum_rule,
     .linear = "a*b?*c?*d?",
     .shape = einsum_shape,
     .kernel = tsr__kernel_einsum,
     .scratch = tsr__scratch_einsum,
     .grad = tsr__grad_einsum,
     .saves = "a,b,c,d",
     .in_field = true,
     .cases = einsum_cases},
    {0},
};
