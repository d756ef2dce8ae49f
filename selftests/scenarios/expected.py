# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compute the value of each metric of the catalogue from the causes of a scenario, and list
the metrics that do not follow from a cause. No count or rate of an event is used here:
all numbers are bandwidths, shares and latencies of the scenario.

A value is for a socket, in the metric's unit, with all boxes of the socket counted for a
second.
"""

import copy
import dataclasses
import math

from lib.python.metric_formulas import rows
from scenarios import generations
from scenarios.flow import FLITS, LINE, RANKS
from scenarios.mesh import ACCESS, SLOTS

GIB = 1 << 30
MIB = 1e6                   # the catalogue's MB
NODES = 2


def _share(part, whole):
    """Return a part in percent of the whole."""
    return 100 * part / whole if whole else 0.0


def _latencies(s):
    """Generate the latencies in uncore cycles and, with the suffix _ns, in ns; and the
    metrics of the ingress queue."""
    c, ghz = s.causes, s.machine.uclk / 1e9
    hits, remote = c.data_hits, c.remote
    miss = c.local_ns * (1 - remote) + c.remote_ns * remote
    for name, ns in (("avg_ingress_latency", c.ingress_ns),
                     ("avg_tor_drd_hit_latency", c.hit_ns),
                     ("avg_tor_drd_latency",
                      c.hit_ns * hits + miss * (1 - hits)),
                     ("avg_tor_drd_loc_miss_latency", c.local_ns),
                     ("avg_tor_drd_miss_latency", miss),
                     # DRAM answers all reads; persistent memory is behind it
                     ("avg_tor_drd_dram_latency", miss),
                     ("avg_tor_drd_rem_miss_latency",
                      c.remote_ns if remote else math.nan)):
        yield name, ns * ghz
        yield name + "_ns", ns
    # Data reads that wait in a slice's TOR (Little's law). The average while the TOR is
    # not empty is at least 1.
    reads = c.reads / LINE * (1 - c.ownership - c.code) / s.machine.cboxes
    waiting = reads * miss * 1e-9
    yield "avg_tor_drds_miss_when_ne", max(1.0, waiting)
    yield "avg_tor_drds_when_ne", max(
        1.0, waiting + reads * hits / (1 - hits) * c.hit_ns * 1e-9)
    yield "avg_ingress_depth", \
        s.requests / s.machine.cboxes * c.ingress_ns * 1e-9
    yield "ingress_rej_v_ins", c.rejected
    yield "cyc_ingress_blocked", 100 * c.starved


def _cache(s):
    """Generate the metrics of the LLC, and of the requests of devices."""
    c = s.causes
    writes, reads = c.device_writes, c.device_reads
    yield "llc_drd_miss_pct", 100 * (1 - c.data_hits)
    yield "llc_rfo_miss_pct", 100 * (1 - c.ownership_hits)
    yield "llc_drd_miss_bw_rate", c.reads * (1 - c.ownership - c.code) / GIB
    # a CHA counts parts of lines as well; they hit, as devices read the whole line before
    parts = writes * c.device_parts if "cha" in _generation(s).boxes else 0
    yield "ddio_hit_pct", _share(
        writes * c.device_write_hits + reads * c.device_read_hits + parts,
        writes + reads + parts)
    yield "llc_drd_miss_to_loc_mem", 100 * (1 - c.remote)
    yield "llc_drd_miss_to_rem_mem", 100 * c.remote
    yield "mem_wb_bytes", c.writes + writes * (1 - c.device_write_hits)
    # The catalogue counts the lines that devices write as ItoM only in generations whose
    # thread field identifies devices.
    if _generation(s).device_tid:
        yield "fast_str_llc_req", writes / LINE
        yield "fast_str_llc_miss", writes / LINE * (1 - c.device_write_hits)
    else:
        yield "fast_str_llc_req", 0.0
        yield "fast_str_llc_miss", 0.0
        yield "pcie_data_bytes", writes
        yield "llc_drd_rfo_miss_to_loc_mem", 100 * (1 - c.remote)
        yield "llc_drd_rfo_miss_to_rem_mem", 100 * c.remote
    yield "pci_writes", writes / LINE
    yield "pci_reads", reads / LINE
    yield "partial_pci_writes", writes / LINE * c.device_parts
    yield "io_read_bw", writes / MIB
    yield "io_read_bw_rate", writes / GIB
    yield "io_write_bw", reads / MIB
    yield "io_write_bw_rate", reads / GIB
    yield "mmio_partial_reads_cpu", c.mmio_reads
    yield "mmio_writes_cpu", c.mmio_writes
    yield "uc_reads", c.uncached
    yield "streamed_full_stores", c.streamed / LINE
    yield "streamed_part_stores", c.streamed / LINE * c.part_stores


def _rings(s):
    """Generate the bytes that pass the rings' stops. Each line passes a quarter of the
    stops, as often in each direction. Half of the lines pass an SBo."""
    way = s.ring_lines * LINE * s.machine.cboxes / 4 / 2
    slots = s.machine.cboxes * s.machine.uclk * 32
    for name in ("up", "dn"):
        yield "cbox_ring_thru_%s_bytes" % name, way
        yield "cbox_cyc_used_" + name, _share(way, slots)
        for polarity in ("even", "odd"):
            yield "cbox_ring_thru_%s%s_bytes" % (name, polarity), way / 2
            yield "cbox_cyc_used_" + name + polarity, _share(way / 2, slots)
    # since Haswell, two packets per clock in each direction
    yield "cbox_ring_util", _share(way, slots * (
        2 if _generation(s).device_tid else 1))
    way = s.ring_lines * LINE / 2 / 4
    slots = s.machine.sboxes * s.machine.uclk * 32
    for name in ("upeven", "upodd", "dneven", "dnodd"):
        yield "ring_thru_%s_bytes" % name, way
        yield "cyc_used_" + name, _share(way, slots)
    yield "sbox_ring_util", _share(2 * way, 2 * slots)
    for name, size in (("up", s.causes.device_writes),
                       ("dn", s.causes.device_reads)):
        yield "r2pcie_ring_thru_%s_bytes" % name, size
        used = _share(size, s.machine.uclk * 32)
        yield "r2pcie_cyc_used_" + name, used
        for polarity in ("even", "odd"):
            yield "r2pcie_ring_thru_%s%s_bytes" % (name, polarity), size / 2
            yield "r2pcie_cyc_used_" + name + polarity, used / 2
    yield "r2pcie_ring_util", _share(
        max(s.causes.device_writes, s.causes.device_reads),
        s.machine.uclk * 32)


def _from_memory(c, other):
    """Return the bytes that are read from and written to a socket's memory."""
    reads = c.reads * (1 - c.remote) + other.reads * other.remote + \
        c.device_reads * (1 - c.device_read_hits)
    writes = (c.writes + c.streamed) * (1 - c.remote) + \
        (other.writes + other.streamed) * other.remote + \
        c.device_writes * (1 - c.device_write_hits)
    return reads, writes


