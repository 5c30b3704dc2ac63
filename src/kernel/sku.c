/* SPDX-License-Identifier: Apache-2.0 */
/* sku.c - the table of the kernels that there are, and what follows from it: their names, the list
   of them, and which variant runs on this processor. Called by every kernel for its variant, and by
   whoever lists kernels. */
#include "kernel/sku.h"
#include "kernel/kinds.h"

#include "base/args.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "kernel/blas.h"
#include "kernel/onednn.h"

#include <stdio.h>
#include <string.h>

/* Sets of variants. */
enum {
    R = 1 << TSR_VARIANT_REFERENCE,
    P = R | 1 << TSR_VARIANT_PLAIN,
    V = P | 1 << TSR_VARIANT_AVX2,
    W = V | 1 << TSR_VARIANT_AVX512,
    L = R | 1 << TSR_VARIANT_LIBRARY
};

typedef struct op_facts {
    const char *name;
    /* sets by class of dtypes, 0: there is none: floats, integers, bool, the field */
    uint8_t variants[TSR__CLASSES];
} op_facts;

static const op_facts EMBEDDING[] = {
    [TSR_EMBEDDING] = {"embedding", {W, 0, 0, W}},
    [TSR_EMBEDDING_BACKWARD] = {"embedding_backward", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_SUM] = {"bag_sum", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_MEAN] = {"bag_mean", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_SUM_BACKWARD] = {"bag_sum_backward", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_MEAN_BACKWARD] = {"bag_mean_backward", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_MAX] = {"bag_max", {W, 0, 0, 0}},
    [TSR_EMBEDDING_BAG_MAX_BACKWARD] = {"bag_max_backward", {W, 0, 0, W}},
    [TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD] = {"bag_weights_backward", {W, 0, 0, W}},
    [TSR_EMBEDDING_RENORM] = {"embedding_renorm", {P, 0, 0, 0}},
};
/* The dtype is that of the inputs, where the output's is another. */
static const op_facts POINTWISE[] = {
#define BASIC(OP, name) [TSR_POINTWISE_##OP] = {#name, {V, V, R, R}},
#define NUMBER(OP, name) [TSR_POINTWISE_##OP] = {#name, {V, V, 0, R}},
#define FLOAT(OP, name) [TSR_POINTWISE_##OP] = {#name, {W, 0, 0, 0}},
#define WHOLE(OP, name) [TSR_POINTWISE_##OP] = {#name, {W, V, 0, 0}},
#define VALUE(OP, name) [TSR_POINTWISE_##OP] = {#name, {V, V, V, 0}},
#define TRUTH(OP, name) VALUE(OP, name)
#define APART(OP, name) [TSR_POINTWISE_##OP] = {#name, {P, P, P, 0}},
#include "kernel/pointwise_list.inc.h"
};
static const op_facts LINALG[] = {
    [TSR_LINALG_MATMUL] = {"matmul", {L, 0, 0, R}},
    [TSR_LINALG_LINEAR] = {"linear", {L, 0, 0, R}},
    [TSR_LINALG_EINSUM] = {"einsum", {L, 0, 0, R}},
    [TSR_LINALG_ATTENTION] = {"attention", {W, 0, 0, 0}},
    [TSR_LINALG_ATTENTION_BACKWARD] = {"attention_backward", {W, 0, 0, 0}},
};
static const op_facts REDUCTION[] = {
    [TSR_REDUCTION_SUM] = {"sum", {V, V, V, V}},
    [TSR_REDUCTION_MEAN] = {"mean", {V, 0, 0, V}},
    [TSR_REDUCTION_MAX] = {"max", {V, V, V, V}},
    [TSR_REDUCTION_PROD] = {"prod", {V, V, V, V}},
    [TSR_REDUCTION_MIN] = {"min", {V, V, V, V}},
    [TSR_REDUCTION_NORM] = {"norm", {V, 0, 0, 0}},
    [TSR_REDUCTION_VAR] = {"var", {V, 0, 0, 0}},
    [TSR_REDUCTION_STD] = {"std", {V, 0, 0, 0}},
    [TSR_REDUCTION_LOGSUMEXP] = {"logsumexp", {W, 0, 0, 0}},
    [TSR_REDUCTION_ARGMAX] = {"argmax", {V, V, V, 0}},
    [TSR_REDUCTION_ARGMIN] = {"argmin", {V, V, V, 0}},
    [TSR_REDUCTION_ANY] = {"any", {V, V, V, 0}},
    [TSR_REDUCTION_ALL] = {"all", {V, V, V, 0}},
    [TSR_REDUCTION_CUMSUM] = {"cumsum", {V, V, 0, V}},
    [TSR_REDUCTION_CUMPROD] = {"cumprod", {V, V, 0, V}},
};
static const op_facts SOFTMAX[] = {
    [TSR_SOFTMAX] = {"softmax", {W, 0, 0, 0}},
    [TSR_LOG_SOFTMAX] = {"log_softmax", {W, 0, 0, 0}},
    [TSR_SOFTMAX_BACKWARD] = {"softmax_backward", {W, 0, 0, 0}},
    [TSR_LOG_SOFTMAX_BACKWARD] = {"log_softmax_backward", {W, 0, 0, 0}},
};
static const op_facts MOVE[] = {
    [TSR_MOVE_CAT] = {"cat", {P, P, P, P}},
    [TSR_MOVE_TRANSPOSE] = {"transpose", {P, P, P, P}},
    [TSR_MOVE_SLICE] = {"slice", {P, P, P, P}},
    [TSR_MOVE_RESHAPE] = {"reshape", {P, P, P, P}},
    [TSR_MOVE_EXPAND] = {"expand", {P, P, P, P}},
    [TSR_MOVE_PERMUTE] = {"permute", {P, P, P, P}},
    [TSR_MOVE_STACK] = {"stack", {P, P, P, P}},
    [TSR_MOVE_TILE] = {"tile", {P, P, P, P}},
    [TSR_MOVE_SELECT] = {"select", {P, P, P, P}},
    [TSR_MOVE_UNFOLD] = {"unfold", {P, P, P, P}},
    [TSR_MOVE_DIAGONAL] = {"diagonal", {P, P, P, P}},
    [TSR_MOVE_FLIP] = {"flip", {P, P, P, P}},
    [TSR_MOVE_ROLL] = {"roll", {P, P, P, P}},
    [TSR_MOVE_PAD] = {"pad", {P, P, P, P}},
    [TSR_MOVE_PAD_REFLECT] = {"pad_reflect", {P, P, P, P}},
    [TSR_MOVE_PAD_REPLICATE] = {"pad_replicate", {P, P, P, P}},
    [TSR_MOVE_PAD_CIRCULAR] = {"pad_circular", {P, P, P, P}},
    [TSR_MOVE_TRIL] = {"tril", {P, P, P, P}},
    [TSR_MOVE_TRIU] = {"triu", {P, P, P, P}},
    [TSR_MOVE_SLICE_BACKWARD] = {"slice_backward", {P, P, P, P}},
    [TSR_MOVE_UNFOLD_BACKWARD] = {"unfold_backward", {P, P, P, P}},
};
static const op_facts CONVOLUTION[] = {
    [TSR_CONVOLUTION_OUTPUT] = {"output", {L, R, R, R}},
    [TSR_CONVOLUTION_GRAD_INPUT] = {"grad_input", {L, R, R, R}},
    [TSR_CONVOLUTION_GRAD_WEIGHT] = {"grad_weight", {L, R, R, R}},
};
static const op_facts POOLING[] = {
    [TSR_POOLING_MAX] = {"max", {V, V, R, V}},
    [TSR_POOLING_AVERAGE] = {"average", {V, R, R, V}},
    [TSR_POOLING_MAX_GRAD] = {"max_grad", {V, V, R, V}},
    [TSR_POOLING_AVERAGE_GRAD] = {"average_grad", {V, R, R, V}},
};
static const op_facts INDEX[] = {
    [TSR_INDEX_GATHER] = {"gather", {P, P, P, P}},
    [TSR_INDEX_SELECT] = {"index_select", {P, P, P, P}},
    [TSR_INDEX_TAKE] = {"take", {P, P, P, P}},
    [TSR_INDEX_SCATTER] = {"scatter", {P, P, P, P}},
    [TSR_INDEX_SCATTER_ADD] = {"scatter_add", {P, P, 0, P}},
    [TSR_INDEX_ADD] = {"index_add", {P, P, 0, P}},
    [TSR_INDEX_SCATTER_BACKWARD] = {"scatter_backward", {P, P, P, P}},
    [TSR_INDEX_ONE_HOT] = {"one_hot", {P, P, P, 0}},
};
static const op_facts ORDER[] = {
    [TSR_ORDER_SORT] = {"sort", {P, P, P, 0}},
    [TSR_ORDER_TOPK] = {"topk", {P, P, P, 0}},
};
static const op_facts RANDOM[] = {
    [TSR_RANDOM_UNIFORM] = {"uniform", {W, 0, 0, 0}},
    [TSR_RANDOM_NORMAL] = {"normal", {W, 0, 0, 0}},
    [TSR_RANDOM_BERNOULLI] = {"bernoulli", {W, W, W, 0}},
    [TSR_RANDOM_RANDINT] = {"randint", {0, W, 0, 0}},
    [TSR_RANDOM_PERMUTATION] = {"permutation", {0, P, 0, 0}},
    [TSR_RANDOM_DROPOUT] = {"dropout", {W, 0, 0, 0}},
};
static const op_facts CREATION[] = {
    [TSR_CREATION_ARANGE] = {"arange", {P, P, P, 0}},
    [TSR_CREATION_LINSPACE] = {"linspace", {P, 0, 0, 0}},
    [TSR_CREATION_EYE] = {"eye", {P, P, P, 0}},
};

