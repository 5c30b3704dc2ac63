/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_conv_none.c - onednn_conv.h in builds without oneDNN: it has no fast code for anything, so
   that conv.c takes its other ways. */
#include "ops/convolution/onednn_conv.h"

tsr_status tsr__onednn_conv_make(tsr_heap *heap, const tsr_conv_geometry *g, tsr_dtype dtype,
                                 tsr_conv_result what, bool bias, tsr_onednn_conv **out,
                                 tsr_error *err)
{
    (void)heap, (void)g, (void)dtype, (void)what, (void)bias, (void)err;
    *out = NULL;
    return TSR_OK;
}

void tsr__onednn_conv_free(tsr_heap *heap, tsr_onednn_conv *c)
{
    (void)heap, (void)c;
}

const char *tsr__onednn_conv_name(const tsr_onednn_conv *c)
{
    (void)c;
    return "";
}

tsr_status tsr__onednn_conv_run(const tsr_onednn_conv *c, tsr_pool *pool,
                                const tsr_conv_operands *on, tsr_error *err)
{
    (void)c, (void)pool, (void)on;
    return tsr__fail(err, TSR_ERR_STATE, "convolution: this build is without oneDNN");
}
