/* SPDX-License-Identifier: Apache-2.0 */
/* tessera_ext.h - for those who test, measure or extend Tessera: faults on request, and a library's
   own collectives to compare with, ops of one's own, and how calls are planned. */
#ifndef TESSERA_EXT_H
#define TESSERA_EXT_H

#include <tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make the n-th allocation of this rank from now on fail (1 is the next one); 0: none. Local. */
TSR_API void tsr_fault_alloc(tsr_mesh *mesh, int64_t n);
/* Make the n-th collective call of this rank from now on fail before it begins; 0: none. Local. */
TSR_API void tsr_fault_call(tsr_mesh *mesh, int64_t n);
/* Allocations made by this rank so far, and those not yet freed. Local. */
TSR_API int64_t tsr_allocations(const tsr_mesh *mesh);
TSR_API int64_t tsr_allocations_live(const tsr_mesh *mesh);

/* The transport's own collective over all ranks of the world (MPI_Allgather and so on) as a
   yardstick: no fingerprints, no timeouts. TSR_ERR_UNAVAILABLE where there is none. Collective. */
TSR_API tsr_status tsr_native(tsr_mesh *mesh, const tsr_collective *call);

/* ---- an op is one row ------------------------------------------------------------------------ */

/* Built-in ops and those of a program are rows of the same kind: inputs and attributes, how the op
   shards along one mesh dim, how its outputs' shapes follow, and what computes it on one rank.
   Dispatch, search, validator, tool and docs work from the row alone. */

enum {
    TSR_OP_INPUTS = 12,
    TSR_OP_OUTPUTS = 4,
    TSR_OP_ATTRS = 10,
    TSR_OP_NUMBERS = 12,
    TSR_OP_WINDOWS = 12
};

typedef struct tsr_op tsr_op;

/* The value of an attribute; the row says which of these it uses. */
typedef struct tsr_attr {
    int n; /* ints given, or of which a text takes the place; -1: the attribute was left out */
    union {
        int64_t i[TSR_MAX_DIM];     /* int, bool, dtype and choices use the first */
        char text[8 * TSR_MAX_DIM]; /* ended and filled up by zeros */
    };
    double f;
} tsr_attr;

typedef struct tsr_attrs {
    tsr_attr value[TSR_OP_ATTRS]; /* in the order of the row */
} tsr_attrs;

/* A call as planning sees it. */
typedef struct tsr_schema {
    const tsr_op *op;
    int n_in, n_out;
    tsr_spec in[TSR_OP_INPUTS]; /* an absent optional input has ndim -1 */
    tsr_attrs attrs;
    /* set by the row's shape function; an output that is switched off has ndim -1 */
    tsr_dtype out_dtype[TSR_OP_OUTPUTS];
    tsr_shape out_shape[TSR_OP_OUTPUTS];
} tsr_schema;

/* What a rule says of one tensor. A shard is open until it is filled with a kind of shard that the
   inputs have: plain, or strided with some factor. */
typedef struct tsr_rule_placement {
    tsr_placement place;
    bool open;
} tsr_rule_placement;

/* A rule for one mesh dim: these placements of inputs give those of outputs. Zero is all-replicate,
   which every op has. */
typedef struct tsr_rule {
    tsr_rule_placement out[TSR_OP_OUTPUTS], in[TSR_OP_INPUTS];
} tsr_rule;

static inline tsr_rule_placement tsr_rule_shard(int dim)
{
    tsr_rule_placement rule = {{TSR_SHARD, dim, TSR_SUM, 0}, true};

    return rule;
}
static inline tsr_rule_placement tsr_rule_partial(tsr_reduce reduce)
{
    tsr_rule_placement rule = {{TSR_PARTIAL, 0, reduce, 0}, false};

    return rule;
}

typedef struct tsr_rules tsr_rules;
/* Add a rule for one mesh dim; one that is there already is left out. For rows' rule functions. */
TSR_API tsr_status tsr_rule_add(tsr_rules *rules, const tsr_rule *rule, tsr_error *err);
/* Add a strategy for the whole mesh, n rules, one per mesh dim. For rows' strategies functions. */
TSR_API tsr_status tsr_strategy_add(tsr_rules *rules, const tsr_rule *rule, int n, tsr_error *err);

