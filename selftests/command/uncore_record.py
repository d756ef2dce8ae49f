#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore record", which runs perf record with the events in perf's syntax and with
the caller's options. Every N counts there is a sample, of the task that caused the
traffic. Events that cannot be sampled are refused.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import UNCORE, Event, Uncore  # noqa: E402
from lib.python.uncore import FEW_SLICES, SIM, Machine, Tap, pmus, read, write  # noqa: E402

PERIOD = 1000
PACKETS = 50        # packets of PERIOD counts, so each causes an overflow
CULPRIT = """import sys, time
for line in open(sys.argv[1]):
    with open("%straffic", "w") as file:
        file.write(line)
    time.sleep(0.01)
""" % SIM


def first_cpu(package):
    """Return the CPU that counts for a package."""
    cpus = read("/sys/bus/event_source/devices/%s/cpumask" %
                pmus("ha")[0]).split(",")
    return int(cpus[package])


def traffic_command(folder, lines, package=0):
    """Return a command that causes traffic, on the CPU that counts for the package."""
    traffic = os.path.join(folder, "traffic")
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines(lines)
    return ["taskset", "-c", str(first_cpu(package)), "python3", "-c", CULPRIT,
            traffic]


def record(folder, *arguments, package=0, lines=()):
    """Record the traffic of @lines. Return the run, and the path of the samples."""
    path = os.path.join(folder, "samples")
    run = Uncore("record", "-o", path, *arguments,
                 command=traffic_command(folder, lines, package))
    return run, path


