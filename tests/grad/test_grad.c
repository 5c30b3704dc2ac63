/* SPDX-License-Identifier: Apache-2.0 */
/* test_grad.c - gradients, for every row that has one and each of its cases, in f64: on one rank
   they are what finite differences say; in f32 they are nearly the same, and in halves they are
   there; on meshes, with sampled placements of inputs and of the outputs' gradients, they are what
   one rank gets; asking for one of them alone gives the same; and they depend on the values that
   the row saves, on all of these and on no others. */
#include "support/test.h"
#include "base/hash.h"
#include "grad/grad_row.h"
#include "support/sharding_property.h"
#include "op/schema.h"
#include "validate/trial.h"
#include "support/sampling.h"

/* Inputs and outputs of an op, as masks over all its cases. */
typedef struct operands {
    unsigned in, out;
} operands;

/* A case with values: what does not depend on the mesh. */
typedef struct trial {
    const char *text;
    tsr_schema schema; /* inputs replicated */
    uint64_t seed;
    double in[TSR_MAX_IN][PROPERTY_ELEMENTS];        /* as the dtypes say */
    double grad_out[TSR_MAX_OUT][PROPERTY_ELEMENTS]; /* as f64 */
    double grad_in[TSR_MAX_IN][PROPERTY_ELEMENTS];   /* f64, as one rank finds them */
    bool flows[TSR_MAX_IN];
    operands *there, *matter; /* of the op: those that were given, those whose values matter */
} trial;

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return tsr__hash_final(tsr__hash_mix(tsr__hash_mix(23, a), b));
}

static double fraction(uint64_t h)
{
    return (double)(h >> 11) * 0x1p-53;
}

static tsr_status complain(tsr_mesh *mesh, const trial *t, const tsr_schema *s, const char *what)
{
    char line[TSR_TEXT_LEN];

    fprintf(stderr, "rank %d: the gradient of %s: %s (%s)\n", tsr_mesh_rank(mesh),
            tsr__case_line(s, t->text, "default", line, sizeof line), what, tsr_mesh_message(mesh));
    return TSR_ERR_MISMATCH;
}

/* Real numbers of both signs that are not too small and all different. */
static void set_values(trial *t)
{
    const tsr_schema *s = &t->schema;

    for (int k = 0; k < s->n_in; k++) {
        tsr_range range = tsr__case_range(t->text, k);
        if (!tsr__schema_has(s, k))
            continue;
        for (int64_t i = 0; i < tsr_shape_count(&s->in[k].shape); i++) {
            uint64_t h = mixed(t->seed + (uint64_t)k, (uint64_t)i);
            double x = 0.1 + 1.7 * fraction(h);
            if (tsr__range_is_integer(&range))
                x = (double)tsr__range_value(&range, t->seed + (uint64_t)k, i);
            else if (!tsr__dtype_is_float(s->in[k].dtype))
                x = (double)(h % 2);
            else if (range.kind != TSR_RANGE_POSITIVE && h % 2)
                x = -x;
            tsr__put(s->in[k].dtype, t->in[k], i, x);
        }
    }
    for (int k = 0; k < TSR_MAX_OUT; k++)
        for (int64_t i = 0; i < PROPERTY_ELEMENTS; i++)
            t->grad_out[k][i] = 2 * fraction(mixed(t->seed + 91 + (uint64_t)k, (uint64_t)i)) - 1;
}

/* ---- one call and its gradient ---- */

static tsr_status run_forward(tsr_mesh *mesh, const trial *t, const tsr_schema *s, tsr_tensor **in,
                              tsr_tensor **out)
{
    char text[TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++) {
        in[k] = NULL;
        if (tsr__schema_has(s, k))
            in[k] = from_host(mesh, tsr_spec_text(&s->in[k], text, sizeof text), t->in[k]);
    }
    if (tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, out) != TSR_OK)
        return complain(mesh, t, s, "the op failed");
    return TSR_OK;
}

static bool is_float(const tsr_tensor *x)
{
    return x && tsr__dtype_is_float(tsr_tensor_spec(x)->dtype);
}

