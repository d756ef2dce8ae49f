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
  // box types of other generations have no name and no box
  own_names.resize(MODEL_BOX_TYPES);
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
