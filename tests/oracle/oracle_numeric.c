/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_numeric.c - cases with values: convolution, embedding, embedding bags, forward and
   backward. One table from the kind of case to what makes calls of it; a kind without that is not
   there yet. Calls are run on the options' mesh and world, for every tuple of placements of their
   inputs, each R, S(d) or P(sum) on every mesh dim, or for random ones; these also in other dtypes
   and, every other case, by plans of random cost. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/hash.h"
#include "oracle.h"
#include "support/sampling.h"
#include "support/opts.h"

/* A case as calls, run by run_calls. */
typedef tsr_status (*numeric_fn)(const oracle_line *line, const oracle_opts *opts, tsr_error *err);

/* One case while it runs; all ranks read it, the first writes what is wrong. */
typedef struct numeric_run {
    const oracle_call *call;
    int n_calls;
    bool random;
    uint64_t seed, count, step; /* count random ones, or every step-th of all */
    int64_t runs;
    bool first; /* the first rank is in this process */
    tsr_error wrong;
} numeric_run;

/* One call in one dtype with a tuple of placements. */
typedef struct numeric_tuple {
    const oracle_call *call;
    tsr_dtype dtype, index;
    tsr_spec in[ORACLE_IN];
    bool partial; /* any of them */
} numeric_tuple;

/* ---- tuples ---- */

/* R, the shards, and P(sum) where it may be. */
static int options_of(const oracle_array *x)
{
    return x ? 1 + x->shape.ndim + x->partial : 1;
}

static tsr_placement placement(const oracle_array *x, int option)
{
    if (option == 0)
        return (tsr_placement){.kind = TSR_REPLICATE};
    if (option <= x->shape.ndim)
        return (tsr_placement){.kind = TSR_SHARD, .dim = option - 1};
    return (tsr_placement){.kind = TSR_PARTIAL, .reduce = TSR_SUM};
}

static uint64_t n_tuples(const oracle_call *call, const tsr_mesh_shape *mesh)
{
    uint64_t n = 1;

    for (int k = 0; k < call->n_in; k++)
        for (int m = 0; m < mesh->ndim; m++)
            n *= (uint64_t)options_of(call->in[k]);
    return n;
}

/* The tuple of that number; random ones vary dtypes too. */
static void set_tuple(const oracle_call *call, const tsr_mesh_shape *mesh, uint64_t number,
                      uint64_t variant, numeric_tuple *t)
{
    *t = (numeric_tuple){.call = call, .dtype = TSR_F32, .index = TSR_I64};
    if (variant % 4 > 1)
        t->dtype = variant % 4 == 2 ? TSR_F64 : TSR_BF16;
    if (variant / 4 % 3 == 1)
        t->index = TSR_I32;
    for (int k = 0; k < call->n_in; k++) {
        const oracle_array *x = call->in[k];
        if (!x)
            continue;
        t->in[k] =
            (tsr_spec){.dtype = x->index ? t->index : t->dtype, .shape = x->shape, .mesh = *mesh};
        for (int m = 0; m < mesh->ndim; m++) {
            t->in[k].place[m] = placement(x, (int)(number % (uint64_t)options_of(x)));
            number /= (uint64_t)options_of(x);
            t->partial = t->partial || t->in[k].place[m].kind == TSR_PARTIAL;
        }
    }
}

static void describe(const numeric_tuple *t, char *buf, size_t n)
{
    char text[TSR_TEXT_LEN];
    size_t used = (size_t)snprintf(buf, n, "%s", t->call->name);

    for (int k = 0; k < t->call->n_in && used < n; k++)
        if (t->call->in[k])
            used += (size_t)snprintf(buf + used, n - used, " %s",
                                     tsr_spec_text(&t->in[k], text, sizeof text));
}

/* ---- one run ---- */

/* Terms that are not simply the value and zeros: each but the first rank of the partial mesh dims
   has 1 more, the first so much less. */
static tsr_status spread(tsr_mesh *mesh, tsr_tensor *x)
{
    const tsr_spec *spec = tsr_tensor_spec(x);
    bool first = true;
    double ranks = 1;
    tsr_local part;
    tsr_status st;

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL) {
            ranks *= spec->mesh.size[m];
            first = first && tsr_mesh_coord(mesh, m) == 0;
        }
    TSR_TRY(tsr_local_view(x, &part));
    for (int64_t i = 0; i < tsr_shape_count(&part.shape) && ranks > 1; i++)
        tsr__put(spec->dtype, part.data, i,
                 tsr__get(spec->dtype, part.data, i) + (first ? 1 - ranks : 1));
done:
    return st;
}

static tsr_status make_input(tsr_mesh *mesh, const oracle_array *x, const tsr_spec *spec,
                             tsr_tensor **out)
{
    void *data = malloc((size_t)x->n * 8 + 8);
    char text[TSR_TEXT_LEN];

    if (!data)
        return TSR_ERR_MEMORY;
    for (int64_t i = 0; i < x->n; i++)
        tsr__put(spec->dtype, data, i, x->data[i]);
    *out = from_host(mesh, tsr_spec_text(spec, text, sizeof text), data);
    free(data);
    return tsr_tensor_ok(*out) ? spread(mesh, *out) : tsr_mesh_status(mesh);
}

