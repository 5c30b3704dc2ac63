# SPDX-License-Identifier: Apache-2.0
"""Linear algebra, einsum and attention."""
import numpy as np

import numbers_model as nm
from calls import Call, linear, smooth
from registry import attr, model

_KINDS = ("whole", "unit", "wide")


def _some(g, dtype, shape):
    return g.tensor(dtype, shape, g.kind(dtype, _KINDS))


def _dims(g, n, most=9):
    return [g.size(most) for _ in range(n)]


@model("matmul", "linear")
def matmul(g, name):
    dtype = g.pick(nm.FLOATS)
    m, k, n = _dims(g, 3)
    lead = g.shape(0, 2, 4, long=name == "linear")
    if name == "matmul":
        other = tuple(1 if g.chance(0.2) else s for s in lead)[g.number(0, len(lead)):]
        a, b = _some(g, dtype, lead + (m, k)), _some(g, dtype, other + (k, n))
        f = lambda x, y, z=None: np.matmul(x, y) + (0 if z is None else z)  # noqa: E731
    else:
        a, b = _some(g, dtype, lead + (k,)), _some(g, dtype, (n, k))
        f = lambda x, y, z=None: np.matmul(x, y.T) + (0 if z is None else z)  # noqa: E731
    x = [a, b] + ([_some(g, dtype, (n,))] if g.chance(0.4) else [])
    return Call(name, x, [linear(f, x, dtype, k + 1)])


@model("bmm", "dot", "outer")
def product(g, name):
    dtype = g.pick(nm.FLOATS)
    b, m, k, n = _dims(g, 4)
    shapes, f, terms = {
        "bmm": ([(b, m, k), (b, k, n)], np.matmul, k),
        "dot": ([(k,), (k,)], lambda x, y: (x * y).sum(dtype=x.dtype), k),
        "outer": ([(m,), (n,)], np.multiply.outer, 1),
    }[name]
    x = [_some(g, dtype, s) for s in shapes]
    return Call(name, x, [linear(f, x, dtype, terms)])


@model("einsum")
def einsum(g):
    dtype = g.pick(nm.FLOATS)
    letters = "abcdef"[:g.number(2, 5)]
    sizes = {c: g.size(5) for c in letters}
    terms, operands = [], g.pick((1, 2, 2, 2, 3, 4))
    for _ in range(operands):
        word = [letters[int(i)] for i in g.rng.permutation(len(letters))[:g.number(1, 3)]]
        if len(word) < 3 and g.chance(0.1):
            word.append(g.pick(word))  # a diagonal
        terms.append("".join(word))
    used = sorted(set("".join(terms)))
    out = "".join(c for c in (used[int(i)] for i in g.rng.permutation(len(used)))
                  if g.chance(0.5))
    text = ",".join(terms) + "->" + out
    if g.chance(0.15):
        text = ",".join(terms)
    kind = ("whole", "unit") if operands < 3 else ("whole",)
    x = [g.tensor(dtype, tuple(sizes[c] for c in t), g.kind(dtype, kind)) for t in terms]
    reduced = int(np.prod([sizes[c] for c in used if c not in out], dtype=np.int64))
    f = lambda *v: np.einsum(text, *v)  # noqa: E731
    return Call("einsum", x, [linear(f, x, dtype, reduced * operands)], [attr("equation", text)])


# ---- attention

