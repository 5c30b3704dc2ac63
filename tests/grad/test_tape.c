/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape.c - gradients of whole programs: on one rank they are what finite differences of the
   loss say; on meshes, with sampled placements of the weights, they are what one rank gets. And
   what a tape refuses, lets go of, and costs. Through the public headers. */
#include "support/test.h"

enum { WEIGHTS = 4, ELEMENTS = 64 };

static const int ALL_DIMS = 0;

static tsr_tensor *mean_of(tsr_tensor *x)
{
    return tsr_mean(x, &ALL_DIMS, 0, false);
}

/* Numbers of both signs, not too small, all different. */
static tsr_tensor *numbers(tsr_mesh *mesh, const char *spec, int seed)
{
    return tsr_affine(tsr_sin(tsr_arange(mesh, spec, 1 + seed, 1.7)), 0.8, 0.05);
}

static tsr_tensor *ids(tsr_mesh *mesh, const char *placements)
{
    static const int64_t id[] = {1, 0, 4, 1, 1, 3};
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "i64[6]@%.100s", placements);
    return from_host(mesh, spec, id);
}

/* "[S(0)]", "[S(0),R]" and so on: the placement along the first mesh dim, the others R. */
static const char *first(tsr_mesh *mesh, const char *place, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "[%s", place);

    for (int m = 1; m < tsr_mesh_shape_get(mesh)->ndim; m++)
        used += (size_t)snprintf(buf + used, n - used, ",R");
    snprintf(buf + used, n - used, "]");
    return buf;
}

/* ---- programs ---- */

static tsr_tensor *mlp(tsr_mesh *mesh, tsr_tensor *const *w)
{
    tsr_tensor *x = numbers(mesh, "f64[6,4]", 0), *h;

    x = tsr_gelu(tsr_linear(x, w[0], w[1]), false);
    h = tsr_linear(x, w[2], NULL);
    h = tsr_add(h, tsr_linear(tsr_tanh(x), w[2], NULL)); /* a weight of two calls */
    return tsr_cross_entropy(h, from_host(mesh, "i64[6]", (int64_t[]){0, 2, 1, 1, 0, 2}), NULL,
                             NULL, NULL, NULL);
}

static tsr_tensor *shapes(tsr_mesh *mesh, tsr_tensor *const *w)
{
    tsr_tensor *x = tsr_reshape(tsr_transpose(w[0], 0, 1), (int64_t[]){2, 2, 5}, 3);
    tsr_tensor *y = tsr_expand(tsr_unsqueeze(w[1], (int[]){0}, 1), (int64_t[]){4, 5}, 2);

    x = tsr_mul(x, x);
    y = tsr_cat((tsr_tensor *[]){y, tsr_slice(y, 0, 1, 3, 1)}, 2, 0);
    return tsr_add(mean_of(tsr_mul(x, tsr_sum(y, (int[]){0}, 1, false))),
                   mean_of(tsr_matmul(numbers(mesh, "f64[2,6]", 3), y, NULL)));
}

static tsr_tensor *moves(tsr_mesh *mesh, tsr_tensor *const *w)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN], c[TSR_TEXT_LEN];
    tsr_tensor *x = numbers(mesh, "f64[6,4]", 1);

    x = tsr_redistribute(x, first(mesh, "S(1)", a, sizeof a));
    x = tsr_linear(x, w[0], w[1]);
    x = tsr_redistribute(x, first(mesh, "S(0)", b, sizeof b));
    x = tsr_redistribute(tsr_relu(x), first(mesh, "R", c, sizeof c));
    x = tsr_redistribute(x, first(mesh, "P(sum)", c, sizeof c));
    x = tsr_add(x, tsr_redistribute(tsr_tanh(x), first(mesh, "S(1)", a, sizeof a)));
    return mean_of(tsr_mul(x, x));
}

static tsr_tensor *in_place(tsr_mesh *mesh, tsr_tensor *const *w)
{
    tsr_tensor *x = tsr_linear(numbers(mesh, "f64[6,4]", 2), w[0], w[1]);
    tsr_tensor *y = tsr_linear(x, w[2], NULL);

    tsr_affine_inplace(y, 1.5, 0.25);
    tsr_relu_inplace(y);
    return mean_of(tsr_mul(tsr_exp(y), y));
}

