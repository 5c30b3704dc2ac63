/* SPDX-License-Identifier: Apache-2.0 */
/* test_coverage.c - the table behind tessera ops --coverage: it has ONNX's operators, each once, as
   libonnx-dev lists them (it may be older than the table, which then has more), and names only ops
   that there are.

   test_coverage FILE: onnx/defs/operator_sets.h */
#include "support/test.h"
#include "../../cli/onnx_ops.h"

static int times(const char *name)
{
    int n = 0;

    for (const onnx_operator *x = onnx_operators; x->name; x++)
        n += strcmp(x->name, name) == 0;
    return n;
}

/* Lines such as "class ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, 13, Abs);" */
static void list_is_theirs(void **state)
{
    FILE *f = fopen(*state, "r");
    char line[512], name[64];
    int version, n = 0;

    if (!f)
        fail_msg("%s cannot be read: install libonnx-dev", (const char *)*state);
    while (fgets(line, sizeof line, f)) {
        const char *at = strstr(line, "(Onnx,");
        if (!at || sscanf(at, "(Onnx, %d, %63[A-Za-z0-9])", &version, name) != 2)
            continue;
        n++;
        if (times(name) != 1)
            fail_msg("%s is there %d times", name, times(name));
    }
    fclose(f);
    assert_true(n > 400); /* of all versions */
    for (const onnx_operator *x = onnx_operators; x->name; x++) {
        bool again = x != onnx_operators && strcmp(x[-1].group, x->group) != 0;
        for (const onnx_operator *y = onnx_operators; again && y < x; y++)
            if (strcmp(y->group, x->group) == 0)
                fail_msg("the group %s is in two pieces", x->group);
        if ((x->by != NULL) + (x->host != NULL) + (x->never != NULL) > 1)
            fail_msg("%s is there in two ways", x->name);
    }
}

static void ops_are_there(void **state)
{
    (void)state;
    for (const onnx_operator *x = onnx_operators; x->name; x++)
        for (const char *p = x->by; p && *p;) {
            char name[64];
            size_t n = strcspn(p, ",");

            snprintf(name, sizeof name, "%.*s", (int)n, p);
            if (!tsr_op_find(NULL, name))
                fail_msg("%s: unknown op %s", x->name, name);
            p += n + (p[n] == ',');
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(list_is_theirs, argc > 1 ? argv[1] : NULL),
        cmocka_unit_test(ops_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
