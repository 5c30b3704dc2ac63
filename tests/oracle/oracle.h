/* SPDX-License-Identifier: Apache-2.0 */
/* oracle.h - what the parts of the oracle runner share: a case as its file says it and as our ops
   understand it, and what was found out about it. */
#ifndef TSR_TESTS_ORACLE_H
#define TSR_TESTS_ORACLE_H

#include <jansson.h>

#include "op/op.h"
#include "tessera_ext.h"

enum {
    ORACLE_ATTRS = 8,
    ORACLE_NAMES = 64,
    ORACLE_MESHES = 32,
    ORACLE_TERMS = 4096,
    ORACLE_PARTS = 3
};

typedef struct oracle_opts {
    const char *mesh;       /* propagation: only cases on it; numeric: run on it; NULL: any, 2x2,
                               or all ranks of MPI */
    tsr_world_kind world;   /* numeric: where to run */
    const char *placements; /* numeric: "all" or "random:SEED:COUNT" */
    const char *exceptions; /* NULL: look for the file */
    bool json;              /* print what we chose */
    int n_ops;              /* ops that must be there */
    const char *op[ORACLE_NAMES];
} oracle_opts;

/* A mesh of the file, with the cost numbers that PyTorch used on it. */
typedef struct oracle_mesh {
    char name[TSR_TEXT_LEN];
    tsr_mesh_shape shape;
    tsr_cost cost;
} oracle_mesh;

/* A line of a file, and where it stands. */
typedef struct oracle_line {
    const char *file;
    int number;
    json_t *json;
} oracle_line;

/* A propagation case, or one of our ops that together do what the aten call does: parts, which
   share its tensors and its cost. Inputs are in the order of our op, which may differ from aten's.
   */
typedef struct oracle_case {
    oracle_line line;
    const char *label, *aten;
    const oracle_mesh *mesh;
    const char *op; /* ours */
    int n_in, n_attrs;
    tsr_spec in[TSR_OP_INPUTS], use[TSR_OP_INPUTS]; /* given, and what PyTorch brings them to */
    int n_out;
    tsr_spec out[TSR_OP_OUTPUTS];  /* what PyTorch gets */
    int aten_out;                  /* which of aten's outputs the first of them is */
    int aten_place[TSR_OP_INPUTS]; /* where an input stands among aten's tensors */
    char attr[ORACLE_ATTRS][TSR_TEXT_LEN];
    double cost_us; /* PyTorch's */
} oracle_case;

/* What was found out about a case, all its parts together; the first three are what must not be.
   Tensors that several parts read count once for PyTorch; for us once per place that parts want
   them in, as a composed op moves them. */
typedef struct oracle_findings {
    bool dearer;       /* (1) our chosen strategy costs more than PyTorch's */
    bool dearer_moves; /* (2) bringing the inputs where PyTorch wants them costs us more */
    bool unknown_rule; /* (3) what PyTorch does is no strategy by our rules */
    bool free_moves;   /* (3) holds, but only after free moves */
    double chosen_us;
    double moves_us, move_us[TSR_OP_INPUTS]; /* to PyTorch's placements, all and by aten_place */
    double implicit_us; /* all, as the search over strategies sees it; may be infinite */
    tsr_op_strategy way[ORACLE_PARTS]; /* ours */
} oracle_findings;

typedef enum oracle_result {
    ORACLE_PASSED,
    ORACLE_FAILED,
    ORACLE_EXCEPTION,
    ORACLE_NOT_THERE, /* no op of ours does this yet */
    ORACLE_SKIPPED    /* on another mesh than the one asked for */
} oracle_result;

/* oracle_map.c: from an aten call to ours, its parts into out. NOT_THERE if no op of ours does it;
   FAILED with a sentence if the line cannot be understood. */
oracle_result oracle_map(const oracle_line *line, const oracle_mesh *meshes, int n_meshes,
                         oracle_case out[ORACLE_PARTS], int *n_parts, tsr_error *err);
tsr_status oracle_mesh_read(const json_t *json, oracle_mesh *out, tsr_error *err);

/* Is input k of a part one that no part before it, and no input before it, is made of? */
bool oracle_is_first(const oracle_case *parts, int part, int k);

