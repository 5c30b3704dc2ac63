/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - the naive reference of verify (values.h), written from the definitions of DESIGN 1 and
   7 and sharing nothing with the library. Slow and plain on purpose. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements ---- */

static double half_get(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);

    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    return bits >> 15 ? -value : value;
}

/* For values that f16 holds exactly, normal or zero; others give a NaN. */
static uint16_t half_put(double value)
{
    int exponent;
    double fraction = frexp(fabs(value), &exponent) * 2048; /* 1024 .. 2047 */
    uint16_t sign = signbit(value) ? 0x8000 : 0;

    if (value == 0)
        return sign;
    if (fraction != (double)(int)fraction || exponent + 14 < 1 || exponent + 14 > 30)
        return 0x7e00;
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)fraction - 1024));
}

bool value_is_partial(const tsr_spec *spec)
{
    for (int m = 0; m < spec->mesh.ndim; m++)
        if (spec->place[m].kind == TSR_PARTIAL)
            return true;
    return false;
}

void value_indices_at(const tsr_shape *shape, int64_t i, int64_t at[TSR_MAX_DIM])
{
    for (int d = shape->ndim - 1; d >= 0; d--) {
        at[d] = i % shape->size[d];
        i /= shape->size[d];
    }
}

double value_get(tsr_dtype dtype, const void *data, int64_t i)
{
    const bool is_signed = value_is_signed(dtype);
    uint32_t bits;
    float f;

    if (dtype == TSR_F32)
        return ((const float *)data)[i];
    if (dtype == TSR_F64)
        return ((const double *)data)[i];
    if (dtype == TSR_F16)
        return half_get(((const uint16_t *)data)[i]);
    if (dtype == TSR_BF16) {
        bits = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    switch (tsr_dtype_size(dtype)) {
    case 1: return is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 2: return is_signed ? ((const int16_t *)data)[i] : ((const uint16_t *)data)[i];
    case 4: return is_signed ? (double)((const int32_t *)data)[i] : ((const uint32_t *)data)[i];
    default: break;
    }
    return is_signed ? (double)((const int64_t *)data)[i] : (double)((const uint64_t *)data)[i];
}

void value_put(tsr_dtype dtype, void *data, int64_t i, double value)
{
    const int64_t whole = value_is_float(dtype) ? 0 : (int64_t)value;
    float f = (float)value;
    uint32_t bits;

    if (dtype == TSR_F32)
        ((float *)data)[i] = f;
    else if (dtype == TSR_F64)
        ((double *)data)[i] = value;
    else if (dtype == TSR_F16)
        ((uint16_t *)data)[i] = half_put(value);
    else if (dtype == TSR_BF16) {
        memcpy(&bits, &f, sizeof bits);
        ((uint16_t *)data)[i] = (uint16_t)(bits >> 16);
    } else if (tsr_dtype_size(dtype) == 1)
        ((uint8_t *)data)[i] = (uint8_t)whole;
    else if (tsr_dtype_size(dtype) == 2)
        ((uint16_t *)data)[i] = (uint16_t)whole;
    else if (tsr_dtype_size(dtype) == 4)
        ((uint32_t *)data)[i] = (uint32_t)whole;
    else
        ((uint64_t *)data)[i] = (uint64_t)whole;
}

/* ---- who holds what ---- */

/* Chunk r of p of n things: ceil(n/p) each, the last ones may get less or nothing. */
static void chunk(int64_t n, int64_t p, int64_t r, int64_t *begin, int64_t *end)
{
    int64_t c = n / p + (n % p != 0);

    *begin = r * c < n ? r * c : n;
    *end = *begin + c < n ? *begin + c : n;
}

/* Keep part r of p of each of f pieces of the list, in place; gives the new length. */
static int64_t keep_part(int64_t *list, int64_t n, int64_t f, int p, int r)
{
    int64_t kept = 0;

    for (int64_t k = 0; k < f; k++) {
        int64_t begin, end, b, e;

        chunk(n, f, k, &begin, &end);
        if (begin == end)
            break; /* all further pieces are empty too */
        chunk(end - begin, p, r, &b, &e);
        for (int64_t i = begin + b; i < begin + e; i++)
            list[kept++] = list[i];
    }
    return kept;
}

int64_t *value_indices(const tsr_spec *spec, const int *coord, int dim, int64_t *n)
{
    int64_t count = spec->shape.size[dim];
    int64_t *list = malloc((size_t)(count + 1) * sizeof *list);

    if (!list)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        list[i] = i;
    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *place = &spec->place[m];

        if (place->kind == TSR_SHARD && place->dim == dim)
            count = keep_part(list, count, 1, spec->mesh.size[m], coord[m]);
        else if (place->kind == TSR_STRIDED && place->dim == dim)
            count = keep_part(list, count, place->factor, spec->mesh.size[m], coord[m]);
    }
    *n = count;
    return list;
}

static void coords_of(const tsr_mesh_shape *mesh, int index, int *coord)
{
    for (int m = mesh->ndim - 1; m >= 0; m--) {
        coord[m] = index % mesh->size[m];
        index /= mesh->size[m];
    }
}

