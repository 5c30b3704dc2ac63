/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_net.c - the network of net.h over MPI 3.1: the whole of the plugin libtessera_mpi.so.
   Decides nothing: the message world above does. MPI is initialised when the first world opens and
   finalised when the process exits, so that a process can open worlds one after the other. */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "world/net.h"

enum { BATCH = 128 }; /* requests tested at once */

struct tsr_net {
    MPI_Comm comm[2]; /* by channel */
    pid_t pid;        /* of the process that opened it: its children's exits do not count */
    bool owner;       /* we initialised MPI, so we finalise it */
    bool closed;
};

_Static_assert(sizeof(MPI_Request) <= sizeof(tsr_net_request), "a request does not fit");

static tsr_net_request to_request(MPI_Request request)
{
    tsr_net_request bits = 0;
    memcpy(&bits, &request, sizeof request);
    return bits;
}

static MPI_Request from_request(tsr_net_request bits)
{
    MPI_Request request;
    memcpy(&request, &bits, sizeof request);
    return request;
}

/* MPI_Finalize waits for all ranks. One that leaves in the middle of its work must not make the
   others wait for it in vain: it ends the job. Handlers run latest first, the owner's last. */
static void at_exit(int status, void *arg)
{
    tsr_net *net = arg;
    int finalized = 0;

    if (net->pid != getpid())
        return;
    MPI_Finalized(&finalized);
    if (!finalized && !net->closed)
        MPI_Abort(MPI_COMM_WORLD, status ? status : 1);
    if (!finalized && net->owner)
        MPI_Finalize();
    free(net);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* MPI_Comm_dup that gives up: a rank that has ended, or is elsewhere, never joins. */
static int dup_world(int timeout_ms, MPI_Comm *out)
{
    MPI_Request request;
    double end = timeout_ms < 0 ? HUGE_VAL : now() + 1e-3 * timeout_ms;
    int done = 0;

    if (MPI_Comm_idup(MPI_COMM_WORLD, out, &request) != MPI_SUCCESS)
        return -1;
    while (!done) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || (!done && now() > end))
            return -1;
        if (!done)
            sched_yield();
    }
    return MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
}

/* Ranks of jobs find each other by the order in which their processes open them, which only one
   thread can keep: of two jobs at once on two threads, one rank's first could be another's second.
   It is the thread that initialised MPI, or will; not that which comes first, or ranks would
   differ in that, too. */
static bool may_open(bool initialized)
{
    int is_main = 0;

    if (!initialized)
        return gettid() == getpid();
    MPI_Is_thread_main(&is_main);
    return is_main;
}

static tsr_status start_mpi(tsr_net_open *io, bool *owner)
{
    int initialized = 0, finalized = 0, level;

    *owner = false;
    MPI_Finalized(&finalized);
    if (finalized) {
        snprintf(io->text, sizeof io->text, "MPI has been finalised in this process already");
        return TSR_ERR_STATE;
    }
    MPI_Initialized(&initialized);
    if (!may_open(initialized)) {
        snprintf(
            io->text, sizeof io->text,
            "MPI jobs must run one after the other on the %s, but this is another thread; thread "
            "worlds can run concurrently",
            initialized ? "thread that initialised MPI" : "main thread");
        return TSR_ERR_STATE;
    }
    if (initialized)
        return TSR_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        snprintf(io->text, sizeof io->text, "MPI_Init_thread failed");
        return TSR_ERR_UNAVAILABLE;
    }
    *owner = true;
    return TSR_OK;
}

static tsr_status net_open(tsr_net_open *io)
{
    MPI_Comm here;
    bool owner;

    tsr_status st = start_mpi(io, &owner);
    if (st != TSR_OK)
        return st;
    tsr_net *net = calloc(1, sizeof *net);
    if (!net || on_exit(at_exit, net) != 0) {
        free(net);
        snprintf(io->text, sizeof io->text, "out of memory");
        return TSR_ERR_MEMORY;
    }
    net->owner = owner;
    net->pid = getpid();
    for (int i = 0; i < 2; i++) {
        if (dup_world(io->timeout_ms, &net->comm[i]) != MPI_SUCCESS) {
            snprintf(io->text, sizeof io->text, "not all MPI ranks joined the world within %d ms",
                     io->timeout_ms);
            return TSR_ERR_TIMEOUT;
        }
    }
    MPI_Comm_rank(net->comm[0], &io->rank);
    MPI_Comm_size(net->comm[0], &io->size);
    if (MPI_Comm_split_type(net->comm[0], MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) !=
        MPI_SUCCESS) {
        io->here = io->size;
    } else {
        MPI_Comm_size(here, &io->here);
        MPI_Comm_free(&here);
    }
    io->net = net;
    return TSR_OK;
}

