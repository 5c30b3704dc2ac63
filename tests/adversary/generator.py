# SPDX-License-Identifier: Apache-2.0
"""Sessions from a seed: mesh, costs, and calls of random ops. The models of ops are in ops_*.py."""
import numpy as np

import layout_model as lm
import numbers_model as nm
import ops_indexing  # noqa: F401  (each registers its models)
import ops_linalg  # noqa: F401
import ops_lookup  # noqa: F401
import ops_movement  # noqa: F401
import ops_network  # noqa: F401
import ops_pointwise  # noqa: F401
import ops_reduction  # noqa: F401
import ops_training  # noqa: F401
import ops_windows  # noqa: F401
from calls import Session
from registry import COMPOSED, MODELS, WEIGHTS
from tensors import ELEMENTS, Maker

# Ops of the library that have no model here, and why not.
EXCUSED = {
}
# Models of calls that are no ops.
NOT_OPS = {"redistribute", "from_host", "to_host"}


class Generator(Maker):
    """What models make calls with."""

    def exact(self, dtype, shape, kinds=None, partial=True):
        """A tensor whose value every order of adding up its terms gives exactly."""
        x = self.tensor(dtype, shape, self.kind(dtype, kinds), partial=partial)
        if np.any(x.noise):
            return self.tensor(dtype, shape, value=nm.rounded(x.value, dtype), partial=False)
        return x

    def smooth(self, dtype, shape, kinds=("whole", "unit", "wide")):
        """A tensor for an op whose results change little if that does."""
        return self.tensor(dtype, shape, self.kind(dtype, kinds))

    def broadcast(self, n, high=4):
        """n shapes that broadcast to the first of the result (result, shapes)."""
        whole = self.shape(0, high)
        shapes = []
        for _ in range(n):
            shape = tuple(1 if self.chance(0.12) else size for size in whole)
            shapes.append(shape[self.number(0, len(shape)):] if self.chance(0.15) else shape)
        return np.broadcast_shapes(*shapes), shapes

    def extreme(self, usual, negative=True):
        """A number, now and then one at the end of its type: (number, is it such a one?)."""
        if not self.chance(0.06):
            return usual, False
        big = (2**63 - 1, 2**63 - 2, 2**62, 2**32 + 1, 2**31)
        return (self.pick(big) * (-1 if negative and self.chance(0.5) else 1)), True

    def dim(self, ndim, x=None):
        """A dim and how it is written: from the front or from the end. Rather one that is sharded
        if there is an x."""
        d = self.number(0, ndim - 1)
        sharded = [p[1] for p in x.places if p[0] in ("S", "SS")] if x is not None else []
        if sharded and self.chance(0.5):
            d = self.pick(sharded)
        return d, d - ndim if self.chance(0.3) else d

    def dims(self, ndim):
        """Some dims in random order, and how they are written; (None, None): left out."""
        if not ndim or self.chance(0.25):
            return tuple(range(ndim)), None
        n = self.number(1, ndim)
        some = [int(d) for d in self.rng.permutation(ndim)[:n]]
        return tuple(some), [d - ndim if self.chance(0.2) else d for d in some]


def _mesh(rng, ranks):
    """Some mesh of so many ranks, of 1 to 3 dims; sizes of 1 are common."""
    sizes = []
    for prime in (2, 3, 5, 7):
        while ranks % prime == 0:
            ranks //= prime
            sizes.append(prime)
    ndim = int(rng.integers(1, 4))
    mesh = [1] * ndim
    for size in sizes:
        mesh[int(rng.integers(ndim))] *= size
    return tuple(mesh)


def _ranks(rng):
    return int(rng.choice((1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8)))


def _cost(rng):
    cost = str(rng.choice(("default", "default", "default", "torch", "random")))
    if cost == "random":
        cost += ":%d" % rng.integers(1 << 30)
    return cost + ("+reproducible" if rng.random() < 0.15 else "")


def session(seed, number, world, ops=None):
    """The session of this number: a function of its arguments."""
    rng = np.random.default_rng([seed, number])
    # under MPI the number of ranks stays for a while: starting them takes long
    ranks = _ranks(np.random.default_rng([seed, number // 50, 1]) if world == "mpi" else rng)
    mesh = _mesh(rng, ranks)
    cost = _cost(rng)
    names = sorted(ops or MODELS)
    weights = np.array([WEIGHTS[name] for name in names])
    calls = []
    for name in rng.choice(names, int(rng.integers(1, 13)), p=weights / weights.sum()):
        call = None
        while call is None or not _fits(call):
            g = Generator(rng, mesh)
            with np.errstate(all="ignore"):
                call = MODELS[str(name)](g)
        _ask_for_placements(g, call)
        calls.append(call)
    return Session(mesh, world, cost, calls)


def _fits(call):
    """Do numpy and the pipes do this quickly? Models whose tensors can be much larger bound them
    themselves."""
    return all(x is None or x.value.size <= ELEMENTS for x in call.inputs + call.outputs)


def _ask_for_placements(g, call):
    """Sometimes the caller says where the output shall be."""
    if (call.op in COMPOSED | NOT_OPS or call.overwritten or call.to
            or len(call.outputs) != 1):
        return
    if g.chance(0.15):
        want = call.outputs[0]
        if want is not None:
            call.to = lm.placements_text(g.places(want.dtype, want.value.ndim, partial=False))


def unknown_ops(names):
    """Complaints about ops that have neither a model nor an excuse, and about stale excuses."""
    known = set(MODELS) - NOT_OPS
    return (["the op %s has no model in tests/adversary and no excuse" % n
             for n in names if n not in known and n not in EXCUSED]
            + ["%s has a model in tests/adversary, but is no op" % n
               for n in sorted(known - set(names))]
            + ["%s is excused in tests/adversary, but is no op or has a model" % n
               for n in sorted(EXCUSED) if n not in names or n in known])
