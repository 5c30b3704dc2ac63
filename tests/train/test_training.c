/* SPDX-License-Identifier: Apache-2.0 */
/* test_training.c - steps of a small model that has everything: a convolution of sharded images,
   batch norm, a table by rows, column and row parallel layers, clipping and two optimizers. A rank
   that fails in one of them ends all ranks, in time, and nothing stays behind; a thousand steps
   need no more memory than twenty. Killed ranks: training_test.sh. */
#include <stdatomic.h>

#include "support/test.h"
#include "support/fault_driver.h"
#include "support/sampling.h"

enum { BATCH = 8, SIDE = 6, CHANNELS = 4, WIDTH = 16, CLASSES = 5, WORDS = 20, MOST_PARAMS = 16 };

static const char MESH[] = "data=2,model=2";

/* ---- the model ---- */

typedef struct model {
    tsr_params *layers, *tables; /* which have an optimizer each */
    tsr_layer conv, norm, wide, out;
    tsr_tensor *table, *mean, *var;
    tsr_optimizer *adam, *adagrad;
    tsr_tensor *all[MOST_PARAMS]; /* what is clipped together */
    int n;
} model;

static tsr_status make_layers(tsr_mesh *mesh, model *m)
{
    const tsr_style whole = {TSR_STYLE_WHOLE, NULL};

    if (tsr_params_new(mesh, TSR_F32, 1, &m->layers) != TSR_OK ||
        tsr_params_new(mesh, TSR_F32, 2, &m->tables) != TSR_OK)
        return tsr_mesh_status(mesh);
    m->conv = tsr_conv_layer(m->layers, "conv", 1, CHANNELS, 3, false, whole);
    m->norm = tsr_norm_layer(m->layers, "norm", CHANNELS);
    m->wide = tsr_linear_layer(m->layers, "wide", CHANNELS * SIDE * SIDE, WIDTH, true,
                               (tsr_style){TSR_STYLE_COLUMN, "model"});
    m->out = tsr_linear_layer(m->layers, "out", WIDTH, CLASSES, true,
                              (tsr_style){TSR_STYLE_ROW, "model"});
    m->table = tsr_table_layer(m->tables, "table", WORDS, WIDTH, 1, true,
                               (tsr_style){TSR_STYLE_ROW, "model"});
    m->mean = tsr_keep(tsr_zeros(mesh, "f32[4]"));
    m->var = tsr_keep(tsr_full(mesh, "f32[4]", 1));
    return tsr_mesh_status(mesh);
}

static tsr_status make_model(tsr_mesh *mesh, model *m)
{
    const tsr_params *params[2];

    if (make_layers(mesh, m) != TSR_OK)
        return tsr_mesh_status(mesh);
    params[0] = m->layers;
    params[1] = m->tables;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < tsr_params_count(params[k]); i++)
            m->all[m->n++] = tsr_params_list(params[k])[i];
    if (tsr_optimizer_new(mesh, &(tsr_optimizer_opts)OPTIMIZER_OPTS(TSR_ADAM, .states = "data"),
                          tsr_params_list(m->layers), tsr_params_count(m->layers),
                          &m->adam) == TSR_OK)
        tsr_optimizer_new(mesh, &(tsr_optimizer_opts)OPTIMIZER_OPTS(TSR_ADAGRAD, .rowwise = true),
                          tsr_params_list(m->tables), 1, &m->adagrad);
    return tsr_mesh_status(mesh);
}

static void free_model(model *m)
{
    tsr_optimizer_free(m->adam);
    tsr_optimizer_free(m->adagrad);
    tsr_unref(m->mean);
    tsr_unref(m->var);
    tsr_params_free(m->layers);
    tsr_params_free(m->tables);
}

static tsr_tensor *run_model(tsr_mesh *mesh, const model *m, int64_t step)
{
    int64_t words[BATCH], classes[BATCH];
    tsr_tensor *x = tsr_sin(tsr_arange(mesh, "f32[8,1,6,6]@[S(0),S(2)]", (double)(step % 7), 0.7));

    for (int i = 0; i < BATCH; i++) {
        words[i] = (i * i + step) % WORDS;
        classes[i] = words[i] % CLASSES; /* there is something to learn */
    }
    x = tsr_conv(x, m->conv.weight, NULL, &(tsr_conv_opts)CONV_OPTS(.padding = {1, 1}));
    x = tsr_batch_norm(x, m->norm.weight, m->norm.bias, m->mean, m->var, NULL, NULL, NULL);
    x = tsr_flatten(tsr_redistribute_by_name(tsr_relu(x), "model=R"), 1, -1);
    x = tsr_relu(tsr_linear(x, m->wide.weight, m->wide.bias));
    x = tsr_mul(x, tsr_embedding(m->table, from_host(mesh, "i64[8]@[S(0),R]", words), NULL));
    x = tsr_linear(x, m->out.weight, m->out.bias);
    return tsr_cross_entropy(x, from_host(mesh, "i64[8]@[S(0),R]", classes), NULL, NULL, NULL,
                             NULL);
}

