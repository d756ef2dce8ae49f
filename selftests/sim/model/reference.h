// SPDX-License-Identifier: GPL-2.0-or-later
// Expected count of a counter, in the simplest way: from the table of waves in every
// single cycle.
#ifndef SELFTESTS_MODEL_REFERENCE_H
#define SELFTESTS_MODEL_REFERENCE_H

#include <span>

#include "machine.h"

namespace test {

std::span<const model_wave> waves(model_box_type box_type);

// Configuration of a box, as far as one counter depends on it.
struct Selection {
  model_box_type box_type;
  unsigned counter;
  u32 ctl;
  u32 ctl0 = 0;        // counter 0's control, for the CBo's COUNTER0_OCCUPANCY
  u32 pcu_filter = 0;  // PCU_MSR_PMON_BOX_FILTER
};

// The event's value in one cycle, before the threshold.
u32 event_value(const Selection& s, u64 cycle);
// What the counter adds in one cycle.
u32 increment(const Selection& s, u64 cycle);
u64 count(const Selection& s, u64 first_cycle, u64 cycles);

}  // namespace test

#endif
