/* SPDX-License-Identifier: Apache-2.0 */
/* print_text.h - numbers and brackets as numpy's str sets them. Pure but for memory. */
#ifndef TSR_REDIST_PRINT_TEXT_H
#define TSR_REDIST_PRINT_TEXT_H

#include "base/dtype.h"
#include "base/heap.h"

/* A text that grows. Zero but for the heap is empty; data is the caller's to free. */
typedef struct tsr_print_text {
    tsr_heap *heap;
    char *data;
    int n, cap;
} tsr_print_text;

tsr_status tsr__print_add(tsr_print_text *text, const char *word, tsr_error *err);

/* Add an array of which `data` holds the elements of `shown`, row-major: along dims where `shown`
   is less than `shape`, "..." stands in the middle. */
tsr_status tsr__print_values(tsr_print_text *text, tsr_dtype dtype, const tsr_shape *shape,
                             const tsr_shape *shown, const void *data, tsr_error *err);

#endif
