/* SPDX-License-Identifier: Apache-2.0 */
/* problem_world.c - a problem's text form again, its plan, and running it: world, meshes, limit. */
#include "problem.h"

#include <inttypes.h>

int problem_ranks(const problem *p)
{
    int from = p->from.mesh.first + cli_mesh_size(&p->from.mesh);
    int to = p->to.mesh.first + cli_mesh_size(&p->to.mesh);

    return from > to ? from : to;
}

static size_t mesh_text(const tsr_mesh_shape *mesh, const char *key, char *buf, size_t n)
{
    char text[TSR_TEXT_LEN], first[24] = "";

    if (mesh->first)
        snprintf(first, sizeof first, "@%d", mesh->first);
    return (size_t)snprintf(buf, n, " %s=%s%s", key, tsr_mesh_text(mesh, text, sizeof text), first);
}

void problem_settings_text(const problem *p, char *buf, size_t n)
{
    size_t used = mesh_text(&p->from.mesh, "mesh", buf, n);

    if (p->other_mesh)
        used += mesh_text(&p->to.mesh, "to", buf + used, n - used);
    if (p->world != TSR_WORLD_AUTO)
        used += (size_t)snprintf(buf + used, n - used, " world=%s", cli_world_name(p->world));
    used += (size_t)snprintf(buf + used, n - used, " cost=%s", p->cost_text);
    if (p->limit)
        used += (size_t)snprintf(buf + used, n - used, " limit=%" PRId64, p->limit);
    if (p->seed != 1)
        snprintf(buf + used, n - used, " seed=%" PRIu64, p->seed);
}

const char *problem_text(const problem *p, char *buf, size_t n)
{
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN];
    size_t used = (size_t)snprintf(buf, n, "redistribute %s -> %s",
                                   tsr_spec_text(&p->from, from, sizeof from),
                                   tsr_placements_text(&p->to, to, sizeof to));

    problem_settings_text(p, buf + used, n - used);
    return buf;
}

/* One mesh from rank 0 on is the world itself; else the world is a line with the meshes in it. */
static bool is_world(const problem *p)
{
    return !p->other_mesh && p->from.mesh.first == 0;
}

const char *problem_world_mesh(const problem *p, char buf[TSR_TEXT_LEN])
{
    if (is_world(p))
        return tsr_mesh_text(&p->from.mesh, buf, TSR_TEXT_LEN);
    snprintf(buf, TSR_TEXT_LEN, "%d", problem_ranks(p));
    return buf;
}

static tsr_status make_meshes(const problem *p, tsr_mesh *world, tsr_mesh **from, tsr_mesh **to)
{
    char text[TSR_TEXT_LEN];
    tsr_mesh *a = NULL;
    tsr_status st;

    if (is_world(p)) {
        *from = tsr_mesh_ref(world);
        *to = tsr_mesh_ref(world);
        return TSR_OK;
    }
    st = tsr_mesh_part(world, tsr_mesh_text(&p->from.mesh, text, sizeof text), p->from.mesh.first,
                       &a);
    if (st != TSR_OK)
        return st;
    if (!p->other_mesh)
        *to = tsr_mesh_ref(a);
    else
        st = tsr_mesh_part(world, tsr_mesh_text(&p->to.mesh, text, sizeof text), p->to.mesh.first,
                           to);
    if (st != TSR_OK)
        tsr_mesh_unref(a);
    else
        *from = a;
    return st;
}

typedef struct problem_call {
    const problem *p;
    problem_job *job;
    void *arg;
} problem_call;

static tsr_status run_rank(tsr_mesh *world, void *arg)
{
    const problem_call *c = arg;
    tsr_mesh *from = NULL, *to = NULL;
    tsr_status st;

    tsr_memory_limit_set(world, (size_t)c->p->limit);
    st = make_meshes(c->p, world, &from, &to);
    if (st == TSR_OK)
        st = c->job(world, from, to, c->arg);
    tsr_mesh_unref(from);
    tsr_mesh_unref(to);
    return st;
}

tsr_status problem_run(const problem *p, tsr_world_kind world, problem_job *job, void *arg,
                       tsr_error *err)
{
    char mesh[TSR_TEXT_LEN];
    tsr_run_opts opts = tsr_run_opts_default();

    opts.mesh = problem_world_mesh(p, mesh);
    opts.world = world;
    opts.cost = p->cost_text;
    return tsr_run(&opts, run_rank, &(problem_call){p, job, arg}, err);
}

void problem_print_settings(const problem *p)
{
    const int ranks = cli_mesh_size(&p->from.mesh);
    char mesh[TSR_TEXT_LEN], limit[CLI_TEXT];

    printf("mesh %s, %d rank%s", tsr_mesh_text(&p->from.mesh, mesh, sizeof mesh), ranks,
           ranks == 1 ? "" : "s");
    if (p->other_mesh)
        printf(", to mesh %s, %d from rank %d on", tsr_mesh_text(&p->to.mesh, mesh, sizeof mesh),
               cli_mesh_size(&p->to.mesh), p->to.mesh.first);
    printf("; cost %s", p->cost_text);
    if (p->limit)
        printf("; at most %s on a rank", cli_bytes((double)p->limit, limit));
    printf("\n\n");
}

int problem_plan(const problem *p, tsr_redist **out)
{
    tsr_error err = {0};

    if (tsr_redist_plan(&p->from, &p->to, &p->cost, (size_t)p->limit, TSR_RIVAL_BEST, out, &err) !=
        TSR_OK)
        return cli_error(&err);
    return CLI_OK;
}