/* What an op moves by itself when it runs: seconds, and bytes into the rank that gets most. */
typedef struct tsr_comm {
    double seconds, bytes;
} tsr_comm;

/* Windows: a part of one tensor, the anchor, needs more of an operand than the same part of it.
   Along one dim, the part [b, e) of the anchor needs the operand's [floor((b * mul + lo) / div),
   floor(((e - 1) * mul + hi) / div)), as far as that exists: 1, -h, 1 + h for h neighbours on both
   sides. A circular window continues beyond an end at the other one: its indices are taken modulo
   the dim's size n, all of them if they are n or more. The kernel's operand then has its first
   index in `first`, and where first + size > n it has two blocks in ascending order of the
   indices: 0 to first + size - n, then first to n. */
typedef struct tsr_window {
    int operand;              /* number of an input, or TSR_OUTPUT(k) */
    int dim;                  /* of the operand, and of the anchor */
    int64_t mul, lo, hi, div; /* div 0: 1 */
    bool circular;            /* of inputs only: a reverse halo is not circular */
} tsr_window;

#define TSR_OUTPUT(k) (-1 - (k))

typedef struct tsr_windows {
    int anchor; /* number of an input, or TSR_OUTPUT(k) */
    int n;
    tsr_window window[TSR_OP_WINDOWS];
} tsr_windows;

/* One local operand: row-major, contiguous. */
typedef struct tsr_operand {
    tsr_dtype dtype;
    tsr_shape shape;
    void *data;
    int64_t first[TSR_MAX_DIM]; /* where it begins in the whole tensor; -1: it is in pieces */
    /* rows with `positions`: along a dim in pieces, where each index is in the whole tensor */
    const int64_t *index[TSR_MAX_DIM];
} tsr_operand;

typedef struct tsr_memory tsr_memory; /* of a rank */

/* How a kernel is written. AUTO is the best one that the processor runs. Values are a contract and
   more may come: they are never renumbered. */
typedef uint16_t tsr_kernel_variant;
enum {
    TSR_VARIANT_AUTO = 0,
    TSR_VARIANT_REFERENCE = 1, /* naive loops, the oracle of the others */
    TSR_VARIANT_PLAIN = 2,     /* C for any processor */
    TSR_VARIANT_AVX2 = 3,      /* with F16C and FMA */
    TSR_VARIANT_AVX512 = 4,
    TSR_VARIANT_LIBRARY = 5 /* OpenBLAS or oneDNN, which choose by themselves; our own products of
                               matrices in builds without them (tsr_library_version) */
};

typedef struct tsr_kernel_call {
    int kind; /* the row's: a kernel that several rows share tells them apart by it */
    int n_in, n_out;
    tsr_operand in[TSR_OP_INPUTS]; /* an absent optional input has data NULL and ndim -1 */
    tsr_operand out[TSR_OP_OUTPUTS];
    tsr_attrs attrs;
    int64_t number[TSR_OP_NUMBERS]; /* set by the row's bind_rank */
    bool reference;                 /* use the naive version */
    bool reproducible;              /* sums in an order that does not depend on sizes */
    void *scratch;                  /* as many bytes as the row's scratch says */
    void *state;                    /* set by the row's prepare */
    tsr_memory *memory;             /* for built-in kernels */
    tsr_error *error;               /* for a kernel that cannot go on */
    tsr_kernel_variant variant;     /* for tests and measuring: this one, or the next lesser one */
} tsr_kernel_call;

/* Local computation; knows nothing of meshes. */
typedef void (*tsr_kernel)(const tsr_kernel_call *call);

/* What an op's own run gets: the inputs where the strategy wants them, the outputs to be filled. It
   may communicate; an error of its own goes to err. Collective over the mesh. */
