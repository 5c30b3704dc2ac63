/* SPDX-License-Identifier: Apache-2.0 */
/* tessera.h - distributed tensors for C: worlds, meshes, placements, tensors, redistribution.

   The simple part comes first (run a job, make tensors, move them, read them); the parts for
   those who want to look inside (specs, plans, costs, collectives) follow. Every function says
     Collective  all ranks of the mesh must call it, in the same order,
     Local       concerns the calling rank only,
     Pure        a function of its arguments; needs no mesh and no world.
   Arguments are borrowed. Handles are opaque and reference-counted; everything else is a plain
   value.
   Options are structs: tsr_X_opts opts = tsr_X_opts_default(); then set what shall differ; NULL
   instead of options: the defaults. Every number in them is meant as it is, 0 is 0. An optional
   value is a pair, has_scale and scale; texts, functions and handles are left out by NULL. The
   first member is the size of the struct as the program knows it; one that the library does not
   know is an error.
   Getters are called by what they give (tsr_optimizer_lr), tsr_X_get where tsr_X is a type; setters
   are tsr_X_set and return a status.
   A function that returns a status returns that of this call. One that makes a tensor gives the
   error tensor on failure, and the first error stays with the mesh until it is cleared.
   Threads: a rank is one thread. A mesh, and every tensor and other handle made on it, belongs to
   the thread that runs its job, and only that thread may use it. Pure functions, tsr_run, tsr_main
   and tsr_world_available may be called by any threads at the same time (jobs under MPI: see
   tsr_run). Functions that a program hands over are called by the thread that they work for.
   A pointer argument must not be NULL unless its function says so. One that is never crashes: a
   function that returns a status gives TSR_ERR_ARG, one that makes a tensor the error tensor, and
   the mesh, or err, has a sentence that names the argument. Where no mesh is left to say it on
   (every tensor is NULL, say), functions return NULL, 0, "" or -1, and those that return nothing do
   nothing. */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TSR_API __attribute__((visibility("default")))

/* The version of these headers; TSR_VERSION is 1000000 major + 1000 minor + patch. Before 1.0 there
   is no promise about the ABI: programs are built anew with every version. From 0.2.0 on programs
   need not be changed for a new version: functions, members at the end of structs and values of
   enums may be added. */
#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 2
#define TSR_VERSION_PATCH 0
#define TSR_VERSION (1000000 * TSR_VERSION_MAJOR + 1000 * TSR_VERSION_MINOR + TSR_VERSION_PATCH)

enum { TSR_MAX_DIM = 8 };        /* tensor dims */
enum { TSR_MAX_MESH = 8 };       /* mesh dims */
enum { TSR_MAX_RANKS = 131072 }; /* of a mesh: beyond, planning would take minutes */
enum { TSR_NAME_LEN = 16 };      /* bytes of a mesh dim's name, with the final 0 */
enum { TSR_TEXT_LEN = 512 };     /* enough for the text form of any spec or mesh */

/* ---- status and errors ----------------------------------------------------------------------- */

/* code, value, what it means */
#define TSR_STATUS_LIST(X)                                                                         \
    X(TSR_OK, 0, "success")                                                                        \
    X(TSR_ERR_ARG, 1, "bad argument")                                                              \
    X(TSR_ERR_PARSE, 2, "text that cannot be read")                                                \
    X(TSR_ERR_SHAPE, 3, "shapes do not fit")                                                       \
    X(TSR_ERR_DTYPE, 4, "dtype does not fit")                                                      \
    X(TSR_ERR_SPEC, 5, "placement does not fit")                                                   \
    X(TSR_ERR_MESH, 6, "mesh does not fit")                                                        \
    X(TSR_ERR_MEMORY, 7, "out of memory")                                                          \
    X(TSR_ERR_LIMIT, 8, "a limit set by the user would be exceeded")                               \
    X(TSR_ERR_IO, 9, "reading or writing failed")                                                  \
    X(TSR_ERR_FORMAT, 10, "malformed file")                                                        \
    X(TSR_ERR_PEER, 11, "another rank failed")                                                     \
    X(TSR_ERR_DIVERGED, 12, "ranks made different calls")                                          \
    X(TSR_ERR_TIMEOUT, 13, "a rank did not arrive in time")                                        \
    X(TSR_ERR_OUTSIDE, 14, "the rank is outside the mesh")                                         \
    X(TSR_ERR_NO_DATA, 15, "the world holds no data")                                              \
    X(TSR_ERR_UNAVAILABLE, 16, "not available on this system")                                     \
    X(TSR_ERR_MISMATCH, 17, "results differ")                                                      \
    X(TSR_ERR_STATE, 18, "not possible in this state")

