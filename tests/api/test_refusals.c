/* SPDX-License-Identifier: Apache-2.0 */
/* test_refusals.c - calls at and just beyond the ends of what is allowed, where no test of their
   own area goes: indices of roots, dims, states and parameters, gradients and specs of another
   kind, labels and batches, files that are others on other ranks, ids that are no rows, inputs and
   attributes of ops. */
#include <unistd.h>

#include "support/test.h"

/* Did the last call fail with this status and a sentence that has this in it? It is cleared. */
static bool refused(tsr_mesh *mesh, tsr_status code, const char *sentence)
{
    const bool is = tsr_mesh_status(mesh) == code && strstr(tsr_mesh_message(mesh), sentence);

    if (!is)
        fprintf(stderr, "got %d \"%s\", expected %d \"%s\"\n", (int)tsr_mesh_status(mesh),
                tsr_mesh_message(mesh), (int)code, sentence);
    tsr_mesh_clear_error(mesh);
    return is;
}

static tsr_status tensors_job(tsr_mesh *mesh, void *arg)
{
    double host[16] = {0};
    tsr_tensor *x = tsr_arange(mesh, "f64[4,4]@[S(0),R]", 0, 1);
    tsr_tensor *bad;
    tsr_mesh_shape other;
    tsr_spec spec;
    (void)arg;

    for (int root = -1; root <= 4; root += 5) {
        char text[64];
        snprintf(text, sizeof text, "root %d is out of range 0 to 3", root);
        CHECK(tsr_to_root(x, host, sizeof host, root) == TSR_ERR_ARG);
        CHECK(refused(mesh, TSR_ERR_ARG, text));
        CHECK(!tsr_tensor_ok(
            tsr_from_root(mesh, "f64[4,4]@[S(0),R]", host, 16 * sizeof *host, root)));
        CHECK(refused(mesh, TSR_ERR_ARG, text));
    }
    CHECK(tsr_to_root(x, host, sizeof host, 3) == TSR_OK);
    CHECK(tsr_mesh_rank(mesh) != 3 || host[15] == 15);

    CHECK(tsr_local_index(x, 0, 0) == 2 * tsr_mesh_coord(mesh, 0));
    CHECK(tsr_local_index(x, 0, 1) == 2 * tsr_mesh_coord(mesh, 0) + 1);
    CHECK(tsr_local_index(x, 1, 3) == 3);
    CHECK(tsr_local_index(x, -1, 0) == -1 && tsr_local_index(x, 2, 0) == -1);
    CHECK(tsr_local_index(x, 0, -1) == -1);

    CHECK(tsr_mesh_parse("4", &other, NULL) == TSR_OK);
    CHECK(tsr_spec_parse("f64[4]@[S(0)]", &other, &spec, NULL) == TSR_OK);
    bad = tsr_tensor_new(mesh, &spec);
    CHECK(!tsr_tensor_ok(bad));
    CHECK(refused(mesh, TSR_ERR_MESH, "the spec is for mesh 4, not for mesh 2x2"));
    return TSR_OK;
}

static tsr_status gradients_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_watch(tsr_zeros(mesh, "f64[4,4]@[S(0),R]"));
    tsr_tensor *y = tsr_zeros(mesh, "f64[4,4]@[S(0),R]");
    int64_t live = 0;
    (void)arg;

    CHECK(tsr_grad_set(x, tsr_zeros(mesh, "f32[4,4]@[S(0),R]")) == TSR_ERR_SHAPE);
    CHECK(
        refused(mesh, TSR_ERR_SHAPE, "gradient f32[4,4]@[S(0),R] does not match tensor f64[4,4]"));
    CHECK(tsr_grad_set(x, tsr_zeros(mesh, "f64[4,5]@[S(0),R]")) == TSR_ERR_SHAPE);
    CHECK(
        refused(mesh, TSR_ERR_SHAPE, "gradient f64[4,5]@[S(0),R] does not match tensor f64[4,4]"));
    CHECK(tsr_grad_set(y, x) == TSR_ERR_STATE);
    CHECK(refused(mesh, TSR_ERR_STATE, "is not watched"));
    CHECK(!tsr_grad(x) && tsr_grad_set(x, y) == TSR_OK && tsr_grad(x) == y);
    for (int i = 0; i < 3; i++) { /* the one before is let go */
        CHECK(tsr_scope_push(mesh) == TSR_OK);
        CHECK(tsr_grad_set(x, tsr_zeros(mesh, "f64[4,4]@[S(0),R]")) == TSR_OK);
        tsr_scope_pop(mesh);
        CHECK(i == 0 || tsr_allocations_live(mesh) == live);
        live = tsr_allocations_live(mesh);
    }
    return TSR_OK;
}

