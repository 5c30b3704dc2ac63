/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - a distributed tensor: its spec and this rank's part. */
#ifndef TSR_TENSOR_TENSOR_H
#define TSR_TENSOR_TENSOR_H

#include <stddef.h>

#include "base/cache.h"
#include "layout/layout.h"
#include "world/mesh_handle.h"

/* Memory of parts, from the pool; shared by tensors that hold the same part. */
typedef struct tsr_buffer {
    int refs;
    tsr_ctx *ctx;
    void *data;
} tsr_buffer;

/* What a tensor of a spec is on this rank. There is one for every spec that is in use, so tensors
   carry an address, and equal specs have equal addresses. It stays while tensors and plans hold it;
   others are forgotten when there are many. */
typedef struct tsr_local_spec {
    tsr_cached cached; /* by the hash of spec */
    tsr_spec spec;
    tsr_shape local;
    size_t bytes; /* of the local part */
} tsr_local_spec;

/* A part of a tensor with what neighbours have of its window, as an op needed it: kept for the
   next op that needs the same. */
typedef struct tsr_kept {
    tsr_layout layout;
    unsigned version; /* of the tensor */
    size_t bytes;     /* of the largest rank's window */
    tsr_buffer *window;
} tsr_kept;

/* A watched tensor's gradient: dense, and as rows of it, made and freed by the family of ops whose
   gradients are row-sparse. */
typedef struct tsr_leaf {
    bool by_rows;            /* as rows, where ops can say so */
    tsr_local_spec *stepped; /* has the placements of an optimizer's states; NULL: none is known */
    tsr_tensor *grad;
    struct tsr_row_sparse *sparse;
    int n_sparse, cap_sparse;
    void (*clear_rows)(tsr_ctx *ctx, struct tsr_leaf *leaf); /* NULL: it never had rows */
} tsr_leaf;

struct tsr_tensor {
    int refs;
    bool failed;      /* the error tensor of its context */
    bool released;    /* a tape freed the values, only the spec is left */
    bool invalid;     /* made or changed since a call that turned out to have failed */
    unsigned version; /* how often it was overwritten */
    tsr_mesh *mesh;
    tsr_local_spec *local_spec;  /* held */
    tsr_kept *kept;              /* NULL: none */
    tsr_buffer *buffer;          /* NULL in a sim world and outside the mesh */
    struct tsr_scope *scope;     /* that holds a reference, or NULL */
    tsr_tensor *previous, *next; /* in the scope */
    tsr_leaf *leaf;              /* NULL: not watched */
    uint64_t node;               /* of a tape that made it, by number; 0: none */
    int node_out;                /* and which of its outputs it is */
    uint64_t made;               /* the context's clock when it was made or last changed */
    tsr_tensor *other;           /* in ctx->tensors */
    const char *no_grad_op; /* the op without a gradient after which no tape knows it, or NULL */
};

/* local_spec.c: the local spec of a spec; it lives until the next one is asked for, or while it is
   held. */
tsr_status tsr__local_spec_get(const tsr_mesh *mesh, const tsr_spec *spec, tsr_local_spec **out);
static inline tsr_local_spec *tsr__local_spec_hold(tsr_local_spec *local_spec)
{
    local_spec->cached.holds++;
    return local_spec;
}
static inline void tsr__local_spec_release(tsr_local_spec *local_spec) /* NULL is fine */
{
    if (local_spec)
        local_spec->cached.holds--;
}
static inline tsr_local_spec *tsr__local_spec_of(const tsr_spec *spec) /* of which it is the spec */
{
    return (tsr_local_spec *)((char *)(uintptr_t)spec - offsetof(tsr_local_spec, spec));
}
void tsr__local_specs_free(tsr_ctx *ctx);

/* A tensor in the current scope with memory that is not set; outside the mesh and in a sim world
   without. Local. */
