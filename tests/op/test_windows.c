/* SPDX-License-Identifier: Apache-2.0 */
/* test_windows.c - ops that need more of an operand than a rank's part: a row of a program with
   windows, what is moved and what is not, computing the interior while the halo is fetched, windows
   that are kept, and circular ones. Convolution as an op is test_conv.c. */
#include <time.h>

#include "support/test.h"

enum { ELEMENTS = 1 << 14 };

/* ---- a row of a program: out[i] = x[i - left] + .. + x[i + right] along dim 0 ---- */

static tsr_status reach_shape(tsr_schema *s, tsr_error *err)
{
    (void)err;
    s->out_dtype[0] = s->in[0].dtype;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

static tsr_status reach_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim && st == TSR_OK; d++)
        st = tsr_rule_add(out, &(tsr_rule){.in = {tsr_rule_shard(d)}, .out = {tsr_rule_shard(d)}},
                          err);
    return st;
}

static void reach_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    const int64_t left = tsr_schema_attr(s, "left")->i[0],
                  right = tsr_schema_attr(s, "right")->i[0];

    w->anchor = reverse ? 0 : TSR_OUTPUT(0);
    /* an element reaches as far to the right as an output looks to the left */
    w->window[w->n++] = (tsr_window){.operand = reverse ? TSR_OUTPUT(0) : 0,
                                     .mul = 1,
                                     .lo = reverse ? -right : -left,
                                     .hi = 1 + (reverse ? left : right)};
}

static _Atomic int kernel_calls; /* of all ranks */

static void reach_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *y = &call->out[0];
    const int64_t left = call->attrs.value[0].i[0], right = call->attrs.value[1].i[0];
    const int64_t rest = x->shape.ndim > 1 ? x->shape.size[1] : 1;
    const double *in = x->data;
    double *out = y->data;

    kernel_calls++;
    for (int64_t i = 0; i < y->shape.size[0]; i++)
        for (int64_t k = 0; k < rest; k++) {
            double sum = 0;
            for (int64_t j = i + y->first[0] - left; j <= i + y->first[0] + right; j++) {
                const int64_t at = j - x->first[0];
                if (at >= 0 && at < x->shape.size[0])
                    sum += in[at * rest + k];
            }
            out[i * rest + k] = sum;
        }
}

static const char *const reach_cases[] = {
    "f64[12,2] left=1 right=2", "f64[13,3] left=1 right=2", "f64[8] left=5", "f64[7] left=5", NULL,
};

static const tsr_op reach = {.size = sizeof(tsr_op),
                             .name = "reach",
                             .inputs = "x",
                             .attrs = "left:int=0,right:int=0",
                             .doc = "sums of neighbours along dim 0",
                             .rule = reach_rule,
                             .windows = reach_windows,
                             .linear = "x",
                             .shape = reach_shape,
                             .kernel = reach_kernel,
                             .cases = reach_cases};

/* ---- helpers ---- */

static double small(int64_t i, int seed)
{
    return (double)((i * 7919 + seed * 104729) % 13 - 6);
}

static tsr_tensor *filled(tsr_mesh *mesh, const char *spec, int seed)
{
    static const tsr_error none;
    double values[ELEMENTS];
    tsr_error err = none;
    tsr_spec s;

    if (tsr_spec_parse(spec, tsr_mesh_shape_get(mesh), &s, &err) != TSR_OK)
        return NULL;
    for (int64_t i = 0; i < tsr_shape_count(&s.shape); i++)
        values[i] = small(i, seed);
    return from_host(mesh, spec, values);
}

static int64_t received(tsr_mesh *mesh)
{
    int64_t bytes = tsr_counters_get(mesh).bytes_in;

    tsr_counters_reset(mesh);
    return bytes;
}

static bool equal(tsr_tensor *a, tsr_tensor *b)
{
    double x[ELEMENTS], y[ELEMENTS];
    const size_t bytes = (size_t)tsr_shape_count(&tsr_tensor_spec(a)->shape) * sizeof(double);

    return tsr_to_host(a, x, bytes) == TSR_OK && tsr_to_host(b, y, bytes) == TSR_OK &&
           memcmp(x, y, bytes) == 0;
}

