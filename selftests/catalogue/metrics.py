#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the value of every metric of the catalogue in the output of "uncore stat -M". The
test sends known numbers of transactions and cycles to the simulated hardware, by event
code, unit mask and filter values. The expected values come from the formulas of
lib/python/metric_formulas.py, which are typed from the manuals.

If the counters of a box do not suffice for all events of a metric, the events are
multiplexed and the metric is an estimate. The test then counts each event of the formula
alone. In another run it counts the metric and these events together, and compares the
estimate, within its error, with the formula's value of the event counts.
"""

import itertools
import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.metric_causes import (CHA_TOR, CONDITIONS, FIXED, METRICS, Metric,  # noqa: E402
                                      causes_of, counted, counter_0, is_relay)
from lib.python.metric_formulas import CODES  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import (BUILD, GENERATION, SIM, Machine, Tap, pmus,  # noqa: E402
                               write)

# Simulated ports and boxes by type: a few are enough. Ivy Bridge's third port has no packet
# filter.
PORTS = {"snbep": 2, "ivbep": 2, "bdwde": 0}.get(GENERATION, 3)
BOXES = {"cbox": 3, "sbox": {"hswep": 2, "bdwep": 4}.get(GENERATION, 0),
         "imc": 3, "qpi": PORTS, "r3qpi": PORTS}
SIZE = tuple("%s=%d" % (name, BOXES[box]) for box, name in (
    ("cbox", "cboxes"), ("sbox", "sboxes"), ("imc", "imcs"), ("qpi", "qpi_ports")))
CYCLES = 1009
INSTRUCTIONS = 987654321    # assumed: the VM's processors have no counter of instructions
TERMS_AT_ONCE = 8           # multiplexed events in one run
PATIENCE = (1, 4, 16)       # seconds of a run; the next longer if an event was not counted


# --- expected counts ---------------------------------------------------------

def read_catalogue():
    """
    Return the increments of each event in the cycles of its period, by box, code and unit
    mask; and the mask of counters that can count a code, by box and code.
    """
    path = os.environ.get("UNCORE_CATALOGUE", os.path.join(
        BUILD, "..", "catalogue.tsv" if GENERATION == "hswep" else
        "catalogue-%s.tsv" % GENERATION))
    waves, counters = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            box, _, _, config, _, _, ctrs, *_, values = \
                line.rstrip("\n").split("\t")
            code = int(config, 16) & 0xff | int(config, 16) >> 13 & 0x100
            waves[box, code, int(config, 16) >> 8 & 0xff] = [
                int(value) for value in values.split(",")]
            if ctrs.startswith("0x"):
                counters[box, code] = int(ctrs, 16)
    return waves, counters


WAVES, CTRS = read_catalogue()


def in_cycles(wave, start, cycles, thresh=0, edge=0):
    """Count a waveform over the cycles, with the threshold, then edge detect (§1.4)."""
    count = 0
    for cycle in range(start, start + cycles):
        now, before = (wave[t % len(wave)] for t in (cycle, cycle - 1))
        if not thresh:
            count += now
        elif now >= thresh and not (edge and before >= thresh):
            count += 1
    return count


class Run:
    """Metrics and single events that are counted together, and their causes."""

    def __init__(self, batches):
        self.metrics = [metric for batch in batches for metric in batch.metrics]
        self.singles = [(term, batch.instance) for batch in batches
                        for term in batch.singles]
        terms = [term for batch in batches for term in batch.terms.values()]
        self.cycles = CYCLES if any(map(needs_cycles, terms)) else 0
        self.causes = [
            cause for box, code in dict.fromkeys(
                (term.box, term.code) for term in terms)
            for cause in causes_of(box, code)]
        self.start = 0

    def write_traffic(self, path, packages):
        with open(path, "w", encoding="ascii") as file:
            for cause in self.causes:
                for i, pmu in enumerate(pmus(cause.box)):
                    file.writelines(
                        cause.line(pmu.removeprefix(GENERATION + "_"), i,
                                   package)
                        for package in range(packages))

    def count(self, term, others, waves, package, instance=None):
        """
        The expected count of a term in all of a package's boxes, or in box @instance.
        @others are the terms of the same metric.
        """
        boxes = range(len(pmus(term.box))) if instance is None else [instance]
        count = counted(term, others, boxes, package)
        if self.cycles:
            seen = counter_0(others) if is_relay(term) else term
            count += len(boxes) * in_cycles(
                waves[seen.box, seen.code, seen.umask], self.start,
                self.cycles, term.thresh, term.edge)
        return count


# --- events that are counted together ----------------------------------------

def needs_cycles(term):
    """A term of a fixed counter, or one with edge detect, counts in cycles only."""
    return term.code == FIXED or term.edge


def filter_of(term):
    """The name and the fields of the box's filter that a term uses, or None."""
    fields = {key: value for key, value in term.filters.items()
              if key not in ("tid", "ch_mask", "fc_mask")}
    if (term.box, term.code) in CHA_TOR:
        return "tor", fields        # without any the driver has all requests pass
    if term.code in (0x35, 0x36) and (term.box, term.code) in CONDITIONS:
        return "tor", {"nc": 0, **fields}
    return (term.code, fields) if fields else None