/* The state stays for at_exit. Communicators that others may still send on stay too. */
static void net_close(tsr_net *net, bool together)
{
    for (int i = 0; together && i < 2; i++)
        MPI_Comm_free(&net->comm[i]);
    net->closed = true;
}

static int net_isend(tsr_net *net, tsr_net_channel channel, int to, int tag, const void *data,
                     size_t bytes, tsr_net_request *out)
{
    MPI_Request request;
    int rc = MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, net->comm[channel], &request);
    if (rc == MPI_SUCCESS)
        *out = to_request(request);
    return rc;
}

static int net_irecv(tsr_net *net, tsr_net_channel channel, int from, int tag, void *data,
                     size_t bytes, tsr_net_request *out)
{
    MPI_Request request;
    int rc = MPI_Irecv(data, (int)bytes, MPI_BYTE, from == TSR_NET_ANY ? MPI_ANY_SOURCE : from,
                       tag == TSR_NET_ANY ? MPI_ANY_TAG : tag, net->comm[channel], &request);
    if (rc == MPI_SUCCESS)
        *out = to_request(request);
    return rc;
}

/* Test requests begin .. and report those that are done; *next is where to go on. */
static int poll_batch(int n, tsr_net_request *requests, int *next, int *done, int *n_done)
{
    MPI_Request batch[BATCH];
    MPI_Status status[BATCH];
    int index[BATCH], hit[BATCH], k = 0, hits = 0, i = *next;

    for (; i < n && k < BATCH; i++) {
        if (requests[i]) {
            batch[k] = from_request(requests[i]);
            index[k++] = i;
        }
    }
    *next = i;
    if (k == 0)
        return MPI_SUCCESS;
    int rc = MPI_Testsome(k, batch, &hits, hit, status);
    if (rc == MPI_ERR_IN_STATUS) {
        for (int j = 0; j < hits; j++) {
            requests[index[hit[j]]] = 0;
            if (status[j].MPI_ERROR != MPI_SUCCESS && status[j].MPI_ERROR != MPI_ERR_PENDING)
                rc = status[j].MPI_ERROR;
        }
        return rc;
    }
    for (int j = 0; rc == MPI_SUCCESS && hits != MPI_UNDEFINED && j < hits; j++) {
        requests[index[hit[j]]] = 0;
        done[(*n_done)++] = index[hit[j]];
    }
    return rc;
}

static int net_poll(tsr_net *net, int n, tsr_net_request *requests, int *done, int *n_done)
{
    int next = 0, rc = MPI_SUCCESS;

    (void)net;
    *n_done = 0;
    while (next < n && rc == MPI_SUCCESS)
        rc = poll_batch(n, requests, &next, done, n_done);
    return rc;
}

static void net_cancel(tsr_net *net, tsr_net_request request)
{
    MPI_Request r = from_request(request);
    (void)net;
    MPI_Cancel(&r);
}

static void net_abort(tsr_net *net, int status)
{
    MPI_Abort(net->comm[0], status);
}

static void net_error_text(tsr_net *net, int error, char *text, size_t n)
{
    char buf[MPI_MAX_ERROR_STRING];
    int len = 0;

    (void)net;
    if (MPI_Error_string(error, buf, &len) != MPI_SUCCESS)
        snprintf(buf, sizeof buf, "MPI error %d", error);
    snprintf(text, n, "%s", buf);
}

/* ---- the library's own collectives, for comparison ------------------------------------------- */

