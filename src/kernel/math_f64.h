/* SPDX-License-Identifier: Apache-2.0 */
/* math_f64.h - the functions of math_f32.h in f64, in the same ways: without branches or tables,
   within a few units in the last place, special values as in libm. Polynomials are near to the best
   of their degree. Called by elementwise.inc.h and random.inc.h. */
#ifndef TSR_KERNEL_MATH_F64_H
#define TSR_KERNEL_MATH_F64_H

#include "kernel/math_f32.h"

/* ---- exponentials ---- */

/* e^(x + low) of any x and a small low: n goes from -1075 to 1024, and the last bits of t are
   n + 2046. */
TSR__INLINE double tsr__exp_sum_f64(bool fused, double x, double low)
{
    const double shift = 0x1.8p52 + 2046, most = 710.0 < x ? 710.0 : x; /* NaN stays */
    const uint64_t keep = (uint64_t)__builtin_isless(x, -746.0) - 1u;
    const double t = tsr__multiply_add_f64(fused, most, 0x1.71547652b82fep+0, shift), n = t - shift;
    const uint64_t both = tsr__bits_f64(t), half = both >> 1 << 52;
    double p = tsr__exp_poly_f64(fused, tsr__exp_rest_f64(fused, most, n) + low) + 1.0;

    p = p * tsr__f64_of(half) * tsr__f64_of((both << 52) - half);
    return tsr__f64_of(tsr__bits_f64(p) & keep);
}

TSR__INLINE double tsr__exp_any_f64(bool fused, double x)
{
    return tsr__exp_sum_f64(fused, x, -0.0); /* which changes nothing, so nothing is added */
}

/* e^x - 1 of x from -700 to 700. */
TSR__INLINE double tsr__expm1_near_f64(bool fused, double x)
{
    const double shift = 0x1.8p52 + 1023;
    const double t = tsr__multiply_add_f64(fused, x, 0x1.71547652b82fep+0, shift), n = t - shift;
    const double p = tsr__exp_poly_f64(fused, tsr__exp_rest_f64(fused, x, n));
    const double scale = tsr__f64_of(tsr__bits_f64(t) << 52);

    return tsr__multiply_add_f64(fused, p, scale, scale - 1.0);
}

/* Of x <= 700. */
TSR__INLINE double tsr__expm1_f64(bool fused, double x)
{
    return tsr__expm1_near_f64(fused, x < -60.0 ? -60.0 : x);
}

TSR__INLINE double tsr__tanh_f64(bool fused, double x)
{
    const double z = __builtin_fabs(x);
    const double t = tsr__expm1_near_f64(fused, 2.0 * (20.0 < z ? 20.0 : z));

    return __builtin_copysign(t / (t + 2.0), x);
}

TSR__INLINE double tsr__sigmoid_f64(bool fused, double x)
{
    const double z = tsr__exp_f64(fused, -__builtin_fabs(x));

    return (x < 0.0 ? z : 1.0) / (1.0 + z);
}

TSR__INLINE double tsr__mish_f64(bool fused, double x)
{
    const double w = tsr__exp_f64(fused, 40.0 < x ? 40.0 : x), n = w * (w + 2.0);

    return x * (n / (n + 2.0));
}

/* ---- logarithms ---- */

/* x + rest = 2^n m with m from sqrt(1/2) to sqrt(2), where rest, if it is given, is what x lost by
   rounding: gives n, and m - 1. */
TSR__INLINE double tsr__split_f64(bool fused, double x, const double *rest, double *n)
{
    const uint64_t tiny = 0u - (uint64_t)__builtin_isless(x, 0x1p-1022);
    const uint64_t more = tiny & UINT64_C(54) << 52, from = 0x3fe6a09e667f3bcd;
    const uint64_t u = tsr__bits_f64(x * tsr__f64_of((UINT64_C(1023) << 52) + more));
    const uint64_t e = (u - from) & UINT64_C(0xfff) << 52;
    const uint64_t places = (e - more + (UINT64_C(1100) << 52)) >> 52; /* n + 1100 */
    const double f = tsr__f64_of(u - e) - 1.0,
                 scale = tsr__f64_of((UINT64_C(1024) << 52) - e); /* 2^(1 - n) */

    *n = tsr__f64_of(places | UINT64_C(0x4330000000000000)) - (0x1p52 + 1100);
    return rest ? tsr__multiply_add_f64(fused, 0.5 * *rest, scale, f) : f;
}

