# SPDX-License-Identifier: GPL-2.0-or-later
"""
The derived events of Intel's manuals as formulas of event codes, unit masks and filter
values. The tests compare the catalogue with these formulas, so they are typed from the
manuals and not from the catalogue: Haswell's from 331051, those of earlier generations
from ucevent's excerpts of 329468 and 327043, and utilisations from the most that an event
can count in a clock.

A term is EVENT.UMASK{filters}, with the unit mask in hexadecimal. BOXES is the number of
boxes that a value is of, and SECONDS the time for which the events were counted. Rows are
in the order of the manual. A comment names each misprint of the manual that is corrected.
"""

# "Events Ordered By Code" of each box: §2.3.4, §2.4.4, §2.5.3, §2.6.5, §2.8.4, §2.9.4 and
# §2.10.4; the UBox's fixed counter: §2.2.2.2. Bit 8 is the extra select bit; 0xff is a fixed
# counter.
CODES = {
    "cbox": {"CLOCKTICKS": 0x00, "RxR_OCCUPANCY": 0x11,
             "RxR_EXT_STARVED": 0x12, "RxR_INSERTS": 0x13,
             "RING_BL_USED": 0x1d, "COUNTER0_OCCUPANCY": 0x1f,
             "LLC_LOOKUP": 0x34, "TOR_INSERTS": 0x35, "TOR_OCCUPANCY": 0x36,
             "LLC_VICTIMS": 0x37},
    "sbox": {"CLOCKTICKS": 0x00, "RING_BL_USED": 0x1d},
    "ha": {"CLOCKTICKS": 0x00, "REQUESTS": 0x01,
           "CONFLICT_CYCLES": 0x0b, "DIRECT2CORE_CYCLES_DISABLED": 0x12,
           "TxR_BL_CYCLES_FULL": 0x36,
           "HITME_LOOKUP": 0x70, "HITME_HIT": 0x71},
    "imc": {"ACT_COUNT": 0x01, "PRE_COUNT": 0x02, "CAS_COUNT": 0x04,
            "RPQ_INSERTS": 0x10, "WPQ_INSERTS": 0x20, "RPQ_OCCUPANCY": 0x80,
            "WPQ_OCCUPANCY": 0x81,
            # Ice Lake-SP: a clock beside the fixed counter, and queues of two pseudo-channels
            "CLOCKTICKS": 0x00, "RPQ_OCCUPANCY_PCH0": 0x80, "RPQ_OCCUPANCY_PCH1": 0x81,
            "WPQ_OCCUPANCY_PCH0": 0x82, "WPQ_OCCUPANCY_PCH1": 0x83,
            "TAGCHK": 0xd3, "PMM_RPQ_OCCUPANCY": 0xe0,
            "PMM_RPQ_INSERTS": 0xe3, "PMM_WPQ_INSERTS": 0xe7, "POWER_THROTTLE_CYCLES": 0x41,
            "POWER_SELF_REFRESH": 0x43, "POWER_CKE_CYCLES": 0x83,
            "POWER_CHANNEL_DLLOFF": 0x84, "POWER_CHANNEL_PPD": 0x85,
            "POWER_CRITICAL_THROTTLE_CYCLES": 0x86, "CTR_FIXED": 0xff},
    "ubox": {"UCLK": 0xff},
    "pcu": {"CLOCKTICKS": 0x00, "FREQ_MAX_LIMIT_THERMAL_CYCLES": 0x04,
            "FREQ_MAX_POWER_CYCLES": 0x05, "FREQ_MAX_OS_CYCLES": 0x06,
            "FREQ_MAX_CURRENT_CYCLES": 0x07},
    "qpi": {"TxL_FLITS_G0": 0x00, "RxL_FLITS_G0": 0x01, "RxL0_POWER_CYCLES": 0x0f,
            "RxL0P_POWER_CYCLES": 0x10, "L1_POWER_CYCLES": 0x12,
            "DIRECT2CORE": 0x13, "CLOCKTICKS": 0x14, "RxL_FLITS_G1": 0x102,
            "RxL_FLITS_G2": 0x103, "CTO_COUNT": 0x138},
    "r2pcie": {"CLOCKTICKS": 0x01, "RING_BL_USED": 0x09},
    "r3qpi": {"CLOCKTICKS": 0x01, "RING_BL_USED": 0x09},
    # Skylake-SP, by intel_uncore, PCM and LIKWID
    "cha": {"CLOCKTICKS": 0x00, "RxC_OCCUPANCY": 0x11, "RxC_INSERTS": 0x13,
            "COUNTER0_OCCUPANCY": 0x1f, "TOR_INSERTS": 0x35, "TOR_OCCUPANCY": 0x36,
            "REQUESTS": 0x50, "DIR_LOOKUP": 0x53},
    "m2m": {"DIRECT2CORE_TAKEN": 0x23, "DIRECT2CORE_NOT_TAKEN": 0x24,
            "DIRECT2CORE_OVERRIDE": 0x25, "PREFCAM_PROMOTIONS": 0x56,
            "PREFCAM_INSERTS": 0x57,
            # Ice Lake-SP
            "TxC_BL": 0x40, "PREFCAM_ENTRIES": 0x6d, "PREFCAM_MERGES": 0x74},
    "upi": {"CLOCKTICKS": 0x01, "TxL_FLITS": 0x02, "RxL_FLITS": 0x03,
            "L1_POWER_CYCLES": 0x21, "TxL0P_POWER_CYCLES": 0x27},
    "iio": {"DATA_REQ_OF_CPU": 0x83, "DATA_REQ_BY_CPU": 0xc0},
}
DRD, RFO, ITOM, PCI_READ = "opc=0x182", "opc=0x180", "opc=0x1c8", "opc=0x19e"
DEVICE = "tid=0x3e"
PER_CLOCK = " / CLOCKTICKS"         # SAMPLE_INTERVAL, in the box's own clock
GIB_A_SECOND = " / SECONDS / 1024 ** 3"                         # §1.7.1
# §1.7.1: clocks divided by the frequency in GHz; misprint: "-"
TO_NS = " / (CLOCKTICKS / BOXES / SECONDS / 1e9)"


