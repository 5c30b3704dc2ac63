/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_bad.c - what is wrong with data: files that are cut, changed or something else, labels
   that are no classes, batches that do not fit. One sentence, the same on all ranks, a world that
   goes on and no memory lost. */
#include "support/test.h"
#include "idx_files.h"
#include "support/fault_driver.h"

/* ---- files ---- */

/* Reads the file; what comes of it is either an error that names it, or `data`, if that is
   allowed. The world goes on. */
static tsr_status read_bad(tsr_mesh *mesh, const idx_file *f, const char *part, const void *data)
{
    const int64_t live = tsr_allocations_live(mesh);
    tsr_dataset *d = NULL;
    const tsr_status st = tsr_dataset_idx(mesh, f->path, &d);

    if (st == TSR_OK) {
        CHECK(data);
        CHECK(memcmp(tsr_dataset_memory(d), data, (size_t)tsr_shape_count(tsr_dataset_shape(d))) ==
              0);
    } else {
        const char *text = tsr_mesh_message(mesh);

        CHECK(!d && tsr_mesh_status(mesh) == st);
        CHECK(strstr(text, f->path) && (!part || strstr(text, part)));
        for (const char *c = text; *c; c++)
            CHECK(*c >= ' ' && *c <= '~');
    }
    tsr_mesh_clear_error(mesh);
    tsr_dataset_free(d);
    CHECK(tsr_allocations_live(mesh) == live);
    return TSR_OK;
}

/* On one rank all files of a kind are tried within one job: `change` makes the n-th, false if
   there is none. */
typedef struct attack {
    idx_file good, bad;
    bool (*change)(const idx_file *good, int n, idx_file *bad);
    const void *data; /* what a change that changes nothing leaves; NULL: there is none */
    int tried;
} attack;

static tsr_status attack_job(tsr_mesh *mesh, void *arg)
{
    attack *a = arg;
    tsr_status st = tsr_barrier(mesh);

    for (a->bad = a->good; st == TSR_OK && a->change(&a->good, a->tried, &a->bad); a->tried++) {
        FILE *to;

        unlink(a->bad.path); /* a file that is written anew may be synced, thousands of times */
        to = fopen(a->bad.path, "wb");
        CHECK(to && fwrite(a->bad.bytes, 1, a->bad.n, to) == a->bad.n && fclose(to) == 0);
        st = read_bad(mesh, &a->bad, NULL, a->data);
        if (st != TSR_OK)
            fprintf(stderr, "change %d\n", a->tried);
    }
    return st;
}

/* All but one: bytes with a sign are as many. */
static bool change_header(const idx_file *good, int n, idx_file *bad)
{
    const int at = n / 255, by = n % 255 + 1;

    *bad = *good;
    bad->bytes[at] ^= (unsigned char)(at == 2 && by == (0x08 ^ 0x09) ? 0x80 : by);
    return at < 16;
}

static bool change_byte(const idx_file *good, int n, idx_file *bad)
{
    const size_t at = (size_t)n / 8;

    *bad = *good;
    if (at < good->n)
        bad->bytes[at] ^= (unsigned char)(1 << n % 8);
    return at < good->n;
}

static bool cut(const idx_file *good, int n, idx_file *bad)
{
    *bad = *good;
    bad->n = (size_t)n;
    return bad->n < good->n;
}

static bool lengthen(const idx_file *good, int n, idx_file *bad)
{
    *bad = *good;
    bad->n += (size_t)n + 1;
    memset(bad->bytes + good->n, n % 2 ? 0x1f : 0, (size_t)n + 1);
    return n < 20;
}

static void no_change_goes_unseen(void **state)
{
    idx_file *f = *state;
    attack a = {.change = change_header};
    unsigned char data[6 * 5 * 4];

    idx_images(f, 6, 5, 4);
    memcpy(data, f->bytes + 16, sizeof data);
    a.good = *f;
    pass_on("1", attack_job, &a);
    assert_int_equal(a.tried, 16 * 255);
    a = (attack){.good = *f, .change = cut};
    pass_on("1", attack_job, &a);
    assert_int_equal(a.tried, 16 + 120);
    a = (attack){.good = *f, .change = lengthen};
    pass_on("1", attack_job, &a);
    idx_pack(f);
    a = (attack){.good = *f, .change = cut};
    pass_on("1", attack_job, &a);
    assert_int_equal(a.tried, f->n);
    a = (attack){.good = *f, .change = lengthen};
    pass_on("1", attack_job, &a);
    /* gzip's own header has a time and a system in it, which nobody looks at */
    a = (attack){.good = *f, .change = change_byte, .data = data};
    pass_on("1", attack_job, &a);
    assert_int_equal(a.tried, 8 * f->n);
}