/* NAN if something failed, which the mesh was told. What comes after a failure is called too, as
   programs do, unless it may not leave plans of calls that never were in the caches. */
static double take_step(tsr_mesh *mesh, const model *m, int64_t step, bool careful)
{
    tsr_tensor *loss;
    float value = NAN;

    if (tsr_scope_push(mesh) != TSR_OK)
        return NAN;
    if (tsr_tape_begin(mesh) == TSR_OK) {
        loss = run_model(mesh, m, step);
        if ((tsr_backward(loss) == TSR_OK || !careful) &&
            (tsr_clip_grad_norm(m->all, m->n, 1, NULL) == TSR_OK || !careful) &&
            (tsr_optimizer_step(m->adam) == TSR_OK || !careful))
            tsr_optimizer_step(m->adagrad);
        if (tsr_to_host(loss, &value, sizeof value) != TSR_OK)
            value = NAN;
    }
    tsr_scope_pop(mesh);
    return value;
}

/* All from the model's making to its end. */
static tsr_status train_shortly(tsr_mesh *mesh, const void *careful)
{
    model m = {0};

    make_model(mesh, &m);
    for (int64_t step = 0; step < 2 && tsr_mesh_status(mesh) == TSR_OK; step++)
        take_step(mesh, &m, step, careful != NULL);
    free_model(&m);
    return tsr_mesh_status(mesh);
}

/* ---- a rank that fails ---- */

static const fault_job CARELESS = {
    .name = "training", .mesh = MESH, .run = train_shortly, .least = 51};
static const fault_job CAREFUL = {
    .name = "training", .mesh = MESH, .run = train_shortly, .arg = MESH, .least = 51};

static void a_call_fails(void **state)
{
    (void)state;
    fault_some(&CAREFUL, FAULT_CALL, 100);
}

static void an_allocation_fails(void **state)
{
    (void)state;
    fault_some(&CARELESS, FAULT_ALLOCATION, 100);
}

static void an_allocation_fails_later(void **state)
{
    (void)state;
    fault_some(&CAREFUL, FAULT_ALLOCATION_AGAIN, 100);
}

/* ---- no growth ---- */

typedef struct held {
    int64_t steps;
    double first, last;          /* loss */
    double early, late;          /* pages of the process that are in memory */
    atomic_int grown;            /* ranks that hold more than they did */
    int64_t blocks[4], bytes[4]; /* that they hold more */
} held;

static double resident_pages(void)
{
    double all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f && fscanf(f, "%lf %lf", &all, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident;
}

static tsr_status long_job(tsr_mesh *mesh, void *arg)
{
    held *h = arg;
    const int rank = tsr_mesh_rank(mesh);
    int64_t blocks = 0;
    size_t bytes = 0;
    model m = {0};
    double loss = 0;

    make_model(mesh, &m);
    for (int64_t step = 0; step < h->steps && tsr_mesh_status(mesh) == TSR_OK; step++) {
        loss = take_step(mesh, &m, step, true);
        if (step == 20) {
            blocks = tsr_allocations_live(mesh);
            bytes = tsr_counters_get(mesh).memory;
        }
        if (rank == 0 && step == 0)
            h->first = loss;
        if (rank == 0 && step == 200)
            h->early = resident_pages();
    }
    h->blocks[rank] = tsr_allocations_live(mesh) - blocks;
    h->bytes[rank] = (int64_t)tsr_counters_get(mesh).memory - (int64_t)bytes;
    if (h->blocks[rank] || h->bytes[rank])
        atomic_fetch_add(&h->grown, 1);
    if (rank == 0) {
        h->last = loss;
        h->late = resident_pages();
    }
    free_model(&m);
    return tsr_mesh_status(mesh);
}

static void memory_does_not_grow(void **state)
{
    const bool sanitized = is_slow_build();
    held h = {.steps = sanitized ? 100 : 1000};

    (void)state;
    pass_on(MESH, long_job, &h);
    if (h.grown)
        for (int i = 0; i < 4; i++)
            print_error("rank %d holds %lld blocks and %lld bytes more\n", i,
                        (long long)h.blocks[i], (long long)h.bytes[i]);
    assert_int_equal(h.grown, 0);
    if (!sanitized && !(h.last < h.first / 2))
        fail_msg("it learns nothing: the loss goes from %g to %g", h.first, h.last);
    if (!sanitized && !(h.early > 0 && h.late < 1.03 * h.early))
        fail_msg("from %.0f pages after 200 steps to %.0f", h.early, h.late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_fails),
        cmocka_unit_test(an_allocation_fails),
        cmocka_unit_test(an_allocation_fails_later),
        cmocka_unit_test(memory_does_not_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
