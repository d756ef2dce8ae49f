#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What "uncore report" takes for a large file of samples: beside the same samples in
few mappings, and beside perf report. Run on any machine, without PMUs.
"""

import os
import resource
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
UNCORE = os.path.join(TOP, "build/userspace/bin/uncore")

SAMPLES = 100000
MANY, FEW = 40000, 40

# of linux/perf_event.h
RECORD_MMAP, RECORD_COMM, RECORD_SAMPLE = 1, 3, 9
MISC_USER = 2
TYPE_SOFTWARE = 1
SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_PERIOD = \
    1 << 0, 1 << 1, 1 << 2, 1 << 6, 1 << 8
SAMPLE_ID_ALL = 1 << 18         # a bit of the attributes' flags
ATTR_SIZE = 128

PID, EVENT_ID, PAGE, BASE = 1000, 7, 4096, 1 << 40


def record(kind, body):
    return struct.pack("<IHH", kind, MISC_USER, 8 + len(body)) + body


def text(string):
    """With its end, in whole words."""
    size = (len(string) + 8) // 8 * 8
    return string.encode().ljust(size, b"\0")


def trailer(time):
    """What sample_id_all adds: thread, time and event."""
    return struct.pack("<IIQQ", PID, PID, time, EVENT_ID)


def samples_file(path, mappings):
    """perf.data: that many mappings of one process, and samples all over them."""
    records = [record(RECORD_COMM, struct.pack("<II", PID, PID) +
                      text("bench") + trailer(0))]
    records += [record(RECORD_MMAP, struct.pack(
        "<IIQQQ", PID, PID, BASE + 2 * i * PAGE, PAGE, 0) +
        text("/none/library-%d" % (i % FEW)) + trailer(1))
                for i in range(mappings)]
    # a step that meets all of them, far apart
    records += [record(RECORD_SAMPLE, struct.pack(
        "<QIIQQQ", BASE + 2 * (i * 7919 % mappings) * PAGE + 16, PID, PID,
        2 + i, EVENT_ID, 1)) for i in range(SAMPLES)]
    data = b"".join(records)
    header = 104
    attrs = header + 8
    attr = struct.pack(
        "<IIQQQQQ", TYPE_SOFTWARE, ATTR_SIZE, 0, 1,
        SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_PERIOD, 0,
        SAMPLE_ID_ALL).ljust(ATTR_SIZE, b"\0") + struct.pack("<QQ", header, 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<8sQQQQQQQQ32x", b"PERFILE2", header, len(attr),
                               attrs, len(attr), attrs + len(attr), len(data),
                               0, 0))
        file.write(struct.pack("<Q", EVENT_ID) + attr + data)


def seconds(*command):
    """Of the processor; None when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print("# %s: %s" % (" ".join(command), done.stderr.strip()))
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if not os.path.exists(UNCORE):
        sys.exit("%s is not built (make userspace)" % UNCORE)
    print("uncore report of %d samples" % SAMPLES)
    took = {}
    with tempfile.TemporaryDirectory() as folder:
        for mappings in FEW, MANY:
            path = os.path.join(folder, "perf.data")
            samples_file(path, mappings)
            ours = seconds(UNCORE, "report", "-i", path)
            perf = seconds("perf", "report", "-i", path, "--stdio")
            if ours is None:
                sys.exit(1)
            took[mappings] = ours
            print("  in %5d mappings: %5.2f s of CPU%s" % (
                mappings, ours, "" if perf is None else
                ", perf report %.2f s: a ratio of %.2f" % (perf, ours / perf)))
    print("  %d times the mappings: %.2f times the time" % (
        MANY // FEW, took[MANY] / took[FEW]))


if __name__ == "__main__":
    main()
