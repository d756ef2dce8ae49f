#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore stat --attribute" and "uncore top --by tree": descendants of a command send
known amounts of traffic to the simulated hardware while a task beside the command sends
others. The command has exactly the traffic of its descendants: of many short processes,
of processes that got another parent, session and cgroup, of threads, and of tasks that
the kernel starts.
"""

import contextlib
import csv
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (comments, is_refused, one_line, run,  # noqa: E402
                                started)
from lib.python.schema import (document_schema, errors_of,  # noqa: E402
                               python_with_jsonschema)
from lib.python.top import (EACH_SWITCH, EVENT, LIMIT, TASK, Table,  # noqa: E402
                            alone, clear_cpus, cpu_packages, need, task)
from lib.python.uncore import FEW_SLICES, TOP, Machine, Tap, read  # noqa: E402

TREE = os.path.join(TOP, "build", "selftests", "tree_task")
READS = "imc/cas_count.rd/"
ROOT = "/sys/fs/cgroup"
MINE, ELSEWHERE = ROOT + "/attribute_test", ROOT + "/attribute_elsewhere"
OTHER = 777     # counts of the task beside the command in each run
PID_MAX = "/proc/sys/kernel/pid_max"


@contextlib.contextmanager
def cgroups():
    for path in (MINE, ELSEWHERE):
        os.makedirs(path, exist_ok=True)
    try:
        yield
    finally:
        for path in (MINE, ELSEWHERE):
            os.rmdir(path)


@contextlib.contextmanager
def few_pids():
    """Let the kernel use few thread numbers, so that it uses them again in a test."""
    old = read(PID_MAX)
    with open(PID_MAX, "w", encoding="ascii") as file:
        file.write("600")
    try:
        yield
    finally:
        with open(PID_MAX, "w", encoding="ascii") as file:
            file.write(old)


@contextlib.contextmanager
def beside(cpu):
    """Start a shell that is no descendant of the command. Yield shell text that lets a
    process of this shell send OTHER counts, and waits for the process."""
    ask, answer = "/tmp/attribute_ask", "/tmp/attribute_answer"
    for path in (ask, answer):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        os.mkfifo(path)
    script = "while read < %s && [ $REPLY = go ]; do %s; echo > %s; done" % (
        ask, task(cpu, OTHER, 1, 100, "other"), answer)
    with started(["taskset", "-c", str(cpu), "bash", "-c", script]):
        yield "echo go > %s; read < %s" % (ask, answer)
        with open(ask, "w", encoding="ascii") as file:
            file.write("end\n")


def stat(*arguments, script="true", before=()):
    return run("stat", "--attribute", *arguments, "--", "bash", "-c", script,
               timeout=LIMIT, before=before)


def documents(result):
    return [json.loads(line) for line in result.stdout.splitlines()
            if line.startswith("{")]


def shares(document, event=READS):
    """Return the sum of the counts of each share; "" is all."""
    sums = {}
    for row in document.get("events", []):
        if row["event"] == event:
            name = row.get("share", "")
            sums[name] = sums.get(name, 0) + row["raw"]
    return sums


def check(tap, name, result, want):
    """Check that the command has exactly @want counts, and other tasks OTHER. A machine
    that is so busy that a CPU waits for a lock for 10 ms misses a context switch."""
    document = (documents(result) or [{}])[-1]
    got = shares(document)
    tap.ok(result.returncode == 0 and not result.stderr and
           (got == {"": want + OTHER, "command": want, "other": OTHER, "idle": 0} or
            (document["missed"] and sum(got.values()) == 2 * got[""])),
           name, ["%s, want %d and %d" % (got, want, OTHER), *comments(result)])
    return document


def test_descendants(tap, cpu, other):
    """Each kind of descendant of tree_task.c."""
    def tree(*words):
        return "taskset -c %d %s %s; %s" % (cpu, TREE, " ".join(words), other)

    document = {}
    for name, script, want, options in (
            ("500 short processes", tree("30", "short", "500"), 15000, ()),
            ("a daemon in another session and cgroup",
             tree("500", "reparented", ELSEWHERE + "/cgroup.procs"), 500,
             ("--per-socket",)),
            ("threads", tree("70", "threads", "20"), 1400, ()),
            ("a thread that executes a program", tree("90", "exec"), 180, ()),
            ("a thread of io_uring", tree("60", "io_uring"), 60, ()),
            ("a daemon that was started before counting began",
             tree("40", "late", "2000"), 40, ("-D", "300"))):
        with few_pids():
            result = stat("--json", "-e", READS, *EACH_SWITCH, *options,
                          script=script)
        document = check(tap, "--attribute: " + name, result, want)
    if not python_with_jsonschema():
        tap.skip("the document against its schema", "no jsonschema here")
        return
    wrong = errors_of(document_schema(), [document])[0]
    tap.ok(document and not wrong, "the document is as the schema has it", wrong)


def test_by_cgroup(tap, cpu, other):
    """--by cgroup: the tasks of the command's cgroup, and not those that left it."""
    inside = ("sh", "-c", "echo $$ > %s/cgroup.procs; exec \"$@\"" % MINE, "-")
    script = "%s; taskset -c %d %s 500 short 20; taskset -c %d %s %d reparented " \
        "%s/cgroup.procs" % (other, cpu, TREE, cpu, TREE, OTHER, ELSEWHERE)
    result = stat("--json", "-e", READS, "--by", "cgroup", *EACH_SWITCH,
                  script=script, before=inside)
    got = shares((documents(result) or [{}])[-1])
    want = {"": 10000 + 2 * OTHER, "command": 10000, "other": 2 * OTHER, "idle": 0}
    tap.ok(got == want and not result.stderr,
           "--by cgroup: tasks of the command's cgroup",
           ["%s, want %s" % (got, want), *comments(result)])
    one_line(tap, "--by cgroup in the root cgroup: one line",
             stat("-e", READS, "--by", "cgroup"), 1, "root cgroup", "systemd-run")


