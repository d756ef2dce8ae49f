#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore check --hardware" on correct and on faulty simulated hardware. The rates of
samples and interrupts depend on this machine, so the test only requires that they are
checked.
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import comments, is_refused, run  # noqa: E402
from lib.python.schema import (document_schema, errors_of,  # noqa: E402
                               python_with_jsonschema)
from lib.python.top import cpu_packages, dead_box  # noqa: E402
from lib.python.uncore import SIM, TOP, Machine, Tap, write  # noqa: E402

PATIENCE = 900      # seconds; a real machine needs half a minute
SUBJECTS = ("boxes", "clocks", "group reads", "sums", "filters", "coherent IO",
            "sampling", "interrupts", "memory")


def check_hardware(*arguments):
    return run("check", "--hardware", *arguments, timeout=PATIENCE)


def find_checks(checks, subject):
    """Return the checks of a subject."""
    return [check for check in checks if check["subject"] == subject]


def play(scenario):
    """Set the event rates of a steady scenario. The simulator keeps the rates after the
    player has ended."""
    subprocess.run([os.path.join(TOP, "selftests/scenarios/play"), scenario],
                   check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)


def test_right(tap, report):
    """In a scenario the parts of each flow add up to the whole: no check is bad."""
    result = check_hardware("--json", "--report", report)
    checks = json.loads(result.stdout)["checks"] if result.stdout else []
    tap.ok([subject for subject in SUBJECTS if not find_checks(checks, subject)] == [],
           "everything is looked at", comments(result))
    for subject in ("boxes", "group reads", "sums", "coherent IO"):
        tap.ok(all(check["verdict"] == "ok" for check in find_checks(checks, subject)),
               "%s: as they must be" % subject,
               [repr(check) for check in find_checks(checks, subject)])
    with open(report, encoding="utf-8") as file:
        text = file.read()
    document = json.loads(text)
    tap.ok(document["checks"] == checks, "the report has what was printed")
    if python_with_jsonschema():
        wrong = sum(errors_of(document_schema(),
                              [document, json.loads(result.stdout)]), [])
        tap.ok(not wrong, "both are as their schema has them", wrong)
    sizes = {"clocks": sum(sum(socket["boxes"].values())
                           for socket in document["sockets"]),
             "interrupts": sum(len(package) for package in cpu_packages())}
    tap.ok(len(document["sockets"]) == len(cpu_packages()) and
           all(len(document["measured"][part]) == size
               for part, size in sizes.items()),
           "and a number of each box and CPU",
           [repr(sizes), text[:600]])
    tap.ok(document["driver_state"]["parameters"] and "overflow_count" in
           document["driver_state"]["package0"] and any("PMUs" in line
                                              for line in document["log"]),
           "and the driver's statistics", [text[:2000]])
    host = os.uname().nodename
    tap.ok(len(host) < 3 or host not in text, "and no name of the host")


def test_units(tap):
    """Both IRP boxes count the same coherent requests; then neither counts any."""
    boxes = ["pkg=%d box=irp_%d event=0x16 umask=0x02" % (package, unit)
             for package in range(len(cpu_packages())) for unit in (0, 1)]
    for rate, verdict, word in (("0.01", "bad", "counted twice"),
                                ("0", "note", "nothing to see")):
        for box in boxes:
            write(SIM + "rates", "%s rate=%s" % (box, rate))
        result = check_hardware("--json")
        units = find_checks(json.loads(result.stdout)["checks"], "coherent IO")
        tap.ok(len(units) == len(cpu_packages()) and
               all(check["verdict"] == verdict and word in check["finding"]
                   for check in units),
               "a rate of %s in both units: %s" % (rate, word),
               [repr(check) for check in units])


def test_wrong(tap):
    """Faulty hardware: each event has the simulator's own waveform, so parts exceed the
    whole, and a box does not answer."""
    write(SIM + "rates", "off")
    write(SIM + "fault", dead_box(0, "imc_0"))
    result = check_hardware()
    tap.ok(result.returncode == 1 and
           "BAD   sums          hswep_ha_0" in result.stdout,
           "parts that are more than the whole are bad", comments(result))
    tap.ok("BAD" in result.stdout and "hswep_imc_0" in result.stdout,
           "a box that does not answer is named", comments(result))
    write(SIM + "fault", dead_box(0, "imc_0", False))


def test_still(tap):
    """The clocks of the boxes do not run."""
    write(SIM + "clock", "manual")
    result = check_hardware("--json")
    clocks = find_checks(json.loads(result.stdout)["checks"], "clocks")
    tap.ok(result.returncode == 1 and clocks and
           all(check["verdict"] == "bad" and "does not run" in check["finding"]
               for check in clocks),
           "stopped clocks are bad, each of them", comments(result))


def test_refused(tap):
    for name, arguments, status, word in (
            ("a report of nothing", ("check", "--report", "/tmp/x"), 2,
             "--hardware"),
            ("a recorded machine", ("--sysfs", "/proc", "check", "--hardware"),
             2, "--hardware"),
            ("a report that cannot be written",
             ("check", "--hardware", "--report", "/nonexistent/x"), 1,
             "/nonexistent"),
    ):
        result = run(*arguments, timeout=PATIENCE)
        tap.ok(is_refused(result, word, status=status), name, comments(result))


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder, Machine(tap, clock="real"):
        play("stream")
        test_right(tap, os.path.join(folder, "report"))
        test_units(tap)
        test_wrong(tap)
        test_still(tap)
        test_refused(tap)
    result = run("check", "--hardware")
    tap.ok(is_refused(result, "uncore check"), "no driver", comments(result))
    tap.end()


if __name__ == "__main__":
    main()
