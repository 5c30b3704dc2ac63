/* SPDX-License-Identifier: Apache-2.0 */
/* test_mesh.c - meshes as plain values: text forms, coordinates and ranks, sub-meshes, and what is
   said about text that is no mesh. */
#include <limits.h>

#include "support/test.h"
#include "support/bad_texts.h"
#include "mesh/mesh_shape.h"

static tsr_mesh_shape parse(const char *text)
{
    tsr_mesh_shape mesh;
    tsr_error err = {0};

    if (tsr_mesh_parse(text, &mesh, &err) != TSR_OK)
        fail_msg("%s: %s", text, err.text);
    return mesh;
}

static void text_forms(void **state)
{
    static const char *const texts[] = {"1",
                                        "4",
                                        "2x4",
                                        "128x64x16",
                                        "data=2,model=4",
                                        "a=1",
                                        "x=3",
                                        "fifteen_letters=2,B_2=3",
                                        "1x1x1x1x1x1x1x2",
                                        "131072",
                                        "a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8"};
    char buf[TSR_TEXT_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tsr_mesh_shape mesh = parse(texts[i]), again;
        assert_string_equal(tsr_mesh_text(&mesh, buf, sizeof buf), texts[i]);
        again = parse(buf);
        assert_true(tsr__mesh_equal(&mesh, &again));
        assert_true(tsr__mesh_hash(&mesh, 5) == tsr__mesh_hash(&again, 5));
    }
}

static void text_fits_any_buffer(void **state)
{
    tsr_mesh_shape mesh = parse("alpha=1000,beta=20,gamma=3");
    char whole[TSR_TEXT_LEN], buf[TSR_TEXT_LEN], dims[TSR_TEXT_LEN];

    (void)state;
    tsr_mesh_text(&mesh, whole, sizeof whole);
    for (size_t n = 1; n <= strlen(whole) + 1; n++) {
        memset(buf, '#', sizeof buf);
        tsr_mesh_text(&mesh, buf, n);
        assert_int_equal(strlen(buf), n - 1);
        assert_memory_equal(buf, whole, n - 1);
        assert_int_equal(buf[n], '#');
        memset(dims, '#', sizeof dims);
        tsr__mesh_dims_text(&mesh, 7, dims, n);
        assert_true(strlen(dims) < n);
        assert_int_equal(dims[n], '#');
    }
}

static void fields(void **state)
{
    tsr_mesh_shape mesh = parse("data=2,model=3,pipe=4");

    (void)state;
    assert_int_equal(mesh.ndim, 3);
    assert_int_equal(mesh.first, 0);
    assert_int_equal(mesh.size[0], 2);
    assert_int_equal(mesh.size[2], 4);
    assert_int_equal(mesh.stride[0], 12);
    assert_int_equal(mesh.stride[1], 4);
    assert_int_equal(mesh.stride[2], 1);
    assert_string_equal(mesh.name[1], "model");
    assert_int_equal(tsr__mesh_size(&mesh), 24);
    assert_int_equal(tsr__mesh_last_rank(&mesh), 23);
    mesh = parse("5x2");
    assert_string_equal(mesh.name[0], "");
}

static tsr_status parse_mesh(const char *text, void *out, tsr_error *err)
{
    return tsr_mesh_parse(text, out, err);
}

