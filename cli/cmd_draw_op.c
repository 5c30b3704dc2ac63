/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_draw_op.c - tessera draw for ops that see operands through windows: what of an operand one
   rank needs, which ranks hold it, and a table of what goes between all of them. Pure. */
#include "op_halo.h"
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 32, FROM = 128 };

typedef struct halo_art {
    op_problem p;
    op_halo halo[TSR_OP_WINDOWS];
    int n;
    int index;      /* of the rank that looks */
    int64_t *bytes; /* from or to each other one */
} halo_art;

static int rank_of(const op_halo *h, int index)
{
    int coord[TSR_MAX_MESH];

    return cli_mesh_rank(&h->spec->mesh, index, coord);
}

/* Who looks: the rank asked for, or the one that needs most of others, or fills most for them. */
static int find_index(const char *text, const op_halo *h, int *index)
{
    char *end;
    long rank;

    *index = op_halo_busiest(h, h->reverse);
    if (!text)
        return CLI_OK;
    rank = strtol(text, &end, 10);
    for (*index = 0; *text && !*end && *index < h->n_ranks; ++*index)
        if (rank_of(h, *index) == rank)
            return CLI_OK;
    return cli_bad("draw: --rank is \"%s\"; the mesh has ranks %d to %d", text, rank_of(h, 0),
                   rank_of(h, h->n_ranks - 1));
}

static picture_view view_of(halo_art *a, const op_halo *h)
{
    picture_view view = {.index = a->index, .reverse = h->reverse, .bytes = a->bytes};

    for (int d = 0; d < h->spec->shape.ndim; d++) {
        view.along[d] = h->along[d];
        view.window[d] = op_halo_range_of(h, a->index, d)->window;
    }
    for (int r = 0; r < h->n_ranks; r++)
        a->bytes[r] = h->reverse ? op_halo_bytes(h, a->index, r) : op_halo_bytes(h, r, a->index);
    return view;
}

/* ---- text ---- */

static const char *title_of(const op_halo *h, int index, char *buf, size_t n)
{
    char name[CLI_TEXT], spec[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];

    snprintf(buf, n, "%s: what rank %d %s of %s, %s on mesh %s", h->p->op->name, rank_of(h, index),
             h->reverse ? "computes" : "needs", op_halo_name(h, name),
             tsr_spec_text(h->spec, spec, sizeof spec),
             tsr_mesh_text(&h->spec->mesh, mesh, sizeof mesh));
    return buf;
}

static bool is_padded(const op_halo *h, int index)
{
    for (int d = 0; d < h->spec->shape.ndim; d++) {
        const tsr_window_range *w = &op_halo_range_of(h, index, d)->window;

        if (h->along[d] && (w->from < w->begin || w->to > w->end))
            return true;
    }
    return false;
}

static void print_notes(const halo_art *a, const op_halo *h, const picture *p)
{
    int rank = rank_of(h, a->index), peers;
    int64_t bytes =
        h->reverse ? op_halo_sent(h, a->index, &peers) : op_halo_received(h, a->index, &peers);
    char cut[CLI_TEXT], text[CLI_TEXT];

    printf("\n  down: dim %d, across: dim %d%s\n", p->row.dim, p->col.dim, picture_cut(p, cut));
    printf("  cells show the ranks that hold them\n");
    if (peers == 0)
        printf("  rank %d %s nothing from other ranks\n", rank, h->reverse ? "computes" : "needs");
    else if (h->reverse)
        printf("  (r): rank %d computes a term of it, which rank r adds to its own; "
               "%s to %d rank%s\n",
               rank, cli_bytes((double)bytes, text), peers, peers == 1 ? "" : "s");
    else
        printf("  (r): rank %d fetches it from rank r; %s from %d rank%s\n", rank,
               cli_bytes((double)bytes, text), peers, peers == 1 ? "" : "s");
    if (is_padded(h, a->index))
        printf("  . is padding, beyond the tensor's ends\n");
}

