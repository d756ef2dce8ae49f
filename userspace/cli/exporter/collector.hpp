// SPDX-License-Identifier: GPL-2.0-or-later
// The counters of uncore serve.  A collector opens the events of series.json on all
// boxes, reads them at each scrape, and gives the counts as families of samples.  If
// the driver is reloaded or a socket goes offline, the counters are opened again; counts
// continue from their last values for as long as the process lives.
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

/// Further counters that are opened and closed with a collector's counters: the memory
/// traffic of cgroups, which comes from BPF programs (cgroup_traffic).
class side_counters {
public:
	virtual ~side_counters() = default;
	virtual uncore::result<void> start() = 0;
	/// Stop counting and keep the counts.
	virtual void stop() = 0;
	/// Follow CPUs and empty buffers.  Called several times a second.
	virtual uncore::result<void> tend() = 0;
	/// Add the counts since the last take() to the sums that add_to() gives.
	virtual uncore::result<void> take() = 0;
	/// Add families with the sums.
	virtual void add_to(std::vector<family> &families) const = 0;
};

struct collector_options {
	std::filesystem::path sysfs;
	bool per_box = false; ///< a series for each box, not their sum
	/// Export the exporter's own memory, time and files as well.  false for a
	/// textfile: node_exporter has the same series and refuses duplicates.
	bool process = true;
	/// Receiver of failure messages; standard error if empty.
	std::function<void(const std::string &)> say = {};
	std::shared_ptr<side_counters> side = {};
};

/// Count of an event at a box of a socket, for as long as the process lives.
struct box_count {
	const series *family;
	const counted_event *event;
	const uncore::pmu_info *pmu; ///< valid until the next read()
	int package;
	/// Total in counts, not in the series' unit; NaN while the box is not
	/// measured.
	double total;
	/// Part of the time since the last read for which the event counted.
	double share;
};

class collector {
public:
	explicit collector(collector_options options);

	/// Open the counters.  Errors: errc::no_driver, errc::unsupported (the
	/// processor) and those of session::open(); a later read() tries again.
	uncore::result<void> open();

	/// Read all counters, those of a box in one cycle of the box, and open
	/// them again if the driver or the boxes have changed.  On a failure the
	/// returned families have uncore_up 0, and problem() has the reason.
	std::vector<family> read();

	/// Tell whether tend() has to be called several times a second.
	bool wants_tending() const { return session_ && options_.side; }
	void tend();

	/// Close the counters, so that the driver can be unloaded.  The first
	/// read() that finds another driver's PMUs opens the counters again.
	void release();
	/// Open the released counters.
	void resume();

	/// Return the counts of the last read(), empty when no counters are
	/// open.  The order stays the same as long as revision() does.
	std::vector<box_count> counts() const;
	/// A box of a socket.
	using box_at = std::pair<const uncore::pmu_info *, int>;
	using boxes = std::set<box_at>;
	/// Return the boxes that are not measured, with the reason: "dead" (does
	/// not answer), "stopped" (another program froze it).  They have no
	/// series, as their counts are invalid.
	const std::map<box_at, std::string> &down() const { return down_; }
	/// Return the machine at the last attempt to open the counters.
	const std::optional<uncore::topology> &machine() const
	{
		return machine_;
	}
	/// Return a number that grows whenever counters are opened or CPUs go
	/// online or offline: the boxes may have changed.
	uint64_t revision() const { return opens_ + moves_; }
	/// Add the families of the side counters, if there are any.
	void add_side(std::vector<family> &list) const
	{
		if (session_ && options_.side)
			options_.side->add_to(list);
	}
	const std::filesystem::path &sysfs() const { return options_.sysfs; }

	/// Return the reason why no counters are open; empty if they are open.
	const std::string &problem() const { return problem_; }
	/// Tell whether the exporter is ready.  A processor that is not
	/// supported has no counters to wait for.
	bool ready() const { return problem_.empty() || unsupported_; }

	/// Return the seconds between the last two reads of a socket's boxes of a
	/// type, to divide counts by.  The kernel reports this time, for which the
	/// events were enabled, with the counts.  0 without events.
	double interval(const std::string &box, int package) const;
	/// Return the sum of interval() over all reads since the counters were
	/// opened.
	double elapsed(const std::string &box, int package) const;

private:
	/// Key of a count: an event of all_series() at a box of a socket.
	struct place {
		size_t family, event; ///< indices
		unsigned instance;    ///< number of the box
		int package;

		auto operator<=>(const place &) const = default;
	};
	/// A number up to the last close() (before), and since (now).
	struct tally {
		double before = 0, now = 0;
		double total() const { return before + now; }
	};
	/// Seconds for which the events of a box type were enabled, and for which
	/// they counted (running): sums over all events.
	struct times {
		tally enabled, running;
		/// running divided by enabled, since the last read.
		double share = 1;
		/// Enabled seconds since the last read: mean of the events.
		double interval = 0;
		double elapsed = 0; ///< sum of intervals
	};
	/// A counter of the session: an event on one of its CPUs.
	struct counter {
		uncore::counter_id id;
		size_t cpu_index;
		tally *count; ///< in tallies_
		times *time;  ///< in times_
		const uncore::event *event; ///< in chosen_
		int package;
	};
	uncore::result<void> try_open();
	void close();
	void take_counts();
	void find_down();
	void find_frozen(const std::map<box_at, std::string> &down_before);
	void
	report_stopped(const std::map<box_at, std::string> &down_before) const;
	bool finds_foreign_writes() const;
	double foreign_writes(int package) const;
	bool is_measured(int package) const;
	void check_machine();
	void lose(const uncore::error &failure);
	void check_released();
	void say(const std::string &message) const;
	bool has_package(int id) const;

	std::vector<family> families() const;
	family counts_of(size_t index) const;
	void add_up(std::vector<family> &list) const;
	void add_boxes(std::vector<family> &list) const;
	void add_foreign(std::vector<family> &list) const;
	void add_times(std::vector<family> &list) const;
	void add_machine(std::vector<family> &list) const;
	void add_own(std::vector<family> &list) const;

	collector_options options_;
	std::string cpus_file_;
	std::optional<uncore::topology> machine_;
	std::optional<uncore::session> session_;
	choice chosen_;
	std::vector<counter> counters_;
	std::map<place, tally> tallies_;
	/// Boxes of the places with an open counter.
	std::map<place, const uncore::pmu_info *> open_;
	std::map<box_at, std::string> down_; ///< reasons at the last read
	/// By socket: number of foreign writes, register writes of other programs
	/// that the driver has found, when the counters were opened.
	std::map<int, double> written_;
	/// Times by box type and socket.
	std::map<std::pair<std::string, int>, times> times_;
	/// Online CPUs and identity of the driver's PMUs when the counters were
	/// opened, to notice a change.  released_ is the driver whose counters
	/// release() has closed; empty after resume().
	std::string cpus_, driver_, released_;
	/// Reason why no counters are open: a sentence, and a word for a label.
	std::string problem_, reason_;
	/// Time of the last attempt to open the counters.
	std::chrono::steady_clock::time_point tried_{};
	bool unsupported_ = false; ///< whether the processor is not supported
	/// Some counters cannot be read any more: the next read() opens all again.
	bool lost_ = false;
	/// Reads; reads with a failure; times that the counters were opened; times
	/// that CPUs went online or offline while the counters stayed open.
	uint64_t reads_ = 0, errors_ = 0, opens_ = 0, moves_ = 0;
	double duration_ = 0; ///< of the last read, in seconds
};

} // namespace cli
