// SPDX-License-Identifier: GPL-2.0-or-later
// Makes load on the machine while its boxes are checked: busy CPUs and memory reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/topology.hpp>

namespace cli {

/// Keeps a thread busy on each package, as the clocks of an idle package stop.
class awake_packages {
public:
	explicit awake_packages(const uncore::topology &machine);

private:
	std::vector<std::jthread> threads_;
};

/// Memory of a package, which the package's first CPU reads in address order.
class memory_stream {
public:
	/// Far more than any last-level cache of the family (60 MB).
	static constexpr size_t bytes = size_t(256) << 20;

	/// Errors: errc::system.
	static uncore::result<memory_stream> allocate(int cpu);
	memory_stream(memory_stream &&) noexcept = default;

	/// Read all of the memory repeatedly, for @p duration at least.
	/// @return bytes read.
	uint64_t read(std::chrono::milliseconds duration) const;

private:
	struct unmapper {
		void operator()(uint64_t *memory) const;
	};

	explicit memory_stream(int cpu) : cpu_(cpu) {}

	int cpu_;
	std::unique_ptr<uint64_t, unmapper> memory_;
};

} // namespace cli
