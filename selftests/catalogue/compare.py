#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Holds the event catalogue against two independent readings of the hardware,
libpfm4 and perf's own JSON files. A difference is an error unless it is
listed in events/hswep/differences*.json with its reason; so is a listed
difference that is none. Prints TAP.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "events"))

from gen.catalogue import load_generations  # noqa: E402

GENERATION = "hswep"
PMU_PREFIX = "hswep_unc_"
# A box of each type as libpfm4 calls it; the instances are all alike.
PFM_BOXES = {"ubo": "ubox", "cbo0": "cbox", "sbo0": "sbox", "ha0": "ha",
             "imc0": "imc", "irp": "irp", "pcu": "pcu", "qpi0": "qpi",
             "r2pcie": "r2pcie", "r3qpi0": "r3qpi"}
PERF_UNITS = {"UBOX": "ubox", "CBO": "cbox", "SBO": "sbox", "HA": "ha",
              "iMC": "imc", "IRP": "irp", "PCU": "pcu", "QPI LL": "qpi",
              "R2PCIe": "r2pcie", "R3QPI": "r3qpi"}
PERF_FOLDER = "tools/perf/pmu-events/arch/x86/haswellx"
EXTENSION = 1 << 21


class Unavailable(Exception):
    """The source of comparison is not on this machine."""


def full_name(box, name):
    """UNC_C_LLC_LOOKUP.ANY of cbox as hswep_cbox/llc_lookup.any."""
    return "%s_%s/%s" % (GENERATION, box,
                         re.sub(r"^UNC_[A-Z0-9]+_", "", name).lower())


def our_catalogue():
    """Name to encoding; aliases are for compatibility and stay out."""
    found = {}
    for generation in load_generations(os.path.join(TOP, "events"), "events"):
        if generation.name != GENERATION:
            continue
        generation.build_events()
        for box in generation.boxes:
            for event in box.events:
                if event.alias:
                    continue
                found[full_name(box.name, event.name)] = {
                    "code": event.event, "umask": event.select[1],
                    "ext": event.ext, "ctrs": event.counter}
    return found


def build_dumper(folder):
    program = os.path.join(folder, "dump_libpfm4")
    source = os.path.join(HERE, "dump_libpfm4.c")
    command = [os.environ.get("CC", "cc"), "-O1", "-Wall", "-o", program,
               source, "-lpfm"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise Unavailable("no C compiler")
    except subprocess.CalledProcessError:
        raise Unavailable("libpfm4 (libpfm4-dev) is not installed")
    return program


def libpfm4(_args):
    """What libpfm4 has. It tells no counters."""
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([build_dumper(folder), PMU_PREFIX], check=True,
                               capture_output=True, text=True).stdout
    if not lines:
        raise Unavailable("libpfm4 does not know %s*" % PMU_PREFIX)
    found, with_umasks = {}, set()
    for line in lines.splitlines():
        pmu, event, code, *umask = line.split()
        box = PFM_BOXES.get(pmu[len(PMU_PREFIX):])
        if not box:
            continue
        name = full_name(box, event)
        encoding = {"code": int(code, 0) & 0xff, "umask": 0,
                    "ext": int(bool(int(code, 0) & EXTENSION))}
        if umask:
            with_umasks.add(name)
            encoding["umask"] = int(umask[1], 0)
            name += "." + umask[0].lower()
        found[name] = encoding
    return {name: encoding for name, encoding in found.items()
            if name not in with_umasks}


def perf_files(args):
    """perf's uncore files, from a source tree or the packaged source."""
    for tree in args.linux:
        files = glob.glob(os.path.join(tree, PERF_FOLDER, "uncore-*.json"))
        if files:
            return [open(file, encoding="utf-8").read() for file in files]
    for path in sorted(glob.glob("/usr/src/linux-source-*.tar.xz")):
        with tarfile.open(path) as tar:
            texts = [tar.extractfile(member).read().decode() for member in tar
                     if PERF_FOLDER + "/uncore-" in member.name]
        if texts:
            return texts
    raise Unavailable("no kernel source (linux-source, or --linux TREE)")


def perf(args):
    """What perf's files have. Counter 0 alone is left out there."""
    found = {}
    for text in perf_files(args):
        for event in json.loads(text):
            box = PERF_UNITS[event["Unit"]]
            umask = int(event.get("UMask", "0"), 0)
            state = re.search(r"occ_sel=(\d)", event.get("Filter", ""))
            if state:
                umask = int(state.group(1)) << 6
            found[full_name(box, event["EventName"])] = {
                "code": int(event.get("EventCode", "0"), 0), "umask": umask,
                "ext": int(event.get("ExtSel", "0"), 0),
                "ctrs": event.get("Counter", "0")}
    return found


def show(encoding, keys):
    return " ".join("%s=%s" % (key, encoding[key]) if key in ("ext", "ctrs")
                    else "%s=0x%02x" % (key, encoding[key]) for key in keys)


def differences(ours, theirs):
    """(event, what we say, what they say) of every difference."""
    for name in sorted(set(ours) | set(theirs)):
        if name not in theirs:
            yield name, "present", "absent"
        elif name not in ours:
            keys = ["code", "umask"] + ["ext"] * bool(theirs[name]["ext"])
            yield name, "absent", show(theirs[name], keys)
        else:
            keys = [key for key in theirs[name]
                    if ours[name][key] != theirs[name][key]]
            if keys:
                yield name, show(ours[name], keys), show(theirs[name], keys)


def listed(source):
    """The differences that we know and have a reason for."""
    found = {}
    pattern = os.path.join(TOP, "events", GENERATION, "differences*.json")
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file):
                if entry["Source"] == source:
                    found[entry["Event"], entry["Ours"],
                          entry["Theirs"]] = entry
    return found


def report(number, source, ours, theirs):
    """One TAP line for each thing that we claim about a source."""
    known = listed(source)
    seen = set(differences(ours, theirs))
    both = len(set(ours) & set(theirs))
    results = [
        ("%s: %d common names agree, or the difference is listed"
         % (source, both), sorted(seen - set(known))),
        ("%s: %d listed differences still are" % (source, len(known)),
         sorted(set(known) - seen)),
        ("%s: every listed difference has a reason and a section" % source,
         sorted(key for key, entry in known.items()
                if not entry["Reason"] or
                not entry["Section"].startswith("§"))),
    ]
    failed = False
    for text, wrong in results:
        number += 1
        print("%sok %d %s" % ("not " * bool(wrong), number, text))
        for name, our, their in wrong:
            print("# %s: catalogue %s, %s %s" % (name, our, source, their))
        failed = failed or bool(wrong)
    return number, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--linux", action="append", default=[],
                        metavar="TREE", help="a kernel source tree")
    args = parser.parse_args()
    ours = our_catalogue()
    number, failed, skipped = 0, False, 0
    print("TAP version 13")
    for name, source in (("libpfm4", libpfm4), ("perf", perf)):
        try:
            theirs = source(args)
        except Unavailable as err:
            number += 1
            skipped += 1
            print("ok %d %s # SKIP %s" % (number, name, err))
            continue
        number, bad = report(number, name, ours, theirs)
        failed = failed or bad
    print("1..%d" % number)
    if skipped == 2:
        return 4
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
