// SPDX-License-Identifier: GPL-2.0-or-later
// Differences of Broadwell, Ivy Bridge and Sandy Bridge from Haswell, and the layouts of
// Haswell's IRP counters.
#include <gtest/gtest.h>

#include "machine.h"

namespace test {
namespace {

model_config broadwell(u32 sboxes = 4) {
  model_config config = full(model_bdwep);
  set_boxes(config, "sbox", sboxes);
  return config;
}

TEST(Broadwell, Has24CbosAndTheirMsrs) {
  Machine m(broadwell());
  EXPECT_EQ(m.boxes(CBOX), 24u);
  EXPECT_EQ(m.rdmsr(0x702), 24u) << "num_c";
  EXPECT_TRUE(model_msr_claims(m.model(), 0xe00 + 16 * 23 + 11));
  EXPECT_FALSE(model_msr_claims(m.model(), 0xe00 + 16 * 24));

  m.wrmsr(0xe01 + 16 * 23, kEn);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(0xe08 + 16 * 23), 100u) << "event 0 is its clock";
}

TEST(Broadwell, HaswellHasNoMoreThan18) {
  model_config config = kFull;
  config.boxes[model_find_type(config.gen, "cbox")] = 19;
  std::vector<u64> memory(model_size() / sizeof(u64) + 1);
  const model_ops ops = {};
  EXPECT_NE(model_init(reinterpret_cast<struct model*>(memory.data()), &config,
                       &ops, nullptr),
            0);
}

TEST(Broadwell, TheSmallestDieHasNoSbos) {
  Machine none(broadwell(0)), all(broadwell());
  EXPECT_EQ(none.pci_read(devfn(30, 3), 0), 0x6fc08086u);
  EXPECT_EQ(none.pci_read(devfn(30, 3), 0x94) & 0xc0, 0u);
  EXPECT_NE(all.pci_read(devfn(30, 3), 0x94) & 0xc0, 0u);
  EXPECT_FALSE(model_msr_claims(none.model(), 0x720));
  EXPECT_TRUE(model_msr_claims(all.model(), 0x720));
}

TEST(Broadwell, PciDevicesAreItsOwn) {
  Machine m(broadwell());
  EXPECT_EQ(m.pci_read(devfn(16, 5), 0), 0x6f1e8086u) << "UBox";
  EXPECT_EQ(m.pci_read(devfn(18, 1), 0), 0x6f308086u) << "HA 0";
  EXPECT_EQ(m.pci_read(devfn(24, 1), 0), 0x6fd58086u) << "iMC channel 7";
  EXPECT_EQ(m.pci_read(devfn(10, 6), 0), 0x6f468086u) << "QPI 2's filters";
  EXPECT_EQ(m.pci_read(devfn(5, 6), 0, 4, 0, kIoBus), 0x6f398086u) << "IRP";
}

TEST(Broadwell, InterruptsMayGoTo24Cores) {
  Machine m(broadwell());
  m.wrmsr(0x700, 0xffffffff & ~(3u << 27));
  EXPECT_EQ(m.rdmsr(0x700), 1u << 30 | 0xffffffu);
  EXPECT_TRUE(m.undefined.empty());
}

TEST(Broadwell, AChannelWithoutAClockStandsStill) {
  Machine m(broadwell());
  const Box channel{IMC, 3};
  ASSERT_EQ(m.fault(MODEL_FAULT_NO_CLOCK, 0, IMC, 3, true),
            0);
  m.write(channel.fixed_ctl(), kEn);
  m.advance(100);
  EXPECT_EQ(m.read(channel.fixed_ctr()), 0u);
  EXPECT_EQ(m.read(channel.fixed_ctl()), kEn) << "its registers answer";
  m.fault(MODEL_FAULT_NO_CLOCK, 0, IMC, 3, false);
  m.advance(100);
  EXPECT_EQ(m.read(channel.fixed_ctr()), 100u);
}

model_config ivy_bridge() {
  model_config config = full(model_ivbep);
  config.counter_bits = model_ivbep.counter_bits;
  return config;
}

constexpr u32 kIvyGlobalCtl = 0xc00;
constexpr u32 kIvyGlobalStatus = 0xc01;
constexpr u32 cbo_msr(unsigned cbo, unsigned at) { return 0xd00 + 32 * cbo + at; }
constexpr u64 kWrap44 = 1ull << 44;

TEST(IvyBridge, Has15CbosAndTheirMsrs) {
  Machine m(ivy_bridge());
  EXPECT_EQ(m.rdmsr(0xc06), 15u) << "num_c";
  EXPECT_FALSE(model_msr_claims(m.model(), 0x700));
  EXPECT_FALSE(model_msr_claims(m.model(), cbo_msr(0, 0)));
  EXPECT_FALSE(model_msr_claims(m.model(), cbo_msr(15, 0x10)));
  for (unsigned cbo : {0u, 7u, 14u}) {
    m.wrmsr(cbo_msr(cbo, 0x13), kEn);
    m.advance(100);
    EXPECT_EQ(m.rdmsr(cbo_msr(cbo, 0x19)), 100u) << "event 0 is its clock";
  }
  EXPECT_TRUE(m.undefined.empty());
}

TEST(IvyBridge, CountersOfUboxCboAndR3Have44Bits) {
  Machine m(ivy_bridge());
  m.wrmsr(cbo_msr(3, 0x16), ~0ull);
  EXPECT_EQ(m.rdmsr(cbo_msr(3, 0x16)), kWrap44 - 1);
  m.wrmsr(0xc16, ~0ull);
  EXPECT_EQ(m.rdmsr(0xc16), kWrap44 - 1) << "UBox";
  m.wrmsr(0xc09, ~0ull);
  EXPECT_EQ(m.rdmsr(0xc09), (1ull << 48) - 1) << "its fixed counter";
  m.wrmsr(0xc36, ~0ull);
  EXPECT_EQ(m.rdmsr(0xc36), (1ull << 48) - 1) << "PCU";
  m.pci_write(devfn(19, 5), 0xa4, ~0u);
  EXPECT_EQ(m.pci_read(devfn(19, 5), 0xa4), 0xfffu) << "R3QPI";
  m.pci_write(devfn(14, 1), 0xa4, ~0u);
  EXPECT_EQ(m.pci_read(devfn(14, 1), 0xa4), 0xffffu) << "HA";
}

TEST(IvyBridge, ACboTellsOfEachOverflowWithoutAStatusRegister) {
  Machine m(ivy_bridge());
  m.wrmsr(kIvyGlobalCtl, 1u << 14);
  for (unsigned n = 1; n <= 3; n++) {
    m.wrmsr(cbo_msr(14, 0x16), kWrap44 - 10);
    m.wrmsr(cbo_msr(14, 0x10), kEn | kOvEn);
    m.advance(100);
    EXPECT_EQ(m.rdmsr(kIvyGlobalStatus), 1u << 17) << "ov_c14";
    EXPECT_TRUE(model_frozen(m.model(), 0));
    ASSERT_EQ(m.pmis.size(), n);
    EXPECT_EQ(m.pmis.back().cores, 1u << 14);
    m.wrmsr(kIvyGlobalStatus, 1u << 17);
    m.wrmsr(kIvyGlobalCtl, kUnfrzAll | 1u << 14);
    EXPECT_FALSE(model_frozen(m.model(), 0));
  }
  EXPECT_TRUE(m.undefined.empty());
}

TEST(IvyBridge, TheSecondFilterOfACboHasOpcodeAndNode) {
  Machine m(ivy_bridge());
  m.wrmsr(cbo_msr(2, 0x1a), 0x182u << 20 | 0x4);
  m.wrmsr(cbo_msr(2, 0x10), kEn | umask(0x41) | 0x35);
  Txn drd{.box_type = CBOX, .box = 2, .code = 0x35, .umask = 0x49};
  drd.opc = 0x182;
  drd.nid = 0x4;
  drd.count = 100;
  m.traffic(drd);
  drd.nid = 0x1;
  drd.count = 10;
  m.traffic(drd);
  drd.nid = 0x4;
  drd.opc = 0x180;
  drd.count = 1;
  m.traffic(drd);
  EXPECT_EQ(m.rdmsr(cbo_msr(2, 0x16)), 100u);
}

TEST(IvyBridge, AThreadHasFiveBitsAndAStateSix) {
  Machine m(ivy_bridge());
  m.wrmsr(cbo_msr(0, 0x14), 0x007e001f);
  EXPECT_EQ(m.rdmsr(cbo_msr(0, 0x14)), 0x007e001fu);
  EXPECT_TRUE(m.undefined.empty());
  m.wrmsr(cbo_msr(0, 0x14), 0x00800000);
  EXPECT_EQ(m.rdmsr(cbo_msr(0, 0x14)), 0u);
  EXPECT_EQ(m.undefined.size(), 1u) << "that is Haswell's M'";
}

// Addresses of the IRPs' counters: by Tables 1-3 and 2-144 of 331051 (layouts 0 and 1),
// and with another register at 0xc0 (layout 2).
TEST(Haswell, TheIrpsCountersAreAtOneAddressOrAnother) {
  const unsigned at[][4] = {{0xa0, 0xa8, 0xb0, 0xb8},
                            {0xa0, 0xb0, 0xb8, 0xc0},
                            {0xa0, 0xa8, 0xb0, 0xb8}};
  const unsigned irp = devfn(5, 6);
  for (unsigned layout = 0; layout < 3; ++layout) {
    model_config config = kFull;
    config.irp_counters = layout;
    Machine m(config);
    for (unsigned i = 0; i < 4; ++i)
      m.pci_write(irp, 0xd8 + 4 * i, kEn | 0x0d, 4, 0, kIoBus);
    for (unsigned box : {0u, 1u}) {
      Txn txn{.box_type = IRP, .code = 0x0d};
      txn.box = box;
      txn.count = 10 + box;
      m.traffic(txn);
    }
    for (unsigned i = 0; i < 4; ++i)
      EXPECT_EQ(m.pci_read(irp, at[layout][i], 4, 0, kIoBus), 10 + i / 2)
          << layout << " " << i;
    const unsigned other = layout == 1 ? 0xa8 : 0xc0;
    m.pci_write(irp, other, 0x1234, 4, 0, kIoBus);
    EXPECT_EQ(m.pci_read(irp, other, 4, 0, kIoBus), layout == 2 ? 0x1234u : 0u)
        << layout;
    EXPECT_TRUE(m.undefined.empty());
  }
}

// Both IRPs have the same box control and the same status register (§2.7.2.1).
TEST(Haswell, TheIrpsShareBoxControlAndStatus) {
  Machine m(kFull);
  const Box irp[] = {{IRP, 0}, {IRP, 1}};
  for (const Box& box : irp) {
    m.program(box, 1, kEn | 0x0d);
    m.write(box.ctr(1), (1ull << 48) - 1);
    Txn txn{.box_type = IRP, .code = 0x0d};
    txn.box = box.index;
    m.traffic(txn);
    EXPECT_EQ(m.read(box.ctr(1)), 0u);
  }
  EXPECT_EQ(m.read(irp[0].status()), 0xau);
  m.write(irp[1].status(), 0x8);
  EXPECT_EQ(m.read(irp[0].status()), 0x2u);
  m.write(irp[0].box_ctl(), kOnes | kFrz);
  for (const Box& box : irp) {
    Txn txn{.box_type = IRP, .code = 0x0d};
    txn.box = box.index;
    m.traffic(txn);
    EXPECT_EQ(m.read(box.ctr(1)), 0u) << "frozen";
  }
  m.write(irp[1].box_ctl(), kOnes | 0x1);
  for (const Box& box : irp) EXPECT_EQ(m.read(box.ctl(1)), 0u) << "reset";
  EXPECT_TRUE(m.undefined.empty());
  m.write(irp[0].box_ctl(), 0);
  EXPECT_EQ(m.undefined.size(), 1u);
}

TEST(IvyBridge, TheCountersOfTheIrpAreNotOneAfterTheOther) {
  Machine m(ivy_bridge());
  const unsigned irp = devfn(5, 6), ctr[] = {0xa0, 0xb0, 0xb8, 0xc0};
  Txn txn{.box_type = IRP, .code = 0x0b};
  for (unsigned i = 0; i < 4; i++)
    m.pci_write(irp, 0xd8 + 4 * i, kEn | 0x0b, 4, 0, kIoBus);
  txn.count = 77;
  m.traffic(txn);
  txn.box = 1;
  txn.count = 5;
  m.traffic(txn);
  for (unsigned i = 0; i < 4; i++)
    EXPECT_EQ(m.pci_read(irp, ctr[i], 4, 0, kIoBus), i < 2 ? 77u : 5u) << i;
  EXPECT_EQ(m.pci_read(irp, 0xa8, 4, 0, kIoBus), 0u);
  EXPECT_TRUE(m.undefined.empty());
  m.pci_write(irp, 0xd8, kEn | kOvEn | 0x0b, 4, 0, kIoBus);
  EXPECT_EQ(m.undefined.size(), 1u) << "it cannot signal overflows";
}

// Queues of the home agent: an occupancy event adds the number of entries in each cycle.
// kQOccRst in the control register clears the queue's occupancy.
constexpr u32 kQOccRst = 1u << 16;
constexpr unsigned kHa = devfn(14, 1), kHaCtl = 0xd8, kHaCtr = 0xa0;
constexpr u32 kNeverEmpty = 0x34 | umask(3);
constexpr u32 kQueues[] = {0x43 | umask(1), 0x43 | umask(0x20), 0x28 | umask(2),
                           0x30 | umask(1), kNeverEmpty};

// Occupancy of a queue that is not cleared, in each cycle
std::vector<unsigned> occupancies(u32 event, unsigned cycles) {
  Machine m(ivy_bridge());
  std::vector<unsigned> list;
  m.pci_write(kHa, kHaCtl, kEn | event);
  for (unsigned t = 0, before = 0; t < cycles; t++) {
    m.advance(1);
    list.push_back(m.pci_read(kHa, kHaCtr) - before);
    before = m.pci_read(kHa, kHaCtr);
  }
  return list;
}

// Expected occupancy after a clear in cycle `at` (Table 2-40): from 0 on, arrivals and
// departures change the occupancy, but never below 0.
std::vector<unsigned> cleared(std::vector<unsigned> queue, unsigned at) {
  unsigned was = queue[at - 1], has = 0;
  for (unsigned t = at; t < queue.size(); t++) {
    const unsigned is = queue[t];
    has = has + is > was ? has + is - was : 0;
    was = is;
    queue[t] = has;
  }
  return queue;
}

TEST(IvyBridge, AClearedQueueIsCountedFromNothingAndNeverBelow) {
  constexpr unsigned kCycles = 60;
  for (u32 event : kQueues) {
    const auto queue = occupancies(event, kCycles);
    for (unsigned at = 1; at < 20; at++) {
      SCOPED_TRACE(testing::Message() << std::hex << event << " at " << at);
      const auto expected = cleared(queue, at);
      EXPECT_EQ(queue[at - 1] && queue[at], queue != expected)
          << "it is right at once when there was nothing, or nothing is left";
      EXPECT_NE(event == kNeverEmpty, queue.back() == expected.back())
          << "it catches up when it is empty, and else never";
      Machine steps(ivy_bridge()), leap(ivy_bridge());
      u64 sum = 0;
      for (Machine* m : {&steps, &leap})
        m->pci_write(kHa, kHaCtl, kEn | event);
      for (unsigned t = 0; t < kCycles; t++) {
        if (t == at)
          steps.pci_write(kHa, kHaCtl, kEn | event | kQOccRst);
        steps.advance(1);
        sum += expected[t];
        ASSERT_EQ(steps.pci_read(kHa, kHaCtr), sum) << "cycle " << t;
      }
      leap.advance(at);
      leap.pci_write(kHa, kHaCtl, kEn | event | kQOccRst);
      leap.advance(kCycles - at);
      EXPECT_EQ(leap.pci_read(kHa, kHaCtr), sum) << "in one leap";
      EXPECT_EQ(leap.pci_read(kHa, kHaCtl), kEn | event) << "WO";
      EXPECT_TRUE(leap.undefined.empty());
    }
  }
}

TEST(IvyBridge, AClearedQueueMeetsThresholdsAndEdges) {
  constexpr unsigned kCycles = 60, kClear = 7;
  constexpr u32 kThresh = 5;
  for (u32 event : kQueues) {
    const auto queue = cleared(occupancies(event, kCycles), kClear);
    unsigned above = 0, edges = 0;
    for (unsigned t = kClear; t < kCycles; t++) {
      // the queue is empty before the first cycle after the clear
      const bool was = t > kClear && queue[t - 1] >= kThresh;
      above += queue[t] >= kThresh;
      edges += queue[t] >= kThresh && !was;
    }
    Machine m(ivy_bridge());
    m.advance(kClear);
    m.pci_write(kHa, kHaCtl, kEn | event | thresh(kThresh) | kQOccRst);
    m.pci_write(kHa, kHaCtl + 4, kEn | event | thresh(kThresh) | kEdge);
    m.advance(kCycles - kClear);
    EXPECT_EQ(m.pci_read(kHa, kHaCtr), above) << std::hex << event;
    EXPECT_EQ(m.pci_read(kHa, kHaCtr + 8), edges) << "any counter of it";
  }
}

TEST(IvyBridge, AClearedQueueOverflowsThatMuchLater) {
  constexpr unsigned kCycles = 60, kClear = 3;
  const u32 event = 0x43 | umask(1);
  const auto queue = cleared(occupancies(event, kCycles), kClear);
  u64 sum = 0;
  for (unsigned t = kClear; t < kCycles; t++) {
    sum += queue[t];
    if (!queue[t]) continue;
    Machine m(ivy_bridge());
    m.advance(kClear);
    m.pci_write(kHa, kHaCtr, 0u - static_cast<u32>(sum));
    m.pci_write(kHa, kHaCtr + 4, 0xffff);
    m.pci_write(kHa, kHaCtl, kEn | kOvEn | event | kQOccRst);
    EXPECT_EQ(model_cycles_to_freeze(m.model()), t + 1 - kClear);
  }
}

TEST(IvyBridge, ClearingOneQueueLeavesTheOthersAlone) {
  Machine m(ivy_bridge()), other(ivy_bridge());
  for (Machine* one : {&m, &other}) {
    one->pci_write(kHa, kHaCtl, kEn | 0x30 | umask(1));
    one->pci_write(devfn(28, 1), kHaCtl, kEn | 0x28 | umask(2));
    one->pci_write(kHa, kHaCtl + 4, kEn | 0x01 | umask(1));
    one->advance(5);
  }
  m.pci_write(kHa, kHaCtl + 8, 0x28 | umask(2) | kQOccRst);
  m.pci_write(kHa, kHaCtl + 4, kEn | 0x01 | umask(1) | kQOccRst);
  for (Machine* one : {&m, &other}) one->advance(100);
  EXPECT_EQ(m.pci_read(kHa, kHaCtr), other.pci_read(kHa, kHaCtr));
  EXPECT_EQ(m.pci_read(kHa, kHaCtr + 8), other.pci_read(kHa, kHaCtr + 8))
      << "no queue";
  EXPECT_EQ(m.pci_read(devfn(28, 1), kHaCtr),
            other.pci_read(devfn(28, 1), kHaCtr)) << "the other home agent";
}

TEST(IvyBridge, OnlyTheImcInverts) {
  Machine m(ivy_bridge());
  m.pci_write(devfn(16, 4), 0xd8, kEn | kInvert | thresh(2));
  m.advance(100);
  EXPECT_EQ(m.pci_read(devfn(16, 4), 0xa0), 100u);
  EXPECT_TRUE(m.undefined.empty());
  m.pci_write(devfn(16, 4), 0xd8, kEn | thresh(0x80));
  EXPECT_EQ(m.pci_read(devfn(16, 4), 0xd8), kEn) << "seven bits of threshold";
  m.pci_write(devfn(14, 1), 0xd8, kEn | kInvert | thresh(2));
  EXPECT_EQ(m.undefined.size(), 1u);
  EXPECT_EQ(m.pci_read(devfn(14, 1), 0xd8), kEn | thresh(2));
}

TEST(IvyBridge, PciDevicesAreItsOwn) {
  Machine m(ivy_bridge());
  EXPECT_EQ(m.pci_read(devfn(11, 0), 0), 0x0e1e8086u) << "UBox";
  EXPECT_EQ(m.pci_read(devfn(11, 0), 0x40, 4, 1), 1u) << "node of package 1";
  EXPECT_EQ(m.pci_read(devfn(28, 1), 0), 0x0e388086u) << "HA 1";
  EXPECT_EQ(m.pci_read(devfn(16, 4), 0), 0x0eb48086u) << "iMC channel 0";
  EXPECT_EQ(m.pci_read(devfn(30, 1), 0), 0x0ef18086u) << "iMC channel 7";
  EXPECT_EQ(m.pci_read(devfn(9, 6), 0), 0x0e968086u) << "QPI 1's filters";
  EXPECT_EQ(m.pci_read(devfn(24, 6), 0), ~0u) << "QPI 2 has none";
  EXPECT_EQ(m.pci_read(devfn(5, 6), 0, 4, 0, kIoBus), 0x0e398086u) << "IRP";
}

model_config sandy_bridge() {
  model_config config = full(model_snbep);
  config.counter_bits = model_snbep.counter_bits;
  return config;
}

// .frz_en of the box control, Table 2-9 and the corresponding tables of other boxes
constexpr u32 kFrzEn = 1u << 16;
constexpr unsigned kSandyHa = devfn(14, 1), kSandyQpi = devfn(8, 2);

TEST(SandyBridge, HasNeitherGlobalRegistersNorStatus) {
  Machine m(sandy_bridge());
  u64 value;
  size_t n = 0;
  for (u32 msr : {0xc00u, 0xc01u, 0xc06u, 0xc15u, 0xc35u}) {
    EXPECT_TRUE(model_msr_claims(m.model(), msr)) << "or the VM's would answer";
    EXPECT_EQ(model_msr_read(m.model(), 0, msr, &value), MODEL_GP);
    EXPECT_EQ(m.wrmsr(msr, 0), MODEL_GP);
    EXPECT_EQ(m.undefined.size(), ++n);
  }
  for (unsigned at : {kSandyHa, kSandyQpi, devfn(16, 5), devfn(19, 1)}) {
    EXPECT_EQ(m.pci_read(at, 0xf8), 0u);
    m.pci_write(at, 0xf8, 0xf);
    EXPECT_EQ(m.undefined.size(), ++n);
  }
}

TEST(SandyBridge, NothingTellsOfAnOverflow) {
  Machine m(sandy_bridge());
  m.wrmsr(cbo_msr(7, 0x16), kWrap44 - 10);
  m.wrmsr(cbo_msr(7, 0x10), kEn);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(cbo_msr(7, 0x16)), 90u);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  EXPECT_TRUE(m.pmis.empty());
  EXPECT_TRUE(m.undefined.empty());
  m.wrmsr(cbo_msr(7, 0x10), kEn | kOvEn);
  EXPECT_EQ(m.undefined.size(), 1u) << "bits 21:20 are reserved";
  EXPECT_EQ(m.rdmsr(cbo_msr(7, 0x10)), kEn);
}