static tsr_tensor *inner(tsr_tensor *const *in, int n, void *arg)
{
    tsr_tensor *const *w = arg;

    (void)n;
    return tsr_sigmoid(tsr_linear(in[0], w[2], NULL));
}

static tsr_tensor *outer(tsr_tensor *const *in, int n, void *arg)
{
    tsr_tensor *const *w = arg;
    tsr_tensor *h = tsr_tanh(tsr_linear(in[0], w[0], w[1]));

    (void)n;
    return tsr_mul(tsr_recompute(inner, &h, 1, arg), in[1]);
}

static tsr_tensor *again(tsr_mesh *mesh, tsr_tensor *const *w)
{
    tsr_tensor *in[] = {numbers(mesh, "f64[6,4]", 5), tsr_sum(w[2], (int[]){1}, 1, false)};
    tsr_tensor *y = tsr_recompute(outer, in, 2, (void *)w);

    return mean_of(tsr_mul(y, y));
}

static tsr_tensor *table(tsr_mesh *mesh, tsr_tensor *const *w)
{
    char a[TSR_TEXT_LEN];
    tsr_tensor *x = tsr_embedding(w[0], ids(mesh, first(mesh, "S(0)", a, sizeof a)), NULL);

    x = tsr_linear(tsr_silu(x), w[0], w[1]); /* the same table once more */
    return mean_of(tsr_mul(x, x));
}

static tsr_tensor *grouped(tsr_mesh *mesh, tsr_tensor *const *w)
{
    static const int64_t begin[] = {0, 2, 2};
    char a[TSR_TEXT_LEN];
    tsr_tensor *i = ids(mesh, first(mesh, "R", a, sizeof a)), *out[3];
    tsr_tensor *at = from_host(mesh, "i64[3]", begin);
    tsr_tensor *by = tsr_slice(tsr_flatten(w[2], 0, -1), 0, 0, 6, 1);
    const tsr_table_use use[] = {
        {.table = w[0], .ids = i, .offsets = at, .weights = by, .pooling = TSR_BAG_SUM},
        {.table = w[0], .ids = i, .offsets = at, .pooling = TSR_BAG_MAX},
        {.table = w[3], .ids = i, .pooling = TSR_BAG_NONE}};

    if (tsr_lookup_group(use, 3, out) != TSR_OK)
        return out[0];
    return tsr_add(mean_of(tsr_mul(out[0], out[1])), mean_of(tsr_mul(out[2], out[2])));
}

static tsr_tensor *composed(tsr_mesh *mesh, tsr_tensor *const *w)
{
    tsr_tensor *x = tsr_linear(numbers(mesh, "f64[6,4]", 7), w[0], w[1]);

    x = tsr_op_run(mesh, "logsigmoid", &x, 1, NULL, 0);
    x = tsr_op_run(mesh, "instance_norm", (tsr_tensor *[]){tsr_reshape(x, (int64_t[]){2, 3, 5}, 3)},
                   1, NULL, 0);
    return mean_of(tsr_mul(tsr_exp(x), x));
}

static tsr_tensor *cnn(tsr_mesh *mesh, tsr_tensor *const *w)
{
    const tsr_conv_opts same = CONV_OPTS(.padding = {1});
    tsr_tensor *x = tsr_reshape(numbers(mesh, "f64[3,8]", 4), (int64_t[]){3, 1, 8}, 3);
    tsr_tensor *k =
        tsr_reshape(tsr_slice(tsr_flatten(w[0], 0, -1), 0, 0, 15, 1), (int64_t[]){5, 1, 3}, 3);

    x = tsr_conv(x, k, w[1], &same);
    x = tsr_batch_norm(x, w[1], NULL, NULL, NULL, NULL, NULL, NULL);
    x = tsr_max_pool(x, &(tsr_pool_opts)POOL_OPTS(.kernel = {2}), NULL);
    return mean_of(tsr_mul(tsr_sin(x), x));
}

typedef struct program {
    const char *name;
    tsr_tensor *(*loss)(tsr_mesh *mesh, tsr_tensor *const *w);
} program;

static const program PROGRAMS[] = {
    {"mlp", mlp},           {"shapes", shapes},     {"moves", moves},
    {"in place", in_place}, {"again", again},       {"table", table},
    {"grouped", grouped},   {"composed", composed}, {"cnn", cnn},
};
enum { N_PROGRAMS = sizeof PROGRAMS / sizeof PROGRAMS[0] };

