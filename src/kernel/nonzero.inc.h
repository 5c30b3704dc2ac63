/* SPDX-License-Identifier: Apache-2.0 */
/* nonzero.inc.h - body of nonzero.c for numbers of one size and one instruction set. */

SET static void FN(nonzero)(const void *data, uint64_t mask, int64_t n, uint8_t *out)
{
    const T *x = data, bits = (T)mask;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        out[i] = (x[i] & bits) != 0;
}

static const bodies FN(entry) = {FN(nonzero)};
