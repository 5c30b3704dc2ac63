/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout.c - which elements each rank holds, against the naive model: nested, strided and
   reordered shards, windows, uneven and empty ones. Run lists: test_run_lists.c. */
#include "support/test.h"
#include "support/naive_layout.h"
#include "support/numbers.h"

static const char *const MESHES[] = {"1",   "2",   "3",   "5",     "2x2",
                                     "2x3", "3x2", "1x4", "2x2x2", "2x3x2"};
static const int SIZES[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 100};

static void check_runs(const tsr_runs *runs, const int64_t *index, int n)
{
    int64_t last = -1;
    int k = 0;

    assert_int_equal(tsr__runs_count(runs), n);
    for (int i = 0; i < runs->n; i++) {
        const tsr_index_run *run = tsr__runs_at(runs, i);
        assert_true(run->len > 0 && run->count > 0 && run->begin > last);
        assert_true(run->count == 1 ? run->step == run->len : run->step > run->len);
        for (int64_t j = 0; j < run->count; j++)
            for (int64_t x = 0; x < run->len; x++) {
                last = run->begin + j * run->step + x;
                assert_true(k < n && last == index[k]);
                assert_int_equal(tsr__runs_index(runs, k), index[k]);
                k++;
            }
    }
    assert_int_equal(k, n);
    assert_int_equal(tsr__runs_index(runs, n), -1);
    assert_int_equal(tsr__runs_index(runs, -1), -1);
}

/* Every rank's part along every dim, and how often each index is covered. */
static void check_layout(const tsr_layout *layout)
{
    int ranks = tsr__mesh_size(&layout->mesh), coord[TSR_MAX_MESH];
    tsr_heap heap = {0};
    int64_t largest = 0, index[NAIVE_MAX];

    for (int d = 0; d < layout->shape.ndim; d++) {
        int covered[NAIVE_MAX] = {0}, times = ranks;
        for (int i = 0; i < layout->dim[d].n; i++)
            times /= layout->mesh.size[layout->dim[d].mdim[i]];
        for (int r = 0; r < ranks; r++) {
            tsr_runs runs = {0};
            tsr__mesh_coords(&layout->mesh, r, coord);
            int n = naive_indices(layout, d, coord, index);
            assert_int_equal(tsr__layout_runs(&heap, layout, d, coord, &runs, NULL), TSR_OK);
            check_runs(&runs, index, n);
            assert_int_equal(tsr__layout_extent(layout, d, coord), n);
            for (int i = 0; i < n; i++)
                covered[index[i]]++;
            tsr__runs_free(&heap, &runs);
        }
        for (int64_t i = 0; i < layout->shape.size[d] && !layout->dim[d].window.on; i++)
            assert_int_equal(covered[i], times);
    }
    for (int r = 0; r < ranks; r++) {
        tsr__mesh_coords(&layout->mesh, r, coord);
        tsr_shape part = tsr__layout_local_shape(layout, coord);
        largest = tsr_shape_count(&part) > largest ? tsr_shape_count(&part) : largest;
    }
    assert_int_equal(tsr__layout_bytes(layout), (size_t)largest * tsr_dtype_size(layout->dtype));
    assert_int_equal(heap.live, 0);
}

/* What the public functions say about a spec is what its layout says. */
static void check_spec(const tsr_spec *spec)
{
    tsr_layout layout = tsr__layout_of(spec);
    int coord[TSR_MAX_MESH];
    int64_t index[NAIVE_MAX];

    check_layout(&layout);
    for (int r = 0; r < tsr__mesh_size(&spec->mesh); r++) {
        tsr_shape part;
        assert_int_equal(tsr_spec_local_shape(spec, r, &part, NULL), TSR_OK);
        tsr__mesh_coords(&spec->mesh, r, coord);
        assert_int_equal(part.ndim, spec->shape.ndim);
        for (int d = 0; d < part.ndim; d++) {
            tsr_index_run run[64];
            int n = naive_indices(&layout, d, coord, index), n_runs, total, k = 0;
            assert_int_equal(part.size[d], n);
            assert_int_equal(tsr_spec_runs(spec, r, d, run, 64, &n_runs, NULL), TSR_OK);
            assert_true(n_runs <= 64);
            for (int i = 0; i < n_runs; i++)
                for (int64_t j = 0; j < run[i].count; j++)
                    for (int64_t x = 0; x < run[i].len; x++)
                        assert_int_equal(run[i].begin + j * run[i].step + x, index[k++]);
            assert_int_equal(k, n);
            run[0].begin = -7; /* with no room it still counts, and writes nothing */
            assert_int_equal(tsr_spec_runs(spec, r, d, run, 0, &total, NULL), TSR_OK);
            assert_int_equal(total, n_runs);
            assert_int_equal(run[0].begin, -7);
        }
    }
}