/* ---- a program's own op ---- */

static tsr_status run_reach(tsr_mesh *mesh, void *arg)
{
    const char *attrs[] = {"left=2", "right=1"};
    tsr_cost cost = tsr_cost_default();
    tsr_tensor *whole, *x, *y, *z;

    (void)arg;
    CHECK(tsr_op_register(mesh, &reach) == TSR_OK);
    for (int seed = 0; seed < 12; seed++) {
        char text[40];
        snprintf(text, sizeof text, seed ? "random:%d" : "default", seed);
        CHECK(tsr_cost_parse(text, &cost, NULL) == TSR_OK);
        tsr_cost_set(mesh, &cost);
        whole = filled(mesh, "f64[9,3]@[R]", 1);
        x = filled(mesh, "f64[9,3]@[S(0)]", 1);
        y = tsr_op_run(mesh, "reach", &whole, 1, attrs, 2);
        z = tsr_op_run(mesh, "reach", &x, 1, attrs, 2);
        CHECK(equal(y, z));
    }
    return tsr_mesh_status(mesh);
}

/* The interior is a call of the kernel, each border another. */
static tsr_status count_calls(tsr_mesh *mesh, void *arg)
{
    const char *attrs[] = {"left=2", "right=1"};
    tsr_tensor *x = filled(mesh, "f64[40,3]@[S(0)]", 1);

    (void)arg;
    CHECK(tsr_op_register(mesh, &reach) == TSR_OK);
    for (int on = 0; on < 2; on++) {
        CHECK(tsr_barrier(mesh) == TSR_OK);
        kernel_calls = 0;
        CHECK(tsr_barrier(mesh) == TSR_OK);
        tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_AUTO);
        tsr_op_run(mesh, "reach", &x, 1, attrs, 2);
        CHECK(tsr_barrier(mesh) == TSR_OK);
        CHECK(kernel_calls == (on ? 2 + 3 + 3 + 2 : 4));
    }
    return tsr_mesh_status(mesh);
}

static tsr_status validate_reach(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    tsr_validating_set(mesh, true);
    CHECK(tsr_op_register(mesh, &reach) == TSR_OK);
    return tsr_mesh_status(mesh);
}

static void an_own_op(void **state)
{
    (void)state;
    pass_on("1", validate_reach, NULL);
    pass_on("2", run_reach, NULL);
    pass_on("4", run_reach, NULL);
}

/* ---- overlap ---- */

static tsr_status overlap(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *x, *w;
        tsr_conv_opts opts;
    } cases[] = {
        {"f64[2,2,12,14]", "f64[3,2,3,3]", CONV_OPTS(.padding = {1, 1})},
        {"f64[1,2,13,17]", "f64[2,2,5,3]", CONV_OPTS(.padding = {2, 1}, .stride = {2, 1})},
        {"f64[1,2,16,16]", "f64[2,2,3,3]", CONV_OPTS(.padding = {2, 2}, .dilation = {2, 2})},
        {"f64[1,2,8,9]", "f64[2,2,3,3]", CONV_OPTS(.stride = {2, 2}, .transposed = true)},
        {"f64[1,2,3,4]", "f64[2,2,3,3]",
         CONV_OPTS(.padding = {1, 1})}, /* no interior on some ranks */
    };
    static const char *const places[] = {"[S(2),S(3)]", "[S(3),S(3)]", "[R,S(2)]", "[S(0),S(3)]"};
    tsr_cost cost = tsr_cost_default();

    (void)arg;
    CHECK(tsr_cost_parse("latency=0,bandwidth=1e15", &cost, NULL) == TSR_OK);
    tsr_cost_set(mesh, &cost); /* halos cost next to nothing */
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int p = 0; p < 4; p++) {
            tsr_tensor *y[2], *x, *w;
            char text[80];
            int64_t bytes[2];

            snprintf(text, sizeof text, "%s@%s", cases[c].x, places[p]);
            x = filled(mesh, text, 1);
            snprintf(text, sizeof text, "%s@[R,R]", cases[c].w);
            w = filled(mesh, text, 2);
            for (int on = 0; on < 2; on++) {
                tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
                received(mesh);
                y[on] = tsr_conv(x, w, NULL, &cases[c].opts);
                bytes[on] = received(mesh);
            }
            CHECK(bytes[0] == bytes[1]);
            CHECK(equal(y[0], y[1]));
        }
    return tsr_mesh_status(mesh);
}

