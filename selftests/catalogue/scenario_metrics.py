#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the scenarios on the simulated hardware; with the argument "generation" no more than
the metrics. While a scenario plays, each metric that has
a cause is computed from the counts of "uncore stat" and must have the cause's value within
1 %. The rates of events are exact, also if rates are changed between two reads.

All boxes of most types have the same rates, so that each box counts other events and many
events are counted at once. The formulas are those of lib/python/metric_causes.py. "uncore
stat -M" is tested with metrics whose events fit into the counters together.
"""

import errno
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.metric_causes import FIXED, METRICS, is_relay  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import (GENERATION, SIM, TOP, Machine, Tap, pmus,  # noqa: E402
                               read, running_clock, write)
from metrics import count, fit
from scenarios import causes, flow
from scenarios.expected import NO_CAUSE, expected
from scenarios.player import start

PLAY = os.path.join(TOP, "selftests", "scenarios", "play")
PARAMETERS = causes.parameters(GENERATION)
# Three links where the third has a packet filter (since Haswell): events that use this
# filter would be multiplexed, and another link can count one more at once.
SIZE = [("%s=%d" % item).replace(
    "qpi_ports=2", "qpi_ports=2" if GENERATION in ("ivbep", "snbep") else
    "qpi_ports=3") for item in PARAMETERS.items()]
CYCLES = 2000000000         # all counts of a PCI box stay below 2^31
CLOSE = 0.01
PACKETS = ("qpi", 0x138)    # which only this scenario has many of:
PACKETS_IN = "numa"


# Box types whose boxes have different rates: they count the same events.
UNEVEN = ("iio", "irp")


# --- rates of events -----------------------------------------------------------

def counted(event, *steps):
    """Count an event in package 0 while @steps are written: rates (str) or cycles (int)."""
    script = "".join("echo '%s' > %s%s && " % (
        step, SIM, "advance" if isinstance(step, int) else "rates")
        for step in steps) + "true"
    numbers = count([], [event], command=["sh", "-c", script])
    row = numbers.events.get((event, 0))
    return row["raw"] if row else numbers.comments


def test_rates(tap):
    reads, event = "pkg=0 box=ha_0 event=1 umask=1 ", "ha_0/requests.reads/"
    for name, want, steps in (
            ("a waveform until there is a rate", None, (1000,)),
            ("0.1 in 10, 25, 65 cycles", 10, (reads + "rate=0.1", 10, 25, 65)),
            ("3.75, then 0.25: the fraction of the next one is kept", 4,
             (reads + "rate=3.75", 1, reads + "rate=0.25", 1)),
            ("0 is a rate", 0, (reads + "rate=0", 1000)),
            ("nine digits", 1, (reads + "rate=0.000000001", 10 ** 9)),
            ("on: what has no rate is 0", 0, ("off", "on", 1000)),
            ("off: the waveform", None, ("off", 1000))):
        got = counted(event, *steps)
        tap.ok(got == want if want is not None else got and got < 1000 * 16,
               "rates: %s" % name, ["got %r, want %r" % (got, want)])
    write(SIM + "rates", "on")
    write(SIM + "rates", "pkg=1 box=cbox event=0x35 umask=0x03 opc=0x182 rate=2")
    tap.ok(read(SIM + "rates") == "on %d" % len(pmus("cbox")),
           "rates: a type of box is all its boxes", [read(SIM + "rates")])
    got = []
    for opcode in ("0x182", "0x180"):
        event = "cbox/tor_inserts.miss_opcode,filter_opc=%s/" % opcode
        numbers = count([], [event], command=[
            "sh", "-c", "echo 100 > %sadvance" % SIM])
        got += [numbers.events.get((event, socket), {}).get("raw")
                for socket in (0, 1)]
    tap.ok(got == [0, 200 * len(pmus("cbox")), 0, 0],
           "rates: filters take what they take of traffic",
           [repr(got), *numbers.comments])


def test_bad(tap):
    before = read(SIM + "rates")
    good = "pkg=0 box=imc_0 event=4 umask=1 rate=1"
    wrong = []
    for line in (
            "onn", "off now", "rate=1", "box=imc_0 rate=1", "box=imc_0 event=4",
            good.replace("rate=1", "rate="), good.replace("=1 rate", "=1 rat"),
            good + " rate=2", good + " count=3", good + " value=2",
            *(good.replace("rate=1", "rate=" + text) for text in (
                "-1", "1.", ".5", "1e3", "0x1", "256", "0.0000000001", "1.2.3",
                "+1", "nan", "99999999999999999999", "1.-5")),
            good.replace("imc_0", "imc_4"), good.replace("imc_0", "box"),
            good.replace("event=4", "event=0xf7"),
            good.replace("pkg=0", "pkg=9")):
        try:
            write(SIM + "rates", line)
            wrong.append("%s: taken" % line)
        except OSError as error:
            if error.errno != errno.EINVAL:
                wrong.append("%s: %s" % (line, error))
        if read(SIM + "rates") != before:
            wrong.append("%s: changed something" % line)
    # A box takes 128 rates. A rate for all boxes of a type is refused if one box is full.
    for i in range(200):
        try:
            write(SIM + "rates", "box=imc_3 event=4 umask=1 rate=1 addr=%d" % i)
        except OSError:
            break
    full = read(SIM + "rates")
    try:
        write(SIM + "rates", "box=imc event=4 umask=1 rate=1 addr=999")
        wrong.append("a 129th rate: taken")
    except OSError:
        pass
    if i != 128 or read(SIM + "rates") != full:
        wrong.append("%d rates of a box, %s, %s" % (
            i, full, read(SIM + "rates")))
    tap.ok(not wrong, "rates: bad lines are refused, and change nothing", wrong)
    write(SIM + "rates", "off")
    tap.ok(read(SIM + "rates") == "off 0", "rates: off forgets them",
           [read(SIM + "rates")])


def test_mixed(tap):
    """The frequencies of a scenario do not remain after its end."""
    done = subprocess.run([sys.executable, PLAY, "--for", "4", "mixed"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)
    event = "pcu/freq_band0_cycles,filter_band0=0/"
    numbers = count([], [event], command=[
        "sh", "-c", "echo 1000000 > %sadvance" % SIM])
    got = numbers.events.get((event, 0), {}).get("raw")
    want = causes.MACHINE["pclk_khz"] * 1000000 // causes.MACHINE["uclk_khz"]
    tap.ok(done.returncode == 0 and got == want,
           "mixed: a package has one frequency, after some of them",
           ["got %r, want %r" % (got, want), done.stdout, *numbers.comments])


def test_possible(tap):
    """Multiplexed metrics have no impossible value while the traffic changes."""
    wrong, values, advice = [], [], True
    with running_clock(), subprocess.Popen(
            [sys.executable, PLAY, "--for", "30", "mixed"],
            stdout=subprocess.DEVNULL) as player:
        for _ in range(3):
            run = Uncore("stat", "-M", "llc", "-d", "2", "--per-socket",
                         "--json")
            advice &= "are multiplexed" in run.err and \
                "count them apart (-M " in run.err
            rows = run.json()["metrics"] if run.status == 0 else []
            values += [row["value"] for row in rows]
            wrong += run.comments()[:2] if not rows else [
                "%s" % row for row in rows
                if (row["value"] is not None and
                    not 0 <= row["value"] <= (
                        100 if row["unit"] == "%" else math.inf)) or
                (row["value"] is not None and
                 (row["error"] or 0) > abs(row["value"])) or
                (row["value"] is None and "reason" in row and not re.search(
                    "not possible|has an error of|no event was seen",
                    row["reason"]))]
        player.terminate()
    write(SIM + "rates", "off")
    tap.ok(not wrong and len(values) - values.count(None) > len(values) / 2,
           "mixed: of %d values of stat -M llc none is impossible" %
           len(values), wrong + ["%d have none" % values.count(None)])
    tap.ok(advice, "and it says how to count them apart")


# --- events that are counted together -----------------------------------------

def packets_only(terms):
    return any((term.box, term.code) == PACKETS for term in terms)


def units(box):
    """Lists of terms that one box must count: a relay with its counter 0, or one term."""
    singles, relays = {}, {}
    for metric in METRICS:
        if metric.box != box or metric.name in NO_CAUSE:
            continue
        if any(map(is_relay, metric.terms)):
            relays[metric.name] = metric.terms
        else:
            singles.update({(term.key(),): [term] for term in metric.terms})
    everything = [*relays.items(), *singles.items()]
    return sorted(everything, key=lambda unit: packets_only(unit[1]))


def batches(box):
    """Put the lists of units() into batches for one box each: {name: terms}."""
    made = []
    for name, terms in units(box):
        for batch in made:
            there = {term.key(): term for one in batch.values() for term in one}
            if not any(map(is_relay, there.values())) and fit(
                    list({**there,
                          **{term.key(): term for term in terms}}.values())):
                break
        else:
            batch = {}
            made.append(batch)
        batch[name] = terms
    return made


def rows():
    """Yield the batches of one run: by box type, a batch for each box."""
    columns = {}
    for box in sorted({metric.box for metric in METRICS}):
        made, many = batches(box), 1 if box in UNEVEN else len(pmus(box))
        columns[box] = [made[i:i + many] for i in range(0, len(made), many)]
    for i in range(max(map(len, columns.values()))):
        yield {box: column[i] for box, column in columns.items()
               if i < len(column)}


def event_of(term, instance):
    alike = len(pmus(term.box)) > 1 and term.box not in UNEVEN
    where = "%s_%d" % (term.box, instance) if alike else term.box
    if term.code == FIXED:
        return where + ("/uclk/" if term.box == "ubox" else "/dclk/")
    more = ",thresh=%#x/" % term.thresh if term.thresh else "/"
    return term.event(where).removesuffix("/") + more


class Counts:
    """Counts of all boxes of each socket, by the names of units()."""

    def __init__(self, sockets):
        self.of = [{} for _ in range(sockets)]
        self.wrong = []

    def take(self, row):
        wanted = [(name, i, term, event_of(term, instance))
                  for column in row.values()
                  for instance, batch in enumerate(column)
                  for name, terms in batch.items()
                  for i, term in enumerate(terms)]
        numbers = count([], [event for *_, event in wanted],
                        command=["sh", "-c", "echo %d > %sadvance" % (
                            CYCLES, SIM)])
        for name, i, term, event in wanted:
            for socket, counts in enumerate(self.of):
                one = numbers.events.get((event, socket))
                if not one or one["running"] != 1:
                    self.wrong += ["%s of socket %d: %r" % (
                        event, socket, one), *numbers.comments[:3]]
                    continue
                counts[name, i] = one["raw"] * (
                    1 if term.box in UNEVEN else len(pmus(term.box)))

    def value(self, metric, socket):
        """A metric's value for one second of the simulated machine's time."""
        seconds = CYCLES / (PARAMETERS["uclk_khz"] * 1e3)
        counts = [self.of[socket].get(
            (metric.name, i) if any(map(is_relay, metric.terms)) else
            ((term.key(),), 0), math.nan)
            for i, term in enumerate(metric.terms)]
        try:
            value = metric.value(counts, SECONDS=seconds,
                                 BOXES=len(pmus(metric.box)))
        except ZeroDivisionError:
            return math.nan
        return value / (seconds if volume(metric) else 1)


def volume(metric):
    """Check if a metric's value grows with time, as a count does."""
    return metric.unit in ("Bytes", "MB") or \
        not metric.unit and " / " not in metric.formula


