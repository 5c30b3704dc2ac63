/* SPDX-License-Identifier: Apache-2.0 */
/* register.c - making an op of a program known: its row is checked, and in the validating mode its
   rules are tried. */
#include "base/args.h"
#include "dispatch/dispatch.h"
#include "validate/validate.h"

tsr_status tsr_validating_set(tsr_mesh *mesh, bool on)
{
    TSR_NEED(TSR_ERR_ARG, NULL, mesh);
    mesh->ctx->validating = on;
    return TSR_OK;
}

/* Finding a flaw is an error here. */
static tsr_status validate(const tsr_op *row, tsr_error *err)
{
    tsr_validation *report = NULL;
    tsr_heap heap = {0};
    tsr_status st;

    TSR_TRY(tsr__alloc(&heap, 1, sizeof *report, &report, err));
    TSR_TRY(tsr_validate(row, report, err));
    if (report->unsound + report->wrong > 0)
        st = tsr__fail(err, TSR_ERR_MISMATCH, "%s", report->flaw[0].text);
done:
    tsr__free(&heap, report);
    return st;
}

tsr_status tsr_op_register(tsr_mesh *mesh, const tsr_op *row)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, row);

    tsr_ctx *ctx = mesh->ctx;
    tsr_error *err = &ctx->error;
    tsr_op_entry *entry;
    tsr_status st;

    TSR_TRY(TSR_SIZE_CHECK("tsr_op_register", row, ".size = sizeof(tsr_op) in the row", err));
    TSR_TRY(tsr__row_check(row, ctx->ops, err));
    if (tsr_op_find(mesh, row->name))
        TSR_TRY(tsr__fail(err, TSR_ERR_ARG, "%s: an op of this name already exists", row->name));
    if (ctx->validating &&
        !tsr_op_is_composed(row)) /* which may need ops that this rank alone knows */
        TSR_TRY(validate(row, err));
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, row, &entry, err));
    entry->registered = true;
done:
    return tsr__poison_if_local(ctx, st);
}
