# SPDX-License-Identifier: Apache-2.0
"""Ops that move elements: order, repeating, slicing, padding, splitting, shapes, redistribution."""
import numpy as np

import layout_model as lm
import numbers_model as nm
from calls import Call, Expected, exactly, linear
from registry import attr, model
from tensors import ELEMENTS


def _moved(x, f, name, attrs, may_refuse=False):
    """A call of an op whose output holds elements of x, and nothing computed."""
    value = f(x.value)
    noise = f(np.broadcast_to(x.noise, x.shape)) if np.any(x.noise) else 0.0
    want = Expected(x.dtype, value, noise) if np.any(noise) else exactly(x.dtype, value)
    return Call(name, [x], [want], attrs, may_refuse=may_refuse)


@model("redistribute", weight=6.0)
def redistribute(g):
    dtype = g.pick(nm.ALL)
    x = g.tensor(dtype, g.shape())
    places = []
    for m, place in enumerate(x.places):
        want = g.places(dtype, len(x.shape), partial=False)[m]
        if dtype != "bool" and (place[0] == "R" or place[0] == "P") and g.chance(0.25):
            # replicated to partial, or a partial that stays; S to P and P to other P are refused
            kinds = [r for r in lm.REDUCTIONS if r != "avg" or nm.is_float(dtype)]
            want = place if place[0] == "P" else ("P", g.pick(kinds))
        places.append(want)
    if _mixes(x, places):
        places = [p if p[0] != "P" else ("R",) for p in places]
    call = _moved(x, lambda v: v, "redistribute", [])
    call.to = lm.placements_text(places)
    return call


@model("from_host")
def from_host(g):
    dtype = g.pick(nm.ALL)
    x = g.tensor(dtype, g.shape(), places=(("R",),) * len(g.mesh))
    call = _moved(x, lambda v: v, "from_host", [])
    call.to = lm.placements_text(g.places(dtype, len(x.shape)))
    return call


@model("to_host")
def to_host(g):
    return _moved(g.tensor(g.pick(nm.ALL), g.shape()), lambda v: v, "to_host", [])


def _mixes(x, places):
    """A partial dim that stays, while one of another reduction outside it is resolved, or one
    inside it: the reductions do not commute."""
    stays = [m for m in x.dims if places[m][0] == "P"]
    gone = [m for m in x.dims if places[m][0] != "P"]
    kinds = {"sum" if x.places[m][1] == "avg" else x.places[m][1] for m in x.dims}
    new = [m for m, p in enumerate(places) if p[0] == "P" and x.places[m][0] != "P"]
    return bool((stays and gone and len(kinds) > 1) or (new and x.dims))


@model("cat", "stack", weight=3.0)
def join(g, name):
    dtype = g.pick(nm.ALL)
    shape = list(g.shape(1, 3, long=False) if name == "cat" else g.shape(0, 3))
    n = g.pick((1, 2, 2, 3, 4, 6, 9, 11, 12))
    same = g.places(dtype, len(shape)) if g.chance(0.5) else None
    d, text = g.dim(len(shape) + (name == "stack"))
    sharded = [p[1] for p in same or () if p[0] in ("S", "SS")]
    if sharded and g.chance(0.6):
        d = text = g.pick(sharded)
    x = []
    for _ in range(n):
        if name == "cat":
            shape[d] = g.size()
        x.append(g.tensor(dtype, tuple(shape), places=same))
    f = np.concatenate if name == "cat" else np.stack
    value = f([t.value for t in x], axis=d)
    noise = f([np.broadcast_to(t.noise, t.shape) for t in x], axis=d)
    # all of them may become averages, and a mean of equal terms is rounded
    if nm.is_float(dtype) and any(t.places[m][1] == "avg" for t in x for m in t.dims):
        noise = noise + nm.eps(dtype) * np.abs(value) * (1 + np.prod(g.mesh) / 2)
    want = Expected(dtype, value, noise) if np.any(noise) else exactly(dtype, value)
    return Call(name, x, [want], [attr("dim", text)])


@model("transpose")
def transpose(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 4))
    (a, ta), (b, tb) = g.dim(len(x.shape)), g.dim(len(x.shape))
    return _moved(x, lambda v: np.swapaxes(v, a, b), "transpose",
                  [attr("dim0", ta), attr("dim1", tb)])


