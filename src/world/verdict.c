/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - how a verdict is raised, spreads and is reported (verdict.h). Raised by kernels and
   runs through dispatch, met by the transports, reported where public functions end. */
#include "world/verdict.h"

#include <stdarg.h>

#include "base/text.h"

static bool is_everywhere(const tsr_history *h)
{
    return h->verdict.number && (h->verdict.known & h->all) == h->all;
}

/* Take a verdict into the history; one that was reported comes again in calls that began before. */
static void learn(tsr_ctx *ctx, tsr_history *h, const tsr_verdict *v)
{
    if (v->number <= h->reported)
        return;
    tsr__verdict_merge(&h->verdict, v);
    ctx->verdicts = true;
    ctx->verdict_ready = ctx->verdict_ready || is_everywhere(h);
}

tsr_status tsr__verdict_raise(tsr_mesh *mesh, bool shared, tsr_status code, const char *format, ...)
{
    tsr_verdict v = {
        .number = mesh->history.count, .rank = mesh->ctx->world->rank, .code = (int32_t)code};
    va_list args;

    va_start(args, format);
    tsr__vformat(v.text, sizeof v.text, format, args);
    va_end(args);
    if (shared || !mesh->history.all) {
        mesh->history.reported = v.number;
        return tsr__fail(&mesh->ctx->error, code, "%s", v.text);
    }
    learn(mesh->ctx, &mesh->history, &v);
    return TSR_OK;
}

void tsr__verdict_met(const tsr_group *group, tsr_verdict *met, bool dense)
{
    if (!met->number || !group->history)
        return;
    if (dense)
        met->known |= group->mdims;
    learn(group->world->ctx, group->history, met);
}

tsr_status tsr__verdict_why(tsr_ctx *ctx, const tsr_verdict *met, tsr_status st)
{
    if (st != TSR_ERR_PEER || !met->number)
        return st;
    if (ctx->error.code == TSR_ERR_PEER)
        ctx->error = (tsr_error){0};
    return tsr__fail(&ctx->error, (tsr_status)met->code, "%s", met->text);
}

/* Report the verdict of one mesh. */
static tsr_status report(tsr_mesh *mesh)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_history *h = &mesh->history;
    const tsr_status code = (tsr_status)h->verdict.code;

    ctx->error_everywhere =
        ctx->error.code == TSR_OK && tsr__mesh_size(&mesh->shape) == ctx->world->size;
    ctx->invalidate(ctx, tsr__history_clock(h, h->verdict.number));
    tsr__fail(&ctx->error, code, "%s", h->verdict.text);
    h->reported = h->verdict.number;
    h->verdict.number = 0;
    return code;
}

tsr_status tsr__verdict_report(tsr_ctx *ctx)
{
    tsr_status st = TSR_OK;

    if (!ctx->verdict_ready)
        return TSR_OK;
    ctx->verdict_ready = ctx->verdicts = false;
    for (tsr_mesh *mesh = ctx->meshes; mesh; mesh = mesh->next) {
        if (is_everywhere(&mesh->history))
            st = report(mesh);
        ctx->verdicts = ctx->verdicts || mesh->history.verdict.number;
    }
    return st;
}

tsr_status tsr__verdict_before_read(tsr_ctx *ctx)
{
    if (ctx->verdict_ready)
        return tsr__verdict_report(ctx);
    for (tsr_mesh *mesh = ctx->verdicts ? ctx->meshes : NULL; mesh; mesh = mesh->next)
        if (mesh->history.verdict.number)
            return tsr__fail(&ctx->error, (tsr_status)mesh->history.verdict.code, "%s",
                             mesh->history.verdict.text);
    return TSR_OK;
}
