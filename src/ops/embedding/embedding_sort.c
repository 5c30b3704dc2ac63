/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_sort.c - which terms of a gradient go to which row of the table: a stable sort by row,
   so that no two terms race and every row adds in the order of positions. Called before the fills
   of embedding_backward.c. */
#include "ops/embedding/embedding.h"

#include "ops/embedding/embedding_rows.h"

#include <assert.h>
#include <string.h>

enum {
    DIGIT = 11, /* bits of a row that one pass sorts by; their counters fit the first cache */
    FEW = 32,   /* keys that are sorted by insertion */
    BLOCK = 512,
    ARRAYS = 6
};

size_t tsr__scatter_bytes(int64_t n_terms)
{
    return ARRAYS * ((size_t)n_terms + 1) * sizeof(int64_t);
}

static int bits_of(int64_t n)
{
    return n > 0 ? 64 - __builtin_clzll((uint64_t)n) : 0;
}

/* A key is a row above a position. */
typedef struct keys {
    int64_t n;
    int position_bits, row_bits;
    uint64_t *key, *spare;
} keys;

/* Keys of all ids with a local row; is that already their order? */
static bool take_keys(const tsr_ids *ids, keys *k)
{
    int64_t rows[BLOCK];
    uint64_t before = 0;
    bool sorted = true;

    k->n = 0;
    for (int64_t i = 0; i < ids->n; i += BLOCK) {
        const int64_t n = ids->n - i < BLOCK ? ids->n - i : BLOCK;

        tsr__ids_rows(ids, i, n, rows);
        for (int64_t j = 0; j < n; j++) {
            const uint64_t key = (uint64_t)rows[j] << k->position_bits | (uint64_t)(i + j);

            k->key[k->n] = key; /* overwritten by the next one if this is none */
            if (rows[j] < 0)
                continue;
            sorted &= key >= before;
            before = key;
            k->n++;
        }
    }
    return sorted;
}

/* One pass of a radix sort, from key to spare; stable. */
static void sort_by_digit(keys *k, int shift, int bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    uint64_t *swap = k->key;
    int64_t next[1 << DIGIT], sum = 0;

    memset(next, 0, sizeof *next << bits);
    for (int64_t i = 0; i < k->n; i++)
        next[k->key[i] >> shift & mask]++;
    for (uint64_t d = 0; d <= mask; d++) {
        const int64_t count = next[d];

        next[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < k->n; i++)
        k->spare[next[k->key[i] >> shift & mask]++] = k->key[i];
    k->key = k->spare;
    k->spare = swap;
}

static void sort_few(keys *k)
{
    for (int64_t i = 1; i < k->n; i++) {
        const uint64_t key = k->key[i];
        int64_t j = i;

        for (; j > 0 && k->key[j - 1] > key; j--)
            k->key[j] = k->key[j - 1];
        k->key[j] = key;
    }
}

/* With few rows it is one pass, a counting sort; else passes of equal digits. */
static void sort_keys(keys *k)
{
    const int passes = (k->row_bits + DIGIT - 1) / DIGIT;

    if (k->n <= FEW) {
        sort_few(k);
        return;
    }
    for (int p = 0; p < passes; p++) {
        const int from = k->row_bits * p / passes, to = k->row_bits * (p + 1) / passes;

        sort_by_digit(k, k->position_bits + from, to - from);
    }
}

/* Rows and where their terms begin; keys become positions in place. */
static void split_keys(const keys *k, int64_t *row, int64_t *begin, tsr_scattered *out)
{
    const uint64_t mask = k->position_bits ? ~UINT64_C(0) >> (64 - k->position_bits) : 0;
    int64_t *from = (int64_t *)k->key, n = 0;
    uint64_t before = ~UINT64_C(0);

    for (int64_t i = 0; i < k->n; i++) {
        const uint64_t key = k->key[i], r = key >> k->position_bits;

        row[n] = (int64_t)r; /* overwritten unless it is a new row: no branch to guess */
        begin[n] = i;
        n += r != before;
        before = r;
        from[i] = (int64_t)(key & mask);
    }
    begin[n] = k->n;
    *out =
        (tsr_scattered){.n_terms = k->n, .n_distinct = n, .row = row, .begin = begin, .from = from};
}

void tsr__embedding_scatter(const tsr_ids *ids, void *scratch, tsr_scattered *out)
{
    int64_t *array = scratch;
    const int64_t size = ids->n + 1;
    keys k = {.position_bits = bits_of(ids->n - 1),
              .row_bits = bits_of(ids->n_rows - 1),
              .key = scratch,
              .spare = (uint64_t *)(array + size)};

    assert(k.position_bits + k.row_bits < 64);
    if (!take_keys(ids, &k))
        sort_keys(&k);
    split_keys(&k, array + 2 * size, array + 3 * size, out);
}

void tsr__bag_scatter(const tsr_bags *bags, tsr_dtype dtype, const void *weights,
                      const int64_t *counts, void *scratch, tsr_scattered *out)
{
    tsr_ids ids = bags->ids;
    int64_t *array = scratch, *bag_of, *weight, *bag, size;

    ids.n = tsr__bag_begin(bags, bags->n_bags); /* the last offset may leave some out */
    size = ids.n + 1;
    bag_of = array + 4 * size;
    weight = array + 5 * size;
    tsr__embedding_scatter(&ids, scratch, out);
    bag = out->from == array ? array + size : array; /* the one of the two that is not in use */
    for (int64_t b = 0; b < bags->n_bags; b++)
        for (int64_t i = tsr__bag_begin(bags, b); i < tsr__bag_begin(bags, b + 1); i++)
            bag_of[i] = b;
    for (int64_t i = 0; i < out->n_terms; i++)
        bag[i] = bag_of[out->from[i]];
    if (weights || counts) {
        tsr__row_parts(dtype, TSR_VARIANT_PLAIN)
            ->weigh(out->n_terms, weights, out->from, counts, bag, weight);
        out->weight = weight;
    }
    out->from = bag;
}

void tsr__bag_max_scatter(const tsr_ids *winners, void *scratch, tsr_scattered *out)
{
    tsr__embedding_scatter(winners, scratch, out);
    out->by_element = true;
}
