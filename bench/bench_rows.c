/* SPDX-License-Identifier: Apache-2.0 */
/* bench_rows.c - rows of results: made by benchmarks, printed for people, for documents (markdown)
   and for programs (JSON), with the machine and the day (bench.h). */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int bench_on_mesh(tsr_world_kind world, const char *mesh, tsr_job job, void *arg)
{
    tsr_run_opts opts = tsr_run_opts_default();
    tsr_error err = {0};

    opts.mesh = mesh;
    opts.world = world;
    opts.cost = "default";
    return tsr_run(&opts, job, arg, &err) == TSR_OK ? CLI_OK : cli_error(&err);
}

int bench_on_ranks(tsr_world_kind world, int ranks, tsr_job job, void *arg)
{
    char mesh[16];

    snprintf(mesh, sizeof mesh, "%d", ranks);
    return bench_on_mesh(world, mesh, job, arg);
}

int bench_on_each(bench *b, tsr_job job)
{
    int status = CLI_OK;

    for (int i = 0; i < b->n_ranks && status == CLI_OK; i++)
        status = bench_on_ranks(b->world, b->ranks[i], job, b);
    return status;
}

json_t *bench_row(bench *b, const char *format, ...)
{
    json_error_t err;
    va_list list;
    json_t *row;

    va_start(list, format);
    row = json_vpack_ex(&err, 0, format, list);
    va_end(list);
    json_array_append_new(b->results, row);
    return row;
}

void bench_beside(json_t *row, const char *yardstick, double seconds)
{
    json_object_set_new(row, "yardstick", json_string(yardstick));
    json_object_set_new(row, "yardstick_seconds", json_real(seconds));
    json_object_set_new(row, "ratio",
                        json_real(json_real_value(json_object_get(row, "seconds")) / seconds));
}

void bench_peer(const bench *b, json_t *row, const char *key, const char *format, ...)
{
    const double ours = json_real_value(json_object_get(row, key));
    char name[256];
    double seconds;
    va_list list;

    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    json_object_set_new(row, "peer_name", json_string(name));
    seconds = peer_seconds(b->peers, name);
    if (seconds <= 0 || ours <= 0)
        return;
    json_object_set_new(row, "peer_seconds", json_real(seconds));
    json_object_set_new(row, "speedup", json_real(seconds / ours));
}

tsr_status bench_most(tsr_mesh *mesh, int64_t *value)
{
    return tsr_all_reduce(mesh, TSR_I64, TSR_MAX, value, 1, value);
}

/* ---- where and when ---- */

const char *bench_machine(char buf[256])
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256], model[200] = "unknown processor";

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %199[^\n]", model) == 1)
            break;
    if (f)
        fclose(f);
    snprintf(buf, 256, "%s, %ld CPUs", model, sysconf(_SC_NPROCESSORS_ONLN));
    return buf;
}

static const char *today(char buf[16])
{
    const time_t now = time(NULL);
    struct tm tm;

    buf[0] = 0;
    if (gmtime_r(&now, &tm))
        strftime(buf, 16, "%Y-%m-%d", &tm);
    return buf;
}

json_t *bench_json(const benchmark *what, const bench *b)
{
    char machine[256], day[16];

    return json_pack("{s:s, s:s, s:s, s:s, s:O, s:O}", "benchmark", what->name, "version",
                     tsr_version(), "machine", bench_machine(machine), "date", today(day), "peers",
                     b->peers->files, "results", b->results);
}

/* ---- tables ---- */

static const json_t *cell_of(const bench *b, size_t row, const bench_column *c)
{
    const json_t *value = json_object_get(json_array_get(b->results, row), c->key);

    return json_is_null(value) ? NULL : value;
}

static const char *cell_text(const bench_column *c, const json_t *value, char buf[CLI_TEXT])
{
    buf[0] = 0;
    if (!value)
        return buf;
    switch (c->kind) {
    case TEXT: return json_string_value(value);
    case COUNT: snprintf(buf, CLI_TEXT, "%d", (int)json_integer_value(value)); break;
    case BYTES: return cli_bytes((double)json_integer_value(value), buf);
    case SECONDS: return cli_seconds(json_real_value(value), buf);
    case NUMBER: snprintf(buf, CLI_TEXT, "%.2f", json_real_value(value)); break;
    }
    return buf;
}

/* The columns in which any row has a value; gives their number. */
static int used_columns(const benchmark *what, const bench *b,
                        const bench_column *out[BENCH_COLUMNS])
{
    int n = 0;

    for (int c = 0; c < BENCH_COLUMNS && what->columns[c].key; c++) {
        bool used = false;

        for (size_t i = 0; i < json_array_size(b->results) && !used; i++)
            used = cell_of(b, i, &what->columns[c]) != NULL;
        if (used)
            out[n++] = &what->columns[c];
    }
    return n;
}

/* "`tessera_bench plan` on MACHINE, DAY; peer: PyTorch 2.14.1, FILE, DAY" */
static void print_heading(const bench *b, const char *command, const char *quote)
{
    char machine[256], day[16];
    json_t *f;
    size_t i;

    printf("%s%s%s on %s, %s", quote, command, quote, bench_machine(machine), today(day));
    json_array_foreach(b->peers->files, i, f)
    {
        if (json_is_true(json_object_get(f, "used")))
            printf("; peer: %s, %s, %s", json_string_value(json_object_get(f, "peer")),
                   json_string_value(json_object_get(f, "file")),
                   json_string_value(json_object_get(f, "date")));
    }
    printf("\n\n");
}

static void print_markdown(const char *const *cells, int n)
{
    for (int c = 0; c < n; c++)
        printf("| %s ", cells[c]);
    printf("|\n");
}

void bench_print(const benchmark *what, const bench *b, bool markdown, const char *command)
{
    const bench_column *columns[BENCH_COLUMNS];
    const int n = used_columns(what, b, columns), rows = (int)json_array_size(b->results);
    char align[BENCH_COLUMNS + 1] = "", buf[BENCH_COLUMNS][CLI_TEXT];
    const char *cells[BENCH_COLUMNS];
    cli_table table;

    for (int c = 0; c < n; c++)
        align[c] = columns[c]->kind == TEXT ? 'l' : 'r';
    print_heading(b, command, markdown ? "`" : "");
    cli_table_open(&table, align);
    for (int i = markdown ? -2 : -1; i < rows; i++) {
        for (int c = 0; c < n; c++)
            cells[c] = i < (markdown ? -1 : 0) ? columns[c]->heading
                       : i < 0                 ? (align[c] == 'r' ? "---:" : "---")
                               : cell_text(columns[c], cell_of(b, (size_t)i, columns[c]), buf[c]);
        if (markdown)
            print_markdown(cells, n);
        else
            cli_table_row(&table, cells);
    }
    cli_table_close(&table, 2);
    printf("\n%s\n", what->note);
}
