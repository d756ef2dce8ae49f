#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Breaks copies of the event catalogue, one way each, and sees that the generator
refuses with file, event and reason; then that what it writes for the real one
is stable and holds together. Prints TAP.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EVENTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "events")
results = []


def result(ok, name, *comments):
    results.append(ok)
    print("%sok %d %s" % ("" if ok else "not ", len(results), name))
    for comment in comments if not ok else ():
        for line in str(comment).splitlines():
            print("# %s" % line)


def generate(*arguments):
    return subprocess.run(
        [sys.executable, os.path.join(EVENTS, "generate.py"), *arguments],
        capture_output=True, text=True)


def edited(folder, file, edit):
    """Apply @edit to the parsed file, or to its text when it takes a str."""
    path = os.path.join(folder, "hswep", file)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    content = json.loads(text)
    changed = edit(content)
    if isinstance(changed, str):
        text = changed
    else:
        text = json.dumps(content)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(text)


def event(content, name, **changes):
    """Change keys of one event; None takes the key away."""
    for raw in content:
        if raw.get("EventName", raw.get("MetricName")) == name:
            for key, value in changes.items():
                raw[key] = value
                if value is None:
                    del raw[key]


def change(name, **changes):
    return lambda content: event(content, name, **changes)


def twice(name):
    def edit(content):
        content.append(dict(next(raw for raw in content
                                 if raw["EventName"] == name)))
    return edit


LOOKUP, PCU = "llc_lookup.any", "clockticks"
# Title, file, edit, what the message must say after "events/hswep/FILE: ".
BROKEN = [
    ("not JSON", "cbox.json", lambda _: '[ { "EventName": ', "line 1: "),
    ("a key twice in an object", "cbox.json",
     lambda _: '[ { "UMask": "0x01", "UMask": "0x02" } ]', "key UMask"),
    ("not an array", "cbox.json", lambda _: "{}", "is not an array"),
    ("a required key is missing", "cbox.json", change(LOOKUP, MaxInc=None),
     LOOKUP + ": MaxInc is missing"),
    ("an unknown key", "cbox.json", change(LOOKUP, Colour="red"),
     LOOKUP + ": Colour is not a known key"),
    ("a value that is no string", "cbox.json", change(LOOKUP, MaxInc=1),
     LOOKUP + ": MaxInc: is not of type string"),
    ("a name with capitals", "cbox.json",
     change(LOOKUP, EventName="LLC_LOOKUP.ANY"), "LLC_LOOKUP.ANY: EventName:"),
    ("a name that perf keeps for itself", "cbox.json",
     change(LOOKUP, EventName="period"), "period: the name is a keyword"),
    ("a name twice", "cbox.json", twice(LOOKUP),
     LOOKUP + ": the name is used twice"),
    ("two names for one encoding", "cbox.json",
     change("llc_lookup.write", UMask="0x11"), "llc_lookup.any: event=0x34"),
    ("an event code of nine bits", "cbox.json",
     change(LOOKUP, EventCode="0x134"), LOOKUP + ": EventCode:"),
    ("the fixed counter's code for a general counter", "cbox.json",
     change(LOOKUP, EventCode="0xff"), LOOKUP + ": EventCode 0xff"),
    ("an extension bit where there is none", "cbox.json",
     change(LOOKUP, ExtSel="1"), LOOKUP + ": ExtSel:"),
    ("a unit mask where there is none", "pcu.json",
     change(PCU, UMask="0x01"), PCU + ": UMask:"),
    ("a unit mask of nine bits", "cbox.json", change(LOOKUP, UMask="0x111"),
     LOOKUP + ": UMask:"),
    ("a counter that the box has not", "ubox.json",
     change("racu_requests", Counter="0,1,2"), "racu_requests: Counter:"),
    ("counters out of order", "cbox.json", change(LOOKUP, Counter="1,0"),
     LOOKUP + ": Counter:"),
    ("other counters for the same code", "cbox.json",
     change(LOOKUP, Counter="0"), "llc_lookup."),
    ("a filter field that the box has not", "cbox.json",
     change(LOOKUP, Filter="filter_band0=?"), LOOKUP + ": Filter:"),
    ("a filter value that is too wide", "cbox.json",
     change(LOOKUP, Filter="filter_state=0x80"), LOOKUP + ": Filter:"),
    ("a filter field twice", "cbox.json",
     change(LOOKUP, Filter="filter_state=?,filter_state=1"),
     LOOKUP + ": Filter:"),
    ("an alias of something else", "imc.json",
     change("cas_count_read", Alias="cas_count.wr"), "cas_count_read: Alias:"),
    ("a description of 91 characters", "cbox.json",
     change(LOOKUP, BriefDescription="x" * 91),
     LOOKUP + ": BriefDescription: is 91"),
    ("a description with a full stop", "cbox.json",
     change(LOOKUP, BriefDescription="Lookups."),
     LOOKUP + ": BriefDescription:"),
    ("a metric of an event that is not there", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_ha@hitme_hit.no@"),
     "hitme_inval: MetricExpr: hswep_ha has no event"),
    ("a metric without a filter that the event needs", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_cbox@tor_inserts.opcode@"),
     "hitme_inval: MetricExpr: tor_inserts.opcode needs filter_opc"),
    ("an opcode that is too wide", "opcodes.json",
     lambda content: content[0].update(Value="0x200"),
     "rfo: filter_opc=0x200 is wider"),
    ("a fact about the in-tree driver, of a field that is none",
     "in-tree.json", lambda content: content["Filters"][0].update(
         Fields="filter_colour"), "fact 1: the CBo has no field filter_colour"),
]


