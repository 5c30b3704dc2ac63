/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - learning rates by the number of the step. Pure. */
#include <math.h>

#include "tessera_train.h"

double tsr_schedule_lr(const tsr_schedule *s, int64_t step)
{
    if (!s || s->size != sizeof *s)
        return NAN;

    const double pi = 3.14159265358979323846;
    const int64_t after = step - s->warmup, rest = s->steps - s->warmup;
    double done; /* of the way from lr to last, 0 to 1 */

    if (after < 0)
        return s->lr * (double)(step < 0 ? 1 : step + 1) / (double)s->warmup;
    done = after >= rest ? 1 : (double)after / (double)rest;
    switch (s->kind) {
    case TSR_SCHEDULE_COSINE: return s->last + (s->lr - s->last) * (1 + cos(pi * done)) / 2;
    case TSR_SCHEDULE_LINEAR: return s->last + (s->lr - s->last) * (1 - done);
    case TSR_SCHEDULE_STEPS:
        return s->every > 0 ? s->lr * pow(s->factor, (double)(after / s->every)) : s->lr;
    default: return s->lr;
    }
}
