// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/load.hpp"

#include <cerrno>
#include <cstring>

#include <sched.h>
#include <sys/mman.h>

#include <fmt/format.h>

namespace cli {

namespace {

using clock = std::chrono::steady_clock;

constexpr size_t words = memory_stream::bytes / sizeof(uint64_t);

void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

} // namespace

awake_packages::awake_packages(const uncore::topology &machine)
{
	for (const uncore::package &package : machine.packages())
		threads_.emplace_back(
			[cpu = package.cpus.back()](std::stop_token stop) {
				run_on(cpu);
				while (!stop.stop_requested())
					__builtin_ia32_pause();
			});
}

uncore::result<memory_stream> memory_stream::allocate(int cpu)
{
	memory_stream stream(cpu);
	void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return uncore::error{
			uncore::errc::system,
			fmt::format("cannot have {} MB of memory to read: {}",
				    bytes >> 20, std::strerror(errno))};
	stream.memory_.reset(static_cast<uint64_t *>(memory));
	// The kernel allocates a page at the first write, on the NUMA node of the
	// CPU that writes.
	std::jthread([&] {
		run_on(cpu);
		std::memset(stream.memory_.get(), 1, bytes);
	}).join();
	return stream;
}

void memory_stream::unmapper::operator()(uint64_t *memory) const
{
	munmap(memory, bytes);
}

uint64_t memory_stream::read(std::chrono::milliseconds duration) const
{
	uint64_t passes = 0;

	std::jthread([&] {
		const auto end = clock::now() + duration;
		const uint64_t *const memory = memory_.get();
		uint64_t sum = 0;

		run_on(cpu_);
		do {
			for (size_t i = 0; i < words; i += 8)
				sum += memory[i]; // a word of each line
			// Prevent the compiler from removing the reads.
			asm volatile("" : : "r"(sum) : "memory");
			passes++;
		} while (clock::now() < end);
	}).join();
	return passes * bytes;
}

} // namespace cli
