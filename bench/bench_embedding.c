/* SPDX-License-Identifier: Apache-2.0 */
/* bench_embedding.c - lookups, bags and their gradients on one thread, each as a ratio to a bound
   measured in the same run: memcpy or reading or zeroing for the same traffic (1.00: as fast as the
   bound, less is slower), and the loop that anyone would write first. Arguments: a variant's number
   (0: the best), the number of a case (none: all). */
#include "ops/embedding/embedding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MIB = 1 << 20, REPEATS = 11, VOCAB = 1000000, IDS = 65536, LENGTH = 20 };

static double copy_time, read_time, zero_time; /* seconds per byte of traffic */

typedef struct job {
    void (*run)(const struct job *job);
    tsr_dtype dtype;
    int64_t dim;
    tsr_bags bags;
    tsr_kernel_variant variant;
    char *table, *grad, *out, *scratch;
    int64_t *position, *winners;
} job;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be busy */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Every run has other ids: those of the last one would be in the cache. */
static double least_time(const job *given)
{
    double least = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        job j = *given;
        double start, time;

        j.bags.ids.data = (const int64_t *)given->bags.ids.data + i * IDS;
        start = seconds();
        j.run(&j);
        time = seconds() - start;
        least = time < least ? time : least;
    }
    return least;
}

/* Large pages, as the library's pool has them; touched. */
static void *memory(size_t bytes)
{
    void *p = NULL;

    if (posix_memalign(&p, 2 * MIB, bytes)) {
        fprintf(stderr, "bench_embedding: out of memory\n");
        exit(1);
    }
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    return p;
}

static size_t row_bytes(const job *j)
{
    return (size_t)j->dim * tsr_dtype_size(j->dtype);
}

/* ---- what is measured ---- */

static void run_copy(const job *j)
{
    memcpy(j->out, j->table, 64 * MIB);
}

static void run_zero(const job *j)
{
    memset(j->out, 0, 256 * MIB);
}

