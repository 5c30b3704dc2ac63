/* SPDX-License-Identifier: Apache-2.0 */
/* op_halo.c - which rank needs what of whom (op_halo.h): windows as the library gives them, met
   with the parts of the others. */
#include "op_halo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

static const tsr_spec *spec_of(const op_problem *p, int operand)
{
    return operand < 0 ? &p->strategy.out[TSR_OUTPUT(operand)] : &p->strategy.in[operand];
}

static bool shards(const tsr_spec *spec, int m, int dim)
{
    return spec->mesh.size[m] > 1 && spec->place[m].kind == TSR_SHARD && spec->place[m].dim == dim;
}

/* Windows are of plain shards: a part is one interval. */
static int fill_range(const op_halo *h, const tsr_windows *w, int i, int index)
{
    int dim = w->window[i].dim, n = 0;
    op_halo_range *r = &h->range[(size_t)index * TSR_MAX_DIM + (size_t)dim];
    tsr_index_run run = {0};
    tsr_error err = {0};

    if (tsr_window_at(&h->p->strategy, w, i, index, &r->window, &err) != TSR_OK ||
        tsr_spec_runs(h->spec, index, dim, &run, 1, &n, &err) != TSR_OK)
        return cli_error(&err);
    r->begin = n ? run.begin : r->window.begin;
    r->end = n ? run.begin + run.len : r->window.begin;
    return CLI_OK;
}

static int make_one(const op_problem *p, const tsr_windows *w, bool reverse, int operand,
                    op_halo *h)
{
    const tsr_spec *anchor = spec_of(p, w->anchor);
    int status = CLI_OK;

    *h = (op_halo){.p = p, .operand = operand, .spec = spec_of(p, operand), .reverse = reverse};
    h->n_ranks = cli_mesh_size(&h->spec->mesh);
    if (h->n_ranks > OP_HALO_RANKS)
        return cli_bad("%s: the mesh has %d ranks; windows are looked at for at most %d",
                       p->op->name, h->n_ranks, OP_HALO_RANKS);
    h->range = calloc((size_t)h->n_ranks * TSR_MAX_DIM, sizeof *h->range);
    if (!h->range)
        return cli_failed("out of memory");
    for (int i = 0; i < w->n && status == CLI_OK; i++) {
        if (w->window[i].operand != operand)
            continue;
        h->along[w->window[i].dim] = true;
        h->circular[w->window[i].dim] = w->window[i].circular;
        for (int m = 0; m < anchor->mesh.ndim; m++)
            if (shards(anchor, m, w->window[i].dim) && shards(h->spec, m, w->window[i].dim))
                h->meets[m] = true;
        for (int r = 0; r < h->n_ranks && status == CLI_OK; r++)
            status = fill_range(h, w, i, r);
    }
    return status;
}

int op_halos_make(const op_problem *p, op_halo out[TSR_OP_WINDOWS], int *n)
{
    int status = CLI_OK;
    tsr_windows w = {0};
    tsr_error err = {0};
    bool reverse;

    *n = 0;
    if (tsr_op_windows(&p->schema, &p->set.cost, &p->strategy, &w, &reverse, &err) != TSR_OK)
        return cli_error(&err);
    for (int i = 0; i < w.n && status == CLI_OK; i++) {
        bool seen = false;

        for (int k = 0; k < *n; k++)
            seen = seen || out[k].operand == w.window[i].operand;
        if (!seen)
            status = make_one(p, &w, reverse, w.window[i].operand, &out[(*n)++]);
    }
    return status;
}

void op_halos_free(op_halo *halos, int n)
{
    for (int i = 0; i < n; i++)
        free(halos[i].range);
}

/* ---- asking ---- */

const char *op_halo_name(const op_halo *h, char buf[CLI_TEXT])
{
    if (h->operand >= 0)
        return op_problem_input_name(h->p, h->operand, buf);
    if (h->p->schema.n_out > 1)
        snprintf(buf, CLI_TEXT, "output %d", TSR_OUTPUT(h->operand));
    else
        snprintf(buf, CLI_TEXT, "the output");
    return buf;
}

const op_halo_range *op_halo_range_of(const op_halo *h, int index, int dim)
{
    return &h->range[(size_t)index * TSR_MAX_DIM + (size_t)dim];
}

