#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compare the event catalogue of every generation with other descriptions of the hardware,
which are called readings: libpfm4, perf's JSON files, LIKWID, Intel's current event files
(perfmon) if an archive of these files is available, and ucevent's lists if their folder is
given. LIKWID and ucevent spell names in their own ways and leave many events out: only the
events that they have are compared. A difference between the catalogue
and a reading is an error unless a rule of the generation's differences.json has the
difference and a reason. A rule is an error if an event that it names does not differ.
readings.json lists the events that a reading lacks; the event reference cites the
readings by this list, and --update writes it. events/foreign-metrics.json maps the metrics
of perf's and Intel's files to the catalogue's. Prints TAP; --table prints a summary.
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

import foreign_metrics  # noqa: E402
import likwid  # noqa: E402
import ucevent  # noqa: E402
from gen import layout  # noqa: E402
from gen.lists import in_driver  # noqa: E402
from gen.roles import boxes_by  # noqa: E402
from generate import checked_generations  # noqa: E402

# Of each generation the prefix of libpfm4's PMU names, the folder of perf's files, the
# name of Intel's files, and the name of ucevent's list. libpfm4 has one description for all
# Broadwell processors; Broadwell-DE has some of its boxes.
READINGS = {
    "hswep": ("hswep_unc_", "haswellx", "HSX", "hsx"),
    "bdwep": ("bdx_unc_", "broadwellx", "BDX", "bdx"),
    "bdwde": ("bdx_unc_", "broadwellde", "BDW-DE", "bdxde"),
    "ivbep": ("ivbep_unc_", "ivytown", "IVT", "ivt"),
    "snbep": ("snbep_unc_", "jaketown", "JKT", "jkt"),
    "skx": ("skx_unc_", "skylakex", "SKX", "skx"),
    "clx": ("skx_unc_", "cascadelakex", "CLX", "clx"),
    # Intel has the events of Cascade Lake for steppings 5 to 15.
    "cpx": ("skx_unc_", "cascadelakex", "CLX", "clx"),
    "icx": ("icx_unc_", "icelakex", "ICX", "icx"),
    "icxd": ("icx_unc_", "icelakex", "ICX", "icx"),
    "snr": ("snr_unc_", "snowridgex", "SNR", "snr"),
}
# Readings without a rule of Kind "lacks": readings.json has all that they lack.
INCOMPLETE = ("likwid", "ucevent")
PERF_FOLDER = "tools/perf/pmu-events/arch/x86"
EXTENSION = 1 << 21

# Folder with the archives of Intel's event files, beside the repository by default.
ARCHIVES = os.environ.get("UNCORE_READINGS", os.path.join(
    os.path.dirname(TOP), "shared", "readings"))
# Column of the table for each kind of difference (see differences()).
KINDS = {
    "differs": "different", "has": "missing", "lacks": "more",
}


class Unavailable(Exception):
    """A reading is not on this machine."""


def full_name(generation, box, name):
    """UNC_C_LLC_LOOKUP.ANY of cbox as hswep_cbox/llc_lookup.any."""
    return "%s_%s/%s" % (generation.name, box,
                         re.sub(r"^UNC_[A-Z0-9]+_", "", name).lower())


def whole_umask(event):
    """The unit mask, with the bits of other fields in 15:8 and with its extension."""
    return event.select[1] | event.umask & ~0xff


def our_catalogue(generation, theirs=()):
    """
    Encodings of the catalogue's events by name. Of the aliases, only those of general
    counters whose names are in @theirs are among them.
    """
    found = {}
    for box in generation.boxes:
        for event in box.events:
            name = full_name(generation, box.name, event.name)
            if event.alias and not (event.general and name in theirs):
                continue
            found[name] = {"code": event.event, "umask": whole_umask(event),
                           "ext": event.ext, "ctrs": event.counter,
                           "ports": dict(event.filters).get("ch_mask", 0),
                           "fc": dict(event.filters).get("fc_mask", 0),
                           "filter1": event.config()[1] >> 32}
    return found


def modern(entry):
    """Keys of Intel's files since Skylake-SP: extension, ports and filter of an event."""
    found = {}
    if "UMaskExt" in entry or "PortMask" in entry:
        found["ports"] = int(entry.get("PortMask", "0"), 0)
        found["fc"] = int(entry.get("FCMask", "0"), 0)
    if entry.get("FILTER_VALUE", "0") != "0":
        found["filter1"] = int(entry["FILTER_VALUE"], 0)
    return found


