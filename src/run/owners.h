/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - who owns which rows of a table, among the ranks that a rank reaches along some mesh
   dims; and the ids of a call as they are needed there. Pure but for memory. */
#ifndef TSR_RUN_OWNERS_H
#define TSR_RUN_OWNERS_H

#include "kernel/embedding.h"
#include "tensor/tensor.h"
#include "tessera_ext.h"

typedef struct tsr_owners {
    int n;
    int64_t *begin; /* [n + 1 .. 2 n]: rows of member i are begin[2 i] .. begin[2 i + 1] - 1 */
} tsr_owners;

/* Rows of `table` (dim 0) held by each rank along mdims, in the order of their group; ascending. */
tsr_status tsr__owners_open(tsr_mesh *mesh, const tsr_spec *table, unsigned mdims, tsr_owners *out);
void tsr__owners_close(tsr_ctx *ctx, tsr_owners *owners);
/* The member that owns a row, -1 if none of them does. */
int tsr__owner_of(const tsr_owners *owners, int64_t row);

/* The ids of a tensor, all rows of the table being here. An error if one is out of range, unless
   `zero`; it names the id and its place in the whole tensor. */
tsr_status tsr__ids_open(tsr_tensor *ids, int64_t vocab, const tsr_attr *padding, bool zero,
                         const char *op, tsr_ids *out, tsr_error *err);

#endif
