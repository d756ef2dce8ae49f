# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compare the metrics of a reading (perf's files, Intel's files) with the catalogue's.
events/foreign-metrics.json maps each metric of a reading that has an uncore event to a
metric of the catalogue, or has the reason for its absence from the catalogue. Both
formulas are computed from the same counts. Their values must be equal, in the same unit;
if the mapping has a reason, the values must differ.
"""

import json
import math
import os
import random
import re

from gen.derived import METRICS, load

CBOXES, PACKAGES, SECONDS = 14, 1, 0.37
BOXES = {"cbox": CBOXES, "imc": 4, "qpi": 2, "ha": 2, "ubox": 1}
# Box types of the letter in an event's name, and of a PMU in an expression of perf's files
LETTERS = {"C": "cbox", "M": "imc", "Q": "qpi", "H": "ha", "U": "ubox"}
PMUS = {"cbox": "cbox", "uncore_imc": "imc", "cbox_0": "cbox"}
# Events that the in-tree driver names in sysfs
KERNEL_EVENTS = {"cas_count_read": "cas_count.rd", "cas_count_write": "cas_count.wr"}
UNITS = {"GiB/s": 2 ** 30, "GB/s": 1e9, "MB/s": 1e6, "MB/sec": 1e6}
SAME_UNIT = {"percent": "%"}
RELAY = "counter0_occupancy"        # counts the event of counter 0 above a threshold
NAMES = {"duration_time": SECONDS, "DURATIONTIMEINSECONDS": SECONDS,
         "DURATIONTIMEINMILLISECONDS": SECONDS * 1000, "CORES_PER_SOCKET": CBOXES,
         "SOCKET_COUNT": PACKAGES, "instructions": 987654321,
         "#num_cores": CBOXES * PACKAGES, "#num_packages": PACKAGES,
         "#num_dies": PACKAGES}
UNCORE = re.compile(r"\bUNC_|\b(cbox|cbox_\d+|uncore_\w+|arb)@", re.I)
REFERENCE = re.compile(r"([a-z0-9_]+)@((?:\\.|[^@\\])+)@")
EVENT = re.compile(r"\bUNC_[A-Z]_\w+(?:\.\w+)?")


class Unknown(Exception):
    """A formula has a name that is neither an event nor one of NAMES."""


class ForeignMetric:
    """A metric of a reading: a Python expression of counts, and the unit."""

    def __init__(self, name, unit, expression, events=None):
        self.name, self.unit = name, unit
        self.expression = expression
        self.events = events or {}      # by alias in the expression

    def is_uncore(self):
        return bool(UNCORE.search(" ".join([self.expression, *self.events.values()])))


def short(name):
    """The name without the prefixes that differ between versions of the files."""
    return name.lower().removeprefix("tma_").removeprefix("info_system_")


def of_perfmon(text):
    """Yield the metrics of one of Intel's files."""
    for raw in json.loads(text)["Metrics"]:
        events = {entry["Alias"]: entry["Name"]
                  for entry in raw["Events"] + raw["Constants"]}
        yield ForeignMetric(short(raw["MetricName"]), raw["UnitOfMeasure"], raw["Formula"],
                     events)


def of_perf(text):
    """Yield the metrics of one of perf's files, with the clock metrics inserted."""
    listed = {raw["MetricName"]: raw for raw in json.loads(text)
              if "MetricExpr" in raw}
    for name, raw in listed.items():
        # "100%" or "1GHz": a factor of the value, and the unit
        scale, unit = re.fullmatch(r"([0-9.e+-]*)(.*)",
                                   raw.get("ScaleUnit", "")).groups()
        expression = re.sub(
            r"(?<![\w.@\\])(\w*socket_clks)\b",
            lambda match: "(%s)" % listed[match.group()]["MetricExpr"],
            raw["MetricExpr"], flags=re.I)
        yield ForeignMetric(short(name), unit, "(%s) * %s" % (expression, scale or 1))


