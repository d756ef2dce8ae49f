#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Breaks copies of the event catalogue, one way each, and sees that the generator
refuses with file, event and reason; then that what it writes for the real one
is stable and holds together. Prints TAP.
"""

import glob
import json
import os
import re
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


def edited(folder, file, edit, generation="hswep"):
    """Apply @edit to the parsed file, or to its text when it takes a str."""
    path = os.path.join(folder, generation, file)
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    content = json.loads(text)
    changed = edit(content)
    if isinstance(changed, str):
        text = changed
    else:
        text = json.dumps(content, indent=1)
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


def registers(box, **changes):
    return lambda content: content[box]["Registers"].update(**changes)


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
    ("a value that is not a string", "cbox.json", change(LOOKUP, MaxInc=1),
     LOOKUP + ": MaxInc: is not of type string"),
    ("a name with capitals", "cbox.json",
     change(LOOKUP, EventName="LLC_LOOKUP.ANY"), "LLC_LOOKUP.ANY: EventName:"),
    ("a name that perf keeps for itself", "cbox.json",
     change(LOOKUP, EventName="period"), "period: the name is a keyword"),
    ("a name twice", "cbox.json", twice(LOOKUP),
     LOOKUP + ": the name is used twice"),
    ("a name of the manual that is missing", "manual.json",
     lambda content: content["ha"].update(requests=9),
     "requests: names of ha/requests that cite the manual: 8 (expected 9, as in "
     "its tables)"),
    ("a name that is not the manual's", "manual.json",
     lambda content: content["ha"].pop("requests"),
     "requests: names of ha/requests that cite the manual: 8 (expected 0, as in "
     "its tables)"),
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
    ("unit mask zeros that the event itself sets", "irp.json",
     change("misc0.fast_req", UMaskZeros="0x03"),
     "misc0.fast_req: UMaskZeros: 0x03 has bits of UMask"),
    ("unit mask zeros of a number", "pcu.json",
     change("power_state_occupancy.cores_c0", UMaskZeros="0x01"),
     "power_state_occupancy.cores_c0: UMaskZeros: only subevents"),
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
    ("a metric of more events than there are counters for", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_cbox@tor_occupancy.all@ / "
            "hswep_cbox@rxr_occupancy.irq@"),
     "hitme_inval: MetricExpr: hswep_cbox has not the counters for 2 events"),
    ("an event with edge and without a threshold", "pcu.json",
     change("power_state_occupancy.cores_c0", Filter="occ_sel=1,occ_edge=1"),
     "power_state_occupancy.cores_c0: Filter: occ_edge has no effect without "
     "thresh"),
    ("a metric with edge and without a threshold", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_ha@clockticks\\,edge\\=1@"),
     "hitme_inval: MetricExpr: edge has no effect without thresh"),
    ("a metric with invert and a threshold of 0", "metrics.json",
     change("hitme_inval",
            MetricExpr="hswep_ha@clockticks\\,inv\\=1\\,thresh\\=0@"),
     "hitme_inval: MetricExpr: inv has no effect without thresh"),
    ("an opcode that is too wide", "opcodes.json",
     lambda content: content[0].update(Value="0x200"),
     "rfo: filter_opc=0x200 is wider"),
    ("a filter rule of a field that is none", "boxes.json",
     lambda content: content["cbox"]["Filters"][0].update(
         Fields="filter_colour"), "Filters: no field 'filter_colour'"),
    ("a filter rule that no event can meet", "boxes.json",
     lambda content: content["cbox"]["Filters"][1].update(Select="0x134"),
     "Filters: Select 0x134 is not in Mask"),
    ("a filter rule with a key too many", "boxes.json",
     lambda content: content["cbox"]["Filters"][1].update(Colour="red"),
     "Filters: unknown key Colour"),
    ("a processor's family without its model", "boxes.json",
     lambda content: content.update(Model=None), "Family and Model are two numbers"),
    ("a filter register of more than 32 bits", "boxes.json",
     registers("ubox", Filter=["0x707 config1:0-32"]),
     "ubox: Registers: Filter: 0x707 config1:0-32: the register has 32 bits"),
    ("a filter register that holds no field", "boxes.json",
     registers("ubox", Filter=["0x707"]),
     "ubox: Registers: Filter: '0x707' is not of the form"),
    ("a filter register for a value of an unknown field", "boxes.json",
     registers("ubox", Filter=["0x707 config1:0-5 if colour=1"]),
     "ubox: Registers: Filter: 0x707 config1:0-5 if colour=1: no field colour"),
    ("global status bits of fewer boxes than there are", "boxes.json",
     registers("ha", GlobalStatus=["21"]),
     "ha: Registers: GlobalStatus: 1 entries for 2 boxes"),
    ("more PCI devices than boxes", "boxes.json",
     registers("irp", Devices="0x2f39,0x2f3a"), "irp: Registers: Devices: more than 1"),
    ("a quirk that the driver does not know", "boxes.json",
     registers("ha", Quirks="fast"),
     "ha: Registers: Quirks: 'fast' is not of the form"),
    ("a required field that is none", "boxes.json",
     registers("ha", Must="valid"), "ha: Registers: Must: no field valid"),
    ("a fact about the in-tree driver, of a field that is none",
     "in-tree.json", lambda content: content["Filters"][0].update(
         Fields="filter_colour"), "fact 1: the CBo has no field filter_colour"),
]


def put(**lists):
    """A difference instead of the file's."""
    return lambda _: json.dumps(lists)


