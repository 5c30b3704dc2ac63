/* SPDX-License-Identifier: Apache-2.0 */
/* test_ops.c - the sharding property: an op on sharded and partial inputs, gathered, equals its
   definition on whole inputs; for every row of the op table and each of its cases, on meshes with
   uneven and empty shards; placements, dtypes and costs are sampled. All outputs are compared,
   their placements with the plan, and the bytes that came in with those of the inputs' moves. On
   threads as cmocka tests, with the argument "many" on more samples; with "mpi" on the ranks that
   mpirun gave. A failure prints the line that reproduces it. */
#include "support/test.h"
#include "base/hash.h"
#include "dispatch/dispatch.h"
#include "support/sharding_property.h"
#include "op/local_call.h"
#include "op/schema.h"
#include "support/sample_rows.h"
#include "support/sampling.h"

static tsr_status complain(tsr_mesh *mesh, const property_call *c, const char *what)
{
    char line[TSR_TEXT_LEN];

    fprintf(stderr, "rank %d of the %s world: %s (%s)\n  %s\n", tsr_mesh_rank(mesh),
            tsr_mesh_world(mesh) == TSR_WORLD_MPI ? "mpi" : "thread", what, tsr_mesh_message(mesh),
            tsr__case_line(&c->schema, c->text, c->cost, line, sizeof line));
    return TSR_ERR_MISMATCH;
}

/* ---- one call on one rank ---- */

static tsr_tensor *make_input(tsr_mesh *mesh, const property_call *c, int k)
{
    const tsr_spec *spec = &c->schema.in[k];
    double terms[PROPERTY_ELEMENTS], part[PROPERTY_ELEMENTS];
    char text[TSR_TEXT_LEN];
    tsr_shape shape;

    property_part(c, k, tsr_mesh_index(mesh), terms, &shape);
    for (int64_t i = 0; i < tsr_shape_count(&shape); i++)
        tsr__put(spec->dtype, part, i, terms[i]);
    return from_local(mesh, tsr_spec_text(spec, text, sizeof text), part, &shape);
}

static tsr_status check_values(tsr_mesh *mesh, const property_call *c, int k, tsr_tensor *y,
                               const property_output *want)
{
    double got[PROPERTY_ELEMENTS];
    char what[TSR_TEXT_LEN];
    tsr_dtype dtype = c->schema.out_dtype[k];

    if ((y != NULL) != (want->n >= 0))
        return complain(mesh, c, "an output is missing, or there though it is switched off");
    if (!y)
        return TSR_OK;
    if (tsr_tensor_spec(y)->dtype != dtype ||
        tsr_shape_count(&tsr_tensor_spec(y)->shape) != want->n)
        return complain(mesh, c, "an output is of another type or size");
    if (tsr_to_host(y, got, (size_t)want->n * tsr_dtype_size(dtype)) != TSR_OK)
        return complain(mesh, c, "gathering failed");
    for (int64_t i = 0; i < want->n; i++) {
        double x = tsr__get(dtype, got, i);
        if (x == want->value[i] || fabs(x - want->value[i]) <= want->tolerance ||
            (!isfinite(x) && !isfinite(want->value[i]))) /* 1 / 0 - 2 / 0 is not -1 / 0 */
            continue;
        snprintf(what, sizeof what, "output %d, element %d is %.9g, not %.9g, tolerance %.3g", k,
                 (int)i, x, want->value[i], want->tolerance);
        return complain(mesh, c, what);
    }
    return TSR_OK;
}

static bool add_bytes(tsr_mesh *mesh, const tsr_spec *from, const tsr_spec *to, int64_t *bytes)
{
    tsr_cost cost = mesh_cost(mesh);
    tsr_redist *plan;

    if (tsr_spec_equal(from, to))
        return true;
    if (tsr_redist_plan(from, to, &cost, 0, TSR_RIVAL_BEST, &plan, NULL) != TSR_OK)
        return false;
    *bytes += tsr_redist_bytes_in(plan, tsr_mesh_rank(mesh));
    tsr_redist_free(plan);
    return true;
}

