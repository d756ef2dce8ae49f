// SPDX-License-Identifier: GPL-2.0-or-later
// Skylake-SP: addresses and fields of UBox, CHA, PCU and iMC as the in-tree driver, PCM and
// LIKWID have them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine.h"

namespace test {
namespace {

constexpr u64 kFreeze = 1ULL << 63, kUnfreeze = 1ULL << 61;
constexpr u64 kTop = 1ULL << 48;
constexpr u32 cha(unsigned box, unsigned at) { return 0xe00 + 16 * box + at; }
// Filter 1: remote and local, near memory and other memory, any opcode
constexpr u64 kRemote = 1, kLocal = 2, kAnyOpcode = 8, kNear = 0x10, kNotNear = 0x20;
constexpr u64 kNeutral = kRemote | kLocal | kAnyOpcode | kNear | kNotNear;

class Skylake : public testing::Test {
 protected:
  // Counts one transaction of a TOR event in CHA 0 with a filter 1.
  u64 takes(u64 filter1, Txn txn) {
    txn.box_type = CHA;
    txn.code = 0x35;
    txn.umask = 0x21;
    m.wrmsr(cha(0, 0), kRstCtrs | kRstCtrl);
    m.wrmsr(cha(0, 6), filter1);
    m.wrmsr(cha(0, 1), kEn | umask(0x21) | 0x35);
    m.traffic(txn);
    return m.rdmsr(cha(0, 8));
  }
  Machine m{full(model_skx)};
};

TEST_F(Skylake, CountsInAllBoxes) {
  m.wrmsr(0x703, kEn);
  m.wrmsr(cha(27, 1), kEn);
  m.wrmsr(0x711, kEn);
  m.pci_write(devfn(13, 2), 0xd8, kEn, 4, 0, 2);
  m.pci_write(devfn(12, 2), 0xf0, kEn, 4, 0, 2);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(0x704), 100u);
  EXPECT_EQ(m.rdmsr(cha(27, 8)), 100u);
  EXPECT_EQ(m.rdmsr(0x717), 100u);
  EXPECT_EQ(m.pci_read(devfn(13, 2), 0xa0, 4, 0, 2), 100u);
  EXPECT_EQ(m.pci_read(devfn(12, 2), 0xd0, 4, 0, 2), 100u);
  EXPECT_FALSE(model_msr_claims(m.model(), cha(28, 0)));
  EXPECT_TRUE(m.undefined.empty());
}

TEST_F(Skylake, BothControllersHaveTheSameDeviceIds) {
  const struct { unsigned at, id; } channels[] = {
      {devfn(10, 2), 0x2042}, {devfn(10, 6), 0x2046}, {devfn(11, 2), 0x204a},
      {devfn(12, 2), 0x2042}, {devfn(12, 6), 0x2046}, {devfn(13, 2), 0x204a}};
  for (unsigned i = 0; i < std::size(channels); ++i) {
    const unsigned at = channels[i].at;
    EXPECT_EQ(m.pci_read(at, 0, 4, 1, 2), channels[i].id << 16 | 0x8086);
    m.pci_write(at, 0xd8, kEn | umask(3) | 0x04, 4, 1, 2);
    m.traffic({.box_type = IMC, .box = i, .pkg = 1, .code = 0x04, .umask = 1, .count = 10 + i});
    EXPECT_EQ(m.pci_read(at, 0xa0, 4, 1, 2), 10 + i);
  }
}

TEST_F(Skylake, ATorEventNeedsAFilter) {
  EXPECT_EQ(takes(0, {}), 0u);
  EXPECT_EQ(takes(kNeutral, {}), 1u);
  EXPECT_EQ(takes(kNeutral, {.opc = 0x202, .remote = true, .near = true}), 1u);
  EXPECT_EQ(takes(kNeutral & ~kLocal, {}), 0u);
  EXPECT_EQ(takes(kNeutral & ~kLocal, {.remote = true}), 1u);
  EXPECT_EQ(takes(kNeutral & ~kRemote, {.remote = true}), 0u);
  EXPECT_EQ(takes(kNeutral & ~kNotNear, {}), 0u);
  EXPECT_EQ(takes(kNeutral & ~kNotNear, {.near = true}), 1u);
}

TEST_F(Skylake, TwoOpcodesAreCounted) {
  // 0x40433 is opcode 0x202 in bits 18:9, of any home and memory
  EXPECT_EQ(takes(0x40433, {.opc = 0x202}), 1u);
  EXPECT_EQ(takes(0x40433, {.opc = 0x201}), 0u);
  EXPECT_EQ(takes(0x40433, {}), 0u);
  const u64 both = 0x40433 | 0x25aULL << 19;
  EXPECT_EQ(takes(both, {.opc = 0x202}), 1u);
  EXPECT_EQ(takes(both, {.opc = 0x25a}), 1u);
  EXPECT_EQ(takes(both, {.opc = 0x25b}), 0u);
  EXPECT_EQ(takes(kNeutral | 1u << 30, {}), 0u);
  EXPECT_EQ(takes(kNeutral | 1u << 30, {.nc = true}), 1u);
  EXPECT_EQ(takes(kNeutral | 1u << 31, {.isoc = true}), 1u);
}

TEST_F(Skylake, ALookupNeedsAState) {
  const Txn lookup{.box_type = CHA, .box = 3, .code = 0x34, .umask = 0x11, .state = 1 << 9};
  m.wrmsr(cha(3, 1), kEn | umask(0x11) | 0x34);
  m.traffic(lookup);
  EXPECT_EQ(m.rdmsr(cha(3, 8)), 0u);
  m.wrmsr(cha(3, 5), 1u << 26);
  m.traffic(lookup);
  EXPECT_EQ(m.rdmsr(cha(3, 8)), 1u);
  m.wrmsr(cha(3, 5), 1u << 17);
  m.traffic(lookup);
  EXPECT_EQ(m.rdmsr(cha(3, 8)), 1u);
}

TEST_F(Skylake, FiltersKeepTheirFields) {
  m.wrmsr(cha(0, 5), ~0ULL);
  m.wrmsr(cha(0, 6), ~0ULL);
  EXPECT_EQ(m.rdmsr(cha(0, 5)), 0x07fe1fffu);
  EXPECT_EQ(m.rdmsr(cha(0, 6)), 0xfffffe3bu);
  m.wrmsr(cha(0, 1), ~0ULL);
  EXPECT_EQ(m.rdmsr(cha(0, 1)), 0xffdcffffu);
}

TEST_F(Skylake, ThreadsHave9Bits) {
  m.wrmsr(cha(0, 1), kEn | kTidEn | umask(0x21) | 0x35);
  m.wrmsr(cha(0, 5), 27 << 3 | 1);
  m.wrmsr(cha(0, 6), kNeutral);
  m.traffic({.box_type = CHA, .code = 0x35, .umask = 0x21, .tid = 27 << 3 | 1});
  m.traffic({.box_type = CHA, .code = 0x35, .umask = 0x21, .tid = 27 << 3});
  EXPECT_EQ(m.rdmsr(cha(0, 8)), 1u);
}

TEST_F(Skylake, OverflowsFreezeByBits63And61) {
  struct Overflow { u32 ctl, ctr; u64 bit; };
  for (const auto& [ctl, ctr, bit] : {Overflow{cha(0, 1), cha(0, 8), 1ULL << 3},
                                      Overflow{cha(27, 4), cha(27, 11), 1ULL << 30},
                                      Overflow{0x711, 0x717, 1ULL << 2},
                                      Overflow{0x703, 0x704, 1ULL << 0}}) {
    m.pmis.clear();
    m.wrmsr(0x700, 0x0fffffff);
    EXPECT_EQ(m.rdmsr(0x700), 0x0fffffffu);
    m.wrmsr(ctr, kTop - 5);
    m.wrmsr(ctl, kEn | kOvEn);
    m.advance(10);
    EXPECT_TRUE(model_frozen(m.model(), 0));
    EXPECT_EQ(m.rdmsr(0x701), bit);
    ASSERT_EQ(m.pmis.size(), 1u);
    EXPECT_EQ(m.pmis[0].cores, 0x0fffffffu);
    m.wrmsr(ctl, 0);
    m.wrmsr(0x701, bit);
    m.wrmsr(0x700, 1ULL << 29);
    EXPECT_TRUE(model_frozen(m.model(), 0)) << "not Haswell's bit";
    m.wrmsr(0x700, kUnfreeze);
    EXPECT_FALSE(model_frozen(m.model(), 0));
  }
  m.wrmsr(0x700, kFreeze);
  EXPECT_TRUE(model_frozen(m.model(), 0));
}

TEST_F(Skylake, ControllersSignalOverflows) {
  for (const auto& [at, bit] : {std::pair{devfn(11, 2), 1ULL << 39},
                                std::pair{devfn(12, 2), 1ULL << 40}}) {
    m.pci_write(at, 0xa4, 0xffff, 4, 0, 2);
    m.pci_write(at, 0xa0, 0xfffffffb, 4, 0, 2);
    m.pci_write(at, 0xd8, kEn | kOvEn, 4, 0, 2);
    m.advance(10);
    EXPECT_EQ(m.rdmsr(0x701), bit);
    m.pci_write(at, 0xd8, 0, 4, 0, 2);
    m.wrmsr(0x701, bit);
    m.wrmsr(0x700, kUnfreeze);
  }
}

TEST_F(Skylake, CapabilitiesAndNumbers) {
  EXPECT_EQ(m.pci_read(devfn(30, 3), 0x9c, 4, 0, 1), 0x0fffffffu);
  EXPECT_EQ(m.pci_read(devfn(8, 2), 0xc0, 4, 1), 1u);
  EXPECT_EQ(m.pci_read(devfn(8, 2), 0xd4, 4, 1), 076543210u);
  model_config config = full(model_skx);
  ASSERT_EQ(set_boxes(config, "cha", 10), 0);
  EXPECT_EQ(Machine(config).pci_read(devfn(30, 3), 0x9c, 4, 0, 1), 0x3ffu);
  config.num_c = 0;
  EXPECT_EQ(Machine(config).pci_read(devfn(30, 3), 0x9c, 4, 0, 1), 0u);
}

TEST_F(Skylake, BusesAreReported) {
  for (unsigned pkg : {0u, 1u}) {
    u64 numbers = 0;
    for (unsigned i = 0; i < 6; ++i)
      numbers |= static_cast<u64>(pkg * 0x80 + (pkg ? 0 : 0x40) + 10 * i) << 8 * i;
    EXPECT_EQ(m.rdmsr(0x300, pkg), numbers | 1ULL << 63);
    EXPECT_EQ(m.pci_read(devfn(8, 2), 0xcc, 4, pkg), static_cast<u32>(numbers));
    EXPECT_EQ(m.pci_read(devfn(8, 2), 0xd0, 4, pkg), static_cast<u32>(numbers >> 32));
  }
  // every package's lowest bus has the UBox, and no number is taken twice
  for (unsigned packages : {1u, 2u, 3u, 8u, 16u}) {
    model_config config = full(model_skx);
    config.packages = packages;
    int last = 0;
    for (unsigned pkg = 0; pkg < packages; ++pkg)
      for (unsigned i = 0; i < 6; ++i) {
        EXPECT_GT(model_bus_number(&config, pkg, i), last);
        last = model_bus_number(&config, pkg, i);
      }
  }
}

}  // namespace
}  // namespace test