def pfm_box(generation, pmu):
    """
    The box type of a PMU of libpfm4 that is the first or only box of its type: all boxes
    of a type have the same events.
    """
    name = pmu.removeprefix(READINGS[generation.name][0])
    return boxes_by(generation, "Other").get(name.removesuffix("0"))


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
    """Encodings of libpfm4's events by name, without the counters of an event."""
    prefix = READINGS[generation.name][0]
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([build_dumper(folder), prefix], check=True,
                               capture_output=True, text=True).stdout
    if not lines:
        raise Unavailable("libpfm4 does not know %s*" % prefix)
    found, with_umasks = {}, set()
    for line in lines.splitlines():
        pmu, event, code, *umask = line.split()
        box = pfm_box(generation, pmu)
        if not box:
            continue
        name = full_name(generation, box.name, event)
        encoding = {"code": int(code, 0) & 0xff, "umask": 0,
                    "ext": int(bool(int(code, 0) & EXTENSION))}
        if umask:
            with_umasks.add(name)
            mask = int(umask[1], 0)
            encoding["umask"] = mask & 0xff
            if "ch_mask" in box.format:     # the unit mask has bits 63:8 of the control register
                encoding["ports"] = mask >> 28 & (1 << len(box.format["ch_mask"].bits)) - 1
            name += "." + re.sub(r"_((part|vtd)\d)$", r".\1", umask[0].lower())
        found[name] = encoding
    return {name: encoding for name, encoding in found.items()
            if name not in with_umasks}


@functools.lru_cache(maxsize=None)
def packaged_texts():
    """Texts of perf's uncore and metric files in the packaged kernel source, by name of
    the file, by folder."""
    found = {}
    for path in sorted(glob.glob("/usr/src/linux-source-*.tar.xz")):
        with tarfile.open(path) as tar:
            for member in tar:
                folder, file = os.path.split(member.name)
                if PERF_FOLDER in folder and (file.startswith("uncore-") or
                                              file.endswith("-metrics.json")):
                    found.setdefault(os.path.basename(folder), {})[file] = \
                        tar.extractfile(member).read().decode()
        if found:
            break
    return found


def packaged_files():
    """Texts of perf's uncore files in the packaged kernel source, by folder."""
    found = {folder: [text for file, text in files.items()
                      if file.startswith("uncore-")]
             for folder, files in packaged_texts().items()}
    return {folder: texts for folder, texts in found.items() if texts}


def perf_files(folder, pattern, args):
    """Texts of perf's files with names like @pattern, from a source tree or the packaged
    source."""
    for tree in args.linux:
        files = glob.glob(os.path.join(tree, PERF_FOLDER, folder, pattern))
        if files:
            return [open(file, encoding="utf-8").read() for file in files]
    texts = packaged_texts().get(folder)
    if not texts:
        raise Unavailable("no kernel source (linux-source, or --linux TREE)")
    return [texts[name] for name in fnmatch.filter(texts, pattern)]


LACK_FIELDS = "perf's files since Linux 6.5 lack fields"


def lacks_fields(events):
    """
    Check whether a file of perf is from Linux 6.5 or later: these files name boxes
    differently ("CBOX") and lack the extension bit of QPI's events.
    """
    return any(event["Unit"] == "CBOX" for event in events)


def unit_name(units, unit):
    """The box type of a unit of perf's or Intel's files; a unit without one has its name."""
    return units[unit.lower()].name if unit.lower() in units else \
        unit.lower().replace(" ", "_")


def current(events):
    """The events that are not old names of other events in the same file."""
    return [event for event in events if event.get("Deprecated", "0") == "0"]


def perf(generation, args):
    """Encodings of perf's events by name. An event without Counter uses counter 0."""
    found, units = {}, boxes_by(generation, "PerfUnit")
    for text in perf_files(READINGS[generation.name][1], "uncore-*.json", args):
        events = json.loads(text)
        if lacks_fields(events):
            raise Unavailable(LACK_FIELDS)
        for event in current(events):
            box = unit_name(units, event["Unit"])
            umask = (int(event.get("UMask", "0"), 0) |
                     int(event.get("UMaskExt", "0"), 0) << 8)
            state = re.search(r"occ_sel=(\d)", event.get("Filter", ""))
            if state:
                umask = int(state.group(1)) << 6
            found[full_name(generation, box, event["EventName"])] = {
                "code": int(event.get("EventCode", "0"), 0), "umask": umask,
                "ext": int(event.get("ExtSel", "0"), 0),
                "ctrs": event.get("Counter", "0"), **modern(event)}
    return found


