// SPDX-License-Identifier: LGPL-2.1-or-later
// Check whether an event can be sampled, and list the CPUs that sample it.
// Internal to the library and the command; not a part of the public interface.
#pragma once

#include <optional>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// Check, without opening the event, whether any driver can sample it.
/// @return the error with the reason; nothing for an event that try_sampling()
/// has to open to find out.
std::optional<error> sampling_refusal(const event &event);

/// Find out whether the driver samples an event: open the event with a sample
/// period, stopped, on one of its CPUs, and close it.
/// Errors: of sampling_refusal(), errc::invalid when the driver refuses
/// to sample the event, errc::permission, errc::gone, errc::system.
result<void> try_sampling(const event &event);

/// Return the error for an event that the driver refuses to sample.
error not_sampled(const event &event);

/// List the CPUs on which an event samples.  An event of a box samples on all
/// CPUs of each socket that has a CPU in the PMU's cpumask: all CPUs of a
/// socket share the counter.  Other events sample on all CPUs of the machine.
std::vector<int> sampled_cpus(const event &event, const topology &machine);

} // namespace uncore
