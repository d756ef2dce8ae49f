// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics: from an expression's events to counters, and from their counts to a
// value for each box, package or the machine.
#include "metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <linux/perf_event.h>
#include <optional>

#include <uncore/event.hpp>

#include "expression.hpp"
#include "format.hpp"

namespace uncore {

namespace {

/// Where one of a term's events is counted.  An event of the cores has no box
/// and belongs to each of its package's.
struct source {
	counter_id counter;
	const uncore::pmu_info *pmu;
};

/// A name of the expression.
struct operand {
	bool is_duration = false;
	std::vector<source> sources;
};

/// Who a value is of; values are in this order.
struct place {
	int package;
	const uncore::pmu_info *pmu;

	auto operator<=>(const place &) const = default;
};

double seconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double>(time).count();
}

const uncore::pmu_info *box_of(const event &e)
{
	return e.pmu && e.pmu->driver != pmu_driver::other ? e.pmu : nullptr;
}

} // namespace

struct metric::parts {
	uncore::topology machine; ///< which the events' PMUs are of
	uncore::expression expression;
	std::optional<uncore::expression> weight;
	std::vector<size_t> weighed; ///< operands that are the weight's terms
	std::vector<operand> operands;

	/// What the operands are at one place.
	struct inputs {
		std::vector<double> values, errors, sources;
		double share = 1;
		std::chrono::nanoseconds time{};
		/// Of the boxes, for people.
		std::string reason;
	};
	/// A place's counters, by operand, and the session's sums of them.
	struct watched_place {
		place at;
		std::vector<std::vector<counter_at>> counters;
		std::optional<sum_set> sums;
	};
	/// By scope, as far as they are watched.
	std::array<std::vector<watched_place>, 3> watched;

	std::vector<place> places(const session &counts, scope where) const;
	std::vector<watched_place> gather(const session &counts,
					  scope where) const;
	inputs collect(const session &counts, period when,
		       const watched_place &at) const;
	bool is_of(const uncore::pmu_info *box) const;
	std::string reason_at(const session &counts, period when,
			      const watched_place &at) const;
	void add_duration(inputs &in, const session &counts, period when,
			  std::chrono::nanoseconds enabled, size_t n) const;
	double error_of(const session &counts, period when,
			const watched_place &at, const inputs &in,
			double value) const;
	scope summed_over(scope where) const;
	result<void> weigh(std::string_view text);
	double weight_of(const inputs &in) const;
	metric_value mean(const session &counts, period when,
			  const std::vector<watched_place> &packages) const;
};

/// The scope whose counts are added up for values of @where.
scope metric::parts::summed_over(scope where) const
{
	return weight && where == scope::machine ? scope::package : where;
}

/// Parse the weight; its terms are some of the expression's.
result<void> metric::parts::weigh(std::string_view text)
{
	auto parsed = uncore::expression::parse(text);

	if (!parsed)
		return parsed.error();
	for (const expression::term &wanted : parsed->terms()) {
		const auto &known = expression.terms();
		auto same = std::find_if(known.begin(), known.end(),
					 [&](const expression::term &one) {
						 return one.name == wanted.name;
					 });

		if (same == known.end())
			return error{
				errc::invalid,
				uncore::format(
					"'{}' of the weight is not in the expression",
					wanted.name)};
		weighed.push_back(size_t(same - known.begin()));
	}
	weight = std::move(*parsed);
	return {};
}

double metric::parts::weight_of(const inputs &in) const
{
	std::vector<double> values, sources;

	for (size_t i : weighed) {
		values.push_back(in.values[i]);
		sources.push_back(in.sources[i]);
	}
	return weight->evaluate(values, sources);
}

/// A virtual machine may have cores without counters.
static bool has_core_counters(const topology &machine)
{
	return std::any_of(
		machine.others().begin(), machine.others().end(),
		[](const pmu_info &p) { return p.name.starts_with("cpu"); });
}

