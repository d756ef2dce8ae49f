// SPDX-License-Identifier: GPL-2.0-or-later
// A machine for the model's tests: names for the addresses of registers, and a front end
// that records the PMIs and the undefined writes of the model. The addresses are typed
// from the manual, independently of the model.
#ifndef SELFTESTS_MODEL_MACHINE_H
#define SELFTESTS_MODEL_MACHINE_H

extern "C" {
#include "model/model.h"
}

#include <string>
#include <vector>

namespace test {

// Control register fields (Tables 2-7, 2-16 and their like).
inline constexpr u32 kRst = 1u << 17;
inline constexpr u32 kEdge = 1u << 18;
inline constexpr u32 kTidEn = 1u << 19;
inline constexpr u32 kOvEn = 1u << 20;
inline constexpr u32 kExt = 1u << 21;
inline constexpr u32 kEn = 1u << 22;
inline constexpr u32 kInvert = 1u << 23;
inline constexpr u32 kOccInvert = 1u << 30;
inline constexpr u32 kOccEdge = 1u << 31;
constexpr u32 thresh(u32 value) { return value << 24; }
constexpr u32 umask(u32 value) { return value << 8; }
constexpr u32 occ_sel(u32 value) { return value << 14; }

// Box control (Table 2-14): bits 17:16 must be written as 1.
inline constexpr u32 kOnes = 3u << 16;
inline constexpr u32 kFrz = 1u << 8;
inline constexpr u32 kRstCtrs = 1u << 1;
inline constexpr u32 kRstCtrl = 1u << 0;

// Global control (Table 2-2).
inline constexpr u32 kGlobalCtl = 0x700;
inline constexpr u32 kGlobalStatus = 0x701;
inline constexpr u32 kGlobalConfig = 0x702;
inline constexpr u32 kFrzAll = 1u << 31;
inline constexpr u32 kWakeOnPmi = 1u << 30;
inline constexpr u32 kUnfrzAll = 1u << 29;

constexpr unsigned devfn(unsigned device, unsigned function) {
  return device << 3 | function;
}

// The box types of all generations: those of chapter 2 of the manual in its order, then the
// box types of Xeon 7100 and 7400, and of Skylake.
enum BoxType {
  UBOX, CBOX, SBOX, HA, IMC, IRP, PCU, QPI, R2PCIE, R3QPI, GBSQ, GSNPQ, FSB,
  CHA, M2M, UPI, M3UPI, M2PCIE, IIO, IIO_FREE,
};

// The two buses of a package from Sandy Bridge to Broadwell
inline constexpr unsigned kUboxBus = 0, kIoBus = 1;

// Address of a register: MSR `at`, or offset `at` in the configuration space of `devfn`.
// `bytes` is 8 for a counter in PCI space.
struct Reg {
  bool pci = false;
  unsigned bus = kUboxBus;
  unsigned devfn = 0;
  unsigned at = 0;
  unsigned bytes = 4;
};

// A box and the addresses of its registers, from the tables of chapter 2.
struct Box {
  BoxType box_type;
  unsigned index;

  unsigned counters() const;
  bool has_fixed() const { return box_type == UBOX || box_type == IMC; }
  bool has_ov_en() const { return box_type != CBOX && box_type != SBOX; }
  bool has_box_ctl() const { return box_type != UBOX; }
  // Reserved bits of the box control that must be written as 1: 17:16, or none.
  u32 ones() const;
  u32 status_bit(unsigned counter) const;
  u64 global_bits() const;
  bool has_clockticks() const {
    return box_type != UBOX && box_type != IRP;
  }
  // Event code that counts in every cycle, or in some cycles if the box type has no
  // event for every cycle.
  u32 event() const;
  std::string name() const;

  Reg ctl(unsigned i) const;
  Reg ctr(unsigned i) const;
  Reg fixed_ctl() const;
  Reg fixed_ctr() const;
  Reg box_ctl() const;
  Reg status() const;
};

// Every box of a full package for which `wanted` returns true.
std::vector<Box> all_boxes(bool (*wanted)(const Box&) = nullptr);

// struct model_txn with a default for every member.
struct Txn {
  BoxType box_type = UBOX;
  unsigned box = 0;
  unsigned pkg = 0;
  u32 code = 0;
  u64 umask = 0;
  u64 count = 1;
  u32 value = 1;
  u32 tid = 0;
  u32 state = 0;
  u32 link = 0;
  u32 nid = 0;
  u32 opc = 0;
  bool nc = false;
  bool c6 = false;
  bool isoc = false;
  u64 addr = 0;
  model_dir dir = MODEL_RX;
  u32 pkt[2] = {0, 0};
  u32 freq = 0;
  u32 agent = 0;
  u32 flow = 0;
  u32 type = 0;
  u32 snoop = 0;
  u32 core = 0;
  u32 fill = 0;
  bool cross = false;
  bool block = false;
  bool remote = false;
  bool near = false;
  u32 port = 0;
  u32 fc = 0;
};

struct Pmi {
  unsigned pkg;
  u32 cores;
  bool wake;
};

// A machine with two packages, which have all boxes that the generation allows
model_config full(const model_generation& gen);

inline constexpr model_config kTwoPackages = {
    .gen = &model_hswep,
    .packages = 2,
    .boxes = {},
    .segment_packages = 0,
    .counter_bits = 48,
    .fixed_bits = 48,
    .num_c = -1,
    .node_map = 0,
    .counter_gp = 0,
    .write_whole = 0,
    .irp_counters = 0,
    .missing = {},
    .twice = -1,
    .twice_box = 0,
    .memory_base = 0,
    .clock_khz = {},
};

// Sets a number of boxes, and returns 0, or -1 if it is invalid.
int set_boxes(model_config& config, const char* box_type, u32 number);

inline const model_config kFull = full(model_hswep);

class Machine {
 public:
  explicit Machine(const model_config& config = kFull);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  struct model* model() {
    return model_;
  }

  // Index of a box type in the generation's table
  unsigned type(BoxType box_type) const;
  unsigned boxes(BoxType box_type) const { return model_boxes(model_, type(box_type)); }
  int fault(enum model_fault fault, unsigned pkg, BoxType box_type, unsigned box, bool on) {
    return ::model_fault(model_, fault, pkg, type(box_type), box, on);
  }
  u64 read(const Reg& reg, unsigned pkg = 0);
  int write(const Reg& reg, u64 value, unsigned pkg = 0);
  u64 rdmsr(u32 msr, unsigned pkg = 0);
  int wrmsr(u32 msr, u64 value, unsigned pkg = 0);
  u32 pci_read(unsigned devfn, unsigned where, unsigned size = 4,
               unsigned pkg = 0, unsigned bus = kUboxBus);
  void pci_write(unsigned devfn, unsigned where, u32 value, unsigned size = 4,
                 unsigned pkg = 0, unsigned bus = kUboxBus);

  // Writes a control register twice, first without .en, because some boxes take the event
  // select on the second write only.
  void program(const Box& box, unsigned counter, u32 ctl, unsigned pkg = 0);
  u64 advance(u64 cycles) { return model_advance(model_, cycles); }
  s64 traffic(const Txn& txn);
  std::vector<std::string> dirty();

  std::vector<Pmi> pmis;
  std::vector<std::string> undefined;
  u64 now_ns = 0;

 private:
  const model_generation& gen_;
  std::vector<u64> memory_;
  struct model* model_;
};

}  // namespace test

#endif
