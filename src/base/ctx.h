/* SPDX-License-Identifier: Apache-2.0 */
/* ctx.h - the state of one rank. There are no writable globals: thread ranks share the process, so
   everything hangs off the context. Made and taken down by dispatch/job.c. */
#ifndef TSR_BASE_CTX_H
#define TSR_BASE_CTX_H

#include "base/cache.h"
#include "base/heap.h"
#include "base/pool.h"

/* What is printed of the statistics at the end of a job. */
typedef enum tsr_report { TSR_REPORT_NONE, TSR_REPORT_TABLE, TSR_REPORT_JSON } tsr_report;

/* What programs do themselves, besides calling ops. */
typedef enum tsr_activity {
    TSR_DO_REDISTRIBUTE,
    TSR_DO_HOST,
    TSR_DO_COLLECTIVE,
    TSR_DO_FILE,
    TSR_ACTIVITIES
} tsr_activity;

enum { TSR_OLD_COSTS = 8 };

typedef struct tsr_ctx {
    tsr_heap heap;
    tsr_pool pool;
    struct tsr_memory memory; /* these two, for kernels */
    tsr_error error;          /* the first error; later ones are dropped */
    bool error_known; /* a rank before this one has the same: the sentence need not be said twice */
    tsr_status peer_code; /* what a rank failed with by itself that told this one */
    tsr_counters counters;
    tsr_cost cost;    /* equal on all ranks */
    int cost_version; /* equal versions are equal costs */
    /* costs that were set before, as many as are remembered; the highest version so far */
    struct {
        tsr_cost cost;
        int version;
    } old_costs[TSR_OLD_COSTS];
    int cost_versions;
    size_t memory_limit;
    size_t keep_limit; /* bytes of windows that may be kept per mesh; 0: none */
    tsr_overlap_mode overlap;
    bool strict;     /* ops may not redistribute by themselves */
    bool validating; /* ops are validated when they are registered */
    bool statistics; /* clocks are read */
    tsr_report report;
    tsr_log_level log_level; /* base/log.h */
    tsr_log_function log;    /* NULL: stderr */
    void *log_arg;
    int log_rank; /* of the world; 0 before it is joined */

    tsr_op_counters activity[TSR_ACTIVITIES]; /* base/activity.h */
    int activities;                           /* that have begun and not ended */

    tsr_spare spare_tensors, spare_buffers;
    tsr_cache calls;       /* dispatch/cached_call.c */
    tsr_cache programs;    /* redist/program.c */
    tsr_cache local_specs; /* tensor/local_spec.c */
    tsr_caches caches;     /* what these three may keep */

    struct tsr_world *world;      /* world/world.h */
    struct tsr_mesh *meshes;      /* world/mesh_handle.h, all that are open */
    struct tsr_tensor *tensors;   /* tensor/tensor.h, every handle, spare ones too */
    uint64_t clock;               /* calls that made or changed tensors, on any mesh */
    bool verdicts, verdict_ready; /* world/verdict.h: there are some; some can be reported */
    bool error_everywhere;        /* every rank of the world gets the error in the same call */
    /* tensors that were made or changed at this time or later are invalid */
    void (*invalidate)(struct tsr_ctx *ctx, uint64_t clock);
    struct tsr_scope *scope;         /* tensor/scope.h, innermost */
    struct tsr_tensor *error_tensor; /* tensor/tensor.h */
    tsr_status failed;               /* what the last call failed with that gave this tensor */
    struct tsr_op_table *ops;        /* op/op_table.h */
    struct tsr_moved *moved;         /* dispatch/composed.c, while a composed op runs */
    struct tsr_tape *tape;           /* tape/tape.h, innermost */
    uint64_t tape_next;              /* no node has this number, or a higher one */
    int unrecorded;                  /* above 0: calls are not recorded */
} tsr_ctx;

/* Where bytes that come along these mesh dims are counted in tsr_counters.along. */
static inline int tsr__along(unsigned mdims)
{
    const bool one = mdims && !(mdims & (mdims - 1));

    return one ? __builtin_ctz(mdims) : TSR_MAX_MESH;
}

#endif