typedef struct told {
    const idx_file *file;
    const char *part;
} told;

static tsr_status told_job(tsr_mesh *mesh, void *arg)
{
    const told *t = arg;
    tsr_status st = tsr_barrier(mesh); /* the group of all ranks is open now, which takes memory */

    if (st == TSR_OK)
        st = read_bad(mesh, t->file, t->part, NULL);
    return st == TSR_OK ? tsr_barrier(mesh) : st;
}

static void expect(const idx_file *f, const char *part)
{
    told t = {f, part};

    idx_write(f, f->n);
    pass_on("2x2", told_job, &t);
}

static void sentences_have_values(void **state)
{
    idx_file *f = *state, gone = {.path = "/nowhere/x"}, folder = {.path = "/tmp"};
    const unsigned char garbage[] = "hello";

    expect(f, "its header needs 4 bytes, but there are 0");
    idx_images(f, 6, 5, 4);
    f->n = 14;
    expect(f, "its header needs 16 bytes, but there are 14");
    idx_images(f, 6, 5, 4);
    f->n -= 3;
    expect(f, "u8[6,5,4] needs 120 bytes after the header, but there are 117");
    idx_pack(f);
    expect(f, "u8[6,5,4] needs 120 bytes after the header, but there are 117");
    idx_images(f, 6, 5, 4);
    f->bytes[f->n++] = 0;
    expect(f, "goes on after the 120 bytes of its u8[6,5,4]");
    memcpy(f->bytes, garbage, 5);
    expect(f, "is not an IDX file: its first two bytes are not 0");
    f->bytes[0] = 0x1f; /* the first byte of gzip's two */
    expect(f, "is not an IDX file: its first two bytes are not 0");
    idx_start(f, 0x0A, 1, (const int64_t[]){3});
    expect(f, "type 0x0A, not 0x08 (u8), 0x09 (i8)");
    idx_start(f, 0x08, 9, (const int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1});
    expect(f, "has 9 dims, not 1 to 8");
    idx_start(f, 0x08, 0, NULL);
    expect(f, "has 0 dims, not 1 to 8");
    idx_start(f, 0x0E, 3, (const int64_t[]){UINT32_MAX, UINT32_MAX, 0});
    expect(f, "f64[4294967295,4294967295,0], more than 2^63 bytes");
    idx_start(f, 0x08, 2, (const int64_t[]){UINT32_MAX, 1000});
    expect(f, "needs 4294967295000 bytes after the header, but there are 0");
    idx_pack(f);
    expect(f, "needs 4294967295000 bytes after the header, but there are at most");
    idx_images(f, 6, 5, 4);
    idx_pack(f);
    f->bytes[f->n - 8] ^= 1;
    expect(f, "incorrect data check");
    f->bytes[f->n - 8] ^= 1;
    f->bytes[f->n - 1] ^= 1;
    expect(f, "incorrect length check");
    f->bytes[f->n - 1] ^= 1;
    f->n -= 5;
    expect(f, "is truncated: it ends after");
    f->n += 5;
    f->bytes[f->n++] = 0;
    expect(f, "bytes follow its end");
    pass_on("2x2", told_job, &(told){&gone, "cannot open /nowhere/x: No such file"});
    pass_on("2x2", told_job, &(told){&folder, "it is not a regular file"});
}

/* ---- ranks that see other things ---- */

static tsr_status differ_job(tsr_mesh *mesh, void *arg)
{
    const char *const *path = arg; /* of the others, and of rank 2 */
    tsr_dataset *d = NULL;

    CHECK(tsr_dataset_idx(mesh, path[tsr_mesh_rank(mesh) == 2], &d) != TSR_OK);
    CHECK(strstr(tsr_mesh_message(mesh), path[2]));
    tsr_mesh_clear_error(mesh);
    return tsr_barrier(mesh);
}

static void one_ranks_trouble_is_everybodys(void **state)
{
    idx_file *f = *state, other = *f;
    const char *differ[] = {f->path, other.path, "differs between rank 2"};
    const char *gone[] = {f->path, "/nowhere/x", "cannot open /nowhere/x"};
    const char *there[] = {"/nowhere/x", f->path, "cannot open /nowhere/x"};

    idx_images(f, 6, 5, 4);
    idx_write(f, f->n);
    strcat(other.path, "_2");
    idx_images(&other, 6, 5, 4);
    other.bytes[50]++;
    idx_write(&other, other.n);
    pass_on("4", differ_job, differ);
    pass_on("4", differ_job, gone);
    pass_on("4", differ_job, there);
    unlink(other.path);
}

