/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor.c - tensors through the public API: making, looking, moving between meshes, scopes,
   ranks outside a mesh, the sim world, and bad input with its sentences. */
#include "support/test.h"

static const float *counting(void)
{
    static const float numbers[15] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    return numbers;
}

static bool holds_counting(tsr_tensor *x)
{
    float out[15];
    return tsr_to_host(x, out, sizeof out) == TSR_OK && memcmp(out, counting(), sizeof out) == 0;
}

/* ---- making and looking ---- */

static tsr_status making(tsr_mesh *mesh, void *arg)
{
    static const char *const specs[] = {"f32[5,3]@[S(0),S(1)]",      "f32[5,3]@[S(0),S(0)]",
                                        "f32[5,3]@[P(sum),S(0)]",    "f32[5,3]@[P(prod),P(sum)]",
                                        "f32[5,3]@[SS(0,2),P(avg)]", "f32[5,3]"};
    float out[15];
    (void)arg;

    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        int root = (int)i % 4;
        CHECK(holds_counting(from_host(mesh, specs[i], counting())));
        CHECK(holds_counting(tsr_arange(mesh, specs[i], 0, 1)));
        CHECK(holds_counting(tsr_from_root(mesh, specs[i],
                                           tsr_mesh_index(mesh) == root ? counting() : NULL,
                                           15 * sizeof(float), root)));
        tsr_tensor *x = tsr_full(mesh, specs[i], 2.5);
        CHECK(tsr_to_host(x, out, sizeof out) == TSR_OK && out[0] == 2.5f && out[14] == 2.5f);
        x = tsr_zeros(mesh, specs[i]);
        CHECK(tsr_to_host(x, out, sizeof out) == TSR_OK && out[0] == 0 && out[14] == 0);
        memset(out, 0, sizeof out);
        x = tsr_arange(mesh, specs[i], 0, 1);
        CHECK(tsr_to_root(x, tsr_mesh_index(mesh) == root ? out : NULL, sizeof out, root) ==
              TSR_OK);
        CHECK(tsr_mesh_index(mesh) != root || memcmp(out, counting(), sizeof out) == 0);
    }
    return tsr_mesh_status(mesh);
}

static tsr_status looking(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_arange(mesh, "i64[7,4]@[SS(0,2),S(1)]", 100, 1);
    tsr_local view;
    char text[TSR_TEXT_LEN];
    (void)arg;

    CHECK(tsr_local_view(x, &view) == TSR_OK);
    CHECK(view.shape.ndim == 2 && view.shape.size[1] == 2);
    CHECK(view.whole[1] && view.first[1] == 2 * tsr_mesh_coord(mesh, 1));
    for (int64_t i = 0; i < view.shape.size[0]; i++)
        for (int64_t j = 0; j < view.shape.size[1]; j++)
            CHECK(((int64_t *)view.data)[i * 2 + j] ==
                  100 + tsr_local_index(x, 0, i) * 4 + tsr_local_index(x, 1, j));
    CHECK(tsr_local_index(x, 0, 99) == -1 && tsr_local_index(x, 2, 0) == -1);
    CHECK(strcmp(tsr_spec_text(tsr_tensor_spec(x), text, sizeof text), "i64[7,4]@[SS(0,2),S(1)]") ==
          0);
    CHECK(tsr_tensor_mesh(x) == mesh);
    /* an empty part: 5 rows over 4 ranks in one dim leave the last one none */
    x = tsr_arange(mesh, "f32[1,3]@[S(0),S(0)]", 0, 1);
    CHECK(tsr_local_view(x, &view) == TSR_OK);
    CHECK(tsr_mesh_index(mesh) == 0 ? view.first[0] == 0 : view.first[0] == -1);
    return tsr_mesh_status(mesh);
}

static tsr_status local_parts(tsr_mesh *mesh, void *arg)
{
    tsr_shape rows = {.ndim = 2, .size = {tsr_mesh_index(mesh) == 0 ? 3 : 2, 3}};
    tsr_shape wrong = {.ndim = 2, .size = {tsr_mesh_index(mesh) == 1 ? 1 : 3, 3}};
    const float *mine = counting() + (tsr_mesh_index(mesh) == 0 ? 0 : 9);
    (void)arg;

    CHECK(holds_counting(from_local(mesh, "f32[5,3]@[S(0)]", mine, &rows)));
    /* rank 1 alone is wrong; all ranks hear the same, and the world lives on */
    CHECK(!tsr_tensor_ok(from_local(mesh, "f32[5,3]@[S(0)]", mine, &wrong)));
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "tsr_from_local: rank 1 passes local shape [1,3], but f32[5,3]@[S(0)] requires "
                 "[2,3]") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_barrier(mesh) == TSR_OK);
    return tsr_mesh_status(mesh);
}

