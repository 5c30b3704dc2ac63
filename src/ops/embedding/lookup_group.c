/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_group.c - lookups in several tables at once, and their gradients. Every table on the mesh
   of its ids is planned as the single op would be; those whose rows are exchanged share one
   all-to-all (ops/embedding/row_exchange.h), together with the tables that live on one rank, which
   single ops cannot use. The others run as they are. */
#include "ops/embedding/lookup_group.h"

#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "op/schema.h"
#include "redist/program.h"
#include "ops/embedding/row_exchange.h"
#include "ops/embedding/row_sparse_grad.h"

/* One table of a group. */
typedef struct use {
    char part[32]; /* "table 2: " */
    tsr_use_call made;
    tsr_op_call call;
    tsr_opened opened;
    bool on_one_rank; /* the table is on one rank: there is no plan */
    tsr_call_in_full full;
    tsr_run_call run; /* of that */
    tsr_tensor *out[TSR_MAX_OUT];
} use;

typedef struct group {
    tsr_ctx *ctx;
    tsr_mesh *mesh; /* of the ids */
    int n;
    use *use;
    bool backward;
    tsr_part *part; /* those that communicate */
    int n_parts;
} group;

/* ---- a table on one rank ---- */

/* x with dim 0 sharded where `like` is, along other mesh dims replicated; or along all. */
static tsr_status by_batch(tsr_mesh *mesh, tsr_tensor **x, const tsr_spec *like, bool all)
{
    tsr_spec to;
    tsr_status st = TSR_OK;

    if (!*x)
        return TSR_OK;
    to = (*x)->local_spec->spec;
    for (int m = 0; m < to.mesh.ndim; m++) {
        bool shard = all || (like && like->place[m].kind == TSR_SHARD && like->place[m].dim == 0);
        to.place[m] = (tsr_placement){.kind = shard ? TSR_SHARD : TSR_REPLICATE};
    }
    TSR_TRY(tsr__redistribute(*x, mesh, &to, x));
done:
    return st;
}

/* The schema as if the table were replicated on the mesh of the ids. */
static tsr_status check_on_one_rank(group *g, use *u)
{
    tsr_schema *s = &u->full.schema;
    tsr_error why = {0};
    tsr_status st;

    s->op = u->made.op;
    s->n_in = u->made.n_in;
    memcpy(s->attrs.value, u->call.attrs, (size_t)u->call.entry->n_attrs * sizeof *u->call.attrs);
    for (int k = 0; k < s->n_in; k++) {
        if (u->made.in[k])
            s->in[k] = u->made.in[k]->local_spec->spec;
        else
            s->in[k].shape.ndim = -1;
        if (k == 0 && !g->backward) {
            s->in[0].mesh = g->mesh->shape;
            memset(s->in[0].place, 0, sizeof s->in[0].place);
        }
    }
    st = tsr__schema_check(s, &why);
    return st == TSR_OK ? st : tsr__fail(&g->ctx->error, st, "%s%s", u->part, why.text);
}

static tsr_status open_on_one_rank(group *g, use *u, tsr_mesh *table_mesh)
{
    bool offsets = u->made.n_in > 2 && u->made.in[2];
    tsr_tensor **in = u->made.in;
    tsr_spec like = in[1]->local_spec->spec, out = {0};
    const tsr_booking b = tsr__book_begin(g->ctx);
    tsr_status st;

    TSR_TRY(check_on_one_rank(g, u));
    TSR_TRY(by_batch(g->mesh, &in[1], offsets ? NULL : &like, false));
    if (u->made.n_in > 2)
        TSR_TRY(by_batch(g->mesh, &in[2], NULL, false));
    if (u->made.n_in > 3)
        TSR_TRY(by_batch(g->mesh, &in[3], offsets ? NULL : &like, false));
    if (g->backward)
        TSR_TRY(by_batch(g->mesh, &in[0], &like, offsets));
    u->call.entry->counters.moving += tsr__book_end(g->ctx, &b, &u->call.entry->counters);
    for (int k = 0; k < u->full.schema.n_out; k++) {
        out.dtype = u->full.schema.out_dtype[k];
        out.shape = u->full.schema.out_shape[k];
        out.mesh = g->backward ? table_mesh->shape : g->mesh->shape;
        for (int m = 0; m < out.mesh.ndim && !g->backward; m++)
            out.place[m].kind = offsets ? TSR_SHARD : in[1]->local_spec->spec.place[m].kind;
        TSR_TRY(tsr__tensor_make(g->backward ? table_mesh : g->mesh, &out, &u->out[k]));
        u->full.out[k] = tsr__spec_effective(&out);
    }
    for (int k = 0; k < u->made.n_in; k++)
        if (in[k])
            u->full.in[k] = tsr__spec_effective(&in[k]->local_spec->spec);
    u->run = (tsr_run_call){.mesh = g->mesh,
                            .schema = &u->full.schema,
                            .in = in,
                            .out = u->out,
                            .in_spec = u->full.in,
                            .out_spec = u->full.out};
done:
    return st;
}

