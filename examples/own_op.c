/* SPDX-License-Identifier: Apache-2.0 */
/* own_op.c - an op of one's own, sharded like the built-in ones: its row, its kernel, what it moves
   on a 2x2 mesh, and a wrong rule that is found out. Runs on threads; mpirun -n 4 works too. */
#include <stdio.h>

#include <tessera_ext.h>

/* ---- the op: y[m,n] = x[m,n] w[m] ---- */

static tsr_status refuse(tsr_error *err, tsr_status code, const tsr_schema *s, const char *why)
{
    char text[TSR_TEXT_LEN];

    if (err) { /* those who only ask whether it works give none */
        err->code = code;
        snprintf(err->text, sizeof err->text, "%s: %s, %.300s", s->op->name, why,
                 tsr_schema_text(s, text, sizeof text));
    }
    return code;
}

/* Shapes are global here; what each rank has follows from them. */
static tsr_status scale_rows_shape(tsr_schema *s, tsr_error *err)
{
    const tsr_spec *x = &s->in[0], *w = &s->in[1];

    if (x->dtype != TSR_F64 || w->dtype != TSR_F64)
        return refuse(err, TSR_ERR_DTYPE, s, "inputs are f64");
    if (x->shape.ndim != 2 || w->shape.ndim != 1 || x->shape.size[0] != w->shape.size[0])
        return refuse(err, TSR_ERR_SHAPE, s, "x is a matrix and w has a number for each row of it");
    s->out_dtype[0] = x->dtype;
    s->out_shape[0] = x->shape;
    return TSR_OK;
}

/* Local parts only: no mesh, no ranks. */
static void scale_rows(const tsr_kernel_call *call)
{
    const double *x = call->in[0].data, *w = call->in[1].data;
    double *y = call->out[0].data;
    int64_t rows = call->out[0].shape.size[0], columns = call->out[0].shape.size[1];

    for (int64_t m = 0; m < rows; m++)
        for (int64_t n = 0; n < columns; n++)
            y[m * columns + n] = x[m * columns + n] * w[m];
}

/* Some sizes divide by the number of ranks, some do not. */
static const char *const cases[] = {"f64[4,6] f64[4]", "f64[5,3] f64[5]", NULL};

static const tsr_op scale_rows_op = {
    .size = sizeof(tsr_op),
    .name = "scale_rows",
    .inputs = "x,w",
    .doc = "y[m,n] = x[m,n] w[m]",
    .axes = "mn,m->mn", /* cut m: x and w are cut; cut n: x is cut, w stays whole */
    .linear = "x*w",    /* a sum that is pending in x, or in w, can stay so */
    .shape = scale_rows_shape,
    .kernel = scale_rows,
    .cases = cases,
};

/* ---- the same with a mistake: the rows of x are cut, w stays whole ---- */

static tsr_status forgets_w(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.in = {tsr_rule_shard(0)}, .out = {tsr_rule_shard(0)}};

    (void)s;
    return tsr_rule_add(out, &rule, err);
}

static const tsr_op mistaken_op = {
    .size = sizeof(tsr_op),
    .name = "mistaken",
    .inputs = "x,w",
    .doc = "y[m,n] = x[m,n] w[m]",
    .rule = forgets_w,
    .shape = scale_rows_shape,
    .kernel = scale_rows,
    .cases = cases,
};

/* ---- running it ---- */

static void scale(tsr_mesh *mesh, const char *x_spec, const char *w_spec)
{
    tsr_tensor *in[] = {tsr_arange(mesh, x_spec, 0, 1), tsr_arange(mesh, w_spec, 1, 1)};
    tsr_tensor *y;
    tsr_op_counters moved;
    int64_t bytes = 0; /* received by this rank; then by the rank that received most */

    tsr_counters_reset(mesh);
    y = tsr_op_run(mesh, "scale_rows", in, 2, NULL, 0);
    moved = tsr_op_counters_get(mesh, "scale_rows");
    for (int m = 0; m <= TSR_MAX_MESH; m++)
        bytes += moved.along[m];
    tsr_all_reduce(mesh, TSR_I64, TSR_MAX, &bytes, 1, &bytes);
    if (tsr_mesh_rank(mesh) == 0)
        printf("scale_rows %s %s: at most %d bytes came to a rank\n", x_spec, w_spec, (int)bytes);
    tsr_print(y);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    (void)arg;
    tsr_validating_set(mesh, true); /* or TESSERA_VALIDATE=1 */
    tsr_op_register(mesh, &scale_rows_op);
    scale(mesh, "f64[4,6]@[S(0),S(1)]", "f64[4]@[S(0),R]");   /* all is where it is needed */
    scale(mesh, "f64[4,6]@[S(0),S(1)]", "f64[4]@[R,S(0)]");   /* w is not */
    scale(mesh, "f64[4,6]@[S(0),P(sum)]", "f64[4]@[S(0),R]"); /* the sum can wait */
    if (tsr_mesh_status(mesh) != TSR_OK)
        return tsr_mesh_status(mesh);
    if (tsr_op_register(mesh, &mistaken_op) == TSR_OK)
        return TSR_ERR_MISMATCH; /* it should have been refused */
    if (tsr_mesh_rank(mesh) == 0)
        printf("refused: %s\n", tsr_mesh_message(mesh));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

int main(int argc, char **argv)
{
    return tsr_main(argc, argv, "data=2,model=2", job, NULL);
}
