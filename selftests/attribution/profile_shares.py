#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
A profile of a whole socket: a program on its four CPUs is in two functions whose
shares of the traffic are known. record, report and flamegraph show these shares,
and the command has next to no part in its own profile.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import Event, Uncore  # noqa: E402
from lib.python.uncore import SIM, TOP, UNCORE, Machine, Tap  # noqa: E402

TASK = os.path.join(TOP, "build", "selftests", "shares_task")
EVENT = "ha_0/requests.reads/"
PERIOD = 1000
HEAVY, LIGHT, ROUNDS = 7, 3, 125
CPUS = ("0", "1", "2", "3")
OVERFLOWS = (HEAVY + LIGHT) * ROUNDS    # each gives a sample on each CPU
COUNTS = OVERFLOWS * PERIOD
SVG = "{http://www.w3.org/2000/svg}"
TOLERANCE = 2       # per cent


def record(*options):
    line = Event("ha", "requests.reads").line(0, "ha_0", PERIOD)
    return Uncore("record", "-e", EVENT, "-c", str(PERIOD), *options,
                  command=(TASK, SIM + "traffic", line, str(HEAVY), str(LIGHT),
                           str(ROUNDS), *CPUS))


def near(tap, shares, name, comments):
    """heavy() and light() have their shares, in per cent of the program's."""
    both = sum(shares.get(name, 0) for name in ("heavy", "light"))
    share = 100 * shares.get("heavy", 0) / max(both, 1)
    want = 100 * HEAVY / (HEAVY + LIGHT)
    tap.ok(abs(share - want) < TOLERANCE and
           both > (100 - TOLERANCE) / 100 * COUNTS,
           "%s: the functions' shares" % name,
           ["%.2f %%, want %.2f %%" % (share, want),
            "%d counts of %d" % (both, COUNTS), *comments])


def by_function(stacks):
    """Counts of stacks with heavy() or light() in them."""
    sums = {}
    for stack, count in stacks.items():
        for name in ("heavy", "light"):
            if name in stack.split(";"):
                sums[name] = sums.get(name, 0) + count
    return sums


def folded(text):
    """Stacks and their counts."""
    return {match.group(1): int(match.group(2)) for match in
            re.finditer(r"^(.+) (\d+)$", text, re.M)}


def widths(svg):
    """Counts of heavy() and light() in a picture."""
    sums, all_of_it = {}, 0
    for frame in xml.etree.ElementTree.fromstring(svg).iter(SVG + "g"):
        name, width = frame.get("data-n"), float(frame.get("data-w"))
        if name == "all":
            all_of_it = width
        elif name in ("heavy", "light"):
            sums[name] = sums.get(name, 0) + width
    return {name: width / all_of_it * COUNTS for name, width in sums.items()}


def test_file(tap, folder):
    path = os.path.join(folder, "samples")
    run = record("-g", "-o", path)
    report = Uncore("report", "-i", path, "--json", "-n", "1000")
    if not tap.ok(run.status == 0 and report.status == 0,
                  "record -g and report", run.comments() + report.comments()):
        return
    facts = report.json()
    event, = facts["events"]
    tap.ok(event["samples"] == OVERFLOWS * len(CPUS) and not facts["lost"] and
           event["cpus"] == [0, 1, 2, 3],
           "record samples each CPU of the socket",
           [json.dumps(event), *run.comments()])
    tap.ok(event["counts"] == COUNTS, "report: counts are the socket's, once",
           [json.dumps(event)])
    own = sum(row["percent"] for row in facts["tasks"]
              if row["command"] == "uncore")
    tap.ok(own < 1, "uncore itself has less than 1 % of the profile",
           ["%.2f %%" % own])
    tap.say("uncore itself has %.3f %% of the profile" % own)

    picture = subprocess.run([UNCORE, "flamegraph", path], text=True,
                             capture_output=True, check=False)
    near(tap, widths(picture.stdout) if picture.returncode == 0 else {},
         "flamegraph of samples", [picture.stderr])
    chains = subprocess.run(["perf", "script", "-i", path, "-F", "comm,ip,sym"],
                            capture_output=True, text=True, check=False).stdout
    stacks = {}
    for chain in chains.split("\n\n"):
        names = [line.split(None, 1)[-1] for line in chain.splitlines()[1:]]
        key = ";".join(names)
        stacks[key] = stacks.get(key, 0) + PERIOD / len(CPUS)
    near(tap, by_function(stacks), "perf script", chains.splitlines()[:20])


def test_folded(tap):
    run = record("--folded")
    stacks = folded(run.out)
    tap.ok(run.status == 0 and sum(stacks.values()) == COUNTS,
           "record --folded: counts are the socket's, once",
           ["%d, want %d" % (sum(stacks.values()), COUNTS), run.err])
    near(tap, by_function(stacks), "record --folded", [run.err])
    picture = subprocess.run([UNCORE, "flamegraph"], input=run.out, text=True,
                             capture_output=True, check=False)
    near(tap, widths(picture.stdout) if picture.returncode == 0 else {},
         "flamegraph of folded stacks", [picture.stderr])


def main():
    tap = Tap()
    if not all(os.access(path, os.X_OK) for path in (UNCORE, TASK)):
        tap.skip_all("uncore is not built")
    with Machine(tap), tempfile.TemporaryDirectory() as folder:
        test_file(tap, folder)
        test_folded(tap)
    tap.end()


if __name__ == "__main__":
    main()