/* `only` names one input, -1 all. The outputs' gradients are placed by `sample`, 0: replicated. */
static tsr_status run_backward(tsr_mesh *mesh, const trial *t, const tsr_schema *s, tsr_tensor **in,
                               tsr_tensor **out, int only, uint64_t sample, tsr_tensor **grad_in)
{
    tsr_grad_lists l = {.attrs = s->attrs};
    const tsr_grad_call call = tsr__grad_call_of(s->op, &l);
    double host[PROPERTY_ELEMENTS];
    char text[TSR_TEXT_LEN];
    tsr_status st;

    for (int k = 0; k < TSR_MAX_OUT; k++) {
        l.out[k] = out[k];
        if (!is_float(out[k]))
            continue;
        tsr_spec spec = {.dtype = tsr_tensor_spec(out[k])->dtype,
                         .shape = tsr_tensor_spec(out[k])->shape,
                         .mesh = *tsr_mesh_shape_get(mesh)};
        for (int m = 0; m < spec.mesh.ndim && sample; m++)
            spec.place[m] = property_placement(mixed(sample, (uint64_t)(8 * k + m) + 999), &spec);
        for (int64_t i = 0; i < tsr_shape_count(&spec.shape); i++)
            tsr__put(spec.dtype, host, i, t->grad_out[k][i]);
        l.grad_out[k] = from_host(mesh, tsr_spec_text(&spec, text, sizeof text), host);
    }
    for (int k = 0; k < s->n_in; k++) {
        l.in[k] = in[k];
        l.wanted[k] = is_float(in[k]) && (only < 0 || only == k);
    }
    st = tsr__grad_row(mesh->ctx, &call);
    if (st == TSR_ERR_ARG) /* values that were refused: the caller may have spoilt them */
        return st;
    if (st != TSR_OK)
        return complain(mesh, t, s, "it failed");
    memcpy(grad_in, l.grad_in, (size_t)s->n_in * sizeof *grad_in);
    for (int k = 0; k < s->n_in; k++)
        if (grad_in[k] && !l.wanted[k])
            return complain(mesh, t, s, "one is there that was not wanted");
    return TSR_OK;
}

/* ---- one rank: finite differences ---- */

/* The sum over all outputs of output times gradient. */
static tsr_status weigh(tsr_mesh *mesh, const trial *t, double *out)
{
    tsr_tensor *in[TSR_MAX_IN], *y[TSR_MAX_OUT];
    double host[PROPERTY_ELEMENTS];
    tsr_status st;

    tsr_scope_push(mesh);
    *out = 0;
    st = run_forward(mesh, t, &t->schema, in, y);
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++) {
        if (!is_float(y[k]))
            continue;
        int64_t n = tsr_shape_count(&tsr_tensor_spec(y[k])->shape);
        st = tsr_to_host(y[k], host, (size_t)n * sizeof *host);
        for (int64_t i = 0; i < n; i++)
            *out += host[i] * t->grad_out[k][i];
    }
    tsr_scope_pop(mesh);
    return st;
}

static tsr_status check_differences(tsr_mesh *mesh, trial *t, int k)
{
    const int64_t n = tsr_shape_count(&t->schema.in[k].shape);
    double largest = 1;
    char what[TSR_TEXT_LEN];
    tsr_status st = TSR_OK;

    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(t->grad_in[k][i]));
    for (int64_t i = 0; i < n && st == TSR_OK; i++) {
        double x = t->in[k][i], above, below, slope = 0;
        bool good = false;

        for (double h = 1e-5; !good && h > 1e-8; h /= 100) { /* smaller where it is steep */
            t->in[k][i] = x + h;
            TSR_TRY(weigh(mesh, t, &above));
            t->in[k][i] = x - h;
            TSR_TRY(weigh(mesh, t, &below));
            t->in[k][i] = x;
            slope = (above - below) / (2 * h);
            good = fabs(slope - t->grad_in[k][i]) <= 1e-6 * largest ||
                   isnan(slope); /* log of -1, say */
        }
        if (good)
            continue;
        snprintf(what, sizeof what, "input %d, element %d: %.9g, but by differences %.9g", k,
                 (int)i, t->grad_in[k][i], slope);
        return complain(mesh, t, &t->schema, what);
    }
done:
    return st;
}

/* ---- one rank: what is saved ---- */

