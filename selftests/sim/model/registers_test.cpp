// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of a box: every address, and every attribute of every field (RW, WO, RW1C,
// RV), of chapters 2.1 to 2.11. filters_test.cpp has the filters.
#include <gtest/gtest.h>

#include "machine.h"

namespace test {
namespace {

// RW fields of a general counter's control register.
u32 ctl_fields(const Box& box) {
  constexpr u32 common = 0xffff | kEdge | kEn | kInvert;
  switch (box.box_type) {
    case UBOX:  // Table 2-7
      return common | kOvEn | 0x1f000000;
    case CBOX:  // Table 2-16
    case SBOX:  // Table 2-47
      return common | kTidEn | 0xff000000;
    case PCU:  // Table 2-158
      return 0xff | 0xc000 | kEdge | kOvEn | kExt | kEn | kInvert | 0x1f000000 |
             kOccInvert | kOccEdge;
    case QPI:  // Table 2-170
      return common | kOvEn | kExt | 0xff000000;
    default:  // Tables 2-63, 2-114, 2-147, 2-215, 2-232
      return common | kOvEn | 0xff000000;
  }
}

// Reserved bits of a general counter's control register that must be written as 0.
u32 ctl_must_be_zero(const Box& box) {
  switch (box.box_type) {
    case CBOX:
    case SBOX:
      return 1u << 21 | 1u << 20 | 1u << 16;
    case PCU:
      return 1u << 29 | 0x3f00;
    case QPI:
      return 1u << 16;
    default:
      return 1u << 21 | 1u << 16;
  }
}

// Width of the general counters of a box in a model with narrow counters.
unsigned narrow_bits(const Box& box, unsigned counter_bits) {
  return box.box_type == UBOX || box.box_type == SBOX ||
                 box.box_type == R3QPI
             ? counter_bits
             : 48;
}

class BoxRegisters : public testing::TestWithParam<Box> {
 protected:
  Box box = GetParam();
  Machine m;
};

class FixedCounter : public BoxRegisters {};
class BoxControlRegister : public BoxRegisters {};
class BoxStatus : public BoxRegisters {};

constexpr auto kName = [](const auto& info) { return info.param.name(); };
INSTANTIATE_TEST_SUITE_P(All, BoxRegisters, testing::ValuesIn(all_boxes()),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, FixedCounter,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_fixed();
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, BoxControlRegister,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_box_ctl();
                         })),
                         kName);
INSTANTIATE_TEST_SUITE_P(All, BoxStatus,
                         testing::ValuesIn(all_boxes([](const Box& box) {
                           return box.has_clockticks();
                         })),
                         kName);

// "HW Reset Val" of all tables
TEST_P(BoxRegisters, ReadsZeroAfterReset) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    EXPECT_EQ(m.read(box.ctl(i)), 0u);
    EXPECT_EQ(m.read(box.ctr(i)), 0u);
  }
  EXPECT_EQ(m.read(box.status()), 0u);
  if (box.has_box_ctl()) {
    EXPECT_EQ(m.read(box.box_ctl()), 0u);
  }
  if (box.has_fixed()) {
    EXPECT_EQ(m.read(box.fixed_ctl()), 0u);
    EXPECT_EQ(m.read(box.fixed_ctr()), 0u);
  }
  EXPECT_TRUE(m.dirty().empty());
}

// Tables 2-7, 2-16, 2-47, 2-63, 2-114, 2-147, 2-158, 2-170, 2-215, 2-232
TEST_P(BoxRegisters, ControlKeepsItsFieldsAndNothingElse) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.ctl(i), 0xffffffff);
    m.write(box.ctl(i), 0xffffffff);
    EXPECT_EQ(m.read(box.ctl(i)), ctl_fields(box));
    m.write(box.ctl(i), 0);
    m.write(box.ctl(i), 0);
    EXPECT_EQ(m.read(box.ctl(i)), 0u);
  }
}

TEST_P(BoxRegisters, EachControlAndCounterIsARegisterOfItsOwn) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.program(box, i, 0x31 + i);
    m.write(box.ctr(i), 0x123456789a00 + i);
  }
  for (unsigned i = 0; i < box.counters(); ++i) {
    EXPECT_EQ(m.read(box.ctl(i)), 0x31 + i);
    EXPECT_EQ(m.read(box.ctr(i)), 0x123456789a00 + i);
    EXPECT_EQ(m.read(box.ctl(i), 1), 0u) << "the other package";
    EXPECT_EQ(m.read(box.ctr(i), 1), 0u);
  }
}