def perf(*arguments, **more):
    return subprocess.run(["perf", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          errors="replace", check=False, **more).stdout


def samples_in(text):
    """Return (task, CPU, period, event) of each sample in perf script's text."""
    return [(task, int(cpu), int(period), event)
            for task, cpu, period, event in re.findall(
                r"^\s*(\S.*?)\s+\[(\d+)\]\s+(\d+)\s+(\S+?):?\s*$", text, re.M)]


def samples_of(path):
    """Return the samples in a file, as samples_in()."""
    return samples_in(perf("script", "-i", path, "-F", "comm,cpu,period,event"))


def test_samples(tap, folder, package):
    event = Event("ha", "requests.reads")
    cpu = first_cpu(package)
    run, path = record(folder, "-e", "ha_0/requests.reads/", "-c", str(PERIOD),
                       "-C", str(cpu), package=package,
                       lines=[event.line(package, "ha_0", PERIOD)] * PACKETS)
    samples = samples_of(path)
    tap.ok(run.status == 0 and len(samples) == PACKETS and
           {cpu for _, cpu, _, _ in samples} == {cpu} and
           {name for _, _, _, name in samples} == {"hswep_ha_0/requests.reads/"},
           "-c -C: %d overflows of socket %d, as many samples" %
           (PACKETS, package), run.comments() + [repr(samples[:5])])
    tap.ok(sum(task == "python3" for task, *_ in samples) >= PACKETS * 0.9,
           "samples of the task that causes the traffic", [repr(samples[:5])])
    tap.ok(sum(period for _, _, period, _ in samples) == PACKETS * PERIOD,
           "their periods are the counts", [repr(samples[:5])])


def test_every_cpu(tap, folder):
    """Without -C, and with -a, each CPU of the socket has a sample of each overflow."""
    line = Event("ha", "requests.reads").line(1, "ha_0", PERIOD)
    cpus = {int(name) for name in os.listdir("/sys/devices/system/cpu")
            for name in re.findall(r"^cpu(\d+)$", name)}
    for options in ((), ("-a",)):
        run, path = record(folder, "-e", "ha_0/requests.reads/", "-c",
                           str(PERIOD), *options, package=1, lines=[line] * 20)
        socket = [cpu for _, cpu, _, _ in samples_of(path)]
        counts = {cpu: socket.count(cpu) for cpu in set(socket)}
        tap.ok(run.status == 0 and len(counts) == len(cpus) / 2 and
               set(counts.values()) == {20},
               "record %s: each CPU of the socket has a sample of each overflow" %
               " ".join(options), run.comments() + [repr(counts)])


def test_boxes(tap, folder):
    """An event of a box type becomes an event for each box, and each sample has the name
    of its box."""
    reads = Event("ha", "requests.reads")
    lines = [reads.line(0, "ha_0", PERIOD)] * 10 + \
        [reads.line(0, "ha_1", PERIOD)] * 20
    run, path = record(folder, "-e", "ha/requests.reads/", "-c", str(PERIOD),
                       "-C", str(first_cpu(0)), lines=lines)
    names = [name for _, _, _, name in samples_of(path)]
    counts = {name: names.count(name) for name in set(names)}
    tap.ok(run.status == 0 and counts == {
        "hswep_ha_0/requests.reads/": 10, "hswep_ha_1/requests.reads/": 20},
        "a box type: events of its boxes", run.comments() + [repr(counts)])
    run, path = record(
        folder, "-e", "ha_0/requests.reads,period=%d,name=reads/" % PERIOD, "-e",
        "ha_1/requests.writes,period=%d/" % (2 * PERIOD), "-C",
        str(first_cpu(0)), lines=lines + [Event("ha", "requests.writes").line(
            0, "ha_1", PERIOD)] * 20)
    names = [name for _, _, _, name in samples_of(path)]
    counts = {name: names.count(name) for name in set(names)}
    tap.ok(run.status == 0 and len(counts) == 2 and counts.get("reads") == 10 and
           sum(counts.values()) == 20, "period= and name= of two events",
           run.comments() + [repr(counts)])


def test_values(tap, folder):
    """Symbolic values of fields: perf gets the numbers that the library computes."""
    for text, name, words in (
            ("cbox_2/tor_inserts.opcode,filter_opc=drd/",
             "hswep_cbox_2/tor_inserts.opcode,filter_opc=0x182/",
             {"config": 0x135, "config1": 0x182 << 52}),
            ("cbox_2/llc_lookup.any,filter_state=i+m/",
             "hswep_cbox_2/llc_lookup.any,filter_state=0x9/",
             {"config": 0x1134, "config1": 0x9 << 17})):
        run, path = record(folder, "-e", text, "-c", "100000")
        shown = perf("evlist", "-v", "-i", path)
        line = [line for line in shown.splitlines() if line.startswith(name)]
        tap.ok(run.status == 0 and len(line) == 1 and
               all(re.search(r"\b%s(?: })?: %#x\b" % item, line[0])
                   for item in words.items()),
               "%s: perf has its numbers" % text, run.comments() +
               shown.splitlines())


def test_options(tap, folder):
    """Options of perf record."""
    line = Event("ha", "requests.reads").line(0, "ha_0", PERIOD)
    cpu = str(first_cpu(0))
    event = ("-e", "ha_0/requests.reads/")
    command = traffic_command(folder, [line] * 20)
    with subprocess.Popen(
            [UNCORE, "record", *event, "-c", str(PERIOD), "-C", cpu, "-o", "-",
             "--", *command], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL) as process:
        samples = samples_in(perf("script", "-i", "-", "-F",
                                  "comm,cpu,period,event",
                                  stdin=process.stdout))
    tap.ok(process.returncode == 0 and len(samples) == 20,
           "-o -: samples in a pipe", ["status %d" % process.returncode,
                                       repr(samples[:3])])
    for options, field, text in (
            (("-F", "50"), "sample_freq", "50"),
            (("-F50", "-g"), "sample_type", "CALLCHAIN"),
            (("-c", "777", "--call-graph", "fp"), "sample_type", "CALLCHAIN"),
            (("-c", "777"), "sample_period", "777")):
        run, path = record(folder, *event, *options, "-C", cpu,
                           lines=[line] * 3)
        shown = perf("evlist", "-v", "-i", path)
        match = re.search(r"requests\.reads/:.*?%s\b[^:]*: ([^,]*)" % field,
                          shown)
        tap.ok(run.status == 0 and match and text in match.group(1),
               "record %s" % " ".join(options), run.comments() +
               shown.splitlines())
    run, path = record(folder, *event, "-c", str(PERIOD), "-D", "100000", "-C",
                       cpu, lines=[line] * 3)
    tap.ok(run.status == 0 and not samples_of(path),
           "-D: no samples before the delay is over", run.comments())
    run = Uncore("record", *event, "-c", str(PERIOD), "-o", path, "-d", "0.2")
    tap.ok(run.status == 0, "-d: for a time", run.comments())
    run = Uncore("record", *event, "-o", path, command=["sh", "-c", "exit 42"])
    tap.ok(run.status == 42, "the command's status", run.comments())


def test_picture(tap, folder):
    reads = Event("ha", "requests.reads")
    run, path = record(folder, "-g", "-e", "ha/requests.reads/", "-c",
                       str(PERIOD), "-C", str(first_cpu(0)),
                       lines=[reads.line(0, "ha_0", PERIOD)] * 20 +
                       [reads.line(0, "ha_1", PERIOD)] * 5)
    refused = Uncore("flamegraph", path)
    tap.ok(run.status == 0 and refused.status == 1 and
           "hswep_ha_0/requests.reads/, hswep_ha_1/requests.reads/" in
           refused.err and len(refused.err.splitlines()) == 1,
           "flamegraph: a file of two events needs -e", refused.comments()[:5])
    drawn = Uncore("flamegraph", "-e", "hswep_ha_0/requests.reads/", path)
    tap.ok(drawn.status == 0 and 'data-n="python3"' in drawn.out and
           re.search(r'data-n="\w+_\[k\]"', drawn.out),
           "and draws that event: the task, and functions of the kernel",
           drawn.comments()[:5])


def test_refusals(tap, folder):
    path = os.path.join(folder, "none")

    def refused(name, run, *words):
        lines = run.err.splitlines()
        tap.ok(run.status == 1 and len(lines) == 1 and not run.out and
               all(word in lines[0] for word in words) and
               not os.path.exists(path), name, run.comments())

    for event, reason in (("pcu/pkg_c3_residency/", "free-running"),
                          ("duration_time", "no overflows"),
                          ("ha_0/requests.raeds/", "requests.reads"),
                          ("ha_9/requests.reads/", "ha_9"),
                          ("ha_0/requests.reads,name=a b/", "name=a b")):
        refused("%s is refused with the reason" % event,
                Uncore("record", "-e", event, "-c", "1000", "-o", path,
                       command=["true"]), reason)
    refused("without perf, the package is named",
            Uncore("record", "-e", "ha_0/requests.reads/", "-o", path,
                   command=["true"], around=["env", "PATH=/nowhere"]),
            "apt-get install linux-perf")


def main():
    tap = Tap()
    # Do not let the kernel lower the sample rate: NMIs of an emulated CPU are slow, and a
    # lower rate would drop samples.
    write("/proc/sys/kernel/perf_cpu_time_max_percent", "0")
    with Machine(tap, sim=FEW_SLICES), tempfile.TemporaryDirectory() as folder:
        for package in range(2):
            test_samples(tap, folder, package)
        test_every_cpu(tap, folder)
        test_boxes(tap, folder)
        test_values(tap, folder)
        test_options(tap, folder)
        test_picture(tap, folder)
        test_refusals(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
