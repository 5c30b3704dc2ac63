/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_train.h - training: gradients of whole programs, optimizers, data, and where the parts of
   a model live. Beside tessera.h and tessera_ops.h, whose words it uses. */
#ifndef TESSERA_TRAIN_H
#define TESSERA_TRAIN_H

#include <tessera_ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- gradients ------------------------------------------------------------------------------- */

/* A watched tensor is one whose gradient is wanted: a weight. While a tape is on, calls whose
   inputs depend on watched tensors are written down; tsr_backward goes through them from the last
   to the first, by ops that are propagated and sharded like any other, and adds to the gradients of
   the watched tensors. A gradient is a tensor of the same shape and dtype as its tensor and of any
   placements: one that is P(sum) has not been reduced, and nothing needs to be reduced by hand.
   A step of training is tsr_tape_begin, the model, tsr_backward(loss), tsr_optimizer_step. */

/* Watch x from now on; no-op if it is. Floating point only. Returns x. Local. */
TSR_API tsr_tensor *tsr_watch(tsr_tensor *x);
/* The same for a table whose gradient is to be row-sparse, wherever its lookups support that
   (tsr_embedding, tsr_bag_sum, tsr_bag_mean, alone or in groups); gradients of other ops are
   dense. Returns x. Local. */
TSR_API tsr_tensor *tsr_watch_sparse(tsr_tensor *table);
TSR_API bool tsr_is_watched(const tsr_tensor *x); /* Local. */

/* Begin a tape, and a scope with it. There is one at a time. Local. */
TSR_API tsr_status tsr_tape_begin(tsr_mesh *mesh);
/* The gradient of loss, one number, with respect to all watched tensors that it depends on, added
   to the gradients that they have; with n tensors and their gradients (NULL: ones), of their sum.
   This ends the tape and its scope: it frees every tensor created since tsr_tape_begin, each as
   soon as no gradient needs it, except kept ones and the given ones, which move to the outer scope.
   An error if a tensor that a gradient needs was overwritten meanwhile. Collective. */
TSR_API tsr_status tsr_backward(tsr_tensor *loss);
TSR_API tsr_status tsr_backward_from(tsr_tensor *const *x, tsr_tensor *const *grads, int n);
/* End the tape and its scope without a backward pass; no-op if there is none. Local. */
TSR_API void tsr_tape_drop(tsr_mesh *mesh);

/* Between these two nothing is recorded; they nest. Local. */
TSR_API void tsr_tape_pause(tsr_mesh *mesh);
TSR_API void tsr_tape_resume(tsr_mesh *mesh);
/* x as a tensor of its own, through which no gradient flows. Local. */
TSR_API tsr_tensor *tsr_detach(tsr_tensor *x);

/* The gradient of a watched tensor so far, borrowed: NULL if there is none. Local. */
TSR_API tsr_tensor *tsr_grad(const tsr_tensor *x);
/* What came as row-sparse gradients, one for every lookup, borrowed; *n is how many. Local. */
TSR_API const tsr_row_sparse *tsr_grad_sparse(const tsr_tensor *table, int *n);
TSR_API void tsr_grad_clear(tsr_tensor *x); /* Local. */
/* Make g the gradient of x. Local. */
TSR_API tsr_status tsr_grad_set(tsr_tensor *x, tsr_tensor *g);

/* Activation checkpointing: function(in), of which the tape saves only the inputs; backward runs it
   again. It may use its inputs, watched tensors and tensors through which no gradient flows. It
   returns one tensor, and must do the same when it is run again; arg must stay valid until then.
   Collective. */
typedef tsr_tensor *(*tsr_function)(tsr_tensor *const *in, int n_in, void *arg);
TSR_API tsr_tensor *tsr_recompute(tsr_function function, tsr_tensor *const *in, int n_in,
                                  void *arg);

/* ---- optimizers ------------------------------------------------------------------------------ */

typedef enum tsr_optimizer_kind {
    TSR_SGD = 0,
    TSR_ADAM = 1,
    TSR_ADAMW = 2,
    TSR_ADAGRAD = 3
} tsr_optimizer_kind;

