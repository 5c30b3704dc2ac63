/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_torch.c - PyTorch's redistribution as it is: the order of its steps, what they cost by its
   formula, and what value comes out when partial mesh dims are reduced in that order. Used to prove
   that a cheaper way of PyTorch's is a wrong one. By naive loops; nothing of ours is called. */
#include <math.h>
#include <string.h>

#include "oracle.h"

/* ---- steps and cost ---- */

static bool is_shard(const tsr_placement *p)
{
    return p->kind == TSR_SHARD || p->kind == TSR_STRIDED;
}

typedef struct walk {
    const oracle_mesh *mesh;
    double bytes; /* of a part */
    tsr_placement now[TSR_MAX_MESH];
    oracle_steps *out;
} walk;

static double collective_us(const walk *w, int m, double hops)
{
    const tsr_cost *c = &w->mesh->cost;
    int p = w->mesh->shape.size[m];

    return (c->per_step + hops * c->latency[m] + w->bytes * hops / p * c->per_byte[m]) * 1e6;
}

static double step_us(walk *w, int m, const tsr_placement *to)
{
    const tsr_placement *from = &w->now[m];
    int p = w->mesh->shape.size[m];

    if (tsr__placement_equal(from, to))
        return 0;
    if (is_shard(from) && to->kind == TSR_REPLICATE) {
        w->bytes *= p;
        return collective_us(w, m, p - 1);
    }
    if (is_shard(from) && is_shard(to))
        return collective_us(w, m, p - 1) + w->mesh->cost.per_shuffle * 1e6;
    if (from->kind == TSR_PARTIAL && to->kind == TSR_REPLICATE)
        return collective_us(w, m, 2.0 * (p - 1));
    if (from->kind == TSR_PARTIAL && is_shard(to)) {
        double us = collective_us(w, m, p - 1);
        w->bytes /= p;
        return us;
    }
    if (from->kind == TSR_REPLICATE) {
        w->bytes /= is_shard(to) ? p : 1;
        return 0;
    }
    return INFINITY;
}

static void step(walk *w, int m, const tsr_placement *to)
{
    if (w->now[m].kind == TSR_PARTIAL && to->kind != TSR_PARTIAL)
        w->out->resolved[w->out->n_resolved++] = m;
    w->out->us += step_us(w, m, to);
    w->now[m] = *to;
}

/* Do the mesh dims left of m that shard dim differ between now and the target? */
static bool nested_otherwise(const walk *w, const tsr_placement *to, int m, int dim)
{
    for (int l = 0; l < m; l++) {
        bool a = is_shard(&w->now[l]) && w->now[l].dim == dim;
        bool b = is_shard(&to[l]) && to[l].dim == dim;
        if (a != b)
            return true;
    }
    return false;
}

void oracle_torch_steps(const oracle_mesh *mesh, const tsr_spec *from, const tsr_spec *to,
                        oracle_steps *out)
{
    const tsr_placement whole = {.kind = TSR_REPLICATE};
    walk w = {.mesh = mesh, .bytes = (double)tsr__spec_bytes(from), .out = out};
    bool sharded = false, replicated = true;
    int n = from->mesh.ndim;

    memset(out, 0, sizeof *out);
    memcpy(w.now, from->place, sizeof w.now);
    for (int m = 0; m < n; m++) {
        sharded = sharded || is_shard(&w.now[m]);
        replicated = replicated && w.now[m].kind == TSR_REPLICATE;
        w.bytes /= is_shard(&w.now[m]) ? from->mesh.size[m] : 1;
    }
    if (replicated)
        return;
    for (int m = n - 1; m >= 0 && sharded; m--) {
        const tsr_placement *goal = &to->place[m];
        bool first = is_shard(goal) && nested_otherwise(&w, to->place, m, goal->dim);
        step(&w, m, first ? &whole : goal);
    }
    for (int m = 0; m < n; m++)
        step(&w, m, &to->place[m]);
}

/* ---- values ---- */

/* The partial mesh dims of a spec, and one element's terms over them, row-major. */
typedef struct terms {
    int n_dims, mdim[TSR_MAX_MESH], size[TSR_MAX_MESH];
    tsr_reduce op[TSR_MAX_MESH];
    double x[ORACLE_TERMS];
} terms;

int oracle_n_terms(const tsr_spec *spec)
{
    int n = 1;
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL)
            n = n <= ORACLE_TERMS ? n * spec->mesh.size[m] : n;
    return n;
}

static terms terms_of(const tsr_spec *spec, const double *x)
{
    terms t = {0};

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL) {
            t.mdim[t.n_dims] = m;
            t.size[t.n_dims] = spec->mesh.size[m];
            t.op[t.n_dims++] = spec->place[m].reduce;
        }
    memcpy(t.x, x, (size_t)oracle_n_terms(spec) * sizeof *x);
    return t;
}

static double combine(tsr_reduce op, double a, double b)
{
    switch (op) {
    case TSR_SUM:
    case TSR_AVG: return a + b;
    case TSR_MIN: return a < b ? a : b;
    case TSR_MAX: return a > b ? a : b;
    case TSR_PROD: return a * b;
    }
    return 0;
}

/* Reduces along the i-th of the dims, which is gone then. */
static void reduce(terms *t, int i)
{
    int outer = 1, inner = 1, p = t->size[i];
    terms next = *t;

    for (int k = 0; k < t->n_dims; k++) {
        outer *= k < i ? t->size[k] : 1;
        inner *= k > i ? t->size[k] : 1;
    }
    for (int o = 0; o < outer; o++)
        for (int j = 0; j < inner; j++) {
            double acc = t->x[o * p * inner + j];
            for (int r = 1; r < p; r++)
                acc = combine(t->op[i], acc, t->x[(o * p + r) * inner + j]);
            next.x[o * inner + j] = t->op[i] == TSR_AVG ? acc / p : acc;
        }
    next.n_dims--;
    for (int k = i; k < next.n_dims; k++) {
        next.mdim[k] = t->mdim[k + 1];
        next.size[k] = t->size[k + 1];
        next.op[k] = t->op[k + 1];
    }
    *t = next;
}

double oracle_value(const tsr_spec *spec, const double *x)
{
    terms t = terms_of(spec, x);

    while (t.n_dims > 0)
        reduce(&t, t.n_dims - 1);
    return t.x[0];
}

double oracle_torch_value(const tsr_spec *spec, const oracle_steps *steps, const double *x)
{
    terms t = terms_of(spec, x);

    for (int s = 0; s < steps->n_resolved; s++) {
        int i = 0;
        while (t.mdim[i] != steps->resolved[s])
            i++;
        reduce(&t, i);
    }
    while (t.n_dims > 0) /* what stays partial is worth this */
        reduce(&t, t.n_dims - 1);
    return t.x[0];
}

bool oracle_disproof(const tsr_spec *spec, const oracle_steps *steps, double *x)
{
    int n = oracle_n_terms(spec);
    uint64_t h = 1;

    if (n > ORACLE_TERMS || steps->n_resolved == 0)
        return false;
    for (int attempt = 0; attempt < 1000; attempt++) {
        for (int i = 0; i < n; i++) {
            h = h * 6364136223846793005u + 1442695040888963407u;
            x[i] = (double)(h >> 62);
        }
        if (oracle_value(spec, x) != oracle_torch_value(spec, steps, x))
            return true;
    }
    return false;
}
