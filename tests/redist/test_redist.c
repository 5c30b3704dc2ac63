/* SPDX-License-Identifier: Apache-2.0 */
/* test_redist.c - all pairs of placements, redistributed and compared element by element with
   the naive model, bytes with the plan. On threads as cmocka tests, the largest families sampled
   unless the argument is "all"; with the argument "mpi" on the ranks that mpirun gave, sampled
   (or all of them with "mpi all"). A failure prints the line that reproduces it. */
#include "support/test.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "support/naive.h"
#include "support/sampling.h"

enum { MAX_ELEMENTS = 512 };

/* One family of pairs: every mesh dim takes every placement. */
typedef struct family {
    const char *mesh, *dtype, *shape;
    const char *const *place; /* choices per mesh dim, ends with NULL */
    int every;                /* test every n-th pair */
    bool random;              /* under random costs, another seed for each pair */
} family;

static const char *const CORE[] = {"R", "S(0)", "S(1)", "SS(0,2)", "P(sum)", "P(max)", NULL};
static const char *const ALL[] = {"R",      "S(0)",   "S(1)",   "SS(0,2)", "SS(1,3)", "P(sum)",
                                  "P(avg)", "P(min)", "P(max)", "P(prod)", NULL};
static const char *const DEEP[] = {"R", "S(0)", "S(2)", "P(sum)", NULL};
static const char *const NO_AVG[] = {"R", "S(0)", "S(1)", "P(sum)", "P(min)", "P(prod)", NULL};
static const char *const MOVES[] = {"R", "S(0)", "S(1)", "SS(1,2)", NULL};

static int tuples_of(const family *f, int ndim)
{
    int n = 0, total = 1;

    while (f->place[n])
        n++;
    for (int m = 0; m < ndim; m++)
        total *= n;
    return total;
}

static void tuple_text(const family *f, int ndim, int number, char *out, size_t size)
{
    int n = 0;
    size_t used = (size_t)snprintf(out, size, "[");

    while (f->place[n])
        n++;
    for (int m = 0; m < ndim; m++) {
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", m ? "," : "", f->place[number % n]);
        number /= n;
    }
    snprintf(out + used, size - used, "]");
}

/* ---- one pair on one rank ---- */

typedef struct pair {
    const family *f;
    tsr_spec from, to;
    char from_text[2 * TSR_TEXT_LEN], to_text[2 * TSR_TEXT_LEN];
    uint64_t seed;
} pair;

static tsr_status complain(tsr_mesh *mesh, const pair *p, const char *what)
{
    char cost[64] = "";

    if (p->f->random)
        snprintf(cost, sizeof cost, " cost=random:%llu", (unsigned long long)p->seed);
    fprintf(stderr,
            "rank %d: %s (%s)\n  tessera verify \"redistribute %s -> %s mesh=%s world=%s%s\"\n",
            tsr_mesh_rank(mesh), what, tsr_mesh_message(mesh), p->from_text, p->to_text, p->f->mesh,
            tsr_mesh_world(mesh) == TSR_WORLD_MPI ? "mpi" : "thread", cost);
    return TSR_ERR_MISMATCH;
}

static bool part_equals(tsr_tensor *y, const pair *p)
{
    double want[MAX_ELEMENTS];
    tsr_local view;
    tsr_shape shape;
    int64_t n = naive_part(&p->to, tsr_mesh_index(tsr_tensor_mesh(y)), &p->from, want, &shape);

    if (tsr_local_view(y, &view) != TSR_OK)
        return false;
    for (int d = 0; d < shape.ndim; d++)
        if (view.shape.size[d] != shape.size[d])
            return false;
    for (int64_t i = 0; i < n; i++)
        if (tsr__get(p->to.dtype, view.data, i) != want[i])
            return false;
    return true;
}

static bool value_equals(tsr_tensor *y, const pair *p)
{
    int64_t n = tsr_shape_count(&p->to.shape);
    double whole[MAX_ELEMENTS];

    if (tsr_to_host(y, whole, (size_t)n * tsr_dtype_size(p->to.dtype)) != TSR_OK)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (tsr__get(p->to.dtype, whole, i) != naive_value(&p->from, i))
            return false;
    return true;
}

