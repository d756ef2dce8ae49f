# SPDX-License-Identifier: GPL-2.0-or-later
"""
The simulated hardware's waveforms: the increments of each event, cycle by cycle, when
no traffic is written to the simulator.  The values are derived from a hash of the
event's name, so a test can compute the count of an event.
"""

import hashlib

MIN_PERIOD, MAX_PERIOD = 8, 16
MIN_RATIO, MAX_RATIO = 8, 40    # of 100 MHz, for the PCU's frequency bands
MAX_VALUE = 255                 # the largest threshold of most boxes


class Wave:
    """A row of the model's table: an event's values in the cycles of its period."""

    def __init__(self, event, values, select=None):
        self.event = event
        self.code, self.umask = select or event.select
        self.max_inc = _top(event)
        self.values = values


def _digest(*parts):
    return hashlib.sha256(".".join(parts).encode()).digest()


def _top(event):
    """The largest value of an event's wave, which a threshold can tell from smaller ones."""
    thresh = event.box.format.get("thresh")
    return min(event.max_inc, max(MAX_VALUE, (1 << len(thresh.bits)) - 1 if thresh else 0))


def _period(box, code):
    """The period of all unit masks of an event code, so that their values add up."""
    seed = _digest(box.name, "0x%02x" % code)
    return MIN_PERIOD + seed[0] % (MAX_PERIOD - MIN_PERIOD + 1)


def _frequency(event, period):
    span = MAX_RATIO - MIN_RATIO + 1
    return [MIN_RATIO + byte % span
            for byte in _digest(event.box.name, event.name)[:period]]


def _random(event, period):
    """Values from 0 to the largest increment, with at least one of each of these two."""
    seed = _digest(event.box.name, event.name)
    top = _top(event)
    values = [byte % (top + 1) for byte in seed[:period]]
    if top > 255:
        upper = _digest(event.box.name, event.name, "bits from 8 on")
        values = [value + 256 * (byte % ((top + 1) // 256))
                  for value, byte in zip(values, upper)]
    idle = seed[-1] % period
    values[idle] = 0
    if top not in values:
        values[(idle + 1 + seed[-2] % (period - 1)) % period] = top
    return values


def _parts(event, siblings):
    """
    The events that add up to @event: their unit masks together are the unit mask of
    @event, and no part of one of them has a name.  None if there are no such events.
    """
    if event.rule != "any" or not event.umask:
        return None
    masks = {other.umask: other for other in siblings if other.umask}
    atoms = [other for mask, other in masks.items()
             if mask != event.umask and mask & ~event.umask == 0 and
             not other.umask_zeros & event.umask and
             not any(sub != mask and sub & ~mask == 0 for sub in masks)]
    total = 0
    for atom in atoms:
        if total & atom.umask:
            return None
        total |= atom.umask
    return atoms if total == event.umask else None


def _values(event, siblings):
    if event.wave == "ones" or not event.general:
        return [1] * (_period(event.box, event.code)
                      if len(siblings) > 1 else 1)
    period = _period(event.box, event.code)
    if event.wave == "frequency":
        return _frequency(event, period)
    parts = _parts(event, siblings)
    if parts:
        columns = zip(*(_values(part, siblings) for part in parts))
        return [min(sum(column), _top(event)) for column in columns]
    return _random(event, period)


def subevent_waves(box):
    """
    {bit: Wave} of a box whose Subevents are bits of the control register, which a
    counter ORs, for each bit with a name of its own.
    """
    waves, values = {}, []
    for event in box.general_events if box.subevents else ():
        bits = [bit for bit in box.subevents.bits
                if event.config()[0] >> bit & 1]
        if len(bits) != 1:
            continue
        if event.wave == "rest":
            values = [1 - value for value in values]
        else:
            values = _random(event, _period(box, 0))
        waves[bits[0]] = Wave(event, values, (bits[0], 0))
    return waves


def event_values(event, waves):
    """The increments of @event cycle by cycle; @waves are the waves of its box."""
    if event.box.has_select:
        return waves[event.select].values
    columns = [wave.values for bit, wave in waves.items()
               if event.config()[0] >> bit & 1]
    return [min(sum(column), event.max_inc)
            for column in zip(*columns)] or [0]


def box_waves(box):
    """
    {(code, umask): Wave} of a box's general counters.  Names that differ only in their
    filters share a wave: the wave of the first name.
    """
    if not box.has_select:
        return subevent_waves(box)
    first = {}
    # only boxes without general counters have waves of free-running counters
    for event in box.general_events if box.counters else box.events:
        first.setdefault(event.select, event)
    waves = {}
    for select, event in sorted(first.items()):
        siblings = [other for (code, _), other in first.items()
                    if code == event.code]
        waves[select] = Wave(event, _values(event, siblings))
    return waves
