/* SPDX-License-Identifier: Apache-2.0 */
/* redistribute.c - the public functions that move tensors: to other placements, to another mesh, to
   the host, and from one rank's host to all. Each finds its program and runs it. */
#include <inttypes.h>
#include <string.h>

#include "base/activity.h"
#include "base/args.h"
#include "redist/program.h"
#include "tape/tape.h"
#include "tensor/partial.h"
#include "tensor/scope.h"
#include "world/verdict.h"

/* ---- tensor to tensor ---- */

tsr_status tsr__redistribute(tsr_tensor *x, tsr_mesh *mesh, const tsr_spec *to, tsr_tensor **out)
{
    tsr_ctx *ctx = mesh->ctx;
    bool outside = x->mesh->index < 0 && mesh->index < 0;
    tsr_program *program = NULL;
    tsr_tensor *y;
    tsr_status st;

    if (tsr_spec_equal(&x->local_spec->spec, to))
        return tsr__tensor_share(mesh, to, x, out);
    if (outside && ctx->world->kind != TSR_WORLD_SIM)
        return tsr__tensor_make(mesh, to, out);
    TSR_TRY(tsr__program_get(x->mesh, mesh, &x->local_spec->spec, x->local_spec->cached.hash, to,
                             &program));
    if (program->plan->n_steps == 0) /* size-1 mesh dims, say */
        return tsr__tensor_share(mesh, to, x, out);
    program->cached.holds++; /* the result's local spec may need memory */
    if (tsr__scope_is_limited(ctx))
        TSR_TRY(tsr__scope_spend(ctx, tsr_redist_info_get(program->plan).bytes,
                                 &x->local_spec->spec, to));
    TSR_TRY(tsr__tensor_make(mesh, to, &y));
    if (ctx->world->kind == TSR_WORLD_SIM)
        tsr__program_count(ctx, program);
    else
        TSR_TRY(tsr__program_run(program, x->mesh, mesh, tsr__tensor_data(x), tsr__tensor_data(y)));
    *out = y;
done:
    if (program)
        program->cached.holds--;
    return st;
}

tsr_tensor *tsr_redistribute(tsr_tensor *x, const char *placements)
{
    return x ? tsr_redistribute_to(x, x->mesh, placements) : NULL;
}

tsr_tensor *tsr_redistribute_to(tsr_tensor *x, tsr_mesh *mesh, const char *placements)
{
    tsr_ctx *ctx = mesh ? mesh->ctx : x ? x->mesh->ctx : NULL;
    tsr_tensor *y = NULL;
    tsr_spec like, to;
    tsr_booking b;
    tsr_status st;

    if (!ctx)
        return NULL;
    b = tsr__activity_begin(ctx);
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_redistribute"));
    if (!mesh)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_redistribute_to: the mesh is NULL"));
    like = x->local_spec->spec;
    like.mesh = mesh->shape;
    TSR_TRY(tsr_placements_parse(placements, &like, &to, &ctx->error));
    TSR_TRY(tsr__redistribute(x, mesh, &to, &y));
    if (tsr__tape_is_on(ctx))
        TSR_TRY(tsr__tape_record(
            ctx,
            &(tsr_record){.kind = TSR_TAPED_MOVE, .n_in = 1, .in = &x, .n_out = 1, .out = &y}));
done:
    tsr__activity_end(ctx, &b, TSR_DO_REDISTRIBUTE, 1);
    return tsr__tensor_or_error(ctx, st, y);
}

/* ---- tensor to host ---- */

/* What one rank alone sees, while the others wait for it or for its data. */
static tsr_status fail_alone(tsr_ctx *ctx, const tsr_error *err)
{
    ctx->world->ops->poison(ctx->world, err);
    return tsr__fail(&ctx->error, err->code, "%s", err->text);
}

/* Is the memory at out as large as the tensor? */
static tsr_status check_memory(const tsr_tensor *x, const char *function, const void *out,
                               size_t bytes, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (bytes != tsr__spec_bytes(&x->local_spec->spec))
        return tsr__fail(err, TSR_ERR_ARG, "%s: out has %zu bytes, but %s has %zu", function, bytes,
                         tsr_spec_text(&x->local_spec->spec, text, sizeof text),
                         tsr__spec_bytes(&x->local_spec->spec));
    if (bytes > 0 && !out)
        return tsr__fail(err, TSR_ERR_ARG, "%s: out is NULL", function);
    return TSR_OK;
}

/* Move x's value to `to`, whose part on this rank is the memory at out. */
static tsr_status to_memory(tsr_tensor *x, tsr_mesh *mesh, const tsr_spec *to, void *out)
{
    tsr_program *program;
    tsr_status st;

    TSR_TRY(tsr__program_get(x->mesh, mesh, &x->local_spec->spec, x->local_spec->cached.hash, to,
                             &program));
    if (program->plan->n_steps > 0)
        TSR_TRY(tsr__program_run(program, x->mesh, mesh, tsr__tensor_data(x), out));
    else if (out && x->local_spec->bytes)
        memcpy(out, tsr__tensor_data(x), x->local_spec->bytes);
    TSR_TRY(tsr__verdict_before_read(x->mesh->ctx));
done:
    return st;
}

static tsr_status outside(const tsr_tensor *x, const char *function)
{
    char text[TSR_TEXT_LEN];
    return tsr__fail(&x->mesh->ctx->error, TSR_ERR_OUTSIDE, "%s: rank %d is outside mesh %s",
                     function, x->mesh->ctx->world->rank,
                     tsr_mesh_text(&x->mesh->shape, text, sizeof text));
}

