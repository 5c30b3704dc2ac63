# SPDX-License-Identifier: Apache-2.0
"""The number types: how they are stored, what they can hold, and how results are rounded to them.

Values are kept as float64 for all floating point types (each of their numbers is one) and in their
own numpy type for integers and bool, so that integers wrap as they should.
"""
import numpy as np

FLOATS = ("f32", "f64", "f16", "bf16")
INTS = ("i32", "i64", "u8", "i8", "i16", "u16", "u32", "u64")
NUMBERS = FLOATS + INTS
ALL = NUMBERS + ("bool",)

_STORED = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16,
           "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.uint8, "i8": np.int8,
           "i16": np.int16, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
_EPS = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}
# The least normal number: below it the distance between neighbours no longer shrinks.
_LEAST = {"f32": 2.0**-126, "f64": 2.0**-1022, "f16": 2.0**-14, "bf16": 2.0**-126}
_MOST = {"f32": float(np.finfo(np.float32).max), "f64": float(np.finfo(np.float64).max),
         "f16": 65504.0, "bf16": float.fromhex("0x1.fep127")}


def is_float(dtype):
    return dtype in FLOATS


def is_unsigned(dtype):
    return dtype[0] == "u" or dtype == "bool"


def value_type(dtype):
    """The numpy type in which values of a dtype are kept here."""
    if is_float(dtype):
        return np.float64
    return np.bool_ if dtype == "bool" else _STORED[dtype]


def eps(dtype):
    return _EPS[dtype]


def least(dtype):
    return _LEAST[dtype]


def most(dtype):
    return _MOST[dtype]


def int_range(dtype):
    info = np.iinfo(_STORED[dtype])
    return int(info.min), int(info.max)


def itemsize(dtype):
    return np.dtype(_STORED[dtype]).itemsize


def fine(dtype):
    """In what statistics of a dtype are given."""
    return "f32" if dtype in ("f16", "bf16") else dtype


def exact_type(dtype):
    """In what numpy computes what is expected: its own rounding must not count."""
    return np.longdouble if dtype == "f64" else np.float64


# Ranks store their terms, whose sizes add up to that of the sum; then each of up to 3 mesh dims is
# reduced and stored, and the output may be reduced or moved once more.
_STORED_TIMES = 5


def rounding(dtype, terms, scale):
    """How far from the truth a sum of so many terms may be whose absolute values add up to scale,
    in any order: half an ulp for each addition, in the type that sums of a dtype are kept in, and
    half an ulp of the dtype itself for each time it is stored. numpy's sums in f64 come on top."""
    half = (eps(fine(dtype)) + eps("f64")) / 2
    return scale * (half * terms + eps(dtype) / 2 * _STORED_TIMES)


def _bf16_bits(x):
    """Nearest, ties to even, from float64 directly: rounding to f32 first would round twice."""
    x = np.asarray(x, np.float64).ravel()
    with np.errstate(all="ignore"):
        exponent = np.frexp(x)[1]
        unit = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
        y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x).astype(np.float32)
    bits = y.view(np.uint32) >> np.uint32(16)
    return np.where(np.isnan(x), 0x7FC0, bits).astype(np.uint16)


def encode(value, dtype):
    """Values as they are stored: bytes of a row-major array."""
    if dtype == "bf16":
        return np.ascontiguousarray(_bf16_bits(value)).tobytes()
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(np.asarray(value).astype(_STORED[dtype])).tobytes()


def decode(data, dtype, shape):
    raw = np.frombuffer(data, _STORED[dtype])
    if dtype == "bf16":
        raw = (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    raw = raw.reshape(shape)
    if dtype == "bool":
        return raw != 0
    return raw.astype(np.float64) if is_float(dtype) else raw.copy()


def rounded(value, dtype):
    """The nearest numbers that a dtype has, as values."""
    value = np.asarray(value)
    return decode(encode(value, dtype), dtype, value.shape)
