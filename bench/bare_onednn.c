/* SPDX-License-Identifier: Apache-2.0 */
/* bare_onednn.c - see bare_onednn.h; bare_onednn_none.c stands for it in builds without oneDNN. */
#include "bare_onednn.h"

#include "kernel/onednn_api.h"

#include <stdlib.h>

struct bare_conv {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[3];
    void *data[3];
};

bool bare_available(void)
{
    return true;
}

static dnnl_status_t add_memory(bare_conv *b, int i, int arg)
{
    const onednn_desc_ref md = dnnl_primitive_desc_query_md(b->desc, dnnl_query_exec_arg_md, arg);

    b->args[i].arg = arg;
    b->data[i] = calloc(dnnl_memory_desc_get_size(md) + 64, 1);
    return b->data[i] ? dnnl_memory_create(&b->args[i].memory, md, b->engine, b->data[i])
                      : dnnl_out_of_memory;
}

static dnnl_status_t describe(const bare_shape *s, dnnl_data_type_t type, onednn_conv_desc *out)
{
    const dnnl_format_tag_t any = dnnl_format_tag_any;
    dnnl_dims_t x = {s->batch, s->in_channels}, y = {s->batch, s->out_channels}, w;
    int n = 0;
    dnnl_status_t st;

    if (s->groups > 1)
        w[n++] = s->groups;
    w[n++] = s->out_channels / s->groups;
    w[n++] = s->in_channels / s->groups;
    for (int d = 0; d < s->ndim; d++) {
        x[d + 2] = s->size;
        y[d + 2] = bare_out_size(s);
        w[n++] = s->kernel;
        out->stride[d] = s->stride;
        out->pad_lo[d] = out->pad_hi[d] = s->padding;
    }
    st = onednn_desc_make(&out->x, s->ndim + 2, x, type, any);
    st = st ? st : onednn_desc_make(&out->y, s->ndim + 2, y, type, any);
    return st ? st : onednn_desc_make(&out->w, n, w, type, any);
}

/* The backward directions want the forward one as a hint. */
static dnnl_status_t make(bare_conv *b, const bare_shape *s, dnnl_data_type_t type,
                          bare_product what)
{
    onednn_conv_desc of = {0};
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t st = describe(s, type, &of);

    st = st ? st : onednn_conv_make_forward(&hint, b->engine, &of, false, NULL);
    if (what == BARE_OUTPUT)
        b->desc = hint, hint = NULL;
    else
        st = st ? st
                : onednn_conv_make_backward(&b->desc, b->engine, &of, what == BARE_GRAD_INPUT, hint,
                                            NULL);
    dnnl_primitive_desc_destroy(hint);
    onednn_conv_desc_free(&of);
    return st ? st : dnnl_primitive_create(&b->primitive, b->desc);
}

bare_conv *bare_conv_open(const bare_shape *s, tsr_dtype dtype, bare_product what)
{
    static const int args[][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                  {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                                  {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}};
    bare_conv *b = calloc(1, sizeof *b);
    dnnl_status_t st;

    if (!b)
        return NULL;
    onednn_begin();
    st = dnnl_engine_create(&b->engine, dnnl_cpu, 0);
    st = st ? st : dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags);
    st = st ? st : make(b, s, dtype == TSR_F32 ? dnnl_f32 : dnnl_bf16, what);
    for (int i = 0; i < 3 && !st; i++)
        st = add_memory(b, i, args[what][i]);
    if (st) {
        bare_conv_close(b);
        return NULL;
    }
    return b;
}

tsr_status bare_conv_run(void *bare)
{
    bare_conv *b = bare;

    onednn_begin();
    return dnnl_primitive_execute(b->primitive, b->stream, 3, b->args) ? TSR_ERR_STATE : TSR_OK;
}

void bare_conv_close(bare_conv *b)
{
    if (!b)
        return;
    for (int i = 0; i < 3; i++) {
        dnnl_memory_destroy(b->args[i].memory);
        free(b->data[i]);
    }
    dnnl_primitive_destroy(b->primitive);
    dnnl_primitive_desc_destroy(b->desc);
    dnnl_stream_destroy(b->stream);
    dnnl_engine_destroy(b->engine);
    free(b);
}

tsr_status bare_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    onednn_begin();
    return dnnl_sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, c, n) ? TSR_ERR_STATE : TSR_OK;
}