static const struct {
    const char *spec;
    int n;
} WEIGHT[WEIGHTS] = {{"f64[5,4]", 20}, {"f64[5]", 5}, {"f64[3,5]", 15}, {"f64[7,2]", 14}};

/* ---- running them ---- */

/* Placements of a weight by a sample number: 0 is R everywhere. */
static void place(tsr_mesh *mesh, int k, int sample, char *buf, size_t n)
{
    static const char *const some[] = {"R", "S(0)", "S(1)", "SS(0,2)"};
    size_t used = (size_t)snprintf(buf, n, "%s@[", WEIGHT[k].spec);

    for (int m = 0; m < tsr_mesh_shape_get(mesh)->ndim; m++) {
        int pick = sample ? (sample * 7 + k * 3 + m * 5) % 4 : 0;
        if (k == 1 && pick == 2)
            pick = 1;
        used += (size_t)snprintf(buf + used, n - used, "%s%s", m ? "," : "", some[pick]);
    }
    snprintf(buf + used, n - used, "]");
}

static double value(int k, int i)
{
    return 0.7 * sin(1 + 2.3 * i + 11 * k) + 0.01 * k;
}

/* Weights with element e of weight k changed by `by`. */
static void make_weights(tsr_mesh *mesh, int sample, int k, int e, double by, tsr_tensor **w)
{
    for (int j = 0; j < WEIGHTS; j++) {
        char spec[TSR_TEXT_LEN];
        double host[ELEMENTS];

        place(mesh, j, sample, spec, sizeof spec);
        for (int i = 0; i < WEIGHT[j].n; i++)
            host[i] = value(j, i) + (j == k && i == e ? by : 0);
        w[j] = from_host(mesh, spec, host);
    }
}

/* What one rank found, for the others to compare with. */
typedef struct truth {
    const program *program;
    double loss, grad[WEIGHTS][ELEMENTS];
} truth;

static tsr_status differences_job(tsr_mesh *mesh, void *arg)
{
    truth *t = arg;
    const double h = 1e-5;

    for (int k = 0; k < WEIGHTS; k++)
        for (int e = 0; e < WEIGHT[k].n; e++) {
            tsr_tensor *w[WEIGHTS];
            double side[2];

            CHECK(tsr_scope_push(mesh) == TSR_OK);
            for (int s = 0; s < 2; s++) {
                make_weights(mesh, 0, k, e, s ? h : -h, w);
                CHECK(tsr_to_host(t->program->loss(mesh, w), &side[s], sizeof side[s]) == TSR_OK);
            }
            t->grad[k][e] = (side[1] - side[0]) / (2 * h);
            CHECK(tsr_scope_pop(mesh) == TSR_OK);
        }
    return TSR_OK;
}

/* The program's gradients with weights placed by a sample, into host arrays. */
static tsr_status go_back(tsr_mesh *mesh, const program *p, int sample, double *loss,
                          double (*grad)[ELEMENTS])
{
    tsr_tensor *w[WEIGHTS], *y;

    make_weights(mesh, sample, -1, 0, 0, w);
    for (int k = 0; k < WEIGHTS; k++)
        CHECK(tsr_watch(w[k]) == w[k] && tsr_is_watched(w[k]));
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    y = p->loss(mesh, w);
    CHECK(tsr_backward(y) == TSR_OK);
    CHECK(tsr_to_host(y, loss, sizeof *loss) == TSR_OK);
    for (int k = 0; k < WEIGHTS; k++) {
        memset(grad[k], 0, sizeof grad[k]);
        if (tsr_grad(w[k]))
            CHECK(tsr_to_host(tsr_grad(w[k]), grad[k], (size_t)WEIGHT[k].n * sizeof grad[k][0]) ==
                  TSR_OK);
    }
    return TSR_OK;
}

static bool near(double a, double b, double allowed)
{
    return fabs(a - b) <= allowed * (1 + fabs(a) + fabs(b));
}

