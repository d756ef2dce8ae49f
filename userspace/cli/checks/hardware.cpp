// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/hardware.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <thread>

#include <unistd.h>

#include <fmt/ranges.h>

#include <uncore/catalogue.hpp>

#include "catalogue_tables.hpp"
#include "checks/coherent_io.hpp"
#include "checks/counters.hpp"
#include "checks/interrupts.hpp"
#include "checks/load.hpp"
#include "output/machine.hpp"
#include "process/child.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;
using namespace std::chrono_literals;

/// Return the rate of a count, per second of the time for which the event counted.
double rate_of(const counted &reading)
{
	const double time = double(reading.count.running.count());

	return time > 0 ? double(reading.count.raw) * 1e9 / time : 0;
}

void wait(std::chrono::milliseconds time)
{
	std::this_thread::sleep_for(time);
}

uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/// Return the event that counts a box type's clock, or nullptr.
const uncore::event_info *clock_of(const uncore::catalogue &catalogue,
				   std::string_view box)
{
	const uncore::event_info *const ticks =
		catalogue.event(box, "clockticks");

	return ticks ? ticks : catalogue.event(box, "uclk");
}

class hardware_checker {
public:
	explicit hardware_checker(const uncore::topology &machine)
		: machine_(machine), catalogue_(uncore::catalogue::of(machine)),
		  channels_(box_with("memory", "channel")),
		  slices_(box_with("cache", "slice"))
	{
		for (const uncore::box_info &type : catalogue_.boxes())
			if (const auto pmus = machine.match(type.name);
			    !pmus.empty() && clock_of(catalogue_, type.name))
				types_.push_back(
					{type.name,
					 clock_of(catalogue_, type.name),
					 pmus.front()});
	}

	hardware_results run()
	{
		const awake_packages awake(machine_);

		step("opening every box", [this] { check_boxes(); });
		step("clocks", [this] { check_clocks(); });
		step("reads of groups", [this] { check_groups(); });
		step("parts and wholes", [this] { check_sums(); });
		step("filters", [this] { check_states(); });
		step("coherent IO", [this] { check_units(); });
		step("sampling", [this] { check_sampling(); });
		step("interrupts of each CPU", [this] { check_interrupts(); });
		step("memory", [this] { check_memory(); });
		return std::move(results_);
	}

private:
	/// A box type with a clock event that this machine has.
	struct box_type {
		std::string_view name;
		const uncore::event_info *clock;
		const uncore::pmu_info *first; ///< the first of its PMUs
	};

	/// Run a check, and show its name on a terminal meanwhile.
	void step(const char *name, const std::function<void()> &check)
	{
		const bool terminal = isatty(STDERR_FILENO);

		if (terminal)
			fmt::print(stderr, "{}...\r", name);
		check();
		if (terminal)
			fmt::print(stderr, "\x1b[K");
	}

	/// Return the box type with a role and a part, empty if this machine has no
	/// such box.
	std::string box_with(std::string_view role, std::string_view part) const
	{
		const std::string_view box =
			uncore::catalogue_tables::of(machine_).box_with(role,
									part);

		return std::string(machine_.match(box).empty() ? "" : box);
	}

	void add(const char *subject, verdict status, std::string text,
		 std::string advice = {})
	{
		results_.findings.push_back(
			{subject, status, std::move(text), std::move(advice)});
	}

	void bad(const char *subject, const uncore::error &failure)
	{
		add(subject, verdict::bad, failure.message);
	}

	/// Add a measured number to the report file.
	void measure(const char *name, json number)
	{
		results_.measured[name].push_back(std::move(number));
	}

	/// Check that an event opens on each box.
	void check_boxes()
	{
		size_t boxes = 0;
		bool failed = false;

		for (const uncore::pmu_info &pmu : machine_.pmus()) {
			const auto *info = event_for_trial(machine_, pmu);
			const auto opened = counters::open(
				machine_,
				fmt::format("{}/{}/", pmu.name,
					    info ? info->name : "event=0"));

			boxes += pmu.cpus.size();
			if (opened)
				continue;
			failed = true;
			add("boxes", verdict::bad,
			    fmt::format("{}: {}", pmu.name,
					opened.error().message));
		}
		if (!failed)
			add("boxes", verdict::good,
			    fmt::format("{}, an event opens on each", boxes));
	}