def test_forms(tap, cpu, other):
    """Text for people, CSV, and the rows of perf stat."""
    script = "%s 1000 short 3; %s" % (TREE, other)
    result = stat("-e", READS, *EACH_SWITCH, script="taskset -c %d " % cpu + script)
    kib = 3000 * 64 / 1024
    lines = [line.split() for line in result.stdout.splitlines()]
    tap.ok(result.returncode == 0 and
           ["NAME", "SHARE", "VALUE"] in lines and
           any(line[:6] == [READS, "bash", "and", "its", "descendants",
                            "%.1f" % kib] and line[-2:] == ["79.4", "%"]
               for line in lines) and
           any(line[:3] == [READS, "other", "tasks"] for line in lines),
           "text for people", comments(result))
    result = stat("--csv", "-I", "200", "-e", READS, *EACH_SWITCH,
                  script="taskset -c %d " % cpu + script)
    rows = list(csv.DictReader(result.stdout.splitlines()))
    total = {row["share"]: int(row["raw"]) for row in rows if row["time"] == "total"}
    tap.ok(total == {"": 3000 + OTHER, "command": 3000, "other": OTHER, "idle": 0},
           "--csv -I: a row for each share", comments(result))
    tap.ok(rows and all(
        row["share"] or int(row["raw"]) == sum(
            int(part["raw"]) for part in rows
            if part["time"] == row["time"] and part["share"]) for row in rows),
           "--csv -I: the shares of each interval add up", comments(result))
    result = stat("-x,", "-e", READS, *EACH_SWITCH,
                  script="taskset -c %d " % cpu + script)
    cells = [line.split(",") for line in result.stderr.splitlines()]
    tap.ok([line[2:4] for line in cells] ==
           [[READS, name] for name in ("", "command", "other", "idle")] and
           abs(float(cells[1][0]) - kib / 1024) < 0.01,
           "-x: the share is in the column of perf's cgroups", comments(result))


def test_idle(tap):
    """Traffic that never stops belongs to no task while the command sleeps."""
    result = stat("--json", "-e", "qpi/clockticks,name=ticks/", script="sleep 0.5")
    got = shares((documents(result) or [{}])[-1], "ticks")
    tap.ok(result.returncode == 0 and got and
           got[""] == got["command"] + got["other"] + got["idle"] and
           got["idle"] > got[""] // 4 and got["command"] > 0,
           "a command that sleeps: the rest is idle", ["%s" % got, *comments(result)])


