/* SPDX-License-Identifier: Apache-2.0 */
/* test_piece.c - copy, pack, unpack and reduce of strided pieces against element by element loops
   kept here: random pieces of all kinds, then the shapes that have code of their own. */
#include "support/test.h"
#include "base/piece.h"
#include "support/numbers.h"

enum { ROOM = 1 << 18, MAX_SRC = 6 };

/* Offset of element i of the piece, in its order. */
static int64_t offset_of(const tsr_piece *piece, int64_t i)
{
    int64_t offset = piece->offset;

    for (int j = piece->n - 1; j >= 0; j--) {
        offset += i % piece->count[j] * piece->stride[j];
        i /= piece->count[j];
    }
    return offset;
}

static void naive_copy(size_t size, char *dst, const tsr_piece *to, const char *src,
                       const tsr_piece *from)
{
    for (int64_t i = 0; i < tsr__piece_count(to); i++)
        memcpy(dst + offset_of(to, i), src + offset_of(from, i), size);
}

static void naive_pack(size_t size, char *dst, const char *src, const tsr_piece *from,
                       int64_t begin, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(dst + (size_t)i * size, src + offset_of(from, begin + i), size);
}

static void naive_unpack(size_t size, char *dst, const tsr_piece *to, const char *src,
                         int64_t begin, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(dst + offset_of(to, begin + i), src + (size_t)i * size, size);
}

/* Strides for these counts so that no two elements share memory: the loops, in a random order from
   the inside out, each as long as all inside it, sometimes with a gap, sometimes backwards. */
static void random_strides(uint64_t *seed, size_t size, tsr_piece *piece)
{
    int order[TSR_PIECE_LOOPS];
    int64_t extent = (int64_t)size;
    bool shuffled = below(seed, 3) == 0;

    for (int i = 0; i < piece->n; i++)
        order[i] = piece->n - 1 - i;
    for (int i = piece->n - 1; shuffled && i > 0; i--) {
        int j = (int)below(seed, i + 1), other = order[i];

        order[i] = order[j];
        order[j] = other;
    }
    piece->offset = below(seed, 5) * (int64_t)size;
    for (int i = 0; i < piece->n; i++) {
        int loop = order[i];

        if (below(seed, 3) == 0)
            extent += below(seed, 4) * (int64_t)size;
        piece->stride[loop] = extent;
        extent *= piece->count[loop] ? piece->count[loop] : 1;
        if (below(seed, 12) == 0) {
            piece->offset += piece->stride[loop] * (piece->count[loop] - 1);
            piece->stride[loop] = -piece->stride[loop];
        }
    }
}

/* Counts with at most `most` elements; sometimes there are no loops, sometimes a count is 0. */
static void random_counts(uint64_t *seed, int64_t most, tsr_piece *piece)
{
    int64_t total = 1;

    piece->n = (int)below(seed, 7);
    for (int i = 0; i < piece->n; i++) {
        int64_t top = below(seed, 3) ? 6 : 80;

        piece->count[i] = 1 + below(seed, total * top > most ? most / total : top);
        total *= piece->count[i];
    }
    if (piece->n && below(seed, 40) == 0)
        piece->count[below(seed, piece->n)] = 0;
}

static void random_bytes(uint64_t *seed, char *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (char)next_random(seed);
}

typedef struct memory {
    char *src, *dst, *expected, *packed;
} memory;

static void memory_make(memory *m)
{
    uint64_t seed = 5;

    m->src = malloc(ROOM);
    m->dst = malloc(ROOM);
    m->expected = malloc(ROOM);
    m->packed = malloc(ROOM);
    random_bytes(&seed, m->src, ROOM);
}

static void memory_free(memory *m)
{
    free(m->src);
    free(m->dst);
    free(m->expected);
    free(m->packed);
}

/* Same bytes everywhere, between the elements as well. */
static void assert_equal(const memory *m, const char *what, uint64_t seed)
{
    if (memcmp(m->dst, m->expected, ROOM) != 0)
        fail_msg("%s differs for the piece made from seed %llu", what, (unsigned long long)seed);
}

