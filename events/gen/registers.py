# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check the registers of a generation in boxes.json.  The driver's tables and the event
reference are generated from them; the simulated hardware's tables are typed
separately, so that the two readings can be compared.
"""

import collections
import re

from .catalogue import CatalogueError, Field

NUMBER = r"(?:0x[0-9a-f]+|[0-9]+)"
BITS = r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*"
FILTER = re.compile(r"(0x[0-9a-f]+) (config([12]):%s)(?: from (\d+))?"
                    r"(?: if (\w+)=(%s))?" % (BITS, NUMBER))
# One address, or those of "first+distance*number"
BASE = r"(?:{0}(?:\+{0}\*[0-9]+)?)".format(NUMBER)
BASES = "{0}(?:,{0})*".format(BASE)
FREE = re.compile(r"(0x[0-9a-f]+) umask=(0x[0-9a-f]{2}) width=(\d+)"
                  r"(?: stride=(0x[0-9a-f]+)| bases=(%s))?" % BASES)

# Where a PCI function has the addresses of boxes in memory: struct unc_type_mmio
MMIO = re.compile(
    r"base=({0}) bar=({0}) boxes=([0-9]+) first=({0}) stride=({0}) size=({0})".format(NUMBER))

MAP = "bus {0}|link {0} {0}|stack {0} {0} [0-9](?:,[0-9])*".format(NUMBER)

LOCAL_BIT = 22      # UNC_CONFIG_LOCAL, a bit of config that no field may have

QUIRKS = ("write_twice", "stepwise", "unclocked", "no_reset", "freeze_all")
LAYOUTS = ("e5", "e5_pcu", "joint")
COUNTS = ("cboxes", "sboxes", "chas")


def _one_of(*words):
    return "|".join(words)


def _some_of(*words):
    return "(?:%s)(?:,(?:%s))*" % ((_one_of(*words),) * 2)


ANY = ".*"
NUMBERS = "%s(?:,%s)*" % (NUMBER, NUMBER)
FUNCTION = r"(0x[0-9a-f]{4})(?: (\d+)\.([0-7]))?"
FUNCTIONS = "%s(?:,%s)*" % (FUNCTION, FUNCTION)
# The keys of a box type's Registers, and the form of their values, or of each item of
# a list.
KEYS = {
    "Space": _one_of("msr", "pci", "mmio"), "Mmio": MMIO.pattern, "Layout": _one_of(*LAYOUTS),
    "Boxes": NUMBER, "Least": NUMBER, "Count": _one_of(*COUNTS),
    "InFunction": NUMBER, "Width": NUMBER, "MaxInc": NUMBER, "Stride": NUMBER,
    "Bases": BASES,
    "BoxControl": NUMBER, "BoxControlOnes": BITS, "BoxStatus": NUMBER,
    "StatusBits": BITS, "Control": NUMBERS, "Counter": NUMBERS,
    "OtherCounter": NUMBERS, "FixedControl": NUMBER, "FixedCounter": NUMBER,
    "Filter": FILTER.pattern, "FreeRunning": FREE.pattern, "Devices": FUNCTIONS,
    "FilterDevices": FUNCTIONS, "GlobalStatus": BITS, "Must": r"\w+",
    "Quirks": _some_of(*QUIRKS), "Map": MAP, "Section": ANY, "Note": ANY,
}
LISTS = {"Filter", "FreeRunning", "GlobalStatus"}
# Keys that only the driver reads: they are not in the event reference.
DRIVER_ONLY = {"Layout", "Least", "Count", "MaxInc", "Must", "Quirks", "Map", "Note"}
# The keys of a package's Registers.  Layout and BoxControlOnes hold for all its boxes.
GLOBAL_KEYS = {
    "Control": NUMBER, "Status": NUMBER, "Config": NUMBER, "Freeze": BITS,
    "Unfreeze": BITS, "Wake": BITS, "Cores": BITS, "UboxDevice": NUMBER,
    "Buses": _one_of("lower", "higher"), "BusesAbove": NUMBER, "NodeId": NUMBER, "NodeMap": NUMBER, "CapabilityDevice": NUMBER,
    "Capability": NUMBER, "Chas": BITS, "Layout": KEYS["Layout"], "BoxControlOnes": BITS,
    "Section": ANY, "Note": ANY,
}

FilterRegister = collections.namedtuple("FilterRegister",
                                        "reg word shift mask when equals")
FreeCounter = collections.namedtuple("FreeCounter", "reg umask width places")
Mmio = collections.namedtuple("Mmio", "base bar boxes first stride size")
Function = collections.namedtuple("Function", "device number function")


def _check(registers, known):
    if not isinstance(registers, dict):
        yield "Registers: is not an object"
        return
    for key, value in registers.items():
        if key not in known:
            yield "Registers: %s is not a known key" % key
            continue
        if isinstance(value, list) and key not in LISTS:
            yield "Registers: %s is not a string" % key
            continue
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str):
                yield "Registers: %s is not a string" % key
            elif re.fullmatch(known[key], text):
                continue
            elif known[key] == NUMBER and re.fullmatch(NUMBERS, text):
                yield "Registers: %s is one number" % key
            elif known[key] in (NUMBER, NUMBERS):
                yield "Registers: %s: %r is not a number" % (key, text)
            elif known[key] == FUNCTIONS:
                yield "Registers: %s: %r is not of the form ID or ID DEVICE.FUNCTION" % (
                    key, text)
            else:
                yield "Registers: %s: %r is not of the form %s" % (
                    key, text, known[key])
    if "Section" not in registers:
        yield "Registers: Section is missing"


def _check_box(box):
    """Yield the faults of a box type's registers after _check() found none."""
    registers = box.registers
    counters = box.counters * in_function(box)
    for key in ("Control", "Counter", "OtherCounter"):
        many = registers.get(key, "").split(",")
        if len(many) not in (1, counters):
            yield "Registers: %s: %d addresses for %d counters" % (
                key, len(many), counters)
    if registers.get("MaxInc") and not int(registers["MaxInc"], 0):
        yield "Registers: MaxInc is 0"
    for what, many in [("Bases", places(box))] + [
            ("FreeRunning", one.places) for one in free_counters(box)]:
        if many and len(many) != int(registers["Boxes"], 0):
            yield "Registers: %s: %d addresses for %s boxes" % (
                what, len(many), registers["Boxes"])
    if "Stride" in registers and "Bases" in registers:
        yield "Registers: Stride beside Bases"
    if (registers.get("Space") == "mmio") != ("Mmio" in registers):
        yield "Registers: Space mmio and Mmio need each other"
    if not counters and "FreeRunning" not in registers:
        yield "Registers: FreeRunning: the box has no other counters"
    free = [one.umask for one in free_counters(box)]
    if len(set(free)) < len(free):
        yield "Registers: FreeRunning: a unit mask for two counters"
    bits = registers.get("GlobalStatus")
    if isinstance(bits, list) and len(bits) != int(registers["Boxes"], 0):
        yield "Registers: GlobalStatus: %d entries for %s boxes" % (
            len(bits), registers["Boxes"])
    for key, wanted in (("Devices", 1), ("FilterDevices", 1)):
        most = int(registers.get("Boxes", "0"), 0) // in_function(box)
        if len(registers.get(key, "0").split(",")) > most >= wanted:
            yield "Registers: %s: more than %d" % (key, most)
    for name, field in box.format.items():
        if not field.word and LOCAL_BIT in field.bits:
            yield "Format: %s: bit %d of config is the driver's" % (name, LOCAL_BIT)
    if registers.get("Must", "event") not in box.format and "Must" in registers:
        yield "Registers: Must: no field %s" % registers["Must"]
    try:
        list(filter_registers(box))
    except CatalogueError as err:
        yield "Registers: Filter: %s" % err


