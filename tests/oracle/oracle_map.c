/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_map.c - from a line of a propagation file to calls of our ops: which op an aten name is,
   how its arguments become inputs and attributes. One row per aten name and part; names without a
   row, and calls that a row refuses, are not there yet. */
#include <string.h>

#include "base/error.h"
#include "oracle.h"

/* One aten call while it is mapped. */
typedef struct aten_call {
    const json_t *args;
    oracle_case *c;
} aten_call;

static bool attr_int(oracle_case *c, const char *name, const json_t *value)
{
    if (!json_is_integer(value) || c->n_attrs == ORACLE_ATTRS)
        return false;
    snprintf(c->attr[c->n_attrs++], TSR_TEXT_LEN, "%s=%lld", name,
             (long long)json_integer_value(value));
    return true;
}

static bool attr_ints(oracle_case *c, const char *name, const json_t *list)
{
    char *text = c->attr[c->n_attrs++];
    size_t n = (size_t)snprintf(text, TSR_TEXT_LEN, "%s=", name), i;
    const json_t *x;

    json_array_foreach(list, i, x)
    {
        if (!json_is_integer(x) || n > TSR_TEXT_LEN - 32)
            return false;
        n += (size_t)snprintf(text + n, TSR_TEXT_LEN - n, "%s%lld", i ? "," : "",
                              (long long)json_integer_value(x));
    }
    return true;
}

static bool is_number(const json_t *x, double value)
{
    return json_is_number(x) && json_number_value(x) == value;
}

/* Arguments from `from` on are left out, null, or the neutral 1 of alpha and beta. */
static bool rest_is_neutral(const json_t *args, size_t from)
{
    for (size_t i = from; i < json_array_size(args); i++) {
        const json_t *x = json_array_get(args, i);
        if (!json_is_null(x) && !is_number(x, 1))
            return false;
    }
    return true;
}

static bool all_absent(const json_t *args, size_t from)
{
    for (size_t i = from; i < json_array_size(args); i++)
        if (!json_is_null(json_array_get(args, i)))
            return false;
    return true;
}

/* ---- families; false: our op cannot do this ---- */

static bool one_tensor(aten_call *a)
{
    return a->c->n_in == 1 && all_absent(a->args, 1);
}

static bool two_tensors(aten_call *a) /* add's alpha may follow */
{
    return a->c->n_in == 2 && rest_is_neutral(a->args, 2);
}

/* bias, a, b: ours comes last and has one dim */
static bool addmm(aten_call *a)
{
    oracle_case *c = a->c;
    tsr_spec in = c->in[0], use = c->use[0];

    if (c->n_in != 3 || in.shape.ndim != 1 || !rest_is_neutral(a->args, 3))
        return false;
    for (int k = 0; k < 2; k++) {
        c->in[k] = c->in[k + 1];
        c->use[k] = c->use[k + 1];
        c->aten_place[k] = k + 1;
    }
    c->aten_place[2] = 0;
    c->in[2] = in;
    c->use[2] = use;
    /* a bias of one element would broadcast */
    return in.shape.size[0] == c->in[1].shape.size[1];
}

/* x, dims, keepdim */
static bool reduction(aten_call *a)
{
    const json_t *dims = json_array_get(a->args, 1), *keep = json_array_get(a->args, 2);

    if (a->c->n_in != 1 || !all_absent(a->args, 3))
        return false;
    if (json_is_array(dims) && !attr_ints(a->c, "dims", dims))
        return false;
    if (json_is_integer(dims) && !attr_int(a->c, "dims", dims))
        return false;
    if (json_is_true(keep))
        snprintf(a->c->attr[a->c->n_attrs++], TSR_TEXT_LEN, "keepdim=true");
    return true;
}

/* x, the shape of the last dims, weight and bias or null, eps; a bias alone has no place in `in` */
static bool layer_norm(aten_call *a)
{
    const json_t *eps = json_array_get(a->args, 4), *shape = json_array_get(a->args, 1);
    const bool weight = json_is_string(json_array_get(a->args, 2));
    const bool bias = json_is_string(json_array_get(a->args, 3));

    if (!json_is_array(shape) || !json_is_number(eps) || (bias && !weight))
        return false;
    snprintf(a->c->attr[a->c->n_attrs++], TSR_TEXT_LEN, "n_dims=%zu", json_array_size(shape));
    snprintf(a->c->attr[a->c->n_attrs++], TSR_TEXT_LEN, "eps=%.17g", json_number_value(eps));
    return a->c->n_in == 1 + weight + bias;
}