def placed(masks, taken=0):
    """Check if each mask of possible counters can get a counter that is not taken."""
    return not masks or any(
        placed(masks[1:], taken | 1 << n) for n in range(4)
        if masks[0] >> n & ~taken >> n & 1)


def fit(terms):
    """Check if one box can count all terms at once."""
    if not placed(sorted(CTRS[term.box, term.code] for term in terms
                         if term.code != FIXED)):
        return False
    filters = {}
    for term in terms:
        if filter_of(term):
            who, fields = filter_of(term)
            if filters.setdefault(who, fields) != fields:
                return False
    return len({term.filters["tid"] for term in terms
                if "tid" in term.filters}) < 2


class Batch:
    """Terms that one box counts at once; @instance is a box of a package, or None."""

    def __init__(self):
        self.metrics, self.singles, self.terms = [], [], {}
        self.instance = None

    def take(self, terms, metric=None):
        """Add terms, and return True, if the box can count them with its other terms."""
        both = {**self.terms, **{term.key(): term for term in terms}}
        if not fit(both.values()) or (self.terms and self.cycles() != any(
                map(needs_cycles, terms))):
            return False
        self.terms = both
        if metric:
            self.metrics.append(metric)
        else:
            self.singles += terms
        return True

    def cycles(self):
        return any(map(needs_cycles, self.terms.values()))


def apart(metric):
    """Check if a metric is an estimate, or uses instructions, which VMs do not count."""
    return not fit(metric.terms) or "INSTRUCTIONS" in metric.formula


def batches(metrics):
    """Put the metrics of a box type into batches: each into the first that has room."""
    made = []

    def place(terms, metric=None):
        if not any(batch.take(terms, metric) for batch in made):
            made.append(Batch())
            made[-1].take(terms, metric)

    for metric in metrics:
        if not apart(metric):
            place(metric.terms, metric)
    singles = {term.key(): term for metric in metrics if apart(metric)
               for term in metric.terms}
    for term in singles.values():
        place([term])
    return made


def side_by_side(box, made):
    """Yield lists of batches for one run: each box counts other single events."""
    spread = []
    for batch in made:
        if batch.metrics:
            yield [batch]
            continue
        batch.instance = len(spread)
        spread.append(batch)
        if len(spread) == BOXES.get(box, 1):
            yield spread
            spread = []
    if spread:
        yield spread


def runs():
    """Yield runs with a batch of each box type; runs with cycles have no other batches."""
    for cycles in (True, False):
        columns = [side_by_side(box, [
            batch for batch in batches(
                [metric for metric in METRICS if metric.box == box])
            if batch.cycles() == cycles]) for box in CODES]
        for row in itertools.zip_longest(*columns, fillvalue=[]):
            yield Run(list(itertools.chain(*row)))


# --- counting ----------------------------------------------------------------

class Numbers:
    """Rows of "uncore stat --per-socket --json", by name and socket."""

    def __init__(self, run):
        self.comments = run.comments()
        document = run.json() if run.status == 0 else {
            "metrics": [], "events": [], "unavailable": []}
        self.metrics = {(row["metric"], row["socket"]): row
                        for row in document["metrics"]}
        self.events = {(row["event"], row["socket"]): row
                       for row in document["events"]}
        self.unavailable = {row["metric"]: row["reason"]
                            for row in document["unavailable"]}


def count(metrics, events, *more, command=()):
    arguments = [word for event in events for word in ("-e", event)]
    if metrics:
        arguments += ["-M", ",".join(metric.name for metric in metrics)]
    return Numbers(Uncore("stat", *arguments, *more, "--per-socket", "--json",
                          command=command, timeout=600))