tsr_status tsr__tensor_make(tsr_mesh *mesh, const tsr_spec *spec, tsr_tensor **out);
/* The same for the spec that a text is on this mesh. */
tsr_status tsr__tensor_of_text(tsr_mesh *mesh, const char *text, tsr_tensor **out);
/* The same for a known local spec: what dispatch does for every output. */
tsr_status tsr__tensor_make_local_spec(tsr_mesh *mesh, tsr_local_spec *local_spec,
                                       tsr_tensor **out);
/* The same part under another spec, or a known local spec, whose local part has as many elements
   in the same order. Local. */
tsr_status tsr__tensor_share(tsr_mesh *mesh, const tsr_spec *spec, const tsr_tensor *part,
                             tsr_tensor **out);
tsr_status tsr__tensor_share_local_spec(tsr_mesh *mesh, tsr_local_spec *local_spec,
                                        const tsr_tensor *part, tsr_tensor **out);
/* Memory of its own for a tensor that shares its part with others; what it holds is not copied: the
   old buffer stays in *before until it is released by tsr__buffer_release. Local. */
tsr_status tsr__tensor_own(tsr_tensor *x, tsr_buffer **before);
/* A handle of the same spec without memory, in no scope: what is left of a tensor for those who
   need its spec alone. Any op on it is an error. Local. */
tsr_status tsr__tensor_shape_only(const tsr_tensor *x, tsr_tensor **out);
void tsr__leaf_clear(tsr_ctx *ctx, tsr_leaf *leaf); /* no gradient */
void tsr__buffer_release(tsr_buffer *buffer);
tsr_status tsr__buffer_make(tsr_ctx *ctx, size_t bytes, tsr_buffer **out);
/* kept.c: what is kept of x in this layout, borrowed, NULL if nothing; keeping a window, if the
   context's limit allows it; and no longer. */
tsr_buffer *tsr__kept_find(const tsr_tensor *x, const tsr_layout *layout);
tsr_status tsr__kept_add(tsr_tensor *x, const tsr_layout *layout, tsr_buffer *window);
void tsr__kept_drop(tsr_tensor *x);

/* NULL if there is no memory */
static inline void *tsr__tensor_data(const tsr_tensor *x)
{
    return x->buffer ? x->buffer->data : NULL;
}

/* Where a public function says what is wrong, and what it gives instead of a tensor; NULL if it
   was given none. */
static inline tsr_error *tsr__tensor_error(const tsr_tensor *x)
{
    return x ? &x->mesh->ctx->error : NULL;
}
static inline tsr_tensor *tsr__error_tensor(const tsr_mesh *mesh)
{
    return mesh ? mesh->ctx->error_tensor : NULL;
}
/* Tensors that were made or changed at this time or later are invalid; 0: all. Local. */
void tsr__tensors_invalidate(tsr_ctx *ctx, uint64_t clock);
/* A call made or changed x: it joins the history of x's mesh; `salt` is what else the ranks must
   agree on: which function, a value. Local. */
void tsr__tensor_note(tsr_tensor *x, uint64_t salt);

/* What a maker returns: the tensor, or on failure the error tensor; a one-sided error poisons. */
tsr_tensor *tsr__tensor_or_error(tsr_ctx *ctx, tsr_status st, tsr_tensor *x);
/* The error tensor, of a call that failed with st. */
tsr_tensor *tsr__tensor_failed(tsr_ctx *ctx, tsr_status st);
/* The status of the call that has just given x, whatever errors the context had before it. */
static inline tsr_status tsr__tensor_status(const tsr_tensor *x)
{
    return !x ? TSR_ERR_ARG : x->failed ? x->mesh->ctx->failed : TSR_OK;
}
/* Is x fit for use? */
static inline bool tsr__tensor_usable(const tsr_tensor *x)
{
    return x && !(x->failed | x->released | x->invalid);
}
/* The same, and why not: NULL is a mistake of its own; the error tensor hands the first error on.
   */
tsr_status tsr__tensor_check(tsr_ctx *ctx, const tsr_tensor *x, const char *function);
/* "reading data" is not possible in a sim world: an error that says so. */
tsr_status tsr__tensor_needs_data(const tsr_tensor *x, const char *function);

#endif
