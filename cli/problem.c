/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - reads the problem texts of draw, explain, verify, run and calibrate, other than those
   of ops. Blanks are optional except after a setting's value; settings may stand anywhere. */
#include "problem.h"

#include <ctype.h>
#include <string.h>

#include "reader.h"

/* ---- the tensor and its target ---- */

/* "f32[5,3]@[S(0),R]", "@[S(0),R]" or "[S(0),R]" */
static bool read_tensor(reader *r, problem_form form)
{
    const char *begin = r->p;
    char shape[TSR_TEXT_LEN];
    size_t n = 0;

    while (isalnum((unsigned char)r->p[n]))
        n++;
    if (n > 0) {
        r->p += n;
        if (!reader_bracket(r, "a shape like [5,3]", shape) ||
            !reader_copy(r, begin, r->p, r->tensor))
            return false;
        r->out->has_tensor = true;
    } else if (form != PROBLEM_FILE && (*r->p == '[' || *r->p == '@')) {
        return reader_wrong(r, r->p,
                            "expected a dtype and a shape, like f32[5,3], before the placements");
    } else if (*r->p == '[') {
        return reader_bracket(r, "placements", r->out->from_text);
    }
    reader_skip_blanks(r);
    if (*r->p != '@')
        return r->out->has_tensor ||
               reader_wrong(r, r->p, "expected a tensor, like f32[5,3]@[S(0),R]");
    r->p++;
    return reader_bracket(r, "placements like [S(0),R]", r->out->from_text);
}

static bool read_target(reader *r)
{
    reader_skip_blanks(r);
    if (strncmp(r->p, "->", 2) != 0)
        return reader_wrong(r, r->p, "expected -> and the placements to go to, like -> [R,R]");
    r->p += 2;
    return reader_bracket(r, "the placements to go to, like [R,R]", r->out->to_text);
}

/* ---- the whole ---- */

bool problem_complete(problem *p, tsr_dtype dtype, const tsr_shape *shape)
{
    tsr_error err = {0};

    p->from.dtype = p->to.dtype = dtype;
    p->from.shape = p->to.shape = *shape;
    p->has_tensor = true;
    if ((p->from_text[0] &&
         tsr_placements_parse(p->from_text, &p->from, &p->from, &err) != TSR_OK) ||
        (p->to_text[0] && tsr_placements_parse(p->to_text, &p->to, &p->to, &err) != TSR_OK)) {
        cli_error(&err);
        return false;
    }
    return true;
}

static bool settle_meshes(reader *r, problem_form form)
{
    problem *p = r->out;

    if (form != PROBLEM_MESH && !reader_needs_mesh(r))
        return false;
    p->has_mesh = r->mesh[0];
    if (r->mesh[0] && !reader_mesh(r, r->mesh, r->mesh_at, &p->from.mesh))
        return false;
    p->to.mesh = p->from.mesh;
    p->other_mesh = r->target_mesh[0];
    if (p->other_mesh && form != PROBLEM_MOVE && form != PROBLEM_FILE)
        return reader_wrong(r, r->target_mesh_at, "to= is for redistributions only");
    return !p->other_mesh || reader_mesh(r, r->target_mesh, r->target_mesh_at, &p->to.mesh);
}

static bool settle_specs(reader *r)
{
    problem *p = r->out;
    tsr_mesh_shape whole = {.ndim = 0};
    tsr_error err = {0};
    tsr_spec bare;

    if (!p->has_tensor)
        return true;
    if (tsr_spec_parse(r->tensor, &whole, &bare, &err) != TSR_OK) {
        cli_bad("%s: %s", r->command, err.text);
        return false;
    }
    return problem_complete(p, bare.dtype, &bare.shape);
}

bool problem_read(const char *command, problem_form form, const char *text, problem *out)
{
    bool move = form == PROBLEM_MOVE || form == PROBLEM_FILE;
    reader r;

    if (!reader_open(&r, command, text, out) || !reader_settings(&r))
        return false;
    if (move && strncmp(r.p, "redistribute", 12) == 0 && !isalnum((unsigned char)r.p[12]))
        r.p += 12;
    if (!reader_settings(&r))
        return false;
    if (form != PROBLEM_MESH && (!read_tensor(&r, form) || !reader_settings(&r)))
        return false;
    if (move && (!read_target(&r) || !reader_settings(&r)))
        return false;
    if (*r.p)
        return reader_wrong(&r, r.p, "unexpected text");
    return settle_meshes(&r, form) && settle_specs(&r);
}
