# SPDX-License-Identifier: GPL-2.0-or-later
"""
The catalogue in memory: a Generation has Boxes, a Box has Events.  Reads the
JSON files and turns an event into the perf configuration that selects it.
Whether the result makes sense is for gen/check.py to say.
"""

import json
import os
import re

FIXED_CODE = 0xff


class CatalogueError(Exception):
    """A file that cannot be read as a catalogue at all."""


def load_json(path, shown):
    """Parse a file; a repeated key would silently win, so refuse it."""
    def pairs(items):
        keys = [key for key, _ in items]
        for key in keys:
            if keys.count(key) > 1:
                raise CatalogueError("%s: key %s is given twice in one object"
                                     % (shown, key))
        return dict(items)

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=pairs)
    except json.JSONDecodeError as err:
        raise CatalogueError("%s: line %d: %s" % (shown, err.lineno, err.msg))
    except (OSError, UnicodeDecodeError) as err:
        raise CatalogueError("%s: %s" % (shown, err))


class Field:
    """A perf format field: where its bits lie in config, config1, config2."""

    def __init__(self, text):
        match = re.fullmatch(r"config([12]?):(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)",
                             text)
        if not match:
            raise CatalogueError("format %r is not config[12]:bits" % text)
        self.word = int(match.group(1) or 0)
        self.bits = []
        for part in match.group(2).split(","):
            low, _, high = part.partition("-")
            self.bits.extend(range(int(low), int(high or low) + 1))

    def fits(self, value):
        return value >> len(self.bits) == 0

    def place(self, value):
        """@value as it lies in its config word."""
        return sum(1 << bit for i, bit in enumerate(self.bits)
                   if value >> i & 1)


class Event:
    """One name of the catalogue and the encoding behind it."""

    def __init__(self, box, raw):
        self.box = box
        self.name = raw["EventName"]
        self.base = self.name.split(".")[0]
        self.event = int(raw["EventCode"], 16)
        self.umask = int(raw.get("UMask", "0"), 16)
        self.ext = int(raw.get("ExtSel", "0"))
        self.code = self.event | self.ext << 8
        self.counter = raw["Counter"]
        self.max_inc = int(raw["MaxInc"])
        self.rule = raw.get("Rule", "any")
        self.category = raw["Category"]
        self.description = raw["BriefDescription"]
        self.wave = raw.get("Wave")
        self.section = raw["Section"]
        self.note = raw.get("Note")
        self.alias = raw.get("Alias")
        self.filters = self._parse_filters(raw.get("Filter"))
        self.scale, self.unit = self._parse_scale(raw.get("ScaleUnit"))

    @staticmethod
    def _parse_filters(text):
        """List of (field, value), value None where the user must give it."""
        filters = []
        for item in (text.split(",") if text else []):
            name, _, value = item.partition("=")
            filters.append((name, None if value == "?" else int(value, 0)))
        return filters

    @staticmethod
    def _parse_scale(text):
        if not text:
            return None, None
        match = re.fullmatch(r"([0-9.]+(?:e[+-]?[0-9]+)?)(.+)", text)
        return match.group(1), match.group(2)

    @property
    def general(self):
        """Is it counted by the general, programmable counters?"""
        return self.counter not in ("fixed", "free")

    @property
    def ctrs(self):
        """Mask of the general counters that can count it."""
        if not self.general:
            return 0
        return sum(1 << int(n) for n in self.counter.split(","))

    @property
    def perf_string(self):
        """What sysfs events/NAME holds."""
        terms = ["event=0x%02x" % self.code]
        if self.umask:
            terms.append("umask=0x%02x" % self.umask)
        for name, value in self.filters:
            if value is None:
                terms.append("%s=?" % name)
            else:
                terms.append("%s=0x%x" % (name, value))
        return ",".join(terms)

    def config(self):
        """[config, config1, config2], with 0 for what the user must give."""
        words = [0, 0, 0]
        terms = [("event", self.code), ("umask", self.umask)] + self.filters
        for name, value in terms:
            if value:
                field = self.box.format[name]
                words[field.word] |= field.place(value)
        return words

    @property
    def select(self):
        """(code, control bits 15:8): what the hardware tells events apart by."""
        return self.code, self.config()[0] >> 8 & 0xff


class Box:
    """A box type: what its registers offer, and its events."""

    def __init__(self, name, facts, shown):
        self.name = name
        self.title = facts["Title"]
        self.section = facts["Section"]
        self.counters = int(facts["Counters"])
        self.format_text = facts["Format"]
        self.format = {key: Field(text)
                       for key, text in self.format_text.items()}
        self.umask_general = facts.get("UMaskGeneral", True)
        self.shown = shown
        self.raw = []
        self.events = []

    @property
    def general_events(self):
        return [event for event in self.events if event.general]


class Generation:
    """A folder of the catalogue, such as hswep."""

    def __init__(self, folder, shown):
        self.name = os.path.basename(folder)
        self.folder = folder
        self.shown = shown
        self.boxes = []
        facts = self.load("boxes.json")
        for name, box_facts in facts.items():
            box = Box(name, box_facts, "%s/%s.json" % (shown, name))
            # A box whose file is not written yet has no events.
            box.raw = self.load("%s.json" % name, missing=[])
            self.boxes.append(box)

    def load(self, file, missing=None):
        path = os.path.join(self.folder, file)
        if missing is not None and not os.path.exists(path):
            return missing
        return load_json(path, "%s/%s" % (self.shown, file))

    def build_events(self):
        """Make Events of the raw objects; they must have passed the schema."""
        for box in self.boxes:
            box.events = [Event(box, raw) for raw in box.raw]


def load_generations(top, shown):
    """Every folder below @top that describes boxes."""
    found = []
    for name in sorted(os.listdir(top)):
        if os.path.exists(os.path.join(top, name, "boxes.json")):
            found.append(Generation(os.path.join(top, name),
                                    "%s/%s" % (shown, name)))
    return found
