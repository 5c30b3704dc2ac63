/* SPDX-License-Identifier: Apache-2.0 */
/* training.c - the loop around a model: see training.h. Everything is on top of the public
   headers. */
#include "training.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tessera_ext.h>

#include "curve.h"

struct training {
    tsr_mesh *mesh;
    const char *title;
    const train_options *o;
    bool first;       /* this is the rank that writes */
    bool bar;         /* and its standard error is a terminal */
    bool bar_shown;   /* the cursor stands behind the bar */
    bool interrupted; /* known to all ranks */
    int64_t step;     /* those begun */
    int64_t losses;   /* those known */
    double *loss, *seconds;
    double began, shown; /* times of the step, and of the bar */
    tsr_counters start;  /* after the first step, which plans */
};

/* ---- ctrl-C ---- */

static atomic_int asked_to_stop; /* one for all thread ranks of this process */

static void on_signal(int number)
{
    if (atomic_exchange(&asked_to_stop, 1)) /* twice: at once */
        _exit(128 + number);
}

/* ---- the command line ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_help(const char *program, const char *about, const train_options *o,
                       const train_extra *extra)
{
    printf("usage: %s [options]\n\n%s\n\n", program, about);
    printf("  --mesh MESH      ranks, e.g. 2x2; under mpirun its ranks\n"
           "  --world WORLD    thread or mpi, if it is not clear\n");
    printf("  --steps N        how many steps to train (%" PRId64 ")\n", o->steps);
    printf("  --batch N        samples per step, of all ranks together (%" PRId64 ")\n", o->batch);
    printf("  --seed N         of everything random (%" PRIu64 ")\n", o->seed);
    printf("  --dtype D        f32 or f64 (%s)\n", tsr_dtype_name(o->dtype));
    printf("  --data PATH      where the data is (%s)\n", o->data ? o->data : "none");
    printf("  --svg FILE       draw the loss curve there\n"
           "  --losses FILE    write the loss of every step there, one per line\n");
    for (; extra && extra->name; extra++)
        printf("  %-8s %-7s %s\n", extra->name, extra->text ? "TEXT" : "N", extra->help);
}

static bool read_whole(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == 0 && errno == 0 && *out >= 0;
}

static bool read_extra(const train_extra *x, const char *value)
{
    char *end;

    if (x->number)
        return read_whole(value, x->number);
    if (x->text) {
        *x->text = value;
        return true;
    }
    *x->real = strtod(value, &end);
    return end != value && *end == 0 && isfinite(*x->real);
}

/* False: the value makes no sense. */
static bool read_option(train_options *o, const train_extra *extra, const char *name, size_t n,
                        const char *value, bool *known)
{
    int64_t number;
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"--svg", &o->svg}, {"--losses", &o->losses}, {"--data", &o->data}};
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {{"--steps", &o->steps}, {"--batch", &o->batch}};

#define IS(text) (strlen(text) == n && strncmp(name, text, n) == 0)
    *known = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (IS(texts[i].name)) {
            *texts[i].text = value;
            return true;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (IS(numbers[i].name))
            return read_whole(value, numbers[i].number) && *numbers[i].number > 0;
    if (IS("--seed")) {
        const bool good = read_whole(value, &number);
        o->seed = (uint64_t)number;
        return good;
    }
    if (IS("--dtype")) {
        o->dtype = strcmp(value, "f64") == 0 ? TSR_F64 : TSR_F32;
        return strcmp(value, "f64") == 0 || strcmp(value, "f32") == 0;
    }
    for (; extra && extra->name; extra++)
        if (IS(extra->name))
            return read_extra(extra, value);
#undef IS
    *known = false;
    return false;
}

/* How many words tsr_main's option at argv[0] has: --mesh=4 or --mesh 4; 0: it is not one. */
static int words_for_main(int argc, char **argv)
{
    static const char *const names[] = {"--mesh", "--world", "--cost", "--timeout"};
    const size_t n = strcspn(argv[0], "=");

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncmp(argv[0], names[i], n) == 0)
            return argv[0][n] || argc == 1 ? 1 : 2;
    return 0;
}

int train_parse(int *argc, char **argv, const char *about, train_options *o,
                const train_extra *extra)
{
    const train_options defaults = *o;
    int left = 1;

    for (int i = 1; i < *argc; i++) {
        const char *arg = argv[i], *equals = strchr(arg, '='), *value;
        int words = words_for_main(*argc - i, argv + i);
        bool known;

        if (strcmp(arg, "--help") == 0) {
            print_help(argv[0], about, &defaults, extra);
            return 0;
        }
        if (words) {
            while (words--)
                argv[left++] = argv[i++];
            i--;
            continue;
        }
        value = equals ? equals + 1 : i + 1 < *argc ? argv[i + 1] : "";
        if (!read_option(o, extra, arg, equals ? (size_t)(equals - arg) : strlen(arg), value,
                         &known)) {
            if (known)
                fprintf(stderr, "%s: %s cannot be \"%s\"\n", argv[0], arg, value);
            else
                fprintf(stderr, "%s: there is no option %s; --help lists them\n", argv[0], arg);
            return 2;
        }
        i += !equals;
    }
    *argc = left;
    return -1;
}