/* "1: 64 B, 3: 16 B", as much as there is room for */
static const char *peers_text(const op_halo *h, int index, char buf[FROM])
{
    size_t used = 0;
    int more = 0;

    snprintf(buf, FROM, "none");
    for (int r = 0; r < h->n_ranks; r++) {
        int64_t bytes = op_halo_bytes(h, r, index);
        char text[CLI_TEXT];

        if (bytes == 0)
            continue;
        if (used > FROM / 2)
            more++;
        else
            used += (size_t)snprintf(buf + used, FROM - used, "%s%d: %s", used ? ", " : "",
                                     rank_of(h, r), cli_bytes((double)bytes, text));
    }
    if (more)
        snprintf(buf + used, FROM - used, " and %d more", more);
    return buf;
}

static void range_text(int64_t begin, int64_t end, char buf[CLI_TEXT])
{
    if (begin < end)
        snprintf(buf, CLI_TEXT, "%" PRId64 ":%" PRId64, begin, end);
    else
        snprintf(buf, CLI_TEXT, "none");
}

/* Per dim with a window: part, window, padding; then what comes from whom. */
static void print_table(const op_halo *h)
{
    char cell[3 * TSR_MAX_DIM + 4][CLI_TEXT], from[FROM], align[3 * TSR_MAX_DIM + 5] = "rl";
    const char *cells[3 * TSR_MAX_DIM + 4] = {"rank", "coord"};
    int n = 2, peers;
    cli_table table;

    for (int d = 0; d < h->spec->shape.ndim; d++)
        if (h->along[d]) {
            snprintf(cell[n], CLI_TEXT, "dim %d", d);
            cells[n] = cell[n];
            cells[n + 1] = "window";
            cells[n + 2] = "padding";
            memcpy(align + n, "lll", 3);
            n += 3;
        }
    memcpy(align + n, "rl", 3);
    cells[n] = "received";
    cells[n + 1] = "from";
    cli_table_open(&table, align);
    cli_table_row(&table, cells);
    for (int r = 0; r < h->n_ranks && r < TABLE_ROWS; r++) {
        snprintf(cell[0], CLI_TEXT, "%d", rank_of(h, r));
        picture_coord(&h->spec->mesh, r, cell[1], CLI_TEXT);
        n = 2;
        for (int d = 0; d < h->spec->shape.ndim; d++) {
            const op_halo_range *x = op_halo_range_of(h, r, d);
            const tsr_window_range *w = &x->window;

            if (!h->along[d])
                continue;
            range_text(x->begin, x->end, cell[n++]);
            range_text(w->begin, w->end, cell[n++]);
            snprintf(cell[n++], CLI_TEXT, "%" PRId64 ",%" PRId64,
                     w->from < w->begin ? w->begin - w->from : 0,
                     w->to > w->end ? w->to - w->end : 0);
        }
        cli_bytes((double)op_halo_received(h, r, &peers), cell[n]);
        for (int i = 0; i <= n; i++)
            cells[i] = cell[i];
        cells[n + 1] = peers_text(h, r, from);
        cli_table_row(&table, cells);
    }
    printf("\n");
    cli_table_close(&table, 2);
    if (h->n_ranks > TABLE_ROWS)
        printf("  and %d more ranks; --json lists all\n", h->n_ranks - TABLE_ROWS);
}

static int print_text(halo_art *a, bool color)
{
    char text[OP_TEXT], name[CLI_TEXT];
    tsr_error err = {0};

    printf("%s\n", op_problem_text(&a->p, text, sizeof text));
    for (int i = 0; i < a->n; i++) {
        const op_halo *h = &a->halo[i];
        picture_view view = view_of(a, h);
        picture p;

        if (picture_make(h->spec, &view, DRAW_TEXT_ELEMENTS, DRAW_TEXT_SLOTS, &p, &err) != TSR_OK)
            return cli_error(&err);
        printf("%s %s, %s of rank %d\n\n", op_halo_name(h, name),
               tsr_spec_text(h->spec, text, sizeof text),
               h->reverse ? "reverse halo window" : "halo window", rank_of(h, a->index));
        draw_text(&p, color);
        print_notes(a, h, &p);
        picture_free(&p);
        print_table(h);
    }
    return CLI_OK;
}

/* ---- json ---- */

