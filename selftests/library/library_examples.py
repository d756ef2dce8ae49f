#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the library's examples in C++, C and Python with a driver. The examples use the
event catalogue of the machine's generation.

usage: library_examples.py METRIC EVENT
METRIC is a metric of this generation. EVENT counts each cycle of a box.
"""

import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.top import dead_box  # noqa: E402
from lib.python.uncore import SIM, TOP, Tap, pmus, write  # noqa: E402

BUILD = os.path.join(TOP, "build", "userspace")
ENV = {**os.environ, "LD_LIBRARY_PATH": os.path.join(BUILD, "lib")}


def example(name):
    """Return the path of a built example."""
    return os.path.join(BUILD, "bin", "example-" + name)


def run(*command):
    """Run a command with the built library. Return its status and output lines."""
    result = subprocess.run(command, env=ENV, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding="utf-8",
                            check=False)
    return result.returncode, result.stdout.splitlines()


def sockets_of(lines, pattern):
    """Return {socket: number} from the lines that match a pattern."""
    matches = (re.fullmatch(pattern, line) for line in lines)
    return {int(match[1]): float(match[2]) for match in matches if match}


def test_dead_box(tap, name, box, *arguments):
    """Run an example that prints three times, and let a box of socket 1 die after the
    first output. Return the lines of the first output."""
    before = []
    with subprocess.Popen([example(name), *arguments], env=ENV, encoding="utf-8",
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as running:
        while not before or not before[-1].startswith("socket 1: "):
            before.append(running.stdout.readline())
            if not before[-1]:
                break
        write(SIM + "fault", dead_box(1, box))
        after = running.stdout.read().splitlines()
    news = [line for line in after
            if box + " of socket 1 does not answer any more" in line]
    tap.ok(running.returncode == 0 and len(news) == 1 and len(after) == 5 and
           sum(line.startswith("socket 0: ") for line in after) == 2,
           "%s reports a box that dies, and reads the others" % name,
           ["status %d" % running.returncode, *before, "--", *after])
    return before


def main():
    tap = Tap()
    metric, event = sys.argv[1:]
    status, lines = run(example("bandwidth"), "1", metric)
    values = sockets_of(lines, r"socket (\d+): %s (\S+) ?\S*" % metric)
    tap.ok(status == 0 and len(values) == len(lines) > 1 and
           all(map(math.isfinite, values.values())),
           "bandwidth (C++) prints %s of each socket" % metric, lines)
    sockets = len(values)

    status, lines = run(example("rates"), metric, "1")
    values = sockets_of(lines, r"socket (\d+): %s (\S+) ?\S*" % metric)
    tap.ok(status == 0 and len(values) == len(lines) == sockets,
           "rates (C) prints the same", lines)

    status, lines = run(example("bandwidth"), "1", "no_such_metric")
    tap.ok(status == 1 and len(lines) == 1 and "no metric" in lines[0],
           "an unknown metric is an error of one line", lines)

    status, lines = run(example("count"), event)
    values = sockets_of(lines, r"socket (\d+)  \S+_\S+ +%s +(\S+) *" %
                        re.escape(event))
    tap.ok(status == 0 and len(values) == sockets and
           all(value > 1e6 for value in values.values()),
           "count (C++) prints the cycles of a second", lines)

    status, lines = run(sys.executable, os.path.join(
        TOP, "userspace", "examples", "python", "count.py"), event, "sleep", "1")
    values = sockets_of(lines, r"socket (\d+)  %s +(\S+)" % re.escape(event))
    tap.ok(status == 0 and len(values) == sockets and
           all(value > 1e6 for value in values.values()),
           "count.py (Python) as well", lines)

    status, lines = run(example("samples"), event[:-1] + ",period=1000000/",
                        "2")
    counts = [int(match[1]) for match in
              (re.fullmatch(r" *(?:\d+|lost)  (\d+) samples", line)
               for line in lines) if match]
    tap.ok(status == 0 and counts and len(counts) == len(lines),
           "samples (C) prints samples of tasks", lines)

    if len(pmus("imc")) > 2:
        test_dead_box(tap, "bandwidth", "imc_1", "3", metric)
        before = test_dead_box(tap, "rates", "imc_2", metric, "3")
        tap.ok(before and "imc_1 of socket 1 does not answer," in before[0],
               "rates reports a box that is dead at the start", before)
    tap.end()


if __name__ == "__main__":
    main()
