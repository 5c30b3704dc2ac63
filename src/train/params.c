/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - the weights of a model: watched tensors with names and first values; and layers, which
   are weights with the placements of a style. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/hash.h"
#include "tape/tape.h"
#include "tensor/scope.h"
#include "tensor/tensor.h"
#include "tessera_train.h"

enum { NAME_LEN = 64 };

struct tsr_params {
    tsr_mesh *mesh;
    tsr_dtype dtype;
    uint64_t seed;
    int n, cap, cap_names;
    tsr_tensor **list;
    char (*name)[NAME_LEN];
};

tsr_status tsr_params_new(tsr_mesh *mesh, tsr_dtype dtype, uint64_t seed, tsr_params **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, out);

    tsr_ctx *ctx = mesh->ctx;
    tsr_params *p;
    tsr_status st;

    *out = NULL;
    if (!tsr__dtype_is_float(dtype))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_DTYPE,
                          "tsr_params_new: weights need a floating-point dtype, not %s",
                          tsr_dtype_name(dtype)));
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *p, &p, &ctx->error));
    p->mesh = tsr_mesh_ref(mesh);
    p->dtype = dtype;
    p->seed = seed;
    *out = p;
done:
    return tsr__poison_if_local(ctx, st);
}

void tsr_params_free(tsr_params *p)
{
    tsr_heap *heap;
    tsr_mesh *mesh;

    if (!p)
        return;
    mesh = p->mesh;
    heap = &mesh->ctx->heap;
    for (int i = 0; i < p->n; i++)
        tsr_unref(p->list[i]);
    tsr__free(heap, p->list);
    tsr__free(heap, p->name);
    tsr__free(heap, p);
    tsr_mesh_unref(mesh);
}

int tsr_params_count(const tsr_params *p)
{
    return p ? p->n : 0;
}

tsr_tensor *const *tsr_params_list(const tsr_params *p)
{
    return p ? p->list : NULL;
}

const char *tsr_params_name(const tsr_params *p, int i)
{
    return p && i >= 0 && i < p->n ? p->name[i] : "";
}

tsr_tensor *tsr_params_find(const tsr_params *p, const char *name)
{
    TSR_NEED(NULL, NULL, p, name);
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->name[i], name) == 0)
            return p->list[i];
    return NULL;
}

/* ---- one ---- */

static uint64_t seed_of(const tsr_params *p, const char *name)
{
    uint64_t h = p->seed;

    for (const char *c = name; *c; c++)
        h = tsr__hash_mix(h, (uint64_t)(unsigned char)*c);
    return tsr__hash_final(h);
}

static double fan_in(const tsr_shape *shape)
{
    double n = 1;

    for (int d = 1; d < shape->ndim; d++)
        n *= (double)shape->size[d];
    return n > 0 ? n : 1;
}

static tsr_tensor *first_values(const tsr_params *p, const char *name, const tsr_spec *spec,
                                tsr_init init)
{
    const uint64_t seed = seed_of(p, name);
    double bound = init.scale;
    char text[TSR_TEXT_LEN];

    tsr_spec_text(spec, text, sizeof text);
    switch (init.kind) {
    case TSR_INIT_ONES: return tsr_full(p->mesh, text, 1);
    case TSR_INIT_NORMAL: return tsr_normal(p->mesh, text, 0, init.scale, seed);
    case TSR_INIT_FAN_IN: bound /= sqrt(fan_in(&spec->shape)); /* fall through */
    case TSR_INIT_UNIFORM: return tsr_uniform(p->mesh, text, -bound, bound, seed);
    default: return tsr_zeros(p->mesh, text);
    }
}

static tsr_status make_param(tsr_params *p, const char *name, const char *shape, const char *places,
                             tsr_init init, tsr_tensor **out)
{
    tsr_ctx *ctx = p->mesh->ctx;
    char text[3 * TSR_TEXT_LEN], at[TSR_TEXT_LEN];
    tsr_spec spec;
    tsr_tensor *x;
    tsr_status st;

    if (!name || !*name || strlen(name) >= NAME_LEN)
        return tsr__fail(&ctx->error, TSR_ERR_ARG,
                         "tsr_param: a name must have 1 to %d letters, not \"%s\"", NAME_LEN - 1,
                         name ? name : "");
    if (!shape)
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_param: shape is NULL");
    if (tsr_params_find(p, name))
        return tsr__fail(&ctx->error, TSR_ERR_ARG, "tsr_param: \"%s\" already exists", name);
    if (!*tsr_placements_by_name(p->mesh, places, at, sizeof at))
        return ctx->error.code;
    snprintf(text, sizeof text, "%s%.*s@%s", tsr_dtype_name(p->dtype), TSR_TEXT_LEN, shape, at);
    TSR_TRY(tsr_spec_parse(text, &p->mesh->shape, &spec, &ctx->error));
    TSR_TRY(tsr__grow(&ctx->heap, &p->list, &p->cap, p->n, sizeof *p->list, &ctx->error));
    TSR_TRY(tsr__grow(&ctx->heap, &p->name, &p->cap_names, p->n, sizeof *p->name, &ctx->error));
    x = first_values(p, name, &spec, init);
    TSR_TRY(tsr__tensor_check(ctx, x, "tsr_param"));
    TSR_TRY(tsr__tensor_check(ctx, tsr_watch(x), "tsr_param"));
    snprintf(p->name[p->n], NAME_LEN, "%s", name);
    p->list[p->n++] = tsr_keep(x);
    *out = x;
done:
    return st;
}

