# SPDX-License-Identifier: Apache-2.0
"""Pointwise ops, comparisons, casts, and the ops composed of them."""
import math

import numpy as np

import numbers_model as nm
from calls import Call, Expected, exactly, smooth
from registry import COMPOSED, attr, model

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])  # (math has no wider ones)


def _sigmoid(x):
    return np.where(x < 0, np.exp(-np.logaddexp(0, -x)), 1 / (1 + np.exp(-np.abs(x))))


def _softplus(x):
    return np.logaddexp(0, x)


def _gelu(x):
    return np.where(np.isneginf(x), 0.0, x * 0.5 * _erfc(-x / math.sqrt(2)))


def _normal_density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _gelu_tanh(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x * _sigmoid(2 * inner)


def _gelu_tanh_slope(x):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    s = _sigmoid(2 * inner)
    return s + x * 2 * s * (1 - s) * slope


def _mish(x):
    return x * np.tanh(_softplus(x))


def _mish_slope(x):
    t = np.tanh(_softplus(x))
    return t + x * (1 - t * t) * _sigmoid(x)


def _relu(x):
    return np.where(x < 0, np.zeros_like(x), x)


# Of floating point types, where a small change of x changes little.
_SMOOTH = {
    "exp": np.exp, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "tanh": np.tanh,
    "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x), "mish": _mish,
    "softplus": _softplus, "sin": np.sin, "cos": np.cos, "erf": _erf, "tan": np.tan,
    "atan": np.arctan, "asin": np.arcsin, "acos": np.arccos,
    "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "log2": np.log2, "log10": np.log10,
    "logsigmoid": lambda x: -_softplus(-x), "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hardswish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
# What is added to the tolerance, in units of eps: composed ops lose digits where parts cancel.
_EXTRA = {
    "tan": lambda x: np.abs(np.tan(x)) * 4, "tanhshrink": lambda x: np.abs(x) * 2,
    "sinh": lambda x: 4 * np.abs(np.sinh(x)), "cosh": lambda x: 4 * np.cosh(x),
    "atanh": lambda x: np.abs(np.log1p(np.abs(x))) * 2 + 2 * np.abs(x),
    "softsign": lambda x: 4 * np.abs(x), "hardswish": lambda x: np.abs(x) * 4,
}
_DOMAIN = {"log": "positive", "log2": "positive", "log10": "positive", "sqrt": "positive",
           "rsqrt": "positive", "acosh": "from one", "atanh": "inside one",
           "asin": "inside one", "acos": "inside one",
           "log1p": "above minus one"}
_POLES = set(_DOMAIN) | {"reciprocal", "tan"}
# Where infinities, NaN and the largest numbers do not give what the formula above gives.
_TAME = {"mish", "hardswish", "softsign", "tan", "sinh", "cosh", "asinh", "acosh", "atanh",
         "tanhshrink", "silu", "sin", "cos"}


def _into(g, x, where):
    """Most of x moved to where a function is defined, terms and all being made anew."""
    if g.chance(0.1):
        return x
    moves = {"positive": np.abs, "from one": lambda v: 1 + np.abs(v),
             "inside one": lambda v: v / (1.5 + np.abs(v)),
             "above minus one": lambda v: np.abs(v) - 0.5}
    value = nm.rounded(moves[where](x.value), x.dtype)
    return g.tensor(x.dtype, x.shape, kind="unit", value=value, partial=False)


def _maybe_inplace(g, call):
    """The form that overwrites its first input, where the output is like that."""
    x, want = call.inputs[0], call.outputs[0]
    if (call.op not in COMPOSED and x.dtype == want.dtype and x.shape == want.value.shape
            and g.chance(0.15)):
        call.op += "_inplace"
        call.overwritten = {0}
    return call


@model(*_SMOOTH, weight=0.3)
def unary(g, name):
    dtype = g.pick(nm.FLOATS)
    kinds = ("whole", "unit", "wide") + (() if name in _TAME else ("special",))
    x = g.tensor(dtype, g.shape(), g.kind(dtype, kinds))
    if np.all(np.isfinite(x.value)) and name in _DOMAIN:
        x = _into(g, x, _DOMAIN[name])
    if name in _POLES and np.any(x.noise):
        x = g.exact(dtype, x.shape, kinds)  # not rounded across the end of its domain
    want = smooth(g.rng, _SMOOTH[name], [x], dtype)
    if name in _EXTRA:
        with np.errstate(all="ignore"):
            want.tolerance = want.tolerance + nm.eps(dtype) * np.abs(_EXTRA[name](x.value))
    return _maybe_inplace(g, Call(name, [x], [want]))


@model("gelu", "gelu_backward")
def gelu(g, name):
    dtype, by_tanh = g.pick(nm.FLOATS), g.chance(0.5)
    shape = g.shape()
    x = g.smooth(dtype, shape)
    attrs = [attr("tanh", by_tanh)] if by_tanh or g.chance(0.3) else []
    if name == "gelu":
        want = smooth(g.rng, _gelu_tanh if by_tanh else _gelu, [x], dtype)
        want.tolerance = want.tolerance + 4 * nm.eps(dtype) * np.minimum(np.abs(x.value), 1)
        return _maybe_inplace(g, Call(name, [x], [want], attrs))
    grad = g.smooth(dtype, shape)
    slope = _gelu_tanh_slope if by_tanh else (
        lambda v: 0.5 * _erfc(-v / math.sqrt(2)) + v * _normal_density(v))
    want = smooth(g.rng, lambda a, b: a * slope(b), [grad, x], dtype)
    want.tolerance = want.tolerance + 32 * nm.eps(dtype) * np.abs(grad.value)
    return Call(name, [grad, x], [want], attrs)


_BACKWARD = {
    "tanh_backward": lambda a, y: a * (1 - y) * (1 + y),
    "sigmoid_backward": lambda a, y: a * y * (1 - y),
    "silu_backward": lambda a, x: a * _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    "mish_backward": lambda a, x: a * _mish_slope(x),
}


@model(*_BACKWARD, weight=0.5)
def slope(g, name):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    grad, x = g.smooth(dtype, shape), g.smooth(dtype, shape)
    want = smooth(g.rng, _BACKWARD[name], [grad, x], dtype)
    want.tolerance = want.tolerance + 8 * nm.eps(dtype) * np.abs(grad.value) * (
        1 + np.abs(x.value) * (name[:4] in ("silu", "mish")))
    return Call(name, [grad, x], [want])


@model("relu_backward")
def relu_backward(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    grad, y = g.smooth(dtype, shape), g.exact(dtype, shape)
    want = smooth(g.rng, lambda a: np.where(y.value <= 0, 0.0, a), [grad], dtype, ulps=0,
                  factor=1)
    return Call("relu_backward", [grad, y], [want])


# ---- integers: exactly, as numbers without limits that wrap in the end

def wrap(values, dtype):
    """Python's integers as those of a dtype."""
    kind = nm.value_type(dtype)
    bits = 8 * nm.itemsize(dtype)
    low = nm.int_range(dtype)[0]
    flat = [((int(v) - low) % (1 << bits)) + low for v in np.asarray(values, object).ravel()]
    return np.array(flat, dtype=kind).reshape(np.shape(values))


def _objects(f, dtype):
    def apply(*arrays):
        arrays = np.broadcast_arrays(*arrays)
        flat = [f(*map(int, row)) for row in zip(*(a.ravel() for a in arrays))]
        return wrap(np.array(flat, object), dtype).reshape(arrays[0].shape)
    return apply


def _trunc_quotient(a, b):
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def _int_power(bits):
    def power(a, b):
        if b < 0:
            return a if a == 1 or (a == -1 and b % 2) else 1 if a == -1 else 0
        return pow(a, b, 1 << bits)
    return power


def _integer_binary(name, dtype):
    bits = 8 * nm.itemsize(dtype)
    rules = {
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
        "floor_divide": lambda a, b: a // b if b else 0, "trunc_divide": _trunc_quotient,
        "remainder": lambda a, b: a % b if b else a,
        "fmod": lambda a, b: a - b * _trunc_quotient(a, b) if b else a,
        "pow": _int_power(bits),
    }
    return _objects(rules[name], dtype)


def _divide(a, b, dtype, whole):
    """The quotient as it is computed, in f32 where the type is not wider, then made whole."""
    work = np.float64 if dtype == "f64" else np.float32
    return whole(a.astype(work) / b.astype(work)).astype(np.float64)


def _divisor(g, dtype, shape, kinds):
    """Exact, so that it is not rounded across the pole. Among infinities 0 is allowed; else a
    pending sum may be divided by it, term by term, and infinities cancel."""
    x = g.exact(dtype, shape, kinds)
    if "special" in kinds or np.all(x.value != 0):
        return x
    return g.tensor(dtype, shape, kind="whole", value=np.where(x.value == 0, 1.0, x.value),
                    partial=False)


@model("add", "sub", "mul", "div", "pow", weight=2.0)
def binary(g, name):
    _, (sa, sb) = g.broadcast(2)
    dtype = g.pick(nm.FLOATS if name == "div" else nm.ALL if name in ("add", "mul")
                   else nm.NUMBERS)
    if not nm.is_float(dtype):
        a, b = g.tensor(dtype, sa), g.tensor(dtype, sb)
        if dtype == "bool":  # as among booleans: or, and
            f = np.logical_or if name == "add" else np.logical_and
        else:
            f = _integer_binary(name, dtype)
        want = exactly(dtype, f(a.value, b.value))
        return _maybe_inplace(g, Call(name, [a, b], [want]))
    kinds = ("whole", "unit", "wide", "special")
    kind = g.kind(dtype, kinds)
    kinds = kinds[-1:] if kind == "special" else kinds[:-1]  # infinity times a pending sum is none
    a, b = g.tensor(dtype, sa, kind), g.tensor(dtype, sb, g.kind(dtype, kinds))
    if name == "div":
        b = _divisor(g, dtype, sb, kinds)
    if name == "pow":
        a, b = g.exact(dtype, sa), g.exact(dtype, sb)
    f = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
         "pow": np.power}[name]
    want = smooth(g.rng, f, [a, b], dtype, ulps=8 if name == "pow" else 1,
                  factor=4 if name == "pow" else 1)
    return _maybe_inplace(g, Call(name, [a, b], [want]))


@model("floor_divide", "trunc_divide", "remainder", "fmod")
def quotient(g, name):
    _, (sa, sb) = g.broadcast(2)
    dtype = g.pick(nm.NUMBERS)
    a, b = g.exact(dtype, sa), g.exact(dtype, sb)
    if not nm.is_float(dtype):
        want = exactly(dtype, _integer_binary(name, dtype)(a.value, b.value))
        return _maybe_inplace(g, Call(name, [a, b], [want]))
    with np.errstate(all="ignore"):
        x, y = np.broadcast_arrays(a.value, b.value)
        if name.endswith("divide"):
            whole = np.floor if name == "floor_divide" else np.trunc
            want = exactly(dtype, nm.rounded(_divide(x, y, dtype, whole), dtype))
        else:
            rest = np.fmod(x, y)
            if name == "remainder":
                rest = np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
            want = Expected(dtype, rest, nm.eps(dtype) * np.abs(rest))
    return _maybe_inplace(g, Call(name, [a, b], [want]))


@model("maximum", "minimum")
def extreme(g, name):
    _, (sa, sb) = g.broadcast(2)
    dtype = g.pick(nm.ALL)
    a, b = g.tensor(dtype, sa), g.tensor(dtype, sb)
    f = np.maximum if name == "maximum" else np.minimum
    if nm.is_float(dtype):
        want = smooth(g.rng, f, [a, b], dtype, ulps=0, factor=1)
    else:
        want = exactly(dtype, f(a.value, b.value))
    return _maybe_inplace(g, Call(name, [a, b], [want]))


@model("neg", "abs", "relu", "square")
def plain(g, name):
    dtype = g.pick(nm.NUMBERS)
    x = g.tensor(dtype, g.shape())
    f = {"neg": np.negative, "abs": np.abs, "relu": _relu, "square": lambda v: v * v}[name]
    if nm.is_float(dtype):
        want = smooth(g.rng, f, [x], dtype, ulps=1 if name == "square" else 0, factor=1)
    else:
        with np.errstate(all="ignore"):
            want = exactly(dtype, f(x.value))
    return _maybe_inplace(g, Call(name, [x], [want]))


@model("sign", "floor", "ceil", "round", "trunc", weight=0.5)
def stepped(g, name):
    dtype = g.pick(nm.NUMBERS if name == "sign" else nm.FLOATS)
    x = g.exact(dtype, g.shape(), None if name != "trunc" else ("whole", "unit", "wide"))
    if nm.is_float(dtype) and name != "sign" and g.chance(0.3) and np.all(np.isfinite(x.value)):
        x = g.tensor(dtype, x.shape, value=nm.rounded(np.rint(x.value) + 0.5, dtype),
                     partial=False)
    f = {"sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.rint,
         "trunc": np.trunc}[name]
    return _maybe_inplace(g, Call(name, [x], [exactly(dtype, f(x.value))]))


# ---- with numbers: quarters, which every floating point type has

def _quarter(g, low=-12, high=12):
    return g.number(low, high) / 4


def _scalar(g, dtype):
    """A number that the dtype has, and its text."""
    if nm.is_float(dtype):
        return _quarter(g)
    if dtype == "bool":
        return g.number(0, 1)
    low, high = nm.int_range(dtype)
    return g.pick((0, 1, 2, 3, 100, min(high, 255), g.number(max(low, -300), min(high, 300))))


@model("affine", weight=2.0)
def affine(g):
    dtype = g.pick(nm.NUMBERS)
    x = g.tensor(dtype, g.shape())
    mul, add = _scalar(g, dtype), _scalar(g, dtype)
    if nm.is_float(dtype):
        f = lambda v: v * mul + add  # noqa: E731
        want = smooth(g.rng, f, [x], dtype, ulps=2, factor=2)
        with np.errstate(all="ignore"):
            want.tolerance = want.tolerance + nm.eps(dtype) * np.abs(x.value * mul)
    else:
        want = exactly(dtype, _objects(lambda v: v * mul + add, dtype)(x.value))
    return _maybe_inplace(g, Call("affine", [x], [want], [attr("mul", mul), attr("add", add)]))


@model("clamp")
def clamp(g):
    dtype = g.pick(nm.NUMBERS)
    x = g.tensor(dtype, g.shape())
    ends = [_scalar(g, dtype) if g.chance(0.7) else None for _ in range(2)]
    if ends == [None, None]:
        ends[g.number(0, 1)] = _scalar(g, dtype)

    def f(v):
        if ends[0] is not None:
            v = np.where(v < ends[0], v.dtype.type(ends[0]), v)
        return v if ends[1] is None else np.where(v > ends[1], v.dtype.type(ends[1]), v)

    want = (smooth(g.rng, f, [x], dtype, ulps=0, factor=1) if nm.is_float(dtype)
            else exactly(dtype, f(x.value)))
    attrs = [attr("min", ends[0]), attr("max", ends[1])]
    return _maybe_inplace(g, Call("clamp", [x], [want], attrs))


@model("fill")
def fill(g):
    dtype = g.pick(nm.ALL)
    x, value = g.tensor(dtype, g.shape()), _scalar(g, dtype)
    want = exactly(dtype, np.full(x.shape, value))
    return _maybe_inplace(g, Call("fill", [x], [want], [attr("value", value)]))


@model("masked_fill")
def masked_fill(g):
    dtype = g.pick(nm.ALL)
    _, (sx, sm) = g.broadcast(2)
    x, mask, value = g.tensor(dtype, sx), g.tensor("bool", sm), _scalar(g, dtype)
    f = lambda v: np.where(mask.value, v.dtype.type(value), v)  # noqa: E731
    want = (smooth(g.rng, f, [x], dtype, ulps=0, factor=1) if nm.is_float(dtype)
            else exactly(dtype, f(x.value)))
    return _maybe_inplace(g, Call("masked_fill", [x, mask], [want], [attr("value", value)]))


@model("where")
def where(g):
    dtype = g.pick(nm.ALL)
    _, (sc, sa, sb) = g.broadcast(3)
    cond, a, b = g.tensor("bool", sc), g.tensor(dtype, sa), g.tensor(dtype, sb)
    f = lambda u, v: np.where(cond.value, u, v)  # noqa: E731
    want = (smooth(g.rng, f, [a, b], dtype, ulps=0, factor=1) if nm.is_float(dtype)
            else exactly(dtype, f(a.value, b.value)))
    return Call("where", [cond, a, b], [want])


@model("lerp")
def lerp(g):
    dtype = g.pick(nm.FLOATS)
    if g.chance(0.5):
        _, shapes = g.broadcast(3)
        x = [g.smooth(dtype, s) for s in shapes]
        f, attrs = (lambda a, b, w: a + w * (b - a)), []
    else:
        _, shapes = g.broadcast(2)
        x, weight = [g.smooth(dtype, s) for s in shapes], _quarter(g, -4, 8)
        f, attrs = (lambda a, b: a + weight * (b - a)), [attr("weight", weight)]
    want = smooth(g.rng, f, x, dtype, ulps=2, factor=4)
    want.tolerance = want.tolerance + 4 * nm.eps(dtype) * (
        np.abs(x[0].value) + np.abs(want.value - x[0].value))  # b - a is rounded, too
    return _maybe_inplace(g, Call("lerp", x, [want], attrs))


@model("addcmul", "addcdiv")
def addc(g, name):
    dtype = g.pick(nm.NUMBERS if name == "addcmul" else nm.FLOATS)
    _, shapes = g.broadcast(3)
    value = _scalar(g, dtype)
    x = [g.tensor(dtype, s, g.kind(dtype, ("whole", "unit", "wide", "full"))) for s in shapes]
    if name == "addcdiv":
        x[2] = _divisor(g, dtype, shapes[2], ("whole", "unit", "wide"))
    attrs = [attr("value", value)]
    if not nm.is_float(dtype):
        want = exactly(dtype, _objects(lambda a, b, c: a + value * b * c, dtype)(
            *(t.value for t in x)))
        return _maybe_inplace(g, Call(name, x, [want], attrs))
    if name == "addcmul":
        f = lambda a, b, c: a + value * b * c  # noqa: E731
    else:
        f = lambda a, b, c: a + value * (b / c)  # noqa: E731
    want = smooth(g.rng, f, x, dtype, ulps=2, factor=4)
    return _maybe_inplace(g, Call(name, x, [want], attrs))


@model("leaky_relu", "elu", "celu", "selu", weight=0.5)
def bent(g, name):
    dtype = g.pick(nm.FLOATS)
    x, alpha = g.tensor(dtype, g.shape()), _quarter(g, 1, 8)
    scale = _quarter(g, 1, 8)
    f, attrs = {
        "leaky_relu": (lambda v: np.where(v < 0, alpha * v, v), [attr("negative_slope", alpha)]),
        "elu": (lambda v: np.where(v < 0, alpha * np.expm1(np.minimum(v, 0)), v),
                [attr("alpha", alpha)]),
        "celu": (lambda v: np.where(v < 0, alpha * np.expm1(np.minimum(v, 0) / alpha), v),
                 [attr("alpha", alpha)]),
        "selu": (lambda v: scale * np.where(v < 0, alpha * np.expm1(np.minimum(v, 0)), v),
                 [attr("alpha", alpha), attr("scale", scale)]),
    }[name]
    want = smooth(g.rng, f, [x], dtype)
    return _maybe_inplace(g, Call(name, [x], [want], attrs))


@model("hardsigmoid", "softshrink", "hardshrink", "threshold", weight=0.5)
def hard(g, name):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    p, q = abs(_quarter(g)), _quarter(g)
    if name == "hardsigmoid":
        x = g.smooth(dtype, shape)
        want = smooth(g.rng, lambda v: np.clip(v * p + q, 0, 1), [x], dtype)
        want.tolerance = want.tolerance + nm.eps(dtype) * (np.abs(x.value * p) + abs(q))
        return Call(name, [x], [want], [attr("alpha", p), attr("beta", q)])
    if name == "softshrink":
        x = g.smooth(dtype, shape)
        f = lambda v: np.where(v > p, v - p, np.where(v < -p, v + p, 0.0))  # noqa: E731
        return Call(name, [x], [smooth(g.rng, f, [x], dtype, factor=1)], [attr("lambd", p)])
    x = g.exact(dtype, shape, ("whole", "unit", "wide"))
    if name == "hardshrink":
        y = np.where(np.abs(x.value) > p, x.value, 0.0)
        return Call(name, [x], [exactly(dtype, y)], [attr("lambd", p)])
    return Call(name, [x], [exactly(dtype, np.where(x.value > p, x.value, q))],
                [attr("threshold", p), attr("value", q)])


@model("prelu")
def prelu(g):
    dtype = g.pick(nm.NUMBERS)
    shape = g.shape(1, 4)
    weight = shape[g.number(0, len(shape)):]
    if not nm.is_float(dtype):
        x, w = g.tensor(dtype, shape), g.tensor(dtype, weight)
        f = _objects(lambda v, u: v if v > 0 else u * v, dtype)
        return Call("prelu", [x, w], [exactly(dtype, f(x.value, w.value))])
    x, w = g.smooth(dtype, shape), g.smooth(dtype, weight)
    want = smooth(g.rng, lambda v, u: np.where(v > 0, v, u * v), [x, w], dtype)
    return Call("prelu", [x, w], [want])


# ---- comparisons

@model("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
       weight=0.5)
def compare(g, name):
    dtype = g.pick(nm.ALL)
    _, (sa, sb) = g.broadcast(2)
    a, b = g.exact(dtype, sa), g.exact(dtype, sb)
    f = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
         "gt": np.greater, "ge": np.greater_equal}.get(name) or getattr(np, name)
    return Call(name, [a, b], [exactly("bool", f(a.value, b.value))])


@model("logical_not", "isnan", "isinf", "isposinf", "isneginf", weight=0.5)
def question(g, name):
    dtype = g.pick(nm.ALL if name == "logical_not" else nm.NUMBERS)
    x = g.exact(dtype, g.shape())
    f = {"isnan": np.isnan, "isinf": np.isinf, "isposinf": np.isposinf,
         "isneginf": np.isneginf, "logical_not": np.logical_not}[name]
    finite = name != "logical_not" and not nm.is_float(dtype)
    value = np.zeros(x.shape, bool) if finite else f(x.value)
    return Call(name, [x], [exactly("bool", value)])


@model("cast", weight=3.0)
def cast(g):
    dtype, to = g.pick(nm.ALL), g.pick(nm.ALL)
    if nm.is_float(dtype) and nm.is_float(to):
        x = g.tensor(dtype, g.shape())
        want = smooth(g.rng, lambda v: v, [x], to, ulps=0.5, factor=1)
        if not np.any(x.noise):
            want = exactly(to, nm.rounded(x.value, to))
        return Call("cast", [x], [want], [attr("dtype", to)])
    x = g.exact(dtype, g.shape())
    return Call("cast", [x], [_converted(x.value, dtype, to)], [attr("dtype", to)])


def _converted(value, dtype, to):
    if to == "bool":
        return exactly(to, value != 0)
    if nm.is_float(to):
        exact = value.astype(np.float64)
        if dtype in ("i64", "u64"):  # more digits than float64 has: either neighbour
            return Expected(to, exact, nm.eps(to) * 0.5001 * np.abs(exact))
        return exactly(to, nm.rounded(exact, to))
    low, high = nm.int_range(to)
    flat = []
    for v in value.ravel():
        if dtype == "bool":
            v = int(v)
        elif nm.is_float(dtype):
            v = 0 if np.isnan(v) else high if v >= high else low if v <= low else int(v)
        flat.append(min(max(int(v), low), high))
    return exactly(to, np.array(flat, dtype=nm.value_type(to)).reshape(value.shape))
