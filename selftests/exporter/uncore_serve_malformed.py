# SPDX-License-Identifier: GPL-2.0-or-later
"""Malformed HTTP requests to uncore serve: a part of uncore_serve.py, which runs
this test."""

import random
import socket
import time

from exporter.uncore_serve_parallel import (EACH, MEMORY, SCRAPERS, hold,
                                            in_threads, scrape_in_parallel)
from lib.python.command import LIMIT
from lib.python.exposition import up, value

MALFORMED = 3000
ATTACKERS = 8


def malformed_request(dice):
    """Return a random request: malformed in most cases, well formed in some."""
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
        return b"\r\n".join(lines) + b"\r\n"        # without the final empty line
    return b"\r\n".join(lines) + b"\r\n\r\n"


def send(port, data):
    """Send data on a new connection, read the answer, if any, and close it."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(0.02)     # the daemon may wait for more of the request
            while connection.recv(65536):
                pass
        except OSError:
            pass


def attack(daemon, requests, seed):
    """Send malformed requests from ATTACKERS threads in parallel, as each connection
    takes some time until it is closed."""
    def attacker(thread):
        dice = random.Random(seed + thread)
        for _ in range(requests // ATTACKERS):
            send(daemon.port, malformed_request(dice))

    in_threads(attacker, ATTACKERS)


def test_attacks(tap, daemon, malformed):
    # Bring the daemon's memory to its peak, by as many connections at a time as it
    # accepts, before measuring the memory.
    for connection in hold(daemon):
        connection.close()
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
