/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - runs an op rank by rank and puts the outputs together. Decides whether placements of
   inputs and output belong together; not which of them a row should have. */
#include "validate/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/reduce.h"
#include "layout/layout.h"
#include "op/op_case.h"
#include "op/schema.h"

enum { ELEMENT = 8 }; /* bytes of the largest dtype */

static bool is_order(tsr_reduce reduce)
{
    return reduce == TSR_MIN || reduce == TSR_MAX;
}

int tsr__domains_of(const tsr_schema *s, tsr_domain out[2])
{
    const tsr_op *op = s->op;
    bool linear = op->linear || op->moves, ordered = false; /* there is no order in the field */

    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && s->in[k].place[0].kind == TSR_PARTIAL)
            ordered = ordered || is_order(s->in[k].place[0].reduce);
    out[0] = TSR_DOMAIN_REALS;
    if (linear && !ordered && op->in_field)
        out[0] = TSR_DOMAIN_FIELD;
    else if ((linear && op->in_field) || op->monotone || is_order(op->reduce))
        out[0] = TSR_DOMAIN_TOKENS;
    out[1] = TSR_DOMAIN_REALS;
    return out[0] == TSR_DOMAIN_FIELD ? 2 : 1;
}

/* ---- memory ---- */

static void *carve(char **at, int64_t count)
{
    char *p = *at;

    *at += (count > 0 ? count : 1) * ELEMENT;
    return p;
}

tsr_status tsr__trial_open(tsr_trial *t, tsr_heap *heap, const tsr_schema *schema, uint64_t seed,
                           tsr_error *err)
{
    int ranks = tsr__mesh_size(&schema->in[0].mesh);
    int64_t out = tsr_shape_count(&schema->out_shape[0]), total = (out + 1) * (ranks + 2);
    char *at;
    tsr_status st;

    *t = (tsr_trial){.heap = heap, .schema = *schema, .ranks = ranks, .seed = seed};
    if (ranks > TSR_TRIAL_RANKS)
        return tsr__fail(err, TSR_ERR_MESH, "a trial has at most %d ranks, not %d", TSR_TRIAL_RANKS,
                         ranks);
    for (int k = 0; k < schema->n_in; k++)
        if (tsr__schema_has(schema, k))
            total += (tsr_shape_count(&schema->in[k].shape) + 1) * (2 * ranks + 2);
    TSR_TRY(tsr__alloc(heap, total, ELEMENT, &t->memory, err));
    at = t->memory;
    t->token = (int64_t *)(void *)at;
    for (int k = 0; k < schema->n_in; k++)
        if (tsr__schema_has(schema, k))
            at += tsr_shape_count(&schema->in[k].shape) * ranks * ELEMENT;
    for (int k = 0; k < schema->n_in; k++) {
        int64_t n = tsr__schema_has(schema, k) ? tsr_shape_count(&schema->in[k].shape) : -1;
        if (n < 0)
            continue;
        for (int r = 0; r < ranks; r++)
            t->term[k][r] = carve(&at, n);
        t->whole[k] = carve(&at, n);
        t->part[k] = carve(&at, n);
    }
    for (int r = 0; r < ranks; r++)
        t->own[r] = carve(&at, out);
    t->result = carve(&at, out);
    t->local = carve(&at, out);
    tsr__trial_shuffle(t);
done:
    return st;
}

void tsr__trial_close(tsr_trial *t)
{
    tsr__free(t->heap, t->memory);
    t->memory = NULL;
}

/* ---- the kernel ---- */

/* The kernel call of the rank at `coord` on operands of the given shapes; an absent input has ndim
   -1. Placements are those of the specs. */
static tsr_kernel_call make_call(const tsr_trial *t, const tsr_spec *in, const tsr_spec *out,
                                 const int *coord, const tsr_shape *shape, void *const *data,
                                 const tsr_shape *out_shape, void *result)
{
    const tsr_schema *s = &t->schema;
    tsr_kernel_call call = {.n_in = s->n_in, .n_out = 1, .attrs = s->attrs, .reference = true};

    for (int k = 0; k < call.n_in; k++)
        call.in[k] = (tsr_operand){s->in[k].dtype, shape[k], data[k]};
    call.out[0] = (tsr_operand){s->out_dtype[0], *out_shape, result};
    if (s->op->localise)
        s->op->localise(s, in, out, coord, &call);
    return call;
}