/* Outputs are where the plan says, and only redistributions of inputs moved bytes; in place, the
   moves back to where inputs were, too. */
static tsr_status check_plan(tsr_mesh *mesh, const property_call *c, tsr_tensor *const *y,
                             int64_t bytes)
{
    const tsr_schema *s = &c->schema;
    tsr_cost cost = mesh_cost(mesh);
    tsr_op_strategy way;
    int64_t planned = 0;
    bool good = true;

    if (tsr_op_is_composed(s->op))
        return TSR_OK;
    if (tsr_op_plan(s, &cost, NULL, false, &way, NULL) != TSR_OK)
        return complain(mesh, c, "there is no plan");
    for (int k = 0; k < s->n_in && good; k++)
        if (tsr__schema_has(s, k))
            good = add_bytes(mesh, &s->in[k], &way.in[k], &planned);
    for (int k = 0; k < s->op->inplace; k++) {
        good = good && add_bytes(mesh, &way.out[k], &s->in[k], &planned);
        way.out[k] = s->in[k];
    }
    if (!good)
        return complain(mesh, c, "an input cannot be brought where the plan says");
    for (int k = 0; k < s->n_out; k++)
        if (y[k] && !tsr_spec_equal(tsr_tensor_spec(y[k]), &way.out[k]))
            return complain(mesh, c, "an output is not where the plan says");
    if (s->op->run || s->op->merge)
        return TSR_OK;
    /* windows: at most what the rank gets that gets most */
    if (bytes < planned ||
        bytes - planned > (int64_t)tsr__op_algorithm(s, way.in, way.out, &cost).comm.bytes)
        return complain(mesh, c, "bytes are not those of the inputs' moves and windows");
    return TSR_OK;
}

static tsr_status test_call(tsr_mesh *mesh, property_call *c, const property_output *want)
{
    tsr_tensor *in[TSR_MAX_IN] = {NULL}, *y[TSR_MAX_OUT] = {NULL};
    const tsr_schema *s = &c->schema;
    tsr_counters before;
    tsr_cost cost = tsr_cost_default();
    int64_t bytes;
    tsr_status st;

    tsr_cost_parse(c->cost, &cost, NULL);
    tsr_cost_set(mesh, &cost);
    for (int k = 0; k < s->n_in; k++)
        if (tsr__schema_has(s, k))
            in[k] = make_input(mesh, c, k);
    before = tsr_counters_get(mesh);
    st = tsr__dispatch_row(mesh->ctx, s->op, in, s->n_in, &s->attrs, y);
    if (st != TSR_OK)
        return complain(mesh, c, "the op failed");
    bytes = tsr_counters_get(mesh).bytes_in - before.bytes_in;
    for (int k = 0; k < TSR_MAX_OUT && st == TSR_OK; k++)
        st = check_values(mesh, c, k, y[k], &want[k]);
    return st == TSR_OK ? check_plan(mesh, c, y, bytes) : st;
}

/* ---- all rows and cases on a mesh ---- */

static tsr_status test_sample(tsr_mesh *mesh, const tsr_op *op, const char *text, uint64_t sample)
{
    property_output want[TSR_MAX_OUT];
    property_call c;
    tsr_error err = {0};
    tsr_status st;

    if (!property_choose(op, text, tsr_mesh_shape_get(mesh), sample, &c)) {
        fprintf(stderr, "%s: the case %s cannot be read\n", op->name, text);
        return TSR_ERR_MISMATCH;
    }
    if (property_expect(&c, want, &err) != TSR_OK) {
        fprintf(stderr, "%s\n", err.text);
        return complain(mesh, &c, "the reference failed");
    }
    tsr_scope_push(mesh);
    st = test_call(mesh, &c, want);
    tsr_scope_pop(mesh);
    return st;
}

/* The op table, rows of the tests that have what no op of the table has, and some that work in
   place: the others differ from them in nothing but their kernel. */