// "Reserved. SW must write to 0 else behavior is undefined."
TEST_P(BoxRegisters, ReservedControlBitsAreReported) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    m.undefined.clear();
    m.write(box.ctl(0), 1u << bit);
    const bool reserved = ctl_must_be_zero(box) >> bit & 1;
    EXPECT_EQ(m.undefined.size(), reserved ? 1u : 0u) << "bit " << bit;
  }
}

// .rst: "When set to 1, the corresponding counter will be cleared to 0." (WO)
TEST_P(BoxRegisters, RstClearsItsCounterAndReadsZero) {
  for (unsigned i = 0; i < box.counters(); ++i) m.write(box.ctr(i), 100 + i);
  m.write(box.ctl(1), kRst);
  EXPECT_EQ(m.read(box.ctl(1)), 0u);
  for (unsigned i = 0; i < box.counters(); ++i)
    EXPECT_EQ(m.read(box.ctr(i)), i == 1 ? 0u : 100 + i);
}

// Tables 2-8, 2-17, ..: bits 63:48 are reserved. For some boxes other sources have 44 bits.
TEST_P(BoxRegisters, CountersHave48Bits) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.ctr(i), ~0ull);
    EXPECT_EQ(m.read(box.ctr(i)), (1ull << 48) - 1);
  }
}

TEST_P(BoxRegisters, NarrowCountersHave44Bits) {
  model_config config = kFull;
  config.counter_bits = 44;
  Machine narrow(config);
  for (unsigned i = 0; i < box.counters(); ++i) {
    narrow.write(box.ctr(i), ~0ull);
    EXPECT_EQ(narrow.read(box.ctr(i)), (1ull << narrow_bits(box, 44)) - 1);
  }
}

// Table 2-5 of the E5 manual (327043) has 44 bits for the UBox's fixed counter.
TEST_P(FixedCounter, NarrowOnesWrapAndSignalAtTheirWidth) {
  for (u32 bits : {32u, 44u, 47u}) {
    model_config config = kFull;
    config.fixed_bits = bits;
    Machine narrow(config);
    const u64 top = 1ull << bits;
    narrow.write(box.fixed_ctr(), ~0ull);
    EXPECT_EQ(narrow.read(box.fixed_ctr()), top - 1);
    narrow.write(box.ctr(0), ~0ull);
    EXPECT_EQ(narrow.read(box.ctr(0)), (1ull << 48) - 1) << "a general one";
    narrow.wrmsr(kGlobalCtl, 1);
    narrow.write(box.fixed_ctr(), top - 1000);
    narrow.write(box.fixed_ctl(), kEn | kOvEn);
    EXPECT_EQ(narrow.advance(5000), 1000u);
    EXPECT_EQ(narrow.read(box.fixed_ctr()), 0u);
    EXPECT_EQ(narrow.pmis.size(), 1u);
  }
}

// Tables 2-9, 2-10, 2-115, 2-116
TEST_P(FixedCounter, Fields) {
  m.write(box.fixed_ctl(), 0xffffffff);
  EXPECT_EQ(m.read(box.fixed_ctl()),
            kEn | kOvEn | (box.box_type == IMC ? kInvert : 0));
  EXPECT_EQ(m.undefined.size(), 1u) << "bit 21";
  m.write(box.fixed_ctl(), 0);
  m.write(box.fixed_ctr(), ~0ull);
  EXPECT_EQ(m.read(box.fixed_ctr()), (1ull << 48) - 1);
  m.write(box.fixed_ctl(), kRst);
  EXPECT_NE(m.read(box.fixed_ctr()), 0u) << "17 is not its reset bit";
  m.write(box.fixed_ctl(), 1u << 19);
  if (box.box_type == IMC) {
    EXPECT_EQ(m.read(box.fixed_ctr()), 0u);
    EXPECT_EQ(m.read(box.fixed_ctl()), 0u);
  } else {
    EXPECT_NE(m.read(box.fixed_ctr()), 0u) << "the UBox's has no .rst";
  }
}

// Tables 2-14, 2-45, 2-61, ..: .frz, .rst_ctrs, .rst_ctrl are WO, others RV
TEST_P(BoxControlRegister, BoxControlReadsZero) {
  u32 value = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    value |= 1u << bit;
    EXPECT_EQ(m.write(box.box_ctl(), value), MODEL_OK);
    EXPECT_EQ(m.read(box.box_ctl()), 0u);
  }
}

