# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compute from the causes of a machine's sockets the transactions that each box sees, per
cycle. A transaction appears in every box that it passes. A line that misses the LLC is a
request to its home agent and a CAS of a memory channel; a remote line is also eight data
flits and a header on a link. Entries stay in a queue for their latency, so the occupancy
of a queue is rate times latency (Little's law).

A transaction has the code, the unit mask and the fields for filters of the simulator's
file "traffic".
"""

import collections

from scenarios import generations
from scenarios.causes import on_memory
from scenarios.mesh import LINE, Mesh

DEVICE = 0x3e               # tid of PCIe devices' requests (§2.3.2.3)
DRD, RFO, CRD, ITOM = 0x182, 0x180, 0x181, 0x1c8
UNCACHED, MMIO_WRITE, STREAM_FULL, STREAM_PART = 0x187, 0x18f, 0x18c, 0x18d
DEVICE_READ = 0x19e
# opcodes in generations whose thread field has no value for devices
DEVICE_WRITE, DEVICE_PART = 0x19c, 0x1e5
# Unit mask of the TOR's events (§2.3.6): each bit is a condition
OPCODE, MISS, ANY, LOCAL, REMOTE, NODE = 0x01, 0x02, 0x08, 0x20, 0x80, 0x40
FLITS = 8                   # data flits of a line; its packet has a header flit, too
RANKS = 4                   # populated ranks of a channel
CLOCK = {"ubox": "uclk", "cbox": "uclk", "sbox": "uclk", "ha": "uclk",
         "imc": "dclk", "irp": "uclk", "pcu": "pclk", "qpi": "qclk",
         "r2pcie": "uclk", "r3qpi": "uclk",
         "cha": "uclk", "m2m": "uclk", "upi": "qclk", "m3upi": "uclk",
         "m2pcie": "uclk", "imc_free_running": "dclk"}
STACK = ("iio", "irp", "iio_free_running")      # box types of an IO stack


class Machine(collections.namedtuple(
        "Machine", "packages cboxes sboxes has imcs qpi_ports "
        "uclk dclk qclk pclk nodes generation stacks ioclk",
        defaults=(generations.MODEL, 0, 0.0))):
    """The number of packages, of boxes per package, the clocks in Hz, the NUMA node of
    each package, the generation, and of a socket with a mesh the number of IO stacks and
    their clock. CHAs are counted as CBos, M2Ms, one for each memory controller, as home
    agents, and links as QPI ports."""

    def boxes(self, box_type):
        if self.stacks and box_type in STACK:
            return self.stacks
        return {"cbox": self.cboxes, "sbox": self.sboxes, "ha": self.has,
                "imc": self.imcs, "qpi": self.qpi_ports, "irp": len(UNITS),
                "r3qpi": self.qpi_ports, "cha": self.cboxes, "m2m": self.has,
                "imc_free_running": self.has, "upi": self.qpi_ports, "m3upi": self.qpi_ports}.get(box_type, 1)

    @property
    def memory_peak(self):
        """The most bytes per second of a socket's memory, whose clock has two edges."""
        return self.imcs * 8 * 2 * self.dclk

    def hertz(self, box_type):
        if self.stacks and box_type in STACK:
            return self.ioclk
        return getattr(self, CLOCK[box_type])


# Shares of the two IRPs in the traffic of all devices. They differ, as each IRP has other
# devices below it.
UNITS = (0.625, 0.375)


class Flow:
    """
    Equal transactions that pass each box of a type in a package, or only the box with
    @number. @rate is in transactions per cycle of the box.
    """

    def __init__(self, box, code, umask, rate, number=None, **keys):
        self.box, self.code, self.umask = box, code, umask
        self.number = number
        self.rate, self.keys = rate, keys
        self.value = 1

    def line(self, package):
        """Return the line for the simulator's file "rates"."""
        keys = "".join(" %s=%s" % (key, value if isinstance(value, str) else
                                   "%#x" % value)
                       for key, value in self.keys.items())
        box = self.box if self.number is None else "%s_%d" % (self.box,
                                                              self.number)
        return "pkg=%d box=%s event=%#x umask=%#x%s rate=%.9f\n" % (
            package, box, self.code, self.umask, keys, self.rate)


class Lines:
    """Cache lines and requests per second that follow from a socket's causes."""

    def __init__(self, c):
        c.check()
        self.causes = c
        # cores: LLC misses and all requests, by opcode
        lines = c.reads / LINE
        self.misses = {DRD: lines * (1 - c.ownership - c.code),
                       RFO: lines * c.ownership, CRD: lines * c.code}
        self.asked = {DRD: self.misses[DRD] / (1 - c.data_hits),
                      RFO: self.misses[RFO] / (1 - c.ownership_hits),
                      CRD: self.misses[CRD] / (1 - c.code_hits)}
        self.streamed = c.streamed / LINE
        # devices, which only access the memory of their own socket
        self.device_writes = c.device_writes / LINE
        self.device_reads = c.device_reads / LINE
        self.device_parts = self.device_writes * c.device_parts
        self.device_fills = self.device_writes * (1 - c.device_write_hits)
        self.device_misses = self.device_reads * (1 - c.device_read_hits)
        # dirty lines that the LLC evicts: lines of the cores, and of devices' writes
        self.dirty = c.writes / LINE + self.device_fills
        self.fills = lines + self.device_fills + self.device_misses

    def reads_at(self, remote):
        """Return the cores' reads of remote or of local memory."""
        return sum(self.misses.values()) * self._share(remote)

    def writes_at(self, remote):
        return (self.causes.writes / LINE + self.streamed) * \
            self._share(remote)

    def _share(self, remote):
        return self.causes.remote if remote else 1 - self.causes.remote


class Socket:
    """The transactions that a socket's boxes see, caused by all sockets."""

    PARTS = ("_tor", "_cache", "_ingress", "_rings", "_home", "_memory", "_links",
             "_devices", "_power")
    # events of the PCU, and their shares of time
    LIMITS = ((0x04, "limit_thermal"), (0x05, "limit_power"), (0x06, "limit_os"))

    def __init__(self, machine, package, own, others):
        self.machine, self.package = machine, package
        self.causes, self.own = own.causes, own
        self.others = others
        # traffic of the other sockets to this socket's memory
        far = max(1, machine.packages - 1)
        self.alone = machine.packages == 1
        self.far_reads = sum(lines.reads_at(True) for lines in others) / far
        self.far_writes = sum(lines.writes_at(True) for lines in others) / far
        self.far_streamed = sum(lines.streamed * lines.causes.remote
                                for lines in others) / far
        # traffic to other sockets' memory: none on a machine with a single socket
        self.out_reads = 0 if self.alone else own.reads_at(True)
        self.out_writes = 0 if self.alone else own.writes_at(True)
        self.near_reads = sum(own.misses.values()) - self.out_reads + \
            own.device_misses
        self.near_writes = own.causes.writes / LINE + own.streamed - \
            self.out_writes + own.device_fills
        self.memory_reads = self.near_reads + self.far_reads
        self.memory_writes = self.near_writes + self.far_writes
        self.flows = []
        for part in self.PARTS:
            getattr(self, part)()
        self.flows = self.adapted()

    def adapted(self):
        return generations.adapted(self.flows, self.machine.generation)

    def _add(self, box, code, umask, per_second, **keys):
        """Add a flow with @per_second transactions in all boxes of the type together."""
        if not self.machine.boxes(box):
            return
        rate = per_second / self.machine.boxes(box) / self.machine.hertz(box)
        self.flows.append(Flow(box, code, umask, rate, **keys))

    def _add_by_unit(self, code, umask, per_second):
        """Add flows with @per_second transactions in both IRPs together."""
        for number, share in enumerate(UNITS):
            self.flows.append(Flow("irp", code, umask, per_second * share /
                                   self.machine.hertz("irp"), number))

    def _share(self, box, code, umask, share, **keys):
        """Add a flow with @share transactions in each cycle of each box: the share of
        cycles with a condition, or the number of entries of a queue."""
        self.flows.append(Flow(box, code, umask, share, **keys))

    def _clock(self, box, code):
        self._share(box, code, 0, 1.0)

    # --- the LLC's slices --------------------------------------------------

    def _requests(self, opc, per_second, ns, umask, **keys):
        """Add inserts into the TOR, and the occupancy of entries that stay for @ns."""
        conditions = OPCODE | ANY | umask
        self._add("cbox", 0x35, conditions, per_second, opc=opc, **keys)
        self._add("cbox", 0x36, conditions,
                  per_second * ns * 1e-9 * self.machine.uclk, opc=opc, **keys)

    def _reads(self, opc, asked, missing, remote, **keys):
        c = self.causes
        remote = 0 if self.alone else remote
        self._requests(opc, asked - missing, c.hit_ns, LOCAL, **keys)
        self._requests(opc, missing * (1 - remote), c.local_ns, LOCAL | MISS,
                       **keys)
        self._requests(opc, missing * remote, c.remote_ns, REMOTE | MISS,
                       **keys)

    def _tor(self):
        c, own = self.causes, self.own
        self._clock("cbox", 0x00)
        for opc, asked in own.asked.items():
            self._reads(opc, asked, own.misses[opc], c.remote)
        self._reads(STREAM_FULL, own.streamed, own.streamed, c.remote)
        self._reads(STREAM_PART, own.streamed * c.part_stores,
                    own.streamed * c.part_stores, c.remote)
        self._requests(UNCACHED, c.uncached, c.local_ns, LOCAL | MISS)
        self._requests(UNCACHED, c.mmio_reads, c.remote_ns, LOCAL, nc=1)
        self._requests(MMIO_WRITE, c.mmio_writes, c.remote_ns, LOCAL, nc=1)
        if generations.load(self.machine.generation).device_tid:
            whole, part, keys = ITOM, RFO, {"tid": DEVICE}
        else:
            whole, part, keys = DEVICE_WRITE, DEVICE_PART, {}
        self._reads(whole, own.device_writes, own.device_fills, 0, **keys)
        self._reads(part, own.device_parts, 0, 0, **keys)
        self._reads(DEVICE_READ, own.device_reads, own.device_misses, 0, **keys)
        # write-backs and evictions, whose opcode no metric uses
        self._add("cbox", 0x35, ANY | 0x10, c.writes / LINE * c.victims)
        self._add("cbox", 0x35, ANY | 0x04, own.dirty)

    def _cache(self):
        c, own = self.causes, self.own
        # lookups by unit mask: data reads, then other reads; a miss finds state I (bit 0)
        for kind, opcs in ((0x02 | 0x20, (DRD,)), (0x20, (RFO, CRD))):
            asked = sum(own.asked[opc] for opc in opcs)
            missing = sum(own.misses[opc] for opc in opcs)
            self._add("cbox", 0x34, 0x11 | kind, missing, state=0x01)
            for state, share in ((0x02, 0.3), (0x04, 0.5), (0x08, 0.2)):
                self._add("cbox", 0x34, 0x11 | kind,
                          (asked - missing) * share, state=state)
        self._add("cbox", 0x34, 0x15, c.writes / LINE * c.victims, state=0x08)
        self._add("cbox", 0x34, 0x19, self.far_reads, state=0x01)
        # each line that is filled evicts a line: M, or one of two clean states
        self._add("cbox", 0x37, 0x01, own.dirty)
        clean = max(0.0, own.fills - own.dirty)
        self._add("cbox", 0x37, 0x02, clean * 0.8)
        self._add("cbox", 0x37, 0x04, clean * 0.2)

    def _ingress(self):
        c, own = self.causes, self.own
        self.requests = sum(own.asked.values()) + own.streamed * \
            (1 + c.part_stores) + c.uncached + c.mmio_reads + c.mmio_writes
        self._add("cbox", 0x13, 0x01, self.requests)
        self._add("cbox", 0x13, 0x02, self.requests * c.rejected)
        self._add("cbox", 0x11, 0x01,
                  self.requests * c.ingress_ns * 1e-9 * self.machine.uclk)
        self._share("cbox", 0x12, 0x01, c.starved)

    def _rings(self):
        """Add the rings' traffic. A line takes two slots of 32 bytes. It goes the shorter
        way, which is a quarter of the ring on average."""
        own, stops = self.own, self.machine.cboxes
        self.ring_lines = sum(own.asked.values()) + self.memory_writes + \
            own.device_writes + own.device_reads
        for i in range(4):
            umask = 1 << i
            self._add("cbox", 0x1d, umask, self.ring_lines * 2 / 4 * stops / 4)
            self._add("cbox", 0x1b, umask, self.requests / 4 * stops / 4)
            # half of all lines pass an SBo, from one ring to another
            self._add("sbox", 0x1d, umask, self.ring_lines * 2 / 4 / 2)
            self._add("sbox", 0x1b, umask, self.requests / 4 / 2)
        self._clock("sbox", 0x00)

    # --- home agents and memory --------------------------------------------

    def _home(self):
        c, own = self.causes, self.own
        self._clock("ha", 0x00)
        far_streamed = 0 if self.alone else self.far_streamed
        near_streamed = own.streamed * (1 if self.alone else 1 - c.remote)
        for umask, requests in (
                (0x01, self.near_reads), (0x02, self.far_reads),
                (0x04, self.near_writes), (0x08, self.far_writes),
                (0x10, near_streamed + own.device_fills),
                (0x20, far_streamed)):
            self._add("ha", 0x01, umask, requests)
            self._add("ha", 0x04, umask << 2,
                      requests * c.home_ns * 1e-9 * self.machine.uclk)
        self._add("ha", 0x17, 0x01, self.memory_reads)      # IMC_READS
        self._add("ha", 0x1a, 0x01, self.memory_writes)     # IMC_WRITES.FULL
        self._share("ha", 0x12, 0x00, c.to_core_off)
        self._share("ha", 0x36, 0x01, c.data_full / 2)
        self._share("ha", 0x36, 0x02, c.data_full / 2)
        # the directory cache: lookups for remote reads, and for lines written back
        self.known_reads = self.far_reads * c.forwarded
        for code, share in ((0x70, 1.0), (0x71, c.known)):
            self._add("ha", code, 0x10, self.known_reads * share)
            self._add("ha", code, 0x02, self.far_writes * share)

    def _memory(self):
        c = self.causes
        reads, writes = self.memory_reads, self.memory_writes
        self._clock("imc", 0x00)
        self._add("imc", 0x04, 0x01, reads)
        self._add("imc", 0x04, 0x04, writes)
        self._add("imc", 0x10, 0x00, reads)                 # RPQ_INSERTS
        self._add("imc", 0x20, 0x00, writes)                # WPQ_INSERTS
        for umask, lines in ((0x01, reads), (0x02, writes)):
            self._add("imc", 0x01, umask, lines * (1 - c.page_hits))
        self._add("imc", 0x02, 0x01, (reads + writes) * c.page_misses)
        for rank in range(RANKS):
            self._share("imc", 0x83, 1 << rank, c.cke_off)
            self._share("imc", 0x41, 1 << rank, c.throttled)
        self._share("imc", 0x84, 0x00, c.dll_off)
        self._share("imc", 0x85, 0x00, c.power_down)
        self._share("imc", 0x43, 0x00, c.self_refresh)
        self._share("imc", 0x86, 0x00, c.throttled / 2)

    # --- links ---------------------------------------------------------------

    def _packets(self, class_, opcode, per_second, received, rds=0):
        """Add packets for CTO_COUNT, by class, opcode, destination node and state
        (@rds) of a packet."""
        nodes = self.machine.nodes
        node = nodes[self.package] if received else \
            nodes[(self.package + 1) % self.machine.packages]
        self._add("qpi", 0x138, 0x00, per_second,
                  match0=node << 13 | class_ << 9 | opcode << 5,
                  match1=rds << 16, dir="rx" if received else "tx")

    def _one_way(self, received):
        """Return the packets per second of a socket's links in one direction."""
        c = self.causes
        if self.alone:
            return dict.fromkeys(("answers", "returns", "asks", "done",
                                  "snoops", "posted", "interrupts"), 0.0)
        other_causes = self.others[0].causes if self.others else c
        far = (self.far_reads, self.far_writes, other_causes)
        mine = (self.out_reads, self.out_writes, c)
        # Answers go to the socket that has sent the request; requests and dirty lines go
        # to the home socket.
        asker, home = (mine, far) if received else (far, mine)
        return {"answers": asker[0], "returns": home[1], "asks": home[0],
                "done": asker[1], "snoops": asker[0] * asker[2].forwarded,
                "posted": home[2].posted, "interrupts": home[2].interrupts}

    def _links(self):
        c = self.causes
        self._clock("qpi", 0x14)
        self._clock("r3qpi", 0x01)
        self.received, self.sent = self._one_way(True), self._one_way(False)
        for received, code, p in ((False, 0x100, self.sent),
                                  (True, 0x102, self.received)):
            data = (p["answers"] + p["returns"]) * FLITS
            headers = p["answers"] + p["returns"]
            posted = p["posted"] * FLITS
            small = p["posted"] + p["interrupts"] * 3
            for group, umask, flits in (
                    (0, 0x01, p["snoops"]), (0, 0x02, p["asks"]),
                    (0, 0x08, data), (0, 0x10, headers), (1, 0x01, p["done"]),
                    (1, 0x04, posted), (1, 0x08, small)):
                self._add("qpi", code + group, umask, flits)
            other_flits = headers + small + p["snoops"] + p["asks"] + p["done"]
            if not received:
                self.other_flits = other_flits
            # events of flit group 0, which Haswell counts on the transmit side only
            self._add("qpi", int(received), 0x02, data + posted)
            self._add("qpi", int(received), 0x04, other_flits)
            last = 1 - c.modified - c.exclusive
            for rds, share in ((8, c.modified), (4, c.exclusive), (1, last)):
                self._packets(0xe, 0, p["answers"] * share, received, rds)
            for opcode, share in ((4, 0.7), (5, 0.2), (6, 0.1)):
                self._packets(0xe, opcode, p["returns"] * share, received)
            self._packets(0xc, 0, p["posted"], received)
            self._packets(0xc, 8, p["interrupts"], received)
            # the R3QPI, the ring's stop at the link: a line takes two slots
            slots = (p["answers"] + p["returns"]) * 2
            for umask in (0x01, 0x02) if received else (0x04, 0x08):
                self._add("r3qpi", 0x09, umask, slots / 2)
                self._add("r3qpi", 0x07, umask, (p["asks"] + p["done"]) / 2)
        self._add("qpi", 0x13, 0x01,
                  self.received["answers"] * c.to_core)
        self._share("qpi", 0x0f, 0x00, 1 - c.no_link)
        self._share("qpi", 0x0c, 0x00, 1 - c.no_link)
        self._share("qpi", 0x10, 0x00, c.half_link)
        self._share("qpi", 0x0d, 0x00, c.half_link)
        self._share("qpi", 0x12, 0x00, c.no_link)

    # --- devices and power -----------------------------------------------------

    def _devices(self):
        own = self.own
        self._clock("irp", 0x00)
        self._clock("r2pcie", 0x01)
        for umask, lines in ((0x01, own.device_reads),
                             (0x08, own.device_parts),
                             (0x10, own.device_writes)):
            self._add_by_unit(0x13, umask, lines)
        self._add_by_unit(0x16, 0x01, own.device_reads)
        self._add_by_unit(0x16, 0x02, own.device_writes + own.device_parts)
        # Lines and requests to the ring go in one direction, those from the ring in the
        # other.
        for way, lines in (((0x01, 0x02), own.device_writes),
                           ((0x04, 0x08), own.device_reads)):
            for umask in way:
                self._add("r2pcie", 0x09, umask, lines * 2 / 2)
                self._add("r2pcie", 0x07, umask, lines / 2)

    def _power(self):
        c = self.causes
        self._clock("pcu", 0x00)
        cores = self.machine.cboxes
        c6 = max(0.0, 1 - c.core_c0 - c.core_c3)
        for umask, share in ((0x40, c.core_c0), (0x80, c.core_c3),
                             (0xc0, c6)):
            self._share("pcu", 0x80, umask, cores * share)
        rest = max(0.0, 1 - c.package_c0 - c.package_c2 - c.package_c3)
        for code, share in ((0x2a, c.package_c0), (0x2b, c.package_c2),
                            (0x2c, c.package_c3), (0x2d, rest),
                            *((code, getattr(c, name)) for code, name in self.LIMITS)):
            self._share("pcu", code, 0x00, share)
        for band in range(4):
            self._share("pcu", 0x0b + band, 0x00, 1.0,
                        freq=round(c.frequency * 10))


class MeshSocket(Mesh, Socket):
    """A socket whose boxes are connected by a mesh."""


def sockets(machine, causes):
    """
    Return a Socket for each package. @causes: causes of each socket, on a machine with the
    memory of Haswell-EP's.
    """
    lines = [Lines(on_memory(socket_causes, machine.memory_peak))
             for socket_causes in causes]
    mesh = generations.load(machine.generation).mesh
    socket = MeshSocket if mesh else Socket
    return [socket(machine, package, lines[package],
                   lines[:package] + lines[package + 1:])
            for package in range(machine.packages)]
