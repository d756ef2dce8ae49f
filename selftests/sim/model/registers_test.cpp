// SPDX-License-Identifier: GPL-2.0-or-later
// Registers: every address, and every attribute of every field (RW, WO, RW1C,
// RV), of chapters 1.6 and 2.1 to 2.11.
#include <gtest/gtest.h>

#include <algorithm>

#include "machine.h"

namespace test {
namespace {

// RW fields of a general counter's control register.
u32 ctl_fields(const Box& box) {
  constexpr u32 common = 0xffff | kEdge | kEn | kInvert;
  switch (box.box_type) {
    case MODEL_UBOX:  // Table 2-7
      return common | kOvEn | 0x1f000000;
    case MODEL_CBOX:  // Table 2-16
    case MODEL_SBOX:  // Table 2-47
      return common | kTidEn | 0xff000000;
    case MODEL_PCU:  // Table 2-158
      return 0xff | 0xc000 | kEdge | kOvEn | kExt | kEn | kInvert | 0x1f000000 |
             kOccInvert | kOccEdge;
    case MODEL_QPI:  // Table 2-170
      return common | kOvEn | kExt | 0xff000000;
    default:  // Tables 2-63, 2-114, 2-147, 2-215, 2-232
      return common | kOvEn | 0xff000000;
  }
}

// Bits of it that the manual wants written as 0.
u32 ctl_must_be_zero(const Box& box) {
  switch (box.box_type) {
    case MODEL_CBOX:
    case MODEL_SBOX:
      return 1u << 21 | 1u << 20 | 1u << 16;
    case MODEL_PCU:
      return 1u << 29 | 0x3f00;
    case MODEL_QPI:
      return 1u << 16;
    default:
      return 1u << 21 | 1u << 16;
  }
}

unsigned narrow_bits(const Box& box, unsigned counter_bits) {
  return box.box_type == MODEL_UBOX || box.box_type == MODEL_SBOX ||
                 box.box_type == MODEL_R3QPI
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

// Tables 2-8, 2-17, ..: bits 63:48 are reserved; 44 where sources disagree
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

// Table 2-5 of the E5 manual (327043) has 44 bits for the UBox's.
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
            kEn | kOvEn | (box.box_type == MODEL_IMC ? kInvert : 0));
  EXPECT_EQ(m.undefined.size(), 1u) << "bit 21";
  m.write(box.fixed_ctl(), 0);
  m.write(box.fixed_ctr(), ~0ull);
  EXPECT_EQ(m.read(box.fixed_ctr()), (1ull << 48) - 1);
  m.write(box.fixed_ctl(), kRst);
  EXPECT_NE(m.read(box.fixed_ctr()), 0u) << "17 is not its reset bit";
  m.write(box.fixed_ctl(), 1u << 19);
  if (box.box_type == MODEL_IMC) {
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
  // it acts when written and does not stay
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
  if (box.box_type == MODEL_SBOX) m.write(box.box_ctl(), 1u << 16);
  EXPECT_TRUE(m.undefined.empty()) << "it takes one new bit a write";
  m.write(box.box_ctl(), kOnes);
  m.write(box.box_ctl(), kOnes | kFrz);
  m.write(box.box_ctl(), kOnes);
  EXPECT_TRUE(m.undefined.empty());
}

// Tables 2-6, 2-15, 2-46, 2-62, ..: ov is RW1C, "Write of `1' will clear"
TEST_P(BoxStatus, StatusBitsSetByOverflowAndClearedByOnes) {
  u32 all = 0;
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.ctr(i), (1ull << 48) - 5);
    m.program(box, i, kEn | box.event());
    all |= box.status_bit(i);
  }
  m.advance(4);
  EXPECT_EQ(m.read(box.status()), 0u);
  m.advance(1);
  EXPECT_EQ(m.read(box.status()), all);
  m.write(box.status(), 0);
  EXPECT_EQ(m.read(box.status()), all) << "zeros do nothing";
  for (unsigned i = 0; i < box.counters(); ++i) {
    m.write(box.status(), box.status_bit(i));
    all &= ~box.status_bit(i);
    EXPECT_EQ(m.read(box.status()), all);
  }
  EXPECT_TRUE(m.pmis.empty()) << "no ov_en, no message";
  EXPECT_EQ(m.rdmsr(kGlobalStatus), 0u);
}

