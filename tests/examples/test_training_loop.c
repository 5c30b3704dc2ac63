/* SPDX-License-Identifier: Apache-2.0 */
/* test_training_loop.c - what the programs that train have in common (examples/training.c): the
   command line, the files that they write, and ctrl-C, after which all ranks stop together. */
#include <signal.h>
#include <unistd.h>

#include "support/test.h"
#include "../../examples/curve.h"
#include "../../examples/training.h"

/* ---- the command line ---- */

static int parse(train_options *o, const train_extra *extra, const char *a, const char *b)
{
    char arg0[] = "x", arg1[64], arg2[64], *argv[] = {arg0, arg1, arg2, NULL};
    int argc = b ? 3 : 2;

    snprintf(arg1, sizeof arg1, "%s", a);
    snprintf(arg2, sizeof arg2, "%s", b ? b : "");
    return train_parse(&argc, argv, "", o, extra);
}

static void options_are_read(void **state)
{
    train_options o = {.steps = 7};
    int64_t width = 1;
    double rate = 0;
    const train_extra extra[] = {
        {"--width", "", &width, NULL, NULL}, {"--rate", "", NULL, &rate, NULL}, {.name = NULL}};

    (void)state;
    assert_int_equal(parse(&o, NULL, "--mesh=2x2", NULL), -1);
    assert_int_equal(parse(&o, NULL, "--steps", "12"), -1);
    assert_int_equal(o.steps, 12);
    assert_int_equal(parse(&o, NULL, "--steps=13", "--batch=5"), -1);
    assert_true(o.steps == 13 && o.batch == 5);
    assert_int_equal(parse(&o, NULL, "--seed", "0"), -1);
    assert_int_equal(parse(&o, NULL, "--dtype", "f64"), -1);
    assert_int_equal(o.dtype, TSR_F64);
    assert_int_equal(parse(&o, extra, "--width", "3"), -1);
    assert_int_equal(parse(&o, extra, "--rate=0.5", NULL), -1);
    assert_true(width == 3 && rate == 0.5);

    assert_int_equal(parse(&o, NULL, "--steps", NULL), 2);
    assert_int_equal(parse(&o, NULL, "--steps", "0"), 2);
    assert_int_equal(parse(&o, NULL, "--steps", "3x"), 2);
    assert_int_equal(parse(&o, NULL, "--batch", "-3"), 2);
    assert_int_equal(parse(&o, NULL, "--dtype", "f16"), 2);
    assert_int_equal(parse(&o, NULL, "--width", "3"), 2);
    assert_int_equal(parse(&o, extra, "--rate", "fast"), 2);
    assert_int_equal(parse(&o, NULL, "steps", NULL), 2);
    assert_int_equal(parse(&o, NULL, "--help", NULL), 0);
}

/* ---- the loop ---- */

typedef struct run {
    train_options o;
    int64_t stop_at; /* rank 1 is interrupted in this step */
    int64_t steps[4];
} run;

static tsr_status loop_job(tsr_mesh *mesh, void *arg)
{
    run *r = arg;
    training *t = training_begin(mesh, "test", &r->o);
    int64_t step = -1, *seen = &r->steps[tsr_mesh_rank(mesh)];

    for (*seen = 0; training_next(t, &step); ++*seen) {
        CHECK(step == *seen);
        tsr_scope_push(mesh);
        training_loss(t, tsr_full(mesh, r->o.dtype == TSR_F64 ? "f64[]@[P(sum),R]" : "f32[]",
                                  1.0 / (1 + (double)step)));
        tsr_scope_pop(mesh);
        if (step == r->stop_at && tsr_mesh_rank(mesh) == 1)
            raise(SIGINT);
    }
    training_say(t, "this is said once");
    return training_end(t);
}

static int lines_of(const char *path, double *last)
{
    FILE *f = fopen(path, "r");
    int n = 0;

    assert_non_null(f);
    while (fscanf(f, "%lf", last) == 1)
        n++;
    fclose(f);
    return n;
}

static void losses_are_written(void **state)
{
    char losses[] = "/tmp/tessera_losses_XXXXXX", svg[] = "/tmp/tessera_svg_XXXXXX", text[64] = "";
    run r = {.o = {.steps = 50, .dtype = TSR_F64, .losses = losses, .svg = svg}, .stop_at = -1};
    double last = 0;
    FILE *f;

    (void)state;
    close(mkstemp(losses));
    close(mkstemp(svg));
    pass_on("data=2,model=2", loop_job, &r);
    assert_int_equal(lines_of(losses, &last), 50);
    assert_true(last == 1.0 / 50);
    f = fopen(svg, "r");
    assert_non_null(fgets(text, sizeof text, f));
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    fclose(f);

    r.o.dtype = TSR_F32;
    r.o.svg = "/nowhere/x.svg"; /* is said, and no failure of the training */
    pass_on("2x2", loop_job, &r);
    assert_int_equal(lines_of(losses, &last), 50);
    assert_true((float)last == 1.0F / 50);
    unlink(losses);
    unlink(svg);
}

