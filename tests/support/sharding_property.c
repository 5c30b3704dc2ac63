/* SPDX-License-Identifier: Apache-2.0 */
/* sharding_property.c - see sharding_property.h. Values are small integers; averages over
   ranks stay whole. */
#include "sharding_property.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "dispatch/dispatch.h"
#include "naive.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "validate/trial.h"
#include "opts.h"

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return tsr__hash_final(tsr__hash_mix(tsr__hash_mix(17, a), b));
}

/* ---- choosing ---- */

/* Along a mesh dim of size 1 all placements hold the same: mostly the most confusing one. */
static tsr_placement placement_along(uint64_t h, const tsr_spec *spec, int m)
{
    const int ndim = spec->shape.ndim;

    if (spec->mesh.size[m] > 1 || ndim == 0 || h >> 50 & 1)
        return property_placement(h, spec);
    return (tsr_placement){.kind = TSR_STRIDED,
                           .dim = (int)((h >> 20) % (uint64_t)ndim),
                           .factor = 2 + (int64_t)((h >> 30) % 3)};
}

tsr_placement property_placement(uint64_t h, const tsr_spec *spec)
{
    static const tsr_reduce reduce[] = {TSR_SUM, TSR_SUM, TSR_MAX, TSR_MIN, TSR_PROD, TSR_AVG};
    int ndim = spec->shape.ndim, k = (int)(h % (uint64_t)(ndim + 3));

    if (k < ndim)
        return (tsr_placement){.kind = TSR_SHARD, .dim = k};
    if (k == ndim && ndim > 0)
        return (tsr_placement){.kind = TSR_STRIDED,
                               .dim = (int)((h >> 20) % (uint64_t)ndim),
                               .factor = 2 + (int64_t)((h >> 30) % 3)};
    if (k <= ndim + 1 && spec->dtype != TSR_BOOL)
        return (tsr_placement){.kind = TSR_PARTIAL,
                               .reduce =
                                   reduce[(h >> 20) % (tsr__dtype_is_float(spec->dtype) ? 6 : 5)]};
    return (tsr_placement){.kind = TSR_REPLICATE};
}

/* Another dtype for what is f64 in the case, if the op takes it. */
static void choose_dtype(tsr_schema *s, uint64_t h)
{
    static const tsr_dtype dtypes[] = {TSR_F64, TSR_F32, TSR_F16, TSR_BF16, TSR_I32,
                                       TSR_I64, TSR_I16, TSR_U16, TSR_U32,  TSR_U64};
    enum { ALL = sizeof dtypes / sizeof *dtypes, FLOATS = 4 };
    tsr_schema other = *s;

    for (int k = 0; k < other.n_in; k++)
        if (tsr__schema_has(&other, k) && other.in[k].dtype == TSR_F64)
            other.in[k].dtype =
                /* who knows what its parts take */
                dtypes[h % (tsr_op_is_composed(s->op) ? FLOATS : ALL)];
    if (tsr__schema_check(&other, NULL) == TSR_OK)
        *s = other;
}

static bool is_placed(const tsr_spec *spec, tsr_reduce reduce)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL && spec->place[m].reduce == reduce)
            return true;
    return false;
}

bool property_choose(const tsr_op *op, const char *text, const tsr_mesh_shape *mesh,
                     uint64_t sample, property_call *out)
{
    *out = (property_call){.text = text, .seed = mixed(sample, 99)};
    if (tsr__case_read(op, text, mesh, &out->schema, NULL) != TSR_OK)
        return false;
    choose_dtype(&out->schema, mixed(sample, 98));
    for (int k = 0; k < out->schema.n_in; k++) {
        tsr_spec *spec = &out->schema.in[k];
        for (int m = 0; m < mesh->ndim && tsr__schema_has(&out->schema, k); m++)
            spec->place[m] = placement_along(mixed(sample, (uint64_t)(8 * k + m)), spec, m);
        for (int m = 0; m < mesh->ndim; m++) /* products of multiples: too large for 16 bits */
            if (is_placed(spec, TSR_AVG) && spec->place[m].reduce == TSR_PROD)
                spec->place[m].reduce = TSR_SUM;
    }
    snprintf(out->cost, sizeof out->cost, sample % 2 ? "random:%d" : "default",
             (int)(mixed(sample, 97) % 100000));
    return true;
}

/* ---- values ---- */

/* What the rank at coord has of an element: the same on ranks that differ on other than partial
   mesh dims only. */
static double term_of(const property_call *c, int k, int64_t element, const int *coord)
{
    static const double any[] = {-2, -1, 1, 2};
    const tsr_spec *spec = &c->schema.in[k];
    const tsr_range range = tsr__case_range(c->text, k);
    uint64_t h = mixed(c->seed + (uint64_t)k, (uint64_t)element);
    double scale = 1;

    if (tsr__range_is_integer(&range))
        return (double)tsr__range_term(&range, spec, c->seed + (uint64_t)k, coord, element);
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL) {
            h = mixed(h, (uint64_t)coord[m]);
            if (spec->place[m].reduce == TSR_AVG)
                scale *= spec->mesh.size[m];
        }
    if (!tsr__dtype_is_float(spec->dtype) && tsr__dtype_min(spec->dtype) == 0)
        return (double)(h % 2);
    if (range.kind == TSR_RANGE_POSITIVE)
        return scale * fabs(any[h >> 20 & 3]);
    if (is_placed(spec, TSR_PROD) && h % 7 > 0)
        return h >> 20 & 1 ? 1 : -1;
    return scale * any[h >> 20 & 3];
}

