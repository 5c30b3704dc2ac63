# SPDX-License-Identifier: Apache-2.0
"""Runs sessions, judges their answers, and tells a finding as one line that repeats it."""
import os
import time
from collections import Counter

import numpy as np

import generator
from calls import Call, Session, Wrong, judge, same_bits
from client import Client, DriverDied
from layout_model import mesh_text
from tensors import Tensor

# Ops whose numbers depend on seed and place alone, on whatever mesh.
RANDOM = {"uniform", "normal", "bernoulli", "randint", "permutation", "dropout"}


class Tester:
    """options: see __main__.py. root: of the source tree."""

    def __init__(self, options, root):
        self.options, self.root, self.seed = options, root, options.seed
        self.driver = os.path.join(options.build, "tests/adversary_driver")
        self.counts, self.errors = Counter(), Counter()
        self.findings = self.n_sessions = 0
        self.main, self.twin = {}, Client(self.driver, timeout=options.timeout)

    # ---- drivers

    def client(self, session):
        """The driver for a session; under MPI one for each number of ranks, one at a time."""
        mpi = self.options.world == "mpi"
        ranks = int(np.prod(session.mesh)) if mpi else 0
        if ranks not in self.main:
            self.end(self.main.values())
            mpirun = os.path.join(self.root, "tools/mpirun") if mpi else None
            self.main = {ranks: Client(self.driver, mpirun, ranks, self.options.timeout)}
        return self.main[ranks]

    def end(self, clients):
        """A driver that ends badly, with leaks say, is a finding, too."""
        for client in clients:
            status, text = client.close()
            if status:
                self.findings += 1
                print("finding: at its end a driver of seed %d, up to session %d, had status %d"
                      % (self.seed, self.n_sessions, status))
                self._tell_more(text)

    def close(self):
        self.end(list(self.main.values()) + [self.twin])

    # ---- findings

    @staticmethod
    def _tell_more(text):
        for line in text.splitlines()[:20]:
            print("    " + line)

    def report(self, number, which, session, call, why):
        self.findings += 1
        first, _, more = why.partition("\n")
        only = "".join(" --op " + op for op in self.options.op or ())
        print("finding: /usr/bin/python3 tests/adversary --seed %d --world %s%s --session %d"
              "%s  # %s mesh=%s cost=%s: %s"
              % (self.seed, session.world, only, number,
                 "" if which is None else " --call %d" % which, call.text(),
                 mesh_text(session.mesh), session.cost, first), flush=True)
        self._tell_more(more)

    # ---- one session

    def judge(self, number, session, answers, numbers):
        """Compares the answers. Bad indices are an error after which the world goes on; after
        other errors it may be unusable, and later ones follow from the first."""
        broken, twins = False, []
        for call, got, which in zip(session.calls, answers, numbers):
            if broken and any(a.status for a in got):
                continue
            self.counts[call.op] += 1
            self.errors[call.op] += call.error is not None
            try:
                values = judge(call, got, session.mesh)
                if self._has_twin(session, call):
                    twins.append((which, call, values))
            except Wrong as wrong:
                self.report(number, which, session, call, str(wrong))
                broken = broken or any(a.status for a in got)
        if twins:
            self._compare_twins(number, session, twins)

    @staticmethod
    def _has_twin(session, call):
        """Must one rank give the same bits?"""
        if call.error is not None or call.op in generator.NOT_OPS:
            return False
        partial = {x.places[m][1] for x in call.inputs if x is not None for m in x.dims}
        whole = not partial
        if call.op in RANDOM:  # x is overwritten, but for dropout's; means are rounded
            return whole or (call.op != "dropout" and "avg" not in partial)
        return whole and session.cost.endswith("+reproducible")

    def _compare_twins(self, number, session, twins):
        """The same calls on one thread rank."""
        calls = []
        for _, call, _ in twins:
            inputs = [x and Tensor(x.dtype, (("R",),), (1,), x.value, True) for x in call.inputs]
            calls.append(Call(call.op, inputs, call.outputs, call.attrs,
                              overwritten=call.overwritten))
        alone = Session((1,), "thread", session.cost, calls)
        try:
            answers = self.twin.run(alone)
        except DriverDied as died:
            self.report(number, None, session, twins[-1][1], "on one rank: " + str(died))
            return
        for (which, call, values), twin, got in zip(twins, calls, answers):
            try:
                same_bits(values, judge(twin, got, (1,)))
            except Wrong as wrong:
                self.report(number, which, session, call, str(wrong))

    def _crashed(self, number, session, why):
        """Which call was it? Each alone; if none dies alone, the whole session is to blame."""
        for which, call in enumerate(session.calls):
            alone = Session(session.mesh, session.world, session.cost, [call])
            try:
                self.judge(number, alone, self.client(alone).run(alone), [which])
            except DriverDied as died:
                self.report(number, which, session, call, str(died))
                return
        self.report(number, None, session, session.calls[-1], "after others: " + why)

    def run(self, number, only=None):
        """One session, or one call of it."""
        session = generator.session(self.seed, number, self.options.world, self.options.op)
        numbers = list(range(len(session.calls)))
        if only is not None:
            session.calls, numbers = [session.calls[only]], [only]
        self.n_sessions += 1
        try:
            answers = self.client(session).run(session)
        except DriverDied as died:
            self._crashed(number, session, str(died))
            return
        self.judge(number, session, answers, numbers)

    def loop(self, seconds):
        """Sessions from 0 on until the time is over or there are findings enough."""
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            self.run(number)
            number += 1
            if self.options.stop and self.findings >= self.options.stop:
                break
