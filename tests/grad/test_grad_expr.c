/* SPDX-License-Identifier: Apache-2.0 */
/* test_grad_expr.c - gradients as expressions in the row of a program's own op: what they compute
   wherever tensors are, sizes and attributes that are handed on, outputs without a gradient, what a
   tape keeps for them, and what registering refuses. Through the public headers. */
#include "support/test.h"

enum { N = 4, M = 6, COUNT = N * M };

static const char *const PLACES[] = {"[R,R]", "[S(0),S(1)]", "[P(sum),S(0)]", "[R,SS(0,2)]"};
enum { N_PLACES = sizeof PLACES / sizeof *PLACES };

static tsr_tensor *input(tsr_mesh *mesh, const char *what, int place, double start)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, PLACES[place]);
    return tsr_arange(mesh, spec, start, 1);
}

static bool is(tsr_tensor *y, const double *want, int n)
{
    double host[COUNT];
    bool same = tsr_tensor_ok(y) && tsr_shape_count(&tsr_tensor_spec(y)->shape) == n &&
                tsr_to_host(y, host, sizeof host[0] * (size_t)n) == TSR_OK;

    for (int i = 0; i < n && same; i++)
        same = host[i] == want[i];
    return same;
}

/* ---- values ---- */

/* Broadcast inputs are summed up, all outputs and their gradients have names, and what depends on
   an output that nothing depends on is not there. */
static tsr_status values_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op two = {.size = sizeof(tsr_op),
                               .name = "two",
                               .inputs = "x,w",
                               .doc = "w x, and x^2",
                               .expr = "mul(x, w); mul(x, x)",
                               .grad_expr = "x: mul(g, w); w: mul(g1, out)"};
    const bool only_w[] = {false, true};
    double by_x[COUNT], by_w[M] = {0};
    (void)arg;

    CHECK(tsr_op_register(mesh, &two) == TSR_OK);
    CHECK(tsr_op_has_grad(&two));
    for (int i = 0; i < COUNT; i++) {
        const double x = i - 9, w = i % M + 2;

        by_x[i] = 2 * w;
        by_w[i % M] += 3 * (x * w);
    }
    for (int p = 0; p < N_PLACES; p++) {
        tsr_tensor *in[] = {input(mesh, "f64[4,6]", p, -9), input(mesh, "f64[6]", 0, 2)};
        tsr_tensor *y[TSR_OP_OUTPUTS], *grad[2];
        tsr_tensor *g[TSR_OP_OUTPUTS] = {tsr_full(mesh, "f64[4,6]@[S(1),R]", 2)};

        CHECK(tsr_op_run_all(mesh, "two", in, 2, NULL, 0, y) == TSR_OK);
        CHECK(tsr_op_grad(mesh, "two", in, 2, NULL, 0, y, g, NULL, grad) == TSR_OK);
        CHECK(is(grad[0], by_x, COUNT) && !grad[1]);
        g[1] = tsr_full(mesh, "f64[4,6]@[R,S(0)]", 3);
        CHECK(tsr_op_grad(mesh, "two", in, 2, NULL, 0, y, g, NULL, grad) == TSR_OK);
        CHECK(is(grad[0], by_x, COUNT) && is(grad[1], by_w, M));
        CHECK(tsr_op_grad(mesh, "two", in, 2, NULL, 0, y, g, only_w, grad) == TSR_OK);
        CHECK(!grad[0] && is(grad[1], by_w, M));
    }
    return TSR_OK;
}

static void values(void **state)
{
    (void)state;
    pass_on("2x2", values_job, NULL);
}

/* ---- attributes, sizes, several gradients of one op ---- */

