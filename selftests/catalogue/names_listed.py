#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check that sysfs lists the names of the catalogue. The events/ folder of every PMU has a
file for each name of events/hswep/*.json and no other file, with the encoding, unit and
scale of the JSON file; and the format/ folder has the fields of the catalogue. With
events=all the driver lists all names, by default the common names, and with events=none no
name. libuncore knows all names in each case. The test reads the JSON files itself, without
the generator.
"""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.top import UNCORE  # noqa: E402
from lib.python.uncore import (BUILD, DEVICES, SIM, Machine, Tap, boxes,  # noqa: E402
                               catalogue, pmus, read)

DRIVER = os.path.join(BUILD, "kmod", "xeon_uncore.ko")


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
    """Yield errors in the files of a PMU's events/ folder."""
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
    fields = dict(fields, local="config:22")    # a field of the driver, not of a register
    for name in sorted(fields.keys() | files.keys()):
        if fields.get(name) != files.get(name):
            yield "%s is %s, want %s" % (name, files.get(name),
                                         fields.get(name))


def test_listing(tap, mode, params):
    """Check the names of every PMU with the driver's parameters @params."""
    with Machine(tap, params=params):
        for box_type, facts in boxes().items():
            events = [event for event in catalogue(box_type) if mode == "all" or
                      (mode == "common" and "Common" in event)]
            units = sum("ScaleUnit" in event for event in events)
            wrong = []
            names = pmus(box_type)
            for pmu in names:
                files = listing(DEVICES + pmu + "/events")
                fields = listing(DEVICES + pmu + "/format")
                wrong += ["%s: %s" % (pmu, text) for text in
                          list(wrong_events(events, files)) +
                          list(wrong_fields(facts["Format"], fields))]
            tap.ok(names and not wrong, "events=%s: %s: %d PMUs list %d names, %d of them"
                   " with a unit, and %d fields" %
                   (mode, box_type, len(names), len(events), units,
                    len(facts["Format"])), wrong)
        libuncore_names(tap, mode)


def libuncore_names(tap, mode):
    """uncore stat counts events by name even if sysfs does not list the name."""
    if not os.access(UNCORE, os.X_OK):
        tap.say("%s is not built" % UNCORE)
        return
    for name, code, umask in (("power_self_refresh", 0x43, 0),
                              ("act_count.rd", 0x01, 1)):
        run = subprocess.run(
            [UNCORE, "stat", "--json", "-e", "imc_0/%s,name=probe/" % name,
             "--", "sh", "-c", "echo pkg=0 box=imc_0 event=%#x umask=%#x "
             "count=37 > %straffic" % (code, umask, SIM)],
            capture_output=True, text=True)
        shown = run.stdout + run.stderr
        tap.ok(run.returncode == 0 and "probe" in shown and
               re.search(r"[^0-9]37(\.0*)?[^0-9.]", shown),
               "%s: uncore counts imc_0/%s/" % (mode, name), [shown])


def test_bad_word(tap):
    """The driver refuses another value of events=; the log has the valid values."""
    with Machine(tap):
        pass
    run = subprocess.run(["insmod", DRIVER, "events=some"],
                         capture_output=True, text=True)
    log = subprocess.run(["dmesg"], capture_output=True, text=True).stdout
    tap.ok(run.returncode and "must be all, common or none" in log,
           "events=some is refused", [run.stderr])


def main():
    tap = Tap()
    for mode, params in (("all", ["events=all"]), ("common", []),
                         ("none", ["events=none"])):
        test_listing(tap, mode, params)
    with Machine(tap, params=["events=none", "pmu_prefix=uncore"]):
        libuncore_names(tap, "none, under the in-tree driver's names")
    test_bad_word(tap)
    tap.end()


if __name__ == "__main__":
    main()
