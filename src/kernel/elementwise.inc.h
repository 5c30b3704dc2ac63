/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.inc.h - body of elementwise.c for one dtype and instruction set; see
   fast_types.inc.h. y[i] = a[i] op b[i], or op b[0] if `one`. y may be a. */

TSR__INLINE void FN(each)(int op, const T *a, const T *b, bool one, int64_t n, T *y)
{
    const T zero = 0, b0 = one ? b[0] : zero;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        switch (op) {
        case OP_ADD: y[i] = ADD(a[i], one ? b0 : b[i]); break;
        case OP_MUL: y[i] = MUL(a[i], one ? b0 : b[i]); break;
        case OP_NEG: y[i] = NEG(a[i]); break;
        default: y[i] = LESS(a[i], zero) ? zero : a[i]; break; /* NaN stays */
        }
    }
}

SET static void FN(run)(int op, const void *a, const void *b, bool one, int64_t n, void *y)
{
    switch (op * 2 + one) {
    case OP_ADD * 2: FN(each)(OP_ADD, a, b, false, n, y); break;
    case OP_ADD * 2 + 1: FN(each)(OP_ADD, a, b, true, n, y); break;
    case OP_MUL * 2: FN(each)(OP_MUL, a, b, false, n, y); break;
    case OP_MUL * 2 + 1: FN(each)(OP_MUL, a, b, true, n, y); break;
    case OP_NEG * 2: FN(each)(OP_NEG, a, a, false, n, y); break;
    default: FN(each)(OP_RELU, a, a, false, n, y); break;
    }
}
