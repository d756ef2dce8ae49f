# SPDX-License-Identifier: GPL-2.0-or-later
"""
The event reference as reStructuredText: a page a box type, and an index that
counts the names against the manual's own tables.
"""

import re

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


def _literal(text):
    return "``%s``" % text


def _users(generation):
    """Metrics by the (box, event) that they use."""
    users = {}
    for metric in generation.load("metrics.json", missing=[]):
        for box, name in re.findall(r"\b([a-z0-9]+)(?:_\d+)?[/@]([a-z0-9_.]+)",
                                    metric.get("MetricExpr", "")):
            box = box[len(generation.name) + 1:] if box.startswith(
                generation.name + "_") else box
            users.setdefault((box, name), set()).add(metric["MetricName"])
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
                     _filters(event), event.description,
                     ", ".join(_literal(name) for name in metrics)])
    text += _table(["Name", "Unit mask", "Filters", "Counts", "Used by"],
                   rows)
    notes = []
    for event in events:
        if event.note and event.note not in notes:
            notes.append(event.note)
    for note in notes:
        text += ".. note:: %s.\n\n" % note
    return text


def _box_page(generation, box, users):
    text = HEAD + _title("%s events" % box.title)
    text += ("PMU ``%s_%s``, %d general counters; %s of the manual.\n\n"
             % (generation.name, box.name, box.counters, box.section))
    rows = [[_literal(name), "config%s" % (field.word or ""),
             ", ".join(_ranges(field.bits))]
            for name, field in box.format.items()]
    text += _table(["Field", "Word", "Bits"], rows)
    bases = {}
    for event in box.events:
        bases.setdefault(event.base, []).append(event)
    for base, events in sorted(bases.items()):
        text += _base_section(base, events, users)
    return text


def _ranges(bits):
    """[0, 1, 2, 21] as "0-2", "21"."""
    start = bits[0]
    for bit, after in zip(bits, bits[1:] + [None]):
        if after != bit + 1:
            yield str(start) if start == bit else "%d-%d" % (start, bit)
            start = after


def _count(box, manual):
    """Names that the manual has, that we have, and that lack one of them."""
    ours = {}
    for event in box.events:
        ours[event.base] = ours.get(event.base, 0) + 1
    theirs = manual.get(box.name, {})
    differ = ["%s: %d, the manual %d" % (base, ours.get(base, 0),
                                         theirs.get(base, 0))
              for base in sorted(set(ours) | set(theirs))
              if ours.get(base, 0) != theirs.get(base, 0)]
    return theirs, ours, differ


def _index(generation):
    manual = generation.load("manual.json", missing={})
    omitted = generation.load("omitted.json", missing=[])
    text = HEAD + _title("Event reference: %s" % generation.name)
    text += (".. toctree::\n   :maxdepth: 1\n\n" + "".join(
        "   %s\n" % box.name for box in generation.boxes) + "\n")
    text += _title("Names against the manual", "-")
    text += ("A name is a row of a unit mask table, or an event without one. "
             "The manual's\nfigures are counted in its tables; the fixed and "
             "free-running counters have no\ntable there.\n\n")
    rows, differences, total = [], [], [0, 0, 0, 0]
    for box in generation.boxes:
        theirs, ours, differ = _count(box, manual)
        figures = [len(theirs), len(ours), sum(theirs.values()),
                   sum(ours.values())]
        total = [a + b for a, b in zip(total, figures)]
        rows.append([":doc:`%s`" % box.name] + [str(n) for n in figures])
        differences += [[box.title, line] for line in differ]
    rows.append(["all"] + [str(n) for n in total])
    text += _table(["Box type", "Events in the manual", "in the catalogue",
                    "Names in the manual", "in the catalogue"], rows)
    if differences:
        text += _title("Where the counts differ", "-")
        text += _table(["Box type", "Event and its names"], differences)
    text += _title("Left out", "-")
    if not omitted:
        return text + "Nothing.\n"
    return text + _table(["Box type", "What", "Where", "Why"], [
        [item["Box"], item["What"], item["Section"], item["Reason"]]
        for item in omitted])


def pages(generation):
    """File name to text of every page."""
    users = _users(generation)
    result = {"index.rst": _index(generation)}
    for box in generation.boxes:
        result["%s.rst" % box.name] = _box_page(generation, box, users)
    return result
