/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - what the fuzz targets share. Each target is one file with one entry; fuzz/run makes it a
   libFuzzer program, replay.c an ordinary test of the files in fuzz/corpus. */
#ifndef TSR_FUZZ_FUZZ_H
#define TSR_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A law of the parser, also in builds without assert. */
#define REQUIRE(law)                                                                               \
    do {                                                                                           \
        if (!(law)) {                                                                              \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #law);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as text with a final 0, on the heap so that reading beyond it is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    REQUIRE(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* Cut the text at the next line end; the rest is "" if there is none. */
static inline char *fuzz_line(char **rest)
{
    char *line = *rest, *end = line + strcspn(line, "\n");

    *rest = *end ? end + 1 : end;
    *end = 0;
    return line;
}

/* A failure has a code and a sentence, success has neither. */
static inline void fuzz_check_error(tsr_status st, const tsr_error *err)
{
    REQUIRE(err->code == st);
    REQUIRE((err->text[0] != 0) == (st != TSR_OK));
    REQUIRE(memchr(err->text, 0, sizeof err->text));
}

#endif
