#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the die map's numbers against the simulated hardware: the counts of known traffic
in snapshots, event streams and recordings are exactly the counts of "uncore stat" at
the same time, for each box.
"""

import json
import os
import re
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import LIMIT  # noqa: E402
from lib.python.exposition import Daemon  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import SIM, UNCORE, Machine, Tap, pmus  # noqa: E402
from serve import LABEL_PER_BOX, expected
from uncore_series import Stream, replay

BOX_TYPES = ("cbox", "ha", "imc", "irp", "pcu", "qpi", "r2pcie", "r3qpi", "sbox",
         "ubox")
CYCLES = 1234567
SEND = """import sys
for line in open(sys.argv[1]):
    with open("%straffic", "w") as file:
        file.write(line)
with open("%sadvance", "w") as file:
    file.write(sys.argv[2])
""" % (SIM, SIM)


def get(daemon, path):
    """Return the document at a path; a failure as {"problem": text}."""
    status, _, text = daemon.request(path)
    return json.loads(text) if status == 200 else {"problem": text}


def fresh(daemon):
    """Return a snapshot of a read that begins after this call."""
    before = now = get(daemon, "/api/snapshot")
    deadline = time.monotonic() + LIMIT
    while now["seconds"] <= before["seconds"] and time.monotonic() < deadline:
        time.sleep(0.2)
        now = get(daemon, "/api/snapshot")
    return now


def places(topology):
    """Return (socket, event) of each counter."""
    return [(topology["boxes"][counter["box"]]["socket"], counter["event"])
            for counter in topology["counters"]]


def grown(topology, before, after):
    """Return the growth of each counter, {(socket, event): count}."""
    return {place: new - old for place, old, new in zip(
        places(topology), before["counts"], after["counts"])}


def counted(run):
    """Return the counts of uncore stat, {(socket, event): count}."""
    return {(row["socket"], row["event"]): row["raw"]
            for row in run.json()["events"]}


def differences(want, got):
    """Describe each counter whose counts differ."""
    return ["%s: stat %s, here %s" % (place, want.get(place), got.get(place))
            for place in sorted({*want, *got}) if want.get(place) != got.get(place)]


def test_topology(tap, machine, topology):
    wrong = []
    for box_type in BOX_TYPES:
        for package in range(machine.packages):
            have = sorted(box["pmu"] for box in topology["boxes"]
                          if box["box"] == box_type and box["socket"] == package)
            if have != sorted(pmus(box_type)):
                wrong.append("%s of %d: %s" % (box_type, package, have))
    tap.ok(not wrong, "every box of every socket is on the map", wrong)
    counting = {topology["boxes"][counter["box"]]["box"]
                for counter in topology["counters"]}
    tap.ok(counting == set(BOX_TYPES), "and each box type has counters",
           [repr(counting ^ set(BOX_TYPES))])


def test_counts(tap, machine, daemon, folder):
    """Count the same traffic by the daemon, an event stream, a recording and uncore
    stat."""
    topology = get(daemon, "/api/topology")
    test_topology(tap, machine, topology)
    lines, _ = expected(machine, LABEL_PER_BOX)
    traffic, series, stat_file = (os.path.join(folder, name)
                                  for name in ("traffic", "series", "stat"))
    with open(traffic, "w", encoding="ascii") as file:
        file.writelines(lines)
    events = list(dict.fromkeys(counter["event"] for counter in topology["counters"]))
    with Stream(daemon) as stream:
        stream.status()
        before = fresh(daemon)
        run = Uncore("record", "--series", series, command=[
            UNCORE, "stat", "--per-box", "--json", "-o", stat_file, "-e",
            ",".join(events), "--", "python3", "-c", SEND, traffic,
            "%d" % CYCLES])
        after = fresh(daemon)
        event = stream.event()
        while event and event["seconds"] < after["seconds"]:
            event = stream.event()
    with open(stat_file, encoding="utf-8") as file:
        run.out = file.read()
    want, growth = counted(run), grown(topology, before, after)
    tap.ok(run.status == 0 and len(want) == len(topology["counters"]) and
           sum(map(bool, want.values())) > len(lines),
           "uncore stat counts all events of the map",
           ["%d of %d" % (len(want), len(topology["counters"])),
            *run.comments()])
    tap.ok(growth == want, "snapshots have grown by what uncore stat has counted",
           differences(want, growth))
    tap.ok(event and event["counts"] == after["counts"],
           "and the event stream has the same")
    served, snapshots, _ = replay(series)
    tap.ok(places(served) == places(topology) and
           grown(served, snapshots[0], snapshots[-1]) == want,
           "and so has a recording that is shown again",
           differences(want, grown(served, snapshots[0], snapshots[-1])))
    tap.ok(served["replay"]["notices"] == [], "of this machine, and whole",
           served["replay"]["notices"])
    tap.ok(not [snapshot for snapshot in snapshots if "shared" in snapshot] and
           "shared" not in after, "no event was multiplexed")
    test_scaled_units(tap, topology, run)


def test_scaled_units(tap, topology, run):
    """The factor of a counter converts its count to the value that uncore stat prints,
    in bytes."""
    units = {"Bytes": 1, "MiB": 1 << 20}
    factors = {counter["event"]: counter["factor"] for counter in topology["counters"]}
    wrong = ["%s" % row for row in run.json()["events"]
             if row["unit"] in units and row["raw"] and
             abs(row["value"] * units[row["unit"]] /
                 (row["raw"] * factors[row["event"]]) - 1) > 1e-9]
    tap.ok(not wrong, "bytes are uncore stat's bytes", wrong)


def test_gone(tap, daemon):
    """While the counters are released, events of the stream have a problem, and no
    counts."""
    with Stream(daemon) as stream:
        stream.status()
        daemon.send(signal.SIGUSR1)
        event = stream.event()
        while event and "problem" not in event:
            event = stream.event()
        tap.ok(event and "counts" not in event and
               re.search("released", event["problem"]),
               "a stream reports that no counters are open", [repr(event)])
        daemon.send(signal.SIGUSR2)
        while event and "problem" in event:
            event = stream.event()
        topology = get(daemon, "/api/topology")
        tap.ok(event and len(event["counts"]) == len(topology["counters"]) and
               event["revision"] == topology["revision"] > 1,
               "and continues, with another revision, when they are back",
               [repr(event)[:200]])


def main():
    tap = Tap()
    with Machine(tap) as machine, tempfile.TemporaryDirectory() as folder:
        with Daemon("serve") as daemon:
            test_counts(tap, machine, daemon, folder)
            test_gone(tap, daemon)
            status, output = daemon.end()
            tap.ok(status == 0, "SIGTERM ends it",
                   ["status %d" % status, *output.splitlines()])
    tap.end()


if __name__ == "__main__":
    main()
