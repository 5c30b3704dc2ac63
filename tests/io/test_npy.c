/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy.c - saving and loading on thread ranks: what is in the file, and what comes back. */
#include "support/test.h"
#include "base/dtype.h"
#include "io/npy_header.h"
#include "io/part_file.h"
#include "npy_place.h"

/* ---- round trips ---- */

typedef struct trip {
    const char *path;
    tsr_dtype dtype;
    const char *shape, *from, *to;
} trip;

/* Small integers, which all dtypes but bool hold exactly. */
static void *host_values(tsr_dtype dtype, int64_t n)
{
    int64_t *wide = calloc((size_t)n + 1, sizeof *wide);
    void *data = calloc((size_t)n + 1, tsr_dtype_size(dtype));

    for (int64_t i = 0; i < n; i++)
        wide[i] = i * 7 % 101;
    tsr__convert(dtype, data, TSR_I64, wide, n);
    free(wide);
    return data;
}

static void check_file(const char *path, const tsr_spec *spec, const void *host, size_t bytes)
{
    char header[TSR_NPY_WRITTEN];
    size_t n, got;
    tsr_dtype dtype;
    tsr_shape shape;
    FILE *file = fopen(path, "r");
    char *text;

    assert_non_null(file);
    assert_int_equal(tsr__npy_write(spec->dtype, &spec->shape, header, &n, NULL), TSR_OK);
    text = malloc(n + bytes + 1);
    got = fread(text, 1, n + bytes + 1, file);
    assert_int_equal(got, n + bytes);
    assert_memory_equal(text, header, n);
    if (bytes)
        assert_memory_equal(text + n, host, bytes);
    assert_int_equal(tsr_npy_info(path, &dtype, &shape, NULL), TSR_OK);
    assert_int_equal(dtype, spec->dtype);
    assert_int_equal(shape.ndim, spec->shape.ndim);
    free(text);
    fclose(file);
}

static tsr_status trip_job(tsr_mesh *mesh, void *arg)
{
    const trip *t = arg;
    char text[128];
    tsr_tensor *x, *y;
    tsr_spec spec;
    tsr_status st;
    void *host = NULL, *back = NULL;
    size_t bytes;

    snprintf(text, sizeof text, "%s%s@%s", tsr_dtype_name(t->dtype), t->shape, t->from);
    TSR_TRY(tsr_spec_parse(text, tsr_mesh_shape_get(mesh), &spec, NULL));
    host = host_values(t->dtype, tsr_shape_count(&spec.shape));
    x = from_host(mesh, text, host);
    TSR_TRY(tsr_save_npy(x, t->path));
    bytes = (size_t)tsr_shape_count(&spec.shape) * tsr_dtype_size(t->dtype);
    if (tsr_mesh_index(mesh) == 0)
        check_file(t->path, &spec, host, bytes);
    y = tsr_load_npy(mesh, t->path, t->to);
    back = calloc(1, bytes + 1);
    TSR_TRY(tsr_to_host(y, back, bytes));
    assert_memory_equal(back, host, bytes + 1);
    st = tsr_mesh_status(mesh);
done:
    free(host);
    free(back);
    return st;
}

static void round_trips_of_all_dtypes(void **state)
{
    const place *p = *state;

    for (int t = TSR_F32; t < TSR__FIELD; t++) {
        trip one = {p->path, (tsr_dtype)t, "[5,7]", "[S(0),S(1)]", "[S(1),R]"};
        pass_on("2x2", trip_job, &one);
    }
}

