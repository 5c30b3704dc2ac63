/* SPDX-License-Identifier: Apache-2.0 */
/* bad_texts.c - goes through a table of texts that a parser refuses. */
#include "bad_texts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
