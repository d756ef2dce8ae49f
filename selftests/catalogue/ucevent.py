# SPDX-License-Identifier: GPL-2.0-or-later
"""
Read the event lists of ucevent (pmu-tools), of which each is a Python file with the
dictionary "events". The file is parsed, not executed.
"""

import ast


def parse(text, boxes):
    """
    Yield (box type, name, code, unit mask, extension bit) of the events of a list. @boxes
    has the box types by ucevent's names; events of others are left out.
    """
    events, = (ast.literal_eval(node.value) for node in ast.parse(text).body
               if isinstance(node, ast.Assign) and node.targets[0].id == "events")
    bases = {name.rsplit(".", 1)[0] for name, raw in events.items() if "Umask" in raw}
    for name, raw in events.items():
        box = boxes.get(raw["Box"].lower())
        if box and name not in bases:
            # b1xx0: a bit that is "x" may have either value
            umask = int(raw.get("Umask", "b0")[1:].replace("x", "0"), 2)
            yield (box.name, name.split(".", 1)[1].lower(), raw["EvSel"], umask,
                   int(raw["ExtSel"] or 0))
