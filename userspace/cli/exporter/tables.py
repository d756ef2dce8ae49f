#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Makes the exporter's tables of the event catalogue (events/): series.json as C++, what
boxes can do at most, and the rules of diagnose.json. How full a box is, is a metric;
limits.json names it, and adds only what metrics do not have. The metric's events become
the series that count them. A limit has the thresholds of its rule. The files ask for
roles of box types; here each role has become the box types that have it.
"""

import argparse
import ast
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EVENTS = os.path.join(HERE, "..", "..", "..", "events")
sys.path.insert(0, EVENTS)
sys.dont_write_bytecode = True
from generate import checked_generations  # noqa: E402
from gen import roles  # noqa: E402
from gen.derived import METRICS, REFERENCE, load as derived  # noqa: E402


def generations_of(top):
    """@return the generations of a catalogue; end the program if it has faults."""
    generations = checked_generations(top)
    if generations is None:
        sys.exit(1)
    return generations


def pairs(text):
    """@return {name: value} of a text such as "direction=read,origin=local"."""
    return dict(one.split("=") for one in text.split(",")) if text else {}


def number(text):
    value = float(text)
    return int(value) if value == int(value) else value


def series_of(top, generations):
    """@return the series of all box types, in the order of series.json."""
    return [{
        "name": roles.filled(entry["Series"], box), "unit": entry.get("Unit", ""),
        "help": roles.filled(entry["Help"], box), "box": box.name,
        "gives_way": "GivesWay" in entry, "interconnect": entry.get("Interconnect", ""),
        "events": [{
            "event": one["Event"], "labels": pairs(one.get("Labels")),
            "factor": number(one.get("Factor", "1")),
            "instead_of": one.get("InsteadOf", ""), "set": one.get("Set", ""),
        } for one in entry["Events"]],
    } for entry, box in roles.series(top, generations)]


# --- formulas of metrics

class Formula:
    """A metric of the form SUM / CLOCK or max(SUM, SUM) / CLOCK. A sum adds events times
    factors, and is a way, such as reads or writes. @ways has a dictionary of factors by
    event for each sum; @clock is the event below the line, @factor its factor."""

    def __init__(self, metric):
        self.metric = metric
        self.events = []
        text = REFERENCE.sub(self._name, metric.expression)
        self.tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(self.tree, ast.BinOp) or \
                not isinstance(self.tree.op, ast.Div):
            self.refuse()
        above, below = self.tree.left, self._sum(self.tree.right)
        if len(below) != 1:
            self.refuse()
        (self.clock, self.factor), = below.items()
        self.ways = [self._sum(one) for one in above.args] \
            if isinstance(above, ast.Call) and above.func.id == "max" else \
            [self._sum(above)]

    def refuse(self):
        raise ValueError("%s: %s is not a sum of events over a clock" % (
            self.metric.name, self.metric.expression))

    def _name(self, match):
        self.events.append(re.sub(r"\\(.)", r"\1", match.group(2)))
        return "e%d" % (len(self.events) - 1)

    def _sum(self, node):
        """@return the factors of a sum, by event."""
        if isinstance(node, ast.Name):
            return {self.events[int(node.id[1:])]: 1}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return {**self._sum(node.left), **self._sum(node.right)}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and \
                isinstance(node.left, ast.Constant):
            return {event: node.left.value * factor
                    for event, factor in self._sum(node.right).items()}
        return self.refuse()


# --- the series that count a metric's events

def counts(all_series, box, event):
    """@return the series that counts an event of a box type, and the event's entry in the
    series."""
    for series in all_series:
        for one in series["events"] if series["box"] == box else ():
            if one["event"] == event:
                return series, one
    raise ValueError("no series of %s counts %s" % (box, event))


def choices(series):
    """The sets of events that a machine may count for a series: first the events without
    "instead_of", then those that replace them, and so on."""
    one = [event for event in series["events"] if not event["instead_of"]]
    while one:
        yield {event["event"] for event in one}
        before = {name for event in one
                  for name in (event["event"], event["set"]) if name}
        one = [event for event in series["events"] if event["instead_of"] in before]


def used_by(all_series, formulas, box):
    """@return the series that the formulas add up, with the factor of each, and the label
    that tells the ways of the formulas apart ("" for a single way)."""
    factors, labels, events = {}, [], {}
    for way in [way for formula in formulas for way in formula.ways]:
        found = [(counts(all_series, box, event), factor)
                 for event, factor in way.items()]
        for (series, one), factor in found:
            scaled = factor / one["factor"]
            if factors.setdefault(series["name"], scaled) != scaled:
                raise ValueError("%s: its events count unequally" % series["name"])
            events.setdefault(series["name"], set()).add(one["event"])
        labels.append(found[0][0][1]["labels"])
    for name, counted in events.items():
        series = next(one for one in all_series if one["name"] == name and
                      one["box"] == box)
        if counted not in list(choices(series)):
            raise ValueError("%s has other events than %s" % (
                name, formulas[0].metric.name))
    by = [name for name in labels[0] if len(labels) > 1 and
          len({one[name] for one in labels}) == len(labels)]
    return factors, by[0] if by else ""


def basis_of(metric):
    """@return the text behind "Capacity: " in the metric's note, up to a comma or bracket."""
    return re.split(r"[,;(]", (metric.note or "").partition("Capacity: ")[2])[0] \
        .strip()


