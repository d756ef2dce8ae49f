// SPDX-License-Identifier: GPL-2.0-or-later
// When a counter counts: enabling (§2.1.2), freezing of a box and of a package (§2.1.3,
// §2.1.4), errata of control registers, and free-running counters.
#include <gtest/gtest.h>

#include "reference.h"

namespace test {
namespace {

class BoxControl : public testing::TestWithParam<Box> {
 protected:
  u64 expect(u64 from, u64 cycles) const {
    return count({.box_type = box.box_type, .counter = 0, .ctl = box.event()}, from,
                 cycles);
  }

  Box box = GetParam();
  Machine m;
};

class BoxFreeze : public BoxControl {};
class FixedCounting : public BoxControl {};
class WrittenTwice : public BoxControl {};
class SelfClearing : public BoxControl {};
class ManyBitsAtOnce : public BoxControl {};

// §2.4.2.2, §2.10.2.2, §2.11.2.2: "necessary to write each control register
// twice in a row in order for the Event Select field to take hold"
bool needs_two_writes(const Box& box) {
  return box.box_type == SBOX || box.box_type == R2PCIE ||
         box.box_type == R3QPI;
}

constexpr auto kName = [](const auto& info) { return info.param.name(); };
INSTANTIATE_TEST_SUITE_P(All, BoxControl, testing::ValuesIn(all_boxes()),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, BoxFreeze,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_box_ctl();
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, FixedCounting,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_fixed();
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, WrittenTwice,
                         testing::ValuesIn(all_boxes(needs_two_writes)), kName);
INSTANTIATE_TEST_SUITE_P(All, SelfClearing,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.box_type != QPI;
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, ManyBitsAtOnce,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_box_ctl() && box.box_type != SBOX;
                         })),
                         kName);

// §2.1.2 "On HW reset, all the counters are disabled." b) "set .en to 1"
TEST_P(BoxControl, CountsOnlyWhileEnabled) {
  m.program(box, 0, box.event());
  m.advance(160);
  EXPECT_EQ(m.read(box.ctr(0)), 0u);
  m.program(box, 0, kEn | box.event());
  m.advance(160);
  EXPECT_EQ(m.read(box.ctr(0)), expect(160, 160));
  EXPECT_GT(m.read(box.ctr(0)), 0u);
  m.program(box, 0, box.event());
  m.advance(160);
  EXPECT_EQ(m.read(box.ctr(0)), expect(160, 160));
  EXPECT_EQ(m.read(box.ctr(0), 1), 0u) << "the other package";
}

// .frz: "If set to 1 the counters in this box will be frozen."
TEST_P(BoxFreeze, BoxFreezeStopsCounting) {
  m.program(box, 0, kEn | box.event());
  m.advance(100);
  m.write(box.box_ctl(), box.ones() & (1u << 16));
  m.write(box.box_ctl(), box.ones());
  m.write(box.box_ctl(), box.ones() | kFrz);
  m.advance(33);
  EXPECT_EQ(m.read(box.ctr(0)), expect(0, 100));
  m.write(box.box_ctl(), box.ones());
  m.advance(50);
  EXPECT_EQ(m.read(box.ctr(0)), expect(0, 100) + expect(133, 50))
      << "events occur while the box is frozen";
}

// The manual clock waits for boxes that would count if software had not frozen them:
// model_held_since() is the time of the last freeze of such a box.
TEST_P(BoxFreeze, HeldSinceTheLastFreezeOfWhatWouldCount) {
  m.now_ns = 1000;
  m.write(box.box_ctl(), box.ones() & (1u << 16));
  m.write(box.box_ctl(), box.ones());
  m.write(box.box_ctl(), box.ones() | kFrz);
  EXPECT_EQ(model_held_since(m.model()), 0u) << "it has nothing to count";
  m.now_ns = 2000;
  m.program(box, 0, kEn | box.event());
  EXPECT_EQ(model_held_since(m.model()), 1000u);
  m.write(box.box_ctl(), box.ones() | kFrz);
  EXPECT_EQ(model_held_since(m.model()), 1000u) << "it is frozen already";
  m.wrmsr(kGlobalCtl, kFrzAll);
  EXPECT_EQ(model_held_since(m.model()), 2000u) << "and its package, later";
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_EQ(model_held_since(m.model()), 1000u);
  m.write(box.box_ctl(), box.ones());
  EXPECT_EQ(model_held_since(m.model()), 0u);
}

// §2.1.3 a), §2.1.4 d): frz_all and unfrz_all
TEST_P(BoxControl, GlobalFreezeStopsCountingOfItsPackage) {
  m.program(box, 0, kEn | box.event(), 0);
  m.program(box, 0, kEn | box.event(), 1);
  m.advance(10);
  m.wrmsr(kGlobalCtl, kFrzAll);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_FALSE(model_frozen(m.model(), 1));
  m.advance(25);
  EXPECT_EQ(m.read(box.ctr(0), 0), expect(0, 10));
  EXPECT_EQ(m.read(box.ctr(0), 1), expect(0, 35));
  m.wrmsr(kGlobalCtl, 0);
  EXPECT_TRUE(model_frozen(m.model(), 0)) << "only unfrz_all unfreezes";
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  m.advance(40);
  EXPECT_EQ(m.read(box.ctr(0), 0), expect(0, 10) + expect(35, 40));
}

