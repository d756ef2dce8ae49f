#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test an installed libuncore: find_package and pkg-config find it in an installation
folder, and the example programs build with it. The programs stay in build/examples for a
test on simulated hardware. The shared libraries export the public names only.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import TOP, Tap  # noqa: E402

BUILD = os.path.join(TOP, "build", "userspace")
OUT = os.path.join(TOP, "build", "examples")
PREFIX = os.path.join(OUT, "prefix")
EXAMPLES = os.path.join(TOP, "userspace", "examples")


def run(*command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding="utf-8",
                            check=False, **more)
    return result.returncode, result.stdout.splitlines()


def step(tap, name, *command, **more):
    """Run a command, whose success is a result of the test."""
    status, lines = run(*command, **more)
    return tap.ok(status == 0, name, lines[-15:])


def library(pattern):
    """Return the installed files below lib that match a pattern."""
    return glob.glob(os.path.join(PREFIX, "lib*", "**", pattern),
                     recursive=True)


def public_headers():
    """Return the installed C++ headers as one text without comments."""
    headers = ""
    for path in glob.glob(os.path.join(PREFIX, "include", "uncore", "*.hpp")):
        with open(path, encoding="utf-8") as file:
            headers += re.sub(r"//.*", "", file.read())
    return headers


def private_names(lines):
    """Generate the symbols among nm's lines that are not public: names of classes and
    nested structures that no public header declares, and private members."""
    headers = public_headers()
    private = set()
    for name, body in re.findall(r"^class UNCORE_EXPORT (\w+) {$(.*?)^};$",
                                 headers, re.M | re.S):
        _, _, part = body.partition("\nprivate:\n")
        private |= {(name, member) for member in
                    re.findall(r"\b(\w+)\(", part) if member != name}
    for line in lines:
        outer = re.search(r"\buncore::(\w+)", line)
        if outer and not re.search(r"\b%s\b" % outer[1], headers):
            yield line
        match = re.search(r" uncore::(\w+)::(\w+)(::|\()", line)
        if not match:
            continue
        if match[3] == "::" and \
                not re.search(r"\b(struct|class) %s {" % match[2], headers):
            yield line
        elif (match[1], match[2]) in private:
            yield line


def test_soname(tap, path, name):
    _, lines = run("objdump", "-p", path)
    tap.ok(any(re.search("SONAME +%s$" % re.escape(name), line)
               for line in lines), "its soname is " + name, lines[-30:])


def test_headers(tap):
    """The installation has the headers for counting, topology, events, sampling and own
    metrics, with the types that they use. The headers for plans, sessions and the
    catalogue's metrics are private."""
    names = sorted(os.listdir(os.path.join(PREFIX, "include", "uncore")))
    tap.ok(names == ["catalogue.hpp", "counter_set.hpp", "error.hpp", "event.hpp",
                     "export.hpp", "own_metrics.hpp", "sampler.hpp", "topology.hpp",
                     "uncore.h", "version.hpp"],
           "it installs the public headers and no others", names)


def test_library(tap):
    """Each shared library exports the names of its interface and no others, and has the
    right soname."""
    path, = library("libuncore++.so.*.*.*")
    _, lines = run("nm", "-DC", "--defined-only", path)
    foreign = [line for line in lines
               if not re.search(r" [A-Za-z] (typeinfo (name )?for |vtable for )?"
                                r"(uncore::|LIBUNCORE_CXX_)", line)]
    tap.ok(len(lines) > 20 and not foreign,
           "the C++ library shows %d names, all of them its own" %
           len(lines), foreign)
    undeclared = sorted(set(private_names(lines)))
    tap.ok(not undeclared, "and none that its headers keep private",
           undeclared)
    test_soname(tap, path, "libuncore++.so.0.1")
    path, = library("libuncore.so.1")
    test_soname(tap, path, "libuncore.so.1")
    _, lines = run("nm", "-D", "--defined-only", path)
    shown = {line.split()[-1].split("@")[0] for line in lines
             if not re.search(r" A LIBUNCORE_1\.\d+$", line)}
    with open(os.path.join(PREFIX, "include", "uncore", "uncore.h"),
              encoding="utf-8") as file:
        declared = set(re.findall(r"\b(uncore_\w+)\(", re.sub(
            r"/\*.*?\*/", "", file.read(), flags=re.S)))
    tap.ok(shown == declared and len(shown) > 10,
           "the C library shows the %d functions of uncore.h, nothing else" %
           len(shown),
           [repr(shown ^ declared)])
    version_file, = library("uncore-config-version.cmake")
    with open(version_file, encoding="utf-8") as file:
        tap.ok("PACKAGE_FIND_VERSION_MINOR" in file.read(),
               "find_package() takes the same for compatible")
    path, = library("libuncore.a")
    _, lines = run("nm", "-C", "--defined-only", "--extern-only", path)
    foreign = [line for line in lines
               if re.search(r" T (perf_|libperf|xyarray|fdarray)", line)]
    tap.ok(len(lines) > 20 and not foreign,
           "the static library keeps libperf to itself", foreign)


def test_cmake_in_c(tap):
    """A CMake project without C++ links with the C library's target."""
    source = os.path.join(OUT, "cmake-c")
    os.makedirs(source)
    with open(os.path.join(source, "CMakeLists.txt"), "w",
              encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.20)\n"
                   "project(outside LANGUAGES C)\n"
                   "find_package(uncore 0.1 REQUIRED)\n"
                   "add_executable(rates %s)\n"
                   "target_link_libraries(rates PRIVATE uncore::uncore-c)\n" %
                   os.path.join(EXAMPLES, "c", "rates.c"))
    build = os.path.join(source, "build")
    step(tap, "find_package(uncore) in a project without C++", "cmake", "-S",
         source, "-B", build, "-DCMAKE_PREFIX_PATH=" + PREFIX)
    step(tap, "builds a program in C", "cmake", "--build", build)
    _, lines = run("objdump", "-p", os.path.join(build, "rates"))
    needed = [line.split()[1] for line in lines if "NEEDED" in line]
    tap.ok("libuncore.so.1" in needed and
           not any("++" in name for name in needed),
           "which needs libuncore.so.1 and nothing of C++", needed)


