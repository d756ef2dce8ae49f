#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The driver's files and the command's folders build on one another without circles
(selftests/runner/check-layers); and the check notices an include that closes one, and
functions that are in no header, have another file's prefix, or are not defined.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import Tap  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
KMOD = os.path.join(TOP, "kmod")
COMMAND = os.path.join(TOP, "userspace", "cli")

# What is added to a file, and what the check says.
FAULTS = [
    ("access.c", '#include "overflow.h"', "a circle of includes: "),
    ("box.c", "void unc_box_hidden(void)\n{\n}",
     "box.c: unc_box_hidden() is not static and not in box.h"),
    ("box.h", "void unc_slot_stray(void);",
     "box.c: unc_slot_stray() must begin with unc_box_"),
    ("freeze.h", '#include "box.h"', "freeze.h includes box.h"),
]

# Folders of the command that need each other.
CIRCLE = {"low/a.hpp": '#include "high/b.hpp"', "high/b.hpp": "",
          "high/b.cpp": '#include "high/b.hpp"\n#include "low/a.hpp"'}


def run(*folders):
    """Exit status and output of the check."""
    done = subprocess.run(
        [os.path.join(TOP, "selftests", "runner", "check-layers"), *folders],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", check=False)
    return done.returncode, done.stdout


def check_command(files):
    """The same, for a command of these files."""
    with tempfile.TemporaryDirectory() as top:
        for name, text in files.items():
            path = os.path.join(top, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        return run(KMOD, top)


def check(change=None):
    """Exit status and output of the check, of a driver that is changed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(KMOD):
            if name.endswith((".c", ".h")):
                shutil.copy(os.path.join(KMOD, name), folder)
        if change:
            change(folder)
        return run(folder)


def adding(file, text):
    def change(folder):
        with open(os.path.join(folder, file), "a", encoding="utf-8") as out:
            out.write("\n%s\n" % text)
    return change


def main():
    tap = Tap()

    def expect(change, status, said, name):
        got, output = check(change)
        tap.ok(got == status and said in output and bool(output) == bool(said),
               name, ["status %d" % got] + output.splitlines())

    expect(None, 0, "", "the driver's files build on one another")
    for file, text, said in FAULTS:
        expect(adding(file, text), 1, said, "noticed: " + said)
    got, output = run(KMOD, COMMAND)
    tap.ok((got, output) == (0, ""), "the command's folders build on one another",
           output.splitlines())
    got, output = check_command(CIRCLE)
    tap.ok(got == 1 and "high -> low -> high" in output,
           "a circle of the command's folders is noticed", output.splitlines())
    tap.end()


if __name__ == "__main__":
    main()