ADDED = {"EventName": "news", "EventCode": "0x77", "Category": "news",
         "BriefDescription": "Newspapers", "Section": "perf"}
# The same for events/bdwep, which is like hswep.
BROKEN_DIFFERENCE = [
    ("a base that there is not", "boxes.json",
     lambda content: content.update(Like="p6"),
     "Like: no generation is called p6"),
    ("a base that is the generation itself", "boxes.json",
     lambda content: content.update(Like="bdwep"),
     "Like: bdwep is like this one"),
    ("a box that is not an object", "boxes.json",
     lambda content: content.update(ha="none"), "ha: is not an object"),
    ("a format that is not an object", "boxes.json",
     lambda content: content["ha"].update(Format=["edge"]),
     "ha: Format: is not an object"),
    ("a new box without its title", "boxes.json",
     lambda content: content.update(dbox={"Section": "§2.3", "Counters": 1}),
     "dbox: Title is missing"),
    ("a box gone that never was", "boxes.json",
     lambda content: content.update(Remove=["dbox"]),
     "dbox: Remove: hswep has no such box"),
    ("a field gone that never was", "boxes.json",
     lambda content: content["ha"].update(Remove=["occ_sel"]),
     "ha: Remove: hswep has no field occ_sel"),
    ("a field that is what it was", "boxes.json",
     lambda content: content["ha"].update(Format={"edge": "config:18"}),
     "ha: Format: edge is what hswep has"),
    ("a fact that is what it was", "boxes.json",
     lambda content: content["ha"].update(Counters=4),
     "ha: Counters is what hswep has"),
    ("a register that is not a number", "boxes.json",
     registers("ha", BoxControl="f4"),
     "ha: Registers: BoxControl: 'f4' is not a number"),
    ("another number of controls than counters", "boxes.json",
     registers("ha", Control="0xd8,0xdc"),
     "ha: Registers: Control: 2 addresses for 4 counters"),
    ("a register that is what it was", "boxes.json",
     registers("ha", Boxes="2"), "ha: Registers: Boxes is what hswep has"),
    ("a register that nothing knows", "boxes.json",
     registers("ha", Colour="0x1"), "ha: Registers: Colour is not a known key"),
    ("an event gone that never was", "cbox.json", put(Remove=["news.*"]),
     "news.*: Remove: hswep has no such entry, or it is removed"),
    ("an event gone twice", "cbox.json",
     put(Remove=["llc_lookup.*", "llc_lookup.any"]),
     "llc_lookup.any: Remove: hswep has no such entry, or it is removed"),
    ("an event changed that never was", "cbox.json",
     put(Change=[{"EventName": "news", "UMask": "0x01"}]),
     "news: Change: hswep has no such entry, or it is removed"),
    ("a change of a removed event", "cbox.json",
     put(Remove=["llc_lookup.any"],
         Change=[{"EventName": "llc_lookup.any", "UMask": "0x01"}]),
     "llc_lookup.any: Change: hswep has no such entry, or it is removed"),
    ("a change to what it was", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "UMask": "0x11"}]),
     "llc_lookup.any: Change: UMask is what hswep has"),
    ("a change of an unknown key", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "Colour": "red"}]),
     "llc_lookup.any: Change: Colour is not a known key"),
    ("a change to a value of the wrong form", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "UMask": "17"}]),
     "llc_lookup.any: Change: UMask: "),
    ("a change that takes a required key away", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "Category": None}]),
     "llc_lookup.any: Category is missing"),
    ("a change to a counter that the box has not", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.*", "Counter": "4"}]),
     "llc_lookup."),
    ("an event added that was there", "cbox.json",
     put(Add=[{**ADDED, "EventName": "llc_lookup.any"}]),
     "llc_lookup.any: Add: hswep has it: change it"),
    ("an event added without its code", "cbox.json",
     put(Add=[{key: ADDED[key] for key in ADDED if key != "EventCode"}]),
     "news: EventCode is missing"),
    ("a difference with an unknown part", "cbox.json", put(Rename=["x"]),
     "Rename is not a known key"),
    ("a metric gone that never was", "metrics.json", put(Remove=["news"]),
     "news: Remove: hswep has no such entry, or it is removed"),
    ("a metric added without its event", "metrics.json",
     put(Add=[{"MetricName": "news", "MetricGroup": "news", "Box": "cbox",
               "MetricExpr": "bdwep_cbox@news@", "Section": "§2.3.6",
               "BriefDescription": "Newspapers"}]),
     "news: MetricExpr: bdwep_cbox has no event news"),
]


