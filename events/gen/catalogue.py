# SPDX-License-Identifier: GPL-2.0-or-later
"""
The catalogue in memory: a Generation has Boxes, a Box has Events.  Read the JSON
files and compute the perf configuration (config, config1, config2) of each event.
gen/check.py checks the contents.
"""

import fnmatch
import functools
import json
import os
import re

from . import families, inherit

FIXED_CODE = 0xff


class CatalogueError(Exception):
    """A file that cannot be parsed, so that no list of faults is possible."""


# Keys of texts for readers and of expressions. In the files, a long one is an array of
# strings (gen/layout.py).
PROSE = {"BriefDescription", "Note", "Misprint", "Reason", "What", "Question",
         "MetricExpr", "Weight", "Help", "description", "Seen", "Helps",
         "MeasuredSeen", "MeasuredSource", "ThresholdSource"}


def _joined(key, value):
    """Join a text that is an array of strings by spaces."""
    if key in PROSE and isinstance(value, list) and value and \
            all(isinstance(part, str) for part in value):
        return " ".join(value)
    return value


def load_json(path, shown):
    """
    Parse a file and join its long texts. Refuse a key that an object has twice: JSON
    readers would take the last value without a message.
    """
    def pairs(items):
        keys = [key for key, _ in items]
        for key in keys:
            if keys.count(key) > 1:
                raise CatalogueError("%s: key %s is given twice in one object"
                                     % (shown, key))
        return {key: _joined(key, value) for key, value in items}

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=pairs)
    except json.JSONDecodeError as err:
        raise CatalogueError("%s: line %d: %s" % (shown, err.lineno, err.msg))
    except (OSError, UnicodeDecodeError) as err:
        raise CatalogueError("%s: %s" % (shown, err))


class Field:
    """A perf format field: its word (config, config1 or config2) and its bits there."""

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

    @property
    def mask(self):
        return self.place((1 << len(self.bits)) - 1)

    def place(self, value):
        """The bits of the field's word for @value."""
        return sum(1 << bit for i, bit in enumerate(self.bits)
                   if value >> i & 1)

    def extract(self, word):
        """The field's value in its @word."""
        return sum((word >> bit & 1) << i for i, bit in enumerate(self.bits))


class FilterRule:
    """Events with config & @mask == @select obey @fields, which a box has once."""

    def __init__(self, mask, select, fields, section, neutral=None):
        self.mask = mask
        self.select = select
        self.fields = fields        # {name: [mask in config, config1, config2]}
        self.section = section
        # {name: [value in config, config1, config2]} of an event without any of the fields
        self.neutral = neutral or {}

    @staticmethod
    def _merged(fields):
        words = [0, 0, 0]
        for masks in fields.values():
            words = [a | b for a, b in zip(words, masks)]
        return words

    @property
    def words(self):
        """The bits of all fields in config, config1 and config2."""
        return self._merged(self.fields)

    @property
    def neutral_words(self):
        """The neutral values of all fields in config, config1 and config2."""
        return self._merged(self.neutral)


def noted(raw, manual):
    """The note and the misprint of an entry, or None.  @manual: as for cited()."""
    misprint = raw.get("Misprint")
    if misprint and manual:
        misprint = "%s: %s" % (manual, misprint)
    return ". ".join(filter(None, (raw.get("Note"), misprint))) or None


def cited(section, manual):
    """@section, with the manual's number in front if @manual is another generation's."""
    if manual and section.startswith("§"):
        return "%s %s" % (manual, section)
    return section


# Readings by origin: perf's files and ucevent's lists come from Intel, as perfmon, so the
# three count once.
MAKERS = (("libpfm4",), ("perf", "perfmon", "ucevent"), ("likwid",))