/* How far element i may be from what PyTorch found: the terms are those of the parts if an input is
   partial. Whole numbers of up to 256 are exact in bf16. */
static double tolerance(const numeric_tuple *t, const oracle_want *want, int64_t i)
{
    const double ulp = t->dtype == TSR_BF16 ? 0x1p-7 : 0x1p-23;
    double size;

    if (want->value.index)
        return 0;
    size = (t->partial ? want->wide : want->terms)[i];
    if (t->dtype == TSR_BF16 && (want->ulps > 0 || size > 256))
        return 8 * ulp * size;
    return want->ulps > 0 ? want->ulps * ulp * size : 0;
}

/* Equal numbers are equal bits but for zeros, whose sign the facts do not tell. */
static tsr_status compare(const numeric_tuple *t, int k, tsr_tensor *x, tsr_error *err)
{
    const oracle_want *want = &t->call->out[k];
    const tsr_spec *spec = tsr_tensor_spec(x);
    const size_t bytes = (size_t)want->value.n * tsr_dtype_size(spec->dtype);
    void *data;
    tsr_status st = TSR_OK;

    if (tsr_shape_count(&spec->shape) != want->value.n ||
        memcmp(&spec->shape.size, &want->value.shape.size,
               (size_t)spec->shape.ndim * sizeof spec->shape.size[0]) != 0)
        return tsr__fail(err, TSR_ERR_MISMATCH, "output %d is of another shape", k);
    data = malloc(bytes + 8);
    if (!data)
        return tsr__fail(err, TSR_ERR_MEMORY, "no memory for output %d", k);
    TSR_TRY(tsr_to_host(x, data, bytes));
    for (int64_t i = 0; i < want->value.n && st == TSR_OK; i++) {
        double is = tsr__get(spec->dtype, data, i), expected = want->value.data[i];
        if (!(fabs(is - expected) <= tolerance(t, want, i)))
            st =
                tsr__fail(err, TSR_ERR_MISMATCH,
                          "element %" PRId64 " of output %d is %.9g, not %.9g", i, k, is, expected);
    }
done:
    free(data);
    return st;
}

static tsr_status run_tuple(tsr_mesh *mesh, const numeric_tuple *t, tsr_error *err)
{
    tsr_tensor *in[ORACLE_IN] = {NULL}, *out[ORACLE_OUT] = {NULL};
    tsr_status st;

    TSR_TRY(tsr_scope_push(mesh));
    for (int k = 0; k < t->call->n_in; k++)
        if (t->call->in[k])
            TSR_TRY(make_input(mesh, t->call->in[k], &t->in[k], &in[k]));
    t->call->run(t->call->arg, in, out);
    for (int k = 0; k < t->call->n_out; k++) {
        if (!t->call->out[k].value.data) {
            if (out[k])
                return tsr__fail(err, TSR_ERR_MISMATCH, "output %d was not asked for", k);
            continue;
        }
        if (!out[k] || !tsr_tensor_ok(out[k]))
            return tsr_mesh_status(mesh) == TSR_OK ? TSR_ERR_MISMATCH : tsr_mesh_status(mesh);
        TSR_TRY(compare(t, k, out[k], err));
    }
    TSR_TRY(tsr_scope_pop(mesh));
done:
    return st;
}

/* ---- a case ---- */

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    numeric_run *r = arg;
    const tsr_mesh_shape *shape = tsr_mesh_shape_get(mesh);
    const bool first = tsr_mesh_index(mesh) == 0 || tsr_mesh_world(mesh) == TSR_WORLD_MPI;
    uint64_t state = r->seed;
    int64_t runs = 0;

    for (int c = 0; c < r->n_calls; c++) {
        uint64_t all = n_tuples(&r->call[c], shape), n = r->random ? r->count : all;
        for (uint64_t i = (uint64_t)sample_first((int64_t)r->step) % n; i < n;
             i += r->step, runs++) {
            uint64_t number = i;
            numeric_tuple t;
            tsr_error err = {0};
            tsr_status st;
            if (r->random) {
                state = tsr__hash_mix(state, i);
                number = tsr__hash_final(state) % all;
            }
            set_tuple(&r->call[c], shape, number, r->random ? i + r->seed : 0, &t);
            st = run_tuple(mesh, &t, &err);
            if (st == TSR_OK)
                continue;
            if (first) {
                char text[TSR_ERROR_LEN];
                describe(&t, text, sizeof text);
                tsr__fail(&r->wrong, st, "%.300s: %.150s", text,
                          err.code != TSR_OK ? err.text : tsr_mesh_message(mesh));
            }
            return st;
        }
    }
    if (first)
        r->runs = runs;
    if (tsr_mesh_index(mesh) == 0)
        r->first = true;
    return TSR_OK;
}

