/* SPDX-License-Identifier: Apache-2.0 */
/* bench_plan.c - what planning costs, in microseconds: one pair (plan and free), and one source to
   all targets (costs only), for 2-dim tensors on meshes of 2 ranks per dim. No arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera.h>

enum { PAIRS = 2000, ROUNDS = 9, TARGETS = 81, SOURCES = 100 };

static const tsr_placement CHOICE[] = {
    {.kind = TSR_REPLICATE},
    {.kind = TSR_SHARD, .dim = 0},
    {.kind = TSR_SHARD, .dim = 1},
    {.kind = TSR_PARTIAL, .reduce = TSR_SUM},
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void random_places(tsr_spec *spec, int choices)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        spec->place[m] = CHOICE[rand() % choices];
}

/* Median and worst of random pairs; each pair's own time is the least of some rounds. */
static void bench_pairs(tsr_spec spec, double *median, double *worst)
{
    static double t[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        tsr_spec from = spec, to = spec;
        random_places(&from, 4);
        random_places(&to, 3);
        t[i] = 1;
        for (int r = 0; r < ROUNDS; r++) {
            tsr_redist *plan = NULL;
            double t0 = now(), one;
            if (tsr_redist_plan(&from, &to, NULL, 0, TSR_RIVAL_BEST, &plan, NULL) != TSR_OK)
                exit(1);
            tsr_redist_free(plan);
            one = now() - t0;
            t[i] = one < t[i] ? one : t[i];
        }
    }
    qsort(t, PAIRS, sizeof t[0], by_value);
    *median = t[PAIRS / 2];
    *worst = t[PAIRS - 1];
}

/* Median over sources of one pass to all combinations of R, S(0), S(1). */
static double bench_all(tsr_spec spec, int choices)
{
    static tsr_placement to[TARGETS][TSR_MAX_MESH];
    static double seconds[TARGETS], t[SOURCES];
    int n = 1;

    for (int m = 0; m < spec.mesh.ndim; m++)
        n *= 3;
    for (int i = 0; i < n; i++)
        for (int m = 0, rest = i; m < spec.mesh.ndim; m++, rest /= 3)
            to[i][m] = CHOICE[rest % 3];
    for (int i = 0; i < SOURCES; i++) {
        tsr_spec from = spec;
        random_places(&from, choices);
        t[i] = 1;
        for (int r = 0; r < ROUNDS; r++) {
            double t0 = now(), one;
            if (tsr_redist_costs(&from, (const tsr_placement(*)[TSR_MAX_MESH])to, n, NULL, seconds,
                                 NULL) != TSR_OK)
                exit(1);
            one = now() - t0;
            t[i] = one < t[i] ? one : t[i];
        }
    }
    qsort(t, SOURCES, sizeof t[0], by_value);
    return t[SOURCES / 2];
}

int main(void)
{
    static const char *const meshes[] = {"2x2", "2x2x2", "2x2x2x2"};

    printf("%-10s %12s %12s %16s %16s\n", "mesh", "pair us", "worst us", "S,R to all us",
           "P,S,R to all us");
    for (int i = 0; i < 3; i++) {
        tsr_spec spec = {.dtype = TSR_F32, .shape = {2, {1024, 768}}};
        double median, worst;
        if (tsr_mesh_parse(meshes[i], &spec.mesh, NULL) != TSR_OK)
            return 1;
        bench_pairs(spec, &median, &worst);
        printf("%-10s %12.2f %12.2f %16.2f %16.2f\n", meshes[i], 1e6 * median, 1e6 * worst,
               1e6 * bench_all(spec, 3), 1e6 * bench_all(spec, 4));
    }
    return 0;
}