/* x, dim, and false, or a dtype that is not given */
static bool softmax(aten_call *a)
{
    const json_t *last = json_array_get(a->args, 2);

    return a->c->n_in == 1 && (!last || json_is_false(last) || json_is_null(last)) &&
           attr_int(a->c, "dim", json_array_get(a->args, 1));
}

static bool cat(aten_call *a)
{
    const json_t *dim = json_array_get(a->args, 1);

    return json_is_array(json_array_get(a->args, 0)) && (!dim || attr_int(a->c, "dim", dim));
}

/* x, dim, index, and that a gradient is not sparse */
static bool by_index(aten_call *a)
{
    const json_t *last = json_array_get(a->args, 3);

    return a->c->n_in == 2 && (!last || json_is_false(last)) &&
           attr_int(a->c, "dim", json_array_get(a->args, 1));
}

static bool transpose(aten_call *a)
{
    return a->c->n_in == 1 && attr_int(a->c, "dim0", json_array_get(a->args, 1)) &&
           attr_int(a->c, "dim1", json_array_get(a->args, 2));
}

static bool t(aten_call *a)
{
    return one_tensor(a) && a->c->in[0].shape.ndim == 2;
}

static bool reshape(aten_call *a)
{
    const json_t *shape = json_array_get(a->args, 1);

    return a->c->n_in == 1 && json_is_array(shape) && attr_ints(a->c, "shape", shape);
}

/* x and a list of dims, or one of them */
static bool with_dims(aten_call *a)
{
    const json_t *dims = json_array_get(a->args, 1);

    if (a->c->n_in != 1 || !all_absent(a->args, 2))
        return false;
    return json_is_array(dims) ? attr_ints(a->c, "dims", dims) : attr_int(a->c, "dims", dims);
}

/* x, dim, start, stop, step; null is the default */
static bool slice(aten_call *a)
{
    static const char *const name[] = {"dim", "start", "stop", "step"};

    for (size_t i = 0; i < 4; i++) {
        const json_t *x = json_array_get(a->args, i + 1);
        if (x && !json_is_null(x) && !attr_int(a->c, name[i], x))
            return false;
    }
    return a->c->n_in == 1;
}

static bool attr_true(oracle_case *c, const char *name, const json_t *value)
{
    if (json_is_true(value) && c->n_attrs < ORACLE_ATTRS)
        snprintf(c->attr[c->n_attrs++], TSR_TEXT_LEN, "%s=true", name);
    return !value || json_is_boolean(value);
}

/* aten's padding_idx is never negative: -1 is none. */
static bool attr_padding(oracle_case *c, const json_t *value)
{
    return !value || (json_is_integer(value) && json_integer_value(value) < 0) ||
           attr_int(c, "padding_idx", value);
}

/* table, ids, padding, scale_grad_by_freq, sparse: padding is read, the rest is for gradients */
static bool embedding(aten_call *a)
{
    const json_t *padding = json_array_get(a->args, 2);

    if (a->c->n_in != 2 || !attr_padding(a->c, padding))
        return false;
    return a->c->n_attrs == 0 || attr_true(a->c, "keep_padding", json_true());
}

/* grad, ids, rows, padding, scale_grad_by_freq */
static bool embedding_backward(aten_call *a)
{
    return a->c->n_in == 2 && attr_int(a->c, "rows", json_array_get(a->args, 2)) &&
           attr_padding(a->c, json_array_get(a->args, 3)) &&
           attr_true(a->c, "scale_grad_by_freq", json_array_get(a->args, 4));
}

/* ---- convolution ---- */

/* stride, padding, dilation, transposed, output_padding, groups */
static bool conv_attrs(aten_call *a, size_t from)
{
    const json_t *args = a->args, *groups = json_array_get(args, from + 5);

    return attr_ints(a->c, "stride", json_array_get(args, from)) &&
           attr_ints(a->c, "padding", json_array_get(args, from + 1)) &&
           attr_ints(a->c, "dilation", json_array_get(args, from + 2)) &&
           attr_true(a->c, "transposed", json_array_get(args, from + 3)) &&
           attr_ints(a->c, "output_padding", json_array_get(args, from + 4)) &&
           attr_int(a->c, "groups", groups);
}

