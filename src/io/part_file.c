/* SPDX-License-Identifier: Apache-2.0 */
/* part_file.c - a part is a product of runs, so in the file it is a sequence of ranges, and in
   memory the same bytes follow each other without gaps. One walk over the ranges serves reading and
   writing; neighbours are joined before the system is called. Called by npy.c. */
#include "io/part_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- bytes ---- */

tsr_status tsr__file_read(int fd, const char *path, void *data, size_t n, int64_t offset,
                          tsr_error *err)
{
    char *p = data;

    while (n > 0) {
        ssize_t got = pread(fd, p, n, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tsr__fail(err, TSR_ERR_IO, "cannot read %s: %s", path, tsr__errno_text(errno));
        if (got == 0)
            return tsr__fail(err, TSR_ERR_FORMAT,
                             "file %s ends at byte %" PRId64 ", %zu bytes too early", path, offset,
                             n);
        p += got;
        n -= (size_t)got;
        offset += got;
    }
    return TSR_OK;
}

tsr_status tsr__file_write(int fd, const char *path, const void *data, size_t n, int64_t offset,
                           tsr_error *err)
{
    const char *p = data;

    while (n > 0) {
        ssize_t put = pwrite(fd, p, n, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tsr__fail(err, TSR_ERR_IO, "cannot write %s: %s", path,
                             tsr__errno_text(put < 0 ? errno : ENOSPC));
        p += put;
        n -= (size_t)put;
        offset += put;
    }
    return TSR_OK;
}

/* ---- ranges ---- */

typedef struct transfer {
    const tsr_part_file *file;
    tsr_error *err;
    char *to;         /* reading; else NULL */
    const char *from; /* writing */
    size_t done;      /* bytes of the memory */
    int64_t offset;   /* of the range that is not moved yet, in the file */
    int64_t length;
} transfer;

static tsr_status flush(transfer *t)
{
    const tsr_part_file *f = t->file;
    size_t n = (size_t)t->length;
    tsr_status st;

    if (t->to)
        TSR_TRY(tsr__file_read(f->fd, f->path, t->to + t->done, n, t->offset, t->err));
    else
        TSR_TRY(tsr__file_write(f->fd, f->path, t->from + t->done, n, t->offset, t->err));
    t->done += n;
    t->length = 0;
done:
    return st;
}

static tsr_status add_range(transfer *t, int64_t offset, int64_t length)
{
    tsr_status st = TSR_OK;

    if (t->length > 0 && t->offset + t->length == offset) {
        t->length += length;
        return TSR_OK;
    }
    TSR_TRY(flush(t));
    t->offset = offset;
    t->length = length;
done:
    return st;
}

/* One index after the other of a list of runs. */
typedef struct spot {
    int run;
    int64_t block, i;
} spot;

static int64_t index_at(const tsr_runs *runs, const spot *s)
{
    const tsr_index_run *run = tsr__runs_at(runs, s->run);
    return run->begin + s->block * run->step + s->i;
}

/* False: it was the last one; the spot is at the first again. */
static bool advance(const tsr_runs *runs, spot *s)
{
    const tsr_index_run *run = tsr__runs_at(runs, s->run);

    if (++s->i < run->len)
        return true;
    s->i = 0;
    if (++s->block < run->count)
        return true;
    s->block = 0;
    if (++s->run < runs->n)
        return true;
    s->run = 0;
    return false;
}

/* The blocks of dim `cut` at byte `at`; an index of that dim is `unit` bytes. */
static tsr_status walk_blocks(transfer *t, const tsr_runs *cut, int64_t at, int64_t unit)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < cut->n; i++) {
        const tsr_index_run *run = tsr__runs_at(cut, i);
        for (int64_t j = 0; j < run->count; j++)
            TSR_TRY(add_range(t, at + (run->begin + j * run->step) * unit, run->len * unit));
    }
done:
    return st;
}

/* `cut` is the last dim that the part does not hold whole: from there on a block of indices is one
   range. stride[] in bytes. */
