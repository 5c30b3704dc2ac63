/* SPDX-License-Identifier: Apache-2.0 */
/* test_data.c - datasets and batches: what is read, in which order it is dealt out, and that every
   rank gets its part of it. What is wrong with data is test_data_bad.c. */
#include "support/test.h"
#include "idx_files.h"

/* ---- files ---- */

typedef struct wanted {
    const char *path;
    tsr_dtype dtype;
    int64_t n;
    const void *data;
} wanted;

static tsr_status read_job(tsr_mesh *mesh, void *arg)
{
    const wanted *w = arg;
    tsr_dataset *d = NULL;

    CHECK(tsr_dataset_idx(mesh, w->path, &d) == TSR_OK);
    CHECK(tsr_dataset_dtype(d) == w->dtype);
    CHECK(tsr_dataset_shape(d)->ndim == 2);
    CHECK(tsr_dataset_shape(d)->size[0] == w->n && tsr_dataset_shape(d)->size[1] == 2);
    CHECK(memcmp(tsr_dataset_memory(d), w->data, (size_t)w->n * 2 * tsr_dtype_size(w->dtype)) == 0);
    tsr_dataset_free(d);
    return TSR_OK;
}

static void try_dtype(idx_file *f, int type, tsr_dtype dtype, const void *data)
{
    const int size = (int)tsr_dtype_size(dtype);

    for (int64_t n = 0; n <= 3; n++)
        for (int packed = 0; packed < 2; packed++) {
            wanted w = {f->path, dtype, n, data};

            idx_start(f, type, 2, (const int64_t[]){n, 2});
            for (int64_t i = 0; i < 2 * n; i++)
                idx_put(f, (const char *)data + i * size, size);
            if (packed)
                idx_pack(f);
            idx_write(f, f->n);
            pass_on("3", read_job, &w);
            pass_with((tsr_run_opts)RUN_OPTS(.mesh = "3", .world = TSR_WORLD_SIM), read_job, &w);
        }
}

static void every_dtype_is_read(void **state)
{
    const uint8_t u8[] = {0, 1, 127, 128, 254, 255};
    const int8_t i8[] = {0, -1, 127, -128, 5, -6};
    const int16_t i16[] = {0, -1, INT16_MAX, INT16_MIN, 258, -700};
    const int32_t i32[] = {0, -1, INT32_MAX, INT32_MIN, 258, -70000};
    const float f32[] = {0, -1.5F, 3e38F, 1e-40F, 0x1.234568p3F, -0.0F};
    const double f64[] = {0, -1.5, 1e308, 5e-324, 0x1.23456789abcdep3, -0.0};

    try_dtype(*state, 0x08, TSR_U8, u8);
    try_dtype(*state, 0x09, TSR_I8, i8);
    try_dtype(*state, 0x0B, TSR_I16, i16);
    try_dtype(*state, 0x0C, TSR_I32, i32);
    try_dtype(*state, 0x0D, TSR_F32, f32);
    try_dtype(*state, 0x0E, TSR_F64, f64);
}

/* gzip's way: members that follow each other are one text. */
static void members_of_a_gz_are_one_text(void **state)
{
    idx_file *f = *state, tail = {.n = 0};
    const uint8_t u8[] = {1, 2, 3, 4, 5, 6};
    wanted w = {f->path, TSR_U8, 3, u8};

    idx_start(f, 0x08, 2, (const int64_t[]){3, 2});
    idx_put(f, u8, 1);
    idx_pack(f);
    for (int i = 1; i < 6; i++)
        idx_put(&tail, &u8[i], 1);
    idx_pack(&tail);
    memcpy(f->bytes + f->n, tail.bytes, tail.n);
    f->n += tail.n;
    idx_write(f, f->n);
    pass_on("1", read_job, &w);
}

/* As many dims as a tensor may have, and one. */
static tsr_status dims_job(tsr_mesh *mesh, void *arg)
{
    tsr_dataset *d = NULL;

    CHECK(tsr_dataset_idx(mesh, arg, &d) == TSR_OK);
    CHECK(tsr_shape_count(tsr_dataset_shape(d)) == 6);
    CHECK(((const uint8_t *)tsr_dataset_memory(d))[5] == 35);
    tsr_dataset_free(d);
    return TSR_OK;
}

