#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
"uncore serve" as any client of its port meets it, and as its administrator
does: forms, limits, malformed requests, slow clients, errors, drivers that go and
come. There is no uncore here: events of the kernel's own stand in for those of a
memory channel, by a made-up sysfs. Numbers are serve.py's.

"make soak-serve" has more of it, with --malformed and --scrapes.
"""

import argparse
import contextlib
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import LIMIT, comments, one_line, run, started  # noqa: E402
from lib.python.exposition import (OPENMETRICS, PROMETHEUS, Daemon,  # noqa: E402
                                   Malformed, parse, up, value)
from lib.python.fake_pmu import PMU, make_pmu, write  # noqa: E402
from lib.python.prometheus import find  # noqa: E402
from lib.python.uncore import TOP, UNCORE, Tap  # noqa: E402
from exporter.serve_cgroups import test_pods  # noqa: E402

MALFORMED, SCRAPES = 3000, 10000
SCRAPERS, EACH = 100, 4
AT_ONCE, ADDRESSES = 1000, 4
ATTACKERS = 8
# Allowed memory growth of the daemon from its first peak to the end: a leak of 100
# bytes a scrape, or a tenth of that with 10^5 scrapes.
MEMORY = 1024               # kB


def check_text(tap, name, text, openmetrics):
    try:
        return parse(text, openmetrics)
    except Malformed as error:
        tap.ok(False, name, ["malformed: %s" % error])
        return {}


# --- what is wrong from the start --------------------------------------------------

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
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        one_line(tap, "a port in use",
                 run("serve", "--listen", "127.0.0.1:%d" %
                     other.getsockname()[1]), 1, "another program listens")
    one_line(tap, "an address of another machine",
             run("serve", "--listen", "192.0.2.1:0"), 1, "192.0.2.1")
    empty = os.path.join(folder, "no-driver")
    write(empty + "/devices/system/cpu/online", "0")
    os.makedirs(empty + "/bus/event_source/devices")
    for arguments in (["--json"], ["--textfile", folder]):
        one_line(tap, "serve %s: no driver" % arguments[0],
                 run("--sysfs", empty, "serve", *arguments), 1,
                 "no uncore driver", "uncore check")


# What only uncore-serve is linked with.
SERVING = {"gnutls", "microhttpd"}


def libraries(program):
    """The names of the libraries that a program is linked with."""
    done = subprocess.run(["objdump", "-p", program], stdout=subprocess.PIPE,
                          encoding="utf-8", check=True)
    return set(re.findall(r"NEEDED +lib([\w+-]+?)\.so", done.stdout))


def test_programs(tap, folder, sysfs):
    """"uncore serve" executes uncore-serve, in a build tree and where it is
    installed."""
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
    done = subprocess.run([program, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", check=False)
    one_line(tap, "without uncore-serve: it says what to do", done, 1,
             "uncore-serve", "install")
    shutil.copy(serve, installed)
    for command in ([program, "--sysfs", sysfs, "serve"],
                    [program, "--sysfs=" + sysfs, "serve"],
                    [serve, "--sysfs", sysfs]):
        done = subprocess.run([*command, "--textfile", "/x"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", check=False)
        one_line(tap, "%s passes its arguments on" % os.path.basename(command[0]),
                 done, 2, ".prom")
    shutil.rmtree(os.path.join(folder, "prefix"))


def test_permission(tap, sysfs):
    if os.geteuid() != 0:
        return
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if int(file.read()) <= 0:
            return
    nobody = {"preexec_fn": lambda: (os.setgroups([]), os.setgid(65534),
                                     os.setuid(65534))}
    try:
        done = run("--version", **nobody)
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
        status, said = daemon.end()
        tap.ok(status == 0 and not said, "says it once, and ends as ever",
               ["status %d" % status, said])


def reasons(samples):
    """Why a machine does not count."""
    assert up(samples) == 0
    return [dict(labels)["reason"] for name, labels in samples
            if name == "uncore_down_info"]


# modalias of a processor, and whether a driver could be there.
PROCESSORS = (("ven0002fam0019mod0001", "unsupported", 200),
              ("ven0000fam0006mod0055", "unsupported", 200),
              ("ven0000fam0006mod003F", "no_driver", 503))


def test_processors(tap, folder):
    """On a processor that is not supported there is nothing to wait for: it is ready."""
    for modalias, reason, status in PROCESSORS:
        sysfs = os.path.join(folder, modalias)
        write(sysfs + "/devices/system/cpu/online", "0")
        write(sysfs + "/devices/system/cpu/modalias",
              "cpu:type:x86,%s:feature:" % modalias)
        os.makedirs(sysfs + "/bus/event_source/devices")
        with Daemon("--sysfs", sysfs, "serve") as daemon:
            got = reasons(daemon.fresh()), daemon.request("/readyz")[0]
            tap.ok(got == ([reason], status), "%s: %s, and /readyz says %d" %
                   (modalias, reason, status), [repr(got)])
            daemon.end()
        one_line(tap, "%s: --json fails" % modalias,
                 run("--sysfs", sysfs, "serve", "--json"), 1,
                 "not supported" if reason == "unsupported" else "no uncore driver",
                 "uncore check")


# --- forms -------------------------------------------------------------------------

ACCEPT = (
    (None, PROMETHEUS), ("", PROMETHEUS), ("*/*", PROMETHEUS),
    ("text/plain", PROMETHEUS), ("text/html", PROMETHEUS),
    ("application/openmetrics-text", OPENMETRICS),
    ("Application/OpenMetrics-Text; Version=1.0.0", OPENMETRICS),
    ('application/openmetrics-text;version="1.0.0"', OPENMETRICS),
    ("application/openmetrics-text;version=2.0.0", PROMETHEUS),
    ("application/openmetrics-text;q=0", PROMETHEUS),
    ("application/openmetrics-text;q=0.000,*/*", PROMETHEUS),
    ("application/openmetrics-text;q=x", PROMETHEUS),
    ("application/openmetrics-text;q=0.4,text/plain;q=0.5", PROMETHEUS),
    ("text/plain;q=0.5,application/openmetrics-text;q=0.6", OPENMETRICS),
    ("application/openmetrics-text;q=0.5,text/*;q=0.4,text/plain;q=0.6",
     PROMETHEUS),
    ("application/openmetrics-text;q=0.5,*/*;q=0.9,text/plain;q=0.1",
     OPENMETRICS),
    # Prometheus 2's
    ("application/openmetrics-text;version=1.0.0,"
     "application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", OPENMETRICS),
    (", ,;;q=1,application/openmetrics-text ; q=1 ,", OPENMETRICS))


def test_forms(tap, daemon):
    for accept, want in ACCEPT:
        headers = {} if accept is None else {"Accept": accept}
        status, got, text = daemon.request(**headers)
        samples = check_text(tap, "a form", text, want == OPENMETRICS)
        tap.ok(status == 200 and got["Content-Type"] == want and
               up(samples) == 1,
               "Accept: %s" % accept, ["%d %s" % (status, got), text[-500:]])

    status, headers, text = daemon.request()
    old = check_text(tap, "text", text, False)
    new = daemon.scrape()
    tap.ok({key for key in old} == {key for key in new} and len(new) >= 20,
           "both forms have the same %d samples" % len(new),
           [repr(set(old) ^ set(new))])
    families = re.findall(r"^# TYPE (\S+) ", text, re.M)
    for name in ("process_cpu_seconds_total", "process_start_time_seconds",
                 "process_resident_memory_bytes", "uncore_info",
                 "uncore_socket_cpus", "uncore_events_running_ratio",
                 "uncore_memory_bytes_total"):
        tap.ok(name in families, "there is " + name, families)
    start = value(new, "process_start_time_seconds")
    tap.ok(abs(time.time() - start) < 3600, "it started not long ago",
           ["%f" % start])

    status, headers, text = daemon.request("/json")
    document = json.loads(text)
    names = {"%s%s" % (one["name"], "") for one in document["metrics"]
             if one["samples"]}
    tap.ok(status == 200 and headers["Content-Type"] == "application/json" and
           names == set(families), "/json has the same",
           [repr(names ^ set(families))])

    promtool, why = find("promtool")
    if promtool:
        done = subprocess.run([promtool, "check", "metrics"],
                              input=daemon.request()[2], encoding="utf-8",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LIMIT, check=False)
        tap.ok(done.returncode == 0 and not done.stdout,
               "promtool finds nothing wrong", done.stdout.splitlines())
    else:
        tap.skip("promtool finds nothing wrong", why)


def test_methods(tap, daemon):
    for path, status in (("/", 200), ("/metrics", 200), ("/json", 200),
                         ("/die-map.js", 200), ("/api/topology", 200),
                         ("/api/snapshot", 200), ("/api/recording", 404),
                         ("/healthz", 200), ("/metrics?x=1", 200),
                         ("/metrics/", 404), ("/etc/passwd", 404),
                         ("/../../etc/passwd", 404), ("/%2e%2e", 404),
                         ("/METRICS", 404), ("//metrics", 404)):
        got, headers, text = daemon.request(path)
        head = daemon.request(path, method="HEAD")
        tap.ok(got == head[0] == status and text and not head[2] and
               headers["X-Content-Type-Options"] == "nosniff",
               "GET and HEAD of %s: %d" % (path, status),
               ["%d %d %s" % (got, head[0], text[:80])])
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE",
                   "CONNECT", "get", "FROBNICATE"):
        status, headers, _ = daemon.request(
            method=method, body="x" if method == "POST" else None)
        tap.ok(status == 405 and headers["Allow"] == "GET, HEAD",
               "%s: 405" % method, ["%d %s" % (status, headers)])


# --- hostile clients ---------------------------------------------------------------

def malformed_request(dice):
    """A request with something wrong, or not."""
    lines = [b"GET /metrics HTTP/1.1", b"Host: localhost", b"Accept: */*"]
    kind = dice.randrange(12)
    if kind == 0:
        return dice.randbytes(dice.randrange(1, 2000))
    if kind == 1:
        lines[0] = b"GET /" + b"a" * dice.randrange(40000) + b" HTTP/1.1"
    elif kind == 2:
        lines += [b"X-%d: %s" % (i, b"y" * dice.randrange(200))
                  for i in range(dice.randrange(500))]
    elif kind == 3:
        lines[0] = dice.choice([b"GET", b"GET /", b"GET  /", b" / HTTP/1.1",
                                b"GET / HTTP/9.9", b"GET / HTTP/1.1 x",
                                b"\x00GET / HTTP/1.1", b"GET http://a/ HTTP/1.1"])
    elif kind == 4:
        lines.append(b"Content-Length: %s" % dice.choice(
            [b"-1", b"99999999999999999999999", b"x", b"10, 20", b"5"]))
    elif kind == 5:
        lines += [b"Transfer-Encoding: chunked", b"",
                  dice.choice([b"zz", b"ffffffffffffffff", b"-1", b"5\r\nab"])]
    elif kind == 6:
        lines[2] = b"Accept: " + dice.randbytes(dice.randrange(300)).replace(
            b"\n", b"")
    elif kind == 7:
        lines[2] = b"Accept: " + b",".join(
            [b"application/openmetrics-text;q=0.%d" % dice.randrange(10**9)] *
            dice.randrange(100))
    elif kind == 8:
        lines[2] = dice.choice([b": x", b"Accept", b" Accept: x", b"\t", b"A\0: b"])
    elif kind == 9:
        text = bytearray(b"\r\n".join(lines) + b"\r\n\r\n")
        for _ in range(dice.randrange(1, 10)):
            text[dice.randrange(len(text))] = dice.randrange(256)
        return bytes(text)
    elif kind == 10:
        return b"\r\n".join(lines) + b"\r\n"        # and no end
    return b"\r\n".join(lines) + b"\r\n\r\n"


def send(port, data):
    """Sends it, reads an answer if there is one, and hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as to:
        try:
            to.sendall(data)
            to.shutdown(socket.SHUT_WR)
            to.settimeout(0.02)     # it may wait for more, and we do not
            while to.recv(65536):
                pass
        except OSError:
            pass


