/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_faults.c - ops that communicate by themselves (lookups by all-to-all, bags, convolution
   by halos, and their gradients), in which each allocation and each collective call fails once on
   some rank: an error on all ranks, in time, and nothing that stays behind. First calls plan and
   fill caches; later ones must leave the memory as it was. */
#include "support/test.h"
#include "support/fault_driver.h"

/* Tables so large that rows are exchanged, not tables. */
#define TABLE "f32[4001,4]"
#define SMALL "f32[24,4]"
enum { ROWS = 4001 };

static tsr_tensor *lookup(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = fault_input(mesh, "i64[24]", where, 161);
    tsr_tensor *y = tsr_embedding(fault_input(mesh, TABLE, where, 1), ids, NULL);

    return tsr_embedding_backward(y, ids, ROWS, NULL);
}

static tsr_tensor *lookup_by_frequency(tsr_mesh *mesh, const char *where)
{
    const tsr_embedding_opts opts = EMBEDDING_OPTS(.scale_grad_by_freq = true);

    return tsr_embedding_backward(fault_input(mesh, "f32[24,4]", where, 1),
                                  fault_input(mesh, "i64[24]", where, 161), ROWS, &opts);
}

static tsr_tensor *sum(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = fault_input(mesh, "i64[8,3]", where, 161),
               *w = fault_input(mesh, "f32[8,3]", where, 1);
    tsr_tensor *y = tsr_bag_sum(fault_input(mesh, TABLE, where, 1), ids, NULL, w, NULL);

    return tsr_bag_sum_backward(y, ids, NULL, w, ROWS, NULL);
}

static tsr_tensor *mean(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = fault_input(mesh, "i64[8,3]", where, 161);
    tsr_tensor *y = tsr_bag_mean(fault_input(mesh, TABLE, where, 1), ids, NULL, NULL);

    return tsr_bag_mean_backward(y, ids, NULL, ROWS, NULL);
}

static tsr_tensor *max(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = fault_input(mesh, "i64[8,3]", where, 161), *index;
    tsr_tensor *y = tsr_bag_max(fault_input(mesh, TABLE, where, 1), ids, NULL, NULL, &index);

    return tsr_bag_max_backward(y, index, ROWS);
}

static tsr_tensor *max_by_offsets(tsr_mesh *mesh, const char *where)
{
    return tsr_bag_max(fault_input(mesh, TABLE, where, 1), fault_input(mesh, "i64[24]", "[R]", 161),
                       fault_input(mesh, "i64[6]", "[R]", 3), NULL, NULL);
}

/* Offsets, ids and weights come from other ranks, and rows too. */
static tsr_tensor *sum_by_offsets(tsr_mesh *mesh, const char *where)
{
    tsr_tensor *ids = fault_input(mesh, "i64[24]", where, 161),
               *offsets = fault_input(mesh, "i64[6]", where, 3);
    tsr_tensor *w = fault_input(mesh, "f32[24]", where, 1);
    tsr_tensor *table = fault_input(mesh, TABLE, where, 1);
    tsr_tensor *y = tsr_bag_sum(table, ids, offsets, w, NULL);

    return tsr_bag_sum_backward(y, ids, offsets, w, ROWS, NULL);
}

/* The gradient of the weights goes back to where their ids are. */
static tsr_tensor *weights_by_offsets(tsr_mesh *mesh, const char *where)
{
    return tsr_bag_weights_backward(
        fault_input(mesh, "f32[6,4]", where, 1), fault_input(mesh, SMALL, "[R]", 1),
        fault_input(mesh, "i64[24]", where, 1), fault_input(mesh, "i64[6]", where, 3), NULL);
}

/* Each mesh dim cuts space: what a rank lacks comes from up to three others. */
static tsr_tensor *conv(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});

    return tsr_conv(fault_input(mesh, "f32[2,3,6,8]", where, 1), tsr_full(mesh, "f32[2,3,3,3]", 1),
                    tsr_full(mesh, "f32[2]", 1), &opts);
}

static tsr_tensor *conv_backward(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *out[3];

    tsr_conv_backward(fault_input(mesh, "f32[2,2,6,8]", where, 1),
                      fault_input(mesh, "f32[2,3,6,8]", where, 1),
                      tsr_full(mesh, "f32[2,3,3,3]", 1), &opts, &out[0], &out[1], &out[2]);
    return out[0];
}

static tsr_tensor *conv_transposed(tsr_mesh *mesh, const char *where)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1}, .stride = {2, 2}, .transposed = true);

    return tsr_conv(fault_input(mesh, "f32[2,3,6,8]", where, 1), tsr_full(mesh, "f32[3,2,3,3]", 1),
                    NULL, &opts);
}

#define JOB(f, on, last, at, n, bytes)                                                             \
    {.name = #f,                                                                                   \
     .mesh = on,                                                                                   \
     .ranks = {0, last},                                                                           \
     .call = f,                                                                                    \
     .where = at,                                                                                  \
     .least = n,                                                                                   \
     .most_bytes = bytes}
/* Rows travel and no tables; ids are agreed on: several calls. */
#define LOOKUP(f) JOB(f, "2", 1, "[S(0)]", 2, ROWS * 2), JOB(f, "3", 2, "[S(0)]", 2, ROWS * 2)
/* No more than a halo travels. */
#define SPACE(f, bytes)                                                                            \
    JOB(f, "2", 1, "[S(3)]", 1, bytes), JOB(f, "2x2", 3, "[S(2),S(3)]", 1, bytes)

static const fault_job JOBS[] = {
    LOOKUP(lookup),
    LOOKUP(lookup_by_frequency),
    LOOKUP(sum),
    LOOKUP(mean),
    LOOKUP(max),
    LOOKUP(max_by_offsets),
    LOOKUP(sum_by_offsets),
    LOOKUP(weights_by_offsets),
    SPACE(conv, 200),
    SPACE(conv_backward, 400),
    SPACE(conv_transposed, 400),
};

static void every(fault_kind kind)
{
    for (size_t i = 0; i < sizeof JOBS / sizeof *JOBS; i++)
        fault_each(&JOBS[i], kind);
}

static void every_allocation(void **state)
{
    (void)state;
    every(FAULT_ALLOCATION);
}

static void every_allocation_again(void **state)
{
    (void)state;
    every(FAULT_ALLOCATION_AGAIN);
}

static void every_call(void **state)
{
    (void)state;
    every(FAULT_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(every_allocation_again),
        cmocka_unit_test(every_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
