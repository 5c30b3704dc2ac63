/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_conv.c - numeric cases of convolution as calls of our ops: forward, each gradient alone,
   and all of them in one call with an output mask that differs from case to case. Sums of small
   integers are exact; where a dtype is too narrow for that, the sum of the absolute terms, found
   here by plain loops, says how far a result may be. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "oracle.h"
#include "tessera_ops.h"

/* Which gradients a call wants. */
typedef struct masked {
    const oracle_conv *conv;
    bool wanted[3];
} masked;

struct oracle_conv {
    tsr_conv_opts opts;
    int ndim; /* spatial */
    oracle_array x, weight, bias, grad;
    masked all, some;
    int n_calls;
    oracle_call call[ORACLE_CALLS];
};

/* ---- the sums of absolute terms ---- */

typedef enum product { OUTPUT, GRAD_INPUT, GRAD_WEIGHT } product;

/* One relation of three tensors: wide, which strides go over, narrow and weight. */
typedef struct relation {
    int64_t batch, groups, narrow_channels, inner;
    int64_t narrow[TSR_MAX_SPATIAL], wide[TSR_MAX_SPATIAL], kernel[TSR_MAX_SPATIAL];
    int64_t stride[TSR_MAX_SPATIAL], pad[TSR_MAX_SPATIAL], dilation[TSR_MAX_SPATIAL];
} relation;

static relation relation_of(const oracle_conv *c)
{
    const tsr_shape *wide = c->opts.transposed ? &c->grad.shape : &c->x.shape;
    const tsr_shape *narrow = c->opts.transposed ? &c->x.shape : &c->grad.shape;
    relation r = {.batch = wide->size[0],
                  .groups = c->opts.groups,
                  .narrow_channels = narrow->size[1],
                  .inner = c->weight.shape.size[1]};

    for (int d = 0; d < TSR_MAX_SPATIAL; d++) {
        const bool there = d < c->ndim;
        r.narrow[d] = there ? narrow->size[2 + d] : 1;
        r.wide[d] = there ? wide->size[2 + d] : 1;
        r.kernel[d] = there ? c->weight.shape.size[2 + d] : 1;
        r.stride[d] = there ? c->opts.stride[d] : 1;
        r.pad[d] = there ? c->opts.padding[d] : 0;
        r.dilation[d] = there ? c->opts.dilation[d] : 1;
    }
    return r;
}

static int64_t index_of(int64_t a, int64_t b, int64_t n_b, const int64_t *at, const int64_t *size)
{
    int64_t i = a * n_b + b;

    for (int d = 0; d < TSR_MAX_SPATIAL; d++)
        i = i * size[d] + at[d];
    return i;
}

static bool step(int64_t *at, const int64_t *size)
{
    for (int d = TSR_MAX_SPATIAL - 1; d >= 0; d--) {
        if (++at[d] < size[d])
            return true;
        at[d] = 0;
    }
    return false;
}

static double size_at(const oracle_array *x, int64_t i, double slack)
{
    return fabs(x->data[i]) + slack;
}

/* All terms of one pair of channels in one sample. */
static void add_terms(const oracle_conv *c, const relation *r, product what, double slack,
                      const int64_t place[3], double *out)
{
    const int64_t each = r->narrow_channels / r->groups, n = place[0], outer = place[1];
    const int64_t of_wide = outer / each * r->inner + place[2];
    int64_t p[TSR_MAX_SPATIAL] = {0}, t[TSR_MAX_SPATIAL] = {0};

    do
        do {
            int64_t q[TSR_MAX_SPATIAL], x, w, y;
            bool inside = true;
            for (int d = 0; d < TSR_MAX_SPATIAL; d++) {
                q[d] = p[d] * r->stride[d] - r->pad[d] + t[d] * r->dilation[d];
                inside = inside && q[d] >= 0 && q[d] < r->wide[d];
            }
            if (!inside)
                continue;
            x = index_of(n, of_wide, r->inner * r->groups, q, r->wide);
            y = index_of(n, outer, r->narrow_channels, p, r->narrow);
            w = index_of(outer, place[2], r->inner, t, r->kernel);
            if (c->opts.transposed) {
                int64_t swap = x;
                x = y;
                y = swap;
            }
            if (what == OUTPUT)
                out[y] += size_at(&c->x, x, slack) * size_at(&c->weight, w, slack);
            else if (what == GRAD_INPUT)
                out[x] += size_at(&c->grad, y, slack) * size_at(&c->weight, w, slack);
            else
                out[w] += size_at(&c->x, x, slack) * size_at(&c->grad, y, slack);
        } while (step(t, r->kernel));
    while (step(p, r->narrow));
}

