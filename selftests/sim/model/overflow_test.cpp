// SPDX-License-Identifier: GPL-2.0-or-later
// Overflows: a counter with .ov_en sets its bit in the box status and in the global
// status, freezes the package and sends a PMI (§2.1.1). Also what software must clear
// before the next freeze, and the recipes of §2.1.2 to §2.1.4.
#include <gtest/gtest.h>

#include "reference.h"

namespace test {
namespace {

constexpr u64 kTop = 1ull << 48;

// A general counter of a box that can signal an overflow to the UBox
struct Counter {
  Box box;
  unsigned index;
};

std::vector<Counter> counters_with_ov_en() {
  std::vector<Counter> list;
  for (const Box& box : all_boxes())
    if (box.has_ov_en())
      for (unsigned i = 0; i < box.counters(); ++i) list.push_back({box, i});
  return list;
}

class Overflow : public testing::TestWithParam<Counter> {
 protected:
  // Number of cycles from cycle `from` on in which the counter counts `events` events.
  u64 cycles_for(u64 events, u64 from = 0) const {
    u64 t = from;
    for (u64 seen = 0; seen < events; ++t)
      seen +=
          increment({.box_type = box.box_type, .counter = i, .ctl = box.event()}, t);
    return t - from;
  }
  // Programs the counter to overflow after `events` events.
  void arm(u64 events) {
    m.write(box.ctr(i), kTop - events);
    m.program(box, i, kEn | kOvEn | box.event());
  }
  void clear_box() { m.write(box.status(), box.status_bit(i)); }
  void clear_global() { m.wrmsr(kGlobalStatus, box.global_bits()); }
  void unfreeze() { m.wrmsr(kGlobalCtl, kUnfrzAll | 1); }

  const Box box = GetParam().box;
  const unsigned i = GetParam().index;
  Machine m;
};

INSTANTIATE_TEST_SUITE_P(All, Overflow,
                         testing::ValuesIn(counters_with_ov_en()),
                         [](const auto& info) {
                           return info.param.box.name() + "_ctr" +
                                  std::to_string(info.param.index);
                         });

// §2.1.1, §2.1.1.1, §2.1.1.2
TEST_P(Overflow, SetsBothStatusesFreezesAllAndSendsPmi) {
  const Box witness{CBOX, 7};
  m.program(witness, 0, kEn | 0x00);
  m.wrmsr(kGlobalCtl, kWakeOnPmi | 0x62);
  arm(20);
  const u64 when = cycles_for(20);

  EXPECT_EQ(model_cycles_to_freeze(m.model()), when);
  EXPECT_EQ(m.advance(when - 1), when - 1);
  EXPECT_EQ(m.read(box.status()), 0u);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 1u);

  EXPECT_EQ(m.advance(1000), 1u) << "returns to let software serve it";
  EXPECT_EQ(m.read(box.status()), box.status_bit(i));
  EXPECT_EQ(m.rdmsr(kGlobalStatus), box.global_bits());
  EXPECT_EQ(m.rdmsr(kGlobalStatus, 1), 0u);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_FALSE(model_frozen(m.model(), 1));
  ASSERT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.pmis[0].pkg, 0u);
  EXPECT_EQ(m.pmis[0].cores, 0x62u) << "Table 2-2: cores 1, 5 and 6";
  EXPECT_TRUE(m.pmis[0].wake);

  EXPECT_LT(m.read(box.ctr(i)), 256u) << "wrapped";
  EXPECT_EQ(m.read(witness.ctr(0)), when);
  const u64 frozen_at = m.read(box.ctr(i));
  EXPECT_EQ(m.advance(1000), 1000u);
  EXPECT_EQ(m.read(box.ctr(i)), frozen_at);
  EXPECT_EQ(m.read(witness.ctr(0)), when);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  EXPECT_EQ(m.pmis.size(), 1u);
}

// "the .ov_en bit in the counter's control register must be set to 1"
TEST_P(Overflow, WithoutOvEnOnlyTheBoxKnows) {
  m.wrmsr(kGlobalCtl, 1);
  m.write(box.ctr(i), kTop - 20);
  m.program(box, i, kEn | box.event());
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  EXPECT_EQ(m.advance(1000), 1000u);
  EXPECT_EQ(m.read(box.status()), box.status_bit(i));
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  EXPECT_TRUE(m.pmis.empty());
}

