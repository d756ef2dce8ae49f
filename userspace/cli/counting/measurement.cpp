// SPDX-License-Identifier: GPL-2.0-or-later
// The shared part of stat and metric, from the command line to the numbers.
#include "counting/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <uncore/event.hpp>

#include "counting/event_notes.hpp"
#include "output/message.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace cli {

using uncore::errc;
using uncore::scope;

/// Number of multiplexed groups up to which no note is printed.  Groups of events that
/// do not fit into a box's counters at once take turns.  With more than 4 turns, the
/// errors of scaling are hard to tell from changes of the traffic.
static constexpr unsigned most_turns = 4;

/// Times between reads within an interval, if the library gives none.  With multiplexed
/// events the time begins with first_pause, when there are few reads to estimate the
/// errors from, and doubles up to longest_pause.
static constexpr std::chrono::nanoseconds first_pause =
	std::chrono::milliseconds(5);
static constexpr std::chrono::nanoseconds longest_pause =
	std::chrono::seconds(1);

void add_count_options(parser &command, count_options &options)
{
	add_run_options(command, options.run);
	add_output(command, options.output);
}

void add_scope(parser &command, scope &selected_scope)
{
	const option socket = command.add_flag(
		"--per-socket",
		[&selected_scope] { selected_scope = scope::package; },
		"A number for each socket");
	command.add_flag(
		       "--per-box",
		       [&selected_scope] { selected_scope = scope::box; },
		       "A number for each box of each socket")
		.excludes(socket);
}

uncore::result<std::unique_ptr<measurement>>
measurement::open(const context &shared, count_options &options)
{
	if (options.timeout_ms)
		options.run.duration = options.timeout_ms / 1000.0;
	if (options.separator == "\\t")
		options.separator = "\t";
	// Without a time and a command, count for a second.
	if (options.run.command.empty() && !options.run.duration &&
	    !options.run.interval_ms)
		options.run.duration = 1;

	auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return machine.error();

	std::unique_ptr<measurement> opened(
		new measurement(*std::move(machine), options, shared.sysfs));

	if (auto outcome = opened->choose_sockets(); !outcome)
		return outcome.error();
	return opened;
}

/// Set the sockets to count on: those of the CPUs of -C.
uncore::result<void> measurement::choose_sockets()
{
	const auto list = uncore::parse_cpu_list(options_.cpus);

	if (!list || (list->empty() && !options_.cpus.empty()))
		return uncore::error{
			errc::invalid,
			fmt::format("'{}' is not a list of CPUs such as 0,4-7",
				    options_.cpus)};
	for (const int cpu : *list) {
		const int socket = counters_.machine().package_of(cpu);

		if (socket < 0)
			return uncore::error{
				errc::not_found,
				fmt::format("CPU {} is not online", cpu)};
		if (!std::count(sockets_.begin(), sockets_.end(), socket))
			sockets_.push_back(socket);
	}
	return {};
}

/// Refuse events that each CPU counts for itself, for perf's rows by CPU.  perf prints
/// a row for each CPU, but uncore has only their sum.
static uncore::result<void>
refuse_cpu_events(const std::vector<uncore::event_group> &groups)
{
	for (const auto &group : groups)
		for (const auto &term : group.terms)
			for (const auto &event : term.events)
				if ((!event.pmu || event.pmu->cpus.empty()) &&
				    event.type != uncore::event::duration_time)
					return uncore::error{
						errc::unsupported,
						fmt::format(
							"{} counts on each CPU: use --per-socket, or perf stat -A",
							event.name)};
	return {};
}

uncore::result<void> measurement::add_events(std::string_view list)
{
	auto parsed = uncore::parse_events(list, counters_.machine());

	if (!parsed)
		return parsed.error();
	if (options_.as_perf() && options_.place == perf_place::cpu)
		if (auto outcome = refuse_cpu_events(*parsed); !outcome)
			return outcome;
	note_unlisted(*parsed, counters_.machine());
	note_periods(*parsed);
	return counters_.add_events(*parsed);
}

/// Return the user's metrics; read the files at the first call, and report what
/// is wrong with them.
const uncore::own_metrics &measurement::own_metrics()
{
	if (!files_) {
		files_.emplace(counters_.machine());
		for (const std::string &problem : files_->problems())
			note(problem);
	}
	return files_->metrics();
}

