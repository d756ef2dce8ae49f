// SPDX-License-Identifier: GPL-2.0-or-later
// Expected count of a counter, computed in the simplest way: cycle by cycle from the
// table of waveforms.
#ifndef SELFTESTS_MODEL_REFERENCE_H
#define SELFTESTS_MODEL_REFERENCE_H

#include <span>

#include "machine.h"

namespace test {

// Waveforms of all events of a box type
std::span<const model_wave> waves(BoxType box_type);

// Configuration of a counter, and of its box as far as the counter depends on the box
struct Selection {
  BoxType box_type;
  unsigned counter;
  u32 ctl;
  u32 ctl0 = 0;        // control of counter 0, for the CBo's COUNTER0_OCCUPANCY
  u32 pcu_filter = 0;  // PCU_MSR_PMON_BOX_FILTER
};

// Value of the event in a cycle, before the threshold comparison
u32 event_value(const Selection& s, u64 cycle);
// Increment of the counter in a cycle
u32 increment(const Selection& s, u64 cycle);
// Count of the counter in `cycles` cycles from `first_cycle` on
u64 count(const Selection& s, u64 first_cycle, u64 cycles);

}  // namespace test

#endif