/* ---- any table ---- */

static tsr_status refuse(group *g, const use *u, const char *why)
{
    return tsr__fail(&g->ctx->error, TSR_ERR_ARG, "%s%s", u->part, why);
}

static bool fits(const tsr_tensor *table, const tsr_tensor *grad)
{
    const tsr_spec *a = &table->local_spec->spec, *b = &grad->local_spec->spec;

    return a->dtype == b->dtype && a->shape.size[1] == b->shape.size[1];
}

static tsr_status open_use(group *g, int i, const tsr_table_use *from, tsr_tensor *grad)
{
    use *u = &g->use[i];
    tsr_mesh *table_mesh;
    int at;
    tsr_status st;

    snprintf(u->part, sizeof u->part, "table %d: ", i);
    if ((int)from->pooling < TSR_BAG_NONE || from->pooling > TSR_BAG_MAX)
        return refuse(g, u, "unknown bag mode");
    if (from->opts)
        TSR_TRY(TSR_SIZE_CHECK("lookup_group", from->opts, "tsr_embedding_opts_default",
                               &g->ctx->error));
    TSR_TRY(tsr__tensor_check(g->ctx, from->table, "lookup_group"));
    TSR_TRY(tsr__tensor_check(g->ctx, from->ids, "lookup_group"));
    if (from->weights && from->pooling != TSR_BAG_SUM)
        return refuse(g, u, "only sums have weights");
    if (from->offsets && from->pooling == TSR_BAG_NONE)
        return refuse(g, u, "only bags have offsets");
    if (g->backward && from->pooling == TSR_BAG_MAX && (!from->index || !*from->index))
        return refuse(g, u, "the gradient of max needs index");
    u->made = g->backward ? tsr__use_backward(from, grad) : tsr__use_forward(from);
    u->call = (tsr_op_call){
        .n_in = u->made.n_in, .in = u->made.in, .attrs = u->made.attrs, .part = u->part};
    for (int k = 0; k < u->made.n_in; k++)
        if (u->made.in[k] || k < 2)
            TSR_TRY(tsr__tensor_check(g->ctx, u->made.in[k], "lookup_group"));
    TSR_TRY(
        tsr__op_entry_of(&g->ctx->heap, &g->ctx->ops, u->made.op, &u->call.entry, &g->ctx->error));
    if (!tsr__mesh_equal(&from->ids->mesh->shape, &g->mesh->shape))
        return refuse(g, u, "its ids are on another mesh than those of table 0");
    table_mesh = from->table->mesh;
    at = tsr__mesh_size(&table_mesh->shape) == 1
             ? tsr__mesh_find(&g->mesh->shape, table_mesh->shape.first)
             : -1;
    u->on_one_rank = at >= 0 && !tsr__mesh_equal(&table_mesh->shape, &g->mesh->shape);
    if (u->on_one_rank) {
        TSR_TRY(open_on_one_rank(g, u, table_mesh));
    } else {
        if (g->backward)
            u->call.want = &from->table->local_spec->spec;
        TSR_TRY(tsr__dispatch_open(g->ctx, &u->call, &u->opened, u->out));
        u->run = tsr__dispatch_run_call(&u->call, &u->opened, u->out, &u->full);
    }
    if (g->backward && !fits(from->table, u->out[0]))
        return refuse(g, u, "its gradient's dtype or width differs from the table's");
    if (u->on_one_rank || tsr__dispatch_communicates(&u->opened))
        g->part[g->n_parts++] =
            (tsr_part){.call = &u->run, .table = i, .on_one_rank = u->on_one_rank, .at = at};
done:
    return st;
}

