/* SPDX-License-Identifier: Apache-2.0 */
/* test_coverage.c - which operators of ONNX the ops stand for: every operator, as libonnx-dev lists
   them (it may be older than our lists, which then have more), has a row in onnx_map.h or is listed
   here with a reason, rows name only ops that there are, and docs/ops.md gives their number.

   test_coverage FILE DOC: onnx/defs/operator_sets.h and docs/ops.md */
#include "support/test.h"
#include "onnx_map.h"

/* Operators without a row. All but the first list are not operators on tensors. */
static const struct {
    const char *why, *names;
} uncovered[] = {
    {"missing", "AffineGrid BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor "
                "CenterCropPad Col2Im Compress DFT DeformConv Det GRU GatherND GlobalLpPool "
                "GridSample LRN LSTM LpNormalization LpPool MaxRoiPool MaxUnpool "
                "MelWeightMatrix Multinomial NonMaxSuppression NonZero RNN ReverseSequence "
                "RoiAlign STFT ScatterND Unique"},
    {"text", "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer"},
    {"control flow is the program's", "If Loop Scan"},
    {"sequences", "ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
                  "SequenceInsert SequenceLength SequenceMap SplitToSequence"},
    {"files of pictures", "ImageDecoder"},
    {"optional values", "Optional OptionalGetElement OptionalHasElement"},
};
enum { N_UNCOVERED = sizeof uncovered / sizeof uncovered[0] };

/* How often a name is in a list of words, or how many words there are if it is NULL. */
static int in_list(const char *list, const char *name)
{
    int n = 0;

    for (size_t len; *list; list += len + (list[len] == ' ')) {
        len = strcspn(list, " ");
        n += !name || (strlen(name) == len && strncmp(list, name, len) == 0);
    }
    return n;
}

static int rows_of(const char *name)
{
    const onnx_row *r;
    int n = 0;

    for (int i = 0; (r = onnx_row_at(i)); i++)
        n += strcmp(r->onnx, name) == 0;
    return n;
}

static int times(const char *name)
{
    int n = rows_of(name);

    for (int i = 0; i < N_UNCOVERED; i++)
        n += in_list(uncovered[i].names, name);
    return n;
}

/* Lines such as "class ONNX_OPERATOR_SET_SCHEMA_CLASS_NAME(Onnx, 13, Abs);" */
static void every_operator_once(void **state)
{
    const char *path = *(const char **)*state;
    FILE *f = fopen(path, "r");
    char line[512], name[64];
    int version, n = 0;

    if (!f)
        fail_msg("%s cannot be read: install libonnx-dev", path);
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
}

static void rows_name_ops(void **state)
{
    const onnx_row *r;

    (void)state;
    for (int i = 0; (r = onnx_row_at(i)); i++) {
        if (times(r->onnx) != 1)
            fail_msg("%s is there %d times", r->onnx, times(r->onnx));
        if (r->op && !tsr_op_find(NULL, r->op))
            fail_msg("%s: unknown op %s", r->onnx, r->op);
    }
}

static void docs_give_the_number(void **state)
{
    const char *path = ((const char **)*state)[1];
    FILE *f = fopen(path, "r");
    char line[512], want[64];
    bool found = false;
    int n = 0;

    if (!f)
        fail_msg("%s cannot be read", path);
    while (onnx_row_at(n))
        n++;
    snprintf(want, sizeof want, "%d of the %d tensor operators of ONNX", n,
             n + in_list(uncovered[0].names, NULL));
    while (fgets(line, sizeof line, f))
        found = found || strstr(line, want);
    fclose(f);
    if (!found)
        fail_msg("%s does not say \"%s\"", path, want);
}

int main(int argc, char **argv)
{
    static const char *path[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(every_operator_once, path),
        cmocka_unit_test(rows_name_ops),
        cmocka_unit_test_prestate(docs_give_the_number, path),
    };

    if (argc != 3)
        return 2;
    path[0] = argv[1];
    path[1] = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
