/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the tool: its command table. Each command is a file of its own, cmd_NAME.c; args.c finds
   it and prints the help that follows from the table. */
#include "cli.h"

#define JSON {"json", NULL, "print one JSON object"}

static const cli_command commands[] = {
    {.name = "info",
     .synopsis = "[--json]",
     .help = "version, worlds, dtypes, limits, settings and default costs",
     .options = {JSON},
     .run = cli_info},
    {.name = "ops",
     .synopsis = "[OP...] [--json]\n       tessera ops --markdown [--json]",
     .help = "the ops, or details of some: inputs, attributes, sharding",
     .options = {{"markdown", NULL, "all ops as the list of docs/ops.md"}, JSON},
     .run = cli_ops},
    {.name = "kernels",
     .synopsis = "[CATEGORY | OP | CATEGORY.OP] [--json]",
     .help = "the kernels by SKU, and which variant this processor uses",
     .details = "  tessera kernels pointwise\n"
                "  tessera kernels reduction.max --json\n",
     .options = {JSON},
     .run = cli_kernels},
    {.name = "draw",
     .synopsis =
         "\"TENSOR mesh=MESH\" [--svg FILE] [--color WHEN] [--json]\n"
         "       tessera draw \"OP TENSOR ... mesh=MESH [KEY=VALUE ...]\" [--rank RANK] [...]",
     .help = "which rank holds which elements, or an op's halo, as a picture and a table",
     .details = "  tessera draw \"f32[5,3]@[S(0),S(1)] mesh=2x2\"\n"
                "  tessera draw \"f32[8,6]@[SS(0,2),R] mesh=data=2,model=2\" --svg layout.svg\n"
                "  tessera draw \"conv f32[1,1,12,16]@[S(2),S(3)] f32[1,1,5,5] padding=2 "
                "mesh=2x2\"\n",
     .options = {{"rank", "RANK",
                  "for an op: the rank to show (default: the one that receives most)"},
                 {"svg", "FILE", "write the picture as SVG; - is the standard output"},
                 {"color", "WHEN", "auto (on terminals), always or never"},
                 JSON},
     .run = cli_draw},
    {.name = "explain",
     .synopsis = "\"redistribute TENSOR -> PLACEMENTS mesh=MESH [KEY=VALUE ...]\" [--json]\n"
                 "       tessera explain \"OP TENSOR ... mesh=MESH [KEY=VALUE ...]\" [--rules] "
                 "[--json]",
     .help =
         "the plan of a redistribution or an op, its costs and alternatives, without running it",
     .details =
         "  tessera explain \"redistribute f32[4096,4096]@[S(0),R] -> [S(1),P(sum)] mesh=2x4\"\n"
         "  tessera explain \"f32[4096,4096]@[S(0),R] -> [S(0)] mesh=2x4 to=4\"\n"
         "  tessera explain \"matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2\"\n"
         "  tessera explain \"sum f32[64,128]@[S(0),R] dims=0 -> [R,R] mesh=2x2\" --rules\n",
     .options = {{"rules", NULL, "for an op: its rules for one mesh dim, one per line"}, JSON},
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
     .options = {{"all-placements", NULL, "for an op: every placement of its inputs"},
                 {"spoil", "RANK",
                  "corrupt an element on that rank first, to see that it is detected"},
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
     .help = "check the sharding rules of ops against their definitions: all hold, none is missing",
     .details = "  tessera validate\n"
                "  tessera validate matmul softmax\n",
     .options = {JSON},
     .run = cli_validate},
    {.name = "tables",
     .synopsis = "FILE|\"NAME:ROWSxCOLUMNS:DTYPE:LOOKUPS:LENGTH[:POOLING] ...\" mesh=RANKS\n"
                 "       [memory=BYTES] [train=true] [cost=COST] [--json]",
     .help = "choose how embedding tables are sharded, within a memory limit",
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
};

static const char SYNTAX[] =
    "TENSOR      f32[2048,256]@[S(0),R]: dtype, shape, one placement per mesh dim\n"
    "PLACEMENTS  [S(1),R] of R, S(dim), SS(dim,factor), P(sum|avg|min|max|prod)\n"
    "MESH        2x4 or data=2,model=4; 2x2@4 begins at rank 4\n"
    "KEY=VALUE   to=MESH (target on another mesh)  cost=default|torch|random:SEED|file:PATH|...\n"
    "            limit=BYTES (memory per rank)     world=auto|thread|mpi|sim\n"
    "            seed=N (of the data of verify and run, and the attribute of random ops)\n"
    "            for ops also attributes, dim=1; tessera ops lists ops and attributes\n";

int main(int argc, char **argv)
{
    const cli_program program = {.commands = commands,
                                 .n_commands = sizeof commands / sizeof commands[0],
                                 .what = "COMMAND",
                                 .name_width = 10,
                                 .syntax = SYNTAX};

    return cli_main(&program, argc, argv);
}
