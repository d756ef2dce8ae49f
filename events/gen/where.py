# SPDX-License-Identifier: GPL-2.0-or-later
"""
Find the line of an entry in the catalogue's files. The parsed JSON has no line numbers,
so the text of the file is searched for the entry's name.
"""

import fnmatch
import os
import re

NAMED = re.compile(r'"(?:EventName|MetricName|Metrics|Name)": "([^"]*)"|'
                   r'^\s*"([a-z0-9_]+)": \{|"([^"\s]+)"', re.M)


def _line(path, name):
    """The number of the line with @name, or else with a pattern that matches @name."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return None
    found = None
    for match in NAMED.finditer(text):
        words = (match.group(1) or match.group(2) or match.group(3) or
                 "").split()
        if name in words or found is None and any(
                fnmatch.fnmatchcase(name, word.replace("[", "[[]"))
                for word in words if "*" in word or "?" in word):
            found = text.count("\n", 0, match.start()) + 1
            if name in words:
                break
    return found


def located(reason, generations):
    """
    Return @reason, "FILE: NAME: ...", with the line of NAME in FILE.  If the
    generation inherits NAME, add the file and the line of the base generation.
    """
    match = re.match(r"(\S+)/(\w+)/(\w+\.json): ([^\s:]+): ", reason)
    one = next((one for one in generations
                if match and one.name == match.group(2)), None)
    if not one:
        return reason
    top, own, file, name = match.groups()
    rest = reason[match.start(4):]
    line = _line(os.path.join(one.folder, file), name)
    if line:
        return "%s/%s/%s:%d: %s" % (top, own, file, line, rest)
    while one.base:
        one = one.base
        line = _line(os.path.join(one.folder, file), name)
        if line:
            return "%s (inherited from %s/%s/%s:%d)" % (
                reason, top, one.name, file, line)
    return reason