/* x, weight, bias or null */
static bool convolution(aten_call *a)
{
    return (a->c->n_in == 2 || a->c->n_in == 3) && conv_attrs(a, 3);
}

static void take(oracle_case *c, int to, int from, const oracle_case *all)
{
    c->in[to] = all->in[from];
    c->use[to] = all->use[from];
    c->aten_place[to] = from;
}

static bool attr_space(oracle_case *c, const char *name, const tsr_shape *shape)
{
    json_t *list = json_array();
    bool ok;

    for (int d = 2; d < shape->ndim; d++)
        json_array_append_new(list, json_integer(shape->size[d]));
    ok = attr_ints(c, name, list);
    json_decref(list);
    return ok;
}

/* Of grad, x, weight, sizes of the bias, options, mask: one output each; false: not this one. */
static bool is_wanted(const aten_call *a, int output)
{
    const json_t *mask = json_array_get(a->args, 10);

    return a->c->n_in == 3 && json_is_true(json_array_get(mask, (size_t)output));
}

static bool conv_grad_input(aten_call *a)
{
    const oracle_case all = *a->c;

    take(a->c, 1, 2, &all);
    a->c->n_in = 2;
    return is_wanted(&(aten_call){a->args, (oracle_case *)&all}, 0) && conv_attrs(a, 4) &&
           attr_space(a->c, "input", &all.in[1].shape);
}

static bool conv_grad_weight(aten_call *a)
{
    const oracle_case all = *a->c;

    a->c->n_in = 2;
    a->c->aten_out = 1;
    return is_wanted(&(aten_call){a->args, (oracle_case *)&all}, 1) && conv_attrs(a, 4) &&
           attr_space(a->c, "kernel", &all.in[2].shape);
}

static bool conv_grad_bias(aten_call *a)
{
    const bool wanted = is_wanted(a, 2);
    const int ndim = a->c->in[0].shape.ndim;
    json_t *dims = json_array();
    bool ok;

    for (int d = 0; d < ndim; d++)
        if (d != 1)
            json_array_append_new(dims, json_integer(d));
    ok = attr_ints(a->c, "dims", dims);
    json_decref(dims);
    a->c->n_in = 1;
    a->c->aten_out = 2;
    return ok && wanted;
}

typedef struct aten_row {
    const char *aten, *op;
    bool (*map)(aten_call *call);
} aten_row;

static const aten_row ROWS[] = {
    {"aten.mm.default", "matmul", two_tensors},
    {"aten.bmm.default", "matmul", two_tensors},
    {"aten.addmm.default", "matmul", addmm},
    {"aten.add.Tensor", "add", two_tensors},
    {"aten.mul.Tensor", "mul", two_tensors},
    {"aten.sub.Tensor", "sub", two_tensors},
    {"aten.div.Tensor", "div", two_tensors},
    {"aten.pow.Tensor_Tensor", "pow", two_tensors},
    {"aten.maximum.default", "maximum", two_tensors},
    {"aten.minimum.default", "minimum", two_tensors},
    {"aten.neg.default", "neg", one_tensor},
    {"aten.abs.default", "abs", one_tensor},
    {"aten.exp.default", "exp", one_tensor},
    {"aten.log.default", "log", one_tensor},
    {"aten.sqrt.default", "sqrt", one_tensor},
    {"aten.rsqrt.default", "rsqrt", one_tensor},
    {"aten.tanh.default", "tanh", one_tensor},
    {"aten.sigmoid.default", "sigmoid", one_tensor},
    {"aten.silu.default", "silu", one_tensor},
    {"aten.gelu.default", "gelu", one_tensor},
    {"aten.relu.default", "relu", one_tensor},
    {"aten.sum.default", "sum", one_tensor},
    {"aten.sum.dim_IntList", "sum", reduction},
    {"aten.mean.default", "mean", one_tensor},
    {"aten.mean.dim", "mean", reduction},
    {"aten.max.default", "max", one_tensor},
    {"aten.amax.default", "max", reduction},
    {"aten.min.default", "min", one_tensor},
    {"aten.amin.default", "min", reduction},
    {"aten.native_layer_norm.default", "layer_norm", layer_norm},
    {"aten._softmax.default", "softmax", softmax},
    {"aten._log_softmax.default", "log_softmax", softmax},
    {"aten.softmax.int", "softmax", softmax},
    {"aten.cat.default", "cat", cat},
    {"aten.stack.default", "stack", cat},
    {"aten.t.default", "transpose", t},
    {"aten.transpose.int", "transpose", transpose},
    {"aten.view.default", "reshape", reshape},
    {"aten.reshape.default", "reshape", reshape},
    {"aten._unsafe_view.default", "reshape", reshape},
    {"aten.unsqueeze.default", "unsqueeze", with_dims},
    {"aten.squeeze.dim", "squeeze", with_dims},
    {"aten.permute.default", "permute", with_dims},
    {"aten.slice.Tensor", "slice", slice},
    {"aten.gather.default", "gather", by_index},
    {"aten.index_select.default", "index_select", by_index},
    {"aten.embedding.default", "embedding", embedding},
    {"aten.embedding_dense_backward.default", "embedding_backward", embedding_backward},
    {"aten.convolution.default", "conv", convolution},
    {"aten.convolution_backward.default", "conv_grad_input", conv_grad_input},
    {"aten.convolution_backward.default", "conv_grad_weight", conv_grad_weight},
    {"aten.convolution_backward.default", "sum", conv_grad_bias},
};