/* What PyTorch's optimizers of these names do; defaults depend on the kind. */
typedef struct tsr_optimizer_opts {
    size_t size; /* of this struct */
    tsr_optimizer_kind kind;
    double lr;       /* learning rate: 0.001, of Adagrad 0.01 */
    double momentum; /* of SGD, with dampening and nesterov: none */
    double dampening;
    bool nesterov;
    double beta1, beta2; /* of Adam: 0.9 and 0.999 */
    double eps;          /* 1e-8, of Adagrad 1e-10 */
    double decay;        /* of weights: none, of AdamW 0.01 */
    double lr_decay;     /* of Adagrad: none */
    double first_sum;    /* of Adagrad, what its sums begin with: 0 */
    /* Where the states are that an optimizer keeps for each parameter. NULL: where that is. "data":
       along the mesh dim of that name sharded further, where the parameter is not. "[S(0),R]": so.
       Each step redistributes gradients to the states and the updates back to the parameters. Not
       of tables by rows, whose states are where the rows are. */
    const char *states;
    bool half_states; /* states of f16 and bf16 parameters are of their type; default: f32 */
    bool rowwise;     /* Adagrad of tables by rows keeps one sum per row, of the mean square */
} tsr_optimizer_opts;

static inline tsr_optimizer_opts tsr_optimizer_opts_default(tsr_optimizer_kind kind)
{
    tsr_optimizer_opts opts = {sizeof(tsr_optimizer_opts),
                               kind,
                               kind == TSR_ADAGRAD ? 1e-2 : 1e-3,
                               0,
                               0,
                               false,
                               0.9,
                               0.999,
                               kind == TSR_ADAGRAD ? 1e-10 : 1e-8,
                               kind == TSR_ADAMW ? 1e-2 : 0,
                               0,
                               0,
                               NULL,
                               false,
                               false};

    return opts;
}

typedef struct tsr_optimizer tsr_optimizer;

/* Of n watched parameters, which it refers to until tsr_optimizer_free, before the job ends. opts
   NULL: those of SGD. Tables watched by rows: SGD without momentum, or Adagrad, both without decay,
   which change only rows that a lookup read. Local, the same on all ranks. */
TSR_API tsr_status tsr_optimizer_new(tsr_mesh *mesh, const tsr_optimizer_opts *opts,
                                     tsr_tensor *const *params, int n, tsr_optimizer **out);
TSR_API void tsr_optimizer_free(tsr_optimizer *optimizer); /* Local. NULL is fine. */
/* Change all parameters that have a gradient by it, and clear that. Nothing of it is recorded on a
   tape. After an error that was not cleared it does nothing and gives that. Collective. */
TSR_API tsr_status tsr_optimizer_step(tsr_optimizer *optimizer);
TSR_API tsr_status tsr_optimizer_lr_set(tsr_optimizer *optimizer, double lr); /* Local. */
TSR_API double tsr_optimizer_lr(const tsr_optimizer *optimizer);              /* Local. */
/* State k of parameter i, borrowed: of SGD its momentum; of Adam the averages of gradient and
   square; of Adagrad the sum of squares. NULL if there is none. Local. */
TSR_API tsr_tensor *tsr_optimizer_state(const tsr_optimizer *optimizer, int i, int k);

/* How many steps parameter i has taken (those without a gradient of it do not count), -1 if there
   is no such parameter; and setting it, to continue from saved states: with the weights and states
   (tsr_copy_into) it is all that an optimizer remembers. Local, the same on all ranks. */
TSR_API int64_t tsr_optimizer_steps(const tsr_optimizer *optimizer, int i);
TSR_API tsr_status tsr_optimizer_steps_set(tsr_optimizer *optimizer, int i, int64_t steps);

/* The 2-norm of all gradients of the parameters together; if it is more than max_norm they are
   scaled down to it. Gradients that are partial are reduced for that, rows of several lookups
   merged; one number more per rank is exchanged. norm may be NULL. If it is not finite gradients
   stay as they are. Not in the sim world. Collective. */
TSR_API tsr_status tsr_clip_grad_norm(tsr_tensor *const *params, int n, double max_norm,
                                      double *norm);

