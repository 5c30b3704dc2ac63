/* SPDX-License-Identifier: Apache-2.0 */
/* halo.h - operands seen through windows: what is missing of them is fetched before the kernel
   runs, or what it filled is added up afterwards. Made once per plan, run often. */
#ifndef TSR_RUN_HALO_H
#define TSR_RUN_HALO_H

#include "exchange/exchange.h"
#include "op/windows.h"
#include "tensor/tensor.h"

typedef struct tsr_halo tsr_halo;

/* The windows of a strategy on this rank, of its inputs or, reverse, of its outputs; NULL if it has
   none. Local, and pure but for memory. */
tsr_status tsr__halo_make(tsr_mesh *mesh, const tsr_schema *schema, const tsr_spec *in,
                          const tsr_spec *out, bool reverse, tsr_halo **halo);
void tsr__halo_free(tsr_ctx *ctx, tsr_halo *halo); /* NULL is fine */
/* The windows it is made of, n 0 if halo is NULL. */
const tsr_windows *tsr__halo_windows(const tsr_halo *halo);
bool tsr__halo_communicates(const tsr_halo *halo); /* does anything go between ranks? NULL: no */
bool tsr__halo_is_reverse(const tsr_halo *halo);   /* are outputs the windows? */

/* Before the kernel: the call's data are the tensors' parts, and become windows; start begins to
   fill them, finish waits until they are full, or finds them kept. Afterwards: scatter_add adds
   windows of outputs to their owners' parts. put gives memory back, in any case.
   Collective if anything is sent. */
tsr_status tsr__halo_start(tsr_halo *halo, tsr_mesh *mesh, tsr_tensor *const *in,
                           tsr_kernel_call *call);
tsr_status tsr__halo_finish(tsr_halo *halo, tsr_tensor *const *in);
tsr_status tsr__halo_scatter_add(tsr_halo *halo, tsr_mesh *mesh, tsr_kernel_call *call);
void tsr__halo_put(tsr_halo *halo); /* NULL is fine */

#endif
