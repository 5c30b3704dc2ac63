/* SPDX-License-Identifier: Apache-2.0 */
/* test_tape_shapes.c - gradients through a tape where shapes are at their ends: nothing is left of
   the tensor, or it has as many dims as it may have. */
#include "support/test.h"

/* Diagonals beside the matrix are empty: zeros come back. */
static tsr_status beside_job(tsr_mesh *mesh, void *arg)
{
    static const int64_t offsets[] = {-4, -5, -100, INT64_MIN, 6, 7, INT64_MAX};

    (void)arg;
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        tsr_tensor *x = tsr_arange(mesh, "f64[4,6]@[S(0)]", 0, 1), *y, *sum;
        double g[24];

        tsr_watch(x);
        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_diagonal(x, offsets[i], 0, 1);
        CHECK(tsr_tensor_spec(y)->shape.size[0] == 0);
        sum = tsr_sum(y, NULL, 0, false);
        CHECK(tsr_backward(sum) == TSR_OK);
        CHECK(tsr_to_host(tsr_grad(x), g, sizeof g) == TSR_OK);
        for (int k = 0; k < 24; k++)
            CHECK(g[k] == 0);
    }
    return TSR_OK;
}

static void diagonals_beside_the_matrix(void **state)
{
    (void)state;
    pass_on("2", beside_job, NULL);
}

/* Copies are added up by a view with one dim more, for which there is no room. */
static tsr_status full_tile_job(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *x, *y;
        int64_t counts[8];
        int64_t inner; /* elements behind the tiled dim, which has two indices */
    } is[] = {
        {"f64[2,1,1,1,1,1,2,3]@[R]", "f64[4,1,1,1,1,1,2,3]@[R]", {2, 1, 1, 1, 1, 1, 1, 1}, 6},
        {"f64[1,2,1,1,1,1,2,3]@[R]", "f64[1,4,1,1,1,1,2,3]@[R]", {1, 2, 1, 1, 1, 1, 1, 1}, 6},
        {"f64[1,1,2,1,1,1,2,3]@[R]", "f64[1,1,4,1,1,1,2,3]@[R]", {1, 1, 2, 1, 1, 1, 1, 1}, 6},
        {"f64[2,3,1,1,1,1,1,2]@[R]", "f64[2,3,1,1,1,1,1,4]@[R]", {1, 1, 1, 1, 1, 1, 1, 2}, 1},
    };
    (void)arg;

    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        tsr_tensor *x = tsr_watch(tsr_zeros(mesh, is[i].x)), *y;
        tsr_tensor *weights = tsr_arange(mesh, is[i].y, 0, 1);
        double got[12];

        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        y = tsr_tile(x, is[i].counts, 8);
        CHECK(tsr_backward_from(&y, &weights, 1) == TSR_OK);
        CHECK(tsr_to_host(tsr_grad(x), got, sizeof got) == TSR_OK);
        for (int64_t k = 0; k < 12; k++) {
            const int64_t run = 2 * is[i].inner, first = k / run * 2 * run + k % run;
            CHECK(got[k] == (double)(first + first + run)); /* the two copies of an element */
        }
    }
    return tsr_mesh_status(mesh);
}

static void gradients_of_most_dims(void **state)
{
    (void)state;
    pass_on("1", full_tile_job, NULL);
    pass_on("2", full_tile_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagonals_beside_the_matrix),
        cmocka_unit_test(gradients_of_most_dims),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
