/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions at their very ends, of scopes, tapes, optimizers, schedules and batches: what is just
   allowed, what comes once too often, what is equal. Small wrong changes of them went unnoticed. */
#include "support/test.h"

static float first_of(tsr_tensor *x)
{
    float values[64] = {-1};

    return tsr_to_host(x, values, (size_t)tsr_shape_count(&tsr_tensor_spec(x)->shape) * 4) == TSR_OK
               ? values[0]
               : -1;
}

/* ---- scopes and memory ---- */

static tsr_status scopes_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[8]@[S(0)]", 3);
    (void)arg;

    /* a tensor of an outer scope that an inner one returns stays where it is */
    CHECK(tsr_scope_push(mesh) == TSR_OK && tsr_scope_push(mesh) == TSR_OK);
    CHECK(tsr_scope_return(x) == x);
    CHECK(tsr_scope_pop(mesh) == TSR_OK);
    for (int i = 0; i < 4; i++)
        tsr_full(mesh, "f32[8]@[S(0)]", 7); /* would take its place */
    CHECK(tsr_tensor_ok(x) && first_of(x) == 3);

    /* all of a budget may be spent, and no byte more: f32[64] on 2 ranks brings 128 */
    x = tsr_zeros(mesh, "f32[64]@[S(0)]");
    CHECK(tsr_scope_push(mesh) == TSR_OK);
    tsr_scope_budget_set(mesh, 128);
    CHECK(tsr_tensor_ok(tsr_redistribute(x, "[R]")));
    CHECK(!tsr_tensor_ok(tsr_redistribute(x, "[R]")));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_LIMIT);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_scope_pop(mesh) == TSR_OK);
    return TSR_OK;
}

/* The peak is the most that was ever held: it stays when less is, and grows with more. */
static tsr_status peak_job(tsr_mesh *mesh, void *arg)
{
    enum { LARGE = 4 << 20 };
    size_t before, peak;
    (void)arg;

    tsr_counters_reset(mesh);
    before = tsr_counters_get(mesh).memory_peak;
    CHECK(tsr_scope_push(mesh) == TSR_OK);
    tsr_zeros(mesh, "u8[4194304]");
    CHECK(tsr_scope_pop(mesh) == TSR_OK);
    tsr_memory_trim(mesh);
    peak = tsr_counters_get(mesh).memory_peak;
    CHECK(peak >= before + LARGE && tsr_counters_get(mesh).memory < peak);
    tsr_zeros(mesh, "u8[16]");
    CHECK(tsr_counters_get(mesh).memory_peak == peak);
    tsr_zeros(mesh, "u8[8388608]");
    CHECK(tsr_counters_get(mesh).memory_peak >= before + 2 * LARGE);
    return TSR_OK;
}

/* ---- tapes ---- */

static tsr_tensor *times_weight(tsr_tensor *const *in, int n_in, void *arg)
{
    (void)n_in;
    return tsr_mul(in[0], arg);
}

static tsr_status tape_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f32[4]", 2)), *x = tsr_full(mesh, "f32[4]", 5), *y;
    (void)arg;

    /* resuming what was not paused changes nothing: the next pause still counts */
    tsr_tape_resume(mesh);
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    tsr_tape_pause(mesh);
    y = tsr_sum(tsr_mul(w, x), NULL, 0, false);
    tsr_tape_resume(mesh);
    CHECK(tsr_backward(y) == TSR_ERR_STATE); /* depends on no watched tensor */
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_grad(w));

    /* a function that runs again may use watched tensors that are none of its inputs */
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    y = tsr_recompute(times_weight, &x, 1, w);
    CHECK(tsr_backward(tsr_sum(y, NULL, 0, false)) == TSR_OK);
    CHECK(tsr_grad(w) && first_of(tsr_grad(w)) == 5);
    return tsr_mesh_status(mesh);
}

/* ---- optimizers and schedules ---- */

