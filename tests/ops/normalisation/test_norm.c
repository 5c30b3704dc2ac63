/* SPDX-License-Identifier: Apache-2.0 */
/* test_norm.c - normalisation on meshes of threads, through the public headers: PyTorch's results
   (a file, computed in f64) for all placements of x, statistics that are the same bits on all ranks
   and in every run, what is communicated, gradients by differences, running statistics, bad input.
   With "mpi" as second argument only PyTorch's results, on the ranks that mpirun gave. */
#include <jansson.h>

#include "support/test.h"

static const char *path = "tests/data/norm_numeric.jsonl";

static void pass(const char *mesh, tsr_job job, void *arg)
{
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true,
                                     .timeout_ms = 60000),
              job, arg);
}

/* ---- PyTorch's results ---- */

enum { MOST = 4096 };

/* A tensor of the file as one of the mesh; NULL if it is null there. */
static tsr_tensor *from_file(tsr_mesh *mesh, const json_t *json, const char *name,
                             const char *where)
{
    const json_t *object = json_object_get(json, name);
    const json_t *shape = json_object_get(object, "shape"), *data = json_object_get(object, "data");
    double value[MOST];
    char text[TSR_TEXT_LEN] = "f64[";

    if (!json_is_object(object))
        return NULL;
    for (size_t d = 0; d < json_array_size(shape); d++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", d ? "," : "",
                 (int)json_integer_value(json_array_get(shape, d)));
    snprintf(text + strlen(text), sizeof text - strlen(text), "]@%s", where);
    for (size_t i = 0; i < json_array_size(data); i++)
        value[i] = json_number_value(json_array_get(data, i));
    return from_host(mesh, text, value);
}

static bool is_as_in(const json_t *json, const char *name, tsr_tensor *x)
{
    const json_t *data = json_object_get(json_object_get(json, name), "data");
    double value[MOST], largest = 1;
    size_t n = json_array_size(data);

    if (!tsr_tensor_ok(x) || tsr_to_host(x, value, n * sizeof *value) != TSR_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(json_number_value(json_array_get(data, i))));
    for (size_t i = 0; i < n; i++) {
        double want = json_number_value(json_array_get(data, i));
        if (!(fabs(value[i] - want) <= 1e-11 * largest)) {
            fprintf(stderr, "%s[%d] is %.17g, not %.17g\n", name, (int)i, value[i], want);
            return false;
        }
    }
    return n > 0;
}

static double real(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name));
}

static tsr_status check_batch(tsr_mesh *mesh, const json_t *json, const char *where,
                              const char *everywhere)
{
    const bool training = json_is_true(json_object_get(json, "training"));
    const tsr_norm_opts opts =
        NORM_OPTS(.eps = real(json, "eps"), .momentum = real(json, "momentum"),
                  .inference = !training);
    tsr_tensor *x = from_file(mesh, json, "x", where), *g = from_file(mesh, json, "grad", where);
    tsr_tensor *w = from_file(mesh, json, "weight", everywhere);
    tsr_tensor *running_mean = from_file(mesh, json, "running_mean", everywhere);
    tsr_tensor *running_var = from_file(mesh, json, "running_var", everywhere);
    tsr_tensor *mean, *rstd, *gx, *gw, *gb;
    tsr_tensor *y = tsr_batch_norm(x, w, from_file(mesh, json, "bias", everywhere), running_mean,
                                   running_var, &opts, &mean, &rstd);

    CHECK(is_as_in(json, "y", y) && is_as_in(json, "mean", mean) && is_as_in(json, "rstd", rstd));
    CHECK(is_as_in(json, "new_mean", running_mean) && is_as_in(json, "new_var", running_var));
    CHECK(tsr_batch_norm_backward(g, x, w, mean, rstd, &opts, &gx, &gw, &gb) == TSR_OK);
    CHECK(is_as_in(json, "grad_x", gx) && is_as_in(json, "grad_weight", gw) &&
          is_as_in(json, "grad_bias", gb));
    return TSR_OK;
}

