#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test metrics of the user on traffic of known size: a file with metrics of the kind of
LIKWID's groups, written from uncore-stat(1), and "uncore stat --expr". Their values of
sockets and of the machine are exact. Metrics that are wrong have one line each, and all
others work.
"""

import json
import math
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.traffic import Uncore, while_sending  # noqa: E402
from lib.python.uncore import FEW_SLICES, GENERATION, Machine, Tap, pmus  # noqa: E402

# Groups MEM, L3, QPI, HA, NUMA, CBOX and SBOX: name, expression, scale and unit.
METRICS = [
    ("mem_read_bw", "imc/cas_count.rd/ * 64 / duration_time", "1e-6MB/s"),
    ("mem_write_bw", "imc@cas_count.wr@ * 64 / duration_time", "1e-6MB/s"),
    ("mem_volume", "(imc/cas_count.rd/ + imc/cas_count.wr/) * 64", "1e-9GB"),
    ("mem_bw", "mem_volume / duration_time", "1e-6MB/s"),
    ("l3_evicted", "cbox/llc_victims.m_state/ * 64", "1e-9GB"),
    ("qpi_volume", "qpi/txl_flits_g0.data/ * 8", "1e-9GB"),
    ("qpi_data_share",
     "d_ratio(qpi/txl_flits_g0.data/, qpi/txl_flits_g0.data/ + qpi/txl_flits_g0.non_data/)",
     "100%"),
    ("ha_reads", "ha/requests.reads_local/ + ha/requests.reads_remote/", ""),
    ("numa_remote", "ha/requests.reads_remote/ / ha_reads if ha_reads > 0 else 0", "100%"),
    ("cbox_requests", "cbox/rxr_inserts.irq/ / source_count(cbox@rxr_inserts.irq@)", ""),
    ("sbox_busiest", "max(sbox/txr_inserts.ad_crd/, sbox/txr_inserts.bl_crd/)", ""),
]
EVENTS = ("imc/cas_count.rd imc/cas_count.wr cbox/llc_victims.m_state "
          "cbox/rxr_inserts.irq qpi/txl_flits_g0.data qpi/txl_flits_g0.non_data "
          "ha/requests.reads_local ha/requests.reads_remote sbox/txr_inserts.ad_crd "
          "sbox/txr_inserts.bl_crd").split()


def terms():
    """The fields of this generation's events: {"imc/cas_count.rd": (event, umask)}."""
    found = {}
    for row in Uncore("list", "--json", "events").json()["events"]:
        fields = dict(re.findall(r"(event|umask)=(0x[0-9a-f]+)", row.get("terms", "")))
        if "event" in fields:
            found[row["box"] + "/" + row["name"]] = (
                fields["event"], fields.get("umask", "0"))
    return found


def make_traffic(sockets):
    """The lines of traffic, and {(event, socket): count}."""
    encodings = terms()
    lines, sums = [], {}
    for number, name in enumerate(EVENTS):
        box_type = name.split("/")[0]
        for socket in range(sockets):
            for box, pmu in enumerate(pmus(box_type)):
                count = 100000 * (number + 1) + 1000 * socket + 10 * box + 7
                lines.append("pkg=%d box=%s event=%s umask=%s count=%d\n" % (
                    socket, pmu.removeprefix(GENERATION + "_"), *encodings[name], count))
                sums[name, socket] = sums.get((name, socket), 0) + count
    return lines, sums


def true_values(counts, boxes, seconds):
    """The values of METRICS, computed without the expressions. @counts has the count of
    each event, @boxes the number of CBos."""
    reads, writes = counts["imc/cas_count.rd"], counts["imc/cas_count.wr"]
    data, other = counts["qpi/txl_flits_g0.data"], counts["qpi/txl_flits_g0.non_data"]
    local, remote = (counts["ha/requests.reads_" + name] for name in ("local", "remote"))
    return {
        "mem_read_bw": reads * 64 / 1e6 / seconds,
        "mem_write_bw": writes * 64 / 1e6 / seconds,
        "mem_volume": (reads + writes) * 64 / 1e9,
        "mem_bw": (reads + writes) * 64 / 1e6 / seconds,
        "l3_evicted": counts["cbox/llc_victims.m_state"] * 64 / 1e9,
        "qpi_volume": data * 8 / 1e9,
        "qpi_data_share": 100 * data / (data + other),
        "ha_reads": local + remote,
        "numa_remote": 100 * remote / (local + remote),
        "cbox_requests": counts["cbox/rxr_inserts.irq"] / boxes,
        "sbox_busiest": counts["sbox/txr_inserts.bl_crd"],
    }


def wrong_values(document, sums, sockets):
    """Compare the metrics of a document with the traffic."""
    wrong = []
    for row in document["metrics"]:
        places = [row["socket"]] if "socket" in row else range(sockets)
        counts = {name: sum(sums.get((name, place), 0) for place in places)
                  for name in EVENTS}
        want = true_values(counts, len(places) * len(pmus("cbox")), row["seconds"])
        if row["metric"] in want and not (row["value"] is not None and math.isclose(
                row["value"], want[row["metric"]], rel_tol=1e-9)):
            wrong.append("%s: want %r" % (row, want[row["metric"]]))
    return wrong


