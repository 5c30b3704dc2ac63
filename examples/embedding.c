/* SPDX-License-Identifier: Apache-2.0 */
/* embedding.c - a table sharded by rows over four ranks, looked up by ids sharded by batch: single
   rows, means of bags, and a step of gradient descent that updates only these rows; after each
   step, what moved. Runs on threads; mpirun -n 4 works too. */
#include <inttypes.h>
#include <stdio.h>

#include <tessera_ops.h>

enum { ROWS = 1000, COLUMNS = 16, BAGS = 8, LENGTH = 16 };

/* The bytes that all ranks received since the last time, said by the first. */
static void say(tsr_mesh *mesh, const char *what)
{
    int64_t bytes = tsr_counters_get(mesh).bytes_in;

    tsr_all_reduce(mesh, TSR_I64, TSR_SUM, &bytes, 1, &bytes);
    if (tsr_mesh_index(mesh) == 0)
        printf("%-34s %5" PRId64 " bytes\n", what, bytes);
    tsr_barrier(mesh);
    tsr_counters_reset(mesh);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *table = tsr_arange(mesh, "f32[1000,16]@[S(0)]", 0, 0.001);
    int64_t numbers[BAGS][LENGTH], rows = 0;
    tsr_tensor *ids, *one, *mean, *grad;
    tsr_row_sparse touched;
    char text[TSR_TEXT_LEN];

    (void)arg;
    for (int b = 0; b < BAGS; b++) /* rows of all owners, some of them in several bags */
        for (int i = 0; i < LENGTH; i++)
            numbers[b][i] = (3 * b + 25 * i * i) % ROWS;
    ids = tsr_from_host(mesh, "i64[8,16]@[S(0)]", numbers, sizeof numbers);
    tsr_counters_reset(mesh);

    one = tsr_embedding(table, ids, NULL); /* ids go to the owners, rows come back */
    say(mesh, "a row for every id");
    mean = tsr_bag_mean(table, ids, NULL, NULL); /* owners pool what they have of a bag */
    say(mesh, "the mean of every bag");

    grad = tsr_full(mesh, "f32[8,16]@[S(0)]", 1);
    if (tsr_bag_mean_backward_sparse(grad, ids, NULL, table, NULL, &touched) != TSR_OK)
        return tsr_mesh_status(mesh);
    say(mesh, "the gradient, as touched rows");
    tsr_row_sparse_add(table, &touched, -0.1); /* each rank its own rows */
    say(mesh, "a step along it");

    tsr_all_reduce(mesh, TSR_I64, TSR_SUM, &touched.n, 1, &rows);
    tsr_row_sparse_free(&touched);
    if (tsr_mesh_index(mesh) == 0 && tsr_tensor_ok(one) && tsr_tensor_ok(mean)) {
        printf("\nrows    %s\n", tsr_spec_text(tsr_tensor_spec(one), text, sizeof text));
        printf("means   %s\n", tsr_spec_text(tsr_tensor_spec(mean), text, sizeof text));
        printf("touched %d of %d rows; the table has %d bytes\n", (int)rows, ROWS,
               ROWS * COLUMNS * 4);
    }
    return tsr_mesh_status(mesh);
}

int main(int argc, char **argv)
{
    return tsr_main(argc, argv, "4", job, NULL);
}