def whole(number):
    return int(number) if number == int(number) else number


def box_with(generation, place):
    """@return the box type with a role and a part in a generation, or None."""
    return next((box for box in generation.boxes if (box.role, box.part) == place), None)


def with_formula(limit, formulas, all_series, clock):
    """Add the formula of a limit in terms of series ("used", "by", "capacity").
    @clock: box type and event that give the capacity, where the metric's clock does not."""
    factors, by = used_by(all_series, formulas, limit["box"])
    (own, factor), = {(one.clock, one.factor) for one in formulas}
    # With the unit B/s, the used part and the capacity are in the unit of the series:
    # bytes.
    scale = 1 / next(iter(factors.values())) if limit["unit"] == "B/s" else 1
    series, one = counts(all_series, *(clock or (limit["box"], own)))
    limit["used"] = [{"series": name, "factor": whole(scale * each)}
                     for name, each in factors.items()]
    if by:
        limit["by"] = by
    limit["capacity"] = {**({"box": clock[0]} if clock else {}), "series": series["name"],
                         "factor": whole(scale * factor / one["factor"])}


def limit_of(entry, generation, all_series, rule):
    """@return an entry of limits.json for a generation; None if the generation has not the
    box type, the metrics or the series. @rule: the entry of diagnose.json with its
    thresholds."""
    metrics = {one.name: one for one in derived(generation, METRICS)}
    box = box_with(generation, roles.place_of(entry))
    if not box:
        return None
    wanted = roles.filled(entry.get("Metrics", ""), box)
    wanted = wanted.split(",") if wanted else []
    counted = {series["name"] for series in all_series if series["box"] == box.name}
    if not all(name in metrics for name in wanted) or \
            entry.get("Used") not in (None, *counted):
        return None
    made = {"name": roles.filled(entry["Limit"], box), "box": box.name,
            "one": "" if "Of" in entry else box.part, "unit": entry.get("Unit", "")}
    if wanted:
        made["metrics"] = wanted
    if "Used" in entry:
        made["used"] = [{"series": entry["Used"], "factor": 1,
                         **({"value": entry["Value"]} if "Value" in entry else {})}]
    if "By" in entry:
        made["by"] = entry["By"]
    if "Fact" in entry:
        made["capacity"] = {"fact": entry["Fact"]}
    elif "Capacity" in entry:
        made["capacity"] = {"series": entry["Capacity"], "factor": 1}
    made["socket"] = entry["Socket"]
    if "Populated" in entry:
        made["populated"] = True
    made["from"], made["busy"] = (float(rule[key]) / 100 for key in ("From", "Full"))
    if "MeasuredMetric" in rule:
        made["measured"] = {"from": float(rule["MeasuredFrom"]) / 100,
                            "busy": float(rule["MeasuredFull"]) / 100}
    if "Named" in entry:
        made["named"] = True
    if "Of" in entry:
        made["of"] = entry["Of"]
    if "Bytes" in entry:
        # the rule's traffic, GiB/s, in units of the capacity
        made["least"] = float(rule["Least"]) * (1 << 30) / int(entry["Bytes"])
    if "Basis" in entry:
        made["basis"] = entry["Basis"]
    if wanted:
        clock = (box_with(generation, ("", "clock")).name, entry["Clock"]) \
            if "Clock" in entry else None
        with_formula(made, [Formula(metrics[name]) for name in wanted], all_series, clock)
        made.setdefault("basis", basis_of(metrics[wanted[0]]))
    return made


def rules_by_limit(top, limits):
    """@return the rule with the thresholds of each limit."""
    rules = {}
    for entry in roles.load(top, "diagnose.json"):
        if "Limit" in entry and rules.setdefault(entry["Limit"], entry) is not entry:
            raise ValueError("diagnose.json: two rules have the limit %s" % entry["Limit"])
    names = {entry["Limit"] for entry in limits}
    if names != set(rules):
        raise ValueError("limits.json, diagnose.json: only one of them has %s" %
                         ", ".join(sorted(names.symmetric_difference(rules))))
    return rules


