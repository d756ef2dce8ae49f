#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Check how compare.py reads lists in LIKWID's and ucevent's formats: the events of a list,
and their names in the catalogue. The lists are typed here. Prints TAP.
"""

import os
import sys
import tempfile
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "events"), os.path.join(TOP, "selftests")]

import compare  # noqa: E402
import likwid  # noqa: E402
import ucevent  # noqa: E402
from gen.roles import boxes_by  # noqa: E402
from generate import checked_generations  # noqa: E402
from lib.python.uncore import Tap  # noqa: E402

LIKWID = """\
Counter tags(name, type<, options>):
SBOX0C0, QPI Link Layer box 0, MATCH0|MASK0
Event tags (tag, id, umask, counters<, options>):
INSTR_RETIRED_ANY, 0x0, 0x0, FIXC0
UNCORE_CLOCK, 0x0, 0x0, UBOXFIX
LLC_LOOKUP_DATA_READ, 0x34, 0x3, CBOX, EDGEDETECT|STATE
TOR_INSERTS_OPCODE, 0x35, 0x1, CBOX0C0|CBOX0C1|CBOX1C0|CBOX1C1
RING_AK_USED_CW, 0x8, 0x33, PBOX|RBOX0C0|RBOX1C0
RXL_FLITS_G1_SNP, 0x2, 0x1, SBOX
GENERIC_EVENT, 0x0, 0x0, PMC|CBOX|SBOX
"""
LIKWID_MESH = """\
VERT_RING_BL_IN_USE_UP_EVEN, 0xAA, 0x1, CBOX|M2M|RBOX|PBOX
DIRECT2CORE_TAKEN, 0x21, 0x0, M2M
CACHE_TOTAL_OCCUPANCY_ANY, 0xF, 0x1, IRP
DRAM_CLOCKTICKS, 0x0, 0x0, MBOX0FIX|MBOX1FIX
IIO_BANDWIDTH_IN_PORT0, 0x0, 0x0, IBAND0PI0|IBAND1PI0
"""
LIKWID_MATCH = """\
TOR_INSERTS_IA_DRD, 0x35, 0x1, CBOX, MATCH0=0xC817FF
TXN_REQ_OF_CPU_MEM_READ_PART1, 0x84, 0x4, TCBOX, MASK0=0x2|MASK1=0x7
RXC_BYPASSED_AD_S0_IDLE, 0x40, 0x1, SBOX0C0|SBOX0C1|SBOX1C0
"""
UCEVENT = """\
# a list of events
aliases = { "CBoFilter0": "Cn_MSR_PMON_BOX_FILTER" }
events = {
     "CBO.CLOCKTICKS": { "Box": "CBO", "EvSel": 0, "ExtSel": "" },
     "CBO.LLC_VICTIMS": { "Box": "CBO", "EvSel": 55, "ExtSel": "" },
     "CBO.LLC_VICTIMS.M_STATE": { "Box": "CBO", "EvSel": 55, "ExtSel": "",
          "Umask": "bxxxxxxx1" },
     "CBO.LLC_VICTIMS.MISS": { "Box": "CBO", "EvSel": 55, "ExtSel": "",
          "Umask": "bxxx1xxxx" },
     "EDC.CLOCKTICKS": { "Box": "EDC", "EvSel": 0, "ExtSel": "" },
     "QPI_LL.RxL_FLITS_G1.SNP": { "Box": "QPI_LL", "EvSel": 2, "ExtSel": 1,
          "Umask": "b00000001" },
}
derived = {
     "CBO.AVG_TOR_DRD_MISS_LATENCY": { "Box": "CBO", "Equation": "A / B" },
}
"""


def encoding(code, umask, ext=0):
    return {"code": code, "umask": umask, "ext": ext}


def test_likwid(tap, generations):
    ivy, haswell, skylake, icelake = (boxes_by(generations[name], "LIKWID")
                                      for name in ("ivbep", "hswep", "skx", "icx"))
    events = list(likwid.parse(LIKWID, ivy))
    tap.ok(events == [
        ("cbox", "llc_lookup_data_read", 0x34, 3), ("cbox", "tor_inserts_opcode", 0x35, 1),
        ("r2pcie", "ring_ak_used_cw", 8, 0x33), ("r3qpi", "ring_ak_used_cw", 8, 0x33),
        ("qpi", "rxl_flits_g1_snp", 2, 1)],
        "LIKWID: the events of programmable counters, for each box type", [repr(events)])
    events = list(likwid.parse(LIKWID, haswell))
    tap.ok(events[-1][0] == "sbox", "LIKWID: SBOX is the SBo where there is one",
           [repr(events)])
    events = list(likwid.parse(LIKWID_MESH, skylake))
    tap.ok(events == [
        ("cha", "vert_ring_bl_in_use_up_even", 0xaa, 1),
        ("m2m", "vert_ring_bl_in_use_up_even", 0xaa, 1),
        ("m2pcie", "vert_ring_bl_in_use_up_even", 0xaa, 1),
        ("m3upi", "vert_ring_bl_in_use_up_even", 0xaa, 1),
        ("m2m", "direct2core_taken", 0x21, 0), ("irp", "cache_total_occupancy_any", 0xf, 1)],
        "LIKWID: boxes of a mesh, and neither a fixed nor a free-running counter",
        [repr(events)])
    events = list(likwid.parse(LIKWID_MATCH, icelake))
    tap.ok(events == [
        ("cha", "tor_inserts_ia_drd", 0x35, 0xc817ff01),
        ("iio", "txn_req_of_cpu_mem_read_part1", 0x84, 4),
        ("m3upi", "rxc_bypassed_ad_s0_idle", 0x40, 1)],
        "LIKWID: a unit mask of more than eight bits goes on in an option", [repr(events)])


def test_ucevent(tap, haswell):
    events = list(ucevent.parse(UCEVENT, boxes_by(haswell, "Other")))
    tap.ok(events == [
        ("cbox", "clockticks", 0, 0, 0), ("cbox", "llc_victims.m_state", 55, 1, 0),
        ("cbox", "llc_victims.miss", 55, 0x10, 0), ("qpi", "rxl_flits_g1.snp", 2, 1, 1)],
        "ucevent: events of known boxes, their unit masks and extension bits", [repr(events)])


def test_names(tap, generation):
    found = compare.in_our_names(generation, [
        ("cbox", "llc_lookup_any", 0x34, 0x11, None),
        ("cbox", "llc_lookup_write", 0x34, 0xff, None),
        ("cbox", "llc_victims_m", 0x37, 0x01, None),
        ("cbox", "unheard_of", 0x7f, 0x80, None),
        ("qpi", "rxl_flits_g1.snp", 2, 1, None)])
    tap.ok(found == {
        "hswep_cbox/llc_lookup.any": encoding(0x34, 0x11),
        "hswep_cbox/llc_lookup.write": encoding(0x34, 0xff),
        "hswep_cbox/llc_victims.m_state": encoding(0x37, 0x01),
        "hswep_cbox/unheard_of": encoding(0x7f, 0x80),
        "hswep_qpi/rxl_flits_g1.snp": encoding(2, 1, 1)},
        "the catalogue's name by name, else by encoding", [repr(found)])


def test_folder(tap, generation):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "hsx_uc.py"), "w", encoding="utf-8") as file:
            file.write(UCEVENT)
        found = compare.ucevent_list(generation, SimpleNamespace(ucevent=folder))
    tap.ok(found.get("hswep_cbox/llc_victims.miss") == encoding(55, 0x10) and
           not any(name.endswith("/llc_victims") for name in found),
           "ucevent: a folder of lists", [repr(found)])


def main():
    tap = Tap()
    generations = {generation.name: generation for generation in
                   checked_generations(os.path.join(TOP, "events"))}
    haswell = generations["hswep"]
    test_likwid(tap, generations)
    test_ucevent(tap, haswell)
    test_names(tap, haswell)
    test_folder(tap, haswell)
    tap.end()


if __name__ == "__main__":
    main()
