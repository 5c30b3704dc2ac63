/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_embedding.c - numeric cases of embeddings and bags as calls of our ops: lookup, after
   max_norm if there is one, and the gradients of the table and of the weights. What is not exact is
   judged by the sum of the absolute terms, which is found here by plain loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "oracle.h"
#include "tessera_ops.h"
#include "support/opts.h"

typedef enum bag_mode { NO_BAGS, SUM, MEAN, MAX } bag_mode;

struct oracle_embedding {
    bag_mode mode;
    bool scaled; /* by frequency */
    double max_norm;
    int64_t padding; /* counted from the start, -1: none */
    int64_t padding_given, rows, dim, n_bags;
    tsr_embedding_opts opts;
    oracle_array table, ids, offsets, weights, grad, winners;
    int64_t *bag; /* [ids] that each id is in; for lookups its own */
    int n_calls;
    oracle_call call[ORACLE_CALLS];
};

tsr_status oracle_array_read(const json_t *json, const char *name, bool index, oracle_array *out,
                             tsr_error *err)
{
    const json_t *x = json_object_get(json, name), *n;
    const json_t *data = json_is_object(x) ? json_object_get(x, "data") : x;
    size_t i;

    *out = (oracle_array){.index = index, .partial = true};
    if (!json_is_array(data))
        return TSR_OK;
    out->n = (int64_t)json_array_size(data);
    out->shape = (tsr_shape){.ndim = 1, .size = {out->n}};
    if (json_is_object(x)) {
        out->shape.ndim = 0;
        json_array_foreach(json_object_get(x, "shape"), i, n) out->shape.size[out->shape.ndim++] =
            json_integer_value(n);
    }
    out->data = malloc(((size_t)out->n + 1) * sizeof *out->data);
    if (!out->data)
        return tsr__fail(err, TSR_ERR_MEMORY, "%s: no memory", name);
    json_array_foreach(data, i, n)
    {
        if (!json_is_number(n))
            return tsr__fail(err, TSR_ERR_FORMAT, "%s: element %zu is not a number", name, i);
        out->data[i] = json_number_value(n);
    }
    return TSR_OK;
}

static void *zeros(int64_t n, size_t size)
{
    return calloc((size_t)n + 1, size);
}

/* ---- the sums of absolute terms ---- */

static bool counts(const oracle_embedding *e, int64_t i, bool forward)
{
    bool kept = forward && e->mode == NO_BAGS; /* PyTorch reads the padding row */
    return kept || e->ids.data[i] != (double)e->padding;
}

static double size_at(const oracle_array *x, int64_t i, double slack)
{
    return x->data ? fabs(x->data[i]) + slack : 1;
}

/* How many ids a bag has, or how often an id occurs. */
static double *divisors(const oracle_embedding *e, bool by_id)
{
    double *n = zeros(by_id ? e->rows : e->n_bags, sizeof *n);

    for (int64_t i = 0; i < e->ids.n; i++)
        if (counts(e, i, false))
            n[by_id ? (int64_t)e->ids.data[i] : e->bag[i]]++;
    return n;
}

/* Of the lookup, forward or backward: rows go from the table to bags, or the other way. */
static double *terms_of(const oracle_embedding *e, bool forward, double slack)
{
    double *out = zeros((forward ? e->n_bags : e->rows) * e->dim, sizeof *out);
    double *bag = divisors(e, false), *id = divisors(e, true);

    for (int64_t i = 0; i < e->ids.n; i++) {
        int64_t row = (int64_t)e->ids.data[i], to = forward ? e->bag[i] : row;
        int64_t from = forward ? row : e->bag[i];
        double scale = size_at(&e->weights, i, slack);
        if (e->mode == MEAN)
            scale /= bag[e->bag[i]];
        if (e->scaled && !forward)
            scale /= id[row];
        for (int64_t k = 0; k < e->dim && counts(e, i, forward); k++)
            out[to * e->dim + k] +=
                scale * size_at(forward ? &e->table : &e->grad, from * e->dim + k, slack);
    }
    free(bag);
    free(id);
    return out;
}

static double *weight_terms(const oracle_embedding *e, double slack)
{
    double *out = zeros(e->ids.n, sizeof *out);

    for (int64_t i = 0; i < e->ids.n; i++)
        for (int64_t k = 0; k < e->dim; k++)
            out[i] += size_at(&e->grad, e->bag[i] * e->dim + k, slack) *
                      size_at(&e->table, (int64_t)e->ids.data[i] * e->dim + k, slack);
    return out;
}

static double *sizes(const oracle_array *x, double slack)
{
    double *out = zeros(x->n, sizeof *out);

    for (int64_t i = 0; i < x->n; i++)
        out[i] = fabs(x->data[i]) + slack;
    return out;
}

