/* SPDX-License-Identifier: Apache-2.0 */
/* draw_svg.c - a picture as a self-contained SVG: cells in the colours of their holders (stripes
   where several hold them, hatched where they hold terms), index labels, and a legend of the
   ranks. Specs and names hold no characters that XML would want escaped. */
#include "picture.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { ELEMENTS = 16, VIEW_ELEMENTS = 24 }; /* up to this many are drawn one by one */
enum { LEFT = 76, TOP = 92, PLOT = 560 };   /* pixels */
enum { LEGEND = 48, LEGEND_TEXT = 200, WIDE = 760 };
enum { STRIPES = 8, STRIPE = 14 };

static const char *fill(int owner)
{
    static const char *const colors[] = {"#8ecae6", "#f4a582", "#b2df8a", "#cab2d6",
                                         "#fddc7a", "#80cdc1", "#f4a6c8", "#a6b8e8",
                                         "#d9d58f", "#b0b7bd", "#e0bd94", "#c7e9c0"};

    return colors[owner % (int)(sizeof colors / sizeof colors[0])];
}

/* Pixel edges of the slots: squares for elements, shares of the plot by size otherwise. */
static void measure(const picture_axis *a, double room, double least, double *edge)
{
    double rest = room - a->n * least;

    edge[0] = 0;
    for (int i = 0; i < a->n; i++) {
        double part = (double)(a->begin[i + 1] - a->begin[i]) / (double)(a->size ? a->size : 1);

        if (a->elements || a->more || a->dim < 0)
            part = 1.0 / a->n;
        edge[i + 1] = edge[i] + least + (rest > 0 ? rest * part : 0);
    }
}

static void write_text(FILE *f, double x, double y, const char *anchor, int size, const char *text)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", x, y,
            anchor, size, text);
}

/* Stripes across the grain of both axes, so that nobody takes them for shards. */
static void write_stripes(FILE *f, int id, const int *owner, int n)
{
    fprintf(f,
            "<pattern id=\"s%d\" width=\"%d\" height=\"%d\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(-45)\">",
            id, n * STRIPE, STRIPE);
    for (int k = 0; k < n; k++)
        fprintf(f, "<rect x=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", k * STRIPE,
                STRIPE + 1, STRIPE, fill(owner[k]));
    fprintf(f, "</pattern>\n");
}

static void write_cell(FILE *f, const picture *p, int i, int j, const double *ys, const double *xs)
{
    double x = LEFT + xs[j], y = TOP + ys[i], w = xs[j + 1] - xs[j], h = ys[i + 1] - ys[i];
    int owner[STRIPES], n = picture_owners(p, i, j, owner, STRIPES), size;
    int id = i * PICTURE_SLOTS + j;
    picture_cell cell = picture_cell_of(p, i, j);
    char buf[PICTURE_LABEL], paint[24];
    const char *label = picture_label(p, i, j, buf);

    if (cell == PICTURE_BEYOND)
        fprintf(f,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                "fill=\"url(#beyond)\"/>\n",
                x, y, w, h);
    if (n > 0 && label[0] != '.') {
        snprintf(paint, sizeof paint, "%s", fill(owner[0]));
        if (n > 1 && n <= STRIPES) {
            write_stripes(f, id, owner, n);
            snprintf(paint, sizeof paint, "url(#s%d)", id);
        }
        for (int terms = 0; terms <= p->partials; terms++)
            fprintf(f,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"%s/>\n",
                    x, y, w, h, terms ? "url(#terms)" : paint,
                    cell == PICTURE_UNSEEN ? " fill-opacity=\"0.3\"" : "");
    }
    if (cell >= PICTURE_BEYOND) /* what the rank does not need is for orientation only */
        return;
    size = (int)(1.6 * (w - 4) / (double)(strlen(label) + !*label));
    size = size > 15 ? 15 : size;
    size = size > h - 3 ? (int)h - 3 : size;
    if (size < 6)
        return;
    fprintf(f, "<g paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"3\" "
               "stroke-opacity=\"0.65\" stroke-linejoin=\"round\">");
    write_text(f, x + w / 2, y + h / 2 + size * 0.35, "middle", size, label);
    fprintf(f, "</g>\n");
}

static void write_lines(FILE *f, const picture *p, const double *ys, const double *xs)
{
    double w = xs[p->col.n], h = ys[p->row.n];

    for (int strong = 0; strong < 2; strong++) {
        fprintf(f, "<g stroke=\"%s\" stroke-width=\"%s\" stroke-linecap=\"square\">\n",
                strong ? "#222" : "#fff", strong ? "1.6" : "0.8");
        for (int i = 0; i <= p->row.n; i++)
            if (p->row.cut[i] == (strong == 1))
                fprintf(f, "<line x1=\"%d\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", LEFT,
                        TOP + ys[i], LEFT + w, TOP + ys[i]);
        for (int j = 0; j <= p->col.n; j++)
            if (p->col.cut[j] == (strong == 1))
                fprintf(f, "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%.2f\"/>\n", LEFT + xs[j],
                        TOP, LEFT + xs[j], TOP + h);
        fprintf(f, "</g>\n");
    }
}