uncore::result<void>
measurement::add_expressions(const std::vector<std::string> &texts)
{
	std::vector<uncore::metric_definition> written;

	if (texts.empty())
		return {};
	for (const std::string &text : texts) {
		auto metric = metric_files::parse(text);

		if (!metric)
			return metric.error();
		written.push_back(*std::move(metric));
	}
	files_.emplace(counters_.machine(), written);
	for (size_t i = 0; i < written.size(); i++) {
		const auto info = files_->metrics().metric(i);
		const auto added = info ? counters_.add_metric(**info)
					: uncore::result<void>(info.error());

		if (!added)
			return uncore::error{
				added.error().code,
				metric_files::line("", written[i].name,
						   added.error().message)};
		metrics_.push_back(*info);
	}
	for (const std::string &problem : files_->problems())
		note(problem);
	return {};
}

/// Check whether a name is of one of the user's metrics, which is wrong.
static bool is_wrong(const uncore::own_metrics &own, std::string_view name)
{
	for (size_t i = 0; i < own.size(); i++)
		if (uncore::same_name(own.definition(i).name, name))
			return !own.metric(i);
	return false;
}

uncore::result<void> measurement::add_metrics(std::string_view names)
{
	const uncore::own_metrics &own = own_metrics();

	for (std::string_view name : uncore::split(names, ',')) {
		name = uncore::trim(name);

		const auto infos = own.find(name);

		if (!infos && !is_wrong(own, name))
			return infos.error();
		if (!infos) {
			missing_.push_back(
				{std::string(name), infos.error().message});
			is_wrong_ = true;
			continue;
		}
		for (const uncore::metric_info *info : *infos)
			add_metric(*info);
	}
	return {};
}

void measurement::add_metric(const uncore::metric_info &info)
{
	const auto added = counters_.add_metric(info);

	if (added)
		metrics_.push_back(&info);
	else
		missing_.push_back(
			{std::string(info.name), added.error().message});
}

/// Return advice for too many multiplexed groups: lists of the metrics, each of which
/// needs at most @p most groups.
std::string measurement::split_advice(unsigned most) const
{
	std::vector<std::string> lists;
	uncore::counter_set trial(counters_.machine());

	// Add metrics to a list until it needs too many turns; then begin the
	// next list.
	for (const uncore::metric_info *info : metrics_) {
		(void)trial.add_metric(*info);
		if (trial.turns() > most && trial.size() > 1) {
			trial = uncore::counter_set(counters_.machine());
			(void)trial.add_metric(*info);
		}
		// Each metric has its own -M, not a list with commas, as a terminal
		// wraps lines at blanks only.
		if (trial.size() == 1)
			lists.emplace_back();
		else
			lists.back() += ' ';
		lists.back() += fmt::format("-M {}", info->name);
	}
	// With one list, or with events that are in no list, lists do not help.
	if (lists.size() < 2 || counters_.size() > metrics_.size())
		return "count fewer at once";
	return fmt::format("count them apart ({})", fmt::join(lists, "; "));
}

uncore::result<void> measurement::open_output()
{
	if (options_.as_perf())
		output_.use_standard_error();
	return output_.open(options_.output,
			    options_.append ? output_file::content::append
					    : output_file::content::replace);
}

uncore::result<void> measurement::open_counters()
{
	if (!counters_.size())
		return uncore::error{errc::unsupported,
				     fmt::format("{}: {}",
						 missing_.front().name,
						 missing_.front().reason)};
	if (auto opened = open_regions(); !opened)
		return opened;
	if (auto opened = open_output(); !opened)
		return opened;
	// No note with perf's rows: they have the part of the time in which an
	// event counted, and the scripts that read them expect no note.
	if (const unsigned turns = counters_.turns();
	    turns > most_turns && !options_.as_perf())
		note(fmt::format(
			"{} groups of events are multiplexed, so that each counts for 1/{} of the time: {}, or for longer",
			turns, turns, split_advice(most_turns)));
	// A thread of the command waits for the reads of a region. To migrate to a busy CPU
	// takes longer than to interrupt the CPU.
	if (auto opened = counters_.open({.visit_packages = !options_.regions,
					  .packages = sockets_});
	    !opened)
		return opened;
	report_news();
	return {};
}

