# SPDX-License-Identifier: GPL-2.0-or-later
"""
The event reference as reStructuredText: a page for each box type, with a column for
each generation, and an index that compares the number of names with the manuals'
tables.
"""

import re

from .absent import absences
from .derived import METRICS, OPCODES, load
from .registers import DRIVER_ONLY, KEYS

HEAD = """.. SPDX-License-Identifier: GPL-2.0-or-later
.. Generated from events/, do not edit.

"""


SINGLE = " †"               # mark of a name that only one reading has


def _title(text, line="="):
    return "%s\n%s\n\n" % (text, line * len(text))


def _table(header, rows):
    """A csv-table, a line for each row, without column widths."""
    lines = ["   " + ", ".join('"%s"' % cell.replace('"', '""') for cell in row)
             for row in [header] + rows]
    return ".. csv-table::\n   :header-rows: 1\n\n%s\n\n" % "\n".join(lines)


def _plain(text):
    """@text with all markup characters escaped."""
    return re.sub(r"([*`|\\]|_(?!\w))", r"\\\1", text)


def _literal(text):
    return "``%s``" % text


def _users(generations):
    """{(box, event): names of the metrics that use the event}."""
    users = {}
    for generation in generations:
        for metric in load(generation, METRICS):
            for reference in metric.references:
                box = re.sub(r"_\d+$", "", reference.pmu)
                box = box[len(generation.name) + 1:]
                users.setdefault((box, reference.event),
                                 set()).add(metric.name)
    return users


def _counters(event):
    if event.counter == "fixed":
        return "the fixed one"
    if event.counter == "free":
        return "a free-running one"
    return event.counter.replace(",", ", ")


