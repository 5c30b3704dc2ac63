/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.inc.h - body of reduce_ref.c for one dtype; see kernel_types.inc.h. */

static void FN(reduce)(tsr_reduce op, int64_t divisor, int n_src, const void *const *src, int64_t n,
                       void *dst)
{
    for (int64_t i = 0; i < n; i++) {
        ACC acc = LD(((const T *)src[0])[i]);

        for (int k = 1; k < n_src; k++) {
            ACC x = LD(((const T *)src[k])[i]);

            switch (op) {
            case TSR_MIN: acc = x < acc || UNORDERED(x) ? x : acc; break; /* a NaN wins */
            case TSR_MAX: acc = x > acc || UNORDERED(x) ? x : acc; break;
            case TSR_PROD: acc = (ACC)MUL(acc, x); break;
            default: acc = (ACC)ADD(acc, x); break;
            }
        }
#ifdef FLOATING
        if (divisor != 1 && UNORDERED(acc - acc)) { /* not finite */
            const double scale = tsr__reduce_scale(divisor, n_src);

            acc = 0;
            for (int k = 0; k < n_src; k++)
                acc = (ACC)ADD(acc, (ACC)MUL(LD(((const T *)src[k])[i]), (ACC)scale));
            ((T *)dst)[i] = ST(acc / (ACC)(scale * (double)divisor));
            continue;
        }
        acc /= (ACC)divisor;
#else
        acc = divisor == 1 ? acc : DIV(acc, divisor);
#endif
        ((T *)dst)[i] = ST(acc);
    }
}

static const bodies FN(entry) = {FN(reduce)};
