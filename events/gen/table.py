# SPDX-License-Identifier: GPL-2.0-or-later
"""The catalogue as one tab-separated table, for tests in any language."""

from .waves import box_waves, event_values


def tsv(generation):
    """
    Lines of: box, name, perf string, config, config1, config2, counter mask
    ("fixed", "free"), largest increment, rule, period, values.
    """
    lines = []
    for box in generation.boxes:
        waves = box_waves(box)
        for event in box.events:
            values, ctrs = [1], event.counter
            if event.general:
                values = event_values(event, waves)
                ctrs = "0x%x" % event.ctrs
            row = [box.name, event.name, event.perf_string]
            row += ["0x%x" % word for word in event.config()]
            row += [ctrs, str(event.max_inc), event.rule, str(len(values)),
                    ",".join(str(value) for value in values)]
            lines.append("\t".join(row) + "\n")
    return "".join(lines)
