/* SPDX-License-Identifier: Apache-2.0 */
/* test_spec.c - specs: text and back for every placement, what is said about bad ones, equality and
   hash, and dim maps both ways. */
#include <inttypes.h>

#include "support/test.h"
#include "support/bad_texts.h"
#include "layout/spec.h"

static tsr_mesh_shape mesh_of(const char *text)
{
    tsr_mesh_shape mesh;

    assert_int_equal(tsr_mesh_parse(text, &mesh, NULL), TSR_OK);
    return mesh;
}

static tsr_spec parse(const char *text, const char *mesh_text)
{
    tsr_mesh_shape mesh = mesh_of(mesh_text);
    tsr_spec spec;
    tsr_error err = {0};

    if (tsr_spec_parse(text, &mesh, &spec, &err) != TSR_OK)
        fail_msg("%s: %s", text, err.text);
    return spec;
}

static void round_trip_all_placements(void **state)
{
    static const char *const dtypes[] = {"f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool"};
    static const char *const places[] = {
        "R",      "S(0)",   "S(1)",   "S(2)",   "SS(0,1)", "SS(1,2)", "SS(2,9223372036854775807)",
        "P(sum)", "P(avg)", "P(min)", "P(max)", "P(prod)"};
    const int n = (int)(sizeof places / sizeof places[0]);
    char text[TSR_TEXT_LEN], buf[TSR_TEXT_LEN];

    (void)state;
    for (int t = 0; t < 8; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                bool partial = places[i][0] == 'P' || places[j][0] == 'P';
                bool avg = !strcmp(places[i], "P(avg)") || !strcmp(places[j], "P(avg)");
                if ((t == 7 && partial) || (t >= 4 && avg))
                    continue;
                snprintf(text, sizeof text, "%s[8,0,12]@[%s,%s]", dtypes[t], places[i], places[j]);
                tsr_spec spec = parse(text, "2x3"), again;
                assert_int_equal(spec.dtype, t);
                assert_string_equal(tsr_spec_text(&spec, buf, sizeof buf), text);
                again = parse(buf, "2x3");
                assert_true(tsr_spec_equal(&spec, &again));
                assert_string_equal(tsr_placements_text(&spec, buf, sizeof buf),
                                    strchr(text, '@') + 1);
                assert_int_equal(tsr_placements_parse(buf, &spec, &again, NULL), TSR_OK);
                assert_true(tsr_spec_equal(&spec, &again));
                assert_true(tsr__spec_hash(&spec) == tsr__spec_hash(&again));
            }
}

static void fields(void **state)
{
    tsr_spec spec = parse(" bf16 [ 4 , 6 ] @ [ SS( 1 , 3 ) , P( max ) , R ] ", "2x2x1");
    char buf[TSR_TEXT_LEN];

    (void)state;
    assert_int_equal(spec.dtype, TSR_BF16);
    assert_int_equal(spec.shape.ndim, 2);
    assert_int_equal(spec.shape.size[1], 6);
    assert_int_equal(spec.place[0].kind, TSR_STRIDED);
    assert_int_equal(spec.place[0].dim, 1);
    assert_int_equal(spec.place[0].factor, 3);
    assert_int_equal(spec.place[1].kind, TSR_PARTIAL);
    assert_int_equal(spec.place[1].reduce, TSR_MAX);
    assert_int_equal(spec.place[2].kind, TSR_REPLICATE);
    assert_string_equal(tsr_spec_text(&spec, buf, sizeof buf), "bf16[4,6]@[SS(1,3),P(max),R]");
    assert_int_equal(tsr__spec_bytes(&spec), 48);
    spec = parse("f64[]", "4"); /* a scalar, replicated */
    assert_int_equal(tsr_shape_count(&spec.shape), 1);
    assert_string_equal(tsr_spec_text(&spec, buf, sizeof buf), "f64[]@[R]");
    spec = parse("u8[3037000499,3037000499]", "1"); /* just below 2^63 */
    assert_true(tsr_shape_count(&spec.shape) == INT64_C(3037000499) * INT64_C(3037000499));
    spec = parse("u8[4611686018427387904,0]@[S(0)]", "1000");
    assert_int_equal(tsr_shape_count(&spec.shape), 0);
}

