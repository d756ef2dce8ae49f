# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the events of a catalogue: they follow the schema, no name is used twice, each
encoding fits the control and filter registers of the box, and there are as many names
as in the manual's tables.
"""

import collections

from .catalogue import FIXED_CODE
from .inherit import check_difference
from .schema import validate

# Words with a meaning of their own in pmu/.../ for perf's parser.
PERF_WORDS = {"config", "config1", "config2", "name", "period", "freq", "time",
              "inherit", "overwrite", "percore", "nr", "event", "umask"}


def check_own(generation, box, schema):
    """Yield the faults in the form of the box's file: an array or a difference."""
    if generation.base and isinstance(box.own, dict):
        for name, reason in check_difference(box.own, schema, "EventName"):
            yield ": ".join(filter(None, (box.shown, name, reason)))
    elif not isinstance(box.own, list):
        yield "%s: is not an array of events" % box.shown


def check_raw(box, schema):
    """Yield the faults of the box's events by the schema, before they become Events."""
    for number, (raw, *_) in enumerate(box.raw):
        name = raw.get("EventName") if isinstance(raw, dict) else None
        reasons = list(validate(raw, schema["items"]))
        if isinstance(raw, dict) and ("EventCode" in raw) != box.has_select:
            reasons.append("EventCode is missing" if box.has_select else
                           "EventCode: the %s has no event select" % box.title)
        for reason in reasons:
            yield "%s: %s: %s" % (box.shown, name or "entry %d" % number,
                                  reason)


def _check_select(event):
    """Check that EventCode, UMask and ExtSel fit the control register."""
    box = event.box
    if not box.has_select:
        if event.umask or event.ext:
            yield "UMask, ExtSel: the %s has neither" % box.title
        return
    if event.general == (event.event == FIXED_CODE):
        yield "EventCode 0xff is for fixed and free-running counters only"
    if not box.format["event"].fits(event.code):
        yield "ExtSel: the %s has no extension bit" % box.title
    if event.umask and ("umask" not in box.format or
                        not box.format["umask"].fits(event.umask)):
        yield "UMask 0x%02x does not fit the control register" % event.umask
    if event.umask & event.umask_zeros:
        yield "UMaskZeros: 0x%02x has bits of UMask" % event.umask_zeros
    if event.umask_zeros and event.rule != "any":
        yield "UMaskZeros: only subevents that add up have them"
    if event.general and event.umask and not box.umask_general:
        yield "UMask: the %s's general counters have none" % box.title


def _check_filters(event):
    """Check that Filter names format fields of the PMU with values that fit."""
    seen = set()
    for name, value in event.filters:
        field = event.box.format.get(name)
        if name in seen:
            yield "Filter: %s is given twice" % name
        seen.add(name)
        if name in ("event", "umask") or field is None:
            yield "Filter: the %s has no field %s" % (event.box.title, name)
        elif value is not None and not field.fits(value):
            yield "Filter: %s=0x%x is wider than %d bits" % (
                name, value, len(field.bits))


def without_threshold(fields):
    """
    Yield a fault if @fields, {name: value}, has edge or invert without a threshold.
    Both act on the comparison with the threshold, and there is no comparison with 0.
    The driver refuses such an event.
    """
    acts = [name for name in ("edge", "inv", "occ_edge", "occ_invert")
            if fields.get(name)]
    if acts and not fields.get("thresh", 0):
        yield "%s has no effect without thresh" % ", ".join(acts)


def _check_threshold(event):
    # assume a value other than 0 where the user gives the value
    for reason in without_threshold({
            name: 1 if value is None else value
            for name, value in event.filters}):
        yield "Filter: %s" % reason


def _check_counters(event):
    numbers = event.counter.split(",") if event.general else []
    if numbers != sorted(set(numbers)):
        yield "Counter: %s is not in ascending order" % event.counter
    for number in numbers:
        if int(number) >= event.box.counters:
            yield "Counter: the %s has no counter %s" % (event.box.title,
                                                         number)


def check_events(box):
    """Yield the faults of the box's events, and the contradictions between them."""
    names, counters, encodings = set(), {}, {}
    for event in box.events:
        reasons = []
        if event.name in names:
            reasons.append("the name is used twice")
        if event.name in PERF_WORDS:
            reasons.append("the name is a keyword of perf")
        names.add(event.name)
        reasons.extend(_check_select(event))
        reasons.extend(_check_filters(event))
        reasons.extend(_check_threshold(event))
        reasons.extend(_check_counters(event))

        first = counters.setdefault(event.code, event)
        if event.general and event.ctrs != first.ctrs:
            reasons.append("Counter: %s, but %s, of the same code, has %s"
                           % (event.counter, first.name, first.counter))
        other = encodings.setdefault(event.perf_string, event.name)
        if event.alias and event.alias != other:
            reasons.append("Alias: %s, given before it, is not the same"
                           % event.alias)
        elif other != event.name and not event.alias:
            reasons.append("%s is already %s" % (event.perf_string, other))
        if event.general and not event.section:
            reasons.append("Section is missing, and no reading has the event")
        for reason in reasons:
            yield "%s: %s: %s" % (box.shown, event.name, reason)


def check_counts(generation):
    """Compare the number of names that cite the manual with manual.json."""
    manual = generation.load("manual.json", missing={})
    for box in generation.boxes:
        if not manual or not box.raw:
            continue
        ours = collections.Counter(
            event.base for event in box.general_events
            if not event.alias and event.section.startswith("§"))
        theirs = manual.get(box.name, {})
        for base in sorted(ours.keys() | theirs):
            if ours[base] != theirs.get(base, 0):
                yield ("%s/manual.json: %s: names of %s/%s that cite the manual: "
                       "%d (expected %d, as in its tables)" %
                       (generation.shown, base, box.name, base, ours[base],
                        theirs.get(base, 0)))