static const op_facts LOSS[] = {
    [TSR_LOSS_CROSS_ENTROPY] = {"cross_entropy", {W, 0, 0, 0}},
    [TSR_LOSS_CROSS_ENTROPY_BACKWARD] = {"cross_entropy_backward", {W, 0, 0, 0}},
    [TSR_LOSS_NLL] = {"nll_loss", {P, 0, 0, 0}},
    [TSR_LOSS_NLL_BACKWARD] = {"nll_loss_backward", {P, 0, 0, 0}},
    [TSR_LOSS_MSE] = {"mse_loss", {W, 0, 0, 0}},
    [TSR_LOSS_MSE_BACKWARD] = {"mse_loss_backward", {W, 0, 0, 0}},
    [TSR_LOSS_L1] = {"l1_loss", {W, 0, 0, 0}},
    [TSR_LOSS_L1_BACKWARD] = {"l1_loss_backward", {W, 0, 0, 0}},
    [TSR_LOSS_BCE] = {"bce_with_logits", {W, 0, 0, 0}},
    [TSR_LOSS_BCE_BACKWARD] = {"bce_with_logits_backward", {W, 0, 0, 0}},
};
static const op_facts LAYER_NORMS[] = {
    [TSR_LAYER_NORM] = {"layer_norm", {W, 0, 0, 0}},
    [TSR_LAYER_NORM_BACKWARD] = {"layer_norm_backward", {W, 0, 0, 0}},
    [TSR_RMS_NORM] = {"rms_norm", {W, 0, 0, 0}},
    [TSR_RMS_NORM_BACKWARD] = {"rms_norm_backward", {W, 0, 0, 0}},
};
static const op_facts OPTIMIZER[] = {
    [TSR_OPTIMIZER_SGD] = {"sgd_step", {V, 0, 0, 0}},
    [TSR_OPTIMIZER_SGD_MOMENTUM] = {"sgd_momentum_step", {V, 0, 0, 0}},
    [TSR_OPTIMIZER_ADAM] = {"adam_step", {V, 0, 0, 0}},
    [TSR_OPTIMIZER_ADAGRAD] = {"adagrad_step", {V, 0, 0, 0}},
};
static const op_facts NORM[] = {
    [TSR_NORM_BATCH] = {"batch_norm", {V, 0, 0, 0}},
    [TSR_NORM_BATCH_BACKWARD] = {"batch_norm_backward", {V, 0, 0, 0}},
    [TSR_NORM_GROUP] = {"group_norm", {V, 0, 0, 0}},
    [TSR_NORM_GROUP_BACKWARD] = {"group_norm_backward", {V, 0, 0, 0}},
    [TSR_NORM_RUNNING_UPDATE] = {"running_update", {R, 0, 0, 0}},
};
static const op_facts RESAMPLING[] = {
    [TSR_RESAMPLING_AVERAGE] = {"adaptive_avg_pool", {V, 0, 0, V}},
    [TSR_RESAMPLING_AVERAGE_BACKWARD] = {"adaptive_avg_pool_backward", {V, 0, 0, V}},
    /* f16 and bf16 are moved as u16, by loops that are plain C in all variants */
    [TSR_RESAMPLING_NEAREST] = {"upsample_nearest", {V, V, V, V}},
    [TSR_RESAMPLING_NEAREST_BACKWARD] = {"upsample_nearest_backward", {V, V, R, V}},
    [TSR_RESAMPLING_LINEAR] = {"upsample_linear", {V, 0, 0, V}},
    [TSR_RESAMPLING_LINEAR_BACKWARD] = {"upsample_linear_backward", {V, 0, 0, V}},
};

