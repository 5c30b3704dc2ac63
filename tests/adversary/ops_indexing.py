# SPDX-License-Identifier: Apache-2.0
"""Ops by indices. Now and then one index is out of range: an error is expected then."""
import numpy as np

import numbers_model as nm
from calls import Call, Expected, exactly, linear
from registry import attr, model

BAD_INDEX = 0.06  # how often


def spoil(g, index, count, negative=True, least=0):
    """With some luck, one index that is out of range: (index tensor, part of the sentence).

    least is -1 where that stands for nothing."""
    if not index.value.size or not g.chance(BAD_INDEX):
        return index, None
    low, high = nm.int_range(index.dtype)
    below = [least - 1, least - count - 1, low] if negative else []
    bad = g.pick([count, count + 1, high, 10**9] + below)
    value = index.value.copy()
    at = tuple(g.number(0, n - 1) for n in value.shape)
    value[at] = bad
    return g.tensor(index.dtype, value.shape, value=value, partial=False), str(bad)


def _filled(g, low, high, most=9):
    return tuple(max(n, 1) for n in g.shape(low, high, most))


def _smaller(g, shape, d, length):
    """A shape of an index: length along d, at most the sizes of x elsewhere."""
    return tuple(length if k == d else g.number(max(0, n - 2), n) for k, n in enumerate(shape))


def _copied(x, f, name, inputs, attrs, error):
    value = f(x.value) if error is None else None
    if error is not None:
        return Call(name, inputs, [], attrs, error)
    room = f(np.broadcast_to(x.noise, x.shape)) if np.any(x.noise) else 0.0
    want = Expected(x.dtype, value, room) if np.any(room) else exactly(x.dtype, value)
    return Call(name, inputs, [want], attrs)


@model("gather", weight=2.0)
def gather(g):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 1, 3))
    d, text = g.dim(len(x.shape), x)
    shape = _smaller(g, x.shape, d, g.size())
    index, bad = spoil(g, g.indices(shape, x.shape[d]), x.shape[d])
    cut = tuple(slice(None) if k == d else slice(n) for k, n in enumerate(shape))
    return _copied(x, lambda v: np.take_along_axis(v[cut], index.value.astype(np.int64), d),
                   "gather", [x, index], [attr("dim", text)], bad)


@model("index_select", weight=2.0)
def index_select(g):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 1, 3))
    d, text = g.dim(len(x.shape), x)
    index, bad = spoil(g, g.indices((g.size(12),), x.shape[d]), x.shape[d])
    return _copied(x, lambda v: np.take(v, index.value, axis=d), "index_select", [x, index],
                   [attr("dim", text)], bad)


@model("take", weight=2.0)
def take(g):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 0, 3))
    index, bad = spoil(g, g.indices(g.shape(0, 3), x.value.size), x.value.size)
    return _copied(x, lambda v: np.take(v.ravel(), index.value), "take", [x, index], [], bad)


def _scattered(g, name, dtype):
    """Inputs of a scatter: x, index, src, and where the elements of src go."""
    x = g.tensor(dtype, _filled(g, 1, 3), g.kind(dtype, ("whole", "unit", "full")))
    d, text = g.dim(len(x.shape), x)
    shape = _smaller(g, x.shape, d, g.size())
    index, bad = spoil(g, g.indices(shape, x.shape[d]), x.shape[d])
    larger = tuple(n + g.pick((0, 0, 0, 1)) for n in shape)
    src = g.tensor(dtype, larger, g.kind(dtype, ("whole", "unit", "full")))
    return x, index, src, d, text, bad


def _places(index, d):
    """Full coordinates of the elements that index names along d, in its row-major order."""
    where = list(np.indices(index.shape).reshape(index.ndim, -1))
    where[d] = index.astype(np.int64).ravel()
    return tuple(where)


