# SPDX-License-Identifier: GPL-2.0-or-later
"""
Metrics, which name events in perf's expression syntax; opcodes, which name values of
filter fields; and the facts about the kernel's own driver (in-tree.json). Check that
all refer to events and fields of the catalogue.
"""

import re

from .catalogue import cited, noted
from .check import without_threshold
from .inherit import check_difference
from .schema import validate

# pmu@event\,field\=value@
REFERENCE = re.compile(r"([a-z0-9_]+)@((?:\\.|[^@\\])*)@")


class Reference:
    """An event in a metric's expression: PMU, event name and values of fields."""

    def __init__(self, pmu, text):
        self.pmu = pmu
        terms = re.sub(r"\\(.)", r"\1", text).split(",")
        # A sum of unit masks without a name is given as event=...,umask=...
        self.event = terms.pop(0) if "=" not in terms[0] else None
        self.fields = {}
        for term in terms:
            name, _, value = term.partition("=")
            self.fields[name] = value or "1"


class Metric:
    def __init__(self, raw, manual=None):
        self.name = raw["MetricName"]
        self.expression = raw["MetricExpr"]
        self.description = raw["BriefDescription"]
        self.box = raw["Box"]
        self.weight = raw.get("Weight", "")
        self.unit = raw.get("ScaleUnit")
        self.section = cited(raw["Section"], manual)
        self.note = noted(raw, manual)
        self.groups = raw["MetricGroup"].split(";")
        self.one_group = "MetricConstraint" not in raw
        # lowest and highest possible value; None: there is no highest value
        percent = (self.unit or "").endswith("%")
        low, high = raw.get("Range", "0..100" if percent else "0..").split("..")
        self.range = float(low), float(high) if high else None
        self.references = [Reference(*match) for match
                           in REFERENCE.findall(self.expression)]


class Opcode:
    def __init__(self, raw, manual=None):
        self.name = raw["Name"]
        self.box = raw["Box"]
        self.field = raw["Field"]
        self.value = int(raw["Value"], 16)
        self.message_class = raw.get("MessageClass", "")
        self.combine = raw.get("Combine")
        self.description = raw["BriefDescription"]
        self.section = cited(raw["Section"], manual)
        self.note = raw.get("Note")


METRICS, OPCODES = "metrics.json", "opcodes.json"
KEYS = {METRICS: "MetricName", OPCODES: "Name"}
MAKERS = {METRICS: Metric, OPCODES: Opcode}


def load(generation, file):
    """The generation's metrics or opcodes; see merge()."""
    return [MAKERS[file](one.raw, None if one.source == generation.name else
                         generation.manual_of(one.source))
            for one in generation.merged[file]]


def _check_own(generation, file, schema):
    """Yield the faults in the form of metrics.json or opcodes.json."""
    shown, key = "%s/%s" % (generation.shown, file), KEYS[file]
    own = generation.load(file, missing=[])
    if generation.base and isinstance(own, dict):
        for name, reason in check_difference(own, schema, key):
            yield ": ".join(filter(None, (shown, name, reason)))
        own = own.get("Add", [])
    elif not isinstance(own, list):
        yield "%s: is not an array" % shown
        return
    for number, raw in enumerate(own if isinstance(own, list) else []):
        name = raw.get(key) if isinstance(raw, dict) else None
        for reason in validate(raw, schema["items"]):
            yield "%s: %s: %s" % (shown, name or "entry %d" % number, reason)


def _prefixed(raw, generation):
    """An inherited metric, with this generation's PMUs in its expressions."""
    return {**raw, **{key: re.sub(
        r"\b%s_([a-z0-9_]+@)" % generation.base.name,
        generation.name + r"_\1", raw[key])
        for key in ("MetricExpr", "Weight") if key in raw}}


def _impossible(generation, file, raw):
    """The reason why this generation cannot have an inherited metric or opcode."""
    boxes = {box.name: box for box in generation.boxes}
    one = MAKERS[file](raw)
    if one.box not in boxes:
        return "there is no %s" % one.box
    if file == OPCODES:
        return next(_check_value(boxes[one.box], one.field,
                                 "0x%x" % one.value), None)
    return next((reason for reference in one.references
                 for reason in _check_reference(generation, reference)), None)


