/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_grad.c - gradients of lookups in tables and of bags: dense, for all rows of the table. Who
   wants the rows that were touched only asks for these by themselves
   (ops/embedding/row_sparse_rows.c). */
#include "grad/grad.h"
#include "ops/embedding/embedding_ops.h"
#include "ops/embedding/lookups.h"

enum { TABLE = TSR__TABLE, IDS = TSR__IDS, OFFSETS = TSR__OFFSETS, WEIGHTS = TSR__WEIGHTS };

static int64_t rows_of(const tsr_grad_call *c)
{
    return tsr_tensor_spec(c->in[TABLE])->shape.size[0];
}

static tsr_embedding_opts opts_of(const tsr_grad_call *c)
{
    return tsr__lookup_opts(c->op->kind, c->attrs->value);
}

tsr_status tsr__grad_embedding(const tsr_grad_call *c)
{
    const tsr_embedding_opts o = opts_of(c);

    if (c->wanted[TABLE])
        c->grad_in[TABLE] = tsr_embedding_backward(c->grad_out[0], c->in[IDS], rows_of(c), &o);
    return TSR_OK;
}

tsr_status tsr__grad_bag_sum(const tsr_grad_call *c)
{
    const tsr_embedding_opts o = opts_of(c);

    if (c->wanted[TABLE])
        c->grad_in[TABLE] = tsr_bag_sum_backward(c->grad_out[0], c->in[IDS], c->in[OFFSETS],
                                                 c->in[WEIGHTS], rows_of(c), &o);
    if (c->wanted[WEIGHTS])
        c->grad_in[WEIGHTS] =
            tsr_bag_weights_backward(c->grad_out[0], c->in[TABLE], c->in[IDS], c->in[OFFSETS], &o);
    return TSR_OK;
}

tsr_status tsr__grad_bag_mean(const tsr_grad_call *c)
{
    const tsr_embedding_opts o = opts_of(c);

    if (c->wanted[TABLE])
        c->grad_in[TABLE] =
            tsr_bag_mean_backward(c->grad_out[0], c->in[IDS], c->in[OFFSETS], rows_of(c), &o);
    return TSR_OK;
}

/* Its second output says which rows were taken. */
tsr_status tsr__grad_bag_max(const tsr_grad_call *c)
{
    if (c->wanted[TABLE])
        c->grad_in[TABLE] = tsr_bag_max_backward(c->grad_out[0], c->out[1], rows_of(c));
    return TSR_OK;
}
