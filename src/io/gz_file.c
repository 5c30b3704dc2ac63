/* SPDX-License-Identifier: Apache-2.0 */
/* gz_file.c - reads a file block by block, through zlib's inflate if it starts as gz files do.
   Members that follow each other are one text, as gzip sees them; anything else behind the last is
   an error, and so is a member that ends early or does not fit its checksum. */
#include "io/gz_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text.h"

enum {
    BLOCK = 1 << 16,
    GZIP = 16 + MAX_WBITS, /* zlib: the window of 32 KiB, and gzip's header and trailer */
    RATIO = 1032           /* deflate: no code makes more bytes of one */
};

struct tsr_gz {
    tsr_heap *heap;
    const char *path;
    int fd;
    int64_t size;  /* of the file */
    bool packed;   /* it is a gz file */
    bool inside;   /* a member has begun and not ended */
    bool at_end;   /* there is nothing left to read from the file */
    z_stream flow; /* what is read and not yet used is at next_in */
    unsigned char block[BLOCK];
};

/* ---- zlib's memory is the heap's ---- */

static voidpf allocate(voidpf arg, uInt count, uInt size)
{
    void *p = NULL;

    return tsr__alloc(arg, count, size, &p, NULL) == TSR_OK ? p : Z_NULL;
}

static void release(voidpf arg, voidpf p)
{
    tsr__free(arg, p);
}

/* ---- bytes of the file ---- */

static tsr_status fill(tsr_gz *gz, tsr_error *err)
{
    ssize_t n;

    if (gz->flow.avail_in > 0 || gz->at_end)
        return TSR_OK;
    do
        n = read(gz->fd, gz->block, BLOCK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return tsr__fail(err, TSR_ERR_IO, "cannot read %s: %s", gz->path, tsr__errno_text(errno));
    gz->at_end = n == 0;
    gz->flow.next_in = gz->block;
    gz->flow.avail_in = (uInt)n;
    return TSR_OK;
}

static tsr_status start(tsr_gz *gz, tsr_error *err)
{
    struct stat info;
    tsr_status st;

    if (gz->fd < 0 || fstat(gz->fd, &info) != 0)
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot open %s: %s", gz->path, tsr__errno_text(errno)));
    if (!S_ISREG(info.st_mode))
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot read %s: it is not a regular file", gz->path));
    gz->size = info.st_size;
    TSR_TRY(fill(gz, err));
    if (gz->flow.avail_in < 2 || gz->block[0] != 0x1f || gz->block[1] != 0x8b)
        goto done;
    gz->flow.zalloc = allocate;
    gz->flow.zfree = release;
    gz->flow.opaque = gz->heap;
    if (inflateInit2(&gz->flow, GZIP) != Z_OK)
        TSR_TRY(tsr__fail(err, TSR_ERR_MEMORY, "out of memory for reading gz file %s", gz->path));
    gz->packed = gz->inside = true;
done:
    return st;
}

tsr_status tsr__gz_open(tsr_heap *heap, const char *path, tsr_gz **out, tsr_error *err)
{
    tsr_gz *gz = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1, sizeof *gz, &gz, err));
    gz->heap = heap;
    gz->path = path;
    gz->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */
    TSR_TRY(start(gz, err));
    *out = gz;
    gz = NULL;
done:
    tsr__gz_close(gz);
    return st;
}

void tsr__gz_close(tsr_gz *gz)
{
    if (!gz)
        return;
    if (gz->packed)
        inflateEnd(&gz->flow);
    if (gz->fd >= 0)
        close(gz->fd);
    tsr__free(gz->heap, gz);
}

int64_t tsr__gz_limit(const tsr_gz *gz, bool *exact)
{
    int64_t most = gz->size;

    *exact = !gz->packed;
    if (gz->packed && __builtin_mul_overflow(gz->size, RATIO, &most))
        most = INT64_MAX;
    return most;
}

/* ---- reading ---- */

static tsr_status corrupt(const tsr_gz *gz, const char *why, tsr_error *err)
{
    return tsr__fail(err, TSR_ERR_FORMAT, "gz file %s is corrupt near byte %" PRId64 ": %s",
                     gz->path, (int64_t)lseek(gz->fd, 0, SEEK_CUR) - (int64_t)gz->flow.avail_in,
                     why);
}

/* Behind a member: another one, or the end of the file. */
static tsr_status next_member(tsr_gz *gz, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(fill(gz, err));
    if (gz->flow.avail_in == 0)
        goto done;
    if (gz->flow.next_in[0] != 0x1f)
        TSR_TRY(corrupt(gz, "bytes follow its end", err));
    if (inflateReset(&gz->flow) != Z_OK)
        TSR_TRY(corrupt(gz, "zlib lost its state", err));
    gz->inside = true;
done:
    return st;
}

/* As much as one call of inflate gives. */
static tsr_status inflate_some(tsr_gz *gz, tsr_error *err)
{
    tsr_status st;
    int code;

    TSR_TRY(fill(gz, err));
    if (gz->flow.avail_in == 0)
        TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT,
                          "gz file %s is truncated: it ends after %" PRId64
                          " bytes, in the middle of its data",
                          gz->path, gz->size));
    code = inflate(&gz->flow, Z_NO_FLUSH);
    if (code == Z_STREAM_END)
        gz->inside = false;
    else if (code == Z_MEM_ERROR)
        st = tsr__fail(err, TSR_ERR_MEMORY, "out of memory for reading gz file %s", gz->path);
    else if (code != Z_OK && code != Z_BUF_ERROR)
        st = corrupt(gz, gz->flow.msg ? gz->flow.msg : "it needs a dictionary", err);
done:
    return st;
}

static tsr_status read_packed(tsr_gz *gz, unsigned char *to, size_t n, size_t *got, tsr_error *err)
{
    tsr_status st = TSR_OK;

    *got = 0;
    while (*got < n) {
        const uInt room = n - *got < BLOCK ? (uInt)(n - *got) : BLOCK;

        if (!gz->inside)
            TSR_TRY(next_member(gz, err));
        if (!gz->inside)
            break;
        gz->flow.next_out = to + *got;
        gz->flow.avail_out = room;
        TSR_TRY(inflate_some(gz, err));
        *got += room - gz->flow.avail_out;
    }
done:
    return st;
}

static tsr_status read_plain(tsr_gz *gz, unsigned char *to, size_t n, size_t *got, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (*got = 0; *got < n;) {
        size_t some;

        TSR_TRY(fill(gz, err));
        some = n - *got < gz->flow.avail_in ? n - *got : gz->flow.avail_in;
        if (some == 0)
            break;
        memcpy(to + *got, gz->flow.next_in, some);
        gz->flow.next_in += some;
        gz->flow.avail_in -= (uInt)some;
        *got += some;
    }
done:
    return st;
}

tsr_status tsr__gz_read(tsr_gz *gz, void *to, size_t n, size_t *got, tsr_error *err)
{
    return gz->packed ? read_packed(gz, to, n, got, err) : read_plain(gz, to, n, got, err);
}
