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

tsr_tensor *tsr__dispatch_typed(const char *name, tsr_tensor *const *in, int n,
                                const tsr_attr *attrs, tsr_tensor **rest)
{
    tsr_ctx *ctx = context_of(in, n);
    tsr_op_call call = {.n_in = n, .in = in};
    tsr_tensor *out[TSR_MAX_OUT];
    tsr_status st;

    if (!ctx)
        return NULL;
    call.entry = tsr__op_seen(ctx->ops, name);
    if (!call.entry) {
        TSR_TRY(
            tsr__op_entry_of(&ctx->heap, &ctx->ops, tsr__op_find(name), &call.entry, &ctx->error));
        tsr__op_remember(ctx->ops, name, call.entry);
    }
    call.attrs = attrs ? attrs : call.entry->defaults.value;
    TSR_TRY(tsr__dispatch(ctx, &call, rest ? rest : out));
    return rest ? rest[0] : out[0];
done:
    for (int k = 0; rest && k < TSR_MAX_OUT; k++)
        rest[k] = ctx->error_tensor;
    return tsr__tensor_or_error(ctx, st, NULL);
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
    for (int k = 0; rest && k < TSR_MAX_OUT; k++)
        rest[k] = ctx->error_tensor;
    return tsr__tensor_or_error(ctx, tsr__fail(&ctx->error, TSR_ERR_ARG, "%s", text), NULL);
}

tsr_tensor *tsr__dispatch_lists(const char *name, tsr_tensor *const *in, int n_in,
                                const tsr_attr *attrs, int n_attrs, tsr_tensor **rest)
{
    for (int i = 0; i < n_attrs; i++) {
        const int n = attrs[i].n;

        if (n < -1)
            return tsr__typed_refuse(in, n_in, rest, "%s: its list of %d number%s is NULL", name,
                                     -1 - n, n == -2 ? "" : "s");
        if (n > TSR_MAX_DIM)
            return tsr__typed_refuse(in, n_in, rest,
                                     "%s: a list of %d numbers, at most %d are possible", name, n,
                                     TSR_MAX_DIM);
    }
    return tsr__dispatch_typed(name, in, n_in, attrs, rest);
}

tsr_status tsr__typed_grads(const char *name, tsr_tensor *const *in, int n_in, tsr_attr first,
                            tsr_tensor **const *grads, int n)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_attr attrs[] = {first, {.n = n}};

    if (!grads)
        tsr__typed_refuse(in, n_in, NULL, "%s: grads is NULL", name);
    if (!grads || (!in[0] && !in[1]))
        return TSR_ERR_ARG;
    for (int k = 0; k < n; k++)
        attrs[1].i[k] = grads[k] != NULL;
    tsr__dispatch_typed(name, in, n_in, attrs, out);
    for (int k = 0; k < n; k++)
        if (grads[k])
            *grads[k] = out[k];
    return tsr_mesh_status((in[0] ? in[0] : in[1])->mesh);
}
