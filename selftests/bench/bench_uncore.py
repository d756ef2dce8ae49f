#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compare the cost of an interval of "uncore stat -I 100" with one of "perf stat -I 100".
Both count the same events on every box of two sockets with 18 CBos each, and print a
line for each box and socket. CPU time is the scheduler's number for the process; perf
counts system calls at the raw_syscalls tracepoint. Then compare a scrape of "uncore
serve" with an interval of "uncore stat" of the same events. At last measure the cost of a
region: of a call of uncore_region_begin() and of uncore_region_end(). The program only
prints figures.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.exposition import Daemon, value  # noqa: E402
from lib.python.traffic import UNCORE  # noqa: E402
from lib.python.uncore import BUILD, DEVICES, read  # noqa: E402

SECONDS = 4         # duration of a measurement
PATIENCE = 120      # seconds to wait for the first lines
FEW, MANY = 2, 12   # intervals of a short and of a long run, for syscalls()
# Number of scrapes, and the seconds between two scrapes, after which uncore serve reads
# the counters again
SCRAPES, APART = 100, 1.1
EVERY = 15          # seconds between two scrapes, in the example configuration of Prometheus
REGIONS = 300       # number of regions of which the cost is the mean
COUNTERS = {"ubox": 2, "r3qpi": 3}      # counters of a box; 4 in other box types


def load():
    """Load the simulator with two sockets of 18 CBos, and xeon_uncore."""
    for module in ("xeon_uncore", "xeon_uncore_sim", "intel_uncore"):
        if os.path.exists("/sys/module/" + module):
            subprocess.run(["rmmod", module], check=True)
    for module, parameters in (("sim/xeon_uncore_sim", ["clock=real",
                                                        "packages=2",
                                                        "cboxes=18"]),
                               ("xeon_uncore", [])):
        subprocess.run(["insmod", os.path.join(BUILD, "kmod", module + ".ko"),
                        *parameters], check=True)


def events():
    """Generate for each box a list of as many events as the box has counters."""
    for pmu in sorted(os.listdir(DEVICES)):
        kind = re.fullmatch(r"hswep_([a-z0-9]+?)(_\d+)?", pmu)
        if kind:
            yield ["%s/event=0x0,thresh=%d/" % (pmu, i)
                   for i in range(COUNTERS.get(kind.group(1), 4))]


def cpu_ms(pid):
    """Return the CPU time of a process's main thread, user and system, in ms."""
    return int(read("/proc/%d/schedstat" % pid).split()[0]) / 1e6


