#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The driver's files are built on one another one way (scripts/check-layers); and
the check notices a call up, however it is written, a file that has no place
and one that is gone.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib.uncore import Tap  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KMOD = os.path.join(TOP, "kmod")

# What is added to a file, and what the check says.
UPWARDS = [
    ("box.c", "void f(struct unc_box *b) { unc_pmi_raise(); }",
     "box.c uses unc_pmi_raise() of pmi.c"),
    ("access.c", "void *const f = unc_overflow_poll;",
     "access.c uses unc_overflow_poll() of overflow.c"),
    ("slot.c", "int f(void)\n{\n\treturn\n\t\tunc_pmus_register ();\n}",
     "slot.c uses unc_pmus_register() of pmus.c"),
]
NOTHING = ["/* unc_pmi_raise() */", 'const char f[] = "unc_pmi_raise";',
           "// unc_pmi_raise()"]


def check(change=None):
    """Exit status and output of the check, of a driver that is changed."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(KMOD):
            if name.endswith((".c", ".h")):
                shutil.copy(os.path.join(KMOD, name), folder)
        if change:
            change(folder)
        done = subprocess.run(
            [os.path.join(TOP, "scripts", "check-layers"), folder],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", check=False)
    return done.returncode, done.stdout


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

    expect(None, 0, "", "all calls of the driver run one way")
    for file, text, said in UPWARDS:
        expect(adding(file, text), 1, said, "noticed: " + said)
    for text in NOTHING:
        expect(adding("box.c", text), 0, "", "no call: " + text)
    expect(adding("stray.c", ""), 1, "stray.c: no part",
           "a file that has no place is noticed")
    expect(lambda folder: os.remove(os.path.join(folder, "freeze.c")), 1,
           "freeze.c, which is not there", "a file that is gone is noticed")
    tap.end()


if __name__ == "__main__":
    main()
