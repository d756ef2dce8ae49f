# SPDX-License-Identifier: GPL-2.0-or-later
"""
Find the programs of Prometheus for the tests that need one.
"""

import os
import subprocess

from lib.python.uncore import TOP


def find(program):
    """(path of "prometheus" or "promtool", ""), or (None, reason why it is missing)."""
    found = subprocess.run(
        [os.path.join(TOP, "selftests", "runner", "get-prometheus"),
         os.path.join(TOP, "build", "prometheus")], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if found.returncode:
        said = found.stdout.split("\n")[0].strip()
        return None, "no %s here: %s" % (program, said)
    return os.path.join(found.stdout.strip(), program), ""