static tsr_status compare_job(tsr_mesh *mesh, void *arg)
{
    const truth *t = arg;
    const double allowed = tsr_mesh_size(mesh) == 1 ? 1e-7 : 1e-11;
    double loss, grad[WEIGHTS][ELEMENTS];

    for (int sample = 0; sample < 5; sample++) {
        CHECK(tsr_scope_push(mesh) == TSR_OK);
        CHECK(go_back(mesh, t->program, sample, &loss, grad) == TSR_OK);
        for (int k = 0; k < WEIGHTS; k++)
            for (int i = 0; i < WEIGHT[k].n; i++)
                if (!near(grad[k][i], t->grad[k][i], allowed)) {
                    fprintf(stderr, "%s, sample %d: gradient %d of weight %d is %.12g, not %.12g\n",
                            t->program->name, sample, i, k, grad[k][i], t->grad[k][i]);
                    return TSR_ERR_MISMATCH;
                }
        CHECK(tsr_mesh_size(mesh) == 1 || near(loss, t->loss, 1e-12));
        CHECK(tsr_scope_pop(mesh) == TSR_OK);
    }
    return TSR_OK;
}

static tsr_status one_rank_job(tsr_mesh *mesh, void *arg)
{
    truth *t = arg;

    return go_back(mesh, t->program, 0, &t->loss, t->grad);
}

static void test_programs(void **state)
{
    (void)state;
    for (int i = 0; i < N_PROGRAMS; i++) {
        truth t = {.program = &PROGRAMS[i]};

        pass_on("1", differences_job, &t);
        pass_on("1", compare_job, &t);
        pass_on("1", one_rank_job, &t);
        pass_on("2", compare_job, &t);
        pass_on("3", compare_job, &t);
        pass_on("2x2", compare_job, &t);
        pass_with((tsr_run_opts)RUN_OPTS(.mesh = "2x2", .cost = "random:5"), compare_job, &t);
    }
}

/* ---- rows ---- */

static tsr_status rows_job(tsr_mesh *mesh, void *arg)
{
    static const char *const by[] = {"R", "S(0)", "S(1)"};
    tsr_tensor *w[WEIGHTS], *dense, *y, *sum;
    char text[TSR_TEXT_LEN], spec[2 * TSR_TEXT_LEN];
    double a[14], b[14];
    int n;

    (void)arg;
    for (int sample = 0; sample < 3; sample++) {
        CHECK(tsr_scope_push(mesh) == TSR_OK);
        make_weights(mesh, 0, -1, 0, 0, w);
        first(mesh, by[sample], text, sizeof text);
        w[3] = tsr_redistribute(w[3], text);
        dense = tsr_watch(tsr_detach(w[3]));
        tsr_watch_sparse(w[3]);
        for (int twice = 0; twice < 2; twice++) {
            tsr_tensor *i = ids(mesh, first(mesh, "S(0)", spec, sizeof spec));

            const tsr_embedding_opts o = EMBEDDING_OPTS(.scale_grad_by_freq = sample == 1);

            CHECK(tsr_tape_begin(mesh) == TSR_OK);
            y = tsr_mul(tsr_embedding(w[3], i, &o), tsr_embedding(dense, i, &o));
            CHECK(tsr_backward(mean_of(tsr_sin(y))) == TSR_OK);
        }
        CHECK(!tsr_grad(w[3]) && tsr_grad_sparse(w[3], &n) && n == 2);
        snprintf(spec, sizeof spec, "f64[7,2]@%s", text);
        sum = tsr_zeros(mesh, spec);
        for (int i = 0; i < n; i++)
            CHECK(tsr_row_sparse_add(sum, &tsr_grad_sparse(w[3], &n)[i], 1) == TSR_OK);
        CHECK(tsr_to_host(sum, a, sizeof a) == TSR_OK);
        CHECK(tsr_to_host(tsr_grad(dense), b, sizeof b) == TSR_OK);
        for (int i = 0; i < 14; i++)
            CHECK(near(a[i], b[i], 1e-14));
        tsr_grad_clear(w[3]);
        CHECK(!tsr_grad_sparse(w[3], &n) && n == 0);
        CHECK(tsr_scope_pop(mesh) == TSR_OK);
    }
    return TSR_OK;
}

static void test_rows(void **state)
{
    (void)state;
    pass_on("1", rows_job, NULL);
    pass_on("3", rows_job, NULL);
    pass_on("2x2", rows_job, NULL);
}

/* ---- what flows, and what does not ---- */

