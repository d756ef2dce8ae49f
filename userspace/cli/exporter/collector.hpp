// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of uncore serve: opened once, read at each scrape, added up for
// as long as the process lives.  Drivers and CPUs may be removed and added
// below them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

#include "exporter/choice.hpp"
#include "exporter/exposition.hpp"
#include "exporter/series.hpp"
#include "session.hpp"

namespace cli {

/// Counters of another kind, opened and closed with a collector's.
class side_counters {
public:
	virtual ~side_counters() = default;
	virtual uncore::result<void> start() = 0;
	/// What was counted is kept.
	virtual void stop() = 0;
	/// To be called several times a second, as long as they are there.
	virtual uncore::result<void> tend() = 0;
	/// Adds what happened since the last time to what add_to() has.
	virtual uncore::result<void> take() = 0;
	virtual void add_to(std::vector<family> &families) const = 0;
};

struct collector_options {
	std::filesystem::path sysfs;
	bool per_box = false; ///< tell all boxes apart
	/// The exporter's own memory, time and files as well; node_exporter has
	/// such series itself and refuses second ones.
	bool process = true;
	/// Takes messages about what went wrong; without, standard error does.
	std::function<void(const std::string &)> say = {};
	std::shared_ptr<side_counters> side = {};
};

/// What an event has counted at a box of a socket, for as long as the process
/// lives.
struct box_count {
	const series *of;
	const counted_event *event;
	const uncore::pmu_info *pmu; ///< good until the next read()
	int package;
	/// In counts, not in the series' unit; not a number where the box is
	/// not measured now.
	double total;
	double share; ///< of the time since the read before, that it counted
};

class collector {
public:
	explicit collector(collector_options options);

	/// Opens the counters.  Errors: errc::no_driver, errc::unsupported (the
	/// processor) and those of session::open(); a later read() tries again.
	uncore::result<void> open();

	/// Reads all counters, each box's in one cycle, and opens those that
	/// are there anew.  What is wrong is in the result and in problem().
	std::vector<family> read();

	/// To be called several times a second where this is true.
	bool wants_tending() const { return session_ && options_.side; }
	void tend();

	/// Closes the counters, so that the driver can be unloaded.  They are
	/// opened by the first read() that finds another driver's PMUs.
	void release();
	/// Opens what was released.
	void resume();

	/// Those of the last read(), in an order that stays as long as
	/// revision() does; none when no counters are open.
	std::vector<box_count> counts() const;
	/// A box of a socket.
	using box_at = std::pair<const uncore::pmu_info *, int>;
	using boxes = std::set<box_at>;
	/// Boxes that are not measured now, and a word for why: "dead",
	/// "stopped".  Their counts say nothing, and have no series.
	const std::map<box_at, std::string> &down() const { return down_; }
	/// The machine on which the counters were opened, if they ever were.
	const std::optional<uncore::topology> &machine() const
	{
		return machine_;
	}
	/// Grows whenever counters are opened or CPUs come or go: boxes may be
	/// other ones then.
	uint64_t revision() const { return opens_ + moves_; }
	/// Adds what the counters of another kind have, if there are any.
	void add_side(std::vector<family> &to) const
	{
		if (session_ && options_.side)
			options_.side->add_to(to);
	}
	const std::filesystem::path &sysfs() const { return options_.sysfs; }

	/// Why no counters are open now; empty when they are.
	const std::string &problem() const { return problem_; }
	/// Is there nothing that an administrator could change?  A processor
	/// that is not supported has no counters to wait for.
	bool ready() const { return problem_.empty() || unsupported_; }

	/// For how many seconds a socket's events of a box type were to be
	/// counted between the last two reads, as the kernel has it at each
	/// read: what counts are to be divided by for a rate.  0 where there
	/// are none.
	double interval(const std::string &box, int package) const;
	/// The same, added up for as long as the counters are open.
	double elapsed(const std::string &box, int package) const;

private:
	/// Whose count: an event of all_series(), a box, a socket.
	struct place {
		size_t family, event;
		unsigned instance;
		int package;

		auto operator<=>(const place &) const = default;
	};
	/// What was counted at a place before these counters were opened, and
	/// with them.
	struct tally {
		double before = 0, now = 0;
		double total() const { return before + now; }
	};
	/// Seconds in which events were wanted and counted.
	struct times {
		tally enabled, running;
		double share = 1;    ///< counted since the read before
		double interval = 0; ///< an event's, since the read before
		double elapsed = 0;  ///< sum of intervals
	};
	/// A counter of the session.
	struct counter {
		uncore::counter_id id;
		size_t cpu_index;
		tally *count;
		times *time;
		const uncore::event *event; ///< in chosen_
		int package;
	};
	uncore::result<void> try_open();
	void close();
	void take_counts();
	void find_down();
	void find_frozen(const std::map<box_at, std::string> &before);
	void report_stopped(const std::map<box_at, std::string> &before) const;
	bool finds_foreign_writes() const;
	double foreign_writes(int package) const;
	bool is_measured(int package) const;
	void check_machine();
	void lose(const uncore::error &why);
	void check_released();
	void say(const std::string &message) const;
	bool has_package(int id) const;

	std::vector<family> families() const;
	family counts_of(size_t index) const;
	void add_up(std::vector<family> &to) const;
	void add_boxes(std::vector<family> &to) const;
	void add_foreign(std::vector<family> &to) const;
	void add_times(std::vector<family> &to) const;
	void add_machine(std::vector<family> &to) const;
	void add_own(std::vector<family> &to) const;

	collector_options options_;
	std::string cpus_file_;
	std::optional<uncore::topology> machine_;
	std::optional<uncore::session> session_;
	choice chosen_;
	std::vector<counter> counters_;
	std::map<place, tally> tallies_;
	/// Of which tally there is a counter now, and whose box it is.
	std::map<place, const uncore::pmu_info *> open_;
	std::map<box_at, std::string> down_; ///< of the last read
	/// Foreign writes of sockets when the counters were opened.
	std::map<int, double> written_;
	/// By box type and socket.
	std::map<std::pair<std::string, int>, times> times_;
	/// The CPUs and the driver that there were when counters were opened,
	/// and the driver that was released.
	std::string cpus_, driver_, released_;
	/// Why no counters are open: a sentence, and a word for a label.
	std::string problem_, reason_;
	/// When they were last tried to be opened.
	std::chrono::steady_clock::time_point tried_{};
	bool unsupported_ = false; ///< the processor
	bool lost_ = false; ///< some counters cannot be read any more
	uint64_t reads_ = 0, errors_ = 0, opens_ = 0, moves_ = 0;
	double duration_ = 0;
};

} // namespace cli
