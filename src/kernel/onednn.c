/* SPDX-License-Identifier: Apache-2.0 */
/* onednn.c - products of matrices by oneDNN where measuring says that it gains. Making the
   primitive takes 2 us since oneDNN caches the code, so no handle is kept. Called by matmul.c. */
#include "kernel/onednn.h"

#include "kernel/onednn_api.h"

#include <limits.h>
#include <stdio.h>

/* Thin products, in which OpenBLAS is bound by copying its panels: 0.35 to 0.9 of its time from
   this size on. Others are 0.88 to 0.97 of it from LARGE_TERMS on, but up to 1.1 where b is turned
   and its rows are no multiple of a vector. Vectors equal. */
enum { THIN = 64, THIN_TERMS = 1 << 19, LARGE_TERMS = 1 << 21, VECTOR = 16 };

/* Below, making the primitive costs more than it gains; at twice the terms it takes 0.7 of the time
   of tiles widened to f32, then half. Fewer columns cost as much as 48. */
enum { LEAST_TERMS = 1 << 18, LEAST_COLUMNS = 32 };

const char *tsr__onednn_version(char *buf, size_t n)
{
    const dnnl_version_t *v = dnnl_version();

    snprintf(buf, n, "%d.%d.%d", v->major, v->minor, v->patch);
    return buf;
}

static bool small_enough(int64_t m, int64_t n, int64_t k)
{
    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX;
}

bool tsr__onednn_matmul_f32(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                            bool turned, float *c)
{
    const bool thin = m <= THIN || k <= THIN;
    dnnl_status_t st;
    int threads;

    if (m == 1 || n == 1 || m * n < (thin ? THIN_TERMS : LARGE_TERMS) / k ||
        (!thin && turned && k % VECTOR != 0) || !small_enough(m, n, k))
        return false;
    threads = onednn_begin();
    st = dnnl_sgemm('N', turned ? 'T' : 'N', m, n, k, 1, a, k, b, turned ? k : n, 0, c, n);
    onednn_end(threads);
    return st == dnnl_success;
}

/* Blocks of attention: 0.85 to 0.95 of the time of OpenBLAS, but for small ones. */
enum { BLOCK_TERMS = 1 << 15 };

bool tsr__onednn_gemm_f32(bool turn_a, bool turn_b, int64_t m, int64_t n, int64_t k, const float *a,
                          const float *b, bool add, float *c)
{
    dnnl_status_t st;
    int threads;

    if (k == 0 || m * n < BLOCK_TERMS / k || !small_enough(m, n, k))
        return false;
    threads = onednn_begin();
    st = dnnl_sgemm(turn_a ? 'T' : 'N', turn_b ? 'T' : 'N', m, n, k, 1, a, turn_a ? m : k, b,
                    turn_b ? k : n, add, c, n);
    onednn_end(threads);
    return st == dnnl_success;
}

/* What one product needs of oneDNN; zero: nothing yet. */
typedef struct product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    onednn_desc a_desc, b_desc, bias_desc, c_desc;
    dnnl_memory_t a, b, bias, c;
} product;

static void release(product *p)
{
    dnnl_memory_destroy(p->a);
    dnnl_memory_destroy(p->b);
    dnnl_memory_destroy(p->bias);
    dnnl_memory_destroy(p->c);
    onednn_desc_free(&p->a_desc);
    onednn_desc_free(&p->b_desc);
    onednn_desc_free(&p->bias_desc);
    onednn_desc_free(&p->c_desc);
    dnnl_primitive_destroy(p->primitive);
    dnnl_primitive_desc_destroy(p->desc);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
}

static bool matrix(dnnl_engine_t engine, int64_t rows, int64_t columns, const tsr_bf16 *data,
                   bool turned, onednn_desc *desc, dnnl_memory_t *memory)
{
    const dnnl_dims_t size = {rows, columns};

    return !onednn_desc_make(desc, 2, size, dnnl_bf16, turned ? dnnl_ba : dnnl_ab) &&
           !dnnl_memory_create(memory, onednn_desc_get(desc), engine, (void *)data);
}

static bool multiply(product *p, int64_t m, int64_t n, int64_t k, const tsr_bf16 *a,
                     const tsr_bf16 *b, bool turned, const tsr_bf16 *bias, tsr_bf16 *c)
{
    if (dnnl_engine_create(&p->engine, dnnl_cpu, 0) ||
        dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags) ||
        !matrix(p->engine, m, k, a, false, &p->a_desc, &p->a) ||
        !matrix(p->engine, k, n, b, turned, &p->b_desc, &p->b) ||
        !matrix(p->engine, m, n, c, false, &p->c_desc, &p->c) ||
        (bias && !matrix(p->engine, 1, n, bias, false, &p->bias_desc, &p->bias)) ||
        onednn_matmul_make(&p->desc, p->engine, &p->a_desc, &p->b_desc, bias ? &p->bias_desc : NULL,
                           &p->c_desc, NULL) ||
        onednn_is_slow(p->desc) || dnnl_primitive_create(&p->primitive, p->desc))
        return false;

    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, p->a},
                                    {DNNL_ARG_WEIGHTS, p->b},
                                    {DNNL_ARG_DST, p->c},
                                    {DNNL_ARG_BIAS, p->bias}};

    return !dnnl_primitive_execute(p->primitive, p->stream, bias ? 4 : 3, args);
}

bool tsr__onednn_matmul_bf16(int64_t m, int64_t n, int64_t k, const tsr_bf16 *a, const tsr_bf16 *b,
                             bool turned, const tsr_bf16 *bias, tsr_bf16 *c)
{
    product p = {0};
    int threads;
    bool done;

    if (n < LEAST_COLUMNS || m * n < LEAST_TERMS / k || !small_enough(m, n, k))
        return false;
    threads = onednn_begin();
    done = multiply(&p, m, n, k, a, b, turned, bias, c);
    release(&p);
    onednn_end(threads);
    return done;
}
