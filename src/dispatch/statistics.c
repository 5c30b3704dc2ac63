/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - what ops did on this rank, as numbers and as a table at the end of a job; and what
   they may do: strict mode and the byte budget of a scope. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/args.h"
#include "base/text.h"
#include "dispatch/dispatch.h"
#include "layout/plan.h"
#include "op/schema.h"
#include "tensor/scope.h"

/* ---- limits ---- */

void tsr_strict_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(, NULL, mesh);
    mesh->ctx->strict = on;
}

void tsr_scope_budget_set(tsr_mesh *mesh, int64_t bytes)
{
    TSR_NEED(, NULL, mesh);
    mesh->ctx->scope->limited = true;
    mesh->ctx->scope->budget = bytes;
}

tsr_status tsr__strict_check(const tsr_ctx *ctx, const char *op, const tsr_spec *from,
                             const tsr_spec *to, tsr_error *err)
{
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_heap heap = {0};
    tsr_redist *plan = NULL;
    int64_t bytes;
    tsr_status st = TSR_OK;

    if (!ctx->strict)
        return TSR_OK;
    TSR_TRY(tsr__plan_make(&heap, from, to, &ctx->cost, 0, TSR_RIVAL_BEST, &plan, err));
    bytes = tsr_redist_info_of(plan).bytes;
    if (bytes > 0)
        st = tsr__fail(
            err, TSR_ERR_LIMIT,
            "%s: strict mode forbids to move %s to %s, which brings a rank %" PRId64 " bytes", op,
            tsr_spec_text(from, a, sizeof a), tsr_placements_text(to, b, sizeof b), bytes);
done:
    tsr_redist_free(plan);
    return st;
}

/* ---- numbers ---- */

double tsr__statistics_clock(const tsr_ctx *ctx)
{
    struct timespec t;

    if (!ctx->statistics)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tsr_booking tsr__book_begin(const tsr_ctx *ctx)
{
    tsr_booking b = {.begin = tsr__statistics_clock(ctx)};

    memcpy(b.along, ctx->counters.along, sizeof b.along);
    return b;
}

double tsr__book_end(const tsr_ctx *ctx, const tsr_booking *b, tsr_op_counters *counters)
{
    for (int i = 0; i <= TSR_MAX_MESH; i++)
        counters->along[i] += ctx->counters.along[i] - b->along[i];
    return tsr__statistics_clock(ctx) - b->begin;
}

void tsr_statistics_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(, NULL, mesh);
    mesh->ctx->statistics = on;
}

tsr_op_counters tsr_op_counters_get(const tsr_mesh *mesh, const char *op)
{
    TSR_NEED((tsr_op_counters){0}, NULL, mesh, op);

    const tsr_op_table *table = mesh->ctx->ops;

    for (const tsr_op_entry *e = table ? table->first : NULL; e; e = e->later)
        if (op && strcmp(e->op->name, op) == 0)
            return e->counters;
    return (tsr_op_counters){0};
}

/* ---- the table ---- */

/* Mesh dims along which anything came; the last column stands for several dims at once. */
static unsigned used_columns(const tsr_ctx *ctx)
{
    unsigned used = 0;

    for (const tsr_op_entry *e = ctx->ops->first; e; e = e->later)
        for (int i = 0; i <= TSR_MAX_MESH; i++)
            used |= e->counters.along[i] ? 1u << i : 0;
    return used;
}

static void print_head(const tsr_mesh_shape *mesh, unsigned used)
{
    char name[TSR_NAME_LEN];

    fprintf(stderr, "%-20s %10s", "op", "calls");
    for (int m = 0; m < TSR_MAX_MESH; m++)
        if (used >> m & 1)
            fprintf(stderr, " %14s",
                    m < mesh->ndim ? tsr__mesh_dim_text(mesh, m, name, sizeof name) : "?");
    if (used >> TSR_MAX_MESH & 1)
        fprintf(stderr, " %14s", "several dims");
    fprintf(stderr, " %12s %12s %12s\n", "predicted/ms", "moving/ms", "computing/ms");
}

void tsr__statistics_print(const tsr_ctx *ctx, const tsr_mesh_shape *mesh)
{
    unsigned used = ctx->ops ? used_columns(ctx) : 0;

    if (!ctx->reports || !ctx->ops || ctx->world->rank != 0)
        return;
    fprintf(stderr, "what ops did on rank 0 (bytes received along mesh dims)\n");
    print_head(mesh, used);
    for (const tsr_op_entry *e = ctx->ops->first; e; e = e->later) {
        const tsr_op_counters *c = &e->counters;
        fprintf(stderr, "%-20s %10" PRId64, e->op->name, c->calls);
        for (int i = 0; i <= TSR_MAX_MESH; i++)
            if (used >> i & 1)
                fprintf(stderr, " %14" PRId64, c->along[i]);
        tsr__print(stderr, " %12.3f %12.3f %12.3f\n", 1e3 * c->predicted, 1e3 * c->moving,
                   1e3 * c->computing);
    }
}