static tsr_spec make_spec(const char *mesh, int ndim)
{
    tsr_spec spec = {.dtype = TSR_F32, .shape = {.ndim = ndim}};

    assert_int_equal(tsr_mesh_parse(mesh, &spec.mesh, NULL), TSR_OK);
    return spec;
}

/* All combinations of R, S(0), SS(0,2), SS(0,3), SS(0,7), P over the mesh dims of a 1-D tensor. */
static void all_specs_of_one_dim(void **state)
{
    static const tsr_placement choice[] = {
        {.kind = TSR_REPLICATE},
        {.kind = TSR_SHARD},
        {.kind = TSR_STRIDED, .factor = 2},
        {.kind = TSR_STRIDED, .factor = 3},
        {.kind = TSR_STRIDED, .factor = 7},
        {.kind = TSR_PARTIAL},
    };

    (void)state;
    for (size_t t = 0; t < sizeof MESHES / sizeof MESHES[0]; t++) {
        tsr_spec spec = make_spec(MESHES[t], 1);
        int all = 1;
        for (int m = 0; m < spec.mesh.ndim; m++)
            all *= 6;
        for (size_t s = 0; s < sizeof SIZES / sizeof SIZES[0]; s++)
            for (int c = 0; c < all; c++) {
                int rest = c;
                for (int m = 0; m < spec.mesh.ndim; m++, rest /= 6)
                    spec.place[m] = choice[rest % 6];
                spec.shape.size[0] = SIZES[s];
                check_spec(&spec);
            }
    }
}

/* Mesh dims in every order, as the planner's layouts have them. */
static void all_orders(void **state)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t factors[] = {1, 2, 3};

    (void)state;
    for (int k = 0; k < 6; k++)
        for (int n = 1; n <= 3; n++)
            for (int f = 0; f < 27; f++)
                for (size_t s = 0; s < sizeof SIZES / sizeof SIZES[0]; s++) {
                    tsr_layout layout = {.dtype = TSR_U8, .shape = {1, {SIZES[s]}}};
                    assert_int_equal(tsr_mesh_parse("2x3x2", &layout.mesh, NULL), TSR_OK);
                    layout.dim[0].n = n;
                    for (int i = 0; i < n; i++) {
                        layout.dim[0].mdim[i] = order[k][i];
                        layout.dim[0].factor[i] = factors[f / (i == 0 ? 1 : i == 1 ? 3 : 9) % 3];
                    }
                    check_layout(&layout);
                }
}

static void random_specs(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        tsr_spec spec = make_spec(MESHES[below(&seed, 10)], 1 + below(&seed, 3));
        spec.dtype = (tsr_dtype)below(&seed, 4);
        for (int d = 0; d < spec.shape.ndim; d++)
            spec.shape.size[d] = below(&seed, 30);
        for (int m = 0; m < spec.mesh.ndim; m++)
            spec.place[m] = (tsr_placement){.kind = (tsr_placement_kind)below(&seed, 4),
                                            .dim = below(&seed, spec.shape.ndim),
                                            .factor = 1 + below(&seed, 9)};
        check_spec(&spec);
    }
}

