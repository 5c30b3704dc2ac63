/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_conv.c - one product of a convolution by oneDNN, f32 or bf16: operands are converted from
   the plain layout into the one that it prefers and back, which costs a few percent where computing
   in plain layout would take twice as long or fall to plain loops. Called by conv.c. */
#include "ops/convolution/onednn_conv.h"

#include "base/half.h"
#include "kernel/onednn_api.h"

#include <stdio.h>

enum { PART_BYTES = 1 << 20, POINTWISE_POSITIONS = 1024 };

/* One operand: as the caller has it, and as the primitive wants it, which is the same memory if
   `move` is NULL. */
typedef struct operand {
    int arg; /* what oneDNN calls it */
    dnnl_memory_t plain, own;
    dnnl_primitive_t move; /* from plain to own, or back for the result */
    size_t at;             /* of own in the scratch */
} operand;

struct tsr_onednn_conv {
    tsr_conv_geometry g; /* of one part: some images */
    int64_t parts;
    tsr_dtype dtype;
    tsr_conv_result what;
    bool own_bias; /* added here, where oneDNN does not */
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive;
    operand in[2], out; /* w is the last of the inputs, or the result */
    dnnl_memory_t bias;
    dnnl_memory_t scratchpad;
    size_t scratchpad_at, wide_at, bytes; /* of scratch */
    char name[48];
};

/* One tap that moves nothing: a product of matrices in plain layout, 0.9 of the time from this many
   positions on. */
static bool is_pointwise(const tsr_conv_geometry *g, tsr_conv_result what)
{
    if (what == TSR_CONV_W || g->groups > 1 || g->x_count < POINTWISE_POSITIONS)
        return false;
    for (int d = 0; d < TSR_CONV_DIMS; d++)
        if (g->k[d] != 1 || g->stride[d] != 1 || g->pad[d] != 0 || g->x[d] != g->y[d])
            return false;
    return true;
}

/* Elements of the result in one image and group. */
static int64_t result_size(const tsr_onednn_conv *c)
{
    return c->what == TSR_CONV_Y ? c->g.yc * c->g.y_count : c->g.xc * c->g.x_count;
}

/* ---- descriptions ---- */

/* What the tensor of one role is: its sizes as oneDNN wants them. */
static int sizes(const tsr_conv_geometry *g, tsr_conv_result role, dnnl_dims_t out)
{
    const int skip = TSR_CONV_DIMS - g->ndim;
    const int64_t *space = role == TSR_CONV_X ? g->x : role == TSR_CONV_Y ? g->y : g->k;
    int n = 0;

    if (role != TSR_CONV_W) {
        out[n++] = g->batch;
        out[n++] = g->groups * (role == TSR_CONV_X ? g->xc : g->yc);
    } else {
        if (g->groups > 1)
            out[n++] = g->groups;
        out[n++] = g->yc;
        out[n++] = g->xc;
    }
    for (int d = skip; d < TSR_CONV_DIMS; d++)
        out[n++] = space[d];
    return n;
}

static dnnl_status_t any_layout(const tsr_conv_geometry *g, tsr_conv_result role,
                                dnnl_data_type_t type, onednn_desc *out)
{
    dnnl_dims_t size;
    const int n = sizes(g, role, size);

    return onednn_desc_make(out, n, size, type, dnnl_format_tag_any);
}

/* False: outside what oneDNN can say. The padding at the end is what makes the sizes fit. */
static bool describe_space(const tsr_conv_geometry *g, onednn_conv_desc *out)
{
    const int skip = TSR_CONV_DIMS - g->ndim;

    for (int d = skip; d < TSR_CONV_DIMS; d++) {
        const int64_t last = conv_tap(g, d, g->y[d] - 1, g->k[d] - 1);

        if (g->pad[d] < 0 || last + 1 - g->x[d] <= -g->stride[d])
            return false;
        out->stride[d - skip] = g->stride[d];
        out->dilation[d - skip] = g->dilation[d] - 1;
        out->pad_lo[d - skip] = g->pad[d];
        out->pad_hi[d - skip] = last + 1 - g->x[d];
    }
    return true;
}