def copy_catalogue(folder, names=()):
    for name in names or generations():
        shutil.copytree(os.path.join(EVENTS, name),
                        os.path.join(folder, name))


def refused(title, generation, file, edit, message):
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder, {"hswep", generation})
        path = os.path.join(folder, generation, file)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as handle:
                handle.write("{}")
        edited(folder, file, edit, generation)
        kernel = os.path.join(folder, "kernel")
        run = generate("--catalogue", folder, "--kernel", kernel)
        wanted = "events/%s/%s: %s" % (generation, file, message)
        # with the line, where the file names the entry
        said = re.sub(r"(\.json):\d+: ", r"\1: ", run.stderr)
        result(run.returncode == 1 and wanted in said and
               "Traceback" not in run.stderr and not os.path.exists(kernel),
               "refused: " + title, "wanted " + wanted, run.stderr)


def test_broken():
    for broken in BROKEN:
        refused(broken[0], "hswep", *broken[1:])
    for broken in BROKEN_DIFFERENCE:
        refused(broken[0], "bdwep", *broken[1:])
    refused("an event code without an event select", "xeon7100",
            "fsb.json", change("drdy", EventCode="0x01"),
            "drdy: EventCode: the FSB has no event select")
    refused("an event code that is missing", "hswep", "cbox.json",
            change(LOOKUP, EventCode=None), LOOKUP + ": EventCode is missing")


# Title, edit of groups.json, and what the message must say.
BROKEN_GROUPS = [
    ("not an array", lambda _: "{}", "is not an array"),
    ("no question", lambda content: content[0].update(Question=""),
     "memory: Question: '' does not match"),
    ("an unknown key", lambda content: content[0].update(Colour="red"),
     "memory: Colour is not a known key"),
    ("a group twice", lambda content: content.append(content[0]),
     "memory: the name is used twice"),
    ("no leading metric", lambda content: content[0].update(Leading=[]),
     "memory: Leading is empty"),
    ("a leading metric twice",
     lambda content: content[0]["Leading"].append({"MetricName": "mem_bw_reads_rate"}),
     "memory: Leading: mem_bw_reads_rate is given twice"),
    ("a metric that no generation has",
     lambda content: content[0]["Leading"].append({"MetricName": "mem_bw_raeds"}),
     "memory: Leading: no generation has a metric mem_bw_raeds"),
    ("a metric of another group",
     lambda content: content[0]["Leading"].append({"MetricName": "qpi_speed"}),
     "memory: Leading: qpi_speed of hswep is not of this MetricGroup"),
]


def test_groups():
    """Groups of metrics are of all generations."""
    for title, edit, message in BROKEN_GROUPS:
        with tempfile.TemporaryDirectory() as folder:
            copy_catalogue(folder)
            shutil.copy(os.path.join(EVENTS, "groups.json"), folder)
            edited(folder, "groups.json", edit, "")
            run = generate("--catalogue", folder, "--check")
        result(run.returncode == 1 and "events/groups.json: " + message in run.stderr,
               "refused: a group of metrics: " + title, run.stderr)


