#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
"uncore record" and "uncore report": a sample for every N counts, of the
task that caused them, in a file that stock perf reads alike, and refusals of
what cannot be sampled or read.
"""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import UNCORE, Event, Uncore  # noqa: E402
from lib.python.uncore import SIM, Machine, Tap, pmus, read  # noqa: E402

PERIOD = 1000
PACKETS = 50        # each of one period: as many overflows
CULPRIT = """import sys, time
for line in open(sys.argv[1]):
    with open("%straffic", "w") as file:
        file.write(line)
    time.sleep(0.01)
""" % SIM


def first_cpu(package):
    """The CPU that counts for a package."""
    cpus = read("/sys/bus/event_source/devices/%s/cpumask" %
                pmus("ha")[0]).split(",")
    return int(cpus[package])


def record(folder, *arguments, package=0, lines=()):
    """Records while a task on the package's counting CPU causes traffic."""
    traffic, output = (os.path.join(folder, name)
                       for name in ("traffic", "samples"))
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines(lines)
    if "-C" not in arguments:
        arguments += ("-C", str(first_cpu(package)))
    run = Uncore("record", "-o", output, *arguments,
                 command=["taskset", "-c", str(first_cpu(package)), "python3",
                          "-c", CULPRIT, traffic])
    return run, output


