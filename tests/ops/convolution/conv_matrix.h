/* SPDX-License-Identifier: Apache-2.0 */
/* conv_matrix.h - convolutions to try and ways to shard them, one run of a pair through the public
   API, and how much of its input a rank lacks, by plain loops. For test_conv.c. */
#ifndef TSR_TESTS_CONV_MATRIX_H
#define TSR_TESTS_CONV_MATRIX_H

#include <tessera_ops.h>

enum { CONV_RANKS = 8, CONV_OUT = 4 }; /* results: the output, and three gradients */

typedef struct conv_config {
    const char *name;
    tsr_shape x, w;
    bool bias, no_grad_x, no_grad_w;
    tsr_conv_opts opts;
} conv_config;

/* A letter for every mesh dim:
     N  batch             C  channels of x only       I  input channels, of x and weight
     H  first of space    O  output channels, of weight, bias and gradient
     W  last of space     B  C and O at once          R  nothing */
typedef struct conv_sharding {
    const char *mesh, *by;
} conv_sharding;

extern const conv_config CONV_CONFIGS[];
extern const int CONV_N_CONFIGS;
extern const conv_sharding CONV_SHARDINGS[];
extern const int CONV_N_SHARDINGS;

typedef struct conv_run {
    const conv_config *config;
    const char *by;    /* letters; "" on one rank */
    const char *dtype; /* "f64": small integers, else "f32", any numbers */
    bool pending_free; /* partial results cost nothing */
    bool in_part;      /* on ranks 1 and 2 of 4 */
    /* what came out; values are malloced, NULL: not asked for */
    int64_t n[CONV_OUT];
    double *value[CONV_OUT];
    tsr_spec spec[CONV_OUT];
    int64_t bytes[CONV_RANKS][CONV_OUT], calls[CONV_RANKS][CONV_OUT]; /* each result alone */
    int64_t backward[CONV_RANKS]; /* bytes of the gradients by one call */
} conv_run;

/* A tsr_job: forward and gradients of a conv_run. */
tsr_status conv_job(tsr_mesh *mesh, void *arg);
void conv_free(conv_run *r);
/* NULL if the results are those of the reference: bit by bit in f64, else nearly; else what is
   wrong. */
const char *conv_compare(const conv_run *r, const conv_run *reference);

/* Did result k come by halo: output and gradient of x where the letters say, that of weight by one
   call? Else the plan has moved operands, because that is cheaper. */
bool conv_stayed(const conv_run *r, int k);

/* The ranks of a mesh, at most CONV_RANKS. */
int conv_ranks(const tsr_mesh_shape *mesh);
/* The output's shape. */
tsr_shape conv_out(const conv_config *c);
/* Elements that the rank with these coordinates lacks: of the input for its part of the output; of
   the output's gradient for its part of the input's; and that come to it when the input's
   gradient is filled from parts of the output's. For configurations that are not transposed. */
typedef enum conv_way { CONV_FORWARD, CONV_BROUGHT, CONV_SPREAD } conv_way;
int64_t conv_missing(const conv_config *c, const tsr_mesh_shape *mesh, const char *by, int index,
                     conv_way way);

#endif