def _memory(s, other):
    """Generate the metrics of the memory channels and of the home agents."""
    c = s.causes
    reads, writes = _from_memory(c, other)
    for name, size in (("reads", reads), ("writes", writes),
                       ("total", reads + writes)):
        yield "mem_bw_" + name, size
        yield "mem_bw_%s_rate" % name, size / GIB
    yield "imc_util", _share(reads + writes,
                             s.machine.memory_peak)
    yield "ha_util", _share((reads + writes) / LINE,
                            s.machine.has * s.machine.uclk)
    for box in ("ha", "imc"):
        yield box + "_pct_rd_requests", _share(reads, reads + writes)
        yield box + "_pct_wr_requests", _share(writes, reads + writes)
    yield "pct_requests_page_hit", 100 * c.page_hits
    yield "pct_requests_page_miss", 100 * c.page_misses
    yield "pct_requests_page_empty", 100 * (1 - c.page_hits - c.page_misses)
    for rank in range(8):
        populated = 100 if rank < RANKS else 0
        yield "pct_cycles_dram_rank%d_in_cke" % rank, populated * c.cke_off
        yield "pct_cycles_dram_rank%d_in_thr" % rank, populated * c.throttled
    yield "pct_cycles_critical_throttle", 100 * c.throttled / 2
    yield "pct_cycles_dlloff", 100 * c.dll_off
    yield "pct_cycles_ppd", 100 * c.power_down
    yield "pct_cycles_self_refresh", 100 * c.self_refresh
    yield "pct_cycles_bl_full", 100 * c.data_full
    yield "pct_cycles_d2c_disabled", 100 * c.to_core_off
    far = other.reads * other.remote / LINE
    yield "hitme_inserts", far * c.forwarded * (1 - c.known)
    yield "hitme_inval", \
        (other.writes + other.streamed) * other.remote / LINE * c.known


