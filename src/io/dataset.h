/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - samples in a rank's memory. */
#ifndef TSR_IO_DATASET_H
#define TSR_IO_DATASET_H

#include "tessera_train.h"
#include "world/mesh_handle.h"

struct tsr_dataset {
    tsr_mesh *mesh;
    tsr_dtype dtype;
    tsr_shape shape; /* at least one dim */
    void *memory;
    char *name; /* the file's, for messages */
};

#endif