def cbox():
    """§2.3.5; unit masks of Tables 2-21 to 2-41."""
    tor = "TOR_OCCUPANCY.%s / TOR_INSERTS.%s"
    hit = "(TOR_OCCUPANCY.01{%s} - TOR_OCCUPANCY.03{%s}) / " \
        "(TOR_INSERTS.01{%s} - TOR_INSERTS.03{%s})" % ((DRD,) * 4)
    latencies = {
        "avg_ingress_latency": "RxR_OCCUPANCY.01 / RxR_INSERTS.01",
        "avg_tor_drd_hit_latency": hit,
        "avg_tor_drd_latency": tor % (("01{%s}" % DRD,) * 2),
        # misprint: the nid filter, which these unit masks ignore (Table 2-40); requests
        # to the home node and to other nodes have separate unit masks
        "avg_tor_drd_loc_miss_latency": tor % (("23{%s}" % DRD,) * 2),
        "avg_tor_drd_miss_latency": tor % (("03{%s}" % DRD,) * 2),
        "avg_tor_drd_rem_miss_latency": tor % (("83{%s}" % DRD,) * 2),
    }
    for name, formula in latencies.items():
        yield name, "cycles", formula
        yield name + "_ns", "ns", formula + TO_NS
    yield "avg_ingress_depth", "", "RxR_OCCUPANCY.01" + PER_CLOCK
    yield ("avg_ingress_latency_when_ne", "cycles",
           "RxR_OCCUPANCY.01 / COUNTER0_OCCUPANCY{edge=1,thresh=1}")
    # misprint: edge_det, with which a counter counts busy periods; the average number of
    # entries needs the number of busy cycles
    yield ("avg_tor_drds_miss_when_ne", "",
           "TOR_OCCUPANCY.03{%s} / COUNTER0_OCCUPANCY{thresh=1}" % DRD)
    yield ("avg_tor_drds_when_ne", "",
           "TOR_OCCUPANCY.01{%s} / COUNTER0_OCCUPANCY{thresh=1}" % DRD)
    yield "cyc_ingress_blocked", "%", "RxR_EXT_STARVED.01" + PER_CLOCK
    # misprint: CCW and CW; Table 2-26 has DOWN and UP
    yield "cbox_cyc_used_dn", "%", "RING_BL_USED.0c" + PER_CLOCK
    yield "cbox_cyc_used_up", "%", "RING_BL_USED.03" + PER_CLOCK
    yield "cbox_ring_thru_dn_bytes", "Bytes", "RING_BL_USED.0c * 32"
    yield "cbox_ring_thru_up_bytes", "Bytes", "RING_BL_USED.03 * 32"
    yield "fast_str_llc_miss", "", "TOR_INSERTS.03{%s}" % ITOM
    yield "fast_str_llc_req", "", "TOR_INSERTS.01{%s}" % ITOM
    yield "ingress_rej_v_ins", "", "RxR_INSERTS.02 / RxR_INSERTS.01"
    reads = "(TOR_INSERTS.01{%s,%s} + TOR_INSERTS.01{opc=0x1e6}) * 64" % (
        ITOM, DEVICE)
    writes = "(TOR_INSERTS.01{%s} + TOR_INSERTS.01{opc=0x1e4}) * 64" % PCI_READ
    yield "io_read_bw", "MB", reads + " / 1000000"
    yield "io_write_bw", "MB", writes + " / 1000000"
    yield "io_read_bw_rate", "GiB/s", reads + GIB_A_SECOND
    yield "io_write_bw_rate", "GiB/s", writes + GIB_A_SECOND
    yield "ddio_hit_pct", "%", device_hits(ITOM + "," + DEVICE)
    yield "llc_drd_miss_bw_rate", "GiB/s", \
        "TOR_INSERTS.03{%s} * 64" % DRD + GIB_A_SECOND
    # misprint: 0x3f for all states; the filter has seven state bits (§2.3.2.3)
    yield ("llc_drd_miss_pct", "%",
           "LLC_LOOKUP.03{state=0x01} / LLC_LOOKUP.03{state=0x7f}")
    yield "llc_mpi", "", "LLC_LOOKUP.11{state=0x01} / INSTRUCTIONS"
    # misprint: a difference of two ratios, which is not a ratio; here requests of devices
    # are subtracted from the dividend and from the divisor
    yield ("llc_rfo_miss_pct", "%",
           "(TOR_INSERTS.03{%s} - TOR_INSERTS.03{%s,%s}) / "
           "(TOR_INSERTS.01{%s} - TOR_INSERTS.01{%s,%s})" %
           ((RFO, RFO, DEVICE) * 2))
    yield "mem_wb_bytes", "Bytes", "LLC_VICTIMS.01 * 64"
    yield "mmio_partial_reads_cpu", "", "TOR_INSERTS.01{opc=0x187,nc=1}"
    yield "mmio_writes_cpu", "", "TOR_INSERTS.01{opc=0x18f,nc=1}"
    yield "partial_pci_writes", "", "TOR_INSERTS.01{%s,%s}" % (RFO, DEVICE)
    yield "pci_reads", "", "TOR_INSERTS.01{%s}" % PCI_READ
    yield "pci_writes", "", "TOR_INSERTS.01{%s,%s}" % (ITOM, DEVICE)
    yield "streamed_full_stores", "", "TOR_INSERTS.01{opc=0x18c}"
    yield "streamed_part_stores", "", "TOR_INSERTS.01{opc=0x18d}"
    yield "uc_reads", "", "TOR_INSERTS.03{opc=0x187}"


