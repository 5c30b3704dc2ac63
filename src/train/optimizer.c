/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.c - optimizers as programs see them (tessera_train.h): options, states and where they
   are, step counts, and a step, which is one op per parameter (ops/optimizer/optimizer_ops.c), or a
   row-sparse update (rows_update.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "dispatch/dispatch.h"
#include "dispatch/typed_attr.h"
#include "tape/tape.h"
#include "tensor/scope.h"
#include "train/rows_update.h"
#include "ops/optimizer/optimizer_attrs.h"
#include "tessera_train.h"

enum { STATES = 2, ATTRS = 7 };

typedef struct item {
    tsr_tensor *w, *state[STATES];
    bool by_rows;
    tsr_mesh *columns; /* ranks that hold other columns of a table's rows; NULL: none */
    int64_t steps;     /* taken */
} item;

struct tsr_optimizer {
    tsr_mesh *mesh;
    tsr_optimizer_opts opts;
    const tsr_op *op; /* that takes a step */
    int n;
    item *items;
};

/* ---- options ---- */

static tsr_status check_at_least_0(const char *name, double x, tsr_error *err)
{
    if (x >= 0 && isfinite(x))
        return TSR_OK;
    return tsr__fail(err, TSR_ERR_ARG,
                     "tsr_optimizer_new: %s is %g, it must be finite and at least 0", name, x);
}

static tsr_status check_opts(const tsr_optimizer_opts *o, tsr_error *err)
{
    const bool adam = o->kind == TSR_ADAM || o->kind == TSR_ADAMW;
    tsr_status st;

    TSR_TRY(check_at_least_0("lr", o->lr, err));
    TSR_TRY(check_at_least_0("eps", o->eps, err));
    TSR_TRY(check_at_least_0("decay", o->decay, err));
    TSR_TRY(check_at_least_0("momentum", o->momentum, err));
    TSR_TRY(check_at_least_0("lr_decay", o->lr_decay, err));
    TSR_TRY(check_at_least_0("first_sum", o->first_sum, err));
    if ((unsigned)o->kind > TSR_ADAGRAD)
        return tsr__fail(err, TSR_ERR_ARG, "tsr_optimizer_new: unknown optimizer kind %d",
                         (int)o->kind);
    if (adam && !(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return tsr__fail(err, TSR_ERR_ARG,
                         "tsr_optimizer_new: beta1 is %g and beta2 %g, they must be in [0, 1)",
                         o->beta1, o->beta2);
    if (!(o->dampening <= 1))
        return tsr__fail(err, TSR_ERR_ARG,
                         "tsr_optimizer_new: dampening is %g, it must be at most 1", o->dampening);
    if (o->nesterov && (o->momentum == 0 || o->dampening != 0))
        return tsr__fail(err, TSR_ERR_ARG,
                         "tsr_optimizer_new: nesterov needs momentum and no dampening, they are %g "
                         "and %g",
                         o->momentum, o->dampening);
    if (o->kind != TSR_SGD && (o->momentum != 0 || o->dampening != 0))
        return tsr__fail(err, TSR_ERR_ARG,
                         "tsr_optimizer_new: momentum and dampening apply to SGD only");
    if (o->kind != TSR_ADAGRAD && (o->lr_decay != 0 || o->first_sum != 0 || o->rowwise))
        return tsr__fail(
            err, TSR_ERR_ARG,
            "tsr_optimizer_new: lr_decay, first_sum and rowwise apply to Adagrad only");
done:
    return st;
}

static int states_of(const tsr_optimizer_opts *o)
{
    switch (o->kind) {
    case TSR_SGD: return o->momentum != 0;
    case TSR_ADAGRAD: return 1;
    default: return 2;
    }
}

/* The op of a step and its attributes, in the order of its row. */
static const char *step_op(const tsr_optimizer_opts *o, int64_t steps, tsr_attr attrs[ATTRS])
{
    const tsr_attr lr = tsr__number(
        o->kind == TSR_ADAGRAD ? o->lr / (1 + (double)(steps - 1) * o->lr_decay) : o->lr);
    const tsr_attr decay = tsr__number(o->decay), eps = tsr__number(o->eps);

    attrs[TSR_ATTR_SGD_STEP_LR] = lr; /* the first one of all */
    if (o->kind == TSR_SGD && o->momentum == 0) {
        attrs[TSR_ATTR_SGD_STEP_DECAY] = decay;
        return "sgd_step";
    }
    if (o->kind == TSR_SGD) {
        attrs[TSR_ATTR_SGD_MOMENTUM_STEP_MOMENTUM] = tsr__number(o->momentum);
        /* the first gradient counts fully */
        attrs[TSR_ATTR_SGD_MOMENTUM_STEP_DAMPENING] = tsr__number(steps == 1 ? 0 : o->dampening);
        attrs[TSR_ATTR_SGD_MOMENTUM_STEP_NESTEROV] = typed_int(o->nesterov);
        attrs[TSR_ATTR_SGD_MOMENTUM_STEP_DECAY] = decay;
        return "sgd_momentum_step";
    }
    if (o->kind == TSR_ADAGRAD) {
        attrs[TSR_ATTR_ADAGRAD_STEP_EPS] = eps;
        attrs[TSR_ATTR_ADAGRAD_STEP_DECAY] = decay;
        return "adagrad_step";
    }
    attrs[TSR_ATTR_ADAM_STEP_BETA1] = tsr__number(o->beta1);
    attrs[TSR_ATTR_ADAM_STEP_BETA2] = tsr__number(o->beta2);
    attrs[TSR_ATTR_ADAM_STEP_EPS] = eps;
    attrs[TSR_ATTR_ADAM_STEP_DECAY] = decay;
    attrs[TSR_ATTR_ADAM_STEP_DECOUPLED] = typed_int(o->kind == TSR_ADAMW);
    attrs[TSR_ATTR_ADAM_STEP_STEP] = tsr__number((double)steps);
    return "adam_step";
}

/* ---- where states are ---- */

static bool is_cut(const tsr_spec *spec, int d)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if ((spec->place[m].kind == TSR_SHARD || spec->place[m].kind == TSR_STRIDED) &&
            spec->place[m].dim == d)
            return true;
    return false;
}

/* Of dims that no mesh dim cuts yet one that divides evenly if there is one, and the largest of
   those; -1: none. */
static int cut_dim(const tsr_spec *spec, int m)
{
    int best = -1;
    bool best_even = false;

    for (int d = 0; d < spec->shape.ndim; d++) {
        const int64_t size = spec->shape.size[d];
        const bool even = size % spec->mesh.size[m] == 0;

        if (size <= 1 || is_cut(spec, d) || (best_even && !even))
            continue;
        if (best < 0 || even != best_even || size > spec->shape.size[best])
            best = d;
        best_even = even;
    }
    return best;
}

static tsr_status place_states(const tsr_optimizer_opts *o, const tsr_spec *w, tsr_spec *out,
                               tsr_error *err)
{
    char text[TSR_TEXT_LEN];
    int m, d;

    *out = *w;
    if (!o->half_states && (w->dtype == TSR_F16 || w->dtype == TSR_BF16))
        out->dtype = TSR_F32;
    if (!o->states)
        return TSR_OK;
    if (o->states[0] == '[') {
        tsr_spec like = *out;
        return tsr_placements_parse(o->states, &like, out, err);
    }
    m = tsr__mesh_dim_find(&w->mesh, o->states, strlen(o->states));
    if (m < 0)
        return tsr__fail(
            err, TSR_ERR_MESH,
            "tsr_optimizer_new: states cannot be sharded along \"%s\": mesh %s has no such dim",
            o->states, tsr_mesh_text(&w->mesh, text, sizeof text));
    d = cut_dim(w, m);
    if (w->place[m].kind == TSR_REPLICATE && d >= 0)
        out->place[m] = (tsr_placement){.kind = TSR_SHARD, .dim = d};
    return TSR_OK;
}

/* Of a table by rows: where the rows are, one number per row or as many as it has. */
static void place_sums(const tsr_optimizer_opts *o, const tsr_spec *table, tsr_spec *out)
{
    tsr_dtype dtype = table->dtype;

    if (!o->half_states && dtype != TSR_F64)
        dtype = TSR_F32;
    *out = *table;
    out->dtype = dtype;
    if (!o->rowwise)
        return;
    out->shape = (tsr_shape){.ndim = 1, .size = {table->shape.size[0]}};
    for (int m = 0; m < table->mesh.ndim; m++)
        if (table->place[m].kind != TSR_REPLICATE && table->place[m].dim == 1)
            out->place[m] = (tsr_placement){.kind = TSR_REPLICATE};
}

static tsr_status open_columns(tsr_mesh *mesh, const tsr_spec *table, tsr_mesh **out)
{
    char dims[TSR_TEXT_LEN] = "";
    size_t used = 0;

    for (int m = 0; m < table->mesh.ndim; m++)
        if (table->mesh.size[m] > 1 && table->place[m].kind != TSR_REPLICATE &&
            table->place[m].dim == 1)
            used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%d", used ? "," : "", m);
    *out = NULL;
    return used && mesh->index >= 0 ? tsr_mesh_sub(mesh, dims, out) : TSR_OK;
}

/* ---- making one ---- */

static tsr_status check_table(const tsr_optimizer_opts *o, int i, const tsr_tensor *w,
                              tsr_error *err)
{
    char text[TSR_TEXT_LEN];

    if (w->local_spec->spec.shape.ndim != 2)
        return tsr__fail(
            err, TSR_ERR_SHAPE,
            "tsr_optimizer_new: parameter %d has row-sparse gradients, but %s is not a table", i,
            tsr_spec_text(&w->local_spec->spec, text, sizeof text));
    if (((o->kind == TSR_SGD && o->momentum == 0) || o->kind == TSR_ADAGRAD) && o->decay == 0)
        return TSR_OK;
    return tsr__fail(
        err, TSR_ERR_ARG,
        "tsr_optimizer_new: parameter %d, %s, has row-sparse gradients, which only SGD without "
        "momentum and Adagrad support, both without decay",
        i, tsr_spec_text(&w->local_spec->spec, text, sizeof text));
}

/* A tensor of the optimizer's own, all elements of one value. */
static tsr_status make_state(tsr_mesh *mesh, const tsr_spec *spec, double value, tsr_tensor **out)
{
    char text[TSR_TEXT_LEN];
    tsr_tensor *x = tsr_full(mesh, tsr_spec_text(spec, text, sizeof text), value);

    if (tsr_tensor_ok(x))
        *out = tsr_keep(x);
    return tsr__tensor_status(x);
}

static tsr_status open_item(tsr_optimizer *opt, int i, tsr_tensor *w, item *it)
{
    const tsr_optimizer_opts *o = &opt->opts;
    tsr_ctx *ctx = opt->mesh->ctx;
    tsr_spec spec;
    tsr_status st;

    TSR_TRY(tsr__tensor_check(ctx, w, "tsr_optimizer_new"));
    if (!w->leaf)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_STATE,
                          "tsr_optimizer_new: parameter %d is not watched, so it has no gradient",
                          i));
    it->w = tsr_ref(w);
    it->by_rows = w->leaf->by_rows;
    if (it->by_rows) {
        TSR_TRY(check_table(o, i, w, &ctx->error));
        place_sums(o, &w->local_spec->spec, &spec);
        TSR_TRY(open_columns(w->mesh, &w->local_spec->spec, &it->columns));
    } else {
        TSR_TRY(place_states(o, &w->local_spec->spec, &spec, &ctx->error));
    }
    for (int k = 0; k < states_of(o); k++)
        TSR_TRY(make_state(w->mesh, &spec, o->first_sum, &it->state[k]));
    tsr__local_spec_release(w->leaf->stepped);
    w->leaf->stepped = tsr__local_spec_hold(it->state[0] && !it->by_rows ? it->state[0]->local_spec
                                                                         : w->local_spec);
done:
    return st;
}

