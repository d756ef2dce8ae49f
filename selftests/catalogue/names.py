#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check that the uncore command understands the event names of other tools, for every
generation: it accepts each name of perf's event files, and refuses a name of libpfm4 with
the name to write instead. The machine is a made-up sysfs folder. Prints TAP.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "events"), os.path.dirname(HERE)]

from compare import (LACK_FIELDS, READINGS, Unavailable,  # noqa: E402
                     build_dumper, lacks_fields, packaged_files, pfm_box)
from gen import perf_names, roles  # noqa: E402
from gen.lists import in_driver  # noqa: E402
from generate import checked_generations  # noqa: E402
from lib.python.uncore import UNCORE, Tap  # noqa: E402

EVENTS = os.path.join(TOP, "events")
# Message of uncore stat if it understands the event name: it then fails because the made-up
# machine has no PMU.
UNDERSTOOD = "this machine does not count"
# Names of perf's files that no event string has; events/*/omitted.json says why
ICE_LAKE = r"UNC_CHA_PIPE_REJECT\.VN_BL_(WB|NCB|NCS)|UNC_IIO_BANDWIDTH_OUT\..*"
UNCOUNTED = {
    "icx": ICE_LAKE, "icxd": ICE_LAKE,
    "snr": ICE_LAKE + r"|LLC_MISSES\.(MMIO_.*|UNCACHEABLE)|LLC_REFERENCES\.STREAMING_.*",
}
PFM_NAMES = 20      # names of libpfm4 per generation: each needs a process


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def make_machine(top, generation):
    """Write the sysfs of a machine with a box of each type into folder @top."""
    family, model = re.search(r"family (\d+) model (\d+)",
                              generation.models).groups()
    cpus = top + "/devices/system/cpu/"
    write(cpus + "modalias", "cpu:type:x86,ven0000fam%04Xmod%04X:feature:" %
          (int(family), int(model)))
    write(cpus + "cpu0/topology/physical_package_id", "0")
    for number, box in enumerate(generation.boxes):
        folder = "%s/bus/event_source/devices/%s_%s_0/" % (
            top, generation.name, box.name)
        write(folder + "type", "%d" % (3000 + number))
        write(folder + "cpumask", "0")
        for name, bits in box.format_text.items():
            write(folder + "format/" + name, bits)


def answer(sysfs, events, option="-e"):
    """The last line of uncore stat's messages on events, or on metrics."""
    run = subprocess.run([UNCORE, "--sysfs", sysfs, "stat", option, events,
                          "true"], stdout=subprocess.PIPE, check=False,
                         stderr=subprocess.PIPE, encoding="utf-8", timeout=300)
    return (run.stderr.splitlines() or [run.stdout])[-1]


def test_perf(tap, generation, sysfs, texts):
    units = roles.boxes_by(generation, "PerfUnit")
    # names of events with a filter that perf's files do not set: they would count nothing
    filtered = {"unc_%s_%s" % (letter, event.name)
                for letter, box in roles.boxes_by(generation, "Perf").items()
                for event in box.events
                if any(value is None for _, value in event.filters)}
    names = {entry["EventName"] for text in texts for entry in json.loads(text)
             if entry["Unit"].lower() in units and
             entry["EventName"].lower() not in filtered and
             not re.fullmatch(UNCOUNTED.get(generation.name, ""), entry["EventName"])}
    for name in sorted(filtered)[:1]:
        said = answer(sysfs, name)
        tap.ok(re.search(r"needs \w+=", said), "%s: %s needs a filter" % (
            generation.name, name), [said])
    said = [answer(sysfs, ",".join(sorted(names)[i:i + 1000]))
            for i in range(0, len(names), 1000)]    # a list of events has 65,536 characters
    tap.ok(len(names) > 300 and all(UNDERSTOOD in one for one in said),
           "%s: %d names of perf's are understood" % (generation.name,
                                                      len(names)), said)
    for name, want in (("unc_m_cas_count.rd", "imc"),
                       ("unc_m_no_such_thing", None)):
        said = answer(sysfs, name)
        there = any(box.name == want for box in generation.boxes)
        tap.ok((UNDERSTOOD in said) == there,
               "%s: %s" % (generation.name, name), [said])