tsr_tensor *tsr_param(tsr_params *p, const char *name, const char *shape, const char *places,
                      tsr_init init)
{
    TSR_NEED(NULL, NULL, p);

    tsr_ctx *ctx = p->mesh->ctx;
    tsr_tensor *x = NULL;
    tsr_status st;

    ctx->unrecorded++;
    st = make_param(p, name, shape, places, init, &x);
    ctx->unrecorded--;
    return tsr__tensor_or_error(ctx, st, x);
}

/* ---- layers ---- */

/* The placements of a weight's dim 0 or 1, or of nothing, by a style. */
static const char *by_style(tsr_style style, int dim, char *buf, size_t n)
{
    buf[0] = 0;
    if (style.kind != TSR_STYLE_WHOLE && style.mesh_dim && dim >= 0)
        snprintf(buf, n, "%s=S(%d)", style.mesh_dim, dim);
    return buf;
}

static tsr_layer make_layer(tsr_params *p, const char *name, const char *shape, int64_t out,
                            bool bias, tsr_init init, double bias_bound, tsr_style style)
{
    char part[2 * NAME_LEN], places[64], vector[32];
    tsr_layer layer = {0};

    if (!p)
        return layer;
    if (!name) /* which tsr_param refuses */
        name = "";

    snprintf(part, sizeof part, "%s.weight", name);
    by_style(style, style.kind == TSR_STYLE_COLUMN ? 0 : 1, places, sizeof places);
    layer.weight = tsr_param(p, part, shape, places, init);
    if (!bias)
        return layer;
    snprintf(part, sizeof part, "%s.bias", name);
    snprintf(vector, sizeof vector, "[%" PRId64 "]", out);
    by_style(style, style.kind == TSR_STYLE_COLUMN ? 0 : -1, places, sizeof places);
    layer.bias =
        tsr_param(p, part, vector, places,
                  (tsr_init){bias_bound > 0 ? TSR_INIT_UNIFORM : TSR_INIT_ZEROS, bias_bound});
    return layer;
}

tsr_layer tsr_linear_layer(tsr_params *p, const char *name, int64_t in, int64_t out, bool bias,
                           tsr_style style)
{
    char shape[64];

    snprintf(shape, sizeof shape, "[%" PRId64 ",%" PRId64 "]", out, in);
    return make_layer(p, name, shape, out, bias, (tsr_init){TSR_INIT_FAN_IN, 1},
                      1 / sqrt((double)(in > 0 ? in : 1)), style);
}

tsr_layer tsr_conv_layer(tsr_params *p, const char *name, int64_t in, int64_t out, int64_t kernel,
                         bool bias, tsr_style style)
{
    const double fan = (double)in * (double)kernel * (double)kernel;
    char shape[96];

    snprintf(shape, sizeof shape, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", out, in,
             kernel, kernel);
    return make_layer(p, name, shape, out, bias, (tsr_init){TSR_INIT_FAN_IN, 1},
                      1 / sqrt(fan > 0 ? fan : 1), style);
}

tsr_layer tsr_norm_layer(tsr_params *p, const char *name, int64_t size)
{
    char shape[32];

    snprintf(shape, sizeof shape, "[%" PRId64 "]", size);
    return make_layer(p, name, shape, size, true, (tsr_init){TSR_INIT_ONES, 0}, 0,
                      (tsr_style){TSR_STYLE_WHOLE, NULL});
}

tsr_tensor *tsr_table_layer(tsr_params *p, const char *name, int64_t rows, int64_t columns,
                            double scale, bool by_rows, tsr_style style)
{
    char shape[64], places[64];
    tsr_tensor *table;

    snprintf(shape, sizeof shape, "[%" PRId64 ",%" PRId64 "]", rows, columns);
    by_style(style, style.kind == TSR_STYLE_ROW ? 0 : 1, places, sizeof places);
    table = tsr_param(p, name, shape, places, (tsr_init){TSR_INIT_NORMAL, scale});
    return by_rows ? tsr_watch_sparse(table) : table;
}