static void check_copy(memory *m, size_t size, const tsr_piece *to, const tsr_piece *from,
                       uint64_t seed)
{
    memset(m->dst, 0x33, ROOM);
    memset(m->expected, 0x33, ROOM);
    tsr__piece_copy(size, m->dst, to, m->src, from);
    naive_copy(size, m->expected, to, m->src, from);
    assert_equal(m, "copy", seed);
}

/* In chunks of `chunk` elements, as messages are. */
static void check_pack(memory *m, size_t size, const tsr_piece *piece, int64_t chunk, uint64_t seed)
{
    int64_t total = tsr__piece_count(piece), n;

    memset(m->dst, 0x44, ROOM);
    memset(m->expected, 0x44, ROOM);
    for (int64_t i = 0; i < total; i += n) {
        n = total - i < chunk ? total - i : chunk;
        tsr__piece_pack(size, m->dst + (size_t)i * size, m->src, piece, i, n);
        naive_pack(size, m->expected + (size_t)i * size, m->src, piece, i, n);
    }
    tsr__piece_pack(size, m->dst, m->src, piece, 0, 0);
    assert_equal(m, "pack", seed);

    memset(m->dst, 0x55, ROOM);
    memset(m->expected, 0x55, ROOM);
    for (int64_t i = 0; i < total; i += n) {
        n = total - i < chunk ? total - i : chunk;
        tsr__piece_unpack(size, m->dst, piece, m->src + (size_t)i * size, i, n);
        naive_unpack(size, m->expected, piece, m->src + (size_t)i * size, i, n);
    }
    assert_equal(m, "unpack", seed);
}

static void random_copies(void **state)
{
    memory m;

    (void)state;
    memory_make(&m);
    for (uint64_t i = 0; i < 4000; i++) {
        uint64_t seed = i;
        size_t size = (size_t)1 << below(&seed, 4);
        tsr_piece to = {0}, from;

        random_counts(&seed, 2000, &to);
        from = to;
        random_strides(&seed, size, &to);
        random_strides(&seed, size, &from);
        if (below(&seed, 20) == 0 && from.n) /* one element for all */
            from.stride[below(&seed, from.n)] = 0;
        check_copy(&m, size, &to, &from, i);
    }
    memory_free(&m);
}

static void random_packs(void **state)
{
    memory m;

    (void)state;
    memory_make(&m);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t seed = i + 1000000;
        size_t size = (size_t)1 << below(&seed, 4);
        tsr_piece piece = {0};

        random_counts(&seed, 2000, &piece);
        random_strides(&seed, size, &piece);
        check_pack(&m, size, &piece, 1 + below(&seed, below(&seed, 2) ? 2000 : 50), i);
    }
    memory_free(&m);
}

/* Two loops with all small counts and runs of all lengths: whole blocks, edges, odd rows. */
static void rows_and_transposes(void **state)
{
    memory m;

    (void)state;
    memory_make(&m);
    for (int log_size = 0; log_size < 4; log_size++)
        for (int64_t a = 1; a <= 136; a = a < 18 ? a + 1 : a + 59)
            for (int64_t b = 1; b <= 136; b = b < 70 ? b + 1 : b + 66) {
                int64_t size = 1 << log_size;
                tsr_piece plain = {.n = 2, .count = {a, b}, .stride = {b * size, size}};
                tsr_piece gaps = {.n = 2, .count = {a, b}, .stride = {(b + 3) * size, size}};
                tsr_piece across = {
                    .n = 2, .count = {a, b}, .stride = {size, a * size}, .offset = size};

                check_copy(&m, (size_t)size, &plain, &gaps, 0);
                check_copy(&m, (size_t)size, &gaps, &plain, 0);
                check_copy(&m, (size_t)size, &across, &plain, 0);
                check_copy(&m, (size_t)size, &gaps, &across, 0);
            }
    memory_free(&m);
}

