/* SPDX-License-Identifier: Apache-2.0 */
/* What the headers promise of every function alike: a status is that of the call, options are meant
   as they are and carry their size, gradients that nobody wants are not made, sizes of arrays are
   checked, setters say what they refuse, and the version is a number. */
#include "support/test.h"

static float first_of(tsr_tensor *x)
{
    float values[64] = {-1};

    return tsr_to_host(x, values, (size_t)tsr_shape_count(&tsr_tensor_spec(x)->shape) * 4) == TSR_OK
               ? values[0]
               : -1;
}

/* ---- the status of a call ---- */

/* An error that came before it is not its own, nor is its own hidden by that one. */
static tsr_status own_status_job(tsr_mesh *mesh, void *arg)
{
    const int64_t halves[] = {2, 2}, wrong[] = {2, 3};
    tsr_tensor *x = tsr_full(mesh, "f32[2,2,4]@[S(0)]", 1), *w = tsr_full(mesh, "f32[2,2,1]", 1);
    tsr_tensor *row = tsr_full(mesh, "f32[4,4]", 1), *v = tsr_full(mesh, "f32[4]", 1), *out[4];
    tsr_tensor *q = tsr_full(mesh, "f32[1,2,4,4]", 1), *y, *lse, *mean, *rstd;
    tsr_tensor *const *lists[] = {&row};
    (void)arg;

    y = tsr_attention(q, q, q, NULL, NULL, &lse);
    CHECK(tsr_tensor_ok(tsr_layer_norm(row, v, v, 1, 1e-5, &mean, &rstd)));
    tsr_zeros(mesh, "f32[");
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_PARSE);
    CHECK(tsr_conv_backward(x, x, w, NULL, &out[0], &out[1], &out[2]) == TSR_OK);
    CHECK(tsr_tensor_ok(out[0]) && tsr_tensor_ok(out[1]) && tsr_tensor_ok(out[2]));
    CHECK(tsr_conv_backward(row, x, w, NULL, &out[0], NULL, NULL) == TSR_ERR_SHAPE);
    CHECK(!tsr_tensor_ok(out[0]));
    CHECK(tsr_split(row, 0, halves, 2, out) == TSR_OK && tsr_tensor_ok(out[1]));
    CHECK(tsr_split(row, 0, wrong, 2, out) == TSR_ERR_SHAPE && !tsr_tensor_ok(out[1]));
    CHECK(tsr_chunk(row, 1, 3, out) == TSR_OK && tsr_tensor_ok(out[1]) && !out[2]);
    CHECK(tsr_chunk(row, 1, 0, out) == TSR_ERR_ARG);
    CHECK(tsr_attention_backward(q, q, q, q, y, lse, NULL, NULL, NULL, &out[0], NULL, NULL, NULL) ==
          TSR_OK);
    CHECK(tsr_attention_backward(q, q, q, row, y, lse, NULL, NULL, NULL, &out[0], NULL, NULL,
                                 NULL) == TSR_ERR_SHAPE);
    CHECK(tsr_layer_norm_backward(row, row, v, mean, rstd, 1, &out[0], NULL, NULL) == TSR_OK);
    CHECK(tsr_layer_norm_backward(row, row, row, mean, rstd, 1, &out[0], NULL, NULL) ==
          TSR_ERR_SHAPE);
    CHECK(tsr_bce_with_logits_backward(row, row, row, NULL, NULL, TSR_LOSS_NONE, &out[0], NULL,
                                       NULL, NULL) == TSR_OK);
    CHECK(tsr_bce_with_logits_backward(row, row, v, NULL, NULL, TSR_LOSS_NONE, &out[0], NULL, NULL,
                                       NULL) == TSR_ERR_SHAPE);
    CHECK(tsr_foreach("neg", lists, 1, 1, NULL, 0, out) == TSR_OK && tsr_tensor_ok(out[0]));
    CHECK(tsr_foreach("no op", lists, 1, 1, NULL, 0, out) == TSR_ERR_ARG);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_PARSE);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

