/* SPDX-License-Identifier: Apache-2.0 */
/* sku.h - how a kernel is known: by category, op, number type, type of its indices and variant; and
   which kernels there are. Plain values, equal on all ranks; only tsr__variant_best asks the
   processor. */
#ifndef TSR_KERNEL_SKU_H
#define TSR_KERNEL_SKU_H

#include "base/dtype.h"

/* The embedding family. Values are a contract and more may come: never renumber. */
typedef uint16_t tsr_embedding_kind;
enum {
    TSR_EMBEDDING = 0,
    TSR_EMBEDDING_BACKWARD = 1,
    TSR_EMBEDDING_BAG_SUM = 2,
    TSR_EMBEDDING_BAG_MEAN = 3,
    TSR_EMBEDDING_BAG_SUM_BACKWARD = 4,
    TSR_EMBEDDING_BAG_MEAN_BACKWARD = 5,
    TSR_EMBEDDING_BAG_MAX = 6,
    TSR_EMBEDDING_BAG_MAX_BACKWARD = 7,
    TSR__EMBEDDING_KINDS = 8
};

typedef uint16_t tsr_kernel_category;
enum { TSR_CATEGORY_EMBEDDING = 0, TSR__CATEGORIES = 1 };

/* How a kernel is written. AUTO is the best one that this processor runs. */
typedef uint16_t tsr_variant;
enum {
    TSR_VARIANT_AUTO = 0,
    TSR_VARIANT_REFERENCE = 1,
    TSR_VARIANT_PLAIN = 2,
    TSR_VARIANT_AVX2 = 3,
    TSR_VARIANT_AVX512 = 4,
    TSR__VARIANTS = 5
};

typedef struct tsr_kernel_sku {
    tsr_kernel_category category;
    uint16_t op; /* of the category: tsr_embedding_kind */
    tsr_dtype dtype, index;
    tsr_variant variant;
} tsr_kernel_sku;

enum { TSR__SKU_TEXT = 64 };

/* All Pure. */
bool tsr__sku_equal(const tsr_kernel_sku *a, const tsr_kernel_sku *b);
uint64_t tsr__sku_hash(const tsr_kernel_sku *sku);
/* "embedding.bag_sum.f32.i64.avx2"; TSR__SKU_TEXT bytes are always enough. Returns buf. */
const char *tsr__sku_text(const tsr_kernel_sku *sku, char *buf, size_t n);
/* Is there such a kernel (the prime field included, where an op is linear)? AUTO names none. */
bool tsr__sku_exists(const tsr_kernel_sku *sku);
/* The i-th kernel for users' number types, ordered by op, dtype, index, variant; false: i is past
   the last one. */
bool tsr__sku_at(int64_t i, tsr_kernel_sku *out);
const char *tsr__variant_name(tsr_variant variant);

/* What this processor gets when `wanted` is asked for: that or the next lesser one that it has. */
tsr_variant tsr__variant_best(tsr_variant wanted);

#endif
