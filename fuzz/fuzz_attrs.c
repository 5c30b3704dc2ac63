/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_attrs.c - the first line declares the attributes of a row, the others give values. Of a
   choice only its names are accepted, and their numbers are in range; a call with what was
   accepted fits the row. */
#include "fuzz.h"
#include "op/op.h"

static void check_value(const tsr_op *op, const char *line, const tsr_attrs *attrs)
{
    char name[4096];
    int i;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "="), line);
    i = tsr__attr_index(op, name);
    if (i >= 0 && tsr__attr_type(op, i) == TSR_ATTR_CHOICE) {
        const char *value = line + strcspn(line, "=") + 1;

        REQUIRE(tsr__attr_has_choice(op, i, value, strlen(value)));
        REQUIRE(attrs->value[i].n == 1 && attrs->value[i].i[0] >= 0);
    }
    REQUIRE(tsr__choices_check(op, attrs, NULL) == TSR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    const tsr_op op = {.name = "new", .inputs = "x", .attrs = fuzz_line(&rest)};
    tsr_attrs attrs;
    tsr_error err = {0};
    tsr_status st = tsr__attrs_default(&op, &attrs, &err);

    fuzz_check_error(st, &err);
    if (st == TSR_OK) {
        REQUIRE(tsr__attrs_count(&op) <= TSR_MAX_ATTR);
        REQUIRE(tsr__choices_check(&op, &attrs, NULL) == TSR_OK);
        while (*rest) {
            const char *line = fuzz_line(&rest);
            tsr_error why = {0};

            st = tsr__attr_parse(&op, line, strlen(line), &attrs, &why);
            fuzz_check_error(st, &why);
            if (st == TSR_OK)
                check_value(&op, line, &attrs);
        }
    }
    free(text);
    return 0;
}
