#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Measure the cost of uncore top with 0, 1, 4 and 16 events, which reads the counters at
each context switch or once in 100 us: the time and the register accesses of a context
switch, the machine's context switches per second, and the duration of perf bench sched
messaging; and of a context switch and of a fork by tree, where each new task is put into
the tree of the task that started it. With --parallel, measure the cost of a context switch
while 1, 4 and 8 CPUs of a package switch tasks.

The program prints figures. It fails only if a context switch costs more than one access
per event, if rare reads cost more than reads at each switch, if counters are read
while uncore top does not run, or if forks cost anything where no tree is shown.
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.top import UNCORE, cpu_packages, hold_tracepoint  # noqa: E402
from lib.python.uncore import SIM, Machine, Tap, read  # noqa: E402

SECONDS = 4
RESOLUTIONS = (0, 100)      # microseconds between reads; 0: at each switch
# Two tasks pass a byte back and forth on one CPU, which takes two context switches.
PING = """
import os, sys, time
os.sched_setaffinity(0, {%d})
a, b = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(a[1])
    while os.read(a[0], 1):
        os.write(b[1], b'x')
    os._exit(0)
os.close(a[0])
n, start = 0, time.monotonic()
while time.monotonic() < start + %d:
    os.write(a[1], b'x')
    os.read(b[0], 1)
    n += 2
print(n / (time.monotonic() - start))
"""


def accesses():
    """Return the number of register accesses since the simulator was loaded."""
    stats = dict(line.split() for line in
                 read(SIM + "stats").splitlines())
    return sum(int(stats[kind]) for kind in ("msr_read", "msr_write",
                                             "pci_read", "pci_write"))


def switches():
    """Return the number of context switches since the machine booted."""
    return int(re.search(r"^ctxt (\d+)", read("/proc/stat"), re.M).group(1))


def looks(program="on_switch"):
    """Return the run time in ns and the number of runs of a BPF program. This needs the
    sysctl kernel.bpf_stats_enabled."""
    shown = subprocess.run(["bpftool", "prog", "show", "name", program],
                           capture_output=True, text=True, check=False).stdout
    match = re.search(r"run_time_ns (\d+) run_cnt (\d+)", shown)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


