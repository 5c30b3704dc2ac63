/* SPDX-License-Identifier: Apache-2.0 */
/* test_print.c - what tsr_print writes, character by character: the texts are those of numpy
   with precision=4 (but for true and false), whatever the mesh and the placements. */
#include <unistd.h>

#include "support/test.h"
#include "support/capture.h"
#include "dispatch/context.h"
#include "support/harness.h"

enum { OUT_LEN = 1 << 16 };

/* ---- running with stdout in a file ---- */

/* A tensor from host data, printed. */
typedef struct ask {
    const char *spec;
    const void *data;
} ask;

static tsr_status print_job(tsr_mesh *mesh, void *arg)
{
    const ask *a = arg;
    tsr_print(from_host(mesh, a->spec, a->data));
    return tsr_mesh_status(mesh);
}

static void print_on(const char *mesh, const char *spec, const void *data, const char *expected)
{
    static char text[OUT_LEN];
    char all[OUT_LEN];
    tsr_error err;
    capture c;
    tsr_status st;

    c = capture_begin(STDOUT_FILENO);
    st = tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD), print_job,
                 &(ask){spec, data}, &err);
    capture_end(&c, text, OUT_LEN);
    if (st != TSR_OK)
        print_error("%s\n", err.text);
    assert_int_equal(st, TSR_OK);
    snprintf(all, sizeof all, "%s\n%s\n", spec, expected);
    assert_string_equal(text, all);
}

/* ---- numbers ---- */

static void floats(void **state)
{
    (void)state;
    print_on("1", "f32[3]@[R]", (float[]){1, 2.5f, -3}, "[ 1.   2.5 -3. ]");
    print_on("1", "f32[4]@[R]", (float[]){1, 2, 3, 4}, "[1. 2. 3. 4.]");
    print_on("1", "f64[3]@[R]", (double[]){3.14159265, 0.1, 100}, "[  3.1416   0.1    100.    ]");
    print_on("1", "f64[2]@[R]", (double[]){1e10, 1.5}, "[1.0e+10 1.5e+00]");
    print_on("1", "f64[2]@[R]", (double[]){1e10, 1e-10}, "[1.e+10 1.e-10]");
    print_on("1", "f64[2]@[R]", (double[]){1234.5, 1}, "[1.2345e+03 1.0000e+00]");
    print_on("1", "f64[2]@[R]", (double[]){1000, 1}, "[1000.    1.]");
    print_on("1", "f64[2]@[R]", (double[]){0.00005, 0}, "[5.e-05 0.e+00]");
    print_on("1", "f64[1]@[R]", (double[]){0.0001}, "[0.0001]");
    print_on("1", "f64[1]@[R]", (double[]){0.00009}, "[9.e-05]");
    print_on("1", "f64[3]@[R]", (double[]){0, -0.0, 0}, "[ 0. -0.  0.]");
    print_on("1", "f64[1]@[R]", (double[]){99999999}, "[99999999.]");
    print_on("1", "f64[1]@[R]", (double[]){100000000}, "[1.e+08]");
    print_on("1", "f64[1]@[R]", (double[]){0.99999}, "[1.]");
}

static void not_finite(void **state)
{
    (void)state;
    print_on("1", "f32[3]@[R]", (float[]){1.5f, NAN, -INFINITY}, "[ 1.5  nan -inf]");
    print_on("1", "f32[2]@[R]", (float[]){1, INFINITY}, "[ 1. inf]");
    print_on("1", "f32[2]@[R]", (float[]){NAN, NAN}, "[nan nan]");
    print_on("1", "f64[3]@[R]", (double[]){1e300, NAN, 1}, "[1.e+300     nan 1.e+000]");
}

static void halves(void **state)
{
    (void)state;
    /* 0.1, 3.14, 1000.5 in f16; 0.1, 3.14 in bf16: the fewest digits that mean them */
    print_on("1", "f16[2]@[R]", (uint16_t[]){0x2e66, 0x4248}, "[0.1  3.14]");
    print_on("1", "bf16[2]@[R]", (uint16_t[]){0x3dcd, 0x4049}, "[0.1  3.14]");
}

static void integers(void **state)
{
    (void)state;
    print_on("1", "i64[3]@[R]", (int64_t[]){INT64_MAX, -1, 0},
             "[9223372036854775807                  -1                   0]");
    print_on("1", "i32[2,2]@[R]", (int32_t[]){1, -20, 300, 4}, "[[  1 -20]\n [300   4]]");
    print_on("1", "u8[3]@[R]", (uint8_t[]){0, 255, 7}, "[  0 255   7]");
    print_on("1", "bool[2]@[R]", (uint8_t[]){1, 0}, "[ true false]");
    print_on("1", "bool[2]@[R]", (uint8_t[]){1, 1}, "[ true  true]");
}

/* ---- brackets ---- */