static void round_trips_of_all_placements(void **state)
{
    static const char *const shape[] = {"[]",    "[7]",     "[0]",     "[12,5]",     "[3,0,2]",
                                        "[1,9]", "[2,3,5]", "[6,1,4]", "[2,2,3,2,5]"};
    static const struct {
        const char *mesh;
        const char *by[8];
    } cases[] = {
        {"1", {"[R]", "[S(0)]", "[P(sum)]"}},
        {"2", {"[R]", "[S(0)]", "[S(1)]", "[SS(0,2)]", "[SS(1,3)]", "[P(avg)]", "[P(sum)]"}},
        {"3", {"[S(0)]", "[S(1)]", "[SS(0,4)]", "[S(2)]", "[P(max)]", "[P(prod)]"}},
        {"2x2",
         {"[S(0),S(0)]", "[S(0),R]", "[R,S(1)]", "[SS(0,2),S(0)]", "[P(sum),S(0)]", "[S(1),P(min)]",
          "[P(sum),P(sum)]", "[S(1),S(0)]"}},
    };
    const place *p = *state;
    tsr_mesh_shape mesh;
    tsr_spec spec;
    char text[128];

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t s = 0; s < sizeof shape / sizeof shape[0]; s++)
            for (int i = 0; i < 8; i++) {
                trip t = {p->path, TSR_F64, shape[s], cases[c].by[i], cases[c].by[(i + 3) % 8]};
                assert_int_equal(tsr_mesh_parse(cases[c].mesh, &mesh, NULL), TSR_OK);
                if (!t.from)
                    continue;
                snprintf(text, sizeof text, "f64%s@%s", t.shape, t.from);
                if (tsr_spec_parse(text, &mesh, &spec, NULL) != TSR_OK)
                    continue; /* no such dim */
                if (!t.to || tsr_placements_parse(t.to, &spec, &spec, NULL) != TSR_OK)
                    t.to = t.from;
                pass_on(cases[c].mesh, trip_job, &t);
            }
}

/* Parts of thousands of tiny ranges are moved together first. */
static void scattered_parts(void **state)
{
    const place *p = *state;
    trip narrow = {p->path, TSR_I32, "[4099,3]", "[S(1)]", "[S(1)]"};
    trip strided = {p->path, TSR_U8, "[1,8191]", "[SS(1,1300),R]", "[S(0),SS(1,1500)]"};
    trip partial = {p->path, TSR_F32, "[4099,2]", "[S(1),P(sum)]", "[P(sum),S(1)]"};
    const tsr_spec few = {.dtype = TSR_F32,
                          .shape = {2, {600, 2048}},
                          .mesh = {.ndim = 1, .size = {2}},
                          .place = {{.kind = TSR_SHARD, .dim = 1}}};
    tsr_spec many = few;

    assert_false(tsr__part_is_scattered(&few)); /* 4 KiB each */
    many.shape.size[1] = 2046;
    assert_true(tsr__part_is_scattered(&many)); /* 1200 of less */
    many.shape.size[0] = 500;
    assert_false(tsr__part_is_scattered(&many)); /* 1000 of them */
    pass_on("3", trip_job, &narrow);
    pass_on("2x2", trip_job, &strided);
    pass_on("2x2", trip_job, &partial);
}

static tsr_status terms_job(tsr_mesh *mesh, void *arg)
{
    int32_t mine[4], sum[4];
    tsr_tensor *x, *y;
    tsr_status st;

    for (int i = 0; i < 4; i++)
        mine[i] = (tsr_mesh_rank(mesh) + 1) * (i + 1);
    x = from_local(mesh, "i32[4]@[P(sum)]", mine, &(tsr_shape){1, {4}});
    TSR_TRY(tsr_save_npy(x, arg));
    y = tsr_load_npy(mesh, arg, "[R]");
    TSR_TRY(tsr_to_host(y, sum, sizeof sum));
    for (int i = 0; i < 4; i++)
        assert_int_equal(sum[i], 6 * (i + 1));
done:
    return st;
}

static void a_partial_tensor_is_saved_as_its_value(void **state)
{
    place *p = *state;
    pass_on("3", terms_job, p->path);
}