/* ---- reading a line ---- */

tsr_status oracle_mesh_read(const json_t *json, oracle_mesh *out, tsr_error *err)
{
    const char *name = json_string_value(json_object_get(json, "mesh"));
    const json_t *rate = json_object_get(json, "gb_per_s"), *hop = json_object_get(json, "hop_us");
    const json_t *base = json_object_get(json, "base_us");
    tsr_status st;

    if (!name || !json_is_number(base))
        return tsr__fail(err, TSR_ERR_FORMAT, "a mesh line needs mesh, gb_per_s, hop_us, base_us");
    snprintf(out->name, sizeof out->name, "%s", name);
    TSR_TRY(tsr_mesh_parse(name, &out->shape, err));
    out->cost = tsr_cost_default();
    TSR_TRY(tsr_cost_parse("torch", &out->cost, err));
    out->cost.pending_free = true;
    out->cost.memory = 0;
    out->cost.per_step = json_number_value(base) * 1e-6;
    for (int m = 0; m < out->shape.ndim; m++) {
        const json_t *r = json_array_get(rate, (size_t)m), *h = json_array_get(hop, (size_t)m);
        if (!json_is_number(r) || !json_is_number(h) || json_number_value(r) <= 0)
            return tsr__fail(err, TSR_ERR_FORMAT, "mesh %s: gb_per_s and hop_us need %d numbers",
                             name, out->shape.ndim);
        out->cost.per_byte[m] = 1 / (json_number_value(r) * 1024 * 1024 * 1024);
        out->cost.latency[m] = json_number_value(h) * 1e-6;
    }
done:
    return st;
}

/* "f32[64,128]" and not some other text */
static bool is_tensor(const json_t *arg)
{
    const char *text = json_string_value(arg);
    return text && strchr(text, '[') && text[strlen(text) - 1] == ']';
}

static tsr_status add_tensor(oracle_case *c, const json_t *arg, const json_t *in, const json_t *use,
                             tsr_error *err)
{
    const char *a = json_string_value(json_array_get(in, (size_t)c->n_in));
    const char *b = json_string_value(json_array_get(use, (size_t)c->n_in));
    tsr_spec like;
    tsr_status st;

    if (c->n_in == TSR_OP_INPUTS || !a || !b)
        return tsr__fail(err, TSR_ERR_FORMAT, "in and use do not fit the %d. tensor of args",
                         c->n_in + 1);
    TSR_TRY(tsr_spec_parse(json_string_value(arg), &c->mesh->shape, &like, err));
    TSR_TRY(tsr_placements_parse(a, &like, &c->in[c->n_in], err));
    TSR_TRY(tsr_placements_parse(b, &like, &c->use[c->n_in], err));
    c->aten_place[c->n_in] = c->n_in;
    c->n_in++;
done:
    return st;
}

