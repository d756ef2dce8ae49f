// SPDX-License-Identifier: GPL-2.0-or-later
// Delays from an overflow to the freeze, to the status bit and to the PMI; and boxes with
// another clock than UCLK.
#include <gtest/gtest.h>

#include <random>

#include "reference.h"

namespace test {
namespace {

constexpr u64 kTop = 1ull << 48;

class Delays : public testing::Test {
 protected:
  void delay(u32 freeze, u32 status, u32 pmi) {
    const model_delays delays{freeze, status, pmi};
    model_set_delays(m.model(), &delays);
  }
  // Programs counter 0 of a box to overflow after `cycles` cycles.
  void arm(const Box& box, u64 cycles) {
    m.write(box.ctr(0), kTop - cycles);
    m.program(box, 0, kEn | kOvEn | box.event());
  }
  bool frozen() { return model_frozen(m.model(), 0); }
  void SetUp() override {
    m.wrmsr(kGlobalCtl, 1);
    m.program(cbox, 0, kEn);
  }

  const Box ha{HA, 0}, imc{IMC, 0}, cbox{CBOX, 3};
  Machine m;
};

// §2.2.2.2: "During the interval of time between overflow and global disable,
// the counter value will wrap and continue to collect events."
TEST_F(Delays, AllCountOnUntilTheFreeze) {
  delay(30, 0, 0);
  arm(ha, 100);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 100u);
  EXPECT_EQ(m.advance(100), 100u);
  EXPECT_EQ(m.read(ha.status()), ha.status_bit(0));
  EXPECT_FALSE(frozen());
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
  EXPECT_TRUE(model_pending(m.model()));
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 30u);
  EXPECT_EQ(m.advance(29), 29u);
  EXPECT_FALSE(frozen());
  EXPECT_EQ(m.advance(1000), 1u);
  EXPECT_TRUE(frozen());
  EXPECT_EQ(m.rdmsr(kGlobalStatus), ha.global_bits());
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(model_told(m.model()), 1u);
  EXPECT_EQ(model_told(m.model()), 0u);
  m.advance(1000);
  EXPECT_EQ(m.read(ha.ctr(0)), 30u) << "wrapped, and kept counting";
  EXPECT_EQ(m.read(cbox.ctr(0)), 130u);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
}

TEST_F(Delays, StatusAndPmiComeLater) {
  delay(0, 20, 50);
  arm(ha, 100);
  m.program(cbox, 0, kEn, 1);
  m.advance(100);
  EXPECT_TRUE(frozen());
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
  m.advance(19);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
  m.advance(1);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), ha.global_bits());
  EXPECT_EQ(m.advance(49), 49u);
  EXPECT_TRUE(m.pmis.empty());
  EXPECT_EQ(model_told(m.model()), 0u);
  EXPECT_EQ(m.advance(1000), 1u) << "returns to let software serve it";
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.read(cbox.ctr(0)), 100u) << "frozen since the overflow";
  EXPECT_EQ(m.read(cbox.ctr(0), 1), 170u) << "not the other package";
}

// The iMC overflows while the freeze of the HA's overflow is pending: both overflows set
// their status bits and send PMIs.
TEST_F(Delays, OverflowsBeforeTheFreezeAreTold) {
  delay(30, 10, 5);
  arm(ha, 100);
  arm(imc, 120);
  m.advance(130);
  EXPECT_TRUE(frozen());
  m.advance(10);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), ha.global_bits());
  EXPECT_EQ(m.advance(1000), 5u);
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.advance(1000), 20u);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), ha.global_bits() | imc.global_bits());
  EXPECT_EQ(m.pmis.size(), 2u);
  EXPECT_EQ(m.read(imc.ctr(0)), 10u);
}

// Software unfreezes the package before the freeze of a second overflow takes effect: the
// package freezes again.
TEST_F(Delays, TheLastFreezeComesLate) {
  delay(30, 0, 0);
  arm(ha, 100);
  arm(imc, 120);
  m.advance(130);
  EXPECT_TRUE(frozen());
  m.write(ha.status(), ha.status_bit(0));
  m.wrmsr(kGlobalStatus, ha.global_bits());
  m.wrmsr(kGlobalCtl, kUnfrzAll | 1);
  EXPECT_FALSE(frozen());
  EXPECT_EQ(m.advance(1000), 20u);
  EXPECT_TRUE(frozen());
  EXPECT_EQ(m.rdmsr(kGlobalStatus), imc.global_bits());
  EXPECT_EQ(m.read(cbox.ctr(0)), 150u);
}

// Two counters of a box share a global status bit. The second overflow sends no PMI while
// the bit of the first overflow is pending.
TEST_F(Delays, ABitOnItsWayIsAsGoodAsSet) {
  delay(30, 10, 5);
  arm(ha, 100);
  m.write(ha.ctr(1), kTop - 110);
  m.program(ha, 1, kEn | kOvEn);
  EXPECT_EQ(m.advance(1000), 145u);
  EXPECT_EQ(m.advance(1000), 1000u);
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.read(ha.status()), ha.status_bit(0) | ha.status_bit(1));
}