#define TSR_STATUS_ENUM(code, value, text) code = value,
typedef enum tsr_status { TSR_STATUS_LIST(TSR_STATUS_ENUM) } tsr_status;
#undef TSR_STATUS_ENUM

enum { TSR_ERROR_LEN = 500 };

/* What went wrong: a code and one sentence. Zero is "nothing". */
typedef struct tsr_error {
    tsr_status code;
    char text[TSR_ERROR_LEN];
} tsr_error;

TSR_API const char *tsr_status_text(tsr_status status); /* Pure. "out of memory" */
/* The version of the library that runs, as text, "0.2.0", and as TSR_VERSION. Pure. */
TSR_API const char *tsr_version(void);
TSR_API int tsr_version_number(void);

/* ---- values: dtypes, shapes, meshes, placements, specs --------------------------------------- */

typedef enum tsr_dtype {
    TSR_F32 = 0,
    TSR_F64 = 1,
    TSR_F16 = 2,
    TSR_BF16 = 3,
    TSR_I32 = 4,
    TSR_I64 = 5,
    TSR_U8 = 6,
    TSR_BOOL = 7,
    TSR_I8 = 8,
    TSR_I16 = 9,
    TSR_U16 = 10,
    TSR_U32 = 11,
    TSR_U64 = 12
} tsr_dtype;

typedef enum tsr_reduce {
    TSR_SUM = 0,
    TSR_AVG = 1,
    TSR_MIN = 2,
    TSR_MAX = 3,
    TSR_PROD = 4
} tsr_reduce;

typedef enum tsr_placement_kind {
    TSR_REPLICATE = 0, /* R        every rank has all */
    TSR_SHARD = 1,     /* S(d)     cut along tensor dim d in chunks of ceil(n/p) */
    TSR_STRIDED = 2,   /* SS(d,f)  cut into f pieces, each of which is sharded */
    TSR_PARTIAL = 3    /* P(op)    every rank has a term; the value is their reduction */
} tsr_placement_kind;

/* What one mesh dim does to a tensor. */
typedef struct tsr_placement {
    tsr_placement_kind kind;
    int dim;           /* SHARD, STRIDED */
    tsr_reduce reduce; /* PARTIAL */
    int64_t factor;    /* STRIDED */
} tsr_placement;

typedef struct tsr_shape {
    int ndim;
    int64_t size[TSR_MAX_DIM];
} tsr_shape;

/* A grid of ranks: the rank at a coordinate is first + sum of coord[i] * stride[i]. */
typedef struct tsr_mesh_shape {
    int ndim;
    int first;
    int size[TSR_MAX_MESH];
    int stride[TSR_MAX_MESH];
    char name[TSR_MAX_MESH][TSR_NAME_LEN]; /* "" where none was given */
} tsr_mesh_shape;

/* What a tensor is and where its parts live; text form f32[2048,256]@[S(0),R]. */
typedef struct tsr_spec {
    tsr_dtype dtype;
    tsr_shape shape;
    tsr_mesh_shape mesh;
    tsr_placement place[TSR_MAX_MESH]; /* one per mesh dim */
} tsr_spec;

/* ---- handles --------------------------------------------------------------------------------- */

typedef struct tsr_mesh tsr_mesh;
typedef struct tsr_tensor tsr_tensor;
typedef struct tsr_request tsr_request;
typedef struct tsr_redist tsr_redist;

/* ---- running a job --------------------------------------------------------------------------- */

typedef enum tsr_world_kind {
    TSR_WORLD_AUTO = 0, /* mpi under mpirun or srun, else thread; TESSERA_WORLD overrides */
    TSR_WORLD_THREAD = 1,
    TSR_WORLD_MPI = 2,
    TSR_WORLD_SIM = 3 /* any number of ranks, no data: the job runs once and costs are counted */
} tsr_world_kind;

typedef enum tsr_log_level {
    TSR_LOG_OFF = 0,
    TSR_LOG_WARN = 1, /* what should not be; the default */
    TSR_LOG_INFO = 2, /* the world at the start; bytes, plans and memory at the end */
    TSR_LOG_DEBUG = 3 /* every plan that is made, of ops and of redistributions */
} tsr_log_level;

/* Gets one line without its end. Thread ranks call it at the same time: it must be thread-safe. It
   must not call the library. */
typedef void (*tsr_log_function)(void *arg, tsr_log_level level, int rank, const char *line);

