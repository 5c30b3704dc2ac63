/* SPDX-License-Identifier: Apache-2.0 */
/* rows_update.h - row-sparse gradients of tables, and updates of just these rows.
   For optimizers and clipping. */
#ifndef TSR_TRAIN_ROWS_UPDATE_H
#define TSR_TRAIN_ROWS_UPDATE_H

#include "tensor/tensor.h"
#include "tessera_train.h"

/* Make the gradient of a table watched by rows one list of rows, each once: rows of several
   lookups are added up, and a dense gradient besides, which has all rows. If there is a
   dense one: collective, else local. */
tsr_status tsr__rows_gather(tsr_tensor *table);

/* Row-sparse Adagrad on a table; sum is of the table's spec, or with one number per row,
   to which the mean of the row's squares is added. `columns` spans the ranks that hold the other
   columns of the same rows, NULL: none; then local, else collective over it. */
tsr_status tsr__rows_adagrad(tsr_tensor *table, tsr_tensor *sum, const tsr_row_sparse *sparse,
                             tsr_mesh *columns, double lr, double eps);

#endif
