/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - a transformer learns to continue a text, the King James Bible, piece by piece, and is
   compared with a 3-gram model on lines that neither has seen; then it writes a few lines itself.

     make data && build/examples/words                   2 thread ranks share the model
     build/examples/words --mesh=1                       one rank, the same losses
     tools/mpirun -n 4 build/examples/words --mesh=2x2   data x model, processes

   Batches are shared out along the mesh dim "data". Along "model" everything large is: tables and
   the last layer by the vocabulary, of which no rank ever has all logits, attention by heads, the
   layers between by features. That is said where the weights are made, a line each, and in
   `between`; the rest of the program does not know of it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "training.h"
#include "words_text.h"

enum { LAYERS = 16 }; /* at the most */

/* What activations are between the parts of a block, besides sharded by samples. "model?=S(1)"
   makes it a sequence parallel model: norms are computed by positions then. */
static const char between[] = "model?=R";

typedef struct app {
    train_options o;
    int64_t vocabulary, length, width, heads, layers, sample;
    double rate;
    const words_text *text;
} app;

/* ---- the model ---- */

typedef struct block {
    tsr_layer norm1, query, key, value, out, norm2, up, down;
} block;

typedef struct model {
    const app *a;
    tsr_params *params;
    tsr_tensor *pieces, *positions;
    block block[LAYERS];
    tsr_layer norm, head;
} model;

static tsr_status make_model(tsr_mesh *mesh, const app *a, model *m)
{
    const tsr_style column = {TSR_STYLE_COLUMN, "model?"}, row = {TSR_STYLE_ROW, "model?"};
    const tsr_style whole = {0};
    const int64_t d = a->width;
    char name[32];
    tsr_params *p;

    *m = (model){.a = a};
    if (tsr_params_new(mesh, a->o.dtype, a->o.seed, &m->params) != TSR_OK)
        return tsr_mesh_status(mesh);
    p = m->params;
    m->pieces = tsr_table_layer(p, "pieces", a->vocabulary, d, 0.05, false, row);
    m->positions = tsr_table_layer(p, "positions", a->length, d, 0.05, false, whole);
    for (int i = 0; i < a->layers; i++) {
        block *b = &m->block[i];
#define NAMED(what) (snprintf(name, sizeof name, "%d.%s", i, what), name)

        b->norm1 = tsr_norm_layer(p, NAMED("norm1"), d);
        b->query = tsr_linear_layer(p, NAMED("query"), d, d, true, column);
        b->key = tsr_linear_layer(p, NAMED("key"), d, d, true, column);
        b->value = tsr_linear_layer(p, NAMED("value"), d, d, true, column);
        b->out = tsr_linear_layer(p, NAMED("out"), d, d, true, row);
        b->norm2 = tsr_norm_layer(p, NAMED("norm2"), d);
        b->up = tsr_linear_layer(p, NAMED("up"), d, 4 * d, true, column);
        b->down = tsr_linear_layer(p, NAMED("down"), 4 * d, d, true, row);
#undef NAMED
    }
    m->norm = tsr_norm_layer(p, "norm", d);
    m->head = tsr_linear_layer(p, "head", d, a->vocabulary, false, column);
    return tsr_mesh_status(mesh);
}

static tsr_tensor *linear(tsr_layer l, tsr_tensor *x)
{
    return tsr_linear(x, l.weight, l.bias);
}

static tsr_tensor *norm(tsr_layer l, tsr_tensor *x)
{
    return tsr_layer_norm(x, l.weight, l.bias, 1, 1e-5, NULL, NULL);
}

/* [samples, length, width] as [samples, heads, length, width / heads] */
static tsr_tensor *by_heads(const app *a, tsr_tensor *x)
{
    const int64_t n = tsr_tensor_spec(x)->shape.size[0];
    const int64_t sizes[] = {n, a->length, a->heads, a->width / a->heads};

    return tsr_transpose(tsr_reshape(x, sizes, 4), 1, 2);
}

