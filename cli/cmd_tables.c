/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tables.c - tessera tables: where the tables of a group of lookups should live, what that
   costs each rank, and what other shardings would cost. Plans only. */
#include "cli.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tessera_ops.h>

enum { TABLE_NAME = 32, TABLES_MOST = 4096, FILE_MOST = 1 << 20 };

static const char *const shardings[TSR_TABLE_SHARDINGS] = {"replicated", "by rows", "by columns",
                                                           "one rank"};
static const char *const poolings[] = {"none", "sum", "mean", "max"};

typedef struct tables_problem {
    int n;
    char name[TABLES_MOST][TABLE_NAME];
    tsr_table_facts facts[TABLES_MOST];
    tsr_table_choice choice[TABLES_MOST];
    tsr_table_load *loads;
    tsr_tables_opts opts;
    tsr_cost cost;
    const char *path; /* of the file that is being read; NULL: none */
    int word;         /* of that file, from 1 on */
    char text[FILE_MOST];
} tables_problem;

/* ---- reading ---- */

/* Quotes what the user wrote; of a file it gives the place, for messages do not quote files. */
static int wrong(const tables_problem *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int wrong(const tables_problem *p, const char *format, ...)
{
    char line[TSR_TEXT_LEN];
    va_list list;

    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (!p->path)
        return cli_bad("tables: %s", line);
    return cli_bad("tables: word %d of %.200s is neither a table, "
                   "NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH[:POOLING], nor a setting",
                   p->word, p->path);
}

static bool read_dtype(const char *text, tsr_dtype *out)
{
    for (int d = 0; d < 16; d++)
        if (tsr_dtype_size((tsr_dtype)d) > 0 && strcmp(tsr_dtype_name((tsr_dtype)d), text) == 0) {
            *out = (tsr_dtype)d;
            return true;
        }
    return false;
}

static bool read_pooling(const char *text, tsr_bag_mode *out)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(text, poolings[i]) == 0) {
            *out = (tsr_bag_mode)i;
            return true;
        }
    return false;
}

/* NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH[:POOLING] */
static int read_table(tables_problem *p, const char *word)
{
    tsr_table_facts f = {.pooling = TSR_BAG_SUM};
    char dtype[16], pooling[16] = "sum", name[TABLE_NAME];
    int used = 0, more = 0;

    if (p->n == TABLES_MOST)
        return cli_bad("tables: more than %d tables", TABLES_MOST);
    if (sscanf(word, "%31[^:]:%18" SCNd64 "x%18" SCNd64 ":%15[^:]:%18" SCNd64 ":%lf%n", name,
               &f.rows, &f.columns, dtype, &f.lookups, &f.length, &used) != 6 ||
        (word[used] && (sscanf(word + used, ":%15s%n", pooling, &more) != 1 || word[used + more])))
        return wrong(p, "\"%.60s\" is not NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH[:POOLING]", word);
    if (!read_dtype(dtype, &f.dtype))
        return wrong(p, "\"%.60s\": unknown dtype \"%s\"", word, dtype);
    if (!read_pooling(pooling, &f.pooling))
        return wrong(p, "\"%.60s\": pooling is sum, mean, max or none, not \"%s\"", word, pooling);
    snprintf(p->name[p->n], sizeof p->name[p->n], "%s", name);
    p->facts[p->n++] = f;
    return CLI_OK;
}

static int read_setting(tables_problem *p, const char *word)
{
    const char *value = strchr(word, '=') + 1;
    tsr_mesh_shape mesh;
    tsr_error err = {0};

    if (strncmp(word, "mesh=", 5) == 0) {
        if (tsr_mesh_parse(value, &mesh, &err) != TSR_OK)
            return wrong(p, "%.400s", err.text);
        if (mesh.ndim != 1)
            return wrong(p, "mesh=%.40s: tables are placed along one mesh dim", value);
        p->opts.ranks = cli_mesh_size(&mesh);
    } else if (strncmp(word, "memory=", 7) == 0) {
        if (!cli_bytes_parse(value, strlen(value), &p->opts.memory) || p->opts.memory == 0)
            return wrong(p, "memory=%.40s is not a number of bytes, 1GiB say", value);
        p->opts.has_memory = true;
    } else if (strncmp(word, "cost=", 5) == 0) {
        if (tsr_cost_parse(value, &p->cost, &err) != TSR_OK)
            return wrong(p, "%.400s", err.text);
    } else if (strcmp(word, "train=true") == 0 || strcmp(word, "train=false") == 0) {
        p->opts.training = value[0] == 't';
    } else {
        return wrong(
            p, "unknown setting \"%.60s\"; there are mesh=, memory=, train=true and cost=", word);
    }
    return CLI_OK;
}

static int read_words(tables_problem *p, char *text);

static int read_file(tables_problem *p, const char *path)
{
    FILE *file = fopen(path, "r");
    size_t n;
    int status;

    if (!file)
        return cli_bad("tables: \"%.200s\" is neither a table nor a file that can be read", path);
    n = fread(p->text, 1, sizeof p->text - 1, file);
    p->text[n] = 0;
    fclose(file);
    if (n == sizeof p->text - 1)
        return cli_bad("tables: %.200s is too large", path);
    for (char *at = strchr(p->text, '#'); at; at = strchr(at, '#'))
        while (*at && *at != '\n')
            *at++ = ' ';
    p->path = path;
    p->word = 1;
    status = read_words(p, p->text);
    p->path = NULL;
    return status;
}