/* With f = m - 1, log m = 2 atanh(s), s = f / (2 + f), in the form that keeps the digits of f. */
TSR__INLINE double tsr__log_sum_f64(bool fused, double x, const double *rest)
{
    double n;
    const double f = tsr__split_f64(fused, x, rest, &n), s = f / (2.0 + f), z = s * s;
    const double half = 0.5 * f * f;
    double p, y;

    p = tsr__multiply_add_f64(fused, 0.1308734866861741, z, 0.13268699694889352);
    p = tsr__multiply_add_f64(fused, p, z, 0.15386242634932326);
    p = tsr__multiply_add_f64(fused, p, z, 0.18181795582103566);
    p = tsr__multiply_add_f64(fused, p, z, 0.22222222392303262);
    p = tsr__multiply_add_f64(fused, p, z, 0.28571428570800761);
    p = tsr__multiply_add_f64(fused, p, z, 0.40000000000000885);
    p = tsr__multiply_add_f64(fused, p, z, 0.66666666666666663);
    y = tsr__multiply_add_f64(fused, n, 1.90821492927058770002e-10,
                              s * tsr__multiply_add_f64(fused, p, z, half));
    y = tsr__multiply_add_f64(fused, n, 6.93147180369123816490e-01, f - (half - y));
    y = __builtin_isless(x, (double)INFINITY) ? y : x; /* NaN too */
    y = tsr__f64_of(tsr__bits_f64(y) | (0u - (uint64_t)__builtin_isless(x, 0.0)));
    return x == 0.0 ? (double)-INFINITY : y;
}

TSR__INLINE double tsr__log_f64(bool fused, double x)
{
    return tsr__log_sum_f64(fused, x, NULL);
}

TSR__INLINE double tsr__log1p_f64(bool fused, double x)
{
    const double u = 1.0 + x, rest = x - (u - 1.0);
    const double y = __builtin_copysign(tsr__log_sum_f64(fused, u, &rest), x);

    return __builtin_fabs(x) < 0x1p-60 ? x : y;
}

TSR__INLINE double tsr__softplus_f64(bool fused, double x)
{
    const double e = tsr__exp_f64(fused, -__builtin_fabs(x));

    return tsr__log1p_unit_f64(fused, e) + (x < 0.0 ? 0.0 : x);
}

/* ---- the error function ---- */

