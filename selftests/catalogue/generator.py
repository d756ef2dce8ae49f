#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check that events/generate.py refuses a wrong code, mask, counter, filter or register
in a copy of the event catalogue, and names the file, the event and the reason; and that
the tables which it writes from the real catalogue agree with each other. Prints TAP.
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
MAX_VALUE = {"iio": 4095}   # of a waveform: the largest threshold, of others 255
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
    """Change keys of an event or a metric; a key with the value None is deleted."""
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
# Title, file, edit of the file, and the text of the message after "events/hswep/FILE: ".
BROKEN = [
    ("a key twice in an object", "cbox.json",
     lambda _: '[ { "UMask": "0x01", "UMask": "0x02" } ]', "key UMask"),
    ("a required key is missing", "cbox.json", change(LOOKUP, Category=None),
     LOOKUP + ": Category is missing"),
    ("an increment of a box type that is 0", "boxes.json", registers("ha", MaxInc="0"),
     "ha: Registers: MaxInc is 0"),
    ("an unknown key", "cbox.json", change(LOOKUP, Colour="red"),
     LOOKUP + ": Colour is not a known key"),
    ("a name that perf keeps for itself", "cbox.json",
     change(LOOKUP, EventName="period"), "period: the name is a keyword"),
    ("a name twice", "cbox.json", twice(LOOKUP),
     LOOKUP + ": the name is used twice"),
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
     LOOKUP + ": UMask 0x111 does not fit the control register"),
    ("a counter that the box has not", "ubox.json",
     change("racu_requests", Counter="0,1,2"), "racu_requests: Counter:"),
    ("unit mask zeros that the event itself sets", "irp.json",
     change("misc0.fast_req", UMaskZeros="0x03"),
     "misc0.fast_req: UMaskZeros: 0x03 has bits of UMask"),
    ("unit mask zeros of a number", "pcu.json",
     change("power_state_occupancy.cores_c0", UMaskZeros="0x01"),
     "power_state_occupancy.cores_c0: UMaskZeros: only subevents"),
    ("other counters for the same code", "cbox.json",
     change(LOOKUP, Counter="0"), "llc_lookup."),
    ("a filter field that the box has not", "cbox.json",
     change(LOOKUP, Filter="filter_band0=?"), LOOKUP + ": Filter:"),
    ("a filter value that is too wide", "cbox.json",
     change(LOOKUP, Filter="filter_state=0x80"), LOOKUP + ": Filter:"),
    ("an alias of something else", "imc.json",
     change("cas_count_read", Alias="cas_count.wr"), "cas_count_read: Alias:"),
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
    ("a raw unit mask that no event has", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_imc@event\\=0x01\\,umask\\=0x1b@"),
     "hitme_inval: MetricExpr: no unit mask of act_count is or adds up to 0x1b"),
    ("a raw event that the box has not", "metrics.json",
     change("hitme_inval", MetricExpr="hswep_imc@event\\=0xee\\,umask\\=0x0b@"),
     "hitme_inval: MetricExpr: the iMC has no event 0xee"),
    ("an opcode that is too wide", "opcodes.json",
     lambda content: content[0].update(Value="0x200"),
     "rfo: filter_opc=0x200 is wider"),
    ("a field with the driver's own bit", "boxes.json",
     lambda content: content["ha"]["Format"].update(thresh="config:22-31"),
     "ha: Format: thresh: bit 22 of config is the driver's"),
    ("a stepping that no processor has", "boxes.json",
     lambda content: content.update(Stepping="4-16"),
     "Stepping is a number or a range from 0 to 15, beside Model"),
    ("a filter rule that no event can meet", "boxes.json",
     lambda content: content["cbox"]["Filters"][1].update(Select="0x134"),
     "Filters: Select 0x134 is not in Mask"),
    ("a neutral value of a field that the rule has not", "boxes.json",
     lambda content: content["cbox"]["Filters"][1].update(Neutral="filter_nid=1"),
     "Filters: Neutral: the rule has no field filter_nid"),
    ("a neutral value that is too wide", "boxes.json",
     lambda content: content["cbox"]["Filters"][1].update(Neutral="filter_state=0x80"),
     "Filters: Neutral: filter_state=0x80 does not fit"),
    ("a filter register of more than 32 bits", "boxes.json",
     registers("ubox", Filter=["0x707 config1:0-32"]),
     "ubox: Registers: Filter: 0x707 config1:0-32: the register has 32 bits"),
    ("a filter register for a value of an unknown field", "boxes.json",
     registers("ubox", Filter=["0x707 config1:0-5 if colour=1"]),
     "ubox: Registers: Filter: 0x707 config1:0-5 if colour=1: no field colour"),
    ("global status bits of fewer boxes than there are", "boxes.json",
     registers("ha", GlobalStatus=["21"]),
     "ha: Registers: GlobalStatus: 1 entries for 2 boxes"),
    ("more PCI devices than boxes", "boxes.json",
     registers("irp", Devices="0x2f39,0x2f3a"), "irp: Registers: Devices: more than 1"),
    ("a PCI function that is no place on a bus", "boxes.json",
     registers("ha", Devices="0x2f30 10.8,0x2f38"),
     "ha: Registers: Devices: '0x2f30 10.8,0x2f38' is not of the form ID or ID "
     "DEVICE.FUNCTION"),
    ("two PCI functions of one ID, one without a place", "boxes.json",
     registers("ha", Devices="0x2f30 18.0,0x2f30"),
     "ha: Registers: Devices: 0x2f30: which of the functions with this ID?"),
    ("a UBox without a rule for buses", "boxes.json",
     lambda content: content["Registers"].pop("Buses") and None,
     "Registers: Buses is missing beside UboxDevice"),
    ("a role that does not exist", "boxes.json",
     lambda content: content["ha"].update(Role="cook"),
     "ha: Role: 'cook' is not one of cache, memory, link, io, power"),
    ("a part that the role has not", "boxes.json",
     lambda content: content["ha"].update(Part="slice"),
     "ha: Part: 'slice' is not one of agent, channel"),
    ("two box types with one role and part", "boxes.json",
     lambda content: content["ha"].update(Part="channel"),
     "imc: Role and Part are those of ha"),
    ("two box types with one name of a tool", "boxes.json",
     lambda content: content["qpi"]["Names"].update(LIKWID="SBOX,QBOX"),
     "Names: LIKWID: sbox is the name of two box types"),
    ("an interconnect that nobody draws", "boxes.json",
     lambda content: content.update(Interconnect="bus"),
     "Interconnect: 'bus' is not one of mesh, ring"),
    ("a required field that is none", "boxes.json",
     registers("ha", Must="valid"), "ha: Registers: Must: no field valid"),
]


