// SPDX-License-Identifier: GPL-2.0-or-later
// The machine of the model's tests: addresses of registers, and the front end. See
// machine.h.
#include "machine.h"

#include <gtest/gtest.h>

namespace test {
namespace {

constexpr const char* kNames[] = {"ubox", "cbox", "sbox", "ha",     "imc",
                                  "irp",  "pcu",  "qpi",  "r2pcie", "r3qpi",
                                  "gbsq", "gsnpq", "fsb", "cha", "m2m", "upi", "m3upi",
                                  "m2pcie", "iio", "iio_free_running"};

// Devices and functions of Table 1-3. pci_test.cpp checks the device IDs of the iMC.
constexpr unsigned kHa[] = {devfn(18, 1), devfn(18, 5)};
constexpr unsigned kImc[] = {devfn(20, 0), devfn(20, 1), devfn(21, 0),
                             devfn(21, 1), devfn(23, 0), devfn(23, 1),
                             devfn(24, 0), devfn(24, 1)};
constexpr unsigned kQpi[] = {devfn(8, 2), devfn(9, 2), devfn(10, 2)};
constexpr unsigned kR3qpi[] = {devfn(11, 1), devfn(11, 2), devfn(11, 5)};

Reg msr(unsigned at) { return {.at = at, .bytes = 8}; }

Reg pci(const Box& box, unsigned at, unsigned bytes) {
  Reg reg{.pci = true, .at = at, .bytes = bytes};
  switch (box.box_type) {
    case HA:
      reg.devfn = kHa[box.index];
      break;
    case IMC:
      reg.devfn = kImc[box.index];
      break;
    case IRP:
      reg.devfn = devfn(5, 6);
      reg.bus = kIoBus;
      break;
    case QPI:
      reg.devfn = kQpi[box.index];
      break;
    case R2PCIE:
      reg.devfn = devfn(16, 1);
      break;
    default:
      reg.devfn = kR3qpi[box.index];
      break;
  }
  return reg;
}

void on_pmi(void* ctx, unsigned pkg, u32 cores, bool wake) {
  static_cast<Machine*>(ctx)->pmis.push_back({pkg, cores, wake});
}

u64 on_now_ns(void* ctx) { return static_cast<Machine*>(ctx)->now_ns; }

void on_undefined(void* ctx, unsigned pkg, const char* text) {
  static_cast<Machine*>(ctx)->undefined.push_back(std::to_string(pkg) + " " +
                                                  text);
}

constexpr model_ops kOps = {on_pmi, on_now_ns, on_undefined};

}  // namespace

unsigned Box::counters() const {
  if (box_type == UBOX || box_type == IRP) return 2;
  return box_type == R3QPI ? 3 : 4;
}

u32 Box::ones() const {
  return box_type == R2PCIE || box_type == R3QPI ? 0 : kOnes;
}

u32 Box::status_bit(unsigned counter) const {
  // both IRPs have their bits in the same register
  if (box_type == IRP) return 1u << (2 * index + counter);
  return 1u << (box_type == IMC ? counter + 1 : counter);
}

// Table 2-3
u64 Box::global_bits() const {
  switch (box_type) {
    case UBOX:
      return 1ull << 1;
    case HA:
      return index == 0 ? 1ull << 21 : 1ull << 22;
    case IMC:
      return index < 4 ? 1ull << 23 : 1ull << 24;
    case IRP:
      return 1ull << 34;
    case PCU:
      return 1ull << 2;
    case QPI:
      return index < 2 ? 1ull << 25 : 1ull << 26;
    case R2PCIE:
      return 1ull << 29;
    case R3QPI:
      return 1ull << 35 | (index < 2 ? 1ull << 27 : 1ull << 28);
    default:
      return 0;
  }
}

u32 Box::event() const {
  switch (box_type) {
    case UBOX:
      return 0x46;
    case IRP:
      return 0x0d;
    case QPI:
      return 0x14;
    case R2PCIE:
    case R3QPI:
      return 0x01;
    default:
      return 0x00;
  }
}

std::string Box::name() const {
  return std::string(kNames[box_type]) + std::to_string(index);
}

Reg Box::ctl(unsigned i) const {
  switch (box_type) {
    case UBOX:
      return msr(0x705 + i);
    case CBOX:
      return msr(0xe01 + 16 * index + i);
    case SBOX:
      return msr(0x721 + 10 * index + i);
    case PCU:
      return msr(0x711 + i);
    case IRP:
      return pci(*this, 0xd8 + 4 * (2 * index + i), 4);
    default:
      return pci(*this, 0xd8 + 4 * i, 4);
  }
}

Reg Box::ctr(unsigned i) const {
  switch (box_type) {
    case UBOX:
      return msr(0x709 + i);
    case CBOX:
      return msr(0xe08 + 16 * index + i);
    case SBOX:
      return msr(0x726 + 10 * index + i);
    case PCU:
      return msr(0x717 + i);
    case IRP:
      return pci(*this, 0xa0 + 8 * (2 * index + i), 8);
    default:
      return pci(*this, 0xa0 + 8 * i, 8);
  }
}

Reg Box::fixed_ctl() const {
  return box_type == UBOX ? msr(0x703) : pci(*this, 0xf0, 4);
}

Reg Box::fixed_ctr() const {
  return box_type == UBOX ? msr(0x704) : pci(*this, 0xd0, 8);
}

Reg Box::box_ctl() const {
  switch (box_type) {
    case CBOX:
      return msr(0xe00 + 16 * index);
    case SBOX:
      return msr(0x720 + 10 * index);
    case PCU:
      return msr(0x710);
    default:
      return pci(*this, 0xf4, 4);
  }
}

Reg Box::status() const {
  switch (box_type) {
    case UBOX:
      return msr(0x708);
    case CBOX:
      return msr(0xe07 + 16 * index);
    case SBOX:
      return msr(0x725 + 10 * index);
    case PCU:
      return msr(0x716);
    default:
      return pci(*this, 0xf8, 4);
  }
}

std::vector<Box> all_boxes(bool (*wanted)(const Box&)) {
  constexpr unsigned kCount[] = {1, 18, 4, 2, 8, 2, 1, 3, 1, 3};
  std::vector<Box> boxes;
  for (unsigned box_type = 0; box_type < std::size(kCount); ++box_type)
    for (unsigned i = 0; i < kCount[box_type]; ++i) {
      const Box box{static_cast<BoxType>(box_type), i};
      if (!wanted || wanted(box)) boxes.push_back(box);
    }
  return boxes;
}

model_config full(const model_generation& gen) {
  model_config config = kTwoPackages;
  config.gen = &gen;
  model_all_boxes(&config);
  return config;
}

int set_boxes(model_config& config, const char* box_type, u32 number) {
  model_limits limits;
  return model_set_boxes(&config, box_type, number, &limits);
}

Machine::Machine(const model_config& config)
    : gen_(*config.gen),
      memory_(model_size() / sizeof(u64) + 1),
      model_(reinterpret_cast<struct model*>(memory_.data())) {
  EXPECT_EQ(model_init(model_, &config, &kOps, this), 0);
}

unsigned Machine::type(BoxType box_type) const {
  return model_find_type(&gen_, kNames[box_type]);
}

u64 Machine::read(const Reg& reg, unsigned pkg) {
  if (!reg.pci) return rdmsr(reg.at, pkg);
  u64 value = pci_read(reg.devfn, reg.at, 4, pkg, reg.bus);
  if (reg.bytes == 8)
    value |=
        static_cast<u64>(pci_read(reg.devfn, reg.at + 4, 4, pkg, reg.bus))
        << 32;
  return value;
}

int Machine::write(const Reg& reg, u64 value, unsigned pkg) {
  if (!reg.pci) return wrmsr(reg.at, value, pkg);
  pci_write(reg.devfn, reg.at, static_cast<u32>(value), 4, pkg, reg.bus);
  if (reg.bytes == 8)
    pci_write(reg.devfn, reg.at + 4, static_cast<u32>(value >> 32), 4, pkg,
              reg.bus);
  return MODEL_OK;
}

u64 Machine::rdmsr(u32 msr, unsigned pkg) {
  u64 value = ~0ull;
  EXPECT_EQ(model_msr_read(model_, pkg, msr, &value), MODEL_OK)
      << std::hex << "MSR 0x" << msr;
  return value;
}

int Machine::wrmsr(u32 msr, u64 value, unsigned pkg) {
  return model_msr_write(model_, pkg, msr, value);
}

u32 Machine::pci_read(unsigned devfn, unsigned where, unsigned size,
                      unsigned pkg, unsigned bus) {
  return model_pci_read(model_, pkg, bus, devfn, where, size);
}

void Machine::pci_write(unsigned devfn, unsigned where, u32 value,
                        unsigned size, unsigned pkg, unsigned bus) {
  model_pci_write(model_, pkg, bus, devfn, where, size, value);
}

void Machine::program(const Box& box, unsigned counter, u32 ctl, unsigned pkg) {
  write(box.ctl(counter), ctl & ~kEn, pkg);
  write(box.ctl(counter), ctl, pkg);
}

s64 Machine::traffic(const Txn& txn) {
  const model_txn t = {
      .box_type = type(txn.box_type),
      .box = txn.box,
      .pkg = txn.pkg,
      .code = txn.code,
      .umask = txn.umask,
      .count = txn.count,
      .value = txn.value,
      .tid = txn.tid,
      .state = txn.state,
      .link = txn.link,
      .nid = txn.nid,
      .opc = txn.opc,
      .nc = txn.nc,
      .c6 = txn.c6,
      .isoc = txn.isoc,
      .remote = txn.remote,
      .near = txn.near,
      .port = txn.port,
      .fc = txn.fc,
      .addr = txn.addr,
      .dir = txn.dir,
      .pkt = {txn.pkt[0], txn.pkt[1]},
      .freq = txn.freq,
      .agent = txn.agent,
      .flow = txn.flow,
      .type = txn.type,
      .snoop = txn.snoop,
      .core = txn.core,
      .fill = txn.fill,
      .cross = txn.cross,
      .block = txn.block,
  };
  return model_traffic(model_, &t);
}

std::vector<std::string> Machine::dirty() {
  std::vector<std::string> lines;
  model_show_dirty(
      model_,
      [](void* arg, unsigned pkg, const char* name, u64 value) {
        char text[80];
        snprintf(text, sizeof(text), "%u %s 0x%llx", pkg, name,
                 static_cast<unsigned long long>(value));
        static_cast<std::vector<std::string>*>(arg)->push_back(text);
      },
      &lines);
  return lines;
}

}  // namespace test
