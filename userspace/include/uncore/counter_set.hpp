// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counting with one object: add events and metrics by name, open and enable the
/// counters, read them, and get the values of each box, each package or the
/// machine.
///
///     #include <chrono>
///     #include <iostream>
///     #include <thread>
///
///     #include <uncore/counter_set.hpp>
///
///     static uncore::result<void> count()
///     {
///             const auto machine = uncore::topology::read();
///
///             if (!machine)
///                     return machine.error();
///
///             uncore::counter_set counters(*machine);
///             auto added = counters.add_metrics("mem_bw_total_rate");
///
///             if (!added)
///                     return added;
///             if (auto opened = counters.open(); !opened)
///                     return opened;
///             if (auto enabled = counters.enable(); !enabled)
///                     return enabled;
///             std::this_thread::sleep_for(std::chrono::seconds(1));
///             if (auto done = counters.read(); !done)
///                     return done;
///             for (const std::string &line : counters.news())
///                     std::cerr << line << '\n';
///             for (const uncore::counted_value &v : counters.values(
///                          uncore::scope::package, uncore::period::total))
///                     std::cout << "socket " << v.package() << ": "
///                               << v.value() << ' ' << v.unit() << ' '
///                               << v.reason() << '\n';
///             return {};
///     }
///
///     int main()
///     {
///             const auto done = count();
///
///             if (!done)
///                     std::cerr << done.error().message << '\n';
///             return done ? 0 : 1;
///     }
///
/// Each object that functions of this header return has a single pointer as its
/// only member, so that later versions can add data without a new interface.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/catalogue.hpp>
#include <uncore/error.hpp>
#include <uncore/event.hpp>
#include <uncore/export.hpp>
#include <uncore/topology.hpp>

namespace uncore {

class counter_backend;

/// The part of the machine that a value covers.
enum class scope {
	box,	 ///< each box of each package
	package, ///< all boxes of a package
	machine, ///< all boxes
};

/// The time that a value covers.
enum class period {
	interval, ///< between the last two reads
	total,	  ///< since counter_set::enable()
};

/// Options of counter_set::open(). Programs do not change size, which tells the
/// library which members the structure has.
struct session_options {
	size_t size = sizeof(session_options);
	/// read() moves the calling thread to the CPUs of each package in turn,
	/// and restores its affinity. If false, the kernel interrupts a CPU of
	/// each package for each box.
	bool visit_packages = false;
	/// Packages to count on (physical_package_id); empty: all packages. The
	/// span is used during open() only.
	std::span<const int> packages{};
};

/// An event's count or a metric's value in one box, one package or the machine.
/// Later reads do not change the numbers; strings and pointers refer to the
/// counter_set.
class UNCORE_EXPORT counted_value {
public:
	/// Index of the event or metric: events come first, then metrics, each
	/// in the order of adding.
	size_t index() const;
	/// The event or metric as the program wrote it, or the event's name=.
	std::string_view name() const;
	/// Unit of value(): "", "Bytes", "GiB/s", "ns" for duration_time.
	std::string_view unit() const;
	/// The box, with scope::box; nullptr with other scopes and for events
	/// that no box counts.
	const pmu_info *pmu() const;
	/// physical_package_id; -1 with scope::machine and for duration_time.
	int package() const;
	/// The metric; nullptr for an event.
	const metric_info *metric() const;
	/// The first of the events whose counts value() adds up; nullptr for a
	/// metric.
	const event *first_event() const;

	/// The value, in unit(). The count of a multiplexed event is scaled to
	/// the whole time. Not a number if the event never ran, if no box
	/// answers, or if a metric divides by 0, is outside of its possible
	/// range or has an error larger than its value.
	double value() const;
	/// Standard error of value() caused by multiplexing, in unit(). Not a
	/// number if the error is unknown: with fewer than three reads, or if
	/// an event counted 0 in the time that it ran. Traffic with the period
	/// of the multiplexing, or nearly that period, causes larger errors.
	double standard_error() const;
	/// Part of the time for which the event was counted, 0 to 1; the
	/// smallest part of the events of a metric.
	double share() const;
	/// An event's count as read from the hardware, without scaling; 0 for
	/// a metric.
	uint64_t raw() const;
	/// Time for which the counters were enabled: the sum over an event's
	/// counters, the average over a metric's counters.
	std::chrono::nanoseconds enabled() const;
	/// Part of enabled() for which the event was counted; 0 for a metric.
	std::chrono::nanoseconds running() const;
	/// One line: the reason for a missing value, or the boxes whose counts
	/// the value lacks; empty if no box is missing.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN
	counted_value(std::shared_ptr<const record> record);
	std::shared_ptr<const record> record_;
};

/// A metric of a group of metrics that this machine cannot measure.
class UNCORE_EXPORT unavailable_metric {
public:
	const metric_info &info() const;
	/// One line that names the missing event, field or box.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN unavailable_metric(const record *record);
	const record *record_;
};

/// Find metrics in the catalogue of the machine's generation. Names are separated
/// by commas; each is the name of a metric, perf's name of a metric, or the name
/// of a group of metrics, in upper or lower case.
/// Errors: errc::not_found (the message has the nearest names).
UNCORE_EXPORT result<std::vector<const metric_info *>>
find_metrics(const topology &machine, std::string_view names);

/// Check that a machine can count an event or a metric. The parameters of an
/// event have the value 0 in this check.
/// Errors: as parse_events() or counter_set::add_metric(), with the reason.
UNCORE_EXPORT result<void> check_available(const event_info &info,
					   const topology &machine);
UNCORE_EXPORT result<void> check_available(const metric_info &info,
					   const topology &machine);

/// Events and metrics, and the counters for them.
class UNCORE_EXPORT counter_set {
public:
	explicit counter_set(const topology &machine);
	counter_set(counter_set &&) noexcept;
	counter_set &operator=(counter_set &&) noexcept;
	~counter_set();

