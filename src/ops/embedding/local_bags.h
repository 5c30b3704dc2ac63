/* SPDX-License-Identifier: Apache-2.0 */
/* local_bags.h - bags by offsets, of one rank. Offsets and ids may be sharded, but a part of the
   list of ids is not that of a rank's bags: what they lack of others is fetched. */
#ifndef TSR_OPS_LOCAL_BAGS_H
#define TSR_OPS_LOCAL_BAGS_H

#include "ops/embedding/embedding.h"
#include "run/call_arena.h"
#include "ops/embedding/ranges.h"

/* All offsets of a call; those of the rank's part. */
tsr_offsets tsr__offsets_of(const tsr_run_call *call);
/* As tsr__bag_offsets, into memory that is held; an error names the op. */
tsr_status tsr__bag_bounds(const tsr_run_call *call, const tsr_offsets *offsets, int64_t bag,
                           int64_t n, tsr_call_arena *arena, int64_t **begin, tsr_error *err);

/* The bags of this rank's rows of the output, or of a gradient. bags->ids are those of the rank's
   part, and become those of its bags; the weights, if there are any, too. If ids are
   sharded, ranges says from where they came; it is to be closed. Collective. */
tsr_status tsr__local_bags(const tsr_run_call *call, tsr_call_arena *arena, tsr_bags *bags,
                           const char **weights, tsr_ranges *ranges, tsr_error *err);

#endif
