# SPDX-License-Identifier: GPL-2.0-or-later
"""
Groups of metrics that answer a question, from groups.json. The file is for all
generations: a generation has the groups of which it has a leading metric.
"""

import os

from .catalogue import load_json
from .derived import METRICS, load as load_derived
from .schema import validate

FILE = "groups.json"


def load(top, shown):
    """The groups, in the order of the file."""
    path = os.path.join(top, FILE)
    return load_json(path, "%s/%s" % (shown, FILE)) if os.path.exists(path) else []


def _check_form(groups, schema):
    if not isinstance(groups, list):
        yield "is not an array"
        return
    for number, group in enumerate(groups):
        name = group.get("MetricGroup") if isinstance(group, dict) else None
        for reason in validate(group, schema["items"]):
            yield "%s: %s" % (name or "entry %d" % number, reason)


def _check_leading(group, name, generations):
    """Check that leading metric @name is in @group in each generation with the metric."""
    found = [(generation, metric) for generation in generations
             for metric in load_derived(generation, METRICS) if metric.name == name]
    if not found:
        yield "no generation has a metric %s" % name
    for generation, metric in found:
        if group not in metric.groups:
            yield "%s of %s is not of this MetricGroup" % (name, generation.name)


def _check_content(groups, generations):
    names = [group["MetricGroup"] for group in groups]
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
            for reason in _check_leading(name, metric, generations):
                yield "%s: Leading: %s" % (name, reason)


def check(groups, schema, generations, shown):
    """Yield the faults of the groups: their form, then names and leading metrics."""
    reasons = list(_check_form(groups, schema)) or _check_content(groups, generations)
    for reason in reasons:
        yield "%s/%s: %s" % (shown, FILE, reason)
