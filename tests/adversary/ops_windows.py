# SPDX-License-Identifier: Apache-2.0
"""Convolution, pooling and resampling over 1 to 3 spatial dims, forward and backward."""
from itertools import product

import numpy as np

import numbers_model as nm
from calls import Call, exactly, linear
from ops_indexing import spoil
from registry import attr, model


# ---- convolution, one offset of the kernel after the other

def _at(offset, geometry, out):
    """The elements of the padded input that this offset of the kernel meets."""
    return (Ellipsis,) + tuple(
        slice(k * dil, k * dil + (n - 1) * stride + 1, stride)
        for k, (stride, dil, _, _), n in zip(offset, geometry, out))


def _padded(x, geometry):
    return np.pad(x, [(0, 0), (0, 0)] + [(a, b) for _, _, a, b in geometry])


def _grouped(x, groups):
    return x.reshape((x.shape[0], groups, x.shape[1] // groups) + x.shape[2:])


def _weights(w, groups, offset):
    part = w[(slice(None), slice(None)) + offset]
    return part.reshape(groups, w.shape[0] // groups, w.shape[1])


def _offsets(w):
    return product(*(range(k) for k in w.shape[2:]))


def conv_sizes(space, kernel, geometry):
    return tuple((n + a + b - dil * (k - 1) - 1) // stride + 1
                 for n, k, (stride, dil, a, b) in zip(space, kernel, geometry))


def conv_of(x, w, geometry, groups):
    out = conv_sizes(x.shape[2:], w.shape[2:], geometry)
    padded = _grouped(_padded(x, geometry), groups)
    y = np.zeros((x.shape[0], groups, w.shape[0] // groups) + out)
    for offset in _offsets(w):
        y += np.einsum("ngc...,goc->ngo...", padded[_at(offset, geometry, out)],
                       _weights(w, groups, offset))
    return y.reshape((x.shape[0], w.shape[0]) + out)


def conv_input_of(grad, w, space, geometry, groups):
    """The adjoint of convolution in x."""
    whole = tuple(n + a + b for n, (_, _, a, b) in zip(space, geometry))
    y = np.zeros((grad.shape[0], groups, w.shape[1]) + whole)
    parts = _grouped(grad, groups)
    for offset in _offsets(w):
        y[_at(offset, geometry, grad.shape[2:])] += np.einsum(
            "ngo...,goc->ngc...", parts, _weights(w, groups, offset))
    y = y.reshape((grad.shape[0], groups * w.shape[1]) + whole)
    return y[(Ellipsis,) + tuple(slice(a, a + n) for n, (_, _, a, _) in zip(space, geometry))]


def conv_weight_of(x, grad, kernel, geometry, groups):
    """The adjoint of convolution in the weight."""
    padded, parts = _grouped(_padded(x, geometry), groups), _grouped(grad, groups)
    w = np.zeros((grad.shape[1], x.shape[1] // groups) + tuple(kernel))
    for offset in product(*(range(k) for k in kernel)):
        seen = padded[_at(offset, geometry, grad.shape[2:])]
        part = np.einsum("ngcs,ngos->goc", seen.reshape(seen.shape[:3] + (-1,)),
                         parts.reshape(parts.shape[:3] + (-1,)))
        w[(slice(None), slice(None)) + offset] = part.reshape(w.shape[:2])
    return w


class _Conv:
    """A random convolution's sizes and attributes. Transposed it is the adjoint of one from
    `there` to `here`."""

    def __init__(self, g):
        self.g, self.dtype = g, g.pick(nm.FLOATS)
        self.transposed = g.chance(0.3)
        self.groups = g.pick((1, 1, 2, 3))
        self.batch = g.number(1, 3)
        n = self.n = g.pick((1, 1, 2, 2, 3))
        self.inner, self.outer = (self.groups * g.number(1, 3) for _ in range(2))
        while True:
            self.kernel = tuple(g.number(1, 3) for _ in range(n))
            self.geometry = [(g.number(1, 3), g.pick((1, 1, 2)), g.number(0, 2), 0)
                             for _ in range(n)]
            two = g.chance(0.25)
            self.geometry = [(s, d, a, g.number(0, 2) if two else a)
                             for s, d, a, _ in self.geometry]
            space = tuple(g.number(1, 9 if n < 3 else 5) for _ in range(n))
            small = conv_sizes(space, self.kernel, self.geometry)
            if min(small) > 0:
                break
        self.space, self.small = space, small
        extra = [None] * n
        if self.transposed:
            smallest = [(m - 1) * s - a - b + d * (k - 1) + 1 for m, k, (s, d, a, b)
                        in zip(small, self.kernel, self.geometry)]
            extra = [big - least for big, least in zip(space, smallest)]
        self.attrs = [
            attr("stride", self._short([s for s, _, _, _ in self.geometry])),
            attr("dilation", self._short([d for _, d, _, _ in self.geometry])),
            attr("padding", [a for _, _, a, _ in self.geometry]
                 + ([b for _, _, _, b in self.geometry] if two else [])),
            attr("groups", self.groups),
            attr("transposed", True) if self.transposed else None,
            attr("output_padding", extra) if self.transposed else None]
        # shapes of x, weight and output
        here = (self.batch, self.inner) + space
        there = (self.batch, self.outer) + small
        self.w_shape = (self.outer, self.inner // self.groups) + self.kernel
        self.x_shape, self.y_shape = (there, here) if self.transposed else (here, there)

    def _short(self, numbers):
        return numbers[:1] if len(set(numbers)) == 1 and self.g.chance(0.5) else numbers

    def some(self, shape):
        return self.g.smooth(self.dtype, shape)

    def forward(self, x, w):
        if self.transposed:
            return conv_input_of(x, w, self.space, self.geometry, self.groups)
        return conv_of(x, w, self.geometry, self.groups)

    def back_input(self, grad, w):
        if self.transposed:
            return conv_of(grad, w, self.geometry, self.groups)
        return conv_input_of(grad, w, self.space, self.geometry, self.groups)

    def back_weight(self, grad, x):
        if self.transposed:
            x, grad = grad, x
        return conv_weight_of(x, grad, self.kernel, self.geometry, self.groups)

    @property
    def terms(self):
        return int(np.prod(self.kernel)) * max(self.inner, self.outer)

    @property
    def many(self):
        return self.batch * int(np.prod(self.small))


@model("conv")
def conv(g):
    c = _Conv(g)
    x, w = c.some(c.x_shape), c.some(c.w_shape)
    if g.chance(0.5):
        bias = c.some((c.y_shape[1],))
        f = lambda a, b, z: c.forward(a, b) + z.reshape((-1,) + (1,) * c.n)  # noqa: E731
        return Call("conv", [x, w, bias], [linear(f, [x, w, bias], c.dtype, c.terms)], c.attrs)
    return Call("conv", [x, w], [linear(c.forward, [x, w], c.dtype, c.terms)], c.attrs)


@model("conv_grad_input")
def conv_grad_input(g):
    c = _Conv(g)
    grad, w = c.some(c.y_shape), c.some(c.w_shape)
    return Call("conv_grad_input", [grad, w], [linear(c.back_input, [grad, w], c.dtype, c.terms)],
                c.attrs + [attr("input", list(c.x_shape[2:]))])


@model("conv_grad_weight")
def conv_grad_weight(g):
    c = _Conv(g)
    grad, x = c.some(c.y_shape), c.some(c.x_shape)
    return Call("conv_grad_weight", [grad, x],
                [linear(c.back_weight, [grad, x], c.dtype, c.many)],
                c.attrs + [attr("kernel", list(c.kernel))])


@model("conv_backward")
def conv_backward(g):
    c = _Conv(g)
    grad, x, w = c.some(c.y_shape), c.some(c.x_shape), c.some(c.w_shape)
    mask = [g.number(0, 1) for _ in range(3)]
    mask = mask if any(mask) else [1, 1, 1]
    axes = (0,) + tuple(range(2, 2 + c.n))
    want = [linear(c.back_input, [grad, w], c.dtype, c.terms),
            linear(c.back_weight, [grad, x], c.dtype, c.many),
            linear(lambda a: a.sum(axis=axes), [grad], c.dtype, c.many * 8)]
    return Call("conv_backward", [grad, x, w], [e if m else None for e, m in zip(want, mask)],
                c.attrs + [attr("output_mask", mask)])


# ---- pooling

class _Pool:
    """A random pooling: per dim the input's indices under each window, -1 where it is padding,
    and None beyond that."""

    def __init__(self, g, ceil=True):
        self.g, self.dtype = g, g.pick(nm.FLOATS)
        n = self.n = g.pick((1, 2, 2, 3))
        self.ceil = ceil and g.chance(0.3)
        while True:
            self.kernel = [g.number(1, 4) for _ in range(n)]
            self.stride = [g.number(1, 4) for _ in range(n)]
            self.dilation = [g.pick((1, 1, 1, 2)) for _ in range(n)]
            self.pads = [g.number(0, k // 2) for k in self.kernel]
            self.space = [g.number(1, 10 if n < 3 else 5) for _ in range(n)]
            self.windows = [self._dim(d) for d in range(n)]
            if all(w and all(any(i is not None and i >= 0 for i in p) for p in w)
                   for w in self.windows):
                break
        self.batch, self.channels = g.number(1, 3), g.number(1, 4)
        self.small = [len(w) for w in self.windows]
        self.attrs = [attr("kernel", self.kernel), attr("stride", self.stride),
                      attr("dilation", self.dilation), attr("padding", self.pads),
                      attr("ceil", True) if self.ceil else None]

    def _dim(self, d):
        n, k, s = self.space[d], self.kernel[d], self.stride[d]
        dil, pad = self.dilation[d], self.pads[d]
        room = n + 2 * pad - dil * (k - 1) - 1
        if room < 0:
            return []
        count = (-(-room // s) if self.ceil else room // s) + 1
        if self.ceil and (count - 1) * s >= n + pad:
            count -= 1
        return [[i if 0 <= i < n else -1 if i < n + pad else None
                 for i in (o * s - pad + j * dil for j in range(k))] for o in range(count)]

    def x_shape(self):
        return (self.batch, self.channels) + tuple(self.space)

    def y_shape(self):
        return (self.batch, self.channels) + tuple(self.small)

    def matrices(self, include_pad):
        """avg_pool along each dim; padding that is left out must be so in all dims at once."""
        out = []
        for d, windows in enumerate(self.windows):
            m = np.zeros((len(windows), self.space[d]))
            for o, places in enumerate(windows):
                count = sum(i is not None and (include_pad or i >= 0) for i in places)
                for i in places:
                    if i is not None and i >= 0:
                        m[o, i] += 1 / count
            out.append(m)
        return out

    def positions(self):
        """For each output place the numbers of the elements of its plane, in order."""
        strides = [int(np.prod(self.space[d + 1:])) for d in range(self.n)]
        places = np.empty(self.small, object)
        for o in product(*(range(k) for k in self.small)):
            each = [[i * s for i in self.windows[d][o[d]] if i is not None and i >= 0]
                    for d, s in enumerate(strides)]
            places[o] = [sum(p) for p in product(*each)]
        return places


def apply_matrices(x, matrices):
    """Each spatial dim times a matrix [out, in]."""
    for d, m in enumerate(matrices):
        x = np.moveaxis(np.tensordot(x, m, axes=(2 + d, 1)), -1, 2 + d)
    return x


def _transposed(matrices):
    return [m.T for m in matrices]


def _by_matrices(name, x, matrices, attrs, extra=4):
    terms = int(np.prod([max((m != 0).sum(axis=1).max(initial=0), 1) for m in matrices]))
    f = lambda v: apply_matrices(v, matrices)  # noqa: E731
    want = linear(f, [x], x.dtype, terms)
    if np.any([np.any((m != 0) & (m != 1)) for m in matrices]):
        sizes = apply_matrices(x.scale, [np.abs(m) for m in matrices])
        want.tolerance = want.tolerance + nm.rounding(x.dtype, 2 * extra, sizes)
    return Call(name, [x], [want], attrs)


@model("max_pool")
def max_pool(g):
    p = _Pool(g)
    x = g.exact(p.dtype, p.x_shape(), ("whole", "unit", "wide"))
    plane = x.value.reshape(p.batch, p.channels, -1)
    value = np.zeros(p.y_shape())
    index = np.zeros(p.y_shape(), np.int64)
    places = p.positions()
    for o in product(*(range(k) for k in p.small)):
        at = np.array(places[o])
        best = plane[..., at].argmax(axis=-1)
        index[(Ellipsis,) + o] = at[best]
        value[(Ellipsis,) + o] = np.take_along_axis(plane, at[best][..., None], -1)[..., 0]
    return Call("max_pool", [x], [exactly(p.dtype, value), exactly("i64", index)], p.attrs)


@model("max_pool_backward", weight=2.0)
def max_pool_backward(g):
    p = _Pool(g)
    grad = g.smooth(p.dtype, p.y_shape())
    places, value = p.positions(), np.zeros(p.y_shape(), np.int64)
    for o in product(*(range(k) for k in p.small)):
        value[(Ellipsis,) + o] = g.rng.choice(places[o], (p.batch, p.channels))
    size = int(np.prod(p.space))
    index, bad = spoil(g, g.tensor("i64", value.shape, value=value), size, least=-1)
    attrs = p.attrs + [attr("input", p.space)]
    if bad:
        return Call("max_pool_backward", [grad, index], [], attrs, bad)

    def f(a):
        y = np.zeros((p.batch * p.channels, size))
        rows = np.arange(p.batch * p.channels)[:, None]
        np.add.at(y, (rows, index.value.reshape(len(y), -1)), a.reshape(len(y), -1))
        return y.reshape(p.x_shape())

    return Call("max_pool_backward", [grad, index],
                [linear(f, [grad], p.dtype, int(np.prod(p.kernel)))], attrs)


@model("avg_pool", "avg_pool_backward")
def avg_pool(g, name):
    p, include = _Pool(g), g.chance(0.6)
    matrices = p.matrices(include)
    attrs = p.attrs + [attr("count_include_pad", include)]
    if name == "avg_pool":
        return _by_matrices(name, g.smooth(p.dtype, p.x_shape()), matrices, attrs)
    return _by_matrices(name, g.smooth(p.dtype, p.y_shape()), _transposed(matrices),
                        attrs + [attr("input", p.space)])


# ---- resampling

def _adaptive(n, m):
    y = np.zeros((m, n))
    for o in range(m):
        a, b = o * n // m, -(-(o + 1) * n // m)
        y[o, a:b] = 1 / (b - a)
    return y


def _nearest(n, m):
    y = np.zeros((m, n))
    y[np.arange(m), np.arange(m) * n // m] = 1
    return y


def _linear(n, m, corners):
    y = np.zeros((m, n))
    for o in range(m):
        if corners:
            at = o * (n - 1) / (m - 1) if m > 1 else 0.0
        else:
            at = max(0.0, (o + 0.5) * n / m - 0.5)
        i = min(int(at), n - 1)
        y[o, i] += 1 - (at - i)
        y[o, min(i + 1, n - 1)] += at - i
    return y


@model("adaptive_avg_pool", "adaptive_avg_pool_backward", "upsample_nearest",
       "upsample_nearest_backward", "upsample_linear", "upsample_linear_backward")
def resample(g, name):
    dtype, n = g.pick(nm.FLOATS), g.pick((1, 2, 2, 3))
    space = [g.number(1, 8 if n < 3 else 4) for _ in range(n)]
    other = [g.number(1, 10 if n < 3 else 5) for _ in range(n)]
    lead = (g.number(1, 3), g.number(1, 3))
    corners = "linear" in name and g.chance(0.5)
    make = (_adaptive if name[0] == "a" else _nearest if "nearest" in name
            else lambda a, b: _linear(a, b, corners))
    matrices = [make(a, b) for a, b in zip(space, other)]
    attrs = [attr("align_corners", True) if corners else None]
    extra = 8 + 4 * max(space + other)  # places are rounded, too
    if name.endswith("backward"):
        grad = g.smooth(dtype, lead + tuple(other))
        return _by_matrices(name, grad, _transposed(matrices), attrs + [attr("input", space)],
                            extra)
    x = g.smooth(dtype, lead + tuple(space))
    call = _by_matrices(name, x, matrices, attrs + [attr("size", other)], extra)
    if "linear" in name:  # where a place is rounded across an element, its neighbour counts
        call.outputs[0].tolerance = call.outputs[0].tolerance + extra * nm.eps(dtype) * np.abs(
            x.value).max()
    return call