/* Rank 0 is outside of the mesh that reads, so nobody asks it; what it cannot read it must tell. */
static tsr_status outside_job(tsr_mesh *mesh, void *arg)
{
    const bool outside = tsr_mesh_rank(mesh) == 0;
    tsr_mesh *part = NULL;
    tsr_dataset *d = NULL;
    tsr_status st;

    CHECK(tsr_mesh_part(mesh, "2", 1, &part) == TSR_OK);
    st = tsr_dataset_idx(part, outside ? "/nowhere/x" : arg, &d);
    CHECK(outside ? st == TSR_ERR_IO && !d : st == TSR_OK || st == TSR_ERR_PEER);
    if (outside)
        tsr_mesh_clear_error(mesh);
    CHECK(tsr_barrier(mesh) == (outside ? TSR_ERR_IO : TSR_ERR_PEER));
    CHECK(strstr(tsr_mesh_message(mesh), "cannot open /nowhere/x"));
    tsr_dataset_free(d);
    tsr_mesh_unref(part);
    return TSR_OK;
}

static void trouble_outside_is_everybodys(void **state)
{
    idx_file *f = *state;

    idx_images(f, 6, 5, 4);
    idx_write(f, f->n);
    pass_on("3", outside_job, f->path);
}

/* ---- arguments ---- */

static bool says(tsr_mesh *mesh, tsr_status code, const char *part)
{
    const bool as_wanted =
        tsr_mesh_status(mesh) == code && strstr(tsr_mesh_message(mesh), part) != NULL;

    if (!as_wanted)
        fprintf(stderr, "wanted \"%s\"\n", part);
    else
        tsr_mesh_clear_error(mesh);
    return as_wanted;
}

static tsr_status dataset_job(tsr_mesh *mesh, void *arg)
{
    const int32_t values[] = {0, 9, 3, -1, 10, 2};
    const tsr_shape six = {1, {6}}, pairs = {2, {3, 2}}, none = {0, {0}}, less = {1, {-1}};
    tsr_dataset *d = NULL;

    CHECK(dataset_from_host(mesh, TSR_I32, NULL, values, &d) == TSR_ERR_ARG);
    CHECK(says(mesh, TSR_ERR_ARG, "shape is NULL"));
    dataset_from_host(mesh, TSR_I32, &six, NULL, &d);
    CHECK(says(mesh, TSR_ERR_ARG, "data is NULL"));
    dataset_from_host(mesh, TSR_I32, &six, values, NULL);
    CHECK(says(mesh, TSR_ERR_ARG, "out is NULL"));
    dataset_from_host(mesh, TSR_I32, &none, values, &d);
    CHECK(says(mesh, TSR_ERR_SHAPE, "a dataset needs a sample dim"));
    dataset_from_host(mesh, TSR_I32, &less, values, &d);
    CHECK(says(mesh, TSR_ERR_SHAPE, "negative size -1"));
    dataset_from_host(mesh, (tsr_dtype)77, &six, values, &d);
    CHECK(says(mesh, TSR_ERR_DTYPE, "unknown dtype 77"));
    tsr_dataset_idx(mesh, NULL, &d);
    CHECK(says(mesh, TSR_ERR_ARG, "path is NULL"));
    CHECK(!d);

    CHECK(dataset_from_host(mesh, TSR_I32, &pairs, values, &d) == TSR_OK);
    tsr_dataset_check_labels(d, 10);
    CHECK(says(mesh, TSR_ERR_ARG,
               "sample 1 of the dataset has label -1, which is not one of the 10"));
    tsr_dataset_free(d);
    CHECK(dataset_from_host(mesh, TSR_I32, &(tsr_shape){1, {3}}, values, &d) == TSR_OK);
    CHECK(tsr_dataset_check_labels(d, 10) == TSR_OK);
    tsr_dataset_check_labels(d, 9);
    CHECK(says(mesh, TSR_ERR_ARG, "sample 1 of the dataset has label 9"));
    tsr_dataset_free(d);
    CHECK(dataset_from_host(mesh, TSR_F32, &six, values, &d) == TSR_OK);
    tsr_dataset_check_labels(d, 10);
    CHECK(says(mesh, TSR_ERR_DTYPE, "those of the dataset are f32"));
    tsr_dataset_free(d);
    (void)arg;
    return tsr_barrier(mesh);
}

