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

import generator
from tester import Tester

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
    options = p.parse_args()
    if options.seed is None:
        options.seed = int(subprocess.check_output([os.path.join(ROOT, "tools/seed")]))
    return options


def main():
    options = arguments()
    tester = Tester(options, ROOT)
    names = subprocess.check_output([tester.driver, "--ops"], text=True).split()
    missing = generator.unknown_ops(names)
    for line in missing:
        print("finding: " + line)
    print("adversary: seed %d" % options.seed, flush=True)
    begin = time.monotonic()
    try:
        if options.session is not None:
            tester.run(options.session, options.call)
        else:
            tester.loop(60 * options.minutes if options.minutes else options.seconds)
    finally:
        tester.close()
    findings = tester.findings + len(missing)
    if not options.quiet:
        print("tried: " + ", ".join("%s %d" % row for row in sorted(tester.counts.items())))
        left_out = [n for n in names if not tester.counts[n] and not options.op]
        print("not tried: " + (", ".join(left_out) or "none"))
    print("adversary: seed %d, world %s, %d sessions, %d calls (%d expected to fail) of %d ops in "
          "%.0f s, %d findings"
          % (options.seed, options.world, tester.n_sessions, sum(tester.counts.values()),
             sum(tester.errors.values()), len(tester.counts), time.monotonic() - begin, findings))
    return 1 if findings else 0


sys.exit(main())
