/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - the cursor over a problem's text (reader.h). The library reads the parts (meshes,
   costs); this file finds them and says where something is wrong. */
#include "reader.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

bool reader_wrong(const reader *r, const char *at, const char *format, ...)
{
    int column = (int)(at - r->text);
    char sentence[1024];
    va_list list;

    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    cli_bad("%s: at column %d: %s", r->command, column + 1, sentence);
    if (cli_speaks() && *r->text)
        fprintf(stderr, "  %s\n  %*s^\n", r->text, column, "");
    return false;
}

/* ---- pieces of text ---- */

void reader_skip_blanks(reader *r)
{
    while (isspace((unsigned char)*r->p))
        r->p++;
}

bool reader_copy(const reader *r, const char *from, const char *end, char to[TSR_TEXT_LEN])
{
    if (end - from >= TSR_TEXT_LEN)
        return reader_wrong(r, from, "this part is too long");
    memcpy(to, from, (size_t)(end - from));
    to[end - from] = 0;
    return true;
}

bool reader_bracket(reader *r, const char *what, char to[TSR_TEXT_LEN])
{
    const char *end;

    reader_skip_blanks(r);
    end = *r->p == '[' ? strchr(r->p, ']') : NULL;
    if (!end)
        return reader_wrong(r, r->p, "expected %s", what);
    if (!reader_copy(r, r->p, end + 1, to))
        return false;
    r->p = end + 1;
    return true;
}

size_t reader_word(const char *p)
{
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n;
}

size_t reader_name(const char *p)
{
    size_t n = reader_word(p);

    return p[n] == '=' ? n : 0;
}

/* ---- settings ---- */

static bool read_limit(reader *r, const char *at, const char *value)
{
    if (!cli_bytes_parse(value, strlen(value), &r->out->limit))
        return reader_wrong(r, at, "expected a number of bytes, like 65536 or 64MiB");
    return true;
}

static bool read_seed(reader *r, const char *at, const char *value)
{
    char *end;

    errno = 0;
    r->out->seed = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || errno)
        return reader_wrong(r, at, "expected a number of 0 to 2^64-1");
    r->seed_at = r->p;
    return true;
}

static bool read_world(reader *r, const char *at, const char *value)
{
    for (int w = TSR_WORLD_AUTO; w <= TSR_WORLD_SIM; w++)
        if (strcmp(value, cli_world_name((tsr_world_kind)w)) == 0) {
            r->out->world = (tsr_world_kind)w;
            return true;
        }
    return reader_wrong(r, at, "expected world=auto, thread, mpi or sim");
}

static bool read_cost(reader *r, const char *at, const char *value)
{
    tsr_error err = {0};

    snprintf(r->out->cost_text, sizeof r->out->cost_text, "%s", value);
    if (tsr_cost_parse(value, &r->out->cost, &err) != TSR_OK)
        return reader_wrong(r, at, "%s", err.text);
    return true;
}

static bool read_mesh(reader *r, const char *at, const char *value)
{
    r->mesh_at = at;
    return reader_copy(r, value, value + strlen(value), r->mesh);
}

static bool read_to(reader *r, const char *at, const char *value)
{
    r->target_mesh_at = at;
    return reader_copy(r, value, value + strlen(value), r->target_mesh);
}

static const struct {
    const char *name;
    bool (*read)(reader *r, const char *at, const char *value);
} settings[] = {
    {"mesh", read_mesh},   {"to", read_to},     {"cost", read_cost},
    {"limit", read_limit}, {"seed", read_seed}, {"world", read_world},
};
_Static_assert(sizeof settings / sizeof settings[0] == READER_SETTINGS, "one name each");

int reader_setting_names(const char *names[READER_SETTINGS])
{
    for (int i = 0; i < READER_SETTINGS; i++)
        names[i] = settings[i].name;
    return READER_SETTINGS;
}

bool reader_setting(reader *r, size_t n, bool *known)
{
    size_t length = strcspn(r->p, " \t\r\n");
    char value[TSR_TEXT_LEN];

    *known = false;
    for (int i = 0; i < READER_SETTINGS; i++) {
        if (strlen(settings[i].name) != n || strncmp(settings[i].name, r->p, n) != 0)
            continue;
        *known = true;
        if (r->seen >> i & 1)
            return reader_wrong(r, r->p, "%s= is given twice", settings[i].name);
        r->seen |= 1u << i;
        if (!reader_copy(r, r->p + n + 1, r->p + length, value) ||
            !settings[i].read(r, r->p + n + 1, value))
            return false;
        r->p += length;
    }
    return true;
}

static bool unknown_setting(const reader *r, size_t n)
{
    const char *names[READER_SETTINGS], *near;
    char name[TSR_TEXT_LEN];

    if (!reader_copy(r, r->p, r->p + n, name))
        return false;
    near = cli_nearest(name, names, reader_setting_names(names));
    return reader_wrong(r, r->p, "unknown option \"%.40s=\"%s%s%s", name,
                        near ? "; did you mean " : "", near ? near : "", near ? "=?" : "");
}

bool reader_settings(reader *r)
{
    for (;;) {
        bool known;
        size_t n;

        reader_skip_blanks(r);
        n = reader_name(r->p);
        if (n == 0)
            return true;
        if (!reader_setting(r, n, &known))
            return false;
        if (!known)
            return unknown_setting(r, n);
    }
}

/* ---- meshes, and the usual settings ---- */

bool reader_needs_mesh(const reader *r)
{
    return r->mesh[0] ||
           reader_wrong(r, r->text + strlen(r->text), "mesh= is missing, for example mesh=2x2");
}

bool reader_mesh(const reader *r, const char *text, const char *at, tsr_mesh_shape *out)
{
    char mesh[TSR_TEXT_LEN];
    const char *sign = strchr(text, '@');
    tsr_error err = {0};
    char *end;
    long first;

    snprintf(mesh, sizeof mesh, "%.*s", sign ? (int)(sign - text) : TSR_TEXT_LEN - 1, text);
    if (tsr_mesh_parse(mesh, out, &err) != TSR_OK)
        return reader_wrong(r, at, "%s", err.text);
    if (!sign)
        return true;
    first = strtol(sign + 1, &end, 10);
    if (!isdigit((unsigned char)sign[1]) || *end || first > INT_MAX - cli_mesh_size(out))
        return reader_wrong(r, at + (sign - text) + 1, "expected the first rank of the mesh");
    out->first = (int)first;
    return true;
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

bool reader_open(reader *r, const char *command, const char *text, problem *out)
{
    memset(out, 0, sizeof *out);
    out->seed = 1;
    out->cost = tsr_cost_default();
    *r = (reader){.command = command, .text = text, .p = text, .out = out};
    return usual_cost(out);
}
