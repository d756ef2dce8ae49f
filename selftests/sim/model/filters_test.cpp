// SPDX-License-Identifier: GPL-2.0-or-later
// Filter registers of all box types: every address and every field.
#include <gtest/gtest.h>

#include "machine.h"

namespace test {
namespace {

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

}  // namespace
}  // namespace test