/* Operands in any layout; the type of x is another where it is the result, summed in f32. */
static dnnl_status_t describe(const tsr_conv_geometry *g, dnnl_data_type_t type,
                              dnnl_data_type_t x_type, onednn_conv_desc *out)
{
    const dnnl_dims_t channels = {g->groups * g->yc};
    dnnl_status_t st;

    if (!describe_space(g, out))
        return dnnl_unimplemented;
    st = any_layout(g, TSR_CONV_X, x_type, &out->x);
    st = st ? st : any_layout(g, TSR_CONV_Y, type, &out->y);
    st = st ? st : any_layout(g, TSR_CONV_W, type, &out->w);
    return st ? st : onednn_desc_make(&out->bias, 1, channels, type, dnnl_a);
}

/* ---- making ---- */

static dnnl_status_t make_forward(const tsr_onednn_conv *c, dnnl_data_type_t type, bool bias,
                                  const_dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *out)
{
    onednn_conv_desc of = {0};
    dnnl_status_t st = describe(&c->g, type, type, &of);

    st = st ? st : onednn_conv_make_forward(out, c->engine, &of, bias, attr);
    onednn_conv_desc_free(&of);
    return st;
}

static dnnl_status_t make_backward(const tsr_onednn_conv *c, dnnl_data_type_t type,
                                   const_dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *out)
{
    dnnl_primitive_desc_t hint = NULL;
    onednn_conv_desc of = {0};
    dnnl_status_t st = describe(&c->g, type, c->own_bias ? dnnl_f32 : type, &of);

    st = st ? st : make_forward(c, type, false, attr, &hint);
    st =
        st ? st : onednn_conv_make_backward(out, c->engine, &of, c->what == TSR_CONV_X, hint, attr);
    dnnl_primitive_desc_destroy(hint);
    onednn_conv_desc_free(&of);
    return st;
}

static size_t reserve(tsr_onednn_conv *c, size_t bytes)
{
    const size_t at = c->bytes;

    c->bytes += (bytes + 63) / 64 * 64;
    return at;
}

static dnnl_status_t make_operand(tsr_onednn_conv *c, const_dnnl_primitive_desc_t pd, int arg,
                                  tsr_conv_result role, bool is_result, operand *out)
{
    const onednn_desc_ref own = dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, arg);
    onednn_desc desc = {0};
    onednn_desc_ref plain;
    dnnl_primitive_desc_t move = NULL;
    dnnl_dims_t size;
    const int n = sizes(&c->g, role, size);
    dnnl_status_t st;

    out->arg = arg;
    st = onednn_desc_make_plain(&desc, n, size, own);
    plain = onednn_desc_get(&desc);
    st = st ? st : dnnl_memory_create(&out->plain, plain, c->engine, DNNL_MEMORY_NONE);
    if (st || dnnl_memory_desc_equal(plain, own))
        goto done;
    out->at = reserve(c, dnnl_memory_desc_get_size(own));
    st = dnnl_memory_create(&out->own, own, c->engine, DNNL_MEMORY_NONE);
    st = st ? st
            : dnnl_reorder_primitive_desc_create(&move, is_result ? own : plain, c->engine,
                                                 is_result ? plain : own, c->engine, NULL);
    st = st ? st : dnnl_primitive_create(&out->move, move);
done:
    dnnl_primitive_desc_destroy(move);
    onednn_desc_free(&desc);
    return st;
}

