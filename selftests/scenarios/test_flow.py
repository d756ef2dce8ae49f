#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Test the flow model, without simulated hardware. Conservation laws hold in every scenario
and at 40 moments of "mixed". Each metric, computed from the rates that the simulator would
get, has the value of its cause. Each rate is of an event of the catalogue.
"""

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from lib.python import metric_causes  # noqa: E402
from lib.python.metric_causes import counter_0, is_relay, metrics  # noqa: E402
from lib.python.uncore import Tap  # noqa: E402
from scenarios import causes, flow, generations, mesh  # noqa: E402
from scenarios.expected import NO_CAUSE, expected  # noqa: E402

HASWELL = flow.Machine(2, 18, 4, 2, 4, 2, 2.5e9, 1066.5e6, 2.4e9, 0.8e9, (0, 1))
MACHINES = {
    "hswep": HASWELL,
    "bdwep": HASWELL._replace(cboxes=24, generation="bdwep"),
    "bdwde": HASWELL._replace(packages=1, cboxes=16, sboxes=0, qpi_ports=0,
                              nodes=(0,), generation="bdwde"),
    "ivbep": HASWELL._replace(cboxes=15, sboxes=0, qclk=1e9, generation="ivbep"),
    "snbep": HASWELL._replace(cboxes=8, sboxes=0, has=1, qclk=1e9,
                              generation="snbep"),
    "skx": HASWELL._replace(cboxes=28, sboxes=0, imcs=6, qpi_ports=3, qclk=1.3e9,
                            generation="skx", stacks=6, ioclk=1e9),
}
MACHINES["clx"] = MACHINES["skx"]._replace(generation="clx")
MACHINES["cpx"] = MACHINES["skx"]._replace(qpi_ports=6, generation="cpx")
MACHINES["icx"] = MACHINES["skx"]._replace(
    cboxes=40, has=4, imcs=12, uclk=2.4e9, dclk=1.6e9, qclk=1.4e9, generation="icx")
MACHINES["icxd"] = MACHINES["icx"]._replace(
    packages=1, has=1, imcs=3, qpi_ports=0, nodes=(0,), generation="icxd")
MACHINES["snr"] = MACHINES["icxd"]._replace(
    cboxes=6, imcs=2, stacks=5, generation="snr")
MACHINE, METRICS = HASWELL, metrics("hswep")
CLOSE = 0.01
DATA, OTHER = 0x0f, 0x97                # unit masks of UPI's flits


def choose(name):
    """Choose the generation whose machine and metrics the functions below use."""
    global MACHINE, METRICS         # pylint: disable=global-statement
    MACHINE, METRICS = MACHINES[name], metrics(name)
    metric_causes.GENERATION = name


def sockets(name, seconds=0):
    """Return the flow.Socket of each package, @seconds after a scenario's start."""
    return flow.sockets(MACHINE, causes.at(name, seconds, MACHINE.packages))


def moments():
    """Generate (name, sockets) of each scenario, and of "mixed" at many times."""
    for name in causes.STEADY:
        yield name, sockets(name)
    for seconds in range(0, 120, 3):
        yield "mixed at %d s" % seconds, sockets("mixed", seconds / 2)


def rate(socket, box, code, umask, **keys):
    """Return the transactions per second of all flows with any bit of @umask."""
    return sum(entry.rate / (1 if entry.number is None else MACHINE.boxes(box))
               for entry in socket.flows
               if (entry.box, entry.code) == (box, code) and
               (entry.umask & umask or not umask) and
               all(entry.keys.get(key) == value
                   for key, value in keys.items())) * \
        MACHINE.boxes(box) * MACHINE.hertz(box)


def tor(socket, umask, code=0x35, **keys):
    """Return the TOR's transactions per second that meet all conditions of @umask."""
    return sum(entry.rate for entry in socket.flows
               if (entry.box, entry.code) == ("cbox", code) and
               entry.umask & umask == umask and
               all(entry.keys.get(key) == value
                   for key, value in keys.items())) * \
        MACHINE.boxes("cbox") * MACHINE.hertz("cbox")


def same(first, second):
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-6)


# --- conservation laws ---------------------------------------------------------

