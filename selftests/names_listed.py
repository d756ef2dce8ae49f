#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Does sysfs list the catalogue? For every PMU: the files of events/ are the
names of events/hswep/*.json, none missing and none extra, with encoding, unit
and scale as the JSON says; and the files of format/ are the catalogue's fields.
The JSON is read here anew, not by the generator.
"""

import os
import re

from lib.uncore import DEVICES, Machine, Tap, catalogue, pmus, read


def listing(folder):
    return {name: read(os.path.join(folder, name))
            for name in os.listdir(folder)}


def terms(text):
    """{"event": 0x102, "filter_state": "?"} of a perf event string."""
    result = {}
    for term in text.split(","):
        name, _, value = term.partition("=")
        if name in result:
            raise ValueError("%s is given twice" % name)
        result[name] = value if value == "?" else int(value or "1", 0)
    return result


def encoding(event):
    result = {"event": int(event["EventCode"], 16) |
                       int(event.get("ExtSel", "0")) << 8}
    if int(event.get("UMask", "0"), 16):
        result["umask"] = int(event["UMask"], 16)
    if "Filter" in event:
        result.update(terms(event["Filter"]))
    return result


def scale_unit(text):
    return re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?)(\D.*)", text).groups()


def wrong_events(events, files):
    """What is wrong with a PMU's events folder."""
    files = dict(files)
    for event in events:
        name = event["EventName"]
        text = files.pop(name, None)
        if text is None:
            yield "%s is missing" % name
        elif terms(text) != encoding(event):
            yield "%s is %s, want %s" % (name, text, encoding(event))
        if "ScaleUnit" not in event:
            continue
        scale, unit = scale_unit(event["ScaleUnit"])
        if float(files.pop(name + ".scale", "nan")) != float(scale):
            yield "%s.scale is not %s" % (name, scale)
        if files.pop(name + ".unit", None) != unit:
            yield "%s.unit is not %s" % (name, unit)
    for name in sorted(files):
        yield "%s is not in the catalogue" % name


def wrong_fields(fields, files):
    for name in sorted(fields.keys() | files.keys()):
        if fields.get(name) != files.get(name):
            yield "%s is %s, want %s" % (name, files.get(name),
                                         fields.get(name))


def main():
    tap = Tap()
    with Machine(tap):
        for kind, facts in catalogue("boxes").items():
            events = catalogue(kind)
            units = sum("ScaleUnit" in event for event in events)
            wrong = []
            names = pmus(kind)
            for pmu in names:
                files = listing(DEVICES + pmu + "/events")
                fields = listing(DEVICES + pmu + "/format")
                wrong += ["%s: %s" % (pmu, text) for text in
                          list(wrong_events(events, files)) +
                          list(wrong_fields(facts["Format"], fields))]
            tap.ok(names and not wrong, "%s: %d PMUs list %d names, %d of them"
                   " with a unit, and %d fields" %
                   (kind, len(names), len(events), units,
                    len(facts["Format"])), wrong)
    tap.end()


if __name__ == "__main__":
    main()
