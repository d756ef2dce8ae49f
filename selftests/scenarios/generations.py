# SPDX-License-Identifier: GPL-2.0-or-later
"""
Convert the flows of flow.py, which uses Haswell's events, to another generation. The
event catalogue has the generation's boxes, events and codes, and how its requests of
devices are distinguished from requests of cores. mesh.py uses the names of events.
"""

import copy
import functools
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "events"))

from gen.catalogue import load_generations  # noqa: E402

MODEL = "hswep"             # generation whose events flow.py uses
MESH_MODEL = "skx"          # generation with a mesh that has the same numbers
DEVICE_TID = 0x3e
# Events with other names in other generations.
NAMES = {
    "pkg_residency_c0_cycles": "pkg_c_state_residency_c0_cycles",
    "pkg_residency_c2e_cycles": "pkg_c_state_residency_c2_cycles",
    "pkg_residency_c3_cycles": "pkg_c_state_residency_c3_cycles",
    "pkg_residency_c6_cycles": "pkg_c_state_residency_c6_cycles",
}


def _queues(queue):
    """Each of the two pseudo-channels has half of the entries of a channel's queue."""
    return {("imc", "%s_inserts" % queue): {"%s_inserts.pch%d" % (queue, i): 0.5 for i in (0, 1)},
            ("imc", "%s_occupancy" % queue): {"%s_occupancy_pch%d" % (queue, i): 0.5
                                              for i in (0, 1)}}


# Events of MESH_MODEL that other generations with a mesh have as other events, with the share
# of each. A module has two ranks, which are throttled together.
INSTEAD = {
    ("imc", "cas_count.wr_wmm"): {"cas_count.wr_nonpre": 1},
    **_queues("rpq"), **_queues("wpq"),
    **{("imc", "power_cke_cycles.rank%d" % i): {"power_cke_cycles.low_%d" % i: 1}
       for i in range(4)},
    **{("imc", "power_throttle_cycles.rank%d" % i):
       {} if i % 2 else {"power_throttle_cycles.slot%d" % (i // 2): 1} for i in range(4)},
    ("imc", "power_critical_throttle_cycles"):
        {"power_crit_throttle_cycles.slot%d" % i: 1 for i in range(2)},
}


class Generation:
    """A generation with the boxes of the E5 family, or with those of a mesh."""

    def __init__(self, merged):
        self.name = merged.name
        self.names, self.codes, self.masks = {}, {}, {}
        # events without filters by name, and names by their numbers
        self.events, self.subevents = {}, {}
        for box in merged.boxes:
            for event in box.events:
                self.events[box.name, event.name] = event
                if not event.filters:
                    self.subevents.setdefault((box.name, event.code, event.umask), event.name)
                self.names.setdefault((box.name, event.code), event.base)
                self.codes.setdefault((box.name, event.base), event.code)
                self.masks.setdefault((box.name, event.code),
                                      set()).add(event.select[1])
        # the most boxes of a type in a package
        self.boxes = {box.name: int((box.registers or {}).get("Boxes", "1"), 0)
                      for box in merged.boxes}
        self.mesh = "cha" in self.boxes
        tid = next((box.format["filter_tid"] for box in merged.boxes
                    if box.name == "cbox"), None)
        # without a thread number for devices, their requests have separate opcodes
        self.device_tid = bool(tid and tid.fits(DEVICE_TID))

    def has(self, box, base):
        return (box, base) in self.codes

    def is_sum(self, box, name):
        """Check if bits of the unit mask of an event are other events."""
        event = self.events[box, name]
        return event.rule == "any" and event.umask & (event.umask - 1) != 0

    def _named(self, box, base, words):
        """Generate the events of a base whose names have no other words than @words."""
        for (of_box, name), event in self.events.items():
            if of_box == box and event.base == base and \
                    set(name.partition(".")[2].split("_")) <= words:
                yield event

    def has_numbers(self, box, base):
        """Check if the unit masks of a base are numbers with all properties of a transaction."""
        return max(self.masks.get((box, self.codes.get((box, base))), (0,))) > 0xff

    def umasks(self, box, base, words):
        """
        Return the unit masks of the transactions that are a transaction with the properties
        @words. Where unit masks are numbers, a transaction for each event that counts it; a
        number with a single bit is a part of numbers, and no transaction has it alone.
        Otherwise a transaction has the bits of all these events.
        """
        events = list(self._named(box, base, words))
        if self.has_numbers(box, base):
            return sorted({event.umask for event in events if event.umask & (event.umask - 1)})
        bits = 0
        for event in events:
            bits |= event.umask
        return [bits] if bits else []

    def _convert(self, entry, model):
        """Generate (event code, unit mask, share) of a flow with the numbers of @model."""
        box, base = entry.box, model.names.get((entry.box, entry.code))
        name = model.subevents.get((box, entry.code, entry.umask))
        if (box, name) in self.events:
            # the subevents of a sum are flows of their own
            if not self.is_sum(box, name):
                event = self.events[box, name]
                yield event.code, event.umask, 1
        elif (box, name) in INSTEAD:
            for other, share in INSTEAD[box, name].items():
                event = self.events[box, other]
                yield event.code, event.umask, share
        elif self.has(box, base):
            code, bits = self.codes[box, base], 0
            for umask in self.masks[box, code]:
                bits |= umask
            if not entry.umask & ~bits or \
                    self.masks[box, code] == model.masks[box, entry.code]:
                yield code, entry.umask, 1

    def adapt_events(self, flows, model):
        """Generate the flows of the events that this generation has, by names of events."""
        for entry in flows:
            for code, umask, share in self._convert(entry, model):
                changed = copy.copy(entry)
                changed.code, changed.umask = code, umask
                changed.rate *= share
                yield changed

    def adapt(self, flows, model):
        """Generate the flows of the events that this generation has, with its codes."""
        for entry in flows:
            base = model.names.get((entry.box, entry.code))
            code = entry.code
            if base:
                code = self.codes.get((entry.box, base), self.codes.get(
                    (entry.box, NAMES.get(base, base))))
            if (entry.box, code) not in self.names:
                continue
            entry.code = code
            if self.masks[entry.box, code] == {0}:
                entry.umask = 0
            yield entry


@functools.cache
def catalogue():
    """Return the catalogue's generations by name, without their events."""
    return {merged.name: merged for merged in load_generations(
        os.path.join(TOP, "events"), "events")}


@functools.cache
def with_events(name):
    """Return a generation of the catalogue, with its entries and those that it inherits."""
    merged = catalogue()[name]
    if merged.base:
        with_events(merged.base.name)
    merged.merge_events()
    return merged


@functools.cache
def load(name):
    """Return a Generation; None for a generation with neither CBos nor CHAs."""
    if name not in catalogue() or not {"cbox", "cha"} & set(catalogue()[name].facts):
        return None
    # making the events of all generations would take seconds in a VM
    merged = with_events(name)
    merged.build_events()
    return Generation(merged)


def adapted(flows, name):
    """Return Haswell's flows converted to another generation."""
    return list(load(name).adapt(flows, load(MODEL)))


def adapted_mesh(flows, name):
    """Return the flows of flow.py converted to a generation with a mesh."""
    if name == MESH_MODEL:
        return flows
    return list(load(name).adapt_events(flows, load(MESH_MODEL)))
