// SPDX-License-Identifier: GPL-2.0-or-later
// Transactions: a counter counts exactly the transactions that match its event and unit
// mask and the filters of the box (§2.3.2.3, §2.5.1.3, §2.8.2.2, §2.9.2.3).
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "reference.h"

namespace test {
namespace {

u32 select(const model_wave& wave) {
  return (wave.code & 0xff) | (wave.code & 0x100 ? kExt : 0) |
         umask(wave.umask);
}

class Traffic : public testing::Test {
 protected:
  // Sends `count` transactions and returns by how much counter 0 grew.
  u64 taken(const Box& box, Txn txn, u64 count = 1) {
    txn.box_type = box.box_type;
    txn.box = box.index;
    txn.count = count;
    const u64 before = m.read(box.ctr(0));
    EXPECT_EQ(m.traffic(txn), static_cast<s64>(count));
    return m.read(box.ctr(0)) - before;
  }

  Machine m;
};

// --- matching of event and umask ------------------------------------------

// Sets the filters of a box to match as many transactions as possible.
void open_filters(Machine& m, const Box& box) {
  if (box.box_type == CBOX) {
    m.wrmsr(0xe05 + 16 * box.index, 0x7f << 17);
    m.wrmsr(0xe06 + 16 * box.index, 0xffff);
  }
  if (box.box_type == QPI) {
    m.pci_write(devfn(8 + box.index, 6), 0x238, 0x1e00);
  }
}

TEST_F(Traffic, EveryEventOfEveryBoxIsExact) {
  for (const Box& box : all_boxes()) {
    open_filters(m, box);
    for (const model_wave& wave : waves(box.box_type)) {
      const unsigned i = std::countr_zero(wave.ctrs);
      m.program(box, i, kEn | select(wave));
      m.write(box.ctr(i), 0);
      Txn txn = {.box_type = box.box_type,
                 .box = box.index,
                 .code = wave.code,
                 .umask = wave.umask,
                 .count = 1000,
                 .value = 3,
                 .state = 0x7f,
                 .nid = 0x1};
      EXPECT_EQ(m.traffic(txn), 1000);
      EXPECT_EQ(m.read(box.ctr(i)), 3000u)
          << box.name() << std::hex << " " << wave.code << "." << +wave.umask;
      txn.pkg = 1;
      m.traffic(txn);
      txn.pkg = 0;
      txn.code ^= 0x80;
      m.traffic(txn);
      txn.code = wave.code ^ 0x100;
      m.traffic(txn);
      EXPECT_EQ(m.read(box.ctr(i)), 3000u) << "other events, other package";
      m.program(box, i, 0);
    }
    EXPECT_EQ(m.read(box.status()), 0u);
  }
}

// "Register Restrictions" of §2.3.6 and of the corresponding sections of other boxes
TEST_F(Traffic, EventsGoToTheirCountersOnly) {
  for (const Box& box : all_boxes([](const Box& b) { return b.index == 0; })) {
    open_filters(m, box);
    for (const model_wave& wave : waves(box.box_type)) {
      for (unsigned i = 0; i < box.counters(); ++i) {
        m.program(box, i, kEn | select(wave));
        m.write(box.ctr(i), 0);
      }
      m.traffic({.box_type = box.box_type,
                 .code = wave.code,
                 .umask = wave.umask,
                 .count = 10,
                 .value = 1,
                 .state = 0x7f,
                 .nid = 0x1});
      for (unsigned i = 0; i < box.counters(); ++i)
        EXPECT_EQ(m.read(box.ctr(i)), wave.ctrs >> i & 1 ? 10u : 0u)
            << box.name() << std::hex << " " << wave.code;
    }
  }
}

// Unit mask bits that are subevents: one common bit is enough. In the iMC's CAS_COUNT, RD
// is 3 and WR is 0xc.
TEST_F(Traffic, SubeventsOfCasCount) {
  const Box imc{IMC, 6};
  m.program(imc, 0, kEn | umask(0x03) | 0x04);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x01}, 500), 500u);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x02}, 7), 7u);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x04}, 500), 0u);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x0f}, 1), 1u);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x00}, 1), 0u);
  m.program(imc, 0, kEn | 0x04);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x01}), 0u);
  EXPECT_EQ(taken(imc, {.code = 0x04, .umask = 0x00}), 1u);
}

