// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics: from an expression's events to counters, and from their counts to a
// value for each box, package or the machine.
#include <uncore/metric.hpp>

#include <algorithm>
#include <cmath>
#include <linux/perf_event.h>

#include <fmt/format.h>

#include <uncore/event.hpp>
#include <uncore/expression.hpp>

namespace uncore {

namespace {

/// Where one of a term's events is counted.  An event of the cores has no box
/// and belongs to each of its package's.
struct source {
	counter_id counter;
	const uncore::pmu *pmu;
};

/// A name of the expression.
struct operand {
	bool is_duration = false;
	std::vector<source> sources;
};

/// Who a value is of; values are in this order.
struct place {
	int package;
	const uncore::pmu *pmu;

	auto operator<=>(const place &) const = default;
};

double seconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double>(time).count();
}

const uncore::pmu *box_of(const event &e)
{
	return e.pmu && e.pmu->driver != driver::other ? e.pmu : nullptr;
}

} // namespace

struct metric::parts {
	uncore::expression expression;
	std::vector<operand> operands;

	/// What the operands are at one place.
	struct inputs {
		std::vector<double> values, errors, sources;
		double share = 1;
		std::chrono::nanoseconds time{};
	};

	std::vector<place> places(const session &counts, scope where) const;
	inputs collect(const session &counts, period when,
		       const place &at) const;
	void add_duration(inputs &in, const session &counts, period when,
			  std::chrono::nanoseconds enabled, size_t n) const;
	double error_of(const inputs &in, double value) const;
};

/// A virtual machine may have cores without counters.
static bool has_core_counters(const topology &machine)
{
	return std::any_of(
		machine.others().begin(), machine.others().end(),
		[](const pmu &p) { return p.name.starts_with("cpu"); });
}

static result<event_term> term_of(const expression::term &wanted,
				  const topology &machine)
{
	auto groups = parse_events(wanted.name, machine);

	if (!groups)
		return groups.error();
	if (groups->size() != 1 || groups->front().terms.size() != 1)
		return error{errc::invalid,
			     fmt::format("'{}' is not one event", wanted.name)};

	const event &first = groups->front().terms.front().events.front();

	if (!first.pmu && first.type == PERF_TYPE_HARDWARE &&
	    !has_core_counters(machine))
		return error{errc::unsupported,
			     fmt::format("no core counters, which {} needs",
					 wanted.name)};
	return std::move(groups->front().terms.front());
}

result<metric> metric::prepare(const metric_info &info, const topology &machine,
			       planner &counting)
{
	auto parsed = expression::parse(info.expression);

	if (!parsed)
		return parsed.error();

	auto made = std::make_shared<parts>(parts{*parsed, {}});
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

metric::parts::inputs metric::parts::collect(const session &counts, period when,
					     const place &at) const
{
	inputs in;
	std::chrono::nanoseconds enabled{};
	size_t n = 0;

	for (const operand &o : operands) {
		count sum;
		double sources = 0;

		for (const source &s : o.sources)
			for (size_t c = 0; c < counts.cpus(s.counter).size();
			     c++) {
				int package = counts.package(s.counter, c);

				if ((at.package >= 0 &&
				     package != at.package) ||
				    (at.pmu && s.pmu && s.pmu != at.pmu))
					continue;

				count one =
					when == period::interval
						? counts.interval(s.counter, c)
						: counts.total(s.counter, c);

				sum += one;
				in.share = std::min(in.share, one.share());
				enabled += one.enabled;
				sources++;
				n++;
			}
		in.values.push_back(sum.value);
		in.errors.push_back(sum.error);
		in.sources.push_back(sources);
	}
	add_duration(in, counts, when, enabled, n);
	return in;
}

/// The operands' errors as they reach the result, taken to be independent.
double metric::parts::error_of(const inputs &in, double value) const
{
	double sum = 0;

	for (size_t i = 0; i < in.values.size(); i++) {
		if (!(in.errors[i] > 0))
			continue;

		std::vector<double> moved = in.values;

		moved[i] += in.errors[i];
		sum += std::pow(expression.evaluate(moved, in.sources) - value,
				2);
	}
	return std::sqrt(sum);
}

std::vector<metric_value> metric::evaluate(const session &counts, period when,
					   scope where) const
{
	std::vector<metric_value> values;

	for (const place &at : parts_->places(counts, where)) {
		parts::inputs in = parts_->collect(counts, when, at);
		double value =
			parts_->expression.evaluate(in.values, in.sources);

		values.push_back({at.pmu, at.package, value * info_->scale,
				  parts_->error_of(in, value) * info_->scale,
				  in.share, in.time});
	}
	return values;
}

} // namespace uncore