def put(**lists):
    """Replace the file by a difference with these lists."""
    return lambda _: json.dumps(lists)


ADDED = {"EventName": "news", "EventCode": "0x77", "Category": "news",
         "BriefDescription": "Newspapers", "Section": "perf"}
# The same for events/bdwep, whose files are differences to hswep.
BROKEN_DIFFERENCE = [
    ("a box gone that never was", "boxes.json",
     lambda content: content.update(Remove=["dbox"]),
     "dbox: Remove: hswep has no such box"),
    ("a field gone that never was", "boxes.json",
     lambda content: content["ha"].update(Remove=["occ_sel"]),
     "ha: Remove: hswep has no field occ_sel"),
    ("a register that is not a number", "boxes.json",
     registers("ha", BoxControl="f4"),
     "ha: Registers: BoxControl: 'f4' is not a number"),
    ("another number of controls than counters", "boxes.json",
     registers("ha", Control="0xd8,0xdc"),
     "ha: Registers: Control: 2 addresses for 4 counters"),
    ("a register that nothing knows", "boxes.json",
     registers("ha", Colour="0x1"), "ha: Registers: Colour is not a known key"),
    ("an event gone that never was", "cbox.json", put(Remove=["news.*"]),
     "news.*: Remove: hswep has no such entry, or it is removed"),
    ("an event changed that never was", "cbox.json",
     put(Change=[{"EventName": "news", "UMask": "0x01"}]),
     "news: Change: hswep has no such entry, or it is removed"),
    ("a change of an unknown key", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "Colour": "red"}]),
     "llc_lookup.any: Change: Colour is not a known key"),
    ("a change to a value of the wrong form", "cbox.json",
     put(Change=[{"EventName": "llc_lookup.any", "UMask": "17"}]),
     "llc_lookup.any: Change: UMask: "),
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
]

