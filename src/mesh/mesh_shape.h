/* SPDX-License-Identifier: Apache-2.0 */
/* mesh_shape.h - the geometry of a mesh: coordinates, indices, ranks, sub-meshes. Pure. */
#ifndef TSR_MESH_MESH_SHAPE_H
#define TSR_MESH_MESH_SHAPE_H

#include "base/error.h"

/* A row-major mesh over ranks first, first + 1, .. with the given sizes and no names. */
tsr_status tsr__mesh_shape_make(const int *sizes, int ndim, int first, tsr_mesh_shape *out,
                                tsr_error *err);

/* Is it one that can exist? For shapes that a program filled in itself. */
tsr_status tsr__mesh_check(const tsr_mesh_shape *mesh, tsr_error *err);

int tsr__mesh_size(const tsr_mesh_shape *mesh); /* ranks */
void tsr__mesh_coords(const tsr_mesh_shape *mesh, int index, int *coord);
int tsr__mesh_index_of(const tsr_mesh_shape *mesh, const int *coord); /* row-major index */
int tsr__mesh_rank_at(const tsr_mesh_shape *mesh, const int *coord);  /* world rank */
int tsr__mesh_rank_of(const tsr_mesh_shape *mesh, int index);         /* world rank */
int tsr__mesh_find(const tsr_mesh_shape *mesh, int rank); /* index of a world rank, -1 outside */
int tsr__mesh_last_rank(const tsr_mesh_shape *mesh);
bool tsr__mesh_equal(const tsr_mesh_shape *a, const tsr_mesh_shape *b); /* names do not count */
uint64_t tsr__mesh_hash(const tsr_mesh_shape *mesh, uint64_t h);

/* The mesh dim that n letters name, or number; -1 if there is none. */
int tsr__mesh_dim_find(const tsr_mesh_shape *mesh, const char *text, size_t n);
/* The mesh dims named in "data,model" or "0,1" as a bit mask. */
tsr_status tsr__mesh_dims_parse(const tsr_mesh_shape *mesh, const char *text, unsigned *mdims,
                                tsr_error *err);
/* The sub-mesh of the dims in the mask through the given coordinates. */
tsr_mesh_shape tsr__mesh_through(const tsr_mesh_shape *mesh, unsigned mdims, const int *coord);
/* A dim for messages: its name, or its number. */
const char *tsr__mesh_dim_text(const tsr_mesh_shape *mesh, int mdim, char *buf, size_t n);
/* Dims of a mask for messages: "data,model". */
const char *tsr__mesh_dims_text(const tsr_mesh_shape *mesh, unsigned mdims, char *buf, size_t n);

#endif
