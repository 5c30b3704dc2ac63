/* SPDX-License-Identifier: Apache-2.0 */
/* bad_texts.c - goes through a table of texts that a parser refuses. */
#include "bad_texts.h"

#include "test.h"

void expect_bad_texts(const bad_text *bad, size_t n,
                      tsr_status (*parse)(const char *text, void *out, tsr_error *err), size_t size)
{
    char *out = malloc(size), *untouched = malloc(size);

    assert_true(out && untouched);
    memset(out, 0x5a, size);
    memset(untouched, 0x5a, size);
    for (size_t i = 0; i < n; i++) {
        tsr_error err = {0};
        tsr_status st = parse(bad[i].text, out, &err);

        if (st != bad[i].code || err.code != st || !strstr(err.text, bad[i].says))
            fail_msg("\"%s\": status %d, \"%s\", expected \"%s\"",
                     bad[i].text ? bad[i].text : "NULL", (int)st, err.text, bad[i].says);
        assert_int_equal(parse(bad[i].text, out, NULL), bad[i].code);
        assert_memory_equal(out, untouched, size);
    }
    free(out);
    free(untouched);
}

/* ---- calls ---- */

enum { WORDS = 16 };

/* Words with = are attributes, the others inputs. */
static tsr_status run_call(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *in[WORDS] = {NULL}, *out[TSR_OP_OUTPUTS];
    const char *attrs[WORDS], *op;
    int n_in = 0, n_attrs = 0;
    char text[TSR_TEXT_LEN], *rest = text;

    snprintf(text, sizeof text, "%s", (const char *)arg);
    op = strtok_r(rest, " ", &rest);
    for (char *word; n_in < WORDS && n_attrs < WORDS && (word = strtok_r(rest, " ", &rest));) {
        if (strchr(word, '='))
            attrs[n_attrs++] = word;
        else
            in[n_in++] = tsr_zeros(mesh, word);
    }
    return tsr_op_run_all(mesh, op, in, n_in, attrs, n_attrs, out);
}

static tsr_status run_text(const char *text, void *out, tsr_error *err)
{
    const tsr_run_opts opts =
        RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    char copy[TSR_TEXT_LEN];

    (void)out;
    snprintf(copy, sizeof copy, "%s", text);
    return tsr_run(&opts, run_call, copy, err);
}

void expect_bad_calls(const bad_text *bad, size_t n)
{
    expect_bad_texts(bad, n, run_text, 1);
}
