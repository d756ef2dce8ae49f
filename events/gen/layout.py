# SPDX-License-Identifier: GPL-2.0-or-later
"""
The layout of the catalogue's JSON files. "generate.py --format" writes it, "generate.py
--check" reports files with another layout.

- An object or an array that fits in WIDTH columns is one line. Otherwise its brackets
  have lines of their own. The outermost brackets and those of an array of objects
  always have lines of their own, so that each event, metric or rule begins a line.
- In an object that does not fit, a text or an expression (PROSE) has a line of its own,
  and so has a member that the catalogue names (a box type, an event, a format field).
  Other members share lines.
- An array that does not fit has a line for each item.
- A text or an expression that does not fit is an array of strings of at most TEXT
  columns. load_json() joins the strings by spaces.
"""

import glob
import json
import os

from .catalogue import PROSE, load_json

WIDTH = 120
TEXT = 100


# json.dumps() would make an encoder for each value.
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _row(value):
    """@value in one line."""
    if isinstance(value, dict) and value:
        return "{ %s }" % ", ".join("%s: %s" % (_quoted(key), _row(member))
                                    for key, member in value.items())
    if isinstance(value, list) and value:
        return "[ %s ]" % ", ".join(map(_row, value))
    return _quoted(value)


def _has_rows(value):
    """Is @value an array of objects, or does it contain such an array?"""
    if isinstance(value, dict):
        return any(map(_has_rows, value.values()))
    return isinstance(value, list) and any(
        isinstance(item, dict) or _has_rows(item) for item in value)


def _wrapped(text, depth):
    """The words of @text as strings of at most TEXT columns, each with a comma."""
    lines = []
    for word in text.split(" "):
        longer = _quoted(lines[-1] + " " + word) + "," if lines else ""
        if lines and 2 * depth + len(longer) <= TEXT:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return [_quoted(line) + "," for line in lines]


def _shares_line(key, value, depth):
    """Does this member of an object share its line with the members beside it?"""
    return (depth > 1 and key[:1].isupper() and key not in PROSE and
            not isinstance(value, (dict, list)))


def _members(members, depth):
    """Lines of the members of an object, each line with a comma at its end."""
    lines, open_line = [], False
    for key, value in members.items():
        shares = _shares_line(key, value, depth)
        row = "%s: %s," % (_quoted(key), _row(value))
        if shares and open_line and 2 * depth + len(lines[-1] + " " + row) <= WIDTH:
            lines[-1] += " " + row
        else:
            lines += _lines(_quoted(key) + ": ", value, depth, key)
        open_line = shares
    return lines


def _lines(start, value, depth, key=None):
    """
    Lines of @start and @value, with a comma at the end. @depth is the level of the
    brackets around them, @key that of a member.
    """
    row = start + _row(value) + ","
    if depth and 2 * depth + len(row) <= WIDTH and not _has_rows(value):
        return [row]
    if key in PROSE and isinstance(value, str):
        brackets, inside = "[]", _wrapped(value, depth + 1)
    elif isinstance(value, dict) and value:
        brackets, inside = "{}", _members(value, depth + 1)
    elif isinstance(value, list) and value:
        brackets, inside = "[]", [line for item in value
                                  for line in _lines("", item, depth + 1)]
    else:
        return [row]
    inside[-1] = inside[-1].removesuffix(",")
    return [start + brackets[0], *("  " + line for line in inside), brackets[1] + ","]


def text(value):
    """Return the text of a file with @value."""
    return "\n".join(_lines("", value, 0)).removesuffix(",") + "\n"


def files(top, shown):
    """(path, path as shown, text in this layout) of each JSON file of the catalogue."""
    for name in sorted(glob.glob("*.json", root_dir=top) +
                       glob.glob("*/*.json", root_dir=top)):
        path, shown_path = os.path.join(top, name), "%s/%s" % (shown, name)
        yield path, shown_path, text(load_json(path, shown_path))


def check(top, shown):
    """Yield a reason for each file that has another layout."""
    for path, shown_path, wanted in files(top, shown):
        with open(path, encoding="utf-8") as file:
            if file.read() != wanted:
                yield "%s: another layout: run %s/generate.py --format" % (
                    shown_path, shown)