static tsr_status scopes(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *kept, *x;
    int64_t before;
    (void)arg;

    x = tsr_redistribute(tsr_arange(mesh, "f32[5,3]@[S(0),R]", 0, 1), "[R,S(1)]");
    before = tsr_allocations_live(mesh);
    CHECK(tsr_scope_push(mesh) == TSR_OK);
    kept = tsr_keep(tsr_redistribute(tsr_arange(mesh, "f32[5,3]@[S(0),R]", 0, 1), "[R,S(1)]"));
    CHECK(tsr_scope_pop(mesh) == TSR_OK);
    CHECK(holds_counting(kept) && holds_counting(x));
    tsr_unref(kept);
    tsr_memory_trim(mesh);
    /* what to_host's program needs stays in the cache; nothing else may */
    tsr_scope_push(mesh);
    before = tsr_allocations_live(mesh);
    for (int i = 0; i < 10; i++)
        holds_counting(tsr_redistribute(tsr_arange(mesh, "f32[5,3]@[S(0),R]", 0, 1), "[R,S(1)]"));
    tsr_scope_pop(mesh);
    tsr_scope_push(mesh);
    CHECK(tsr_allocations_live(mesh) == before);
    tsr_scope_pop(mesh);
    CHECK(tsr_scope_pop(mesh) == TSR_ERR_STATE);
    tsr_mesh_clear_error(mesh);
    return tsr_mesh_status(mesh);
}

static void tensors_on_2x2(void **state)
{
    (void)state;
    pass_on("2x2", making, NULL);
    pass_on("data=2,model=2", looking, NULL);
    pass_on("2", local_parts, NULL);
    pass_on("2x2", scopes, NULL);
}

/* ---- meshes ---- */

static tsr_status across_meshes(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"[R]", "[S(0)]", "[S(1)]", "[P(sum)]", "[SS(0,2)]"};
    static const char *const pairs[][2] = {
        {"[S(0),R]", ""}, {"[P(sum),S(1)]", ""}, {"[R,P(max)]", ""}};
    tsr_mesh *pair, *last;
    (void)arg;

    CHECK(tsr_mesh_part(mesh, "2", 0, &pair) == TSR_OK);
    CHECK(tsr_mesh_part(mesh, "row=3", 1, &last) == TSR_OK);
    CHECK(tsr_mesh_is_member(pair) == (tsr_mesh_rank(mesh) < 2));
    CHECK(tsr_mesh_is_member(last) == (tsr_mesh_rank(mesh) > 0));
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 5; j++) {
            char spec[64];
            tsr_tensor *x, *y, *z;
            snprintf(spec, sizeof spec, "f32[5,3]@%s", pairs[i][0]);
            x = tsr_arange(mesh, spec, 0, 1);
            y = tsr_redistribute_to(x, pair, places[j]);
            z = tsr_redistribute_to(y, last, places[(j + 2) % 5]);
            CHECK(tsr_tensor_ok(y) && tsr_tensor_ok(z));
            CHECK(!tsr_mesh_is_member(pair) || holds_counting(y));
            CHECK(!tsr_mesh_is_member(last) || holds_counting(z));
            CHECK(holds_counting(tsr_redistribute_to(z, mesh, pairs[(i + 1) % 3][0])));
        }
    /* ranks outside are told so */
    tsr_mesh_clear_error(mesh);
    if (!tsr_mesh_is_member(pair)) {
        CHECK(tsr_mesh_index(pair) == -1 && tsr_mesh_coord(pair, 0) == -1);
        CHECK(tsr_barrier(pair) == TSR_ERR_OUTSIDE);
        CHECK(strstr(tsr_mesh_message(mesh), "is outside mesh 2"));
        tsr_mesh_clear_error(mesh);
    } else {
        CHECK(tsr_barrier(pair) == TSR_OK);
    }
    tsr_mesh_unref(pair);
    tsr_mesh_unref(last);
    return tsr_mesh_status(mesh);
}

