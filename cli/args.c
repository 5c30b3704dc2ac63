/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - the command line against a table of commands: the command, its options and words, the
   nearest match for what is unknown, and the help that follows from the table. Called by main.c and
   by bench/tessera_bench.c. */
#include "cli.h"

#include <errno.h>
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
        cli_bad("%s: unknown option \"%s\"; %s help %s lists them", command->name, word,
                program_invocation_short_name, command->name);
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

/* Fills args from argv[2..]; false: a message was printed. out->text is the caller's. */
static bool read_args(const cli_command *command, int argc, char **argv, cli_args *out)
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

/* ---- commands ---- */

static void print_usage(const cli_program *program, FILE *to)
{
    const char *self = program_invocation_short_name;

    fprintf(to, "usage: %s %s [ARGUMENT ...]\n\n", self, program->what);
    for (int i = 0; i < program->n_commands; i++)
        fprintf(to, "  %-*s %s\n", program->name_width, program->commands[i].name,
                program->commands[i].help);
    fprintf(to, "\n  %s help %s   how to use it\n  %s --version\n\n%s\n", self, program->what, self,
            program->syntax);
    fprintf(to, "Exit status: 0 done, 1 a check or a run failed, 2 wrong usage or bad input.\n");
}

static void print_help(const cli_program *program, const cli_command *command)
{
    printf("usage: %s %s %s\n\n%s\n", program_invocation_short_name, command->name,
           command->synopsis, command->help);
    for (int i = 0; i < CLI_MAX_OPTIONS && command->options[i].name; i++) {
        const cli_option *o = &command->options[i];
        char left[40];

        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("%s  %-16s %s\n", i ? "" : "\n", left, o->help);
    }
    if (command->details)
        printf("\n%s\n%s", command->details, program->syntax);
}

static const cli_command *find_command(const cli_program *program, const char *name)
{
    const char *names[CLI_MAX_COMMANDS + 1], *near;

    for (int i = 0; i < program->n_commands; i++) {
        if (strcmp(program->commands[i].name, name) == 0)
            return &program->commands[i];
        names[i] = program->commands[i].name;
    }
    names[program->n_commands] = "help";
    near = cli_nearest(name, names, program->n_commands + 1);
    if (near)
        cli_bad("unknown command \"%s\"; did you mean %s?", name, near);
    else
        cli_bad("unknown command \"%s\"; %s --help lists them", name,
                program_invocation_short_name);
    return NULL;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_args args;
    int status;

    if (!read_args(command, argc, argv, &args))
        return CLI_USAGE;
    status = command->run(&args);
    free(args.text);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_failed("the output cannot be written");
    return status;
}

int cli_main(const cli_program *program, int argc, char **argv)
{
    bool help = argc > 1 && strcmp(argv[1], "help") == 0;
    const cli_command *command;

    if (argc < 2) {
        if (cli_speaks())
            print_usage(program, stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc < 3)) {
        print_usage(program, stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("%s %s\n", program_invocation_short_name, tsr_version());
        return CLI_OK;
    }
    command = find_command(program, argv[help ? 2 : 1]);
    if (!command)
        return CLI_USAGE;
    if (!help && !wants_help(argc, argv))
        return run_command(command, argc, argv);
    print_help(program, command);
    return CLI_OK;
}
