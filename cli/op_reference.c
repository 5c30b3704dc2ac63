/* SPDX-License-Identifier: Apache-2.0 */
/* op_reference.c - what verify expects of an op: the same op on a mesh of one rank. Run again with
   absolute values in f64 it tells how large the sums on the way can be, with one of them changed
   by 1, whether integers stay integers, and with all changed a little, what rounding can do. */
#include "fill.h"
#include "op_check.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The op on one rank, with other inputs and dtypes or as they are. */
typedef enum variant {
    AS_IS,
    ABSOLUTE,
    ABSOLUTE_PLUS_1,
    EXACT,
    NUDGED,
    NUDGED_LESS,
    VARIANTS
} variant;

enum { DIRECTIONS = 4, NUDGE = -20, LESS = -4 }; /* powers of 2: of a value, and of a nudge */

typedef struct task {
    const op_problem *p;
    op_reference *ref;
    double extra[TSR_OP_INPUTS]; /* by which terms of a partial exceed it (fill.h) */
    int direction;               /* of nudges */
    double *result[VARIANTS][TSR_OP_OUTPUTS];
} task;

/* Bits of the fraction, the leading one included. */
static int digits_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32: return 24;
    case TSR_F64: return 53;
    case TSR_F16: return 11;
    case TSR_BF16: return 8;
    default: return 0;
    }
}

/* Element i of input k. */
static double input_value(const task *t, int k, int64_t i, variant v)
{
    const double x = t->ref->in[k][i], size = fabs(x) + t->extra[k];
    const uint64_t h =
        value_hash(value_hash((uint64_t)(t->direction * TSR_OP_INPUTS + k)) + (uint64_t)i);

    switch (v) {
    case ABSOLUTE: return size;
    case ABSOLUTE_PLUS_1: return size + (i == 0);
    case NUDGED: return x + ldexp(h >> 20 & 1 ? size : -size, NUDGE);
    case NUDGED_LESS: return x + ldexp(h >> 20 & 1 ? size : -size, NUDGE + LESS);
    default: return x;
    }
}

static tsr_tensor *make_input(const task *t, tsr_mesh *mesh, int k, variant v)
{
    tsr_spec spec = {
        .dtype = t->p->in[k].dtype, .shape = t->p->in[k].shape, .mesh = *tsr_mesh_shape_get(mesh)};
    int64_t n = tsr_shape_count(&spec.shape);
    char text[TSR_TEXT_LEN];
    tsr_tensor *x;
    void *data;

    if (v != AS_IS && value_is_float(spec.dtype))
        spec.dtype = TSR_F64;
    else
        v = AS_IS; /* indices stay */
    data = malloc((size_t)n * tsr_dtype_size(spec.dtype) + 1);
    if (!data)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        value_put(spec.dtype, data, i, input_value(t, k, i, v));
    x = tsr_from_host(mesh, tsr_spec_text(&spec, text, sizeof text), data,
                      (size_t)n * tsr_dtype_size(spec.dtype));
    free(data);
    return x;
}

static tsr_status read_output(task *t, tsr_tensor *y, int k, variant v)
{
    const tsr_spec *spec = tsr_tensor_spec(y);
    int64_t n = tsr_shape_count(&spec->shape);
    size_t bytes = (size_t)n * tsr_dtype_size(spec->dtype);
    double *values = malloc((size_t)n * sizeof(double) + 1);
    void *data = malloc(bytes + 1);
    tsr_status st = data && values ? tsr_to_host(y, data, bytes) : TSR_ERR_MEMORY;

    for (int64_t i = 0; i < n && st == TSR_OK; i++)
        values[i] = value_get(spec->dtype, data, i);
    free(data);
    free(t->result[v][k]);
    t->result[v][k] = values;
    if (v == AS_IS) {
        t->ref->out[k].dtype = spec->dtype;
        t->ref->out[k].shape = spec->shape;
        t->ref->out[k].n = n;
    }
    return st;
}

static tsr_status run_variant(task *t, tsr_mesh *mesh, variant v)
{
    const op_problem *p = t->p;
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS];
    tsr_status st;

    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && !(in[k] = make_input(t, mesh, k, v)))
            return TSR_ERR_MEMORY;
    st = tsr_op_run_all(mesh, p->op->name, in, p->n_in, p->attr, p->n_attrs, out);
    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++)
        if (out[k] && (k == 0 || !p->want_text[0])) /* placements are asked for the first alone */
            st = read_output(t, out[k], k, v);
    return st;
}

static bool all_whole(const double *value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (value[i] != rint(value[i]))
            return false;
    return true;
}

/* The largest number that is known of an output. */
static double largest_of(const task *t, int k)
{
    double largest = 0;

    for (int v = AS_IS; v <= ABSOLUTE; v++)
        for (int64_t i = 0; i < t->ref->out[k].n; i++)
            if (isfinite(t->result[v][k][i]))
                largest = fmax(largest, fabs(t->result[v][k][i]));
    return largest;
}

/* How much a relative change of the inputs changes an output, per size of the change: squares of
   that are added to `sum`. Where a smaller change does not change it by less, it jumps there, and
   that says nothing about rounding: all that is known is how large its numbers are. */
