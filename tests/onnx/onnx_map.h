/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_map.h - nodes of ONNX graphs as calls of ops: a row for every operator. */
#ifndef TSR_TESTS_ONNX_MAP_H
#define TSR_TESTS_ONNX_MAP_H

#include <tessera_ext.h>
#include <tessera_ops.h>

#include "onnx_file.h"

enum { ONNX_IN = 16, ONNX_OUT = 8 };

/* A node that runs. */
typedef struct onnx_call {
    tsr_mesh *mesh;
    const Onnx__NodeProto *node;
    int n_in, n_out;
    tsr_tensor *in[ONNX_IN]; /* NULL: absent */
    tsr_tensor *out[ONNX_OUT];
    /* why it cannot be, if it cannot: an op that is not there, or what it means that ours do not */
    char missing[64];
    char differs[64];
} onnx_call;

typedef struct onnx_row {
    const char *onnx;
    const char *op; /* what runs, if it is one op */
    /* "dim=axis:-1 dims=axes@1": our attribute, theirs or their input, the default if any */
    const char *attrs;
    int n_in; /* number of inputs that are tensors; 0: all */
    void (*run)(onnx_call *call);
} onnx_row;

extern const onnx_row onnx_rows[]; /* ended by a row without a name */
extern const onnx_row onnx_shape_rows[];
extern const onnx_row onnx_quantised_rows[];
const onnx_row *onnx_row_at(int i); /* of all of them; NULL behind the last */

/* Sets out, or missing or differs, for a node whose inputs are set. False if there is no row. */
bool onnx_node_run(onnx_call *call);

/* ---- for rows ---- */

/* An op with attributes as text, "dim=1 keepdim=true"; NULL if it is not there, or an input is NULL
   that it needs. */
tsr_tensor *onnx_run(onnx_call *c, const char *op, tsr_tensor *const *in, int n, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
tsr_tensor *onnx_run1(onnx_call *c, const char *op, tsr_tensor *x);
tsr_tensor *onnx_run2(onnx_call *c, const char *op, tsr_tensor *a, tsr_tensor *b);
/* Several outputs. */
void onnx_run_all(onnx_call *c, const char *op, tsr_tensor *const *in, int n, const char *attrs,
                  tsr_tensor **out);

const Onnx__AttributeProto *onnx_attr(const onnx_call *c, const char *name);
int64_t onnx_int(const onnx_call *c, const char *name, int64_t otherwise);
double onnx_float(const onnx_call *c, const char *name, double otherwise);
const char *onnx_text(const onnx_call *c, const char *name, const char *otherwise);
/* Integers of an attribute, or else of input k (-1: none); how many, -1 if neither is there. */
int onnx_ints(const onnx_call *c, const char *name, int k, int64_t out[64]);
/* The value of a tensor of one element. */
double onnx_number(onnx_call *c, int k);
/* "1/2/3" */
const char *onnx_list(const int64_t *v, int n, char buf[512]);
tsr_tensor *onnx_from(onnx_call *c, tsr_dtype dtype, const int64_t *size, int ndim,
                      const void *data);
tsr_tensor *onnx_scalar(onnx_call *c, tsr_dtype dtype, double value);
tsr_tensor *onnx_reshape(onnx_call *c, tsr_tensor *x, const int64_t *size, int n);
void onnx_differs(onnx_call *c, const char *why);

#endif
