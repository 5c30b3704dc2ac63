/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - the cost model: a latency per message and a time per byte for each mesh dim, plus a time
   per byte copied locally. And its text form. Called by the planners. */
#include "layout/cost.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/args.h"
#include "base/hash.h"
#include "base/text.h"

tsr_status tsr__cost_given(const char *function, const tsr_cost *given, tsr_cost *usual,
                           const tsr_cost **out, tsr_error *err)
{
    *usual = tsr_cost_default();
    *out = given ? given : usual;
    return TSR_SIZE_CHECK(function, *out, "tsr_cost_default", err);
}

/* The constants of PyTorch 2.14.1 on one host: 19.294 GiB/s, 2.7 us a hop, 6.6 us a step, and 1 us
   more for an all-to-all; collectives only, uneven parts unrounded, local copies free. */
static tsr_cost cost_torch(void)
{
    tsr_cost cost = {.size = sizeof cost,
                     .per_step = 6.6e-6,
                     .per_shuffle = 1e-6,
                     .pending_free = true,
                     .collectives_only = true,
                     .unrounded = true};

    for (int m = 0; m < TSR_MAX_MESH; m++) {
        cost.latency[m] = 2.7e-6;
        cost.per_byte[m] = 1.0 / (19.294 * 1024 * 1024 * 1024);
    }
    return cost;
}

bool tsr__cost_equal(const tsr_cost *a, const tsr_cost *b)
{
    for (int m = 0; m < TSR_MAX_MESH; m++)
        if (a->latency[m] != b->latency[m] || a->per_byte[m] != b->per_byte[m])
            return false;
    return a->per_step == b->per_step && a->per_shuffle == b->per_shuffle &&
           a->memory == b->memory && a->pending_free == b->pending_free &&
           a->collectives_only == b->collectives_only && a->unrounded == b->unrounded &&
           a->reproducible == b->reproducible && a->randomise == b->randomise && a->seed == b->seed;
}

/* The larger part of an all-to-all: of a dim smaller than the group few ranks get all. */
static double shuffled(const tsr_move *move)
{
    return fmax(move->before, move->after);
}

double tsr__move_bytes(const tsr_move *move)
{
    double share = (move->group - 1.0) / move->group;

    switch (move->kind) {
    case TSR_STEP_ALL_GATHER: return move->after * share;
    case TSR_STEP_ALL_TO_ALL: return shuffled(move) * share;
    case TSR_STEP_REDUCE_SCATTER: return move->before * share;
    case TSR_STEP_ALL_REDUCE: return 2 * move->before * share;
    case TSR_STEP_EXCHANGE: return move->bytes;
    case TSR_STEP_SLICE:
    case TSR_STEP_TO_PARTIAL: break;
    }
    return 0;
}

/* Bytes that a rank copies, or adds, by itself: its own share of what it moves or reduces. */
static double own_bytes(const tsr_move *move)
{
    switch (move->kind) {
    case TSR_STEP_SLICE:
    case TSR_STEP_TO_PARTIAL: return move->after;
    case TSR_STEP_ALL_GATHER: return move->after / move->group;
    case TSR_STEP_ALL_TO_ALL: return shuffled(move) / move->group;
    case TSR_STEP_REDUCE_SCATTER:
    case TSR_STEP_ALL_REDUCE: return move->before / move->group;
    case TSR_STEP_EXCHANGE: return move->after > move->bytes ? move->after - move->bytes : 0;
    }
    return 0;
}

/* Costs over several orders of magnitude, so that long plans win against short ones too. */
static double random_seconds(const tsr_cost *cost, const tsr_move *move)
{
    uint64_t h = tsr__hash_mix(tsr__hash_mix(cost->seed, move->key), (uint64_t)move->kind);

    h = tsr__hash_final(h);
    return (double)(UINT64_C(1) << (h % 16)) * (1 + (double)(h >> 40) / (1 << 24)) * 1e-9;
}

double tsr__move_seconds(const tsr_cost *cost, const tsr_move *move)
{
    double a = 0, b = 0, messages;

    if (cost->randomise)
        return random_seconds(cost, move);
    if (move->kind == TSR_STEP_SLICE || move->kind == TSR_STEP_TO_PARTIAL)
        return own_bytes(move) * cost->memory;
    for (int m = 0; m < TSR_MAX_MESH; m++)
        if (move->mdims >> m & 1) {
            a = cost->latency[m] > a ? cost->latency[m] : a;
            b = cost->per_byte[m] > b ? cost->per_byte[m] : b;
        }
    messages = move->kind == TSR_STEP_EXCHANGE     ? move->peers
               : move->kind == TSR_STEP_ALL_REDUCE ? 2.0 * (move->group - 1)
                                                   : move->group - 1.0;
    return cost->per_step + (move->kind == TSR_STEP_ALL_TO_ALL ? cost->per_shuffle : 0) +
           messages * a + tsr__move_bytes(move) * b + own_bytes(move) * cost->memory;
}

/* ---- text form ---- */

/* Of any number, in seconds: bytes and messages times it, added up, stay finite. An infinite price
   would mean that something is impossible. */
static const double MOST = 1e100;

/* Assignments, and where they are from. */
typedef struct source {
    const char *name; /* the whole text, or the path of a file */
    const char *text; /* the file's; NULL: not from a file */
    tsr_error *err;
} source;

/* Quotes what the user wrote; of a file it gives the line, for messages do not quote files. */
static tsr_status wrong(const source *s, const char *at, const char *what)
{
    int line = 1;

    if (!s->text)
        return tsr__fail(s->err, TSR_ERR_PARSE, "cost \"%s\": %s at \"%s\"", s->name, what, at);
    for (const char *p = s->text; p < at; p++)
        line += *p == '\n';
    return tsr__fail(s->err, TSR_ERR_PARSE, "cost file %s, line %d: %s", s->name, line, what);
}

