/* SPDX-License-Identifier: Apache-2.0 */
/* typed.c - what the functions of tessera_ops.h share: each hands its inputs and attributes, in the
   order of the row, to dispatch. */
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "dispatch/dispatch.h"

static tsr_ctx *context_of(tsr_tensor *const *in, int n)
{
    for (int k = 0; in && k < n && k < TSR_MAX_IN; k++)
        if (in[k])
            return in[k]->mesh->ctx;
    return NULL;
}

static tsr_status run(tsr_ctx *ctx, int op, tsr_tensor *const *in, int n, const tsr_attr *attrs,
                      tsr_tensor **out)
{
    tsr_op_call call = {.n_in = n, .in = in};
    tsr_status st;

    TSR_TRY(tsr__op_entry_by_id(&ctx->heap, &ctx->ops, op, &call.entry, &ctx->error));
    call.attrs = attrs ? attrs : call.entry->defaults.value;
    return tsr__dispatch(ctx, &call, out);
done:
    return st;
}

tsr_tensor *tsr__dispatch_typed(int op, tsr_tensor *const *in, int n, const tsr_attr *attrs,
                                tsr_tensor **rest)
{
    tsr_ctx *ctx = context_of(in, n);
    tsr_tensor *own[TSR_MAX_OUT], **out = rest ? rest : own;
    tsr_status st;

    if (!ctx)
        return NULL;
    TSR_TRY(run(ctx, op, in, n, attrs, out));
    return out[0];
done:
    return tsr__typed_failed(in, n, st, rest);
}

tsr_tensor *tsr__typed_refuse(tsr_tensor *const *in, int n, tsr_tensor **rest, const char *format,
                              ...)
{
    tsr_ctx *ctx = context_of(in, n);
    char text[TSR_TEXT_LEN];
    va_list args;

    if (!ctx)
        return NULL;
    va_start(args, format);
    tsr__vformat(text, sizeof text, format, args);
    va_end(args);
    return tsr__typed_failed(in, n, tsr__fail(&ctx->error, TSR_ERR_ARG, "%s", text), rest);
}

tsr_error *tsr__typed_error(tsr_tensor *const *in, int n)
{
    tsr_ctx *ctx = context_of(in, n);

    return ctx ? &ctx->error : NULL;
}

tsr_tensor *tsr__typed_failed(tsr_tensor *const *in, int n, tsr_status st, tsr_tensor **rest)
{
    tsr_ctx *ctx = context_of(in, n);

    for (int k = 0; ctx && rest && k < TSR_MAX_OUT; k++)
        rest[k] = ctx->error_tensor;
    return ctx ? tsr__tensor_or_error(ctx, st, NULL) : NULL;
}

tsr_tensor *tsr__dispatch_lists(int op, tsr_tensor *const *in, int n_in, const tsr_attr *attrs,
                                int n_attrs, tsr_tensor **rest)
{
    for (int i = 0; i < n_attrs; i++) {
        const int n = attrs[i].n;

        if (n < -1)
            return tsr__typed_refuse(in, n_in, rest, "%s: its list of %d number%s is NULL",
                                     tsr__op_by_id(op)->name, -1 - n, n == -2 ? "" : "s");
        if (n > TSR_MAX_DIM)
            return tsr__typed_refuse(in, n_in, rest,
                                     "%s: a list of %d numbers, at most %d are allowed",
                                     tsr__op_by_id(op)->name, n, TSR_MAX_DIM);
    }
    return tsr__dispatch_typed(op, in, n_in, attrs, rest);
}

tsr_status tsr__typed_grads(int op, tsr_tensor *const *in, int n_in, tsr_status st, tsr_attr *attrs,
                            int mask, tsr_tensor **const *grads, int n)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_ctx *ctx = context_of(in, n_in);

    if (!ctx)
        st = TSR_ERR_ARG;
    if (st == TSR_OK && mask >= 0) {
        attrs[mask] = (tsr_attr){.n = n};
        for (int k = 0; k < n; k++)
            attrs[mask].i[k] = grads[k] != NULL;
    }
    if (st == TSR_OK)
        st = tsr__poison_if_local(ctx, run(ctx, op, in, n_in, attrs, out));
    for (int k = 0; k < n; k++)
        if (grads[k])
            *grads[k] = st == TSR_OK || !ctx ? out[k] : ctx->error_tensor;
    return st;
}