def test_room(tap, cpu):
    """More tasks than --max-tasks allows: a line reports them, and the sum is right."""
    script = "taskset -c %d bash -c 'for i in 1 2 3 4 5 6 7 8; do sleep 2 & done; " \
        "%s; wait'" % (cpu, task(cpu, 100, 5, 100))
    result = stat("--json", "-e", READS, "--max-tasks", "4", *EACH_SWITCH,
                  script=script)
    document = (documents(result) or [{}])[-1]
    got = shares(document)
    tap.ok(result.returncode == 0 and document["unfollowed"] >= 5 and
           "more than 4 exist at once: --max-tasks" in result.stderr and
           got == {"": 500, "command": 0, "other": 500, "idle": 0},
           "tasks without room are reported", comments(result))


def test_trees(tap, cpu, other):
    """uncore top --by tree: a row for the command, and one for the shell beside it."""
    script = "taskset -c %d %s 30 short 100; taskset -c %d %s 500 reparented " \
        "%s/cgroup.procs; %s" % (cpu, TREE, cpu, TREE, ELSEWHERE, other)
    result = run("top", "--once", "--json", "--by", "tree", "-e", EVENT,
                 *EACH_SWITCH, "--", "bash", "-c", script, timeout=LIMIT)
    data = (documents(result) or [{}])[-1]
    table = Table(data) if data else None
    rows = {table.count(row): row for row in data.get("rows", [])}
    tap.ok(table and table.adds_up() and
           (3500 in rows and OTHER in rows or data["missed"]),
           "top --by tree: a row for each tree",
           ["%s" % {count: row["command"] for count, row in rows.items()},
            *comments(result)[:9]])
    tap.ok(all(rows.get(count, {}).get("command") == "bash" for count in (3500, OTHER)),
           "with the name of its root", ["%s" % rows])


def test_refused(tap):
    for options, words in (
            (("-M", "mem_bw_total"), ("uncore top --once --by tree",)),
            (("-G", "a", "-e", READS), ("exclude each other",)),
            (("--per-box",), ("--per-socket",)),
            (("-r", "2"), ("-r",)),
            (("--save", "/tmp/a"), ("--save",)),
            (("--by", "cgroup", "--max-tasks", "9"), ("--by tree",))):
        tap.ok(is_refused(stat(*options), *words, status=2),
               "refused in one line: stat --attribute %s" % " ".join(options))
    one_line(tap, "no command", run("stat", "--attribute", "-e", READS), 2,
             "needs a command")
    one_line(tap, "--by alone", run("stat", "-e", READS, "--by", "tree", "true"), 2,
             "--attribute")
    one_line(tap, "an event of the cores",
             stat("-e", "page-faults"), 1, "page-faults", "perf stat")
    one_line(tap, "a command that does not exist",
             run("stat", "--attribute", "--", "/nonexistent"), 127, "/nonexistent")
    result = run("stat", "--attribute", "--json", "true")
    tap.ok(result.returncode == 0 and len(documents(result)) == 1,
           "a command that ends at once, and the default events", comments(result))
    one_line(tap, "no permission", run("stat", "--attribute", "true", before=(
        "setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all")), 1,
             "CAP_BPF")
    one_line(tap, "no type information", run("stat", "--attribute", "true", before=(
        "unshare", "-m", "sh", "-c",
        "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "-")), 1,
             "CONFIG_DEBUG_INFO_BTF")


def main():
    tap = Tap()
    need(tap, TASK, TREE)
    with Machine(tap, sim=FEW_SLICES), cgroups():
        packages = cpu_packages()
        clear_cpus(packages[0][0])
        cpu = packages[-1][0]
        test_refused(tap)
        with alone(packages[0]), alone(packages[-1]), beside(cpu) as other:
            test_descendants(tap, cpu, other)
            test_by_cgroup(tap, cpu, other)
            test_forms(tap, cpu, other)
            test_trees(tap, cpu, other)
            test_room(tap, cpu)
    with Machine(tap, clock="real", sim=FEW_SLICES):
        test_idle(tap)
    tap.end()


if __name__ == "__main__":
    main()