// Unit masks as printed in Tables 2-151 and 2-152: an x is any bit, a 0 must be 0.
TEST_F(Traffic, SubeventsOfIrpMiscLeaveOthersAtZero) {
  const std::vector<std::pair<u32, std::vector<std::string>>> tables = {
      {0x14,
       {"000000x1", "0000001x", "x00xx100", "x00x1x00", "x001xx00", "xx100000",
        "x1x00000", "1xx00000"}},
      {0x15,
       {"000xxxx1", "000xxx1x", "000xx1xx", "000x1xxx", "0001xxxx", "xx1x0000",
        "x1xx0000", "1xxx0000"}}};
  const Box irp{IRP, 0};
  for (const auto& [code, masks] : tables)
    for (unsigned bit = 0; bit < 8; ++bit)
      for (u32 mask = 0; mask < 0x100; ++mask) {
        bool fits = true;
        for (unsigned i = 0; i < 8; ++i) {
          const char printed = masks[bit][7 - i];
          fits &= printed == 'x' || (printed == '1') == (mask >> i & 1);
        }
        m.program(irp, 0, kEn | umask(mask) | code);
        EXPECT_EQ(taken(irp, {.code = code, .umask = 1u << bit}),
                  fits ? 1u : 0u)
            << std::hex << code << " subevent " << bit << " umask " << mask;
      }
}

// Unit mask bits that are conditions: all must hold. TOR_INSERTS.MISS_LOCAL is 0x2a.
TEST_F(Traffic, ConditionsOfTorInserts) {
  const Box cbo{CBOX, 3};
  m.program(cbo, 0, kEn | umask(0x2a) | 0x35);
  EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x2a}), 1u);
  EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x3a}), 1u);
  EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x28}), 0u) << "no miss";
  EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x8a}), 0u) << "remote";
  m.program(cbo, 0, kEn | umask(0x08) | 0x35);
  EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x2a}), 1u) << "ALL";
}

TEST_F(Traffic, OnlyEnabledAndUnfrozenBoxesCount) {
  const Box ha{HA, 1};
  const Txn txn = {.code = 0x01, .umask = 0x03};
  m.program(ha, 0, umask(0x03) | 0x01);
  EXPECT_EQ(taken(ha, txn, 9), 0u);
  m.program(ha, 0, kEn | umask(0x03) | 0x01);
  EXPECT_EQ(taken(ha, txn, 9), 9u);
  m.write(ha.box_ctl(), kOnes | kFrz);
  EXPECT_EQ(taken(ha, txn, 9), 0u) << "lost, not kept";
  m.write(ha.box_ctl(), kOnes);
  m.wrmsr(kGlobalCtl, kFrzAll);
  EXPECT_EQ(taken(ha, txn, 9), 0u);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(taken(ha, txn, 9), 9u);
}

TEST_F(Traffic, AbsentBoxes) {
  EXPECT_EQ(m.traffic({.box_type = CBOX, .box = 18, .count = 1}), -1);
  EXPECT_EQ(m.traffic({.box_type = HA, .pkg = 2, .count = 1}), -1);
  EXPECT_EQ(m.traffic({.box_type = GBSQ, .count = 1}), -1);
  EXPECT_EQ(m.traffic({.box_type = CBOX, .count = 0}), 0);
}

TEST_F(Traffic, WavesAndTransactionsAddUp) {
  const Box pcu{PCU, 0};
  m.program(pcu, 0, kEn | 0x00);
  m.advance(100);
  m.traffic({.box_type = PCU, .code = 0x00, .count = 11, .value = 1});
  m.advance(100);
  EXPECT_EQ(m.read(pcu.ctr(0)), 211u);
}

// --- threshold, invert and edge --------------------------------------------

