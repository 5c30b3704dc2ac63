/* SPDX-License-Identifier: Apache-2.0 */
/* lookup_rules.c - how lookups, bags and their gradients shard along one mesh dim. Tables shard by
   rows or by columns, ids by any of their dims. By rows there are two ways: ids that all ranks have
   are masked and the sums are partial; ids that are sharded like the output are sent to the owners
   of their rows, which return the rows (ops/embedding/row_exchange.h). Called through the rows of
   lookups.c. */
#include "ops/embedding/lookups.h"
#include "op/schema.h"

/* Rows are known by where they begin, so they are not cut into strides. */
static const tsr_rule_placement ROWS = {.place = {.kind = TSR_SHARD}};

static const tsr_rule_placement ALL = {0};

static tsr_status add_partials(const tsr_schema *s, int k, int last, tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int op = TSR_SUM; op <= last && tsr__schema_has(s, k); op++) {
        tsr_rule rule = {.out = {tsr_rule_partial((tsr_reduce)op)}};
        rule.in[k] = tsr_rule_partial((tsr_reduce)op);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

/* Ids, and weights with them, sharded along dim d. */
static tsr_rule ids_sharded(const tsr_schema *s, int d)
{
    tsr_rule rule = {0};

    rule.in[TSR__IDS] = tsr_rule_shard(d);
    if (tsr__schema_has(s, TSR__WEIGHTS))
        rule.in[TSR__WEIGHTS] = tsr_rule_shard(d);
    return rule;
}

/* By rows on both sides: the requested rows are sent. */
static tsr_rule exchanged(const tsr_schema *s)
{
    tsr_rule rule = {.in = {ROWS, ROWS}, .out = {ROWS}};

    if (tsr__schema_has(s, TSR__WEIGHTS))
        rule.in[TSR__WEIGHTS] = ROWS;
    if (s->n_out > 1)
        rule.out[1] = ROWS;
    return rule;
}

/* Bags by offsets, sharded with these; ids are all there, or in shards too, which need not be those
   of the bags. */
static tsr_status add_with_offsets(const tsr_schema *s, const tsr_rule *bags, tsr_rules *out,
                                   tsr_error *err)
{
    tsr_rule rule = *bags;
    tsr_status st;

    rule.in[TSR__OFFSETS] = ROWS;
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule.in[TSR__IDS] = ROWS;
    if (tsr__schema_has(s, TSR__WEIGHTS))
        rule.in[TSR__WEIGHTS] = ROWS;
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

tsr_status tsr__lookup_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int ndim = s->in[TSR__IDS].shape.ndim;
    tsr_rule rule = {.in = {tsr_rule_shard(1)}, .out = {tsr_rule_shard(ndim)}};
    tsr_status st;

    TSR_TRY(add_partials(s, TSR__TABLE, TSR_PROD, out, err)); /* rows are only moved */
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {ROWS}, .out = {tsr_rule_partial(TSR_SUM)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    for (int d = 0; d < ndim; d++) {
        rule = ids_sharded(s, d);
        rule.out[0] = tsr_rule_shard(d);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (ndim > 0) {
        rule = exchanged(s);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

tsr_status tsr__bag_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    bool max = s->n_out > 1, mean = tsr__lookup_is_mean(s->op->kind);
    tsr_rule rule = {.in = {tsr_rule_shard(1)}, .out = {tsr_rule_shard(1)}};
    tsr_status st = TSR_OK;

    if (!max) {
        TSR_TRY(add_partials(s, TSR__TABLE, TSR_AVG, out, err));
        TSR_TRY(add_partials(s, TSR__WEIGHTS, TSR_AVG, out, err));
    }
    if (max)
        rule.out[1] = rule.out[0];
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (!max) {
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_rule_partial(TSR_SUM)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (tsr__schema_has(s, TSR__OFFSETS)) {
        /* the winners of all owners are compared; else each rank pools bags of its own */
        rule = max ? (tsr_rule){.in = {ROWS}, .out = {ROWS, ROWS}} : (tsr_rule){.out = {ROWS}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
        rule = (tsr_rule){.out = {ROWS}};
        if (max)
            rule.out[1] = ROWS;
        for (int table = 0; table < 2; table++) { /* rows of the table are exchanged too */
            rule.in[TSR__TABLE] = table ? ROWS : ALL;
            TSR_TRY(add_with_offsets(s, &rule, out, err));
        }
        return st;
    }
    rule = ids_sharded(s, 0);
    rule.out[0] = tsr_rule_shard(0);
    if (max)
        rule.out[1] = rule.out[0];
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (!max && !mean) { /* parts of bags add up; a mean would not know its divisor */
        rule = ids_sharded(s, 1);
        rule.out[0] = tsr_rule_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    rule = exchanged(s);
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

tsr_status tsr__lookup_backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    int last = s->in[TSR__GRAD].shape.ndim - 1;
    bool bags = tsr__op_inputs(s->op) > 2;
    bool max = s->op->kind == TSR_EMBEDDING_BAG_MAX_BACKWARD;
    bool freq = tsr__attr_index(s->op, "scale_grad_by_freq") >= 0 &&
                tsr_schema_attr(s, "scale_grad_by_freq")->i[0];
    tsr_rule rule = {.in = {tsr_rule_shard(last)}, .out = {tsr_rule_shard(1)}};
    tsr_status st;

    TSR_TRY(add_partials(s, TSR__GRAD, TSR_AVG, out, err));
    TSR_TRY(add_partials(s, TSR__WEIGHTS, TSR_AVG, out, err));
    if (max)
        rule.in[TSR__IDS] = tsr_rule_shard(1);
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.out = {ROWS}}; /* each rank adds what belongs to its rows */
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (tsr__schema_has(s, TSR__OFFSETS)) {
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_rule_partial(TSR_SUM)}};
        if (!freq) { /* each rank adds what its bags give */
            TSR_TRY(tsr_rule_add(out, &rule, err));
            TSR_TRY(add_with_offsets(s, &rule, out, err));
        }
        rule.out[0] = ROWS; /* to the owners */
        TSR_TRY(tsr_rule_add(out, &rule, err));
        return add_with_offsets(s, &rule, out, err);
    }
    for (int d = 0; d < (bags || max ? 1 : last) && !freq; d++) { /* how often is known to all */
        rule = ids_sharded(s, d);
        rule.in[TSR__GRAD] = tsr_rule_shard(d);
        rule.out[0] = tsr_rule_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (s->op->kind == TSR_EMBEDDING_BAG_SUM_BACKWARD && !freq) {
        rule = ids_sharded(s, 1);
        rule.out[0] = tsr_rule_partial(TSR_SUM);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
    if (last > 0) {
        rule = exchanged(s);
        TSR_TRY(tsr_rule_add(out, &rule, err));
    }
done:
    return st;
}

tsr_status tsr__weights_backward_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.in = {tsr_rule_shard(1), tsr_rule_shard(1)},
                     .out = {tsr_rule_partial(TSR_SUM)}};
    tsr_status st;

    TSR_TRY(add_partials(s, 0, TSR_AVG, out, err));
    TSR_TRY(add_partials(s, 1, TSR_AVG, out, err));
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {[1] = ROWS}, .out = {tsr_rule_partial(TSR_SUM)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    if (tsr__schema_has(s, 3)) {
        rule = (tsr_rule){.in = {ROWS}, .out = {tsr_rule_partial(TSR_SUM)}};
        TSR_TRY(tsr_rule_add(out, &rule, err));
        rule.in[3] = ROWS;
        TSR_TRY(tsr_rule_add(out, &rule, err));
        rule.in[2] = rule.out[0] = ROWS; /* the gradient is where the weights' ids are */
        return tsr_rule_add(out, &rule, err);
    }
    rule = (tsr_rule){.in = {[0] = tsr_rule_shard(0), [2] = tsr_rule_shard(0)},
                      .out = {tsr_rule_shard(0)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
    rule = (tsr_rule){.in = {[2] = tsr_rule_shard(1)}, .out = {tsr_rule_shard(1)}};
    TSR_TRY(tsr_rule_add(out, &rule, err));
done:
    return st;
}

tsr_status tsr__renorm_rule(const tsr_schema *s, tsr_rules *out, tsr_error *err)
{
    tsr_rule rule = {.in = {ROWS}, .out = {ROWS}};

    (void)s;
    return tsr_rule_add(out, &rule, err);
}
