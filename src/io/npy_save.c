/* SPDX-License-Identifier: Apache-2.0 */
/* npy_save.c - saves tensors as npy files. The first rank of the mesh makes a temporary file beside
   the target (new_file.h), each rank writes its part into it, and only when all have agreed that it
   is complete does it replace the target: a save that fails leaves all files as they were. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/activity.h"
#include "base/text.h"
#include "io/new_file.h"
#include "io/npy_header.h"
#include "io/part_file.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"
#include "world/agree.h"
#include "world/verdict.h"

/* What the first rank tells the others. */
typedef struct word {
    tsr_error err;
    size_t header; /* bytes before the elements */
    char temporary[PATH_MAX];
} word;

/* A save under way on one rank. */
typedef struct save {
    tsr_tensor *x;
    const char *path;
    tsr_new_file file; /* created by the first rank, opened by the others */
} save;

/* The first rank creates the file, with its header and in its full length. */
static tsr_status create(save *s, word *w)
{
    size_t bytes = tsr__spec_bytes(&s->x->local_spec->spec);
    char header[TSR_NPY_WRITTEN];
    tsr_status st;

    TSR_TRY(tsr__npy_write(s->x->local_spec->spec.dtype, &s->x->local_spec->spec.shape, header,
                           &w->header, &w->err));
    TSR_TRY(tsr__new_file_open(&s->file, s->path, &w->err));
    memcpy(w->temporary, s->file.temporary, sizeof w->temporary);
    TSR_TRY(tsr__file_write(s->file.fd, w->temporary, header, w->header, 0, &w->err));
    if (ftruncate(s->file.fd, (off_t)(w->header + bytes)) != 0)
        TSR_TRY(tsr__fail(&w->err, TSR_ERR_IO, "cannot write %zu bytes to %s: %s", bytes,
                          w->temporary, tsr__errno_text(errno)));
done:
    return st;
}

/* Errors of a disk may show only now. Some file systems know no such call. */
static tsr_status close_file(tsr_new_file *file, const char *name, tsr_error *err)
{
    int code = fsync(file->fd) != 0 ? errno : 0;

    if (code == EINVAL || code == ENOSYS || code == ENOTSUP)
        code = 0;
    if (close(file->fd) != 0 && errno != EINTR && code == 0)
        code = errno;
    file->fd = -1;
    if (code)
        return tsr__fail(err, TSR_ERR_IO, "cannot write %s: %s", name, tsr__errno_text(code));
    return TSR_OK;
}

/* Of several ranks with the same part, the first one. */
static bool is_first_holder(const tsr_tensor *x)
{
    for (int m = 0; m < x->local_spec->spec.mesh.ndim; m++)
        if (x->local_spec->spec.place[m].kind == TSR_REPLICATE && x->mesh->coord[m] != 0)
            return false;
    return true;
}

static tsr_status write_part(save *s, const word *w, tsr_error *err)
{
    const tsr_tensor *x = s->x;
    tsr_layout layout = tsr__layout_of(&x->local_spec->spec);
    tsr_part_file file = {.layout = &layout, .coord = x->mesh->coord};
    tsr_status st = TSR_OK;

    if (s->file.fd < 0) {
        if (x->local_spec->bytes == 0 || !is_first_holder(x))
            return TSR_OK;
        s->file.fd = open(w->temporary, O_WRONLY | O_CLOEXEC);
        if (s->file.fd < 0)
            TSR_TRY(tsr__fail(err, TSR_ERR_IO, "rank %d cannot open %s: %s",
                              x->mesh->ctx->world->rank, w->temporary, tsr__errno_text(errno)));
    }
    file.fd = s->file.fd;
    file.path = w->temporary;
    file.begin = (int64_t)w->header;
    TSR_TRY(tsr__part_write(&x->mesh->ctx->heap, &file, tsr__tensor_data(x), err));
    TSR_TRY(close_file(&s->file, w->temporary, err));
done:
    return st;
}

static tsr_status write_file(tsr_tensor *x, const char *path)
{
    save s = {.x = x, .path = path, .file = {.fd = -1, .lock = -1}};
    tsr_mesh *mesh = x->mesh;
    tsr_error err = {0};
    word w = {0};
    tsr_status st;

    if (mesh->index == 0)
        create(&s, &w);
    TSR_TRY(tsr_broadcast(mesh, TSR_U8, &w, (int64_t)sizeof w, 0));
    if (w.err.code != TSR_OK)
        TSR_TRY(tsr__fail(&mesh->ctx->error, w.err.code, "%s", w.err.text));
    st = write_part(&s, &w, &err);
    TSR_TRY(tsr__agree(mesh, st, &err));
    st = mesh->index == 0 ? tsr__new_file_replace(&s.file, &err) : TSR_OK;
    TSR_TRY(tsr__agree(mesh, st, &err));
done:
    tsr__new_file_close(&s.file);
    return st;
}

static tsr_status save_tensor(tsr_tensor *x, const char *path)
{
    char text[TSR_TEXT_LEN];
    tsr_tensor *y = NULL;
    tsr_layout layout;
    tsr_spec to;
    tsr_ctx *ctx = x->mesh->ctx;
    tsr_status st;

    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_save_npy"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_save_npy"));
    if (!path)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_save_npy: the path is NULL"));
    if (x->mesh->index < 0)
        return TSR_OK;
    layout = tsr__layout_of(&x->local_spec->spec);
    if (tsr__partial_mdims(&layout) ||
        (tsr__part_is_scattered(&x->local_spec->spec) && !ctx->memory_limit)) {
        to = tsr__part_in_ranges(&x->local_spec->spec);
        y = tsr_redistribute(x, tsr_placements_text(&to, text, sizeof text));
        if (!tsr_tensor_ok(y))
            return tsr__tensor_status(y);
    }
    TSR_TRY(write_file(y ? y : x, path));
done:
    tsr_unref(tsr_keep(y)); /* nobody has seen it */
    return st == TSR_OK ? tsr__verdict_before_read(x->mesh->ctx) : st;
}

tsr_status tsr_save_npy(tsr_tensor *x, const char *path)
{
    tsr_booking b;
    tsr_status st;

    if (!x)
        return TSR_ERR_ARG;
    b = tsr__activity_begin(x->mesh->ctx);
    st = save_tensor(x, path);
    tsr__activity_end(x->mesh->ctx, &b, TSR_DO_FILE, 1);
    return st;
}