typedef struct tsr_run_opts {
    size_t size;          /* of this struct */
    const char *mesh;     /* "data=2,model=4" or "2x4"; NULL: all ranks of MPI, or 1 */
    tsr_world_kind world; /* default AUTO */
    bool has_timeout;
    /* for one wait; below 0: a wait has no limit. Without it TESSERA_TIMEOUT, in seconds, else
       60,000 */
    int timeout_ms;
    const char *cost;     /* see tsr_cost_parse; default TESSERA_COST, else "default" */
    tsr_log_function log; /* gets the lines of the level TESSERA_LOG; NULL: they go to stderr */
    void *log_arg;
} tsr_run_opts;

static inline tsr_run_opts tsr_run_opts_default(void)
{
    tsr_run_opts opts = {sizeof(tsr_run_opts), NULL, TSR_WORLD_AUTO, false, 0, NULL, NULL, NULL};

    return opts;
}

/* A job is called once on every rank with the mesh over all ranks of the world. */
typedef tsr_status (*tsr_job)(tsr_mesh *mesh, void *arg);

/* Run a job on every rank, wait for all, and give the first error. Thread ranks are made here;
   under MPI this process is one rank, and jobs run one after the other on the thread that
   initialised MPI, by default the main thread. opts may be NULL. */
TSR_API tsr_status tsr_run(const tsr_run_opts *opts, tsr_job job, void *arg, tsr_error *err);

/* Whether jobs can run in such a world here (AUTO: always); if not, err (may be NULL) says why. For
   MPI this loads its plugin. Local. */
TSR_API bool tsr_world_available(tsr_world_kind kind, tsr_error *err);

/* tsr_run for a program's main: prints the error, returns the exit status. Reads the options
   --mesh M, --world W, --cost C and --timeout SECONDS, 0 for none (or --mesh=M, ...) from argv; an
   M without names, 4 or 1x2, takes those of `mesh` in their order. --help lists them. Words that do
   not begin with -- are ignored, other options are an error: a program with options of its own
   takes them out of argv first. */
TSR_API int tsr_main(int argc, char **argv, const char *mesh, tsr_job job, void *arg);

/* From now on this rank logs lines up to `level` to `log`, or to stderr if it is NULL. Local. */
TSR_API tsr_status tsr_log_set(tsr_mesh *mesh, tsr_log_level level, tsr_log_function log,
                               void *arg);

/* The first error since the start (or the last clear) on this rank, TSR_OK if none. Local. */
TSR_API tsr_status tsr_mesh_status(const tsr_mesh *mesh);
TSR_API const char *tsr_mesh_message(const tsr_mesh *mesh); /* its sentence, "" if none. Local. */
/* Forget it. Values that were found to be bad (an index out of range) are reported by all ranks of
   the mesh in the same call, at the latest in the next one that exchanges messages between them;
   after clearing, the mesh can be used as before. Tensors made or changed since the failing call
   are invalid, and tsr_tensor_ok is false for them. A poisoned world stays poisoned. Local. */
TSR_API void tsr_mesh_clear_error(tsr_mesh *mesh);

/* ---- meshes ---------------------------------------------------------------------------------- */

TSR_API const tsr_mesh_shape *tsr_mesh_shape_get(const tsr_mesh *mesh); /* Local. */
TSR_API int tsr_mesh_rank(const tsr_mesh *mesh);                        /* Local. World rank. */
TSR_API int tsr_mesh_index(const tsr_mesh *mesh);                       /* Local. -1 outside. */
TSR_API int tsr_mesh_coord(const tsr_mesh *mesh, int mdim);             /* Local. -1 outside. */
TSR_API bool tsr_mesh_is_member(const tsr_mesh *mesh);                  /* Local. */
TSR_API int tsr_mesh_size(const tsr_mesh *mesh);                        /* Local. */
TSR_API tsr_world_kind tsr_mesh_world(const tsr_mesh *mesh);            /* Local. */

/* The part of `mesh` that this rank spans along the named dims, e.g. "model" or "data,model"
   (numbers work too: "1"). Local; collective calls on it involve its ranks only. */
TSR_API tsr_status tsr_mesh_sub(tsr_mesh *mesh, const char *dims, tsr_mesh **out);

/* A mesh of its own over the ranks of `mesh` from index `first` on, e.g. "row=2,col=2". Excluded
   ranks also get a handle; tsr_mesh_is_member is false there, and they must not call its
   collectives. Local. */
TSR_API tsr_status tsr_mesh_part(tsr_mesh *mesh, const char *text, int first, tsr_mesh **out);

TSR_API tsr_mesh *tsr_mesh_ref(tsr_mesh *mesh);
TSR_API void tsr_mesh_unref(tsr_mesh *mesh); /* NULL is fine. Not for the job's own mesh. */

