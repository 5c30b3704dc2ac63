/* SPDX-License-Identifier: Apache-2.0 */
/* owners.h - who owns which rows of a table, among the ranks that a rank reaches along some mesh
   dims; and the ids of a call as they are needed there. Pure but for memory. */
#ifndef TSR_RUN_OWNERS_H
#define TSR_RUN_OWNERS_H

#include "kernel/index_check.h"
#include "tensor/tensor.h"
#include "tessera_ext.h"

/* Ranks are known by their index in a group, that along the mesh dims `among`. */
typedef struct tsr_owners {
    int n;
    int64_t *begin;      /* [2 n]: rows of owner i are begin[2 i] .. begin[2 i + 1] - 1 */
    int *member;         /* [n] who it is in the group, ascending */
    int64_t first, rows; /* of this rank; 0 rows if it owns none */
} tsr_owners;

/* Rows of `table` (dim 0) held by each rank along mdims, a part of `among`; ascending. */
tsr_status tsr__owners_open(tsr_mesh *mesh, const tsr_spec *table, unsigned mdims, unsigned among,
                            tsr_owners *out);
/* The rank at an index of the mesh has all of them. `among` are all mesh dims. */
tsr_status tsr__owners_open_one_rank(tsr_mesh *mesh, int64_t rows, int index, tsr_owners *out);
void tsr__owners_close(tsr_ctx *ctx, tsr_owners *owners);
/* The owner of a row as a member of the group, -1 if none of them is it. */
int tsr__owner_of(const tsr_owners *owners, int64_t row);

/* The ids of a tensor, all rows of the table being here. err names the first one that is out of
   range and its place in the whole tensor; who goes on finds no owner of it. check NULL: none
   is. */
void tsr__ids_open(tsr_tensor *ids, int64_t vocab, const tsr_attr *padding,
                   const tsr_index_range *check, const char *op, tsr_ids *out, tsr_error *err);

#endif
