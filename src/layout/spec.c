/* SPDX-License-Identifier: Apache-2.0 */
/* spec.c - checking, comparing and hashing specs, and their dim map form. Pure. */
#include "layout/spec.h"

#include <inttypes.h>
#include <string.h>

#include "base/args.h"
#include "base/hash.h"
#include "base/reduce.h"

int64_t tsr_shape_count(const tsr_shape *shape)
{
    int64_t n = 1;

    if (!shape)
        return 0;
    for (int d = 0; d < shape->ndim; d++)
        n *= shape->size[d];
    return n;
}

bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b)
{
    bool equal;

    if (!a || !b)
        return a == b;
    equal = a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && equal; d++)
        equal = a->size[d] == b->size[d];
    return equal;
}

size_t tsr__spec_bytes(const tsr_spec *spec)
{
    return (size_t)tsr_shape_count(&spec->shape) * tsr_dtype_size(spec->dtype);
}

tsr_status tsr__shape_check(const tsr_shape *shape, size_t elem, tsr_error *err)
{
    int64_t bytes = (int64_t)elem;
    char text[TSR_TEXT_LEN];

    if (shape->ndim < 0 || shape->ndim > TSR_MAX_DIM)
        return tsr__fail(err, TSR_ERR_SHAPE, "a tensor has 0 to %d dims, not %d", TSR_MAX_DIM,
                         shape->ndim);
    for (int d = 0; d < shape->ndim; d++) {
        if (shape->size[d] < 0)
            return tsr__fail(err, TSR_ERR_SHAPE, "shape %s: dim %d has negative size %" PRId64,
                             tsr__shape_text(shape, text, sizeof text), d, shape->size[d]);
        if (shape->size[d] > INT64_C(1)
                                 << 62) /* so that sums of offsets and sizes do not overflow */
            return tsr__fail(err, TSR_ERR_SHAPE, "shape %s: dim %d is larger than 2^62",
                             tsr__shape_text(shape, text, sizeof text), d);
    }
    /* an empty dim does not excuse the others: products of some of them are computed */
    for (int d = 0; d < shape->ndim; d++)
        if (shape->size[d] > 0 && __builtin_mul_overflow(bytes, shape->size[d], &bytes))
            return tsr__fail(err, TSR_ERR_SHAPE, "shape %s has more than 2^63 bytes",
                             tsr__shape_text(shape, text, sizeof text));
    return TSR_OK;
}

/* Is p a placement that mesh dim mdim can have for the tensor of spec? */
static tsr_status check_placement(const tsr_spec *spec, const tsr_placement *p, int mdim,
                                  tsr_error *err)
{
    char text[TSR_TEXT_LEN], shape[TSR_TEXT_LEN], name[TSR_NAME_LEN];

    switch (p->kind) {
    case TSR_REPLICATE: return TSR_OK;
    case TSR_SHARD:
    case TSR_STRIDED:
        if (p->dim < 0 || p->dim >= spec->shape.ndim)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "placement %s on mesh dim %s: tensor %s has %d dims, so no dim %d",
                             tsr__placement_text(p, text, sizeof text),
                             tsr__mesh_dim_text(&spec->mesh, mdim, name, sizeof name),
                             tsr__shape_text(&spec->shape, shape, sizeof shape), spec->shape.ndim,
                             p->dim);
        if (p->kind == TSR_STRIDED && p->factor < 1)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "placement %s: the factor of a strided shard must be at least 1",
                             tsr__placement_text(p, text, sizeof text));
        return TSR_OK;
    case TSR_PARTIAL: return tsr__reduce_check(spec->dtype, p->reduce, err);
    }
    return tsr__fail(err, TSR_ERR_SPEC, "mesh dim %d has an unknown placement kind %d", mdim,
                     (int)p->kind);
}

tsr_status tsr__placements_check(const tsr_spec *like, const tsr_placement *place, tsr_error *err)
{
    tsr_status st = TSR_OK;

    for (int m = 0; m < like->mesh.ndim; m++)
        TSR_TRY(check_placement(like, &place[m], m, err));
done:
    return st;
}

tsr_status tsr_spec_check(const tsr_spec *spec, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, spec);

    tsr_status st;

    if (!tsr__dtype_valid(spec->dtype))
        return tsr__fail(err, TSR_ERR_DTYPE, "unknown dtype %d", (int)spec->dtype);
    TSR_TRY(tsr__shape_check(&spec->shape, tsr_dtype_size(spec->dtype), err));
    TSR_TRY(tsr__mesh_check(&spec->mesh, err));
    TSR_TRY(tsr__placements_check(spec, spec->place, err));
done:
    return st;
}