	const topology &machine() const;

	/// Add a list of events, in the syntax of parse_events(). A list with
	/// an error adds nothing.
	/// Errors: as parse_events(); errc::conflict (events in braces are on
	/// several boxes, or can never be counted at the same time);
	/// errc::misuse if the counters are open.
	result<void> add_events(std::string_view list);
	/// Add events that parse_events() returned for machine(). Errors: as
	/// for a list.
	result<void> add_events(std::span<const event_group> groups);
	/// Add metrics by the names that find_metrics() knows. Metrics of a
	/// group that the machine lacks are left out, see unavailable(). A list
	/// with an error adds nothing.
	/// Errors: errc::not_found (the message has the nearest names); as
	/// add_metric() for a metric given by its own name, or if the machine
	/// has no metric of a group; errc::misuse if the counters are open.
	result<void> add_metrics(std::string_view names);
	/// Add a metric of the catalogue.
	/// Errors: errc::unsupported, errc::not_found (the driver lacks an
	/// event, a field or a PMU, which the message names), errc::conflict,
	/// errc::invalid (the expression); errc::misuse if the counters are
	/// open.
	result<void> add_metric(const metric_info &info);
	/// Number of events and metrics that were added.
	size_t size() const;
	/// Number of turns in which the added events are multiplexed, on the box
	/// with the most turns; 1 if no box is multiplexed.
	unsigned turns() const;
	/// Metrics that add_metrics() left out. Valid until the next
	/// add_metrics().
	std::vector<unavailable_metric> unavailable() const;

	/// Open the counters, stopped. After an error or after close(), open()
	/// may be called again. Each event takes a descriptor on each of its
	/// CPUs; the program raises the limit (RLIMIT_NOFILE) if necessary.
	/// Boxes that do not answer are left out: news() names them.
	/// Errors: errc::permission (the message has the setting),
	/// errc::conflict (the kernel cannot put a group's events together),
	/// errc::gone (no box answers, or all CPUs disappeared), errc::system;
	/// errc::misuse if nothing was added or the counters are open.
	result<void> open(const session_options &options = {});
	bool is_open() const;
	/// Close the counters. The added events and metrics remain, without
	/// values.
	void close();

	/// Errors of enable(), disable(), read() and sample(): errc::gone,
	/// errc::system; errc::misuse if the counters are not open.
	result<void> enable();
	result<void> disable();
	/// Read all counters and begin a new interval. Boxes that stopped
	/// answering and CPUs that went offline are not an error while any other
	/// box can be read: news() names them, and their values have a
	/// reason(). errc::gone if no box can be read.
	result<void> read();
	/// Read all counters without beginning a new interval, for better
	/// scaling of multiplexed events.
	result<void> sample();
	/// Time after which to call sample() again: until then every event has
	/// been counted, and reading takes at most a twentieth of the time. 0
	/// if no event has been multiplexed.
	std::chrono::nanoseconds sample_time() const;
	/// Lines about boxes and CPUs that were lost since the last call, or
	/// that did not answer when the counters were opened.
	std::vector<std::string> news();

	/// The values of the last read(): the events, then the metrics, each in
	/// the order of adding. The values of an event or metric are in the
	/// order of packages, then in the order of topology::pmus(). Empty if
	/// the counters are not open.
	std::vector<counted_value> values(scope where, period when) const;
	/// Time of the interval: between the last two reads, or between
	/// enable() and the only read. Total: from enable() to the last read. 0
	/// if the counters are not open.
	std::chrono::nanoseconds elapsed(period when) const;
	/// Whether any group ran for less than the time that it was enabled.
	bool was_multiplexed() const;

private:
	friend result<void>
	open_counters(counter_set &counters, const session_options &options,
		      std::shared_ptr<counter_backend> backend);

	struct UNCORE_HIDDEN state;
	std::unique_ptr<state> state_;
};

} // namespace uncore