ROW = {"EventName": "one", "BriefDescription": "One"}
# The same for blocks of families in events/skx.
BROKEN_FAMILY = [
    ("families without suffixes", "pcu.json",
     lambda content: content.append({"Families": [ROW]}),
     "Families and Suffixes belong together"),
    ("an included event removed that is not included", "m2pcie.json",
     lambda content: content["Remove"].append("ring_*_ghost"),
     "Remove: ring_*_ghost matches no included event"),
    ("a change beside Include", "m2pcie.json",
     lambda content: content.update(Change=[]),
     "beside Include there are only Add and Remove"),
    ("a suffix without a description", "pcu.json",
     lambda content: content.append({"Families": [ROW],
                                     "Suffixes": [{"EventName": "one"}]}),
     "Suffixes: is not a list of rows with EventName and BriefDescription"),
    ("families that are an object", "mesh.json",
     lambda content: content.append({"Families": ROW, "Suffixes": [ROW]}),
     "Families: is not a list of rows"),
    ("a family whose events have no code", "pcu.json",
     lambda content: content.append({"Counter": "0", "Category": "news",
                                     "Families": [ROW], "Suffixes": [ROW]}),
     "one.one: EventCode is missing"),
    ("a family and a suffix that are too long together", "pcu.json",
     lambda content: content.append({
         "Counter": "0", "Category": "news", "EventCode": "0x01",
         "Families": [{**ROW, "BriefDescription": "x" * 50}],
         "Suffixes": [{**ROW, "BriefDescription": "y" * 50}]}),
     "one.one: BriefDescription: is 102 characters long"),
    ("parts without suffixes", "pcu.json",
     lambda content: content.append({"Families": [ROW], "Parts": [ROW]}),
     "Families and Suffixes belong together"),
    ("a part without a description", "pcu.json",
     lambda content: content.append({"Families": [ROW], "Suffixes": [ROW],
                                     "Parts": [{"EventName": "one"}]}),
     "Parts: is not a list of rows with EventName and BriefDescription"),
    ("a family, a suffix and a part that are too long together", "pcu.json",
     lambda content: content.append({
         "Counter": "0", "Category": "news", "EventCode": "0x01",
         "Families": [{**ROW, "BriefDescription": "x" * 40}], "Suffixes": [ROW],
         "Parts": [{**ROW, "BriefDescription": "y" * 50}]}),
     "one.one.one: BriefDescription: is 97 characters long"),
    ("a suffix that is an alias of a different suffix", "upi.json",
     lambda content: content.append({
         "Counter": "0", "Category": "news", "EventCode": "0xf0", "Families": [ROW],
         "Suffixes": [{**ROW, "UMask": "0x01"},
                      {**ROW, "EventName": "two", "UMask": "0x02", "Alias": ".one"}]}),
     "one.two: Alias: one.one, given before it, is not the same"),
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
    for broken in BROKEN_FAMILY:
        refused(broken[0], "skx", *broken[1:])
    refused("an event code without an event select", "xeon7100",
            "fsb.json", change("drdy", EventCode="0x01"),
            "drdy: EventCode: the FSB has no event select")
    refused("an event code that is missing", "hswep", "cbox.json",
            change(LOOKUP, EventCode=None), LOOKUP + ": EventCode is missing")


def test_groups():
    """A leading metric of a group is a metric of a generation, and of the group."""
    for title, metric, message in (
            ("a metric that no generation has", "mem_bw_raeds",
             "no generation has a metric mem_bw_raeds"),
            ("a metric of another group", "qpi_speed",
             "qpi_speed of hswep is not of this MetricGroup")):
        with tempfile.TemporaryDirectory() as folder:
            copy_catalogue(folder)
            shutil.copy(os.path.join(EVENTS, "groups.json"), folder)
            edited(folder, "groups.json", lambda content: content[0]["Leading"].append(
                {"MetricName": metric}), "")
            run = generate("--catalogue", folder, "--check")
        result(run.returncode == 1 and
               "events/groups.json: memory: Leading: " + message in run.stderr,
               "refused: a group of metrics: " + title, run.stderr)


def test_unread():
    """An inherited event without a Section must be in a reading of the generation."""
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


def test_largest_increment():
    """An event without MaxInc has its box type's."""
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder, {"skx", "clx", "icx"})
        run = generate("--catalogue", folder, "--generation", "skx", "--tsv",
                       folder + "/tsv")
        with open(folder + "/tsv", encoding="utf-8") as file:
            most = [line.split("\t")[7] for line in file
                    if line.startswith("imc\trpq_occupancy\t")]
        result(run.returncode == 0 and most == ["255"],
               "an event without MaxInc rises by as much as any of its box type",
               *most, run.stderr)


