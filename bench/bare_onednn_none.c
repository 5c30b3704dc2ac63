/* SPDX-License-Identifier: Apache-2.0 */
/* bare_onednn_none.c - bare_onednn.h in builds without oneDNN: there is no yardstick. */
#include "bare_onednn.h"

bool bare_available(void)
{
    return false;
}

bare_conv *bare_conv_open(const bare_shape *s, tsr_dtype dtype, bare_product what)
{
    (void)s, (void)dtype, (void)what;
    return NULL;
}

tsr_status bare_conv_run(void *bare)
{
    (void)bare;
    return TSR_ERR_UNAVAILABLE;
}

void bare_conv_close(bare_conv *bare)
{
    (void)bare;
}

tsr_status bare_sgemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    (void)m, (void)n, (void)k, (void)a, (void)b, (void)c;
    return TSR_ERR_UNAVAILABLE;
}