// Table 2-2: pmi_core_sel 0: "No PMI sent"
TEST_P(Overflow, WithoutCoresFreezesAndSendsNoPmi) {
  arm(20);
  m.advance(1000);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_EQ(m.rdmsr(kGlobalStatus), box.global_bits());
  EXPECT_TRUE(m.pmis.empty());
}

// "Once a freeze has occurred, in order to see a new freeze, the overflow
// responsible for the freeze must be cleared by setting the corresponding bit
// in BOX_STATUS.ov and GLOBAL_STATUS.ov_*" (§2.2.1.1, §2.5.1.1, §2.6.2.1, ..)
TEST_P(Overflow, NewFreezeOnlyAfterBothStatusesAreCleared) {
  for (bool box_cleared : {false, true}) {
    for (bool global_cleared : {false, true}) {
      SCOPED_TRACE(testing::Message() << box_cleared << global_cleared);
      model_reset(m.model());
      m.pmis.clear();
      m.wrmsr(kGlobalCtl, 1);
      arm(5);
      m.advance(1000);
      ASSERT_EQ(m.pmis.size(), 1u);
      if (box_cleared) clear_box();
      if (global_cleared) clear_global();
      m.write(box.ctr(i), kTop - 5);
      unfreeze();
      m.advance(1000);
      const bool again = box_cleared && global_cleared;
      EXPECT_EQ(model_frozen(m.model(), 0), again);
      EXPECT_EQ(m.pmis.size(), again ? 2u : 1u);
      EXPECT_EQ(m.read(box.status()), box.status_bit(i));
      EXPECT_LT(m.read(box.ctr(i)), 10000u) << "it wraps all the same";
      if (!again) {
        EXPECT_GT(m.read(box.ctr(i)), 0u);
      }
    }
  }
}

// §2.1.4, ten times: clear the counters, clear the overflow bits, set up the next sample,
// set unfrz_all.
TEST_P(Overflow, SampleIntervalAfterSampleInterval) {
  m.wrmsr(kGlobalCtl, 1);
  arm(100);
  u64 now = 0;
  for (int sample = 1; sample <= 10; ++sample) {
    const u64 when = cycles_for(100, now);
    EXPECT_EQ(model_cycles_to_freeze(m.model()), when);
    EXPECT_EQ(m.advance(1u << 20), when);
    now += when;
    ASSERT_EQ(m.pmis.size(), static_cast<size_t>(sample));
    m.advance(17);
    now += 17;
    if (box.has_box_ctl()) {
      if (box.box_type != SBOX) m.write(box.box_ctl(), box.ones() | kRstCtrs);
      EXPECT_EQ(m.read(box.ctr(i)), 0u);
    }
    clear_global();
    clear_box();
    EXPECT_EQ(m.read(box.status()), 0u);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
    m.write(box.ctr(i), kTop - 100);
    unfreeze();
  }
}

// --- boxes without ov_en --------------------------------------------------

// §2.3.1.2, §2.4.1.1: bit 20 is reserved in CBo and SBo
TEST(NoOvEn, CboAndSboOnlySetTheirOwnStatus) {
  for (const Box& box :
       all_boxes([](const Box& b) { return !b.has_ov_en(); })) {
    Machine m;
    m.wrmsr(kGlobalCtl, 1);
    m.write(box.ctr(3), kTop - 10);
    m.program(box, 3, kEn | kOvEn | 0x00);
    EXPECT_EQ(m.advance(100), 100u);
    EXPECT_EQ(m.read(box.status()), 1u << 3);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
    EXPECT_TRUE(m.pmis.empty());
    EXPECT_EQ(m.read(box.ctr(3)), 90u);
    EXPECT_FALSE(m.undefined.empty());
  }
}

// --- fixed counters -------------------------------------------------------

// Table 2-9: "the global status register will record the overflow in
// ov_u_fixed"; the box status has no bit for it (Table 2-6)
TEST(FixedOverflow, Ubox) {
  Machine m;
  const Box ubox{UBOX, 0};
  m.wrmsr(kGlobalCtl, 1);
  m.write(ubox.fixed_ctr(), kTop - 50);
  m.write(ubox.fixed_ctl(), kEn | kOvEn);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 50u);
  EXPECT_EQ(m.advance(1000), 50u);
  EXPECT_EQ(m.read(ubox.status()), 0u);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 1u);
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.read(ubox.fixed_ctr()), 0u);

  m.write(ubox.fixed_ctr(), kTop - 50);
  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  EXPECT_EQ(m.advance(1000), 1000u) << "not cleared: no new freeze";
  m.wrmsr(kGlobalStatus, 1);
  m.write(ubox.fixed_ctr(), kTop - 50);
  EXPECT_EQ(m.advance(1000), 50u);
  EXPECT_EQ(m.pmis.size(), 2u);
}

