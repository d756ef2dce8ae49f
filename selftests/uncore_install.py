#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
libuncore as a user has it: installed into a folder, found there by find_package
and by pkg-config, and linked into the two example programs, which stay in
build/examples for a test on simulated hardware. Also what the shared library
shows of itself.
"""

import glob
import os
import re
import shutil
import subprocess

from lib.uncore import TOP, Tap

BUILD = os.path.join(TOP, "build", "userspace")
OUT = os.path.join(TOP, "build", "examples")
PREFIX = os.path.join(OUT, "prefix")
EXAMPLES = os.path.join(TOP, "userspace", "examples")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8",
                          check=False, **more)
    return done.returncode, done.stdout.splitlines()


def step(tap, name, *command, **more):
    status, lines = run(*command, **more)
    return tap.ok(status == 0, name, lines[-15:])


def library(pattern):
    return glob.glob(os.path.join(PREFIX, "lib*", "**", pattern),
                     recursive=True)


def test_library(tap):
    """Names of namespace uncore and no others; a soname."""
    path, = [path for path in library("libuncore.so.*.*")]
    _, lines = run("nm", "-DC", "--defined-only", path)
    others = [line for line in lines
              if not re.search(r" [A-Za-z] (typeinfo (name )?for |vtable for )?"
                               r"(uncore::|LIBUNCORE_)", line)]
    tap.ok(len(lines) > 20 and not others,
           "the shared library shows %d names, all of them its own" %
           len(lines), others)
    _, lines = run("objdump", "-p", path)
    tap.ok(any(re.search(r"SONAME +libuncore\.so\.0$", line)
               for line in lines), "its soname is libuncore.so.0", lines[-30:])
    path, = library("libuncore.a")
    _, lines = run("nm", "-C", "--defined-only", "--extern-only", path)
    others = [line for line in lines
              if re.search(r" T (perf_|libperf|xyarray|fdarray)", line)]
    tap.ok(len(lines) > 20 and not others,
           "the static library keeps libperf to itself", others)


def main():
    tap = Tap()
    if not shutil.which("cmake") or not shutil.which("pkg-config"):
        tap.skip_all("cmake and pkg-config are not both installed")
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    if not step(tap, "it installs", "cmake", "--install", BUILD, "--prefix",
                PREFIX):
        tap.end()
    test_library(tap)

    cmake = os.path.join(OUT, "cmake")
    step(tap, "find_package(uncore) finds it", "cmake", "-S",
         os.path.join(EXAMPLES, "bandwidth"), "-B", cmake,
         "-DCMAKE_PREFIX_PATH=" + PREFIX)
    step(tap, "and the example builds", "cmake", "--build", cmake)

    count = os.path.join(OUT, "count")
    shutil.copytree(os.path.join(EXAMPLES, "count"), count)
    folders = library("pkgconfig")
    libraries = os.path.dirname(folders[0])
    env = {**os.environ, "PKG_CONFIG_PATH": ":".join(folders),
           "LD_LIBRARY_PATH": libraries}
    step(tap, "pkg-config finds it, and the other example builds", "make",
         "-C", count, env=env)

    # no hardware here: they load the library and say so
    for name, program in (("bandwidth", [os.path.join(cmake, "bandwidth")]),
                          ("count", [os.path.join(count, "count"),
                                     "imc/cas_count.rd/"])):
        status, lines = run(*program, env=env)
        tap.ok(status == 1 and len(lines) == 1 and "no uncore driver" in
               lines[0], "%s runs" % name, lines)
    tap.ok(os.path.exists(os.path.join(PREFIX, "bin", "uncore")),
           "the command is installed")
    tap.end()


if __name__ == "__main__":
    main()
