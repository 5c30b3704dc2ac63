/* SPDX-License-Identifier: Apache-2.0 */
/* test_op_contract.c - what every op accepts, infers and offers, in one line per op: its cases are
   varied by one size, dtype, dim, input or attribute at a time, and for each variation is noted
   whether it is accepted, the outputs, and the rules with what they communicate; composite ops run,
   without data. For the cases themselves, in every dtype, gradients are noted too, and for some
   placements the cheapest strategies. A line has the numbers
   of variations and of accepted ones and a hash of all. Which results are right others test; this
   one notices a check that is gone or off by one, a rule that is offered or missing where no case
   goes, and another choice among equal prices. `make contract` accepts a change. */
#include <ctype.h>

#include "support/test.h"
#include "base/hash.h"
#include "support/sharding_property.h"
#include "layout/cost.h"
#include "op/local_call.h"
#include "op/op_case.h"
#include "op/schema.h"
#include "validate/validate.h"

enum { LINE = 4096, RANKS = 2 };

static const char *contract_path; /* from main */

/* What is known of an op so far; `listed`: every variation is printed. */
typedef struct contract {
    const tsr_op *op;
    tsr_mesh *mesh; /* of a world without data */
    int tried, accepted;
    uint64_t hash;
    bool listed;
} contract;

/* ---- one variation ---- */