static tsr_status optimizer_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f32[4,4]", 1));
    tsr_optimizer_opts opts =
        OPTIMIZER_OPTS(TSR_SGD, .lr = 1, .momentum = 0.5, .dampening = 1, .states = "0");
    tsr_optimizer *opt;
    char text[TSR_TEXT_LEN];
    (void)arg;

    CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &opt) == TSR_OK); /* 1 is the largest dampening */
    tsr_placements_text(tsr_tensor_spec(tsr_optimizer_state(opt, 0, 0)), text, sizeof text);
    CHECK(strcmp(text, "[S(0)]") == 0); /* of dims of one size the first */
    CHECK(!tsr_optimizer_state(opt, 0, 1) && !tsr_optimizer_state(opt, 1, 0));

    CHECK(tsr_grad_set(w, tsr_full(mesh, "f32[4,4]", 1)) == TSR_OK);
    tsr_zeros(mesh, "none"); /* after an error nothing is changed, not even gradients */
    CHECK(tsr_optimizer_step(opt) == TSR_ERR_PARSE);
    tsr_mesh_clear_error(mesh);
    CHECK(first_of(w) == 1 && tsr_grad(w));
    CHECK(tsr_optimizer_step(opt) == TSR_OK && first_of(w) == 0 && !tsr_grad(w));
    CHECK(tsr_optimizer_lr_set(opt, 0) == TSR_OK && tsr_optimizer_lr(opt) == 0);
    tsr_optimizer_free(opt);
    opts.dampening = 1.001;
    CHECK(tsr_optimizer_new(mesh, &opts, &w, 1, &opt) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void schedule_ends(void **state)
{
    tsr_schedule s =
        SCHEDULE(.kind = TSR_SCHEDULE_COSINE, .lr = 8, .last = 2, .warmup = 4, .steps = 4);
    (void)state;

    for (int kind = TSR_SCHEDULE_COSINE; kind <= TSR_SCHEDULE_LINEAR; kind++) {
        s.kind = (tsr_schedule_kind)kind;
        s.steps = 4; /* nothing is left after the warmup */
        assert_true(tsr_schedule_lr(&s, 3) == 8);
        assert_true(tsr_schedule_lr(&s, 4) == 2);
        assert_true(tsr_schedule_lr(&s, 5) == 2);
        s.steps = 6;
        assert_true(tsr_schedule_lr(&s, 4) == 8);
        assert_true(fabs(tsr_schedule_lr(&s, 5) - 5) < 1e-12);
        assert_true(fabs(tsr_schedule_lr(&s, 6) - 2) < 1e-12);
        assert_true(tsr_schedule_lr(&s, 7) == 2);
    }
    assert_true(tsr_schedule_lr(&s, -1) == 2 && tsr_schedule_lr(&s, 0) == 2);
    s = (tsr_schedule)SCHEDULE(.kind = TSR_SCHEDULE_STEPS, .lr = 8, .every = 2, .factor = 0.5);
    assert_true(tsr_schedule_lr(&s, 1) == 8 && tsr_schedule_lr(&s, 2) == 4);
    s.every = 0;
    assert_true(tsr_schedule_lr(&s, 100) == 8);
}

/* ---- data ---- */

static tsr_status data_job(tsr_mesh *mesh, void *arg)
{
    const unsigned char bytes[6] = {0, 1, 2, 2, 1, 0};
    const tsr_shape shape = {.ndim = 1, .size = {6}};
    tsr_batches b = {.samples = 6, .size = 2, .in_order = true};
    tsr_dataset *data;
    (void)arg;

    CHECK(dataset_from_host(mesh, TSR_U8, &shape, bytes, &data) == TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 3) == TSR_OK);
    CHECK(tsr_dataset_check_labels(data, 2) == TSR_ERR_ARG); /* 2 is no class of two */
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_batches_check(data, &b, "[S(0)]") == TSR_OK); /* a sample for each of two ranks */
    b.size = 1;
    CHECK(tsr_batches_check(data, &b, "[S(0)]") != TSR_OK);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_batches_count(&b) == 6 && tsr_batches_sample(&b, 0, 5, 0) == 5);
    CHECK(tsr_batches_sample(&b, 0, 6, 0) == -1 && tsr_batches_sample(&b, 0, 5, 1) == -1);
    CHECK(tsr_tensor_ok(tsr_batch(data, &b, 0, 5, "[R]")));
    CHECK(!tsr_tensor_ok(tsr_batch(data, &b, 0, 6, "[R]")));
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(tsr_batch(data, &b, -1, 0, "[R]")));
    tsr_mesh_clear_error(mesh);
    tsr_dataset_free(data);
    return TSR_OK;
}

static void ends_of_objects(void **state)
{
    (void)state;
    pass_on("2", scopes_job, NULL);
    pass_on("1", peak_job, NULL);
    pass_on("2", tape_job, NULL);
    pass_on("2", optimizer_job, NULL);
    pass_on("2", data_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_of_objects),
                                       cmocka_unit_test(schedule_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
