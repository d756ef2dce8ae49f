#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check with selftests/runner/check-layers that the files of each part of the repository do
not need each other in a circle. Then add one fault to a file in a copy of the parts, and
check that check-layers prints the fault: an include or a call that closes a circle, and a
function of the driver that no header has or that has another file's prefix.
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import TOP, Tap  # noqa: E402

PARTS = ("kmod", "userspace/lib", "userspace/cli", "selftests/lib/c")

# File, text that is added to it, and message of check-layers.
FAULTS = [
    ("kmod/access.c", '#include "overflow.h"',
     "kmod: a circle of includes or calls: access -> "),
    ("kmod/sim/model/wave.c", "void f(void)\n{\n\tmodel_sync(0);\n}",
     "kmod/sim: a circle of includes or calls: model/"),
    ("userspace/lib/plan.hpp", '#include "session.hpp"',
     "userspace/lib: a circle of includes or calls: "),
    ("userspace/cli/counting/count_report.hpp", '#include "counting/count_text.hpp"',
     "userspace/cli: a circle of includes or calls: counting/"),
    ("userspace/cli/terminal/text.cpp", '#include "output/message.hpp"',
     "userspace/cli: a circle of includes or calls: output -> terminal -> output"),
    ("selftests/lib/c/tap.c", '#include "stall.h"',
     "selftests/lib/c: a circle of includes or calls: tap -> stall -> "),
    ("kmod/box.c", "void unc_box_hidden(void)\n{\n}",
     "box.c: unc_box_hidden() is not static and not in box.h"),
    ("kmod/box.h", "void unc_slot_stray(void);",
     "box.c: unc_slot_stray() must begin with unc_box_"),
    ("kmod/freeze.h", '#include "box.h"', "freeze.h includes box.h"),
]


def check(*top):
    """Lines that check-layers prints on a tree, and its exit status."""
    done = subprocess.run(
        [os.path.join(TOP, "selftests", "runner", "check-layers"), *top],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    return done.stdout.splitlines(), done.returncode


def main():
    tap = Tap()
    lines, status = check()
    tap.ok(status == 0 and not lines, "no file needs itself in a circle", lines)
    with tempfile.TemporaryDirectory() as top:
        for part in PARTS:
            shutil.copytree(os.path.join(TOP, part), os.path.join(top, part))
        for file, text, message in FAULTS:
            path = os.path.join(top, file)
            with open(path, encoding="utf-8") as source:
                before = source.read()
            with open(path, "w", encoding="utf-8") as source:
                source.write("%s\n%s\n" % (before, text))
            lines, status = check(top)
            with open(path, "w", encoding="utf-8") as source:
                source.write(before)
            tap.ok(status == 1 and any(line.startswith(message) for line in lines),
                   "noticed: " + message, lines)
    tap.end()


if __name__ == "__main__":
    main()