/* ---- tensors --------------------------------------------------------------------------------- */

/* Functions that make a tensor return it; it belongs to the current scope. On failure they return
   the mesh's error tensor, which every further call hands on; tsr_mesh_status tells the first
   error, so one check at the end suffices. */

/* `bytes` is always the size of data, and must be that of the tensor, or of the part. */
/* From an array that every rank has whole, row-major; each rank keeps its part. Local. */
TSR_API tsr_tensor *tsr_from_host(tsr_mesh *mesh, const char *spec, const void *data, size_t bytes);
/* From an array that only the rank with mesh index `root` has. Collective. */
TSR_API tsr_tensor *tsr_from_root(tsr_mesh *mesh, const char *spec, const void *data, size_t bytes,
                                  int root);
/* From every rank's own part, of local_shape; all ranks' parts must fit the spec. Collective. */
TSR_API tsr_tensor *tsr_from_local(tsr_mesh *mesh, const char *spec, const void *data, size_t bytes,
                                   const tsr_shape *local_shape);
TSR_API tsr_tensor *tsr_zeros(tsr_mesh *mesh, const char *spec);              /* Local. */
TSR_API tsr_tensor *tsr_full(tsr_mesh *mesh, const char *spec, double value); /* Local. */
/* Element i in row-major order is start + i * step. Local. */
TSR_API tsr_tensor *tsr_arange(tsr_mesh *mesh, const char *spec, double start, double step);
/* Zeros, for a spec that the program computed; its mesh must be that of `mesh`. Local. */
TSR_API tsr_tensor *tsr_tensor_new(tsr_mesh *mesh, const tsr_spec *spec);

/* The same tensor with other placements, e.g. "[S(1),R]", by the cheapest plan. Collective. */
TSR_API tsr_tensor *tsr_redistribute(tsr_tensor *x, const char *placements);
/* The same, onto another mesh of the same world. Collective over the ranks of both. */
TSR_API tsr_tensor *tsr_redistribute_to(tsr_tensor *x, tsr_mesh *mesh, const char *placements);
/* Assignment: overwrites `to` in place with the values of `from`, of the same shape and dtype,
   redistributed to the placements and the mesh of `to`. In strict mode an error if data would have
   to be communicated. A watched tensor cannot be overwritten while calls are recorded; else
   gradients flow from `to` to `from`. Collective over the ranks of both. */
TSR_API tsr_status tsr_copy_into(tsr_tensor *to, tsr_tensor *from);

/* The whole value, row-major, on every rank, or on the rank with mesh index `root` (out may be NULL
   on the others). `bytes` is the size of out and must be the tensor's. Collective. */
TSR_API tsr_status tsr_to_host(tsr_tensor *x, void *out, size_t bytes);
TSR_API tsr_status tsr_to_root(tsr_tensor *x, void *out, size_t bytes, int root);

/* The first rank of the mesh prints spec and values, the middle of long dims left out.
   Collective. */
TSR_API tsr_status tsr_print(tsr_tensor *x);

/* This rank's part: row-major memory, its shape, and where it lies. Other tensors may share the
   memory, if they came from this one without a move (redistributed to where it was, reshaped), or
   this one from them: write to what was made for it. Local. */
typedef struct tsr_local {
    void *data;
    tsr_shape shape;
    int64_t first[TSR_MAX_DIM]; /* global index of local index 0, per dim; -1 if empty */
    bool whole[TSR_MAX_DIM];    /* local indices are consecutive global ones along that dim */
} tsr_local;
TSR_API tsr_status tsr_local_view(tsr_tensor *x, tsr_local *out);
/* Global index of the i-th local index along dim, -1 if there is none. Local. */
TSR_API int64_t tsr_local_index(const tsr_tensor *x, int dim, int64_t i);

TSR_API const tsr_spec *tsr_tensor_spec(const tsr_tensor *x); /* as long as x lives. Local. */
TSR_API tsr_mesh *tsr_tensor_mesh(const tsr_tensor *x);       /* Local. Borrowed. */
TSR_API bool tsr_tensor_ok(const tsr_tensor *x);              /* Local. False: the error tensor. */
TSR_API tsr_tensor *tsr_ref(tsr_tensor *x);                   /* Local. */
/* Local. NULL is fine. Releases what tsr_keep or tsr_ref gave; a tensor that only its scope holds
   stays, and the mesh has an error. */
TSR_API void tsr_unref(tsr_tensor *x);