/* oracle_check.c: the three checks; and what we chose, as JSON. */
tsr_status oracle_check(const oracle_case *parts, int n, oracle_findings *out, tsr_error *err);
tsr_status oracle_chosen(const oracle_case *c, const tsr_op_strategy *way, double us, json_t **out,
                         tsr_error *err);

/* oracle_torch.c: PyTorch's steps for a redistribution, and what an element's terms, one per
   coordinate on the partial mesh dims, are worth: by definition, the last mesh dim first, and when
   they are reduced in the order of those steps. */
typedef struct oracle_steps {
    double us;
    int n_resolved, resolved[TSR_MAX_MESH]; /* partial mesh dims, in the order of their reduction */
} oracle_steps;
void oracle_torch_steps(const oracle_mesh *mesh, const tsr_spec *from, const tsr_spec *to,
                        oracle_steps *out);
int oracle_n_terms(const tsr_spec *spec);
double oracle_value(const tsr_spec *spec, const double *terms);
double oracle_torch_value(const tsr_spec *spec, const oracle_steps *steps, const double *terms);
/* Terms for which the two differ, if there are any. */
bool oracle_disproof(const tsr_spec *spec, const oracle_steps *steps, double *terms);

/* oracle_exceptions.c: the file of PyTorch's mistakes, whose counter-examples are executed when it
   is read. Is a mistake proven for this case, and does it explain all that was found? */
typedef struct oracle_exceptions oracle_exceptions;
tsr_status oracle_exceptions_read(const char *path, oracle_exceptions **out, tsr_error *err);
bool oracle_excused(const oracle_exceptions *list, const oracle_case *parts, int n,
                    const oracle_findings *f, bool *listed);
void oracle_exceptions_free(oracle_exceptions *list);

/* A numeric case as calls of our ops. Numbers are small integers unless said otherwise. */
typedef struct oracle_array {
    tsr_shape shape;
    bool index;   /* i32 or i64, else floating point */
    bool partial; /* may be placed P(sum) */
    int64_t n;
    double *data; /* NULL: absent */
} oracle_array;

/* What an output must be: NULL if its value has no data; else equal, or within so many ulp of what
   `terms` says for each element, the sum of the absolute terms. `wide` is the same with inputs up
   to ORACLE_SLACK larger, which is what the parts of partial inputs are. */
typedef struct oracle_want {
    oracle_array value;
    double ulps;
    double *terms, *wide;
} oracle_want;

enum { ORACLE_IN = 4, ORACLE_OUT = 3, ORACLE_CALLS = 5, ORACLE_SLACK = 8 };

typedef struct oracle_call {
    const char *name;
    int n_in, n_out;
    const oracle_array *in[ORACLE_IN]; /* NULL: absent */
    oracle_want out[ORACLE_OUT];
    /* fills out; the inputs are where the tuple of placements says */
    void (*run)(const void *arg, tsr_tensor *const *in, tsr_tensor **out);
    const void *arg;
} oracle_call;

/* oracle_embedding.c: a case as calls, and what they hold. */
typedef struct oracle_embedding oracle_embedding;
tsr_status oracle_embedding_read(const json_t *json, oracle_embedding **out, tsr_error *err);
const oracle_call *oracle_embedding_calls(const oracle_embedding *e, int *n);
void oracle_embedding_free(oracle_embedding *e);
/* oracle_conv.c: the same; the number of the case decides about an output mask. */
typedef struct oracle_conv oracle_conv;
tsr_status oracle_conv_read(const json_t *json, int number, oracle_conv **out, tsr_error *err);
const oracle_call *oracle_conv_calls(const oracle_conv *c, int *n);
void oracle_conv_free(oracle_conv *c);
/* The tensor of a case by its name, or a plain list; data NULL if it is null or absent. */
tsr_status oracle_array_read(const json_t *json, const char *name, bool index, oracle_array *out,
                             tsr_error *err);

/* oracle_numeric.c: a case with values. NOT_THERE with the op's name in *op as long as the table
   has no function for it. */
oracle_result oracle_numeric(const oracle_line *line, const oracle_opts *opts, const char **op,
                             tsr_error *err);

#endif