static void note(contract *c, const char *text)
{
    for (const char *p = text; *p; p++)
        c->hash = (c->hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    if (c->listed)
        printf("%s", text);
}

/* "R,S(0) -> S(0)", with * if it is not possible here, and the bytes that it communicates. */
static void note_rule(contract *c, const tsr_schema *s, const tsr_rule *rule)
{
    tsr_spec in[TSR_MAX_IN], out[TSR_MAX_OUT];
    const tsr_cost cost = tsr_cost_default();
    char text[TSR_TEXT_LEN], line[LINE];
    const bool offered = tsr__rule_offered(s, rule);

    for (int k = 0; k < s->n_in; k++) {
        in[k] = s->in[k];
        in[k].place[0] = rule->in[k].place;
    }
    for (int k = 0; k < s->n_out; k++)
        out[k] = (tsr_spec){.dtype = s->out_dtype[k],
                            .shape = s->out_shape[k],
                            .mesh = s->in[0].mesh,
                            .place = {rule->out[k].place}};
    snprintf(line, sizeof line, "  %s%s %.0f\n", tsr__rule_text(s, rule, text, sizeof text),
             offered ? "" : " *", offered ? tsr__op_algorithm(s, in, out, &cost).comm.bytes : 0);
    note(c, line);
}

/* ---- a call without data ---- */

typedef struct run_call {
    tsr_tensor *in[TSR_OP_INPUTS], *out[TSR_OP_OUTPUTS];
    char word[TSR_MAX_ATTR][TSR_TEXT_LEN];
    const char *attrs[TSR_MAX_ATTR];
    int n_in, n_attrs;
} run_call;

static void read_call(tsr_mesh *mesh, const char *text, run_call *r)
{
    memset(r, 0, sizeof *r);
    for (size_t i = 0, n; text[i]; i += n + (text[i + n] == ' ')) {
        n = strcspn(text + i, " ");
        if (strcspn(text + i, "=") < n && r->n_attrs < TSR_MAX_ATTR) {
            snprintf(r->word[r->n_attrs], TSR_TEXT_LEN, "%.*s", (int)n, text + i);
            r->attrs[r->n_attrs] = r->word[r->n_attrs];
            r->n_attrs++;
        } else if (r->n_in < TSR_OP_INPUTS) { /* without its range */
            char spec[TSR_TEXT_LEN];
            const size_t shape = strcspn(text + i, "]") + 1;
            snprintf(spec, sizeof spec, "%.*s", (int)(shape < n ? shape : n), text + i);
            r->in[r->n_in++] = text[i] == '-' ? NULL : tsr_zeros(mesh, spec);
        }
    }
}

static void note_tensors(contract *c, const char *what, tsr_tensor *const *x, int n)
{
    char line[LINE], spec[TSR_TEXT_LEN];

    for (int k = 0; k < n; k++)
        if (x[k] && tsr_tensor_ok(x[k])) {
            snprintf(line, sizeof line, "  %s %d: %s\n", what, k,
                     tsr_spec_text(tsr_tensor_spec(x[k]), spec, sizeof spec));
            note(c, line);
        }
}

/* What the call gives, and the gradients of what it gives. */
static bool note_run(contract *c, const char *text, bool with_gradients)
{
    tsr_tensor *grad_out[TSR_OP_OUTPUTS] = {NULL}, *grad_in[TSR_OP_INPUTS] = {NULL};
    char spec[TSR_TEXT_LEN];
    run_call r;
    tsr_status st;

    tsr_scope_push(c->mesh);
    read_call(c->mesh, text, &r);
    st = tsr_op_run_all(c->mesh, c->op->name, r.in, r.n_in, r.attrs, r.n_attrs, r.out);
    note(c, st == TSR_OK ? "  runs" : tsr_status_text(st));
    note(c, "\n");
    if (st == TSR_OK)
        note_tensors(c, "output", r.out, TSR_OP_OUTPUTS);
    if (st == TSR_OK && with_gradients && tsr_op_has_grad(c->op)) {
        for (int k = 0; k < TSR_OP_OUTPUTS; k++)
            if (r.out[k] && tsr__dtype_is_float(tsr_tensor_spec(r.out[k])->dtype))
                grad_out[k] =
                    tsr_zeros(c->mesh, tsr_spec_text(tsr_tensor_spec(r.out[k]), spec, sizeof spec));
        if (tsr_op_grad(c->mesh, c->op->name, r.in, r.n_in, r.attrs, r.n_attrs, r.out, grad_out,
                        NULL, grad_in) == TSR_OK)
            note_tensors(c, "gradient", grad_in, r.n_in);
        else
            note(c, "  no gradient\n");
    }
    tsr_mesh_clear_error(c->mesh);
    tsr_scope_pop(c->mesh);
    return st == TSR_OK;
}

/* ---- a call as planning sees it ---- */

static void try_case(contract *c, const char *text)
{
    const tsr_mesh_shape mesh = tsr__case_mesh(RANKS);
    tsr_heap heap = {0};
    tsr_rules rules = {.heap = &heap};
    tsr_error err = {0};
    tsr_schema s;
    char line[LINE], spec[TSR_TEXT_LEN];
    tsr_status st = tsr__case_read(c->op, text, &mesh, &s, &err);

    c->tried++;
    snprintf(line, sizeof line, "%s %s: %s\n", c->op->name, text,
             st == TSR_OK ? "accepted" : tsr_status_text(st));
    note(c, line);
    if (st != TSR_OK)
        return;
    if (tsr_op_is_composed(c->op)) {
        c->accepted += note_run(c, text, false);
        return;
    }
    c->accepted++;
    for (int k = 0; k < s.n_out; k++) {
        snprintf(line, sizeof line, "  %s%s\n", tsr_dtype_name(s.out_dtype[k]),
                 tsr__schema_gives(&s, k) ? tsr__shape_text(&s.out_shape[k], spec, sizeof spec)
                                          : " is switched off");
        note(c, line);
    }
    if (tsr__all_rules(&s, &rules, &err) != TSR_OK)
        note(c, "  no rules\n");
    for (int i = 0; i < rules.n; i++)
        note_rule(c, &s, &rules.rule[i]);
    tsr__rules_free(&rules);
    assert_int_equal(heap.live, 0);
}

/* The cheapest strategies of a case, by the usual costs, for inputs that are placed at random. */
static void note_strategies(contract *c, const char *text, const char *mesh_text, int seeds)
{
    char line[LINE], spec[TSR_TEXT_LEN];
    tsr_mesh_shape mesh;
    tsr_schema s;
    tsr_op_strategy way;

    assert_int_equal(tsr_mesh_parse(mesh_text, &mesh, NULL), TSR_OK);
    assert_int_equal(tsr__case_read(c->op, text, &mesh, &s, NULL), TSR_OK);
    for (int seed = 0; seed < seeds; seed++) {
        for (int k = 0; k < s.n_in; k++)
            for (int m = 0; m < mesh.ndim && tsr__schema_has(&s, k); m++)
                s.in[k].place[m] = property_placement(
                    tsr__hash_final((uint64_t)(seed * 1000 + k * 10 + m + 1)), &s.in[k]);
        if (tsr_op_plan(&s, NULL, NULL, false, &way, NULL) != TSR_OK) {
            note(c, "  no strategy\n");
            continue;
        }
        for (int k = 0; k < s.n_in + s.n_out; k++) {
            const tsr_spec *to = k < s.n_in ? &way.in[k] : &way.out[k - s.n_in];
            if (k < s.n_in ? !tsr__schema_has(&s, k) : !tsr__schema_gives(&s, k - s.n_in))
                continue;
            snprintf(line, sizeof line, "%s%s", k == s.n_in ? " -> " : " ",
                     tsr_placements_text(to, spec, sizeof spec));
            note(c, line);
        }
        snprintf(line, sizeof line, " %.4g s\n", way.seconds);
        note(c, line);
    }
}

/* The case with the n characters at `at` replaced. */
static void try_changed(contract *c, const char *text, size_t at, size_t n, const char *by)
{
    char changed[LINE];

    snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, text, by, text + at + n);
    try_case(c, changed);
}

