/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - loads tensors from npy files: the first rank reads the header (npy_header.c parses it),
   then each rank its own part. What one rank sees of a file becomes the same sentence on all ranks,
   without poison. Saving is npy_save.c. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/activity.h"
#include "base/args.h"
#include "base/text.h"
#include "io/npy_header.h"
#include "io/part_file.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"
#include "world/agree.h"

/* ---- the header ---- */

/* Open a file and read its header. */
static tsr_status open_npy(tsr_heap *heap, const char *path, int *fd_out, tsr_npy *npy,
                           tsr_error *err)
{
    unsigned char prefix[TSR_NPY_PREFIX];
    int64_t begin, length;
    struct stat info;
    char *text = NULL;
    size_t n;
    tsr_status st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */

    if (fd < 0 || fstat(fd, &info) != 0)
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot open %s: %s", path, tsr__errno_text(errno)));
    if (!S_ISREG(info.st_mode))
        TSR_TRY(tsr__fail(err, TSR_ERR_IO, "cannot read %s: it is not a regular file", path));
    n = info.st_size < TSR_NPY_PREFIX ? (size_t)info.st_size : TSR_NPY_PREFIX;
    TSR_TRY(tsr__file_read(fd, path, prefix, n, 0, err));
    TSR_TRY(tsr__npy_prefix(path, prefix, n, info.st_size, &begin, &length, err));
    TSR_TRY(tsr__alloc(heap, length, 1, &text, err));
    TSR_TRY(tsr__file_read(fd, path, text, (size_t)length, begin, err));
    TSR_TRY(tsr__npy_text(path, text, (size_t)length, begin + length, info.st_size, npy, err));
    *fd_out = fd;
    fd = -1;
done:
    tsr__free(heap, text);
    if (fd >= 0)
        close(fd);
    return st;
}

tsr_status tsr_npy_info(const char *path, tsr_dtype *dtype, tsr_shape *shape, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, path);

    tsr_heap heap = {0};
    tsr_npy npy;
    tsr_status st;
    int fd;

    if (!path)
        return tsr__fail(err, TSR_ERR_ARG, "tsr_npy_info: the path is NULL");
    TSR_TRY(open_npy(&heap, path, &fd, &npy, err));
    close(fd);
    if (dtype)
        *dtype = npy.dtype;
    if (shape)
        *shape = npy.shape;
done:
    return st;
}

/* The header as the first rank sees it. A rank outside the mesh looks for itself, for it needs the
   spec and must not take part. */
static tsr_status share_header(tsr_mesh *mesh, const char *path, tsr_npy *out)
{
    tsr_ctx *ctx = mesh->ctx;
    struct {
        tsr_error err;
        tsr_npy npy;
    } word = {0};
    tsr_status st = TSR_OK;
    int fd;

    if (mesh->index <= 0 && open_npy(&ctx->heap, path, &fd, &word.npy, &word.err) == TSR_OK)
        close(fd);
    if (mesh->index >= 0)
        TSR_TRY(tsr_broadcast(mesh, TSR_U8, &word, (int64_t)sizeof word, 0));
    if (word.err.code != TSR_OK)
        TSR_TRY(tsr__fail(&ctx->error, word.err.code, "%s", word.err.text));
    *out = word.npy;
done:
    return st;
}

static bool same_header(const tsr_npy *a, const tsr_npy *b)
{
    bool same = a->dtype == b->dtype && a->data == b->data && a->shape.ndim == b->shape.ndim &&
                a->swapped == b->swapped && a->fortran == b->fortran;

    for (int d = 0; d < a->shape.ndim && same; d++)
        same = a->shape.size[d] == b->shape.size[d];
    return same;
}

/* ---- loading ---- */

/* A tensor, with a failure in err instead of in the context: the ranks must agree on it first. */
static tsr_status make_tensor(tsr_mesh *mesh, const tsr_spec *spec, tsr_tensor **out,
                              tsr_error *err)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_error older = ctx->error;
    tsr_status st;

    ctx->error = (tsr_error){0};
    st = tsr__tensor_make(mesh, spec, out);
    *err = ctx->error;
    ctx->error = older;
    return st;
}

/* As the file has it: the dims the other way round in Fortran order. */
static tsr_layout layout_in_file(const tsr_layout *layout, const tsr_npy *npy)
{
    const int ndim = layout->shape.ndim;
    tsr_layout out = *layout;

    for (int d = 0; d < ndim && npy->fortran; d++) {
        out.shape.size[d] = layout->shape.size[ndim - 1 - d];
        out.dim[d] = layout->dim[ndim - 1 - d];
    }
    return out;
}

