/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx.c - the node tests of ONNX (Debian's libonnx-testdata): small graphs with inputs and
   the outputs that they must give. Each runs by onnx_map.h on one rank, and on a 2x2 mesh with
   sampled placements. What the library does not mean to do (strings, sequences, other dtypes) is
   counted with its reason; operators without a row, or whose op is not there, are listed. An
   operator that has a row and tests passes one.

   test_onnx DIR [NAME]: the folder of the tests, and one test alone. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/hash.h"
#include "support/sharding_property.h"
#include "onnx_map.h"
#include "support/sampling.h"
#include "support/opts.h"

enum { NAMES = 256, TESTS = 2048, SAMPLES = 3 };

typedef enum verdict { PASSED, FAILED, DIFFERS, UNCOVERED } verdict;

/* One test: a graph, its inputs and what must come out. */
typedef struct node_test {
    const char *name;
    Onnx__ModelProto *model;
    int n_in, n_out;
    onnx_host in[ONNX_IN], out[ONNX_OUT];
    uint64_t sample; /* where inputs are; 0: replicated */
    /* what came of it, by the first rank */
    verdict verdict;
    char why[TSR_TEXT_LEN];
} node_test;

/* ---- reading ---- */

static bool read_tensors(const char *dir, const char *what, onnx_host *out, int cap, int *n,
                         const char **why)
{
    char path[1024];

    for (*n = 0; *n < cap; (*n)++) {
        snprintf(path, sizeof path, "%.900s/test_data_set_0/%s_%d.pb", dir, what, *n);
        if (!onnx_tensor_read(path, &out[*n], why))
            return true;
        if (*why)
            return false;
    }
    return true;
}

static bool is_tensor(const Onnx__ValueInfoProto *v)
{
    return v->type && v->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
}

/* Files hold bf16 as u16, which numpy has; the graph says what is meant. */
static void set_half(Onnx__ValueInfoProto *const *info, size_t n_info, onnx_host *x, int n)
{
    for (size_t k = 0; k < n_info && (int)k < n; k++)
        if (x[k].dtype == TSR_U16 &&
            info[k]->type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
            x[k].dtype = TSR_BF16;
}

/* False: the verdict is there already. */
static bool read_test(const char *dir, node_test *t)
{
    const Onnx__GraphProto *g;
    const char *why = NULL;
    char path[1024];

    snprintf(path, sizeof path, "%.900s/model.onnx", dir);
    t->model = onnx_model_read(path);
    if (!t->model || !t->model->graph) {
        t->verdict = FAILED;
        snprintf(t->why, sizeof t->why, "%.400s cannot be read", path);
        return false;
    }
    g = t->model->graph;
    for (size_t i = 0; i < g->n_input + g->n_output && !why; i++)
        if (!is_tensor(i < g->n_input ? g->input[i] : g->output[i - g->n_input]))
            why = "sequences and optionals";
    if (!why)
        read_tensors(dir, "input", t->in, ONNX_IN, &t->n_in, &why);
    if (!why)
        read_tensors(dir, "output", t->out, ONNX_OUT, &t->n_out, &why);
    t->verdict = DIFFERS;
    snprintf(t->why, sizeof t->why, "%s", why ? why : "");
    if (!why) {
        set_half(g->input, g->n_input, t->in, t->n_in);
        set_half(g->output, g->n_output, t->out, t->n_out);
    }
    return !why;
}

static void free_test(node_test *t)
{
    for (int k = 0; k < ONNX_IN; k++)
        onnx_host_free(&t->in[k]);
    for (int k = 0; k < ONNX_OUT; k++)
        onnx_host_free(&t->out[k]);
    if (t->model)
        onnx__model_proto__free_unpacked(t->model, NULL);
}

/* ---- running a graph ---- */

typedef struct values {
    int n;
    const char *name[NAMES];
    tsr_tensor *x[NAMES];
} values;

static tsr_tensor *value_of(const values *v, const char *name)
{
    for (int i = v->n - 1; i >= 0; i--)
        if (strcmp(v->name[i], name) == 0)
            return v->x[i];
    return NULL;
}

static void set_value(values *v, const char *name, tsr_tensor *x)
{
    if (v->n < NAMES) {
        v->name[v->n] = name;
        v->x[v->n++] = x;
    }
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return tsr__hash_final(tsr__hash_mix(tsr__hash_mix(31, a), b));
}

static tsr_tensor *place(tsr_mesh *mesh, const onnx_host *h, uint64_t sample)
{
    tsr_spec spec = {.dtype = h->dtype, .shape = h->shape, .mesh = *tsr_mesh_shape_get(mesh)};
    char text[TSR_TEXT_LEN];

    for (int m = 0; m < spec.mesh.ndim && sample; m++)
        spec.place[m] = property_placement(mixed(sample, (uint64_t)m), &spec);
    return from_host(mesh, tsr_spec_text(&spec, text, sizeof text), h->data);
}

/* Sets verdict and why if it cannot run. */
static bool run_node(tsr_mesh *mesh, const Onnx__NodeProto *node, values *v, node_test *t)
{
    onnx_call c = {.mesh = mesh,
                   .node = node,
                   .n_in = (int)node->n_input < ONNX_IN ? (int)node->n_input : ONNX_IN,
                   .n_out = (int)node->n_output < ONNX_OUT ? (int)node->n_output : ONNX_OUT};
    const bool first = tsr_mesh_rank(mesh) == 0;

    for (int k = 0; k < c.n_in; k++)
        c.in[k] = node->input[k][0] ? value_of(v, node->input[k]) : NULL;
    if (!onnx_node_run(&c))
        snprintf(c.missing, sizeof c.missing, "a row");
    if (c.missing[0] || c.differs[0]) {
        if (first) {
            t->verdict = c.missing[0] ? UNCOVERED : DIFFERS;
            snprintf(t->why, sizeof t->why, "%s: %s", node->op_type,
                     c.missing[0] ? c.missing : c.differs);
        }
        return false;
    }
    for (int k = 0; k < c.n_out; k++)
        set_value(v, node->output[k], c.out[k]);
    if (tsr_mesh_status(mesh) == TSR_OK)
        return true;
    if (first)
        snprintf(t->why, sizeof t->why, "%s: %.400s", node->op_type, tsr_mesh_message(mesh));
    return false;
}

/* ---- comparing ---- */

static void compare(tsr_mesh *mesh, tsr_tensor *y, const onnx_host *want, int k, node_test *t)
{
    const bool first = tsr_mesh_rank(mesh) == 0;
    const int64_t n = tsr_shape_count(&want->shape);
    char text[TSR_TEXT_LEN];
    void *got;

    if (!y || !tsr_shape_equal(&tsr_tensor_spec(y)->shape, &want->shape) ||
        tsr_tensor_spec(y)->dtype != want->dtype) {
        if (first && !t->why[0])
            snprintf(t->why, sizeof t->why, "output %d is %.200s", k,
                     y ? tsr_spec_text(tsr_tensor_spec(y), text, sizeof text) : "not there");
        return;
    }
    got = malloc((size_t)n * tsr_dtype_size(want->dtype) + 1);
    if (got && tsr_to_host(y, got, (size_t)n * tsr_dtype_size(want->dtype)) == TSR_OK)
        for (int64_t i = 0; i < n && first && !t->why[0]; i++) {
            double a = tsr__get(want->dtype, got, i), b = tsr__get(want->dtype, want->data, i);

            if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= 1e-7 + 1e-3 * fabs(b)))
                snprintf(t->why, sizeof t->why, "output %d, element %lld is %.9g, not %.9g", k,
                         (long long)i, a, b);
        }
    else if (first && !t->why[0])
        snprintf(t->why, sizeof t->why, "output %d: %.400s", k, tsr_mesh_message(mesh));
    free(got);
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    node_test *t = arg;
    const Onnx__GraphProto *g = t->model->graph;
    values *v = calloc(1, sizeof *v);
    bool runs = v != NULL;

    for (size_t i = 0; runs && i < g->n_initializer; i++) {
        onnx_host h;
        if (onnx_tensor_of(g->initializer[i], &h))
            continue;
        set_value(v, g->initializer[i]->name, place(mesh, &h, 0));
        onnx_host_free(&h);
    }
    for (int k = 0; runs && k < t->n_in && k < (int)g->n_input; k++)
        set_value(v, g->input[k]->name,
                  place(mesh, &t->in[k], t->sample ? mixed(t->sample, 100 + (uint64_t)k) : 0));
    for (size_t i = 0; runs && i < g->n_node; i++)
        runs = run_node(mesh, g->node[i], v, t);
    for (int k = 0; runs && k < t->n_out && k < (int)g->n_output; k++)
        compare(mesh, value_of(v, g->output[k]->name), &t->out[k], k, t);
    free(v);
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void run_on(node_test *t, const char *mesh, uint64_t sample)
{
    tsr_run_opts opts =
        RUN_OPTS(.mesh = mesh, .world = TSR_WORLD_THREAD, .has_timeout = true, .timeout_ms = 20000);
    tsr_error err = {0};
    char why[TSR_TEXT_LEN];

    t->verdict = FAILED;
    t->why[0] = 0;
    t->sample = sample;
    if (tsr_run(&opts, job, t, &err) != TSR_OK && !t->why[0])
        snprintf(t->why, sizeof t->why, "%.400s", err.text);
    if (t->verdict == FAILED && !t->why[0])
        t->verdict = PASSED;
    if (t->verdict != FAILED)
        return;
    snprintf(why, sizeof why, "%.400s", t->why);
    snprintf(t->why, sizeof t->why, "on %s, sample %d: %.400s", mesh, (int)sample, why);
}

static void run_test(const char *dir, node_test *t)
{
    if (!read_test(dir, t))
        return;
    run_on(t, "1", 0);
    for (uint64_t i = 1; i <= SAMPLES && t->verdict == PASSED; i++)
        run_on(t, "2x2", i);
}

/* ---- all of them ---- */

/* By operator: of graphs with several nodes, what the test's name begins with is not known, so they
   count for the first node that is no constant. */
typedef struct count {
    char name[64];
    int of[UNCOVERED + 1];
} count;

typedef struct tally {
    int n, n_why;
    count op[NAMES], why[NAMES];
    int of[UNCOVERED + 1];
} tally;

static void count_in(count *list, int *n, const char *name, verdict v)
{
    int i = 0;

    while (i < *n && strcmp(list[i].name, name) != 0)
        i++;
    if (i == NAMES)
        return;
    if (i == *n)
        snprintf(list[(*n)++].name, sizeof list[0].name, "%.60s", name);
    list[i].of[v]++;
}

static const char *operator_of(const node_test *t)
{
    const Onnx__GraphProto *g = t->model ? t->model->graph : NULL;

    return !g || g->n_node == 0 ? "?" : g->n_node == 1 ? g->node[0]->op_type : "graphs of several";
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const count *)a)->name, ((const count *)b)->name);
}