TEST_F(Traffic, ThresholdSeesTheValueOfATransaction) {
  const Box ha{HA, 0};
  struct {
    u32 shape, value;
    u64 count;
  } const cases[] = {
      {0, 1, 100},
      {0, 7, 700},
      {kEdge | kInvert, 7, 700},
      {thresh(1), 7, 100},
      {thresh(7), 7, 100},
      {thresh(8), 7, 0},
      {thresh(1) | kEdge, 7, 100},
      {thresh(8) | kEdge, 7, 0},
      {thresh(1) | kInvert, 7, 0},
      {thresh(8) | kInvert, 7, 0},
      {thresh(1) | kEdge | kInvert, 7, 0},
      {thresh(255), 300, 100},
  };
  for (const auto& c : cases) {
    m.program(ha, 0, kEn | umask(0x03) | 0x01 | c.shape);
    EXPECT_EQ(taken(ha, {.code = 0x01, .value = c.value}, 100), 0u);
    EXPECT_EQ(taken(ha, {.code = 0x01, .umask = 0x03, .value = c.value}, 100),
              c.count)
        << std::hex << c.shape;
  }
}

TEST_F(Traffic, OccupancyHasItsOwnInvert) {
  const Box pcu{PCU, 0};
  const Txn five_in_c3 = {.code = 0x80, .umask = 0x80, .value = 5};
  m.program(pcu, 0, kEn | 0x80 | occ_sel(2));
  EXPECT_EQ(taken(pcu, five_in_c3, 10), 50u);
  m.program(pcu, 0, kEn | 0x80 | occ_sel(2) | thresh(5) | kOccEdge);
  EXPECT_EQ(taken(pcu, five_in_c3, 10), 10u);
  m.program(pcu, 0, kEn | 0x80 | occ_sel(2) | thresh(5) | kOccInvert);
  EXPECT_EQ(taken(pcu, five_in_c3, 10), 0u);
  m.program(pcu, 0, kEn | 0x80 | occ_sel(1));
  EXPECT_EQ(taken(pcu, five_in_c3, 10), 0u) << "C0";
}

// §2.3.1.1
TEST_F(Traffic, Counter0OccupancyTakesWhatCounter0Takes) {
  const Box cbo{CBOX, 5};
  m.program(cbo, 0, kEn | umask(0x08) | 0x36);
  m.program(cbo, 1, kEn | 0x1f);
  m.program(cbo, 2, kEn | 0x1f | thresh(4));
  m.program(cbo, 3, kEn | umask(0x08) | 0x36);
  taken(cbo, {.code = 0x36, .umask = 0x08, .value = 3}, 10);
  taken(cbo, {.code = 0x36, .umask = 0x08, .value = 4}, 10);
  EXPECT_EQ(m.read(cbo.ctr(0)), 70u);
  EXPECT_EQ(m.read(cbo.ctr(1)), 70u);
  EXPECT_EQ(m.read(cbo.ctr(2)), 10u);
  EXPECT_EQ(m.read(cbo.ctr(3)), 0u) << "§2.3.1: counter 0 only";
}

// --- CBo filters, §2.3.2.3 -------------------------------------------------

class CboFilter : public Traffic {
 protected:
  void filter(u32 filter0, u32 filter1) {
    m.wrmsr(0xe05 + 16 * 9, filter0);
    m.wrmsr(0xe06 + 16 * 9, filter1);
  }
  const Box cbo{CBOX, 9};
};

// "Any of the CBo events may be filtered by Thread/Core-ID. To do so, the
// control register's .tid_en bit must be set to 1"
TEST_F(CboFilter, TidOfAnyEvent) {
  filter(0x25, 0);
  for (u32 code : {0x00u, 0x02u, 0x11u, 0x1bu, 0x39u}) {
    m.program(cbo, 0, kEn | kTidEn | umask(0x01) | code);
    const u32 mask = code == 0 ? 0 : 1;
    m.program(cbo, 0, kEn | kTidEn | umask(mask) | code);
    EXPECT_EQ(taken(cbo, {.code = code, .umask = mask, .tid = 0x25}, 100),
              100u);
    EXPECT_EQ(taken(cbo, {.code = code, .umask = mask, .tid = 0x24}, 100), 0u);
    EXPECT_EQ(taken(cbo, {.code = code, .umask = mask, .tid = 0x3f}, 100), 0u);
    m.program(cbo, 0, kEn | umask(mask) | code);
    EXPECT_EQ(taken(cbo, {.code = code, .umask = mask, .tid = 0x24}, 100), 100u)
        << "\"When .tid_en is 0; the specified counter will count ALL events\"";
  }
}