static void shapes(void **state)
{
    (void)state;
    print_on("1", "f32[]@[R]", (float[]){2.5f}, "2.5");
    print_on("1", "f32[0]@[R]", "", "[]");
    print_on("2", "f32[3,0]@[S(0)]", "", "[]");
    print_on("1", "i32[1,1,1]@[R]", (int32_t[]){7}, "[[[7]]]");
    print_on("1", "i32[2,1,2]@[R]", (int32_t[]){1, 2, 3, 4}, "[[[1 2]]\n\n [[3 4]]]");
    print_on("1", "i32[2,2,1,1]@[R]", (int32_t[]){1, 2, 3, 4},
             "[[[[1]]\n\n  [[2]]]\n\n\n [[[3]]\n\n  [[4]]]]");
}

static void long_rows_wrap(void **state)
{
    int32_t x[40];

    (void)state;
    for (int i = 0; i < 40; i++)
        x[i] = 100 + i;
    print_on("1", "i32[20]@[R]", x,
             "[100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n"
             " 118 119]");
    print_on("1", "i32[2,20]@[R]", x,
             "[[100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117\n"
             "  118 119]\n"
             " [120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137\n"
             "  138 139]]");
}

static void large_ones_are_cut(void **state)
{
    int32_t *x = calloc(60 * 50, sizeof *x);

    (void)state;
    for (int i = 0; i < 60 * 50; i++)
        x[i] = i;
    for (int i = 0; i < 4; i++) {
        const char *const mesh[] = {"1", "3", "2x2", "5x2"};
        const char *const by[] = {"[S(0)]", "[SS(1,4)]", "[S(1),S(0)]", "[S(0),S(0)]"};
        char spec[64];
        snprintf(spec, sizeof spec, "i32[60,50]@%s", by[i]);
        print_on(mesh[i], spec, x,
                 "[[   0    1    2 ...   47   48   49]\n"
                 " [  50   51   52 ...   97   98   99]\n"
                 " [ 100  101  102 ...  147  148  149]\n"
                 " ...\n"
                 " [2850 2851 2852 ... 2897 2898 2899]\n"
                 " [2900 2901 2902 ... 2947 2948 2949]\n"
                 " [2950 2951 2952 ... 2997 2998 2999]]");
    }
    print_on("2", "i32[1001]@[S(0)]", x, "[   0    1    2 ...  998  999 1000]");
    print_on("2", "i32[2,600]@[S(0)]", x,
             "[[   0    1    2 ...  597  598  599]\n"
             " [ 600  601  602 ... 1197 1198 1199]]");
    print_on("2", "i32[7,200,2]@[S(0)]", x,
             "[[[   0    1]\n  [   2    3]\n  [   4    5]\n  ...\n  [ 394  395]\n  [ 396  397]\n"
             "  [ 398  399]]\n\n"
             " [[ 400  401]\n  [ 402  403]\n  [ 404  405]\n  ...\n  [ 794  795]\n  [ 796  797]\n"
             "  [ 798  799]]\n\n"
             " [[ 800  801]\n  [ 802  803]\n  [ 804  805]\n  ...\n  [1194 1195]\n  [1196 1197]\n"
             "  [1198 1199]]\n\n"
             " ...\n\n"
             " [[1600 1601]\n  [1602 1603]\n  [1604 1605]\n  ...\n  [1994 1995]\n  [1996 1997]\n"
             "  [1998 1999]]\n\n"
             " [[2000 2001]\n  [2002 2003]\n  [2004 2005]\n  ...\n  [2394 2395]\n  [2396 2397]\n"
             "  [2398 2399]]\n\n"
             " [[2400 2401]\n  [2402 2403]\n  [2404 2405]\n  ...\n  [2794 2795]\n  [2796 2797]\n"
             "  [2798 2799]]]");
    free(x);
}

/* ---- placements and worlds ---- */

static void placements(void **state)
{
    static const struct {
        const char *mesh, *by;
    } cases[] = {{"2", "[S(0)]"},     {"2", "[S(1)]"},           {"3", "[S(0)]"},
                 {"7", "[S(1)]"},     {"2x2", "[S(0),S(0)]"},    {"2x2", "[S(1),S(0)]"},
                 {"2x2", "[R,S(0)]"}, {"2x2", "[P(sum),S(1)]"},  {"2x2", "[P(max),P(max)]"},
                 {"2", "[SS(0,3)]"},  {"2x3", "[SS(1,2),S(1)]"}, {"2", "[P(avg)]"}};
    const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5f, 12, 13, 14};
    char spec[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(spec, sizeof spec, "f32[5,3]@%s", cases[i].by);
        print_on(cases[i].mesh, spec, x,
                 "[[ 0.   1.   2. ]\n [ 3.   4.   5. ]\n [ 6.   7.   8. ]\n [ 9.  10.  11.5]\n"
                 " [12.  13.  14. ]]");
    }
}

