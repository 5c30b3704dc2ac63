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

/* ---- optimizers ------------------------------------------------------------------------------ */

/* ---- data ------------------------------------------------------------------------------------ */

/* Samples that every rank has in its memory: dim 0 counts them. tsr_dataset_free, before the job
   ends. */
typedef struct tsr_dataset tsr_dataset;

/* From an IDX file (as MNIST's), plain or gz, of u8, i32, f32 or f64. Every rank reads it for
   itself; what one finds wrong, or different from the others, all are told. Collective. */
TSR_API tsr_status tsr_dataset_idx(tsr_mesh *mesh, const char *path, tsr_dataset **out);
/* From an array that every rank has, row-major, which is copied. Local. */
TSR_API tsr_status tsr_dataset_from_host(tsr_mesh *mesh, tsr_dtype dtype, const tsr_shape *shape,
                                         const void *data, tsr_dataset **out);
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

#ifdef __cplusplus
}
#endif

#endif
