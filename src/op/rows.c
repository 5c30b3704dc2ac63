/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - finding a row by name or number, and the family of a row. */
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

int tsr__op_total(void)
{
    int n = 0;

    while (tsr__op_by_id(n))
        n++;
    return n;
}

const tsr_op *tsr__op_by_id(int id)
{
    for (const tsr_family *family = tsr__op_families(); family->rows; family++)
        for (const tsr_op *op = family->rows; op->name; op++)
            if (id-- == 0)
                return op;
    for (const tsr_op *op = tsr__op_unlisted(); op->name; op++)
        if (id-- == 0)
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
