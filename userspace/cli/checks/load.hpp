// SPDX-License-Identifier: GPL-2.0-or-later
// What the machine is made to do while its boxes are looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

/// As long as there is one, a thread of each package computes, so that no package
/// sleeps, which stops its clocks.
class awake_packages {
public:
	explicit awake_packages(const uncore::topology &machine);

private:
	std::vector<std::jthread> threads_;
};

/// Memory of one package, which its first CPU reads in the order of addresses.
class memory_stream {
public:
	/// Far more than any last-level cache of the family (60 MB).
	static constexpr size_t bytes = size_t(256) << 20;

	/// Errors: errc::system.
	static uncore::result<memory_stream> allocate(int cpu);
	memory_stream(memory_stream &&) noexcept = default;

	/// Reads all of it, again and again.
	/// @return how many bytes that were.
	uint64_t read(std::chrono::milliseconds at_least) const;

private:
	struct unmapper {
		void operator()(uint64_t *memory) const;
	};

	explicit memory_stream(int cpu) : cpu_(cpu) {}

	int cpu_;
	std::unique_ptr<uint64_t, unmapper> memory_;
};

} // namespace cli
