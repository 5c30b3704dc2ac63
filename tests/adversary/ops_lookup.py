# SPDX-License-Identifier: Apache-2.0
"""Embeddings and bags, forward and backward, with padding, weights and offsets."""
import numpy as np

import numbers_model as nm
from calls import Call, Expected, exactly, linear
from ops_indexing import spoil
from registry import attr, model


class _Lookup:
    """Ids of a table with some rows, and the options that all lookups share."""

    def __init__(self, g, bags=False):
        self.g = g
        self.rows, self.columns = g.number(1, 12), max(1, g.size(6))
        self.padding = g.number(0, self.rows - 1) if g.chance(0.3) else None
        self.zero = g.chance(0.2)
        self.offsets = self.include_last = None
        if bags and g.chance(0.6):
            self._by_offsets()
        else:
            shape = g.shape(2, 2) if bags else g.shape(0, 3)
            self.ids = g.indices(shape, self.rows)
            self.bag = None if not bags else np.repeat(np.arange(shape[0]), shape[1])
            self.n_bags = shape[0] if bags else 0
        self.bad = None
        if self.zero and self.ids.value.size and g.chance(0.5):
            value = self.ids.value.copy()
            value[g.rng.random(value.shape) < 0.3] = g.pick((-1, self.rows, 10**9))
            self.ids = g.tensor(self.ids.dtype, value.shape, value=value)
        elif not self.zero:
            self.ids, self.bad = spoil(g, self.ids, self.rows)

    def _by_offsets(self):
        g = self.g
        n, self.include_last = g.size(14), g.chance(0.3)
        self.n_bags = g.number(1, 6)
        self.ids = g.indices((n,), self.rows)
        starts = np.concatenate([[0], np.sort(g.rng.integers(0, n + 1, self.n_bags - 1))])
        ends = np.append(starts[1:], n)
        if self.include_last:
            starts = np.append(starts, n)
        self.bag = np.repeat(np.arange(self.n_bags), ends - starts[:self.n_bags])
        self.offsets = g.tensor(self.ids.dtype, starts.shape, value=starts)

    @property
    def flat(self):
        return self.ids.value.astype(np.int64).ravel()

    def counted(self, keep_padding=False):
        """Which ids read a row of the table."""
        use = (self.flat >= 0) & (self.flat < self.rows)
        if self.padding is not None and not keep_padding:
            use &= self.flat != self.padding
        return use

    def safe(self):
        return np.clip(self.flat, 0, self.rows - 1)

    def attrs(self):
        padding = self.padding
        if padding is not None and self.g.chance(0.3):
            padding -= self.rows
        return [attr("padding_idx", padding), attr("zero_out_of_range", True) if self.zero
                else None, attr("include_last", True) if self.include_last else None]

    def table(self, dtype):
        return self.g.smooth(dtype, (self.rows, self.columns))


@model("embedding", weight=2.0)
def embedding(g):
    at, dtype = _Lookup(g), g.pick(nm.FLOATS)
    keep = at.padding is not None and g.chance(0.3)
    table = at.table(dtype)
    attrs = at.attrs() + [attr("keep_padding", True) if keep else None]
    if at.bad:
        return Call("embedding", [table, at.ids], [], attrs, at.bad)
    use = at.counted(keep)

    def f(t):
        return np.where(use[:, None], t[at.safe()], 0.0).reshape(at.ids.shape + (at.columns,))

    room = f(np.broadcast_to(table.noise, table.shape))
    want = (Expected(dtype, f(table.value), room) if np.any(room)
            else exactly(dtype, f(table.value)))
    return Call("embedding", [table, at.ids], [want], attrs)


def _frequency(at, scaled):
    """What each id's gradient is divided by."""
    use = at.counted()
    if not scaled:
        return use.astype(np.float64)
    counts = np.bincount(at.safe()[use], minlength=at.rows)
    return np.where(use, 1.0 / np.maximum(counts[at.safe()], 1), 0.0)