TSR__INLINE double tsr__erf_f64(bool fused, double x)
{
    const double a = __builtin_fabs(x), z = 5.95 < a ? 5.95 : a;
    const double s = z * z, t = z - 1.0;
    double near, p, q;

    near = tsr__multiply_add_f64(fused, -7.7985438505499473e-10, s, 1.3721520406351094e-08);
    near = tsr__multiply_add_f64(fused, near, s, -1.6208829856810202e-07);
    near = tsr__multiply_add_f64(fused, near, s, 1.6447471190594618e-06);
    near = tsr__multiply_add_f64(fused, near, s, -1.4924740785377576e-05);
    near = tsr__multiply_add_f64(fused, near, s, 0.00012055295112667001);
    near = tsr__multiply_add_f64(fused, near, s, -0.00085483259825432252);
    near = tsr__multiply_add_f64(fused, near, s, 0.0052239776072699456);
    near = tsr__multiply_add_f64(fused, near, s, -0.026866170643256995);
    near = tsr__multiply_add_f64(fused, near, s, 0.1128379167094513);
    near = tsr__multiply_add_f64(fused, near, s, -0.37612638903183543);
    near = tsr__multiply_add_f64(fused, near, s, 0.12837916709551256);
    near = tsr__multiply_add_f64(fused, near, z, z);
    p = tsr__multiply_add_f64(fused, 9.578753687143592e-07, t, -2.9925590156738395e-05);
    p = tsr__multiply_add_f64(fused, p, t, 0.000361906466725866);
    p = tsr__multiply_add_f64(fused, p, t, -0.0020383112426854257);
    p = tsr__multiply_add_f64(fused, p, t, 0.004582007928922976);
    p = tsr__multiply_add_f64(fused, p, t, -0.0020152876355578825);
    p = tsr__multiply_add_f64(fused, p, t, 0.04546585845292625);
    p = tsr__multiply_add_f64(fused, p, t, -0.339620331648074);
    p = tsr__multiply_add_f64(fused, p, t, 0.62976951390341);
    q = tsr__multiply_add_f64(fused, 7.781617479239261e-06, t, -6.553389917866132e-06);
    q = tsr__multiply_add_f64(fused, q, t, 0.00040600137905329365);
    q = tsr__multiply_add_f64(fused, q, t, 0.00019496565302931453);
    q = tsr__multiply_add_f64(fused, q, t, 0.010014098100255836);
    q = tsr__multiply_add_f64(fused, q, t, 0.01070818042656137);
    q = tsr__multiply_add_f64(fused, q, t, 0.14481718480915082);
    q = tsr__multiply_add_f64(fused, q, t, 0.12046469198449841);
    q = tsr__multiply_add_f64(fused, q, t, 1.0);
    p /= q;
    p *= p;
    return __builtin_copysign(z < 1.0 ? near : 1.0 - p * p, x);
}

TSR__INLINE double tsr__minus_square_f64(bool fused, double z, double c)
{
    const double high = tsr__f64_of(tsr__bits_f64(z) & ~UINT64_C(0x7ffffff));

    return fused ? __builtin_fma(-z, z, -c) : (-high * high - c) - (z - high) * (z + high);
}

/* As in f32, of z to 38.7; P(z) / Q(z) has a relative error of 5e-17. */
TSR__INLINE double tsr__normal_tail_f64(bool fused, bool slope, double z)
{
    const double shift = 0x1.8p52 + 256;
    const double t = tsr__multiply_add_f64(fused, z * -0x1.71547652b82fep-1, z, shift),
                 n = t - shift;
    const double r = tsr__multiply_add_f64(fused, n, -0x1.ef35793c7673p-44,
                                           tsr__minus_square_f64(fused, z, n * 0x1.62e42fefa38p+0));
    const double s = r * r;
    double d, p, q;

    d = tsr__multiply_add_f64(fused, 8.074909173795037e-11, s, -1.2917013579139342e-08);
    d = tsr__multiply_add_f64(fused, d, s, 2.0667988036726952e-06);
    d = tsr__multiply_add_f64(fused, d, s, -0.00034722222220288791);
    d = tsr__multiply_add_f64(fused, d, s, 0.08333333333333217);
    d = tsr__multiply_add_f64(fused, d, s, 4.0);
    p = tsr__multiply_add_f64(fused, 1.3824978684046334e-06, z, 3.7182091998724323e-05);
    p = tsr__multiply_add_f64(fused, p, z, 0.00048962271122299);
    p = tsr__multiply_add_f64(fused, p, z, 0.004083811258463041);
    p = tsr__multiply_add_f64(fused, p, z, 0.023596487634669438);
    p = tsr__multiply_add_f64(fused, p, z, 0.09761435050374197);
    p = tsr__multiply_add_f64(fused, p, z, 0.289143036100602);
    p = tsr__multiply_add_f64(fused, p, z, 0.5937805181613813);
    p = tsr__multiply_add_f64(fused, p, z, 0.774690278827997);
    p = tsr__multiply_add_f64(fused, p, z, 0.5);
    q = tsr__multiply_add_f64(fused, 3.4654082465707413e-06 * 0x1p256, z,
                              9.320168311174767e-05 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0.001230767540302923 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0.010329798440455996 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0.06036799483388308 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0.2547330725299307 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0.7815020290551266 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 1.7135247541268692 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 2.5604076344525057 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 2.3472651184588496 * 0x1p256);
    q = tsr__multiply_add_f64(fused, q, z, 0x1p256);
    if (slope)
        p = tsr__multiply_add_f64(fused, z * (-0.39894228040143267794 * 0x1p-256), q, p);
    return tsr__f64_of(tsr__bits_f64(d + r) + (tsr__bits_f64(t) << 52)) * p / ((d - r) * q);
}