// Table 2-113: "Bit 0 - overflow for the fixed counter"
TEST(FixedOverflow, EveryMemoryChannel) {
  for (unsigned channel = 0; channel < 8; ++channel) {
    Machine m;
    const Box imc{IMC, channel};
    m.wrmsr(kGlobalCtl, 1);
    m.write(imc.fixed_ctr(), kTop - 50);
    m.write(imc.fixed_ctl(), kEn | kOvEn);
    EXPECT_EQ(m.advance(1000), 50u);
    EXPECT_EQ(m.read(imc.status()), 1u);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), channel < 4 ? 1u << 23 : 1u << 24);
    EXPECT_EQ(m.pmis.size(), 1u);
  }
}

// Table 2-113: the general counters follow in bits 4:1
TEST(FixedOverflow, ImcStatusBitsInOrder) {
  Machine m;
  const Box imc{IMC, 5};
  m.write(imc.fixed_ctl(), kEn);
  m.write(imc.fixed_ctr(), kTop - 1);
  for (unsigned i = 0; i < 4; ++i) {
    m.program(imc, i, kEn | 0x00);
    m.write(imc.ctr(i), kTop - 2 - i);
  }
  for (u32 seen : {0x01u, 0x03u, 0x07u, 0x0fu, 0x1fu}) {
    m.advance(1);
    EXPECT_EQ(m.read(imc.status()), seen);
  }
}

// --- several at once ------------------------------------------------------

// §2.1.3 "More than one counter may overflow at any given time."
TEST(Together, CountersOfOneBoxInOneCycle) {
  Machine m;
  const Box ha{HA, 1};
  m.wrmsr(kGlobalCtl, 1);
  for (unsigned i : {0u, 2u}) {
    m.write(ha.ctr(i), kTop - 9);
    m.program(ha, i, kEn | kOvEn | 0x00);
  }
  EXPECT_EQ(m.advance(100), 9u);
  EXPECT_EQ(m.read(ha.status()), 0x5u);
  EXPECT_EQ(m.pmis.size(), 1u) << "one freeze, one PMI";
}

TEST(Together, BoxesOfOnePackageInOneCycle) {
  Machine m;
  const Box boxes[] = {{PCU, 0}, {QPI, 2}, {IMC, 7}};
  m.wrmsr(kGlobalCtl, 1);
  u64 bits = 0;
  for (const Box& box : boxes) {
    m.write(box.ctr(1), kTop - 9);
    m.program(box, 1, kEn | kOvEn | box.event());
    bits |= box.global_bits();
  }
  EXPECT_EQ(m.advance(100), 9u);
  for (const Box& box : boxes)
    EXPECT_EQ(m.read(box.status()), box.status_bit(1));
  EXPECT_EQ(m.rdmsr(kGlobalStatus), bits);
  EXPECT_EQ(m.pmis.size(), 1u);
}

TEST(Together, PackagesInOneCycle) {
  Machine m;
  const Box pcu{PCU, 0};
  for (unsigned pkg : {0u, 1u}) {
    m.wrmsr(kGlobalCtl, 1u << pkg, pkg);
    m.write(pcu.ctr(0), kTop - 9, pkg);
    m.program(pcu, 0, kEn | kOvEn, pkg);
  }
  EXPECT_EQ(m.advance(100), 9u);
  ASSERT_EQ(m.pmis.size(), 2u);
  EXPECT_EQ(m.pmis[0].cores, 1u);
  EXPECT_EQ(m.pmis[1].cores, 2u);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_TRUE(model_frozen(m.model(), 1));
}

// While package 0 is frozen by its overflow, package 1 keeps counting.
TEST(Together, APackageDoesNotStopTheOther) {
  Machine m;
  const Box pcu{PCU, 0};
  m.write(pcu.ctr(0), kTop - 9, 0);
  m.program(pcu, 0, kEn | kOvEn, 0);
  m.program(pcu, 0, kEn, 1);
  EXPECT_EQ(m.advance(100), 9u);
  EXPECT_EQ(m.advance(91), 91u);
  EXPECT_EQ(m.read(pcu.ctr(0), 0), 0u);
  EXPECT_EQ(m.read(pcu.ctr(0), 1), 100u);
}