/* A gradient without a place to go to is not computed. */
static tsr_status wanted_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[2,2,4]@[S(0)]", 1), *w = tsr_full(mesh, "f32[2,2,1]", 1);
    tsr_tensor *grad = NULL;
    (void)arg;

    tsr_counters_reset(mesh);
    CHECK(tsr_conv_backward(x, x, w, NULL, NULL, &grad, NULL) == TSR_OK && tsr_tensor_ok(grad));
    CHECK(tsr_op_counters_get(mesh, "conv_grad_weight").calls == 1);
    CHECK(tsr_op_counters_get(mesh, "conv_grad_input").calls == 0);
    CHECK(tsr_op_counters_get(mesh, "sum").calls == 0);
    return TSR_OK;
}

static void a_status_is_that_of_the_call(void **state)
{
    (void)state;
    pass_on("2", own_status_job, NULL);
    pass_on("2", wanted_job, NULL);
}

/* ---- options ---- */

/* Was it refused, with a sentence that says what sets the size? */
static bool refused(tsr_mesh *mesh, bool failed, const char *by)
{
    const bool ok = failed && tsr_mesh_status(mesh) == TSR_ERR_ARG &&
                    strstr(tsr_mesh_message(mesh), "the size of a struct is given as ") &&
                    strstr(tsr_mesh_message(mesh), by);

    if (!ok)
        fprintf(stderr, "said: %s\n", tsr_mesh_message(mesh));
    tsr_mesh_clear_error(mesh);
    return ok;
}

static tsr_status sizes_of_tensors_job(tsr_mesh *mesh, void *arg)
{
    tsr_attention_opts attention = tsr_attention_opts_default();
    tsr_conv_opts conv = tsr_conv_opts_default();
    tsr_pool_opts pool = tsr_pool_opts_default();
    tsr_class_opts of_class = tsr_class_opts_default();
    tsr_norm_opts norm = tsr_norm_opts_default();
    tsr_embedding_opts embedding = tsr_embedding_opts_default();
    tsr_tensor *x = tsr_full(mesh, "f32[2,2,4]", 1), *w = tsr_full(mesh, "f32[2,2,1]", 1);
    tsr_tensor *q = tsr_full(mesh, "f32[1,2,4,4]", 1), *rows = tsr_full(mesh, "f32[4,4]", 1);
    tsr_tensor *ids = tsr_zeros(mesh, "i64[4]"), *out = NULL, *v = tsr_zeros(mesh, "f32[4]");
    tsr_table_use use = {.table = rows, .ids = ids, .opts = &embedding};
    tsr_row_sparse sparse;
    (void)arg;

    attention.size--, conv.size++, pool.size = 0, of_class.size--, norm.size++, embedding.size--;
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_attention(q, q, q, NULL, &attention, &out)),
                  "tsr_attention_opts_default"));
    CHECK(out && !tsr_tensor_ok(out));
    CHECK(refused(mesh,
                  tsr_attention_backward(q, q, q, q, q, x, NULL, NULL, &attention, &out, NULL, NULL,
                                         NULL) == TSR_ERR_ARG,
                  "tsr_attention_opts_default"));
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_conv(x, w, NULL, &conv)), "tsr_conv_opts_default"));
    CHECK(refused(mesh, tsr_conv_backward(x, x, w, &conv, &out, NULL, NULL) == TSR_ERR_ARG,
                  "tsr_conv_opts_default"));
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_avg_pool(x, &pool)), "tsr_pool_opts_default"));
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_nll_loss(rows, ids, NULL, &of_class, NULL)),
                  "tsr_class_opts_default"));
    CHECK(refused(mesh,
                  !tsr_tensor_ok(tsr_batch_norm(rows, NULL, NULL, NULL, NULL, &norm, NULL, NULL)),
                  "tsr_norm_opts_default"));
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_group_norm(rows, NULL, NULL, 2, &norm, NULL, NULL)),
                  "tsr_norm_opts_default"));
    CHECK(refused(mesh,
                  tsr_batch_norm_backward(rows, rows, NULL, v, v, &norm, &out, NULL, NULL) ==
                      TSR_ERR_ARG,
                  "tsr_norm_opts_default"));
    CHECK(refused(mesh, !tsr_tensor_ok(tsr_embedding(rows, ids, &embedding)),
                  "tsr_embedding_opts_default"));
    CHECK(refused(
        mesh, tsr_embedding_backward_sparse(rows, ids, rows, &embedding, &sparse) == TSR_ERR_ARG,
        "tsr_embedding_opts_default"));
    CHECK(refused(mesh, tsr_lookup_group(&use, 1, &out) == TSR_ERR_ARG,
                  "tsr_embedding_opts_default"));
    return TSR_OK;
}