/* The next run of slots that are seen, from *end on. */
static bool next_seen(const picture_axis *a, int *begin, int *end)
{
    for (*begin = *end; *begin < a->n && !a->seen[*begin];)
        ++*begin;
    for (*end = *begin; *end < a->n && a->seen[*end];)
        ++*end;
    return *begin < *end;
}

/* A line around all that the view sees; around each block of it if a window is circular. */
static void write_window(FILE *f, const picture *p, const double *ys, const double *xs)
{
    for (int top = 0, bottom = 0; next_seen(&p->row, &top, &bottom);)
        for (int left = 0, right = 0; next_seen(&p->col, &left, &right);)
            fprintf(f,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" "
                    "stroke=\"#b00020\" stroke-width=\"3\" stroke-dasharray=\"9,5\"/>\n",
                    LEFT + xs[left], TOP + ys[top], xs[right] - xs[left], ys[bottom] - ys[top]);
}

/* Indices: in the middle of elements, at the edges of ranges, where there is room. */
static void write_axis(FILE *f, const picture_axis *a, const double *edge, bool across)
{
    double last = -1000, end = edge[a->n];
    char buf[48];

    for (int i = 0; i <= a->n && a->dim >= 0; i++) {
        double at = a->elements && i < a->n ? (edge[i] + edge[i + 1]) / 2 : edge[i];
        double room = across ? 8.0 * snprintf(buf, sizeof buf, "%" PRId64, a->begin[i]) : 13;

        snprintf(buf, sizeof buf, "%" PRId64, a->begin[i]);
        if ((a->elements && i == a->n) || at - last < room || (i < a->n && end - at < room / 2))
            continue;
        last = at;
        if (across)
            write_text(f, LEFT + at, TOP - 7, "middle", 11, buf);
        else
            write_text(f, LEFT - 7, TOP + at + 4, "end", 11, buf);
    }
    if (a->dim < 0)
        return;
    snprintf(buf, sizeof buf, "dim %d", a->dim);
    if (across)
        write_text(f, LEFT + end / 2, TOP - 24, "middle", 12, buf);
    else
        fprintf(f,
                "<text transform=\"translate(%d,%.1f) rotate(-90)\" text-anchor=\"middle\" "
                "font-size=\"12\">%s</text>\n",
                20, TOP + end / 2, buf);
}

/* ---- legend ---- */

typedef struct legend {
    int n, rows; /* entries, and how many stand below each other */
    double width;
} legend;

static const char *legend_text(const picture *p, int index, char buf[LEGEND_TEXT])
{
    char at[64], dims[100], bytes[CLI_TEXT];
    int coord[TSR_MAX_MESH];
    tsr_shape part = {0};
    size_t used;

    tsr_spec_local_shape(p->spec, index, &part, NULL);
    cli_bytes((double)tsr_shape_count(&part) * (double)tsr_dtype_size(p->spec->dtype), bytes);
    snprintf(buf, LEGEND_TEXT, "rank %d %.40s: %.80s, %.20s",
             cli_mesh_rank(&p->spec->mesh, index, coord),
             picture_coord(&p->spec->mesh, index, at, sizeof at),
             picture_shape(&part, dims, sizeof dims), bytes);
    used = strlen(buf);
    if (p->view && index == p->view->index)
        snprintf(buf + used, LEGEND_TEXT - used, ", its own part");
    else if (p->view && p->view->bytes[index] > 0)
        snprintf(buf + used, LEGEND_TEXT - used, ", %s %.20s", p->view->reverse ? "gets" : "gives",
                 cli_bytes((double)p->view->bytes[index], bytes));
    return buf;
}

/* As many columns as the longest entry allows; 7 pixels a letter. */
static legend legend_measure(const picture *p)
{
    legend l = {.n = p->n_ranks > LEGEND ? LEGEND : p->n_ranks};
    char text[LEGEND_TEXT];
    int cols;

    for (int r = 0; r < l.n; r++) {
        double width = 40 + 7.0 * (double)strlen(legend_text(p, r, text));

        l.width = width > l.width ? width : l.width;
    }
    cols = (int)((WIDE - LEFT) / l.width);
    cols = cols < 1 ? 1 : cols;
    l.rows = (l.n + cols - 1) / cols;
    return l;
}