def laws(pair):
    """Generate (description, number, number): two numbers that must be equal."""
    asks = reads = writes = 0
    for s in pair:
        cas_reads = rate(s, "imc", 0x04, 0x03)
        cas_writes = rate(s, "imc", 0x04, 0x0c)
        yield "CAS reads are the home agent's", cas_reads, \
            rate(s, "ha", 0x01, 0x03)
        yield "CAS writes are the home agent's", cas_writes, \
            rate(s, "ha", 0x01, 0x0c)
        yield "CAS reads come by the read queue", cas_reads, \
            rate(s, "imc", 0x10, 0)
        yield "reads of the channels", cas_reads, rate(s, "ha", 0x17, 1)
        yield "writes of the channels", cas_writes, rate(s, "ha", 0x1a, 0xf)
        reads, writes = reads + cas_reads, writes + cas_writes
        # Reads of cores and devices that miss. Uncached reads transfer no line, and
        # stores of whole lines read nothing.
        asks += sum(tor(s, 0x03, opc=opc) for opc in
                    (flow.DRD, flow.CRD, flow.DEVICE_READ)) + \
            tor(s, 0x03, opc=flow.RFO)
    yield "LLC misses are CAS reads", asks, reads
    yield "lines stored whole, and devices' new ones, ask for ownership", sum(
        tor(s, 0x03, opc=opc) for s in pair
        for opc in (flow.STREAM_FULL, flow.ITOM)), \
        sum(rate(s, "ha", 0x01, 0x30) for s in pair)
    yield "victims and streamed lines are CAS writes", sum(
        rate(s, "cbox", 0x37, 0x01) + tor(s, 0x03, opc=flow.STREAM_FULL)
        for s in pair), writes
    for s, other in (pair, pair[::-1]):
        remote = sum(tor(s, 0x83, opc=opc)
                     for opc in (flow.DRD, flow.RFO, flow.CRD))
        yield "remote misses are the other home agent's", remote, \
            rate(other, "ha", 0x01, 0x02)
        lines = remote + rate(s, "ha", 0x01, 0x08)
        yield "remote lines are data flits / 8", lines, \
            rate(s, "qpi", 0x102, 0x08) / 8
        yield "and a header each", lines, rate(s, "qpi", 0x102, 0x10)
        yield "packets are lines", lines, packets(s, 0xe0, 0xf0)
        for group, umask in ((0, 0x01), (0, 0x02), (0, 0x08), (0, 0x10),
                             (1, 0x01), (1, 0x04), (1, 0x08)):
            yield "what one sends the other receives, %d %#x" % (
                group, umask), rate(s, "qpi", 0x100 + group, umask), \
                rate(other, "qpi", 0x102 + group, umask)
        posted, interrupts = (packets(s, 0xc << 4 | opcode)
                              for opcode in (0, 8))
        yield "posted lines have a header, interrupts three flits", \
            rate(s, "qpi", 0x103, 0x08), posted + 3 * interrupts
        yield "posted lines have eight flits of data", \
            rate(s, "qpi", 0x103, 0x04), 8 * posted
        yield "remote reads look in the other's caches", \
            rate(s, "cbox", 0x34, 0x08), rate(s, "ha", 0x01, 0x02)
        yield "lines that are written back look in the directory cache", \
            rate(s, "ha", 0x70, 0x02), rate(s, "ha", 0x01, 0x08)
        yield "data flits of all kinds", rate(s, "qpi", 0x00, 0x02), \
            rate(s, "qpi", 0x100, 0x08) + rate(s, "qpi", 0x101, 0x04)
        yield "all other flits", rate(s, "qpi", 0x00, 0x04), \
            rate(s, "qpi", 0x100, 0x13) + rate(s, "qpi", 0x101, 0x09)
    for s in pair:
        c = s.causes
        inserts, entries = ({(entry.umask, *entry.keys.items()): entry.rate
                             for entry in s.flows
                             if (entry.box, entry.code) == ("cbox", code)}
                            for code in (0x35, 0x36))
        for kind, occupancy in entries.items():
            ns = c.remote_ns if kind[0] & 0x80 or ("nc", 1) in kind else \
                c.local_ns if kind[0] & 0x02 else c.hit_ns
            yield "occupancy is rate times latency (Little)", occupancy, \
                inserts[kind] * ns * 2.5
        yield "reads of the TOR are looked up", rate(s, "cbox", 0x34, 0x20), \
            sum(tor(s, 0x01, opc=opc) for opc in
                (flow.DRD, flow.RFO, flow.CRD)) - \
            tor(s, 0x01, opc=flow.RFO, tid=flow.DEVICE)
        victims = rate(s, "cbox", 0x37, 0x01)
        fills = sum(tor(s, 0x03, opc=opc) for opc in (
            flow.DRD, flow.RFO, flow.CRD, flow.ITOM, flow.DEVICE_READ))
        yield "what comes in drives something out", max(fills, victims), \
            rate(s, "cbox", 0x37, 0x07)
        yield "dirty victims go by the TOR", victims, tor(s, 0x04)
        yield "so is what L2s write back", rate(s, "cbox", 0x34, 0x04), \
            tor(s, 0x10)
        yield "lookups that find I are misses", \
            rate(s, "cbox", 0x34, 0x20, state=1), sum(
                s.own.misses.values())
        # occ_sel is a number and not a mask, so compare the whole unit mask
        yield "a core is in one state", MACHINE.cboxes, sum(
            entry.rate for entry in s.flows if (entry.box, entry.code, entry.umask) in
            (("pcu", 0x80, state) for state in (0x40, 0x80, 0xc0)))
        yield "a package is in one state", MACHINE.pclk, sum(
            rate(s, "pcu", code, 0) for code in (0x2a, 0x2b, 0x2c, 0x2d))
        yield "a link is in one state", MACHINE.qpi_ports * MACHINE.qclk, \
            rate(s, "qpi", 0x0f, 0) + rate(s, "qpi", 0x12, 0)
        pages = rate(s, "imc", 0x01, 0x0b)
        yield "activates are of pages that were not open", pages, \
            (rate(s, "imc", 0x04, 0x0f)) * (1 - c.page_hits)