/* One of the same spec with other values: NaN, or 0, which is good for indices too. */
static tsr_tensor *spoilt(tsr_mesh *mesh, const tsr_tensor *x)
{
    const tsr_spec *spec = tsr_tensor_spec(x);
    double host[PROPERTY_ELEMENTS];
    char text[TSR_TEXT_LEN];

    for (int64_t i = 0; i < tsr_shape_count(&spec->shape); i++)
        tsr__put(spec->dtype, host, i, tsr__dtype_is_float(spec->dtype) ? (double)NAN : 0);
    return from_host(mesh, tsr_spec_text(spec, text, sizeof text), host);
}

/* What the tape leaves of a tensor that is not saved. */
static tsr_tensor *let_go(const tsr_tensor *x)
{
    tsr_tensor *shape_only = NULL;

    return tsr__tensor_shape_only(x, &shape_only) == TSR_OK ? shape_only : NULL;
}

static tsr_tensor *replaced(tsr_mesh *mesh, tsr_tensor *x, bool is, bool gone)
{
    return !x || !is ? x : gone ? let_go(x) : spoilt(mesh, x);
}

/* Is the gradient the same, bit by bit, if these operands are spoilt, or gone? */
static tsr_status run_without(tsr_mesh *mesh, const trial *t, tsr_tensor *const *in,
                              tsr_tensor *const *out, operands which, bool gone, bool *same)
{
    tsr_tensor *x[TSR_MAX_IN] = {NULL}, *y[TSR_MAX_OUT] = {NULL}, *grad[TSR_MAX_IN];
    double got[PROPERTY_ELEMENTS];
    tsr_status st;

    tsr_scope_push(mesh);
    for (int k = 0; k < t->schema.n_in; k++)
        x[k] = replaced(mesh, in[k], which.in >> k & 1, gone);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        y[k] = replaced(mesh, out[k], which.out >> k & 1, gone);
    st = run_backward(mesh, t, &t->schema, x, y, -1, 0, grad);
    *same = st == TSR_OK;
    if (st == TSR_ERR_ARG && !gone) { /* an index that was spoilt is refused: it matters */
        tsr_mesh_clear_error(mesh);
        st = TSR_OK;
        goto done;
    }
    TSR_TRY(st);
    for (int k = 0; k < t->schema.n_in; k++) {
        size_t bytes = grad[k] ? (size_t)tsr_shape_count(&t->schema.in[k].shape) * 8 : 0;
        if (grad[k])
            TSR_TRY(tsr_to_host(grad[k], got, bytes));
        *same = *same && (grad[k] != NULL) == t->flows[k] && !memcmp(got, t->grad_in[k], bytes);
    }
done:
    for (int k = 0; k < t->schema.n_in; k++)
        if (gone && x[k] != in[k])
            tsr_unref(x[k]);
    for (int k = 0; k < TSR_MAX_OUT; k++)
        if (gone && y[k] != out[k])
            tsr_unref(y[k]);
    tsr_scope_pop(mesh);
    return st;
}

/* Does the row say what its gradient reads, by name or by being a text? */
static bool says_saved(const tsr_op *op)
{
    return op->saves || op->grad_expr;
}

static tsr_status find_saved(const tsr_op *op, operands *out)
{
    tsr_heap heap = {0};
    tsr_op_table *table = NULL;
    tsr_op_entry *entry;
    tsr_status st;

    TSR_TRY(tsr__op_entry_of(&heap, &table, op, &entry, NULL));
    TSR_TRY(tsr__op_entry_grad(&heap, table, entry, NULL));
    *out = (operands){entry->saves_in, entry->saves_out};
done:
    tsr__op_table_free(&heap, table);
    return st;
}

static tsr_status check_saved(tsr_mesh *mesh, const trial *t, tsr_tensor *const *in,
                              tsr_tensor *const *out)
{
    operands saved, each = {0};
    bool same;
    tsr_status st;

    TSR_TRY(find_saved(t->schema.op, &saved));
    TSR_TRY(run_without(mesh, t, in, out, (operands){~saved.in, ~saved.out}, true, &same));
    if (!same)
        return complain(mesh, t, &t->schema, "it reads values that its row does not save");
    for (int k = 0; k < t->schema.n_in + TSR_MAX_OUT; k++) {
        const int o = k - t->schema.n_in;

        if (!(o < 0 ? in[k] : out[o]))
            continue;
        each = o < 0 ? (operands){.in = 1U << k} : (operands){.out = 1U << o};
        t->there->in |= each.in;
        t->there->out |= each.out;
        TSR_TRY(run_without(mesh, t, in, out, each, false, &same));
        if (!same) {
            t->matter->in |= each.in;
            t->matter->out |= each.out;
        }
    }
done:
    return st;
}