static int read_words(tables_problem *p, char *text)
{
    char *rest = text, *word;
    int status = CLI_OK;

    for (; status == CLI_OK && (word = strtok_r(rest, " \t\r\n", &rest)); p->word++)
        if (strchr(word, '='))
            status = read_setting(p, word);
        else if (p->path || strchr(word, ':'))
            status = read_table(p, word);
        else
            status = read_file(p, word);
    return status;
}

/* ---- telling ---- */

/* "replicated does not fit; by columns 2.1 ms" */
static const char *why(const tables_problem *p, int i, char *buf, size_t n)
{
    const tsr_table_choice *c = &p->choice[i];
    size_t used = 0;

    buf[0] = 0;
    for (int w = 0; w < TSR_TABLE_SHARDINGS && used < n; w++) {
        char time[CLI_TEXT];
        bool fits = !p->opts.has_memory || c->could[w].memory <= p->opts.memory;
        if (w == (int)c->sharding)
            continue;
        used += (size_t)snprintf(buf + used, n - used, "%s%s %s", used ? ", " : "", shardings[w],
                                 fits ? cli_seconds(c->could[w].seconds, time) : "does not fit");
    }
    return buf;
}

static void print_text(const tables_problem *p)
{
    cli_table table;
    char size[CLI_TEXT], memory[CLI_TEXT], bytes[CLI_TEXT], time[CLI_TEXT], choice[CLI_TEXT];
    char rank[CLI_TEXT], reason[256];

    cli_table_open(&table, "lrlrrrl");
    cli_table_row(&table, (const char *[]){"table", "size", "choice", "memory/rank",
                                           "exchanged/rank", "time", "alternatives"});
    for (int i = 0; i < p->n; i++) {
        const tsr_table_facts *f = &p->facts[i];
        const tsr_table_choice *c = &p->choice[i];
        if (c->rank < 0)
            snprintf(choice, sizeof choice, "%s", shardings[c->sharding]);
        else
            snprintf(choice, sizeof choice, "rank %d", c->rank);
        cli_bytes((double)f->rows * (double)f->columns * (double)tsr_dtype_size(f->dtype), size);
        cli_table_row(&table, (const char *[]){p->name[i], size, choice,
                                               cli_bytes((double)c->load.memory, memory),
                                               cli_bytes(c->load.bytes, bytes),
                                               cli_seconds(c->load.seconds, time),
                                               why(p, i, reason, sizeof reason)});
    }
    cli_table_close(&table, 0);
    printf("\n");
    cli_table_open(&table, "rrrr");
    cli_table_row(&table, (const char *[]){"rank", "memory", "exchanged", "time"});
    for (int r = 0; r < p->opts.ranks; r++) {
        snprintf(rank, sizeof rank, "%d", r);
        cli_table_row(&table, (const char *[]){rank, cli_bytes((double)p->loads[r].memory, memory),
                                               cli_bytes(p->loads[r].bytes, bytes),
                                               cli_seconds(p->loads[r].seconds, time)});
    }
    cli_table_close(&table, 0);
}

static json_t *load_json(const tsr_table_load *load)
{
    return json_pack("{s:I, s:f, s:f}", "memory", (json_int_t)load->memory, "bytes", load->bytes,
                     "seconds", load->seconds);
}

static json_t *to_json(const tables_problem *p)
{
    json_t *results = json_array(), *ranks = json_array();

    for (int i = 0; i < p->n; i++) {
        const tsr_table_facts *f = &p->facts[i];
        const tsr_table_choice *c = &p->choice[i];
        json_t *could = json_object();
        for (int w = 0; w < TSR_TABLE_SHARDINGS; w++)
            json_object_set_new(could, shardings[w], load_json(&c->could[w]));
        json_array_append_new(
            results, json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:i, s:o, s:o}", "table", p->name[i],
                               "rows", (json_int_t)f->rows, "columns", (json_int_t)f->columns,
                               "dtype", tsr_dtype_name(f->dtype), "pooling", poolings[f->pooling],
                               "choice", shardings[c->sharding], "rank", c->rank, "load",
                               load_json(&c->load), "could", could));
    }
    for (int r = 0; r < p->opts.ranks; r++)
        json_array_append_new(ranks, load_json(&p->loads[r]));
    return json_pack("{s:s, s:I, s:b, s:o, s:o}", "command", "tables", "memory",
                     (json_int_t)p->opts.memory, "training", p->opts.training, "results", results,
                     "ranks", ranks);
}

static int plan_tables(tables_problem *p, char *text, bool as_json)
{
    tsr_error err = {0};
    int status;

    p->cost = tsr_cost_default();
    p->opts = tsr_tables_opts_default();
    p->opts.ranks = 0; /* not given yet */
    p->opts.cost = &p->cost;
    status = read_words(p, text);
    if (status != CLI_OK)
        return status;
    if (p->n == 0)
        return cli_bad("tables: no tables; NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH, or a file");
    if (p->opts.ranks == 0)
        return cli_bad("tables: mesh= is missing, mesh=4 say");
    p->loads = calloc((size_t)p->opts.ranks, sizeof *p->loads);
    if (!p->loads)
        return cli_failed("out of memory");
    if (tsr_tables_plan(p->facts, p->n, &p->opts, p->choice, p->loads, &err) != TSR_OK)
        return cli_error(&err);
    if (as_json)
        return cli_print_json(to_json(p));
    print_text(p);
    return CLI_OK;
}

int cli_tables(const cli_args *args)
{
    tables_problem *p;
    int status;

    if (!cli_speaks())
        return CLI_OK;
    p = calloc(1, sizeof *p);
    if (!p)
        return cli_failed("out of memory");
    status = plan_tables(p, args->text, cli_option_of(args, "json"));
    free(p->loads);
    free(p);
    return status;
}
