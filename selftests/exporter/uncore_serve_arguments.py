# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines that uncore serve refuses, and how uncore finds and executes
uncore-serve: a part of uncore_serve.py, which runs these tests."""

import os
import re
import shutil
import socket
import subprocess

from lib.python.command import one_line, run
from lib.python.fake_pmu import write
from lib.python.uncore import UNCORE


def test_arguments(tap, folder):
    for arguments, words in (
            (["--tls-cert", "a"], ["--tls-key"]),
            (["--tls-key", "a"], ["--tls-cert"]),
            (["--tls-cert", "", "--tls-key", ""], ["--tls-cert", "empty"]),
            (["--tls-client-ca", ""], ["--tls-client-ca", "empty"]),
            (["--tls-client-ca", "a"], ["--tls-client-ca", "--tls-cert"]),
            (["--web-config", "a"], ["--web-config"]),
            (["--json", "--listen-health", "[::1]:0"], ["--json"]),
            (["--json", "--textfile", folder], ["--json"]),
            (["--json", "--listen", "[::1]:0"], ["--json"]),
            (["--textfile", folder + "/metrics"], [".prom"]),
            (["-I", "1000"], ["--textfile"]),
            (["-d", "1"], ["--json"]),
            (["--cgroups", "0"], ["--cgroups", "1000"]),
            (["--cgroups", "1001"], ["--cgroups", "1000"]),
            (["--cgroups", "many"], ["--cgroups"]),
            (["--cgroups", "1", "--replay", folder], ["--cgroups"]),
            (["--textfile", folder, "-I", "5"], ["100"]),
            (["--listen"], ["--listen"])):
        one_line(tap, "serve %s: refused" % " ".join(
            word.replace(folder, "FOLDER") for word in arguments),
            run("serve", *arguments), 2, *words)
    for listen in ("localhost:1", "127.0.0.1", ":0", "127.0.0.1:65536",
                   "127.0.0.1:x", "127.0.0.1:", "::1:1", "[::1", "", "a b:1",
                   "127.0.0.1:-1", "[]:1"):
        one_line(tap, "--listen '%s': refused" % listen,
                 run("serve", "--listen", listen), 2, "--listen",
                 "127.0.0.1:10331")
    for path in ("", "x" * 108):
        one_line(tap, "--listen unix:%s: refused" % path[:9],
                 run("serve", "--listen", "unix:" + path), 2, "--listen", "107")
    one_line(tap, "--listen-health ::1: refused",
             run("serve", "--listen-health", "::1"), 2, "--listen-health")
    one_line(tap, "a socket in no folder",
             run("serve", "--listen", "unix:%s/none/socket" % folder), 1,
             "none/socket")
    write(folder + "/file", "")
    one_line(tap, "a socket where a file is",
             run("serve", "--listen", "unix:%s/file" % folder), 1, "/file",
             "choose another")
    os.remove(folder + "/file")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        one_line(tap, "a port in use",
                 run("serve", "--listen", "127.0.0.1:%d" %
                     listener.getsockname()[1]), 1, "another program listens")
    one_line(tap, "an address of another machine",
             run("serve", "--listen", "192.0.2.1:0"), 1, "192.0.2.1")
    empty = os.path.join(folder, "no-driver")
    write(empty + "/devices/system/cpu/online", "0")
    os.makedirs(empty + "/bus/event_source/devices")
    for arguments in (["--json"], ["--textfile", folder]):
        one_line(tap, "serve %s: no driver" % arguments[0],
                 run("--sysfs", empty, "serve", *arguments), 1,
                 "no uncore driver", "uncore check")


# Libraries of the HTTP server: uncore-serve is linked with them, uncore is not.
SERVING = {"gnutls", "microhttpd"}


def libraries(program):
    """Return the names of the libraries that a program is linked with."""
    result = subprocess.run(["objdump", "-p", program], stdout=subprocess.PIPE,
                            encoding="utf-8", check=True)
    return set(re.findall(r"NEEDED +lib([\w+-]+?)\.so", result.stdout))


def test_programs(tap, folder, sysfs):
    """"uncore serve" executes uncore-serve: beside uncore in a build tree, and in
    libexec where uncore is installed."""
    serve = os.path.join(os.path.dirname(UNCORE), "uncore-serve")
    tap.ok(not libraries(UNCORE) & {*SERVING, "crypt", "yaml-cpp"} and
           SERVING <= libraries(serve), "uncore is linked with none of %s" %
           ", ".join(sorted(SERVING)), sorted(libraries(UNCORE)))
    program = os.path.join(folder, "prefix", "bin", "uncore")
    installed = os.path.join(folder, "prefix", "libexec", "uncore")
    os.makedirs(installed)
    os.makedirs(os.path.dirname(program))
    shutil.copy(UNCORE, program)
    words = ["--sysfs", os.path.join(folder, "none"), "serve", "--json"]
    result = subprocess.run([program, *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, encoding="utf-8", check=False)
    one_line(tap, "without uncore-serve: it says what to do", result, 1,
             "uncore-serve", "install")
    shutil.copy(serve, installed)
    for command in ([program, "--sysfs", sysfs, "serve"],
                    [program, "--sysfs=" + sysfs, "serve"],
                    [serve, "--sysfs", sysfs]):
        result = subprocess.run([*command, "--textfile", "/x"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                encoding="utf-8", check=False)
        one_line(tap, "%s passes its arguments on" % os.path.basename(command[0]),
                 result, 2, ".prom")
    shutil.rmtree(os.path.join(folder, "prefix"))
