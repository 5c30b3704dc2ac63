/* SPDX-License-Identifier: Apache-2.0 */
/* ids.inc.h - body of ids.c for one type of ids: needs ID and FN, undefines them. Negative numbers
   become huge as unsigned ones: a range is one comparison. */

static int64_t FN(bad)(const tsr_ids *ids)
{
    enum { BLOCK = 1024 };
    const ID *id = ids->data;
    const uint64_t vocab = (uint64_t)ids->vocab;

    for (int64_t i = 0; i < ids->n; i += BLOCK) {
        const int64_t end = ids->n - i < BLOCK ? ids->n : i + BLOCK;
        unsigned bad = 0;

        for (int64_t k = i; k < end; k++)
            bad |= (uint64_t)(int64_t)id[k] >= vocab;
        for (int64_t k = i; bad && k < end; k++)
            if ((uint64_t)(int64_t)id[k] >= vocab)
                return k;
    }
    return -1;
}

static void FN(rows)(const tsr_ids *ids, int64_t first, int64_t n, int64_t *rows)
{
    const ID *id = (const ID *)ids->data + first;
    const uint64_t row_first = (uint64_t)ids->row_first, n_rows = (uint64_t)ids->n_rows;
    const uint64_t vocab = (uint64_t)ids->vocab;
    const int64_t padding = ids->padding;

    TSR__INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        const uint64_t global = (uint64_t)(int64_t)id[i], row = global - row_first;
        const bool here = (row < n_rows) & (global < vocab) & ((int64_t)id[i] != padding);

        rows[i] = here ? (int64_t)row : -1;
    }
}

#undef ID
#undef FN