def has_event(box, name):
    return (box, name) in generations.load(MACHINE.generation).events


def counted(socket, box, name):
    """Return the transactions per second of a socket that an event without filters counts:
    those with a bit of its unit mask, or with the same where that is a number."""
    event = generations.load(MACHINE.generation).events[box, name]
    return sum(entry.rate / (1 if entry.number is None else MACHINE.boxes(box))
               for entry in socket.flows if (entry.box, entry.code) == (box, event.code) and
               (entry.umask == event.umask or
                (event.rule == "any" and event.counter != "free" and
                entry.umask & event.umask))) * \
        MACHINE.boxes(box) * MACHINE.hertz(box)


def unit(box, name):
    """Return the bytes of an increment of an event."""
    return float(generations.load(MACHINE.generation).events[box, name].scale)


def in_tor(socket, name, opcode=None, remote=None):
    """Return the requests per second in the table of the CHAs with an opcode or of all of
    them, and of all memory or of other sockets' memory."""
    if generations.load(MACHINE.generation).has_numbers("cha", "tor_inserts"):
        opcodes = {None: ("drd", "rfo", "crd"), "rdcur": ("pcirdcur",)}[opcode]
        return sum(counted(socket, "cha", "tor_inserts.%s_%s%s" % (
            name, word, "_remote" if remote else "")) for word in opcodes)
    event = generations.load(MACHINE.generation).events["cha", "tor_inserts." + name]
    return sum(entry.rate for entry in socket.flows if
               (entry.box, entry.code, entry.umask) == ("cha", event.code, event.umask) and
               entry.keys["opc"] == mesh.OPCODES.get(opcode, entry.keys["opc"]) and
               (not remote or entry.keys.get("remote"))) * MACHINE.boxes("cha") * MACHINE.uclk


def residents(socket):
    """Generate (ns, inserts, occupancy) of requests in the table of the CHAs that stay for the
    same time."""
    c = socket.causes
    if generations.load(MACHINE.generation).has_numbers("cha", "tor_inserts"):
        for name, ns in (("hit_%s", c.hit_ns), ("miss_%s_local", c.local_ns),
                         ("miss_%s_remote", c.remote_ns)):
            for word in ("drd", "rfo", "crd"):
                names = ("%s.ia_%s" % (base, name % word)
                         for base in ("tor_inserts", "tor_occupancy"))
                if has_event("cha", "tor_occupancy.ia_" + name % word):
                    yield (ns, *(counted(socket, "cha", name) for name in names))
        return
    inserts, entries = ({(entry.umask, *entry.keys.items()): entry.rate
                         for entry in socket.flows if (entry.box, entry.code) == ("cha", code)}
                        for code in (0x35, 0x36))
    for kind, occupancy in entries.items():
        yield (c.remote_ns if ("remote", 1) in kind else
               c.local_ns if kind[0] & mesh.BITS["miss"] else c.hit_ns,
               inserts[kind], occupancy)