TEST(SandyBridge, AFreezeTakesItsEnableBit) {
  Machine m(sandy_bridge());
  m.wrmsr(cbo_msr(0, 0x10), kEn);
  m.wrmsr(cbo_msr(0, 0x04), kFrz);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(cbo_msr(0, 0x16)), 100u) << "it is ignored";
  m.wrmsr(cbo_msr(0, 0x04), kFrz | kFrzEn);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(cbo_msr(0, 0x16)), 100u);
  m.wrmsr(cbo_msr(0, 0x04), kFrzEn);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(cbo_msr(0, 0x16)), 200u);
  EXPECT_TRUE(m.undefined.empty());
  m.wrmsr(cbo_msr(0, 0x04), kOnes);
  EXPECT_EQ(m.undefined.size(), 1u) << "bit 17 must be 0";
}

TEST(SandyBridge, HaAndImcHaveNoReset) {
  Machine m(sandy_bridge());
  size_t n = 0;
  for (unsigned at : {kSandyHa, devfn(16, 0), devfn(16, 4)}) {
    m.pci_write(at, 0xa0, 1234);
    m.pci_write(at, 0xf4, kFrzEn | kFrz);
    EXPECT_EQ(m.undefined.size(), n);
    m.pci_write(at, 0xf4, kFrzEn | kFrz | kRstCtrs | kRstCtrl);
    EXPECT_EQ(m.pci_read(at, 0xa0), 1234u);
    EXPECT_EQ(m.undefined.size(), ++n);
    m.pci_write(at, 0xd8, kRst);
    EXPECT_EQ(m.undefined.size(), ++n) << "bit 17 of a control is reserved";
  }
  m.pci_write(kSandyQpi, 0xa0, 1234);
  m.pci_write(kSandyQpi, 0xf4, kFrzEn | kFrz | kRstCtrs | kRstCtrl);
  EXPECT_EQ(m.pci_read(kSandyQpi, 0xa0), 0u) << "QPI has";
  EXPECT_EQ(m.undefined.size(), n);
}