/* Rank 2 fails in the middle of a step. */
static tsr_status failing_job(tsr_mesh *mesh, void *arg)
{
    run *r = arg;
    training *t = training_begin(mesh, "test", &r->o);
    int64_t step;

    while (training_next(t, &step)) {
        tsr_scope_push(mesh);
        if (step == 7 && tsr_mesh_rank(mesh) == 2)
            tsr_fault_call(mesh, 1);
        training_loss(t, tsr_full(mesh, "f64[]@[P(sum),R]", 1));
        tsr_scope_pop(mesh);
        r->steps[tsr_mesh_rank(mesh)] = step;
    }
    return training_end(t);
}

static void a_failing_rank_ends_all(void **state)
{
    run r = {.o = {.steps = 500, .dtype = TSR_F64}};
    tsr_error err = {0};

    (void)state;
    assert_int_not_equal(
        tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "2x2", .has_timeout = true, .timeout_ms = 20000),
                failing_job, &r, &err),
        TSR_OK);
    if (!strstr(err.text, "fault injected"))
        fail_msg("%s", err.text);
    for (int i = 0; i < 4; i++)
        assert_true(r.steps[i] >= 6 && r.steps[i] <= 8);
}

/* The flag of the process stays, so this is the last one. */
static void all_ranks_stop_together(void **state)
{
    char losses[] = "/tmp/tessera_losses_XXXXXX";
    run r = {.o = {.steps = 500, .dtype = TSR_F64, .losses = losses}, .stop_at = 20};
    double last;

    (void)state;
    close(mkstemp(losses));
    pass_on("2x2", loop_job, &r);
    assert_true(r.steps[0] >= 21 && r.steps[0] <= 22);
    for (int i = 1; i < 4; i++)
        assert_int_equal(r.steps[i], r.steps[0]);
    assert_int_equal(lines_of(losses, &last), r.steps[0]);
    unlink(losses);
}

/* ---- curves ---- */

static void curves_are_drawn_of_anything(void **state)
{
    double y[1000] = {1, 0.5, NAN, INFINITY, 3};
    FILE *to = tmpfile();

    (void)state;
    for (int64_t n = 0; n <= 1000; n = n < 8 ? n + 1 : n * 3 / 2) {
        rewind(to);
        curve_print(&(curve){"title", "step", "loss", y, n}, to);
        assert_true(curve_save_svg(&(curve){"title", "step", "loss", y, n}, "/dev/null"));
    }
    for (int i = 0; i < 5; i++)
        y[i] = NAN;
    curve_print(&(curve){"title", "step", "loss", y, 5}, to);
    assert_false(curve_save_svg(&(curve){"title", "step", "loss", y, 5}, "/nowhere/x.svg"));
    fclose(to);
}

/* A falling line has its first dot at the top left and its last at the bottom right. */
static void a_falling_line_falls(void **state)
{
    double y[120];
    char line[4096];
    FILE *to = tmpfile();

    (void)state;
    for (int i = 0; i < 120; i++)
        y[i] = -i;
    curve_print(&(curve){"title", "step", "loss", y, 120}, to);
    rewind(to);
    assert_non_null(fgets(line, sizeof line, to));
    assert_non_null(fgets(line, sizeof line, to));
    assert_non_null(strstr(line, "┤\xe2\xa0"));
    assert_int_not_equal(strncmp(strstr(line, "┤") + 3, "\xe2\xa0\x80", 3), 0);
    for (int i = 1; i < 12; i++) {
        assert_int_equal(strncmp(line + strlen(line) - 4, "\xe2\xa0\x80", 3), 0);
        assert_non_null(fgets(line, sizeof line, to));
    }
    assert_int_not_equal(strncmp(line + strlen(line) - 4, "\xe2\xa0\x80", 3), 0);
    fclose(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),        cmocka_unit_test(curves_are_drawn_of_anything),
        cmocka_unit_test(a_falling_line_falls),    cmocka_unit_test(losses_are_written),
        cmocka_unit_test(a_failing_rank_ends_all), cmocka_unit_test(all_ranks_stop_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