def play(run, folder, packages):
    """Count a run's metrics and single events while its causes occur."""
    path = os.path.join(folder, "traffic")
    run.write_traffic(path, packages)
    run.start = Machine.cycles()
    script = "cat %s > %straffic" % (path, SIM)
    if run.cycles:
        script += "; echo %d > %sadvance" % (run.cycles, SIM)
    return count(run.metrics, [event_of(*single) for single in run.singles],
                 command=["sh", "-c", script])


def event_of(term, instance):
    return term.event(None if instance is None or term.box not in BOXES
                      else "%s_%d" % (term.box, instance))


class Verdicts:
    """Errors of each metric, and of each term that is counted alone."""

    def __init__(self, packages):
        self.packages = packages
        self.wrong = {metric.name: [] for metric in METRICS}
        self.values = {}
        self.terms = {}

    def judge(self, run, numbers, waves):
        for metric in run.metrics:
            for package in range(self.packages):
                self.compare(metric, package, numbers, [
                    run.count(term, metric.terms, waves, package)
                    for term in metric.terms])
        for term, instance in run.singles:
            for package in range(self.packages):
                event = event_of(term, instance)
                row = numbers.events.get((event, package), {})
                want = run.count(term, (), waves, package, instance)
                if row.get("raw") != want or row["running"] != 1:
                    self.terms.setdefault(term.key(), []).append(
                        "%s, package %d: got %r, want %d" %
                        (event, package, row, want))
                    self.terms[term.key()] += numbers.comments[:3]

    def compare(self, metric, package, numbers, counts, running=(1, 1)):
        row = numbers.metrics.get((metric.name, package))
        if not row:
            self.wrong[metric.name] += ["it is not shown", *numbers.comments]
            return
        try:
            want = metric.value(counts, SECONDS=row["seconds"],
                                BOXES=len(pmus(metric.box)))
        except (ZeroDivisionError, TypeError):
            want = math.nan
        self.values[metric.name] = want
        # A multiplexed metric may be refused; the reason has its value and error.
        refused = re.search(r"(\S+) has an error of (\S+) as", row.get("reason", ""))
        if row["value"] is None and running != (1, 1):
            if refused:
                row = {**row, "value": float(refused.group(1)),
                       "error": float(refused.group(2))}
            elif "is not possible" in row.get("reason", ""):
                return
        # If the formula gives an impossible value, uncore shows no value or the nearest
        # possible one.
        if (want < 0 or metric.unit == "%" and want > 100) and \
                row["value"] in (None, 0, 100):
            return
        # the metric and its events were multiplexed, and counted at different times
        error = 5 * (row["error"] or 0) if running != (1, 1) else 0
        if row["value"] is None or not math.isclose(
                row["value"], want, rel_tol=1e-9, abs_tol=error):
            self.wrong[metric.name].append("package %d: got %r, want %r" % (
                package, row["value"], want))
        if row["unit"] != metric.unit:
            self.wrong[metric.name].append("its unit is %r, not %r" % (
                row["unit"], metric.unit))
        if not running[0] <= row["running"] <= running[1]:
            self.wrong[metric.name].append("counted %r of the time" %
                                           row["running"])


# --- multiplexed metrics, and instructions -----------------------------------

def families(metrics):
    """Yield groups of metrics of a box type that have at most TERMS_AT_ONCE events."""
    some, terms = [], {}
    for metric in metrics:
        more = {term.key(): term for term in metric.terms}
        if some and (len({**terms, **more}) > TERMS_AT_ONCE or
                     metric.box != some[0].box):
            yield some, terms
            some, terms = [], {}
        some, terms = some + [metric], {**terms, **more}
    if some:
        yield some, terms


def estimate(verdicts, metrics, terms):
    """
    Compare multiplexed metrics with the values of their events in the same run. The
    clock runs, so that an event counts during its time slices.
    """
    for seconds in PATIENCE:
        numbers = count(metrics, [term.event() for term in terms.values()],
                        "-d", str(seconds))
        if numbers.events and all(row["value"]
                                  for row in numbers.events.values()):
            break
    for metric in metrics:
        for package in range(verdicts.packages):
            shown = [numbers.events.get((term.event(), package),
                                        {"value": math.nan})["value"]
                     for term in metric.terms]
            verdicts.compare(metric, package, numbers, shown, (0, 0.999))