@model("permute")
def permute(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 5, 5))
    order = [int(d) for d in g.rng.permutation(len(x.shape))]
    return _moved(x, lambda v: np.transpose(v, order), "permute", [attr("dims", order)])


@model("flip")
def flip(g):
    x = g.tensor(g.pick(nm.ALL), g.shape())
    dims, text = g.dims(len(x.shape))
    return _moved(x, lambda v: np.flip(v, dims), "flip", [attr("dims", text)])


@model("roll")
def roll(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 4))
    if g.chance(0.25):
        shift, odd = g.extreme(g.number(-20, 20))
        return _moved(x, lambda v: np.roll(v, shift % max(v.size, 1)), "roll",
                      [attr("shifts", [shift])], odd)
    dims, text = g.dims(len(x.shape))
    shifts, odd = zip(*(g.extreme(g.number(-12, 12)) for _ in dims))
    small = [s % max(x.shape[d], 1) for s, d in zip(shifts, dims)]
    return _moved(x, lambda v: np.roll(v, small, dims), "roll",
                  [attr("shifts", shifts), attr("dims", text or dims)], any(odd))


@model("expand")
def expand(g):
    shape = [1 if g.chance(0.5) else n for n in g.shape(0, 3, long=False)]
    x = g.tensor(g.pick(nm.ALL), tuple(shape))
    front = [g.size(4) for _ in range(g.number(0, 2))]
    sizes = front + [g.size(5) if n == 1 else n for n in shape]
    if not sizes:
        sizes, front = [2], [2]
    text = [-1 if k >= len(front) and sizes[k] == shape[k - len(front)] and g.chance(0.3)
            else n for k, n in enumerate(sizes)]
    return _moved(x, lambda v: np.broadcast_to(v, sizes), "expand", [attr("sizes", text)])


@model("tile")
def tile(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(0, 3, 5, long=False))
    counts = [g.pick((0, 1, 1, 2, 3)) for _ in range(g.number(1, len(x.shape) + 1))]
    return _moved(x, lambda v: np.tile(v, counts), "tile", [attr("counts", counts)])


# ---- slicing

@model("slice")
def slice_op(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 4))
    d, text = g.dim(len(x.shape), x)
    n = x.shape[d]
    start, odd = g.extreme(g.number(-n - 2, n + 2))
    stop, odd2 = g.extreme(g.number(-n - 2, n + 2)) if g.chance(0.8) else (None, False)
    step, odd3 = g.extreme(g.pick((1, 1, 2, 3, 7)), negative=False)
    at = (slice(None),) * d + (slice(start, stop, step),)
    return _moved(x, lambda v: v[at], "slice", [
        attr("dim", text), attr("start", start), attr("stop", stop), attr("step", step)],
        odd or odd2 or odd3)


@model("narrow")
def narrow(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 4))
    d, text = g.dim(len(x.shape), x)
    start = g.number(0, x.shape[d])
    length = g.number(0, x.shape[d] - start)
    at = (slice(None),) * d + (slice(start, start + length),)
    written = start - x.shape[d] if start < x.shape[d] and g.chance(0.3) else start
    return _moved(x, lambda v: v[at], "narrow", [
        attr("dim", text), attr("start", written), attr("length", length)])


def _filled(g, low, high, most=9):
    """A shape without empty dims."""
    return tuple(max(n, 1) for n in g.shape(low, high, most))


@model("select")
def select(g):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 1, 4))
    d, text = g.dim(len(x.shape), x)
    index = g.number(-x.shape[d], x.shape[d] - 1)
    return _moved(x, lambda v: np.take(v, index, axis=d), "select",
                  [attr("dim", text), attr("index", index)])


