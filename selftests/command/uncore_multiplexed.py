#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test multiplexed counts and metrics of "uncore stat -I" while the mixed scenario plays
100 random phases, with bursts and gaps of random length: no value is impossible, and
the printed errors cover at least 60 % of the true values.

The true counts are in the same report: other boxes see the same transactions, and have a
counter for each event. The environment variable UNCORE_SEED sets the seed of phases,
bursts and gaps.
"""

import json
import math
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.metric_causes import METRICS  # noqa: E402
from lib.python.traffic import Event, Uncore  # noqa: E402
from lib.python.uncore import SIM, Machine, Tap, write  # noqa: E402
from scenarios import causes, flow  # noqa: E402
from scenarios.player import machine  # noqa: E402

SEED = int(os.environ.get("UNCORE_SEED", "1"))
PHASES, PHASE = 100, 0.3    # number, and mean length in seconds
BURST = (0.01, 0.2)         # shortest and longest mean length of a phase's bursts
GAP = 0.05                  # traffic of a gap, as a part of a burst's traffic
INTERVAL_MS = 400
COVERED = 0.6               # the standard error of a normal distribution covers 0.68
FEWEST = {"counts": 300, "metrics": 50}     # least number of values with an error
# The events of BOX are multiplexed. The first box of OTHERS counts the first four
# EVENTS, the second box the other four. The numbers are the largest increments of an
# event in a clock cycle.
BOX, OTHERS = "imc_0", ("imc_1", "imc_2")
EVENTS = {"cas_count.rd": 1, "cas_count.wr": 1, "act_count.rd": 1, "act_count.wr": 1,
          "rpq_inserts": 1, "cas_count.all": 1, "pre_count.page_miss": 1,
          "power_channel_ppd": 4}
CODES = {Event("imc", name).code for name in EVENTS}
RATIOS = [metric for metric in METRICS if metric.name in (
    "llc_drd_miss_pct", "llc_rfo_miss_pct", "avg_tor_drd_hit_latency",
    "avg_tor_drd_latency", "avg_tor_drd_miss_latency", "mem_wb_bytes")]
TERMS = list({term.key(): term for metric in RATIOS
              for term in metric.terms}.values())
# Events of SBos that get as many transactions as the terms of the metrics, for the true
# counts.
COPIES = ("ad_crd", "ad_bnc", "bl_crd", "bl_bnc")
COPY_CODE = Event("sbox", "txr_occupancy.ad_crd").code
# The scenario is for a machine with 18 CBos, which all have the same rates. One CBo is
# simulated.
CBOXES, SCENARIO_CBOXES = 1, 18
SIZE = ["%s=%d" % item for item in {**causes.MACHINE, "cboxes": CBOXES}.items()]
SLACK = 0.02                # clocks that pass while counters are read
MIB = 64 / (1 << 20)        # MiB that a CAS transfers


# A program that plays each phase once, with bursts and gaps of random length.
PLAY = """import json, random, sys, time
def write(lines):
    with open("%srates", "w") as file:
        file.write(lines)
with open(sys.argv[1]) as file:
    phases = json.load(file)
rng = random.Random(sys.argv[2])
for sockets in phases:
    end = time.monotonic() + rng.expovariate(1 / %g)
    mean = rng.uniform(%g, %g)
    for traffic in sockets:
        write(rng.choice(traffic))
    while time.monotonic() < end:
        time.sleep(rng.expovariate(len(sockets) / mean))
        write(rng.choice(rng.choice(sockets)))
