/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h - operands of which a rank needs more than its own part (halo): which they are under a
   strategy, their layouts, what exchanging them costs, and in which direction. Pure. */
#ifndef TSR_OP_WINDOWS_H
#define TSR_OP_WINDOWS_H

#include "layout/layout.h"
#include "op/op.h"

/* The windows of a strategy: those whose anchor is sharded along their dim; how many. The others
   show all there is. */
int tsr__windows_of(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out, bool reverse,
                    tsr_windows *windows);
/* The layout in which the kernel gets an operand: through its windows, or as its spec says. */
tsr_layout tsr__windows_layout(const tsr_windows *windows, const tsr_spec *in, const tsr_spec *out,
                               int operand);
/* The spec of an operand. */
const tsr_spec *tsr__operand_spec(const tsr_spec *in, const tsr_spec *out, int operand);
/* Mesh dims along which an operand moves when its halo is fetched or scattered back. */
unsigned tsr__windows_mdims(const tsr_windows *windows, const tsr_spec *in, const tsr_spec *out,
                            int operand);
/* Bytes of one operand's halo into the rank that gets most: 0 if no rank needs anything of another.
   */
double tsr__window_bytes(const tsr_windows *windows, const tsr_spec *in, const tsr_spec *out,
                         int operand, bool reverse);
/* The halo of all operands in the cheaper direction; *reverse says which. */
tsr_comm tsr__windows_comm(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out,
                           const tsr_cost *cost, bool *reverse);
/* Can the windows of a strategy be filled? Only of plain shards, of anchor and operand alike. */
bool tsr__windows_feasible(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out);

#endif
