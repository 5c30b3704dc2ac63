/* SPDX-License-Identifier: Apache-2.0 */
/* npy_save.c - saves tensors as npy files. The first rank of the mesh makes a temporary file beside
   the target, each rank writes its part into it, and only when all have agreed that it is complete
   does it replace the target: a save that fails leaves all files as they were. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/npy_header.h"
#include "io/part_file.h"
#include "tensor/partial.h"
#include "tensor/tensor.h"
#include "world/agree.h"

/* What the first rank tells the others. */
typedef struct word {
    tsr_error err;
    int64_t pid, number; /* in the name of the temporary file */
    size_t header;       /* bytes before the elements */
} word;

/* A save under way on one rank. */
typedef struct save {
    tsr_tensor *x;
    const char *path;
    char *temporary; /* name of the file that will replace the target */
    int fd;
    bool created; /* by this rank, which takes care that it does not stay */
} save;

static tsr_status name_temporary(save *s, const word *w, tsr_error *err)
{
    size_t n = strlen(s->path) + 64;
    tsr_status st = TSR_OK;

    if (!s->temporary)
        TSR_TRY(tsr__alloc(&s->x->mesh->ctx->heap, (int64_t)n, 1, &s->temporary, err));
    snprintf(s->temporary, n, "%s.tmp.%" PRId64 ".%" PRId64, s->path, w->pid, w->number);
done:
    return st;
}

/* The first rank creates the file, with its header and in its full length. */
static tsr_status create(save *s, word *w)
{
    enum { TRIES = 100 }; /* other saves of this process may have the same target */
    size_t bytes = tsr__spec_bytes(&s->x->form->spec);
    char header[TSR_NPY_WRITTEN];
    struct stat info;
    tsr_status st;

    TSR_TRY(tsr__npy_write(s->x->form->spec.dtype, &s->x->form->spec.shape, header, &w->header,
                           &w->err));
    if (stat(s->path, &info) == 0 && !S_ISREG(info.st_mode))
        TSR_TRY(
            tsr__fail(&w->err, TSR_ERR_IO, "cannot replace %s: it is not a regular file", s->path));
    w->pid = getpid();
    for (w->number = 0; s->fd < 0; w->number++) {
        TSR_TRY(name_temporary(s, w, &w->err));
        s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->fd < 0 && (errno != EEXIST || w->number == TRIES))
            TSR_TRY(tsr__fail(&w->err, TSR_ERR_IO, "cannot create %s: %s", s->temporary,
                              strerror(errno)));
    }
    w->number--;
    s->created = true;
    TSR_TRY(tsr__file_write(s->fd, s->temporary, header, w->header, 0, &w->err));
    if (ftruncate(s->fd, (off_t)(w->header + bytes)) != 0)
        TSR_TRY(tsr__fail(&w->err, TSR_ERR_IO, "cannot write %zu bytes to %s: %s", bytes,
                          s->temporary, strerror(errno)));
done:
    return st;
}

/* Errors of a disk may show only now. Some file systems know no such call. */
static tsr_status close_file(save *s, tsr_error *err)
{
    int code = fsync(s->fd) != 0 ? errno : 0;

    if (code == EINVAL || code == ENOSYS || code == ENOTSUP)
        code = 0;
    if (close(s->fd) != 0 && errno != EINTR && code == 0)
        code = errno;
    s->fd = -1;
    if (code)
        return tsr__fail(err, TSR_ERR_IO, "cannot write %s: %s", s->temporary, strerror(code));
    return TSR_OK;
}

/* Of several ranks with the same part, the first one. */
static bool is_first_holder(const tsr_tensor *x)
{
    for (int m = 0; m < x->form->spec.mesh.ndim; m++)
        if (x->form->spec.place[m].kind == TSR_REPLICATE && x->mesh->coord[m] != 0)
            return false;
    return true;
}

static tsr_status write_part(save *s, const word *w, tsr_error *err)
{
    const tsr_tensor *x = s->x;
    tsr_layout layout = tsr__layout_of(&x->form->spec);
    tsr_part_file file = {.layout = &layout, .coord = x->mesh->coord};
    tsr_status st = TSR_OK;

    if (!s->created) {
        if (x->form->bytes == 0 || !is_first_holder(x))
            return TSR_OK;
        TSR_TRY(name_temporary(s, w, err));
        s->fd = open(s->temporary, O_WRONLY | O_CLOEXEC);
        if (s->fd < 0)
            TSR_TRY(tsr__fail(err, TSR_ERR_IO, "rank %d cannot open %s: %s",
                              x->mesh->ctx->world->rank, s->temporary, strerror(errno)));
    }
    file.fd = s->fd;
    file.path = s->temporary;
    file.begin = (int64_t)w->header;
    TSR_TRY(tsr__part_write(&x->mesh->ctx->heap, &file, tsr__tensor_data(x), err));
    TSR_TRY(close_file(s, err));
done:
    return st;
}

/* The file is complete: give it its name, and see to it that the name lasts. */
static tsr_status replace(save *s, tsr_error *err)
{
    char *slash = strrchr(s->temporary, '/');
    int folder;

    if (rename(s->temporary, s->path) != 0)
        return tsr__fail(err, TSR_ERR_IO, "cannot rename %s to %s: %s", s->temporary, s->path,
                         strerror(errno));
    s->created = false;
    if (slash)
        slash[slash == s->temporary] = 0;
    folder = open(slash ? s->temporary : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder); /* not all systems can; the data is safe in any case */
        close(folder);
    }
    return TSR_OK;
}

static tsr_status write_file(tsr_tensor *x, const char *path)
{
    save s = {.x = x, .path = path, .fd = -1};
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
    st = mesh->index == 0 ? replace(&s, &err) : TSR_OK;
    TSR_TRY(tsr__agree(mesh, st, &err));
done:
    if (s.fd >= 0)
        close(s.fd);
    if (s.created)
        unlink(s.temporary);
    tsr__free(&mesh->ctx->heap, s.temporary);
    return st;
}

tsr_status tsr_save_npy(tsr_tensor *x, const char *path)
{
    char text[TSR_TEXT_LEN];
    tsr_tensor *y = NULL;
    tsr_layout layout;
    tsr_spec to;
    tsr_ctx *ctx;
    tsr_status st;

    if (!x)
        return TSR_ERR_ARG;
    ctx = x->mesh->ctx;
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_save_npy"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_save_npy"));
    if (!path)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_save_npy: the path is NULL"));
    if (x->mesh->index < 0)
        return TSR_OK;
    layout = tsr__layout_of(&x->form->spec);
    if (tsr__partial_mdims(&layout) ||
        (tsr__part_is_scattered(&x->form->spec) && !ctx->memory_limit)) {
        to = tsr__part_in_ranges(&x->form->spec);
        y = tsr_redistribute(x, tsr_placements_text(&to, text, sizeof text));
        if (!tsr_tensor_ok(y))
            return tsr_mesh_status(x->mesh);
    }
    TSR_TRY(write_file(y ? y : x, path));
done:
    tsr_unref(tsr_keep(y)); /* nobody has seen it */
    return st;
}