static bool bytes_as_planned(tsr_mesh *mesh, const pair *p, int64_t in, int64_t out)
{
    tsr_cost cost = mesh_cost(mesh);
    tsr_redist *plan;
    bool same;

    if (tsr_redist_plan(&p->from, &p->to, &cost, 0, TSR_RIVAL_BEST, &plan, NULL) != TSR_OK)
        return false;
    same = tsr_redist_bytes_in(plan, tsr_mesh_rank(mesh)) == in &&
           tsr_redist_bytes_out(plan, tsr_mesh_rank(mesh)) == out;
    tsr_redist_free(plan);
    return same;
}

static bool is_partial(const tsr_spec *spec)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL)
            return true;
    return false;
}

static tsr_tensor *make_source(tsr_mesh *mesh, const pair *p)
{
    double part[MAX_ELEMENTS], terms[MAX_ELEMENTS];
    tsr_shape shape;
    int64_t n = naive_part(&p->from, tsr_mesh_index(mesh), NULL, part, &shape);

    for (int64_t i = 0; i < n; i++)
        tsr__put(p->from.dtype, terms, i, part[i]);
    return from_local(mesh, p->from_text, terms, &shape);
}

static tsr_status test_pair(tsr_mesh *mesh, const pair *p)
{
    tsr_counters before, after;
    tsr_tensor *x, *y;
    const char *places = strchr(p->to_text, '@') + 1;
    tsr_status st = TSR_OK;

    tsr_scope_push(mesh);
    if (p->f->random) {
        char text[64];
        tsr_cost cost = tsr_cost_default();
        snprintf(text, sizeof text, "random:%llu", (unsigned long long)p->seed);
        tsr_cost_parse(text, &cost, NULL);
        tsr_cost_set(mesh, &cost);
    }
    x = make_source(mesh, p);
    before = tsr_counters_get(mesh);
    y = tsr_redistribute(x, places);
    after = tsr_counters_get(mesh);
    if (!tsr_tensor_ok(y))
        st = complain(mesh, p, "redistribution failed");
    else if (!is_partial(&p->to) && !part_equals(y, p))
        st = complain(mesh, p, "the local part differs");
    else if (!value_equals(y, p))
        st = complain(mesh, p, "the value differs");
    else if (!bytes_as_planned(mesh, p, after.bytes_in - before.bytes_in,
                               after.bytes_out - before.bytes_out))
        st = complain(mesh, p, "bytes are not those of the plan");
    tsr_scope_pop(mesh);
    return st;
}

/* ---- families ---- */

static tsr_status test_family(tsr_mesh *mesh, void *arg)
{
    const family *f = arg;
    int ndim = tsr_mesh_shape_get(mesh)->ndim, n = tuples_of(f, ndim);
    int every = getenv("TESSERA_TEST_ALL") ? 1 : f->every * (int)sample_every();
    tsr_cost usual = mesh_cost(mesh);
    tsr_status st = TSR_OK;

    for (int k = (int)sample_first(every); k < n * n && st == TSR_OK; k += every) {
        char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN];
        pair p = {.f = f, .seed = tsr__hash_final((uint64_t)k) % 100000};
        tuple_text(f, ndim, k / n, from, sizeof from);
        tuple_text(f, ndim, k % n, to, sizeof to);
        snprintf(p.from_text, sizeof p.from_text, "%s%s@%s", f->dtype, f->shape, from);
        snprintf(p.to_text, sizeof p.to_text, "%s%s@%s", f->dtype, f->shape, to);
        if (tsr_spec_parse(p.from_text, tsr_mesh_shape_get(mesh), &p.from, NULL) != TSR_OK ||
            tsr_spec_parse(p.to_text, tsr_mesh_shape_get(mesh), &p.to, NULL) != TSR_OK)
            continue; /* S(1) of a 1-dim tensor, say */
        st = test_pair(mesh, &p);
    }
    tsr_cost_set(mesh, &usual); /* ranks outside this mesh have it still */
    return st == TSR_OK ? tsr_mesh_status(mesh) : st;
}

static void run_family(const family *f)
{
    pass_on(f->mesh, test_family, (void *)(uintptr_t)f);
}

static const char *const SHAPES[] = {"[8,12]", "[5,3]", "[1,7]", "[0,4]", "[6,1,5]"};
enum { N_SHAPES = sizeof SHAPES / sizeof SHAPES[0] };

static void all_shapes(const char *mesh, const char *const *place, int every)
{
    for (int random = 0; random < 2; random++)
        for (int i = 0; i < N_SHAPES; i++)
            run_family(&(family){mesh, "f64", SHAPES[i], place, every, random});
}