static tsr_status check_group(tsr_mesh *mesh, const json_t *json, const char *where,
                              const char *everywhere)
{
    const int groups = (int)json_integer_value(json_object_get(json, "groups"));
    const tsr_norm_opts opts = NORM_OPTS(.eps = real(json, "eps"));
    tsr_tensor *x = from_file(mesh, json, "x", where), *g = from_file(mesh, json, "grad", where);
    tsr_tensor *w = from_file(mesh, json, "weight", everywhere);
    tsr_tensor *b = from_file(mesh, json, "bias", everywhere), *mean, *rstd, *gx, *gw, *gb, *y;

    if (groups == 0) {
        y = tsr_instance_norm(x, w, b, &opts, &mean, &rstd);
        CHECK(is_as_in(json, "y", y));
        return TSR_OK;
    }
    y = tsr_group_norm(x, w, b, groups, &opts, &mean, &rstd);
    CHECK(is_as_in(json, "y", y) && is_as_in(json, "mean", mean) && is_as_in(json, "rstd", rstd));
    CHECK(tsr_group_norm_backward(g, x, w, mean, rstd, groups, &gx, &gw, &gb) == TSR_OK);
    CHECK(is_as_in(json, "grad_x", gx) && is_as_in(json, "grad_weight", gw) &&
          is_as_in(json, "grad_bias", gb));
    return TSR_OK;
}

/* Every case, for every pair of dims of x along the mesh dims, or one where there is one. */
static tsr_status check_file(tsr_mesh *mesh, void *arg)
{
    const json_t *cases = arg;
    const int ndim = tsr_mesh_shape_get(mesh)->ndim;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < json_array_size(cases) && st == TSR_OK; i++) {
        const json_t *json = json_array_get(cases, i);
        const bool batch =
            strcmp(json_string_value(json_object_get(json, "op")), "batch_norm") == 0;
        int dims = (int)json_array_size(json_object_get(json_object_get(json, "x"), "shape"));

        for (int k = 0; k < (ndim > 1 ? dims * dims : dims) && st == TSR_OK; k++) {
            char where[TSR_TEXT_LEN];
            if (ndim > 1)
                snprintf(where, sizeof where, "[S(%d),S(%d)]", k / dims, k % dims);
            else
                snprintf(where, sizeof where, "[S(%d)]", k);
            tsr_scope_push(mesh);
            st = (batch ? check_batch : check_group)(mesh, json, where, ndim > 1 ? "[R,R]" : "[R]");
            tsr_scope_pop(mesh);
            if (st != TSR_OK)
                fprintf(stderr, "case %d, x at %s\n", (int)i, where);
        }
    }
    return st;
}