static tsr_status test_one_rank(tsr_mesh *mesh, void *arg)
{
    trial *t = arg;
    tsr_tensor *in[TSR_MAX_IN], *out[TSR_MAX_OUT], *grad[TSR_MAX_IN];
    tsr_status st;

    TSR_TRY(run_forward(mesh, t, &t->schema, in, out));
    TSR_TRY(run_backward(mesh, t, &t->schema, in, out, -1, 0, grad));
    for (int k = 0; k < t->schema.n_in; k++) {
        t->flows[k] = grad[k] != NULL;
        memset(t->grad_in[k], 0, sizeof t->grad_in[k]);
        if (grad[k])
            TSR_TRY(tsr_to_host(grad[k], t->grad_in[k],
                                (size_t)tsr_shape_count(&t->schema.in[k].shape) * 8));
    }
    for (int k = 0; k < t->schema.n_in; k++)
        if (is_float(in[k])) /* where none flows, differences must say so */
            TSR_TRY(check_differences(mesh, t, k));
    if (says_saved(t->schema.op))
        TSR_TRY(check_saved(mesh, t, in, out));
done:
    return st;
}

/* ---- one rank: other floating point types ---- */

static tsr_status check_type(tsr_mesh *mesh, const trial *t, tsr_dtype dtype, trial *other)
{
    tsr_tensor *in[TSR_MAX_IN], *out[TSR_MAX_OUT], *grad[TSR_MAX_IN];
    char got[8 * PROPERTY_ELEMENTS], what[TSR_TEXT_LEN];
    tsr_status st;

    *other = *t;
    for (int k = 0; k < other->schema.n_in; k++)
        if (other->schema.in[k].dtype == TSR_F64)
            other->schema.in[k].dtype = dtype;
    set_values(other);
    TSR_TRY(run_forward(mesh, other, &other->schema, in, out));
    TSR_TRY(run_backward(mesh, other, &other->schema, in, out, -1, 0, grad));
    for (int k = 0; k < t->schema.n_in; k++) {
        const int64_t n = grad[k] ? tsr_shape_count(&t->schema.in[k].shape) : 0;
        double largest = 1;

        if ((grad[k] != NULL) != t->flows[k])
            return complain(mesh, other, &other->schema, "one flows here and not of f64");
        if (grad[k])
            TSR_TRY(tsr_to_host(grad[k], got, (size_t)n * tsr_dtype_size(dtype)));
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(t->grad_in[k][i]));
        for (int64_t i = 0; i < n && dtype == TSR_F32; i++) {
            const double a = tsr__get(dtype, got, i), b = t->grad_in[k][i];

            if (fabs(a - b) <= 1e-2 * largest || (isnan(a) && isnan(b)))
                continue; /* what is steep loses digits; whether it is right f64 says */
            snprintf(what, sizeof what, "input %d, element %d: %.9g, of f64 %.9g", k, (int)i, a, b);
            return complain(mesh, other, &other->schema, what);
        }
    }
done:
    return st;
}

static tsr_status test_types(tsr_mesh *mesh, void *arg)
{
    static const tsr_dtype types[] = {TSR_F32, TSR_F16, TSR_BF16};
    static trial other;
    tsr_status st = TSR_OK;

    for (size_t i = 0; i < sizeof types / sizeof *types && st == TSR_OK; i++) {
        tsr_scope_push(mesh);
        st = check_type(mesh, arg, types[i], &other);
        tsr_scope_pop(mesh);
    }
    return st;
}

/* ---- meshes: the sharding property ---- */

