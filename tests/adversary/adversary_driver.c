/* SPDX-License-Identifier: Apache-2.0 */
/* adversary_driver.c - runs calls that tests/adversary made up, and tells what every rank got. It
   judges nothing. A session is a mesh and a list of calls with each rank's parts of the inputs; it
   is read as a whole, run as one job, and answered with each rank's parts of the outputs. Thread
   ranks: sessions come on stdin. Under mpirun, with a directory as its argument, each process has
   pipes of its own there, in.RANK and out.RANK, and sees the parts of its rank only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera_ext.h>
#include "support/opts.h"

enum { MAX_ATTRS = 16, MAX_RANKS = 64, MAX_LINE = 4096 };

typedef struct part {
    tsr_shape shape;
    size_t bytes;
    void *data;
} part;

typedef struct operand {
    bool present;
    tsr_spec spec;
    char text[TSR_TEXT_LEN];
    part *parts; /* of the ranks that this process serves */
} operand;

typedef struct result {
    tsr_status status;
    char message[TSR_ERROR_LEN];
    unsigned changed; /* inputs whose memory the call wrote to */
    struct {
        bool present;
        char spec[TSR_TEXT_LEN];
        part local;
    } out[TSR_OP_OUTPUTS];
} result;

typedef struct call {
    char op[64], to[TSR_TEXT_LEN]; /* to: placements that the output shall have, or "-" */
    int n_in, n_attrs;
    operand in[TSR_OP_INPUTS];
    char *attrs[MAX_ATTRS];
    result *results; /* of the ranks that this process serves */
} call;

typedef struct session {
    char mesh[TSR_TEXT_LEN], cost[TSR_TEXT_LEN];
    tsr_world_kind world;
    int first, n_ranks; /* the ranks that this process serves */
    int n_calls;
    call *calls;
} session;

static void die(const char *what)
{
    fprintf(stderr, "adversary_driver: %s\n", what);
    exit(3);
}

static void *make(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        die("out of memory");
    return p;
}

