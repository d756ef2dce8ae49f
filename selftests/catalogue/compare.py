#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Holds the event catalogue of every generation against two independent readings
of the hardware, libpfm4 and perf's own JSON files. A difference is an error
unless it is listed in the generation's differences.json, or in that of the
generation that it is like, with its reason; so is a listed difference that is
none. Prints TAP.
"""

import argparse
import fnmatch
import functools
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

from generate import checked_generations  # noqa: E402

# How libpfm4's PMUs begin, and perf's folder. libpfm4 has one description of
# Broadwell for all of it, of which Broadwell-DE has some of the boxes.
READINGS = {
    "hswep": ("hswep_unc_", "haswellx"),
    "bdwep": ("bdx_unc_", "broadwellx"),
    "bdwde": ("bdx_unc_", "broadwellde"),
    "ivbep": ("ivbep_unc_", "ivytown"),
    "snbep": ("snbep_unc_", "jaketown"),
}
# A box of each type as libpfm4 calls it; the instances are all alike.
PFM_BOXES = {"ubo": "ubox", "cbo0": "cbox", "sbo0": "sbox", "ha0": "ha",
             "ha": "ha",
             "imc0": "imc", "irp": "irp", "pcu": "pcu", "qpi0": "qpi",
             "r2pcie": "r2pcie", "r3qpi0": "r3qpi"}
PERF_UNITS = {"UBOX": "ubox", "CBO": "cbox", "SBO": "sbox", "HA": "ha",
              "iMC": "imc", "IRP": "irp", "PCU": "pcu", "QPI LL": "qpi",
              "R2PCIe": "r2pcie", "R3QPI": "r3qpi"}
PERF_FOLDER = "tools/perf/pmu-events/arch/x86"
EXTENSION = 1 << 21


class Unavailable(Exception):
    """The source of comparison is not on this machine."""


def full_name(generation, box, name):
    """UNC_C_LLC_LOOKUP.ANY of cbox as hswep_cbox/llc_lookup.any."""
    return "%s_%s/%s" % (generation.name, box,
                         re.sub(r"^UNC_[A-Z0-9]+_", "", name).lower())


def our_catalogue(generation):
    """Name to encoding; aliases are for compatibility and stay out."""
    return {full_name(generation, box.name, event.name): {
                "code": event.event, "umask": event.select[1],
                "ext": event.ext, "ctrs": event.counter}
            for box in generation.boxes for event in box.events
            if not event.alias}


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


def libpfm4(generation, _args):
    """What libpfm4 has of the generation's boxes. It tells no counters."""
    prefix = READINGS[generation.name][0]
    boxes = {box.name for box in generation.boxes}
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([build_dumper(folder), prefix], check=True,
                               capture_output=True, text=True).stdout
    if not lines:
        raise Unavailable("libpfm4 does not know %s*" % prefix)
    found, with_umasks = {}, set()
    for line in lines.splitlines():
        pmu, event, code, *umask = line.split()
        box = PFM_BOXES.get(pmu[len(prefix):])
        if box not in boxes:
            continue
        name = full_name(generation, box, event)
        encoding = {"code": int(code, 0) & 0xff, "umask": 0,
                    "ext": int(bool(int(code, 0) & EXTENSION))}
        if umask:
            with_umasks.add(name)
            encoding["umask"] = int(umask[1], 0)
            name += "." + umask[0].lower()
        found[name] = encoding
    return {name: encoding for name, encoding in found.items()
            if name not in with_umasks}


@functools.lru_cache(maxsize=None)
def packaged_files():
    """perf's uncore files in the packaged source, by folder: one pass."""
    found = {}
    for path in sorted(glob.glob("/usr/src/linux-source-*.tar.xz")):
        with tarfile.open(path) as tar:
            for member in tar:
                folder, file = os.path.split(member.name)
                if PERF_FOLDER in folder and file.startswith("uncore-"):
                    found.setdefault(os.path.basename(folder), []).append(
                        tar.extractfile(member).read().decode())
        if found:
            break
    return found


def perf_files(folder, args):
    """perf's uncore files, from a source tree or the packaged source."""
    for tree in args.linux:
        files = glob.glob(os.path.join(tree, PERF_FOLDER, folder,
                                       "uncore-*.json"))
        if files:
            return [open(file, encoding="utf-8").read() for file in files]
    texts = packaged_files().get(folder)
    if not texts:
        raise Unavailable("no kernel source (linux-source, or --linux TREE)")
    return texts


