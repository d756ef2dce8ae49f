// SPDX-License-Identifier: LGPL-2.1-or-later
// From an event to what perf_event_open() takes, and from its error numbers to
// words.
#pragma once

#include <linux/perf_event.h>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

namespace uncore {

perf_event_attr attr_of(const event &wanted);

/// @param number positive, from perf_event_open() for @p wanted on @p cpu's
/// list.
error open_error(int number, const event &wanted, bool in_group);

/// Lets this process have as many descriptors as it may.
void raise_descriptor_limit();

} // namespace uncore