static tsr_status read_tensors(oracle_case *c, const json_t *args, tsr_error *err)
{
    const json_t *in = json_object_get(c->line.json, "in"), *use;
    const json_t *arg, *item;
    size_t i, j;
    tsr_status st = TSR_OK;

    use = json_object_get(c->line.json, "use");
    json_array_foreach(args, i, arg)
    {
        if (is_tensor(arg))
            TSR_TRY(add_tensor(c, arg, in, use, err));
        json_array_foreach(arg, j, item) if (is_tensor(item))
            TSR_TRY(add_tensor(c, item, in, use, err));
    }
    if (json_array_size(in) != (size_t)c->n_in || json_array_size(use) != (size_t)c->n_in)
        st = tsr__fail(err, TSR_ERR_FORMAT, "args hold %d tensors, in %zu, use %zu", c->n_in,
                       json_array_size(in), json_array_size(use));
done:
    return st;
}

/* The outputs' placements, on the shapes that our op finds. */
static tsr_status read_outputs(oracle_case *c, tsr_error *err)
{
    const json_t *out = json_object_get(c->line.json, "out");
    const char *attrs[ORACLE_ATTRS];
    const int given = (int)json_array_size(out) - c->aten_out;
    tsr_schema schema;
    tsr_status st;

    for (int i = 0; i < c->n_attrs; i++)
        attrs[i] = c->attr[i];
    if (given < 1)
        return tsr__fail(err, TSR_ERR_FORMAT, "output %d of %s is not among the %zu of out",
                         c->aten_out, c->op, json_array_size(out));
    TSR_TRY(tsr_schema_make(tsr_op_find(NULL, c->op), c->use, c->n_in, attrs, c->n_attrs, &schema,
                            err));
    c->n_out = schema.n_out < given ? schema.n_out : given;
    for (int k = 0; k < c->n_out; k++) {
        const char *text = json_string_value(json_array_get(out, (size_t)(c->aten_out + k)));
        tsr_spec like = {schema.out_dtype[k], schema.out_shape[k], schema.in[0].mesh, {{0}}};

        if (!text)
            TSR_TRY(tsr__fail(err, TSR_ERR_FORMAT, "out[%d] is no text", c->aten_out + k));
        TSR_TRY(tsr_placements_parse(text, &like, &c->out[k], err));
    }
done:
    return st;
}

/* One row's part of a line. */
static oracle_result map_part(const oracle_case *like, const json_t *args, const aten_row *row,
                              oracle_case *out, tsr_error *err)
{
    tsr_status st;

    *out = *like;
    out->op = row->op;
    if (!tsr__op_find(row->op))
        return ORACLE_NOT_THERE;
    TSR_TRY(read_tensors(out, args, err));
    if (!row->map(&(aten_call){args, out}))
        return ORACLE_NOT_THERE;
    TSR_TRY(read_outputs(out, err));
done:
    return st == TSR_OK ? ORACLE_PASSED : ORACLE_FAILED;
}

oracle_result oracle_map(const oracle_line *line, const oracle_mesh *meshes, int n_meshes,
                         oracle_case out[ORACLE_PARTS], int *n_parts, tsr_error *err)
{
    const json_t *args = json_object_get(line->json, "args");
    const json_t *cost = json_object_get(line->json, "cost_us");
    const char *mesh = json_string_value(json_object_get(line->json, "mesh"));
    oracle_case like = {.line = *line};
    oracle_result result = ORACLE_NOT_THERE;

    *n_parts = 0;
    like.aten = json_string_value(json_object_get(line->json, "aten"));
    like.label = json_string_value(json_object_get(line->json, "case"));
    like.label = like.label ? like.label : like.aten;
    for (int i = 0; i < n_meshes && mesh; i++)
        if (strcmp(meshes[i].name, mesh) == 0)
            like.mesh = &meshes[i];
    out[0] = like;
    if (!like.aten || !json_is_array(args) || !json_is_number(cost) || !like.mesh) {
        tsr__fail(err, TSR_ERR_FORMAT, "aten, args, cost_us or a known mesh is missing");
        return ORACLE_FAILED;
    }
    like.cost_us = json_number_value(cost);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        if (strcmp(ROWS[i].aten, like.aten) != 0)
            continue;
        result = map_part(&like, args, &ROWS[i], &out[*n_parts], err);
        if (result == ORACLE_FAILED)
            return result;
        *n_parts += result == ORACLE_PASSED;
    }
    return *n_parts > 0 ? ORACLE_PASSED : ORACLE_NOT_THERE;
}