// "When set to 1, the Counter Registers will be reset to 0."
TEST_P(BoxControlRegister, RstCtrsResetsAllCountersButNoControl) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.program(box, i, 0x42);
    m.write(box.ctr(i), 77);
  }
  if (box.has_fixed()) m.write(box.fixed_ctr(), 77);
  m.write(box.box_ctl(), kRstCtrs);
  for (unsigned i = 0; i < box.counters(); ++i) {
    EXPECT_EQ(m.read(box.ctr(i)), 0u);
    EXPECT_EQ(m.read(box.ctl(i)), 0x42u);
  }
  if (box.has_fixed()) {
    EXPECT_EQ(m.read(box.fixed_ctr()), 0u);
  }
  // .rst_ctrs acts when it is written, and not on later writes of a counter
  m.write(box.ctr(0), 78);
  EXPECT_EQ(m.read(box.ctr(0)), 78u);
}

// "When set to 1, the Counter Control Registers will be reset to 0."
TEST_P(BoxControlRegister, RstCtrlResetsAllControlsButNoCounter) {
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.program(box, i, 0x42);
    m.write(box.ctr(i), 77);
  }
  if (box.has_fixed()) m.write(box.fixed_ctl(), kOvEn);
  m.write(box.box_ctl(), kRstCtrl);
  for (unsigned i = 0; i < box.counters(); ++i) {
    EXPECT_EQ(m.read(box.ctl(i)), 0u);
    EXPECT_EQ(m.read(box.ctr(i)), 77u);
  }
  if (box.has_fixed()) {
    EXPECT_EQ(m.read(box.fixed_ctl()), 0u);
  }
}

// "Reserved; SW must write to 1 else behavior is undefined." (17:16)
TEST_P(BoxControlRegister, WithoutBits17And16IsReported) {
  const size_t wrong = box.ones() ? 1 : 0;
  m.write(box.box_ctl(), 0);
  EXPECT_EQ(m.undefined.size(), wrong);
  m.write(box.box_ctl(), kFrz);
  EXPECT_EQ(m.undefined.size(), 2 * wrong);
  EXPECT_EQ(m.dirty().size(), 1u) << "and the write takes all the same";
}

TEST_P(BoxControlRegister, WithBits17And16IsNotReported) {
  if (box.box_type == SBOX) m.write(box.box_ctl(), 1u << 16);
  EXPECT_TRUE(m.undefined.empty()) << "it takes one new bit a write";
  m.write(box.box_ctl(), kOnes);
  m.write(box.box_ctl(), kOnes | kFrz);
  m.write(box.box_ctl(), kOnes);
  EXPECT_TRUE(m.undefined.empty());
}

// Tables 2-6, 2-15, 2-46, 2-62, ..: ov is RW1C, "Write of `1' will clear"
TEST_P(BoxStatus, StatusBitsSetByOverflowAndClearedByOnes) {
  u32 bits = 0;
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.ctr(i), (1ull << 48) - 5);
    m.program(box, i, kEn | box.event());
    bits |= box.status_bit(i);
  }
  m.advance(4);
  EXPECT_EQ(m.read(box.status()), 0u);
  m.advance(1);
  EXPECT_EQ(m.read(box.status()), bits);
  m.write(box.status(), 0);
  EXPECT_EQ(m.read(box.status()), bits) << "zeros do nothing";
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.status(), box.status_bit(i));
    bits &= ~box.status_bit(i);
    EXPECT_EQ(m.read(box.status()), bits);
  }
  EXPECT_TRUE(m.pmis.empty()) << "no ov_en, no message";
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
}

TEST_P(BoxRegisters, StatusHasNoOtherBitsAndReservedOnesAreReported) {
  u32 reserved = 0;
  switch (box.box_type) {
    case HA:   // Table 2-62
    case QPI:  // Table 2-169
      reserved = 1u << 4;
      break;
    case IMC:  // Table 2-113
      reserved = 1u << 5;
      break;
    case R3QPI:  // Table 2-231
      reserved = 1u << 3;
      break;
    default:
      break;
  }
  for (unsigned bit = 0; bit < 32; ++bit) {
    m.undefined.clear();
    m.write(box.status(), 1u << bit);
    EXPECT_EQ(m.undefined.size(), reserved >> bit & 1) << "bit " << bit;
    EXPECT_EQ(m.read(box.status()), 0u);
  }
}

}  // namespace
}  // namespace test
