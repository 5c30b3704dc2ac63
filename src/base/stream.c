/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - copies past the caches. Called by piece.c, fold.c. The limits come from
   bench/bench_piece.c with 1 MiB of cache per core and 32 MiB for two. */
#include "base/stream.h"

#include "base/cpu.h"

#include <string.h>
#ifdef TSR__X86
#include <immintrin.h>
#endif

enum {
    LINE = 64,
    LEAST = 8 << 20,   /* below, the result may stay in the cache, where the next reader finds it */
    LEAST_ROW = 512,   /* a row's first and last line may be shared with another row */
    LEAST_LINES = 128, /* the same for rows of whole lines */
    AHEAD = 2048,      /* bytes that the prefetch is ahead */
    TOGETHER = 4,      /* rows copied side by side, */
    AHEAD_TOGETHER = 512,  /* with this prefetch, */
    LEAST_TOGETHER = 1024, /* if they have as many bytes; */
    LEAST_AHEAD = 2048     /* shorter ones without prefetch */
};

bool tsr__stream_large(size_t total)
{
    return total >= LEAST && tsr__cpu_avx2();
}

bool tsr__stream_pays(size_t total, size_t row, uintptr_t places)
{
    bool whole_lines = ((row | places) & (LINE - 1)) == 0;

    return tsr__stream_large(total) && row >= (whole_lines ? LEAST_LINES : LEAST_ROW);
}

#ifdef TSR__X86
/* One row; `next` is where the source goes on after it, so that the prefetch runs on into the next
   row: the hardware's own stops at every page and gap. */
TSR__AVX2 static void stream_row(char *dst, const char *src, size_t n, const char *next)
{
    size_t head = -(uintptr_t)dst & (LINE - 1);

    if (head > n)
        head = n;
    memcpy(dst, src, head);
    dst += head, src += head, n -= head;

    size_t body = n & ~(size_t)(LINE - 1);
    size_t cut = n > AHEAD ? n - AHEAD : 0;

    for (size_t i = 0; i < body; i += LINE) {
        uintptr_t ahead = i < cut ? (uintptr_t)src + i + AHEAD : (uintptr_t)next + (i - cut);
        __m256i a = _mm256_loadu_si256((const void *)(src + i));
        __m256i b = _mm256_loadu_si256((const void *)(src + i + 32));

        _mm_prefetch((const char *)ahead, _MM_HINT_T0);
        _mm256_stream_si256((void *)(dst + i), a);
        _mm256_stream_si256((void *)(dst + i + 32), b);
    }
    memcpy(dst + body, src + body, n - body);
}

/* Four rows side by side, which keeps more reads under way; their destinations start at the same
   place within a line. */
TSR__AVX2 static void stream_together(char *dst, int64_t to, const char *src, int64_t from,
                                      size_t n)
{
    const size_t head = -(uintptr_t)dst & (LINE - 1),
                 end = head + ((n - head) & ~(size_t)(LINE - 1));
    const bool prefetch = n >= LEAST_AHEAD;

    for (size_t i = head; i < end; i += LINE)
        for (int k = 0; k < TOGETHER; k++) {
            const char *s = src + k * from + i;
            char *d = dst + k * to + i;
            __m256i a = _mm256_loadu_si256((const void *)s);
            __m256i b = _mm256_loadu_si256((const void *)(s + 32));

            if (prefetch) { /* in these rows, or at the start of the next four */
                uintptr_t skip = i + AHEAD_TOGETHER < end ? 0 : (uintptr_t)(TOGETHER * from) - n;

                _mm_prefetch((const char *)((uintptr_t)s + AHEAD_TOGETHER + skip), _MM_HINT_T0);
            }
            _mm256_stream_si256((void *)d, a);
            _mm256_stream_si256((void *)(d + 32), b);
        }
    for (int k = 0; k < TOGETHER; k++) {
        memcpy(dst + k * to, src + k * from, head);
        memcpy(dst + k * to + end, src + k * from + end, n - end);
    }
}
#endif

void tsr__stream_rows(void *dst, int64_t to, const void *src, int64_t from, size_t row,
                      int64_t rows)
{
    char *d = dst;
    const char *s = src;

#ifdef TSR__X86
    if (tsr__cpu_avx2()) {
        int64_t i = 0;

        if (row >= LEAST_TOGETHER && to % LINE == 0)
            for (; i + TOGETHER <= rows; i += TOGETHER)
                stream_together(d + i * to, to, s + i * from, from, row);
        for (; i < rows; i++) {
            const char *next = i + 1 < rows ? s + (i + 1) * from : s + i * from;

            stream_row(d + i * to, s + i * from, row, next);
        }
        return;
    }
#endif
    for (int64_t i = 0; i < rows; i++)
        memcpy(d + i * to, s + i * from, row);
}

void tsr__stream_copy(void *dst, const void *src, size_t bytes)
{
    tsr__stream_rows(dst, 0, src, 0, bytes, 1);
}

void tsr__stream_fence(void)
{
#ifdef TSR__X86
    _mm_sfence();
#endif
}
