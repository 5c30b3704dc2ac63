/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - which slots a tensor's dims fall into and which ranks hold them. Decides what is
   shown; how it looks is the business of draw_text.c and draw_svg.c. */
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 64 }; /* of one rank along one dim that are looked at */

/* ---- texts ---- */

const char *picture_shape(const tsr_shape *shape, char *buf, size_t n)
{
    size_t used = (size_t)snprintf(buf, n, "[");

    for (int d = 0; d < shape->ndim && used < n; d++)
        used += (size_t)snprintf(buf + used, n - used, "%s%" PRId64, d ? "," : "", shape->size[d]);
    if (used < n)
        snprintf(buf + used, n - used, "]");
    return buf;
}

const char *picture_coord(const tsr_mesh_shape *mesh, int index, char *buf, size_t n)
{
    int coord[TSR_MAX_MESH];
    size_t used = (size_t)snprintf(buf, n, "(");

    cli_mesh_rank(mesh, index, coord);
    for (int m = 0; m < mesh->ndim && used < n; m++)
        used += (size_t)snprintf(buf + used, n - used, "%s%d", m ? "," : "", coord[m]);
    if (used < n)
        snprintf(buf + used, n - used, ")");
    return buf;
}

const char *picture_cut(const picture *p, char buf[CLI_TEXT])
{
    size_t used = 0;

    buf[0] = 0;
    if (p->other_dims && !p->view)
        snprintf(buf, CLI_TEXT, ", at index 0 of the other dims");
    for (int d = 0; d < p->spec->shape.ndim && used < CLI_TEXT && p->view; d++)
        if (d != p->row.dim && d != p->col.dim)
            used += (size_t)snprintf(buf + used, CLI_TEXT - used, "%s%" PRId64 " of dim %d",
                                     used ? ", " : ", at index ", p->at[d], d);
    return buf;
}

const char *picture_ranges(const tsr_spec *spec, int index, int dim, char *buf, size_t n)
{
    tsr_index_run runs[RUNS];
    int n_runs = 0, shown = 0;
    int64_t all = 0;
    size_t used = 0;

    snprintf(buf, n, "none");
    if (tsr_spec_runs(spec, index, dim, runs, RUNS, &n_runs, NULL) != TSR_OK)
        return buf;
    for (int i = 0; i < n_runs && i < RUNS; i++)
        all += runs[i].count;
    for (int i = 0; i < n_runs && i < RUNS; i++)
        for (int64_t j = 0; j < runs[i].count && shown < 4 && used < n; j++, shown++) {
            int64_t begin = runs[i].begin + j * runs[i].step;

            if (shown == 3 && all > 4)
                used += (size_t)snprintf(buf + used, n - used, ",..(%" PRId64 "%s)", all,
                                         n_runs > RUNS ? "+" : "");
            else
                used += (size_t)snprintf(buf + used, n - used, "%s%" PRId64 ":%" PRId64,
                                         used ? "," : "", begin, begin + runs[i].len);
        }
    return buf;
}

/* ---- axes ---- */

