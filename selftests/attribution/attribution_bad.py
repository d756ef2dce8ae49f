#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test failures of uncore top: a kernel without BTF type information, missing permission,
no free counter, boxes that die and CPUs that go offline. uncore top reports each failure
with one line, its sums stay right, and no BPF program stays attached.
"""

import ctypes
import json
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import (LIMIT, PATIENCE, on_terminal, one_line,  # noqa: E402
                                read_until, started, wait_for)
from lib.python.top import (EVENT, TASK, UNCORE, Table, cpu_packages,  # noqa: E402
                            dead_box, measure, need, online_file, task, top)
from lib.python.uncore import SIM, Machine, Tap  # noqa: E402

QUICK = ("--once", "-I", "100")


def attached():
    """Return the number of BPF programs of uncore top that are loaded."""
    shown = subprocess.run(["bpftool", "prog", "show"], capture_output=True,
                           text=True, check=True).stdout
    return len(re.findall(r"name (?:on_switch|look_here|flip) ", shown))


def wait_attached():
    """Wait until the BPF programs of uncore top are loaded. Return whether they are."""
    deadline = time.monotonic() + LIMIT
    while attached() < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(1)       # until the programs have read the counters for the first time
    return attached() >= 3


def wait_detached():
    """
    Wait until no BPF program is attached. The kernel may detach the programs some time
    after uncore top has ended. Return the number of programs that stay attached.
    """
    deadline = time.monotonic() + LIMIT
    while attached() and time.monotonic() < deadline:
        time.sleep(0.1)
    return attached()


def registers():
    """
    Return the registers of the simulated hardware that differ from their reset values.
    """
    with open(SIM + "registers", encoding="utf-8") as file:
        return file.read()


def run_top(*args, before=()):
    return subprocess.run([*before, UNCORE, "top", *args], text=True,
                          capture_output=True, check=False,
                          timeout=PATIENCE)


def test_command_line(tap):
    for name, args, status, text in (
            ("an unknown event", ("-e", "hswep_imc_0/cas_cuont.rd/"), 1,
             "cas_count.rd"),
            ("a word that is not an event", ("-e", "nonsense"), 1, "nonsense"),
            ("a core's event", ("-e", "page-faults"), 1, "weight"),
            ("an uncore event as weight", ("--weight", EVENT), 1, "weight"),
            ("no such weight", ("--weight", "nonsense"), 1, "nonsense"),
            ("an event twice", ("-e", EVENT + "," + EVENT), 1, "twice"),
            ("an event that samples",
             ("-e", "hswep_imc_0/cas_count.rd,period=100/"), 1, "period"),
            ("more counters than fit",
             ("-e", ",".join("cbox/event=0x34,umask=%d,filter_state=1,name=e%d/"
                             % (m, m) for m in (1, 2, 3, 4, 5, 6, 7, 8))), 1, "too many"),
            ("nothing to sort by", ("--sort", "colour"), 2, "sort"),
            ("a way to sum that is none", ("--by", "colour"), 2, "--by"),
            ("no interval", ("-I", "0"), 2, "nterval"),
            ("room for no task", ("--max-tasks", "0"), 2, "max-tasks"),
            ("a resolution that is none", ("--resolution", "-1"), 2,
             "resolution"),
            ("a resolution of more than a second",
             ("--resolution", "1000001"), 2, "resolution"),
            ("a command that does not exist", ("--", "/nonexistent"), 127,
             "/nonexistent"),
    ):
        one_line(tap, name, run_top(*QUICK, *args), status, text)
    run = run_top(*QUICK, "--", "sh", "-c", "exit 7")
    tap.ok(run.returncode == 7, "the command's exit status is passed on",
           ["%d" % run.returncode])


def test_no_support(tap):
    """Kernels and users without the needed features or permissions."""
    hide = ["unshare", "-m", "sh", "-c",
            "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "-"]
    one_line(tap, "no type information", run_top(*QUICK, before=hide), 1,
             "CONFIG_DEBUG_INFO_BTF")
    old = ["setarch", "x86_64", "--uname-2.6"]
    run = run_top(*QUICK, before=old)
    tap.ok(run.returncode == 0 and not run.stderr,
           "a kernel is judged by what it has, not by its number",
           [run.stderr])
    one_line(tap, "a user", run_top(*QUICK, before=[
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
        "--inh-caps=-all"]), 1, "CAP_BPF")
    one_line(tap, "root without capabilities", run_top(*QUICK, before=[
        "setpriv", "--bounding-set=-all", "--inh-caps=-all"]), 1, "CAP_BPF")


def test_no_counter(tap):
    """Another user has pinned all counters of the box."""
    events = ",".join("hswep_imc_0/cas_count.rd,thresh=%d/D" % n
                      for n in range(1, 5))
    with started(["perf", "stat", "-a", "-e", events],
                 stderr=subprocess.DEVNULL) as holder:
        # perf enables the events on one package after the other: wait for the last
        wait_for(SIM + "registers", "%d imc_0 ctl3" % (len(cpu_packages()) - 1))
        one_line(tap, "no counter is left", run_top(*QUICK, "-e", EVENT), 1,
                 "taken")
        holder.send_signal(signal.SIGINT)
    tap.ok(wait_detached() == 0, "nothing stays attached after failures",
           ["%d programs" % attached()])


def test_hotplug(tap, cpus, mode):
    """A CPU goes offline and comes back online while tasks cause traffic."""
    words = " ".join(mode)
    for name, cpu in (("perf's CPU", cpus[0]), ("another CPU", cpus[1])):
        other_cpu = cpus[1] if cpu == cpus[0] else cpus[0]
        script = "%s & sleep 0.5; echo 0 > %s; sleep 0.5; %s; " \
            "echo 1 > %s; sleep 0.5; %s & wait" % (
                task(other_cpu, 1000, 100, 10000, "stays"), online_file(cpu),
                task(other_cpu, 500, 20, 1000, "between"), online_file(cpu),
                task(cpu, 2000, 50, 5000, "after"))
        table = measure(script, *mode)
        details = ["total %d, idle %d, missed %d, after %d" % (
            table.total(), table.idle(), table.data["missed"],
            table.named("after"))]
        tap.ok(table.total() == 100000 + 10000 + 100000 and table.adds_up(),
               "%s goes and comes back: the sum is exact %s" % (name, words),
               details)
        # the amounts depend on when uncore top notices the new CPU, and on other load
        tap.ok(table.named("after") > 0 and table.named("stays") > 0 and
               table.named("between") > 0,
               "and tasks there get their shares %s" % words, details)


def test_package_away(tap, cpus, mode):
    """All CPUs of a package go offline, and come back online."""
    off = "; ".join("echo 0 > " + online_file(cpu) for cpu in cpus)
    on = "; ".join("echo 1 > " + online_file(cpu) for cpu in cpus)
    table = measure("%s; %s; sleep 0.5; %s; sleep 1; %s; sleep 0.2" % (
        task(cpus[0], 1000, 50, 1000, "before"), off, on,
        task(cpus[0], 1000, 50, 1000, "after")), *mode)
    tap.ok(table.total() == 100000 and table.adds_up(),
           "a whole package goes and comes back %s" % " ".join(mode),
           ["total %d, before %d, after %d" % (
               table.total(), table.named("before"), table.named("after"))])


def test_dead_box(tap, cpu):
    """A box stops answering during a run."""
    pkg = len(cpu_packages()) - 1
    script = "%s; echo '%s' > %sfault; %s; sleep 3" % (
        task(cpu, 1000, 50, 1000, "alive"), dead_box(pkg, "imc_0"), SIM,
        task(cpu, 1000, 50, 1000, "dead"))
    status, tables, errors = top("-I", "500", "-e", EVENT, "--", "bash", "-c",
                                 script)
    total = sum(table.total() for table in tables)
    tap.ok(status == 0 and total == 50000, "a box that dies: its last count",
           ["status %d, total %d" % (status, total), errors])
    tap.ok(all(table.adds_up() for table in tables), "every table adds up")
    lines = errors.splitlines()
    tap.ok(len(lines) == 1 and "hswep_imc_0 of socket" in lines[0] and
           "answer" in lines[0], "and one line says so", [errors])
    with open(SIM + "fault", "w", encoding="utf-8") as file:
        file.write(dead_box(pkg, "imc_0", False))


def test_ends(tap, cpu):
    """Ctrl-C ends uncore top with its table. After SIGKILL, too, no BPF program stays
    attached and the counters are free."""
    with started([UNCORE, "top", "--once", "--json", "-I", "600000", "-e",
                  EVENT], stdout=subprocess.PIPE, text=True) as run:
        tap.ok(wait_attached(), "programs are attached during the run")
        subprocess.run(task(cpu, 1000, 10, 1000).split(), check=True)
        run.send_signal(signal.SIGINT)
        out = run.stdout.read()
    table = Table(json.loads(out)) if out else None
    tap.ok(run.returncode == -signal.SIGINT and table and
           table.total() == 10000 and
           table.adds_up(), "Ctrl-C ends it with the table so far", [out[:200]])
    with started([UNCORE, "top", "--json", "-e", EVENT],
                 stdout=subprocess.DEVNULL) as run:
        wait_attached()
        run.kill()
    tap.ok(wait_detached() == 0, "killed: the kernel detaches the programs")
    tap.ok("imc_0 ctl" not in registers(), "and the counters are free",
           [registers()[:200]])


class Locks:
    """The locks of the packages, in the .bss map of the BPF programs."""

    def __init__(self):
        shown = json.loads(subprocess.run(
            ["bpftool", "-j", "map", "show"], capture_output=True, text=True,
            check=True).stdout)
        bss = next(bpf_map for bpf_map in shown
                   if bpf_map.get("name", "").startswith("attribut") and
                   bpf_map["name"].endswith(".bss"))
        types = subprocess.run(
            ["bpftool", "btf", "dump", "id", str(bss["btf_id"])],
            capture_output=True, text=True, check=True).stdout
        start, size = (int(number) for number in re.search(
            r"offset=(\d+) size=(\d+) \(VAR 'packages'\)", types).groups())
        step = int(re.search(r"STRUCT 'attr_package' size=(\d+)",
                             types).group(1))
        self.places = range(start, start + size, step)
        # BPF_MAP_GET_FD_BY_ID
        wanted = struct.pack("III", bss["id"], 0, 0)
        fd = ctypes.CDLL(None, use_errno=True).syscall(
            321, 14, ctypes.create_string_buffer(wanted), len(wanted))
        self.memory = mmap.mmap(fd, (start + size + 4095) & ~4095)
        os.close(fd)

    def set(self, value):
        for place in self.places:
            self.memory[place:place + 4] = struct.pack("I", value)

    def take(self):
        """Take all locks and hold them, like a CPU that a hypervisor has stopped."""
        self.set(1)
        time.sleep(0.1)     # a BPF program that held a lock has released it
        self.set(1)


def test_lock(tap, cpu):
    """The holder of a package's lock does not continue: no CPU waits for the lock without
    a limit."""
    with started([UNCORE, "top", "--once", "--json", "-I", "600000",
                  "--resolution", "0", "-e", EVENT],
                 stdout=subprocess.PIPE, text=True) as run:
        wait_attached()
        locks = Locks()
        send = task(cpu, 1000, 10, 1000).split()
        subprocess.run(send, check=True)
        locks.take()
        subprocess.run(send, check=True)
        locks.set(0)
        subprocess.run(send, check=True)
        run.send_signal(signal.SIGINT)
        out = run.stdout.read()
    table = Table(json.loads(out)) if out else None
    tap.ok(table and table.data["missed"], "looks that get no lock are given up, "
           "and counted", ["%s" % (table and table.data["missed"])])
    tap.ok(run.returncode == -signal.SIGINT and table and
           table.total() == 30000 and
           table.adds_up(), "and none of their counts is lost", [out[:300]])


def test_screen(tap, cpu):
    """uncore top shows a live table on a terminal, and obeys keys."""
    def press(_process, master):
        press.seen = read_until(master, b"busybody")
        for key in b"sbbbrq":
            os.write(master, bytes([key]))
            time.sleep(0.2)

    # the task runs until the table has appeared and uncore top has ended
    with started(task(cpu, 1000, 1 << 30, 10000, "busybody").split()) as busy:
        status, seen = on_terminal(80, "top", "-I", "300", "-e", EVENT,
                                   after=press)
        busy.kill()
    tap.ok(b"[idle" in press.seen and b"busybody" in press.seen,
           "the table is on the screen",
           [repr(press.seen[-300:])])
    tap.ok(status == 0, "q ends it", ["status %d" % status])
    tap.ok("\x1b[?1049l" in seen, "and the terminal is put right")


def main():
    tap = Tap()
    need(tap, TASK)
    with Machine(tap):
        packages = cpu_packages()
        cpu = packages[-1][0]
        test_command_line(tap)
        test_no_support(tap)
        test_no_counter(tap)
        for mode in ((), ("--each-cpu",)):
            test_hotplug(tap, packages[-1], mode)
            test_package_away(tap, packages[-1], mode)
        test_ends(tap, cpu)
        test_lock(tap, cpu)
        test_screen(tap, cpu)
        test_dead_box(tap, cpu)
        tap.ok(wait_detached() == 0, "nothing stays attached")
    tap.end()


if __name__ == "__main__":
    main()
