# SPDX-License-Identifier: GPL-2.0-or-later
"""
The scenarios. A scenario gives each socket a few causes, such as the bytes that its
cores read; flow.py computes the rates of all events from the causes.

Rates are per second, sizes in bytes, latencies in nanoseconds, and shares are from 0 to
1. A socket of an E5 v3 has four channels of DDR4-2133, which transfer at most 68 GB/s,
and two links of 9.6 GT/s to the other socket, each with 19.2 GB/s in each direction.
"""

import dataclasses
import random

from scenarios import generations

GB, MB = 1e9, 1e6
# Module parameters of the simulator for this machine.
MACHINE = {"imcs": 4, "qpi_ports": 2, "uclk_khz": 2500000,
           "dclk_khz": 1066500, "qclk_khz": 2400000, "pclk_khz": 800000}
# Before Haswell, the clock of the QPI link layer is an eighth of 8 GT/s.
EARLIER = {"qclk_khz": 1000000}


# Skylake-SP and Cascade Lake-SP have all boxes, DDR4-2666, links of 10.4 GT/s and IO stacks of
# 1 GHz.
MESH = {"uclk_khz": 2400000, "dclk_khz": 1333000, "qclk_khz": 1300000,
        "pclk_khz": 1000000, "ioclk_khz": 1000000}
# Ice Lake and Snow Ridge have DDR4-3200, and Ice Lake-SP links of 11.2 GT/s.
LATER = {"icx": {"dclk_khz": 1600000, "qclk_khz": 1400000},
         "icxd": {"dclk_khz": 1600000}, "snr": {"dclk_khz": 1600000}}


def parameters(generation):
    """Return the simulator's module parameters for this machine of a generation."""
    known = generations.load(generation)
    if known and known.mesh:
        return {**MESH, **LATER.get(generation, {})}
    if generation in ("snbep", "ivbep"):
        return {**MACHINE, **EARLIER}
    if generation == "bdwde":
        return {name: value for name, value in MACHINE.items()
                if name != "qpi_ports"}
    return MACHINE


PEAK = 4 * 8 * 2 * 1066.5e6         # maximum of a socket's memory, bytes per second
LINK = 4 * 2400e6 * 2               # maximum of a link in a direction, bytes per second