static tsr_status run_calls(const oracle_line *line, const oracle_opts *opts,
                            const oracle_call *call, int n_calls, tsr_error *err)
{
    const char *mesh = opts->mesh ? opts->mesh : opts->world == TSR_WORLD_MPI ? NULL : "2x2";
    numeric_run r = {.call = call, .n_calls = n_calls};
    unsigned long long seed = 0, count = 0;
    char cost[64];
    tsr_run_opts run = RUN_OPTS(.mesh = mesh, .world = opts->world);
    tsr_error failed = {0};
    tsr_status st;

    r.random = sscanf(opts->placements, "random:%llu:%llu", &seed, &count) == 2;
    r.seed = seed + (uint64_t)line->number;
    r.count = is_slow_build() ? (count + 9) / 10 : sample_every() > 1 ? (count + 1) / 2 : count;
    if (is_slow_build())
        r.step = r.random ? 1 : sample_quick() > 1 ? 29 : 7;
    else
        r.step = !r.random && sample_every() > 1 ? 3 : 1;
    snprintf(cost, sizeof cost, "random:%llu", (unsigned long long)r.seed);
    if (r.random && line->number % 2)
        run.cost = cost;
    st = tsr_run(&run, job, &r, &failed);
    if (st != TSR_OK)
        tsr__fail(err, st, "%s",
                  r.wrong.code != TSR_OK && r.wrong.code != TSR_ERR_PEER ? r.wrong.text
                                                                         : failed.text);
    if (opts->json && (r.first || st != TSR_OK))
        printf("{\"line\":%d,\"kind\":\"%s\",\"mesh\":\"%s\",\"runs\":%" PRId64 ",\"ok\":%s}\n",
               line->number, json_string_value(json_object_get(line->json, "kind")),
               mesh ? mesh : "world", r.runs, st == TSR_OK ? "true" : "false");
    return st;
}

static tsr_status embedding(const oracle_line *line, const oracle_opts *opts, tsr_error *err)
{
    oracle_embedding *e;
    const oracle_call *call;
    int n;
    tsr_status st;

    TSR_TRY(oracle_embedding_read(line->json, &e, err));
    call = oracle_embedding_calls(e, &n);
    TSR_TRY(run_calls(line, opts, call, n, err));
done:
    if (e)
        oracle_embedding_free(e);
    return st;
}

static tsr_status conv(const oracle_line *line, const oracle_opts *opts, tsr_error *err)
{
    oracle_conv *c;
    const oracle_call *call;
    int n;
    tsr_status st;

    TSR_TRY(oracle_conv_read(line->json, line->number, &c, err));
    call = oracle_conv_calls(c, &n);
    TSR_TRY(run_calls(line, opts, call, n, err));
done:
    if (c)
        oracle_conv_free(c);
    return st;
}

static const struct {
    const char *kind;
    numeric_fn run;
} KINDS[] = {
    {"conv", conv},
    {"embedding", embedding},
    {"embedding_bag", embedding},
};

/* A tensor is {"shape": [..], "data": [..]} with as many numbers as the shape says. */
static tsr_status check_tensor(const char *name, const json_t *x, tsr_error *err)
{
    const json_t *shape = json_object_get(x, "shape"), *data = json_object_get(x, "data"), *n;
    json_int_t count = 1;
    size_t i;

    json_array_foreach(
        shape, i, n) if (!json_is_integer(n) || json_integer_value(n) < 0 ||
                         __builtin_mul_overflow(
                             count, json_integer_value(n),
                             &count)) return tsr__fail(err, TSR_ERR_FORMAT,
                                                       "%s: its shape holds a wrong size", name);
    if (!json_is_array(shape) || !json_is_array(data) || i > TSR_MAX_DIM ||
        json_array_size(data) != (size_t)count)
        return tsr__fail(err, TSR_ERR_FORMAT, "%s: shape and data do not fit together", name);
    json_array_foreach(data, i, n) if (!json_is_number(n)) return tsr__fail(
        err, TSR_ERR_FORMAT, "%s: element %zu is not a number", name, i);
    return TSR_OK;
}

oracle_result oracle_numeric(const oracle_line *line, const oracle_opts *opts, const char **op,
                             tsr_error *err)
{
    const char *name;
    json_t *value;
    numeric_fn run = NULL;
    tsr_status st = TSR_OK;

    *op = json_string_value(json_object_get(line->json, "kind"));
    json_object_foreach((json_t *)line->json, name, value) if (json_is_object(value))
        TSR_TRY(check_tensor(name, value, err));
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        if (strcmp(KINDS[i].kind, *op) == 0)
            run = KINDS[i].run;
    if (!run)
        return ORACLE_NOT_THERE;
    TSR_TRY(run(line, opts, err));
done:
    return st == TSR_OK ? ORACLE_PASSED : ORACLE_FAILED;
}
