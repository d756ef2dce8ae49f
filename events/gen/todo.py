# SPDX-License-Identifier: GPL-2.0-or-later
"""
List the work that is left for a generation and its box types.  The driver, the library,
the exporter's tables and the machines of the tests are generated from the catalogue; the
other files below are written by hand.
"""

import os
import re

from . import roles
from .derived import METRICS, load as load_derived
from .registers import in_function

SIMULATED = "kmod/sim/hw/{name}.c"
INCLUDE = re.compile(r'^#include "(\w+\.h)"', re.M)

# A file, a pattern of text in the file that shows that the generation is done, and the
# task otherwise.  {name} is the generation, {model} the model number of its processor.
PLACES = (
    ("events/{name}/readings.json", "", "hold the events against other readings: "
     "selftests/catalogue/compare.py --update"),
    ("selftests/catalogue/compare.py", '"{name}"', "add the names that the "
     "readings give it to READINGS"),
    (SIMULATED, "", "write the simulated hardware's tables, from the "
     "documents and not from boxes.json"),
    ("kmod/sim/model/model.h", r"\bmodel_{name}\b", "declare model_{name}"),
    ("kmod/sim/model/model.c", r"&model_{name}\b", "add it to model_generations[]"),
    ("selftests/lib/c/generation.c", '"{name}"', "add a row with what the tests must "
     "know of it"),
    ("selftests/lib/python/metric_formulas.py", '"{name}"', "add it to TABLES"),
    ("selftests/scenarios/test_flow.py", '"{name}"', "add it to MACHINES"),
    ("userspace/cli/checks/readiness.cpp", r"\b{model}\b", "name its model in the "
     "advice for unsupported processors"),
    ("userspace/cli/man/uncore-list.1.in", r"\b{name}\b", "name it under --machine"),
    ("Documentation/driver.rst", r"\b{pattern}", "name its PMUs"),
    ("Documentation/simulator.rst", r"``{name}``", "name it as a value of model"),
    ("Documentation/porting.rst", r"``{name}``", "describe where its sources differ"),
)
# Files, patterns and tasks for each box type, {box} or {BOX}.
BOX_PLACES = (
    (SIMULATED, r'"{box}"', "give its registers to box_types[], from the documents and not "
     "from boxes.json"),
    ("Documentation/driver.rst", r"_{box}(?![a-z0-9])", "describe its PMUs"),
)
# Files, patterns and tasks for box types of the machine in the model's tests, and the
# generation of that machine.
MODELLED = "hswep"
MODEL_PLACES = (
    ("selftests/sim/model/machine.cpp", r'"{box}"', "add its name and its registers"),
    ("selftests/sim/model/reference.cpp", r"_{box}_waves\b", "add its waveforms to "
     "waves()"),
    ("selftests/sim/model/config_test.cpp", r'"{box}"', "add its name and the number "
     "of its boxes to NamesAndNumbersOfBoxes"),
)
# The generations without an event select. Documentation names their PMUs by a pattern,
# and there are no formulas to compare their metrics with.
FRONTSIDE = re.compile(r"xeon7[0-9]00")
ONLY_UNCORE = {"events/{name}/readings.json", "selftests/catalogue/compare.py",
               "selftests/lib/python/metric_formulas.py",
               "selftests/scenarios/test_flow.py"}
# Keys without which a box type has no row in the driver's table.
NEEDED = ("Space", "Boxes", "Width", "MaxInc", "Control")


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def _simulated(top, path):
    """The text of a simulated generation's file, and of the files that it includes."""
    text = _read(os.path.join(top, path)) or ""
    folder = os.path.dirname(path)
    shared = (_read(os.path.join(top, folder, name)) or ""
              for name in INCLUDE.findall(text))
    return text + "".join(shared)


