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
from gen.roles import boxes_by

PACKAGES, SECONDS = 1, 0.37
# Events that the in-tree driver names in sysfs
KERNEL_EVENTS = {"cas_count_read": "cas_count.rd", "cas_count_write": "cas_count.wr"}
# Names that Intel's event files have as old names of other events, of the same encodings
OLD_NAMES = {"payload_bytes_in": "data_req_of_cpu"}
UNITS = {"GiB/s": 2 ** 30, "GB/s": 1e9, "MB/s": 1e6, "MB/sec": 1e6}
SAME_UNIT = {"percent": "%", "per_instr": "", "per instruction": ""}
RELAY = "counter0_occupancy"        # counts the event of counter 0 above a threshold
TOR_OCCUPANCY = 0x36                # counter 0 alone counts it
INSTRUCTIONS = 987654321
UNCORE = re.compile(r"\bUNC_|\b(cbox|cha|imc|uncore_\w+|arb)(_\d+)?@", re.I)
REFERENCE = re.compile(r"([a-z0-9_]+)@((?:\\.|[^@\\])+)@")
EVENT = re.compile(r"\bUNC_[A-Z0-9]+_\w+(?:\.\w+)*")


class Unknown(Exception):
    """A formula has a name that is neither an event nor one of Counts.names."""


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
        self.generation = generation
        self.boxes = boxes_by(generation, "Other")      # by name in a PMU's name
        self.letters = boxes_by(generation, "Perf")     # by name in an event's name
        self.events = {(box.name, event.name): event for box in generation.boxes
                       for event in box.events}
        self.counter0 = None        # the words of the event that counter 0 counts
        slices, = (number(box) for box in generation.boxes if box.part == "slice")
        self.names = {
            "duration_time": SECONDS, "DURATIONTIMEINSECONDS": SECONDS,
            "DURATIONTIMEINMILLISECONDS": SECONDS * 1000,
            "instructions": INSTRUCTIONS, "INST_RETIRED.ANY": INSTRUCTIONS,
            "CORES_PER_SOCKET": slices, "CHAS_PER_SOCKET": slices, "SOCKET_COUNT": PACKAGES,
            "#num_cores": slices * PACKAGES, "#num_packages": PACKAGES,
            "#num_dies": PACKAGES}

    def words(self, box, name, fields):
        """Return config, config1 and config2 of an event with more fields."""
        words = [0, 0, 0]
        if name == RELAY:
            words = list(self.counter0)
        elif name is not None:
            if (box.name, name) not in self.events:
                raise Unknown("%s has no event %s" % (box.name, name))
            words = self.events[box.name, name].config()
        for field, text in fields.items():
            value = int(text, 0)
            whole = re.fullmatch(r"config([12]?)", field)
            if whole:
                words[int(whole.group(1) or 0)] |= value
            elif field == "filter1":            # the second filter register
                words[1] |= value << 32
            else:
                place = box.format.get(field) or box.format.get("filter_" + field)
                if not place:
                    raise Unknown("%s has no field %s" % (box.name, field))
                words[place.word] |= place.place(value)
        if "tid_en" in box.format:              # Intel's files leave it out
            words[0] &= ~box.format["tid_en"].mask
        return words

    @staticmethod
    def keys(box, words):
        """Return a key for each port whose count is in an event's, or the only key."""
        ports = box.format.get("ch_mask")
        if (box.part, words[0] & 0xff) in (("slice", 0), ("clock", 0xff)):
            return ["uncore clock"]             # all boxes have one
        if not ports or not words[0] & ports.mask:
            return [(box.name, *words)]
        rest = words[0] & ~ports.mask
        return [(box.name, rest | 1 << bit, *words[1:]) for bit in ports.bits
                if words[0] >> bit & 1]

    def of(self, box, name, fields, one_box=False):
        """Return the count of an event in all boxes, or in one box."""
        words = self.words(box, name, fields)
        if name != RELAY and words[0] & 0xff == TOR_OCCUPANCY:
            self.counter0 = words
        count = sum(random.Random(repr(key)).randrange(10 ** 6, 10 ** 7)
                    for key in self.keys(box, words))
        return count * (1 if one_box else number(box) * PACKAGES)

    def box_and_name(self, text):
        """Return cbox and "tor_inserts.opcode" for UNC_C_TOR_INSERTS.OPCODE."""
        letters, rest = re.fullmatch(r"unc_([a-z0-9]+)_(.*)", text.lower()).groups()
        if letters not in self.letters:
            raise Unknown("%s: no box type has events UNC_%s_*" % (text, letters.upper()))
        first, dot, rest = rest.partition(".")
        return self.letters[letters], OLD_NAMES.get(first, first) + dot + rest

    def box_of(self, pmu):
        """Return the box type of a PMU's name, and whether it has the number of a box."""
        name, one = re.fullmatch(r"(?:uncore_|%s_)?(\w+?)(_\d+)?" % self.generation.name,
                                 pmu).groups()
        if name not in self.boxes:
            raise Unknown("%s has no PMU %s" % (self.generation.name, pmu))
        return self.boxes[name], bool(one)

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
        box, name = self.box_and_name(name)
        return self.of(box, name, fields, "one_unit" in terms)

    def reference(self, match):
        """Return the count of PMU@EVENT\\,FIELD\\=VALUE@."""
        pmu, text = match.groups()
        terms = re.sub(r"\\(.)", r"\1", text).split(",")
        name = None if "=" in terms[0] else terms.pop(0)
        fields = dict((term.split("=") + ["1"])[:2] for term in terms)
        box, one_box = self.box_of(pmu)
        if name and name.lower().startswith("unc_"):
            name = self.box_and_name(name)[1]
        return str(self.of(box, KERNEL_EVENTS.get(name, name), fields, one_box))

    def our_value(self, metric):
        """Return the value of a metric of the catalogue in the base unit, and the unit."""
        self.counter0 = None
        text = re.sub(r"source_count\((\w+)@[^@]*@\)",
                      lambda match: str(number(self.box_of(match.group(1))[0]) * PACKAGES),
                      metric.expression)
        # the event of counter 0 may stand after the relay in the expression
        for match in REFERENCE.finditer(text):
            if RELAY not in match.group():
                self.reference(match)
        scale, unit = re.fullmatch(r"([0-9.]*)(.*)", metric.unit or "1").groups()
        return evaluate(REFERENCE.sub(self.reference, text), self.names) * \
            float(scale or 1) * UNITS.get(unit, 1), unit

    def their_value(self, metric, unit):
        """Return the value of a reading's metric in the base unit, and the unit."""
        names = dict(self.names)
        for alias, event in metric.events.items():
            if event.startswith("UNC_"):
                names[alias] = self.named(event)
            elif event in self.names:
                names[alias] = self.names[event]
        text = REFERENCE.sub(self.reference, metric.expression)
        # the boxes of a package
        text = re.sub(r"source_count\((UNC_[\w.]+)\)", lambda match: str(number(
            self.box_and_name(match.group(1))[0])), text)
        text = EVENT.sub(lambda match: str(self.named(match.group())), text)
        for name, value in self.names.items():
            if not name.isidentifier():
                text = text.replace(name, str(value))
        unit = metric.unit or unit
        return evaluate(text, names) * UNITS.get(unit, 1), SAME_UNIT.get(unit, unit)


def number(box):
    """Return the number of boxes of a type in a package."""
    return int(box.registers["Boxes"], 0)


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
        self.source = raw.get("Source")
        self.ours, self.unit = raw.get("Ours"), raw.get("Unit", "")
        self.reason = raw.get("Reason", "")
        self.used = set()

    def covers(self, generation, source, name):
        return (name in self.theirs and self.source in (None, source) and
                generation.name in (self.generations or [generation.name]))

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


def compare(generation, source, mappings, metrics):
    """Return the number of a reading's metrics of each kind, and the faults."""
    numbers, faults = {"the same": 0, "with another formula": 0, "missing here": 0}, []
    for theirs in metrics:
        if not theirs.is_uncore():
            continue
        covering = [mapping for mapping in mappings
                    if mapping.covers(generation, source, theirs.name)]
        # a row for one reading comes before a row for all
        covering = [mapping for mapping in covering if mapping.source] or covering
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