TEST(SandyBridge, ACboHasOneFilterRegister) {
  Machine m(sandy_bridge());
  Txn drd{.box_type = CBOX, .box = 5, .code = 0x35, .umask = 0x49};
  m.wrmsr(cbo_msr(5, 0x14), 0x182u << 23 | 0x4u << 10);
  m.wrmsr(cbo_msr(5, 0x10), kEn | umask(0x41) | 0x35);
  drd.opc = 0x182;
  drd.nid = 0x4;
  drd.count = 100;
  m.traffic(drd);
  drd.nid = 0x1;
  drd.count = 10;
  m.traffic(drd);
  drd.nid = 0x4;
  drd.opc = 0x180;
  drd.count = 1;
  m.traffic(drd);
  EXPECT_EQ(m.rdmsr(cbo_msr(5, 0x16)), 100u);

  Txn lookup{.box_type = CBOX, .box = 5, .code = 0x34, .umask = 0x03};
  m.wrmsr(cbo_msr(5, 0x14), 0x10u << 18 | 0x1d);
  m.wrmsr(cbo_msr(5, 0x11), kEn | kTidEn | umask(0x03) | 0x34);
  lookup.state = 0x10;
  lookup.tid = 0x1d;
  lookup.count = 7;
  m.traffic(lookup);
  lookup.tid = 0x0d;
  m.traffic(lookup);
  lookup.tid = 0x1d;
  lookup.state = 0x08;
  m.traffic(lookup);
  EXPECT_EQ(m.rdmsr(cbo_msr(5, 0x17)), 7u);
  EXPECT_TRUE(m.undefined.empty());
  m.wrmsr(cbo_msr(5, 0x14), 0x20);
  EXPECT_EQ(m.undefined.size(), 1u) << "bits 9:5 have no name";
  EXPECT_FALSE(model_msr_claims(m.model(), cbo_msr(5, 0x1a)));
}