static bool holds(const tsr_index_run *runs, int n, int64_t i)
{
    for (int k = 0; k < n; k++) {
        const tsr_index_run *r = &runs[k];
        int64_t off = i - r->begin, j;

        if (off < 0 || r->len == 0)
            continue;
        j = r->step > 0 ? off / r->step : 0;
        if (j < r->count && off - j * r->step < r->len)
            return true;
    }
    return false;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sort, drop doubles. */
static int settle(int64_t *points, int n)
{
    int kept = 0;

    qsort(points, (size_t)n, sizeof *points, by_value);
    for (int i = 0; i < n; i++)
        if (kept == 0 || points[kept - 1] != points[i])
            points[kept++] = points[i];
    return kept;
}

/* How many indices from 0 on a circular window shows that goes beyond the end. */
static int64_t around(const tsr_spec *spec, const tsr_window_range *window, int dim)
{
    const int64_t size = spec->shape.size[dim];

    return window->end > size ? window->end - size : 0;
}

/* Where along dim some rank's indices begin or end, or a window: the first `cap` such places. */
static int boundaries(const tsr_spec *spec, const tsr_window_range *window, int dim, int n_ranks,
                      int cap, int64_t *out)
{
    int64_t points[4 * PICTURE_SLOTS + 16];
    int n = 0;

    points[n++] = 0;
    points[n++] = spec->shape.size[dim];
    if (window) {
        points[n++] = window->from;
        points[n++] = around(spec, window, dim) > 0 ? around(spec, window, dim) : window->to;
    }
    for (int r = 0; r < n_ranks; r++) {
        tsr_index_run runs[RUNS];
        int n_runs = 0, mine = 0;

        tsr_spec_runs(spec, r, dim, runs, RUNS, &n_runs, NULL);
        for (int i = 0; i < n_runs && i < RUNS; i++)
            for (int64_t j = 0; j < runs[i].count && mine < PICTURE_SLOTS + 2; j++, mine += 2) {
                points[n++] = runs[i].begin + j * runs[i].step;
                points[n++] = runs[i].begin + j * runs[i].step + runs[i].len;
            }
        n = settle(points, n);
        n = n > cap ? cap : n;
    }
    memcpy(out, points, (size_t)n * sizeof *out);
    return n;
}

/* The window of the view along a dim, NULL if there is none. */
static const tsr_window_range *window_along(const picture_view *view, int dim)
{
    return view && dim >= 0 && view->along[dim] ? &view->window[dim] : NULL;
}

static void cut_slots(const tsr_spec *spec, const tsr_window_range *window, int max_elements,
                      int max_slots, int n_ranks, picture_axis *a)
{
    int64_t points[PICTURE_SLOTS + 2], first = 0, end = a->size;
    int n;

    if (window && window->from < window->to && around(spec, window, a->dim) == 0) {
        first = window->from < 0 ? window->from : 0;
        end = window->to > end ? window->to : end;
    }
    a->size = end - first;
    a->elements = a->size <= max_elements;
    if (a->elements) {
        a->n = (int)a->size;
        for (int i = 0; i <= a->n; i++)
            a->begin[i] = first + i;
        return;
    }
    n = boundaries(spec, window && window->from < window->to ? window : NULL, a->dim, n_ranks,
                   max_slots + 2, points);
    a->more = n > max_slots + 1;
    a->n = a->more ? max_slots : n - 1;
    memcpy(a->begin, points, (size_t)a->n * sizeof a->begin[0]);
    a->begin[a->n] = end;
}

/* Which slots the view sees, and which are beyond the tensor's ends. */
static void look_along(const tsr_spec *spec, const tsr_window_range *window, picture_axis *a)
{
    for (int i = 0; i < a->n; i++) {
        int64_t x = a->begin[i];

        a->seen[i] =
            !window || (x >= window->from && x < window->to) || x < around(spec, window, a->dim);
        a->beyond[i] = a->dim >= 0 && (x < 0 || x >= spec->shape.size[a->dim]);
    }
}

/* Other ranks hold slot i than the one before it; of ranges, they are seen otherwise too. */
static bool is_cut(const picture_axis *a, int i, int n_ranks)
{
    const unsigned char *held = a->held + (size_t)i * (size_t)n_ranks;

    return (a->more && i == a->n - 1) || (!a->elements && a->seen[i] != a->seen[i - 1]) ||
           memcmp(held, held - n_ranks, (size_t)n_ranks) != 0;
}

static bool make_axis(const tsr_spec *spec, const picture_view *view, int dim, int max_elements,
                      int max_slots, int n_ranks, picture_axis *a)
{
    *a = (picture_axis){.dim = dim, .size = dim < 0 ? 1 : spec->shape.size[dim]};
    if (dim >= 0) {
        cut_slots(spec, window_along(view, dim), max_elements, max_slots, n_ranks, a);
    } else {
        a->n = 1;
        a->begin[1] = 1;
    }
    look_along(spec, window_along(view, dim), a);
    a->held = calloc((size_t)(a->n + 1) * (size_t)n_ranks, 1);
    if (!a->held)
        return false;
    for (int r = 0; r < n_ranks; r++) {
        tsr_index_run runs[RUNS];
        int n_runs = 0;

        if (dim >= 0)
            tsr_spec_runs(spec, r, dim, runs, RUNS, &n_runs, NULL);
        n_runs = n_runs > RUNS ? RUNS : n_runs;
        for (int i = 0; i < a->n; i++)
            a->held[(size_t)i * (size_t)n_ranks + (size_t)r] =
                dim < 0 || holds(runs, n_runs, a->begin[i]);
    }
    a->cut[0] = a->cut[a->n] = true;
    for (int i = 1; i < a->n; i++)
        a->cut[i] = is_cut(a, i, n_ranks);
    return true;
}

/* How much a dim deserves to be shown. */
static int weight(const tsr_spec *spec, const picture_view *view, int dim)
{
    if (window_along(view, dim))
        return 2;
    for (int m = 0; m < spec->mesh.ndim; m++)
        if ((spec->place[m].kind == TSR_SHARD || spec->place[m].kind == TSR_STRIDED) &&
            spec->place[m].dim == dim)
            return view ? 0 : 1;
    return view && spec->shape.size[dim] > 1 ? 1 : 0;
}

/* The two dims to show: sharded ones first, then the leading ones; for a view those with windows
   first, then the last ones, which are space as a rule. -1 where there are fewer. */
static void choose_dims(const tsr_spec *spec, const picture_view *view, int *row, int *col)
{
    int chosen[2] = {-1, -1}, n = 0, ndim = spec->shape.ndim;

    for (int pass = 2; pass >= 0; pass--)
        for (int i = 0; i < ndim && n < 2; i++) {
            int d = view && pass < 2 ? ndim - 1 - i : i;

            if (weight(spec, view, d) == pass)
                chosen[n++] = d;
        }
    *row = n == 2 ? (chosen[0] < chosen[1] ? chosen[0] : chosen[1]) : -1;
    *col = n == 2 ? (chosen[0] < chosen[1] ? chosen[1] : chosen[0]) : chosen[0];
}

/* Dims that are not shown are cut at index 0, or where the part of the rank that looks begins. */
static void look_at_others(picture *p)
{
    for (int d = 0; d < p->spec->shape.ndim; d++) {
        tsr_index_run runs[RUNS];
        int n_runs = 0;

        if (d == p->row.dim || d == p->col.dim)
            continue;
        p->other_dims = true;
        if (p->view &&
            tsr_spec_runs(p->spec, p->view->index, d, runs, 1, &n_runs, NULL) == TSR_OK &&
            n_runs > 0)
            p->at[d] = runs[0].begin;
        for (int r = 0; r < p->n_ranks; r++) {
            n_runs = 0;
            tsr_spec_runs(p->spec, r, d, runs, RUNS, &n_runs, NULL);
            if (!holds(runs, n_runs > RUNS ? RUNS : n_runs, p->at[d]))
                p->at_cut[r] = 0;
        }
    }
}

tsr_status picture_make(const tsr_spec *spec, const picture_view *view, int max_elements,
                        int max_slots, picture *out, tsr_error *err)
{
    picture p = {.spec = spec, .view = view, .n_ranks = cli_mesh_size(&spec->mesh)};
    int row, col;

    choose_dims(spec, view, &row, &col);
    p.at_cut = malloc((size_t)p.n_ranks);
    if (!p.at_cut || !make_axis(spec, view, row, max_elements, max_slots, p.n_ranks, &p.row) ||
        !make_axis(spec, view, col, max_elements, max_slots, p.n_ranks, &p.col)) {
        picture_free(&p);
        *err = (tsr_error){.code = TSR_ERR_MEMORY, .text = "out of memory"};
        return TSR_ERR_MEMORY;
    }
    memset(p.at_cut, 1, (size_t)p.n_ranks);
    look_at_others(&p);
    for (int m = 0; m < spec->mesh.ndim; m++) {
        p.partials = p.partials || (spec->place[m].kind == TSR_PARTIAL && spec->mesh.size[m] > 1);
        p.replicas = p.replicas || (spec->place[m].kind == TSR_REPLICATE && spec->mesh.size[m] > 1);
    }
    *out = p;
    return TSR_OK;
}

void picture_free(picture *p)
{
    free(p->row.held);
    free(p->col.held);
    free(p->at_cut);
    p->row.held = p->col.held = p->at_cut = NULL;
}

/* ---- cells ---- */

int picture_owners(const picture *p, int row, int col, int *index, int cap)
{
    const unsigned char *a = p->row.held + (size_t)row * (size_t)p->n_ranks;
    const unsigned char *b = p->col.held + (size_t)col * (size_t)p->n_ranks;
    int n = 0;

    for (int r = 0; r < p->n_ranks; r++)
        if (a[r] && b[r] && p->at_cut[r]) {
            if (n < cap)
                index[n] = r;
            n++;
        }
    return n;
}

picture_cell picture_cell_of(const picture *p, int row, int col)
{
    bool seen = p->row.seen[row] && p->col.seen[col];
    const size_t n = (size_t)p->n_ranks;

    if (!p->view)
        return PICTURE_HELD;
    if (p->row.beyond[row] || p->col.beyond[col])
        return seen ? PICTURE_BEYOND : PICTURE_NOTHING;
    if (!seen)
        return PICTURE_UNSEEN;
    return p->row.held[(size_t)row * n + (size_t)p->view->index] &&
                   p->col.held[(size_t)col * n + (size_t)p->view->index]
               ? PICTURE_HELD
               : PICTURE_MISSING;
}

/* Ranks whose terms belong together: equal coordinates on all mesh dims that are not partial. */
static bool together(const tsr_spec *spec, int a, int b)
{
    int x[TSR_MAX_MESH], y[TSR_MAX_MESH];

    cli_mesh_rank(&spec->mesh, a, x);
    cli_mesh_rank(&spec->mesh, b, y);
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind != TSR_PARTIAL && x[m] != y[m])
            return false;
    return true;
}

