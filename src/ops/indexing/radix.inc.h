/* SPDX-License-Identifier: Apache-2.0 */
/* radix.inc.h - a stable sort of ITEMs by KEY(item), BYTES long, from the lowest byte on: needs
   these and FN, undefines them. Bytes that are the same in all items are left out. Returns where
   the result is, `a` or `b`. */

static ITEM *FN(radix)(ITEM *a, ITEM *b, int64_t n)
{
    int64_t count[BYTES][256] = {{0}};

    if (n <= SMALL) {
        for (int64_t i = 1; i < n; i++) {
            const ITEM x = a[i];
            int64_t k = i;

            for (; k > 0 && KEY(a[k - 1]) > KEY(x); k--)
                a[k] = a[k - 1];
            a[k] = x;
        }
        return a;
    }
    for (int64_t i = 0; i < n; i++)
        for (int byte = 0; byte < BYTES; byte++)
            count[byte][KEY(a[i]) >> 8 * byte & 255]++;
    for (int byte = 0; byte < BYTES; byte++) {
        ITEM *swap = a;
        int64_t *at = count[byte], sum = 0;

        if (at[KEY(a[0]) >> 8 * byte & 255] == n)
            continue;
        for (int d = 0; d < 256; d++) {
            const int64_t own = at[d];

            at[d] = sum;
            sum += own;
        }
        for (int64_t i = 0; i < n; i++)
            b[at[KEY(a[i]) >> 8 * byte & 255]++] = a[i];
        a = b;
        b = swap;
    }
    return a;
}

#undef ITEM
#undef KEY
#undef BYTES
#undef FN
