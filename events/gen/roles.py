# SPDX-License-Identifier: GPL-2.0-or-later
"""
What box types mean to users. A box type's Role, and its Part in this role, tell which
series the exporter has of it, where it is on the die map, which presets it has, and which
rules of uncore diagnose. The entries of series.json, limits.json, presets.json and
diagnose.json ask for a role and a part; in their names and texts {box} and {title} stand
for the box type that has them.
"""

import os

from .catalogue import load_json
from .schema import validate

# The parts of each role; "" is for box types that have no role, or are all of it.
ROLES = {
    "": ("", "clock", "snoops", "stop"),
    "cache": ("", "slice"),
    "memory": ("agent", "channel", "controller"),
    "link": ("bus", "link", "stop"),
    "io": ("stack", "stop", "unit"),
    "power": ("unit",),
}
TOOLS = ("LIKWID", "Other", "Perf", "PerfUnit")
INTERCONNECTS = ("mesh", "ring")
# Parts of which a machine has few, and which differ from one another.
ALWAYS_APART = ("channel", "controller", "link")
# The files that ask for roles, and the key of an entry's name.
FILES = {"series.json": "Series", "limits.json": "Limit", "presets.json": "Preset",
         "diagnose.json": "Finding"}


def load(top, file):
    """The entries of one of FILES; none where a catalogue has no such file."""
    path = os.path.join(top, file)
    return load_json(path, "events/" + file) if os.path.exists(path) else []


def place_of(entry):
    """The role and the part that an entry asks for."""
    return entry.get("Role", ""), entry.get("Part", "")


def filled(text, box):
    """@text with the name and the title of a box type."""
    return text.replace("{box}", box.name).replace("{title}", box.title)


def names_of(box, tool):
    """The names that a tool has for the box type."""
    text = box.names.get(tool)
    return text.split(",") if text else []


def boxes_by(generation, tool):
    """{name that a tool has for a box type, in lower case: box type} of a generation."""
    found = {}
    if tool == "Other":     # these tools have the catalogue's names for most box types
        found = {box.name: box for box in generation.boxes}
    for box in generation.boxes:
        found.update((name.lower(), box) for name in names_of(box, tool))
    return found


def is_for(entry, generation):
    """Is an entry for generations with this one's way to connect boxes?"""
    return entry.get("Interconnect") in (None, generation.interconnect)


def box_types(generations, entry):
    """Lists of the box types that have what @entry asks for, one list for each name."""
    found = {}
    for generation in generations:
        if not is_for(entry, generation):
            continue
        for box in generation.boxes:
            if (box.role, box.part) == place_of(entry):
                found.setdefault(box.name, []).append(box)
    return found.values()


def _has_event(box, text):
    """Does the box type have the event of a string such as "dclk,filter_state=1"?"""
    return any(event.name == text.split(",")[0] for event in box.events)


def presets(top, generations):
    """(name, box type, event string, help, whether a default) of uncore top's presets."""
    for entry in load(top, "presets.json"):
        for boxes in box_types(generations, entry):
            box = boxes[0]
            name = filled(entry["Preset"], box)
            if any(_has_event(one, entry["Event"]) for one in boxes):
                yield (name, box.name, "%s/%s,name=%s/" % (box.name, entry["Event"], name),
                       entry["Help"], "Default" in entry)


def series(top, generations):
    """Each entry of series.json with each box type that has one of its events."""
    for entry in load(top, "series.json"):
        for boxes in box_types(generations, entry):
            if any(_has_event(box, one["Event"])
                   for box in boxes for one in entry["Events"]):
                yield entry, boxes[0]


def numbered(generations):
    """{box type: part} of the types of which a generation has several boxes."""
    return {box.name: box.part for generation in generations for box in generation.boxes
            if box.part and int((box.registers or {}).get("Boxes", "1"), 0) > 1}


def _check_box(box):
    if box.role not in ROLES:
        yield "Role: %r is not one of %s" % (box.role, ", ".join(filter(None, ROLES)))
    elif box.part not in ROLES[box.role]:
        yield "Part: %r is not one of %s" % (
            box.part, ", ".join(filter(None, ROLES[box.role])))
    for tool in box.names:
        if tool not in TOOLS:
            yield "Names: %s is not a known key" % tool


def _check_names(generation):
    """Yield the names that a tool would have for two box types."""
    for tool in TOOLS:
        names = [name.lower() for box in generation.boxes for name in names_of(box, tool)]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield "Names: %s: %s is the name of two box types" % (tool, name)


def check_boxes(generation):
    """Yield the faults of the roles in a generation's boxes.json."""
    shown = "%s/boxes.json" % generation.shown
    places = {}
    if generation.interconnect not in (None, *INTERCONNECTS):
        yield "%s: Interconnect: %r is not one of %s" % (
            shown, generation.interconnect, ", ".join(INTERCONNECTS))
    for reason in _check_names(generation):
        yield "%s: %s" % (shown, reason)
    for box in generation.boxes:
        for reason in _check_box(box):
            yield "%s: %s: %s" % (shown, box.name, reason)
        place = box.role, box.part
        first = places.setdefault(place, box)
        if any(place) and first is not box:
            yield "%s: %s: Role and Part are those of %s" % (shown, box.name, first.name)


def _check_entry(entry, name):
    role, part = place_of(entry)
    if part not in ROLES.get(role, ()):
        yield "%s: Role and Part: no box type is %s %s" % (name, role, part)


def check(top, shown, schema):
    """Yield the faults of the files that ask for roles; @schema has one for each file."""
    for file, key in FILES.items():
        entries = load(top, file)
        reasons = list(validate(entries, schema["properties"][file]))
        if not reasons:
            reasons = [reason for entry in entries
                       for reason in _check_entry(entry, entry[key])]
        for reason in reasons:
            yield "%s/%s: %s" % (shown, file, reason)
