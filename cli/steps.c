/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - steps of a redistribution's plan as text and as JSON, for explain. */
#include "cli.h"

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

const char *cli_steps_text(const tsr_mesh_shape *mesh, const tsr_step *step, int n_steps, char *buf,
                           size_t n)
{
    char mdims[TSR_TEXT_LEN];
    size_t used = 0;

    snprintf(buf, n, "nothing to do");
    for (int i = 0; i < n_steps && used < n; i++)
        used += (size_t)snprintf(buf + used, n - used, "%s%s(%s)", i ? ", " : "",
                                 tsr_step_name(step[i].kind),
                                 cli_mdims_text(mesh, &step[i], mdims, sizeof mdims));
    return buf;
}

json_t *cli_step_json(const tsr_mesh_shape *mesh, const tsr_step *step)
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
