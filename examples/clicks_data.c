/* SPDX-License-Identifier: Apache-2.0 */
/* clicks_data.c - pairs of packages and dependencies, and what is drawn of them. What is random is
   a function of numbers, so all ranks draw the same. */
#include "clicks_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGE_COLUMNS = 8, DEPENDENCY_COLUMNS = 6 };
enum { SPLIT = 1, HELD_NEGATIVE = 2, NEGATIVE = 3 }; /* what is drawn */

struct clicks_data {
    tsr_dataset *pairs, *packages, *dependencies;
    const int32_t *has, *package, *dependency; /* their memory */
    int64_t n_packages, n_dependencies;
    int64_t *begin; /* of a package's dependencies, n_packages + 1 */
    int64_t rows[CLICKS_TABLES];
    int32_t *owner; /* the package of each pair */
    int64_t *train; /* pairs that are not held out */
    int64_t n_train;
    int32_t *held, *held_not; /* per package */
    int32_t *popular;         /* how many packages have a dependency, the held-out pairs aside */
};

/* A well mixed number of four (splitmix64). */
static uint64_t draw(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t word[] = {a, b, c, d};
    uint64_t z = 0;

    for (int i = 0; i < 4; i++) {
        z = (z ^ word[i]) + UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
    }
    return z;
}

/* ---- opening ---- */

static bool has(const clicks_data *d, int64_t package, int32_t dependency)
{
    bool found = false;

    for (int64_t i = d->begin[package]; i < d->begin[package + 1] && !found; i++)
        found = d->has[i] == dependency;
    return found;
}

static int32_t draw_negative(const clicks_data *d, int64_t package, uint64_t seed, uint64_t what,
                             uint64_t n)
{
    int32_t dependency;

    for (uint64_t again = 0;; again++) {
        dependency = (int32_t)(draw(seed, what, n, again) % (uint64_t)d->n_dependencies);
        if (!has(d, package, dependency))
            return dependency;
    }
}

static int64_t largest(const int32_t *column, int64_t n, int stride, int width)
{
    int64_t most = -1;

    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < width; k++)
            if (column[i * stride + k] > most)
                most = column[i * stride + k];
    return most + 1;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Both sides have tables of their own, with the same numbers. */
static void count_rows(clicks_data *d)
{
    const int32_t *p = d->package, *q = d->dependency;
    const int64_t n = d->n_packages, m = d->n_dependencies;
    int64_t *rows = d->rows;

    rows[CLICKS_PACKAGE] = n;
    rows[CLICKS_DEPENDENCY] = m;
    rows[CLICKS_SOURCE] = largest(p + 1, n, PACKAGE_COLUMNS, 1);
    rows[CLICKS_MAINTAINER] = rows[CLICKS_ITS_MAINTAINER] =
        larger(largest(p + 2, n, PACKAGE_COLUMNS, 1), largest(q, m, DEPENDENCY_COLUMNS, 1));
    rows[CLICKS_SECTION] = rows[CLICKS_ITS_SECTION] =
        larger(largest(p + 3, n, PACKAGE_COLUMNS, 1), largest(q + 1, m, DEPENDENCY_COLUMNS, 1));
    rows[CLICKS_PIECES] = rows[CLICKS_ITS_PIECES] =
        larger(largest(p + 4, n, PACKAGE_COLUMNS, CLICKS_BAG),
               largest(q + 2, m, DEPENDENCY_COLUMNS, CLICKS_BAG));
}

/* False: there is no memory. */
static bool split(clicks_data *d)
{
    const int64_t n = d->n_packages, pairs = tsr_dataset_shape(d->pairs)->size[0];

    d->begin = calloc((size_t)n + 1, sizeof *d->begin);
    d->owner = calloc((size_t)pairs, sizeof *d->owner);
    d->train = calloc((size_t)pairs, sizeof *d->train);
    d->held = calloc((size_t)n, sizeof *d->held);
    d->held_not = calloc((size_t)n, sizeof *d->held_not);
    d->popular = calloc((size_t)d->n_dependencies, sizeof *d->popular);
    if (!d->begin || !d->owner || !d->train || !d->held || !d->held_not || !d->popular)
        return false;
    for (int64_t p = 0; p < n; p++)
        d->begin[p + 1] = d->begin[p] + d->package[p * PACKAGE_COLUMNS];
    for (int64_t p = 0; p < n; p++) {
        const int64_t first = d->begin[p], count = d->begin[p + 1] - first;
        const int64_t out = first + (int64_t)(draw(SPLIT, (uint64_t)p, 0, 0) % (uint64_t)count);

        for (int64_t i = first; i < first + count; i++) {
            d->owner[i] = (int32_t)p;
            if (i == out)
                continue;
            d->train[d->n_train++] = i;
            d->popular[d->has[i]]++;
        }
        d->held[p] = d->has[out];
        d->held_not[p] = draw_negative(d, p, HELD_NEGATIVE, (uint64_t)p, 0);
    }
    return true;
}

