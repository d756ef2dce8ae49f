# SPDX-License-Identifier: GPL-2.0-or-later
"""
The simulated hardware's waveforms: what each event does, cycle by cycle, when
nothing but time passes.  They are made up, but always the same, so that a
test can say how much an event must count.
"""

import hashlib

MIN_PERIOD, MAX_PERIOD = 8, 16
MIN_RATIO, MAX_RATIO = 8, 40    # of 100 MHz, for the PCU's frequency bands
MAX_VALUE = 255                 # a threshold has no more bits


class Wave:
    """One row of the model's table."""

    def __init__(self, event, values, select=None):
        self.event = event
        self.code, self.umask = select or event.select
        self.max_inc = min(event.max_inc, MAX_VALUE)
        self.values = values


def _digest(*parts):
    return hashlib.sha256(".".join(parts).encode()).digest()


def _period(box, code):
    """One for all of an event's unit masks, so that they can be added up."""
    seed = _digest(box.name, "0x%02x" % code)
    return MIN_PERIOD + seed[0] % (MAX_PERIOD - MIN_PERIOD + 1)


def _frequency(event, period):
    span = MAX_RATIO - MIN_RATIO + 1
    return [MIN_RATIO + byte % span
            for byte in _digest(event.box.name, event.name)[:period]]


def _random(event, period):
    """Values up to the largest increment: both it and 0 occur."""
    seed = _digest(event.box.name, event.name)
    top = min(event.max_inc, MAX_VALUE)
    values = [byte % (top + 1) for byte in seed[:period]]
    idle = seed[-1] % period
    values[idle] = 0
    if top not in values:
        values[(idle + 1 + seed[-2] % (period - 1)) % period] = top
    return values


def _parts(event, siblings):
    """
    The events that add up to @event: unit masks of which no part is named,
    and that together are exactly this one's.  None when there are none.
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
    if event.wave == "ones":
        return [1] * (_period(event.box, event.code)
                      if len(siblings) > 1 else 1)
    period = _period(event.box, event.code)
    if event.wave == "frequency":
        return _frequency(event, period)
    parts = _parts(event, siblings)
    if parts:
        columns = zip(*(_values(part, siblings) for part in parts))
        return [min(sum(column), event.max_inc, MAX_VALUE) for column in columns]
    return _random(event, period)


def subevent_waves(box):
    """
    Where bits of the control register are an event each, which a counter
    ORs: the waves by bit, for each that has a name to itself.
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
    """What @event counts cycle by cycle; @waves are its box's."""
    if event.box.has_select:
        return waves[event.select].values
    columns = [wave.values for bit, wave in waves.items()
               if event.config()[0] >> bit & 1]
    return [min(sum(column), event.max_inc)
            for column in zip(*columns)] or [0]


def box_waves(box):
    """
    The waves of a box's general counters by (code, umask).  Names that
    differ in their filters only are one event to the counter, and the first
    of them gives the wave.
    """
    if not box.has_select:
        return subevent_waves(box)
    first = {}
    for event in box.general_events:
        first.setdefault(event.select, event)
    waves = {}
    for select, event in sorted(first.items()):
        siblings = [other for (code, _), other in first.items()
                    if code == event.code]
        waves[select] = Wave(event, _values(event, siblings))
    return waves