static void windows(void **state)
{
    uint64_t seed = 2;
    tsr_layout halo = {.dtype = TSR_F32, .shape = {1, {12}}};
    tsr_runs runs = {0};
    tsr_heap heap = {0};

    (void)state;
    for (int round = 0; round < 40000; round++) {
        tsr_layout layout = {.dtype = TSR_F32, .shape = {1, {below(&seed, 40)}}};
        assert_int_equal(tsr_mesh_parse(MESHES[below(&seed, 10)], &layout.mesh, NULL), TSR_OK);
        int extent = 1 + below(&seed, 9), pad = below(&seed, 12);
        layout.dim[0].window = (tsr_dim_window){.on = true,
                                                .n = below(&seed, 40),
                                                .mul = 1 + below(&seed, 4),
                                                .lo = -pad,
                                                .hi = extent - pad,
                                                .div = below(&seed, 4),
                                                .circular = round % 3 == 0};
        layout.dim[0].n = below(&seed, layout.mesh.ndim + 1);
        for (int i = 0; i < layout.dim[0].n; i++) {
            layout.dim[0].mdim[i] = i;
            layout.dim[0].factor[i] = 1;
        }
        for (int r = 0; r < tsr__mesh_size(&layout.mesh); r++) {
            int coord[TSR_MAX_MESH];
            int64_t index[NAIVE_MAX];
            tsr__mesh_coords(&layout.mesh, r, coord);
            int n = naive_indices(&layout, 0, coord, index);
            assert_int_equal(tsr__layout_runs(&heap, &layout, 0, coord, &runs, NULL), TSR_OK);
            check_runs(&runs, index, n);
            assert_int_equal(tsr__layout_extent(&layout, 0, coord), n);
            tsr__runs_free(&heap, &runs);
        }
        assert_int_equal(tsr__layout_bytes(&layout), (size_t)naive_largest(&layout) * 4);
    }
    /* the second of three ranks, with a halo of 2 */
    assert_int_equal(tsr_mesh_parse("3", &halo.mesh, NULL), TSR_OK);
    halo.dim[0] = (tsr_dim_layout){.n = 1, .factor = {1}, .window = {true, 12, 1, -2, 3, 1, false}};
    assert_int_equal(tsr__layout_runs(&heap, &halo, 0, (int[]){1}, &runs, NULL), TSR_OK);
    assert_int_equal(runs.n, 1);
    assert_int_equal(runs.fixed[0].begin, 2);
    assert_int_equal(runs.fixed[0].len, 8);
}

/* Many pieces stay few runs, and the closed form of their number holds for sizes beyond memory. */
static void strided_stays_small(void **state)
{
    static const int64_t sizes[] = {4096 * 4096, 4096 * 100 + 37, 5000, 4095, INT64_C(1) << 60};
    tsr_heap heap = {0};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int r = 0; r < 4; r++) {
            tsr_layout layout = {.dtype = TSR_U8, .shape = {1, {sizes[s]}}};
            tsr_runs runs = {0};
            int64_t total = 0;
            assert_int_equal(tsr_mesh_parse("4x3", &layout.mesh, NULL), TSR_OK);
            layout.dim[0] = (tsr_dim_layout){.n = 1, .factor = {4096}};
            assert_int_equal(tsr__layout_runs(&heap, &layout, 0, (int[]){r, 0}, &runs, NULL),
                             TSR_OK);
            assert_true(runs.n <= 2 && !runs.more);
            assert_int_equal(tsr__runs_count(&runs), tsr__layout_extent(&layout, 0, (int[]){r, 0}));
            tsr__runs_free(&heap, &runs);
            for (int q = 0; q < 4; q++)
                total += tsr__layout_extent(&layout, 0, (int[]){q, 0});
            assert_true(total == sizes[s]);
            /* a plain shard of it cuts at two places */
            layout.dim[0] = (tsr_dim_layout){.n = 2, .mdim = {0, 1}, .factor = {4096, 1}};
            assert_int_equal(tsr__layout_runs(&heap, &layout, 0, (int[]){r, 1}, &runs, NULL),
                             TSR_OK);
            assert_true(runs.n <= 4);
            assert_int_equal(tsr__runs_count(&runs), tsr__layout_extent(&layout, 0, (int[]){r, 1}));
            tsr__runs_free(&heap, &runs);
        }
    assert_int_equal(heap.live, 0);
}

