# SPDX-License-Identifier: GPL-2.0-or-later
"""
The driver's table of a generation: a C file with a row of named members for each box
type, its PCI functions, and the global registers.
"""

import textwrap

from .derived import in_tree_files
from .docs import ranges
from .registers import (addresses, bits_mask, control_mask, filter_registers,
                        free_counters, functions, in_function, mmio, places)

HEAD = """// SPDX-License-Identifier: GPL-2.0-only
/*
 * %s
 * Generated from events/, do not edit.
 */
"""


def _bits(mask, ull="_ULL"):
    """@mask in the kernel's macros BIT and GENMASK, the highest bits first."""
    if mask == 0xffffffff:
        return "U32_MAX"
    parts = []
    positions = [bit for bit in range(64) if mask >> bit & 1]
    for part in reversed(list(ranges(positions))):
        low, _, high = part.partition("-")
        parts.append("GENMASK%s(%s, %s)" % (ull, high, low) if high
                     else "BIT%s(%s)" % (ull, low))
    return " | ".join(parts)


def _numbers(values):
    return "{ %s }" % ", ".join("0x%x" % value for value in values)


def _comment(text, tabs):
    lines = textwrap.wrap(text, 76)
    if len(lines) > 1:
        lines = ["/*"] + [" * " + line for line in lines] + [" */"]
    else:
        lines = ["/* %s */" % text]
    return "".join("%s%s\n" % ("\t" * tabs, line) for line in lines)


def _member(tabs, name, value):
    """A member of an initialiser, in several lines where it is long."""
    lines = textwrap.wrap(".%s = %s," % (name, value), 90 - 8 * tabs)
    return "".join("%s%s\n" % ("\t" * (tabs + bool(number)), line)
                   for number, line in enumerate(lines))