def device_hits(writes):
    """Lines that devices write and read, less those that miss the LLC: Table 2-40.
    @writes: filters of whole lines that devices write."""
    missed, every = ("(TOR_INSERTS.%s{%s} + TOR_INSERTS.%s{%s})" % (
        umask, writes, umask, PCI_READ) for umask in ("03", "01"))
    return "1 - %s / %s" % (missed, every)


def data_reads():
    """Data reads that miss the LLC, by the memory that they read: Table 2-40."""
    local, remote = ("TOR_INSERTS.%s{%s}" % (umask, DRD) for umask in ("23", "83"))
    for name, misses in (("loc", local), ("rem", remote)):
        yield "cbox", "llc_drd_miss_to_%s_mem" % name, "%", "%s / (%s + %s)" % (
            misses, local, remote)


def ubox():
    """The fixed counter, Table 2-9, by time."""
    yield "uncore_frequency", "GHz", "UCLK / BOXES / SECONDS / 1e9"


def sbox():
    """§2.4.5; Table 2-51. Misprint: DN_; the table has DOWN_."""
    for name, umask in (("upeven", "01"), ("upodd", "02"), ("dneven", "04"),
                        ("dnodd", "08")):
        ring = "RING_BL_USED." + umask
        yield "cyc_used_" + name, "%", ring + PER_CLOCK
        yield "ring_thru_%s_bytes" % name, "Bytes", ring + " * 32"


def ha():
    """§2.5.4; Tables 2-74, 2-76, 2-82 and 2-107."""
    # misprint: HITME_HITS for HITME_HIT
    yield "hitme_inserts", "", "HITME_LOOKUP.70 - HITME_HIT.70"
    yield "hitme_inval", "", "HITME_HIT.26"
    yield "pct_cycles_bl_full", "%", "TxR_BL_CYCLES_FULL.03" + PER_CLOCK
    yield "pct_cycles_d2c_disabled", "%", \
        "DIRECT2CORE_CYCLES_DISABLED" + PER_CLOCK
    for name, umask in (("rd", "03"), ("wr", "0c")):
        yield ("ha_pct_%s_requests" % name, "%",
               "REQUESTS.%s / (REQUESTS.03 + REQUESTS.0c)" % umask)


def imc():
    """§2.6.6; Tables 2-117, 2-119, 2-122, 2-123 and 2-125."""
    for name, count in (("reads", "CAS_COUNT.03"), ("writes", "CAS_COUNT.0c"),
                        ("total", "(CAS_COUNT.03 + CAS_COUNT.0c)")):
        yield "mem_bw_" + name, "Bytes", count + " * 64"
        yield ("mem_bw_%s_rate" % name, "GiB/s",
               count + " * 64" + GIB_A_SECOND)
    for name, event in (("critical_throttle", "POWER_CRITICAL_THROTTLE_CYCLES"),
                        ("dlloff", "POWER_CHANNEL_DLLOFF"),
                        ("ppd", "POWER_CHANNEL_PPD"),
                        ("self_refresh", "POWER_SELF_REFRESH")):
        yield "pct_cycles_" + name, "%", event + " / CTR_FIXED"
    for rank in range(8):
        for name, event in (("cke", "CKE"), ("thr", "THROTTLE")):
            yield ("pct_cycles_dram_rank%d_in_%s" % (rank, name), "%",
                   "POWER_%s_CYCLES.%02x / CTR_FIXED" % (event, 1 << rank))
    # misprint: WPQ_INSERTS, which §2.6.5 lacks; each write leaves the queue as a CAS
    for name, event in (("rd", "RPQ_INSERTS"), ("wr", "CAS_COUNT.0c")):
        yield ("imc_pct_%s_requests" % name, "%",
               event + " / (RPQ_INSERTS + CAS_COUNT.0c)")
    # The manual has ACT_COUNT without a unit mask: take all unit masks of Table 2-117. For
    # RD + WR take ALL, which needs one counter instead of two (Table 2-119).
    empty = "(ACT_COUNT.0b - PRE_COUNT.01) / CAS_COUNT.0f"
    miss = "PRE_COUNT.01 / CAS_COUNT.0f"
    yield "pct_requests_page_empty", "%", empty
    yield "pct_requests_page_miss", "%", miss
    yield "pct_requests_page_hit", "%", "1 - (%s + %s)" % (empty, miss)


def pcu():
    """§2.8.5. Misprint: FREQ_MAX_CURRENT_CYCLES for the thermal limit. §2.8.4 does not have
    FREQ_MAX_CURRENT_CYCLES, so there is no metric of this event."""
    for name, event in (("os", "FREQ_MAX_OS_CYCLES"),
                        ("power", "FREQ_MAX_POWER_CYCLES"),
                        ("thermal", "FREQ_MAX_LIMIT_THERMAL_CYCLES")):
        yield "pct_cyc_freq_%s_ltd" % name, "%", event + PER_CLOCK


def packet(match, mask, rds=None):
    more = "" if rds is None else ",match_rds=%#x,mask_rds=0xf" % rds
    return "CTO_COUNT{match0=%#x,mask0=%#x%s}" % (match, mask, more)


def qpi_nodes():
    """The rows of §2.9.5 for a node x, for all nodes: bits 17:13 of MATCH0 (Table 2-173)
    have the node."""
    for node in range(8):
        dnid = node << 13
        datac = packet(dnid | 0x1c00, 0x3ff80)
        drs = packet(dnid | 0x1c00, 0x3fe00)
        ncb = packet(dnid | 0x1800, 0x3fe00)
        interrupts = packet(dnid | 0x1900, 0x3ff80)
        for name, count in (
                ("data", "%s + (%s - %s) + (%s - %s)" % (
                    datac, drs, datac, ncb, interrupts)),
                ("drs_datac", datac),
                ("drs_write", "%s - %s" % (drs, datac)),
                ("ncb_data", "%s - %s" % (ncb, interrupts))):
            yield ("%s_from_qpi_to_node%d" % (name, node), "Bytes",
                   "(%s) * 64" % count)


