# SPDX-License-Identifier: GPL-2.0-or-later
"""
Groups of metrics that answer a question, from groups.json. The file is for all
generations: a generation has the groups of which it has a leading metric. A group that
asks for a role is a group for each box type that has the role.
"""

import os

from .catalogue import load_json
from .derived import METRICS, load as load_derived
from .roles import box_types, filled
from .schema import validate

FILE = "groups.json"


def load(top, shown):
    """The groups, in the order of the file."""
    path = os.path.join(top, FILE)
    return load_json(path, "%s/%s" % (shown, FILE)) if os.path.exists(path) else []


def _of_box(group, box):
    """A group that asks for a role, of a box type that has it."""
    return {**group, "MetricGroup": filled(group["MetricGroup"], box), "Leading": [
        {**metric, "MetricName": filled(metric["MetricName"], box)}
        for metric in group["Leading"]]}


def _without(group, missing):
    return {**group, "Leading": [metric for metric in group["Leading"]
                                 if metric["MetricName"] not in missing]}


def expanded(groups, generations):
    """
    The groups, with a group for each box type in place of one that asks for a role. Its
    leading metrics are those that the box type has; a metric that no box type has stays,
    so that _check_content() refuses it.
    """
    known = {metric.name for generation in generations
             for metric in load_derived(generation, METRICS)}
    for group in groups:
        if "Role" not in group:
            yield group
            continue
        made = [_of_box(group, boxes[0]) for boxes in box_types(generations, group)]
        # the same metric of all box types
        for metrics in zip(*(one["Leading"] for one in made)):
            names = {metric["MetricName"] for metric in metrics}
            if names & known:
                made = [_without(one, names - known) for one in made]
        yield from (one for one in made if one["Leading"] or not group["Leading"])


def _check_form(groups, schema):
    if not isinstance(groups, list):
        yield "is not an array"
        return
    for number, group in enumerate(groups):
        name = group.get("MetricGroup") if isinstance(group, dict) else None
        for reason in validate(group, schema["items"]):
            yield "%s: %s" % (name or "entry %d" % number, reason)


def _check_leading(group, name, found):
    """Check that leading metric @name is in @group in each generation with the metric.
    @found: generations with the metric, each with the metric."""
    if not found:
        yield "no generation has a metric %s" % name
    for generation, metric in found:
        if group not in metric.groups:
            yield "%s of %s is not of this MetricGroup" % (name, generation.name)


def _check_content(groups, generations):
    names = [group["MetricGroup"] for group in groups]
    metrics = {}
    for generation in generations:
        for metric in load_derived(generation, METRICS):
            metrics.setdefault(metric.name, []).append((generation, metric))
    for group in groups:
        name = group["MetricGroup"]
        leading = [metric["MetricName"] for metric in group["Leading"]]
        if names.count(name) > 1:
            yield "%s: the name is used twice" % name
        if not leading:
            yield "%s: Leading is empty" % name
        for metric in leading:
            if leading.count(metric) > 1:
                yield "%s: Leading: %s is given twice" % (name, metric)
            for reason in _check_leading(name, metric, metrics.get(metric, [])):
                yield "%s: Leading: %s" % (name, reason)


def check(groups, schema, generations, shown):
    """Yield the faults of the groups: their form, then names and leading metrics."""
    reasons = list(_check_form(groups, schema)) or _check_content(
        list(expanded(groups, generations)), generations)
    for reason in reasons:
        yield "%s/%s: %s" % (shown, FILE, reason)
