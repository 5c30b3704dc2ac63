/* SPDX-License-Identifier: Apache-2.0 */
/* minmax.h - the smaller and the larger of two sizes. Included wherever blocks end at a border. */
#ifndef TSR_BASE_MINMAX_H
#define TSR_BASE_MINMAX_H

#include <stdint.h>

static inline int64_t tsr__min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t tsr__max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
