#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore stat -r N --save" and "uncore diff" on traffic of known size: which numbers
changed, their exact values and errors, the exit status, and files that cannot be compared.
"""

import csv
import io
import itertools
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.schema import check_documents  # noqa: E402
from lib.python.traffic import Event, Uncore  # noqa: E402
from lib.python.uncore import FEW_SLICES, GENERATION, SIM, Machine, Tap, pmus  # noqa: E402

READS, WRITES = "imc/cas_count.rd/", "imc/cas_count.wr/"
RATIO = "ratio = %s / %s" % (WRITES, READS)
MIB = 64 / (1 << 20)
# Send the lines of traffic that are next in a file with a list for each run.
SEND = """import json, sys
with open(sys.argv[1]) as file:
    runs = json.load(file)
for line in runs.pop(0):
    with open("%straffic", "w") as file:
        file.write(line)
with open(sys.argv[1], "w") as file:
    json.dump(runs, file)
""" % SIM


def save(folder, name, runs, *options):
    """Save the counts of runs, each with reads {(socket, channel): count} and constant
    writes; return the path and the run."""
    path, traffic = os.path.join(folder, name), os.path.join(folder, "runs")
    reads, writes = Event("imc", "cas_count.rd"), Event("imc", "cas_count.wr")
    with open(traffic, "w", encoding="ascii") as file:
        json.dump([[reads.line(socket, box, count)
                    for (socket, box), count in counts.items()] +
                   [writes.line(0, "imc_0", 5000)] for counts in runs], file)
    run = Uncore("stat", "-r", str(len(runs)), "--save", path, "-e", READS + "," + WRITES,
                 "--expr", RATIO, *options, command=["python3", "-c", SEND, traffic])
    return path, run


def constant(machine, **more):
    """Reads of each channel that do not change; @more has those of one, as s1imc_0=7."""
    counts = {(socket, pmu.removeprefix(GENERATION + "_")): 1000 + 100 * box + socket
              for socket in range(machine.packages) for box, pmu in enumerate(pmus("imc"))}
    for place, count in more.items():
        counts[int(place[1]), place[2:]] = count
    return counts


def rows_of(run):
    """The rows of a comparison, {(name, socket): row}."""
    return {(row.get("event") or row.get("metric"), row.get("socket")): row
            for row in run.json()["numbers"]}


def changed(run):
    return {place for place, row in rows_of(run).items() if row["outcome"] == "changed"}


def test_exact(tap, folder, machine):
    last = machine.packages - 1
    before = constant(machine)
    after = constant(machine, **{"s%dimc_0" % last: before[last, "imc_0"] + 500})
    a, first = save(folder, "a.json", [before] * 3)
    same, _ = save(folder, "same.json", [before] * 3)
    b, second = save(folder, "b.json", [after] * 3)
    with open(a, encoding="utf-8") as file:
        saved = json.load(file)
    reads = {row.get("socket"): row for row in saved["events"] if row["event"] == READS}
    sums = {socket: sum(count for place, count in before.items() if place[0] == socket)
            for socket in range(machine.packages)}
    tap.ok(first.status == second.status == 0 and saved["runs"] == 3 and
           {socket: row["raw"] for socket, row in reads.items()} ==
           {**sums, None: sum(sums.values())} and
           all(row["error"] == row["multiplexing_error"] == 0 for row in reads.values()) and
           len(saved["metrics"]) == machine.packages + 1,
           "stat -r 3 --save: counts of each socket and of the machine", first.comments())

    run = Uncore("diff", a, same)
    tap.ok(run.status == 0 and run.err == "" and re.search(
        r"^0 of \d+ numbers changed by more than the error \(99 % sure\)$", run.out, re.M),
           "diff of equal counts: 0", run.comments())
    run = Uncore("diff", a, b, "--json")
    want = {(READS, last), (READS, None), ("ratio", None)} | \
        ({("ratio", last)} if last == 0 else set())
    row = rows_of(run).get((READS, last), {})
    # Where a socket has no writes, the ratio is 0 before and after.
    tap.ok(run.status == 1 and changed(run) == want and run.json()["changed"] == len(want) and
           math.isclose(row["a"], sums[last] * MIB) and
           math.isclose(row["difference"], 500 * MIB) and row["error"] == 0,
           "diff of one channel's reads: 1, this socket and the machine", run.comments())
    percent = 100 * 500 / sums[last]
    shown = r"^%s +%d .* \+%.2f %% +.0\.00 %%$" % (re.escape(READS), last, percent)
    run = Uncore("diff", a, b)
    tap.ok(run.status == 1 and re.search(shown, run.out, re.M) and WRITES not in run.out,
           "for people: the changed ones, in percent", run.comments() + [shown])
    run = Uncore("diff", "--all", a, b)
    tap.ok(run.status == 1 and re.search(r"^%s +all .* same$" % re.escape(WRITES), run.out,
                                         re.M), "--all: the others as well", run.comments())
    run = Uncore("diff", "--threshold", "%.3f" % (percent + 0.01), a, b)
    tap.ok(run.status == 0, "a threshold above the change: 0", run.comments())
    run = Uncore("diff", "--csv", b, a)
    rows = list(csv.DictReader(io.StringIO(run.out)))
    tap.ok(run.status == 1 and [float(row["difference"]) for row in rows
                                if row["name"] == READS and row["socket"] == str(last)] ==
           [-500 * MIB], "--csv, from b to a", run.comments())
    return a, b


def test_errors(tap, folder, machine):
    """The mean of 1000, 1010 and 990 more reads has a standard error of 10 / sqrt(3)."""
    def runs(*counts):
        return [constant(machine, s0imc_0=count) for count in counts]

    a, _ = save(folder, "n1.json", runs(1000, 1010, 990))
    near, _ = save(folder, "n2.json", runs(1015, 1005, 995))
    far, _ = save(folder, "n3.json", runs(1300, 1310, 1290))
    run = Uncore("diff", a, near, "--json")
    row = rows_of(run).get((READS, 0), {})
    tap.ok(run.status == 0 and math.isclose(row["difference"], 5 * MIB) and
           math.isclose(row["error"], math.hypot(10, 10) / math.sqrt(3) * MIB) and
           0.5 < row["probability"] < 0.6,
           "a change within the error: 0, with the error of both means", run.comments())
    run = Uncore("diff", a, far, "--json")
    tap.ok(run.status == 1 and {(READS, 0), (READS, None)} <= changed(run) and
           not {(WRITES, 0), (WRITES, None)} & changed(run),
           "a change beyond the error: 1", run.comments())
    run = Uncore("diff", "--confidence", "99.9999999", a, far)
    tap.ok(run.status == 0, "it is not beyond a doubt with three runs", run.comments())


def test_single(tap, folder, machine):
    path, run = save(folder, "one.json", [constant(machine)])
    tap.ok(run.status == 0, "stat --save of one run", run.comments())
    run = Uncore("diff", path, path)
    tap.ok(run.status == 0 and run.err.count("is of one run") == 2,
           "diff of single runs: a note", run.comments())
    run = Uncore("stat", "--json", "-o", path, "-I", "50", "-d", "0.2", "-e", READS)
    run = Uncore("diff", path, path, "--json")
    tap.ok(run.status == 0 and list(rows_of(run)) == [(READS, None)],
           "a file of stat --json: its total", run.comments())


def test_bad(tap, folder, a, b):
    numbers = itertools.count()

    def edited(**members):
        with open(a, encoding="utf-8") as file:
            document = {**json.load(file), **members}
        path = os.path.join(folder, "edited%d.json" % next(numbers))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    missing = os.path.join(folder, "missing.json")
    for name, paths, words in (
            ("a missing file", (a, missing), missing + ": No such file"),
            ("a folder", (folder, b), "it is not a regular file"),
            ("no JSON", (a, "/proc/self/cmdline"), "is not a file of uncore stat"),
            ("another schema", (a, edited(schema=2)), "is not a file of uncore stat"),
            ("a member of another type", (a, edited(events=7)),
             "is not a file of uncore stat"),
            ("only an interval", (edited(total=False), b), "is not a file of uncore stat"),
            ("another generation", (a, edited(generation="snbep")),
             "events of two generations are not the same"),
            ("another machine", (edited(host="elsewhere"), a), "is of the machine elsewhere"),
            ("nothing in common", (a, edited(events=[], metrics=[])),
             "have no number in common"),
            ("one file", (a,), "two files are compared"),
            ("a bad threshold", (a, b, "--threshold", "-1"), "--threshold")):
        run = Uncore("diff", *paths)
        tap.ok(run.status == 2 and words in run.err and run.out == "" and
               len(run.err.splitlines()) == 1, "%s: one line, and 2" % name, run.comments())
    run = Uncore("diff", "--any-machine", edited(host="elsewhere"), a)
    tap.ok(run.status == 0, "--any-machine", run.comments())
    with open(a, encoding="utf-8") as file:
        metrics = json.load(file)["metrics"]
    run = Uncore("diff", a, edited(metrics=metrics[:-1]))
    tap.ok(run.status == 0 and "1 numbers are in %s only, 0 in" % a in run.err,
           "numbers of one file only: a note", run.comments())
    run = Uncore("diff", a, b, around=("sh", "-c", "exec \"$@\" > /dev/full", "sh"))
    tap.ok(run.status == 2 and "standard output" in run.err,
           "output that cannot be written: 2, not 1", run.comments())
    path = "/proc/none/a.json"
    run = Uncore("stat", "-d", "0.1", "-e", READS, "--save", path)
    tap.ok(run.status == 1 and path in run.err and READS in run.out,
           "stat --save to a bad path: the numbers, one line, and 1", run.comments())


def main():
    tap = Tap()
    with Machine(tap, sim=FEW_SLICES) as machine, tempfile.TemporaryDirectory() as folder:
        a, b = test_exact(tap, folder, machine)
        test_errors(tap, folder, machine)
        test_single(tap, folder, machine)
        test_bad(tap, folder, a, b)
        check_documents(tap, [("diff", "--json", a, b), ("diff", "--json", a, a)])
    tap.end()


if __name__ == "__main__":
    main()
