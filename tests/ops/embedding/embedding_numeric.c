/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_numeric.c - runs the cases of a file by the kernels, the table whole and cut by rows,
   and compares with what PyTorch found: bit-equal, but for divisions and norms, which may differ by
   4 ulp of the sum of the absolute terms. */
#include <jansson.h>

#include "support/test.h"
#include "embedding_check.h"
#include "embedding_numeric.h"

enum { PIECES = 3 };

/* The numbers of {"shape", "data"} or of a plain array as f32 or i64; NULL if there are none. */
static void *numbers(const json_t *x, tsr_dtype dtype, int64_t *count)
{
    const json_t *data = json_is_object(x) ? json_object_get(x, "data") : x;
    const int64_t n = (int64_t)json_array_size(data);
    void *out;

    if (!json_is_array(data))
        return NULL;
    out = malloc((size_t)n * 8 + 1);
    for (int64_t i = 0; i < n; i++)
        tsr__put(dtype, out, i, json_number_value(json_array_get(data, (size_t)i)));
    if (count)
        *count = n;
    return out;
}

static int64_t size_of(const json_t *x, size_t dim)
{
    return json_integer_value(json_array_get(json_object_get(x, "shape"), dim));
}

static problem read_problem(const json_t *json, tsr_dtype index)
{
    const json_t *weight = json_object_get(json, "weight");
    const json_t *indices = json_object_get(json, "indices"), *pad;
    const json_t *mode = json_object_get(json, "mode");
    const bool with_last = json_is_true(json_object_get(json, "include_last_offset"));
    problem p = {.dtype = TSR_F32,
                 .dim = size_of(weight, 1),
                 .keep = true,
                 .scaled = json_is_true(json_object_get(json, "scale_grad_by_freq")),
                 .table = numbers(weight, TSR_F32, NULL)};
    tsr_ids *ids = &p.bags.ids;
    int64_t n_offsets = 0;
    void *offsets = numbers(json_object_get(json, "offsets"), index, &n_offsets);

    ids->dtype = index;
    ids->data = numbers(indices, index, &ids->n);
    ids->vocab = ids->n_rows = size_of(weight, 0);
    pad = json_object_get(json, "padding_idx");
    ids->padding = json_is_null(pad) ? -1 : json_integer_value(pad);
    if (!json_is_null(pad) && ids->padding < 0)
        ids->padding += ids->vocab;
    p.weights = numbers(json_object_get(json, "per_sample_weights"), TSR_F32, NULL);
    *(mode ? &p.grad_bags : &p.grad_rows) =
        numbers(json_object_get(json, "grad_output"), TSR_F32, NULL);
    if (offsets) {
        int64_t *begin = malloc((size_t)(n_offsets + 1) * sizeof *begin);

        assert_int_equal(tsr__bag_offsets(&(tsr_offsets){index, offsets, 0, n_offsets, n_offsets,
                                                         with_last, ids->n},
                                          0, n_offsets - with_last, begin, NULL),
                         TSR_OK);
        p.bags.n_bags = n_offsets - with_last;
        p.bags.begin = begin;
    } else if (mode) {
        p.bags.n_bags = size_of(indices, 0);
        p.bags.length = size_of(indices, 1);
    }
    free(offsets);
    complete(&p);
    assert_int_equal(tsr__ids_bad(ids), -1);
    return p;
}

/* By reference, whole and in pieces. */
static void expect(const problem *p, int what, const json_t *want_json, double ulps)
{
    void *want = numbers(want_json, TSR_F32, NULL);
    int64_t *at = malloc((size_t)out_count(p, what) * sizeof *at + 1);
    void *got = run(p, what, TSR_VARIANT_REFERENCE, false, at);

    compare(p, what, TSR_VARIANT_REFERENCE, got, want, ulps);
    free(got);
    for (int pieces = 1; pieces <= PIECES; pieces++) {
        int64_t cuts[PIECES + 1];

        for (int k = 0; k <= pieces; k++)
            cuts[k] = p->bags.ids.vocab * k / pieces;
        got = run_cut(p, what, TSR_VARIANT_AUTO, pieces, cuts, at);
        compare(p, what, TSR_VARIANT_AUTO, got, want, ulps);
        free(got);
    }
    free(at);
    free(want);
}

static void check_embedding(const json_t *json, problem *p)
{
    const json_t *max_norm = json_object_get(json, "max_norm");
    const bool shortened = json_is_number(max_norm);

    if (shortened) {
        float *want = numbers(json_object_get(json, "weight_after"), TSR_F32, NULL);
        float *table = p->table;
        const tsr_renorm call = {TSR_F32, p->dim, json_number_value(max_norm), 2, table};
        void *scratch = malloc(tsr__scatter_bytes(p->bags.ids.n));

        tsr__embedding_renorm(&call, &p->bags.ids, scratch);
        for (int64_t i = 0; i < p->bags.ids.vocab * p->dim; i++)
            assert_true(fabsf(table[i] - want[i]) <= 4 * 0x1p-23f * fabsf(want[i]));
        free(scratch);
        free(want);
    }
    expect(p, TSR_EMBEDDING, json_object_get(json, "output"), shortened ? 4 : 0);
    expect(p, TSR_EMBEDDING_BACKWARD, json_object_get(json, "grad_weight"), p->scaled ? 4 : 0);
}

static void check_bag(const json_t *json, problem *p)
{
    const char *mode = json_string_value(json_object_get(json, "mode"));
    const json_t *output = json_object_get(json, "output");
    const json_t *grad = json_object_get(json, "grad_weight");

    if (strcmp(mode, "sum") == 0) {
        expect(p, TSR_EMBEDDING_BAG_SUM, output, 0);
        expect(p, TSR_EMBEDDING_BAG_SUM_BACKWARD, grad, 0);
        if (p->weights)
            expect(p, WEIGHTS_BACKWARD, json_object_get(json, "grad_per_sample_weights"), 0);
    } else if (strcmp(mode, "mean") == 0) {
        expect(p, TSR_EMBEDDING_BAG_MEAN, output, 4);
        expect(p, TSR_EMBEDDING_BAG_MEAN_BACKWARD, grad, 4);
    } else {
        expect(p, TSR_EMBEDDING_BAG_MAX, output, 0);
        expect(p, TSR_EMBEDDING_BAG_MAX_BACKWARD, grad, 0);
    }
}

int check_numeric(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    int cases = 0;

    assert_non_null(file);
    for (; getline(&line, &size, file) > 0; cases++)
        for (int i = 0; i < 2; i++) {
            json_t *json = json_loads(line, 0, NULL);
            problem p = read_problem(json, i ? TSR_I32 : TSR_I64);

            if (strcmp(json_string_value(json_object_get(json, "kind")), "embedding") == 0)
                check_embedding(json, &p);
            else
                check_bag(json, &p);
            free_problem(&p);
            json_decref(json);
        }
    free(line);
    fclose(file);
    return cases;
}
