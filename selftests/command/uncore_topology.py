#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test uncore topology on simulated Skylake-SP sockets, or an Ice Lake-D: the root ports and the
devices of each IIO stack, and the ends of the UPI links, under both names of PMUs.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import UNCORE, comments, run  # noqa: E402
from lib.python.uncore import GENERATION, Machine, Tap, read  # noqa: E402

# What the simulated machine has: the part, the root port and the device of a stack. The first
# has a network card.
DEVICES = {"skx": {1: (0, "8086:2030", "8086:1583"), 2: (0, "8086:2030", "8086:0a54"),
                   3: (2, "8086:2032", "8086:0a54")},
           "icxd": {5: (0, "8086:347a", "8086:1583"), 1: (0, "8086:347a", "8086:0a54"),
                    3: (2, "8086:347c", "8086:0a54")}}[GENERATION]
CARD = "Ethernet Controller XL710"
FIRST_PORT = {"skx": 0, "icxd": 2}[GENERATION]      # PCI device of part 0
LINKS = GENERATION == "skx"


def parts(stack):
    """The part, the root port and the device of each port of a stack."""
    return [(port["part"], port["device"]["id"], behind["id"])
            for port in stack["ports"] for behind in port["device"]["behind"]]


def is_below(stack):
    """Tell whether the ports of a stack are on its bus, each in the place of its part."""
    return all(port["device"]["address"] == "%s:%02x.0" % (
        stack["bus"], FIRST_PORT + port["part"])
               for port in stack["ports"])


def test(tap, machine, prefix):
    result = run("topology", "--json")
    document = json.loads(result.stdout)
    stacks = {(stack["pmu"], stack["socket"]): stack for stack in document["stacks"]}
    tap.ok(len(stacks) == len(document["stacks"]) == 6 * machine.packages,
           "%s: six stacks in each socket" % prefix, comments(result))
    for (pmu, socket), stack in stacks.items():
        number = int(pmu.rsplit("_", 1)[1])
        bus = read("/sys/bus/event_source/devices/%s/die%d" % (pmu, socket))
        expected = [DEVICES[number]] if number in DEVICES else []
        tap.ok(stack["bus"] == bus and parts(stack) == expected and is_below(stack),
               "%s of socket %d: its bus, ports and devices" % (pmu, socket),
               [repr(stack)])
    ends = {(link["pmu"], link["socket"]): (link["end_pmu"], link["end_socket"])
            for link in document["links"]}
    tap.ok(bool(ends) == LINKS and
           all(end == (pmu, 1 - socket) for (pmu, socket), end in ends.items()),
           "%s: each link ends at the link with its number in the other socket" % prefix,
           [repr(ends)])

    result = run("topology")
    rows = [line.split(maxsplit=5) for line in result.stdout.splitlines()]
    pmu, socket = "%s_iio_%d" % (prefix, next(iter(DEVICES))), machine.packages - 1
    bus = stacks[pmu, socket]["bus"]
    port = "%s:%02x.0" % (bus, FIRST_PORT)
    tap.ok(any(row[:5] == [pmu, str(socket), bus, "0", port] and CARD in row[5]
               for row in rows),
           "%s: the table names the network card" % prefix, comments(result))
    tap.ok(([prefix + "_upi_1", "0", "socket", "1,", prefix + "_upi_1"] in rows) == LINKS,
           "%s: and the end of a link" % prefix, comments(result))


def main():
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    for prefix in GENERATION, "uncore":
        with Machine(tap, params=["pmu_prefix=" + prefix],
                     sim=["model=" + GENERATION]) as machine:
            test(tap, machine, prefix)
    tap.end()


if __name__ == "__main__":
    main()
