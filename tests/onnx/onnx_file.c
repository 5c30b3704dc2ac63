/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_file.c - see onnx_file.h. */
#include "onnx_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    long n = -1;

    if (!f)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
        data = malloc((size_t)n + 1);
    *size = data ? fread(data, 1, (size_t)n, f) : 0;
    fclose(f);
    if (data && *size == (size_t)n)
        return data;
    free(data);
    return NULL;
}

Onnx__ModelProto *onnx_model_read(const char *path)
{
    size_t n;
    uint8_t *data = read_file(path, &n);
    Onnx__ModelProto *model = data ? onnx__model_proto__unpack(NULL, n, data) : NULL;

    free(data);
    return model;
}

bool onnx_dtype(int number, tsr_dtype *out)
{
    switch (number) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT: *out = TSR_F32; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE: *out = TSR_F64; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16: *out = TSR_F16; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16: *out = TSR_BF16; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32: *out = TSR_I32; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64: *out = TSR_I64; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT8: *out = TSR_I8; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT16: *out = TSR_I16; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8: *out = TSR_U8; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT16: *out = TSR_U16; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32: *out = TSR_U32; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64: *out = TSR_U64; return true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL: *out = TSR_BOOL; return true;
    default: return false;
    }
}

/* Element i of what is not raw. */
static void put_typed(const Onnx__TensorProto *t, tsr_dtype dtype, void *data, int64_t i)
{
    const size_t k = (size_t)i;

    if (dtype == TSR_F32)
        ((float *)data)[i] = k < t->n_float_data ? t->float_data[k] : 0;
    else if (dtype == TSR_F64)
        ((double *)data)[i] = k < t->n_double_data ? t->double_data[k] : 0;
    else if (dtype == TSR_I64)
        ((int64_t *)data)[i] = k < t->n_int64_data ? t->int64_data[k] : 0;
    else if (dtype == TSR_I32)
        ((int32_t *)data)[i] = k < t->n_int32_data ? t->int32_data[k] : 0;
    else if (dtype == TSR_U64)
        ((uint64_t *)data)[i] = k < t->n_uint64_data ? t->uint64_data[k] : 0;
    else if (dtype == TSR_U32)
        ((uint32_t *)data)[i] = k < t->n_uint64_data ? (uint32_t)t->uint64_data[k] : 0;
    else if (tsr_dtype_size(dtype) == 2) /* bits */
        ((uint16_t *)data)[i] = k < t->n_int32_data ? (uint16_t)t->int32_data[k] : 0;
    else
        ((uint8_t *)data)[i] = k < t->n_int32_data ? (uint8_t)t->int32_data[k] : 0;
}

const char *onnx_tensor_of(const Onnx__TensorProto *t, onnx_host *out)
{
    size_t bytes;

    memset(out, 0, sizeof *out);
    if (!onnx_dtype(t->data_type, &out->dtype))
        return t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING ? "strings" : "another dtype";
    if (t->n_dims > TSR_MAX_DIM)
        return "too many dims";
    out->shape.ndim = (int)t->n_dims;
    for (size_t d = 0; d < t->n_dims; d++)
        out->shape.size[d] = t->dims[d];
    bytes = (size_t)tsr_shape_count(&out->shape) * tsr_dtype_size(out->dtype);
    out->data = calloc(1, bytes + 1);
    if (!out->data)
        abort();
    if (t->has_raw_data && t->raw_data.len == bytes && bytes > 0)
        memcpy(out->data, t->raw_data.data, bytes);
    else
        for (int64_t i = 0; i < tsr_shape_count(&out->shape); i++)
            put_typed(t, out->dtype, out->data, i);
    return NULL;
}

bool onnx_tensor_read(const char *path, onnx_host *out, const char **why)
{
    size_t n;
    uint8_t *data = read_file(path, &n);
    Onnx__TensorProto *t = data ? onnx__tensor_proto__unpack(NULL, n, data) : NULL;

    memset(out, 0, sizeof *out);
    *why = NULL;
    if (data && !t)
        *why = "not a tensor";
    if (t)
        *why = onnx_tensor_of(t, out);
    if (t)
        onnx__tensor_proto__free_unpacked(t, NULL);
    free(data);
    return data != NULL;
}

void onnx_host_free(onnx_host *host)
{
    free(host->data);
    host->data = NULL;
}