static void overlap_changes_nothing(void **state)
{
    (void)state;
    pass_on("4", count_calls, NULL);
    pass_on("2x2", overlap, NULL);
    pass_on("1x3", overlap, NULL);
}

/* ---- kept windows ---- */

static tsr_status keep(tsr_mesh *mesh, void *arg)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    const int64_t kernel[] = {3, 3};
    tsr_tensor *x = filled(mesh, "f64[2,2,8,8]@[S(3)]", 1),
               *w = filled(mesh, "f64[2,2,3,3]@[R]", 2);
    tsr_tensor *grad = filled(mesh, "f64[2,2,8,8]@[S(3)]", 3), *a, *b;

    (void)arg;
    received(mesh);
    a = tsr_conv_grad_weight(grad, x, kernel, &opts);
    CHECK(received(mesh) > 0);
    tsr_keep_windows_set(mesh, 1 << 20);
    tsr_conv(x, w, NULL, &opts);
    CHECK(received(mesh) > 0);
    b = tsr_conv_grad_weight(grad, x, kernel, &opts);
    CHECK(received(mesh) == 0); /* the window is there */
    CHECK(equal(a, b));
    tsr_add_inplace(x, x); /* and no longer */
    received(mesh);
    b = tsr_conv_grad_weight(grad, x, kernel, &opts);
    CHECK(received(mesh) > 0);
    CHECK(equal(tsr_add(a, a), b));
    tsr_conv(x, w, NULL, &(tsr_conv_opts)CONV_OPTS(.padding = {2, 2}, .dilation = {2, 2}));
    CHECK(received(mesh) > 0); /* another window */
    tsr_keep_windows_set(mesh, 64);
    tsr_conv(x, w, NULL, &opts);
    received(mesh);
    tsr_conv(x, w, NULL, &opts);
    CHECK(received(mesh) > 0); /* too large to be kept */
    tsr_keep_windows_set(mesh, 3 << 16);
    for (int i = 0; i < 10; i++) { /* windows go with their tensors, or the limit is reached */
        tsr_scope_push(mesh);
        x = tsr_redistribute(filled(mesh, "f64[64,2,8,8]@[R]", 1), "[S(3)]");
        tsr_conv(x, w, NULL, &opts);
        received(mesh);
        tsr_conv(x, w, NULL, &opts);
        CHECK(received(mesh) == 0);
        tsr_scope_pop(mesh);
    }
    return tsr_mesh_status(mesh);
}

/* The limit is one for all tensors of a mesh, and what just fits is kept. */
static tsr_status keep_within(tsr_mesh *mesh, void *arg)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *w = filled(mesh, "f64[2,2,3,3]@[R]", 2);
    tsr_tensor *x = filled(mesh, "f64[2,2,8,8]@[S(3)]", 1),
               *y = filled(mesh, "f64[2,2,8,8]@[S(3)]", 3);
    const int64_t window = 2 * 2 * 8 * 5 * 8; /* four columns and one of the other rank */
    (void)arg;

    tsr_keep_windows_set(mesh, window);
    tsr_conv(x, w, NULL, &opts);
    tsr_conv(y, w, NULL, &opts); /* finds no room */
    received(mesh);
    tsr_conv(x, w, NULL, &opts);
    CHECK(received(mesh) == 0);
    tsr_conv(y, w, NULL, &opts);
    CHECK(received(mesh) > 0);
    tsr_keep_windows_set(mesh, 2 * window - 1);
    tsr_conv(y, w, NULL, &opts);
    received(mesh);
    tsr_conv(y, w, NULL, &opts);
    CHECK(received(mesh) > 0);
    tsr_keep_windows_set(mesh, 2 * window);
    tsr_conv(y, w, NULL, &opts);
    received(mesh);
    tsr_conv(y, w, NULL, &opts);
    CHECK(received(mesh) == 0);
    return tsr_mesh_status(mesh);
}