def _links(s, other):
    """Generate the metrics of QPI. Sizes are bytes of lines; only metrics with "link" in
    their name include the headers."""
    c = s.causes
    answers = c.reads * c.remote
    returns = (other.writes + other.streamed) * other.remote
    posted = other.posted * LINE
    sent = other.reads * other.remote + \
        (c.writes + c.streamed) * c.remote + c.posted * LINE
    direct = answers * c.to_core
    yield "data_from_qpi", answers + returns + posted
    yield "data_from_qpi_to_llc", direct
    yield "data_from_qpi_to_ha_or_iio", answers + returns + posted - direct
    yield "drs_data_msgs_from_qpi", answers + returns
    yield "ncb_data_msgs_from_qpi", posted
    mine = s.machine.nodes[s.package]
    for node in range(NODES):
        is_mine = 1 if node == mine else 0
        for name, size in (("data", answers + returns + posted),
                           ("drs_datac", answers), ("drs_write", returns),
                           ("ncb_data", posted)):
            yield "%s_from_qpi_to_node%d" % (name, node), is_mine * size
    yield "drs_datac_m_from_qpi", answers * c.modified
    yield "drs_m_from_qpi", answers * c.modified
    yield "drs_datac_f_from_qpi", answers * (1 - c.modified - c.exclusive)
    yield "drs_f_or_e_from_qpi", answers * (1 - c.modified)
    yield "drs_full_cacheline_msgs_from_qpi", answers + returns
    yield "drs_ptl_cacheline_msgs_from_qpi", 0.0
    for name, share in (("i", 0.7), ("s", 0.2), ("e", 0.1), ("", 1.0)):
        yield "drs_wb%s_from_qpi" % name, returns * share
    yield "pct_link_full_power_cycles", 100 * (1 - c.no_link - c.half_link)
    yield "pct_link_half_disabled_cycles", 100 * c.half_link
    yield "pct_link_shutdown_cycles", 100 * c.no_link
    # flits without data: a header per line, requests, completions, snoops, interrupts
    asks = c.reads * c.remote / LINE
    answered = other.reads * other.remote / LINE
    given = (c.writes + c.streamed) * c.remote / LINE
    overhead = answered * (1 + other.forwarded) + given + asks + \
        returns / LINE + c.posted + 3 * c.interrupts
    link = sent + overhead * LINE / FLITS
    for name, size in (("data", sent), ("link", link)):
        yield "qpi_%s_bw" % name, size
        yield "qpi_%s_bw_rate" % name, size / GIB
    received = answers + returns + posted + (
        answers / LINE + returns / LINE + other.posted +
        3 * other.interrupts + asked_of(s, other)) * LINE / FLITS
    # On Haswell the clock is a quarter of the transfer rate, with one flit per cycle.
    slots = 1 if _generation(s).device_tid else 2
    room = s.machine.qpi_ports * s.machine.qclk * slots * LINE / FLITS
    yield "qpi_tx_util", _share(link, room)
    yield "qpi_rx_util", _share(received, room)
    yield "qpi_speed", 4 * slots * s.machine.qclk / 1e9
    lines = max(answers + returns,
                answered * LINE + given * LINE)
    yield "r3qpi_ring_util", _share(
        lines, s.machine.qpi_ports * s.machine.uclk * 32)


def asked_of(s, other):
    """Return the packets without data that a socket receives per second: requests for
    lines of its memory, snoops for lines that the socket has requested, and completions
    of its writes."""
    c = s.causes
    return other.reads * other.remote / LINE + \
        c.reads * c.remote / LINE * c.forwarded + \
        (c.writes + c.streamed) * c.remote / LINE


def _generation(s):
    return generations.load(s.machine.generation)


def _lookups(s, other):
    """Generate the use of the CBos, by their lookups."""
    c = s.causes
    yield "cbox_util", _share(
        sum(s.own.asked.values()) + c.writes / LINE * c.victims +
        other.reads * other.remote / LINE, s.machine.cboxes * s.machine.uclk)


def _power(s):
    """Generate the uncore's clock, and the shares of time in which the frequency is
    limited."""
    yield "uncore_frequency", s.machine.uclk / 1e9
    for name in ("os", "power", "thermal"):
        yield "pct_cyc_freq_%s_ltd" % name, \
            100 * getattr(s.causes, "limit_" + name)


def _devices(c):
    """Generate the lines that devices read and write, all of them of their own socket's
    memory. A part of a line counts as a line; it hits, as devices read the line before."""
    parts = c.device_writes * c.device_parts
    missed = {"read": c.device_reads * (1 - c.device_read_hits),
              "write": c.device_writes * (1 - c.device_write_hits)}
    for name, size in (("read", c.device_reads), ("write", c.device_writes + parts)):
        yield "ddio_%s_bw_rate" % name, size / GIB
        yield "ddio_%s_local_bw_rate" % name, size / GIB
        yield "ddio_%s_remote_bw_rate" % name, 0.0
        yield "ddio_%s_miss_bw_rate" % name, missed[name] / GIB
    yield "ddio_read_miss_pct", _share(missed["read"], c.device_reads)
    yield "ddio_full_write_miss_pct", _share(missed["write"], c.device_writes)
    yield "ddio_partial_write_miss_pct", 0.0 if parts else math.nan