def limits(top=EVENTS, generations=None):
    """@return the limits of each generation, by its name."""
    generations = generations or generations_of(top)
    entries, all_series = roles.load(top, "limits.json"), series_of(top, generations)
    rules = rules_by_limit(top, entries)
    return {generation.name: [one for one in (
        limit_of(entry, generation, all_series, rules[entry["Limit"]])
        for entry in entries if roles.is_for(entry, generation)) if one]
            for generation in generations}


# --- rules

def names(text):
    return text.split(",") if text else []


def measured_of(entry, text):
    """@return what takes the place of a rule's members where the peaks of sockets were
    measured; None if nothing does. @text: function that returns the text of a key."""
    if "MeasuredMetric" not in entry:
        return None
    return {"metric": text("MeasuredMetric"), "from": number(text("MeasuredFrom")),
            "full": number(text("MeasuredFull")), "seen": text("MeasuredSeen"),
            "source": text("MeasuredSource")}


def rule_of(entry, box):
    """@return an entry of diagnose.json for a box type, which may be None."""
    def text(key, default=""):
        value = entry.get(key, default)
        return roles.filled(value, box) if box else value

    return {
        "finding": text("Finding"), "box": box.name if box else "",
        "metrics": names(text("Metrics")), "divisor": text("Of"),
        "good": number(text("Good", "0")), "from": number(text("From")),
        "full": number(text("Full")), "traffic": names(text("Traffic")),
        "least": number(text("Least", "0")), "each": text("Each"),
        "times": number(text("Times", "0")), "numbers": names(text("Numbers")),
        "seen": text("Seen"), "look": text("Look"), "helps": text("Helps"),
        "source": text("ThresholdSource"), "measured": measured_of(entry, text),
    }


def rules(top, generations):
    """@return the rules of all box types: a rule for each that has the role of an entry."""
    for entry in roles.load(top, "diagnose.json"):
        if roles.place_of(entry) == ("", ""):
            yield rule_of(entry, None)
            continue
        for boxes in roles.box_types(generations, entry):
            yield rule_of(entry, boxes[0])


# --- C++

def quoted(text):
    return json.dumps(text)


def event_text(one):
    labels = ", ".join("{%s, %s}" % (quoted(name), quoted(value))
                       for name, value in one["labels"].items())
    return "\t\t{%s, {%s}, %s, %s, %s},\n" % (
        quoted(one["event"]), labels, one["factor"], quoted(one["instead_of"]),
        quoted(one["set"]))


SOURCE = """// Made of events/ by exporter/tables.py.
#include "exporter/tables.hpp"

namespace cli {

namespace {

const series every_series[] = {
%s};

constexpr instance_label every_label[] = {
%s};

} // namespace

const std::span<const series> tables::all_series = every_series;
const std::span<const instance_label> tables::labels = every_label;
const char *const tables::limits = R"json(
%s
)json";
const char *const tables::rules = R"json(
%s
)json";

} // namespace cli
"""


def source(top):
    """@return the C++ source with the tables."""
    generations = generations_of(top)
    series = "".join("\t{%s, %s, %s, %s, {\n%s\t}, %s, %s},\n" % (
        *(quoted(one[key]) for key in ("name", "unit", "help", "box")),
        "".join(event_text(event) for event in one["events"]),
        quoted(one["gives_way"]), quoted(one["interconnect"])) for one in series_of(top, generations))
    labels = "".join("\t{%s, %s, %s},\n" % (
        quoted(box), quoted(part), quoted(part in roles.ALWAYS_APART))
        for box, part in roles.numbered(generations).items())
    return SOURCE % (series, labels, json.dumps(limits(top, generations), indent=1),
                     json.dumps(list(rules(top, generations)), indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogue", default=EVENTS, metavar="DIR")
    parser.add_argument("--json", action="store_true",
                        help="print the limits of all generations")
    parser.add_argument("--out", metavar="FILE", help="write the C++ source")
    args = parser.parse_args()
    try:
        if args.json:
            print(json.dumps(limits(args.catalogue), indent=1))
        if args.out:
            text = source(args.catalogue)
            with open(args.out, "w", encoding="utf-8") as file:
                file.write(text)
    except ValueError as wrong:
        sys.exit("tables.py: %s" % wrong)


if __name__ == "__main__":
    main()
