# SPDX-License-Identifier: GPL-2.0-or-later
"""
Where Prometheus' programs are for the tests that want one.
"""

import os
import subprocess

from lib.python.uncore import TOP


def find(program):
    """The path of "prometheus" or "promtool", or None; and why there is none."""
    found = subprocess.run(
        [os.path.join(TOP, "selftests", "runner", "get-prometheus"),
         os.path.join(TOP, "build", "prometheus")], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if found.returncode:
        said = found.stdout.split("\n")[0].strip()
        return None, "no %s here: %s" % (program, said)
    return os.path.join(found.stdout.strip(), program), ""
