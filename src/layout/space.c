/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - from specs to states and back, and what a state weighs. The moves are in search.c. */
#include "layout/space.h"

#include <string.h>

#include "base/hash.h"
#include "base/reduce.h"

static bool is_shard(const tsr_placement *p)
{
    return p->kind == TSR_SHARD || p->kind == TSR_STRIDED;
}

static int64_t factor_of(const tsr_placement *p)
{
    return p->kind == TSR_STRIDED ? p->factor : 1;
}

void tsr__space_open(tsr_space *space, const tsr_spec *from, const bool *kept, const tsr_cost *cost,
                     size_t memory_limit)
{
    space->from = from;
    space->cost = cost;
    space->memory_limit = memory_limit;
    space->n_mdims = 0;
    space->whole = 1;
    space->source = (tsr_state){{0}};
    memset(space->dims, 0, sizeof space->dims);
    for (int m = 0; m < from->mesh.ndim; m++) {
        int k = space->n_mdims;
        if (from->mesh.size[m] == 1)
            continue;
        space->mdim[k] = m;
        space->size[k] = from->mesh.size[m];
        space->n_variants[k] = 1;
        space->factor[k][0] = 1;
        space->n_mdims++;
    }
    for (int d = 0; d < from->shape.ndim; d++)
        space->whole *= (double)from->shape.size[d];
    tsr__space_admit(space, from->place);
    space->source = tsr__space_state(space, from->place);
    for (int k = 0; k < space->n_mdims; k++)
        if (from->place[space->mdim[k]].kind == TSR_PARTIAL)
            space->source.code[k] = kept[space->mdim[k]] ? TSR_STATE_KEPT : TSR_STATE_PENDING;
    space->source_part = tsr__space_part(space, &space->source);
}

static int find_variant(const tsr_space *space, int k, int dim, int64_t factor)
{
    if (factor == 1)
        return 0;
    for (int v = 1; v < space->n_variants[k]; v++)
        if (space->factor[k][v] == factor && space->factor_dim[k][v] == dim)
            return v;
    return -1;
}

bool tsr__space_admit(tsr_space *space, const tsr_placement *to)
{
    for (int k = 0; k < space->n_mdims; k++) {
        const tsr_placement *p = &to[space->mdim[k]];
        if (!is_shard(p))
            continue;
        space->dims[p->dim] = true;
        if (find_variant(space, k, p->dim, factor_of(p)) >= 0)
            continue;
        if (space->n_variants[k] == TSR_VARIANTS)
            return false;
        space->factor[k][space->n_variants[k]] = p->factor;
        space->factor_dim[k][space->n_variants[k]] = p->dim;
        space->n_variants[k]++;
    }
    return true;
}

tsr_state tsr__space_state(const tsr_space *space, const tsr_placement *to)
{
    tsr_state state = {{0}};
    int n[TSR_MAX_DIM] = {0};

    for (int k = 0; k < space->n_mdims; k++) {
        const tsr_placement *p = &to[space->mdim[k]];
        if (is_shard(p)) {
            int v = find_variant(space, k, p->dim, factor_of(p));
            state.code[k] = (uint16_t)(TSR_STATE_SHARD | p->dim << 8 | n[p->dim]++ << 4 | v);
        } else if (p->kind == TSR_PARTIAL && space->source.code[k] == TSR_STATE_KEPT) {
            state.code[k] = TSR_STATE_KEPT;
        }
    }
    return state;
}

void tsr__space_lists(const tsr_state *state, int n_mdims, tsr_lists *out)
{
    memset(out->n, 0, sizeof out->n);
    for (int k = 0; k < n_mdims; k++) {
        uint16_t code = state->code[k];
        if (tsr__state_sharded(code)) {
            out->k[tsr__state_dim(code)][tsr__state_place(code)] = k;
            out->n[tsr__state_dim(code)]++;
        }
    }
}

/* Length along a dim of the largest part. */
static double dim_extent(const tsr_space *space, const tsr_state *state, const tsr_lists *lists,
                         int d)
{
    int64_t n = space->from->shape.size[d], factor[TSR_MAX_MESH];
    int p[TSR_MAX_MESH], strided = 0;

    for (int i = 0; i < lists->n[d]; i++) {
        int k = lists->k[d][i], v = state->code[k] & 15;
        p[i] = space->size[k];
        factor[i] = space->factor[k][v];
        strided |= v;
        n = n / p[i] + (n % p[i] != 0);
    }
    if (strided)
        n = tsr__shard_longest(space->from->shape.size[d], lists->n[d], p, factor);
    return (double)n;
}

double tsr__space_part(const tsr_space *space, const tsr_state *state)
{
    double n = (double)tsr_dtype_size(space->from->dtype);
    tsr_lists lists;

    tsr__space_lists(state, space->n_mdims, &lists);
    for (int d = 0; d < space->from->shape.ndim; d++)
        n *= lists.n[d] ? dim_extent(space, state, &lists, d) : (double)space->from->shape.size[d];
    return n;
}

double tsr__space_bytes(const tsr_space *space, const tsr_state *state)
{
    double n = (double)tsr_dtype_size(space->from->dtype) * space->whole;

    if (!space->cost->unrounded)
        return tsr__space_part(space, state);
    for (int k = 0; k < space->n_mdims; k++)
        if (tsr__state_sharded(state->code[k]))
            n /= space->size[k];
    return n;
}

