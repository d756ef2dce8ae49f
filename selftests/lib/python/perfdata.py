#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Small perf.data files, made here: two events of which one has no period in its
samples, tasks, mappings, and features. Written to a folder as fuzzers' seeds.
"""

import os
import struct
import sys

IP, TID, TIME, CPU, PERIOD, IDENTIFIER = (1 << bit
                                          for bit in (0, 1, 2, 7, 8, 16))
BASE = IP | TID | TIME | CPU | IDENTIFIER
ATTR, HEADER = 128, 104
MMAP, COMM, FORK, SAMPLE = 1, 3, 7, 9
USER = 2
EVENTS = 12     # the number of the feature


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def padded(text, multiple=8):
    raw = text.encode()
    return raw + b"\0" * (multiple - len(raw) % multiple)


def trailer(time, number):
    return struct.pack("<IIQQQ", 0, 0, time, 0, number)


def sample(number, address, pid, time, period=None):
    body = struct.pack("<QQIIQQ", number, address, pid, pid, time, 0)
    if period is not None:
        body += struct.pack("<Q", period)
    return record(SAMPLE, USER, body)


def mapping(pid, start, length, path, time=0, number=7):
    return record(MMAP, USER, struct.pack("<IIQQQ", pid, pid, start, length, 0)
                  + padded(path) + trailer(time, number))


def comm(pid, name, time=0, number=7):
    return record(COMM, 0, struct.pack("<II", pid, pid) + padded(name) +
                  trailer(time, number))


def fork(pid, parent, time, number=7):
    return record(FORK, 0, struct.pack("<IIIIQ", pid, parent, pid, parent,
                                       time) + trailer(time, number))


def attribute(sample_type, period):
    return struct.pack("<IIQQQQ", 1, ATTR, 9, period, sample_type, 0) + \
        struct.pack("<Q", 1 << 18) + b"\0" * (ATTR - 48)


def perf_data(events, records):
    """events: (number, sample type, period, name) of each."""
    ids = b"".join(struct.pack("<Q", event[0]) for event in events)
    attrs = b"".join(
        attribute(kind, period) + struct.pack("<QQ", HEADER + 8 * i, 8)
        for i, (_, kind, period, _) in enumerate(events))
    names = struct.pack("<II", len(events), ATTR) + b"".join(
        attribute(kind, period) + struct.pack("<II", 1, 64) +
        padded(name, 64) + struct.pack("<Q", number)
        for number, kind, period, name in events)
    data = HEADER + len(ids) + len(attrs)
    end = data + len(records)
    header = b"PERFILE2" + struct.pack(
        "<12Q", HEADER, ATTR + 16, HEADER + len(ids), len(attrs), data,
        len(records), 0, 0, 1 << EVENTS, 0, 0, 0)
    return header + ids + attrs + records + \
        struct.pack("<QQ", end + 16, len(names)) + names


def two_events():
    return perf_data(
        [(7, BASE, 1000, "counted"), (8, BASE | PERIOD, 99, "timed")],
        comm(1, "sh") + mapping(1, 0x1000, 0x2000, "/bin/sh") +
        fork(2, 1, 5) + mapping(2, 0x1800, 0x100, "/bin/ls", 6) +
        sample(7, 0x1100, 1, 7) + sample(8, 0x1810, 2, 8, 123))


def main(folder):
    one = perf_data([(7, BASE | PERIOD, 5, "one")],
                    comm(1, "a") + sample(7, 1, 1, 1, 5))
    for number, contents in enumerate((one, two_events())):
        with open(os.path.join(folder, "seed-%d" % number), "wb") as file:
            file.write(contents)


if __name__ == "__main__":
    main(sys.argv[1])