	/// Check that all boxes of a type in a package count the same clock rate.
	void check_clocks()
	{
		std::vector<std::string> texts;

		for (const box_type &type : types_)
			texts.push_back(fmt::format("{}/{}/", type.name,
						    type.clock->name));
		// some machines have no clock event
		if (texts.empty())
			return;
		auto opened = counters::open(
			machine_, fmt::format("{}", fmt::join(texts, ",")));
		if (!opened)
			return bad("clocks", opened.error());
		const auto counts = opened->during([] { wait(1s); });
		if (!counts)
			return bad("clocks", counts.error());

		std::map<std::pair<std::string, int>, std::vector<double>>
			rates;
		for (const counted &reading : *counts) {
			const double hz = rate_of(reading);

			rates[{reading.box->box, reading.package}].push_back(
				hz);
			measure("clocks", {{"box", reading.box->name},
					   {"socket", reading.package},
					   {"hertz", hz}});
		}
		for (const auto &[key, boxes] : rates)
			judge_clock(key.first, key.second, boxes);
	}

	void judge_clock(const std::string &type, int package,
			 const std::vector<double> &rates)
	{
		const auto [least, most] =
			std::minmax_element(rates.begin(), rates.end());
		std::string text =
			fmt::format("{}, socket {}: {:.1f} MHz in {} box{}",
				    type, package, *most / 1e6, rates.size(),
				    rates.size() == 1 ? "" : "es");

		rates_[type] = std::max(rates_[type], *most);
		// Boxes may differ by 2 %.  More than 6 GHz or less than 100 MHz
		// cannot be the clock of a box.
		if (*least <= 0)
			add("clocks", verdict::bad, text + ", one does not run",
			    "its PCI function or registers may be hidden by firmware");
		else if (*least < 0.98 * *most)
			add("clocks", verdict::bad,
			    fmt::format("{}, {:.1f} MHz in another one", text,
					*least / 1e6));
		else if (*most > 6e9 || *least < 1e8)
			add("clocks", verdict::bad,
			    text + ": no box runs at that");
		else
			add("clocks", verdict::good, std::move(text));
	}

	/// Check that the counters of a group start, stop and are read in one
	/// cycle of the box: two counters of the same clock then always agree.
	void check_groups()
	{
		constexpr int reads = 200;
		std::vector<std::string> agreeing;

		for (const box_type &type : types_) {
			if (std::popcount(type.clock->counters) < 2)
				continue;
			auto opened = counters::open(
				machine_,
				fmt::format(
					"{{{0}/{1},name=a/,{0}/{1},name=b/}}",
					type.first->name, type.clock->name));
			if (!opened) {
				bad("group reads", opened.error());
				continue;
			}
			if (const auto mismatches =
				    count_mismatches(*opened, reads);
			    !mismatches)
				bad("group reads", mismatches.error());
			else if (*mismatches)
				add("group reads", verdict::bad,
				    fmt::format(
					    "{}: two counters of its clock differ in {} of {} reads",
					    type.first->name, *mismatches,
					    reads),
				    "a driver that does not freeze the box reads them one after the other");
			else
				agreeing.emplace_back(type.name);
		}
		if (!agreeing.empty())
			add("group reads", verdict::good,
			    fmt::format("two counters agree in {} reads: {}",
					reads, fmt::join(agreeing, ", ")));
	}

	/// Count the reads in which the two counters of a group differ.
	static uncore::result<int> count_mismatches(counters &pair, int reads)
	{
		int mismatches = 0;

		for (int i = 0; i < reads; i++) {
			const auto counts = pair.so_far();

			if (!counts)
				return counts.error();
			std::map<int, std::vector<uint64_t>> by_package;
			for (const counted &reading : *counts)
				by_package[reading.package].push_back(
					reading.count.raw);
			mismatches += std::any_of(
				by_package.begin(), by_package.end(),
				[](const auto &readings) {
					return readings.second.front() !=
					       readings.second.back();
				});
		}
		return mismatches;
	}

	/// Three events of a box: the count of whole is the sum of part and rest.
	struct sum {
		const char *whole, *part, *rest;
	};

	/// Check that counts of parts add up to the count of the whole.
	void check_sums()
	{
		static constexpr sum sums[] = {
			{"cas_count.all", "cas_count.rd", "cas_count.wr"},
			{"requests.reads", "requests.reads_local",
			 "requests.reads_remote"},
			{"requests.writes", "requests.writes_local",
			 "requests.writes_remote"},
		};

		for (const sum &terms : sums)
			for (const uncore::box_info &type : catalogue_.boxes())
				if (const auto pmus = machine_.match(type.name);
				    !pmus.empty() &&
				    catalogue_.event(type.name, terms.whole) &&
				    catalogue_.event(type.name, terms.part) &&
				    catalogue_.event(type.name, terms.rest))
					check_sum(*pmus.front(), terms);
	}

