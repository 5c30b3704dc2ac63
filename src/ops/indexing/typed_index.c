/* SPDX-License-Identifier: Apache-2.0 */
/* typed_index.c - indexing, sorting and topk of tessera_ops.h. */
#include "dispatch/typed_attr.h"
#include "tessera_ops.h"

static tsr_tensor *along(const char *name, tsr_tensor *x, int dim, tsr_tensor *index,
                         tsr_tensor *src)
{
    return tsr__dispatch_typed(name, (tsr_tensor *[]){x, index, src}, src ? 3 : 2,
                               (const tsr_attr[]){typed_int(dim)}, NULL);
}

tsr_tensor *tsr_gather(tsr_tensor *x, int dim, tsr_tensor *index)
{
    return along("gather", x, dim, index, NULL);
}

tsr_tensor *tsr_index_select(tsr_tensor *x, int dim, tsr_tensor *index)
{
    return along("index_select", x, dim, index, NULL);
}

tsr_tensor *tsr_scatter(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    return along("scatter", x, dim, index, src);
}

tsr_tensor *tsr_scatter_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    return along("scatter_add", x, dim, index, src);
}

tsr_tensor *tsr_index_add(tsr_tensor *x, int dim, tsr_tensor *index, tsr_tensor *src)
{
    return along("index_add", x, dim, index, src);
}

tsr_tensor *tsr_scatter_backward(tsr_tensor *grad, int dim, tsr_tensor *index)
{
    return along("scatter_backward", grad, dim, index, NULL);
}

tsr_tensor *tsr_take(tsr_tensor *x, tsr_tensor *index)
{
    return tsr__dispatch_typed("take", (tsr_tensor *[]){x, index}, 2, NULL, NULL);
}

tsr_tensor *tsr_one_hot(tsr_tensor *ids, int64_t classes, tsr_dtype dtype)
{
    return tsr__dispatch_typed("one_hot", &ids, 1,
                               (const tsr_attr[]){typed_int(classes), typed_int((int)dtype)}, NULL);
}

static tsr_tensor *ordered(const char *name, tsr_tensor *x, const tsr_attr *attrs,
                           tsr_tensor **index)
{
    tsr_tensor *out[TSR_MAX_OUT] = {NULL};
    tsr_tensor *values = tsr__dispatch_typed(name, &x, 1, attrs, out);

    if (index)
        *index = out[1];
    return values;
}

tsr_tensor *tsr_sort(tsr_tensor *x, int dim, bool descending, tsr_tensor **index)
{
    return ordered("sort", x,
                   (const tsr_attr[]){typed_int(dim), typed_int(descending), typed_int(true)},
                   index);
}

tsr_tensor *tsr_topk(tsr_tensor *x, int64_t k, int dim, bool largest, tsr_tensor **index)
{
    return ordered(
        "topk", x,
        (const tsr_attr[]){typed_int(k), typed_int(dim), typed_int(largest), typed_int(true)},
        index);
}