static tsr_status flow_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f64[2]", 3)), *y, *g;
    double host[2];

    (void)arg;
    for (int i = 0; i < 2; i++) { /* gradients add up */
        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_mul(w, tsr_detach(w));
        tsr_tape_pause(mesh);
        y = tsr_add(y, tsr_mul(w, w));
        tsr_tape_resume(mesh);
        /* what was made in between has no gradient; the sum has, of nothing: made again */
        y = tsr_add(tsr_mul(w, tsr_detach(w)), tsr_detach(y));
        CHECK(tsr_backward_from(&y, NULL, 1) == TSR_OK);
    }
    CHECK(tsr_to_host(tsr_grad(w), host, sizeof host) == TSR_OK && host[0] == 6 && host[1] == 6);
    tsr_grad_clear(w);
    CHECK(!tsr_grad(w));
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    g = tsr_arange(mesh, "f64[2]", 1, 1);
    y = tsr_mul(w, w);
    CHECK(tsr_backward_from(&y, &g, 1) == TSR_OK);
    CHECK(tsr_to_host(tsr_grad(w), host, sizeof host) == TSR_OK && host[0] == 6 && host[1] == 12);
    CHECK(tsr_to_host(y, host, sizeof host) == TSR_OK && host[0] == 9); /* y survives */
    CHECK(tsr_grad_set(w, tsr_full(mesh, "f64[2]", 5)) == TSR_OK);
    CHECK(tsr_to_host(tsr_grad(w), host, sizeof host) == TSR_OK && host[1] == 5);
    CHECK(tsr_tape_begin(mesh) == TSR_OK); /* dropped: nothing changes */
    tsr_mul(w, w);
    tsr_tape_drop(mesh);
    tsr_tape_drop(mesh);
    CHECK(tsr_to_host(tsr_grad(w), host, sizeof host) == TSR_OK && host[1] == 5);
    return TSR_OK;
}

static void test_flow(void **state)
{
    (void)state;
    pass_on("1", flow_job, NULL);
    pass_on("2x2", flow_job, NULL);
}

/* A data parallel weight's gradient is partial until it is used: nothing is reduced before, and
   micro-batches add up without moving anything. */
static tsr_status reduce_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(numbers(mesh, "f64[8,16]", 1)),
               *x = numbers(mesh, "f64[4,16]@[S(0)]", 2);
    tsr_counters before;
    double host[128];

    (void)arg;
    tsr_counters_reset(mesh);
    for (int i = 0; i < 3; i++) {
        tsr_tensor *y;

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_linear(x, w, NULL);
        CHECK(tsr_backward(mean_of(tsr_mul(y, y))) == TSR_OK);
    }
    before = tsr_counters_get(mesh);
    CHECK(before.bytes_in == 0);
    CHECK(tsr_tensor_spec(tsr_grad(w))->place[0].kind == TSR_PARTIAL);
    CHECK(tsr_to_host(tsr_grad(w), host, sizeof host) == TSR_OK);
    CHECK(tsr_counters_get(mesh).bytes_in == (int64_t)sizeof host);
    return TSR_OK;
}

static void test_reduce(void **state)
{
    (void)state;
    pass_on("2", reduce_job, NULL);
}

/* A step of a model on more ranks than there are, of which nothing is computed: bytes are counted.
   */
static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    const tsr_style column = {TSR_STYLE_COLUMN, "model"}, row = {TSR_STYLE_ROW, "model"};
    tsr_optimizer *optimizer = NULL;
    tsr_params *p = NULL;
    tsr_layer up, down;
    tsr_tensor *t, *x;

    (void)arg;
    CHECK(tsr_params_new(mesh, TSR_F32, 1, &p) == TSR_OK);
    up = tsr_linear_layer(p, "up", 64, 256, true, column);
    down = tsr_linear_layer(p, "down", 256, 64, true, row);
    t = tsr_table_layer(p, "table", 1000, 64, 1, true, row);
    CHECK(tsr_optimizer_new(mesh, NULL, tsr_params_list(p), tsr_params_count(p), &optimizer) ==
          TSR_OK);
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    x = tsr_embedding(t, tsr_zeros(mesh, "i64[512]@[S(0),R]"), NULL);
    x = tsr_linear(tsr_relu(tsr_linear(x, up.weight, up.bias)), down.weight, down.bias);
    CHECK(tsr_backward(mean_of(tsr_mul(x, x))) == TSR_OK);
    CHECK(tsr_optimizer_step(optimizer) == TSR_OK);
    CHECK(tsr_counters_get(mesh).bytes_in > 0 && tsr_mesh_status(mesh) == TSR_OK);
    tsr_optimizer_free(optimizer);
    tsr_params_free(p);
    return TSR_OK;
}