static void print_tally(tally *all)
{
    qsort(all->op, (size_t)all->n, sizeof all->op[0], by_name);
    for (int i = 0; i < all->n; i++)
        if (all->op[i].of[PASSED] + all->op[i].of[FAILED] > 0)
            printf("%-28s %3d passed, %d failed\n", all->op[i].name, all->op[i].of[PASSED],
                   all->op[i].of[FAILED]);
    printf("\nnot applicable:\n");
    for (int i = 0; i < all->n_why; i++)
        printf("  %3d  %s\n", all->why[i].of[DIFFERS], all->why[i].name);
    printf("\nnot covered:");
    for (int i = 0; i < all->n; i++)
        if (all->op[i].of[UNCOVERED] > 0)
            printf(" %s(%d)", all->op[i].name, all->op[i].of[UNCOVERED]);
    printf("\n\n%d passed, %d failed, %d not applicable, %d not covered\n", all->of[PASSED],
           all->of[FAILED], all->of[DIFFERS], all->of[UNCOVERED]);
}

/* Operators with a row and tests, of which none passes because an op is missing. */
static int rows_without_ops(const tally *all)
{
    int wrong = 0;

    for (int i = 0; i < all->n; i++) {
        const count *c = &all->op[i];
        const onnx_row *r;

        for (int k = 0; (r = onnx_row_at(k)) && strcmp(r->onnx, c->name) != 0;)
            k++;
        if (!r || c->of[PASSED] > 0 || c->of[UNCOVERED] == 0)
            continue;
        printf("%s has a row, but no test of it passes\n", c->name);
        wrong++;
    }
    return wrong;
}

