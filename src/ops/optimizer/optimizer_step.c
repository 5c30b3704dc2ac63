/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_step.c - see optimizer_step.h: one pass over memory; f16 and bf16 go through blocks of
   f32 in the cache. Called through the rows of optimizers. */
#include "ops/optimizer/optimizer_step.h"

#include "base/half.h"
#include "kernel/index.h"
#include "kernel/kinds.h"
#include "ops/optimizer/optimizer_ops.h"
#include "kernel/sku.h"

#include <math.h>

enum { BLOCK = 1024, GRAD = TSR_STEP_INPUTS - 1 };

typedef struct bodies {
    void (*step)(const tsr_update *s, int64_t n, const void *const *in, void *const *out);
} bodies;

#define TABLE step_kernels
#define BODY "ops/optimizer/optimizer_step.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2_FMA
#include "base/kernel_table.inc.h"

/* ---- what a call says ---- */

static tsr_update adam_of(const tsr_attr *a)
{
    const double lr = a[0].f, beta1 = a[1].f, beta2 = a[2].f, decay = a[4].f, number = a[6].f;
    const bool decoupled = a[5].i[0] != 0;

    return (tsr_update){.kind = TSR_OPTIMIZER_ADAM,
                        .states = 2,
                        .decay = decoupled ? 0 : decay,
                        .keep = decoupled ? 1 - lr * decay : 1,
                        .lr = lr / (1 - pow(beta1, number)),
                        .first = 1 - beta1,
                        .take = beta2,
                        .square = 1 - beta2,
                        .root = 1 / sqrt(1 - pow(beta2, number)),
                        .eps = a[3].f};
}

tsr_update tsr__update_of(const tsr_kernel_call *call, tsr_optimizer_step_kind kind)
{
    const tsr_attr *a = call->attrs.value;

    switch (kind) {
    case TSR_OPTIMIZER_SGD: return (tsr_update){.kind = kind, .lr = a[0].f, .decay = a[1].f};
    case TSR_OPTIMIZER_SGD_MOMENTUM:
        return (tsr_update){.kind = kind,
                            .states = 1,
                            .lr = a[0].f,
                            .first = a[1].f,
                            .take = 1 - a[2].f,
                            .nesterov = a[3].i[0] != 0,
                            .decay = a[4].f};
    case TSR_OPTIMIZER_ADAM: return adam_of(a);
    default:
        return (tsr_update){
            .kind = kind, .states = 1, .lr = a[0].f, .eps = a[1].f, .decay = a[2].f};
    }
}

/* ---- the pass ---- */

/* Elements from i on of operands some of which are halves, widened and narrowed. */
static void block(const tsr_kernel_call *call, const tsr_update *s, const bodies *b, int64_t i,
                  int64_t n)
{
    float wide[TSR_STEP_INPUTS][BLOCK] __attribute__((aligned(64)));
    const void *in[TSR_STEP_INPUTS] = {NULL};
    void *out[TSR_STEP_INPUTS] = {NULL};

    for (int k = 0; k < call->n_in; k++) {
        const tsr_operand *x = &call->in[k];
        const char *at = (const char *)x->data + (size_t)i * tsr_dtype_size(x->dtype);
        const int slot = k == call->n_in - 1 ? GRAD : k;

        in[slot] = at;
        if (tsr__dtype_is_half(x->dtype)) {
            tsr__half_widen(x->dtype, at, n, wide[slot]);
            in[slot] = wide[slot];
        }
    }
    for (int k = 0; k < call->n_out; k++) {
        const tsr_operand *y = &call->out[k];

        out[k] = tsr__dtype_is_half(y->dtype) ? (void *)wide[k] : (void *)((float *)y->data + i);
    }
    b->step(s, n, in, out);
    for (int k = 0; k < call->n_out; k++)
        if (tsr__dtype_is_half(call->out[k].dtype))
            tsr__half_narrow(call->out[k].dtype, wide[k], n, (uint16_t *)call->out[k].data + i);
}

void tsr__update_run(const tsr_kernel_call *call, const tsr_update *s)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_OPTIMIZER, s->kind);
    const tsr_dtype dtype = call->in[0].dtype;
    const int64_t n = tsr__operand_count(&call->in[0]);
    const bodies *b = tsr__kernel_for(&step_kernels, dtype, v);
    const void *in[TSR_STEP_INPUTS] = {NULL};
    void *out[TSR_STEP_INPUTS] = {NULL};

    if (v == TSR_VARIANT_REFERENCE) {
        tsr__step_reference(call, s);
        return;
    }
    for (int64_t i = 0; i < n && tsr__dtype_is_half(dtype); i += BLOCK)
        block(call, s, b, i, n - i < BLOCK ? n - i : BLOCK);
    if (tsr__dtype_is_half(dtype))
        return;
    for (int k = 0; k < call->n_in; k++)
        in[k == call->n_in - 1 ? GRAD : k] = call->in[k].data;
    for (int k = 0; k < call->n_out; k++)
        out[k] = call->out[k].data;
    b->step(s, n, in, out);
}

void tsr__kernel_optimizer_step(const tsr_kernel_call *call)
{
    const tsr_update s = tsr__update_of(call, (tsr_optimizer_step_kind)call->kind);

    tsr__update_run(call, &s);
}