// LLC_LOOKUP: "Setting multiple bits in this field will allow a user to track
// multiple states."
TEST_F(CboFilter, StateOfLlcLookup) {
  m.program(cbo, 0, kEn | umask(0x11) | 0x34);
  for (u32 wanted = 0; wanted < 0x80; ++wanted) {
    filter(wanted << 17, 0);
    for (u32 bit = 0; bit < 7; ++bit)
      EXPECT_EQ(taken(cbo, {.code = 0x34, .umask = 0x11, .state = 1u << bit}),
                wanted >> bit & 1);
  }
}

// "One must ALWAYS set umask bit 0 and select a state or states to match.
// Otherwise, the event will count nothing."
TEST_F(CboFilter, LlcLookupWithoutBit0CountsNothing) {
  filter(0x7f << 17, 0);
  m.program(cbo, 0, kEn | umask(0x10) | 0x34);
  EXPECT_EQ(taken(cbo, {.code = 0x34, .umask = 0x11, .state = 1}), 0u);
}

// NID: "acts as a mask for all NodeID bits set in the filter"
TEST_F(CboFilter, NidOfTorVictimsAndRetries) {
  for (u32 code :
       {0x34u, 0x35u, 0x36u, 0x37u, 0x28u, 0x29u, 0x2au, 0x31u, 0x32u, 0x33u}) {
    const u32 all = code == 0x34   ? 0x11
                    : code == 0x35 ? 0x08
                    : code == 0x36 ? 0x08
                                   : 0x01;
    filter(0x7f << 17, 0x0006);
    m.program(cbo, 0, kEn | umask(0x40 | all) | code);
    auto from = [&](u32 nid, u32 mask) {
      return taken(cbo, {.code = code, .umask = mask, .state = 1, .nid = nid},
                   10);
    };
    EXPECT_EQ(from(1 << 0, all | 0x40), 0u) << std::hex << code;
    EXPECT_EQ(from(1 << 1, all | 0x40), 10u);
    EXPECT_EQ(from(1 << 2, all | 0x40), 10u);
    EXPECT_EQ(from(1 << 3, all | 0x40), 0u);
    EXPECT_EQ(from(1 << 15, all | 0x40), 0u);
    EXPECT_EQ(from(1 << 1, all), 10u) << "the bit is the filter's";
    EXPECT_EQ(from(1 << 1, 0x40), 0u) << "and no subevent";
    m.program(cbo, 0, kEn | umask(all) | code);
    EXPECT_EQ(from(1 << 3, all | 0x40), 10u) << "without NID: any node";
  }
}

TEST_F(CboFilter, NidAloneTakesAllSubevents) {
  filter(0, 0x0001);
  m.program(cbo, 0, kEn | umask(0x40) | 0x37);
  EXPECT_EQ(taken(cbo, {.code = 0x37, .umask = 0x08, .nid = 1}), 1u);
  EXPECT_EQ(taken(cbo, {.code = 0x37, .umask = 0x08, .nid = 2}), 0u);
}

TEST_F(CboFilter, NidIsNoFilterOfOtherEvents) {
  filter(0, 0x0001);
  m.program(cbo, 0, kEn | umask(0x40) | 0x13);
  EXPECT_EQ(taken(cbo, {.code = 0x13, .umask = 0x40, .nid = 2}), 1u);
}