def test_included():
    """Box types with Include have the events of the file, but for those of their own."""
    with tempfile.TemporaryDirectory() as folder:
        generate("--generation", "skx", "--tsv", folder + "/tsv")
        with open(folder + "/tsv", encoding="utf-8") as file:
            rows = [line.split("\t") for line in file]
    counters = {(row[0], row[1]): row[6] for row in rows}
    stop = {box: {name for of, name in counters if of == box and
                  name.startswith("vert_ring_")} for box in ("cha", "m2m", "m2pcie", "m3upi")}
    result(len(stop["cha"]) == 14 and all(names == stop["cha"] for names in stop.values()),
           "four box types have the events of the mesh stop", stop)
    result(("m2pcie", "rxc_inserts.all") in counters and ("m2m", "txr_vert_nack.iv") in counters
           and not any(name.startswith("txr_") for of, name in counters if of == "m2pcie"),
           "a box type lacks the included events that its file removes", *counters)
    name = "ag1_bl_crd_occupancy.tgr0"
    result((counters["m2m", name], counters["m3upi", name]) == ("0xf", "0x1") and
           counters["m3upi", "vert_ring_ad_in_use.up_odd"] == "0x7",
           "an event of the box type's own replaces the included one",
           counters["m2m", name], counters["m3upi", name])


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
    """An inherited metric whose event was removed needs a reason in omitted.json."""
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder)
        with open(os.path.join(folder, "bdwep", "ha.json"), "w",
                  encoding="utf-8") as handle:
            json.dump({"Remove": ["hitme_*"]}, handle)
        run = generate("--catalogue", folder, "--check")
    result(run.returncode == 1 and re.search(
        r"^events/bdwep/metrics.json: hitme_inval: bdwep_ha has no event "
        r"hitme_hit.invals: .* omitted.json \(inherited from "
        r"events/hswep/metrics.json:\d+\)$", run.stderr, re.M),
           "refused: an inherited metric whose event was removed, without a reason",
           run.stderr)