/* ---- variations ---- */

/* Every size and every integer of an attribute: one more, one less, 0. */
static void vary_numbers(contract *c, const char *text)
{
    for (size_t i = 0; text[i];) {
        const size_t n = strspn(text + i, "0123456789");
        const char before = i > 0 ? text[i - 1] : ' ';
        char by[32];

        if (n == 0) {
            i++;
            continue;
        }
        if (n < 9 && strchr("[,=-", before) && text[i + n] != '.') {
            const int value = atoi(text + i);
            for (int k = 0; k < 3; k++) {
                const int other = k == 0 ? value + 1 : k == 1 ? value - 1 : 0;
                snprintf(by, sizeof by, "%d", other);
                if (other >= 0 && (k < 2 || value > 1))
                    try_changed(c, text, i, n, by);
            }
        }
        i += n;
    }
}

static bool is_input(const char *word)
{
    return strcspn(word, "=") >= strcspn(word, " ");
}

/* Every input: each dtype, a dim more, a dim less, none. */
static void vary_inputs(contract *c, const char *text)
{
    for (size_t i = 0, n; text[i]; i += n + (text[i + n] == ' ')) {
        const size_t bracket = i + strcspn(text + i, "[ ");
        n = strcspn(text + i, " ");
        if (!is_input(text + i) || text[bracket] != '[')
            continue;
        for (int d = 0; d < TSR__FIELD; d++)
            try_changed(c, text, i, bracket - i, tsr_dtype_name((tsr_dtype)d));
        try_changed(c, text, bracket, 1, text[bracket + 1] == ']' ? "[2" : "[2,");
        try_changed(c, text, bracket + 1, strcspn(text + bracket + 1, ",]") + 1,
                    text[bracket + 1 + strcspn(text + bracket + 1, ",]")] == ']' ? "]" : "");
        try_changed(c, text, i, n, "-");
    }
}

/* All inputs of f64 in every dtype. */
static void vary_dtypes(contract *c, const char *text)
{
    for (int d = 0; d < TSR__FIELD; d++) {
        char changed[LINE] = "";
        size_t used = 0;

        for (const char *p = text; *p && used < sizeof changed - 8;) {
            if (strncmp(p, "f64[", 4) != 0) {
                changed[used++] = *p++;
                continue;
            }
            used += (size_t)snprintf(changed + used, sizeof changed - used, "%s[",
                                     tsr_dtype_name((tsr_dtype)d));
            p += 4;
        }
        changed[used] = 0;
        if (strcmp(changed, text) != 0)
            try_case(c, changed);
        if (tsr__dtype_is_float((tsr_dtype)d))
            note_run(c, changed, true);
    }
}

/* The case with this attribute, instead of the one that it has. */
static void try_attr(contract *c, const char *text, const char *name, size_t n, const char *value,
                     size_t length)
{
    char changed[LINE] = "";
    size_t used = 0;

    for (size_t i = 0, word; text[i]; i += word + (text[i + word] == ' ')) {
        word = strcspn(text + i, " ");
        if (strncmp(text + i, name, n) != 0 || text[i + n] != '=')
            used += (size_t)snprintf(changed + used, sizeof changed - used, "%s%.*s",
                                     used ? " " : "", (int)word, text + i);
    }
    snprintf(changed + used, sizeof changed - used, " %.*s=%.*s", (int)n, name, (int)length, value);
    try_case(c, changed);
}

