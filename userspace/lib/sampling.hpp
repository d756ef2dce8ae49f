// SPDX-License-Identifier: LGPL-2.1-or-later
// Sampling support of events, and the CPUs on which events sample.  Internal to
// the library and the command; not a part of the public interface.
#pragma once

#include <optional>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

namespace uncore {

/// Return the error for an event that no driver can sample, with the reason.
std::optional<error> sampling_refusal(const event &event);

/// Open and close an event with a sample period on one of the event's CPUs.
/// Errors: of sampling_refusal(), errc::invalid when the driver refuses
/// to sample the event, errc::permission, errc::gone, errc::system.
result<void> try_sampling(const event &event);

/// Return the error for an event that the driver refuses to sample.
error not_sampled(const event &event);

/// List the CPUs on which an event samples: all CPUs of the sockets in its
/// PMU's cpumask, which share one counter; all CPUs for other events.
std::vector<int> sampled_cpus(const event &event, const topology &machine);

} // namespace uncore
