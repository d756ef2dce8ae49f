#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test limits of uncore top's events and output: a CPU whose events cannot be opened after
it came online, uncore top being stopped, few file descriptors, narrow terminals, odd
names of tasks, and readers that close the pipe. Unit tests cover counts of more than 44
bits.
"""

import csv
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import on_terminal, read_until, started  # noqa: E402
from lib.python.top import (EACH_SWITCH, EVENT, TASK, UNCORE, clear_cpus,  # noqa: E402
                            cpu_packages, dead_box, measure, need, online_file,
                            set_online, task, top)
from lib.python.uncore import FEW_SLICES, SIM, SLOWNESS, Machine, Tap, write  # noqa: E402

# Time after which uncore top counts on a CPU that came online. It takes 50 ms if uncore
# top has a CPU to itself.
TAKEN_UP = "sleep %d" % (2 * SLOWNESS)


def test_stopped(tap, cpu):
    """SIGSTOP stops uncore top while tasks cause traffic."""
    script = "%s & kill -STOP $PPID; %s; kill -CONT $PPID; wait" % (
        task(cpu, 1000, 500, 1000, "steady"),
        task(-1, 1, 8, 100000, "beside"))
    table = measure(script)
    want = 500 * 1000 + 8
    tap.ok(table.total() == want and table.adds_up(),
           "a stopped top continues with exact sums",
           ["total %d of %d" % (table.total(), want)])


def test_cpu_without_events(tap, packages, box, mode):
    """
    A CPU comes online while a box does not answer, so uncore top cannot open the box's
    events on this CPU. The traffic of the CPU's tasks must be counted on the CPU's
    package, not on package 0.
    """
    cpu, pkg = packages[-1][1], len(packages) - 1
    set_online(cpu, False)
    # task "stranger" runs on the new CPU; a second later task "resident" also causes
    # traffic, on package 0
    script = "echo '%s' > %sfault; echo 1 > %s; %s; " \
        "%s & sleep 1; %s; wait" % (
            dead_box(pkg, box), SIM, online_file(cpu), TAKEN_UP,
            task(cpu, 1000, 200, 10000, "stranger"),
            task(packages[0][0], 1000, 100, 500, "resident"))
    status, tables, errors = top(
        "--once", "-e", "hswep_%s/cas_count.wr,name=dead/,%s" % (box, EVENT),
        *mode, "--", "bash", "-c", script)
    if not tap.ok(status == 0 and len(tables) == 1, "a CPU whose events cannot "
                  "be opened %s" % " ".join(mode), [errors]):
        return
    table = tables[0]
    rows = [row for row in table.rows if row["command"] == "stranger"]
    details = ["%s" % [row["counts"] for row in rows],
               "total %s" % table.data["total"], errors]
    lines = ["CPU %d came online: " % cpu]
    if not mode:
        # from Linux 6.8 on the CPU reads the event of its package, which is open already
        lines.append("hswep_%s of socket %d does not answer any more" %
                     (box, pkg))
    tap.ok(any(line in errors for line in lines), "a line says so", details)
    # task "stranger" starts on the shell's CPU, on package 0, and then moves to the new
    # CPU
    elsewhere = sum(table.count(row, 0) for row in rows)
    own = sum(table.count(row, pkg) for row in rows)
    tap.ok(own * 2 > table.total(pkg) > 0,
           "its tasks have the traffic of their package", details)
    tap.ok(elsewhere * 20 < table.total(0),
           "and none of package 0's", details)
    tap.ok(table.total() == 100 * 1000 + 200 * 1000 and table.adds_up(),
           "exactly in sum", details)


def test_gone_cpu(tap, cpus, mode):
    """
    A CPU is offline for a long time. The last task on the CPU was the kernel thread that
    stopped the CPU (migration/N). This thread must get no traffic of other tasks.
    """
    stays, goes = cpus[0], cpus[1]
    table = measure("echo 0 > %s; %s; echo 1 > %s" % (
        online_file(goes), task(stays, 1000, 200, 5000, "resident"),
        online_file(goes)), *mode)
    stopper = table.named("migration/%d" % goes)
    details = ["total %d, resident %d, migration/%d %d" % (
        table.total(), table.named("resident"), goes, stopper)]
    tap.ok(table.total() == 200 * 1000 and table.adds_up(),
           "a CPU is away: the sum is exact %s" % " ".join(mode), details)
    tap.ok(stopper * 20 < table.total(),
           "and who stopped it has no part in it", details)


def test_away_and_back(tap, cpus, mode):
    """All CPUs of a package go offline and online while uncore top is stopped, so that
    it sees only the result."""
    there_and_back = "; ".join("echo %d > %s" % (online, online_file(cpu))
                               for online in (0, 1) for cpu in cpus)
    table = measure("kill -STOP $PPID; %s; kill -CONT $PPID; %s; %s" % (
        there_and_back, TAKEN_UP, task(cpus[0], 1000, 100, 1000, "after")),
                    *mode)
    details = ["total %d, after %d" % (table.total(), table.named("after"))]
    tap.ok(table.total() == 100 * 1000 and table.adds_up(),
           "CPUs that are back at once are counted on again %s" %
           " ".join(mode), details)


def test_descriptors(tap):
    """
    uncore needs more file descriptors than the soft limit: it raises its own limit, and
    the measured command gets the caller's limit.
    """
    for name, args in (
            ("top", ("top", "--once", "--each-cpu", "-e", "memory,llc")),
            ("record", ("record", "-o", "/dev/null", "-C", "0,1,2,3", "-e",
                        "cbox/clockticks,period=2000000000/"))):
        run = subprocess.run(
            ["bash", "-c", "ulimit -Sn 40; exec \"$@\"", "-", UNCORE, *args,
             "--", "sh", "-c", "ulimit -Sn >&2"],
            capture_output=True, text=True, check=False, timeout=300)
        details = [run.stderr]
        tap.ok(run.returncode == 0,
               "%s opens more events than the soft limit" % name, details)
        tap.ok("40" in run.stderr.splitlines(),
               "and its command has the caller's limit", details)


def test_terminals(tap):
    """Terminals of any size, and names of tasks with any bytes."""
    for columns, rows in ((1, 1), (1, 24), (20, 2), (500, 3)):
        status, seen = on_terminal(columns, "top", "-I", "100",
                                   "--interval-count", "3", "-e", EVENT,
                                   rows=rows)
        tap.ok(status == 0 and "\x1b[?1049l" in seen,
               "a terminal of %d columns and %d lines" % (columns, rows),
               ["status %d" % status, repr(seen[-200:])])
    # names with an escape sequence of a terminal, and with a Chinese character
    script = "for n in 'a\\x1b[2Jb' '\\xe6\\xbc\\xa2'; do " \
        "bash -c 'printf \"$0\" > /proc/$$/comm; for i in 1 2 3; do " \
        "echo box=imc_0 event=4 umask=1 count=1000; done > " \
        "/dev/xeon_uncore_sim' \"$n\"; done"
    run = subprocess.run([UNCORE, "top", "--once", "-e", EVENT, "--", "bash",
                          "-c", script], capture_output=True, check=False,
                         timeout=300)
    try:
        text = run.stdout.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    tap.ok(run.returncode == 0 and text and
           not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text),
           "names of any bytes give printable text", [repr(run.stdout[-400:])])
    tap.ok("\u6f22" in text, "and a good one stays as it is", [text])


def test_interrupted(tap):
    """Ctrl-C ends uncore top and restores the terminal. On an unknown terminal uncore
    top prints lines."""
    def press(_process, master):
        read_until(master, b"[total]")
        os.write(master, b"\x03")

    status, seen = on_terminal(80, "top", "-e", EVENT, after=press)
    tap.ok(status == -signal.SIGINT and "\x1b[?1049l" in seen,
           "Ctrl-C ends top as it ends others, and its screen",
           ["status %d" % status, repr(seen[-200:])])
    status, seen = on_terminal(80, "top", "-I", "100", "--interval-count", "2",
                               "-e", EVENT, TERM="no-such-terminal")
    tap.ok(status == 0 and seen.count("[total]") == 2,
           "an unknown terminal gets lines",
           ["status %d" % status, repr(seen[-200:])])


def test_filters(tap, cpus):
    """Filters by name, process and cgroup: the traffic of all other tasks is in
    [other]."""
    table = measure("%s & %s; wait" % (
        task(cpus[0], 1000, 100, 1000, "wanted"),
        task(cpus[-1], 1000, 50, 1000, "another")), "--comm", "wanted")
    details = ["%s" % table.data]
    tap.ok([row["command"] for row in table.rows] == ["wanted"] and
           table.named("wanted") > 0 and table.other() > 0 and
           table.total() == 150 * 1000 and table.adds_up(),
           "top --comm: the rest is other, and the sum is exact", details)
    table = measure("%s & wait" % task(cpus[0], 1000, 100, 1000, "wanted"),
                    "--pid", "1")
    tap.ok(not [row for row in table.rows if row["tgid"] != 1] and
           table.total() == 100 * 1000 and table.adds_up(),
           "top --pid: no other process", ["%s" % table.data])
    status, tables, errors = top(
        "--once", "-e", EVENT, "--cgroup", "/no/such", "--", "bash", "-c",
        task(cpus[0], 1000, 100, 1000, "wanted"))
    tap.ok(status == 0 and len(tables) == 1 and not tables[0].rows and
           tables[0].adds_up() and errors.count("\n") == 1 and
           "there is no cgroup '/no/such'" in errors,
           "top --cgroup: no other cgroup, and a note that it does not exist",
           [errors, *("%s" % table.data for table in tables)])


def test_cgroup_filter(tap, cpu):
    """--cgroup with a cgroup that the measured command creates, in three spellings of
    its path."""
    folder = "/sys/fs/cgroup/edges"
    script = "mkdir -p %s; (echo $BASHPID > %s/cgroup.procs; exec %s); %s" % (
        folder, folder, task(cpu, 1000, 100, 1000, "within"),
        task(cpu, 1000, 50, 1000, "outside"))
    for path in ("/edges", "edges", folder + "/"):
        status, tables, errors = top("--once", *EACH_SWITCH, "-e", EVENT,
                                     "--cgroup", path, "--", "bash", "-c", script)
        os.rmdir(folder)
        tap.ok(status == 0 and len(tables) == 1 and not errors and
               tables[0].named("within") > 0 and not tables[0].named("outside") and
               tables[0].total() == 150 * 1000 and tables[0].adds_up(),
               "top --cgroup %s" % path,
               [errors, *("%s" % table.data for table in tables)])


def test_dead_at_start(tap, packages):
    """A box is dead when uncore top starts: the other boxes are counted."""
    pkg, cpu = len(packages) - 1, packages[-1][0]
    write(SIM + "fault", dead_box(pkg, "imc_3"))
    # uncore stat reads the box, so the driver notices that the box is dead and removes
    # its package from the PMU's cpumask
    subprocess.run([UNCORE, "stat", "-e", "hswep_imc_3/cas_count.rd/", "-d",
                    "0.1"], capture_output=True, check=False)
    status, tables, errors = top(
        "--once", "-e", "hswep_imc_3/cas_count.rd,name=dead/,%s" % EVENT, "--",
        "bash", "-c", task(cpu, 1000, 100, 1000, "resident"))
    tap.ok(status == 0 and len(tables) == 1 and
           tables[0].total(pkg) == 100 * 1000 and tables[0].adds_up() and
           errors.count("\n") == 1 and
           "hswep_imc_3 of socket %d does not answer" % pkg in errors,
           "a box that is dead at the start: said once, and others are counted",
           [errors] + ["%s" % table.data["total"] for table in tables])
    write(SIM + "fault", dead_box(pkg, "imc_3", False))


def test_no_cgroups(tap):
    """Without a mounted cgroup2 file system the names of cgroups are unknown: a line on
    standard error gives the reason."""
    run = subprocess.run(
        ["unshare", "-m", "sh", "-c", "umount -a -t cgroup2; exec \"$@\"", "-",
         UNCORE, "top", "--once", "--by", "cgroup", "-I", "200", "-e", EVENT],
        capture_output=True, text=True, check=False, timeout=300)
    tap.ok(run.returncode == 0 and "[total]" in run.stdout and
           "no file system of cgroups is mounted" in run.stderr,
           "top --by cgroup without a cgroup2 mount has a note",
           run.stderr.splitlines() + run.stdout.splitlines()[:5])


def test_output(tap, cpu):
    """The table as CSV in a file, and each format on a full disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "top.csv")
        run = subprocess.run(
            [UNCORE, "top", "--once", "--csv", "-o", path, "-e", EVENT, "--",
             "bash", "-c", task(cpu, 1000, 50, 1000, "steady")],
            capture_output=True, text=True, check=False, timeout=300)
        with open(path, encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    sums = {kind: sum(int(line["raw"]) for line in lines if line["row"] == kind)
            for kind in ("total", "idle", "other", "task")}
    tap.ok(run.returncode == 0 and not run.stdout and
           sums["total"] == 50 * 1000 and
           sums["total"] == sums["idle"] + sums["other"] + sums["task"],
           "--csv -o: lines of values, which add up", [repr(sums), run.stderr])
    for args in (("--csv",), ("--json",), ()):
        with open("/dev/full", "w", encoding="ascii") as full:
            run = subprocess.run(
                [UNCORE, "top", "--once", "-I", "100", "-e", EVENT, *args],
                stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                timeout=300)
        tap.ok(run.returncode == 1 and "No space left" in run.stderr and
               len(run.stderr.splitlines()) == 1,
               "a full disk is one line, and a status %s" % " ".join(args),
               ["status %d" % run.returncode, run.stderr])


def test_reader_gone(tap):
    """The reader of uncore top's output closes the pipe."""
    for args in (("--json",), ()):
        with started([UNCORE, "top", "-I", "100", "-e", EVENT, *args],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdout.readline()
            run.stdout.close()
            errors = run.stderr.read()
            status = run.wait(120)
        tap.ok(status in (0, 1) and not errors,
               "a reader that closes the pipe ends it quietly %s" % " ".join(args),
               ["status %d: %s" % (status, errors)])


def main():
    tap = Tap()
    need(tap, TASK)
    with Machine(tap, sim=FEW_SLICES):
        packages = cpu_packages()
        clear_cpus(packages[0][0])
        cpu = packages[-1][0]
        test_stopped(tap, cpu)
        test_descriptors(tap)
        for box, mode in (("imc_1", ()), ("imc_2", ("--each-cpu",))):
            test_cpu_without_events(tap, packages, box, mode)
            test_gone_cpu(tap, packages[-1], mode)
            test_away_and_back(tap, packages[-1], mode)
        test_terminals(tap)
        test_interrupted(tap)
        test_no_cgroups(tap)
        test_output(tap, cpu)
        test_reader_gone(tap)
        test_filters(tap, packages[-1])
        test_cgroup_filter(tap, cpu)
        test_dead_at_start(tap, packages)
    tap.end()


if __name__ == "__main__":
    main()
