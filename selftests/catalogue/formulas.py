#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the expressions of each generation's metrics against the formulas of
lib/python/metric_formulas.py, without a machine: both must have the same value for the
same counts. Then change one unit mask, filter, number or operator of an expression at a
time: each changed expression must have another value, or the counts could not detect
this error. (metrics.py compares "uncore stat -M" with the formulas on simulated hardware.)
"""

import math
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "selftests"), os.path.join(TOP, "events")]
from gen.derived import METRICS, load  # noqa: E402
from generate import checked_generations  # noqa: E402
from lib.python import metric_causes  # noqa: E402
from lib.python.metric_causes import FIXED, Term, counted  # noqa: E402
from lib.python.metric_formulas import CODES, TABLES  # noqa: E402
from lib.python.uncore import Tap  # noqa: E402

# A socket has one UBox. With two, a mean differs from a sum.
BOXES = {"cbox": 3, "sbox": 2, "ha": 2, "imc": 3, "pcu": 1, "qpi": 3,
         "r2pcie": 1, "r3qpi": 3, "ubox": 2, "cha": 3, "m2m": 2, "upi": 3, "iio": 3}
NAMES = {"duration_time": 0.37, "instructions": 987654321, "max": max,
         "__builtins__": {}}
CYCLES = 1009               # count of a fixed counter
# Each package has different counts: each argument of a max() is the largest in one package.
PACKAGES = range(16)
TERM = re.compile(r"\b[a-z]+_(\w+)@([^@]+)@")


class CatalogueTerm(Term):
    """A term GENERATION_BOX@...@ of a metric's expression."""

    def __init__(self, box, text, events):
        self.box, self.filters = box, {}
        self.code = self.umask = self.thresh = self.edge = 0
        tid = {}
        for part in text.replace("\\", "").split(","):
            key, _, value = part.partition("=")
            if not value:
                event = events[box, key]
                self.code, self.umask = event.code, event.umask
                self.filters.update((field.removeprefix("filter_"), number)
                                    for field, number in event.filters
                                    if number is not None)
            elif key in ("umask", "thresh", "edge"):
                setattr(self, key, int(value, 0))
            elif key == "event":
                self.code = int(value, 16)
            elif key in ("tid_en", "filter_tid"):
                tid[key] = int(value, 0)
            else:
                self.filters[key.removeprefix("filter_")] = int(value, 0)
        # the box compares filter_tid only if tid_en is set (§2.3.2.3)
        if tid.get("tid_en"):
            self.filters["tid"] = tid.get("filter_tid", 0)


def count(term, others, boxes, package):
    if term.code == FIXED:
        return boxes * CYCLES
    return counted(term, others, range(boxes), package)


class Evaluator:
    """Evaluate expressions and formulas with the counts of the causes."""

    def __init__(self, generation):
        self.events = {(box.name, event.name): event
                       for box in generation.boxes if box.name in CODES
                       for event in box.events}
        self.known = {}

    def term(self, box, text):
        if (box, text) not in self.known:
            self.known[box, text] = CatalogueTerm(box, text, self.events)
        return self.known[box, text]

    def meaning(self, text):
        """What an expression says of its terms, whatever their names are."""
        return (TERM.sub("", text), [self.term(*match).key()
                                     for match in TERM.findall(text)])

    def expression(self, text, box, scale, package=0):
        terms = [self.term(*match) for match in TERM.findall(text)]
        boxes = BOXES[box]
        text = re.sub(r"source_count\(%s\)" % TERM.pattern, str(boxes), text)
        counts = iter([count(self.term(*match), terms, boxes, package)
                       for match in TERM.findall(text)])
        return eval(TERM.sub(lambda _: str(next(counts)), text),
                    dict(NAMES)) * scale

    @staticmethod
    def formula(metric, package=0):
        boxes = BOXES[metric.box]
        return metric.value(
            [count(term, metric.terms, boxes, package)
             for term in metric.terms],
            SECONDS=NAMES["duration_time"], BOXES=boxes,
            INSTRUCTIONS=NAMES["instructions"])

    def same(self, metric, text, scale, package):
        try:
            return math.isclose(
                self.expression(text, metric.box, scale, package),
                self.formula(metric, package), rel_tol=1e-9)
        except ZeroDivisionError:
            return False