tsr_status tsr_optimizer_new(tsr_mesh *mesh, const tsr_optimizer_opts *opts,
                             tsr_tensor *const *params, int n, tsr_optimizer **out)
{
    TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), mesh, out);
    if (n > 0)
        TSR_NEED(TSR_ERR_ARG, tsr__mesh_error(mesh), params);

    tsr_ctx *ctx = mesh->ctx;
    tsr_optimizer *opt = NULL;
    tsr_attr attrs[ATTRS];
    tsr_status st;

    *out = NULL;
    TSR_TRY(tsr__alloc(&ctx->heap, 1, sizeof *opt, &opt, &ctx->error));
    opt->mesh = tsr_mesh_ref(mesh);
    if (opts)
        TSR_TRY(
            TSR_SIZE_CHECK("tsr_optimizer_new", opts, "tsr_optimizer_opts_default", &ctx->error));
    opt->opts = opts ? *opts : tsr_optimizer_opts_default(TSR_SGD);
    TSR_TRY(check_opts(&opt->opts, &ctx->error));
    opt->op = tsr__op_find(step_op(&opt->opts, 1, attrs));
    TSR_TRY(tsr__alloc(&ctx->heap, n, sizeof *opt->items, &opt->items, &ctx->error));
    opt->n = n;
    for (int i = 0; i < n; i++)
        TSR_TRY(open_item(opt, i, params[i], &opt->items[i]));
    opt->opts.states = NULL; /* the caller's text */
    *out = opt;
    opt = NULL;
