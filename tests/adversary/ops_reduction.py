# SPDX-License-Identifier: Apache-2.0
"""Reductions, statistics, scans, softmax, sorting."""
import numpy as np

import numbers_model as nm
from calls import Call, Expected, exactly, linear, smooth
from registry import attr, model

_TAME = ("whole", "unit", "wide")


def _count(shape, dims):
    return int(np.prod([shape[d] for d in dims], dtype=np.int64))


def _full_dims(g, shape, written):
    """Some dims to reduce, in which there is something to choose from."""
    dims, text = g.dims(len(shape))
    while written and _count(shape, dims) == 0:
        shape = g.shape()
        dims, text = g.dims(len(shape))
    return shape, dims, text


def _attrs(text, keepdim):
    return [attr("dims", text), attr("keepdim", keepdim) if keepdim else None]


@model("sum", "mean")
def total(g, name):
    dtype = g.pick(nm.ALL if name == "sum" else nm.FLOATS)
    shape = g.shape()
    dims, text = g.dims(len(shape))
    keepdim, n = g.chance(0.4), _count(shape, dims)
    x = g.tensor(dtype, shape, g.kind(dtype, _TAME + ("full",)))
    f = lambda v: v.sum(axis=dims, keepdims=keepdim, dtype=v.dtype)  # noqa: E731
    want = linear(f, [x], dtype, n)
    if name == "mean":
        with np.errstate(all="ignore"):
            want = Expected(dtype, np.divide(want.value, n),
                            want.tolerance / max(n, 1)
                            # ranks divide their sums
                            + nm.rounding(dtype, 1, f(x.scale) / max(n, 1)))
    return Call(name, [x], [want], _attrs(text, keepdim))


@model("max", "min")
def extreme(g, name):
    dtype = g.pick(nm.ALL)
    shape, dims, text = _full_dims(g, g.shape(), True)
    keepdim = g.chance(0.4)
    x = g.exact(dtype, shape)
    f = np.max if name == "max" else np.min
    return Call(name, [x], [exactly(dtype, f(x.value, axis=dims, keepdims=keepdim))],
                _attrs(text, keepdim))


@model("prod")
def prod(g):
    dtype, shape = g.pick(nm.ALL), g.shape()
    dims, text = g.dims(len(shape))
    keepdim, n = g.chance(0.4), _count(shape, dims)
    x = g.factors(dtype, shape, n)
    f = lambda v: v.prod(axis=dims, keepdims=keepdim, dtype=v.dtype)  # noqa: E731
    if nm.is_float(dtype):
        want = smooth(g.rng, f, [x], dtype, ulps=2 + n, factor=2)
    else:
        want = exactly(dtype, f(x.value))
    return Call("prod", [x], [want], _attrs(text, keepdim))


@model("any", "all")
def truth(g, name):
    dtype, shape = g.pick(nm.ALL), g.shape()
    dims, text = g.dims(len(shape))
    keepdim = g.chance(0.4)
    x = g.exact(dtype, shape)
    f = np.any if name == "any" else np.all
    return Call(name, [x], [exactly("bool", f(x.value != 0, axis=dims, keepdims=keepdim))],
                _attrs(text, keepdim))