# --- changed expressions -----------------------------------------------------

def replaced(text, match, word, group=0):
    return text[:match.start(group)] + word + text[match.end(group):]


def other_events(text, events):
    """Replace the unit mask of an event, except of cto_count, which its filter selects."""
    for match in TERM.finditer(re.sub(r"source_count\([^)]*\)",
                                      lambda m: "_" * len(m.group()), text)):
        name, *_ = match.group(2).split("\\,")
        event, dot, _ = name.partition(".")
        for box, other in events:
            if box == match.group(1) and dot and other != name and \
                    event != "cto_count" and other.startswith(event + "."):
                yield text[:match.start(2)] + other + \
                    text[match.start(2) + len(name):]


def other_filters(text):
    for match in re.finditer(r"filter_(opc[01]?|state|tid)\\=(0x\w+)", text):
        yield replaced(text, match, "%#x" % (int(match.group(2), 16) ^ 3), 2)
    for match in re.finditer(r"match0\\=(0x\w+)\\,mask0\\=(0x\w+)", text):
        for bit in range(18):
            if int(match.group(2), 16) >> bit & 1:
                yield replaced(
                    text, match,
                    "%#x" % (int(match.group(1), 16) ^ 1 << bit), 1)
    for match in re.finditer(r"mask0\\=0x3fe00", text):
        yield replaced(text, match, "mask0\\=0x3ff80")
    for match in re.finditer(r"(tid_en|filter_(?:nc|rem|loc|nm|not_nm))\\=1", text):
        yield replaced(text, match, "%s\\=0" % match.group(1))


def other_arithmetic(text):
    for match in re.finditer(r"(?<![\w.@=])(\d+)(?![\w.])", text):
        yield replaced(text, match, "%d" % (2 * int(match.group())))
    for match in re.finditer(r" ([-+*/]) ", text):
        for sign in "-+*/".replace(match.group(1), ""):
            yield replaced(text, match, sign, 1)
    if text.count(" / ") == 1:
        yield " / ".join("(%s)" % part for part in
                         reversed(text.split(" / ")))


def mutants(text, events):
    yield from other_events(text, events)
    yield from other_filters(text)
    yield from other_arithmetic(text)


def judge(tap, generation):
    evaluator = Evaluator(generation)
    metric_causes.GENERATION = generation.name
    formulas = {metric.name: metric
                for metric in metric_causes.metrics(generation.name)}
    listed = load(generation, METRICS)
    title = generation.name + ": "
    differ = set(formulas) ^ {facts.name for facts in listed}
    tap.ok(not differ, title + "each metric has a formula", sorted(differ))
    wrong, unseen, broken = [], [], 0
    for facts in listed:
        scale, unit = re.fullmatch(r"([0-9.]*)(.*)", facts.unit or "1").groups()
        metric = formulas.get(facts.name)
        if not metric:
            continue
        box, text = facts.box, facts.expression
        want = evaluator.formula(metric)
        got = evaluator.expression(text, box, float(scale))
        if not want or not math.isclose(got, want, rel_tol=1e-9) or \
                (unit, box) != (metric.unit, metric.box):
            wrong.append("%s: %r %s of a %s, want %r %s: %s" % (
                metric.name, got, unit, box, want, metric.unit, text))
        for mutant in mutants(text, evaluator.events):
            # a filter that the expression gives makes another event the same
            if evaluator.meaning(mutant) == evaluator.meaning(text):
                continue
            broken += 1
            if all(evaluator.same(metric, mutant, float(scale), package)
                   for package in PACKAGES):
                unseen.append("%s: %s" % (metric.name, mutant))
    tap.ok(not wrong, title + "%d expressions say what the formulas say" %
           len(listed), wrong)
    tap.ok(broken and not unseen, title + "each of %d broken ones says "
           "something else" % broken, unseen)


def main():
    generations = checked_generations(os.path.join(TOP, "events"))
    if generations is None:
        return 1
    tap = Tap()
    for generation in generations:
        if generation.name in TABLES:
            judge(tap, generation)
    tap.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