static void mesh_1(void **state)
{
    (void)state;
    all_shapes("1", ALL, 1);
}

static void mesh_2(void **state)
{
    (void)state;
    all_shapes("2", ALL, 1);
}

static void mesh_3(void **state)
{
    (void)state;
    all_shapes("3", ALL, 1);
}

static void mesh_4(void **state)
{
    (void)state;
    all_shapes("4", ALL, 1);
}

static void mesh_2x2(void **state)
{
    (void)state;
    all_shapes("data=2,model=2", ALL, 3);
}

static void mesh_2x3(void **state)
{
    (void)state;
    all_shapes("2x3", CORE, 1);
}

static void mesh_2x2x2(void **state)
{
    (void)state;
    all_shapes("2x2x2", CORE, 17);
    run_family(&(family){"2x2x2", "f64", "[6,1,5]", DEEP, 1, false});
}

/* size-1 mesh dims, and more ranks than elements */
static void odd_meshes(void **state)
{
    (void)state;
    all_shapes("1x2", CORE, 1);
    all_shapes("2x1x2", CORE, 29);
    all_shapes("5", ALL, 1);
}

static void every_dtype(void **state)
{
    (void)state;
    static const char *const floats[] = {"f32", "f16", "bf16"};
    static const char *const integers[] = {"i32", "i64", "i16", "i8", "u8", "u16", "u32", "u64"};

    for (int i = 0; i < 3; i++) {
        run_family(&(family){"3", floats[i], "[5,3]", CORE, 1, false});
        run_family(&(family){"2x2", floats[i], "[5,3]", CORE, 1, true});
    }
    for (int i = 0; i < 8; i++)
        run_family(&(family){"2x2", integers[i], "[5,3]", i < 3 ? NO_AVG : CORE, 1, false});
    run_family(&(family){"2x2", "bool", "[5,3]", MOVES, 1, false});
}

/* ---- mpi: one world for all families, each on the part of it that its mesh needs ---- */

static tsr_status test_on_part(tsr_mesh *world, family *f)
{
    tsr_mesh_shape shape;
    tsr_mesh *part;
    tsr_status st;
    int need = 1;

    tsr_mesh_parse(f->mesh, &shape, NULL);
    for (int m = 0; m < shape.ndim; m++)
        need *= shape.size[m];
    if (need > tsr_mesh_size(world))
        return TSR_OK;
    /* the last ranks, so that the mesh does not begin at rank 0 where it is smaller */
    st = tsr_mesh_part(world, f->mesh, tsr_mesh_size(world) - need, &part);
    if (st != TSR_OK)
        return st;
    if (tsr_mesh_is_member(part))
        st = test_family(part, f);
    tsr_mesh_unref(part);
    return st;
}

static tsr_status test_mpi(tsr_mesh *world, void *arg)
{
    static const char *const meshes[] = {"2", "3", "4", "2x2", "2x1x2"};
    int every = *(const int *)arg;
    tsr_status st = TSR_OK;

    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0] && st == TSR_OK; m++)
        for (int i = 0; i < 2 * N_SHAPES && st == TSR_OK; i++) {
            bool flat = strlen(meshes[m]) == 1;
            family f = {
                meshes[m], "f64", SHAPES[i / 2], flat ? ALL : CORE, flat ? every : 7 * every,
                i % 2};
            st = test_on_part(world, &f);
        }
    if (st == TSR_OK)
        st = test_on_part(world, &(family){"2", "bf16", "[5,3]", CORE, every, false});
    return st == TSR_OK ? tsr_barrier(world) : st;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mesh_1),     cmocka_unit_test(mesh_2),     cmocka_unit_test(mesh_3),
        cmocka_unit_test(mesh_4),     cmocka_unit_test(mesh_2x2),   cmocka_unit_test(mesh_2x3),
        cmocka_unit_test(mesh_2x2x2), cmocka_unit_test(odd_meshes), cmocka_unit_test(every_dtype),
    };

    if (argc > 1 && strcmp(argv[1], "mpi") == 0)
        return run_under_mpi(NULL, test_mpi,
                             &(int){argc > 2 && strcmp(argv[2], "all") == 0 ? 1 : 5});
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        setenv("TESSERA_TEST_ALL", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
