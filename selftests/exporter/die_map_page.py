#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the die map's page in a real Chromium. In a VM each scenario plays on the simulated
hardware, and is recorded while "uncore stat" counts. On the host the page shows the
recordings: its counts must be uncore stat's, its shares must follow from the counts,
and keys, small windows and broken recordings must work.

--machine GENERATION tests what the map shows of each box of another generation than Haswell.
--screenshots FOLDER saves pictures of each scenario in FOLDER.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from die_map import SEND, counted, places
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python import chromium  # noqa: E402
from lib.python.command import PATIENCE, run  # noqa: E402
from lib.python.exposition import Daemon  # noqa: E402
from lib.python.traffic import Uncore  # noqa: E402
from lib.python.uncore import GENERATION, TOP, UNCORE, Machine, Tap  # noqa: E402
from scenarios import causes  # noqa: E402

MARK = "die-map: "          # begins the lines in which the guest prints a recording
WIDE, NARROW = (1400, 980), (400, 1500)
ADVANCES = 3                # advances of the simulated clock, by a second each
# Rows of counters; a box without one has a row as well, with its PMU as event.
ROWS = """[...document.querySelectorAll("#rows tbody tr")].filter((row) =>
	row.dataset.event.includes("/")).map((row) =>
	[Number(row.dataset.socket), row.dataset.event,
	 ...[...row.querySelectorAll(".number")].map((one) => one.textContent)])"""
LABELS = """Object.fromEntries([...document.querySelectorAll("#map [data-box]")].map(
	(one) => [one.dataset.box, one.getAttribute("aria-label")]))"""
LIMITS = """fetch("/api/topology").then((answer) => answer.json()).then(
	(topology) => topology.limits)"""
VERDICTS = """[...document.querySelectorAll("#verdicts p")].map((one) => [
	Number(one.dataset.socket), one.querySelector("strong").textContent +
	one.querySelector("strong + span").textContent])"""
# For each socket, whether the line chart of its shares reaches the time that is shown.
SPARKS = """[...document.querySelectorAll("#verdicts .spark .line")].map((one) => {
	const [x, y] = one.getAttribute("d").split(/[ML]/).pop().split(/[ h]/).map(Number);
	return x === 120 && one.isPointInStroke(new DOMPoint(x, y));
})"""
# The texts of each box with the box type, and the legend.
WORDS = """[[...document.querySelectorAll("#map [data-box]")].map((one) =>
	[one.dataset.box.replace(/.*hswep_|_[0-9]+$/g, ""),
	 [...one.querySelectorAll("text")].map((text) => text.textContent)]),
	document.getElementById("legend").textContent]"""
# Texts that are wider than their box, and boxes and labels that overlap.
CRAMPED = """(() => {
	const wrong = [], boxes = [...document.querySelectorAll("#map [data-box]")];
	for (const box of boxes)
		for (const text of box.querySelectorAll("text"))
			if (text.getBBox().width > box.querySelector("rect").getBBox().width)
				wrong.push(box.dataset.box + ": " + text.textContent);
	const places = [...boxes.map((box) => [box.dataset.box, box.querySelector("rect")]),
		...[...document.querySelectorAll("#map .flow")].filter((one) => one.textContent)
			.map((one, i) => [`flow ${i}: ${one.textContent}`, one])]
		.map(([name, one]) => [name, one.getBoundingClientRect()]);
	for (const [one, a] of places)
		for (const [other, b] of places)
			if (one < other && a.left < b.right - 1 && b.left < a.right - 1 &&
			    a.top < b.bottom - 1 && b.top < a.bottom - 1)
				wrong.push(one + " is on " + other);
	return wrong;
})()"""


# --- in the VM -----------------------------------------------------------------------

class Quiet:
    """Replaces Tap in the VM, where only the host prints results: a failure ends the
    program."""

    def ok(self, good, name, comments=()):
        if not good:
            sys.exit("%s: %s" % (name, " ".join(comments)))

    @staticmethod
    def skip_all(reason):
        sys.exit(reason)