TSR__INLINE double tsr__gelu_f64(bool fused, double x)
{
    const uint64_t a = tsr__bits_f64(x) & INT64_MAX, most = 0x404359999999999a; /* 38.7 */
    const double tail = tsr__normal_tail_f64(fused, false, tsr__f64_of(a < most ? a : most));

    return x * (x < 0.0 ? tail : 1.0 - tail);
}

TSR__INLINE double tsr__gelu_tanh_f64(bool fused, double x)
{
    const double cubic = tsr__multiply_add_f64(fused, 0.044715 * x * x, x, x);

    return x * tsr__sigmoid_f64(fused, 1.59576912160573071176 * cubic);
}

/* ---- slopes ---- */

TSR__INLINE double tsr__sigmoid_slope_f64(bool fused, double x, double by)
{
    const double z = tsr__exp_f64(fused, -__builtin_fabs(x)), d = 1.0 / (1.0 + z);

    return (x < 0.0 ? z : 1.0) * d * tsr__multiply_add_f64(fused, by, (x < 0.0 ? 1.0 : z) * d, 1.0);
}

TSR__INLINE double tsr__silu_slope_f64(bool fused, double x)
{
    const double z = __builtin_fabs(x), near = __builtin_copysign(800.0 < z ? 800.0 : z, x);

    return tsr__sigmoid_slope_f64(fused, near, near);
}

TSR__INLINE double tsr__mish_slope_f64(bool fused, double x)
{
    const double above = x < -800.0 ? -800.0 : x, near = 40.0 < above ? 40.0 : above;
    const double w = tsr__exp_f64(fused, near), n = w * (w + 2.0), d = 1.0 / (n + 2.0);

    return d * tsr__multiply_add_f64(fused, 4.0 * near * w, (w + 1.0) * d, n);
}

TSR__INLINE double tsr__gelu_slope_f64(bool fused, double x)
{
    const double z = __builtin_fabs(x);
    const double slope = tsr__normal_tail_f64(fused, true, 38.7 < z ? 38.7 : z);

    return x < 0.0 ? slope : 1.0 - slope;
}

TSR__INLINE double tsr__gelu_tanh_slope_f64(bool fused, double x)
{
    const double z = __builtin_fabs(x), near = __builtin_copysign(40.0 < z ? 40.0 : z, x);
    const double square = near * near, u = 1.59576912160573071176 * near;

    return tsr__sigmoid_slope_f64(fused, u * tsr__multiply_add_f64(fused, 0.044715, square, 1.0),
                                  u * tsr__multiply_add_f64(fused, 0.134145, square, 1.0));
}

/* ---- powers ---- */

TSR__INLINE bool tsr__is_whole_f64(double x)
{
    const double z = __builtin_fabs(x);

    return (z + 0x1p52) - 0x1p52 == z || z >= 0x1p52;
}

TSR__INLINE double tsr__signed_power_f64(double x, double y, double z)
{
    const double base = __builtin_fabs(x), sign = tsr__is_whole_f64(0.5 * y) ? 1.0 : -1.0;
    const double none = base == 0.0 ? 1.0 : (double)NAN;
    const double root = base == (double)INFINITY ? 1.0 : none;
    const double minus = tsr__is_whole_f64(y) ? sign : root;
    double one;

    z *= __builtin_copysign(1.0, x) < 0.0 ? minus : 1.0;
    one = __builtin_fabs(y) == (double)INFINITY ? 1.0 : z;
    z = base == 1.0 ? (x == 1.0 ? 1.0 : one) : z;
    return y == 0.0 ? 1.0 : z;
}

