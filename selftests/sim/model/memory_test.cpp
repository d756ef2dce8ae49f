// SPDX-License-Identifier: GPL-2.0-or-later
// Boxes with registers in memory: a made-up generation with the registers of Ice Lake's memory
// channels, in two controllers, and of their free-running counters.
#include <gtest/gtest.h>

extern "C" {
#include "model/priv.h"
}

#include "machine.h"

namespace test {
namespace {

constexpr u64 kBase = 0x80'0000'0000;
constexpr u32 kChannel[] = {0x22800, 0x26800, 0x62800, 0x66800};
constexpr u32 kController[] = {0, 0x40000};

constexpr model_wave kWaves[] = {{.code = 0x01, .umask = 0x00, .zeros = 0, .rule = MODEL_ANY,
                                  .max_inc = 1, .ctrs = 0xf, .period = 1, .v = {1}}};
constexpr model_wave kFreeWaves[] = {{.code = 0xff, .umask = 0x20, .zeros = 0,
                                      .rule = MODEL_EXACT, .max_inc = 4, .ctrs = 0,
                                      .period = 2, .v = {4, 1}}};

const model_layout kLayout = [] {
  model_layout l{};
  l.ev_sel = 0xff;
  l.umask = 0xff00;
  l.ov_en = 1 << 20;
  l.en = 1 << 22;
  l.thresh_shift = 24;
  l.rst_ctrl = 1 << 0;
  l.rst_ctrs = 1 << 1;
  l.frz = 1 << 8;
  return l;
}();

model_reg reg(u32 at, u8 bytes, u8 type, u8 index, u64 keep, u64 wo, const char* name) {
  model_reg r{};
  r.at = at;
  r.bytes = bytes;
  r.type = type;
  r.index = index;
  r.keep = keep;
  r.wo = wo;
  r.name = name;
  return r;
}

model_reg free_running(u32 at, u8 index, bool counts) {
  model_reg r = reg(at, 8, REG_FREE, index, 0, 0, "free");
  r.bits = 48;
  r.counts = counts;
  r.code = 0xff;
  r.umask = 0x20;
  return r;
}

const model_reg kRegs[] = {reg(0x00, 4, REG_BOX_CTL, 0, 0, 0x103, "box_ctl"),
                           reg(0x08, 8, REG_CTR, 0, 0, 0, "ctr0"),
                           reg(0x10, 8, REG_CTR, 1, 0, 0, "ctr1"),
                           reg(0x40, 4, REG_CTL, 0, 0xff50ffff, 0, "ctl0"),
                           reg(0x44, 4, REG_CTL, 1, 0xff50ffff, 0, "ctl1"),
                           reg(0x5c, 4, REG_STATUS, 0, 0x3, 0, "box_status")};
const model_reg kFreeRegs[] = {free_running(0x2290, 1, true), free_running(0x22b0, 0, false)};
const model_reg kPciRegs[] = {reg(0xd0, 4, REG_MEMORY_BASE, 0, 0, 0, "memory_base")};
const model_reg kMsrs[] = {reg(0x700, 8, REG_GLOBAL_CTL, 0, 0, 0, "global_ctl")};

template <size_t N, size_t W>
model_type type(const char* name, const u32* memory, u32 most, const model_reg (&regs)[N],
                const model_wave (&waves)[W]) {
  model_type t{};
  t.name = name;
  t.boxes = {1, static_cast<u8>(most), false, false, nullptr};
  t.memory = memory;
  t.layout = &kLayout;
  t.counters = 2;
  t.thresh = 0xff;
  t.regs = regs;
  t.nregs = N;
  t.waves = waves;
  t.nwaves = W;
  return t;
}

const model_type kTypes[] = {type("channel", kChannel, 4, kRegs, kWaves),
                             type("channel_free", kController, 2, kFreeRegs, kFreeWaves),
                             [] {
                               model_type t = type("global", nullptr, 1, kMsrs, kWaves);
                               t.first = t.last = 0x700;
                               return t;
                             }()};

const model_function kFunctions[] = {[] {
  model_function f{};
  f.devfn = devfn(0, 1);
  f.id = 0x3451;
  f.type = "channel";
  f.regs = kPciRegs;
  f.nregs = std::size(kPciRegs);
  return f;
}()};

const model_generation kMadeUp = [] {
  model_generation gen{};
  gen.name = "made_up_memory";
  gen.freezes = true;
  gen.frz_all = 1ULL << 63;
  gen.unfrz_all = 1ULL << 61;
  gen.types = kTypes;
  gen.ntypes = std::size(kTypes);
  gen.functions = kFunctions;
  gen.nfunctions = std::size(kFunctions);
  gen.nbuses = 1;
  return gen;
}();

model_config config() {
  model_config c = full(kMadeUp);
  c.memory_base = kBase;
  return c;
}

class Memory : public testing::Test {
 protected:
  static constexpr u32 kCtr0 = 0x08, kCtr1 = 0x10, kCtl0 = 0x40, kCtl1 = 0x44, kBoxCtl = 0x00;

