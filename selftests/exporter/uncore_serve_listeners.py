# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses and unix sockets on which uncore serve listens, and the Host headers that
it accepts: a part of uncore_serve.py, which runs these tests."""

import contextlib
import http.client
import os
import re
import signal
import socket

from lib.python.command import LIMIT, one_line, run
from lib.python.exposition import Daemon


def answer_of(family, address, port, host):
    """Request /livez with a Host header, and return the HTTP status."""
    with socket.socket(family) as connection:
        connection.settimeout(LIMIT)
        connection.connect((address, port))
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: %s\r\n"
                           b"Connection: close\r\n\r\n" % host)
        text = b""
        while part := connection.recv(4096):
            text += part
    return int(text.split()[1])


def test_listeners(tap, sysfs):
    """Listen on 127.0.0.1 and on [::], which is all addresses of the machine. On a
    loopback address only Host headers that name this machine are accepted."""
    with Daemon("--sysfs", sysfs, "serve", "--listen", "[::]:0", "--allow-host",
                "uncore.example") as daemon:
        output = daemon.said
        match = re.search(r"http://\[::\]:(\d+)/metrics\n", output)
        every = int(match[1]) if match else 0
        got = [answer_of(socket.AF_INET6, "::1", every, b"a.example"),
               answer_of(socket.AF_INET, "127.0.0.1", every, b"a.example"),
               answer_of(socket.AF_INET, "127.0.0.1", daemon.port,
                         b"localhost")] if every else []
        tap.ok(got == [200] * 3, "[::] is IPv4's addresses as well, beside "
               "another --listen", [output, repr(got)])
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
    """An HTTP connection to a unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=LIMIT)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LIMIT)
        self.sock.connect(self.path)


def ask_unix(path, url, host="localhost"):
    """Request a URL over a unix socket. Return (status, body)."""
    connection = UnixConnection(path)
    with contextlib.closing(connection):
        connection.request("GET", url, headers={"Host": host})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_unix(tap, folder, sysfs):
    """A unix socket for a reverse proxy on this machine. The proxy checks its clients,
    so any Host header is accepted."""
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
