#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the die map's HTTP API: topology, snapshots, event streams and their limits,
recordings, and damaged recordings. No uncore PMU is needed (lib/python/fake_pmu.py).
die_map.py tests the numbers, die_map_page.py the page.
"""

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.command import LIMIT, comments, one_line, run  # noqa: E402
from lib.python.exposition import Daemon, up, value  # noqa: E402
from lib.python.fake_pmu import make_pmu, write  # noqa: E402
from lib.python.uncore import TOP, Tap  # noqa: E402

STREAMS = 32                # limit of open event streams, Documentation/die-map.rst
MANY = 120                  # boxes: a snapshot has the length of a large machine's
MUTATIONS = 60
WEB = os.path.join(TOP, "userspace", "cli", "web")


class Stream:
    """A client of /events."""

    def __init__(self, daemon, buffer=None):
        self.connection = socket.socket()
        if buffer:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.connection.settimeout(LIMIT)
        self.connection.connect(("127.0.0.1", daemon.port))
        self.connection.sendall(b"GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.text = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def read_until(self, separator):
        """Return the text before @end; None if the stream ends first."""
        while separator not in self.text:
            part = self.connection.recv(65536)
            if not part:
                return None
            self.text += part
        before, self.text = self.text.split(separator, 1)
        return before.decode()

    def status(self):
        return int(self.read_until(b"\r\n\r\n").split()[1])

    def event(self):
        text = self.read_until(b"\n\n")
        return text and json.loads(text.removeprefix("data: "))


# --- documents of the running machine ------------------------------------------------

def test_documents(tap, daemon):
    status, headers, text = daemon.request("/api/topology")
    topology = json.loads(text)
    boxes, counters = topology["boxes"], topology["counters"]
    tap.ok(status == 200 and headers["Content-Type"] == "application/json" and
           topology["format"] == "uncore-series" and topology["version"] == 1 and
           [box["pmu"] for box in boxes] == ["hswep_imc_0"] and
           boxes[0]["socket"] == 0 and boxes[0]["number"] == 0,
           "/api/topology has the machine", [text])
    tap.ok({counter["event"] for counter in counters} == {
        "hswep_imc_0/%s/" % name for name in (
            "cas_count.rd", "cas_count.wr", "dclk",
            "power_critical_throttle_cycles")}, "and its counters", [text])
    status, headers, text = daemon.request("/api/snapshot")
    snapshot = json.loads(text)
    tap.ok(len(snapshot["counts"]) == len(counters) and
           snapshot["revision"] == topology["revision"] and
           snapshot["instance"] == topology["instance"] and
           abs(snapshot["time"] - time.time()) < LIMIT,
           "/api/snapshot has a count for each", [text])
    for name in os.listdir(WEB):
        if name.endswith((".js", ".css")):
            with open(os.path.join(WEB, name), encoding="utf-8") as file:
                tap.ok(daemon.request("/" + name)[2] == file.read(),
                       "/%s is as it was built of" % name)


def make_port(sysfs, name, width, speed, device_speed=None, cpus="0", kind="0x060400"):
    """Create a PCIe root port in sysfs, and a device below it if @device_speed is
    given."""
    port = os.path.join(sysfs, "devices", "pci0000:00", name)
    write(port + "/class", kind)
    write(port + "/local_cpulist", cpus)
    write(port + "/current_link_width", width)
    write(port + "/max_link_speed", speed)
    if device_speed:
        write(port + "/0000:03:00.0/current_link_width", width)
        write(port + "/0000:03:00.0/max_link_speed", device_speed)


def test_links(tap, folder):
    """The maximum of a socket's PCIe traffic is the sum of its links that have a device
    and a known speed. A root port without a device, a port of other or more CPUs than
    the socket's, and a device of another class are not added."""
    sysfs = os.path.join(folder, "links")
    make_pmu(sysfs)
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        socket_ = json.loads(daemon.request("/api/topology")[2])["sockets"][0]
        tap.ok("pcie_bytes_per_second" not in socket_,
               "without links the PCIe maximum is unknown", [repr(socket_)])
    make_port(sysfs, "0000:00:01.0", "16", "8.0 GT/s PCIe", "16.0 GT/s PCIe")
    make_port(sysfs, "0000:00:02.0", "4", "8.0 GT/s PCIe", "5.0 GT/s PCIe")
    make_port(sysfs, "0000:00:03.0", "8", "8.0 GT/s PCIe")
    make_port(sysfs, "0000:00:04.0", "8", "Unknown", "8.0 GT/s PCIe")
    make_port(sysfs, "0000:00:05.0", "8", "8.0 GT/s PCIe", "8.0 GT/s PCIe", "1")
    make_port(sysfs, "0000:00:06.0", "8", "8.0 GT/s PCIe", "8.0 GT/s PCIe", "0-7")
    make_port(sysfs, "0000:00:07.0", "8", "8.0 GT/s PCIe", "8.0 GT/s PCIe",
              kind="0x020000")
    with Daemon("--sysfs", sysfs, "serve") as daemon:
        socket_ = json.loads(daemon.request("/api/topology")[2])["sockets"][0]
        want = 16 * 8e9 / 8 * 128 / 130 + 4 * 5e9 / 8 * 8 / 10
        tap.ok(abs(socket_.get("pcie_bytes_per_second", 0) - want) < 1,
               "width times speed of the links that are up, of this socket",
               [repr(socket_), "%f" % want])


