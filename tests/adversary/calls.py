# SPDX-License-Identifier: Apache-2.0
"""Calls and what they should give; how far results may be from that, and the comparison."""
import numpy as np

import layout_model as lm
import numbers_model as nm


class Expected:
    """An output: its value, and by how much each element may differ; tolerance 0 is exact."""

    def __init__(self, dtype, value, tolerance=0.0):
        self.dtype = dtype
        self.value = np.asarray(value)
        self.tolerance = tolerance


class Property:
    """An output of which only a property of its elements is known."""

    def __init__(self, dtype, shape, good, text):
        self.dtype, self.good, self.text = dtype, good, text
        self.value = np.zeros(shape)
        self.tolerance = 0.0


class Call:
    """One call of an op. outputs: an Expected or None (not there) for each. error: a part of the
    sentence that is expected, instead of outputs. to: placements asked for. overwritten: numbers
    of the inputs that the op writes to. may_refuse: an attribute is so extreme that a sentence
    will do instead of the result."""

    def __init__(self, op, inputs, outputs, attrs=(), error=None, to=None, overwritten=(),
                 may_refuse=False):
        self.op, self.inputs, self.outputs = op, list(inputs), list(outputs)
        self.attrs = [text for text in attrs if text]
        self.error, self.to, self.overwritten = error, to, set(overwritten)
        self.may_refuse = may_refuse

    def text(self):
        words = [self.op] + [x.spec if x else "-" for x in self.inputs] + self.attrs
        return " ".join(words) + (" -> " + self.to if self.to else "")


class Session:
    """Calls that run one after the other in one job."""

    def __init__(self, mesh, world, cost, calls):
        self.mesh, self.world, self.cost, self.calls = mesh, world, cost, calls


# ---- what a call should give, with tolerances

def exactly(dtype, value):
    return Expected(dtype, np.asarray(value).astype(nm.value_type(dtype)))


def _values(inputs):
    return [None if x is None else x.value for x in inputs]


def _is_exact(inputs, scale, dtype):
    """Are all inputs whole numbers, and all sums of products small enough to be exact?"""
    for x in inputs:
        if x is not None and nm.is_float(x.dtype):
            if np.any(x.noise) or not np.all(x.value == np.rint(x.value)):
                return False
    return np.max(scale, initial=0.0) < 1 / nm.eps(dtype)


def linear(f, inputs, dtype, terms):
    """f is a sum of `terms` products of inputs. The tolerance is that of adding up the absolute
    values of its terms in any order; for integers, and for whole numbers small enough, 0."""
    values = _values(inputs)
    value = f(*values)
    if not nm.is_float(dtype):
        return exactly(dtype, value)
    sizes = [None if x is None else x.scale for x in inputs]
    scale = np.abs(f(*sizes))
    if _is_exact(inputs, scale, dtype):
        return Expected(dtype, value)
    tolerance = nm.rounding(dtype, terms + 1, scale)
    for k, x in enumerate(inputs):
        if x is not None and np.any(x.rough):
            moved = list(sizes)
            moved[k] = np.broadcast_to(x.rough, x.shape)
            tolerance = tolerance + np.abs(f(*moved))
    return Expected(dtype, value, tolerance + nm.least(dtype))


_DIRECTIONS = 6


def smooth(rng, f, inputs, dtypes, factor=8.0, ulps=4.0, terms=1):
    """f gives an array, or several. Each may differ by some ulps, and by what a change of each
    element of each input by one ulp (or by the rounding of its terms) makes of it at worst, times
    factor: at most the root of terms times the norm of the changes by single elements, which some
    random directions tell. Signs alone would not: those of two elements often cancel."""
    single = isinstance(dtypes, str)
    dtypes = [dtypes] if single else dtypes
    wide = max((nm.exact_type(x.dtype) for x in inputs if x is not None and nm.is_float(x.dtype)),
               key=lambda t: np.finfo(t).bits, default=np.float64)
    values = [v.astype(wide) if v is not None and v.dtype == np.float64 else v
              for v in _values(inputs)]
    with np.errstate(all="ignore"):
        result = f(*values)
        result = [result] if single else list(result)
        tolerance = [None if y is None else ulps * nm.eps(d) * np.abs(y) + nm.least(d)
                     for y, d in zip(result, dtypes)]
        factor *= np.sqrt(max(terms, 1))
        for k, x in enumerate(inputs):
            if x is None or not nm.is_float(x.dtype):
                continue
            step = np.maximum(nm.eps(x.dtype) * np.abs(x.value), x.rough)
            most = [np.zeros(np.shape(t)) for t in tolerance]  # root mean square over directions
            for _ in range(_DIRECTIONS):
                moved = list(values)
                moved[k] = values[k] + rng.standard_normal(x.shape) * step
                other = f(*moved)
                other = [other] if single else other
                for i, (a, b) in enumerate(zip(result, other)):
                    if a is not None:
                        most[i] = np.hypot(most[i], np.nan_to_num(np.abs(a - b), posinf=0.0)
                                           / np.sqrt(_DIRECTIONS))
            tolerance = [None if t is None else t + factor * m for t, m in zip(tolerance, most)]
    out = [None if y is None else Expected(d, np.asarray(y, np.float64), np.asarray(t, np.float64))
           for y, d, t in zip(result, dtypes, tolerance)]
    return out[0] if single else out


# ---- comparing

class Wrong(Exception):
    """A finding; the text says what is wrong."""