/* The first of the largest. */
static void find_winners(oracle_embedding *e)
{
    oracle_array *w = &e->winners;

    *w = (oracle_array){.index = true, .partial = true, .n = e->n_bags * e->dim};
    w->shape = (tsr_shape){.ndim = 2, .size = {e->n_bags, e->dim}};
    w->data = zeros(w->n, sizeof *w->data);
    for (int64_t i = 0; i < w->n; i++)
        w->data[i] = -1;
    for (int64_t i = 0; i < e->ids.n; i++)
        for (int64_t k = 0; k < e->dim && counts(e, i, true); k++) {
            double *best = &w->data[e->bag[i] * e->dim + k];
            int64_t row = (int64_t)e->ids.data[i];
            if (*best < 0 ||
                e->table.data[row * e->dim + k] > e->table.data[(int64_t)*best * e->dim + k])
                *best = (double)row;
        }
}

/* ---- runs ---- */

static void run_lookup(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_embedding *e = arg;
    tsr_tensor *table = in[0];

    if (e->max_norm > 0)
        out[1] = table = tsr_embedding_renorm(table, in[1], e->max_norm, 2);
    out[0] = tsr_embedding(table, in[1], &e->opts);
}

static void run_lookup_backward(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_embedding *e = arg;

    out[0] = tsr_embedding_backward(in[0], in[1], e->rows, &e->opts);
}

static void run_bag(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_embedding *e = arg;

    if (e->mode == SUM)
        out[0] = tsr_bag_sum(in[0], in[1], in[2], in[3], &e->opts);
    else if (e->mode == MEAN)
        out[0] = tsr_bag_mean(in[0], in[1], in[2], &e->opts);
    else
        out[0] = tsr_bag_max(in[0], in[1], in[2], &e->opts, &out[1]);
}

static void run_bag_backward(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_embedding *e = arg;

    if (e->mode == SUM)
        out[0] = tsr_bag_sum_backward(in[0], in[1], in[2], in[3], e->rows, &e->opts);
    else if (e->mode == MEAN)
        out[0] = tsr_bag_mean_backward(in[0], in[1], in[2], e->rows, &e->opts);
    else
        out[0] = tsr_bag_max_backward(in[0], in[1], e->rows);
}

static void run_weights_backward(const void *arg, tsr_tensor *const *in, tsr_tensor **out)
{
    const oracle_embedding *e = arg;

    out[0] = tsr_bag_weights_backward(in[0], in[1], in[2], in[3], &e->opts);
}

/* ---- reading ---- */

static const oracle_array *given(const oracle_array *x)
{
    return x->data ? x : NULL;
}

static oracle_call *add_call(oracle_embedding *e, const char *name, const oracle_array *a,
                             const oracle_array *b, const oracle_array *c, const oracle_array *d)
{
    oracle_call *call = &e->call[e->n_calls++];

    *call = (oracle_call){.name = name, .n_in = 4, .n_out = 1, .in = {a, b, c, d}, .arg = e};
    return call;
}

static tsr_status set_lookups(const json_t *json, oracle_embedding *e, tsr_error *err)
{
    const double exact = e->max_norm > 0 ? 4 : 0;
    oracle_call *call = add_call(e, "embedding", &e->table, &e->ids, NULL, NULL);
    tsr_status st;

    call->run = run_lookup;
    TSR_TRY(oracle_array_read(json, "output", false, &call->out[0].value, err));
    call->out[0].ulps = exact;
    call->out[0].terms = sizes(&call->out[0].value, 0);
    call->out[0].wide = sizes(&call->out[0].value, ORACLE_SLACK);
    if (e->max_norm > 0) {
        call->n_out = 2;
        call->out[1].ulps = exact;
        TSR_TRY(oracle_array_read(json, "weight_after", false, &call->out[1].value, err));
        call->out[1].terms = sizes(&call->out[1].value, 0);
        call->out[1].wide = sizes(&call->out[1].value, ORACLE_SLACK);
    }
    call = add_call(e, "embedding_backward", &e->grad, &e->ids, NULL, NULL);
    call->run = run_lookup_backward;
    TSR_TRY(oracle_array_read(json, "grad_weight", false, &call->out[0].value, err));
    call->out[0].ulps = e->scaled ? 4 : 0;
    call->out[0].terms = terms_of(e, false, 0);
    call->out[0].wide = terms_of(e, false, ORACLE_SLACK);
done:
    return st;
}

static tsr_status set_bags(const json_t *json, oracle_embedding *e, tsr_error *err)
{
    const oracle_array *offsets = given(&e->offsets), *weights = given(&e->weights);
    const double exact = e->mode == MEAN ? 4 : 0;
    oracle_call *call = add_call(e, "bag", &e->table, &e->ids, offsets, weights);
    tsr_status st;

    call->run = run_bag;
    TSR_TRY(oracle_array_read(json, "output", false, &call->out[0].value, err));
    call->out[0].ulps = exact;
    call->out[0].terms = terms_of(e, true, 0);
    call->out[0].wide = terms_of(e, true, ORACLE_SLACK);
    if (e->mode == MAX) {
        find_winners(e);
        call->n_out = 2;
        call->out[1].value = e->winners;
        call = add_call(e, "bag_backward", &e->grad, &e->winners, NULL, NULL);
    } else {
        call = add_call(e, "bag_backward", &e->grad, &e->ids, offsets, weights);
    }
    call->run = run_bag_backward;
    TSR_TRY(oracle_array_read(json, "grad_weight", false, &call->out[0].value, err));
    call->out[0].ulps = exact;
    call->out[0].terms = terms_of(e, false, 0);
    call->out[0].wide = terms_of(e, false, ORACLE_SLACK);
    if (weights) {
        call = add_call(e, "weights_backward", &e->grad, &e->table, &e->ids, offsets);
        call->run = run_weights_backward;
        TSR_TRY(
            oracle_array_read(json, "grad_per_sample_weights", false, &call->out[0].value, err));
        call->out[0].terms = weight_terms(e, 0);
        call->out[0].wide = weight_terms(e, ORACLE_SLACK);
    }
done:
    return st;
}

