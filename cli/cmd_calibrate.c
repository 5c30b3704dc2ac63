/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - tessera calibrate: measures the cost model's numbers (calibrate.c), shows how
   well they predict a few redistributions, and saves them as a cost file. */
#include "calibrate.h"
#include "problem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "2e-06/3e-06" */
static void per_mdim(FILE *f, const char *key, const double *values, int n, bool inverse)
{
    fprintf(f, "%s=", key);
    for (int m = 0; m < n; m++)
        fprintf(f, "%s%.4g", m ? "/" : "", inverse ? 1 / values[m] : values[m]);
    fprintf(f, "\n");
}

/* In the form that cost=file:PATH reads. */
static void write_cost(FILE *f, const calibrate_result *t)
{
    per_mdim(f, "latency", t->cost.latency, t->mesh.ndim, false);
    per_mdim(f, "bandwidth", t->cost.per_byte, t->mesh.ndim, true);
    fprintf(f, "step=%.4g\nmemory=%.4g\n", t->cost.per_step, 1 / t->cost.memory);
}

static int save(const calibrate_result *t, const char *path)
{
    FILE *f = fopen(path, "w");
    bool bad;

    if (!f)
        return cli_failed("calibrate: %s: %s", path, strerror(errno));
    write_cost(f, t);
    bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return cli_failed("calibrate: %s cannot be written", path);
    return CLI_OK;
}

static void print_text(const calibrate_result *t, const char *out)
{
    char a[CLI_TEXT], b[CLI_TEXT], ratio[CLI_TEXT], mesh[TSR_TEXT_LEN];
    cli_table table;

    printf("mesh %s\n\n", tsr_mesh_text(&t->mesh, mesh, sizeof mesh));
    for (int m = 0; m < t->mesh.ndim; m++)
        printf("  mesh dim %-8s latency %s a message, %s/s\n", cli_mdim_name(&t->mesh, m, mesh),
               cli_seconds(t->cost.latency[m], a), cli_bytes(1 / t->cost.per_byte[m], b));
    printf("  each step         %s\n  local copies      %s/s\n\n", cli_seconds(t->cost.per_step, a),
           cli_bytes(1 / t->cost.memory, b));
    cli_table_open(&table, "llrrr");
    cli_table_row(&table, (const char *[]){"redistribute", "to", "predicted", "measured", "ratio"});
    for (int i = 0; i < t->n_moves; i++) {
        const calibrate_move *m = &t->moves[i];

        snprintf(ratio, sizeof ratio, "%.2f", m->measured / m->predicted);
        cli_table_row(&table, (const char *[]){m->from, m->to, cli_seconds(m->predicted, a),
                                               cli_seconds(m->measured, b), ratio});
    }
    cli_table_close(&table, 2);
    if (out)
        printf("\nsaved in %s; use it with cost=file:%s or TESSERA_COST=file:%s\n", out, out, out);
    else
        printf("\nnot saved; --out FILE does that, for cost=file:FILE or TESSERA_COST=file:FILE\n");
}

static int print_json(const calibrate_result *t)
{
    json_t *results = json_array(), *latency = json_array(), *bandwidth = json_array();
    char mesh[TSR_TEXT_LEN];

    for (int m = 0; m < t->mesh.ndim; m++) {
        json_array_append_new(latency, json_real(t->cost.latency[m]));
        json_array_append_new(bandwidth, json_real(1 / t->cost.per_byte[m]));
    }
    for (int i = 0; i < t->n_moves; i++) {
        const calibrate_move *m = &t->moves[i];

        json_array_append_new(results,
                              json_pack("{s:s, s:s, s:f, s:f, s:f}", "from", m->from, "to", m->to,
                                        "predicted_seconds", m->predicted, "seconds", m->measured,
                                        "ratio", m->measured / m->predicted));
    }
    return cli_print_json(json_pack(
        "{s:s, s:s, s:{s:o, s:o, s:f, s:f}, s:o}", "command", "calibrate", "mesh",
        tsr_mesh_text(&t->mesh, mesh, sizeof mesh), "cost", "latency", latency, "bandwidth",
        bandwidth, "step", t->cost.per_step, "memory", 1 / t->cost.memory, "results", results));
}

/* One dim over all CPUs, or all ranks of MPI. */
static const char *usual_mesh(const problem *p, char buf[TSR_TEXT_LEN])
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (p->has_mesh)
        return problem_world_mesh(p, buf);
    snprintf(buf, TSR_TEXT_LEN, "%ld", cpus < 2 ? 2 : cpus > 8 ? 8 : cpus);
    return cli_under_mpi() ? NULL : buf;
}

int cli_calibrate(const cli_args *args)
{
    const char *out = cli_option_of(args, "out");
    char mesh[TSR_TEXT_LEN];
    tsr_error err = {0};
    tsr_run_opts opts = tsr_run_opts_default();
    calibrate_result t = {.n_moves = 0};
    problem p;
    int status = CLI_OK;

    if (!problem_read("calibrate", PROBLEM_MESH, args->text, &p) || !cli_world_resolve(&p.world))
        return CLI_USAGE;
    if (p.world == TSR_WORLD_SIM)
        return cli_bad("calibrate: the sim world moves no data, so nothing can be measured");
    opts.mesh = usual_mesh(&p, mesh);
    opts.world = p.world;
    opts.cost = "default";
    if (p.has_mesh && problem_ranks(&p) < 2)
        return cli_bad("calibrate: needs a mesh of at least 2 ranks");
    if (p.world == TSR_WORLD_MPI && !cli_under_mpi())
        return cli_mpi_exec(args, p.has_mesh ? problem_ranks(&p) : atoi(mesh));
    if (tsr_run(&opts, calibrate_job, &t, &err) != TSR_OK)
        return cli_error(&err);
    if (!cli_speaks())
        return CLI_OK;
    cli_progress(NULL);
    if (out)
        status = save(&t, out);
    if (status == CLI_OK && cli_option_of(args, "json"))
        return print_json(&t);
    if (status == CLI_OK)
        print_text(&t, out);
    return status;
}