def _mesh(s, other):
    """Generate the metrics of CHAs, M2Ms, UPI and IO stacks."""
    c = s.causes
    yield "llc_crd_miss_pct", 100 * (1 - c.code_hits)
    yield "dram_read_latency_ns", c.home_ns
    yield "dram_write_latency_ns", c.home_ns
    for name, size in (("reads", c.pmem_reads), ("writes", c.pmem_writes),
                       ("total", c.pmem_reads + c.pmem_writes)):
        yield "pmem_bw_%s_rate" % name, size / GIB
    yield "pmem_read_latency_ns", c.pmem_ns
    yield "dram_cache_hit_pct", 100 * c.near_hits
    for name, size in (
            ("reads_local", c.reads * (1 - c.remote) +
             c.device_reads * (1 - c.device_read_hits)),
            ("reads_remote", other.reads * other.remote),
            ("writes_local", (c.writes + c.streamed) * (1 - c.remote) +
             c.device_writes * (1 - c.device_write_hits)),
            ("writes_remote", (other.writes + other.streamed) * other.remote)):
        yield "home_%s_rate" % name, size / GIB
    yield "ddio_miss_rdcur", c.device_reads / LINE * (1 - c.device_read_hits)
    yield "ddio_miss_itom", c.device_writes / LINE * (1 - c.device_write_hits)
    yield "ddio_miss_rfo", 0.0
    yield from _devices(c)
    yield "directory_snoop_pct", 100 * c.forwarded
    yield "direct2core_pct", 100 * c.to_core
    yield "mmio_write_bw_rate", c.mmio_writes * ACCESS / GIB
    yield "mmio_read_bw_rate", c.mmio_reads * ACCESS / GIB
    clock = s.machine.qclk
    yield "upi_speed", 8 * clock / 1e9
    own = (c.writes + c.streamed) * c.remote
    far = (other.writes + other.streamed) * other.remote
    sent = other.reads * other.remote + own + c.posted * LINE
    received = c.reads * c.remote + far + other.posted * LINE
    # packets without data: requests, completions, snoops, interrupts
    asks, answered = c.reads * c.remote / LINE, other.reads * other.remote / LINE
    little = asks + far / LINE + answered * other.forwarded + c.interrupts
    got = asked_of(s, other) + other.interrupts
    room = s.machine.qpi_ports * clock * 2.5
    yield "upi_tx_util", _share(sent / LINE * SLOTS + little, room)
    yield "upi_rx_util", _share(received / LINE * SLOTS + got, room)
    yield "upi_data_bw_rate", sent / GIB
    yield "upi_rx_data_bw_rate", received / GIB
    yield "upi_link_bw_rate", (sent + little * LINE / SLOTS) / GIB


NO_CAUSE = {
    "partial_pci_reads": "devices read whole lines only",
    "pct_cyc_freq_current_ltd": "no current limits the frequency",
    "pct_cycles_conflict": "conflicts follow from when requests come",
    "avg_ingress_latency_when_ne":
        "busy periods follow from how requests are spread; rates are even",
    **{name: "instructions are the cores', which the simulator has not"
       for name in ("llc_mpi", "llc_drd_mpi", "llc_crd_mpi")},
    "prefetch_used_pct": "cores do not prefetch",
    "avg_tor_drd_pmem_latency_ns": "cores read DRAM, the cache of persistent memory",
    **{"%s_from_qpi_to_node%d" % (name, node):
       "two sockets have no node %d" % node for node in range(2, 8)
       for name in ("data", "drs_datac", "drs_write", "ncb_data")},
}


def expected(socket, other):
    """Return {metric: value} of a socket (flow.Socket). @other: causes of the other of
    the two sockets."""
    if socket.machine.packages == 1:
        # a single socket has no remote memory, so ignore the causes' remote share
        socket = copy.copy(socket)
        socket.causes = dataclasses.replace(socket.causes, remote=0.0)
        other = dataclasses.replace(other, remote=0.0)
    values = {}
    boxes = _mesh(socket, other) if _generation(socket).mesh else _rings(socket)
    for part in (_latencies(socket), _cache(socket), boxes,
                 _memory(socket, other), _links(socket, other),
                 _lookups(socket, other), _power(socket)):
        for name, value in part:
            assert name not in values, name
            values[name] = value
    names = {name for _, name, *_ in rows(socket.machine.generation)}
    return {name: values[name] for name in values if name in names}