def of_a_mesh(content):
    """Give boxes.json properties of servers from Skylake on."""
    content.update(Stepping="5-7", MaxInc="3")
    content["Registers"].update(Buses="lower", Freeze="63", Unfreeze="61")
    content["ha"]["Registers"].update(Devices="0x2f30 18.0,0x2f30 19.2")
    content["ha"]["Format"].update(umask="config:8-15,32-43,45-55")
    content["cbox"]["Filters"][1].update(Neutral="filter_state=0x41")
    content["sbox"]["Registers"].pop("Stride")
    content["sbox"]["Registers"].update(
        Boxes="4", Bases="0xa40,0xa60+0x30*2,0xa20", FreeRunning=[
            "0xa45 umask=0x10 width=36", "0xb00 umask=0x20 width=36 stride=0x10",
            "0xc00 umask=0x21 width=36 bases=0xa40,0xa60+0x30*2,0xa20"])


# Of the driver's table: text that it has once
MESH = (
    "\t.steppings = GENMASK(7, 5),\n", "\t\t.lowest = true,\n",
    "\t\t.freeze = BIT_ULL(63),\n", "\t\t.unfreeze = BIT_ULL(61),\n",
    "\t{ 0x2f30, PCI_DEVFN(18, 0), TYPE_HA, 0, UNC_PCI_BOX },\n",
    "\t{ 0x2f30, PCI_DEVFN(19, 2), TYPE_HA, 1, UNC_PCI_BOX },\n",
    "\t{ PCI_VDEVICE(INTEL, 0x2f30) },\n",
    "\t\t\t.ctl_mask = GENMASK_ULL(55, 45) | GENMASK_ULL(43, 23) |\n",
    "static const s32 sbox_places[] = {\n\t0x0, 0x20, 0x50, -0x20,\n};\n",
    "static const s32 sbox_places1[] = {\n\t0x0, 0x10, 0x20, 0x30,\n};\n",
    "\t{ .umask = 0x10, .bits = 36, .reg = 0xa45 },\n"
    "\t{ .umask = 0x20, .bits = 36, .reg = 0xb00, .places = sbox_places1 },\n"
    "\t{ .umask = 0x21, .bits = 36, .reg = 0xc00, .places = sbox_places },\n};\n"
    "static_assert(ARRAY_SIZE(sbox_freerun) <= UNC_MAX_FREERUN);\n",
)


def test_mesh():
    """The driver's tables of properties that Haswell has not."""
    with tempfile.TemporaryDirectory() as folder:
        copy_catalogue(folder, ["hswep"])
        os.remove(os.path.join(folder, "hswep", "omitted.json"))    # of related generations
        edited(folder, "boxes.json", of_a_mesh)
        edited(folder, "cbox.json", lambda content: [
            raw.pop("MaxInc") for raw in content if raw.get("EventCode") == "0x34"] and None)
        run = generate("--catalogue", folder, "--kernel", folder)
        result(run.returncode == 0, "a generation with a mesh", run.stderr)
        if run.returncode:
            return
        texts = {}
        for file in (".c", "_fields.h", "_events.h"):
            with open(os.path.join(folder, "hswep" + file), encoding="utf-8") as handle:
                texts[file] = handle.read()
    for wanted in MESH:
        result(texts[".c"].count(wanted) == 1, "the driver's table has " +
               wanted.strip().split("\n")[0])
    result("\t{ 0xffULL, 0x34ULL, { 0x0ULL, 0xfe0000ULL, 0x0ULL },\n"
           "\t  { 0x0ULL, 0x820000ULL, 0x0ULL } },\n" in texts["_fields.h"],
           "a rule of filters has its neutral value", texts["_fields.h"])
    result("\t{ .code = 0x34, .ctrs = 0xf, .max_inc = 3 },\n" in texts["_events.h"],
           "an event without MaxInc has the generation's")


def generations():
    return sorted(os.path.basename(os.path.dirname(path)) for path in
                  glob.glob(os.path.join(EVENTS, "*", "boxes.json")))


def driven():
    """The generations with a processor: the others are catalogues alone."""
    for name in generations():
        with open(os.path.join(EVENTS, name, "boxes.json"), encoding="utf-8") as file:
            if "Model" in json.load(file):
                yield name


def test_generation(name):
    """Rows of a generation's table agree with each other."""
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