@dataclasses.dataclass(frozen=True)
class Socket:
    """The causes of a socket, from which the events of its boxes follow. All causes are
    numbers, so between() can interpolate between two sockets' causes."""

    # traffic of the socket's cores, as it reaches the memory
    reads: float = 80 * MB          # bytes of lines that miss the LLC
    writes: float = 40 * MB         # bytes of dirty lines that the LLC evicts
    streamed: float = 0.0           # bytes of whole lines stored past the caches
    bound: float = 0.0              # part of them that grows with the most that memory can do
    remote: float = 0.05            # share of reads, writes and streamed for the other
                                    # socket's memory
    ownership: float = 0.1          # share of reads that are for ownership (RFO)
    code: float = 0.05              # share of reads that are for code
    data_hits: float = 0.9          # share of data reads that hit the LLC
    ownership_hits: float = 0.8     # share of reads for ownership that hit the LLC
    code_hits: float = 0.95         # share of code reads that hit the LLC
    victims: float = 2.0            # lines that L2s write back, per line of writes
    part_stores: float = 0.01       # streaming stores of part of a line, per line of
                                    # streamed
    mmio_reads: float = 1e4
    mmio_writes: float = 3e4
    uncached: float = 1e4           # reads of uncacheable memory
    # latencies: of requests in the TOR (hit, local and remote memory), of the ingress
    # queue, and in the home agent
    hit_ns: float = 18.0
    local_ns: float = 80.0
    remote_ns: float = 130.0
    ingress_ns: float = 4.0
    home_ns: float = 55.0
    # the ingress queue of the CBos
    rejected: float = 0.01          # rejected tries, per request
    starved: float = 0.0            # share of cycles in which the queue is blocked
    # PCIe devices: bytes that they write and read, and the shares that hit the LLC
    device_writes: float = 40 * MB
    device_reads: float = 40 * MB
    device_write_hits: float = 0.9
    device_read_hits: float = 0.8
    device_parts: float = 0.05      # writes of part of a line, per line of device_writes
    # memory: shares of CAS commands
    page_hits: float = 0.3
    page_misses: float = 0.2        # the remaining commands find their bank closed
    # memory: shares of cycles
    cke_off: float = 0.6            # of each populated rank
    throttled: float = 0.0
    power_down: float = 0.5
    self_refresh: float = 0.0
    dll_off: float = 0.0
    # persistent memory: bytes that are read and written, the time of a read, and the share
    # of accesses that DRAM, as its cache, answers
    pmem_reads: float = 20 * MB
    pmem_writes: float = 10 * MB
    pmem_ns: float = 300.0
    near_hits: float = 0.75
    # the home agent
    to_core: float = 0.7            # share of lines from QPI that go directly to a core
    to_core_off: float = 0.05       # share of cycles in which direct-to-core is disabled
    data_full: float = 0.0          # share of cycles with a full BL egress
    forwarded: float = 0.1          # share of remote reads that use the directory cache
    known: float = 0.6              # share of the directory cache's lookups that hit
    # shares of the other socket's answers by the state of the line; the remainder is F
    modified: float = 0.05
    exclusive: float = 0.85
    interrupts: float = 5e3         # sent to the other socket
    posted: float = 5e3             # lines written to the other socket's devices
    # power: shares of time
    core_c0: float = 0.03
    core_c3: float = 0.02           # in the remaining time a core is in C6
    package_c0: float = 0.35
    package_c2: float = 0.25
    package_c3: float = 0.1         # in the remaining time the package is in C6
    frequency: float = 1.6          # GHz
    limit_power: float = 0.0
    limit_thermal: float = 0.0
    limit_os: float = 0.9
    half_link: float = 0.5          # share of a link's cycles with half of the lanes
    no_link: float = 0.2            # share of a link's cycles in L1

    def check(self):
        """Raise ValueError for causes that are impossible on any machine."""
        for field in dataclasses.fields(self):
            if getattr(self, field.name) < 0:
                raise ValueError("%s is negative" % field.name)
        for names in (("remote",), ("ownership", "code"), ("starved",),
                      ("page_hits", "page_misses"), ("modified", "exclusive"),
                      ("core_c0", "core_c3"), ("limit_power",),
                      ("limit_thermal",), ("limit_os",),
                      ("package_c0", "package_c2", "package_c3"),
                      ("half_link", "no_link"), ("device_write_hits",),
                      ("device_read_hits",), ("near_hits",), ("forwarded",), ("known",)):
            if sum(getattr(self, name) for name in names) > 1 + 1e-9:
                raise ValueError("%s is more than all" % " + ".join(names))
        if self.bound > (self.reads + self.writes + self.streamed) * (1 + 1e-9):
            raise ValueError("bound is more than all")
        for name in ("data_hits", "ownership_hits", "code_hits"):
            if getattr(self, name) >= 1:
                raise ValueError("%s leaves no misses" % name)


def mean(shares):
    """Return the mean of sockets' causes; @shares: (causes, share) with 1 in all."""
    return Socket(**{field.name: sum(getattr(causes, field.name) * share
                                     for causes, share in shares)
                     for field in dataclasses.fields(Socket)})


def between(first, second, share):
    """Interpolate between two sockets' causes; a share of 1 is the second socket's."""
    return mean([(first, 1 - share), (second, share)])


def on_memory(causes, peak):
    """Return a socket's causes where its memory can do @peak bytes per second."""
    if not causes.bound:
        return causes
    moved = causes.reads + causes.writes + causes.streamed
    more = 1 + causes.bound / moved * (peak / PEAK - 1)
    return dataclasses.replace(causes, **{name: getattr(causes, name) * more
                                          for name in ("reads", "writes", "streamed", "bound")})


IDLE = Socket()

_BUSY = dataclasses.replace(
    IDLE, core_c0=0.98, core_c3=0.0, package_c0=1.0, package_c2=0.0,
    package_c3=0.0, frequency=2.9, limit_os=0.0, half_link=0.0, no_link=0.0,
    cke_off=0.02, power_down=0.01, interrupts=5e3, mmio_writes=5e4)

STREAM = dataclasses.replace(
    _BUSY, reads=33 * GB, writes=9 * GB, streamed=7 * GB, bound=49 * GB, remote=0.01,
    ownership=0.25, code=0.001, data_hits=0.08, ownership_hits=0.05,
    local_ns=190.0, remote_ns=260.0, ingress_ns=9.0, home_ns=150.0,
    rejected=0.15, starved=0.06, page_hits=0.72, page_misses=0.2,
    data_full=0.04, limit_power=0.35, limit_thermal=0.02, frequency=2.6,
    throttled=0.01)