static void longest_text_fits(void **state)
{
    char text[1024], buf[TSR_TEXT_LEN], small[TSR_TEXT_LEN];
    size_t used = 0;

    (void)state;
    used += (size_t)snprintf(text + used, sizeof text - used, "bf16[2305843009213693952");
    for (int d = 1; d < 8; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, ",1");
    used += (size_t)snprintf(text + used, sizeof text - used, "]@[");
    for (int m = 0; m < 8; m++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%sSS(7,9223372036854775807)",
                                 m ? "," : "");
    snprintf(text + used, sizeof text - used, "]");
    tsr_spec spec = parse(text, "2x2x2x2x2x2x2x2");
    assert_string_equal(tsr_spec_text(&spec, buf, sizeof buf), text);
    for (size_t n = 1; n < 60; n++) {
        memset(small, '#', sizeof small);
        tsr_spec_text(&spec, small, n);
        assert_int_equal(strlen(small), n - 1);
        tsr_placements_text(&spec, small, n);
        assert_int_equal(strlen(small), n - 1);
        assert_int_equal(small[n], '#');
    }
}

static tsr_status parse_spec(const char *text, void *out, tsr_error *err)
{
    tsr_mesh_shape mesh = mesh_of("data=2,model=3");

    return tsr_spec_parse(text, &mesh, out, err);
}

