/* SPDX-License-Identifier: Apache-2.0 */
/* opts.h - what tests write in short: options as initialisers that override the defaults, also in
   static tables, and tensors from arrays that are at least as large as they must be. */
#ifndef TSR_TESTS_OPTS_H
#define TSR_TESTS_OPTS_H

#include <tessera_train.h>

#pragma GCC diagnostic ignored "-Woverride-init" /* that is what these macros are for */

#define RUN_OPTS(...) {.size = sizeof(tsr_run_opts), __VA_ARGS__}
#define ATTENTION_OPTS(...) {.size = sizeof(tsr_attention_opts), __VA_ARGS__}
#define EMBEDDING_OPTS(...) {.size = sizeof(tsr_embedding_opts), __VA_ARGS__}
#define TABLES_OPTS(...) {.size = sizeof(tsr_tables_opts), .ranks = 1, __VA_ARGS__}
#define CLASS_OPTS(...) {.size = sizeof(tsr_class_opts), .ignore_index = -100, __VA_ARGS__}
#define NORM_OPTS(...) {.size = sizeof(tsr_norm_opts), .eps = 1e-5, .momentum = 0.1, __VA_ARGS__}
#define CONV_OPTS(...)                                                                             \
    {.size = sizeof(tsr_conv_opts),                                                                \
     .stride = {1, 1, 1},                                                                          \
     .dilation = {1, 1, 1},                                                                        \
     .groups = 1,                                                                                  \
     __VA_ARGS__}
#define POOL_OPTS(...)                                                                             \
    {.size = sizeof(tsr_pool_opts), .kernel = {1, 1, 1}, .dilation = {1, 1, 1}, __VA_ARGS__}
#define OPTIMIZER_OPTS(of, ...)                                                                    \
    {.size = sizeof(tsr_optimizer_opts),                                                           \
     .kind = of,                                                                                   \
     .lr = (of) == TSR_ADAGRAD ? 1e-2 : 1e-3,                                                      \
     .beta1 = 0.9,                                                                                 \
     .beta2 = 0.999,                                                                               \
     .eps = (of) == TSR_ADAGRAD ? 1e-10 : 1e-8,                                                    \
     .decay = (of) == TSR_ADAMW ? 1e-2 : 0,                                                        \
     __VA_ARGS__}
#define SCHEDULE(...) {.size = sizeof(tsr_schedule), .lr = 1e-3, __VA_ARGS__}

/* The costs that a mesh plans with. */
static inline tsr_cost mesh_cost(const tsr_mesh *mesh)
{
    tsr_cost cost = tsr_cost_default();

    tsr_cost_get(mesh, &cost);
    return cost;
}

/* tsr_from_host for an array of at least the tensor's size. */
static inline tsr_tensor *from_host(tsr_mesh *mesh, const char *text, const void *data)
{
    tsr_spec spec;
    const bool ok = tsr_spec_parse(text, tsr_mesh_shape_get(mesh), &spec, NULL) == TSR_OK;

    return tsr_from_host(mesh, text, data,
                         ok ? (size_t)tsr_shape_count(&spec.shape) * tsr_dtype_size(spec.dtype)
                            : 0);
}

/* tsr_from_local for an array of at least the part's size. */
static inline tsr_tensor *from_local(tsr_mesh *mesh, const char *text, const void *data,
                                     const tsr_shape *shape)
{
    tsr_spec spec;
    const bool ok = tsr_spec_parse(text, tsr_mesh_shape_get(mesh), &spec, NULL) == TSR_OK;

    return tsr_from_local(mesh, text, data,
                          ok ? (size_t)tsr_shape_count(shape) * tsr_dtype_size(spec.dtype) : 0,
                          shape);
}

/* tsr_dataset_from_host for an array of at least the dataset's size. */
static inline tsr_status dataset_from_host(tsr_mesh *mesh, tsr_dtype dtype, const tsr_shape *shape,
                                           const void *data, tsr_dataset **out)
{
    const size_t bytes = shape ? (size_t)tsr_shape_count(shape) * tsr_dtype_size(dtype) : 0;

    return tsr_dataset_from_host(mesh, dtype, shape, data, bytes, out);
}

#endif
