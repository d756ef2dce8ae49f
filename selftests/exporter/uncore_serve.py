#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test "uncore serve" as HTTP clients and its administrator use it: output formats,
limits, malformed requests, slow clients, errors, drivers that are unloaded and loaded.
No uncore PMU is needed: in a made-up sysfs, a software event of the kernel stands in
for the events of a memory channel. serve.py tests the numbers.

The tests of each subject are in uncore_serve_SUBJECT.py; this program runs them.
"make soak-serve" sends more malformed requests and scrapes, by --malformed and
--scrapes.
"""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import run  # noqa: E402
from lib.python.exposition import Daemon  # noqa: E402
from lib.python.fake_pmu import make_pmu  # noqa: E402
from lib.python.uncore import Tap  # noqa: E402
from exporter.serve_cgroups import test_pods  # noqa: E402
from exporter.uncore_serve_arguments import test_arguments, test_programs  # noqa: E402
from exporter.uncore_serve_driver import (test_driver, test_late_driver,  # noqa: E402
                                          test_processors)
from exporter.uncore_serve_formats import (test_files, test_forms,  # noqa: E402
                                           test_methods)
from exporter.uncore_serve_listeners import test_listeners, test_unix  # noqa: E402
from exporter.uncore_serve_malformed import MALFORMED, test_attacks  # noqa: E402
from exporter.uncore_serve_parallel import (SCRAPES, test_crowd,  # noqa: E402
                                            test_many, test_slow)
from exporter.uncore_serve_permission import test_permission, test_unit  # noqa: E402
from exporter.uncore_serve_tls import test_tls  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--malformed", type=int, default=MALFORMED)
    parser.add_argument("--scrapes", type=int, default=SCRAPES)
    options = parser.parse_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        sysfs = os.path.join(folder, "sys")
        make_pmu(sysfs)
        test_arguments(tap, folder)
        test_programs(tap, folder, sysfs)
        test_unit(tap)
        trial = run("--sysfs", sysfs, "serve", "--json", "-d", "0.01")
        if trial.returncode and "CAP_PERFMON" in trial.stderr:
            tap.say("no permission to count: the rest is not tested")
            tap.end()
        test_permission(tap, sysfs)
        test_files(tap, folder, sysfs)
        test_pods(tap, sysfs)
        with Daemon("--sysfs", sysfs, "serve") as daemon:
            test_forms(tap, daemon)
            test_methods(tap, daemon)
            test_many(tap, daemon, options.scrapes)
            test_attacks(tap, daemon, options.malformed)
            test_slow(tap, daemon)
            test_crowd(tap, daemon)
            status, output = daemon.end()
            tap.ok(status == 0 and not output, "after all that it ends as ever",
                   ["status %d" % status, *output.splitlines()])
        test_processors(tap, folder)
        test_late_driver(tap, folder)
        test_driver(tap, sysfs)
        test_listeners(tap, sysfs)
        test_unix(tap, folder, sysfs)
        test_tls(tap, folder, sysfs)
    tap.end()


if __name__ == "__main__":
    main()
