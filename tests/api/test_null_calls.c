/* SPDX-License-Identifier: Apache-2.0 */
/* Misuse: every public function is called with NULL, and with an error tensor, for each of its
   arguments in turn. None may crash; those that can say so return an error whose sentence names the
   function or the argument. The calls are made from the headers by make_null_calls. */
#include <ctype.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "null_calls.h"

/* ---- arguments ---- */

tsr_status null_calls_job(tsr_mesh *mesh, void *arg)
{
    (void)mesh, (void)arg;
    return TSR_OK;
}

tsr_tensor *null_calls_function(tsr_tensor *const *in, int n_in, void *arg)
{
    (void)arg;
    return n_in > 0 ? tsr_add(in[0], in[0]) : NULL;
}

tsr_mesh *null_calls_taped(null_calls *f)
{
    tsr_tape_begin(f->mesh);
    return f->mesh;
}

tsr_mesh *null_calls_paused(null_calls *f)
{
    tsr_tape_pause(f->mesh);
    return f->mesh;
}

tsr_mesh *null_calls_pushed(null_calls *f)
{
    tsr_scope_push(f->mesh);
    return f->mesh;
}

tsr_tensor *const *null_calls_losses(null_calls *f)
{
    tsr_tape_begin(f->mesh);
    f->losses[0] = tsr_sum(f->watched, NULL, 0, false);
    return f->losses;
}

tsr_tensor *null_calls_in_scope(null_calls *f)
{
    tsr_scope_push(f->mesh);
    return made(f, "f32[4]");
}

tsr_tensor *null_calls_kept(null_calls *f)
{
    return tsr_keep(made(f, "f32[4]"));
}

tsr_tensor *null_calls_owed(null_calls *f)
{
    f->owed = made(f, "f32[4]");
    return f->owed;
}

tsr_mesh *null_calls_mesh(null_calls *f)
{
    tsr_mesh *mesh = NULL;

    tsr_mesh_sub(f->mesh, "0", &mesh);
    return mesh;
}

tsr_mesh *null_calls_mesh_to_ref(null_calls *f)
{
    f->owed_mesh = null_calls_mesh(f);
    return f->owed_mesh;
}

tsr_redist *null_calls_plan(null_calls *f)
{
    tsr_redist *plan = NULL;
    tsr_spec to = f->spec;

    to.place[0] = (tsr_placement){.kind = TSR_REPLICATE};
    tsr_redist_plan(&f->spec, &to, &f->cost, 0, TSR_RIVAL_BEST, &plan, NULL);
    return plan;
}

tsr_optimizer *null_calls_optimizer(null_calls *f)
{
    tsr_optimizer *optimizer = NULL;

    tsr_optimizer_new(f->mesh, &(tsr_optimizer_opts)OPTIMIZER_OPTS(TSR_ADAM, .lr = 0.1),
                      f->watched_list, 1, &optimizer);
    return optimizer;
}

tsr_dataset *null_calls_dataset(null_calls *f)
{
    tsr_dataset *data = NULL;

    dataset_from_host(f->mesh, TSR_U8, &f->shape, f->data, &data);
    return data;
}

tsr_params *null_calls_params(null_calls *f)
{
    tsr_params *params = NULL;

    tsr_params_new(f->mesh, TSR_F32, 1, &params);
    tsr_param(params, "w", "[4]", NULL, (tsr_init){0});
    return params;
}

tsr_request *null_calls_request(null_calls *f)
{
    tsr_request *request = NULL;

    tsr_collective_start(f->mesh, &f->collective, &request);
    return request;
}

const char *null_calls_npy(null_calls *f)
{
    tsr_save_npy(f->x, f->file);
    return f->file;
}

