/* SPDX-License-Identifier: Apache-2.0 */
/* new_file.h - a file that takes the place of another only when it is complete. It is written under
   a temporary name beside its target and then renamed: a failure leaves the target as it was. */
#ifndef TSR_IO_NEW_FILE_H
#define TSR_IO_NEW_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "base/error.h"

enum { TSR_TARGET_LEN = PATH_MAX - 64 }; /* a temporary name is longer */

typedef struct tsr_new_file {
    char target[TSR_TARGET_LEN]; /* what the path means, links followed */
    char temporary[PATH_MAX];
    int fd;      /* -1: not created, or written and closed */
    int lock;    /* says to other saves that the temporary file is in use */
    bool exists; /* the target does, with this mode */
    mode_t mode;
    bool created; /* the temporary file is there */
} tsr_new_file;

/* Creates the temporary file, empty. First removes those of jobs that were killed while they saved
   to the same target. */
tsr_status tsr__new_file_open(tsr_new_file *file, const char *path, tsr_error *err);
/* The file is complete and closed: gives it the mode of the target, and its name. */
tsr_status tsr__new_file_replace(tsr_new_file *file, tsr_error *err);
/* Ends in any case, also after a failure: a temporary file that was not renamed is removed. */
void tsr__new_file_close(tsr_new_file *file);

#endif
