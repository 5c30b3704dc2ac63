/* SPDX-License-Identifier: Apache-2.0 */
/* test_report.c - what a job says about itself: log lines, to stderr or to the program's function,
   and the statistics of ops and of what the program moves itself, as numbers, table and JSON. */
#include <pthread.h>
#include <jansson.h>

#include "support/test.h"
#include "support/capture.h"

enum { OUT_LEN = 1 << 14 };

static tsr_status run_on(const char *mesh, tsr_job job, void *arg, tsr_log_function log, void *to,
                         tsr_error *err)
{
    const tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .log = log, .log_arg = to);

    return tsr_run(&opts, job, arg, err);
}

/* ---- what is done: each kind once or twice ---- */

static tsr_status work_job(tsr_mesh *mesh, void *arg)
{
    const char *path = arg;
    double host[64] = {0}, sum, one = 1;
    tsr_tensor *x = from_host(mesh, "f64[8,8]@[S(0),R]", host), *y, *image, *filter;
    tsr_op_counters c;

    y = tsr_redistribute(x, "[R,S(1)]");
    tsr_redistribute(y, "[R,R]");
    CHECK(tsr_to_host(y, host, sizeof host) == TSR_OK);
    CHECK(tsr_all_reduce(mesh, TSR_F64, TSR_SUM, &one, 1, &sum) == TSR_OK && sum == 4);
    CHECK(tsr_save_npy(x, path) == TSR_OK && tsr_tensor_ok(tsr_load_npy(mesh, path, "[R,R]")));
    image = tsr_full(mesh, "f64[1,1,16,16]@[S(2),S(3)]", 1);
    filter = tsr_full(mesh, "f64[1,1,3,3]@[R,R]", 1);
    CHECK(tsr_tensor_ok(tsr_op_run(mesh, "conv", (tsr_tensor *[]){image, filter}, 2,
                                   (const char *[]){"padding=1"}, 1)));
    c = tsr_op_counters_get(mesh, "redistribute");
    CHECK(c.calls == 2 && c.along[0] + c.along[1] + c.along[TSR_MAX_MESH] > 0);
    CHECK(tsr_op_counters_get(mesh, "host transfers").calls == 2);
    CHECK(tsr_op_counters_get(mesh, "collectives").calls == 1); /* not those of the file */
    CHECK(tsr_op_counters_get(mesh, "files").calls == 2);
    CHECK(tsr_op_counters_get(mesh, "conv").calls == 1);
    CHECK(tsr_op_counters_get(mesh, "nothing").calls == 0);
    return tsr_mesh_status(mesh);
}

/* What the job prints to stderr with a variable set. */
static void work_with(const char *variable, const char *value, char out[OUT_LEN])
{
    char path[] = "/tmp/tessera_report_XXXXXX";
    tsr_error err = {0};
    tsr_status st;
    capture c;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    setenv(variable, value, 1);
    c = capture_begin(STDERR_FILENO);
    st = run_on("data=2,model=2", work_job, path, NULL, NULL, &err);
    capture_end(&c, out, OUT_LEN);
    unsetenv(variable);
    unlink(path);
    if (st != TSR_OK)
        fail_msg("%s", err.text);
}

/* ---- statistics ---- */

static void a_table_has_rows_for_all(void **state)
{
    static const char *const rows[] = {"\nredistribute ", "\nhost transfers ", "\ncollectives ",
                                       "\nfiles ",        "\nconv ",           "halo/ms"};
    char out[OUT_LEN];

    (void)state;
    work_with("TESSERA_STATS", "1", out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strstr(out, rows[i]))
            fail_msg("no %s in\n%s", rows[i], out);
    work_with("TESSERA_STATS", "0", out);
    assert_string_equal(out, "");
}

static json_t *row_of(json_t *report, const char *name)
{
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(report, "results"), i,
                       row) if (strcmp(json_string_value(json_object_get(row, "name")), name) ==
                                0) return row;
    fail_msg("no row %s", name);
    return NULL;
}

static void json_has_the_same(void **state)
{
    char out[OUT_LEN];
    json_error_t err;
    json_t *report, *conv, *files;

    (void)state;
    work_with("TESSERA_STATS", "json", out);
    report = json_loads(out, 0, &err);
    if (!report)
        fail_msg("%s in\n%s", err.text, out);
    assert_string_equal(json_string_value(json_object_get(report, "mesh")), "data=2,model=2");
    assert_true(json_integer_value(json_object_get(report, "memory_peak")) > 0);
    conv = row_of(report, "conv");
    assert_true(json_is_true(json_object_get(conv, "op")));
    assert_true(json_real_value(json_object_get(conv, "halo")) > 0);
    assert_true(json_real_value(json_object_get(conv, "computing")) > 0);
    files = row_of(report, "files");
    assert_true(json_is_false(json_object_get(files, "op")));
    assert_int_equal(json_integer_value(json_object_get(files, "calls")), 2);
    assert_true(json_real_value(json_object_get(files, "moving")) > 0);
    assert_true(json_is_integer(
        json_object_get(json_object_get(row_of(report, "redistribute"), "bytes"), "model")));
    json_decref(report);
}