def guest(scenarios):
    """Play and record scenarios in the VM, and print the recordings for the host."""
    parameters = causes.parameters(GENERATION)
    steps = "; ".join(["python3 -c '%s' /dev/null %d && sleep 1.2" % (
        SEND, parameters["uclk_khz"] * 1000)] * ADVANCES)
    with Machine(Quiet(), sim=["%s=%d" % item for item in parameters.items()]), \
            tempfile.TemporaryDirectory() as folder:
        series, stat_file = folder + "/series", folder + "/stat"
        for name in scenarios:
            subprocess.run([os.path.join(TOP, "selftests", "scenarios", "play"), name],
                           check=True)
            run("record", "--series", series, "--", "true")
            with open(series, encoding="utf-8") as file:
                topology = json.loads(file.readline())
            events = dict.fromkeys(counter["event"] for counter in topology["counters"])
            result = Uncore("record", "--series", series, command=[
                UNCORE, "stat", "--per-box", "--json", "-o", stat_file, "-e",
                ",".join(events), "--", "sh", "-c", "sleep 1; " + steps])
            if result.status:
                sys.exit(" ".join(result.comments()))
            with open(series, encoding="utf-8") as series_output, \
                    open(stat_file, encoding="utf-8") as stat_output:
                print(MARK + json.dumps({"name": name, "series": series_output.read(),
                                         "stat": stat_output.read()}), flush=True)


# --- on the host ---------------------------------------------------------------------

class Recording:
    """The recording of a scenario, and the counts of uncore stat at the same time."""

    def __init__(self, entry, folder):
        self.name = entry["name"]
        self.path = os.path.join(folder, self.name + ".series")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(entry["series"])
        self.lines = entry["series"].splitlines()
        parts = [json.loads(line) for line in self.lines]
        self.topology, self.shots = parts[0], parts[1:-1]
        stat = argparse.Namespace(json=lambda: json.loads(entry["stat"]))
        self.stat = counted(stat)
        self.places = places(self.topology)
        # the snapshot with the largest growth, which the tests show
        self.at = max(range(1, len(self.shots)), key=lambda i: sum(
            self.counts(i).values()))

    def counts(self, i):
        """Return the growth from snapshot i - 1 to snapshot i."""
        return {place: new - old for place, old, new in zip(
            self.places, self.shots[i - 1]["counts"], self.shots[i]["counts"])}


def with_sockets(recording, count, folder):
    """Return a recording with @count sockets, which have the counts of the two recorded
    sockets in turn."""
    topology = json.loads(json.dumps(recording.topology))
    boxes, counters, counts = [], [], []
    for socket in range(count):
        places_ = {}
        for i, box in enumerate(topology["boxes"]):
            if box["socket"] == socket % 2:
                places_[i] = len(boxes)
                boxes.append({**box, "socket": socket})
        for i, counter in enumerate(topology["counters"]):
            if counter["box"] in places_:
                counters.append({**counter, "box": places_[counter["box"]]})
                counts.append(i)
    topology.update(boxes=boxes, counters=counters, sockets=[
        {**topology["sockets"][i % 2], "id": i} for i in range(count)])
    shots = [{**shot, "counts": [shot["counts"][i] for i in counts]}
             for shot in recording.shots]
    return Recording({
        "name": "sockets-%d" % count, "stat": json.dumps({"events": []}),
        "series": "".join(json.dumps(part) + "\n" for part in [
            topology, *shots, {"end": True, "snapshots": len(shots)}])}, folder)