def _words(key):
    """A key such as BoxControl as words: "Box control"."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: " " + match[1].lower(),
                  key)


def _values(value):
    """The value of a key of Registers, or its list of values, as text."""
    return "; ".join(value if isinstance(value, list) else
                     [value.replace(",", ", ")])


def _mask(event):
    """The unit mask, or bits 63:32 of a control register without event select."""
    if event.box.has_select:
        return _literal("0x%02x" % event.umask) + SINGLE * event.single
    return _literal("0x%08x" % (event.config()[0] >> 32))


def _filters(event):
    asked = [_literal(name) for name, value in event.filters if value is None]
    preset = [_literal("%s=0x%x" % (name, value))
              for name, value in event.filters if value is not None]
    text = ", ".join(asked + preset)
    return text if text else "none"


def ranges(bits):
    """Yield ranges of sorted bits: "0-2" and "21" for [0, 1, 2, 21]."""
    start = bits[0]
    for bit, after in zip(bits, bits[1:] + [None]):
        if after != bit + 1:
            yield str(start) if start == bit else "%d-%d" % (start, bit)
            start = after


def _titles(some, every):
    """Titles of the generations @some, or "all" if these are all of the page."""
    if len(some) == len(every):
        return "all"
    return ", ".join(generation.title for generation in some)


class Page:
    """The page of a box type, with a column for each generation that has the box type."""

    def __init__(self, name, generations):
        self.name = name
        self.generations = []
        self.boxes = []
        for generation in generations:
            for box in generation.boxes:
                if box.name == name:
                    self.generations.append(generation)
                    self.boxes.append(box)
        self.users = _users(self.generations)
        self.headings = [one.title for one in self.generations]

    def _alike(self, values):
        """{value: generations with that value}, without None."""
        found = {}
        for generation, value in zip(self.generations, values):
            if value is not None:
                found.setdefault(value, []).append(generation)
        return found

    def _pmus(self):
        return _table(["Generation", "PMU", "General counters", "Section"], [
            ["%s (%s)" % (generation.title, generation.models),
             _literal("%s_%s" % (generation.name, self.name)),
             str(box.counters), box.cited]
            for generation, box in zip(self.generations, self.boxes)])

    def _registers(self):
        """The table of registers, for generations with Registers in boxes.json."""
        where = [(generation.title, box.registers) for generation, box
                 in zip(self.generations, self.boxes) if box.registers]
        keys = [key for key in KEYS if key not in DRIVER_ONLY and
                any(key in one for _, one in where)]
        if not keys:
            return ""
        text = _table(["Registers"] + [title for title, _ in where], [
            [_words(key)] + [_values(one.get(key, "")) for _, one in where]
            for key in keys])
        notes = {}
        for title, one in where:
            notes.setdefault(one.get("Note"), []).append(title)
        return text + "".join(
            ".. note:: %s: %s.\n\n" % (", ".join(titles), _plain(note))
            for note, titles in notes.items() if note)

    def _fields(self):
        names = {name: None for box in self.boxes for name in box.format}
        rows = []
        for name in names:
            cells = []
            for box in self.boxes:
                field = box.format.get(name)
                cells.append("config%s: %s" % (
                    field.word or "", ", ".join(ranges(field.bits)))
                    if field else "")
            rows.append([_literal(name)] + cells)
        return _table(["Field"] + self.headings, rows)

    def _facts(self, base):
        """A line for each distinct set of facts (code, counters, ...) of event @base."""
        lines = []
        for box in self.boxes:
            events = [one for one in box.events if one.base == base]
            lines.append(None if not events else
                         "%scounters: %s, at most %d a cycle, %s (%s)"
                         % ("code %s, " % _literal("0x%02x" % events[0].code)
                            if box.has_select else "", _counters(events[0]),
                            max(one.max_inc for one in events),
                            events[0].category, events[0].cited))
        text = ""
        for line, having in self._alike(lines).items():
            text += "- %s: %s\n" % (_titles(having, self.generations), line)
        return text + "\n"

    def _row(self, name, versions):
        """The row of a name: unit mask in each generation, filters and description."""
        first = next(event for event in versions if event)
        metrics = sorted(self.users.get((self.name, name), []))
        filters = self._alike(event and _filters(event) for event in versions)
        words = self._alike(event and _plain(event.description)
                            for event in versions)
        return ([_literal(name) + (" \\*" if first.common else "")] +
                [_mask(event) if event else "" for event in versions] +
                [self._differing(filters), self._differing(words),
                 ", ".join(_literal(metric) for metric in metrics)])

    def _differing(self, alike):
        if len(alike) == 1:
            return next(iter(alike))
        return "; ".join("%s: %s" % (_titles(having, self.generations), text)
                         for text, having in alike.items())

    def _base_section(self, base, names):
        text = _title(base, "-") + self._facts(base)
        text += _table(
            ["Name"] + self.headings + ["Filters", "Counts", "Used by"],
            [self._row(name, versions) for name, versions in names.items()])
        notes = {}
        for versions in names.values():
            for generation, event in zip(self.generations, versions):
                if event and event.note:
                    having = notes.setdefault(event.note, [])
                    if generation not in having:
                        having.append(generation)
        for note, having in notes.items():
            where = ("" if len(self.generations) == len(having) else
                     _titles(having, self.generations) + ": ")
            text += ".. note:: %s%s.\n\n" % (where, _plain(note))
        return text

    def _events(self):
        names = {}
        for column, box in enumerate(self.boxes):
            for event in box.events:
                row = names.setdefault(event.base, {}).setdefault(
                    event.name, [None] * len(self.boxes))
                row[column] = event
        return "".join(self._base_section(base, some)
                       for base, some in sorted(names.items()))

    def _metrics(self):
        found = {}
        for generation in self.generations:
            for metric in load(generation, METRICS):
                if metric.box == self.name:
                    found.setdefault(metric.name, []).append(
                        (generation, metric))
        if not found:
            return ""
        rows = []
        for name, having in found.items():
            generation, metric = having[0]
            rows.append([
                _literal(name), metric.unit or "",
                _literal(metric.expression.replace("\\", "")),
                _plain(metric.description), _plain(metric.note or ""),
                _titles([one for one, _ in having], self.generations)])
        return _title("Metrics", "-") + _table(
            ["Name", "Unit", "Expression", "Meaning", "Note", "In"], rows)

    def _values(self):
        found = {}
        for generation in self.generations:
            for opcode in load(generation, OPCODES):
                if opcode.box == self.name:
                    found.setdefault((opcode.field, opcode.value, opcode.name),
                                     []).append((generation, opcode))
        if not found:
            return ""
        rows = []
        for having in found.values():
            opcode = having[0][1]
            rows.append([
                _literal(opcode.field), _literal("0x%02x" % opcode.value),
                opcode.name, opcode.message_class, _plain(opcode.description),
                _titles([one for one, _ in having], self.generations)])
        return _title("Values of the filters", "-") + _table(
            ["Field", "Value", "Name", "Class", "Meaning", "In"], rows)

    def text(self):
        column = ("the unit mask that the name has there"
                  if self.boxes[0].has_select else
                  "the name's bits 63:32 of the control register")
        return (HEAD + _title("%s events" % self.boxes[0].title) +
                self._pmus() +
                "A generation's column has %s.\nNames with an asterisk are in "
                "sysfs by default, all with the module parameter\n"
                "``events=all``. A dagger (†) marks names that rest on a single "
                "reading there.\n\n" % column +
                self._fields() + self._registers() + self._events() +
                self._metrics() + self._values())


def _count(box, manual):
    """
    {event: number of names} in the manual and in the catalogue, and the differences.
    Fixed and free-running counters are not counted: the manual has registers for
    them, but no tables.
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
    manual = generation.load("manual.json", missing=None)
    text = _title("%s: names against the manual" % generation.title, "-")
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
    text += ("A name is a row of a unit mask table, or an event without one. "
             "The manual's\nfigures are counted in its tables. On top come "
             "the fixed and free-running\ncounters, for which it has "
             "registers and no tables, and second\nnames of events that other "
             "programs use.\n\n")
    text += _table(["Box type", "Events in the manual", "in the catalogue",
                    "Names in the manual", "in the catalogue",
                    "Fixed and free-running", "Second names"], rows)
    if not differences:
        return text + "The counts agree event by event.\n\n"
    return text + _table(["Box type", "Where they differ"], differences)


