/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_none.c - onednn.h in builds without oneDNN: it has no fast code for anything, so that
   callers take their other ways. */
#include "kernel/onednn.h"

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