static json_t *read_file(void)
{
    json_t *cases = json_array(), *json;
    FILE *file = fopen(path, "r");

    while (file && (json = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
        json_array_append_new(cases, json);
    if (file)
        fclose(file);
    return cases;
}

static void torch_results(void **state)
{
    static const char *const meshes[] = {"1", "2", "3", "4", "2x2", "2x3"};
    json_t *cases = read_file();
    (void)state;

    assert_int_equal(json_array_size(cases), 13);
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++)
        pass(meshes[i], check_file, cases);
    json_decref(cases);
}

/* ---- the same bits ---- */

static tsr_tensor *rough(tsr_mesh *mesh, const char *spec, double offset)
{
    tsr_spec s;
    tsr_tensor *x;
    float *value;
    int64_t n;

    if (tsr_spec_parse(spec, tsr_mesh_shape_get(mesh), &s, NULL) != TSR_OK)
        return NULL;
    n = tsr_shape_count(&s.shape);
    value = malloc((size_t)n * sizeof *value + 1);
    for (int64_t i = 0; i < n; i++)
        value[i] = (float)(offset + sin((double)i * 1.7) * pow(10, (double)(i % 5) - 2));
    x = from_host(mesh, spec, value);
    free(value);
    return x;
}

/* A replicated vector is the same on all ranks, and as it was before if that is given. */
static bool same_bits(tsr_mesh *mesh, tsr_tensor *x, float *before, bool compare)
{
    enum { RANKS = 8, N = 64 };
    float all[RANKS * N];
    tsr_local here;

    if (!tsr_tensor_ok(x) || tsr_tensor_spec(x)->place[0].kind != TSR_REPLICATE ||
        tsr_local_view(x, &here) != TSR_OK)
        return false;
    int64_t n = tsr_shape_count(&here.shape);
    size_t bytes = (size_t)n * sizeof *all;
    if (tsr_all_gather(mesh, TSR_F32, here.data, n, all) != TSR_OK)
        return false;
    for (int r = 0; r < tsr_mesh_size(mesh); r++)
        if (memcmp(all + r * n, all, bytes) != 0)
            return false;
    if (compare && memcmp(all, before, bytes) != 0)
        return false;
    memcpy(before, all, bytes);
    return true;
}

static tsr_status check_bits(tsr_mesh *mesh, void *arg)
{
    static const char *const where[] = {"[S(0)]", "[S(2)]", "[S(3)]", "[SS(0,2)]"};
    float mean[64], rstd[64], weight[64], bias[64], group_mean[64], group_rstd[64];
    (void)arg;

    for (int k = 0; k < 4; k++)
        for (int again = 0; again < 3; again++) {
            char spec[TSR_TEXT_LEN];
            tsr_tensor *x, *m, *r, *gx, *gw, *gb;

            snprintf(spec, sizeof spec, "f32[5,6,30,70]@%s", where[k]);
            x = rough(mesh, spec, 1000);
            CHECK(tsr_tensor_ok(tsr_batch_norm(x, NULL, NULL, NULL, NULL, NULL, &m, &r)));
            CHECK(same_bits(mesh, m, mean, again) && same_bits(mesh, r, rstd, again));
            CHECK(tsr_batch_norm_backward(x, x, NULL, m, r, NULL, &gx, &gw, &gb) == TSR_OK);
            CHECK(same_bits(mesh, gw, weight, again) && same_bits(mesh, gb, bias, again));
            if (k == 1 || k == 2) {
                CHECK(tsr_tensor_ok(tsr_group_norm(x, NULL, NULL, 3, NULL, &m, &r)));
                CHECK(same_bits(mesh, m, group_mean, again) &&
                      same_bits(mesh, r, group_rstd, again));
            }
        }
    return TSR_OK;
}

static void statistics_are_the_same_bits(void **state)
{
    static const char *const meshes[] = {"2", "3", "4", "8"};
    (void)state;

    for (int i = 0; i < 4; i++)
        pass(meshes[i], check_bits, NULL);
}

/* ---- communication ---- */

/* Bytes that came to this rank for one call of batch_norm, or of group_norm. */
static int64_t bytes_of(tsr_mesh *mesh, const char *where, const char *vectors, bool grouped,
                        bool inference)
{
    const tsr_norm_opts opts = NORM_OPTS(.inference = inference);
    char spec[TSR_TEXT_LEN], vector[TSR_TEXT_LEN];
    tsr_tensor *x, *w;
    int64_t before;

    snprintf(spec, sizeof spec, "f32[16,8,60,40]@%s", where);
    snprintf(vector, sizeof vector, "f32[8]@%s", vectors);
    x = tsr_arange(mesh, spec, 0, 1);
    w = tsr_full(mesh, vector, 1);
    before = tsr_counters_get(mesh).bytes_in;
    if (grouped)
        tsr_group_norm(x, w, NULL, 4, NULL, NULL, NULL);
    else
        tsr_batch_norm(x, w, NULL, inference ? w : NULL, inference ? w : NULL, &opts, NULL, NULL);
    if (tsr_mesh_status(mesh) != TSR_OK)
        return -1;
    return tsr_counters_get(mesh).bytes_in - before;
}

static tsr_status check_bytes(tsr_mesh *mesh, void *arg)
{
    const int64_t others = tsr_mesh_size(mesh) - 1;
    (void)arg;

    CHECK(bytes_of(mesh, "[S(0)]", "[R]", false, false) == others * (1 + 2 * 8) * 8);
    CHECK(bytes_of(mesh, "[S(2)]", "[R]", false, false) == others * (1 + 2 * 8) * 8);
    CHECK(bytes_of(mesh, "[S(1)]", "[S(0)]", false, false) == 0);
    CHECK(bytes_of(mesh, "[R]", "[R]", false, false) == 0);
    CHECK(bytes_of(mesh, "[S(0)]", "[R]", false, true) == 0);
    CHECK(bytes_of(mesh, "[S(3)]", "[R]", false, true) == 0);
    CHECK(bytes_of(mesh, "[S(1)]", "[S(0)]", false, true) == 0);
    CHECK(bytes_of(mesh, "[S(0)]", "[R]", true, false) == 0);
    CHECK(bytes_of(mesh, "[S(1)]", "[S(0)]", true, false) == 0);
    CHECK(bytes_of(mesh, "[S(2)]", "[R]", true, false) == others * (1 + 2 * 16 * 4) * 8);
    return TSR_OK;
}

static void only_statistics_travel(void **state)
{
    (void)state;
    pass("2", check_bytes, NULL);
    pass("4", check_bytes, NULL);
}

/* ---- gradients by differences ---- */

typedef struct problem {
    int groups; /* 0: batch_norm, -1: inference */
    double x[48], weight[4], bias[4], grad[48];
} problem;

/* sum(grad * y) */
static double loss(tsr_mesh *mesh, const problem *p)
{
    const tsr_norm_opts opts = NORM_OPTS(.inference = p->groups < 0);
    static const double running[] = {0.5, 1, 1.5, 2};
    tsr_tensor *x = from_host(mesh, "f64[3,4,4]", p->x);
    tsr_tensor *w = from_host(mesh, "f64[4]", p->weight);
    tsr_tensor *b = from_host(mesh, "f64[4]", p->bias);
    tsr_tensor *given = p->groups < 0 ? from_host(mesh, "f64[4]", running) : NULL;
    double y[48], sum = 0;

    if (p->groups > 0)
        x = tsr_group_norm(x, w, b, p->groups, NULL, NULL, NULL);
    else
        x = tsr_batch_norm(x, w, b, given, given, &opts, NULL, NULL);
    if (tsr_to_host(x, y, sizeof y) != TSR_OK)
        return NAN;
    for (int i = 0; i < 48; i++)
        sum += p->grad[i] * y[i];
    return sum;
}

static bool slopes_agree(tsr_mesh *mesh, problem *p, double *at, int n, tsr_tensor *grad)
{
    double got[48];

    if (tsr_to_host(grad, got, (size_t)n * sizeof *got) != TSR_OK)
        return false;
    for (int i = 0; i < n; i++) {
        const double h = 1e-5, old = at[i];
        double up, down;

        tsr_scope_push(mesh);
        at[i] = old + h;
        up = loss(mesh, p);
        at[i] = old - h;
        down = loss(mesh, p);
        at[i] = old;
        tsr_scope_pop(mesh);
        if (!(fabs((up - down) / (2 * h) - got[i]) < 1e-7)) {
            fprintf(stderr, "groups %d, element %d: %g by differences, %g\n", p->groups, i,
                    (up - down) / (2 * h), got[i]);
            return false;
        }
    }
    return true;
}

static tsr_status check_gradients(tsr_mesh *mesh, void *arg)
{
    static const double running[] = {0.5, 1, 1.5, 2};
    (void)arg;

    for (int groups = -1; groups <= 4; groups = groups > 0 ? 2 * groups : groups + 1) {
        problem p = {.groups = groups};
        const tsr_norm_opts opts = NORM_OPTS(.inference = groups < 0);
        tsr_tensor *x, *w, *b, *g, *given, *mean, *rstd, *gx, *gw, *gb;

        for (int i = 0; i < 48; i++) {
            p.x[i] = sin(i * 1.3) + 0.1 * (i % 7);
            p.grad[i] = cos(i * 0.7);
            p.weight[i % 4] = 1 + 0.25 * (i % 4);
            p.bias[i % 4] = 0.5 * (i % 4);
        }
        x = from_host(mesh, "f64[3,4,4]", p.x), g = from_host(mesh, "f64[3,4,4]", p.grad);
        w = from_host(mesh, "f64[4]", p.weight), b = from_host(mesh, "f64[4]", p.bias);
        given = groups < 0 ? from_host(mesh, "f64[4]", running) : NULL;
        if (groups > 0) {
            tsr_group_norm(x, w, b, groups, NULL, &mean, &rstd);
            tsr_group_norm_backward(g, x, w, mean, rstd, groups, &gx, &gw, &gb);
        } else {
            tsr_batch_norm(x, w, b, given, given, &opts, &mean, &rstd);
            tsr_batch_norm_backward(g, x, w, mean, rstd, &opts, &gx, &gw, &gb);
        }
        CHECK(tsr_mesh_status(mesh) == TSR_OK);
        CHECK(slopes_agree(mesh, &p, p.x, 48, gx) && slopes_agree(mesh, &p, p.weight, 4, gw) &&
              slopes_agree(mesh, &p, p.bias, 4, gb));
    }
    return TSR_OK;
}

static void gradients_are_slopes(void **state)
{
    (void)state;
    pass("1", check_gradients, NULL);
}

/* ---- options ---- */

static double first_of(tsr_tensor *x)
{
    double value[8] = {NAN};

    return tsr_to_host(x, value, sizeof(double) * 3) == TSR_OK ? value[0] : NAN;
}

/* Halves have f32 statistics; what is not asked for is not there; an empty batch changes nothing;
   running statistics stay where they are. */
static tsr_status check_options(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_arange(mesh, "bf16[64,3,200]@[S(0)]", 0, 1), *mean, *rstd, *out[4];
    tsr_tensor *running = tsr_full(mesh, "f64[3]@[S(0)]", 2);
    tsr_tensor *nothing = tsr_zeros(mesh, "f64[0,3,2]@[S(0)]");
    tsr_tensor *y =
        tsr_batch_norm(x, tsr_full(mesh, "f32[3]", 1), NULL, NULL, NULL, NULL, &mean, &rstd);
    static const char *const mask[] = {"output_mask=0,0,1"};
    (void)arg;

    CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(y)->dtype == TSR_BF16);
    CHECK(tsr_tensor_spec(mean)->dtype == TSR_F32 && tsr_tensor_spec(rstd)->dtype == TSR_F32);
    CHECK(tsr_op_run_all(mesh, "batch_norm_backward", (tsr_tensor *[]){x, x, NULL, mean, rstd}, 5,
                         mask, 1, out) == TSR_OK);
    CHECK(!out[0] && !out[1] && out[2] && !out[3]);
    CHECK(tsr_mesh_size(mesh) == 1 || tsr_tensor_spec(out[2])->place[0].kind == TSR_PARTIAL);
    y = tsr_batch_norm(nothing, NULL, NULL, running, running, NULL, &mean, &rstd);
    CHECK(tsr_tensor_ok(y) && first_of(running) == 2 && first_of(mean) == 0);
    y = tsr_batch_norm(tsr_full(mesh, "f64[4,3]@[S(0)]", 6), NULL, NULL, running, NULL,
                       &(tsr_norm_opts)NORM_OPTS(.momentum = 0.5), NULL, NULL);
    CHECK(tsr_tensor_ok(y) && first_of(running) == 4);
    CHECK(tsr_tensor_spec(running)->place[0].kind == TSR_SHARD);
    return TSR_OK;
}