/* How oneDNN calls the operands of each product: two inputs and the result. */
static const struct {
    int arg[3];
    tsr_conv_result role[3];
} PRODUCTS[] = {
    [TSR_CONV_Y] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                    {TSR_CONV_X, TSR_CONV_W, TSR_CONV_Y}},
    [TSR_CONV_X] = {{DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                    {TSR_CONV_Y, TSR_CONV_W, TSR_CONV_X}},
    [TSR_CONV_W] = {{DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
                    {TSR_CONV_X, TSR_CONV_Y, TSR_CONV_W}},
};

static dnnl_status_t make_scratch(tsr_onednn_conv *c, const_dnnl_primitive_desc_t pd)
{
    const tsr_conv_geometry *g = &c->g;
    const onednn_desc_ref pad = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);

    c->scratchpad_at = reserve(c, dnnl_memory_desc_get_size(pad) + 1);
    if (c->own_bias && c->dtype == TSR_BF16)
        c->wide_at = reserve(c, (size_t)(g->batch * g->groups * result_size(c)) * sizeof(float));
    return dnnl_memory_create(&c->scratchpad, pad, c->engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t make_direct(tsr_onednn_conv *c, dnnl_data_type_t type, bool bias,
                                 const_dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
    onednn_desc_ref bias_desc;
    dnnl_status_t st = c->what == TSR_CONV_Y ? make_forward(c, type, bias, attr, pd)
                                             : make_backward(c, type, attr, pd);

    for (int i = 0; i < 3 && !st; i++)
        st = make_operand(c, *pd, PRODUCTS[c->what].arg[i], PRODUCTS[c->what].role[i], i == 2,
                          i == 2 ? &c->out : &c->in[i]);
    if (st || !bias || c->own_bias)
        return st;
    bias_desc = dnnl_primitive_desc_query_md(*pd, dnnl_query_exec_arg_md, DNNL_ARG_BIAS);
    return dnnl_memory_create(&c->bias, bias_desc, c->engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t make_matrix(tsr_onednn_conv *c, int arg, dnnl_data_type_t type, int64_t rows,
                                 int64_t columns, bool turned, onednn_desc *desc, operand *out)
{
    const dnnl_dims_t size = {rows, columns};
    dnnl_status_t st = onednn_desc_make(desc, 2, size, type, turned ? dnnl_ba : dnnl_ab);

    out->arg = arg;
    return st ? st
              : dnnl_memory_create(&out->plain, onednn_desc_get(desc), c->engine, DNNL_MEMORY_NONE);
}

/* y [yc, P] = w [yc, xc] x [xc, P], or x = w' y: a product of matrices wants plain layout. */
static dnnl_status_t make_pointwise(tsr_onednn_conv *c, dnnl_data_type_t type,
                                    const_dnnl_primitive_attr_t attr, dnnl_primitive_desc_t *pd)
{
    const bool turned = c->what == TSR_CONV_X;
    const int64_t rows = turned ? c->g.xc : c->g.yc, terms = turned ? c->g.yc : c->g.xc;
    onednn_desc w = {0}, in = {0}, out = {0};
    dnnl_status_t st;

    st = make_matrix(c, DNNL_ARG_SRC, type, rows, terms, turned, &w, &c->in[1]);
    st = st ? st
            : make_matrix(c, DNNL_ARG_WEIGHTS, type, terms, c->g.x_count, false, &in, &c->in[0]);
    st = st ? st
            : make_matrix(c, DNNL_ARG_DST, c->own_bias ? dnnl_f32 : type, rows, c->g.x_count, false,
                          &out, &c->out);
    st = st ? st : onednn_matmul_make(pd, c->engine, &w, &in, NULL, &out, attr);
    onednn_desc_free(&w);
    onednn_desc_free(&in);
    onednn_desc_free(&out);
    return st;
}

static dnnl_status_t make(tsr_onednn_conv *c, bool bias)
{
    const dnnl_data_type_t type = c->dtype == TSR_F32 ? dnnl_f32 : dnnl_bf16;
    const bool pointwise = is_pointwise(&c->g, c->what);
    dnnl_primitive_attr_t attr = NULL;
    dnnl_primitive_desc_t pd = NULL;
    const char *name;
    dnnl_status_t st;

    c->own_bias = bias && (pointwise || c->what == TSR_CONV_X);
    st = dnnl_engine_create(&c->engine, dnnl_cpu, 0);
    st = st ? st : dnnl_stream_create(&c->stream, c->engine, dnnl_stream_default_flags);
    st = st ? st : dnnl_primitive_attr_create(&attr);
    st = st ? st : dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    if (!st)
        st = pointwise ? make_pointwise(c, type, attr, &pd) : make_direct(c, type, bias, attr, &pd);
    if (!st && onednn_is_slow(pd))
        st = dnnl_unimplemented;
    st = st ? st : dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
    if (!st)
        snprintf(c->name, sizeof c->name, "%s", name);
    st = st ? st : dnnl_primitive_create(&c->primitive, pd);
    st = st ? st : make_scratch(c, pd);
    dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_attr_destroy(attr);
    return st;
}

/* A few images at a time, so that what is converted into another layout is still in the cache when
   it is used. The weight's gradient is one sum over all images. */
static int64_t part_images(const tsr_conv_geometry *g, tsr_dtype dtype, tsr_conv_result what)
{
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    const int64_t image = g->groups * (g->xc * g->x_count + g->yc * g->y_count) * size;
    int64_t n = what == TSR_CONV_W ? g->batch : PART_BYTES / image;

    if (is_pointwise(g, what))
        n = 1;
    n = n < 1 ? 1 : n < g->batch ? n : g->batch;
    while (g->batch % n)
        n--;
    return n;
}

tsr_status tsr__onednn_conv_make(tsr_heap *heap, const tsr_conv_geometry *g, tsr_dtype dtype,
                                 tsr_conv_result what, bool bias, tsr_onednn_conv **out,
                                 tsr_error *err)
{
    const int threads = onednn_begin();
    tsr_onednn_conv *c = NULL;
    dnnl_status_t made;
    tsr_status st;

    TSR_TRY(tsr__alloc(heap, 1, sizeof *c, &c, err));
    c->g = *g;
    c->g.batch = part_images(g, dtype, what);
    c->parts = g->batch / c->g.batch;
    c->dtype = dtype;
    c->what = what;
    made = make(c, bias);
    if (made == dnnl_out_of_memory)
        st = tsr__fail(err, TSR_ERR_MEMORY, "convolution: oneDNN has no memory for its code");
    if (made == dnnl_success)
        *out = c, c = NULL;
    else if (st == TSR_OK)
        *out = NULL;
done:
    tsr__onednn_conv_free(heap, c);
    onednn_end(threads);
    return st;
}

static void free_operand(operand *o)
{
    dnnl_memory_destroy(o->plain);
    dnnl_memory_destroy(o->own);
    dnnl_primitive_destroy(o->move);
}

void tsr__onednn_conv_free(tsr_heap *heap, tsr_onednn_conv *c)
{
    if (!c)
        return;
    free_operand(&c->in[0]);
    free_operand(&c->in[1]);
    free_operand(&c->out);
    dnnl_memory_destroy(c->bias);
    dnnl_memory_destroy(c->scratchpad);
    dnnl_primitive_destroy(c->primitive);
    dnnl_stream_destroy(c->stream);
    dnnl_engine_destroy(c->engine);
    tsr__free(heap, c);
}

const char *tsr__onednn_conv_name(const tsr_onednn_conv *c)
{
    return c->name;
}

/* ---- running ---- */

static dnnl_status_t move(const tsr_onednn_conv *c, const operand *o, bool back)
{
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? o->own : o->plain},
                                    {DNNL_ARG_TO, back ? o->plain : o->own}};

    return o->move ? dnnl_primitive_execute(o->move, c->stream, 2, args) : dnnl_success;
}

static dnnl_status_t point(const operand *o, const void *data, char *scratch)
{
    dnnl_status_t st = dnnl_memory_set_data_handle(o->plain, (void *)data);

    return st || !o->own ? st : dnnl_memory_set_data_handle(o->own, scratch + o->at);
}

static dnnl_status_t execute(const tsr_onednn_conv *c)
{
    const operand *all[] = {&c->in[0], &c->in[1], &c->out};
    dnnl_exec_arg_t args[5];
    int n = 0;

    for (int i = 0; i < 3; i++, n++)
        args[n] = (dnnl_exec_arg_t){all[i]->arg, all[i]->own ? all[i]->own : all[i]->plain};
    if (c->bias)
        args[n++] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, c->bias};
    args[n++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, c->scratchpad};
    return dnnl_primitive_execute(c->primitive, c->stream, n, args);
}

/* out = wide + its channel's bias, rounded once; of f32 these are one memory. */
static void add_bias(const tsr_onednn_conv *c, const void *bias, float *wide, void *out)
{
    const bool y = c->what == TSR_CONV_Y;
    const int64_t channels = c->g.groups * (y ? c->g.yc : c->g.xc);
    const int64_t n = y ? c->g.y_count : c->g.x_count;

    for (int64_t i = 0; i < c->g.batch * channels; i++) {
        float value;

        tsr__convert(TSR_F32, &value, c->dtype,
                     (const char *)bias + (size_t)(i % channels) * tsr_dtype_size(c->dtype), 1);
        for (int64_t k = 0; k < n; k++)
            wide[i * n + k] += value;
        if (c->dtype == TSR_BF16)
            tsr__half_narrow(c->dtype, wide + i * n, n, (tsr_bf16 *)out + i * n);
    }
}

static void *in_role(const tsr_conv_operands *on, tsr_conv_result role)
{
    return role == TSR_CONV_X ? on->x : role == TSR_CONV_Y ? on->y : on->w;
}

static dnnl_status_t run_part(const tsr_onednn_conv *c, const tsr_conv_operands *on, bool first,
                              char *scratch)
{
    const tsr_conv_result *role = PRODUCTS[c->what].role;
    void *result = in_role(on, c->what);
    dnnl_status_t st;

    if (c->own_bias && c->dtype == TSR_BF16)
        result = scratch + c->wide_at;
    st = point(&c->in[0], in_role(on, role[0]), scratch);
    st = st ? st : point(&c->in[1], in_role(on, role[1]), scratch);
    st = st ? st : point(&c->out, result, scratch);
    st = st ? st : move(c, &c->in[0], false);
    if (!st && first) /* the weight, or all there is */
        st = move(c, &c->in[1], false);
    st = st ? st : execute(c);
    st = st ? st : move(c, &c->out, true);
    if (!st && c->own_bias)
        add_bias(c, on->bias, result, in_role(on, c->what));
    return st;
}

tsr_status tsr__onednn_conv_run(const tsr_onednn_conv *c, tsr_pool *pool,
                                const tsr_conv_operands *on, tsr_error *err)
{
    const int threads = onednn_begin();
    const size_t size = tsr_dtype_size(c->dtype);
    const size_t images = (size_t)(c->g.batch * c->g.groups) * size;
    tsr_conv_operands part = *on;
    dnnl_status_t ran = dnnl_success;
    char *scratch = NULL;
    tsr_status st;

    TSR_TRY(tsr__pool_get(pool, c->bytes, &scratch, err));
    if (c->bias)
        ran = dnnl_memory_set_data_handle(c->bias, (void *)on->bias);
    ran = ran ? ran : dnnl_memory_set_data_handle(c->scratchpad, scratch + c->scratchpad_at);
    for (int64_t i = 0; i < c->parts && !ran; i++) {
        ran = run_part(c, &part, i == 0, scratch);
        part.x = (char *)part.x + images * (size_t)(c->g.xc * c->g.x_count);
        part.y = (char *)part.y + images * (size_t)(c->g.yc * c->g.y_count);
    }
    if (ran)
        st = tsr__fail(err, TSR_ERR_MEMORY, "convolution: oneDNN failed with its status %d",
                       (int)ran);
done:
    tsr__pool_put(pool, scratch);
    onednn_end(threads);
    return st;
}
