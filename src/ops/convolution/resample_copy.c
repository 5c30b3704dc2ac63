/* SPDX-License-Identifier: Apache-2.0 */
/* resample_copy.c - nearest outputs, which are copies: a row is made once and copied for the rows
   that are equal to it. Called by resample.c. */
#include "ops/convolution/resample_geometry.h"

typedef struct bodies {
    /* A row; times: how often each element comes, after `lead` that are equal, so often as `whole`
       says; index says which the rest are, all if times is 0. */
    void (*row)(int64_t times, int64_t lead, int64_t whole, int64_t n, const int32_t *index,
                const void *x, void *y);
} bodies;

#define TABLE copy_kernels
#define BODY "ops/convolution/resample_copy.inc.h"
#define TYPES "base/size_types.inc.h"
#include "base/kernel_table.inc.h"

void tsr__resample_copy(const tsr_resample_geometry *g, tsr_dtype dtype,
                        const tsr_resample_taps *taps, int32_t *index, const void *source,
                        void *result)
{
    const tsr_resample_dim *d = g->dim;
    const tsr_resample_taps *taps1 = taps + d[0].m, *taps2 = taps1 + d[1].m;
    const int64_t times = d[2].out % d[2].in == 0 ? d[2].out / d[2].in : 0;
    const int64_t lead = times ? (times - d[2].result % times) % times : 0;
    const int64_t whole = times && lead < d[2].m ? (d[2].m - lead) / times : 0;
    const bodies *b = tsr__kernel_for(&copy_kernels, dtype, TSR_VARIANT_PLAIN);
    const size_t size = tsr_dtype_size(dtype), row = (size_t)d[2].m * size;
    const char *last = NULL;
    char *y = result;

    for (int64_t j = 0; j < d[2].m; j++)
        index[j] = (int32_t)taps2[j].first;
    for (int64_t i = 0; i < g->planes * d[0].m; i++) {
        const int64_t slab = i / d[0].m * d[0].n + taps[i % d[0].m].first;

        for (int64_t r = 0; r < d[1].m; r++, y += row) {
            const int64_t from = (slab * d[1].n + taps1[r].first) * d[2].n;
            const char *x = (const char *)source + (size_t)from * size;

            if (x == last)
                memcpy(y, y - row, row);
            else if (times == 1)
                memcpy(y, x + (size_t)index[0] * size, row);
            else
                b->row(times, lead, whole, d[2].m, index, x, y);
            last = x;
        }
    }
}