static void test_sim(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "data=64,model=8", .world = TSR_WORLD_SIM), sim_job,
              NULL);
}

/* ---- memory ---- */

/* What a layer in a scope of its own leaves behind is its result, and what the tape needs. */
static tsr_tensor *layer(tsr_mesh *mesh, tsr_tensor *x)
{
    tsr_scope_push(mesh);
    return tsr_scope_return(tsr_neg(tsr_affine(tsr_neg(x), 2, 1)));
}

static tsr_status layers_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f32[65536]", 0.5)), *x = w;
    float g[1];

    (void)arg;
    tsr_counters_reset(mesh);
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    for (int i = 0; i < 8; i++)
        x = layer(mesh, x);
    CHECK(tsr_counters_get(mesh).memory < 12 * (size_t)65536 * sizeof(float)); /* not 24 */
    CHECK(tsr_backward(mean_of(x)) == TSR_OK);
    CHECK(tsr_to_host(tsr_slice(tsr_grad(w), 0, 0, 1, 1), g, sizeof g) == TSR_OK);
    CHECK(g[0] == 256 / 65536.0f);
    return TSR_OK;
}

static tsr_tensor *wide(tsr_tensor *const *in, int n, void *arg)
{
    tsr_tensor *x = in[0];

    (void)n;
    (void)arg;
    for (int i = 0; i < 8; i++)
        x = tsr_exp(tsr_affine(x, 0.1, 0));
    return x;
}

static size_t peak_of(tsr_mesh *mesh, tsr_tensor *w, bool again_)
{
    tsr_tensor *x;

    tsr_memory_trim(mesh);
    tsr_counters_reset(mesh);
    if (tsr_tape_begin(mesh) != TSR_OK)
        return 0;
    x = again_ ? tsr_recompute(wide, &w, 1, NULL) : wide(&w, 1, NULL);
    x = again_ ? tsr_recompute(wide, &x, 1, NULL) : wide(&x, 1, NULL);
    tsr_backward(mean_of(x));
    tsr_grad_clear(w);
    return tsr_counters_get(mesh).memory_peak;
}

static tsr_status memory_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f32[65536]", 0.5));
    size_t usual = peak_of(mesh, w, false), less = peak_of(mesh, w, true);
    int64_t live = 0;

    (void)arg;
    CHECK(less > 0 && less < usual * 3 / 4);
    for (int i = 0; i < 300; i++) { /* and nothing grows */
        tsr_tensor *y;

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_mul(w, tsr_sigmoid(w));
        CHECK(tsr_backward(mean_of(y)) == TSR_OK);
        tsr_grad_clear(w);
        CHECK(tsr_scope_push(mesh) == TSR_OK && tsr_scope_pop(mesh) == TSR_OK);
        if (i == 10)
            live = tsr_allocations_live(mesh);
        /* losses are the outermost scope's, one handle each */
        CHECK(i <= 10 || tsr_allocations_live(mesh) <= live + 4 * (i - 10));
    }
    return TSR_OK;
}

static void test_memory(void **state)
{
    (void)state;
    pass_on("1", memory_job, NULL);
    pass_on("1", layers_job, NULL);
}

/* ---- what is refused ---- */

static tsr_tensor *reaches_out(tsr_tensor *const *in, int n, void *arg)
{
    (void)n;
    return tsr_add(in[0], arg);
}

typedef tsr_status (*wrong)(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x);

static tsr_status no_tape(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_tape_drop(mesh);
    (void)x;
    return tsr_backward(mean_of(w));
}

static tsr_status two_tapes(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)w;
    (void)x;
    return tsr_tape_begin(mesh);
}

static tsr_status floored(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)mesh;
    (void)x;
    return tsr_backward(mean_of(tsr_redistribute(tsr_floor(w), "[S(0)]")));
}

static tsr_status no_weight(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)mesh;
    (void)w;
    return tsr_backward(mean_of(x));
}

static tsr_status no_number(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)mesh;
    return tsr_backward(tsr_mul(w, x));
}

static tsr_status other_grad(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_tensor *y = tsr_mul(w, x), *g = tsr_zeros(mesh, "f64[3,2]");
    double value[4] = {0};
    tsr_status st = tsr_backward_from(&y, &g, 1);

    /* y outlives its tape all the same */
    return tsr_to_host(y, value, sizeof value) == TSR_OK && value[3] == 6 ? st : TSR_ERR_MISMATCH;
}

