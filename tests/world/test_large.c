/* SPDX-License-Identifier: Apache-2.0 */
/* test_large.c - more than 2^31 elements in one message and in one tensor: counts are 64 bits wide
   everywhere. Two ranks, about 9 GiB in all; on threads, or with "mpi" under mpirun -n 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ranks.h"

static const int64_t N = (INT64_C(1) << 31) + 4099;

static int complain(tsr_mesh *mesh, const char *what)
{
    fprintf(stderr, "rank %d: %s: %s\n", tsr_mesh_rank(mesh), what, tsr_mesh_message(mesh));
    return TSR_ERR_MISMATCH;
}

static uint8_t mark(int64_t i)
{
    return (uint8_t)(i * 2654435761u >> 13);
}

/* Every 4097th element, and both ends. */
static bool marked(const uint8_t *data, int64_t n)
{
    for (int64_t i = 0; i < n; i += 4097)
        if (data[i] != mark(i))
            return false;
    return n == 0 || data[n - 1] == mark(n - 1);
}

static tsr_status send_far(tsr_mesh *mesh)
{
    uint8_t *data = malloc((size_t)N);
    tsr_status st;

    if (!data)
        return complain(mesh, "no memory for the test");
    if (tsr_mesh_rank(mesh) == 0) {
        for (int64_t i = 0; i < N; i++)
            data[i] = mark(i);
        st = tsr_send(mesh, TSR_U8, data, N, 1);
    } else {
        st = tsr_recv(mesh, TSR_U8, data, N, 0);
        if (st == TSR_OK && !marked(data, N))
            st = complain(mesh, "a message of more than 2^31 elements arrived changed");
    }
    if (st == TSR_OK)
        st = tsr_broadcast(mesh, TSR_U8, data, N, 1);
    if (st == TSR_OK && !marked(data, N))
        st = complain(mesh, "a broadcast of more than 2^31 elements changed it");
    free(data);
    return st;
}

/* Rows of 4097: the whole has more than 2^31 elements, and so has what a rank gathers. */
static tsr_status move_far(tsr_mesh *mesh)
{
    tsr_tensor *x = tsr_zeros(mesh, "u8[524295,4097]@[S(0)]"), *y;
    tsr_local view;
    int64_t n;

    if (tsr_local_view(x, &view) != TSR_OK)
        return complain(mesh, "no tensor");
    n = tsr_shape_count(&view.shape);
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)view.data)[i] = mark(view.first[0] * 4097 + i);
    y = tsr_redistribute(x, "[R]");
    if (tsr_local_view(y, &view) != TSR_OK || !marked(view.data, tsr_shape_count(&view.shape)))
        return complain(mesh, "a tensor of more than 2^31 elements was gathered wrongly");
    y = tsr_redistribute(y, "[S(1)]");
    if (tsr_local_view(y, &view) != TSR_OK ||
        ((uint8_t *)view.data)[0] != mark(tsr_local_index(y, 1, 0)))
        return complain(mesh, "a tensor of more than 2^31 elements was cut wrongly");
    return TSR_OK;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    tsr_status st = send_far(mesh);
    (void)arg;
    return st == TSR_OK ? move_far(mesh) : st;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, job, NULL);
    return tsr_main(1, argv, "2", job, NULL);
}
