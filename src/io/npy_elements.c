/* SPDX-License-Identifier: Apache-2.0 */
/* npy_elements.c - elements of npy files that are not in memory as they are in the file: integers
   of widths that no dtype has, big-endian numbers, Fortran order. Called by npy.c, for one rank's
   part at a time. */
#include <inttypes.h>
#include <string.h>

#include "io/npy_header.h"
#include "layout/spec.h"

static bool is_widened(const tsr_npy *npy)
{
    return (size_t)npy->size != tsr_dtype_size(npy->dtype) || (npy->is_unsigned && npy->size > 1);
}

bool tsr__npy_is_plain(const tsr_npy *npy)
{
    return !npy->swapped && !is_widened(npy) && (!npy->fortran || npy->shape.ndim < 2);
}

/* The bits of one element, with its sign. */
static uint64_t bits_at(const tsr_npy *npy, const unsigned char *from)
{
    const int shift = 64 - 8 * npy->size;
    uint64_t x = 0;

    for (int i = 0; i < npy->size; i++)
        x = x << 8 | from[npy->swapped ? i : npy->size - 1 - i];
    return npy->is_unsigned ? x : (uint64_t)((int64_t)(x << shift) >> shift);
}

/* How far apart in memory elements are whose index differs by 1 along each dim, the fastest dim of
   the file first. */
static int in_file_order(const tsr_npy *npy, const tsr_shape *part, int64_t *size, int64_t *step)
{
    const int ndim = part->ndim;
    int64_t stride = 1;

    for (int d = ndim - 1; d >= 0; d--) {
        const int at = npy->fortran ? d : ndim - 1 - d;
        size[at] = part->size[d];
        step[at] = stride;
        stride *= part->size[d];
    }
    return ndim;
}

tsr_status tsr__npy_elements(const char *path, const tsr_npy *npy, const tsr_shape *part,
                             const void *from, void *to, tsr_error *err)
{
    int64_t size[TSR_MAX_DIM], step[TSR_MAX_DIM], at[TSR_MAX_DIM] = {0}, place = 0;
    const int ndim = in_file_order(npy, part, size, step);
    const size_t width = tsr_dtype_size(npy->dtype);
    const unsigned char *bytes = from;

    for (int64_t i = 0; i < tsr_shape_count(part); i++, bytes += npy->size) {
        const uint64_t x = bits_at(npy, bytes);

        if (npy->is_unsigned && npy->dtype == TSR_I64 && x > INT64_MAX)
            return tsr__fail(err, TSR_ERR_DTYPE,
                             "npy file %s: its number %" PRIu64
                             " does not fit i64, as which unsigned integers of 64 bits are read",
                             path, x);
        memcpy((char *)to + (size_t)place * width, &x, width); /* the least significant first */
        for (int d = 0; d < ndim; d++) {
            place += step[d];
            if (++at[d] < size[d])
                break;
            place -= size[d] * step[d];
            at[d] = 0;
        }
    }
    return TSR_OK;
}