// Table 2-20 and .opc: 1000 DRd to node 1, 500 RFO to node 0
TEST_F(CboFilter, OpcodeAndNidOfTorInserts) {
  const Txn drd = {.code = 0x35, .umask = 0x4b, .nid = 1 << 1, .opc = 0x182};
  const Txn rfo = {.code = 0x35, .umask = 0x4b, .nid = 1 << 0, .opc = 0x180};
  auto both = [&] { return taken(cbo, drd, 1000) + taken(cbo, rfo, 500); };
  m.program(cbo, 0, kEn | umask(0x01) | 0x35);  // OPCODE
  filter(0, 0x182 << 20);
  EXPECT_EQ(both(), 1000u);
  filter(0, 0x180 << 20);
  EXPECT_EQ(both(), 500u);
  filter(0, 0x187 << 20);
  EXPECT_EQ(both(), 0u);
  m.program(cbo, 0, kEn | umask(0x41) | 0x35);  // NID_OPCODE
  filter(0, 0x182 << 20 | 1 << 0);
  EXPECT_EQ(both(), 0u);
  filter(0, 0x182 << 20 | 1 << 1);
  EXPECT_EQ(both(), 1000u);
  m.program(cbo, 0, kEn | umask(0x48) | 0x35);  // NID_ALL
  filter(0, 0x187 << 20 | 1 << 0);
  EXPECT_EQ(both(), 500u) << "no opcode match without umask bit 0";
}

TEST_F(CboFilter, IsocNcAndC6OfTor) {
  struct {
    u32 bit;
    bool Txn::*attribute;
  } const cases[] = {
      {1u << 31, &Txn::isoc}, {1u << 30, &Txn::nc}, {1u << 29, &Txn::c6}};
  for (u32 code : {0x35u, 0x36u}) {
    m.program(cbo, 0, kEn | umask(0x01) | code);
    for (const auto& c : cases) {
      Txn with = {.code = code, .umask = 0x09, .opc = 0x182};
      Txn without = with;
      with.*c.attribute = true;
      filter(0, c.bit | 0x182 << 20);
      EXPECT_EQ(taken(cbo, with, 30), 30u);
      EXPECT_EQ(taken(cbo, without, 30), 0u);
      filter(0, 0x182 << 20);
      EXPECT_EQ(taken(cbo, with, 30), 30u);
      EXPECT_EQ(taken(cbo, without, 30), 30u);
    }
    filter(0, 7u << 29 | 0x182 << 20);
    Txn all = {.code = code,
               .umask = 0x09,
               .opc = 0x182,
               .nc = true,
               .c6 = true,
               .isoc = true};
    EXPECT_EQ(taken(cbo, all), 1u);
    all.c6 = false;
    EXPECT_EQ(taken(cbo, all), 0u);
  }
}

// FILTER0 8:6
TEST_F(CboFilter, LinkOfTor) {
  m.program(cbo, 0, kEn | umask(0x01) | 0x35);
  for (u32 wanted = 0; wanted < 8; ++wanted) {
    filter(wanted << 6, 0);
    for (u32 link = 0; link < 3; ++link)
      EXPECT_EQ(taken(cbo, {.code = 0x35, .umask = 0x01, .link = 1u << link}),
                wanted == 0 || (wanted >> link & 1));
  }
}

TEST_F(CboFilter, FiltersOfOneBoxAreNotThoseOfAnother) {
  filter(0, 0x182 << 20);
  const Box other{CBOX, 10};
  m.program(other, 0, kEn | umask(0x01) | 0x35);
  EXPECT_EQ(taken(other, {.code = 0x35, .umask = 0x01, .opc = 0x182}), 0u);
  EXPECT_EQ(taken(other, {.code = 0x35, .umask = 0x01, .opc = 0}), 1u);
}

// --- UBox -------------------------------------------------------------------

// EVENT_MSG: "Specify the thread to filter on"; PHOLD_CYCLES: "Filter from
// source CoreID."
TEST_F(Traffic, UboxThreadAndCore) {
  const Box ubox{UBOX, 0};
  const u32 events[][2] = {{0x42, 0x08}, {0x45, 0x01}};
  for (const auto& [code, mask] : events) {
    m.program(ubox, 0, kEn | umask(mask) | code);
    for (u32 tid = 0; tid < 0x40; ++tid) {
      m.wrmsr(0x707, tid);
      EXPECT_EQ(taken(ubox, {.code = code, .umask = mask, .tid = 0x2b}),
                tid == 0x2b);
    }
  }
  m.wrmsr(0x707, 1);
  m.program(ubox, 0, kEn | 0x46);
  EXPECT_EQ(taken(ubox, {.code = 0x46, .tid = 0x2b}), 1u)
      << "RACU_REQUESTS is not filtered";
}

