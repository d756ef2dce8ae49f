// SPDX-License-Identifier: GPL-2.0-or-later
// PCI space (Table 1-3): which functions a package has, their headers, and accesses of
// every size.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "machine.h"

namespace test {
namespace {

struct Function {
  unsigned bus;
  unsigned device, function;
  u32 id;
  bool pmon;
};

// Functions of Table 1-3, with the iMC's device IDs in the order of pci.ids, and further
// functions that a bus scan and §1.6.1 need
constexpr Function kFunctions[] = {
    {kIoBus, 5, 0, 0x2f28, false},   {kIoBus, 5, 6, 0x2f39, true},
    {kUboxBus, 8, 0, 0x2f80, false},  {kUboxBus, 8, 2, 0x2f32, true},
    {kUboxBus, 8, 6, 0x2f86, true},   {kUboxBus, 9, 0, 0x2f90, false},
    {kUboxBus, 9, 2, 0x2f33, true},   {kUboxBus, 9, 6, 0x2f96, true},
    {kUboxBus, 10, 0, 0x2f40, false}, {kUboxBus, 10, 2, 0x2f3a, true},
    {kUboxBus, 10, 6, 0x2f46, true},  {kUboxBus, 11, 0, 0x2f81, false},
    {kUboxBus, 11, 1, 0x2f36, true},  {kUboxBus, 11, 2, 0x2f37, true},
    {kUboxBus, 11, 5, 0x2f3e, true},  {kUboxBus, 16, 0, 0x2f1d, false},
    {kUboxBus, 16, 1, 0x2f34, true},  {kUboxBus, 16, 5, 0x2f1e, false},
    {kUboxBus, 18, 0, 0x2fa0, false}, {kUboxBus, 18, 1, 0x2f30, true},
    {kUboxBus, 18, 5, 0x2f38, true},  {kUboxBus, 20, 0, 0x2fb0, true},
    {kUboxBus, 20, 1, 0x2fb1, true},  {kUboxBus, 21, 0, 0x2fb4, true},
    {kUboxBus, 21, 1, 0x2fb5, true},  {kUboxBus, 23, 0, 0x2fd0, true},
    {kUboxBus, 23, 1, 0x2fd1, true},  {kUboxBus, 24, 0, 0x2fd4, true},
    {kUboxBus, 24, 1, 0x2fd5, true},  {kUboxBus, 30, 0, 0x2f98, false},
    {kUboxBus, 30, 3, 0x2fc0, false},
};

TEST(PciSpace, PackagesShareTheBusNumbersOfASegment) {
  model_config config = kFull;
  EXPECT_EQ(model_bus_number(&config, 0, kUboxBus), 0x7f);
  EXPECT_EQ(model_bus_number(&config, 0, kIoBus), 0x40);
  EXPECT_EQ(model_bus_number(&config, 1, kUboxBus), 0xff);
  EXPECT_EQ(model_bus_number(&config, 1, kIoBus), 0x80);
  config.packages = 3;
  EXPECT_EQ(model_bus_number(&config, 0, kUboxBus), 84);
  EXPECT_EQ(model_bus_number(&config, 2, kUboxBus), 255);
  EXPECT_EQ(model_segment(&config, 2), 0u);
  config.packages = 4;
  config.segment_packages = 2;
  EXPECT_EQ(model_bus_number(&config, 2, kUboxBus), 0x7f);
  EXPECT_EQ(model_bus_number(&config, 3, kIoBus), 0x80);
  EXPECT_EQ(model_segment(&config, 1), 0u);
  EXPECT_EQ(model_segment(&config, 2), 1u);
}

TEST(PciSpace, FunctionsOfTable1_3AndNoOthers) {
  Machine m;
  for (unsigned bus : {kUboxBus, kIoBus}) {
    for (unsigned d = 0; d < 32; ++d) {
      for (unsigned f = 0; f < 8; ++f) {
        const auto* it = std::ranges::find_if(kFunctions, [&](const auto& x) {
          return x.bus == bus && x.device == d && x.function == f;
        });
        const u32 expected =
            it == std::end(kFunctions) ? 0xffffffff : it->id << 16 | 0x8086;
        EXPECT_EQ(m.pci_read(devfn(d, f), 0, 4, 0, bus), expected)
            << d << ":" << f;
      }
    }
  }
}

TEST(PciSpace, HeadersServeABusScan) {
  Machine m;
  for (const Function& f : kFunctions) {
    const unsigned at = devfn(f.device, f.function);
    EXPECT_EQ(m.pci_read(at, 0x08, 4, 0, f.bus) >> 8,
              f.pmon ? 0x110100u : 0x088000u);
    EXPECT_EQ(m.pci_read(at, 0x0e, 1, 0, f.bus),
              f.function == 0 ? 0x80u : 0x00u);
    for (unsigned bar = 0x10; bar < 0x28; bar += 4) {
      m.pci_write(at, bar, 0xffffffff, 4, 0, f.bus);
      EXPECT_EQ(m.pci_read(at, bar, 4, 0, f.bus), 0u);
    }
    m.pci_write(at, 0, 0x12345678, 4, 0, f.bus);
    EXPECT_EQ(m.pci_read(at, 2, 2, 0, f.bus), f.id);
  }
}

TEST(PciSpace, QpiFilterFunctionsAreExpressAndOthersAreNot) {
  Machine m;
  for (const Function& f : kFunctions) {
    const unsigned at = devfn(f.device, f.function);
    const bool filter = f.function == 6 && f.device >= 8 && f.device <= 10;
    EXPECT_EQ(m.pci_read(at, 0x06, 2, 0, f.bus), filter ? 0x10u : 0u);
    EXPECT_EQ(m.pci_read(at, 0x34, 1, 0, f.bus), filter ? 0x40u : 0u);
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
  set_boxes(config, "sbox", 2);
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
  set_boxes(config, "ha", 1);
  set_boxes(config, "imc", 3);
  set_boxes(config, "qpi", 1);
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
  EXPECT_EQ(m.boxes(R3QPI), 1u);
  EXPECT_EQ(m.pci_read(devfn(8, 2), 0, 4, 2), 0xffffffffu)
      << "no third package";
}

// "32x2": a counter is two dwords, which software may access in any size
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

}  // namespace
}  // namespace test
