# SPDX-License-Identifier: GPL-2.0-or-later
"""The C++ tables of the library's catalogue: constants that need no parsing."""

import re

from . import perf_names, roles
from .derived import METRICS, OPCODES, in_tree, in_tree_selects, load

HEAD = """// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The catalogue of %s.
/// Generated from events/, do not edit.

#include <cmath>

#include "catalogue_tables.hpp"

namespace uncore {
namespace {

using namespace std::literals;
"""

TAIL = """
} // namespace

extern const catalogue_tables %s_tables;
const catalogue_tables %s_tables = {
	"%s", "%s", boxes, fields, events, values, metrics,
	in_tree_filters, in_tree_wrong, shared_fields, perf_names, roles,
	foreign_boxes, "%s",
};

} // namespace uncore
"""


def _text(text):
    return '"%s"sv' % (text or "").replace("\\", "\\\\").replace('"', '\\"')


class Lists:
    """Arrays of names that rows refer to; equal arrays are written once."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.names = {}

    def span(self, items):
        key = tuple(items)
        if not key:
            return "{}"
        return self.names.setdefault(key, "%s_%d" % (self.prefix,
                                                     len(self.names)))

    def text(self):
        return "".join(
            "constexpr std::string_view %s[] = { %s };\n"
            % (name, ", ".join(_text(item) for item in items))
            for items, name in self.names.items())


def _array(struct, name, rows):
    rows = list(rows)
    if not rows:
        return "\nconstexpr std::span<const %s> %s;\n" % (struct, name)
    return "\nconstexpr %s %s[] = {\n%s};\n" % (struct, name, "".join(rows))


def _row(*values):
    return "\t{ %s },\n" % ", ".join(str(value) for value in values)


def _box_rows(generation):
    for box in generation.boxes:
        yield _row(_text(box.name), _text(box.title), _text(box.section),
                   box.counters)


def _role_rows(generation):
    for box in generation.boxes:
        if box.role or box.part:
            yield _row(_text(box.name), _text(box.role), _text(box.part),
                       box.first_port)


def _foreign_rows(generation):
    """Names that other tools have for box types, in lower case."""
    for box in generation.boxes:
        for tool in ("Perf", "LIKWID", "Other"):
            for name in roles.names_of(box, tool):
                yield _row("foreign_box::%s" % tool.lower(), _text(name.lower()),
                           _text(box.name))


def _field_rows(generation):
    for box in generation.boxes:
        for name, bits in box.format_text.items():
            yield _row(_text(box.name), _text(name), _text(bits))


def _event_rows(generation, lists):
    for box in sorted(generation.boxes, key=lambda box: box.name):
        for event in sorted(box.events, key=lambda event: event.name):
            words = ["0x%x" % word for word in event.config()]
            asked = [name for name, value in event.filters if value is None]
            yield _row(_text(box.name), _text(event.name),
                       _text(event.perf_string), _text(event.description),
                       _text(event.category), _text(event.section),
                       event.scale or 1, _text(event.unit), *words,
                       "0x%x" % event.ctrs, event.max_inc, lists.span(asked))


def _value_rows(generation):
    for opcode in load(generation, OPCODES):
        yield _row(_text(opcode.box), _text(opcode.field), _text(opcode.name),
                   _text(opcode.description), _text(opcode.section),
                   _text(opcode.message_class), "0x%x" % opcode.value,
                   "true" if opcode.combine else "false")


def _without_prefix(generation, expression):
    """@expression without the generation in PMU names, for the PMUs of any driver."""
    return re.sub(r"\b%s_([a-z0-9_]+@)" % generation.name, r"\1", expression)


def _metric_rows(generation, lists):
    for metric in load(generation, METRICS):
        scale, unit = re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?)(.+)",
                                   metric.unit or "1 ").groups()
        expression = _without_prefix(generation, metric.expression)
        yield _row(_text(metric.name), _text(metric.box), _text(expression),
                   _text(metric.description), _text(metric.note),
                   _text(metric.section), scale, _text(unit.strip()),
                   lists.span(metric.groups),
                   "true" if metric.one_group else "false",
                   "%g" % metric.range[0], "HUGE_VAL"
                   if metric.range[1] is None else "%g" % metric.range[1],
                   _text(_without_prefix(generation, metric.weight)))


def _in_tree(generation):
    """Tables of the filters that intel_uncore obeys, and of events that it miscounts."""
    facts = in_tree(generation)

    def instances(fact):
        numbers = fact.get("Instances")
        return "0x%x" % sum(1 << int(n) for n in numbers.split(",")) if numbers else "0"

    def words(fact):
        box = next(box for box in generation.boxes if box.name == fact["Box"])
        masks = [0, 0, 0]
        for name in fact["Fields"].split(","):
            field = box.format[name]
            masks[field.word] |= field.place((1 << len(field.bits)) - 1)
        return ["0x%x" % mask for mask in masks[1:]]

    yield _array("in_tree_filter", "in_tree_filters", (
        _row(_text(fact["Box"]), instances(fact), fact["Mask"],
             fact["Select"], *words(fact))
        for fact in facts.get("Filters", [])))
    yield _array("in_tree_fault", "in_tree_wrong", (
        _row(_text(fact["Box"]), "0x%x" % mask, "0x%x" % select,
             _text(fact["Reason"]), _text(fact["Section"]))
        for fact in facts.get("Wrong", [])
        for mask, select in in_tree_selects(fact)))


def _words(words):
    return "{ %s }" % ", ".join("0x%x" % word for word in words)


def _shared_rows(generation):
    for box in generation.boxes:
        for rule in box.filter_rules:
            for name, words in rule.fields.items():
                yield _row(_text(box.name), _text(name), "0x%x" % rule.mask,
                           "0x%x" % rule.select, _words(words),
                           _words(rule.words), _words(rule.neutral.get(name, [0, 0, 0])))


def source(generation, top):
    """The text of the C++ file of a generation."""
    parameters, groups = Lists("parameters"), Lists("groups")
    events = _array("event_info", "events",
                    _event_rows(generation, parameters))
    metrics = _array("metric_info", "metrics",
                     _metric_rows(generation, groups))
    return (HEAD % generation.name + "\n" + parameters.text() +
            groups.text() +
            _array("box_info", "boxes", _box_rows(generation)) +
            _array("field_info", "fields", _field_rows(generation)) +
            events + _array("value_info", "values", _value_rows(generation)) +
            metrics + "".join(_in_tree(generation)) +
            _array("shared_field", "shared_fields",
                   _shared_rows(generation)) +
            _array("perf_name", "perf_names",
                   perf_names.rows(top, generation)) +
            _array("box_role", "roles", _role_rows(generation)) +
            _array("foreign_box", "foreign_boxes", _foreign_rows(generation)) +
            TAIL % ((generation.name,) * 3 + (generation.title,
                                              generation.interconnect or "")))