/* A scope owns the tensors made in it and lets go of them when it is popped. tsr_keep takes a
   tensor out of its scope: it is the caller's now, until tsr_unref. Jobs have an outermost
   scope. */
TSR_API tsr_status tsr_scope_push(tsr_mesh *mesh); /* Local. */
TSR_API tsr_status tsr_scope_pop(tsr_mesh *mesh);  /* Local. */
TSR_API tsr_tensor *tsr_keep(tsr_tensor *x);       /* Local. */
/* Pop the scope and hand x on to the one outside: how a function ends that gives one tensor and
   leaves nothing else behind. Returns x. Local. */
TSR_API tsr_tensor *tsr_scope_return(tsr_tensor *x);

/* npy files, versions 1 to 3: written in C order and little-endian, read in C or Fortran order and
   of either endianness; integers of every width stay what they are. One file, each rank reads and
   writes its part. A save replaces the file, with its mode, when all is written: a save that fails
   leaves it as it was. */
TSR_API tsr_tensor *tsr_load_npy(tsr_mesh *mesh, const char *path,
                                 const char *placements);         /* Collective. */
TSR_API tsr_status tsr_save_npy(tsr_tensor *x, const char *path); /* Collective. */
/* dtype and shape of a file without its data. Pure but for reading the file. */
TSR_API tsr_status tsr_npy_info(const char *path, tsr_dtype *dtype, tsr_shape *shape,
                                tsr_error *err);

/* ---- text forms ------------------------------------------------------------------------------ */

/* Each parser writes `out` only on success and a sentence into err (may be NULL) on failure; each
   printer fills buf (TSR_TEXT_LEN is always enough) and returns it. Pure. */
TSR_API tsr_status tsr_mesh_parse(const char *text, tsr_mesh_shape *out, tsr_error *err);
TSR_API const char *tsr_mesh_text(const tsr_mesh_shape *mesh, char *buf, size_t n);
TSR_API tsr_status tsr_spec_parse(const char *text, const tsr_mesh_shape *mesh, tsr_spec *out,
                                  tsr_error *err); /* "f32[4,6]@[S(0),R]"; no @: replicated */
TSR_API tsr_status tsr_placements_parse(const char *text, const tsr_spec *like, tsr_spec *out,
                                        tsr_error *err); /* "[S(1),R]" for the tensor of `like` */
TSR_API const char *tsr_spec_text(const tsr_spec *spec, char *buf, size_t n);
TSR_API const char *tsr_placements_text(const tsr_spec *spec, char *buf, size_t n);
TSR_API const char *tsr_dtype_name(tsr_dtype dtype);
TSR_API size_t tsr_dtype_size(tsr_dtype dtype);
TSR_API const char *tsr_reduce_name(tsr_reduce reduce);

/* ---- specs: what each rank holds ------------------------------------------------------------- */

TSR_API tsr_status tsr_spec_check(const tsr_spec *spec, tsr_error *err); /* Pure. */
TSR_API bool tsr_spec_equal(const tsr_spec *a, const tsr_spec *b);       /* Pure. Names of dims do
                                                                            not count. */
TSR_API int64_t tsr_shape_count(const tsr_shape *shape);                 /* Pure. Elements. */
TSR_API bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b);    /* Pure. */

/* Indices begin + j * step + i for 0 <= j < count, 0 <= i < len, in that order. */
typedef struct tsr_index_run {
    int64_t begin, len, step, count;
} tsr_index_run;

/* Shape of the part at mesh index `index`. Pure. */
TSR_API tsr_status tsr_spec_local_shape(const tsr_spec *spec, int index, tsr_shape *out,
                                        tsr_error *err);
/* The indices along dim at mesh index `index`, as at most `cap` runs; *n is how many there are.
   Pure. */
TSR_API tsr_status tsr_spec_runs(const tsr_spec *spec, int index, int dim, tsr_index_run *runs,
                                 int cap, int *n, tsr_error *err);

/* The dim map of a spec: per tensor dim the mesh dim that shards it or -1, and the mesh dims that
   are pending a sum. Nested and strided shards and other reductions cannot be said so: an error.
   Pure, both ways. */
TSR_API tsr_status tsr_spec_to_dim_map(const tsr_spec *spec, int dim_map[TSR_MAX_DIM],
                                       bool pending[TSR_MAX_MESH], tsr_error *err);
TSR_API tsr_status tsr_spec_from_dim_map(tsr_dtype dtype, const tsr_shape *shape,
                                         const tsr_mesh_shape *mesh, const int *dim_map,
                                         const bool *pending, tsr_spec *out, tsr_error *err);

/* ---- costs and plans ------------------------------------------------------------------------- */