def write_metrics(path, metrics):
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"MetricName": name, "MetricExpr": text, "MetricGroup": "likwid",
                    "BriefDescription": "About " + name,
                    **({"ScaleUnit": unit} if unit else {})}
                   for name, text, unit in metrics], file)


def test_values(tap, folder, sockets):
    lines, sums = make_traffic(sockets)
    here = {name for name, text, _ in METRICS if "sbox" not in text or pmus("sbox")}
    for flags in ((), ("--per-socket",)):
        run = while_sending(folder, lines, "stat", "-M", "likwid", "--json", *flags,
                            seconds=0.1)
        document = run.json() if run.status == 0 else {"metrics": []}
        names = {row["metric"] for row in document["metrics"]}
        tap.ok(names == here and len(here) >= 10 and
               not wrong_values(document, sums, sockets),
               "stat -M of a metric file %s: %d exact metrics" % (" ".join(flags), len(here)),
               run.comments() + wrong_values(document, sums, sockets))
        lacking = {row["metric"]: row["reason"] for row in document.get("unavailable", ())}
        tap.ok(run.err == "" and set(lacking) == {row[0] for row in METRICS} - here and
               all("has no such box, only" in reason for reason in lacking.values()),
               "and the reason for each event of another generation", [repr(lacking)])

    run = while_sending(
        folder, lines, "stat", "--json", "-e", "imc/cas_count.rd/", "-M", "mem_volume",
        "--expr", "twice = 2*imc/cas_count.rd/", "--expr", "share = mem_read_bw / mem_bw",
        "--expr", "mem_bw = mem_volume*#num_packages/#num_dies", seconds=0.1)
    document = run.json() if run.status == 0 else {"metrics": [], "events": []}
    values = {row["metric"]: row["value"] for row in document["metrics"]}
    reads, writes = (sum(sums["imc/cas_count." + name, socket] for socket in range(sockets))
                     for name in ("rd", "wr"))
    tap.ok(values.get("twice") == 2 * reads and
           [row["raw"] for row in document["events"]] == [reads] and
           math.isclose(values.get("mem_volume", 0), (reads + writes) * 64 / 1e9) and
           math.isclose(values.get("mem_bw", 0), (reads + writes) * 64),
           "stat --expr beside -e and -M, in place of a file's metric", run.comments())

    run = while_sending(folder, lines, "stat", "--json", "--per-box", "--expr",
                        "mixed = imc/cas_count.rd/ + ha/requests.reads_local/",
                        "--expr", "per_box = imc/cas_count.rd/ / #num_packages", seconds=0.1)
    rows = run.json()["metrics"] if run.status == 0 else []
    tap.ok({row["value"] for row in rows if row["metric"] == "mixed"} == {None} and
           sum(row["value"] for row in rows if row["metric"] == "per_box") == reads,
           "a metric of several box types has no value of a box", run.comments())


def test_top(tap, folder, sockets):
    """uncore top has the metrics of the shares of all tasks, whose sum is the traffic."""
    lines, sums = make_traffic(sockets)
    run = while_sending(folder, lines, "top", "--json", "--once", "-M",
                        "mem_volume,qpi_data_share", seconds=0.1)
    totals = run.json()["total_metrics"] if run.status == 0 else {}
    counts = {name: sum(sums[name, socket] for socket in range(sockets)) for name in EVENTS}
    want = true_values(counts, 1, 1)
    tap.ok(set(totals) == {"mem_volume", "qpi_data_share"} and all(
        math.isclose(totals[name]["value"], want[name], rel_tol=1e-9) for name in totals),
           "top -M of a metric file: exact totals", run.comments() + [repr(want)])


def test_listing(tap, mine):
    run = Uncore("list", "--json", "metrics")
    files = {row["metric"]: row["file"] for row in run.json()["metrics"]}
    tap.ok(run.status == 0 and
           {name for name, file in files.items() if file == mine} ==
           {name for name, _, _ in METRICS} and files["mem_bw_total_rate"] is None,
           "list: the file of each metric", run.comments()[:3])
    run = Uncore("list", "-v", "metrics", "mem_read_bw")
    tap.ok(run.status == 0 and run.out.startswith("Metrics of %s\n" % mine) and
           METRICS[0][1] in run.out, "list -v: the file and the expression", run.comments())
    run = Uncore("__complete", "stat", "-M", "mem_bw_total_rate,lik")
    tap.ok(run.out == "mem_bw_total_rate,likwid\n", "completion has the user's groups",
           run.comments())


BAD = [
    ("loop_a", "1 + loop_b", "'loop_b' is defined by itself, through 'loop_a'"),
    ("loop_b", "loop_a", "'loop_b' is defined by itself, through 'loop_a'"),
    ("by_zero", "imc/cas_count.rd/ / 0", "always divides by 0"),
    ("mem_bw_total_rate", "imc/cas_count.rd/", "choose another"),
    ("half", "imc/cas_count.rd/ *", "a value is missing"),
    ("unknown", "imc/cas_count.rd/ * #num_slots", "'#num_slots' is not known"),
]


