# SPDX-License-Identifier: Apache-2.0
"""Talks to adversary_driver: sends sessions, reads what each rank got, notices when it dies."""
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

import numpy as np

import numbers_model as nm
from layout_model import coords, local_part, mesh_text

OUTPUTS = 4


class DriverDied(Exception):
    """It crashed, or did not answer in time; the text says which."""


class Answer:
    """What one rank got of one call: status, message, inputs that changed, outputs or None.

    An output is (spec text, local shape, bytes)."""

    def __init__(self, status, changed, message, outputs):
        self.status, self.changed, self.message, self.outputs = status, changed, message, outputs


class _Deadline:
    """So many seconds for an answer, and then as many of the driver's own, where others keep the
    machine busy; unless it does not use them, because it waits for what does not come."""

    def __init__(self, process, seconds):
        self.process, self.seconds = process, seconds
        self.end, self.first, self.before = time.monotonic() + seconds, None, 0

    def _used(self):
        """Seconds of all threads, and of all ranks that mpirun has started in its session."""
        total, pid = 0, self.process.pid
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as f:
                    fields = f.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(name) == pid or int(fields[3]) == pid:
                total += int(fields[11]) + int(fields[12])
        return total / os.sysconf("SC_CLK_TCK")

    def check(self):
        if time.monotonic() <= self.end:
            return
        used = self._used()
        if self.first is None:
            self.first = used
        elif used - self.first > self.seconds or used - self.before < self.seconds / 100:
            raise DriverDied("no answer in time")
        self.end, self.before = time.monotonic() + self.seconds, used


class _Pipe:
    """One process's ends, read with a deadline."""

    def __init__(self, send, receive, process):
        self.send, self.receive, self.process = send, receive, process
        self.buffer = bytearray()

    def fill(self, deadline):
        while not select.select([self.receive], [], [], 0.2)[0]:
            if self.process.poll() is not None:
                raise DriverDied("the driver ended")
            deadline.check()
        data = os.read(self.receive, 1 << 20)
        if not data:
            raise DriverDied("the driver ended")
        self.buffer += data

    def line(self, deadline):
        while b"\n" not in self.buffer:
            self.fill(deadline)
        return self._cut(self.buffer.index(b"\n") + 1)[:-1].decode("utf-8", "replace")

    def take(self, n, deadline):
        while len(self.buffer) < n:
            self.fill(deadline)
        return self._cut(n)

    def _cut(self, n):
        data = bytes(memoryview(self.buffer)[:n])
        del self.buffer[:n]
        return data


def session_bytes(session, ranks):
    """A session as the driver reads it, with the parts of these ranks."""
    where = coords(session.mesh)
    out = [("%s %s %s %d %d %d\n" % (mesh_text(session.mesh), session.world, session.cost,
                                     ranks[0], len(ranks), len(session.calls))).encode()]
    for call in session.calls:
        out.append(("%s %d %d %s\n" % (call.op, len(call.inputs), len(call.attrs),
                                       call.to or "-")).encode())
        out.extend((attr + "\n").encode() for attr in call.attrs)
        for x in call.inputs:
            if x is None:
                out.append(b"-\n")
                continue
            out.append((x.spec + "\n").encode())
            for rank in ranks:
                part = local_part(x.term(where[rank]), session.mesh, x.places, where[rank])
                out.append((" ".join(str(n) for n in (part.ndim,) + part.shape) + "\n").encode())
                out.append(nm.encode(part, x.dtype))
    return b"".join(out)


class Client:
    """A driver process, or one per rank under mpirun; started when needed, again after a crash."""

    def __init__(self, driver, mpirun=None, ranks=0, timeout=60.0):
        self.driver, self.mpirun, self.ranks, self.timeout = driver, mpirun, ranks, timeout
        self.process = self.pipes = self.folder = None

    def _start(self):
        self.log = tempfile.TemporaryFile()
        if not self.mpirun:
            self.process = subprocess.Popen([self.driver], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=self.log)
            self.pipes = [_Pipe(self.process.stdin.fileno(), self.process.stdout.fileno(),
                                self.process)]
            return
        self.folder = tempfile.mkdtemp()
        for rank in range(self.ranks):
            os.mkfifo("%s/in.%d" % (self.folder, rank))
            os.mkfifo("%s/out.%d" % (self.folder, rank))
        build = os.path.dirname(os.path.dirname(os.path.abspath(self.driver)))
        self.process = subprocess.Popen(
            [self.mpirun, "-n", str(self.ranks), self.driver, self.folder],
            env={"TESSERA_PLUGIN_DIR": build, **os.environ}, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, start_new_session=True)
        self.pipes = [_Pipe(os.open("%s/in.%d" % (self.folder, r), os.O_RDWR),
                            os.open("%s/out.%d" % (self.folder, r), os.O_RDWR), self.process)
                      for r in range(self.ranks)]

    def close(self):
        """Ends the driver; returns its status and what it wrote to stderr."""
        if not self.process:
            return 0, ""
        if self.mpirun:
            for pipe in self.pipes:
                os.close(pipe.send)
                os.close(pipe.receive)
        else:
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            if self.mpirun:
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.log.seek(0)
        text = self.log.read().decode("utf-8", "replace")
        self.log.close()
        status = self.process.returncode
        self.process = self.pipes = self.folder = None
        return status, text.strip()

    def run(self, session):
        """Answers [call][rank] of a session."""
        if not self.process:
            self._start()
        size = int(np.prod(session.mesh))
        groups = [[r] for r in range(size)] if self.mpirun else [list(range(size))]
        deadline = _Deadline(self.process, self.timeout)
        try:
            for pipe, ranks in zip(self.pipes, groups):
                self._write(pipe, session_bytes(session, ranks), deadline)
            answers = [[] for _ in session.calls]
            for pipe, ranks in zip(self.pipes, groups):
                self._read(pipe, ranks, answers, deadline)
            return answers
        except (DriverDied, BrokenPipeError) as error:
            ended = self.process.poll() is not None
            status, text = self.close()
            why = str(error)
            if ended:
                why = ("the driver was killed by signal %d" % -status if status < 0
                       else "the driver ended with status %d" % status)
            raise DriverDied("\n".join([why] + text.splitlines()[:40])) from None

    def _write(self, pipe, data, deadline):
        """Without waiting for ever where the driver reads no more."""
        view = memoryview(data)
        while view:
            if not select.select([], [pipe.send], [], 0.2)[1]:
                deadline.check()
                continue
            view = view[os.write(pipe.send, view[:4096 if self.mpirun else 65536]):]

    def _read(self, pipe, ranks, answers, deadline):
        head = pipe.line(deadline)
        if not head.startswith("session "):
            raise DriverDied("not an answer: %r" % head)
        for got in answers:
            for _ in ranks:
                _, status, changed, message = (pipe.line(deadline) + " ").split(" ", 3)
                outputs = [self._output(pipe, deadline) for _ in range(OUTPUTS)]
                got.append(Answer(int(status), int(changed), message.strip(), outputs))
        if pipe.line(deadline) != "end":
            raise DriverDied("an answer that does not end")

    @staticmethod
    def _output(pipe, deadline):
        line = pipe.line(deadline)
        if line == "-":
            return None
        words = line.split(" ")
        spec, shape = words[0], tuple(int(n) for n in words[2:])
        count = int(np.prod(shape)) if shape else 1
        return spec, shape, pipe.take(count * nm.itemsize(spec.split("[")[0]), deadline)