/* Assignment: into any placements and meshes, into the memory that is there, and not into that of
   others who share it. */
static tsr_status assigning(tsr_mesh *mesh, void *arg)
{
    static const char *const places[] = {"[R,R]",      "[S(0),S(1)]", "[S(1),R]",   "[P(sum),R]",
                                         "[R,P(max)]", "[SS(0,2),R]", "[S(0),S(0)]"};
    tsr_tensor *x, *y, *z, *same;
    tsr_local before, after;
    tsr_mesh *pair;
    (void)arg;

    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            char from[64], to[64];

            snprintf(from, sizeof from, "f32[5,3]@%s", places[i]);
            snprintf(to, sizeof to, "f32[5,3]@%s", places[j]);
            x = tsr_arange(mesh, from, 0, 1);
            y = tsr_full(mesh, to, 7);
            CHECK(tsr_copy_into(y, x) == TSR_OK);
            CHECK(holds_counting(y) && holds_counting(x));
            CHECK(strcmp(tsr_placements_text(tsr_tensor_spec(y), to, sizeof to), places[j]) == 0);
        }
    x = tsr_arange(mesh, "f32[5,3]@[R,R]", 0, 1);
    y = tsr_zeros(mesh, "f32[5,3]@[R,R]");
    CHECK(tsr_local_view(y, &before) == TSR_OK);
    CHECK(tsr_copy_into(y, x) == TSR_OK && tsr_local_view(y, &after) == TSR_OK);
    CHECK(before.data == after.data);
    CHECK(tsr_copy_into(y, y) == TSR_OK && holds_counting(y));
    same = tsr_reshape(y, (int64_t[]){15}, 1); /* shares y's memory */
    CHECK(tsr_copy_into(y, tsr_full(mesh, "f32[5,3]@[S(0),R]", 3)) == TSR_OK);
    CHECK(holds_counting(tsr_reshape(same, (int64_t[]){5, 3}, 2)) && !holds_counting(y));
    CHECK(tsr_mesh_part(mesh, "2", 1, &pair) == TSR_OK);
    z = tsr_zeros(pair, "f32[5,3]@[S(1)]");
    CHECK(tsr_copy_into(z, x) == TSR_OK);
    CHECK(!tsr_mesh_is_member(pair) || holds_counting(z));
    CHECK(tsr_copy_into(y, z) == TSR_OK && holds_counting(y));
    tsr_mesh_unref(pair);

    tsr_strict_set(mesh, true);
    CHECK(tsr_copy_into(y, tsr_zeros(mesh, "f32[5,3]@[S(0),R]")) == TSR_ERR_LIMIT);
    CHECK(strstr(tsr_mesh_message(mesh),
                 "tsr_copy_into: strict mode forbids redistributing f32[5,3]@"));
    CHECK(holds_counting(y));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_copy_into(tsr_zeros(mesh, "f32[5,3]@[S(0),R]"), x) == TSR_OK); /* nothing moves */
    tsr_strict_set(mesh, false);
    CHECK(tsr_copy_into(y, tsr_zeros(mesh, "f32[3,5]")) == TSR_ERR_SHAPE);
    CHECK(strcmp(tsr_mesh_message(mesh), "tsr_copy_into: f32[3,5]@[R,R] cannot be copied into "
                                         "f32[5,3]@[R,R]: shape and dtype must agree") == 0);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_copy_into(y, tsr_zeros(mesh, "f64[5,3]")) == TSR_ERR_SHAPE);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_copy_into(NULL, y) == TSR_ERR_ARG && tsr_copy_into(NULL, NULL) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_copy_into(y, NULL) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    return tsr_mesh_status(mesh);
}