/* a b + c in two parts: the first is a b, rounded. */
TSR__INLINE double tsr__product_f64(double a, double b, double c, double *low)
{
    const double high = a * b;

    *low = __builtin_fma(a, b, -high) + c;
    return high;
}

/* The same of a + b, |a| >= |b|. */
TSR__INLINE double tsr__sum_f64(double a, double b, double c, double *low)
{
    const double high = a + b;

    *low = (a - high) + b + c;
    return high;
}

/* log x of x >= 0 in two parts, relative error 2^-65; only with fma. s has a second part too, and
   2 atanh(s) = 2 s + s^3 (2 / 3 + ...). */
TSR__INLINE double tsr__log_parts_f64(double x, double *low)
{
    double n, s_low, q_low, c_low, w_low, v_low, a_low;
    const double f = tsr__split_f64(true, x, NULL, &n), g = 2.0 + f, r = 1.0 / g, s = f * r;
    double q, p, c, w, v, a;

    s_low = r * (__builtin_fma(-s, g, f) - s * (f - (g - 2.0)));
    q = tsr__product_f64(s, s, 2.0 * s * s_low, &q_low);
    p = __builtin_fma(0.11723407891610548, q, 0.11706212672721462);
    p = __builtin_fma(p, q, 0.13334805653450281);
    p = __builtin_fma(p, q, 0.15384594943229627);
    p = __builtin_fma(p, q, 0.18181818335591766);
    p = __builtin_fma(p, q, 0.22222222221654909);
    p = __builtin_fma(p, q, 0.28571428571429368);
    p = __builtin_fma(p, q, 0.4);
    c = tsr__sum_f64(0x1.5555555555555p-1, p * q, 0x1.5555555555555p-55, &c_low);
    w = tsr__product_f64(q, s, __builtin_fma(q, s_low, q_low * s), &w_low);
    v = tsr__product_f64(w, c, __builtin_fma(w, c_low, w_low * c), &v_low);
    a = tsr__sum_f64(n * 0x1.62e42fefa38p-1, 2.0 * s,
                     __builtin_fma(n, 0x1.ef35793c7673p-45, 2.0 * s_low), &a_low);
    a = tsr__sum_f64(a, v, a_low + v_low, low);
    a = x == 0.0 ? (double)-INFINITY : a;
    return x < (double)INFINITY ? a : x; /* NaN too */
}

/* Only with fma. */
TSR__INLINE double tsr__pow_f64(double x, double y)
{
    double low, lower;
    const double base = __builtin_fabs(x), high = tsr__log_parts_f64(base, &low);
    const double p = tsr__product_f64(y, high, y * low, &lower);

    return tsr__signed_power_f64(
        x, y, tsr__exp_sum_f64(true, p, __builtin_fabs(p) < 1000.0 ? lower : 0.0));
}

/* ---- sin ---- */

/* sin of x + quarter * pi / 2, |x| <= TSR_SIN_MOST: the rest from the nearest multiple of pi / 2,
   whose first two parts have 33 bits, so that multiples of them are exact; polynomials: fdlibm. */
