/* SPDX-License-Identifier: Apache-2.0 */
/* fashion.c - a convolutional network that learns to tell clothes apart (Fashion-MNIST, 28x28), on
   a mesh whose dim "data" shares out the images of a batch and whose dim "space" the rows of every
   image: neighbours exchange the rows at their borders, and batch norm the statistics of all.

     build/examples/fashion                                  2x2 thread ranks
     build/examples/fashion --mesh=4                         images over 4 ranks
     build/examples/fashion --mesh=1x2                       each image over 2 ranks
     tools/mpirun -n 4 build/examples/fashion                processes instead of threads

   The model does not know its mesh; with the same seed the losses are the same on any. */
#include <inttypes.h>
#include <stdio.h>

#include "training.h"

enum { SIDE = 28, CLASSES = 10, FIRST = 16, SECOND = 32, HIDDEN = 128, QUARTER = SIDE / 4 };

static const char IMAGES[] = "data?=S(0),space?=S(1)", LABELS[] = "data?=S(0)";

/* ---- the model ---- */

/* A convolution, and the norm behind it with its running statistics. */
typedef struct block {
    tsr_layer conv, norm;
    tsr_tensor *mean, *var;
} block;

typedef struct model {
    tsr_params *params;
    block first, second;
    tsr_layer hidden, classes;
} model;

static block make_block(model *m, tsr_mesh *mesh, tsr_dtype dtype, const char *name, int in,
                        int out)
{
    const tsr_style whole = {TSR_STYLE_WHOLE, NULL};
    char conv[32], norm[32], spec[32];
    block b;

    snprintf(conv, sizeof conv, "%s.conv", name);
    snprintf(norm, sizeof norm, "%s.norm", name);
    snprintf(spec, sizeof spec, "%s[%d]", tsr_dtype_name(dtype), out);
    b.conv = tsr_conv_layer(m->params, conv, in, out, 3, false, whole);
    b.norm = tsr_norm_layer(m->params, norm, out);
    b.mean = tsr_keep(tsr_zeros(mesh, spec));
    b.var = tsr_keep(tsr_full(mesh, spec, 1));
    return b;
}

static tsr_status make_model(tsr_mesh *mesh, tsr_dtype dtype, uint64_t seed, model *m)
{
    const tsr_style whole = {TSR_STYLE_WHOLE, NULL};

    if (tsr_params_new(mesh, dtype, seed, &m->params) != TSR_OK)
        return tsr_mesh_status(mesh);
    m->first = make_block(m, mesh, dtype, "first", 1, FIRST);
    m->second = make_block(m, mesh, dtype, "second", FIRST, SECOND);
    m->hidden =
        tsr_linear_layer(m->params, "hidden", SECOND * QUARTER * QUARTER, HIDDEN, true, whole);
    m->classes = tsr_linear_layer(m->params, "classes", HIDDEN, CLASSES, true, whole);
    return tsr_mesh_status(mesh);
}

static void free_model(model *m)
{
    const block *const blocks[] = {&m->first, &m->second};

    for (int i = 0; i < 2; i++) {
        tsr_unref(blocks[i]->mean);
        tsr_unref(blocks[i]->var);
    }
    tsr_params_free(m->params);
}

/* (batch, in, side, side) -> (batch, out, side / 2, side / 2). All of it is smooth: where ReLU and
   the largest of a window choose, two meshes whose sums differ in the last bit choose differently
   now and then, and their losses drift apart. */
static tsr_tensor *run_block(const block *b, tsr_tensor *x, bool learns)
{
    tsr_conv_opts same = tsr_conv_opts_default();
    tsr_norm_opts norm = tsr_norm_opts_default();
    tsr_pool_opts halves = tsr_pool_opts_default();

    same.padding[0] = same.padding[1] = 1;
    norm.inference = !learns;
    halves.kernel[0] = halves.kernel[1] = 2;
    x = tsr_conv(x, b->conv.weight, NULL, &same);
    x = tsr_batch_norm(x, b->norm.weight, b->norm.bias, b->mean, b->var, &norm, NULL, NULL);
    return tsr_avg_pool(tsr_silu(x), &halves);
}

/* Images (batch, 28, 28) of bytes -> scores (batch, 10). */
static tsr_tensor *run_model(const model *m, tsr_tensor *images, tsr_dtype dtype, bool learns)
{
    const int64_t batch = tsr_tensor_spec(images)->shape.size[0];
    tsr_tensor *x =
        tsr_affine(tsr_cast(images, dtype), 1 / 90.0, -0.8); /* about mean 0, deviation 1 */

    x = tsr_reshape(x, (int64_t[]){batch, 1, SIDE, SIDE}, 4);
    x = run_block(&m->second, run_block(&m->first, x, learns), learns);
    x = tsr_redistribute_by_name(x, "space?=S(0)"); /* from rows of images to images */
    x = tsr_silu(tsr_linear(tsr_flatten(x, 1, -1), m->hidden.weight, m->hidden.bias));
    return tsr_linear(x, m->classes.weight, m->classes.bias);
}

/* ---- data ---- */

typedef struct samples {
    tsr_dataset *images, *labels;
} samples;

