# SPDX-License-Identifier: GPL-2.0-or-later
"""
The transactions of a socket with a mesh from the same causes as those of a socket with
rings: in its CHAs, M2Ms, UPI links and IO stacks. The events have names of the catalogue,
and a generation without an event has no such transactions.
"""

from scenarios import generations

LINE = 64
# Properties of requests in the TOR of Skylake-SP: bits of the unit mask, of which one is a queue
# and one a hit or a miss, and values of the filter for opcodes
BITS = {"ia": 0x01, "io": 0x04, "hit": 0x10, "miss": 0x20}
OPCODES = {"drd": 0x202, "rfo": 0x200, "crd": 0x201, "rdcur": 0x21e, "itom": 0x248}
# Names of the events of a device's write of a part of a line, of which the first is used
PARTIAL_WRITES = ("itomcachenear", "rfo")
# Words for the requests of cores in the names of lookups
LOOKUPS = (("data", "read"), ("rfo", "read"), ("code", "read"))
SLOTS = 9                               # of a line
ACCESS = 8                              # bytes that a core reads or writes of a device
UNIT = 4                                # bytes of an IO stack's increments
PORT = 16e9                             # bytes per second of a port with 16 lanes
# Shares of the stacks' ports, (stack, port), in the traffic of all devices
PORTS = {(1, 0): 0.5, (2, 0): 0.3, (3, 2): 0.2}
POSTED, COMPLETION = 0x1, 0x4           # classes of an IO stack's transactions