def _box_types(generation, top, frontside):
    """Yield (file, task) for each box type of a generation."""
    modelled = {box.name for box in generation.root.boxes
                if generation.root.name == MODELLED}
    for box in generation.boxes:
        # other tools may call free-running counters by the box type of general ones
        if not box.names and box.counters and not frontside:
            yield "%s/boxes.json" % generation.shown, box.name + \
                ": give Names, which other tools have for it"
        places = list(BOX_PLACES)
        if box.name in modelled:
            places += MODEL_PLACES
        words = {"name": generation.name, "box": box.name, "BOX": box.name.upper()}
        for place, pattern, what in places:
            path = place.format(**words)
            text = _simulated(top, path) if place == SIMULATED else _read(
                os.path.join(top, path))
            # work() lists a missing file as one task
            if text and not re.search(pattern.format(**words), text):
                yield path, box.name + ": " + what.format(**words)


def _data(generation):
    """Yield (file, task) for keys that boxes.json lacks, and for files without events."""
    file = "%s/boxes.json" % generation.shown
    if not generation.processor:
        yield file, ("give Family and Model: without them there is a catalogue, and "
                     "neither driver nor machine")
    if not generation.models:
        yield file, "give Models"
    if not generation.year:
        yield file, "give Year, in which it was released"
    if not generation.max_mhz:
        yield file, "give MaxMHz, which no uncore clock exceeds"
    if not generation.registers:
        yield file, "give the package's Registers"
    for box in generation.boxes:
        registers = box.registers or {}
        lacks = [key for key in NEEDED if key not in registers and
                 (key != "Control" or box.counters)]
        if registers.get("Space") == "pci":
            lacks += [key for key in ("Devices",) if key not in registers]
        if lacks:
            yield file, "%s: Registers: give %s" % (box.name, ", ".join(lacks))
        elif registers["Space"] == "pci":
            found = len(registers["Devices"].split(",")) * in_function(box)
            if found < int(registers["Boxes"], 0):
                yield file, "%s: Registers: Devices: %d boxes of %s have none" % (
                    box.name, int(registers["Boxes"], 0) - found,
                    registers["Boxes"])
        if not box.raw:
            yield file.replace("boxes", box.name), "write its events"


def _metrics(generation):
    """The names of a generation's metrics; none while its files have faults."""
    try:
        return {metric.name for metric in load_derived(generation, METRICS)}
    except (KeyError, ValueError):
        return set()


def _roles(generation, catalogue):
    """
    Yield (file, task) for box types whose role the exporter, the die map and the presets
    ask for in vain.
    """
    metrics, related = _metrics(generation), [generation]
    while related[-1].base:
        related.append(related[-1].base)
    unlimited = {name for one in related for item in one.load("omitted.json", missing=[])
                 for name in item.get("Limits", "").split(",")}
    with_series = {box.name for _, box in roles.series(catalogue, related)}
    if not any(box.role for box in generation.boxes):
        yield "%s/boxes.json" % generation.shown, "give Role to its box types"
    for box in generation.boxes:
        if (box.role or box.part) and box.name not in with_series:
            yield "events/series.json", "%s: give it a series: no entry of its Role " \
                "and Part has one of its events" % box.name
        for entry in roles.load(catalogue, "limits.json"):
            if roles.place_of(entry) != (box.role, box.part) or \
                    not roles.is_for(entry, generation) or entry["Limit"] in unlimited:
                continue
            lacks = [name for name in roles.filled(
                entry.get("Metrics", ""), box).split(",") if name and name not in metrics]
            if lacks:
                yield "%s/metrics.json" % generation.shown, "write %s: the limit '%s' " \
                    "is made of it" % (", ".join(lacks), roles.filled(entry["Limit"], box))


def work(generation, top):
    """Yield (file, task) of a generation, in the order of work."""
    yield from _data(generation)
    yield from _roles(generation, os.path.join(top, "events"))
    frontside = FRONTSIDE.fullmatch(generation.name)
    words = {"name": generation.name,
             "model": generation.processor[1] if generation.processor else 0,
             "pattern": r"xeon7\*00_" if frontside else generation.name + "_"}
    for place, pattern, what in PLACES:
        if frontside and place in ONLY_UNCORE:
            continue
        path = place.format(**words)
        text = _read(os.path.join(top, path))
        if text is None or not re.search(pattern.format(**words), text):
            yield path, what.format(**words)
    yield from _box_types(generation, top, frontside)