static json_t *rank_json(const op_halo *h, int index)
{
    json_t *dims = json_array(), *from = json_array();
    int peers;

    for (int d = 0; d < h->spec->shape.ndim; d++) {
        const op_halo_range *x = op_halo_range_of(h, index, d);

        if (h->along[d])
            json_array_append_new(
                dims,
                json_pack("{s:i, s:o, s:o, s:o}", "dim", d, "part",
                          cli_json_ints((int64_t[]){x->begin, x->end}, 2), "window",
                          cli_json_ints((int64_t[]){x->window.begin, x->window.end}, 2), "reach",
                          cli_json_ints((int64_t[]){x->window.from, x->window.to}, 2)));
    }
    for (int r = 0; r < h->n_ranks; r++)
        if (op_halo_bytes(h, r, index) > 0)
            json_array_append_new(from, json_pack("{s:i, s:I}", "rank", rank_of(h, r), "bytes",
                                                  (json_int_t)op_halo_bytes(h, r, index)));
    return json_pack("{s:i, s:o, s:I, s:o}", "rank", rank_of(h, index), "dims", dims, "bytes",
                     (json_int_t)op_halo_received(h, index, &peers), "from", from);
}

static json_t *to_json(const halo_art *a)
{
    json_t *results = json_array();
    char text[OP_TEXT], name[CLI_TEXT];

    for (int i = 0; i < a->n; i++) {
        json_t *ranks = json_array();

        for (int r = 0; r < a->halo[i].n_ranks; r++)
            json_array_append_new(ranks, rank_json(&a->halo[i], r));
        json_array_append_new(results, json_pack("{s:s, s:s, s:b, s:o}", "operand",
                                                 op_halo_name(&a->halo[i], name), "spec",
                                                 tsr_spec_text(a->halo[i].spec, text, sizeof text),
                                                 "reverse", a->halo[i].reverse, "ranks", ranks));
    }
    return json_pack("{s:s, s:s, s:o}", "command", "draw", "problem",
                     op_problem_text(&a->p, text, sizeof text), "results", results);
}

/* ---- the command ---- */

static int draw(const cli_args *args, halo_art *a, bool color)
{
    const char *svg = cli_option_of(args, "svg");
    bool as_json = cli_option_of(args, "json") != NULL;
    char title[OP_TEXT];
    int status;

    if (a->n == 0 && !as_json) {
        printf("%s\nno operand needs a halo under the cheapest strategy (see explain): "
               "ranks work on their local parts\n",
               op_problem_text(&a->p, title, sizeof title));
        return CLI_OK;
    }
    if (a->n == 0)
        return cli_print_json(to_json(a));
    a->bytes = calloc((size_t)a->halo[0].n_ranks, sizeof *a->bytes);
    if (!a->bytes)
        return cli_failed("out of memory");
    status = find_index(cli_option_of(args, "rank"), &a->halo[0], &a->index);
    if (status == CLI_OK && svg) {
        picture_view view = view_of(a, &a->halo[0]);

        status = draw_svg(title_of(&a->halo[0], a->index, title, sizeof title), a->halo[0].spec,
                          &view, svg);
    }
    if (status == CLI_OK && as_json)
        return cli_print_json(to_json(a));
    if (status == CLI_OK && !svg)
        status = print_text(a, color);
    else if (status == CLI_OK && strcmp(svg, "-") != 0)
        printf("%s written\n", svg);
    return status;
}

int cli_draw_op(const cli_args *args)
{
    const char *when = cli_option_of(args, "color");
    halo_art *a = calloc(1, sizeof *a);
    bool color;
    int status;

    if (!a)
        return cli_failed("out of memory");
    if (draw_wants_color(when, &color))
        status = op_problem_read("draw", false, args->text, &a->p);
    else
        status = cli_bad("draw: --color is \"%s\"; expected auto, always or never", when);
    if (status == CLI_OK && tsr_op_is_composed(a->p.op))
        status =
            cli_bad("draw: %s is a composite op; explain lists its ops, draw those", a->p.op->name);
    if (status == CLI_OK)
        status = op_halos_make(&a->p, a->halo, &a->n);
    if (status == CLI_OK && cli_speaks())
        status = draw(args, a, color);
    op_halos_free(a->halo, a->n);
    free(a->bytes);
    free(a);
    return status;
}