static double combine(tsr_reduce op, double a, double b, bool bound)
{
    switch (op) {
    case TSR_SUM:
    case TSR_AVG: return a + b;
    case TSR_PROD: return a * b;
    case TSR_MIN: return (a < b) != bound ? a : b;
    case TSR_MAX: return a > b ? a : b;
    }
    return 0;
}

/* The value of an element, the last mesh dim reduced first; or a bound of all numbers that occur
   when it is reduced in some order. */
static double value_from(const property_call *c, int k, int64_t element, bool bound, int m,
                         int *coord)
{
    const tsr_spec *spec = &c->schema.in[k];
    const tsr_placement *p = &spec->place[m];
    double acc = 0;

    if (m == spec->mesh.ndim) {
        double x = term_of(c, k, element, coord);
        return bound ? fabs(x) : x;
    }
    if (p->kind != TSR_PARTIAL)
        return value_from(c, k, element, bound, m + 1, coord);
    for (int i = 0; i < spec->mesh.size[m]; i++) {
        coord[m] = i;
        double x = value_from(c, k, element, bound, m + 1, coord);
        acc = i == 0 ? x : combine(p->reduce, acc, x, bound);
    }
    coord[m] = 0;
    return p->reduce == TSR_AVG && !bound ? acc / spec->mesh.size[m] : acc;
}

void property_part(const property_call *c, int k, int index, double *out, tsr_shape *shape)
{
    const tsr_spec *spec = &c->schema.in[k];
    naive_list list[TSR_MAX_DIM];
    int coord[TSR_MAX_MESH], at[TSR_MAX_DIM] = {0}, ndim = spec->shape.ndim;

    for (int m = spec->mesh.ndim - 1; m >= 0; m--) {
        coord[m] = index % spec->mesh.size[m];
        index /= spec->mesh.size[m];
    }
    *shape = (tsr_shape){.ndim = ndim};
    for (int d = 0; d < ndim; d++) {
        naive_held(spec, d, coord, &list[d]);
        shape->size[d] = list[d].n;
    }
    for (int64_t i = 0; i < tsr_shape_count(shape); i++) {
        int64_t element = 0;
        for (int d = 0; d < ndim; d++)
            element = element * spec->shape.size[d] + list[d].index[at[d]];
        out[i] = term_of(c, k, element, coord);
        for (int d = ndim - 1; d >= 0 && ++at[d] == list[d].n; d--)
            at[d] = 0;
    }
}

/* ---- the op on whole inputs ---- */

/* As they are; bounds of them; or with one, or some, of them changed by 1. */
typedef enum variant { AS_IS, BOUND, BOUND_PLUS_1, BOUND_PLUS_SOME, VARIANTS } variant;

typedef struct whole {
    tsr_schema schema; /* of one rank, floats as f64 */
    double in[TSR_MAX_IN][PROPERTY_ELEMENTS];
    double out[TSR_MAX_OUT][PROPERTY_ELEMENTS]; /* as the outputs' dtypes say */
} whole;

static tsr_status set_whole(const property_call *c, variant v, whole *w, tsr_error *err)
{
    const tsr_mesh_shape one = {.ndim = 1, .size = {1}, .stride = {1}};
    tsr_schema *s = &w->schema;
    int coord[TSR_MAX_MESH] = {0};

    *s = c->schema;
    for (int k = 0; k < s->n_in; k++) {
        if (!tsr__schema_has(s, k))
            continue;
        const tsr_range range = tsr__case_range(c->text, k);
        bool stays = tsr__range_is_integer(&range);
        s->in[k] = (tsr_spec){.dtype = s->in[k].dtype, .shape = s->in[k].shape, .mesh = one};
        if (tsr__dtype_is_float(s->in[k].dtype))
            s->in[k].dtype = TSR_F64;
        for (int64_t i = 0; i < tsr_shape_count(&s->in[k].shape); i++)
            tsr__put(s->in[k].dtype, w->in[k], i,
                     value_from(c, k, i, v != AS_IS && !stays, 0, coord) +
                         (v == BOUND_PLUS_1 && !stays && i == 0) +
                         (v == BOUND_PLUS_SOME && !stays && i % 3 == 1));
    }
    return tsr__schema_check(s, err);
}

