#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore stat --for-each-cgroup" and "-G": tasks in cgroups send known amounts of
traffic to the simulated hardware. Each cgroup has exactly the traffic of its own tasks
and of the cgroups below it, and -x and -j print the rows of perf stat.
"""

import contextlib
import csv
import itertools
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import comments, is_refused, run  # noqa: E402
from lib.python.schema import (document_schema, errors_of,  # noqa: E402
                               python_with_jsonschema)
from lib.python.top import (EACH_SWITCH, LIMIT, TASK, UNCORE, alone,  # noqa: E402
                            clear_cpus, cpu_packages, need, task)
from lib.python.uncore import FEW_SLICES, Machine, Tap  # noqa: E402

ROOT = "/sys/fs/cgroup"
READS, WRITES = "imc/cas_count.rd/", "imc/cas_count.wr/"
BOTH = READS + "," + WRITES
A, B, INNER = "stat_test/a", "stat_test/b", "stat_test/a/inner"
NEVER_RAN = "stat_test/empty"
LINE = 64 / 2**20       # MiB


@contextlib.contextmanager
def cgroups():
    """Create the cgroups of the test, and remove them at the end."""
    paths = [os.path.join(ROOT, name)
             for name in ("stat_test", A, B, INNER, NEVER_RAN)]
    for path in paths:
        os.makedirs(path, exist_ok=True)
    try:
        yield
    finally:
        for path in reversed(paths):
            os.rmdir(path)


def inside(cgroup, command):
    """Return shell text that runs a command in a cgroup, in the background."""
    return "(echo $BASHPID > %s/%s/cgroup.procs; exec %s) &" % (
        ROOT, cgroup, command)


def writes(cpu, count, times):
    """Return a shell command whose traffic is writes to memory; task() reads memory."""
    return "taskset -c %d bash -c 'for ((i = 0; i < %d; i++)); do " \
        "echo box=imc_0 event=4 umask=4 count=%d > /dev/xeon_uncore_sim; " \
        "sleep 0.001; done'" % (cpu, times, count)


def stat(*arguments, script="true", events=("-e", BOTH)):
    return run("stat", *events, *arguments, "--", "bash", "-c", script,
               timeout=LIMIT)


def documents(result):
    """Return the documents that a call with --json has printed."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def numbers(document, *keys):
    """Return the values of @keys and the raw count of each row, in the rows' order."""
    return [(*(row.get(key) for key in keys), row["raw"])
            for row in document["events"]]


def check_numbers(tap, name, result, want, *keys):
    """Check that the counts of the last document are exact, unless context switches
    found the package's lock busy ("missed"). Return the document."""
    document = documents(result)[-1] if result.returncode == 0 else {}
    got = numbers(document, *keys) if document else []
    tap.ok(got == want or (len(got) == len(want) and document["missed"]), name,
           ["%s" % got, "want %s" % want, *comments(result)])
    return document


def test_each(tap, cpus):
    """Reads and writes of three cgroups on two sockets, and of a task in the root
    cgroup."""
    script = " ".join((
        inside(A, task(cpus[1], 900, 60, 2000)),
        inside(INNER, task(cpus[1], 500, 60, 2000)),
        inside(B, task(cpus[0], 300, 60, 2000)),
        inside(B, writes(cpus[1], 70, 20)),
        task(cpus[1], 100, 60, 2000), "& wait"))
    result = stat("--json", *EACH_SWITCH, "--per-socket", "--for-each-cgroup",
                  ",".join((A, "/" + B, ROOT + "/" + INNER, "/")), script=script)
    reads = {A: (0, (900 + 500) * 60), "/" + B: (300 * 60, 0),
             ROOT + "/" + INNER: (0, 500 * 60),
             "/": (300 * 60, (900 + 500 + 100) * 60)}
    want = []
    for cgroup, of_sockets in reads.items():
        written = (0, 70 * 20 if cgroup in ("/", "/" + B) else 0)
        want += [(READS, cgroup, i, count) for i, count in enumerate(of_sockets)]
        want += [(WRITES, cgroup, i, count) for i, count in enumerate(written)]
    document = check_numbers(
        tap, "--for-each-cgroup --per-socket: a cgroup has its tasks' counts",
        result, want, "event", "cgroup", "socket")
    if not python_with_jsonschema():
        tap.skip("the document against its schema", "no jsonschema here")
        return
    wrong = errors_of(document_schema(), [document])[0]
    tap.ok(not wrong, "the document is as the schema has it", wrong)