const char *null_calls_idx(null_calls *f)
{
    static const unsigned char bytes[] = {0, 0, 8, 1, 0, 0, 0, 4, 1, 2, 3, 4};
    FILE *file = fopen(f->idx, "wb");

    if (file) {
        fwrite(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    return f->idx;
}

static void fill_plain(null_calls *f, tsr_mesh *mesh)
{
    static const int64_t sizes[] = {4, 4, 1, 1, 1, 1, 1, 1};
    static const char *const cases[] = {"f64[2]", NULL};
    static char name[] = "test";

    f->null = f->failed = f->holes = -1;
    f->mesh = mesh;
    f->argv[0] = name;
    f->peer = 1 - tsr_mesh_rank(mesh);
    for (int d = 0; d < TSR_MAX_DIM; d++) {
        f->sizes[d] = sizes[d];
        f->halves[d] = 2;
        f->threes[d] = 3;
        f->order[d] = d;
        f->no_dims[d] = -1;
        f->flags[d] = true;
    }
    snprintf(f->file, sizeof f->file, "null_calls_%d.npy", getpid());
    snprintf(f->idx, sizeof f->idx, "null_calls_%d_%d.idx", getpid(), tsr_mesh_rank(mesh));
    f->attrs[0] = "dim=0";
    f->cost = f->cost_out = mesh_cost(mesh);
    f->mesh_shape = *tsr_mesh_shape_get(mesh);
    f->shape = (tsr_shape){.ndim = 1, .size = {4}};
    f->local = (tsr_shape){.ndim = 2, .size = {2, 4}};
    f->run_opts = (tsr_run_opts)RUN_OPTS(.mesh = "1", .world = TSR_WORLD_THREAD);
    f->collective = (tsr_collective){
        .kind = TSR_COLL_ALL_REDUCE, .dtype = TSR_F64, .send = f->data, .recv = f->recv, .n = 4};
    f->batches = (tsr_batches){.samples = 4, .size = 2};
    f->table_facts = (tsr_table_facts){.rows = 8, .columns = 4, .lookups = 4, .length = 1};
    f->tables_opts = (tsr_tables_opts)TABLES_OPTS(.ranks = 2);
    f->schedule = (tsr_schedule)SCHEDULE(.lr = 1);
    f->attention_opts = tsr_attention_opts_default();
    f->class_opts = tsr_class_opts_default();
    f->conv_opts = tsr_conv_opts_default();
    f->embedding_opts = tsr_embedding_opts_default();
    f->norm_opts = tsr_norm_opts_default();
    f->optimizer_opts = tsr_optimizer_opts_default(TSR_SGD);
    f->pool_opts = tsr_pool_opts_default();
    f->kernel_sku = tsr_kernel_at(0);
    tsr_kernel_sku_text(&f->kernel_sku, f->text, sizeof f->text);
    f->op = tsr_op_find(NULL, "add");
    f->row = *tsr_op_find(NULL, "neg");
    f->row.size = sizeof f->row;
    f->row.name = "own";
    f->row.cases = cases;
    f->rules.heap = &f->heap;
    f->rules.schema = &f->schema;
}

static tsr_status fill_tensors(null_calls *f)
{
    tsr_mesh *mesh = f->mesh;
    tsr_tensor *whole = made(f, "f32[4,4]");

    f->x = made(f, "f32[4,4]@[S(0)]");
    f->added = tsr_add(f->x, f->x);
    f->watched = tsr_watch(made(f, "f32[4]@[S(0)]"));
    tsr_grad_set(f->watched, made(f, "f32[4]@[S(0)]"));
    f->ones[0] = made(f, "f32[]");
    f->watched_list[0] = f->watched_list[1] = f->watched;
    for (int i = 0; i < NULL_CALLS_LIST; i++)
        f->list[i] = f->x;
    f->out_list[0] = f->added;
    f->rows_list[0] = f->rows_list[1] = f->x;
    f->lists[0] = f->lists[1] = f->list;
    f->table_use = (tsr_table_use){.table = f->x, .ids = made(f, "i64[4]")};
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    f->spec = *tsr_tensor_spec(f->x);
    f->specs[0] = f->specs[1] = f->spec;
    f->plan = null_calls_plan(f);
    f->optimizer = null_calls_optimizer(f);
    f->dataset = null_calls_dataset(f);
    f->params = null_calls_params(f);
    CHECK(tsr_embedding_backward_sparse(whole, f->table_use.ids, whole, NULL, &f->row_sparse) ==
          TSR_OK);
    f->error = tsr_zeros(mesh, "none");
    for (int i = 0; i < NULL_CALLS_LIST; i++)
        f->error_list[i] = f->error;
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static tsr_status fill_plans(null_calls *f)
{
    tsr_mesh *mesh = f->mesh;
    tsr_spec in[2];
    bool reverse;

    CHECK(tsr_schema_make(f->op, f->specs, 2, NULL, 0, &f->schema, &f->err) == TSR_OK);
    CHECK(tsr_op_plan(&f->schema, NULL, NULL, false, &f->op_strategy, &f->err) == TSR_OK);
    CHECK(tsr_spec_parse("f32[2,2,8]@[S(2)]", &f->mesh_shape, &in[0], &f->err) == TSR_OK);
    CHECK(tsr_spec_parse("f32[2,2,3]", &f->mesh_shape, &in[1], &f->err) == TSR_OK);
    CHECK(tsr_schema_make(tsr_op_find(NULL, "conv"), in, 2, NULL, 0, &f->conv_schema, &f->err) ==
          TSR_OK);
    CHECK(tsr_op_plan(&f->conv_schema, NULL, NULL, false, &f->conv_strategy, &f->err) == TSR_OK);
    CHECK(tsr_op_windows(&f->conv_schema, NULL, &f->conv_strategy, &f->windows, &reverse,
                         &f->err) == TSR_OK);
    return TSR_OK;
}

static void release(null_calls *f)
{
    while (tsr_scope_pop(f->mesh) == TSR_OK)
        ;
    tsr_tape_drop(f->mesh);
    tsr_row_sparse_free(&f->row_sparse);
    tsr_row_sparse_free(&f->row_sparse_out);
    tsr_redist_free(f->plan);
    tsr_redist_free(f->plan_out);
    tsr_optimizer_free(f->optimizer);
    tsr_optimizer_free(f->optimizer_out);
    tsr_dataset_free(f->dataset);
    tsr_dataset_free(f->dataset_out);
    tsr_params_free(f->params);
    tsr_params_free(f->params_out);
    tsr_mesh_unref(f->mesh_out);
    tsr_mesh_unref(f->owed_mesh);
    tsr_mesh_unref(f->owed_mesh);
    tsr_unref(f->owed);
    if (f->request_out)
        tsr_request_finish_take(f->request_out);
    tsr__rules_free(&f->rules);
    remove(f->idx);
}

/* ---- one call ---- */

/* Which call, and what is wrong with it. */
typedef struct null_case {
    const null_call *call;
    int null, failed, holes;
} null_case;

/* The argument that is wrong, -1 if none is. */
static int wrong_of(const null_case *c)
{
    return c->null >= 0 ? c->null : c->failed >= 0 ? c->failed : c->holes;
}

static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]))
            return true;
    return false;
}

