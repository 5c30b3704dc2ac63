/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - for input that only one rank can judge (its own local part, its file): the ranks tell
   each other before they go on, so that all of them return one sentence. */
#include "world/agree.h"

#include <string.h>

tsr_status tsr__agree(tsr_mesh *mesh, tsr_status st, const tsr_error *err)
{
    int size = tsr_mesh_size(mesh);
    /* the largest number wins: that of the first rank in trouble */
    int32_t mine = st == TSR_OK ? 0 : size - mesh->index, first = 0;
    struct {
        int32_t code;
        char text[TSR_ERROR_LEN];
    } word = {0};
    tsr_status result;

    result = tsr_all_reduce(mesh, TSR_I32, TSR_MAX, &mine, 1, &first);
    if (result != TSR_OK || first == 0)
        return result;
    if (mine == first) {
        word.code = (int32_t)st;
        memcpy(word.text, err->text, sizeof word.text);
    }
    result = tsr_broadcast(mesh, TSR_U8, &word, (int64_t)sizeof word, size - first);
    if (result != TSR_OK)
        return result;
    return tsr__fail(&mesh->ctx->error, (tsr_status)word.code, "%s", word.text);
}
