/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what the tool says: sentences and progress on stderr, objects on stdout. Under mpirun
   only the first rank speaks. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

bool cli_speaks(void)
{
    return cli_mpi_rank() == 0;
}

static void say(const char *format, va_list list)
{
    char line[4096];

    vsnprintf(line, sizeof line, format, list);
    for (char *p = line; *p; p++) /* words of the user, or of a file, do not steer the terminal */
        if (iscntrl((unsigned char)*p))
            *p = '?';
    cli_progress(NULL);
    if (cli_speaks())
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
}

int cli_bad(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(format, list);
    va_end(list);
    return CLI_USAGE;
}

int cli_failed(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(format, list);
    va_end(list);
    return CLI_FAILED;
}

int cli_error(const tsr_error *err)
{
    switch (err->code) {
    case TSR_ERR_ARG:
    case TSR_ERR_PARSE:
    case TSR_ERR_SHAPE:
    case TSR_ERR_DTYPE:
    case TSR_ERR_SPEC:
    case TSR_ERR_MESH:
    case TSR_ERR_FORMAT: return cli_bad("%s", err->text);
    default: return cli_failed("%s", err->text[0] ? err->text : tsr_status_text(err->code));
    }
}

void cli_progress(const char *format, ...)
{
    char line[256];
    va_list list;

    if (!isatty(STDERR_FILENO) || !cli_speaks())
        return;
    if (!format) {
        fputs("\r\033[K", stderr);
        return;
    }
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

static int print_json(json_t *object, int digits)
{
    size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(digits);
    int rc = CLI_OK;

    if (!object)
        return cli_failed("out of memory");
    if (cli_speaks() && json_dumpf(object, stdout, flags) != 0)
        rc = cli_failed("a result cannot be written as JSON");
    else if (cli_speaks())
        putchar('\n');
    json_decref(object);
    return rc;
}

int cli_print_json(json_t *object)
{
    return print_json(object, 6);
}

int cli_print_json_exact(json_t *object)
{
    return print_json(object, 17);
}