static void write_legend(FILE *f, const picture *p, const legend *l, double top)
{
    char text[LEGEND_TEXT];

    for (int r = 0; r < l->n; r++) {
        double x = LEFT + (double)(r / l->rows) * l->width, y = top + (r % l->rows) * 20.0;

        fprintf(f,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"13\" height=\"13\" fill=\"%s\" "
                "stroke=\"#222\" stroke-width=\"0.6\"/>\n",
                x, y, fill(r));
        write_text(f, x + 19, y + 11, "start", 12, legend_text(p, r, text));
    }
    if (l->n < p->n_ranks) {
        snprintf(text, sizeof text, "and %d more ranks; colours repeat", p->n_ranks - l->n);
        write_text(f, LEFT, top + l->rows * 20.0 + 11, "start", 12, text);
    }
}

static bool shows_beyond(const picture_axis *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->beyond[i])
            return true;
    return false;
}

/* What stripes and hatches mean, and which slice of an n-D tensor this is. */
static void write_notes(FILE *f, const picture *p, double top)
{
    char text[256] = "", cut[CLI_TEXT];
    size_t used = 0;

    if (p->view)
        used += (size_t)snprintf(
            text, sizeof text, "Dashed: what the rank %s%s. ",
            p->view->reverse ? "computes and sends to the owners" : "needs",
            shows_beyond(&p->row) || shows_beyond(&p->col) ? "; hatched: padding" : "");
    if (p->other_dims)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "Shown%s. ", picture_cut(p, cut) + 1);
    if (p->replicas && !p->partials && !p->view)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "Stripes: several ranks hold the same elements. ");
    if (p->partials)
        snprintf(text + used, sizeof text - used,
                 "Hatched: ranks joined by + hold terms, the value is their reduction%s.",
                 p->replicas ? "; others hold the same" : "");
    write_text(f, LEFT, top, "start", 11, text);
}

static void write_svg(FILE *f, const char *title, const picture *p)
{
    double xs[PICTURE_SLOTS + 1], ys[PICTURE_SLOTS + 1], height, width = WIDE;
    legend l = legend_measure(p);
    double tall = p->row.dim < 0 ? 60 : p->row.elements ? p->row.n * 34.0 : 340;

    measure(&p->col, PLOT, 14, xs);
    measure(&p->row, tall, p->row.more ? 14 : 22, ys);
    height = TOP + ys[p->row.n] + 50 + (l.rows + (l.n < p->n_ranks)) * 20 + 12;
    width = LEFT + xs[p->col.n] + 24 > width ? LEFT + xs[p->col.n] + 24 : width;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
            "fill=\"#222\">\n",
            width, height, width, height);
    fprintf(f, "<defs><pattern id=\"terms\" width=\"8\" height=\"8\" "
               "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
               "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" stroke=\"#222\" stroke-width=\"1.2\" "
               "stroke-opacity=\"0.35\"/></pattern>");
    if (p->view)
        fprintf(f, "<pattern id=\"beyond\" width=\"7\" height=\"7\" "
                   "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                   "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" stroke=\"#888\" "
                   "stroke-width=\"1\" stroke-opacity=\"0.6\"/></pattern>");
    fprintf(f, "</defs>\n");
    fprintf(f, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    fprintf(f, "<title>%s</title>\n<g font-weight=\"bold\">\n", title);
    write_text(f, LEFT, 32, "start", strlen(title) > 70 ? 13 : 16, title);
    fprintf(f, "</g>\n");
    for (int i = 0; i < p->row.n; i++)
        for (int j = 0; j < p->col.n; j++)
            write_cell(f, p, i, j, ys, xs);
    write_lines(f, p, ys, xs);
    if (p->view)
        write_window(f, p, ys, xs);
    write_axis(f, &p->col, xs, true);
    write_axis(f, &p->row, ys, false);
    if (p->row.n == 0 || p->col.n == 0)
        write_text(f, LEFT + 8, TOP + 20, "start", 12, "no elements");
    write_notes(f, p, TOP + ys[p->row.n] + 22);
    write_legend(f, p, &l, TOP + ys[p->row.n] + 38);
    fprintf(f, "</svg>\n");
}

int draw_svg(const char *title, const tsr_spec *spec, const picture_view *view, const char *path)
{
    tsr_error err = {0};
    picture p;
    FILE *f;
    bool bad;

    if (picture_make(spec, view, view ? VIEW_ELEMENTS : ELEMENTS, PICTURE_SLOTS, &p, &err) !=
        TSR_OK)
        return cli_error(&err);
    f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!f) {
        picture_free(&p);
        return cli_failed("draw: %s: %s", path, strerror(errno));
    }
    write_svg(f, title, &p);
    picture_free(&p);
    bad = ferror(f);
    if ((f == stdout ? fflush(f) : fclose(f)) != 0 || bad)
        return cli_failed("draw: %s cannot be written", f == stdout ? "the standard output" : path);
    return CLI_OK;
}
