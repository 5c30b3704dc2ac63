/* SPDX-License-Identifier: Apache-2.0 */
/* random.inc.h - from random words to numbers, for one instruction set. No step is contracted, so
   every set gives the same bits. */

/* Random numbers with this many binary digits in [0, 1), stretched to a .. b. */
SET static void FN(uniform_f32)(const tsr_random *r, const uint32_t *w, int64_t n, float *y)
{
    const int shift = 32 - r->bits;
    const float low = (float)r->a, range = (float)(r->b - r->a), limit = (float)r->limit;
    const float unit = 1.0f / (float)(1 << r->bits), scale = (float)r->scale;

    for (int64_t i = 0; i < n; i++) {
        const float v = (low + (float)(int32_t)(w[i] >> shift) * unit * range) * scale;

        y[i] = v < limit ? v : limit;
    }
}

SET static void FN(uniform_f64)(const tsr_random *r, const uint32_t *w, const uint32_t *more,
                                int64_t n, double *y)
{
    const double low = r->a, range = r->b - r->a, limit = r->limit, scale = r->scale;

    for (int64_t i = 0; i < n; i++) {
        const double v = (low + fraction(w[i], more[i]) * range) * scale;

        y[i] = v < limit ? v : limit;
    }
}

/* Box and Muller: of two words a radius and an angle. The radius is the root of -2 ln u, u up to 1
   by 31 bits of the word: its exponent and a mantissa of sqrt(1/2) to sqrt(2), then the polynomial
   of Cephes. The angle is word / 2^32 of a turn, which is cut exactly into quarters and at most an
   eighth. */
SET static void FN(normals_f32)(const tsr_random *r, const uint32_t *w, int64_t n, float *y)
{
    const float mean = (float)r->a, std = (float)r->b;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n / 2; i++) {
        /* not more than 2^31 at a time: conversions of signed numbers are what processors have */
        const float u = (float)(int32_t)(w[2 * i] >> 1) * 0x1p-31f + 0x1p-32f;
        const uint32_t bits = tsr__bits_f32(u) - 0x3f3504f3u; /* sqrt(1/2) */
        const float e = (float)((int32_t)bits >> 23);
        const float m = tsr__f32_of((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f, q = m * m;
        const uint32_t turned = w[2 * i + 1] + 0x20000000u, quarter = turned >> 30;
        const float f = (float)((int32_t)(turned & 0x3fffffffu) - 0x20000000);
        const float t = f * (1.57079632679f * 0x1p-30f), z = t * t;
        float p = 7.0376836292e-2f * m - 1.1514610310e-1f, radius;
        float s = -1.9515295891e-4f * z + 8.3321608736e-3f, c = 2.443315711809948e-5f * z;
        uint32_t swap = 0u - (quarter & 1), sb, cb, x, v;

        p = p * m + 1.1676998740e-1f;
        p = p * m - 1.2420140846e-1f;
        p = p * m + 1.4249322787e-1f;
        p = p * m - 1.6668057665e-1f;
        p = p * m + 2.0000714765e-1f;
        p = p * m - 2.4999993993e-1f;
        p = p * m + 3.3333331174e-1f;
        p = p * m * q + e * -2.12194440e-4f - 0.5f * q;
        p = (p + m) + e * 0.693359375f;
        p = -2.0f * p;
        radius = sqrtf(p > 0 ? p : 0);
        s = (s * z - 1.6666654611e-1f) * z * t + t;
        c = ((c - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1.0f;
        sb = tsr__bits_f32(s);
        cb = tsr__bits_f32(c);
        x = ((cb & ~swap) | (sb & swap)) ^ ((quarter + 1) >> 1 << 31);
        v = ((sb & ~swap) | (cb & swap)) ^ (quarter >> 1 << 31);
        y[2 * i] = mean + tsr__f32_of(x) * radius * std;
        y[2 * i + 1] = mean + tsr__f32_of(v) * radius * std;
    }
}

SET static void FN(normals_f64)(const tsr_random *r, const uint32_t *w, const uint32_t *more,
                                int64_t n, double *y)
{
    const double mean = r->a, std = r->b;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n / 2; i++) {
        const double u = fraction(w[2 * i], more[2 * i]) + 0x1p-54;
        const double angle = 6.283185307179586 * fraction(w[2 * i + 1], more[2 * i + 1]);
        const double radius = sqrt(-2.0 * tsr__log_f64(false, u));

        y[2 * i] = mean + radius * tsr__sin_f64(false, angle, 1) * std;
        y[2 * i + 1] = mean + radius * tsr__sin_f64(false, angle, 0) * std;
    }
}

/* Words below the cut drop their element. */
SET static void FN(drop_f32)(const tsr_random *r, const uint32_t *w, int64_t n, const float *x,
                             float *y)
{
    const uint32_t cut = (uint32_t)r->cut;
    const float scale = (float)r->scale;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = tsr__f32_of(tsr__bits_f32(x[i] * scale) & (w[i] < cut ? 0u : ~0u));
}

SET static void FN(drop_f64)(const tsr_random *r, const uint32_t *w, int64_t n, const double *x,
                             double *y)
{
    const uint32_t cut = (uint32_t)r->cut;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = w[i] < cut ? 0 : x[i] * r->scale;
}

/* One where a word is below the cut, by the bytes of an element. */
#define BERNOULLI(size, word)                                                                      \
    SET static void FN(bernoulli_##size)(uint32_t cut, word one, const uint32_t *w, int64_t n,     \
                                         word *y)                                                  \
    {                                                                                              \
        TSR__INDEPENDENT                                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            y[i] = w[i] < cut ? one : 0;                                                           \
    }

BERNOULLI(1, uint8_t)
BERNOULLI(2, uint16_t)
BERNOULLI(4, uint32_t)
BERNOULLI(8, uint64_t)

static const transforms FN(entry) = {
    FN(uniform_f32), FN(uniform_f64), FN(normals_f32), FN(normals_f64), FN(drop_f32),
    FN(drop_f64),    FN(bernoulli_1), FN(bernoulli_2), FN(bernoulli_4), FN(bernoulli_8)};

#undef BERNOULLI
