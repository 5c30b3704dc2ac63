/* SPDX-License-Identifier: Apache-2.0 */
/* piece_move.c - moving units of bytes at strides: rows, also backwards, single units, and
   transposed blocks. Does not choose the order of loops: piece.c does. */
#include "base/piece_move.h"

#include "base/cpu.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 64 };

bool tsr__move_has_unit(size_t unit)
{
    return unit <= 16 && (unit & (unit - 1)) == 0;
}

/* 4 to 64 bytes by moves of a fixed size that overlap in the middle: a call of memcpy would cost
   more than the row. */
TSR__INLINE void move_ends(size_t size, char *dst, const char *src, size_t row)
{
    char head[32], tail[32];

    memcpy(head, src, size);
    memcpy(tail, src + row - size, size);
    memcpy(dst, head, size);
    memcpy(dst + row - size, tail, size);
}

TSR__INLINE void rows_of(size_t size, size_t row, char *dst, const char *src, tsr_loop rows)
{
    for (int64_t i = 0; i < rows.count; i++)
        move_ends(size, dst + i * rows.to, src + i * rows.from, row);
}

void tsr__move_rows(size_t row, void *dst, const void *src, tsr_loop rows)
{
    if (row >= 4 && row <= 8)
        rows_of(4, row, dst, src, rows);
    else if (row > 8 && row <= 16)
        rows_of(8, row, dst, src, rows);
    else if (row > 16 && row <= 32)
        rows_of(16, row, dst, src, rows);
    else if (row > 32 && row <= 64)
        rows_of(32, row, dst, src, rows);
    else
        for (int64_t i = 0; i < rows.count; i++)
            memcpy((char *)dst + i * rows.to, (const char *)src + i * rows.from, row);
}

TSR__INLINE void units_of(size_t unit, char *dst, const char *src, tsr_loop outer, tsr_loop inner)
{
    for (int64_t i = 0; i < outer.count; i++)
        for (int64_t j = 0; j < inner.count; j++)
            memcpy(dst + i * outer.to + j * inner.to, src + i * outer.from + j * inner.from, unit);
}

#ifdef __SSE2__ /* part of x86-64 */
TSR__INLINE __m128i interleave(size_t unit, bool high, __m128i a, __m128i b)
{
    switch (unit) {
    case 1: return high ? _mm_unpackhi_epi8(a, b) : _mm_unpacklo_epi8(a, b);
    case 2: return high ? _mm_unpackhi_epi16(a, b) : _mm_unpacklo_epi16(a, b);
    case 4: return high ? _mm_unpackhi_epi32(a, b) : _mm_unpacklo_epi32(a, b);
    default: return high ? _mm_unpackhi_epi64(a, b) : _mm_unpacklo_epi64(a, b);
    }
}

/* 16 bytes wide and as many rows as units in them. Interleaving the first half of the rows with the
   second moves the top bit of the row number to the bottom of the column number; as many times as
   there are bits, and rows and columns have changed places. */
TSR__INLINE void transpose_tile(size_t unit, char *dst, const char *src, int64_t from)
{
    const int n = (int)(16 / unit);
    __m128i a[16], b[16];

    for (int i = 0; i < n; i++)
        a[i] = _mm_loadu_si128((const void *)(src + i * from));
    for (int bit = 1; bit < n; bit *= 2) {
        for (int i = 0; i < n / 2; i++) {
            b[2 * i] = interleave(unit, false, a[i], a[i + n / 2]);
            b[2 * i + 1] = interleave(unit, true, a[i], a[i + n / 2]);
        }
        for (int i = 0; i < n; i++)
            a[i] = b[i];
    }
    for (int i = 0; i < n; i++)
        _mm_store_si128((void *)(dst + i * LINE), a[i]);
}

/* 16 bytes of units, the last one first. */
TSR__INLINE __m128i backwards(size_t unit, __m128i a)
{
    if (unit == 1)
        a = _mm_or_si128(_mm_srli_epi16(a, 8), _mm_slli_epi16(a, 8));
    if (unit <= 2)
        a = _mm_shufflehi_epi16(_mm_shufflelo_epi16(a, 0x1b), 0x1b);
    return unit == 4 ? _mm_shuffle_epi32(a, 0x1b) : _mm_shuffle_epi32(a, 0x4e);
}

/* As many whole vectors of a row as there are, written forwards and read backwards from src on, or
   all from src; how many units that were. */
TSR__INLINE int64_t row_of_vectors(size_t unit, bool same, char *dst, const char *src, int64_t n)
{
    const int64_t per = (int64_t)(16 / unit), step = (int64_t)unit;
    char first[16];
    int64_t i = 0;

    for (int64_t k = 0; k < per; k++)
        memcpy(first + k * step, src, unit);
    for (; i + per <= n; i += per) {
        const void *from = same ? first : src - (i + per - 1) * step;
        const __m128i a = _mm_loadu_si128(from);

        _mm_storeu_si128((void *)(dst + i * step), same ? a : backwards(unit, a));
    }
    return i;
}