/* Do the numbers of the files fit each other? */
static bool fits(const clicks_data *d)
{
    const tsr_shape *pairs = tsr_dataset_shape(d->pairs),
                    *packages = tsr_dataset_shape(d->packages),
                    *dependencies = tsr_dataset_shape(d->dependencies);
    const int32_t *p = tsr_dataset_memory(d->packages);
    int64_t sum = 0;
    bool good = tsr_dataset_dtype(d->pairs) == TSR_I32 && pairs->ndim == 1 &&
                tsr_dataset_dtype(d->packages) == TSR_I32 && packages->ndim == 2 &&
                packages->size[1] == PACKAGE_COLUMNS &&
                tsr_dataset_dtype(d->dependencies) == TSR_I32 && dependencies->ndim == 2 &&
                dependencies->size[1] == DEPENDENCY_COLUMNS && packages->size[0] > 0;

    for (int64_t i = 0; good && i < packages->size[0]; i++) {
        const int32_t count = p[i * PACKAGE_COLUMNS];

        good = count > 1 && count < dependencies->size[0];
        sum += count;
    }
    return good && sum == pairs->size[0];
}

static tsr_status open_file(tsr_mesh *mesh, const char *folder, const char *name, tsr_dataset **out)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return tsr_dataset_idx(mesh, path, out);
}

tsr_status clicks_open(tsr_mesh *mesh, const char *folder, clicks_data **out)
{
    clicks_data *d = calloc(1, sizeof *d);
    tsr_status st = d ? TSR_OK : TSR_ERR_MEMORY;

    if (st == TSR_OK)
        st = open_file(mesh, folder, "clicks_pairs.idx.gz", &d->pairs);
    if (st == TSR_OK)
        st = open_file(mesh, folder, "clicks_packages.idx.gz", &d->packages);
    if (st == TSR_OK)
        st = open_file(mesh, folder, "clicks_dependencies.idx.gz", &d->dependencies);
    if (st == TSR_OK && !fits(d)) {
        fprintf(stderr, "the clicks_*.idx.gz of %s do not belong together\n", folder);
        st = TSR_ERR_FORMAT;
    }
    if (st == TSR_OK) {
        d->n_packages = tsr_dataset_shape(d->packages)->size[0];
        d->n_dependencies = tsr_dataset_shape(d->dependencies)->size[0];
        st = tsr_dataset_check_labels(d->pairs, d->n_dependencies);
    }
    if (st == TSR_OK) {
        d->has = tsr_dataset_memory(d->pairs);
        d->package = tsr_dataset_memory(d->packages);
        d->dependency = tsr_dataset_memory(d->dependencies);
        count_rows(d);
        st = split(d) ? TSR_OK : TSR_ERR_MEMORY;
    }
    if (st != TSR_OK) {
        clicks_close(d);
        d = NULL;
    }
    *out = d;
    return st;
}

void clicks_close(clicks_data *d)
{
    if (!d)
        return;
    tsr_dataset_free(d->pairs);
    tsr_dataset_free(d->packages);
    tsr_dataset_free(d->dependencies);
    free(d->begin);
    free(d->owner);
    free(d->train);
    free(d->held);
    free(d->held_not);
    free(d->popular);
    free(d);
}

int64_t clicks_rows(const clicks_data *d, int table)
{
    return d->rows[table];
}

int64_t clicks_train_pairs(const clicks_data *d)
{
    return d->n_train;
}

int64_t clicks_held_pairs(const clicks_data *d)
{
    return d->n_packages;
}

/* ---- batches ---- */

clicks_pairs clicks_pairs_new(int64_t n)
{
    return (clicks_pairs){n, calloc((size_t)n, sizeof(int32_t)), calloc((size_t)n, sizeof(int32_t)),
                          calloc((size_t)n, sizeof(float))};
}