static void bad_texts(void **state)
{
    static const bad_text bad[] = {
        {NULL, TSR_ERR_ARG, "the spec is NULL"},
        {"", TSR_ERR_PARSE, "unknown dtype \"\""},
        {"f33[4]", TSR_ERR_PARSE, "unknown dtype \"f33\""},
        {"field[4]", TSR_ERR_PARSE, "unknown dtype \"field\""},
        {"f32", TSR_ERR_PARSE, "expected '['"},
        {"f32[4", TSR_ERR_PARSE, "expected ']'"},
        {"f32[4,]", TSR_ERR_PARSE, "expected a size at \"]\""},
        {"f32[a]", TSR_ERR_PARSE, "expected a size at \"a]\""},
        {"f32[4]]", TSR_ERR_PARSE, "unexpected text at \"]\""},
        {"f32[4]@", TSR_ERR_PARSE, "expected '['"},
        {"f32[4,4]@[R,R] x", TSR_ERR_PARSE, "unexpected text at \"x\""},
        {"f32[-4]", TSR_ERR_SHAPE, "dim 0 has negative size -4"},
        {"f32[4,-1]@[R,R]", TSR_ERR_SHAPE, "shape [4,-1]: dim 1 has negative size -1"},
        {"f32[1,1,1,1,1,1,1,1,1]", TSR_ERR_SHAPE, "more than 8 dims"},
        {"f32[99999999999999999999]", TSR_ERR_SHAPE, "99999999999999999999 is too large"},
        {"f32[4294967296,4294967296]", TSR_ERR_SHAPE, "more than 2^63 bytes"},
        {"f64[1152921504606846976]", TSR_ERR_SHAPE, "more than 2^63 bytes"},
        {"u8[9223372036854775807,0]", TSR_ERR_SHAPE, "is larger than 2^62"},
        {"u8[0,4294967296,4294967296]", TSR_ERR_SHAPE, "more than 2^63 bytes"},
        {"f32[4,4]@[X,R]", TSR_ERR_PARSE, "unknown placement at \"X,R]\"; expected R, S(dim)"},
        {"f32[4,4]@[r,R]", TSR_ERR_PARSE, "unknown placement"},
        {"f32[4,4]@[S,R]", TSR_ERR_PARSE, "unknown placement"},
        {"f32[4,4]@[,R]", TSR_ERR_PARSE, "unknown placement"},
        {"f32[4,4]@[S(0),R", TSR_ERR_PARSE, "expected ']'"},
        {"f32[4,4]@[S(0,R]", TSR_ERR_PARSE, "expected ')'"},
        {"f32[4,4]@[S(),R]", TSR_ERR_PARSE, "expected a tensor dim"},
        {"f32[4,4]@[SS(0),R]", TSR_ERR_PARSE, "expected ','"},
        {"f32[4,4]@[SS(0,),R]", TSR_ERR_PARSE, "expected a factor"},
        {"f32[4,4]@[SS(0,0),R]", TSR_ERR_SPEC, "factor of a strided shard must be at least 1"},
        {"f32[4,4]@[SS(0,-2),R]", TSR_ERR_SPEC, "SS(0,-2): the factor"},
        {"f32[4,4]@[P(mean),R]", TSR_ERR_PARSE, "unknown reduction at \"mean),R]\""},
        {"f32[4,4]@[P(summary),R]", TSR_ERR_PARSE, "expected ')'"},
        {"f32[4,4]@[P(),R]", TSR_ERR_PARSE, "unknown reduction"},
        {"f32[4,4]@[S(2),R]", TSR_ERR_SPEC,
         "placement S(2) on mesh dim data: tensor [4,4] has 2 dims, so no dim 2"},
        {"f32[4,4]@[R,S(-1)]", TSR_ERR_SPEC, "placement S(-1) on mesh dim model"},
        {"f32[4,4]@[R,S(-7)]", TSR_ERR_SPEC, "so no dim -7"},
        {"f32[4,4]@[R,SS(100,2)]", TSR_ERR_SPEC, "placement SS(100,2) on mesh dim model"},
        {"f32[4,4]@[R,S(4294967296)]", TSR_ERR_SPEC, "on mesh dim model: tensor [4,4] has 2 dims"},
        {"f32[]@[R,S(0)]", TSR_ERR_SPEC, "tensor [] has 0 dims"},
        {"bool[4]@[P(sum),R]", TSR_ERR_DTYPE, "bool does not support the reduction sum"},
        {"bool[4]@[R,P(max)]", TSR_ERR_DTYPE, "bool does not support the reduction max"},
        {"i32[4]@[P(avg),R]", TSR_ERR_DTYPE, "i32 does not support the reduction avg"},
        {"u8[4]@[R,P(avg)]", TSR_ERR_DTYPE, "u8 does not support the reduction avg"},
        {"f32[4]@[R]", TSR_ERR_SPEC, "has 1 placement, but mesh data=2,model=3 has 2 dims"},
        {"f32[4]@[R,R,R]", TSR_ERR_SPEC, "has 3 placements, but mesh data=2,model=3 has 2 dims"},
        {"f32[4]@[]", TSR_ERR_SPEC, "has 0 placements"},
        {"f32[4]@[R,R,R,R,R,R,R,R,R,R,R,R]", TSR_ERR_SPEC, "has 12 placements"},
    };

    (void)state;
    expect_bad_texts(bad, sizeof bad / sizeof bad[0], parse_spec, sizeof(tsr_spec));
    tsr_spec like = parse("f32[4,4]", "2x2"), out = like;
    assert_int_equal(tsr_placements_parse(NULL, &like, &out, NULL), TSR_ERR_ARG);
    assert_int_equal(tsr_placements_parse("[S(2),R]", &like, &out, NULL), TSR_ERR_SPEC);
    assert_int_equal(tsr_placements_parse("[R,R]]", &like, &out, NULL), TSR_ERR_PARSE);
    assert_true(tsr_spec_equal(&like, &out));
}