// --- HA, Tables 2-65 to 2-68 -------------------------------------------------

class HaFilter : public Traffic {
 protected:
  void match(u64 address, u32 opcode) {
    const unsigned at = devfn(18, 5);
    m.pci_write(at, 0x40, static_cast<u32>(address));
    m.pci_write(at, 0x44, static_cast<u32>(address >> 32));
    m.pci_write(at, 0x48, opcode);
  }
  const Box ha{HA, 1};
};

TEST_F(HaFilter, AddressOfACacheLine) {
  constexpr u64 line = 0x2abcdef01240;
  match(line, 0);
  m.program(ha, 0, kEn | umask(0x01) | 0x20);
  auto at = [&](u64 address) {
    return taken(ha, {.code = 0x20, .umask = 0x01, .addr = address}, 5);
  };
  EXPECT_EQ(at(line), 5u);
  EXPECT_EQ(at(line + 0x3f), 5u) << "5:0 are within the line";
  for (unsigned bit = 6; bit < 46; ++bit)
    EXPECT_EQ(at(line ^ 1ull << bit), 0u) << bit;
}

TEST_F(HaFilter, Opcode) {
  for (u32 mask : {0x02u, 0x04u, 0x08u, 0x10u}) {
    m.program(ha, 0, kEn | umask(mask) | 0x20);
    for (u32 opcode = 0; opcode < 0x40; ++opcode) {
      match(0, 0x35);
      EXPECT_EQ(taken(ha, {.code = 0x20, .umask = mask, .opc = opcode}),
                opcode == 0x35);
    }
    EXPECT_EQ(
        taken(ha, {.code = 0x20, .umask = mask, .opc = 0x35, .addr = 0x1000}),
        1u)
        << "whatever the address";
  }
}

TEST_F(HaFilter, AddressAndOpcode) {
  match(0x40000, 0x01);
  m.program(ha, 0, kEn | umask(0x03) | 0x20);
  auto of = [&](u64 address, u32 opcode, u32 mask = 0x03) {
    return taken(ha,
                 {.code = 0x20, .umask = mask, .opc = opcode, .addr = address});
  };
  EXPECT_EQ(of(0x40000, 0x01), 1u);
  EXPECT_EQ(of(0x40000, 0x02), 0u);
  EXPECT_EQ(of(0x40040, 0x01), 0u);
  EXPECT_EQ(of(0x40000, 0x01, 0x01), 0u) << "both conditions must hold";
}

// --- PCU bands, Table 2-160 --------------------------------------------------

TEST_F(Traffic, PcuBandsAllFourAtOnce) {
  const Box pcu{PCU, 0};
  m.wrmsr(0x715, 12 | 20 << 8 | 28 << 16 | 36 << 24);
  for (u32 band = 0; band < 4; ++band)
    m.program(pcu, band, kEn | (0x0b + band));
  for (u32 freq : {8u, 12u, 19u, 20u, 28u, 40u})
    for (u32 band = 0; band < 4; ++band)
      m.traffic({.box_type = PCU,
                 .code = 0x0b + band,
                 .count = 100,
                 .value = 1,
                 .freq = freq});
  EXPECT_EQ(m.read(pcu.ctr(0)), 500u);
  EXPECT_EQ(m.read(pcu.ctr(1)), 300u);
  EXPECT_EQ(m.read(pcu.ctr(2)), 200u);
  EXPECT_EQ(m.read(pcu.ctr(3)), 100u);
}

// --- QPI match and mask, §2.9.2.3 --------------------------------------------

struct Port {
  unsigned index;
  model_dir dir;
};

class QpiFilter : public Traffic, public testing::WithParamInterface<Port> {
 protected:
  // Table 2-167
  void filter(model_dir dir, u32 match0, u32 match1, u32 mask0, u32 mask1) {
    const unsigned at = devfn(8 + qpi.index, 6);
    m.pci_write(at, dir == MODEL_RX ? 0x228 : 0x200, match0);
    m.pci_write(at, dir == MODEL_RX ? 0x22c : 0x204, match1);
    m.pci_write(at, dir == MODEL_RX ? 0x238 : 0x210, mask0);
    m.pci_write(at, dir == MODEL_RX ? 0x23c : 0x214, mask1);
  }
  u64 packets(model_dir direction, u32 word0, u32 word1, u64 count) {
    return taken(qpi, {.code = 0x138, .dir = direction, .pkt = {word0, word1}},
                 count);
  }

