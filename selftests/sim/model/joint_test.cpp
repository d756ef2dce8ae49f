// SPDX-License-Identifier: GPL-2.0-or-later
// Xeon 7100 and 7400: counters that share an MSR with their control bits, and the MSR that
// freezes and clears all counters of a package. The tests follow the sentences of the SDM,
// volume 3B, §18.24.
#include <gtest/gtest.h>

#include "machine.h"

namespace test {
namespace {

constexpr u32 kLookup0 = 0x107cc, kSnoop0 = 0x107ce, kBus0 = 0x107d0,
              kGlobal = 0x107d8;
constexpr u64 kValid = 1ULL << 58, kSaturate = 1ULL << 59;
constexpr u64 kClocks = kValid | 1ULL << 47 | 1ULL << 49;
constexpr u64 kEveryLookup = 0x003fffffULL << 32;
constexpr u64 kEverySnoop = 0x003fffffULL << 32;

model_config frontside(const model_generation &gen) {
  return full(gen);
}

Txn lookup() {
  Txn t;
  t.box_type = GBSQ;
  t.agent = t.flow = t.type = t.snoop = t.state = 1;
  return t;
}

Txn snoop() {
  Txn t = lookup();
  t.box_type = GSNPQ;
  return t;
}

class Xeon7100 : public ::testing::Test {
 protected:
  Machine m{frontside(model_xeon7100)};

  // Programs the first look-up counter, sends a transaction and returns the count.
  u64 takes(u64 control, const Txn &t) {
    m.wrmsr(kLookup0, control);
    m.traffic(t);
    return static_cast<u32>(m.rdmsr(kLookup0));
  }
  u64 takes_snoop(u64 control, const Txn &t) {
    m.wrmsr(kSnoop0, control);
    m.traffic(t);
    return static_cast<u32>(m.rdmsr(kSnoop0));
  }
};

TEST_F(Xeon7100, HasEightCountersAndOneRegisterForAll) {
  EXPECT_EQ(m.boxes(FSB), 1u);
  EXPECT_EQ(m.boxes(CBOX), 0u);
  EXPECT_EQ(m.boxes(UBOX), 0u);
  for (u32 msr = 0x107cc; msr < 0x107d4; msr++)
    EXPECT_TRUE(model_msr_claims(m.model(), msr)) << std::hex << msr;
  EXPECT_TRUE(model_msr_claims(m.model(), kGlobal));
  for (u32 msr : {0x107cbu, 0x107d4u, 0x107d7u, 0x107d9u, 0x7ccu, 0x700u})
    EXPECT_FALSE(model_msr_claims(m.model(), msr)) << std::hex << msr;
}

TEST_F(Xeon7100, CountsFromTheWriteOfItsControlOn) {
  m.advance(100);
  EXPECT_EQ(m.rdmsr(kBus0), 0u);
  m.wrmsr(kBus0, kClocks | 5);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(kBus0), kClocks | 105) << "the count below the control";
  m.wrmsr(kBus0, 7);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(kBus0), 7u) << "no bit of the upper half: it does not count";
}

TEST_F(Xeon7100, BusEventsAreOred) {
  constexpr u64 dbsy = 1ULL << 44, drdy = 1ULL << 45;
  m.wrmsr(kBus0, kValid | dbsy);
  m.wrmsr(kBus0 + 1, kValid | drdy);
  m.wrmsr(kBus0 + 2, kValid | dbsy | drdy);
  m.advance(13);
  u32 one = m.rdmsr(kBus0), two = m.rdmsr(kBus0 + 1), both = m.rdmsr(kBus0 + 2);
  EXPECT_GE(both, std::max(one, two));
  EXPECT_LE(both, 13u) << "at most one a bus clock";
  EXPECT_LT(both, one + two) << "the waves have cycles in common";

  Txn t;
  t.box_type = FSB;
  t.code = 45;
  t.count = 9;
  t.value = 3;
  m.traffic(t);
  EXPECT_EQ(m.rdmsr(kBus0), (kValid | dbsy) + one);
  EXPECT_EQ(m.rdmsr(kBus0 + 1), (kValid | drdy) + two + 9);
  EXPECT_EQ(m.rdmsr(kBus0 + 2), (kValid | dbsy | drdy) + both + 9);
}

TEST_F(Xeon7100, BusEventsNeedTheirValidBit) {
  m.wrmsr(kBus0, kClocks & ~kValid);
  EXPECT_EQ(m.undefined.size(), 1u);
  m.advance(100);
  EXPECT_EQ(static_cast<u32>(m.rdmsr(kBus0)), 0u);
  m.wrmsr(kBus0, 0);
  EXPECT_EQ(m.undefined.size(), 1u) << "off needs no bit";
}