static double *terms_of(const oracle_conv *c, product what, double slack, int64_t n)
{
    const relation r = relation_of(c);
    double *out = calloc((size_t)n + 1, sizeof *out);

    for (int64_t b = 0; b < r.batch && out; b++)
        for (int64_t o = 0; o < r.narrow_channels; o++)
            for (int64_t i = 0; i < r.inner; i++)
                add_terms(c, &r, what, slack, (const int64_t[]){b, o, i}, out);
    for (int64_t i = 0; i < n && what == OUTPUT && c->bias.data && out; i++)
        out[i] += size_at(&c->bias, i / (n / r.batch / c->bias.n) % c->bias.n, slack);
    return out;
}

static double *bias_terms(const oracle_conv *c, double slack, int64_t channels)
{
    double *out = calloc((size_t)channels + 1, sizeof *out);
    const int64_t space = c->grad.n / c->grad.shape.size[0] / channels;

    for (int64_t i = 0; i < c->grad.n && out; i++)
        out[i / space % channels] += size_at(&c->grad, i, slack);
    return out;
}

/* ---- runs ---- */

static void run_forward(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_conv *c = arg;

    out[0] = tsr_conv(in[0], in[1], in[2], &c->opts);
}

static void run_grad_input(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_conv *c = arg;

    out[0] = tsr_conv_grad_input(in[0], in[1], &c->x.shape.size[2], &c->opts);
}

static void run_grad_weight(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_conv *c = arg;

    out[0] = tsr_conv_grad_weight(in[0], in[1], &c->weight.shape.size[2], &c->opts);
}

static void run_backward(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const masked *m = arg;

    tsr_conv_backward(in[0], in[1], in[2], &m->conv->opts, m->wanted[0] ? &out[0] : NULL,
                      m->wanted[1] ? &out[1] : NULL, m->wanted[2] ? &out[2] : NULL);
}

/* ---- reading ---- */

static oracle_call *add_call(oracle_conv *c, const char *name, const oracle_array *a,
                             const oracle_array *b, const oracle_array *d)
{
    oracle_call *call = &c->call[c->n_calls++];

    *call = (oracle_call){.name = name, .n_in = 3, .n_out = 1, .in = {a, b, d}, .arg = c};
    return call;
}

static tsr_status want(const json_t *json, const oracle_conv *c, const char *name, product what,
                       oracle_want *out, tsr_error *err)
{
    tsr_status st;

    TSR_TRY(oracle_array_read(json, name, false, &out->value, err));
    if (!out->value.data)
        return tsr__fail(err, TSR_ERR_FORMAT, "%s is missing", name);
    out->terms = terms_of(c, what, 0, out->value.n);
    out->wide = terms_of(c, what, ORACLE_SLACK, out->value.n);
done:
    return st;
}

/* What is not wanted stays without data, and must be NULL. */
static tsr_status add_backward(const json_t *json, oracle_conv *c, masked *m, tsr_error *err)
{
    oracle_call *call = add_call(c, "conv_backward", &c->grad, &c->x, &c->weight);
    tsr_status st = TSR_OK;

    m->conv = call->arg;
    call->arg = m;
    call->run = run_backward;
    call->n_out = 3;
    if (m->wanted[0])
        TSR_TRY(want(json, c, "grad_input", GRAD_INPUT, &call->out[0], err));
    if (m->wanted[1])
        TSR_TRY(want(json, c, "grad_weight", GRAD_WEIGHT, &call->out[1], err));
    if (m->wanted[2]) {
        oracle_want *bias = &call->out[2];
        TSR_TRY(oracle_array_read(json, "grad_bias", false, &bias->value, err));
        bias->terms = bias_terms(c, 0, bias->value.n);
        bias->wide = bias_terms(c, ORACLE_SLACK, bias->value.n);
    }
done:
    return st;
}