static tsr_status sizes_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op part = {.size = sizeof(tsr_op),
                                .name = "part",
                                .inputs = "x",
                                .attrs = "dim:int=0,size:int,step:int=1",
                                .doc = "windows of x",
                                .expr = "unfold(x, ...)",
                                .grad_expr = "x: unfold_backward(g, ..., length=x.shape[dim])"},
                        flat = {.size = sizeof(tsr_op),
                                .name = "flat",
                                .inputs = "x",
                                .doc = "all in one row, as f32",
                                .expr = "cast(flatten(x), dtype=f32)",
                                .grad_expr = "x: reshape(g, shape=x.shape)"},
                        first = {.size = sizeof(tsr_op),
                                 .name = "first",
                                 .inputs = "x",
                                 .doc = "what comes first",
                                 .expr = "narrow(x, dim=0, start=0, length=1)",
                                 .grad_expr = "x: add(zeros(x), pad(g, before=0/0, after=3/0))"},
                        pair = {.size = sizeof(tsr_op),
                                .name = "pair",
                                .inputs = "x,target,weight?,pos_weight?",
                                .attrs = "reduction:mean|sum|none=mean",
                                .doc = "a loss",
                                .expr = "bce_with_logits(x, target, weight, pos_weight, ...)",
                                .grad_expr = "x, target, weight, pos_weight: "
                                             "bce_with_logits_backward(g, x, target, weight, "
                                             "pos_weight, ..., output_mask=wanted)"};
    const tsr_op *const rows[] = {&part, &flat, &first, &pair};
    static const char *const same[] = {"unfold", NULL, NULL, "bce_with_logits"};
    static const char *const attrs[][2] = {{"dim=-1", "size=2"}, {NULL}, {NULL}, {"reduction=sum"}};
    static const int n_attrs[] = {2, 0, 0, 1};
    double ones[COUNT], row[COUNT];
    (void)arg;

    for (int i = 0; i < COUNT; i++) {
        ones[i] = 1;
        row[i] = i < M;
    }
    for (int p = 0; p < N_PLACES; p++)
        for (int r = 0; r < 4; r++) {
            tsr_tensor *in[] = {input(mesh, "f64[4,6]", p, -9), input(mesh, "f64[4,6]", 0, 0)};
            tsr_tensor *y[TSR_OP_OUTPUTS], *grad[2] = {NULL}, *want[2] = {NULL};
            const int n = r == 3 ? 2 : 1;
            tsr_tensor *g;

            if (p == 0)
                CHECK(tsr_op_register(mesh, rows[r]) == TSR_OK);
            CHECK(tsr_op_run_all(mesh, rows[r]->name, in, n, attrs[r], n_attrs[r], y) == TSR_OK);
            g = tsr_fill(y[0], 1);
            CHECK(tsr_op_grad(mesh, rows[r]->name, in, n, attrs[r], n_attrs[r], y, &g, NULL,
                              grad) == TSR_OK);
            if (r == 1 || r == 2) {
                CHECK(is(grad[0], r == 1 ? ones : row, COUNT));
                continue;
            }
            CHECK(tsr_op_grad(mesh, same[r], in, n, attrs[r], n_attrs[r], y, &g, NULL, want) ==
                  TSR_OK);
            for (int k = 0; k < n; k++) {
                double host[COUNT];

                CHECK(tsr_to_host(want[k], host, sizeof host) == TSR_OK);
                CHECK(is(grad[k], host, COUNT));
            }
        }
    return TSR_OK;
}

static void sizes(void **state)
{
    (void)state;
    pass_on("2x2", sizes_job, NULL);
}

/* ---- what a tape keeps ---- */

