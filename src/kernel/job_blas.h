/* SPDX-License-Identifier: Apache-2.0 */
/* job_blas.h - what of OpenBLAS belongs to the process, for jobs that begin and end. */
#ifndef TSR_KERNEL_JOB_BLAS_H
#define TSR_KERNEL_JOB_BLAS_H

#include "base/error.h"

/* A job with this number of ranks in this process begins: each call computes on its own thread, and
   there is work memory for all. An error if there is not; such a job needs no end. */
tsr_status tsr__job_blas_begin(int ranks, tsr_error *err);
/* It ends. After the last one the program's own number of threads is set again. */
void tsr__job_blas_end(int ranks);

#endif