done:
    tsr_optimizer_free(opt);
    return tsr__poison_if_local(ctx, st);
}

void tsr_optimizer_free(tsr_optimizer *opt)
{
    tsr_mesh *mesh;

    if (!opt)
        return;
    mesh = opt->mesh;
    for (int i = 0; i < opt->n; i++) {
        tsr_unref(opt->items[i].w);
        for (int k = 0; k < STATES; k++)
            tsr_unref(opt->items[i].state[k]);
        tsr_mesh_unref(opt->items[i].columns);
    }
    tsr__free(&mesh->ctx->heap, opt->items);
    tsr__free(&mesh->ctx->heap, opt);
    tsr_mesh_unref(mesh);
}

/* ---- a step ---- */

static tsr_status step_dense(const tsr_optimizer *opt, const item *it, tsr_tensor *grad)
{
    tsr_tensor *in[STATES + 2] = {it->w}, *out[TSR_MAX_OUT];
    tsr_op_call call = {.in = in, .n_in = states_of(&opt->opts) + 2};
    tsr_ctx *ctx = opt->mesh->ctx;
    tsr_attr attrs[ATTRS];
    tsr_status st;

    for (int k = 0; k < call.n_in - 2; k++)
        in[1 + k] = it->state[k];
    in[call.n_in - 1] = grad;
    step_op(&opt->opts, it->steps, attrs);
    call.attrs = attrs;
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, opt->op, &call.entry, &ctx->error));
    TSR_TRY(tsr__dispatch(ctx, &call, out));