/* The numbers by which plans are compared. Seconds and bytes. */
typedef struct tsr_cost {
    size_t size;                   /* of this struct */
    double latency[TSR_MAX_MESH];  /* a: per message along that mesh dim */
    double per_byte[TSR_MAX_MESH]; /* b: per byte along that mesh dim */
    double per_step;               /* each communicating step */
    double per_shuffle;            /* added to each all-to-all */
    double memory;                 /* per byte copied locally */
    bool pending_free;             /* outputs of ops that are left partial cost nothing */
    bool collectives_only;         /* no one-shot exchange */
    bool unrounded;                /* uneven parts count n/p bytes, not the largest part */
    bool reproducible;             /* only strategies whose results do not depend on the mesh */
    bool randomise; /* costs are a hash of seed and move: every legal plan wins once */
    uint64_t seed;
} tsr_cost;

/* Measured on two cores of a server CPU with thread ranks; tessera calibrate measures yours. */
static inline tsr_cost tsr_cost_default(void)
{
    tsr_cost cost = {
        sizeof(tsr_cost), {0}, {0}, 1e-6, 0, 1.0 / 10e9, false, false, false, false, false, 0};

    for (int m = 0; m < TSR_MAX_MESH; m++) {
        cost.latency[m] = 0.5e-6;
        cost.per_byte[m] = 1.0 / 8e9;
    }
    return cost;
}

/* "default", "torch", "random:SEED", "file:PATH" (from tessera calibrate), or
   "latency=2e-6,bandwidth=8e9[,memory=..]" where 2e-6/1e-5 gives one value per mesh dim; any of
   them with "+reproducible" behind it. out is written as a whole, but must carry its size, as
   tsr_cost_default gives it. Pure but for reading the file. */
TSR_API tsr_status tsr_cost_parse(const char *text, tsr_cost *out, tsr_error *err);
/* The numbers that `mesh` plans with; out must carry its size. Set: Collective, all ranks the same
   values. */
TSR_API tsr_status tsr_cost_get(const tsr_mesh *mesh, tsr_cost *out);
TSR_API tsr_status tsr_cost_set(tsr_mesh *mesh, const tsr_cost *cost);
/* Reproducible mode, a flag of these numbers: what ops give does not depend, bit by bit, on the
   mesh, on placements or on the kind of world; only partial inputs are added up in the order of
   their ranks. Every sum is then made by one rank from all its terms, by kernels whose order does
   not depend on sizes; tessera explain says what that costs. Collective, all ranks the same. */
TSR_API tsr_status tsr_reproducible_set(tsr_mesh *mesh, bool on);
/* Limit of memory in bytes that one redistribution may use on a rank; 0: none. Collective. */
TSR_API tsr_status tsr_memory_limit_set(tsr_mesh *mesh, size_t bytes);
/* How many plans of ops, and of redistributions, a rank keeps for calls to come, and how many bytes
   they may take in all, with the specs that they are for. Beyond that those that were not used for
   long are forgotten, except plans of calls that run. The defaults are these two constants.
   tsr_counters.plan_bytes counts them. Local: ranks may differ. */
enum { TSR_PLAN_LIMIT = 16384, TSR_PLAN_BYTES = 16 << 20 };
TSR_API tsr_status tsr_plan_limit_set(tsr_mesh *mesh, int plans);
TSR_API tsr_status tsr_plan_bytes_set(tsr_mesh *mesh, size_t bytes);

typedef enum tsr_step_kind {
    TSR_STEP_SLICE = 0,          /* R -> S: each rank keeps its part; sends nothing */
    TSR_STEP_ALL_GATHER = 1,     /* S -> R */
    TSR_STEP_ALL_TO_ALL = 2,     /* S -> other S on one mesh dim */
    TSR_STEP_REDUCE_SCATTER = 3, /* P -> S */
    TSR_STEP_ALL_REDUCE = 4,     /* P -> R */
    TSR_STEP_EXCHANGE = 5,       /* any -> any: each rank gets just what it lacks */
    TSR_STEP_TO_PARTIAL = 6      /* R -> P: sends nothing */
} tsr_step_kind;

/* One step of a plan. Bytes are those received by the rank that receives most. */
typedef struct tsr_step {
    tsr_step_kind kind;
    bool mdims[TSR_MAX_MESH]; /* the mesh dims it runs over */
    int64_t bytes;
    size_t memory; /* bytes that must be held at once on a rank during this step */
    double seconds;
    char from[TSR_TEXT_LEN], to[TSR_TEXT_LEN]; /* layouts, S(0)/1,0 where the order is unusual */
} tsr_step;

