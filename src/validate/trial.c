/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - runs an op rank by rank and puts the outputs together. Decides whether placements of
   inputs and outputs belong together; not which of them a row should have. */
#include "validate/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/reduce.h"
#include "base/text.h"
#include "op/linear.h"
#include "op/local_call.h"
#include "op/op_case.h"
#include "op/schema.h"

enum { ELEMENT = 8 }; /* bytes of the largest dtype */

static bool is_order(tsr_reduce reduce)
{
    return reduce == TSR_MIN || reduce == TSR_MAX;
}

/* Is there an integer input that may hold anything? */
static bool has_integers(const tsr_trial *t)
{
    const tsr_schema *s = &t->schema;

    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && tsr__dtype_is_integer(s->in[k].dtype) &&
            !tsr__range_is_integer(&t->range[k]))
            return true;
    return false;
}

int tsr__domains_of(const tsr_trial *t, tsr_domain out[2])
{
    const tsr_schema *s = &t->schema;
    const tsr_op *op = s->op;
    bool linear = op->linear || op->permutes || op->in_field,
         ordered = false; /* there is no order in the field */

    if (has_integers(t)) {
        out[0] = TSR_DOMAIN_BITS;
        return 1;
    }
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k) && s->in[k].place[0].kind == TSR_PARTIAL)
            ordered = ordered || is_order(s->in[k].place[0].reduce);
    out[0] = TSR_DOMAIN_REALS;
    if (linear && !ordered && op->in_field)
        out[0] = TSR_DOMAIN_FIELD;
    else if ((linear && op->in_field) || (op->monotone && ordered) || is_order(op->reduce))
        out[0] = TSR_DOMAIN_TOKENS;
    else if (s->n_out == 1 && s->out_dtype[0] == TSR_BOOL) /* or nothing is ever equal */
        out[0] = TSR_DOMAIN_SMALL;
    out[1] = ordered ? TSR_DOMAIN_NAN : TSR_DOMAIN_REALS;
    return ordered || out[0] == TSR_DOMAIN_FIELD ? 2 : 1;
}

/* ---- memory ---- */

static void *carve(char **at, int64_t count)
{
    char *p = *at;

    *at += (count > 0 ? count : 1) * ELEMENT;
    return p;
}

/* Elements of an output, -1 if it is switched off. */
static int64_t count_out(const tsr_schema *s, int k)
{
    return tsr__schema_gives(s, k) ? tsr_shape_count(&s->out_shape[k]) : -1;
}

static void carve_outputs(tsr_trial *t, char **at)
{
    for (int k = 0; k < t->schema.n_out; k++) {
        int64_t n = count_out(&t->schema, k);
        if (n < 0)
            continue;
        for (int r = 0; r < t->ranks; r++)
            t->own[k][r] = carve(at, n);
        t->result[k] = carve(at, n);
        t->local[k] = carve(at, n);
    }
}

