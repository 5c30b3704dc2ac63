/* SPDX-License-Identifier: Apache-2.0 */
/* clicks.c - a recommender learns which packages of Debian depend on which (data/README.md), from
   pairs, names, sections and maintainers, in the way of DLRM: an embedding of everything that is
   known of a pair, their products, and a small network on top. Then it ranks dependencies that it
   has not seen, and is compared with ranking by popularity.

     build/examples/clicks                               2 thread ranks share batches and tables
     build/examples/clicks --mesh=4                      4 share batches and have all tables
     tools/mpirun -n 4 build/examples/clicks --mesh=2x2

   The batch is shared out along all mesh dims. Large tables are along "model", by rows, and of
   their gradients only the rows that a batch names exist; small ones are on every rank. All
   lookups of a step are one exchange. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clicks_data.h"
#include "training.h"

enum { NEGATIVES = 4, LARGE = 1000 }; /* rows of a table that is shared out */

typedef struct app {
    train_options o;
    int64_t width;
    double rate, table_rate;
} app;

/* ---- the model ---- */

typedef struct model {
    const app *a;
    const clicks_data *data;
    tsr_mesh *mesh;
    char places[TSR_TEXT_LEN]; /* of a batch */
    tsr_params *tables, *params;
    tsr_tensor *table[CLICKS_TABLES];
    tsr_layer first, second, last;
} model;

static const char *const table_name[CLICKS_TABLES] = {
    "package",    "source",         "maintainer",  "section",   "pieces",
    "dependency", "its maintainer", "its section", "its pieces"};

static bool is_bag(int table)
{
    return table == CLICKS_PIECES || table == CLICKS_ITS_PIECES;
}

static tsr_status make_model(tsr_mesh *mesh, const app *a, const clicks_data *data, model *m)
{
    const tsr_style whole = {0}, rows = {TSR_STYLE_ROW, "model?"};
    const int64_t d = a->width, products = CLICKS_TABLES * CLICKS_TABLES;

    m->a = a;
    m->data = data;
    m->mesh = mesh;
    tsr_placements_by_name(mesh, "data?=S(0),model?=S(0)", m->places, sizeof m->places);
    if (tsr_params_new(mesh, a->o.dtype, a->o.seed, &m->tables) != TSR_OK ||
        tsr_params_new(mesh, a->o.dtype, a->o.seed, &m->params) != TSR_OK)
        return tsr_mesh_status(mesh);
    for (int i = 0; i < CLICKS_TABLES; i++)
        m->table[i] = tsr_table_layer(m->tables, table_name[i], clicks_rows(data, i), d, 0.1, true,
                                      clicks_rows(data, i) >= LARGE ? rows : whole);
    m->first = tsr_linear_layer(m->params, "first", products + CLICKS_TABLES * d, 128, true, whole);
    m->second = tsr_linear_layer(m->params, "second", 128, 64, true, whole);
    m->last = tsr_linear_layer(m->params, "last", 64, 1, true, whole);
    return tsr_mesh_status(mesh);
}

/* An array that all ranks have, as a tensor of n rows, each rank with its part of them. */
static tsr_tensor *rows_of(const model *m, tsr_dtype dtype, int64_t n, int bag, const void *data)
{
    char spec[2 * TSR_TEXT_LEN];

    if (bag)
        snprintf(spec, sizeof spec, "%s[%" PRId64 ",%d]@%s", tsr_dtype_name(dtype), n, bag,
                 m->places);
    else
        snprintf(spec, sizeof spec, "%s[%" PRId64 "]@%s", tsr_dtype_name(dtype), n, m->places);
    return tsr_from_host(m->mesh, spec, data,
                         (size_t)(n * (bag ? bag : 1)) * tsr_dtype_size(dtype));
}

