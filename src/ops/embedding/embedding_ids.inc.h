/* SPDX-License-Identifier: Apache-2.0 */
/* embedding_ids.inc.h - body of embedding_ids.c for one type of ids: needs ID and FN, undefines
   them. */

/* How many are in the vocabulary and not the padding? */
static int64_t FN(count)(const tsr_ids *ids, int64_t first, int64_t n)
{
    const ID *id = (const ID *)ids->data + first;
    const uint64_t vocab = (uint64_t)ids->vocab;
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += ((uint64_t)(int64_t)id[i] < vocab) & ((int64_t)id[i] != ids->padding);
    return count;
}

#undef ID
#undef FN