/* Does the sentence speak of the function or of the argument? A word of their names will do, as
   "lerp" of tsr_lerp_by, or the op that the call names. */
static bool is_named(const null_case *c, const char *text)
{
    int k = wrong_of(c);
    char name[TSR_TEXT_LEN], *rest;

    snprintf(name, sizeof name, "%s", c->call->name + strlen("tsr_"));
    if (k >= 0)
        snprintf(name + strlen(name), sizeof name - strlen(name), "_%s", c->call->param[k].name);
    for (char *word = strtok_r(name, "_", &rest); word; word = strtok_r(NULL, "_", &rest))
        if (strlen(word) > 2 ? strstr(text, word) != NULL : has_word(text, word))
            return true;
    for (int i = 0; i < c->call->n_params; i++)
        if (strcmp(c->call->param[i].name, "name") == 0 && has_word(text, "add"))
            return true;
    return false;
}

/* Is there an argument left that has a place for a sentence? */
static bool can_tell(const null_case *c)
{
    for (int k = 0; k < c->call->n_params; k++)
        if (c->call->param[k].tells && k != c->null && k != c->holes)
            return true;
    return false;
}

static void complain(const null_case *c, const char *what, const char *text)
{
    const null_call *call = c->call;
    int k = wrong_of(c);

    fprintf(stderr, "%s with %s %s: %s%s%s\n", call->name, k >= 0 ? call->param[k].name : "nothing",
            c->null >= 0     ? "NULL"
            : c->failed >= 0 ? "an error tensor"
            : c->holes >= 0  ? "of NULL"
                             : "wrong",
            what, *text ? ": " : "", text);
}