/* What is assigned hands its gradient on, and what was there before gets none. */
static tsr_status assigning_on_a_tape(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_watch(tsr_full(mesh, "f64[4]@[S(0)]", 3));
    tsr_tensor *v = tsr_watch(tsr_full(mesh, "f64[4]@[R]", 2)), *y, *early;
    double g[4];

    (void)arg;
    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    y = tsr_mul(v, v);
    CHECK(tsr_copy_into(y, tsr_mul(w, w)) == TSR_OK);
    CHECK(tsr_backward(tsr_sum(y, (int[]){0}, 1, false)) == TSR_OK);
    CHECK(tsr_grad(v) == NULL);
    CHECK(tsr_to_host(tsr_grad(w), g, sizeof g) == TSR_OK && g[0] == 6 && g[3] == 6);

    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    early = tsr_mul(w, w);
    y = tsr_mul(early, early); /* its gradient needs what is overwritten */
    CHECK(tsr_copy_into(early, tsr_mul(v, v)) == TSR_OK);
    CHECK(tsr_backward(tsr_sum(y, (int[]){0}, 1, false)) == TSR_ERR_STATE);
    CHECK(strstr(tsr_mesh_message(mesh), "which was overwritten after the call"));
    tsr_mesh_clear_error(mesh);

    CHECK(tsr_tape_begin(mesh) == TSR_OK);
    CHECK(tsr_copy_into(w, v) == TSR_ERR_STATE);
    CHECK(strstr(tsr_mesh_message(mesh), "f64[4]@[S(0)] is watched, so it cannot be overwritten"));
    tsr_mesh_clear_error(mesh);
    tsr_tape_pause(mesh);
    CHECK(tsr_copy_into(w, v) == TSR_OK);
    tsr_tape_resume(mesh);
    tsr_tape_drop(mesh);
    CHECK(tsr_to_host(w, g, sizeof g) == TSR_OK && g[0] == 2 && g[3] == 2);
    return tsr_mesh_status(mesh);
}

static tsr_status sub_meshes(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *row, *all;
    int32_t mine = tsr_mesh_rank(mesh), sum = 0;
    (void)arg;

    CHECK(tsr_mesh_sub(mesh, "model", &row) == TSR_OK);
    CHECK(tsr_mesh_size(row) == 3 && tsr_mesh_index(row) == tsr_mesh_coord(mesh, 1));
    CHECK(tsr_all_reduce(row, TSR_I32, TSR_SUM, &mine, 1, &sum) == TSR_OK);
    CHECK(sum == 9 * tsr_mesh_coord(mesh, 0) + 3);
    CHECK(tsr_mesh_sub(mesh, "0,1", &all) == TSR_OK && tsr_mesh_size(all) == 6);
    CHECK(holds_counting(tsr_arange(row, "f32[5,3]@[S(0)]", 0, 1)));
    CHECK(tsr_mesh_sub(mesh, "rows", &all) == TSR_ERR_MESH);
    CHECK(strcmp(tsr_mesh_message(mesh), "mesh data=2,model=3 has no dim \"rows\"") == 0);
    tsr_mesh_clear_error(mesh);
    tsr_mesh_unref(row);
    tsr_mesh_unref(all);
    return tsr_mesh_status(mesh);
}

/* Meshes of the same ranks with other names of dims: a tensor has those of its own. */
static tsr_status other_names(tsr_mesh *mesh, void *arg)
{
    static const char *const names[] = {"a=2,b=2", "c=2,d=2", "2x2"};
    (void)arg;

    for (int i = 0; i < 3; i++) {
        tsr_mesh *part;
        char text[64];

        CHECK(tsr_mesh_part(mesh, names[i], 0, &part) == TSR_OK);
        tsr_tensor *x = tsr_zeros(part, "f32[4,4]@[S(0),R]");
        CHECK(strcmp(tsr_mesh_text(&tsr_tensor_spec(x)->mesh, text, sizeof text), names[i]) == 0);
        tsr_mesh_unref(part);
    }
    return TSR_OK;
}

static void other_meshes(void **state)
{
    (void)state;
    pass_on("2x2", across_meshes, NULL);
    pass_on("2x2", assigning, NULL);
    pass_on("1", assigning_on_a_tape, NULL);
    pass_on("2", assigning_on_a_tape, NULL);
    pass_on("data=2,model=3", sub_meshes, NULL);
    pass_on("2x2", other_names, NULL);
}

/* ---- errors ---- */

typedef struct bad_input {
    const char *spec, *to;
    tsr_status code;
    const char *sentence; /* or a part of it */
} bad_input;