typedef enum tsr_schedule_kind {
    TSR_SCHEDULE_CONSTANT = 0,
    TSR_SCHEDULE_COSINE = 1, /* cosine decay from lr to last */
    TSR_SCHEDULE_LINEAR = 2, /* linear decay from lr to last */
    TSR_SCHEDULE_STEPS = 3   /* times `factor` after every `every` steps */
} tsr_schedule_kind;

/* Learning rates by the number of the step, from 0 on. Numbers but lr are 0 by default. */
typedef struct tsr_schedule {
    size_t size; /* of this struct */
    tsr_schedule_kind kind;
    double lr;      /* the largest; default 0.001 */
    int64_t warmup; /* number of linear warm-up steps: lr / warmup, 2 lr / warmup .. lr */
    int64_t steps;  /* with those: at this one `last` is reached, and stays */
    double last;
    int64_t every; /* of STEPS, counted after the warm-up; 0: never */
    double factor;
} tsr_schedule;

static inline tsr_schedule tsr_schedule_default(tsr_schedule_kind kind)
{
    tsr_schedule schedule = {sizeof(tsr_schedule), kind, 1e-3, 0, 0, 0, 0, 0};

    return schedule;
}

/* The rate of a step; NaN of a schedule whose size is not that of this library. Pure. */
TSR_API double tsr_schedule_lr(const tsr_schedule *schedule, int64_t step);

/* ---- data ------------------------------------------------------------------------------------ */

/* Samples that every rank has in its memory: dim 0 counts them. tsr_dataset_free, before the job
   ends. */
typedef struct tsr_dataset tsr_dataset;

/* From an IDX file (as MNIST's), plain or gz, of u8, i32, f32 or f64. Every rank reads it for
   itself; what one finds wrong, or different from the others, all are told. Collective. */
TSR_API tsr_status tsr_dataset_idx(tsr_mesh *mesh, const char *path, tsr_dataset **out);
/* From an array of that many bytes that every rank has, row-major, which is copied. Local. */
TSR_API tsr_status tsr_dataset_from_host(tsr_mesh *mesh, tsr_dtype dtype, const tsr_shape *shape,
                                         const void *data, size_t bytes, tsr_dataset **out);
TSR_API tsr_dtype tsr_dataset_dtype(const tsr_dataset *data);        /* Local. */
TSR_API const tsr_shape *tsr_dataset_shape(const tsr_dataset *data); /* Local. */
TSR_API const void *tsr_dataset_memory(const tsr_dataset *data);     /* Local. */
TSR_API void tsr_dataset_free(tsr_dataset *data);                    /* Local. NULL is fine. */
/* Are all values classes, 0 to classes - 1? If not, an error names the first sample with another
   one. Local. */
TSR_API tsr_status tsr_dataset_check_labels(const tsr_dataset *data, int64_t classes);

/* How samples are dealt out in batches: in an order that depends on seed, epoch and the number of
   samples and on nothing else, so that all ranks have the same without a word, and datasets with
   the same options (images and labels) stay side by side. */
typedef struct tsr_batches {
    int64_t samples; /* how many there are */
    int64_t size;    /* of a batch */
    uint64_t seed;
    bool in_order;  /* 0, 1, 2 .. in every epoch; default: shuffled */
    bool keep_last; /* a last batch that is smaller is dealt out too; default: dropped */
} tsr_batches;

TSR_API int64_t tsr_batches_count(const tsr_batches *batches); /* Pure. Batches of an epoch. */
/* Which sample is the k-th of the i-th batch; -1 if there is none. Pure. */
TSR_API int64_t tsr_batches_sample(const tsr_batches *batches, int64_t epoch, int64_t i, int64_t k);
/* The i-th batch of an epoch as a tensor [size, sample's dims...] with these placements. Each rank
   copies what it holds, whichever dims are sharded; nothing moves. Local. */
TSR_API tsr_tensor *tsr_batch(const tsr_dataset *data, const tsr_batches *batches, int64_t epoch,
                              int64_t i, const char *placements);
/* Does a batch with these placements give every rank a sample? Tensors may have empty parts, so
   tsr_batch does not ask; a program that wants no idle ranks does. Local, the same on all ranks. */
TSR_API tsr_status tsr_batches_check(const tsr_dataset *data, const tsr_batches *batches,
                                     const char *placements);

/* ---- models: parameters and their placements ------------------------------------------------- */