/* What is wrong with what came of the call; NULL: nothing. */
static const char *judge(const null_case *c, const null_calls *f, const null_outcome *o,
                         const char *text)
{
    const null_call *call = c->call;
    const int k = wrong_of(c);
    const bool wrong = k >= 0 && !(c->null >= 0 && call->param[k].optional) &&
                       !(c->holes >= 0 && call->param[k].sparse);
    const bool told = tsr_mesh_status(f->mesh) != TSR_OK || f->err.code != TSR_OK;
    bool failed = wrong && c->null >= 0;

    if (o->text && strlen(o->text) >= TSR_TEXT_LEN)
        return "returns no text";
    if (call->returns == RETURNS_STATUS)
        failed = o->status != TSR_OK;
    else if (call->returns == RETURNS_TENSOR)
        failed = !tsr_tensor_ok(o->tensor);
    else if (call->returns != RETURNS_VOID || c->failed >= 0)
        return NULL;
    if (failed != wrong)
        return failed ? "fails" : "succeeds";
    if (failed && c->failed < 0 && !told && can_tell(c)) /* the error tensor's was told before */
        return "says nothing";
    if (told && !is_named(c, text))
        return "names neither function nor argument";
    return NULL;
}

static tsr_status make_call(tsr_mesh *mesh, void *arg)
{
    const null_case *c = arg;
    null_calls *f = calloc(1, sizeof *f);
    null_outcome o = {0};
    tsr_status st;
    const char *wrong, *text;

    if (!f)
        return TSR_ERR_MEMORY;
    fill_plain(f, mesh);
    TSR_TRY(fill_tensors(f));
    TSR_TRY(fill_plans(f));
    f->null = c->null;
    f->failed = c->failed;
    f->holes = c->holes;
    f->err = (tsr_error){0};
    c->call->call(f, &o);
    text = *f->err.text ? f->err.text : tsr_mesh_message(mesh);
    wrong = judge(c, f, &o, text);
    if (wrong)
        complain(c, wrong, text);
    tsr_mesh_clear_error(mesh);
    release(f);
    tsr_mesh_clear_error(mesh);
    tsr_barrier(mesh);
    remove(f->file);
    st = wrong ? TSR_ERR_MISMATCH : TSR_OK;
done:
    free(f);
    return st;
}

/* ---- all calls, in children so that a crash is one more failure ---- */

/* Cases are numbered: per function, none wrong, then three kinds of wrong for each argument. */
enum { KINDS = 3, PER_CALL = 1 + KINDS * NULL_CALLS_PARAMS };

static bool case_of(int number, null_case *out)
{
    const null_call *call = &null_calls_all[number / PER_CALL];
    int wrong = number % PER_CALL - 1, k = wrong / KINDS;

    *out = (null_case){.call = call, .null = -1, .failed = -1, .holes = -1};
    if (wrong < 0)
        return call->alike;
    if (k >= call->n_params)
        return false;
    if (wrong % KINDS == 0)
        out->null = k;
    else if (wrong % KINDS == 1)
        out->failed = k;
    else
        out->holes = k;
    return wrong % KINDS == 0   ? call->param[k].kind != IS_VALUE
           : wrong % KINDS == 1 ? call->param[k].kind >= IS_TENSOR
                                : call->param[k].kind == IS_LIST;
}

