// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Counting in one object: add events and metrics by text, open, enable, read,
/// and take the values of each box, each package or the machine.
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
/// The objects that this header returns are views of one pointer each, so that
/// they can grow without a new interface.
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

/// The part of the machine that a value is of.
enum class scope {
	box,	 ///< each box of each package
	package, ///< all boxes of a package
	machine, ///< all boxes
};

/// The time that a value is of.
enum class period {
	interval, ///< since the read before the last
	total,	  ///< since counter_set::enable()
};

/// Programs leave size as it is: it tells the library which members there are.
struct session_options {
	size_t size = sizeof(session_options);
	/// read() moves the calling thread to the CPUs of each package in turn,
	/// and restores its affinity. Without, the kernel interrupts a CPU of
	/// each package for each box.
	bool visit_packages = false;
	/// Count on these packages only; empty: on all. Used by open() alone.
	std::span<const int> packages{};
};

/// An event's count or a metric's value at one place. Its numbers do not
/// change any more; its strings and pointers refer to the counter_set.
class UNCORE_EXPORT counted_value {
public:
	/// Index of the event or metric: events come first, each kind in the
	/// order of adding.
	size_t index() const;
	/// As it was written, or as name= says.
	std::string_view name() const;
	/// "", "Bytes", "GiB/s", "ns" of duration_time.
	std::string_view unit() const;
	/// The box with scope::box; nullptr otherwise and for events that no
	/// box counts.
	const pmu_info *pmu() const;
	/// physical_package_id; -1 with scope::machine and for duration_time.
	int package() const;
	/// The metric; nullptr for an event.
	const metric_info *metric() const;
	/// The first of the events of which value() is the sum; nullptr for a
	/// metric.
	const event *first_event() const;

	/// In unit(). Scaled where the event was multiplexed; not a number
	/// where it never ran, where no box answers, and where a metric divides
	/// by 0, is outside of its possible range or has an error larger than
	/// itself.
	double value() const;
	/// Error of value() that multiplexing brings, in unit(); not a number
	/// where it is unknown: with fewer than three reads, or where an event
	/// was not seen. Traffic that is periodic with the multiplexing, or
	/// nearly, is off by more than its error.
	double standard_error() const;
	/// Part of the time that it was counted, 0 to 1; of a metric, the
	/// smallest of its events'.
	double share() const;
	/// An event's count as the hardware has it, without scale; 0 for a
	/// metric.
	uint64_t raw() const;
	/// Time for which it was enabled: the sum over an event's counters, the
	/// average over a metric's.
	std::chrono::nanoseconds enabled() const;
	/// Part of enabled() for which the event was counted; 0 for a metric.
	std::chrono::nanoseconds running() const;
	/// One line: the reason for a missing value, or which boxes are missing
	/// from it; empty if none.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN
	counted_value(std::shared_ptr<const record> record);
	std::shared_ptr<const record> record_;
};

/// A metric of a group that this machine does not have.
class UNCORE_EXPORT unavailable_metric {
public:
	const metric_info &info() const;
	/// One line: which event, field or box is missing.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN unavailable_metric(const record *record);
	const record *record_;
};

/// The metrics of a comma-separated list of names, each that of a metric, also
/// as perf has it, or of a group of metrics, in any case; of the catalogue of
/// the machine's generation. Errors: errc::not_found (names the nearest ones).
UNCORE_EXPORT result<std::vector<const metric_info *>>
find_metrics(const topology &machine, std::string_view names);

/// Check that a machine has all that an event or a metric needs. An event's
/// parameters are taken for 0.
/// Errors: of parse_events() or counter_set::add_metric(), with the reason.
UNCORE_EXPORT result<void> check_available(const event_info &info,
					   const topology &machine);
UNCORE_EXPORT result<void> check_available(const metric_info &info,
					   const topology &machine);

class UNCORE_EXPORT counter_set {
public:
	explicit counter_set(const topology &machine);
	counter_set(counter_set &&) noexcept;
	counter_set &operator=(counter_set &&) noexcept;
	~counter_set();

	const topology &machine() const;

	/// Add a list of events, in the syntax of parse_events(). A list with
	/// an error adds nothing.
	/// Errors: of parse_events(); errc::conflict (events in braces that are
	/// of several boxes or can never be counted at once); errc::misuse when
	/// the counters are open.
	result<void> add_events(std::string_view list);
	/// The same for events that parse_events() made for machine().
	result<void> add_events(std::span<const event_group> groups);
	/// Add metrics by names, as find_metrics() takes them. What the machine
	/// lacks of a group is left out, see unavailable(). A list with an
	/// error adds nothing.
	/// Errors: errc::not_found (names the nearest ones), those of
	/// add_metric() for a metric that was named or when the machine has
	/// none of a group; errc::misuse when the counters are open.
	result<void> add_metrics(std::string_view names);
	/// Add a metric of the catalogue.
	/// Errors: errc::unsupported, errc::not_found (the driver lacks an
	/// event, a field or a PMU: names it), errc::conflict, errc::invalid
	/// (the expression); errc::misuse when the counters are open.
	result<void> add_metric(const metric_info &info);
	/// Events and metrics that were added.
	size_t size() const;
	/// Number of groups, of those that were added, that are multiplexed on
	/// the box with most; 1 if none is.
	unsigned turns() const;
	/// Metrics that add_metrics() left out. Good until the next
	/// add_metrics().
	std::vector<unavailable_metric> unavailable() const;

	/// Open the counters, stopped. After an error, or after close(), it
	/// may be called again. Each event takes a descriptor on each of its
	/// CPUs: raising the limit (RLIMIT_NOFILE) is left to the program.
	/// Boxes that do not answer are left out: news() names them.
	/// Errors: errc::permission (names the setting), errc::conflict (the
	/// kernel cannot put a group's events together), errc::gone (no box
	/// answers, or all CPUs disappeared), errc::system; errc::misuse when
	/// nothing was added or the counters are open.
	result<void> open(const session_options &options = {});
	bool is_open() const;
	/// Close the counters; what was added remains, without
	/// values.
	void close();

	/// Errors of these four: errc::gone, errc::system; errc::misuse when
	/// the counters are not open.
	result<void> enable();
	result<void> disable();
	/// Boxes that stopped answering and CPUs that went offline are not an error
	/// while any other is read: news() names them, and values have a
	/// reason(). errc::gone if none is left.
	result<void> read();
	/// Read within an interval, which continues, for better scaling of
	/// multiplexed events; and the time after which to do so again: every
	/// event had its turn, and reading takes at most a twentieth of the
	/// time. 0 where no event has been multiplexed.
	result<void> sample();
	std::chrono::nanoseconds sample_time() const;
	/// Lines about boxes and CPUs that were lost since the last call, or
	/// that did not answer when the counters were opened.
	std::vector<std::string> news();

	/// The values of the last read(): of each event, then of each metric,
	/// in the order of adding; of each by package, then in the order of
	/// topology::pmus(). Empty when the counters are not open.
	std::vector<counted_value> values(scope where, period when) const;
	/// Time between the last two reads (or enable() and the only one), or
	/// from enable() to the last. 0 when the counters are not open.
	std::chrono::nanoseconds elapsed(period when) const;
	/// Did any group run for less than the time that it was enabled?
	bool was_multiplexed() const;

private:
	friend result<void>
	open_counters(counter_set &counters, const session_options &options,
		      std::shared_ptr<counter_backend> backend);

	struct UNCORE_HIDDEN state;
	std::unique_ptr<state> state_;
};

} // namespace uncore
