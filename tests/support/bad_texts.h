/* SPDX-License-Identifier: Apache-2.0 */
/* bad_texts.h - a table of texts that a parser refuses, or of calls of ops. */
#ifndef TESTS_BAD_TEXTS_H
#define TESTS_BAD_TEXTS_H

#include "tessera.h"

typedef struct bad_text {
    const char *text;
    tsr_status code;
    const char *says; /* part of the sentence */
} bad_text;

/* Each is refused with its code and sentence, err may be NULL, and the result is not touched. parse
   gets `size` bytes to write a value to. */
void expect_bad_texts(const bad_text *bad, size_t n,
                      tsr_status (*parse)(const char *text, void *out, tsr_error *err),
                      size_t size);
/* The same for calls of ops, "sum f32[4,6] dims=2", which are run on two ranks. */
void expect_bad_calls(const bad_text *bad, size_t n);

#endif
