/* SPDX-License-Identifier: Apache-2.0 */
/* bench_kernel.h - the kernels of lookups, a group of the benchmark of kernels. */
#ifndef BENCH_BENCH_KERNEL_H
#define BENCH_BENCH_KERNEL_H

#include "bench.h"
#include "traffic.h"

tsr_status bench_kernel_embedding(bench *b, traffic *t);

#endif
