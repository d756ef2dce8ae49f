// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of the regions of the measured command, for "uncore stat --regions".
//
// A region counts on a socket while at least one thread of the command is in the region:
// threads and processes that are in a region at the same time are counted once.  All calls
// that have arrived are answered after one read of the counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <uncore/counter_set.hpp>

#include "account.hpp"
#include "regions/region_socket.hpp"

namespace cli {

/// Maximum number of regions.
inline constexpr size_t most_regions = 10000;
/// A region whose calls are shorter than this number of times its cost is marked.
inline constexpr double least_length = 100;

struct region {
	/// The part of a region on a socket.
	struct place {
		bool counted = false; ///< a thread was in the region
		size_t threads = 0;   ///< that are in the region now
		std::chrono::nanoseconds time{};
	};

	std::string name;
	std::vector<place> places; ///< in the order of regions::sockets()
	uncore::account counts;
	uint64_t calls = 0; ///< of uncore_region_begin()
	uint64_t ended = 0; ///< calls that ended, by uncore_region_end() or not
	/// Calls that ended with their thread.
	uint64_t unclosed = 0;
	std::chrono::nanoseconds length{}; ///< sum of all calls that ended

	/// Return the mean length of a call, in seconds.
	double mean_length() const
	{
		return ended ? std::chrono::duration<double>(length).count() /
				       double(ended)
			     : 0;
	}
	/// Return the time on the socket with the longest time.
	std::chrono::nanoseconds time() const;
	bool is_active() const;
};

class regions {
public:
	/// Open the socket for the command, which starts later.
	/// @param sockets to count on.
	/// Errors: of region_socket::open().
	static uncore::result<std::unique_ptr<regions>>
	open(uncore::counter_set &counters, std::vector<int> sockets);

	int poll_fd() const { return socket_->poll_fd(); }
	/// Answer the calls that have arrived.
	/// @param read reads the counters, and calls charge().
	void serve(const std::function<void()> &read);
	/// Add the growth of the counters since the read before to the regions in
	/// which a thread is.  Call after each read of the counters.
	void charge();
	/// Close the socket: further calls of the command have no effect.
	void close() { socket_.reset(); }

	const std::deque<region> &list() const { return list_; }
	const std::vector<int> &sockets() const { return sockets_; }
	/// Make the counts of a region the interval of the counter set.
	void show(const region &shown);
	/// Return the cost of a region, of two calls, in seconds.
	double cost() const;
	/// Return whether the calls of a region are too short for exact counts.
	bool is_short(const region &checked) const
	{
		return checked.ended &&
		       checked.mean_length() < least_length * cost();
	}
	/// Describe calls that were wrong: a line for each cause.
	std::vector<std::string> problems() const;

private:
	using clock = std::chrono::steady_clock;

	/// A region that a thread has begun.
	struct begun {
		region *counted; ///< nullptr: not counted, for a wrong name
		std::vector<size_t> places;
		clock::time_point start;
	};
	struct thread {
		std::vector<begun> stack;
		/// Regions beyond the longest stack.
		uint64_t deeper = 0;
	};

	/// A cause of problems(): number of calls, and the process of the first.
	struct wrong_calls {
		uint64_t number = 0;
		std::string first;
		void add(const std::string &process);
	};

	regions(uncore::counter_set &counters, std::vector<int> sockets)
		: counters_(counters), sockets_(std::move(sockets))
	{
	}
	int begin(const region_message &message,
		  const std::function<void()> &read);
	int end(const region_message &message,
		const std::function<void()> &read);
	void end_all(const region_message &message,
		     const std::function<void()> &read);
	void leave(const begun &ended, const std::function<void()> &read);
	region *find(const std::string &name);
	std::vector<size_t> places_of(const std::vector<int> &cpus) const;

	uncore::counter_set &counters_;
	const std::vector<int> sockets_;
	std::unique_ptr<region_socket> socket_;
	std::deque<region> list_; ///< in the order of their first calls
	std::unordered_map<std::string_view, region *> names_;
	std::vector<region *> active_; ///< a thread is in the region
	std::unordered_map<int, thread> threads_;
	/// Sum and number of the times that calls took.
	std::chrono::nanoseconds took_{};
	uint64_t measured_ = 0;
	wrong_calls unbegun_, invalid_, too_many_;
	bool full_ = false;
};

} // namespace cli
