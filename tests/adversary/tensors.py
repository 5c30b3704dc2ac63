# SPDX-License-Identifier: Apache-2.0
"""Random tensors: numbers of several kinds, random placements, and terms where they are partial."""
import numpy as np

import layout_model as lm
import numbers_model as nm

# Kinds of numbers are texts. whole: small integers, so that sums are exact in any order. unit:
# about 1. wide: many magnitudes. full: an integer type's whole range, ends included. special:
# also infinities, NaN, signed zeros, the largest and the least numbers.


ELEMENTS = 1 << 21  # of any tensor: numpy takes a second for a call at most


class Tensor:
    """value: what it stands for. grid: its terms, [coordinates of partial mesh dims..., elements].
    scale: their absolute values, reduced: what roundings are relative to if each is computed with.
    rough: what rounding may add while its terms are reduced, or each is computed with. noise: the
    same, but 0 where the terms can be reduced exactly in any order."""

    def __init__(self, dtype, places, mesh, grid, exact):
        self.dtype, self.places, self.mesh, self.grid = dtype, places, mesh, grid
        self.dims = lm.partial_dims(mesh, places)
        self.value = np.asarray(lm.reduce_mesh(grid, mesh, places))
        self.shape = self.value.shape
        self.scale, self.rough = self.value, 0.0
        if nm.is_float(dtype):
            self.scale, self.rough = self._rounding()
        self.noise = 0.0 if exact else self.rough

    def _rounding(self):
        """The magnitudes that meet, and eps for each of them."""
        grid, total = np.abs(self.grid), 0.0
        if not any(self.places[m][1] in ("sum", "avg", "prod") for m in self.dims):
            return np.abs(self.value), 0.0
        with np.errstate(all="ignore"):
            for axis in reversed(range(len(self.dims))):
                op = self.places[self.dims[axis]][1]
                terms = np.moveaxis(grid, axis, 0)
                # the largest or smallest of signed terms may have any of their magnitudes
                grid = lm.reduce_terms(terms, "max" if op == "min" else op)
                total += len(terms)
            return grid, nm.eps(self.dtype) * grid * (1 + total / 2)

    @property
    def spec(self):
        return lm.spec_text(self.dtype, self.shape, self.places)

    def term(self, coord):
        return self.grid[tuple(coord[m] for m in self.dims)]