def documented_program(*path):
    """Return the program in the first comment of a header, or in a man page."""
    with open(os.path.join(*path), encoding="utf-8") as file:
        text = re.sub(r"^( \*\t| \*$|/// {5}|///$)", "", file.read(), flags=re.M)
    return re.search(r"^#include <.*?^int main\(.*?^}\n", text.replace(r"\e", "\\"),
                     re.M | re.S)[0]


def test_documented(tap, env):
    """The programs in headers and man pages compile with strict warnings as errors."""
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    c = ["cc", "-std=c11", "-xc", *strict], "uncore"
    cxx = ["c++", "-std=c++20", "-xc++", *strict]
    header = os.path.join(PREFIX, "include", "uncore")
    man = os.path.join(PREFIX, "share", "man", "man3")
    for folder, name, compilers in (
            (header, "uncore.h", (c, (cxx, "uncore"))),
            (header, "counter_set.hpp", ((cxx, "uncore++"),)),
            (man, "uncore_session.3", (c, (cxx, "uncore"))),
            (man, "uncore_sampler.3", (c, (cxx, "uncore")))):
        for command, package in compilers:
            binary = os.path.join(OUT, "documented")
            source = binary + ".txt"
            with open(source, "w", encoding="utf-8") as file:
                file.write(documented_program(folder, name))
            _, flags = run("pkg-config", "--cflags", "--libs", package, env=env)
            step(tap, "the program of %s compiles as %s" % (name, command[1][5:]),
                 *command, source, "-xnone", "-o", binary, *flags[0].split())
            status, lines = run(binary, env=env)
            tap.ok(status == 1 and len(lines) == 1 and
                   "no uncore driver" in lines[0], "and handles errors",
                   ["status %d" % status, *lines])


def test_python(tap, env):
    """The example in Python, with software events of the kernel instead of uncore
    events."""
    program = os.path.join(EXAMPLES, "python", "count.py")
    status, lines = run("python3", program, "page-faults,context-switches",
                        "sh", "-c", "true; exit 3", env=env)
    counts = [int(match[1]) for match in
              (re.search(r"^socket \d+ +page-faults +(\d+)$", line)
               for line in lines) if match]
    tap.ok(status == 3 and counts and sum(counts) > 20,
           "the example in Python counts by the C interface",
           ["status %d" % status, *lines])
    status, lines = run("python3", program, "imc/cas_count.rd/", "true",
                        env=env)
    tap.ok(status == 1 and len(lines) == 1 and "no uncore driver" in lines[0],
           "and shows the library's messages", lines)


def main():
    tap = Tap()
    if not shutil.which("cmake") or not shutil.which("pkg-config"):
        tap.skip_all("cmake and pkg-config are not both installed")
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    if not step(tap, "it installs", "cmake", "--install", BUILD, "--prefix",
                PREFIX):
        tap.end()
    test_headers(tap)
    test_library(tap)

    cmake = os.path.join(OUT, "cmake")
    step(tap, "find_package(uncore) finds it", "cmake", "-S",
         os.path.join(EXAMPLES, "bandwidth"), "-B", cmake,
         "-DCMAKE_PREFIX_PATH=" + PREFIX)
    step(tap, "and the example builds", "cmake", "--build", cmake)

    test_cmake_in_c(tap)

    count = os.path.join(OUT, "count")
    shutil.copytree(os.path.join(EXAMPLES, "count"), count)
    folders = library("pkgconfig")
    libraries = os.path.dirname(folders[0])
    env = {**os.environ, "PKG_CONFIG_PATH": ":".join(folders),
           "LD_LIBRARY_PATH": libraries}
    step(tap, "pkg-config finds it, and the other example builds", "make",
         "-C", count, env=env)

    rates = os.path.join(OUT, "c")
    shutil.copytree(os.path.join(EXAMPLES, "c"), rates)
    step(tap, "the example in C builds as strict C11", "make", "-C", rates,
         env=env)
    for name in ("rates", "samples"):
        status, lines = run(os.path.join(rates, name), env=env)
        tap.ok(status == 1 and len(lines) == 1 and "no " in lines[0],
               "%s says what this machine lacks" % name, lines)
    test_python(tap, env)
    test_documented(tap, env)

    # Without a driver, the programs load the library and report the missing driver.
    for name, program in (("bandwidth", [os.path.join(cmake, "bandwidth")]),
                          ("count", [os.path.join(count, "count"),
                                     "imc/cas_count.rd/"])):
        status, lines = run(*program, env=env)
        tap.ok(status == 1 and len(lines) == 1 and "no uncore driver" in
               lines[0], "%s runs" % name, lines)
    tap.ok(os.path.exists(os.path.join(PREFIX, "bin", "uncore")),
           "the command is installed")
    status, lines = run(os.path.join(PREFIX, "bin", "uncore"), "--sysfs", OUT,
                        "serve", "--json")
    tap.ok(status == 1 and len(lines) == 1 and "no uncore driver" in lines[0],
           "and executes uncore-serve", ["status %d" % status, *lines])
    tap.end()


if __name__ == "__main__":
    main()
