# SPDX-License-Identifier: GPL-2.0-or-later
"""
Shared code of the tests of attribution: run `uncore top --json` and tasks that cause
traffic, and take CPUs offline.
"""

import contextlib
import errno
import glob
import json
import os
import subprocess

from lib.python.uncore import TOP, UNCORE, read, space

TASK = os.path.join(TOP, "build", "selftests", "traffic_task")
SPIN = os.path.join(TOP, "build", "selftests", "spin_task")
FAULTS = os.path.join(TOP, "build", "selftests", "fault_task")
EVENT = "hswep_imc_0/cas_count.rd,name=rd/"
# `uncore top` reads counters at each switch of tasks, so each count is of one task.
EACH_SWITCH = ("--resolution", "0")
LIMIT = 300     # seconds, longer than any run of `uncore top` takes


class Table:
    """A table of `uncore top --json`; counts are of event @column."""

    def __init__(self, data, column="rd"):
        self.data = data
        self.column = column
        self.rows = data["rows"]

    def count(self, row, package=None):
        counts = row["counts"][self.column]
        return sum(counts) if package is None else counts[package]

    def total(self, package=None):
        counts = self.data["total"][self.column]
        return sum(counts) if package is None else counts[package]

    def idle(self):
        return sum(self.data["idle"][self.column])

    def other(self):
        return sum(self.data["other"][self.column])

    def named(self, command):
        """The count of all tasks of this name."""
        return sum(self.count(row) for row in self.rows
                   if row.get("command") == command)

    def adds_up(self):
        """Whether rows, idle and other add up to the total in each package and column."""
        for column, totals in self.data["total"].items():
            for package, total in enumerate(totals):
                total -= self.data["idle"][column][package]
                total -= self.data["other"][column][package]
                total -= sum(row["counts"][column][package]
                             for row in self.rows)
                if total:
                    return False
        return True


def top(*args, check=True, env=None):
    """Runs `uncore top --json`; returns (exit status, tables, standard error)."""
    run = subprocess.run([UNCORE, "top", "--json", *args], timeout=LIMIT,
                         capture_output=True, text=True, check=False, env=env)
    tables = [Table(json.loads(line)) for line in run.stdout.splitlines()
              if line.startswith("{")]
    if check and (run.returncode or not tables):
        print("# uncore top ended with %d: %s" % (run.returncode,
                                                  run.stderr.strip()))
    return run.returncode, tables, run.stderr


def measure(script, *args, event=EVENT):
    """The table of `uncore top --once` for a shell script."""
    status, tables, _ = top("--once", "-e", event, *args, "--",
                            "bash", "-c", script)
    if status or len(tables) != 1:
        raise SystemExit("Bail out! uncore top gave no table")
    return tables[0]


def task(cpu, count, times, sleep_us, name="traffic_task"):
    """The shell command that runs traffic_task with these arguments."""
    return "%s %d %d %d %d %s" % (TASK, cpu, count, times, sleep_us, name)


def cpu_packages():
    """A sorted list of online CPUs for each package."""
    packages = {}
    for folder in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology"):
        cpu = int(folder.split("/")[-2][3:])
        packages.setdefault(
            int(read(folder + "/physical_package_id")), []).append(cpu)
    return [sorted(packages[key]) for key in sorted(packages)]


def online_file(cpu):
    """The file that takes a CPU offline by 0, and back online by 1."""
    return "/sys/devices/system/cpu/cpu%d/online" % cpu


def set_online(cpu, online):
    """Takes a CPU offline or online. Linux gives a CPU ten seconds to come up, and a
    CPU of a busy host may need more; then try again."""
    for tries in range(10):
        try:
            with open(online_file(cpu), "w", encoding="utf-8") as file:
                file.write(str(int(online)))
            return
        except OSError as error:
            if error.errno != errno.EIO or not online or tries == 9:
                raise


def dead_box(package, box, dead=True):
    """The line for the simulator's file "fault" that makes a box dead."""
    fault = "dead_memory" if space(box.rpartition("_")[0]) == "mmio" else "dead_pci"
    return "%s pkg=%d box=%s %s" % (fault, package, box, "on" if dead else "off")


@contextlib.contextmanager
def alone(cpus):
    """
    Takes all CPUs of a package offline but the first. Only one task runs in the package
    at a time, so the traffic of the task is known exactly, however slow the machine is.
    """
    for cpu in cpus[1:]:
        set_online(cpu, False)
    try:
        yield cpus[0]
    finally:
        for cpu in cpus[1:]:
            set_online(cpu, True)


def clear_cpus(cpu):
    """Moves all tasks that can be moved to one CPU, so that other CPUs are idle."""
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            os.sched_setaffinity(int(pid), {cpu})
        except OSError:
            pass    # a kernel thread that is bound to its CPU, or the task has ended


def need(tap, *programs):
    """Skips the test if uncore or @programs are not built; prepares tracing."""
    if not all(os.access(path, os.X_OK) for path in (UNCORE, *programs)):
        tap.skip_all("uncore is not built")
    hold_tracepoint()


def hold_tracepoint():
    """
    Keeps the tracepoint sched_switch enabled, by two probes of the kernel's tracer, for
    as long as the machine runs. Without the probes the kernel rewrites its own code for
    each program that is attached or detached, and an emulated processor sometimes still
    executes the temporary breakpoint of that rewrite.
    """
    with open("/sys/kernel/tracing/set_event_pid", "w",
              encoding="utf-8") as file:
        file.write("1")