TEST_F(Delays, NewOnesAreForNewOverflows) {
  delay(10, 0, 0);
  arm(ha, 100);
  m.advance(100);
  delay(500, 500, 500);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 10u);
  EXPECT_EQ(m.advance(1000), 10u);
}

TEST_F(Delays, AResetForgetsWhatIsOnItsWay) {
  delay(10, 10, 10);
  arm(ha, 100);
  m.advance(105);
  model_reset(m.model());
  EXPECT_FALSE(model_pending(m.model()));
  m.advance(1000);
  EXPECT_FALSE(frozen());
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
  EXPECT_TRUE(m.pmis.empty());
}

TEST_F(Delays, RestartedCyclesMoveWhatIsOnItsWay) {
  delay(10, 10, 10);
  arm(ha, 100);
  m.advance(115);
  model_restart_cycles(m.model());
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 5u);
  EXPECT_EQ(m.advance(1000), 15u);
  EXPECT_EQ(m.pmis.size(), 1u);
}

// Transactions take no time: the counter counts all of them before the freeze.
TEST_F(Delays, TrafficIsFasterThanTheFreeze) {
  delay(10, 0, 0);
  m.write(imc.ctr(0), kTop - 100);
  m.program(imc, 0, kEn | kOvEn | 0x04 | umask(0x01));
  const Txn reads{.box_type = IMC, .code = 0x04, .umask = 1, .count = 1000};
  EXPECT_EQ(m.traffic(reads), 1000);
  EXPECT_FALSE(frozen());
  EXPECT_TRUE(model_pending(m.model()));
  const u64 counted = m.read(imc.ctr(0));
  EXPECT_GE(counted, 900u);
  m.advance(10);
  EXPECT_TRUE(frozen());
}

TEST_F(Delays, AQueueThatIsFullLosesNoBit) {
  delay(1000, 0, 0);
  u64 bits = 0;
  for (const Box& box : {ha, imc, Box{QPI, 0}, Box{R2PCIE, 0},
                         Box{R3QPI, 0}, Box{PCU, 0}}) {
    arm(box, 100 + bits % 7);
    m.advance(1);
    bits |= box.global_bits();
  }
  m.advance(900);
  for (int i = 0; i < 10; ++i) m.advance(1000);
  EXPECT_EQ(m.rdmsr(kGlobalStatus), bits);
}

/* --- clocks -------------------------------------------------------------- */

model_config clocks(u32 uclk, u32 dclk, u32 qclk, u32 pclk) {
  model_config config = kFull;
  config.clock_khz[MODEL_UCLK] = uclk;
  config.clock_khz[MODEL_DCLK] = dclk;
  config.clock_khz[MODEL_QCLK] = qclk;
  config.clock_khz[MODEL_PCLK] = pclk;
  return config;
}

u64 share(u64 cycles, u64 khz, u64 uclk) {
  return static_cast<u64>(static_cast<unsigned __int128>(cycles) * khz / uclk);
}

TEST(Clocks, BoxesHaveTheirOwn) {
  Machine m(clocks(2500000, 1066667, 2400000, 800000));
  const struct {
    Box box;
    u64 khz;
  } boxes[] = {{{CBOX, 0}, 2500000}, {{IMC, 0}, 1066667},
               {{QPI, 0}, 2400000},  {{PCU, 0}, 800000},
               {{HA, 0}, 2500000},   {{R3QPI, 0}, 2500000}};
  u32 event[] = {0, 0, 0x14, 0, 0, 1};
  for (unsigned i = 0; i < std::size(boxes); ++i)
    m.program(boxes[i].box, 0, kEn | event[i]);
  m.write(boxes[1].box.fixed_ctl(), kEn);
  u64 passed = 0;
  // Steps of any size add up: the model neither loses nor doubles a fraction of a cycle.
  for (u64 step : {1ull, 1ull, 2ull, 3ull, 1000ull, 99999ull, 12345678901ull}) {
    m.advance(step);
    passed += step;
    for (const auto& b : boxes)
      EXPECT_EQ(m.read(b.box.ctr(0)), share(passed, b.khz, 2500000))
          << b.box.name() << " after " << passed;
    EXPECT_EQ(m.read(boxes[1].box.fixed_ctr()),
              share(passed, 1066667, 2500000));
  }
}

// The counter overflows in the first UCLK cycle in which the overflowing cycle of the
// box's own clock is complete.
TEST(Clocks, OverflowsAreOnTime) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const u32 uclk = 100000 + random() % 5000000;
    const u32 dclk = 100000 + random() % 5000000;
    Machine m(clocks(uclk, dclk, 0, 0));
    const Box imc{IMC, 0};
    m.advance(random() % 1000000);
    const u64 from = model_cycles(m.model()), need = 1 + random() % 100000;
    m.wrmsr(kGlobalCtl, 1);
    m.write(imc.ctr(0), kTop - need);
    m.program(imc, 0, kEn | kOvEn);
    const u64 when = model_cycles_to_freeze(m.model());
    EXPECT_EQ(m.advance(U64_MAX / 2), when);
    EXPECT_GE(share(from + when, dclk, uclk) - share(from, dclk, uclk), need);
    EXPECT_LT(share(from + when - 1, dclk, uclk) - share(from, dclk, uclk),
              need);
    EXPECT_EQ(m.pmis.size(), 1u);
  }
}

