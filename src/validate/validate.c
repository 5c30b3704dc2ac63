/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c - all checks of one op, and its flaws as a report. Called by the tool and by tests. */
#include "validate/validate.h"
#include "base/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/text.h"
#include "op/op_table.h"

void tsr__flaw_add(tsr_validation *report, tsr_flaw_kind kind, const char *line, const char *format,
                   ...)
{
    tsr_flaw *flaw = &report->flaw[report->n_flaws];
    va_list list;

    report->unsound += kind == TSR_FLAW_UNSOUND;
    report->missing += kind == TSR_FLAW_MISSING;
    report->wrong += kind == TSR_FLAW_WRONG;
    if (report->n_flaws == TSR_FLAWS)
        return;
    report->n_flaws++;
    flaw->kind = kind;
    snprintf(flaw->line, sizeof flaw->line, "%s", line);
    va_start(list, format);
    tsr__vformat(flaw->text, sizeof flaw->text, format, list);
    va_end(list);
}

bool tsr__refuses_dtypes(const tsr_op *op)
{
    for (const tsr_family *family = tsr__op_families(); family->rows && op->shape; family++)
        for (const tsr_op *row = family->rows; row->name; row++)
            if (row->shape == op->shape)
                return true;
    return false;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tsr_status tsr_validate(const tsr_op *op, tsr_validation *out, tsr_error *err)
{
    TSR_NEED(TSR_ERR_ARG, err, op, out);

    tsr_heap heap = {0};
    tsr_validation report = {0};
    tsr_validator v = {.heap = &heap,
                       .op = op,
                       .report = &report,
                       .known = {.heap = &heap},
                       .unsound = {.heap = &heap},
                       .missing = {.heap = &heap}};
    double begin = now();
    tsr_status st;

    TSR_TRY(tsr__row_check(op, NULL, err));
    while (op->cases && op->cases[report.cases])
        report.cases++;
    report.runs_only = !op->kernel; /* on ranks that are only imagined nothing moves */
    if (report.cases == 0)
        return tsr__fail(err, TSR_ERR_ARG, "%s cannot be validated: its row has no cases",
                         op->name);
    if (!report.runs_only) {
        TSR_TRY(tsr__check_rules(&v, err));
        TSR_TRY(tsr__check_missing(&v, err));
    }
    if (report.unsound == 0) /* runs trust the rules: kernels would get parts that do not fit */
        TSR_TRY(tsr__check_runs(&v, err));
    if (report.unsound + report.wrong == 0)
        TSR_TRY(tsr__check_gradients(&v, err));
    report.seconds = now() - begin;
    *out = report;
done:
    tsr__rules_free(&v.known);
    tsr__rules_free(&v.unsound);
    tsr__rules_free(&v.missing);
    return st;
}
