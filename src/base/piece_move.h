/* SPDX-License-Identifier: Apache-2.0 */
/* piece_move.h - moving units of bytes at strides: the leaves of piece.c's walks. */
#ifndef TSR_BASE_PIECE_MOVE_H
#define TSR_BASE_PIECE_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One loop: unit i goes from src + i * from to dst + i * to. */
typedef struct tsr_loop {
    int64_t count, to, from;
} tsr_loop;

/* Is there a fast move for units of this many bytes (1, 2, 4, 8, 16)? */
bool tsr__move_has_unit(size_t unit);
/* Two loops; neither has units next to each other on both sides. stream: stores may go past the
   caches; call tsr__stream_fence at the end. */
void tsr__move_units(size_t unit, bool stream, void *dst, const void *src, tsr_loop outer,
                     tsr_loop inner);
/* Rows of any number of bytes. */
void tsr__move_rows(size_t row, void *dst, const void *src, tsr_loop rows);

#endif