/* Values that a program filled in by hand, wrongly. */
static void bad_values(void **state)
{
    const tsr_spec good = parse("f32[4,4]@[S(0),R]", "2x3");
    int map[TSR_MAX_DIM];
    bool pending[TSR_MAX_MESH];

    (void)state;
    for (int change = 0; change < 13; change++) {
        tsr_spec spec = good;
        switch (change) {
        case 0: spec.dtype = (tsr_dtype)99; break;
        case 1: spec.shape.ndim = 9; break;
        case 2: spec.shape.ndim = -1; break;
        case 3: spec.shape.size[1] = -1; break;
        case 4: spec.mesh.ndim = 9; break;
        case 5: spec.mesh.ndim = -1; break;
        case 6: spec.mesh.size[1] = 0; break;
        case 7: spec.place[1].kind = (tsr_placement_kind)9; break;
        case 8: spec.place[0].dim = 2; break;
        case 9: spec.place[0].dim = -1; break;
        case 10: spec.place[1] = (tsr_placement){.kind = TSR_STRIDED, .dim = 0}; break;
        case 11: spec.place[1] = (tsr_placement){TSR_PARTIAL, 0, (tsr_reduce)7, 0}; break;
        case 12: spec.mesh.size[0] = spec.mesh.size[1] = 1 << 20; break;
        }
        tsr_error err = {0};
        tsr_status st = tsr_spec_check(&spec, &err);
        if (st == TSR_OK || err.code != st || !err.text[0])
            fail_msg("change %d is not seen", change);
        assert_int_equal(tsr_spec_to_dim_map(&spec, map, pending, NULL), st);
    }
    assert_int_equal(tsr_spec_check(&good, NULL), TSR_OK);
}

static void equality_and_hash(void **state)
{
    const tsr_spec a = parse("f32[8,12]@[SS(0,2),P(sum)]", "data=2,model=3");
    tsr_spec b = a;
    uint64_t seen[32] = {tsr__spec_hash(&a)};
    int n = 1;

    (void)state;
    memset(b.mesh.name, 0, sizeof b.mesh.name); /* names do not count, nor do unused fields */
    b.place[1].dim = 5;
    b.place[1].factor = 5;
    b.place[0].reduce = TSR_MAX;
    b.place[2].kind = TSR_SHARD;
    b.shape.size[2] = 99;
    assert_true(tsr_spec_equal(&a, &b));
    assert_true(tsr__spec_hash(&a) == tsr__spec_hash(&b));
    for (int change = 0; change < 15; change++) {
        b = a;
        switch (change) {
        case 0: b.dtype = TSR_F64; break;
        case 1: b.shape.ndim = 1; break;
        case 2: b.shape.size[0] = 9; break;
        case 3: b.shape.size[1] = 8; break;
        case 4: b.mesh.ndim = 1; break;
        case 5: b.mesh.first = 1; break;
        case 6: b.mesh.size[0] = 3; break;
        case 7: b.mesh.stride[1] = 2; break;
        case 8: b.place[0].kind = TSR_SHARD; break;
        case 9: b.place[0].dim = 1; break;
        case 10: b.place[0].factor = 3; break;
        case 11: b.place[1].reduce = TSR_AVG; break;
        case 12: b.place[1].kind = TSR_REPLICATE; break;
        case 13: b.place[0] = a.place[1], b.place[1] = a.place[0]; break;
        case 14: b.shape.size[0] = 12, b.shape.size[1] = 8; break;
        }
        if (tsr_spec_equal(&a, &b) || tsr_spec_equal(&b, &a))
            fail_msg("change %d is not seen", change);
        seen[n] = tsr__spec_hash(&b);
        for (int i = 0; i < n; i++)
            if (seen[i] == seen[n])
                fail_msg("changes %d and %d hash alike", i - 1, change);
        n++;
    }
}

