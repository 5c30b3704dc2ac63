/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_file.h - ONNX models and tensors from files, by protobuf-c. */
#ifndef TSR_TESTS_ONNX_FILE_H
#define TSR_TESTS_ONNX_FILE_H

#include <stdbool.h>

#include <tessera.h>

#include "onnx.pb-c.h"

/* A whole tensor in memory, row-major. */
typedef struct onnx_host {
    tsr_dtype dtype;
    tsr_shape shape;
    void *data;
} onnx_host;

/* NULL if the file is not there or cannot be read. Freed by onnx__model_proto__free_unpacked. */
Onnx__ModelProto *onnx_model_read(const char *path);
/* The tensor in a file; false: there is none. *why is set, to a static text, if it is there but of
   a kind that the library has not. */
bool onnx_tensor_read(const char *path, onnx_host *out, const char **why);
/* A tensor of a model; NULL, or why the library has none of its kind. */
const char *onnx_tensor_of(const Onnx__TensorProto *t, onnx_host *out);
void onnx_host_free(onnx_host *host);

/* The dtype of a number of TensorProto.DataType; false: the library has none. */
bool onnx_dtype(int number, tsr_dtype *out);

#endif