static tsr_status batch_job(tsr_mesh *mesh, void *arg)
{
    const uint8_t values[12] = {0};
    tsr_batches b = {.samples = 6, .size = 3};
    tsr_dataset *d = NULL;

    CHECK(dataset_from_host(mesh, TSR_U8, &(tsr_shape){2, {6, 2}}, values, &d) == TSR_OK);
    CHECK(!tsr_tensor_ok(tsr_batch(d, NULL, 0, 0, "[R,R]")));
    CHECK(says(mesh, TSR_ERR_ARG, "the batches are NULL"));
    tsr_batch(d, &b, 0, 2, "[R,R]");
    CHECK(says(mesh, TSR_ERR_ARG, "no batch 2 in epoch 0; an epoch has 2"));
    tsr_batch(d, &b, -1, 0, "[R,R]");
    CHECK(says(mesh, TSR_ERR_ARG, "in epoch -1"));
    tsr_batch(d, &b, 0, 0, "[R,S(2)]");
    CHECK(says(mesh, TSR_ERR_SPEC, "no dim 2"));
    tsr_batch(d, &b, 0, 0, NULL);
    CHECK(says(mesh, TSR_ERR_ARG, "NULL"));
    CHECK(tsr_batches_check(d, &b, "[S(0),S(1)]") == TSR_OK);
    tsr_batches_check(d, &b, "[S(0),S(0)]");
    CHECK(says(mesh, TSR_ERR_SHAPE,
               "a batch of 3 is smaller than the 4 ranks of mesh dim data,space"));
    CHECK(tsr_tensor_ok(tsr_batch(d, &b, 0, 0, "[S(0),S(0)]"))); /* parts may be empty */
    b.size = 1;
    tsr_batches_check(d, &b, "[S(0),R]");
    CHECK(says(mesh, TSR_ERR_SHAPE, "a batch of 1 is smaller than the 2 ranks of mesh dim data"));
    b.size = 0;
    tsr_batch(d, &b, 0, 0, "[R,R]");
    CHECK(says(mesh, TSR_ERR_ARG, "at least 1 sample, not 0"));
    b.size = 7;
    tsr_batch(d, &b, 0, 0, "[R,R]");
    CHECK(says(mesh, TSR_ERR_ARG, "a batch of 7 samples is larger than the dataset, which has 6"));
    b = (tsr_batches){.samples = 5, .size = 2};
    tsr_batch(d, &b, 0, 0, "[R,R]");
    CHECK(says(mesh, TSR_ERR_SHAPE, "for 5 samples, but the dataset has 6"));
    tsr_dataset_free(d);
    (void)arg;
    return tsr_barrier(mesh);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    pass_on("data=2,space=2", dataset_job, NULL);
    pass_on("data=2,space=2", batch_job, NULL);
}

/* ---- faults ---- */

/* Reads and deals out. */
static tsr_status read_and_deal(tsr_mesh *mesh, const void *path)
{
    static const tsr_batches b = {.samples = 6, .size = 4};
    const int64_t live = tsr_allocations_live(mesh);
    tsr_dataset *d = NULL;
    tsr_status st = tsr_dataset_idx(mesh, path, &d);

    if (st != TSR_OK)
        CHECK(!d && tsr_allocations_live(mesh) == live);
    else
        tsr_batch(d, &b, 0, 0, "[S(0),SS(2,2)]");
    tsr_dataset_free(d);
    return tsr_mesh_status(mesh);
}

static void faults_reach_all(void **state)
{
    idx_file *f = *state;

    for (int packed = 0; packed < 2; packed++) {
        fault_job job = {.name = packed ? "packed images" : "images",
                         .mesh = "2x2",
                         .ranks = {1, 1},
                         .run = read_and_deal,
                         .arg = f->path,
                         .all = true};

        idx_images(f, 6, 5, 4);
        if (packed)
            idx_pack(f);
        idx_write(f, f->n);
        job.least = 5;
        fault_each(&job, FAULT_ALLOCATION);
        job.least = 2;
        fault_each(&job, FAULT_FIRST_CALL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_change_goes_unseen, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(sentences_have_values, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(one_ranks_trouble_is_everybodys, idx_setup, idx_teardown),
        cmocka_unit_test_setup_teardown(trouble_outside_is_everybodys, idx_setup, idx_teardown),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test_setup_teardown(faults_reach_all, idx_setup, idx_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
