/* SPDX-License-Identifier: Apache-2.0 */
/* positions.c - see positions.h. */
#include "kernel/positions.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernel/index.h"

/* How many local indices from i on follow each other in the whole tensor too? */
static int64_t run_length(const tsr_operand *x, int d, int64_t i)
{
    const int64_t n = x->shape.size[d], *index = x->index[d];
    int64_t k = i + 1;

    if (!index)
        return n - i;
    while (k < n && index[k] == index[i] + (k - i))
        k++;
    return k - i;
}

void tsr__positions_walk(const tsr_operand *x, const int64_t *whole, tsr_run_of fn, void *arg)
{
    const int ndim = x->shape.ndim;
    int64_t at[TSR_MAX_DIM] = {0}, local = 0, inner = 1;
    int d = ndim - 1;

    if (tsr__operand_count(x) == 0)
        return;
    if (ndim == 0) {
        fn(arg, 0, 0, 1);
        return;
    }
    for (; d > 0 && x->shape.size[d] == whole[d]; d--) /* rows follow each other */
        inner *= whole[d];
    for (bool more = true; more;) {
        int64_t base = 0;

        for (int e = 0; e < d; e++)
            base = (base + tsr__position(x, e, at[e])) * whole[e + 1];
        for (int64_t i = 0, n; i < x->shape.size[d]; i += n) {
            n = run_length(x, d, i);
            fn(arg, local, (base + tsr__position(x, d, i)) * inner, n * inner);
            local += n * inner;
        }
        more = false;
        for (int e = d - 1; e >= 0 && !more; e--) {
            more = ++at[e] < x->shape.size[e];
            at[e] = more ? at[e] : 0;
        }
    }
}

void tsr__position_text(const tsr_operand *x, int64_t i, char *buf, size_t n)
{
    int64_t index[TSR_MAX_DIM];
    size_t used;

    buf[0] = 0;
    if (x->shape.ndim == 0) /* there is just one */
        return;
    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        if (x->first[d] < 0 && !x->index[d])
            return;
        index[d] = tsr__position(x, d, i % x->shape.size[d]);
        i /= x->shape.size[d];
    }
    used = (size_t)snprintf(buf, n, " at [");
    for (int d = 0; d < x->shape.ndim; d++)
        used += (size_t)snprintf(buf + used, n - used, "%s%" PRId64, d ? "," : "", index[d]);
    snprintf(buf + used, n - used, "]");
}
