/* SPDX-License-Identifier: Apache-2.0 */
/* draw_text.c - a picture as text of at most 80 columns, with a colour per rank on terminals. Lines
   are drawn where the holders change; axes are labelled with indices. */
#include "picture.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 80, HEIGHT = 120, SCALED_ROWS = 12 };
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

typedef struct canvas {
    char letter[HEIGHT][WIDTH];
    unsigned char line[HEIGHT][WIDTH]; /* UP | DOWN | LEFT | RIGHT */
    short owner[HEIGHT][WIDTH];        /* colour of the background, -1: none */
    int height;
} canvas;

/* Where slots lie on one axis: slot i covers at[i] .. at[i] + len[i] - 1, lines stand at edge[]. */
typedef struct ruler {
    int at[PICTURE_SLOTS], len[PICTURE_SLOTS], edge[PICTURE_SLOTS + 1];
} ruler;

static void put(canvas *c, int row, int col, const char *text, int room)
{
    int n = (int)strlen(text);

    for (int i = 0; i < n && i < room && col + i < WIDTH; i++)
        if (row >= 0 && row < HEIGHT && col + i >= 0)
            c->letter[row][col + i] = i == room - 1 && n > room ? '~' : text[i];
}

/* ---- measuring ---- */

static int longest_label(const picture *p)
{
    char buf[PICTURE_LABEL];
    int most = 1;

    for (int i = 0; i < p->row.n; i++)
        for (int j = 0; j < p->col.n; j++) {
            int n = (int)strlen(picture_label(p, i, j, buf));

            most = n > most ? n : most;
        }
    return most;
}

static int digits(int64_t value)
{
    char buf[24];

    return snprintf(buf, sizeof buf, "%" PRId64, value);
}

static int digits_along(const picture_axis *a)
{
    int first = digits(a->begin[0]), last = digits(a->begin[a->n]);

    return first > last ? first : last;
}

static int n_cuts(const picture_axis *a)
{
    int n = 0;

    for (int i = 0; i <= a->n; i++)
        n += a->cut[i];
    return n;
}

/* Share `room` between the slots by their sizes, at least `least` each. */
static void share(const picture_axis *a, int room, int least, int *len)
{
    int rest = room - a->n * least;

    for (int i = 0; i < a->n; i++) {
        double part = (double)(a->begin[i + 1] - a->begin[i]) / (double)(a->size ? a->size : 1);

        if (a->more)
            part = 1.0 / a->n;
        len[i] = least + (rest > 0 ? (int)(rest * part) : 0);
    }
}

/* Slots one after the other, with a line where there is a cut. */
static int place(const picture_axis *a, int begin, ruler *r)
{
    int at = begin;

    for (int i = 0; i < a->n; i++) {
        r->edge[i] = a->cut[i] ? at++ : -1;
        r->at[i] = at;
        at += r->len[i];
    }
    r->edge[a->n] = at++;
    return at;
}

/* Widths of the columns; false if single elements do not fit. */
static bool measure_cols(const picture *p, int margin, ruler *r)
{
    int room = WIDTH - 1 - margin - n_cuts(&p->col), label = longest_label(p);
    int least = label + 2, number = digits_along(&p->col) + 1;

    least = number > least ? number : least;
    if (p->col.n * least > room) {
        if (p->col.elements && p->col.dim >= 0)
            return false;
        least = p->col.n ? room / p->col.n : room;
    }
    share(&p->col, p->col.elements || p->col.dim < 0 ? 0 : (room < 64 ? room : 64), least, r->len);
    place(&p->col, margin, r);
    return true;
}

static void measure_rows(const picture *p, int begin, ruler *r)
{
    bool scaled = !p->row.elements && p->row.dim >= 0 && !p->row.more;

    share(&p->row, scaled ? SCALED_ROWS : 0, 1, r->len);
    place(&p->row, begin, r);
}

/* ---- drawing ---- */

static void draw_lines(canvas *c, const picture *p, const ruler *rows, const ruler *cols)
{
    int top = rows->edge[0], bottom = rows->edge[p->row.n];
    int left = cols->edge[0], right = cols->edge[p->col.n];

    for (int i = 0; i <= p->row.n; i++)
        for (int x = left; x <= right && p->row.cut[i]; x++)
            c->line[rows->edge[i]][x] |=
                (unsigned char)((x > left ? LEFT : 0) | (x < right ? RIGHT : 0));
    for (int j = 0; j <= p->col.n; j++)
        for (int y = top; y <= bottom && p->col.cut[j]; y++)
            c->line[y][cols->edge[j]] |=
                (unsigned char)((y > top ? UP : 0) | (y < bottom ? DOWN : 0));
}

static void draw_cell(canvas *c, const picture *p, int i, int j, const ruler *rows,
                      const ruler *cols)
{
    char buf[PICTURE_LABEL], missing[PICTURE_LABEL + 2];
    const char *label = picture_label(p, i, j, buf);
    picture_cell cell = picture_cell_of(p, i, j);
    int n, first = -1;
    int x = cols->at[j], width = cols->len[j], y = rows->at[i];

    if (picture_owners(p, i, j, &first, 1) == 0 || cell > PICTURE_MISSING)
        first = -1;
    if (cell == PICTURE_MISSING) { /* brackets take the place of blanks */
        snprintf(missing, sizeof missing, "(%s)", label);
        label = missing;
    }
    n = (int)strlen(label);
    for (int dy = 0; dy < rows->len[i]; dy++)
        for (int dx = 0; dx < width; dx++)
            c->owner[y + dy][x + dx] = (short)(label[0] == '.' ? -1 : first);
    if (n > width - 1 && width > 2)
        put(c, y + rows->len[i] / 2, x, label, width);
    else
        put(c, y + rows->len[i] / 2, x + (width - n) / 2, label, width);
}