def record_scenarios(tap, folder, machine="hswep", scenarios=tuple(causes.STEADY)):
    """Run guest() in a VM. Return a Recording of each scenario."""
    kernel = os.environ.get("VM_KERNEL")
    result = subprocess.run(
        [os.path.join(TOP, "selftests", "vm", "run"),
         *(["--kernel", kernel] if kernel else []), "--driver", "none", "--no-sim",
         "--machine", machine, "--timeout", "900", "--",
         "selftests/exporter/die_map_page.py", "--guest", ",".join(scenarios)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        check=False, timeout=2 * PATIENCE)
    recordings = [Recording(json.loads(line.removeprefix(MARK)), folder)
                  for line in result.stdout.splitlines() if line.startswith(MARK)]
    tap.ok(result.returncode == 0 and
           [recording.name for recording in recordings] == list(scenarios),
           "%d scenarios are recorded" % len(scenarios),
           ["status %d" % result.returncode, *result.stderr.splitlines(),
            *result.stdout[-2000:].splitlines()])
    return recordings


def show(browser, daemon, place, size, ready="replay, paused"):
    """Open the page at a place, which is the part of the URL behind #, and wait until the
    page is ready. Return the number of boxes."""
    browser.open("http://127.0.0.1:%d/#%s" % (daemon.port, place), *size)
    return browser.wait_for(
        "document.getElementById('status').textContent === '%s' && "
        "document.querySelectorAll('#map [data-box]').length" % ready)


def digits(number):
    """Format a number like the page does."""
    return "{:,}".format(number)


def share_of_channel(counts, socket, pmu):
    """Return a memory channel's share of its maximum, in percent
    (Documentation/die-map.rst): 64 bytes a line, and 16 bytes a cycle."""
    get = {name: counts[socket, "%s/%s/" % (pmu, name)]
           for name in ("cas_count.rd", "cas_count.wr", "dclk")}
    return 100 * 64 * (get["cas_count.rd"] + get["cas_count.wr"]) / \
        (16 * get["dclk"])


def share_of_memory(counts, socket):
    """Return a socket's share of its memory's maximum, in percent, of the channels that
    transferred data."""
    names = [event.split("/")[0] for place, event in counts
             if place == socket and event.endswith("/dclk/")]
    lines = {name: counts[socket, name + "/cas_count.rd/"] +
             counts[socket, name + "/cas_count.wr/"] for name in names}
    return 100 * 64 * sum(lines.values()) / (16 * sum(
        counts[socket, name + "/dclk/"] for name in names if lines[name]))


def share_of_slice(counts, socket, pmu):
    """Return an LLC slice's lookups in percent of the uncore's cycles."""
    return 100 * counts[socket, pmu + "/llc_lookup.any,filter_state=0x7f/"] / \
        counts[socket, "hswep_ubox/uclk/"]


def share_of_agent(counts, socket, pmu):
    """Return a home agent's requests in percent of the uncore's cycles."""
    return 100 * sum(
        counts[socket, "%s/requests.%s_%s/" % (pmu, request, origin)]
        for request in ("reads", "writes") for origin in ("local", "remote")) / \
        counts[socket, "hswep_ubox/uclk/"]


def share_of_link(counts, socket, pmu):
    """Return a QPI link's sent flits in percent of the link's cycles."""
    get = {name: counts[socket, "%s/%s/" % (pmu, name)]
           for name in ("txl_flits_g0.data", "txl_flits_g0.non_data",
                        "clockticks")}
    return 100 * (get["txl_flits_g0.data"] + get["txl_flits_g0.non_data"]) / \
        get["clockticks"]


def test_counts(tap, browser, daemon, recording):
    """The table has uncore stat's counts. Return the counts of the snapshot that is shown."""
    name, last = recording.name, len(recording.shots) - 1
    show(browser, daemon, "at=%d&table" % last, WIDE)
    # cells: rate per second, count, total, share
    total = {(socket, event): cells[2] for socket, event, *cells in
             browser.ask(ROWS)}
    want = {place: digits(count) for place, count in recording.stat.items()}
    tap.ok(total == want and len(want) > 100,
           "%s: the page has uncore stat's %d counts" % (name, len(want)),
           ["%s: %s, not %s" % (place, total.get(place), want.get(place))
            for place in {**want, **total} if total.get(place) != want.get(place)])
    show(browser, daemon, "at=%d&table" % recording.at, WIDE)
    counts = recording.counts(recording.at)
    grown = {(socket, event): cells[1] for socket, event, *cells in
             browser.ask(ROWS)}
    want = {place: digits(count) for place, count in counts.items()}
    tap.ok(grown == want, "%s: and of a snapshot what came since the one before" %
           name, ["%s: %s, not %s" % (place, grown.get(place), want.get(place))
                  for place in {**want, **grown} if grown.get(place) != want.get(place)])
    return counts


def test_numbers(tap, browser, daemon, recording):
    name, counts = recording.name, test_counts(tap, browser, daemon, recording)
    labels, wrong, checked = browser.ask(LABELS), [], 0
    for box in recording.topology["boxes"]:
        share = {"imc": share_of_channel, "qpi": share_of_link,
                 "cbox": share_of_slice, "ha": share_of_agent}.get(box["box"])
        label = labels["%d/%s" % (box["socket"], box["pmu"])]
        if box["box"] in ("irp", "ubox") and "of the most" in label:
            wrong.append("%s: the maximum is unknown" % label)
        if not share:
            continue
        checked += 1
        shown = re.search(r"([0-9.]+) % of the most", label)
        right = share(counts, box["socket"], box["pmu"])
        if not shown or abs(float(shown[1]) - right) > (
                0.501 if right >= 9.95 else 0.0501):
            wrong.append("%s, not %.2f" % (label, right))
    tap.ok(not wrong and checked >= 8,
           "%s: channels, links, slices and home agents have the share that follows "
           "from them, and others none" % name, wrong)
    verdicts, wrong = browser.ask(VERDICTS), []
    for socket, text in verdicts:
        got = re.search(r"(?<!remote )memory:? ([0-9.]+) % of", text)
        right = share_of_memory(counts, socket)
        if not got or abs(float(got[1]) - right) > 0.501 or \
                text.startswith("limited by memory") != (right >= 60):
            wrong.append("%d: %s, not %.2f" % (socket, text, right))
    tap.ok(not wrong and len(verdicts) == 2,
           "%s: each socket has a line that says how full its memory is" % name,
           wrong)


def test_loads(tap, browser, daemon, recording):
    """Each box whose load is counted shows a number. A share of the most is only shown of a
    box that has a limit of its own."""
    show(browser, daemon, "at=%d" % recording.at, WIDE)
    labels, topology = browser.ask(LABELS), recording.topology
    limited = {limit["box"] for limit in browser.ask(LIMITS) if "of" not in limit}
    counted_boxes = {counter["box"] for counter in topology["counters"]}
    missing, false = [], []
    for number, box in enumerate(topology["boxes"]):
        label = labels["%d/%s" % (box["socket"], box["pmu"])]
        if (number in counted_boxes) != bool(re.search(r": .*[0-9]", label)):
            missing.append(label)
        if " % of the most" in label and box["box"] not in limited:
            false.append(label)
    tap.ok(not missing and counted_boxes, "%s: a number of each counted box" %
           recording.name, missing)
    tap.ok(not false, "%s: a share only where the most is known" % recording.name, false)


def test_words(tap, browser, daemon, recording):
    """Percentages in the boxes have words that explain them, and the legend names all
    box types, for a reader who does not know the page."""
    show(browser, daemon, "at=%d" % recording.at, WIDE)
    boxes, legend = browser.ask(WORDS)
    wrong = [repr(texts) for kind, texts in boxes if not re.search(
        {"pcu": r"^[0-9.]+ % held back$", "r2pcie": "^of the ring$",
         "r3qpi": "^of the ring$"}.get(kind, ""), texts[-1])]
    lacking = [name for name in {texts[0].split()[0] for _, texts in boxes}
               if name not in legend]
    tap.ok(not wrong and not lacking, "%s: a percentage has its meaning, and the "
           "legend has all box types" % recording.name, wrong + lacking)
    sparks = browser.ask(SPARKS)
    tap.ok(sparks == [True, True], "%s: the line of shares has the one that is "
           "shown" % recording.name, [repr(sparks)])


def test_sizes(tap, browser, daemon, recording, folder):
    for theme in ("dark", "light"):
        for width, height in (WIDE, NARROW):
            shown = show(browser, daemon, "at=%d&theme=%s" % (
                recording.at, theme), (width, height))
            over = browser.ask("document.documentElement.scrollWidth")
            cramped = browser.ask(CRAMPED)
            tap.ok(shown == len(recording.topology["boxes"]) and over <= width and
                   not cramped, "%s, %s, %d pixels: all boxes, none too small" %
                   (recording.name, theme, width),
                   ["%s boxes, %d pixels" % (shown, over), *cramped])
            if folder:
                browser.photograph(os.path.join(folder, "%s-%d%s.png" % (
                    recording.name, width, "" if theme == "dark" else "-light")))


def test_revealed(tap, browser):
    """On a phone's screen the panel of a clicked box does not cover the box."""
    browser.size(400, 800)
    hidden = browser.ask("""(async () => {
        const hidden = [];
        await new Promise((done) => setTimeout(done, 300));
        for (const id of [...document.querySelectorAll("#map [data-box]")]
                .map((one) => one.dataset.box)) {
            const one = document.querySelector(`#map [data-box="${id}"]`);
            one.dispatchEvent(new MouseEvent("click", {bubbles: true}));
            const box = one.getBoundingClientRect();
            const panel = document.getElementById("detail").getBoundingClientRect();
            if (box.bottom > panel.top + 1 || box.top < 0 || !panel.height)
                hidden.push(`${id}: ${box.bottom} of ${panel.top}`);
        }
        return hidden;
    })()""")
    tap.ok(not hidden, "on 400 pixels the panel hides none of the boxes that are "
           "clicked", hidden)
    browser.size(*WIDE)
    browser.wait_for("document.querySelectorAll('#map [data-box]').length")


def test_keys(tap, browser, daemon, recording):
    show(browser, daemon, "at=1", WIDE)
    focused = "document.activeElement.dataset.box"
    browser.ask("document.querySelector('#map [tabindex=\"0\"]').focus()")
    seen = [browser.ask(focused)]
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        browser.press(key)
        seen.append(browser.ask(focused))
    tap.ok(len(set(seen[:4])) == 4 and all(seen) and browser.ask(
        "document.querySelectorAll('#map [tabindex=\"0\"]').length") == 1,
           "arrows go from box to box", seen)
    tap.ok(browser.ask("!document.getElementById('tip').hidden && "
                       "document.getElementById('tip').textContent.includes("
                       "%s.split('/')[1])" % focused),
           "of which its events are shown")
    box = browser.ask(focused)
    browser.press("Enter")
    text = browser.wait_for("!document.getElementById('detail').hidden && "
                            "document.getElementById('detail').textContent")
    events = [counter["event"] for counter in recording.topology["counters"]
              if "%d/%s" % (recording.topology["boxes"][counter["box"]]["socket"],
                            recording.topology["boxes"][counter["box"]]["pmu"]) == box]
    tap.ok(text and events and all(event in text for event in events) and
           browser.ask("document.querySelectorAll('#detail .chart').length") ==
           len(events), "Enter opens it, with each event's time series",
           [box, str(text)])
    copied = browser.ask("[...document.querySelectorAll('[data-copy]')].map("
                         "(one) => one.dataset.copy)")
    tap.ok(copied == events, "and the events to copy", copied)
    browser.press("Escape")
    tap.ok(browser.ask("document.getElementById('detail').hidden") and
           browser.ask(focused) == box, "Escape closes it, and goes back there")
    at = "Number(document.getElementById('time').value)"
    steps = []
    for key in (".", "."):
        browser.press(key)
        steps.append(browser.ask(at))
    browser.press(",")
    steps.append(browser.ask(at))
    tap.ok(steps == [2, 3, 2], "period and comma step", [repr(steps)])
    browser.press("p")
    tap.ok(browser.wait_for("%s === %d" % (at, len(recording.shots) - 1)),
           "P plays it to its end")
    browser.press("t")
    tap.ok(browser.wait_for("document.getElementById('table').open && %s.length" %
                            ROWS) and
           browser.ask("%s.every((row) => row.length === 6 || row[1])" % ROWS),
           "T opens the table")


def test_down(tap, browser, recording, folder):
    """A memory channel stops answering: the page shows it as dead, without counts, and
    not as idle."""
    path = os.path.join(folder, "down.series")
    at = next(i for i, box in enumerate(recording.topology["boxes"])
              if box["pmu"] == "hswep_imc_2" and box["socket"] == 1)
    lines = recording.lines[:]
    shot = json.loads(lines[recording.at + 1])
    shot["down"] = {str(at): "dead"}
    shot["verdicts"]["1"]["facts"].append("iMC 2 is dead")
    shot["counts"] = [None if counter["box"] == at else count for counter, count in
                      zip(recording.topology["counters"], shot["counts"])]
    lines[recording.at + 1] = json.dumps(shot)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    with Daemon("serve", "--replay", path, replay=True) as daemon:
        show(browser, daemon, "at=%d&table" % recording.at, WIDE)
        label = browser.ask(LABELS)["1/hswep_imc_2"]
        verdicts = dict(browser.ask(VERDICTS))
        cells = [row[3] for row in browser.ask(ROWS)
                 if row[0] == 1 and "imc_2/" in row[1]]
        tap.ok(label.endswith(": dead") and verdicts[1].endswith("iMC 2 is dead") and
               "dead" not in verdicts[0] and set(cells) == {"–"},
               "a channel that does not answer is dead, not idle",
               [label, repr(verdicts), repr(cells)])


def test_broken(tap, browser, recording, folder):
    """A recording that is cut short, with HTML in the name of the machine."""
    path = os.path.join(folder, "broken.series")
    header = json.loads(recording.lines[0])
    header["machine"]["host"] = "<b id=evil>x</b><img src=http://192.0.2.1/>"
    header["boxes"][0]["title"] = "<b id=evil>x</b>"
    header["boxes"][1]["box"] = "of-another-time"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([json.dumps(header), *recording.lines[1:4],
                              recording.lines[4][:50]]))
    with Daemon("serve", "--replay", path, replay=True) as daemon:
        shown = show(browser, daemon, "at=1&table", WIDE)
        notices = browser.ask("document.getElementById('notices').textContent")
        tap.ok(shown == len(header["boxes"]) and "cut short" in notices and
               "another machine" in notices and
               browser.ask("Number(document.getElementById('time').max)") == 2,
               "a recording that is cut short is shown, and the page says so",
               [notices])
        tap.ok(browser.ask("!document.querySelector('#evil, img, b') && "
                           "document.body.textContent.includes('<b id=evil>')"),
               "what the machine calls itself is text")


