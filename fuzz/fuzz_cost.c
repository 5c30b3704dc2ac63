/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cost.c - the input is a cost. What is accepted must be numbers that plans can be compared
   by: finite and not negative. */
#include <math.h>

#include "fuzz.h"

static void check_number(double x)
{
    REQUIRE(isfinite(x) && x >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    tsr_cost cost = tsr_cost_default();
    tsr_error err = {0};
    tsr_status st = TSR_OK;

    cost.seed = 77;
    if (strncmp(text, "file:", 5) != 0) { /* other files are not the input */
        st = tsr_cost_parse(text, &cost, &err);
        fuzz_check_error(st, &err);
    }
    for (int m = 0; m < TSR_MAX_MESH; m++) {
        check_number(cost.latency[m]);
        check_number(cost.per_byte[m]);
    }
    check_number(cost.per_step);
    check_number(cost.per_shuffle);
    check_number(cost.memory);
    REQUIRE(st == TSR_OK || cost.seed == 77); /* nothing is written on failure */
    free(text);
    return 0;
}
