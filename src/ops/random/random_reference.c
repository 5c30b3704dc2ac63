/* SPDX-License-Identifier: Apache-2.0 */
/* random_reference.c - random numbers one by one: the block of an element, and the textbook's
   formula of it in f64. Called by random.c when a call asks for the reference. */
#include "ops/random/random.h"

#include <math.h>

#include "kernel/index.h"
#include "kernel/kinds.h"
#include "kernel/positions.h"

/* The words of an element. */
static void words_at(const tsr_random *r, int64_t g, uint32_t out[2])
{
    uint32_t block[4];

    tsr__stream_block(&r->stream, (uint64_t)(g / 4), block);
    out[0] = block[g % 4];
    tsr__stream_block(&r->more, (uint64_t)(g / 4), block);
    out[1] = block[g % 4];
}

/* As many digits as there are, at most 53. */
static double fraction(const uint32_t w[2], int digits)
{
    const uint64_t bits = ((uint64_t)w[0] << 32 | w[1]) >> (64 - digits);

    return ldexp((double)bits, -digits);
}

static double uniform(const tsr_random *r, int64_t g)
{
    uint32_t w[2];
    double u, v;

    words_at(r, g, w);
    u = fraction(w, r->bits);
    v = r->wide ? r->a + u * (r->b - r->a) : (float)r->a + (float)((float)u * (float)(r->b - r->a));
    return fmin(v * r->scale, r->limit);
}

/* Two elements are a radius and an angle together. */
static double normal(const tsr_random *r, int64_t g)
{
    uint32_t first[2], second[2];
    double u, angle;

    words_at(r, g - g % 2, first);
    words_at(r, g - g % 2 + 1, second);
    u = r->wide ? fraction(first, 53) + 0x1p-54 : (float)fraction(first, 31) + 0x1p-32f;
    angle = 6.283185307179586 * fraction(second, r->wide ? 53 : 32);
    return r->a + sqrt(-2 * log(u)) * (g % 2 ? sin(angle) : cos(angle)) * r->b;
}

void tsr__reference_random(const tsr_kernel_call *call, const tsr_random *r)
{
    const tsr_operand *y = &call->out[0];

    for (int64_t i = 0; i < tsr__operand_count(y); i++) {
        const int64_t g = tsr__position_number(y, call->number, i);
        uint32_t w[2];

        words_at(r, g, w);
        switch (r->kind) {
        case TSR_RANDOM_UNIFORM: tsr__put(r->dtype, y->data, i, uniform(r, g)); break;
        case TSR_RANDOM_NORMAL: tsr__put(r->dtype, y->data, i, normal(r, g)); break;
        case TSR_RANDOM_BERNOULLI: tsr__put(r->dtype, y->data, i, w[0] < r->cut); break;
        case TSR_RANDOM_RANDINT:
            tsr__put_integer(r->dtype, y->data, i, tsr__randint_at(r, w[0], w[1]));
            break;
        case TSR_RANDOM_PERMUTATION:
            tsr__put_integer(r->dtype, y->data, i, (int64_t)tsr__permuted(r, (uint64_t)g));
            break;
        default:
            tsr__put(r->dtype, y->data, i,
                     w[0] < r->cut ? 0
                     : r->dtype == TSR_F64
                         ? tsr__get(r->dtype, call->in[0].data, i) * r->scale
                         : (float)tsr__get(r->dtype, call->in[0].data, i) * (float)r->scale);
            break;
        }
    }
}