@model("norm")
def norm(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    p = g.pick((1, 2, np.inf))
    dims, text = g.dims(len(shape))
    keepdim, n = g.chance(0.4), _count(shape, dims)
    x = g.smooth(dtype, shape)

    def f(v):
        if p == 1:
            return np.abs(v).sum(axis=dims, keepdims=keepdim)
        if p == 2:
            return np.sqrt((v * v).sum(axis=dims, keepdims=keepdim))
        return np.abs(v).max(axis=dims, keepdims=keepdim, initial=0.0)

    want = smooth(g.rng, f, [x], dtype, terms=n)
    return Call("norm", [x], [want], _attrs(text, keepdim) + [attr("p", float(p))])


@model("var", "std")
def variance(g, name):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    dims, text = g.dims(len(shape))
    keepdim, n, less = g.chance(0.4), _count(shape, dims), g.pick((0, 1, 1, 2))
    x = g.smooth(dtype, shape)

    def f(v):
        rest = v - v.mean(axis=dims, keepdims=True) if n else v
        y = np.divide((rest * rest).sum(axis=dims, keepdims=keepdim), max(n - less, 0))
        return np.sqrt(y) if name == "std" else y

    want = smooth(g.rng, f, [x], dtype, terms=n)
    if n:
        # n squares are added up, and so is the mean, relative to the largest number
        largest = np.abs(x.value).max(axis=dims, keepdims=keepdim, initial=0.0)
        with np.errstate(all="ignore"):
            room = nm.rounding(dtype, n, largest)
            want.tolerance = (want.tolerance + nm.rounding(dtype, n, np.abs(want.value))
                              + (room if name == "std" else room * room))
    return Call(name, [x], [want], _attrs(text, keepdim) + [attr("correction", less)])


@model("logsumexp")
def logsumexp(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape()
    dims, text = g.dims(len(shape))
    keepdim, n = g.chance(0.4), _count(shape, dims)
    x = g.tensor(dtype, shape, g.kind(dtype, _TAME + ("special",)))
    want = smooth(g.rng, lambda v: _logsumexp(v, dims, keepdim), [x], dtype, terms=n)
    with np.errstate(all="ignore"):
        largest = np.abs(x.value).max(axis=dims, keepdims=keepdim, initial=0.0)
        # n exponentials are added up, whose sum is the slope of its logarithm
        want.tolerance = want.tolerance + nm.rounding(
            dtype, n, 1 + np.where(np.isfinite(largest), largest, 0))
    return Call("logsumexp", [x], [want], _attrs(text, keepdim))


def _logsumexp(v, dims, keepdim):
    most = v.max(axis=dims, keepdims=True, initial=-np.inf)
    most = np.where(np.isfinite(most), most, 0.0)
    y = np.log(np.exp(v - most).sum(axis=dims, keepdims=True)) + most
    return y if keepdim else y.reshape([n for d, n in enumerate(v.shape) if d not in dims])


@model("argmax", "argmin", weight=2.0)
def arg(g, name):
    dtype, shape = g.pick(nm.ALL), g.shape()
    while 0 in shape:
        shape = g.shape()
    keepdim = g.chance(0.4)
    x = g.exact(dtype, shape, ("whole", "whole", "unit", "special", "full"))
    d, text = g.dim(len(shape), x) if shape and g.chance(0.75) else (None, None)
    f = np.argmax if name == "argmax" else np.argmin
    y = f(x.value, axis=d)
    if keepdim:
        y = np.expand_dims(y, d) if d is not None else np.reshape(y, (1,) * len(shape))
    return Call(name, [x], [exactly("i64", y)],
                [attr("dim", text), attr("keepdim", keepdim) if keepdim else None])


@model("cumsum", "cumprod")
def scan(g, name):
    dtype, shape = g.pick(nm.NUMBERS), g.shape(1, 4)
    d, text = g.dim(len(shape))
    x = (g.factors(dtype, shape, shape[d]) if name == "cumprod"
         else g.tensor(dtype, shape, g.kind(dtype, ("whole", "unit", "full"))))
    reverse = g.chance(0.4)

    def f(v):
        v = np.flip(v, d) if reverse else v
        y = (np.cumsum if name == "cumsum" else np.cumprod)(v, axis=d, dtype=v.dtype)
        return np.flip(y, d) if reverse else y

    if name == "cumsum":
        want = linear(f, [x], dtype, shape[d])
    elif nm.is_float(dtype):
        want = smooth(g.rng, f, [x], dtype, ulps=2 + shape[d], factor=2)
    else:
        want = exactly(dtype, f(x.value))
    return Call(name, [x], [want], [attr("dim", text), attr("reverse", reverse)])


# ---- softmax

def softmax_of(v, d):
    if not v.size:
        return v
    e = np.exp(v - v.max(axis=d, keepdims=True))
    return e / e.sum(axis=d, keepdims=True)


def log_softmax_of(v, d):
    if not v.size:
        return v
    v = v - v.max(axis=d, keepdims=True)
    return v - np.log(np.exp(v).sum(axis=d, keepdims=True))


@model("softmax", "log_softmax")
def softmax(g, name):
    dtype, shape = g.pick(nm.FLOATS), g.shape(1, 4)
    x = g.smooth(dtype, shape)
    d, text = g.dim(len(shape), x)
    f = softmax_of if name == "softmax" else log_softmax_of
    want = smooth(g.rng, lambda v: f(v, d), [x], dtype, terms=4)
    scale = np.abs(want.value)
    if name == "log_softmax":
        scale = np.ptp(x.value, axis=d, keepdims=True) + 1 if x.value.size else 1.0
    want.tolerance = want.tolerance + nm.rounding(dtype, shape[d], scale)
    return Call(name, [x], [want], [attr("dim", text)])


@model("softmax_backward", "log_softmax_backward")
def softmax_backward(g, name):
    dtype, shape = g.pick(nm.FLOATS), g.shape(1, 4)
    d, text = g.dim(len(shape))
    grad = g.smooth(dtype, shape)
    with np.errstate(all="ignore"):
        y = softmax_of(g.numbers(dtype, shape, "unit"), d)
        y = y if name == "softmax_backward" else np.log(y)
    y = g.tensor(dtype, shape, "unit", value=nm.rounded(y, dtype))
    if name == "softmax_backward":
        f = lambda a, b: b * (a - (a * b).sum(axis=d, keepdims=True))  # noqa: E731
        scale = lambda a, b: b * (a + (a * b).sum(axis=d, keepdims=True))  # noqa: E731
    else:
        f = lambda a, b: a - np.exp(b) * a.sum(axis=d, keepdims=True)  # noqa: E731
        scale = lambda a, b: a + np.exp(b) * a.sum(axis=d, keepdims=True)  # noqa: E731
    want = smooth(g.rng, f, [grad, y], dtype, terms=shape[d])
    sizes = scale(np.abs(grad.value), np.abs(y.value) if name[0] == "s" else y.value)
    want.tolerance = want.tolerance + nm.rounding(dtype, shape[d], sizes)
    return Call(name, [grad, y], [want], [attr("dim", text)])


# ---- sorting

def _order(v, d, descending):
    """Indices that sort stably; NaN is the largest."""
    if not descending:
        return np.argsort(v, axis=d, kind="stable")
    flipped = np.argsort(np.flip(v, d), axis=d, kind="stable")
    return np.flip(v.shape[d] - 1 - flipped, d)


@model("sort")
def sort(g):
    dtype, shape = g.pick(nm.ALL), g.shape(1, 4)
    x = g.exact(dtype, shape)
    d, text = g.dim(len(shape), x)
    descending = g.chance(0.5)
    order = _order(x.value, d, descending)
    value = np.take_along_axis(x.value, order, d)
    return Call("sort", [x], [exactly(dtype, value), exactly("i64", order)],
                [attr("dim", text), attr("descending", descending)])


@model("topk")
def topk(g):
    dtype, shape = g.pick(nm.ALL), g.shape(1, 4)
    x = g.exact(dtype, shape)
    d, text = g.dim(len(shape), x)
    largest, k = g.chance(0.5), g.number(0, shape[d])
    order = np.take(_order(x.value, d, largest), np.arange(k), axis=d)
    value = np.take_along_axis(x.value, order, d)
    return Call("topk", [x], [exactly(dtype, value), exactly("i64", order)],
                [attr("k", k), attr("dim", text), attr("largest", largest)])