def test_readers():
    """Other programs print the catalogue's faults, and end."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("selftests", "build"):
            os.symlink(os.path.join(os.path.dirname(EVENTS), name),
                       os.path.join(folder, name))
        shutil.copytree(EVENTS, os.path.join(folder, "events"))
        edited(os.path.join(folder, "events"), "cbox.json", change(LOOKUP, MaxInc=None))
        for name in ("compare.py", "formulas.py", "names.py"):
            run = subprocess.run(
                [sys.executable, os.path.join(folder, "selftests", "catalogue", name)],
                capture_output=True, text=True)
            result(run.returncode == 1 and "Traceback" not in run.stderr and
                   LOOKUP + ": MaxInc is missing" in run.stderr,
                   name + " prints the faults of the catalogue, and fails",
                   "status %d" % run.returncode, run.stderr)


# Errors that name a line: file, replaced text and its replacement, and the message
# after the line
LINES = [
    ("a metric that uses an absent event", "ivbep", "metrics.json",
     "ivbep_imc@wpq_inserts@", "ivbep_imc@wpq_insert@",
     "imc_pct_rd_requests: MetricExpr: ivbep_imc has no event wpq_insert"),
    ("a raw unit mask that no event has", "hswep", "metrics.json",
     r"umask\\=0x0b", r"umask\\=0x1b",
     "pct_requests_page_empty: MetricExpr: no unit mask of act_count is or "
     "adds up to 0x1b"),
    ("a raw unit mask of an event that has none", "snbep", "metrics.json",
     "(snbep_imc@act_count@", r"(snbep_imc@event\\=0x01\\,umask\\=0x0b@",
     "pct_requests_page_empty: MetricExpr: no unit mask of act_count is or "
     "adds up to 0x0b"),
    ("a raw event that the box has not", "hswep", "metrics.json",
     r"event\\=0x01\\,umask\\=0x0b@ -", r"event\\=0xee\\,umask\\=0x0b@ -",
     "pct_requests_page_empty: MetricExpr: the iMC has no event 0xee"),
    ("a note that names another generation's event", "snbep", "metrics.json",
     '"Note": "CAS_COUNT.ALL is', '"Note": "ACT_COUNT.RD is',
     "pct_requests_page_empty: Note: ACT_COUNT.RD is a name of hswep, bdwep, "
     "bdwde, ivbep and not of this generation"),
    ("a note that denies an event that is there", "hswep", "metrics.json",
     '"WPQ_INSERTS is not an event', '"RPQ_INSERTS is not an event',
     "imc_pct_rd_requests: Note: RPQ_INSERTS is an event of this part"),
    ("an opcode's note that names another generation's event", "hswep",
     "opcodes.json", '"Note": "Not generated by this processor. Table',
     '"Note": "As ADDRESS_MATCH.STALL_COUNT. Table',
     "invxtoi: Note: ADDRESS_MATCH.STALL_COUNT is a name of ivbep and not of this "
     "generation"),
    ("a generation's note that names another one's event", "snbep", "boxes.json",
     '"no global control', '"HITME_HIT.INVALS, no global control',
     "Registers: Note: HITME_HIT.INVALS is a name of hswep, bdwep, bdwde and not "
     "of this generation"),
    ("an absent metric with an empty reason", "ivbep", "omitted.json",
     '"No directory cache: neither HITME_LOOKUP nor HITME_HIT is an event of '
     'this part"', '""', "hitme_*: Reason is empty"),
    ("a reason for a metric that is there", "ivbep", "omitted.json",
     '"hitme_*"', '"hitme_* io_*_bw"',
     "io_*_bw: the generation has it, or no related one has"),
]


def test_unread():
    """An event of another generation's manual, which no reading has here."""
    def unread(content):
        for lacks in content.values():
            lacks.append("cbox/llc_lookup.any")

    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder)
        edited(folder, "readings.json", unread, "bdwep")
        run = generate("--catalogue", folder, "--check")
        result(run.returncode == 1 and re.search(
            r"^events/bdwep/cbox.json: llc_lookup.any: Section is missing, and no "
            r"reading has the event \(inherited from events/hswep/cbox.json:\d+\)$",
            run.stderr, re.M), "refused: an event that no reading has",
               run.stderr)