TEST_P(BoxFreeze, GlobalUnfreezeLeavesBoxFreezeAlone) {
  m.program(box, 0, kEn | box.event());
  m.write(box.box_ctl(), kFrz);
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  m.advance(50);
  EXPECT_EQ(m.read(box.ctr(0)), 0u);
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.write(box.box_ctl(), 0);
  m.advance(50);
  EXPECT_EQ(m.read(box.ctr(0)), 0u) << "and the other way round";
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  m.advance(50);
  EXPECT_EQ(m.read(box.ctr(0)), expect(100, 50));
}

// "If accessible, software can continuously read the data registers without
// disabling event collection."; counters are RW-V
TEST_P(BoxControl, CountersCanBeReadAndWrittenWhileCounting) {
  m.program(box, 0, kEn | box.event());
  for (u64 t = 0; t < 40; ++t) {
    EXPECT_EQ(m.read(box.ctr(0)), expect(0, t));
    m.advance(1);
  }
  m.write(box.ctr(0), 1000);
  m.advance(100);
  EXPECT_EQ(m.read(box.ctr(0)), 1000 + expect(40, 100));
}

TEST_P(FixedCounting, FixedCounterCountsEveryCycle) {
  m.advance(5);
  EXPECT_EQ(m.read(box.fixed_ctr()), 0u);
  m.write(box.fixed_ctl(), kEn);
  m.advance(1ull << 40);
  EXPECT_EQ(m.read(box.fixed_ctr()), 1ull << 40);
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.advance(7);
  EXPECT_EQ(m.read(box.fixed_ctr()), 1ull << 40);
  m.wrmsr(kGlobalCtl, kUnfrzAll);
  m.write(box.fixed_ctl(), 0);
  m.advance(7);
  EXPECT_EQ(m.read(box.fixed_ctr()), 1ull << 40);
}

// --- errata ---------------------------------------------------------------

TEST_P(BoxControl, EventSelectTakesHoldOnTheSecondWriteWhereTheManualSaysSo) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.ctl(i), umask(0x40) | 0x05);
    EXPECT_EQ(m.read(box.ctl(i)) & 0xff, needs_two_writes(box) ? 0u : 5u);
    EXPECT_EQ(m.read(box.ctl(i)) >> 8, 0x40u) << "other fields take at once";
    m.write(box.ctl(i), kEn | umask(0x40) | 0x05);
    EXPECT_EQ(m.read(box.ctl(i)), kEn | umask(0x40) | 0x05);
    m.write(box.ctl(i), 0x05);
    EXPECT_EQ(m.read(box.ctl(i)), 0x05u) << "no new event, no second write";
  }
}

TEST_P(WrittenTwice, TwoWritesMustBeInARowAndOfOneEvent) {
  m.write(box.ctl(0), 0x05);
  m.write(box.ctl(1), 0x05);
  m.write(box.ctl(0), 0x05);
  EXPECT_EQ(m.read(box.ctl(0)), 0u) << "another register between";
  m.write(box.ctl(0), 0x05);
  EXPECT_EQ(m.read(box.ctl(0)), 0x05u);
  m.write(box.ctl(0), 0x06);
  m.write(box.ctl(0), 0x07);
  EXPECT_EQ(m.read(box.ctl(0)), 0x05u) << "another event";
  m.write(box.ctl(0), 0x06);
  m.write(box.box_ctl(), box.ones() & (1u << 16));
  m.write(box.ctl(0), 0x06);
  EXPECT_EQ(m.read(box.ctl(0)), 0x05u);
  m.read(box.ctr(0));
  m.write(box.ctl(0), 0x06);
  EXPECT_EQ(m.read(box.ctl(0)), 0x06u) << "a read between has no effect";
}

TEST(Errata, AfterOneWriteTheOldEventIsCounted) {
  Machine m;
  const Box box{R2PCIE, 0};
  m.write(box.ctl(0), kEn | 0x01);
  m.advance(100);
  EXPECT_EQ(m.read(box.ctr(0)), 0u) << "event 0 is none";
  m.write(box.ctl(0), kEn | 0x01);
  m.advance(100);
  EXPECT_EQ(m.read(box.ctr(0)), 100u);
}

// §2.9.2.2 NOTE: "the bit doesn't self-clear after being written. It will be
// necessary to write the bit to 0 ... to ensure the counter isn't
// continuously reset"
TEST(Errata, QpiRstHoldsTheCounterAtZero) {
  Machine m;
  for (unsigned port = 0; port < 3; ++port) {
    const Box box{QPI, port};
    m.write(box.ctr(0), 500);
    m.write(box.ctl(0), kRst | kEn | 0x14);
    EXPECT_EQ(m.read(box.ctl(0)), kEn | 0x14) << "WO";
    EXPECT_EQ(m.read(box.ctr(0)), 0u);
    m.advance(100);
    EXPECT_EQ(m.read(box.ctr(0)), 0u);
    m.write(box.ctr(0), 5);
    EXPECT_EQ(m.read(box.ctr(0)), 0u) << "continuously reset";
    m.write(box.ctl(0), kEn | 0x14);
    m.advance(100);
    EXPECT_EQ(m.read(box.ctr(0)), 100u);
    m.write(box.box_ctl(), kOnes | kRstCtrs);
    m.advance(10);
    EXPECT_EQ(m.read(box.ctr(0)), 10u) << "\"else use the .rst_ctrs\"";
  }
}