def test_bad(tap, folder, config):
    bad = os.path.join(config, "uncore/metrics.d/bad.json")
    write_metrics(bad, [(name, text, "") for name, text, _ in BAD] +
                  [("typo", "imc/cas_cont.rd/", ""),
                   ("idle", "imc/cas_count.rd/ / imc/cas_count.wr/", "")])
    run = Uncore("list", "metrics", "likwid")
    errors = run.err.splitlines()
    tap.ok(run.status == 1 and run.out.count("About ") == len(METRICS) + 2 and
           all(any(line.startswith("uncore: %s: metric %s: " % (bad, name)) and
                   text in line for line in errors) for name, _, text in BAD),
           "list: one line for each wrong metric, a status, and the others",
           run.comments())

    run = Uncore("stat", "--json", "-d", "0.1", "-M", "mem_volume,by_zero,typo")
    reasons = {row["metric"]: row["reason"] for row in run.json()["unavailable"]}
    tap.ok(run.status == 1 and run.json()["metrics"][0]["metric"] == "mem_volume" and
           "always divides by 0" in reasons["by_zero"] and
           "did you mean cas_count.rd" in reasons["typo"],
           "stat -M of wrong metrics counts the others, and fails", run.comments())
    run = Uncore("stat", "--json", "-d", "0.1", "-M", "mem_volume")
    tap.ok(run.status == 0 and len(run.err.splitlines()) == len(BAD),
           "a metric that is not asked for is a note", run.comments())
    os.remove(bad)

    run = Uncore("stat", "-d", "0.1", "--expr", "idle = imc/cas_count.rd/ / imc/cas_count.wr/",
                 "--expr", "none = d_ratio(imc/cas_count.rd/, imc/cas_count.wr/)")
    tap.ok(run.status == 0 and re.search(r"^idle +-$", run.out, re.M) and
           re.search(r"^none +0$", run.out, re.M) and run.err ==
           "uncore: metric idle: its divisor was 0: d_ratio(a, b) is 0 then\n",
           "a division by 0 of counts is a note", run.comments())

    for text, words in (("imc/cas_count.rd/", "has no name: write NAME = EXPRESSION"),
                        ("a = imc/cas_count.rd/ / 0", "metric a: it always divides by 0"),
                        ("a = imc/cas_cont.rd/", "metric a: %s_imc_0 has no event" %
                         GENERATION),
                        ("a = a + 1", "metric a: 'a' is defined by itself")):
        run = Uncore("stat", "-d", "0.1", "--expr", text)
        tap.ok(run.status == 1 and words in run.err and len(run.err.splitlines()) == 1,
               "stat --expr '%s' is refused" % text, run.comments())

    for name, text, words in (("a.json", "[{", "it is not JSON: parse error at line 1"),
                              ("b.json", None, "it is not a regular file"),
                              ("c.json", "{}", "it is not an array of metrics"),
                              ("d.json", '[{"MetricName": "x"}]', "MetricExpr is missing")):
        path = os.path.join(config, "uncore/metrics.d", name)
        if text is None:
            os.mkdir(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        run = Uncore("stat", "-d", "0.1", "-M", "mem_volume")
        tap.ok(run.status == 0 and "mem_volume" in run.out and words in run.err and
               run.err.startswith("uncore: %s: " % path) and
               len(run.err.splitlines()) == 1, "a file %s" % words, run.comments())
        (os.rmdir if text is None else os.remove)(path)

    # The system's folder, in the view of one command: a file of the user hides its metrics.
    system = os.path.join(folder, "etc/uncore/metrics.d")
    os.makedirs(system)
    write_metrics(os.path.join(system, "site.json"),
                  [("site_reads", "imc/cas_count.rd/", ""), ("mem_bw", "1 +", "")])
    run = Uncore("list", "--json", "metrics", around=(
        "unshare", "-m", "sh", "-c", "mount --bind %s /etc && exec \"$@\"" %
        os.path.join(folder, "etc"), "sh"))
    files = {row["metric"]: row["file"] for row in run.json()["metrics"]} \
        if run.status == 0 else {}
    tap.ok(files.get("site_reads") == "/etc/uncore/metrics.d/site.json" and
           files.get("mem_bw", "").startswith(config),
           "/etc/uncore/metrics.d, below the user's folder", run.comments()[:5])


def main():
    tap = Tap()
    with Machine(tap, sim=FEW_SLICES) as machine, tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "config")
        mine = os.path.join(config, "uncore/metrics.d/likwid.json")
        os.makedirs(os.path.dirname(mine))
        os.environ["XDG_CONFIG_HOME"] = config
        write_metrics(mine, METRICS)
        test_values(tap, folder, machine.packages)
        test_top(tap, folder, machine.packages)
        test_listing(tap, mine)
        test_bad(tap, folder, config)
    tap.end()


if __name__ == "__main__":
    main()