static void kept_windows(void **state)
{
    (void)state;
    pass_on("2", keep_within, NULL);
    pass_on("2", keep, NULL);
    pass_on("4", keep, NULL);
}

/* ---- circular windows ---- */

/* Elements that are rolled or padded around the end come from the ranks that have them, and no
   others move: bytes into the rank that gets most. */
static tsr_status around(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *op, *x, *attrs[2];
        int64_t bytes; /* on 4 ranks */
    } cases[] = {
        {"roll", "f64[16,3]", {"shifts=1", "dims=0"}, 1 * 3 * 8},
        {"roll", "f64[16,3]", {"shifts=-2", "dims=0"}, 2 * 3 * 8},
        {"roll", "f64[16,3]", {"shifts=8", "dims=0"}, 4 * 3 * 8},
        {"roll", "f64[16,3]", {"shifts=16", "dims=0"}, 0},
        {"roll", "f64[16,3]", {"shifts=-1", NULL}, 1 * 3 * 8}, /* a row has the element */
        {"roll", "f64[16,3]", {"shifts=27", NULL}, 4 * 3 * 8},
        {"roll", "f64[13,3]", {"shifts=6", "dims=0"}, 4 * 3 * 8},
        {"roll", "f64[3,2]", {"shifts=5", NULL}, 1 * 2 * 8}, /* a rank has nothing */
        {"pad_circular", "f64[16,3]", {"before=1,0", "after=1,0"}, 2 * 3 * 8},
        {"pad_circular", "f64[16,3]", {"before=16,1", "after=3,3"}, 9 * 3 * 8},
        {"pad_circular", "f64[5,3]", {"before=4,1", "after=5,0"}, 3 * 3 * 8},
    };
    tsr_cost cost = tsr_cost_default();

    (void)arg;
    for (int seed = 0; seed < 6; seed++) {
        char text[40];
        snprintf(text, sizeof text, seed ? "random:%d" : "default", seed);
        CHECK(tsr_cost_parse(text, &cost, NULL) == TSR_OK);
        tsr_cost_set(mesh, &cost);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            const int n_attrs = cases[c].attrs[1] ? 2 : 1;
            tsr_tensor *whole, *x, *y, *z;

            snprintf(text, sizeof text, "%s@[R]", cases[c].x);
            whole = filled(mesh, text, 1);
            snprintf(text, sizeof text, "%s@[S(0)]", cases[c].x);
            x = filled(mesh, text, 1);
            y = tsr_op_run(mesh, cases[c].op, &whole, 1, cases[c].attrs, n_attrs);
            received(mesh);
            z = tsr_op_run(mesh, cases[c].op, &x, 1, cases[c].attrs, n_attrs);
            int64_t bytes = received(mesh);
            CHECK(tsr_all_reduce(mesh, TSR_I64, TSR_MAX, &bytes, 1, &bytes) == TSR_OK);
            if (seed == 0 && tsr_mesh_size(mesh) == 4 && bytes != cases[c].bytes) {
                fprintf(stderr, "%s %s %s: %lld bytes\n", cases[c].op, cases[c].x,
                        cases[c].attrs[0], (long long)bytes);
                return TSR_ERR_MISMATCH;
            }
            CHECK(equal(y, z));
        }
    }
    return tsr_mesh_status(mesh);
}

static void circular_windows(void **state)
{
    (void)state;
    pass_on("4", around, NULL);
    pass_on("3", around, NULL);
    pass_on("7", around, NULL);
}

/* ---- windows that are empty between others ---- */

