/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - reads the problem texts of draw, explain, verify, run and calibrate. Blanks are
   optional except after an option's value; options may stand anywhere. The library reads the parts
   (specs, meshes, costs); this file finds them and says where something is missing. */
#include "problem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *command, *text, *p;
    problem *out;
    char tensor[TSR_TEXT_LEN]; /* dtype and shape, "" if not given */
    char mesh[TSR_TEXT_LEN], target_mesh[TSR_TEXT_LEN];
    const char *mesh_at, *target_mesh_at;
} reader;

/* ---- messages ---- */

/* The sentence, then the text with a mark under the place. */
static bool wrong(const reader *r, const char *at, const char *sentence)
{
    int column = (int)(at - r->text);

    cli_bad("%s: at column %d: %s", r->command, column + 1, sentence);
    if (cli_speaks() && *r->text)
        fprintf(stderr, "  %s\n  %*s^\n", r->text, column, "");
    return false;
}

static bool wrong_error(const reader *r, const char *at, const tsr_error *err)
{
    return wrong(r, at, err->text);
}

/* ---- pieces of text ---- */

static void skip_blanks(reader *r)
{
    while (isspace((unsigned char)*r->p))
        r->p++;
}

static bool copy(const reader *r, const char *from, const char *end, char to[TSR_TEXT_LEN])
{
    if (end - from >= TSR_TEXT_LEN)
        return wrong(r, from, "this part is too long");
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = 0;
    return true;
}

/* "[...]" at the cursor */
static bool bracket(reader *r, const char *what, char to[TSR_TEXT_LEN])
{
    const char *end;
    char sentence[200];

    skip_blanks(r);
    end = *r->p == '[' ? strchr(r->p, ']') : NULL;
    if (!end) {
        snprintf(sentence, sizeof sentence, "expected %s", what);
        return wrong(r, r->p, sentence);
    }
    if (!copy(r, r->p, end + 1, to))
        return false;
    r->p = end + 1;
    return true;
}

/* ---- options ---- */

static bool read_limit(reader *r, const char *at, const char *value)
{
    if (!cli_bytes_parse(value, strlen(value), &r->out->limit))
        return wrong(r, at, "expected a number of bytes, like 65536 or 64MiB");
    return true;
}

static bool read_seed(reader *r, const char *at, const char *value)
{
    char *end;

    errno = 0;
    r->out->seed = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno)
        return wrong(r, at, "expected a number");
    return true;
}

static bool read_world(reader *r, const char *at, const char *value)
{
    for (int w = TSR_WORLD_AUTO; w <= TSR_WORLD_SIM; w++)
        if (strcmp(value, cli_world_name((tsr_world_kind)w)) == 0) {
            r->out->world = (tsr_world_kind)w;
            return true;
        }
    return wrong(r, at, "expected world=auto, thread, mpi or sim");
}

static bool read_cost(reader *r, const char *at, const char *value)
{
    tsr_error err = {0};

    snprintf(r->out->cost_text, sizeof r->out->cost_text, "%s", value);
    if (tsr_cost_parse(value, &r->out->cost, &err) != TSR_OK)
        return wrong_error(r, at, &err);
    return true;
}

static bool read_mesh(reader *r, const char *at, const char *value)
{
    r->mesh_at = at;
    return copy(r, value, value + strlen(value), r->mesh);
}

static bool read_to(reader *r, const char *at, const char *value)
{
    r->target_mesh_at = at;
    return copy(r, value, value + strlen(value), r->target_mesh);
}