/* On whole inputs, as if there were one rank. */
static void run_whole(tsr_trial *t)
{
    const tsr_schema *s = &t->schema;
    tsr_spec in[TSR_MAX_IN], out = {.dtype = s->out_dtype[0], .shape = s->out_shape[0]};
    tsr_shape shape[TSR_MAX_IN];
    tsr_kernel_call call;
    const int coord = 0;

    out.mesh = tsr__case_mesh(1);
    for (int k = 0; k < s->n_in; k++) {
        in[k] = (tsr_spec){.dtype = s->in[k].dtype, .shape = s->in[k].shape, .mesh = out.mesh};
        shape[k] = s->in[k].shape;
    }
    call = make_call(t, in, &out, &coord, shape, t->whole, &s->out_shape[0], t->result);
    s->op->kernel(&call);
}

tsr_status tsr__trial_fill(tsr_trial *t, tsr_domain domain, tsr_error *err)
{
    tsr_schema *s = &t->schema;
    tsr_status st;

    t->domain = domain;
    for (int k = 0; k < s->n_in; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        if (s->in[k].dtype == TSR_F64 || (int)s->in[k].dtype == TSR__FIELD)
            s->in[k].dtype = domain == TSR_DOMAIN_FIELD ? (tsr_dtype)TSR__FIELD : TSR_F64;
        tsr__trial_fill_input(t, k);
    }
    TSR_TRY(s->op->shape(s, err));
    run_whole(t);
done:
    return st;
}

tsr_status tsr__trial_part(tsr_trial *t, int k, int index, tsr_shape *shape, tsr_error *err)
{
    return tsr__part_cut(t->heap, &t->schema.in[k], index, t->term[k][index], t->part[k], shape,
                         err);
}

/* ---- one rank ---- */

static bool shapes_equal(const tsr_shape *a, const tsr_shape *b)
{
    for (int d = 0; d < a->ndim; d++)
        if (a->size[d] != b->size[d])
            return false;
    return a->ndim == b->ndim;
}

/* Another size for what is empty: a row may refuse an empty input that its kernel can take. */
static void fill_empty(tsr_shape *shape)
{
    for (int d = 0; d < shape->ndim; d++)
        if (shape->size[d] == 0)
            shape->size[d] = 7;
}

/* Is the op defined on the parts, and is its output of the shape that the layout says? */
static bool parts_fit(const tsr_trial *t, const tsr_kernel_call *call)
{
    tsr_schema local = t->schema;
    tsr_shape want = call->out[0].shape;

    local.attrs = call->attrs;
    for (int k = 0; k < local.n_in; k++)
        local.in[k].shape = call->in[k].shape;
    if (local.op->shape(&local, NULL) == TSR_OK)
        return shapes_equal(&local.out_shape[0], &want);
    for (int k = 0; k < local.n_in; k++)
        fill_empty(&local.in[k].shape);
    fill_empty(&want);
    return local.op->shape(&local, NULL) == TSR_OK && shapes_equal(&local.out_shape[0], &want);
}

/* Leaves the output in t->local; *fits is false where the kernel cannot run. */
static tsr_status run_rank(tsr_trial *t, const tsr_spec *out, int rank, bool *fits, tsr_error *err)
{
    const tsr_layout layout = tsr__layout_of(out);
    tsr_shape shape[TSR_MAX_IN], local = tsr__layout_local_shape(&layout, &rank);
    tsr_kernel_call call;
    tsr_status st = TSR_OK;

    for (int k = 0; k < t->schema.n_in; k++) {
        shape[k] = t->schema.in[k].shape;
        if (tsr__schema_has(&t->schema, k))
            TSR_TRY(tsr__trial_part(t, k, rank, &shape[k], err));
    }
    call = make_call(t, t->schema.in, out, &rank, shape, t->part, &local, t->local);
    *fits = parts_fit(t, &call);
    if (*fits)
        t->schema.op->kernel(&call);
done:
    return st;
}