class Row:
    """A box type's row of box_types[], and the arrays that it refers to."""

    def __init__(self, generation, box):
        self.generation = generation
        self.box = box
        self.facts = {**{key: generation.registers[key]
                         for key in ("Layout", "BoxControlOnes")
                         if key in generation.registers}, **box.registers}
        self.shared = in_function(box) > 1
        self.type = "TYPE_%s" % box.name.upper()

    def comment(self):
        """The box type's section, the source of its registers, and the note on them."""
        text = "%s, %s" % (self.box.title, self.box.section)
        if self.facts["Section"] not in self.box.section:
            text += "; registers: %s" % self.facts["Section"]
        note = self.facts.get("Note")
        if note:
            text += ".  %s%s." % (note[0].upper(), note[1:])
        return _comment(text, 1)

    def filters(self):
        rows = []
        for one in filter_registers(self.box):
            shift = ", .shift = %d" % one.shift if one.shift else ""
            when = ", .when = %s" % _bits(one.when) if one.when else ""
            equals = ", .is = %s" % _bits(one.equals) if one.equals else ""
            rows.append("\t{ .reg = 0x%x, .word = %d%s, .mask = %s%s%s },\n" % (
                one.reg, one.word, shift, _bits(one.mask, ""), when, equals))
        return rows and rows + ["\t{ }\n"]

    def places(self):
        """{name: distances}: an array for each different list of places of the box type."""
        lists = [places(self.box)] + [one.places for one in free_counters(self.box)]
        different = dict.fromkeys(tuple(one) for one in lists if any(one))
        return {"%s_places%s" % (self.box.name, number or ""): one
                for number, one in enumerate(different)}

    def name_of(self, distances):
        """The array with these places, or None where all are 0."""
        for name, one in self.places().items():
            if one == tuple(distances):
                return name
        return None

    def free(self):
        rows = []
        for one in free_counters(self.box):
            name = self.name_of(one.places)
            rows.append("\t{ .umask = 0x%02x, .bits = %d, .reg = 0x%x%s },\n" % (
                one.umask, one.width, one.reg, ", .places = " + name if name else ""))
        return rows

    def status_bits(self):
        """Bits of the global status, a mask for each box; [] if all boxes share them."""
        bits = self.facts.get("GlobalStatus")
        if not isinstance(bits, list):
            return []
        bits = ", ".join(_bits(bits_mask(one)) for one in bits)
        return "".join("\t%s\n" % line for line in textwrap.wrap(bits + ",", 80))

    def arrays(self):
        text = "".join("\nstatic const s32 %s[] = {\n%s};\n" % (name, "".join(
            "\t%s\n" % line for line in textwrap.wrap(
                ", ".join("%s0x%x" % ("-" * (one < 0), abs(one)) for one in distances) + ",",
                80))) for name, distances in self.places().items())
        what, *values = self.facts.get("Map", "").split() or [None]
        if what == "stack":
            text += "\nstatic const u8 %s_stacks[] = { %s };\n" % (
                self.box.name, values[-1].replace(",", ", "))
        for struct, what, rows in (("struct unc_filter_reg", "filters",
                                    self.filters()),
                                   ("struct unc_freerun", "freerun", self.free()),
                                   ("u64", "global", self.status_bits())):
            if rows:
                text += "\nstatic const %s %s_%s[] = {\n%s};\n" % (
                    struct, self.box.name, what, "".join(rows))
        if self.free():
            text += "static_assert(ARRAY_SIZE(%s_freerun) <= UNC_MAX_FREERUN);\n" \
                % self.box.name
        return text

    def _regs(self, counters):
        """(member, value) of struct unc_type_regs."""
        facts, box = self.facts, self.box
        control = self.facts.get("BoxControl")
        yield "box_ctl", control
        if control and "BoxControlOnes" in facts:
            yield "box_ctl_base", _bits(bits_mask(facts["BoxControlOnes"]), "")
        yield "status", facts.get("BoxStatus")
        if "BoxStatus" in facts:
            yield "status_mask", _bits(
                bits_mask(facts["StatusBits"]) if "StatusBits" in facts
                else (1 << counters) - 1, "")
        control = addresses(box, "Control")
        if control:
            yield "ctl", _numbers(control)
            yield "ctr", _numbers(addresses(box, "Counter") or control)
        yield "fixed_ctl", facts.get("FixedControl")
        yield "fixed_ctr", facts.get("FixedCounter")
        yield "places", self.name_of(places(box))
        yield "ctl_mask", _bits(control_mask(box))
        if "Must" in facts:
            yield "ctl_must", _bits(box.format[facts["Must"]].mask)
        for member, value in self._moved():
            yield "moved." + member, value

    def _count(self):
        """(member, value) of struct unc_type_count."""
        if "Count" in self.facts:
            yield "read", "unc_die_" + self.facts["Count"]
        yield "min", self.facts.get("Least")

    def _map(self):
        """(member, value) of struct unc_type_map."""
        if "Map" in self.facts:
            what, *values = self.facts["Map"].split()
            yield "read", "unc_map_" + what
            yield from zip(("reg", "device") if what == "stack" else ("reg", "peer"), values)
            if what == "stack":
                yield "stacks", "%s_stacks" % self.box.name

    def _moved(self):
        """(member, value) of struct unc_type_moved."""
        if "OtherCounter" not in self.facts:
            return
        here = addresses(self.box, "Counter")
        there = addresses(self.box, "OtherCounter")
        yield "ctr", _numbers(there)
        yield "only_old", "0x%x" % (set(here) - set(there)).pop()
        yield "only_new", "0x%x" % (set(there) - set(here)).pop()

    def _pci(self, in_tree):
        """(member, value) of struct unc_type_pci."""
        if self.shared and not in_tree:
            yield "in_function", str(in_function(self.box))
        if self.shared and not in_tree:
            yield "in_tree", "&box_types[%s_IN_TREE]" % self.type

    def _mmio(self):
        """(member, value) of struct unc_type_mmio."""
        if "Mmio" in self.facts:
            yield from mmio(self.box)._asdict().items()

    def _overflow(self):
        """(member, value) of struct unc_type_overflow."""
        bits = self.facts.get("GlobalStatus")
        if not bits:
            return
        yield "signals", "true"
        if isinstance(bits, list):
            yield "status", "%s_global" % self.box.name
        else:
            yield "status_bits", _bits(bits_mask(bits))

    def _filter(self):
        """(member, value) of struct unc_type_filter."""
        if self.box.filter_rules:
            yield "uses", "%s_%s_uses" % (self.generation.name, self.box.name)
        if "Filter" in self.facts:
            yield "regs", "%s_filters" % self.box.name
        if "FilterDevices" in self.facts:
            yield "apart", "true"

    def _events(self, in_tree):
        """(member, value) of struct unc_type_events."""
        prefix = "%s_%s" % (self.generation.name, self.box.name)
        yield "fields", prefix + "_fields"
        yield "num_fields", "ARRAY_SIZE(%s_fields)" % prefix
        if not in_tree:     # under intel_uncore's names any counter counts any event
            yield "info", prefix + "_info"
            yield "num_info", "ARRAY_SIZE(%s_info)" % prefix
        yield "named", prefix + "_events"
        yield "num_named", "ARRAY_SIZE(%s_events)" % prefix
        if in_tree_files(self.generation, self.box):
            yield "in_tree", prefix + "_in_tree"
            yield "num_in_tree", "ARRAY_SIZE(%s_in_tree)" % prefix

    def _quirks(self, in_tree):
        names = [one for one in self.facts.get("Quirks", "").split(",") if one]
        if self.shared and not in_tree:     # several boxes share box control
            names.append("no_reset")
        return " | ".join("UNC_QUIRK_" + name.upper() for name in names)

    def _members(self, in_tree):
        """(member, value) of struct unc_type; a list has the members of a structure."""
        facts = self.facts
        counters = self.box.counters * (in_function(self.box) if in_tree else 1)
        yield "name", '"%s"' % self.box.name
        yield "space", "&unc_space_" + facts["Space"]
        yield "layout", "&unc_layout_" + facts["Layout"]
        yield "max_boxes", "1" if in_tree else facts["Boxes"]
        yield "count", list(self._count())
        yield "map", list(self._map())
        yield "general", str(counters)
        yield "bits", facts["Width"]
        yield "max_inc", facts["MaxInc"]
        yield "quirks", self._quirks(in_tree)
        yield "regs", list(self._regs(counters))
        yield "pci", list(self._pci(in_tree))
        yield "mmio", list(self._mmio())
        yield "overflow", list(self._overflow())
        yield "filter", list(self._filter())
        yield "events", list(self._events(in_tree))
        if self.free():
            yield "freerun", self.box.name + "_freerun"
            yield "num_freerun", "ARRAY_SIZE(%s_freerun)" % self.box.name

    def row(self, in_tree=False):
        text = ""
        for member, value in self._members(in_tree):
            if isinstance(value, list):
                inner = "".join(_member(3, *one) for one in value if one[1])
                text += inner and "\t\t.%s = {\n%s\t\t},\n" % (member, inner)
            elif value:
                text += _member(2, member, value)
        return "\t[%s%s] = {\n%s\t},\n" % (self.type, "_IN_TREE" * in_tree, text)

    def rows(self):
        text = self.comment() + self.row()
        if self.shared:
            text += _comment("The same as intel_uncore has it, under its names.", 1)
            text += self.row(True)
        return text

    def types(self):
        yield self.type
        if self.shared:
            yield self.type + "_IN_TREE"

    def pci_rows(self):
        """(device ID, row) of each PCI function."""
        for key, role in (("Devices", "UNC_PCI_BOX"),
                          ("FilterDevices", "UNC_PCI_FILTER")):
            for index, one in enumerate(functions(self.box, key)):
                devfn = ("UNC_PCI_ANYWHERE" if one.number is None else
                         "PCI_DEVFN(%d, %d)" % (one.number, one.function))
                yield one.device, "\t{ 0x%04x, %s, %s, %d, %s },\n" % (
                    one.device, devfn, self.type, index, role)


