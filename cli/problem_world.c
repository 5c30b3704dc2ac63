/* SPDX-License-Identifier: Apache-2.0 */
/* problem_world.c - a problem's text form again, and the world and meshes that it runs on. */
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

tsr_status problem_meshes(const problem *p, tsr_mesh *world, tsr_mesh **from, tsr_mesh **to)
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
