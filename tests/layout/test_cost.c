/* SPDX-License-Identifier: Apache-2.0 */
/* test_cost.c - the text forms of costs, what is said about bad ones, and the price of a move. */
#include <unistd.h>

#include "support/test.h"
#include "support/bad_texts.h"
#include "layout/cost.h"

static tsr_cost parse(const char *text)
{
    tsr_cost cost = tsr_cost_default();
    tsr_error err = {0};

    if (tsr_cost_parse(text, &cost, &err) != TSR_OK)
        fail_msg("%s: %s", text, err.text);
    return cost;
}

static void close_to(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static void text_forms(void **state)
{
    const tsr_cost usual = tsr_cost_default();
    tsr_cost c = parse("default");

    (void)state;
    assert_true(tsr__cost_equal(&c, &usual));
    c = parse("torch");
    assert_true(c.collectives_only && c.unrounded && c.memory == 0 && !c.randomise);
    close_to(c.per_step, 6.6e-6);
    close_to(c.per_shuffle, 1e-6);
    for (int m = 0; m < TSR_MAX_MESH; m++) {
        close_to(c.latency[m], 2.7e-6);
        close_to(c.per_byte[m], 1 / (19.294 * (1 << 30)));
    }
    c = parse("torch:latency=1e-6/2e-6,bandwidth=1e9");
    assert_true(c.collectives_only);
    close_to(c.latency[0], 1e-6);
    close_to(c.latency[7], 2e-6);
    close_to(c.per_byte[3], 1e-9);
    close_to(c.per_step, 6.6e-6);
    c = parse("random:18446744073709551615");
    assert_true(c.randomise && c.seed == UINT64_MAX);
    c = parse("random:0");
    assert_true(c.randomise && c.seed == 0);
    c = parse("latency=2e-6/1e-5/0,bandwidth=8e9/4e9,step=3e-6,shuffle=4e-6,memory=2e10");
    close_to(c.latency[0], 2e-6);
    close_to(c.latency[1], 1e-5);
    assert_true(c.latency[2] == 0 && c.latency[7] == 0);
    close_to(c.per_byte[0], 1 / 8e9);
    close_to(c.per_byte[1], 1 / 4e9);
    close_to(c.per_byte[7], 1 / 4e9);
    close_to(c.per_step, 3e-6);
    close_to(c.per_shuffle, 4e-6);
    close_to(c.memory, 1 / 2e10);
    c = parse("latency=1/2/3/4/5/6/7/8");
    assert_true(c.latency[0] == 1 && c.latency[7] == 8);
    c = parse("memory=1e9");
    assert_true(c.latency[0] == usual.latency[0]); /* what is not named stays */
}

static tsr_status parse_cost(const char *text, void *out, tsr_error *err)
{
    tsr_cost *cost = out;
    const size_t before = cost->size;
    tsr_status st;

    cost->size = sizeof *cost;
    st = tsr_cost_parse(text, cost, err);
    cost->size = st == TSR_OK ? cost->size : before;
    return st;
}

static void bad_texts(void **state)
{
    static const bad_text bad[] = {
        {NULL, TSR_ERR_ARG, "NULL"},
        {"fast", TSR_ERR_PARSE, "expected default, torch, random:SEED"},
        {"default,latency=1", TSR_ERR_PARSE, "expected default"},
        {"torchy", TSR_ERR_PARSE, "expected default"},
        {"torch:fast", TSR_ERR_PARSE, "at \"fast\""},
        {"random", TSR_ERR_PARSE, "expected default"},
        {"random:", TSR_ERR_PARSE, "expected a number after random:"},
        {"random:x", TSR_ERR_PARSE, "expected a number after random:"},
        {"random:1x", TSR_ERR_PARSE, "expected a number after random:"},
        {"random:-1", TSR_ERR_PARSE, "expected a number after random:"},
        {"random: 1", TSR_ERR_PARSE, "expected a number after random:"},
        {"random:18446744073709551616", TSR_ERR_PARSE, "expected a number after random:"},
        {"latency", TSR_ERR_PARSE, "at \"latency\""},
        {"latency=", TSR_ERR_PARSE, "expected a positive number at \"\""},
        {"latency=x", TSR_ERR_PARSE, "expected a positive number at \"x\""},
        {"latency=1e-6,speed=3", TSR_ERR_PARSE, "at \"speed=3\""},
        {"latency=-1", TSR_ERR_PARSE, "expected a positive number at \"-1\""},
        {"latency=nan", TSR_ERR_PARSE, "expected a positive number"},
        {"latency=inf", TSR_ERR_PARSE, "expected a positive number"},
        {"latency=1e999", TSR_ERR_PARSE, "expected a positive number"},
        {"bandwidth=0", TSR_ERR_PARSE, "expected a positive number at \"0\""},
        {"bandwidth=1e-320", TSR_ERR_PARSE, "expected a positive number"},
        {"bandwidth=1/", TSR_ERR_PARSE, "expected a positive number at \"\""},
        {"bandwidth=1//2", TSR_ERR_PARSE, "expected a positive number at \"/2\""},
        {"latency=1 ", TSR_ERR_PARSE, "unexpected text at \" \""},
        {"latency=1/2/3/4/5/6/7/8/9", TSR_ERR_PARSE, "unexpected text at \"/9\""},
        {"step=1/2", TSR_ERR_PARSE, "unexpected text at \"/2\""},
        {"latency=1e308", TSR_ERR_PARSE, "expected at most 1e100 at"},
        {"memory=1e-101", TSR_ERR_PARSE, "expected at least 1e-100 at"},
        {"=1", TSR_ERR_PARSE, "at \"=1\""},
        {"latency=1,step=1,latency=2", TSR_ERR_PARSE, "given twice at \"latency=2\""},
        {"torch:memory=1,memory=1", TSR_ERR_PARSE, "given twice at \"memory=1\""},
        {"file:/no/such/file", TSR_ERR_IO, "/no/such/file: No such file"},
        {"file:/", TSR_ERR_IO, "Is a directory"},
    };

    (void)state;
    expect_bad_texts(bad, sizeof bad / sizeof bad[0], parse_cost, sizeof(tsr_cost));
}

static void from_a_file(void **state)
{
    char name[] = "/tmp/tessera_cost_XXXXXX", text[64];
    int fd = mkstemp(name);
    tsr_cost cost = tsr_cost_default();
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    file = fdopen(fd, "w");
    fputs("latency=2e-6/3e-6\nbandwidth=5e9\nstep=1e-7\nmemory=4e9\n", file);
    fclose(file);
    snprintf(text, sizeof text, "file:%s", name);
    cost = parse(text);
    close_to(cost.latency[1], 3e-6);
    close_to(cost.per_byte[0], 1 / 5e9);
    close_to(cost.per_step, 1e-7);
    close_to(cost.memory, 1 / 4e9);
    file = fopen(name, "w"); /* longer than any cost: refused, not cut */
    for (int i = 0; i < 500; i++)
        fputs("latency=2e-6\n", file);
    fclose(file);
    assert_int_equal(tsr_cost_parse(text, &cost, NULL), TSR_ERR_FORMAT);
    unlink(name);
}

/* What is wrong with a file is said by its line: it may be any file, and is not quoted. */
static void bad_files(void **state)
{
    static const struct {
        const char *text, *sentence;
        tsr_status code;
    } bad[] = {
        {"", "sets no number", TSR_ERR_FORMAT},
        {"\n\n", "sets no number", TSR_ERR_FORMAT},
        {"step=1e-7\nsecret:0:99999\n", ", line 2: expected default", TSR_ERR_PARSE},
        {"step=1\n\nmemory=secret\n", ", line 3: expected a positive number", TSR_ERR_PARSE},
        {"step=1secret\n", ", line 1: unexpected text", TSR_ERR_PARSE},
        {"step=1\nstep=1\n", ", line 2: a number is given twice", TSR_ERR_PARSE},
    };
    char name[] = "/tmp/tessera_cost_XXXXXX", text[64];
    int fd = mkstemp(name);
    tsr_cost cost = tsr_cost_default();

    (void)state;
    assert_true(fd >= 0);
    snprintf(text, sizeof text, "file:%s", name);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_error err = {0};

        assert_int_equal(ftruncate(fd, 0), 0);
        assert_true(pwrite(fd, bad[i].text, strlen(bad[i].text), 0) >= 0);
        assert_int_equal(tsr_cost_parse(text, &cost, &err), bad[i].code);
        if (!strstr(err.text, bad[i].sentence) || strstr(err.text, "secret"))
            fail_msg("%s", err.text);
    }
    assert_int_equal(pwrite(fd, "step=1\n\0x", 9, 0), 9);
    assert_int_equal(tsr_cost_parse(text, &cost, NULL), TSR_ERR_FORMAT);
    close(fd);
    unlink(name);
}

