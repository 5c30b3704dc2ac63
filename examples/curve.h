/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h - a row of numbers as a curve: in a terminal, or as an SVG file. For training.c. */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* y[0], y[1] .. at 1, 2 .. ; where there are more than fit, each place shows the mean of those that
   fall there. Numbers that are not finite are left out. */
typedef struct curve {
    const char *title, *x_name, *y_name; /* names without <, > and & */
    const double *y;
    int64_t n;
} curve;

void curve_print(const curve *c, FILE *to);
/* False: it could not be written, errno says why. */
bool curve_save_svg(const curve *c, const char *path);

#endif