static tsr_status truth_job(tsr_mesh *mesh, void *arg)
{
    uint8_t out[4];
    tsr_status st = tsr_to_host(tsr_load_npy(mesh, arg, "[S(0)]"), out, sizeof out);

    assert_memory_equal(out, ((uint8_t[]){0, 1, 1, 1}), 4);
    return st;
}

/* A bool is one byte 0 or 1 in memory, whatever a file holds. */
static void anything_but_0_is_true(void **state)
{
    place *p = *state;
    char header[TSR_NPY_WRITTEN];
    size_t n;
    FILE *file = fopen(p->path, "w");

    assert_int_equal(tsr__npy_write(TSR_BOOL, &(tsr_shape){1, {4}}, header, &n, NULL), TSR_OK);
    fwrite(header, 1, n, file);
    fwrite("\0\x01\x02\xff", 1, 4, file);
    fclose(file);
    pass_on("2", truth_job, p->path);
}

static tsr_status outside_job(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *part = NULL;
    tsr_tensor *x, *y;
    float out[6];
    tsr_status st;

    TSR_TRY(tsr_mesh_part(mesh, "2", 1, &part));
    TSR_TRY(tsr_save_npy(tsr_arange(part, "f32[2,3]@[S(1)]", 1, 1), arg));
    TSR_TRY(tsr_barrier(mesh)); /* those outside have not waited */
    x = tsr_load_npy(part, arg, "[S(0)]");
    y = tsr_redistribute_to(x, mesh, "[S(1)]");
    TSR_TRY(tsr_to_host(y, out, sizeof out));
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == (float)(i + 1));
done:
    tsr_mesh_unref(part);
    return st;
}

static void ranks_outside_take_no_part(void **state)
{
    place *p = *state;
    pass_on("4", outside_job, p->path);
}

static tsr_status sim_job(tsr_mesh *mesh, void *arg)
{
    assert_int_equal(tsr_save_npy(tsr_zeros(mesh, "f32[8]@[S(0)]"), arg), TSR_ERR_NO_DATA);
    tsr_mesh_clear_error(mesh);
    assert_false(tsr_tensor_ok(tsr_load_npy(mesh, arg, "[S(0)]")));
    assert_int_equal(tsr_mesh_status(mesh), TSR_ERR_NO_DATA);
    return TSR_OK;
}

static void sim_has_no_data(void **state)
{
    place *p = *state;
    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "64", .world = TSR_WORLD_SIM), sim_job, p->path);
}

/* Saves of one process to one path at the same time: one of them wins, whole. */
static tsr_status race_job(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *mine = NULL;
    tsr_tensor *x;
    tsr_status st;

    TSR_TRY(tsr_mesh_sub(mesh, "1", &mine));
    x = tsr_full(mine, "f32[1000]@[S(0)]", tsr_mesh_coord(mesh, 0));
    for (int i = 0; i < 20; i++)
        TSR_TRY(tsr_save_npy(x, arg));
    TSR_TRY(tsr_barrier(mesh));
    x = tsr_load_npy(mesh, arg, "[R,R]");
    float out[1000];
    TSR_TRY(tsr_to_host(x, out, sizeof out));
    for (int i = 0; i < 1000; i++)
        assert_true(out[i] == out[0]);
done:
    tsr_mesh_unref(mine);
    return st;
}

static void saves_at_the_same_time(void **state)
{
    place *p = *state;
    pass_on("2x2", race_job, p->path);
    assert_int_equal(files_in(p->folder), 1);
}

/* ---- files of others ---- */

/* A file of 2 x 3 x 4 elements: type, byte order and order as numpy may write them. */
typedef struct foreign {
    const char *path, *descr, *placements;
    bool fortran;
} foreign;

enum { FOREIGN = 24 };