/* "0-3,8" */
static size_t ranges_label(const int *rank, int n, char *buf, size_t room)
{
    size_t used = 0;

    for (int i = 0; i < n && used < room;) {
        int j = i;

        while (j + 1 < n && rank[j + 1] == rank[j] + 1)
            j++;
        if (j > i + 1) {
            used += (size_t)snprintf(buf + used, room - used, "%s%d-%d", used ? "," : "", rank[i],
                                     rank[j]);
        } else {
            j = i;
            used += (size_t)snprintf(buf + used, room - used, "%s%d", used ? "," : "", rank[i]);
        }
        i = j + 1;
    }
    return used;
}

/* "0+1,2+3" */
static size_t terms_label(const picture *p, const int *index, int n, char *buf, size_t room)
{
    bool done[PICTURE_OWNERS] = {false};
    int coord[TSR_MAX_MESH];
    size_t used = 0;

    for (int i = 0; i < n; i++) {
        bool first = true;

        for (int j = i; j < n && used < room && !done[i]; j++) {
            if (done[j] || (j > i && !together(p->spec, index[i], index[j])))
                continue;
            used +=
                (size_t)snprintf(buf + used, room - used, "%s%d", first ? (used ? "," : "") : "+",
                                 cli_mesh_rank(&p->spec->mesh, index[j], coord));
            first = false;
            done[j] = j > i;
        }
    }
    return used;
}

