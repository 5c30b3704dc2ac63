/* SPDX-License-Identifier: Apache-2.0 */
/* gather_rows.c - rows by ids, copied. Rows stand anywhere in a table, so the work is to have
   enough of them on their way from memory. Called by the ops of embedding and indexing. */
#include "kernel/gather_rows.h"

#include "base/stream.h"

#include <string.h>
#ifdef TSR__X86
#include <immintrin.h>
#endif

enum {
    BLOCK = 512, /* ids that are turned into rows at a time */
    LINE = 64    /* of the cache */
};

#ifdef TSR__X86
TSR__INLINE void stream_line(char *to, const char *from)
{
    for (int k = 0; k < LINE; k += 16)
        _mm_stream_si128((void *)(to + k),
                         from ? _mm_loadu_si128((const void *)(from + k)) : _mm_setzero_si128());
}

TSR__AVX2 static inline void stream_line_avx2(char *to, const char *from)
{
    __m256i a = _mm256_setzero_si256(), b = a;

    if (from) {
        a = _mm256_loadu_si256((const void *)from);
        b = _mm256_loadu_si256((const void *)(from + 32));
    }
    _mm256_stream_si256((void *)to, a);
    _mm256_stream_si256((void *)(to + 32), b);
}
#else
TSR__INLINE void stream_line(char *to, const char *from)
{
    if (from)
        memcpy(to, from, LINE);
    else
        memset(to, 0, LINE);
}
#endif

typedef struct bodies {
    void (*gather)(const char *table, size_t bytes, const int64_t *rows, int64_t n, int64_t n_ahead,
                   bool stream, char *out);
} bodies;

#define TABLE gather_kernels
#define BODY "kernel/gather_rows.inc.h"
#define TYPES "base/untyped.inc.h"
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* Wider vectors than those of avx2 do not copy faster. */
void tsr__rows_copy(tsr_kernel_variant variant, const void *x, size_t bytes, const int64_t *row,
                    int64_t n, int64_t n_ahead, size_t total, void *out)
{
    /* of any dtype: bytes */
    const bodies *b =
        tsr__kernel_for(&gather_kernels, TSR__UNTYPED,
                        tsr__variant_best(TSR_CATEGORY_EMBEDDING, TSR_EMBEDDING, TSR_F32, variant));
    const uintptr_t place = (uintptr_t)out;
    const bool stream =
        (bytes | place) % LINE == 0 && tsr__stream_pays(total, bytes, place | (uintptr_t)bytes);

    b->gather(x, bytes, row, n, n_ahead, stream, out);
}

void tsr__embedding_forward(const tsr_lookup *call)
{
    const size_t bytes = (size_t)call->dim * tsr_dtype_size(call->dtype);
    int64_t rows[BLOCK + TSR__ROWS_AHEAD];
    tsr_ids ids = call->ids;

    if (call->padding_keep)
        ids.padding = -1;
    for (int64_t i = 0; bytes && i < ids.n; i += BLOCK) {
        const int64_t left = ids.n - i;
        const int64_t n_ahead = left < BLOCK + TSR__ROWS_AHEAD ? left : BLOCK + TSR__ROWS_AHEAD;

        tsr__ids_rows(&ids, i, n_ahead, rows);
        tsr__rows_copy(call->variant, call->table, bytes, rows, left < BLOCK ? left : BLOCK,
                       n_ahead, (size_t)ids.n * bytes, (char *)call->out + (size_t)i * bytes);
    }
    tsr__stream_fence();
}