static void texts(void **state)
{
    tsr_layout layout = {.dtype = TSR_F32, .shape = {2, {8, 8}}};
    char buf[TSR_TEXT_LEN];

    (void)state;
    assert_int_equal(tsr_mesh_parse("2x2x2", &layout.mesh, NULL), TSR_OK);
    assert_string_equal(tsr__layout_text(&layout, buf, sizeof buf), "[R,R,R]");
    layout.dim[0] = (tsr_dim_layout){.n = 2, .mdim = {1, 0}, .factor = {1, 2}};
    layout.partial[2] = true;
    layout.reduce[2] = TSR_MAX;
    assert_string_equal(tsr__layout_text(&layout, buf, sizeof buf),
                        "[SS(0,2)/1,0,S(0)/1,0,P(max)]");
    layout.dim[0] = (tsr_dim_layout){.n = 2, .mdim = {0, 1}, .factor = {3, 1}};
    assert_string_equal(tsr__layout_text(&layout, buf, sizeof buf), "[SS(0,3),S(0),P(max)]");
    for (size_t n = 1; n < 25; n++) {
        memset(buf, '#', sizeof buf);
        tsr__layout_text(&layout, buf, n);
        assert_true(strlen(buf) < n);
        assert_int_equal(buf[n], '#');
    }
}

/* Along a mesh dim of size 1 every placement holds all indices: a factor there makes no pieces. */
static void dims_of_size_1(void **state)
{
    static const char *const specs[][2] = {{"1x2", "f32[12,3]@[SS(0,2),S(0)]"},
                                           {"2x1", "f32[12,3]@[S(0),SS(0,2)]"},
                                           {"1x2x1", "f32[12,3]@[SS(0,5),S(0),SS(0,3)]"},
                                           {"1x2x1", "f32[12,3]@[P(max),S(0),S(0)]"}};
    tsr_mesh_shape mesh;

    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (int r = 0; r < 2; r++) {
            tsr_spec spec;
            tsr_layout layout;
            int coord[TSR_MAX_MESH], n;
            int64_t begin, end;
            tsr_index_run run[4];

            assert_int_equal(tsr_mesh_parse(specs[i][0], &mesh, NULL), TSR_OK);
            assert_int_equal(tsr_spec_parse(specs[i][1], &mesh, &spec, NULL), TSR_OK);
            layout = tsr__layout_of(&spec);
            tsr__mesh_coords(&spec.mesh, r, coord);
            assert_true(tsr__layout_interval(&layout, 0, coord, &begin, &end));
            assert_int_equal(begin, 6 * r);
            assert_int_equal(end, 6 * r + 6);
            assert_int_equal(tsr_spec_runs(&spec, r, 0, run, 4, &n, NULL), TSR_OK);
            assert_int_equal(n, 1);
            assert_false(layout.partial[0]);
        }
}

static void bad_arguments(void **state)
{
    tsr_spec spec = make_spec("2x2", 1);
    tsr_shape part;
    tsr_index_run run;
    int n = 0;
    tsr_error err = {0};

    (void)state;
    spec.shape.size[0] = 4;
    assert_int_equal(tsr_spec_local_shape(&spec, 4, &part, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "mesh index 4 is out of range 0 to 3"));
    assert_int_equal(tsr_spec_local_shape(&spec, -1, &part, NULL), TSR_ERR_ARG);
    memset(&err, 0, sizeof err);
    assert_int_equal(tsr_spec_runs(&spec, 0, 1, &run, 1, &n, &err), TSR_ERR_ARG);
    assert_non_null(strstr(err.text, "dim 1 is out of range 0 to 0"));
    assert_int_equal(tsr_spec_runs(&spec, 0, -1, &run, 1, &n, NULL), TSR_ERR_ARG);
    spec.mesh.ndim = 9;
    assert_int_equal(tsr_spec_local_shape(&spec, 0, &part, NULL), TSR_ERR_MESH);
}

/* ---- equality: every field counts ---- */

