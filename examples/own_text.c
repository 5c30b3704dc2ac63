/* SPDX-License-Identifier: Apache-2.0 */
/* own_text.c - an op of one's own without a line of code: a text of other ops. Where it runs, what
   it moves and its gradient follow from these. Runs on threads; mpirun -n 4 works too. */
#include <stdio.h>

#include <tessera_ext.h>

static const tsr_op cubic_op = {
    .size = sizeof(tsr_op),
    .name = "cubic",
    .inputs = "x,w",
    .doc = "w x^3 + x",
    .expr = "add(mul(w, mul(x, mul(x, x))), x)",
};

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *in[] = {tsr_arange(mesh, "f64[2,4]@[S(0),P(sum)]", 0, 1),
                        tsr_full(mesh, "f64[4]@[R,S(0)]", 2)};
    tsr_tensor *y[TSR_OP_OUTPUTS], *grad[2], *ones;
    tsr_status st;
    (void)arg;

    tsr_op_register(mesh, &cubic_op);
    st = tsr_op_run_all(mesh, "cubic", in, 2, NULL, 0, y);
    if (st != TSR_OK)
        return st;
    tsr_print(y[0]);
    ones = tsr_full(mesh, "f64[2,4]@[R,R]", 1);
    st = tsr_op_grad(mesh, "cubic", in, 2, NULL, 0, y, &ones, NULL, grad);
    if (st != TSR_OK)
        return st;
    tsr_print(grad[0]); /* 3 w x^2 + 1 */
    tsr_print(grad[1]); /* x^3, summed over rows */
    return TSR_OK;
}

int main(int argc, char **argv)
{
    return tsr_main(argc, argv, "data=2,model=2", job, NULL);
}
