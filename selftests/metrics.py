#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Every metric of events/hswep/metrics.json on the simulated hardware: stock
"perf stat" counts the events of its expression for a known number of cycles,
and the value must be the one that a loop over the catalogue's waves gives.
Where an event has a filter, transactions pass as well, some of which the filter
must keep out. One perf counts all metrics of a box type, each in cycles of its
own: perf starts with all events disabled, and its control file enables them in
turn.
"""

import functools
import json
import math
import os
import re
import select
import subprocess
import tempfile

from lib.uncore import BUILD, SIM, Machine, Tap, catalogue, pmus, read

CYCLES = 1009               # of the first measurement
PATIENCE = 300              # seconds that perf may take to start
TERM = re.compile(r"hswep_([a-z0-9]+)@([^@]+)@")
# Not from the uncore: the same made-up value goes into both sides.
INSTRUCTIONS = 987654321
MODIFIERS = ("edge", "inv", "thresh")


# --- what a count must be ----------------------------------------------------

class Wave:
    """A row of the catalogue's table: what an event does in each cycle."""

    def __init__(self, row):
        (self.box, self.name, _, config, config1, config2, _, max_inc,
         self.rule, _, values) = row
        self.code = int(config, 16) & 0xff | int(config, 16) >> 13 & 0x100
        self.umask = int(config, 16) >> 8 & 0xff
        # of QPI's names, the packet filter
        self.match, self.mask = int(config1, 16), int(config2, 16)
        self.max_inc = int(max_inc)
        self.values = [int(value) for value in values.split(",")]

    def at(self, cycle):
        return self.values[cycle % len(self.values)]


class Sum:
    """Subevents that have no name together, as far as a cycle can count."""

    def __init__(self, waves):
        self.waves = waves
        self.max_inc = max(wave.max_inc for wave in waves)

    def at(self, cycle):
        return min(sum(wave.at(cycle) for wave in self.waves), self.max_inc)


@functools.cache
def scales(box):
    """By event, of the numbers that perf shows; metrics are of plain counts."""
    return {event["EventName"]: float(re.match(r"[0-9.]+(e[+-]?[0-9]+)?",
                                               event["ScaleUnit"]).group())
            for event in catalogue(box) if "ScaleUnit" in event}


def read_waves():
    path = os.environ.get("UNCORE_CATALOGUE",
                          os.path.join(BUILD, "..", "catalogue.tsv"))
    with open(path, encoding="utf-8") as file:
        return [Wave(line.rstrip("\n").split("\t")) for line in file]


class Term:
    """hswep_BOX@...@ in an expression: an event and how it is counted."""

    def __init__(self, box, text):
        self.box = box
        self.text = re.sub(r"\\(.)", r"\1", text)
        self.name, self.fields = None, {}
        for part in self.text.split(","):
            key, _, value = part.partition("=")
            if value:
                self.fields[key] = int(value, 0)
            else:
                self.name = key

    def wave(self, waves, others):
        """What its counter sees; @others are counted together with it."""
        if self.name == "counter0_occupancy":
            self, = [term for term in others if term.name != self.name]
        if self.name:
            found, = [wave for wave in waves
                      if (wave.box, wave.name) == (self.box, self.name)]
            return found
        code, umask = self.fields["event"], self.fields.get("umask", 0)
        like = [wave for wave in waves
                if wave.box == self.box and wave.code == code]
        for wave in like:
            if wave.umask == umask:
                return wave
        return Sum([wave for wave in like if wave.rule == "any" and
                    wave.umask.bit_count() == 1 and wave.umask & umask])

    def expected(self, wave, start, cycles):
        """Threshold first, then invert and edge (§1.4), cycle by cycle."""
        edge, invert, thresh = (self.fields.get(key, 0) for key in MODIFIERS)

        def level(cycle):
            return (wave.at(cycle) >= thresh) != bool(invert)

        count = 0
        for cycle in range(start, start + cycles):
            if not thresh:
                count += wave.at(cycle)
            elif level(cycle) and not (edge and level(cycle - 1)):
                count += 1
        return count


# --- transactions: what passes a filter --------------------------------------

class Packets:
    """Some equal transactions, one for each value of traffic's keys."""

    def __init__(self, wave, count, keys):
        self.box, self.code, self.umask = wave.box, wave.code, wave.umask
        self.count = count
        self.keys = keys

    def in_package(self, package):
        """Packages differ, so that a mix-up shows."""
        return self.count + 7 * package

    def lines(self, packages):
        box = pmus(self.box)[0].removeprefix("hswep_")
        keys = "".join(" %s=%#x" % item for item in self.keys.items())
        for package in range(packages):
            yield "pkg=%d box=%s event=%#x umask=%#x count=%d%s\n" % (
                package, box, self.code, self.umask,
                self.in_package(package), keys)


def lowest(bits):
    return bits & -bits


