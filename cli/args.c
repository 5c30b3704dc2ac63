/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - the command line against a command's row: options, words, and the nearest match for what
   is unknown. Called by main.c. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 40 };

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbouring letters that turn a into b. */
static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b), d[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];

    if (n > NAME_MAX_LEN || m > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least_of(d[i][j], least_of(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least_of(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

/* A third of the letters may be wrong, but one in any case. */
const char *cli_nearest(const char *text, const char *const *names, int n)
{
    const char *best = NULL;
    int length = (int)strlen(text), least = (length < 3 ? 3 : length) / 3 + 1;

    for (int i = 0; i < n; i++) {
        int d = distance(text, names[i]);

        if (length > 1 && strncmp(text, names[i], (size_t)length) == 0)
            d = 0; /* an abbreviation */
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

static int option_index(const cli_command *command, const char *name, size_t n)
{
    for (int i = 0; i < CLI_MAX_OPTIONS && command->options[i].name; i++)
        if (strlen(command->options[i].name) == n &&
            strncmp(command->options[i].name, name, n) == 0)
            return i;
    return -1;
}

const char *cli_option_of(const cli_args *args, const char *name)
{
    int i = option_index(args->command, name, strlen(name));

    return i < 0 ? NULL : args->value[i];
}

static bool unknown_option(const cli_command *command, const char *word)
{
    const char *names[CLI_MAX_OPTIONS], *near;
    char name[NAME_MAX_LEN + 1];
    int n = 0;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    while (n < CLI_MAX_OPTIONS && command->options[n].name) {
        names[n] = command->options[n].name;
        n++;
    }
    near = cli_nearest(name, names, n);
    if (near)
        cli_bad("%s: unknown option \"%s\"; did you mean --%s?", command->name, word, near);
    else
        cli_bad("%s: unknown option \"%s\"; tessera help %s lists them", command->name, word,
                command->name);
    return false;
}

/* --name, --name=value or --name value, at *i */
static bool read_option(cli_args *args, int *i)
{
    const char *word = args->argv[*i], *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
    int k = option_index(args->command, word + 2, n);
    const cli_option *option;

    if (k < 0)
        return unknown_option(args->command, word);
    option = &args->command->options[k];
    if (!option->value && equals) {
        cli_bad("%s: --%s takes no value", args->command->name, option->name);
        return false;
    }
    if (option->value && !equals && *i + 1 >= args->argc) {
        cli_bad("%s: --%s needs a value, %s", args->command->name, option->name, option->value);
        return false;
    }
    if (!option->value)
        args->value[k] = "";
    else
        args->value[k] = equals ? equals + 1 : args->argv[++*i];
    return true;
}

bool cli_args_read(const cli_command *command, int argc, char **argv, cli_args *out)
{
    cli_args args = {.command = command, .argc = argc, .argv = argv};
    size_t room = 1;
    bool words_only = false;

    for (int i = 2; i < argc; i++)
        room += strlen(argv[i]) + 1;
    args.text = calloc(1, room);
    if (!args.text) {
        cli_failed("out of memory");
        return false;
    }
    for (int i = 2; i < argc; i++) {
        if (!words_only && strcmp(argv[i], "--") == 0) {
            words_only = true;
        } else if (!words_only && strncmp(argv[i], "--", 2) == 0) {
            if (!read_option(&args, &i)) {
                free(args.text);
                return false;
            }
        } else if (!words_only && argv[i][0] == '-' && argv[i][1] && argv[i][1] != '>') {
            unknown_option(command, argv[i]);
            free(args.text);
            return false;
        } else {
            if (args.n_words++)
                strcat(args.text, " ");
            strcat(args.text, argv[i]);
        }
    }
    *out = args;
    return true;
}
