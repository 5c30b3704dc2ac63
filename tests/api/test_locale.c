/* SPDX-License-Identifier: Apache-2.0 */
/* test_locale.c LOCALE - what the library reads and writes does not depend on the locale of the
   program: numbers have a decimal point and letters are ASCII letters, also where the program has
   called setlocale(LC_ALL, LOCALE). locale_test.sh runs it in locales with a decimal comma. */
#include <locale.h>
#include <unistd.h>

#include "support/test.h"
#include "base/text.h"
#include "support/capture.h"
#include "dispatch/context.h"
#include "layout/cost.h"

enum { OUT_LEN = 4096 };

static void run_job(tsr_job job, void *arg)
{
    tsr_error err;
    tsr_status st =
        tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD), job, arg, &err);

    if (st != TSR_OK)
        print_error("%s\n", err.text);
    assert_int_equal(st, TSR_OK);
}

/* What a job writes to a file descriptor. */
static void output_of(int fd, tsr_job job, char text[OUT_LEN])
{
    capture c = capture_begin(fd);

    run_job(job, NULL);
    capture_end(&c, text, OUT_LEN);
}

/* ---- printing ---- */

static tsr_status print_job(tsr_mesh *mesh, void *arg)
{
    const double x[] = {0.5, -2.25}, large[] = {1e10, 1.5};

    (void)arg;
    tsr_print(from_host(mesh, "f64[2]@[S(0)]", x));
    tsr_print(from_host(mesh, "f64[2]@[S(0)]", large));
    tsr_print(tsr_full(mesh, "f16[2]@[S(0)]", 0.1));
    return tsr_mesh_status(mesh);
}

static void tensors_are_printed(void **state)
{
    char text[OUT_LEN];

    (void)state;
    output_of(STDOUT_FILENO, print_job, text);
    assert_string_equal(text, "f64[2]@[S(0)]\n[ 0.5  -2.25]\n"
                              "f64[2]@[S(0)]\n[1.0e+10 1.5e+00]\n"
                              "f16[2]@[S(0)]\n[0.1 0.1]\n");
}

static tsr_status statistics_job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    tsr_neg(tsr_full(mesh, "f32[8]@[S(0)]", 1));
    return tsr_mesh_status(mesh);
}

static void statistics_are_printed(void **state)
{
    char text[OUT_LEN];

    (void)state;
    setenv("TESSERA_STATS", "1", 1);
    output_of(STDERR_FILENO, statistics_job, text);
    unsetenv("TESSERA_STATS");
    assert_non_null(strstr(text, "neg"));
    assert_non_null(strstr(strstr(text, "neg"), "0.0"));
    assert_null(strchr(strstr(text, "neg"), ','));
}

/* ---- reading ---- */

static tsr_status attribute_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f64[4]@[S(0)]", 2), *y;
    double at[4] = {0};

    (void)arg;
    y = tsr_op_run(mesh, "affine", &x, 1, (const char *[]){"mul=1.25", "add=-0.5"}, 2);
    if (tsr_to_host(y, at, sizeof at) == TSR_OK)
        for (int i = 0; i < 4; i++)
            assert_true(at[i] == 2);
    /* the default of a row, 0.01 */
    y = tsr_op_run(mesh, "leaky_relu", (tsr_tensor *[]){tsr_neg(x)}, 1, NULL, 0);
    if (tsr_to_host(y, at, sizeof at) == TSR_OK)
        assert_true(at[0] == -2 * 0.01);
    return tsr_mesh_status(mesh);
}

static void attributes_are_read(void **state)
{
    (void)state;
    run_job(attribute_job, NULL);
}

static void costs_are_read(void **state)
{
    tsr_error err = {0};
    tsr_cost cost = tsr_cost_default();

    (void)state;
    assert_int_equal(tsr_cost_parse("latency=2.5e-6/1.5,bandwidth=0.5", &cost, &err), TSR_OK);
    assert_true(cost.latency[0] == 2.5e-6 && cost.latency[1] == 1.5 && cost.per_byte[0] == 2);
    assert_int_equal(tsr_cost_parse("latency=2,5", &cost, &err), TSR_ERR_PARSE);
}