static tsr_status training_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_zeros(mesh, "f32[4,2]@[R,R]"));
    tsr_tensor *table = tsr_watch_sparse(tsr_zeros(mesh, "f32[4,2]@[R,R]"));
    tsr_optimizer *opt;
    tsr_params *params;
    tsr_mesh *row;
    char name[512];
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &(tsr_optimizer_opts)OPTIMIZER_OPTS(TSR_ADAM, .lr = 0.1), &w, 1,
                            &opt) == TSR_OK);
    CHECK(tsr_optimizer_state(opt, 0, 0) && tsr_optimizer_state(opt, 0, 1));
    CHECK(!tsr_optimizer_state(opt, -1, 0) && !tsr_optimizer_state(opt, 1, 0));
    CHECK(!tsr_optimizer_state(opt, 0, -1) && !tsr_optimizer_state(opt, 0, 2));
    CHECK(tsr_optimizer_lr_set(opt, INFINITY) == TSR_ERR_ARG);
    CHECK(refused(mesh, TSR_ERR_ARG, "lr is inf, it must be finite and at least 0"));
    CHECK(tsr_optimizer_lr_set(opt, 0) == TSR_OK && tsr_optimizer_lr(opt) == 0);
    tsr_optimizer_free(opt);

    static const tsr_optimizer_opts not_by_rows[] = {
        OPTIMIZER_OPTS(TSR_SGD, .decay = 0.5), OPTIMIZER_OPTS(TSR_ADAGRAD, .decay = 0.5),
        OPTIMIZER_OPTS(TSR_SGD, .momentum = 0.5), OPTIMIZER_OPTS(TSR_ADAM, .lr = 0.1)};
    for (int i = 0; i < 4; i++) {
        CHECK(tsr_optimizer_new(mesh, &not_by_rows[i], &table, 1, &opt) == TSR_ERR_ARG);
        CHECK(refused(mesh, TSR_ERR_ARG,
                      "has row-sparse gradients, which only SGD without momentum"));
    }

    CHECK(tsr_mesh_sub(mesh, "0", &row) == TSR_OK);
    tsr_tensor *both[] = {w, tsr_watch(tsr_zeros(row, "f32[4]@[R]"))};
    CHECK(tsr_clip_grad_norm(both, 2, 1, NULL) == TSR_ERR_MESH);
    CHECK(refused(mesh, TSR_ERR_MESH, "parameter 1 is on another mesh"));
    tsr_mesh_unref(row);

    CHECK(tsr_params_new(mesh, TSR_F32, 1, &params) == TSR_OK);
    CHECK(!tsr_tensor_ok(tsr_param(params, "", "[4]", "", (tsr_init){0})));
    CHECK(refused(mesh, TSR_ERR_ARG, "a name must have 1 to"));
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    CHECK(!tsr_tensor_ok(tsr_param(params, name, "[4]", "", (tsr_init){0})));
    CHECK(refused(mesh, TSR_ERR_ARG, "a name must have 1 to"));
    CHECK(tsr_tensor_ok(tsr_param(params, "w", "[4]", "", (tsr_init){0})));
    CHECK(!tsr_tensor_ok(tsr_param(params, "w", "[4]", "", (tsr_init){0})));
    CHECK(refused(mesh, TSR_ERR_ARG, "\"w\" already exists"));
    CHECK(tsr_params_count(params) == 1 && strcmp(tsr_params_name(params, 0), "w") == 0);
    CHECK(!*tsr_params_name(params, -1) && !*tsr_params_name(params, 1));
    tsr_params_free(params);
    return TSR_OK;
}

