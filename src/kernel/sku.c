/* SPDX-License-Identifier: Apache-2.0 */
/* sku.c - names of kernels and the table of those that there are. Called by the embedding kernels
   for their variant, and by whoever lists kernels. */
#include "kernel/sku.h"

#include "base/cpu.h"
#include "base/hash.h"

#include <stdio.h>

static const struct {
    const char *name;
    bool linear; /* then also over the prime field */
} EMBEDDING[TSR__EMBEDDING_KINDS] = {
    [TSR_EMBEDDING] = {"embedding", true},
    [TSR_EMBEDDING_BACKWARD] = {"embedding_backward", true},
    [TSR_EMBEDDING_BAG_SUM] = {"bag_sum", true},
    [TSR_EMBEDDING_BAG_MEAN] = {"bag_mean", true},
    [TSR_EMBEDDING_BAG_SUM_BACKWARD] = {"bag_sum_backward", true},
    [TSR_EMBEDDING_BAG_MEAN_BACKWARD] = {"bag_mean_backward", true},
    [TSR_EMBEDDING_BAG_MAX] = {"bag_max", false},
    [TSR_EMBEDDING_BAG_MAX_BACKWARD] = {"bag_max_backward", true},
};

static const char *const CATEGORY[TSR__CATEGORIES] = {"embedding"};
static const char *const VARIANT[TSR__VARIANTS] = {"auto", "reference", "plain", "avx2", "avx512"};
static const tsr_dtype DTYPES[] = {TSR_F32, TSR_F64, TSR_F16, TSR_BF16};
static const tsr_dtype INDEX[] = {TSR_I32, TSR_I64};

bool tsr_kernel_sku_equal(const tsr_kernel_sku *a, const tsr_kernel_sku *b)
{
    return a->category == b->category && a->op == b->op && a->dtype == b->dtype &&
           a->index == b->index && a->variant == b->variant;
}

uint64_t tsr_kernel_sku_hash(const tsr_kernel_sku *sku)
{
    uint64_t h = tsr__hash_mix(0, sku->category);

    h = tsr__hash_mix(h, sku->op);
    h = tsr__hash_mix(h, (uint64_t)sku->dtype);
    h = tsr__hash_mix(h, (uint64_t)sku->index);
    h = tsr__hash_mix(h, sku->variant);
    return tsr__hash_final(h);
}

const char *tsr_kernel_variant_name(tsr_kernel_variant variant)
{
    return variant < TSR__VARIANTS ? VARIANT[variant] : "unknown";
}

const char *tsr_kernel_op_name(tsr_kernel_category category, uint16_t op)
{
    bool known = category == TSR_CATEGORY_EMBEDDING && op < TSR__EMBEDDING_KINDS;

    return known ? EMBEDDING[op].name : "unknown";
}

const char *tsr_kernel_sku_text(const tsr_kernel_sku *sku, char *buf, size_t n)
{
    const bool known = sku->category < TSR__CATEGORIES;
    char op[24];

    if (known && sku->op < TSR__EMBEDDING_KINDS)
        snprintf(op, sizeof op, "%s", EMBEDDING[sku->op].name);
    else
        snprintf(op, sizeof op, "%d", sku->op);
    snprintf(buf, n, "%s.%s.%s.%s.%s", known ? CATEGORY[sku->category] : "unknown", op,
             tsr_dtype_name(sku->dtype), tsr_dtype_name(sku->index),
             tsr_kernel_variant_name(sku->variant));
    return buf;
}

bool tsr__sku_exists(const tsr_kernel_sku *sku)
{
    if (sku->category != TSR_CATEGORY_EMBEDDING || sku->op >= TSR__EMBEDDING_KINDS)
        return false;
    if (sku->index != TSR_I32 && sku->index != TSR_I64)
        return false;
    if (sku->variant == TSR_VARIANT_AUTO || sku->variant >= TSR__VARIANTS)
        return false;
    if ((int)sku->dtype == TSR__FIELD)
        return EMBEDDING[sku->op].linear;
    return tsr__dtype_is_float(sku->dtype);
}

enum { N_INDEX = sizeof INDEX / sizeof *INDEX, N_DTYPES = sizeof DTYPES / sizeof *DTYPES };
enum { N_VARIANTS = TSR__VARIANTS - 1 };

int tsr_kernel_count(void)
{
    return TSR__EMBEDDING_KINDS * N_DTYPES * N_INDEX * N_VARIANTS;
}

tsr_kernel_sku tsr_kernel_at(int i)
{
    return (tsr_kernel_sku){.category = TSR_CATEGORY_EMBEDDING,
                            .op = (uint16_t)(i / (N_DTYPES * N_INDEX * N_VARIANTS)),
                            .dtype = DTYPES[i / (N_INDEX * N_VARIANTS) % N_DTYPES],
                            .index = INDEX[i / N_VARIANTS % N_INDEX],
                            .variant = (tsr_kernel_variant)(1 + i % N_VARIANTS)};
}

tsr_kernel_variant tsr_kernel_variant_best(tsr_kernel_variant wanted)
{
    if (wanted == TSR_VARIANT_REFERENCE || wanted == TSR_VARIANT_PLAIN)
        return wanted;
    if (wanted != TSR_VARIANT_AVX2 && tsr__cpu_avx512())
        return TSR_VARIANT_AVX512;
    return tsr__cpu_avx2() ? TSR_VARIANT_AVX2 : TSR_VARIANT_PLAIN;
}