done:
    return st;
}

/* Counted as the op that does the same to whole tables. */
static tsr_status step_rows(const tsr_optimizer *opt, const item *it)
{
    const tsr_optimizer_opts *o = &opt->opts;
    tsr_ctx *ctx = opt->mesh->ctx;
    const tsr_booking b = tsr__book_begin(ctx);
    tsr_op_entry *entry;
    tsr_attr attrs[ATTRS];
    tsr_status st;

    if (ctx->world->kind == TSR_WORLD_SIM) /* nothing moves */
        return TSR_OK;
    TSR_TRY(tsr__op_entry_of(&ctx->heap, &ctx->ops, opt->op, &entry, &ctx->error));
    TSR_TRY(tsr__rows_gather(it->w));
    step_op(o, it->steps, attrs);
    for (int i = 0; i < it->w->leaf->n_sparse; i++) { /* one, but outside the mesh */
        const tsr_row_sparse *t = &it->w->leaf->sparse[i];

        if (o->kind == TSR_SGD)
            TSR_TRY(tsr_row_sparse_add(it->w, t, -attrs[TSR_ATTR_SGD_STEP_LR].f));
        else
            TSR_TRY(tsr__rows_adagrad(it->w, it->state[0], t, it->columns,
                                      attrs[TSR_ATTR_SGD_STEP_LR].f, o->eps));
    }
    entry->counters.calls++;
    entry->counters.computing += tsr__book_end(ctx, &b, &entry->counters);
done:
    return st;
}

