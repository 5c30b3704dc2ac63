/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_draw.c - tessera draw: the picture of a layout, and a table of what each rank holds. */
#include "op_problem.h"
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_ROWS = 32 }; /* ranks listed as text */
enum { RANGE = 64, TITLE = 2 * TSR_TEXT_LEN + 16 };

static int64_t local_bytes(const tsr_spec *spec, int index, tsr_shape *part)
{
    memset(part, 0, sizeof *part);
    if (tsr_spec_local_shape(spec, index, part, NULL) != TSR_OK)
        return 0;
    return tsr_shape_count(part) * (int64_t)tsr_dtype_size(spec->dtype);
}

/* ---- text ---- */

static const char *draw_title(const tsr_spec *spec, char buf[TITLE])
{
    char text[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];

    snprintf(buf, TITLE, "%s on mesh %s", tsr_spec_text(spec, text, sizeof text),
             tsr_mesh_text(&spec->mesh, mesh, sizeof mesh));
    return buf;
}

static void print_title(const tsr_spec *spec, int n_ranks)
{
    char title[TITLE], all[CLI_TEXT], least[CLI_TEXT], most[CLI_TEXT];
    int64_t low = INT64_MAX, high = 0;
    tsr_shape part;

    for (int r = 0; r < n_ranks; r++) {
        int64_t bytes = local_bytes(spec, r, &part);

        low = bytes < low ? bytes : low;
        high = bytes > high ? bytes : high;
    }
    printf("%s\n", draw_title(spec, title));
    printf("%s in all; ",
           cli_bytes((double)tsr_shape_count(&spec->shape) * (double)tsr_dtype_size(spec->dtype),
                     all));
    if (low == high)
        printf("%s on each of %d rank%s\n\n", cli_bytes((double)high, most), n_ranks,
               n_ranks == 1 ? "" : "s");
    else
        printf("%s to %s on %d ranks\n\n", cli_bytes((double)low, least),
               cli_bytes((double)high, most), n_ranks);
}

static void print_notes(const picture *p)
{
    char cut[CLI_TEXT];

    printf("\n");
    if (p->row.dim >= 0)
        printf("  down: dim %d, across: dim %d", p->row.dim, p->col.dim);
    else if (p->col.dim >= 0)
        printf("  across: dim %d", p->col.dim);
    else
        printf("  one element");
    printf("%s\n  cells show the ranks that hold them\n", picture_cut(p, cut));
    if (p->replicas)
        printf("  a,b: these ranks hold the same elements\n");
    if (p->partials)
        printf("  a+b: these ranks hold terms; the value is their reduction\n");
}

static void print_table(const tsr_spec *spec, int n_ranks)
{
    char rank[16], coord[CLI_TEXT], shape[256], bytes[CLI_TEXT], align[16] = "rll";
    char head[TSR_MAX_DIM][16], range[TSR_MAX_DIM][RANGE];
    const char *cells[TSR_MAX_DIM + 4] = {"rank", "coord", "local shape"};
    int ndim = spec->shape.ndim, c[TSR_MAX_MESH];
    cli_table table;

    memset(align + 3, 'l', (size_t)ndim);
    align[3 + ndim] = 'r';
    cli_table_open(&table, align);
    for (int d = 0; d < ndim; d++) {
        snprintf(head[d], sizeof head[d], "dim %d", d);
        cells[3 + d] = head[d];
    }
    cells[3 + ndim] = "bytes";
    cli_table_row(&table, cells);
    for (int r = 0; r < n_ranks && r < TABLE_ROWS; r++) {
        tsr_shape part;
        int64_t size = local_bytes(spec, r, &part);

        snprintf(rank, sizeof rank, "%d", cli_mesh_rank(&spec->mesh, r, c));
        for (int d = 0; d < ndim; d++)
            cells[3 + d] = picture_ranges(spec, r, d, range[d], RANGE);
        cells[0] = rank;
        cells[1] = picture_coord(&spec->mesh, r, coord, sizeof coord);
        cells[2] = picture_shape(&part, shape, sizeof shape);
        cells[3 + ndim] = cli_bytes((double)size, bytes);
        cli_table_row(&table, cells);
    }
    printf("\n");
    cli_table_close(&table, 2);
    if (n_ranks > TABLE_ROWS)
        printf("  and %d more ranks; --json lists all\n", n_ranks - TABLE_ROWS);
}

