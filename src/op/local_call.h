/* SPDX-License-Identifier: Apache-2.0 */
/* local_call.h - what a strategy is for the kernel of one rank: shapes of its operands, where they
   begin, attributes and numbers; and by which algorithm it runs: its kernel or its own exchange.
   Pure but for tsr__kernel_once. */
#ifndef TSR_OP_LOCAL_CALL_H
#define TSR_OP_LOCAL_CALL_H

#include "op/windows.h"

/* The call of the rank at coord, but for the data. */
void tsr__local_call(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out,
                     const tsr_windows *windows, const int *coord, tsr_kernel_call *call);
/* For rows that ask for positions: where the indices of operands in pieces are. */
tsr_status tsr__positions_make(tsr_heap *heap, const tsr_schema *schema, const tsr_spec *in,
                               const tsr_spec *out, const tsr_windows *windows, const int *coord,
                               tsr_kernel_call *call, tsr_error *err);
void tsr__positions_free(tsr_heap *heap, tsr_kernel_call *call);
/* Run it once, with memory for the occasion. Trouble of the kernel's own is the error. Local. */
tsr_status tsr__kernel_once(tsr_heap *heap, const tsr_op *op, tsr_kernel_call *call,
                            tsr_error *err);

/* How an op runs under a strategy. The search decides it once and stores it with the strategy. */
typedef struct tsr_algorithm {
    bool own_run;      /* the row's run, which exchanges data itself, instead of its kernel */
    bool reverse_halo; /* windows of outputs are scattered back, instead of inputs' fetched */
    tsr_comm comm;     /* of its own run, or of its halo */
} tsr_algorithm;

/* The cheapest algorithm for these specs. */
tsr_algorithm tsr__op_algorithm(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out,
                                const tsr_cost *cost);
/* Is the strategy possible for these shapes on this mesh? */
bool tsr__op_feasible(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out);

#endif
