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

constexpr model_wave kWaves[] = {
    {.code = 0x01, .umask = 0x00, .zeros = 0, .rule = MODEL_ANY, .max_inc = 1, .ctrs = 0xf,
     .period = 1, .v = {1}},
    {.code = 0x02, .umask = 0x00, .zeros = 0, .rule = MODEL_ANY, .max_inc = 1024, .ctrs = 0xf,
     .period = 4, .v = {1024, 300, 255, 0}},
    {.code = 0x03, .umask = 0x5a08, .zeros = 0, .rule = MODEL_EXACT, .max_inc = 1, .ctrs = 0xf,
     .period = 1, .v = {1}}};

constexpr model_wave kFreeWaves[] = {
    {.code = 0xff, .umask = 0x20, .zeros = 0, .rule = MODEL_EXACT, .max_inc = 4, .ctrs = 0,
     .period = 2, .v = {4, 1}},
    {.code = 0xff, .umask = 0x21, .zeros = 0, .rule = MODEL_EXACT, .max_inc = 1, .ctrs = 0,
     .period = 1, .v = {0}}};

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
                               reg(0x378, 4, REG_BOX_CTL, 0x301, "box_ctl")};
const model_reg kStackRegs[] = {reg(0xa41, 8, REG_CTR, 0, "ctr0"),
                                reg(0xa48, 8, REG_CTL, 0x00007fffffd4ffffULL, "ctl0")};

// As of E5, but for the place of enable, freeze and resets, and the unit mask's continuation
const model_layout kLayout = [] {
  model_layout l{};
  l.ev_sel = 0xff;
  l.umask = 0xff00;
  l.umask_ext = 0x00ffefff'00000000ULL;
  l.edge_det = 1 << 18;
  l.ov_en = 1 << 20;
  l.en = 1 << 22;
  l.invert = 1 << 23;
  l.thresh_shift = 24;
  l.rst_ctrl = 1 << 8;
  l.rst_ctrs = 1 << 9;
  l.frz = 1 << 0;
  return l;
}();

// The stack's threshold is where the link's unit mask continues
const model_layout kStackLayout = [] {
  model_layout l = kLayout;
  l.umask_ext = 0;
  return l;
}();

const model_reg kGlobalRegs[] = {reg(0x700, 8, REG_GLOBAL_CTL, 0, "global_ctl")};

model_reg free_running(u32 at, u8 index, u8 stride, bool counts, u8 mask) {
  model_reg r = reg(at, 8, REG_FREE, 0, "free");
  r.index = index;
  r.stride = stride;
  r.bits = 36;
  r.counts = counts;
  r.code = 0xff;
  r.umask = mask;
  return r;
}

// Clock and bytes of ports 0 and 1, with different distances of the boxes' registers
const model_reg kFreeRegs[] = {free_running(0xa45, 0, 0x20, false, 0),
                               free_running(0xb00, 24, 0x10, true, 0x20),
                               free_running(0xb01, 1, 0x10, true, 0x21)};

model_type type(const char* name, bool pci, std::span<const model_reg> regs) {
  model_type t{};
  t.name = name;
  t.boxes = {1, 1, false, false, nullptr};
  t.pci = pci;
  t.layout = pci ? &kLayout : &kStackLayout;
  t.counters = 1;
  t.thresh = pci ? 0xff : 0xfff;
  t.regs = regs.data();
  t.nregs = regs.size();
  t.first = regs.front().at;
  t.last = regs.back().at;
  t.waves = kWaves;
  t.nwaves = std::size(kWaves);
  return t;
}

model_type free_type() {
  model_type t = type("io_free_running", false, kFreeRegs);
  t.boxes = {1, 3, false, false, nullptr};
  t.counters = 0;
  t.last = 0xb2f;
  t.waves = kFreeWaves;
  t.nwaves = std::size(kFreeWaves);
  return t;
}

const model_type kTypes[] = {type("link", true, kLinkRegs), type("stack", false, kStackRegs),
                             type("global", false, kGlobalRegs), free_type()};

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
  gen.freezes = true;
  gen.frz_all = 1ULL << 63;
  gen.unfrz_all = 1ULL << 61;
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
  m.pci_write(link, 0x378, 1 << 8);
  EXPECT_EQ(m.pci_read(link, 0x354), 0u);
  EXPECT_EQ(m.pci_read(link, 0x350), 0u);
}

TEST_F(Tables, AControlInAnMsrHas64Bits) {
  m.wrmsr(0xa48, ~0ULL);
  EXPECT_EQ(m.rdmsr(0xa48), 0x00007fffffd4ffffULL);
  m.wrmsr(0xa48, kEn | 1);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xa41), 10u);
  // a threshold of 12 bits: 0x100 is more than the event's value 1
  m.wrmsr(0xa48, 0x00000001'00000000ULL | kEn | 1);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xa41), 10u);
}

TEST_F(Tables, FieldsAreWhereTheLayoutHasThem) {
  m.pci_write(link, 0x350, kEn | 1);
  m.pci_write(link, 0x378, 1 << 0);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 0u) << "frozen";
  m.pci_write(link, 0x378, 0);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 10u);
  m.pci_write(link, 0x378, 1 << 9);
  EXPECT_EQ(m.pci_read(link, 0x318), 0u);
  // transactions with the unit mask of both parts
  m.pci_write(link, 0x354, 0x21);
  m.pci_write(link, 0x350, kEn | 0x0301);
  model_txn t{};
  t.code = 0x01;
  t.umask = 0x2103;
  t.count = 7;
  t.value = 1;
  model_traffic(m.model(), &t);
  EXPECT_EQ(m.pci_read(link, 0x318), 7u);
}

