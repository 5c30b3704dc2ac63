/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the list of families and their names, and finding a row by name. */
#include <string.h>

#include "op/families.h"

const tsr_family *tsr__op_families(void)
{
    static const tsr_family families[] = {
        {"pointwise", tsr__ops_pointwise},
        {"slopes", tsr__ops_slopes},
        {"comparisons and choices", tsr__ops_compare},
        {"linear algebra", tsr__ops_linalg},
        {"sums of products", tsr__ops_einsum},
        {"attention", tsr__ops_attention},
        {"reductions", tsr__ops_reduction},
        {"statistics", tsr__ops_merging},
        {"scans", tsr__ops_scan},
        {"softmax", tsr__ops_softmax},
        {"order of elements", tsr__ops_views},
        {"repeating", tsr__ops_repeats},
        {"cutting", tsr__ops_cuts},
        {"padding", tsr__ops_padding},
        {"splitting", tsr__ops_shape_composed},
        {"shapes", tsr__ops_reshape},
        {"lookups", tsr__ops_embedding},
        {"convolution", tsr__ops_convolution},
        {"pooling", tsr__ops_pooling},
        {"resampling", tsr__ops_resampling},
        {"normalisation", tsr__ops_norm},
        {"layer normalisation", tsr__ops_layer_norm},
        {"losses of classes", tsr__ops_class_loss},
        {"losses of pairs", tsr__ops_pair_loss},
        {"indexing", tsr__ops_indexing},
        {"sorting", tsr__ops_ordering},
        {"random numbers", tsr__ops_random},
        {"creation", tsr__ops_creation},
        {"optimizers", tsr__ops_optimizer},
        {"made of others", tsr__ops_decomposed},
        {NULL, NULL},
    };
    return families;
}

const char *tsr_op_family(const tsr_op *op)
{
    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        for (const tsr_op *row = family->rows; row->name; row++)
            if (row == op)
                return family->name;
    return NULL;
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

    for (const tsr_family *family = tsr__op_families(); family->rows && !op; family++)
        op = find_in(family->rows, name);
    return op ? op : find_in(tsr__ops_inplace, name);
}
