/* SPDX-License-Identifier: Apache-2.0 */
/* halo.c - fetches halo windows from the parts of all ranks, one message per peer at most, and adds
   windows of outputs to their owners' parts. Where no rank needs anything of another nothing is
   called. Called by dispatch around a kernel. */
#include "run/halo.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "op/schema.h"

typedef struct part {
    int operand;
    tsr_dtype dtype;
    unsigned mdims;
    bool communicates; /* between ranks; the same on all of them */
    bool direct;       /* the window is the part */
    tsr_exchange move;
    tsr_layout layout;       /* of the window */
    size_t bytes, own_bytes; /* of the window, and of the part */
    uint64_t fingerprint;
    char what[TSR_WHAT_LEN];
    /* while it runs: */
    tsr_buffer *window;
    void *own; /* the part of an output */
    tsr_exchange_run run;
    bool under_way;
} part;

struct tsr_halo {
    bool reverse;
    tsr_windows windows;
    int n;
    part part[]; /* as many as operands have windows */
};

/* ---- making ---- */

static bool is_direct(const tsr_layout *own, const tsr_layout *window, const int *coord)
{
    for (int d = 0; d < own->shape.ndim; d++) {
        int64_t b, e, b2, e2;
        if (!window->dim[d].window.on)
            continue;
        tsr__layout_interval(own, d, coord, &b, &e);
        tsr__layout_interval(window, d, coord, &b2, &e2);
        if (b != b2 || e != e2)
            return false;
    }
    return true;
}

static size_t bytes_at(const tsr_layout *layout, const int *coord)
{
    tsr_shape shape = tsr__layout_local_shape(layout, coord);

    return (size_t)tsr_shape_count(&shape) * tsr_dtype_size(layout->dtype);
}

static tsr_status make_part(tsr_mesh *mesh, const tsr_halo *h, const tsr_spec *in,
                            const tsr_spec *out, part *p)
{
    const tsr_spec *spec = tsr__operand_spec(in, out, p->operand);
    tsr_layout own = tsr__layout_of(spec);
    tsr_layout window = p->layout = tsr__windows_layout(&h->windows, in, out, p->operand);
    tsr_exchange_ask ask = {.from = h->reverse ? &window : &own, .to = h->reverse ? &own : &window};
    char dims[TSR_TEXT_LEN], shape[TSR_TEXT_LEN];
    tsr_ctx *ctx = mesh->ctx;
    tsr_group *group;
    tsr_status st = TSR_OK;

    p->dtype = spec->dtype;
    p->mdims = tsr__windows_mdims(&h->windows, in, out, p->operand);
    p->communicates = tsr__window_bytes(&h->windows, in, out, p->operand, h->reverse) > 0;
    p->direct = !p->communicates && is_direct(&own, &window, mesh->coord);
    p->bytes = bytes_at(&window, mesh->coord);
    p->own_bytes = bytes_at(&own, mesh->coord);
    p->fingerprint = tsr__hash_final(
        tsr__hash_mix(tsr__spec_hash(spec),
                      tsr__spec_hash(tsr__operand_spec(in, out, h->windows.anchor)) + h->reverse));
    snprintf(p->what, sizeof p->what, "halo of %s%s over %s", tsr_dtype_name(spec->dtype),
             tsr__shape_text(&spec->shape, shape, sizeof shape),
             tsr__mesh_dims_text(&spec->mesh, p->mdims, dims, sizeof dims));
    if (p->direct)
        return TSR_OK;
    if (p->communicates) {
        TSR_TRY(tsr__mesh_group(mesh, p->mdims, &group));
        ask.mode = h->reverse ? TSR_EXCHANGE_ADD : TSR_EXCHANGE_REPLACE;
    }
    ask.ranks = p->communicates ? group->rank : &ctx->world->rank;
    ask.n = p->communicates ? group->n : 1;
    ask.me = p->communicates ? group->me : 0;
    TSR_TRY(tsr__exchange_make(&ctx->heap, &ask, &p->move, &ctx->error));
done:
    return st;
}

/* Is window i the first one of its operand? */
static bool is_first(const tsr_windows *windows, int i)
{
    for (int j = 0; j < i; j++)
        if (windows->window[j].operand == windows->window[i].operand)
            return false;
    return true;
}

tsr_status tsr__halo_make(tsr_mesh *mesh, const tsr_schema *schema, const tsr_spec *in,
                          const tsr_spec *out, bool reverse, tsr_halo **halo)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_windows windows;
    tsr_halo *h = NULL;
    size_t n = 0;
    tsr_status st = TSR_OK;

    *halo = NULL;
    if (tsr__windows_of(schema, in, out, reverse, &windows) == 0)
        return TSR_OK;
    for (int i = 0; i < windows.n; i++)
        n += is_first(&windows, i);
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *h + n * sizeof *h->part, &h, &ctx->error));
    h->reverse = reverse;
    h->windows = windows;
    for (int i = 0; i < windows.n; i++) {
        if (!is_first(&windows, i))
            continue;
        h->part[h->n++].operand = windows.window[i].operand;
        TSR_TRY(make_part(mesh, h, in, out, &h->part[h->n - 1]));
    }
    *halo = h;
    h = NULL;
