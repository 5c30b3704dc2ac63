/* SPDX-License-Identifier: Apache-2.0 */
/* run_task.c - the job of tessera run, and what it says (run_task.h). */
#include "run_task.h"
#include "measure.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger results are in JSON without their values; tsr_print shortens them, too. */
enum { MOST_VALUES = 1000 };

/* ---- files ---- */

int run_file_spec(const char *file, const tsr_spec *said, tsr_spec *out)
{
    tsr_spec found = {.mesh = {.ndim = 0}}, wanted = found;
    char a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];
    tsr_error err = {0};

    if (tsr_npy_info(file, &found.dtype, &found.shape, &err) != TSR_OK)
        return cli_bad("%s", err.text);
    if (said) {
        wanted.dtype = said->dtype;
        wanted.shape = said->shape;
    }
    if (said && !tsr_spec_equal(&wanted, &found))
        return cli_bad("run: %s holds %.*s, not %.*s", file,
                       (int)strcspn(tsr_spec_text(&found, a, sizeof a), "@"), a,
                       (int)strcspn(tsr_spec_text(&wanted, b, sizeof b), "@"), b);
    *out = found;
    return CLI_OK;
}

/* "a.npy,b.npy": one per output, or fewer */
static int split_out(run_task *t)
{
    for (const char *list = t->out; list; list++) {
        size_t n = strcspn(list, ",");

        if (t->n_files == TSR_OP_OUTPUTS)
            return cli_bad("run: --out names more than %d files", TSR_OP_OUTPUTS);
        if (n == 0 || n >= sizeof t->out_file[0])
            return cli_bad("run: a file name of --out is %s", n ? "too long" : "empty");
        memcpy(t->out_file[t->n_files++], list, n);
        list += n;
        if (!*list)
            break;
    }
    return CLI_OK;
}

int run_task_open(const cli_args *args, run_task *t)
{
    memset(t, 0, sizeof *t);
    t->args = args;
    t->in = cli_option_of(args, "in");
    t->out = cli_option_of(args, "out");
    return split_out(t);
}

/* ---- values in JSON ---- */