static tsr_status data_job(tsr_mesh *mesh, void *arg)
{
    static const int32_t labels[] = {0, 3, 2, 1, 3};
    static const int64_t negative[] = {0, -1};
    static const float numbers[] = {0, 1};
    const tsr_batches b = {.samples = 5, .size = 2, .keep_last = true, .in_order = true};
    tsr_dataset *data;
    (void)arg;

    CHECK(tsr_batches_count(&b) == 3);
    CHECK(tsr_batches_count(&(tsr_batches){.samples = 5, .size = 2}) == 2);
    CHECK(tsr_batches_count(&(tsr_batches){.samples = 4, .size = 2, .keep_last = true}) == 2);
    CHECK(tsr_batches_count(&(tsr_batches){.samples = 5}) == 0);
    CHECK(tsr_batches_count(&(tsr_batches){.samples = 5, .size = -1}) == 0);
    CHECK(tsr_batches_count(&(tsr_batches){.size = 2, .keep_last = true}) == 0);

    CHECK(dataset_from_host(mesh, TSR_I32, &(tsr_shape){.ndim = 1, .size = {5}}, labels, &data) ==
          TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 4) == TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 3) == TSR_ERR_ARG);
    CHECK(refused(mesh, TSR_ERR_ARG, "has label 3, which is not one of the 3 classes"));
    CHECK(tsr_tensor_ok(tsr_batch(data, &b, 0, 2, "[R,R]")));
    for (int64_t i = -1; i <= 3; i += 4) {
        CHECK(!tsr_tensor_ok(tsr_batch(data, &b, 0, i, "[R,R]")));
        CHECK(refused(mesh, TSR_ERR_ARG, "batch"));
    }
    CHECK(!tsr_tensor_ok(tsr_batch(data, &b, -1, 0, "[R,R]")));
    tsr_mesh_clear_error(mesh);
    tsr_dataset_free(data);

    CHECK(dataset_from_host(mesh, TSR_I64, &(tsr_shape){.ndim = 1, .size = {2}}, negative, &data) ==
          TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 4) == TSR_ERR_ARG);
    CHECK(refused(mesh, TSR_ERR_ARG, "sample 1 of"));
    tsr_dataset_free(data);
    CHECK(dataset_from_host(mesh, TSR_F32, &(tsr_shape){.ndim = 1, .size = {2}}, numbers, &data) ==
          TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 4) == TSR_ERR_DTYPE);
    CHECK(refused(mesh, TSR_ERR_DTYPE, "labels are integers, but those of"));
    tsr_dataset_free(data);
    return TSR_OK;
}

static void ends_of_what_is_allowed(void **state)
{
    (void)state;
    pass_on("2x2", tensors_job, NULL);
    pass_on("2x2", gradients_job, NULL);
    pass_on("2x2", training_job, NULL);
    pass_on("1x2", data_job, NULL);
}

/* ---- files that are others on other ranks ---- */

typedef struct files {
    char path[4][64];
} files;

/* Tensors of these specs, written by a rank alone. */
static tsr_status write_job(tsr_mesh *mesh, void *arg)
{
    static const char *const spec[] = {"f32[4,2]", "f32[4,3]", "i32[4,2]", "f32[8]"};
    files *f = arg;

    for (int i = 0; i < 4; i++)
        CHECK(tsr_save_npy(tsr_zeros(mesh, spec[i]), f->path[i]) == TSR_OK);
    return TSR_OK;
}

