/* SPDX-License-Identifier: Apache-2.0 */
/* own_stencil.c - an op of one's own that needs its neighbours' elements: its row says which, the
   library brings them. Heat spreads along a rod that is cut over the ranks. Runs on threads;
   mpirun -n 4 works too. */
#include <stdio.h>

#include <tessera_ext.h>
#include <tessera_ops.h>

/* ---- the op: y[i] = x[i-1] - 2 x[i] + x[i+1], with zeros beyond the ends ---- */

static tsr_status laplace_shape(tsr_schema *s, tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (s->in[0].dtype != TSR_F64 || s->in[0].shape.ndim != 1) {
        if (err) { /* those who only ask whether it works give none */
            err->code = TSR_ERR_SHAPE;
            snprintf(err->text, sizeof err->text, "laplace: x is a vector of f64, not %.300s",
                     tsr_schema_text(s, text, sizeof text));
        }
        return TSR_ERR_SHAPE;
    }
    s->out_dtype[0] = TSR_F64;
    s->out_shape[0] = s->in[0].shape;
    return TSR_OK;
}

/* It can be cut, in consecutive parts. */
static tsr_status laplace_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    const tsr_rule_placement cut = {.place = {.kind = TSR_SHARD, .dim = 0}};
    const tsr_rule rule = {.in = {cut}, .out = {cut}};

    (void)s;
    return tsr_rule_add(out, &rule, err);
}

/* The part [b, e) of y needs x from b - 1 to e, as far as that exists. */
static void laplace_windows(const tsr_schema *s, bool reverse, tsr_windows *w)
{
    (void)s;
    if (reverse)
        return; /* there is no other way */
    w->anchor = TSR_OUTPUT(0);
    w->window[w->n++] = (tsr_window){.operand = 0, .dim = 0, .mul = 1, .lo = -1, .hi = 2};
}

/* x is the window, y the part; `first` says where each begins. A window ends before the neighbour
   only where the rod does. */
static void laplace(const tsr_kernel_call *call)
{
    const double *x = call->in[0].data;
    double *y = call->out[0].data;
    int64_t n = call->in[0].shape.size[0], begin = call->out[0].first[0] - call->in[0].first[0];

    for (int64_t i = 0; i < call->out[0].shape.size[0]; i++) {
        int64_t at = begin + i;

        y[i] = (at > 0 ? x[at - 1] : 0) - 2 * x[at] + (at + 1 < n ? x[at + 1] : 0);
    }
}

static const char *const cases[] = {"f64[8]", "f64[5]", NULL};

static const tsr_op laplace_op = {
    .size = sizeof(tsr_op),
    .name = "laplace",
    .inputs = "x",
    .doc = "y[i] = x[i-1] - 2 x[i] + x[i+1], zeros beyond the ends",
    .rule = laplace_rule,
    .windows = laplace_windows,
    .linear = "x",
    .shape = laplace_shape,
    .kernel = laplace,
    .cases = cases,
};

/* ---- running it ---- */

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    static const double start[12] = {[5] = 1024, [6] = 1024};
    tsr_tensor *x, *quarter;
    int64_t bytes;

    (void)arg;
    tsr_validating_set(mesh, true); /* is the row right? */
    tsr_op_register(mesh, &laplace_op);
    x = tsr_from_host(mesh, "f64[12]@[S(0)]", start, sizeof start);
    quarter = tsr_full(mesh, "f64[1]", 0.25);
    tsr_counters_reset(mesh);
    for (int step = 0; step < 4; step++)
        x = tsr_add(x, tsr_mul(quarter, tsr_op_run(mesh, "laplace", &x, 1, NULL, 0)));
    bytes = tsr_counters_get(mesh).bytes_in;
    tsr_all_reduce(mesh, TSR_I64, TSR_MAX, &bytes, 1, &bytes);
    tsr_print(x);
    if (tsr_mesh_rank(mesh) == 0)
        printf("4 steps: at most %d bytes came to a rank\n", (int)bytes);
    return tsr_mesh_status(mesh);
}

int main(int argc, char **argv)
{
    return tsr_main(argc, argv, "4", job, NULL);
}
