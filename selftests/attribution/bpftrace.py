#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Run the bpftrace one-liners of Documentation/attribution.rst literally, and check that
they see overflows.
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import TOP, Machine, Tap  # noqa: E402

PAGE = os.path.join(TOP, "Documentation", "attribution.rst")
PERIOD = 25000000


def lines():
    """Return the bpftrace commands of the page."""
    with open(PAGE, encoding="utf-8") as file:
        return [line.strip() for line in file
                if line.startswith("  bpftrace ")]


def numbers(text):
    """Return the numbers in bpftrace's output: the values of maps, @[...]: N, and the
    counts of histograms."""
    plain = [int(n) for n in re.findall(r"^@.*: (\d+)$", text, re.M)]
    bars = [int(n) for n in re.findall(r"^[\[(].*\)\s+(\d+) \|", text, re.M)]
    return plain + bars


def main():
    tap = Tap()
    if not shutil.which("bpftrace"):
        tap.skip_all("bpftrace is not installed")
    with Machine(tap, clock="real", params=("freeze_budget=1000",)):
        tap.ok(len(lines()) >= 3, "there are one-liners",
               ["%d" % len(lines())])
        for line in lines():
            run = subprocess.run(["bash", "-c", line], capture_output=True,
                                 text=True, check=False, timeout=600)
            program = line.split(" -e ")[-1]
            values = numbers(run.stdout)
            output = (run.stdout + run.stderr).splitlines()[-20:]
            tap.ok(run.returncode == 0 and "ERROR" not in run.stderr,
                   "runs: " + program, output)
            tap.ok(values and max(values) > 0, "sees overflows: " + program,
                   output)
            if "sum(args->period)" in line:
                tap.ok(values and all(n % PERIOD == 0 for n in values),
                       "each of a whole period", output)
    tap.end()


if __name__ == "__main__":
    main()