tsr_status tsr_optimizer_step(tsr_optimizer *opt)
{
    TSR_NEED(TSR_ERR_ARG, NULL, opt);

    tsr_ctx *ctx = opt->mesh->ctx;
    tsr_status st;

    if (ctx->error.code != TSR_OK) /* gradients may be missing or half there */
        return ctx->error.code;
    ctx->unrecorded++;
    TSR_TRY(tsr__scope_push(ctx));
    for (int i = 0; i < opt->n && st == TSR_OK; i++) {
        item *it = &opt->items[i];
        tsr_leaf *leaf = it->w->leaf;

        if (!leaf->grad && !leaf->n_sparse)
            continue;
        it->steps++;
        st = it->by_rows ? step_rows(opt, it) : step_dense(opt, it, leaf->grad);
        if (st == TSR_OK)
            tsr__leaf_clear(ctx, leaf);
    }
    tsr__scope_pop(ctx);
done:
    ctx->unrecorded--;
    return tsr__poison_if_local(ctx, st);
}

/* ---- looking at it ---- */

tsr_status tsr_optimizer_lr_set(tsr_optimizer *opt, double lr)
{
    TSR_NEED(TSR_ERR_ARG, NULL, opt);

    tsr_ctx *ctx = opt->mesh->ctx;
    tsr_status st = TSR_OK;

    if (!(lr >= 0 && isfinite(lr)))
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_optimizer_lr_set: lr is %g, it must be finite and at least 0", lr));
    opt->opts.lr = lr;
done:
    return tsr__poison_if_local(ctx, st);
}

double tsr_optimizer_lr(const tsr_optimizer *opt)
{
    return opt ? opt->opts.lr : 0;
}

tsr_tensor *tsr_optimizer_state(const tsr_optimizer *opt, int i, int k)
{
    return opt && i >= 0 && i < opt->n && k >= 0 && k < STATES ? opt->items[i].state[k] : NULL;
}

int64_t tsr_optimizer_steps(const tsr_optimizer *opt, int i)
{
    return opt && i >= 0 && i < opt->n ? opt->items[i].steps : -1;
}

tsr_status tsr_optimizer_steps_set(tsr_optimizer *opt, int i, int64_t steps)
{
    tsr_ctx *ctx;
    tsr_status st = TSR_OK;

    if (!opt)
        return TSR_ERR_ARG;
    ctx = opt->mesh->ctx;
    if (i < 0 || i >= opt->n)
        TSR_TRY(tsr__fail(&ctx->error, TSR_ERR_ARG,
                          "tsr_optimizer_steps_set: there is no parameter %d, the optimizer has %d",
                          i, opt->n));
    if (steps < 0)
        TSR_TRY(tsr__fail(
            &ctx->error, TSR_ERR_ARG,
            "tsr_optimizer_steps_set: the number of steps must be at least 0, not %" PRId64,
            steps));
    opt->items[i].steps = steps;
done:
    return tsr__poison_if_local(ctx, st);
}
