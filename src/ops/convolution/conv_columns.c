/* SPDX-License-Identifier: Apache-2.0 */
/* conv_columns.c - convolution of any float type by products of matrices: the parts of x that the
   taps meet are laid out as columns, a few positions of y at a time so that they stay in the cache,
   and BLAS multiplies. Where a group has one or two outputs that would be all copying: then tap by
   tap along rows. f16 and bf16 are widened to f32, one image and group at a time. Called by
   conv.c. */
#include "ops/convolution/conv_geometry.h"

#include "base/half.h"
#include "kernel/blas.h"
#include "kernel/gemm_deterministic.h"

#include <string.h>

enum { COLUMN_BYTES = 1 << 19, STEADY_POSITIONS = 1024, FEW_CHANNELS = 2, LANES = 8 };

typedef struct bodies {
    void (*gather)(const tsr_conv_geometry *g, int64_t from, int64_t to, const void *x, void *col);
    void (*scatter)(const tsr_conv_geometry *g, int64_t from, int64_t to, const void *col, void *x);
    void (*taps)(const tsr_conv_geometry *g, tsr_conv_result what, void *x, void *w, void *y);
    void (*start)(int64_t channels, int64_t n, const void *bias, void *out);
} bodies;

#define TABLE conv_kernels
#define BODY "ops/convolution/conv_columns.inc.h"
#define DTYPES TSR__REALS
#define AVX2 TSR__AVX2
#include "base/kernel_table.inc.h"

/* One run: what it computes with, and where its scratch is. The wide ones are f32, of one image and
   group and wide_w of all; NULL if the operands are wide already. */
typedef struct run {
    const tsr_conv_geometry *g;
    tsr_dtype dtype, wide;
    tsr_conv_result what;
    const bodies *fn;
    int64_t positions;  /* of y per block of columns; 0: no columns */
    bool deterministic; /* sums in an order that does not depend on sizes */
    bool same;          /* x is its own columns: one tap, nothing moved */
    char *columns, *wide_x, *wide_y, *wide_w, *wide_bias;
} run;

bool tsr__conv_by_taps(const tsr_conv_geometry *g)
{
    return g->yc <= FEW_CHANNELS;
}

static bool is_same(const tsr_conv_geometry *g)
{
    for (int d = 0; d < TSR_CONV_DIMS; d++)
        if (g->k[d] != 1 || g->stride[d] != 1 || g->pad[d] != 0 || g->x[d] != g->y[d])
            return false;
    return true;
}

static int64_t block_positions(const tsr_conv_geometry *g, size_t size)
{
    int64_t n = COLUMN_BYTES / (int64_t)size / (g->xc * g->k_count);

    n = n < 64 ? 64 : n;
    return n < g->y_count ? n : g->y_count;
}

/* The product for one image and group: x [xc, X], w [yc, xc K], y [yc, Y], added to what the result
   holds. The columns are [xc K, positions]. */
static void multiply(const run *r, void *x, void *w, void *y)
{
    const tsr_conv_geometry *g = r->g;
    const int64_t terms = g->xc * g->k_count, size = (int64_t)tsr_dtype_size(r->wide);

    if (!r->positions) {
        r->fn->taps(g, r->what, x, w, y);
        return;
    }
    for (int64_t from = 0; from < g->y_count; from += r->positions) {
        const int64_t to = from + r->positions < g->y_count ? from + r->positions : g->y_count;
        const int64_t n = to - from, step = r->same ? g->y_count : n;
        char *columns = r->same ? (char *)x + from * size : r->columns,
             *some = (char *)y + from * size;

        if (r->what != TSR_CONV_X && !r->same)
            r->fn->gather(g, from, to, x, columns);
        if (r->deterministic && r->what == TSR_CONV_Y)
            tsr__gemm_deterministic(r->wide, g->yc, n, terms, w, (const int64_t[]){terms, 1},
                                    columns, (const int64_t[]){step, 1}, true, some, g->y_count);
        else if (r->deterministic) /* of w: there is no other */
            tsr__gemm_deterministic(r->wide, g->yc, terms, n, some,
                                    (const int64_t[]){g->y_count, 1}, columns,
                                    (const int64_t[]){1, step}, true, w, terms);
        else if (r->what == TSR_CONV_Y)
            tsr__blas_gemm(r->wide, g->yc, n, terms, w, terms, columns, step, true, some,
                           g->y_count);
        else if (r->what == TSR_CONV_W)
            tsr__blas_gemm_nt(r->wide, g->yc, terms, n, some, g->y_count, columns, step, true, w,
                              terms);
        else
            tsr__blas_gemm_tn(r->wide, terms, n, g->yc, w, terms, some, g->y_count, r->same,
                              columns, step);
        if (r->what == TSR_CONV_X && !r->same)
            r->fn->scatter(g, from, to, columns, x);
    }
}

