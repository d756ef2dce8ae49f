# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check JSON documents against a JSON Schema with Debian's python3-jsonschema, and the
documents of the uncore command against the schema that is installed with the command.
"""

import functools
import json
import os
import subprocess
import sys

from lib.python.uncore import TOP, UNCORE

DOCUMENTS = os.path.join(TOP, "userspace", "cli", "schema",
                         "uncore-1.schema.json")
LIMIT = 600
# Reads a schema and documents; prints a list of errors, with their places, for each
# document.
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


@functools.cache
def python_with_jsonschema():
    """The path of a Python interpreter that has jsonschema, or None."""
    for python in sys.executable, "/usr/bin/python3":
        if os.path.exists(python) and not subprocess.run(
                [python, "-c", "import jsonschema"], check=False,
                stderr=subprocess.DEVNULL).returncode:
            return python
    return None


def errors_of(schema, documents):
    """A list of errors for each document. Raises ValueError if the schema is invalid."""
    done = subprocess.run(
        [python_with_jsonschema(), "-c", VALIDATE], check=False,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        timeout=LIMIT, input=json.dumps([schema, documents]))
    if done.returncode:
        raise ValueError(done.stderr.splitlines()[-1])
    return json.loads(done.stdout)


def without_one(part):
    """Yields (place, document) for each way to break a document: without a member of one
    of its objects, or with null as the first element of one of its lists."""
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


def strict(part, parts):
    """The schema, changed so that objects must not have members without a description.
    @parts: names of definitions that are restricted where they are all of an object."""
    if isinstance(part, list):
        return [strict(one, parts) for one in part]
    if not isinstance(part, dict):
        return part
    made = {key: strict(value, parts) for key, value in part.items()}
    if "allOf" in part:
        made["allOf"] = [one if "$ref" in one else strict(one, parts)
                         for one in part["allOf"]]
    if part.get("$ref", "").rsplit("/", 1)[-1] in parts or \
            "properties" in part and "required" in part and \
            "if" not in part and part["required"] != ["subcommand"]:
        made["unevaluatedProperties"] = False
    return made


def parts_of_others(part):
    """Names of the definitions that are a part of other objects, which have more members."""
    if isinstance(part, list):
        for one in part:
            yield from parts_of_others(one)
    elif isinstance(part, dict):
        if "properties" in part:
            yield from (one["$ref"].rsplit("/", 1)[1] for one in part.get("allOf", [])
                        if "$ref" in one)
        for one in part.values():
            yield from parts_of_others(one)


def document_schema():
    """The strict schema of the uncore command's documents."""
    with open(DOCUMENTS, encoding="utf-8") as file:
        schema = json.load(file)
    parts = set(parts_of_others(schema))
    made = strict(schema, parts)
    for name in parts:
        made["$defs"][name].pop("unevaluatedProperties", None)
    return made


def check_documents(tap, calls):
    """
    Prints a result for each call of the uncore command: each line of its output must be
    a document that matches the schema. Returns the documents of all calls.
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
    # all in one process: on an emulated CPU it takes seconds to begin
    errors = iter(errors_of(document_schema(), sum(printed, [])))
    for call, documents in zip(calls, printed):
        wrong = sum((next(errors) for _ in documents), [])
        tap.ok(documents and not wrong, "uncore %s: %d documents as the schema "
               "has them" % (" ".join(call), len(documents)), wrong)
    return sum(printed, [])