class Counts:
    """A count for each event of a generation, the same for each formula."""

    def __init__(self, generation):
        self.events = {(box.name, event.name): event for box in generation.boxes
                       for event in box.events}
        self.counter0 = None        # the event that counter 0 counts

    def key(self, box, code, umask, fields):
        """Return the code and the fields of an event; all boxes have one uncore clock."""
        fields = {name.removeprefix("filter_"): int(value, 0) for name, value
                  in fields.items()}
        fields.pop("tid_en", None)
        if code == 0 and box == "cbox" or (box, code) == ("ubox", 0xff):
            return "uncore clock"
        return box, code, umask, tuple(sorted(fields.items()))

    def of(self, box, name, fields, one_box=False):
        """Return the count of an event in all boxes, or in one box."""
        fields = dict(fields)
        if name is None:
            code, umask = (int(fields.pop(key, "0"), 0) for key in ("event", "umask"))
        elif name == RELAY:
            box, code, umask, more = self.counter0
            fields = {**more, **fields}
        elif (box, name) in self.events:
            event = self.events[box, name]
            code, umask = event.code, event.select[1]
        else:
            raise Unknown("%s has no event %s" % (box, name))
        if code == 0x36:
            self.counter0 = box, code, umask, fields
        count = random.Random(repr(self.key(box, code, umask, fields))).randrange(
            10 ** 6, 10 ** 7)
        return count * (1 if one_box else BOXES[box] * PACKAGES)

    def named(self, text):
        """Return the count of UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x182:tid=0x3e:c1."""
        name, *terms = text.split(":")
        fields = {}
        for term in terms:
            field, _, value = term.partition("=")
            if re.fullmatch(r"c\d+", term):
                fields["thresh"] = term[1:]
            elif value:
                fields[field] = value
        box, name = box_and_name(name)
        return self.of(box, name, fields, "one_unit" in terms)

    def reference(self, match):
        """Return the count of PMU@EVENT\\,FIELD\\=VALUE@."""
        pmu, text = match.groups()
        terms = re.sub(r"\\(.)", r"\1", text).split(",")
        name = None if "=" in terms[0] else terms.pop(0)
        fields = dict((term.split("=") + ["1"])[:2] for term in terms)
        box = PMUS.get(pmu) or re.sub(r"^[a-z0-9]+_", "", pmu)
        if name and name.startswith("UNC_"):
            name = box_and_name(name)[1]
        return str(self.of(box, KERNEL_EVENTS.get(name, name), fields, pmu == "cbox_0"))

    def our_value(self, metric):
        """Return the value of a metric of the catalogue in the base unit, and the unit."""
        self.counter0 = None
        text = re.sub(r"source_count\(\w+?_(\w+?)@[^@]*@\)",
                      lambda match: str(BOXES[match.group(1)] * PACKAGES),
                      metric.expression)
        # the event of counter 0 may stand after the relay in the expression
        for match in REFERENCE.finditer(text):
            if RELAY not in match.group():
                self.reference(match)
        scale, unit = re.fullmatch(r"([0-9.]*)(.*)", metric.unit or "1").groups()
        return evaluate(REFERENCE.sub(self.reference, text), NAMES) * \
            float(scale or 1) * UNITS.get(unit, 1), unit

    def their_value(self, metric, unit):
        """Return the value of a reading's metric in the base unit, and the unit."""
        names = dict(NAMES)
        for alias, event in metric.events.items():
            if event.startswith("UNC_"):
                names[alias] = self.named(event)
            elif event in NAMES:
                names[alias] = NAMES[event]
        text = REFERENCE.sub(self.reference, metric.expression)
        text = EVENT.sub(lambda match: str(self.named(match.group())), text)
        for name, value in NAMES.items():
            if name.startswith("#"):
                text = text.replace(name, str(value))
        unit = metric.unit or unit
        return evaluate(text, names) * UNITS.get(unit, 1), SAME_UNIT.get(unit, unit)


def box_and_name(name):
    """Return ("cbox", "tor_inserts.opcode") for UNC_C_TOR_INSERTS.OPCODE."""
    letter, rest = re.fullmatch(r"UNC_([A-Z])_(.*)", name).groups()
    return LETTERS[letter], rest.lower()


def evaluate(text, names):
    try:
        return eval(text, {**names, "__builtins__": {}, "max": max})
    except (NameError, SyntaxError) as error:
        raise Unknown("%s: %s" % (error, text)) from error


def same_unit(ours, theirs):
    return ours == theirs or ours in UNITS and theirs in UNITS


class Mapping:
    """A row of events/foreign-metrics.json."""

    def __init__(self, raw):
        self.theirs = raw["Theirs"].split()
        self.generations = raw.get("Generations", "").split()
        self.ours, self.unit = raw.get("Ours"), raw.get("Unit", "")
        self.reason = raw.get("Reason", "")
        self.used = set()

    def covers(self, generation, name):
        return name in self.theirs and generation.name in (
            self.generations or [generation.name])

    def unused(self):
        return [name for name in self.theirs if name not in self.used]

    def wrong(self, generation, theirs):
        """Yield the faults of this mapping for a metric of a reading."""
        if not self.ours:
            if not self.reason:
                yield "%s: neither Ours nor Reason" % theirs.name
            return
        ours = {metric.name: metric for metric in load(generation, METRICS)}
        if self.ours not in ours:
            yield "%s: %s has no metric %s" % (theirs.name, generation.name, self.ours)
            return
        counts = Counts(generation)
        try:
            value, unit = counts.our_value(ours[self.ours])
            their_value, their_unit = counts.their_value(theirs, self.unit)
        except Unknown as error:
            yield "%s: %s" % (theirs.name, error)
            return
        same = math.isclose(value, their_value, rel_tol=1e-9)
        if not same_unit(unit, their_unit):
            yield "%s in %r, %s in %r" % (theirs.name, their_unit, self.ours, unit)
        elif not same and not self.reason:
            yield "%s is %r, %s is %r: %s" % (theirs.name, their_value, self.ours, value,
                                              theirs.expression)
        elif same and self.reason:
            yield "%s: Reason, but %s has the same value" % (theirs.name, self.ours)


def read(events):
    """Return the mappings of a catalogue's folder."""
    with open(os.path.join(events, "foreign-metrics.json"), encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        if isinstance(row.get("Reason"), list):
            row["Reason"] = " ".join(row["Reason"])
    return [Mapping(row) for row in rows]


def compare(generation, mappings, metrics):
    """Return the number of a reading's metrics of each kind, and the faults."""
    numbers, faults = {"the same": 0, "with another formula": 0, "missing here": 0}, []
    for theirs in metrics:
        if not theirs.is_uncore():
            continue
        covering = [mapping for mapping in mappings
                    if mapping.covers(generation, theirs.name)]
        if len(covering) != 1:
            faults.append("%s: %d rows of events/foreign-metrics.json have it: %s" % (
                theirs.name, len(covering), theirs.expression))
            continue
        mapping, = covering
        mapping.used.add(theirs.name)
        faults += mapping.wrong(generation, theirs)
        numbers["missing here" if not mapping.ours else
                "with another formula" if mapping.reason else "the same"] += 1
    return numbers, faults