static tsr_status run_kernel(whole *w, tsr_error *err)
{
    const tsr_schema *s = &w->schema;
    const tsr_windows none = {0};
    tsr_kernel_call call = {.reference = true};
    tsr_heap heap = {0};
    tsr_spec out[TSR_MAX_OUT];
    const int coord = 0;

    for (int k = 0; k < s->n_out; k++)
        out[k] =
            (tsr_spec){.dtype = s->out_dtype[k], .shape = s->out_shape[k], .mesh = s->in[0].mesh};
    tsr__local_call(s, s->in, out, &none, &coord, &call);
    for (int k = 0; k < s->n_in; k++)
        call.in[k].data = tsr__schema_has(s, k) ? w->in[k] : NULL;
    for (int k = 0; k < s->n_out; k++)
        call.out[k].data = tsr__schema_gives(s, k) ? w->out[k] : NULL;
    return tsr__kernel_once(&heap, s->op, &call, err);
}

/* For rows that have no kernel: the op itself on one rank. */
static tsr_status run_job(tsr_mesh *mesh, void *arg)
{
    whole *w = arg;
    tsr_schema *s = &w->schema;
    tsr_tensor *in[TSR_MAX_IN] = {NULL}, *out[TSR_MAX_OUT];
    char text[TSR_TEXT_LEN];
    tsr_status st;

    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k))
            in[k] = from_host(mesh, tsr_spec_text(&s->in[k], text, sizeof text), w->in[k]);
    TSR_TRY(tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, out));
    for (int k = 0; k < TSR_MAX_OUT; k++) {
        s->out_shape[k].ndim = -1;
        if (!out[k])
            continue;
        s->n_out = k + 1;
        s->out_dtype[k] = tsr_tensor_spec(out[k])->dtype;
        s->out_shape[k] = tsr_tensor_spec(out[k])->shape;
        TSR_TRY(tsr_to_host(out[k], w->out[k],
                            (size_t)tsr_shape_count(&s->out_shape[k]) *
                                tsr_dtype_size(s->out_dtype[k])));
    }
done:
    return st;
}

static tsr_status run_whole(const property_call *c, variant v, whole *w, tsr_error *err)
{
    tsr_run_opts opts = RUN_OPTS(.mesh = "1", .world = TSR_WORLD_THREAD);
    tsr_status st;

    TSR_TRY(set_whole(c, v, w, err));
    if (w->schema.op->kernel)
        TSR_TRY(run_kernel(w, err));
    else
        TSR_TRY(tsr_run(&opts, run_job, w, err));
done:
    return st;
}

/* ---- what is expected ---- */

/* Bits of the fraction, the leading one included. */
static int digits_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32: return 24;
    case TSR_F16: return 11;
    case TSR_BF16: return 8;
    default: return 53;
    }
}

/* What is computed in halves is computed in f32, and an output of f64 is no better for that. */
static int digits_within(const property_call *c, tsr_dtype out)
{
    int least = digits_of(out);

    for (int k = 0; k < c->schema.n_in; k++) {
        tsr_dtype in = c->schema.in[k].dtype;
        if (tsr__schema_has(&c->schema, k) && tsr__dtype_is_float(in) && in != TSR_F64 &&
            least > digits_of(TSR_F32))
            least = digits_of(TSR_F32);
    }
    return least;
}

/* The dtype of output k in the run. */
static tsr_dtype out_dtype(const property_call *c, const whole *w, int k)
{
    if (c->schema.op->shape)
        return c->schema.out_dtype[k];
    return w->schema.out_dtype[k] == TSR_F64 ? c->schema.in[0].dtype : w->schema.out_dtype[k];
}

tsr_status property_expect(property_call *c, property_output out[TSR_MAX_OUT], tsr_error *err)
{
    whole w = {0};
    double largest[TSR_MAX_OUT] = {0};
    bool whole_numbers[TSR_MAX_OUT];
    tsr_status st = TSR_OK;

    for (int v = AS_IS; v < VARIANTS; v++) {
        TSR_TRY(run_whole(c, (variant)v, &w, err));
        for (int k = 0; k < TSR_MAX_OUT; k++) {
            if (v == AS_IS) {
                whole_numbers[k] = true;
                out[k].n =
                    tsr__schema_gives(&w.schema, k) ? tsr_shape_count(&w.schema.out_shape[k]) : -1;
            }
            for (int64_t i = 0; i < out[k].n; i++) {
                double x = tsr__get(w.schema.out_dtype[k], w.out[k], i);
                whole_numbers[k] = whole_numbers[k] && x == rint(x);
                largest[k] = isfinite(x) ? fmax(largest[k], fabs(x)) : largest[k];
                if (v == AS_IS)
                    out[k].value[i] = x;
            }
        }
    }
    c->schema.n_out = w.schema.n_out;
    for (int k = 0; k < w.schema.n_out; k++) {
        tsr_dtype dtype = out_dtype(c, &w, k);
        c->schema.out_dtype[k] = dtype;
        c->schema.out_shape[k] = w.schema.out_shape[k];
        out[k].tolerance = 8 * ldexp(fmax(largest[k], 1), 1 - digits_within(c, dtype));
        if (!tsr__dtype_is_float(dtype) || /* what parts hand on to others is rounded */
            ((dtype == TSR_F64 || !tsr_op_is_composed(c->schema.op)) && whole_numbers[k] &&
             !c->schema.op->cross_rank_reduction && /* it may divide before it adds */
             largest[k] <= ldexp(1, digits_within(c, dtype))))
            out[k].tolerance = 0;
    }
done:
    return st;
}