static tsr_status load(tsr_mesh *mesh, const char *folder, const char *which, samples *out)
{
    char path[4096];
    tsr_status st;

    snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte.gz", folder, which);
    if ((st = tsr_dataset_idx(mesh, path, &out->images)) != TSR_OK)
        return st;
    snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte.gz", folder, which);
    if ((st = tsr_dataset_idx(mesh, path, &out->labels)) != TSR_OK)
        return st;
    return tsr_dataset_check_labels(out->labels, CLASSES);
}

static tsr_tensor *batch_of(tsr_mesh *mesh, const tsr_dataset *data, const tsr_batches *batches,
                            int64_t epoch, int64_t i, const char *places)
{
    char at[TSR_TEXT_LEN];

    return tsr_batch(data, batches, epoch, i, tsr_placements_by_name(mesh, places, at, sizeof at));
}

/* The share of images that the model tells right. */
static double accuracy(tsr_mesh *mesh, const model *m, const samples *test, tsr_dtype dtype)
{
    const tsr_batches all = {.samples = tsr_dataset_shape(test->images)->size[0],
                             .size = 500,
                             .in_order = true,
                             .keep_last = true};
    const int classes = 1;
    double right = 0;

    for (int64_t i = 0; i < tsr_batches_count(&all); i++) {
        tsr_tensor *y, *hits;
        double n = 0;

        tsr_scope_push(mesh);
        y = run_model(m, batch_of(mesh, test->images, &all, 0, i, IMAGES), dtype, false);
        hits = tsr_eq(tsr_argmax(y, &classes, false),
                      tsr_cast(batch_of(mesh, test->labels, &all, 0, i, LABELS), TSR_I64));
        tsr_to_host(tsr_sum(tsr_cast(hits, TSR_F64), NULL, 0, false), &n, sizeof n);
        tsr_scope_pop(mesh);
        right += n;
    }
    return right / (double)all.samples;
}

/* ---- training ---- */

static tsr_status train(tsr_mesh *mesh, const train_options *o, model *m, const samples *data,
                        tsr_optimizer *optimizer)
{
    const tsr_batches batches = {
        .samples = tsr_dataset_shape(data->images)->size[0], .size = o->batch, .seed = o->seed};
    const int64_t each = tsr_batches_count(&batches);
    tsr_schedule rates = tsr_schedule_default(TSR_SCHEDULE_COSINE);
    char at[TSR_TEXT_LEN];
    training *t;
    int64_t step;

    rates.lr = 4e-3;
    rates.warmup = 50;
    rates.steps = o->steps;
    if (tsr_batches_check(data->images, &batches,
                          tsr_placements_by_name(mesh, IMAGES, at, sizeof at)) != TSR_OK)
        return tsr_mesh_status(mesh);
    t = training_begin(mesh, "fashion", o);
    while (training_next(t, &step)) {
        tsr_tensor *x, *labels, *loss;

        tsr_scope_push(mesh);
        x = batch_of(mesh, data->images, &batches, step / each, step % each, IMAGES);
        labels = batch_of(mesh, data->labels, &batches, step / each, step % each, LABELS);
        tsr_tape_begin(mesh);
        loss = tsr_cross_entropy(run_model(m, x, o->dtype, true), tsr_cast(labels, TSR_I64), NULL,
                                 NULL, NULL, NULL);
        tsr_backward(loss);
        tsr_optimizer_lr_set(optimizer, tsr_schedule_lr(&rates, step));
        tsr_optimizer_step(optimizer);
        training_loss(t, loss);
        tsr_scope_pop(mesh);
    }
    return training_end(t);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    const train_options *o = arg;
    samples learn = {NULL, NULL}, test = {NULL, NULL};
    tsr_optimizer *optimizer = NULL;
    tsr_optimizer_opts adam = tsr_optimizer_opts_default(TSR_ADAM);
    model m = {0};
    double right;

    adam.eps = 1e-6;
    load(mesh, o->data, "train", &learn);
    load(mesh, o->data, "t10k", &test);
    if (tsr_mesh_status(mesh) == TSR_OK)
        make_model(mesh, o->dtype, o->seed, &m);
    if (tsr_mesh_status(mesh) == TSR_OK)
        tsr_optimizer_new(mesh, &adam, tsr_params_list(m.params), tsr_params_count(m.params),
                          &optimizer);
    if (tsr_mesh_status(mesh) == TSR_OK && train(mesh, o, &m, &learn, optimizer) == TSR_OK) {
        right = accuracy(mesh, &m, &test, o->dtype);
        if (tsr_mesh_index(mesh) == 0)
            printf("%-28s %.2f %% of %" PRId64 " images\n", "right on unseen images", 100 * right,
                   tsr_dataset_shape(test.images)->size[0]);
    }
    tsr_optimizer_free(optimizer);
    free_model(&m);
    for (int i = 0; i < 2; i++) {
        tsr_dataset_free(i ? test.images : learn.images);
        tsr_dataset_free(i ? test.labels : learn.labels);
    }
    return tsr_mesh_status(mesh);
}

int main(int argc, char **argv)
{
    train_options o = {.steps = 1400,
                       .batch = 128,
                       .seed = 1,
                       .dtype = TSR_F32,
                       .data = "/usr/share/datasets/fashion-mnist"};
    const int end =
        train_parse(&argc, argv, "Learn to tell clothes apart, on a mesh data x space.", &o, NULL);

    return end >= 0 ? end : tsr_main(argc, argv, "data=2,space=2", job, &o);
}