def perfmon_files(generation, pattern):
    """Texts of the files of Intel's archive whose path matches @pattern."""
    path = os.path.join(ARCHIVES, "perfmon",
                        READINGS[generation.name][2] + ".tar.xz")
    if not os.path.exists(path):
        raise Unavailable("no %s (UNCORE_READINGS)" % os.path.basename(path))
    with tarfile.open(path) as tar:
        return [tar.extractfile(member).read().decode() for member in tar
                if re.search(pattern, member.name)]


def perfmon(generation, _args):
    """Encodings of the events in Intel's files by name."""
    texts = perfmon_files(generation, r"/events/\w+_uncore(_experimental)?\.json$")
    events = [event for text in texts for event in json.loads(text)["Events"]]
    units = boxes_by(generation, "PerfUnit")
    return {full_name(generation, unit_name(units, event["Unit"]),
                      event["EventName"]): {
                          "code": int(event["EventCode"], 0),
                          "umask": int(event["UMask"], 0) |
                          int(event.get("UMaskExt", "0"), 0) << 8,
                          "ext": int(event.get("ExtSel") or 0),
                          "ctrs": event["Counter"], **modern(event)}
            for event in current(events)}


def in_our_names(generation, events):
    """
    Encodings of @events by the catalogue's names. An event takes the name of the
    catalogue's event that has the same name, with an underscore for each dot, or else the
    same encoding. An extension bit of None is not in the reading: it is the bit of the
    event with the same name, or 0.
    """
    ours = our_catalogue(generation)
    flat = {name.replace(".", "_"): name for name in ours}
    names = {(name.split("/")[0], our["code"], our["umask"], our["ext"]): name
             for name, our in ours.items()}
    found, others = {}, []
    for box, name, code, umask, ext in events:
        pmu = "%s_%s" % (generation.name, box)
        name = "%s/%s" % (pmu, name.replace(".", "_"))
        encoding = {"code": code, "umask": umask, "ext": ext or 0}
        if name in flat:
            if ext is None:
                encoding["ext"] = ours[flat[name]]["ext"]
            found[flat[name]] = encoding
        else:
            others.append((names.get((pmu, *encoding.values()), name), encoding))
    for name, encoding in others:
        found.setdefault(name, encoding)
    return found


def likwid_list(generation, _args):
    """Encodings of the events in LIKWID's list, which has no extension bit."""
    if not in_driver(generation):
        raise Unavailable("no model number of its processor")
    model = generation.processor[1]
    try:
        with tempfile.TemporaryDirectory() as folder:
            text = likwid.listed(model, folder)
    except FileNotFoundError as err:
        raise Unavailable("%s is not installed" % err.filename) from err
    return in_our_names(generation, [(*event, None) for event in
                                     likwid.parse(text, boxes_by(generation, "LIKWID"))])


def ucevent_list(generation, args):
    """Encodings of the events in ucevent's list."""
    name = READINGS[generation.name][3] + "_uc.py"
    path = os.path.join(args.ucevent, name)
    if not os.path.exists(path):
        raise Unavailable("no %s in %s" % (name, args.ucevent))
    with open(path, encoding="utf-8") as file:
        return in_our_names(generation, list(ucevent.parse(
            file.read(), boxes_by(generation, "Other"))))


SOURCES = {"libpfm4": libpfm4, "perf": perf, "perfmon": perfmon, "likwid": likwid_list,
           "ucevent": ucevent_list}


def perf_metrics(generation, args):
    """The metrics of perf's files."""
    return [metric for text in perf_files(READINGS[generation.name][1],
                                          "*-metrics.json", args)
            for metric in foreign_metrics.of_perf(text)]


def perfmon_metrics(generation, _args):
    """The metrics of Intel's files. An archive may have no file of metrics."""
    return [metric for text in perfmon_files(generation,
                                             r"/metrics/\w+_metrics\.json$")
            for metric in foreign_metrics.of_perfmon(text)]


METRIC_SOURCES = {"perf": perf_metrics, "perfmon": perfmon_metrics}


def show(encoding, keys):
    return " ".join("%s=%s" % (key, encoding[key]) if key in ("ext", "ctrs")
                    else "%s=0x%02x" % (key, encoding[key]) for key in keys)


def differences(ours, theirs):
    """
    Return a text for each difference, by (event, kind). The kind is "has" if only the
    reading has the event, "lacks" if only the catalogue has it, and "differs" if both
    have the event with different encodings.
    """
    found = {}
    for name in sorted(set(ours) | set(theirs)):
        if name not in theirs:
            found[name, "lacks"] = "not there"
        elif name not in ours:
            keys = ["code", "umask"] + ["ext"] * bool(theirs[name]["ext"])
            found[name, "has"] = show(theirs[name], keys)
        else:
            keys = [key for key in theirs[name]
                    if ours[name][key] != theirs[name][key]]
            if keys:
                found[name, "differs"] = "%s, the catalogue %s" % (
                    show(theirs[name], keys), show(ours[name], keys))
    return found