TSR__INLINE double tsr__sin_f64(bool fused, double x, unsigned quarter)
{
    const double shift = 0x1.8p52;
    const double k = tsr__multiply_add_f64(fused, x, 0.63661977236758134308, shift), n = k - shift;
    const double a = x - n * 1.57079632673412561417e+00, w = n * 6.07710050630396597660e-11;
    const double b = a - w, back = b - a, lost = (a - (b - back)) - (w + back);
    const double r = b + tsr__multiply_add_f64(fused, n, -2.02226624879595063154e-21, lost);
    const double z = r * r, half = 0.5 * z, most = 1.0 - half;
    const uint64_t turn = tsr__bits_f64(k) + quarter;
    double s, c, y;

    s = tsr__multiply_add_f64(fused, 1.58969099521155010221e-10, z, -2.50507602534068634195e-08);
    s = tsr__multiply_add_f64(fused, s, z, 2.75573137070700676789e-06);
    s = tsr__multiply_add_f64(fused, s, z, -1.98412698298579493134e-04);
    s = tsr__multiply_add_f64(fused, s, z, 8.33333333332248946124e-03);
    s = tsr__multiply_add_f64(fused, s, z, -1.66666666666666324348e-01);
    s = tsr__multiply_add_f64(fused, s * z, r, r);
    c = tsr__multiply_add_f64(fused, -1.13596475577881948265e-11, z, 2.08757232129817482790e-09);
    c = tsr__multiply_add_f64(fused, c, z, -2.75573143513906633035e-07);
    c = tsr__multiply_add_f64(fused, c, z, 2.48015872894767294178e-05);
    c = tsr__multiply_add_f64(fused, c, z, -1.38888888888741095749e-03);
    c = tsr__multiply_add_f64(fused, c, z, 4.16666666666666019037e-02);
    c = most + tsr__multiply_add_f64(fused, c * z, z, (1.0 - most) - half);
    y = turn & 1 ? c : s;
    return tsr__f64_of(tsr__bits_f64(y) ^ (turn & 2) << 62);
}

/* ---- inverse functions of angles ---- */

/* The angle whose tangent is y / x, both >= 0 and one of them above: of the smaller ratio t, or of
   (t - 1) / (t + 1) and pi / 4 where t is above tan(pi / 8). */
TSR__INLINE double tsr__angle_f64(bool fused, double y, double x)
{
    const double less = x < y ? x : y, more = x < y ? y : x;
    const bool far = less > 0.41421356237309504880 * more;
    const double t = (far ? less - more : less) / (far ? less + more : more), z = t * t;
    double p, r;

    p = tsr__multiply_add_f64(fused, -1.78053972054194459274e-02, z, 3.79652574538659332015e-02);
    p = tsr__multiply_add_f64(fused, p, z, -5.03510245660155203451e-02);
    p = tsr__multiply_add_f64(fused, p, z, 5.84687829733087222062e-02);
    p = tsr__multiply_add_f64(fused, p, z, -6.66295181362919070045e-02);
    p = tsr__multiply_add_f64(fused, p, z, 7.69204533090222519753e-02);
    p = tsr__multiply_add_f64(fused, p, z, -9.09089680906402658467e-02);
    p = tsr__multiply_add_f64(fused, p, z, 1.11111107449196583330e-01);
    p = tsr__multiply_add_f64(fused, p, z, -1.42857142792502445072e-01);
    p = tsr__multiply_add_f64(fused, p, z, 1.99999999999408928364e-01);
    p = tsr__multiply_add_f64(fused, p, z, -3.33333333333331205406e-01);
    r = (far ? 0.78539816339744830962 : 0.0) + tsr__multiply_add_f64(fused, p * z, t, t);
    return x < y ? 1.57079632679489661923 - r : r;
}

/* An infinite tangent counts as one so large that only the sign of its angle is seen. */
TSR__INLINE double tsr__atan_f64(bool fused, double x)
{
    const double most = 0x1p1000, z = __builtin_fabs(x);

    return __builtin_copysign(tsr__angle_f64(fused, z > most ? most : z, 1.0), x);
}

/* Beyond 1 the root is NaN, and so is what is made of it. */
TSR__INLINE double tsr__asin_f64(bool fused, double x)
{
    const double z = __builtin_fabs(x), root = __builtin_sqrt((1.0 - z) * (1.0 + z));

    return root != root ? root : __builtin_copysign(tsr__angle_f64(fused, z, root), x);
}

/* Twice the angle whose tangent is sqrt((1 - x) / (1 + x)), which keeps the digits near 1. */
TSR__INLINE double tsr__acos_f64(bool fused, double x)
{
    const double y = __builtin_sqrt(1.0 - x), z = __builtin_sqrt(1.0 + x);

    return y != y || z != z ? y + z : 2.0 * tsr__angle_f64(fused, y, z);
}

#endif
