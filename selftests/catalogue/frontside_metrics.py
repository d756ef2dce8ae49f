#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check every metric of Xeon 7100 and 7400 in the output of "uncore stat -M". The simulated
bus runs for a number of cycles with known sub-events, and look-ups and snoops with known
results are sent to the simulated hardware. The formulas of the metrics are typed from the
manual's tables (SDM 3B, §18.24), not from the catalogue.
"""

import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import (BUILD, GENERATION, SIM, Machine,  # noqa: E402
                               Tap)

CYCLES = 100003
# Values of the simulator's traffic keys: "flow" of a look-up, "snoop" (the state in which
# a look-up or a snoop finds the line), and "fill".
DEMAND, PREFETCH = 1, 2
CLEAN, HIT, HITM = 1, 2, 4
NO_FILL, FILL, FILL_EVICTS = 0, 2, 3


# --- causes -------------------------------------------------------------------

def waves():
    """By sub-event of the bus, 1 or 0 for each cycle of the simulated bus' period."""
    path = os.path.join(BUILD, "..", "catalogue-%s.tsv" % GENERATION)
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            box, name, *_, values = line.rstrip("\n").split("\t")
            if box == "fsb":
                found[name] = [int(value) for value in values.split(",")]
    return found


class Causes:
    """Bus cycles, look-ups and snoops of a package while a metric is counted."""

    def __init__(self, package):
        self.start = 0
        self.bus = waves()
        # All counts differ, and so do their ratios between packages.
        self.lookups = {
            (flow, snoop, fill):
                1000 + 100 * package * flow * fill + 37 * i * i
            for i, (flow, snoop, fill) in enumerate(
                (flow, snoop, fill) for flow in (DEMAND, PREFETCH)
                for snoop in (CLEAN, HIT, HITM)
                for fill in (NO_FILL, FILL, FILL_EVICTS))}
        self.snoops = {snoop: 500 + (111 + 200 * package) * snoop
                       for snoop in (CLEAN, HIT, HITM)}
        self.package = package

    def lines(self):
        some = "pkg=%d agent=1 type=1 state=1 " % self.package
        for (flow, snoop, fill), count in self.lookups.items():
            yield some + "box=gbsq flow=%d snoop=%d fill=%d count=%d\n" % (
                flow, snoop, fill, count)
        for snoop, count in self.snoops.items():
            yield some + "box=gsnpq snoop=%d count=%d\n" % (snoop, count)

    def cycles(self, *names):
        """Cycles in which the bus had any of these sub-events."""
        return sum(any(self.bus[name][t % len(self.bus[name])]
                       for name in names)
                   for t in range(self.start, self.start + CYCLES))

    def looked_up(self, *, flow=(DEMAND, PREFETCH),
                  fill=(NO_FILL, FILL, FILL_EVICTS)):
        return sum(count for key, count in self.lookups.items()
                   if key[0] in flow and key[2] in fill)


# --- metrics ------------------------------------------------------------------

def result_of_snoops(causes):
    """Share of transactions on the bus that hit a modified line."""
    results = [causes.cycles(name) for name in ("l_clear", "l_hit", "l_hitm")]
    return results[2] / sum(results)


FILLS = (FILL, FILL_EVICTS)
METRICS = {
    # §18.24.4.1: the data bus is busy or has data, of this package or another agent
    "fsb_utilisation": lambda c: c.cycles(
        "dbsy", "drdy", "other_dbsy", "other_drdy") / CYCLES,
    "fsb_utilisation_own": lambda c: c.cycles("dbsy", "drdy") / CYCLES,
    "fsb_data_utilisation": lambda c: c.cycles("drdy", "other_drdy") / CYCLES,
    "fsb_ioq_full": lambda c: c.cycles("ioq_full") / CYCLES,
    "fsb_hitm": result_of_snoops,
    "l3_fill": lambda c: c.looked_up(fill=FILLS) / c.looked_up(),
    "l3_fill_evicts": lambda c: (c.looked_up(fill=(FILL_EVICTS,)) /
                                 c.looked_up(fill=FILLS)),
    "l3_prefetch": lambda c: c.looked_up(flow=(PREFETCH,)) / c.looked_up(),
    "snoop_hitm": lambda c: c.snoops[HITM] / sum(c.snoops.values()),
}


