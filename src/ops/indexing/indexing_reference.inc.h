/* SPDX-License-Identifier: Apache-2.0 */
/* indexing_reference.inc.h - adding to lines, every element of x by itself: for one dtype, see
   reference_types.inc.h. */

static void FN(added)(const tsr_kernel_call *call, const tsr_gather_map *map)
{
    const tsr_operand *y = &call->out[0];
    const T *from = call->in[0].data, *values = map->values->data;
    int64_t x, v;

    for (int64_t e = 0; e < tsr__operand_count(y); e++) {
        ACC sum = LD(from[e]);

        for (int64_t i = 0; i < tsr__gather_map_count(map); i++)
            if (tsr__gather_map_at(map, i, &x, &v) && x == e)
                sum = ADD(sum, LD(values[v]));
        ((T *)y->data)[e] = ST(sum);
    }
}

static const naive_bodies FN(entry) = {FN(added)};