#define UNLIKE(equal, base, field, value)                                                          \
    do {                                                                                           \
        __typeof__(base) other = base;                                                             \
        assert_true(equal(&base, &other));                                                         \
        other.field = value;                                                                       \
        assert_false(equal(&base, &other));                                                        \
        assert_false(equal(&other, &base));                                                        \
    } while (0)

static void equal_layouts_are_equal_in_every_field(void **state)
{
    tsr_layout a = {.dtype = TSR_F32,
                    .shape = {.ndim = 2, .size = {8, 6}},
                    .mesh = {.ndim = 2, .size = {2, 3}, .stride = {3, 1}},
                    .dim = {{.n = 2,
                             .mdim = {0, 1},
                             .factor = {1, 2},
                             .window = {.on = true, .n = 8, .mul = 2, .lo = -1, .hi = 1}}}};
    (void)state;

    UNLIKE(tsr__layout_equal, a, dtype, TSR_I32);
    UNLIKE(tsr__layout_equal, a, shape.ndim, 1);
    UNLIKE(tsr__layout_equal, a, shape.size[1], 7);
    UNLIKE(tsr__layout_equal, a, mesh.ndim, 1);
    UNLIKE(tsr__layout_equal, a, mesh.first, 1);
    UNLIKE(tsr__layout_equal, a, mesh.size[1], 2);
    UNLIKE(tsr__layout_equal, a, mesh.stride[0], 4);
    UNLIKE(tsr__layout_equal, a, dim[0].n, 1);
    UNLIKE(tsr__layout_equal, a, dim[0].mdim[1], 2);
    UNLIKE(tsr__layout_equal, a, dim[0].factor[1], 1);
    UNLIKE(tsr__layout_equal, a, dim[1].n, 1);
    UNLIKE(tsr__layout_equal, a, dim[0].window.on, false);
    UNLIKE(tsr__layout_equal, a, dim[0].window.n, 7);
    UNLIKE(tsr__layout_equal, a, dim[0].window.mul, 1);
    UNLIKE(tsr__layout_equal, a, dim[0].window.lo, 0);
    UNLIKE(tsr__layout_equal, a, dim[0].window.hi, 2);
    UNLIKE(tsr__layout_equal, a, dim[0].window.div, 2);
    UNLIKE(tsr__layout_equal, a, dim[0].window.circular, true);
}

static void equal_specs_are_equal_in_every_field(void **state)
{
    tsr_mesh_shape mesh;
    tsr_spec a;
    (void)state;

    assert_int_equal(tsr_mesh_parse("2x2x2", &mesh, NULL), TSR_OK);
    assert_int_equal(tsr_spec_parse("f32[8,6]@[S(0),SS(1,2),P(max)]", &mesh, &a, NULL), TSR_OK);
    UNLIKE(tsr_spec_equal, a, dtype, TSR_I32);
    UNLIKE(tsr_spec_equal, a, shape.ndim, 1);
    UNLIKE(tsr_spec_equal, a, shape.size[1], 7);
    UNLIKE(tsr_spec_equal, a, mesh.ndim, 2);
    UNLIKE(tsr_spec_equal, a, mesh.first, 1);
    UNLIKE(tsr_spec_equal, a, mesh.size[2], 3);
    UNLIKE(tsr_spec_equal, a, mesh.stride[0], 8);
    UNLIKE(tsr_spec_equal, a, place[0].kind, TSR_REPLICATE);
    UNLIKE(tsr_spec_equal, a, place[0].dim, 1);
    UNLIKE(tsr_spec_equal, a, place[1].factor, 3);
    UNLIKE(tsr_spec_equal, a, place[1].dim, 0);
    UNLIKE(tsr_spec_equal, a, place[2].reduce, TSR_MIN);
    UNLIKE(tsr_spec_equal, a, place[2].kind, TSR_REPLICATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_layouts_are_equal_in_every_field),
        cmocka_unit_test(equal_specs_are_equal_in_every_field),
        cmocka_unit_test(all_specs_of_one_dim),
        cmocka_unit_test(all_orders),
        cmocka_unit_test(random_specs),
        cmocka_unit_test(windows),
        cmocka_unit_test(strided_stays_small),
        cmocka_unit_test(texts),
        cmocka_unit_test(dims_of_size_1),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
