/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops.h - the operators of ONNX (ai.onnx, opset 22) and what of ours stands for each. */
#ifndef ONNX_OPS_H
#define ONNX_OPS_H

/* At most one of by, host and never is there; none: it is missing. */
typedef struct onnx_operator {
    const char *group, *name;
    const char *by;    /* ops of ours, "add,affine" */
    const char *host;  /* what of the library says or makes the same without an op */
    const char *never; /* why a library of tensors does not have it */
} onnx_operator;

extern const onnx_operator onnx_operators[]; /* by group; ended by one without a name */

#endif