tsr_layout tsr__space_layout(const tsr_space *space, const tsr_state *state)
{
    const tsr_spec *from = space->from;
    tsr_layout layout = {.dtype = from->dtype, .shape = from->shape, .mesh = from->mesh};
    tsr_lists lists;

    tsr__space_lists(state, space->n_mdims, &lists);
    for (int d = 0; d < from->shape.ndim; d++)
        for (int i = 0; i < lists.n[d]; i++) {
            int k = lists.k[d][i];
            layout.dim[d].mdim[i] = space->mdim[k];
            layout.dim[d].factor[i] = space->factor[k][state->code[k] & 15];
            layout.dim[d].n++;
        }
    for (int k = 0; k < space->n_mdims; k++)
        if (state->code[k] == TSR_STATE_PENDING || state->code[k] == TSR_STATE_KEPT) {
            layout.partial[space->mdim[k]] = true;
            layout.reduce[space->mdim[k]] = from->place[space->mdim[k]].reduce;
        }
    return layout;
}

unsigned tsr__space_mdims(const tsr_space *space, unsigned active)
{
    unsigned mdims = 0;
    for (int k = 0; k < space->n_mdims; k++)
        if (active >> k & 1)
            mdims |= 1u << space->mdim[k];
    return mdims;
}

unsigned tsr__space_pending(const tsr_space *space, const tsr_state *state)
{
    unsigned run = 0;
    int kind = -1;

    for (int k = space->n_mdims - 1; k >= 0; k--) {
        tsr_reduce op = space->from->place[space->mdim[k]].reduce;
        if (state->code[k] != TSR_STATE_PENDING)
            continue;
        if (kind >= 0 && !tsr__reduce_same_kind((tsr_reduce)kind, op))
            break;
        kind = (int)op;
        run |= 1u << k;
    }
    return run;
}

void tsr__space_kept(const tsr_spec *from, const tsr_placement *to, bool *kept)
{
    /* the value is found by reducing from the last mesh dim outwards, so a dim can be resolved only
       if all partial dims to its right are resolved or of its kind */
    for (int m = 0; m < from->mesh.ndim; m++) {
        kept[m] = from->place[m].kind == TSR_PARTIAL && from->mesh.size[m] > 1 &&
                  tsr__placement_equal(&from->place[m], &to[m]);
        for (int l = 0; l < m && kept[m]; l++)
            kept[m] = from->place[l].kind != TSR_PARTIAL || from->mesh.size[l] == 1 || kept[l] ||
                      tsr__reduce_same_kind(from->place[l].reduce, from->place[m].reduce);
    }
}

static uint64_t state_hash(const tsr_space *space, const tsr_state *state, uint64_t h)
{
    for (int k = 0; k < space->n_mdims; k++) {
        uint16_t code = state->code[k];
        h = tsr__hash_mix(h, (uint64_t)space->mdim[k] << 16 | (code & 0xfff0u));
        h = tsr__hash_mix(h,
                          tsr__state_sharded(code) ? (uint64_t)space->factor[k][code & 15] : code);
    }
    return h;
}

uint64_t tsr__space_key(const tsr_space *space, const tsr_state *from, const tsr_state *to)
{
    return state_hash(space, to, state_hash(space, from, 17));
}

/* Per tensor dim, with the outermost mesh dims that both shard alike set aside: if only one side
   is cut further, the finer part lies in the coarser one; if both are, some rank holds nothing of
   what it wants. Pieces of the source that a target part meets: about s/t per dim. */
tsr_move tsr__space_exchange(const tsr_space *space, const tsr_state *from, const tsr_state *to,
                             double from_bytes, double to_bytes)
{
    tsr_move move = {
        .kind = TSR_STEP_EXCHANGE, .before = from_bytes, .after = to_bytes, .group = 1};
    double shared = (double)tsr_dtype_size(space->from->dtype), peers = 1;
    unsigned involved = 0;
    tsr_lists a, b;

    tsr__space_lists(from, space->n_mdims, &a);
    tsr__space_lists(to, space->n_mdims, &b);
    for (int d = 0; d < space->from->shape.ndim; d++) {
        double s = 1, t = 1;
        int same = 0;
        while (same < a.n[d] && same < b.n[d] && a.k[d][same] == b.k[d][same] &&
               from->code[a.k[d][same]] == to->code[b.k[d][same]])
            same++;
        for (int i = same; i < a.n[d]; i++) {
            s *= space->size[a.k[d][i]];
            involved |= 1u << a.k[d][i];
        }
        for (int i = same; i < b.n[d]; i++) {
            t *= space->size[b.k[d][i]];
            involved |= 1u << b.k[d][i];
        }
        if (s > 1 && t > 1)
            shared = 0;
        else if (shared > 0)
            shared *= dim_extent(space, s > 1 ? from : to, s > 1 ? &a : &b, d);
        peers *= s > t ? s / t : 1;
    }
    for (int k = 0; k < space->n_mdims; k++)
        if (involved >> k & 1)
            move.group *= space->size[k];
    move.mdims = tsr__space_mdims(space, involved);
    move.bytes = to_bytes > shared ? to_bytes - shared : 0;
    move.peers = shared > 0 ? peers - 1 : peers;
    if (move.peers < 1)
        move.peers = move.bytes > 0 ? 1 : 0;
    if (move.peers > move.group - 1)
        move.peers = move.group - 1;
    move.key = tsr__space_key(space, from, to);
    return move;
}