/* A stride wider than the kernel: some elements of the result see nothing, the next ones do. */
static tsr_status gaps(tsr_mesh *mesh, void *arg)
{
    const tsr_conv_opts opts = CONV_OPTS(.stride = {3}, .output_padding = {2}, .transposed = true);
    tsr_tensor *x = filled(mesh, "f64[1,2,4]@[S(2)]", 1), *w = filled(mesh, "f64[2,2,1]@[R]", 2);
    tsr_tensor *bias = filled(mesh, "f64[2]@[R]", 3), *y[2];
    tsr_cost cost = tsr_cost_default();

    (void)arg;
    CHECK(tsr_cost_parse("latency=0,bandwidth=1e15", &cost, NULL) == TSR_OK);
    tsr_cost_set(mesh, &cost);
    for (int on = 0; on < 2; on++) {
        tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
        y[on] = tsr_conv(x, w, bias, &opts);
    }
    CHECK(equal(y[0], y[1]));
    return tsr_mesh_status(mesh);
}

/* ---- two inputs: out[i] = a[i - 1] + b[i + 1], or with a dim for each ---- */

static tsr_status pair_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int d = 0; d < s->in[0].shape.ndim && st == TSR_OK; d++) {
        const tsr_rule_placement shard = tsr_rule_shard(d);
        st = tsr_rule_add(out, &(tsr_rule){.in = {shard, shard}, .out = {shard}}, err);
    }
    return st;
}

static void apart_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    (void)s;
    if (!reverse)
        *w = (tsr_windows){.anchor = TSR_OUTPUT(0),
                           .n = 2,
                           .window = {{.operand = 0, .mul = 1, .lo = -1, .hi = 1},
                                      {.operand = 1, .mul = 1, .hi = 2}}};
}

static size_t apart_scratch(const tsr_kernel_call *call)
{
    return (size_t)call->in[1].shape.size[0] * sizeof(double);
}

static double at(const tsr_operand *x, int64_t i)
{
    i -= x->first[0];
    return i >= 0 && i < x->shape.size[0] ? ((const double *)x->data)[i] : 0;
}

static void apart_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *y = &call->out[0];

    memset(call->scratch, 0x55, apart_scratch(call)); /* memory that is no one else's */
    for (int64_t i = y->first[0]; i < y->first[0] + y->shape.size[0]; i++)
        ((double *)y->data)[i - y->first[0]] = at(&call->in[0], i - 1) + at(&call->in[1], i + 1);
}

static const tsr_op apart = {.size = sizeof(tsr_op),
                             .name = "apart",
                             .inputs = "a,b",
                             .doc = "sums of the neighbours before and behind",
                             .rule = pair_rule,
                             .windows = apart_windows,
                             .shape = reach_shape,
                             .scratch = apart_scratch,
                             .kernel = apart_kernel};

/* The window that is kept of one input goes when that of the other is kept. */
static tsr_status keep_both(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *whole = filled(mesh, "f64[4096]@[R]", 1), *x = filled(mesh, "f64[4096]@[S(0)]", 1);
    tsr_tensor *y;
    tsr_cost cost = tsr_cost_default();

    (void)arg;
    CHECK(tsr_op_register(mesh, &apart) == TSR_OK);
    CHECK(tsr_cost_parse("latency=0,bandwidth=1e15", &cost, NULL) == TSR_OK);
    tsr_cost_set(mesh, &cost);
    y = tsr_op_run(mesh, "apart", (tsr_tensor *[]){whole, whole}, 2, NULL, 0);
    tsr_keep_windows_set(mesh, 1 << 20);
    for (int i = 0; i < 4; i++)
        CHECK(equal(y, tsr_op_run(mesh, "apart", (tsr_tensor *[]){x, x}, 2, NULL, 0)));
    return tsr_mesh_status(mesh);
}

static void cross_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    (void)s;
    if (!reverse)
        *w = (tsr_windows){.anchor = TSR_OUTPUT(0),
                           .n = 2,
                           .window = {{.operand = 0, .dim = 0, .mul = 1, .lo = -1, .hi = 1},
                                      {.operand = 1, .dim = 1, .mul = 1, .lo = -1, .hi = 1}}};
}

