/* SPDX-License-Identifier: Apache-2.0 */
/* test_reproducible.c - reproducible mode: for every row and case, and for larger calls of what
   sums up many terms, the results on meshes are those of one rank, bit by bit; placements and costs
   are sampled. With the argument "mpi" on the ranks that mpirun gave. */
#include "support/test.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "dispatch/dispatch.h"
#include "support/sharding_property.h"
#include "op/schema.h"
#include "validate/trial.h"
#include "support/sampling.h"

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return tsr__hash_final(tsr__hash_mix(tsr__hash_mix(29, a), b));
}

typedef struct trial {
    const char *text;
    tsr_schema schema; /* inputs replicated, on one rank */
    uint64_t seed;
    int samples;
    void *in[TSR_MAX_IN];
    void *out[TSR_MAX_OUT]; /* of one rank; NULL: there is none */
    size_t bytes[TSR_MAX_OUT];
} trial;

static size_t bytes_of(const tsr_spec *spec)
{
    return (size_t)tsr_shape_count(&spec->shape) * tsr_dtype_size(spec->dtype);
}

static void set_values(trial *t)
{
    for (int k = 0; k < t->schema.n_in; k++) {
        const tsr_spec *spec = &t->schema.in[k];
        tsr_range range = tsr__case_range(t->text, k);

        if (!tsr__schema_has(&t->schema, k))
            continue;
        t->in[k] = malloc(bytes_of(spec) + 8);
        for (int64_t i = 0; i < tsr_shape_count(&spec->shape); i++) {
            uint64_t h = mixed(t->seed + (uint64_t)k, (uint64_t)i);
            double x = 4 * (double)(h >> 11) * 0x1p-53 - 2;
            if (tsr__range_is_integer(&range))
                x = (double)tsr__range_value(&range, t->seed + (uint64_t)k, i);
            else if (!tsr__dtype_is_float(spec->dtype))
                x = (double)(h % 2);
            else if (range.kind == TSR_RANGE_POSITIVE)
                x = 2.1 + x;
            tsr__put(spec->dtype, t->in[k], i, x);
        }
    }
}

/* ---- one call ---- */

static tsr_status run_call(tsr_mesh *mesh, const trial *t, const tsr_schema *s, tsr_tensor **out)
{
    tsr_tensor *in[TSR_MAX_IN] = {NULL};
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k))
            in[k] = from_host(mesh, tsr_spec_text(&s->in[k], text, sizeof text), t->in[k]);
    return tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, out);
}

static tsr_status run_on_one(tsr_mesh *mesh, void *arg)
{
    trial *t = arg;
    tsr_tensor *out[TSR_MAX_OUT];
    tsr_status st;

    tsr_reproducible_set(mesh, true);
    TSR_TRY(run_call(mesh, t, &t->schema, out));
    for (int k = 0; k < TSR_MAX_OUT; k++) {
        if (!out[k])
            continue;
        t->bytes[k] = bytes_of(tsr_tensor_spec(out[k]));
        t->out[k] = malloc(t->bytes[k] + 1);
        TSR_TRY(tsr_to_host(out[k], t->out[k], t->bytes[k]));
    }
done:
    return st;
}

static tsr_status complain(tsr_mesh *mesh, const trial *t, const tsr_schema *s, const char *cost,
                           const char *what)
{
    char line[TSR_TEXT_LEN];

    fprintf(stderr, "rank %d: %s: %s (%s)\n", tsr_mesh_rank(mesh),
            tsr__case_line(s, t->text, cost, line, sizeof line), what, tsr_mesh_message(mesh));
    return TSR_ERR_MISMATCH;
}

/* Bit by bit, but for the sign of a NaN, which no operation promises. */
static bool same_element(const trial *t, tsr_dtype dtype, int k, const char *got, size_t at)
{
    const char *want = (const char *)t->out[k] + at;
    const size_t size = tsr_dtype_size(dtype);

    if (memcmp(got + at, want, size) == 0)
        return true;
    return tsr__dtype_is_float(dtype) && isnan(tsr__get(dtype, got, (int64_t)(at / size))) &&
           isnan(tsr__get(dtype, t->out[k], (int64_t)(at / size)));
}