static tsr_status sizes_job(tsr_mesh *mesh, void *arg)
{
    tsr_optimizer_opts optimizer = tsr_optimizer_opts_default(TSR_ADAM);
    tsr_tensor *w = tsr_watch(tsr_zeros(mesh, "f32[4]"));
    tsr_cost cost = mesh_cost(mesh);
    tsr_op row = *tsr_op_find(mesh, "neg");
    tsr_optimizer *opt = NULL;
    (void)arg;

    optimizer.size++;
    CHECK(refused(mesh, tsr_optimizer_new(mesh, &optimizer, &w, 1, &opt) == TSR_ERR_ARG,
                  "tsr_optimizer_opts_default"));
    CHECK(cost.size == sizeof cost && tsr_cost_set(mesh, &cost) == TSR_OK);
    cost.size--;
    CHECK(refused(mesh, tsr_cost_set(mesh, &cost) == TSR_ERR_ARG, "tsr_cost_default"));
    cost.seed = 77;
    CHECK(refused(mesh, tsr_cost_get(mesh, &cost) == TSR_ERR_ARG, "tsr_cost_default"));
    CHECK(cost.seed == 77 && cost.size == sizeof cost - 1); /* nothing is written */
    row.name = "own";
    row.size = 0;
    CHECK(refused(mesh, tsr_op_register(mesh, &row) == TSR_ERR_ARG, "sizeof(tsr_op)"));
    row.size = sizeof row;
    CHECK(tsr_op_register(mesh, &row) == TSR_OK);
    return TSR_OK;
}

static tsr_status nothing(tsr_mesh *mesh, void *arg)
{
    (void)mesh, (void)arg;
    return TSR_OK;
}

static void options_carry_their_size(void **state)
{
    tsr_run_opts run = tsr_run_opts_default();
    tsr_tables_opts tables = tsr_tables_opts_default();
    tsr_schedule schedule = tsr_schedule_default(TSR_SCHEDULE_LINEAR);
    tsr_table_facts facts = {.rows = 8, .columns = 4, .lookups = 4, .length = 1};
    tsr_table_choice choice;
    tsr_error err = {0};
    tsr_cost cost = tsr_cost_default();
    (void)state;

    pass_on("2", sizes_of_tensors_job, NULL);
    pass_on("2", sizes_job, NULL);
    run.mesh = "1";
    run.size--;
    assert_int_equal(tsr_run(&run, nothing, NULL, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "tsr_run_opts_default sets it"));
    err = (tsr_error){0};
    assert_int_equal(tsr_tables_plan(&facts, 1, NULL, &choice, NULL, &err), TSR_OK);
    tables.size = 0;
    assert_int_equal(tsr_tables_plan(&facts, 1, &tables, &choice, NULL, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "tsr_tables_opts_default sets it"));
    assert_int_equal(tsr_cost_parse("torch", &cost, NULL), TSR_OK);
    assert_int_equal(cost.size, sizeof cost);
    assert_true(cost.collectives_only);
    err = (tsr_error){0};
    cost.size -= sizeof cost.seed; /* a struct without its last member */
    assert_int_equal(tsr_cost_parse("default", &cost, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "tsr_cost_default sets it"));
    assert_true(cost.collectives_only); /* nothing is written */
    assert_true(tsr_schedule_lr(&schedule, 0) == 0);
    schedule.size++;
    assert_true(isnan(tsr_schedule_lr(&schedule, 0)));
}