@model("embedding_backward", weight=2.0)
def embedding_backward(g):
    at, dtype, scaled = _Lookup(g), g.pick(nm.FLOATS), g.chance(0.2)
    grad = g.smooth(dtype, at.ids.shape + (at.columns,))
    attrs = at.attrs() + [attr("rows", at.rows),
                          attr("scale_grad_by_freq", True) if scaled else None]
    if at.bad:
        return Call("embedding_backward", [grad, at.ids], [], attrs, at.bad)
    return Call("embedding_backward", [grad, at.ids],
                [_table_gradient(at, lambda a: a.reshape(-1, at.columns), [grad], dtype,
                                 _frequency(at, scaled), scaled)], attrs)


def _table_gradient(at, per_id, inputs, dtype, share, inexact):
    """Sums over ids of gradients per id, each times its share."""
    def f(*values):
        y = np.zeros((at.rows, at.columns))
        if at.flat.size:
            np.add.at(y, at.safe(), per_id(*values) * share[:, None])
        return y

    want = linear(f, inputs, dtype, at.flat.size)
    if inexact:
        sizes = f(*(x.scale for x in inputs))
        want.tolerance = want.tolerance + nm.rounding(dtype, at.flat.size, sizes)
    return want


def _bag_inputs(at, first, weights=None):
    x = [first, at.ids]
    if at.offsets is not None or weights is not None:
        x.append(at.offsets)
    if weights is not None:
        x.append(weights)
    return x


@model("bag_sum", "bag_mean", weight=2.0)
def bag(g, name):
    at, dtype = _Lookup(g, bags=True), g.pick(nm.FLOATS)
    table = at.table(dtype)
    weights = g.smooth(dtype, at.ids.shape) if name == "bag_sum" and g.chance(0.4) else None
    inputs, attrs = _bag_inputs(at, table, weights), at.attrs()
    if at.bad:
        return Call(name, inputs, [], attrs, at.bad)
    use = at.counted()
    counts = np.bincount(at.bag[use], minlength=at.n_bags)

    def f(t, w=None):
        y = np.zeros((at.n_bags, at.columns))
        rows = np.where(use[:, None], t[at.safe()], 0.0)
        np.add.at(y, at.bag, rows * (1.0 if w is None else w.ravel()[:, None]))
        return y

    want = linear(f, [table] + ([weights] if weights else []), dtype, at.flat.size)
    if name == "bag_mean":
        share = np.maximum(counts, 1)[:, None]
        want = Expected(dtype, want.value / share, want.tolerance / share
                        # owners divide their sums
                        + nm.rounding(dtype, 1, f(table.scale) / share))
    return Call(name, inputs, [want], attrs)


@model("bag_max", weight=2.0)
def bag_max(g):
    at, dtype = _Lookup(g, bags=True), g.pick(nm.FLOATS)
    table = g.exact(dtype, (at.rows, at.columns), ("whole", "unit", "wide"))
    last = g.chance(0.3)
    inputs = _bag_inputs(at, table)
    attrs = at.attrs() + [attr("last", True) if last else None]
    if at.bad:
        return Call("bag_max", inputs, [], attrs, at.bad)
    value = np.zeros((at.n_bags, at.columns))
    row = np.full((at.n_bags, at.columns), -1)
    for k in np.flatnonzero(at.counted()):
        b, r = at.bag[k], at.flat[k]
        wins = (row[b] < 0) | (table.value[r] > value[b]) | (
            last & (table.value[r] == value[b]))
        value[b] = np.where(wins, table.value[r], value[b])
        row[b] = np.where(wins, r, row[b])
    return Call("bag_max", inputs, [exactly(dtype, value), exactly("i64", row)], attrs)