def qpi():
    """§2.9.5; Tables 2-176, 2-180, 2-183, 2-184 and 2-197."""
    drs, ncb = "RxL_FLITS_G1.08 * 8", "RxL_FLITS_G2.04 * 8"
    llc = "DIRECT2CORE.01 * 64"
    yield "data_from_qpi", "Bytes", "%s + %s" % (drs, ncb)
    yield "data_from_qpi_to_ha_or_iio", "Bytes", "%s + %s - %s" % (
        drs, ncb, llc)
    yield "data_from_qpi_to_llc", "Bytes", llc
    yield "drs_data_msgs_from_qpi", "Bytes", drs
    yield "ncb_data_msgs_from_qpi", "Bytes", ncb
    # DRS_DataC_M of §2.9.5 has RDS 1, and its text is about state F. State M is RDS 8
    # (Table 2-172), also in DRS_M.
    for name, rds in (("drs_datac_m", 8), ("drs_m", 8), ("drs_datac_f", 1)):
        yield (name + "_from_qpi", "Bytes",
               packet(0x1c00, 0x1fe0, rds) + " * 64")
    for name, match in (("full", 0x1c00), ("ptl", 0x1d00)):
        yield ("drs_%s_cacheline_msgs_from_qpi" % name, "Bytes",
               packet(match, 0x1f00) + " * 64")
    # misprint: MASK0 for MATCH0 and similar. "Three flavors {DataC, DataC_FrcAckCnflt,
    # DataC_Cmp}": each of the three in state E and in state F
    yield "drs_f_or_e_from_qpi", "Bytes", "(%s) * 64" % " + ".join(
        packet(match, 0x1fe0, rds) for match in (0x1c00, 0x1c20, 0x1c40)
        for rds in (4, 1))
    written = {"e": packet(0x1cc0, 0x1fe0), "i": packet(0x1c80, 0x1fe0),
               "s": packet(0x1ca0, 0x1fe0)}
    for name, count in written.items():
        yield "drs_wb%s_from_qpi" % name, "Bytes", count + " * 64"
    yield "drs_wb_from_qpi", "Bytes", "(%s) * 64" % " + ".join(
        written.values())
    # L0 includes L0p (note of RxL0_POWER_CYCLES), and full power is L0 without L0p
    yield ("pct_link_full_power_cycles", "%",
           "(RxL0_POWER_CYCLES - RxL0P_POWER_CYCLES)" + PER_CLOCK)
    yield ("pct_link_half_disabled_cycles", "%",
           "RxL0P_POWER_CYCLES" + PER_CLOCK)
    yield "pct_link_shutdown_cycles", "%", "L1_POWER_CYCLES" + PER_CLOCK
    data, link = "TxL_FLITS_G0.02", "(TxL_FLITS_G0.02 + TxL_FLITS_G0.04)"
    for name, flits in (("data", data), ("link", link)):
        yield "qpi_%s_bw" % name, "Bytes", flits + " * 8"
        yield "qpi_%s_bw_rate" % name, "GiB/s", flits + " * 8" + GIB_A_SECOND
    # QPI_LINK_UTIL is left out: utilisations() has both directions
    yield "qpi_speed", "GT/s", "4 * CLOCKTICKS / BOXES / SECONDS / 1e9"


def r2pcie():
    """§2.10.5; Table 2-221."""
    for name, umask in (("up", "03"), ("dn", "0c")):
        ring = "RING_BL_USED." + umask
        yield "r2pcie_cyc_used_" + name, "%", ring + PER_CLOCK
        yield "r2pcie_ring_thru_%s_bytes" % name, "Bytes", ring + " * 32"


def utilisations():
    """Utilisations: counts divided by the most that fits into a clock, by §2.6.3.2,
    §2.9.6, and the largest increments of §2.3.4, §2.4.4, §2.5.3, §2.10.4 and §2.11.4."""
    yield "imc", "imc_util", "%", "4 * (CAS_COUNT.03 + CAS_COUNT.0c) / CTR_FIXED"
    yield "qpi", "qpi_tx_util", "%", \
        "(TxL_FLITS_G0.02 + TxL_FLITS_G0.04)" + PER_CLOCK
    yield "qpi", "qpi_rx_util", "%", \
        "(RxL_FLITS_G1.1f + RxL_FLITS_G2.1f)" + PER_CLOCK
    yield "cbox", "cbox_util", "%", "LLC_LOOKUP.11{state=0x7f}" + PER_CLOCK
    yield "ha", "ha_util", "%", "(REQUESTS.03 + REQUESTS.0c)" + PER_CLOCK
    for box, most in (("cbox", 2), ("sbox", 2), ("r2pcie", 1), ("r3qpi", 1)):
        yield box, box + "_ring_util", "%", ring_util("03", "0c", most)


def ring_util(up, down, most=1):
    return "max(RING_BL_USED.%s, RING_BL_USED.%s) / (%d * CLOCKTICKS)" % (
        up, down, most)


def haswell():
    for table in (cbox, ubox, sbox, ha, imc, pcu, qpi, qpi_nodes, r2pcie):
        for row in table():
            yield (table.__name__.split("_", maxsplit=1)[0], *row)
    yield from data_reads()
    yield from utilisations()


