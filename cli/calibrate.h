/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - the numbers of the cost model as measured, and what they predict. */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

#include "cli.h"

enum { CALIBRATE_MOVES = 8 };

typedef struct calibrate_move {
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN];
    double predicted, measured; /* seconds */
} calibrate_move;

typedef struct calibrate_result {
    tsr_mesh_shape mesh;
    tsr_cost cost;
    int n_moves;
    calibrate_move moves[CALIBRATE_MOVES];
} calibrate_result;

/* A tsr_job; its argument is a calibrate_result, which the first rank fills. */
tsr_status calibrate_job(tsr_mesh *world, void *arg);

#endif
