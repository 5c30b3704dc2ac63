/* SPDX-License-Identifier: Apache-2.0 */
/* bench_embedding.c - lookups, bags and their gradients in a table of a million rows. On one rank
   beside a loop that anyone would write first and memcpy of as many bytes, in turns with them; on
   thread ranks beside the time on one, with the bytes that a rank gets. The naive loops are
   naive_lookups.c, the kernels alone bench_kernel_embedding.c. */
#include "bench.h"
#include "naive_lookups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_ops.h>

/* ROWS on one rank, MANY_ROWS on several: the sizes of which peers have times. */
enum { ROWS = 1000000, MANY_ROWS = 1 << 20, IDS = 65536, BAGS = 3276, LENGTH = 20, SETS = 8 };

/* And what they are called in a peer's file, whose gradients are dense ones. */
static const struct {
    const char *name;
    naive_kind kind;
    const char *peer;
} cases[] = {
    {"lookup", NAIVE_LOOKUP, "embedding_fw"},
    {"its gradient, dense", NAIVE_LOOKUP_DENSE, "embedding_dense_backward"},
    {"its gradient, row-sparse", NAIVE_LOOKUP_SPARSE, NULL},
    {"bag sum", NAIVE_SUM, "embedding_bag_sum_fw"},
    {"bag mean", NAIVE_MEAN, "embedding_bag_mean_fw"},
    {"bag max", NAIVE_MAX, "embedding_bag_max_fw"},
    {"gradient of bag sum, dense", NAIVE_SUM_DENSE, "embedding_bag_sum_bw_dense"},
    {"gradient of bag mean, dense", NAIVE_MEAN_DENSE, "embedding_bag_mean_bw_dense"},
    {"gradient of bag max, dense", NAIVE_MAX_DENSE, "embedding_bag_max_bw_dense"},
    {"gradient of bag sum, row-sparse", NAIVE_SUM_SPARSE, NULL},
    {"gradient of bag mean, row-sparse", NAIVE_MEAN_SPARSE, NULL},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* On several ranks: where things are, and where the result shall be. */
static const struct {
    const char *name, *table, *ids, *out;
    naive_kind kind;
    const char *peer;
} ways[] = {
    {"by rows, ids by batch", "[S(0)]", "[S(0)]", NULL, NAIVE_LOOKUP, NULL},
    {"by rows, ids by batch -> R", "[S(0)]", "[S(0)]", "[R]", NAIVE_LOOKUP, NULL},
    {"gradient by rows, dense", "[S(0)]", "[S(0)]", "[S(0)]", NAIVE_LOOKUP_DENSE, NULL},
    {"gradient by rows, row-sparse", "[S(0)]", "[S(0)]", NULL, NAIVE_LOOKUP_SPARSE, NULL},
    {"by rows, ids everywhere", "[S(0)]", "[R]", NULL, NAIVE_LOOKUP, NULL},
    {"by rows, ids everywhere -> R", "[S(0)]", "[R]", "[R]", NAIVE_LOOKUP, "rowwise fw->R"},
    {"by rows, ids everywhere -> S(0)", "[S(0)]", "[R]", "[S(0)]", NAIVE_LOOKUP, NULL},
    {"gradient everywhere, dense", "[S(0)]", "[R]", "[S(0)]", NAIVE_LOOKUP_DENSE,
     "rowwise bw + grad to weight placement"},
    {"gradient everywhere, row-sparse", "[S(0)]", "[R]", NULL, NAIVE_LOOKUP_SPARSE, NULL},
    {"by columns", "[S(1)]", "[R]", NULL, NAIVE_LOOKUP, "colwise fw (no reduction)"},
    {"by columns -> R", "[S(1)]", "[R]", "[R]", NAIVE_LOOKUP, "colwise fw->R"},
    {"by columns -> S(0)", "[S(1)]", "[R]", "[S(0)]", NAIVE_LOOKUP, NULL},
    {"gradient by columns, row-sparse", "[S(1)]", "[R]", NULL, NAIVE_LOOKUP_SPARSE, NULL},
    {"by batch", "[R]", "[S(0)]", NULL, NAIVE_LOOKUP, "batch fw (no reduction)"},
    {"by batch -> R", "[R]", "[S(0)]", "[R]", NAIVE_LOOKUP, "batch fw->R"},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

typedef struct size {
    int64_t rows, columns;
    tsr_dtype dtype;
} size;

/* What one rank works on. Ids change from turn to turn: those of the last one are in the cache. */
typedef struct subject {
    tsr_mesh *mesh;
    size size;
    tsr_tensor *table, *ids[SETS], *bags[SETS], *grad, *bag_grad, *index;
    naive_job naive;
} subject;

typedef struct turn {
    subject *s;
    naive_kind kind;
    const char *out;
    int64_t count;
} turn;

typedef struct embedding_run {
    bench *b;
    size size;
    double alone[N_WAYS]; /* times on one rank, which others are compared with */
} embedding_run;

/* ---- the calls ---- */

static tsr_tensor *touch(const subject *s, naive_kind kind, tsr_tensor *ids, tsr_tensor *bags)
{
    tsr_row_sparse t;
    tsr_status st = TSR_OK;

    if (kind == NAIVE_LOOKUP_SPARSE)
        st = tsr_embedding_backward_sparse(s->grad, ids, s->table, NULL, &t);
    else if (kind == NAIVE_SUM_SPARSE)
        st = tsr_bag_sum_backward_sparse(s->bag_grad, bags, NULL, NULL, s->table, NULL, &t);
    else
        st = tsr_bag_mean_backward_sparse(s->bag_grad, bags, NULL, s->table, NULL, &t);
    if (st == TSR_OK)
        tsr_row_sparse_free(&t);
    return NULL;
}

static tsr_tensor *call(const subject *s, naive_kind kind, int64_t count)
{
    tsr_tensor *ids = s->ids[count % SETS], *bags = s->bags[count % SETS];
    int64_t rows = s->size.rows;

    switch (kind) {
    case NAIVE_LOOKUP: return tsr_embedding(s->table, ids, NULL);
    case NAIVE_LOOKUP_DENSE: return tsr_embedding_backward(s->grad, ids, rows, NULL);
    case NAIVE_SUM: return tsr_bag_sum(s->table, bags, NULL, NULL, NULL);
    case NAIVE_MEAN: return tsr_bag_mean(s->table, bags, NULL, NULL);
    case NAIVE_MAX: return tsr_bag_max(s->table, bags, NULL, NULL, NULL);
    case NAIVE_SUM_DENSE: return tsr_bag_sum_backward(s->bag_grad, bags, NULL, NULL, rows, NULL);
    case NAIVE_MEAN_DENSE: return tsr_bag_mean_backward(s->bag_grad, bags, NULL, rows, NULL);
    case NAIVE_MAX_DENSE: return tsr_bag_max_backward(s->bag_grad, s->index, rows);
    default: return touch(s, kind, ids, bags);
    }
}

static tsr_status run_ours(void *arg)
{
    turn *t = arg;
    tsr_tensor *y;

    tsr_scope_push(t->s->mesh);
    y = call(t->s, t->kind, t->count++);
    if (y && t->out)
        tsr_redistribute(y, t->out);
    tsr_scope_pop(t->s->mesh);
    return tsr_mesh_status(t->s->mesh);
}

static tsr_status run_copy(void *arg)
{
    turn *t = arg;

    memcpy(t->s->naive.to, t->s->naive.from, naive_bytes(&t->s->naive, t->kind));
    return TSR_OK;
}

static tsr_status run_naive(void *arg)
{
    turn *t = arg;
    tsr_local ids;
    bool bags = t->kind >= NAIVE_SUM;
    tsr_status st = tsr_local_view((bags ? t->s->bags : t->s->ids)[t->count++ % SETS], &ids);

    if (st == TSR_OK) {
        t->s->naive.ids = ids.data;
        naive_run(&t->s->naive, t->kind);
    }
    return st;
}

/* ---- preparing ---- */

static const char *spec_text(char buf[TSR_TEXT_LEN], tsr_dtype dtype, int64_t rows, int64_t columns,
                             const char *place)
{
    snprintf(buf, TSR_TEXT_LEN, "%s[%" PRId64 ",%" PRId64 "]@%s", tsr_dtype_name(dtype), rows,
             columns, place);
    return buf;
}

static tsr_status make_ids(subject *s, const char *place)
{
    int64_t *ids = malloc(IDS * sizeof *ids);
    uint64_t x = 88172645463325252u;
    char text[TSR_TEXT_LEN];

    for (int i = 0; i < SETS && ids; i++) {
        for (int64_t k = 0; k < IDS; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            ids[k] = (int64_t)(x % (uint64_t)s->size.rows);
        }
        snprintf(text, sizeof text, "i64[%d]@%s", IDS, place);
        s->ids[i] = tsr_from_host(s->mesh, text, ids, IDS * sizeof *ids);
        s->bags[i] = tsr_from_host(s->mesh, spec_text(text, TSR_I64, BAGS, LENGTH, place), ids,
                                   (size_t)BAGS * LENGTH * sizeof *ids);
    }
    free(ids);
    return ids ? tsr_mesh_status(s->mesh) : TSR_ERR_MEMORY;
}

/* Numbers from 0.5 to 1: of equal ones the largest is found too easily. */
static void fill_table(tsr_tensor *table, tsr_dtype dtype)
{
    uint32_t x = 2463534242u;
    tsr_local part;
    int64_t n;

    if (tsr_local_view(table, &part) != TSR_OK)
        return;
    n = tsr_shape_count(&part.shape);
    for (int64_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        if (dtype == TSR_F32)
            ((uint32_t *)part.data)[i] = 0x3f000000u | x >> 9;
        else
            ((uint16_t *)part.data)[i] = (uint16_t)(0x3f00u | x >> 25);
    }
}

/* A table, ids, and gradients where the ids are; of a table by columns, by columns too. */
static tsr_status prepare(subject *s, const char *table, const char *place)
{
    const char *grad = strcmp(table, "[S(1)]") == 0 ? table : place;
    char text[TSR_TEXT_LEN];
    const size *z = &s->size;

    s->table = tsr_zeros(s->mesh, spec_text(text, z->dtype, z->rows, z->columns, table));
    fill_table(s->table, z->dtype);
    s->grad = tsr_full(s->mesh, spec_text(text, z->dtype, IDS, z->columns, grad), 0.5);
    s->bag_grad = tsr_full(s->mesh, spec_text(text, z->dtype, BAGS, z->columns, grad), 0.5);
    return make_ids(s, place);
}

/* What the naive loops and memcpy work on. */
static tsr_status prepare_naive(subject *s)
{
    tsr_local table, grad, bag_grad, to, index;
    char text[TSR_TEXT_LEN];
    const size *z = &s->size;
    int64_t most = z->rows > IDS ? z->rows : IDS;
    tsr_status st;

    tsr_bag_max(s->table, s->bags[0], NULL, NULL, &s->index);
    st = tsr_local_view(s->table, &table);
    if (st == TSR_OK)
        st = tsr_local_view(s->grad, &grad);
    if (st == TSR_OK)
        st = tsr_local_view(s->bag_grad, &bag_grad);
    if (st == TSR_OK)
        st = tsr_local_view(s->index, &index);
    if (st == TSR_OK)
        st = tsr_local_view(tsr_zeros(s->mesh, spec_text(text, z->dtype, most, z->columns, "[R]")),
                            &to);
    if (st == TSR_OK)
        s->naive = (naive_job){.rows = z->rows,
                               .columns = z->columns,
                               .n = IDS,
                               .bags = BAGS,
                               .length = LENGTH,
                               .row_bytes = (size_t)z->columns * tsr_dtype_size(z->dtype),
                               .floats = z->dtype == TSR_F32,
                               .table = table.data,
                               .from = z->rows > IDS ? table.data : grad.data,
                               .grad = grad.data,
                               .bag_grad = bag_grad.data,
                               .index = index.data,
                               .to = to.data};
    return st;
}

/* ---- rows ---- */

static json_t *add_row(bench *b, int ranks, const size *z, const char *name, double seconds)
{
    return bench_row(b, "{s:i, s:I, s:I, s:s, s:s, s:f}", "ranks", ranks, "rows",
                     (json_int_t)z->rows, "columns", (json_int_t)z->columns, "dtype",
                     tsr_dtype_name(z->dtype), "case", name, "seconds", seconds);
}

static tsr_status bench_alone(bench *b, subject *s, int c)
{
    turn ours = {.s = s, .kind = cases[c].kind}, naive = ours;
    measure_work works[3] = {{.run = run_ours, .arg = &ours},
                             {.run = run_copy, .arg = &ours},
                             {.run = run_naive, .arg = &naive}};
    int n = naive_exists(&s->naive, cases[c].kind) ? 3 : 2;
    tsr_status st = measure_together(s->mesh, works, n, 0.1);
    json_t *row;

    if (st != TSR_OK)
        return st;
    row = add_row(b, 1, &s->size, cases[c].name, works[0].seconds);
    bench_beside(row, "memcpy", works[1].seconds);
    if (n == 3)
        json_object_set_new(row, "naive_seconds", json_real(works[2].seconds));
    if (cases[c].peer && s->size.rows == ROWS)
        bench_peer(b, row, "seconds", "*/%s %s D%" PRId64 "%s/median", cases[c].peer,
                   s->size.dtype == TSR_F32 ? "float32" : "bfloat16", s->size.columns,
                   cases[c].kind >= NAIVE_SUM ? " bags*" : "");
    return st;
}

static tsr_status alone(tsr_mesh *mesh, void *arg)
{
    static const tsr_dtype dtypes[] = {TSR_BF16, TSR_F32};
    embedding_run *e = arg;
    tsr_status st = TSR_OK;

    for (int d = 0; d < 2 && st == TSR_OK; d++) {
        subject s = {.mesh = mesh, .size = e->size};

        s.size.dtype = dtypes[d];
        tsr_scope_push(mesh);
        st = prepare(&s, "[R]", "[R]");
        if (st == TSR_OK)
            st = prepare_naive(&s);
        for (int c = 0; c < N_CASES && st == TSR_OK; c++)
            st = bench_alone(e->b, &s, c);
        tsr_scope_pop(mesh);
        tsr_memory_trim(mesh);
    }
    return st;
}

/* The bytes of one call, on the rank that gets most. */
static tsr_status count_bytes(const subject *s, turn *t, int64_t *bytes)
{
    tsr_status st;

    tsr_counters_reset(s->mesh);
    st = run_ours(t);
    *bytes = tsr_counters_get(s->mesh).bytes_in;
    return st == TSR_OK ? bench_most(s->mesh, bytes) : st;
}

static tsr_status bench_way(embedding_run *e, subject *s, int w)
{
    turn ours = {.s = s, .kind = ways[w].kind, .out = ways[w].out};
    measure_work work = {.run = run_ours, .arg = &ours};
    int ranks = tsr_mesh_size(s->mesh);
    int64_t bytes = 0;
    tsr_status st = measure_together(s->mesh, &work, 1, 0.1);
    json_t *row;

    if (st == TSR_OK)
        st = count_bytes(s, &ours, &bytes);
    if (st != TSR_OK || tsr_mesh_rank(s->mesh) != 0)
        return st;
    if (ranks == 1) {
        e->alone[w] = work.seconds;
        return st;
    }
    row = add_row(e->b, ranks, &s->size, ways[w].name, work.seconds);
    bench_beside(row, "1 rank", e->alone[w]);
    json_object_set_new(row, "bytes_in", json_integer(bytes));
    if (ways[w].peer)
        bench_peer(e->b, row, "seconds", "*gloo_%d/emb V=%" PRId64 " %s/median", ranks,
                   s->size.rows, ways[w].peer);
    return st;
}

/* Ways whose table and ids are alike share them. */
static tsr_status together(tsr_mesh *mesh, void *arg)
{
    embedding_run *e = arg;
    tsr_status st = TSR_OK;

    for (int w = 0, next; w < N_WAYS && st == TSR_OK; w = next) {
        subject s = {.mesh = mesh, .size = e->size};

        tsr_scope_push(mesh);
        st = prepare(&s, ways[w].table, ways[w].ids);
        for (next = w; next < N_WAYS && st == TSR_OK && ways[next].table == ways[w].table &&
                       ways[next].ids == ways[w].ids;
             next++)
            st = bench_way(e, &s, next);
        tsr_scope_pop(mesh);
    }
    return st;
}

/* ---- all of it ---- */

static int run_size(embedding_run *e)
{
    int status;

    cli_progress("embedding, %d columns on one rank", (int)e->size.columns);
    status = bench_on_ranks(TSR_WORLD_THREAD, 1, alone, e);
    if (e->size.columns != 64)
        return status;
    if (e->size.rows == ROWS)
        e->size.rows = MANY_ROWS;
    for (int i = -1; i < e->b->n_ranks && status == CLI_OK; i++) {
        int ranks = i < 0 ? 1 : e->b->ranks[i];

        cli_progress("embedding on %d ranks", ranks);
        status = bench_on_ranks(TSR_WORLD_THREAD, ranks, together, e);
    }
    return status;
}

static int run_all(bench *b)
{
    int status = CLI_OK;

    for (int i = 0; i < (b->n_sizes ? b->n_sizes : 2) && status == CLI_OK; i++) {
        embedding_run e = {.b = b, .size = {ROWS, i ? 128 : 64, TSR_F32}};

        if (b->n_sizes) {
            int64_t columns = b->size[i] / (4 * ROWS) / 64 * 64;

            e.size.columns = columns < 64 ? 64 : columns;
            e.size.rows = b->size[i] / (4 * e.size.columns);
            e.size.rows = e.size.rows < 1 ? 1 : e.size.rows > ROWS ? ROWS : e.size.rows;
        }
        status = run_size(&e);
    }
    return status;
}

const benchmark bench_embedding = {
    .name = "embedding",
    .synopsis = "[--size LIST] [--ranks LIST]",
    .help = "lookups, bags and their gradients, on one rank and on several",
    .takes = BENCH_SIZES | BENCH_RANKS,
    .sizes = "bytes of the f32 table, a million rows of 64 and 128 columns when not given",
    .run = run_all,
    .columns = {{"ranks", "ranks", COUNT},
                {"columns", "columns", COUNT},
                {"dtype", "dtype", TEXT},
                {"what", "case", TEXT},
                {"time", "seconds", SECONDS},
                BENCH_YARDSTICK_COLUMNS,
                {"naive", "naive_seconds", SECONDS},
                {"received", "bytes_in", BYTES},
                BENCH_PEER_COLUMNS},
    .note = "65,536 uniform ids, or 3,276 bags of 20; other ids every time. Tables of 1,000,000\n"
            "rows, of 1,048,576 on several ranks, or --size bytes. memcpy: of as many bytes as\n"
            "are read or written at least; naive: the loop that one would write first. received:\n"
            "by the rank that gets most. -> R, -> S(0): the output is brought there. peer: with\n"
            "dense gradients."};