/* The plane that operand `data` has at i, ready to compute with: its n elements widened if they
   must be, or only the room for them if they are the result. */
static void *ready(const run *r, void *data, int64_t i, int64_t n, bool result, char *room)
{
    char *at = (char *)data + (size_t)(i * n) * tsr_dtype_size(r->dtype);

    if (!room)
        return at;
    if (!result)
        tsr__half_widen(r->dtype, at, n, (float *)(void *)room);
    return room;
}

static void run_all(const run *r, const tsr_conv_operands *on)
{
    const tsr_conv_geometry *g = r->g;
    const int64_t x_n = g->xc * g->x_count, y_n = g->yc * g->y_count;
    const int64_t w_n = g->yc * g->xc * g->k_count;
    const int64_t size = (int64_t)tsr_dtype_size(r->wide);
    char *w = ready(r, on->w, 0, g->groups * w_n, r->what == TSR_CONV_W, r->wide_w);

    if (r->what == TSR_CONV_W)
        r->fn->start(1, g->groups * w_n, NULL, w);
    for (int64_t i = 0; i < g->batch * g->groups; i++) {
        const int64_t group = i % g->groups, channels = r->what == TSR_CONV_Y ? g->yc : g->xc;
        void *x = ready(r, on->x, i, x_n, r->what == TSR_CONV_X, r->wide_x);
        void *y = ready(r, on->y, i, y_n, r->what == TSR_CONV_Y, r->wide_y);
        void *bias =
            on->bias ? ready(r, (void *)on->bias, group, channels, false, r->wide_bias) : NULL;

        if (r->what != TSR_CONV_W)
            r->fn->start(channels, r->what == TSR_CONV_Y ? g->y_count : g->x_count, bias,
                         r->what == TSR_CONV_Y ? y : x);
        multiply(r, x, w + group * w_n * size, y);
        if (r->wide_x && r->what == TSR_CONV_X)
            tsr__half_narrow(r->dtype, x, x_n, (tsr_f16 *)on->x + i * x_n);
        if (r->wide_y && r->what == TSR_CONV_Y)
            tsr__half_narrow(r->dtype, y, y_n, (tsr_f16 *)on->y + i * y_n);
    }
    if (r->wide_w && r->what == TSR_CONV_W)
        tsr__half_narrow(r->dtype, (float *)(void *)w, g->groups * w_n, on->w);
}

/* Hands out parts of one buffer; with base NULL it only counts. */
static char *part(char *base, size_t *used, int64_t elements, size_t size)
{
    const size_t at = *used;

    *used += ((size_t)elements * size + 63) / 64 * 64;
    return base ? base + at : NULL;
}

static size_t lay_out(run *r, char *base)
{
    const tsr_conv_geometry *g = r->g;
    const int64_t channels = r->what == TSR_CONV_Y ? g->yc : g->xc;
    const size_t size = tsr_dtype_size(r->wide);
    size_t used = 0;

    if (r->positions && !r->same)
        r->columns = part(base, &used, g->xc * g->k_count * r->positions, size);
    if (r->wide == r->dtype)
        return used;
    r->wide_x = part(base, &used, g->xc * g->x_count, size);
    r->wide_y = part(base, &used, g->yc * g->y_count, size);
    r->wide_w = part(base, &used, g->groups * g->yc * g->xc * g->k_count, size);
    r->wide_bias = part(base, &used, channels, size);
    return used;
}

tsr_status tsr__conv_columns(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what,
                             bool reproducible, tsr_pool *pool, const tsr_conv_operands *on,
                             tsr_error *err)
{
    run r = {
        .g = g, .dtype = dtype, .what = what, .deterministic = reproducible, .same = is_same(g)};
    char *scratch = NULL;
    size_t bytes;
    tsr_status st = TSR_OK;

    r.wide = dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    r.fn = tsr__kernel_for(&conv_kernels, r.wide, TSR_VARIANT_AUTO);
    if (reproducible) /* what is chosen must not depend on sizes that may be those of parts */
        r.positions = r.same || g->y_count < STEADY_POSITIONS ? g->y_count : STEADY_POSITIONS;
    else if (!tsr__conv_by_taps(g))
        r.positions = r.same ? g->y_count : block_positions(g, tsr_dtype_size(r.wide));
    bytes = lay_out(&r, NULL);
    if (bytes)
        TSR_TRY(tsr__pool_get(pool, bytes, &scratch, err));
    lay_out(&r, scratch);
    run_all(&r, on);
done:
    tsr__pool_put(pool, scratch);
    return st;
}