typedef struct tsr_run_call {
    tsr_mesh *mesh;
    const tsr_schema *schema;
    tsr_tensor *const *in;  /* NULL: an absent optional input */
    tsr_tensor *const *out; /* NULL: switched off */
    /* the specs of in and out in the strategy. A run reads placements here: along mesh dims of size
       1, where all placements hold the same, those of the tensors may be others */
    const tsr_spec *in_spec, *out_spec;
} tsr_run_call;

/* What a gradient function gets. By ops, it sets grad_in[k], of the shape and dtype of in[k], for
   the inputs whose gradient is wanted; left NULL, none flows. */
typedef struct tsr_grad_call {
    const tsr_op *op;
    const tsr_attrs *attrs; /* in the order of the row */
    int n_in, n_out;
    tsr_tensor *const *in, *const *out; /* NULL: absent, or switched off */
    tsr_tensor *const *grad_out;        /* NULL: nothing depends on that output */
    const bool *wanted;
    tsr_tensor **grad_in;
} tsr_grad_call;

struct tsr_op {
    size_t size; /* of this struct, in rows that are registered; 0 in built-in ones */
    const char *name;
    const char *inputs; /* "a,b,bias?": ? is optional, * a list of one or more */
    /* "dim:dim=-1,keepdim:bool=false,dims:dims?"; NULL: none. Types are int, ints, dim and dims (an
       int or ints that count dims), bool, float, dtype, text, seed and number: a float of which
       planning, so also shape and rules, may only ask how it compares with 0 and 1 and whether it
       is whole; element, a number that becomes an element of a tensor (the value of fill): f, or
       exactly i[1] where i[2] is 1; or the names of choices, "reduction:mean|sum|none=mean", of
       which i[0] is the number, from 0 on. A type with ? says that calls may leave it out. */
    const char *attrs;
    const char *doc; /* full sentences; tables show the first */
    /* of built-in rows: the parameters of the C function that make ops prints for it, by the names
       of inputs and attributes, "x, dim, index, *lse", where * names outputs 1, 2, ...; "tanh:by"
       is attribute tanh as parameter by. NULL: all inputs, then all attributes; "": its function,
       if it has one, is written by hand. */
    const char *params;
    int kind; /* functions that several rows share tell them apart by it; it is theirs */