def test_lines():
    for title, generation, file, old, new, message in LINES:
        with tempfile.TemporaryDirectory() as folder:
            copy_catalogue(folder)
            path = os.path.join(folder, generation, file)
            with open(path, encoding="utf-8") as handle:
                text = handle.read()
            at = text.find(old)
            text = text[:at] + new + text[at + len(old):]
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(text)
            # the line of the entry's name: the last one before, or the same
            names = [match.start() for match in re.finditer(
                r'"(MetricName|Metrics|Name|Registers)"', text)
                     if match.start() <= at]
            wanted = "events/%s/%s:%d: %s" % (
                generation, file, text.count("\n", 0, names[-1]) + 1, message)
            run = generate("--catalogue", folder, "--check")
            result(at >= 0 and run.returncode == 1 and
                   wanted in run.stderr.splitlines(),
                   "refused, with its line: " + title, "wanted " + wanted,
                   run.stderr)


def test_layout():
    """--check reports a file that another program wrote, --format restores it."""
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder)
        path = os.path.join(folder, "hswep", "metrics.json")
        with open(path, encoding="utf-8") as handle:
            text = handle.read()
        edited(folder, "metrics.json", lambda content: None)
        run = generate("--catalogue", folder, "--check")
        result(run.returncode == 1 and run.stderr ==
               "events/hswep/metrics.json: another layout: run events/generate.py "
               "--format\n", "refused: a file in another layout", run.stderr)
        run = generate("--catalogue", folder, "--format")
        with open(path, encoding="utf-8") as handle:
            restored = handle.read() == text
        result(run.returncode == 0 and restored, "--format restores the layout",
               run.stderr)