/* a has the output's columns, b its rows. */
static void cross_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *a = &call->in[0], *b = &call->in[1], *y = &call->out[0];
    const int64_t rows = y->shape.size[0], cols = y->shape.size[1];

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            const int64_t up = i + y->first[0] - 1 - a->first[0],
                          left = j + y->first[1] - 1 - b->first[1];
            double sum = 0;
            if (up >= 0)
                sum += ((const double *)a->data)[up * a->shape.size[1] + j];
            if (left >= 0)
                sum += ((const double *)b->data)[i * b->shape.size[1] + left];
            ((double *)y->data)[i * cols + j] = sum;
        }
}

static const tsr_op cross = {.size = sizeof(tsr_op),
                             .name = "cross",
                             .inputs = "a,b",
                             .doc = "what is above in a and to the left in b",
                             .rule = pair_rule,
                             .windows = cross_windows,
                             .shape = reach_shape,
                             .kernel = cross_kernel};

/* Each input has windows along one dim, and the same part along the other. */
static tsr_status cut_one_dim(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *a = filled(mesh, "f64[8,10]@[S(0),S(1)]", 1);
    tsr_tensor *b = filled(mesh, "f64[8,10]@[S(0),S(1)]", 2), *y[2];

    (void)arg;
    CHECK(tsr_op_register(mesh, &cross) == TSR_OK);
    for (int on = 0; on < 2; on++) {
        tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
        y[on] = tsr_op_run(mesh, "cross", (tsr_tensor *[]){a, b}, 2, NULL, 0);
    }
    CHECK(equal(y[0], y[1]));
    return tsr_mesh_status(mesh);
}

/* ---- what is overwritten ---- */

static void before_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    (void)s;
    if (!reverse)
        *w = (tsr_windows){.anchor = TSR_OUTPUT(0),
                           .n = 1,
                           .window = {{.operand = 0, .mul = 1, .lo = -2, .hi = 1}}};
}

/* Backwards, as input and output may be the same memory. */
static void before_kernel(const tsr_kernel_call *call)
{
    const tsr_operand *x = &call->in[0], *y = &call->out[0];

    for (int64_t i = y->first[0] + y->shape.size[0] - 1; i >= y->first[0]; i--)
        ((double *)y->data)[i - y->first[0]] = at(x, i) + at(x, i - 1) + at(x, i - 2);
}

static const tsr_op add_before = {.size = sizeof(tsr_op),
                                  .name = "add_before",
                                  .inputs = "x",
                                  .doc = "adds to each element the two before it",
                                  .rule = reach_rule,
                                  .windows = before_windows,
                                  .shape = reach_shape,
                                  .kernel = before_kernel,
                                  .inplace = true};

/* What a rank has computed must not be sent to one that is late. */
static tsr_status overwrite(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *y[2];

    (void)arg;
    CHECK(tsr_op_register(mesh, &add_before) == TSR_OK);
    for (int on = 0; on < 2; on++) {
        y[on] = filled(mesh, "f64[4096]@[S(0)]", 1);
        tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
        CHECK(tsr_barrier(mesh) == TSR_OK);
        if (tsr_mesh_rank(mesh) % 2)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        tsr_op_run(mesh, "add_before", &y[on], 1, NULL, 0);
    }
    CHECK(equal(y[0], y[1]));
    return tsr_mesh_status(mesh);
}

/* A row that tells its kernel by bind_rank where the output begins. */
static void begin_bind_rank(const tsr_schema *s, const tsr_spec *in, const tsr_spec *out,
                            const int *coord, tsr_kernel_call *call)
{
    (void)s, (void)in, (void)out, (void)coord;
    call->number[0] = call->out[0].first[0];
}

static void begin_kernel(const tsr_kernel_call *call)
{
    tsr_kernel_call other = *call;

    other.out[0].first[0] = call->number[0];
    reach_kernel(&other);
}

static tsr_status bind_rank(tsr_mesh *mesh, void *arg)
{
    const char *attrs[] = {"left=1", "right=1"};
    tsr_tensor *x = filled(mesh, "f64[4096]@[S(0)]", 1), *y[2];

    CHECK(tsr_op_register(mesh, arg) == TSR_OK);
    for (int on = 0; on < 2; on++) {
        tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER);
        y[on] = tsr_op_run(mesh, "reach", &x, 1, attrs, 2);
    }
    CHECK(equal(y[0], y[1]));
    return tsr_mesh_status(mesh);
}

