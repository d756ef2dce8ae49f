# SPDX-License-Identifier: GPL-2.0-or-later
"""
A JSON schema validator for the keywords of events/*schema.json, so that the build
needs no Python package.  An unknown keyword in a schema is an error.
"""

import re

ANNOTATIONS = {"$schema", "title", "description"}
TYPES = {"array": list, "object": dict, "string": str}


def _check_type(value, want, _schema):
    if not isinstance(value, TYPES[want]):
        yield "is not of type %s" % want


def _check_enum(value, want, _schema):
    if value not in want:
        yield "%r is not one of %s" % (value, ", ".join(want))


def _check_pattern(value, want, _schema):
    if isinstance(value, str) and not re.search(want, value):
        yield "%r does not match %s" % (value, want)


def _check_max_length(value, want, _schema):
    if isinstance(value, str) and len(value) > want:
        yield "is %d characters long, more than %d" % (len(value), want)


def _check_required(value, want, _schema):
    if isinstance(value, dict):
        for key in want:
            if key not in value:
                yield "%s is missing" % key


def _check_additional(value, want, schema):
    if isinstance(value, dict) and want is False:
        for key in value:
            if key not in schema.get("properties", {}):
                yield "%s is not a known key" % key


CHECKS = {
    "type": _check_type,
    "enum": _check_enum,
    "pattern": _check_pattern,
    "maxLength": _check_max_length,
    "required": _check_required,
    "additionalProperties": _check_additional,
}
NESTED = {"items", "properties"}


def validate(value, schema):
    """Yield a reason for each part of @value that @schema does not allow."""
    for keyword, want in schema.items():
        if keyword in CHECKS:
            yield from CHECKS[keyword](value, want, schema)
        elif keyword not in NESTED and keyword not in ANNOTATIONS:
            raise ValueError("schema keyword %s is not supported" % keyword)
    if isinstance(value, list) and "items" in schema:
        for item in value:
            yield from validate(item, schema["items"])
    if isinstance(value, dict):
        for key, sub in schema.get("properties", {}).items():
            if key in value:
                for reason in validate(value[key], sub):
                    yield "%s: %s" % (key, reason)