static void add_changes(const task *t, int k, double *sum)
{
    const double largest = largest_of(t, k);

    for (int64_t i = 0; i < t->ref->out[k].n; i++) {
        const double from = t->result[EXACT][k][i];
        const double change = fabs(t->result[NUDGED][k][i] - from);
        const double less = fabs(t->result[NUDGED_LESS][k][i] - from);
        const bool smooth = isfinite(change) && less <= ldexp(change, LESS / 2 - 1);
        const double rate = smooth ? ldexp(change, -NUDGE) : largest;

        if (change > 0 || less > 0)
            sum[i] += rate * rate / DIRECTIONS;
    }
}

/* What rounding does to an output that is no sum of products is found by changing the inputs. */
static tsr_status find_changes(task *t, tsr_mesh *mesh)
{
    tsr_status st = run_variant(t, mesh, EXACT);

    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        if (t->result[AS_IS][k] &&
            !(t->ref->out[k].change = calloc((size_t)t->ref->out[k].n + 1, sizeof(double))))
            return TSR_ERR_MEMORY;
    for (t->direction = 0; t->direction < DIRECTIONS && st == TSR_OK; t->direction++) {
        st = run_variant(t, mesh, NUDGED);
        if (st == TSR_OK)
            st = run_variant(t, mesh, NUDGED_LESS);
        for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++)
            if (t->ref->out[k].change)
                add_changes(t, k, t->ref->out[k].change);
    }
    return st;
}

/* Does the op map integers to integers? */
static bool stays_whole(const task *t, int k)
{
    for (int v = AS_IS; v <= ABSOLUTE_PLUS_1; v++)
        if (t->result[v][k] && !all_whole(t->result[v][k], t->ref->out[k].n))
            return false;
    return true;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    task *t = arg;
    tsr_status st = run_variant(t, mesh, AS_IS);
    bool any_float = false, all = true;

    for (int k = 0; k < t->p->n_in; k++)
        any_float = any_float || (op_problem_has(t->p, k) && value_is_float(t->p->in[k].dtype));
    for (int v = ABSOLUTE; v <= ABSOLUTE_PLUS_1 && st == TSR_OK && any_float; v++)
        st = run_variant(t, mesh, (variant)v);
    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++) {
        t->ref->out[k].whole = t->result[AS_IS][k] && stays_whole(t, k);
        all = all && (t->ref->out[k].whole || !t->result[AS_IS][k]);
    }
    return st == TSR_OK && any_float && !all ? find_changes(t, mesh) : st;
}

static bool make_inputs(const op_problem *p, op_reference *ref)
{
    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && !(ref->in[k] = fill_values(p, k)))
            return false;
    return true;
}

/* What is computed in halves is computed in f32, and an output of f64 is no better for that. */
static int digits_within(const op_problem *p, tsr_dtype out)
{
    const int f32 = digits_of(TSR_F32);
    int digits = digits_of(out);

    for (int k = 0; k < p->n_in; k++)
        if (op_problem_has(p, k) && value_is_float(p->in[k].dtype) && p->in[k].dtype != TSR_F64)
            digits = digits > f32 ? f32 : digits;
    return digits;
}

int op_reference_make(const op_problem *p, bool partials, op_reference *out)
{
    task t = {.p = p, .ref = out};
    tsr_run_opts opts = tsr_run_opts_default();
    tsr_error err = {0};
    int status = CLI_OK;

    opts.mesh = "1";
    opts.world = TSR_WORLD_THREAD;
    opts.cost = "default";
    memset(out, 0, sizeof *out);
    if (!make_inputs(p, out))
        return cli_failed("out of memory");
    for (int k = 0; k < p->n_in; k++)
        t.extra[k] = partials || (op_problem_has(p, k) && value_is_partial(&p->in[k])) ? 2 : 0;
    if (tsr_run(&opts, job, &t, &err) != TSR_OK)
        status = cli_error(&err);
    for (int k = 0; k < TSR_OP_OUTPUTS; k++) {
        op_result *r = &out->out[k];

        r->expected = t.result[AS_IS][k];
        r->scale = t.result[ABSOLUTE][k];
        r->digits = digits_within(p, r->dtype);
        out->n_out += r->expected != NULL;
        for (int v = ABSOLUTE_PLUS_1; v < VARIANTS; v++)
            free(t.result[v][k]);
    }
    return status;
}

void op_reference_free(op_reference *ref)
{
    for (int k = 0; k < TSR_OP_INPUTS; k++)
        free(ref->in[k]);
    for (int k = 0; k < TSR_OP_OUTPUTS; k++) {
        free(ref->out[k].expected);
        free(ref->out[k].scale);
        free(ref->out[k].change);
    }
    memset(ref, 0, sizeof *ref);
}

double op_result_tolerance(const op_result *ref, int64_t i, int ranks)
{
    double scale;

    if (!ref->scale || ref->digits == 0)
        return 0;
    scale = fmax(fabs(ref->scale[i]), fabs(ref->expected[i]));
    if (ref->whole && scale * ranks <= ldexp(1, ref->digits))
        return 0;
    if (ref->change)
        scale = fmax(scale, sqrt(ref->change[i]));
    return 8 * ldexp(scale, 1 - ref->digits);
}
