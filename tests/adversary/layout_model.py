# SPDX-License-Identifier: Apache-2.0
"""Which elements each rank holds, from what docs/layouts.md says and nothing else.

A mesh is a tuple of sizes, placements a tuple with one of these per mesh dim:
    ("R",)  ("S", dim)  ("SS", dim, factor)  ("P", reduction)
"""
import re
from itertools import product

import numpy as np

REDUCTIONS = ("sum", "avg", "min", "max", "prod")


def mesh_text(mesh):
    return "x".join(str(n) for n in mesh)


def placement_text(place):
    if place[0] == "R":
        return "R"
    return "%s(%s)" % (place[0], ",".join(str(p) for p in place[1:]))


def placements_text(places):
    return "[" + ",".join(placement_text(p) for p in places) + "]"


def spec_text(dtype, shape, places):
    return "%s[%s]@%s" % (dtype, ",".join(str(n) for n in shape), placements_text(places))


_SPEC = re.compile(r"^(\w+)\[([\d,]*)\](?:@\[(.*)\])?$")
_PLACE = re.compile(r"R|P(?:\((\w+)\))?|S\((\d+)\)|SS\((\d+),(\d+)\)")


def parse_spec(text, mesh):
    """(dtype, shape, placements) of a spec's text form."""
    match = _SPEC.match(text)
    if not match:
        raise ValueError("not a spec: %r" % text)
    shape = tuple(int(n) for n in match[2].split(",") if n)
    if match[3] is None:
        return match[1], shape, (("R",),) * len(mesh)
    places = []
    for place in _PLACE.finditer(match[3]):
        if place[0] == "R":
            places.append(("R",))
        elif place[0][0] == "P":
            places.append(("P", place[1] or "sum"))
        elif place[2]:
            places.append(("S", int(place[2])))
        else:
            places.append(("SS", int(place[3]), int(place[4])))
    if len(places) != len(mesh):
        raise ValueError("%d placements for %d mesh dims: %r" % (len(places), len(mesh), text))
    return match[1], shape, tuple(places)


def coords(mesh):
    """Coordinates of all ranks, in the order of their numbers."""
    return list(product(*(range(n) for n in mesh)))


def chunk(items, parts, which):
    """The chunk rule: ceil(n / parts) for each, the last ones what is left."""
    size = -(-len(items) // parts)
    return items[min(which * size, len(items)):min((which + 1) * size, len(items))]


def indices(shape, mesh, places, coord):
    """Per tensor dim the global indices that the rank at this coordinate holds, in order."""
    held = [np.arange(n) for n in shape]
    for size, place, at in zip(mesh, places, coord):
        if size == 1 or place[0] in "RP":
            continue
        if place[0] == "S":
            held[place[1]] = chunk(held[place[1]], size, at)
        else:
            pieces = [chunk(held[place[1]], place[2], i) for i in range(place[2])]
            held[place[1]] = np.concatenate([chunk(piece, size, at) for piece in pieces])
    return held


def local_part(value, mesh, places, coord):
    """What the rank holds of a value (with P: of its term)."""
    if value.ndim == 0:
        return value
    return value[np.ix_(*indices(value.shape, mesh, places, coord))]


def partial_dims(mesh, places):
    return [m for m, place in enumerate(places) if place[0] == "P" and mesh[m] > 1]


def reduce_terms(terms, op):
    """Along the first axis; floats in float64, means in more; integers wrap."""
    with np.errstate(all="ignore"):
        if op == "sum":
            return terms.sum(axis=0, dtype=terms.dtype)
        if op == "avg":
            # neither a sum of the largest numbers nor one of their rounded shares overflows there
            return (terms.sum(axis=0, dtype=np.longdouble) / len(terms)).astype(terms.dtype)
        if op == "prod":
            return terms.prod(axis=0, dtype=terms.dtype)
        return terms.max(axis=0) if op == "max" else terms.min(axis=0)


def reduce_mesh(grid, mesh, places):
    """The value of terms grid[coordinates of partial dims..., elements...]: the last mesh dim is
    reduced first."""
    dims = partial_dims(mesh, places)
    for axis in reversed(range(len(dims))):
        grid = reduce_terms(np.moveaxis(grid, axis, 0), places[dims[axis]][1])
    return grid


class Disagreement(Exception):
    """Parts that do not make up a tensor."""


def assemble(parts, shape, mesh, places):
    """The terms of a tensor, grid[coordinates of partial dims..., elements...], from the parts of
    all ranks. Ranks that hold the same elements must hold the same numbers, bit by bit."""
    dims = partial_dims(mesh, places)
    grid = np.zeros([mesh[m] for m in dims] + list(shape), parts[0].dtype)
    owner = np.full(grid.shape, -1)
    for rank, coord in enumerate(coords(mesh)):
        held = indices(shape, mesh, places, coord)
        want = tuple(len(h) for h in held)
        if parts[rank].shape != want:
            raise Disagreement("rank %d holds %s, its spec says %s"
                               % (rank, list(parts[rank].shape), list(want)))
        at = tuple(coord[m] for m in dims)
        if not shape:
            where = at + (Ellipsis,)
        else:
            where = at + np.ix_(*held) if held else at
        seen = owner[where]
        again = seen >= 0
        differs = again & ~same(grid[where], parts[rank])
        if np.any(differs):
            raise Disagreement("rank %d differs from rank %d in elements that both hold"
                               % (rank, int(np.min(seen[differs]))))
        grid[where] = parts[rank]
        owner[where] = rank
    if grid.size and owner.min() < 0:
        raise Disagreement("elements that no rank holds")
    return grid


def same(a, b):
    """Bit by bit, but for NaN."""
    if a.dtype.kind == "f":
        return (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
    return a == b
