/* SPDX-License-Identifier: Apache-2.0 */
/* alltoallv.h - ragged all-to-all between the ranks of a group, for ops whose data decides what
   moves. First the ranks exchange the counts of their lists, then payloads of those lists, as
   requests and as responses to them; any number of payloads share one message. */
#ifndef TSR_RUN_ALLTOALLV_H
#define TSR_RUN_ALLTOALLV_H

#include "tensor/tensor.h"

typedef struct tsr_alltoallv {
    tsr_ctx *ctx;
    tsr_group *group;
    const char *what;     /* for messages: "embedding" */
    uint64_t fingerprint; /* of the call, equal on all ranks */
    int n_lists;
    int64_t *sent, *got; /* [list][group] items that go to, and come from, each rank */
    int n_buffers;
    void *buffer[2]; /* of requests, and of responses */
} tsr_alltoallv;

/* One value for every item of a list, in the order of ranks and items. */
typedef struct tsr_payload {
    int list;
    size_t width;     /* bytes of one; the two ends of a list agree */
    bool is_response; /* from where the items went to where they came from */
    void *out, *in;
} tsr_payload;

/* The ranks that a rank of the mesh reaches along these mesh dims; sent[] is all 0. Local. */
tsr_status tsr__alltoallv_open(tsr_alltoallv *t, tsr_mesh *mesh, unsigned mdims, int n_lists,
                               const char *what);
/* Are numbers that came from other ranks in low .. high? They are lengths and places in this rank's
   memory; others than these no rank sends, but they may be damaged on the way. `field` names them
   in the error. Local. */
tsr_status tsr__received_check(tsr_ctx *ctx, const char *what, const char *field,
                               const int64_t *numbers, int64_t n, int64_t low, int64_t high);
/* From sent[] of all ranks to got[] of this one. Collective over the group. */
tsr_status tsr__alltoallv_exchange_counts(tsr_alltoallv *t);
int64_t tsr__alltoallv_count(const tsr_alltoallv *t,
                             const int64_t *count); /* of a list, over ranks */
/* [rank] the number of its first item in such a list. */
void tsr__alltoallv_first_items(const tsr_alltoallv *t, const int64_t *count, int64_t *out);
/* Allocates the buffer of payloads, which lives until tsr__alltoallv_close; at most twice. Local.
   */
tsr_status tsr__alltoallv_alloc(tsr_alltoallv *t, tsr_payload *const *payloads, int n);
/* From `out` to `in`; all payloads in one message per rank. Collective over the group. */
tsr_status tsr__alltoallv_exchange(tsr_alltoallv *t, tsr_payload *const *payloads, int n);
void tsr__alltoallv_close(tsr_alltoallv *t);

#endif
