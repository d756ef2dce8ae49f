// SPDX-License-Identifier: GPL-2.0-or-later
// Quirks: leftover register state, PCI functions that are missing or duplicate, and
// errata in their strict reading.
#include <gtest/gtest.h>

#include "reference.h"

namespace test {
namespace {

constexpr u64 kTop = 1ull << 48;
constexpr u32 kAbsent = 0xffffffff;

/* --- leftover register state --------------------------------------------- */

class LeftBehind : public testing::Test {
 protected:
  void leave(u32 state) { model_make_dirty(m.model(), state); }
  const Box ha{HA, 1}, pcu{PCU, 0}, cbox{CBOX, 17};
  Machine m;
};

TEST_F(LeftBehind, NothingIsNothing) {
  leave(0);
  EXPECT_TRUE(m.dirty().empty());
}

TEST_F(LeftBehind, FrozenUntilUnfrozen) {
  leave(MODEL_DIRTY_FREEZE);
  m.program(cbox, 0, kEn, 1);
  m.advance(100);
  EXPECT_EQ(m.read(cbox.ctr(0), 1), 0u);
  m.wrmsr(kGlobalCtl, kUnfrzAll, 1);
  m.advance(100);
  EXPECT_EQ(m.read(cbox.ctr(0), 1), 100u);
  EXPECT_EQ(model_frozen_ns(m.model()), 0u) << "no overflow did it";
}

// A status bit that is set already prevents the freeze of the next overflow (§2.2.1.1).
TEST_F(LeftBehind, StaleStatusHidesOverflows) {
  leave(MODEL_DIRTY_STATUS);
  EXPECT_EQ(m.read(ha.status()), 0xfu);
  EXPECT_EQ(m.rdmsr(kGlobalStatus) & ha.global_bits(), ha.global_bits());
  m.wrmsr(kGlobalCtl, 1);
  m.write(ha.ctr(0), kTop - 10);
  m.program(ha, 0, kEn | kOvEn);
  m.advance(100);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  EXPECT_TRUE(m.pmis.empty());
  m.write(ha.status(), 0xf);
  m.wrmsr(kGlobalStatus, ha.global_bits());
  m.write(ha.ctr(0), kTop - 10);
  m.advance(100);
  EXPECT_TRUE(model_frozen(m.model(), 0));
}

// Leftover counters are enabled and can signal. A driver that writes all ones to find the
// width of such a counter makes it overflow.
TEST_F(LeftBehind, CountersRunAndTell) {
  leave(MODEL_DIRTY_COUNTERS);
  for (const Box& box : all_boxes()) {
    const u64 ctl = m.read(box.ctl(0));
    EXPECT_TRUE(ctl & kEn) << box.name();
    EXPECT_EQ(!!(ctl & kOvEn), box.has_ov_en()) << box.name();
    const u64 before = m.read(box.ctr(0));
    m.advance(100);
    EXPECT_GT(m.read(box.ctr(0)), before) << box.name();
  }
  EXPECT_FALSE(model_frozen(m.model(), 0)) << "far from their overflow";
  m.write(pcu.ctr(0), kTop - 1);
  m.advance(100);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  EXPECT_EQ(m.read(pcu.status()), 1u);
  EXPECT_NE(m.rdmsr(0xe05), 0u) << "filter 0 of cbox_0";
}

TEST_F(LeftBehind, PmisGoToAllCores) {
  leave(MODEL_DIRTY_CORES | MODEL_DIRTY_COUNTERS);
  m.write(ha.ctr(0), kTop - 1);
  m.advance(100);
  ASSERT_EQ(m.pmis.size(), 1u);
  EXPECT_EQ(m.pmis[0].cores, 0x3ffffu);
  EXPECT_TRUE(m.pmis[0].wake);
}

TEST_F(LeftBehind, BoxesAreFrozen) {
  leave(MODEL_DIRTY_BOXES);
  m.program(ha, 0, kEn);
  m.advance(100);
  EXPECT_EQ(m.read(ha.ctr(0)), 0u);
  m.write(ha.box_ctl(), ha.ones());
  m.advance(100);
  EXPECT_EQ(m.read(ha.ctr(0)), 100u);
}

TEST_F(LeftBehind, AResetCleans) {
  leave(~0u);
  EXPECT_FALSE(m.dirty().empty());
  model_reset(m.model());
  EXPECT_TRUE(m.dirty().empty());
}

/* --- missing parts -------------------------------------------------------- */

model_config lacks(u32 first, u32 second) {
  model_config config = kFull;
  config.missing[0] = first;
  config.missing[1] = second;
  return config;
}

TEST(Missing, FunctionsOfOnePackage) {
  Machine m(lacks(0, MODEL_MISSING_QPI_FILTERS | MODEL_MISSING_CAPID |
                         MODEL_MISSING_UBOX));
  for (unsigned at : {devfn(8, 6), devfn(9, 6), devfn(10, 6), devfn(30, 3),
                      devfn(16, 5)}) {
    EXPECT_NE(m.pci_read(at, 0), kAbsent) << at;
    EXPECT_EQ(m.pci_read(at, 0, 4, 1), kAbsent) << at;
  }
  EXPECT_NE(m.pci_read(devfn(8, 2), 0, 4, 1), kAbsent) << "the port itself";
}

TEST(Missing, ConfigurationSpaceAbove0xff) {
  Machine m(lacks(MODEL_MISSING_EXTENDED, 0));
  EXPECT_NE(m.pci_read(devfn(8, 6), 0), kAbsent);
  EXPECT_EQ(m.pci_read(devfn(8, 6), 0x228), kAbsent);
  EXPECT_EQ(m.pci_read(devfn(8, 6), 0x228, 4, 1), 0u);
  EXPECT_TRUE(model_pci_reachable(m.model(), 0, 0xff));
  EXPECT_FALSE(model_pci_reachable(m.model(), 0, 0x100));
  EXPECT_TRUE(model_pci_reachable(m.model(), 1, 0x100));
  m.pci_write(devfn(8, 6), 0x228, 0x8);
  EXPECT_TRUE(m.dirty().empty()) << "a write goes nowhere";
}

TEST(Twice, TheSecondFunctionIsTheSameBox) {
  Machine m;
  EXPECT_EQ(m.pci_read(devfn(22, 0), 0), kAbsent);
  model_second_function(m.model(), m.type(IMC), 2);
  EXPECT_EQ(m.pci_read(devfn(22, 0), 0), m.pci_read(devfn(21, 0), 0));
  m.pci_write(devfn(22, 0), 0xd8, kEn);
  EXPECT_EQ(m.pci_read(devfn(21, 0), 0xd8), kEn);
}

/* --- errata and widths ---------------------------------------------------- */

model_config strict() {
  model_config config = kFull;
  config.write_whole = 1;
  config.counter_bits = 44;
  config.counter_gp = 1;
  return config;
}

// §2.4.1, §2.11.1: "write the ... control registers twice with the same value
// to ensure that the value is recorded in the register"
TEST(WriteWhole, RecordsAValueThatIsWrittenTwice) {
  Machine m(strict());
  for (const Box& box : {Box{SBOX, 2}, Box{R3QPI, 1}}) {
    const u32 ctl = kEn | 0x05 | umask(3);
    m.write(box.ctl(1), ctl & ~kEn);
    m.write(box.ctl(1), ctl);
    EXPECT_EQ(m.read(box.ctl(1)), 0u) << box.name() << ": not the same value";
    m.write(box.ctl(1), ctl);
    EXPECT_EQ(m.read(box.ctl(1)), ctl) << box.name();
    m.write(box.ctl(1), ctl & ~kEn);
    EXPECT_EQ(m.read(box.ctl(1)), ctl) << box.name() << ": still enabled";
    m.write(box.ctl(0), 0);
    m.write(box.ctl(1), ctl & ~kEn);
    EXPECT_EQ(m.read(box.ctl(1)), ctl) << box.name() << ": not in a row";
    m.write(box.ctl(1), ctl & ~kEn);
    EXPECT_EQ(m.read(box.ctl(1)), ctl & ~kEn) << box.name();
  }
}

// In R2PCIe only the event select needs the second write (§2.10.2.2).
TEST(WriteWhole, NotOfR2pcie) {
  Machine m(strict());
  const Box r2pcie{R2PCIE, 0};
  m.write(r2pcie.ctl(0), 0x05);
  m.write(r2pcie.ctl(0), kEn | 0x05);
  EXPECT_EQ(m.read(r2pcie.ctl(0)), kEn | 0x05);
}

TEST(CounterGp, BitsAbove43Fault) {
  Machine m(strict());
  for (const Box& box : {Box{SBOX, 0}, Box{UBOX, 0}}) {
    EXPECT_EQ(m.write(box.ctr(0), 1ull << 44), MODEL_GP) << box.name();
    EXPECT_EQ(m.read(box.ctr(0)), 0u) << box.name();
    EXPECT_EQ(m.write(box.ctr(0), (1ull << 44) - 1), MODEL_OK);
    EXPECT_EQ(m.read(box.ctr(0)), (1ull << 44) - 1);
  }
  EXPECT_EQ(m.write(Box{CBOX, 0}.ctr(0), kTop - 1), MODEL_OK);
  EXPECT_EQ(m.write(Box{UBOX, 0}.fixed_ctr(), kTop - 1), MODEL_OK);
}

// Table 1-2
TEST(Residencies, OfThePackageAreReadOnly) {
  Machine m;
  m.advance(1000);
  for (u32 msr : {0x3f8u, 0x3f9u, 0x60du}) {
    EXPECT_EQ(m.rdmsr(msr), 1000u) << std::hex << msr;
    EXPECT_EQ(m.wrmsr(msr, 0), MODEL_GP) << std::hex << msr;
  }
}

}  // namespace
}  // namespace test