def ivy_bridge():
    """Differences from Haswell: requests of devices have opcodes of their own; there are
    two rings with two polarities each; a clock of the link layer has two slots."""
    def inserts(*opcodes, umask="01"):
        return " + ".join("TOR_INSERTS.%s{opc=%#x}" % (umask, opcode)
                          for opcode in opcodes)
    writes = "(%s) * 64" % inserts(0x19c, 0x1e6)
    yield "cbox", "io_read_bw", "MB", writes + " / 1000000"
    yield "cbox", "io_read_bw_rate", "GiB/s", writes + GIB_A_SECOND
    yield "cbox", "ddio_hit_pct", "%", device_hits("opc=0x19c")
    yield "cbox", "pci_writes", "", inserts(0x19c)
    yield "cbox", "partial_pci_writes", "", inserts(0x1e5)
    yield "cbox", "partial_pci_reads", "", inserts(0x195)
    yield "cbox", "pcie_data_bytes", "Bytes", "(%s) * 64" % inserts(0x194, 0x19c)
    yield "cbox", "llc_rfo_miss_pct", "%", "%s / %s" % (
        inserts(0x180, umask="03"), inserts(0x180))
    for name, umask in (("loc", "23"), ("rem", "83")):
        yield "cbox", "llc_drd_rfo_miss_to_%s_mem" % name, "%", "(%s) / (%s)" % (
            inserts(0x182, 0x180, umask=umask), inserts(0x182, 0x180, umask="03"))
    yield "cbox", "llc_drd_miss_pct", "%", \
        "LLC_LOOKUP.03{state=0x01} / LLC_LOOKUP.03{state=0x3f}"
    yield "cbox", "cbox_util", "%", "LLC_LOOKUP.11{state=0x3f}" + PER_CLOCK
    yield from rings("33", "cc")
    requests = "(RPQ_INSERTS + WPQ_INSERTS)"
    yield "imc", "imc_pct_rd_requests", "%", "RPQ_INSERTS / " + requests
    yield "imc", "imc_pct_wr_requests", "%", "WPQ_INSERTS / " + requests
    yield "pcu", "pct_cyc_freq_current_ltd", "%", \
        "FREQ_MAX_CURRENT_CYCLES" + PER_CLOCK
    received = "(RxL_FLITS_G0.02 + RxL_FLITS_G0.04) / (2 * CLOCKTICKS)"
    yield "qpi", "qpi_rx_util", "%", received
    yield "qpi", "qpi_tx_util", "%", received.replace("Rx", "Tx")
    yield "qpi", "qpi_speed", "GT/s", "8 * CLOCKTICKS / BOXES / SECONDS / 1e9"


def rings(up, down):
    """Rows of the rings. The unit masks have both polarities of all rings."""
    for box in ("cbox", "r2pcie"):
        for name, umask in (("up", up), ("dn", down)):
            used = "RING_BL_USED." + umask
            yield box, "%s_cyc_used_%s" % (box, name), "%", used + PER_CLOCK
            yield box, "%s_ring_thru_%s_bytes" % (box, name), "Bytes", \
                used + " * 32"
        yield box, box + "_ring_util", "%", ring_util(up, down)
    yield "r3qpi", "r3qpi_ring_util", "%", ring_util(up, down)


def sandy_bridge():
    """Differences from Ivy Bridge: there is one ring; a line has five states; ACT_COUNT has
    no unit masks."""
    yield "cbox", "llc_drd_miss_pct", "%", \
        "LLC_LOOKUP.03{state=0x01} / LLC_LOOKUP.03{state=0x1f}"
    yield "cbox", "llc_mpi", "", "LLC_LOOKUP.1f{state=0x01} / INSTRUCTIONS"
    yield "cbox", "cbox_util", "%", "LLC_LOOKUP.1f{state=0x1f}" + PER_CLOCK
    yield from rings("03", "0c")
    for box in ("cbox", "r2pcie"):
        for name, umask in (("upeven", "01"), ("upodd", "02"), ("dneven", "04"),
                            ("dnodd", "08")):
            used = "RING_BL_USED." + umask
            yield box, "%s_cyc_used_%s" % (box, name), "%", used + PER_CLOCK
            yield box, "%s_ring_thru_%s_bytes" % (box, name), "Bytes", \
                used + " * 32"
    yield "ha", "pct_cycles_conflict", "%", "CONFLICT_CYCLES.02" + PER_CLOCK
    empty = "(ACT_COUNT - PRE_COUNT.01) / CAS_COUNT.0f"
    yield "imc", "pct_requests_page_empty", "%", empty
    yield "imc", "pct_requests_page_hit", "%", "1 - ACT_COUNT / CAS_COUNT.0f"