static tsr_status walk(transfer *t, const tsr_runs *runs, int cut, const int64_t *stride)
{
    spot at[TSR_MAX_DIM] = {{0}};
    int d;
    tsr_status st;

    do {
        int64_t offset = t->file->begin;
        for (d = 0; d < cut; d++)
            offset += index_at(&runs[d], &at[d]) * stride[d];
        TSR_TRY(walk_blocks(t, &runs[cut], offset, stride[cut]));
        for (d = cut - 1; d >= 0 && !advance(&runs[d], &at[d]); d--)
            ;
    } while (d >= 0);
    TSR_TRY(flush(t));
done:
    return st;
}

static bool is_whole(const tsr_runs *runs, int64_t n)
{
    return runs->n == 1 && tsr__runs_at(runs, 0)->count == 1 && tsr__runs_at(runs, 0)->len == n;
}

static tsr_status move_part(tsr_heap *heap, transfer *t)
{
    const tsr_layout *layout = t->file->layout;
    tsr_runs runs[TSR_MAX_DIM] = {{0}};
    int64_t stride[TSR_MAX_DIM], unit = (int64_t)tsr_dtype_size(layout->dtype);
    int ndim = layout->shape.ndim, cut = 0;
    bool empty = false;
    tsr_status st = TSR_OK;

    for (int d = 0; d < ndim; d++) {
        TSR_TRY(tsr__layout_runs(heap, layout, d, t->file->coord, &runs[d], t->err));
        empty = empty || runs[d].n == 0;
    }
    if (empty)
        goto done;
    if (ndim == 0) {
        t->offset = t->file->begin;
        t->length = unit;
        TSR_TRY(flush(t));
        goto done;
    }
    for (int d = ndim - 1; d >= 0; d--) {
        stride[d] = unit;
        unit *= layout->shape.size[d];
        if (cut == 0 && !is_whole(&runs[d], layout->shape.size[d]))
            cut = d;
    }
    TSR_TRY(walk(t, runs, cut, stride));
done:
    for (int d = 0; d < ndim; d++)
        tsr__runs_free(heap, &runs[d]);
    return st;
}

tsr_status tsr__part_read(tsr_heap *heap, const tsr_part_file *file, void *data, tsr_error *err)
{
    return move_part(heap, &(transfer){.file = file, .err = err, .to = data});
}

tsr_status tsr__part_write(tsr_heap *heap, const tsr_part_file *file, const void *data,
                           tsr_error *err)
{
    return move_part(heap, &(transfer){.file = file, .err = err, .from = data});
}

/* ---- which parts suit a file ---- */

/* Bytes of the ranges that the first rank's part consists of. */
static int64_t range_bytes(const tsr_layout *layout)
{
    int64_t bytes = (int64_t)tsr_dtype_size(layout->dtype);

    for (int d = layout->shape.ndim - 1; d >= 0; d--) {
        const tsr_dim_layout *by = &layout->dim[d];
        int64_t n = layout->shape.size[d];
        bool cut = false;
        for (int i = 0; i < by->n; i++) {
            int p = layout->mesh.size[by->mdim[i]];
            n = n / by->factor[i] + (n % by->factor[i] != 0);
            n = n / p + (n % p != 0);
            cut = true;
        }
        bytes *= n;
        if (cut)
            break;
    }
    return bytes;
}

bool tsr__part_is_scattered(const tsr_spec *spec)
{
    enum { FEW_BYTES = 4096, MANY = 1024 };
    tsr_layout layout = tsr__layout_of(spec);
    int64_t range = range_bytes(&layout);

    return range > 0 && range < FEW_BYTES && (int64_t)tsr__spec_bytes(spec) / range > MANY;
}

tsr_spec tsr__part_in_ranges(const tsr_spec *spec)
{
    tsr_spec to = *spec;
    int dim = 0;

    while (dim + 1 < spec->shape.ndim && spec->shape.size[dim] == 1)
        dim++;
    for (int m = 0; m < spec->mesh.ndim; m++)
        to.place[m] = spec->shape.ndim == 0 ? tsr__replicate()
                                            : (tsr_placement){.kind = TSR_SHARD, .dim = dim};
    return to;
}