class Rule:
    """Patterns of event names that differ in one kind, and the reason."""

    def __init__(self, entry, generation, inherited):
        self.inherited = inherited
        self.sources = entry["Source"].split(", ")
        self.kind, self.reason = entry["Kind"], entry["Reason"].strip()
        self.patterns = ["%s_%s" % (generation.name, pattern)
                         for pattern in entry["Events"]]

    def means(self, event, kind):
        return kind == self.kind and any(
            fnmatch.fnmatchcase(event, pattern) for pattern in self.patterns)


def own_entries(generation):
    """Entries of differences.json, and whether those of the base generation hold as well."""
    content = generation.load("differences.json", missing=[])
    if isinstance(content, dict):
        return content["Add"], True
    return content, False


def rules(generation):
    """Rules for events, first the generation's own."""
    known = []
    for one in lineage(generation):
        entries, inherits = own_entries(one)
        known += [Rule(entry, generation, one is not generation)
                  for entry in entries if entry["Source"] != "registers"]
        if not inherits:
            break
    return known


def wrong_rules(source, known, found, ours, theirs):
    """Texts on own patterns that match no event, or an event without this difference."""
    for rule in known:
        if rule.inherited:
            continue
        names = theirs if rule.kind == "has" else ours
        for pattern in rule.patterns:
            hits = fnmatch.filter(names, pattern)
            if rule.kind == "has":
                hits = [name for name in hits if name not in ours]
            if rule.kind == "differs":
                hits = [name for name in hits if name in theirs]
            same = [name for name in hits if (name, rule.kind) not in found]
            if not hits:
                yield "%s: %s %s nothing of it" % (pattern, source, rule.kind)
            for name in same:
                yield "%s: %s: no reading %s it" % (pattern, name, rule.kind)
        if not rule.reason:
            yield "%s: the reason is empty" % rule.patterns


def had(generation, theirs):
    """Events of the catalogue whose encoding a reading has under any name."""
    codes = {}
    for name, encoding in theirs.items():
        codes.setdefault(name.split("/")[0], set()).add(
            (encoding["code"], encoding["umask"], encoding["ext"]))
    for box in generation.boxes:
        known = codes.get("%s_%s" % (generation.name, box.name), set())
        for event in box.events:
            if event.general and (event.event, whole_umask(event),
                                  event.ext) in known:
                yield "%s/%s" % (box.name, event.name)


def patterns(names, every):
    """Patterns that match all of @names and no other name of @every."""
    found, rest = [], set(names)
    for base in sorted({name.split(".")[0] + ".*" for name in names
                        if "." in name}):
        hits = set(fnmatch.filter(every, base))
        if len(hits) > 1 and hits <= rest:
            found.append(base)
            rest -= hits
    return sorted(found + list(rest))


def lacking(generation, readings):
    """Patterns of the events that a reading lacks, by reading (readings.json)."""
    every = ["%s/%s" % (box.name, event.name) for box in generation.boxes
             for event in box.events if event.general]
    return {source: patterns(set(every) - set(had(generation, theirs)), every)
            for source, theirs in readings.items()}


def update(generation, readings):
    """Write the events that the readings lack into readings.json."""
    path = os.path.join(generation.folder, "readings.json")
    now = {**generation.load("readings.json", missing={}),
           **lacking(generation, readings)}
    with open(path, "w", encoding="utf-8") as file:
        file.write(layout.text(now))