@model("bag_sum_backward", "bag_mean_backward", weight=2.0)
def bag_backward(g, name):
    at, dtype, scaled = _Lookup(g, bags=True), g.pick(nm.FLOATS), g.chance(0.2)
    grad = g.smooth(dtype, (at.n_bags, at.columns))
    weights = None
    if name == "bag_sum_backward" and g.chance(0.4):
        weights = g.smooth(dtype, at.ids.shape)
    inputs = _bag_inputs(at, grad, weights)
    attrs = at.attrs() + [attr("rows", at.rows),
                          attr("scale_grad_by_freq", True) if scaled else None]
    if at.bad:
        return Call(name, inputs, [], attrs, at.bad)
    share = _frequency(at, scaled)
    if name == "bag_mean_backward":
        counts = np.bincount(at.bag[at.counted()], minlength=at.n_bags)
        share = share / np.maximum(counts, 1)[at.bag]

    def per_id(a, w=None):
        return a[at.bag] * (1.0 if w is None else w.ravel()[:, None])

    real = [grad] + ([weights] if weights else [])
    return Call(name, inputs, [_table_gradient(at, per_id, real, dtype, share,
                                               scaled or name[4] == "m")], attrs)


@model("bag_weights_backward", weight=2.0)
def bag_weights_backward(g):
    at, dtype = _Lookup(g, bags=True), g.pick(nm.FLOATS)
    grad, table = g.smooth(dtype, (at.n_bags, at.columns)), at.table(dtype)
    inputs = [grad, table, at.ids] + ([at.offsets] if at.offsets is not None else [])
    if at.bad:
        return Call("bag_weights_backward", inputs, [], at.attrs(), at.bad)
    use = at.counted()

    def f(a, t):
        rows = np.where(use[:, None], t[at.safe()], 0.0)
        return (rows * a[at.bag]).sum(axis=1).reshape(at.ids.shape)

    return Call("bag_weights_backward", inputs, [linear(f, [grad, table], dtype, at.columns)],
                at.attrs())


@model("bag_max_backward", weight=2.0)
def bag_max_backward(g):
    rows, bags, columns = g.number(1, 9), g.size(), max(1, g.size(5))
    dtype = g.pick(nm.FLOATS)
    grad = g.smooth(dtype, (bags, columns))
    index = g.tensor("i64", (bags, columns), value=g.rng.integers(-1, rows, (bags, columns)))
    index, bad = spoil(g, index, rows, negative=False)
    attrs = [attr("rows", rows)]
    if bad:
        return Call("bag_max_backward", [grad, index], [], attrs, bad)

    def f(a):
        y = np.zeros((rows + 1, columns))
        at = np.broadcast_to(np.arange(columns), (bags, columns))
        np.add.at(y, (np.where(index.value < 0, rows, index.value), at), a)
        return y[:rows]

    return Call("bag_max_backward", [grad, index], [linear(f, [grad], dtype, bags)], attrs)


@model("embedding_renorm", weight=2.0)
def embedding_renorm(g):
    at, dtype = _Lookup(g), g.pick(nm.FLOATS)
    at.ids = g.indices(at.ids.shape, at.rows)
    at.ids, bad = spoil(g, at.ids, at.rows)
    table = g.smooth(dtype, (at.rows, at.columns))
    most, p = g.pick((0.5, 1.0, 2.0)), g.pick((1.0, 2.0, 2.0))
    attrs = [attr("max_norm", most), attr("norm_type", p)]
    if bad:
        return Call("embedding_renorm", [table, at.ids], [], attrs, bad, overwritten={0})
    norm = (np.abs(table.value) ** p).sum(axis=1) ** (1 / p)
    named = np.zeros(at.rows, bool)
    named[at.flat] = True
    scale = np.where(named & (norm > most), most / (norm + 1e-7), 1.0)
    value = table.value * scale[:, None]
    # the norm decides, within its rounding, whether a row is scaled at all
    close = np.abs(norm - most) <= 64 * nm.eps(dtype) * norm + np.max(table.rough) * at.columns
    room = 16 * nm.eps(dtype) * np.abs(table.value) + np.where(
        close[:, None], np.abs(table.value) * np.abs(1 - most / (norm + 1e-7))[:, None], 0.0)
    room = room + 8 * at.columns * np.max(table.rough) + 2e-7 * np.abs(value)
    return Call("embedding_renorm", [table, at.ids], [Expected(dtype, value, room)], attrs,
                overwritten={0})