/* Large enough for streamed stores: aligned and odd rows, both sides. */
static void large_copies(void **state)
{
    static const int64_t rows[][3] = {/* bytes of a row, stride to, stride from */
                                      {8192, 8192, 16384},
                                      {1000, 1004, 1000},
                                      {4100, 4100, 4104},
                                      {9 << 20, 9 << 20, 9 << 20}};
    enum { LARGE = 40 << 20, TOTAL = 9 << 20 };
    char *src = malloc(LARGE), *dst = calloc(1, LARGE);
    uint64_t seed = 3;

    (void)state;
    for (int64_t i = 0; i < LARGE; i += 8) {
        uint64_t x = next_random(&seed);

        memcpy(src + i, &x, 8);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int64_t row = rows[k][0], n = TOTAL / row;
        tsr_piece to = {.n = 2, .count = {n, row / 4}, .stride = {rows[k][1], 4}, .offset = 4};
        tsr_piece from = {.n = 2, .count = {n, row / 4}, .stride = {rows[k][2], 4}, .offset = 12};

        memset(dst, 0x77, LARGE);
        tsr__piece_copy(4, dst, &to, src, &from);
        for (int64_t i = 0; i < n; i++) {
            char *d = dst + 4 + i * rows[k][1];

            assert_memory_equal(d, src + 12 + i * rows[k][2], (size_t)row);
            if (rows[k][1] > row)
                assert_int_equal(d[row], 0x77);
        }
        assert_int_equal(dst[3], 0x77);
        assert_int_equal(dst[4 + n * rows[k][1]], 0x77);
    }
    free(src);
    free(dst);
}

/* Transposed and large enough for streamed stores; at a line of the cache and beside it. */
static void large_transposes(void **state)
{
    enum { A = 192, BYTES = 9 << 20 };
    char *src = malloc(BYTES), *dst = aligned_alloc(64, BYTES + 64);

    (void)state;
    for (int64_t i = 0; i < BYTES; i++)
        src[i] = (char)(i * 2654435761u >> 13);
    for (int64_t size = 1; size <= 8; size *= 2)
        for (int64_t shift = 0; shift <= size; shift += size) {
            const int64_t b = BYTES / size / A;
            tsr_piece to = {.n = 2, .count = {b, A}, .stride = {A * size, size}, .offset = shift};
            tsr_piece from = {.n = 2, .count = {b, A}, .stride = {size, b * size}};

            memset(dst, 0x66, BYTES + 64);
            tsr__piece_copy((size_t)size, dst, &to, src, &from);
            for (int64_t i = 0; i < b; i++)
                for (int64_t j = 0; j < A; j++)
                    if (memcmp(dst + shift + (i * A + j) * size, src + (i + j * b) * size,
                               (size_t)size) != 0)
                        fail_msg("element %lld, %lld differs", (long long)i, (long long)j);
            assert_int_equal(dst[shift + BYTES], 0x66);
        }
    free(src);
    free(dst);
}