static result<event_term> term_of(const expression::term &wanted,
				  const topology &machine)
{
	auto groups = parse_events(wanted.name, machine);

	if (!groups)
		return groups.error();
	if (groups->size() != 1 || groups->front().terms.size() != 1)
		return error{
			errc::invalid,
			uncore::format("'{}' is not one event", wanted.name)};

	const event &first = groups->front().terms.front().events.front();

	if (!first.pmu && first.type == PERF_TYPE_HARDWARE &&
	    !has_core_counters(machine))
		return error{errc::unsupported,
			     uncore::format("no core counters, which {} needs",
					    wanted.name)};
	return std::move(groups->front().terms.front());
}

result<metric> metric::prepare(const metric_info &info, const topology &machine,
			       planner &counting)
{
	auto parsed = expression::parse(info.expression);

	if (!parsed)
		return parsed.error();

	auto made = std::make_shared<parts>(
		parts{machine, *parsed, {}, {}, {}, {}});

	if (!info.weight.empty())
		if (auto ok = made->weigh(info.weight); !ok)
			return ok.error();

	std::vector<event_term> terms;
	std::vector<size_t> operand_of_term;

	for (const expression::term &wanted : parsed->terms()) {
		operand next;

		next.is_duration = wanted.name == "duration_time";
		if (!next.is_duration) {
			auto term = term_of(wanted, machine);

			if (!term)
				return term.error();
			operand_of_term.push_back(made->operands.size());
			terms.push_back(std::move(*term));
		}
		made->operands.push_back(std::move(next));
	}

	auto placed = counting.add(terms, !info.one_group);

	if (!placed)
		return placed.error();
	for (size_t t = 0; t < terms.size(); t++)
		for (size_t i = 0; i < (*placed)[t].size(); i++)
			made->operands[operand_of_term[t]].sources.push_back(
				{(*placed)[t][i], box_of(terms[t].events[i])});

	metric finished;

	finished.info_ = &info;
	finished.parts_ = std::move(made);
	return finished;
}

std::vector<place> metric::parts::places(const session &counts,
					 scope where) const
{
	std::vector<place> found;

	if (where == scope::machine)
		return {{-1, nullptr}};
	for (const operand &o : operands)
		for (const source &s : o.sources)
			for (size_t c = 0; c < counts.cpus(s.counter).size();
			     c++) {
				place p{counts.package(s.counter, c), nullptr};

				if (where == scope::box)
					p.pmu = s.pmu;
				if (where == scope::package || s.pmu)
					found.push_back(p);
			}
	// PMUs are in order in one array, so their addresses are.
	std::sort(found.begin(), found.end());
	found.erase(std::unique(found.begin(), found.end()), found.end());
	return found;
}

/// duration_time is the time for which the events were enabled, which is more
/// exact than a clock that is read before or after the counters.
void metric::parts::add_duration(inputs &in, const session &counts, period when,
				 std::chrono::nanoseconds enabled,
				 size_t n) const
{
	in.time = when == period::interval ? counts.interval_time()
					   : counts.total_time();
	if (n)
		in.time = enabled / n;
	for (size_t i = 0; i < operands.size(); i++)
		if (operands[i].is_duration)
			in.values[i] = seconds(in.time);
}

/// The counters of each place.
std::vector<metric::parts::watched_place>
metric::parts::gather(const session &counts, scope where) const
{
	std::vector<watched_place> all;
	auto is_at = [](const place &at, const source &s, int package) {
		return (at.package < 0 || package == at.package) &&
		       (!at.pmu || !s.pmu || s.pmu == at.pmu);
	};

	for (const place &at : places(counts, where)) {
		watched_place made{at, {}, {}};

		for (const operand &o : operands) {
			auto &of = made.counters.emplace_back();

			for (const source &s : o.sources)
				for (size_t c = 0;
				     c < counts.cpus(s.counter).size(); c++)
					if (is_at(at, s,
						  counts.package(s.counter, c)))
						of.push_back({s.counter, c});
		}
		all.push_back(std::move(made));
	}
	return all;
}

