/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.c - products of 1 to 4 tensors, summed over axes. Operands are taken in pairs, in the
   order of the fewest multiplications; a pair is a batch of products of matrices for BLAS, of the
   operands as they lie wherever their axes merge into rows and columns, else of copies. f16 and
   bf16 are widened to f32. Called through the rows of ops/linalg/linalg.c and
   ops/linalg/einsum_op.c. */
#include "ops/linalg/linalg_attrs.h"
#include "ops/linalg/einsum.h"

#include "base/cpu.h"
#include "base/half.h"
#include "kernel/blas.h"
#include "kernel/kinds.h"
#include "kernel/index.h"
#include "ops/linalg/linalg_ops.h"
#include "kernel/sku.h"
#include "kernel/gemm_deterministic.h"

#include <limits.h>
#include <string.h>

enum {
    SMALL = 32,     /* products of matrices with fewer terms are loops */
    ALIGNMENT = 64, /* of copies */
    A = 0,
    B = 1,
    C = 2
};

/* A tensor as it lies: which axes it has (those of size 1 it has not), and how far apart. */
typedef struct view {
    char *data;
    unsigned axes;
    int64_t stride[TSR_EINSUM_AXES];
} view;

/* The whole, once to count how much scratch it needs, once to compute. */
typedef struct walk {
    const tsr_einsum_axes *e;
    tsr_dtype dtype; /* computed in: f32 or f64 */
    size_t size;
    char *scratch;
    size_t used;
    bool dry;
    bool deterministic; /* reproducible: no order of terms depends on sizes of parts */
} walk;

#define T float
#define FN(name) name##_f32
#include "ops/linalg/einsum_loops.inc.h"
#define T double
#define FN(name) name##_f64
#include "ops/linalg/einsum_loops.inc.h"

/* ---- views ---- */