static json_t *number(tsr_dtype dtype, const void *data, int64_t i)
{
    double x = value_get(dtype, data, i);
    char digits[24];

    if (dtype == TSR_BOOL)
        return json_boolean(x != 0);
    if (dtype == TSR_I64)
        return json_integer(((const int64_t *)data)[i]);
    if (dtype == TSR_U64) {
        const uint64_t u = ((const uint64_t *)data)[i];

        if (u <= INT64_MAX)
            return json_integer((json_int_t)u);
        snprintf(digits, sizeof digits, "%" PRIu64, u); /* jansson's integers end at 2^63 */
        return json_string(digits);
    }
    if (!value_is_float(dtype))
        return json_integer((json_int_t)x);
    return isfinite(x) ? json_real(x) : json_string(isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
}

/* The elements from number *at on, as lists in lists for dims d and more. */
static json_t *numbers(const tsr_spec *spec, int d, const void *data, int64_t *at)
{
    json_t *list;

    if (d == spec->shape.ndim)
        return number(spec->dtype, data, (*at)++);
    list = json_array();
    for (int64_t i = 0; i < spec->shape.size[d]; i++)
        json_array_append_new(list, numbers(spec, d + 1, data, at));
    return list;
}

/* Appends the elements of a tensor, on the first rank of the world. x is NULL outside of its mesh,
   which begins at rank `first`. */
static tsr_status add_values(tsr_mesh *world, tsr_tensor *x, const tsr_spec *spec, int first,
                             json_t *list)
{
    int64_t data[MOST_VALUES], at = 0, n = tsr_shape_count(&spec->shape);
    size_t bytes = (size_t)n * tsr_dtype_size(spec->dtype);
    tsr_status st = TSR_OK;

    if (n <= MOST_VALUES && x)
        st = tsr_to_host(x, data, bytes);
    if (n <= MOST_VALUES && st == TSR_OK)
        st = tsr_broadcast(world, TSR_U8, data, (int64_t)bytes, first);
    if (st == TSR_OK && tsr_mesh_rank(world) == 0)
        json_array_append_new(list, n <= MOST_VALUES ? numbers(spec, 0, data, &at) : json_null());
    return st;
}

/* ---- the answer ---- */

static int print_json(const run_task *t, json_t *values)
{
    const run_answer *a = &t->answer;
    json_t *result, *outputs = json_array();
    char text[OP_TEXT];

    for (int k = 0; k < a->n_out; k++)
        json_array_append_new(outputs, json_string(tsr_spec_text(&a->spec[k], text, sizeof text)));
    result = json_pack(
        "{s:s?, s:s?, s:o, s:f, s:f, s:f, s:I, s:I, s:I}", "in", t->in, "out", t->out, "outputs",
        outputs, "load_seconds", t->load_time, "run_seconds", t->run_time, "save_seconds",
        t->save_time, "bytes_in", (json_int_t)a->counters.bytes_in, "bytes_out",
        (json_int_t)a->counters.bytes_out, "memory_peak", (json_int_t)a->counters.memory_peak);
    json_object_set_new(result, "problem", json_string(t->kind->text(t, text, sizeof text)));
    if (t->predicted >= 0)
        json_object_set_new(result, "predicted_seconds", json_real(t->predicted));
    if (!t->out)
        json_object_set(result, "values", values);
    t->kind->add_json(t, result);
    return cli_print_json_exact(json_pack("{s:s, s:[o]}", "command", "run", "results", result));
}

static int print(const run_task *t)
{
    const run_answer *a = &t->answer;
    char text[OP_TEXT], one[CLI_TEXT], other[CLI_TEXT];

    printf("%s\n", t->kind->text(t, text, sizeof text));
    if (t->in)
        printf("  load    %s from %s\n", cli_seconds(t->load_time, one), t->in);
    else
        printf("  fill    %s with seed=%llu\n", cli_seconds(t->load_time, one),
               (unsigned long long)t->set->seed);
    printf("  run     %s", cli_seconds(t->run_time, one));
    if (t->predicted >= 0)
        printf(" (moving predicted %s)", cli_seconds(t->predicted, other));
    printf("\n");
    t->kind->print_moves(t);
    for (int k = 0; k < a->n_out && t->out; k++)
        printf("  output  %s%s\n", tsr_spec_text(&a->spec[k], text, sizeof text),
               k < t->n_files ? "" : ", not saved: --out names no file for it");
    if (t->out)
        printf("  save    %s to %s\n", cli_seconds(t->save_time, one), t->out);
    printf("  rank %d  %s received, %s sent, ", t->set->to.mesh.first,
           cli_bytes((double)a->counters.bytes_in, one),
           cli_bytes((double)a->counters.bytes_out, other));
    printf("%s held at most\n", cli_bytes((double)a->counters.memory_peak, one));
    return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED; /* values follow, maybe of another rank */
}

/* What the first rank of the world says, and the values that are not saved. */
static tsr_status show(tsr_mesh *world, run_task *t, const run_answer *a, tsr_tensor *const *out)
{
    bool as_json = cli_option_of(t->args, "json"), first = tsr_mesh_rank(world) == 0;
    json_t *values = json_array();
    tsr_status st = TSR_OK;

    for (int k = 0; k < a->n_out && st == TSR_OK && as_json && !t->out; k++)
        st = add_values(world, out[k], &a->spec[k], t->set->to.mesh.first, values);
    if (st == TSR_OK && first)
        t->status = as_json ? print_json(t, values) : print(t);
    json_decref(values);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    for (int k = 0; k < a->n_out && st == TSR_OK && out[k] && !as_json && !t->out; k++)
        st = tsr_print(out[k]);
    return st;
}

/* ---- the job ---- */

/* Moves the outputs that are there to the front, and saves those for which there are files; there
   may be fewer or more. */
static tsr_status save(const run_task *t, tsr_tensor **out, run_answer *a)
{
    tsr_status st = TSR_OK;

    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++) {
        tsr_tensor *y = out[k];

        if (!y)
            continue;
        a->spec[a->n_out] = *tsr_tensor_spec(y);
        if (a->n_out < t->n_files)
            st = tsr_save_npy(y, t->out_file[a->n_out]);
        out[a->n_out++] = y;
    }
    return st;
}

/* Thread ranks share the task; under MPI each process has one. */
static tsr_status job(tsr_mesh *world, tsr_mesh *mesh, tsr_mesh *to, void *arg)
{
    run_task *t = arg;
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS] = {NULL};
    double times[4] = {measure_now()};
    run_answer a = {0};
    tsr_status st = t->kind->load(t, mesh, in);

    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[1] = measure_now();
    tsr_counters_reset(world);
    if (st == TSR_OK)
        st = t->kind->call(t, mesh, to, in, out);
    a.counters = tsr_counters_get(world);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[2] = measure_now();
    if (st == TSR_OK)
        st = save(t, out, &a);
    if (st == TSR_OK)
        st = tsr_broadcast(world, TSR_U8, &a, sizeof a, t->set->to.mesh.first);
    if (st == TSR_OK)
        st = tsr_barrier(world);
    times[3] = measure_now();
    if (tsr_mesh_rank(world) == 0) {
        t->answer = a;
        t->load_time = times[1] - times[0];
        t->run_time = times[2] - times[1];
        t->save_time = times[3] - times[2];
    }
    if (st == TSR_OK && a.n_out >= t->n_files)
        st = show(world, t, &a, out);
    return st;
}

int run_task_go(run_task *t)
{
    tsr_error err = {0};
    int status;

    if (cli_elsewhere(t->args, t->set->world, problem_ranks(t->set), &status))
        return status;
    if (problem_run(t->set, t->set->world, job, t, &err) != TSR_OK)
        return cli_error(&err);
    if (t->n_files > t->answer.n_out && cli_speaks())
        return cli_failed("run: --out names %d files, but %s gives %d output%s", t->n_files,
                          t->name, t->answer.n_out, t->answer.n_out == 1 ? "" : "s");
    return t->status;
}