static tsr_status read_job(tsr_mesh *mesh, void *arg)
{
    files *f = arg;

    CHECK(tsr_tensor_ok(tsr_load_npy(mesh, f->path[0], "[S(0)]")));
    for (int i = 1; i < 4; i++) {
        const int mine = tsr_mesh_rank(mesh) == 1 ? i : 0;
        CHECK(!tsr_tensor_ok(tsr_load_npy(mesh, f->path[mine], "[S(0)]")));
        CHECK(strstr(tsr_mesh_message(mesh), "differs between rank 1 and the mesh's first rank"));
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void files_must_be_the_same(void **state)
{
    files f;
    (void)state;

    for (int i = 0; i < 4; i++) {
        snprintf(f.path[i], sizeof f.path[i], "/tmp/tessera_refusals_XXXXXX");
        const int fd = mkstemp(f.path[i]);
        assert_true(fd >= 0 && close(fd) == 0);
    }
    pass_on("1", write_job, &f);
    pass_on("2", read_job, &f);
    for (int i = 0; i < 4; i++)
        unlink(f.path[i]);
}

/* ---- ids that are no rows ---- */

static tsr_status zero_rows_job(tsr_mesh *mesh, void *arg)
{
    static const int64_t id[] = {-1, 0, 7, 8, 3, 4};
    static const double want[] = {0, 1, 8, 0, 4, 5};
    static const char *const place[] = {"[R]", "[S(0)]"};
    const tsr_embedding_opts zero = EMBEDDING_OPTS(.zero_out_of_range = true);
    double got[12];
    (void)arg;

    for (int i = 0; i < 4; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "f64[8,2]@%s", place[i / 2]);
        tsr_tensor *table = tsr_add(tsr_arange(mesh, spec, 0, 0.5), tsr_full(mesh, spec, 1));
        snprintf(spec, sizeof spec, "i64[6]@%s", place[i % 2]);
        tsr_tensor *ids = from_host(mesh, spec, id);

        CHECK(tsr_to_host(tsr_embedding(table, ids, &zero), got, sizeof got) == TSR_OK);
        for (int k = 0; k < 6; k++)
            CHECK(got[2 * k] == want[k] && got[2 * k + 1] == (want[k] ? want[k] + 0.5 : 0));
    }
    return TSR_OK;
}

static void ids_that_are_no_rows_give_zeros(void **state)
{
    (void)state;
    pass_on("2", zero_rows_job, NULL);
    pass_on("3", zero_rows_job, NULL);
}

/* ---- one rank, ranks outside, tensors kept twice ---- */

static tsr_status one_rank_job(tsr_mesh *mesh, void *arg)
{
    const double data[] = {3, 1, 2};
    double got[3] = {0};
    (void)arg;

    CHECK(tsr_to_host(tsr_from_root(mesh, "f64[3]@[S(0)]", data, 3 * sizeof *data, 0), got,
                      sizeof got) == TSR_OK);
    CHECK(memcmp(got, data, sizeof got) == 0);
    return TSR_OK;
}

static tsr_status outside_job(tsr_mesh *mesh, void *arg)
{
    const bool inside = tsr_mesh_rank(mesh) < 2;
    tsr_mesh *part;
    tsr_tensor *x, *y;
    double got[4] = {0};
    (void)arg;

    CHECK(tsr_mesh_part(mesh, "2", 0, &part) == TSR_OK);
    x = tsr_arange(part, "f64[4]@[S(0)]", 0, 1);
    y = tsr_redistribute(x, "[R]");
    CHECK(tsr_tensor_ok(y) && tsr_tensor_spec(y)->place[0].kind == TSR_REPLICATE);
    CHECK(tsr_to_host(y, got, sizeof got) == (inside ? TSR_OK : TSR_ERR_OUTSIDE));
    CHECK(inside ? got[3] == 3 : refused(mesh, TSR_ERR_OUTSIDE, "tsr_to_host: rank "));
    CHECK(tsr_to_root(x, got, sizeof got, 1) == (inside ? TSR_OK : TSR_ERR_OUTSIDE));
    CHECK(inside || refused(mesh, TSR_ERR_OUTSIDE, "is outside mesh 2"));
    tsr_mesh_unref(part);
    return TSR_OK;
}

static tsr_status kept_job(tsr_mesh *mesh, void *arg)
{
    const int64_t before = tsr_allocations_live(mesh);
    double got[4] = {0};
    tsr_tensor *x;
    (void)arg;

    CHECK(tsr_scope_push(mesh) == TSR_OK);
    x = tsr_keep(tsr_keep(tsr_arange(mesh, "f64[4]@[S(0)]", 0, 1)));
    tsr_scope_pop(mesh);
    tsr_unref(x);
    CHECK(tsr_to_host(x, got, sizeof got) == TSR_OK && got[3] == 3);
    tsr_unref(x);
    for (int i = 0; i < 3; i++) { /* caches aside, none is left */
        const int64_t live = tsr_allocations_live(mesh);

        CHECK(live >= before);
        CHECK(tsr_scope_push(mesh) == TSR_OK);
        x = tsr_keep(tsr_keep(tsr_arange(mesh, "f64[4]@[S(0)]", 0, 1)));
        tsr_scope_pop(mesh);
        tsr_unref(x);
        tsr_unref(x);
        CHECK(tsr_allocations_live(mesh) == live);
    }
    return TSR_OK;
}

static void one_rank_and_outside(void **state)
{
    (void)state;
    pass_on("1", one_rank_job, NULL);
    pass_on("3", one_rank_job, NULL);
    pass_on("4", outside_job, NULL);
    pass_on("2", kept_job, NULL);
}

/* ---- what ops do not take ---- */

/* Inputs by their specs, on "2"; an attribute or none. */
typedef struct no_call {
    const char *op, *in[6], *attrs[2], *says;
    tsr_status code;
} no_call;

static const no_call NO_CALLS[] = {
    {"no_such_op", {"f32[2]"}, {0}, "unknown op \"no_such_op\"", TSR_ERR_ARG},
    {"cross_entropy",
     {"f32[]", "i64[]"},
     {0},
     "x must be [..., classes], not f32[]@[R]",
     TSR_ERR_SHAPE},
    {"nll_loss_backward",
     {"f32[]", "f32[2,3]", "i64[2]", "-", "f32[1]"},
     {0},
     "divisor f32[1]@[R] must be a scalar of f32",
     TSR_ERR_SHAPE},
    {"layer_norm_backward",
     {"f32[2,3]", "f16[2,3]", "-", "f32[2,1]", "f32[2,1]"},
     {0},
     "grad has dtype f32, but x has f16",
     TSR_ERR_DTYPE},
    {"group_norm_backward",
     {"f32[2,4,3]", "f16[2,4,3]", "-", "f32[2,2]", "f32[2,2]"},
     {"groups=2"},
     "grad has dtype f32, but x has f16",
     TSR_ERR_DTYPE},
    {"stack",
     {"f32[1,1,1,1,1,1,1,2]", "f32[1,1,1,1,1,1,1,2]"},
     {0},
     "has 8 dims already, the maximum",
     TSR_ERR_SHAPE},
    {"unfold",
     {"f32[1,1,1,1,1,1,1,2]"},
     {"dim=7", "size=1"},
     "has 8 dims already, the maximum",
     TSR_ERR_SHAPE},
    {"one_hot",
     {"i64[1,1,1,1,1,1,1,2]"},
     {"classes=2"},
     "the result would have 9 dims, at most 8 are supported",
     TSR_ERR_SHAPE},
    {"uniform", {"f32[2]"}, {"low=-inf"}, "low and high are -inf and 1, not finite", TSR_ERR_ARG},
    {"uniform", {"f32[2]"}, {"high=inf"}, "low and high are 0 and inf, not finite", TSR_ERR_ARG},
    {"uniform", {"f32[2]"}, {"low=2"}, "low is 2, greater than high, 1", TSR_ERR_ARG},
    {"chunk", {"f32[4]"}, {"chunks=0"}, "the op returns 1 to 4", TSR_ERR_ARG},
    {"chunk", {"f32[4]"}, {"chunks=5"}, "chunk: 5 parts, but the op returns 1 to 4", TSR_ERR_ARG},
    {"max_pool", {"f32[1,1,4]"}, {0}, "missing required attribute kernel", TSR_ERR_ARG},
    {"max_pool", {"f32[1,1]"}, {"kernel=1"}, "has 2 dims, pooling takes", TSR_ERR_SHAPE},
    {"max_pool", {"f32[1,1,2,2,2,2]"}, {"kernel=1"}, "has 6 dims, pooling", TSR_ERR_SHAPE},
    {"softmax", {"f32[2,2]"}, {"dim=1/0"}, "softmax: dim=1/0 is not of type dim", TSR_ERR_PARSE},
    {"softmax", {"f32[2,2]"}, {"dim="}, "softmax: dim= is not of type dim", TSR_ERR_PARSE},
    {"einsum",
     {"f32[2,2,2,2,2]", "f32[2,2,2,2,2]"},
     {"equation=abcde,fghij"},
     "the output of \"abcde,fghij\" has more than 8 dims",
     TSR_ERR_SHAPE},
    {"einsum",
     {"f32[1,1,1,1,1,1,1,1]", "f32[1,1,1,1,1,1,1,1]", "f32[1,1,1,1,1,1,1,1]", "f32[1,1,1]"},
     {"equation=abcdefgh,ijklmnop,qrstuvwx,yzA->a"},
     "has more than 26 different axes",
     TSR_ERR_ARG},
};

static tsr_tensor *run_call(tsr_mesh *mesh, const no_call *c)
{
    tsr_tensor *in[6] = {NULL};
    int n = 0;

    for (; n < 6 && c->in[n]; n++)
        in[n] = strcmp(c->in[n], "-") == 0 ? NULL : tsr_zeros(mesh, c->in[n]);
    return tsr_op_run(mesh, c->op, in, n, c->attrs, (c->attrs[0] != NULL) + (c->attrs[1] != NULL));
}

/* The last that is possible of what goes one too far above. */
static const no_call CALLS[] = {
    {.op = "stack", .in = {"f32[1,1,1,1,1,1,2]", "f32[1,1,1,1,1,1,2]"}},
    {.op = "unfold", .in = {"f32[1,1,1,1,1,1,2]"}, .attrs = {"dim=6", "size=1"}},
    {.op = "one_hot", .in = {"i64[1,1,1,1,1,1,2]"}, .attrs = {"classes=2"}},
    {.op = "uniform", .in = {"f32[2]"}, .attrs = {"low=1"}},
    {.op = "chunk", .in = {"f32[4]"}, .attrs = {"chunks=4"}},
    {.op = "max_pool", .in = {"f32[1,1,2,2,2]"}, .attrs = {"kernel=1"}},
    {.op = "einsum", .in = {"f32[2,2,2,2]", "f32[2,2,2,2]"}, .attrs = {"equation=abcd,fghi"}},
    {.op = "einsum",
     .in = {"f32[1,1,1,1,1,1,1,1]", "f32[1,1,1,1,1,1,1,1]", "f32[1,1,1,1,1,1,1,1]", "f32[1,1]"},
     .attrs = {"equation=abcdefgh,ijklmnop,qrstuvwx,yz->a"}},
};

static tsr_status calls_job(tsr_mesh *mesh, void *arg)
{
    const char *const kernel[] = {"kernel=1"};
    tsr_tensor *x = tsr_zeros(mesh, "f32[1,1,4]"), *y = tsr_zeros(mesh, "f32[1,1,4]");
    tsr_tensor *both[] = {x, y};
    char equation[80];
    (void)arg;

    for (size_t i = 0; i < sizeof NO_CALLS / sizeof *NO_CALLS; i++) {
        CHECK(!tsr_tensor_ok(run_call(mesh, &NO_CALLS[i])));
        CHECK(refused(mesh, NO_CALLS[i].code, NO_CALLS[i].says));
    }
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        CHECK(tsr_tensor_ok(run_call(mesh, &CALLS[i])));

    CHECK(tsr_tensor_ok(tsr_op_run_to(mesh, "max_pool", &x, 1, kernel, 1, "[S(2)]")));
    CHECK(!tsr_tensor_ok(tsr_op_run_to(mesh, "tan", &x, 1, NULL, 0, "[S(2)]")));
    CHECK(refused(mesh, TSR_ERR_ARG, "tan: the placements of its output cannot be chosen"));

    for (int n = 63; n <= 64; n++) { /* with blanks */
        snprintf(equation, sizeof equation, "%-*s", n, "abc,abc->c");
        CHECK(tsr_tensor_ok(tsr_einsum(equation, both, 2)) == (n == 63));
    }
    CHECK(refused(mesh, TSR_ERR_ARG, "the equation has 64 characters, at most 63 are allowed"));
    return TSR_OK;
}

static void what_ops_do_not_take(void **state)
{
    tsr_mesh_shape mesh;
    tsr_error err = {0};
    tsr_schema schema;
    tsr_op_strategy way;
    tsr_spec spec;
    (void)state;

    pass_on("2", calls_job, NULL);

    assert_int_equal(tsr_mesh_parse("2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[4]@[S(0)]", &mesh, &spec, NULL), TSR_OK);
    assert_int_equal(tsr_schema_make(tsr_op_find(NULL, "tan"), &spec, 1, NULL, 0, &schema, NULL),
                     TSR_OK);
    assert_int_equal(tsr_op_plan(&schema, NULL, NULL, false, &way, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "tan is a composite op: it has no plan of its own"));
    err = (tsr_error){0};
    assert_int_equal(tsr_op_price(&schema, NULL, NULL, &way, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "tan is a composite op: it has no cost of its own"));
}

/* ---- rows that contradict themselves ---- */

static tsr_status same_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static void no_kernel(const tsr_kernel_call *call)
{
    (void)call;
}

static tsr_status no_run(const tsr_run_call *call, tsr_error *err)
{
    (void)call;
    (void)err;
    return TSR_ERR_STATE;
}

#define ROW .size = sizeof(tsr_op), .name = "new", .doc = "new", .shape = same_shape

static tsr_status rows_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        tsr_op op;
        const char *says;
    } all[] = {
        {{ROW, .inputs = "a,b,c,d,e,f,g,h,i,j,k,l,m", .kernel = no_kernel},
         "new: 13 inputs, at most 12 are supported"},
        {{ROW, .inputs = "x", .kernel = no_kernel, .axes = "mn->m,m,m,m,m"},
         "have 5 outputs, at most 4 are supported"},
        {{ROW, .inputs = "x*", .kernel = no_kernel, .axes = "mn->mn"},
         "new: axes need a fixed number of inputs, not a list"},
        {{.size = sizeof(tsr_op),
          .name = "new",
          .doc = "new",
          .inputs = "x",
          .expr = "neg(x)",
          .axes = "mn->mn"},
         "new: a composite op has no rules of its own"},
        {{ROW, .inputs = "x", .kernel = no_kernel, .run = no_run},
         "new: its row has a kernel and a run, but no comm to choose by"},
        {{ROW, .inputs = "x", .kernel = no_kernel, .is_view = true, .inplace = 1},
         "new: a view has a kernel and one input, and neither windows nor inplace"},
        {{ROW, .inputs = "x,y", .kernel = no_kernel, .is_view = true},
         "new: a view has a kernel and"},
    };
    static const tsr_op most = {.size = sizeof(tsr_op),
                                .name = "most",
                                .doc = "most",
                                .shape = same_shape,
                                .inputs = "a,b,c,d,e,f,g,h,i,j,k,l",
                                .kernel = no_kernel};
    (void)arg;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK(tsr_op_register(mesh, &all[i].op) == TSR_ERR_ARG);
        CHECK(refused(mesh, TSR_ERR_ARG, all[i].says));
    }
    CHECK(tsr_op_register(mesh, &most) == TSR_OK);
    return TSR_OK;
}

static void rows_that_contradict_themselves(void **state)
{
    (void)state;
    pass_on("2", rows_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_of_what_is_allowed),
        cmocka_unit_test(files_must_be_the_same),
        cmocka_unit_test(ids_that_are_no_rows_give_zeros),
        cmocka_unit_test(one_rank_and_outside),
        cmocka_unit_test(what_ops_do_not_take),
        cmocka_unit_test(rows_that_contradict_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