static const struct category_facts {
    const char *name;
    const op_facts *op;
    uint16_t n;
    bool index; /* also by i32 or i64 */
} CATEGORY[] = {
    [TSR_CATEGORY_EMBEDDING] = {"embedding", EMBEDDING, sizeof EMBEDDING / sizeof *EMBEDDING, true},
    [TSR_CATEGORY_POINTWISE] = {"pointwise", POINTWISE, sizeof POINTWISE / sizeof *POINTWISE,
                                false},
    [TSR_CATEGORY_LINALG] = {"linalg", LINALG, sizeof LINALG / sizeof *LINALG, false},
    [TSR_CATEGORY_REDUCTION] = {"reduction", REDUCTION, sizeof REDUCTION / sizeof *REDUCTION,
                                false},
    [TSR_CATEGORY_SOFTMAX] = {"softmax", SOFTMAX, sizeof SOFTMAX / sizeof *SOFTMAX, false},
    [TSR_CATEGORY_MOVE] = {"move", MOVE, sizeof MOVE / sizeof *MOVE, false},
    [TSR_CATEGORY_CONVOLUTION] = {"convolution", CONVOLUTION,
                                  sizeof CONVOLUTION / sizeof *CONVOLUTION, false},
    [TSR_CATEGORY_POOLING] = {"pooling", POOLING, sizeof POOLING / sizeof *POOLING, false},
    [TSR_CATEGORY_LOSS] = {"loss", LOSS, sizeof LOSS / sizeof *LOSS, false},
    [TSR_CATEGORY_LAYER_NORM] = {"layer_norm", LAYER_NORMS,
                                 sizeof LAYER_NORMS / sizeof *LAYER_NORMS, false},
    [TSR_CATEGORY_INDEX] = {"index", INDEX, sizeof INDEX / sizeof *INDEX, true},
    [TSR_CATEGORY_ORDER] = {"order", ORDER, sizeof ORDER / sizeof *ORDER, false},
    [TSR_CATEGORY_RANDOM] = {"random", RANDOM, sizeof RANDOM / sizeof *RANDOM, false},
    [TSR_CATEGORY_CREATION] = {"creation", CREATION, sizeof CREATION / sizeof *CREATION, false},
    [TSR_CATEGORY_OPTIMIZER] = {"optimizer", OPTIMIZER, sizeof OPTIMIZER / sizeof *OPTIMIZER,
                                false},
    [TSR_CATEGORY_NORM] = {"norm", NORM, sizeof NORM / sizeof *NORM, false},
    [TSR_CATEGORY_RESAMPLING] = {"resampling", RESAMPLING, sizeof RESAMPLING / sizeof *RESAMPLING,
                                 false},
};
enum { CATEGORIES = sizeof CATEGORY / sizeof *CATEGORY };