const char *picture_label(const picture *p, int row, int col, char buf[PICTURE_LABEL])
{
    int index[PICTURE_OWNERS], rank[PICTURE_OWNERS], coord[TSR_MAX_MESH];
    int n = picture_owners(p, row, col, index, PICTURE_OWNERS);
    picture_cell cell = picture_cell_of(p, row, col);
    size_t used = PICTURE_LABEL;

    if ((p->row.more && row == p->row.n - 1) || (p->col.more && col == p->col.n - 1)) {
        snprintf(buf, PICTURE_LABEL, "..");
        return buf;
    }
    if (cell == PICTURE_BEYOND || cell == PICTURE_NOTHING) {
        snprintf(buf, PICTURE_LABEL, "%s", cell == PICTURE_BEYOND ? "." : "");
        return buf;
    }
    for (int i = 0; i < n && i < PICTURE_OWNERS; i++)
        rank[i] = cli_mesh_rank(&p->spec->mesh, index[i], coord);
    if (n <= PICTURE_OWNERS && p->partials)
        used = terms_label(p, index, n, buf, PICTURE_LABEL);
    else if (n <= PICTURE_OWNERS)
        used = ranges_label(rank, n, buf, PICTURE_LABEL);
    if (used > 15)
        snprintf(buf, PICTURE_LABEL, "%d ranks", n);
    return buf;
}
