/* SPDX-License-Identifier: Apache-2.0 */
/* shape_composed.c - ops on shapes that are made of others: split and chunk of narrow,
   depth_to_space and space_to_depth of reshape and permute. ops/shape/composed_shapes.c has the
   functions. */
#include "ops/shape/shape_ops.h"

static const char *const split_cases[] = {
    "f64[6,4] sizes=2,4",
    "f64[7,3] sizes=2,5",
    "f64[4,6] sizes=1,0,5 dim=-1",
    NULL,
};
static const char *const chunk_cases[] = {
    "f64[6,4] chunks=2",
    "f64[7,3] chunks=3",
    "f64[4,5] chunks=4 dim=1",
    NULL,
};
static const char *const depth_to_space_cases[] = {
    "f64[2,8,2,3] block=2",
    "f64[3,4,3,2] block=2",
    "f64[2,8,3,2] block=2 crd=true",
    NULL,
};
static const char *const space_to_depth_cases[] = {
    "f64[2,2,4,6] block=2",
    "f64[3,1,6,4] block=2",
    "f64[2,2,4,6] block=2 crd=true",
    NULL,
};

/* What rows have in common. */
#define PARTS .inputs = "x", .grad = tsr__grad_split, .saves = ""
#define BLOCKS .inputs = "x", .attrs = "block:int,crd:bool=false"

const tsr_op tsr__ops_shape_composed[] = {
    {PARTS, .name = "split", .attrs = "sizes:ints,dim:dim=0", .params = "",
     .doc = "Splits x along dim into at most 4 parts of the given sizes.",
     .compose = tsr__compose_split, .cases = split_cases},
    {PARTS, .name = "chunk", .attrs = "chunks:int,dim:dim=0", .params = "",
     .doc = "Splits x along dim into at most 4 parts of equal size; the last may be smaller.",
     .compose = tsr__compose_chunk, .cases = chunk_cases},
    {BLOCKS, .name = "depth_to_space",
     .doc = "Rearranges [n, c, h, w] to [n, c / block^2, h block, w block]. Channels are [block, "
            "block, c], or with crd [c, block, block] as in PyTorch's pixel_shuffle.",
     .compose = tsr__compose_depth_to_space, .grad_expr = "x: space_to_depth(g, ...)",
     .cases = depth_to_space_cases},
    {BLOCKS, .name = "space_to_depth",
     .doc = "Rearranges [n, c, h block, w block] to [n, c block^2, h, w]. Channels are [block, "
            "block, c], or with crd [c, block, block] as in PyTorch's pixel_unshuffle.",
     .compose = tsr__compose_space_to_depth, .grad_expr = "x: depth_to_space(g, ...)",
     .cases = space_to_depth_cases},
    {0},
};