def packet_filter(term, wave):
    return (wave.match | term.fields.get("match0", 0),
            wave.mask | term.fields.get("mask0", 0))


def packets(terms, waves):
    """For each term with a filter, what passes it and what does not."""
    for number, term in enumerate(terms):
        wave = term.wave(waves, terms)
        passing, other = {}, {}
        if term.box == "cbox":
            passing = {key.removeprefix("filter_"): value
                       for key, value in term.fields.items()
                       if key.startswith("filter_")}
            if "state" in passing:
                other["state"] = lowest(~passing["state"] & 0x7f)
                passing["state"] = lowest(passing["state"])
            other.update((key, passing[key] ^ 1)
                         for key in ("opc", "tid", "nc") if key in passing)
        elif term.box == "qpi":
            match, mask = packet_filter(term, wave)
            if mask:
                passing = {"match0": match & 0xffffffff,
                           "match1": match >> 32}
                other = {"match0": passing["match0"] ^ lowest(mask)}
        if passing:
            yield Packets(wave, 1000 + 100 * number, passing)
        for key, value in other.items():
            if value != passing[key]:
                yield Packets(wave, 2000 + 100 * number,
                              {**passing, key: value})


def passes(term, wave, p):
    """Does a counter of @term take @p? (§2.3.2.3, §2.9.2.3)"""
    if wave.code != p.code:
        return False
    if term.box == "qpi":
        match, mask = packet_filter(term, wave)
        packet = p.keys["match0"] | p.keys["match1"] << 32
        return packet & mask == match & mask
    fields = term.fields
    conditions = wave.umask & p.umask
    return ((conditions == wave.umask if wave.rule == "all" else conditions)
            and fields.get("filter_opc", p.keys.get("opc")) == p.keys.get("opc")
            and (not fields.get("tid_en") or
                 fields.get("filter_tid", 0) == p.keys.get("tid", 0))
            and (not fields.get("filter_nc") or p.keys.get("nc", 0))
            and ("filter_state" not in fields or
                 fields["filter_state"] & p.keys.get("state", 0)))


# --- counting with perf ------------------------------------------------------

class Job:
    """Terms that are counted together, in cycles of their own."""

    def __init__(self, label, terms):
        self.label = label
        self.terms = terms
        self.start = self.cycles = None
        self.packets = []
        self.counts = {}

    def events(self):
        """perf's -e: a group in every box, named so that control finds it."""
        for pmu in pmus(self.terms[0].box):
            yield "{%s}" % ",".join(
                "%s/%s,name=%s_%d/" % (pmu, term.text, self.label, i)
                for i, term in enumerate(self.terms))

    def play(self, number, waves, packages):
        """What the hardware does while this is counted."""
        self.start, self.cycles = Machine.cycles(), CYCLES + number
        # counter 0's transactions would be the relay's as well
        if all(term.name != "counter0_occupancy" for term in self.terms):
            self.packets = list(packets(self.terms, waves))
        with open(SIM + "advance", "w", encoding="ascii") as file:
            file.write("%d" % self.cycles)
        with open(SIM + "traffic", "w", encoding="ascii") as file:
            for p in self.packets:
                file.writelines(p.lines(packages))

    def expected(self, term, waves, package):
        wave = term.wave(waves, self.terms)
        return len(pmus(term.box)) * term.expected(
            wave, self.start, self.cycles) + sum(
                p.in_package(package) for p in self.packets
                if passes(term, wave, p))

    def take(self, shown):
        """Counts by socket and term, summed over the boxes."""
        for i, term in enumerate(self.terms):
            scale = scales(term.box).get(term.name, 1.0)
            for socket in shown:
                self.counts[socket, term.text] = sum(
                    whole(value, scale)
                    for value in shown[socket]["%s_%d" % (self.label, i)])


def whole(value, scale):
    """The count behind a scaled number that perf has rounded for show."""
    try:
        count = float(value) / scale
    except ValueError:      # "<not counted>"
        return math.nan
    return round(count) if abs(count - round(count)) < 0.1 else math.nan


