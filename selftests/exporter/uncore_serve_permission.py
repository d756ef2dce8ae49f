# SPDX-License-Identifier: GPL-2.0-or-later
"""uncore serve without the permission to count, and the capabilities of its systemd
service: a part of uncore_serve.py, which runs these tests."""

import os
import re
import shutil
import subprocess

from exporter.uncore_serve_driver import reasons
from lib.python.command import LIMIT, one_line, run
from lib.python.exposition import Daemon
from lib.python.uncore import TOP


def test_permission(tap, sysfs):
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if int(file.read()) <= 0:
            return
    nobody = {"preexec_fn": lambda: (os.setgroups([]), os.setgid(65534),
                                     os.setuid(65534))}
    try:
        result = run("--version", **nobody)
    except OSError:
        tap.say("no other user may run this build: permission is not tested")
        return
    one_line(tap, "no permission to count",
             run("--sysfs", sysfs, "serve", "--json", **nobody), 1, "CAP_PERFMON")
    with Daemon("--sysfs", sysfs, "serve", **nobody) as daemon:
        answer = daemon.request("/readyz")
        tap.ok(reasons(daemon.fresh()) == ["permission"] and answer[0] == 503 and
               "CAP_PERFMON" in answer[2] and daemon.request("/livez")[0] == 200,
               "it serves the reason", [daemon.said, repr(answer)])
        status, output = daemon.end()
        tap.ok(status == 0 and not output, "says it once, and ends as ever",
               ["status %d" % status, output])


def test_unit(tap):
    unit = os.path.join(TOP, "build", "userspace", "cli",
                        "uncore-serve.service")
    if not shutil.which("systemd-analyze"):
        tap.skip("the unit's exposure", "no systemd-analyze here")
        return
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", unit],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        timeout=LIMIT, check=False)
    match = re.search(r"exposure level for \S+: ([0-9.]+)", result.stdout)
    if not match and "nknown" in result.stdout:
        tap.skip("the unit's exposure", "systemd-analyze is too old")
        return
    tap.ok(match and float(match[1]) <= 2.0,
           "the unit's exposure is %s" % (match[1] if match else "unknown"),
           result.stdout.splitlines()[-20:])
    with open(unit, encoding="utf-8") as file:
        text = file.read()
    tap.ok(re.findall(r"^(?:Ambient|Bounding)\w*=.*|^Capability\w+=.*", text,
                      re.M) and
           set(re.findall(r"CAP_\w+", text)) == {"CAP_PERFMON", "CAP_BPF"},
           "its capabilities are CAP_PERFMON and CAP_BPF", text.splitlines())
