/* SPDX-License-Identifier: Apache-2.0 */
/* gather_rows.inc.h - copies of rows for one instruction set, part of gather_rows.c. */

/* A line of the cache, past it; from NULL: zeros. */
#if ISA == 2
#define STREAM stream_line_avx2
#else
#define STREAM stream_line
#endif

/* out[i] = table[rows[i]]; rows up to n_ahead are needed next. */
SET static void FN(gather)(const char *table, size_t bytes, const int64_t *rows, int64_t n,
                           int64_t n_ahead, bool stream, char *out)
{
    const int64_t ahead = tsr__rows_ahead(bytes);

    for (int64_t i = 0; i < n; i++, out += bytes) {
        const char *from = rows[i] < 0 ? NULL : table + (size_t)rows[i] * bytes;
        size_t k = 0;

        if (i + ahead < n_ahead && rows[i + ahead] >= 0)
            tsr__row_prefetch(table + (size_t)rows[i + ahead] * bytes, bytes);
        if (!from && !stream)
            memset(out, 0, bytes);
        else if (stream)
            for (; k < bytes; k += LINE)
                STREAM(out + k, from ? from + k : NULL);
        else {
            for (; k + LINE <= bytes; k += LINE) /* of a constant size it needs no call */
                memcpy(out + k, from + k, LINE);
            if (k < bytes)
                memcpy(out + k, from + k, bytes - k);
        }
    }
}

static const bodies FN(entry) = {FN(gather)};

#undef STREAM