static const bad_input BAD[] = {
    {"f32[5,3]@[Q,R]", NULL, TSR_ERR_PARSE, "unknown placement at \"Q,R]\""},
    {"f32[5,3]@[S(2),R]", NULL, TSR_ERR_SPEC, "tensor [5,3] has 2 dims, so no dim 2"},
    {"f32[5,3]@[S(-1),R]", NULL, TSR_ERR_SPEC, "no dim -1"},
    {"f32[5,3]@[R]", NULL, TSR_ERR_SPEC, "has 1 placement, but mesh 2x2 has 2 dims"},
    {"bool[5]@[P(sum),R]", NULL, TSR_ERR_DTYPE, "bool"},
    {"i32[5]@[P(avg),R]", NULL, TSR_ERR_DTYPE, "i32"},
    {"f32[-5]@[R,R]", NULL, TSR_ERR_SHAPE, "negative size -5"},
    {"f32[4294967296,4294967296]", NULL, TSR_ERR_SHAPE, "more than 2^63 bytes"},
    {"f32[99999999999999999999]", NULL, TSR_ERR_SHAPE, "too large"},
    {"f99[5]", NULL, TSR_ERR_PARSE, "f99"},
    {"f32[1,1,1,1,1,1,1,1,1]", NULL, TSR_ERR_SHAPE, "more than 8 dims"},
    {"f32[5", NULL, TSR_ERR_PARSE, "expected ']'"},
    {"f32[5,3]@[S(0),R]x", NULL, TSR_ERR_PARSE, "unexpected text at \"x\""},
    {NULL, NULL, TSR_ERR_ARG, "the spec is NULL"},
    {"f32[5,3]@[S(0),R]", "[S(0)]", TSR_ERR_SPEC, "has 1 placement"},
    {"f32[5,3]@[S(0),R]", "[S(7),R]", TSR_ERR_SPEC, "no dim 7"},
    {"f32[5,3]@[S(0),R]", "[SS(0,0),R]", TSR_ERR_SPEC, "at least 1"},
    {"f32[5,3]@[S(0),R]", NULL, TSR_ERR_ARG, "the placements are NULL"},
};

static tsr_status bad_inputs(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        tsr_tensor *x = tsr_zeros(mesh, BAD[i].spec), *y;
        if (BAD[i].spec && tsr_tensor_ok(x))
            x = tsr_redistribute(x, BAD[i].to);
        CHECK(!tsr_tensor_ok(x));
        if (tsr_mesh_status(mesh) != BAD[i].code ||
            !strstr(tsr_mesh_message(mesh), BAD[i].sentence)) {
            fprintf(stderr, "%s: got %d \"%s\"\n", BAD[i].spec, (int)tsr_mesh_status(mesh),
                    tsr_mesh_message(mesh));
            return TSR_ERR_MISMATCH;
        }
        /* the error is handed on, and the first sentence stays */
        y = tsr_redistribute(x, "[R,R]");
        CHECK(!tsr_tensor_ok(y) && tsr_mesh_status(mesh) == BAD[i].code);
        tsr_mesh_clear_error(mesh);
    }
    CHECK(!tsr_tensor_ok(tsr_redistribute_to(NULL, mesh, "[R,R]")));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    return tsr_barrier(mesh);
}

static tsr_status host_sizes(tsr_mesh *mesh, void *arg)
{
    float out[15];
    tsr_tensor *x = tsr_arange(mesh, "f32[5,3]@[S(0),R]", 0, 1);
    (void)arg;

    CHECK(tsr_to_host(x, out, 8) == TSR_ERR_ARG);
    CHECK(strstr(tsr_mesh_message(mesh), "out has 8 bytes, but f32[5,3]@[S(0),R] has 60"));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_to_root(x, out, sizeof out, 4) == TSR_ERR_ARG);
    tsr_mesh_clear_error(mesh);
    CHECK(!tsr_tensor_ok(from_host(mesh, "f32[5,3]@[S(0),R]", NULL)));
    for (int i = 0; i < 3; i++) /* what failed may be kept and let go of as if it had not */
        tsr_unref(tsr_keep(tsr_zeros(mesh, "f32[")));
    CHECK(!tsr_tensor_ok(tsr_zeros(mesh, "f32[")));
    tsr_mesh_clear_error(mesh);
    return tsr_barrier(mesh);
}