static tsr_status overwritten(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_tensor *y = tsr_exp(tsr_mul(w, x)), *l = mean_of(tsr_mul(y, y));

    (void)mesh;
    tsr_affine_inplace(y, 2, 0);
    return tsr_backward(l);
}

static tsr_status watched_in_place(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_add_inplace(w, x);
    return tsr_mesh_status(mesh);
}

static tsr_status needs_the_old(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_tensor *y = tsr_mul(w, x);

    tsr_mul_inplace(y, w);
    return tsr_mesh_status(mesh);
}

static tsr_status outside(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_tensor *captured = tsr_mul(w, w), *y = tsr_recompute(reaches_out, &x, 1, captured);

    (void)mesh;
    return tsr_backward(mean_of(tsr_mul(y, w)));
}

static tsr_status no_float(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)w;
    (void)x;
    tsr_watch(tsr_zeros(mesh, "i32[3]"));
    return tsr_mesh_status(mesh);
}

static tsr_status rounded(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)mesh;
    (void)x;
    return tsr_backward(mean_of(tsr_cast(tsr_cast(w, TSR_I64), TSR_F64)));
}

static tsr_status not_watched(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)mesh;
    return tsr_grad_set(x, w);
}

static tsr_status popped(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    (void)w;
    (void)x;
    return tsr_scope_pop(mesh);
}

static tsr_status returned(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_scope_return(tsr_mul(w, x));
    return tsr_mesh_status(mesh);
}

static tsr_status result_watched(tsr_mesh *mesh, tsr_tensor *w, tsr_tensor *x)
{
    tsr_watch(tsr_mul(w, x));
    return tsr_mesh_status(mesh);
}

static const struct {
    wrong what;
    tsr_status status;
    const char *sentence; /* a part of it */
} WRONG[] = {
    {no_tape, TSR_ERR_STATE, "no tape is active"},
    {two_tapes, TSR_ERR_STATE, "a tape is already active"},
    {no_weight, TSR_ERR_STATE, "depends on no watched tensor"},
    {floored, TSR_ERR_STATE,
     "depends on watched tensors through floor only, which has no gradient"},
    {no_number, TSR_ERR_SHAPE, "the loss must be a scalar, not f64[4]"},
    {other_grad, TSR_ERR_SHAPE, "gradient f64[3,2]@[R] does not match tensor f64[4]@[R]"},
    {overwritten, TSR_ERR_STATE, "which was overwritten after the call"},
    {watched_in_place, TSR_ERR_STATE, "input 0 is watched, so it cannot be overwritten"},
    {needs_the_old, TSR_ERR_STATE, "its gradient needs input 0, which it overwrites"},
    {outside, TSR_ERR_STATE, "outside the recomputed function"},
    {no_float, TSR_ERR_DTYPE, "i32[3]@[R] has no floating-point dtype"},
    {rounded, TSR_ERR_STATE, "depends on no watched tensor"}, /* integers have no gradient */
    {not_watched, TSR_ERR_STATE, "is not watched"},
    {result_watched, TSR_ERR_STATE, "depends on watched tensors already"},
    {popped, TSR_ERR_STATE, "tsr_scope_pop: this scope is the tape's"},
    {returned, TSR_ERR_STATE, "tsr_scope_return: this scope is the tape's"},
};

static tsr_status wrong_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        tsr_tensor *w = tsr_watch(tsr_full(mesh, "f64[4]", 2)), *x = tsr_full(mesh, "f64[4]", 3);
        tsr_status st;

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        st = WRONG[i].what(mesh, w, x);
        if (st != WRONG[i].status || !strstr(tsr_mesh_message(mesh), WRONG[i].sentence)) {
            fprintf(stderr, "case %zu: %s, not \"%s\"\n", i, tsr_mesh_message(mesh),
                    WRONG[i].sentence);
            return TSR_ERR_MISMATCH;
        }
        tsr_mesh_clear_error(mesh);
        tsr_tape_drop(mesh);
    }
    return TSR_OK;
}

static void test_wrong(void **state)
{
    (void)state;
    pass_on("1", wrong_job, NULL);
    pass_on("2", wrong_job, NULL);
}

/* ---- as many dims as a tensor may have ---- */

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_flow),     cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_sim),
    };

    (void)argc;
    (void)argv;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