class Event:
    """
    A name of the catalogue and its encoding.  @own: Section cites the generation's
    own manual, @manual otherwise; @readings: the readings that have the event, or None
    for a generation without readings.
    """

    def __init__(self, box, raw, manual=None, own=True, readings=None):
        self.box = box
        self.name = raw["EventName"]
        self.base = self.name.split(".")[0]
        self.event = int(raw.get("EventCode", "0"), 16)
        self.umask = int(raw.get("UMask", "0"), 16)
        self.common = "Common" in raw
        self.of_counter0 = "OfCounter0" in raw
        self.umask_zeros = int(raw.get("UMaskZeros", "0"), 16)
        self.ext = int(raw.get("ExtSel", "0"))
        self.code = self.event | self.ext << 8
        self.counter = raw["Counter"]
        self.max_inc = int(raw.get("MaxInc", box.max_inc if self.general else "1"), 0)
        self.rule = raw.get("Rule", "any")
        self.category = raw["Category"]
        self.description = raw["BriefDescription"]
        self.wave = raw.get("Wave")
        self._cite(raw.get("Section", ""), manual, own, readings)
        self.note = noted(raw, None if own else manual)
        self.alias = raw.get("Alias")
        self.filters = self._parse_filters(raw.get("Filter"))
        self.scale, self.unit = self._parse_scale(raw.get("ScaleUnit"))

    def _cite(self, section, manual, own, readings):
        """Set the sources that the event cites, and whether there is only one source."""
        self.cited = cited(section, manual)
        self.section = section if own else self.cited
        self.single = False
        if readings is None or not self.general:
            return
        makers = [next(name for name in names if name in readings)
                  for names in MAKERS if set(names) & set(readings)]
        stated = own and section.startswith("§")
        self.single = stated + len(makers) < 2
        for attribute in ("cited", "section"):
            parts = [getattr(self, attribute)] if stated else []
            setattr(self, attribute, ", ".join(parts + makers) +
                    "; a single reading" * bool(self.single and
                                                parts + makers))

    @staticmethod
    def _parse_filters(text):
        """List of (field, value); the value is None if the user must give it."""
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
        """Do general (programmable) counters count the event?"""
        return self.counter not in ("fixed", "free")

    @property
    def ctrs(self):
        """Mask of the general counters that can count the event."""
        if not self.general:
            return 0
        return sum(1 << int(n) for n in self.counter.split(","))

    @property
    def perf_string(self):
        """The text of the event's file in sysfs, events/NAME."""
        terms = ["event=0x%02x" % self.code] if self.box.has_select else []
        if self.umask:
            terms.append("umask=0x%02x" % self.umask)
        for name, value in self.filters:
            if value is None:
                terms.append("%s=?" % name)
            else:
                terms.append("%s=0x%x" % (name, value))
        return ",".join(terms)

    def config(self):
        """[config, config1, config2], with 0 in fields whose value the user must give."""
        words = [0, 0, 0]
        terms = [("event", self.code), ("umask", self.umask)] + self.filters
        for name, value in terms:
            if value:
                field = self.box.format[name]
                words[field.word] |= field.place(value)
        return words

    @property
    def select(self):
        """
        (code, unit mask), by which the hardware distinguishes events.  Control bits 15:8
        are the unit mask, also where they have another name; it may continue elsewhere.
        """
        if not self.box.has_select:
            return self.config()[0], 0
        return self.code, self.config()[0] >> 8 & 0xff | self.umask & ~0xff