/* What used to stand for the default. */
static tsr_status zeros_job(tsr_mesh *mesh, void *arg)
{
    const float two[] = {1, 3};
    tsr_attention_opts attention = tsr_attention_opts_default();
    tsr_conv_opts conv = tsr_conv_opts_default();
    tsr_norm_opts norm = tsr_norm_opts_default();
    tsr_optimizer_opts opts = tsr_optimizer_opts_default(TSR_ADAMW);
    tsr_tensor *x = tsr_from_host(mesh, "f32[2,1]@[S(0)]", two, sizeof two), *rstd, *w;
    tsr_tensor *row = tsr_from_host(mesh, "f32[1,2]", two, sizeof two);
    tsr_tensor *q = tsr_arange(mesh, "f32[1,1,2,2]", 1, 1), *mean = tsr_full(mesh, "f32[1]", 5);
    tsr_optimizer *adam;
    (void)arg;

    norm.eps = norm.momentum = 0; /* the deviation of 1 and 3 is 1; the running mean stays */
    CHECK(tsr_tensor_ok(tsr_batch_norm(x, NULL, NULL, mean, NULL, &norm, NULL, &rstd)));
    CHECK(first_of(rstd) == 1 && first_of(mean) == 5);
    CHECK(tsr_tensor_ok(tsr_layer_norm(row, NULL, NULL, 1, 0, NULL, &rstd)));
    CHECK(first_of(rstd) == 1);
    attention.has_scale = true; /* 0: all keys count alike, and the mean of 1 and 3 is 2 */
    CHECK(first_of(tsr_attention(q, q, q, NULL, &attention, NULL)) == 2);
    conv.stride[0] = 0;
    CHECK(!tsr_tensor_ok(
        tsr_conv(tsr_zeros(mesh, "f32[1,1,4]"), tsr_zeros(mesh, "f32[1,1,1]"), NULL, &conv)));
    tsr_mesh_clear_error(mesh);
    /* the first step goes by lr, in the direction of the gradient: neither decay nor averages */
    opts.lr = 0.5, opts.decay = opts.eps = opts.beta1 = opts.beta2 = 0;
    w = tsr_watch(tsr_full(mesh, "f32[2]", 1));
    CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &adam) == TSR_OK);
    CHECK(tsr_grad_set(w, tsr_full(mesh, "f32[2]", 4)) == TSR_OK);
    CHECK(tsr_optimizer_step(adam) == TSR_OK && first_of(w) == 0.5F);
    opts.lr = 0;
    tsr_optimizer_free(adam);
    CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &adam) == TSR_OK);
    CHECK(tsr_optimizer_lr(adam) == 0);
    tsr_optimizer_free(adam);
    return TSR_OK;
}

static void zero_is_zero(void **state)
{
    (void)state;
    pass_on("2", zeros_job, NULL);
}

/* Options of a lookup that the tape remembers may be gone when it goes back. */
static tsr_status remembered_job(tsr_mesh *mesh, void *arg)
{
    const int64_t at[] = {0, 1, 1, 2};
    tsr_tensor *table = tsr_watch(tsr_full(mesh, "f32[3,1]@[S(0)]", 1)), *y;
    float grad[3];
    (void)arg;

    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    {
        tsr_embedding_opts opts = tsr_embedding_opts_default();
        const tsr_table_use use = {
            .table = table, .ids = tsr_from_host(mesh, "i64[4]", at, sizeof at), .opts = &opts};

        opts.has_padding_idx = true;
        opts.padding_idx = 1;
        CHECK(tsr_lookup_group(&use, 1, &y) == TSR_OK);
        opts.padding_idx = 0;
        opts.size = 0;
    }
    CHECK(tsr_backward(tsr_sum(y, NULL, 0, false)) == TSR_OK);
    CHECK(tsr_to_host(tsr_grad(table), grad, sizeof grad) == TSR_OK);
    CHECK(grad[0] == 1 && grad[1] == 0 && grad[2] == 1);
    return TSR_OK;
}

static void the_tape_copies_options(void **state)
{
    (void)state;
    pass_on("2", remembered_job, NULL);
}

/* ---- arrays and settings ---- */

static bool says(tsr_mesh *mesh, const char *text)
{
    const bool ok =
        tsr_mesh_status(mesh) == TSR_ERR_ARG && strcmp(tsr_mesh_message(mesh), text) == 0;

    if (!ok)
        fprintf(stderr, "said: %s\nwant: %s\n", tsr_mesh_message(mesh), text);
    tsr_mesh_clear_error(mesh);
    return ok;
}