static tsr_tensor *attend(const model *m, const block *b, tsr_tensor *x)
{
    const app *a = m->a;
    const int64_t sizes[] = {tsr_tensor_spec(x)->shape.size[0], a->length, a->width};
    tsr_attention_opts opts = tsr_attention_opts_default();
    tsr_tensor *y;

    opts.causal = true;
    y = tsr_attention(by_heads(a, linear(b->query, x)), by_heads(a, linear(b->key, x)),
                      by_heads(a, linear(b->value, x)), NULL, &opts, NULL);
    return linear(b->out, tsr_reshape(tsr_transpose(y, 1, 2), sizes, 3));
}

/* Logits [samples, length, vocabulary] of what follows each of the pieces [samples, length]. */
static tsr_tensor *forward(const model *m, tsr_tensor *ids)
{
    tsr_tensor *x = tsr_embedding(m->pieces, ids, NULL);

    x = tsr_redistribute_by_name(tsr_add(x, m->positions), between);
    for (int i = 0; i < m->a->layers; i++) {
        const block *b = &m->block[i];

        x = tsr_add(x, tsr_redistribute_by_name(attend(m, b, norm(b->norm1, x)), between));
        x = tsr_add(
            x, tsr_redistribute_by_name(
                   linear(b->down, tsr_gelu(linear(b->up, norm(b->norm2, x)), true)), between));
    }
    return linear(m->head, norm(m->norm, x));
}

/* ---- data ---- */

/* Rows of length + 1 pieces, each `stride` further into the text. */
static tsr_status make_rows(tsr_mesh *mesh, const int32_t *text, int64_t n, int64_t length,
                            int64_t stride, tsr_dataset **out)
{
    const int64_t rows = (n - 1 - length) / stride + 1;
    const size_t bytes = (size_t)(rows * (length + 1)) * sizeof(int32_t);
    int32_t *all = malloc(bytes);
    tsr_status st = TSR_ERR_MEMORY;

    for (int64_t i = 0; i < rows && all; i++)
        memcpy(all + i * (length + 1), text + i * stride, (size_t)(length + 1) * sizeof *all);
    if (all)
        st = tsr_dataset_from_host(mesh, TSR_I32, &(tsr_shape){2, {rows, length + 1}}, all, bytes,
                                   out);
    free(all);
    return st;
}

/* A batch of rows as what the model reads and what it should say. */
static void take_batch(const app *a, const tsr_dataset *rows, const tsr_batches *b, int64_t i,
                       const char *places, tsr_tensor **ids, tsr_tensor **targets)
{
    const int64_t n = tsr_batches_count(b);
    tsr_tensor *x = tsr_batch(rows, b, i / n, i % n, places);

    *ids = tsr_narrow(x, 1, 0, a->length);
    *targets = tsr_narrow(x, 1, 1, a->length);
}

/* ---- how good it is ---- */

/* Minus the mean logarithm of the probability of held-out pieces. Rows overlap by half, and of each
   but the first only the second half counts: every piece has half a row before it. */