class Box:
    """A box type: its counters, registers, format fields, filter rules and events."""

    def __init__(self, name, facts, shown, manual=None):
        self.name = name
        self.title = facts["Title"]
        self.section = cited(facts["Section"], facts.get("SectionOf"))
        self.cited = cited(facts["Section"], facts.get("SectionOf", manual))
        self.counters = int(facts["Counters"])
        self.role = facts.get("Role", "")
        self.part = facts.get("Part", "")
        self.first_port = int(facts.get("FirstPort", "0"))
        self.names = facts.get("Names", {})     # {tool: its names, with commas}
        self.format_text = facts["Format"]
        self.format = {key: Field(text)
                       for key, text in self.format_text.items()}
        self.umask_general = facts.get("UMaskGeneral", True)
        # Without an event select, all fields together select the event.
        self.has_select = "event" in self.format
        self.subevents = (Field(facts["Subevents"]) if "Subevents" in facts
                          else None)
        self.shown = shown
        self.registers = facts.get("Registers")
        self.max_inc = (self.registers or {}).get("MaxInc", "1")    # of an unknown event
        self.filter_rules = [rule for fact in facts.get("Filters", [])
                             for rule in self._parse_rule(fact)]
        self.own = []       # content of BOX.json: events, or a difference
        self.raw = []       # Entry of each event, inherited ones too
        self.events = []

    def _parse_rule(self, fact):
        """Yield a FilterRule for each value of Select."""
        known = {"Mask", "Select", "Fields", "Bits", "Neutral", "Section", "Note"}
        try:
            if set(fact) - known:
                raise ValueError("unknown key " + min(set(fact) - known))
            mask = int(fact["Mask"], 16)
            names = fact["Fields"].split(",")
            # the filter may hold only some bits of a field
            bits = Field(fact["Bits"]) if "Bits" in fact else None
            fields = {}
            for name in names:
                field = bits or self.format[name]
                if bits and (len(names) > 1 or bits.mask &
                             ~self.format[name].mask):
                    raise ValueError("Bits are not of one field")
                fields[name] = [field.mask if word == field.word else 0
                                for word in range(3)]
            neutral = self._parse_neutral(fact.get("Neutral"), fields)
            for text in fact["Select"].split(","):
                select = int(text, 16)
                if select & ~mask:
                    raise ValueError("Select %s is not in Mask" % text)
                yield FilterRule(mask, select, fields, fact["Section"], neutral)
        except (KeyError, ValueError) as err:
            raise CatalogueError("%s: Filters: %s" % (
                os.path.join(os.path.dirname(self.shown), "boxes.json"),
                "no field %s" % err if isinstance(err, KeyError) else err))

    def _parse_neutral(self, text, fields):
        """{name: [value in config, config1, config2]} of the key Neutral of a rule."""
        neutral = {}
        for item in text.split(",") if text else ():
            name, _, value = item.partition("=")
            if name not in fields:
                raise ValueError("Neutral: the rule has no field %s" % name)
            field, value = self.format[name], int(value, 0)
            place = field.place(value)
            if not field.fits(value) or place & ~fields[name][field.word]:
                raise ValueError("Neutral: %s does not fit" % item)
            neutral[name] = [place if word == field.word else 0 for word in range(3)]
        return neutral

    @property
    def general_events(self):
        return [event for event in self.events if event.general]


