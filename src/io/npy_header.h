/* SPDX-License-Identifier: Apache-2.0 */
/* npy_header.h - the header of an npy file: what numpy writes before the elements. Pure. */
#ifndef TSR_IO_NPY_HEADER_H
#define TSR_IO_NPY_HEADER_H

#include "base/error.h"

enum { TSR_NPY_PREFIX = 12 };   /* bytes of a file that tell how long its header is */
enum { TSR_NPY_WRITTEN = 512 }; /* enough for any header that we write */

typedef struct tsr_npy {
    tsr_dtype dtype;
    tsr_shape shape;
    int64_t data; /* where the elements begin, in bytes */
    bool swapped; /* the most significant byte of an element is the first */
    bool fortran; /* the first index changes fastest */
} tsr_npy;

/* Where the text of the header begins and how long it is, from the first n bytes of a file of
   `file` bytes; n is TSR_NPY_PREFIX, or less if the file is that short. `path` is for messages. */
tsr_status tsr__npy_prefix(const char *path, const unsigned char *bytes, size_t n, int64_t file,
                           int64_t *begin, int64_t *length, tsr_error *err);
/* What the text says, and whether a file of `file` bytes holds just that after `data` bytes. */
tsr_status tsr__npy_text(const char *path, const char *text, size_t n, int64_t data, int64_t file,
                         tsr_npy *out, tsr_error *err);
/* Both, for a whole file in memory. */
tsr_status tsr__npy_parse(const char *path, const unsigned char *bytes, size_t n, tsr_npy *out,
                          tsr_error *err);

/* npy_elements.c: are the elements in the file as they are in memory? If not, those of a part of
   this shape, one after the other in the order of the file, become what they are in memory. */
bool tsr__npy_is_plain(const tsr_npy *npy);
void tsr__npy_elements(const tsr_npy *npy, const tsr_shape *part, const void *from, void *to);

/* The header of version 1.0 for such a tensor, byte for byte as numpy has it; its length is a
   multiple of 64. */
tsr_status tsr__npy_write(tsr_dtype dtype, const tsr_shape *shape, char text[TSR_NPY_WRITTEN],
                          size_t *n, tsr_error *err);

#endif
