/* SPDX-License-Identifier: Apache-2.0 */
/* part_file.h - moves one rank's part between memory and a file that holds the whole tensor in
   row-major order. Local. */
#ifndef TSR_IO_PART_FILE_H
#define TSR_IO_PART_FILE_H

#include "layout/layout.h"

typedef struct tsr_part_file {
    int fd;
    const char *path;         /* for messages */
    int64_t begin;            /* byte of the file where the tensor begins */
    const tsr_layout *layout; /* and the coordinates of the part in it */
    const int *coord;
} tsr_part_file;

tsr_status tsr__part_read(tsr_heap *heap, const tsr_part_file *file, void *data, tsr_error *err);
tsr_status tsr__part_write(tsr_heap *heap, const tsr_part_file *file, const void *data,
                           tsr_error *err);

/* Are there so many short ranges, each a call of the system, that it is cheaper to move the tensor
   to or from ..in_ranges, where every rank has one range of the file and no two have the same?
   Pure, both. */
bool tsr__part_is_scattered(const tsr_spec *spec);
tsr_spec tsr__part_in_ranges(const tsr_spec *spec);

/* All n bytes at `offset`, however many calls it takes. A file that ends early is malformed. */
tsr_status tsr__file_read(int fd, const char *path, void *data, size_t n, int64_t offset,
                          tsr_error *err);
tsr_status tsr__file_write(int fd, const char *path, const void *data, size_t n, int64_t offset,
                           tsr_error *err);

#endif
