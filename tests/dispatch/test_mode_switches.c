/* SPDX-License-Identifier: Apache-2.0 */
/* test_mode_switches.c - modes that are switched in the middle of a job: costs, reproducible,
   strict, the memory limit, kept windows, overlap, the plan limit. Every combination of them,
   reached by switching one mode at a time in two orders, does what a job does that has it from the
   start: whatever a cache or a tensor remembers must be of the mode that is on. */
#include "support/test.h"

enum { COSTS, REPRODUCIBLE, STRICT, MEMORY, WINDOWS, OVERLAP, PLANS, MODES, SETS = 1 << MODES };
enum { RANKS = 4, SAID = 1024 };

/* What a script of calls gave on each rank, as text, per set of modes. */
typedef struct book {
    char said[SETS][RANKS][SAID];
    int set;  /* of a fresh job */
    int last; /* switching begins with all modes on or with none */
} book;

static void switch_mode(tsr_mesh *mesh, int mode, bool on)
{
    tsr_cost cost = tsr_cost_default();

    switch (mode) {
    case COSTS: /* a network so slow that all bytes are worth many messages */
        tsr_cost_parse(on ? "latency=1e-9,bandwidth=1e3" : "default", &cost, NULL);
        cost.reproducible = mesh_cost(mesh).reproducible;
        tsr_cost_set(mesh, &cost);
        break;
    case REPRODUCIBLE: tsr_reproducible_set(mesh, on); break;
    case STRICT: tsr_strict_set(mesh, on); break;
    case MEMORY: tsr_memory_limit_set(mesh, on ? 600 : 0); break;
    case WINDOWS: tsr_keep_windows_set(mesh, on ? 1 << 16 : 0); break;
    case OVERLAP: tsr_overlap_set(mesh, on ? TSR_OVERLAP_ALWAYS : TSR_OVERLAP_NEVER); break;
    default: tsr_plan_limit_set(mesh, on ? 1 : TSR_PLAN_LIMIT); break;
    }
}

/* The spec that a call gave or the beginning of why it gave none, and the bytes that came. */
static void say(tsr_mesh *mesh, char *said, tsr_tensor *x)
{
    const size_t used = strlen(said);
    char text[256];

    snprintf(said + used, SAID - used, "%s %lld; ",
             tsr_tensor_ok(x) ? tsr_spec_text(tsr_tensor_spec(x), text, sizeof text)
                              : tsr_mesh_message(mesh),
             (long long)tsr_counters_get(mesh).bytes_in);
    tsr_mesh_clear_error(mesh);
    tsr_counters_reset(mesh);
}

/* Calls of which each mode changes at least one. */
static void script(tsr_mesh *mesh, char *said)
{
    const tsr_conv_opts same = CONV_OPTS(.padding = {1, 1});
    tsr_tensor *x, *w, *image, *kernel;

    said[0] = 0;
    tsr_scope_push(mesh);
    x = tsr_full(mesh, "f64[8,8]@[S(0),R]", 1);
    w = tsr_full(mesh, "f64[8,8]@[S(1),R]", 2);
    image = tsr_full(mesh, "f64[2,1,16,8]@[S(2),R]", 3);
    kernel = tsr_full(mesh, "f64[1,1,3,3]@[R,R]", 1);
    tsr_counters_reset(mesh);
    say(mesh, said, tsr_redistribute(x, "[R,R]"));
    say(mesh, said, tsr_matmul(x, w, NULL));
    say(mesh, said, tsr_matmul(w, x, NULL));
    say(mesh, said, tsr_conv(image, kernel, NULL, &same));
    say(mesh, said, tsr_conv(image, kernel, NULL, &same));
    tsr_scope_pop(mesh);
}

static tsr_status fresh_job(tsr_mesh *mesh, void *arg)
{
    book *b = arg;

    for (int mode = 0; mode < MODES; mode++)
        switch_mode(mesh, mode, b->set >> mode & 1);
    script(mesh, b->said[b->set][tsr_mesh_rank(mesh)]);
    return TSR_OK;
}

/* One mode changes from set to set: set i is i ^ i / 2, or that with all modes the other way. */
static tsr_status switching_job(tsr_mesh *mesh, void *arg)
{
    const book *b = arg;
    const int me = tsr_mesh_rank(mesh);
    char said[SAID];

    for (int i = 0; i < SETS; i++) {
        const int set = (i ^ i / 2) ^ b->last;

        for (int mode = 0; mode < MODES; mode++)
            switch_mode(mesh, mode, set >> mode & 1);
        script(mesh, said);
        if (strcmp(said, b->said[set][me]) != 0)
            fprintf(stderr, "modes %#x, switched to: %s\nfrom the start: %s\n", (unsigned)set, said,
                    b->said[set][me]);
        CHECK(strcmp(said, b->said[set][me]) == 0);
    }
    return TSR_OK;
}

static void switched_modes_are_as_if_from_the_start(void **state)
{
    static book b;
    (void)state;

    for (b.set = 0; b.set < SETS; b.set++)
        pass_on("2x2", fresh_job, &b);
    for (int mode = 0; mode <= WINDOWS; mode++) /* or the comparison would show nothing */
        assert_string_not_equal(b.said[0][0], b.said[1 << mode][0]);
    for (b.last = 0; b.last < SETS; b.last += SETS - 1)
        pass_on("2x2", switching_job, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(switched_modes_are_as_if_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