static tsr_status held_out_loss(tsr_mesh *mesh, const model *m, const char *places, double *out)
{
    const app *a = m->a;
    const int64_t half = a->length / 2;
    tsr_batches b = {.size = a->o.batch, .in_order = true, .keep_last = true};
    tsr_dataset *rows = NULL;
    double sum = 0, value = 0;
    int64_t count = 0;
    tsr_class_opts sums = tsr_class_opts_default();
    tsr_status st = make_rows(mesh, a->text->held, a->text->n_held, a->length, half, &rows);

    sums.reduction = TSR_LOSS_SUM;
    b.samples = st == TSR_OK ? tsr_dataset_shape(rows)->size[0] : 0;
    for (int64_t i = 0; i < tsr_batches_count(&b) && st == TSR_OK; i++) {
        tsr_tensor *ids, *targets, *logits, *loss;

        tsr_scope_push(mesh);
        take_batch(a, rows, &b, i, places, &ids, &targets);
        logits = tsr_narrow(forward(m, ids), 1, half, a->length - half);
        loss = tsr_cross_entropy(logits, tsr_narrow(targets, 1, half, a->length - half), NULL,
                                 &sums, NULL, NULL);
        st = tsr_to_host(tsr_cast(loss, TSR_F64), &value, sizeof value);
        sum += value;
        count += st == TSR_OK ? tsr_tensor_spec(ids)->shape.size[0] * (a->length - half) : 0;
        tsr_scope_pop(mesh);
    }
    tsr_dataset_free(rows);
    *out = count ? sum / (double)count : NAN;
    return st;
}

/* All ranks have the same logits, so all draw the same pieces. */
static tsr_status write_lines(tsr_mesh *mesh, const model *m)
{
    const app *a = m->a;
    const words_text *t = a->text;
    const size_t bytes = (size_t)a->vocabulary * sizeof(double);
    int32_t *ids = calloc((size_t)a->length, sizeof *ids);
    double *logits = malloc(bytes);
    char spec[64];
    int64_t n = 1; /* pieces so far; the first ends a line */
    tsr_status st = ids && logits ? TSR_OK : TSR_ERR_MEMORY;

    snprintf(spec, sizeof spec, "i32[1,%" PRId64 "]", a->length);
    for (int64_t i = 0; i < a->sample && st == TSR_OK; i++) {
        tsr_tensor *x;

        tsr_scope_push(mesh);
        x = forward(m, tsr_from_host(mesh, spec, ids, (size_t)a->length * sizeof *ids));
        st = tsr_to_host(tsr_cast(tsr_narrow(x, 1, n - 1, 1), TSR_F64), logits, bytes);
        tsr_scope_pop(mesh);
        if (n == a->length) /* the window moves on */
            memmove(ids, ids + 1, (size_t)--n * sizeof *ids);
        ids[n++] = st == TSR_OK ? words_draw(t, logits, a->o.seed, i) : 0;
        if (tsr_mesh_index(mesh) == 0)
            printf("%.*s", t->piece[ids[n - 1]].length, t->piece[ids[n - 1]].text);
    }
    if (tsr_mesh_index(mesh) == 0)
        printf("\n\n");
    free(ids);
    free(logits);
    return st;
}

/* ---- training ---- */

static void take_step(const model *m, tsr_optimizer *optimizer, const tsr_dataset *rows,
                      const tsr_batches *b, const char *places, int64_t step, training *t)
{
    const app *a = m->a;
    tsr_schedule schedule = tsr_schedule_default(TSR_SCHEDULE_COSINE);
    tsr_mesh *mesh = tsr_tensor_mesh(m->pieces);
    tsr_tensor *ids, *targets, *loss;

    schedule.lr = a->rate;
    schedule.warmup = 100;
    schedule.steps = a->o.steps;
    schedule.last = a->rate / 20;
    tsr_scope_push(mesh);
    tsr_tape_begin(mesh);
    take_batch(a, rows, b, step, places, &ids, &targets);
    loss = tsr_cross_entropy(forward(m, ids), targets, NULL, NULL, NULL, NULL);
    tsr_backward(loss);
    tsr_clip_grad_norm(tsr_params_list(m->params), tsr_params_count(m->params), 1, NULL);
    tsr_optimizer_lr_set(optimizer, tsr_schedule_lr(&schedule, step));
    tsr_optimizer_step(optimizer);
    training_loss(t, loss);
    tsr_scope_pop(mesh);
}

