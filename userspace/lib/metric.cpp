// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics: plan counters for an expression's events, and evaluate the
// expression for each box, each package or the machine.
#include "metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <linux/perf_event.h>
#include <optional>

#include <uncore/event.hpp>

#include "expression.hpp"
#include "format.hpp"
#include "text.hpp"

namespace uncore {

namespace {

/// Counter of one event of a term, and its box.  A core event has no box and
/// belongs to every box of its package.
struct source {
	counter_id counter;
	const uncore::pmu_info *pmu;
};

/// Names in an expression that are not of counters, in perf's spelling.
enum class given {
	nothing, ///< the operand has counters
	duration,
	packages, ///< that are counted, of those of the value
	cpus,	  ///< online CPUs of these packages
};

constexpr struct {
	std::string_view name;
	given value;
} given_names[] = {
	{"duration_time", given::duration},
	// No processor of a catalogue has several dies in a package.
	{"#num_dies", given::packages},
	{"#num_packages", given::packages},
	{"#num_cpus_online", given::cpus},
};

given given_of(std::string_view name)
{
	for (const auto &entry : given_names)
		if (entry.name == name)
			return entry.value;
	return given::nothing;
}

/// A name in the expression, and the counters whose counts it stands for.
struct operand {
	given value = given::nothing;
	std::vector<source> sources;
};

/// Package and box of a value; values are sorted by place.
struct place {
	int package;		     ///< -1 for the machine
	const uncore::pmu_info *pmu; ///< nullptr except for scope::box

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
	uncore::topology machine; ///< owner of the events' PMUs
	uncore::expression expression;
	/// metric_info::weight: if present, the machine's value is the weighted
	/// mean of the packages' values.
	std::optional<uncore::expression> weight;
	/// For each term of the weight, the index of its operand.
	std::vector<size_t> weighed;
	std::vector<operand> operands;

	/// Inputs of the expression at one place: for each operand its value,
	/// its error, and the number of counters (sources) that the value sums
	/// up.
	struct inputs {
		std::vector<double> values, errors, sources;
		double share = 1; ///< smallest count::share() of the counters
		/// Mean enabled time of the counters: duration_time.
		std::chrono::nanoseconds time{};
		/// Conditions of the boxes, as text for the user.
		std::string reason;
	};
	/// Counters of each operand at a place, and the session's set of their
	/// sums, one for each operand; no set before metric::watch().
	struct watched_place {
		place position;
		std::vector<std::vector<counter_at>> counters;
		std::optional<sum_set> sums;
	};
	/// Places of metric::watch(), by scope.
	std::array<std::vector<watched_place>, 3> watched;