def count(name, path):
    """Run uncore stat -M while the causes occur: rows by socket, and comments."""
    script = "cat %s > %straffic; echo %d > %sadvance" % (path, SIM, CYCLES, SIM)
    run = Uncore("stat", "-M", name, "--per-socket", "--json",
                 command=["sh", "-c", script])
    rows = run.json()["metrics"] if run.status == 0 else []
    return {row["socket"]: row for row in rows}, run.comments()


def test_metric(tap, name, value, causes, path):
    for cause in causes:
        cause.start = Machine.cycles()
    rows, comments = count(name, path)
    for cause in causes:
        want, row = 100 * value(cause), rows.get(cause.package)
        tap.ok(row and row["unit"] == "%" and row["running"] == 1 and
               math.isclose(row["value"], want, rel_tol=1e-9),
               "%s of socket %d = %g %%" % (name, cause.package, want),
               ["got %r" % row, *comments])


def test_top(tap):
    """By default tasks share the transactions on the bus (sub-event 0 of its six)."""
    # A read of the counters that finds the package's lock busy charges its counts to
    # another task. The loop writes five times so that "sh" is charged at least once.
    script = ("for i in 1 2 3 4 5; do"
              " echo 'box=fsb event=0x20 count=2469' > /dev/xeon_uncore_sim; sleep 0.01;"
              " done")
    run = Uncore("top", "--once", "--json", "--resolution", "0",
                 command=["sh", "-c", script])
    table = run.json() if run.status == 0 else {"total": {}, "rows": []}
    shells = [sum(row["counts"]["bus"]) for row in table["rows"]
              if row.get("command") == "sh"]
    tap.ok(sum(table["total"].get("bus", [])) == 12345 and sum(shells) > 0,
           "top without -e: transactions on the front-side bus",
           ["%s %s, missed %s" % (table["total"], shells, table.get("missed")),
            *run.comments()])


def main():
    tap = Tap()
    if GENERATION not in ("xeon7100", "xeon7400"):
        tap.skip_all("neither Xeon 7100 nor 7400")
    listed = [row["metric"] for row in
              Uncore("list", "metrics", "--json").json()["metrics"]]
    tap.ok(sorted(listed) == sorted(METRICS),
           "the catalogue's %d metrics have a formula each" % len(listed),
           sorted(set(listed) ^ set(METRICS)))
    with Machine(tap) as machine, tempfile.TemporaryDirectory() as folder:
        causes = [Causes(package) for package in range(machine.packages)]
        path = os.path.join(folder, "traffic")
        with open(path, "w", encoding="ascii") as file:
            for cause in causes:
                file.writelines(cause.lines())
        for name, value in METRICS.items():
            test_metric(tap, name, value, causes, path)
        test_top(tap)
        run = Uncore("metric", "memory", command=["true"])
        tap.ok(run.status == 1 and run.err.count("\n") == 1 and
               "no metric of the set 'memory' (its sets: bus)" in run.err,
               "a set that the generation does not have is refused", run.comments())
        examples = re.findall(r"^uncore ((?:metric|stat|list) .*?)  ", Uncore().out,
                              re.M)
        runs = [Uncore(*example.replace(" -I 1000", "").split(),
                       command=() if "ls" in example or example.startswith("list")
                       else ["true"]) for example in examples]
        tap.ok(len(runs) >= 5 and not any(run.status for run in runs),
               "uncore's first examples are those of this machine",
               [comment for run in runs for comment in run.comments()[:2]])
    tap.end()


if __name__ == "__main__":
    main()