# --- scenarios ----------------------------------------------------------------

def at_once():
    """Metrics whose events fit into the counters together."""
    chosen, terms = [], {}
    for metric in METRICS:
        more = {term.key(): term for term in metric.terms}
        both = {**terms.get(metric.box, {}), **more}
        if metric.name not in NO_CAUSE and fit(list(both.values())) and \
                not any(map(is_relay, both.values())):
            terms[metric.box] = both
            chosen.append(metric)
    return chosen


def of_command(row, metric, seconds):
    """
    The value of a row of "uncore stat -M" for the simulated machine's time. The clock is
    manual, so the seconds that uncore measures are not the simulated seconds.
    """
    if volume(metric):
        return row["value"] / seconds
    if metric.unit in ("GiB/s", "GT/s", "GHz"):
        return row["value"] * row["seconds"] / seconds
    if metric.unit == "ns":
        return row["value"] * seconds / row["seconds"]
    return row["value"]


def near(got, want):
    return got is not None and math.isclose(got, want, rel_tol=CLOSE,
                                            abs_tol=1e-9)


def test_scenario(tap, name, everything, together):
    _, hardware = start(name)
    sockets = flow.sockets(hardware, causes.at(name, 0, hardware.packages))
    want = [expected(socket, sockets[1 - i].causes)
            for i, socket in enumerate(sockets)]
    counts, done = Counts(len(sockets)), set()
    for row in everything:
        if name != PACKETS_IN:      # leave out batches that count packets only
            row = {box: column for box, column in (
                (box, [{unit: terms for unit, terms in batch.items()
                        if not packets_only(terms)} for batch in column])
                for box, column in row.items()) if any(column)}
        if row:
            counts.take(row)
    wrong = counts.wrong
    for metric in METRICS:
        if metric.name in NO_CAUSE or (packets_only(metric.terms) and
                                       name != PACKETS_IN):
            continue
        done.add(metric.name)
        for i, values in enumerate(want):
            got = counts.value(metric, i)
            if not near(got, values[metric.name]):
                wrong.append("%s of socket %d: %r, cause %r" % (
                    metric.name, i, got, values[metric.name]))
    tap.ok(not wrong, "%s: the causes of %d metrics" % (name, len(done)), wrong)

    wrong = []
    numbers = count(together, [], command=["sh", "-c", "echo %d > %sadvance" % (
        CYCLES, SIM)])
    for metric in together:
        for i, values in enumerate(want):
            row = numbers.metrics.get((metric.name, i))
            got = row and row["value"] is not None and of_command(
                row, metric, CYCLES / hardware.uclk)
            if not row or row["running"] != 1 or not near(
                    got, values[metric.name]):
                wrong.append("%s of socket %d: %r, %r, cause %r" % (
                    metric.name, i, got, row, values[metric.name]))
    tap.ok(not wrong, "%s: %d metrics of uncore stat -M" % (
        name, len(together)), wrong + numbers.comments[:1])
    return done