def test_in_order(tap, cpu):
    """-G: rows have the events and cgroups in the order of the command line."""
    script = " ".join((inside(A, task(cpu, 700, 20, 2000)),
                       inside(INNER, writes(cpu, 30, 20)),
                       inside(B, task(cpu, 400, 20, 2000)),
                       inside(B, writes(cpu, 50, 20)), "wait"))
    reads = {A: 700 * 20, B: 400 * 20, None: (700 + 400) * 20}
    written = {A: 30 * 20, B: 50 * 20, None: (30 + 50) * 20}
    for options, rows in (
            (("-e", BOTH, "-G", B + "," + A), ((READS, B), (WRITES, A))),
            (("-e", READS, "-e", WRITES, "--cgroup", A, "-a", "-e", READS),
             ((READS, A), (WRITES, A), (READS, None))),
            (("-e", ",".join((WRITES, READS, READS)), "-G", B + ",," + A),
             ((WRITES, B), (READS, None), (READS, A)))):
        result = stat("--json", *EACH_SWITCH, script=script, events=options)
        want = [(event, cgroup, (reads if event == READS else written)[cgroup])
                for event, cgroup in rows]
        check_numbers(tap, "stat %s" % " ".join(options), result, want, "event",
                      "cgroup")


def csv_shape(line, events):
    """Return the columns of a row before the columns of a metric, with numbers as 0 and
    without the unit, and the number of columns."""
    cells = line.strip().split(",")
    name = cells.index(next(event for event in events if event in cells))
    shape = [re.sub(r"\d+(\.\d+)?|<not [a-z]+>", "0", cell)
             for cell in cells[:name - 1]]
    return [*shape, "event %d" % events.index(cells[name]), cells[name + 1],
            *(re.sub(r"\d+", "0", cell) for cell in cells[name + 2:name + 4]),
            len(cells)]


def json_shape(line, events):
    """Return the keys of a row in their order, and its event, cgroup and socket."""
    row = json.loads(line)
    return [*row, events.index(row["event"]), row["cgroup"], row.get("socket")]


def test_perf(tap, script):
    """uncore's columns and keys are those of perf stat, which counts software events of
    the kernel here."""
    ours, perfs = BOTH.split(","), ["page-faults", "context-switches"]
    names = (A + "," + B,)
    for form, shape, options in (
            ("-x,", csv_shape, ("--for-each-cgroup", *names)),
            ("-x,", csv_shape, ("--per-socket", "--for-each-cgroup", *names)),
            ("-j", json_shape, ("-I", "300", "--for-each-cgroup", *names)),
            ("-j", json_shape, ("--per-socket", "-G", *names))):
        results = []
        for program, events in (("perf", perfs), (UNCORE, ours)):
            result = subprocess.run(
                [program, "stat", "-a", form, "-e", ",".join(events), *options,
                 "--", "bash", "-c", script], capture_output=True, text=True,
                check=False, timeout=LIMIT)
            rows = []
            with contextlib.suppress(ValueError, KeyError, StopIteration):
                for line in result.stderr.splitlines():
                    row = shape(line, events)
                    if row not in rows:     # not the same row of another interval
                        rows.append(row)
            results.append((rows, result.stderr.splitlines()))
        (want, theirs), (got, mine) = results
        tap.ok(want and got == want, "stat %s: rows as perf's" %
               " ".join((form, *options)), [*theirs[:8], *mine[:8]])


def test_intervals(tap, cpu):
    """The intervals in CSV add up to the total, also if a cgroup below the counted one is
    removed meanwhile."""
    removed = ROOT + "/" + A + "/gone"
    script = "mkdir %s; %s wait; rmdir %s; %s wait" % (
        removed, inside(A + "/gone", task(cpu, 200, 20, 1000)), removed,
        inside(A, task(cpu, 1000, 200, 3000)))
    result = stat("--csv", "-I", "300", *EACH_SWITCH, "--for-each-cgroup",
                  ",".join((A, NEVER_RAN)), script=script, events=("-e", READS))
    rows = [(row["time"], row["cgroup"], int(row["raw"]))
            for row in csv.DictReader(result.stdout.splitlines())]
    total = {cgroup: raw for time, cgroup, raw in rows if time == "total"}
    parts = [(cgroup, raw) for time, cgroup, raw in rows if time != "total"]
    sums = {name: sum(raw for cgroup, raw in parts if cgroup == name)
            for name in total}
    of_gone = 200 * 20 if "removed within a second" not in result.stderr else 0
    want = {A: of_gone + 1000 * 200, NEVER_RAN: 0}
    tap.ok(result.returncode == 0 and len(parts) >= 4 and
           list(total) == [A, NEVER_RAN] and
           all(abs(total[name] - want[name]) <= want[name] // 20
               for name in total) and
           all(abs(sums[name] - total[name]) <= len(parts) for name in total),
           "stat --csv -I: intervals add up to the total",
           ["sums %s, want about %s" % (sums, want), *comments(result)])