void clicks_pairs_free(clicks_pairs *p)
{
    free(p->package);
    free(p->dependency);
    free(p->has);
}

tsr_status clicks_check(const clicks_data *d, int64_t n, const char *placements)
{
    const tsr_batches batches = {.samples = tsr_dataset_shape(d->pairs)->size[0], .size = n};

    return tsr_batches_check(d->pairs, &batches, placements);
}

void clicks_draw(const clicks_data *d, uint64_t seed, int64_t step, int negatives,
                 clicks_pairs *out)
{
    const int64_t each = 1 + negatives, groups = out->n / each;
    const tsr_batches order = {.samples = d->n_train, .size = groups, .seed = seed};
    const int64_t epoch = step / tsr_batches_count(&order), i = step % tsr_batches_count(&order);

    for (int64_t k = 0; k < groups; k++) {
        const int64_t pair = d->train[tsr_batches_sample(&order, epoch, i, k)];

        for (int64_t j = k * each; j < (k + 1) * each; j++) {
            const bool first = j == k * each;

            out->package[j] = d->owner[pair];
            out->has[j] = first;
            out->dependency[j] = first ? d->has[pair]
                                       : draw_negative(d, d->owner[pair], seed + NEGATIVE,
                                                       (uint64_t)step, (uint64_t)j);
        }
    }
}

void clicks_held(const clicks_data *d, bool has_it, int64_t first, clicks_pairs *out)
{
    for (int64_t i = 0; i < out->n; i++) {
        const int64_t p = (first + i) % d->n_packages;

        out->package[i] = (int32_t)p;
        out->dependency[i] = has_it ? d->held[p] : d->held_not[p];
        out->has[i] = has_it;
    }
}

void clicks_ids(const clicks_data *d, int table, const clicks_pairs *p, int32_t *ids)
{
    for (int64_t i = 0; i < p->n; i++) {
        const int32_t *of = d->package + p->package[i] * PACKAGE_COLUMNS;
        const int32_t *its = d->dependency + p->dependency[i] * DEPENDENCY_COLUMNS;

        switch (table) {
        case CLICKS_PACKAGE: ids[i] = p->package[i]; break;
        case CLICKS_SOURCE: ids[i] = of[1]; break;
        case CLICKS_MAINTAINER: ids[i] = of[2]; break;
        case CLICKS_SECTION: ids[i] = of[3]; break;
        case CLICKS_PIECES: memcpy(ids + i * CLICKS_BAG, of + 4, CLICKS_BAG * sizeof *ids); break;
        case CLICKS_DEPENDENCY: ids[i] = p->dependency[i]; break;
        case CLICKS_ITS_MAINTAINER: ids[i] = its[0]; break;
        case CLICKS_ITS_SECTION: ids[i] = its[1]; break;
        default: memcpy(ids + i * CLICKS_BAG, its + 2, CLICKS_BAG * sizeof *ids); break;
        }
    }
}

/* ---- how good a ranking is ---- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* How many of the n sorted numbers are below x, where equal ones count half. */
static double below(const double *sorted, int64_t n, double x)
{
    int64_t low = 0, high = n, end;

    while (low < high) {
        const int64_t middle = (low + high) / 2;

        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < n && sorted[end] == x;)
        end++;
    return (double)low + 0.5 * (double)(end - low);
}

double clicks_auc(const double *yes, const double *no, int64_t n)
{
    double *sorted = malloc((size_t)n * sizeof *sorted), sum = 0;

    if (!sorted)
        return 0;
    memcpy(sorted, no, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t i = 0; i < n; i++)
        sum += below(sorted, n, yes[i]);
    free(sorted);
    return sum / ((double)n * (double)n);
}

double clicks_popularity_auc(const clicks_data *d)
{
    const int64_t n = d->n_packages;
    double *yes = calloc((size_t)n, sizeof *yes), *no = calloc((size_t)n, sizeof *no), auc = 0;

    for (int64_t p = 0; p < n && yes && no; p++) {
        yes[p] = d->popular[d->held[p]];
        no[p] = d->popular[d->held_not[p]];
    }
    if (yes && no)
        auc = clicks_auc(yes, no, n);
    free(yes);
    free(no);
    return auc;
}
