# SPDX-License-Identifier: GPL-2.0-or-later
"""
Metrics that a generation lacks and a related generation has. omitted.json gives the
reason for each metric, unless the generation lacks the metric's box type.
"""

import collections
import fnmatch

from .derived import METRICS, load

Absence = collections.namedtuple("Absence", "box name reason")


def _given(generation):
    """Yield (patterns, reason) of each entry for metrics in omitted.json."""
    for item in generation.load("omitted.json", missing=[]):
        if "Metrics" in item:
            yield item["Metrics"].split(), item.get("Reason", "")


def _family(generation, generations):
    """{name: metric} of the metrics that only related generations have."""
    found = {}
    for other in generations:
        if other.root is generation.root:
            for metric in load(other, METRICS):
                found.setdefault(metric.name, metric)
    for metric in load(generation, METRICS):
        found.pop(metric.name, None)
    return found


def absences(generation, generations):
    """Yield an Absence for each metric that only related generations have."""
    boxes = {box.name for box in generation.boxes}
    titles = {box.name: box.title for other in generations
              for box in other.boxes}
    given = list(_given(generation))
    for name, metric in _family(generation, generations).items():
        if metric.box not in boxes:
            reason = "there is no %s" % titles[metric.box]
        else:
            reason = next((reason for patterns, reason in given
                           if any(fnmatch.fnmatchcase(name, pattern)
                                  for pattern in patterns)), None)
        yield Absence(metric.box, name, reason or None)


def check_absences(generation, generations):
    """Yield the faults of the metrics in omitted.json, and metrics without a reason."""
    shown = generation.shown + "/omitted.json"
    lacking = list(absences(generation, generations))
    why = {raw["MetricName"]: reason
           for raw, reason in generation.left_out[METRICS]}
    for patterns, reason in _given(generation):
        for pattern in patterns:
            if not reason.strip():
                yield "%s: %s: Reason is empty" % (shown, pattern)
            if not any(fnmatch.fnmatchcase(one.name, pattern)
                       for one in lacking):
                yield ("%s: %s: the generation has it, or no related one has"
                       % (shown, pattern))
    for one in lacking:
        if not one.reason:
            yield ("%s/metrics.json: %s: %s: change it, or give the reason in "
                   "omitted.json" % (generation.shown, one.name, why.get(
                       one.name, "a related generation has it")))
