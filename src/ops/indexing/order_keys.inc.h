/* SPDX-License-Identifier: Apache-2.0 */
/* order_keys.inc.h - unsigned keys of elements of one dtype: needs T, KEY and FN, undefines them.
   */

static void FN(keys)(const T *x, int64_t first, int64_t stride, int64_t n, uint64_t flip,
                     uint64_t *out)
{
    x += first;
    if (stride == 1) {
        for (int64_t i = 0; i < n; i++)
            out[i] = KEY(x[i]) ^ flip;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = KEY(x[i * stride]) ^ flip;
}

#undef T
#undef KEY
#undef FN