def mesh_laws(pair):
    """The same as laws() for sockets with a mesh."""
    reads = missing = 0
    for s, other in (pair, pair[::-1]):
        cas_reads, cas_writes = (counted(s, "imc", "cas_count." + name) for name in ("rd", "wr"))
        reads += cas_reads
        yield "CAS reads pass an M2M", cas_reads, counted(s, "m2m", "imc_reads.all")
        yield "CAS writes pass an M2M", cas_writes, counted(s, "m2m", "imc_writes.all")
        yield "CAS reads are requests to the socket", cas_reads, rate(s, "cha", 0x50, 0x03)
        yield "CAS writes are requests to the socket", cas_writes, \
            rate(s, "cha", 0x50, 0x0c)
        yield "each read looks in the directory", cas_reads, rate(s, "cha", 0x53, 0x03)
        missing += in_tor(s, "ia_miss") + in_tor(s, "io_miss", opcode="rdcur")
        yield "remote misses are the other socket's requests", \
            in_tor(s, "ia_miss", remote=1), rate(other, "cha", 0x50, 0x02)
        for umask in (DATA, OTHER):
            yield "flits %#x that one sends the other receives" % umask, sum(
                entry.rate for entry in s.flows if (entry.box, entry.code, entry.umask) ==
                ("upi", 0x02, umask)), sum(
                    entry.rate for entry in other.flows
                    if (entry.box, entry.code, entry.umask) == ("upi", 0x03, umask))
        for umask, event, way in ((0x01, "coherent_ops.pcitom", "in"),
                                  (0x04, "coherent_ops.pcirdcur", "out")):
            size = rate(s, "iio", 0x83, umask) * mesh.UNIT
            if has_event("irp", event):
                yield "a stack's data are lines of its IRP", size, \
                    counted(s, "irp", event) * flow.LINE
            if has_event("iio_free_running", "bw_%s_port0" % way):
                yield "and the free-running counters'", size, sum(
                    counted(s, "iio_free_running", "bw_%s_port%d" % (way, port)) *
                    unit("iio_free_running", "bw_%s_port%d" % (way, port))
                    for port in range(4))
        if has_event("imc_free_running", "read"):
            for name, lines in (("read", cas_reads), ("write", cas_writes)):
                yield "a controller has the lines of its channels", lines, \
                    counted(s, "imc_free_running", name)
        for ns, inserts, cycles in residents(s):
            yield "occupancy is rate times latency (Little)", cycles, \
                inserts * ns * MACHINE.uclk / 1e9
    yield "misses of cores and devices are CAS reads", missing, reads


def packets(socket, kind, mask=0xff):
    """Return the received packets per second of a class and opcode."""
    return sum(entry.rate for entry in socket.flows
               if (entry.box, entry.code) == ("qpi", 0x138) and
               entry.keys["dir"] == "rx" and
               entry.keys["match0"] >> 5 & mask == kind) * \
        MACHINE.qpi_ports * MACHINE.qclk


def broken(balances):
    """Describe the conservation laws that do not hold."""
    return ["%s: %r and %r" % law for law in balances
            if not same(law[1], law[2])]


def test_laws(tap, of_pair=laws):
    wrong, checked = [], 0
    for name, pair in moments():
        balances = list(of_pair(pair))
        checked += len(balances)
        wrong += ["%s: %s" % (name, law) for law in broken(balances)]
    tap.ok(not wrong and checked > 1000, "%s: %d balances" % (
        MACHINE.generation, checked), wrong)


# --- metrics --------------------------------------------------------------------