static const struct {
    const char *name;
    bool (*read)(reader *r, const char *at, const char *value);
} options[] = {
    {"mesh", read_mesh},   {"to", read_to},     {"cost", read_cost},
    {"limit", read_limit}, {"seed", read_seed}, {"world", read_world},
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

/* Letters followed by =. */
static size_t option_name(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n > 0 && p[n] == '=' ? n : 0;
}

static bool unknown_option(const reader *r, const char *name)
{
    const char *names[N_OPTIONS], *near;
    char sentence[200];

    for (int i = 0; i < N_OPTIONS; i++)
        names[i] = options[i].name;
    near = cli_nearest(name, names, N_OPTIONS);
    snprintf(sentence, sizeof sentence, "unknown option \"%.40s=\"%s%s%s", name,
             near ? "; did you mean " : "", near ? near : "", near ? "=?" : "");
    return wrong(r, r->p, sentence);
}

/* All options at the cursor. */
static bool read_options(reader *r)
{
    for (;;) {
        size_t n, length;
        char name[TSR_TEXT_LEN], value[TSR_TEXT_LEN];
        int i = 0;

        skip_blanks(r);
        n = option_name(r->p);
        if (n == 0)
            return true;
        if (!copy(r, r->p, r->p + n, name))
            return false;
        while (i < N_OPTIONS && strcmp(options[i].name, name) != 0)
            i++;
        if (i == N_OPTIONS)
            return unknown_option(r, name);
        length = strcspn(r->p, " \t\r\n");
        if (!copy(r, r->p + n + 1, r->p + length, value))
            return false;
        if (!options[i].read(r, r->p + n + 1, value))
            return false;
        r->p += length;
    }
}

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
        if (!bracket(r, "a shape like [5,3]", shape) || !copy(r, begin, r->p, r->tensor))
            return false;
        r->out->has_tensor = true;
    } else if (form != PROBLEM_FILE && (*r->p == '[' || *r->p == '@')) {
        return wrong(r, r->p, "expected a dtype and a shape, like f32[5,3], before the placements");
    } else if (*r->p == '[') {
        return bracket(r, "placements", r->out->from_text);
    }
    skip_blanks(r);
    if (*r->p != '@')
        return r->out->has_tensor || wrong(r, r->p, "expected a tensor, like f32[5,3]@[S(0),R]");
    r->p++;
    return bracket(r, "placements like [S(0),R]", r->out->from_text);
}

static bool read_target(reader *r)
{
    skip_blanks(r);
    if (strncmp(r->p, "->", 2) != 0)
        return wrong(r, r->p, "expected -> and the placements to go to, like -> [R,R]");
    r->p += 2;
    return bracket(r, "the placements to go to, like [R,R]", r->out->to_text);
}

/* "2x2" or "2x2@4" */
static bool parse_mesh(const reader *r, const char *text, const char *at, tsr_mesh_shape *out)
{
    char mesh[TSR_TEXT_LEN];
    const char *sign = strchr(text, '@');
    tsr_error err = {0};
    char *end;
    long first;

    snprintf(mesh, sizeof mesh, "%.*s", sign ? (int)(sign - text) : TSR_TEXT_LEN - 1, text);
    if (tsr_mesh_parse(mesh, out, &err) != TSR_OK)
        return wrong_error(r, at, &err);
    if (!sign)
        return true;
    first = strtol(sign + 1, &end, 10);
    if (!isdigit((unsigned char)sign[1]) || *end || first > INT_MAX - cli_mesh_size(out))
        return wrong(r, at + (sign - text) + 1, "expected the first rank of the mesh");
    out->first = (int)first;
    return true;
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

    if (!r->mesh[0] && form != PROBLEM_MESH)
        return wrong(r, r->text + strlen(r->text), "mesh= is missing, for example mesh=2x2");
    p->has_mesh = r->mesh[0];
    if (r->mesh[0] && !parse_mesh(r, r->mesh, r->mesh_at, &p->from.mesh))
        return false;
    p->to.mesh = p->from.mesh;
    p->other_mesh = r->target_mesh[0];
    if (p->other_mesh && form != PROBLEM_MOVE && form != PROBLEM_FILE)
        return wrong(r, r->target_mesh_at, "to= is for redistributions only");
    return !p->other_mesh || parse_mesh(r, r->target_mesh, r->target_mesh_at, &p->to.mesh);
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

static bool usual_cost(problem *p)
{
    const char *text = getenv("TESSERA_COST");
    tsr_error err = {0};

    snprintf(p->cost_text, sizeof p->cost_text, "%s", text && *text ? text : "default");
    if (tsr_cost_parse(p->cost_text, &p->cost, &err) == TSR_OK)
        return true;
    cli_bad("TESSERA_COST: %s", err.text);
    return false;
}

bool problem_read(const char *command, problem_form form, const char *text, problem *out)
{
    reader r = {.command = command, .text = text, .p = text, .out = out};
    bool move = form == PROBLEM_MOVE || form == PROBLEM_FILE;

    memset(out, 0, sizeof *out);
    out->seed = 1;
    if (!usual_cost(out) || !read_options(&r))
        return false;
    if (move && strncmp(r.p, "redistribute", 12) == 0 && !isalnum((unsigned char)r.p[12]))
        r.p += 12;
    if (!read_options(&r))
        return false;
    if (form != PROBLEM_MESH && (!read_tensor(&r, form) || !read_options(&r)))
        return false;
    if (move && (!read_target(&r) || !read_options(&r)))
        return false;
    if (*r.p)
        return wrong(&r, r.p, "nothing expected");
    return settle_meshes(&r, form) && settle_specs(&r);
}