TEST_F(Tables, AUnitMaskHasNoGap) {
  // bit 45 of the register is bit 20 of the unit mask, as bit 44 is not part of the field
  m.pci_write(link, 0x354, 1 << 13);
  m.pci_write(link, 0x350, kEn | 0x01);
  model_txn t{};
  t.code = 0x01;
  t.count = 7;
  t.value = 1;
  for (const auto& [mask, count] : {std::pair{0x2fffffu, 0u}, {0x100000u, 7u}}) {
    m.pci_write(link, 0x318, 0);
    t.umask = mask;
    model_traffic(m.model(), &t);
    EXPECT_EQ(m.pci_read(link, 0x318), count) << mask;
  }
  // a waveform by its whole unit mask
  m.pci_write(link, 0x318, 0);
  m.pci_write(link, 0x350, kEn | 0x0803);
  m.pci_write(link, 0x354, 0x5b);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 0u);
  m.pci_write(link, 0x354, 0x5a);
  m.advance(10);
  EXPECT_EQ(m.pci_read(link, 0x318), 10u);
}

TEST_F(Tables, IncrementsHave12Bits) {
  m.wrmsr(0xa48, kEn | 2);
  m.advance(5);
  EXPECT_EQ(m.rdmsr(0xa41), 1024u + 300 + 255 + 0 + 1024);
  for (const auto& [limit, cycles] : {std::pair{255u, 3u}, {256u, 2u}, {301u, 1u},
                                      {1024u, 1u}, {1025u, 0u}}) {
    m.wrmsr(0xa41, 0);
    m.wrmsr(0xa48, static_cast<u64>(limit) << 24 | kEn | 2);
    m.advance(400);
    EXPECT_EQ(m.rdmsr(0xa41), 100u * cycles) << limit;
  }
  // an edge from the cycle with 0 to 1024, and none from 1024 to 300
  m.wrmsr(0xa41, 0);
  m.wrmsr(0xa48, 256ULL << 24 | kEn | kEdge | 2);
  m.advance(400);
  EXPECT_EQ(m.rdmsr(0xa41), 100u);
}

// Skylake's bits of the global control
TEST_F(Tables, TheGlobalControlFreezesByItsBits) {
  m.wrmsr(0xa48, kEn | 1);
  m.wrmsr(0x700, 1ULL << 31);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  m.wrmsr(0x700, 1ULL << 63);
  EXPECT_TRUE(model_frozen(m.model(), 0));
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xa41), 0u);
  EXPECT_EQ(m.dirty(), (std::vector<std::string>{"0 stack ctl0 0x400001",
                                                 "0 global global_ctl 0x8000000000000000"}));
  m.wrmsr(0x700, 1ULL << 61);
  EXPECT_FALSE(model_frozen(m.model(), 0));
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xa41), 10u);
}

class FreeEvents : public Tables {
 protected:
  FreeEvents() { t.box_type = 3, t.box = 2, t.code = 0xff, t.umask = 0x21, t.value = 1; }
  model_txn t{};
};

TEST_F(FreeEvents, EachRegisterHasItsStride) {
  m.advance(11);
  for (unsigned box : {0u, 1u, 2u}) {
    EXPECT_EQ(m.rdmsr(0xa45 + 0x20 * box), 11u) << "the clock";
    EXPECT_EQ(m.rdmsr(0xb00 + 0x10 * box), 29u) << "a waveform of 4 and 1";
    EXPECT_EQ(m.rdmsr(0xb01 + 0x10 * box), 0u);
  }
  EXPECT_FALSE(model_msr_claims(m.model(), 0xa45 + 0x20 * 3));
  EXPECT_FALSE(model_msr_claims(m.model(), 0xb30));
  EXPECT_FALSE(model_msr_claims(m.model(), 0xb02));
  EXPECT_EQ(m.wrmsr(0xb00, 0), MODEL_GP);
}

TEST_F(FreeEvents, CountsTransactionsWhetherFrozenOrNot) {
  t.count = 1000;
  model_traffic(m.model(), &t);
  m.wrmsr(0x700, 1ULL << 63);
  t.count = 234;
  EXPECT_EQ(model_traffic(m.model(), &t), 234);
  m.advance(10);
  EXPECT_EQ(m.rdmsr(0xb21), 1234u);
  EXPECT_EQ(m.rdmsr(0xb20), 25u);
  EXPECT_EQ(m.rdmsr(0xb11), 0u) << "another box";
}

TEST_F(FreeEvents, WrapsAt36Bits) {
  t.count = (1ULL << 36) + 5;
  model_traffic(m.model(), &t);
  EXPECT_EQ(m.rdmsr(0xb21), 5u);
}

TEST_F(FreeEvents, CountsRates) {
  std::vector<u64> memory(model_rates_size(m.model()) / sizeof(u64) + 1);
  model_give_rates(m.model(), memory.data());
  const struct model_rate rate = {2, MODEL_RATE_ONE / 2};
  ASSERT_EQ(model_rate(m.model(), &t, &rate), 0);
  m.advance(100);
  EXPECT_EQ(m.rdmsr(0xb21), 250u);
  EXPECT_EQ(m.rdmsr(0xb20), 0u) << "the code has rates, and no waveform";
  model_only_rates(m.model());
  m.advance(100);
  EXPECT_EQ(m.rdmsr(0xb21), 500u);
  EXPECT_EQ(m.rdmsr(0xb10), 250u) << "a waveform until there were only rates";
}

}  // namespace
}  // namespace test