def test_policy(tap, daemon):
    """The content security policy permits scripts, styles and requests from the page's
    own server only; the page has no inline script or style."""
    _, headers, page = daemon.request("/")
    policy = headers["Content-Security-Policy"]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    tap.ok(parts["default-src"] == "'none'" and
           parts["frame-ancestors"] == "'none'" and
           {parts[name] for name in ("script-src", "style-src",
                                     "connect-src")} == {"'self'"} and
           "unsafe" not in policy, "the policy lets in its own files only", [policy])
    links = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    tap.ok(len(links) > 3 and not
           [link for link in links
            if not re.match(r"[a-z][a-z.\-/]*$|data:,$", link)] and
           not re.search(r"<style|\son\w+=|style=|<script(?![^>]*src)", page),
           "and the page needs no other, by paths that are relative", links)


def test_stream(tap, daemon):
    with Stream(daemon) as stream:
        status = stream.status()
        events = [stream.event() for _ in range(4)]
        gaps = [now["seconds"] - before["seconds"]
                for before, now in zip(events, events[1:])
                if now["seconds"] != before["seconds"]]
        grown = [now["counts"][0] - before["counts"][0]
                 for before, now in zip(events, events[1:])
                 if now["seconds"] != before["seconds"]]
        tap.ok(status == 200 and len(gaps) >= 2 and min(gaps) > 0.9,
               "/events has a snapshot a second, and no more", [repr(gaps)])
        tap.ok(min(grown) > 0, "with counts that continue", [repr(grown)])
        start = time.monotonic()
        reads = value(daemon.scrape(), "uncore_reads_total")
        stream.event()
        for _ in range(10):
            now = value(daemon.scrape(), "uncore_reads_total")
        tap.ok(now - reads <= 20 * (time.monotonic() - start) + 2,
               "which scrapes share", ["%d, then %d reads" % (reads, now)])
    status, headers, text = daemon.request("/events", method="HEAD")
    tap.ok(status == 200 and not text and
           headers["Content-Type"] == "text/event-stream", "HEAD of it ends")


def test_many_streams(tap, daemon):
    with contextlib.ExitStack() as held:
        streams = [held.enter_context(Stream(daemon)) for _ in range(STREAMS)]
        statuses = [stream.status() for stream in streams]
        tap.ok(statuses == [200] * STREAMS, "%d streams at a time" % STREAMS,
               [repr(statuses)])
        status, _, text = daemon.request("/events")
        tap.ok(status == 503 and text.count("\n") == 1 and str(STREAMS) in text,
               "one more: 503, in a line", ["%d %s" % (status, text)])
        tap.ok(up(daemon.scrape()) == 1 and
               all(stream.event() for stream in streams),
               "and scrapes and streams continue")
        streams[0].connection.close()
        deadline, status = time.monotonic() + LIMIT, 503
        while status == 503 and time.monotonic() < deadline:
            time.sleep(0.2)
            with Stream(daemon) as again:
                status = again.status()
        tap.ok(status == 200, "when one has closed, another is accepted",
               ["%d" % status])
    daemon.request("/healthz")


def sockets_of(daemon):
    """Return the number of sockets that the daemon has open."""
    folder, count = "/proc/%d/fd/" % daemon.process.pid, 0
    for fd in os.listdir(folder):
        with contextlib.suppress(OSError):      # the daemon has closed this fd
            count += os.readlink(folder + fd).startswith("socket:")
    return count


