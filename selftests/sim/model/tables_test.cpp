// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of tables that no machine of the older generations has: a made-up generation
// whose registers are those of Skylake's links and IO stacks.
#include <gtest/gtest.h>

#include <span>

extern "C" {
#include "model/priv.h"
}

#include "machine.h"

namespace test {
namespace {

// Bits 31:0 as of E5, a unit mask that continues in bits 55:32 without 44, enable in 22
constexpr u64 kWide = 0x00ffefffff44ffffULL;

constexpr model_wave kWaves[] = {{.code = 0x01, .umask = 0x00, .zeros = 0, .rule = MODEL_ANY,
                                  .max_inc = 1, .ctrs = 0xf, .period = 1, .v = {1}}};

model_reg reg(u32 at, u8 bytes, u8 type, u64 bits, const char* name) {
  model_reg r{};
  r.at = at;
  r.bytes = bytes;
  r.type = type;
  (type == REG_BOX_CTL ? r.wo : r.keep) = bits;
  r.name = name;
  return r;
}

const model_reg kLinkRegs[] = {reg(0x318, 8, REG_CTR, 0, "ctr0"),
                               reg(0x350, 8, REG_CTL, kWide, "ctl0"),
                               reg(0x378, 4, REG_BOX_CTL, kFrz | kRstCtrs | kRstCtrl, "box_ctl")};
const model_reg kStackRegs[] = {reg(0xa41, 8, REG_CTR, 0, "ctr0"),
                                reg(0xa48, 8, REG_CTL, 0x00007fffffd4ffffULL, "ctl0")};

model_type type(const char* name, bool pci, std::span<const model_reg> regs) {
  model_type t{};
  t.name = name;
  t.boxes = {1, 1, false, nullptr};
  t.pci = pci;
  t.counters = 1;
  t.thresh = 0xfff;
  t.regs = regs.data();
  t.nregs = regs.size();
  t.first = 0xa40;
  t.last = 0xa5f;
  t.waves = kWaves;
  t.nwaves = std::size(kWaves);
  return t;
}

const model_type kTypes[] = {type("link", true, kLinkRegs), type("stack", false, kStackRegs)};

model_function function(unsigned at, u16 id, const char* box_type) {
  model_function f{};
  f.devfn = at;
  f.id = id;
  f.type = box_type;
  f.pmon = true;
  return f;
}

const model_function kFunctions[] = {function(devfn(14, 0), 0x2058, "link")};

model_generation generation() {
  model_generation gen{};
  gen.name = "made_up";
  gen.types = kTypes;
  gen.ntypes = std::size(kTypes);
  gen.functions = kFunctions;
  gen.nfunctions = std::size(kFunctions);
  return gen;
}

const model_generation kMadeUp = generation();

class Tables : public testing::Test {
 protected:
  Machine m{full(kMadeUp)};
  const unsigned link = devfn(14, 0);
};

TEST_F(Tables, AControlInPciSpaceHasTwoHalves) {
  m.pci_write(link, 0x354, 0xffffffff);
  EXPECT_EQ(m.pci_read(link, 0x354), static_cast<u32>(kWide >> 32));
  EXPECT_EQ(m.pci_read(link, 0x350), 0u);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 0u) << "it counts from the lower half on";
  m.pci_write(link, 0x354, 0);
  m.pci_write(link, 0x350, kEn | 1);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 10u);
  m.pci_write(link, 0x356, 0x5a, 1);
  EXPECT_EQ(m.pci_read(link, 0x354), 0x5a0000u);
  EXPECT_EQ(m.pci_read(link, 0x350), kEn | 1);
  m.pci_write(link, 0x378, kRstCtrl);
  EXPECT_EQ(m.pci_read(link, 0x354), 0u);
  EXPECT_EQ(m.pci_read(link, 0x350), 0u);
}

TEST_F(Tables, AControlInAnMsrHas64Bits) {
  m.wrmsr(0xa48, ~0ULL);
  EXPECT_EQ(m.rdmsr(0xa48), 0x00007fffffd4ffffULL);
  m.wrmsr(0xa48, 0x00007010'00000000ULL | kEn | 1);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xa41), 10u);
}

}  // namespace
}  // namespace test
