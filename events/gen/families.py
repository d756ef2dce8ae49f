# SPDX-License-Identifier: GPL-2.0-or-later
"""
Families of events.  Events with the same suffixes, such as the reads and writes of each
bank, are written once: a block of BOX.json has the rows Families and Suffixes, and each
family has an event for each suffix, and for each of the rows Parts where a block has
these.  A box type can include a file of events that other box types have as well.
"""

import fnmatch

ROWS = ("Families", "Suffixes")
PARTS = "Parts"


class FamilyError(Exception):
    """A block without the form of a family."""


def _rows(block, key):
    rows = block[key]
    if not isinstance(rows, list) or not rows or not all(
            isinstance(row, dict) and
            all(isinstance(row.get(text), str) for text in ("EventName",
                                                            "BriefDescription"))
            for row in rows):
        raise FamilyError("%s: is not a list of rows with EventName and "
                          "BriefDescription" % key)
    return rows


def _joined(first, second, separator):
    """
    The row of @first and @second, whose keys come first. An Alias of @second with a
    leading dot is another suffix of @first.
    """
    row = {**first, **second,
           "EventName": "%s.%s" % (first["EventName"], second["EventName"]),
           "BriefDescription": separator.join((first["BriefDescription"],
                                               second["BriefDescription"]))}
    if second.get("Alias", "").startswith("."):
        row["Alias"] = first["EventName"] + second["Alias"]
    return row


def _expand_block(block):
    """Yield the events of a block."""
    if set(ROWS) - set(block):
        raise FamilyError("Families and Suffixes belong together")
    shared = {key: value for key, value in block.items() if key not in ROWS + (PARTS,)}
    parts = _rows(block, PARTS) if PARTS in block else ()
    for family in _rows(block, "Families"):
        for suffix in _rows(block, "Suffixes"):
            event = _joined({**shared, **family}, suffix, ": ")
            if not parts:
                yield event
            for part in parts:
                yield _joined(event, part, ", ")


def expand(content):
    """Return the content of BOX.json, events or a difference, without blocks."""
    if isinstance(content, dict) and isinstance(content.get("Add"), list):
        return {**content, "Add": expand(content["Add"])}
    if not isinstance(content, list):
        return content
    events = []
    for raw in content:
        block = isinstance(raw, dict) and {*ROWS, PARTS} & set(raw)
        events.extend(_expand_block(raw) if block else [raw])
    return events


def _without(events, patterns):
    """The @events whose names match none of @patterns, each of which must match one."""
    for pattern in patterns:
        left = [raw for raw in events
                if not fnmatch.fnmatchcase(raw["EventName"], pattern)]
        if left == events:
            raise FamilyError("Remove: %s matches no included event" % pattern)
        events = left
    return events


def include(own, included, counters):
    """
    Return the events @own of a box type and those of an @included file. An event of the
    box type's own replaces the included event of that name. An included event without
    Counter is counted by all counters. @own may be an object of Add and Remove, the
    patterns of included events that the box type does not have.
    """
    if isinstance(own, dict):
        if set(own) - {"Add", "Remove"}:
            raise FamilyError("beside Include there are only Add and Remove")
        included = _without(included, own.get("Remove", []))
        own = own.get("Add", [])
    every = ",".join(str(number) for number in range(counters))
    names = {raw.get("EventName") for raw in own if isinstance(raw, dict)}
    return own + [{"Counter": every, **raw} for raw in included
                  if raw.get("EventName") not in names]
