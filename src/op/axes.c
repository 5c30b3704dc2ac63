/* SPDX-License-Identifier: Apache-2.0 */
/* axes.c - from "mk,kn,n->mn" to rules for one mesh dim. Every axis can be sharded where it stands;
   an axis that the output lacks is reduced, and then terms of the op that do not have it must be
   partial, or they would be added once per rank. */
#include <string.h>

#include "base/text.h"
#include "op/linear.h"
#include "op/schema.h"

enum { LETTERS = 26, AXES = LETTERS + TSR_MAX_DIM, TENSORS = TSR_MAX_IN + TSR_MAX_OUT };

/* dim[axis][tensor] is the dim of that axis there, -1 if none; inputs first, then outputs. Axes
   0..25 are letters, the rest those of `...`, counted from the last one. */
typedef struct axes_table {
    const tsr_schema *schema;
    const char *text;
    int dim[AXES][TENSORS];
    bool blocked[AXES];
} axes_table;

static const tsr_shape *shape_of(const tsr_schema *s, int tensor)
{
    return tensor < TSR_MAX_IN ? &s->in[tensor].shape : &s->out_shape[tensor - TSR_MAX_IN];
}

/* The text of one tensor: "...mk" for a shape. */
static tsr_status read_tensor(axes_table *t, const char *text, size_t n, int tensor, tsr_error *err)
{
    const tsr_op *op = t->schema->op;
    const tsr_shape *shape = shape_of(t->schema, tensor);
    bool leading = n >= 3 && strncmp(text, "...", 3) == 0;
    int letters = 0, dim;

    for (size_t i = leading ? 3 : 0; i < n; i++)
        letters += tsr__is_lower(text[i]);
    if (shape->ndim < letters || (!leading && shape->ndim != letters)) {
        char have[TSR_TEXT_LEN];
        return tsr__fail(err, TSR_ERR_SHAPE, "%s: expected a shape of %s%d dims, not %s", op->name,
                         leading ? "at least " : "", letters,
                         tsr__shape_text(shape, have, sizeof have));
    }
    dim = shape->ndim - letters;
    for (int e = 0; e < dim; e++)
        t->dim[LETTERS + e][tensor] = dim - 1 - e;
    for (size_t i = leading ? 3 : 0; i < n; i++) {
        if (text[i] == '!')
            continue;
        t->dim[text[i] - 'a'][tensor] = dim++;
        t->blocked[text[i] - 'a'] |= i + 1 < n && text[i + 1] == '!';
    }
    return TSR_OK;
}

static tsr_status read_axes(axes_table *t, tsr_error *err)
{
    const tsr_schema *s = t->schema;
    const char *p = t->text, *arrow = strstr(p, "->");
    int tensor = 0;
    tsr_status st = TSR_OK;

    memset(t->dim, -1, sizeof t->dim);
    memset(t->blocked, 0, sizeof t->blocked);
    for (;;) {
        bool out = tensor >= TSR_MAX_IN;
        size_t n = strcspn(p, ",-");
        if (out ? tsr__schema_gives(s, tensor - TSR_MAX_IN) : tsr__schema_has(s, tensor))
            TSR_TRY(read_tensor(t, p, n, tensor, err));
        p += n;
        tensor = p == arrow ? TSR_MAX_IN : tensor + 1;
        if (!*p)
            break;
        p += p == arrow ? 2 : 1;
    }
done:
    return st;
}

/* The size of an axis: that of any tensor which does not broadcast it. */
static int64_t axis_size(const axes_table *t, int axis)
{
    int64_t size = -1;

    for (int tensor = 0; tensor < TENSORS; tensor++)
        if (t->dim[axis][tensor] >= 0) {
            int64_t n = shape_of(t->schema, tensor)->size[t->dim[axis][tensor]];
            size = size < 0 || size == 1 ? n : size;
        }
    return size;
}

/* Terms without the axis: one factor of each must be partial. Goes through all choices. */
static tsr_status choose(const axes_table *t, const tsr_terms *terms, int term, tsr_rule *rule,
                         tsr_rules *out, tsr_error *err)
{
    tsr_status st = TSR_OK;
    bool has = false;

    if (term == terms->n)
        return tsr_rule_add(out, rule, err);
    for (int i = 0; i < terms->count[term]; i++)
        has = has || rule->in[terms->input[term][i]].place.kind == TSR_SHARD;
    if (has)
        return choose(t, terms, term + 1, rule, out, err);
    for (int i = 0; i < terms->count[term]; i++) {
        tsr_rule_placement *mark = &rule->in[terms->input[term][i]];
        *mark = tsr_rule_partial(TSR_SUM);
        TSR_TRY(choose(t, terms, term + 1, rule, out, err));
        *mark = (tsr_rule_placement){0};
    }
done:
    return st;
}