/* ---- the loop ---- */

training *training_begin(tsr_mesh *mesh, const char *title, const train_options *o)
{
    struct sigaction act = {.sa_handler = on_signal};
    training *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    *t = (training){.mesh = mesh, .title = title, .o = o, .first = tsr_mesh_index(mesh) == 0};
    t->bar = t->first && isatty(STDERR_FILENO);
    t->loss = calloc((size_t)o->steps, sizeof *t->loss);
    t->seconds = calloc((size_t)o->steps, sizeof *t->seconds);
    if (!t->loss || !t->seconds) {
        free(t->loss);
        free(t->seconds);
        free(t);
        return NULL;
    }
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL); /* what mpirun makes of ctrl-C */
    tsr_statistics_set(mesh, true);
    return t;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Of many the last ones: it is asked for often. */
static double median(const double *values, int64_t n)
{
    enum { MOST = 1000 };
    double sorted[MOST];
    const int64_t m = n < MOST ? n : MOST;

    if (m == 0)
        return 0;
    memcpy(sorted, values + n - m, (size_t)m * sizeof *sorted);
    qsort(sorted, (size_t)m, sizeof *sorted, compare);
    return m % 2 ? sorted[m / 2] : (sorted[m / 2 - 1] + sorted[m / 2]) / 2;
}

static void clear_bar(training *t)
{
    if (t->bar_shown)
        fprintf(stderr, "\r\033[K");
    t->bar_shown = false;
}

static void show_progress(training *t)
{
    enum { CELLS = 30, REPORTS = 20 };
    const int64_t n = t->losses, all = t->o->steps;
    const double time = now(), loss = t->loss[n - 1];
    double each;
    int left;

    if (!t->first)
        return;
    if (!t->bar) {
        if (n == 1 || n == all || n % (all / REPORTS + 1) == 0)
            fprintf(stderr, "%s: step %" PRId64 " of %" PRId64 ", loss %.4f\n", t->title, n, all,
                    loss);
        return;
    }
    if (time - t->shown < 0.1 && n < all)
        return;
    t->shown = time;
    each = median(t->seconds, n - 1);
    left = (int)(each * (double)(all - n));
    fprintf(stderr, "\r\033[K%s ", t->title);
    for (int i = 0; i < CELLS; i++)
        fputs(i < CELLS * n / all ? "█" : "░", stderr);
    fprintf(stderr, " %" PRId64 "/%" PRId64 "  loss %.4f  %.1f ms/step  %d:%02d left", n, all, loss,
            1e3 * each, left / 60, left % 60);
    fflush(stderr);
    t->bar_shown = true;
}

bool training_next(training *t, int64_t *step)
{
    int32_t stop = atomic_load(&asked_to_stop);

    if (!t || tsr_mesh_status(t->mesh) != TSR_OK)
        return false;
    if (t->step > 0)
        t->seconds[t->step - 1] = now() - t->began;
    if (t->step == 1)
        t->start = tsr_counters_get(t->mesh);
    if (t->step == t->o->steps)
        return false;
    if (tsr_all_reduce(t->mesh, TSR_I32, TSR_MAX, &stop, 1, &stop) != TSR_OK)
        return false;
    t->interrupted = stop != 0;
    if (stop)
        return false;
    t->began = now();
    *step = t->step++;
    return true;
}

bool training_stopped(const training *t)
{
    return t && t->interrupted;
}

void training_loss(training *t, tsr_tensor *loss)
{
    double value = NAN;
    float single;

    if (!t || !tsr_tensor_ok(loss))
        return;
    if (tsr_tensor_spec(loss)->dtype == TSR_F32) {
        if (tsr_to_host(loss, &single, sizeof single) == TSR_OK)
            value = single;
    } else {
        tsr_to_host(loss, &value, sizeof value);
    }
    if (tsr_mesh_status(t->mesh) != TSR_OK || t->losses == t->step)
        return;
    t->loss[t->losses++] = value;
    show_progress(t);
}