static tsr_status compare(tsr_mesh *mesh, const trial *t, const tsr_schema *s, const char *cost,
                          tsr_tensor *const *out)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++) {
        char *got, what[TSR_TEXT_LEN];
        tsr_dtype dtype;
        size_t at = 0;

        if ((out[k] != NULL) != (t->out[k] != NULL))
            return complain(mesh, t, s, cost, "an output is missing, or one too many is there");
        if (!out[k])
            continue;
        dtype = tsr_tensor_spec(out[k])->dtype;
        got = malloc(t->bytes[k] + 1);
        st = tsr_to_host(out[k], got, t->bytes[k]);
        while (st == TSR_OK && at < t->bytes[k] && same_element(t, dtype, k, got, at))
            at += tsr_dtype_size(dtype);
        free(got);
        snprintf(what, sizeof what, "output %d differs in byte %zu", k, at);
        if (st == TSR_OK && at < t->bytes[k])
            st = complain(mesh, t, s, cost, what);
    }
    return st;
}

/* Shards of any kind; partial only what is added up exactly. */
static void place(tsr_spec *spec, const tsr_mesh_shape *mesh, uint64_t sample)
{
    spec->mesh = *mesh;
    for (int m = 0; m < mesh->ndim; m++) {
        spec->place[m] = property_placement(mixed(sample, (uint64_t)m), spec);
        if (spec->place[m].kind == TSR_PARTIAL && tsr__dtype_is_float(spec->dtype))
            spec->place[m] = (tsr_placement){0};
    }
}

static tsr_status run_on_mesh(tsr_mesh *mesh, void *arg)
{
    const trial *t = arg;
    tsr_cost usual = mesh_cost(mesh), cost = usual;
    tsr_status st = TSR_OK;

    for (int i = 0; i < t->samples; i++) {
        uint64_t sample = mixed(t->seed, (uint64_t)i);
        tsr_schema s = t->schema;
        tsr_tensor *out[TSR_MAX_OUT];
        char text[64];

        for (int k = 0; k < s.n_in; k++)
            if (tsr__schema_has(&s, k))
                place(&s.in[k], tsr_mesh_shape_get(mesh), mixed(sample, (uint64_t)k));
        snprintf(text, sizeof text, i % 2 ? "random:%d+reproducible" : "default+reproducible",
                 (int)(sample % 10000));
        TSR_TRY(tsr_cost_parse(text, &cost, NULL));
        tsr_cost_set(mesh, &cost);
        tsr_scope_push(mesh);
        if (run_call(mesh, t, &s, out) != TSR_OK)
            TSR_TRY(complain(mesh, t, &s, text, "the op failed"));
        TSR_TRY(compare(mesh, t, &s, text, out));
        tsr_scope_pop(mesh);
    }
done:
    tsr_cost_set(mesh, &usual);
    return st == TSR_OK ? tsr_mesh_status(mesh) : st;
}

/* ---- all of them ---- */

static bool open_trial(trial *t, const tsr_op *op, const char *text, tsr_dtype dtype, uint64_t seed)
{
    const tsr_mesh_shape one = tsr__case_mesh(1);

    *t = (trial){.text = text, .seed = seed};
    if (tsr__case_read(op, text, &one, &t->schema, NULL) != TSR_OK)
        return false;
    for (int k = 0; k < t->schema.n_in; k++)
        if (tsr__schema_has(&t->schema, k) && t->schema.in[k].dtype == TSR_F64)
            t->schema.in[k].dtype = dtype;
    set_values(t);
    return true;
}

static void close_trial(trial *t)
{
    for (int k = 0; k < TSR_MAX_IN; k++)
        free(t->in[k]);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        free(t->out[k]);
}

static void test_case(const tsr_op *op, const char *text, tsr_dtype dtype, uint64_t seed)
{
    static const char *const meshes[] = {"2", "3", "2x2"};
    trial t;

    if (!open_trial(&t, op, text, dtype, seed))
        fail_msg("%s %s cannot be read", op->name, text);
    t.samples = 20;
    pass_on("1", run_on_one, &t);
    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++)
        pass_on(meshes[m], run_on_mesh, &t);
    close_trial(&t);
}