TEST(SandyBridge, PciDevicesAreItsOwn) {
  Machine m(sandy_bridge());
  EXPECT_EQ(m.pci_read(devfn(11, 0), 0), 0x3ce08086u) << "UBox";
  EXPECT_EQ(m.pci_read(devfn(11, 0), 0x40, 4, 1), 1u) << "node of package 1";
  EXPECT_EQ(m.pci_read(kSandyHa, 0), 0x3c468086u) << "HA";
  EXPECT_EQ(m.pci_read(devfn(28, 1), 0), ~0u) << "there is one";
  EXPECT_EQ(m.pci_read(devfn(16, 4), 0), 0x3cb48086u) << "iMC channel 2";
  EXPECT_EQ(m.pci_read(devfn(9, 2), 0), 0x3c428086u) << "QPI 1";
  EXPECT_EQ(m.pci_read(devfn(9, 6), 0), 0x3c968086u) << "its filters";
  EXPECT_EQ(m.pci_read(devfn(19, 1), 0), 0x3c438086u) << "R2PCIe";
  EXPECT_EQ(m.pci_read(devfn(19, 6), 0), 0x3c458086u) << "R3QPI 1";
  EXPECT_EQ(m.pci_read(devfn(5, 6), 0, 4, 0, kIoBus), ~0u) << "no IRP";
  EXPECT_EQ(m.boxes(IRP), 0u);
}

TEST(SandyBridge, NothingIsLeftInRegistersThatAreNotThere) {
  Machine m(sandy_bridge());
  model_make_dirty(m.model(), MODEL_DIRTY_FREEZE | MODEL_DIRTY_STATUS |
                                  MODEL_DIRTY_CORES);
  EXPECT_FALSE(model_frozen(m.model(), 0)) << "software could not unfreeze it";
  unsigned dirty = 0;
  model_show_dirty(
      m.model(),
      [](void* arg, unsigned, const char*, u64) {
        ++*static_cast<unsigned*>(arg);
      },
      &dirty);
  EXPECT_EQ(dirty, 0u);
}

TEST(IvyBridge, InterruptsMayGoTo15Cores) {
  Machine m(ivy_bridge());
  m.wrmsr(kIvyGlobalCtl, 0xffffffff & ~(3u << 27));
  EXPECT_EQ(m.rdmsr(kIvyGlobalCtl), 1u << 30 | 0x7fffu);
  EXPECT_TRUE(m.undefined.empty());
}

}  // namespace
}  // namespace test