/* Which bag each id is in. */
static tsr_status find_bags(oracle_embedding *e, tsr_error *err)
{
    const tsr_shape *ids = &e->ids.shape;
    int64_t bag = 0;

    e->bag = zeros(e->ids.n, sizeof *e->bag);
    if (!e->bag)
        return tsr__fail(err, TSR_ERR_MEMORY, "no memory for %lld ids", (long long)e->ids.n);
    e->n_bags = e->offsets.data ? e->offsets.n - e->opts.include_last
                                : (e->mode == NO_BAGS ? e->ids.n : ids->size[0]);
    for (int64_t i = 0; i < e->ids.n; i++) {
        while (e->offsets.data && bag + 1 < e->n_bags && (double)i >= e->offsets.data[bag + 1])
            bag++;
        e->bag[i] = e->offsets.data ? bag : (e->mode == NO_BAGS ? i : i / ids->size[1]);
        if (e->ids.data[i] < 0 || e->ids.data[i] >= (double)e->rows)
            return tsr__fail(err, TSR_ERR_FORMAT, "indices: element %lld is no row of weight",
                             (long long)i);
    }
    return TSR_OK;
}

static tsr_status read_options(const json_t *json, oracle_embedding *e, tsr_error *err)
{
    static const char *const names[] = {"", "sum", "mean", "max"};
    const char *mode = json_string_value(json_object_get(json, "mode"));
    const json_t *padding = json_object_get(json, "padding_idx");

    for (int i = SUM; i <= MAX && mode; i++)
        if (strcmp(mode, names[i]) == 0)
            e->mode = (bag_mode)i;
    if ((mode && e->mode == NO_BAGS) || e->table.shape.ndim != 2 || !e->ids.data || !e->grad.data)
        return tsr__fail(err, TSR_ERR_FORMAT,
                         "mode, weight, indices or grad_output is missing or wrong");
    e->rows = e->table.shape.size[0];
    e->dim = e->table.shape.size[1];
    e->scaled = json_is_true(json_object_get(json, "scale_grad_by_freq"));
    e->max_norm = json_number_value(json_object_get(json, "max_norm"));
    e->padding = -1;
    e->opts =
        (tsr_embedding_opts)EMBEDDING_OPTS(.keep_padding = true, .scale_grad_by_freq = e->scaled,
                                           .include_last = json_is_true(
                                               json_object_get(json, "include_last_offset")));
    if (json_is_integer(padding)) {
        e->padding_given = json_integer_value(padding);
        e->padding = e->padding_given + (e->padding_given < 0 ? e->rows : 0);
        e->opts.has_padding_idx = true;
        e->opts.padding_idx = e->padding_given;
    }
    return TSR_OK;
}

tsr_status oracle_embedding_read(const json_t *json, oracle_embedding **out, tsr_error *err)
{
    oracle_embedding *e = calloc(1, sizeof *e);
    tsr_status st;

    *out = e;
    if (!e)
        return tsr__fail(err, TSR_ERR_MEMORY, "no memory for a case");
    TSR_TRY(oracle_array_read(json, "weight", false, &e->table, err));
    TSR_TRY(oracle_array_read(json, "indices", true, &e->ids, err));
    TSR_TRY(oracle_array_read(json, "offsets", true, &e->offsets, err));
    TSR_TRY(oracle_array_read(json, "per_sample_weights", false, &e->weights, err));
    TSR_TRY(oracle_array_read(json, "grad_output", false, &e->grad, err));
    e->offsets.partial = false;
    TSR_TRY(read_options(json, e, err));
    TSR_TRY(find_bags(e, err));
    TSR_TRY((e->mode == NO_BAGS ? set_lookups : set_bags)(json, e, err));
done:
    return st;
}

const oracle_call *oracle_embedding_calls(const oracle_embedding *e, int *n)
{
    *n = e->n_calls;
    return e->call;
}

void oracle_embedding_free(oracle_embedding *e)
{
    oracle_array *const values[] = {&e->table, &e->ids, &e->offsets, &e->weights, &e->grad};

    for (int i = 0; i < e->n_calls; i++)
        for (int k = 0; k < ORACLE_OUT; k++) {
            free(e->call[i].out[k].value.data); /* winners among them */
            free(e->call[i].out[k].terms);
            free(e->call[i].out[k].wide);
        }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        free(values[i]->data);
    free(e->bag);
    free(e);
}