  void SetUp() override { m.program(qpi, 0, kEn | kExt | 0x38); }

  const Box qpi{QPI, GetParam().index};
  const model_dir dir = GetParam().dir;
  const model_dir other = dir == MODEL_RX ? MODEL_TX : MODEL_RX;
};

INSTANTIATE_TEST_SUITE_P(All, QpiFilter,
                         testing::Values(Port{0, MODEL_RX}, Port{0, MODEL_TX},
                                         Port{1, MODEL_RX}, Port{1, MODEL_TX},
                                         Port{2, MODEL_RX}, Port{2, MODEL_TX}),
                         [](const auto& info) {
                           return "port" + std::to_string(info.param.index) +
                                  (info.param.dir == MODEL_RX ? "rx" : "tx");
                         });

// Table 2-176: DRS.AnyDataC, DRS.WbIData, NCB.AnyInt
TEST_P(QpiFilter, MessagesOfTable2_176) {
  auto mixed = [&] {
    return packets(dir, 0x1c00, 0, 1000) + packets(dir, 0x1c80, 0, 200) +
           packets(dir, 0x1900, 0, 30) + packets(other, 0x1c00, 0, 5000);
  };
  filter(dir, 0x1c00, 0, 0x1f80, 0);
  EXPECT_EQ(mixed(), 1000u);
  filter(dir, 0x1c80, 0, 0x1fe0, 0);
  EXPECT_EQ(mixed(), 200u);
  filter(dir, 0x1900, 0, 0x1f80, 0);
  EXPECT_EQ(mixed(), 30u);
  filter(dir, 0x1c00, 0, 0x1e00, 0);
  EXPECT_EQ(mixed(), 1200u) << "DRS.AnyResp";
}

TEST_P(QpiFilter, StateInTheSecondWord) {
  filter(dir, 0x1c00, 0x8 << 16, 0x1fe0, 0xf << 16);  // DRS.DataC_M
  EXPECT_EQ(packets(dir, 0x1c00, 0x8 << 16, 10), 10u);
  EXPECT_EQ(packets(dir, 0x1c00, 0x4 << 16, 10), 0u);
  filter(dir, 0, 0x4 << 16, 0, 0xf << 16);
  EXPECT_EQ(packets(dir, 0x1c00, 0x8 << 16, 10), 0u);
  EXPECT_EQ(packets(dir, 0x1234, 0x4 << 16, 10), 10u) << "mask 0 is enough";
}

// Tables 2-172 to 2-175: every bit of every field
TEST_P(QpiFilter, EveryFieldBit) {
  constexpr u32 fields[] = {0x8003fff8, 0x000f000f};
  for (unsigned word = 0; word < 2; ++word) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      const u32 value = 1u << bit;
      if (!(fields[word] & value)) continue;
      const u32 zero = word == 0 ? value : 0, one = word == 1 ? value : 0;
      filter(dir, zero, one, zero, one);
      EXPECT_EQ(packets(dir, zero, one, 3), 3u);
      EXPECT_EQ(packets(dir, ~0u, ~0u, 3), 3u);
      EXPECT_EQ(packets(dir, ~zero, ~one, 3), 0u);
      filter(dir, 0, 0, zero, one);
      EXPECT_EQ(packets(dir, zero, one, 3), 0u);
      EXPECT_EQ(packets(dir, ~zero, ~one, 3), 3u);
    }
  }
}

TEST_P(QpiFilter, ADirectionWithoutMaskIsNotArmed) {
  filter(dir, 0, 0, 0, 0);
  EXPECT_EQ(packets(dir, 0, 0, 10), 0u);
  filter(dir, 0x1c00, 0, 0x1f80, 0);
  EXPECT_EQ(packets(other, 0x1c00, 0, 10), 0u);
  filter(other, 0x1c00, 0, 0x1f80, 0);
  EXPECT_EQ(packets(other, 0x1c00, 0, 10), 10u) << "both may be armed";
  EXPECT_EQ(packets(dir, 0x1c00, 0, 10), 10u);
}

