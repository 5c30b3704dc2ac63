/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - rows of cells, printed in aligned columns. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLS = 24 };

/* Columns on a terminal: bytes that do not continue a letter. */
static int width_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void cli_table_open(cli_table *table, const char *align)
{
    *table = (cli_table){.n_cols = (int)strlen(align), .align = align};
}

void cli_table_row(cli_table *table, const char *const *cells)
{
    if (table->n_rows == table->cap) {
        int cap = table->cap ? 2 * table->cap : 16;
        char **more = realloc(table->cell, (size_t)(cap * table->n_cols) * sizeof *more);

        if (!more) {
            table->failed = true;
            return;
        }
        table->cell = more;
        table->cap = cap;
    }
    for (int c = 0; c < table->n_cols; c++) {
        char *copy = strdup(cells[c]);

        table->cell[table->n_rows * table->n_cols + c] = copy;
        table->failed = table->failed || !copy;
    }
    table->n_rows++;
}

static void print_row(const cli_table *table, int row, const int *width, int indent)
{
    char *const *cell = table->cell + row * table->n_cols;
    int pending = indent; /* blanks are printed only before something */

    for (int c = 0; c < table->n_cols; c++) {
        int blanks = width[c] - width_of(cell[c]);

        if (table->align[c] == 'r')
            pending += blanks;
        if (cell[c][0]) {
            printf("%*s%s", pending, "", cell[c]);
            pending = 0;
        }
        if (table->align[c] != 'r')
            pending += blanks;
        pending += 2;
    }
    putchar('\n');
}

void cli_table_close(cli_table *table, int indent)
{
    int width[MAX_COLS] = {0};

    for (int i = 0; i < table->n_rows * table->n_cols && !table->failed; i++) {
        int c = i % table->n_cols, w = width_of(table->cell[i]);

        width[c] = w > width[c] ? w : width[c];
    }
    for (int r = 0; r < table->n_rows && !table->failed; r++)
        print_row(table, r, width, indent);
    if (table->failed)
        cli_failed("out of memory");
    for (int i = 0; i < table->n_rows * table->n_cols; i++)
        free(table->cell[i]);
    free(table->cell);
    table->cell = NULL;
    table->n_rows = 0;
}
