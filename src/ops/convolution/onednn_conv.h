/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_conv.h - products of convolutions by oneDNN, for conv.c. */
#ifndef TSR_OPS_ONEDNN_CONV_H
#define TSR_OPS_ONEDNN_CONV_H

#include "ops/convolution/conv_geometry.h"

/* A product made ready; for one thread at a time. */
typedef struct tsr_onednn_conv tsr_onednn_conv;

/* f32 or bf16, nothing empty. *out becomes NULL where oneDNN has no fast code for it. */
tsr_status tsr__onednn_conv_make(tsr_heap *heap, const tsr_conv_geometry *g, tsr_dtype dtype,
                                 tsr_conv_result what, bool bias, tsr_onednn_conv **out,
                                 tsr_error *err);
void tsr__onednn_conv_free(tsr_heap *heap, tsr_onednn_conv *c);
const char *tsr__onednn_conv_name(const tsr_onednn_conv *c);
tsr_status tsr__onednn_conv_run(const tsr_onednn_conv *c, tsr_pool *pool,
                                const tsr_conv_operands *on, tsr_error *err);

#endif
