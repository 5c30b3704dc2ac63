/* SPDX-License-Identifier: Apache-2.0 */
/* test_conv_bad.c - convolutions that cannot be: one sentence with values, the same on every rank,
   and nothing else harmed: the next call is right, and no memory stays. */
#include "support/test.h"

typedef enum function {
    FORWARD,
    GRAD_INPUT,
    NO_SIZES, /* the same without the input's */
    GRAD_WEIGHT,
    BACKWARD,
    BY_NAME
} function;

/* Shapes without placements; NULL: that tensor is NULL. */
typedef struct bad {
    function f;
    const char *a, *b, *c; /* in the order of the function */
    tsr_conv_opts opts;
    const bool *wanted;  /* BACKWARD */
    const char *attr[2]; /* BY_NAME: the op, and an attribute */
    tsr_status code;
    const char *says;
} bad;

static const bool only_x[3] = {true, false, false}, only_w[3] = {false, true, false},
                  only_bias[3] = {false, false, true};

#define X "f32[2,4,6,6]"
#define W "f32[8,4,3,3]"

static const bad BAD[] = {
    {.f = FORWARD,
     .a = X,
     .b = "f32[8,3,3,3]",
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: weight f32[8,3,3,3]@[R] expects 3 input channels, input f32[2,4,6,6]@[S(0)] has 4"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .c = "f32[7]",
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: bias f32[7]@[R] does not match the 8 output channels of weight f32[8,4,3,3]@[R]"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .c = "f32[8,1]",
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: bias f32[8,1]@[R] does not match the 8 output channels of weight f32[8,4,3,3]@[R]"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[7,2,3,3]",
     .opts = CONV_OPTS(.groups = 2),
     .code = TSR_ERR_SHAPE,
     .says = "conv: 2 groups do not divide 4 input and 7 output channels"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[6,1,3,3]",
     .opts = CONV_OPTS(.groups = 3),
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: weight f32[6,1,3,3]@[R] expects 3 input channels, input f32[2,4,6,6]@[S(0)] has 4"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.groups = -1),
     .code = TSR_ERR_SHAPE,
     .says = "conv: -1 groups, must be at least 1"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.groups = INT64_MAX),
     .code = TSR_ERR_SHAPE,
     .says = "conv: 9223372036854775807 groups of 4 channels are too many"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[8,4,3,9]",
     .opts = CONV_OPTS(.padding = {1, 1}),
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: the kernel spans 9 in spatial dim 1 (size 9, dilation 1), the padded input only 8"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.dilation = {1, 3}),
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: the kernel spans 7 in spatial dim 1 (size 3, dilation 3), the padded input only 6"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.stride = {-1}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: the stride of spatial dim 0 is -1, must be at least 1"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.padding = {0, -2}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: the padding of spatial dim 1 is -2, must be at least 0"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.padding = {1}, .padding_end = {-2}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: the padding of spatial dim 0 is -1, must be at least 0"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.dilation = {-1, 1}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: the dilation of spatial dim 0 is -1, must be at least 1"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.dilation = {INT64_MAX}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: dilation 9223372036854775807 exceeds 2^48"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.padding = {INT64_MAX}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: padding 9223372036854775807 exceeds 2^48"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.padding = {5}, .padding_end = {INT64_MAX}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: padding 9223372036854775807 exceeds 2^48"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.padding = {(int64_t)1 << 61}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: padding 2305843009213693952 exceeds 2^48"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .opts = CONV_OPTS(.output_padding = {1}),
     .code = TSR_ERR_SHAPE,
     .says = "conv: output padding needs transposed=true"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[4,8,3,3]",
     .opts = CONV_OPTS(.output_padding = {0, 2}, .stride = {2, 2}, .transposed = true),
     .code = TSR_ERR_SHAPE,
     .says = "conv: output padding 2 of spatial dim 1 must be less than its stride 2 or its "
             "dilation 1"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[3,8,3,3]",
     .opts = CONV_OPTS(.transposed = true),
     .code = TSR_ERR_SHAPE,
     .says =
         "conv: weight f32[3,8,3,3]@[R] expects 3 input channels, input f32[2,4,6,6]@[S(0)] has 4"},
    {.f = FORWARD,
     .a = "f32[2,4]",
     .b = "f32[8,4]",
     .code = TSR_ERR_SHAPE,
     .says = "conv: f32[2,4]@[S(0)] has 2 dims, convolution takes batch, channels and 1 to 3 "
             "spatial dims"},
    {.f = FORWARD,
     .a = "f32[2,4,3,3,3,3]",
     .b = "f32[8,4,3,3,3,3]",
     .code = TSR_ERR_SHAPE,
     .says = "conv: f32[2,4,3,3,3,3]@[S(0)] has 6 dims, convolution takes batch, channels and "
             "1 to 3 spatial dims"},
    {.f = FORWARD,
     .a = X,
     .b = "f32[8,4,3]",
     .code = TSR_ERR_SHAPE,
     .says = "conv: f32[2,4,6,6]@[S(0)] and f32[8,4,3]@[R] have different numbers of dims"},
    {.f = FORWARD,
     .a = "i32[2,4,6,6]",
     .b = "i32[8,4,3,3]",
     .code = TSR_ERR_DTYPE,
     .says = "conv: needs a floating-point dtype, not i32[2,4,6,6]@[S(0)]"},
    {.f = FORWARD,
     .a = X,
     .b = "f64[8,4,3,3]",
     .code = TSR_ERR_DTYPE,
     .says = "conv: dtypes differ in f32[2,4,6,6]@[S(0)] f64[8,4,3,3]@[R]"},
    {.f = FORWARD,
     .a = X,
     .b = W,
     .c = "f64[8]",
     .code = TSR_ERR_DTYPE,
     .says = "conv: dtypes differ in f32[2,4,6,6]@[S(0)] f32[8,4,3,3]@[R] f64[8]@[R]"},
    {.f = FORWARD, .a = X, .code = TSR_ERR_ARG, .says = "conv: input weight is missing"},
    {.f = FORWARD, .b = W, .code = TSR_ERR_ARG, .says = "conv: input x is missing"},
    {.f = GRAD_INPUT,
     .a = "f32[2,8,4,5]",
     .b = W,
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_input: spatial dim 1 of the output has size 4, its gradient "
             "f32[2,8,4,5]@[S(0)] has 5"},
    {.f = GRAD_INPUT,
     .a = "f32[2,7,4,4]",
     .b = W,
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_input: weight f32[8,4,3,3]@[R] gives 8 output channels, the gradient "
             "f32[2,7,4,4]@[S(0)] has 7"},
    {.f = GRAD_WEIGHT,
     .a = "f32[3,8,4,4]",
     .b = X,
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_weight: batches differ, f32[3,8,4,4]@[S(0)] and f32[2,4,6,6]@[R]"},
    {.f = GRAD_WEIGHT,
     .a = "f32[2,8,4,6]",
     .b = X,
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_weight: spatial dim 1 of the output has size 4, its gradient "
             "f32[2,8,4,6]@[S(0)] has 6"},
    {.f = GRAD_WEIGHT,
     .a = "f32[2,7,4,4]",
     .b = X,
     .opts = CONV_OPTS(.groups = 2),
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_weight: 2 groups do not divide 4 input and 7 output channels"},
    {.f = BACKWARD,
     .a = "f32[2,8,4,5]",
     .b = X,
     .c = W,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: the output has shape [2,8,4,4], its gradient is f32[2,8,4,5]@[S(0)]"},
    {.f = BACKWARD,
     .a = "f32[2,8,4,4]",
     .c = W,
     .code = TSR_ERR_ARG,
     .says = "conv_backward: input x is missing"},
    {.f = BACKWARD,
     .b = X,
     .c = W,
     .code = TSR_ERR_ARG,
     .says = "conv_backward: input grad is missing"},
    {.f = BY_NAME,
     .a = X,
     .b = W,
     .attr = {"conv", "stride=1,1,1"},
     .code = TSR_ERR_SHAPE,
     .says = "conv: stride has 3 numbers for 2 spatial dims"},
    {.f = BY_NAME,
     .a = X,
     .b = W,
     .attr = {"conv", "padding=1,1,1"},
     .code = TSR_ERR_SHAPE,
     .says = "conv: padding has 3 numbers for 2 spatial dims"},
    {.f = BY_NAME,
     .a = X,
     .b = W,
     .attr = {"conv", "stride=0"},
     .code = TSR_ERR_SHAPE,
     .says = "conv: the stride of spatial dim 0 is 0, must be at least 1"},
    {.f = BY_NAME,
     .a = "f32[2,8,4,4]",
     .b = W,
     .attr = {"conv_grad_input", "input=6"},
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_input: input needs 2 sizes, one per spatial dim, not 1"},
    {.f = BY_NAME,
     .a = "f32[2,8,4,4]",
     .b = W,
     .attr = {"conv_grad_input"},
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_input: input needs 2 sizes, one per spatial dim, not 0"},
    {.f = BY_NAME,
     .a = "f32[2,8,4,4]",
     .b = X,
     .c = W,
     .attr = {"conv_backward", "output_mask=1,0"},
     .code = TSR_ERR_ARG,
     .says = "conv_backward: output_mask has 2 numbers, must have 3 (x, weight, bias)"},
    {.f = BACKWARD,
     .a = "f32[3,8,4,4]",
     .b = X,
     .c = W,
     .wanted = only_x,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: the output has shape [2,8,4,4], its gradient is f32[3,8,4,4]@[S(0)]"},
    {.f = BACKWARD,
     .a = "f32[2,8,4,4]",
     .b = "f32[2,3,6,6]",
     .c = W,
     .wanted = only_x,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: weight f32[8,4,3,3]@[R] expects 4 input channels, input "
             "f32[2,3,6,6]@[R] has 3"},
    {.f = BACKWARD,
     .a = "f32[2,6,4,4]",
     .b = X,
     .c = W,
     .wanted = only_w,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: the output has shape [2,8,4,4], its gradient is f32[2,6,4,4]@[S(0)]"},
    {.f = BACKWARD,
     .a = "f32[2,8,4,4]",
     .b = "f32[2,3,6,6]",
     .c = W,
     .wanted = only_w,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: weight f32[8,4,3,3]@[R] expects 4 input channels, input "
             "f32[2,3,6,6]@[R] has 3"},
    {.f = BACKWARD,
     .a = "f32[2,8,5,4]",
     .b = X,
     .c = W,
     .wanted = only_bias,
     .code = TSR_ERR_SHAPE,
     .says = "conv_backward: the output has shape [2,8,4,4], its gradient is f32[2,8,5,4]@[S(0)]"},
    {.f = NO_SIZES,
     .a = "f32[2,8,4,4]",
     .b = W,
     .code = TSR_ERR_SHAPE,
     .says = "conv_grad_input: input needs 2 sizes, one per spatial dim, not 0"},
};

static tsr_tensor *make(tsr_mesh *mesh, const char *what, const char *where)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what ? what : "", where);
    return what ? tsr_arange(mesh, spec, 0, 1) : NULL;
}

static void bad_call(tsr_mesh *mesh, const bad *b)
{
    static const int64_t space[] = {6, 6}, kernel[] = {3, 3};
    tsr_tensor *in[] = {make(mesh, b->a, "[S(0)]"), make(mesh, b->b, "[R]"),
                        make(mesh, b->c, "[R]")};
    tsr_tensor *out[TSR_OP_OUTPUTS];
    const tsr_conv_opts *opts = b->opts.size ? &b->opts : NULL;

    switch (b->f) {
    case FORWARD: tsr_conv(in[0], in[1], in[2], opts); break;
    case GRAD_INPUT: tsr_conv_grad_input(in[0], in[1], space, opts); break;
    case NO_SIZES: tsr_conv_grad_input(in[0], in[1], NULL, opts); break;
    case GRAD_WEIGHT: tsr_conv_grad_weight(in[0], in[1], kernel, opts); break;
    case BACKWARD: tsr_conv_backward(in[0], in[1], in[2], opts, &out[0], &out[1], &out[2]); break;
    case BY_NAME:
        tsr_op_run_all(mesh, b->attr[0], in, in[2] ? 3 : 2, &b->attr[1], b->attr[1] ? 1 : 0, out);
        break;
    }
}

/* Sharded along its columns: the halo is fetched. y[p] = x[p-1] + x[p] + x[p+1]. */
static tsr_status good_call(tsr_mesh *mesh)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1});
    tsr_tensor *x = tsr_arange(mesh, "f32[1,1,8]@[S(2)]", 1, 1);
    float host[8];

    CHECK(tsr_to_host(tsr_conv(x, tsr_full(mesh, "f32[1,1,3]", 1), NULL, &opts), host,
                      sizeof host) == TSR_OK);
    for (int i = 0; i < 8; i++)
        CHECK(host[i] == (float)(3 * (i + 1) - (i == 7 ? 9 : 0)));
    return TSR_OK;
}

/* A composite op goes on to say in which of its parts. */
static bool is_said(const char *message, const char *says)
{
    const size_t n = strlen(says);

    return strncmp(message, says, n) == 0 &&
           (!message[n] || strncmp(message + n, ", in its part ", 14) == 0);
}

/* Every rank sees the sentence by itself, before anything is sent; the second time from a cache,
   and without more memory. */
static tsr_status refuse_job(tsr_mesh *mesh, void *arg)
{
    const bad *b = arg;
    int64_t live = 0;

    for (int round = 0; round < 3; round++) {
        tsr_status st;
        CHECK(tsr_scope_push(mesh) == TSR_OK);
        tsr_counters_reset(mesh);
        bad_call(mesh, b);
        st = tsr_mesh_status(mesh);
        if (st != b->code || !is_said(tsr_mesh_message(mesh), b->says)) {
            fprintf(stderr, "rank %d: \"%s\", %d, but expected \"%s\", %d\n", tsr_mesh_rank(mesh),
                    tsr_mesh_message(mesh), (int)st, b->says, (int)b->code);
            return TSR_ERR_MISMATCH;
        }
        CHECK(tsr_counters_get(mesh).calls == 0);
        tsr_mesh_clear_error(mesh);
        CHECK(tsr_scope_pop(mesh) == TSR_OK);
        tsr_memory_trim(mesh);
        CHECK(round < 2 || tsr_allocations_live(mesh) == live);
        live = tsr_allocations_live(mesh);
    }
    return good_call(mesh);
}

static void what_cannot_be(void **state)
{
    static const char *const meshes[] = {"1", "2", "4"};

    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        for (int m = 0; m < 3; m++)
            pass_on(meshes[m], refuse_job, (void *)&BAD[i]);
}

/* There is no mesh to tell it to. */
static void nothing_at_all(void **state)
{
    tsr_tensor *out[3];

    (void)state;
    assert_null(tsr_conv(NULL, NULL, NULL, NULL));
    assert_int_equal(tsr_conv_backward(NULL, NULL, NULL, NULL, &out[0], &out[1], &out[2]),
                     TSR_ERR_ARG);
    for (int k = 0; k < 3; k++)
        assert_null(out[k]);
}

/* An error that came before is handed on, not replaced. */
static tsr_status after_an_error(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *w = tsr_full(mesh, "f32[1,1,3]", 1), *out[3];
    tsr_tensor *x = tsr_conv(tsr_full(mesh, "f32[1,2,8]", 1), w, NULL, NULL);
    const char *first = "conv: weight f32[1,1,3]@[R] expects 1 input channels, input "
                        "f32[1,2,8]@[R] has 2";

    (void)arg;
    CHECK(!tsr_tensor_ok(x));
    CHECK(!tsr_tensor_ok(tsr_conv(x, w, NULL, NULL)));
    CHECK(!tsr_tensor_ok(tsr_conv(w, x, NULL, NULL)));
    CHECK(tsr_conv_backward(x, x, w, NULL, &out[0], &out[1], &out[2]) == TSR_ERR_SHAPE);
    for (int k = 0; k < 3; k++)
        CHECK(out[k] && !tsr_tensor_ok(out[k]));
    CHECK(strcmp(tsr_mesh_message(mesh), first) == 0);
    tsr_mesh_clear_error(mesh);
    return good_call(mesh);
}

static void errors_are_handed_on(void **state)
{
    (void)state;
    pass_on("2", after_an_error, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(errors_are_handed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