TEST_P(BoxRegisters, StatusHasNoOtherBitsAndReservedOnesAreReported) {
  u32 reserved = 0;
  switch (box.box_type) {
    case MODEL_HA:   // Table 2-62
    case MODEL_QPI:  // Table 2-169
      reserved = 1u << 4;
      break;
    case MODEL_IMC:  // Table 2-113
      reserved = 1u << 5;
      break;
    case MODEL_R3QPI:  // Table 2-231
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

// --- MSR space ------------------------------------------------------------

// Table 1-2, with each range as printed, except 0x3fc and 0x3fd: the SDM has these
// residencies in each core, not in the package
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
  config.cboxes = 8;
  config.sboxes = 2;
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
  config.cboxes = 12;
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 12u);
  config.num_c = 31;
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 31u);
  config.num_c = 0;
  EXPECT_EQ(Machine(config).rdmsr(kGlobalConfig), 0u);
}

// Tables 2-18 and 2-19, with link and c6
TEST(CboFilters, Fields) {
  Machine m;
  for (u32 cbox = 0; cbox < 18; ++cbox) {
    const u32 base = 0xe00 + 16 * cbox;
    m.wrmsr(base + 5, 0x00fe01ff);
    m.wrmsr(base + 6, 0xfff0ffff);
    EXPECT_EQ(m.rdmsr(base + 5), 0x00fe01ffu);
    EXPECT_EQ(m.rdmsr(base + 6), 0xfff0ffffu);
    EXPECT_TRUE(m.undefined.empty());
  }
  m.wrmsr(0xe05, 0xffffffff);
  m.wrmsr(0xe06, 0xffffffff);
  EXPECT_EQ(m.undefined.size(), 1u) << "FILTER0 31:24 and 16:9";
  EXPECT_EQ(m.rdmsr(0xe05), 0x00fe01ffu);
  EXPECT_EQ(m.rdmsr(0xe06), 0xfff0ffffu);
}

TEST(UboxFilter, Fields) {
  Machine m;
  m.wrmsr(0x707, 0xffffffff);
  EXPECT_EQ(m.rdmsr(0x707), 0x3fu);
}

// Table 2-160
TEST(PcuFilter, Fields) {
  Machine m;
  m.wrmsr(0x715, ~0ull);
  EXPECT_EQ(m.rdmsr(0x715), 0xffffffffu);
}

// Tables 2-65 to 2-67
TEST(HaFilters, Fields) {
  Machine m;
  for (unsigned fn : {1u, 5u}) {
    for (unsigned at : {0x40u, 0x44u, 0x48u})
      m.pci_write(devfn(18, fn), at, 0xffffffff);
    EXPECT_EQ(m.pci_read(devfn(18, fn), 0x40), 0xffffffc0u);
    EXPECT_EQ(m.pci_read(devfn(18, fn), 0x44), 0x00003fffu);
    EXPECT_EQ(m.pci_read(devfn(18, fn), 0x48), 0x0000003fu);
  }
}

// Tables 2-167 and 2-172 to 2-175
TEST(QpiFilters, FieldsOnAllPorts) {
  Machine m;
  for (unsigned device : {8u, 9u, 10u}) {
    m.undefined.clear();
    for (unsigned at : {0x200u, 0x210u, 0x228u, 0x238u}) {
      m.pci_write(devfn(device, 6), at, 0x8003fff8);
      EXPECT_EQ(m.pci_read(devfn(device, 6), at), 0x8003fff8u);
    }
    for (unsigned at : {0x204u, 0x214u, 0x22cu, 0x23cu}) {
      m.pci_write(devfn(device, 6), at, 0x000f000f);
      EXPECT_EQ(m.pci_read(devfn(device, 6), at), 0x000f000fu);
    }
    EXPECT_TRUE(m.undefined.empty());
    m.pci_write(devfn(device, 6), 0x200, 0xffffffff);
    m.pci_write(devfn(device, 6), 0x204, 0xffffffff);
    EXPECT_EQ(m.undefined.size(), 2u);
    EXPECT_EQ(m.pci_read(devfn(device, 6), 0x200), 0x8003fff8u);
    EXPECT_EQ(m.pci_read(devfn(device, 6), 0x204), 0x000f000fu);
    EXPECT_EQ(m.pci_read(devfn(device, 2), 0x200), 0u)
        << "they are not in the counters' function";
    EXPECT_EQ(m.pci_read(devfn(device, 6), 0xf4), 0u);
  }
}

// --- PCI space ------------------------------------------------------------

struct Function {
  bool io_bus;
  unsigned device, function;
  u32 id;
  bool pmon;
};

