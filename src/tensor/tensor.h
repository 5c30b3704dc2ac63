/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - a distributed tensor: its spec and this rank's part. */
#ifndef TSR_TENSOR_TENSOR_H
#define TSR_TENSOR_TENSOR_H

#include "layout/layout.h"
#include "world/mesh_handle.h"

/* Memory of parts, from the pool; shared by tensors that hold the same part. */
typedef struct tsr_buffer {
    int refs;
    tsr_ctx *ctx;
    void *data;
} tsr_buffer;

/* What a tensor of a spec is on this rank; computed once where many tensors are alike. */
typedef struct tsr_form {
    tsr_spec spec;
    uint64_t hash; /* of spec */
    tsr_shape local;
    size_t bytes; /* of the local part */
} tsr_form;

struct tsr_tensor {
    int refs;
    bool failed; /* the error tensor of its context */
    tsr_mesh *mesh;
    tsr_spec spec;
    uint64_t hash; /* of spec */
    tsr_shape local;
    size_t bytes;                /* of the local part */
    tsr_buffer *buffer;          /* NULL in a sim world and outside the mesh */
    struct tsr_scope *scope;     /* that holds a reference, or NULL */
    tsr_tensor *previous, *next; /* in the scope */
};

/* A tensor in the current scope with memory that is not set; outside the mesh and in a sim world
   without. Local. */
tsr_status tsr__tensor_make(tsr_mesh *mesh, const tsr_spec *spec, tsr_tensor **out);
tsr_form tsr__tensor_form(const tsr_mesh *mesh, const tsr_spec *spec);
/* The same for a form that is known: what dispatch does for every output. */
tsr_status tsr__tensor_make_form(tsr_mesh *mesh, const tsr_form *form, tsr_tensor **out);
/* The same part under another spec that gives the same local shape. Local. */
tsr_status tsr__tensor_share(tsr_mesh *mesh, const tsr_spec *spec, const tsr_tensor *part,
                             tsr_tensor **out);
void *tsr__tensor_data(const tsr_tensor *x); /* NULL if there is no memory */

/* What a maker returns: the tensor, or on failure the error tensor; a one-sided error poisons. */
tsr_tensor *tsr__tensor_or_error(tsr_ctx *ctx, tsr_status st, tsr_tensor *x);
/* Is x fit for use? NULL is a mistake of its own; the error tensor hands the first error on. */
tsr_status tsr__tensor_check(tsr_ctx *ctx, const tsr_tensor *x, const char *function);
/* "reading data" is not possible in a sim world: an error that says so. */
tsr_status tsr__tensor_needs_data(const tsr_tensor *x, const char *function);

#endif