static void timeouts_are_read(void **state)
{
    tsr_error err = {0};
    int ms;

    (void)state;
    assert_int_equal(tsr__timeout_parse("2.5", &ms, &err), TSR_OK);
    assert_int_equal(ms, 2500);
}

/* ---- sentences ---- */

static tsr_status refuse_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f64[4]@[S(0)]", 2);

    (void)arg;
    tsr_op_run(mesh, "dropout", &x, 1, (const char *[]){"p=1.5"}, 1);
    assert_non_null(strstr(tsr_mesh_message(mesh), "1.5"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void sentences_have_points(void **state)
{
    (void)state;
    run_job(refuse_job, NULL);
}

/* Ranks of one job may have other languages: all get the same sentence. */
static void sentences_are_english(void **state)
{
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr_npy_info("/no/such/file", NULL, NULL, &err), TSR_ERR_IO);
    assert_string_equal(err.text, "cannot open /no/such/file: No such file or directory");
}

/* ---- letters: \xe4 is one in ISO-8859-1 ---- */

static tsr_status letter_job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f64[4]@[S(0)]", 2);

    (void)arg;
    tsr_op_run(mesh, "einsum", &x, 1, (const char *[]){"equation=\xe4->\xe4"}, 1);
    assert_non_null(strstr(tsr_mesh_message(mesh), "axes are letters"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void letters_are_ascii(void **state)
{
    tsr_mesh_shape mesh;
    tsr_spec spec;
    tsr_error err = {0};

    (void)state;
    run_job(letter_job, NULL);
    assert_int_equal(tsr_mesh_parse("\xe4=2", &mesh, &err), TSR_ERR_PARSE);
    assert_int_equal(tsr_mesh_parse("2", &mesh, &err), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[4]\xa0@[R]", &mesh, &spec, &err), TSR_ERR_PARSE);
}

/* ---- the mechanism ---- */

static void numbers_come_back(void **state)
{
    char text[64], *end;

    (void)state;
    assert_int_equal(tsr__format(text, sizeof text, "%.17g|%5.1f|%s", 0.1, 2.5, "x"), 27);
    assert_string_equal(text, "0.10000000000000001|  2.5|x");
    assert_true(tsr__parse_double(text, &end) == 0.1 && *end == '|');
    assert_true(tsr__parse_i64(" -12,5", &end) == -12 && *end == ',');
    assert_true(tsr__parse_u64("18446744073709551615", &end) == UINT64_MAX && *end == 0);
}

/* The locale is the program's: it is what it was. */
static void the_locale_stays(void **state)
{
    char before[64], after[64], text[64];
    locale_t own = duplocale(uselocale((locale_t)0)), old = uselocale(own);

    (void)state;
    snprintf(before, sizeof before, "%.2f", 0.5);
    tsr__format(text, sizeof text, "%.2f", 0.5);
    assert_true(uselocale((locale_t)0) == own);
    snprintf(after, sizeof after, "%.2f", 0.5);
    assert_string_equal(before, after);
    assert_string_equal(text, "0.50");
    uselocale(old);
    freelocale(own);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_printed),   cmocka_unit_test(statistics_are_printed),
        cmocka_unit_test(attributes_are_read),   cmocka_unit_test(costs_are_read),
        cmocka_unit_test(timeouts_are_read),     cmocka_unit_test(sentences_have_points),
        cmocka_unit_test(sentences_are_english), cmocka_unit_test(letters_are_ascii),
        cmocka_unit_test(numbers_come_back),     cmocka_unit_test(the_locale_stays),
    };

    if (argc > 1 && (!setlocale(LC_ALL, argv[1]) || localeconv()->decimal_point[0] != ',')) {
        fprintf(stderr, "%s is not a locale with a decimal comma\n", argv[1]);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
