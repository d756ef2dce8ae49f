#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compare texts of Haswell's catalogue with the text of its manual, if a copy is available
(--manual, or UNCORE_MANUAL). A name that a Note says the manual lacks must not be in the
manual. The description of an event that counts cycles must have the word "cycle". Every
MSR of a free-running counter must be in pcu.json or in omitted.json. Prints TAP.
"""

import argparse
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "events"))

from gen.catalogue import load_json  # noqa: E402

FOLDER = os.path.join(TOP, "events", "hswep")
MANUAL = os.path.join(TOP, "..", "shared", "manuals",
                      "xeon-e5-e7-v3-uncore-331051.md")
# Section of the manual with the event list of each box type.
BOXES = {"cbox": "2.3.6", "sbox": "2.4.5", "ha": "2.5.5", "imc": "2.6.5",
         "irp": "2.7.5", "pcu": "2.8.6", "qpi": "2.9.6", "r2pcie": "2.10.5",
         "r3qpi": "2.11.5"}
SKIP = 4


def load(file):
    return load_json(os.path.join(FOLDER, file), file)


def definitions(text):
    """Definition and largest increment of each event in the manual, by (box, event)."""
    lists = sorted((text.rindex(section + " "), box) for box, section in
                   BOXES.items() if section + " " in text)
    ends = [at for at, _ in lists[1:]] + [len(text)]
    found = {}
    for (start, box), end in zip(lists, ends):
        for part in re.split(r"\n#+ +", text[start:end])[1:]:
            name = re.sub(r"[*\\ ]", "", part.split("\n")[0]).lower()
            words = re.search(r"Definition:\**\s*(.*)", part)
            rise = re.search(r"Max\. Inc/Cyc: (\d+)", part)
            if words and rise:
                found[box, name] = (words[1], int(rise[1]))
    return found


def denied(text):
    """Texts on Notes that deny a name which the manual has."""
    for file in sorted(os.listdir(FOLDER)):
        content = load(file)
        for raw in content if isinstance(content, list) else []:
            for word in re.findall(
                    r"([A-Za-z_.]+)(?:=\d+)?, which the manual does not",
                    raw.get("Note", "")):
                if word in text:
                    yield "%s: %s: the manual has %s" % (
                        file, raw.get("EventName", raw.get("MetricName")),
                        word)


def miscalled(text):
    """Texts on events that count cycles by the manual but have no "cycle" in their text."""
    known = definitions(text)
    for box in BOXES:
        for raw in load(box + ".json"):
            words, rise = known.get((box, raw["EventName"].split(".")[0]),
                                    ("", 0))
            if (rise == 1 and "number of cycles that" in words and
                    "cycle" not in raw["BriefDescription"].lower()):
                yield "%s/%s: %s" % (box, raw["EventName"],
                                     raw["BriefDescription"])


def missing_msrs(text):
    """Texts on MSRs of Table 1-2's free-running counters that the catalogue lacks."""
    row = re.search(r"^\s*((?:0x[0-9A-F]+,? ?)+)\tFree Running", text, re.M)
    ours = json.dumps(load("pcu.json") + load("omitted.json"))
    tables = text[text.index("Free Running (Non-PMON) Counters"):][:400]
    for msr in re.findall(r"0x[0-9A-F]+", row[1]):
        short = "0x%x" % int(msr, 16)
        name = re.search(r"MSR_CORE_(\w+)_CTR\t0x0%s" % msr[2:], tables)
        if short in ours:
            continue
        # the MSR's name is in Tables 2-161 to 2-164: PC2, PC3
        if not name or "pkg_%s_residency" % name[1][1:].lower() not in ours:
            yield "%s is neither in the catalogue nor in omitted.json" % short


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manual", metavar="FILE",
                        default=os.environ.get("UNCORE_MANUAL", MANUAL))
    args = parser.parse_args()
    print("TAP version 13")
    try:
        with open(args.manual, encoding="utf-8") as handle:
            text = handle.read()
    except OSError:
        print("1..0 # SKIP there is no copy of the manual")
        return SKIP
    failed = False
    checks = [
        ("%d definitions of the manual were found" % len(definitions(text)),
         [] if len(definitions(text)) > 200 else ["too few"]),
        ("no Note denies what the manual has", list(denied(text))),
        ("what the manual says are cycles is called cycles",
         list(miscalled(text))),
        ("every free-running MSR of Table 1-2 is accounted for",
         list(missing_msrs(text))),
    ]
    for number, (name, wrong) in enumerate(checks, 1):
        print("%sok %d %s" % ("not " * bool(wrong), number, name))
        for line in wrong:
            print("# %s" % line)
        failed = failed or bool(wrong)
    print("1..%d" % len(checks))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