/* The next line without its end; false at the end of the input. */
static bool read_line(FILE *in, char *line)
{
    if (!fgets(line, MAX_LINE, in))
        return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

static void need_line(FILE *in, char *line)
{
    if (!read_line(in, line))
        die("the input ends within a session");
}

/* ---- reading a session ----------------------------------------------------------------------- */

static void read_part(FILE *in, tsr_dtype dtype, part *p)
{
    char line[MAX_LINE], *at = line;

    need_line(in, line);
    p->shape.ndim = (int)strtol(at, &at, 10);
    for (int d = 0; d < p->shape.ndim && d < TSR_MAX_DIM; d++)
        p->shape.size[d] = strtoll(at, &at, 10);
    p->bytes = (size_t)tsr_shape_count(&p->shape) * tsr_dtype_size(dtype);
    p->data = make(p->bytes, 1);
    if (fread(p->data, 1, p->bytes, in) != p->bytes)
        die("the input ends within a part");
}

static void read_operand(FILE *in, const session *s, operand *x)
{
    char line[MAX_LINE];
    tsr_mesh_shape mesh;
    tsr_error err = {0};

    need_line(in, line);
    x->present = strcmp(line, "-") != 0;
    if (!x->present)
        return;
    if (strlen(line) >= sizeof x->text)
        die("a spec that is too long");
    memcpy(x->text, line, strlen(line) + 1);
    if (tsr_mesh_parse(s->mesh, &mesh, &err) != TSR_OK ||
        tsr_spec_parse(x->text, &mesh, &x->spec, &err) != TSR_OK)
        die(err.text);
    x->parts = make((size_t)s->n_ranks, sizeof *x->parts);
    for (int r = 0; r < s->n_ranks; r++)
        read_part(in, x->spec.dtype, &x->parts[r]);
}

static void read_call(FILE *in, const session *s, call *c)
{
    char line[MAX_LINE];

    need_line(in, line);
    if (sscanf(line, "%63s %d %d %511s", c->op, &c->n_in, &c->n_attrs, c->to) != 4 ||
        c->n_in > TSR_OP_INPUTS || c->n_attrs > MAX_ATTRS)
        die("a call that cannot be read");
    for (int k = 0; k < c->n_attrs; k++) {
        need_line(in, line);
        c->attrs[k] = make(strlen(line) + 1, 1);
        memcpy(c->attrs[k], line, strlen(line));
    }
    for (int k = 0; k < c->n_in; k++)
        read_operand(in, s, &c->in[k]);
    c->results = make((size_t)s->n_ranks, sizeof *c->results);
}

static bool read_session(FILE *in, session *s)
{
    char line[MAX_LINE], world[16];

    memset(s, 0, sizeof *s);
    if (!read_line(in, line))
        return false;
    if (sscanf(line, "%511s %15s %511s %d %d %d", s->mesh, world, s->cost, &s->first, &s->n_ranks,
               &s->n_calls) != 6 ||
        s->n_ranks < 1 || s->n_ranks > MAX_RANKS || s->n_calls < 0)
        die("a session that cannot be read");
    s->world = strcmp(world, "mpi") == 0 ? TSR_WORLD_MPI : TSR_WORLD_THREAD;
    s->calls = make((size_t)s->n_calls, sizeof *s->calls);
    for (int i = 0; i < s->n_calls; i++)
        read_call(in, s, &s->calls[i]);
    return true;
}

/* ---- running it ------------------------------------------------------------------------------ */

static void take_output(tsr_tensor *x, result *res, int k)
{
    tsr_local local;

    if (!x || !tsr_tensor_ok(x) || tsr_local_view(x, &local) != TSR_OK)
        return;
    const tsr_spec *spec = tsr_tensor_spec(x);
    part *p = &res->out[k].local;
    res->out[k].present = true;
    tsr_spec_text(spec, res->out[k].spec, sizeof res->out[k].spec);
    p->shape = local.shape;
    p->bytes = (size_t)tsr_shape_count(&local.shape) * tsr_dtype_size(spec->dtype);
    p->data = make(p->bytes, 1);
    if (p->bytes)
        memcpy(p->data, local.data, p->bytes);
}

/* The first input, which all ranks have whole, placed as the call says. */
static tsr_tensor *make_whole(tsr_mesh *mesh, const call *c, int rank)
{
    char text[TSR_TEXT_LEN];
    tsr_spec spec;
    tsr_error err = {0};

    if (tsr_placements_parse(c->to, &c->in[0].spec, &spec, &err) != TSR_OK)
        die(err.text);
    tsr_spec_text(&spec, text, sizeof text);
    return from_host(mesh, text, c->in[0].parts[rank].data);
}

/* The whole value of a tensor as every rank gets it, as a replicated one. */
static tsr_tensor *to_host(tsr_mesh *mesh, tsr_tensor *x)
{
    tsr_spec spec = *tsr_tensor_spec(x);
    const size_t bytes = (size_t)tsr_shape_count(&spec.shape) * tsr_dtype_size(spec.dtype);
    void *data = make(bytes, 1);
    char text[TSR_TEXT_LEN];

    tsr_to_host(x, data, bytes);
    memset(spec.place, 0, sizeof spec.place);
    tsr_tensor *y = from_local(mesh, tsr_spec_text(&spec, text, sizeof text), data, &spec.shape);
    free(data);
    return y;
}

static tsr_status run_op(tsr_mesh *mesh, const call *c, tsr_tensor *const *in, int rank,
                         tsr_tensor **out)
{
    const char *const *attrs = (const char *const *)c->attrs;

    if (strcmp(c->op, "redistribute") == 0)
        out[0] = tsr_redistribute(in[0], c->to);
    else if (strcmp(c->op, "from_host") == 0)
        out[0] = make_whole(mesh, c, rank);
    else if (strcmp(c->op, "to_host") == 0)
        out[0] = to_host(mesh, in[0]);
    else if (strcmp(c->to, "-") == 0)
        return tsr_op_run_all(mesh, c->op, in, c->n_in, attrs, c->n_attrs, out);
    else
        out[0] = tsr_op_run_to(mesh, c->op, in, c->n_in, attrs, c->n_attrs, c->to);
    return tsr_mesh_status(mesh);
}

static void run_call(tsr_mesh *mesh, call *c, int rank)
{
    tsr_tensor *in[TSR_OP_INPUTS] = {NULL}, *out[TSR_OP_OUTPUTS] = {NULL};
    result *res = &c->results[rank];
    tsr_local local;

    for (int k = 0; k < c->n_in; k++)
        if (c->in[k].present) {
            const part *p = &c->in[k].parts[rank];
            in[k] = from_local(mesh, c->in[k].text, p->data, &p->shape);
        }
    res->status = run_op(mesh, c, in, rank, out);
    tsr_barrier(mesh); /* what only one rank noticed is told to the others by the next call */
    if (res->status == TSR_OK)
        res->status = tsr_mesh_status(mesh);
    snprintf(res->message, sizeof res->message, "%s", tsr_mesh_message(mesh));
    for (int k = 0; k < c->n_in; k++)
        if (in[k] && tsr_tensor_ok(in[k]) && tsr_local_view(in[k], &local) == TSR_OK &&
            c->in[k].parts[rank].bytes &&
            memcmp(local.data, c->in[k].parts[rank].data, c->in[k].parts[rank].bytes) != 0)
            res->changed |= 1u << k;
    for (int k = 0; k < TSR_OP_OUTPUTS; k++)
        take_output(out[k], res, k);
}

/* A failed call is no reason to stop: whether the others still work is for the tester to judge. */
static tsr_status run_session(tsr_mesh *mesh, void *arg)
{
    const session *s = arg;

    for (int i = 0; i < s->n_calls; i++) {
        tsr_scope_push(mesh);
        run_call(mesh, &s->calls[i], tsr_mesh_rank(mesh) - s->first);
        tsr_scope_pop(mesh);
        tsr_mesh_clear_error(mesh);
    }
    return TSR_OK;
}

/* ---- answering ------------------------------------------------------------------------------- */

static void write_result(FILE *out, const result *res)
{
    fprintf(out, "rank %d %u %s\n", (int)res->status, res->changed, res->message);
    for (int k = 0; k < TSR_OP_OUTPUTS; k++) {
        const part *p = &res->out[k].local;
        if (!res->out[k].present) {
            fprintf(out, "-\n");
            continue;
        }
        fprintf(out, "%s %d", res->out[k].spec, p->shape.ndim);
        for (int d = 0; d < p->shape.ndim; d++)
            fprintf(out, " %lld", (long long)p->shape.size[d]);
        fprintf(out, "\n");
        fwrite(p->data, 1, p->bytes, out);
    }
}

static void free_call(const session *s, call *c)
{
    for (int k = 0; k < c->n_attrs; k++)
        free(c->attrs[k]);
    for (int k = 0; k < c->n_in; k++) {
        for (int r = 0; r < s->n_ranks && c->in[k].present; r++)
            free(c->in[k].parts[r].data);
        free(c->in[k].parts);
    }
    for (int r = 0; r < s->n_ranks; r++)
        for (int k = 0; k < TSR_OP_OUTPUTS; k++)
            free(c->results[r].out[k].local.data);
    free(c->results);
}

static FILE *open_pipe(const char *dir, const char *name, const char *mode)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char path[MAX_LINE];

    if (!rank)
        rank = getenv("PMI_RANK");
    snprintf(path, sizeof path, "%s/%s.%s", dir, name, rank ? rank : "0");
    FILE *f = fopen(path, mode);
    if (!f)
        die(path);
    return f;
}

/* The names of all ops, so that the tester can say which it does not know. */
static int list_ops(void)
{
    for (int i = 0; i < tsr_op_count(); i++)
        puts(tsr_op_row(i)->name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--ops") == 0)
        return list_ops();
    FILE *in = argc > 1 ? open_pipe(argv[1], "in", "rb") : stdin;
    FILE *out = argc > 1 ? open_pipe(argv[1], "out", "wb") : stdout;
    session s;

    while (read_session(in, &s)) {
        tsr_error err = {0};
        tsr_status st =
            tsr_run(&(tsr_run_opts)RUN_OPTS(.mesh = s.mesh, .world = s.world, .has_timeout = true,
                                            .timeout_ms = 20000, .cost = s.cost),
                    run_session, &s, &err);
        fprintf(out, "session %d %s\n", (int)st, err.text);
        for (int i = 0; i < s.n_calls; i++) {
            for (int r = 0; r < s.n_ranks; r++)
                write_result(out, &s.calls[i].results[r]);
            free_call(&s, &s.calls[i]);
        }
        free(s.calls);
        fprintf(out, "end\n");
        fflush(out);
    }
    if (in != stdin)
        fclose(in);
    if (out != stdout)
        fclose(out);
    return 0;
}