/* Placements by the names of mesh dims: "data=S(0),space=S(2)" is "[S(0),S(2)]" on a mesh
   data=2,space=2. Mesh dims that the text does not name are R. A name that the mesh does not have
   is an error; with a ? behind it, "space?=S(2)", it is ignored then. Fills buf (TSR_TEXT_LEN is
   always enough) and returns it; "" and an error on the mesh if the text is wrong. Local. */
TSR_API const char *tsr_placements_by_name(tsr_mesh *mesh, const char *text, char *buf, size_t n);
/* x with other placements along the named mesh dims, as they are along the others: what an
   activation is made to be between layers, "model=S(1)" for a sharded sequence. Collective. */
TSR_API tsr_tensor *tsr_redistribute_by_name(tsr_tensor *x, const char *text);

/* The weights of a model: watched tensors with names, made from a seed; their values do not
   depend on the mesh. */
typedef struct tsr_params tsr_params;
TSR_API tsr_status tsr_params_new(tsr_mesh *mesh, tsr_dtype dtype, uint64_t seed,
                                  tsr_params **out);                  /* Local. */
TSR_API void tsr_params_free(tsr_params *params);                     /* Local. With its tensors. */
TSR_API int tsr_params_count(const tsr_params *params);               /* Local. */
TSR_API tsr_tensor *const *tsr_params_list(const tsr_params *params); /* Local. */
TSR_API const char *tsr_params_name(const tsr_params *params, int i); /* Local. */
TSR_API tsr_tensor *tsr_params_find(const tsr_params *params, const char *name); /* NULL: none */

typedef enum tsr_init_kind {
    TSR_INIT_ZEROS = 0,
    TSR_INIT_ONES = 1,
    TSR_INIT_NORMAL = 2,  /* mean 0, deviation `scale` */
    TSR_INIT_UNIFORM = 3, /* -scale to scale */
    TSR_INIT_FAN_IN = 4   /* -b to b, b = scale / sqrt(elements of a row; of dims 1 and up) */
} tsr_init_kind;

typedef struct tsr_init {
    tsr_init_kind kind;
    double scale;
} tsr_init;

/* A weight of a shape, "[64,1,3,3]", and of placements as above (NULL: on every rank). Its values
   come from the model's seed and its name. Collective. */
TSR_API tsr_tensor *tsr_param(tsr_params *params, const char *name, const char *shape,
                              const char *places, tsr_init init);

/* How a layer's weight is shared out along one mesh dim. */
typedef enum tsr_style_kind {
    TSR_STYLE_WHOLE = 0,  /* on every rank: what data, sequence and spatial parallel models do */
    TSR_STYLE_COLUMN = 1, /* by outputs: weight S(0), bias S(0); the output is sharded */
    TSR_STYLE_ROW = 2     /* by inputs: weight S(1), bias whole; the output is partial. Of a table:
                             by its rows */
} tsr_style_kind;

typedef struct tsr_style {
    tsr_style_kind kind;
    const char *mesh_dim; /* "model"; "model?": the layer is whole where the mesh has no such dim */
} tsr_style;

/* The weights of one layer. */
typedef struct tsr_layer {
    tsr_tensor *weight, *bias; /* bias NULL: none */
} tsr_layer;

/* Layers, a line each; their weights are params "NAME.weight" and "NAME.bias". Values as PyTorch
   draws them: uniform by the fan-in; norms 1 and 0; tables normal with deviation `scale`, and
   watched by rows if rows is true. Collective. */
TSR_API tsr_layer tsr_linear_layer(tsr_params *params, const char *name, int64_t in, int64_t out,
                                   bool bias, tsr_style style);
TSR_API tsr_layer tsr_conv_layer(tsr_params *params, const char *name, int64_t in, int64_t out,
                                 int64_t kernel, bool bias, tsr_style style); /* square, 2-D */
TSR_API tsr_layer tsr_norm_layer(tsr_params *params, const char *name, int64_t size);
TSR_API tsr_tensor *tsr_table_layer(tsr_params *params, const char *name, int64_t rows,
                                    int64_t columns, double scale, bool by_rows, tsr_style style);

#ifdef __cplusplus
}
#endif

#endif