/* ALGORITHMS: all-gather and reduce-scatter (p-1)a + n(p-1)/p b, all-reduce the sum of both, all to
   all (p-1)a + local(p-1)/p b with the larger part, exchange peers a + bytes b; slices, and the own
   share of every move, cost their copy. */
static void prices(void **state)
{
    tsr_cost c = parse("latency=2/3,bandwidth=4/8,step=100,shuffle=7,memory=16");
    tsr_move m = {.mdims = 1, .group = 4, .before = 64, .after = 256, .bytes = 48, .peers = 3};

    (void)state;
    m.kind = TSR_STEP_ALL_GATHER;
    close_to(tsr__move_seconds(&c, &m), 100 + 3 * 2 + 256 * 0.75 / 4 + 64.0 / 16);
    m.kind = TSR_STEP_REDUCE_SCATTER;
    close_to(tsr__move_seconds(&c, &m), 100 + 3 * 2 + 64 * 0.75 / 4 + 16.0 / 16);
    m.kind = TSR_STEP_ALL_REDUCE;
    close_to(tsr__move_seconds(&c, &m), 100 + 6 * 2 + 2 * 64 * 0.75 / 4 + 16.0 / 16);
    m.kind = TSR_STEP_ALL_TO_ALL;
    close_to(tsr__move_seconds(&c, &m), 107 + 3 * 2 + 256 * 0.75 / 4 + 64.0 / 16);
    m.after = 32;
    close_to(tsr__move_seconds(&c, &m), 107 + 3 * 2 + 64 * 0.75 / 4 + 16.0 / 16);
    m.after = 256;
    m.kind = TSR_STEP_EXCHANGE;
    close_to(tsr__move_seconds(&c, &m), 100 + 3 * 2 + 48.0 / 4 + (256 - 48) / 16.0);
    m.kind = TSR_STEP_SLICE;
    close_to(tsr__move_seconds(&c, &m), 256.0 / 16);
    m.kind = TSR_STEP_TO_PARTIAL;
    close_to(tsr__move_seconds(&c, &m), 256.0 / 16);
    m.kind = TSR_STEP_ALL_GATHER;
    m.mdims = 2;
    close_to(tsr__move_seconds(&c, &m), 100 + 3 * 3 + 256 * 0.75 / 8 + 64.0 / 16);
    m.mdims = 3; /* the slower of both */
    close_to(tsr__move_seconds(&c, &m), 100 + 3 * 3 + 256 * 0.75 / 4 + 64.0 / 16);
}

