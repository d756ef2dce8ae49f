# SPDX-License-Identifier: GPL-2.0-or-later
"""
JSON documents against a JSON Schema, by Debian's python3-jsonschema; and those of
the uncore command against the schema that is installed with it.
"""

import json
import os
import subprocess
import sys

from lib.python.uncore import TOP, UNCORE

DOCUMENTS = os.path.join(TOP, "userspace", "cli", "schema",
                         "uncore-1.schema.json")
LIMIT = 600
# For each of some documents the places that are wrong.
VALIDATE = """
import json, jsonschema, sys
schema, documents = json.load(sys.stdin)
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
check = kind(schema)
def leaves(error):
    return sum(map(leaves, error.context), []) if error.context else [error]
json.dump([["%s: %s" % (list(leaf.absolute_path), leaf.message[:200])
            for one in check.iter_errors(document) for leaf in leaves(one)]
           for document in documents], sys.stdout)
"""


def python_with_jsonschema():
    """A Python that has jsonschema, or None."""
    for python in sys.executable, "/usr/bin/python3":
        if os.path.exists(python) and not subprocess.run(
                [python, "-c", "import jsonschema"], check=False,
                stderr=subprocess.DEVNULL).returncode:
            return python
    return None


def errors_of(schema, documents):
    """For each document a list of what is wrong; fails for a schema that is none."""
    done = subprocess.run(
        [python_with_jsonschema(), "-c", VALIDATE], check=False,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        timeout=LIMIT, input=json.dumps([schema, documents]))
    if done.returncode:
        raise ValueError(done.stderr.splitlines()[-1])
    return json.loads(done.stdout)


def without_one(part):
    """All ways in which a document is without one of its objects' parts, or has
    a list's first thing as something else."""
    if isinstance(part, dict):
        for key, value in part.items():
            rest = {name: one for name, one in part.items() if name != key}
            yield key, rest
            for what, changed in without_one(value):
                yield "%s.%s" % (key, what), {**part, key: changed}
    elif isinstance(part, list) and part:
        yield "0", [None, *part[1:]]
        for what, changed in without_one(part[0]):
            yield "0." + what, [changed, *part[1:]]


def strict(part):
    """A schema in which no object has members that it does not describe."""
    if isinstance(part, list):
        return [strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: strict(value) for key, value in part.items()}
    # the head is a part of others, which have the restriction
    if "properties" in part and "required" in part and \
            "if" not in part and "schema" not in part["properties"] and \
            part["required"] != ["subcommand"]:
        made["unevaluatedProperties"] = False
    return made


def document_schema():
    """That of the command's documents, strict."""
    with open(DOCUMENTS, encoding="utf-8") as file:
        return strict(json.load(file))


def check_documents(tap, calls):
    """
    A result for each call of the command: it prints a document a line, each as the
    schema has it.
    """
    if not python_with_jsonschema():
        tap.skip("JSON documents against their schema",
                 "no jsonschema here (Debian: python3-jsonschema)")
        return []
    printed = []
    for call in calls:
        done = subprocess.run([UNCORE, *call], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8",
                              timeout=LIMIT, check=False)
        try:
            printed.append([json.loads(line)
                            for line in done.stdout.splitlines()])
        except ValueError:
            printed.append([])
        if not printed[-1]:
            tap.say("status %d, %s%s" % (done.returncode, done.stderr,
                                         done.stdout[:300]))
    schema = document_schema()
    for call, documents in zip(calls, printed):
        wrong = sum(errors_of(schema, documents), [])
        tap.ok(documents and not wrong, "uncore %s: %d documents as the schema "
               "has them" % (" ".join(call), len(documents)), wrong)
    return sum(printed, [])