def attack(daemon, requests, seed):
    """From several sides, as each request takes a moment to be hung up on."""
    def attacker(which):
        dice = random.Random(seed + which)
        for _ in range(requests // ATTACKERS):
            send(daemon.port, malformed_request(dice))

    in_threads(attacker, ATTACKERS)


def in_threads(work, count):
    threads = [threading.Thread(target=work, args=(which,))
               for which in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hold(daemon):
    """Clients of one address, more than it may have, that do not finish."""
    held = []
    for _ in range(400):
        held.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.0.2", 0)))
        with contextlib.suppress(OSError):      # one too many: turned away
            held[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
    return held


def scrape_in_parallel(daemon):
    """Threads, all of which hold a connection and use it again; their failures."""
    failures = []

    def scraper(_):
        try:
            for _ in range(EACH):
                if up(daemon.scrape()) != 1:
                    failures.append("it is not up")
        except (OSError, Malformed) as error:
            failures.append(repr(error))

    in_threads(scraper, SCRAPERS)
    return failures


def scrape_at_once(daemon):
    """More connections at a time than are taken, all of which want an answer; how
    many have got one, and what others got."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (min(hard, AT_ONCE + soft), hard))
    good, bad, all_of_them = 0, [], []
    for i in range(AT_ONCE):
        all_of_them.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.0.%d" % (2 + i % ADDRESSES), 0)))
        all_of_them[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                                b"Connection: close\r\n\r\n")
    for one in all_of_them:
        text = b""
        with one, contextlib.suppress(OSError):
            while part := one.recv(65536):
                text += part
        if text.startswith(b"HTTP/1.1 200 ") and text.endswith(b"\n") and \
                b"\nuncore_up 1\n" in text:
            good += 1
        else:
            bad.append(repr(text[:80]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return good, bad


def scrape_on(daemon, count):
    """Scrapes of one connection; how many were answered as they should."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port,
                                            timeout=LIMIT)
    good = 0
    with contextlib.closing(connection):
        for i in range(count):
            connection.request("GET", "/metrics", headers={
                "Accept": OPENMETRICS if i % 2 else PROMETHEUS})
            answer = connection.getresponse()
            text = answer.read()
            good += answer.status == 200 and \
                b"\nuncore_up 1\n" in text
    return good


def test_many(tap, daemon, scrapes):
    good, bad = scrape_at_once(daemon)
    tap.ok(good == AT_ONCE and not bad,
           "%d scrapes at once, more than there may be connections: all are "
           "answered" % AT_ONCE, ["%d were" % good, *bad])
    daemon.wait_until_answered()
    scrape_on(daemon, 1000)
    before = daemon.memory()
    good = scrape_on(daemon, scrapes)
    after = daemon.memory()
    tap.ok(good == scrapes, "%d scrapes of one connection" % scrapes,
           ["%d were answered" % good])
    tap.ok(after - before < MEMORY, "and its memory is the same",
           ["%d kB, then %d kB" % (before, after)])
    tap.say("%d scrapes: %d kB, then %d kB" % (scrapes, before, after))


def test_attacks(tap, daemon, malformed):
    # As many at once as ever: its memory is then what it will be.
    for one in hold(daemon):
        one.close()
    daemon.wait_until_answered()
    attack(daemon, MALFORMED // 2, 331051)
    daemon.wait_until_answered()
    failures = scrape_in_parallel(daemon)
    before, start = daemon.memory(), time.monotonic()
    reads = value(daemon.scrape(), "uncore_reads_total")
    failures += scrape_in_parallel(daemon)
    reads = value(daemon.scrape(), "uncore_reads_total") - reads
    most = 20 * (time.monotonic() - start) + 2
    tap.ok(not failures, "%d scrapers at once, %d scrapes each" %
           (SCRAPERS, EACH), failures)
    tap.ok(reads <= most, "scrapes within 50 ms share a read",
           ["%d reads, at most %d" % (reads, most)])
    attack(daemon, malformed, 331052)
    daemon.wait_until_answered()
    after = daemon.memory()
    tap.ok(up(daemon.scrape()) == 1 and
           daemon.process.poll() is None,
           "after %d malformed requests it answers" % malformed)
    tap.ok(after - before < 6 * MEMORY, "and its memory is the same",
           ["%d kB, then %d kB" % (before, after)])
    tap.say("%d malformed requests: %d kB, then %d kB" % (malformed, before,
                                                          after))


def test_slow(tap, daemon):
    """Clients that hold connections: those of one address leave room for others,
    and none is kept for longer than a request may take."""
    held = hold(daemon)
    tap.ok(up(daemon.scrape()) == 1,
           "while 400 slow clients of one address wait, others are answered")
    # A byte now and then does not make it longer.
    drop, ended = held[0], False
    deadline = time.monotonic() + LIMIT
    drop.settimeout(0.5)
    while not ended and time.monotonic() < deadline:
        try:
            drop.sendall(b"x")
            ended = drop.recv(1) == b""
        except TimeoutError:
            pass
        except OSError:
            ended = True
    tap.ok(ended, "one that sends a byte now and then is hung up on")
    left = 0
    for one in held[1:]:
        one.settimeout(max(1, deadline - time.monotonic()))
        try:
            while one.recv(4096):
                pass
        except TimeoutError:
            left += 1
        except OSError:
            pass
    tap.ok(not left, "and so are those that send nothing",
           ["%d are still held" % left])
    for one in held:
        one.close()


def crowd(daemon, count, addresses, request):
    """Connections of several addresses, each with the beginning of a request."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (min(hard, count + soft), hard))
    held = []
    for i in range(count):
        held.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.1.%d" % (1 + i % addresses), 0)))
        with contextlib.suppress(OSError):      # it had to give way
            held[-1].sendall(request)
    return held


def slowest_scrape(daemon, count=5):
    """In seconds."""
    slowest = 0
    for _ in range(count):
        start = time.monotonic()
        good = up(daemon.scrape()) == 1
        slowest = max(slowest, time.monotonic() - start if good else LIMIT)
    return slowest


def test_crowd(tap, daemon):
    """More slow clients than there may be connections, of many addresses; more
    event streams than there may be. Who asks and goes is answered at once."""
    for name, request, count in (
            ("slow connections", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n",
             1500),
            ("event streams", b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n",
             500)):
        before = daemon.memory()
        held = crowd(daemon, count, 8, request)
        slowest = slowest_scrape(daemon)
        tap.ok(slowest < 1, "%d %s of 8 addresses: scrapes take less than a "
               "second" % (count, name), ["%.3f s" % slowest])
        tap.say("the slowest took %.3f s; memory %d kB, then %d kB" %
                (slowest, before, daemon.memory()))
        for one in held:
            one.close()
    daemon.wait_until_answered()


# --- how it may be reached ---------------------------------------------------------

def answer_of(family, address, port, host):
    """The status line's number for a request with that Host header."""
    with socket.socket(family) as to:
        to.settimeout(LIMIT)
        to.connect((address, port))
        to.sendall(b"GET /livez HTTP/1.1\r\nHost: %s\r\n"
                   b"Connection: close\r\n\r\n" % host)
        text = b""
        while part := to.recv(4096):
            text += part
    return int(text.split()[1])


def test_listeners(tap, sysfs):
    """Several addresses, one of which is all of the machine's; whose Host headers
    are taken."""
    with Daemon("--sysfs", sysfs, "serve", "--listen", "[::]:0", "--allow-host",
                "uncore.example") as daemon:
        said = daemon.said
        match = re.search(r"http://\[::\]:(\d+)/metrics\n", said)
        every = int(match[1]) if match else 0
        got = [answer_of(socket.AF_INET6, "::1", every, b"a.example"),
               answer_of(socket.AF_INET, "127.0.0.1", every, b"a.example"),
               answer_of(socket.AF_INET, "127.0.0.1", daemon.port,
                         b"localhost")] if every else []
        tap.ok(got == [200] * 3, "[::] is IPv4's addresses as well, beside "
               "another --listen", [said, repr(got)])
        name = socket.gethostname().encode()
        for host, want in ((b"127.0.0.1:%d" % daemon.port, 200),
                           (b"localhost", 200), (b"LOCALHOST:1", 200),
                           (b"[::1]:1", 200), (name, 200),
                           (b"uncore.example:80", 200),
                           (b"rebound.example", 403), (b"127.0.0.1.a", 403),
                           (b"localhost.example", 403), (b"192.0.2.1", 403),
                           (b"[::2]", 403), (b"[", 403), (b"", 403),
                           (b"x" * 4000, 403), (b"%s\xff" % name, 403)):
            status = answer_of(socket.AF_INET, "127.0.0.1", daemon.port, host)
            tap.ok(status == want, "Host: %r on a loopback address: %d" %
                   (host[:20], want), ["%d" % status])


class UnixConnection(http.client.HTTPConnection):
    """To a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT)
        self.sock.connect(self.path)


def ask_unix(path, what, host="localhost"):
    connection = UnixConnection(path)
    with contextlib.closing(connection):
        connection.request("GET", what, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_unix(tap, folder, sysfs):
    """A socket for a proxy of this machine, which checks what clients show."""
    path = os.path.join(folder, "socket")
    for before in ("", " that a killed one left"):
        with Daemon("--sysfs", sysfs, "serve", "--listen", "unix:" + path) as daemon:
            status, text = ask_unix(path, "/metrics", "proxy.example")
            tap.ok(status == 200 and "\nuncore_up 1\n" in text and
                   "listening on unix:%s\n" % path in daemon.said,
                   "a unix socket%s answers for any name" % before,
                   [daemon.said, text[:200]])
            if not before:
                daemon.send(signal.SIGKILL)
                daemon.process.wait(timeout=LIMIT)
                continue
            one_line(tap, "a socket in use",
                     run("--sysfs", sysfs, "serve", "--listen", "unix:" + path), 1,
                     "another program listens")
            tap.ok(ask_unix(path, "/livez")[0] == 200, "which stays in use")
            daemon.end()
            tap.ok(not os.path.exists(path), "and is removed at the end")


def certificates(folder, names):
    """{name: [certificate, key]}, each self-signed."""
    files = {}
    for name in names:
        files[name] = [os.path.join(folder, name + end)
                       for end in (".crt", ".key")]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
             "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1,DNS:" + name,
             "-out", files[name][0], "-keyout", files[name][1]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
            timeout=LIMIT)
    return files


def ask(daemon, path="/livez", client=None):
    """(status, body, certificate) over TLS; status 0 where the handshake fails."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if client:
        context.load_cert_chain(*client)
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port,
                                             timeout=LIMIT, context=context)
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            # "Connection: close" closes the socket with the body
            its = connection.sock.getpeercert(True) if connection.sock else b""
            return answer.status, answer.read().decode(), its
        except (OSError, http.client.HTTPException):
            return 0, "", b""


def shown(daemon):
    """The certificate that a client is shown now, in PEM."""
    return ssl.DER_cert_to_PEM_cert(ask(daemon)[2])


def replace(files, targets):
    for new, old in zip(files, targets):
        shutil.copy(new, old + ".new")
        os.rename(old + ".new", old)


def test_reload(tap, folder, sysfs, files):
    """Certificates that change under it."""
    used = [os.path.join(folder, "used" + end) for end in (".crt", ".key")]
    pem = {}
    for name, its in files.items():
        with open(its[0], encoding="ascii") as file:
            pem[name] = file.read()
    replace(files["one"], used)
    with Daemon("--sysfs", sysfs, "serve", "--tls-cert", used[0], "--tls-key",
                used[1], scheme="https") as daemon:
        tap.ok(shown(daemon) == pem["one"], "it shows its certificate")
        replace(files["two"], used)
        deadline = time.monotonic() + LIMIT
        while shown(daemon) != pem["two"] and time.monotonic() < deadline:
            time.sleep(0.2)
        tap.ok(shown(daemon) == pem["two"],
               "a certificate that is replaced is shown from then on")
        said = daemon.more("loaded again")
        # garbage, and then nothing
        for text in ("garbage", ""):
            write(used[0], text)
            time.sleep(1.1)
            kept = [shown(daemon) == pem["two"] for _ in range(3)]
            time.sleep(1.1)
            kept.append(shown(daemon) == pem["two"])
            said = daemon.more("\n")
            tap.ok(kept == [True] * 4 and said.count("\n") == 1 and
                   used[0] in said and "stays" in said,
                   "%s instead: the one before stays, and one line says so" %
                   (text or "nothing"), [repr(kept), said])
        replace(files["one"], used)
        daemon.send(signal.SIGHUP)
        said = daemon.more("loaded again")
        tap.ok("loaded again" in said and shown(daemon) == pem["one"],
               "SIGHUP has it read them at once", [said])
        status, _ = daemon.end()
        tap.ok(status == 0, "and it ends as ever", ["status %d" % status])


def test_client_certificates(tap, folder, sysfs, files):
    """Clients have to show a certificate, but to a listener for probes."""
    authorities = os.path.join(folder, "clients.crt")
    probes = os.path.join(folder, "probes")
    shutil.copy(files["two"][0], authorities)
    options = ["--tls-cert", files["one"][0], "--tls-key", files["one"][1],
               "--tls-client-ca", authorities]
    with Daemon("--sysfs", sysfs, "serve", *options, "--listen-health",
                "unix:" + probes, scheme="https") as daemon:
        for name, client, path, want in (
                ("none", None, "/metrics", 0),
                ("another authority's", files["one"], "/metrics", 0),
                ("this authority's", files["two"], "/metrics", 200)):
            got = ask(daemon, path, client)
            tap.ok(got[0] == want, "client certificates: %s: %d" % (name, want),
                   [repr(got[:2])])
        tap.ok(ask(daemon)[0] == 0, "/livez needs one there as well")
        got = [ask_unix(probes, path)[0] for path in
               ("/livez", "/readyz", "/healthz", "/metrics", "/", "/events")]
        tap.ok(got == [200] * 3 + [404] * 3,
               "a listener for probes answers these, without one", [repr(got)])
        write(authorities, "garbage")
        daemon.send(signal.SIGHUP)
        said = daemon.more("stays")
        got = [ask(daemon, "/metrics", files[name])[0] for name in ("one", "two")]
        tap.ok(got == [0, 200] and authorities in said,
               "authorities replaced by garbage: those before stay",
               [said, repr(got)])
        replace(files["one"][:1], [authorities])
        daemon.send(signal.SIGHUP)
        said = daemon.more("loaded again")
        got = [ask(daemon, "/metrics", files[name])[0] for name in ("one", "two")]
        tap.ok(got == [200, 0], "others replace them", [said, repr(got)])
        status, _ = daemon.end()
        tap.ok(status == 0 and not os.path.exists(probes), "it ends as ever",
               ["status %d" % status])
    with Daemon("--sysfs", sysfs, "serve", "--listen-health", "127.0.0.1:0") as daemon:
        tap.ok(daemon.request("/livez")[0] == 200 and up(daemon.scrape()) == 1,
               "a listener for probes changes nothing without TLS")
    one_line(tap, "authorities: none", run(
        "--sysfs", sysfs, "serve", "--listen", "127.0.0.1:0", *options[:5],
        folder + "/no.crt"), 1, "no.crt")


# --- drivers that are reloaded -----------------------------------------------------

def clock_cycles(samples):
    return value(samples, "uncore_memory_clock_cycles_total", socket="0",
                 channel="0")


def test_late_driver(tap, folder):
    """It is started before the driver is loaded."""
    sysfs = os.path.join(folder, "no-driver")
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        none = daemon.fresh()
        answers = [daemon.request(path)[0] for path in ("/readyz", "/livez",
                                                        "/", "/events")[:3]]
        tap.ok(up(none) == 0 and clock_cycles(none) is None and
               [dict(labels)["reason"] for name, labels in none
                if name == "uncore_down_info"] == ["no_driver"] and
               answers == [503, 200, 200],
               "without a driver it runs, is not up and says why",
               [repr(none), repr(answers)])
        make_pmu(sysfs)
        there = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(clock_cycles(there) is not None and
               daemon.request("/readyz")[0] == 200,
               "when the driver comes, it is", [repr(there)])
        status, said = daemon.end()
        tap.ok(status == 0, "SIGTERM ends it", ["status %d" % status, said])


def test_driver(tap, sysfs):
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        before = daemon.wait_for(clock_cycles)
        errors = value(before, "uncore_read_errors_total")
        os.rename(os.path.join(sysfs, PMU), os.path.join(sysfs, "aside"))
        gone = daemon.wait_for(lambda now: up(now) == 0)
        tap.ok(up(gone) == 0 and clock_cycles(gone) is None and
               value(gone, "uncore_read_errors_total") > errors,
               "without PMUs: not up, no series, and an error more",
               [repr(gone)])
        answers = [daemon.request(path) for path in ("/readyz", "/livez",
                                                     "/healthz")]
        tap.ok([one[0] for one in answers] == [503, 200, 200] and
               "no uncore driver" in answers[0][2],
               "it lives, and is not ready: /readyz says why",
               [repr(one) for one in answers])
        make_pmu(sysfs, package=False)
        back = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(clock_cycles(before) > 0 and
               (clock_cycles(back) or 0) >= clock_cycles(before) and
               value(back, "uncore_opens_total") == 2,
               "when they are back, counts continue", [repr(back)])
        shutil.rmtree(os.path.join(sysfs, "aside"))

        daemon.send(signal.SIGUSR1)
        gone = daemon.wait_for(lambda now: up(now) == 0)
        tap.ok(up(gone) == 0 and clock_cycles(gone) is None,
               "SIGUSR1: the counters are released", [repr(gone)])
        links, fds = [], "/proc/%d/fd/" % daemon.process.pid
        for fd in os.listdir(fds):
            with contextlib.suppress(OSError):      # closed since
                links.append(os.readlink(fds + fd))
        tap.ok(not [link for link in links if "perf" in link],
               "and nothing keeps the driver", links)
        still = daemon.fresh()
        tap.ok(up(still) == 0,
               "as long as the same driver is there")
        os.rename(os.path.join(sysfs, PMU), os.path.join(sysfs, "aside"))
        make_pmu(sysfs, package=False)
        again = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok((clock_cycles(again) or 0) >= clock_cycles(back),
               "with another one they are opened, and counts continue",
               [repr(again)])
        shutil.rmtree(os.path.join(sysfs, "aside"))
        daemon.send(signal.SIGUSR1)
        daemon.wait_for(lambda now: up(now) == 0)
        daemon.send(signal.SIGUSR2)
        last = daemon.wait_for(lambda now: up(now) == 1)
        tap.ok(up(last) == 1, "SIGUSR2 opens them as well")
        status, said = daemon.end()
        tap.ok(status == 0 and said.count("\n") < 10, "SIGTERM ends it",
               ["status %d" % status, *said.splitlines()])
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        daemon.send(signal.SIGHUP)
        tap.ok(up(daemon.fresh()) == 1,
               "SIGHUP does not end it")
        status, said = daemon.end(signal.SIGINT)
        tap.ok(status == -signal.SIGINT and not said,
               "SIGINT ends it as it ends others",
               ["status %d" % status, said])


# --- without HTTP ------------------------------------------------------------------

def test_files(tap, folder, sysfs):
    done = run("--sysfs", sysfs, "serve", "--json", "-d", "0.1")
    names = [one["name"] for one in json.loads(done.stdout)["metrics"]] \
        if done.returncode == 0 else []
    tap.ok("uncore_memory_bytes_total" in names, "--json prints once",
           comments(done))
    place = os.path.join(folder, "textfiles")
    os.mkdir(place)
    done = run("--sysfs", sysfs, "serve", "--textfile", place, "-d", "0.1")
    path = os.path.join(place, "uncore.prom")
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    samples = check_text(tap, "a textfile", text or "\n", False)
    tap.ok(done.returncode == 0 and os.listdir(place) == ["uncore.prom"] and
           up(samples) == 1 and
           os.stat(path).st_mode & 0o777 == 0o644,
           "--textfile writes uncore.prom, for all to read", comments(done))
    tap.ok(not [name for name, _ in samples if name.startswith("process_")],
           "without series of node_exporter itself")

    age = time.time() - (value(samples, "uncore_textfile_timestamp_seconds") or 0)
    tap.ok(0 <= age < LIMIT and
           value(samples, "uncore_textfile_interval_seconds") is None,
           "and with the time at which it was written", ["%g s ago" % age])

    with started(
            [UNCORE, "--sysfs", sysfs, "serve",
             "--textfile", os.path.join(place, "other.prom"), "-I", "100"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8") as process:
        try:
            seen = False
            deadline = time.monotonic() + LIMIT
            while not seen and time.monotonic() < deadline:
                time.sleep(0.05)
                with contextlib.suppress(OSError), \
                        open(os.path.join(place, "other.prom"),
                             encoding="utf-8") as file:
                    text = file.read()
                    reads = re.search(r"^uncore_reads_total (\d+)$", text, re.M)
                    seen = reads and int(reads[1]) >= 5 and \
                        "\nuncore_textfile_interval_seconds 0.1\n" in text
            process.terminate()
            out, err = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    tap.ok(seen and process.returncode == 0 and not out + err and
           os.listdir(place) == ["uncore.prom"],
           "-I writes again and again, and the file goes with the program",
           [out, err, *os.listdir(place)])
    with started([UNCORE, "--sysfs", sysfs, "serve", "--json", "-d", "100"],
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8") as process:
        time.sleep(1)
        process.terminate()
        out, err = process.communicate(timeout=LIMIT)
    tap.ok(process.returncode == -signal.SIGTERM and not out + err,
           "--json that a signal ends has printed nothing, and no success",
           ["status %d" % process.returncode, out, err])
    one_line(tap, "a folder that is not there",
             run("--sysfs", sysfs, "serve", "--textfile",
                 folder + "/none/x.prom", "-d", "0.1"), 1, "none/x.prom")


def test_tls(tap, folder, sysfs):
    if not shutil.which("openssl"):
        tap.skip("HTTPS", "no openssl here")
        return
    files = certificates(folder, ("one", "two"))
    test_reload(tap, folder, sysfs, files)
    test_client_certificates(tap, folder, sysfs, files)
    certificate, key = files["one"]
    with Daemon("--sysfs", sysfs, "serve", "--tls-cert", certificate,
                "--tls-key", key, scheme="https") as daemon:
        context = ssl.create_default_context(cafile=certificate)
        with socket.create_connection(("127.0.0.1", daemon.port),
                                      timeout=LIMIT) as plain, \
                context.wrap_socket(plain, server_hostname="127.0.0.1") as to:
            to.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                       b"Connection: close\r\n\r\n")
            text = b""
            while part := to.recv(4096):
                text += part
            tap.ok(text.startswith(b"HTTP/1.1 200") and
                   text.endswith(b"\r\n\r\nok\n") and
                   to.version() in ("TLSv1.2", "TLSv1.3"),
                   "HTTPS, by %s" % to.version(), [repr(text)])
        send(daemon.port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        attack(daemon, 50, 1)
        status, _ = daemon.end()
        tap.ok(status == 0, "it ends after plain HTTP was sent to it")
    listen = ["--sysfs", sysfs, "serve", "--listen", "127.0.0.1:0"]
    for name, crt, its, words in (
            ("none", folder + "/no.crt", key, ["no.crt"]),
            ("no key", certificate, folder + "/no.key", ["no.key"]),
            ("a folder", folder, key, [folder]),
            ("another's key", certificate, files["two"][1], ["certificate"]),
            ("an empty file", "/dev/null", key, ["/dev/null", "empty"]),
            ("an empty key", certificate, "/dev/null", ["/dev/null", "empty"]),
            ("no certificate", "/proc/version", key, ["certificate"])):
        one_line(tap, "a certificate: " + name,
                 run(*listen, "--tls-cert", crt, "--tls-key", its), 1, *words)


def test_unit(tap):
    unit = os.path.join(TOP, "build", "userspace", "cli",
                        "uncore-serve.service")
    if not shutil.which("systemd-analyze"):
        tap.skip("the unit's exposure", "no systemd-analyze here")
        return
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--no-pager", unit],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        timeout=LIMIT, check=False)
    match = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
    if not match and "nknown" in done.stdout:
        tap.skip("the unit's exposure", "systemd-analyze is too old")
        return
    tap.ok(match and float(match[1]) <= 2.0,
           "the unit's exposure is %s" % (match[1] if match else "unknown"),
           done.stdout.splitlines()[-20:])
    with open(unit, encoding="utf-8") as file:
        text = file.read()
    tap.ok(re.findall(r"^(?:Ambient|Bounding)\w*=.*|^Capability\w+=.*", text,
                      re.M) and
           set(re.findall(r"CAP_\w+", text)) == {"CAP_PERFMON", "CAP_BPF"},
           "its capabilities are CAP_PERFMON and CAP_BPF", text.splitlines())


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
            status, said = daemon.end()
            tap.ok(status == 0 and not said, "after all that it ends as ever",
                   ["status %d" % status, *said.splitlines()])
        test_processors(tap, folder)
        test_late_driver(tap, folder)
        test_driver(tap, sysfs)
        test_listeners(tap, sysfs)
        test_unix(tap, folder, sysfs)
        test_tls(tap, folder, sysfs)
    tap.end()


if __name__ == "__main__":
    main()
