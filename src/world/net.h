/* SPDX-License-Identifier: Apache-2.0 */
/* net.h - what the message world (message.c) needs of a network: bytes to a rank, tested, never
   waited for. A network is a table of functions that uses no symbol of the library, so that MPI can
   live in a plugin (world/mpi/mpi_net.c, loaded by plugin.c) and tests can run over a mock. */
#ifndef TSR_WORLD_NET_H
#define TSR_WORLD_NET_H

#include "tessera.h"

enum { TSR_NET_ABI = 1 };
enum { TSR_NET_TEXT = 256 };    /* bytes of an error sentence */
enum { TSR_NET_TAGS = 32768 };  /* tags are 0 .. TSR_NET_TAGS - 1 */
enum { TSR_NET_ANY = -1 };      /* a receive from any rank, or with any tag */
enum { TSR_NET_MAX = 1 << 30 }; /* bytes of one message at most; the caller splits */

/* Messages on one channel are never seen by receives on the other. */
typedef enum tsr_net_channel { TSR_NET_DATA = 0, TSR_NET_CONTROL = 1 } tsr_net_channel;

typedef struct tsr_net tsr_net; /* the network's own state, one per join */

/* A message under way, in the network's own terms; 0 is none. */
typedef uint64_t tsr_net_request;

typedef struct tsr_net_open {
    void *arg;      /* the network's own: NULL for MPI */
    int timeout_ms; /* for the others to open it too; below 0: none */
    tsr_net *net;   /* these are written on success */
    int rank, size;
    int here;                /* ranks on this machine */
    char text[TSR_NET_TEXT]; /* a sentence on failure */
} tsr_net_open;

/* Functions that return int give 0, or an error number that error_text puts into words. Messages
   between two ranks on one channel with one tag arrive in order. Memory of a message must stay
   until poll has reported it. One thread per rank calls. */
typedef struct tsr_net_ops {
    int abi;
    const char *name;
    tsr_status (*open)(tsr_net_open *io);
    /* All requests are done. `together`: all ranks close now, and what they share can go. */
    void (*close)(tsr_net *net, bool together);
    int (*isend)(tsr_net *net, tsr_net_channel channel, int to, int tag, const void *data,
                 size_t bytes, tsr_net_request *out);
    /* `bytes` is the room; a shorter message is fine. */
    int (*irecv)(tsr_net *net, tsr_net_channel channel, int from, int tag, void *data, size_t bytes,
                 tsr_net_request *out);
    /* Which of n requests (0s among them) are done: their indices go to done[n], their number to
       *n_done, and they become 0. A cancelled receive is done too. */
    int (*poll)(tsr_net *net, int n, tsr_net_request *requests, int *done, int *n_done);
    /* Ask a receive to end without a message; poll reports it then. */
    void (*cancel)(tsr_net *net, tsr_net_request request);
    /* End all processes of the job with this status. A mock returns. */
    void (*abort)(tsr_net *net, int status);
    void (*error_text)(tsr_net *net, int error, char *text, size_t n);
    /* optional: the library's own collective over all ranks, blocking */
    tsr_status (*native)(tsr_net *net, const tsr_collective *call);
} tsr_net_ops;

/* A plugin exports this function under the name TSR_NET_SYMBOL; NULL if it cannot serve the abi. */
typedef const tsr_net_ops *tsr_net_entry(int abi);
#define TSR_NET_SYMBOL "tessera_net"

/* plugin.c: load libtessera_NAME.so; it stays for the life of the process. */
tsr_status tsr__plugin_load(const char *name, const tsr_net_ops **out, tsr_error *err);

#endif