void training_say(training *t, const char *format, ...)
{
    va_list args;

    if (!t || !t->first)
        return;
    clear_bar(t);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

/* ---- the table ---- */

static const char *bytes_text(double bytes, char *buf, size_t n)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;

    for (; bytes >= 1024 && u < 4; u++)
        bytes /= 1024;
    snprintf(buf, n, u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
    return buf;
}

/* What all ops of this rank did: seconds of moving data, and of computing meanwhile. */
typedef struct effort {
    double moving, hidden;
} effort;

static effort measure_ops(const tsr_mesh *mesh)
{
    effort sum = {0, 0};

    for (int i = 0; i < tsr_op_count(); i++) {
        const tsr_op_counters c = tsr_op_counters_get(mesh, tsr_op_row(i)->name);

        sum.moving += c.moving + c.windows;
        sum.hidden += c.hidden;
    }
    return sum;
}

static void print_table(const training *t, const int64_t *along, effort work, const double *memory)
{
    const tsr_mesh_shape *shape = tsr_mesh_shape_get(t->mesh);
    const int64_t n = t->losses;
    const double each = median(t->seconds, n), steps = (double)(n > 1 ? n - 1 : 1);
    char mesh[TSR_TEXT_LEN], a[32], b[32];
    double least = INFINITY, most = 0;
    int64_t several = along[TSR_MAX_MESH];

    printf("\n%-28s %s (%s), mesh %s\n", "model", t->title, tsr_dtype_name(t->o->dtype),
           tsr_mesh_text(shape, mesh, sizeof mesh));
    printf("%-28s %" PRId64 "%s\n", "steps", n, t->interrupted ? ", interrupted" : "");
    if (n > 0)
        printf("%-28s %.6f, at first %.6f\n", "loss", t->loss[n - 1], t->loss[0]);
    printf("%-28s %.2f ms (median)\n", "time per step", 1e3 * each);
    for (int m = 0; m < shape->ndim; m++) {
        snprintf(mesh, sizeof mesh, "received along %s", shape->name[m]);
        if (!shape->name[m][0])
            snprintf(mesh, sizeof mesh, "received along mesh dim %d", m);
        printf("%-28s %s per step\n", mesh, bytes_text((double)along[m] / steps, a, sizeof a));
    }
    if (several)
        printf("%-28s %s per step\n", "received along several dims",
               bytes_text((double)several / steps, a, sizeof a));
    printf("%-28s %.2f ms per step, while %.2f ms were computed\n", "moving data for ops",
           1e3 * work.moving / (steps + 1), 1e3 * work.hidden / (steps + 1));
    for (int i = 0; i < tsr_mesh_size(t->mesh); i++) {
        least = fmin(least, memory[i]);
        most = fmax(most, memory[i]);
    }
    printf("%-28s %s", "memory of a rank at the most", bytes_text(most, a, sizeof a));
    if (least < most)
        printf(" (the smallest: %s)", bytes_text(least, b, sizeof b));
    putchar('\n');
    fflush(stdout);
}

static bool save_losses(const training *t)
{
    FILE *f = fopen(t->o->losses, "w");
    bool good = f != NULL;

    for (int64_t i = 0; i < t->losses && f; i++)
        fprintf(f, "%.17g\n", t->loss[i]);
    if (f) {
        good = !ferror(f);
        good = fclose(f) == 0 && good;
    }
    return good;
}

/* The numbers of the busiest rank, unless the ranks cannot speak to each other any more. */
static void report(training *t)
{
    const int size = tsr_mesh_size(t->mesh);
    const tsr_counters end = tsr_counters_get(t->mesh);
    const effort work = measure_ops(t->mesh);
    double mine = (double)end.memory_peak, *memory = calloc((size_t)size, sizeof *memory);
    int64_t along[TSR_MAX_MESH + 1];
    const curve c = {t->title, "step", "loss", t->loss, t->losses};

    for (int i = 0; i <= TSR_MAX_MESH; i++)
        along[i] = t->step > 1 ? end.along[i] - t->start.along[i] : end.along[i];
    for (int i = 0; i < size && memory; i++)
        memory[i] = mine;
    if (tsr_mesh_status(t->mesh) == TSR_OK && memory) {
        tsr_all_reduce(t->mesh, TSR_I64, TSR_MAX, along, TSR_MAX_MESH + 1, along);
        tsr_all_gather(t->mesh, TSR_F64, &mine, 1, memory);
    }
    if (t->first && memory) {
        putchar('\n');
        curve_print(&c, stdout);
        print_table(t, along, work, memory);
        if (t->o->svg && !curve_save_svg(&c, t->o->svg))
            fprintf(stderr, "%s: cannot write %s: %s\n", t->title, t->o->svg, strerror(errno));
        if (t->o->losses && !save_losses(t))
            fprintf(stderr, "%s: cannot write %s: %s\n", t->title, t->o->losses, strerror(errno));
    }
    free(memory);
}

tsr_status training_end(training *t)
{
    tsr_status st;

    if (!t)
        return TSR_ERR_MEMORY;
    clear_bar(t);
    report(t);
    if (!getenv("TESSERA_STATS"))
        tsr_statistics_set(t->mesh, false); /* or all ops would be listed when the job ends */
    st = tsr_mesh_status(t->mesh);
    free(t->loss);
    free(t->seconds);
    free(t);
    return st;
}