static const tsr_op *row_at(int i)
{
    static const tsr_op *const more[] = {&sample_pair, &sample_lookup, &sample_total,
                                         &sample_twice};
    static const char *const inplace[] = {"add_inplace",
                                          "mul_inplace",
                                          "sub_inplace",
                                          "sqrt_inplace",
                                          "affine_inplace",
                                          "fill_inplace",
                                          "clamp_inplace",
                                          "addcmul_inplace",
                                          "masked_fill_inplace",
                                          "lerp_inplace",
                                          NULL};
    const int n = tsr_op_count(), m = n + (int)(sizeof more / sizeof *more);

    if (i < m)
        return i < n ? tsr_op_row(i) : more[i - n];
    return inplace[i - m] ? tsr_op_find(NULL, inplace[i - m]) : NULL;
}

/* How much is tried: so many samples of a case, and of all these every so many-th. */
typedef struct volume {
    int samples, every;
} volume;

/* As many samples of every case, fewer in sanitizer builds, which are slow: there a case has one
   for some meshes only. */
static tsr_status test_law(tsr_mesh *mesh, void *arg)
{
    const volume *v = arg;
    const int64_t every = v->every * sample_every();
    int64_t number = 0;
    tsr_cost usual = mesh_cost(mesh);
    tsr_status st = TSR_OK;

    for (int r = 0; row_at(r) && st == TSR_OK; r++) {
        const tsr_op *op = row_at(r);
        for (int c = 0; op_is_asked(op->name) && op->cases && op->cases[c] && st == TSR_OK; c++)
            for (int i = 0; i < v->samples && st == TSR_OK; i++, number++) {
                if (!sample_has(number, every))
                    continue;
                st = test_sample(mesh, op, op->cases[c],
                                 ((uint64_t)r * 64 + (uint64_t)c) * 4096 + (uint64_t)i);
            }
    }
    tsr_cost_set(mesh, &usual); /* ranks outside this mesh have it still */
    return st == TSR_OK ? tsr_mesh_status(mesh) : st;
}

/* Samples of a case; *state: how many times as many. */
static void one_mesh_dim(void **state)
{
    const int times = **(int **)state;

    pass_on("1", test_law, &(volume){6 * times, 1});
    pass_on("2", test_law, &(volume){16 * times, 1});
    pass_on("3", test_law, &(volume){10 * times, 1});
    pass_on("4", test_law, &(volume){10 * times, 1});
}

static void several_mesh_dims(void **state)
{
    const int times = **(int **)state;

    pass_on("2x2", test_law, &(volume){10 * times, 1});
    pass_on("2x3", test_law, &(volume){5 * times, 1});
    pass_on("1x2", test_law, &(volume){3 * times, 1});
    pass_on("3x1", test_law, &(volume){2 * times, 1});
    pass_on("2x2x2", test_law, &(volume){times, 4}); /* planning takes longer than running */
}

/* ---- mpi: one world for all meshes, each on the part of it that it needs ---- */

static tsr_status test_on_part(tsr_mesh *world, const char *text, int need, int samples)
{
    volume v = {samples, 1};
    tsr_mesh *part;
    tsr_status st;

    if (need > tsr_mesh_size(world))
        return TSR_OK;
    /* the last ranks, so that the mesh does not begin at rank 0 where it is smaller */
    st = tsr_mesh_part(world, text, tsr_mesh_size(world) - need, &part);
    if (st != TSR_OK)
        return st;
    if (tsr_mesh_is_member(part))
        st = test_law(part, &v);
    tsr_mesh_unref(part);
    return st;
}

static tsr_status test_mpi(tsr_mesh *world, void *arg)
{
    tsr_status st = test_on_part(world, "2", 2, 30);

    (void)arg;
    if (st == TSR_OK)
        st = test_on_part(world, "3", 3, 15);
    if (st == TSR_OK)
        st = test_on_part(world, "4", 4, 15);
    if (st == TSR_OK)
        st = test_on_part(world, "2x2", 4, 20);
    if (st == TSR_OK)
        st = test_on_part(world, "2x1", 2, 2);
    return st == TSR_OK ? tsr_barrier(world) : st;
}

int main(int argc, char **argv)
{
    int times = argc > 1 && strcmp(argv[1], "many") == 0 ? 4 : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(one_mesh_dim, &times),
        cmocka_unit_test_prestate(several_mesh_dims, &times),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, test_mpi, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
