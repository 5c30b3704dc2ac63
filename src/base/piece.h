/* SPDX-License-Identifier: Apache-2.0 */
/* piece.h - a strided piece of a rank's memory, and moving data between two of them. The loops of a
   piece are two per tensor dim at most: steps between runs, and elements of a run. */
#ifndef TSR_BASE_PIECE_H
#define TSR_BASE_PIECE_H

#include "base/reduce.h"

enum { TSR_PIECE_LOOPS = 2 * TSR_MAX_DIM };

/* Element (i0, i1, ..) lies at base + offset + i0 * stride[0] + i1 * stride[1] + ..; bytes. No
   loops is one element. Two pieces that belong to one message have equal counts. */
typedef struct tsr_piece {
    int64_t offset;
    int n;
    int64_t count[TSR_PIECE_LOOPS];
    int64_t stride[TSR_PIECE_LOOPS];
} tsr_piece;

int64_t tsr__piece_count(const tsr_piece *piece); /* elements */

/* Copy elements of `size` bytes; the pieces have equal counts and do not overlap. */
void tsr__piece_copy(size_t size, void *dst, const tsr_piece *to, const void *src,
                     const tsr_piece *from);

/* Copy elements begin .. begin+n of the piece, in its order, to or from contiguous memory. */
void tsr__piece_pack(size_t size, void *dst, const void *src, const tsr_piece *from, int64_t begin,
                     int64_t n);
void tsr__piece_unpack(size_t size, void *dst, const tsr_piece *to, const void *src, int64_t begin,
                       int64_t n);
/* Is the piece one contiguous range of memory? */
bool tsr__piece_contiguous(size_t size, const tsr_piece *piece);

/* dst piece = reduction over k of the piece from[k] of src[k], in order (see tsr__reduce). All
   counts are equal. dst's piece may be just that of one source, else it overlaps none. */
void tsr__piece_reduce(tsr_dtype dtype, tsr_reduce op, int64_t divisor, int n_src, void *dst,
                       const tsr_piece *to, const void *const *src, const tsr_piece *const *from);

#endif