bool value_part_make(const tsr_spec *spec, int index, value_part *out)
{
    value_part part = {.shape = {.ndim = spec->shape.ndim}};
    int coord[TSR_MAX_MESH];

    coords_of(&spec->mesh, index, coord);
    for (int d = 0; d < spec->shape.ndim; d++) {
        part.index[d] = value_indices(spec, coord, d, &part.shape.size[d]);
        if (!part.index[d]) {
            value_part_free(&part);
            return false;
        }
    }
    *out = part;
    return true;
}

void value_part_free(value_part *part)
{
    for (int d = 0; d < TSR_MAX_DIM; d++)
        free(part->index[d]);
    memset(part, 0, sizeof *part);
}

int64_t value_part_global(const value_part *part, const tsr_shape *whole, int64_t i,
                          int64_t at[TSR_MAX_DIM])
{
    int64_t global = 0;

    for (int d = whole->ndim - 1; d >= 0; d--) {
        at[d] = part->index[d][i % part->shape.size[d]];
        i /= part->shape.size[d];
    }
    for (int d = 0; d < whole->ndim; d++)
        global = global * whole->size[d] + at[d];
    return global;
}

/* ---- values ---- */

uint64_t value_hash(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* How large terms may be so that every sum on the way stays below 256, which bf16 holds exactly. */
static int64_t largest(const tsr_spec *spec, int64_t *divisor)
{
    int64_t room = 256, most;

    *divisor = 1;
    for (int m = 0; m < spec->mesh.ndim; m++) {
        const tsr_placement *p = &spec->place[m];

        if (p->kind != TSR_PARTIAL)
            continue;
        if (p->reduce == TSR_SUM || p->reduce == TSR_AVG)
            room /= spec->mesh.size[m];
        if (p->reduce == TSR_AVG)
            *divisor *= spec->mesh.size[m];
        if (p->reduce == TSR_PROD)
            room /= 4;
    }
    most = room / *divisor;
    return most < 1 ? 1 : most > 16 ? 16 : most;
}

/* All terms are multiples of the divisor of the averages. Products: the first rank has the value,
   the next two have 1 or 2, the others 1, all with either sign. */
double value_term(const tsr_spec *spec, uint64_t seed, const int *coord, int64_t global)
{
    bool is_signed = value_is_signed(spec->dtype), product = false;
    int64_t divisor, most = largest(spec, &divisor), factor = 0, value;
    uint64_t h = value_hash(seed ^ value_hash((uint64_t)global));

    for (int m = 0; m < spec->mesh.ndim; m++) {
        if (spec->place[m].kind != TSR_PARTIAL)
            continue;
        h = value_hash(h ^ value_hash((uint64_t)(coord[m] + 1) * (uint64_t)(m + 2)));
        if (spec->place[m].reduce == TSR_PROD) {
            factor = factor * spec->mesh.size[m] + coord[m];
            product = true;
        }
    }
    if (spec->dtype == TSR_BOOL)
        return (double)(h & 1);
    value = (int64_t)(h >> 8) % (most + !product) + product;
    if (product && factor > 0)
        value = factor < 3 ? 1 + (int64_t)(h >> 9 & 1) : 1;
    value *= divisor;
    return (double)(is_signed && h & 1 ? -value : value);
}

static double combine(tsr_reduce op, double a, double b)
{
    switch (op) {
    case TSR_SUM:
    case TSR_AVG: return a + b;
    case TSR_PROD: return a * b;
    case TSR_MIN: return b < a ? b : a;
    case TSR_MAX: return b > a ? b : a;
    }
    return a;
}

static bool one_kind(tsr_reduce a, tsr_reduce b)
{
    return a == b || (a <= TSR_AVG && b <= TSR_AVG);
}

/* Integers wrap. */
static double stored(tsr_dtype dtype, double value)
{
    uint64_t memory;

    if (value_is_float(dtype))
        return value;
    value_put(dtype, &memory, 0, value);
    return value_get(dtype, &memory, 0);
}

/* The value seen from mesh dims 0 .. m: those after m have been reduced already. Neighbouring
   partial dims of one kind are one reduction over their ranks in order, so recursion goes to the
   first dim of such a run and takes the whole run at once. */
static double reduce_from(const tsr_spec *spec, uint64_t seed, int *coord, int m, int64_t global)
{
    int end = m, n = 1;
    double sum = 0, divisor = 1;

    while (m < spec->mesh.ndim && spec->place[m].kind != TSR_PARTIAL)
        end = ++m;
    if (m >= spec->mesh.ndim)
        return value_term(spec, seed, coord, global);
    for (; end < spec->mesh.ndim && spec->place[end].kind == TSR_PARTIAL &&
           one_kind(spec->place[m].reduce, spec->place[end].reduce);
         end++) {
        n *= spec->mesh.size[end];
        divisor *= spec->place[end].reduce == TSR_AVG ? spec->mesh.size[end] : 1;
    }
    for (int i = 0; i < n; i++) {
        int rest = i;
        double term;

        for (int k = end - 1; k >= m; k--) {
            coord[k] = rest % spec->mesh.size[k];
            rest /= spec->mesh.size[k];
        }
        term = reduce_from(spec, seed, coord, end, global);
        sum = i == 0 ? term : combine(spec->place[m].reduce, sum, term);
    }
    return stored(spec->dtype, sum / divisor);
}

double value_whole(const tsr_spec *spec, uint64_t seed, int64_t global)
{
    int coord[TSR_MAX_MESH] = {0};

    return reduce_from(spec, seed, coord, 0, global);
}
