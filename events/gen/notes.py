# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the names in notes. A note must not name an event, a metric, a field or an opcode
that only another generation has, except in "NAME is not an event of this part", which
must be true.
"""

import re

from .derived import METRICS, OPCODES, load

# Words of notes. _wrong() takes words with an underscore or a dot for names.
WORD = re.compile(r"(?<![\w.:/-])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*"
                  r"(?:\.[A-Za-z0-9_]+)?(?![\w/-])")
ABSENT = re.compile(r"^ is not an event of this part")


def names(generation):
    """Names of fields, events, metrics and opcodes of a generation, in lower case."""
    found = set()
    for box in generation.boxes:
        found.update(box.format)
        for event in box.events:
            found.update((event.name, event.base))
    for metric in load(generation, METRICS):
        found.add(metric.name)
    found.update(opcode.name for opcode in load(generation, OPCODES))
    return found


def _notes(generation):
    """Yield (file, entry, note) of each entry of a generation."""
    for box in generation.boxes:
        for event in box.events:
            yield box.shown, event.name, event.note
        for rule in generation.facts[box.name].get("Filters", []):
            yield generation.shown + "/boxes.json", box.name, rule.get("Note")
        yield (generation.shown + "/boxes.json", box.name,
               (box.registers or {}).get("Note"))
    yield (generation.shown + "/boxes.json", "Registers",
           (generation.registers or {}).get("Note"))
    for metric in load(generation, METRICS):
        yield generation.shown + "/metrics.json", metric.name, metric.note
    for opcode in load(generation, OPCODES):
        yield generation.shown + "/opcodes.json", opcode.name, opcode.note


def _wrong(note, own, others):
    for match in WORD.finditer(note):
        name = match.group().lower()
        if "_" not in name and "." not in name:
            continue
        if ABSENT.match(note[match.end():]):
            if name in own:
                yield "%s is an event of this part" % match.group()
        elif name in others and name not in own:
            yield ("%s is a name of %s and not of this generation" %
                   (match.group(), ", ".join(others[name])))


def check_notes(generation, generations):
    """Yield the faults of names in the notes of a generation."""
    others = {}
    for other in generations:
        if other is not generation and other.root is generation.root:
            for name in names(other):
                others.setdefault(name, []).append(other.name)
    own = names(generation)
    for shown, entry, note in _notes(generation):
        for reason in _wrong(note or "", own, others):
            yield "%s: %s: Note: %s" % (shown, entry, reason)
