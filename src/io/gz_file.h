/* SPDX-License-Identifier: Apache-2.0 */
/* gz_file.h - bytes of a file from its beginning to its end, uncompressed on the way if it is a gz
   file. Called by idx.c. Local. */
#ifndef TSR_IO_GZ_FILE_H
#define TSR_IO_GZ_FILE_H

#include "base/heap.h"

typedef struct tsr_gz tsr_gz;

tsr_status tsr__gz_open(tsr_heap *heap, const char *path, tsr_gz **out, tsr_error *err);
/* The next n bytes; fewer, *got, only where the file ends. What a gz file says of itself at its end
   (length and checksum) has been compared by then. */
tsr_status tsr__gz_read(tsr_gz *gz, void *to, size_t n, size_t *got, tsr_error *err);
/* How many bytes there are in all: *exact, or at most if it is a gz file, of which one byte cannot
   stand for more than about a thousand. */
int64_t tsr__gz_limit(const tsr_gz *gz, bool *exact);
void tsr__gz_close(tsr_gz *gz); /* NULL is fine */

#endif