static void dim_map_round_trip(void **state)
{
    static const char *const places[] = {"R", "S(0)", "S(1)", "S(2)", "P(sum)"};
    char text[TSR_TEXT_LEN];

    (void)state;
    for (int i = 0; i < 125; i++) {
        const int p[3] = {i / 25, i / 5 % 5, i % 5};
        int map[TSR_MAX_DIM], seen[3] = {0}, nested = 0;
        bool pending[TSR_MAX_MESH];
        snprintf(text, sizeof text, "f32[4,5,6]@[%s,%s,%s]", places[p[0]], places[p[1]],
                 places[p[2]]);
        tsr_spec spec = parse(text, "2x3x1"), back;
        for (int m = 0; m < 3; m++)
            nested += p[m] >= 1 && p[m] <= 3 && seen[p[m] - 1]++;
        tsr_error err = {0};
        tsr_status st = tsr_spec_to_dim_map(&spec, map, pending, &err);
        if (nested) {
            assert_int_equal(st, TSR_ERR_SPEC);
            assert_non_null(strstr(err.text, "cannot express their order"));
            assert_non_null(strstr(err.text, text));
            continue;
        }
        assert_int_equal(st, TSR_OK);
        for (int d = 0; d < TSR_MAX_DIM; d++) {
            int by = -1;
            for (int m = 0; m < 3; m++)
                by = d < 3 && p[m] == d + 1 ? m : by;
            assert_int_equal(map[d], by);
        }
        for (int m = 0; m < TSR_MAX_MESH; m++)
            assert_int_equal(pending[m], m < 3 && p[m] == 4);
        assert_int_equal(
            tsr_spec_from_dim_map(spec.dtype, &spec.shape, &spec.mesh, map, pending, &back, NULL),
            TSR_OK);
        assert_true(tsr_spec_equal(&spec, &back));
    }
}

static void dim_map_errors(void **state)
{
    static const struct {
        const char *spec, *says;
    } bad[] = {
        {"f32[4,4]@[SS(0,2),R]", "cannot express a strided shard"},
        {"f32[4,4]@[P(avg),R]", "a dim map can express only P(sum), not avg"},
        {"f32[4,4]@[P(max),R]", "a dim map can express only P(sum), not max"},
    };
    tsr_spec like = parse("f32[4,4]", "2x3"), ints = parse("bool[4,4]", "2x3"), out = like;
    const bool none[TSR_MAX_MESH] = {0}, first[TSR_MAX_MESH] = {true};
    int map[TSR_MAX_DIM] = {7, 7};
    bool pending[TSR_MAX_MESH];
    tsr_error err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tsr_spec spec = parse(bad[i].spec, "2x3");
        memset(&err, 0, sizeof err);
        assert_int_equal(tsr_spec_to_dim_map(&spec, map, pending, &err), TSR_ERR_SPEC);
        assert_non_null(strstr(err.text, bad[i].says));
        assert_int_equal(map[0], 7); /* untouched */
    }
#define FROM(like, map, pending)                                                                   \
    tsr_spec_from_dim_map((like).dtype, &(like).shape, &(like).mesh, map, pending, &out, &err)
    memset(&err, 0, sizeof err);
    assert_int_equal(FROM(like, ((int[]){2, -1}), none), TSR_ERR_SPEC);
    assert_non_null(strstr(err.text, "dim 0 names mesh dim 2 of a 2-D mesh"));
    memset(&err, 0, sizeof err);
    assert_int_equal(FROM(like, ((int[]){-1, -2}), none), TSR_ERR_SPEC);
    memset(&err, 0, sizeof err);
    assert_int_equal(FROM(like, ((int[]){1, 1}), none), TSR_ERR_SPEC);
    assert_non_null(strstr(err.text, "mesh dim 1 shards both dim 0 and dim 1"));
    memset(&err, 0, sizeof err);
    assert_int_equal(FROM(like, ((int[]){0, 1}), first), TSR_ERR_SPEC);
    assert_non_null(strstr(err.text, "mesh dim 0 shards dim 0 and is pending a sum"));
    assert_int_equal(FROM(ints, ((int[]){-1, -1}), first), TSR_ERR_DTYPE);
    assert_true(tsr_spec_equal(&out, &like));
    like.mesh.ndim = 9;
    assert_int_not_equal(FROM(like, ((int[]){8, -1}), NULL), TSR_OK);
    like.mesh.ndim = 2;
    assert_int_equal(FROM(like, ((int[]){1, -1}), NULL), TSR_OK);
#undef FROM
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_all_placements),
        cmocka_unit_test(fields),
        cmocka_unit_test(longest_text_fits),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(equality_and_hash),
        cmocka_unit_test(dim_map_round_trip),
        cmocka_unit_test(dim_map_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
