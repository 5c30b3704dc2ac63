/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - the one way in which public functions refuse NULL. Arguments that may be NULL are the
   exception and are described with their functions; tests/api/make_null_calls has their list. */
#ifndef TSR_BASE_ARGS_H
#define TSR_BASE_ARGS_H

#include "base/error.h"

/* The first line of a public function: none of these pointers may be NULL. If one is, the function
   returns `result` (left empty: nothing), and err, unless there is none, says which:
   "tsr_chunk: out is NULL". err is evaluated only then. */
#define TSR_NEED(result, err, ...)                                                                 \
    do {                                                                                           \
        const void *const given[] = {__VA_ARGS__};                                                 \
        for (unsigned i_ = 0; i_ < sizeof given / sizeof *given; i_++)                             \
            if (__builtin_expect(!given[i_], 0)) {                                                 \
                tsr__fail_null(err, __func__, #__VA_ARGS__, i_);                                   \
                return result;                                                                     \
            }                                                                                      \
    } while (0)

/* The status of a struct that carries its size: is it this library's? `by` is what sets it. */
#define TSR_SIZE_CHECK(function, object, by, err)                                                  \
    (__builtin_expect((object)->size == sizeof *(object), 1)                                       \
         ? TSR_OK                                                                                  \
         : tsr__fail_size(err, function, (object)->size, sizeof *(object), by))
tsr_status tsr__fail_size(tsr_error *err, const char *function, size_t given, size_t known,
                          const char *by);

/* Say that the i-th name of the list "x, out" is NULL. */
tsr_status tsr__fail_null(tsr_error *err, const char *function, const char *names, unsigned i);

#endif
