# SPDX-License-Identifier: GPL-2.0-or-later
"""
The scenarios, as the few causes that each socket's events follow from. What
follows is flow.py's business.

Rates are of a second, sizes in bytes, latencies in nanoseconds, shares of 1. A
socket of an E5 v3 has four channels of DDR4-2133, which is 68 GB/s at most, and
two links of 9.6 GT/s to the other socket, 19.2 GB/s each way.
"""

import dataclasses

GB, MB = 1e9, 1e6
# Module parameters of the simulator for this machine.
MACHINE = {"imcs": 4, "qpi_ports": 2, "uclk_khz": 2500000,
           "dclk_khz": 1066500, "qclk_khz": 2400000, "pclk_khz": 800000}
# The link layer's clock before Haswell: an eighth of 8 GT/s.
EARLIER = {"qclk_khz": 1000000}


def parameters(generation):
    """Of the simulator, for this machine of a generation."""
    if generation in ("snbep", "ivbep"):
        return {**MACHINE, **EARLIER}
    if generation == "bdwde":
        return {name: value for name, value in MACHINE.items()
                if name != "qpi_ports"}
    return MACHINE


PEAK = 4 * 8 * 2 * 1066.5e6         # of a socket's memory, bytes a second
LINK = 4 * 2400e6 * 2               # of a link, each way


@dataclasses.dataclass(frozen=True)
class Socket:
    """Causes of what a socket's boxes see. As all are numbers, there is
    something between any two of them."""

    # what its cores do; all of it as it passes the memory
    reads: float = 80 * MB          # lines that miss its LLC
    writes: float = 40 * MB         # dirty lines that its LLC evicts
    streamed: float = 0.0           # whole lines stored past the caches
    remote: float = 0.05            # share of these at the other socket's memory
    ownership: float = 0.1          # share of reads that are for ownership
    code: float = 0.05              # and that are for code
    data_hits: float = 0.9          # share of the LLC's data reads that hit
    ownership_hits: float = 0.8
    code_hits: float = 0.95
    victims: float = 2.0            # lines that L2s write back, for each of writes
    part_stores: float = 0.01       # of part of a line, for each of streamed
    mmio_reads: float = 1e4
    mmio_writes: float = 3e4
    uncached: float = 1e4           # reads of uncacheable memory
    # latencies in the TOR, of the ingress queue and in the home agent
    hit_ns: float = 18.0
    local_ns: float = 80.0
    remote_ns: float = 130.0
    ingress_ns: float = 4.0
    home_ns: float = 55.0
    # and what becomes of requests on their way
    rejected: float = 0.01          # tries of requests that are turned away
    starved: float = 0.0
    # devices: what they write and read, and how much of it the LLC takes
    device_writes: float = 40 * MB
    device_reads: float = 40 * MB
    device_write_hits: float = 0.9
    device_read_hits: float = 0.8
    device_parts: float = 0.05      # writes of part of a line, for each line
    # memory
    page_hits: float = 0.3
    page_misses: float = 0.2        # the rest finds its bank closed
    cke_off: float = 0.6            # of each populated rank
    throttled: float = 0.0
    power_down: float = 0.5
    self_refresh: float = 0.0
    dll_off: float = 0.0
    # what the home agent does
    to_core: float = 0.7            # lines from QPI that go to a core directly
    to_core_off: float = 0.05
    data_full: float = 0.0          # cycles with a full BL egress
    forwarded: float = 0.1          # remote reads that the directory cache knows of
    known: float = 0.6              # share of its lookups that hit
    # the other socket's answers by state; the remainder is F
    modified: float = 0.05
    exclusive: float = 0.85
    interrupts: float = 5e3         # between the sockets
    posted: float = 5e3             # lines written to the other socket's devices
    # power
    core_c0: float = 0.03
    core_c3: float = 0.02           # the rest is in C6
    package_c0: float = 0.35
    package_c2: float = 0.25
    package_c3: float = 0.1         # the rest is in C6
    frequency: float = 1.6          # GHz
    limit_power: float = 0.0
    limit_thermal: float = 0.0
    limit_os: float = 0.9
    half_link: float = 0.5          # share of a link's cycles with half the lanes
    no_link: float = 0.2            # and in L1

    def check(self):
        """Raises ValueError for what no machine does."""
        for field in dataclasses.fields(self):
            if getattr(self, field.name) < 0:
                raise ValueError("%s is negative" % field.name)
        for names in (("remote",), ("ownership", "code"), ("starved",),
                      ("page_hits", "page_misses"), ("modified", "exclusive"),
                      ("core_c0", "core_c3"), ("limit_power",),
                      ("limit_thermal",), ("limit_os",),
                      ("package_c0", "package_c2", "package_c3"),
                      ("half_link", "no_link"), ("device_write_hits",),
                      ("device_read_hits",), ("forwarded",), ("known",)):
            if sum(getattr(self, name) for name in names) > 1 + 1e-9:
                raise ValueError("%s is more than all" % " + ".join(names))
        for name in ("data_hits", "ownership_hits", "code_hits"):
            if getattr(self, name) >= 1:
                raise ValueError("%s leaves no misses" % name)


def between(one, other, share):
    """The causes on the way from one socket's to another's."""
    return Socket(**{field.name: getattr(one, field.name) * (1 - share) +
                     getattr(other, field.name) * share
                     for field in dataclasses.fields(Socket)})


IDLE = Socket()

_BUSY = dataclasses.replace(
    IDLE, core_c0=0.98, core_c3=0.0, package_c0=1.0, package_c2=0.0,
    package_c3=0.0, frequency=2.9, limit_os=0.0, half_link=0.0, no_link=0.0,
    cke_off=0.02, power_down=0.01, interrupts=5e3, mmio_writes=5e4)

STREAM = dataclasses.replace(
    _BUSY, reads=33 * GB, writes=9 * GB, streamed=7 * GB, remote=0.01,
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
    """A second socket that does the same, a little less of it."""
    return dataclasses.replace(
        causes, **{name: getattr(causes, name) * share for name in
                   ("reads", "writes", "streamed", "device_writes",
                    "device_reads", "mmio_writes")}, **more)


# Of each socket, so that no test takes one for the other.
STEADY = {
    "idle": (IDLE, _unequal(IDLE, 0.6, core_c0=0.02, package_c0=0.3)),
    "stream": (STREAM, _unequal(STREAM, 0.9, page_hits=0.7)),
    "numa": (NUMA, _unequal(NUMA, 0.7, remote=0.6)),
    "latency": (LATENCY, _unequal(LATENCY, 0.9, local_ns=88.0)),
    "io": (IO, _unequal(IO, 0.25, core_c0=0.15)),
}
# Seconds, and what the machine does in them.
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


def at(name, seconds, sockets=2):
    """The causes of a scenario's sockets, so long after it began."""
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