tsr_status tsr_to_host(tsr_tensor *x, void *out, size_t bytes)
{
    tsr_spec to;
    tsr_booking b;
    tsr_status st;

    if (!x)
        return TSR_ERR_ARG;
    b = tsr__activity_begin(x->mesh->ctx);
    TSR_TRY(tsr__tensor_check(x->mesh->ctx, x, "tsr_to_host"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_to_host"));
    TSR_TRY(check_memory(x, "tsr_to_host", out, bytes, &x->mesh->ctx->error));
    if (x->mesh->index < 0)
        TSR_TRY(outside(x, "tsr_to_host"));
    to = x->local_spec->spec;
    memset(to.place, 0, sizeof to.place);
    TSR_TRY(to_memory(x, x->mesh, &to, out));
done:
    tsr__activity_end(x->mesh->ctx, &b, TSR_DO_HOST, 1);
    return tsr__poison_if_local(x->mesh->ctx, st);
}

/* The mesh of one rank: that with index `root` of `mesh`. */
static tsr_status root_mesh(tsr_mesh *mesh, const char *function, int root, tsr_mesh **out)
{
    tsr_mesh_shape one = {.ndim = 1, .size = {1}, .stride = {1}};

    if (root < 0 || root >= tsr_mesh_size(mesh))
        return tsr__fail(&mesh->ctx->error, TSR_ERR_ARG, "%s: root %d is out of range 0 to %d",
                         function, root, tsr_mesh_size(mesh) - 1);
    one.first = tsr__mesh_rank_of(&mesh->shape, root);
    return tsr__mesh_open(mesh->ctx, &one, out);
}

tsr_status tsr_to_root(tsr_tensor *x, void *out, size_t bytes, int root)
{
    tsr_mesh *one = NULL;
    tsr_error err = {0};
    tsr_spec to;
    tsr_booking b;
    tsr_status st;

    if (!x)
        return TSR_ERR_ARG;
    b = tsr__activity_begin(x->mesh->ctx);
    TSR_TRY(tsr__tensor_check(x->mesh->ctx, x, "tsr_to_root"));
    TSR_TRY(tsr__tensor_needs_data(x, "tsr_to_root"));
    if (x->mesh->index < 0)
        TSR_TRY(outside(x, "tsr_to_root"));
    TSR_TRY(root_mesh(x->mesh, "tsr_to_root", root, &one));
    if (x->mesh->index == root && check_memory(x, "tsr_to_root", out, bytes, &err) != TSR_OK)
        TSR_TRY(fail_alone(x->mesh->ctx, &err));
    to = x->local_spec->spec;
    to.mesh = one->shape;
    memset(to.place, 0, sizeof to.place);
    TSR_TRY(to_memory(x, one, &to, x->mesh->index == root ? out : NULL));
done:
    tsr__activity_end(x->mesh->ctx, &b, TSR_DO_HOST, 1);
    tsr_mesh_unref(one);
    return tsr__poison_if_local(x->mesh->ctx, st);
}

/* ---- host to tensor ---- */

tsr_tensor *tsr_from_root(tsr_mesh *mesh, const char *text, const void *data, size_t bytes,
                          int root)
{
    TSR_NEED(NULL, NULL, mesh);

    tsr_ctx *ctx = mesh->ctx;
    const tsr_booking b = tsr__activity_begin(ctx);
    tsr_mesh *one = NULL;
    tsr_tensor *x = NULL;
    tsr_program *program;
    tsr_spec from, to;
    tsr_status st;

    TSR_TRY(tsr_spec_parse(text, &mesh->shape, &to, &ctx->error));
    TSR_TRY(root_mesh(mesh, "tsr_from_root", root, &one));
    TSR_TRY(tsr__tensor_make(mesh, &to, &x));
    if (!tsr__tensor_data(x))
        goto done;
    from = to;
    from.mesh = one->shape;
    memset(from.place, 0, sizeof from.place);
    if (mesh->index == root && (bytes != tsr__spec_bytes(&to) || (!data && bytes > 0))) {
        tsr_error err = {0};
        char spec[TSR_TEXT_LEN];

        if (data)
            tsr__fail(&err, TSR_ERR_ARG,
                      "tsr_from_root: data has %zu bytes on rank %d, but %s has %zu", bytes,
                      ctx->world->rank, tsr_spec_text(&to, spec, sizeof spec),
                      tsr__spec_bytes(&to));
        else
            tsr__fail(&err, TSR_ERR_ARG, "tsr_from_root: data is NULL on rank %d",
                      ctx->world->rank);
        TSR_TRY(fail_alone(ctx, &err));
    }
    TSR_TRY(tsr__program_get(one, mesh, &from, tsr__spec_hash(&from), &to, &program));
    if (program->plan->n_steps > 0)
        TSR_TRY(tsr__program_run(program, one, mesh, mesh->index == root ? data : NULL,
                                 tsr__tensor_data(x)));
    else if (x->local_spec->bytes) /* a mesh of one rank */
        memcpy(tsr__tensor_data(x), data, x->local_spec->bytes);
done:
    tsr__activity_end(ctx, &b, TSR_DO_HOST, 1);
    tsr_mesh_unref(one);
    return tsr__tensor_or_error(ctx, st, x);
}