def test_slow_reader(tap, sysfs):
    """An event stream whose client reads nothing is closed; other streams continue."""
    with Daemon("--sysfs", sysfs, "serve") as daemon, Stream(daemon) as good:
        good.status()
        good.event()
        before = sockets_of(daemon)
        with Stream(daemon, buffer=2304):
            deadline, seen, most = time.monotonic() + LIMIT, 0, before
            while most == before and time.monotonic() < deadline:
                good.event()
                most = sockets_of(daemon)
            while sockets_of(daemon) >= most and time.monotonic() < deadline:
                seen += bool(good.event())
            after = sockets_of(daemon)
        tap.ok(most == before + 1 and after == before,
               "a client that takes nothing is hung up on",
               ["%d, %d, then %d sockets" % (before, most, after)])
        tap.ok(seen and good.event(), "while others get their snapshots",
               ["%d" % seen])
        status, output = daemon.end()
        tap.ok(status == 0 and not output,
               "SIGTERM ends it while streams are open",
               ["status %d" % status, output])


# --- recordings ----------------------------------------------------------------------

def record(tap, folder, sysfs):
    """Record some seconds, check the recording, and return its lines."""
    path = os.path.join(folder, "good.series")
    result = run("--sysfs", sysfs, "record", "--series", path, "--", "sleep", "2.5")
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    parts = [json.loads(line) for line in lines]
    shots = parts[1:-1]
    tap.ok(result.returncode == 0 and parts[0]["format"] == "uncore-series" and
           len(shots) >= 2 and all(len(shot["counts"]) ==
                                   len(parts[0]["counters"]) for shot in shots) and
           parts[-1] == {"end": True, "snapshots": len(shots)},
           "record --series: the machine, snapshots, an end", comments(result))
    tap.ok(all(now["seconds"] > before["seconds"] and
               now["counts"][0] > before["counts"][0]
               for before, now in zip(shots, shots[1:])), "which continue")
    tap.ok("limits" not in parts[0] and not
           [shot for shot in shots if "instance" in shot or "revision" in shot] and
           {limit["box"] for limit in replay(path)[0]["limits"]} >= {"imc", "qpi"},
           "without what boxes can do at most, which the program knows that shows it")
    return lines


def test_recording(tap, folder, sysfs):
    for arguments, words in (
            (["--series", folder + "/x", "-e", "cpu-clock"], ["--series"]),
            (["--series", folder + "/x", "--folded"], ["--series"]),
            ([], ["--event", "--series"])):
        one_line(tap, "record %s: refused" % " ".join(arguments[2:]),
                 run("record", *arguments), 2, *words)
    one_line(tap, "record --series into no folder",
             run("--sysfs", sysfs, "record", "--series", folder + "/no/x", "-d",
                 "0.1"), 1, "no/x")
    empty = os.path.join(folder, "none")
    os.makedirs(os.path.join(empty, "bus/event_source/devices"))
    os.makedirs(os.path.join(empty, "devices/system/cpu"))
    kept = os.path.join(folder, "kept")
    with open(kept, "w", encoding="ascii") as file:
        file.write("kept")
    one_line(tap, "record --series without a driver",
             run("--sysfs", empty, "record", "--series", kept, "-d", "0.1"), 1,
             "no uncore driver")
    with open(kept, encoding="ascii") as file:
        tap.ok(file.read() == "kept", "keeps the old file")
    if os.path.exists("/dev/full"):
        one_line(tap, "record --series on a full disk",
                 run("--sysfs", sysfs, "record", "--series", "/dev/full", "-d",
                     "0.1"), 1, "/dev/full")
    for option in ("--json", "--textfile=" + folder):
        one_line(tap, "serve --replay with %s: refused" % option.split("=")[0],
                 run("serve", "--replay", kept, option), 2, "--replay")


def replay(path):
    """Serve a recording. Return (topology, snapshots, standard error)."""
    with Daemon("serve", "--replay", path, replay=True) as daemon:
        topology = json.loads(daemon.request("/api/topology")[2])
        snapshots = [json.loads(line) for line in
                     daemon.request("/api/recording")[2].splitlines()]
        for unknown in ("/events", "/api/snapshot", "/metrics"):
            if daemon.request(unknown)[0] != 404:
                raise RuntimeError("a replay has " + unknown)
        status, more = daemon.end()
        if status or more:
            raise RuntimeError("it ended with %d: %s" % (status, more))
        return topology, snapshots, daemon.said