def _check_functions(generation):
    """
    Yield a fault for each PCI function that is given twice, but for one with the addresses of
    several box types in memory.
    """
    places = {}
    for box in generation.boxes:
        if box.registers and "Mmio" in box.registers:
            continue
        for key in ("Devices", "FilterDevices"):
            for one in functions(box, key) if box.registers else ():
                known = places.setdefault(one.device, [])
                place = None if one.number is None else one[1:]
                if known and (place is None or place in known or None in known):
                    yield "%s: Registers: %s: 0x%04x: which of the functions with this ID?" \
                        % (box.name, key, one.device)
                known.append(place)


def check_registers(generation):
    """Yield the faults of the registers in boxes.json."""
    shown = "%s/boxes.json" % generation.shown
    if generation.registers is not None:
        reasons = list(_check(generation.registers, GLOBAL_KEYS))
        if "UboxDevice" in generation.registers and generation.processor:
            reasons += ["Registers: %s is missing beside UboxDevice" % key
                        for key in ("Buses", "NodeId", "NodeMap")
                        if key not in generation.registers]
        for reason in reasons:
            yield "%s: %s" % (shown, reason)
    wrong = False
    for box in generation.boxes:
        if box.registers is None:
            continue
        reasons = list(_check(box.registers, KEYS))
        for reason in reasons or _check_box(box):
            wrong = True
            yield "%s: %s: %s" % (shown, box.name, reason)
    for reason in () if wrong or not generation.processor else _check_functions(generation):
        yield "%s: %s" % (shown, reason)