static void counts_and_contiguity(void **state)
{
    tsr_piece none = {0};
    tsr_piece empty = {.n = 2, .count = {3, 0}, .stride = {100, 4}};
    tsr_piece dense = {.n = 3, .count = {2, 1, 5}, .stride = {20, 999, 4}};
    tsr_piece gap = {.n = 2, .count = {2, 5}, .stride = {24, 4}};
    tsr_piece across = {.n = 2, .count = {2, 5}, .stride = {4, 8}};
    char dst[8] = "abcdefg";

    (void)state;
    assert_int_equal(tsr__piece_count(&none), 1);
    assert_int_equal(tsr__piece_count(&empty), 0);
    assert_int_equal(tsr__piece_count(&dense), 10);
    assert_true(tsr__piece_contiguous(4, &none));
    assert_true(tsr__piece_contiguous(4, &empty));
    assert_true(tsr__piece_contiguous(4, &dense));
    assert_false(tsr__piece_contiguous(8, &dense));
    assert_false(tsr__piece_contiguous(4, &gap));
    assert_false(tsr__piece_contiguous(4, &across));

    none.offset = 2;
    tsr__piece_copy(2, dst, &none, "012345", &none);
    assert_string_equal(dst, "ab23efg");
    tsr__piece_copy(4, NULL, &empty, NULL, &empty);
    tsr__piece_pack(4, NULL, NULL, &empty, 0, 0);
    tsr__piece_unpack(4, NULL, &empty, NULL, 0, 0);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

typedef struct sources {
    char *raw[MAX_SRC];
    const void *src[MAX_SRC];
    tsr_piece piece[MAX_SRC];
    const tsr_piece *from[MAX_SRC];
} sources;

static void sources_make(sources *s)
{
    for (int k = 0; k < MAX_SRC; k++) {
        s->raw[k] = malloc(ROOM);
        s->src[k] = s->raw[k];
        s->from[k] = &s->piece[k];
    }
}

static void sources_fill(sources *s, tsr_dtype dtype, uint64_t seed)
{
    for (int k = 0; k < MAX_SRC; k++)
        for (int64_t i = 0; i < ROOM / (int64_t)tsr_dtype_size(dtype); i++)
            tsr__put(dtype, s->raw[k], i, (double)below(&seed, dtype == TSR_BOOL ? 2 : 100));
}

static void check_reduce(memory *m, sources *s, tsr_dtype dtype, tsr_reduce op, int64_t divisor,
                         int n_src, const tsr_piece *to, uint64_t seed)
{
    memset(m->dst, 0x11, ROOM);
    memset(m->expected, 0x11, ROOM);
    tsr__piece_reduce(dtype, op, divisor, n_src, m->dst, to, s->src, s->from);
    for (int64_t i = 0; i < tsr__piece_count(to); i++) {
        const void *at[MAX_SRC];

        for (int k = 0; k < n_src; k++)
            at[k] = s->raw[k] + offset_of(s->from[k], i);
        tsr__reduce_ref(dtype, op, divisor, n_src, at, 1, m->expected + offset_of(to, i));
    }
    assert_equal(m, "reduce", seed);
}

static void random_reductions(void **state)
{
    static const tsr_reduce ops[] = {TSR_SUM, TSR_MIN, TSR_MAX, TSR_PROD};
    memory m;
    sources s;

    (void)state;
    memory_make(&m);
    sources_make(&s);
    for (int dtype = 0; dtype < TSR__DTYPES; dtype++) {
        sources_fill(&s, (tsr_dtype)dtype, (uint64_t)dtype);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t seed = i + 100000 * (uint64_t)dtype;
            tsr_reduce op = ops[below(&seed, 4)];
            int64_t divisor = op == TSR_SUM && below(&seed, 2) ? 3 : 1;
            int n_src = 1 + (int)below(&seed, MAX_SRC);
            bool alike = below(&seed, 2);
            tsr_piece to = {0};

            random_counts(&seed, 4000, &to);
            for (int k = 0; k < n_src; k++) {
                s.piece[k] = to;
                random_strides(&seed, tsr_dtype_size((tsr_dtype)dtype), &s.piece[k]);
                if (alike && k)
                    s.piece[k] = s.piece[0];
            }
            random_strides(&seed, tsr_dtype_size((tsr_dtype)dtype), &to);
            check_reduce(&m, &s, (tsr_dtype)dtype, op, divisor, n_src, &to, i);
        }
    }
    for (int k = 0; k < MAX_SRC; k++)
        free(s.raw[k]);
    memory_free(&m);
}

static void reduce_of_nothing(void **state)
{
    tsr_piece empty = {.n = 1, .count = {0}, .stride = {4}};
    const tsr_piece *from[] = {&empty};
    const void *src[] = {NULL};

    (void)state;
    tsr__piece_reduce(TSR_F32, TSR_SUM, 1, 1, NULL, &empty, src, from);
}

