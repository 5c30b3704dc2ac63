/* SPDX-License-Identifier: Apache-2.0 */
/* resample_call.c - from the call of a resampling op to what it is on this rank. */
#include "ops/convolution/resample_call.h"

/* All that the results along dim d need must be here. */
static bool sees_all(const tsr_kernel_call *call, int d)
{
    const tsr_operand *in = &call->in[0], *out = &call->out[0];
    const bool back = call->number[TSR_RESAMPLE_BACK];
    const int64_t n = call->number[TSR_RESAMPLE_IN + d], o = call->number[TSR_RESAMPLE_OUT + d];
    const tsr_window_law law =
        tsr__resample_law((tsr_resample_kind)call->number[TSR_RESAMPLE_KIND], back, n, o);
    const int64_t first = out->first[2 + d], count = out->shape.size[2 + d];
    int64_t begin, end;

    tsr__window_of(&law, first, first + count, back ? o : n, &begin, &end);
    return begin >= end ||
           (in->first[2 + d] <= begin && end <= in->first[2 + d] + in->shape.size[2 + d]);
}

tsr_status tsr__prepare_resample(tsr_kernel_call *call, tsr_error *err)
{
    const tsr_shape *a = &call->in[0].shape, *b = &call->out[0].shape;
    bool fits = a->size[0] == b->size[0] && a->size[1] == b->size[1];

    for (int d = 0; d < a->ndim - 2 && fits; d++)
        fits = sees_all(call, d);
    if (!fits)
        return tsr__fail(err, TSR_ERR_SHAPE,
                         "resampling: local shapes of the operands do not match");
    return TSR_OK;
}

void tsr__kernel_resample(const tsr_kernel_call *call)
{
    const bool back = call->number[TSR_RESAMPLE_BACK];
    const tsr_operand *x = back ? &call->out[0] : &call->in[0];
    const tsr_operand *y = back ? &call->in[0] : &call->out[0];
    const tsr_resample_kind kind = (tsr_resample_kind)call->number[TSR_RESAMPLE_KIND];
    tsr_resample_shape s = {.ndim = x->shape.ndim - 2,
                            .planes = x->shape.size[0] * x->shape.size[1]};

    for (int d = 0; d < s.ndim; d++) {
        s.whole_in[d] = call->number[TSR_RESAMPLE_IN + d];
        s.whole_out[d] = call->number[TSR_RESAMPLE_OUT + d];
        s.in_first[d] = x->first[2 + d];
        s.in_count[d] = x->shape.size[2 + d];
        s.out_first[d] = y->first[2 + d];
        s.out_count[d] = y->shape.size[2 + d];
    }
    tsr__resample(&s, kind, back, x->dtype, tsr__variant_asked(call), call->memory->pool,
                  call->in[0].data, call->out[0].data, call->error);
}