static void run_read(const job *j)
{
    const uint64_t *x = (const uint64_t *)j->table;
    uint64_t sum[8] = {0};

    for (size_t i = 0; i < 64 * MIB / 8; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + (size_t)k];
    *(uint64_t *)j->out = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static void run_naive(const job *j)
{
    const size_t bytes = row_bytes(j);
    const int64_t *id = j->bags.ids.data;

    for (int64_t i = 0; i < j->bags.ids.n; i++)
        memcpy(j->out + (size_t)i * bytes, j->table + (size_t)id[i] * bytes, bytes);
}

static void run_check(const job *j)
{
    if (tsr__ids_bad(&j->bags.ids) >= 0)
        exit(1);
}

static void run_lookup(const job *j)
{
    tsr__embedding_forward(&(tsr_lookup){.dtype = j->dtype,
                                         .dim = j->dim,
                                         .ids = j->bags.ids,
                                         .variant = j->variant,
                                         .table = j->table,
                                         .out = j->out});
}

static tsr_bag_pool pool_of(const job *j)
{
    return (tsr_bag_pool){.dtype = j->dtype,
                          .dim = j->dim,
                          .bags = j->bags,
                          .table = j->table,
                          .variant = j->variant,
                          .scratch = j->scratch,
                          .out = j->out,
                          .position = j->position};
}

static void run_bag_sum(const job *j)
{
    const tsr_bag_pool pool = pool_of(j);

    tsr__bag_sum(&pool);
}

static void run_bag_mean(const job *j)
{
    const tsr_bag_pool pool = pool_of(j);

    tsr__bag_mean(&pool);
}

static void run_bag_max(const job *j)
{
    const tsr_bag_pool pool = pool_of(j);

    tsr__bag_max(&pool);
}

static tsr_table_grad grad_of(const job *j)
{
    return (tsr_table_grad){.dtype = j->dtype,
                            .dim = j->dim,
                            .n_rows = VOCAB,
                            .grad_out = j->grad,
                            .variant = j->variant,
                            .out = j->out};
}

static void run_sort(const job *j)
{
    tsr_scattered s;

    tsr__embedding_scatter(&j->bags.ids, j->scratch, &s);
}

static void run_touched(const job *j)
{
    const tsr_table_grad call = grad_of(j);
    tsr_scattered s;

    tsr__embedding_scatter(&j->bags.ids, j->scratch, &s);
    tsr__row_sparse_scatter(&s, &call);
}

static void run_dense(const job *j)
{
    const tsr_table_grad call = grad_of(j);
    tsr_scattered s;

    tsr__embedding_scatter(&j->bags.ids, j->scratch, &s);
    tsr__scatter_dense(&s, &call);
}

static void run_bag_touched(const job *j)
{
    const tsr_table_grad call = grad_of(j);
    tsr_scattered s;

    tsr__bag_scatter(&j->bags, j->dtype, NULL, NULL, j->scratch, &s);
    tsr__row_sparse_scatter(&s, &call);
}

static void run_max_touched(const job *j)
{
    const tsr_table_grad call = grad_of(j);
    tsr_ids winners = j->bags.ids;
    tsr_scattered s;

    winners.data = j->winners;
    winners.n = j->bags.n_bags * j->dim;
    tsr__bag_max_scatter(&winners, j->scratch, &s);
    tsr__row_sparse_scatter(&s, &call);
}

/* ---- cases ---- */

static double report(const char *name, job *j, void (*run)(const job *), double bound)
{
    double time;

    j->run = run;
    time = least_time(j);
    printf("    %-24s %8.3f ms  %5.2f of the bound\n", name, 1e3 * time, bound / time);
    return time;
}

/* Uniform, or by Zipf's law with the frequent ids all over the table. */
static void draw_ids(bool zipf, int64_t *id)
{
    uint64_t seed = 1;

    for (int64_t i = 0; i < REPEATS * IDS; i++) {
        double u;

        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u = (double)(seed >> 11) * 0x1p-53;
        id[i] = zipf ? (int64_t)(exp(u * log(VOCAB)) - 1) * 7919 % VOCAB : (int64_t)(u * VOCAB);
    }
}

static void bench(job *j, const char *name)
{
    const double row = (double)row_bytes(j), n = IDS, bags = (double)j->bags.n_bags;
    const double lookup = 2 * n * row * copy_time, pool = (n * row + bags * row) * read_time;
    double forward;

    printf("  %s %s\n", tsr_dtype_name(j->dtype), name);
    report("check of the ids", j, run_check, n * 8 * read_time);
    report("naive loop", j, run_naive, lookup);
    forward = report("lookup", j, run_lookup, lookup);
    report("bag_sum", j, run_bag_sum, pool);
    report("bag_mean", j, run_bag_mean, pool);
    report("bag_max", j, run_bag_max, pool + bags * (double)j->dim * 8 * read_time);
    tsr__bag_winners(&j->bags.ids, j->bags.n_bags * j->dim, j->position, TSR_I64, j->winners);
    report("sort alone", j, run_sort, 2 * n * 8 * copy_time);
    printf("    %-24s %8.2f of the lookup's time\n", "backward touched",
           report("backward touched", j, run_touched, lookup) / forward);
    report("backward dense", j, run_dense, n * row * read_time + VOCAB * row * zero_time);
    report("bag_sum backward touched", j, run_bag_touched, lookup);
    report("bag_max backward touched", j, run_max_touched, lookup);
}

int main(int argc, char **argv)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16};
    const size_t most = (size_t)VOCAB * 128 * sizeof(float);
    const tsr_kernel_variant variant =
        argc > 1 ? (tsr_kernel_variant)atoi(argv[1]) : TSR_VARIANT_AUTO;
    const tsr_kernel_sku sku = {.index = TSR_I64, .variant = variant};
    int64_t *id = memory(REPEATS * IDS * sizeof *id);
    job j = {.variant = variant,
             .bags = {.ids = {TSR_I64, id, IDS, VOCAB, 0, VOCAB, -1},
                      .n_bags = IDS / LENGTH,
                      .length = LENGTH},
             .table = memory(most),
             .out = memory(most),
             .grad = memory(IDS * 128 * sizeof(float)),
             .scratch = memory(tsr__scatter_bytes(IDS / LENGTH * 128)),
             .position = memory(IDS / LENGTH * 128 * 8),
             .winners = memory(IDS / LENGTH * 128 * 8)};

    j.run = run_copy;
    copy_time = least_time(&j) / (2.0 * 64 * MIB);
    j.run = run_read;
    read_time = least_time(&j) / (64.0 * MIB);
    j.run = run_zero;
    zero_time = least_time(&j) / (256.0 * MIB);
    printf("memcpy %.1f GB/s (read + written), reading %.1f GB/s, zeroing %.1f GB/s; %s\n",
           1e-9 / copy_time, 1e-9 / read_time, 1e-9 / zero_time,
           tsr_kernel_variant_name(tsr_kernel_variant_best(&sku)));
    for (int k = 0; k < 8; k++) {
        char name[64];

        if (argc > 2 && k != atoi(argv[2]))
            continue;
        j.dtype = dtypes[k / 4];
        j.dim = k / 2 % 2 ? 128 : 64;
        draw_ids(k % 2, id);
        snprintf(name, sizeof name, "dim %d, %s ids", (int)j.dim, k % 2 ? "Zipf" : "uniform");
        bench(&j, name);
    }
    return 0;
}
