# SPDX-License-Identifier: GPL-2.0-or-later
"""
The event reference as reStructuredText: a page a box type, and an index that
counts the names against the manual's own tables.
"""

import re

from .derived import Metric, Opcode, load

HEAD = """.. SPDX-License-Identifier: GPL-2.0-or-later
.. Generated from events/, do not edit.

"""


def _title(text, line="="):
    return "%s\n%s\n\n" % (text, line * len(text))


def _table(header, rows):
    """A list-table, which needs no column widths."""
    text = ".. list-table::\n   :header-rows: 1\n\n"
    for row in [header] + rows:
        for number, cell in enumerate(row):
            mark = "   * - " if number == 0 else "     - "
            text += (mark + cell).rstrip() + "\n"
    return text + "\n"


def _plain(text):
    """Text in which nothing is markup."""
    return re.sub(r"([*`|\\]|_(?!\w))", r"\\\1", text)


def _literal(text):
    return "``%s``" % text


def _users(generation, metrics):
    """Names of metrics by the (box, event) that they use."""
    users = {}
    for metric in metrics:
        for reference in metric.references:
            box = re.sub(r"_\d+$", "", reference.pmu)
            box = box[len(generation.name) + 1:]
            users.setdefault((box, reference.event), set()).add(metric.name)
    return users


def _counters(event):
    if event.counter == "fixed":
        return "the fixed one"
    if event.counter == "free":
        return "a free-running one"
    return event.counter.replace(",", ", ")


def _filters(event):
    asked = [_literal(name) for name, value in event.filters if value is None]
    preset = [_literal("%s=0x%x" % (name, value))
              for name, value in event.filters if value is not None]
    text = ", ".join(asked + preset)
    return text if text else "none"


def _base_section(base, events, users):
    """One event with all its unit masks."""
    first = events[0]
    text = _title(base, "-")
    text += "Code %s, counters: %s, at most %d a cycle, %s (%s)\n\n" % (
        _literal("0x%02x" % first.code), _counters(first),
        max(event.max_inc for event in events), first.category,
        first.section)
    rows = []
    for event in events:
        metrics = sorted(users.get((event.box.name, event.name), []))
        rows.append([_literal(event.name), _literal("0x%02x" % event.umask),
                     _filters(event), _plain(event.description),
                     ", ".join(_literal(name) for name in metrics)])
    text += _table(["Name", "Unit mask", "Filters", "Counts", "Used by"],
                   rows)
    notes = []
    for event in events:
        if event.note and event.note not in notes:
            notes.append(event.note)
    for note in notes:
        text += ".. note:: %s.\n\n" % _plain(note)
    return text


def _field_table(box):
    rows = [[_literal(name), "config%s" % (field.word or ""),
             ", ".join(_ranges(field.bits))]
            for name, field in box.format.items()]
    return _table(["Field", "Word", "Bits"], rows)


def _metric_section(metrics):
    if not metrics:
        return ""
    rows = [[_literal(metric.name), metric.unit or "",
             _literal(metric.expression.replace("\\", "")),
             _plain(metric.description), _plain(metric.note or "")]
            for metric in metrics]
    return _title("Metrics", "-") + _table(
        ["Name", "Unit", "Expression", "Meaning", "Note"], rows)


def _opcode_section(opcodes):
    if not opcodes:
        return ""
    rows = [[_literal(opcode.field), _literal("0x%02x" % opcode.value),
             opcode.name, opcode.message_class, _plain(opcode.description)]
            for opcode in opcodes]
    return _title("Values of the filters", "-") + _table(
        ["Field", "Value", "Name", "Class", "Meaning"], rows)