def test_inherited_metric():
    """
    A metric whose event was removed is an error, until a reason is given: then it is left
    out, and the reference and the list say why.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder)
        with open(os.path.join(folder, "bdwep", "ha.json"), "w",
                  encoding="utf-8") as handle:
            json.dump({"Remove": ["hitme_*"]}, handle)
        run = generate("--catalogue", folder, "--check")
        result(run.returncode == 1 and all(re.search(
            r"^events/%s/metrics.json: hitme_inval: %s_ha has no event "
            r"hitme_hit.invals: .* omitted.json \(inherited from "
            r"events/hswep/metrics.json:\d+\)$" % (name, name), run.stderr, re.M)
            for name in ("bdwep",)),
               "refused: an inherited metric whose event was removed, without a "
               "reason", run.stderr)
        for name in ("bdwep", "bdwde"):
            path = os.path.join(folder, name, "omitted.json")
            with open(path, encoding="utf-8") as handle:
                omitted = json.load(handle)
            omitted.append({"Metrics": "hitme_*", "Section": "perf",
                            "Reason": "No newspapers"})
            with open(path, "w", encoding="utf-8") as handle:
                json.dump(omitted, handle)
        run = generate("--catalogue", folder, "--absent-metrics")
        result(run.returncode == 0 and
               "bdwep\thitme_inval\tNo newspapers\n" in run.stdout and
               "bdwde\tqpi_speed\tthere is no QPI\n" in run.stdout and
               not re.search(r"\t(None)?$", run.stdout, re.M),
               "the list of absent metrics has the reasons", run.stdout,
               run.stderr)
        run = generate("--catalogue", folder, "--generation", "bdwep",
                       "--cpp", folder + "/c.cpp", "--docs", folder + "/docs")
        with open(folder + "/c.cpp", encoding="utf-8") as file:
            tables = file.read()
        with open(folder + "/docs/index.rst", encoding="utf-8") as file:
            index = file.read()
        with open(folder + "/docs/qpi.rst", encoding="utf-8") as file:
            page = file.read()
        result(re.search(r'"``rxl_stalls.gv``", .*"``0x80`` †"', page) and
               not re.search(r"``cto_count``.*†", page),
               "the reference marks single readings")
        result(run.returncode == 0 and "hitme_inval" not in tables and
               "avg_ingress_depth" in tables and
               '"metrics hitme_inserts, hitme_inval", "", "No newspapers"' in
               index,
               "a metric whose event was removed is left out, with the reason",
               run.stderr)


def test_missing_box():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(EVENTS, "hswep"),
                        os.path.join(folder, "hswep"))
        for file in ("sbox.json", "metrics.json", "omitted.json"):
            os.remove(os.path.join(folder, "hswep", file))
        run = generate("--catalogue", folder, "--check")
        result(run.returncode == 0, "a missing box file is an empty one",
               run.stderr)


def generations():
    return sorted(os.path.basename(os.path.dirname(path)) for path in
                  glob.glob(os.path.join(EVENTS, "*", "boxes.json")))


def test_generation(name):
    """What other generations' outputs rely on, as Haswell's below."""
    with tempfile.TemporaryDirectory() as folder:
        run = generate("--generation", name, "--tsv", folder + "/t.tsv",
                       "--kernel", folder, "--cpp", folder + "/c.cpp")
        result(run.returncode == 0, "%s is written" % name, run.stderr)
        with open(folder + "/t.tsv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
    check_table(rows, name)
    clocks = [row[-1] for row in rows if row[1] == "bus_clocks"]
    if name.startswith("xeon7"):
        result(len(clocks) == 1 and set(clocks[0]) == {"1", ","},
               "%s: every bus clock is one" % name, *clocks)


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
    check_table(rows, "hswep")


def test_all():
    """All generations' kernel tables at once are what each one's are."""
    with tempfile.TemporaryDirectory() as folder:
        run = generate("--generation", "all", "--kernel", folder + "/all")
        for name in generations():
            generate("--generation", name, "--kernel", folder + "/each")
        files = [{file: open(os.path.join(folder, box_type, file),
                             encoding="utf-8").read()
                  for file in os.listdir(os.path.join(folder, box_type))}
                 for box_type in ("all", "each")]
        result(run.returncode == 0 and files[0] == files[1] and
               len(files[0]) >= 3 * len(generations()),
               "%d files of all generations at once" % len(files[0]),
               run.stderr)
        run = generate("--generation", "all", "--tsv", folder + "/t.tsv")
        result(run.returncode == 2 and "of one generation" in run.stderr,
               "refused: a table of all generations", run.stderr)


def test_driver_table():
    """The driver's table is flat: an address is in it as a number."""
    with tempfile.TemporaryDirectory() as folder:
        generate("--generation", "all", "--kernel", folder)
        with open(folder + "/ivbep.c", encoding="utf-8") as file:
            row = file.read().split("[TYPE_CBOX] = {")[1].split("\n\t}")[0]
        with open(folder + "/Kbuild", encoding="utf-8") as file:
            listed = file.read().split("generations := ")[1].split()
    result(".ctl = { 0xd10, 0xd11, 0xd12, 0xd13 }," in row and
           ".stride = 0x20," in row and ".box_ctl = 0xd04," in row,
           "the table has the registers of Ivy Bridge's CBo", row)
    result(sorted(listed) == generations(),
           "the driver's list has all generations with a processor", *listed)


def test_todo():
    """The work that is left for a generation: none, all of it, or one line."""
    for name in generations():
        run = generate("--todo", name)
        result(run.returncode == 0 and not run.stdout,
               "nothing is left for %s" % name, run.stdout, run.stderr)
    run = generate("--todo", "p6")
    result(run.returncode == 1 and
           run.stdout.startswith("events/p6/boxes.json: write it"),
           "a generation without a folder has a first step", run.stdout)
    box_type = {"Title": "Z", "Section": "none", "Counters": 4,
                "Format": {"event": "config:0-7"}}
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder, {"hswep"})
        os.mkdir(folder + "/p6")
        with open(folder + "/p6/boxes.json", "w", encoding="utf-8") as file:
            json.dump({"Title": "P6", "Like": "hswep", "Models": "Pro",
                       "ha": {"Registers": {"Devices": "0x1234"}}, "zbox": box_type},
                      file)
        run = generate("--catalogue", folder, "--todo", "p6")
        edited(folder, "boxes.json", lambda content: content.update(ybox=box_type))
        other = generate("--catalogue", folder, "--todo", "hswep")
    lines = run.stdout.splitlines()
    for wanted in ("events/p6/boxes.json: give Family and Model",
                   "events/p6/: events/generate.py --check finds",
                   "events/p6/boxes.json: ha: Registers: Devices: 1 boxes of 2",
                   "kmod/sim/hw/p6.c: write", "selftests/lib/c/generation.c: add",
                   "Documentation/porting.rst: describe",
                   "events/p6/zbox.json: write its events",
                   "kmod/sim/model/model.h: zbox: add MODEL_ZBOX to",
                   "selftests/lib/c/generation.c: zbox: add",
                   "selftests/lib/c/harness.h: zbox: add",
                   "selftests/lib/c/pmon_registers.c: zbox: add",
                   "selftests/runner/skips.list: zbox: list",
                   "selftests/catalogue/compare.py: zbox: map",
                   "Documentation/driver.rst: zbox: describe"):
        result(any(line.startswith(wanted) for line in lines),
               "of a new generation: " + wanted, run.stdout, run.stderr)
    # The model's tests have Haswell's box types alone.
    files = ["selftests/sim/model/" + name for name in (
        "machine.cpp", "reference.cpp", "config_test.cpp")]
    result([line.split(": ")[0] for line in other.stdout.splitlines()
            if ": ybox: add" in line and "/sim/model/" in line] ==
           ["kmod/sim/model/model.h", *files] and
           not any(file in run.stdout for file in files),
           "the model's tests are left for a box type of Haswell's",
           other.stdout, run.stdout)
    result(not any("cbox: " in line for line in lines),
           "box types that another generation has are done", run.stdout)