	void check_sum(const uncore::pmu_info &box, const sum &terms)
	{
		auto opened = counters::open(
			machine_,
			fmt::format("{{{0}/{1}/,{0}/{2}/,{0}/{3}/}}", box.name,
				    terms.whole, terms.part, terms.rest));
		if (!opened)
			return bad("sums", opened.error());
		const auto counts = opened->during([this] { move_memory(); });
		if (!counts)
			return bad("sums", counts.error());

		// counts has the packages of the first event, then those of the
		// second and third.
		uint64_t value[3] = {};
		const size_t packages = counts->size() / 3;
		for (size_t i = 0; i < counts->size(); i++)
			value[i / packages] += (*counts)[i].count.raw;
		const std::string text = fmt::format(
			"{}: {} is {}, {} and {} are {}", box.name, terms.whole,
			value[0], terms.part, terms.rest, value[1] + value[2]);

		measure("sums", {{"box", box.name},
				 {terms.whole, value[0]},
				 {terms.part, value[1]},
				 {terms.rest, value[2]}});
		if (!value[0])
			add("sums", verdict::note, text + ": nothing to see");
		else
			// Tolerate a difference of 1 in each package: of a
			// request in flight when the box stops, only the whole
			// or only the part may be counted.
			add("sums",
			    difference(value[0], value[1] + value[2]) <=
					    packages
				    ? verdict::good
				    : verdict::bad,
			    text);
	}

	/// Check that LLC lookups counted for each line state add up to the
	/// lookups in any state.
	void check_states()
	{
		std::vector<std::string_view> states;

		for (const uncore::value_info &value : catalogue_.values())
			if (value.box == slices_ &&
			    value.field == "filter_state" &&
			    std::has_single_bit(value.value))
				states.push_back(value.name);
		if (states.empty())
			return;

		// A box has one filter for states, so the states are counted one
		// after the other.  With several rounds each state sees about
		// the same traffic.
		double any_sum = 0, state_sum = 0;
		const std::string any_state =
			fmt::format("{}", fmt::join(states, "+"));
		for (int round = 0; round < 4; round++) {
			const auto whole = lookups(any_state);

			if (!whole)
				return bad("filters", whole.error());
			any_sum += *whole;
			for (const std::string_view state : states) {
				const auto part = lookups(state);

				if (!part)
					return bad("filters", part.error());
				state_sum += *part;
				measure("filters", {{"state", state},
						    {"lookups a second", *part},
						    {"any", *whole}});
			}
		}
		judge_states(any_sum, state_sum);
	}

	/// Count LLC lookups of lines in some states.  @return lookups a second.
	uncore::result<double> lookups(std::string_view states)
	{
		auto opened = counters::open(
			machine_,
			fmt::format("{}/llc_lookup.any,filter_state={}/",
				    slices_, states));
		if (!opened)
			return opened.error();
		const auto counts = opened->during([this] { move_memory(); });
		if (!counts)
			return counts.error();
		double rate = 0;
		for (const counted &reading : *counts)
			rate += rate_of(reading);
		return rate;
	}

	void judge_states(double any_sum, double state_sum)
	{
		const double ratio = any_sum ? state_sum / any_sum : 1;
		const std::string text = fmt::format(
			"LLC lookups by line state add up to {:.1f} % of those in any state",
			100 * ratio);

		if (!any_sum)
			add("filters", verdict::note, "no lookups of the LLC");
		else if (std::abs(ratio - 1) < 0.1)
			add("filters", verdict::good, text);
		else
			add("filters",
			    std::abs(ratio - 1) < 0.3 ? verdict::note
						      : verdict::bad,
			    text,
			    "they are not counted at a time: is the machine otherwise idle?");
	}

	/// Check that the two IRP boxes are two units.
	void check_units()
	{
		json counts = json::array();

		for (finding &entry : check_coherent_io(machine_, counts))
			results_.findings.push_back(std::move(entry));
		if (!counts.empty())
			results_.measured["coherent IO"] = std::move(counts);
	}

	/// Sample each box type's clock with a period of a hundredth of a second,
	/// and check that the number of samples is right.
	void check_sampling()
	{
		for (const box_type &type : types_) {
			const double rate = rates_[std::string(type.name)];

			if (!type.clock->counters || rate <= 0)
				continue;
			const auto period = uint64_t(rate / 100);
			const auto samples = sample_clock(machine_, *type.first,
							  type.clock->name,
							  period, {}, 500ms);
			if (!samples) {
				bad("sampling", samples.error());
				continue;
			}
			judge_sampling(type, rate, period, *samples);
		}
	}

