// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnosis/metric_sets.hpp"

#include <algorithm>
#include <cmath>

#include "catalogue_tables.hpp"

namespace cli {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using uncore::period;
using uncore::scope;
using clock = std::chrono::steady_clock;

/// Groups of events that may be multiplexed in a set: as few as possible, as a slice is
/// short.  A metric whose events need more groups has a set of its own.
static constexpr unsigned most_groups = 2;
/// Slices do not grow further: programs have phases of seconds.
static constexpr nanoseconds longest_slice = std::chrono::seconds(1);
/// Additional slices of a set of which an event has not counted: another program may have
/// most of the counters.  A dead box never counts, so the number is that of the whole run.
static constexpr unsigned most_repeats = 4;

using double_seconds = std::chrono::duration<double>;

/// Return the group of events/groups.json that a metric is counted with.
static std::string_view group_of(const uncore::metric_info &info)
{
	for (const uncore::metric_group &group : uncore::metric_group::all)
		if (std::count(info.groups.begin(), info.groups.end(),
			       group.name))
			return group.name;
	return info.groups.empty() ? info.box : info.groups.front();
}

/// Add a metric to a set of its group, or to a new set if too many events of the set
/// would be multiplexed.
void metric_sets::add_metric(const uncore::metric_info &info, rule_set &rules,
			     std::string_view group)
{
	uncore::counter_set alone(machine_);

	if (auto added = alone.add_metric(info); !added) {
		rules.remove(info.name, added.error().message);
		return;
	}
	if (!sets_.empty() && sets_.back().group == group) {
		metric_set &last = sets_.back();
		uncore::counter_set together(machine_);

		for (const uncore::metric_info *metric : last.metrics)
			(void)together.add_metric(*metric);
		if (together.add_metric(info) &&
		    together.turns() <= most_groups) {
			last.counters = std::move(together);
			last.metrics.push_back(&info);
			return;
		}
	}
	sets_.push_back({std::move(alone), std::string(group), {&info}});
}

void metric_sets::add(rule_set &rules)
{
	const auto &known = uncore::catalogue::of(machine_);
	std::map<std::string_view, std::vector<const uncore::metric_info *>>
		metrics;
	std::vector<std::string_view> order;
	std::set<const uncore::metric_info *> listed;
	const auto list = [&](const std::vector<std::string> &names) {
		for (const std::string &name : names) {
			const auto *info = known.metric(name);

			if (!info || !listed.insert(info).second)
				continue;

			auto &group = metrics[group_of(*info)];

			if (group.empty())
				order.push_back(group_of(*info));
			group.push_back(info);
		}
	};

	for (const rule &entry : rules.rules) {
		list(entry.metrics);
		list(entry.needed());
		list(entry.numbers);
	}
	for (const std::string_view group : order)
		for (const uncore::metric_info *info : metrics[group])
			add_metric(*info, rules, group);
}

uncore::result<void> metric_sets::open(rule_set &rules)
{
	uncore::result<void> outcome;

	std::erase_if(sets_, [&](metric_set &set) {
		auto opened = set.counters.open({.visit_packages = true});

		if (opened)
			return false;
		for (const uncore::metric_info *metric : set.metrics)
			rules.remove(metric->name, opened.error().message);
		outcome = std::move(opened);
		return true;
	});
	if (!sets_.empty())
		return {};
	return outcome;
}

uncore::result<void> metric_sets::begin_slice()
{
	slice_began_ = clock::now();
	slice_ends_ = slice_began_ + slice_;
	return sets_[current_].counters.enable();
}

uncore::result<void> metric_sets::enable(double duration)
{
	// In a run of known length each set has at least two slices.
	if (duration > 0)
		first_slice_ = std::min(
			first_slice_,
			nanoseconds(int64_t(duration * 1e9 /
					    double(3 * sets_.size()))));
	slice_ = first_slice_;
	return begin_slice();
}

uncore::result<void> metric_sets::end_slice()
{
	metric_set &set = sets_[current_];
	auto outcome = set.counters.read();
	const double length = double_seconds(clock::now() - slice_began_).count();

	if (auto stopped = set.counters.disable(); outcome && !stopped)
		outcome = stopped;
	set.seconds += length;
	set.slices++;
	// A slice that the end of the run cut off is whole if half of it is there.
	set.has_whole_slice =
		set.has_whole_slice || length >= double_seconds(first_slice_).count() / 2;
	for (const uncore::counted_value &counted :
	     set.counters.values(scope::package, period::interval))
		if (std::isfinite(counted.value()))
			set.past[{std::string(counted.name()),
				  counted.package()}]
				.push_back({counted.value(), length});
	return outcome;
}

/// Check for a metric whose events have never counted at the same time, in any socket.
bool metric_sets::lacks_counts(const metric_set &set)
{
	const auto values = set.counters.values(scope::package, period::total);

	return std::any_of(values.begin(), values.end(),
			   [](const uncore::counted_value &counted) {
				   return counted.share() <= 0;
			   });
}

uncore::result<nanoseconds> metric_sets::step()
{
	const auto now = clock::now();
	auto &counters = sets_[current_].counters;

	if (now < slice_ends_) {
		auto next = slice_ends_ - now;

		if (auto outcome = counters.sample(); !outcome)
			return outcome.error();
		if (const auto pause = counters.sample_time(); pause.count())
			next = std::min<nanoseconds>(next, pause);
		return next;
	}
	if (auto outcome = end_slice(); !outcome)
		return outcome.error();

	metric_set &set = sets_[current_];

	// In the first round each set has one slice, so that a short run has all sets.
	if (set.slices > 1 && set.repeats < most_repeats && lacks_counts(set)) {
		set.repeats++;
	} else {
		current_ = (current_ + 1) % sets_.size();
		if (!current_)
			slice_ = std::min(2 * slice_, longest_slice);
	}
	if (auto outcome = begin_slice(); !outcome)
		return outcome.error();
	return nanoseconds(milliseconds(5));
}

uncore::result<void> metric_sets::finish()
{
	return end_slice();
}

std::vector<std::string> metric_sets::news()
{
	std::vector<std::string> lines;

	for (metric_set &set : sets_)
		for (std::string &line : set.counters.news())
			if (news_.insert(line).second)
				lines.push_back(std::move(line));
	return lines;
}

double metric_sets::needed_seconds() const
{
	double slices = 0;

	for (const metric_set &set : sets_)
		slices += set.slices;

	// Reading many boxes on a busy machine may take longer than a slice.
	const double slice = slices > 0 ? seconds() / slices : 0;

	return double(sets_.size()) *
	       std::max({4 * double_seconds(first_slice_).count(), 2 * slice, 0.05});
}

bool metric_sets::is_complete() const
{
	return std::all_of(sets_.begin(), sets_.end(),
			   [](const metric_set &set) {
				   return set.has_whole_slice;
			   });
}

double metric_sets::seconds() const
{
	double sum = 0;

	for (const metric_set &set : sets_)
		sum += set.seconds;
	return sum;
}

std::vector<std::string> metric_sets::groups() const
{
	std::vector<std::string> names;

	for (const metric_set &set : sets_)
		if (names.empty() || names.back() != set.group)
			names.push_back(set.group);
	return names;
}

unsigned metric_sets::rounds() const
{
	unsigned least = sets_.front().slices;

	for (const metric_set &set : sets_)
		least = std::min(least, set.slices);
	return least;
}

/// Estimate the standard error of a mean that is weighted by the lengths of slices,
/// from the differences between slices; not a number for fewer than two.
double metric_sets::error_of(const std::vector<slice> &past, double mean)
{
	const double n = double(past.size());
	double squares = 0, length = 0;

	for (const slice &one : past) {
		squares += std::pow(one.seconds * (one.value - mean), 2);
		length += one.seconds;
	}
	return n < 2 ? std::nan("")
		     : std::sqrt(squares * n / (n - 1)) / length;
}

readings metric_sets::read() const
{
	readings numbers;
	const double all = seconds();

	for (const metric_set &set : sets_)
		for (const scope where : {scope::package, scope::box})
			for (const uncore::counted_value &counted :
			     set.counters.values(where, period::total)) {
				const auto past = set.past.find(
					{std::string(counted.name()),
					 counted.package()});
				const double between =
					past == set.past.end() ||
							where == scope::box
						? std::nan("")
						: error_of(past->second,
							   counted.value());

				// fmax() ignores an error that is unknown.
				numbers.add(
					counted.name(),
					{counted.package(),
					 counted.pmu() ? counted.pmu()->name
						       : "",
					 {counted.value(),
					  std::fmax(between,
						    counted.standard_error()),
					  counted.share() * set.seconds / all,
					  std::string(counted.unit())}});
			}
	return numbers;
}

} // namespace cli