/* ---- json ---- */

/* [begin, len, step, count] per run */
static json_t *runs_json(const tsr_spec *spec, int index, int dim)
{
    json_t *list = json_array();
    tsr_index_run few[8], *runs = few;
    int n = 0, cap = 8;

    if (tsr_spec_runs(spec, index, dim, few, cap, &n, NULL) != TSR_OK)
        return list;
    if (n > cap) {
        runs = calloc((size_t)n, sizeof *runs);
        if (!runs || tsr_spec_runs(spec, index, dim, runs, n, &n, NULL) != TSR_OK)
            n = 0;
    }
    for (int i = 0; i < n; i++)
        json_array_append_new(
            list,
            cli_json_ints((int64_t[]){runs[i].begin, runs[i].len, runs[i].step, runs[i].count}, 4));
    if (runs != few)
        free(runs);
    return list;
}

static json_t *rank_json(const tsr_spec *spec, int index)
{
    json_t *indices = json_array();
    int64_t at[TSR_MAX_MESH];
    int coord[TSR_MAX_MESH], rank = cli_mesh_rank(&spec->mesh, index, coord);
    tsr_shape part;
    int64_t bytes = local_bytes(spec, index, &part);

    for (int m = 0; m < spec->mesh.ndim; m++)
        at[m] = coord[m];
    for (int d = 0; d < spec->shape.ndim; d++)
        json_array_append_new(indices, runs_json(spec, index, d));
    return json_pack(
        "{s:i, s:o, s:o, s:I, s:o}", "rank", rank, "coord", cli_json_ints(at, spec->mesh.ndim),
        "shape", cli_json_ints(part.size, part.ndim), "bytes", (json_int_t)bytes, "runs", indices);
}

static json_t *to_json(const tsr_spec *spec, int n_ranks)
{
    json_t *results = json_array();
    char text[TSR_TEXT_LEN], mesh[TSR_TEXT_LEN];

    for (int r = 0; r < n_ranks; r++)
        json_array_append_new(results, rank_json(spec, r));
    return json_pack("{s:s, s:s, s:s, s:o}", "command", "draw", "spec",
                     tsr_spec_text(spec, text, sizeof text), "mesh",
                     tsr_mesh_text(&spec->mesh, mesh, sizeof mesh), "results", results);
}

/* ---- the command ---- */

static int print_text(const tsr_spec *spec, int n_ranks, bool color)
{
    tsr_error err = {0};
    picture p;

    if (picture_make(spec, NULL, DRAW_TEXT_ELEMENTS, DRAW_TEXT_SLOTS, &p, &err) != TSR_OK)
        return cli_error(&err);
    print_title(spec, n_ranks);
    draw_text(&p, color);
    print_notes(&p);
    print_table(spec, n_ranks);
    picture_free(&p);
    return CLI_OK;
}

int cli_draw(const cli_args *args)
{
    const char *svg = cli_option_of(args, "svg"), *when = cli_option_of(args, "color");
    int status = CLI_OK, n_ranks;
    char title[TITLE];
    problem p;
    bool color;

    if (svg && strcmp(svg, "-") == 0 && cli_option_of(args, "json"))
        return cli_bad("draw: --svg - and --json both write to the standard output");
    if (op_problem_is(args->text))
        return cli_draw_op(args);
    if (cli_option_of(args, "rank"))
        return cli_bad("draw: --rank is for ops with halo windows");
    if (!draw_wants_color(when, &color))
        return cli_bad("draw: --color is \"%s\"; expected auto, always or never", when);
    if (!problem_read("draw", PROBLEM_TENSOR, args->text, &p))
        return CLI_USAGE;
    n_ranks = cli_mesh_size(&p.from.mesh);
    if (n_ranks > 1 << 20)
        return cli_bad("draw: the mesh has %d ranks; at most %d can be drawn", n_ranks, 1 << 20);
    if (!cli_speaks())
        return CLI_OK;
    if (svg)
        status = draw_svg(draw_title(&p.from, title), &p.from, NULL, svg);
    if (status == CLI_OK && cli_option_of(args, "json"))
        return cli_print_json(to_json(&p.from, n_ranks));
    if (status == CLI_OK && !svg)
        status = print_text(&p.from, n_ranks, color);
    if (status == CLI_OK && svg && strcmp(svg, "-") != 0)
        printf("%s written\n", svg);
    return status;
}