/* "2e-6/1e-5": one value per mesh dim, the last one for all further dims */
static tsr_status numbers(const source *s, const char *p, size_t n, bool inverse, double *out,
                          int count)
{
    const char *stop = p + n;
    int i = 0;

    while (i < count) {
        char *end;
        double value = tsr__parse_double(p, &end);
        if (inverse)
            value = 1 / value;
        if (end == p || end > stop || !(value >= 0) || isinf(value))
            return wrong(s, p, "expected a positive number");
        if (value > MOST)
            return wrong(s, p, inverse ? "expected at least 1e-100" : "expected at most 1e100");
        out[i++] = value;
        p = end;
        if (p == stop || *p != '/' || i == count)
            break;
        p++;
    }
    if (p != stop)
        return wrong(s, p, "unexpected text");
    for (; i < count; i++)
        out[i] = out[i - 1];
    return TSR_OK;
}

static tsr_status assignments(const source *s, const char *p, tsr_cost *cost)
{
    const struct {
        const char *name;
        double *to;
        int count;
        bool inverse;
    } known[] = {
        {"latency", cost->latency, TSR_MAX_MESH, false},
        {"bandwidth", cost->per_byte, TSR_MAX_MESH, true},
        {"step", &cost->per_step, 1, false},
        {"shuffle", &cost->per_shuffle, 1, false},
        {"memory", &cost->memory, 1, true},
    };
    bool seen[sizeof known / sizeof known[0]] = {false};
    tsr_status st = TSR_OK;

    while (*p) {
        size_t n = strcspn(p, "="), value = strcspn(p, ",\n"), i;
        for (i = 0; i < sizeof known / sizeof known[0]; i++)
            if (strlen(known[i].name) == n && strncmp(known[i].name, p, n) == 0 && p[n] == '=')
                break;
        if (i == sizeof known / sizeof known[0])
            return wrong(s, p,
                         "expected default, torch, random:SEED, file:PATH, or latency=, "
                         "bandwidth=, step=, shuffle=, memory=");
        if (seen[i])
            return wrong(s, p, "a number is given twice");
        seen[i] = true;
        TSR_TRY(
            numbers(s, p + n + 1, value - n - 1, known[i].inverse, known[i].to, known[i].count));
        p += value;
        while (*p == ',' || *p == '\n')
            p++;
    }
done:
    return st;
}

static tsr_status from_file(const char *path, tsr_cost *cost, tsr_error *err)
{
    char text[4096];
    FILE *file = fopen(path, "r");
    size_t n;
    int failed;

    if (!file)
        return tsr__fail(err, TSR_ERR_IO, "cost file %s: %s", path, tsr__errno_text(errno));
    n = fread(text, 1, sizeof text, file);
    failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed)
        return tsr__fail(err, TSR_ERR_IO, "cost file %s: %s", path, tsr__errno_text(failed));
    if (n == sizeof text)
        return tsr__fail(err, TSR_ERR_FORMAT, "cost file %s is longer than %zu bytes", path, n - 1);
    text[n] = 0;
    if (strlen(text) != n)
        return tsr__fail(err, TSR_ERR_FORMAT, "cost file %s is not a text file", path);
    if (strspn(text, ",\n") == n)
        return tsr__fail(err, TSR_ERR_FORMAT, "cost file %s sets no number", path);
    return assignments(&(source){path, text, err}, text, cost);
}

static tsr_status parse_numbers(const char *text, tsr_cost *out, tsr_error *err)
{
    tsr_cost cost = tsr_cost_default();
    char *end;
    tsr_status st = TSR_OK;

    if (strncmp(text, "torch", 5) == 0 && (!text[5] || text[5] == ':')) {
        cost = cost_torch();
        TSR_TRY(assignments(&(source){text, NULL, err}, text + 5 + (text[5] == ':'), &cost));
    } else if (strncmp(text, "random:", 7) == 0) {
        cost.randomise = true;
        errno = 0;
        cost.seed = tsr__parse_u64(text + 7, &end);
        if (!tsr__is_digit(text[7]) || *end || errno)
            TSR_TRY(tsr__fail(err, TSR_ERR_PARSE,
                              "cost \"%s\": expected a number after random:", text));
    } else if (strncmp(text, "file:", 5) == 0) {
        TSR_TRY(from_file(text + 5, &cost, err));
    } else if (strcmp(text, "default") != 0) {
        TSR_TRY(assignments(&(source){text, NULL, err}, text, &cost));
    }
    *out = cost;
done:
    return st;
}

tsr_status tsr_cost_parse(const char *text, tsr_cost *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, out);

    static const char flag[] = "+reproducible";
    const size_t n = text ? strlen(text) : 0, more = sizeof flag - 1;
    const bool reproducible = n >= more && strcmp(text + n - more, flag) == 0;
    char numbers[PATH_MAX];
    tsr_status st;

    if (!text)
        return tsr__fail(err, TSR_ERR_ARG, "the cost is NULL");
    if (n >= sizeof numbers)
        return tsr__fail(err, TSR_ERR_PARSE, "the cost is longer than %zu characters",
                         sizeof numbers - 1);
    TSR_TRY(TSR_SIZE_CHECK("tsr_cost_parse", out, "tsr_cost_default", err));
    memcpy(numbers, text, n + 1);
    if (reproducible)
        numbers[n - more] = 0;
    TSR_TRY(parse_numbers(numbers, out, err));
    out->reproducible = reproducible;
done:
    return st;
}
