/* SPDX-License-Identifier: Apache-2.0 */
/* npy_elements.c - elements of npy files that are not in memory as they are in the file: big-endian
   numbers, Fortran order. Called by npy.c, for one rank's part at a time. */
#include "io/npy_header.h"
#include "layout/spec.h"

bool tsr__npy_is_plain(const tsr_npy *npy)
{
    return !npy->swapped && (!npy->fortran || npy->shape.ndim < 2);
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

void tsr__npy_elements(const tsr_npy *npy, const tsr_shape *part, const void *from, void *to)
{
    int64_t size[TSR_MAX_DIM], step[TSR_MAX_DIM], at[TSR_MAX_DIM] = {0}, place = 0;
    const int ndim = in_file_order(npy, part, size, step);
    const int width = (int)tsr_dtype_size(npy->dtype);
    const char *bytes = from;

    for (int64_t i = 0; i < tsr_shape_count(part); i++, bytes += width) {
        char *element = (char *)to + place * width;

        for (int k = 0; k < width; k++)
            element[k] = bytes[npy->swapped ? width - 1 - k : k];
        for (int d = 0; d < ndim; d++) {
            place += step[d];
            if (++at[d] < size[d])
                break;
            place -= size[d] * step[d];
            at[d] = 0;
        }
    }
}