def perf(generation, args):
    """What perf's files have. Counter 0 alone is left out there."""
    found = {}
    for text in perf_files(READINGS[generation.name][1], args):
        for event in json.loads(text):
            if event["Unit"] == "CBOX":
                # Made anew from other sources, with other names of boxes, and
                # without the extension bit of QPI's events.
                raise Unavailable("perf's files since Linux 6.5 lack fields")
            box = PERF_UNITS[event["Unit"]]
            umask = int(event.get("UMask", "0"), 0)
            state = re.search(r"occ_sel=(\d)", event.get("Filter", ""))
            if state:
                umask = int(state.group(1)) << 6
            found[full_name(generation, box, event["EventName"])] = {
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


class Listed:
    """A difference, or a pattern of some, that we know and have a reason for."""

    def __init__(self, entry, generation, source_generation):
        self.own = generation is source_generation
        self.event = re.sub(r"^%s_" % source_generation.name,
                            generation.name + "_", entry["Event"])
        self.ours, self.theirs = entry.get("Ours"), entry.get("Theirs")
        self.explained = bool(entry["Reason"] and re.match(
            r"§|perf|libpfm4|linux", entry["Section"]))

    def means(self, event, ours, theirs):
        return (fnmatch.fnmatchcase(event, self.event) and
                self.ours in (None, ours) and self.theirs in (None, theirs))


def listed(generation, source):
    """The generation's own, and those of what it is like."""
    found, one = [], generation
    while one:
        found += [Listed(entry, generation, one) for entry in
                  one.load("differences.json", missing=[])
                  if entry["Source"] == source]
        one = one.base
    return found


def report(number, generation, source, ours, theirs):
    """One TAP line for each thing that we claim about a source."""
    known = listed(generation, source)
    exact, patterns = {}, []
    for entry in known:
        if "*" in entry.event or None in (entry.ours, entry.theirs):
            patterns.append(entry)
        else:
            exact.setdefault((entry.event, entry.ours, entry.theirs),
                             []).append(entry)
    used, unknown = set(), []
    for difference in differences(ours, theirs):
        hit = exact.get(difference, []) + [
            entry for entry in patterns if entry.means(*difference)]
        used.update(map(id, hit))
        if not hit:
            unknown.append(difference)
    both = len(set(ours) & set(theirs))
    own = [entry for entry in known if entry.own]

    def rows(entries):
        return sorted((entry.event, str(entry.ours), str(entry.theirs))
                      for entry in entries)
    title = "%s: %s" % (generation.name, source)
    results = [
        ("%s: %d names here, %d there, %d common ones agree, or the "
         "difference is listed" % (title, len(ours), len(theirs), both),
         unknown),
        ("%s: %d listed differences still are" % (title, len(own)),
         rows(entry for entry in own if id(entry) not in used)),
        ("%s: every listed difference has a reason and a section" % title,
         rows(entry for entry in own if not entry.explained)),
    ]
    failed = False
    for text, wrong in results:
        number += 1
        print("%sok %d %s" % ("not " * bool(wrong), number, text))
        for name, our, their in wrong:
            print("# %s: catalogue %s, %s %s" % (name, our, source, their))
        failed = failed or bool(wrong)
    return number, failed


def addresses(generation):
    """Registers at one address or another: all listed, and so in boxes.json."""
    known = [entry for entry in listed(generation, "registers")
             if entry.explained]
    found = set()
    for box in generation.boxes:
        registers = box.registers or {}
        if "OtherCounter" in registers:
            found.add(("%s_%s/Counter" % (generation.name, box.name),
                       registers["Counter"], registers["OtherCounter"]))
    rows = {(entry.event, entry.ours, entry.theirs) for entry in known}
    # Haswell's own addresses are in the driver, not here
    own = {(entry.event, entry.ours, entry.theirs) for entry in known
           if entry.own and generation.registers}
    return sorted(found - rows) + sorted(own - found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--linux", action="append", default=[],
                        metavar="TREE", help="a kernel source tree")
    args = parser.parse_args()
    generations = checked_generations(os.path.join(TOP, "events"))
    if generations is None:
        return 1
    number, failed, compared = 0, False, 0
    print("TAP version 13")
    for generation in generations:
        if generation.name not in READINGS:
            continue
        ours = our_catalogue(generation)
        wrong = addresses(generation)
        number += 1
        print("%sok %d %s: registers at contested addresses are listed" % (
            "not " * bool(wrong), number, generation.name))
        for row in wrong:
            print("# %s: %s or %s" % row)
        failed = failed or bool(wrong)
        for name, source in (("libpfm4", libpfm4), ("perf", perf)):
            try:
                theirs = source(generation, args)
            except Unavailable as err:
                number += 1
                print("ok %d %s: %s # SKIP %s" % (number, generation.name,
                                                  name, err))
                continue
            compared += 1
            number, bad = report(number, generation, name, ours, theirs)
            failed = failed or bad
    print("1..%d" % number)
    if not compared:
        return 4
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
