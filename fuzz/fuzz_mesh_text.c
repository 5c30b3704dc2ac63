/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mesh_text.c - the first line is a mesh, the second a choice of its dims. What is accepted
   must come back from its own text. */
#include "fuzz.h"
#include "mesh/mesh_shape.h"

static void check_accepted(const tsr_mesh_shape *mesh, char *dims)
{
    char text[TSR_TEXT_LEN], again[TSR_TEXT_LEN];
    tsr_mesh_shape copy;
    tsr_error err = {0};
    unsigned mdims = 0;
    int64_t ranks = 1;
    tsr_status st;

    REQUIRE(mesh->ndim >= 1 && mesh->ndim <= TSR_MAX_MESH);
    for (int i = 0; i < mesh->ndim; i++) {
        REQUIRE(mesh->size[i] >= 1);
        ranks *= mesh->size[i];
        REQUIRE(ranks <= INT32_MAX);
    }
    REQUIRE(tsr__mesh_size(mesh) == ranks);
    REQUIRE(tsr__mesh_last_rank(mesh) == ranks - 1);
    REQUIRE(tsr__mesh_find(mesh, (int)ranks - 1) == ranks - 1);
    REQUIRE(tsr__mesh_find(mesh, (int)(ranks / 2)) == ranks / 2);
    tsr_mesh_text(mesh, text, sizeof text);
    REQUIRE(tsr_mesh_parse(text, &copy, NULL) == TSR_OK);
    REQUIRE(tsr__mesh_equal(mesh, &copy));
    REQUIRE(memcmp(mesh->name, copy.name, sizeof copy.name) == 0);
    REQUIRE(strcmp(tsr_mesh_text(&copy, again, sizeof again), text) == 0);
    st = tsr__mesh_dims_parse(mesh, dims, &mdims, &err);
    fuzz_check_error(st, &err);
    REQUIRE(mdims < 1u << mesh->ndim);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    char *line = fuzz_line(&rest);
    tsr_mesh_shape mesh;
    tsr_error err = {0};
    tsr_status st = tsr_mesh_parse(line, &mesh, &err);

    fuzz_check_error(st, &err);
    if (st == TSR_OK)
        check_accepted(&mesh, fuzz_line(&rest));
    free(text);
    return 0;
}
