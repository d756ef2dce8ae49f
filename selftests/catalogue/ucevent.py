# SPDX-License-Identifier: GPL-2.0-or-later
"""
Read the event lists of ucevent (pmu-tools), of which each is a Python file with the
dictionary "events". The file is parsed, not executed.
"""

import ast

BOXES = {"UBOX": "ubox", "CBO": "cbox", "SBO": "sbox", "HA": "ha", "iMC": "imc",
         "IRP": "irp", "PCU": "pcu", "QPI_LL": "qpi", "R2PCIe": "r2pcie",
         "R3QPI": "r3qpi"}


def parse(text):
    """Yield (box type, name, code, unit mask, extension bit) of the events of a list."""
    events, = (ast.literal_eval(node.value) for node in ast.parse(text).body
               if isinstance(node, ast.Assign) and node.targets[0].id == "events")
    bases = {name.rsplit(".", 1)[0] for name, raw in events.items() if "Umask" in raw}
    for name, raw in events.items():
        if name not in bases:
            # b1xx0: a bit that is "x" may have either value
            umask = int(raw.get("Umask", "b0")[1:].replace("x", "0"), 2)
            yield (BOXES[raw["Box"]], name.split(".", 1)[1].lower(), raw["EvSel"], umask,
                   int(raw["ExtSel"] or 0))