/// Also of boxes that never answered, which have no counters.
std::string metric::parts::reason_at(const session &counts, period when,
				     const watched_place &at) const
{
	std::vector<const box_health *> boxes;

	for (const auto &counters : at.counters)
		for (const counter_at &c : counters)
			boxes.push_back(
				&counts.health(c.counter, c.cpu_index, when));
	for (const box_health &box : counts.health(when))
		if (box.condition == condition::absent &&
		    (at.at.package < 0 || box.package == at.at.package) &&
		    (!at.at.pmu || box.pmu == at.at.pmu) && is_of(box.pmu))
			boxes.push_back(&box);
	return reason_of(boxes);
}

bool metric::parts::is_of(const uncore::pmu_info *box) const
{
	for (const operand &o : operands)
		for (const source &s : o.sources)
			if (s.pmu && s.pmu == box)
				return true;
	return false;
}

metric::parts::inputs metric::parts::collect(const session &counts, period when,
					     const watched_place &at) const
{
	inputs in;
	std::chrono::nanoseconds enabled{};
	size_t n = 0;

	for (const auto &counters : at.counters) {
		size_t sources = 0;
		count sum;

		for (const counter_at &c : counters) {
			// A box that is lost has no part in an average.
			if (!counts.counted(c.counter, c.cpu_index, when))
				continue;
			sources++;

			count one =
				when == period::interval
					? counts.interval(c.counter,
							  c.cpu_index)
					: counts.total(c.counter, c.cpu_index);

			sum += one;
			in.share = std::min(in.share, one.share());
			// A box that was lost was enabled for less.
			if (!counts.health(c.counter, c.cpu_index, when)
				     .measured())
				continue;
			enabled += one.enabled;
			n++;
		}
		if (!sources && !counters.empty())
			sum.value = std::nan("");
		in.values.push_back(sum.value);
		in.errors.push_back(sum.error);
		in.sources.push_back(double(sources));
	}
	add_duration(in, counts, when, enabled, n);
	in.reason = reason_at(counts, when, at);
	return in;
}

/// The operands' errors as they reach the result: by the result's gradient,
/// which is looked at one error away.
double metric::parts::error_of(const session &counts, period when,
			       const watched_place &at, const inputs &in,
			       double value) const
{
	std::vector<double> gradient(in.values.size());
	double sum = 0;

	for (size_t i = 0; i < in.values.size(); i++) {
		if (in.errors[i] == 0)
			continue;

		std::vector<double> moved = in.values;
		// Where it is unknown, any step will do.
		const double step = in.errors[i] > 0
					    ? in.errors[i]
					    : std::fabs(in.values[i]) / 1024;

		if (!(step > 0))
			continue;
		moved[i] += step;

		double change = expression.evaluate(moved, in.sources) - value;

		gradient[i] = change / step;
		sum += change * change;
	}

	const bool unknown =
		std::any_of(in.errors.begin(), in.errors.end(),
			    [](double e) { return std::isnan(e); });

	if (unknown && (sum == 0 || !at.sums))
		return std::nan("");
	if (sum == 0)
		return 0;
	if (!at.sums)
		return std::sqrt(sum);
	return counts.error(*at.sums, gradient, when);
}

/// Counters of a box that cannot be frozen are read one after the other.
static constexpr double read_apart = 0.01;

static std::string range_of(const metric_info &info)
{
	const std::string unit =
		info.unit.empty() ? "" : " " + std::string(info.unit);

	if (std::isinf(info.high))
		return uncore::format("{}{} or more", info.low, unit);
	return uncore::format("{} to {}{}", info.low, info.high, unit);
}

static void refuse(metric_value &made, const std::string &why)
{
	made.reason = uncore::format(
		"{}{}{}", why, made.reason.empty() ? "" : "; ", made.reason);
	made.value = made.error = std::nan("");
}

