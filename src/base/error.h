/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - how an error is recorded and handed on. The function that detects an error writes the
   sentence; callers forward the status. */
#ifndef TSR_BASE_ERROR_H
#define TSR_BASE_ERROR_H

#include "tessera.h"

/* The only error flow: status in `st`, one label `done:`, all frees after it. */
#define TSR_TRY(call)                                                                              \
    do {                                                                                           \
        if ((st = (call)) != TSR_OK)                                                               \
            goto done;                                                                             \
    } while (0)

/* Record `code` and a sentence in err, unless it holds an error already (the first one stays) or is
   NULL; returns code. */
tsr_status tsr__fail(tsr_error *err, tsr_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
