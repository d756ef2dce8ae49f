#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Multiplexed counts and metrics of "uncore stat -I" while the mixed scenario plays 100
random phases, with bursts and gaps of random length: no value is impossible, and
the stated errors cover at least 60 % of the true values.

The true counts are in the same report. Other boxes see the same transactions, and
have a counter for each event. UNCORE_SEED is the seed of phases, bursts and gaps.
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
GAP = 0.05                  # traffic of a gap, of a burst's
INTERVAL_MS = 400
COVERED = 0.6               # errors of a normal distribution cover 0.68
FEWEST = {"counts": 300, "metrics": 50}     # values with an error
# A box whose events are multiplexed. One box after it counts the first four of them,
# the next box counts the others. The numbers are increments in a clock at most.
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
# Events of an SBo, for which transactions pass that are as many as a term's.
COPIES = ("ad_crd", "ad_bnc", "bl_crd", "bl_bnc")
COPY_CODE = Event("sbox", "txr_occupancy.ad_crd").code
# The scenario is of a machine with 18 CBos. All of them have the same rates.
CBOXES, SCENARIO_CBOXES = 1, 18
SIZE = ["%s=%d" % item for item in {**causes.MACHINE, "cboxes": CBOXES}.items()]
SLACK = 0.02                # clocks that pass while counters are read
MIB = 64 / (1 << 20)        # of a CAS


# Play each phase once. Its sockets have bursts and gaps of random length.
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
    """Event that counts what a term counts."""
    return "sbox_%d/txr_occupancy.%s/" % (number // len(COPIES),
                                          COPIES[number % len(COPIES)])


def copy_flow(number, flows):
    term = TERMS[number]
    rate = sum(entry.rate * term.counts(entry) for entry in flows
               if entry.box == term.box)
    return flow.Flow("sbox", COPY_CODE, 1 << number % len(COPIES), rate,
                     number // len(COPIES))


def is_counted(transactions):
    if transactions.box == "imc":
        return transactions.code in CODES
    return any(transactions.box == term.box and term.counts(transactions)
               for term in TERMS)


def lines(package, flows, factor):
    return "".join(flow.Flow(entry.box, entry.code, entry.umask,
                             entry.rate * factor, entry.number,
                             **entry.keys).line(package) for entry in flows)


def phase(rng, hardware):
    """For each socket the traffic of a gap and of a burst."""
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
    """Of the boxes that need no multiplexing, by event and socket."""
    rows = [row for row in report["events"]
            if not row["event"].startswith(BOX + "/")]
    assert all(row["running"] == 1 for row in rows), rows
    return {(row["event"], row["socket"]): row["raw"] for row in rows}


def compare(report):
    """Multiplexed values: name, row and true value."""
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
    """The largest possible value of a row."""
    if row["unit"] == "%":
        return 100
    if row.get("metric"):
        return math.inf
    clocks = row["enabled_ns"] * causes.MACHINE["dclk_khz"] / 1e6
    return EVENTS[name.split("/")[1]] * clocks * (1 + SLACK) * \
        (MIB if row["unit"] == "MiB" else 1)


def find_fault(name, row):
    """Why no machine can have a value; "" for a possible value."""
    value, error = row["value"], row["error"]
    if value is None:
        return "" if row.get("reason") else "neither a value nor a reason"
    # A request is in a queue for a cycle at least.
    least = 1 if row["unit"] == "cycles" else 0
    if not least <= value <= largest(name, row):
        return "%g is not %g to %g" % (value, least, largest(name, row))
    if error is not None and not 0 <= error < math.inf:
        return "an error of %g" % error
    if error == 0 and value and row["running"] < 1:
        return "a scaled value without an error"
    return ""


class Coverage:
    """Number of values within their errors."""

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