static tsr_status outside_job(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *part;
    tsr_status st;

    (void)arg;
    TSR_TRY(tsr_mesh_part(mesh, "2", 1, &part));
    TSR_TRY(tsr_print(tsr_arange(part, "i32[3]@[S(0)]", 1, 1)));
    tsr_mesh_unref(part);
done:
    return st;
}

static void ranks_outside_take_no_part(void **state)
{
    char text[OUT_LEN];
    capture c;
    tsr_status st;

    (void)state;
    c = capture_begin(STDOUT_FILENO);
    st = tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "4", .world = TSR_WORLD_THREAD), outside_job, NULL,
                 NULL);
    capture_end(&c, text, OUT_LEN);
    assert_int_equal(st, TSR_OK);
    assert_string_equal(text, "i32[3]@[S(0)]\n[1 2 3]\n");
}

static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    return tsr_print(tsr_zeros(mesh, "f32[4096,4096]@[S(0),R]"));
}

static void sim_prints_the_spec(void **state)
{
    char text[OUT_LEN];
    capture c;
    tsr_status st;

    (void)state;
    c = capture_begin(STDOUT_FILENO);
    st = tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "8x8", .world = TSR_WORLD_SIM), sim_job, NULL,
                 NULL);
    capture_end(&c, text, OUT_LEN);
    assert_int_equal(st, TSR_OK);
    assert_string_equal(text, "f32[4096,4096]@[S(0),R]\nno data (sim)\n");
}

/* ---- errors ---- */

static tsr_status wrong_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    assert_int_equal(tsr_print(NULL), TSR_ERR_ARG);
    return tsr_print(tsr_zeros(mesh, "f32[4]@[S(7)]"));
}

static void the_error_tensor_hands_on(void **state)
{
    tsr_error err;

    (void)state;
    assert_int_equal(tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD),
                             wrong_job, NULL, &err),
                     TSR_ERR_SPEC);
}

static tsr_status full_job(tsr_mesh *mesh, void *arg)
{
    tsr_error *seen = arg;

    tsr_print(tsr_arange(mesh, "f32[6]@[S(0)]", 0, 1));
    seen[tsr_mesh_rank(mesh)].code = tsr_mesh_status(mesh);
    snprintf(seen[tsr_mesh_rank(mesh)].text, TSR_ERROR_LEN, "%s", tsr_mesh_message(mesh));
    return TSR_OK;
}

static void a_full_disk_is_an_error_on_all_ranks(void **state)
{
    tsr_error seen[3];
    int old = dup(STDOUT_FILENO);

    (void)state;
    fflush(stdout);
    assert_non_null(freopen("/dev/full", "w", stdout));
    tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "3", .world = TSR_WORLD_THREAD), full_job, seen, NULL);
    clearerr(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen[i].code, TSR_ERR_IO);
        assert_string_equal(seen[i].text,
                            "tsr_print: cannot write to stdout: No space left on device");
    }
}

/* ---- faults ---- */

static tsr_status fault_job(tsr_mesh *mesh, void *arg)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st;

    TSR_TRY(tsr__context_open(ctx, mesh));
    tsr_print(tsr_arange(mesh, arg, 0, 1));
    st = tsr_mesh_status(mesh);
done:
    tsr__context_close(ctx);
    return st;
}

/* The harness sees to it that nothing leaks. */
static void every_allocation_may_fail(void **state)
{
    static const char *const spec[] = {"f32[40,30]@[S(0),S(1)]", "f32[40,30]@[P(sum),SS(0,2)]"};
    char text[OUT_LEN];

    (void)state;
    for (int k = 0; k < 4; k++) {
        harness h = {.mesh = "2x2"};
        char s[64];
        do {
            capture c;
            h = (harness){
                .mesh = "2x2", .fail_rank = k / 2 * 3, .fail_alloc_at = h.fail_alloc_at + 1};
            snprintf(s, sizeof s, "%s", spec[k % 2]);
            c = capture_begin(STDOUT_FILENO);
            harness_run(&h, fault_job, s);
            capture_end(&c, text, OUT_LEN);
            for (int i = 0; i < 4; i++)
                assert_true((h.status[i] == TSR_OK) == (h.status[0] == TSR_OK));
        } while (h.status[0] != TSR_OK);
        assert_true(h.fail_alloc_at > 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(halves),
        cmocka_unit_test(integers),
        cmocka_unit_test(shapes),
        cmocka_unit_test(long_rows_wrap),
        cmocka_unit_test(large_ones_are_cut),
        cmocka_unit_test(placements),
        cmocka_unit_test(ranks_outside_take_no_part),
        cmocka_unit_test(sim_prints_the_spec),
        cmocka_unit_test(the_error_tensor_hands_on),
        cmocka_unit_test(a_full_disk_is_an_error_on_all_ranks),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