/* Random costs depend on seed, key and kind, and on nothing else; none is zero or infinite. */
static void random_prices(void **state)
{
    tsr_cost a = parse("random:1"), b = parse("random:2");
    tsr_move m = {.kind = TSR_STEP_SLICE, .group = 2}, n = m;
    int differ = 0;

    (void)state;
    for (uint64_t key = 0; key < 1000; key++) {
        m.key = n.key = key;
        n.before = (double)key;
        n.mdims = (unsigned)key & 7;
        double x = tsr__move_seconds(&a, &m);
        assert_true(x == tsr__move_seconds(&a, &n));
        assert_true(x > 0 && x < 1);
        differ += x != tsr__move_seconds(&b, &m);
        n.kind = TSR_STEP_EXCHANGE;
        differ += x != tsr__move_seconds(&a, &n);
        n.kind = m.kind;
    }
    assert_true(differ > 1990);
}

static void equality(void **state)
{
    const tsr_cost a = tsr_cost_default();
    tsr_cost b = a;

    (void)state;
    assert_true(tsr__cost_equal(&a, &b));
    for (int change = 0; change < 9; change++) {
        b = a;
        switch (change) {
        case 0: b.latency[7] *= 2; break;
        case 1: b.per_byte[0] *= 2; break;
        case 2: b.per_step *= 2; break;
        case 3: b.per_shuffle = 1; break;
        case 4: b.memory *= 2; break;
        case 5: b.collectives_only = true; break;
        case 6: b.unrounded = true; break;
        case 7: b.randomise = true; break;
        case 8: b.seed = 1; break;
        }
        assert_false(tsr__cost_equal(&a, &b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_forms), cmocka_unit_test(bad_texts), cmocka_unit_test(from_a_file),
        cmocka_unit_test(bad_files),  cmocka_unit_test(prices),    cmocka_unit_test(random_prices),
        cmocka_unit_test(equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