TEST_F(Xeon7100, ALookupMustMatchInAllAttributes) {
  EXPECT_EQ(takes(kEveryLookup, lookup()), 1u);
  // one attribute after the other has no bit in common
  for (u64 bits : {0xfULL << 32, 0x3ULL << 36, 0x3fULL << 38, 0x7ULL << 44,
                   0x7fULL << 47})
    EXPECT_EQ(takes(kEveryLookup & ~(bits & (bits & -bits)), lookup()), 0u)
        << std::hex << bits;
  Txn t = lookup();
  t.agent = 8;
  EXPECT_EQ(takes(kEveryLookup & ~(0x7ULL << 32), t), 1u) << "thread 3";
  EXPECT_EQ(takes(kEveryLookup & ~(0x8ULL << 32), t), 0u) << "thread 3";
}

TEST_F(Xeon7100, CoreSelectAndCrossSnoop) {
  for (u32 core = 1; core < 4; core++) {
    Txn t = lookup();
    t.core = core;
    for (u64 field = 0; field < 4; field++)
      EXPECT_EQ(takes(kEveryLookup | field << 54, t),
                field == 0 || field == core)
          << core << " " << field;
  }
  Txn t = lookup();
  EXPECT_EQ(takes(kEveryLookup | 1ULL << 58, t), 0u);
  t.cross = true;
  EXPECT_EQ(takes(kEveryLookup | 1ULL << 58, t), 1u);
  EXPECT_EQ(takes(kEveryLookup, t), 1u);
}

TEST_F(Xeon7100, FillsWithAndWithoutEviction) {
  constexpr bool want[4][4] = {
      // any  fills  without  with an eviction
      {true, false, false, false},  // no fill
      {},
      {true, true, true, false},  // a fill without one
      {true, true, false, true},  // a fill with one
  };
  for (u32 fill : {0u, 2u, 3u}) {
    Txn t = lookup();
    t.fill = fill;
    for (u64 field = 0; field < 4; field++)
      EXPECT_EQ(takes(kEveryLookup | field << 56, t), want[fill][field])
          << fill << " " << field;
  }
}

TEST_F(Xeon7100, SnoopsForCoresAndOthers) {
  EXPECT_EQ(takes_snoop(kEverySnoop, snoop()), 1u);
  Txn t = snoop();
  t.agent = 0x20;
  EXPECT_EQ(takes_snoop(kEverySnoop, t), 1u) << "the central agent";
  EXPECT_EQ(takes_snoop(kEverySnoop & ~(0x20ULL << 32), t), 0u);
  t = snoop();
  EXPECT_EQ(takes_snoop(kEverySnoop | 1ULL << 57, t), 0u);
  t.block = true;
  EXPECT_EQ(takes_snoop(kEverySnoop | 1ULL << 57, t), 1u);
  // which cores have the line, by each value of the field with bit 56
  constexpr bool want[4][4] = {
      {false, false, false, false},
      {true, true, false, false},
      {true, false, true, false},
      {false, false, false, true},
  };
  for (u32 core = 0; core < 4; core++) {
    t = snoop();
    t.core = core;
    for (u64 field = 0; field < 4; field++) {
      EXPECT_EQ(takes_snoop(kEverySnoop | (4 | field) << 54, t),
                want[core][field])
          << core << " " << field;
      EXPECT_EQ(takes_snoop(kEverySnoop | field << 54, t), 1u)
          << "without bit 56";
    }
  }
}

TEST_F(Xeon7100, OneRegisterFreezesAllOfOnePackage) {
  for (unsigned pkg = 0; pkg < 2; pkg++)
    for (u32 msr : {kBus0, kBus0 + 3})
      m.wrmsr(msr, kClocks, pkg);
  m.wrmsr(kLookup0, kEveryLookup);
  m.advance(10);
  m.wrmsr(kGlobal, 1);
  m.advance(10);
  m.traffic(lookup());
  EXPECT_EQ(m.rdmsr(kBus0), kClocks | 10);
  EXPECT_EQ(m.rdmsr(kBus0 + 3), kClocks | 10);
  EXPECT_EQ(m.rdmsr(kLookup0), kEveryLookup);
  EXPECT_EQ(m.rdmsr(kBus0, 1), kClocks | 20) << "the other package keeps counting";
  m.wrmsr(kGlobal, 2);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(kBus0), kClocks | 20);
  EXPECT_TRUE(m.undefined.empty());
}

TEST_F(Xeon7100, ClearsTheCountsThatAreChosen) {
  for (u32 msr = kBus0; msr < kBus0 + 4; msr++)
    m.wrmsr(msr, kClocks);
  m.wrmsr(kLookup0, kEveryLookup | 33);
  m.advance(10);
  m.wrmsr(kGlobal, 4 | 1ULL << (16 + 5));
  EXPECT_EQ(m.rdmsr(kBus0), kClocks | 10);
  EXPECT_EQ(m.rdmsr(kBus0 + 1), kClocks) << "the count, not the control";
  EXPECT_EQ(m.rdmsr(kLookup0), kEveryLookup | 33);
  m.wrmsr(kGlobal, 4 | 1ULL << 16);
  EXPECT_EQ(m.rdmsr(kLookup0), kEveryLookup);
}