TEST(Clocks, LongTimesDoNotOverflow) {
  Machine m(clocks(9999999, 9999998, 0, 0));
  const Box imc{IMC, 0};
  m.program(imc, 0, kEn);
  const u64 cycles = 1ull << 60;
  m.advance(cycles);
  EXPECT_EQ(m.read(imc.ctr(0)), share(cycles, 9999998, 9999999) % kTop);
}

TEST(Clocks, FreeRunningOnesFollowTheBox) {
  Machine m(clocks(2500000, 0, 1250000, 500000));
  const Reg link_idle{.pci = true, .devfn = devfn(8, 2), .at = 0xc8};
  m.advance(1000);
  EXPECT_EQ(m.read(link_idle), 500u);
  m.write(link_idle, 7);
  model_restart_cycles(m.model());
  m.advance(100);
  EXPECT_EQ(m.read(link_idle), 57u);
}

// §2.6.3.2: DCLK never changes frequency, "unlike the Uncore clock".
TEST(Clocks, UclkChangesAlone) {
  Machine m(clocks(2500000, 1250000, 0, 0));
  const Box cbox{CBOX, 0}, imc{IMC, 0}, pcu{PCU, 0};
  m.write(Box{UBOX, 0}.fixed_ctl(), kEn);
  m.write(Box{UBOX, 0}.fixed_ctl(), kEn, 1);
  for (const Box& box : {cbox, imc, pcu}) m.program(box, 0, kEn);
  u64 uclk = 0, passed = 0;
  for (u32 khz : {2500000u, 1000000u, 0u, 3300000u, 100000u, 0u, 2500000u}) {
    ASSERT_EQ(model_set_uclk(m.model(), 0, khz), 0);
    EXPECT_EQ(model_uclk(m.model(), 0), khz);
    // A new frequency begins with a whole UCLK cycle.
    m.advance(333);
    m.advance(667 + 12345);
    uclk += share(1000 + 12345, khz, 2500000);
    passed += 1000 + 12345;
    EXPECT_EQ(m.read(cbox.ctr(0)), uclk) << khz;
    EXPECT_EQ(m.read(Box{UBOX, 0}.fixed_ctr()), uclk);
    EXPECT_EQ(m.read(imc.ctr(0)), passed / 2);
    EXPECT_EQ(m.read(pcu.ctr(0)), passed);
    EXPECT_EQ(m.read(Box{UBOX, 0}.fixed_ctr(), 1), passed);
  }
}

TEST(Clocks, OverflowsWaitForAStoppedUclk) {
  Machine m(clocks(2500000, 0, 0, 0));
  const Box ha{HA, 0};
  m.wrmsr(kGlobalCtl, 1);
  m.write(ha.ctr(0), kTop - 1000);
  m.program(ha, 0, kEn | kOvEn | ha.event());
  m.advance(500);
  ASSERT_EQ(model_set_uclk(m.model(), 0, 0), 0);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
  EXPECT_EQ(m.advance(1ull << 40), 1ull << 40);
  ASSERT_EQ(model_set_uclk(m.model(), 0, 1250000), 0);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), 1000u);
  EXPECT_EQ(m.advance(5000), 1000u);
  EXPECT_EQ(m.pmis.size(), 1u);
}

TEST(Clocks, RestartedCyclesKeepTheFrequency) {
  Machine m(clocks(2500000, 0, 0, 0));
  const Box cbox{CBOX, 0};
  m.program(cbox, 0, kEn);
  m.advance(1000);
  ASSERT_EQ(model_set_uclk(m.model(), 0, 500000), 0);
  m.advance(1000);
  model_restart_cycles(m.model());
  m.advance(1000);
  EXPECT_EQ(m.read(cbox.ctr(0)), 1400u);
  model_reset(m.model());
  m.program(cbox, 0, kEn);
  m.advance(1000);
  EXPECT_EQ(m.read(cbox.ctr(0)), 200u);
}

TEST(Clocks, ImpossibleUclkIsRefused) {
  Machine m(clocks(2500000, 0, 0, 0)), without;
  EXPECT_EQ(model_set_uclk(m.model(), 2, 1000000), -1);
  EXPECT_EQ(model_set_uclk(m.model(), 0, MODEL_MAX_KHZ + 1), -1);
  EXPECT_EQ(model_set_uclk(without.model(), 0, 1000000), -1);
}

TEST(Clocks, NonsenseIsRefused) {
  std::vector<u64> memory(model_size() / 8 + 1);
  auto* model = reinterpret_cast<struct model*>(memory.data());
  const model_ops ops{};
  for (const model_config& bad :
       {clocks(0, 1000, 0, 0), clocks(MODEL_MAX_KHZ + 1, 0, 0, 0),
        clocks(1000000, MODEL_MAX_KHZ + 1, 0, 0)})
    EXPECT_EQ(model_init(model, &bad, &ops, nullptr), -1);
}

}  // namespace
}  // namespace test