    /* How it shards: at most one of these four; an op that has none runs replicated.
       axes: "...mk,...kn,n->...mn", a letter for every axis, ... for leading ones, which broadcast;
       a letter that the output lacks is reduced, a letter before ! is blocked, never sharded.
       rule: the same, by a function that adds rules for one mesh dim.
       strategies: by a function that adds strategies for the whole mesh.
       propagate: by a function that sets one rule per mesh dim for the inputs as they are; with
       other placements for an input it suggests to redistribute it. */
    const char *axes;
    tsr_status (*rule)(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
    tsr_status (*strategies)(const tsr_schema *schema, tsr_rules *out, tsr_error *err);
    tsr_status (*propagate)(const tsr_schema *schema, tsr_rule *out, tsr_error *err);
    tsr_reduce reduce; /* what a reduced axis yields: P(reduce) */
    /* optional, of a whole strategy: is it possible for these shapes on this mesh, and what does
       the op itself communicate then? */
    bool (*feasible)(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out);
    tsr_comm (*comm)(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out,
                     const tsr_cost *cost);

    /* optional: what of its operands the op needs where its anchor is sharded along a dim (halo).
       Rules may then shard a dim of an input and of the output alike; each rank's kernel gets the
       windows instead of parts, tsr_operand.first says where they begin. The engine fetches what is
       missing and adds its price. With `reverse` the reverse halo, if there is one (else n stays
       0): the kernel fills windows of outputs, which are scattered back and added up where they
       overlap. The search takes the cheaper of the two. */
    void (*windows)(const tsr_schema *schema, bool reverse, tsr_windows *out);

    /* How partial inputs pass. linear: the op as a sum of products of inputs, "a*b+bias", "a-b" or
       "a*b?", where b counts as 1 if it is absent: P(sum) and P(avg) pass; an input that it does
       not name stays fixed. monotone: "+x" or "-x": P(max) and P(min) pass along one input, or
       change places. permutes: the op only moves elements, so every reduction passes. */
    const char *linear;
    const char *monotone;
    bool permutes;

    /* sets n_out (1 unless it does), out_dtype and out_shape */
    tsr_status (*shape)(tsr_schema *schema, tsr_error *err);

    /* What computes it. kernel: on local parts; bind_rank tells it what it must know of the whole,
       numbers and attributes, for the rank at coord; scratch how much memory it needs besides.
       prepare makes what is kept for further calls of the same kind (shapes, attributes, numbers;
       data is not there yet), as call->state; release frees that. run: on tensors, moving data
       itself; beside a kernel, for strategies in which comm says that the op moves something.
       compose: by other ops, and by them alone; expr: by others too, as a text, "mul(x,
       sigmoid(x))": names of ops and of the row's inputs; attributes of parts as literals or as
       the row's own, "dims=dims", "mul=-alpha", "mul=1/alpha"; "max_pool(x)[1]" is its output 1;
       several outputs are separated by ;. Shapes and gradient follow from the parts. */
    tsr_kernel kernel;
    size_t (*scratch)(const tsr_kernel_call *call); /* Pure; shapes and attributes, no data */
    void (*bind_rank)(const tsr_schema *schema, const tsr_spec *in, const tsr_spec *out,
                      const int *coord, tsr_kernel_call *call);
    tsr_status (*prepare)(tsr_kernel_call *call, tsr_error *err);
    void (*release)(tsr_kernel_call *call);
    tsr_status (*run)(const tsr_run_call *call, tsr_error *err);
    /* built-in ops: the kernel has two steps, between which the engine merges the numbers of ranks
       that hold parts of one result */
    const struct tsr_merge *merge;
    tsr_status (*compose)(tsr_tensor *const *in, int n_in, const tsr_attrs *attrs, tsr_tensor **out,
                          tsr_error *err);
    const char *expr;

    /* optional: its gradient, written in ops; tsr_grad_none says that none flows through it */
    tsr_status (*grad)(const tsr_grad_call *call);
    /* or as a text, "a: mul(g, b); b: mul(g, a)": for each input that has one, an expression of ops
       as in expr, of inputs, outputs (out, out1, ...), their gradients (g, g1, ...) and zeros(x),
       zeros of an input's shape. It may be larger than the input, which was broadcast then, and is
       summed up, and of another dtype. "x, w: op(...)" takes gradients from outputs 0, 1, ... of
       one op. Attributes of parts may also be sizes, "rows=x.shape[0]", "size=x.shape[2:]",
       "n=x.shape[dim]", and `wanted`, a 1 or 0 for each input before the colon; ... stands for all
       that the row has by the same name. What it saves follows. */
    const char *grad_expr;
    /* what grad reads of its inputs and outputs beyond their specs, by name: "a,b", "x,out1", where
       out is output 0; "": nothing; NULL: all. Whoever waits to go backwards may let go of the rest
       of the memory. */
    const char *saves;
    /* its run combines results of several ranks: not in reproducible mode */
    bool cross_rank_reduction;
    bool positions; /* its kernel wants to know where operands in pieces are: tsr_operand.index */
    /* the number of first inputs that are overwritten and are its first outputs, each staying where
       it is; true is 1 */
    int inplace;
    /* in every part the output has the elements of the one input in their order: it shares its
       memory, and the kernel runs in checks only */
    bool is_view;
    bool in_field; /* built-in ops: the reference kernel computes modulo 2^61 - 1 too */

    /* calls to try it on, ended by NULL: "f64[4,6] f64[6,2] - dim=1", - for an absent input. Those
       that differ in sizes only are judged together: some should divide by the mesh, some not.
       Integer inputs hold any small numbers; "i64[7]<10" holds indices of 0 to 9, "i64[4]/12"
       offsets that begin with 0, never fall and are at most 12; "f64[6]+" positive numbers. f64
       inputs are tried in other floating point types and, where the op takes them, in integers
       too. */
    const char *const *cases;
};

/* Is it made of other ops? Such a row has no rules and no plan of its own. */
static inline bool tsr_op_is_composed(const tsr_op *op)
{
    return op->compose || op->expr;
}

/* The built-in rows. Pure. */
TSR_API int tsr_op_count(void);
TSR_API const tsr_op *tsr_op_row(int i); /* 0 <= i < count */
/* The family of a built-in row, "reductions"; NULL of others. Pure. */
TSR_API const char *tsr_op_family(const tsr_op *op);
/* A row by name: built-in, or registered on the mesh (which may be NULL); NULL if none. Local. */
TSR_API const tsr_op *tsr_op_find(const tsr_mesh *mesh, const char *name);

/* Make an op known to this rank; every rank registers the same. The row is borrowed until the job
   ends. An error that names the op if its name is taken or the row contradicts itself; in the
   validating mode also if a rule is wrong. Local. */
TSR_API tsr_status tsr_op_register(tsr_mesh *mesh, const tsr_op *row);
/* Registering validates (also by TESSERA_VALIDATE=1); takes a moment per op. Local. */
TSR_API tsr_status tsr_validating_set(tsr_mesh *mesh, bool on);

/* The value of an attribute by its name in the row. Pure. For rows' functions. */
TSR_API const tsr_attr *tsr_schema_attr(const tsr_schema *schema, const char *name);
/* "f32[64,128]@[S(0)] f32[64,32]@[R]", for their error messages. Pure. */
TSR_API const char *tsr_schema_text(const tsr_schema *schema, char *buf, size_t n);

/* An op by name; attributes as text, "dim=1"; absent optional inputs are NULL. Collective. */
TSR_API tsr_tensor *tsr_op_run(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                               const char *const *attrs, int n_attrs);

/* The same, with placements that its output shall have, "[S(0),R]": the cost of
   getting there counts. Not for ops in place or composed ones. Collective. */
TSR_API tsr_tensor *tsr_op_run_to(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                                  const char *const *attrs, int n_attrs, const char *placements);
/* All its outputs: out[TSR_OP_OUTPUTS], NULL for those that it has not or that are switched off. */
TSR_API tsr_status tsr_op_run_all(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                                  const char *const *attrs, int n_attrs, tsr_tensor **out);

/* The gradients of a call's inputs from those of its outputs (NULL: nothing depends on that one),
   for the inputs whose gradient is wanted (wanted NULL: all of a floating point type): out is what
   the call gave, grad_in[n_in] gets them, NULL where none flows. An op that is a text has none
   while a tape is on that knows its inputs or grad_out. Collective. */
TSR_API tsr_status tsr_op_grad(tsr_mesh *mesh, const char *name, tsr_tensor *const *in, int n_in,
                               const char *const *attrs, int n_attrs, tsr_tensor *const *out,
                               tsr_tensor *const *grad_out, const bool *wanted,
                               tsr_tensor **grad_in);
/* Does tsr_op_grad know what flows through it: by the row's function, or by its parts? Pure. */
TSR_API bool tsr_op_has_grad(const tsr_op *op);
/* For rows through which no gradient flows: comparisons, say. */
TSR_API tsr_status tsr_grad_none(const tsr_grad_call *call);

/* The kernel alone of such a call, n times, into the output that it gave before: for measuring what
   dispatch adds. All inputs must be where its strategy wants them. Local. */
TSR_API tsr_status tsr_op_kernel(const char *name, tsr_tensor *const *in, int n_in,
                                 const char *const *attrs, int n_attrs, tsr_tensor *out, int64_t n);

/* A call ready to be asked about: absent inputs are specs of ndim -1. Pure. */
TSR_API tsr_status tsr_schema_make(const tsr_op *op, const tsr_spec *in, int n_in,
                                   const char *const *attrs, int n_attrs, tsr_schema *out,
                                   tsr_error *err);

/* How a call would run: the specs that inputs are redistributed to and that the outputs have, and
   what that costs in seconds. */
typedef struct tsr_op_strategy {
    tsr_spec in[TSR_OP_INPUTS], out[TSR_OP_OUTPUTS];
    double inputs;  /* bringing the inputs there */
    double comm;    /* what the op moves by itself */
    double pending; /* what a partial output will cost, or the move to what was asked for */
    double seconds; /* all of it */
} tsr_op_strategy;

/* The cheapest strategy that the op's rules allow; `exhaustive` tries them one by one. cost
   may be NULL: the default; want, the placements that output 0 shall end in, too: any. Pure. */
TSR_API tsr_status tsr_op_plan(const tsr_schema *schema, const tsr_cost *cost,
                               const tsr_placement *want, bool exhaustive, tsr_op_strategy *out,
                               tsr_error *err);
/* The price of one given strategy: in[].place and out[].place are set by the caller. Pure. */
TSR_API tsr_status tsr_op_price(const tsr_schema *schema, const tsr_cost *cost,
                                const tsr_placement *want, tsr_op_strategy *strategy,
                                tsr_error *err);
/* The halo windows of a strategy, n 0 if it has none: those whose anchor it shards along their dim,
   and whether the halo is a reverse one. Pure. */
TSR_API tsr_status tsr_op_windows(const tsr_schema *schema, const tsr_cost *cost,
                                  const tsr_op_strategy *strategy, tsr_windows *out, bool *reverse,
                                  tsr_error *err);
/* What one window shows along its dim. A circular one: from and to are begin and end, and where
   end is beyond the dim's size n, the rest is [0, end - n). */
typedef struct tsr_window_range {
    int64_t begin, end; /* of the operand */
    int64_t from, to;   /* the same if the dim had no ends: what lies beyond them is padding */
} tsr_window_range;
/* That of window i at mesh index `index`. Pure. */
TSR_API tsr_status tsr_window_at(const tsr_op_strategy *strategy, const tsr_windows *windows, int i,
                                 int index, tsr_window_range *out, tsr_error *err);
/* The rules for one mesh dim, filled for these inputs. At most cap; *n is how many there are. An op
   with strategies for the whole mesh has all-replicate only. Pure. */
TSR_API tsr_status tsr_op_rules(const tsr_schema *schema, tsr_rule *out, int cap, int *n,
                                tsr_error *err);

/* ---- kernels by SKU -------------------------------------------------------------------------- */

/* Kernels have a category and, in it, an op; both have names, "pointwise" and "add", by which they
   are found (tsr_kernel_sku_parse). The numbers of one library stay the same on all ranks; those of
   lookups are a contract: more may come, but none is renumbered. */
typedef uint16_t tsr_kernel_category;
enum { TSR_CATEGORY_EMBEDDING = 0 };

typedef uint16_t tsr_embedding_kind;
enum {
    TSR_EMBEDDING = 0,
    TSR_EMBEDDING_BACKWARD = 1,
    TSR_EMBEDDING_BAG_SUM = 2,
    TSR_EMBEDDING_BAG_MEAN = 3,
    TSR_EMBEDDING_BAG_SUM_BACKWARD = 4,
    TSR_EMBEDDING_BAG_MEAN_BACKWARD = 5,
    TSR_EMBEDDING_BAG_MAX = 6,
    TSR_EMBEDDING_BAG_MAX_BACKWARD = 7,
    TSR_EMBEDDING_BAG_WEIGHTS_BACKWARD = 8,
    TSR_EMBEDDING_RENORM = 9
};

/* How a kernel is known. A plain value, the same on all ranks. */
enum { TSR_NO_INDEX = -1 };
typedef struct tsr_kernel_sku {
    tsr_kernel_category category;
    uint16_t op; /* of the category; a tsr_embedding_kind in TSR_CATEGORY_EMBEDDING */
    tsr_dtype dtype;
    int index; /* the tsr_dtype of ids; TSR_NO_INDEX: the op has none */
    tsr_kernel_variant variant;
} tsr_kernel_sku;

enum { TSR_SKU_TEXT_LEN = 64 }; /* enough for the text form of any SKU */

TSR_API bool tsr_kernel_sku_equal(const tsr_kernel_sku *a, const tsr_kernel_sku *b); /* Pure. */
TSR_API uint64_t tsr_kernel_sku_hash(const tsr_kernel_sku *sku);                     /* Pure. */
/* "embedding.bag_sum.f32.i64.avx2", "pointwise.add.f32.avx2"; fills buf and returns it. Pure. */
TSR_API const char *tsr_kernel_sku_text(const tsr_kernel_sku *sku, char *buf, size_t n);
/* The kernel of such a text; the variant may be auto. An error if there is none. Pure. */
TSR_API tsr_status tsr_kernel_sku_parse(const char *text, tsr_kernel_sku *out, tsr_error *err);
/* The kernels that there are, ordered by category, op, dtype, index and variant; AUTO names none.
   Conversions of f16 and bf16, copies and stores past the caches are chosen below them. Pure. */
TSR_API int tsr_kernel_count(void);
TSR_API tsr_kernel_sku tsr_kernel_at(int i); /* 0 <= i < count; walks to it */
/* From a kernel to the one behind it; false, and nothing written, behind the last. Pure. */
TSR_API bool tsr_kernel_next(tsr_kernel_sku *sku);
TSR_API const char *tsr_kernel_category_name(tsr_kernel_category category);        /* Pure. */
TSR_API const char *tsr_kernel_op_name(tsr_kernel_category category, uint16_t op); /* Pure. */
TSR_API const char *tsr_kernel_variant_name(tsr_kernel_variant variant);           /* Pure. */
/* The variant that runs on this processor when this one is asked for: that, or the next lesser one
   that there is and that it has; AUTO asks for the best. AUTO if there is no such kernel. This is
   what the kernels themselves go by. Local. */
TSR_API tsr_kernel_variant tsr_kernel_variant_best(const tsr_kernel_sku *wanted);

/* Libraries that a build can do without; kernels of our own then compute what they would. Values
   are a contract, as above. */
typedef enum tsr_library { TSR_LIBRARY_OPENBLAS = 0, TSR_LIBRARY_ONEDNN = 1 } tsr_library;
TSR_API const char *tsr_library_name(tsr_library library); /* Pure. "OpenBLAS", "oneDNN" */
/* The version of it that runs, such as "0.3.21", in buf; NULL if this build is without it, or if
   there is no such library. Local. */
TSR_API const char *tsr_library_version(tsr_library library, char *buf, size_t n);

/* ---- are the rules of an op right? ---- */

typedef enum tsr_flaw_kind {
    TSR_FLAW_UNSOUND = 0, /* a rule claims what does not hold */
    TSR_FLAW_MISSING = 1, /* placements that hold always follow from no rule */
    TSR_FLAW_WRONG = 2    /* a run on sharded inputs differs from one on whole inputs */
} tsr_flaw_kind;

typedef struct tsr_flaw {
    tsr_flaw_kind kind;
    char text[TSR_TEXT_LEN]; /* one sentence */
    char line[TSR_TEXT_LEN]; /* tessera verify "...": a call to look at it */
} tsr_flaw;

enum { TSR_FLAWS = 16 };

typedef struct tsr_validation {
    int cases; /* shapes and attributes tried, those of the op's row */
    /* the op has no kernel of its own but a run, or it is composed: its rules and tuples were not
       tried, only runs on threads, compared with one on one rank */
    bool runs_only;
    int rules;      /* different ones */
    int64_t tuples; /* placements of inputs and outputs that were enumerated, over all cases */
    int64_t runs;   /* calls on thread ranks */
    int unsound, missing, wrong;
    double seconds;
    int n_flaws; /* as many of them as there is room for */
    tsr_flaw flaw[TSR_FLAWS];
} tsr_validation;

/* Check an op against its definition, the reference kernel on whole values: every rule on one mesh
   dim, exactly where the op is linear; every tuple of placements that no rule gives; runs on
   threads; and the gradient of a row that is not built in, by finite differences: it is wrong if it
   differs. All outputs are compared. Finding flaws is a success. Local; starts threads. */
TSR_API tsr_status tsr_validate(const tsr_op *op, tsr_validation *out, tsr_error *err);

#ifdef __cplusplus
}
#endif

#endif
