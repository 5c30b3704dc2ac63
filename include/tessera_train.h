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

/* ---- models: parameters and their placements ------------------------------------------------- */

#ifdef __cplusplus
}
#endif

#endif
