/* SPDX-License-Identifier: Apache-2.0 */
/* fault_driver.c - see fault_driver.h. */
#include "fault_driver.h"

#include "test.h"
#include "numbers.h"
#include "sampling.h"

enum { MOST_RANKS = 4, MOST_FAULTS = 2000, MOST_SECONDS = 15 };

typedef struct outcome {
    tsr_status status;
    char text[sizeof((tsr_error *)NULL)->text];
    int64_t done;  /* allocations or calls */
    int64_t left;  /* blocks that stayed behind */
    int64_t bytes; /* that came in */
} outcome;

typedef struct fault {
    const fault_job *job;
    bool calls, again;
    int rank;
    int64_t n; /* which one; 0: none */
    outcome of[MOST_RANKS];
} fault;

static fault make_fault(const fault_job *job, fault_kind kind, int rank, int64_t n)
{
    return (fault){.job = job,
                   .calls = kind == FAULT_CALL || kind == FAULT_FIRST_CALL,
                   .again = kind == FAULT_CALL || kind == FAULT_ALLOCATION_AGAIN,
                   .rank = rank,
                   .n = n};
}

/* All in a scope of its own; what is left after it. */
static tsr_status run_once(tsr_mesh *mesh, const fault_job *job, int64_t *live)
{
    tsr_status st = tsr_scope_push(mesh);

    if (st != TSR_OK)
        return st;
    if (job->call) {
        job->call(mesh, job->where);
        st = tsr_mesh_status(mesh);
    } else {
        st = job->run(mesh, job->arg);
    }
    if (st == TSR_OK)
        st = tsr_barrier(mesh);
    tsr_scope_pop(mesh);
    tsr_memory_trim(mesh);
    *live = tsr_allocations_live(mesh);
    return st;
}

static int64_t done_so_far(tsr_mesh *mesh, const fault *f)
{
    return f->calls ? tsr_counters_get(mesh).calls : tsr_allocations(mesh);
}

static tsr_status faulty_job(tsr_mesh *mesh, void *arg)
{
    fault *f = arg;
    const int rank = tsr_mesh_rank(mesh);
    outcome *o = &f->of[rank];
    int64_t before = 0, after, first;
    tsr_status st = TSR_OK;

    for (int i = 0; i < 2 && f->again && st == TSR_OK; i++)
        st = run_once(mesh, f->job, &before);
    if (st == TSR_OK)
        st = tsr_barrier(mesh);
    tsr_counters_reset(mesh);
    after = before;
    first = done_so_far(mesh, f);
    if (st == TSR_OK) { /* else a faster rank has failed already */
        if (rank == f->rank && f->n)
            (f->calls ? tsr_fault_call : tsr_fault_alloc)(mesh, f->n);
        st = run_once(mesh, f->job, &after);
    }
    o->status = st;
    o->done = done_so_far(mesh, f) - first;
    o->left = f->again ? after - before : 0;
    o->bytes = tsr_counters_get(mesh).bytes_in;
    snprintf(o->text, sizeof o->text, "%s", tsr_mesh_message(mesh));
    return st;
}

/* Was there an n-th one? A call that failed is not counted. */
static bool was_hit(const fault *f)
{
    const outcome *o = &f->of[f->rank];

    return f->n && o->done + f->calls >= f->n && (o->status != TSR_OK || !f->calls);
}

static int size_of(const fault_job *job)
{
    tsr_mesh_shape shape;
    int size = 1;

    assert_int_equal(tsr_mesh_parse(job->mesh, &shape, NULL), TSR_OK);
    for (int i = 0; i < shape.ndim; i++)
        size *= (int)shape.size[i];
    assert_true(size <= MOST_RANKS);
    return size;
}

/* Whether there was an n-th to fail. */
static bool try_one(fault *f)
{
    const tsr_run_opts opts = RUN_OPTS(.mesh = f->job->mesh, .world = TSR_WORLD_THREAD,
                                       .has_timeout = true, .timeout_ms = 20000);
    const char *what = f->calls ? "call" : "allocation", *when = f->again ? ", again" : "";
    const double begin = now();
    tsr_error err = {0};
    const tsr_status st = tsr_run(&opts, faulty_job, f, &err);
    const bool hit = was_hit(f);
    const int64_t bytes = f->of[0].bytes;

    if (st != (!hit       ? TSR_OK
               : f->calls ? TSR_ERR_STATE
                          : TSR_ERR_MEMORY) ||
        now() - begin > MOST_SECONDS)
        fail_msg("%s on %s%s: %s %lld of rank %d: status %d after %.1f s: %s", f->job->name,
                 f->job->mesh, when, what, (long long)f->n, f->rank, (int)st, now() - begin,
                 err.text);
    for (int i = 0; i < size_of(f->job); i++) {
        const outcome *o = &f->of[i];

        if ((o->status != TSR_OK) != hit || (hit && !o->text[0]) || strchr(o->text, '\n') ||
            o->left)
            fail_msg("%s on %s%s: %s %lld of rank %d: rank %d ended with status %d, %lld blocks "
                     "left: \"%s\"",
                     f->job->name, f->job->mesh, when, what, (long long)f->n, f->rank, i,
                     (int)o->status, (long long)o->left, o->text);
    }
    if (!hit && f->job->most_bytes && (bytes == 0 || bytes > f->job->most_bytes))
        fail_msg("%s on %s: %lld bytes travelled", f->job->name, f->job->mesh, (long long)bytes);
    return hit;
}

static void fail_each_of(const fault_job *job, fault_kind kind, int rank)
{
    const bool calls = make_fault(job, kind, rank, 0).calls;
    const int64_t step = !calls && !job->all && sample_every() > 1 ? 7 : 1;
    int64_t n = 1 + sample_first(step);
    fault f;

    do {
        assert_true(n < MOST_FAULTS);
        f = make_fault(job, kind, rank, n);
        n += step;
    } while (try_one(&f));
    assert_true(n > job->least + 1); /* all of them, and then none */
}

void fault_each(const fault_job *job, fault_kind kind)
{
    fail_each_of(job, kind, job->ranks[0]);
    if (job->ranks[1] != job->ranks[0])
        fail_each_of(job, kind, job->ranks[1]);
}

void fault_some(const fault_job *job, fault_kind kind, int64_t runs)
{
    fault none = make_fault(job, kind, 0, 0);
    const int size = size_of(job);

    if (sample_every() > 1)
        runs /= 6;
    try_one(&none);
    for (int64_t k = 0; k < runs; k++) {
        const int rank = (int)(k % size);
        const int64_t there_are = none.of[rank].done;
        fault f = make_fault(job, kind, rank, 1 + k * (there_are - 1) / (runs - 1));

        assert_true(there_are >= job->least);
        assert_true(try_one(&f));
    }
}

tsr_tensor *fault_input(tsr_mesh *mesh, const char *what, const char *where, double step)
{
    char spec[TSR_TEXT_LEN];

    snprintf(spec, sizeof spec, "%s@%s", what, where);
    return tsr_arange(mesh, spec, 0, step);
}
