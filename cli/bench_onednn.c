/* SPDX-License-Identifier: Apache-2.0 */
/* bench_onednn.c - see bench_onednn.h. Used by cmd_bench_conv.c. */
#include "bench_onednn.h"

#include <dnnl.h>
#include <stdlib.h>
#include <string.h>

void omp_set_num_threads(int n); /* oneDNN's threads are OpenMP's, each thread has its own number */

struct bare_conv {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t forward, desc;
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[3];
    void *data[3];
};

int64_t bare_out_size(const bare_shape *s)
{
    return (s->size + 2 * s->padding - s->kernel) / s->stride + 1;
}

static dnnl_status_t add_memory(bare_conv *b, int i, int arg)
{
    const dnnl_memory_desc_t *md =
        dnnl_primitive_desc_query_md(b->desc, dnnl_query_exec_arg_md, arg);

    b->args[i].arg = arg;
    b->data[i] = calloc(dnnl_memory_desc_get_size(md) + 64, 1);
    return b->data[i] ? dnnl_memory_create(&b->args[i].memory, md, b->engine, b->data[i])
                      : dnnl_out_of_memory;
}

/* All three directions; the backward ones want the forward one as a hint. */
static dnnl_status_t describe(bare_conv *b, const bare_shape *s, dnnl_data_type_t type,
                              bare_product what)
{
    const dnnl_format_tag_t any = dnnl_format_tag_any;
    dnnl_dims_t x = {s->batch, s->in_channels}, y = {s->batch, s->out_channels}, w, step, pad;
    dnnl_memory_desc_t xd, yd, wd;
    dnnl_convolution_desc_t forward, back;
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
        step[d] = s->stride;
        pad[d] = s->padding;
    }
    st = dnnl_memory_desc_init_by_tag(&xd, s->ndim + 2, x, type, any);
    st = st ? st : dnnl_memory_desc_init_by_tag(&yd, s->ndim + 2, y, type, any);
    st = st ? st : dnnl_memory_desc_init_by_tag(&wd, n, w, type, any);
    st = st ? st
            : dnnl_convolution_forward_desc_init(&forward, dnnl_forward_training,
                                                 dnnl_convolution_direct, &xd, &wd, NULL, &yd, step,
                                                 pad, pad);
    st = st ? st : dnnl_primitive_desc_create(&b->forward, &forward, NULL, b->engine, NULL);
    if (st || what == BARE_OUTPUT)
        return st ? st : dnnl_primitive_desc_create(&b->desc, &forward, NULL, b->engine, NULL);
    if (what == BARE_GRAD_INPUT)
        st = dnnl_convolution_backward_data_desc_init(&back, dnnl_convolution_direct, &xd, &wd, &yd,
                                                      step, pad, pad);
    else
        st = dnnl_convolution_backward_weights_desc_init(&back, dnnl_convolution_direct, &xd, &wd,
                                                         NULL, &yd, step, pad, pad);
    return st ? st : dnnl_primitive_desc_create(&b->desc, &back, NULL, b->engine, b->forward);
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
    omp_set_num_threads(1);
    st = dnnl_engine_create(&b->engine, dnnl_cpu, 0);
    st = st ? st : dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags);
    st = st ? st : describe(b, s, dtype == TSR_F32 ? dnnl_f32 : dnnl_bf16, what);
    st = st ? st : dnnl_primitive_create(&b->primitive, b->desc);
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

    omp_set_num_threads(1);
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
    dnnl_primitive_desc_destroy(b->forward);
    dnnl_stream_destroy(b->stream);
    dnnl_engine_destroy(b->engine);
    free(b);
}
