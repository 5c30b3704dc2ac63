/* SPDX-License-Identifier: Apache-2.0 */
/* test_npy_errors.c - what goes wrong with npy files: the same sentence on all ranks, a world that
   goes on, no memory lost, and a save that fails leaves no trace. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/test.h"
#include "dispatch/context.h"
#include "io/new_file.h"
#include "npy_place.h"
#include "support/harness.h"

enum { MAX_RANKS = 16 };

/* ---- errors ---- */

typedef struct trial {
    const char *path, *placements; /* placements: load; else save */
    bool saves;
    tsr_error seen[MAX_RANKS];
} trial;

/* Each rank notes what it was told. The world goes on. */
static tsr_status trial_job(tsr_mesh *mesh, void *arg)
{
    trial *t = arg;
    tsr_error *seen = &t->seen[tsr_mesh_rank(mesh)];

    if (t->saves) {
        tsr_tensor *x = tsr_arange(mesh, "f32[400]@[S(0),R]", 0, 1);
        tsr_status st = tsr_save_npy(x, t->path);
        assert_int_equal(st, tsr_mesh_status(mesh));
    } else {
        assert_false(tsr_tensor_ok(tsr_load_npy(mesh, t->path, t->placements)));
    }
    seen->code = tsr_mesh_status(mesh);
    snprintf(seen->text, sizeof seen->text, "%s", tsr_mesh_message(mesh));
    tsr_mesh_clear_error(mesh);
    return tsr_barrier(mesh);
}

static void expect_error(trial *t, tsr_status code, const char *part)
{
    pass_on("2x2", trial_job, t);
    for (int i = 0; i < 4; i++) {
        if (!strstr(t->seen[i].text, part))
            fail_msg("\"%s\" is not in \"%s\"", part, t->seen[i].text);
        assert_int_equal(t->seen[i].code, code);
        assert_string_equal(t->seen[i].text, t->seen[0].text);
    }
}

typedef struct request {
    const char *path, *spec, *to;
} request;

static tsr_status save_job(tsr_mesh *mesh, void *arg)
{
    const request *r = arg;
    return tsr_save_npy(tsr_arange(mesh, r->spec, 0, 1), r->path);
}

static void save_a_file(const place *p, const char *spec)
{
    pass_on("2x2", save_job, &(request){p->path, spec, NULL});
}

static void load_errors_are_equal(void **state)
{
    place *p = *state;
    trial missing = {.path = p->path, .placements = "[R,R]"};
    trial folder = {.path = p->folder, .placements = "[R,R]"};
    trial none = {.placements = "[R,R]"};
    trial no_dim = {.path = p->path, .placements = "[R,S(2)]"};
    trial few = {.path = p->path, .placements = "[R]"};
    trial null = {.path = p->path};
    trial cut = {.path = p->path, .placements = "[S(0),R]"};

    expect_error(&missing, TSR_ERR_IO, "/x.npy: No such file or directory");
    expect_error(&folder, TSR_ERR_IO, "it is not a regular file");
    expect_error(&none, TSR_ERR_ARG, "the path is NULL");
    save_a_file(p, "f32[5,7]@[S(0),S(1)]");
    expect_error(&no_dim, TSR_ERR_SPEC, "no dim 2");
    expect_error(&few, TSR_ERR_SPEC, "mesh 2x2 has 2 dims");
    expect_error(&null, TSR_ERR_ARG, "NULL");
    assert_int_equal(truncate(p->path, 128 + 139), 0);
    expect_error(&cut, TSR_ERR_FORMAT,
                 "f32[5,7] needs 140 bytes after the header, but there are 139");
}

static void save_errors_are_equal(void **state)
{
    place *p = *state;
    char below[64];
    trial folder = {.path = p->folder, .saves = true};
    trial none = {.saves = true};
    trial nowhere = {.path = below, .saves = true};

    expect_error(&folder, TSR_ERR_IO, "it is not a regular file");
    expect_error(&none, TSR_ERR_ARG, "the path is NULL");
    snprintf(below, sizeof below, "%s/x/y.npy", p->folder);
    expect_error(&nowhere, TSR_ERR_IO, "No such file or directory");
    snprintf(below, sizeof below, "/proc/x.npy"); /* where not even root may write */
    expect_error(&nowhere, TSR_ERR_IO, "cannot create /proc/x.npy");
    assert_int_equal(files_in(p->folder), 0);
}

/* What stood in the file stays in it. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    place *p = *state;
    trial full = {.path = p->path, .saves = true};
    struct rlimit before, small = {.rlim_cur = 1024, .rlim_max = 0};
    struct stat info;

    save_a_file(p, "f32[5]@[S(0),R]");
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    expect_error(&full, TSR_ERR_IO, "File too large");
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(stat(p->path, &info), 0);
    assert_int_equal(info.st_size, 128 + 20);
    assert_int_equal(files_in(p->folder), 1);
}

/* ---- what a save replaces ---- */

static mode_t mode_of(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void the_mode_stays(void **state)
{
    static const mode_t modes[] = {0600, 0640, 0444};
    place *p = *state;
    const mode_t mask = umask(027);

    save_a_file(p, "f32[5]@[S(0),R]");
    assert_int_equal(mode_of(p->path), 0640);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(p->path, modes[i]), 0);
        save_a_file(p, "f32[6]@[S(0),R]");
        assert_int_equal(mode_of(p->path), modes[i]);
    }
    umask(mask);
}