def test_shown_names():
    """Names that users are shown for perf are in sysfs by default."""
    top = os.path.dirname(EVENTS)
    common, known = set(), set()
    with open(os.path.join(EVENTS, "hswep", "boxes.json"),
              encoding="utf-8") as file:
        boxes = [name for name in json.load(file) if name.islower()]
    for box in boxes:
        with open(os.path.join(EVENTS, "hswep", box + ".json"),
                  encoding="utf-8") as file:
            for raw in json.load(file):
                known.add((box, raw["EventName"]))
                if "Common" in raw:
                    common.add((box, raw["EventName"]))
    shown = set()
    for path in ["README.md", "selftests/demo/demo.sh", *glob.glob(
            "Documentation/*.rst", root_dir=top)]:
        with open(os.path.join(top, path), encoding="utf-8") as file:
            text = file.read()
        shown |= known & set(re.findall(
            r"hswep_([a-z0-9]+?)(?:_\d+)?/([a-z0-9_.]+)", text))
        shown |= known & set(re.findall(
            r"^\t([a-z0-9]+)\t+([a-z0-9_.]+)[,\t]", text, re.M))
    result(len(shown) > 10 and shown <= common,
           "%d names of README, documents and demo are common" % len(shown),
           *sorted("%s/%s" % name for name in shown - common))


def check_table(rows, name):
    """What tests rely on, read from the table of generation @name alone."""
    odd, bits = [], {}
    for (box, event, _, config, _, _, ctrs, max_inc, rule, period,
         values) in rows:
        values = [int(value) for value in values.split(",")]
        if len(values) != int(period) or not 1 <= len(values) <= 16:
            odd.append("%s/%s: %d values" % (box, event, len(values)))
        if ctrs in ("fixed", "free"):
            continue
        code, umask = int(config, 16) & 0x2000ff, int(config, 16) >> 8 & 0xff
        if rule == "any" and box != "pcu":
            bits.setdefault((box, code), {})[umask] = (
                event, values, int(max_inc))
    result(not odd, name + ": %d rows have as many values as the period says"
           % len(rows), *odd)

    odd, sums = [], 0
    for masks in bits.values():
        for umask, (event, values, max_inc) in masks.items():
            parts = [masks.get(1 << bit, (0, None))[1]
                     for bit in range(8) if umask >> bit & 1]
            if len(parts) < 2 or None in parts:
                continue
            sums += 1
            if values != [min(sum(column), max_inc)
                          for column in zip(*parts)]:
                odd.append(event)
    # A control register without an event select has no unit masks.
    result((sums or name.startswith("xeon7")) and not odd,
           name + ": %d combined unit masks are the sum of their "
           "bits" % sums, *odd)


def main():
    print("TAP version 13")
    test_broken()
    test_groups()
    test_readers()
    test_unread()
    test_lines()
    test_layout()
    test_inherited_metric()
    test_missing_box()
    test_outputs()
    for name in generations():
        if name != "hswep":
            test_generation(name)
    test_all()
    test_driver_table()
    test_todo()
    test_shown_names()
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
