/* SPDX-License-Identifier: Apache-2.0 */
/* index_grad.c - gradients of ops that read, write or order elements by indices. What was read
   gets what was made of it, added up; what was written gets what is read there. */
#include "grad/grad.h"
#include "ops/indexing/indexing_ops.h"
#include "ops/indexing/indexing_attrs.h"
#include "tessera_ops.h"

/* Zeros of x's shape where x is; replicated where x is partial. */
static tsr_tensor *zeros_like(const tsr_tensor *x)
{
    tsr_spec spec = *tsr_tensor_spec(x);

    for (int m = 0; m < spec.mesh.ndim; m++)
        if (spec.place[m].kind == TSR_PARTIAL)
            spec.place[m] = (tsr_placement){0};
    return tsr_tensor_new(tsr_tensor_mesh(x), &spec);
}

static int dim_of(const tsr_grad_call *c)
{
    return (int)c->attrs->value[TSR_ATTR_GATHER_DIM].i[0];
}

/* As lists, along which everything is index_select. */
tsr_status tsr__grad_take(const tsr_grad_call *c)
{
    const tsr_spec *x = tsr_tensor_spec(c->in[0]);
    const tsr_spec list = {.dtype = x->dtype,
                           .shape = {.ndim = 1, .size = {tsr_shape_count(&x->shape)}},
                           .mesh = x->mesh};
    const int64_t all = -1;

    if (c->wanted[0])
        c->grad_in[0] = tsr_reshape(tsr_index_add(tsr_tensor_new(tsr_tensor_mesh(c->in[0]), &list),
                                                  0, tsr_reshape(c->in[1], &all, 1),
                                                  tsr_reshape(c->grad_out[0], &all, 1)),
                                    x->shape.size, x->shape.ndim);
    return TSR_OK;
}

/* g, of the index's shape, with zeros behind it up to the shape of src. */
static tsr_tensor *fill_up(tsr_tensor *g, const tsr_tensor *src)
{
    const tsr_shape *want = &tsr_tensor_spec(src)->shape;

    for (int d = 0; d < want->ndim; d++) {
        tsr_spec rest = *tsr_tensor_spec(g);

        rest.shape.size[d] = want->size[d] - rest.shape.size[d];
        if (rest.shape.size[d] == 0)
            continue;
        for (int m = 0; m < rest.mesh.ndim; m++)
            rest.place[m] = (tsr_placement){0};
        g = tsr_cat((tsr_tensor *[]){g, tsr_tensor_new(tsr_tensor_mesh(g), &rest)}, 2, d);
    }
    return g;
}

tsr_status tsr__grad_scatter(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = tsr_scatter(c->grad_out[0], dim_of(c), c->in[1], zeros_like(c->in[2]));
    if (c->wanted[2])
        c->grad_in[2] =
            fill_up(tsr_scatter_backward(c->grad_out[0], dim_of(c), c->in[1]), c->in[2]);
    return TSR_OK;
}

tsr_status tsr__grad_scatter_add(const tsr_grad_call *c)
{
    if (c->wanted[0])
        c->grad_in[0] = c->grad_out[0];
    if (c->wanted[2])
        c->grad_in[2] = fill_up(tsr_gather(c->grad_out[0], dim_of(c), c->in[1]), c->in[2]);
    return TSR_OK;
}
