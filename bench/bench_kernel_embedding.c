/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernel_embedding.c - kernels of lookups, bags and their gradients on one thread, in turns
   with reading, copying or zeroing as many bytes, and the loop that anyone would write first. */
#include "bench_kernel.h"
#include "ops/embedding/embedding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 11, VOCAB = 1000000, IDS = 65536, LENGTH = 20, MOST_COLUMNS = 128 };

/* Every run has other ids: those of the last one would be in the cache. */
typedef struct job {
    void (*run)(const struct job *job);
    tsr_dtype dtype;
    int64_t dim;
    int count;         /* runs so far */
    tsr_bags bags;     /* ids: of this run */
    const int64_t *id; /* SETS of IDS */
    char *table, *grad, *out, *scratch;
    int64_t *position, *winners;
} job;

static tsr_status run_job(void *arg)
{
    job *j = arg;

    j->bags.ids.data = j->id + (int64_t)(j->count++ % SETS) * IDS;
    j->run(j);
    return TSR_OK;
}

static size_t row_bytes(const job *j)
{
    return (size_t)j->dim * tsr_dtype_size(j->dtype);
}

/* ---- what is measured ---- */

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
        abort(); /* they were drawn below VOCAB */
}

static void run_lookup(const job *j)
{
    tsr__embedding_forward(&(tsr_lookup){
        .dtype = j->dtype, .dim = j->dim, .ids = j->bags.ids, .table = j->table, .out = j->out});
}

static tsr_bag_pool pool_of(const job *j)
{
    return (tsr_bag_pool){.dtype = j->dtype,
                          .dim = j->dim,
                          .bags = j->bags,
                          .table = j->table,
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
    return (tsr_table_grad){
        .dtype = j->dtype, .dim = j->dim, .n_rows = VOCAB, .grad_out = j->grad, .out = j->out};
}

static void run_sort(const job *j)
{
    tsr_scattered s;

    tsr__embedding_scatter(&j->bags.ids, j->scratch, &s);
}

static void run_row_sparse(const job *j)
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

static void run_bag_row_sparse(const job *j)
{
    const tsr_table_grad call = grad_of(j);
    tsr_scattered s;

    tsr__bag_scatter(&j->bags, j->dtype, NULL, NULL, j->scratch, &s);
    tsr__row_sparse_scatter(&s, &call);
}

static void run_max_row_sparse(const job *j)
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

/* Uniform, or by Zipf's law with the frequent ids all over the table. */
static void draw_ids(bool zipf, int64_t *id)
{
    uint64_t seed = 1;

    for (int64_t i = 0; i < SETS * IDS; i++) {
        double u;

        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u = (double)(seed >> 11) * 0x1p-53;
        id[i] = zipf ? (int64_t)(exp(u * log(VOCAB)) - 1) * 7919 % VOCAB : (int64_t)(u * VOCAB);
    }
}

/* One kernel in turns with the memory that it moves. */
static tsr_status time_kernel(bench *b, const job *given, const char *name, const char *ids,
                              void (*run)(const job *j), traffic *t)
{
    job j = *given;
    measure_work works[] = {{.run = run_job, .arg = &j}, {.run = traffic_run, .arg = t}};
    char text[CLI_TEXT];
    tsr_status st;

    j.run = run;
    snprintf(text, sizeof text, "%s, %d columns, %s ids", name, (int)j.dim, ids);
    st = measure_together(NULL, works, 2, 0.1);
    if (st == TSR_OK)
        bench_beside(bench_row(b, "{s:s, s:s, s:f}", "case", text, "dtype", tsr_dtype_name(j.dtype),
                               "seconds", works[0].seconds),
                     t->zero > 0   ? "reading, zeroing"
                     : t->copy > 0 ? "memcpy"
                                   : "reading",
                     works[1].seconds);
    return st;
}

static tsr_status bench_dim(bench *b, const job *j, const char *ids, traffic *t)
{
    const double row = (double)row_bytes(j), n = IDS, bags = (double)j->bags.n_bags;
    const double pool = n * row + bags * row;
    const struct {
        const char *name;
        void (*run)(const job *j);
        double read, copy, zero;
    } cases[] = {{"check of ids", run_check, n * 8, 0, 0},
                 {"naive loop", run_naive, 0, n * row, 0},
                 {"lookup", run_lookup, 0, n * row, 0},
                 {"bag_sum", run_bag_sum, pool, 0, 0},
                 {"bag_mean", run_bag_mean, pool, 0, 0},
                 {"bag_max", run_bag_max, pool + bags * (double)j->dim * 8, 0, 0},
                 {"sort", run_sort, 0, n * 8, 0},
                 {"backward, row-sparse", run_row_sparse, 0, n * row, 0},
                 {"backward, dense", run_dense, n * row, 0, VOCAB * row},
                 {"bag_sum backward, row-sparse", run_bag_row_sparse, 0, n * row, 0},
                 {"bag_max backward, row-sparse", run_max_row_sparse, 0, n * row, 0}};
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < sizeof cases / sizeof *cases && st == TSR_OK; i++) {
        t->read = cases[i].read;
        t->copy = cases[i].copy;
        t->zero = cases[i].zero;
        if (cases[i].run == run_max_row_sparse)
            tsr__bag_winners(&j->bags.ids, j->bags.n_bags * j->dim, j->position, TSR_I64,
                             j->winners);
        st = time_kernel(b, j, cases[i].name, ids, cases[i].run, t);
    }
    t->zero = 0;
    return st;
}

tsr_status bench_kernel_embedding(bench *b, traffic *t)
{
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16};
    const size_t most = (size_t)VOCAB * MOST_COLUMNS * sizeof(float);
    int64_t *id = traffic_memory(SETS * IDS * sizeof *id);
    job j = {.bags = {.ids = {TSR_I64, id, IDS, VOCAB, 0, VOCAB, -1},
                      .n_bags = IDS / LENGTH,
                      .length = LENGTH},
             .id = id,
             .table = traffic_memory(most),
             .out = traffic_memory(most),
             .grad = traffic_memory(IDS * MOST_COLUMNS * sizeof(float)),
             .scratch = traffic_memory(tsr__scatter_bytes(IDS / LENGTH * MOST_COLUMNS)),
             .position = traffic_memory(IDS / LENGTH * MOST_COLUMNS * 8),
             .winners = traffic_memory(IDS / LENGTH * MOST_COLUMNS * 8)};
    void *all[] = {id, j.table, j.out, j.grad, j.scratch, j.position, j.winners};
    tsr_status st = TSR_OK;

    for (int k = 0; k < 8 && st == TSR_OK; k++) {
        j.dtype = dtypes[k / 4];
        j.dim = k / 2 % 2 ? MOST_COLUMNS : 64;
        draw_ids(k % 2, id);
        st = bench_dim(b, &j, k % 2 ? "Zipf" : "uniform", t);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return st;
}
