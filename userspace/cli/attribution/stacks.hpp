// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks at which sampling events overflow, counted in the kernel by
// bpf/stacks.bpf.c.  It prints nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>

namespace cli {

/// What was counted so far.
struct stack_report {
	/// "comm;outermost;...;innermost", kernel functions with _[k] behind,
	/// to the number of events that the samples there stand for.
	std::map<std::string, uint64_t> folded;
	uint64_t samples = 0;
	uint64_t lost = 0;	  ///< samples that found no room
	uint64_t lost_stacks = 0; ///< stacks that found none
	/// Why functions have no names.
	std::vector<std::string> reasons{};
};

class stack_counter {
public:
	/// Opens each event on each CPU of @p cpus, or where tools open it when
	/// that is empty, and attaches the program.  Events without a period=
	/// get @p period.
	/// Errors: those of attribution::start().
	static uncore::result<std::unique_ptr<stack_counter>>
	start(const std::vector<uncore::event> &events,
	      const std::vector<int> &cpus, uint64_t period);
	~stack_counter();

	/// To be called several times a second: looks at processes that are
	/// new, while they are there.
	void tend();
	/// Stops the events.
	void stop();
	uncore::result<stack_report> report();

private:
	struct state;

	stack_counter();
	std::unique_ptr<state> state_;
};

} // namespace cli