class Generation:
    """A folder of the catalogue, for example hswep."""

    def __init__(self, folder, shown, facts, base):
        self.name = os.path.basename(folder)
        self.folder = folder
        self.shown = shown
        self.base = base
        self.boxes = []
        self.reasons = []           # faults of the differences from the base
        self.merged = {}            # {file: list of Entry}
        self.readings = self.load("readings.json", missing={})
        own = {key: value for key, value in facts.items()
               if not key[0].isupper()}
        self.facts = self._box_facts(own, facts.get("Remove", []))
        self.title = facts.get("Title", self.name)
        self.manual = facts.get("Manual")
        self.processor = self._processor(facts)
        self.steppings = self._steppings(facts.get("Stepping"))
        self.models = ", ".join(filter(None, (
            facts.get("Models"),
            self.processor and "family %d model %d" % self.processor)))
        self.year = int(facts.get("Year", "0"))
        self.in_tree_driver = facts.get("InTreeDriver",
                                        base and base.in_tree_driver)
        self.interconnect = facts.get("Interconnect", base and base.interconnect)
        self.perf_folder = facts.get("PerfFolder")
        self.max_mhz = int(facts.get("MaxMHz", base.max_mhz if base else "0"))
        self.max_inc = facts.get("MaxInc", base and base.max_inc)
        self.registers = self._registers(facts.get("Registers"))
        for name, box_facts in self.facts.items():
            try:
                box = Box(name, box_facts, "%s/%s.json" % (shown, name),
                          self.manual)
            except KeyError as err:
                raise CatalogueError("%s/boxes.json: %s: %s is missing"
                                     % (shown, name, err.args[0]))
            # A box type without a file has only inherited events.
            box.own = self._own_events(box, box_facts.get("Include"))
            box.max_inc = self.max_inc or box.max_inc
            self.boxes.append(box)

    def _own_events(self, box, include):
        """The content of BOX.json and of the file that the box type includes."""
        file = "%s.json" % box.name
        try:
            own = families.expand(self.load(file, missing={} if self.base else []))
            of_base = self.base and box.name in self.base.facts
            if include and (isinstance(own, list) or not of_base):
                file = "%s.json" % include
                included = families.expand(self.load(file))
                file = "%s.json" % box.name
                own = families.include(own, included, box.counters)
        except families.FamilyError as err:
            raise CatalogueError("%s/%s: %s" % (self.shown, file, err))
        return own

    def _processor(self, facts):
        """(family, model) that the driver binds to, or None."""
        try:
            numbers = [int(facts[key]) for key in ("Family", "Model")
                       if key in facts]
        except (TypeError, ValueError):
            numbers = [0]
        if len(numbers) == 1:
            raise CatalogueError("%s/boxes.json: Family and Model are two "
                                 "numbers" % self.shown)
        return tuple(numbers) or None

    def _steppings(self, text):
        """The steppings of the processor's model as a mask; 0: all of them."""
        if text is None:
            return 0
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", text) if isinstance(text, str) else None
        low, high = (int(one or match[1]) for one in match.groups()) if match else (1, 0)
        if not self.processor or not low <= high <= 15:
            raise CatalogueError("%s/boxes.json: Stepping is a number or a range from 0 to "
                                 "15, beside Model" % self.shown)
        return (2 << high) - (1 << low)

    def _registers(self, own):
        """The package's registers: the base generation's with the values of @own."""
        if self.base is None or self.base.registers is None:
            return own
        if not isinstance(own, dict):
            return own or self.base.registers
        merged, wrong = inherit.merge_keys(self.base.registers, own,
                                                self.base.name)
        self.reasons.extend("%s/boxes.json: %s" % (self.shown, reason)
                            for reason in wrong)
        return merged

    def _box_facts(self, own, removed):
        """{box: facts}: the base generation's boxes and those of @own, less @removed."""
        shown = "%s/boxes.json" % self.shown
        if self.base is None:
            return own
        facts = {}
        for name, known in self.base.facts.items():
            known = dict(known)
            if self.base.manual:
                known.setdefault("SectionOf", self.base.manual)
            facts[name] = known
        for name in removed:
            if facts.pop(name, None) is None:
                self.reasons.append("%s: %s: Remove: %s has no such box"
                                    % (shown, name, self.base.name))
        for name, difference in own.items():
            if name not in facts:
                facts[name] = difference
                continue
            facts[name], wrong = inherit.merge_box(
                facts[name], difference, self.base.name)
            self.reasons.extend("%s: %s: %s" % (shown, name, reason)
                                for reason in wrong)
        return facts

    def load(self, file, missing=None):
        path = os.path.join(self.folder, file)
        if missing is not None and not os.path.exists(path):
            return missing
        return load_json(path, "%s/%s" % (self.shown, file))

    def merge(self, file, own, key, defaults, adapt=lambda raw, _: raw):
        """
        Return each Entry of @file.  @adapt replaces the base generation's name in
        inherited entries.  Faults of the difference are added to self.reasons.
        """
        base = [one._replace(raw=adapt(self._own_words(one.raw), self))
                for one in
                (self.base.merged.get(file, []) if self.base else [])]
        reasons = []
        if isinstance(own, dict):
            base, reasons = inherit.apply_difference(
                base, own, key, self.base.name, self.name, defaults)
        else:
            base = [inherit.Entry({**defaults, **raw} if self.base else raw,
                                  self.name, self.name) for raw in own]
        self.merged[file] = base
        self.reasons.extend("%s/%s: %s: %s" % (self.shown, file, *reason)
                            for reason in reasons)
        return base

    def _own_words(self, raw):
        """An inherited entry, without Misprint if this generation has its own manual."""
        if not self.manual or "Misprint" not in raw:
            return raw
        return {key: raw[key] for key in raw if key != "Misprint"}

    @property
    def root(self):
        """The generation at the end of the chain of bases, which has no base."""
        return self.base.root if self.base else self

    def merge_events(self):
        for box in self.boxes:
            every = ",".join(str(n) for n in range(box.counters))
            defaults = {"Counter": every}
            if not self.facts[box.name].get("SectionOf") and not self.readings:
                defaults["Section"] = self.facts[box.name]["Section"]
            box.raw = self.merge("%s.json" % box.name, box.own, "EventName",
                                 defaults)

    def manual_of(self, name):
        """The manual of generation @name: this generation or one of its bases."""
        return self.manual if name == self.name else self.base.manual_of(name)

    def build_events(self):
        """Make an Event of each raw object; the objects must have passed the schema."""
        for box in self.boxes:
            box.events = [Event(box, one.raw, self.manual_of(one.source),
                                one.source == self.name,
                                self._readings_of(box, one.raw["EventName"]))
                          for one in box.raw]

    def _readings_of(self, box, name):
        """The readings that have the event; readings.json has what each reading lacks."""
        if not self.readings:
            return None
        name = "%s/%s" % (box.name, name)
        return [source for source, lacks in self._lacks.items()
                if not lacks.match(name)]

    @functools.cached_property
    def _lacks(self):
        """For each reading an expression that matches the events that it lacks."""
        nothing = r"(?!)"
        return {source: re.compile("|".join(map(fnmatch.translate, patterns)) or nothing)
                for source, patterns in self.readings.items()}


