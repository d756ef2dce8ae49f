// SPDX-License-Identifier: GPL-2.0-or-later
// MSR space (Table 1-2): which addresses the model claims, and the global registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "machine.h"

namespace test {
namespace {

// Ranges of Table 1-2 as printed, without MSRs 0x3fc and 0x3fd: in the SDM these two
// residencies belong to a core and not to the package
TEST(MsrSpace, ClaimsExactlyTable1_2) {
  Machine m;
  std::vector<std::pair<u32, u32>> ranges = {
      {0x700, 0x702},                                  // global
      {0x703, 0x70a},                                  // UBox
      {0x710, 0x71a},                                  // PCU
      {0x720, 0x729}, {0x72a, 0x733},                  // SBo 0, 1
      {0x734, 0x73d}, {0x73e, 0x747},                  // SBo 2, 3
      {0x3f8, 0x3f9}, {0x60d, 0x60d},                  // residency
  };
  for (u32 cbox = 0; cbox < 18; ++cbox)
    ranges.emplace_back(0xe00 + 16 * cbox, 0xe0b + 16 * cbox);

  for (u32 msr = 0; msr < 0x2000; ++msr) {
    const bool expected = std::ranges::any_of(ranges, [&](const auto& r) {
      return msr >= r.first && msr <= r.second;
    });
    EXPECT_EQ(model_msr_claims(m.model(), msr), expected) << std::hex << msr;
    u64 value;
    EXPECT_EQ(model_msr_read(m.model(), 0, msr, &value) == MODEL_OK, expected)
        << std::hex << msr;
    if (!expected) {
      EXPECT_EQ(m.wrmsr(msr, 0), MODEL_NOT_MINE);
    }
  }
  EXPECT_FALSE(model_msr_claims(m.model(), 0xc0000080));
}

TEST(MsrSpace, AbsentBoxesAndPackagesAreNotMine) {
  model_config config = kFull;
  config.packages = 1;
  set_boxes(config, "cbox", 8);
  set_boxes(config, "sbox", 2);
  Machine m(config);
  u64 value;
  EXPECT_TRUE(model_msr_claims(m.model(), 0xe70));
  EXPECT_FALSE(model_msr_claims(m.model(), 0xe80));
  EXPECT_TRUE(model_msr_claims(m.model(), 0x733));
  EXPECT_FALSE(model_msr_claims(m.model(), 0x734));
  EXPECT_EQ(model_msr_read(m.model(), 1, 0xe00, &value), MODEL_NOT_MINE);
  EXPECT_EQ(m.wrmsr(0xe00, 0, 1), MODEL_NOT_MINE);
}

TEST(MsrSpace, OnlyGlobalStatusAndReadsOfGlobalControlAreLockless) {
  Machine m;
  for (u32 msr = 0; msr < 0x1000; ++msr) {
    EXPECT_EQ(model_msr_lockless(m.model(), msr, false),
              msr == kGlobalStatus || msr == kGlobalCtl);
    EXPECT_EQ(model_msr_lockless(m.model(), msr, true), msr == kGlobalStatus);
  }
}

// Table 2-2
TEST(GlobalRegisters, ControlFields) {
  Machine m;
  EXPECT_EQ(m.rdmsr(kGlobalCtl), 0u);
  m.wrmsr(kGlobalCtl, 0xffffffff & ~(3u << 27));
  EXPECT_EQ(m.rdmsr(kGlobalCtl), kWakeOnPmi | 0x3ffff)
      << "frz_all and unfrz_all are WO, 26:18 RV";
  EXPECT_TRUE(m.undefined.empty());
  m.wrmsr(kGlobalCtl, 1u << 27);
  m.wrmsr(kGlobalCtl, 1u << 28);
  EXPECT_EQ(m.undefined.size(), 2u);
  EXPECT_EQ(m.rdmsr(kGlobalCtl), 0u);
  EXPECT_EQ(m.rdmsr(kGlobalCtl, 1), 0u);
}

// Table 2-4
TEST(GlobalRegisters, ConfigNumC) {
  Machine m;
  EXPECT_EQ(m.rdmsr(kGlobalConfig), 18u);
  m.wrmsr(kGlobalConfig, 0xffffffff);
  EXPECT_EQ(m.rdmsr(kGlobalConfig), 31u) << "4:0 RW, others RV";

  model_config config = kFull;
  set_boxes(config, "cbox", 12);
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 12u);
  config.num_c = 31;
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 31u);
  config.num_c = 0;
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 0u);
}

}  // namespace
}  // namespace test