/* More sources than are reduced at once. */
static void reduce_of_many(void **state)
{
    enum { MANY = 70, N = 600 };
    static const tsr_dtype dtypes[] = {TSR_F32, TSR_BF16, TSR_I64};
    char data[N * 8], fast[N * 8], ref[N * 8];
    const tsr_piece *from[MANY];
    const void *src[MANY];

    (void)state;
    for (int d = 0; d < 3; d++) {
        tsr_piece plain = {.n = 1, .count = {N}, .stride = {(int64_t)tsr_dtype_size(dtypes[d])}};

        for (int i = 0; i < N; i++)
            tsr__put(dtypes[d], data, i, i % 101);
        for (int k = 0; k < MANY; k++) {
            from[k] = &plain;
            src[k] = data;
        }
        tsr__piece_reduce(dtypes[d], TSR_SUM, 1, MANY, fast, &plain, src, from);
        tsr__reduce_ref(dtypes[d], TSR_SUM, 1, MANY, src, N, ref);
        assert_memory_equal(fast, ref, N * tsr_dtype_size(dtypes[d]));
    }
}

/* A mean is there even if the sum of its terms is beyond all numbers: in rows, and gathered. */
static void means_of_large_numbers(void **state)
{
    enum { N = 600 };
    static const double most[] = {65504, 0x1.fffffep127, 0x1.fffffffffffffp1023};
    static const tsr_dtype dtypes[] = {TSR_F16, TSR_F32, TSR_F64};
    char data[2 * N * 8], mean[2 * N * 8];

    (void)state;
    for (int t = 0; t < 6; t++) {
        const int apart = 1 + t % 2;
        const tsr_dtype dtype = dtypes[t / 2];
        tsr_piece piece = {
            .n = 1, .count = {N}, .stride = {apart * (int64_t)tsr_dtype_size(dtype)}};
        const tsr_piece *from[] = {&piece, &piece, &piece};
        const void *src[] = {data, data, data};

        for (int i = 0; i < 2 * N; i++)
            tsr__put(dtype, data, i, i % 3 ? i % 100 : most[t / 2]);
        tsr__piece_reduce(dtype, TSR_SUM, 3, 3, mean, &piece, src, from);
        for (int i = 0; i < N; i++)
            assert_true(tsr__get(dtype, mean, i * apart) == tsr__get(dtype, data, i * apart));
    }
}

static void large_reductions(void **state)
{
    enum { N = 5 << 20, ROWS = 640, ROW = N / ROWS };
    float *a = malloc(2 * N * sizeof *a), *b = malloc(N * sizeof *b),
          *y = malloc((N + 1) * sizeof *y);
    tsr_piece halves = {.n = 2, .count = {ROWS, ROW}, .stride = {2 * ROW * 4, 4}};
    tsr_piece plain = {.n = 1, .count = {N}, .stride = {4}};
    tsr_piece rows = {.n = 2, .count = {ROWS, ROW}, .stride = {ROW * 4, 4}};
    tsr_piece shifted = {.n = 2, .count = {ROWS, ROW}, .stride = {ROW * 4, 4}, .offset = 4};
    const tsr_piece *from[] = {&halves, &rows};
    const void *src[] = {a, b};

    (void)state;
    for (int i = 0; i < 2 * N; i++)
        a[i] = (float)(i % 1009);
    for (int i = 0; i < N; i++)
        b[i] = (float)(i % 997);
    tsr__piece_reduce(TSR_F32, TSR_SUM, 1, 2, y, &shifted, src, from);
    for (int i = 0; i < N; i++)
        assert_true(y[1 + i] == a[i / ROW * 2 * ROW + i % ROW] + b[i]);
    from[0] = from[1] = &plain;
    tsr__piece_reduce(TSR_F32, TSR_MAX, 1, 2, y, &plain, src, from);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == (a[i] > b[i] ? a[i] : b[i]));
    free(a);
    free(b);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_contiguity),  cmocka_unit_test(random_copies),
        cmocka_unit_test(random_packs),           cmocka_unit_test(rows_and_transposes),
        cmocka_unit_test(large_copies),           cmocka_unit_test(random_reductions),
        cmocka_unit_test(large_transposes),       cmocka_unit_test(reduce_of_many),
        cmocka_unit_test(reduce_of_nothing),      cmocka_unit_test(large_reductions),
        cmocka_unit_test(means_of_large_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
