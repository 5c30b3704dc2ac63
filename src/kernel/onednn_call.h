/* SPDX-License-Identifier: Apache-2.0 */
/* onednn_call.h - what the files that call oneDNN share. */
#ifndef TSR_KERNEL_ONEDNN_CALL_H
#define TSR_KERNEL_ONEDNN_CALL_H

#include <dnnl.h>
#include <stdbool.h>
#include <string.h>

/* oneDNN computes with OpenMP's threads, and how many is a setting of the thread that calls. Ours
   is one; the caller's own setting is put back. Declared here, since omp.h is the compiler's. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);

static inline int onednn_begin(void)
{
    const int threads = omp_get_max_threads();

    if (threads != 1)
        omp_set_num_threads(1);
    return threads;
}

static inline void onednn_end(int threads)
{
    if (threads != 1)
        omp_set_num_threads(threads);
}

/* Is what oneDNN chose its plain loops? They are slower than ours by orders of magnitude. */
static inline bool onednn_is_slow(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;

    return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) != dnnl_success ||
           strstr(name, "ref") != NULL;
}

#endif
