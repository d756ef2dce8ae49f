// SPDX-License-Identifier: GPL-2.0-or-later
// Rates of events instead of waveforms: counts are exact over time for steps of any size;
// threshold, invert and edge apply cycle by cycle (§1.4); filters apply as to traffic;
// without rates the waveforms count again.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "machine.h"

namespace test {
namespace {

constexpr Box kHa = {HA, 0};
constexpr Box kCbox = {CBOX, 0};
constexpr Box kImc = {IMC, 0};
constexpr u32 kRequests = 0x01;
constexpr u32 kTorInserts = 0x35;

class Rates : public testing::Test {
 protected:
  explicit Rates(const model_config& config = kFull) : m(config) {
    memory_.resize(model_rates_size(m.model()) / sizeof(u64) + 1);
    model_give_rates(m.model(), memory_.data());
  }
  int rate(const Box& box, u32 code, u32 mask, u32 whole, u32 frac,
           u32 opc = 0, u32 tid = 0) {
    model_txn t{};
    t.box_type = m.type(box.box_type);
    t.box = box.index;
    t.code = code;
    t.umask = mask;
    t.opc = opc;
    t.tid = tid;
    const struct model_rate r = {whole, frac};
    return model_rate(m.model(), &t, &r);
  }
  // Programs counter `i`, lets `cycles` cycles pass and returns the count.
  u64 run(const Box& box, unsigned i, u32 ctl, u64 cycles) {
    m.program(box, i, kEn | ctl);
    m.write(box.ctr(i), 0);
    m.advance(cycles);
    return m.read(box.ctr(i));
  }

  Machine m;