NUMA = dataclasses.replace(
    _BUSY, reads=12 * GB, writes=4 * GB, streamed=0.5 * GB, remote=0.75,
    ownership=0.2, code=0.002, data_hits=0.2, ownership_hits=0.1,
    local_ns=95.0, remote_ns=210.0, ingress_ns=6.0, home_ns=90.0,
    rejected=0.08, starved=0.03, page_hits=0.4, page_misses=0.35,
    forwarded=0.25, modified=0.2, exclusive=0.6, data_full=0.02,
    limit_power=0.1)

LATENCY = dataclasses.replace(
    _BUSY, reads=0.75 * GB, writes=80 * MB, remote=0.02, ownership=0.02,
    code=0.005, data_hits=0.03, local_ns=84.0, remote_ns=138.0,
    page_hits=0.04, page_misses=0.56, core_c0=1 / 18, core_c3=0.01,
    frequency=3.3, half_link=0.4, no_link=0.1, cke_off=0.2, power_down=0.1,
    to_core=0.9)

IO = dataclasses.replace(
    _BUSY, reads=4 * GB, writes=1.5 * GB, remote=0.15, ownership=0.15,
    code=0.02, data_hits=0.6, ownership_hits=0.5, device_writes=8 * GB,
    device_reads=6 * GB, device_write_hits=0.7, device_read_hits=0.75,
    device_parts=0.03, mmio_reads=2e4, mmio_writes=3e6, uncached=5e4,
    interrupts=2e5, posted=5e4, core_c0=0.35, core_c3=0.05, frequency=3.0,
    local_ns=90.0, remote_ns=150.0, rejected=0.03, starved=0.01,
    page_hits=0.5, page_misses=0.2, cke_off=0.1, power_down=0.05)


def _unequal(causes, share, **more):
    """Return the causes of the second socket: the traffic of the first socket times
    @share, and other causes changed by @more."""
    return dataclasses.replace(
        causes, **{name: getattr(causes, name) * share for name in
                   ("reads", "writes", "streamed", "bound", "device_writes",
                    "device_reads", "mmio_writes")}, **more)


# The causes of both sockets. They differ, so that a test notices if a program mixes up
# the sockets.
STEADY = {
    "idle": (IDLE, _unequal(IDLE, 0.6, core_c0=0.02, package_c0=0.3)),
    "stream": (STREAM, _unequal(STREAM, 0.9, page_hits=0.7)),
    "numa": (NUMA, _unequal(NUMA, 0.7, remote=0.6)),
    "latency": (LATENCY, _unequal(LATENCY, 0.9, local_ns=88.0)),
    "io": (IO, _unequal(IO, 0.25, core_c0=0.15)),
}
# (seconds, scenario): the phases of the scenario "mixed"
MIXED = ((14, "stream"), (8, "latency"), (12, "numa"), (16, "io"), (10, "idle"))
RAMP = 2                    # seconds from one phase to the next
SCENARIOS = (*STEADY, "mixed")
ABOUT = {
    "idle": "nothing to do but timers",
    "stream": "copies between arrays in local memory, near the peak",
    "numa": "the same with most of the memory at the other socket",
    "latency": "a pointer chase: one load at a time",
    "io": "a network card and NVMe disks, most of it into the LLC (DDIO)",
    "mixed": "all of these in turn, in %d s" % sum(
        seconds for seconds, _ in MIXED),
}


def mixtures(seed, least=0.5):
    """Generate random mixtures of the busy scenarios without an end: (largest, shares,
    causes of both sockets). @least: share of the largest."""
    names = [name for name in STEADY if name != "idle"]
    dice = random.Random(seed)
    while True:
        parts = [dice.expovariate(1) for _ in names]
        shares = {name: part / sum(parts) for name, part in zip(names, parts)}
        largest = max(shares, key=shares.get)
        if shares[largest] >= least:
            yield largest, shares, [
                mean([(STEADY[name][i], share) for name, share in shares.items()])
                for i in range(2)]


def at(name, seconds, sockets=2):
    """Return the causes of each socket, @seconds after the start of a scenario."""
    if name != "mixed":
        pair = STEADY[name]
    else:
        seconds %= sum(length for length, _ in MIXED)
        before = MIXED[-1][1]
        for length, now in MIXED:
            if seconds < length:
                break
            seconds, before = seconds - length, now
        share = min(1.0, seconds / RAMP)
        pair = tuple(between(*pair, share)
                     for pair in zip(STEADY[before], STEADY[now]))
    return [pair[socket % 2] for socket in range(sockets)]
