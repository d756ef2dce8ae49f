#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Makes the exporter's tables: series.json as C++, and what boxes can do at most. How
full a box is, is a metric of the event catalogue (events/); limits.json names it, and
adds only what the catalogue does not have. The metric's events become the series that
count them.
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
from gen.derived import METRICS, REFERENCE, load as derived  # noqa: E402


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


SERIES, LIMITS = read("series.json"), read("limits.json")


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

def counts(box, event):
    """@return the series that counts an event of a box type, and the event's entry in the
    series."""
    for series in SERIES:
        for one in series["events"] if series["box"] == box else ():
            if one["event"] == event:
                return series, one
    raise ValueError("no series of %s counts %s" % (box, event))


def choices(series):
    """The sets of events that a machine may count for a series: first the events without
    "instead_of", then those that replace them, and so on."""
    one = [event for event in series["events"] if "instead_of" not in event]
    while one:
        yield {event["event"] for event in one}
        before = {name for event in one
                  for name in (event["event"], event.get("set")) if name}
        one = [event for event in series["events"]
               if event.get("instead_of") in before]


def used_by(formulas, box):
    """@return the series that the formulas add up, with the factor of each, and the label
    that tells the ways of the formulas apart ("" for a single way)."""
    factors, labels, events = {}, [], {}
    for way in [way for formula in formulas for way in formula.ways]:
        found = [(counts(box, event), factor) for event, factor in way.items()]
        for (series, one), factor in found:
            scaled = factor / one.get("factor", 1)
            if factors.setdefault(series["name"], scaled) != scaled:
                raise ValueError("%s: its events count unequally" % series["name"])
            events.setdefault(series["name"], set()).add(one["event"])
        labels.append(found[0][0][1].get("labels", {}))
    for name, counted in events.items():
        series = next(one for one in SERIES if one["name"] == name and
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


def limit_of(limit, metrics):
    """Complete an entry of limits.json: add its formula in terms of series ("used", "by",
    "capacity"). @return None if the generation does not have the metrics."""
    made = dict(limit)
    names, clock = made.get("metrics"), made.pop("clock", None)
    if not names:
        return made
    if not all(name in metrics for name in names):
        return None
    formulas = [Formula(metrics[name]) for name in names]
    factors, by = used_by(formulas, limit["box"])
    (own, factor), = {(one.clock, one.factor) for one in formulas}
    # With the unit B/s, the used part and the capacity are in the unit of the series:
    # bytes.
    scale = 1 / next(iter(factors.values())) if limit["unit"] == "B/s" else 1
    series, one = counts(clock["box"], clock["event"]) if clock else \
        counts(limit["box"], own)
    made["used"] = [{"series": name, "factor": whole(scale * each)}
                    for name, each in factors.items()]
    if by:
        made["by"] = by
    made["capacity"] = {**({"box": clock["box"]} if clock else {}),
                        "series": series["name"],
                        "factor": whole(scale * factor / one.get("factor", 1))}
    made.setdefault("basis", basis_of(metrics[names[0]]))
    return made


def limits(top=EVENTS):
    """@return the limits of each generation, by its name."""
    generations = checked_generations(top)
    if generations is None:
        sys.exit(1)
    made = {}
    for generation in generations:
        metrics = {one.name: one for one in derived(generation, METRICS)}
        boxes = {box.name for box in generation.boxes}
        made[generation.name] = [
            one for one in (limit_of(limit, metrics) for limit in LIMITS
                            if limit["box"] in boxes) if one]
    return made


# --- C++

def quoted(text):
    return json.dumps(text)


def event_text(one):
    labels = ", ".join("{%s, %s}" % (quoted(name), quoted(value))
                       for name, value in one.get("labels", {}).items())
    return "\t\t{%s, {%s}, %s, %s, %s},\n" % (
        quoted(one["event"]), labels, one.get("factor", 1),
        quoted(one.get("instead_of", "")), quoted(one.get("set", "")))


def series_text():
    text = "// Made of series.json by tables.py.\nconst series chosen[] = {\n"
    for one in SERIES:
        text += "\t{%s, %s, %s, %s, {\n%s\t}, %s},\n" % (
            *(quoted(one[key]) for key in ("name", "unit", "help", "box")),
            "".join(event_text(event) for event in one["events"]),
            quoted(one.get("gives_way", False)))
    return text + "};\n"


def limits_text(top):
    return "// Made of limits.json and the catalogue by tables.py.\n" \
        "constexpr char limits_json[] = R\"json(\n%s\n)json\";\n" % \
        json.dumps(limits(top), indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogue", default=EVENTS, metavar="DIR")
    parser.add_argument("--json", action="store_true",
                        help="print the limits of all generations")
    parser.add_argument("--out", metavar="DIR",
                        help="write series_table.hpp and limits_json.hpp into it")
    args = parser.parse_args()
    try:
        if args.json:
            print(json.dumps(limits(args.catalogue), indent=1))
        if args.out:
            os.makedirs(args.out, exist_ok=True)
            for name, text in (("series_table.hpp", series_text()),
                               ("limits_json.hpp", limits_text(args.catalogue))):
                with open(os.path.join(args.out, name), "w",
                          encoding="utf-8") as file:
                    file.write(text)
    except ValueError as wrong:
        sys.exit("tables.py: %s" % wrong)


if __name__ == "__main__":
    main()