// Table 1-3; the iMC's by ID in the order of pci.ids, and what a bus scan and
// §1.6.1 need beside them
constexpr Function kFunctions[] = {
    {true, 5, 0, 0x2f28, false},   {true, 5, 6, 0x2f39, true},
    {false, 8, 0, 0x2f80, false},  {false, 8, 2, 0x2f32, true},
    {false, 8, 6, 0x2f86, true},   {false, 9, 0, 0x2f90, false},
    {false, 9, 2, 0x2f33, true},   {false, 9, 6, 0x2f96, true},
    {false, 10, 0, 0x2f40, false}, {false, 10, 2, 0x2f3a, true},
    {false, 10, 6, 0x2f46, true},  {false, 11, 0, 0x2f81, false},
    {false, 11, 1, 0x2f36, true},  {false, 11, 2, 0x2f37, true},
    {false, 11, 5, 0x2f3e, true},  {false, 16, 0, 0x2f1d, false},
    {false, 16, 1, 0x2f34, true},  {false, 16, 5, 0x2f1e, false},
    {false, 18, 0, 0x2fa0, false}, {false, 18, 1, 0x2f30, true},
    {false, 18, 5, 0x2f38, true},  {false, 20, 0, 0x2fb0, true},
    {false, 20, 1, 0x2fb1, true},  {false, 21, 0, 0x2fb4, true},
    {false, 21, 1, 0x2fb5, true},  {false, 23, 0, 0x2fd0, true},
    {false, 23, 1, 0x2fd1, true},  {false, 24, 0, 0x2fd4, true},
    {false, 24, 1, 0x2fd5, true},  {false, 30, 0, 0x2f98, false},
    {false, 30, 3, 0x2fc0, false},
};

TEST(PciSpace, FunctionsOfTable1_3AndNoOthers) {
  Machine m;
  for (bool io_bus : {false, true}) {
    for (unsigned d = 0; d < 32; ++d) {
      for (unsigned f = 0; f < 8; ++f) {
        const auto* it = std::ranges::find_if(kFunctions, [&](const auto& x) {
          return x.io_bus == io_bus && x.device == d && x.function == f;
        });
        const u32 expected =
            it == std::end(kFunctions) ? 0xffffffff : it->id << 16 | 0x8086;
        EXPECT_EQ(m.pci_read(devfn(d, f), 0, 4, 0, io_bus), expected)
            << d << ":" << f;
      }
    }
  }
}

TEST(PciSpace, HeadersServeABusScan) {
  Machine m;
  for (const Function& f : kFunctions) {
    const unsigned at = devfn(f.device, f.function);
    EXPECT_EQ(m.pci_read(at, 0x08, 4, 0, f.io_bus) >> 8,
              f.pmon ? 0x110100u : 0x088000u);
    EXPECT_EQ(m.pci_read(at, 0x0e, 1, 0, f.io_bus),
              f.function == 0 ? 0x80u : 0x00u);
    for (unsigned bar = 0x10; bar < 0x28; bar += 4) {
      m.pci_write(at, bar, 0xffffffff, 4, 0, f.io_bus);
      EXPECT_EQ(m.pci_read(at, bar, 4, 0, f.io_bus), 0u);
    }
    m.pci_write(at, 0, 0x12345678, 4, 0, f.io_bus);
    EXPECT_EQ(m.pci_read(at, 2, 2, 0, f.io_bus), f.id);
  }
}

TEST(PciSpace, QpiFilterFunctionsAreExpressAndOthersAreNot) {
  Machine m;
  for (const Function& f : kFunctions) {
    const unsigned at = devfn(f.device, f.function);
    const bool filter = f.function == 6 && f.device >= 8 && f.device <= 10;
    EXPECT_EQ(m.pci_read(at, 0x06, 2, 0, f.io_bus), filter ? 0x10u : 0u);
    EXPECT_EQ(m.pci_read(at, 0x34, 1, 0, f.io_bus), filter ? 0x40u : 0u);
    if (!filter) continue;
    EXPECT_EQ(m.pci_read(at, 0x40, 2), 0x0010u) << "PCI Express, the last";
    EXPECT_EQ(m.pci_read(at, 0x42, 2) >> 4 & 0xf, 9u)
        << "root complex integrated endpoint";
    EXPECT_EQ(m.pci_read(at, 0x100), 0u) << "no extended capability";
  }
}