TEST_F(Xeon7100, WrapsAfter32BitsAndTells) {
  m.wrmsr(kBus0 + 2, kClocks | 0xfffffff0);
  m.advance(15);
  EXPECT_EQ(m.rdmsr(kGlobal), 0u);
  m.advance(1);
  EXPECT_EQ(m.rdmsr(kGlobal), 1ULL << (48 + 6));
  EXPECT_EQ(m.rdmsr(kBus0 + 2), kClocks);
  m.wrmsr(kLookup0, kEveryLookup | 0xffffffff);
  m.traffic(lookup());
  EXPECT_EQ(m.rdmsr(kGlobal), 1ULL << (48 + 6) | 1ULL << 48);
  EXPECT_TRUE(m.pmis.empty()) << "it has no interrupt";
}

TEST_F(Xeon7100, SaturatesWhenTold) {
  m.wrmsr(kLookup0, kEveryLookup | kSaturate | 0xfffffffe);
  Txn t = lookup();
  t.count = 5;
  m.traffic(t);
  m.traffic(t);
  EXPECT_EQ(static_cast<u32>(m.rdmsr(kLookup0)), 0xffffffffu);
  m.wrmsr(kLookup0, kEveryLookup | 0xfffffffe);
  m.traffic(t);
  EXPECT_EQ(static_cast<u32>(m.rdmsr(kLookup0)), 3u);
}

TEST_F(Xeon7100, ReservedBitsAreToldOf) {
  m.wrmsr(kLookup0, kEveryLookup | 1ULL << 60);
  EXPECT_EQ(m.undefined.size(), 1u);
  m.wrmsr(kBus0, kClocks | kSaturate);
  EXPECT_EQ(m.undefined.size(), 2u);
  m.wrmsr(kGlobal, 3);
  EXPECT_EQ(m.undefined.size(), 3u) << "freeze and unfreeze at once";
  m.wrmsr(kGlobal, 1ULL << 48);
  EXPECT_EQ(m.undefined.size(), 4u) << "how overflow bits are cleared";
}

TEST_F(Xeon7100, WhatOthersHaveLeftCounts) {
  EXPECT_TRUE(m.dirty().empty());
  model_make_dirty(m.model(), MODEL_DIRTY_COUNTERS | MODEL_DIRTY_FREEZE |
                                  MODEL_DIRTY_STATUS);
  EXPECT_EQ(m.dirty().size(), 2u * 9) << "eight counters and the freeze";
  EXPECT_EQ(m.rdmsr(kGlobal), 0xffULL << 48);
  m.wrmsr(kGlobal, 2);
  u32 before = m.rdmsr(kBus0);
  m.advance(13);
  EXPECT_GT(static_cast<u32>(m.rdmsr(kBus0)), before);
}

TEST(Xeon7400, AgentsAreModules) {
  Machine m(frontside(model_xeon7400));
  m.wrmsr(kLookup0, 0x003ffff7ULL << 32);
  EXPECT_TRUE(m.undefined.empty());
  Txn t = lookup();
  t.agent = 4;
  m.traffic(t);
  EXPECT_EQ(static_cast<u32>(m.rdmsr(kLookup0)), 1u);
  m.wrmsr(kLookup0, kEveryLookup);
  EXPECT_EQ(m.undefined.size(), 1u) << "bit 35 is none of a module";
  m.wrmsr(kSnoop0, 0x003fffe7ULL << 32);
  EXPECT_EQ(m.undefined.size(), 1u) << "37 is the central agent";
  m.wrmsr(kSnoop0, 0x003ffff7ULL << 32);
  EXPECT_EQ(m.undefined.size(), 2u);
}

TEST(Xeon7400, SnoopsByHowManyModulesHaveTheLine) {
  Machine m(frontside(model_xeon7400));
  constexpr bool want[4][4] = {
      // one, one or more, two or more, all three
      {false, false, false, false},
      {true, true, false, false},
      {false, true, true, false},
      {false, true, true, true},
  };
  for (u32 modules = 0; modules < 4; modules++) {
    Txn t = snoop();
    t.core = modules;
    for (u64 field = 0; field < 4; field++) {
      m.wrmsr(kSnoop0, 0x003fffe7ULL << 32 | (4 | field) << 54);
      m.traffic(t);
      EXPECT_EQ(static_cast<u32>(m.rdmsr(kSnoop0)), want[modules][field])
          << modules << " " << field;
    }
  }
}

}  // namespace
}  // namespace test
