/* SPDX-License-Identifier: Apache-2.0 */
/* trial_data.c - random contents of inputs that fit their placements, and parts of arrays: what a
   trial needs besides kernels. A term depends on seed, input, element and the coordinates on
   partial mesh dims, so ranks that share them agree. */
#include "validate/trial.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/reduce.h"
#include "layout/layout.h"
#include "op/linear.h"
#include "op/schema.h"

/* ---- terms ---- */

/* Number of a rank among those whose terms differ. */
static int64_t term_key(const tsr_spec *spec, const int *coord)
{
    int64_t key = 0;

    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL)
            key = key * spec->mesh.size[m] + coord[m];
    return key;
}

static int64_t first_token(const tsr_trial *t, int input)
{
    int64_t n = 0;

    for (int k = 0; k < input; k++)
        if (tsr__schema_has(&t->schema, k))
            n += tsr_shape_count(&t->schema.in[k].shape) * t->ranks;
    return n;
}

/* Integers around 0 in random order (Fisher and Yates). */
void tsr__trial_shuffle(tsr_trial *t)
{
    int64_t n = first_token(t, t->schema.n_in);

    for (int64_t i = 0; i < n; i++)
        t->token[i] = i - n / 2;
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t h = tsr__hash_final(tsr__hash_mix(t->seed, (uint64_t)i));
        int64_t j = (int64_t)(h % (uint64_t)(i + 1)), x = t->token[i];
        t->token[i] = t->token[j];
        t->token[j] = x;
    }
}

static double number_of(const tsr_trial *t, int k, int64_t key, int64_t i, uint64_t h)
{
    static const double small[] = {-3, -2, -1, 1, 2, 3};

    switch (t->domain) {
    case TSR_DOMAIN_SMALL: return small[h % 6];
    case TSR_DOMAIN_BITS:
    case TSR_DOMAIN_REALS: return (double)(h >> 11) * 0x1p-51 - 2;
    case TSR_DOMAIN_NAN: return h & 7 ? (double)(h >> 11) * 0x1p-51 - 2 : (double)NAN;
    default:
        return (double)
            t->token[first_token(t, k) + key * tsr_shape_count(&t->schema.in[k].shape) + i];
    }
}

int64_t tsr__range_value(const tsr_range *range, uint64_t seed, int64_t i)
{
    uint64_t most = (uint64_t)range->limit;
    int64_t sum = 0;

    if (range->kind == TSR_RANGE_BELOW)
        return (int64_t)(tsr__hash_final(tsr__hash_mix(seed, (uint64_t)i)) % most);
    for (int64_t j = 1; j <= i; j++) /* steps of 0 to 3: some bags are empty */
        sum += (int64_t)(tsr__hash_final(tsr__hash_mix(seed, (uint64_t)j)) % 4);
    return sum < range->limit ? sum : range->limit;
}

/* Every way to split keeps the order of values, 0 stays 0, and nothing gets beyond the range. */
int64_t tsr__range_term(const tsr_range *range, const tsr_spec *spec, uint64_t seed,
                        const int *coord, int64_t i)
{
    int64_t value = tsr__range_value(range, seed, i);
    int64_t most = range->limit - (range->kind == TSR_RANGE_BELOW);

    for (int m = 0; m < spec->mesh.ndim; m++) {
        int n = spec->mesh.size[m], c = (coord[m] + (int)(seed % (uint64_t)n)) % n;

        if (spec->place[m].kind != TSR_PARTIAL)
            continue;
        switch (spec->place[m].reduce) {
        case TSR_AVG: break; /* not of integers */
        case TSR_SUM: value = (value + n - 1 - c) / n; break;
        case TSR_MIN: value = c == 0 ? value : value > most / 2 ? most : 2 * value; break;
        case TSR_MAX: value = c == 0 ? value : value / 2; break;
        case TSR_PROD: value = c == 0 || value == 0 ? value : 1; break;
        }
    }
    return value;
}

/* Half of the integers are of any size, the others at the ends of the range and around 0, where
   they are often equal. */
static void put_bits(tsr_dtype dtype, uint64_t h, void *data, int64_t i)
{
    const uint64_t any = tsr__hash_final(h), near = h >> 8 & 3;
    const int shift = 64 - 8 * (int)tsr_dtype_size(dtype);
    const uint64_t middle = tsr__dtype_min(dtype) == 0 ? 0 : UINT64_C(1) << 63;
    /* the leading bits are those of the number: the smallest one, or 0, and what is beside it */
    const uint64_t x = h & 1 ? any >> shift : h & 2 ? (middle >> shift) + near - 2 : near - 2;

    tsr__put_integer(dtype, data, i, x);
}