def _attend(q, k, v, mask, scale, causal):
    """Output and log of each row's sum; a row that sees nothing gives zeros."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    score = scale * np.einsum("bhrd,bhkd->bhrk", q, k)
    if mask is not None:
        score = np.where(mask, score, -np.inf) if mask.dtype == bool else score + mask
    if causal:
        rows, keys = score.shape[-2:]
        score = np.where(np.arange(keys) <= np.arange(rows)[:, None], score, -np.inf)
    most = score.max(axis=-1, keepdims=True, initial=-np.inf)
    base = np.where(np.isfinite(most), most, 0.0)
    weight = np.exp(score - base)
    total = weight.sum(axis=-1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.einsum("bhrk,bhkw->bhrw", share, v), np.log(total[..., 0]) + base[..., 0], share


def _attention_inputs(g, dtype):
    batch, heads, group = g.number(1, 3), g.number(1, 3), g.pick((1, 1, 2))
    rows, keys, dim, width = g.number(1, 6), g.number(1, 6), g.number(1, 5), g.number(1, 5)
    q = g.tensor(dtype, (batch, heads * group, rows, dim), "unit")
    k = g.tensor(dtype, (batch, heads, keys, dim), "unit")
    v = g.tensor(dtype, (batch, heads, keys, width), "unit")
    mask = None
    if g.chance(0.5):
        shape = tuple(1 if g.chance(0.3) else n for n in (batch, heads * group, rows, keys))
        mask = (g.tensor("bool", shape) if g.chance(0.5) else g.tensor(dtype, shape, "unit"))
    return q, k, v, mask


@model("attention")
def attention(g):
    dtype, causal = g.pick(nm.FLOATS), g.chance(0.4)
    q, k, v, mask = _attention_inputs(g, dtype)
    scale = g.pick((None, 0.5, 1.0))
    s = q.shape[-1] ** -0.5 if scale is None else scale
    f = lambda a, b, c, d=None: _attend(a, b, c, d, s, causal)[:2]  # noqa: E731
    x = [q, k, v] + ([mask] if mask else [])
    want = smooth(g.rng, f, x, [dtype, nm.fine(dtype)], terms=k.shape[2] + q.shape[3])
    # shares of values of about the size of 1 cancel
    want[0].tolerance = want[0].tolerance + 8 * nm.eps(dtype) * np.abs(v.value).max()
    return Call("attention", x, want, [
        attr("causal", True) if causal else None, attr("scale", scale)])


@model("attention_backward")
def attention_backward(g):
    dtype = g.pick(("f32", "f64", "f64"))
    causal = g.chance(0.4)
    q, k, v, mask = _attention_inputs(g, dtype)
    scale = g.pick((None, 0.5, 1.0))
    s = q.shape[-1] ** -0.5 if scale is None else scale
    room = None if mask is None else mask.value
    with np.errstate(all="ignore"):
        out, lse, _ = _attend(q.value, k.value, v.value, room, s, causal)
    grad = g.tensor(dtype, out.shape, "unit")
    # what the forward call gave: placed anywhere, but not in pending sums that round once more
    y = g.tensor(dtype, out.shape, value=nm.rounded(out, dtype), kind="unit", partial=False)
    row = g.tensor(dtype, lse.shape, value=nm.rounded(lse, dtype), kind="unit", partial=False)
    wants_mask = mask is not None and mask.dtype != "bool" and g.chance(0.5)

    def f(a, b, c, d, e=None):
        share = _attend(b, c, d, room if e is None else e, s, causal)[2]
        group = b.shape[1] // c.shape[1]
        keys, values = np.repeat(c, group, axis=1), np.repeat(d, group, axis=1)
        slope = np.einsum("bhrw,bhkw->bhrk", a, values)
        score = share * (slope - (share * slope).sum(axis=-1, keepdims=True))
        fold = lambda z: z.reshape(c.shape[:2] + (group,) + z.shape[2:]).sum(axis=2)  # noqa: E731
        grads = [s * np.einsum("bhrk,bhkd->bhrd", score, keys),
                 fold(s * np.einsum("bhrk,bhrd->bhkd", score, b)),
                 fold(np.einsum("bhrk,bhrw->bhkw", share, a))]
        if wants_mask:
            axes = tuple(i for i in range(4) if room.shape[i] == 1)
            grads.append(score.sum(axis=axes, keepdims=True))
        return grads

    real = [grad, q, k, v] + ([mask] if mask is not None and mask.dtype != "bool" else [])
    want = smooth(g.rng, f, real, [dtype] * (3 + wants_mask), terms=64)
    for w in want:  # sums in which terms of about the size of 1 cancel
        w.tolerance = w.tolerance + 64 * nm.eps(dtype) * (1 + np.abs(grad.value).max() * 4)
    return Call("attention_backward", [grad, q, k, v, y, row, None, mask], want, [
        attr("causal", True) if causal else None, attr("scale", scale),
        attr("mask_grad", True) if wants_mask else None])
