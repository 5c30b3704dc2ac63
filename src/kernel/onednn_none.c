/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_none.c - onednn.h and onednn_conv.h in builds without oneDNN: it has no fast code for
   anything, so that callers take their other ways. */
#include "kernel/onednn.h"
#include "kernel/onednn_conv.h"

const char *tsr__onednn_version(char *buf, size_t n)
{
    (void)buf, (void)n;
    return NULL;
}

bool tsr__onednn_matmul_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                            bool turned, float *c)
{
    (void)m, (void)n, (void)k, (void)a, (void)b, (void)turned, (void)c;
    return false;
}

bool tsr__onednn_matmul_bf16(int64_t m, int64_t n, int64_t k, const tsr_bf16 *a, const tsr_bf16 *b,
                             bool turned, const tsr_bf16 *bias, tsr_bf16 *c)
{
    (void)m, (void)n, (void)k, (void)a, (void)b, (void)turned, (void)bias, (void)c;
    return false;
}

bool tsr__onednn_gemm_f32(bool turn_a, bool turn_b, int64_t m, int64_t n, int64_t k, const float *a,
                          const float *b, bool add, float *c)
{
    (void)turn_a, (void)turn_b, (void)m, (void)n, (void)k, (void)a, (void)b, (void)add, (void)c;
    return false;
}

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