// §1.6.1
TEST(PciSpace, NodeIdAndMapNameThePackage) {
  Machine m;
  for (unsigned pkg = 0; pkg < 2; ++pkg) {
    const u32 node = m.pci_read(devfn(16, 5), 0x40, 4, pkg) & 7;
    const u32 map = m.pci_read(devfn(16, 5), 0x54, 4, pkg);
    unsigned found = 8;
    for (unsigned i = 0; i < 8; ++i)
      if ((map >> 3 * i & 7) == node) found = i;
    EXPECT_EQ(found, pkg);
  }
}

TEST(PciSpace, DieSaysHowManySbos) {
  EXPECT_NE(Machine().pci_read(devfn(30, 3), 0x94) & 0xc0, 0u);
  model_config config = kFull;
  config.sboxes = 2;
  EXPECT_EQ(Machine(config).pci_read(devfn(30, 3), 0x94) & 0xc0, 0u);
}

// Table 2-177
TEST(PciSpace, QpiRateIs9_6GT) {
  Machine m;
  for (unsigned device : {8u, 9u, 10u}) {
    m.pci_write(devfn(device, 0), 0xd4, 0);
    EXPECT_EQ(m.pci_read(devfn(device, 0), 0xd4), 7u) << "RO";
  }
}

TEST(PciSpace, ASmallPackageHasFewerFunctions) {
  model_config config = kFull;
  config.has = 1;
  config.imcs = 3;
  config.qpi_ports = 1;
  Machine m(config);
  auto present = [&](unsigned device, unsigned function) {
    return m.pci_read(devfn(device, function), 0) != 0xffffffff;
  };
  EXPECT_TRUE(present(18, 1));
  EXPECT_FALSE(present(18, 5));
  EXPECT_TRUE(present(21, 0));
  EXPECT_FALSE(present(21, 1));
  EXPECT_FALSE(present(23, 0));
  EXPECT_TRUE(present(8, 0));
  EXPECT_TRUE(present(8, 2));
  EXPECT_TRUE(present(8, 6));
  for (unsigned device : {9u, 10u})
    for (unsigned function : {0u, 2u, 6u})
      EXPECT_FALSE(present(device, function));
  EXPECT_TRUE(present(11, 1));
  EXPECT_FALSE(present(11, 2));
  EXPECT_FALSE(present(11, 5));
  EXPECT_EQ(model_boxes(m.model(), MODEL_R3QPI), 1u);
  EXPECT_EQ(m.pci_read(devfn(8, 2), 0, 4, 2), 0xffffffffu)
      << "no third package";
}

// "32x2": two dwords, accessed in any of the sizes
TEST(PciSpace, AccessesOf1_2And4BytesAtAnyAlignment) {
  Machine m;
  const unsigned at = devfn(20, 0);
  m.pci_write(at, 0xa0, 0x44332211);
  m.pci_write(at, 0xa4, 0xffff6655);
  EXPECT_EQ(m.pci_read(at, 0xa4), 0x6655u) << "63:48 are ignored";
  m.pci_write(at, 0xa8, 0x88776655);
  constexpr u8 bytes[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
                          0x00, 0x00, 0x55, 0x66, 0x77, 0x88};
  for (unsigned i = 0; i + 4 <= sizeof(bytes); ++i) {
    u32 expected = 0;
    for (unsigned size = 1; size <= 4; ++size) {
      expected |= static_cast<u32>(bytes[i + size - 1]) << 8 * (size - 1);
      if (size == 3) continue;
      EXPECT_EQ(m.pci_read(at, 0xa0 + i, size), expected)
          << i << " size " << size;
    }
  }

  m.pci_write(at, 0xa1, 0xee, 1);
  EXPECT_EQ(m.pci_read(at, 0xa0), 0x4433ee11u);
  m.pci_write(at, 0xa3, 0xaabbccdd, 4);
  EXPECT_EQ(m.pci_read(at, 0xa0), 0xdd33ee11u);
  EXPECT_EQ(m.pci_read(at, 0xa4), 0xbbccu) << "and aa lies above bit 47";
  m.pci_write(at, 0xa7, 0x1200, 2);
  EXPECT_EQ(m.pci_read(at, 0xa8), 0x88776612u) << "across two registers";
}