class Perf:
    """A perf stat whose events are enabled and disabled by name."""

    def __init__(self, folder, jobs):
        paths = [os.path.join(folder, name) for name in
                 ("control", "answers", "output", "errors")]
        self.output, self.errors = paths[2:]
        for path in paths[:2]:
            if not os.path.exists(path):
                os.mkfifo(path)
        # for both directions, so that opening does not wait for perf
        self.control, self.answers = (os.open(path, os.O_RDWR)
                                      for path in paths[:2])
        command = ["perf", "stat", "-a", "--per-socket", "-j", "-D", "-1",
                   "-o", self.output, "--control", "fifo:%s,%s" %
                   (paths[0], paths[1])]
        for job in jobs:
            command += ["-e", ",".join(job.events())]
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(command + ["--", "cat"],
                                            stdin=subprocess.PIPE,
                                            stderr=errors)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        os.close(self.control)
        os.close(self.answers)

    def say(self, words):
        os.write(self.control, words.encode() + b"\n")
        for _ in range(PATIENCE):
            if select.select([self.answers], [], [], 1)[0]:
                answer = os.read(self.answers, 64).strip(b"\0\n")
                if answer == b"ack":
                    return
            if self.process.poll() is not None:
                break
        raise OSError("perf does not %s: %s" % (words, read(self.errors)))

    def shown(self):
        """The values that perf has printed, by socket and event."""
        values = {}
        with open(self.output, encoding="utf-8") as file:
            for line in file:
                if line[0] == "{":
                    row = json.loads(line)
                    values.setdefault(row["socket"], {}).setdefault(
                        row["event"], []).append(row["counter-value"])
        return values


def measure(jobs, waves, packages, folder):
    """Let perf count each job; then its counts are in job.counts."""
    with Perf(folder, jobs) as perf:
        for number, job in enumerate(jobs):
            perf.say("enable %s_0" % job.label)
            job.play(number, waves, packages)
            perf.say("disable %s_0" % job.label)
    shown = perf.shown()
    for job in jobs:
        job.take(shown)


# --- metrics -----------------------------------------------------------------

class Metric:
    """A metric, and the jobs that count its terms."""

    def __init__(self, facts, jobs):
        self.name = facts["MetricName"]
        self.box = facts["Box"]
        self.text = facts["MetricExpr"]
        self.terms = {}
        for box, text in TERM.findall(self.text):
            term = Term(box, text)
            self.terms[term.text] = term
        apart = facts.get("MetricConstraint") == "NO_GROUP_EVENTS"
        groups = [list(self.terms.values())]
        if apart:
            groups = [[term] for term in self.terms.values()]
        self.jobs = [self._job(jobs, group) for group in groups]

    def _job(self, jobs, group):
        """Metrics with the same terms are counted once."""
        key = (self.box,) + tuple(term.text for term in group)
        if key not in jobs:
            jobs[key] = Job("m%d" % len(jobs), group)
        return jobs[key]

    def value(self, counts, seconds):
        """The expression with these counts, of one package."""
        def term(match):
            return "count[%r]" % Term(*match.groups()).text

        names = {"count": counts, "duration_time": seconds,
                 "instructions": INSTRUCTIONS, "__builtins__": {}}
        text = re.sub(r"source_count\(%s\)" % TERM.pattern,
                      str(len(pmus(self.box))), self.text)
        return eval(TERM.sub(term, text), names)

    def measured(self, socket, seconds):
        return self.value({term.text: job.counts[socket, term.text]
                           for job in self.jobs for term in job.terms}, seconds)

    def wanted(self, waves, package, seconds):
        return self.value({term.text: job.expected(term, waves, package)
                           for job in self.jobs for term in job.terms}, seconds)

    def injected(self):
        words = [word for word in ("duration_time", "instructions")
                 if word in self.text]
        return " (%s injected)" % " and ".join(words) if words else ""


def sockets_of(metric):
    return sorted({socket for job in metric.jobs for socket, _ in job.counts})


def judge(tap, metric, waves, packages):
    """One result line: each package's value is the one that the waves give."""
    seconds = 0.25 + metric.jobs[0].cycles / 4096
    sockets = sockets_of(metric)
    wrong = []
    want = got = math.nan
    if len(sockets) != packages:
        wrong.append("%d packages of %d" % (len(sockets), packages))
    try:
        for package, socket in enumerate(sockets):
            want = metric.wanted(waves, package, seconds)
            got = metric.measured(socket, seconds)
            if not math.isclose(got, want, rel_tol=1e-9):
                wrong.append("package %d: got %r, want %r" %
                             (package, got, want))
    except ZeroDivisionError:
        wrong.append("division by zero")
    if wrong:
        wrong += ["%s: counted %s, start %s, cycles %s" %
                  ([term.text for term in job.terms], job.counts, job.start,
                   job.cycles) for job in metric.jobs]
        wrong.append(metric.text)
    tap.ok(not wrong, "%s = %g%s" % (metric.name, want, metric.injected()),
           wrong)


def main():
    tap = Tap()
    waves = read_waves()
    jobs = {}
    with Machine(tap) as machine, tempfile.TemporaryDirectory() as folder:
        metrics = [Metric(facts, jobs) for facts in catalogue("metrics")]
        for box in dict.fromkeys(metric.box for metric in metrics):
            measure([job for key, job in jobs.items() if key[0] == box], waves,
                    machine.packages, folder)
        for metric in metrics:
            judge(tap, metric, waves, machine.packages)
        tap.say("%d metrics, %d measurements" % (len(metrics), len(jobs)))
    tap.end()


if __name__ == "__main__":
    main()