def _box_page(generation, box, metrics, opcodes):
    text = HEAD + _title("%s events" % box.title)
    text += ("PMU ``%s_%s``, %d general counters; %s of the manual.\n\n"
             % (generation.name, box.name, box.counters, box.section))
    text += _field_table(box)
    users = _users(generation, metrics)
    bases = {}
    for event in box.events:
        bases.setdefault(event.base, []).append(event)
    for base, events in sorted(bases.items()):
        text += _base_section(base, events, users)
    text += _metric_section([metric for metric in metrics
                             if metric.box == box.name])
    return text + _opcode_section([opcode for opcode in opcodes
                                   if opcode.box == box.name])


def _ranges(bits):
    """[0, 1, 2, 21] as "0-2", "21"."""
    start = bits[0]
    for bit, after in zip(bits, bits[1:] + [None]):
        if after != bit + 1:
            yield str(start) if start == bit else "%d-%d" % (start, bit)
            start = after


def _count(box, manual):
    """
    Names of each event in the manual and here. The fixed and free-running
    counters are left out: the manual has registers for them, not tables.
    """
    ours = {}
    for event in box.general_events:
        if not event.alias:
            ours[event.base] = ours.get(event.base, 0) + 1
    theirs = manual.get(box.name, {})
    differ = ["%s: %d, the manual %d" % (base, ours.get(base, 0),
                                         theirs.get(base, 0))
              for base in sorted(set(ours) | set(theirs))
              if ours.get(base, 0) != theirs.get(base, 0)]
    return theirs, ours, differ


def _count_section(generation):
    manual = generation.load("manual.json", missing={})
    text = _title("Names against the manual", "-")
    text += ("A name is a row of a unit mask table, or an event without one. "
             "The manual's\nfigures are counted in its tables. On top come "
             "the fixed and free-running\ncounters, for which it has "
             "registers and no tables, and second\nnames of events that other "
             "programs use.\n\n")
    rows, differences, total = [], [], [0] * 6
    for box in generation.boxes:
        theirs, ours, differ = _count(box, manual)
        aliases = sum(1 for event in box.events if event.alias)
        special = len(box.events) - len(box.general_events)
        figures = [len(theirs), len(ours), sum(theirs.values()),
                   sum(ours.values()), special, aliases]
        total = [a + b for a, b in zip(total, figures)]
        rows.append([":doc:`%s`" % box.name] + [str(n) for n in figures])
        differences += [[box.title, line] for line in differ]
    rows.append(["all"] + [str(n) for n in total])
    text += _table(["Box type", "Events in the manual", "in the catalogue",
                    "Names in the manual", "in the catalogue",
                    "Fixed and free-running", "Second names"], rows)
    if not differences:
        return text + "The counts agree event by event.\n\n"
    return text + _table(["Box type", "Where they differ"], differences)


def _omitted_section(generation):
    omitted = generation.load("omitted.json", missing=[])
    text = _title("Left out", "-")
    if not omitted:
        return text + "Nothing.\n"
    return text + _table(["Box type", "What", "Where", "Why"], [
        [item["Box"], item["What"], item["Section"],
         _plain(item["Reason"])]
        for item in omitted])


def _corrected_section(generation):
    rows = [[_literal("%s/%s" % (box.name, event.name)), event.section,
             _plain(event.note)]
            for box in generation.boxes for event in box.events if event.note]
    return _title("Corrected", "-") + _table(["Event", "Where", "What"], rows)


def _index(generation):
    text = HEAD + _title("Event reference: %s" % generation.name)
    text += (".. toctree::\n   :maxdepth: 1\n\n" + "".join(
        "   %s\n" % box.name for box in generation.boxes) + "\n")
    text += _count_section(generation) + _omitted_section(generation)
    return text + "\n" + _corrected_section(generation)


def pages(generation):
    """File name to text of every page."""
    metrics = load(generation, "metrics.json", Metric)
    opcodes = load(generation, "opcodes.json", Opcode)
    result = {"index.rst": _index(generation)}
    for box in generation.boxes:
        result["%s.rst" % box.name] = _box_page(generation, box, metrics,
                                                opcodes)
    return result
