/* SPDX-License-Identifier: Apache-2.0 */
/* bench_ops.c - single ops in f32. On one rank beside memcpy, which moves as
   many bytes, or beside sgemm for as many products; on two ranks beside half of one rank's time. A
   table of rows drives it. */
#include "bare_onednn.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <tessera_ext.h>

#define BIG "4096,1024"
#define ATTENTION "8,8,512,64" /* batch, heads, positions, size of a head */

enum { INPUTS = 4 };

/* Inputs as f32[..]; a dtype in front, "i64:", and behind it what they hold, "<1024". */
typedef struct subject_row {
    const char *op, *attrs;
    const char *in[INPUTS];
    const char *place[INPUTS]; /* on two ranks; NULL: [S(0)] */
    int64_t gemms, m, n, k;    /* beside so many products of m x k by k x n, if any */
    const char *peer;          /* what it is called in a peer's file, if there */
} subject_row;

static const subject_row rows[] = {
    {.op = "add", .in = {BIG, BIG}},
    {.op = "mul", .in = {BIG, "1024"}, .place = {NULL, "[R]"}},
    {.op = "relu", .in = {BIG}},
    {.op = "affine", .attrs = "mul=2 add=1", .in = {BIG}},
    {.op = "exp", .in = {BIG}},
    {.op = "log", .in = {BIG}},
    {.op = "sqrt", .in = {BIG}},
    {.op = "tanh", .in = {BIG}},
    {.op = "sigmoid", .in = {BIG}},
    {.op = "silu", .in = {BIG}},
    {.op = "gelu", .in = {BIG}},
    {.op = "relu_backward", .in = {BIG, BIG}},
    {.op = "gelu_backward", .in = {BIG, BIG}},
    {.op = "gt", .in = {BIG, BIG}},
    {.op = "cast", .attrs = "dtype=bf16", .in = {BIG}},
    {.op = "mish", .in = {BIG}},
    {.op = "sum", .in = {BIG}},
    {.op = "sum", .attrs = "dims=0", .in = {BIG}, .place = {"[S(1)]"}},
    {.op = "sum", .attrs = "dims=1", .in = {BIG}},
    {.op = "mean", .attrs = "dims=1", .in = {BIG}},
    {.op = "max", .attrs = "dims=1", .in = {BIG}},
    {.op = "softmax", .attrs = "dim=1", .in = {BIG}},
    {.op = "softmax", .attrs = "dim=0", .in = {BIG}, .place = {"[S(1)]"}},
    {.op = "log_softmax", .attrs = "dim=1", .in = {BIG}},
    {.op = "layer_norm", .in = {BIG, "1024", "1024"}, .place = {NULL, "[R]", "[R]"}},
    {.op = "rms_norm", .in = {BIG, "1024"}, .place = {NULL, "[R]"}},
    {.op = "cross_entropy", .in = {BIG, "i64:4096<1024"}},
    {.op = "transpose", .in = {BIG}},
    {.op = "sgd_step", .in = {BIG, BIG}},
    {.op = "sgd_momentum_step", .attrs = "momentum=0.9", .in = {BIG, BIG, BIG}},
    {.op = "adam_step", .in = {BIG, BIG, BIG, BIG}},
    {.op = "adagrad_step", .in = {BIG, BIG, BIG}},
    {.op = "matmul",
     .in = {"1024,1024", "1024,1024"},
     .place = {NULL, "[R]"},
     .gemms = 1,
     .m = 1024,
     .n = 1024,
     .k = 1024,
     .peer = "matmul 1024^3 float32"},
    {.op = "attention",
     .in = {ATTENTION, ATTENTION, ATTENTION},
     .gemms = 2 * 64,
     .m = 512,
     .n = 512,
     .k = 64},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

/* A row on the ranks of a mesh. */
typedef struct subject {
    tsr_mesh *mesh;
    const subject_row *row;
    int n_in, n_attrs;
    tsr_tensor *in[INPUTS];
    char text[256];
    const char *attr[TSR_OP_ATTRS];
    double bytes; /* read and written */
} subject;

typedef struct ops_run {
    bench *b;
    double alone[N_ROWS];
} ops_run;

/* ---- the calls ---- */

static tsr_status run_ours(void *arg)
{
    const subject *s = arg;
    tsr_tensor *out[TSR_OP_OUTPUTS];

    tsr_scope_push(s->mesh);
    tsr_op_run_all(s->mesh, s->row->op, s->in, s->n_in, s->attr, s->n_attrs, out);
    tsr_scope_pop(s->mesh);
    return tsr_mesh_status(s->mesh);
}

/* What a bare machine needs: half of the bytes read, half written; or the products. */
typedef struct yardstick {
    const subject_row *row;
    size_t bytes;
    float *a, *b, *c;
} yardstick;

static tsr_status run_bare(void *arg)
{
    const yardstick *y = arg;
    const subject_row *r = y->row;

    tsr_status st = TSR_OK;

    if (r->gemms == 0)
        memcpy(y->c, y->a, y->bytes);
    for (int64_t i = 0; i < r->gemms && st == TSR_OK; i++)
        st = bare_sgemm(r->m, r->n, r->k, y->a + i * r->m * r->k, y->b + i * r->k * r->n,
                        y->c + i * r->m * r->n);
    return st;
}

static float *room(size_t bytes)
{
    float *x = malloc(bytes + 64);

    if (x)
        memset(x, 1, bytes + 64);
    return x;
}

static bool open_yardstick(const subject *s, yardstick *y)
{
    const subject_row *r = s->row;
    const size_t f = sizeof(float);

    y->row = r;
    y->bytes = (size_t)(s->bytes / 2);
    y->a = room(r->gemms ? (size_t)(r->gemms * r->m * r->k) * f : y->bytes);
    y->b = r->gemms ? room((size_t)(r->gemms * r->k * r->n) * f) : NULL;
    y->c = room(r->gemms ? (size_t)(r->gemms * r->m * r->n) * f : y->bytes);
    return y->a && y->c && (y->b || !r->gemms);
}

static void close_yardstick(yardstick *y)
{
    free(y->a);
    free(y->b);
    free(y->c);
}

/* ---- preparing ---- */

static double bytes_of(const tsr_tensor *x)
{
    const tsr_spec *s = tsr_tensor_spec(x);

    return (double)tsr_shape_count(&s->shape) * (double)tsr_dtype_size(s->dtype);
}

/* "4096,1024", or "i64:4096<1000" with indices below 1000. */
static tsr_tensor *make(tsr_mesh *mesh, const char *text, const char *place)
{
    char spec[TSR_TEXT_LEN], dtype[8] = "f32", shape[64];
    const char *colon = strchr(text, ':'), *below = strchr(text, '<');
    tsr_tensor *x;

    if (colon)
        snprintf(dtype, sizeof dtype, "%.*s", (int)(colon - text), text);
    text = colon ? colon + 1 : text;
    snprintf(shape, sizeof shape, "%.*s", below ? (int)(below - text) : (int)strlen(text), text);
    snprintf(spec, sizeof spec, "%s[%s]@%s", dtype, shape, place);
    x = tsr_full(mesh, spec, below ? (double)(atoll(below + 1) / 2) : 0.5);
    return x;
}

static tsr_status prepare(subject *s, bool together)
{
    tsr_tensor *out[TSR_OP_OUTPUTS];
    char *rest;
    tsr_status st;

    for (; s->n_in < INPUTS && s->row->in[s->n_in]; s->n_in++) {
        const char *place = s->row->place[s->n_in];

        s->in[s->n_in] = make(s->mesh, s->row->in[s->n_in],
                              !together ? "[R]"
                              : place   ? place
                                        : "[S(0)]");
        s->bytes += bytes_of(s->in[s->n_in]);
    }
    snprintf(s->text, sizeof s->text, "%s", s->row->attrs ? s->row->attrs : "");
    for (char *w = strtok_r(s->text, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        s->attr[s->n_attrs++] = w;
    st = tsr_op_run_all(s->mesh, s->row->op, s->in, s->n_in, s->attr, s->n_attrs, out);
    for (int k = 0; k < TSR_OP_OUTPUTS && st == TSR_OK; k++)
        if (out[k])
            s->bytes += bytes_of(out[k]);
    return st;
}

static json_t *add_row(bench *b, const subject *s, int ranks, double seconds)
{
    char text[256], inputs[160] = "";

    for (int k = 0; k < s->n_in; k++)
        snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), "%s[%.40s]", k ? " " : "",
                 s->row->in[k]);
    snprintf(text, sizeof text, "%s%s%s", inputs, s->row->attrs ? " " : "",
             s->row->attrs ? s->row->attrs : "");
    return bench_row(b, "{s:i, s:s, s:s, s:f, s:f}", "ranks", ranks, "op", s->row->op, "case", text,
                     "seconds", seconds, "gb_per_s", s->bytes / seconds * 1e-9);
}

/* ---- one rank, then two ---- */

static tsr_status alone(tsr_mesh *mesh, void *arg)
{
    ops_run *r = arg;
    tsr_status st = TSR_OK;

    for (int i = 0; i < N_ROWS && st == TSR_OK; i++) {
        subject s = {.mesh = mesh, .row = &rows[i]};
        yardstick y = {0};
        measure_work works[2] = {{.run = run_ours, .arg = &s}, {.run = run_bare, .arg = &y}};
        const bool beside = rows[i].gemms == 0 || bare_available();

        cli_progress("%s on one rank", rows[i].op);
        tsr_scope_push(mesh);
        st = prepare(&s, false);
        if (st == TSR_OK && !open_yardstick(&s, &y))
            st = TSR_ERR_MEMORY;
        if (st == TSR_OK)
            st = measure_together(mesh, works, beside ? 2 : 1, 0.3);
        if (st == TSR_OK) {
            json_t *row = add_row(r->b, &s, 1, works[0].seconds);

            if (beside)
                bench_beside(row, rows[i].gemms ? "sgemm" : "memcpy", works[1].seconds);
            if (rows[i].peer)
                bench_peer(r->b, row, "seconds", "*/%s/median", rows[i].peer);
            r->alone[i] = works[0].seconds;
        }
        close_yardstick(&y);
        tsr_scope_pop(mesh);
    }
    return st;
}

static tsr_status together(tsr_mesh *mesh, void *arg)
{
    ops_run *r = arg;
    tsr_status st = TSR_OK;

    for (int i = 0; i < N_ROWS && st == TSR_OK; i++) {
        subject s = {.mesh = mesh, .row = &rows[i]};
        measure_work work = {.run = run_ours, .arg = &s};

        cli_progress("%s on two ranks", rows[i].op);
        tsr_scope_push(mesh);
        st = prepare(&s, true);
        if (st == TSR_OK)
            st = measure_together(mesh, &work, 1, 0.3);
        if (st == TSR_OK && tsr_mesh_rank(mesh) == 0)
            bench_beside(add_row(r->b, &s, 2, work.seconds), "half of 1 rank", r->alone[i] / 2);
        tsr_scope_pop(mesh);
    }
    return st;
}

static int run_all(bench *b)
{
    ops_run r = {.b = b};
    int status = bench_on_ranks(TSR_WORLD_THREAD, 1, alone, &r);

    return status == CLI_OK ? bench_on_ranks(TSR_WORLD_THREAD, 2, together, &r) : status;
}

const benchmark bench_ops = {
    .name = "ops",
    .synopsis = "",
    .help = "single ops beside memcpy and sgemm, on 1 and 2 ranks",
    .run = run_all,
    .columns = {{"ranks", "ranks", COUNT},
                {"op", "op", TEXT},
                {"inputs", "case", TEXT},
                {"time", "seconds", SECONDS},
                {"GB/s", "gb_per_s", NUMBER},
                BENCH_YARDSTICK_COLUMNS,
                BENCH_PEER_COLUMNS},
    .note = "f32. GB/s: bytes of inputs and outputs. memcpy moves as many, half of them read and\n"
            "half written; sgemm is oneDNN's, for as many products; both in turns with ours. On\n"
            "two ranks the yardstick is half of one rank's time. ratio: time divided by the\n"
            "yardstick's."};
