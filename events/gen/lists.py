# SPDX-License-Identifier: GPL-2.0-or-later
"""The lists of all generations, for the driver and for the library."""

from .kernel import HEAD
from .boxes import HEAD as C_HEAD

CPP = """// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The generations of the catalogue, the processors of each, the groups of
/// metrics, and the presets of uncore top.
/// Generated from events/, do not edit.

#include "catalogue_tables.hpp"

namespace uncore {

extern const catalogue_tables %s;

namespace {

constexpr const catalogue_tables *generations[] = {
%s};

%s
%s%s
%s
} // namespace

const std::span<const catalogue_tables *const> catalogue_tables::all = generations;
const std::span<const processor> processor::all = processors;
const std::span<const metric_group> metric_group::all = groups;
const std::span<const preset> preset::all = presets;

} // namespace uncore
"""


def in_driver(generation):
    """Does the driver support the generation?  A folder may be only a catalogue."""
    return generation.processor is not None


def _driven(generations):
    return [one for one in generations if in_driver(one)]


def _newest_first(generations):
    """The generation with a manual that most others go back to, then from the newest to the
    oldest."""
    first = max(generations, key=lambda one: (bool(one.manual), sum(
        other.root is one for other in generations)))
    return [first] + sorted((one for one in generations if one is not first),
                            key=lambda one: (-one.year, one.name))


def kernel(generations):
    """{file: text} of the driver's lists: generations, processors, objects to build."""
    driven = _driven(generations)
    declared = "".join("extern const struct unc_generation unc_%s;\n" % one.name
                       for one in driven)
    cpus = "".join("\tX86_MATCH_VENDOR_FAM_MODEL(INTEL, %d, %d, &unc_%s),\n" % (
        one.processor + (one.name,))
        for one in sorted(driven, key=lambda one: one.processor))
    return {
        "generations.h": HEAD % "The generations that the driver supports." +
        "#include <asm/cpu_device_id.h>\n\nstruct unc_generation;\n\n" +
        declared + "extern const struct x86_cpu_id unc_cpus[];\n",
        "generations.c": C_HEAD % "The processors that the driver supports." +
        '#include "generated/generations.h"\n\n'
        "const struct x86_cpu_id unc_cpus[] = {\n%s\t{ }\n};\n" % cpus,
        "Kbuild": "# SPDX-License-Identifier: GPL-2.0-only\n"
        "# Generated from events/, do not edit.\n"
        "generations := %s\n" % " ".join(one.name for one in driven),
    }


def _array(struct, name, rows):
    """The array of a list, which can be empty in the catalogue of a test."""
    if not rows:
        return "constexpr std::span<const %s> %s;\n" % (struct, name)
    return "constexpr %s %s[] = {\n%s};\n" % (struct, name, "".join(rows))


def _leading(group):
    """The array of a group's leading metrics."""
    return "constexpr leading_metric leading_%s[] = {\n%s};\n" % (
        group["MetricGroup"], "".join('\t{"%s", "%s"},\n' % (
            metric["MetricName"], metric.get("Column", ""))
            for metric in group["Leading"]))


def cpp(generations, groups, presets):
    """
    The library's lists: all generations, the processors that the driver supports, the
    groups of metrics, and the presets.
    """
    ordered = _newest_first(generations)
    return CPP % (
        ",\n\t".join("%s_tables" % one.name for one in ordered),
        "".join("\t&%s_tables,\n" % one.name for one in ordered),
        _array("processor", "processors", [
            '\t{"ven0000fam%04Xmod%04X", "%s", 0x%x},\n' % (
                one.processor + (one.name, one.steppings or 0xffff))
            for one in _driven(ordered)]),
        "".join(_leading(group) for group in groups),
        _array("metric_group", "groups", [
            '\t{"%s", "%s", leading_%s},\n' % (
                group["MetricGroup"], group["Question"], group["MetricGroup"])
            for group in groups]),
        _array("preset", "presets", [
            '\t{"%s", "%s", "%s", "%s", %s},\n' % (
                *texts, "true" if default else "false") for *texts, default in presets]))
