/* SPDX-License-Identifier: Apache-2.0 */
/* npy_place.h - a folder for each test that writes files. For test_npy.c and
   test_npy_errors.c. */
#ifndef TSR_TESTS_NPY_PLACE_H
#define TSR_TESTS_NPY_PLACE_H

#include <dirent.h>
#include <unistd.h>

#include "support/test.h"

/* Every test has a folder of its own. */
typedef struct place {
    char folder[32], path[48];
} place;

static inline int setup(void **state)
{
    place *p = calloc(1, sizeof *p);

    snprintf(p->folder, sizeof p->folder, "/tmp/tessera_npy_XXXXXX");
    if (!mkdtemp(p->folder))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/x.npy", p->folder);
    *state = p;
    return 0;
}

static inline int files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static inline int teardown(void **state)
{
    place *p = *state;
    int st;

    unlink(p->path);
    st = rmdir(p->folder); /* fails if a temporary file was left */
    free(p);
    return st;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
