/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - the parts of the message world that its files share. message.c makes, begins and ends
   calls; message_link.c moves the bytes of one call; message_wait.c drives all calls of the rank,
   looks at the control channel and the clock, and takes the world down. */
#ifndef TSR_WORLD_MESSAGE_H
#define TSR_WORLD_MESSAGE_H

#include "world/net.h"
#include "world/world.h"

/* Every message of a call begins with a head. A payload that fits is sent with it; a
   larger one follows in chunks, which the receiver takes only when it has checked the head. Chunks
   that are sent from the caller's own memory wait for the receiver's word (go), which names their
   size: if the call fails before, nobody reads memory that the caller is free to give away. */
typedef struct tsr_head {
    uint32_t magic;
    uint16_t tag; /* of the chunks */
    uint16_t ask; /* 1: the sender waits for go */
    uint64_t seq; /* calls on the channel before this one */
    uint64_t fingerprint;
    uint64_t bytes;   /* of payload */
    uint64_t history; /* hash of the calls before it on the mesh; 0: not compared */
    /* of a verdict, whose text follows the head; number 0: there is none, and no text */
    uint64_t verdict;
    int32_t verdict_rank, verdict_code;
    uint32_t verdict_known;
    uint32_t unused;
    char what[TSR_WHAT_LEN];
} tsr_head;

enum {
    TSR_HEAD_MAGIC = 0x54535231,
    TSR_HEAD_TAGS = TSR_NET_TAGS / 2, /* 0 .. for heads; then those of chunks, then of go */
    TSR_CHUNK_TAGS = TSR_NET_TAGS / 4,
    TSR_HEAD_ROOM = 4096, /* apart in memory */
    /* Open MPI sends up to 4 KiB, its own header included, without asking the receiver. */
    TSR_HEAD_LEN = TSR_HEAD_ROOM - 64,
    TSR_EAGER = TSR_HEAD_LEN - (int)sizeof(tsr_head) - TSR_VERDICT_LEN,
    TSR_CHUNK_DIRECT = 4 * 1024 * 1024, /* from and to the callers' memory */
    TSR_CHUNK_RING = 512 * 1024,        /* packed or unpacked: small enough to stay in the cache */
    TSR_CHUNK_MIN = 64 * 1024,          /* the same among many ranks */
    TSR_HUGE =
        2 * 1024 * 1024, /* from here on the pool gives huge pages: others read them faster */
    TSR_DIRECT_MIN = 32 * 1024, /* below, packing costs less than waiting for go */
    TSR_WINDOW_DIRECT = 16,     /* chunks under way from or to the tensor's own memory */
    TSR_WINDOW_RING = 3         /* chunks under way that are packed, or to be unpacked */
};

/* Where packing or unpacking of a message stands. */
typedef struct tsr_cursor {
    int piece;
    int64_t begin; /* element of the piece */
} tsr_cursor;

/* One message of a call, out or in. */
typedef struct tsr_link {
    int peer; /* world rank */
    bool sending;
    bool head_done; /* sent, or received and checked */
    bool ask;       /* chunks wait for go */
    bool go;        /* it has come, or left */
    bool finished;
    const tsr_msg *msg;
    uint64_t number; /* of its head, counted per peer and direction */
    int tag; /* of its chunks, as the sender says; that of go follows from it; 0: it has none */
    int64_t bytes;
    char *head;    /* tsr_head, the text of a verdict if there is one, and the eager payload */
    char *payload; /* in it */
    char *direct;  /* the payload's own memory if it is contiguous, else NULL and the ring serves */
    char *ring;    /* window chunks */
    int slot;      /* of the head's request; those of go and of the chunks follow */
    int window;
    uint64_t chunk; /* bytes; go is this number */
    int64_t n_chunks, posted, done;
    tsr_cursor at;
} tsr_link;

typedef struct tsr_msg_world tsr_msg_world;

/* What groups of equal ranks and lanes share: only calls on one channel must come in one order. */
typedef struct tsr_msg_channel tsr_msg_channel;
struct tsr_msg_channel {
    tsr_msg_channel *next;
    int n, lane;
    int *rank;
    int tag; /* of the heads */
    uint64_t seq;
    const tsr_history *history; /* of the mesh that called last; NULL: of none */
};

/* A call under way. Chunk i of a link uses slot 2 + i % window of it. */
struct tsr_pending {
    tsr_msg_world *world;
    tsr_pending *next;
    const tsr_call *call;
    tsr_msg_channel *channel;
    uint64_t seq;
    size_t size;  /* bytes of an element */
    size_t chunk; /* bytes of a chunk in a ring */
    int n_links, n_slots, n_unfinished;
    tsr_link *link; /* sends, then receives */
    tsr_net_request *slot;
    int *slot_link, *slot_done; /* owner of a slot; result of poll */
    bool *arrived;              /* of a slot: the chunk is here, and not yet used */
    char *heads, *rings;        /* pool */
    bool own_done;              /* what goes to ourselves is copied */
    bool cancelled;
    uint64_t history;      /* hash of the calls before it on the mesh; 0: not compared */
    tsr_verdict sent, met; /* this rank's verdict when it began; the first of all that came */