def _window(g, shape, d):
    """How many elements along a dim are unfolded: the result has almost so many times as many."""
    return g.number(1, max(1, min(shape[d], ELEMENTS // int(np.prod(shape)))))


@model("unfold")
def unfold(g):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 1, 3))
    d, text = g.dim(len(x.shape), x)
    size = _window(g, x.shape, d)
    step, odd = g.extreme(g.number(1, 4), negative=False)

    def f(v):
        starts = range(0, v.shape[d] - size + 1, step)
        return np.stack([np.moveaxis(np.take(v, range(s, s + size), axis=d), d, -1)
                         for s in starts], axis=d)

    return _moved(x, f, "unfold", [attr("dim", text), attr("size", size), attr("step", step)],
                  odd)


@model("diagonal")
def diagonal(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(2, 4))
    a, b = (int(d) for d in g.rng.permutation(len(x.shape))[:2])
    offset, odd = g.extreme(g.number(-x.shape[a], x.shape[b]))
    small = min(max(offset, -10**6), 10**6)
    return _moved(x, lambda v: np.diagonal(v, small, a, b), "diagonal", [
        attr("offset", offset), attr("dim1", a), attr("dim2", b)], odd)


@model("tril", "triu")
def triangle(g, name):
    x = g.tensor(g.pick(nm.ALL), g.shape(2, 4))
    k, odd = g.extreme(g.number(-6, 6))
    small = min(max(k, -10**6), 10**6)
    return _moved(x, lambda v: getattr(np, name)(v, small), name, [attr("diagonal", k)], odd)


# ---- padding

@model("pad")
def pad(g):
    dtype = g.pick(nm.ALL)
    x = g.tensor(dtype, g.shape(1, 4, long=False))
    before = [g.pick((0, 0, 1, 2, 3, -1)) for _ in x.shape]
    after = [g.pick((0, 0, 1, 2, 5, -1)) for _ in x.shape]
    for d, n in enumerate(x.shape):  # what is cut off must be there
        if max(0, -before[d]) + max(0, -after[d]) > n:
            before[d] = after[d] = 0
    value = g.number(0 if nm.is_unsigned(dtype) else -3, 1 if dtype == "bool" else 3)
    cut = tuple(slice(max(0, -b), n - max(0, -a)) for b, a, n in zip(before, after, x.shape))
    width = [(max(0, b), max(0, a)) for b, a in zip(before, after)]

    def f(v, fill=0):
        return np.pad(v[cut], width, constant_values=fill)

    call = _moved(x, f, "pad", [attr("before", before), attr("after", after),
                                   attr("value", float(value))])
    call.outputs[0].value = f(x.value, value)
    return call


@model("pad_reflect", "pad_replicate", "pad_circular")
def pad_mode(g, name):
    x = g.tensor(g.pick(nm.ALL), _filled(g, 1, 4))
    mode = {"pad_reflect": "reflect", "pad_replicate": "edge", "pad_circular": "wrap"}[name]
    most = {"reflect": -1, "edge": 5, "wrap": 0}[mode]
    width, count = [], x.value.size
    for n in x.shape:
        limit = min(5 if mode == "edge" else n + most, ELEMENTS // count - 1)
        width.append((g.number(0, min(limit, 5)), g.number(0, min(limit, 5)))
                     if g.chance(0.6) else (0, 0))
        count = count // n * (n + sum(width[-1]))
    return _moved(x, lambda v: np.pad(v, width, mode=mode), name, [
        attr("before", [b for b, _ in width]), attr("after", [a for _, a in width])])


@model("slice_backward")
def slice_backward(g):
    dtype, shape = g.pick(nm.NUMBERS), list(_filled(g, 1, 4))
    d, text = g.dim(len(shape))
    length, step = shape[d], g.pick((1, 1, 2, 3))
    start = g.number(0, length - 1)
    at = (slice(None),) * d + (slice(start, start + step * g.number(0, length), step),)
    grad = g.tensor(dtype, np.zeros(shape)[at].shape)

    def f(v):
        y = np.zeros(shape, v.dtype)
        y[at] = v
        return y

    return _moved(grad, f, "slice_backward", [
        attr("dim", text), attr("start", start), attr("step", step), attr("length", length)])


@model("unfold_backward")
def unfold_backward(g):
    dtype, shape = g.pick(nm.NUMBERS), list(_filled(g, 1, 3))
    d, text = g.dim(len(shape))
    length = shape[d]
    size, step = _window(g, shape, d), g.number(1, 4)
    starts = range(0, length - size + 1, step)
    text = d  # from the front: the gradient has one dim more
    grad = g.tensor(dtype, tuple(shape[:d] + [len(starts)] + shape[d + 1:] + [size]),
                    g.kind(dtype, ("whole", "unit", "full")))

    def f(v):
        y = np.zeros(shape, v.dtype)
        for k, s in enumerate(starts):
            at = (slice(None),) * d
            y[at + (slice(s, s + size),)] += np.moveaxis(v[at + (k,)], -1, d)
        return y

    return Call("unfold_backward", [grad], [linear(f, [grad], dtype, size)], [
        attr("dim", text), attr("size", size), attr("step", step), attr("length", length)])


# ---- splitting and shapes

def _pieces(x, at, d):
    noise = np.broadcast_to(x.noise, x.shape)
    out = []
    for value, room in zip(np.split(x.value, at, d), np.split(noise, at, d)):
        out.append(Expected(x.dtype, value, room) if np.any(room) else exactly(x.dtype, value))
    return out


@model("split", "chunk")
def split(g, name):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 4))
    d, text = g.dim(len(x.shape), x)
    n, parts = x.shape[d], g.number(1, 4)
    if name == "chunk":
        size = -(-n // parts)
        at = [min(size * k, n) for k in range(1, parts)]
        used = max(1, -(-n // size)) if size else parts
        out = _pieces(x, at[:used - 1], d)
        return Call(name, [x], out, [attr("chunks", parts), attr("dim", text)])
    at = sorted(g.number(0, n) for _ in range(parts - 1))
    sizes = np.diff([0] + at + [n])
    return Call(name, [x], _pieces(x, at, d), [attr("sizes", list(sizes)), attr("dim", text)])


@model("depth_to_space", "space_to_depth")
def blocks(g, name):
    block, crd = g.number(1, 3), g.chance(0.5)
    n, c, h, w = (g.number(1, 3) for _ in range(4))
    b = block
    if name == "depth_to_space":
        x = g.tensor(g.pick(nm.ALL), (n, c * b * b, h, w))
        if crd:
            f = lambda v: v.reshape(n, c, b, b, h, w).transpose(  # noqa: E731
                0, 1, 4, 2, 5, 3).reshape(n, c, h * b, w * b)
        else:
            f = lambda v: v.reshape(n, b, b, c, h, w).transpose(  # noqa: E731
                0, 3, 4, 1, 5, 2).reshape(n, c, h * b, w * b)
    else:
        x = g.tensor(g.pick(nm.ALL), (n, c, h * b, w * b))
        order = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
        f = lambda v: v.reshape(n, c, h, b, w, b).transpose(  # noqa: E731
            order).reshape(n, c * b * b, h, w)
    return _moved(x, f, name, [attr("block", block), attr("crd", crd)])


def _regroup(g, shape):
    """Another shape of as many elements: factors of some dims, dims merged, ones put in."""
    factors = []
    for n in shape:
        for prime in (2, 3, 5, 7):
            while n and n % prime == 0 and n > 1 and g.chance(0.7):
                factors.append(prime)
                n //= prime
        factors.append(n)
    sizes = []
    for n in factors:
        if sizes and g.chance(0.5):
            sizes[-1] *= n
        else:
            sizes.append(n)
    while len(sizes) > 6:
        sizes[-2:] = [sizes[-2] * sizes[-1]]
    if g.chance(0.2):
        sizes.insert(g.number(0, len(sizes)), 1)
    return sizes or [1]


@model("reshape", weight=2.0)
def reshape(g):
    x = g.tensor(g.pick(nm.ALL), g.shape())
    sizes = _regroup(g, x.shape)
    text = list(sizes)
    if g.chance(0.3) and 0 not in sizes:
        text[g.number(0, len(text) - 1)] = -1
    return _moved(x, lambda v: v.reshape(sizes), "reshape", [attr("shape", text)])


@model("squeeze")
def squeeze(g):
    shape = tuple(1 if g.chance(0.5) else n for n in g.shape(0, 5, 5))
    x = g.tensor(g.pick(nm.ALL), shape)
    dims, text = g.dims(len(shape))
    keep = [n for d, n in enumerate(shape) if n != 1 or d not in dims]
    return _moved(x, lambda v: v.reshape(keep), "squeeze", [attr("dims", text)])


@model("unsqueeze")
def unsqueeze(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(0, 3))
    ndim = len(x.shape) + g.number(1, 2)
    dims = sorted(int(d) for d in g.rng.permutation(ndim)[:ndim - len(x.shape)])
    return _moved(x, lambda v: np.expand_dims(v, dims), "unsqueeze", [attr("dims", dims)])


@model("flatten")
def flatten(g):
    x = g.tensor(g.pick(nm.ALL), g.shape(1, 5, 5))
    start = g.number(0, len(x.shape) - 1)
    end = g.number(start, len(x.shape) - 1)
    sizes = x.shape[:start] + (int(np.prod(x.shape[start:end + 1])),) + x.shape[end + 1:]
    return _moved(x, lambda v: v.reshape(sizes), "flatten",
                  [attr("start", start), attr("end", end - len(x.shape))])
