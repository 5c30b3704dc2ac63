/* SPDX-License-Identifier: Apache-2.0 */
/* row_io.h - pieces of rows in and out of kernels that compute in f32 or f64: f16 and bf16 are
   widened and narrowed, and large results go past the caches. */
#ifndef TSR_KERNEL_ROW_IO_H
#define TSR_KERNEL_ROW_IO_H

#include "base/half.h"
#include "base/stream.h"
#include "kernel/index.h"

#include <string.h>

enum { TSR_ROW_PIECE = 8192 }; /* elements, at most */

/* Of buffers: vectors that cross a cache line are slow. */
#define TSR__CACHE_ALIGNED __attribute__((aligned(64)))

typedef struct tsr_row_io {
    tsr_dtype dtype;
    int64_t size;
    bool half, stream;
} tsr_row_io;

/* For results of `run` neighbouring elements at a time. */
static inline tsr_row_io tsr__row_io(const tsr_operand *x, int64_t run, const void *to)
{
    const size_t size = tsr_dtype_size(x->dtype);

    return (tsr_row_io){
        .dtype = x->dtype,
        .size = (int64_t)size,
        .half = x->dtype == TSR_F16 || x->dtype == TSR_BF16,
        .stream = tsr__stream_pays((size_t)tsr__operand_count(x) * size, (size_t)run * size,
                                   (uintptr_t)to),
    };
}

/* Where to read n elements: at x itself, or widened in the buffer. */
static inline const void *tsr__row_load(const tsr_row_io *io, const char *x, int64_t n,
                                        void *buffer)
{
    if (!io->half)
        return x;
    tsr__half_widen(io->dtype, x, n, buffer);
    return buffer;
}

/* Where to compute what tsr__row_store puts to y. */
static inline void *tsr__row_room(const tsr_row_io *io, char *y, void *buffer)
{
    return io->half || io->stream ? buffer : y;
}

/* At most TSR_ROW_PIECE elements; tsr__row_end when all are there. */
static inline void tsr__row_store(const tsr_row_io *io, const void *result, int64_t n, char *y)
{
    uint16_t narrow[TSR_ROW_PIECE];

    if (io->half && io->stream) {
        tsr__half_narrow(io->dtype, result, n, narrow);
        tsr__stream_copy(y, narrow, (size_t)(n * io->size));
    } else if (io->half)
        tsr__half_narrow(io->dtype, result, n, y);
    else if (io->stream)
        tsr__stream_copy(y, result, (size_t)(n * io->size));
    else if (result != y)
        memcpy(y, result, (size_t)(n * io->size));
}

static inline void tsr__row_end(const tsr_row_io *io)
{
    if (io->stream)
        tsr__stream_fence();
}

#endif