static void vary_attr(contract *c, const char *text, const char *name, size_t n, const char *type,
                      size_t length)
{
    static const struct {
        const char *type, *values[10];
    } usual[] = {
        {"int", {"-2", "-1", "0", "1", "2", "3"}},
        {"dim", {"-2", "-1", "0", "1", "2", "3"}},
        {"ints", {"-1", "0", "1", "2", "3", "1,2", "0,-1", "1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1"}},
        {"dims", {"-1", "0", "1", "2", "3", "1,2", "0,-1", "1,1,1,1,1,1,1,1", "1,1,1,1,1,1,1,1,1"}},
        {"bool", {"true", "false"}},
        {"float", {"-1", "0", "0.5", "1", "2"}},
        {"number", {"-1", "0", "0.5", "1", "2"}},
        {"dtype", {"f32", "f64", "bf16", "i32", "i64", "u8", "bool"}},
    };

    if (memchr(type, '|', length))
        for (size_t at = 0; at < length;) {
            const size_t one = strcspn(type + at, "|=,");
            try_attr(c, text, name, n, type + at, one);
            at += one + 1;
        }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strlen(usual[i].type) == length && strncmp(usual[i].type, type, length) == 0)
            for (int k = 0; usual[i].values[k]; k++)
                try_attr(c, text, name, n, usual[i].values[k], strlen(usual[i].values[k]));
}

/* "dim:dim=-1,dims:dims?,by:mean|sum" */
static void vary_attrs(contract *c, const char *text)
{
    for (const char *p = c->op->attrs ? c->op->attrs : ""; *p;) {
        const size_t name = strcspn(p, ":"), type = strcspn(p + name + 1, "=,?");

        vary_attr(c, text, p, name, p + name + 1, type);
        p += strcspn(p, ",");
        p += *p == ',';
    }
}

static contract contract_of(tsr_mesh *mesh, const tsr_op *op, bool listed)
{
    contract c = {.op = op, .mesh = mesh, .hash = UINT64_C(0xcbf29ce484222325), .listed = listed};

    for (const char *const *text = op->cases; text && *text; text++) {
        try_case(&c, *text);
        if (!tsr_op_is_composed(op)) {
            note_strategies(&c, *text, "3", 3);
            note_strategies(&c, *text, "2x2", 6);
        }
        vary_numbers(&c, *text);
        vary_inputs(&c, *text);
        vary_dtypes(&c, *text);
        vary_attrs(&c, *text);
    }
    return c;
}

static const char *contract_text(const contract *c, char *buf, size_t n)
{
    snprintf(buf, n, "%s %d %d %016llx", c->op->name, c->tried, c->accepted,
             (unsigned long long)c->hash);
    return buf;
}

/* ---- the list ---- */

/* What main was asked to do: compare with the list, write it, or print an op's variations. */
typedef struct task {
    enum { COMPARE, UPDATE, PRINT } kind;
    const char *path, *op;
    int changed;
} task;

static void compare_line(task *t, FILE *file, const char *now)
{
    char listed[256] = "";

    if (fgets(listed, sizeof listed, file))
        listed[strcspn(listed, "\n")] = 0;
    if (strcmp(listed, now) == 0)
        return;
    t->changed++;
    fprintf(stderr, "the list says \"%s\", it is \"%s\"\n", listed, now);
}

static tsr_status contract_job(tsr_mesh *mesh, void *arg)
{
    task *t = arg;
    FILE *file = t->kind == PRINT ? NULL : fopen(t->path, t->kind == UPDATE ? "w" : "r");
    char line[256];

    CHECK(t->kind == PRINT || file);
    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op *op = tsr_op_row(i);

        if (t->kind == PRINT && strcmp(op->name, t->op) != 0)
            continue;
        const contract c = contract_of(mesh, op, t->kind == PRINT);
        contract_text(&c, line, sizeof line);
        if (t->kind == UPDATE)
            fprintf(file, "%s\n", line);
        if (t->kind == COMPARE)
            compare_line(t, file, line);
    }
    CHECK(t->kind != COMPARE || !fgets(line, sizeof line, file)); /* no op is gone */
    CHECK(!file || fclose(file) == 0);
    return TSR_OK;
}

static const tsr_run_opts WITHOUT_DATA = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_SIM);

static void ops_do_what_the_list_says(void **state)
{
    task t = {.kind = COMPARE, .path = contract_path};
    (void)state;

    pass_with(WITHOUT_DATA, contract_job, &t);
    if (t.changed)
        fail_msg("%d ops accept, infer or offer something else than before: test_op_contract list "
                 "OP prints every variation, here and in an older build; make contract accepts it",
                 t.changed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_do_what_the_list_says),
    };
    task t = {.kind = PRINT};

    if (argc == 2) {
        contract_path = argv[1];
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (argc != 3)
        return 2;
    t.path = t.op = argv[2];
    if (strcmp(argv[1], "update") == 0)
        t.kind = UPDATE;
    return tsr_run(&WITHOUT_DATA, contract_job, &t, NULL) != TSR_OK;
}