/* ---- the log ---- */

static void levels_say_more_and_more(void **state)
{
    static const char *const info[] = {"mesh data=2,model=2: 4 ranks as threads of one process",
                                       "costs: ", "rank 0 received ", " hits; peak memory "};
    static const char *const debug[] = {"redistribution of f64[8,8]@[S(0),R] to [R,S(1)]: ",
                                        "plan of conv f64[1,1,16,16]@[S(2),S(3)] ",
                                        "rank 3 received "};
    char out[OUT_LEN];

    (void)state;
    work_with("TESSERA_LOG", "warn", out);
    assert_string_equal(out, "");
    for (int level = 0; level < 2; level++) {
        work_with("TESSERA_LOG", level ? "debug" : "info", out);
        for (size_t i = 0; i < sizeof info / sizeof *info; i++)
            if (!strstr(out, info[i]))
                fail_msg("no %s in\n%s", info[i], out);
        for (size_t i = 0; i < sizeof debug / sizeof *debug; i++)
            if ((strstr(out, debug[i]) != NULL) != (level == 1))
                fail_msg("%s in\n%s", debug[i], out);
    }
}

static void unknown_levels_are_refused(void **state)
{
    tsr_error err = {0};

    (void)state;
    setenv("TESSERA_LOG", "verbose", 1);
    assert_int_equal(run_on("2", work_job, NULL, NULL, NULL, &err), TSR_ERR_PARSE);
    unsetenv("TESSERA_LOG");
    assert_non_null(strstr(err.text, "\"verbose\"; expected off, warn, info or debug"));
}

/* Lines of all ranks, by level. */
typedef struct heard {
    pthread_mutex_t lock;
    int lines[4], from_rank_1;
    char plan[OUT_LEN]; /* the last line about the plan of an op */
} heard;

static void listen_to(void *arg, tsr_log_level level, int rank, const char *line)
{
    heard *h = arg;

    pthread_mutex_lock(&h->lock);
    h->lines[level]++;
    h->from_rank_1 += rank == 1;
    if (strchr(line, '\n'))
        h->lines[0]++;
    if (strncmp(line, "plan of ", 8) == 0)
        snprintf(h->plan, sizeof h->plan, "%s", line);
    pthread_mutex_unlock(&h->lock);
}

static tsr_status quiet_job(tsr_mesh *mesh, void *arg)
{
    if (arg)
        tsr_log_set(mesh, TSR_LOG_DEBUG, listen_to, arg);
    tsr_redistribute(tsr_full(mesh, "f32[8]@[S(0)]", 1), "[R]");
    return tsr_mesh_status(mesh);
}

static void programs_can_listen(void **state)
{
    heard from_start = {.lock = PTHREAD_MUTEX_INITIALIZER}, in_job = from_start;
    char out[OUT_LEN];
    tsr_error err = {0};
    capture c = capture_begin(STDERR_FILENO);

    (void)state;
    setenv("TESSERA_LOG", "info", 1);
    assert_int_equal(run_on("2", quiet_job, NULL, listen_to, &from_start, &err), TSR_OK);
    unsetenv("TESSERA_LOG");
    assert_int_equal(run_on("2", quiet_job, &in_job, NULL, NULL, &err), TSR_OK);
    capture_end(&c, out, sizeof out);
    assert_string_equal(out, "");
    assert_true(from_start.lines[TSR_LOG_INFO] >= 2 && from_start.lines[TSR_LOG_DEBUG] == 0);
    assert_true(in_job.lines[TSR_LOG_DEBUG] >= 2 && in_job.from_rank_1 >= 1);
    assert_int_equal(from_start.lines[0] + in_job.lines[0], 0);
}

static tsr_status plan_job(tsr_mesh *mesh, void *arg)
{
    tsr_log_set(mesh, TSR_LOG_DEBUG, listen_to, arg);
    tsr_add(tsr_full(mesh, "f32[8]@[S(0)]", 1), tsr_full(mesh, "f32[8]@[R]", 1));
    return tsr_mesh_status(mesh);
}

/* What an op moves is said, and of inputs that stay nothing. */
static void plans_say_what_moves(void **state)
{
    heard h = {.lock = PTHREAD_MUTEX_INITIALIZER};
    tsr_error err = {0};

    (void)state;
    assert_int_equal(run_on("2", plan_job, &h, NULL, NULL, &err), TSR_OK);
    assert_non_null(strstr(h.plan, "plan of add f32[8]@[S(0)] f32[8]@[R], input 1 moved to [S(0)]"
                                   " -> [S(0)]: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_rows_for_all), cmocka_unit_test(json_has_the_same),
        cmocka_unit_test(levels_say_more_and_more), cmocka_unit_test(unknown_levels_are_refused),
        cmocka_unit_test(programs_can_listen),      cmocka_unit_test(plans_say_what_moves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
