/* SPDX-License-Identifier: Apache-2.0 */
/* bench_models.h - the models whose training steps are measured. */
#ifndef BENCH_BENCH_MODELS_H
#define BENCH_BENCH_MODELS_H

#include <tessera_train.h>

enum { BENCH_TABLES = 8, BENCH_LAYERS = 2 };

/* One layer of the transformer. */
typedef struct bench_block {
    tsr_layer norm1, norm2, q, k, v, out, up, down;
} bench_block;

typedef struct bench_model {
    tsr_mesh *mesh;
    tsr_params *params;
    tsr_optimizer *optimizer;
    tsr_tensor *x[BENCH_TABLES], *target; /* the one batch */
    tsr_tensor *table[BENCH_TABLES];
    tsr_layer layer[3];
    bench_block block[BENCH_LAYERS];
    tsr_tensor *(*loss)(struct bench_model *m);
} bench_model;

/* A model of its kind with a batch and plain SGD; its one mesh dim shares out tables by rows and
   the rest by samples, samples, or layers by columns and rows. What it holds is freed by
   bench_model_close, also after a failure. */
typedef tsr_status bench_model_open(tsr_mesh *mesh, bench_model *m);
bench_model_open bench_dlrm, bench_cnn, bench_transformer;
void bench_model_close(bench_model *m);
/* Forward, backward, update. Collective. */
tsr_status bench_model_step(bench_model *m);

#endif
