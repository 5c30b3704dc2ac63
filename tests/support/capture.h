/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h - what is written to stdout or stderr between two calls, as a text. For tests of what
   the library prints. */
#ifndef TSR_TESTS_CAPTURE_H
#define TSR_TESTS_CAPTURE_H

#include <stdio.h>
#include <unistd.h>

typedef struct capture {
    int fd, old;
    FILE *file;
} capture;

static inline capture capture_begin(int fd)
{
    capture c = {.fd = fd, .file = tmpfile()};

    fflush(NULL);
    c.old = dup(fd);
    if (!c.file || dup2(fileno(c.file), fd) < 0)
        perror("capture_begin");
    return c;
}

/* At most n - 1 bytes, and an end. */
static inline void capture_end(capture *c, char *text, size_t n)
{
    fflush(NULL);
    dup2(c->old, c->fd);
    close(c->old);
    rewind(c->file);
    text[fread(text, 1, n - 1, c->file)] = 0;
    fclose(c->file);
}

#endif