static const tsr_dtype dtypes[] = {TSR_F32, TSR_F64, TSR_BF16, TSR_F16};

static void rows_are_reproducible(void **state)
{
    const int64_t every = sample_every();
    int number = 0;
    (void)state;

    for (int r = 0; r < tsr_op_count(); r++) {
        const tsr_op *op = tsr_op_row(r);
        for (int c = 0; op_is_asked(op->name) && op->cases && op->cases[c]; c++, number++)
            if (sample_has(number, every))
                test_case(op, op->cases[c], dtypes[c / 2 % 4], (uint64_t)(r * 64 + c));
    }
}

/* Sizes at which libraries change how they sum. */
static const struct {
    const char *op, *text;
} large[] = {
    {"matmul", "f64[70,300] f64[300,130] f64[130]"},
    {"matmul", "f64[1,513] f64[513,65]"},
    {"matmul", "f64[2,37,64] f64[2,64,33]"},
    {"conv", "f64[3,20,19,17] f64[6,20,3,3] f64[6] padding=1,1"},
    {"conv", "f64[2,8,23,21] f64[8,1,3,3] groups=8 padding=1,1 stride=2,2"},
    {"conv", "f64[2,32,15,14] f64[40,32,1,1]"},
    {"conv", "f64[2,6,9,11] f64[6,5,3,3] transposed=true stride=2,2"},
    {"conv_grad_input", "f64[3,12,19,17] f64[12,10,3,3] input=19,17 padding=1,1"},
    {"conv_grad_weight", "f64[3,12,19,17] f64[3,10,19,17] kernel=3,3 padding=1,1"},
    {"sum", "f64[37,1000] dims=1"},
    {"sum", "f64[1000,37] dims=0"},
    {"sum", "f64[9,130,11] dims=0,2"},
    {"mean", "f64[37,1000] dims=1"},
    {"softmax", "f64[37,1000]"},
    {"softmax", "f64[300,37] dim=0"},
    {"softmax", "f64[300,2] dim=0"}, /* single rows, side by side elsewhere */
    {"log_softmax", "f64[300,3] dim=0"},
    {"softmax_backward", "f64[300,3] f64[300,3] dim=0"},
    {"logsumexp", "f64[300,3] dims=0"},
    {"batch_norm", "f64[12,6,9,5] f64[6] f64[6]"},
    {"group_norm", "f64[6,12,9,5] f64[12] f64[12] groups=3"},
    {"bag_sum", "f64[50,33] i64[300]<50 i64[20]/300"},
    {"embedding_backward", "f64[400,17] i64[400]<30 rows=30"},
};

static void large_calls_are_reproducible(void **state)
{
    const int64_t step = sample_quick() < 4 ? sample_quick() : 4; /* one dtype of each at least */
    (void)state;

    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t d = 0; d < 4 && op_is_asked(large[i].op); d++)
            if (sample_has((int64_t)(i + d), step))
                test_case(tsr_op_find(NULL, large[i].op), large[i].text, dtypes[d], 7 * i + d);
}

/* One rank for itself, then all of them. */
static tsr_status test_mpi(tsr_mesh *world, void *arg)
{
    tsr_status st = TSR_OK;
    (void)arg;

    for (size_t i = 0; i < sizeof large / sizeof *large && st == TSR_OK; i++) {
        tsr_run_opts opts = RUN_OPTS(.mesh = "1", .world = TSR_WORLD_THREAD);
        trial t;

        if (!open_trial(&t, tsr_op_find(NULL, large[i].op), large[i].text, dtypes[i % 4], i))
            return TSR_ERR_MISMATCH;
        t.samples = 2;
        st = tsr_run(&opts, run_on_one, &t, NULL);
        if (st == TSR_OK)
            st = run_on_mesh(world, &t);
        close_trial(&t);
    }
    return st;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_reproducible),
        cmocka_unit_test(large_calls_are_reproducible),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, test_mpi, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
