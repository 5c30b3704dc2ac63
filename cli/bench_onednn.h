/* SPDX-License-Identifier: Apache-2.0 */
/* bench_onednn.h - oneDNN called bare on layouts of its own choice, as the yardstick of
   convolution. */
#ifndef CLI_BENCH_ONEDNN_H
#define CLI_BENCH_ONEDNN_H

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

int64_t bare_out_size(const bare_shape *s);
/* f32 or bf16, on one thread; NULL if oneDNN cannot. */
bare_conv *bare_conv_open(const bare_shape *s, tsr_dtype dtype, bare_product what);
tsr_status bare_conv_run(void *bare);
void bare_conv_close(bare_conv *bare); /* NULL is fine */

#endif