def _gather(answers, k, mesh, want):
    """The value of output k, and the rounding of its own terms."""
    outs = [a.outputs[k] for a in answers]
    if any((o is None) != (want is None) for o in outs):
        raise Wrong("output %d is %s" % (k, "missing" if want else "there, but should not be"))
    if want is None:
        return None
    specs = {o[0] for o in outs}
    if len(specs) > 1:
        raise Wrong("ranks have different specs of output %d: %s" % (k, sorted(specs)))
    spec = specs.pop()
    dtype, shape, places = lm.parse_spec(spec, mesh)
    if dtype != want.dtype or shape != want.value.shape:
        raise Wrong("output %d is %s, expected %s%s" % (k, spec, want.dtype,
                                                        list(want.value.shape)))
    parts = [nm.decode(o[2], dtype, o[1]) for o in outs]
    try:
        grid = lm.assemble(parts, shape, mesh, places)
    except lm.Disagreement as error:
        raise Wrong("output %d, %s: %s" % (k, spec, error)) from None
    return spec, lm.reduce_mesh(grid, mesh, places), _terms_noise(grid, dtype, mesh, places)


def _terms_noise(grid, dtype, mesh, places):
    """The rounding of an output's own terms, and whether exact results have it, too: a mean of
    equal terms is rounded, even here."""
    kinds = {places[m][1] for m in lm.partial_dims(mesh, places)}
    if not nm.is_float(dtype) or not kinds & {"sum", "avg", "prod"}:
        return 0.0, False
    with np.errstate(all="ignore"):
        sizes = lm.reduce_mesh(np.abs(grid), mesh, places)
        return nm.eps(dtype) * np.where(np.isfinite(sizes), sizes, 0.0), "avg" in kinds


def _compare(k, spec, got, noise, want, partial):
    if isinstance(want, Property):
        if not np.all(want.good(got)):
            raise Wrong("output %d, %s: an element is not %s" % (k, spec, want.text))
        return
    exact = np.ndim(want.tolerance) == 0 and want.tolerance == 0
    if not nm.is_float(want.dtype):
        good = got == want.value
    else:
        value = np.broadcast_to(want.value, got.shape)
        with np.errstate(all="ignore"):
            room = np.zeros(got.shape) if exact else np.broadcast_to(want.tolerance, got.shape)
            room = np.where(np.isnan(room), 0.0, room)
            room = room + (noise[0] if noise[1] or not exact else 0.0)
            target = nm.rounded(value, want.dtype) if exact else value
            good = (np.abs(got - target) <= room) | (got == target)
            good |= np.isnan(got) & np.isnan(target)
            # near the end of the range overflow will do; terms of a sum may be larger than it
            end = nm.most(want.dtype) * (2.0**-6 if partial else 0.999)
            good |= ~np.isfinite(got) & (np.abs(target) + room >= end) & (not exact)
    if np.all(good):
        return
    bad = np.argwhere(~np.broadcast_to(good, got.shape))
    at = tuple(bad[0])
    text = "" if exact else " +- %.3g" % float(np.broadcast_to(want.tolerance, got.shape)[at])
    raise Wrong("output %d, %s: element %s is %r, expected %r%s; %d of %d are wrong"
                % (k, spec, list(map(int, at)), got[at].item(),
                   np.broadcast_to(want.value, got.shape)[at].item(), text, len(bad), got.size))


def _judge_error(call, answers):
    """All ranks have the same sentence, and it names the bad value."""
    if any(a.status == 0 for a in answers):
        raise Wrong("an error was expected (%s), but %d of %d ranks had none"
                    % (call.error, sum(a.status == 0 for a in answers), len(answers)))
    for a in answers:
        if call.error not in a.message:
            raise Wrong("expected an error with %r, got %r" % (call.error, a.message))
        if (a.status, a.message) != (answers[0].status, answers[0].message):
            raise Wrong("ranks had different errors: %r and %r" % (answers[0].message, a.message))


def judge(call, answers, mesh):
    """Raises Wrong unless the ranks' answers are what is expected of the call. Returns the values
    of its outputs."""
    statuses = {a.status for a in answers}
    if call.error is not None:
        _judge_error(call, answers)
        return []
    if call.may_refuse and 0 not in statuses and len({a.message for a in answers}) == 1:
        return []
    if statuses != {0}:
        bad = next(a for a in answers if a.status)
        raise Wrong("failed with status %d: %s" % (bad.status, bad.message))
    values = []
    for k in range(len(answers[0].outputs)):
        want = call.outputs[k] if k < len(call.outputs) else None
        found = _gather(answers, k, mesh, want)
        if found:
            if k == 0 and call.to and lm.parse_spec(found[0], mesh)[2] != _asked(call, mesh):
                raise Wrong("output is %s, asked for %s" % (found[0], call.to))
            if k in call.overwritten and found[0] != call.inputs[k].spec:
                raise Wrong("output %d is %s, but overwrites %s" % (k, found[0],
                                                                    call.inputs[k].spec))
            partial = any(x is not None and x.dims for x in call.inputs)
            _compare(k, found[0], found[1], found[2], want, partial)
            values.append(found[1])
    for k, x in enumerate(call.inputs):
        if k not in call.overwritten and any(a.changed >> k & 1 for a in answers):
            raise Wrong("input %d, %s, was changed" % (k, x.spec))
    return values


def same_bits(values, others):
    """Raises Wrong if outputs differ from those of the same call on one rank."""
    for k, (a, b) in enumerate(zip(values, others)):
        if not np.all(lm.same(a, b)):
            at = tuple(np.argwhere(~lm.same(a, b))[0])
            raise Wrong("output %d: element %s is %r, but on one rank %r"
                        % (k, list(map(int, at)), a[at].item(), b[at].item()))


def _asked(call, mesh):
    return lm.parse_spec("f32[]@" + call.to, mesh)[2]
