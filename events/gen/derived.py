# SPDX-License-Identifier: GPL-2.0-or-later
"""
What is built on the events: metrics, which name them in perf's expression
syntax, and opcodes, which name the values of filter fields. Both must refer
to what the catalogue has.
"""

import re

from .schema import validate

# pmu@event\,field\=value@
REFERENCE = re.compile(r"([a-z0-9_]+)@((?:\\.|[^@\\])*)@")


class Reference:
    """A place in a metric's expression where it names an event."""

    def __init__(self, pmu, text):
        self.pmu = pmu
        terms = re.sub(r"\\(.)", r"\1", text).split(",")
        # A sum that has no name is given as event=...,umask=...
        self.event = terms.pop(0) if "=" not in terms[0] else None
        self.fields = {}
        for term in terms:
            name, _, value = term.partition("=")
            self.fields[name] = value or "1"


class Metric:
    def __init__(self, raw):
        self.name = raw["MetricName"]
        self.expression = raw["MetricExpr"]
        self.description = raw["BriefDescription"]
        self.box = raw["Box"]
        self.unit = raw.get("ScaleUnit")
        self.section = raw["Section"]
        self.note = raw.get("Note")
        self.groups = raw["MetricGroup"].split(";")
        self.one_group = "MetricConstraint" not in raw
        self.references = [Reference(*match) for match
                           in REFERENCE.findall(self.expression)]


class Opcode:
    def __init__(self, raw):
        self.name = raw["Name"]
        self.box = raw["Box"]
        self.field = raw["Field"]
        self.value = int(raw["Value"], 16)
        self.message_class = raw.get("MessageClass", "")
        self.combine = raw.get("Combine")
        self.description = raw["BriefDescription"]
        self.section = raw["Section"]


def load(generation, file, make):
    return [make(raw) for raw in generation.load(file, missing=[])]


def _check_form(generation, file, key, schema):
    shown = "%s/%s" % (generation.shown, file)
    raws = generation.load(file, missing=[])
    if not isinstance(raws, list):
        yield "%s: is not an array" % shown
        return
    for number, raw in enumerate(raws):
        name = raw.get(key) if isinstance(raw, dict) else None
        for reason in validate(raw, schema["items"]):
            yield "%s: %s: %s" % (shown, name or "entry %d" % number, reason)


def _check_value(box, name, value):
    field = box.format.get(name)
    if field is None:
        yield "the %s has no field %s" % (box.title, name)
    elif not re.fullmatch(r"0x[0-9a-f]+|[0-9]+", value):
        yield "%s=%s is not a number" % (name, value)
    elif not field.fits(int(value, 0)):
        yield "%s=%s is wider than %d bits" % (name, value, len(field.bits))


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
    for name, value in reference.fields.items():
        yield from _check_value(box, name, value)


def _check_metrics(generation):
    names = set()
    for metric in load(generation, "metrics.json", Metric):
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
        for reason in reasons:
            yield "%s/metrics.json: %s: %s" % (generation.shown, metric.name,
                                               reason)


def _check_opcodes(generation):
    names = set()
    boxes = {box.name: box for box in generation.boxes}
    for opcode in load(generation, "opcodes.json", Opcode):
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


def _check_in_tree(generation):
    boxes = {box.name: box for box in generation.boxes}
    facts = generation.load("in-tree.json", missing={})
    for number, fact in enumerate(facts.get("Filters", []) +
                                  facts.get("Wrong", []), 1):
        shown = "%s/in-tree.json: fact %d" % (generation.shown, number)
        box = boxes.get(fact["Box"])
        if box is None:
            yield "%s: no box type is called %s" % (shown, fact["Box"])
            continue
        if int(fact["Select"], 16) & ~int(fact["Mask"], 16):
            yield "%s: Select %s has bits that Mask %s has not" % (
                shown, fact["Select"], fact["Mask"])
        for name in fact.get("Fields", "event").split(","):
            if name not in box.format:
                yield "%s: the %s has no field %s" % (shown, box.title, name)


def check_form(generation, metrics_schema, opcodes_schema, in_tree_schema):
    """Reasons why the files do not have the right form."""
    for reason in validate(generation.load("in-tree.json", missing={}),
                           in_tree_schema):
        yield "%s/in-tree.json: %s" % (generation.shown, reason)
    yield from _check_form(generation, "metrics.json", "MetricName",
                           metrics_schema)
    yield from _check_form(generation, "opcodes.json", "Name",
                           opcodes_schema)


def check_content(generation):
    """Reasons why they do not fit the catalogue's events."""
    yield from _check_metrics(generation)
    yield from _check_opcodes(generation)
    yield from _check_in_tree(generation)
