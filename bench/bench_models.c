/* SPDX-License-Identifier: Apache-2.0 */
/* bench_models.c - a recommender, a convolutional network and a transformer, in shapes of which
   peers have times. Called by bench_train.c. */
#include "bench_models.h"

#include <stdio.h>

static const tsr_style WHOLE = {TSR_STYLE_WHOLE, NULL}, COLUMN = {TSR_STYLE_COLUMN, "ranks"},
                       ROW = {TSR_STYLE_ROW, "ranks"};

static tsr_status begin(tsr_mesh *mesh, bench_model *m, tsr_tensor *(*loss)(bench_model *m))
{
    m->mesh = mesh;
    m->loss = loss;
    return tsr_params_new(mesh, TSR_F32, 1, &m->params);
}

static tsr_status finish(bench_model *m, double lr)
{
    tsr_optimizer_opts sgd = tsr_optimizer_opts_default(TSR_SGD);

    if (tsr_mesh_status(m->mesh) != TSR_OK)
        return tsr_mesh_status(m->mesh);
    sgd.lr = lr;
    return tsr_optimizer_new(m->mesh, &sgd, tsr_params_list(m->params), tsr_params_count(m->params),
                             &m->optimizer);
}

void bench_model_close(bench_model *m)
{
    tsr_optimizer_free(m->optimizer);
    tsr_params_free(m->params);
    for (int i = 0; i < BENCH_TABLES; i++)
        tsr_unref(m->x[i]);
    tsr_unref(m->target);
}

tsr_status bench_model_step(bench_model *m)
{
    tsr_scope_push(m->mesh);
    tsr_tape_begin(m->mesh);
    tsr_backward(m->loss(m));
    tsr_optimizer_step(m->optimizer);
    tsr_scope_pop(m->mesh);
    return tsr_mesh_status(m->mesh);
}

static tsr_tensor *linear(tsr_tensor *x, const tsr_layer *l)
{
    return tsr_linear(x, l->weight, l->bias);
}

/* ---- bags of 8 tables of 100,000 x 64 by rows, and two layers ---- */

enum { BAGS = 256, BAG = 20, ROWS = 100000, WIDTH = 64, HIDDEN = 256 };

static tsr_tensor *dlrm_loss(bench_model *m)
{
    tsr_table_use use[BENCH_TABLES];
    tsr_tensor *bags[BENCH_TABLES], *x;

    for (int i = 0; i < BENCH_TABLES; i++)
        use[i] = (tsr_table_use){.table = m->table[i], .ids = m->x[i], .pooling = TSR_BAG_SUM};
    if (tsr_lookup_group(use, BENCH_TABLES, bags) != TSR_OK)
        return NULL;
    x = tsr_relu(linear(tsr_cat(bags, BENCH_TABLES, 1), &m->layer[0]));
    return tsr_mse_loss(linear(x, &m->layer[1]), m->target, TSR_LOSS_MEAN);
}

tsr_status bench_dlrm(tsr_mesh *mesh, bench_model *m)
{
    char spec[TSR_TEXT_LEN], name[16];

    if (begin(mesh, m, dlrm_loss) != TSR_OK)
        return tsr_mesh_status(mesh);
    for (int i = 0; i < BENCH_TABLES; i++) {
        snprintf(name, sizeof name, "table%d", i);
        m->table[i] = tsr_table_layer(m->params, name, ROWS, WIDTH, 0.01, true, ROW);
        snprintf(spec, sizeof spec, "i64[%d,%d]@[S(0)]", BAGS, BAG);
        m->x[i] = tsr_keep(tsr_randint(mesh, spec, 0, ROWS, 10 + (uint64_t)i));
    }
    snprintf(spec, sizeof spec, "f32[%d,1]@[S(0)]", BAGS);
    m->target = tsr_keep(tsr_uniform(mesh, spec, 0, 1, 2));
    m->layer[0] = tsr_linear_layer(m->params, "l1", BENCH_TABLES * WIDTH, HIDDEN, true, WHOLE);
    m->layer[1] = tsr_linear_layer(m->params, "l2", HIDDEN, 1, true, WHOLE);
    return finish(m, 0.1);
}

/* ---- two convolutions of 64 images of 28 x 28 ---- */

enum { IMAGES = 64, SIDE = 28, CLASSES = 10 };

static tsr_tensor *cnn_loss(bench_model *m)
{
    tsr_conv_opts same = tsr_conv_opts_default();
    tsr_pool_opts halves = tsr_pool_opts_default();
    tsr_tensor *x = m->x[0];

    same.padding[0] = same.padding[1] = 1;
    halves.kernel[0] = halves.kernel[1] = 2;
    x = tsr_relu(tsr_conv(x, m->layer[0].weight, m->layer[0].bias, &same));
    x = tsr_relu(tsr_conv(x, m->layer[1].weight, m->layer[1].bias, &same));
    x = tsr_max_pool(x, &halves, NULL);
    x = linear(tsr_flatten(x, 1, -1), &m->layer[2]);
    return tsr_cross_entropy(x, m->target, NULL, NULL, NULL, NULL);
}