def skylake_cha():
    """Opcodes of the IRQ are RFO 0x200, CRd 0x201, DRd 0x202, and 0x25a and 0x259 the
    prefetches into the LLC; of devices RdCur 0x21e, ItoM 0x248. 0x10 of the unit mask is a
    hit, 0x20 a miss, 0x01 a request of a core, 0x04 of a device."""
    opcodes = {"drd": "0x202", "rfo": "0x200", "crd": "0x201"}
    every = "rem=1,loc=1,nm=1,not_nm=1,"
    for name, opcode in opcodes.items():
        miss, hit = ("TOR_INSERTS.%s{%sopc0=%s}" % (mask, every, opcode)
                     for mask in ("21", "11"))
        yield "llc_%s_miss_pct" % name, "%", "%s / (%s + %s)" % (miss, miss, hit)
    for name, prefetch in (("drd", "0x25a"), ("crd", "0x259")):
        yield "llc_%s_mpi" % name, "", "TOR_INSERTS.21{%sopc0=%s,opc1=%s} / INSTRUCTIONS" % (
            every, opcodes[name], prefetch)
    local, remote = "loc=1,nm=1,not_nm=1,opc0=0x202", "rem=1,nm=1,not_nm=1,opc0=0x202"
    for name, mask, filters in (("", "31", every + "opc0=0x202"),
                                ("miss_", "21", every + "opc0=0x202"),
                                ("loc_miss_", "21", local),
                                ("rem_miss_", "21", remote)):
        formula = "TOR_OCCUPANCY.%s{%s} / TOR_INSERTS.%s{%s}" % ((mask, filters) * 2)
        yield "avg_tor_drd_%slatency" % name, "cycles", formula
        yield "avg_tor_drd_%slatency_ns" % name, "ns", formula + TO_NS
    yield "avg_ingress_latency", "cycles", "RxC_OCCUPANCY.01 / RxC_INSERTS.01"
    yield ("avg_tor_drds_miss_when_ne", "", "TOR_OCCUPANCY.21{%sopc0=0x202} / "
           "COUNTER0_OCCUPANCY{thresh=1}" % every)
    reads = ["TOR_INSERTS.21{%s}" % filters for filters in (local, remote)]
    for name, part in zip(("loc", "rem"), reads):
        yield "llc_drd_miss_to_%s_mem" % name, "%", "%s / (%s + %s)" % (part, *reads)
    yield "llc_drd_miss_bw_rate", "GiB/s", \
        "TOR_INSERTS.21{%sopc0=0x202} * 64" % every + GIB_A_SECOND
    for name, mask in (("reads_local", "01"), ("reads_remote", "02"),
                       ("writes_local", "04"), ("writes_remote", "08")):
        yield ("home_%s_rate" % name, "GiB/s",
               "REQUESTS.%s * 64" % mask + GIB_A_SECOND)
    yield "ddio_hit_pct", "%", "TOR_INSERTS.14 / (TOR_INSERTS.14 + TOR_INSERTS.24)"
    for name, opcode in (("rdcur", "0x21e"), ("itom", "0x248"), ("rfo", "0x200")):
        yield "ddio_miss_" + name, "", "TOR_INSERTS.24{%sopc0=%s}" % (every, opcode)
    yield "directory_snoop_pct", "%", "DIR_LOOKUP.01 / (DIR_LOOKUP.01 + DIR_LOOKUP.02)"


def skylake():
    """Skylake-SP: metrics by the meaning of the events. A link of 20 lanes moves 160 bits in
    a clock, which are 2.5 slots of 64 bits; a line is nine slots. An increment of the data
    of a PCIe stack is 4 bytes, and its ports are bits of a mask."""
    for row in skylake_cha():
        yield "cha", *row
    for name, *row in imc():
        if name.startswith(("mem_bw", "pct_requests")) or name in (
                "pct_cycles_ppd", "pct_cycles_self_refresh",
                "pct_cycles_critical_throttle"):
            yield "imc", name, *row
    yield "imc", "imc_util", "%", "4 * (CAS_COUNT.03 + CAS_COUNT.0c) / CTR_FIXED"
    for name, queue in (("read", "RPQ"), ("write", "WPQ")):
        yield ("imc", "dram_%s_latency_ns" % name, "ns",
               "%s_OCCUPANCY / %s_INSERTS / (CTR_FIXED / BOXES / SECONDS / 1e9)" %
               (queue, queue))
    yield "ubox", "uncore_frequency", "GHz", "UCLK / BOXES / SECONDS / 1e9"
    for name, formula in (("io_read", "DATA_REQ_OF_CPU.01"),
                          ("io_write", "DATA_REQ_OF_CPU.04"),
                          ("mmio_write", "DATA_REQ_BY_CPU.01"),
                          ("mmio_read", "DATA_REQ_BY_CPU.04")):
        yield "iio", name + "_bw_rate", "GiB/s", \
            formula + "{ch_mask=0xf,fc_mask=7} * 4" + GIB_A_SECOND
    for name, flits in (("tx", "TxL_FLITS"), ("rx", "RxL_FLITS")):
        yield ("upi", "upi_%s_util" % name, "%",
               "(%s.0f + %s.97) / (2.5 * CLOCKTICKS)" % (flits, flits))
    yield ("upi", "upi_data_bw_rate", "GiB/s",
           "TxL_FLITS.0f * 64 / 9" + GIB_A_SECOND)
    yield ("upi", "upi_rx_data_bw_rate", "GiB/s",
           "RxL_FLITS.0f * 64 / 9" + GIB_A_SECOND)
    yield ("upi", "upi_link_bw_rate", "GiB/s",
           "(TxL_FLITS.0f + TxL_FLITS.97) * 64 / 9" + GIB_A_SECOND)
    yield "upi", "upi_speed", "GT/s", "8 * CLOCKTICKS / BOXES / SECONDS / 1e9"
    yield ("upi", "pct_link_half_disabled_cycles", "%",
           "TxL0P_POWER_CYCLES" + PER_CLOCK)
    yield "upi", "pct_link_shutdown_cycles", "%", "L1_POWER_CYCLES" + PER_CLOCK
    yield ("m2m", "direct2core_pct", "%", "DIRECT2CORE_TAKEN / (DIRECT2CORE_TAKEN + "
           "DIRECT2CORE_NOT_TAKEN + DIRECT2CORE_OVERRIDE)")
    yield "m2m", "prefetch_used_pct", "%", "PREFCAM_PROMOTIONS / PREFCAM_INSERTS"
    for name, *row in pcu():
        if not name.startswith("pct_cyc_freq_os"):
            yield "pcu", name, *row


def cascade_lake():
    yield "imc", "pmem_bw_reads_rate", "GiB/s", "PMM_RPQ_INSERTS * 64" + GIB_A_SECOND
    yield "imc", "pmem_bw_writes_rate", "GiB/s", "PMM_WPQ_INSERTS * 64" + GIB_A_SECOND
    yield ("imc", "pmem_bw_total_rate", "GiB/s",
           "(PMM_RPQ_INSERTS + PMM_WPQ_INSERTS) * 64" + GIB_A_SECOND)
    yield ("imc", "pmem_read_latency_ns", "ns",
           "PMM_RPQ_OCCUPANCY.01 / PMM_RPQ_INSERTS / (CTR_FIXED / BOXES / SECONDS) * 1e9")
    yield ("imc", "dram_cache_hit_pct", "%",
           "TAGCHK.01 / (TAGCHK.01 + TAGCHK.02 + TAGCHK.04)")