static double bytes_of(const tsr_part *part)
{
    double bytes = 0;

    for (int m = 0; m <= TSR_MAX_MESH; m++)
        bytes += (double)part->along[m];
    return bytes;
}

/* Each op gets what came for its tables, and as much of the time for all. */
static void book_parts(group *g, double seconds)
{
    double all = 0;

    for (int i = 0; i < g->n_parts; i++)
        all += bytes_of(&g->part[i]);
    for (int i = 0; i < g->n_parts; i++) {
        const tsr_part *p = &g->part[i];
        tsr_op_counters *c = &g->use[p->table].call.entry->counters;

        for (int m = 0; m <= TSR_MAX_MESH; m++)
            c->along[m] += p->along[m];
        c->computing += seconds * (all > 0 ? bytes_of(p) / all : 1.0 / g->n_parts);
    }
}

/* Those that communicate, together. */
static tsr_status run_parts(group *g)
{
    const double begin = tsr__statistics_clock(g->ctx);
    tsr_status st;

    if (g->n_parts == 0 || g->mesh->index < 0)
        return TSR_OK;
    st = tsr__run_together(g->part, g->n_parts);
    if (st == TSR_OK)
        book_parts(g, tsr__statistics_clock(g->ctx) - begin);
    return st;
}

/* Sim: planned costs are counted one by one, a table on one rank as its rows that come. */
static void count_on_one_rank(group *g, const use *u)
{
    const tsr_local_spec *rows = (g->backward ? u->run.in[0] : u->out[0])->local_spec;
    const int along = tsr__along((1u << g->mesh->shape.ndim) - 1);

    g->ctx->counters.bytes_in += (int64_t)rows->bytes;
    g->ctx->counters.bytes_out += (int64_t)rows->bytes;
    g->ctx->counters.along[along] += (int64_t)rows->bytes;
    u->call.entry->counters.along[along] += (int64_t)rows->bytes;
}

static tsr_status run_group(group *g)
{
    bool sim = g->ctx->world->kind == TSR_WORLD_SIM;
    tsr_status st = TSR_OK;

    if (!sim)
        TSR_TRY(run_parts(g));
    for (int i = 0; i < g->n; i++) {
        use *u = &g->use[i];
        if (!u->on_one_rank && (sim || !tsr__dispatch_communicates(&u->opened))) {
            TSR_TRY(tsr__dispatch_compute(&u->call, &u->opened, u->out));
            continue;
        }
        if (u->on_one_rank && sim)
            count_on_one_rank(g, u);
        if (!u->on_one_rank)
            u->call.entry->counters.predicted += u->opened.plan->comm.seconds;
        u->call.entry->counters.calls++;
    }
done:
    return st;
}

/* The gradients to where the tables are. */
static tsr_status bring_back(group *g, const tsr_table_use *uses)
{
    tsr_status st = TSR_OK;

    for (int i = 0; i < g->n; i++) {
        const tsr_booking b = tsr__book_begin(g->ctx);
        tsr_op_counters *c = &g->use[i].call.entry->counters;

        TSR_TRY(tsr__redistribute(g->use[i].out[0], uses[i].table->mesh,
                                  &uses[i].table->local_spec->spec, &g->use[i].out[0]));
        c->moving += tsr__book_end(g->ctx, &b, c);
    }
done:
    return st;
}