static MPI_Datatype mpi_type(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F32: return MPI_FLOAT;
    case TSR_F64: return MPI_DOUBLE;
    case TSR_I32: return MPI_INT32_T;
    case TSR_I64: return MPI_INT64_T;
    case TSR_U8: return MPI_UINT8_T;
    case TSR_I8: return MPI_INT8_T;
    case TSR_I16: return MPI_INT16_T;
    case TSR_U16: return MPI_UINT16_T;
    case TSR_U32: return MPI_UINT32_T;
    case TSR_U64: return MPI_UINT64_T;
    default: return MPI_DATATYPE_NULL;
    }
}

static MPI_Op mpi_op(tsr_reduce op)
{
    switch (op) {
    case TSR_SUM: return MPI_SUM;
    case TSR_MIN: return MPI_MIN;
    case TSR_MAX: return MPI_MAX;
    case TSR_PROD: return MPI_PROD;
    default: return MPI_OP_NULL;
    }
}

/* Counts and places as MPI takes them; false if one is beyond an int. */
static bool int_counts(const int64_t *count, int n, int *out, int *at)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++) {
        if (count[i] > INT_MAX || sum > INT_MAX)
            return false;
        out[i] = (int)count[i];
        at[i] = (int)sum;
        sum += count[i];
    }
    return true;
}

static int all_to_all(const tsr_collective *c, MPI_Datatype type, MPI_Comm comm, int size)
{
    int *v = calloc((size_t)size * 4, sizeof *v), rc = MPI_ERR_COUNT;
    int *out_n = v, *out_at = v + size, *in_n = v + 2 * size, *in_at = v + 3 * size;

    if (!v)
        return MPI_ERR_NO_MEM;
    if (int_counts(c->send_counts, size, out_n, out_at) &&
        int_counts(c->recv_counts, size, in_n, in_at))
        rc = MPI_Alltoallv(c->send, out_n, out_at, type, c->recv, in_n, in_at, type, comm);
    free(v);
    return rc;
}

/* SEND and RECV with both buffers given are one MPI_Sendrecv with the peer. */
static tsr_status net_native(tsr_net *net, const tsr_collective *c)
{
    MPI_Comm comm = net->comm[TSR_NET_DATA];
    MPI_Datatype type = mpi_type(c->dtype);
    MPI_Op op = mpi_op(c->op);
    int n, size, rc = MPI_ERR_OP;

    if (type == MPI_DATATYPE_NULL || op == MPI_OP_NULL || c->n < 0 || c->n > INT_MAX)
        return TSR_ERR_UNAVAILABLE;
    n = (int)c->n;
    MPI_Comm_size(comm, &size);
    switch (c->kind) {
    case TSR_COLL_BARRIER: rc = MPI_Barrier(comm); break;
    case TSR_COLL_BROADCAST: rc = MPI_Bcast(c->recv, n, type, c->peer, comm); break;
    case TSR_COLL_ALL_GATHER: rc = MPI_Allgather(c->send, n, type, c->recv, n, type, comm); break;
    case TSR_COLL_REDUCE_SCATTER:
        rc = MPI_Reduce_scatter_block(c->send, c->recv, n, type, op, comm);
        break;
    case TSR_COLL_ALL_REDUCE: rc = MPI_Allreduce(c->send, c->recv, n, type, op, comm); break;
    case TSR_COLL_ALL_TO_ALL: rc = all_to_all(c, type, comm, size); break;
    case TSR_COLL_SEND:
    case TSR_COLL_RECV:
        rc = MPI_Sendrecv(c->send, n, type, c->peer, 0, c->recv, n, type, c->peer, 0, comm,
                          MPI_STATUS_IGNORE);
        break;
    }
    return rc == MPI_SUCCESS ? TSR_OK : TSR_ERR_UNAVAILABLE;
}

static const tsr_net_ops ops = {
    .abi = TSR_NET_ABI,
    .name = "mpi",
    .open = net_open,
    .close = net_close,
    .isend = net_isend,
    .irecv = net_irecv,
    .poll = net_poll,
    .cancel = net_cancel,
    .abort = net_abort,
    .error_text = net_error_text,
    .native = net_native,
};

TSR_API const tsr_net_ops *tessera_net(int abi);

const tsr_net_ops *tessera_net(int abi)
{
    return abi == TSR_NET_ABI ? &ops : NULL;
}