done:
    tsr__halo_free(ctx, h);
    return st;
}

void tsr__halo_free(tsr_ctx *ctx, tsr_halo *h)
{
    for (int i = 0; h && i < h->n; i++)
        tsr__exchange_free(&ctx->heap, &h->part[i].move);
    tsr__free(&ctx->heap, h);
}

const tsr_windows *tsr__halo_windows(const tsr_halo *h)
{
    static const tsr_windows none = {0};

    return h ? &h->windows : &none;
}

bool tsr__halo_communicates(const tsr_halo *h)
{
    for (int i = 0; h && i < h->n; i++)
        if (h->part[i].communicates)
            return true;
    return false;
}

bool tsr__halo_is_reverse(const tsr_halo *h)
{
    return h && h->reverse;
}

/* ---- running ---- */

/* Between ranks, or from the own part to the own window at once. */
static tsr_status start(part *p, tsr_mesh *mesh, const void *src, void *dst)
{
    const tsr_exchange *x = &p->move;
    tsr_status st = TSR_OK;

    if (!p->communicates) {
        for (int i = 0; x->n_send && i < x->send[0].n_pieces; i++)
            tsr__piece_copy(tsr_dtype_size(p->dtype), dst, &x->recv[0].piece[i], src,
                            &x->send[0].piece[i]);
        return TSR_OK;
    }
    p->run = (tsr_exchange_run){.call = {.fingerprint = p->fingerprint,
                                         .dtype = p->dtype,
                                         .send_base = src,
                                         .recv_base = dst,
                                         .divisor = 1}};
    TSR_TRY(tsr__mesh_group(mesh, p->mdims, &p->run.call.group));
    memcpy(p->run.call.what, p->what, sizeof p->what);
    TSR_TRY(tsr__exchange_start(x, &p->run));
    p->under_way = true;
done:
    return st;
}

static tsr_status finish(part *p)
{
    if (!p->under_way)
        return TSR_OK;
    p->under_way = false;
    return tsr__exchange_finish(&p->run);
}

static tsr_operand *operand_of(tsr_kernel_call *call, int operand)
{
    return operand < 0 ? &call->out[TSR_OUTPUT(operand)] : &call->in[operand];
}

tsr_status tsr__halo_start(tsr_halo *h, tsr_mesh *mesh, tsr_tensor *const *in,
                           tsr_kernel_call *call)
{
    tsr_ctx *ctx = mesh->ctx;
    tsr_status st = TSR_OK;

    for (int i = 0; i < h->n; i++) {
        part *p = &h->part[i];
        tsr_operand *x = operand_of(call, p->operand);
        tsr_buffer *kept = NULL;

        if (p->direct)
            continue;
        if (p->communicates && !h->reverse)
            kept = tsr__kept_find(in[p->operand], &p->layout);
        if (kept) { /* to be had even if the tensor keeps another window meanwhile */
            kept->refs++;
            p->window = kept;
            x->data = kept->data;
            continue;
        }
        TSR_TRY(tsr__buffer_make(ctx, p->bytes, &p->window));
        if (h->reverse)
            p->own = x->data;
        else
            TSR_TRY(start(p, mesh, x->data, p->window->data));
        x->data = p->window->data;
    }
done:
    return st;
}

tsr_status tsr__halo_finish(tsr_halo *h, tsr_tensor *const *in)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < h->n; i++) {
        part *p = &h->part[i];

        if (!p->under_way)
            continue;
        TSR_TRY(finish(p));
        if (in[p->operand]->mesh->ctx->keep_limit > 0)
            TSR_TRY(tsr__kept_add(in[p->operand], &p->layout, p->window));
    }
done:
    return st;
}

tsr_status tsr__halo_scatter_add(tsr_halo *h, tsr_mesh *mesh, tsr_kernel_call *call)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < h->n && h->reverse; i++) {
        part *p = &h->part[i];

        if (p->direct)
            continue;
        memset(p->own, 0, p->own_bytes);
        TSR_TRY(start(p, mesh, p->window->data, p->own));
        TSR_TRY(finish(p));
        operand_of(call, p->operand)->data = p->own;
    }
done:
    return st;
}

void tsr__halo_put(tsr_halo *h)
{
    for (int i = 0; h && i < h->n; i++) {
        finish(&h->part[i]); /* of a call that failed: its memory must not be used any more */
        tsr__buffer_release(h->part[i].window);
        h->part[i].window = NULL;
    }
}