def in_function(box):
    """The number of boxes that share a PCI function."""
    return int(box.registers.get("InFunction", "1"), 0)


def bits_mask(text):
    """The mask of bits such as "3-5,8"."""
    return Field("config:" + text).mask


def addresses(box, key):
    """An address for each counter: a single address is the first of consecutive MSRs."""
    text = box.registers.get(key)
    if text is None:
        return []
    if "," in text:
        return [int(one, 0) for one in text.split(",")]
    return [int(text, 0) + i for i in range(box.counters)]


def control_mask(box):
    """
    The bits of config that go to a general counter's control: all of them but those of
    filters, which are in other registers.
    """
    filters = {name for rule in box.filter_rules for name in rule.fields}
    mask = 0
    for name, field in box.format.items():
        if not field.word and name not in filters and (
                name != "umask" or box.umask_general):
            mask |= field.mask
    return mask


def filter_registers(box):
    """Each FilterRegister of a box type."""
    for text in box.registers.get("Filter", []):
        reg, field, word, shift, name, value = FILTER.fullmatch(text).groups()
        field = Field(field)
        shift = min(field.bits) if shift is None else int(shift)
        mask = field.mask >> shift
        if mask >> 32 or mask << shift != field.mask:
            raise CatalogueError("%s: the register has 32 bits" % text)
        when = equals = 0
        if name:
            if name not in box.format or box.format[name].word:
                raise CatalogueError("%s: no field %s of config" % (text, name))
            when = box.format[name].mask
            equals = box.format[name].place(int(value, 0))
        yield FilterRegister(int(reg, 0), int(word), shift, mask, when, equals)


def functions(box, key):
    """Each Function of Devices or FilterDevices; its numbers are None for any place."""
    for text in filter(None, box.registers.get(key, "").split(",")):
        device, number, function = re.fullmatch(FUNCTION, text).groups()
        yield Function(int(device, 0), number and int(number),
                       function and int(function))


def mmio(box):
    """The Mmio of a box type whose registers are in memory."""
    return Mmio(*MMIO.fullmatch(box.registers["Mmio"]).groups())


def _places(box, stride, bases):
    """
    The distance of each box's registers from the first box's, by the distance of two boxes,
    or by a list of addresses; [] without either.
    """
    if stride:
        return [int(stride, 0) * i for i in range(int(box.registers["Boxes"], 0))]
    places = []
    for base in filter(None, (bases or "").split(",")):
        first, distance, number = re.fullmatch(
            r"({0})(?:\+({0})\*([0-9]+))?".format(NUMBER), base).groups()
        places += [int(first, 0) + int(distance or "0", 0) * i for i in range(int(number or 1))]
    return [place - places[0] for place in places]


def places(box):
    """The distance of the registers of each box from the first box's; [] for PCI boxes."""
    return _places(box, box.registers.get("Stride"), box.registers.get("Bases"))


def free_counters(box):
    """Each FreeCounter of a box type; its places are [] where they are the type's."""
    for text in box.registers.get("FreeRunning", []):
        reg, umask, width, stride, bases = FREE.fullmatch(text).groups()
        yield FreeCounter(int(reg, 0), int(umask, 0), int(width), _places(box, stride, bases))