def syscalls(command, folder):
    """Return the system calls of an interval: the difference of a long and a short run,
    divided by the difference of their numbers of intervals."""
    path = os.path.join(folder, "syscalls")
    counts = []
    for number in FEW, MANY:
        subprocess.run(
            ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", path,
             "--", *command[:-2], "--interval-count", str(number),
             *command[-2:]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        counts.append(int(re.search(r"^(\d+),", read(path), re.M).group(1)))
    return (counts[1] - counts[0]) / (MANY - FEW)


def intervals(path):
    """Return the number of intervals that have been printed, by the different times in
    the first column."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return len({line.split(",")[0] for line in file
                    if re.match(r" *\d+\.\d+,", line)})


def cpu_of_interval(command, folder):
    """Return the CPU time that a command needs for an interval, in ms."""
    path = os.path.join(folder, "output")
    with open(path, "wb") as output, subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + PATIENCE
        while intervals(path) < 3 and process.poll() is None and \
                time.monotonic() < deadline:
            time.sleep(0.2)
        before, cpu = intervals(path), cpu_ms(process.pid)
        time.sleep(SECONDS)
        cpu = cpu_ms(process.pid) - cpu
        after = intervals(path)
        process.send_signal(signal.SIGINT)
        process.wait()
    if before == after:
        raise SystemExit("%s printed nothing: %s" % (command[0], read(path)))
    return cpu / (after - before)


def measure(command, folder):
    """Return the CPU time in ms and the system calls of an interval."""
    return cpu_of_interval(command, folder), syscalls(command, folder)


def bench_serve(folder):
    """Measure the time and the CPU time of scrapes, each of which reads all counters."""
    times = []
    with Daemon("serve") as daemon:
        topology = json.loads(daemon.request("/api/topology")[2])
        reads = value(daemon.scrape(), "uncore_reads_total")
        cpu = cpu_ms(daemon.process.pid)
        for _ in range(SCRAPES):
            time.sleep(APART)
            start = time.monotonic()
            daemon.request()
            times.append((time.monotonic() - start) * 1e3)
        cpu = (cpu_ms(daemon.process.pid) - cpu) / SCRAPES
        size = len(daemon.request()[2])
        samples = daemon.scrape()
        reads = value(samples, "uncore_reads_total") - reads
        daemon.end()
    events = list(dict.fromkeys(counter["event"] for counter in topology["counters"]))
    stat = cpu_of_interval(
        [UNCORE, "stat", "-I", "1000", "--csv", "--per-box", "-e",
         ",".join(events)], folder)
    times.sort()
    most = times[SCRAPES * 99 // 100 - 1]
    print("\nuncore serve: %d series of %d counters, %d kB; %d scrapes, of which "
          "%d read them:" % (len(samples), len(topology["counters"]),
                             size // 1000, SCRAPES, min(reads, SCRAPES)))
    print("%-24s %14s %14s" % ("", "ms", "of uncore stat"))
    for name, took in (("uncore stat, CPU", stat), ("a scrape, CPU", cpu),
                       ("median scrape", times[SCRAPES // 2]),
                       ("99 % of scrapes", most)):
        print("%-24s %14.1f %13.0f%%" % (name, took, 100 * took / stat))
    print("a scrape each %d s: %.3f %% of a CPU" % (
        EVERY, 100 * cpu / 1e3 / EVERY), flush=True)


def region_cost(*before):
    """Return the microseconds that a region takes in a program, which @before runs."""
    done = subprocess.run(
        [*before, os.path.join(BUILD, "..", "userspace", "bin", "region-steps"),
         "begin=first", "end", "time=%d" % REGIONS],
        stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return float(done.stdout.splitlines()[-1]) / 1e3


def bench_regions(every):
    """Print the cost of a region by the number of events. A region that is shorter than
    100 times this is marked by stat --regions."""
    print("\nA region, mean of %d:" % REGIONS)
    print("%-40s %12s %16s" % ("", "us", "shortest, ms"))
    print("%-40s %12.3f" % ("without --regions", region_cost()))
    for name, chosen in (
            ("an event of a box on each socket", "imc_0/cas_count.rd/"),
            ("reads of the memory channels", "imc/cas_count.rd/"),
            ("an event of each of %d boxes" % len(every), ",".join(every))):
        cost = region_cost(UNCORE, "stat", "--regions", "-o", "/dev/null", "-e",
                           chosen, "--")
        print("%-40s %12.1f %16.1f" % (name, cost, cost / 10), flush=True)


def main():
    load()
    single = [event for box in events() for event in box]
    groups = ["{%s}" % ",".join(box) for box in events()]
    perf = ["perf", "stat", "-a", "-I", "100", "-x,", "--per-socket", "-e"]
    uncore = [UNCORE, "stat", "-I", "100", "--csv", "--per-box", "-e"]
    rows = (("perf stat", perf + [",".join(single)]),
            ("perf stat, in groups", perf + [",".join(groups)]),
            ("uncore stat", uncore + [",".join(single)]))
    print("\n%d events of %d boxes on two sockets, an interval of 100 ms:" %
          (len(single), len(groups)))
    print("%-24s %14s %14s" % ("", "ms of CPU", "system calls"))
    first = None
    with tempfile.TemporaryDirectory() as folder:
        for name, command in rows:
            values = measure(command, folder)
            first = first or values
            print("%-24s %8.1f %4.0f%% %8.0f %4.0f%%" % (
                name, values[0], 100 * values[0] / first[0],
                values[1], 100 * values[1] / first[1]), flush=True)
        bench_serve(folder)
    bench_regions([box[0] for box in events()])


if __name__ == "__main__":
    main()