/* Element i in C order; negative ones where the type has them, and all bytes are different. */
static int64_t foreign_value(const foreign *f, int i)
{
    const int bytes = f->descr[2] - '0';
    const int64_t spread = bytes == 1 ? 5 : bytes == 2 ? 1285 : bytes == 4 ? 84215045 : 84215045;

    if (f->descr[1] == 'f') /* halves, too, have them all */
        return i - 11;
    if (f->descr[1] == 'u')
        return (i + 1) * spread + (bytes == 8 ? (int64_t)i << 56 : 0);
    return (i - 11) * spread;
}

static uint64_t foreign_bits(const foreign *f, int i)
{
    const double real = (double)foreign_value(f, i);
    const float single = (float)real;
    uint64_t bits = (uint64_t)foreign_value(f, i);

    if (f->descr[1] == 'u' && i == 20) /* the largest */
        return UINT64_MAX;
    if (f->descr[1] != 'f')
        return bits;
    bits = 0;
    if (f->descr[2] == '8')
        memcpy(&bits, &real, sizeof real);
    else if (f->descr[2] == '4')
        memcpy(&bits, &single, sizeof single);
    else
        bits = tsr__f64_to_f16(real);
    return bits;
}

static void write_foreign(const foreign *f)
{
    const int size = f->descr[2] - '0';
    FILE *file = fopen(f->path, "w");
    char text[119];
    int n;

    assert_non_null(file);
    n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (2, 3, 4), }",
                 f->descr, f->fortran ? "True" : "False");
    memset(text + n, ' ', sizeof text - (size_t)n);
    text[117] = '\n';
    fwrite("\x93NUMPY\1\0v\0", 1, 10, file);
    fwrite(text, 1, 118, file);
    for (int i = 0; i < FOREIGN; i++) {
        const int at = f->fortran ? i % 2 * 12 + i / 2 % 3 * 4 + i / 6 : i;
        const uint64_t bits = foreign_bits(f, at);
        for (int k = 0; k < size; k++)
            fputc((int)(bits >> 8 * (f->descr[0] == '>' ? size - 1 - k : k) & 0xff), file);
    }
    fclose(file);
}

/* The dtype is that of the file, and so are the bits. */
static tsr_status foreign_job(tsr_mesh *mesh, void *arg)
{
    const foreign *f = arg;
    const size_t size = (size_t)(f->descr[2] - '0');
    tsr_tensor *x = tsr_load_npy(mesh, f->path, f->placements);
    char name[8], got[FOREIGN * 8];

    CHECK(tsr_tensor_ok(x));
    snprintf(name, sizeof name, "%c%d", f->descr[1], (int)(8 * size));
    CHECK(strcmp(tsr_dtype_name(tsr_tensor_spec(x)->dtype), name) == 0);
    CHECK(tsr_to_host(x, got, FOREIGN * size) == TSR_OK);
    for (int i = 0; i < FOREIGN; i++) {
        const uint64_t want = foreign_bits(f, i);

        CHECK(memcmp(got + (size_t)i * size, &want, size) == 0);
    }
    return TSR_OK;
}

static void files_of_others(void **state)
{
    static const char *const types[] = {"|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4",
                                        ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
                                        "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"};
    static const char *const placements[] = {"[R,R]", "[S(0),S(1)]", "[S(2),S(2)]",
                                             "[SS(2,2),S(1)]", "[P(sum),S(2)]"};
    const place *p = *state;

    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int order = 0; order < 2; order++) {
            foreign f = {.path = p->path, .descr = types[t], .fortran = order};
            write_foreign(&f);
            for (size_t k = 0; k < sizeof placements / sizeof *placements; k++) {
                f.placements = placements[k];
                pass_on("2x2", foreign_job, &f);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(round_trips_of_all_dtypes), TEST(round_trips_of_all_placements),
        TEST(scattered_parts),           TEST(a_partial_tensor_is_saved_as_its_value),
        TEST(anything_but_0_is_true),    TEST(ranks_outside_take_no_part),
        TEST(sim_has_no_data),           TEST(saves_at_the_same_time),
        TEST(files_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