static int names_of(const char *dir, const char *only, char (*name)[128])
{
    DIR *d = opendir(dir);
    struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d)) && n < TESTS)
        if (strncmp(e->d_name, "test_", 5) == 0 && (!only || strcmp(e->d_name, only) == 0))
            snprintf(name[n++], sizeof name[0], "%.120s", e->d_name);
    if (d)
        closedir(d);
    qsort(name, (size_t)n, sizeof name[0], (int (*)(const void *, const void *))strcmp);
    return n;
}

int main(int argc, char **argv)
{
    char(*name)[128] = calloc(TESTS, sizeof *name), dir[1024];
    tally *all = calloc(1, sizeof *all);
    int n = name && argc > 1 ? names_of(argv[1], argc > 2 ? argv[2] : NULL, name) : 0;
    int every = argc > 2 || !is_slow_build() ? 1 : (int)sample_every(), failed = 1;

    if (n == 0)
        fprintf(stderr, "there are no node tests in %s: install libonnx-testdata\n",
                argc > 1 ? argv[1] : "(no folder given)");
    for (int i = (int)sample_first(every); i < n && all; i += every) {
        node_test t = {.name = name[i]};

        snprintf(dir, sizeof dir, "%.800s/%s", argv[1], name[i]);
        run_test(dir, &t);
        if (t.verdict == FAILED || argc > 2)
            printf("%s: %s\n", t.name, t.verdict == PASSED ? "passed" : t.why);
        if (t.verdict == DIFFERS)
            count_in(all->why, &all->n_why, t.why, DIFFERS);
        count_in(all->op, &all->n, operator_of(&t), t.verdict);
        all->of[t.verdict]++;
        free_test(&t);
    }
    if (n > 0 && all) {
        print_tally(all);
        failed = all->of[FAILED] > 0 || all->of[PASSED] == 0 ||
                 (every == 1 && argc == 2 && rows_without_ops(all) > 0);
    }
    free(all);
    free(name);
    return failed;
}
