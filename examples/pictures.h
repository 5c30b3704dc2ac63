/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.h - for stencil.c: binary PGM and PPM files as arrays [channels, height, width] of 0 to
   255, and something to look at. Functions of files print a sentence if something is wrong. */
#ifndef EXAMPLES_PICTURES_H
#define EXAMPLES_PICTURES_H

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PNM_LARGEST = 32768 }; /* width and height */

static inline float *pnm_wrong(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    return NULL;
}

/* A number of the head; comments may stand before it. -1: there is none. */
static inline int64_t pnm_number(FILE *f)
{
    int64_t n = 0;
    int c = getc(f), digits = 0;

    while (isspace(c) || c == '#') {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(f);
        c = getc(f);
    }
    for (; isdigit(c) && digits < 9; c = getc(f), digits++)
        n = 10 * n + (c - '0');
    return digits && isspace(c) ? n : -1; /* the one blank behind it is gone */
}

static inline float *pnm_pixels(const char *path, FILE *f, int64_t size[3], int64_t most)
{
    int64_t n = size[1] * size[2];
    float *out = malloc((size_t)(size[0] * n) * sizeof *out);

    for (int64_t i = 0; i < n && out; i++)
        for (int64_t c = 0; c < size[0]; c++) {
            int value = getc(f);

            if (value == EOF) {
                free(out);
                return pnm_wrong(path, "it ends before the last pixel");
            }
            out[c * n + i] = (float)(value > most ? most : value) * 255 / (float)most;
        }
    return out ? out : pnm_wrong(path, "out of memory");
}

/* size gets channels, height and width. For free(); NULL if the file is none. */
static inline float *pnm_read(const char *path, int64_t size[3])
{
    FILE *f = fopen(path, "rb");
    int magic;
    int64_t most;
    float *out = NULL;

    if (!f)
        return pnm_wrong(path, strerror(errno));
    magic = getc(f) == 'P' ? getc(f) : EOF;
    size[0] = magic == '6' ? 3 : 1;
    size[2] = pnm_number(f);
    size[1] = pnm_number(f);
    most = pnm_number(f);
    if (magic != '5' && magic != '6')
        pnm_wrong(path, "it is neither a binary PGM (P5) nor a binary PPM (P6)");
    else if (size[1] < 1 || size[2] < 1 || size[1] > PNM_LARGEST || size[2] > PNM_LARGEST)
        pnm_wrong(path, "its head has no width and height of 1 to 32768");
    else if (most < 1 || most > 255)
        pnm_wrong(path, "its largest value is not 1 to 255");
    else
        out = pnm_pixels(path, f, size, most);
    fclose(f);
    return out;
}

/* PGM if there is one channel, PPM of three. */
static inline bool pnm_write(const char *path, const float *x, const int64_t size[3])
{
    FILE *f = fopen(path, "wb");
    int64_t n = size[1] * size[2];
    bool good = f != NULL;

    if (f) {
        fprintf(f, "P%c\n%" PRId64 " %" PRId64 "\n255\n", size[0] == 3 ? '6' : '5', size[2],
                size[1]);
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < size[0]; c++)
                putc((int)fminf(fmaxf(x[c * n + i] + 0.5F, 0), 255), f);
        good = !ferror(f);
        good = fclose(f) == 0 && good;
    }
    if (!good)
        pnm_wrong(path, strerror(errno));
    return good;
}

/* A Julia set, and the library's name below it: its colour at x, y of 0 to 1. */
static inline void paint(double x, double y, float rgb[3])
{
    static const char *const name[] = {
        "##### ##### ##### ##### ##### ####  #####", "  #   #     #     #     #     #   # #   #",
        "  #   #     #     #     #     #   # #   #", "  #   ####  ##### ##### ####  ####  #####",
        "  #   #         #     # #     # #   #   #", "  #   #         #     # #     #  #  #   #",
        "  #   ##### ##### ##### ##### #   # #   #"};
    double a = 3.2 * x - 1.6, b = 2.9 * y - 1.25, t, column = (x - 0.25) * 82,
           row = (y - 0.87) * 82;
    int n = 0;

    for (; n < 200 && a * a + b * b < 1e4; n++) {
        t = a * a - b * b - 0.79;
        b = 2 * a * b + 0.152;
        a = t;
    }
    t = n < 200 ? 0.045 * (n + 1 - log2(0.5 * log2(a * a + b * b))) : 0;
    if (row >= 0 && row < 7 && column >= 0 && column < 41 && name[(int)row][(int)column] == '#')
        t = -1;
    for (int c = 0; c < 3; c++)
        rgb[c] = t < 0 ? 250 : (float)(t > 0 ? 125 + 125 * cos(6.2832 * (t + 0.58 - 0.11 * c)) : 8);
}

#endif
