/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.inc.h - body of reduce_ref.c for one dtype: needs T (stored), ACC (computed), LD, ST, ADD,
   MUL, DIV (by an int64_t), IS_NAN and FN, and FLOATING of floats; undefines them. */

static void FN(reduce)(tsr_reduce op, int64_t divisor, int n_src, const void *const *src, int64_t n,
                       void *dst)
{
    for (int64_t i = 0; i < n; i++) {
        ACC acc = LD(((const T *)src[0])[i]);

        for (int k = 1; k < n_src; k++) {
            ACC x = LD(((const T *)src[k])[i]);

            switch (op) {
            case TSR_MIN: acc = x < acc || IS_NAN(x) ? x : acc; break; /* a NaN wins */
            case TSR_MAX: acc = x > acc || IS_NAN(x) ? x : acc; break;
            case TSR_PROD: acc = (ACC)MUL(acc, x); break;
            default: acc = (ACC)ADD(acc, x); break;
            }
        }
#ifdef FLOATING
        if (divisor != 1 && IS_NAN(acc - acc)) { /* not finite */
            const double scale = tsr__reduce_scale(divisor, n_src);

            acc = 0;
            for (int k = 0; k < n_src; k++)
                acc = (ACC)ADD(acc, (ACC)MUL(LD(((const T *)src[k])[i]), (ACC)scale));
            ((T *)dst)[i] = ST((ACC)DIV(acc, scale * (double)divisor));
            continue;
        }
#endif
        ((T *)dst)[i] = ST(divisor == 1 ? acc : (ACC)DIV(acc, divisor));
    }
}

#undef T
#undef ACC
#undef LD
#undef ST
#undef ADD
#undef MUL
#undef DIV
#undef IS_NAN
#undef FLOATING
#undef FN
