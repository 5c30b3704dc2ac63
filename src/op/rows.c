/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the list of families, and finding a row by name. */
#include <string.h>

#include "op/families.h"

const tsr_op *const *tsr__op_families(void)
{
    /* clang-format off: one by one */
    static const tsr_op *const families[] = {
        tsr__ops_pointwise,
        tsr__ops_compare,
        tsr__ops_linalg,
        tsr__ops_einsum,
        tsr__ops_attention,
        tsr__ops_reduction,
        tsr__ops_merging,
        tsr__ops_scan,
        tsr__ops_softmax,
        tsr__ops_views,
        tsr__ops_repeats,
        tsr__ops_cuts,
        tsr__ops_padding,
        tsr__ops_shape_composed,
        tsr__ops_reshape,
        tsr__ops_embedding,
        tsr__ops_convolution,
        tsr__ops_pooling,
        tsr__ops_resampling,
        tsr__ops_norm,
        tsr__ops_layer_norm,
        tsr__ops_class_loss,
        tsr__ops_pair_loss,
        tsr__ops_indexing,
        tsr__ops_ordering,
        tsr__ops_random,
        tsr__ops_creation,
        tsr__ops_decomposed,
        NULL,
    };
    /* clang-format on */
    return families;
}

static const tsr_op *find_in(const tsr_op *family, const char *name)
{
    for (const tsr_op *op = family; op->name; op++)
        if (strcmp(op->name, name) == 0)
            return op;
    return NULL;
}

const tsr_op *tsr__op_find(const char *name)
{
    const tsr_op *op = NULL;

    for (const tsr_op *const *family = tsr__op_families(); *family && !op; family++)
        op = find_in(*family, name);
    return op ? op : find_in(tsr__ops_inplace, name);
}
