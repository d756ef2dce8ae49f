// SPDX-License-Identifier: GPL-2.0-or-later
// Skylake-SP: addresses and fields as the in-tree driver, PCM and LIKWID have them.
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

// A box type in PCI space: addresses of the registers of counter 0 and of the last counter
struct PciType {
  BoxType type;
  unsigned bus;
  std::vector<unsigned> functions, ids;
  unsigned counters, ctr, ctl, ctl_step, box_ctl, status;
  u32 clock;                // code of the event that counts cycles
  std::vector<u64> global;  // bits of the global status, 0 for none
};

const PciType kPciTypes[] = {
    {M2M, 2, {devfn(8, 0), devfn(9, 0)}, {0x2066, 0x2066}, 4, 0x200, 0x228, 8, 0x258, 0x260,
     0x00, {1ULL << 62, 1ULL << 63}},
    {UPI, 3, {devfn(14, 0), devfn(15, 0), devfn(16, 0)}, {0x2058, 0x2058, 0x2058}, 4, 0x318,
     0x350, 8, 0x378, 0x37c, 0x01, {1ULL << 41, 1ULL << 42, 1ULL << 43}},
    {M3UPI, 3, {devfn(18, 1), devfn(18, 2), devfn(18, 5)}, {0x204d, 0x204e, 0x204d}, 3, 0xa0,
     0xd8, 4, 0xf4, 0xf8, 0x01, {1ULL << 46, 1ULL << 47, 0}},
    {M2PCIE, 3, {devfn(21, 1), devfn(22, 1), devfn(23, 1), devfn(21, 5)},
     {0x2088, 0x2088, 0x2088, 0x2088}, 4, 0xa0, 0xd8, 4, 0xf4, 0, 0x01, {0, 0, 0, 0}}};

class SkylakePci : public Skylake, public testing::WithParamInterface<PciType> {
 protected:
  u32 read(unsigned box, unsigned where) {
    return m.pci_read(GetParam().functions[box], where, 4, 0, GetParam().bus);
  }
  void write(unsigned box, unsigned where, u32 value) {
    m.pci_write(GetParam().functions[box], where, value, 4, 0, GetParam().bus);
  }
  u64 count(unsigned box, unsigned ctr) {
    const unsigned at = GetParam().ctr + 8 * ctr;
    return read(box, at) | static_cast<u64>(read(box, at + 4)) << 32;
  }
  void set_count(unsigned box, unsigned ctr, u64 value) {
    write(box, GetParam().ctr + 8 * ctr + 4, value >> 32);
    write(box, GetParam().ctr + 8 * ctr, value);
  }
  unsigned ctl(unsigned ctr) { return GetParam().ctl + GetParam().ctl_step * ctr; }
};