static constexpr const char *multiplexed_reason =
	"its events were multiplexed while the traffic changed: count fewer at once, or for longer";

/// Refuse an impossible value, also where its error reaches into the possible
/// range: the nearest possible value is a guess. Only a value that is off by no
/// more than reading counters apart explains becomes the nearest possible one.
static void hold_to_range(metric_value &made, const metric_info &info)
{
	const double slack =
		std::isinf(info.high) ? 0 : (info.high - info.low) * read_apart;

	if (made.value < info.low - slack || made.value > info.high + slack)
		refuse(made,
		       uncore::format("{:.4g} is not possible for {} ({}): {}",
				      made.value, info.name, range_of(info),
				      made.share < 1
					      ? multiplexed_reason
					      : "the counts of its events contradict each other"));
	else
		made.value = std::clamp(made.value, info.low, info.high);
}

/// Refuse a value that its error makes meaningless.
static void hold_to_error(metric_value &made, const metric_info &info)
{
	if (made.error > std::fabs(made.value))
		refuse(made,
		       uncore::format("{:.4g} has an error of {:.4g} as {}: {}",
				      made.value, made.error, info.name,
				      multiplexed_reason));
}

/// Explain a ratio whose events may have happened while they were not counted.
static void explain_unseen(metric_value &made)
{
	if (std::isnan(made.value) && made.share < 1 && made.reason.empty())
		made.reason =
			"no event was seen in the part of the time that was counted: count fewer at once, or for longer";
}

/// The packages' mean by weight; what has no weight was not used, and has no
/// value.
metric_value
metric::parts::mean(const session &counts, period when,
		    const std::vector<watched_place> &packages) const
{
	metric_value all{nullptr, -1, 0, 0, 1, {}, {}};
	double whole = 0, sum = 0, squares = 0;

	for (const watched_place &at : packages) {
		inputs in = collect(counts, when, at);
		double part = weight_of(in);

		all.share = std::min(all.share, in.share);
		all.time += in.time / packages.size();
		if (all.reason.empty())
			all.reason = std::move(in.reason);
		if (!(part > 0))
			continue;

		double value = expression.evaluate(in.values, in.sources);
		double error = part * error_of(counts, when, at, in, value);

		whole += part;
		sum += part * value;
		squares += error * error;
	}
	all.value = sum / whole;
	all.error = std::sqrt(squares) / whole;
	return all;
}

void metric::watch(session &counts, scope where)
{
	auto &watched = parts_->watched[size_t(where)];

	watched = parts_->gather(counts, parts_->summed_over(where));
	for (auto &at : watched)
		at.sums = counts.add_up(at.counters);
}

std::vector<metric_value> metric::evaluate(const session &counts, period when,
					   scope where) const
{
	const auto &watched = parts_->watched[size_t(where)];
	std::vector<parts::watched_place> now;
	std::vector<metric_value> values;

	if (watched.empty())
		now = parts_->gather(counts, parts_->summed_over(where));
	if (parts_->summed_over(where) != where) {
		metric_value all = parts_->mean(
			counts, when, watched.empty() ? now : watched);

		all.value *= info_->scale;
		all.error *= info_->scale;
		hold_to_range(all, *info_);
		hold_to_error(all, *info_);
		explain_unseen(all);
		return {std::move(all)};
	}
	for (const auto &at : watched.empty() ? now : watched) {
		parts::inputs in = parts_->collect(counts, when, at);
		double value =
			parts_->expression.evaluate(in.values, in.sources);

		metric_value made = {
			at.at.pmu,
			at.at.package,
			value * info_->scale,
			parts_->error_of(counts, when, at, in, value) *
				info_->scale,
			in.share,
			in.time,
			std::move(in.reason)};

		hold_to_range(made, *info_);
		hold_to_error(made, *info_);
		explain_unseen(made);
		values.push_back(std::move(made));
	}
	return values;
}

} // namespace uncore