TEST_P(QpiFilter, FiltersOfOnePortAreNotThoseOfAnother) {
  filter(dir, 0x1c00, 0, 0x1f80, 0);
  const Box neighbour{QPI, (qpi.index + 1) % 3};
  m.program(neighbour, 0, kEn | kExt | 0x38);
  EXPECT_EQ(taken(neighbour, {.code = 0x138, .dir = dir, .pkt = {0x1c00, 0}}),
            0u);
}

TEST_P(QpiFilter, WithoutTheExtensionBitItIsAnotherEvent) {
  filter(dir, 0x1c00, 0, 0x1f80, 0);
  m.program(qpi, 0, kEn | 0x38);
  EXPECT_EQ(packets(dir, 0x1c00, 0, 10), 0u);
}

// --- overflow by transactions ------------------------------------------------

TEST_F(Traffic, OverflowStopsTheFlow) {
  const Box imc{IMC, 2};
  Txn txn = {.box_type = IMC,
             .box = 2,
             .code = 0x04,
             .umask = 0x03,
             .count = 1000,
             .value = 1};
  m.wrmsr(kGlobalCtl, 1);
  m.write(imc.ctr(0), (1ull << 48) - 100);
  m.program(imc, 0, kEn | kOvEn | umask(0x03) | 0x04);
  m.program(imc, 1, kEn | umask(0x0f) | 0x04);
  u64 offered = 0;
  for (int round = 1; round <= 10; ++round) {
    txn.count = 1000 - offered;
    EXPECT_EQ(m.traffic(txn), 100);
    offered += 100;
    EXPECT_EQ(m.pmis.size(), static_cast<size_t>(round));
    EXPECT_EQ(m.read(imc.status()), 2u);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), 1u << 23);
    EXPECT_TRUE(model_frozen(m.model(), 0));
    m.write(imc.status(), 2);
    m.wrmsr(kGlobalStatus, 1u << 23);
    m.write(imc.ctr(0), (1ull << 48) - 100);
    m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  }
  EXPECT_EQ(m.read(imc.ctr(1)), 1000u) << "none lost, none twice";
}

TEST_F(Traffic, OverflowInTheMidstOfATransactionKeepsTheRest) {
  const Box ha{HA, 0};
  m.write(ha.ctr(0), (1ull << 48) - 10);
  m.program(ha, 0, kEn | kOvEn | umask(0x03) | 0x01);
  EXPECT_EQ(m.traffic({.box_type = HA,
                       .code = 0x01,
                       .umask = 0x03,
                       .count = 50,
                       .value = 4}),
            3);
  EXPECT_EQ(m.read(ha.ctr(0)), 2u);
  EXPECT_EQ(m.traffic({.box_type = HA,
                       .code = 0x01,
                       .umask = 0x03,
                       .count = 50,
                       .value = 4}),
            50)
      << "offered to a frozen box: lost";
  EXPECT_EQ(m.read(ha.ctr(0)), 2u);
}

TEST_F(Traffic, WithoutOvEnItWraps) {
  const Box cbo{CBOX, 0};
  m.write(cbo.ctr(0), (1ull << 48) - 10);
  m.program(cbo, 0, kEn | umask(0x01) | 0x11);
  EXPECT_EQ(taken(cbo, {.code = 0x11, .umask = 0x01}, 1ull << 40),
            (1ull << 40) - (1ull << 48));
  EXPECT_EQ(m.read(cbo.ctr(0)), (1ull << 40) - 10);
  EXPECT_EQ(m.read(cbo.status()), 1u);
}

TEST_F(Traffic, TimeGoesOnWithoutTransactions) {
  const Box imc{IMC, 0};
  m.write(imc.ctr(0), (1ull << 48) - 100);
  m.program(imc, 0, kEn | kOvEn | 0x00);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 100u);
  m.traffic({.box_type = IMC, .code = 0x00, .count = 60, .value = 1});
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 40u);
  EXPECT_EQ(m.advance(100), 40u);
}

}  // namespace
}  // namespace test
