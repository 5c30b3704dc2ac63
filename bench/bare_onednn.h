/* SPDX-License-Identifier: Apache-2.0 */
/* bare_onednn.h - oneDNN called bare, as a yardstick: convolutions on layouts of its own choice,
   and sgemm. Used by bench_conv.c and bench_ops.c. */
#ifndef BENCH_BARE_ONEDNN_H
#define BENCH_BARE_ONEDNN_H

#include <tessera.h>

enum { BENCH_SPACE = 3 };

typedef enum bare_product { BARE_OUTPUT, BARE_GRAD_INPUT, BARE_GRAD_WEIGHT } bare_product;

/* Per spatial dim; kernels are as wide in all of them. */
typedef struct bare_shape {
    int ndim;
    int64_t batch, in_channels, out_channels, groups;
    int64_t size, kernel, stride, padding;
} bare_shape;

typedef struct bare_conv bare_conv;

static inline int64_t bare_out_size(const bare_shape *s)
{
    return (s->size + 2 * s->padding - s->kernel) / s->stride + 1;
}

/* Is oneDNN part of this build? */
bool bare_available(void);

/* f32 or bf16, on one thread; NULL if oneDNN cannot. */
bare_conv *bare_conv_open(const bare_shape *s, tsr_dtype dtype, bare_product what);
tsr_status bare_conv_run(void *bare);
void bare_conv_close(bare_conv *bare); /* NULL is fine */

/* c[m,n] = a[m,k] b[k,n] on one thread; only if available. */
tsr_status bare_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c);

#endif