""" % (SIM, PHASE, *BURST)


# --- traffic ---------------------------------------------------------------------

def copy_event(number):
    """Return the SBo event that has the counts of a term."""
    return "sbox_%d/txr_occupancy.%s/" % (number // len(COPIES),
                                          COPIES[number % len(COPIES)])


def copy_flow(number, flows):
    """Return the flow of SBo transactions that has the rate of a term."""
    term = TERMS[number]
    rate = sum(entry.rate * term.counts(entry) for entry in flows
               if entry.box == term.box)
    return flow.Flow("sbox", COPY_CODE, 1 << number % len(COPIES), rate,
                     number // len(COPIES))


def is_counted(transactions):
    """Return whether an event or a term of a metric counts these transactions."""
    if transactions.box == "imc":
        return transactions.code in CODES
    return any(transactions.box == term.box and term.counts(transactions)
               for term in TERMS)


def lines(package, flows, factor):
    """Return lines for the file "rates", with the rates multiplied by @factor."""
    return "".join(flow.Flow(entry.box, entry.code, entry.umask,
                             entry.rate * factor, entry.number,
                             **entry.keys).line(package) for entry in flows)


def phase(rng, hardware):
    """Generate the traffic of a gap and of a burst, for each socket."""
    seconds = rng.uniform(0, sum(length for length, _ in causes.MIXED))
    factor = rng.uniform(0.3, 1)
    for socket in flow.sockets(hardware, causes.at("mixed", seconds,
                                                   hardware.packages)):
        flows = [entry for entry in socket.flows if is_counted(entry)]
        flows += [copy_flow(i, flows) for i in range(len(TERMS))]
        yield [lines(socket.package, flows, factor * part) for part in (GAP, 1)]


def count(folder):
    """Run uncore stat until all phases have been played."""
    events = ["%s/%s/" % (BOX, name) for name in EVENTS]
    events += ["%s/%s/" % (OTHERS[i // 4], name) for i, name in enumerate(EVENTS)]
    events += [copy_event(i) for i in range(len(TERMS))]
    rng = random.Random(SEED)
    hardware = machine()._replace(cboxes=SCENARIO_CBOXES)
    path = os.path.join(folder, "phases")
    with open(path, "w", encoding="ascii") as file:
        json.dump([list(phase(rng, hardware)) for _ in range(PHASES)], file)
    write(SIM + "rates", "on")
    return Uncore("stat", "-I", str(INTERVAL_MS), "--per-socket", "--json", "-e",
                  ",".join(events), "-M",
                  ",".join(metric.name for metric in RATIOS),
                  command=[sys.executable, "-c", PLAY, path, str(SEED)])


# --- values ----------------------------------------------------------------------

def true_counts(report):
    """Return the counts of the events that were not multiplexed,
    {(event, socket): count}."""
    rows = [row for row in report["events"]
            if not row["event"].startswith(BOX + "/")]
    assert all(row["running"] == 1 for row in rows), rows
    return {(row["event"], row["socket"]): row["raw"] for row in rows}


def compare(report):
    """Generate (name, row, true value) of each multiplexed value in a report."""
    counts = true_counts(report)
    events = {"%s/%s/" % (BOX, name): "%s/%s/" % (OTHERS[i // 4], name)
              for i, name in enumerate(EVENTS)}
    for row in report["events"]:
        if row["event"] in events:
            unit = MIB if row["unit"] == "MiB" else 1
            yield row["event"], row, \
                unit * counts[events[row["event"]], row["socket"]]
    numbers = {term.key(): i for i, term in enumerate(TERMS)}
    for row in report["metrics"]:
        metric, = [ratio for ratio in RATIOS if ratio.name == row["metric"]]
        terms = [counts[copy_event(numbers[term.key()]), row["socket"]] * CBOXES
                 for term in metric.terms]
        try:
            true = metric.value(terms)
        except ZeroDivisionError:
            true = math.nan
        yield metric.name, row, true


def largest(name, row):
    """Return the largest possible value of a row."""
    if row["unit"] == "%":
        return 100
    if row.get("metric"):
        return math.inf
    clocks = row["enabled_ns"] * causes.MACHINE["dclk_khz"] / 1e6
    return EVENTS[name.split("/")[1]] * clocks * (1 + SLACK) * \
        (MIB if row["unit"] == "MiB" else 1)


def find_fault(name, row):
    """Return the reason why a value is impossible; "" for a possible value."""
    value, error = row["value"], row["error"]
    if value is None:
        return "" if row.get("reason") else "neither a value nor a reason"
    # A latency is at least 1, as a request is in a queue for at least a cycle.
    least = 1 if row["unit"] == "cycles" else 0
    if not least <= value <= largest(name, row):
        return "%g is not %g to %g" % (value, least, largest(name, row))
    if error is not None and not 0 <= error < math.inf:
        return "an error of %g" % error
    if error == 0 and value and row["running"] < 1:
        return "a scaled value without an error"
    return ""


class Coverage:
    """Counts the values whose distance from the true value is within their error."""

    def __init__(self):
        self.given = self.covered = self.unknown = 0

    def add(self, row, true):
        if row["value"] is None or row["error"] is None or math.isnan(true):
            self.unknown += 1
            return
        self.given += 1
        self.covered += abs(row["value"] - true) <= row["error"]

    def is_enough(self):
        return self.covered >= COVERED * self.given

    def __str__(self):
        return "%d of %d, %d without an error" % (self.covered, self.given,
                                                  self.unknown)


def main():
    tap = Tap()
    tap.say("seed %d" % SEED)
    with Machine(tap, clock="real", sim=SIZE), \
            tempfile.TemporaryDirectory() as folder:
        run = count(folder)
    reports = run.lines() if run.status == 0 else []
    tap.ok(len(reports) > 1 and reports[-1]["total"],
           "stat of %d random phases of the scenario" % PHASES, run.comments())
    wrong, by_name = [], {}
    all_counts, all_metrics = Coverage(), Coverage()
    for report in reports:
        for name, row, true in compare(report):
            fault = find_fault(name, row)
            if fault:
                wrong.append("%s: %s: %s" % (name, fault, row))
            if row["running"] < 1:
                by_name.setdefault(name, Coverage()).add(row, true)
                (all_metrics if "metric" in row else all_counts).add(row, true)
    for name, coverage in by_name.items():
        tap.say("%s: %s" % (name, coverage))
    tap.ok(not wrong, "no value of %d reports is impossible" % len(reports), wrong)
    for kind, coverage in (("counts", all_counts), ("metrics", all_metrics)):
        tap.ok(coverage.given >= FEWEST[kind] and coverage.is_enough(),
               "%s: errors cover at least %.0f %% of the true values" % (
                   kind, 100 * COVERED), [str(coverage)])
        tap.say("%s: %s" % (kind, coverage))
    tap.end()


if __name__ == "__main__":
    main()