def of_rates(metric, socket):
    """Return a metric's value for a second, from the rates as the simulator gets them."""
    counts = []
    for term in metric.terms:
        hertz = MACHINE.hertz(term.box)
        seen = counter_0(metric.terms) if is_relay(term) else term
        if term.code == 0xff:
            counts.append(hertz * MACHINE.boxes(term.box))
            continue
        mean = sum(round(entry.rate, 9) * seen.counts(entry) /
                   (1 if entry.number is None else MACHINE.boxes(entry.box))
                   for entry in socket.flows if entry.box == seen.box and
                   entry.keys.get("dir") != "tx")
        if term.thresh:     # the simulator spreads transactions as evenly as possible
            assert term.thresh == 1
            mean = min(mean, 1.0)
        counts.append(mean * hertz * MACHINE.boxes(term.box))
    return metric.value(counts, SECONDS=1, BOXES=MACHINE.boxes(metric.box))


def wrong_metrics(pair):
    """Describe the metrics whose value from the rates is not that of the causes."""
    wrong = []
    for i, socket in enumerate(pair):
        want = expected(socket, pair[1 - i if len(pair) > 1 else 0].causes)
        for metric in METRICS:
            if metric.name in NO_CAUSE:
                continue
            try:
                got = of_rates(metric, socket)
            except ZeroDivisionError:
                got = math.nan
            if not math.isclose(got, want[metric.name], rel_tol=CLOSE,
                                abs_tol=1e-9) and not (
                                    math.isnan(got) and
                                    math.isnan(want[metric.name])):
                wrong.append("%s of socket %d: %r, cause %r" % (
                    metric.name, i, got, want[metric.name]))
    return wrong


def test_metrics(tap):
    names = {metric.name for metric in METRICS}
    pair = sockets("io")
    have = set(expected(pair[0], pair[-1].causes))
    tap.ok(have.isdisjoint(NO_CAUSE) and have | names & set(NO_CAUSE) == names,
           "each metric has a cause (%d) or a reason why not (%d)" % (
               len(have), len(names & set(NO_CAUSE))),
           sorted((have | set(NO_CAUSE)) ^ names))
    for name in causes.STEADY:
        wrong = wrong_metrics(sockets(name))
        tap.ok(not wrong, "%s: the rates give the causes back" % name, wrong)
    wrong = [text for name, pair in moments() if "mixed" in name
             for text in wrong_metrics(pair)]
    tap.ok(not wrong, "mixed: the same at every moment", wrong)
    dead = [metric.name for metric in METRICS if metric.name not in NO_CAUSE and
            not any(expected(pair[i], pair[1 - i].causes)[metric.name]
                    for pair in map(sockets, causes.STEADY) for i in (0, 1))]
    idle = [name for name in dead if not (
        "_to_node" in name or "dram_rank" in name or name in (
            "pct_cycles_dlloff", "pct_cycles_self_refresh",
            "drs_ptl_cacheline_msgs_from_qpi"))]
    tap.ok(not idle, "all but %d metrics show something" % len(dead), idle)


def test_events(tap):
    """Each rate belongs to an event of the catalogue."""
    events, wrong = generations.load(MACHINE.generation).names, []
    for name, pair in moments():
        for entry in pair[0].flows:
            if (entry.box, entry.code) not in events:
                wrong.append("%s: %s" % (name, entry.line(0).strip()))
    tap.ok(not wrong, "%d events of the catalogue have rates" % len(
        {(entry.box, entry.code) for entry in sockets("io")[0].flows}), wrong)


def test_generation(tap, name):
    """Each metric of another generation follows from the rates of its events."""
    choose(name)
    names = {metric.name for metric in METRICS}
    pair = sockets("io")
    have = set(expected(pair[0], pair[-1].causes))
    tap.ok(have | names & set(NO_CAUSE) == names,
           "%s: each of %d metrics has a cause or a reason why not" % (
               name, len(names)), sorted(have ^ names))
    for scenario in causes.STEADY:
        wrong = wrong_metrics(sockets(scenario))
        tap.ok(not wrong, "%s, %s: the rates give the causes back" % (
            name, scenario), wrong)
    test_events(tap)
    # the laws are those of two sockets
    if generations.load(name).mesh and MACHINE.packages > 1:
        test_laws(tap, mesh_laws)


def main():
    tap = Tap()
    for test in (test_laws, test_metrics, test_events):
        test(tap)
    for name in MACHINES:
        if name != "hswep":
            test_generation(tap, name)
    tap.end()


if __name__ == "__main__":
    main()