static const char *const VARIANT[] = {"auto", "reference", "plain", "avx2", "avx512", "library"};
enum { VARIANTS = sizeof VARIANT / sizeof *VARIANT };

/* ---- one SKU ---- */

bool tsr_kernel_sku_equal(const tsr_kernel_sku *a, const tsr_kernel_sku *b)
{
    if (!a || !b)
        return a == b;
    return a->category == b->category && a->op == b->op && a->dtype == b->dtype &&
           a->index == b->index && a->variant == b->variant;
}

uint64_t tsr_kernel_sku_hash(const tsr_kernel_sku *sku)
{
    TSR_NEED(0, NULL, sku);
    uint64_t h = tsr__hash_mix(0, sku->category);

    h = tsr__hash_mix(h, sku->op);
    h = tsr__hash_mix(h, (uint64_t)sku->dtype);
    h = tsr__hash_mix(h, (uint64_t)sku->index);
    h = tsr__hash_mix(h, sku->variant);
    return tsr__hash_final(h);
}

const char *tsr_kernel_category_name(tsr_kernel_category category)
{
    return category < CATEGORIES ? CATEGORY[category].name : "unknown";
}

const char *tsr_kernel_variant_name(tsr_kernel_variant variant)
{
    return variant < VARIANTS ? VARIANT[variant] : "unknown";
}