static void *take(walk *w, int64_t count, size_t size)
{
    char *p = w->dry ? NULL : w->scratch + w->used;

    w->used += ((size_t)count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return p;
}

static view view_of(const tsr_einsum_axes *e, int tensor, const tsr_shape *shape, void *data)
{
    view v = {.data = data};
    int64_t stride = 1;

    for (int d = e->ndim[tensor] - 1; d >= 0; d--) {
        int axis = e->axis[tensor][d];

        if (shape->size[d] != 1) { /* along the diagonal, if it comes twice */
            v.stride[axis] += stride;
            v.axes |= 1u << axis;
        }
        stride *= shape->size[d];
    }
    return v;
}

static int64_t count_of(const walk *w, unsigned axes)
{
    int64_t n = 1;

    for (int i = 0; i < w->e->n_axes; i++)
        n *= axes >> i & 1 ? w->e->size[i] : 1;
    return n;
}

/* The axes of a set, those that lie farthest apart in v first. */
static int ordered(const view *v, unsigned axes, int *list)
{
    int n = 0;

    for (int i = 0; i < TSR_EINSUM_AXES; i++) {
        int at = n;

        if (!(axes >> i & 1))
            continue;
        for (; at > 0 && v->stride[list[at - 1]] < v->stride[i]; at--)
            list[at] = list[at - 1];
        list[at] = i;
        n++;
    }
    return n;
}

/* A new tensor with these axes in this order. */
static view fresh(walk *w, const int *list, int n)
{
    view v = {0};
    int64_t stride = 1;

    for (int i = n - 1; i >= 0; i--) {
        v.axes |= 1u << list[i];
        v.stride[list[i]] = stride;
        stride *= w->e->size[list[i]];
    }
    v.data = take(w, stride, w->size);
    return v;
}

/* ---- loops ---- */

typedef struct loops {
    int n;
    int64_t size[TSR_EINSUM_AXES], stride[TSR_EINSUM_AXES][3];
    int64_t at[TSR_EINSUM_AXES], offset[3];
} loops;

static void loops_open(const walk *w, const int *list, int n, const view *const v[3], loops *l)
{
    *l = (loops){.n = n};
    for (int i = 0; i < n; i++) {
        l->size[i] = w->e->size[list[i]];
        for (int k = 0; k < 3; k++)
            l->stride[i][k] = v[k] ? v[k]->stride[list[i]] : 0;
    }
}

static bool loops_next(loops *l)
{
    for (int i = l->n - 1; i >= 0; i--) {
        for (int k = 0; k < 3; k++)
            l->offset[k] += l->stride[i][k];
        if (++l->at[i] < l->size[i])
            return true;
        for (int k = 0; k < 3; k++)
            l->offset[k] -= l->stride[i][k] * l->size[i];
        l->at[i] = 0;
    }
    return false;
}

/* c = sum of a b, or of a alone, by rows along one axis: a summed one along which a is dense, else
   that along which c is dense. Other summed axes are the outer ones; before their first term c
   holds nothing. */
static void compute(const walk *w, const view *a, const view *b, const view *c)
{
    const view *const v[] = {a, b, c};
    const unsigned all = a->axes | (b ? b->axes : 0);
    void (*row)(int64_t, const void *, const void *, void *, const int64_t *, bool) =
        w->dtype == TSR_F32 ? row_f32 : row_f64;
    int list[TSR_EINSUM_AXES], n_sum, n;
    int64_t s[3] = {0}, length = 1;
    bool add;
    loops l;

    if (w->dry)
        return;
    n_sum = ordered(a, all & ~c->axes, list);
    n = n_sum + ordered(c, all & c->axes, list + n_sum);
    if (n_sum > 0 && a->stride[list[n_sum - 1]] == 1 && (!b || b->stride[list[n_sum - 1]] <= 1)) {
        int dense = list[--n_sum]; /* sums along memory */

        memmove(list + n_sum, list + n_sum + 1, sizeof(int) * (size_t)(n - n_sum - 1));
        list[n - 1] = dense;
    }
    if (n > 0) { /* the last axis is the row */
        length = w->e->size[list[--n]];
        for (int k = 0; k < 3; k++)
            s[k] = v[k] ? v[k]->stride[list[n]] : 0;
    }
    loops_open(w, list, n, v, &l);
    do {
        add = false;
        for (int i = 0; i < n && i < n_sum; i++)
            add = add || l.at[i] > 0;
        row(length, a->data + l.offset[A] * (int64_t)w->size,
            b ? b->data + l.offset[B] * (int64_t)w->size : NULL,
            c->data + l.offset[C] * (int64_t)w->size, s, add);
    } while (loops_next(&l));
}

/* v without axes that nobody else has. */
static view without(walk *w, const view *v, unsigned keep)
{
    int list[TSR_EINSUM_AXES], n;
    view sum;

    if ((v->axes & ~keep) == 0)
        return *v;
    n = ordered(v, v->axes & keep, list);
    sum = fresh(w, list, n);
    compute(w, v, NULL, &sum);
    return sum;
}

/* ---- products of matrices ---- */

/* Axes that lie as one. */
typedef struct merged {
    int64_t size, stride;
    bool whole;
} merged;

static merged merge(const walk *w, const view *v, const int *list, int n)
{
    merged m = {.size = 1, .stride = n ? v->stride[list[n - 1]] : 1, .whole = true};

    for (int i = n - 1; i >= 0; i--) {
        m.whole = m.whole && v->stride[list[i]] == m.stride * m.size;
        m.size *= w->e->size[list[i]];
    }
    return m;
}

typedef struct groups {
    int m[TSR_EINSUM_AXES], n[TSR_EINSUM_AXES], k[TSR_EINSUM_AXES], batch[TSR_EINSUM_AXES];
    int n_m, n_n, n_k, n_batch;
} groups;

/* A matrix for BLAS: rows are `far` apart, or columns if it is turned. */
typedef struct matrix {
    int64_t far;
    bool turned, good;
} matrix;

static matrix matrix_of(const merged *rows, const merged *columns)
{
    matrix x = {.good = rows->whole && columns->whole};

    if (columns->stride == 1 || columns->size == 1) {
        x.far = rows->size == 1 || rows->stride < columns->size ? columns->size : rows->stride;
        x.good = x.good && (rows->size == 1 || rows->stride >= columns->size);
    } else {
        x.turned = true;
        x.far = columns->stride;
        x.good = x.good && (rows->stride == 1 || rows->size == 1) && columns->stride >= rows->size;
    }
    x.good = x.good && x.far <= INT_MAX;
    return x;
}

static matrix matrix_at(const walk *w, const view *v, const int *rows, int n_rows,
                        const int *columns, int n_columns)
{
    merged r = merge(w, v, rows, n_rows), c = merge(w, v, columns, n_columns);

    return matrix_of(&r, &c);
}

/* A copy of v with these axes in this order: batch, rows, columns. */
static view packed(walk *w, const view *v, const groups *g, const int *rows, int n_rows,
                   const int *columns, int n_columns)
{
    int list[TSR_EINSUM_AXES];
    view copy;

    memcpy(list, g->batch, sizeof(int) * (size_t)g->n_batch);
    memcpy(list + g->n_batch, rows, sizeof(int) * (size_t)n_rows);
    memcpy(list + g->n_batch + n_rows, columns, sizeof(int) * (size_t)n_columns);
    copy = fresh(w, list, g->n_batch + n_rows + n_columns);
    if (v)
        compute(w, v, NULL, &copy);
    return copy;
}

static void gemm(const walk *w, int64_t m, int64_t n, int64_t k, const void *a, const matrix *ma,
                 const void *b, const matrix *mb, void *c, int64_t ldc)
{
    if (w->deterministic)
        tsr__gemm_deterministic(
            w->dtype, m, n, k, a,
            (const int64_t[]){ma->turned ? 1 : ma->far, ma->turned ? ma->far : 1}, b,
            (const int64_t[]){mb->turned ? 1 : mb->far, mb->turned ? mb->far : 1}, false, c, ldc);
    else if (ma->turned && mb->turned)
        tsr__blas_gemm_tt(w->dtype, m, n, k, a, ma->far, b, mb->far, false, c, ldc);
    else if (ma->turned)
        tsr__blas_gemm_tn(w->dtype, m, n, k, a, ma->far, b, mb->far, false, c, ldc);
    else if (mb->turned)
        tsr__blas_gemm_nt(w->dtype, m, n, k, a, ma->far, b, mb->far, false, c, ldc);
    else
        tsr__blas_gemm(w->dtype, m, n, k, a, ma->far, b, mb->far, false, c, ldc);
}

static void multiply(const walk *w, const view *x, const matrix *mx, const view *y,
                     const matrix *my, const view *c, const matrix *mc, const groups *g)
{
    const int64_t size = (int64_t)w->size;
    const int64_t m = merge(w, x, g->m, g->n_m).size, n = merge(w, y, g->n, g->n_n).size;
    const int64_t k = merge(w, x, g->k, g->n_k).size;
    loops l;

    if (w->dry)
        return;
    loops_open(w, g->batch, g->n_batch, (const view *const[]){x, y, c}, &l);
    do
        gemm(w, m, n, k, x->data + l.offset[A] * size, mx, y->data + l.offset[B] * size, my,
             c->data + l.offset[C] * size, mc->far);
    while (loops_next(&l));
}

/* How much would have to be copied, if k goes in the order that it has in v. */
static int64_t copies(const walk *w, const view *x, const view *y, const view *v, unsigned axes,
                      groups *g)
{
    g->n_k = ordered(v, axes, g->k);
    return (matrix_at(w, x, g->m, g->n_m, g->k, g->n_k).good ? 0 : count_of(w, x->axes)) +
           (matrix_at(w, y, g->k, g->n_k, g->n, g->n_n).good ? 0 : count_of(w, y->axes));
}

/* x y into c, which has the axes that are kept; c NULL: into a new one. */
static view product(walk *w, const view *x, const view *y, unsigned keep, const view *c)
{
    const unsigned both = x->axes & y->axes, k = both & ~keep;
    groups g;
    view px = *x, py = *y, pc;
    matrix mx, my, mc;
    bool elsewhere;

    g.n_m = ordered(c ? c : x, x->axes & ~both, g.m);
    g.n_n = ordered(c ? c : y, y->axes & ~both, g.n);
    g.n_batch = ordered(c ? c : x, both & keep, g.batch);
    if (!w->deterministic && copies(w, x, y, x, k, &g) > copies(w, x, y, y, k, &g))
        g.n_k = ordered(y, k, g.k);
    else
        g.n_k = ordered(x, k, g.k);
    pc = c ? *c : packed(w, NULL, &g, g.m, g.n_m, g.n, g.n_n);
    if (k == 0 ||
        (!w->deterministic && count_of(w, x->axes | y->axes) < SMALL * count_of(w, both & keep)) ||
        count_of(w, x->axes) > INT_MAX || count_of(w, y->axes) > INT_MAX) {
        compute(w, x, y, &pc);
        return pc;
    }
    mx = matrix_at(w, x, g.m, g.n_m, g.k, g.n_k);
    my = matrix_at(w, y, g.k, g.n_k, g.n, g.n_n);
    mc = matrix_at(w, &pc, g.m, g.n_m, g.n, g.n_n);
    if (mc.good && mc.turned) /* the result is turned if the operands are, and change places */
        return product(w, y, x, keep, c);
    if (!mx.good) {
        px = packed(w, x, &g, g.m, g.n_m, g.k, g.n_k);
        mx = matrix_at(w, &px, g.m, g.n_m, g.k, g.n_k);
    }
    if (!my.good) {
        py = packed(w, y, &g, g.k, g.n_k, g.n, g.n_n);
        my = matrix_at(w, &py, g.k, g.n_k, g.n, g.n_n);
    }
    elsewhere = !mc.good;
    if (elsewhere) {
        pc = packed(w, NULL, &g, g.m, g.n_m, g.n, g.n_n);
        mc = matrix_at(w, &pc, g.m, g.n_m, g.n, g.n_n);
    }
    multiply(w, &px, &mx, &py, &my, &pc, &mc, &g);
    if (elsewhere)
        compute(w, &pc, NULL, c);
    return pc;
}

/* ---- the whole ---- */

/* The fewest multiplications for these tensors, and the pair that is the first then. */
static double cheapest(const walk *w, const unsigned *axes, int n, unsigned keep, int pair[2])
{
    double best = -1;

    if (n < 2)
        return 0;
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            unsigned rest[TSR_EINSUM_IN], others = keep;
            int ignored[2], m = 0;
            double terms;

            for (int l = 0; l < n; l++)
                if (l != i && l != j) {
                    rest[m++] = axes[l];
                    others |= axes[l];
                }
            rest[m++] = (axes[i] | axes[j]) & others;
            terms = (double)count_of(w, axes[i] | axes[j]) + cheapest(w, rest, m, keep, ignored);
            if (best < 0 || terms < best) {
                best = terms;
                pair[0] = i;
                pair[1] = j;
            }
        }
    return best;
}