def _generation(generation, has_pci):
    facts = generation.registers
    lines = ['\t.name = "%s",\n' % generation.name,
             "\t.types = box_types,\n",
             "\t.num_types = ARRAY_SIZE(box_types),\n"]
    if generation.steppings:
        lines.insert(1, "\t.steppings = %s,\n" % _bits(generation.steppings, ""))
    if has_pci:
        lines.append("\t.pci_rows = box_pci_rows,\n\t.pci_ids = box_pci_ids,\n")
    if generation.in_tree_driver:
        lines.append('\t.in_tree = "%s",\n' % generation.in_tree_driver)
    if "UboxDevice" in facts:
        side = "\t\t.lowest = true,\n" * (facts["Buses"] == "lower")
        if "BusesAbove" in facts:
            side += "\t\t.above = %s,\n" % facts["BusesAbove"]
        lines.append("\t.ubox = {\n\t\t.device = %s,\n%s\t\t.node_id = %s,\n"
                     "\t\t.node_map = %s,\n\t},\n" % (
                         facts["UboxDevice"], side,
                         facts["NodeId"], facts["NodeMap"]))
        lines.append("\t.map_bus = unc_bus_of_ubox,\n\t.node_of = unc_bus_node,\n")
    if "CapabilityDevice" in facts:
        chas = ", .chas = " + _bits(bits_mask(facts["Chas"])) if "Chas" in facts else ""
        lines.append("\t.capability = { .device = %s, .reg = %s%s },\n" % (
            facts["CapabilityDevice"], facts["Capability"], chas))
    lines.append("\t.max_khz = %d,\n" % (generation.max_mhz * 1000))
    inner = [(member, facts.get(key)) for member, key in (
        ("ctl", "Control"), ("status", "Status"), ("config", "Config"))]
    inner += [(member, key in facts and _bits(bits_mask(facts[key])))
              for member, key in (("freeze", "Freeze"),
                                  ("unfreeze", "Unfreeze"), ("wake", "Wake"),
                                  ("cores", "Cores"))]
    if any(value for _, value in inner):
        lines.append("\t/* %s */\n\t.global = {\n%s\t},\n" % (
            facts["Section"], "".join("\t\t.%s = %s,\n" % one
                                      for one in inner if one[1])))
    return "\nconst struct unc_generation unc_%s = {\n%s};\n" % (
        generation.name, "".join(lines))


