# SPDX-License-Identifier: GPL-2.0-or-later
"""
Convert the flows of flow.py, which uses Haswell's events, to another generation. The
event catalogue has the generation's boxes, events and codes, and how its requests of
devices are distinguished from requests of cores.
"""

import functools
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "events"))

from gen.catalogue import load_generations  # noqa: E402

MODEL = "hswep"             # generation whose events flow.py uses
DEVICE_TID = 0x3e
# Events with other names in other generations.
NAMES = {
    "pkg_residency_c0_cycles": "pkg_c_state_residency_c0_cycles",
    "pkg_residency_c2e_cycles": "pkg_c_state_residency_c2_cycles",
    "pkg_residency_c3_cycles": "pkg_c_state_residency_c3_cycles",
    "pkg_residency_c6_cycles": "pkg_c_state_residency_c6_cycles",
}


class Generation:
    """A generation with the boxes of the E5 family, or with those of a mesh."""

    def __init__(self, merged):
        self.name = merged.name
        self.names, self.codes, self.masks = {}, {}, {}
        for box in merged.boxes:
            for event in box.events:
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
