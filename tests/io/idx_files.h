/* SPDX-License-Identifier: Apache-2.0 */
/* idx_files.h - IDX files made by hand, plain and packed, in a folder of the test's own. For
   test_data.c and test_data_bad.c. */
#ifndef TSR_TESTS_IDX_FILES_H
#define TSR_TESTS_IDX_FILES_H

#include <unistd.h>
#include <zlib.h>

#include "support/test.h"

enum { IDX_MOST = 4096 };

typedef struct idx_file {
    char path[64];
    unsigned char bytes[IDX_MOST];
    size_t n;
} idx_file;

static inline int idx_setup(void **state)
{
    idx_file *f = calloc(1, sizeof *f);
    int fd;

    snprintf(f->path, sizeof f->path, "/tmp/tessera_idx_XXXXXX");
    fd = mkstemp(f->path);
    *state = f;
    return fd < 0 ? -1 : close(fd);
}

static inline int idx_teardown(void **state)
{
    idx_file *f = *state;
    const int st = unlink(f->path);

    free(f);
    return st;
}

static inline void idx_write(const idx_file *f, size_t n)
{
    FILE *to = fopen(f->path, "wb");

    assert_non_null(to);
    assert_int_equal(fwrite(f->bytes, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
}

/* The bytes become those of a gz file. */
static inline void idx_pack(idx_file *f)
{
    unsigned char packed[IDX_MOST];
    z_stream z = {.next_in = f->bytes,
                  .avail_in = (uInt)f->n,
                  .next_out = packed,
                  .avail_out = sizeof packed};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    f->n = sizeof packed - z.avail_out;
    memcpy(f->bytes, packed, f->n);
    deflateEnd(&z);
}

static inline void idx_start(idx_file *f, int type, int ndim, const int64_t *size)
{
    const unsigned char start[] = {0, 0, (unsigned char)type, (unsigned char)ndim};

    memcpy(f->bytes, start, sizeof start);
    f->n = sizeof start;
    for (int d = 0; d < ndim; d++)
        for (int shift = 24; shift >= 0; shift -= 8)
            f->bytes[f->n++] = (unsigned char)(size[d] >> shift);
}

/* An element of `size` bytes, high byte first. */
static inline void idx_put(idx_file *f, const void *value, int size)
{
    for (int i = size - 1; i >= 0; i--)
        f->bytes[f->n++] = ((const unsigned char *)value)[i];
}

/* u8[samples,h,w] with element i = 7 i mod 251 */
static inline void idx_images(idx_file *f, int64_t samples, int64_t h, int64_t w)
{
    idx_start(f, 0x08, 3, (const int64_t[]){samples, h, w});
    for (int64_t i = 0; i < samples * h * w; i++)
        f->bytes[f->n++] = (unsigned char)(7 * i % 251);
}

#endif