static void overlap_needs_care(void **state)
{
    tsr_op row = reach;

    (void)state;
    row.bind_rank = begin_bind_rank;
    row.kernel = begin_kernel;
    pass_on("3", bind_rank, &row);
    pass_on("3", gaps, NULL);
    pass_on("2x2", cut_one_dim, NULL);
    pass_on("4", overwrite, NULL);
}

/* ---- ranks agree ---- */

/* Some ranks keep windows of a smaller mesh too; of the larger one all keep the same. */
static tsr_status keep_on_parts(tsr_mesh *mesh, void *arg)
{
    const tsr_conv_opts opts = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *x, *w, *small_x, *small_w;
    tsr_mesh *part;

    (void)arg;
    CHECK(tsr_mesh_part(mesh, "2", 0, &part) == TSR_OK);
    x = filled(mesh, "f64[2,2,8,8]@[S(3)]", 1);
    w = filled(mesh, "f64[2,2,3,3]@[R]", 2);
    small_x = filled(part, "f64[2,2,8,8]@[S(3)]", 1);
    small_w = filled(part, "f64[2,2,3,3]@[R]", 2);
    tsr_keep_windows_set(mesh, 2 * 2 * 8 * 6 * 8); /* enough for one of them */
    tsr_conv(small_x, small_w, NULL, &opts);
    for (int i = 0; i < 3; i++) {
        received(mesh);
        tsr_conv(x, w, NULL, &opts);
        CHECK(tsr_mesh_status(mesh) == TSR_OK);
        CHECK((received(mesh) == 0) == (i > 0));
    }
    tsr_mesh_unref(part);
    return tsr_mesh_status(mesh);
}

static tsr_status refuse_first(tsr_kernel_call *call, tsr_error *err)
{
    (void)err;
    return call->out[0].first[0] == 0 ? TSR_ERR_UNAVAILABLE : TSR_OK;
}

/* What only one rank cannot do the others are told. */
static tsr_status refuse(tsr_mesh *mesh, void *arg)
{
    const char *attrs[] = {"left=1"};
    tsr_tensor *x = filled(mesh, "f64[4096]@[S(0)]", 1);

    CHECK(tsr_op_register(mesh, arg) == TSR_OK);
    tsr_op_run(mesh, "reach", &x, 1, attrs, 1);
    tsr_barrier(mesh);
    CHECK(tsr_mesh_status(mesh) == (tsr_mesh_rank(mesh) ? TSR_ERR_PEER : TSR_ERR_UNAVAILABLE));
    return TSR_OK;
}

static void ranks_agree(void **state)
{
    tsr_op row = reach;

    (void)state;
    pass_on("2", keep_both, NULL);
    pass_on("4", keep_on_parts, NULL);
    row.prepare = refuse_first;
    pass_on("3", refuse, &row);
}

/* ---- rows that contradict themselves ---- */

static void bad_operand(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    (void)s, (void)reverse;
    *w = (tsr_windows){.n = 1, .window = {{.operand = TSR_OUTPUT(0), .mul = 1, .hi = 2}}};
}

static void bad_dim(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    reach_windows(s, reverse, w);
    w->window[0].dim = 2;
}

static void bad_order(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    reach_windows(s, reverse, w);
    w->window[0].mul = -1;
}

static void bad_twice(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    reach_windows(s, reverse, w);
    reach_windows(s, reverse, w);
}

static tsr_status refuse_row(tsr_mesh *mesh, void *arg)
{
    CHECK(tsr_op_register(mesh, arg) == TSR_ERR_ARG);
    CHECK(strstr(tsr_mesh_message(mesh), "window"));
    return TSR_OK;
}

static void bad_windows(void **state)
{
    void (*const windows[])(const tsr_schema *, bool, tsr_windows *) = {bad_operand, bad_dim,
                                                                        bad_order, bad_twice};

    (void)state;
    for (int i = 0; i < 4; i++) {
        tsr_op row = reach;
        row.windows = windows[i];
        pass_on("1", refuse_row, &row);
    }
}