static void options(void **state)
{
    (void)state;
    pass("1", check_options, NULL);
    pass("2", check_options, NULL);
    pass("3", check_options, NULL);
}

/* ---- bad input ---- */

static const struct {
    const char *op, *text, *sentence;
} bad[] = {
    {"batch_norm", "f32[4]", "batch_norm: x must be [samples, channels, ...], not f32[4]@[R]"},
    {"batch_norm", "i32[4,3]", "batch_norm: needs a floating-point dtype, not i32[4,3]@[R]"},
    {"batch_norm", "f32[4,3] f32[4]",
     "batch_norm: weight must have shape [3], one number per channel, not f32[4]@[R]"},
    {"batch_norm", "f32[4,3] - f32[3,1]",
     "batch_norm: bias must have shape [3], one number per channel, not f32[3,1]@[R]"},
    {"batch_norm", "f32[4,3] f64[3]",
     "batch_norm: weight f64[3]@[R] does not have x's dtype, f32[4,3]@[R]"},
    {"batch_norm", "f16[4,3] f64[3]",
     "batch_norm: weight f64[3]@[R] does not have x's dtype, f16[4,3]@[R], or f32"},
    {"batch_norm", "f32[4,3] eps=-1", "batch_norm: eps must be at least 0, not -1"},
    {"batch_norm", "f32[4,3] eps=nan", "batch_norm: eps must be at least 0, not nan"},
    {"batch_norm", "f32[4,3] - - f32[3] training=false",
     "batch_norm: without training, running_mean and running_var are required"},
    {"batch_norm", "f32[4,3] - - f32[3] f32[3]",
     "batch_norm: training takes no running statistics; running_update updates them"},
    {"batch_norm", "f32[1,3,1]",
     "batch_norm: training needs more than one value per channel, f32[1,3,1]@[R] has one"},
    {"group_norm", "f32[4,6]", "group_norm: missing required attribute groups"},
    {"group_norm", "f32[4,6] groups=4", "group_norm: 6 channels are not divisible by 4 groups"},
    {"group_norm", "f32[4,6] groups=0", "group_norm: groups must be at least 1, not 0"},
    {"group_norm", "f32[4,6] groups=-2", "group_norm: groups must be at least 1, not -2"},
    {"instance_norm", "f32[4,6]",
     "instance_norm: x must be [samples, channels, space...] with more than one value per "
     "channel, not f32[4,6]@[R]"},
    {"batch_norm_backward", "f32[4,3,2] f32[4,3] - f32[3] f32[3]",
     "batch_norm_backward: grad must have shape [4,3], that of x, not f32[4,3,2]@[R]"},
    {"batch_norm_backward", "f32[4,3] f32[4,3] - f32[4] f32[3]",
     "batch_norm_backward: mean must have shape [3], one number per channel, not f32[4]@[R]"},
    {"batch_norm_backward", "f32[4,3] f32[4,3] - f32[3] f32[3] output_mask=1,1",
     "batch_norm_backward: output_mask must be 3 numbers, 0 or 1, for the gradients of x, weight "
     "and bias, with at least one 1"},
    {"batch_norm_backward", "f32[4,3] f32[4,3] - f32[3] f32[3] output_mask=0,0,0",
     "batch_norm_backward: output_mask must be 3 numbers, 0 or 1, for the gradients of x, weight "
     "and bias, with at least one 1"},
    {"group_norm_backward", "f32[4,6] f32[4,6] - f32[4,3] f32[4,2] groups=3",
     "group_norm_backward: rstd must have shape [4,3], one number per sample and group, not "
     "f32[4,2]@[R]"},
    {"running_update", "f32[3] f32[4]",
     "running_update: new statistics do not match the running ones, f32[3]@[R] f32[4]@[R]"},
    {"running_update", "f32[3] f32[3] momentum=2",
     "running_update: momentum must be in [0, 1], not 2"},
};