def test_all():
    """--generation all writes the same kernel tables as one run for each generation."""
    with tempfile.TemporaryDirectory() as folder:
        run = generate("--generation", "all", "--kernel", folder + "/all")
        for name in generations():
            generate("--generation", name, "--kernel", folder + "/each")
        files = [{file: open(os.path.join(folder, box_type, file),
                             encoding="utf-8").read()
                  for file in os.listdir(os.path.join(folder, box_type))}
                 for box_type in ("all", "each")]
        result(run.returncode == 0 and files[0] == files[1] and
               len(files[0]) >= 3 * len(generations()) + len(list(driven())),
               "%d files of all generations at once" % len(files[0]),
               run.stderr)


def test_driver_table():
    """The driver's table has the addresses of registers as numbers."""
    with tempfile.TemporaryDirectory() as folder:
        generate("--generation", "all", "--kernel", folder)
        with open(folder + "/ivbep.c", encoding="utf-8") as file:
            row = file.read().split("[TYPE_CBOX] = {")[1].split("\n\t}")[0]
        with open(folder + "/Kbuild", encoding="utf-8") as file:
            listed = file.read().split("generations := ")[1].split()
    result(".ctl = { 0xd10, 0xd11, 0xd12, 0xd13 }," in row and
           ".places = cbox_places," in row and ".box_ctl = 0xd04," in row,
           "the table has the registers of Ivy Bridge's CBo", row)
    result(sorted(listed) == list(driven()),
           "the driver's list has all generations with a processor", *listed)


def test_todo():
    """The work that is left for a generation: none, all of it, or one line."""
    for name in driven():
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
                   "events/p6/boxes.json: zbox: give Names",
                   "Documentation/driver.rst: zbox: describe"):
        result(any(line.startswith(wanted) for line in lines),
               "of a new generation: " + wanted, run.stdout, run.stderr)
    # The model's tests have Haswell's box types alone.
    files = ["selftests/sim/model/" + name for name in (
        "machine.cpp", "reference.cpp", "config_test.cpp")]
    result([line.split(": ")[0] for line in other.stdout.splitlines()
            if ": ybox: add" in line and "/sim/model/" in line] ==
           files and
           not any(file in run.stdout for file in files),
           "the model's tests are left for a box type of Haswell's",
           other.stdout, run.stdout)
    result(not any("cbox: " in line for line in lines),
           "box types that another generation has are done", run.stdout)
    mesh = generate("--todo", "skx")
    result(not any(file in mesh.stdout for file in files) and
           "ring at" not in mesh.stdout,
           "a generation of its own needs neither a place in these nor limits of a ring",
           mesh.stdout, mesh.stderr)


def test_shown_names():
    """Event names in documents and in the demo are common: sysfs has them by default."""
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
            r"^\t([a-z0-9]+)\t+([a-z0-9_.]+)(?:[,\t]|$)", text, re.M))
    result(len(shown) > 10 and shown <= common,
           "%d names of README, documents and demo are common" % len(shown),
           *sorted("%s/%s" % name for name in shown - common))


def check_table(rows, name):
    """
    Check the table of generation @name: the waveform of an event has as many values as
    its period, and that of a combined unit mask is the sum of the bits' waveforms.
    """
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
    for (box, _), masks in bits.items():
        for umask, (event, values, max_inc) in masks.items():
            parts = [masks.get(1 << bit, (0, None))[1]
                     for bit in range(8) if umask >> bit & 1]
            if len(parts) < 2 or None in parts:
                continue
            sums += 1
            if values != [min(sum(column), max_inc, MAX_VALUE.get(box, 255))
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
    test_unread()
    test_largest_increment()
    test_included()
    test_layout()
    test_inherited_metric()
    for name in generations():
        test_generation(name)
    test_all()
    test_driver_table()
    test_mesh()
    test_todo()
    test_shown_names()
    print("1..%d" % len(results))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