def events(count):
    """Return @count events of a package, four on each of at most four CBos."""
    return ",".join("hswep_cbox_%d/event=0,thresh=%d,name=e%d/" % (
        i // 4, i % 4, i) for i in range(count))


def watch(count, resolution, by="task"):
    """Start uncore top in the background and wait until it counts. Return the process;
    None for no events."""
    if not count:
        return None
    top = subprocess.Popen(
        [UNCORE, "top", "--json", "-I", "3600000", "--by", by, "--resolution",
         str(resolution), "-e", events(count)], stdout=subprocess.DEVNULL)
    while not looks()[1] and top.poll() is None:
        time.sleep(0.2)
    time.sleep(1)
    return top


def end(top):
    if top:
        top.send_signal(signal.SIGINT)
        top.wait()


def measure(cpus, count, resolution):
    """Return the context switches per second of all CPUs, and the ns and register
    accesses of a run of the BPF program."""
    top = watch(count, resolution)
    before = accesses(), looks(), switches()
    pairs = [subprocess.Popen([sys.executable, "-c", PING % (cpu, SECONDS)],
                              stdout=subprocess.PIPE, text=True) for cpu in cpus]
    rate = sum(float(pair.communicate()[0]) for pair in pairs)
    after = accesses(), looks(), switches()
    end(top)
    ran = after[1][1] - before[1][1] if count else after[2] - before[2]
    return (rate, (after[1][0] - before[1][0]) / max(ran, 1),
            (after[0] - before[0]) / max(ran, 1))


def messaging(count, resolution):
    """Return the seconds that perf bench sched messaging takes; None if it fails."""
    top = watch(count, resolution)
    run = subprocess.run(["perf", "bench", "-f", "simple", "sched", "messaging",
                          "-g", "4", "-l", "100"], capture_output=True,
                         text=True, check=False)
    end(top)
    return float(run.stdout.split()[0]) if run.returncode == 0 else None


def bench_switches(tap, cpu):
    print("# %-10s %-12s %14s %16s %18s" % (
        "counters", "read", "switches/s", "ns a switch", "accesses a switch"))
    for count in (0, 1, 4, 16):
        costs = []
        for resolution in RESOLUTIONS if count else (0,):
            rate, ns, cost = measure([cpu], count, resolution)
            print("# %-10s %-12s %14.0f %16.0f %18.2f" % (
                count or "none", words(resolution) if count else "", rate, ns,
                cost), flush=True)
            costs.append(cost)
        tap.ok(costs[0] <= count * 1.02 + 0.01 and (costs[0] > 0 or not count),
               "%d counters: one access each at most" % count,
               ["%.3f" % costs[0]])
        if count:
            tap.ok(0 < costs[1] <= costs[0],
                   "%d counters: no more when they are read seldom" % count,
                   ["%.3f, %.3f" % tuple(costs)])


def bench_trees(tap, cpu):
    print("# %-10s %-12s %16s %16s" % ("by", "read", "ns a switch", "ns a fork"))
    for by in ("task", "tree"):
        for resolution in RESOLUTIONS:
            top = watch(4, resolution, by)
            before = looks(), looks("on_fork")
            subprocess.run([sys.executable, "-c", PING % (cpu, SECONDS)],
                           stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["sh", "-c", "for i in $(seq 200); do (:) ; done"],
                           check=True)
            after = looks(), looks("on_fork")
            end(top)
            cost = [(now[0] - then[0]) / max(now[1] - then[1], 1)
                    for then, now in zip(before, after)]
            print("# %-10s %-12s %16.0f %16s" % (
                by, words(resolution), cost[0],
                "%.0f" % cost[1] if by == "tree" else "-"), flush=True)
            tap.ok((after[1][1] - before[1][1] >= 200) == (by == "tree"),
                   "by %s: each fork is traced, or none" % by,
                   ["%d forks" % (after[1][1] - before[1][1])])


def bench_parallel(cpus):
    print("# %-10s %-12s %14s %16s" % ("CPUs", "read", "switches/s",
                                       "ns a switch"))
    for n in (1, 4, 8):
        if n > len(cpus):
            print("# %-10d this package has %d CPUs" % (n, len(cpus)))
            continue
        for resolution in RESOLUTIONS:
            rate, ns, _ = measure(cpus[:n], 4, resolution)
            print("# %-10d %-12s %14.0f %16.0f" % (n, words(resolution), rate,
                                                   ns), flush=True)


def bench_messaging(tap):
    print("# %-10s %-12s %14s" % ("counters", "read", "s, messaging"))
    for count in (0, 1, 4, 16):
        for resolution in RESOLUTIONS if count else (0,):
            seconds = messaging(count, resolution)
            if seconds is None:
                tap.say("perf bench sched messaging does not run here")
                return
            print("# %-10s %-12s %14.2f" % (
                count or "none", words(resolution) if count else "", seconds),
                  flush=True)


def words(resolution):
    """Return the name of a resolution in the table."""
    return "in %d us" % resolution if resolution else "each switch"


def main():
    tap = Tap()
    if not os.access(UNCORE, os.X_OK):
        tap.skip_all("uncore is not built")
    hold_tracepoint()
    with Machine(tap):
        subprocess.run(["sysctl", "-q", "kernel.bpf_stats_enabled=1"],
                       check=True)
        cpus = cpu_packages()[-1]
        if "--parallel" in sys.argv:
            bench_parallel(cpus)
        else:
            bench_switches(tap, cpus[0])
            bench_trees(tap, cpus[0])
            bench_messaging(tap)
        print("# of simulated hardware in a VM; the program's own part has its "
              "register accesses in it")
    tap.end()


if __name__ == "__main__":
    main()