def test_removed(tap, cpu):
    """The counted cgroup is removed before uncore stat ends."""
    script = "mkdir {0}/kept; {1} wait; rmdir {0}/kept; rmdir {0}".format(
        os.path.join(ROOT, NEVER_RAN), inside(NEVER_RAN, task(cpu, 90, 20, 1000)))
    result = stat(*EACH_SWITCH, "--for-each-cgroup", NEVER_RAN, script=script)
    os.mkdir(os.path.join(ROOT, NEVER_RAN))
    lines = [line.split() for line in result.stdout.splitlines()]
    mib = 90 * 20 * LINE
    tap.ok(result.returncode == 0 and
           ["NAME", "CGROUP", "VALUE"] in lines and
           [line[:2] for line in lines if line[:1] in ([READS], [WRITES])] ==
           [[READS, NEVER_RAN], [WRITES, NEVER_RAN]] and
           ("%.1f KiB" % (1024 * mib) in result.stdout or
            "missed" in result.stderr),
           "text for people: a cgroup that was removed before the end", comments(result))


def test_refused(tap):
    option = ("--for-each-cgroup", A)
    for options, status, words in (
            (("-e", BOTH, "--for-each-cgroup", A + ",none"), 1,
             ("there is no cgroup 'none'", "create it")),
            (("-e", BOTH, "-G", "none"), 1, ("there is no cgroup 'none'",)),
            (("-e", BOTH, "-G", ",".join((A, B, A))), 1,
             ("more cgroups than events before -G (2)",)),
            (("-G", A, "-e", READS), 1, ("give events (-e) before -G",)),
            (("-e", BOTH, *option, "-G", A), 2, ("exclude each other",)),
            (("-e", BOTH, "--for-each-cgroup", ","), 1, ("names no cgroup",)),
            (("-e", "page-faults", *option), 1, ("page-faults", "perf stat")),
            (("-M", "mem_bw_total", *option), 2, ("uncore top --by cgroup",)),
            (("-e", BOTH, "--per-box", *option), 2, ("--per-socket",)),
            (("-e", BOTH, "-A", *option), 2, ("--per-socket",)),
            (("-e", BOTH, "-r", "2", *option), 2, ("-r",)),
            (("-e", BOTH, "--resolution", "0"), 2, ("--for-each-cgroup",))):
        result = stat(events=options)
        tap.ok(is_refused(result, *words, status=status),
               "refused in one line: stat %s" % " ".join(options), comments(result))
    result = run("stat", "-e", READS, *option, "true", before=(
        "unshare", "-m", "sh", "-c", "umount -a -t cgroup2; exec \"$@\"", "-"))
    tap.ok(is_refused(result, "no file system of cgroups is mounted"),
           "no cgroups are mounted: one line", comments(result))
    result = run("stat", "-e", READS, *option, "true", before=(
        "setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all"))
    top = run("top", "--once", "-e", READS, "true", before=(
        "setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all"))
    tap.ok(is_refused(result) and result.stderr == top.stderr,
           "a user without privileges has the line of top",
           [*comments(result), *comments(top)])


def main():
    tap = Tap()
    need(tap, TASK)
    with Machine(tap, sim=FEW_SLICES), cgroups():
        packages = cpu_packages()
        clear_cpus(packages[0][0])
        cpus = [packages[0][0], packages[-1][0]]
        test_refused(tap)
        with alone(packages[0]), alone(packages[-1]):
            test_each(tap, cpus)
            test_in_order(tap, cpus[1])
            test_intervals(tap, cpus[1])
            test_removed(tap, cpus[1])
        test_perf(tap, " ".join(itertools.chain(
            (inside(name, task(cpus[1], 10, 20, 20000)) for name in (A, B)),
            ("wait",))))
    tap.end()


if __name__ == "__main__":
    main()