static void bad_texts(void **state)
{
    static const bad_text bad[] = {
        {NULL, TSR_ERR_ARG, "NULL"},
        {"", TSR_ERR_PARSE, "expected a size at \"\""},
        {"2x2x2x2x2x2x2x2x2", TSR_ERR_MESH, "more than 8 dims"},
        {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1", TSR_ERR_MESH, "more than 8 dims"},
        {"0", TSR_ERR_MESH, "has size 0, expected 1 to"},
        {"2x0", TSR_ERR_MESH, "has size 0"},
        {"-3", TSR_ERR_MESH, "has size -3"},
        {"a=-3", TSR_ERR_MESH, "has size -3"},
        {"-", TSR_ERR_PARSE, "expected a size at \"-\""},
        {"2x", TSR_ERR_PARSE, "expected a size at \"\""},
        {"x2", TSR_ERR_PARSE, "expected a size at \"x2\""},
        {"2,2", TSR_ERR_PARSE, "expected 'x' at \",2\""},
        {"2x2 ", TSR_ERR_PARSE, "expected 'x' at \" \""},
        {" 2", TSR_ERR_PARSE, "expected a size"},
        {"2xx2", TSR_ERR_PARSE, "expected a size at \"x2\""},
        {"2x2y", TSR_ERR_PARSE, "expected 'x' at \"y\""},
        {"+2", TSR_ERR_PARSE, "expected a size"},
        {"2.5", TSR_ERR_PARSE, "expected 'x'"},
        {"data=2,data=2", TSR_ERR_MESH, "two dims are called data"},
        {"data=2,", TSR_ERR_PARSE, "expected name=size at \"\""},
        {"data=2,4", TSR_ERR_PARSE, "expected name=size at \"4\""},
        {"data=2x2", TSR_ERR_PARSE, "expected ',' at \"x2\""},
        {"data=", TSR_ERR_PARSE, "expected a size at \"\""},
        {"=2", TSR_ERR_PARSE, "expected name=size"},
        {"da ta=2", TSR_ERR_PARSE, "expected name=size"},
        {"1=2,0=3", TSR_ERR_PARSE, "expected name=size"},
        {"sixteen_letters_=2", TSR_ERR_PARSE, "longer than 15 letters"},
        {"2147483648", TSR_ERR_MESH, "has size 2147483648"},
        {"99999999999999999999999", TSR_ERR_MESH, "has size 99999999999999999999999"},
        {"2147483647", TSR_ERR_MESH, "more than 131072 ranks"},
        {"512x257", TSR_ERR_MESH, "more than 131072 ranks"},
        {"65536x65536", TSR_ERR_MESH, "more than 131072 ranks"},
        {"2147483647x2147483647x2147483647", TSR_ERR_MESH, "more than 131072 ranks"},
    };

    (void)state;
    expect_bad_texts(bad, sizeof bad / sizeof bad[0], parse_mesh, sizeof(tsr_mesh_shape));
}

static void make_checks(void **state)
{
    const int sizes[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, zero[2] = {2, 0}, large = TSR_MAX_RANKS;
    tsr_mesh_shape mesh;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__mesh_shape_make(sizes, 9, 0, &mesh, &err), TSR_ERR_MESH);
    assert_int_equal(tsr__mesh_shape_make(sizes, -1, 0, &mesh, NULL), TSR_ERR_MESH);
    assert_int_equal(tsr__mesh_shape_make(zero, 2, 0, &mesh, NULL), TSR_ERR_MESH);
    assert_int_equal(tsr__mesh_shape_make(sizes, 1, -1, &mesh, NULL), TSR_ERR_MESH);
    assert_int_equal(tsr__mesh_shape_make(&large, 1, 1, &mesh, NULL), TSR_ERR_MESH);
    assert_int_equal(tsr__mesh_shape_make(&large, 1, 0, &mesh, NULL), TSR_OK);
    assert_int_equal(tsr__mesh_shape_make(sizes, 8, 5, &mesh, NULL), TSR_OK);
    assert_int_equal(tsr__mesh_size(&mesh), 256);
    assert_int_equal(tsr__mesh_last_rank(&mesh), 260);
}

/* Every index to its coordinates and back, and every rank near the mesh is found or not. */
static void check_mesh(const tsr_mesh_shape *mesh)
{
    int n = tsr__mesh_size(mesh), coord[TSR_MAX_MESH], index_of[512];

    for (int r = 0; r < 512; r++)
        index_of[r] = -1;
    for (int i = 0; i < n; i++) {
        int rest = i, rank = mesh->first;
        tsr__mesh_coords(mesh, i, coord);
        for (int m = mesh->ndim - 1; m >= 0; m--) {
            assert_int_equal(coord[m], rest % mesh->size[m]);
            rest /= mesh->size[m];
            rank += coord[m] * mesh->stride[m];
        }
        assert_int_equal(tsr__mesh_index_of(mesh, coord), i);
        assert_int_equal(tsr__mesh_rank_at(mesh, coord), rank);
        assert_int_equal(tsr__mesh_rank_of(mesh, i), rank);
        assert_true(rank < 512 && index_of[rank] < 0); /* no rank twice */
        index_of[rank] = i;
    }
    for (int r = 0; r < 512; r++)
        assert_int_equal(tsr__mesh_find(mesh, r), index_of[r]);
    assert_int_equal(tsr__mesh_find(mesh, -1), -1);
    assert_int_equal(tsr__mesh_find(mesh, INT_MAX), -1);
    assert_int_equal(index_of[tsr__mesh_last_rank(mesh)], n - 1);
}

static void coordinates_and_sub_meshes(void **state)
{
    static const char *const texts[] = {"1", "7", "2x3", "3x1x2", "1x1", "2x2x2x2", "1x4x1x3x1"};
    char name[TSR_NAME_LEN];

    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (int first = 0; first < 40; first += 13) {
            tsr_mesh_shape plain = parse(texts[t]), mesh;
            assert_int_equal(tsr__mesh_shape_make(plain.size, plain.ndim, first, &mesh, NULL),
                             TSR_OK);
            check_mesh(&mesh);
            for (unsigned mask = 0; mask < 1u << mesh.ndim; mask++)
                for (int i = 0; i < tsr__mesh_size(&mesh); i++) {
                    int coord[TSR_MAX_MESH];
                    tsr__mesh_coords(&mesh, i, coord);
                    tsr_mesh_shape sub = tsr__mesh_through(&mesh, mask, coord);
                    assert_int_equal(sub.ndim, __builtin_popcount(mask));
                    check_mesh(&sub);
                    /* a rank belongs to it iff its other coordinates are those of i */
                    for (int j = 0; j < tsr__mesh_size(&mesh); j++) {
                        int other[TSR_MAX_MESH], inside = 1;
                        tsr__mesh_coords(&mesh, j, other);
                        for (int m = 0; m < mesh.ndim; m++)
                            inside = inside && (mask >> m & 1 || other[m] == coord[m]);
                        assert_int_equal(tsr__mesh_find(&sub, tsr__mesh_rank_of(&mesh, j)) >= 0,
                                         inside);
                    }
                }
        }
    tsr_mesh_shape named = parse("data=2,model=3");
    tsr_mesh_shape sub = tsr__mesh_through(&named, 2, (int[]){1, 0});
    assert_string_equal(sub.name[0], "model");
    assert_int_equal(sub.first, 3);
    assert_string_equal(tsr__mesh_dim_text(&named, 1, name, sizeof name), "model");
}

static void dims_of_a_mesh(void **state)
{
    tsr_mesh_shape named = parse("data=2,model=3,pipe=2"), plain = parse("2x3x2");
    char buf[TSR_TEXT_LEN];
    unsigned mask = 77;
    tsr_error err = {0};

    (void)state;
    assert_int_equal(tsr__mesh_dims_parse(&named, "model", &mask, &err), TSR_OK);
    assert_int_equal(mask, 2);
    assert_int_equal(tsr__mesh_dims_parse(&named, "data,pipe", &mask, &err), TSR_OK);
    assert_int_equal(mask, 5);
    assert_int_equal(tsr__mesh_dims_parse(&named, "2,model", &mask, &err), TSR_OK);
    assert_int_equal(mask, 6);
    assert_int_equal(tsr__mesh_dims_parse(&plain, "0,1,2", &mask, &err), TSR_OK);
    assert_int_equal(mask, 7);
    assert_string_equal(tsr__mesh_dims_text(&named, 5, buf, sizeof buf), "data,pipe");
    assert_string_equal(tsr__mesh_dims_text(&plain, 6, buf, sizeof buf), "1,2");
    assert_string_equal(tsr__mesh_dims_text(&plain, 0, buf, sizeof buf), "");

    static const char *const bad[] = {"row",        "dat", "data2", "3",     "-1",        "00",
                                      "data,,pipe", ",",   "data,", " data", "data model"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&err, 0, sizeof err);
        mask = 77;
        if (tsr__mesh_dims_parse(&named, bad[i], &mask, &err) != TSR_ERR_MESH ||
            !strstr(err.text, "mesh data=2,model=3,pipe=2 has no dim"))
            fail_msg("\"%s\": \"%s\"", bad[i], err.text);
        assert_int_equal(mask, 77);
    }
    assert_int_equal(tsr__mesh_dims_parse(&named, NULL, &mask, NULL), TSR_ERR_ARG);
}

static void equality(void **state)
{
    const tsr_mesh_shape a = parse("2x3");
    tsr_mesh_shape b = a;

    (void)state;
    assert_true(tsr__mesh_equal(&a, &b));
    strcpy(b.name[0], "data"); /* names do not count */
    assert_true(tsr__mesh_equal(&a, &b));
    assert_true(tsr__mesh_hash(&a, 1) == tsr__mesh_hash(&b, 1));
    for (int change = 0; change < 4; change++) {
        b = a;
        b.ndim -= change == 0;
        b.first += change == 1;
        b.size[1] += change == 2;
        b.stride[0] += change == 3;
        assert_false(tsr__mesh_equal(&a, &b));
        assert_true(tsr__mesh_hash(&a, 1) != tsr__mesh_hash(&b, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_forms),     cmocka_unit_test(text_fits_any_buffer),
        cmocka_unit_test(fields),         cmocka_unit_test(bad_texts),
        cmocka_unit_test(make_checks),    cmocka_unit_test(coordinates_and_sub_meshes),
        cmocka_unit_test(dims_of_a_mesh), cmocka_unit_test(equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
