/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - copies by streaming (non-temporal) stores, which go past the caches. Large results
   would only push out what is needed next, and a store through the cache first reads what it
   overwrites: a third of the traffic of a copy. */
#ifndef TSR_BASE_STREAM_H
#define TSR_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is a result of `total` bytes too large to stay in the cache? */
bool tsr__stream_large(size_t total);
/* Is it worth while for `total` bytes in rows of `row` bytes? `places` is the bitwise or of the
   destination's address and strides: rows at whole lines of the cache may be shorter. */
bool tsr__stream_pays(size_t total, size_t row, uintptr_t places);
void tsr__stream_copy(void *dst, const void *src, size_t bytes);
/* `rows` rows of `row` bytes each, at strides in bytes. */
void tsr__stream_rows(void *dst, int64_t to, const void *src, int64_t from, size_t row,
                      int64_t rows);
/* Orders streamed stores before later ones: needed before another thread is told of the data. */
void tsr__stream_fence(void);

#endif