std::string type_name(const testing::TestParamInfo<PciType>& info) {
  constexpr const char* kNames[] = {"M2m", "Upi", "M3upi", "M2pcie"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(Boxes, SkylakePci, testing::ValuesIn(kPciTypes), type_name);

TEST_P(SkylakePci, EachBoxCounts) {
  const PciType& p = GetParam();
  ASSERT_EQ(m.boxes(p.type), p.functions.size());
  for (unsigned box = 0; box < p.functions.size(); ++box) {
    EXPECT_EQ(read(box, 0), p.ids[box] << 16 | 0x8086);
    for (unsigned i = 0; i < p.counters; ++i) write(box, ctl(i), kEn | p.clock);
    m.advance(100 + box);
    for (unsigned i = 0; i < p.counters; ++i) {
      EXPECT_EQ(count(box, i), 100u + box) << i;
      EXPECT_EQ(read(box, ctl(i)), kEn | p.clock);
      write(box, ctl(i), 0);
    }
    m.advance(10);
    EXPECT_EQ(count(box, 0), 100u + box) << "disabled";
  }
  EXPECT_EQ(count(0, 0), 100u) << "a box for itself";
  EXPECT_TRUE(m.undefined.empty());
}

TEST_P(SkylakePci, CountsTransactionsOfItsBox) {
  const PciType& p = GetParam();
  const unsigned last = p.functions.size() - 1;
  write(last, ctl(0), kEn | p.clock);
  m.wrmsr(0x700, kFreeze);
  EXPECT_EQ(m.traffic({.box_type = p.type, .box = last, .code = p.clock, .count = 5}), 5);
  EXPECT_EQ(count(last, 0), 0u) << "frozen";
  m.wrmsr(0x700, kUnfreeze);
  EXPECT_EQ(m.traffic({.box_type = p.type, .box = last, .code = p.clock, .count = 12345}), 12345);
  EXPECT_EQ(m.traffic({.box_type = p.type, .box = 0, .code = p.clock, .count = 7}), 7);
  EXPECT_EQ(m.traffic({.box_type = p.type, .box = last, .code = 0xfe, .count = 7}), 7);
  EXPECT_EQ(count(last, 0), 12345u);
  write(last, ctl(0), kEn | p.clock | thresh(4));
  m.traffic({.box_type = p.type, .box = last, .code = p.clock, .count = 3, .value = 4});
  m.traffic({.box_type = p.type, .box = last, .code = p.clock, .count = 3, .value = 3});
  EXPECT_EQ(count(last, 0), 12348u);
}

TEST_P(SkylakePci, ABoxFreezesAndResets) {
  const PciType& p = GetParam();
  write(0, ctl(0), kEn | p.clock);
  write(1, ctl(0), kEn | p.clock);
  write(0, p.box_ctl, kFrz);
  m.advance(10);
  EXPECT_EQ(count(0, 0), 0u);
  EXPECT_EQ(count(1, 0), 10u);
  write(0, p.box_ctl, 0);
  m.advance(10);
  EXPECT_EQ(count(0, 0), 10u);
  write(0, p.box_ctl, kRstCtrs);
  EXPECT_EQ(count(0, 0), 0u);
  EXPECT_EQ(read(0, ctl(0)), kEn | p.clock);
  write(0, p.box_ctl, kRstCtrl);
  EXPECT_EQ(read(0, ctl(0)), 0u);
}

TEST_P(SkylakePci, AnOverflowSignalsOrHasToBePolled) {
  const PciType& p = GetParam();
  m.wrmsr(0x700, 1);
  for (unsigned box = 0; box < p.functions.size(); ++box) {
    const unsigned last = p.counters - 1;
    m.pmis.clear();
    set_count(box, last, kTop - 5);
    write(box, ctl(last), kEn | kOvEn | p.clock);
    m.advance(10);
    EXPECT_EQ(model_frozen(m.model(), 0), p.global[box] != 0);
    EXPECT_EQ(m.rdmsr(0x701), p.global[box]);
    EXPECT_EQ(m.pmis.size(), p.global[box] ? 1u : 0u);
    EXPECT_EQ(count(box, last), p.global[box] ? 0u : 5u);
    if (p.status) {
      EXPECT_EQ(read(box, p.status), 1u << last);
      write(box, p.status, 1u << last);
      EXPECT_EQ(read(box, p.status), 0u);
    }
    write(box, ctl(last), 0);
    m.wrmsr(0x701, p.global[box]);
    m.wrmsr(0x700, kUnfreeze | 1);
  }
}

TEST_F(Skylake, AUpiControlHas64Bits) {
  const unsigned at = devfn(15, 0);
  m.pci_write(at, 0x354, ~0u, 4, 0, 3);
  m.pci_write(at, 0x350, ~0u, 4, 0, 3);
  EXPECT_EQ(m.pci_read(at, 0x350, 4, 0, 3), 0xffd4ffffu);
  EXPECT_EQ(m.pci_read(at, 0x354, 4, 0, 3), 0x00ffefffu) << "without bits 44 and 63:56";
}

TEST_F(Skylake, UpisUnitMaskContinuesInTheUpperHalf) {
  const unsigned at = devfn(14, 0);
  const auto counted = [&] { return m.pci_read(at, 0x318, 4, 0, 3); };
  // RXL_BASIC_HDR_MATCH: requests, and requests of one opcode
  const Txn request{.box_type = UPI, .code = 0x05, .umask = 0x08, .count = 3};
  const Txn of_opcode{.box_type = UPI, .code = 0x05, .umask = 0x108, .count = 50};
  m.pci_write(at, 0x350, kEn | umask(0x08) | 0x05, 4, 0, 3);
  m.traffic(request);
  m.traffic(of_opcode);
  EXPECT_EQ(counted(), 3u);
  m.pci_write(at, 0x354, 0x01, 4, 0, 3);
  m.traffic(request);
  EXPECT_EQ(counted(), 3u);
  m.traffic(of_opcode);
  EXPECT_EQ(counted(), 53u);
  // bit 45 is the unit mask's bit 20, and bit 55 its bit 30
  m.pci_write(at, 0x354, 1u << 13 | 1u << 23, 4, 0, 3);
  m.traffic({.box_type = UPI, .code = 0x05, .umask = 0x108});
  EXPECT_EQ(counted(), 53u);
  m.traffic({.box_type = UPI, .code = 0x05, .umask = 1u << 30 | 1u << 20 | 0x08});
  EXPECT_EQ(counted(), 54u);
}

TEST_F(Skylake, ATorEventNeedsAQueueAndAHitOrMiss) {
  const auto counted = [this](u32 mask) {
    m.wrmsr(cha(0, 0), kRstCtrs | kRstCtrl);
    m.wrmsr(cha(0, 6), kNeutral);
    m.wrmsr(cha(0, 1), kEn | umask(mask) | 0x35);
    for (const auto& [have, count] : {std::pair{0x11u, 1u}, {0x21u, 10u}, {0x14u, 100u},
                                      {0x24u, 1000u}, {0x28u, 10000u}})
      m.traffic({.box_type = CHA, .code = 0x35, .umask = have, .count = count});
    return m.rdmsr(cha(0, 8));
  };
  EXPECT_EQ(counted(0x21), 10u);
  EXPECT_EQ(counted(0x31), 11u);
  EXPECT_EQ(counted(0x34), 1100u);
  EXPECT_EQ(counted(0x15), 101u);
  EXPECT_EQ(counted(0x35), 1111u);
  EXPECT_EQ(counted(0x3f), 11111u);
  EXPECT_EQ(counted(0x01), 0u);
  EXPECT_EQ(counted(0x30), 0u);
}

TEST_F(Skylake, FlitsNeedASlot) {
  const auto counted = [this](u32 mask) {
    m.pci_write(devfn(14, 0), 0x378, kRstCtrs | kRstCtrl, 4, 0, 3);
    m.pci_write(devfn(14, 0), 0x350, kEn | umask(mask) | 0x02, 4, 0, 3);
    for (const auto& [have, count] : {std::pair{0x09u, 1u}, {0x0au, 10u}, {0x0cu, 100u},
                                      {0x81u, 1000u}, {0x47u, 10000u}})
      m.traffic({.box_type = UPI, .code = 0x02, .umask = have, .count = count});
    return m.pci_read(devfn(14, 0), 0x318, 4, 0, 3);
  };
  EXPECT_EQ(counted(0x0f), 111u);
  EXPECT_EQ(counted(0x0b), 11u);
  EXPECT_EQ(counted(0x89), 1001u);
  EXPECT_EQ(counted(0x97), 1000u);
  EXPECT_EQ(counted(0x47), 10000u);
  EXPECT_EQ(counted(0x08), 0u);
  EXPECT_EQ(counted(0x07), 0u);
}

// Packages at the other ends of a package's links, -1 for none, from the registers
std::vector<int> peers(unsigned packages, unsigned pkg, u32 node_map = 0) {
  model_config config = full(model_skx);
  config.packages = packages;
  config.node_map = node_map;
  Machine m(config);
  std::vector<int> result;
  for (unsigned link = 0; link < 3; ++link) {
    const unsigned at = devfn(14 + link, 0);
    const u32 peer = m.pci_read(at, 0x94, 4, pkg, 3);
    const bool valid = m.pci_read(at, 0x120, 4, pkg, 3) >> 4 & 1;
    EXPECT_EQ(peer >> 8 & 0x1f, valid ? link : 0u) << "the port";
    result.push_back(valid ? static_cast<int>(peer >> 16 & 0xf) : -1);
    m.pci_write(at, 0x94, ~0u, 4, pkg, 3);
    EXPECT_EQ(m.pci_read(at, 0x94, 4, pkg, 3), peer) << "read-only";
  }
  return result;
}

TEST(SkylakeLinks, Topology) {
  using V = std::vector<int>;
  EXPECT_EQ(peers(1, 0), (V{-1, -1, -1}));
  EXPECT_EQ(peers(2, 0), (V{1, 1, 1}));
  EXPECT_EQ(peers(2, 1), (V{0, 0, 0}));
  EXPECT_EQ(peers(2, 0, 013), (V{1, 1, 1})) << "package 1 has node 1, package 0 node 3";
  EXPECT_EQ(peers(2, 1, 013), (V{3, 3, 3}));
  EXPECT_EQ(peers(4, 0), (V{1, 2, 3}));
  EXPECT_EQ(peers(4, 3), (V{2, 1, 0}));
  EXPECT_EQ(peers(3, 2), (V{-1, 0, 1}));
  EXPECT_EQ(peers(8, 5), (V{4, 7, 1}));
}

TEST_F(Skylake, StacksHaveRootPortsWithDevices) {
  const model_config config = full(model_skx);
  const struct { unsigned stack, part, id, below, device, class_code; } ports[] = {
      {1, 0, 0x2030, 6, 0x1583, 0x020000},
      {2, 0, 0x2030, 7, 0x0a54, 0x010802},
      {3, 2, 0x2032, 8, 0x0a54, 0x010802}};
  for (unsigned pkg : {0u, 1u})
    for (const auto& p : ports) {
      EXPECT_EQ(model_bus_below(&config, p.stack), p.below);
      const u32 bus = m.rdmsr(0x300, pkg) >> 8 * p.stack & 0xff;
      const auto port = [&](unsigned where) {
        return m.pci_read(devfn(p.part, 0), where, 4, pkg, p.stack);
      };
      EXPECT_EQ(port(0x00), p.id << 16 | 0x8086);
      EXPECT_EQ(port(0x08) >> 8, 0x060400u) << "a PCI bridge";
      EXPECT_EQ(port(0x0c) >> 16, 1u);
      EXPECT_EQ(port(0x18), bus | (bus + 1) << 8 | (bus + 1) << 16);
      EXPECT_EQ(model_bus_number(&config, pkg, p.below), bus + 1);
      EXPECT_GT(port(0x1c) & 0xff, port(0x1c) >> 8 & 0xff) << "no IO";
      EXPECT_GT(port(0x20) & 0xffff, port(0x20) >> 16) << "no memory";
      EXPECT_GT(port(0x24) & 0xffff, port(0x24) >> 16);
      EXPECT_EQ(m.pci_read(0, 0x00, 4, pkg, p.below), p.device << 16 | 0x8086);
      EXPECT_EQ(m.pci_read(0, 0x08, 4, pkg, p.below) >> 8, p.class_code);
      EXPECT_EQ(m.pci_read(devfn(5, 0), 0x00, 4, pkg, p.below), 0xffffffffu);
    }
  EXPECT_EQ(model_bus_below(&config, 0), 0u);
  model_config many = config;
  many.packages = 16;
  EXPECT_EQ(model_bus_below(&many, 1), 0u) << "no room for another number";
  EXPECT_EQ(Machine(many).pci_read(devfn(0, 0), 0, 4, 0, 1), 0xffffffffu);
}

TEST_F(Skylake, AnAbsentStackHasNoBus) {
  model_config config = full(model_skx);
  ASSERT_EQ(set_boxes(config, "iio", 4), 0);
  Machine four(config);
  EXPECT_EQ(four.rdmsr(0x300) >> 32, 0x80000000u);
  EXPECT_EQ(four.rdmsr(0x300, 1) & 0xffffffffu, m.rdmsr(0x300, 1) & 0xffffffffu);
}

TEST_F(Skylake, M3upiAndM2pcieEventsNeedTheirCounters) {
  // M3UPI: 0x1d counts on counter 0 alone
  for (unsigned i : {0u, 1u, 2u})
    m.pci_write(devfn(18, 5), 0xd8 + 4 * i, kEn | umask(1) | 0x1d, 4, 0, 3);
  m.traffic({.box_type = M3UPI, .box = 2, .code = 0x1d, .umask = 1, .count = 9});
  EXPECT_EQ(m.pci_read(devfn(18, 5), 0xa0, 4, 0, 3), 9u);
  EXPECT_EQ(m.pci_read(devfn(18, 5), 0xa8, 4, 0, 3), 0u);
  EXPECT_EQ(m.pci_read(devfn(18, 5), 0xb0, 4, 0, 3), 0u);
  m.pci_write(devfn(18, 5), 0xe4, kEn, 4, 0, 3);
  EXPECT_EQ(m.pci_read(devfn(18, 5), 0xe4, 4, 0, 3), 0u) << "three counters";
  for (unsigned i = 0; i < 4; ++i)
    m.pci_write(devfn(21, 5), 0xd8 + 4 * i, kEn | umask(3) | 0x23, 4, 0, 3);
  m.advance(40);
  const u32 counted = m.pci_read(devfn(21, 5), 0xa0, 4, 0, 3);
  EXPECT_GT(counted, 0u);
  EXPECT_LE(counted, 40u) << "2, at most 1 a cycle";
  EXPECT_EQ(m.pci_read(devfn(21, 5), 0xa8, 4, 0, 3), counted);
  EXPECT_EQ(m.pci_read(devfn(21, 5), 0xb0, 4, 0, 3), 0u);
}

TEST_F(Skylake, M2mKeepsItsMatchRegisters) {
  for (unsigned where : {0x268u, 0x26cu, 0x270u, 0x274u, 0x278u}) {
    m.pci_write(devfn(9, 0), where, 0x1000 + where, 4, 0, 2);
    EXPECT_EQ(m.pci_read(devfn(9, 0), where, 4, 0, 2), 0x1000 + where);
  }
}

constexpr u32 iio(unsigned stack, unsigned at) { return 0xa40 + 0x20 * stack + at; }
constexpr u64 ch_mask(u64 ports) { return ports << 36; }
constexpr u64 fc_mask(u64 classes) { return classes << 44; }
constexpr u64 wide_thresh(u64 value) { return value << 24; }

TEST_F(Skylake, EachStackCounts) {
  ASSERT_EQ(m.boxes(IIO), 6u);
  for (unsigned stack = 0; stack < 6; ++stack) {
    for (unsigned i = 0; i < 4; ++i) m.wrmsr(iio(stack, 0x8 + i), kEn | 0x01);
    for (unsigned i : {0u, 1u}) m.wrmsr(iio(stack, 0x1b + i), kEn | 0x01);
    m.advance(100 + stack);
    for (unsigned i = 0; i < 4; ++i) {
      EXPECT_EQ(m.rdmsr(iio(stack, 0x1 + i)), 100u + stack) << "IIO " << stack;
      m.wrmsr(iio(stack, 0x8 + i), 0);
    }
    for (unsigned i : {0u, 1u}) {
      EXPECT_EQ(m.rdmsr(iio(stack, 0x19 + i)), 100u + stack) << "IRP " << stack;
      m.wrmsr(iio(stack, 0x1b + i), 0);
    }
  }
  m.advance(10);
  EXPECT_EQ(m.rdmsr(iio(0, 1)), 100u);
  EXPECT_EQ(m.rdmsr(iio(0, 0x19)), 100u);
  for (unsigned at : {0x6u, 0xcu, 0x1du, 0x1eu})
    EXPECT_FALSE(model_msr_claims(m.model(), iio(0, at))) << at;
  model_config config = full(model_skx);
  ASSERT_EQ(set_boxes(config, "iio", 4), 0);
  Machine four(config);
  EXPECT_EQ(four.boxes(IRP), 4u);
  EXPECT_TRUE(model_msr_claims(four.model(), iio(3, 8)));
  EXPECT_FALSE(model_msr_claims(four.model(), iio(4, 8)));
  EXPECT_FALSE(model_msr_claims(four.model(), iio(4, 0x5)));
  EXPECT_FALSE(model_msr_claims(four.model(), 0xb40));
}

TEST_F(Skylake, BoxesOfAStackFreezeApart) {
  m.wrmsr(iio(2, 0x8), kEn | 0x01);
  m.wrmsr(iio(2, 0x1b), kEn | 0x01);
  m.wrmsr(iio(2, 0x0), kFrz);
  m.advance(10);
  m.wrmsr(iio(2, 0x0), 0);
  m.wrmsr(iio(2, 0x18), kFrz);
  m.advance(3);
  EXPECT_EQ(m.rdmsr(iio(2, 0x1)), 3u);
  EXPECT_EQ(m.rdmsr(iio(2, 0x19)), 10u);
  m.wrmsr(iio(2, 0x18), kRstCtrs | kRstCtrl);
  EXPECT_EQ(m.rdmsr(iio(2, 0x19)), 0u);
  EXPECT_EQ(m.rdmsr(iio(2, 0x1b)), 0u);
  EXPECT_EQ(m.rdmsr(iio(2, 0x1)), 3u);
  m.wrmsr(0x700, kFreeze);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(iio(2, 0x1)), 3u);
}

TEST_F(Skylake, PortAndClassMasksSelectTransactions) {
  // DATA_REQ_OF_CPU, writes to memory
  const auto control = [](u64 ports, u64 classes) {
    return ch_mask(ports) | fc_mask(classes) | kEn | umask(0x01) | 0x83;
  };
  const auto write = [this](u32 port, u32 fc, u64 count) {
    m.traffic({.box_type = IIO, .box = 1, .code = 0x83, .umask = 0x01, .count = count,
               .value = 16, .port = port, .fc = fc});
  };
  m.wrmsr(iio(1, 0x8), control(0x2, 7));
  m.wrmsr(iio(1, 0x9), control(0xf, 7));
  m.wrmsr(iio(1, 0xa), control(0xf, 7));
  write(0x1, 1, 10);
  write(0x2, 1, 100);
  write(0x8, 4, 1000);
  write(0x10, 1, 10000);
  EXPECT_EQ(m.rdmsr(iio(1, 0x1)), 16u * 100);
  EXPECT_EQ(m.rdmsr(iio(1, 0x2)), 16u * 1110);
  EXPECT_EQ(m.rdmsr(iio(1, 0x3)), 0u) << "0x83 counts on counters 0 and 1 alone";
  m.wrmsr(iio(1, 0x0), kRstCtrs);
  m.wrmsr(iio(1, 0x8), control(0xf, 4));
  m.wrmsr(iio(1, 0x9), control(0xf, 0));
  write(0x1, 1, 10);
  write(0x8, 4, 1000);
  EXPECT_EQ(m.rdmsr(iio(1, 0x1)), 16u * 1000);
  EXPECT_EQ(m.rdmsr(iio(1, 0x2)), 0u) << "a mask of 0";
  m.wrmsr(iio(1, 0x9), control(0, 7));
  write(0x1, 1, 10);
  EXPECT_EQ(m.rdmsr(iio(1, 0x2)), 0u) << "no port";
  // VTD_ACCESS has no masks
  m.wrmsr(iio(1, 0xb), kEn | umask(0x20) | 0x41);
  m.traffic({.box_type = IIO, .box = 1, .code = 0x41, .umask = 0x20, .count = 3});
  EXPECT_EQ(m.rdmsr(iio(1, 0x4)), 3u);
}

TEST_F(Skylake, AnIioThresholdHas12Bits) {
  m.wrmsr(iio(0, 0x8), ~0ULL);
  EXPECT_EQ(m.rdmsr(iio(0, 0x8)), 0x00007fffffd4ffffULL);
  m.wrmsr(iio(0, 0x1b), ~0ULL);
  EXPECT_EQ(m.rdmsr(iio(0, 0x1b)), 0xffd4ffffULL) << "of the IRP 8";
  // VTD_OCCUPANCY
  const auto counted = [this](u64 limit, u32 bits, u32 value) {
    m.wrmsr(iio(0, 0x0), kRstCtrs | kRstCtrl);
    m.wrmsr(iio(0, 0x8), wide_thresh(limit) | bits | kEn | 0x40);
    m.traffic({.box_type = IIO, .code = 0x40, .count = 7, .value = value});
    return m.rdmsr(iio(0, 0x1));
  };
  EXPECT_EQ(counted(0, 0, 1024), 7u * 1024);
  EXPECT_EQ(counted(256, 0, 255), 0u);
  EXPECT_EQ(counted(256, 0, 256), 7u);
  EXPECT_EQ(counted(256, kEdge, 256), 7u);
  EXPECT_EQ(counted(1024, 0, 1023), 0u);
  EXPECT_EQ(counted(1024, 0, 1024), 7u);
  EXPECT_EQ(counted(4095, 0, 4094), 0u);
  EXPECT_EQ(counted(4095, 0, 4095), 7u);
}

TEST_F(Skylake, StacksSignalOverflowsButTheLast) {
  for (unsigned stack = 0; stack < 6; ++stack) {
    const u64 bit = stack < 5 ? 1ULL << (56 + stack) : 0;
    struct Counter { u32 ctl, ctr, status, own; };
    for (const auto& [ctl, ctr, status, own] :
         {Counter{iio(stack, 0xb), iio(stack, 0x4), iio(stack, 0x7), 1u << 3},
          Counter{iio(stack, 0x1c), iio(stack, 0x1a), iio(stack, 0x1f), 1u << 1}}) {
      m.pmis.clear();
      m.wrmsr(0x700, 0x3);
      m.wrmsr(ctr, kTop - 5);
      m.wrmsr(ctl, kEn | kOvEn | 0x01);
      m.advance(10);
      EXPECT_EQ(model_frozen(m.model(), 0), bit != 0);
      EXPECT_EQ(m.rdmsr(0x701), bit);
      EXPECT_EQ(m.pmis.size(), bit ? 1u : 0u);
      EXPECT_EQ(m.rdmsr(ctr), bit ? 0u : 5u);
      EXPECT_EQ(m.rdmsr(status), own);
      m.wrmsr(ctl, 0);
      m.wrmsr(status, own);
      EXPECT_EQ(m.rdmsr(status), 0u);
      m.wrmsr(0x701, bit);
      m.wrmsr(0x700, kUnfreeze);
    }
  }
}

class SkylakeFree : public Skylake {
 protected:
  s64 pass(unsigned stack, u32 mask, u64 count) {
    return m.traffic({.box_type = IIO_FREE, .box = stack, .code = 0xff, .umask = mask,
                      .count = count});
  }
};

TEST_F(SkylakeFree, EachCounterCountsItsTransactions) {
  for (unsigned stack = 0; stack < 6; ++stack) {
    for (unsigned port = 0; port < 4; ++port) {
      pass(stack, 0x20 + port, 1000 * stack + 100 + port);
      pass(stack, 0x24 + port, 1000 * stack + 200 + port);
      pass(stack, 0x30 + 2 * port, 1000 * stack + 300 + port);
      pass(stack, 0x31 + 2 * port, 1000 * stack + 400 + port);
    }
    pass(stack, 0x10, 1000 * stack + 500);
  }
  for (unsigned stack = 0; stack < 6; ++stack) {
    const u32 base = 0xb00 + 0x10 * stack;
    for (unsigned port = 0; port < 4; ++port) {
      EXPECT_EQ(m.rdmsr(base + port), 1000 * stack + 100 + port) << stack;
      EXPECT_EQ(m.rdmsr(base + 4 + port), 1000 * stack + 200 + port);
      EXPECT_EQ(m.rdmsr(base + 8 + 2 * port), 1000 * stack + 300 + port);
      EXPECT_EQ(m.rdmsr(base + 9 + 2 * port), 1000 * stack + 400 + port);
    }
    EXPECT_EQ(m.rdmsr(iio(stack, 0x5)), 1000 * stack + 500);
    EXPECT_EQ(m.rdmsr(iio(stack, 0x5), 1), 0u) << "the other package";
  }
  EXPECT_FALSE(model_msr_claims(m.model(), 0xb60));
}

TEST_F(SkylakeFree, NothingStopsOrSetsThem) {
  m.advance(100);
  EXPECT_EQ(m.rdmsr(0xb00), 100u) << "without traffic 4 bytes a cycle";
  for (u32 at : {0xa45u, 0xb00u, 0xb5fu}) {
    EXPECT_EQ(m.wrmsr(at, 0), MODEL_GP);
    EXPECT_EQ(m.rdmsr(at), 100u);
  }
  m.wrmsr(0x700, kFreeze);
  for (unsigned stack = 0; stack < 6; ++stack) {
    m.wrmsr(iio(stack, 0x0), kFrz | kRstCtrs | kRstCtrl);
    m.wrmsr(iio(stack, 0x18), kFrz | kRstCtrs | kRstCtrl);
  }
  m.advance(11);
  EXPECT_EQ(pass(5, 0x37, 1000), 1000);
  EXPECT_EQ(m.rdmsr(0xa45), 111u);
  EXPECT_EQ(m.rdmsr(0xb00), 111u);
  EXPECT_EQ(m.rdmsr(0xb5f), 1111u);
}

TEST_F(SkylakeFree, TheyWrapAt36Bits) {
  pass(0, 0x20, (1ULL << 36) - 3);
  EXPECT_EQ(m.rdmsr(0xb00), (1ULL << 36) - 3);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xb00), 7u);
  EXPECT_EQ(m.rdmsr(0xb01), 10u);
}

TEST_F(SkylakeFree, StacksHaveTheirClock) {
  model_config config = full(model_skx);
  config.clock_khz[MODEL_UCLK] = 2400000;
  config.clock_khz[MODEL_IOCLK] = 1000000;
  Machine slow(config);
  slow.wrmsr(iio(3, 0x8), kEn | 0x01);
  slow.advance(2400);
  EXPECT_EQ(slow.rdmsr(iio(3, 0x5)), 1000u);
  EXPECT_EQ(slow.rdmsr(iio(3, 0x1)), 1000u);
}

TEST_F(Skylake, AsManyM3upisAsLinks) {
  model_config config = full(model_skx);
  ASSERT_EQ(set_boxes(config, "upi", 2), 0);
  EXPECT_EQ(Machine(config).boxes(M3UPI), 2u);
  EXPECT_EQ(Machine(config).pci_read(devfn(16, 0), 0, 4, 0, 3), 0xffffffffu);
  EXPECT_EQ(set_boxes(config, "m3upi", 3), -1);
  EXPECT_EQ(set_boxes(config, "upi", 4), -1);
  ASSERT_EQ(set_boxes(config, "upi", 0), 0);
  EXPECT_EQ(Machine(config).boxes(M3UPI), 0u);
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