def perf_script(path):
    """What stock perf reads in the file: (task, CPU, event) of each sample."""
    out = subprocess.run(["perf", "script", "-i", path, "-F",
                          "comm,cpu,event"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, encoding="utf-8",
                         check=False).stdout
    return [match.groups() for match in re.finditer(
        r"^\s*(\S.*?)\s+\[(\d+)\]\s+(\S.*?):?\s*$", out, re.M)], out


def test_samples(tap, folder, package):
    event = Event("ha", "requests.reads")
    run, path = record(folder, "-e", "ha_0/requests.reads/", "-c", str(PERIOD),
                       package=package,
                       lines=[event.line(package, "ha_0", PERIOD)] * PACKETS)
    found = re.search(r"^(\d+) samples in", run.err, re.M)
    tap.ok(run.status == 0 and found and int(found.group(1)) == PACKETS,
           "record -c: %d overflows of socket %d, as many samples" %
           (PACKETS, package), run.comments())
    report = Uncore("report", "-i", path, "--json")
    if report.status:
        tap.ok(False, "report --json", report.comments())
        return
    facts = report.json()
    tasks = {row["command"]: row["samples"] for row in facts["tasks"]}
    tap.ok(facts["samples"] == PACKETS and not facts["lost"] and
           tasks.get("python3", 0) >= PACKETS * 0.9,
           "report: the task that caused them", [json.dumps(facts["tasks"])])
    boxes = [(row["socket"], row["pmu"], row["event"], row["counts"])
             for row in facts["boxes"]]
    tap.ok(len(boxes) == 1 and boxes[0][0] == package and
           boxes[0][1] == "hswep_ha_0" and
           "ha_0/requests.reads/" in boxes[0][2] and
           boxes[0][3] == PERIOD * PACKETS,
           "report: the box and socket, and what it counted", [repr(boxes)])
    functions = [row["function"] for row in facts["functions"]]
    tap.ok(functions and not any(re.fullmatch(r"0x[0-9a-f]+|\[kernel\]", name)
                                 for name in functions),
           "report: functions have names", functions)

    samples, out = perf_script(path)
    tap.ok(len(samples) == PACKETS and
           sum(task == "python3" for task, _, _ in samples) ==
           tasks.get("python3") and
           {int(cpu) for _, cpu, _ in samples} == {first_cpu(package)} and
           all("requests.reads" in name for _, _, name in samples),
           "stock perf reads the same in the file",
           out.splitlines()[:10] + ["%d samples" % len(samples)])

    table = Uncore("report", "-i", path)
    tap.ok(table.status == 0 and re.search(
        r"%\s+\d+\s+[0-9,]+\s+\d+ python3", table.out) and
        "%d samples" % PACKETS in table.out, "report's tables",
        table.comments())


def test_two_boxes(tap, folder):
    """Each sample names its own event."""
    reads, writes = (Event("ha", "requests." + name)
                     for name in ("reads", "writes"))
    lines = [reads.line(0, "ha_0", PERIOD)] * 10 + \
        [writes.line(0, "ha_1", PERIOD)] * 20
    run, path = record(folder, "-e", "ha_0/requests.reads/", "-e",
                       "ha_1/requests.writes/", "-c", str(PERIOD),
                       lines=lines)
    report = Uncore("report", "-i", path, "--json")
    boxes = {row["pmu"]: row["samples"] for row in report.json()["boxes"]} \
        if report.status == 0 else {}
    counts = sorted(boxes.values())
    tap.ok(run.status == 0 and counts == [10, 20],
           "two events: each sample names its event", run.comments() +
           [repr(boxes)])


def test_perf_file(tap, folder):
    """report reads what stock perf has written."""
    path = perf_record(folder, "-c", str(PERIOD), "-e",
                       "hswep_ha_0/requests.reads/")
    report = Uncore("report", "-i", path, "--json")
    facts = report.json() if report.status == 0 else {"samples": None}
    tap.ok(facts["samples"] == PACKETS and any(
        row["command"] == "python3" for row in facts["tasks"]),
        "report reads perf record's file", report.comments()[:20])


def perf_record(folder, *arguments, culprit=CULPRIT):
    """What stock perf records while there are PACKETS overflows."""
    path, traffic = (os.path.join(folder, name) for name in ("perfs",
                                                             "traffic"))
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines([Event("ha", "requests.reads").line(
            0, "ha_0", PERIOD)] * PACKETS)
    subprocess.run(
        ["perf", "record", "-q", "-a", "-o", path, *arguments, "--", "taskset",
         "-c", str(first_cpu(0)), "python3", "-c", culprit, traffic],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


def test_perf_mixed(tap, folder):
    """Two events of perf's whose samples look different, by period and by
    frequency: neither's counts are the other's."""
    path = perf_record(folder, "-e",
                       "hswep_ha_0/requests.reads,period=%d/" % PERIOD, "-e",
                       "cpu-clock", "-F", "99")
    report = Uncore("report", "-i", path, "--json")
    facts = report.json() if report.status == 0 else {"events": []}
    counts = {row["event"]: (row["samples"], row["counts"])
              for row in facts["events"]}
    reads = [count for name, count in counts.items() if "reads" in name]
    tap.ok(reads == [(PACKETS, PACKETS * PERIOD)] and len(counts) == 2 and
           counts.get("cpu-clock", (0, 0))[0] > 0,
           "report: perf's events by period and by frequency together",
           [repr(counts)] + report.comments()[:5])
    sums = {}
    for row in facts.get("tasks", ()):
        sums[row["event"]] = sums.get(row["event"], 0) + row["percent"]
    tap.ok(len(sums) == 2 and all(abs(one - 100) < 0.01
                                  for one in sums.values()),
           "report: shares are of one event", [repr(sums)])


def test_perf_compressed(tap, folder):
    path = perf_record(folder, "-z", "-c", str(PERIOD), "-e",
                       "hswep_ha_0/requests.reads/")
    report = Uncore("report", "-i", path, "--json")
    facts = report.json() if report.status == 0 else {"samples": None}
    tap.ok(facts["samples"] == PACKETS, "report reads perf record -z",
           report.comments()[:5])


def test_output_file(tap, folder):
    """Its owner's alone, and there when it is complete."""
    line = [Event("ha", "requests.reads").line(0, "ha_0", PERIOD)]
    _, path = record(folder, "-e", "ha_0/requests.reads/", "-c", str(PERIOD),
                     lines=line * 3)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    tap.ok(mode == 0o600, "the file is its owner's alone", [oct(mode)])
    with open(path, "rb") as file:
        first = file.read()
    run = Uncore("record", "-o", path, "-e", "ha_0/requests.reads/", "-c",
                 str(PERIOD), command=["/no/such/command"])
    with open(path, "rb") as file:
        tap.ok(run.status == 127 and file.read() == first,
               "a command that does not exist: the old file stays",
               run.comments())
    single, _ = record(folder, "-e", "ha_0/requests.reads/", "-c", str(PERIOD),
                       lines=line)
    with open(path + ".old", "rb") as file:
        tap.ok(file.read() == first, "the old file has .old behind")
    table = Uncore("report", "-i", path)
    tap.ok(single.err == "1 sample in %s\n" % path and
           table.out.startswith("1 sample in %s\n" % path) and
           ": 1 sample, 1,000 counts, on CPU" in table.out,
           "one sample, of record and report", single.comments() + table.comments())
    twice, _ = record(folder, "-e", "ha_0/requests.reads/", "-c", str(PERIOD),
                      "-C", "%d,%d" % (first_cpu(0), first_cpu(0)),
                      lines=line * 5)
    tap.ok(twice.status == 0 and "5 samples" in twice.err,
           "-C with one CPU twice", twice.comments())

    small = os.path.join(folder, "small")
    os.mkdir(small)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", small],
                   check=True)
    try:
        path = os.path.join(small, "samples")
        run = Uncore("record", "-o", path, "-e", "ha_0/requests.reads/", "-c",
                     str(PERIOD), "-d", "0.2")
        tap.ok(run.status == 1 and len(run.err.splitlines()) == 1 and
               "No space left" in run.err and not os.listdir(small),
               "a full disk: one line, and nothing is left",
               run.comments() + os.listdir(small))
    finally:
        subprocess.run(["umount", small], check=True)


def test_names(tap, folder):
    """A task may call itself anything; what is printed is text."""
    culprit = ("open('/proc/self/comm', 'wb').write(b'\\x1b[2J\\xff<evil')\n" +
               CULPRIT)
    traffic, path = (os.path.join(folder, name)
                     for name in ("traffic", "samples"))
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines([Event("ha", "requests.reads").line(
            0, "ha_0", PERIOD)] * 20)
    run = Uncore("record", "-o", path, "-e", "ha_0/requests.reads/", "-c",
                 str(PERIOD), command=["taskset", "-c", str(first_cpu(0)),
                                       "python3", "-c", culprit, traffic])
    for form in ((), ("--csv",), ("--json",)):
        report = subprocess.run([UNCORE, "report", "-i", path, *form],
                                capture_output=True, check=False)
        try:
            text = report.stdout.decode()
        except UnicodeDecodeError:
            text = ""
        tap.ok(report.returncode == 0 and "?[2J?<evil" in text and
               not any(ord(c) < 32 and c != "\n" for c in text),
               "a task's name is text: %s" % (" ".join(form) or "table"),
               run.comments() + [repr(report.stdout[:400])])


def test_refusals(tap, folder):
    path = os.path.join(folder, "broken")

    def refused(name, run, *words, status=1):
        lines = run.err.splitlines()
        tap.ok(run.status == status and len(lines) == 1 and not run.out and
               all(word in lines[0] for word in words), name, run.comments())

    refused("an event that cannot be sampled",
            Uncore("record", "-e", "pcu/pkg_c3_residency/", "-c", "1000",
                   "-d", "0.1", "-o", path), "pkg_c3_residency",
            "cannot be sampled")
    refused("a file that cannot be made",
            Uncore("record", "-e", "ha_0/requests.reads/", "-c", "1000", "-d",
                   "0.1", "-o", "/no/such/folder/file"), "/no/such/folder")
    refused("a command that does not exist",
            Uncore("record", "-e", "ha_0/requests.reads/", "-c", "1000", "-o",
                   path, command=["/no/such/command"]), "/no/such/command",
            status=127)
    refused("a file that is not there",
            Uncore("report", "-i", "/no/such/file"), "/no/such/file")
    refused("folded stacks of two events",
            Uncore("record", "--folded", "-e", "ha_0/requests.reads/", "-e",
                   "ha_0/requests.writes/", "-d", "0.1"), "--folded",
            "one event")
    with open(path, "wb") as file:
        file.write(b"not samples" * 100)
    refused("a file of something else", Uncore("report", "-i", path),
            "not a perf.data file")
    test_damage(tap, folder)


def test_damage(tap, folder):
    """Cut off or flipped anywhere, a file is read or refused, no more."""
    _, whole = record(folder, "-e", "ha_0/requests.reads/", "-c", "1000",
                      lines=[Event("ha", "requests.reads").line(
                          0, "ha_0", 1000)] * 3)
    with open(whole, "rb") as file:
        good = file.read()
    path = os.path.join(folder, "damaged")
    statuses = set()
    for number in range(40):
        bad = bytearray(good)
        if number % 2:
            bad = bad[:len(bad) * number // 40]
        else:
            for i in range(8):
                bad[(number * 13 + i * 29) % 400] ^= 0xff
        with open(path, "wb") as file:
            file.write(bad)
        statuses.add(Uncore("report", "-i", path, "--json").status)
    tap.ok(statuses <= {0, 1}, "40 damaged files: read or refused",
           [repr(statuses)])


def main():
    tap = Tap()
    with Machine(tap), tempfile.TemporaryDirectory() as folder:
        for package in range(2):
            test_samples(tap, folder, package)
        test_two_boxes(tap, folder)
        test_perf_file(tap, folder)
        test_perf_mixed(tap, folder)
        test_perf_compressed(tap, folder)
        test_output_file(tap, folder)
        test_names(tap, folder)
        test_refusals(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
