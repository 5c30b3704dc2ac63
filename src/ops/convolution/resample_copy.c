/* SPDX-License-Identifier: Apache-2.0 */
/* resample_copy.c - nearest outputs, which are copies: a row is made once and copied for the rows
   that are equal to it. Called by resample.c. */
#include "ops/convolution/resample_geometry.h"

#include "base/cpu.h"

#include <string.h>

#define T uint8_t
#define FN(name) name##_8
#include "ops/convolution/resample_copy.inc.h"

#define T uint16_t
#define FN(name) name##_16
#include "ops/convolution/resample_copy.inc.h"

#define T uint32_t
#define FN(name) name##_32
#include "ops/convolution/resample_copy.inc.h"

#define T uint64_t
#define FN(name) name##_64
#include "ops/convolution/resample_copy.inc.h"

/* One row; times: how often each element comes, 0: index says which it is. */
static void make_row(size_t size, int64_t times, int64_t n, const int32_t *index, const void *x,
                     void *y)
{
    if (times == 1)
        memcpy(y, (const char *)x + (size_t)index[0] * size, (size_t)n * size);
    else if (size == 1)
        row_8(times, n, index, x, y);
    else if (size == 2)
        row_16(times, n, index, x, y);
    else if (size == 4)
        row_32(times, n, index, x, y);
    else
        row_64(times, n, index, x, y);
}

void tsr__resample_copy(const tsr_resample_geometry *g, size_t size, const tsr_resample_taps *taps,
                        int32_t *index, const void *source, void *result)
{
    const tsr_resample_dim *d = g->dim;
    const tsr_resample_taps *taps1 = taps + d[0].m, *taps2 = taps1 + d[1].m;
    const int64_t times = d[2].out % d[2].in == 0 ? d[2].out / d[2].in : 0;
    const size_t row = (size_t)d[2].m * size;
    int64_t last = -1;
    char *y = result;

    for (int64_t j = 0; j < d[2].m; j++)
        index[j] = (int32_t)taps2[j].first;
    for (int64_t i = 0; i < g->planes * d[0].m * d[1].m; i++, y += row) {
        const int64_t plane = i / d[1].m / d[0].m, r0 = i / d[1].m % d[0].m, r1 = i % d[1].m;
        const int64_t from = (plane * d[0].n + taps[r0].first) * d[1].n + taps1[r1].first;

        if (from == last)
            memcpy(y, y - row, row);
        else
            make_row(size, times, d[2].m, index,
                     (const char *)source + (size_t)(from * d[2].n) * size, y);
        last = from;
    }
}