@model("scatter", weight=2.0)
def scatter(g):
    x, index, src, d, text, bad = _scattered(g, "scatter", g.pick(nm.ALL))
    inputs, attrs = [x, index, src], [attr("dim", text)]
    if bad:
        return Call("scatter", inputs, [], attrs, bad)
    cut = tuple(slice(n) for n in index.shape)

    def f(a, b):
        y = np.array(np.broadcast_to(a, x.shape))
        b = np.broadcast_to(b, src.shape)[cut]
        for k in range(index.shape[d]):  # the last along dim wins
            at = (slice(None),) * d + (slice(k, k + 1),)
            where = list(np.indices(index.value[at].shape))
            where[d] = index.value[at].astype(np.int64)
            y[tuple(where)] = b[at]
        return y

    room = f(x.noise, src.noise) if nm.is_float(x.dtype) else 0.0
    value = f(x.value, src.value)
    want = Expected(x.dtype, value, room) if np.any(room) else exactly(x.dtype, value)
    return Call("scatter", inputs, [want], attrs)


@model("scatter_add", weight=2.0)
def scatter_add(g):
    x, index, src, d, text, bad = _scattered(g, "scatter_add", g.pick(nm.NUMBERS))
    inputs, attrs = [x, index, src], [attr("dim", text)]
    if bad:
        return Call("scatter_add", inputs, [], attrs, bad)
    cut = tuple(slice(n) for n in index.shape)

    def f(a, b):
        y = a.copy()
        np.add.at(y, _places(index.value, d), b[cut].ravel())
        return y

    return Call("scatter_add", inputs, [linear(f, [x, src], x.dtype, index.shape[d])], attrs)


@model("index_add", weight=2.0)
def index_add(g):
    dtype = g.pick(nm.NUMBERS)
    x = g.tensor(dtype, _filled(g, 1, 3), g.kind(dtype, ("whole", "unit", "full")))
    d, text = g.dim(len(x.shape), x)
    n = g.size(12)
    index, bad = spoil(g, g.indices((n,), x.shape[d]), x.shape[d])
    src = g.tensor(dtype, x.shape[:d] + (n,) + x.shape[d + 1:],
                   g.kind(dtype, ("whole", "unit", "full")))
    inputs, attrs = [x, index, src], [attr("dim", text)]
    if bad:
        return Call("index_add", inputs, [], attrs, bad)

    def f(a, b):
        y = np.moveaxis(a.copy(), d, 0)
        np.add.at(y, index.value, np.moveaxis(b, d, 0))
        return np.moveaxis(y, 0, d)

    return Call("index_add", inputs, [linear(f, [x, src], dtype, n)], attrs)


@model("scatter_backward", weight=2.0)
def scatter_backward(g):
    x, index, _, d, text, bad = _scattered(g, "scatter_backward", g.pick(nm.FLOATS))
    last = np.full(x.shape, -1)
    if not bad:
        for k in range(index.shape[d]):
            at = (slice(None),) * d + (slice(k, k + 1),)
            where = list(np.indices(index.value[at].shape))
            where[d] = index.value[at].astype(np.int64)
            last[tuple(where)] = k

    def f(v):
        at = index.value.astype(np.int64)
        cut = tuple(slice(None) if k == d else slice(n) for k, n in enumerate(index.shape))
        wins = np.take_along_axis(last[cut], at, d) == np.indices(index.shape)[d]
        return np.where(wins, np.take_along_axis(v[cut], at, d), 0.0)

    return _copied(x, f, "scatter_backward", [x, index], [attr("dim", text)], bad)


@model("one_hot", weight=2.0)
def one_hot(g):
    classes, dtype = g.number(1, 9), g.pick(nm.NUMBERS)
    ids, bad = spoil(g, g.indices(g.shape(0, 3), classes), classes)
    attrs = [attr("classes", classes), attr("dtype", dtype)]
    if bad:
        return Call("one_hot", [ids], [], attrs, bad)
    value = ids.value[..., None] == np.arange(classes)
    return Call("one_hot", [ids], [exactly(dtype, value)], attrs)