typedef struct tsr_redist_info {
    int n_steps;
    double seconds; /* predicted */
    int64_t bytes;  /* received by the rank that receives most, all steps */
    size_t peak;    /* memory at the most, input included */
} tsr_redist_info;

typedef enum tsr_redist_rival {
    TSR_RIVAL_BEST = 0,        /* the cheapest plan */
    TSR_RIVAL_COLLECTIVES = 1, /* the cheapest without one-shot exchange */
    TSR_RIVAL_EXCHANGE = 2,    /* the one-shot exchange as early as possible */
    TSR_RIVAL_REPLICATE = 3    /* gather everything, then cut */
} tsr_redist_rival;

/* Plan a redistribution between two specs of one tensor. The meshes may differ. memory_limit 0 is
   none. The plan is the caller's: tsr_redist_free. Pure. */
TSR_API tsr_status tsr_redist_plan(const tsr_spec *from, const tsr_spec *to, const tsr_cost *cost,
                                   size_t memory_limit, tsr_redist_rival rival, tsr_redist **out,
                                   tsr_error *err);
TSR_API tsr_redist_info tsr_redist_info_get(const tsr_redist *plan);              /* Pure. */
TSR_API tsr_status tsr_redist_step(const tsr_redist *plan, int i, tsr_step *out); /* Pure. */
/* Bytes that world rank `rank` receives, and sends, over all steps. Pure. */
TSR_API int64_t tsr_redist_bytes_in(const tsr_redist *plan, int rank);
TSR_API int64_t tsr_redist_bytes_out(const tsr_redist *plan, int rank);
TSR_API void tsr_redist_free(tsr_redist *plan);
TSR_API const char *tsr_step_name(tsr_step_kind kind); /* Pure. "all-gather" */

/* The cost in seconds of moving `from` to each of n placements on the same mesh, in one pass;
   infinity where S -> P or P -> other P would be needed, or a partial dim that stays would have to
   be resolved on the way. Pure. */
TSR_API tsr_status tsr_redist_costs(const tsr_spec *from, const tsr_placement (*to)[TSR_MAX_MESH],
                                    int n, const tsr_cost *cost, double *seconds, tsr_error *err);

/* ---- what happened --------------------------------------------------------------------------- */

typedef struct tsr_counters {
    int64_t calls;     /* collective calls */
    int64_t bytes_in;  /* received by this rank (sim: by the busiest rank, predicted) */
    int64_t bytes_out; /* sent */
    int64_t plan_hits, plan_misses;
    size_t memory, memory_peak; /* held now, and at the most, by tensors and pool of this rank */
    double seconds;             /* sim: predicted time */
    /* bytes_in by the mesh dim that they came along; the last: along several, or between meshes.
       Sim: what an op moves by itself is along all dims of its mesh */
    int64_t along[TSR_MAX_MESH + 1];
    size_t plan_bytes; /* held now by plans that are kept; see tsr_plan_bytes_set */
} tsr_counters;
TSR_API tsr_counters tsr_counters_get(const tsr_mesh *mesh); /* Local. */
TSR_API void tsr_counters_reset(tsr_mesh *mesh);             /* Local. */
TSR_API void tsr_memory_trim(tsr_mesh *mesh);                /* Local. Give free buffers back. */

/* What one op did on this rank, since the start or the last reset; of the names "redistribute",
   "host transfers", "collectives" and "files" what the program did itself, and not an op for it.
   Times are measured only while statistics are on; TESSERA_STATS=1 turns them on and prints a table
   of all at the end, TESSERA_STATS=json one JSON object. Bytes
   are those of bringing inputs to where they are needed and those that the op moves by itself when
   it runs, ops that it calls then included. */
typedef struct tsr_op_counters {
    int64_t calls;
    int64_t
        along[TSR_MAX_MESH + 1]; /* bytes received for it by mesh dim; the last: along several */
    double predicted;            /* seconds for moving data */
    /* seconds measured: bringing inputs, and all of running. Lookups that run as a group share its
       time by the bytes that came for each */
    double moving, computing;
    double windows; /* of the latter: filling windows, as far as nothing was computed meanwhile */
    double hidden;  /* and what was: seconds of computing while windows were on their way */
} tsr_op_counters;
TSR_API tsr_op_counters tsr_op_counters_get(const tsr_mesh *mesh, const char *op); /* Local. */
TSR_API tsr_status tsr_statistics_set(tsr_mesh *mesh, bool on);                    /* Local. */

/* In strict mode an op that would redistribute an input over the network by itself is an error that
   names what it would have moved; tsr_redistribute is how to do it then. Also by TESSERA_STRICT=1.
   Collective. */