/* What a child has done so far. */
typedef struct progress {
    int at, failures, calls;
} progress;

static bool is_asked(const char *name)
{
    const char *only = getenv("TESSERA_TEST_CALLS");

    return !only || strstr(name, only);
}

static void run_cases(progress *p)
{
    for (; null_calls_all[p->at / PER_CALL].name; p->at++) {
        tsr_run_opts opts = RUN_OPTS(.mesh = "2", .world = TSR_WORLD_THREAD, .has_timeout = true,
                                     .timeout_ms = 10000);
        tsr_error err = {0};
        null_case c;

        if (!case_of(p->at, &c) || !is_asked(c.call->name))
            continue;
        p->calls++;
        if (tsr_run(&opts, make_call, &c, &err) == TSR_OK)
            continue;
        p->failures++;
        if (err.code != TSR_ERR_MISMATCH)
            complain(&c, "ended with", err.text);
    }
}

static void all_calls(void **state)
{
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    (void)state;
    assert_true(p != MAP_FAILED);
    while (null_calls_all[p->at / PER_CALL].name) {
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            run_cases(p);
            exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            break;
        null_case c;
        case_of(p->at++, &c);
        complain(&c, "crashes", "");
        p->failures++;
    }
    print_message("%d calls, %d wrong\n", p->calls, p->failures);
    assert_true(p->calls > 1000 || getenv("TESSERA_TEST_CALLS"));
    assert_int_equal(p->failures, 0);
}

/* ---- releasing what is not one's own ---- */

static tsr_status release_scoped(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_full(mesh, "f32[4]@[S(0)]", 3), *kept;
    float values[4];

    (void)arg;
    tsr_unref(x);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_STATE);
    CHECK(strstr(tsr_mesh_message(mesh), "f32[4]@[S(0)] belongs to its scope"));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_to_host(x, values, sizeof values) == TSR_OK && values[3] == 3);

    tsr_unref(tsr_ref(x)); /* what tsr_ref gave may go, what tsr_keep gave too */
    CHECK(tsr_scope_push(mesh) == TSR_OK);
    kept = tsr_keep(tsr_full(mesh, "f32[4]", 5));
    tsr_unref(tsr_ref(kept));
    CHECK(tsr_scope_pop(mesh) == TSR_OK);
    CHECK(tsr_to_host(kept, values, sizeof values) == TSR_OK && values[0] == 5);
    tsr_unref(kept);
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    return TSR_OK;
}

static tsr_status release_mesh(tsr_mesh *mesh, void *arg)
{
    tsr_mesh *sub;

    (void)arg;
    tsr_mesh_unref(mesh);
    CHECK(tsr_mesh_status(mesh) == TSR_ERR_STATE);
    CHECK(strstr(tsr_mesh_message(mesh), "the job's mesh"));
    tsr_mesh_clear_error(mesh);
    CHECK(tsr_tensor_ok(tsr_zeros(mesh, "f32[4]")));
    tsr_mesh_unref(mesh); /* is found when the tensor goes */
    CHECK(tsr_mesh_sub(mesh, "0", &sub) == TSR_OK);
    tsr_mesh_unref(sub);
    CHECK(tsr_mesh_status(mesh) == TSR_OK);
    return TSR_OK;
}

static tsr_status own_gradient(tsr_mesh *mesh, void *arg)
{
    tsr_tensor *x = tsr_watch(tsr_zeros(mesh, "f32[4]"));

    (void)arg;
    CHECK(tsr_grad_set(x, x) == TSR_ERR_ARG);
    CHECK(strstr(tsr_mesh_message(mesh), "its own gradient"));
    tsr_mesh_clear_error(mesh);
    return TSR_OK;
}

static void not_ones_own(void **state)
{
    (void)state;
    pass_on("2", release_scoped, NULL);
    pass_on("2", release_mesh, NULL);
    pass_on("2", own_gradient, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_calls), cmocka_unit_test(not_ones_own)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