  u64 read(u64 at, unsigned size = 8) { return model_memory_read(m.model(), kBase + at, size); }
  void write(u64 at, u64 value, unsigned size = 4) {
    model_memory_write(m.model(), kBase + at, size, value);
  }

  Machine m{config()};
  const u32 box = kChannel[2];
};

TEST_F(Memory, OnlySomeGenerationsHaveIt) {
  EXPECT_TRUE(model_has_memory(&kMadeUp));
  EXPECT_FALSE(model_has_memory(&model_hswep));
}

TEST_F(Memory, ThePciFunctionHasTheAddressOfThePackagesWindow) {
  for (u64 pkg = 0; pkg < 2; pkg++) {
    EXPECT_EQ(m.pci_read(devfn(0, 1), 0xd0, 4, pkg),
              (kBase + pkg * MODEL_MEMORY_WINDOW) >> 23);
  }
}

TEST_F(Memory, ARegisterWithAnAddressKeepsWhatIsWrittenAndTheWindowStays) {
  write(box + kCtr0, 5);
  m.pci_write(devfn(0, 1), 0xd0, 0x1234);
  EXPECT_EQ(m.pci_read(devfn(0, 1), 0xd0), 0x1234u);
  EXPECT_EQ(m.pci_read(devfn(0, 1), 0xd0, 4, 1), (kBase + MODEL_MEMORY_WINDOW) >> 23);
  EXPECT_EQ(read(box + kCtr0), 5u);
}

TEST_F(Memory, ABaseIsAMultipleOfTheWindow) {
  const std::vector<u64> memory(model_size() / sizeof(u64) + 1);
  for (const u64 base : {kBase + 0x400000, u64{1} << 52, (u64{1} << 52) - MODEL_MEMORY_WINDOW}) {
    std::vector<u64> fresh = memory;
    model_config c = config();
    const model_ops ops{};
    c.memory_base = base;
    EXPECT_EQ(model_init(reinterpret_cast<model*>(fresh.data()), &c, &ops, nullptr), -1);
  }
}

TEST_F(Memory, TheWindowsOfThePackagesFollowOneAnother) {
  const model_config c = config();
  EXPECT_FALSE(model_memory_claims(&c, kBase - 1));
  EXPECT_TRUE(model_memory_claims(&c, kBase));
  EXPECT_TRUE(model_memory_claims(&c, kBase + 2 * MODEL_MEMORY_WINDOW - 1));
  EXPECT_FALSE(model_memory_claims(&c, kBase + 2 * MODEL_MEMORY_WINDOW));
}

TEST_F(Memory, EveryBoxHasItsOwnRegisters) {
  for (u64 pkg = 0; pkg < 2; pkg++) {
    for (const u32 place : kChannel) {
      write(pkg * MODEL_MEMORY_WINDOW + place + kCtr0, pkg << 40 | place, 8);
    }
  }
  for (u64 pkg = 0; pkg < 2; pkg++) {
    for (const u32 place : kChannel) {
      EXPECT_EQ(read(pkg * MODEL_MEMORY_WINDOW + place + kCtr0), pkg << 40 | place);
    }
  }
}

TEST_F(Memory, ABoxCounts) {
  write(box + kCtl1, kEn | 1);
  m.advance(10);
  EXPECT_EQ(read(box + kCtr1), 10u);
  EXPECT_EQ(read(kChannel[1] + kCtr1), 0u);
  write(box + kBoxCtl, kFrz);
  m.advance(10);
  EXPECT_EQ(read(box + kCtr1), 10u);
  EXPECT_EQ(m.dirty(), (std::vector<std::string>{"0 channel_2 box_ctl 0x100",
                                                 "0 channel_2 ctr1 0xa",
                                                 "0 channel_2 ctl1 0x400001"}));
  write(box + kBoxCtl, kRstCtrl | kRstCtrs);
  EXPECT_EQ(m.dirty(), std::vector<std::string>{});
}

TEST_F(Memory, AnAccessMayReachAPartOfARegister) {
  write(box + kCtr0, 0x0000a1b2c3d4e5f6, 8);
  for (const unsigned size : {1u, 2u, 4u, 8u}) {
    for (unsigned at = 0; at + size <= 8; at++) {
      const u64 mask = size == 8 ? ~0ULL : (1ULL << 8 * size) - 1;
      EXPECT_EQ(read(box + kCtr0 + at, size), 0x0000a1b2c3d4e5f6 >> 8 * at & mask)
          << at << ", " << size;
    }
  }
  write(box + kCtr0 + 4, 0x12345678);
  EXPECT_EQ(read(box + kCtr0), 0x5678c3d4e5f6u) << "48 bits";
  write(box + kCtr0 + 3, 0x9abc, 2);
  EXPECT_EQ(read(box + kCtr0), 0x569abcd4e5f6u) << "unaligned";
  write(box + kCtr0 + 5, 0x11, 1);
  EXPECT_EQ(read(box + kCtr0 + 5, 1), 0x11u);
}

TEST_F(Memory, AnAccessMayReachSeveralRegisters) {
  write(box + kCtl0, static_cast<u64>(kEn | 1) << 32 | kEn | 1, 8);
  EXPECT_EQ(read(box + kCtl0, 4), kEn | 1);
  EXPECT_EQ(read(box + kCtl1, 4), kEn | 1);
  EXPECT_EQ(read(box + kCtl0), static_cast<u64>(kEn | 1) << 32 | kEn | 1);
  write(box + kCtl0, 0, 8);
  write(box + kCtr0, 0x112233445566, 8);
  write(box + kCtr1, 0x99aabbccddee, 8);
  EXPECT_EQ(read(box + kCtr0 + 4), 0xbbccddee00001122u);
  // from registers into the space behind them
  EXPECT_EQ(read(box + kCtr1 + 4), 0x99aau);
}

TEST_F(Memory, WithoutARegisterReadsAre0) {
  write(box + 0x1000, ~0ULL, 8);
  EXPECT_EQ(read(box + 0x1000), 0u);
  EXPECT_EQ(read(MODEL_MEMORY_WINDOW - 8), 0u);
  // behind the last window
  write(2 * MODEL_MEMORY_WINDOW - 4, ~0ULL, 8);
  EXPECT_EQ(read(2 * MODEL_MEMORY_WINDOW - 4), 0u);
  EXPECT_EQ(m.dirty(), std::vector<std::string>{});
}

TEST_F(Memory, ABoxThatDoesNotExistHasNoRegisters) {
  model_config c = config();
  ASSERT_EQ(set_boxes(c, "channel", 2), 0);
  Machine smaller{c};
  model_memory_write(smaller.model(), kBase + kChannel[2] + kCtr0, 8, 5);
  EXPECT_EQ(model_memory_read(smaller.model(), kBase + kChannel[2] + kCtr0, 8), 0u);
  model_memory_write(smaller.model(), kBase + kChannel[1] + kCtr0, 8, 5);
  EXPECT_EQ(model_memory_read(smaller.model(), kBase + kChannel[1] + kCtr0, 8), 5u);
}

TEST_F(Memory, AFreeRunningCounterCannotBeWritten) {
  m.advance(10);
  EXPECT_EQ(read(kController[1] + 0x22b0), 10u) << "its clock";
  EXPECT_EQ(read(kController[1] + 0x2290), 25u) << "its event";
  write(kController[1] + 0x22b0, 1000, 8);
  write(kController[1] + 0x2290, 1000, 8);
  EXPECT_EQ(read(kController[1] + 0x22b0), 10u);
  EXPECT_EQ(read(kController[1] + 0x2290), 25u);
}

TEST_F(Memory, ADeadBoxReadsAllOnes) {
  const unsigned channel = model_find_type(&kMadeUp, "channel");
  const unsigned global = model_find_type(&kMadeUp, "global");
  EXPECT_EQ(model_fault(m.model(), MODEL_FAULT_DEAD_PCI, 0, channel, 2, true), -1);
  EXPECT_EQ(model_fault(m.model(), MODEL_FAULT_DEAD_MEMORY, 0, global, 0, true), -1);
  write(box + kCtr0, 5, 8);
  EXPECT_EQ(model_fault(m.model(), MODEL_FAULT_DEAD_MEMORY, 0, channel, 2, true), 0);
  EXPECT_EQ(read(box + kCtr0), ~0ULL);
  EXPECT_EQ(read(box + kCtl0, 4), 0xffffffffu);
  EXPECT_EQ(read(kChannel[1] + kCtr0), 0u);
  write(box + kCtr0, 6, 8);
  EXPECT_EQ(model_fault(m.model(), MODEL_FAULT_DEAD_MEMORY, 0, channel, 2, false), 0);
  EXPECT_EQ(read(box + kCtr0), 5u);
}

TEST_F(Memory, IsNotAnMsr) {
  EXPECT_FALSE(model_msr_claims(m.model(), 0x08));
  EXPECT_FALSE(model_msr_claims(m.model(), 0x40));
  EXPECT_TRUE(model_msr_claims(m.model(), 0x700));
}

}  // namespace
}  // namespace test
