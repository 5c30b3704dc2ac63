/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - what ops did on this rank, as numbers and as a table at the end of a job; and what
   they may do: strict mode and the byte budget of a scope. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/text.h"
#include "dispatch/dispatch.h"
#include "layout/redist_plan.h"
#include "op/schema.h"
#include "tensor/scope.h"

/* ---- limits ---- */

tsr_status tsr_strict_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    mesh->ctx->strict = on;
    return TSR_OK;
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
    TSR_TRY(tsr__redist_plan_make(&heap, from, to, &ctx->cost, 0, TSR_RIVAL_BEST, &plan, err));
    bytes = tsr_redist_info_get(plan).bytes;
    if (bytes > 0)
        st = tsr__fail(
            err, TSR_ERR_LIMIT,
            "%s: strict mode forbids redistributing %s to %s (%" PRId64 " bytes per rank)", op,
            tsr_spec_text(from, a, sizeof a), tsr_placements_text(to, b, sizeof b), bytes);
done:
    tsr_redist_free(plan);
    return st;
}

/* ---- numbers ---- */

tsr_status tsr_statistics_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    mesh->ctx->statistics = on;
    return TSR_OK;
}

tsr_op_counters tsr_op_counters_get(const tsr_mesh *mesh, const char *op)
{
    TSR_NEED((tsr_op_counters){0}, NULL, mesh, op);

    const tsr_op_table *table = mesh->ctx->ops;

    for (int i = 0; op && i < TSR_ACTIVITIES; i++)
        if (strcmp(tsr__activity_name((tsr_activity)i), op) == 0)
            return mesh->ctx->activity[i];
    for (const tsr_op_entry *e = table ? table->first : NULL; e; e = e->later)
        if (op && strcmp(e->op->name, op) == 0)
            return e->counters;
    return (tsr_op_counters){0};
}

/* ---- the report ---- */

/* A line of it, an op or an activity, and where to go on. */
typedef struct report_row {
    const char *name;
    const tsr_op_counters *counters;
    const tsr_op_entry *entry; /* NULL: an activity */
    int next_activity;
} report_row;

/* From {0} on: activities that occurred, then ops; false after the last. */
static bool next_row(const tsr_ctx *ctx, report_row *row)
{
    while (row->next_activity < TSR_ACTIVITIES) {
        const tsr_activity i = (tsr_activity)row->next_activity++;

        row->name = tsr__activity_name(i);
        row->counters = &ctx->activity[i];
        if (row->counters->calls > 0)
            return true;
    }
    row->entry = row->entry ? row->entry->later : ctx->ops ? ctx->ops->first : NULL;
    if (!row->entry)
        return false;
    row->name = row->entry->op->name;
    row->counters = &row->entry->counters;
    return true;
}

/* Mesh dims along which anything came; the last column stands for several dims at once. */
static unsigned used_columns(const tsr_ctx *ctx)
{
    unsigned used = 0;

    for (report_row row = {0}; next_row(ctx, &row);)
        for (int m = 0; m <= TSR_MAX_MESH; m++)
            used |= row.counters->along[m] ? 1u << m : 0;
    return used;
}

static const char *column_name(const tsr_mesh_shape *mesh, int m, char name[TSR_NAME_LEN])
{
    if (m == TSR_MAX_MESH)
        return "several dims";
    return m < mesh->ndim ? tsr__mesh_dim_text(mesh, m, name, TSR_NAME_LEN) : "?";
}

/* Computing without the time in which halos were fetched. */
static double computing(const tsr_op_counters *c)
{
    return c->computing > c->windows ? c->computing - c->windows : 0;
}

static void print_table(const tsr_ctx *ctx, const tsr_mesh_shape *mesh)
{
    const unsigned used = used_columns(ctx);
    char name[TSR_NAME_LEN];

    fprintf(stderr, "statistics of rank 0 (bytes received by mesh dim)\n%-20s %10s", "op", "calls");
    for (int m = 0; m <= TSR_MAX_MESH; m++)
        if (used >> m & 1)
            fprintf(stderr, " %14s", column_name(mesh, m, name));
    fprintf(stderr, " %12s %12s %12s %12s\n", "predicted/ms", "moving/ms", "halo/ms",
            "computing/ms");
    for (report_row row = {0}; next_row(ctx, &row);) {
        fprintf(stderr, "%-20s %10" PRId64, row.name, row.counters->calls);
        for (int m = 0; m <= TSR_MAX_MESH; m++)
            if (used >> m & 1)
                fprintf(stderr, " %14" PRId64, row.counters->along[m]);
        tsr__print(stderr, " %12.3f %12.3f %12.3f %12.3f\n", 1e3 * row.counters->predicted,
                   1e3 * row.counters->moving, 1e3 * row.counters->windows,
                   1e3 * computing(row.counters));
    }
}

/* Names are words, which JSON takes as they are. */
static void print_json(const tsr_ctx *ctx, const tsr_mesh_shape *mesh)
{
    const tsr_counters all = tsr_counters_get(ctx->error_tensor->mesh);
    const unsigned used = used_columns(ctx);
    char text[TSR_TEXT_LEN], name[TSR_NAME_LEN];
    const char *before = "";

    fprintf(stderr,
            "{\"rank\": 0, \"mesh\": \"%s\", \"bytes_in\": %" PRId64 ", \"bytes_out\": %" PRId64
            ", \"plan_hits\": %" PRId64 ", \"plan_misses\": %" PRId64
            ", \"memory_peak\": %zu, \"results\": [",
            tsr_mesh_text(mesh, text, sizeof text), all.bytes_in, all.bytes_out, all.plan_hits,
            all.plan_misses, all.memory_peak);
    for (report_row row = {0}; next_row(ctx, &row);) {
        const char *comma = "";

        fprintf(stderr, "%s\n {\"name\": \"%s\", \"op\": %s, \"calls\": %" PRId64 ", \"bytes\": {",
                before, row.name, row.entry ? "true" : "false", row.counters->calls);
        for (int m = 0; m <= TSR_MAX_MESH; m++)
            if (used >> m & 1) {
                fprintf(stderr, "%s\"%s\": %" PRId64, comma, column_name(mesh, m, name),
                        row.counters->along[m]);
                comma = ", ";
            }
        tsr__print(stderr,
                   "}, \"predicted\": %.9g, \"moving\": %.9g, \"halo\": %.9g, \"computing\": %.9g}",
                   row.counters->predicted, row.counters->moving, row.counters->windows,
                   computing(row.counters));
        before = ",";
    }
    fprintf(stderr, "]}\n");
}

void tsr__statistics_print(const tsr_ctx *ctx, const tsr_mesh_shape *mesh)
{
    if (ctx->world->rank != 0)
        return;
    if (ctx->report == TSR_REPORT_TABLE)
        print_table(ctx, mesh);
    else if (ctx->report == TSR_REPORT_JSON)
        print_json(ctx, mesh);
}