def test_broken():
    for title, file, edit, message in BROKEN:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(EVENTS, "hswep"),
                            os.path.join(folder, "hswep"))
            edited(folder, file, edit)
            kernel = os.path.join(folder, "kernel")
            run = generate("--catalogue", folder, "--kernel", kernel)
            wanted = "events/hswep/%s: %s" % (file, message)
            result(run.returncode == 1 and wanted in run.stderr and
                   "Traceback" not in run.stderr and
                   not os.path.exists(kernel),
                   "refused: " + title, "wanted " + wanted, run.stderr)


def test_missing_box():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(EVENTS, "hswep"),
                        os.path.join(folder, "hswep"))
        for file in ("sbox.json", "metrics.json"):
            os.remove(os.path.join(folder, "hswep", file))
        run = generate("--catalogue", folder, "--check")
        result(run.returncode == 0, "a missing box file is an empty one",
               run.stderr)


def test_outputs():
    with tempfile.TemporaryDirectory() as folder:
        arguments = ("--kernel", folder, "--tsv", folder + "/t.tsv",
                     "--docs", folder + "/docs", "--cpp", folder + "/c.cpp")
        first = generate(*arguments)
        files = [os.path.join(path, file)
                 for path, _, names in os.walk(folder) for file in names]
        for file in files:
            os.utime(file, (0, 0))
        second = generate(*arguments)
        result(first.returncode == 0 and second.returncode == 0 and
               files and all(os.stat(file).st_mtime == 0 for file in files),
               "a second run touches none of %d files" % len(files))
        with open(folder + "/t.tsv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
    check_table(rows)


def check_table(rows):
    """What tests rely on, read from the table alone."""
    odd, bits = [], {}
    for (box, name, _, config, _, _, ctrs, max_inc, rule, period,
         values) in rows:
        values = [int(value) for value in values.split(",")]
        if len(values) != int(period) or not 1 <= len(values) <= 16:
            odd.append("%s/%s: %d values" % (box, name, len(values)))
        if ctrs in ("fixed", "free"):
            continue
        code, umask = int(config, 16) & 0x2000ff, int(config, 16) >> 8 & 0xff
        if rule == "any" and box != "pcu":
            bits.setdefault((box, code), {})[umask] = (
                name, values, int(max_inc))
    result(not odd, "%d rows have as many values as the period says"
           % len(rows), *odd)

    odd, sums = [], 0
    for masks in bits.values():
        for umask, (name, values, max_inc) in masks.items():
            parts = [masks.get(1 << bit, (0, None))[1]
                     for bit in range(8) if umask >> bit & 1]
            if len(parts) < 2 or None in parts:
                continue
            sums += 1
            if values != [min(sum(column), max_inc)
                          for column in zip(*parts)]:
                odd.append(name)
    result(sums and not odd, "%d combined unit masks are the sum of their "
           "bits" % sums, *odd)


def main():
    print("TAP version 13")
    test_broken()
    test_missing_box()
    test_outputs()
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
