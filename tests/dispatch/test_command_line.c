/* SPDX-License-Identifier: Apache-2.0 */
/* test_command_line.c - tsr_main: the command line of a program, its help, and what it refuses. */
#include "support/test.h"
#include "support/capture.h"

enum { OUT_LEN = 4096, WORDS = 16 };

/* The mesh that the job got, as a text. */
static tsr_status job(tsr_mesh *mesh, void *arg)
{
    if (tsr_mesh_rank(mesh) == 0)
        tsr_mesh_text(tsr_mesh_shape_get(mesh), arg, TSR_TEXT_LEN);
    return TSR_OK;
}

/* What main returns for these words, and what it printed to fd. */
static int run_main(const char *words, int fd, char mesh[TSR_TEXT_LEN], char out[OUT_LEN])
{
    char name[] = "program", text[TSR_TEXT_LEN], *rest = text, *argv[WORDS] = {name};
    int argc = 1, status;
    capture c;

    snprintf(text, sizeof text, "%s", words);
    while (argc < WORDS && (argv[argc] = strtok_r(rest, " ", &rest)))
        argc++;
    mesh[0] = 0;
    c = capture_begin(fd);
    status = tsr_main(argc, argv, "data=2,model=1", job, mesh);
    capture_end(&c, out, OUT_LEN);
    return status;
}

static void options_are_read(void **state)
{
    static const struct {
        const char *words, *mesh;
    } cases[] = {
        {"", "data=2,model=1"},
        {"--mesh=1x2", "data=1,model=2"},
        {"--mesh 1x2", "data=1,model=2"},
        {"--mesh 3 --world thread --timeout 5.5 --cost default", "data=3"},
        {"--world=thread --cost=latency=1e-6 --mesh a=2", "a=2"},
        {"word --mesh 3 other -x", "data=3"},
        {"--mesh 3 -- --anything", "data=3"},
    };
    char mesh[TSR_TEXT_LEN], out[OUT_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(run_main(cases[i].words, STDERR_FILENO, mesh, out), 0);
        assert_string_equal(mesh, cases[i].mesh);
        assert_string_equal(out, "");
    }
}

static void mistakes_are_refused(void **state)
{
    static const struct {
        const char *words, *sentence;
    } cases[] = {
        {"--mehs=4", "program: unknown option --mehs=4; --help lists them\n"},
        {"--mesh=2 --epochs 3", "program: unknown option --epochs; --help lists them\n"},
        {"--meshes 4", "program: unknown option --meshes; --help lists them\n"},
        {"--mesh", "program: --mesh needs a value\n"},
        {"--mesh 2 --timeout", "program: --timeout needs a value\n"},
        {"--world moon", "program: unknown world \"moon\"; expected auto, thread, mpi or sim\n"},
        {"--timeout soon", "program: timeout \"soon\""},
    };
    char mesh[TSR_TEXT_LEN], out[OUT_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(run_main(cases[i].words, STDERR_FILENO, mesh, out), 0);
        assert_ptr_equal(strstr(out, cases[i].sentence), out);
        assert_string_equal(mesh, "");
    }
}

static void help_is_printed(void **state)
{
    static const char *const names[] = {"usage: program", "--mesh",      "--world",
                                        "--cost",         "--timeout",   "TESSERA_LOG",
                                        "TESSERA_STATS",  "TESSERA_COST"};
    char mesh[TSR_TEXT_LEN], out[OUT_LEN];

    (void)state;
    assert_int_equal(run_main("--mesh 3 --help --nonsense", STDOUT_FILENO, mesh, out), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(strstr(out, names[i]));
    assert_string_equal(mesh, "");
    setenv("PMI_RANK", "1", 1); /* of several processes the first one answers */
    assert_int_equal(run_main("--help", STDOUT_FILENO, mesh, out), 0);
    unsetenv("PMI_RANK");
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(help_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