    /* reductions: one round per chunk, all sources in the order of recv[] */
    int64_t round, n_rounds, reduce_bytes;
    const void **source;
    const tsr_link **source_link; /* NULL: the own source */
    const tsr_msg *own;           /* what goes to ourselves, or NULL */
    char *own_direct, *own_pack;  /* its memory, or room to pack a chunk */
    char *to_direct, *to_pack;    /* the same for the result */
    tsr_cursor own_at, to_at;
};

typedef enum tsr_control_kind {
    TSR_CONTROL_POISON = 1,  /* the rank failed */
    TSR_CONTROL_GOODBYE = 2, /* the rank makes no more calls */
    TSR_CONTROL_EMPTY = 3,   /* the rank has no messages under way any more */
    TSR_CONTROL_ASK = 4,     /* here are my past calls: which of yours is the first that differs? */
    TSR_CONTROL_ANSWER = 5,  /* this one */
    TSR_CONTROL_KINDS = 6
} tsr_control_kind;

typedef struct tsr_control {
    uint32_t magic;
    int32_t kind, rank;
    int32_t code;            /* TSR_OK, or why the world is broken, and text says more */
    uint64_t sent, received; /* GOODBYE: heads sent to, and received from, the addressee */
    uint64_t count; /* ASK: calls on the mesh; ANSWER: the number of the first that differs */
    int64_t tag;    /* ASK: of the channel */
    union {
        char text[TSR_ERROR_LEN];
        uint64_t hash[TSR_HISTORY_LEN]; /* ASK */
    };
} tsr_control;

/* What this rank knows of another. */
typedef struct tsr_peer {
    uint64_t sent, received; /* heads */
    bool left, empty;
    uint64_t left_sent, left_received; /* as its goodbye says */
    tsr_control goodbye, answer;
    tsr_net_request out[TSR_CONTROL_KINDS]; /* control messages, by kind */
    unsigned next_tag;                      /* of chunks to it */
    uint8_t tags[TSR_CHUNK_TAGS / 8];       /* those of messages under way, a bit each */
} tsr_peer;

struct tsr_msg_world {
    tsr_world base;
    const tsr_net_ops *ops;
    tsr_net *net;
    bool yield; /* more ranks than processors: let the others run */
    tsr_msg_channel *channels;
    tsr_pending *calls; /* started and not finished; every wait drives them all */
    tsr_pending *dead;  /* given up, but the network may still use their buffers */
    tsr_error broken;   /* the first failure, of this rank or told by another */
    tsr_peer *peer;
    int n_left;
    tsr_control in, poison, empty, ask;
    tsr_control answered; /* what a peer answered; kind 0: nothing yet */
    tsr_net_request in_request;
    char *drain; /* takes what nobody wants any more, so that its sender can end */
    tsr_net_request drain_request;
};

/* message.c */
tsr_status tsr__message_join(const tsr_net_ops *ops, void *arg, tsr_ctx *ctx, int timeout_ms,
                             tsr_world **out);
void tsr__message_free(tsr_pending *pending);

/* message_link.c */
size_t tsr__message_chunk(const tsr_group *group); /* bytes of a chunk in a ring */
char *tsr__message_direct(size_t size, const tsr_msg *msg, const void *base);
void tsr__message_begin(tsr_pending *pending);               /* posts heads and first chunks */
void tsr__message_slot_done(tsr_pending *pending, int slot); /* a request of the call is done */
void tsr__message_reduce(tsr_pending *pending); /* all rounds whose sources are there */
void tsr__message_own(tsr_pending *pending);    /* copies what goes to ourselves */
bool tsr__message_complete(const tsr_pending *pending);

/* message_wait.c */
tsr_status tsr__message_wait(tsr_pending *pending);
/* Note a failure of this rank, with a sentence, and tell all others; the first one counts. */
void tsr__message_break(tsr_msg_world *w, tsr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tsr__message_net_failed(tsr_msg_world *w, int error, const char *doing, int peer);
void tsr__message_poison(tsr_world *world, const tsr_error *err);
/* The peer's past calls on the mesh of this one differ from ours: ask it which, and tell all. */
void tsr__message_diverged(tsr_pending *pending, int peer);
bool tsr__message_listen(tsr_msg_world *w);  /* post the receive for control messages */
void tsr__message_control(tsr_msg_world *w); /* take what has come on the control channel */
/* The world is broken: end all messages under way, for a short while. */
void tsr__message_quiesce(tsr_msg_world *w);
bool tsr__message_idle(const tsr_pending *pending); /* no request of it is under way */
void tsr__message_close(tsr_world *world);

#endif