/* ---- gradients are adjoints ---- */

static double dot(tsr_tensor *a, tsr_tensor *b)
{
    double sum = 0;
    tsr_status st = tsr_to_host(tsr_sum(tsr_mul(a, b), NULL, 0, false), &sum, sizeof sum);

    return st == TSR_OK ? sum : 1e300;
}

/* <conv(x, w), g> = <x, grad_input(g, w)> = <w, grad_weight(x, g)>, in integers: exactly; and
   the same for pools and resampling, which are linear in x. */
static tsr_status adjoints(tsr_mesh *mesh, void *arg)
{
    static const struct {
        const char *x, *w, *g;
        tsr_conv_opts opts;
    } convs[] = {
        {"f64[2,4,9,8]@[S(2),S(3)]", "f64[6,4,3,3]@[R,R]", "f64[2,6,5,8]@[S(3),S(2)]",
         CONV_OPTS(.padding = {1, 1}, .stride = {2, 1})},
        {"f64[2,4,6,7]@[S(3),S(3)]", "f64[4,2,3,3]@[S(0),R]", "f64[2,4,6,7]@[R,S(3)]",
         CONV_OPTS(.padding = {2, 2}, .dilation = {2, 2}, .groups = 2)},
        {"f64[2,4,5,4]@[S(2),S(0)]", "f64[4,3,4,4]@[R,R]", "f64[2,3,10,8]@[S(2),S(2)]",
         CONV_OPTS(.padding = {1, 1}, .stride = {2, 2}, .transposed = true)},
    };
    const tsr_pool_opts pool = POOL_OPTS(.kernel = {2, 2});
    const int64_t half[] = {4, 4}, whole[] = {8, 8};
    tsr_tensor *p = filled(mesh, "f64[2,2,8,8]@[S(2),S(3)]", 4);
    tsr_tensor *q = filled(mesh, "f64[2,2,4,4]@[S(3),S(2)]", 5);

    (void)arg;
    for (size_t i = 0; i < sizeof convs / sizeof convs[0]; i++) {
        tsr_tensor *x = filled(mesh, convs[i].x, 1), *w = filled(mesh, convs[i].w, 2);
        tsr_tensor *g = filled(mesh, convs[i].g, 3), *grad[3];
        double all = dot(tsr_conv(x, w, NULL, &convs[i].opts), g);

        CHECK(tsr_conv_backward(g, x, w, &convs[i].opts, &grad[0], &grad[1], &grad[2]) == TSR_OK);
        CHECK(all != 0 && all == dot(x, grad[0]) && all == dot(w, grad[1]));
    }
    CHECK(dot(tsr_avg_pool(p, &pool), q) == dot(p, tsr_avg_pool_backward(q, whole, &pool)));
    CHECK(dot(tsr_adaptive_avg_pool(p, half), q) ==
          dot(p, tsr_adaptive_avg_pool_backward(q, whole)));
    CHECK(dot(tsr_upsample(q, whole, TSR_UPSAMPLE_NEAREST), p) ==
          dot(q, tsr_upsample_backward(p, half, TSR_UPSAMPLE_NEAREST)));
    CHECK(dot(tsr_upsample(q, whole, TSR_UPSAMPLE_LINEAR), p) ==
          dot(q, tsr_upsample_backward(p, half, TSR_UPSAMPLE_LINEAR)));
    return tsr_mesh_status(mesh);
}

static void gradients_are_adjoints(void **state)
{
    (void)state;
    pass_on("1x1", adjoints, NULL);
    pass_on("2x2", adjoints, NULL);
    pass_on("3x2", adjoints, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_own_op),          cmocka_unit_test(overlap_changes_nothing),
        cmocka_unit_test(kept_windows),       cmocka_unit_test(gradients_are_adjoints),
        cmocka_unit_test(overlap_needs_care), cmocka_unit_test(ranks_agree),
        cmocka_unit_test(bad_windows),        cmocka_unit_test(circular_windows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
