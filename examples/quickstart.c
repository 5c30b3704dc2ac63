/* SPDX-License-Identifier: Apache-2.0 */
/* quickstart.c - a tensor over a 2x2 mesh, moved to another layout. ./quickstart runs it on four
   threads, mpirun -n 4 ./quickstart on four processes, unchanged. */
#include <tessera.h>

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_arange(mesh, "f32[4,6]@[S(0),R]", 0, 1); /* rows over "data" */
    tsr_tensor *y = tsr_redistribute(x, "[R,S(1)]");             /* columns over "model" */

    (void)arg;
    tsr_print(y);
    return tsr_mesh_status(mesh); /* the first error, with its message */
}

int main(int argc, char **argv)
{
    return tsr_main(argc, argv, "data=2,model=2", job, NULL);
}
