/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_api.h - oneDNN's C interface as of version 3, also for version 2: the only file that knows
   that they differ. Version 2 has memory descriptors by value and makes primitive descriptors of op
   descriptors; version 3 has memory descriptors as handles and no op descriptors. What both have
   alike is called by oneDNN's own names. It includes nothing of the library: onednn*.c use it, and
   bench/bare_onednn.c. */
#ifndef TSR_KERNEL_ONEDNN_API_H
#define TSR_KERNEL_ONEDNN_API_H

#include <dnnl.h>
#include <stdbool.h>
#include <string.h>

/* oneDNN computes with OpenMP's threads, and how many is a setting of the thread that calls. Ours
   is one; the caller's own setting is put back. Declared here, since OpenMP's header is the
   compiler's. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);

static inline int onednn_begin(void)
{
    const int threads = omp_get_max_threads();

    if (threads != 1)
        omp_set_num_threads(1);
    return threads;
}

static inline void onednn_end(int threads)
{
    if (threads != 1)
        omp_set_num_threads(threads);
}

/* Is what oneDNN chose its plain loops? They are slower than ours by orders of magnitude. */
static inline bool onednn_is_slow(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;

    return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) != dnnl_success ||
           strstr(name, "ref") != NULL;
}

/* ---- memory descriptors ---- */

/* onednn_desc: a descriptor that its holder frees; zero is none. onednn_desc_ref: one that oneDNN's
   functions read, or that belongs to a primitive descriptor. */
typedef dnnl_memory_desc_t onednn_desc;
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t onednn_desc_ref;
#else
typedef const dnnl_memory_desc_t *onednn_desc_ref;
#endif

static inline onednn_desc_ref onednn_desc_get(const onednn_desc *d)
{
#if DNNL_VERSION_MAJOR >= 3
    return *d;
#else
    return d;
#endif
}

static inline void onednn_desc_free(onednn_desc *d)
{
#if DNNL_VERSION_MAJOR >= 3
    dnnl_memory_desc_destroy(*d);
    *d = NULL;
#else
    (void)d;
#endif
}

static inline dnnl_status_t onednn_desc_make(onednn_desc *out, int n, const dnnl_dims_t size,
                                             dnnl_data_type_t type, dnnl_format_tag_t tag)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_memory_desc_create_with_tag(out, n, size, type, tag);
#else
    return dnnl_memory_desc_init_by_tag(out, n, size, type, tag);
#endif
}

/* Row-major without gaps, of the data type of `like`. */
static inline dnnl_status_t onednn_desc_make_plain(onednn_desc *out, int n, const dnnl_dims_t size,
                                                   onednn_desc_ref like)
{
    dnnl_dims_t step;

    for (int d = n - 1; d >= 0; d--)
        step[d] = d == n - 1 ? 1 : step[d + 1] * size[d + 1];
#if DNNL_VERSION_MAJOR >= 3
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_status_t st = dnnl_memory_desc_query(like, dnnl_query_data_type, &type);

    return st ? st : dnnl_memory_desc_create_with_strides(out, n, size, type, step);
#else
    return dnnl_memory_desc_init_by_strides(out, n, size, like->data_type, step);
#endif
}

/* ---- primitive descriptors ---- */

/* Without a bias the pointer is NULL. */
static inline dnnl_status_t onednn_matmul_make(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                               const onednn_desc *a, const onednn_desc *b,
                                               const onednn_desc *bias, const onednn_desc *c,
                                               const_dnnl_primitive_attr_t attr)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_matmul_primitive_desc_create(out, engine, *a, *b, bias ? *bias : NULL, *c, attr);
#else
    dnnl_matmul_desc_t desc;
    dnnl_status_t st = dnnl_matmul_desc_init(&desc, a, b, bias, c);

    return st ? st : dnnl_primitive_desc_create(out, &desc, attr, engine, NULL);
#endif
}

/* A convolution of x with w gives y; or, of their gradients, x or w is the result. Dilation is 0
   where taps are adjacent. */
typedef struct onednn_conv_desc {
    onednn_desc x, w, bias, y;
    dnnl_dims_t stride, dilation, pad_lo, pad_hi;
} onednn_conv_desc;

static inline void onednn_conv_desc_free(onednn_conv_desc *c)
{
    onednn_desc_free(&c->x);
    onednn_desc_free(&c->w);
    onednn_desc_free(&c->bias);
    onednn_desc_free(&c->y);
}

static inline dnnl_status_t onednn_conv_make_forward(dnnl_primitive_desc_t *out,
                                                     dnnl_engine_t engine,
                                                     const onednn_conv_desc *c, bool bias,
                                                     const_dnnl_primitive_attr_t attr)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_convolution_forward_primitive_desc_create(
        out, engine, dnnl_forward_training, dnnl_convolution_direct, c->x, c->w,
        bias ? c->bias : NULL, c->y, c->stride, c->dilation, c->pad_lo, c->pad_hi, attr);
#else
    dnnl_convolution_desc_t desc;
    dnnl_status_t st = dnnl_dilated_convolution_forward_desc_init(
        &desc, dnnl_forward_training, dnnl_convolution_direct, &c->x, &c->w, bias ? &c->bias : NULL,
        &c->y, c->stride, c->dilation, c->pad_lo, c->pad_hi);

    return st ? st : dnnl_primitive_desc_create(out, &desc, attr, engine, NULL);
#endif
}

/* The gradient of x, or of w; the hint is a forward convolution of the same sizes. */
static inline dnnl_status_t onednn_conv_make_backward(dnnl_primitive_desc_t *out,
                                                      dnnl_engine_t engine,
                                                      const onednn_conv_desc *c, bool find_x,
                                                      const_dnnl_primitive_desc_t hint,
                                                      const_dnnl_primitive_attr_t attr)
{
#if DNNL_VERSION_MAJOR >= 3
    if (find_x)
        return dnnl_convolution_backward_data_primitive_desc_create(
            out, engine, dnnl_convolution_direct, c->x, c->w, c->y, c->stride, c->dilation,
            c->pad_lo, c->pad_hi, hint, attr);
    return dnnl_convolution_backward_weights_primitive_desc_create(
        out, engine, dnnl_convolution_direct, c->x, c->w, NULL, c->y, c->stride, c->dilation,
        c->pad_lo, c->pad_hi, hint, attr);
#else
    dnnl_convolution_desc_t desc;
    dnnl_status_t st = find_x ? dnnl_dilated_convolution_backward_data_desc_init(
                                    &desc, dnnl_convolution_direct, &c->x, &c->w, &c->y, c->stride,
                                    c->dilation, c->pad_lo, c->pad_hi)
                              : dnnl_dilated_convolution_backward_weights_desc_init(
                                    &desc, dnnl_convolution_direct, &c->x, &c->w, NULL, &c->y,
                                    c->stride, c->dilation, c->pad_lo, c->pad_hi);

    return st ? st : dnnl_primitive_desc_create(out, &desc, attr, engine, hint);
#endif
}

#endif
