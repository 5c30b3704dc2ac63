/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the list of families, and finding a row by name. */
#include <string.h>

#include "op/families.h"

const tsr_op *const *tsr__op_families(void)
{
    static const tsr_op *const families[] = {tsr__ops_pointwise,
                                             tsr__ops_linalg,
                                             tsr__ops_reduction,
                                             tsr__ops_softmax,
                                             tsr__ops_views,
                                             tsr__ops_reshape,
                                             tsr__ops_embedding,
                                             tsr__ops_convolution,
                                             tsr__ops_pooling,
                                             tsr__ops_resampling,
                                             tsr__ops_norm,
                                             tsr__ops_decomposed,
                                             NULL};
    return families;
}

const tsr_op *tsr__op_find(const char *name)
{
    for (const tsr_op *const *family = tsr__op_families(); *family; family++)
        for (const tsr_op *op = *family; op->name; op++)
            if (strcmp(op->name, name) == 0)
                return op;
    return NULL;
}