def tor(event, opcode, where=0x1ff, queue=0x01):
    """
    A request in the table of a CHA of Ice Lake-SP, by the bits of its unit mask. Bits 7:0 are
    the queue, 0x01 of cores or 0x04 of devices; above them @where has the bits that all
    requests have but those that it leaves out: 0x001 hit, 0x002 miss, 0x004 DRAM, 0x008
    persistent memory, 0x080 local, 0x100 remote. 0x200 compares @opcode, and 0x400 does so as it
    was in the beginning, which holds for cores. 0xc00000 is near memory and other memory.
    """
    compare = 0x600 if queue == 0x01 else 0x200
    return "%s.%x" % (event, (0xc00000 | opcode << 11 | compare | where) << 8 | queue)


HIT, MISS, LOCAL, REMOTE, DRAM, PMEM = 0x1fd, 0x1fe, 0x0fe, 0x17e, 0x186, 0x18a
RFO_ICX, CRD_ICX, DRD_ICX, PREFETCH, LLC_DATA = 0x100, 0x101, 0x102, 0x010, 0x19a
RDCUR_ICX, ITOM_ICX, ITOM_NEAR_ICX = 0x11e, 0x188, 0x1a8
DEVICES = 0x04


def ice_lake_cha():
    def core(opcode, where, event="TOR_INSERTS"):
        return tor(event, opcode, where)

    def both(opcode, where):
        """The demand requests, and the prefetches of L1 and L2."""
        return " + ".join((core(opcode, where), core(opcode | PREFETCH, where)))
    for name, opcode in (("drd", DRD_ICX), ("rfo", RFO_ICX), ("crd", CRD_ICX)):
        miss, hit = both(opcode, MISS), both(opcode, HIT)
        yield "llc_%s_miss_pct" % name, "%", "(%s) / (%s + %s)" % (miss, miss, hit)
    yield "llc_drd_mpi", "", "(%s + %s) / INSTRUCTIONS" % (
        both(DRD_ICX, MISS), core(LLC_DATA, MISS))
    yield "llc_crd_mpi", "", "(%s) / INSTRUCTIONS" % both(CRD_ICX, MISS)
    for name, where in (("", 0x1ff), ("miss_", MISS), ("loc_miss_", LOCAL),
                        ("rem_miss_", REMOTE), ("dram_", DRAM), ("pmem_", PMEM)):
        formula = " / ".join(core(DRD_ICX, where, event)
                             for event in ("TOR_OCCUPANCY", "TOR_INSERTS"))
        if where not in (DRAM, PMEM):
            yield "avg_tor_drd_%slatency" % name, "cycles", formula
        yield "avg_tor_drd_%slatency_ns" % name, "ns", formula + TO_NS
    yield "avg_tor_drds_miss_when_ne", "", \
        core(DRD_ICX, MISS, "TOR_OCCUPANCY") + " / COUNTER0_OCCUPANCY{thresh=1}"
    reads = [both(DRD_ICX, where) for where in (LOCAL, REMOTE)]
    for name, part in zip(("loc", "rem"), reads):
        yield "llc_drd_miss_to_%s_mem" % name, "%", "(%s) / (%s + %s)" % (part, *reads)
    yield "llc_drd_miss_bw_rate", "GiB/s", \
        "(%s) * 64" % both(DRD_ICX, MISS) + GIB_A_SECOND


def ice_lake_devices():
    def device(*opcodes, where=0x1ff):
        return "(%s)" % " + ".join(tor("TOR_INSERTS", opcode, where, DEVICES)
                                   for opcode in opcodes)
    hit, miss = ("TOR_INSERTS.c001%s04" % bits for bits in ("fd", "fe"))
    yield "ddio_hit_pct", "%", "%s / (%s + %s)" % (hit, hit, miss)
    kinds = {"rdcur": RDCUR_ICX, "itom": ITOM_ICX, "rfo": RFO_ICX}
    for name, opcode in kinds.items():
        yield "ddio_miss_" + name, "", device(opcode, where=MISS)
    writes = (ITOM_ICX, ITOM_NEAR_ICX)
    for name, where in (("", 0x1ff), ("local_", 0x0ff), ("remote_", 0x17f), ("miss_", MISS)):
        yield "ddio_read_%sbw_rate" % name, "GiB/s", \
            device(RDCUR_ICX, where=where) + " * 64" + GIB_A_SECOND
        yield "ddio_write_%sbw_rate" % name, "GiB/s", \
            device(*writes, where=where) + " * 64" + GIB_A_SECOND
    for name, *opcodes in (("read", RDCUR_ICX), ("full_write", ITOM_ICX),
                           ("partial_write", ITOM_NEAR_ICX, RFO_ICX)):
        yield "ddio_%s_miss_pct" % name, "%", "%s / %s" % (
            device(*opcodes, where=MISS), device(*opcodes))


