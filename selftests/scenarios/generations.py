# SPDX-License-Identifier: GPL-2.0-or-later
"""
What the flow model has to know of a generation, from the event catalogue: which
boxes and events it has, by which codes, and how devices are distinguished from cores.
flow.py speaks of Haswell's events; here they become another generation's.
"""

import functools
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "events"))

from gen.catalogue import load_generations  # noqa: E402

MODEL = "hswep"             # whose events flow.py names
DEVICE_TID = 0x3e
# The same events by other names.
NAMES = {
    "pkg_residency_c0_cycles": "pkg_c_state_residency_c0_cycles",
    "pkg_residency_c2e_cycles": "pkg_c_state_residency_c2_cycles",
    "pkg_residency_c3_cycles": "pkg_c_state_residency_c3_cycles",
    "pkg_residency_c6_cycles": "pkg_c_state_residency_c6_cycles",
}


class Generation:
    """One with the boxes of the E5 family."""

    def __init__(self, merged):
        self.name = merged.name
        self.names, self.codes, self.masks = {}, {}, {}
        for box in merged.boxes:
            for event in box.events:
                self.names.setdefault((box.name, event.code), event.base)
                self.codes.setdefault((box.name, event.base), event.code)
                self.masks.setdefault((box.name, event.code),
                                      set()).add(event.select[1])
        self.boxes = {box.name for box in merged.boxes}
        tid = next((box.format["filter_tid"] for box in merged.boxes
                    if box.name == "cbox"), None)
        # otherwise devices have separate opcodes
        self.device_tid = bool(tid and tid.fits(DEVICE_TID))

    def has(self, box, base):
        return (box, base) in self.codes

    def adapt(self, flows, model):
        """The flows of events that it has, with its own codes."""
        for one in flows:
            base = model.names.get((one.box, one.code))
            code = one.code
            if base:
                code = self.codes.get((one.box, base), self.codes.get(
                    (one.box, NAMES.get(base, base))))
            if (one.box, code) not in self.names:
                continue
            one.code = code
            if self.masks[one.box, code] == {0}:
                one.umask = 0
            yield one


@functools.cache
def load(name):
    """A generation; None for one with other boxes than the E5 family's."""
    found = {}
    for merged in load_generations(os.path.join(TOP, "events"), "events"):
        merged.merge_events()
        merged.build_events()
        if "cbox" in merged.facts:
            found[merged.name] = Generation(merged)
    return found.get(name)


def adapted(flows, name):
    """Haswell's flows as another generation's."""
    return list(load(name).adapt(flows, load(MODEL)))