/* The words of a call: inputs as zeros, attributes as they are. */
static tsr_status check_bad(tsr_mesh *mesh, void *arg)
{
    const int i = *(const int *)arg;
    tsr_tensor *in[8] = {NULL};
    const char *attrs[4];
    char text[TSR_TEXT_LEN], *rest = text, *word;
    int n_in = 0, n_attrs = 0;

    snprintf(text, sizeof text, "%s", bad[i].text);
    while ((word = strtok_r(rest, " ", &rest))) {
        if (strchr(word, '='))
            attrs[n_attrs++] = word;
        else
            in[n_in++] = strcmp(word, "-") == 0 ? NULL : tsr_zeros(mesh, word);
    }
    tsr_op_run(mesh, bad[i].op, in, n_in, attrs, n_attrs);
    CHECK(tsr_mesh_status(mesh) != TSR_OK);
    if (strcmp(tsr_mesh_message(mesh), bad[i].sentence) != 0) {
        fprintf(stderr, "%s %s: %s\n", bad[i].op, bad[i].text, tsr_mesh_message(mesh));
        return TSR_ERR_MISMATCH;
    }
    return TSR_OK;
}

static void bad_input(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++)
        pass("2", check_bad, &i);
}

/* ---- mpi ---- */

static int run_on_mpi(void)
{
    tsr_run_opts opts = RUN_OPTS(.world = TSR_WORLD_MPI, .has_timeout = true, .timeout_ms = 60000);
    json_t *cases = read_file();
    tsr_error err = {0};
    tsr_status st = tsr_run(&opts, check_file, cases, &err);

    if (st != TSR_OK)
        fprintf(stderr, "%s\n", err.text);
    json_decref(cases);
    return st != TSR_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torch_results),
        cmocka_unit_test(statistics_are_the_same_bits),
        cmocka_unit_test(only_statistics_travel),
        cmocka_unit_test(gradients_are_slopes),
        cmocka_unit_test(options),
        cmocka_unit_test(bad_input),
    };

    if (argc > 1)
        path = argv[1];
    if (argc > 2 && strcmp(argv[2], "mpi") == 0)
        return run_on_mpi();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