static tsr_status axis_rules(const axes_table *t, int axis, tsr_rules *out, tsr_error *err)
{
    const tsr_schema *s = t->schema;
    int64_t size = axis_size(t, axis);
    bool everywhere = true, reduced = false;
    tsr_rule rule = {0};
    tsr_terms terms;
    tsr_status st = TSR_OK;

    if (size < 0 || t->blocked[axis])
        return TSR_OK;
    for (int k = 0; k < s->n_in; k++) {
        int d = t->dim[axis][k];
        bool has = tsr__schema_has(s, k) && d >= 0 && s->in[k].shape.size[d] == size;
        everywhere = everywhere && (has || !tsr__schema_has(s, k));
        if (has)
            rule.in[k] = tsr_rule_shard(d);
    }
    for (int k = 0; k < s->n_out; k++) {
        int d = t->dim[axis][TSR_MAX_IN + k];
        if (!tsr__schema_gives(s, k))
            continue;
        reduced = reduced || d < 0;
        rule.out[k] = d < 0 ? tsr_rule_partial(s->op->reduce) : tsr_rule_shard(d);
    }
    if (!reduced || everywhere)
        return tsr_rule_add(out, &rule, err);
    if (!s->op->linear || s->op->reduce != TSR_SUM)
        return TSR_OK;
    TSR_TRY(tsr__terms_parse(s, &terms, err));
    TSR_TRY(choose(t, &terms, 0, &rule, out, err));
done:
    return st;
}

/* "...ab!c": letters, dots in front, marks behind letters. */
static bool is_tensor_text(const char *p, size_t n)
{
    size_t i = n >= 3 && strncmp(p, "...", 3) == 0 ? 3 : 0;

    for (; i < n; i++)
        if (!tsr__is_lower(p[i]) && !(p[i] == '!' && i > 0 && tsr__is_lower(p[i - 1])))
            return false;
    return true;
}

tsr_status tsr__axes_check(const tsr_op *op, tsr_error *err)
{
    const char *arrow = strstr(op->axes, "->");
    int tensors[2] = {1, 1}; /* before and after the arrow */

    if (!arrow || strstr(arrow + 1, "->"))
        return tsr__fail(err, TSR_ERR_ARG, "%s: axes \"%s\" are not of the form a,b->c", op->name,
                         op->axes);
    for (const char *p = op->axes; *p;) {
        size_t n = strcspn(p, ",-");
        if (!is_tensor_text(p, n))
            return tsr__fail(err, TSR_ERR_ARG, "%s: axes \"%s\": cannot read \"%.*s\"", op->name,
                             op->axes, (int)n, p);
        for (size_t i = 0; i < n && p > arrow; i++)
            if (tsr__is_lower(p[i]) && strchr(op->axes, p[i]) > arrow)
                return tsr__fail(err, TSR_ERR_ARG, "%s: axes \"%s\": axis %c occurs in no input",
                                 op->name, op->axes, p[i]);
        p += n;
        if (p == arrow)
            p += 2;
        else if (*p == ',')
            tensors[p++ > arrow]++;
    }
    if (tensors[1] > TSR_MAX_OUT)
        return tsr__fail(err, TSR_ERR_ARG,
                         "%s: axes \"%s\" have %d outputs, at most %d are supported", op->name,
                         op->axes, tensors[1], TSR_MAX_OUT);
    if (tensors[0] != tsr__op_inputs(op))
        return tsr__fail(err, TSR_ERR_ARG, "%s: axes \"%s\" are for %d inputs, not for %s",
                         op->name, op->axes, tensors[0], op->inputs);
    return TSR_OK;
}

tsr_status tsr__axes_rules(const tsr_schema *schema, const char *axes, tsr_rules *out,
                           tsr_error *err)
{
    axes_table t = {.schema = schema, .text = axes};
    tsr_status st;

    TSR_TRY(read_axes(&t, err));
    /* leading axes from the first to the last, then letters by their place in the text */
    for (int axis = AXES - 1; axis >= LETTERS; axis--)
        TSR_TRY(axis_rules(&t, axis, out, err));
    for (const char *p = axes; *p; p++)
        if (tsr__is_lower(*p) && strchr(axes, *p) == p)
            TSR_TRY(axis_rules(&t, *p - 'a', out, err));
done:
    return st;
}