	std::vector<place> places(const session &counts, scope where) const;
	std::vector<watched_place> gather(const session &counts,
					  scope where) const;
	inputs collect(const session &counts, period when,
		       const watched_place &place) const;
	bool is_of(const uncore::pmu_info *box) const;
	std::string reason_at(const session &counts, period when,
			      const watched_place &place) const;
	void add_duration(inputs &in, const session &counts, period when,
			  std::chrono::nanoseconds enabled, size_t n) const;
	void add_machine(inputs &in, const session &counts,
			 const watched_place &place) const;
	double error_of(const session &counts, period when,
			const watched_place &place, const inputs &in,
			double value) const;
	scope summed_over(scope where) const;
	result<void> weigh(std::string_view text);
	double weight_of(const inputs &in) const;
	metric_value mean(const session &counts, period when,
			  const std::vector<watched_place> &packages) const;
};

/// Return the scope over which counts are added up for values of @p where: the
/// weighted mean for the machine needs the values of the packages.
scope metric::parts::summed_over(scope where) const
{
	return weight && where == scope::machine ? scope::package : where;
}

/// Parse the weight.  Each of its terms must be a term of the expression, so
/// that its counters exist already.
result<void> metric::parts::weigh(std::string_view text)
{
	auto parsed = uncore::expression::parse(text);

	if (!parsed)
		return parsed.error();
	for (const expression::term &weight_term : parsed->terms()) {
		const auto &terms = expression.terms();
		auto position = std::find_if(terms.begin(), terms.end(),
					     [&](const expression::term &term) {
						     return term.name ==
							    weight_term.name;
					     });

		if (position == terms.end())
			return error{
				errc::invalid,
				uncore::format(
					"'{}' of the weight is not in the expression",
					weight_term.name)};
		weighed.push_back(size_t(position - terms.begin()));
	}
	weight = std::move(*parsed);
	return {};
}

/// Evaluate the weight of a package.
double metric::parts::weight_of(const inputs &in) const
{
	std::vector<double> values, sources;

	for (size_t i : weighed) {
		values.push_back(in.values[i]);
		sources.push_back(in.sources[i]);
	}
	return weight->evaluate(values, sources);
}

/// Check that the machine has a PMU of the cores: a virtual machine may have
/// none.
static bool has_core_counters(const topology &machine)
{
	return std::any_of(
		machine.others().begin(), machine.others().end(),
		[](const pmu_info &p) { return p.name.starts_with("cpu"); });
}

/// Parse a term of an expression, which must be a single event.
static result<event_term> term_of(const expression::term &term,
				  const topology &machine)
{
	auto groups = parse_events(term.name, machine);

	if (!groups)
		return groups.error();
	if (groups->size() != 1 || groups->front().terms.size() != 1)
		return error{
			errc::invalid,
			uncore::format("'{}' is not one event", term.name)};

	const event &first = groups->front().terms.front().events.front();

	if (!first.pmu && first.type == PERF_TYPE_HARDWARE &&
	    !has_core_counters(machine))
		return error{errc::unsupported,
			     uncore::format("no core counters, which {} needs",
					    term.name)};
	return std::move(groups->front().terms.front());
}

bool metric::defines(std::string_view name)
{
	return given_of(name) != given::nothing;
}

std::string metric::defined_names()
{
	std::vector<std::string_view> names;

	for (const auto &entry : given_names)
		names.push_back(entry.name);
	return join(names);
}

result<metric> metric::prepare(const metric_info &info, const topology &machine,
			       planner &counting)
{
	auto parsed = expression::parse(info.expression);

	if (!parsed)
		return parsed.error();

	auto metric_parts = std::make_shared<parts>(
		parts{machine, *parsed, {}, {}, {}, {}});

	if (!info.weight.empty())
		if (auto outcome = metric_parts->weigh(info.weight); !outcome)
			return outcome.error();

	std::vector<event_term> terms;
	std::vector<size_t> operand_of_term;

	for (const expression::term &term : parsed->terms()) {
		operand next;

		next.value = given_of(term.name);
		if (next.value == given::nothing) {
			auto resolved = term_of(term, machine);

			if (!resolved)
				return resolved.error();
			operand_of_term.push_back(
				metric_parts->operands.size());
			terms.push_back(std::move(*resolved));
		}
		metric_parts->operands.push_back(std::move(next));
	}

	auto counters = counting.add(terms, !info.one_group);

	if (!counters)
		return counters.error();
	for (size_t t = 0; t < terms.size(); t++)
		for (size_t i = 0; i < (*counters)[t].size(); i++)
			metric_parts->operands[operand_of_term[t]]
				.sources.push_back(
					{(*counters)[t][i],
					 box_of(terms[t].events[i])});

	metric prepared;

	prepared.info_ = &info;
	prepared.parts_ = std::move(metric_parts);
	return prepared;
}

/// List the places of a scope for which the metric has values.  Operands of
/// core events have no box, and make no place of scope::box.
std::vector<place> metric::parts::places(const session &counts,
					 scope where) const
{
	std::vector<place> positions;

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
					positions.push_back(p);
			}
	// PMUs are sorted in one array: sorting addresses sorts PMUs.
	std::sort(positions.begin(), positions.end());
	positions.erase(std::unique(positions.begin(), positions.end()),
			positions.end());
	return positions;
}

/// Set duration_time to the mean time for which the counters were enabled, or
/// to the time of the period if there is no counter.  The enabled time is more
/// exact than a clock read before or after the counters: boxes are started and
/// read one after the other.
/// @param enabled sum of the enabled times of @p n counters.
void metric::parts::add_duration(inputs &in, const session &counts, period when,
				 std::chrono::nanoseconds enabled,
				 size_t n) const
{
	in.time = when == period::interval ? counts.interval_time()
					   : counts.total_time();
	if (n)
		in.time = enabled / n;
	for (size_t i = 0; i < operands.size(); i++)
		if (operands[i].value == given::duration)
			in.values[i] = seconds(in.time);
}

/// Set #num_packages and #num_cpus_online: those of the packages with counters
/// at the place.
void metric::parts::add_machine(inputs &in, const session &counts,
				const watched_place &place) const
{
	std::vector<int> ids;
	size_t cpus = 0, packages = 0;

	for (const auto &counters : place.counters)
		for (const counter_at &c : counters)
			ids.push_back(counts.package(c.counter, c.cpu_index));
	for (const uncore::package &package : machine.packages())
		if (std::count(ids.begin(), ids.end(), package.id)) {
			packages++;
			cpus += package.cpus.size();
		}
	for (size_t i = 0; i < operands.size(); i++) {
		if (operands[i].value == given::packages)
			in.values[i] = double(packages);
		if (operands[i].value == given::cpus)
			in.values[i] = double(cpus);
	}
}

/// Collect the counters of each place.
std::vector<metric::parts::watched_place>
metric::parts::gather(const session &counts, scope where) const
{
	std::vector<watched_place> gathered;
	// A core event belongs to every box of its package.
	auto is_at = [](const place &position, const source &s, int package) {
		return (position.package < 0 || package == position.package) &&
		       (!position.pmu || !s.pmu || s.pmu == position.pmu);
	};

	for (const place &position : places(counts, where)) {
		watched_place place{position, {}, {}};

		for (const operand &o : operands) {
			auto &counters = place.counters.emplace_back();

			for (const source &s : o.sources)
				for (size_t c = 0;
				     c < counts.cpus(s.counter).size(); c++)
					if (is_at(position, s,
						  counts.package(s.counter, c)))
						counters.push_back(
							{s.counter, c});
		}
		gathered.push_back(std::move(place));
	}
	return gathered;
}

/// Describe the problems of the boxes of a place.  Boxes that were absent when
/// the counters were opened have no counters, and are looked up in the
/// session's health.
std::string metric::parts::reason_at(const session &counts, period when,
				     const watched_place &place) const
{
	std::vector<const box_health *> boxes;

	for (const auto &counters : place.counters)
		for (const counter_at &c : counters)
			boxes.push_back(
				&counts.health(c.counter, c.cpu_index, when));
	for (const box_health &box : counts.health(when))
		if (box.condition == condition::absent &&
		    (place.position.package < 0 ||
		     box.package == place.position.package) &&
		    (!place.position.pmu || box.pmu == place.position.pmu) &&
		    is_of(box.pmu))
			boxes.push_back(&box);
	return reason_of(boxes);
}

/// Check whether the metric has an event of this PMU.
bool metric::parts::is_of(const uncore::pmu_info *box) const
{
	for (const operand &o : operands)
		for (const source &s : o.sources)
			if (s.pmu && s.pmu == box)
				return true;
	return false;
}

/// Check whether an operand has counts of other box types than that of a place:
/// a metric of several box types has no value of one box.
static bool is_elsewhere(const operand &counted, const place &position)
{
	return position.pmu && !counted.sources.empty() &&
	       std::none_of(counted.sources.begin(), counted.sources.end(),
			    [&](const source &s) {
				    return !s.pmu ||
					   s.pmu->box == position.pmu->box;
			    });
}

/// Add up the counts of each operand at a place.
metric::parts::inputs metric::parts::collect(const session &counts, period when,
					     const watched_place &place) const
{
	inputs in;
	std::chrono::nanoseconds enabled{};
	size_t n = 0;

	for (const auto &counters : place.counters) {
		size_t sources = 0;
		count sum;

		for (const counter_at &c : counters) {
			// A lost box adds neither to the count nor to the
			// number of sources, by which an average is divided.
			if (!counts.counted(c.counter, c.cpu_index, when))
				continue;
			sources++;

			count reading =
				when == period::interval
					? counts.interval(c.counter,
							  c.cpu_index)
					: counts.total(c.counter, c.cpu_index);

			sum += reading;
			in.share = std::min(in.share, reading.share());
			// Events of a lost box were enabled for less time:
			// leave them out of the mean enabled time.
			if (!counts.health(c.counter, c.cpu_index, when)
				     .measured())
				continue;
			enabled += reading.enabled;
			n++;
		}
		if (!sources &&
		    (!counters.empty() ||
		     is_elsewhere(operands[in.values.size()], place.position)))
			sum.value = std::nan("");
		in.values.push_back(sum.value);
		in.errors.push_back(sum.error);
		in.sources.push_back(double(sources));
	}
	add_duration(in, counts, when, enabled, n);
	add_machine(in, counts, place);
	in.reason = reason_at(counts, when, place);
	for (const operand &counted : operands)
		if (in.reason.empty() && is_elsewhere(counted, place.position))
			in.reason =
				"its events are of several box types: it has no value of a box";
	return in;
}

/// Propagate the operands' errors to the value of the expression.  The
/// gradient, the derivative of the expression by each operand, is computed as
/// the change of the value divided by a step of the operand; the step is the
/// operand's error.
/// @param value of the expression for @p in.
/// @return not a number if unknown.  Without the session's sums
/// (metric::watch() was not called), the operands are taken as independent.
double metric::parts::error_of(const session &counts, period when,
			       const watched_place &place, const inputs &in,
			       double value) const
{
	std::vector<double> gradient(in.values.size());
	double sum = 0;

	for (size_t i = 0; i < in.values.size(); i++) {
		if (in.errors[i] == 0)
			continue;

		std::vector<double> moved = in.values;
		// If the error is unknown, any small step gives the gradient.
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

	// The session's sums may know the error of the value although the error
	// of an operand is unknown.
	if (unknown && (sum == 0 || !place.sums))
		return std::nan("");
	if (sum == 0)
		return 0;
	if (!place.sums)
		return std::sqrt(sum);
	return counts.error(*place.sums, gradient, when);
}

/// Relative error, as a part of a metric's range, of counters that are read one
/// after the other, because their box cannot be frozen.
static constexpr double read_apart = 0.01;

/// Describe the range of possible values: "0 to 100 %".
static std::string range_of(const metric_info &info)
{
	const std::string unit =
		info.unit.empty() ? "" : " " + std::string(info.unit);

	if (std::isinf(info.high))
		return uncore::format("{}{} or more", info.low, unit);
	return uncore::format("{} to {}{}", info.low, info.high, unit);
}

/// Make a value missing, for this reason; an earlier reason follows.
static void refuse(metric_value &value, const std::string &reason)
{
	value.reason =
		uncore::format("{}{}{}", reason,
			       value.reason.empty() ? "" : "; ", value.reason);
	value.value = value.error = std::nan("");
}

static constexpr const char *multiplexed_reason =
	"its events were multiplexed while the traffic changed: count fewer at once, or for longer";

/// Refuse a value outside of the metric's range, even if its error reaches into
/// the range: the nearest possible value would be a guess.  A value that is
/// outside by no more than read_apart becomes the nearest possible one.  (A
/// full link would have no value otherwise.)
static void hold_to_range(metric_value &value, const metric_info &info)
{
	const double slack =
		std::isinf(info.high) ? 0 : (info.high - info.low) * read_apart;

	if (value.value < info.low - slack || value.value > info.high + slack)
		refuse(value,
		       uncore::format(
			       "{:.4g} is not possible for {} ({}): {}",
			       value.value, info.name, range_of(info),
			       value.share < 1
				       ? multiplexed_reason
				       : "the counts of its events contradict each other"));
	else
		value.value = std::clamp(value.value, info.low, info.high);
}

/// Refuse a value that is smaller than its error: it would look like a
/// measurement.
static void hold_to_error(metric_value &value, const metric_info &info)
{
	if (value.error > std::fabs(value.value))
		refuse(value,
		       uncore::format("{:.4g} has an error of {:.4g} as {}: {}",
				      value.value, value.error, info.name,
				      multiplexed_reason));
}

/// Explain a missing value of multiplexed events: the divisor was 0 in the time
/// that was counted, and may have been larger in the rest.
static void explain_unseen(metric_value &value)
{
	if (std::isnan(value.value) && value.share < 1 && value.reason.empty())
		value.reason =
			"no event was seen in the part of the time that was counted: count fewer at once, or for longer";
}

/// Compute the weighted mean of the packages' values.  A package with weight 0
/// was not used: it has no value and is left out.
metric_value
metric::parts::mean(const session &counts, period when,
		    const std::vector<watched_place> &packages) const
{
	metric_value mean_value{nullptr, -1, 0, 0, 1, {}, {}};
	double total_weight = 0, sum = 0, squares = 0;

	for (const watched_place &place : packages) {
		inputs in = collect(counts, when, place);
		double place_weight = weight_of(in);

		mean_value.share = std::min(mean_value.share, in.share);
		mean_value.time += in.time / packages.size();
		if (mean_value.reason.empty())
			mean_value.reason = std::move(in.reason);
		if (!(place_weight > 0))
			continue;

		double value = expression.evaluate(in.values, in.sources);
		double error =
			place_weight * error_of(counts, when, place, in, value);

		total_weight += place_weight;
		sum += place_weight * value;
		squares += error * error;
	}
	mean_value.value = sum / total_weight;
	mean_value.error = std::sqrt(squares) / total_weight;
	return mean_value;
}

void metric::watch(session &counts, scope where)
{
	auto &watched = parts_->watched[size_t(where)];

	watched = parts_->gather(counts, parts_->summed_over(where));
	for (auto &place : watched)
		place.sums = counts.add_up(place.counters);
}

std::vector<metric_value> metric::evaluate(const session &counts, period when,
					   scope where) const
{
	const auto &watched = parts_->watched[size_t(where)];
	std::vector<parts::watched_place> gathered;
	std::vector<metric_value> values;

	if (watched.empty())
		gathered = parts_->gather(counts, parts_->summed_over(where));
	if (parts_->summed_over(where) != where) {
		metric_value mean_value = parts_->mean(
			counts, when, watched.empty() ? gathered : watched);

		mean_value.value *= info_->scale;
		mean_value.error *= info_->scale;
		hold_to_range(mean_value, *info_);
		hold_to_error(mean_value, *info_);
		explain_unseen(mean_value);
		return {std::move(mean_value)};
	}
	for (const auto &place : watched.empty() ? gathered : watched) {
		parts::inputs in = parts_->collect(counts, when, place);
		double unscaled =
			parts_->expression.evaluate(in.values, in.sources);

		metric_value value = {
			place.position.pmu,
			place.position.package,
			unscaled * info_->scale,
			parts_->error_of(counts, when, place, in, unscaled) *
				info_->scale,
			in.share,
			in.time,
			std::move(in.reason)};

		hold_to_range(value, *info_);
		hold_to_error(value, *info_);
		explain_unseen(value);
		values.push_back(std::move(value));
	}
	return values;
}

} // namespace uncore