/* The bytes of this rank's part, and from them its elements. */
static tsr_status read_elements(tsr_tensor *x, const tsr_npy *npy, const tsr_part_file *file,
                                tsr_error *err)
{
    tsr_heap *heap = &x->mesh->ctx->heap;
    const tsr_layout layout = layout_in_file(file->layout, npy);
    const tsr_part_file in_file = {.fd = file->fd,
                                   .path = file->path,
                                   .begin = file->begin,
                                   .layout = &layout,
                                   .coord = file->coord};
    const tsr_shape *part = &x->local_spec->local;
    char *bytes = NULL;
    tsr_status st;

    if (tsr__npy_is_plain(npy))
        return tsr__part_read(heap, file, tsr__tensor_data(x), err);
    TSR_TRY(tsr__alloc(heap, tsr_shape_count(part), tsr_dtype_size(npy->dtype), &bytes, err));
    TSR_TRY(tsr__part_read(heap, &in_file, bytes, err));
    tsr__npy_elements(npy, part, bytes, tsr__tensor_data(x));
done:
    tsr__free(heap, bytes);
    return st;
}

static tsr_status read_part(tsr_tensor *x, const char *path, const tsr_npy *npy, tsr_error *err)
{
    tsr_heap *heap = &x->mesh->ctx->heap;
    tsr_layout layout = tsr__layout_of(&x->local_spec->spec);
    tsr_part_file file = {.path = path, .layout = &layout, .coord = x->mesh->coord};
    unsigned char *truth = tsr__tensor_data(x);
    tsr_npy own;
    tsr_status st;
    int fd = -1;

    TSR_TRY(open_npy(heap, path, &fd, &own, err));
    if (!same_header(&own, npy))
        TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT,
                          "npy file %s differs between rank %d and the mesh's first rank", path,
                          x->mesh->ctx->world->rank));
    file.fd = fd;
    file.begin = npy->data;
    TSR_TRY(read_elements(x, npy, &file, err));
    for (size_t i = 0; npy->dtype == TSR_BOOL && i < x->local_spec->bytes; i++)
        truth[i] = truth[i] != 0;
    tsr__make_partial(&layout, tsr__partial_mdims(&layout), x->mesh->coord, tsr__tensor_data(x),
                      tsr_shape_count(&x->local_spec->local));
done:
    if (fd >= 0)
        close(fd);
    return st;
}

static tsr_status load(tsr_mesh *mesh, const char *path, const tsr_npy *npy, const tsr_spec *spec,
                       tsr_tensor **out)
{
    tsr_error err = {0};
    tsr_tensor *x = NULL;
    tsr_status st = make_tensor(mesh, spec, &x, &err);

    if (mesh->index < 0) {
        if (st != TSR_OK)
            tsr__fail(&mesh->ctx->error, err.code, "%s", err.text);
        *out = x;
        return tsr__poison_if_local(mesh->ctx, st);
    }
    if (st == TSR_OK)
        st = read_part(x, path, npy, &err);
    TSR_TRY(tsr__agree(mesh, st, &err));
    *out = x;
    x = NULL;
done:
    tsr_unref(tsr_keep(x)); /* nobody has seen it */
    return st;
}

static tsr_tensor *load_npy(tsr_mesh *mesh, const char *path, const char *placements)
{
    tsr_tensor *x = NULL, *y;
    tsr_spec spec, like = {0}; /* like: as it is read */
    tsr_layout layout;
    tsr_npy npy;
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st;

    if (!path)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_load_npy: the path is NULL"));
    if (ctx->world->kind == TSR_WORLD_SIM)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_NO_DATA,
                          "tsr_load_npy: cannot read %s in the sim world, which only counts costs",
                          path));
    TSR_TRY(share_header(mesh, path, &npy));
    like.dtype = npy.dtype;
    like.shape = npy.shape;
    like.mesh = mesh->shape;
    TSR_TRY(tsr_placements_parse(placements, &like, &spec, &ctx->error));
    layout = tsr__layout_of(&spec);
    if (tsr__part_is_scattered(&spec) && !tsr__partial_mdims(&layout) && !ctx->memory_limit)
        like = tsr__part_in_ranges(&spec);
    else
        like = spec;
    TSR_TRY(load(mesh, path, &npy, &like, &x));
    if (!tsr_spec_equal(&like, &spec)) {
        y = tsr_redistribute(x, placements);
        tsr_unref(tsr_keep(x));
        return y;
    }
done:
    return st == TSR_OK ? x : tsr__tensor_failed(ctx, st);
}

tsr_tensor *tsr_load_npy(tsr_mesh *mesh, const char *path, const char *placements)
{
    tsr_booking b;
    tsr_tensor *x;

    if (!mesh)
        return NULL;
    b = tsr__activity_begin(mesh->ctx);
    x = load_npy(mesh, path, placements);
    tsr__activity_end(mesh->ctx, &b, TSR_DO_FILE, 1);
    return x;
}