def merge(generation):
    """
    Merge the generation's metrics and opcodes with those of its base.  An inherited
    entry without its events or filters in this generation goes into
    generation.left_out, with the reason; check_content() checks the others.
    """
    generation.left_out = {METRICS: [], OPCODES: []}
    for file, key in KEYS.items():
        own = generation.load(file, missing={} if generation.base else [])
        kept = []
        for one in generation.merge(file, own, key, {}, _prefixed):
            reason = (_impossible(generation, file, one.raw)
                      if one.writer != generation.name else None)
            if reason:
                generation.left_out[file].append((one.raw, reason))
            else:
                kept.append(one)
        generation.merged[file] = kept


def _check_value(box, name, value):
    field = box.format.get(name)
    if field is None:
        yield "the %s has no field %s" % (box.title, name)
    elif not re.fullmatch(r"0x[0-9a-f]+|[0-9]+", value):
        yield "%s=%s is not a number" % (name, value)
    elif not field.fits(int(value, 0)):
        yield "%s=%s is wider than %d bits" % (name, value, len(field.bits))


def _check_raw_terms(box, fields):
    """
    Check event=...,umask=... without an event name: some event must have the code,
    and its names together the unit mask.
    """
    if not all(re.fullmatch(r"0x[0-9a-f]+|[0-9]+", fields.get(name, "0"))
               for name in ("event", "umask")):
        return          # _check_value() reports a value that is not a number
    code, umask = (int(fields.get(name, "0"), 0) for name in
                   ("event", "umask"))
    known = [event for event in box.events if event.code == code]
    if not known:
        yield "the %s has no event 0x%02x" % (box.title, code)
        return
    covered = sum({1 << bit for event in known for bit in range(8)
                   if event.rule == "any" and not event.umask & ~umask
                   and event.umask >> bit & 1})
    if umask not in [event.umask for event in known] and covered != umask:
        yield "no unit mask of %s is or adds up to 0x%02x" % (
            known[0].base, umask)


def _check_reference(generation, reference):
    boxes = {"%s_%s" % (generation.name, box.name): box
             for box in generation.boxes}
    box = boxes.get(re.sub(r"_\d+$", "", reference.pmu))
    if box is None:
        yield "no PMU is called %s" % reference.pmu
        return
    events = {event.name: event for event in box.events}
    if reference.event and reference.event not in events:
        yield "%s has no event %s" % (reference.pmu, reference.event)
    elif reference.event:
        for name, value in events[reference.event].filters:
            if value is None and name not in reference.fields:
                yield "%s needs %s" % (reference.event, name)
    elif "event" not in reference.fields:
        yield "%s: neither an event's name nor event=" % reference.pmu
    else:
        yield from _check_raw_terms(box, reference.fields)
    for name, value in reference.fields.items():
        yield from _check_value(box, name, value)
    yield from without_threshold(
        {name: int(value, 0) for name, value in reference.fields.items()
         if re.fullmatch(r"0x[0-9a-f]+|[0-9]+", value)})


def _ctrs(box, reference):
    """Mask of the counters that can count the event of @reference; None: not general."""
    for event in box.events:
        if reference.event == event.name or (
                reference.event is None and event.general and
                event.code == int(reference.fields.get("event", "0"), 0)):
            return event.ctrs if event.general else None
    return (1 << box.counters) - 1


def _place(masks, taken=0):
    """Is there a different counter for each of @masks, outside the mask @taken?"""
    return not masks or any(
        _place(masks[1:], taken | 1 << n) for n in range(8)
        if masks[0] >> n & ~taken >> n & 1)


def _check_at_once(generation, metric):
    """Check that a box can count all events of a metric at once, or MetricConstraint."""
    boxes = {"%s_%s" % (generation.name, box.name): box
             for box in generation.boxes}
    wanted = {}
    for reference in metric.references:
        box = boxes.get(reference.pmu)
        ctrs = box and _ctrs(box, reference)
        if ctrs:
            what = (reference.event, *sorted(reference.fields.items()))
            wanted.setdefault(reference.pmu, {})[what] = ctrs
    for pmu, events in wanted.items():
        if metric.one_group and not _place(sorted(events.values())):
            yield ("%s has not the counters for %d events at once: "
                   "MetricConstraint is missing" % (pmu, len(events)))


def _check_weight(metric):
    """
    Check Weight.  The factor from clock cycles to time differs between packages, so
    the machine's value is a mean of the packages' values, weighted by Weight.
    """
    by_clock = re.search(r"source_count\(([^)]*)\) / \1(?!\w)",
                         metric.expression)
    if by_clock and not metric.weight:
        yield "Weight is missing: packages differ in %s" % by_clock.group(1)
    if metric.weight and not by_clock:
        yield "Weight: no factor differs from package to package"
    used = {match.group() for match in REFERENCE.finditer(metric.expression)}
    for match in REFERENCE.finditer(metric.weight):
        if match.group() not in used:
            yield "Weight: %s is not in MetricExpr" % match.group()


