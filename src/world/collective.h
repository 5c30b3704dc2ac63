/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - a public collective on its way to becoming a call: collective.c runs requests,
   collective_check.c judges the arguments, collective_call.c writes the messages. */
#ifndef TSR_WORLD_COLLECTIVE_H
#define TSR_WORLD_COLLECTIVE_H

#include "world/mesh_handle.h"

struct tsr_request {
    tsr_mesh *mesh;
    tsr_collective args;
    tsr_group *group;     /* all ranks of the mesh; the mesh's own */
    tsr_group *own_group; /* the two of a send, or the lane of a second phase; NULL: none */
    tsr_pending *pending;
    tsr_call call;
    int64_t chunk;   /* elements per rank of an all-reduce in two phases; 0: one phase */
    uint64_t number; /* of the first call on its group */
    int n_msgs, n_pieces;
    tsr_msg *msg;     /* [2 * ranks]: send, then recv */
    tsr_piece *piece; /* [tsr__collective_pieces] */
    void *copy;       /* of the data of a small all-reduce in place */
};

/* Pure: argument errors, with a sentence in err. group is that of the whole mesh. */
tsr_status tsr__collective_check(const tsr_collective *args, const tsr_group *group,
                                 tsr_error *err);
const char *tsr__collective_name(tsr_collective_kind kind);

int64_t tsr__collective_chunk(const tsr_collective *args, int n_ranks); /* 0: one phase */
int tsr__collective_pieces(const tsr_collective *args, int n_ranks);
void tsr__collective_build(tsr_request *request);        /* the call, or its first phase */
void tsr__collective_build_second(tsr_request *request); /* of an all-reduce */

#endif