def test_controllers(tap):
    """The free-running counters of memory controllers have the lines of all channels, but
    for the line of each box that has not passed as a whole."""
    boxes = len(pmus("imc")) + len(pmus("imc_free_running"))
    start("numa")
    pairs = [("imc/cas_count.%s/" % channel, "imc_free_running/%s/" % controller)
             for channel, controller in (("rd", "read"), ("wr", "write"))]
    numbers = count([], [event for pair in pairs for event in pair], command=[
        "sh", "-c", "echo %d > %sadvance" % (CYCLES, SIM)])
    got = [[numbers.events.get((event, socket), {}).get("raw") for event in pair]
           for pair in pairs for socket in (0, 1)]
    tap.ok(all(None not in lines and lines[0] and abs(lines[0] - lines[1]) <= boxes
               for lines in got),
           "controllers count the lines of their channels", [repr(got), *numbers.comments])


def main():
    tap, whole = Tap(), sys.argv[1:] != ["generation"]
    with Machine(tap, sim=SIZE):
        if whole:
            test_rates(tap)
            test_bad(tap)
        everything, together = list(rows()), at_once()
        done = set()
        for name in causes.STEADY:
            done |= test_scenario(tap, name, everything, together)
        if pmus("imc_free_running"):
            test_controllers(tap)
        if whole:
            test_mixed(tap)
            test_possible(tap)
        names = {metric.name for metric in METRICS}
        reasons = {name: why for name, why in NO_CAUSE.items() if name in names}
        tap.ok(names - done == set(reasons),
               "all metrics but %d, each with a reason" % len(reasons),
               sorted((names - done) ^ set(reasons)))
        for name, why in reasons.items():
            tap.say("%s: %s" % (name, why))
    tap.end()


if __name__ == "__main__":
    main()
