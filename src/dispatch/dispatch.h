/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - running one op on distributed tensors. */
#ifndef TSR_DISPATCH_DISPATCH_H
#define TSR_DISPATCH_DISPATCH_H

#include "base/activity.h"
#include "dispatch/cached_call.h"

/* A call as the typed functions make it. */
typedef struct tsr_op_call {
    tsr_op_entry *entry;
    int n_in;
    tsr_tensor *const *in; /* absent optional inputs are NULL */
    const tsr_attr *attrs; /* all that the row has, in its order */
    const tsr_spec *want;  /* what the first output shall be; NULL: anything */
    const char *part;      /* of what it is a part, for messages: "table 2: "; NULL: none */
} tsr_op_call;

/* A call whose inputs are where they are needed and whose outputs are made. */
typedef struct tsr_opened {
    tsr_cached_call *plan;
    tsr_mesh *mesh;
    tsr_tensor *in[TSR_MAX_IN];
} tsr_opened;

/* Run it; out gets as many tensors as the op has outputs, NULL for those switched off. Collective
   over the mesh of the inputs. */
tsr_status tsr__dispatch(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor **out);
/* Its two halves, for those who run several calls together: all but computing, and that; the plan
   stays until it is closed. An op `communicates` if it would move data itself. */
tsr_status tsr__dispatch_open(tsr_ctx *ctx, const tsr_op_call *call, tsr_opened *o,
                              tsr_tensor **out);
void tsr__dispatch_close(tsr_opened *o); /* also if opening failed; zero is closed */
bool tsr__dispatch_communicates(const tsr_opened *o);
/* What the op's own run gets; full is the memory of what it points to. */
tsr_run_call tsr__dispatch_run_call(const tsr_op_call *call, const tsr_opened *o,
                                    tsr_tensor *const *out, tsr_call_in_full *full);
tsr_status tsr__dispatch_compute(const tsr_op_call *call, const tsr_opened *o,
                                 tsr_tensor *const *out);
/* Write a call that ran on the tape, which is on. */
tsr_status tsr__dispatch_record(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor *const *out,
                                int n_out);
/* Running one, for typed functions, by its number (ops/op_ids.h); attrs NULL: the defaults. The
   first output, on failure the error tensor; the others in rest (may be NULL), by their numbers. */
tsr_tensor *tsr__dispatch_typed(int op, tsr_tensor *const *in, int n, const tsr_attr *attrs,
                                tsr_tensor **rest);
/* What a typed function gives instead that will not run, and why: the error tensor, in rest, too;
   NULL if there is no input whose mesh could be told. */
tsr_tensor *tsr__typed_refuse(tsr_tensor *const *in, int n, tsr_tensor **rest, const char *format,
                              ...) __attribute__((format(printf, 4, 5)));
/* As tsr__dispatch_typed, of attributes among which are lists (dispatch/typed_attr.h): one that is
   NULL, or too long, is an error. */
tsr_tensor *tsr__dispatch_lists(int op, tsr_tensor *const *in, int n_in, const tsr_attr *attrs,
                                int n_attrs, tsr_tensor **rest);
/* Where a typed function says what is wrong; NULL without an input. And what it gives then. */
tsr_error *tsr__typed_error(tsr_tensor *const *in, int n);
tsr_tensor *tsr__typed_failed(tsr_tensor *const *in, int n, tsr_status st, tsr_tensor **rest);
/* For ops that give gradients of several inputs: those that have a place to go to (grads[k] is not
   NULL), which attribute number `mask` tells the op (-1: it has none). st is what came of reading
   the options; the result is the status of this call. */
tsr_status tsr__typed_grads(int op, tsr_tensor *const *in, int n_in, tsr_status st, tsr_attr *attrs,
                            int mask, tsr_tensor **const *grads, int n);
/* A row on these inputs: all its outputs, TSR_MAX_OUT of them, NULL where there is none. */
tsr_status tsr__dispatch_row(tsr_ctx *ctx, const tsr_op *op, tsr_tensor *const *in, int n_in,
                             const tsr_attrs *attrs, tsr_tensor **out);
/* Its kernel alone, n times, into an output that it gave before. */
tsr_status tsr__dispatch_kernel(tsr_ctx *ctx, const tsr_op_call *call, tsr_tensor *out, int64_t n);
void tsr__dispatch_cache_free(tsr_ctx *ctx);

/* statistics.c: a strict context refuses hidden redistribution */
tsr_status tsr__strict_check(const tsr_ctx *ctx, const char *op, const tsr_spec *from,
                             const tsr_spec *to, tsr_error *err);
void tsr__statistics_print(const tsr_ctx *ctx, const tsr_mesh_shape *mesh);

#endif