static void files_may_have_all_dims(void **state)
{
    static const int64_t size[] = {3, 1, 1, 1, 1, 1, 1, 2}, one[] = {6};
    idx_file *f = *state;

    for (int ndim = 1; ndim <= TSR_MAX_DIM; ndim += TSR_MAX_DIM - 1) {
        idx_start(f, 0x08, ndim, ndim == 1 ? one : size);
        for (int i = 0; i < 6; i++)
            f->bytes[f->n++] = (unsigned char)(7 * i);
        idx_write(f, f->n);
        pass_on("2", dims_job, f->path);
    }
}

/* More than a block of gz_file.c, packed and not. */
static tsr_status long_job(tsr_mesh *mesh, void *arg)
{
    tsr_dataset *d = NULL;
    const uint8_t *data;

    CHECK(tsr_dataset_idx(mesh, arg, &d) == TSR_OK);
    CHECK(tsr_dataset_shape(d)->size[0] == 300000);
    data = tsr_dataset_memory(d);
    for (int64_t i = 0; i < 300000; i++)
        CHECK(data[i] == (uint8_t)(i * i % 253));
    tsr_dataset_free(d);
    return TSR_OK;
}

static void long_files_are_read_in_blocks(void **state)
{
    idx_file *f = *state;
    const char *const modes[] = {"wbT", "wb9", "wb0"}; /* T: as it is */

    for (int m = 0; m < 3; m++) {
        gzFile to = gzopen(f->path, modes[m]);

        idx_start(f, 0x08, 1, (const int64_t[]){300000});
        assert_int_equal(gzwrite(to, f->bytes, (unsigned)f->n), (int)f->n);
        for (int64_t i = 0; i < 300000; i++)
            gzputc(to, (int)(i * i % 253));
        assert_int_equal(gzclose(to), Z_OK);
        pass_on("2", long_job, f->path);
    }
}

/* ---- the order ---- */

static void orders_are_permutations(void **state)
{
    (void)state;
    for (int64_t samples = 1; samples < 40; samples++)
        for (int64_t size = 1; size <= samples + 1; size++)
            for (int way = 0; way < 4; way++) {
                const tsr_batches b = {samples, size, 5, way & 1, way >> 1};
                const int64_t n = tsr_batches_count(&b);
                int64_t seen = 0, times[40] = {0};

                assert_int_equal(n, way >> 1 ? (samples + size - 1) / size : samples / size);
                for (int64_t i = 0; i < n; i++)
                    for (int64_t k = 0; k < size; k++) {
                        const int64_t s = tsr_batches_sample(&b, 3, i, k);

                        if (s < 0) { /* only where the last batch ends */
                            assert_true(way >> 1 && i * size + k >= samples);
                            continue;
                        }
                        assert_true(s < samples && times[s]++ == 0);
                        assert_true(!b.in_order || s == i * size + k);
                        seen++;
                    }
                assert_int_equal(seen, b.keep_last ? samples : n * size);
                assert_int_equal(tsr_batches_sample(&b, 3, n, 0), -1);
                assert_int_equal(tsr_batches_sample(&b, 3, -1, 0), -1);
                assert_int_equal(tsr_batches_sample(&b, 3, 0, -1), -1);
            }
}

/* Other seeds and epochs have other orders, and in each about one sample stays where it is. */
static void orders_depend_on_seed_and_epoch(void **state)
{
    const tsr_batches a = {.samples = 1000, .size = 10, .seed = 1}, b = {1000, 10, 2, false, false};
    int same_seed = 0, same_epoch = 0, fixed = 0;

    (void)state;
    for (int64_t i = 0; i < 100; i++)
        for (int64_t k = 0; k < 10; k++) {
            const int64_t s = tsr_batches_sample(&a, 0, i, k);

            assert_int_equal(s, tsr_batches_sample(&a, 0, i, k));
            same_epoch += s == tsr_batches_sample(&a, 1, i, k);
            same_seed += s == tsr_batches_sample(&b, 0, i, k);
            fixed += s == i * 10 + k;
        }
    assert_true(same_epoch < 10 && same_seed < 10 && fixed < 10);
}

/* ---- batches ---- */

enum { SAMPLES = 23, H = 5, W = 4 };

typedef struct dealt {
    tsr_batches batches;
    const char *placements;
    int ndim; /* of a sample */
} dealt;