// QPI ports 0 and 1 share ov_q0: after the overflow of a port, the other port causes no
// freeze until ov_q0 is cleared.
TEST(Together, BoxesThatShareAGlobalBit) {
  Machine m;
  const Box port0{QPI, 0}, port1{QPI, 1};
  m.wrmsr(kGlobalCtl, 1);
  m.write(port0.ctr(0), kTop - 10);
  m.write(port1.ctr(0), kTop - 20);
  m.program(port0, 0, kEn | kOvEn | 0x14);
  m.program(port1, 0, kEn | kOvEn | 0x14);
  EXPECT_EQ(m.advance(100), 10u);
  m.write(port0.status(), 1);
  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  EXPECT_EQ(m.advance(100), 100u) << "ov_q0 still set";
  EXPECT_EQ(m.read(port1.status()), 1u);
  EXPECT_EQ(m.pmis.size(), 1u);
}

// Table 2-3: an R3QPI overflow is in ov_rq and in ov_rq0 or ov_rq1
TEST(Together, R3qpiHasTwoGlobalBitsAndBothMustBeCleared) {
  Machine m;
  const Box link{R3QPI, 2};
  m.wrmsr(kGlobalCtl, 1);
  m.program(link, 0, kEn | kOvEn | 0x01);
  for (u64 cleared : {1ull << 35, 1ull << 28}) {
    model_reset(m.model());
    m.wrmsr(kGlobalCtl, 1);
    m.program(link, 0, kEn | kOvEn | 0x01);
    m.write(link.ctr(0), kTop - 10);
    EXPECT_EQ(m.advance(100), 10u);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), 1ull << 35 | 1ull << 28);
    m.wrmsr(kGlobalStatus, cleared);
    m.write(link.status(), 1);
    m.write(link.ctr(0), kTop - 10);
    m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
    EXPECT_EQ(m.advance(100), 100u);
  }
}

// Table 2-3: RW1C, "Write of `1' will clear the bit."
TEST(GlobalStatus, OnesClearAndZerosDoNot) {
  Machine m;
  u64 all = 0;
  for (const Box& box : all_boxes()) {
    if (!box.has_ov_en() || !box.has_clockticks()) continue;
    m.write(box.ctr(0), kTop - 1);
    m.program(box, 0, kEn | kOvEn | box.event());
    all |= box.global_bits();
  }
  m.advance(1);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), all);
  m.wrmsr(kGlobalStatus, 0);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), all);
  for (unsigned bit = 0; bit < 64; ++bit) {
    m.wrmsr(kGlobalStatus, 1ull << bit);
    all &= ~(1ull << bit);
    EXPECT_EQ(m.rdmsr(kGlobalStatus), all);
  }
}

// A bit of a box status that was not cleared does not set its global status bit again
// when another box overflows.
TEST(GlobalStatus, UnclearedOverflowIsNotReportedAgain) {
  Machine m;
  const Box pcu{PCU, 0}, ha{HA, 0};
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  EXPECT_EQ(m.advance(100), 10u);
  m.wrmsr(kGlobalStatus, ~0ull);
  m.write(pcu.ctr(0), kTop - 10);
  m.write(ha.ctr(0), kTop - 50);
  m.program(ha, 0, kEn | kOvEn);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(m.advance(100), 50u);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), ha.global_bits());
}

TEST(GlobalStatus, ClearingABoxWhileItCountsRearmsIt) {
  Machine m;
  const Box pcu{PCU, 0};
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  EXPECT_EQ(m.advance(100), 10u);
  m.wrmsr(kGlobalStatus, ~0ull);
  m.write(pcu.ctr(0), kTop - 30);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(m.advance(10), 10u);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  m.write(pcu.status(), 1);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 20u);
  EXPECT_EQ(m.advance(100), 20u);
}

// In a package or a box that software froze, an armed counter does not overflow.
TEST(GlobalStatus, SoftwareFreezeKeepsArmedCountersQuiet) {
  Machine m;
  const Box pcu{PCU, 0};
  m.wrmsr(kGlobalCtl, 1);
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  m.wrmsr(kGlobalCtl, kFrzAll | 1);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  EXPECT_EQ(m.advance(100), 100u);
  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  m.write(pcu.box_ctl(), kOnes | kFrz);
  EXPECT_EQ(m.advance(100), 100u);
  m.write(pcu.box_ctl(), kOnes);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 10u);
  EXPECT_EQ(m.advance(100), 10u);
}