/* ---- comparing ---- */

int64_t tsr__trial_differs(const tsr_trial *t, const void *x)
{
    const tsr_dtype dtype = t->schema.out_dtype[0];
    const int64_t n = tsr_shape_count(&t->schema.out_shape[0]);
    double scale = 1;

    if ((int)dtype == TSR__FIELD) {
        for (int64_t i = 0; i < n; i++)
            if (((const uint64_t *)x)[i] != ((const uint64_t *)t->result)[i])
                return i;
        return -1;
    }
    for (int64_t i = 0; i < n; i++)
        scale = fmax(scale, fabs(tsr__get(dtype, t->result, i)));
    for (int64_t i = 0; i < n; i++) {
        double a = tsr__get(dtype, x, i), b = tsr__get(dtype, t->result, i);
        if (a != b && !(fabs(a - b) <= 1e-12 * scale))
            return i;
    }
    return -1;
}

const char *tsr__trial_element_text(const tsr_trial *t, const void *x, int64_t i, char *buf,
                                    size_t n)
{
    const tsr_dtype dtype = t->schema.out_dtype[0];
    tsr_shape at = t->schema.out_shape[0];
    char index[TSR_TEXT_LEN];
    int64_t rest = i;

    for (int d = at.ndim - 1; d >= 0; d--) {
        int64_t size = at.size[d];
        at.size[d] = rest % size;
        rest /= size;
    }
    tsr__shape_text(&at, index, sizeof index);
    if ((int)dtype == TSR__FIELD)
        snprintf(buf, n, "element %s is %" PRIu64 ", not %" PRIu64 " (modulo 2^61 - 1)", index,
                 ((const uint64_t *)x)[i], ((const uint64_t *)t->result)[i]);
    else
        snprintf(buf, n, "element %s is %.15g, not %.15g", index, tsr__get(dtype, x, i),
                 tsr__get(dtype, t->result, i));
    return buf;
}

static bool same(const tsr_trial *t, const void *x, char why[TSR_TEXT_LEN])
{
    int64_t i = tsr__trial_differs(t, x);

    if (i >= 0)
        tsr__trial_element_text(t, x, i, why, TSR_TEXT_LEN);
    return i < 0;
}

/* ---- all ranks ---- */

/* Put the outputs of all ranks together, by the placement. */
static bool assembled(tsr_trial *t, const tsr_placement *out, char why[TSR_TEXT_LEN])
{
    const tsr_schema *s = &t->schema;
    bool average = out->reduce == TSR_AVG;

    if (out->kind == TSR_REPLICATE) {
        for (int r = 0; r < t->ranks; r++)
            if (!same(t, t->own[r], why))
                return false;
        return true;
    }
    if (out->kind == TSR_PARTIAL)
        tsr__reduce_ref(s->out_dtype[0], average ? TSR_SUM : out->reduce, average ? t->ranks : 1,
                        t->ranks, (const void *const *)t->own, tsr_shape_count(&s->out_shape[0]),
                        t->own[0]);
    return same(t, t->own[0], why);
}

tsr_status tsr__trial_holds(tsr_trial *t, const tsr_placement *out, bool *holds,
                            char why[TSR_TEXT_LEN], tsr_error *err)
{
    const tsr_schema *s = &t->schema;
    tsr_spec spec = {
        .dtype = s->out_dtype[0], .shape = s->out_shape[0], .mesh = s->in[0].mesh, .place = {*out}};
    bool sharded = out->kind == TSR_SHARD || out->kind == TSR_STRIDED, fits = true;
    tsr_status st = TSR_OK;

    for (int r = 0; r < t->ranks; r++) {
        TSR_TRY(run_rank(t, &spec, r, &fits, err));
        if (!fits) {
            *holds = false;
            snprintf(why, TSR_TEXT_LEN, "on rank %d the parts do not fit together", r);
            return TSR_OK;
        }
        TSR_TRY(tsr__part_paste(t->heap, &spec, r, t->local, t->own[sharded ? 0 : r], err));
    }
    *holds = assembled(t, out, why);
done:
    return st;
}
