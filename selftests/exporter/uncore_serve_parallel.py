# SPDX-License-Identifier: GPL-2.0-or-later
"""Many scrapes of uncore serve, in parallel and one after the other, and clients that
hold connections: a part of uncore_serve.py, which runs these tests."""

import contextlib
import http.client
import resource
import socket
import threading
import time

from lib.python.command import LIMIT
from lib.python.exposition import OPENMETRICS, PROMETHEUS, Malformed, up

SCRAPES = 10000
SCRAPERS, EACH = 100, 4             # threads, and scrapes of each
AT_ONCE, ADDRESSES = 1000, 4        # connections at a time, and their source addresses
# Allowed memory growth of the daemon from its first peak to the end: a leak of 100
# bytes a scrape, or a tenth of that with 10^5 scrapes.
MEMORY = 1024               # kB


def in_threads(work, count):
    """Run work(number) in @count threads, and wait for their ends."""
    threads = [threading.Thread(target=work, args=(number,))
               for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hold(daemon):
    """Open 400 connections from one address, each with an unfinished request. Return
    the connections."""
    held = []
    for _ in range(400):
        held.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.0.2", 0)))
        with contextlib.suppress(OSError):      # the daemon has closed the connection
            held[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
    return held


def scrape_in_parallel(daemon):
    """Scrape EACH times from each of SCRAPERS threads. Return the failures."""
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
    """Open AT_ONCE connections, more than the daemon serves at a time, each with a
    request. Return the number of good answers, and the beginnings of the others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (min(hard, AT_ONCE + soft), hard))
    good, bad, connections = 0, [], []
    for i in range(AT_ONCE):
        connections.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.0.%d" % (2 + i % ADDRESSES), 0)))
        connections[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                                b"Connection: close\r\n\r\n")
    for connection in connections:
        text = b""
        with connection, contextlib.suppress(OSError):
            while part := connection.recv(65536):
                text += part
        if text.startswith(b"HTTP/1.1 200 ") and text.endswith(b"\n") and \
                b"\nuncore_up 1\n" in text:
            good += 1
        else:
            bad.append(repr(text[:80]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return good, bad


def scrape_on(daemon, count):
    """Scrape @count times over one connection. Return the number of good answers."""
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


def test_slow(tap, daemon):
    """Slow clients: many connections of one address do not keep other addresses out,
    and the daemon closes a connection whose request takes too long."""
    held = hold(daemon)
    tap.ok(up(daemon.scrape()) == 1,
           "while 400 slow clients of one address wait, others are answered")
    # A client that sends a byte now and then does not extend the time limit.
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
    still_open = 0
    for connection in held[1:]:
        connection.settimeout(max(1, deadline - time.monotonic()))
        try:
            while connection.recv(4096):
                pass
        except TimeoutError:
            still_open += 1
        except OSError:
            pass
    tap.ok(not still_open, "and so are those that send nothing",
           ["%d are still held" % still_open])
    for connection in held:
        connection.close()


def crowd(daemon, count, addresses, request):
    """Open @count connections from @addresses source addresses and send @request on
    each. Return the connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE,
                       (min(hard, count + soft), hard))
    held = []
    for i in range(count):
        held.append(socket.create_connection(
            ("127.0.0.1", daemon.port), timeout=LIMIT,
            source_address=("127.0.1.%d" % (1 + i % addresses), 0)))
        with contextlib.suppress(OSError):      # closed in favour of a newer connection
            held[-1].sendall(request)
    return held


def slowest_scrape(daemon, count=5):
    """Return the time of the slowest of @count scrapes, in seconds."""
    slowest = 0
    for _ in range(count):
        start = time.monotonic()
        good = up(daemon.scrape()) == 1
        slowest = max(slowest, time.monotonic() - start if good else LIMIT)
    return slowest


def test_crowd(tap, daemon):
    """More slow clients than connections are allowed, of many addresses; then more
    event streams than are allowed. A scraper is answered at once in both cases."""
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
        for connection in held:
            connection.close()
    daemon.wait_until_answered()
