/* SPDX-License-Identifier: Apache-2.0 */
/* idx.c - an IDX file is two zeros, a byte for the type of its elements, one for the number of
   dims, their sizes in 4 bytes each, and the elements; all with the high byte first. It is read
   from front to back, so a gz file needs no more memory than its data. Called by dataset.c. */
#include "io/idx.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/gz_file.h"
#include "layout/spec.h"

enum { START = 4, PER_DIM = 4 };

static tsr_status find_dtype(const char *path, int type, tsr_dtype *out, tsr_error *err)
{
    switch (type) {
    case 0x08: *out = TSR_U8; break;
    case 0x09: *out = TSR_I8; break;
    case 0x0B: *out = TSR_I16; break;
    case 0x0C: *out = TSR_I32; break;
    case 0x0D: *out = TSR_F32; break;
    case 0x0E: *out = TSR_F64; break;
    default:
        return tsr__fail(err, TSR_ERR_DTYPE,
                         "IDX file %s has elements of type 0x%02X, not 0x08 (u8), 0x09 (i8), "
                         "0x0B (i16), 0x0C (i32), 0x0D (f32) or 0x0E (f64)",
                         path, (unsigned)type);
    }
    return TSR_OK;
}

/* "u8[60000,28,28]" */
static const char *name_of(const tsr_idx *idx, char *buf, size_t n)
{
    char shape[TSR_TEXT_LEN];

    snprintf(buf, n, "%s%s", tsr_dtype_name(idx->dtype),
             tsr__shape_text(&idx->shape, shape, sizeof shape));
    return buf;
}

/* All n bytes of the header's next field. */
static tsr_status take(tsr_gz *gz, const char *path, int64_t at, void *to, size_t n, tsr_error *err)
{
    size_t got;
    tsr_status st;

    TSR_TRY(tsr__gz_read(gz, to, n, &got, err));
    if (got < n)
        TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT,
                          "IDX file %s is truncated: its header needs %" PRId64
                          " bytes, but there are %" PRId64,
                          path, at + (int64_t)n, at + (int64_t)got));
done:
    return st;
}

static tsr_status read_header(tsr_gz *gz, const char *path, tsr_idx *idx, tsr_error *err)
{
    unsigned char start[START];
    uint32_t size[TSR_MAX_DIM];
    char text[TSR_TEXT_LEN];
    bool fits = true, empty = false;
    int64_t bytes;
    tsr_status st;

    TSR_TRY(take(gz, path, 0, start, START, err));
    if (start[0] != 0 || start[1] != 0)
        TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT,
                          "%s is not an IDX file: its first two bytes are not 0", path));
    TSR_TRY(find_dtype(path, start[2], &idx->dtype, err));
    if (start[3] < 1 || start[3] > TSR_MAX_DIM)
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE, "IDX file %s has %d dims, not 1 to %d", path,
                          start[3], TSR_MAX_DIM));
    idx->shape.ndim = start[3];
    TSR_TRY(take(gz, path, START, size, PER_DIM * (size_t)start[3], err));
    bytes = (int64_t)tsr_dtype_size(idx->dtype);
    for (int d = 0; d < idx->shape.ndim; d++) {
        idx->shape.size[d] = be32toh(size[d]);
        empty = empty || size[d] == 0;
        /* an empty dim does not excuse the others: products of some of them are computed */
        fits = fits && (size[d] == 0 || !__builtin_mul_overflow(bytes, idx->shape.size[d], &bytes));
    }
    idx->bytes = empty ? 0 : bytes;
    if (!fits)
        TSR_TRY(tsr__fail(err, TSR_ERR_SHAPE,
                          "IDX file %s says that it holds %s, more than 2^63 bytes", path,
                          name_of(idx, text, sizeof text)));
done:
    return st;
}

static tsr_status truncated(const char *path, const tsr_idx *idx, const char *at_most, int64_t got,
                            tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    return tsr__fail(err, TSR_ERR_FORMAT,
                     "IDX file %s is truncated: %s needs %" PRId64
                     " bytes after the header, but there are %s%" PRId64,
                     path, name_of(idx, text, sizeof text), idx->bytes, at_most, got);
}

static tsr_status read_data(tsr_gz *gz, tsr_heap *heap, const char *path, tsr_idx *idx,
                            tsr_error *err)
{
    const int64_t header = START + PER_DIM * idx->shape.ndim;
    bool exact;
    const int64_t most = tsr__gz_limit(gz, &exact) - header;
    char text[TSR_TEXT_LEN];
    unsigned char more;
    size_t got;
    tsr_status st;

    if (idx->bytes > most) /* memory is not even asked for */
        TSR_TRY(truncated(path, idx, exact ? "" : "at most ", most, err));
    TSR_TRY(tsr__alloc(heap, idx->bytes, 1, &idx->data, err));
    TSR_TRY(tsr__gz_read(gz, idx->data, (size_t)idx->bytes, &got, err));
    if ((int64_t)got < idx->bytes)
        TSR_TRY(truncated(path, idx, "", (int64_t)got, err));
    TSR_TRY(tsr__gz_read(gz, &more, 1, &got, err)); /* also looks at a gz file's checksum */
    if (got)
        TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT,
                          "IDX file %s goes on after the %" PRId64 " bytes of its %s", path,
                          idx->bytes, name_of(idx, text, sizeof text)));
done:
    return st;
}

static void order_bytes(tsr_idx *idx)
{
    uint16_t *two = idx->data;
    uint32_t *four = idx->data;
    uint64_t *eight = idx->data;
    const int64_t size = (int64_t)tsr_dtype_size(idx->dtype);

    for (int64_t i = 0; size == 2 && i < idx->bytes / 2; i++)
        two[i] = be16toh(two[i]);
    for (int64_t i = 0; size == 4 && i < idx->bytes / 4; i++)
        four[i] = be32toh(four[i]);
    for (int64_t i = 0; size == 8 && i < idx->bytes / 8; i++)
        eight[i] = be64toh(eight[i]);
}

tsr_status tsr__idx_read(tsr_heap *heap, const char *path, tsr_idx *out, tsr_error *err)
{
    tsr_idx idx = {0};
    tsr_gz *gz = NULL;
    tsr_status st;

    TSR_TRY(tsr__gz_open(heap, path, &gz, err));
    TSR_TRY(read_header(gz, path, &idx, err));
    TSR_TRY(read_data(gz, heap, path, &idx, err));
    order_bytes(&idx);
    *out = idx;
    idx.data = NULL;
done:
    tsr__free(heap, idx.data);
    tsr__gz_close(gz);
    return st;
}
