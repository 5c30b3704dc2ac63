/* SPDX-License-Identifier: Apache-2.0 */
/* job_blas.c - OpenBLAS has one number of threads and one set of work buffers for the whole
   process, in which several jobs may run at once. This counts them: the only state of the library
   that is not a context's (tools/globals_exemptions). Called by job.c. */
#include "kernel/job_blas.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/heap.h"
#include "kernel/blas.h"

enum { MOST_BUFFERS = 64 }; /* OpenBLAS has room for a few times as many */

static struct {
    pthread_mutex_t lock;
    int jobs, ranks; /* that run */
    int threads;     /* the program's setting, while jobs run */
    int buffers;     /* that were mapped; they stay */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_available(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
    munmap(p, bytes);
    return true;
}

/* OpenBLAS maps a buffer when no other is free, and tries for ever if that fails: so that it never
   has to, as many are taken at once as there are ranks. Those of other jobs may be in use. */
static tsr_status reserve(int ranks, tsr_error *err)
{
    const size_t bytes = tsr__blas_buffer_bytes();
    const int want = !bytes ? 0 : ranks < MOST_BUFFERS ? ranks : MOST_BUFFERS;
    void *taken[MOST_BUFFERS];
    int n = 0;
    tsr_status st = TSR_OK;

    for (; n < want && st == TSR_OK; n++)
        if ((n < process.buffers && process.jobs == 0) || is_available(bytes))
            taken[n] = tsr__blas_buffer_take();
        else
            st = tsr__fail(err, TSR_ERR_MEMORY,
                           "out of memory: OpenBLAS needs %zu MiB of address space for each of %d "
                           "ranks in this process, there is enough for %d; raise the limit "
                           "(ulimit -v) or start fewer ranks",
                           bytes >> 20, ranks, n);
    n -= st != TSR_OK;
    process.buffers = n > process.buffers ? n : process.buffers;
    while (n > 0)
        tsr__blas_buffer_give(taken[--n]);
    return st;
}

tsr_status tsr__job_blas_begin(int ranks, tsr_error *err)
{
    tsr_status st;

    pthread_mutex_lock(&process.lock);
    st = reserve(process.ranks + ranks, err);
    if (st == TSR_OK) {
        if (process.jobs++ == 0)
            process.threads = tsr__blas_threads_set(1);
        process.ranks += ranks;
    }
    pthread_mutex_unlock(&process.lock);
    return st;
}

void tsr__job_blas_end(int ranks)
{
    pthread_mutex_lock(&process.lock);
    process.ranks -= ranks;
    if (--process.jobs == 0)
        tsr__blas_threads_set(process.threads);
    pthread_mutex_unlock(&process.lock);
}