class Report:
    """Print TAP lines, and collect the rows of the table."""

    def __init__(self):
        self.number, self.failed, self.rows = 0, False, []

    def line(self, text, wrong):
        self.number += 1
        print("%sok %d %s" % ("not " * bool(wrong), self.number, text))
        for comment in wrong:
            print("# %s" % comment)
        self.failed = self.failed or bool(wrong)

    def skip(self, text, why):
        self.number += 1
        print("ok %d %s # SKIP %s" % (self.number, text, why))

    def compare(self, generation, source, theirs):
        """Check differences.json and readings.json against a reading."""
        known = [rule for rule in rules(generation) if source in rule.sources]
        ours = our_catalogue(generation, {
            name for name in theirs
            if not any(rule.means(name, "has") for rule in known)})
        found = {(event, kind): text
                 for (event, kind), text in differences(ours, theirs).items()
                 if kind != "lacks" or source not in INCOMPLETE}
        unknown = ["%s: %s %s: %s" % (event, source, kind, said)
                   for (event, kind), said in found.items()
                   if not any(rule.means(event, kind) for rule in known)]
        figures = {word: sum(kind == one for _, one in found)
                   for kind, word in KINDS.items()}
        same = len(set(ours) & set(theirs)) - figures["different"]
        title = "%s: %s: " % (generation.name, source)
        self.line(title + "%d the same, %d different, %d missing here, %d more "
                  "here, each with a reason" % (same, *figures.values()),
                  unknown)
        self.line(title + "%d rules, none of more than differences" %
                  len(known), list(wrong_rules(source, known, found, ours,
                                               theirs)))
        stated = generation.load("readings.json", missing={}).get(source)
        self.line(title + "readings.json says what it lacks (else: --update)",
                  [] if stated == lacking(generation, {source: theirs})[source]
                  else [source])
        self.rows.append([generation.name, source, same, *figures.values(),
                          len(unknown)])

    def compare_metrics(self, generations, args):
        """Check the metrics of the readings against events/foreign-metrics.json."""
        mappings, missing = foreign_metrics.read(os.path.join(TOP, "events")), False
        for generation in generations:
            for name, source in METRIC_SOURCES.items():
                title = "%s: metrics of %s" % (generation.name, name)
                try:
                    theirs = source(generation, args)
                except Unavailable as err:
                    self.skip(title, err)
                    missing = True
                    continue
                numbers, faults = foreign_metrics.compare(generation, name, mappings,
                                                          theirs)
                self.line("%s: %s, each that differs with a reason" % (title, ", ".join(
                    "%d %s" % (number, kind) for kind, number in numbers.items())),
                    faults)
        if not missing:
            self.line("each row of foreign-metrics.json is of a metric of a reading", [
                name for mapping in mappings for name in mapping.unused()])

    def table(self, generations):
        head = ["generation", "reading", "same", *KINDS.values(),
                "unexplained"]
        for row in [head, *self.rows]:
            print("# " + "".join("%-12s" % cell for cell in row).rstrip())
        for generation in generations:
            every = [event for box in generation.boxes for event in box.events
                     if event.general and not event.alias]
            print("# %s: %d of %d names rest on a single reading" % (
                generation.name, sum(event.single for event in every),
                len(every)))


def lineage(generation):
    """A generation and its bases."""
    while generation:
        yield generation
        generation = generation.base


def addresses(generation):
    """
    Counters at contested addresses: OtherCounter of boxes.json without an entry of
    differences.json whose source is "registers", and entries without OtherCounter.
    """
    known = [(one, entry) for one in lineage(generation)
             for entry in own_entries(one)[0]
             if entry["Source"] == "registers" and entry["Reason"]]
    found = set()
    for box in generation.boxes:
        registers = box.registers or {}
        if "OtherCounter" in registers:
            found.add(("%s_%s/Counter" % (generation.name, box.name),
                       registers["Counter"], registers["OtherCounter"]))
    rows = {one: {(re.sub(r"^[a-z0-9]+_", generation.name + "_",
                          entry["Event"]), entry["Ours"], entry["Theirs"])
                  for whose, entry in known if whose is one}
            for one in lineage(generation)}
    own = rows[generation]
    rows = set().union(*rows.values())
    return sorted(found - rows) + sorted(own - found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--linux", action="append", default=[],
                        metavar="TREE", help="a kernel source tree")
    parser.add_argument("--ucevent", metavar="FOLDER",
                        help="the folder ucevent of pmu-tools")
    parser.add_argument("--table", action="store_true",
                        help="print a table of generations and readings")
    parser.add_argument("--update", action="store_true",
                        help="write what readings lack into readings.json")
    args = parser.parse_args()
    generations = checked_generations(os.path.join(TOP, "events"))
    if generations is None:
        return 1
    generations = [generation for generation in generations
                   if generation.name in READINGS]
    report = Report()
    print("TAP version 13")
    for generation in generations:
        report.line("%s: registers at contested addresses are listed" %
                    generation.name, ["%s: %s or %s" % row
                                      for row in addresses(generation)])
        for name, source in SOURCES.items():
            if name == "ucevent" and not args.ucevent:
                continue
            try:
                theirs = source(generation, args)
            except Unavailable as err:
                report.skip("%s: %s" % (generation.name, name), err)
                continue
            if args.update:
                update(generation, {name: theirs})
            else:
                report.compare(generation, name, theirs)
    if not args.update:
        report.compare_metrics(generations, args)
    print("1..%d" % report.number)
    if args.table:
        report.table(generations)
    if not report.rows and not args.update:
        return 4
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