def _check_objects(facts, shown):
    """Check that box types, Format, Names and Registers in boxes.json are objects."""
    if not isinstance(facts, dict):
        raise CatalogueError("%s: is not an object" % shown)
    for name, box in facts.items():
        if name[:1].isupper():
            continue
        for key, value in (("", box), *((key, box.get(key, {}))
                                        for key in ("Format", "Names", "Registers")
                                        if isinstance(box, dict))):
            if not isinstance(value, dict):
                raise CatalogueError("%s: %s: %sis not an object" % (
                    shown, name, key and key + ": "))


def load_generations(top, shown):
    """The generations of @top, folders with a boxes.json; a base comes first."""
    facts, found = {}, {}
    for name in sorted(os.listdir(top)):
        path = os.path.join(top, name, "boxes.json")
        if os.path.exists(path):
            file = "%s/%s/boxes.json" % (shown, name)
            facts[name] = load_json(path, file)
            _check_objects(facts[name], file)

    def load(name, above):
        if name in found:
            return found[name]
        like = facts[name].get("Like")
        file = "%s/%s/boxes.json" % (shown, name)
        if like in above or like == name:
            raise CatalogueError("%s: Like: %s is like this one"
                                 % (file, like))
        if like is not None and like not in facts:
            raise CatalogueError("%s: Like: no generation is called %s"
                                 % (file, like))
        base = load(like, above | {name}) if like else None
        found[name] = Generation(os.path.join(top, name),
                                 "%s/%s" % (shown, name), facts[name], base)
        return found[name]

    for name in facts:
        load(name, frozenset())
    return list(found.values())