TSR__INLINE void stream_line(char *dst, const char *src)
{
    for (int i = 0; i < LINE; i += 16)
        _mm_stream_si128((void *)(dst + i), _mm_load_si128((const void *)(src + i)));
}
#else
TSR__INLINE void transpose_tile(size_t unit, char *dst, const char *src, int64_t from)
{
    const int n = (int)(16 / unit);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            memcpy(dst + j * LINE + i * (int)unit, src + i * from + j * (int)unit, unit);
}

TSR__INLINE int64_t row_of_vectors(size_t unit, bool same, char *dst, const char *src, int64_t n)
{
    (void)unit, (void)same, (void)dst, (void)src, (void)n;
    return 0;
}

TSR__INLINE void stream_line(char *dst, const char *src)
{
    memcpy(dst, src, LINE);
}
#endif

/* Rows of one unit, or of units backwards. */
TSR__INLINE void turned_rows(size_t unit, char *dst, const char *src, tsr_loop outer,
                             tsr_loop inner)
{
    for (int64_t i = 0; i < outer.count; i++) {
        char *d = dst + i * outer.to;
        const char *s = src + i * outer.from;
        const int64_t done = row_of_vectors(unit, inner.from == 0, d, s, inner.count);

        units_of(unit, d + done * inner.to, s + done * inner.from, (tsr_loop){1, 0, 0},
                 (tsr_loop){inner.count - done, inner.to, inner.from});
    }
}

/* A square block with a line of 64 bytes per row, in tiles of 16 bytes. Lines of the destination
   are written whole, by way of a small buffer; where tiles have more rows than a cache set has
   ways, lines of the source are read whole too. However the strides map to sets, no line is
   fetched twice. */
TSR__INLINE void transpose_block(size_t unit, bool stream, char *dst, int64_t to, const char *src,
                                 int64_t from)
{
    char rows[LINE * LINE] __attribute__((aligned(LINE)));
    char cols[LINE * LINE] __attribute__((aligned(LINE)));
    const int n = (int)(LINE / unit), tile = (int)(16 / unit);

    if (unit < 4) {
        for (int i = 0; i < n; i++)
            memcpy(rows + i * LINE, src + i * from, LINE);
        src = rows;
        from = LINE;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            transpose_tile(unit, cols + j * tile * LINE + i * 16, src + i * tile * from + j * 16,
                           from);
    for (int j = 0; j < n; j++)
        if (stream)
            stream_line(dst + j * to, cols + j * LINE);
        else
            memcpy(dst + j * to, cols + j * LINE, LINE);
}

/* outer lies side by side in the source, inner in the destination. */
TSR__INLINE void transpose(size_t unit, bool stream, char *dst, const char *src, tsr_loop outer,
                           tsr_loop inner)
{
    const int64_t n = (int64_t)(LINE / unit);
    const int64_t whole = outer.count - outer.count % n;
    tsr_loop side = {outer.count - whole, outer.to, outer.from};
    int64_t i = 0;

    for (; i + n <= inner.count; i += n) {
        char *d = dst + i * inner.to;
        const char *s = src + i * inner.from;

        for (int64_t j = 0; j < whole; j += n)
            transpose_block(unit, stream, d + j * outer.to, outer.to, s + j * outer.from,
                            inner.from);
        units_of(unit, d + whole * outer.to, s + whole * outer.from, side,
                 (tsr_loop){n, inner.to, inner.from});
    }
    units_of(unit, dst + i * inner.to, src + i * inner.from, outer,
             (tsr_loop){inner.count - i, inner.to, inner.from});
}

TSR__INLINE void move_of(size_t unit, bool stream, char *dst, const char *src, tsr_loop outer,
                         tsr_loop inner)
{
    int64_t step = (int64_t)unit;
    bool turned = unit < 16 && inner.to == step && (inner.from == 0 || inner.from == -step);
    bool across = unit < 16 && outer.from == step && inner.to == step && !turned;
    bool lines = (((uintptr_t)dst | (uintptr_t)outer.to) & (LINE - 1)) == 0;

    if (across && stream && lines)
        transpose(unit, true, dst, src, outer, inner);
    else if (across)
        transpose(unit, false, dst, src, outer, inner);
    else if (turned)
        turned_rows(unit, dst, src, outer, inner);
    else
        units_of(unit, dst, src, outer, inner);
}

void tsr__move_units(size_t unit, bool stream, void *dst, const void *src, tsr_loop outer,
                     tsr_loop inner)
{
    switch (unit) {
    case 1: move_of(1, stream, dst, src, outer, inner); break;
    case 2: move_of(2, stream, dst, src, outer, inner); break;
    case 4: move_of(4, stream, dst, src, outer, inner); break;
    case 8: move_of(8, stream, dst, src, outer, inner); break;
    default: move_of(16, stream, dst, src, outer, inner); break;
    }
}
