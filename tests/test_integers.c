/* SPDX-License-Identifier: Apache-2.0 */
/* test_integers.c - integers at the ends of their range: what is computed with them wraps around,
   so that the larger of two may become the smaller; numbers that a dtype has not are refused, and
   those that it has are exact. Public headers only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tessera_ext.h>
#include <tessera_ops.h>

#include "numbers.h"
#include "ranks.h"

/* ---- what wraps around ---- */

enum { RANKS = 2, ELEMENTS = 16 };

/* One call on tensors of 16 elements; each input in turn is at P(max), P(min), P(sum) and P(prod),
   the others are replicated. */
typedef struct wrapping_call {
    const char *op;
    int n_in, index; /* this input holds 0 to 15; -1: none */
    const char *attrs[2];
} wrapping_call;

static const wrapping_call wrapping_calls[] = {
    {"add", 2, -1, {NULL}},
    {"sub", 2, -1, {NULL}},
    {"mul", 2, -1, {NULL}},
    {"neg", 1, -1, {NULL}},
    {"abs", 1, -1, {NULL}},
    {"relu", 1, -1, {NULL}},
    {"affine", 1, -1, {"mul=100"}},
    {"affine", 1, -1, {"mul=1", "add=7"}},
    {"affine", 1, -1, {"mul=3", "add=200"}},
    {"addcmul", 3, -1, {"value=5"}},
    {"index_add", 3, 1, {NULL}},
    {"scatter_add", 3, 1, {"dim=0"}},
    {"cast", 1, -1, {"dtype=i64"}},
    {"cast", 1, -1, {"dtype=i32"}},
    {"cast", 1, -1, {"dtype=u8"}},
    {"cast", 1, -1, {"dtype=f64"}},
    {"sum", 1, -1, {NULL}},
    {"prod", 1, -1, {NULL}},
    {"max", 1, -1, {NULL}},
    {"cumsum", 1, -1, {"dim=0"}},
};

static int64_t element(const char *dtype, const void *data, int i)
{
    return strcmp(dtype, "u8") == 0    ? ((const uint8_t *)data)[i]
           : strcmp(dtype, "i32") == 0 ? ((const int32_t *)data)[i]
                                       : ((const int64_t *)data)[i];
}

static void set_element(const char *dtype, void *data, int i, uint64_t x)
{
    if (strcmp(dtype, "u8") == 0)
        ((uint8_t *)data)[i] = (uint8_t)x;
    else if (strcmp(dtype, "i32") == 0)
        ((uint32_t *)data)[i] = (uint32_t)x;
    else
        ((uint64_t *)data)[i] = x;
}

static uint64_t reduced(const char *by, int64_t a, int64_t b)
{
    if (strcmp(by, "sum") == 0)
        return (uint64_t)a + (uint64_t)b;
    if (strcmp(by, "prod") == 0)
        return (uint64_t)a * (uint64_t)b;
    return (uint64_t)((strcmp(by, "max") == 0) == (a > b) ? a : b);
}

/* The call with input `which` partial, against the same on whole inputs. */
static tsr_status wrapping_one(tsr_mesh *mesh, const wrapping_call *c, const char *dtype, int which,
                               const char *by)
{
    const tsr_shape shape = {.ndim = 1, .size = {ELEMENTS}};
    const int n_attrs = c->attrs[0] ? c->attrs[1] ? 2 : 1 : 0;
    int64_t term[3][RANKS][ELEMENTS], whole[3][ELEMENTS], got[ELEMENTS], want[ELEMENTS];
    tsr_tensor *in[3], *all[3], *y, *z;
    uint64_t seed = 11;
    char spec[32];
    size_t bytes;

    for (int k = 0; k < c->n_in; k++) {
        const char *type = k == c->index ? "i64" : dtype;
        snprintf(spec, sizeof spec, "%s[%d]@[%s%s%s]", type, ELEMENTS, k == which ? "P(" : "",
                 k == which ? by : "R", k == which ? ")" : "");
        for (int i = 0; i < ELEMENTS; i++) {
            for (int r = 0; r < RANKS; r++)
                set_element(type, term[k][r], i,
                            k == c->index          ? (uint64_t)(7 * i % ELEMENTS)
                            : r == 0 || k == which ? next_random(&seed)
                                                   : (uint64_t)element(type, term[k][0], i));
            set_element(
                type, whole[k], i,
                k == which ? reduced(by, element(type, term[k][0], i), element(type, term[k][1], i))
                           : (uint64_t)element(type, term[k][0], i));
        }
        in[k] = tsr_from_local(mesh, spec, term[k][tsr_mesh_index(mesh)], &shape);
        snprintf(spec, sizeof spec, "%s[%d]", type, ELEMENTS);
        all[k] = tsr_from_host(mesh, spec, whole[k]);
    }
    y = tsr_op_run(mesh, c->op, in, c->n_in, (const char *const *)c->attrs, n_attrs);
    z = tsr_op_run(mesh, c->op, all, c->n_in, (const char *const *)c->attrs, n_attrs);
    CHECK(tsr_tensor_ok(y) && tsr_tensor_ok(z));
    bytes = (size_t)tsr_shape_count(&tsr_tensor_spec(y)->shape) *
            tsr_dtype_size(tsr_tensor_spec(y)->dtype);
    CHECK(tsr_to_host(y, got, bytes) == TSR_OK && tsr_to_host(z, want, bytes) == TSR_OK);
    if (memcmp(got, want, bytes) != 0)
        fprintf(stderr, "%s %s, input %d at P(%s)\n", c->op, dtype, which, by);
    CHECK(memcmp(got, want, bytes) == 0);
    return TSR_OK;
}

static tsr_status wrapping_job(tsr_mesh *mesh, void *arg)
{
    static const char *const dtypes[] = {"u8", "i32", "i64"};
    static const char *const by[] = {"max", "min", "sum", "prod"};
    (void)arg;

    for (size_t i = 0; i < sizeof wrapping_calls / sizeof wrapping_calls[0]; i++)
        for (int d = 0; d < 3; d++)
            for (int r = 0; r < 4; r++)
                for (int k = 0; k < wrapping_calls[i].n_in; k++) {
                    if (k == wrapping_calls[i].index)
                        continue;
                    tsr_status st = wrapping_one(mesh, &wrapping_calls[i], dtypes[d], k, by[r]);
                    if (st != TSR_OK)
                        return st;
                }
    return TSR_OK;
}

/* By the costs of torch partial inputs stay wherever a rule lets them pass. */
static void partial_integers_pass_where_nothing_wraps(void **state)
{
    (void)state;
    pass_with((tsr_run_opts){.mesh = "2", .cost = "default"}, wrapping_job, NULL);
    pass_with((tsr_run_opts){.mesh = "2", .cost = "torch"}, wrapping_job, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_integers_pass_where_nothing_wraps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
