/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_spec_text.c - three lines: a mesh, a spec on it, placements for the same tensor. What is
   accepted must come back from its own text, and its parts must fit together. */
#include "fuzz.h"
#include "layout/layout.h"

enum { SMALL = 512, LONGER = 4 * TSR_TEXT_LEN };

/* The parts of small tensors on small meshes, each of them: as many indices as the shape says. */
static void check_parts(const tsr_spec *spec)
{
    int ranks = tsr__mesh_size(&spec->mesh);
    tsr_heap heap = {0};
    tsr_layout layout = tsr__layout_of(spec);

    for (int i = 0; i < ranks && ranks <= SMALL; i++) {
        int coord[TSR_MAX_MESH];
        tsr_shape local;
        tsr__mesh_coords(&spec->mesh, i, coord);
        REQUIRE(tsr_spec_local_shape(spec, i, &local, NULL) == TSR_OK);
        for (int d = 0; d < spec->shape.ndim; d++) {
            tsr_runs runs = {0};
            REQUIRE(local.size[d] >= 0 && local.size[d] <= spec->shape.size[d]);
            if (spec->shape.size[d] > SMALL)
                continue;
            REQUIRE(tsr__layout_runs(&heap, &layout, d, coord, &runs, NULL) == TSR_OK);
            REQUIRE(tsr__runs_count(&runs) == local.size[d]);
            REQUIRE(tsr__runs_index(&runs, local.size[d] - 1) < spec->shape.size[d]);
            tsr__runs_free(&heap, &runs);
        }
    }
    REQUIRE(heap.live == 0);
}

static void check_dim_map(const tsr_spec *spec)
{
    int map[TSR_MAX_DIM];
    bool pending[TSR_MAX_MESH];
    tsr_error err = {0};
    tsr_spec back;
    tsr_status st = tsr_spec_to_dim_map(spec, map, pending, &err);

    fuzz_check_error(st, &err);
    if (st != TSR_OK)
        return;
    REQUIRE(tsr_spec_from_dim_map(spec->dtype, &spec->shape, &spec->mesh, map, pending, &back,
                                  NULL) == TSR_OK);
    REQUIRE(tsr_spec_equal(spec, &back));
}

static void check_accepted(const tsr_spec *spec)
{
    char text[TSR_TEXT_LEN], longer[LONGER], again[TSR_TEXT_LEN], tiny[4] = "xxx";
    tsr_spec copy;

    REQUIRE(tsr_spec_check(spec, NULL) == TSR_OK);
    tsr_spec_text(spec, text, sizeof text);
    REQUIRE(strcmp(text, tsr_spec_text(spec, longer, sizeof longer)) == 0);
    REQUIRE(strlen(tsr_spec_text(spec, tiny, sizeof tiny)) < sizeof tiny);
    REQUIRE(tsr_spec_parse(text, &spec->mesh, &copy, NULL) == TSR_OK);
    REQUIRE(tsr_spec_equal(spec, &copy));
    REQUIRE(tsr__spec_hash(spec) == tsr__spec_hash(&copy));
    REQUIRE(strcmp(tsr_spec_text(&copy, again, sizeof again), text) == 0);
    REQUIRE(tsr_shape_count(&spec->shape) >= 0);
    check_parts(spec);
    check_dim_map(spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text;
    char *mesh_line = fuzz_line(&rest), *spec_line = fuzz_line(&rest);
    char *placements_line = fuzz_line(&rest), again[TSR_TEXT_LEN];
    tsr_mesh_shape mesh;
    tsr_spec spec, other, copy;
    tsr_error err = {0};
    tsr_status st;

    if (tsr_mesh_parse(mesh_line, &mesh, NULL) != TSR_OK)
        REQUIRE(tsr_mesh_parse("data=2,model=3", &mesh, NULL) == TSR_OK);
    st = tsr_spec_parse(spec_line, &mesh, &spec, &err);
    fuzz_check_error(st, &err);
    if (st == TSR_OK)
        check_accepted(&spec);
    else
        REQUIRE(tsr_spec_parse("f32[8,12]", &mesh, &spec, NULL) == TSR_OK);
    err = (tsr_error){0};
    st = tsr_placements_parse(placements_line, &spec, &other, &err);
    fuzz_check_error(st, &err);
    if (st == TSR_OK) {
        check_accepted(&other);
        tsr_placements_text(&other, again, sizeof again);
        REQUIRE(tsr_placements_parse(again, &spec, &copy, NULL) == TSR_OK);
        REQUIRE(tsr_spec_equal(&other, &copy));
    }
    free(text);
    return 0;
}