static tsr_status compare(tsr_mesh *mesh, const trial *t, const tsr_schema *s,
                          tsr_tensor *const *grad, int only)
{
    double got[PROPERTY_ELEMENTS];
    char what[TSR_TEXT_LEN];

    for (int k = 0; k < s->n_in; k++) {
        const int64_t n = tsr__schema_has(s, k) ? tsr_shape_count(&s->in[k].shape) : 0;
        double largest = 1;

        if (only >= 0 && only != k)
            continue;
        if ((grad[k] != NULL) != t->flows[k])
            return complain(mesh, t, s, "one flows here and not on one rank, or the reverse");
        if (!grad[k])
            continue;
        if (tsr_to_host(grad[k], got, (size_t)n * sizeof *got) != TSR_OK)
            return complain(mesh, t, s, "gathering failed");
        for (int64_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(t->grad_in[k][i]));
        for (int64_t i = 0; i < n; i++)
            if (!(fabs(got[i] - t->grad_in[k][i]) <= 1e-11 * largest) &&
                !(isnan(got[i]) && isnan(t->grad_in[k][i]))) {
                snprintf(what, sizeof what, "input %d, element %d: %.15g, on one rank %.15g", k,
                         (int)i, got[i], t->grad_in[k][i]);
                return complain(mesh, t, s, what);
            }
    }
    return TSR_OK;
}

typedef struct sampled {
    const trial *t;
    int samples;
} sampled;

static tsr_status test_mesh(tsr_mesh *mesh, void *arg)
{
    const sampled *job = arg;
    const trial *t = job->t;
    tsr_status st = TSR_OK;

    for (int i = 0; i < job->samples && st == TSR_OK; i++) {
        tsr_schema s = t->schema;
        tsr_tensor *in[TSR_MAX_IN], *out[TSR_MAX_OUT], *grad[TSR_MAX_IN];
        uint64_t sample = mixed(t->seed, (uint64_t)i);
        int floats = 0, only = -1;

        for (int k = 0; k < s.n_in; k++) {
            if (!tsr__schema_has(&s, k))
                continue;
            s.in[k].mesh = *tsr_mesh_shape_get(mesh);
            for (int m = 0; m < s.in[k].mesh.ndim; m++)
                s.in[k].place[m] =
                    property_placement(mixed(sample, (uint64_t)(8 * k + m)), &s.in[k]);
            floats += tsr__dtype_is_float(s.in[k].dtype);
        }
        if (i % 2 && floats > 1) /* one of them alone */
            only = (int)(sample % (uint64_t)s.n_in);
        tsr_scope_push(mesh);
        TSR_TRY(run_forward(mesh, t, &s, in, out));
        TSR_TRY(run_backward(mesh, t, &s, in, out, only, sample, grad));
        TSR_TRY(compare(mesh, t, &s, grad, only));
        tsr_scope_pop(mesh);
    }
done:
    return st == TSR_OK ? tsr_mesh_status(mesh) : st;
}

/* ---- all rows ---- */

static void test_case(const tsr_op *op, const char *text, uint64_t seed, operands *there,
                      operands *matter)
{
    static const struct {
        const char *mesh;
        int samples;
    } meshes[] = {{"2", 6}, {"3", 4}, {"2x2", 4}};
    const tsr_mesh_shape one = tsr__case_mesh(1);
    static trial t;

    t = (trial){.text = text, .seed = seed, .there = there, .matter = matter};
    assert_int_equal(tsr__case_read(op, text, &one, &t.schema, NULL), TSR_OK);
    set_values(&t);
    pass_on("1", test_one_rank, &t);
    pass_on("1", test_types, &t);
    for (size_t m = 0; m < sizeof meshes / sizeof *meshes; m++)
        pass_on(meshes[m].mesh, test_mesh, &(sampled){&t, meshes[m].samples});
}

/* What is saved is read in some case, if it is there in one. */
static void test_needed(const tsr_op *op, operands there, operands matter)
{
    operands saved = {0};

    assert_int_equal(find_saved(op, &saved), TSR_OK);
    if ((saved.in & there.in & ~matter.in) || (saved.out & there.out & ~matter.out))
        fail_msg("%s saves \"%s\", of which its gradient does not read all", op->name,
                 op->saves ? op->saves : op->grad_expr);
}

static void gradients_are_right(void **state)
{
    const int64_t every = sample_every();
    int number = 0;
    (void)state;

    for (int r = 0; r < tsr_op_count(); r++) {
        const tsr_op *op = tsr_op_row(r);
        if (!tsr_op_has_grad(op) || op->inplace || op->grad == tsr_grad_none ||
            !op_is_asked(op->name))
            continue;
        operands there = {0}, matter = {0};
        for (int c = 0; op->cases && op->cases[c]; c++, number++)
            if (sample_has(number, every))
                test_case(op, op->cases[c], (uint64_t)(r * 64 + c), &there, &matter);
        if (says_saved(op) && every == 1)
            test_needed(op, there, matter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_right)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