def ice_lake():
    """Differences from Skylake-SP and Cascade Lake-SP: a TOR event has its opcode in the unit
    mask; prefetches have opcodes of their own; a row is left open or not by a bit; reads and
    writes wait in two queues each; the fixed counter of a channel is slower than the DRAM
    clock; a stack has eight parts."""
    for row in (*ice_lake_cha(), *ice_lake_devices()):
        yield "cha", *row
    reads, writes, clock = "CAS_COUNT.0f", "CAS_COUNT.30", "CLOCKTICKS"
    for name, count in (("reads", reads), ("writes", writes),
                        ("total", "(%s + %s)" % (reads, writes))):
        yield "imc", "mem_bw_" + name, "Bytes", count + " * 64"
        yield "imc", "mem_bw_%s_rate" % name, "GiB/s", count + " * 64" + GIB_A_SECOND
    yield "imc", "pct_requests_page_empty", "%", "(ACT_COUNT.0b - PRE_COUNT.0c) / CAS_COUNT.3f"
    yield "imc", "pct_requests_page_miss", "%", "PRE_COUNT.0c / CAS_COUNT.3f"
    yield "imc", "pct_requests_page_hit", "%", "1 - ACT_COUNT.0b / CAS_COUNT.3f"
    yield "imc", "imc_util", "%", "4 * (%s + %s) / %s" % (reads, writes, clock)
    for name, event in (("ppd", "POWER_CHANNEL_PPD"), ("self_refresh", "POWER_SELF_REFRESH")):
        yield "imc", "pct_cycles_" + name, "%", "%s / %s" % (event, clock)
    yield ("imc", "pct_cycles_critical_throttle", "%", "(POWER_CRITICAL_THROTTLE_CYCLES.01 + "
           "POWER_CRITICAL_THROTTLE_CYCLES.02) / (2 * %s)" % clock)
    for name, queue in (("read", "RPQ"), ("write", "WPQ")):
        yield ("imc", "dram_%s_latency_ns" % name, "ns", "(%s_OCCUPANCY_PCH0 + "
               "%s_OCCUPANCY_PCH1) / %s_INSERTS.03" % (queue, queue, queue) + TO_NS)
    yield ("imc", "pmem_read_latency_ns", "ns",
           "PMM_RPQ_OCCUPANCY.01 / PMM_RPQ_INSERTS" + TO_NS)
    for name, formula in (("io_read", "DATA_REQ_OF_CPU.01"),
                          ("io_write", "DATA_REQ_OF_CPU.04"),
                          ("mmio_write", "DATA_REQ_BY_CPU.01"),
                          ("mmio_read", "DATA_REQ_BY_CPU.04")):
        yield "iio", name + "_bw_rate", "GiB/s", \
            formula + "{ch_mask=0xff,fc_mask=7} * 4" + GIB_A_SECOND
    yield "m2m", "direct2core_pct", "%", "TxC_BL.02 / (TxC_BL.01 + TxC_BL.02 + TxC_BL.04)"
    yield "m2m", "prefetch_used_pct", "%", \
        "PREFCAM_MERGES.15 / (PREFCAM_ENTRIES.15 + PREFCAM_ENTRIES.2a)"


def snow_ridge():
    yield "m2m", "direct2core_pct", "%", "TxC_BL.02 / (TxC_BL.01 + TxC_BL.02)"
    yield "m2m", "prefetch_used_pct", "%", "PREFCAM_MERGES.15 / PREFCAM_ENTRIES.15"


# The tables of each generation; a row of a later table replaces the row with the same name
# of an earlier table. NO_BOX and NO_METRIC are rows that a generation lacks.
TABLES = {"hswep": (haswell,), "bdwep": (haswell,), "bdwde": (haswell,),
          "ivbep": (haswell, ivy_bridge),
          "snbep": (haswell, ivy_bridge, sandy_bridge), "skx": (skylake,),
          "clx": (skylake, cascade_lake), "cpx": (skylake, cascade_lake),
          "icx": (skylake, cascade_lake, ice_lake),
          "icxd": (skylake, cascade_lake, ice_lake),
          "snr": (skylake, cascade_lake, ice_lake, snow_ridge)}
NO_BOX = {"bdwde": ("sbox", "qpi", "r3qpi"), "icxd": ("upi", "m3upi"),
          "snr": ("upi", "m3upi"), "ivbep": ("sbox",),
          "snbep": ("sbox",)}
NO_METRIC = {
    "ivbep": ("hitme_inserts", "hitme_inval"),
    "snbep": ("hitme_inserts", "hitme_inval", "mmio_partial_reads_cpu",
              "mmio_writes_cpu", "avg_tor_drd_loc_miss_latency",
              "avg_tor_drd_rem_miss_latency", "avg_tor_drd_loc_miss_latency_ns",
              "avg_tor_drd_rem_miss_latency_ns", "llc_drd_miss_to_loc_mem",
              "llc_drd_miss_to_rem_mem", "llc_drd_rfo_miss_to_loc_mem",
              "llc_drd_rfo_miss_to_rem_mem"),
    "snr": ("avg_tor_drd_dram_latency_ns", "avg_tor_drd_latency", "avg_tor_drd_latency_ns",
            "avg_tor_drd_loc_miss_latency", "avg_tor_drd_loc_miss_latency_ns",
            "avg_tor_drd_miss_latency", "avg_tor_drd_miss_latency_ns",
            "avg_tor_drd_pmem_latency_ns", "avg_tor_drd_rem_miss_latency",
            "avg_tor_drd_rem_miss_latency_ns", "avg_tor_drds_miss_when_ne",
            "ddio_read_local_bw_rate", "ddio_read_remote_bw_rate",
            "ddio_write_local_bw_rate", "ddio_write_remote_bw_rate", "directory_snoop_pct",
            "dram_cache_hit_pct", "home_reads_local_rate", "home_reads_remote_rate",
            "home_writes_local_rate", "home_writes_remote_rate", "llc_drd_miss_bw_rate",
            "llc_drd_miss_pct", "llc_drd_miss_to_loc_mem", "llc_drd_miss_to_rem_mem",
            "llc_drd_mpi", "pmem_bw_reads_rate", "pmem_bw_total_rate", "pmem_bw_writes_rate",
            "pmem_read_latency_ns"),
}


def rows(generation):
    """(box, name, unit, formula) of each metric of a generation."""
    found = {}
    for table in TABLES.get(generation, ()):
        for box, name, *row in table():
            found[name] = (box, name, *row)
    return [row for row in found.values()
            if row[0] not in NO_BOX.get(generation, ()) and
            row[1] not in NO_METRIC.get(generation, ())]