/* One node: its inputs are the tensors of all uses, in their order; an output for every use. */
static tsr_status record_group(group *g, const tsr_table_use *uses, tsr_tensor *const *out)
{
    tsr_record record = {.kind = TSR_TAPED_CALL,
                         .n_in = TSR_USE_TENSORS * g->n,
                         .n_out = g->n,
                         .out = out,
                         .saves_in = ~0u,
                         .back = tsr__back_group};
    tsr_tensor **in = NULL;
    tsr_taped_use *kept = NULL;
    tsr_status st;

    TSR_TRY(tsr__alloc(&g->ctx->heap, record.n_in, sizeof *in, &in, &g->ctx->error));
    TSR_TRY(tsr__alloc(&g->ctx->heap, g->n, sizeof *kept, &kept, &g->ctx->error));
    for (int i = 0; i < g->n; i++) {
        tsr_tensor *const index = uses[i].pooling == TSR_BAG_MAX ? g->use[i].out[1] : NULL;
        tsr_tensor *const mine[TSR_USE_TENSORS] = {uses[i].table, uses[i].ids, uses[i].offsets,
                                                   uses[i].weights, index};
        memcpy(in + TSR_USE_TENSORS * i, mine, sizeof mine);
        kept[i].pooling = uses[i].pooling;
        kept[i].opts = uses[i].opts ? *uses[i].opts : tsr_embedding_opts_default();
    }
    record.in = in;
    record.back_data = kept;
    record.back_bytes = (size_t)g->n * sizeof *kept;
    TSR_TRY(tsr__tape_record(g->ctx, &record));
done:
    tsr__free(&g->ctx->heap, kept);
    tsr__free(&g->ctx->heap, in);
    return st;
}

static tsr_status with_group(const tsr_table_use *uses, tsr_tensor *const *grads, bool backward,
                             int n, tsr_tensor **out)
{
    group g = {.n = n, .backward = backward};
    tsr_status st;

    if (n <= 0)
        return TSR_OK;
    if (!uses || !uses[0].ids || !out || (backward && !grads)) {
        tsr_tensor *const any[] = {uses ? uses[0].ids : NULL, uses ? uses[0].table : NULL,
                                   grads ? grads[0] : NULL};

        tsr__typed_refuse(any, 3, NULL, "lookup_group: %s is NULL",
                          !uses          ? "uses"
                          : !uses[0].ids ? "ids of table 0"
                          : !out         ? "out"
                                         : "grads");
        return TSR_ERR_ARG;
    }
    g.mesh = uses[0].ids->mesh;
    g.ctx = g.mesh->ctx;
    TSR_TRY(tsr__alloc(&g.ctx->heap, n, sizeof *g.use, &g.use, &g.ctx->error));
    TSR_TRY(tsr__alloc(&g.ctx->heap, n, sizeof *g.part, &g.part, &g.ctx->error));
    for (int i = 0; i < n; i++)
        TSR_TRY(open_use(&g, i, &uses[i], grads ? grads[i] : NULL));
    TSR_TRY(run_group(&g));
    if (backward)
        TSR_TRY(bring_back(&g, uses));
    for (int i = 0; i < n; i++) {
        out[i] = g.use[i].out[0];
        if (!backward && uses[i].pooling == TSR_BAG_MAX && uses[i].index)
            *uses[i].index = g.use[i].out[1];
    }
    if (!backward && tsr__tape_is_on(g.ctx))
        TSR_TRY(record_group(&g, uses, out));
done:
    for (int i = 0; g.use && i < n; i++)
        tsr__dispatch_close(&g.use[i].opened);
    tsr__free(&g.ctx->heap, g.part);
    tsr__free(&g.ctx->heap, g.use);
    return tsr__poison_if_local(g.ctx, st);
}

tsr_status tsr_lookup_group(const tsr_table_use *uses, int n, tsr_tensor **out)
{
    return with_group(uses, NULL, false, n, out);
}

tsr_status tsr_lookup_group_backward(const tsr_table_use *uses, tsr_tensor *const *grads, int n,
                                     tsr_tensor **table_grads)
{
    return with_group(uses, grads, true, n, table_grads);
}
