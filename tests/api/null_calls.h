/* SPDX-License-Identifier: Apache-2.0 */
/* null_calls.h - what the calls need that make_null_calls writes: a rank's own arguments, and which
   of them is replaced. */
#ifndef TSR_TESTS_NULL_CALLS_H
#define TSR_TESTS_NULL_CALLS_H

#include <stddef.h>

#include <tessera_ext.h>
#include <tessera_train.h>

#include "op/op.h"

enum { NULL_CALLS_PARAMS = 13, NULL_CALLS_LIST = 12 };

/* Arguments of all kinds, of one rank. */
typedef struct null_calls {
    int null;   /* the argument that is NULL; -1: none */
    int failed; /* the argument that is an error tensor, or a list of such; -1: none */
    int holes;  /* the list of which all entries are NULL; -1: none */

    tsr_mesh *mesh;
    tsr_tensor *x, *added, *error, *watched, *owed;
    tsr_tensor *list[NULL_CALLS_LIST], *out[NULL_CALLS_LIST], *none_list[NULL_CALLS_LIST];
    tsr_tensor *error_list[NULL_CALLS_LIST], *watched_list[2], *out_list[TSR_OP_OUTPUTS];
    tsr_tensor *rows_list[2], *ones[1], *losses[1];
    tsr_tensor *const *lists[2];

    char buf[TSR_TEXT_LEN], *argv[2], file[64], idx[64], text[TSR_SKU_TEXT_LEN];
    const char *attrs[2];
    bool flag, flags[TSR_MAX_DIM], none[TSR_MAX_MESH];
    int count, dims[TSR_MAX_DIM], order[TSR_MAX_DIM], dim_map[TSR_MAX_DIM], no_dims[TSR_MAX_DIM];
    int peer;
    int64_t sizes[TSR_MAX_DIM], zeros[TSR_MAX_DIM], halves[TSR_MAX_DIM], threes[TSR_MAX_DIM];
    double doubles[TSR_MAX_DIM], data[64], recv[64];
    tsr_error err;

    const tsr_op *op;
    tsr_op row;
    tsr_placement want[TSR_MAX_MESH];
    tsr_heap heap;
    tsr_rules rules;
    tsr_redist *plan, *plan_out;
    tsr_optimizer *optimizer, *optimizer_out;
    tsr_dataset *dataset, *dataset_out;
    tsr_params *params, *params_out;
    tsr_mesh *mesh_out, *owed_mesh;
    tsr_request *request_out;

    tsr_attention_opts attention_opts;
    tsr_batches batches;
    tsr_class_opts class_opts;
    tsr_collective collective;
    tsr_conv_opts conv_opts;
    tsr_cost cost, cost_out;
    tsr_embedding_opts embedding_opts;
    tsr_grad_call grad_call;
    tsr_kernel_sku kernel_sku;
    tsr_mesh_shape mesh_shape;
    tsr_norm_opts norm_opts;
    tsr_op_strategy op_strategy, conv_strategy;
    tsr_optimizer_opts optimizer_opts;
    tsr_pool_opts pool_opts;
    tsr_rule rule;
    tsr_run_opts run_opts;
    tsr_schedule schedule;
    tsr_schema schema, conv_schema;
    tsr_shape shape, local;
    tsr_spec spec, specs[2];
    tsr_table_facts table_facts;
    tsr_table_use table_use;
    tsr_tables_opts tables_opts;
    tsr_row_sparse row_sparse, row_sparse_out;
    tsr_windows windows;
} null_calls;

/* What came of a call. */
typedef struct null_outcome {
    tsr_status status;
    tsr_tensor *tensor;
    const char *text;
} null_outcome;

typedef enum null_returns {
    RETURNS_STATUS,
    RETURNS_TENSOR,
    RETURNS_TEXT,
    RETURNS_VOID,
    RETURNS_OTHER
} null_returns;

typedef enum null_kind { IS_VALUE, IS_POINTER, IS_TENSOR, IS_LIST } null_kind;

typedef struct null_param {
    const char *name;
    null_kind kind;
    bool optional; /* NULL is no error */
    bool sparse;   /* a list with NULL entries is none */
    bool tells;    /* has a place for a sentence */
} null_param;

/* A public function; the table of all ends with one without a name. */
typedef struct null_call {
    const char *name;
    void (*call)(null_calls *f, null_outcome *o);
    null_returns returns;
    bool alike; /* all ranks can make the call with nothing wrong */
    int n_params;
    null_param param[NULL_CALLS_PARAMS];
} null_call;

extern const null_call null_calls_all[];

/* An argument, or what takes its place. */
#define POINTER(k, value) (f->null == (k) ? NULL : (value))
#define TENSOR(k, value) (f->null == (k) ? NULL : f->failed == (k) ? f->error : (value))
#define LIST(k, value)                                                                             \
    (f->null == (k)     ? NULL                                                                     \
     : f->failed == (k) ? f->error_list                                                            \
     : f->holes == (k)  ? f->none_list                                                             \
                        : (value))

/* Arguments that are made for the call. */
static inline tsr_tensor *made(null_calls *f, const char *spec)
{
    return tsr_full(f->mesh, spec, 0);
}
tsr_status null_calls_job(tsr_mesh *mesh, void *arg);
tsr_tensor *null_calls_function(tsr_tensor *const *in, int n_in, void *arg);
tsr_mesh *null_calls_taped(null_calls *f);
tsr_mesh *null_calls_paused(null_calls *f);
tsr_mesh *null_calls_pushed(null_calls *f);
tsr_mesh *null_calls_mesh(null_calls *f);
tsr_mesh *null_calls_mesh_to_ref(null_calls *f);
const char *null_calls_npy(null_calls *f);
const char *null_calls_idx(null_calls *f);
tsr_tensor *const *null_calls_losses(null_calls *f);
tsr_tensor *null_calls_in_scope(null_calls *f);
tsr_tensor *null_calls_kept(null_calls *f);
tsr_tensor *null_calls_owed(null_calls *f);
tsr_redist *null_calls_plan(null_calls *f);
tsr_optimizer *null_calls_optimizer(null_calls *f);
tsr_dataset *null_calls_dataset(null_calls *f);
tsr_params *null_calls_params(null_calls *f);
tsr_request *null_calls_request(null_calls *f);

#endif