static void contract(walk *w, view *v, int n, const view *out)
{
    if (n == 1)
        compute(w, &v[0], NULL, out);
    while (n > 1) {
        unsigned axes[TSR_EINSUM_IN], others = out->axes;
        int pair[2] = {0, 0};
        view a, b;

        for (int k = 0; k < n; k++)
            axes[k] = v[k].axes;
        cheapest(w, axes, n, out->axes, pair);
        for (int k = 0; k < n; k++)
            others |= k != pair[0] && k != pair[1] ? axes[k] : 0;
        a = without(w, &v[pair[0]], others | axes[pair[1]]);
        b = without(w, &v[pair[1]], others | axes[pair[0]]);
        v[pair[0]] = product(w, &a, &b, others, n == 2 ? out : NULL);
        v[pair[1]] = v[--n];
    }
}

static void widen(walk *w, const tsr_operand *x, view *v)
{
    const int64_t n = tsr__operand_count(x);
    float *wide = take(w, n, sizeof *wide);

    if (!w->dry)
        tsr__half_widen(x->dtype, x->data, n, wide);
    v->data = (char *)wide;
}

/* Bytes of scratch. */
static size_t run(const tsr_einsum_axes *e, const tsr_kernel_call *call, bool dry)
{
    const tsr_operand *c = &call->out[0];
    const bool half = c->dtype == TSR_F16 || c->dtype == TSR_BF16;
    const int64_t n = tsr__operand_count(c);
    walk w = {.e = e,
              .dtype = half ? TSR_F32 : c->dtype,
              .size = half ? sizeof(float) : tsr_dtype_size(c->dtype),
              .scratch = call->scratch,
              .deterministic = call->reproducible,
              .dry = dry};
    view v[TSR_EINSUM_IN], out = view_of(e, TSR_EINSUM_OUT, &c->shape, c->data);

    for (int k = 0; k < e->n; k++) {
        v[k] = view_of(e, k, &call->in[k].shape, call->in[k].data);
        if (half)
            widen(&w, &call->in[k], &v[k]);
    }
    if (half)
        out.data = take(&w, n, w.size);
    contract(&w, v, e->n, &out);
    if (half && !dry)
        tsr__half_narrow(c->dtype, (float *)(void *)out.data, n, c->data);
    return w.used;
}