 private:
  std::vector<u64> memory_;
};

class OtherClocks : public Rates {
 protected:
  static model_config config() {
    model_config c = kFull;
    c.clock_khz[MODEL_UCLK] = 2500000;
    c.clock_khz[MODEL_DCLK] = 1066500;
    return c;
  }
  OtherClocks() : Rates(config()) {}
};

constexpr u32 kParts = MODEL_RATE_ONE;

TEST_F(Rates, CountsAreTheFloorOfRateTimesCyclesWhateverTheSteps) {
  std::mt19937_64 random(14);
  for (u32 whole : {0u, 1u, 7u, 255u}) {
    for (u32 frac : {0u, 1u, kParts / 3, kParts / 10, kParts - 1}) {
      model_forget_rates(m.model());
      ASSERT_EQ(rate(kHa, kRequests, 1, whole, frac), 0);
      m.program(kHa, 0, kEn | kRequests | umask(3));
      m.write(kHa.ctr(0), 0);
      u64 passed = 0;
      for (int step = 0; step < 200; ++step) {
        const u64 cycles = random() % (step % 3 ? 5000000000 : 7);
        m.advance(cycles);
        passed += cycles;
        const auto exact = (static_cast<unsigned __int128>(whole) * kParts +
                            frac) * passed / kParts;
        ASSERT_EQ(m.read(kHa.ctr(0)),
                  static_cast<u64>(exact) & ((u64{1} << 48) - 1))
            << whole << " " << frac << " " << passed;
      }
    }
  }
}

TEST_F(Rates, AChangedRateGoesOnWithTheRest) {
  rate(kHa, kRequests, 1, 0, kParts / 4 * 3);
  EXPECT_EQ(run(kHa, 0, kRequests | umask(1), 1), 0u);
  rate(kHa, kRequests, 1, 0, kParts / 4);
  m.advance(1);
  EXPECT_EQ(m.read(kHa.ctr(0)), 1u);
  rate(kHa, kRequests, 1, 0, 0);
  m.advance(1000);
  EXPECT_EQ(m.read(kHa.ctr(0)), 1u);
}

TEST_F(Rates, AChangedRateChangesThresholds) {
  rate(kHa, kRequests, 1, 0, kParts / 4);
  const u32 ctl = kRequests | umask(1) | thresh(1);
  EXPECT_EQ(run(kHa, 0, ctl, 1000), 250u);
  rate(kHa, kRequests, 1, 0, kParts / 2);
  m.advance(1000);
  EXPECT_EQ(m.read(kHa.ctr(0)), 750u);
  rate(kHa, kRequests, 1, 5, 0);
  m.advance(1000);
  EXPECT_EQ(m.read(kHa.ctr(0)), 1750u);
}

TEST_F(Rates, PartsAddUpToTheirSumAtAnyTime) {
  rate(kHa, kRequests, 0x01, 0, kParts / 7);
  rate(kHa, kRequests, 0x02, 1, kParts / 11);
  m.program(kHa, 0, kEn | kRequests | umask(0x01));
  m.program(kHa, 1, kEn | kRequests | umask(0x02));
  m.program(kHa, 2, kEn | kRequests | umask(0x03));
  for (u64 step : {1, 5, 1, 999, 2, 1234567}) {
    m.advance(step);
    EXPECT_EQ(m.read(kHa.ctr(0)) + m.read(kHa.ctr(1)), m.read(kHa.ctr(2)));
  }
}

// The value of the event in a cycle is the growth of a running sum of the rate.
TEST_F(Rates, ThresholdInvertAndEdge) {
  for (u32 whole : {0u, 2u}) {
    for (u32 frac : {0u, kParts / 5, kParts / 2, kParts / 7 * 6}) {
      model_forget_rates(m.model());
      m.program(kHa, 0, 0);
      rate(kHa, kRequests, 1, whole, frac);
      constexpr u64 kCycles = 70;
      for (u32 limit : {1u, 2u, 3u, 4u}) {
        const u64 reaching =
            run(kHa, 0, kRequests | umask(1) | thresh(limit), kCycles * 1000);
        const double share = limit <= whole ? 1
                             : limit == whole + 1
                                 ? static_cast<double>(frac) / kParts
                                 : 0;
        EXPECT_NEAR(static_cast<double>(reaching), share * kCycles * 1000, 1.01)
            << whole << "." << frac << " >= " << limit;
        const u64 below = run(
            kHa, 0, kRequests | umask(1) | thresh(limit) | kInvert,
            kCycles * 1000);
        EXPECT_NEAR(static_cast<double>(reaching + below), kCycles * 1000,
                    2.01);
        const u64 edges =
            run(kHa, 0, kRequests | umask(1) | thresh(limit) | kEdge,
                kCycles * 1000);
        EXPECT_NEAR(static_cast<double>(edges),
                    std::min(share, 1 - share) * kCycles * 1000, 1.01);
      }
    }
  }
}

TEST_F(Rates, OneCycleAtATimeIsTheSameAsAllAtOnce) {
  rate(kHa, kRequests, 1, 0, kParts / 100 * 37);
  rate(kHa, kRequests, 2, 0, kParts / 100 * 41);
  for (u32 shape : {0u, thresh(1), thresh(1) | kInvert, thresh(1) | kEdge}) {
    m.program(kHa, 0, kEn | kRequests | umask(3) | shape);
    m.program(kHa, 1, kEn | kRequests | umask(3) | shape);
    m.write(kHa.ctr(0), 0);
    m.write(kHa.ctr(1), 0);
    u64 sum = 0;
    for (int i = 0; i < 500; ++i) {
      m.advance(1);
      const u64 now = m.read(kHa.ctr(0));
      ASSERT_LE(now - sum, 2u);
      sum = now;
    }
    EXPECT_EQ(m.read(kHa.ctr(1)), sum);
  }
}

TEST_F(Rates, FiltersTakeWhatTheyTakeOfTraffic) {
  rate(kCbox, kTorInserts, 0x23, 1, 0, 0x182);
  rate(kCbox, kTorInserts, 0x21, 2, 0, 0x182);
  rate(kCbox, kTorInserts, 0x21, 4, 0, 0x180, 0x3e);
  m.wrmsr(0xe06, u64{0x182} << 20);
  EXPECT_EQ(run(kCbox, 0, kTorInserts | umask(0x03), 10), 10u);
  EXPECT_EQ(run(kCbox, 0, kTorInserts | umask(0x01), 10), 30u);
  m.wrmsr(0xe06, u64{0x180} << 20);
  EXPECT_EQ(run(kCbox, 0, kTorInserts | umask(0x01), 10), 40u);
  m.wrmsr(0xe05, 0x3e);
  EXPECT_EQ(run(kCbox, 0, kTorInserts | umask(0x01) | kTidEn, 10), 40u);
  m.wrmsr(0xe05, 0x3f);
  EXPECT_EQ(run(kCbox, 0, kTorInserts | umask(0x01) | kTidEn, 10), 0u);
}

TEST_F(Rates, OtherEventsAndBoxesKeepTheirWaveforms) {
  const u32 other = 0x17 | umask(1);
  Machine plain;
  rate(kHa, kRequests, 1, 3, 0);
  m.program(kHa, 0, kEn | other);
  plain.program(kHa, 0, kEn | other);
  const Box second = {HA, 1};
  m.program(second, 0, kEn | kRequests | umask(1));
  plain.program(second, 0, kEn | kRequests | umask(1));
  m.advance(1000);
  plain.advance(1000);
  EXPECT_GT(plain.read(kHa.ctr(0)), 0u);
  EXPECT_EQ(m.read(kHa.ctr(0)), plain.read(kHa.ctr(0)));
  EXPECT_EQ(m.read(second.ctr(0)), plain.read(second.ctr(0)));
}

TEST_F(Rates, OnlyRatesCountWhenTheyAreTheOnlyOnes) {
  bool only = false;
  model_only_rates(m.model());
  for (const Box& box : all_boxes()) {
    m.program(box, 0, kEn | box.event());
  }
  m.advance(1000);
  for (const Box& box : all_boxes()) {
    EXPECT_EQ(m.read(box.ctr(0)), 0u) << box.name();
  }
  rate(kHa, kRequests, 1, 3, 0);
  EXPECT_EQ(model_rates(m.model(), &only), 1u);
  EXPECT_TRUE(only);
  EXPECT_EQ(run(kHa, 1, kRequests | umask(1), 1000), 3000u);
  model_forget_rates(m.model());
  EXPECT_EQ(model_rates(m.model(), &only), 0u);
  EXPECT_FALSE(only);
  m.advance(1000);
  for (const Box& box : all_boxes()) {
    EXPECT_GT(m.read(box.ctr(0)), 0u) << box.name();
  }
}

TEST_F(Rates, FixedCountersGoOn) {
  model_only_rates(m.model());
  m.write(kImc.fixed_ctl(), kEn);
  m.advance(1000);
  EXPECT_EQ(m.read(kImc.fixed_ctr()), 1000u);
}

// 0x3f8: package C2 residency (Table 1-2)
TEST_F(Rates, FreeRunningCountersStandStillAndGoOn) {
  m.advance(1000);
  const u64 before = m.rdmsr(0x3f8);
  model_only_rates(m.model());
  m.advance(500);
  EXPECT_EQ(m.rdmsr(0x3f8), before);
  model_restart_cycles(m.model());
  EXPECT_EQ(m.rdmsr(0x3f8), before);
  model_forget_rates(m.model());
  m.advance(20);
  EXPECT_EQ(m.rdmsr(0x3f8), before + 20);
  model_only_rates(m.model());
  model_reset(m.model());
  m.advance(20);
  EXPECT_EQ(m.rdmsr(0x3f8), 0u);
  model_forget_rates(m.model());
  m.advance(20);
  EXPECT_EQ(m.rdmsr(0x3f8), 20u);
}

TEST_F(Rates, AnOverflowComesInItsCycle) {
  rate(kHa, kRequests, 1, 0, kParts / 8);
  m.wrmsr(kGlobalCtl, 1);
  m.program(kHa, 0, kEn | kOvEn | kRequests | umask(1));
  m.write(kHa.ctr(0), (u64{1} << 48) - 3);
  EXPECT_EQ(m.advance(1000), 24u);
  EXPECT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.read(kHa.ctr(0)), 0u);
}

TEST_F(Rates, WithoutARateNothingEverOverflows) {
  rate(kHa, kRequests, 1, 0, 0);
  m.program(kHa, 0, kEn | kOvEn | kRequests | umask(1));
  m.write(kHa.ctr(0), (u64{1} << 48) - 1);
  EXPECT_EQ(m.advance(u64{1} << 50), u64{1} << 50);
  EXPECT_EQ(model_cycles_to_freeze(m.model()), U64_MAX);
}

// The overflow is later than the time for which the model searches for overflows.
TEST_F(Rates, AnOverflowThatIsFarAwayComesToo) {
  rate(kHa, kRequests, 1, 0, 1);
  m.wrmsr(kGlobalCtl, 1);
  m.program(kHa, 0, kEn | kOvEn | kRequests | umask(1));
  m.write(kHa.ctr(0), (u64{1} << 48) - 1000000);
  const u64 due = u64{1000000} * kParts;
  EXPECT_EQ(m.advance(due - 1), due - 1);
  EXPECT_TRUE(m.pmis.empty());
  EXPECT_EQ(m.advance(1), 1u);
  EXPECT_EQ(m.pmis.size(), 1u);
}

TEST_F(Rates, FrozenBoxesMissWhatPasses) {
  rate(kHa, kRequests, 1, 1, 0);
  m.program(kHa, 0, kEn | kRequests | umask(1));
  m.write(kHa.ctr(0), 0);
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.advance(100);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  m.advance(10);
  EXPECT_EQ(m.read(kHa.ctr(0)), 10u);
}

TEST_F(Rates, TheyOutliveAResetAndStartAgainWithTheClock) {
  rate(kHa, kRequests, 1, 0, kParts / 10);
  m.advance(5);
  model_reset(m.model());
  EXPECT_EQ(run(kHa, 0, kRequests | umask(1), 5), 1u);
  m.advance(7);
  model_restart_cycles(m.model());
  m.write(kHa.ctr(0), 0);
  m.advance(9);
  EXPECT_EQ(m.read(kHa.ctr(0)), 0u);
  m.advance(1);
  EXPECT_EQ(m.read(kHa.ctr(0)), 1u);
}

TEST_F(Rates, WhatIsNotThereIsRefused) {
  EXPECT_EQ(rate({HA, 2}, kRequests, 1, 1, 0), -1);
  EXPECT_EQ(rate(kHa, 0xf7, 1, 1, 0), -1);
  EXPECT_EQ(rate(kHa, kRequests, 1, MODEL_MAX_RATE + 1, 0), -1);
  EXPECT_EQ(rate(kHa, kRequests, 1, 0, kParts), -1);
  for (u32 i = 0; i < MODEL_MAX_FLOWS; ++i) {
    EXPECT_EQ(rate(kHa, kRequests, 1, 0, 0, i), 0);
  }
  EXPECT_EQ(rate(kHa, kRequests, 1, 0, 0, MODEL_MAX_FLOWS), -2);
  EXPECT_EQ(rate(kHa, kRequests, 1, 1, 0, 5), 0);
  EXPECT_EQ(run(kHa, 0, kRequests | umask(1), 10), 10u);
  Machine bare;
  model_txn t{};
  t.box_type = bare.type(HA);
  t.code = kRequests;
  const struct model_rate r = {1, 0};
  EXPECT_EQ(model_rate(bare.model(), &t, &r), -1) << "no memory";
}

TEST_F(OtherClocks, ARateIsOfTheBoxesOwnCycles) {
  rate(kImc, 0x04, 1, 0, kParts / 4);
  EXPECT_EQ(run(kImc, 0, 0x04 | umask(3), 2500000), 1066500u / 4);
}

}  // namespace
}  // namespace test