static void fill_term(const tsr_trial *t, int k, const int *coord, void *out)
{
    const tsr_spec *spec = &t->schema.in[k];
    int64_t key = term_key(spec, coord);

    for (int64_t i = 0; i < tsr_shape_count(&spec->shape); i++) {
        uint64_t h = tsr__hash_mix(tsr__hash_mix(t->seed, (uint64_t)k), (uint64_t)key);
        h = tsr__hash_final(tsr__hash_mix(h, (uint64_t)i));
        if (tsr__range_is_integer(&t->range[k]))
            tsr__put(spec->dtype, out, i,
                     (double)tsr__range_term(&t->range[k], spec, t->seed + (uint64_t)k, coord, i));
        else if ((int)spec->dtype == TSR__FIELD)
            ((uint64_t *)out)[i] = h % TSR__FIELD_P;
        else if (spec->dtype == TSR_BOOL)
            ((uint8_t *)out)[i] = h >> 40 & 1;
        else if (t->domain == TSR_DOMAIN_BITS && tsr__dtype_is_integer(spec->dtype))
            put_bits(spec->dtype, h, out, i);
        else
            tsr__put(spec->dtype, out, i,
                     t->range[k].kind == TSR_RANGE_POSITIVE ? fabs(number_of(t, k, key, i, h))
                                                            : number_of(t, k, key, i, h));
    }
}

/* ---- what terms are worth ---- */

/* Element i reduced over mesh dims m and inner ones, the last one first; the coordinates on outer
   ones are fixed. */
static void value_at(const tsr_trial *t, int k, int64_t i, int m, int *coord, void *out)
{
    const tsr_spec *spec = &t->schema.in[k];
    const size_t size = tsr_dtype_size(spec->dtype);
    const tsr_placement *place = &spec->place[m];
    uint64_t term[TSR_TRIAL_RANKS];
    const void *src[TSR_TRIAL_RANKS];
    int n = m < spec->mesh.ndim && place->kind == TSR_PARTIAL ? spec->mesh.size[m] : 1, index = 0;

    if (m == spec->mesh.ndim) {
        for (int d = 0; d < spec->mesh.ndim; d++)
            index = index * spec->mesh.size[d] + coord[d];
        memcpy(out, (const char *)t->term[k][index] + (size_t)i * size, size);
        return;
    }
    for (int c = 0; c < n; c++) {
        coord[m] = c;
        value_at(t, k, i, m + 1, coord, &term[c]);
        src[c] = &term[c];
    }
    coord[m] = 0;
    if (place->kind != TSR_PARTIAL)
        memcpy(out, term, size);
    else
        tsr__reduce_ref(spec->dtype, place->reduce == TSR_AVG ? TSR_SUM : place->reduce,
                        place->reduce == TSR_AVG ? n : 1, n, src, 1, out);
}

void tsr__trial_fill_input(tsr_trial *t, int k)
{
    const tsr_spec *spec = &t->schema.in[k];
    const size_t size = tsr_dtype_size(spec->dtype);
    int coord[TSR_MAX_MESH] = {0};

    for (int r = 0; r < t->ranks; r++) {
        tsr__mesh_coords(&spec->mesh, r, coord);
        fill_term(t, k, coord, t->term[k][r]);
    }
    memset(coord, 0, sizeof coord);
    for (int64_t i = 0; i < tsr_shape_count(&spec->shape); i++)
        value_at(t, k, i, 0, coord, (char *)t->whole[k] + (size_t)i * size);
}

/* ---- parts ---- */

/* Go through the elements of a part; copy each from its place in the whole array, or paste it. */
static tsr_status walk(tsr_heap *heap, const tsr_layout *layout, int index, const char *from,
                       char *to, bool paste, tsr_shape *shape, tsr_error *err)
{
    const size_t size = tsr_dtype_size(layout->dtype);
    tsr_runs runs[TSR_MAX_DIM] = {{0}};
    int coord[TSR_MAX_MESH];
    int64_t at[TSR_MAX_DIM] = {0};
    tsr_status st = TSR_OK;

    tsr__mesh_coords(&layout->mesh, index, coord);
    *shape = tsr__layout_local_shape(layout, coord);
    for (int d = 0; d < shape->ndim; d++)
        TSR_TRY(tsr__layout_runs(heap, layout, d, coord, &runs[d], err));
    for (int64_t i = 0; i < tsr_shape_count(shape); i++) {
        int64_t e = 0;
        for (int d = 0; d < shape->ndim; d++)
            e = e * layout->shape.size[d] + tsr__runs_index(&runs[d], at[d]);
        memcpy(to + (size_t)(paste ? e : i) * size, from + (size_t)(paste ? i : e) * size, size);
        for (int d = shape->ndim - 1; d >= 0 && ++at[d] == shape->size[d]; d--)
            at[d] = 0;
    }
done:
    for (int d = 0; d < TSR_MAX_DIM; d++)
        tsr__runs_free(heap, &runs[d]);
    return st;
}

tsr_status tsr__part_cut(tsr_heap *heap, const tsr_layout *layout, int index, const void *whole,
                         void *part, tsr_shape *shape, tsr_error *err)
{
    return walk(heap, layout, index, whole, part, false, shape, err);
}

tsr_status tsr__part_paste(tsr_heap *heap, const tsr_layout *layout, int index, const void *part,
                           void *whole, tsr_error *err)
{
    tsr_shape shape;

    return walk(heap, layout, index, part, whole, true, &shape, err);
}