def test_replay(tap, folder, lines):
    """Recordings with a damaged line, without an end, or with the header of another
    machine or of a newer version are shown as far as possible, with a notice of each
    defect."""
    path = os.path.join(folder, "some.series")
    header, shots, end = lines[0], lines[1:-1], lines[-1]
    other_machine = json.loads(header)
    other_machine["machine"]["host"] = "<b>elsewhere</b>"
    newer = json.loads(header)
    newer.update(version=2, news=[[[1]]])
    back = json.loads(shots[0])
    deep = header[:-1] + ',"x":' + "[" * 50000 + "]" * 50000 + "}"
    for name, text, kept, words in (
            ("as it was recorded", lines, len(shots), []),
            ("without its end", lines[:-1], len(shots), ["cut short"]),
            ("cut short within a line", [*lines[:-2], shots[-1][:-9]],
             len(shots) - 1, ["cut short, within a line"]),
            ("cut short after the machine", [header], 0,
             ["cut short", "no counts"]),
            ("with a damaged line", [header, shots[0], "{nonsense", *shots[1:],
                                     end], len(shots), ["1 line is damaged"]),
            ("with too few counts",
             [header, json.dumps({**back, "counts": [1]}), *shots[1:], end],
             len(shots) - 1, ["1 line is damaged"]),
            ("with time that goes back", [header, *shots, shots[0], end],
             len(shots), ["1 line is damaged"]),
            ("with a problem", [header, *shots, json.dumps(
                {"time": 1, "seconds": 1e9, "problem": "gone"}), end],
             len(shots) + 1, []),
            ("of another machine", [json.dumps(other_machine), *lines[1:]], len(shots),
             ["another machine", "<b>elsewhere</b>"]),
            ("of a newer version", [json.dumps(newer), *lines[1:]], len(shots),
             ["newer version"]),
            ("with something deep", [deep, *lines[1:]], len(shots), [])):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(text))
            if "within" not in name:
                file.write("\n")
        topology, snapshots, output = replay(path)
        notices = topology["replay"]["notices"]
        tap.ok(len(snapshots) == kept and len(topology["counters"]) ==
               len(json.loads(header)["counters"]) and
               len(notices) == output.count("\n") - 1 and
               (bool(notices) == bool(words)) and
               all(any(word in notice for notice in notices) for word in words) and
               all(notice in output for notice in notices),
               "a recording %s: shown" % name,
               ["%d of %d" % (len(snapshots), kept), *notices, output])


def test_no_recordings(tap, folder, lines):
    path = os.path.join(folder, "bad.series")
    header = json.loads(lines[0])
    for name, content in (
            ("an empty file", b""), ("zeros", bytes(4096)), ("text", b"hello\n"),
            ("other JSON", b"{}\n"), ("a list", b"[1]\n"),
            ("not UTF-8", b'{"format":"uncore-series\xff","version":1}\n'),
            ("no machine", b'{"format":"uncore-series","version":1}\n'),
            ("a counter of no box", json.dumps({**header, "counters": [
                {**header["counters"][0], "box": 99}]}).encode()),
            ("boxes that are text", json.dumps({**header, "boxes": "x"}).encode()),
            ("only the end", lines[-1].encode())):
        with open(path, "wb") as file:
            file.write(content)
        one_line(tap, "serve --replay of %s" % name,
                 run("serve", "--replay", path), 1, "bad.series", "recording")
    for name in (folder, folder + "/not-there", "/dev/zero"):
        one_line(tap, "serve --replay of %s" % os.path.basename(name),
                 run("serve", "--replay", name), 1, name)


def large_recording(folder, lines):
    """Write a recording of more than 128 MiB with few lines, which are padded with
    spaces. Return its path and the number of snapshots."""
    path = os.path.join(folder, "large.series")
    shot, count = json.loads(lines[1]), 2200
    with open(path, "w", encoding="ascii") as file:
        file.write(lines[0] + "\n")
        for i in range(count):
            file.write(json.dumps({**shot, "seconds": i + 1.0}) +
                       " " * 65536 + "\n")
        file.write(json.dumps({"end": True, "snapshots": count}) + "\n")
    return path, count


def download_slowly(daemon, got):
    """Download a recording slowly, in more than the 20 seconds that a request may
    take. Store the lines and the time in @got."""
    with daemon.connected() as connection:
        connection.request("GET", "/api/recording")
        answer, start = connection.getresponse(), time.monotonic()
        text = bytearray()
        try:
            while part := answer.read(1 << 20):
                text += part
                time.sleep(0.45)
        except (OSError, http.client.HTTPException) as error:
            got["error"] = repr(error)
    got["seconds"] = time.monotonic() - start
    got["lines"] = [json.loads(line) for line in text.splitlines()]


