#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test a die map that stays open in a real Chromium while its server stalls, is restarted,
is replaced by another machine's server, and while a CPU comes online; then behind a path
prefix, in many tabs, and without shared workers. No uncore PMU is needed
(lib/python/fake_pmu.py).
"""

import contextlib
import ctypes
import http.client
import http.server
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python import chromium  # noqa: E402
from lib.python.command import run  # noqa: E402
from lib.python.exposition import Daemon  # noqa: E402
from lib.python.fake_pmu import make_pmu, write  # noqa: E402
from lib.python.uncore import Tap  # noqa: E402

SIZE = 1400, 980
TABS = 8                    # a browser opens six connections to a server
PREFIX = "/api/v1/namespaces/x/proxy"
CLONE_NEWUTS = 0x04000000
OTHER = "another-machine"
STATUS = "document.getElementById('status').textContent"
BOXES = "document.querySelectorAll('#map [data-box]').length"
CELLS = """[...document.querySelectorAll("#rows tbody tr")].map((row) =>
	[row.dataset.event, ...[...row.querySelectorAll(".number")].map(
		(one) => one.textContent)])"""
COUNT = "Number(%s[0][3].replaceAll(',', ''))" % CELLS
# Negative counts, and shares that are not near 800 %. All counters count CPU 0's time, so
# a channel seems to transfer 2 * 64 bytes per cycle, of which 16 are possible.
IMPOSSIBLE = """%s.flat().filter((text) => text.startsWith("-") ||
	/^[0-9.]+ %%$/.test(text) && Math.abs(parseFloat(text) - 800) > 100)""" % CELLS
# Count how often the page sets the status, which screen readers read out.
WATCH = """(() => { window.settings = 0; new MutationObserver(() => window.settings++)
	.observe(document.getElementById("status"), {childList: true, characterData: true,
		subtree: true}); })()"""


# Draw the map of box types that the page does not know by name, and whose roles the server
# has: [x, y, kind, number] of each box, and how many lines of rings there are.
UNKNOWN_TYPES = """(async () => {
	const [{Machine}, {DieMap}] = await Promise.all(
		["model", "draw"].map((name) => import(`./${name}.js`)));
	const types = [["cha", "cache", "slice", 28], ["m2m", "memory", "agent", 2],
		["imc", "memory", "channel", 6], ["upi", "link", "link", 3], ["iio", "io", "stack", 5],
		["free", undefined, undefined, 1]];
	const boxes = types.flatMap(([box, role, part, count]) =>
		[...Array(count).keys()].map((number) => ({socket: 0, pmu: `x_${box}_${number}`,
			box, title: box.toUpperCase(), number, role, part})));
	const map = new DieMap(new Machine({machine: {interconnect: "%s"}, boxes,
		sockets: [{id: 0, cpus: "0"}], series: [], counters: [], limits: []}), false, "dark");
	return [map.parts.map(({box, x, y}) => [x, y, box.kind, box.number]),
		map.svg.querySelectorAll(".ring").length];
})()"""


def rename_machine():
    """Change the host name in the child process, before it executes uncore serve."""
    if ctypes.CDLL(None).unshare(CLONE_NEWUTS):
        os._exit(1)
    socket.sethostname(OTHER)


class Proxy:
    """A reverse proxy that removes a path prefix from requests and passes answers on
    part by part. It counts the open event streams."""

    def __init__(self, port):
        self.port, self.streams, self.most = port, 0, 0
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return "http://127.0.0.1:%d%s/" % (self.server.server_port, PREFIX)

    def count(self, by):
        with self.lock:
            self.streams += by
            self.most = max(self.most, self.streams)

    def handler(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):       # pylint: disable=invalid-name
                if not self.path.startswith(PREFIX + "/"):
                    self.send_error(404)
                    return
                path = self.path.removeprefix(PREFIX)
                stream = path == "/events"
                proxy.count(stream)
                with contextlib.suppress(OSError, http.client.HTTPException), \
                        contextlib.closing(http.client.HTTPConnection(
                            "127.0.0.1", proxy.port)) as behind:
                    behind.request("GET", path)
                    answer = behind.getresponse()
                    self.send_response(answer.status)
                    for name in "Content-Type", "Content-Security-Policy":
                        if answer.getheader(name):
                            self.send_header(name, answer.getheader(name))
                    self.end_headers()
                    while part := answer.read1(65536):
                        self.wfile.write(part)
                proxy.count(-stream)

            def log_message(self, *_):
                pass

        return Handler


def serve(sysfs, port=0, **more):
    return Daemon("--sysfs", sysfs, "serve", port=port, **more)


def show(browser, daemon):
    """Open the page, and wait until it has counts."""
    browser.open("http://127.0.0.1:%d/#table" % daemon.port, *SIZE)
    return browser.wait_for("%s === 'live' && %s > 0" % (STATUS, COUNT))


def test_goes_on(tap, browser):
    first = browser.ask(COUNT)
    tap.ok(browser.wait_for("%s > %d" % (COUNT, first)),
           "counts are updated without input")
    browser.press("p")
    paused = browser.ask(COUNT)
    most = browser.ask("Number(document.getElementById('time').max)")
    tap.ok(browser.wait_for("Number(document.getElementById('time').max) > %d" %
                            (most + 1)) and browser.ask(COUNT) == paused,
           "pause stops the display, and not the recording")
    browser.press("p")
    tap.ok(browser.wait_for("%s > %d" % (COUNT, paused)), "and continues")


def test_stalls(tap, browser, daemon):
    browser.ask(WATCH)
    time.sleep(3)
    tap.ok(browser.ask("window.settings") == 0,
           "the status is set when it changes, not with each snapshot")
    daemon.send(signal.SIGSTOP)
    text = browser.wait_for("%s.startsWith('stalled') && "
                            "document.body.classList.contains('problem') && %s" %
                            (STATUS, STATUS))
    tap.ok(text and re.search(r"since \d\d:\d\d:\d\d", text),
           "a server that stalls is not live, and the page says since when",
           [str(browser.ask(STATUS))])
    before = browser.ask("window.settings")
    time.sleep(2.5)
    tap.ok(browser.ask("window.settings") == before == 1, "once")
    daemon.send(signal.SIGCONT)
    tap.ok(browser.wait_for("%s === 'live' && !document.body.classList"
                            ".contains('problem')" % STATUS),
           "and is live when it continues", [str(browser.ask(STATUS))])


def test_topology(tap, browser, sysfs):
    """A CPU comes online; the counters stay the same."""
    write(sysfs + "/devices/system/cpu/cpu1/topology/physical_package_id", "0")
    write(sysfs + "/devices/system/cpu/online", "0-1")
    cpus = "document.querySelector('#map .socket-cpus').textContent"
    tap.ok(browser.wait_for(cpus + " === 'CPUs 0-1'"),
           "a CPU that comes is on the page", [str(browser.ask(cpus))])
    tap.ok(browser.ask(IMPOSSIBLE) == [] and browser.wait_for(COUNT + " > 0"),
           "and counts are updated")


def test_restarts(tap, browser, daemon, sysfs):
    """A new uncore serve on the same machine and port, which counts from 0."""
    time.sleep(3)       # counts grow above the first counts of the new process
    old = browser.ask(COUNT)
    daemon.process.kill()
    daemon.process.wait()
    tap.ok(browser.wait_for("%s.includes('no connection')" % STATUS),
           "when the server has ended, the page says so")
    with serve(sysfs, daemon.port) as server:
        again = browser.wait_for("%s === 'live'" % STATUS)
        wrong = []
        for _ in range(30):
            wrong += browser.ask(IMPOSSIBLE)
            time.sleep(0.1)
        notices = browser.ask("document.getElementById('notices').textContent")
        tap.ok(again and not wrong and "was started anew" in notices,
               "when it is started anew, the page says so, and no count is "
               "negative", [str(browser.ask(STATUS)), notices, *wrong])
        new = browser.wait_for("%s > 0 && %s" % (COUNT, COUNT))
        tap.ok(new and new < old, "and counts begin with this process",
               ["%s after %s" % (new, old)])
        server.process.kill()


def test_swapped(tap, browser, port, folder):
    """Another machine's uncore serve answers at the address, with more boxes and other
    counts."""
    sysfs = os.path.join(folder, "other")
    for name in "hswep_imc_0", "hswep_imc_1", "hswep_ha_0":
        make_pmu(sysfs, name=name)
    try:
        server = serve(sysfs, port, preexec_fn=rename_machine)
    except Exception:       # pylint: disable=broad-except
        tap.skip("another machine", "no user namespaces here")
        return
    with server:
        boxes = browser.wait_for("%s === 3 && %s" % (BOXES, BOXES))
        notices = browser.ask("document.getElementById('notices').textContent")
        tap.ok(boxes == 3 and "Another machine answers: " + OTHER in notices and
               OTHER in browser.ask("document.title") and
               browser.ask("document.getElementById('machine').textContent")
               .startswith(OTHER), "another machine's page has its name and boxes",
               [str(boxes), notices])
        browser.wait_for("%s > 0" % COUNT)
        events = [row[0] for row in browser.ask(CELLS)]
        tap.ok(browser.ask(IMPOSSIBLE) == [] and
               {event.split("/")[0] for event in events} == {
                   "hswep_imc_0", "hswep_imc_1", "hswep_ha_0"} and
               browser.ask("document.getElementById('time').max") < "9",
               "and nothing of the one before", events)


def test_tabs(tap, browser, daemon):
    with Proxy(daemon.port) as proxy:
        first, live = browser.session, 0
        for _ in range(TABS):
            browser.tab()
            browser.open(proxy.url() + "#table", *SIZE)
            live += bool(browser.wait_for("%s === 'live' && %s > 0" %
                                          (STATUS, COUNT)))
        tap.ok(live == TABS, "%d tabs are live behind a path prefix" % TABS,
               ["%d are" % live])
        tap.ok(proxy.most == proxy.streams == 1, "with one event stream",
               ["%d now, %d at most" % (proxy.streams, proxy.most)])
        links = browser.ask("[...document.querySelectorAll('footer a')].map("
                            "(one) => one.href)")
        tap.ok(links and all(link.startswith(proxy.url()) for link in links),
               "links stay behind it", links)
        browser.close_tab()
        browser.session = first


def test_without_workers(tap, browser, daemon):
    browser.tab()
    browser.send("Page.addScriptToEvaluateOnNewDocument",
                 source="delete window.SharedWorker")
    shown = show(browser, daemon)
    first = browser.ask(COUNT)
    tap.ok(shown and browser.ask("!self.SharedWorker") and
           browser.wait_for("%s !== %d" % (COUNT, first)),
           "a browser without shared workers has a stream for each page")


def test_roles(tap, browser):
    """Boxes are placed by their roles and numbers."""
    for interconnect, lines in ("mesh", 0), ("ring", 2):
        boxes, drawn = browser.ask(UNKNOWN_TYPES % interconnect)
        kinds = {}
        for x, y, kind, number in boxes:
            kinds.setdefault(kind, []).append((number, y, x))
        wrong = [kind for kind, places in kinds.items()
                 if sorted(places) != sorted(places, key=lambda place: place[1:])]
        rows = [kind for kind, *_ in sorted(
            ((kind, min(y for _, y, _ in places)) for kind, places in kinds.items()
             if kind != "link/link"), key=lambda one: one[1])]
        side = min(x for _, _, x in kinds["link/link"]) > max(
            x for kind, places in kinds.items() if kind != "link/link"
            for _, _, x in places)
        tap.ok(len(boxes) == 45 and not wrong and side and drawn == lines and
               rows == ["io/stack", "cache/slice", "memory/agent", "memory/channel", "/"],
               "boxes of unknown types are placed by role and number, with a %s" %
               interconnect, [str(kinds), str(drawn), *wrong])


def main():
    tap, path = Tap(), chromium.find()
    if not path:
        tap.skip_all("no chromium here (Debian's package chromium)")
    with tempfile.TemporaryDirectory() as folder, \
            chromium.Chromium(path) as browser:
        sysfs = os.path.join(folder, "sys")
        make_pmu(sysfs)
        if run("--sysfs", sysfs, "serve", "--json", "-d", "0.01").returncode:
            tap.skip_all("no permission to count")
        with serve(sysfs) as daemon:
            show(browser, daemon)
            test_roles(tap, browser)
            test_goes_on(tap, browser)
            test_stalls(tap, browser, daemon)
            test_topology(tap, browser, sysfs)
            test_restarts(tap, browser, daemon, sysfs)
            test_swapped(tap, browser, daemon.port, folder)
        with serve(sysfs) as daemon:
            test_tabs(tap, browser, daemon)
            test_without_workers(tap, browser, daemon)
        # ERR_: the browser's own messages about servers that have ended
        errors = [line for line in browser.said if "ERR_" not in line]
        tap.ok(not errors, "the browser has nothing to complain of", errors)
    tap.end()


if __name__ == "__main__":
    main()