// The model predicts the overflow again after every change of an armed counter.
TEST(GlobalStatus, RearmingAnArmedCounterMovesItsOverflow) {
  Machine m;
  const Box qpi{QPI, 0};
  m.program(qpi, 0, kEn | kOvEn | 0x14);
  m.write(qpi.ctr(0), kTop - 1000);
  EXPECT_EQ(m.advance(10), 10u);
  m.write(qpi.ctr(0), kTop - 20);
  EXPECT_EQ(m.advance(10), 10u);
  m.write(qpi.ctr(0), kTop - 500);
  EXPECT_EQ(m.advance(499), 499u);
  m.write(qpi.ctl(0), kEn | 0x14);
  EXPECT_EQ(m.advance(499), 499u) << "ov_en taken away in time";
  m.write(qpi.ctl(0), kOvEn | kEn | 0x14);
  m.write(qpi.ctr(0), kTop - 7);
  m.write(qpi.status(), 0xf);
  EXPECT_EQ(m.advance(499), 7u);
}

TEST(GlobalStatus, AdvanceTakesTheWholeOfTime) {
  Machine m;
  EXPECT_EQ(m.advance(U64_MAX / 2), U64_MAX / 2);
  Machine armed;
  const Box pcu{PCU, 0};
  armed.program(pcu, 0, kEn | kOvEn | 0x73);
  EXPECT_LT(armed.advance(U64_MAX / 2), kTop * 16);
  EXPECT_TRUE(model_frozen(armed.model(), 0));
}

// --- account of frozen time ------------------------------------------------

TEST(FrozenTime, FromOverflowToUnfreeze) {
  Machine m;
  const Box pcu{PCU, 0};
  m.now_ns = 1000;
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.now_ns = 2000;
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(model_frozen_ns(m.model()), 0u) << "software's own choice";
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  m.now_ns = 5000;
  m.advance(10);
  m.now_ns = 5300;
  EXPECT_EQ(model_frozen_ns(m.model()), 300u) << "still frozen";
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.now_ns = 5700;
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  m.now_ns = 9000;
  EXPECT_EQ(model_frozen_ns(m.model()), 700u);
}

// Software freezes the package before the freeze of an overflow takes effect: the time
// counts from the overflow's freeze on, and not from software's.
TEST(FrozenTime, FromTheOverflowAlsoIfFrozenBefore) {
  Machine m;
  const Box pcu{PCU, 0};
  const model_delays delays{30, 0, 0};
  model_set_delays(m.model(), &delays);
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  m.advance(20);
  m.now_ns = 1000;
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.now_ns = 5000;
  m.advance(100);
  m.now_ns = 5300;
  EXPECT_EQ(model_frozen_ns(m.model()), 300u);
}

// --- account of pauses -----------------------------------------------------

// A pause ends when the box counts again, whichever way the box was stopped.
TEST(PausedTime, UntilTheBoxCountsAgain) {
  Machine m;
  const Box pcu{PCU, 0};
  m.now_ns = 1000;
  m.program(pcu, 0, kEn);
  m.now_ns = 2000;
  EXPECT_EQ(model_paused_ns(m.model()), 0u) << "never counted before";
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.now_ns = 2300;
  EXPECT_EQ(model_paused_ns(m.model()), 0u) << "still paused";
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(model_paused_ns(m.model()), 300u) << "package frozen";
  m.now_ns = 3000;
  m.write(pcu.box_ctl(), pcu.ones() | kFrz);
  m.now_ns = 3050;
  m.write(pcu.box_ctl(), pcu.ones());
  EXPECT_EQ(model_paused_ns(m.model()), 350u) << "box frozen";
  m.now_ns = 4000;
  m.write(pcu.ctl(0), 0);
  m.now_ns = 4007;
  m.write(pcu.ctl(0), kEn);
  EXPECT_EQ(model_paused_ns(m.model()), 357u) << "counter disabled";
}

// --- faults ----------------------------------------------------------------

TEST(Fault, DeadPciFunctionReadsOnesAndIgnoresWrites) {
  for (const Box& box : all_boxes()) {
    Machine m;
    const bool pci = box.ctl(0).pci;
    EXPECT_EQ(m.fault(MODEL_FAULT_DEAD_PCI, 0, box.box_type,
                          box.index, true),
              pci ? 0 : -1);
    if (!pci) continue;
    const Reg at = box.ctl(0);
    for (unsigned where : {0x00u, 0x0eu, 0xa0u, 0xd8u, 0xf4u, 0xf8u, 0xffcu}) {
      EXPECT_EQ(m.pci_read(at.devfn, where, 4, 0, at.bus), 0xffffffffu);
      EXPECT_EQ(m.pci_read(at.devfn, where, 2, 0, at.bus), 0xffffu);
      EXPECT_EQ(m.pci_read(at.devfn, where, 1, 0, at.bus), 0xffu);
    }
    EXPECT_NE(m.pci_read(at.devfn, 0, 4, 1, at.bus), 0xffffffffu);
    m.program(box, 0, kEn | box.event());
    m.write(box.ctr(0), 5);
    m.fault(MODEL_FAULT_DEAD_PCI, 0, box.box_type, box.index, false);
    EXPECT_EQ(m.read(box.ctl(0)), 0u);
    EXPECT_EQ(m.read(box.ctr(0)), 0u);
  }
}

