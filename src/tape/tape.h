/* SPDX-License-Identifier: Apache-2.0 */
/* tape.h - the tape of autograd: what ran, in order, for going through it backwards, calls on
   tensors that depend on a watched one. Written by dispatch and redistribution, read by
   grad/backward.c. */
#ifndef TSR_TAPE_TAPE_H
#define TSR_TAPE_TAPE_H

#include "tensor/tensor.h"
#include "tessera_ext.h"

typedef enum tsr_taped_kind {
    TSR_TAPED_OP,      /* a row */
    TSR_TAPED_MOVE,    /* a redistribution */
    TSR_TAPED_CALL,    /* a call whose gradients are made by a function that comes with it */
    TSR_TAPED_FUNCTION /* a function that is to be run again */
} tsr_taped_kind;

/* A tensor that a gradient may look at. Of those whose values it does not read, a handle without
   memory is left. */
typedef struct tsr_saved {
    tsr_tensor *x; /* NULL: absent */
    unsigned version;
} tsr_saved;

/* Where the gradient of an input goes: to a watched tensor, to an output of an earlier node, or
   nowhere. */
typedef struct tsr_source {
    tsr_tensor *leaf;
    uint64_t node; /* 0: none */
    int out;
} tsr_source;

struct tsr_taped;
/* The gradients of a call, given to where they go. Collective. */
typedef tsr_status (*tsr_taped_back)(tsr_ctx *ctx, struct tsr_taped *node);
/* A function that is to be run again (tsr_recompute). */
typedef tsr_tensor *(*tsr_taped_function)(tsr_tensor *const *in, int n_in, void *arg);

typedef struct tsr_taped {
    tsr_taped_kind kind;
    int n_in, n_out;
    tsr_saved *in, *out;
    tsr_source *source; /* of every input */
    tsr_tensor **grad;  /* of every output, as far as it is known; NULL: none yet */
    const tsr_op *op;   /* and its attributes, in the order of the row */
    tsr_attr *attrs;
    tsr_taped_back back; /* of a call: its gradients, and what it needs for them, its own */
    void *back_data;
    tsr_taped_function function;
    void *arg;
} tsr_taped;

typedef struct tsr_tape {
    struct tsr_tape *outer;
    struct tsr_scope *scope; /* that it began with */
    uint64_t first;          /* number of its first node; numbers are never used again */
    bool recording_off;      /* nothing is written, only what may not be used is refused */
    int n, cap;
    tsr_taped **node; /* NULL: done with */
} tsr_tape;

/* A call to be written down. */
typedef struct tsr_record {
    tsr_taped_kind kind;
    int n_in, n_out;
    tsr_tensor *const *in, *const *out; /* NULL: absent */
    unsigned saves_in, saves_out;       /* whose values the gradient reads, as masks */
    const tsr_op *op;
    const tsr_attr *attrs;
    int n_attrs;
    tsr_taped_back back;
    const void *back_data; /* back_bytes of them, copied; NULL: nothing */
    size_t back_bytes;
    tsr_taped_function function;
    void *arg;
} tsr_record;

/* Calls are recorded now. */
static inline bool tsr__tape_is_on(const tsr_ctx *ctx)
{
    return ctx->tape && ctx->unrecorded == 0;
}

/* May it run? What an op overwrites is not there for its gradient, and watched tensors are not
   results. */
tsr_status tsr__tape_check_inplace(tsr_ctx *ctx, const tsr_record *call);
/* A call through which no gradient flows: its outputs remember that, and those made of them. */
void tsr__tape_cut(const tsr_ctx *ctx, const tsr_record *call);
/* Write a call down if one of its inputs depends on a watched tensor; its outputs then do too. */
tsr_status tsr__tape_record(tsr_ctx *ctx, const tsr_record *call);
/* Begin a tape, with a scope of its own; end the innermost one with all that it holds. */
tsr_status tsr__tape_push(tsr_ctx *ctx);
void tsr__tape_pop(tsr_ctx *ctx);
/* Its scope, and those inside, go; what is among x goes to the outer one. */
void tsr__tape_close_scope(tsr_ctx *ctx, tsr_tensor *const *x, int n);
/* watch.c: make x a watched tensor; it is fit for that. Local. */
tsr_status tsr__leaf_make(tsr_tensor *x, bool by_rows);
/* Does x depend on a watched tensor, as far as the innermost tape knows? */
bool tsr__tape_has(const tsr_ctx *ctx, const tsr_tensor *x);
/* The node of a number; NULL if it is done with. */
tsr_taped *tsr__tape_node(const tsr_tape *tape, uint64_t number);
void tsr__tape_drop(tsr_ctx *ctx, tsr_tape *tape, int i); /* done with node i */

#endif