def test_large(tap, folder, lines, meanwhile):
    """A recording that is too large for a browser: the server sends every step-th
    snapshot, also to a slow client. Then a recording that zstd has compressed."""
    path, count = large_recording(folder, lines)
    with Daemon("serve", "--replay", path, replay=True) as daemon:
        shown = json.loads(daemon.request("/api/topology")[2])["replay"]
        step = shown["step"]
        part = [json.loads(line)["seconds"] for line in daemon.request(
            "/api/recording?from=10&step=3&count=4")[2].splitlines()]
        tap.ok(part == [11, 14, 17, 20] and
               daemon.request("/api/recording?from=9999")[2] == "" and
               daemon.request("/api/recording?step=x")[0] == 400,
               "a part of a recording", [repr(part)])
        got = {}
        reader = threading.Thread(target=download_slowly, args=(daemon, got))
        reader.start()
        meanwhile()
        reader.join()
        seconds = [snapshot["seconds"] for snapshot in got["lines"]]
        tap.ok(got["seconds"] > 20 and "error" not in got and
               os.path.getsize(path) > 128 << 20 and step > 1 and
               seconds == [i + 1 for i in range(0, count, step)] and
               shown["snapshots"] == len(seconds) and
               shown["recorded"] == count and
               any("one of %d is shown" % step in notice
                   for notice in shown["notices"]),
               "more than 128 MiB, taken in more than 20 s: all arrives",
               [repr(shown), "%d lines in %.1f s" % (len(seconds),
                                                     got["seconds"]),
                got.get("error", "")])
        memory = daemon.memory()
        tap.ok(memory < 64 * 1024, "and not all of it is in memory",
               ["%d kB" % memory])
    os.remove(path)
    plain, packed = (os.path.join(folder, "some.series" + suffix)
                     for suffix in ("", ".zst"))
    with open(plain, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    subprocess.run(["zstd", "-q", "-f", plain, "-o", packed], check=True,
                   timeout=LIMIT)
    topology, snapshots, output = replay(packed)
    tap.ok(len(snapshots) == len(lines) - 2 and
           not topology["replay"]["notices"], "one that zstd has compressed",
           [output])
    with open(packed, "rb") as file:
        content = file.read()
    with open(packed, "wb") as file:
        file.write(content[:4])
    one_line(tap, "half a compressed recording",
             run("serve", "--replay", packed), 1, "some.series.zst", "recording")


def test_mutations(tap, folder, lines):
    """Recordings with random bytes replaced or removed: uncore serve refuses each with
    one line, or shows it."""
    dice, path = random.Random(331051), os.path.join(folder, "mutated.series")
    good, wrong = "\n".join(lines).encode() + b"\n", []
    for _ in range(MUTATIONS):
        text = bytearray(good)
        for _ in range(dice.randrange(1, 6)):
            at = dice.randrange(len(text))
            if dice.randrange(3):
                text[at] = dice.randrange(256)
            else:
                del text[at:at + dice.randrange(1, 200)]
        with open(path, "wb") as file:
            file.write(text)
        try:
            replay(path)
        except RuntimeError as error:
            if not re.fullmatch(r"uncore serve did not start: uncore: [^\n]*\n",
                                str(error)):
                wrong.append(str(error))
        except ValueError as error:     # the answer is not JSON
            wrong.append(repr(error))
    tap.ok(not wrong, "%d recordings with wrong bytes" % MUTATIONS, wrong)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        sysfs, large = folder + "/sys", folder + "/large"
        make_pmu(sysfs)
        for i in range(MANY):
            make_pmu(large, name="hswep_imc_%d" % i)
        trial = run("--sysfs", sysfs, "serve", "--json", "-d", "0.01")
        if trial.returncode and "CAP_PERFMON" in trial.stderr:
            tap.skip_all("no permission to count")
        with Daemon("--sysfs", sysfs, "serve") as daemon:
            test_documents(tap, daemon)
            test_policy(tap, daemon)
            test_stream(tap, daemon)
            test_many_streams(tap, daemon)
        test_links(tap, folder)
        test_slow_reader(tap, large)
        lines = record(tap, folder, sysfs)
        test_recording(tap, folder, sysfs)
        test_replay(tap, folder, lines)
        test_large(tap, folder, lines, lambda: (
            test_no_recordings(tap, folder, lines),
            test_mutations(tap, folder, lines)))
    tap.end()


if __name__ == "__main__":
    main()
