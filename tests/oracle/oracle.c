/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.c - runs files of facts made with PyTorch: how it shards ops and what that costs, and
   values of ops. Reads the lines, counts, prints. Usage: see USAGE. Ends in "N passed, N failed,
   N exceptions"; exit status 1 if any failed. What the formats mean: oracle_map.c,
   oracle_numeric.c. */
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "oracle.h"

static const char USAGE[] =
    "usage: oracle FILE... [options]\n"
    "  --mesh M            propagation: only cases on this mesh; numeric: run on it (2x2)\n"
    "  --world W           numeric: thread (default) or mpi\n"
    "  --placements P      numeric: all (default) or random:SEED:COUNT\n"
    "  --op NAME           must be there: \"aten.mm.default\", \"mm\" or \"conv\"; repeatable;\n"
    "                      all: every op of the files\n"
    "  --exceptions FILE   PyTorch's mistakes; default: oracle_exceptions.jsonl beside FILE, else\n"
    "                      the project's\n"
    "  --json              print what we chose, one line of JSON per case, on stdout\n";

typedef struct tally {
    int passed, failed, exceptions, not_listed, free_moves, cheaper;
    int n_names; /* ops that are not there */
    struct {
        char name[64];
        int count;
    } name[ORACLE_NAMES];
} tally;

typedef struct run {
    oracle_opts opts;
    oracle_exceptions *exceptions;
    int n_meshes;
    oracle_mesh mesh[ORACLE_MESHES];
    tally tally;
} run;

/* ---- cases ---- */

/* "aten.mm.default" is named by that, by "aten.mm" and by "mm". */
static bool is_named(const run *r, const char *op)
{
    const char *rest = strncmp(op, "aten.", 5) == 0 ? op + 5 : op;

    for (int i = 0; i < r->opts.n_ops; i++) {
        const char *name = r->opts.op[i];
        const char *tail = strncmp(name, "aten.", 5) == 0 ? name + 5 : name;
        size_t n = strlen(tail);
        if (strcmp(name, "all") == 0)
            return true;
        if (strncmp(rest, tail, n) == 0 && (rest[n] == 0 || rest[n] == '.'))
            return true;
    }
    return false;
}

static void count_missing(run *r, const oracle_line *line, const char *op)
{
    tally *t = &r->tally;
    int i = 0;

    while (i < t->n_names && strcmp(t->name[i].name, op) != 0)
        i++;
    if (i == t->n_names && i < ORACLE_NAMES)
        snprintf(t->name[t->n_names++].name, sizeof t->name[0].name, "%s", op);
    if (i < ORACLE_NAMES)
        t->name[i].count++;
    if (is_named(r, op)) {
        fprintf(stderr, "%s:%d: %s is not there\n", line->file, line->number, op);
        t->failed++;
    }
}

static void print_way(const oracle_case *c, const tsr_op_strategy *way)
{
    char in[TSR_TEXT_LEN], a[TSR_TEXT_LEN], b[TSR_TEXT_LEN];

    fprintf(stderr, "%s:%d: %s as %s on %s", c->line.file, c->line.number, c->aten, c->op,
            c->mesh->name);
    for (int i = 0; i < c->n_attrs; i++)
        fprintf(stderr, " %s", c->attr[i]);
    for (int k = 0; k < c->n_in; k++)
        fprintf(stderr, "\n    %s: PyTorch %s, we %s", tsr_spec_text(&c->in[k], in, sizeof in),
                tsr_placements_text(&c->use[k], a, sizeof a),
                tsr_placements_text(&way->in[k], b, sizeof b));
    fprintf(stderr, "\n    output: PyTorch %s, we %s\n",
            tsr_placements_text(&c->out[0], a, sizeof a),
            tsr_placements_text(&way->out[0], b, sizeof b));
}

static void print_problem(const oracle_case *c, int n, const oracle_findings *f)
{
    for (int p = 0; p < n; p++)
        print_way(&c[p], &f->way[p]);
    if (f->dearer)
        fprintf(stderr, "    our strategy costs %.6f us, PyTorch's %.6f us\n", f->chosen_us,
                c->cost_us);
    if (f->dearer_moves)
        fprintf(stderr, "    its redistributions cost us %.6f us, PyTorch %.6f us\n", f->moves_us,
                c->cost_us);
    if (f->unknown_rule)
        fprintf(stderr, "    what PyTorch does is no strategy by our rules\n");
}

