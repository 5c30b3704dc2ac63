/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c - the input is an npy file. What is accepted must fit the file, and must come back
   from the header that we write for it. */
#include "fuzz.h"
#include "io/npy_header.h"

static void check_accepted(const tsr_npy *npy, size_t size)
{
    int64_t count = tsr_shape_count(&npy->shape);
    char text[TSR_NPY_WRITTEN];
    size_t n;
    tsr_npy again;

    REQUIRE(npy->shape.ndim >= 0 && npy->shape.ndim <= TSR_MAX_DIM);
    for (int d = 0; d < npy->shape.ndim; d++)
        REQUIRE(npy->shape.size[d] >= 0);
    REQUIRE((size_t)npy->data + (size_t)count * tsr_dtype_size(npy->dtype) == size);
    REQUIRE(tsr__npy_write(npy->dtype, &npy->shape, text, &n, NULL) == TSR_OK);
    REQUIRE(n % 64 == 0 && n <= sizeof text);
    REQUIRE(tsr__npy_text("again", text + 10, n - 10, (int64_t)n, (int64_t)(n + size) - npy->data,
                          &again, NULL) == TSR_OK);
    REQUIRE(again.dtype == npy->dtype && again.shape.ndim == npy->shape.ndim);
    for (int d = 0; d < npy->shape.ndim; d++)
        REQUIRE(again.shape.size[d] == npy->shape.size[d]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = (uint8_t *)fuzz_text(data, size);
    tsr_error err = {0};
    tsr_npy npy;
    tsr_status st = tsr__npy_parse("input", copy, size, &npy, &err);

    fuzz_check_error(st, &err);
    for (const char *p = err.text; *p; p++) /* whatever the file holds, the sentence prints */
        REQUIRE(*p >= ' ' && *p <= '~');
    if (st == TSR_OK)
        check_accepted(&npy, size);
    free(copy);
    return 0;
}