const char *tsr_kernel_op_name(tsr_kernel_category category, uint16_t op)
{
    bool known = category < CATEGORIES && op < CATEGORY[category].n;

    return known ? CATEGORY[category].op[op].name : "unknown";
}

const char *tsr_kernel_sku_text(const tsr_kernel_sku *sku, char *buf, size_t n)
{
    TSR_NEED("", NULL, sku, buf);

    const bool known = sku->category < CATEGORIES && sku->op < CATEGORY[sku->category].n;
    const bool has_index = sku->index != TSR_NO_INDEX;
    char number[8];

    snprintf(number, sizeof number, "%d", sku->op);
    snprintf(buf, n, "%s.%s.%s%s%s.%s", tsr_kernel_category_name(sku->category),
             known ? tsr_kernel_op_name(sku->category, sku->op) : number,
             tsr_dtype_name(sku->dtype), has_index ? "." : "",
             has_index ? tsr_dtype_name((tsr_dtype)sku->index) : "",
             tsr_kernel_variant_name(sku->variant));
    return buf;
}

/* Which variants there are, as a set. */
static unsigned variants_of(tsr_kernel_category category, uint16_t op, tsr_dtype dtype)
{
    if (category >= CATEGORIES || op >= CATEGORY[category].n || !tsr__dtype_valid(dtype))
        return 0;
    const unsigned all = CATEGORY[category].op[op].variants[tsr__dtype_class(dtype)];

    return tsr__dtype_is_plain(dtype) ? all & P : all;
}

static bool index_feasible(const tsr_kernel_sku *sku)
{
    if (sku->category >= CATEGORIES)
        return false;
    return CATEGORY[sku->category].index ? sku->index == TSR_I32 || sku->index == TSR_I64
                                         : sku->index == TSR_NO_INDEX;
}

bool tsr__sku_exists(const tsr_kernel_sku *sku)
{
    return index_feasible(sku) && sku->variant < VARIANTS &&
           variants_of(sku->category, sku->op, sku->dtype) >> sku->variant & 1;
}

/* ---- all of them ---- */

/* Steps to the next value, AUTO included; false after the last. */
static bool next(tsr_kernel_sku *s)
{
    const bool index = CATEGORY[s->category].index;

    if (++s->variant < VARIANTS)
        return true;
    s->variant = TSR_VARIANT_AUTO;
    if (index && s->index == TSR_I32) {
        s->index = TSR_I64;
        return true;
    }
    s->dtype = (tsr_dtype)((int)s->dtype + 1);
    if ((int)s->dtype == TSR__FIELD) {
        s->dtype = TSR_F32;
        if (++s->op == CATEGORY[s->category].n) {
            s->op = 0;
            if (++s->category == CATEGORIES)
                return false;
        }
    }
    s->index = CATEGORY[s->category].index ? TSR_I32 : TSR_NO_INDEX;
    return true;
}

