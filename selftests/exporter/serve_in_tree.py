#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore serve" with intel_uncore, the kernel's own driver, which does not notice
that another program freezes the boxes of a socket, or one box, by writing to registers.
Frozen boxes must not be exported as a rate of 0, for Prometheus, on the die map and in
uncore live. selftests/runner/with_driver runs this test.
"""

import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.exposition import Daemon, value  # noqa: E402
from lib.python.terminal import OnTerminal  # noqa: E402
from lib.python.uncore import UNCORE, Tap, read  # noqa: E402

CLOCK = "uncore_memory_clock_cycles_total"
GLOBAL_CONTROL = 0x700      # MSR: freezes all boxes of a socket
FREEZE_ALL, COUNT_ALL = 1 << 31, 1 << 29
BOX_CONTROL = 0xf4          # a memory channel's box control, in PCI configuration space
CHANNEL, FREEZE_BOX, COUNT_BOX = "0x2fb0", 0x30100, 0x30000


def write_global(value_of):
    """Write the global control of the last socket, on the socket's last CPU."""
    cpu = int(read("/sys/devices/system/cpu/online").rsplit("-", 1)[-1])
    with open("/dev/cpu/%d/msr" % cpu, "r+b", buffering=0) as file:
        os.pwrite(file.fileno(), value_of.to_bytes(8, "little"), GLOBAL_CONTROL)


def write_channel(control):
    """Write the box control of the first memory channel of the last socket."""
    path = max(path for path in glob.glob("/sys/bus/pci/devices/*/device")
               if read(path) == CHANNEL)
    with open(os.path.join(os.path.dirname(path), "config"), "r+b",
              buffering=0) as file:
        os.pwrite(file.fileno(), control.to_bytes(4, "little"), BOX_CONTROL)


def boxes_down(samples):
    """Return the boxes whose uncore_box_up is 0, {(socket, box type, number)}."""
    return {tuple(dict(labels)[name] for name in ("socket", "box", "number"))
            for (name, labels), count in samples.items()
            if name == "uncore_box_up" and not count}


def counted_of(samples, socket):
    """Return the series of a socket that count events of its boxes."""
    return {name for name, labels in samples
            if name.endswith("_total") and dict(labels).get("socket") == socket and
            not name.startswith("uncore_events_")}


def is_up(samples, socket):
    return value(samples, "uncore_socket_up", socket=socket) == 1


def test_socket(tap, daemon):
    before = daemon.fresh()
    tap.ok(not boxes_down(before) and counted_of(before, "1") ==
           counted_of(before, "0") and is_up(before, "1"),
           "all boxes of both sockets are measured", [repr(boxes_down(before))])
    write_global(FREEZE_ALL)
    frozen = daemon.wait_for(lambda now: not is_up(now, "1"))
    tap.ok(not is_up(frozen, "1") and not counted_of(frozen, "1") and
           {socket for socket, *_ in boxes_down(frozen)} == {"1"} and
           is_up(frozen, "0") and counted_of(frozen, "0"),
           "a socket that another program froze has no series",
           [repr(sorted(counted_of(frozen, "1"))), repr(boxes_down(frozen))])
    still = daemon.fresh()
    tap.ok(boxes_down(still) == boxes_down(frozen) and not counted_of(still, "1"),
           "nor has it at later scrapes", [repr(boxes_down(still))])
    topology, snapshot = (json.loads(daemon.request("/api/" + name)[2])
                          for name in ("topology", "snapshot"))
    down = {topology["boxes"][int(at)]["socket"]: reason
            for at, reason in snapshot.get("down", {}).items()}
    counted_sockets = {
        topology["boxes"][counter["box"]]["socket"] for counter, count in
        zip(topology["counters"], snapshot["counts"]) if count is not None}
    tap.ok(down == {1: "stopped"} and counted_sockets == {0},
           "the map has no counts of it, and says why",
           [repr(down), repr(counted_sockets)])
    write_global(COUNT_ALL)
    again = daemon.wait_for(lambda now: is_up(now, "1"))
    old, new = (value(samples, CLOCK, socket="1", channel="0")
                for samples in (before, again))
    tap.ok(not boxes_down(again) and counted_of(again, "1") ==
           counted_of(before, "1") and new is not None and new >= old,
           "when it counts again its series continue", [repr(boxes_down(again))])


def test_channel(tap, daemon):
    write_channel(FREEZE_BOX)
    frozen = daemon.wait_for(boxes_down)
    down = boxes_down(frozen)
    number = next((number for *_, number in down), None)
    channels = [value(frozen, CLOCK, socket="1", channel=channel) is not None
                for channel in "0123"]
    tap.ok(down == {("1", "imc", number)} and channels.count(False) == 1 and
           value(frozen, CLOCK, socket="1", channel=number) is None and
           is_up(frozen, "1"),
           "a channel alone that it froze: that one has no series",
           [repr(down), repr(channels)])
    write_channel(COUNT_BOX)
    again = daemon.wait_for(lambda now: not boxes_down(now))
    tap.ok(not boxes_down(again), "and has them again", [repr(boxes_down(again))])


def test_live(tap):
    """uncore live shows that a socket stops counting while the page is open."""
    def says(*words):
        return lambda screen: all(re.search(word, screen.text(), re.M)
                                  for word in words)

    with OnTerminal(60, 110, [UNCORE, "live", "-I", "200", "--no-tasks"]) as shown:
        drawn = shown.wait(says("^ *1: (nothing limits|limited)", "Memory"))
        write_global(FREEZE_ALL)
        frozen = shown.wait(says("^ *1: +not measured", "of socket 1.* has stopped "
                                 "counting", "^ *0: (nothing limits|limited)"))
        tap.ok(drawn and frozen, "live says that the socket is not measured",
               shown.screen.lines())
        write_global(COUNT_ALL)
        tap.ok(shown.wait(says("^ *1: (nothing limits|limited)")),
               "and measures it again",
               shown.screen.lines())
        shown.send("q")
        shown.end()


def main():
    tap = Tap()
    subprocess.run(["modprobe", "msr"], check=False)
    with Daemon("serve") as daemon:
        test_socket(tap, daemon)
        test_channel(tap, daemon)
        status, output = daemon.end()
        lines = output.splitlines()
        tap.ok(status == 0 and len(lines) == 2 and
               "another program has stopped the boxes of socket 1: no series" in
               lines[0] and
               re.search(r"has stopped \w+_imc_\d of socket 1: no series", lines[1]),
               "one line says so of each", ["status %d" % status, *lines])
    tap.end()


if __name__ == "__main__":
    main()