static tsr_status bytes_job(tsr_mesh *mesh, void *arg)
{
    const float data[8] = {0};
    const tsr_shape two = {.ndim = 1, .size = {2}}, eight = {.ndim = 1, .size = {8}};
    const int rank = tsr_mesh_rank(mesh);
    tsr_dataset *set = NULL;
    char text[200];
    (void)arg;

    CHECK(!tsr_tensor_ok(tsr_from_host(mesh, "f32[8]@[S(0)]", data, sizeof data - 1)));
    snprintf(text, sizeof text,
             "tsr_from_host: data has 31 bytes on rank %d, but f32[8]@[S(0)] has 32 there", rank);
    CHECK(says(mesh, text));
    CHECK(!tsr_tensor_ok(tsr_from_local(mesh, "f32[4]@[S(0)]", data, rank == 1 ? 4 : 8, &two)));
    CHECK(says(mesh, "tsr_from_local: data has 4 bytes on rank 1, but f32[4]@[S(0)] has 8 there"));
    CHECK(tsr_dataset_from_host(mesh, TSR_F32, &eight, data, 16, &set) == TSR_ERR_ARG && !set);
    CHECK(says(mesh, "tsr_dataset_from_host: data has 16 bytes, its shape and dtype 32"));
    return TSR_OK;
}

/* What one rank alone has wrong ends the job of all. */
static tsr_status root_job(tsr_mesh *mesh, void *arg)
{
    const float data[8] = {0};
    (void)arg;

    tsr_from_root(mesh, "f32[8]@[S(0)]", data, tsr_mesh_rank(mesh) == 1 ? 33 : 0, 1);
    return tsr_mesh_status(mesh);
}

static tsr_status settings_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[8]@[S(0)]", 1);
    (void)arg;

    CHECK(tsr_plan_limit_set(mesh, -1) == TSR_ERR_ARG);
    CHECK(says(mesh, "tsr_plan_limit_set: -1 is not from 0 to 2147483647"));
    CHECK(tsr_scope_budget_set(mesh, -5) == TSR_ERR_ARG);
    CHECK(says(mesh, "tsr_scope_budget_set: -5 is not from 0 to 9223372036854775807"));
    CHECK(tsr_keep_windows_set(mesh, -1) == TSR_ERR_ARG);
    CHECK(says(mesh, "tsr_keep_windows_set: -1 is not from 0 to 9223372036854775807"));
    CHECK(tsr_overlap_set(mesh, (tsr_overlap_mode)3) == TSR_ERR_ARG);
    CHECK(says(mesh, "tsr_overlap_set: 3 is not from 0 to 2"));
    CHECK(tsr_log_set(mesh, (tsr_log_level)4, NULL, NULL) == TSR_ERR_ARG);
    CHECK(says(mesh, "tsr_log_set: 4 is not from 0 to 3"));
    CHECK(tsr_plan_limit_set(mesh, 0) == TSR_OK && tsr_plan_bytes_set(mesh, 0) == TSR_OK);
    for (int i = 0; i < 3; i++) /* no plan is kept, and every call is planned */
        CHECK(first_of(tsr_add(tsr_neg(x), x)) == 0);
    CHECK(tsr_plan_limit_set(mesh, TSR_PLAN_LIMIT) == TSR_OK);
    CHECK(tsr_plan_bytes_set(mesh, TSR_PLAN_BYTES) == TSR_OK);
    CHECK(tsr_strict_set(mesh, false) == TSR_OK && tsr_statistics_set(mesh, false) == TSR_OK);
    CHECK(tsr_reproducible_set(mesh, true) == TSR_OK && mesh_cost(mesh).reproducible);
    return TSR_OK;
}

static void what_is_given_is_checked(void **state)
{
    const tsr_run_opts two = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD);
    tsr_error err;
    (void)state;

    pass_on("2", bytes_job, NULL);
    assert_int_equal(tsr_run(&two, root_job, NULL, &err), TSR_ERR_ARG);
    assert_non_null(
        strstr(err.text, "tsr_from_root: data has 33 bytes on rank 1, but f32[8]@[S(0)] has 32"));
    pass_on("2", settings_job, NULL);
}

static void the_version_is_a_number(void **state)
{
    char text[32];
    (void)state;

    assert_int_equal(tsr_version_number(), TSR_VERSION);
    snprintf(text, sizeof text, "%d.%d.%d", tsr_version_number() / 1000000,
             tsr_version_number() / 1000 % 1000, tsr_version_number() % 1000);
    assert_string_equal(text, tsr_version());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_is_that_of_the_call),
        cmocka_unit_test(options_carry_their_size),
        cmocka_unit_test(zero_is_zero),
        cmocka_unit_test(the_tape_copies_options),
        cmocka_unit_test(what_is_given_is_checked),
        cmocka_unit_test(the_version_is_a_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
