/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ext.h - for those who test, measure or extend Tessera: faults on request, and a library's
   own collectives to compare with. Later also ops, rules, kernels and transports. */
#ifndef TESSERA_EXT_H
#define TESSERA_EXT_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make the n-th allocation of this rank from now on fail (1 is the next one); 0: none. Local. */
TSR_API void tsr_fault_alloc(tsr_mesh *mesh, int64_t n);
/* Make the n-th collective call of this rank from now on fail before it begins; 0: none. Local. */
TSR_API void tsr_fault_call(tsr_mesh *mesh, int64_t n);
/* Allocations made by this rank so far, and those not yet freed. Local. */
TSR_API int64_t tsr_allocations(const tsr_mesh *mesh);
TSR_API int64_t tsr_allocations_live(const tsr_mesh *mesh);

/* The transport's own collective over all ranks of the world (MPI_Allgather and so on) as a
   yardstick: no fingerprints, no timeouts. TSR_ERR_UNAVAILABLE where there is none. Collective. */
TSR_API tsr_status tsr_native(tsr_mesh *mesh, const tsr_collective *call);

#ifdef __cplusplus
}
#endif

#endif