TSR_API tsr_status tsr_strict_set(tsr_mesh *mesh, bool on);
/* Redistributions of the current scope and those inside it may bring any rank this many bytes, from
   now on; the one that would bring more is an error on all ranks. Collective. */
TSR_API tsr_status tsr_scope_budget_set(tsr_mesh *mesh, int64_t bytes);
/* Ops that need more of an input than a rank's part may compute the interior of their output while
   the halo is fetched. Usually they do if the cost model says that it pays: where the network is
   slow against memory. Results are the same. Local. */
typedef enum tsr_overlap_mode {
    TSR_OVERLAP_AUTO = 0,
    TSR_OVERLAP_NEVER = 1,
    TSR_OVERLAP_ALWAYS = 2 /* where it can be done */
} tsr_overlap_mode;
TSR_API tsr_status tsr_overlap_set(tsr_mesh *mesh, tsr_overlap_mode mode);
/* Ops that need more of an input than a rank's part, as convolution does, leave what they brought
   with the tensor, up to this many bytes per rank and mesh, for the next op that needs the same:
   the weight's gradient after the convolution. It goes with the tensor, which all ranks have to let
   go of between the same calls, or when an op overwrites that; do not write into the parts of such
   tensors by hand. 0, the default: nothing more is kept. Collective over all ranks of the job. */
TSR_API tsr_status tsr_keep_windows_set(tsr_mesh *mesh, int64_t bytes);

/* ---- collectives on plain memory ------------------------------------------------------------- */

/* All of them run over the ranks of `mesh` in order of mesh index; a sub-mesh is a group. Results
   of reductions are bit-identical on all ranks and from run to run. Collective, each of them. */
TSR_API tsr_status tsr_barrier(tsr_mesh *mesh);
TSR_API tsr_status tsr_broadcast(tsr_mesh *mesh, tsr_dtype dtype, void *data, int64_t n, int root);
/* recv holds size * n elements, those of index i at i * n. In place: send is the own part of
   recv. */
TSR_API tsr_status tsr_all_gather(tsr_mesh *mesh, tsr_dtype dtype, const void *send, int64_t n,
                                  void *recv);
/* send holds size * n elements; rank i gets the reduction of the i-th n. In place: recv is the own
   part of send. */
TSR_API tsr_status tsr_reduce_scatter(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op,
                                      const void *send, int64_t n, void *recv);
/* In place: send is recv. */
TSR_API tsr_status tsr_all_reduce(tsr_mesh *mesh, tsr_dtype dtype, tsr_reduce op, const void *send,
                                  int64_t n, void *recv);
/* send_counts[i] elements go to index i, recv_counts[i] come from it, packed in order. */
TSR_API tsr_status tsr_all_to_all(tsr_mesh *mesh, tsr_dtype dtype, const void *send,
                                  const int64_t *send_counts, void *recv,
                                  const int64_t *recv_counts);
/* Between two ranks, by mesh index; the peer makes the opposite call. */
TSR_API tsr_status tsr_send(tsr_mesh *mesh, tsr_dtype dtype, const void *data, int64_t n, int to);
TSR_API tsr_status tsr_recv(tsr_mesh *mesh, tsr_dtype dtype, void *data, int64_t n, int from);

typedef enum tsr_collective_kind {
    TSR_COLL_BARRIER = 0,
    TSR_COLL_BROADCAST = 1,
    TSR_COLL_ALL_GATHER = 2,
    TSR_COLL_REDUCE_SCATTER = 3,
    TSR_COLL_ALL_REDUCE = 4,
    TSR_COLL_ALL_TO_ALL = 5,
    TSR_COLL_SEND = 6,
    TSR_COLL_RECV = 7
} tsr_collective_kind;

/* The same calls split in two, so that the program can compute in between. Any number may be
   started before the first is finished; buffers must stay until then. They may be finished in any
   order, all-reduces in the same one on all ranks. */
typedef struct tsr_collective {
    tsr_collective_kind kind;
    tsr_dtype dtype;
    tsr_reduce op;
    const void *send;
    void *recv;
    int64_t n;
    const int64_t *send_counts, *recv_counts;
    int peer; /* root of a broadcast, whose data is recv on all ranks; peer of send and recv */
} tsr_collective;
TSR_API tsr_status tsr_collective_start(tsr_mesh *mesh, const tsr_collective *call,
                                        tsr_request **out);
TSR_API tsr_status tsr_request_finish_take(tsr_request *request); /* Frees it, also on failure. */

#ifdef __cplusplus
}
#endif

#endif