class Mesh:
    """The parts of a flow.Socket with a mesh."""

    PARTS = ("_tor", "_home", "_memory", "_links", "_devices", "_power")
    LIMITS = ((0x04, "limit_thermal"), (0x05, "limit_power"))

    @property
    def generation(self):
        return generations.load(self.machine.generation)

    def adapted(self):
        """Return the flows with equal transactions together."""
        merged = {}
        for entry in self.flows:
            key = (entry.box, entry.number, entry.code, entry.umask, *entry.keys.items())
            if key in merged:
                merged[key].rate += entry.rate
            else:
                merged[key] = entry
        return list(merged.values())

    def _convert(self, part):
        """Add the flows of a part of a socket with rings."""
        others, self.flows = self.flows, []
        part()
        self.flows = others + generations.adapted_mesh(self.flows, self.machine.generation)

    def _event(self, box, name, per_second, **keys):
        """Add transactions that an event counts."""
        event = self.generation.events.get((box, name))
        if event:
            self._add(box, event.code, event.umask, per_second, **keys)

    def _words(self, box, base, words, per_second):
        """Add transactions with the properties @words, by the names of events."""
        for umask in self.generation.umasks(box, base, set(words)):
            self._add(box, self.generation.codes[box, base], umask, per_second)

    # --- CHAs: requests of cores and devices ------------------------------------

    def _in_tor(self, words, per_second, ns):
        """Add inserts into the TOR, and the occupancy of entries that stay for @ns."""
        remote = "remote" in words
        cycles = per_second * ns * 1e-9 * self.machine.uclk
        for base, rate in (("tor_inserts", per_second), ("tor_occupancy", cycles)):
            if self.generation.has_numbers("cha", base):
                self._words("cha", base, (*words, "all", "ddr",
                                          *(() if remote else ("local", "loc"))), rate)
                continue
            opcode, = (OPCODES[word] for word in words if word in OPCODES)
            self._add("cha", self.generation.codes["cha", base],
                      sum(BITS[word] for word in words if word in BITS), rate,
                      opc=opcode, **({"remote": 1} if remote else {}))

    def _asked(self, words, asked, missing, remote):
        c, remote = self.causes, 0 if self.alone else remote
        self._in_tor((*words, "hit"), asked - missing, c.hit_ns)
        self._in_tor((*words, "miss"), missing * (1 - remote), c.local_ns)
        self._in_tor((*words, "miss", "remote"), missing * remote, c.remote_ns)

    def _tor(self):
        c, own = self.causes, self.own
        self._clock("cha", 0x00)
        for word, asked, missing in zip(("drd", "rfo", "crd"), own.asked.values(),
                                        own.misses.values()):
            self._asked(("ia", word), asked, missing, c.remote)
        self._asked(("io", "rdcur", "pcirdcur"), own.device_reads, own.device_misses, 0)
        self._asked(("io", "itom"), own.device_writes, own.device_fills, 0)
        partial = next(word for word in PARTIAL_WRITES
                       if ("cha", "tor_inserts.io_miss_" + word) in self.generation.events)
        self._asked(("io", partial), own.device_parts, 0, 0)
        requests = sum(own.asked.values())
        self._event("cha", "rxc_inserts.irq", requests)
        self._event("cha", "rxc_inserts.irq_rej", requests * c.rejected)
        self._event("cha", "rxc_occupancy.irq",
                    requests * c.ingress_ns * 1e-9 * self.machine.uclk)
        self._lookups()
        self.requests = requests

    def _lookups(self):
        """Add lookups: a miss finds state I, and all others a line that is E in the LLC."""
        if self.generation.has_numbers("cha", "llc_lookup"):
            remote = 0 if self.alone else self.causes.remote
            for words, asked, missing in zip(LOOKUPS, self.own.asked.values(),
                                             self.own.misses.values()):
                for found, rate in ((("miss",), missing), ((), asked - missing)):
                    for home, share in (("loc", 1 - remote), ("rem", remote)):
                        self._words("cha", "llc_lookup", (
                            *words, *found, "all", "local", home, "hom"), rate * share)
            self._words("cha", "llc_lookup", ("all", "miss", "remote", "snp"), self.far_reads)
            return
        requests, missing = sum(self.own.asked.values()), sum(self.own.misses.values())
        for umask, found, state in ((0x11, missing, 0x01),
                                    (0x11, requests - missing, 0x20),
                                    (0x09, self.far_reads, 0x01)):
            self._add("cha", self.generation.codes["cha", "llc_lookup"], umask, found,
                      state=state)

    def _home(self):
        """Add the requests to the memory of the socket, and lookups in its directory."""
        c = self.causes
        for name, near, far in (("reads", self.near_reads, self.far_reads),
                                ("writes", self.near_writes, self.far_writes)):
            name = "requests." + name
            if ("cha", name + "_local") in self.generation.events:
                self._event("cha", name + "_local", near)
                self._event("cha", name + "_remote", far)
            else:
                self._event("cha", name, near + far)
        self._event("cha", "dir_lookup.snp", self.memory_reads * c.forwarded)
        self._event("cha", "dir_lookup.no_snp", self.memory_reads * (1 - c.forwarded))

    # --- M2Ms and memory -----------------------------------------------------------

    def _persistent(self):
        """Add the traffic of persistent memory, and the checks of tags in DRAM."""
        c = self.causes
        reads, writes = c.pmem_reads / LINE, c.pmem_writes / LINE
        self._event("imc", "pmm_rpq_inserts", reads)
        self._event("imc", "pmm_wpq_inserts", writes)
        self._event("imc", "pmm_rpq_occupancy.all",
                    reads * c.pmem_ns * 1e-9 * self.machine.dclk)
        checks = self.memory_reads + self.memory_writes
        for name, share in (("hit", c.near_hits), ("miss_clean", (1 - c.near_hits) * 0.6),
                            ("miss_dirty", (1 - c.near_hits) * 0.4)):
            self._event("imc", "tagchk." + name, checks * share)

    def _queues(self):
        """Add the commands of channels that flow.py has no events of."""
        super()._memory()
        for code, lines in ((0x80, self.memory_reads), (0x81, self.memory_writes)):
            self._add("imc", code, 0x00,
                      lines * self.causes.home_ns * 1e-9 * self.machine.dclk)

    def _memory(self):
        c = self.causes
        self._convert(self._queues)
        if self.generation.is_sum("imc", "pre_count.page_miss"):
            for name, lines in (("rd", self.memory_reads), ("wr", self.memory_writes)):
                self._event("imc", "pre_count." + name, lines * c.page_misses)
        self._persistent()
        # counters of a controller: the lines of all its channels
        self._event("imc_free_running", "dclk", self.machine.dclk *
                    self.machine.boxes("imc_free_running"))
        for name, lines in (("read", self.memory_reads), ("write", self.memory_writes),
                            ("ddrt_read", c.pmem_reads / LINE),
                            ("ddrt_write", c.pmem_writes / LINE)):
            self._event("imc_free_running", name, lines)
        self._clock("m2m", 0x00)
        # an M2M counts each channel of its controller by itself as well
        channels = self.machine.imcs // self.machine.has
        for base, word, lines in (("imc_reads", "normal", self.memory_reads),
                                  ("imc_writes", "full", self.memory_writes)):
            for channel in range(channels):
                self._words("m2m", base, ("ch%d" % channel, word, "all", "to", "ddr", "as",
                                          "cache"), lines / channels)
        # without an event of the lines that go directly to a core, lines by their receivers
        for (first, second), share in (
                (("direct2core_taken", "txc_bl.drs_core"), c.to_core),
                (("direct2core_not_taken_dirstate", "txc_bl.drs_cache"),
                 (1 - c.to_core) * 0.75),
                (("direct2core_txn_override", "txc_bl.drs_upi"), (1 - c.to_core) * 0.25)):
            self._event("m2m", first, self.memory_reads * share)
            if not self.generation.has("m2m", "direct2core_taken"):
                # without other sockets, all that no core receives is the CHAs'
                known = ("m2m", second) in self.generation.events
                self._event("m2m", second if known else "txc_bl.drs_cache",
                            self.memory_reads * share)

    # --- links -----------------------------------------------------------------------

    def _links(self):
        if "upi" not in self.generation.boxes:
            return
        c = self.causes
        self._clock("upi", 0x01)
        if "m3upi" in self.generation.boxes:
            self._clock("m3upi", 0x01)
        self.received, self.sent = self._one_way(True), self._one_way(False)
        for way, half, p in (("txl", 0x27, self.sent), ("rxl", 0x25, self.received)):
            lines = p["answers"] + p["returns"] + p["posted"]
            self._event("upi", way + "_flits.all_data", lines * SLOTS)
            self._event("upi", way + "_flits.non_data", p["asks"] + p["done"] +
                        p["snoops"] + p["interrupts"])
            self._share("upi", half, 0x00, c.half_link)
        self._share("upi", 0x21, 0x00, c.no_link)

    # --- IO stacks ---------------------------------------------------------------------

    def _at_port(self, box, name, stack, per_second, **keys):
        self._event(box, name, per_second * self.machine.stacks, number=stack, **keys)

    def _devices(self):
        self._clock("m2pcie", 0x01)
        for box, name in (("iio", "clockticks"), ("irp", "clockticks"),
                          ("iio_free_running", "ioclk")):
            event = self.generation.events[box, name]
            self._share(box, event.code, event.umask, 1.0)
        for (stack, port), share in PORTS.items():
            self._port(stack, port, share)

    def _port(self, stack, port, share):
        """Add the transactions of a port that has a share of the traffic of all devices."""
        c, own = self.causes, self.own
        # devices write to memory and read from it; cores write to devices and read
        for name, size, fc in (
                ("data_req_of_cpu.mem_write", c.device_writes, POSTED),
                ("data_req_of_cpu.mem_read", c.device_reads, COMPLETION),
                ("data_req_by_cpu.mem_write", c.mmio_writes * ACCESS, POSTED),
                ("data_req_by_cpu.mem_read", c.mmio_reads * ACCESS, COMPLETION)):
            self._at_port("iio", name + ".all_parts", stack, size * share / UNIT,
                          port=1 << port, fc=fc)
        for way, size in (("in", c.device_writes), ("out", c.device_reads)):
            name = "bw_%s_port%d" % (way, port)
            event = self.generation.events.get(("iio_free_running", name))
            if event:
                self._at_port("iio_free_running", name, stack,
                              size * share / float(event.scale))
            self._at_port("iio_free_running", "util_%s_port%d" % (way, port), stack,
                          min(1.0, size * share / PORT) * self.machine.ioclk)
        for name, lines in (
                ("coherent_ops.pcirdcur", own.device_reads),
                ("coherent_ops.rfo", own.device_parts),
                ("coherent_ops.pcitom", own.device_writes),
                ("transactions.reads", own.device_reads),
                ("transactions.writes", own.device_writes + own.device_parts)):
            self._at_port("irp", name, stack, lines * share)

    # --- power -------------------------------------------------------------------------

    def _power(self):
        self._convert(super()._power)
