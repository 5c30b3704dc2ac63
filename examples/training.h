/* SPDX-License-Identifier: Apache-2.0 */
/* training.h - what the programs that train have in common and that has nothing to do with their
   models: the command line, a progress bar, ctrl-C, the curve and the table at the end. For
   fashion.c, clicks.c and words.c. */
#ifndef EXAMPLES_TRAINING_H
#define EXAMPLES_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include <tessera_train.h>

/* Filled with what holds without options, then by train_parse. */
typedef struct train_options {
    int64_t steps, batch;
    uint64_t seed;
    tsr_dtype dtype;    /* f32 or f64 */
    const char *svg;    /* the curve goes there; NULL: nowhere */
    const char *losses; /* every loss, one per line */
    const char *data;   /* folder or file */
} train_options;

/* An option of one program: exactly one of the pointers is set. */
typedef struct train_extra {
    const char *name, *help; /* "--width", "features of a layer" */
    int64_t *number;
    double *real;
    const char **text;
} train_extra;

/* Returns -1 if the program should go on, else its exit status: --help, or a mistake. Takes its
   options out of argv and leaves those of tsr_main. extra ends with a row without name, and may be
   NULL. */
int train_parse(int *argc, char **argv, const char *about, train_options *o,
                const train_extra *extra);

/* The state of one rank. The functions may be called after a failure; they then do nothing. */
typedef struct training training;

/* NULL if there is no memory, which the mesh is told. */
training *training_begin(tsr_mesh *mesh, const char *title, const train_options *o);
/* Shall there be another step? Its number from 0, the same on all ranks. False: there were as many
   as asked for, someone pressed ctrl-C, or something failed. Collective. */
bool training_next(training *t, int64_t *step);
/* The loss of the step, a tensor of one f32 or f64. Collective. */
void training_loss(training *t, tsr_tensor *loss);
/* A line on the first rank's standard output; the progress bar makes room for it. */
void training_say(training *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Did ctrl-C end the steps? The same on all ranks; false of NULL. */
bool training_stopped(const training *t);
/* Shows curve and table, writes the files that were asked for, frees t. Collective. */
tsr_status training_end(training *t);

#endif
