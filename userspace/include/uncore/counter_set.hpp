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
/// counted_value and unavailable_metric have one pointer as their only member,
/// so a later version can add functions to them without a new interface.
///
/// A box is a part of the uncore with counters of its own, such as a memory
/// controller (imc) or a slice of the last level cache (cbox). If more events
/// are added than a box has counters, the kernel multiplexes them: it lets some
/// of them count for a few milliseconds, their turn, then the next ones. An
/// event is enabled for all of this time, and running while it has a counter.
/// Its value is scaled to the enabled time.
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
struct account;

/// The part of the machine over which a value is summed up.
enum class scope {
	box,	 ///< each box of each package
	package, ///< all boxes of a package
	machine, ///< all boxes
};

/// The time that a value covers.
enum class period {
	/// From the previous counter_set::read(), or enable() before the first
	/// read(), to the last read() or sample().
	interval,
	/// From counter_set::enable() to the last read() or sample().
	total,
};

/// Options of counter_set::open(). Programs do not change size, which tells the
/// library which members the program was compiled with.
struct session_options {
	size_t size = sizeof(session_options);
	/// read() migrates the calling thread to the CPUs of each package in
	/// turn, reads the package's counters there, and restores the thread's
	/// affinity. With false, the kernel interrupts a CPU of each package
	/// for each box.
	bool visit_packages = false;
	/// Count on these packages only (package::id); empty: on all
	/// packages. open() copies the list.
	std::span<const int> packages{};
};

/// An event's count or a metric's value for one box, one package or the
/// machine. Its numbers do not change with later reads; its strings and
/// pointers refer to the counter_set, which must still exist.
class UNCORE_EXPORT counted_value {
public:
	/// Index of the event or metric: 0 is the first event. All events come
	/// before all metrics, both in the order of adding.
	size_t index() const;
	/// The event as it was written, or its name= term; the metric's name.
	std::string_view name() const;
	/// Unit of value(): "" for a plain count, "Bytes", "GiB/s", "ns" for
	/// duration_time.
	std::string_view unit() const;
	/// The box with scope::box; nullptr with the other scopes, and for
	/// events that no box counts.
	const pmu_info *pmu() const;
	/// package::id; -1 with scope::machine and for duration_time.
	int package() const;
	/// The metric; nullptr for an event.
	const metric_info *metric() const;
	/// The first of the events whose counts value() sums up, one for each
	/// PMU; nullptr for a metric.
	const event *first_event() const;

	/// The count or the metric's value, in unit(). A multiplexed event's
	/// count is scaled to its enabled time. Not a number if an event never
	/// ran or none of its boxes answers, and for a metric that divides by
	/// 0, is outside of its possible range or has an error larger than
	/// itself.
	double value() const;
	/// Standard error of value() from scaling, in unit(); 0 if no event was
	/// multiplexed. Not a number if the error is unknown: with fewer than
	/// three reads, or if a multiplexed event's count is 0. The estimate
	/// uses the changes of the event's rate from read to read. If the
	/// traffic changes with the period of the multiplexing, or nearly,
	/// value() is off by more.
	double standard_error() const;
	/// Share of the enabled time for which the event was counted, 0 to 1;
	/// for a metric, the smallest share of its events.
	double share() const;
	/// An event's count as the hardware counted it: not scaled for
	/// multiplexing and not converted to unit(); 0 for a metric.
	uint64_t raw() const;
	/// Time for which the event was enabled, the sum over its counters; for
	/// a metric, the mean over the counters of its events.
	std::chrono::nanoseconds enabled() const;
	/// Time of enabled() for which the event was counted; 0 for a metric.
	std::chrono::nanoseconds running() const;
	/// The reason for a missing value, or the boxes that are missing from
	/// the value, in one line; empty if neither applies.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN
	counted_value(std::shared_ptr<const record> record);
	std::shared_ptr<const record> record_;
};

/// A metric of a group of metrics, such as "memory", that cannot be counted on
/// this machine.
class UNCORE_EXPORT unavailable_metric {
public:
	const metric_info &info() const;
	/// The event, field or box that the machine lacks, in one line.
	std::string_view reason() const;

private:
	friend class counter_set;
	struct UNCORE_HIDDEN record;
	explicit UNCORE_HIDDEN unavailable_metric(const record *record);
	const record *record_;
};

/// Find metrics by name in the catalogue of the machine's generation.
/// @param names separated by commas, in upper or lower case: each is the name
/// of a metric, perf's name of a metric, or the name of a group of metrics.
/// Errors: errc::not_found (the message has the nearest names).
UNCORE_EXPORT result<std::vector<const metric_info *>>
find_metrics(const topology &machine, std::string_view names);