static tsr_status deal_job(tsr_mesh *mesh, void *arg)
{
    const dealt *t = arg;
    const tsr_shape shape = {t->ndim + 1, {SAMPLES, H, W}};
    const int64_t each = tsr_shape_count(&shape) / SAMPLES;
    const int64_t moved = tsr_counters_get(mesh).bytes_in;
    float all[SAMPLES * H * W], got[SAMPLES * H * W];
    tsr_dataset *d = NULL;

    for (int i = 0; i < SAMPLES * H * W; i++)
        all[i] = (float)i;
    CHECK(dataset_from_host(mesh, TSR_F32, &shape, all, &d) == TSR_OK);
    memset(all, 0, sizeof all); /* it was copied */
    for (int64_t epoch = 0; epoch < 2; epoch++)
        for (int64_t i = 0; i < tsr_batches_count(&t->batches); i++) {
            tsr_tensor *x = tsr_batch(d, &t->batches, epoch, i, t->placements);
            const int64_t left = SAMPLES - i * t->batches.size;
            const int64_t n = left < t->batches.size ? left : t->batches.size;

            CHECK(tsr_tensor_ok(x));
            CHECK(tsr_tensor_spec(x)->shape.size[0] == n);
            CHECK(tsr_counters_get(mesh).bytes_in == moved || epoch > 0 || i > 0);
            CHECK(tsr_to_host(x, got, (size_t)(n * each) * sizeof *got) == TSR_OK);
            for (int64_t k = 0; k < n; k++)
                for (int64_t e = 0; e < each; e++)
                    CHECK(got[k * each + e] ==
                          (float)(tsr_batches_sample(&t->batches, epoch, i, k) * each + e));
        }
    tsr_dataset_free(d);
    return tsr_mesh_status(mesh);
}

static tsr_status deals_job(tsr_mesh *mesh, void *arg)
{
    static const char *const one[] = {"[R]", "[S(0)]", "[S(1)]", "[S(2)]", "[SS(2,2)]", "[P(sum)]"};
    static const char *const two[] = {"[S(0),S(1)]",  "[S(1),S(2)]", "[S(0),S(0)]",
                                      "[S(2),S(2)]",  "[R,S(0)]",    "[S(1),SS(1,2)]",
                                      "[S(0),P(max)]"};
    const bool flat = tsr_mesh_shape_get(mesh)->ndim == 1;
    tsr_status st = TSR_OK;

    (void)arg;
    for (int64_t size = 1; size <= SAMPLES && st == TSR_OK; size += size < 4 ? 1 : 5)
        for (int way = 0; way < 4 && st == TSR_OK; way++)
            for (size_t p = 0; p < (flat ? 6 : 7) && st == TSR_OK; p++) {
                dealt t = {{SAMPLES, size, 9, way & 1, way >> 1}, flat ? one[p] : two[p], 2};

                st = deal_job(mesh, &t);
                if (st == TSR_OK && flat && p < 2) { /* labels: samples without dims */
                    t.ndim = 0;
                    st = deal_job(mesh, &t);
                }
            }
    return st;
}

static void every_rank_gets_its_part(void **state)
{
    (void)state;
    pass_on("1", deals_job, NULL);
    pass_on("2", deals_job, NULL);
    pass_on("3", deals_job, NULL);
    pass_on("2x2", deals_job, NULL);
}

/* In a sim world batches are tensors like any other there. */
static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    const uint8_t all[6] = {0};
    const tsr_batches b = {.samples = 6, .size = 4};
    tsr_dataset *d = NULL;

    (void)arg;
    CHECK(dataset_from_host(mesh, TSR_U8, &(tsr_shape){1, {6}}, all, &d) == TSR_OK);
    CHECK(tsr_tensor_ok(tsr_batch(d, &b, 0, 0, "[S(0)]")));
    tsr_dataset_free(d);
    return TSR_OK;
}

static void batches_can_be_simulated(void **state)
{
    (void)state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "100", .world = TSR_WORLD_SIM), sim_job, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_dtype_is_read, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(members_of_a_gz_are_one_text, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(files_may_have_all_dims, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(long_files_are_read_in_blocks, idx_setup, idx_teardown),
        cmocka_unit_test(orders_are_permutations),
        cmocka_unit_test(orders_depend_on_seed_and_epoch),
        cmocka_unit_test(every_rank_gets_its_part),
        cmocka_unit_test(batches_can_be_simulated),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, deals_job, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
