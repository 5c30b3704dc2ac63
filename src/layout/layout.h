/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - which elements each rank holds, as a product over tensor dims. A layout says more than
   a spec: mesh dims may shard a dim in any order, and parts may overlap (halo). Pure. */
#ifndef TSR_LAYOUT_LAYOUT_H
#define TSR_LAYOUT_LAYOUT_H

#include "layout/runs.h"
#include "layout/spec.h"

/* Overlapping parts: the mesh shards `n` coarse indices; a rank with coarse [b,e) holds the indices
   [floor((b * mul + lo) / div), floor(((e - 1) * mul + hi) / div)) of the dim, as far as they
   exist. A halo of h on both sides is {n, 1, -h, 1 + h, 1}; the input window of a convolution
   {outputs, stride, -pad, extent - pad, 1}. A circular window holds its indices modulo the dim's
   size instead, in ascending order. */
typedef struct tsr_dim_window {
    bool on;
    int64_t n, mul, lo, hi, div; /* div 0: 1 */
    bool circular;
} tsr_dim_window;

/* Mesh dims that shard one tensor dim, outermost first; factor 1 is a plain shard. */
typedef struct tsr_dim_layout {
    int n;
    int mdim[TSR_MAX_MESH];
    int64_t factor[TSR_MAX_MESH];
    tsr_dim_window window;
} tsr_dim_layout;

typedef struct tsr_layout {
    tsr_dtype dtype;
    tsr_shape shape;
    tsr_mesh_shape mesh;
    tsr_dim_layout dim[TSR_MAX_DIM];
    bool partial[TSR_MAX_MESH];
    tsr_reduce reduce[TSR_MAX_MESH]; /* of the partial ones */
} tsr_layout;

tsr_layout tsr__layout_of(const tsr_spec *spec);
bool tsr__layout_equal(const tsr_layout *a, const tsr_layout *b); /* partial dims aside */
/* What coarse [b,e) sees through a window of a dim of n indices: [*begin, *end). Circular: begin
   is in 0 to n, and where end > n the rest is [0, end - n). */
void tsr__window_see(const tsr_dim_window *w, int64_t n, int64_t b, int64_t e, int64_t *begin,
                     int64_t *end);
/* Text as of placements, but S(0)/1,0 where mesh dims do not shard dim 0 from left to right. */
const char *tsr__layout_text(const tsr_layout *layout, char *buf, size_t n);

/* The indices along `dim` at mesh coordinates `coord`. Free runs with tsr__runs_free. */
tsr_status tsr__layout_runs(tsr_heap *heap, const tsr_layout *layout, int dim, const int *coord,
                            tsr_runs *out, tsr_error *err);
/* How many there are, without making the list. */
int64_t tsr__layout_extent(const tsr_layout *layout, int dim, const int *coord);
/* They are [*begin, *end), without making the list; false: they are in several pieces. Through a
   circular window as tsr__window_see says. */
bool tsr__layout_interval(const tsr_layout *layout, int dim, const int *coord, int64_t *begin,
                          int64_t *end);
/* What [b,e) sees through a window if the dim had no ends; nothing if it is empty. */
void tsr__window_reach(const tsr_dim_window *window, int64_t b, int64_t e, int64_t *from,
                       int64_t *to);
tsr_shape tsr__layout_local_shape(const tsr_layout *layout, const int *coord);
/* Bytes of the largest part. */
size_t tsr__layout_bytes(const tsr_layout *layout);

/* Length of part r of n indices in the given pieces and ranks: the chunk rule applied to each of
   `factor` pieces. */
int64_t tsr__shard_extent(int64_t n, int p, int r, int64_t factor);
/* Length of the longest part of n indices that are sharded `count` times. */
int64_t tsr__shard_longest(int64_t n, int count, const int *p, const int64_t *factor);

#endif