def _omitted_section(generation, generations):
    """The table of omitted.json, and of metrics that only related generations have."""
    rows = [[item["Box"], item["What"], item["Section"],
             _plain(item["Reason"])]
            for item in generation.load("omitted.json", missing=[])
            if "What" in item]
    titles = {box.name: box.title for box in generation.boxes}
    lost = {}
    for one in absences(generation, generations):
        lost.setdefault((one.box, one.reason), []).append(one.name)
    for (box, reason), metrics in lost.items():
        rows.append([titles.get(box, box), "metric%s %s" % (
            "s" * (len(metrics) > 1), ", ".join(metrics)), "",
            _plain(reason)])
    if not rows:
        return ""
    return (_title("%s: left out" % generation.title, "-") +
            _table(["Box type", "What", "Where", "Why"], rows))


def _corrected_section(generation):
    """The table of notes that the base generation does not have on the same event."""
    told = {(box.name, event.name, event.note)
            for box in (generation.base.boxes if generation.base else [])
            for event in box.events}
    notes = {}
    for box in generation.boxes:
        for event in box.events:
            if event.note and (box.name, event.name, event.note) not in told:
                notes.setdefault((event.note, event.section), []).append(
                    _literal("%s/%s" % (box.name, event.name)))
    if not notes:
        return ""
    return _title("%s: corrected" % generation.title, "-") + _table(
        ["Event", "Where", "What"],
        [[", ".join(names), section, _plain(note)]
         for (note, section), names in notes.items()])


def _generations_section(generations, names):
    rows = []
    for generation in generations:
        events = {box.name: len(box.events) for box in generation.boxes}
        rows.append([
            generation.title, generation.models,
            _literal(generation.name + "_*"),
            generation.base.title if generation.base else "",
            generation.manual or ""] +
            [str(events.get(name, "")) for name in names] +
            [str(sum(events.values())), str(len(load(generation, METRICS)))])
    return _title("Generations", "-") + (
        "Names in the catalogue, by box type. What a generation has in common "
        "with the\none that it is like is described once, with the section of that "
        "one's manual.\n\n") + _table(
            ["Generation", "Processors", "PMUs", "Like", "Manual"] + names +
            ["Names", "Metrics"], rows)


def _index(generations, names):
    text = HEAD + _title("Event reference")
    text += (".. toctree::\n   :maxdepth: 1\n\n" + "".join(
        "   %s\n" % name for name in names) + "\n")
    text += _generations_section(generations, names)
    for generation in generations:
        if generation.load("manual.json", missing={}):
            text += _count_section(generation)
        text += (_omitted_section(generation, generations) +
                 _corrected_section(generation))
    return text.rstrip("\n") + "\n"


def pages(generations):
    """File name to text of every page."""
    names = list({box.name: None for generation in generations
                  for box in generation.boxes})
    result = {"index.rst": _index(generations, names)}
    for name in names:
        result["%s.rst" % name] = Page(name, generations).text()
    return result