static const tsr_kernel_sku FIRST = {.index = TSR_I32};

int tsr_kernel_count(void)
{
    tsr_kernel_sku s = FIRST;
    int n = 0;

    do
        n += tsr__sku_exists(&s);
    while (next(&s));
    return n;
}

tsr_kernel_sku tsr_kernel_at(int i)
{
    tsr_kernel_sku s = FIRST;

    do
        i -= tsr__sku_exists(&s);
    while (i >= 0 && next(&s));
    return s;
}

bool tsr_kernel_next(tsr_kernel_sku *sku)
{
    TSR_NEED(false, NULL, sku);

    tsr_kernel_sku s = *sku;

    if (!tsr__sku_exists(sku))
        return false;
    do
        if (!next(&s))
            return false;
    while (!tsr__sku_exists(&s));
    *sku = s;
    return true;
}

tsr_status tsr_kernel_sku_parse(const char *text, tsr_kernel_sku *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, text, out);

    tsr_kernel_sku s = FIRST, same;
    char name[TSR_SKU_TEXT_LEN];

    do {
        same = s;
        if (s.variant == TSR_VARIANT_AUTO) /* names a kernel if there is any */
            same.variant = TSR_VARIANT_REFERENCE;
        if (tsr__sku_exists(&same) && !strcmp(tsr_kernel_sku_text(&s, name, sizeof name), text)) {
            *out = s;
            return TSR_OK;
        }
    } while (next(&s));
    return tsr__fail(err, TSR_ERR_PARSE, "\"%.100s\" is not a kernel; tessera kernels lists them",
                     text);
}

/* ---- which one runs ---- */

static unsigned variants_here(void)
{
    unsigned here = P | L;

    if (tsr__cpu_avx2())
        here |= 1 << TSR_VARIANT_AVX2;
    if (tsr__cpu_avx512())
        here |= 1 << TSR_VARIANT_AVX512;
    return here;
}

tsr_kernel_variant tsr__variant_best(tsr_kernel_category category, uint16_t op, tsr_dtype dtype,
                                     tsr_kernel_variant wanted)
{
    unsigned left = variants_of(category, op, dtype) & variants_here();

    if (wanted != TSR_VARIANT_AUTO && wanted < VARIANTS)
        left &= (2u << wanted) - 1;
    return left ? (tsr_kernel_variant)(31 - __builtin_clz(left)) : TSR_VARIANT_AUTO;
}

tsr_kernel_variant tsr__variant_of(const tsr_kernel_call *call, tsr_kernel_category category,
                                   uint16_t op)
{
    /* fast reductions go by the sizes of all dims; matmul and convolution have ways of their own */
    if (call->reference || (call->reproducible && category == TSR_CATEGORY_REDUCTION))
        return TSR_VARIANT_REFERENCE;
    return tsr__variant_best(category, op, call->out[0].dtype, call->variant);
}

tsr_kernel_variant tsr_kernel_variant_best(const tsr_kernel_sku *wanted)
{
    TSR_NEED(TSR_VARIANT_AUTO, NULL, wanted);
    if (!index_feasible(wanted))
        return TSR_VARIANT_AUTO;
    return tsr__variant_best(wanted->category, wanted->op, wanted->dtype, wanted->variant);
}

/* ---- libraries ---- */

const char *tsr_library_name(tsr_library library)
{
    switch (library) {
    case TSR_LIBRARY_OPENBLAS: return "OpenBLAS";
    case TSR_LIBRARY_ONEDNN: return "oneDNN";
    }
    return "unknown";
}

const char *tsr_library_version(tsr_library library, char *buf, size_t n)
{
    TSR_NEED(NULL, NULL, buf);
    switch (library) {
    case TSR_LIBRARY_OPENBLAS: return tsr__blas_version(buf, n);
    case TSR_LIBRARY_ONEDNN: return tsr__onednn_version(buf, n);
    }
    return NULL;
}