tsr_status bench_cnn(tsr_mesh *mesh, bench_model *m)
{
    char spec[TSR_TEXT_LEN];

    if (begin(mesh, m, cnn_loss) != TSR_OK)
        return tsr_mesh_status(mesh);
    snprintf(spec, sizeof spec, "f32[%d,1,%d,%d]@[S(0)]", IMAGES, SIDE, SIDE);
    m->x[0] = tsr_keep(tsr_randn(mesh, spec, 3));
    snprintf(spec, sizeof spec, "i64[%d]@[S(0)]", IMAGES);
    m->target = tsr_keep(tsr_randint(mesh, spec, 0, CLASSES, 4));
    m->layer[0] = tsr_conv_layer(m->params, "c1", 1, 32, 3, true, WHOLE);
    m->layer[1] = tsr_conv_layer(m->params, "c2", 32, 64, 3, true, WHOLE);
    m->layer[2] = tsr_linear_layer(m->params, "fc", 64 * 14 * 14, CLASSES, true, WHOLE);
    return finish(m, 0.01);
}

/* ---- two layers of attention over 8 x 128 words of 8192 ---- */

enum { BATCH = 8, SEQUENCE = 128, WORDS = 8192, DIM = 256, HEADS = 8 };

static tsr_tensor *norm(tsr_tensor *x, const tsr_layer *l)
{
    return tsr_layer_norm(x, l->weight, l->bias, 1, 1e-5, NULL, NULL);
}

/* (batch, sequence, dim) -> (batch, heads, sequence, dim / heads) */
static tsr_tensor *heads(tsr_tensor *x)
{
    x = tsr_reshape(x, (int64_t[]){BATCH, SEQUENCE, HEADS, DIM / HEADS}, 4);
    return tsr_transpose(x, 1, 2);
}

static tsr_tensor *run_block(const bench_block *b, tsr_tensor *x)
{
    tsr_attention_opts opts = tsr_attention_opts_default();
    tsr_tensor *y = norm(x, &b->norm1), *a;

    opts.causal = true;
    a = tsr_attention(heads(linear(y, &b->q)), heads(linear(y, &b->k)), heads(linear(y, &b->v)),
                      NULL, &opts, NULL);
    a = tsr_reshape(tsr_transpose(a, 1, 2), (int64_t[]){BATCH, SEQUENCE, DIM}, 3);
    x = tsr_add(x, linear(a, &b->out));
    return tsr_add(x, linear(tsr_gelu(linear(norm(x, &b->norm2), &b->up), false), &b->down));
}

static tsr_tensor *transformer_loss(bench_model *m)
{
    tsr_tensor *x = tsr_embedding(m->table[0], m->x[0], NULL);

    for (int i = 0; i < BENCH_LAYERS; i++)
        x = run_block(&m->block[i], x);
    x = linear(norm(x, &m->layer[0]), &m->layer[1]);
    x = tsr_reshape(x, (int64_t[]){BATCH * SEQUENCE, WORDS}, 2);
    return tsr_cross_entropy(x, m->target, NULL, NULL, NULL, NULL);
}

tsr_status bench_transformer(tsr_mesh *mesh, bench_model *m)
{
    char spec[TSR_TEXT_LEN], name[32];

    if (begin(mesh, m, transformer_loss) != TSR_OK)
        return tsr_mesh_status(mesh);
    snprintf(spec, sizeof spec, "i64[%d,%d]", BATCH, SEQUENCE);
    m->x[0] = tsr_keep(tsr_randint(mesh, spec, 0, WORDS, 5));
    snprintf(spec, sizeof spec, "i64[%d]", BATCH * SEQUENCE);
    m->target = tsr_keep(tsr_randint(mesh, spec, 0, WORDS, 6));
    m->table[0] = tsr_table_layer(m->params, "words", WORDS, DIM, 1, false, ROW);
    for (int i = 0; i < BENCH_LAYERS; i++) {
        bench_block *b = &m->block[i];
        const struct {
            tsr_layer *layer;
            const char *name;
            int in, out; /* 0: a norm */
            tsr_style style;
        } parts[] = {{&b->norm1, "norm1", 0, DIM, WHOLE},  {&b->norm2, "norm2", 0, DIM, WHOLE},
                     {&b->q, "q", DIM, DIM, COLUMN},       {&b->k, "k", DIM, DIM, COLUMN},
                     {&b->v, "v", DIM, DIM, COLUMN},       {&b->out, "out", DIM, DIM, ROW},
                     {&b->up, "up", DIM, 4 * DIM, COLUMN}, {&b->down, "down", 4 * DIM, DIM, ROW}};

        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            snprintf(name, sizeof name, "layer%d.%s", i, parts[k].name);
            *parts[k].layer = parts[k].in ? tsr_linear_layer(m->params, name, parts[k].in,
                                                             parts[k].out, true, parts[k].style)
                                          : tsr_norm_layer(m->params, name, parts[k].out);
        }
    }
    m->layer[0] = tsr_norm_layer(m->params, "norm", DIM);
    m->layer[1] = tsr_linear_layer(m->params, "head", DIM, WORDS, false, COLUMN);
    return finish(m, 0.1);
}
