#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the JSON of the uncore command without an uncore PMU: the output of each subcommand
for a recorded machine, a large machine and the kernel's software events matches the
installed schema, and the schema rejects a document with a missing member.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import EVENT, UNCORE, run  # noqa: E402
from lib.python.fake_pmu import (RECORD, make_large, make_recorded,  # noqa: E402
                                 make_stacks, recording, recordings)
from lib.python.schema import (DOCUMENTS, check_documents,  # noqa: E402
                               document_schema, errors_of,
                               python_with_jsonschema, without_one)
from lib.python.uncore import Tap  # noqa: E402

# Members that only some documents have.
OPTIONAL = {"socket", "pmu", "lacking", "set", "reason", "upper_bound"}


def test_recordings(tap, folder):
    """A recorded listing of a sysfs tree, expanded and recorded again, is the same."""
    different = []
    for name in recordings():
        tree = os.path.join(folder, name)
        make_recorded(tree, name)
        now = subprocess.run([RECORD, tree], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        with open(recording(name), encoding="utf-8") as file:
            if now != file.read():
                different.append(name)
    tap.ok(recordings() and not different,
           "a recording of each recorded tree is the same", different)


def test_heads(tap, documents):
    for name in {document["subcommand"] for document in documents}:
        hosts = {document["host"] for document in documents
                 if document["subcommand"] == name}
        tap.ok(hosts == {os.uname().nodename}, "%s: the host" % name,
               [repr(hosts)])
    machines = {(document["driver"], document["generation"]) for document in documents
                if document["subcommand"] == "topology"}
    tap.ok(machines == {("xeon_uncore", "hswep"), ("xeon_uncore", "skx")},
           "driver and generation of the recorded machines", [repr(machines)])


def test_subcommands(tap):
    with open(DOCUMENTS, encoding="utf-8") as file:
        schema = json.load(file)
    names = {name for name in run("__complete", "").stdout.split()
             if "--json" in run("__complete", name, "-").stdout.split()}
    listed = schema["$defs"]["head"]["properties"]["subcommand"]["enum"]
    described = [name for part in schema["allOf"] if "if" in part
                 for name in part["if"]["properties"]["subcommand"]["enum"]]
    tap.ok(len(names) > 5 and sorted(listed) == sorted(described) == sorted(names),
           "the schema describes each subcommand that has --json",
           sorted(names.symmetric_difference(described) |
                  names.symmetric_difference(listed)))


def test_notices(tap, documents):
    """Remove each member of a document of each subcommand: the schema rejects each
    result."""
    first = {document["subcommand"]: document for document in documents}
    broken = [("%s: %s" % (name, member), document)
              for name, original in first.items()
              for member, document in without_one(original)
              if member.rsplit(".", 1)[-1] not in OPTIONAL]
    all_errors = errors_of(document_schema(), [document for _, document in broken])
    missed = [member for (member, _), errors in zip(broken, all_errors) if not errors]
    tap.ok(len(broken) > 90 and not missed,
           "the schema misses each of %d parts that are not there" %
           len(broken), missed)
    strangers = [{**document, "stranger": 1} for document in first.values()]
    tap.ok(all(errors_of(document_schema(), strangers)),
           "and the tests' notices a member that it does not describe")


def main():
    tap = Tap()
    if not os.path.exists(UNCORE):
        tap.skip_all("%s is not built" % UNCORE)
    if not python_with_jsonschema():
        tap.skip_all("no jsonschema here (Debian: python3-jsonschema)")
    with tempfile.TemporaryDirectory() as folder:
        recorded, large, stacks = (os.path.join(folder, name) for name in
                                   ("recorded", "large", "stacks"))
        make_recorded(recorded, "hswep")
        make_stacks(stacks)
        make_large(large, packages=2)
        calls = [("--sysfs", sysfs, *call) for sysfs in (recorded, large)
                 for call in (("check", "--json"), ("topology", "--json"),
                              ("list", "--json"))]
        names = run("list", "--machine", "none").stderr
        calls += [("list", "--json", "--machine", name)
                  for name in re.findall(r"\w+", names.rpartition(" of ")[2])]
        calls += [("check", "--json"), ("topology", "--json"),
                  ("--sysfs", stacks, "topology", "--json")]
        if run("stat", "-e", EVENT, "true").returncode == 0:
            calls += [("stat", "--json", "-e", EVENT + ",duration_time", "true"),
                      ("stat", "--json", "-I", "20", "-e", EVENT, "sleep",
                       "0.1")]
            saved = os.path.join(folder, "saved.json")
            run("stat", "-r", "2", "--save", saved, "-e", EVENT, "true")
            calls.append(("diff", "--json", saved, saved))
        else:
            tap.say("this user may not count %s: stat is left out" % EVENT)
        documents = check_documents(tap, calls)
        test_heads(tap, [document for document in documents if document["driver"] or
                         document["subcommand"] != "topology"])
        test_subcommands(tap)
        test_notices(tap, documents)
        test_recordings(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