class Maker:
    """Makes the tensors of one call, for one mesh, from one stream of random numbers."""

    def __init__(self, rng, mesh):
        self.rng, self.mesh = rng, mesh
        self.before = None  # placements of the tensor before, and its number of dims

    # ---- small choices

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def number(self, low, high):
        """Both ends included."""
        return int(self.rng.integers(low, high + 1))

    def size(self, most=9):
        """Sizes as people have them, and those that they forget: 0, 1, uneven ones."""
        kind = self.rng.random()
        if kind < 0.06:
            return 0
        if kind < 0.18:
            return 1
        if kind < 0.22:
            return self.number(2, 4 * most)
        return self.number(2, most)

    def shape(self, low=0, high=4, most=9, long=True):
        """long: one of the sizes may be in the thousands."""
        ndim = self.number(low, high)
        if ndim and long and self.chance(0.03):
            sizes = [self.number(1, 3) for _ in range(ndim)]
            most = 3000 if self.chance(0.9) else 30000
            sizes[self.number(0, ndim - 1)] = self.number(100, most)
            return tuple(sizes)
        return tuple(self.size(most if ndim < 4 else 5) for _ in range(ndim))

    # ---- placements

    def _placement(self, dtype, ndim, partial, dim):
        kind = self.rng.random()
        if kind < 0.25 and partial and dtype != "bool":
            reductions = [r for r in lm.REDUCTIONS if r != "avg" or nm.is_float(dtype)]
            return ("P", self.pick(reductions))
        if kind < 0.45 or not ndim:
            return ("R",)
        dim = self.number(0, ndim - 1) if dim is None else dim
        if kind < 0.80:
            return ("S", dim)
        return ("SS", dim, self.pick((2, 2, 2, 3, 4, 5, 16)))

    def places(self, dtype, ndim, partial=True):
        if self.chance(0.1):
            return (("R",),) * len(self.mesh)
        # often several mesh dims shard one tensor dim, where layouts are most intricate
        dim = self.number(0, ndim - 1) if ndim and self.chance(0.4) else None
        places = [self._placement(dtype, ndim, partial, dim) for _ in self.mesh]
        if self.before and self.chance(0.5):  # and inputs are placed alike, where rules meet
            places = [self._like(m, dtype, ndim, partial) or p for m, p in enumerate(places)]
        self.before = places, ndim
        return tuple(places)

    def _like(self, m, dtype, ndim, partial):
        """The placement of the tensor before on a mesh dim, if this one can have it; tensor dims
        are counted from the end."""
        place = self.before[0][m]
        if place[0] == "P":
            fits = partial and dtype != "bool" and (place[1] != "avg" or nm.is_float(dtype))
            return place if fits else None
        if place[0] == "R":
            return place
        dim = place[1] + ndim - self.before[1]
        return (place[0], dim) + place[2:] if 0 <= dim < ndim else None

    # ---- numbers

    def kind(self, dtype, kinds=None):
        """A kind of numbers for a dtype, of those allowed."""
        if nm.is_float(dtype):
            usual = ("whole", "unit", "unit", "wide", "special")
        else:
            usual = ("whole", "full", "full")
        usual = [k for k in usual if kinds is None or k in kinds]
        return self.pick(usual) if usual else "whole"

    def numbers(self, dtype, shape, kind):
        if dtype == "bool":
            return self.rng.random(shape) < self.pick((0.5, 0.5, 0.1, 0.9))
        if not nm.is_float(dtype):
            return self._integers(dtype, shape, kind)
        if kind == "whole":
            return self.rng.integers(-4, 5, shape).astype(np.float64)
        if kind == "unit":
            return nm.rounded(self.rng.standard_normal(shape), dtype)
        spread = 6 if kind == "wide" else 3
        x = self.rng.standard_normal(shape) * np.exp2(self.rng.uniform(-spread, spread, shape))
        if kind == "special":
            odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, nm.most(dtype),
                            -nm.most(dtype), nm.least(dtype), nm.least(dtype) / 4, 0.5, 2.5, -3.5])
            x = np.where(self.rng.random(shape) < 0.4, self.rng.choice(odd, shape), x)
        return nm.rounded(x, dtype)

    def _integers(self, dtype, shape, kind):
        low, high = nm.int_range(dtype)
        if kind != "full":
            return self.rng.integers(max(low, -5), 6, shape).astype(nm.value_type(dtype))
        x = self.rng.integers(low, high, shape, dtype=nm.value_type(dtype), endpoint=True)
        ends = np.array([low, low + 1, high, high - 1, 0, 1], nm.value_type(dtype))
        return np.where(self.rng.random(shape) < 0.2, self.rng.choice(ends, shape), x)

    # ---- terms

    def _split_int(self, dtype, value, op, n):
        """n terms whose reduction is the value, integers wrap."""
        kind, bits = nm.value_type(dtype), 8 * nm.itemsize(dtype)
        low, high = nm.int_range(dtype)
        if op in ("max", "min"):
            terms = self.rng.integers(low, high, (n,) + value.shape, dtype=kind, endpoint=True)
            terms = np.minimum(terms, value) if op == "max" else np.maximum(terms, value)
            terms[self.number(0, n - 1)] = value
            return terms
        terms = self.rng.integers(low, high, (n,) + value.shape, dtype=kind, endpoint=True)
        if self.chance(0.3):
            terms = (terms % kind(5)).astype(kind)
        with np.errstate(all="ignore"):
            if op == "sum":
                terms[-1] = value - terms[:-1].sum(axis=0, dtype=kind)
                return terms
            terms |= kind(1)  # odd numbers have inverses
            rest = terms[:-1].prod(axis=0, dtype=kind)
            flat = np.array([pow(int(r), -1, 1 << bits) for r in rest.ravel()], dtype=object)
            wrapped = [(int(f) + (1 << bits) // 2) % (1 << bits) - (1 << bits) // 2
                       if low < 0 else int(f) for f in flat]
            inverse = np.array(wrapped, dtype=kind).reshape(value.shape)
            terms[-1] = value * inverse
        return terms

    def _split_float(self, dtype, value, op, n, whole, powers):
        shape = (n,) + value.shape
        if op in ("max", "min"):
            away = self.rng.integers(0, 4, shape).astype(np.float64)
            terms = nm.rounded(value - away if op == "max" else value + away, dtype)
            terms[self.number(0, n - 1)] = value
            return terms
        if op == "prod":
            power = self.rng.integers(0, 2, shape) if powers else 0
            terms = np.where(self.rng.random(shape) < 0.5, 1.0, -1.0) * np.exp2(power)
            terms[-1] = value / np.prod(terms[:-1], axis=0)
            return nm.rounded(terms, dtype)
        if whole:
            terms = self.rng.integers(-3, 4, shape).astype(np.float64)
        else:
            terms = nm.rounded(self.rng.standard_normal(shape), dtype)
        target = value * (n if op == "avg" else 1)
        terms[-1] = nm.rounded(target - terms[:-1].sum(axis=0), dtype)
        return terms

    def _split(self, dtype, value, places, whole, powers):
        """Terms of a value: grid[coordinates of partial dims..., elements...]. powers: factors may
        be powers of 2, not just signs."""
        grid, dims = value, lm.partial_dims(self.mesh, places)
        for axis, m in enumerate(dims):
            op, n = places[m][1], self.mesh[m]
            flat = grid.reshape((int(np.prod(grid.shape[:axis])),) + value.shape)
            split = [self._split_float(dtype, v, op, n, whole, powers) if nm.is_float(dtype)
                     else self._split_int(dtype, v, op, n) for v in flat]
            grid = np.stack(split).reshape(grid.shape[:axis] + (n,) + value.shape)
        return grid

    def _is_exact(self, dtype, grid, places, whole):
        """Do all orders of reducing these terms give the same, without rounding?"""
        dims = lm.partial_dims(self.mesh, places)
        kinds = {places[m][1] for m in dims}
        if not nm.is_float(dtype) or kinds <= {"min", "max"}:
            return True
        if not whole or any(places[m][1] == "avg" and self.mesh[m] not in (2, 4, 8)
                            for m in dims):
            return False
        with np.errstate(all="ignore"):
            axes = tuple(range(len(dims)))
            if "prod" in kinds:  # signs and powers of 2, but for one factor
                return len(kinds) == 1 and np.abs(grid).prod(axis=axes).max(initial=0) < 64
            unit = 1.0 if np.all(grid == np.rint(grid)) else 2.0**-8
            most = np.abs(grid).sum(axis=axes).max(initial=0.0)
            return bool(np.all(grid % unit == 0) and most < unit / nm.eps(dtype))

    def tensor(self, dtype, shape, kind=None, value=None, places=None, partial=True, powers=True):
        """A tensor of random numbers, or of the given ones, with random placements. powers: see
        _split."""
        kind = kind or self.kind(dtype)
        if value is None:
            value = self.numbers(dtype, tuple(shape), kind)
        value = np.asarray(value, nm.value_type(dtype))
        if kind == "special":
            partial = False
        if places is None:
            places = self.places(dtype, value.ndim, partial)
        grid = self._split(dtype, value, places, kind == "whole", powers)
        exact = self._is_exact(dtype, grid, places, kind == "whole")
        return Tensor(dtype, places, self.mesh, grid, exact)

    def factors(self, dtype, shape, n):
        """A tensor of which n elements at a time are multiplied. Ranks multiply their own elements
        or terms first: no product of any of them may leave the dtype's range. Of f16 they do not:
        terms are reduced first, and the products are those of f32."""
        if not nm.is_float(dtype):
            return self.tensor(dtype, shape, self.kind(dtype, ("whole", "full")))
        binades = -np.log2(nm.least(nm.fine(dtype))) / max(n, 1)  # for each element, terms and all
        terms = 0 if dtype == "f16" else int(np.prod(self.mesh)) - 1
        powers = binades >= 1 + terms
        most = min(binades - (terms if powers else 0), 3.0)
        sign = self.rng.choice((-1.0, 1.0), shape)
        value = np.where(self.rng.random(shape) < 0.5, sign,
                         sign * np.exp2(self.rng.uniform(-most, most, shape)))
        if self.chance(0.2):
            value = np.where(self.rng.random(shape) < 0.1, 0.0, value)
        return self.tensor(dtype, shape, "unit", nm.rounded(value, dtype), powers=powers)

    def indices(self, shape, count, dtype=None, partial=True):
        """Numbers from 0 to count - 1."""
        dtype = dtype or self.pick(("i64", "i64", "i32"))
        value = self.rng.integers(0, max(count, 1), shape)
        return self.tensor(dtype, shape, value=value, partial=partial)
