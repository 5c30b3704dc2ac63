/* SPDX-License-Identifier: Apache-2.0 */
/* curve.c - curves of dots in Braille characters, each 2 wide and 4 high, and as SVG. */
#include "curve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { COLUMNS = 60, LINES = 12, DOTS_X = 2 * COLUMNS, DOTS_Y = 4 * LINES };
enum { WIDTH = 760, HEIGHT = 420, LEFT = 76, RIGHT = 24, TOP = 56, BOTTOM = 56, POINTS = 400 };
enum { TICKS = 6 };

/* The mean of the numbers that fall to place i of n; NAN if there are none. */
static double mean_at(const curve *c, int i, int n)
{
    int64_t begin = c->n * i / n, end = c->n * (i + 1) / n, count = 0;
    double sum = 0;

    if (end == begin) /* fewer numbers than places: each is there several times */
        end = begin + 1;
    for (int64_t k = begin; k < end; k++)
        if (isfinite(c->y[k])) {
            sum += c->y[k];
            count++;
        }
    return count ? sum / (double)count : NAN;
}

typedef struct range {
    double low, high;
} range;

static range range_of(const curve *c, int n)
{
    range r = {INFINITY, -INFINITY};

    for (int i = 0; i < n; i++) {
        const double y = mean_at(c, i, n);

        r.low = fmin(r.low, y);
        r.high = fmax(r.high, y);
    }
    if (!(r.low <= r.high))
        r = (range){0, 1};
    if (r.high - r.low < 1e-12 * fmax(1, fabs(r.high))) {
        r.low -= 0.5;
        r.high += 0.5;
    }
    return r;
}

/* 1, 2 or 5 times a power of ten, so that there are about n ticks in the range. */
static double tick_step(range r, int n)
{
    const double raw = (r.high - r.low) / n, power = pow(10, floor(log10(raw)));

    return power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
}

/* ---- text ---- */

static int row_of(double y, range r)
{
    const int row = (int)lround((r.high - y) / (r.high - r.low) * (DOTS_Y - 1));

    return row < 0 ? 0 : row >= DOTS_Y ? DOTS_Y - 1 : row;
}

/* Neighbours are joined by a line straight up or down. */
static void set_dots(const curve *c, range r, unsigned char cell[LINES][COLUMNS])
{
    static const unsigned char bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int before = -1;

    for (int x = 0; x < DOTS_X; x++) {
        const double y = mean_at(c, x, DOTS_X);
        int row, from;

        if (!isfinite(y)) {
            before = -1;
            continue;
        }
        row = row_of(y, r);
        from = before < 0 || before == row ? row : before < row ? before + 1 : before - 1;
        for (int k = from < row ? from : row; k <= (from < row ? row : from); k++)
            cell[k / 4][x / 2] |= bit[k % 4][x % 2];
        before = row;
    }
}

void curve_print(const curve *c, FILE *to)
{
    unsigned char cell[LINES][COLUMNS] = {{0}};
    const range r = range_of(c, DOTS_X);
    char last[32];

    if (c->n < 2)
        return;
    set_dots(c, r, cell);
    fprintf(to, "%s\n", c->title);
    for (int line = 0; line < LINES; line++) {
        const double y = r.high - (r.high - r.low) * line / (LINES - 1);

        if (line % 3 == 0 || line == LINES - 1)
            fprintf(to, "%10.4g ┤", y);
        else
            fprintf(to, "%10s │", "");
        for (int x = 0; x < COLUMNS; x++) { /* U+2800 and on, as UTF-8 */
            const unsigned char dots = cell[line][x];

            fprintf(to, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
        }
        fputc('\n', to);
    }
    snprintf(last, sizeof last, "%" PRId64, c->n);
    fprintf(to, "%10s └", "");
    for (int x = 0; x < COLUMNS; x++)
        fputs("─", to);
    fprintf(to, "\n%12s1%*s%s%*s\n", "", (COLUMNS - (int)strlen(c->x_name)) / 2 - 1, "", c->x_name,
            COLUMNS - 1 - (COLUMNS - (int)strlen(c->x_name)) / 2 - (int)strlen(c->x_name) + 1,
            last);
}

/* ---- SVG ---- */

static double x_at(const curve *c, double step)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (step - 1) / fmax(1, (double)c->n - 1);
}

static double y_at(range r, double y)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (r.high - y) / (r.high - r.low);
}

static void write_text(FILE *f, double x, double y, const char *anchor, int size, const char *text)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n", x, y,
            anchor, size, text);
}

static void write_axes(FILE *f, const curve *c, range r)
{
    const range steps = {1, fmax(2, (double)c->n)};
    const double dx = tick_step(steps, TICKS), dy = tick_step(r, TICKS);
    char text[64];

    fprintf(f, "<g stroke=\"#ddd\">\n");
    for (double y = ceil(r.low / dy) * dy; y <= r.high; y += dy)
        fprintf(f, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT, y_at(r, y),
                WIDTH - RIGHT, y_at(r, y));
    fprintf(f, "</g>\n<g stroke=\"#222\" stroke-width=\"1.6\">\n");
    fprintf(f, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", LEFT, TOP, LEFT,
            HEIGHT - BOTTOM);
    fprintf(f, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", LEFT, HEIGHT - BOTTOM,
            WIDTH - RIGHT, HEIGHT - BOTTOM);
    for (double x = ceil(1 / dx) * dx; x <= steps.high; x += dx)
        fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", x_at(c, x),
                HEIGHT - BOTTOM, x_at(c, x), HEIGHT - BOTTOM + 5);
    fprintf(f, "</g>\n");
    for (double y = ceil(r.low / dy) * dy; y <= r.high; y += dy) {
        snprintf(text, sizeof text, "%.4g", fabs(y) < dy / 1e3 ? 0 : y);
        write_text(f, LEFT - 8, y_at(r, y) + 4, "end", 12, text);
    }
    for (double x = ceil(1 / dx) * dx; x <= steps.high; x += dx) {
        snprintf(text, sizeof text, "%.6g", x);
        write_text(f, x_at(c, x), HEIGHT - BOTTOM + 20, "middle", 12, text);
    }
    write_text(f, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", 13, c->x_name);
    fprintf(f, "<g transform=\"translate(20,%.1f) rotate(-90)\">\n", (TOP + HEIGHT - BOTTOM) / 2.0);
    write_text(f, 0, 0, "middle", 13, c->y_name);
    fprintf(f, "</g>\n");
    write_text(f, LEFT, TOP - 24, "start", 16, c->title);
}

bool curve_save_svg(const curve *c, const char *path)
{
    const int points = c->n < POINTS ? (int)c->n : POINTS;
    const range r = range_of(c, points ? points : 1);
    FILE *f = fopen(path, "w");
    bool good = f != NULL;

    if (!f)
        return false;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" fill=\"#222\">\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    write_axes(f, c, r);
    fprintf(f, "<polyline fill=\"none\" stroke=\"#1f78b4\" stroke-width=\"1.8\" "
               "stroke-linejoin=\"round\" points=\"");
    for (int i = 0; i < points; i++) {
        const double middle = 1 + (double)c->n * (i + 0.5) / points - 0.5,
                     y = mean_at(c, i, points);

        if (isfinite(y))
            fprintf(f, "%.1f,%.1f ", x_at(c, fmax(1, middle)), y_at(r, y));
    }
    fprintf(f, "\"/>\n</svg>\n");
    good = !ferror(f);
    return fclose(f) == 0 && good;
}