/* Trains the model, and says how far it came. *done: nobody pressed ctrl-C. */
static tsr_status train(tsr_mesh *mesh, const model *m, const char *places, bool *done)
{
    const app *a = m->a;
    tsr_batches b = {.size = a->o.batch, .seed = a->o.seed};
    tsr_optimizer *optimizer = NULL;
    tsr_dataset *rows = NULL;
    training *t;
    int64_t step;
    tsr_optimizer_opts adamw = tsr_optimizer_opts_default(TSR_ADAMW);
    tsr_status st = make_rows(mesh, a->text->train, a->text->n_train, a->length, a->length, &rows);

    adamw.lr = a->rate;
    b.samples = st == TSR_OK ? tsr_dataset_shape(rows)->size[0] : 0;
    if (st == TSR_OK)
        st = tsr_batches_check(rows, &b, places);
    if (st == TSR_OK)
        st = tsr_optimizer_new(mesh, &adamw, tsr_params_list(m->params),
                               tsr_params_count(m->params), &optimizer);
    if (st == TSR_OK) {
        t = training_begin(mesh, "words", &a->o);
        while (training_next(t, &step))
            take_step(m, optimizer, rows, &b, places, step, t);
        *done = !training_stopped(t);
        st = training_end(t);
    }
    tsr_optimizer_free(optimizer);
    tsr_dataset_free(rows);
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    const app *a = arg;
    const double bits = (double)a->text->n_held / (double)a->text->held_bytes / log(2);
    char places[TSR_TEXT_LEN];
    double loss, base;
    bool done = false;
    model m;
    tsr_status st = make_model(mesh, a, &m);

    tsr_placements_by_name(mesh, "data?=S(0)", places, sizeof places);
    if (st == TSR_OK)
        st = train(mesh, &m, places, &done);
    done = done && a->sample > 0;
    if (st == TSR_OK && done)
        st = held_out_loss(mesh, &m, places, &loss);
    if (st == TSR_OK && done && tsr_mesh_index(mesh) == 0) {
        base = words_trigram_loss(a->text);
        printf("%-28s %.4f (%.3f bits per letter)\n%-28s %.4f (%.3f bits per letter)\n\n",
               "loss on held-out lines", loss, loss * bits, "of a 3-gram model", base, base * bits);
    }
    if (st == TSR_OK && done)
        st = write_lines(mesh, &m);
    tsr_params_free(m.params);
    return st;
}

int main(int argc, char **argv)
{
    app a = {.o = {.steps = 3000, .batch = 32, .seed = 1, .data = "build/data/words.txt"},
             .vocabulary = 1024,
             .length = 64,
             .width = 128,
             .heads = 4,
             .layers = 4,
             .sample = 250,
             .rate = 2e-3};
    const train_extra extra[] = {
        {"--pieces", "of the vocabulary (1024)", &a.vocabulary, NULL, NULL},
        {"--length", "pieces that the model sees (64)", &a.length, NULL, NULL},
        {"--width", "features of a piece (128)", &a.width, NULL, NULL},
        {"--heads", "of attention (4)", &a.heads, NULL, NULL},
        {"--layers", "blocks (4)", &a.layers, NULL, NULL},
        {"--sample", "pieces to write at the end; 0: just train (250)", &a.sample, NULL, NULL},
        {"--rate", "of learning, at the most (0.002)", NULL, &a.rate, NULL},
        {.name = NULL}};
    int status = train_parse(&argc, argv, "A transformer learns to continue a text.", &a.o, extra);
    words_text *text;

    if (status >= 0)
        return status;
    if (a.layers < 1 || a.layers > LAYERS || a.heads < 1 || a.width % a.heads || a.length < 2) {
        fprintf(stderr,
                "words: 1 to %d layers, heads that divide the width, a length of 2 or more\n",
                LAYERS);
        return 2;
    }
    text = words_open(a.o.data, (int)a.vocabulary);
    if (!text)
        return 1;
    a.text = text;
    status = tsr_main(argc, argv, "data=1,model=2", job, &a);
    words_close(text);
    return status;
}