/* A link stays a link; the file it leads to is replaced, or made. */
static void links_are_followed(void **state)
{
    place *p = *state;
    char folder[48], file[64], link[64];
    struct stat info;

    snprintf(folder, sizeof folder, "%s/d", p->folder);
    snprintf(file, sizeof file, "%s/d/y.npy", p->folder);
    snprintf(link, sizeof link, "%s/d/l.npy", p->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink("d/l.npy", p->path), 0);
    assert_int_equal(symlink(file, link), 0);
    for (int size = 5; size < 7; size++) {
        save_a_file(p, size == 5 ? "f32[5]@[S(0),R]" : "f32[6]@[S(0),R]");
        assert_int_equal(lstat(p->path, &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat(file, &info), 0);
        assert_true(S_ISREG(info.st_mode));
        assert_int_equal(info.st_size, 128 + 4 * size);
        assert_int_equal(files_in(folder), 2);
    }
    unlink(file);
    unlink(link);
    rmdir(folder);
}

static void links_in_a_circle_are_an_error(void **state)
{
    place *p = *state;
    trial t = {.path = p->path, .saves = true};

    assert_int_equal(symlink("x.npy", p->path), 0);
    expect_error(&t, TSR_ERR_IO, "cannot follow the link");
}

static void touch(const char *folder, const char *name)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

/* A job that was killed leaves its temporary file, the next save to the same path removes it; a
   save under way, and files that only look alike, are left alone. */
static void abandoned_files_are_removed(void **state)
{
    static const char *const others[] = {"x.npy.tmp.12", "x.npy.tmp.12.a", "y.npy.tmp.12.0",
                                         "x.npy.tmp.12.0.1"};
    place *p = *state;
    tsr_new_file busy;
    tsr_error err = {0};
    char path[96];

    touch(p->folder, "x.npy.tmp.12345.0");
    touch(p->folder, "x.npy.tmp.1.17");
    for (int i = 0; i < 4; i++)
        touch(p->folder, others[i]);
    assert_int_equal(tsr__new_file_open(&busy, p->path, &err), TSR_OK);
    assert_int_equal(files_in(p->folder), 5);
    close(busy.fd); /* written, but not yet renamed */
    busy.fd = -1;
    save_a_file(p, "f32[5]@[S(0),R]");
    assert_int_equal(access(busy.temporary, F_OK), 0);
    assert_int_equal(tsr__new_file_replace(&busy, &err), TSR_OK);
    tsr__new_file_close(&busy);
    assert_int_equal(files_in(p->folder), 5);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", p->folder, others[i]);
        assert_int_equal(unlink(path), 0);
    }
}

/* ---- faults ---- */

static tsr_status fault_job(tsr_mesh *mesh, void *arg)
{
    const request *r = arg;
    tsr_ctx *ctx = mesh->ctx;
    tsr_tensor *x;
    tsr_status st;

    TSR_TRY(tsr__context_open(ctx, mesh));
    x = tsr_arange(mesh, r->spec, 1, 1);
    tsr_save_npy(x, r->path);
    tsr_load_npy(mesh, r->path, r->to);
    st = tsr_mesh_status(mesh);
done:
    tsr__context_close(ctx);
    return st;
}

/* The harness sees to it that nothing leaks; `calls`: collective calls fail instead. */
static void try_faults(const place *p, int rank, bool calls)
{
    static const char *const spec[] = {"f32[6,5]@[S(0),R]", "f32[1100,2]@[S(1),SS(0,3)]",
                                       "f32[6,5]@[P(sum),S(0)]"};
    static const char *const to[] = {"[S(1),S(0)]", "[R,S(1)]", "[P(sum),S(0)]"};

    for (int k = 0; k < 3; k++) {
        request r = {p->path, spec[k], to[k]};
        harness h;
        int64_t n = 0;
        do {
            n++;
            h = (harness){.mesh = "2x2", .fail_rank = rank};
            *(calls ? &h.fail_call_at : &h.fail_alloc_at) = n;
            harness_run(&h, fault_job, &r);
            for (int i = 0; i < 4; i++)
                assert_true((h.status[i] == TSR_OK) == (h.status[0] == TSR_OK));
            assert_true(files_in(p->folder) <= 1); /* no temporary file stays */
        } while (h.status[0] != TSR_OK);
        assert_true(n > 5);
    }
}

static void every_allocation_may_fail(void **state)
{
    try_faults(*state, 0, false);
    try_faults(*state, 3, false);
}

static void every_call_may_fail(void **state)
{
    try_faults(*state, 0, true);
    try_faults(*state, 2, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(load_errors_are_equal),
        TEST(save_errors_are_equal),
        TEST(a_full_disk_leaves_the_old_file),
        TEST(the_mode_stays),
        TEST(links_are_followed),
        TEST(links_in_a_circle_are_an_error),
        TEST(abandoned_files_are_removed),
        TEST(every_allocation_may_fail),
        TEST(every_call_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