/// Open the socket for the regions of the command.
uncore::result<void> measurement::open_regions()
{
	std::vector<int> sockets = sockets_;

	if (!options_.regions)
		return {};
	// A region may be shorter than a turn, in which only some of the events count.
	if (const unsigned turns = counters_.turns(); turns > 1)
		return uncore::error{
			errc::conflict,
			fmt::format(
				"--regions: {} groups of events would be multiplexed, but regions may be too short for that: {}",
				turns, split_advice(1))};
	if (sockets.empty())
		for (const uncore::package &package :
		     counters_.machine().packages())
			sockets.push_back(package.id);

	auto opened = regions::open(counters_, std::move(sockets));

	if (!opened)
		return opened.error();
	regions_ = *std::move(opened);
	return {};
}

int measurement::node_of(int cpu) const
{
	const auto folder =
		sysfs_ / "devices/system/cpu" / fmt::format("cpu{}", cpu);
	std::error_code err;

	for (const auto &entry :
	     std::filesystem::directory_iterator(folder, err)) {
		const std::string name = entry.path().filename();
		std::optional<uint64_t> number;

		if (name.starts_with("node"))
			number = uncore::parse_number(name.substr(4));
		if (number)
			return int(*number);
	}
	return 0;
}

/// Print a note for lost boxes and CPUs, which do not end a run.
void measurement::report_news()
{
	for (const std::string &line : counters_.news())
		note(line);
}

/// Ignore lost boxes and CPUs, which report_news() prints.
static uncore::result<void> ignore_gone(uncore::result<void> outcome)
{
	if (!outcome && outcome.error().code == errc::gone)
		return {};
	return outcome;
}

/// Print a note for each metric of the user whose value for the machine is a
/// division by 0. The metrics of the catalogue are known to have no value then.
void measurement::report_divisions() const
{
	if (!files_)
		return;
	for (const uncore::counted_value &counted :
	     counters_.values(scope::machine, uncore::period::total))
		for (size_t i = 0; i < files_->metrics().size(); i++) {
			const auto info = files_->metrics().metric(i);

			if (!info || *info != counted.metric() ||
			    !std::isnan(counted.value()) ||
			    !counted.reason().empty())
				continue;
			note(metric_files::line(
				files_->file(i), counted.name(),
				"its divisor was 0: d_ratio(a, b) is 0 then"));
		}
}

/// Tell what a reading of the counters found, and charge the regions with its counts.
uncore::result<void> measurement::after_reading(uncore::result<void> outcome)
{
	report_news();
	if (regions_)
		regions_->charge();
	return ignore_gone(std::move(outcome));
}

uncore::result<void> measurement::sample()
{
	return after_reading(counters_.sample());
}

uncore::result<void> measurement::read()
{
	return after_reading(counters_.read());
}

int measurement::run(const std::function<bool(bool last)> &print)
{
	uncore::result<void> outcome;
	run_hooks hooks;
	bool printed = true;

	if (auto opened = open_counters(); !opened)
		return fail(opened.error());
	hooks.enable = [&] { return counters_.enable(); };
	// Reads between ticks improve the scaling of multiplexed events, and give
	// its error.  Without multiplexed events read rarely, as events of other
	// programs may begin to share the counters.  sample_time() is 0 until
	// any event has been multiplexed.
	hooks.sample =
		[&, multiplexed = counters_.turns() > 1, pause = first_pause,
		 first_call = true]() mutable -> std::chrono::nanoseconds {
		if (std::exchange(first_call, false) && !multiplexed)
			return longest_pause;
		outcome = sample();

		const auto turns = counters_.sample_time();

		if (turns.count())
			return turns;
		pause = multiplexed ? std::min(2 * pause, longest_pause)
				    : longest_pause;
		return pause;
	};
	const auto serve = [&] {
		regions_->serve([&] { outcome = sample(); });
		return bool(outcome);
	};

	if (regions_) {
		hooks.poll_fd = regions_->poll_fd();
		hooks.poll = serve;
	}
	hooks.tick = [&](bool last) {
		if (regions_ && last)
			serve();
		outcome = read();
		if (regions_ && last)
			regions_->close();
		if (options_.run.interval_ms || last || !outcome)
			printed = print(last || !outcome);
		return outcome && printed && !last;
	};
	hooks.progress = true;

	auto ended = cli::run(options_.run, hooks);

	if (!ended)
		return fail(ended);
	if (!outcome)
		return fail(outcome.error());
	report_divisions();
	if (regions_)
		for (const std::string &problem : regions_->problems()) {
			note(problem);
			is_wrong_ = true;
		}
	if (!printed || (is_wrong_ && ended.status() == success))
		return failure;
	return ended.status();
}

} // namespace cli