/* Logits of pairs [n]: that the package has the dependency. */
static tsr_tensor *forward(const model *m, const clicks_pairs *pairs, int32_t *ids)
{
    tsr_embedding_opts no_piece = tsr_embedding_opts_default();
    const int64_t n = pairs->n, d = m->a->width;
    const int64_t flat[] = {n, CLICKS_TABLES * d}, square[] = {n, CLICKS_TABLES * CLICKS_TABLES};
    tsr_table_use use[CLICKS_TABLES];
    tsr_tensor *row[CLICKS_TABLES], *x, *both[2];

    no_piece.has_padding_idx = true; /* row 0 */
    for (int i = 0; i < CLICKS_TABLES; i++) {
        clicks_ids(m->data, i, pairs, ids);
        use[i] = (tsr_table_use){.table = m->table[i],
                                 .ids = rows_of(m, TSR_I32, n, is_bag(i) ? CLICKS_BAG : 0, ids)};
        if (is_bag(i)) {
            use[i].pooling = TSR_BAG_MEAN;
            use[i].opts = &no_piece;
        }
    }
    if (tsr_lookup_group(use, CLICKS_TABLES, row) != TSR_OK)
        return NULL;
    x = tsr_stack(row, CLICKS_TABLES, 1); /* [n, tables, width] */
    both[0] = tsr_reshape(tsr_bmm(x, tsr_transpose(x, 1, 2)), square, 2);
    both[1] = tsr_reshape(x, flat, 2);
    x = tsr_cat(both, 2, 1);
    x = tsr_silu(tsr_linear(x, m->first.weight, m->first.bias));
    x = tsr_silu(tsr_linear(x, m->second.weight, m->second.bias));
    return tsr_reshape(tsr_linear(x, m->last.weight, m->last.bias), &n, 1);
}

/* ---- how good it is ---- */

/* Scores of held-out pairs, those that packages have or others. */
static tsr_status score(const model *m, bool has, clicks_pairs *pairs, int32_t *ids, double *out)
{
    const int64_t all = clicks_held_pairs(m->data);
    double *some = malloc((size_t)pairs->n * sizeof *some);
    tsr_status st = some ? TSR_OK : TSR_ERR_MEMORY;

    for (int64_t first = 0; first < all && st == TSR_OK; first += pairs->n) {
        tsr_scope_push(m->mesh);
        clicks_held(m->data, has, first, pairs);
        st = tsr_to_host(tsr_cast(forward(m, pairs, ids), TSR_F64), some,
                         (size_t)pairs->n * sizeof *some);
        tsr_scope_pop(m->mesh);
        for (int64_t i = 0; i < pairs->n && first + i < all; i++)
            out[first + i] = some[i];
    }
    free(some);
    return st;
}

static tsr_status compare(const model *m, clicks_pairs *pairs, int32_t *ids)
{
    const int64_t all = clicks_held_pairs(m->data);
    double *yes = malloc((size_t)all * sizeof *yes), *no = malloc((size_t)all * sizeof *no);
    tsr_status st = yes && no ? TSR_OK : TSR_ERR_MEMORY;

    if (st == TSR_OK)
        st = score(m, true, pairs, ids, yes);
    if (st == TSR_OK)
        st = score(m, false, pairs, ids, no);
    if (st == TSR_OK && tsr_mesh_index(m->mesh) == 0)
        printf("%-28s %.4f\n%-28s %.4f\n", "AUC of held-out pairs", clicks_auc(yes, no, all),
               "of ranking by popularity", clicks_popularity_auc(m->data));
    free(yes);
    free(no);
    return st;
}

/* ---- training ---- */

static void take_step(const model *m, tsr_optimizer *const optimizer[2], int64_t step,
                      clicks_pairs *pairs, int32_t *ids, training *t)
{
    tsr_tensor *loss, *has;

    tsr_scope_push(m->mesh);
    tsr_tape_begin(m->mesh);
    clicks_draw(m->data, m->a->o.seed, step, NEGATIVES, pairs);
    has = tsr_cast(rows_of(m, TSR_F32, pairs->n, 0, pairs->has), m->a->o.dtype);
    loss = tsr_bce_with_logits(forward(m, pairs, ids), has, NULL, NULL, TSR_LOSS_MEAN);
    tsr_backward(loss);
    tsr_optimizer_step(optimizer[0]);
    tsr_optimizer_step(optimizer[1]);
    training_loss(t, loss);
    tsr_scope_pop(m->mesh);
}

