# SPDX-License-Identifier: GPL-2.0-or-later
"""
Where a generation's registers are: facts of boxes.json, checked, and written
out as C macros so that a driver's tables need not have them a second time.
The simulated hardware types its own, to hold both against each other.
"""

import re

from .kernel import HEAD

# What a box type's Registers may say, and whether it is a list.
KEYS = {
    "Space": False, "Boxes": False, "InFunction": False, "Width": False,
    "Stride": False, "OtherCounter": True,
    "BoxControl": False, "BoxStatus": False, "Control": True, "Counter": True,
    "Filter": True, "FixedControl": False, "FixedCounter": False,
    "Devices": True, "FilterDevices": True, "Section": False, "Note": False,
}
# And what those of the whole package are.
GLOBAL_KEYS = {
    "Control": False, "Status": False, "UboxDevice": False, "NodeId": False,
    "NodeMap": False, "CapabilityDevice": False, "Capability": False,
    "Section": False, "Note": False,
}
WORDS = {"Space", "Section", "Note"}


def _check(registers, known):
    if not isinstance(registers, dict):
        yield "Registers: is not an object"
        return
    for key, text in registers.items():
        if key not in known:
            yield "Registers: %s is not a known key" % key
        elif not isinstance(text, str):
            yield "Registers: %s is not a string" % key
        elif key not in WORDS and not all(
                re.fullmatch(r"0x[0-9a-f]+|[0-9]+", one)
                for one in text.split(",")):
            yield "Registers: %s: %r is not a number" % (key, text)
        elif key not in WORDS and not known[key] and "," in text:
            yield "Registers: %s is one number" % key
    if registers.get("Space", "msr") not in ("msr", "pci"):
        yield "Registers: Space is msr or pci"
    if "Section" not in registers:
        yield "Registers: Section is missing"


def check_registers(generation):
    """Reasons why what boxes.json says of registers cannot be."""
    shown = "%s/boxes.json" % generation.shown
    if generation.registers is not None:
        for reason in _check(generation.registers, GLOBAL_KEYS):
            yield "%s: %s" % (shown, reason)
    for box in generation.boxes:
        if box.registers is None:
            continue
        for reason in _check(box.registers, KEYS):
            yield "%s: %s: %s" % (shown, box.name, reason)
        counters = box.counters * int(box.registers.get("InFunction", "1"), 0)
        for key in ("Control", "Counter", "OtherCounter"):
            many = box.registers.get(key, "").split(",")
            if len(many) not in (1, counters):
                yield "%s: %s: Registers: %s: %d addresses for %d counters" % (
                    shown, box.name, key, len(many), counters)


def _macros(prefix, registers, known):
    for key, text in registers.items():
        if key in WORDS:
            continue
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper()
        value = "{ %s }" % text.replace(",", ", ") if known[key] else text
        yield "#define %s_%s\t%s\n" % (prefix, name, value)


def _each(registers, counters):
    """One address for each counter: a single one is the first of several."""
    registers = dict(registers)
    for key in ("Control", "Counter"):
        if "," not in registers.get(key, ","):
            first = int(registers[key], 0)
            registers[key] = ",".join("%#x" % (first + i)
                                      for i in range(counters))
    return registers


def header(generation):
    """The macros, or None for a generation that has no Registers."""
    text = ""
    if generation.registers:
        text += "\n" + "".join(_macros(generation.name.upper() + "_GLOBAL",
                                       generation.registers, GLOBAL_KEYS))
    for box in generation.boxes:
        if box.registers:
            text += "\n" + "".join(_macros(
                ("%s_%s" % (generation.name, box.name)).upper(),
                _each(box.registers, box.counters), KEYS))
    if not text:
        return None
    return HEAD % "Where registers are, for the driver." + text