static void draw_labels(canvas *c, const picture *p, const ruler *rows, const ruler *cols,
                        int margin)
{
    char buf[32];

    for (int j = 0; j <= p->col.n && p->col.dim >= 0; j++) {
        int n = snprintf(buf, sizeof buf, "%" PRId64, p->col.begin[j]), x;

        if (p->col.elements && j == p->col.n)
            break;
        if (p->col.elements)
            x = cols->at[j] + (cols->len[j] - n) / 2;
        else
            x = j == p->col.n ? cols->edge[j] - n + 1 : cols->edge[j];
        if (j < p->col.n && !p->col.elements && n >= cols->len[j])
            continue;
        put(c, 0, x, buf, n);
    }
    for (int i = 0; i <= p->row.n && p->row.dim >= 0; i++) {
        int n = snprintf(buf, sizeof buf, "%" PRId64, p->row.begin[i]);

        if (p->row.elements && i == p->row.n)
            break;
        put(c, p->row.elements ? rows->at[i] : rows->edge[i], margin - 1 - n, buf, n);
    }
}

/* ---- printing ---- */

/* Backgrounds on which black is easy to read, far from each other. */
static int color_code(int owner)
{
    static const int codes[] = {117, 216, 150, 183, 222, 116, 211, 146, 187, 109, 180, 140};

    return codes[owner % (int)(sizeof codes / sizeof codes[0])];
}

static const char *line_text(int line, bool utf8)
{
    static const char *const box[] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                      "─", "└", "┌", "├", "─", "┴", "┬", "┼"};
    static const char *const plain[] = {" ", "|", "|", "|", "-", "+", "+", "+",
                                        "-", "+", "+", "+", "-", "+", "+", "+"};

    return utf8 ? box[line] : plain[line];
}

static int row_end(const canvas *c, int y)
{
    int end = WIDTH;

    while (end > 0 && !c->line[y][end - 1] && c->letter[y][end - 1] == ' ' &&
           c->owner[y][end - 1] < 0)
        end--;
    return end;
}

/* Of the user's terminal. The tool itself stays in the C locale, see tools/check_locale. */
static bool charset_is_utf8(void)
{
    locale_t users = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8 = users && strcmp(nl_langinfo_l(CODESET, users), "UTF-8") == 0;

    if (users)
        freelocale(users);
    return utf8;
}

static void print_canvas(const canvas *c, bool color)
{
    const bool utf8 = charset_is_utf8();

    for (int y = 0; y < c->height; y++) {
        int end = row_end(c, y), now = -1;

        for (int x = 0; x < end; x++) {
            int owner = color ? c->owner[y][x] : -1;

            if (owner != now && owner >= 0)
                printf("\033[38;5;16;48;5;%dm", color_code(owner));
            else if (owner != now)
                printf("\033[0m");
            now = owner;
            if (c->line[y][x])
                fputs(line_text(c->line[y][x], utf8), stdout);
            else
                putchar(c->letter[y][x]);
        }
        puts(now >= 0 ? "\033[0m" : "");
    }
}

static bool draw(const picture *p, bool color)
{
    canvas *c = calloc(1, sizeof *c);
    int margin = 3 + (p->row.dim >= 0 ? digits_along(&p->row) : 0), header = p->col.dim >= 0;
    ruler rows = {.at = {0}}, cols = {.at = {0}};
    bool fits = c && measure_cols(p, margin, &cols);

    if (fits) {
        memset(c->letter, ' ', sizeof c->letter);
        memset(c->owner, -1, sizeof c->owner);
        measure_rows(p, header, &rows);
        c->height = rows.edge[p->row.n] + 1;
        draw_lines(c, p, &rows, &cols);
        for (int i = 0; i < p->row.n; i++)
            for (int j = 0; j < p->col.n; j++)
                draw_cell(c, p, i, j, &rows, &cols);
        draw_labels(c, p, &rows, &cols, margin);
        print_canvas(c, color);
    }
    free(c);
    return fits;
}

bool draw_wants_color(const char *when, bool *out)
{
    if (!when || strcmp(when, "auto") == 0) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        *out = isatty(STDOUT_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
        return true;
    }
    *out = strcmp(when, "always") == 0;
    return *out || strcmp(when, "never") == 0;
}

void draw_text(const picture *p, bool color)
{
    picture scaled;
    tsr_error err;

    if (p->row.n == 0 || p->col.n == 0) {
        printf("  no elements\n");
        return;
    }
    if (draw(p, color))
        return;
    if (picture_make(p->spec, p->view, 0, DRAW_TEXT_SLOTS, &scaled, &err) != TSR_OK)
        return;
    draw(&scaled, color);
    picture_free(&scaled);
}