static tsr_status make_optimizers(const model *m, tsr_optimizer *out[2])
{
    tsr_optimizer_opts by_rows = tsr_optimizer_opts_default(TSR_ADAGRAD);
    tsr_optimizer_opts adam = tsr_optimizer_opts_default(TSR_ADAM);
    tsr_status st;

    by_rows.rowwise = true;
    by_rows.lr = m->a->table_rate;
    adam.lr = m->a->rate;
    by_rows.eps = adam.eps = 1e-6;
    st = tsr_optimizer_new(m->mesh, &by_rows, tsr_params_list(m->tables),
                           tsr_params_count(m->tables), &out[0]);
    if (st == TSR_OK)
        st = tsr_optimizer_new(m->mesh, &adam, tsr_params_list(m->params),
                               tsr_params_count(m->params), &out[1]);
    return st;
}

/* *done: nobody pressed ctrl-C. */
static tsr_status train(const model *m, clicks_pairs *pairs, int32_t *ids, bool *done)
{
    tsr_optimizer *optimizer[2] = {NULL, NULL};
    training *t;
    int64_t step;
    tsr_status st = make_optimizers(m, optimizer);

    if (st == TSR_OK) {
        t = training_begin(m->mesh, "clicks", &m->a->o);
        while (training_next(t, &step))
            take_step(m, optimizer, step, pairs, ids, t);
        *done = !training_stopped(t);
        st = training_end(t);
    }
    tsr_optimizer_free(optimizer[0]);
    tsr_optimizer_free(optimizer[1]);
    return st;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    const app *a = arg;
    clicks_pairs pairs = clicks_pairs_new(a->o.batch);
    int32_t *ids = malloc((size_t)(a->o.batch * CLICKS_BAG) * sizeof *ids);
    clicks_data *data = NULL;
    bool done = false;
    model m = {0};
    tsr_status st = TSR_ERR_MEMORY;

    if (ids && pairs.package && pairs.dependency && pairs.has)
        st = clicks_open(mesh, a->o.data, &data);
    if (st == TSR_OK)
        st = make_model(mesh, a, data, &m);
    if (st == TSR_OK)
        st = clicks_check(data, a->o.batch, m.places);
    if (st == TSR_OK)
        st = train(&m, &pairs, ids, &done);
    if (st == TSR_OK && done)
        st = compare(&m, &pairs, ids);
    tsr_params_free(m.tables);
    tsr_params_free(m.params);
    clicks_close(data);
    clicks_pairs_free(&pairs);
    free(ids);
    return st;
}

int main(int argc, char **argv)
{
    app a = {.o = {.steps = 1500, .batch = 1280, .seed = 1, .data = "examples/data"},
             .width = 32,
             .rate = 1e-3,
             .table_rate = 0.05};
    const train_extra extra[] = {
        {"--width", "features of a row of the tables (32)", &a.width, NULL, NULL},
        {"--rate", "of learning, of the network (0.001)", NULL, &a.rate, NULL},
        {"--table-rate", "of the tables (0.05)", NULL, &a.table_rate, NULL},
        {.name = NULL}};
    const int status = train_parse(
        &argc, argv, "A recommender learns which packages depend on which.", &a.o, extra);

    if (status >= 0)
        return status;
    if (a.o.batch % (1 + NEGATIVES) || a.width < 1) {
        fprintf(stderr, "clicks: the batch is a multiple of %d, the width 1 or more\n",
                1 + NEGATIVES);
        return 2;
    }
    return tsr_main(argc, argv, "data=1,model=2", job, &a);
}