/* A line per part; its cost is that of all parts. */
static tsr_status print_chosen(const oracle_case *c, int n, const oracle_findings *f,
                               tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int p = 0; p < n; p++) {
        json_t *json = NULL;
        TSR_TRY(oracle_chosen(&c[p], &f->way[p], f->chosen_us, &json, err));
        json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
        putchar('\n');
        json_decref(json);
    }
done:
    return st;
}

static oracle_result propagation(run *r, const oracle_line *line, tsr_error *err)
{
    const char *mesh = json_string_value(json_object_get(line->json, "mesh"));
    bool listed;
    oracle_case c[ORACLE_PARTS];
    oracle_findings f;
    int n;
    oracle_result result;
    tsr_status st;

    if (r->opts.mesh && mesh && strcmp(mesh, r->opts.mesh) != 0)
        return ORACLE_SKIPPED;
    result = oracle_map(line, r->mesh, r->n_meshes, c, &n, err);
    if (result == ORACLE_NOT_THERE)
        count_missing(r, line, c->aten);
    if (result != ORACLE_PASSED)
        return result;
    TSR_TRY(oracle_check(c, n, &f, err));
    if (r->opts.json)
        TSR_TRY(print_chosen(c, n, &f, err));
    r->tally.free_moves += f.free_moves;
    r->tally.cheaper += f.chosen_us < c->cost_us * (1 - 1e-9);
    if (!f.dearer && !f.dearer_moves && !f.unknown_rule)
        return ORACLE_PASSED;
    if (oracle_excused(r->exceptions, c, n, &f, &listed)) {
        r->tally.not_listed += !listed;
        return ORACLE_EXCEPTION;
    }
    print_problem(c, n, &f);
done:
    return ORACLE_FAILED;
}

static oracle_result one_line(run *r, const oracle_line *line, tsr_error *err)
{
    const char *op;
    oracle_result result;

    if (json_object_get(line->json, "aten"))
        return propagation(r, line, err);
    if (json_object_get(line->json, "gb_per_s")) {
        if (r->n_meshes == ORACLE_MESHES)
            tsr__fail(err, TSR_ERR_LIMIT, "more than %d meshes", ORACLE_MESHES);
        else if (oracle_mesh_read(line->json, &r->mesh[r->n_meshes], err) == TSR_OK)
            r->n_meshes++;
        return err->code == TSR_OK ? ORACLE_SKIPPED : ORACLE_FAILED;
    }
    if (json_is_string(json_object_get(line->json, "kind"))) {
        result = oracle_numeric(line, &r->opts, &op, err);
        if (result == ORACLE_NOT_THERE)
            count_missing(r, line, op);
        return result;
    }
    tsr__fail(err, TSR_ERR_FORMAT, "neither a mesh, a propagation case nor a numeric case");
    return ORACLE_FAILED;
}

/* ---- files ---- */

static void count(run *r, const oracle_line *line, oracle_result result, const tsr_error *err)
{
    r->tally.passed += result == ORACLE_PASSED;
    r->tally.failed += result == ORACLE_FAILED;
    r->tally.exceptions += result == ORACLE_EXCEPTION;
    if (result == ORACLE_FAILED && err->code != TSR_OK)
        fprintf(stderr, "%s:%d: %s\n", line->file, line->number, err->text);
}

static void run_file(run *r, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    oracle_line line = {.file = path};

    if (!file) {
        fprintf(stderr, "%s: cannot be read\n", path);
        r->tally.failed++;
        return;
    }
    r->n_meshes = 0;
    while (getline(&text, &cap, file) > 0) {
        json_error_t wrong;
        tsr_error err = {0};
        line.number++;
        if (text[strspn(text, " \t\r\n")] == 0)
            continue;
        line.json = json_loads(text, 0, &wrong);
        if (line.json) {
            count(r, &line, one_line(r, &line, &err), &err);
        } else {
            tsr__fail(&err, TSR_ERR_FORMAT, "%s", wrong.text);
            count(r, &line, ORACLE_FAILED, &err);
        }
        json_decref(line.json);
    }
    free(text);
    fclose(file);
}

