/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what the commands of the tool share: the command table's row, arguments, messages, text
   helpers and starting ranks. Public headers of the library only. */
#ifndef CLI_H
#define CLI_H

#include <jansson.h>
#include <stdio.h>
#include <tessera.h>

/* Exit statuses. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

enum { CLI_MAX_OPTIONS = 8, CLI_MAX_COMMANDS = 16 };

typedef struct cli_option {
    const char *name;  /* without the -- */
    const char *value; /* what it takes, e.g. "FILE"; NULL: nothing */
    const char *help;
} cli_option;

typedef struct cli_args cli_args;

/* A row of a program's command table. */
typedef struct cli_command {
    const char *name;
    const char *synopsis; /* what follows the name */
    const char *help;     /* one line */
    const char *details;  /* further lines of its help, examples */
    cli_option options[CLI_MAX_OPTIONS];
    int (*run)(const cli_args *args); /* gives the exit status */
} cli_command;

/* A command line: options by their place in the row, and the other words joined by blanks. */
struct cli_args {
    const cli_command *command;
    const char *value[CLI_MAX_OPTIONS]; /* NULL: not given */
    char *text;
    int n_words;
    int argc;
    char **argv; /* all of it, for starting the tool again under mpirun */
};

int cli_info(const cli_args *args);
int cli_ops(const cli_args *args);
int cli_kernels(const cli_args *args);
int cli_draw(const cli_args *args);
int cli_explain(const cli_args *args);
int cli_verify(const cli_args *args);
int cli_validate(const cli_args *args);
int cli_run(const cli_args *args);
int cli_tables(const cli_args *args);
int cli_calibrate(const cli_args *args);

/* ---- args.c ---- */

typedef struct cli_program {
    const cli_command *commands;
    int n_commands;     /* CLI_MAX_COMMANDS at most */
    const char *what;   /* what a command is called in its help, COMMAND */
    int name_width;     /* columns of their names there */
    const char *syntax; /* lines below each help: what the words in it mean */
} cli_program;

/* All of a program: finds the command, reads its arguments, runs it; or prints help. Gives the exit
   status. */
int cli_main(const cli_program *program, int argc, char **argv);

/* The value of an option ("" if it takes none), NULL if it was not given. */
const char *cli_option_of(const cli_args *args, const char *name);
/* The name that is most like `text`, NULL if none is. */
const char *cli_nearest(const char *text, const char *const *names, int n);

/* ---- report.c ---- */

/* One sentence on stderr, from the first rank only; gives CLI_USAGE or CLI_FAILED. */
int cli_bad(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The library's sentence; the exit status says whether the input or the run was at fault. */
int cli_error(const tsr_error *err);
/* What is being done, on stderr if that is a terminal; NULL: nothing more. */
void cli_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether this process prints: alone, or the first rank under mpirun. */
bool cli_speaks(void);
/* Print an object with an end of line, and free it; numbers with 6 digits, or with all of them. */
int cli_print_json(json_t *object);
int cli_print_json_exact(json_t *object);

/* ---- cli_text.c ---- */

enum { CLI_TEXT = 64 };

const char *cli_bytes(double bytes, char buf[CLI_TEXT]);     /* "16.0 MiB" */
const char *cli_seconds(double seconds, char buf[CLI_TEXT]); /* "2.10 ms" */
/* "64MiB", "4K", "100"; false if it is none of them, or too large */
bool cli_bytes_parse(const char *text, size_t n, int64_t *out);
const char *cli_world_name(tsr_world_kind world);
/* The name of a mesh dim, or its number. */
const char *cli_mdim_name(const tsr_mesh_shape *mesh, int mdim, char buf[CLI_TEXT]);
int cli_mesh_size(const tsr_mesh_shape *mesh);
/* World rank and coordinates of a mesh index. */
int cli_mesh_rank(const tsr_mesh_shape *mesh, int index, int coord[TSR_MAX_MESH]);
json_t *cli_json_ints(const int64_t *values, int n);

/* ---- steps.c: steps of a plan ---- */

/* The mesh dims of a step, "data,model", "-" for none. */
const char *cli_mdims_text(const tsr_mesh_shape *mesh, const tsr_step *step, char *buf, size_t n);
/* A plan, looked at once: on a huge mesh each look at a step counts the bytes of all ranks. */
typedef struct cli_plan {
    tsr_redist_info info;
    tsr_step *step; /* for free() */
} cli_plan;

/* Takes the library's plan, and frees it; NULL, or out of memory: step is NULL. */
cli_plan cli_plan_of(tsr_redist *plan);
/* "all-gather(1), slice(0)", "nothing to do" for none */
const char *cli_steps_text(const tsr_mesh_shape *mesh, const cli_plan *plan, char *buf, size_t n);
json_t *cli_steps_json(const tsr_mesh_shape *mesh, const cli_plan *plan);

/* ---- table.c: rows of cells, printed in columns ---- */

typedef struct cli_table {
    int n_cols, n_rows, cap;
    char **cell;       /* n_rows * n_cols */
    const char *align; /* one letter per column, l or r */
    bool failed;       /* out of memory */
} cli_table;

void cli_table_open(cli_table *table, const char *align);
/* One string per column, as many as letters in align. */
void cli_table_row(cli_table *table, const char *const *cells);
/* Print with an indent, the first row as a heading, and free it. */
void cli_table_close(cli_table *table, int indent);

/* ---- launch.c: ranks as processes ---- */

bool cli_under_mpi(void);
int cli_mpi_rank(void); /* 0 if not under mpirun */
int cli_mpi_size(void); /* 0 if not known */
/* The world that AUTO means here; false: TESSERA_WORLD is none. */
bool cli_world_resolve(tsr_world_kind *world);
/* Become `mpirun -n N PROGRAM ...` with the same arguments. Returns only on failure. */
int cli_mpi_exec(const cli_args *args, int ranks);
/* Is a command answered without ranks of this process, by a refusal of the sim world or by mpirun?
   Then *status is the exit status. */
bool cli_elsewhere(const cli_args *args, tsr_world_kind world, int ranks, int *status);

#endif
