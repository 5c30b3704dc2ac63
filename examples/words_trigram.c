/* SPDX-License-Identifier: Apache-2.0 */
/* words_trigram.c - an interpolated Kneser-Ney model of three neighbours (Kneser and Ney, 1995, in
   the form of Chen and Goodman, 1999): what words.c is compared with. Numbers of n-grams stand in
   sorted lists. */
#include <math.h>
#include <stdlib.h>

#include "words_text.h"

/* n-grams as numbers in base vocabulary, ascending, how often each was met, and of each what it
   begins with: all those with the same beginning are neighbours in the list. */
typedef struct grams {
    uint64_t *key;
    int64_t *count;
    int64_t n;
    double discount;
} grams;

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Equal keys become one. D = n1 / (n1 + 2 n2) is what every count gives to those never met. */
static void settle(grams *g)
{
    int64_t n = 0, once = 0, twice = 0;

    qsort(g->key, (size_t)g->n, sizeof *g->key, compare);
    for (int64_t i = 0; i < g->n; i++) {
        if (i == 0 || g->key[i] != g->key[i - 1]) {
            g->key[n] = g->key[i];
            g->count[n++] = 0;
        }
        g->count[n - 1]++;
    }
    g->n = n;
    for (int64_t i = 0; i < n; i++) {
        once += g->count[i] == 1;
        twice += g->count[i] == 2;
    }
    g->discount = once ? (double)once / (double)(once + 2 * twice) : 0.5;
}

/* The first place of a key that is not below this one. */
static int64_t place(const grams *g, uint64_t key)
{
    int64_t low = 0, high = g->n;

    while (low < high) {
        const int64_t middle = (low + high) / 2;

        if (g->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The discounted share of `last` behind a context, whose n-grams begin with it, plus what is left
   times `below`, the probability by a shorter context. */
static double share(const grams *g, uint64_t context, uint64_t v, uint64_t last, double below)
{
    const int64_t begin = place(g, context * v), end = place(g, (context + 1) * v);
    double all = 0, own = 0;

    for (int64_t i = begin; i < end; i++) {
        all += (double)g->count[i];
        if (g->key[i] == context * v + last)
            own = (double)g->count[i] - g->discount;
    }
    if (begin == end)
        return below;
    return (own + g->discount * (double)(end - begin) * below) / all;
}

static bool make_grams(grams *g, int64_t n)
{
    g->key = malloc((size_t)n * sizeof *g->key);
    g->count = malloc((size_t)n * sizeof *g->count);
    return g->key && g->count;
}

double words_trigram_loss(const words_text *t)
{
    const uint64_t v = (uint64_t)t->vocabulary;
    const int64_t n = t->n_train - 2;
    grams three = {0}, two = {0}, one = {0};
    double sum = 0;

    if (n > 0 && make_grams(&three, n) && make_grams(&two, n) && make_grams(&one, n)) {
        for (int64_t i = 0; i < n; i++)
            three.key[i] = ((uint64_t)t->train[i] * v + (uint64_t)t->train[i + 1]) * v +
                           (uint64_t)t->train[i + 2];
        three.n = n;
        settle(&three);
        for (int64_t i = 0; i < three.n; i++) /* shorter ones count in how many longer ones */
            two.key[i] = three.key[i] % (v * v);
        two.n = three.n;
        settle(&two);
        for (int64_t i = 0; i < two.n; i++)
            one.key[i] = two.key[i] % v;
        one.n = two.n;
        settle(&one);
        for (int64_t i = 2; i < t->n_held; i++) {
            const uint64_t a = (uint64_t)t->held[i - 2], b = (uint64_t)t->held[i - 1],
                           c = (uint64_t)t->held[i];
            double p = share(&one, 0, v, c, 1 / (double)v);

            p = share(&two, b, v, c, p);
            sum -= log(share(&three, a * v + b, v, c, p));
        }
    }
    free(three.key), free(three.count);
    free(two.key), free(two.count);
    free(one.key), free(one.count);
    return t->n_held > 2 ? sum / (double)(t->n_held - 2) : 0;
}
