// SPDX-License-Identifier: GPL-2.0-or-later
// Configuration of the model, the names and numbers of its boxes, and its list of changed
// registers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine.h"

namespace test {
namespace {

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
  const std::pair<const char*, u32> wrong[] = {{"cbox", 0}, {"cbox", 19}, {"sbox", 3},
                                               {"ha", 3},   {"imc", 9},   {"qpi", 4},
                                               {"ubox", 0}, {"irp", 1},   {"r3qpi", 2}};
  for (const auto& [name, number] : wrong) {
    EXPECT_NE(init(with([&](auto& c) {
                c.boxes[model_find_type(c.gen, name)] = number;
              })), 0)
        << name;
    model_config config = kFull;
    EXPECT_EQ(set_boxes(config, name, number), -1) << name;
  }
  EXPECT_NE(init(with([](auto& c) { c.counter_bits = 40; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.fixed_bits = 31; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.fixed_bits = 49; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.num_c = 64; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.num_c = -2; })), 0);
  EXPECT_EQ(init(with([](auto& c) { c.node_map = 020; })), 0);
  EXPECT_NE(init(with([](auto& c) { c.node_map = 033; })), 0);
}

// Cluster-on-die: each socket has two nodes, and the UBox has the number of the first.
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

TEST(Config, NumbersOfBoxesAreWithinTheTypesLimits) {
  model_config config = kFull;
  model_limits limits;
  EXPECT_EQ(model_set_boxes(&config, "cbox", 19, &limits), -1);
  EXPECT_EQ(limits.least, 1);
  EXPECT_EQ(limits.most, 18);
  EXPECT_FALSE(limits.ends);
  EXPECT_EQ(model_set_boxes(&config, "sbox", 3, &limits), -1);
  EXPECT_TRUE(limits.ends) << "2 or 4";
  EXPECT_EQ(model_set_boxes(&config, "qpi", 2, &limits), 0);
  EXPECT_EQ(config.boxes[model_find_type(config.gen, "r3qpi")], 2u) << "as many as QPI ports";
  EXPECT_EQ(model_set_boxes(&config, "r3qpi", 2, &limits), 0);
  EXPECT_EQ(model_set_boxes(&config, "cha", 0, &limits), 0) << "it has none";
  EXPECT_EQ(model_set_boxes(&config, "cha", 1, &limits), -1);
  EXPECT_EQ(limits.most, 0);
}

TEST(Config, NamesAndNumbersOfBoxes) {
  Machine m;
  std::vector<std::string> names;
  std::vector<unsigned> numbers;
  for (unsigned i = 0; model_box_type_name(m.model(), i); ++i) {
    names.emplace_back(model_box_type_name(m.model(), i));
    numbers.push_back(model_boxes(m.model(), i));
  }
  const std::vector<std::string> own_names{"ubox", "cbox",   "ha",   "imc", "irp",
                                           "pcu",  "r2pcie", "sbox", "qpi", "r3qpi"};
  const std::vector<unsigned> own_numbers{1, 18, 2, 8, 2, 1, 1, 4, 3, 3};
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
