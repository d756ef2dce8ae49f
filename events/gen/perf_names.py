# SPDX-License-Identifier: GPL-2.0-or-later
"""
Names in perf's event files that do not follow from the catalogue's names: events with
a filter (llc_misses.pcie_read), events that the manual does not have, and a few names
that perf spells differently. collect() finds them in perf's files for perf-names.json,
of which rows() makes a table of the library.
"""

import glob
import json
import os
import re

from . import layout
from .roles import boxes_by

FILE = "perf-names.json"
# Names of free-running counters, whose encodings perf's files lack, and event strings.
# Counters without an event string here have no event in the catalogue.
FREERUN = "_freerun"
FREE_RUNNING = (
    (re.compile(r"unc_iio_bandwidth_in\.part(\d)_freerun"), r"iio_free_running/bw_in_port\1/"),
    (re.compile(r"unc_iio_clockticks_freerun"), "iio_free_running/ioclk/"),
    (re.compile(r"unc_m_clockticks_freerun"), "imc_free_running/dclk/"),
)


def follows(name, letters, events):
    """
    Does the library find @name among @events without a row in its table?  @letters has
    the box type by the letter in a name such as UNC_M_CAS_COUNT.
    """
    letter, _, event = name.removeprefix("unc_").partition("_")
    return name.startswith("unc_") and letter in letters and \
        (letters[letter].name, event) in events


def number(entry, key):
    return int(entry.get(key) or "0", 0)


def second_register(box, value):
    """
    The fields of the second filter register of @box with @value.  The register is the upper
    half of config1, although perf's files name config1 itself.
    """
    return ",".join("%s=%#x" % (name, part) for name, field in box.format.items()
                    if field.word == 1 and min(field.bits) >= 32
                    for part in [field.extract(value << 32)] if part)


def free_running(name):
    """The event string for the name of a free-running counter, or None."""
    return next((match.expand(terms) for pattern, terms in FREE_RUNNING
                 for match in [pattern.fullmatch(name)] if match), None)


def terms_of(entry, box, events):
    """The event string for an entry of perf's file; None if no string selects it."""
    if entry["EventName"].lower().endswith(FREERUN):
        return free_running(entry["EventName"].lower())
    fields = re.sub(r"\s|^(na|null)$", "", entry.get("Filter") or "")
    second = "config1=" in fields
    fields = re.sub(r"config1=(\w+)", lambda match: second_register(
        box, int(match[1], 0)), fields)
    # Snow Ridge's file has filters of Skylake-SP's CHA, which its own does not have
    if second and not fields:
        return None
    if fields and not re.fullmatch(r"((filter_\w+|ch_mask)=\w+,?)+", fields):
        return None
    fields = [field for field in fields.split(",") if field]
    if any(field.split("=")[0] not in box.format for field in fields):
        return None
    # perf leaves out tid_en, without which filter_tid has no effect
    if any(field.startswith("filter_tid=") for field in fields):
        fields.append("tid_en=1")
    code = number(entry, "EventCode")
    umask = number(entry, "UMask") | number(entry, "UMaskExt") << 8
    if "umask" in box.format and not box.format["umask"].fits(umask):
        return None
    # masks in the control of an IO stack
    masks = {field: number(entry, key) for key, field in (
        ("PortMask", "ch_mask"), ("FCMask", "fc_mask")) if field in box.format}
    # perf has the filter after them
    masks.update((key, int(value, 0)) for key, value in (
        field.split("=") for field in fields) if key in masks)
    fields = [field for field in fields if field.split("=")[0] not in masks]
    # the clock of the UBox is on its fixed counter, not an event with code 0
    if (box.name, "uclk") in events and not code | umask:
        return "ubox/uclk/"
    if number(entry, "ExtSel"):
        code |= 1 << (len(box.format["event"].bits) - 1)
    given = {field.split("=")[0] for field in fields} | set(masks)
    config = box_config(box, code, umask)
    for field, value in masks.items():
        config |= box.format[field].place(value)
    same = sorted(name for (box_type, name), event in events.items()
                  if box_type == box.name and not event.alias and
                  event.config() == [config, 0, 0] and
                  {key for key, _ in event.filters} <= given)
    first = [same[0]] if same else ["event=%#x" % code] + \
        ["umask=%#x" % umask] * bool(umask) + \
        ["%s=%#x" % item for item in masks.items() if item[1]]
    return "%s/%s/" % (box.name, ",".join(first + fields))


def box_config(box, code, umask):
    config = box.format["event"].place(code)
    if "umask" in box.format:
        config |= box.format["umask"].place(umask)
    return config


def collect(generations, folders):
    """{generation: {name: event string}} of perf's files in @folders."""
    files = sorted(path for folder in folders for path in glob.glob(
        os.path.join(folder, "**", "*.json"), recursive=True))
    found = {}
    for generation in generations:
        perfs = generation.perf_folder
        events = {(box.name, event.name): event for box in generation.boxes
                  for event in box.events}
        letters, units = (boxes_by(generation, tool) for tool in ("Perf", "PerfUnit"))
        for path in files if perfs else ():
            if perfs not in path.lower() or "uncore" not in path.lower():
                continue
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            for entry in data["Events"] if isinstance(data, dict) else data:
                name = entry["EventName"].lower()
                box = units.get(entry["Unit"].lower())
                if box is None or follows(name, letters, events):
                    continue
                terms = terms_of(entry, box, events)
                if terms:
                    found.setdefault(generation.name, {})[name] = terms
    return found


def text(names):
    """The text of perf-names.json: names under the list of generations with that name."""
    shared = {}
    for name in sorted({one for its in names.values() for one in its}):
        for terms in sorted({its[name] for its in names.values() if name in its}):
            having = [generation for generation in sorted(names)
                      if names[generation].get(name) == terms]
            shared.setdefault(" ".join(having), {})[name] = terms
    return layout.text({having: dict(sorted(names.items()))
                        for having, names in sorted(shared.items())})


def rows(top, generation):
    """The rows of the library's table of names and event strings."""
    return ['\t{ "%s"sv, "%s"sv },\n' % each
            for each in sorted(load(top, generation).items())]


def load(top, generation):
    """The names of a generation, from perf-names.json."""
    path = os.path.join(top, FILE)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {name: terms for having, names in json.load(file).items()
                if generation.name in having.split() for name, terms in names.items()}
