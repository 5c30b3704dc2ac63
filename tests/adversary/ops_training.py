# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers, creation, and random numbers, of which properties are checked."""
import numpy as np

import numbers_model as nm
from calls import Call, Expected, Property, exactly, smooth
from registry import attr, model


# ---- optimizers: numbers of the call are halves, so that no type rounds them

def _rates(g):
    return g.pick((0.5, 0.25, 0.125)), g.pick((0.0, 0.0, 0.5, 0.25))


def _some(g, dtype, shape, n):
    return [g.smooth(dtype, shape) for _ in range(n)]


def _step(g, name, x, f, attrs, overwritten):
    want = smooth(g.rng, f, x, [t.dtype for t in x[:overwritten]], factor=8)
    for e in want:  # terms that cancel
        e.tolerance = e.tolerance + 8 * nm.eps(x[0].dtype) * (
            sum(np.abs(t.value) for t in x) + np.abs(e.value))
    return Call(name, x, want, attrs, overwritten=range(overwritten))


@model("sgd_step")
def sgd_step(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape(0, 3)
    lr, decay = _rates(g)
    f = lambda w, d: [w - lr * (d + decay * w)]  # noqa: E731
    return _step(g, "sgd_step", _some(g, dtype, shape, 2), f,
                 [attr("lr", lr), attr("decay", decay)], 1)


@model("sgd_momentum_step")
def sgd_momentum_step(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape(0, 3)
    lr, decay = _rates(g)
    momentum, nesterov = g.pick((0.5, 0.75)), g.chance(0.3)
    dampening = 0.0 if nesterov else g.pick((0.0, 0.5))

    def f(w, m, d):
        d = d + decay * w
        m = momentum * m + (1 - dampening) * d
        return [w - lr * (d + momentum * m if nesterov else m), m]

    return _step(g, "sgd_momentum_step", _some(g, dtype, shape, 3), f, [
        attr("lr", lr), attr("decay", decay), attr("momentum", momentum),
        attr("dampening", dampening), attr("nesterov", nesterov)], 2)


def _positive(g, dtype, shape):
    value = nm.rounded(np.abs(g.numbers(dtype, shape, "unit")) + 0.25, dtype)
    return g.tensor(dtype, shape, kind="unit", value=value, partial=False)


@model("adam_step")
def adam_step(g):
    dtype, shape = g.pick(("f32", "f64")), g.shape(0, 3)
    lr, decay = _rates(g)
    decoupled, t = g.chance(0.5), g.number(1, 20)
    b1, b2, tiny = 0.5, 0.75, 0.25
    w, m, d = _some(g, dtype, shape, 3)
    v = _positive(g, dtype, shape)

    def f(w, m, v, d):
        if decoupled:
            w = w * (1 - lr * decay)
        else:
            d = d + decay * w
        m = b1 * m + (1 - b1) * d
        v = b2 * v + (1 - b2) * d * d
        return [w - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + tiny), m, v]

    return _step(g, "adam_step", [w, m, v, d], f, [
        attr("lr", lr), attr("decay", decay), attr("decoupled", decoupled), attr("step", t),
        attr("beta1", b1), attr("beta2", b2), attr("eps", tiny)], 3)


@model("adagrad_step")
def adagrad_step(g):
    dtype, shape = g.pick(("f32", "f64")), g.shape(0, 3)
    lr, decay = _rates(g)
    w, d = _some(g, dtype, shape, 2)
    total = _positive(g, dtype, shape)

    def f(w, s, d):
        d = d + decay * w
        s = s + d * d
        return [w - lr * d / (np.sqrt(s) + 0.25), s]

    return _step(g, "adagrad_step", [w, total, d], f,
                 [attr("lr", lr), attr("decay", decay), attr("eps", 0.25)], 2)


@model("running_update")
def running_update(g):
    dtype, shape = g.pick(nm.FLOATS), g.shape(0, 2)
    momentum = g.pick((0.25, 0.5))
    f = lambda a, b: [(1 - momentum) * a + momentum * b]  # noqa: E731
    return _step(g, "running_update", _some(g, dtype, shape, 2), f,
                 [attr("momentum", momentum)], 1)


# ---- creation

@model("arange", "linspace")
def steps(g, name):
    dtype = g.pick(nm.NUMBERS if name == "arange" else nm.FLOATS)
    # as many as every type can hold
    x = g.tensor(dtype, g.shape() if dtype[1:] in ("32", "64") else (g.number(0, 9), g.size()))
    start, other = g.number(0, 5), g.number(0 if nm.is_unsigned(dtype) else -3, 3)
    n = x.value.size
    i = np.arange(n).reshape(x.shape)
    if name == "arange":
        most = 110 if dtype == "i8" else 240
        other = other if n * abs(other) <= most or dtype[1:] in ("32", "64") else 0
        want = exactly(dtype, start + i * other)
        return Call(name, [x], [want], [attr("start", start), attr("step", other)],
                    overwritten={0})
    value = start + i * ((other - start) / max(n - 1, 1))
    want = Expected(dtype, value, 4 * nm.eps(dtype) * (abs(start) + abs(other)))
    return Call(name, [x], [want], [attr("start", start), attr("stop", other)], overwritten={0})


@model("eye")
def eye(g):
    dtype = g.pick(nm.NUMBERS)
    x = g.tensor(dtype, g.shape(2, 4))
    value = np.broadcast_to(np.eye(*x.shape[-2:]), x.shape)
    return Call("eye", [x], [exactly(dtype, value)], overwritten={0})


# ---- random numbers

def _seed(g):
    return [attr("seed", g.number(0, 2**62)), attr("offset", g.number(0, 3))]


@model("uniform")
def uniform(g):
    dtype = g.pick(nm.FLOATS)
    x, low = g.tensor(dtype, g.shape()), g.number(-4, 3)
    high = low + g.number(1, 4)
    want = Property(dtype, x.shape, lambda v: (v >= low) & (v < high), "from low to below high")
    return Call("uniform", [x], [want], [attr("low", low), attr("high", high)] + _seed(g),
                overwritten={0})


@model("normal")
def normal(g):
    dtype = g.pick(nm.FLOATS)
    x, mean, std = g.tensor(dtype, g.shape()), g.number(-4, 4), g.pick((0.5, 1.0, 2.0))
    want = Property(dtype, x.shape, lambda v: np.abs(v - mean) <= 9 * std, "near the mean")
    return Call("normal", [x], [want], [attr("mean", mean), attr("std", std)] + _seed(g),
                overwritten={0})


@model("bernoulli")
def bernoulli(g):
    dtype, p = g.pick(nm.ALL), g.pick((0.0, 0.25, 0.5, 1.0))
    x = g.tensor(dtype, g.shape())
    allowed = {0.0: (0,), 1.0: (1,)}.get(p, (0, 1))
    want = Property(dtype, x.shape, lambda v: np.isin(v.astype(np.int64), allowed), "0 or 1")
    return Call("bernoulli", [x], [want], [attr("p", p)] + _seed(g), overwritten={0})


@model("randint")
def randint(g):
    dtype = g.pick(nm.INTS)
    x, low = g.tensor(dtype, g.shape()), g.number(0, 60)
    high = low + g.number(1, 60)
    want = Property(dtype, x.shape, lambda v: (v >= low) & (v < high), "from low to below high")
    return Call("randint", [x], [want], [attr("low", low), attr("high", high)] + _seed(g),
                overwritten={0})


@model("permutation")
def permutation(g):
    dtype = g.pick(nm.INTS)
    x = g.tensor(dtype, (min(g.size(40), 128),))
    n = x.shape[0]
    want = Property(dtype, x.shape, lambda v: np.sort(v) == np.arange(n), "a permutation")
    return Call("permutation", [x], [want], _seed(g), overwritten={0})


@model("dropout")
def dropout(g):
    dtype, p = g.pick(nm.FLOATS), g.pick((0.0, 0.5, 0.75, 1.0))
    x = g.smooth(dtype, g.shape())
    scale = 1 / (1 - p) if p < 1 else 0.0
    room = 4 * scale * (nm.eps(dtype) * np.abs(x.value) + x.rough) + nm.least(dtype)

    def good(v):
        kept = np.abs(v - x.value * scale) <= room
        return kept if p == 0 else kept | (np.abs(v) <= room)

    want = Property(dtype, x.shape, good, "0 or x / (1 - p)")
    return Call("dropout", [x], [want], [attr("p", p)] + _seed(g))
