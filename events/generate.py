#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Checks the event catalogue and generates from it what the driver, the
simulated hardware, the tests and the documentation need.
"""

import argparse
import os
import sys

from gen import (absent, boxes, check, cpp, derived, docs, groups, kernel, layout, lists,
                 notes, perf_names, registers, roles, table, todo)
from gen.catalogue import CatalogueError, load_generations, load_json
from gen.where import located

TOP = os.path.dirname(os.path.abspath(__file__))
SHOWN = "events"


def write_file(path, text):
    """Write the file only if its text changes, so that make rebuilds nothing else."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        pass
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _merged_reasons(generation, schema):
    """Merge the generation's files with those of its base; yield the faults."""
    generation.merge_events()
    yield from generation.reasons
    yield from roles.check_boxes(generation)
    wrong = bool(generation.reasons)
    for reason in registers.check_registers(generation):
        wrong = True
        yield reason
    for box in generation.boxes:
        for reason in check.check_raw(box, schema):
            wrong = True
            yield reason
    if wrong:
        return
    generation.build_events()
    derived.merge(generation)
    yield from generation.reasons
    for box in generation.boxes:
        yield from check.check_events(box)
    yield from check.check_counts(generation)
    yield from derived.check_content(generation)


def read_catalogue(top):
    """Return the generations and the faults of the catalogue."""
    events, metrics, opcodes, in_tree, group, role = (
        load_json(os.path.join(TOP, file), "%s/%s" % (SHOWN, file))
        for file in ("schema.json", "metrics-schema.json",
                     "opcodes-schema.json", "in-tree-schema.json",
                     "groups-schema.json", "roles-schema.json"))
    generations = load_generations(top, SHOWN)
    if not generations:
        raise CatalogueError("%s: no generation has a boxes.json" % top)
    reasons = []
    for generation in generations:
        for box in generation.boxes:
            reasons.extend(check.check_own(generation, box, events))
        reasons.extend(derived.check_form(generation, metrics, opcodes,
                                          in_tree))
    for generation in generations if not reasons else ():
        reasons.extend(_merged_reasons(generation, events))
        if reasons:
            break       # generations that inherit these files would repeat the faults
    for generation in generations if not reasons else ():
        reasons.extend(absent.check_absences(generation, generations))
        reasons.extend(notes.check_notes(generation, generations))
    if not reasons:
        reasons.extend(groups.check(groups.load(top, SHOWN), group, generations,
                                    SHOWN))
        reasons.extend(roles.check(top, SHOWN, role))
    return generations, reasons


def checked_generations(top):
    """Return the catalogue's generations, or print its faults and return None."""
    generations, reasons = read_catalogue(top)
    for reason in reasons:
        print(located(reason, generations), file=sys.stderr)
    return None if reasons else generations


def format_files(top):
    """Write each JSON file of the catalogue in its layout."""
    for path, _, text in list(layout.files(top, SHOWN)):
        write_file(path, text)


def layout_is_right(top):
    """Print the files that are not in their layout; return False if there are any."""
    reasons = list(layout.check(top, SHOWN))
    for reason in reasons:
        print(reason, file=sys.stderr)
    return not reasons


def write_outputs(generation, args):
    if args.kernel:
        prefix = os.path.join(args.kernel, generation.name)
        write_file(prefix + "_events.h", kernel.events_header(generation))
        write_file(prefix + "_fields.h", kernel.fields_header(generation))
        write_file(prefix + "_waves.h", kernel.waves_header(generation))
        if lists.in_driver(generation):
            write_file(prefix + ".c", boxes.table(generation))
    if args.tsv:
        write_file(args.tsv, table.tsv(generation))
    if args.cpp:
        write_file(args.cpp, cpp.source(generation, args.catalogue))


def list_work(name, top):
    """Print a line for each task of generation @name; return 0 if there is no task."""
    generations, reasons = read_catalogue(top)
    named = [generation for generation in generations if generation.name == name]
    tasks = list(todo.work(named[0], os.path.dirname(TOP))) if named else [
        ("%s/%s/boxes.json" % (SHOWN, name),
         "write it, with at least Title and Like (%s/README.md)" % SHOWN)]
    faults = sum(reason.startswith("%s/%s/" % (SHOWN, name)) for reason in reasons)
    if faults:
        tasks.append(("%s/%s/" % (SHOWN, name),
                      "%s/generate.py --check finds %d faults" % (SHOWN, faults)))
    for file, task in tasks:
        print("%s: %s" % (file, task))
    return 1 if tasks else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true",
                        help="only say whether the catalogue is sound, and its files "
                             "are in the layout of --format")
    parser.add_argument("--format", action="store_true",
                        help="lay out the JSON files of the catalogue by the rules of "
                             "gen/layout.py")
    parser.add_argument("--kernel", metavar="DIR",
                        help="write the C tables into DIR")
    parser.add_argument("--tsv", metavar="FILE",
                        help="write the table for tests")
    parser.add_argument("--cpp", metavar="FILE",
                        help="write the library's tables into FILE")
    parser.add_argument("--cpp-list", metavar="FILE",
                        help="write the library's list of generations into FILE")
    parser.add_argument("--docs", metavar="DIR",
                        help="write the event reference of all generations "
                             "into DIR")
    parser.add_argument("--todo", metavar="NAME",
                        help="list the work that is left for a generation, which may "
                             "be one that has no folder yet")
    parser.add_argument("--absent-metrics", action="store_true",
                        help="list the metrics that each generation does not "
                             "have and a related one has, with the reason")
    parser.add_argument("--perf-names", metavar="FOLDER", nargs="+",
                        help="collect names of perf's event files in these "
                             "folders (of a kernel's tools/perf/pmu-events, or "
                             "of perfmon) into " + perf_names.FILE)
    parser.add_argument("--generation", default="hswep", metavar="NAME",
                        help="whose outputs to write (default: hswep), or "
                             "all for --kernel of every one")
    parser.add_argument("--catalogue", default=TOP, metavar="DIR",
                        help="where the generations are (default: beside "
                             "this program)")
    args = parser.parse_args()
    try:
        if args.todo:
            return list_work(args.todo, args.catalogue)
        if args.format:
            format_files(args.catalogue)
        generations = checked_generations(args.catalogue)
    except CatalogueError as err:
        print(err, file=sys.stderr)
        return 1
    if generations is None:
        return 1
    if args.check and not layout_is_right(args.catalogue):
        return 1
    if args.generation == "all" and (args.tsv or args.cpp):
        parser.error("--tsv and --cpp are of one generation")
    wanted = [generation for generation in generations
              if args.generation in (generation.name, "all")]
    if not wanted:
        parser.error("no generation %s" % args.generation)
    for generation in wanted:
        write_outputs(generation, args)
    if args.kernel:
        for file, text in lists.kernel(generations).items():
            write_file(os.path.join(args.kernel, file), text)
    if args.cpp_list:
        write_file(args.cpp_list, lists.cpp(
            generations,
            list(groups.expanded(groups.load(args.catalogue, SHOWN), generations)),
            roles.presets(args.catalogue, generations)))
    if args.absent_metrics:
        for generation in generations:
            for absence in absent.absences(generation, generations):
                print("%s\t%s\t%s" % (generation.name, absence.name, absence.reason))
    if args.perf_names:
        write_file(os.path.join(args.catalogue, perf_names.FILE),
                   perf_names.text(perf_names.collect(generations,
                                                      args.perf_names)))
    if args.docs:
        for file, text in docs.pages(generations).items():
            write_file(os.path.join(args.docs, file), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