static tsr_status limits(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_arange(mesh, "f32[64,64]@[S(0),S(1)]", 0, 1), *y;
    (void)arg;

    /* 4 KiB a part: 8 KiB for input and output is enough for the exchange, not for gathers */
    tsr_memory_limit_set(mesh, 8192);
    tsr_counters_reset(mesh);
    y = tsr_redistribute(x, "[S(1),S(0)]");
    CHECK(tsr_tensor_ok(y));
    CHECK(tsr_counters_get(mesh).memory_peak <= 8192 + 256);
    CHECK(!tsr_tensor_ok(tsr_redistribute(x, "[R,R]")));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_LIMIT);
    CHECK(strstr(tsr_mesh_message(mesh), "limit of 8192"));
    tsr_mesh_clear_error(mesh);
    tsr_memory_limit_set(mesh, 0);
    CHECK(tsr_tensor_ok(tsr_redistribute(x, "[R,R]")));
    /* one that was planned and run without a limit is not exempt from it */
    tsr_memory_limit_set(mesh, 8192);
    CHECK(!tsr_tensor_ok(tsr_redistribute(x, "[R,R]")));
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_LIMIT);
    tsr_mesh_clear_error(mesh);
    tsr_memory_limit_set(mesh, 0);
    CHECK(tsr_tensor_ok(tsr_redistribute(x, "[R,R]")));
    return tsr_mesh_status(mesh);
}

static void bad_input_has_sentences(void **state)
{
    (void)state;
    pass_on("2x2", bad_inputs, NULL);
    pass_on("2x2", host_sizes, NULL);
    pass_on("2x2", limits, NULL);
}

static tsr_status nothing(tsr_mesh *mesh, void *arg)
{
    (void)mesh;
    (void)arg;
    return TSR_OK;
}

static void expect_run_error(const tsr_run_opts *opts, tsr_status code, const char *sentence)
{
    tsr_error err = {0};
    tsr_status st = tsr_run(opts, nothing, NULL, &err);

    if (st != code || !strstr(err.text, sentence))
        fail_msg("got %d \"%s\", expected %d \"%s\"", (int)st, err.text, (int)code, sentence);
}

static void bad_worlds(void **state)
{
    (void)state;
    expect_run_error(&(tsr_run_opts)RUN_OPTS(.mesh = "1x1x1x1x1x1x1x1x1"), TSR_ERR_MESH,
                     "more than 8 dims");
    expect_run_error(&(tsr_run_opts)RUN_OPTS(.mesh = "2x0"), TSR_ERR_MESH, "size 0");
    expect_run_error(&(tsr_run_opts)RUN_OPTS(.mesh = "2x-3"), TSR_ERR_MESH, "size -3");
    expect_run_error(&(tsr_run_opts)RUN_OPTS(.mesh = "a=2,a=2"), TSR_ERR_MESH,
                     "two dims are called a");
    expect_run_error(&(tsr_run_opts)RUN_OPTS(.mesh = "2", .cost = "cheap"), TSR_ERR_PARSE, "cheap");
    assert_int_equal(tsr_run(NULL, NULL, NULL, NULL), TSR_ERR_ARG);
}

static tsr_status too_large_part(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *part;
    (void)arg;

    CHECK(tsr_mesh_part(mesh, "2x2", 1, &part) == TSR_ERR_MESH);
    CHECK(strcmp(tsr_mesh_message(mesh),
                 "mesh 2x2 from index 1 does not match into mesh 4 of 4 ranks") == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

/* ---- sim ---- */

static tsr_status simulated(tsr_mesh *mesh, void *arg)
{
    tsr_counters c;
    tsr_tensor *x = tsr_zeros(mesh, "f32[131072,4096]@[S(0),S(1),R]"), *y;
    float out[1];
    (void)arg;

    CHECK(tsr_mesh_size(mesh) == 131072);
    y = tsr_redistribute(x, "[S(1),S(0),R]");
    CHECK(tsr_tensor_ok(y));
    c = tsr_counters_get(mesh);
    CHECK(c.bytes_in == 1024 * 64 * 4); /* some rank has nothing of what it wants: 1024 x 64 */
    CHECK(c.seconds > 0 && c.memory_peak == 2 * 1024 * 64 * 4);
    CHECK(tsr_to_host(y, out, sizeof out) == TSR_ERR_NO_DATA);
    CHECK(strstr(tsr_mesh_message(mesh), "sim world"));
    tsr_mesh_clear_error(mesh);
    return tsr_mesh_status(mesh);
}

static void sim_counts(void **state)
{
    (void)state;

    pass_with((tsr_run_opts)RUN_OPTS(.mesh = "128x64x16", .world = TSR_WORLD_SIM), simulated, NULL);
    pass_on("4", too_large_part, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_on_2x2),
        cmocka_unit_test(other_meshes),
        cmocka_unit_test(bad_input_has_sentences),
        cmocka_unit_test(bad_worlds),
        cmocka_unit_test(sim_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