/* An input that the text only asks for its shape may be overwritten, one that it reads not. */
static tsr_status tape_job(tsr_mesh *mesh, void *arg)
{
    static const tsr_op kept = {.size = sizeof(tsr_op),
                                .name = "kept",
                                .inputs = "x,y",
                                .doc = "x + y^2",
                                .expr = "add(x, mul(y, y))",
                                .grad_expr = "x: add(zeros(x), g); y: mul(affine(y, mul=2), g)"};
    tsr_tensor *w = tsr_watch(tsr_arange(mesh, "f64[4]@[S(0)]", 1, 1));
    const double by_w[] = {3, 5, 7, 9}; /* of w + w^2 */
    (void)arg;

    CHECK(tsr_op_register(mesh, &kept) == TSR_OK);
    for (int overwrites = 0; overwrites < 3; overwrites++) {
        tsr_tensor *in[2], *loss;

        tsr_grad_clear(w);
        CHECK(tsr_tape_begin(mesh) == TSR_OK);
        in[0] = tsr_affine(w, 1, 0);
        in[1] = tsr_affine(w, 1, 0);
        loss = tsr_sum(tsr_op_run(mesh, "kept", in, 2, NULL, 0), NULL, 0, false);
        if (overwrites > 0) {
            tsr_tape_pause(mesh);
            CHECK(tsr_tensor_ok(tsr_fill_inplace(in[overwrites - 1], 0)));
            tsr_tape_resume(mesh);
        }
        if (overwrites < 2) {
            CHECK(tsr_backward(loss) == TSR_OK);
            CHECK(is(tsr_grad(w), by_w, 4));
            continue;
        }
        CHECK(tsr_backward(loss) == TSR_ERR_STATE);
        CHECK(strstr(tsr_mesh_message(mesh), "the gradient of kept needs its input 1"));
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

static void tape(void **state)
{
    (void)state;
    pass_on("2", tape_job, NULL);
}

/* ---- what registering refuses ---- */

typedef struct refusal {
    const char *inputs, *text, *says; /* what it says behind the text */
} refusal;

static tsr_status no_grad(const tsr_grad_call *call)
{
    (void)call;
    return TSR_OK;
}

static tsr_status refused_job(tsr_mesh *mesh, void *arg)
{
    const refusal *r = arg;
    tsr_op op = {.size = sizeof(tsr_op),
                 .name = "new",
                 .inputs = r->inputs,
                 .attrs = "dim:int=1,alpha:float=1",
                 .doc = "new",
                 .expr = strchr(r->inputs, '*') ? "cat(x)" : "neg(x)",
                 .grad_expr = r->text};
    char says[TSR_TEXT_LEN];

    if (strchr(r->inputs, 'g'))
        op.expr = "neg(g)";
    snprintf(says, sizeof says, "new: grad_expr \"%s\"%s", r->text, r->says);
    CHECK(tsr_op_register(mesh, &op) != TSR_OK);
    if (strcmp(tsr_mesh_message(mesh), says) != 0)
        fprintf(stderr, "expected \"%s\"\ngot      \"%s\"\n", says, tsr_mesh_message(mesh));
    CHECK(strcmp(tsr_mesh_message(mesh), says) == 0);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static tsr_status twice_job(tsr_mesh *mesh, void *arg)
{
    tsr_op op = {.size = sizeof(tsr_op),
                 .name = "new",
                 .inputs = "x",
                 .doc = "new",
                 .expr = "neg(x)",
                 .grad_expr = "x: neg(g)",
                 .saves = ""};
    (void)arg;

    for (int i = 0; i < 2; i++) {
        CHECK(tsr_op_register(mesh, &op) != TSR_OK);
        CHECK(strcmp(tsr_mesh_message(mesh),
                     "new: its row has grad_expr, so it has neither grad nor saves") == 0);
        tsr_mesh_clear_error(mesh);
        op.saves = NULL;
        op.grad = no_grad;
    }
    op.grad = NULL;
    CHECK(tsr_op_register(mesh, &op) == TSR_OK);
    return TSR_OK;
}

#define LIKE ", it should be like a: mul(g, b); b: mul(g, a)"

static void refused(void **state)
{
    static const refusal all[] = {
        {"x", "x: sigmo(g)", ": unknown op \"sigmo\""},
        {"x", "y: neg(g)", ": y is not one of its inputs x, nor out, out1, ... or g, g1, ..."},
        {"x", "x: mul(g, y)", ": y is not one of its inputs x, nor out, out1, ... or g, g1, ..."},
        {"x", "x: softmax(g, dim=alpha)", ": dim=alpha is of another type than softmax's dim"},
        {"x", "x: neg(g, dim=1)", ": neg has no attribute \"dim\""},
        {"x", "x: softmax(g, dim=dimm)", ": softmax: dim=dimm is not of type dim"},
        {"x", "x: reshape(g, shape=y.shape)", ": reshape: shape=y.shape is not of type ints"},
        {"x", "x: softmax(g, dim=x.shape)", ": dim=x.shape is of another type than softmax's dim"},
        {"x", "x: reshape(g, shape=x.shape[9])", ": reshape: shape=x.shape[9] is not of type ints"},
        {"x", "x: affine(g, mul=wanted)", ": mul=wanted is of another type than affine's mul"},
        {"x", "x: mul(g, out1)", " names output 1 of 1"},
        {"x", "x: g4", ": g4 is not one of its inputs x, nor out, out1, ... or g, g1, ..."},
        {"x", "x: g; x: g", " has two gradients of one input, at \"x: g\""},
        {"x", "", " cannot be read at \"\"" LIKE},
        {"x", "g", " cannot be read at \"g\"" LIKE},
        {"x", "neg(g)", ": neg is not one of its inputs x, nor out, out1, ... or g, g1, ..."},
        {"x", "x: neg(g) neg(g)", " cannot be read at \"neg(g)\"" LIKE},
        {"x", "x: zeros(g)", " cannot be read at \")\"" LIKE},
        {"x,y?", "x, y: g", ": only an op has several gradients"},
        {"x,y?", "x: mul(g, y)", ": mul needs its input 1, which may be absent"},
        {"x", "x: neg_inplace(g)",
         ": neg_inplace works in place, which an expression cannot contain"},
        {"x*", "x: g", ": inputs that are a list have no names"},
        {"g", "g: neg(g)", ": the input g has the name of an output or gradient"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        refusal r = all[i];
        pass_on("2", refused_job, &r);
    }
    pass_on("2", twice_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(sizes),
        cmocka_unit_test(tape),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