tsr_status tsr__trial_open(tsr_trial *t, tsr_heap *heap, const tsr_schema *schema, const char *text,
                           uint64_t seed, tsr_error *err)
{
    int ranks = tsr__mesh_size(&schema->in[0].mesh);
    int64_t total = 1;
    char *at;
    tsr_status st;

    *t = (tsr_trial){.heap = heap, .schema = *schema, .ranks = ranks, .seed = seed};
    if (ranks > TSR_TRIAL_RANKS)
        return tsr__fail(err, TSR_ERR_MESH, "a trial has at most %d ranks, not %d", TSR_TRIAL_RANKS,
                         ranks);
    for (int k = 0; k < schema->n_in; k++)
        if (tsr__schema_has(schema, k))
            total += (tsr_shape_count(&schema->in[k].shape) + 1) * (2 * ranks + 2);
    for (int k = 0; k < schema->n_out; k++)
        total += (count_out(schema, k) + 1) * (ranks + 2);
    TSR_TRY(tsr__alloc(heap, total, ELEMENT, &t->memory, err));
    at = t->memory;
    t->token = (int64_t *)(void *)at;
    for (int k = 0; k < schema->n_in; k++)
        if (tsr__schema_has(schema, k))
            at += tsr_shape_count(&schema->in[k].shape) * ranks * ELEMENT;
    for (int k = 0; k < schema->n_in; k++) {
        int64_t n = tsr__schema_has(schema, k) ? tsr_shape_count(&schema->in[k].shape) : -1;
        t->range[k] = tsr__case_range(text, k);
        if (n < 0)
            continue;
        for (int r = 0; r < ranks; r++)
            t->term[k][r] = carve(&at, n);
        t->whole[k] = carve(&at, n);
        t->part[k] = carve(&at, n);
    }
    carve_outputs(t, &at);
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

/* The kernel call of the rank at `coord`, as the naive reference, on these data. */
static tsr_kernel_call make_call(const tsr_trial *t, const tsr_spec *in, const tsr_spec *out,
                                 const tsr_windows *windows, const int *coord, void *const *data,
                                 void *const *result)
{
    const tsr_schema *s = &t->schema;
    tsr_kernel_call call = {.reference = true};

    tsr__local_call(s, in, out, windows, coord, &call);
    for (int k = 0; k < call.n_in; k++)
        call.in[k].data = data[k];
    for (int k = 0; k < call.n_out; k++)
        call.out[k].data = result[k];
    return call;
}

/* On whole inputs, as if there were one rank. */
static tsr_status run_whole(tsr_trial *t, tsr_error *err)
{
    const tsr_schema *s = &t->schema;
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    tsr_mesh_shape mesh = tsr__case_mesh(1);
    const tsr_windows none = {0};
    tsr_kernel_call call;
    const int coord = 0;

    for (int k = 0; k < s->n_in; k++)
        in[k] = (tsr_spec){.dtype = s->in[k].dtype, .shape = s->in[k].shape, .mesh = mesh};
    for (int k = 0; k < s->n_out; k++)
        out[k] = (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = mesh};
    call = make_call(t, in, out, &none, &coord, t->whole, t->result);
    return tsr__kernel_once(t->heap, s->op, &call, err);
}

tsr_status tsr__trial_fill(tsr_trial *t, tsr_domain domain, tsr_error *err)
{
    tsr_schema *s = &t->schema;
    tsr_status st = TSR_OK;

    t->domain = domain;
    for (int k = 0; k < s->n_in; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        if (s->in[k].dtype == TSR_F64 || (int)s->in[k].dtype == TSR__FIELD)
            s->in[k].dtype = domain == TSR_DOMAIN_FIELD ? (tsr_dtype)TSR__FIELD : TSR_F64;
        tsr__trial_fill_input(t, k);
    }
    if (!s->op->kernel)
        return TSR_OK;
    TSR_TRY(s->op->shape(s, err));
    TSR_TRY(run_whole(t, err));
done:
    return st;
}

tsr_status tsr__trial_part(tsr_trial *t, int k, int index, tsr_shape *shape, tsr_error *err)
{
    tsr_layout layout = tsr__layout_of(&t->schema.in[k]);

    return tsr__part_cut(t->heap, &layout, index, t->term[k][index], t->part[k], shape, err);
}

/* ---- one rank ---- */

/* Another size for what is empty: a row may refuse an empty input that its kernel can take. */
static void fill_empty(tsr_shape *shape)
{
    for (int d = 0; d < shape->ndim; d++)
        if (shape->size[d] == 0)
            shape->size[d] = 7;
}

/* Are the outputs of the shapes that layouts say? Those that are open take what comes. */
static bool outputs_fit(const tsr_trial *t, const tsr_schema *local, const tsr_shape *want,
                        const tsr_rule_placement *out)
{
    for (int k = 0; k < t->schema.n_out; k++) {
        if (!tsr__schema_gives(&t->schema, k))
            continue;
        if (!out[k].open && !tsr_shape_equal(&local->out_shape[k], &want[k]))
            return false;
        if (out[k].open && tsr_shape_count(&local->out_shape[k]) > count_out(&t->schema, k))
            return false;
    }
    return true;
}

/* Nothing is asked of the rank, whatever its inputs are. */
static bool is_idle(const tsr_trial *t, const tsr_kernel_call *call, const tsr_rule_placement *out)
{
    for (int k = 0; k < call->n_out; k++)
        if (tsr__schema_gives(&t->schema, k) &&
            (out[k].open || tsr_shape_count(&call->out[k].shape) > 0))
            return false;
    return true;
}

/* Is the op defined on the parts, with these outputs? Open ones get their shapes. */
static bool parts_fit(const tsr_trial *t, tsr_kernel_call *call, const tsr_rule_placement *out)
{
    tsr_schema local = t->schema;
    tsr_shape want[TSR_MAX_OUT];
    bool open = false;

    local.attrs = call->attrs;
    for (int k = 0; k < local.n_in; k++)
        local.in[k].shape = call->in[k].shape;
    for (int k = 0; k < call->n_out; k++) {
        want[k] = call->out[k].shape;
        open = open || (out[k].open && tsr__schema_gives(&t->schema, k));
    }
    if (local.op->shape(&local, NULL) == TSR_OK) {
        for (int k = 0; k < call->n_out; k++)
            if (out[k].open)
                call->out[k].shape = local.out_shape[k];
        return outputs_fit(t, &local, want, out);
    }
    if (open) /* of what size? */
        return false;
    for (int k = 0; k < local.n_in; k++)
        fill_empty(&local.in[k].shape);
    for (int k = 0; k < call->n_out; k++)
        fill_empty(&want[k]);
    return local.op->shape(&local, NULL) == TSR_OK && outputs_fit(t, &local, want, out);
}

/* Or zeros seem computed. */
static void forget_outputs(tsr_trial *t)
{
    for (int k = 0; k < t->schema.n_out; k++)
        if (tsr__schema_gives(&t->schema, k))
            memset(t->local[k], 0x55, (size_t)count_out(&t->schema, k) * ELEMENT);
}

/* Leaves the outputs in t->local; *fits is false where the kernel cannot run, and `why` says so. */
static tsr_status run_rank(tsr_trial *t, const tsr_spec *out, const tsr_rule_placement *mark,
                           int rank, bool *fits, char why[TSR_TEXT_LEN], tsr_error *err)
{
    const tsr_schema *s = &t->schema;
    tsr_kernel_call call;
    tsr_windows windows;
    tsr_error error = {0};
    tsr_shape shape;
    tsr_status st = TSR_OK;

    tsr__windows_of(s, s->in, out, false, &windows);
    call = make_call(t, s->in, out, &windows, &rank, t->part, t->local);
    *fits = true;
    if (is_idle(t, &call, mark)) {
        forget_outputs(t);
        return TSR_OK;
    }
    *fits = windows.n > 0 || parts_fit(t, &call, mark); /* what fits a window its kernel knows */
    if (!*fits) { /* before anything is cut: most tuples end here */
        snprintf(why, TSR_TEXT_LEN, "on rank %d the local shapes do not match", rank);
        return TSR_OK;
    }
    for (int k = 0; k < s->n_in; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        tsr_layout layout = tsr__windows_layout(&windows, s->in, out, k);
        TSR_TRY(tsr__part_cut(t->heap, &layout, rank, t->term[k][rank], t->part[k], &shape, err));
    }
    forget_outputs(t);
    TSR_TRY(tsr__positions_make(t->heap, s, s->in, out, &windows, &rank, &call, err));
    if (tsr__kernel_once(t->heap, s->op, &call, &error) == TSR_ERR_MEMORY)
        TSR_TRY(tsr__fail(err, TSR_ERR_MEMORY, "%s", error.text));
    *fits = error.code == TSR_OK;
    if (!*fits)
        snprintf(why, TSR_TEXT_LEN, "on rank %d: %.400s", rank, error.text);
    tsr__positions_free(t->heap, &call);
done:
    return st;
}

/* ---- comparing ---- */

int64_t tsr__trial_differs(const tsr_trial *t, int k, const void *x)
{
    const tsr_dtype dtype = t->schema.out_dtype[k];
    const int64_t n = count_out(&t->schema, k);
    const size_t size = tsr_dtype_size(dtype);
    /* what sums of a few terms in another order keep */
    const double tolerance = dtype == TSR_F64   ? 1e-12
                             : dtype == TSR_F32 ? 1e-5
                             : dtype == TSR_F16 ? 1e-2
                                                : 1e-1;
    double scale = 1;

    if (!tsr__dtype_is_float(dtype)) { /* the field too */
        for (int64_t i = 0; i < n; i++)
            if (memcmp((const char *)x + (size_t)i * size,
                       (const char *)t->result[k] + (size_t)i * size, size) != 0)
                return i;
        return -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (isfinite(tsr__get(dtype, t->result[k], i)))
            scale = fmax(scale, fabs(tsr__get(dtype, t->result[k], i)));
    for (int64_t i = 0; i < n; i++) {
        double a = tsr__get(dtype, x, i), b = tsr__get(dtype, t->result[k], i);
        /* terms of small numbers may add up to 0, and 1 / 0 - 2 / 0 is not -1 / 0 */
        bool alike =
            t->domain == TSR_DOMAIN_SMALL ? !isfinite(a) && !isfinite(b) : isnan(a) && isnan(b);
        if (a != b && !alike && !(fabs(a - b) <= tolerance * scale))
            return i;
    }
    return -1;
}

const char *tsr__trial_element_text(const tsr_trial *t, int k, const void *x, int64_t i, char *buf,
                                    size_t n)
{
    const tsr_dtype dtype = t->schema.out_dtype[k];
    tsr_shape at = t->schema.out_shape[k];
    char index[TSR_TEXT_LEN];
    int64_t rest = i;
    size_t used = 0;

    for (int d = at.ndim - 1; d >= 0; d--) {
        int64_t size = at.size[d];
        at.size[d] = rest % size;
        rest /= size;
    }
    tsr__shape_text(&at, index, sizeof index);
    if (t->schema.n_out > 1)
        used = (size_t)snprintf(buf, n, "output %d: ", k);
    if ((int)dtype == TSR__FIELD)
        snprintf(buf + used, n - used,
                 "element %s is %" PRIu64 ", not %" PRIu64 " (modulo 2^61 - 1)", index,
                 ((const uint64_t *)x)[i], ((const uint64_t *)t->result[k])[i]);
    else
        tsr__format(buf + used, n - used, "element %s is %.15g, not %.15g", index,
                    tsr__get(dtype, x, i), tsr__get(dtype, t->result[k], i));
    return buf;
}

static bool same(const tsr_trial *t, int k, const void *x, char why[TSR_TEXT_LEN])
{
    int64_t i = tsr__trial_differs(t, k, x);

    if (i >= 0)
        tsr__trial_element_text(t, k, x, i, why, TSR_TEXT_LEN);
    return i < 0;
}

/* ---- all ranks ---- */

static bool is_sharded(const tsr_placement *p)
{
    return p->kind == TSR_SHARD || p->kind == TSR_STRIDED;
}

/* Put output k of all ranks together, by the placement. */
static bool assembled(tsr_trial *t, int k, const tsr_placement *out, char why[TSR_TEXT_LEN])
{
    const tsr_schema *s = &t->schema;
    bool average = out->reduce == TSR_AVG;

    if (out->kind == TSR_REPLICATE) {
        for (int r = 0; r < t->ranks; r++)
            if (!same(t, k, t->own[k][r], why))
                return false;
        return true;
    }
    if (out->kind == TSR_PARTIAL)
        tsr__reduce_ref(s->out_dtype[k], average ? TSR_SUM : out->reduce, average ? t->ranks : 1,
                        t->ranks, (const void *const *)t->own[k], count_out(s, k), t->own[k][0]);
    return same(t, k, t->own[k][0], why);
}

tsr_status tsr__trial_holds(tsr_trial *t, const tsr_rule_placement *out, bool *holds,
                            char why[TSR_TEXT_LEN], tsr_error *err)
{
    const tsr_schema *s = &t->schema;
    tsr_spec spec[TSR_MAX_OUT];
    bool fits = true;
    tsr_status st = TSR_OK;

    *holds = false;
    for (int k = 0; k < s->n_out; k++) {
        spec[k] =
            (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = s->in[0].mesh};
        if (!out[k].open)
            spec[k].place[0] = out[k].place;
    }
    for (int r = 0; r < t->ranks; r++) {
        TSR_TRY(run_rank(t, spec, out, r, &fits, why, err));
        if (!fits)
            return TSR_OK;
        for (int k = 0; k < s->n_out; k++)
            if (tsr__schema_gives(s, k) && !out[k].open) {
                tsr_layout layout = tsr__layout_of(&spec[k]);
                TSR_TRY(tsr__part_paste(t->heap, &layout, r, t->local[k],
                                        t->own[k][is_sharded(&out[k].place) ? 0 : r], err));
            }
    }
    *holds = true;
    for (int k = 0; k < s->n_out && *holds; k++)
        if (tsr__schema_gives(s, k) && !out[k].open)
            *holds = assembled(t, k, &out[k].place, why);
done:
    return st;
}
