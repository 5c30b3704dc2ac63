/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - finding a row by name, and the family of a row. */
#include <string.h>

#include "op/op_table.h"

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
    return op ? op : find_in(tsr__op_unlisted(), name);
}
