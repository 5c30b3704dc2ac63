/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - steps of a redistribution's plan as text and as JSON, for explain. */
#include "cli.h"

#include <stdlib.h>

cli_plan cli_plan_of(tsr_redist *plan)
{
    cli_plan p = {.step = NULL};

    if (!plan)
        return p;
    p.info = tsr_redist_info_get(plan);
    p.step = calloc((size_t)p.info.n_steps + 1, sizeof *p.step);
    for (int i = 0; i < p.info.n_steps && p.step; i++)
        tsr_redist_step(plan, i, &p.step[i]);
    tsr_redist_free(plan);
    return p;
}

const char *cli_mdims_text(const tsr_mesh_shape *mesh, const tsr_step *step, char *buf, size_t n)
{
    char name[CLI_TEXT];
    size_t used = 0;

    snprintf(buf, n, "-");
    for (int m = 0; m < mesh->ndim && used < n; m++)
        if (step->mdims[m])
            used += (size_t)snprintf(buf + used, n - used, "%s%s", used ? "," : "",
                                     cli_mdim_name(mesh, m, name));
    return buf;
}

const char *cli_steps_text(const tsr_mesh_shape *mesh, const cli_plan *plan, char *buf, size_t n)
{
    char mdims[TSR_TEXT_LEN];
    size_t used = 0;

    snprintf(buf, n, "nothing to do");
    for (int i = 0; i < plan->info.n_steps && used < n; i++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s(%s)", i ? ", " : "",
                                 tsr_step_name(plan->step[i].kind),
                                 cli_mdims_text(mesh, &plan->step[i], mdims, sizeof mdims));
    return buf;
}

static json_t *step_json(const tsr_mesh_shape *mesh, const tsr_step *step)
{
    json_t *mdims = json_array();
    char name[CLI_TEXT];

    for (int m = 0; m < mesh->ndim; m++)
        if (step->mdims[m])
            json_array_append_new(mdims, json_string(cli_mdim_name(mesh, m, name)));
    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:f}", "kind", tsr_step_name(step->kind),
                     "mesh_dims", mdims, "from", step->from, "to", step->to, "bytes",
                     (json_int_t)step->bytes, "memory", (json_int_t)step->memory, "seconds",
                     step->seconds);
}

json_t *cli_steps_json(const tsr_mesh_shape *mesh, const cli_plan *plan)
{
    json_t *steps = json_array();

    for (int i = 0; i < plan->info.n_steps; i++)
        json_array_append_new(steps, step_json(mesh, &plan->step[i]));
    return steps;
}
