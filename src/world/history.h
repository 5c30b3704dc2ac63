/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - the calls on a mesh so far. Every call that makes or changes a tensor is hashed into
   the history of its mesh, and the hash is sent with the fingerprint of the next message on that
   mesh: ranks whose programs differ in local calls only are found out there. A rank that finds bad
   values in its data (an index out of range) notes a verdict here; it is sent the same way, until
   all ranks of the mesh have it and report it in the same call. */
#ifndef TSR_WORLD_HISTORY_H
#define TSR_WORLD_HISTORY_H

#include "base/cache.h"
#include "base/hash.h"
#include "tessera.h"

enum { TSR_HISTORY_LEN = 64, TSR_VERDICT_LEN = 256 };

/* Writes one call for error messages: "add f32[8]@[S(0)] f32[8]@[R]". */
typedef void (*tsr_call_text)(const tsr_cached *subject, char *buf, size_t n);

typedef struct tsr_past_call {
    uint64_t hash;             /* of all calls up to this one */
    uint64_t clock;            /* the context's, when it was made */
    const tsr_cached *subject; /* NULL: a call that failed, or whose subject is gone */
    tsr_call_text text;
} tsr_past_call;

/* Bad values that one rank found. Zero is none. */
typedef struct tsr_verdict {
    uint64_t number; /* of the call in the history, from 1 */
    int32_t rank;    /* that found them */
    uint32_t known;  /* mesh dims: all ranks that are reached along them know it, too */
    int32_t code;
    char text[TSR_VERDICT_LEN];
} tsr_verdict;

typedef struct tsr_history {
    uint64_t count, hash;
    uint64_t reported;   /* the latest verdict that all ranks reported */
    uint32_t all;        /* mesh dims of several ranks */
    tsr_verdict verdict; /* found and not reported yet; of several the first */
    tsr_past_call past[TSR_HISTORY_LEN];
} tsr_history;

/* Add a call that makes or changes tensors; who drops its subject calls tsr__histories_forget.
   Local. */
static inline void tsr__history_add(tsr_history *h, uint64_t clock, uint64_t hash,
                                    const tsr_cached *subject, tsr_call_text text)
{
    tsr_past_call *p = &h->past[h->count++ % TSR_HISTORY_LEN];

    h->hash = tsr__hash_mix(h->hash, hash);
    *p = (tsr_past_call){.hash = h->hash, .clock = clock, .subject = subject, .text = text};
}

/* The subject of past calls is about to go: they can no longer be named. */
void tsr__history_forget(tsr_history *h, const tsr_cached *subject);
/* The context's clock at call `number`; 0 if that is too long ago to be known. */
uint64_t tsr__history_clock(const tsr_history *h, uint64_t number);
/* The number of the first call that differs from those of another rank, which has made `count` and
   whose hashes are at number % TSR_HISTORY_LEN; 0 if it is too long ago to be known. */
uint64_t tsr__history_differs(const tsr_history *h, uint64_t count, const uint64_t *hash);
/* Call `number` as text; "no further call" if it was not made. */
const char *tsr__history_text(const tsr_history *h, uint64_t number, char *buf, size_t n);

/* The error of two ranks whose calls before `what` differ. */
tsr_status tsr__histories_diverged(const char *what, int rank, const char *call, int other_rank,
                                   const char *other_call, tsr_error *err);

/* Of two verdicts the earlier call's counts, of one call that of the lower rank. */
void tsr__verdict_merge(tsr_verdict *v, const tsr_verdict *other);

#endif