/// Check that a machine has the PMUs, fields and events that an event or a
/// metric needs. The event's parameters (event_info::parameters) are taken as
/// 0.
/// Errors: of parse_events() or counter_set::add_metric(), with the reason.
UNCORE_EXPORT result<void> check_available(const event_info &info,
					   const topology &machine);
UNCORE_EXPORT result<void> check_available(const metric_info &info,
					   const topology &machine);

/// Events and metrics, and their counters once open() was called.
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
	/// of several boxes or can never be counted at once); errc::misuse if
	/// the counters are open.
	result<void> add_events(std::string_view list);
	/// Add events that parse_events() made for machine(). Errors:
	/// errc::conflict and errc::misuse, as above.
	result<void> add_events(std::span<const event_group> groups);
	/// Add metrics by names, as find_metrics() takes them. Metrics of a
	/// group that this machine cannot count are left out, see
	/// unavailable(). A list with an error adds nothing.
	/// Errors: errc::not_found (the message has the nearest names); those
	/// of add_metric(), for a metric with its own name in the list, or if
	/// the machine can count no metric of a group; errc::misuse if the
	/// counters are open.
	result<void> add_metrics(std::string_view names);
	/// Add a metric of the catalogue.
	/// Errors: errc::unsupported, errc::not_found (the driver lacks an
	/// event, a field or a PMU, which the message names), errc::conflict,
	/// errc::invalid (the expression); errc::misuse if the counters are
	/// open.
	result<void> add_metric(const metric_info &info);
	/// Number of events and metrics that were added.
	size_t size() const;
	/// Number of turns until all events have counted, on the box with the
	/// most turns; 1 if the events fit on their boxes and are not
	/// multiplexed.
	unsigned turns() const;
	/// Metrics that the last add_metrics() left out. The list is valid
	/// until the next add_metrics().
	std::vector<unavailable_metric> unavailable() const;

	/// Open the counters, stopped. open() may be called again after an
	/// error or after close(). Each event takes a descriptor on each of its
	/// CPUs; a program with many events has to raise its limit
	/// (RLIMIT_NOFILE). Boxes that do not answer are left out: news() names
	/// them.
	/// Errors: errc::permission (the message has the setting),
	/// errc::conflict (the kernel cannot put a group's events together),
	/// errc::gone (no box answers, or all CPUs disappeared), errc::system;
	/// errc::misuse if nothing was added or the counters are open.
	result<void> open(const session_options &options = {});
	bool is_open() const;
	/// Close the counters. The events and metrics remain, without values,
	/// and more can be added.
	void close();

	/// Start and stop all counters. After disable(), the counts stay.
	/// Errors of enable(), disable(), read() and sample(): errc::gone,
	/// errc::system; errc::misuse if the counters are not open.
	result<void> enable();
	result<void> disable();
	/// Read all counters and end the interval: values() then has the counts
	/// since the read() before, and since enable(). If a box stopped
	/// answering or a CPU went offline, read() continues with the other
	/// boxes and CPUs: news() names the lost ones, and values have a
	/// reason(). If no box or CPU is left, the error is errc::gone.
	result<void> read();
	/// Read all counters without ending the interval. Multiplexed events
	/// are scaled from read to read, so samples between two read() calls
	/// make the values more exact, and their errors known.
	result<void> sample();
	/// Time until the next sample(): long enough that every event had a
	/// turn, and that samples take at most a twentieth of the time. 0 if no
	/// event has been multiplexed yet.
	std::chrono::nanoseconds sample_time() const;
	/// Lines for the user about boxes and CPUs: those that did not answer
	/// when the counters were opened, were lost since, or count too little.
	/// Each line is returned once.
	std::vector<std::string> news();

	/// Return the values at the last read() or sample(): all events, then
	/// all metrics, in the order of adding. The values of one event or
	/// metric are in the order of packages, then of topology::pmus(). Empty
	/// if the counters are not open.
	std::vector<counted_value> values(scope where, period when) const;
	/// Time that the period covers; 0 if the counters are not open.
	std::chrono::nanoseconds elapsed(period when) const;
	/// Check whether any event ran for less than its enabled time.
	bool was_multiplexed() const;

private:
	friend result<void>
	open_counters(counter_set &counters, const session_options &options,
		      std::shared_ptr<counter_backend> backend);
	friend std::chrono::nanoseconds
	charge_account(const counter_set &counters, account &charged,
		       int package);
	friend void show_account(counter_set &counters, const account &shown,
				 std::chrono::nanoseconds time);

	struct UNCORE_HIDDEN state;
	std::unique_ptr<state> state_;
};

} // namespace uncore