def _check_metrics(generation):
    names = set()
    for metric in load(generation, METRICS):
        reasons = []
        if metric.name in names:
            reasons.append("the name is used twice")
        names.add(metric.name)
        if metric.box not in [box.name for box in generation.boxes]:
            reasons.append("Box: no box type is called %s" % metric.box)
        rest = REFERENCE.sub("0", metric.expression)
        if "@" in rest or rest.count("(") != rest.count(")"):
            reasons.append("MetricExpr: unbalanced @ or parentheses")
        for reference in metric.references:
            reasons.extend("MetricExpr: " + reason for reason in
                           _check_reference(generation, reference))
        reasons.extend(_check_weight(metric))
        if not reasons:
            reasons.extend("MetricExpr: " + reason for reason in
                           _check_at_once(generation, metric))
        for reason in reasons:
            yield "%s/metrics.json: %s: %s" % (generation.shown, metric.name,
                                               reason)


def _check_opcodes(generation):
    names = set()
    boxes = {box.name: box for box in generation.boxes}
    for opcode in load(generation, OPCODES):
        reasons = []
        key = (opcode.box, opcode.field, opcode.name)
        if key in names:
            reasons.append("the name is used twice for %s" % opcode.field)
        names.add(key)
        if opcode.box not in boxes:
            reasons.append("Box: no box type is called %s" % opcode.box)
        else:
            reasons.extend(_check_value(boxes[opcode.box], opcode.field,
                                        "0x%x" % opcode.value))
        for reason in reasons:
            yield "%s/opcodes.json: %s: %s" % (generation.shown, opcode.name,
                                               reason)


def in_tree(generation):
    """
    The facts of in-tree.json about the kernel's own driver. In each list, the facts of
    a box are inherited if the generation's list has none of that box, and Remove does
    not name it.
    """
    own = generation.load("in-tree.json", missing={})
    if not generation.base:
        return own
    have = ({box.name for box in generation.boxes} -
            set(own.get("Remove", [])))
    base, facts = in_tree(generation.base), {}
    for key in ("Filters", "Wrong", "Files"):
        more = own.get(key, [])
        told = {fact["Box"] for fact in more}
        facts[key] = [fact for fact in base.get(key, [])
                      if fact["Box"] in have - told] + more
    return facts


def in_tree_selects(fact):
    """(mask, value) of each kind of event of a fact; "any" is each bit of the mask alone."""
    mask = int(fact["Mask"], 16)
    if fact["Select"] != "any":
        return [(mask, int(fact["Select"], 16))]
    return [(1 << bit,) * 2 for bit in range(64) if mask >> bit & 1]


def in_tree_files(generation, box):
    """The event files that the kernel's own driver publishes for a box type."""
    return [file for file in in_tree(generation).get("Files", [])
            if file["Box"] == box.name]


def _check_in_tree(generation):
    boxes = {box.name: box for box in generation.boxes}
    facts = in_tree(generation)
    for number, fact in enumerate(facts.get("Filters", []) +
                                  facts.get("Wrong", []), 1):
        shown = "%s/in-tree.json: fact %d" % (generation.shown, number)
        box = boxes.get(fact["Box"])
        if box is None:
            yield "%s: no box type is called %s" % (shown, fact["Box"])
            continue
        if any(select & ~mask for mask, select in in_tree_selects(fact)):
            yield "%s: Select %s has bits that Mask %s has not" % (
                shown, fact["Select"], fact["Mask"])
        for name in fact.get("Fields", "event").split(","):
            if name not in box.format:
                yield "%s: the %s has no field %s" % (shown, box.title, name)


def check_form(generation, metrics_schema, opcodes_schema, in_tree_schema):
    """Yield the faults in the form of in-tree.json, metrics.json and opcodes.json."""
    for reason in validate(generation.load("in-tree.json", missing={}),
                           in_tree_schema):
        yield "%s/in-tree.json: %s" % (generation.shown, reason)
    yield from _check_own(generation, METRICS, metrics_schema)
    yield from _check_own(generation, OPCODES, opcodes_schema)


def check_content(generation):
    """Yield the faults of metrics, opcodes and in-tree facts against the events."""
    yield from _check_metrics(generation)
    yield from _check_opcodes(generation)
    yield from _check_in_tree(generation)