/* ---- options ---- */

/* Beside the data, else the project's, seen from where we are and from where this program is. */
static bool find_exceptions(const char *data, char out[PATH_MAX])
{
    char copy[PATH_MAX], self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n < 0 ? 0 : n] = 0;
    snprintf(copy, sizeof copy, "%s", data);
    snprintf(out, PATH_MAX, "%.4000s/oracle_exceptions.jsonl", dirname(copy));
    if (access(out, R_OK) == 0)
        return true;
    snprintf(out, PATH_MAX, "tests/data/oracle_exceptions.jsonl");
    if (access(out, R_OK) == 0)
        return true;
    snprintf(out, PATH_MAX, "%.4000s/../../tests/data/oracle_exceptions.jsonl", dirname(self));
    return access(out, R_OK) == 0;
}

static bool usage(const char *what, const char *which)
{
    fprintf(stderr, "oracle: %s%s\n%s", what, which, USAGE);
    return false;
}

static bool option(oracle_opts *opts, const char *name, const char *value)
{
    unsigned long long seed, n;
    tsr_mesh_shape mesh;
    char end;

    if (strcmp(name, "--mesh") == 0) {
        opts->mesh = value;
        return tsr_mesh_parse(value, &mesh, NULL) == TSR_OK || usage("no mesh: ", value);
    }
    if (strcmp(name, "--world") == 0) {
        opts->world = strcmp(value, "mpi") == 0 ? TSR_WORLD_MPI : TSR_WORLD_THREAD;
        return opts->world == TSR_WORLD_MPI || strcmp(value, "thread") == 0 ||
               usage("no world: ", value);
    }
    if (strcmp(name, "--placements") == 0) {
        opts->placements = value;
        return strcmp(value, "all") == 0 ||
               sscanf(value, "random:%llu:%llu%c", &seed, &n, &end) == 2 ||
               usage("no placements: ", value);
    }
    if (strcmp(name, "--exceptions") == 0) {
        opts->exceptions = value;
        return true;
    }
    if (strcmp(name, "--op") == 0 && opts->n_ops < ORACLE_NAMES) {
        opts->op[opts->n_ops++] = value;
        return true;
    }
    return usage("unknown option ", name);
}

/* Options into opts, files to the front of argv; *n_files is how many. */
static bool read_arguments(int argc, char **argv, oracle_opts *opts, int *n_files)
{
    *opts = (oracle_opts){.world = TSR_WORLD_THREAD, .placements = "all"};
    *n_files = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            argv[(*n_files)++] = argv[i];
        else if (strcmp(argv[i], "--json") == 0)
            opts->json = true;
        else if (i + 1 == argc)
            return usage("no value for ", argv[i]);
        else if (!option(opts, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return *n_files > 0 || usage("no file", "");
}

static void print_tally(const tally *t)
{
    FILE *to = stdout;

    for (int i = 0; i < t->n_names; i++)
        fprintf(to, "not there: %s, %d cases\n", t->name[i].name, t->name[i].count);
    fprintf(to, "%d cheaper than PyTorch, %d by our rules after free moves only\n", t->cheaper,
            t->free_moves);
    if (t->not_listed)
        fprintf(to, "%d exceptions are not in the list\n", t->not_listed);
    fprintf(to, "%d passed, %d failed, %d exceptions\n", t->passed, t->failed, t->exceptions);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    run r = {0};
    int n_files;
    tsr_error err = {0};

    if (!read_arguments(argc, argv, &r.opts, &n_files))
        return 2;
    if (!r.opts.exceptions && find_exceptions(argv[0], path))
        r.opts.exceptions = path;
    if (r.opts.exceptions &&
        oracle_exceptions_read(r.opts.exceptions, &r.exceptions, &err) != TSR_OK) {
        fprintf(stderr, "oracle: %s\n", err.text);
        return 2;
    }
    for (int i = 0; i < n_files; i++)
        run_file(&r, argv[i]);
    oracle_exceptions_free(r.exceptions);
    print_tally(&r.tally);
    return r.tally.failed ? 1 : 0;
}
