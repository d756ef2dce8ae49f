# SPDX-License-Identifier: GPL-2.0-or-later
"""
A generation as the difference from its base generation (Like): entries that are
removed, changed and added.  A difference from an entry that the base does not have is
an error, and so is a change to the value that the base has: both describe hardware
that does not exist.
"""

import collections
import fnmatch

from .schema import validate

# An entry of a file (raw), the generation that last changed the entry (writer), and the
# generation whose manual Section cites (source). Writer and source differ if the writer
# changed other keys than Section.
Entry = collections.namedtuple("Entry", "raw writer source")

DIFFERENCE = {"Remove", "Change", "Add"}


def _matches(pattern, names):
    """The @names that match @pattern, in which only * and ? are special."""
    return fnmatch.filter(names, pattern.replace("[", "[[]"))


def check_difference(own, schema, key):
    """Yield (name, reason) of each fault in the form of a difference."""
    for part in sorted(set(own) - DIFFERENCE):
        yield None, "%s is not a known key" % part
    for part in sorted(DIFFERENCE & set(own)):
        if not isinstance(own[part], list):
            yield part, "is not an array"
            return
    for item in own.get("Remove", []):
        if not isinstance(item, str):
            yield "Remove", "%s is not a name" % (item,)
    known = schema["items"]["properties"]
    for number, item in enumerate(own.get("Change", [])):
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            yield "Change", "entry %d has no %s" % (number, key)
            continue
        for one, value in item.items():
            if one not in known:
                yield item[key], "Change: %s is not a known key" % one
            elif one != key and value is not None:
                for reason in validate(value, known[one]):
                    yield item[key], "Change: %s: %s" % (one, reason)
    for number, item in enumerate(own.get("Add", [])):
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            yield "Add", "entry %d has no %s" % (number, key)


def _removed(entries, patterns, key, like):
    for pattern in patterns:
        gone = set(_matches(pattern, [one.raw[key] for one in entries]))
        if not gone:
            yield pattern, "Remove: %s has no such entry, or it is removed" % like
        entries[:] = [one for one in entries if one.raw[key] not in gone]


def _with(raw, change, key):
    """Return @raw with the values of @change, and the keys whose values differ."""
    new = dict(raw)
    for one, value in change.items():
        if value is None:
            new.pop(one, None)
        elif one != key:
            new[one] = value
    return new, {one for one in change
                 if one != key and new.get(one) != raw.get(one)}


def _changed(entries, changes, key, like, name):
    for change in changes:
        hit = _matches(change[key], [one.raw[key] for one in entries])
        if not hit:
            yield (change[key],
                   "Change: %s has no such entry, or it is removed" % like)
            continue
        differs = set()
        for number, (raw, _, source) in enumerate(entries):
            if raw[key] in hit:
                new, keys = _with(raw, change, key)
                differs |= keys
                entries[number] = Entry(
                    new, name, name if "Section" in change else source)
        for one in sorted(set(change) - {key} - differs):
            yield change[key], "Change: %s is what %s has" % (one, like)


def apply_difference(base, own, key, like, name, defaults):
    """
    Apply the difference @own of generation @name to @base, a list of Entry.  Return
    the new list, and the faults of the difference as (name of the entry, reason).
    """
    entries = list(base)
    reasons = list(_removed(entries, own.get("Remove", []), key, like))
    reasons += _changed(entries, own.get("Change", []), key, like, name)
    known = {one.raw[key] for one in entries}
    for raw in own.get("Add", []):
        if raw[key] in known:
            reasons.append((raw[key], "Add: %s has it: change it" % like))
        entries.append(Entry({**defaults, **raw}, name, name))
    return entries, reasons


def merge_keys(base, own, like, part="Registers"):
    """
    Return the Registers or Names of @base with the keys of @own, and the faults of @own.
    A note belongs to the section beside it: a new section removes the inherited note.
    """
    merged, reasons = dict(base), []
    if "Section" in own:
        merged.pop("Note", None)
    for key, value in own.items():
        if key != "Section" and base.get(key) == value:
            reasons.append("%s: %s is what %s has" % (part, key, like))
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged, reasons


def merge_box(base, own, like):
    """Return the facts of @base with those of @own, and the faults of @own."""
    merged, reasons = dict(base), []
    if own.get("Section", "").startswith("§"):
        merged.pop("SectionOf", None)
    for key, value in own.items():
        if key in ("Format", "Remove"):
            continue
        if key in ("Names", "Registers"):
            merged[key], wrong = merge_keys(base.get(key, {}), value, like, key)
            reasons += wrong
            continue
        if key != "Section" and merged.get(key) == value:
            reasons.append("%s is what %s has" % (key, like))
        merged[key] = value
    form = dict(base["Format"])
    for field in own.get("Remove", []):
        if form.pop(field, None) is None:
            reasons.append("Remove: %s has no field %s" % (like, field))
    for field, bits in own.get("Format", {}).items():
        if form.get(field) == bits:
            reasons.append("Format: %s is what %s has" % (field, like))
        form[field] = bits
    merged["Format"] = form
    return merged, reasons
