# SPDX-License-Identifier: Apache-2.0
"""Normalisations and losses, forward and backward."""
import numpy as np

import numbers_model as nm
from calls import Call, smooth
from ops_indexing import spoil
from ops_reduction import log_softmax_of, softmax_of
from registry import attr, model

_EPS = 1e-5


def _filled(g, low, high, most=6):
    return tuple(max(n, 1) for n in g.shape(low, high, most))


def _vector(g, dtype, shape, present=0.7):
    """A weight or bias; of half types it may be f32."""
    if not g.chance(present):
        return None
    return g.tensor(nm.fine(dtype), shape, "unit")


def _or(value, other):
    return other if value is None else value


def _trim(inputs):
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def _loosen(want, sizes):
    """Sums of some terms of these sizes, which may cancel."""
    for e, size in zip(want, sizes):
        if e is not None:
            e.tolerance = e.tolerance + nm.rounding(e.dtype, 16, size)


# ---- normalisation: statistics over `axes` of x seen as `view`

class _Norm:
    """x seen in a shape in which each statistic is over whole axes; channels broadcast."""

    def __init__(self, g, name):
        self.g, self.dtype = g, g.pick(nm.FLOATS)
        self.fine = nm.fine(self.dtype)
        self.attrs = []
        if name in ("layer", "rms"):
            shape = _filled(g, 1, 4)
            n = g.number(1, len(shape))
            self.attrs = [attr("n_dims", n)]
            self.view, self.axes = shape, tuple(range(len(shape) - n, len(shape)))
            self.vector = shape[-n:]
            self.stat = shape[:-n] + (1,) * n
            self.lift = lambda v: v
        else:
            shape = _filled(g, 2, 4)
            samples, channels, space = shape[0], shape[1], shape[2:]
            groups = channels
            if name == "group":
                groups = g.pick([k for k in range(1, channels + 1) if channels % k == 0])
                self.attrs = [attr("groups", groups)]
            if name == "batch":
                self.view, self.axes = shape, (0,) + tuple(range(2, len(shape)))
                self.stat = (channels,)
                self.lift = lambda v: v.reshape((1, channels) + (1,) * len(space))
            else:
                self.view = (samples, groups, channels // groups) + space
                self.axes = tuple(range(2, len(self.view)))
                self.stat = (samples, groups)
                self.lift = lambda v: v.reshape((1, groups, channels // groups)
                                                + (1,) * len(space))
            self.vector = (channels,)
        self.shape = shape
        self.count = int(np.prod([self.view[a] for a in self.axes]))

    def stat_up(self, v):
        """A statistic as it broadcasts over the view."""
        return v.reshape([1 if a in self.axes else n for a, n in enumerate(self.view)])

    def normal(self, x, rms=False):
        x = x.reshape(self.view)
        mean = 0.0 if rms else x.mean(axis=self.axes, keepdims=True)
        var = ((x - mean) ** 2).mean(axis=self.axes, keepdims=True)
        return x, mean, var, 1 / np.sqrt(var + _EPS)


@model("layer_norm", "group_norm", "instance_norm", "batch_norm", "rms_norm")
def norm(g, name):
    kind = name.split("_")[0]
    n = _Norm(g, kind)
    while n.count < 2 and kind in ("instance", "batch"):
        n = _Norm(g, kind)
    x = g.smooth(n.dtype, n.shape)
    weight = _vector(g, n.dtype, n.vector)
    bias = _vector(g, n.dtype, n.vector) if kind != "rms" else None
    if kind == "batch" and g.chance(0.3):
        return _inference(g, n, x, weight, bias)
    variance = kind == "batch" and g.chance(0.3)

    def f(a, w=None, b=None):
        a, mean, var, rstd = n.normal(a, kind == "rms")
        y = (a - mean) * rstd
        y = y * (1.0 if w is None else n.lift(w)) + (0.0 if b is None else n.lift(b))
        out = [y.reshape(n.shape)]
        if kind != "rms":
            out.append(mean.reshape(n.stat))
        out.append(rstd.reshape(n.stat))
        if variance:
            out.append((var * n.count / (n.count - 1)).reshape(n.stat))
        return out

    n_out = 2 if kind == "rms" else 4 if variance else 3
    want = smooth(g.rng, f, [x, weight, bias], [n.dtype] + [n.fine] * (n_out - 1),
                  terms=n.count)
    rstd = want[1 if kind == "rms" else 2].value
    largest = np.abs(x.value).max(initial=0.0)
    _loosen(want, [largest * n.stat_up(rstd).max() * (
        1 if weight is None else np.abs(weight.value).max())
        + (0 if bias is None else np.abs(bias.value).max()), largest,
        rstd * (1 + largest * rstd), largest * largest])
    attrs = n.attrs + [attr("variance", True) if variance else None]
    inputs = [x, weight] if kind == "rms" else [x, weight, bias]
    return Call(name, _trim(inputs), want, attrs)


def _inference(g, n, x, weight, bias):
    mean = g.tensor(n.fine, n.vector, "unit")
    var = g.tensor(n.fine, n.vector, kind="unit", partial=False,
                   value=nm.rounded(np.abs(g.numbers(n.fine, n.vector, "unit")) + 0.25, n.fine))

    def f(a, w, b, m, v):
        y = (a - n.lift(m)) / np.sqrt(n.lift(v) + _EPS)
        return [y * (1.0 if w is None else n.lift(w)) + (0.0 if b is None else n.lift(b)), None,
                1 / np.sqrt(v + _EPS)]

    want = smooth(g.rng, f, [x, weight, bias, mean, var], [n.dtype, n.fine, n.fine])
    scale = (np.abs(x.value).max(initial=0) + np.abs(mean.value).max(initial=0)) * 2
    _loosen(want, [scale * (1 if weight is None else np.abs(weight.value).max())
                            + (0 if bias is None else np.abs(bias.value).max()), 0, 1])
    return Call("batch_norm", [x, weight, bias, mean, var], want, [attr("training", False)])


@model("layer_norm_backward", "group_norm_backward", "batch_norm_backward", "rms_norm_backward")
def norm_backward(g, name):
    kind = name.split("_")[0]
    n = _Norm(g, kind)
    n.dtype = n.fine = g.pick(("f32", "f64"))
    rms = kind == "rms"
    training = kind != "batch" or g.chance(0.7)
    x, grad = g.tensor(n.dtype, n.shape, "unit"), g.smooth(n.dtype, n.shape)
    weight = _vector(g, n.dtype, n.vector)
    _, m, _, r = n.normal(x.value, rms)
    mean = g.tensor(n.dtype, n.stat, "unit", partial=False,
                    value=nm.rounded(np.broadcast_to(np.reshape(m, n.stat) if not rms else 0.0,
                                                     n.stat), n.dtype))
    rstd = g.tensor(n.dtype, n.stat, "unit", value=nm.rounded(r.reshape(n.stat), n.dtype),
                    partial=False)
    mask = [g.number(0, 1) for _ in range(2 if rms else 3)]
    mask = mask if any(mask) else [1] * len(mask)
    axes = tuple(a for a in range(len(n.shape)) if a not in (
        range(len(n.shape) - len(n.vector), len(n.shape)) if kind in ("layer", "rms") else (1,)))

    def f(a, b, w, mm, rr):
        a, b = a.reshape(n.view), b.reshape(n.view)
        scale = n.stat_up(rr)
        hat = (b - n.stat_up(mm)) * scale
        up = a * (1.0 if w is None else n.lift(w))
        gx = up * scale
        if training:
            gx = scale * (up - hat * (up * hat).mean(axis=n.axes, keepdims=True)
                          - (0.0 if rms else up.mean(axis=n.axes, keepdims=True)))
        gw = (a * hat).reshape(n.shape).sum(axis=axes).reshape(n.vector)
        gb = a.reshape(n.shape).sum(axis=axes).reshape(n.vector)
        return [gx.reshape(n.shape), gw, gb][:len(mask)]

    want = smooth(g.rng, f, [grad, x, weight, mean, rstd], [n.dtype] * len(mask),
                  terms=n.count)
    top = np.abs(grad.value).max(initial=0) * (1 if weight is None else 1 + np.abs(
        weight.value).max())
    hat = 1 + np.abs((x.value.reshape(n.view) - n.stat_up(mean.value))
                     * n.stat_up(rstd.value)).max(initial=0)
    many = x.value.size
    _loosen(want, [top * hat * hat * np.abs(rstd.value).max(),
                            top * hat * np.sqrt(many) * 4, top * np.sqrt(many) * 4])
    inputs = [grad, x, weight] + ([] if rms else [mean]) + [rstd]
    return Call(name, inputs, [e if m else None for e, m in zip(want, mask)],
                n.attrs + [attr("output_mask", mask),
                           attr("training", False) if not training else None])


# ---- regression and binary losses

def _reduced(v, reduction):
    return v if reduction == "none" else v.sum() if reduction == "sum" else np.divide(
        v.sum(), v.size)


def _spread(grad, shape, reduction):
    """The gradient of each element's loss."""
    if reduction == "mean":
        return np.broadcast_to(grad / max(int(np.prod(shape)), 1), shape)
    return np.broadcast_to(grad, shape)



@model("mse_loss", "l1_loss")
def pair_loss(g, name):
    dtype, shape, reduction = g.pick(nm.FLOATS), g.shape(), g.pick(("mean", "sum", "none"))
    x, t = g.smooth(dtype, shape), g.smooth(dtype, shape)
    each = (lambda a, b: (a - b) ** 2) if name[0] == "m" else (lambda a, b: np.abs(a - b))
    want = smooth(g.rng, lambda a, b: _reduced(each(a, b), reduction), [x, t], dtype,
                  terms=x.value.size)
    return Call(name, [x, t], [want], [attr("reduction", reduction)])


@model("mse_loss_backward", "l1_loss_backward")
def pair_loss_backward(g, name):
    dtype, shape, reduction = g.pick(nm.FLOATS), g.shape(), g.pick(("mean", "sum", "none"))
    grad = g.smooth(dtype, shape if reduction == "none" else ())
    if name[0] == "m":
        x, t = g.smooth(dtype, shape), g.smooth(dtype, shape)
        f = lambda d, a, b: 2 * (a - b) * _spread(d, shape, reduction)  # noqa: E731
    else:
        x, t = g.exact(dtype, shape, ("whole", "unit")), g.exact(dtype, shape, ("whole", "unit"))
        sign = np.sign(x.value - t.value)
        f = lambda d, a, b: sign * _spread(d, shape, reduction)  # noqa: E731
    want = smooth(g.rng, f, [grad, x, t], dtype)
    return Call(name, [grad, x, t], [want], [attr("reduction", reduction)])


def _weights_of(g, dtype, shape):
    out = []
    for _ in range(2):
        part = shape[g.number(0, len(shape)):]
        value = nm.rounded(np.abs(g.numbers(dtype, part, "unit")), dtype)
        out.append(g.tensor(dtype, part, "unit", value=value) if g.chance(0.5) else None)
    return out


def _bce_parts(x, t, p):
    """The loss of each element without its weight, stable."""
    c = 1 + (p - 1) * t
    return (1 - t) * x + c * np.logaddexp(0, -x)


@model("bce_with_logits")
def bce(g):
    dtype, shape, reduction = g.pick(nm.FLOATS), g.shape(), g.pick(("mean", "sum", "none"))
    x, t = g.smooth(dtype, shape), g.tensor(dtype, shape, "unit")
    weight, pos = _weights_of(g, dtype, shape)

    def f(a, b, w=None, p=None):
        return _reduced(_or(w, 1.0) * _bce_parts(a, b, _or(p, 1.0)), reduction)

    want = smooth(g.rng, f, [x, t, weight, pos], dtype, terms=x.value.size)
    sizes = np.abs(_or(weight and weight.value, np.ones(()))) * (
        (1 + np.abs(t.value)) * np.abs(x.value)
        + (1 + (1 + np.abs(_or(pos and pos.value, np.ones(())))) * np.abs(t.value))
        * np.logaddexp(0, -x.value))
    _loosen([want], [_reduced(sizes, reduction)])
    return Call("bce_with_logits", _trim([x, t, weight, pos]), [want],
                [attr("reduction", reduction)])


@model("bce_with_logits_backward")
def bce_backward(g):
    dtype, shape, reduction = g.pick(("f32", "f64")), g.shape(), g.pick(("mean", "sum", "none"))
    grad = g.smooth(dtype, shape if reduction == "none" else ())
    x, t = g.smooth(dtype, shape), g.tensor(dtype, shape, "unit")
    weight, pos = _weights_of(g, dtype, shape)
    mask = [g.number(0, 1), g.number(0, 1), int(weight is not None and g.chance(0.5)),
            int(pos is not None and g.chance(0.5))]
    mask = mask if any(mask) else [1, 0, 0, 0]

    def f(d, a, b, w=None, p=None):
        d = _spread(d, shape, reduction)
        w, p = _or(w, 1.0), _or(p, 1.0)
        c = 1 + (p - 1) * b
        soft = np.logaddexp(0, -a)
        s = np.exp(-np.logaddexp(0, a))  # sigmoid(-a)
        out = [d * w * ((1 - b) - c * s), d * w * (-a + (p - 1) * soft),
               d * _bce_parts(a, b, p), d * w * b * soft]
        return [np.broadcast_to(y, shape) for y in out]

    want = smooth(g.rng, f, [grad, x, t, weight, pos], [dtype] * 4)
    top = (np.abs(_spread(grad.value, shape, reduction))
           * (1 + np.abs(_or(weight and weight.value, np.ones(()))))
           * (1 + np.abs(x.value)) * (1 + np.abs(t.value))
           * (2 + np.abs(_or(pos and pos.value, np.ones(())))))
    _loosen(want, [np.broadcast_to(top, shape)] * 4)
    return Call("bce_with_logits_backward", _trim([grad, x, t, weight, pos]),
                [e if m else None for e, m in zip(want, mask)],
                [attr("reduction", reduction), attr("output_mask", mask)])


# ---- classification losses

class _Classes:
    def __init__(self, g, log_probabilities):
        self.g, self.dtype = g, g.pick(nm.FLOATS)
        self.classes = g.number(1, 9)
        lead = g.shape(0, 2)
        self.shape = lead + (self.classes,)
        self.reduction = g.pick(("mean", "sum", "none"))
        value = g.numbers(self.dtype, self.shape, g.pick(("unit", "whole")))
        if log_probabilities:
            with np.errstate(all="ignore"):
                value = nm.rounded(log_softmax_of(value, -1), self.dtype)
        self.x = g.tensor(self.dtype, self.shape, "unit", value=value)
        ignore = g.pick((None, -100, 0, 3))
        self.ignore = -100 if ignore is None else ignore
        target = g.rng.integers(0, self.classes, lead)
        target = np.where(g.rng.random(lead) < 0.2, self.ignore, target)
        if self.ignore >= self.classes:
            target = np.where(target == self.ignore, 0, target)
        self.target = g.tensor(g.pick(("i32", "i64")), lead, value=target)
        self.target, self.bad = spoil(g, self.target, self.classes)
        if self.bad and int(self.bad) == self.ignore:
            self.bad = None
        self.weight = None
        if g.chance(0.4):
            w = nm.rounded(np.abs(g.numbers(self.dtype, (self.classes,), "unit")) + 0.25,
                           self.dtype)
            self.weight = g.tensor(self.dtype, (self.classes,), "unit", value=w, partial=False)
        self.attrs = [attr("reduction", self.reduction), attr("ignore_index", ignore)]

    def counts(self):
        return self.target.value != self.ignore

    def at(self):
        return np.where(self.counts(), self.target.value, 0).astype(np.int64)

    def weights(self, w):
        return np.ones(self.classes) if w is None else w

    def divisor(self, w):
        return np.where(self.counts(), self.weights(w)[self.at()], 0.0).sum()

    def losses(self, logp, w, smoothing):
        w = self.weights(w)
        picked = np.take_along_axis(logp, self.at()[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * w[self.at()] * picked
        loss = loss - smoothing / self.classes * (w * logp).sum(axis=-1)
        return np.where(self.counts(), loss, 0.0)

    def reduced(self, loss, w):
        if self.reduction == "none":
            return loss
        return loss.sum() if self.reduction == "sum" else np.divide(loss.sum(), self.divisor(w))


@model("cross_entropy", "nll_loss", weight=2.0)
def class_loss(g, name):
    c = _Classes(g, name == "nll_loss")
    smoothing = g.pick((0.0, 0.0, 0.25)) if name == "cross_entropy" else 0.0
    inputs = _trim([c.x, c.target, c.weight])
    attrs = c.attrs + [attr("label_smoothing", smoothing) if smoothing else None]
    if c.bad:
        return Call(name, inputs, [], attrs, c.bad)
    cross = name == "cross_entropy"

    def f(a, w=None):
        logp = log_softmax_of(a, -1) if cross else a
        return c.reduced(c.losses(logp, w, smoothing), w)

    want = smooth(g.rng, f, [c.x, c.weight], c.dtype, terms=c.x.value.size)
    top = np.abs(c.x.value).max(initial=0) * 2 + np.log(c.classes) + 1
    many = c.target.value.size if c.reduction == "sum" else 1
    _loosen([want], [top * many * (1 if c.weight is None else c.weight.value.max())])
    out = [want]
    if cross:
        lse = smooth(g.rng, lambda a: a.max(axis=-1) + np.log(
            np.exp(a - a.max(axis=-1, keepdims=True)).sum(axis=-1)), [c.x], "f64")
        lse.tolerance = lse.tolerance + 8 * nm.eps(nm.fine(c.dtype)) * top
        out.append(lse)
    if c.reduction == "mean":
        out.append(smooth(g.rng, lambda w=None: np.asarray(c.divisor(w)), [c.weight],
                          nm.fine(c.dtype), terms=c.target.value.size))
    return Call(name, inputs, out, attrs)


@model("cross_entropy_backward", "nll_loss_backward")
def class_loss_backward(g, name):
    c = _Classes(g, name == "nll_loss_backward")
    cross = name[0] == "c"
    smoothing = g.pick((0.0, 0.0, 0.25)) if cross else 0.0
    lead = c.target.shape
    grad = g.smooth(c.dtype, lead if c.reduction == "none" else ())
    attrs = c.attrs + [attr("label_smoothing", smoothing) if smoothing else None]
    x = c.x.value
    lse = divisor = None
    if cross:
        value = x.max(axis=-1) + np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1))
        lse = g.tensor("f64", lead, "unit", value=value, partial=False)
    w = c.weight.value if c.weight else None
    total = np.asarray(float(c.divisor(w)) if not c.bad else 1.0)
    if c.reduction == "mean":
        divisor = g.tensor(nm.fine(c.dtype), (), "unit", value=total, partial=False)
    inputs = _trim([grad, c.x, c.target, c.weight] + ([lse] if cross else []) + [divisor])
    if c.bad:
        return Call(name, inputs, [], attrs, c.bad)

    def f(d, a, w=None):
        d = np.broadcast_to(d / (total if c.reduction == "mean" else 1.0), lead)
        d = np.where(c.counts(), d, 0.0)[..., None]
        w = c.weights(w)
        hit = c.at()[..., None] == np.arange(c.classes)
        pull = (1 - smoothing) * w[c.at()][..., None] * hit + smoothing / c.classes * w
        if not cross:
            return -d * pull
        return d * (pull.sum(axis=-1, keepdims=True) * softmax_of(a, -1) - pull)

    want = smooth(g.rng, f, [grad, c.x, c.weight], c.dtype)
    if np.all(np.isfinite(want.value)):
        top = np.abs(grad.value).max(initial=0) / (total if c.reduction == "mean" else 1)
        _loosen([want], [np.where(np.isfinite(top), top, 0) * (
            1 if w is None else w.max()) * (2 + np.abs(x).max(initial=0))])
    return Call(name, inputs, [want], attrs)