bool tsr_spec_equal(const tsr_spec *a, const tsr_spec *b)
{
    if (!a || !b)
        return a == b;
    if (a->dtype != b->dtype || a->shape.ndim != b->shape.ndim ||
        !tsr__mesh_equal(&a->mesh, &b->mesh))
        return false;
    for (int d = 0; d < a->shape.ndim; d++)
        if (a->shape.size[d] != b->shape.size[d])
            return false;
    for (int m = 0; m < a->mesh.ndim; m++)
        if (!tsr__placement_equal(&a->place[m], &b->place[m]))
            return false;
    return true;
}

tsr_spec tsr__spec_effective(const tsr_spec *spec)
{
    tsr_spec effective = *spec;

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->mesh.size[m] == 1)
            effective.place[m] = tsr__replicate();
    return effective;
}

uint64_t tsr__spec_hash(const tsr_spec *spec)
{
    uint64_t h = tsr__mesh_hash(&spec->mesh, tsr__hash_mix(17, (uint64_t)spec->dtype));

    for (int d = 0; d < spec->shape.ndim; d++)
        h = tsr__hash_mix(h, (uint64_t)spec->shape.size[d]);
    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *p = &spec->place[m];
        uint64_t what = p->kind == TSR_REPLICATE ? 0
                        : p->kind == TSR_PARTIAL ? (uint64_t)p->reduce
                                                 : (uint64_t)p->dim;
        h = tsr__hash_mix(h, (uint64_t)p->kind << 8 | what);
        if (p->kind == TSR_STRIDED)
            h = tsr__hash_mix(h, (uint64_t)p->factor);
    }
    return tsr__hash_final(tsr__hash_mix(h, (uint64_t)spec->shape.ndim));
}

tsr_status tsr_spec_to_dim_map(const tsr_spec *spec, int dim_map[TSR_MAX_DIM],
                               bool pending[TSR_MAX_MESH], tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, spec, dim_map, pending);

    int map[TSR_MAX_DIM];
    bool sums[TSR_MAX_MESH] = {false};
    char text[TSR_TEXT_LEN];
    tsr_status st;

    TSR_TRY(tsr_spec_check(spec, err));
    for (int d = 0; d < TSR_MAX_DIM; d++)
        map[d] = -1;
    tsr_spec_text(spec, text, sizeof text);
    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *p = &spec->place[m];
        if (p->kind == TSR_STRIDED)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "%s has no dim map: a dim map cannot express a strided shard", text);
        if (p->kind == TSR_PARTIAL && p->reduce != TSR_SUM)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "%s has no dim map: a dim map can express only P(sum), not %s", text,
                             tsr_reduce_name(p->reduce));
        if (p->kind == TSR_SHARD && map[p->dim] >= 0)
            return tsr__fail(
                err, TSR_ERR_SPEC,
                "%s has no dim map: dim %d is sharded by mesh dims %d and %d, and a dim map "
                "cannot express their order",
                text, p->dim, map[p->dim], m);
        if (p->kind == TSR_SHARD)
            map[p->dim] = m;
        sums[m] = p->kind == TSR_PARTIAL;
    }
    memcpy(dim_map, map, sizeof map);
    memcpy(pending, sums, sizeof sums);
done:
    return st;
}

tsr_status tsr_spec_from_dim_map(tsr_dtype dtype, const tsr_shape *shape,
                                 const tsr_mesh_shape *mesh, const int *dim_map,
                                 const bool *pending, tsr_spec *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, shape, mesh, dim_map, out);

    tsr_spec spec = {.dtype = dtype, .shape = *shape, .mesh = *mesh};
    tsr_status st;

    TSR_TRY(tsr_spec_check(&spec, err)); /* dtype, shape and mesh; all replicated so far */
    for (int d = 0; d < shape->ndim; d++) {
        int m = dim_map[d];
        if (m < -1 || m >= mesh->ndim)
            return tsr__fail(err, TSR_ERR_SPEC, "dim map: dim %d names mesh dim %d of a %d-D mesh",
                             d, m, mesh->ndim);
        if (m < 0)
            continue;
        if (spec.place[m].kind == TSR_SHARD)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "dim map: mesh dim %d shards both dim %d and dim %d", m,
                             spec.place[m].dim, d);
        spec.place[m] = (tsr_placement){.kind = TSR_SHARD, .dim = d};
    }
    for (int m = 0; pending && m < mesh->ndim; m++) {
        if (!pending[m])
            continue;
        if (spec.place[m].kind == TSR_SHARD)
            return tsr__fail(err, TSR_ERR_SPEC,
                             "dim map: mesh dim %d shards dim %d and is pending a sum", m,
                             spec.place[m].dim);
        spec.place[m] = (tsr_placement){.kind = TSR_PARTIAL, .reduce = TSR_SUM};
    }
    TSR_TRY(tsr_spec_check(&spec, err));
    *out = spec;
done:
    return st;
}