	void judge_sampling(const box_type &type, double rate, uint64_t period,
			    const sampled &samples)
	{
		const std::chrono::duration<double> span = samples.span;
		const double expected = rate / double(period) * span.count() *
					(1 - samples.frozen);
		const double deviation =
			std::abs(double(samples.intervals) - expected);
		const std::string text = fmt::format(
			"{}: {} samples where the clock says {:.0f}; {} of {} overflows found by the timer, {:.1f} % of the time frozen",
			type.first->name, samples.intervals, expected,
			samples.by_timer, samples.overflows,
			100 * samples.frozen);

		measure("sampling", {{"box", type.first->name},
				     {"period", period},
				     {"samples", samples.intervals},
				     {"expected", expected},
				     {"overflows", samples.overflows},
				     {"by timer", samples.by_timer},
				     {"frozen", samples.frozen},
				     {"throttled", samples.throttled},
				     {"lost", samples.lost}});
		if (samples.intervals < 2)
			add("sampling", verdict::bad, text + ": none come");
		else if (deviation <= 0.1 * expected + 2)
			add("sampling", verdict::good, text);
		else if (samples.throttled || samples.lost ||
			 samples.frozen > 0.05)
			add("sampling", verdict::note, text,
			    "interrupts are served slowly here: is the machine busy, or a virtual one?");
		else
			add("sampling", verdict::bad, text);
	}

	/// Check that sampling works on each CPU, and that overflows interrupt the
	/// CPU instead of being found by the timer.
	void check_interrupts()
	{
		const auto boxes = machine_.match(slices_);
		const double rate = rates_[slices_];
		std::vector<int> silent, polled;

		if (boxes.empty() || rate <= 0)
			return;
		for (const int cpu : machine_.cpus()) {
			const auto samples = sample_clock(
				machine_, *boxes.front(), "clockticks",
				uint64_t(rate / 100), {cpu}, 100ms);

			if (!samples)
				return bad("interrupts", samples.error());
			measure("interrupts",
				{{"cpu", cpu},
				 {"samples", samples->intervals},
				 {"overflows", samples->overflows},
				 {"by timer", samples->by_timer}});
			if (samples->intervals < 2)
				silent.push_back(cpu);
			else if (2 * samples->by_timer > samples->overflows)
				polled.push_back(cpu);
		}
		if (!silent.empty())
			add("interrupts", verdict::bad,
			    fmt::format("no samples on CPU {}",
					cpu_list(silent)));
		if (!polled.empty())
			add("interrupts", verdict::note,
			    fmt::format(
				    "the overflows of CPU {} are found by the timer, a millisecond late",
				    cpu_list(polled)),
			    "dmesg | grep xeon_uncore: does the driver see no interrupts at all?");
		if (silent.empty() && polled.empty())
			add("interrupts", verdict::good,
			    fmt::format("each of {} CPUs gets its own",
					machine_.cpus().size()));
	}

	/// Read a known amount of memory on each package, and check that its
	/// channels count the cache lines.
	void check_memory()
	{
		if (channels_.empty())
			return;
		for (const uncore::package &package : machine_.packages()) {
			const auto stream =
				memory_stream::allocate(package.cpus.front());
			auto opened = counters::open(
				machine_,
				fmt::format("{}/cas_count.rd/", channels_));
			uint64_t bytes = 0;

			if (!stream)
				return bad("memory", stream.error());
			if (!opened)
				return bad("memory", opened.error());
			const auto counts = opened->during(
				[&] { bytes = stream->read(500ms); });
			if (!counts)
				return bad("memory", counts.error());
			double lines = 0;
			for (const counted &channel : *counts)
				if (channel.package == package.id)
					lines += double(channel.count.raw);
			judge_memory(package.id, double(bytes) / 64, lines);
		}
	}

	void judge_memory(int package, double expected, double lines)
	{
		const double ratio = lines / expected;
		const std::string text = fmt::format(
			"socket {}: {:.0f} lines counted of {:.0f} read",
			package, lines, expected);

		measure("memory", {{"socket", package},
				   {"lines read", expected},
				   {"lines counted", lines}});
		if (ratio < 0.95)
			add("memory", verdict::bad, text,
			    "is each channel with memory there? uncore topology shows them");
		else if (ratio > 1.3)
			add("memory", verdict::note,
			    text + ": others read as well",
			    "it tells more on an idle machine");
		else
			add("memory", verdict::good, text);
	}

	/// Cause traffic in the caches and channels of the first package.
	void move_memory()
	{
		if (!traffic_)
			if (auto stream = memory_stream::allocate(
				    machine_.packages()[0].cpus.front());
			    stream)
				traffic_ = std::make_unique<memory_stream>(
					*std::move(stream));
		if (traffic_)
			traffic_->read(50ms);
		else
			wait(50ms);
	}

	const uncore::topology &machine_;
	const uncore::catalogue &catalogue_;
	/// Box types of memory channels and cache slices; empty if there are none.
	const std::string channels_, slices_;
	std::vector<box_type> types_;
	/// Clock rate in Hz by box type, from check_clocks().
	std::map<std::string, double> rates_;
	std::unique_ptr<memory_stream> traffic_;
	hardware_results results_;
};

} // namespace

hardware_results check_hardware(const uncore::topology &machine)
{
	raise_file_limit();
	return hardware_checker(machine).run();
}

} // namespace cli
