/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the tool: its command table, and the help that follows from it. Each command is a file
   of its own, cmd_NAME.c. Exit status: 0 done, 1 a check or a run failed, 2 wrong usage or bad
   input. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define JSON {"json", NULL, "print one JSON object"}

static const cli_command commands[] = {
    {.name = "info",
     .synopsis = "[--json]",
     .help = "version, worlds, dtypes, limits, settings and default costs",
     .options = {JSON},
     .run = cli_info},
    {.name = "ops",
     .synopsis = "[OP...] [--json]\n       tessera ops --coverage|--markdown [--json]",
     .help = "the ops, or all of some: inputs, attributes, how they shard; what ONNX has of them",
     .options = {{"coverage", NULL, "the operators of ONNX: by which ops, and what is missing"},
                 {"markdown", NULL, "all ops as the list of docs/ops.md"},
                 JSON},
     .run = cli_ops},
    {.name = "kernels",
     .synopsis = "[CATEGORY | OP | CATEGORY.OP] [--json]",
     .help = "the kernels by SKU, and which variant this processor gets",
     .details = "  tessera kernels pointwise\n"
                "  tessera kernels reduction.max --json\n",
     .options = {JSON},
     .run = cli_kernels},
    {.name = "draw",
     .synopsis =
         "\"TENSOR mesh=MESH\" [--svg FILE] [--color WHEN] [--json]\n"
         "       tessera draw \"OP TENSOR ... mesh=MESH [KEY=VALUE ...]\" [--rank RANK] [...]",
     .help = "which rank holds which elements, or needs which of others, as a picture and a table",
     .details = "  tessera draw \"f32[5,3]@[S(0),S(1)] mesh=2x2\"\n"
                "  tessera draw \"f32[8,6]@[SS(0,2),R] mesh=data=2,model=2\" --svg layout.svg\n"
                "  tessera draw \"conv f32[1,1,12,16]@[S(2),S(3)] f32[1,1,5,5] padding=2 "
                "mesh=2x2\"\n",
     .options = {{"rank", "RANK", "of an op: who looks; the one that receives most if not given"},
                 {"svg", "FILE", "write the picture as SVG; - is the standard output"},
                 {"color", "WHEN", "auto (on terminals), always or never"},
                 JSON},
     .run = cli_draw},
    {.name = "explain",
     .synopsis = "\"redistribute TENSOR -> PLACEMENTS mesh=MESH [KEY=VALUE ...]\" [--json]\n"
                 "       tessera explain \"OP TENSOR ... mesh=MESH [KEY=VALUE ...]\" [--rules] "
                 "[--json]",
     .help = "the plan of a redistribution or an op, its rivals and costs, without running it",
     .details =
         "  tessera explain \"redistribute f32[4096,4096]@[S(0),R] -> [S(1),P(sum)] mesh=2x4\"\n"
         "  tessera explain \"f32[4096,4096]@[S(0),R] -> [S(0)] mesh=2x4 to=4\"\n"
         "  tessera explain \"matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2\"\n"
         "  tessera explain \"sum f32[64,128]@[S(0),R] dims=0 -> [R,R] mesh=2x2\" --rules\n",
     .options = {{"rules", NULL, "of an op: its rules for one mesh dim, one per line"}, JSON},
     .run = cli_explain},
    {.name = "verify",
     .synopsis = "\"redistribute TENSOR -> PLACEMENTS mesh=MESH [KEY=VALUE ...]\" [--json]\n"
                 "       tessera verify \"OP TENSOR ... mesh=MESH [KEY=VALUE ...]\" "
                 "[--all-placements] [--json]",
     .help = "run a redistribution or an op on random data and check every element",
     .details =
         "  tessera verify \"redistribute f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2 cost=random:17\"\n"
         "  tessera verify \"i32[7]@[P(sum),P(max)] -> [S(0),R] mesh=2x2 world=mpi seed=3\"\n"
         "  tessera verify \"matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2\"\n"
         "  tessera verify \"softmax f32[5,7] dim=0 mesh=2x2\" --all-placements\n",
     .options = {{"all-placements", NULL, "of an op: every way to place its inputs"},
                 {"spoil", "RANK", "change an element there first, to see that it is found"},
                 JSON},
     .run = cli_verify},
    {.name = "run",
     .synopsis =
         "\"redistribute [TENSOR] -> PLACEMENTS mesh=MESH [...]\" [--in FILE] [--out FILE]\n"
         "       tessera run \"OP TENSOR ... mesh=MESH [...]\" [--in FILE,...] "
         "[--out FILE,...] [--json]",
     .help = "redistribute or run an op on random data or npy files, print or save the result",
     .details =
         "  tessera run \"matmul f32[6,4]@[S(0),R] f32[4,5]@[R,S(1)] mesh=2x2\"\n"
         "  tessera run \"redistribute f32[5,3]@[S(0),R] -> [R,S(1)] mesh=2x2 seed=3\"\n"
         "  tessera run \"@[S(0),R] -> [S(1),R] mesh=2x2\" --in x.npy --out y.npy\n"
         "  tessera run \"matmul @[S(0),R] @[R,S(1)] mesh=2x2\" --in a.npy,b.npy --out c.npy\n",
     .options =
         {{"in", "FILE",
           "the npy file to read; for an op one per input, a.npy,b.npy; else seed= fills them"},
          {"out", "FILE",
           "the npy file to write; for an op one per output, y.npy,z.npy; else printed"},
          JSON},
     .run = cli_run},
    {.name = "validate",
     .synopsis = "[OP ...] [--json]",
     .help = "check the rules of ops against their definitions: all hold, none is missing",
     .details = "  tessera validate\n"
                "  tessera validate matmul softmax\n",
     .options = {JSON},
     .run = cli_validate},
    {.name = "tables",
     .synopsis = "FILE|\"NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH[:POOLING] ...\" mesh=RANKS\n"
                 "       [memory=BYTES] [train=true] [cost=COST] [--json]",
     .help = "where the tables of a group of lookups should live, within memory",
     .details =
         "  tessera tables \"user:5000000x64:f32:4096:1 item:200000x64:f32:4096:20\" "
         "mesh=4 memory=1GiB\n"
         "  tessera tables tables.txt mesh=8 memory=16GiB train=true\n\n"
         "LOOKUPS are results per batch over all ranks, LENGTH the mean ids of each, POOLING "
         "sum (when\nnot given), mean, max or none. A file has the same words; # begins a "
         "comment.\n",
     .options = {JSON},
     .run = cli_tables},
    {.name = "calibrate",
     .synopsis = "[mesh=MESH] [world=WORLD] [--out FILE] [--json]",
     .help = "measure latency and bandwidth of this machine for the cost model",
     .details = "  tessera calibrate mesh=2x2 --out cost.txt\n"
                "  tessera explain \"... cost=file:cost.txt\"\n",
     .options = {{"out", "FILE", "save the numbers as a cost file"}, JSON},
     .run = cli_calibrate},
    {.name = "bench",
     .synopsis = "redistribute [--size LIST] [--ranks LIST] [world=WORLD] [--json]\n"
                 "       tessera bench plan|dispatch|conv|ops|train [--json]\n"
                 "       tessera bench propagate [mesh=MESH] [--json]\n"
                 "       tessera bench embedding [--size LIST] [--ranks LIST] [--json]\n"
                 "       tessera bench world [--ranks LIST] [world=WORLD] [--json]",
     .help = "time redistributions, planning, calls, lookups, ops, steps of training, or barriers",
     .details =
         "  redistribute  moves, beside what cannot be avoided; --size, --ranks, world=\n"
         "  plan          finding the cheapest redistribution\n"
         "  propagate     finding the cheapest strategy of an op, without the cache; mesh=\n"
         "  dispatch      what a call costs beyond its kernel\n"
         "  embedding     lookups, bags and their gradients; --size (of the table), --ranks\n"
         "  conv          convolutions and their gradients, beside oneDNN\n"
         "  ops           single ops beside memcpy and sgemm, on 1 and 2 ranks\n"
         "  train         steps of training of three networks, on 1, 2 and 4 ranks\n"
         "  world         barriers and small all-reduces; --ranks, world=\n\n"
         "  tessera bench redistribute --size 4MiB,64MiB --ranks 2,4\n"
         "  tessera bench propagate mesh=2x2\n"
         "  tessera bench embedding --size 256000000 --ranks 2\n"
         "  mpirun -n 4 tessera bench world\n",
     .options = {{"size", "LIST", "bytes of the whole tensor or table, 4MiB,64MiB when not given"},
                 {"ranks", "LIST", "numbers of ranks, 2,4 when not given"},
                 JSON},
     .run = cli_bench},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const char SYNTAX[] =
    "TENSOR      f32[2048,256]@[S(0),R]: dtype, shape, one placement per mesh dim\n"
    "PLACEMENTS  [S(1),R] of R, S(dim), SS(dim,factor), P(sum|avg|min|max|prod)\n"
    "MESH        2x4 or data=2,model=4; 2x2@4 begins at rank 4\n"
    "KEY=VALUE   to=MESH (target on another mesh)  cost=default|torch|random:SEED|file:PATH|...\n"
    "            limit=BYTES (memory per rank)     world=auto|thread|mpi|sim\n"
    "            seed=N (of the data of verify and run, and the attribute of random ops)\n"
    "            for ops also attributes, dim=1; tessera ops lists ops and attributes\n";

static void print_usage(FILE *to)
{
    fprintf(to, "usage: tessera COMMAND [ARGUMENT ...]\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(to, "\n  tessera help COMMAND   how to use it\n  tessera --version\n\n%s\n", SYNTAX);
    fprintf(to, "Exit status: 0 done, 1 a check or a run failed, 2 wrong usage or bad input.\n");
}

static void print_help(const cli_command *command)
{
    printf("usage: tessera %s %s\n\n%s\n", command->name, command->synopsis, command->help);
    for (int i = 0; i < CLI_MAX_OPTIONS && command->options[i].name; i++) {
        const cli_option *o = &command->options[i];
        char left[40];

        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("%s  %-16s %s\n", i ? "" : "\n", left, o->help);
    }
    if (command->details)
        printf("\n%s\n%s", command->details, SYNTAX);
}

static const cli_command *find_command(const char *name)
{
    const char *names[N_COMMANDS + 1], *near;

    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
        names[i] = commands[i].name;
    }
    names[N_COMMANDS] = "help";
    near = cli_nearest(name, names, N_COMMANDS + 1);
    if (near)
        cli_bad("unknown command \"%s\"; did you mean %s?", name, near);
    else
        cli_bad("unknown command \"%s\"; tessera --help lists them", name);
    return NULL;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int help(int argc, char **argv)
{
    const cli_command *command;

    if (argc < 3) {
        print_usage(stdout);
        return CLI_OK;
    }
    command = find_command(argv[2]);
    if (!command)
        return CLI_USAGE;
    print_help(command);
    return CLI_OK;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_args args;
    int status;

    if (!cli_args_read(command, argc, argv, &args))
        return CLI_USAGE;
    status = command->run(&args);
    free(args.text);
    return status;
}

int main(int argc, char **argv)
{
    const cli_command *command;
    int status;

    if (argc < 2) {
        if (cli_speaks())
            print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tessera %s\n", tsr_version());
        return CLI_OK;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc, argv);
    command = find_command(argv[1]);
    if (!command)
        return CLI_USAGE;
    if (wants_help(argc, argv)) {
        print_help(command);
        return CLI_OK;
    }
    status = run_command(command, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_failed("the output cannot be written");
    return status;
}