def judge_instructions(verdicts, metric, folder, waves):
    """Check a metric that uses instructions, with an assumed number of instructions."""
    listed, = [row for row in Uncore("list", "metrics", "--json").json()
               ["metrics"] if row["metric"] == metric.name]
    term = re.search(r"(\w+)@([^@]+)@", listed["expression"])
    event = "%s/%s/" % (term.group(1), term.group(2).replace("\\", ""))
    batch = Batch()
    batch.take(metric.terms)
    run = Run([batch])
    path = os.path.join(folder, "traffic")
    run.write_traffic(path, verdicts.packages)
    numbers = count([metric], [event],
                    command=["sh", "-c", "cat %s > %straffic" % (path, SIM)])
    wrong = verdicts.wrong[metric.name]
    if "no core counters" not in numbers.unavailable.get(metric.name, ""):
        wrong += ["no message about missing core counters",
                  *numbers.comments]
    for package in range(verdicts.packages):
        raw = numbers.events.get((event, package), {}).get("raw", 0)
        text = listed["expression"].replace(term.group(), str(raw))
        got = eval(text, {"instructions": INSTRUCTIONS, "__builtins__": {}})
        want = metric.value([run.count(metric.terms[0], (), waves, package)],
                            INSTRUCTIONS=INSTRUCTIONS)
        verdicts.values[metric.name] = want
        if not math.isclose(got * listed["scale"], want, rel_tol=1e-9) or \
                listed["unit"] != metric.unit:
            wrong.append("package %d: got %r, want %r: %s" % (
                package, got, want, json.dumps(listed)))


def test_machine(tap, folder, packages):
    """
    Without --per-socket, a latency is the mean of the sockets' latencies, weighted by
    requests. The causes of this test differ from socket to socket.
    """
    for name, requests in (
            ("avg_tor_drd_miss_latency_ns", "TOR_INSERTS.03{opc=0x182}"),
            ("avg_ingress_latency_ns", "RxR_INSERTS.01")):
        metric, = [metric for metric in METRICS if metric.name == name]
        weight = Metric(metric.box, "weight", "", requests).terms[0]
        batch = Batch()
        batch.take(metric.terms, metric)
        run = Run([batch])
        path = os.path.join(folder, "traffic")
        run.write_traffic(path, packages)
        shown = Uncore("stat", "-M", name, "--json",
                       command=["sh", "-c", "cat %s > %straffic" % (path, SIM)])
        row, = shown.json()["metrics"]
        whole = total = 0
        for package in range(packages):
            part = run.count(weight, (), WAVES, package)
            whole += part
            total += part * metric.value(
                [run.count(term, metric.terms, WAVES, package)
                 for term in metric.terms], SECONDS=row["seconds"],
                BOXES=len(pmus(metric.box)))
        # The sockets' events are enabled for slightly different times, so 2 % are allowed.
        # A quotient of sums over the sockets would be wrong by 12 % and 17 %.
        tap.ok(math.isclose(row["value"], total / whole, rel_tol=0.02),
               "machine: %s is the mean of %d sockets" % (name, packages),
               ["got %r, want %r" % (row["value"], total / whole),
                *shown.comments()])


def main():
    tap = Tap()
    waves = WAVES
    listed = [row["metric"] for row in
              Uncore("list", "metrics", "--json").json()["metrics"]]
    differ = set(listed) ^ {metric.name for metric in METRICS}
    tap.ok(not differ and len(listed) == len(METRICS),
           "the catalogue's %d metrics have a formula each" % len(listed),
           sorted(differ))
    with Machine(tap, sim=SIZE) as machine, \
            tempfile.TemporaryDirectory() as folder:
        verdicts = Verdicts(machine.packages)
        done = 0
        for run in runs():
            verdicts.judge(run, play(run, folder, machine.packages), waves)
            done += 1
        test_machine(tap, folder, machine.packages)
        late = [metric for metric in METRICS if apart(metric)]
        for metric in late:
            if "INSTRUCTIONS" in metric.formula:
                judge_instructions(verdicts, metric, folder, waves)
        write(SIM + "clock", "real")
        for metrics, terms in families(
                [metric for metric in late if not fit(metric.terms)]):
            estimate(verdicts, metrics, terms)
            done += 1
    for metric in METRICS:
        wrong = list(verdicts.wrong[metric.name])
        if apart(metric):
            for term in metric.terms:
                wrong += verdicts.terms.get(term.key(), [])
        tap.ok(not wrong, "%s = %g %s" % (
            metric.name, verdicts.values.get(metric.name, math.nan),
            metric.unit), [*wrong, metric.formula])
    tap.say("%d runs" % done)
    tap.end()


if __name__ == "__main__":
    main()