TEST(PciSpace, ByteWritesTouchOnlyTheirBits) {
  Machine m;
  const unsigned at = devfn(16, 1);
  m.pci_write(at, 0xd8, 0x05001234);
  m.pci_write(at, 0xd8, 0x05001234);
  m.pci_write(at, 0xdb, 0x07, 1);
  EXPECT_EQ(m.pci_read(at, 0xd8), 0x07001234u);
  m.pci_write(at, 0xda, 0x40, 1);
  EXPECT_EQ(m.pci_read(at, 0xd8), 0x07401234u);
  m.pci_write(devfn(20, 0), 0xf5, 0x01, 1);
  EXPECT_TRUE(m.undefined.empty()) << "17:16 were not written";
  EXPECT_EQ(m.dirty(), (std::vector<std::string>{"0 imc_0 box_ctl 0x100",
                                                 "0 r2pcie ctl0 0x7401234"}));
}

// --- the model itself -----------------------------------------------------

TEST(Config, IsChecked) {
  const model_ops ops = {};
  auto init = [&](const model_config& config) {
    std::vector<u64> memory(model_size() / sizeof(u64) + 1);
    return model_init(reinterpret_cast<struct model*>(memory.data()), &config,
                      &ops, nullptr);
  };
  auto with = [](auto change) {
    model_config config = kFull;
    change(config);
    return config;
  };
  EXPECT_EQ(init(kFull), 0);
  EXPECT_EQ(init(with([](auto& c) { c.packages = 16; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.packages = 0; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.packages = 17; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.cboxes = 0; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.cboxes = 19; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.sboxes = 3; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.has = 3; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.imcs = 9; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.qpi_ports = 4; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.counter_bits = 40; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.fixed_bits = 31; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.fixed_bits = 49; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.num_c = 32; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.num_c = -2; })), 0);
  EXPECT_EQ(init(with([](auto& c) { c.node_map = 020; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.node_map = 033; })), 0);
}

// Cluster-on-die: each socket has two nodes, and the UBox says the first.
TEST(Config, NodeMapNeedNotBeTheIdentity) {
  model_config config = kFull;
  config.packages = 4;
  config.node_map = 06420;
  Machine m(config);
  for (unsigned pkg = 0; pkg < 4; ++pkg) {
    EXPECT_EQ(m.pci_read(devfn(16, 5), 0x40, 4, pkg), 2 * pkg);
    EXPECT_EQ(m.pci_read(devfn(16, 5), 0x54, 4, pkg), 06420u);
  }
}

TEST(Config, NamesAndNumbersOfBoxes) {
  Machine m;
  std::vector<std::string> names;
  std::vector<unsigned> numbers;
  for (unsigned box_type = 0; box_type < MODEL_BOX_TYPES; ++box_type) {
    names.emplace_back(
        model_box_type_name(m.model(), static_cast<model_box_type>(box_type)));
    numbers.push_back(
        model_boxes(m.model(), static_cast<model_box_type>(box_type)));
  }
  std::vector<std::string> own_names{"ubox", "cbox", "sbox", "ha",     "imc",
                                     "irp",  "pcu",  "qpi",  "r2pcie", "r3qpi"};
  std::vector<unsigned> own_numbers{1, 18, 4, 2, 8, 2, 1, 3, 1, 3};
  own_names.resize(MODEL_BOX_TYPES);  // the others' have no name and no box
  own_numbers.resize(MODEL_BOX_TYPES);
  EXPECT_EQ(names, own_names);
  EXPECT_EQ(numbers, own_numbers);
}

TEST(Dirty, ListsWhatDiffersFromReset) {
  Machine m;
  m.wrmsr(0xf11, 0x34, 1);
  m.wrmsr(0x707, 0x3);
  m.wrmsr(0x702, 5);
  m.wrmsr(0x700, kFrzAll | 4);
  m.pci_write(devfn(10, 6), 0x238, 0x1e00);
  m.pci_write(devfn(8, 2), 0xd8, kRst);
  m.pci_write(devfn(11, 5), 0xf4, kFrz);
  EXPECT_EQ(m.dirty(), (std::vector<std::string>{
                           "0 ubox global_ctl 0x80000004",
                           "0 ubox global_config 0x5", "0 ubox filter 0x3",
                           "0 qpi_0 ctl0 0x20000", "0 qpi_2 rx_mask0 0x1e00",
                           "0 r3qpi_2 box_ctl 0x100", "1 cbox_17 ctl0 0x34"}));
  m.advance(100);
  model_reset(m.model());
  EXPECT_TRUE(m.dirty().empty());
  EXPECT_EQ(m.rdmsr(0x702), 18u);
  EXPECT_FALSE(model_frozen(m.model(), 0));
}

}  // namespace
}  // namespace test