/* Ranks that share a place along all other mesh dims; of replicas the nearest one gives. */
static bool meet(const op_halo *h, int a, int b)
{
    int x[TSR_MAX_MESH], y[TSR_MAX_MESH];

    cli_mesh_rank(&h->spec->mesh, a, x);
    cli_mesh_rank(&h->spec->mesh, b, y);
    for (int m = 0; m < h->spec->mesh.ndim; m++)
        if (!h->meets[m] && x[m] != y[m])
            return false;
    return true;
}

static int64_t common(int64_t begin, int64_t end, const op_halo_range *own)
{
    begin = begin > own->begin ? begin : own->begin;
    end = end < own->end ? end : own->end;
    return end > begin ? end - begin : 0;
}

int64_t op_halo_bytes(const op_halo *h, int from, int to)
{
    /* fetched: of the taker's window what the giver holds; reverse: of the giver's what the taker
       holds */
    int sees = h->reverse ? from : to, holds = h->reverse ? to : from;
    int64_t bytes = (int64_t)tsr_dtype_size(h->spec->dtype);
    tsr_shape part = {0};

    if (from == to || !meet(h, from, to))
        return 0;
    tsr_spec_local_shape(h->spec, to, &part, NULL);
    for (int d = 0; d < h->spec->shape.ndim && bytes > 0; d++) {
        const tsr_window_range *w = &op_halo_range_of(h, sees, d)->window;
        const op_halo_range *own = op_halo_range_of(h, holds, d);
        const int64_t around = w->end - h->spec->shape.size[d]; /* beyond the end, if > 0 */

        bytes *=
            h->along[d] ? common(w->begin, w->end, own) + common(0, around, own) : part.size[d];
    }
    return bytes;
}

static int64_t sum_bytes(const op_halo *h, int index, bool sent, int *peers)
{
    int64_t sum = 0;

    *peers = 0;
    for (int r = 0; r < h->n_ranks; r++) {
        int64_t bytes = sent ? op_halo_bytes(h, index, r) : op_halo_bytes(h, r, index);

        sum += bytes;
        *peers += bytes > 0;
    }
    return sum;
}

int64_t op_halo_received(const op_halo *h, int index, int *peers)
{
    return sum_bytes(h, index, false, peers);
}

int64_t op_halo_sent(const op_halo *h, int index, int *peers)
{
    return sum_bytes(h, index, true, peers);
}

int op_halo_busiest(const op_halo *h, bool sent)
{
    int best = 0, peers;
    int64_t most = -1;

    for (int r = 0; r < h->n_ranks; r++) {
        int64_t bytes = sum_bytes(h, r, sent, &peers);

        best = bytes > most ? r : best;
        most = bytes > most ? bytes : most;
    }
    return best;
}

/* By how much windows exceed parts along a dim, at the most. */
static void excess(const op_halo *h, int dim, int64_t *before, int64_t *behind)
{
    *before = *behind = 0;
    for (int r = 0; r < h->n_ranks; r++) {
        const op_halo_range *x = op_halo_range_of(h, r, dim);

        if (x->window.begin >= x->window.end)
            continue;
        if (x->begin - x->window.begin > *before)
            *before = x->begin - x->window.begin;
        if (x->window.end - x->end > *behind)
            *behind = x->window.end - x->end;
    }
}

const char *op_halo_text(const op_halo *h, char *buf, size_t n)
{
    int busiest = op_halo_busiest(h, false), peers, coord[TSR_MAX_MESH];
    int64_t bytes = op_halo_received(h, busiest, &peers), before, behind;
    char size[CLI_TEXT];
    size_t used = 0;

    buf[0] = 0;
    for (int d = 0; d < h->spec->shape.ndim && used < n; d++) {
        if (!h->along[d])
            continue;
        if (h->circular[d]) {
            used += (size_t)snprintf(buf + used, n - used, "%swrapping around dim %d",
                                     used ? ", " : "", d);
            continue;
        }
        excess(h, d, &before, &behind);
        used += (size_t)snprintf(buf + used, n - used,
                                 used ? ", %" PRId64 " and %" PRId64 " along dim %d"
                                      : "%" PRId64 " before and %" PRId64 " after along dim %d",
                                 before, behind, d);
    }
    if (used < n && bytes > 0)
        snprintf(buf + used, n - used, "; rank %d receives most, %s from %d rank%s",
                 cli_mesh_rank(&h->spec->mesh, busiest, coord), cli_bytes((double)bytes, size),
                 peers, peers == 1 ? "" : "s");
    else if (used < n)
        snprintf(buf + used, n - used, "; nothing moves");
    return buf;
}