TEST(Errata, QpiRstIsGoneWithRstCtrl) {
  Machine m;
  const Box box{QPI, 0};
  m.write(box.ctl(0), kRst);
  m.write(box.box_ctl(), kOnes | kRstCtrl);
  m.write(box.ctr(0), 5);
  EXPECT_EQ(m.read(box.ctr(0)), 5u);
}

TEST_P(SelfClearing, RstOfOtherBoxesClearsItself) {
  m.program(box, 0, kEn | box.event());
  m.advance(100);
  m.write(box.ctl(0), kRst | kEn | box.event());
  m.advance(100);
  EXPECT_EQ(m.read(box.ctr(0)), expect(100, 100));
}

// A write that sets two new bits of an SBo's box control is a known cause of #GP.
TEST(Errata, SboBoxControlTakesOneNewBitAWrite) {
  Machine m;
  for (unsigned i = 0; i < 4; ++i) {
    const Reg ctl = Box{SBOX, i}.box_ctl();
    m.write(Box{SBOX, i}.ctr(0), 5);
    EXPECT_EQ(m.write(ctl, kRstCtrl | kRstCtrs), MODEL_GP);
    EXPECT_EQ(m.read(Box{SBOX, i}.ctr(0)), 5u) << "it did not take";
    EXPECT_EQ(m.write(ctl, kOnes), MODEL_GP);
    EXPECT_EQ(m.write(ctl, 1u << 16), MODEL_OK);
    EXPECT_EQ(m.write(ctl, kOnes), MODEL_OK);
    EXPECT_EQ(m.write(ctl, kOnes | kRstCtrl), MODEL_OK);
    EXPECT_EQ(m.write(ctl, kOnes | kRstCtrl | kRstCtrs), MODEL_OK);
    EXPECT_EQ(m.read(Box{SBOX, i}.ctr(0)), 0u);
    EXPECT_EQ(m.write(ctl, kOnes | kFrz), MODEL_OK) << "others may go";
    EXPECT_EQ(m.write(ctl, 0), MODEL_OK);
    EXPECT_EQ(m.write(ctl, kFrz), MODEL_OK);
  }
}

TEST_P(ManyBitsAtOnce, OtherBoxControlsTakeAnything) {
  EXPECT_EQ(m.write(box.box_ctl(), kOnes | kFrz | kRstCtrs | kRstCtrl),
            MODEL_OK);
}

// --- free-running counters -------------------------------------------------

// §2.8.2.2, Tables 1-2 and 2-161 to 2-164: 64 bits, "can't be frozen or reset",
// RO "The values can not be altered by SW."
TEST(FreeRunning, PcuResidencies) {
  Machine m;
  const Box pcu{PCU, 0};
  for (u32 msr : {0x3f8u, 0x3f9u, 0x60du}) {
    EXPECT_EQ(m.rdmsr(msr), 0u);
    EXPECT_EQ(m.wrmsr(msr, 5), MODEL_GP);
  }
  m.advance(1000);
  m.wrmsr(kGlobalCtl, kFrzAll);
  m.write(pcu.box_ctl(), kOnes | kFrz | kRstCtrs | kRstCtrl);
  m.advance(1ull << 50);
  for (u32 msr : {0x3f8u, 0x3f9u, 0x60du})
    EXPECT_EQ(m.rdmsr(msr), 1000 + (1ull << 50));
  EXPECT_TRUE(m.read(pcu.status()) == 0) << "48 bits are not their end";
}

// §2.9.2.4, Tables 2-178 and 2-179: 32 bits, RW
TEST(FreeRunning, QpiLinkCounters) {
  Machine m;
  for (unsigned device : {8u, 9u, 10u}) {
    for (unsigned at : {0xc8u, 0xd0u}) {
      const u32 before = m.pci_read(devfn(device, 2), at);
      m.wrmsr(kGlobalCtl, kFrzAll);
      m.advance(1234);
      EXPECT_EQ(m.pci_read(devfn(device, 2), at), before + 1234);
      m.pci_write(devfn(device, 2), at, 0xfffffff0);
      m.advance(0x20);
      EXPECT_EQ(m.pci_read(devfn(device, 2), at), 0x10u) << "32 bits";
      m.pci_write(devfn(device, 2), at + 1, 0x01, 1);
      EXPECT_EQ(m.pci_read(devfn(device, 2), at), 0x110u);
      EXPECT_EQ(m.pci_read(devfn(device, 2), at + 4), 0u);
    }
  }
}

}  // namespace
}  // namespace test