static tsr_status add_calls(const json_t *json, oracle_conv *c, int number, tsr_error *err)
{
    const bool bias = c->bias.data;
    oracle_call *call = add_call(c, "conv", &c->x, &c->weight, bias ? &c->bias : NULL);
    tsr_status st;

    call->run = run_forward;
    TSR_TRY(want(json, c, "output", OUTPUT, &call->out[0], err));
    call = add_call(c, "conv_grad_input", &c->grad, &c->weight, NULL);
    call->run = run_grad_input;
    TSR_TRY(want(json, c, "grad_input", GRAD_INPUT, &call->out[0], err));
    call = add_call(c, "conv_grad_weight", &c->grad, &c->x, NULL);
    call->run = run_grad_weight;
    TSR_TRY(want(json, c, "grad_weight", GRAD_WEIGHT, &call->out[0], err));
    for (int k = 0; k < 3; k++) {
        c->all.wanted[k] = k < 2 || bias;
        c->some.wanted[k] = (number >> k & 1) && c->all.wanted[k];
    }
    TSR_TRY(add_backward(json, c, &c->all, err));
    TSR_TRY(add_backward(json, c, &c->some, err));
done:
    return st;
}

static bool read_list(const json_t *json, const char *name, int n, int64_t *out)
{
    const json_t *list = json_object_get(json, name), *x;
    size_t i;

    json_array_foreach(list, i, x)
    {
        if (!json_is_integer(x) || i >= TSR_MAX_SPATIAL)
            return false;
        out[i] = json_integer_value(x);
    }
    return json_array_size(list) == (size_t)n;
}

static tsr_status read_options(const json_t *json, oracle_conv *c, tsr_error *err)
{
    const json_t *padding = json_object_get(json, "padding"), *pair;
    size_t d;

    c->ndim = c->x.shape.ndim - 2;
    c->opts = tsr_conv_opts_default();
    c->opts.groups = json_integer_value(json_object_get(json, "groups"));
    c->opts.transposed = json_is_true(json_object_get(json, "transposed"));
    if (!c->x.data || !c->weight.data || !c->grad.data || c->ndim < 1 ||
        c->ndim > TSR_MAX_SPATIAL || c->weight.shape.ndim != c->x.shape.ndim ||
        c->grad.shape.ndim != c->x.shape.ndim || c->opts.groups < 1 ||
        !read_list(json, "stride", c->ndim, c->opts.stride) ||
        !read_list(json, "dilation", c->ndim, c->opts.dilation) ||
        !read_list(json, "output_padding", c->ndim, c->opts.output_padding) ||
        json_array_size(padding) != (size_t)c->ndim)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "input, weight, grad_output or an option is missing or wrong");
    json_array_foreach(padding, d, pair)
    {
        c->opts.padding[d] = json_integer_value(json_array_get(pair, 0));
        c->opts.padding_end[d] = json_integer_value(json_array_get(pair, 1)) - c->opts.padding[d];
    }
    return TSR_OK;
}

tsr_status oracle_conv_read(const json_t *json, int number, oracle_conv **out, tsr_error *err)
{
    oracle_conv *c = calloc(1, sizeof *c);
    tsr_status st;

    *out = c;
    if (!c)
        return tsr__fail(err, TSR_ERR_MEMORY, "no memory for a case");
    TSR_TRY(oracle_array_read(json, "input", false, &c->x, err));
    TSR_TRY(oracle_array_read(json, "weight", false, &c->weight, err));
    TSR_TRY(oracle_array_read(json, "bias", false, &c->bias, err));
    TSR_TRY(oracle_array_read(json, "grad_output", false, &c->grad, err));
    TSR_TRY(read_options(json, c, err));
    TSR_TRY(add_calls(json, c, number, err));
done:
    return st;
}

const oracle_call *oracle_conv_calls(const oracle_conv *c, int *n)
{
    *n = c->n_calls;
    return c->call;
}

void oracle_conv_free(oracle_conv *c)
{
    oracle_array *const values[] = {&c->x, &c->weight, &c->bias, &c->grad};

    for (int i = 0; i < c->n_calls; i++)
        for (int k = 0; k < ORACLE_OUT; k++) {
            free(c->call[i].out[k].value.data);
            free(c->call[i].out[k].terms);
            free(c->call[i].out[k].wide);
        }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        free(values[i]->data);
    free(c);
}