def test_machine(tap, path, machine, screenshots):
    """What the map shows of a generation's boxes."""
    with tempfile.TemporaryDirectory() as folder, chromium.Chromium(path) as browser:
        for recording in record_scenarios(tap, folder, machine, ("io", "stream")):
            with Daemon("serve", "--replay", recording.path, replay=True) as daemon:
                test_counts(tap, browser, daemon, recording)
                test_loads(tap, browser, daemon, recording)
                test_sizes(tap, browser, daemon, recording, screenshots)
        tap.ok(not browser.said, "the browser has nothing to complain of", browser.said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--guest", metavar="SCENARIO,...")
    parser.add_argument("--machine", metavar="GENERATION")
    parser.add_argument("--screenshots", metavar="FOLDER")
    options = parser.parse_args()
    if options.guest:
        guest(options.guest.split(","))
        return
    tap, path = Tap(), chromium.find()
    if not path:
        tap.skip_all("no chromium here (Debian's package chromium)")
    if os.path.isdir(os.environ.get("VM_KERNEL", "")):
        tap.skip_all("a debug kernel boots slowly, and the page is the same")
    if options.screenshots:
        os.makedirs(options.screenshots, exist_ok=True)
    if options.machine:
        test_machine(tap, path, options.machine, options.screenshots)
        tap.end()
        return
    with tempfile.TemporaryDirectory() as folder:
        recordings = record_scenarios(tap, folder)
        with chromium.Chromium(path) as browser:
            for recording in recordings:
                with Daemon("serve", "--replay", recording.path, replay=True) as daemon:
                    test_numbers(tap, browser, daemon, recording)
                    test_loads(tap, browser, daemon, recording)
                    test_words(tap, browser, daemon, recording)
                    test_sizes(tap, browser, daemon, recording, options.screenshots)
                    if recording is recordings[0]:
                        test_keys(tap, browser, daemon, recording)
                        test_revealed(tap, browser)
            for count in (1, 4, 8) if recordings else ():
                recording = with_sockets(recordings[-1], count, folder)
                with Daemon("serve", "--replay", recording.path, replay=True) as daemon:
                    test_sizes(tap, browser, daemon, recording, options.screenshots)
                    verdicts = browser.ask(VERDICTS)
                    tap.ok([socket for socket, _ in verdicts] == list(range(count)),
                           "%s: a line for each" % recording.name, [repr(verdicts)])
            if recordings:
                test_down(tap, browser, recordings[0], folder)
                test_broken(tap, browser, recordings[0], folder)
            tap.ok(not browser.said, "the browser has nothing to complain of",
                   browser.said)
            elsewhere = [url for url in browser.asked if not re.match(
                r"http://127\.0\.0\.1:\d+/|data:,$|about:blank$", url)]
            tap.ok(browser.asked and not elsewhere,
                   "no request went to another host", elsewhere)
    tap.end()


if __name__ == "__main__":
    main()
