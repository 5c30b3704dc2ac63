/* SPDX-License-Identifier: Apache-2.0 */
/* stencil.c - a picture in 2x2 blocks on four ranks, blurred and its edges drawn by convolutions:
   ranks exchange the borders of their blocks and nothing else. Says what moved, and compares the
   result with that of one rank.

     stencil [PICTURE|SIZE] [OUT] [STEPS]

   PICTURE is a binary PGM or PPM; without one a picture of SIZE x SIZE is made (2048). OUT is
   stencil.ppm if not given, STEPS how often to blur (2). Runs on threads; mpirun -n 4 works too. */
#include <time.h>
#include <unistd.h>

#include <tessera_ops.h>

#include "pictures.h"

typedef struct app {
    const char *in, *out; /* in NULL: make one */
    int64_t size, steps;
    bool failed; /* a sentence was printed */
} app;

static void progress(tsr_mesh *mesh, const char *what, int64_t i, int64_t n)
{
    if (tsr_mesh_index(mesh) != 0 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K");
    if (i < n)
        fprintf(stderr, "%s, %d %%", what, (int)(100 * i / n));
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the picture ---- */

/* Every rank paints its part. */
static tsr_tensor *make_picture(tsr_mesh *mesh, const char *spec, int64_t size)
{
    tsr_tensor *x = tsr_zeros(mesh, spec);
    tsr_local part;

    if (tsr_local_view(x, &part) != TSR_OK)
        return x;
    for (int64_t i = 0; i < part.shape.size[2]; i++) {
        float *line = (float *)part.data + i * part.shape.size[3], rgb[3];

        progress(mesh, "painting", i + 1, part.shape.size[2]);
        for (int64_t j = 0; j < part.shape.size[3]; j++) {
            paint((double)(part.first[3] + j) / (double)size,
                  (double)(part.first[2] + i) / (double)size, rgb);
            for (int c = 0; c < 3; c++)
                line[c * part.shape.size[2] * part.shape.size[3] + j] = rgb[c];
        }
    }
    return x;
}

/* The first rank reads; what it finds wrong, all are told. NULL: that. */
static tsr_tensor *get_picture(tsr_mesh *mesh, const app *a, int64_t size[3])
{
    float *data = NULL;
    tsr_tensor *x = NULL;
    char spec[TSR_TEXT_LEN];

    size[0] = 3;
    size[1] = size[2] = a->size;
    if (a->in && tsr_mesh_index(mesh) == 0 && !(data = pnm_read(a->in, size)))
        size[0] = 0;
    tsr_broadcast(mesh, TSR_I64, size, 3, 0);
    snprintf(spec, sizeof spec, "f32[1,%" PRId64 ",%" PRId64 ",%" PRId64 "]@[S(2),S(3)]", size[0],
             size[1], size[2]);
    if (size[0] > 0)
        x = a->in ? tsr_from_root(mesh, spec, data,
                                  (size_t)(size[0] * size[1] * size[2]) * sizeof *data, 0)
                  : make_picture(mesh, spec, a->size);
    free(data);
    return x;
}

/* ---- the filter ---- */

/* The same weights for every colour, which makes `out` maps of `in`. */
static tsr_tensor *weights(tsr_mesh *mesh, int64_t colours, int out, int in, int rows, int columns,
                           const float *w)
{
    size_t n = (size_t)out * (size_t)in * (size_t)rows * (size_t)columns;
    float all[3 * 3 * 9];
    char spec[TSR_TEXT_LEN];

    for (int64_t c = 0; c < colours; c++)
        memcpy(all + (size_t)c * n, w, n * sizeof *w);
    snprintf(spec, sizeof spec, "f32[%d,%d,%d,%d]", out * (int)colours, in, rows, columns);
    return tsr_from_host(mesh, spec, all, (size_t)colours * n * sizeof *all);
}

/* No padding: what comes out is smaller by what the weights reach over the border. */
static tsr_tensor *filter(tsr_tensor *x, int64_t steps)
{
    static const float gauss[] = {1 / 256.0F,  8 / 256.0F,  28 / 256.0F, 56 / 256.0F, 70 / 256.0F,
                                  56 / 256.0F, 28 / 256.0F, 8 / 256.0F,  1 / 256.0F};
    static const float sobel[] = {
        -1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0,
        0,  1, 2, 1,  0, 0, 0,  0, 1, 0,  0,  0,  0}; /* both, and the pixel itself */
    static const float mix[] = {0.9F, 0.9F, 0.45F};
    tsr_mesh *mesh = tsr_tensor_mesh(x);
    const int64_t colours = tsr_tensor_spec(x)->shape.size[1];
    tsr_conv_opts each = tsr_conv_opts_default();
    tsr_tensor *down = weights(mesh, colours, 1, 1, 9, 1, gauss);
    tsr_tensor *across = weights(mesh, colours, 1, 1, 1, 9, gauss);

    each.groups = colours;
    for (int64_t i = 0; i < steps; i++) {
        progress(mesh, "blurring", i, steps);
        x = tsr_conv(tsr_conv(x, down, NULL, &each), across, NULL, &each);
    }
    progress(mesh, "", 1, 1);
    x = tsr_conv(x, weights(mesh, colours, 3, 1, 3, 3, sobel), NULL, &each);
    x = tsr_add(tsr_relu(x), tsr_relu(tsr_neg(x))); /* absolute values */
    return tsr_conv(x, weights(mesh, colours, 1, 3, 1, 1, mix), NULL, &each);
}

/* What each rank received, beside what it would have received if all of the picture went to all. */
static void report(tsr_mesh *mesh, const tsr_spec *spec, int64_t halo, double seconds)
{
    int64_t *all = calloc((size_t)tsr_mesh_size(mesh), sizeof *all);
    tsr_spec whole;
    tsr_redist *plan = NULL;
    tsr_cost cost = tsr_cost_default();

    if (all && tsr_cost_get(mesh, &cost) == TSR_OK &&
        tsr_all_gather(mesh, TSR_I64, &halo, 1, all) == TSR_OK &&
        tsr_placements_parse("[R,R]", spec, &whole, NULL) == TSR_OK &&
        tsr_redist_plan(spec, &whole, &cost, 0, TSR_RIVAL_BEST, &plan, NULL) == TSR_OK &&
        tsr_mesh_index(mesh) == 0) {
        printf("rank  halo received  to have all  ratio\n");
        for (int r = 0; r < tsr_mesh_size(mesh); r++) {
            int64_t rest = tsr_redist_bytes_in(plan, r);

            printf("%4d  %11" PRId64 " B  %9" PRId64 " B  1 : %.0f\n", r, all[r], rest,
                   all[r] ? (double)rest / (double)all[r] : 0.0);
        }
        printf("filtered in %.3f s\n", seconds);
    }
    tsr_redist_free(plan);
    free(all);
}

/* The largest difference to what one rank makes of the whole picture; on the first rank only. */
static double compare(tsr_mesh *mesh, const app *a, const tsr_spec *spec, const float *picture,
                      const float *result, int64_t n)
{
    tsr_mesh *one = NULL;
    char text[TSR_TEXT_LEN];
    float *expected = malloc((size_t)n * sizeof *expected);
    double most = INFINITY;

    tsr_spec_text(spec, text, sizeof text);
    text[strcspn(text, "@")] = 0;
    if (expected && tsr_mesh_part(mesh, "1", 0, &one) == TSR_OK) {
        tsr_tensor *y =
            filter(tsr_from_host(one, text, picture,
                                 (size_t)tsr_shape_count(&spec->shape) * sizeof *picture),
                   a->steps);

        if (tsr_to_host(y, expected, (size_t)n * sizeof *expected) == TSR_OK)
            most = 0;
        for (int64_t i = 0; i < n && most < INFINITY; i++)
            most = fmax(most, fabs((double)expected[i] - (double)result[i]));
    }
    tsr_mesh_unref(one);
    free(expected);
    return most;
}

static tsr_status job(tsr_mesh *mesh, void *arg)
{
    app *a = arg;
    bool first = tsr_mesh_index(mesh) == 0;
    int64_t size[3], reach = 8 * a->steps + 2, before;
    tsr_tensor *x = get_picture(mesh, a, size), *y;
    float *picture = NULL, *result = NULL;
    double begin, most;
    size_t n, n_out;

    if (x && (size[1] <= reach || size[2] <= reach) && first)
        fprintf(stderr, "stencil: %d steps need a picture of more than %d x %d pixels\n",
                (int)a->steps, (int)reach, (int)reach);
    if (!x || size[1] <= reach || size[2] <= reach) {
        if (first)
            a->failed = true;
        return tsr_mesh_status(mesh);
    }
    tsr_scope_push(mesh); /* plans are made and memory is found the first time */
    filter(x, a->steps);
    tsr_scope_pop(mesh);
    before = tsr_counters_get(mesh).bytes_in;
    begin = now();
    y = filter(x, a->steps);
    if (tsr_mesh_status(mesh) != TSR_OK)
        return tsr_mesh_status(mesh);
    report(mesh, tsr_tensor_spec(x), tsr_counters_get(mesh).bytes_in - before, now() - begin);

    n = (size_t)(size[0] * size[1] * size[2]);
    size[1] -= reach;
    size[2] -= reach;
    n_out = (size_t)(size[0] * size[1] * size[2]);
    picture = first ? malloc(n * sizeof *picture) : NULL;
    result = first ? malloc(n_out * sizeof *result) : NULL;
    tsr_to_root(x, picture, n * sizeof *picture, 0);
    if (tsr_to_root(y, result, n_out * sizeof *result, 0) == TSR_OK && first) {
        most = compare(mesh, a, tsr_tensor_spec(x), picture, result, (int64_t)n_out);
        printf("the largest difference to one rank is %.2g of 255\n", most);
        a->failed = !(most < 0.01) || !pnm_write(a->out, result, size);
        if (!a->failed)
            printf("%s: %" PRId64 " x %" PRId64 " pixels\n", a->out, size[2], size[1]);
    }
    free(picture);
    free(result);
    return tsr_mesh_status(mesh);
}

int main(int argc, char **argv)
{
    app a = {.out = "stencil.ppm", .size = 2048, .steps = 2};
    int n = 0, status;

    for (int i = 1; i < argc; i++) {
        char *end;
        long number = strtol(argv[i], &end, 10);

        if (strncmp(argv[i], "--", 2) == 0) { /* tsr_main's: --mesh=4 or --mesh 4 */
            i += !strchr(argv[i], '=');
            continue;
        }
        if (n == 1)
            a.out = argv[i];
        else if (n == 0 && *end)
            a.in = argv[i];
        else if (*end || number < 1 || number > (n ? 1000 : PNM_LARGEST))
            return fprintf(stderr, "usage: stencil [PICTURE|SIZE] [OUT] [STEPS]\n"), 2;
        else
            *(n ? &a.steps : &a.size) = number;
        n++;
    }
    status = tsr_main(argc, argv, "2x2", job, &a);
    return status ? status : a.failed;
}
