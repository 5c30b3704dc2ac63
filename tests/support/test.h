/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - the prelude of test programs: cmocka with the headers that it wants before it, the C
   headers that nearly all programs use, the public headers, and the two helpers of most programs.
   It defines no function of its own. */
#ifndef TSR_TESTS_TEST_H
#define TSR_TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tessera_ext.h>
#include <tessera_train.h>

#include "opts.h"
#include "ranks.h"

#endif
