/* SPDX-License-Identifier: Apache-2.0 */
/* mock_net.h - a network among threads of one process, for tests of the message world. As in MPI,
   small messages are buffered and large ones are read from the sender's memory when they are
   matched; so a sanitizer sees every touch of memory that should have been left alone. */
#ifndef TESTS_MOCK_NET_H
#define TESTS_MOCK_NET_H

#include <pthread.h>

#include "world/net.h"

enum { MOCK_RANKS = 8 };

typedef struct mock_request mock_request;

/* Zero but for size is a network that behaves. */
typedef struct mock_hub {
    int size;
    int delay;     /* a message is seen after up to so many polls of its receiver */
    int fail_rank; /* on this rank .. */
    int fail_at;   /* .. the send or receive with this number fails, from 1; 0: none */
    /* changes a small data message on its way; NULL: none does */
    void (*alter)(const struct mock_hub *hub, int from, int tag, void *data, size_t bytes);
    int64_t alter_arg;
    pthread_mutex_t lock;
    uint64_t random;
    int aborted;                                                /* calls of abort */
    mock_request *sent[MOCK_RANKS], **sent_end[MOCK_RANKS];     /* to a rank, not yet matched */
    mock_request *posted[MOCK_RANKS], **posted_end[MOCK_RANKS]; /* receives of a rank */
} mock_hub;

typedef struct mock_arg {
    mock_hub *hub;
    int rank;
} mock_arg;

void mock_open(mock_hub *hub);
void mock_close(mock_hub *hub);    /* frees what is left */
extern const tsr_net_ops mock_ops; /* open's arg is a mock_arg */

#endif
