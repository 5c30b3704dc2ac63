/* SPDX-License-Identifier: Apache-2.0 */
/* spec.h - helpers on specs that other folders need; the public ones are in tessera.h. Pure. */
#ifndef TSR_LAYOUT_SPEC_H
#define TSR_LAYOUT_SPEC_H

#include "base/dtype.h"
#include "mesh/mesh_shape.h"

uint64_t tsr__spec_hash(const tsr_spec *spec); /* field by field; names do not count */
size_t tsr__spec_bytes(const tsr_spec *spec);  /* of the whole tensor */
tsr_status tsr__shape_check(const tsr_shape *shape, size_t elem, tsr_error *err);
/* Do these placements, one per mesh dim, fit the tensor of `like`? */
tsr_status tsr__placements_check(const tsr_spec *like, const tsr_placement *place, tsr_error *err);
/* The same tensor with R along mesh dims of size 1, where all placements hold the same elements:
   the form in which planning, layouts and runs see a spec. The user's own is kept for showing. */
tsr_spec tsr__spec_effective(const tsr_spec *spec);
/* Text of one placement: S(0). */
const char *tsr__placement_text(const tsr_placement *place, char *buf, size_t n);
/* Text of a shape: [8,12]. */
const char *tsr__shape_text(const tsr_shape *shape, char *buf, size_t n);

static inline tsr_placement tsr__replicate(void)
{
    return (tsr_placement){.kind = TSR_REPLICATE};
}

static inline bool tsr__placement_equal(const tsr_placement *a, const tsr_placement *b)
{
    return a->kind == b->kind &&
           (a->kind == TSR_REPLICATE ||
            (a->kind == TSR_PARTIAL ? a->reduce == b->reduce : a->dim == b->dim)) &&
           (a->kind != TSR_STRIDED || a->factor == b->factor);
}

#endif