def test_metrics(tap, generation, sysfs):
    for name in ("DRAM_BW_Use", "memory_bandwidth_read",
                 "memory_bandwidth_write", "memory_bandwidth_total",
                 "io_bandwidth_read", "io_bandwidth_write",
                 "qpi_data_transmit_bw"):
        said = answer(sysfs, name, "-M")
        tap.ok(UNDERSTOOD in said, "%s: -M %s" % (generation.name, name),
               [said])


def test_collected(tap, generations, files):
    """perf-names.json has the names of perf's event files."""
    title = "perf-names.json is what generate.py --perf-names collects"
    if any(lacks_fields(json.loads(text)) for texts in files.values()
           for text in texts):
        tap.skip(title, LACK_FIELDS)
        return
    with tempfile.TemporaryDirectory() as folder:
        for perfs, texts in files.items():
            for number, text in enumerate(texts):
                write("%s/%s/uncore-%d.json" % (folder, perfs, number), text)
        found = perf_names.collect(generations, [folder])
    wrong = ["%s: %s is %s" % (generation.name, name, event)
             for generation in generations
             for name, event in found.get(generation.name, {}).items()
             if perf_names.load(EVENTS, generation).get(name) != event]
    tap.ok(found and not wrong, title, wrong)


def test_libpfm4(tap, generation, sysfs):
    prefix = READINGS[generation.name][0]
    with tempfile.TemporaryDirectory() as folder:
        try:
            dumper = build_dumper(folder)
        except Unavailable as error:
            tap.skip("%s: names of libpfm4" % generation.name, str(error))
            return
        lines = subprocess.run([dumper, prefix], check=True,
                               capture_output=True, text=True).stdout
    names = ["%s::%s:%s" % (pmu, event, more[0])
             for pmu, event, _, *more in map(str.split, lines.splitlines())
             if more and pfm_box(generation, pmu)]
    if not names:
        tap.skip("%s: names of libpfm4" % generation.name, "libpfm4 does not know them")
        return
    names = names[::-(-len(names) // PFM_NAMES)]
    answered = [re.search(r" is libpfm4's name: write (\S+)$",
                          answer(sysfs, name)) for name in names]
    ours = [found.group(1) for found in answered if found]
    said = answer(sysfs, ",".join(re.sub(r"_\d+/", "/", name) for name in ours))
    tap.ok(len(ours) > len(names) * 0.6,
           "%s: %d of %d names of libpfm4 have an answer" % (
               generation.name, len(ours), len(names)),
           [name for name, found in zip(names, answered) if not found])
    tap.ok(UNDERSTOOD in said or "needs" in said,
           "%s: which is understood" % generation.name, [said])


def test_modifiers(tap, generation, sysfs):
    event = next("%s/%s/" % (box.name, event.name) for box in generation.boxes
                 for event in box.events
                 if all(value is not None for _, value in event.filters))
    for modifier, good in (("S", True), (":D", True), ("W", True),
                           (":SDW", True), ("u", False), (":k", False)):
        said = answer(sysfs, event + modifier)
        tap.ok((UNDERSTOOD in said) == good,
               "%s: %s%s" % (generation.name, event, modifier), [said])


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    generations = checked_generations(EVENTS)
    if generations is None:
        return 1
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    files = packaged_files()
    if files:
        test_collected(tap, generations, files)
    else:
        tap.skip("perf-names.json", "no kernel source (linux-source)")
    # the command has no machine for a generation that is a catalogue alone
    for generation in filter(in_driver, generations):
        with tempfile.TemporaryDirectory() as sysfs:
            make_machine(sysfs, generation)
            test_modifiers(tap, generation, sysfs)
            texts = files.get(generation.perf_folder)
            if texts:
                test_perf(tap, generation, sysfs, texts)
            if generation.name == "hswep":
                test_metrics(tap, generation, sysfs)
            if generation.name in READINGS:
                test_libpfm4(tap, generation, sysfs)
    tap.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
