# SPDX-License-Identifier: GPL-2.0-or-later
"""The C tables for the driver and for the simulated hardware."""

from .derived import in_tree_files
from .docs import ranges
from .registers import LOCAL_BIT
from .waves import box_waves

HEAD = """/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * %s
 * Generated from events/, do not edit.
 */
"""


def _table(struct, name, rows):
    return "\nstatic const struct %s %s[] = {\n%s};\n" % (struct, name,
                                                          "".join(rows))


def _info_rows(box):
    """A row for each event code: counters and largest increment, to allocate counters."""
    codes = {}
    for event in box.general_events:
        codes.setdefault(event.code, []).append(event)
    for code, events in sorted(codes.items()):
        yield "\t{ .code = 0x%02x, .ctrs = 0x%x, .max_inc = %d%s },\n" % (
            code, events[0].ctrs, max(event.max_inc for event in events),
            ", .of_ctr0 = true" if events[0].of_counter0 else "")


def _event_rows(box):
    """A row for each file in sysfs: the event, its unit and its scale."""
    for event in box.events:
        for suffix, text in (("", event.perf_string), (".unit", event.unit),
                             (".scale", event.scale)):
            if text is not None:
                yield '\t{ "%s%s",\n\t  "%s"%s },\n' % (
                    event.name, suffix, text, ", true" if event.common else "")


def _in_tree_rows(files):
    """A row for each event file of the kernel's own driver."""
    for file in files:
        yield '\t{ "%s",\n\t  "%s" },\n' % (file["Name"], file["Text"])


def events_header(generation):
    """The driver's header of counter constraints by event code, and events in sysfs."""
    text = HEAD % "Events of each box type, for the driver."
    for box in generation.boxes:
        prefix = "%s_%s" % (generation.name, box.name)
        text += _table("unc_event_info", prefix + "_info", _info_rows(box))
        text += _table("unc_text", prefix + "_events", _event_rows(box))
        files = in_tree_files(generation, box)
        if files:
            text += _table("unc_text", prefix + "_in_tree", _in_tree_rows(files))
    return text


def _field_rows(box):
    for name, field in box.format.items():
        yield '\t{ "%s", "config%s:%s", true },\n' % (
            name, field.word or "", ",".join(ranges(sorted(field.bits))))
    yield '\t{ "local", "config:%d" },\n' % LOCAL_BIT


def _ull(words):
    return ", ".join("0x%xULL" % word for word in words)


def _use_rows(box):
    for rule in box.filter_rules:
        neutral = ""
        if any(rule.neutral_words):
            neutral = ",\n\t  { %s }" % _ull(rule.neutral_words)
        yield "\t{ 0x%xULL, 0x%xULL, { %s }%s },\n" % (
            rule.mask, rule.select, _ull(rule.words), neutral)
    yield "\t{ }\n"


def fields_header(generation):
    """The driver's header of perf's format fields, and of events that obey filters."""
    text = HEAD % "Format fields and filter rules of each box type, for the driver."
    for box in generation.boxes:
        prefix = "%s_%s" % (generation.name, box.name)
        text += _table("unc_text", prefix + "_fields", _field_rows(box))
        if box.filter_rules:
            text += _table("unc_filter_use", prefix + "_uses", _use_rows(box))
    return text


def _rule(event):
    return "MODEL_" + (event.rule or "any").upper()


def _wave_rows(box):
    for wave in box_waves(box).values():
        event = wave.event
        yield ("\t{ .code = 0x%02x, .umask = 0x%02x, .zeros = 0x%02x, .rule = %s,\n"
               "\t  .max_inc = %d, .ctrs = 0x%x, .period = %d,\n"
               "\t  .v = { %s } },\n" % (
                   wave.code, wave.umask, event.umask_zeros, _rule(event),
                   wave.max_inc, event.ctrs, len(wave.values),
                   ", ".join(str(value) for value in wave.values)))


def waves_header(generation):
    """The simulator's header of increments of each event, cycle by cycle."""
    text = HEAD % "Waveforms of each box type's events, for the model."
    for box in generation.boxes:
        text += _table("model_wave",
                       "%s_%s_waves" % (generation.name, box.name),
                       _wave_rows(box))
    return text