TEST(Fault, DeadFunctionNeitherCountsNorOverflows) {
  Machine m;
  const Box imc{IMC, 0};
  m.write(imc.ctr(0), kTop - 100);
  m.program(imc, 0, kEn | kOvEn);
  m.advance(40);
  m.fault(MODEL_FAULT_DEAD_PCI, 0, IMC, 0, true);
  EXPECT_EQ(m.advance(1000), 1000u);
  m.fault(MODEL_FAULT_DEAD_PCI, 0, IMC, 0, false);
  EXPECT_EQ(m.read(imc.ctr(0)), kTop - 60);
  EXPECT_EQ(m.advance(1000), 60u);
}

TEST(Fault, StuckStatusDoesNotClear) {
  Machine m;
  const Box imc{IMC, 3};
  m.wrmsr(kGlobalCtl, 1);
  EXPECT_EQ(
      m.fault(MODEL_FAULT_STUCK_STATUS, 0, IMC, 3, true),
      0);
  m.write(imc.ctr(0), kTop - 10);
  m.program(imc, 0, kEn | kOvEn);
  EXPECT_EQ(m.advance(100), 10u);
  m.write(imc.status(), 0x1f);
  EXPECT_EQ(m.read(imc.status()), 2u);
  m.wrmsr(kGlobalStatus, ~0ull);
  m.write(imc.ctr(0), kTop - 10);
  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  EXPECT_EQ(m.advance(100), 100u) << "never a freeze again";
  m.fault(MODEL_FAULT_STUCK_STATUS, 0, IMC, 3, false);
  m.write(imc.status(), 0x1f);
  EXPECT_EQ(m.read(imc.status()), 0u);
}

TEST(Fault, NoPmiLeavesStatusAndFreeze) {
  Machine m;
  const Box pcu{PCU, 0}, ha{HA, 0};
  m.fault(MODEL_FAULT_NO_PMI, 0, PCU, 0, true);
  m.wrmsr(kGlobalCtl, 1);
  m.write(pcu.ctr(0), kTop - 10);
  m.program(pcu, 0, kEn | kOvEn);
  EXPECT_EQ(m.advance(100), 10u);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 4u);
  EXPECT_TRUE(m.pmis.empty());

  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  m.write(ha.ctr(0), kTop - 10);
  m.program(ha, 0, kEn | kOvEn);
  m.advance(100);
  EXPECT_EQ(m.pmis.size(), 1u) << "other boxes are well";
}

TEST(Fault, SpuriousPmiHasNoStatus) {
  Machine m;
  model_spurious_pmi(m.model(), 1, 0x3);
  ASSERT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.pmis[0].pkg, 1u);
  EXPECT_EQ(m.pmis[0].cores, 3u);
  EXPECT_EQ(m.rdmsr(kGlobalStatus, 1), 0u);
  EXPECT_FALSE(model_frozen(m.model(), 1));
  model_spurious_pmi(m.model(), 2, 0x3);
  EXPECT_EQ(m.pmis.size(), 1u) << "no such package";
}

TEST(Fault, OfAnAbsentBoxIsRefused) {
  Machine m;
  EXPECT_EQ(m.fault(MODEL_FAULT_NO_PMI, 2, PCU, 0, true),
            -1);
  EXPECT_EQ(m.fault(MODEL_FAULT_NO_PMI, 0, HA, 2, true),
            -1);
  EXPECT_EQ(m.fault(MODEL_FAULTS, 0, HA, 0, true), -1);
}

TEST(Fault, SurvivesAReset) {
  Machine m;
  m.fault(MODEL_FAULT_DEAD_PCI, 0, HA, 0, true);
  model_reset(m.model());
  EXPECT_EQ(m.pci_read(devfn(18, 1), 0), 0xffffffffu);
}

}  // namespace
}  // namespace test