def table(generation):
    """The C file."""
    rows = [Row(generation, box) for box in generation.boxes]
    title = "%s (%s): its boxes and registers, for the driver." % (
        generation.title, generation.models)
    if generation.manual:
        title += "\n * Sections are those of Intel's manual %s." % \
            generation.manual
    text = HEAD % title
    text += "#include <linux/pci.h>\n\n#include \"hw/hw.h\"\n"
    for part in ("events", "fields"):
        text += '#include "generated/%s_%s.h"\n' % (generation.name, part)
    text += "\nenum {\n%s};\n" % "".join(
        "\t%s,\n" % name for row in rows for name in row.types())
    text += "".join(row.arrays() for row in rows)
    text += "\nstatic const struct unc_type box_types[] = {\n%s};\n" % (
        "".join(row.rows() for row in rows))
    pci = [one for row in rows for one in row.pci_rows()]
    if pci:
        text += "\nstatic const struct unc_pci_row box_pci_rows[] = {\n%s\t{ }\n};\n" % (
            "".join(line for _, line in pci))
        ids = dict.fromkeys(device for device, _ in pci)
        text += ("\n/*\n * Not a MODULE_DEVICE_TABLE: loaded on its own, the driver"
                 " would race with\n * intel_uncore for the boxes.\n */\n"
                 "static const struct pci_device_id box_pci_ids[] = {\n"
                 "%s\t{ }\n};\n" % "".join(
                     "\t{ PCI_VDEVICE(INTEL, 0x%04x) },\n" % one for one in ids))
    return text + _generation(generation, bool(pci))
