/* SPDX-License-Identifier: Apache-2.0 */
/* typed.c - the functions of tessera_ops.h: each fills a call and dispatches it. */
#include "dispatch/dispatch.h"
#include "tessera_ops.h"

static void set_int(tsr_op_call *call, const char *name, int64_t value)
{
    call->attrs.value[tsr__attr_index(call->op, name)] = (tsr_attr){.n = 1, .i = {value}};
}

static tsr_tensor *unary(const char *name, tsr_tensor *x)
{
    tsr_op_call call = tsr__op_call(name);

    call.in[0] = x;
    return tsr__dispatch(&call);
}

static tsr_tensor *binary(const char *name, tsr_tensor *a, tsr_tensor *b)
{
    tsr_op_call call = tsr__op_call(name);

    call.in[0] = a;
    call.in[1] = b;
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_add(tsr_tensor *a, tsr_tensor *b)
{
    return binary("add", a, b);
}

tsr_tensor *tsr_mul(tsr_tensor *a, tsr_tensor *b)
{
    return binary("mul", a, b);
}

tsr_tensor *tsr_neg(tsr_tensor *x)
{
    return unary("neg", x);
}

tsr_tensor *tsr_relu(tsr_tensor *x)
{
    return unary("relu", x);
}

tsr_tensor *tsr_matmul(tsr_tensor *a, tsr_tensor *b, tsr_tensor *bias)
{
    tsr_op_call call = tsr__op_call("matmul");

    call.in[0] = a;
    call.in[1] = b;
    call.in[2] = bias;
    return tsr__dispatch(&call);
}

static tsr_tensor *reduction(const char *name, tsr_tensor *x, const int *dims, int n, bool keepdim)
{
    tsr_op_call call = tsr__op_call(name);
    tsr_attr *attr = &call.attrs.value[tsr__attr_index(call.op, "dims")];

    call.in[0] = x;
    attr->n = n < 0 ? 0 : n > TSR_MAX_DIM ? TSR_MAX_DIM : n;
    for (int i = 0; i < attr->n; i++)
        attr->i[i] = dims[i];
    set_int(&call, "keepdim", keepdim);
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_sum(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("sum", x, dims, n_dims, keepdim);
}

tsr_tensor *tsr_mean(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("mean", x, dims, n_dims, keepdim);
}

tsr_tensor *tsr_max(tsr_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduction("max", x, dims, n_dims, keepdim);
}

tsr_tensor *tsr_softmax(tsr_tensor *x, int dim)
{
    tsr_op_call call = tsr__op_call("softmax");

    call.in[0] = x;
    set_int(&call, "dim", dim);
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_cat(tsr_tensor *const *x, int n, int dim)
{
    tsr_op_call call = tsr__op_call("cat");

    /* a list that is too long is told so by the schema check */
    call.n_in = n;
    for (int k = 0; k < n && k < TSR_MAX_IN; k++)
        call.in[k] = x[k];
    set_int(&call, "dim", dim);
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_transpose(tsr_tensor *x, int dim0, int dim1)
{
    tsr_op_call call = tsr__op_call("transpose");

    call.in[0] = x;
    set_int(&call, "dim0", dim0);
    set_int(&call, "dim1", dim1);
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_reshape(tsr_tensor *x, const int64_t *sizes, int ndim)
{
    tsr_op_call call = tsr__op_call("reshape");
    tsr_attr *attr = &call.attrs.value[tsr__attr_index(call.op, "shape")];

    call.in[0] = x;
    attr->n = ndim < 0 ? 0 : ndim > TSR_MAX_DIM ? TSR_MAX_DIM : ndim;
    for (int d = 0; d < attr->n; d++)
        attr->i[d] = sizes[d];
    return tsr__dispatch(&call);
}

tsr_tensor *tsr_slice(tsr_tensor *x, int dim, int64_t start, int64_t stop, int64_t step)
{
    tsr_op_call call = tsr__op_call("slice");

    call.in[0] = x;
    set_int(&call, "dim", dim);
    set_int(&call, "start", start);
    set_int(&call, "stop", stop);
    set_int(&call, "step", step);
    return tsr__dispatch(&call);
}
