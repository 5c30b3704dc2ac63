# SPDX-License-Identifier: Apache-2.0
"""A random tester with an oracle of its own: numpy, and a model of the layouts.

    /usr/bin/python3 tests/adversary --minutes 60

Makes up calls (op, shapes, dtypes, attributes, placements, mesh, costs), runs them through
build/tests/adversary_driver and compares every rank's part of the result with what numpy says. A
finding is one line that repeats it. At the end it lists how often it tried each op.
"""
import argparse
import os
import subprocess
import sys
import time
from collections import Counter

import numpy as np

import generator
from calls import Session, Wrong, judge
from client import Client, DriverDied
from layout_model import mesh_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    p = argparse.ArgumentParser(prog="adversary", description=__doc__.split("\n")[0])
    p.add_argument("--build", default=os.path.join(ROOT, "build"), help="build directory")
    p.add_argument("--seed", type=int, help="default: tools/seed")
    p.add_argument("--seconds", type=float, default=60.0)
    p.add_argument("--minutes", type=float, help="instead of seconds")
    p.add_argument("--world", choices=("thread", "mpi"), default="thread")
    p.add_argument("--session", type=int, help="only this one")
    p.add_argument("--call", type=int, help="only this call of the session")
    p.add_argument("--op", action="append", help="only these ops")
    p.add_argument("--stop", type=int, default=10, help="findings after which it stops, 0: none")
    p.add_argument("--timeout", type=float, default=60.0, help="seconds for one session")
    p.add_argument("--quiet", action="store_true", help="no list of ops at the end")
    return p.parse_args()


class Tester:
    def __init__(self, options):
        self.options = options
        self.counts, self.errors, self.clients = Counter(), Counter(), {}
        self.findings = self.n_sessions = 0
        self.seed = options.seed
        if self.seed is None:
            self.seed = int(subprocess.check_output([os.path.join(ROOT, "tools/seed")]))

    def client(self, ranks):
        mpi = self.options.world == "mpi"
        key = ranks if mpi else 0
        if key not in self.clients:
            for old in self.clients.values():
                old.close()
            driver = os.path.join(self.options.build, "tests/adversary_driver")
            mpirun = os.path.join(ROOT, "tools/mpirun") if mpi else None
            self.clients = {key: Client(driver, mpirun, ranks, self.options.timeout)}
        return self.clients[key]

    def make(self, number):
        return generator.session(self.seed, number, self.options.world, self.options.op)

    def report(self, number, which, session, why):
        self.findings += 1
        call = session.calls[which]
        print("finding: /usr/bin/python3 tests/adversary --seed %d --world %s%s --session %d "
              "--call %d  # %s mesh=%s cost=%s: %s"
              % (self.seed, session.world,
                 "".join(" --op " + op for op in self.options.op or ()), number, which,
                 call.text(), mesh_text(session.mesh), session.cost, why.splitlines()[0]),
              flush=True)
        for line in why.splitlines()[1:12]:
            print("    " + line)

    def judge(self, number, session, answers, numbers):
        """Compares the answers; after a failed call the world may be unusable."""
        broken = False
        for call, got, which in zip(session.calls, answers, numbers):
            if broken and any(a.status for a in got):
                continue
            self.counts[call.op] += 1
            self.errors[call.op] += call.error is not None
            broken = broken or call.error is not None
            try:
                judge(call, got, session.mesh)
            except Wrong as wrong:
                whole = Session(session.mesh, session.world, session.cost, {which: call})
                self.report(number, which, whole, str(wrong))
                broken = broken or any(a.status for a in got)

    def crashed(self, number, session, why):
        """Which call was it? Each alone; if none dies alone, the whole session is to blame."""
        for which, call in enumerate(session.calls):
            alone = Session(session.mesh, session.world, session.cost, [call])
            try:
                answers = self.client(int(np.prod(session.mesh))).run(alone)
                self.judge(number, alone, answers, [which])
            except DriverDied as died:
                self.report(number, which, session, str(died))
                return
        self.report(number, len(session.calls) - 1, session,
                    "only after the calls before it (leave --call out): " + why)

    def run(self, number, only=None):
        session = self.make(number)
        numbers = list(range(len(session.calls)))
        if only is not None:
            session.calls, numbers = [session.calls[only]], [only]
        self.n_sessions += 1
        try:
            answers = self.client(int(np.prod(session.mesh))).run(session)
        except DriverDied as died:
            if only is None:
                self.crashed(number, session, str(died))
            else:
                self.report(number, only, Session(session.mesh, session.world, session.cost,
                                                  {only: session.calls[0]}), str(died))
            return
        self.judge(number, session, answers, numbers)

    def loop(self, seconds):
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            self.run(number)
            number += 1
            if self.options.stop and self.findings >= self.options.stop:
                break

    def close(self):
        for client in self.clients.values():
            client.close()


def ops_of(build):
    """All ops of the library, by its own list."""
    import json
    text = subprocess.check_output([os.path.join(build, "tessera"), "ops", "--json"])
    return [row["name"] for row in json.loads(text)["results"]]


def main():
    options = arguments()
    missing = generator.unknown_ops(ops_of(options.build))
    for line in missing:
        print("finding: " + line)
    tester = Tester(options)
    begin = time.monotonic()
    try:
        if options.session is not None:
            tester.run(options.session, options.call)
        else:
            tester.loop(60 * options.minutes if options.minutes else options.seconds)
    finally:
        tester.close()
    if not options.quiet:
        print("tried: " + ", ".join("%s %d" % (op, tester.counts[op])
                                    for op in sorted(generator.MODELS)))
    print("adversary: seed %d, world %s, %d sessions, %d calls (%d expected to fail) of %d ops in "
          "%.0f s, %d findings"
          % (tester.seed, options.world, tester.n_sessions, sum(tester.counts.values()),
             sum(tester.errors.values()), len(tester.counts), time.monotonic() - begin,
             tester.findings + len(missing)))
    return 1 if tester.findings or missing else 0


sys.exit(main())