static bool is_empty(const tsr_einsum_axes *e)
{
    bool empty = false;

    for (int i = 0; i < e->n_axes; i++)
        empty = empty || e->size[i] == 0;
    return empty;
}

/* In reproducible mode: are products of matrices all that is summed? */
static bool is_deterministic(const tsr_einsum_axes *e)
{
    bool private = false;

    for (int axis = 0; axis < e->n_axes; axis++) {
        int uses = 0;

        for (int tensor = 0; tensor <= TSR_EINSUM_OUT; tensor++) {
            bool has = false;

            for (int d = 0; d < e->ndim[tensor]; d++)
                has = has || e->axis[tensor][d] == axis;
            uses += has;
        }
        private = private || uses < 2;
    }
    return e->n == 2 && !private;
}

static bool read_call(const char *text, const tsr_kernel_call *call, tsr_einsum_axes *e)
{
    const tsr_shape *shape[TSR_EINSUM_IN];
    int n = 0;

    while (n < TSR_EINSUM_IN && tsr__operand_given(call, n)) {
        shape[n] = &call->in[n].shape;
        n++;
    }
    return tsr__einsum_parse("einsum", text, n, shape, e, call->error) == TSR_OK;
}

static void kernel(const char *text, const tsr_kernel_call *call)
{
    const tsr_kernel_variant v = tsr__variant_of(call, TSR_CATEGORY_LINALG, TSR_LINALG_EINSUM);
    const tsr_operand *c = &call->out[0];
    tsr_einsum_axes e;

    if (!read_call(text, call, &e))
        return;
    if (is_empty(&e)) /* sums of nothing, if there is an output at all */
        memset(c->data, 0, (size_t)tsr__operand_count(c) * tsr_dtype_size(c->dtype));
    else if (v != TSR_VARIANT_LIBRARY || (call->reproducible && !is_deterministic(&e)))
        tsr__reference_einsum(&e, call);
    else
        run(&e, call, false);
}

static size_t scratch(const char *text, const tsr_kernel_call *call)
{
    tsr_einsum_axes e;

    return !read_call(text, call, &e) || is_empty(&e) ? 0 : run(&e, call, true);
}

void tsr__kernel_einsum(const tsr_kernel_call *call)
{
    kernel(call->attrs.value[TSR_ATTR_EINSUM_EQUATION].text, call);
}

size_t tsr__scratch_einsum(const tsr_kernel_call *call)
{
    return scratch(call->attrs.value[TSR_ATTR_EINSUM_EQUATION].text, call);
}

void tsr__kernel_dot(const tsr_kernel_call *call)
{
    kernel("i,i->", call);
}

size_t tsr__scratch_dot(const tsr_kernel_call *call)
{
    return scratch("i,i->", call);
}

void tsr__kernel_outer(const tsr_kernel_call *call)
{
    kernel("i,j->ij", call);
}

size_t tsr__scratch_outer(const tsr_kernel_call *call)
{
    return scratch("i,j->ij", call);
}
