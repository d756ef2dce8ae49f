// SPDX-License-Identifier: GPL-2.0-or-later
#include "diagnosis/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "output/machine.hpp"
#include "output/message.hpp"
#include "output/number.hpp"
#include "sysfs.hpp"
#include "text.hpp"

namespace cli {

using uncore::errc;
using uncore::error;
using uncore::period;
using uncore::scope;

namespace {

/// A kernel runs for a second before it is measured: it allocates and fills its arrays.
constexpr unsigned warm_up_ms = 1000;
/// Seconds of measuring, in intervals of which the fullest counts.
constexpr double measured_seconds = 3;
constexpr unsigned interval_ms = 500;
/// Shorter intervals, as the last one may be, are left out.
constexpr std::chrono::milliseconds shortest_interval{interval_ms * 4 / 5};
constexpr unsigned least_intervals = 3;
/// Time after which a kernel ends by itself, should this program be killed.
constexpr unsigned kernel_seconds = 60;
/// Size of the arrays in sizes of the last-level cache: few lines stay in the cache.
constexpr uint64_t cache_times = 8;
constexpr uint64_t usual_cache_kib = 40 << 10;

bool is_installed(const std::string &program)
{
	const char *path = std::getenv("PATH");

	for (const std::string_view folder : uncore::split(path ? path : "", ':'))
		if (!access(fmt::format("{}/{}", folder, program).c_str(), X_OK))
			return true;
	return false;
}

/// Return the size of the last-level cache of a CPU in KiB.
uint64_t cache_kib(const std::filesystem::path &sysfs, int cpu)
{
	std::string text = uncore::read_text(sysfs /
					     fmt::format("devices/system/cpu/cpu{}/cache/"
							 "index3/size",
							 cpu))
				   .value_or("");

	if (text.empty() || text.back() != 'K')
		return usual_cache_kib;
	text.pop_back();
	return uncore::parse_number(text).value_or(usual_cache_kib);
}

/// Check whether packages are dies, of which a socket has several.
bool are_dies(const std::filesystem::path &sysfs, const uncore::package &package)
{
	const auto cpus = uncore::parse_cpu_list(
		uncore::read_text(sysfs / fmt::format("devices/system/cpu/cpu{}/topology/"
						      "package_cpus_list",
						      package.cpus.front()))
			.value_or(""));

	return cpus && cpus->size() > package.cpus.size();
}

/// Run a command without its output; errors are printed.
std::vector<std::string> silent(std::vector<std::string> command)
{
	command.insert(command.begin(),
		       {"sh", "-c", "exec \"$@\" > /dev/null", "sh"});
	return command;
}

std::vector<stream_kernel> likwid_kernels(size_t index, uint64_t kib)
{
	const char *registers = __builtin_cpu_supports("avx") ? "avx" : "sse";
	std::vector<stream_kernel> kernels;

	// Reads alone, which no turn of the bus interrupts, and streaming stores.
	for (const char *kind : {"load", "copy_mem"}) {
		const std::string test = fmt::format("{}_{}", kind, registers);

		kernels.push_back(
			{fmt::format("likwid-bench {}", test),
			 silent({"likwid-bench", "-t", test, "-s",
				 std::to_string(kernel_seconds), "-w",
				 fmt::format("S{}:{}kB", index,
					     cache_times * kib)})});
	}
	return kernels;
}

stream_kernel stress_kernel(const uncore::package &package, uint64_t kib)
{
	const size_t cpus = package.cpus.size();
	// Each CPU has three arrays of four times this size.
	const uint64_t part = std::max<uint64_t>(kib / cpus, 1024);

	return {"stress-ng --stream",
		silent({"taskset", "-c", cpu_list(package.cpus), "stress-ng",
			"--stream", std::to_string(cpus), "--stream-l3-size",
			fmt::format("{}K", part), "--timeout",
			fmt::format("{}s", kernel_seconds), "--quiet"})};
}

} // namespace

uncore::result<std::vector<stream_kernel>>
stream_kernels(const std::filesystem::path &sysfs,
	       const uncore::topology &machine, size_t index)
{
	const uncore::package &package = machine.packages()[index];

	if (package.cpus.empty())
		return error{errc::gone, fmt::format("all CPUs of socket {} are offline",
						     package.id)};

	const uint64_t kib = cache_kib(sysfs, package.cpus.front());

	// likwid-bench names sockets, not dies.
	if (is_installed("likwid-bench") && !are_dies(sysfs, package))
		return likwid_kernels(index, kib);
	if (is_installed("stress-ng"))
		return std::vector{stress_kernel(package, kib)};
	return error{errc::not_found,
		     "neither likwid-bench nor stress-ng is installed, which move memory to "
		     "measure: apt install likwid"};
}

namespace {

/// Bandwidth of each socket in an interval.
struct interval_rates {
	std::map<int, double> bytes_per_second;
	std::map<int, double> computed; ///< peaks
};

interval_rates rates_of(const uncore::counter_set &counters)
{
	// A metric's unit tells the rate of bytes from the part of the computed peak.
	interval_rates rates;
	std::map<int, double> used;

	for (const auto &counted :
	     counters.values(scope::package, period::interval)) {
		const std::string_view unit = counted.unit();

		if (unit.ends_with("/s"))
			rates.bytes_per_second[counted.package()] =
				counted.value() *
				bytes_in(unit.substr(0, unit.size() - 2));
		else
			used[counted.package()] = counted.value() / 100;
	}
	for (const auto &[socket, rate] : rates.bytes_per_second)
		rates.computed[socket] = rate / used[socket];
	return rates;
}

} // namespace

uncore::result<void> calibration::open(uncore::counter_set &counters) const
{
	for (const std::string &metric : {rule_.measured.metric, rule_.metrics.front()})
		if (auto added = counters.add_metrics(metric); !added)
			return added;
	return counters.open({.visit_packages = true});
}

uncore::result<void> calibration::measure_others()
{
	uncore::counter_set counters(machine_);
	auto outcome = open(counters);

	if (outcome)
		outcome = counters.enable();
	if (!outcome)
		return outcome;
	std::this_thread::sleep_for(std::chrono::milliseconds(interval_ms));
	outcome = counters.read();
	before_ = rates_of(counters).bytes_per_second;
	return outcome;
}

run_end calibration::measure(const stream_kernel &kernel, calibrated_socket &best)
{
	uncore::counter_set counters(machine_);
	std::optional<error> failed;
	unsigned intervals = 0;
	std::map<int, double> most;
	double computed = 0;
	run_options options{.interval_ms = interval_ms,
			    .duration = measured_seconds,
			    .delay_ms = warm_up_ms,
			    .command = kernel.command};
	run_hooks hooks;

	if (auto opened = open(counters); !opened)
		return opened.error();
	hooks.enable = [&] { return counters.enable(); };
	hooks.tick = [&](bool) {
		if (auto outcome = counters.read(); !outcome) {
			failed = outcome.error();
			return false;
		}
		if (counters.elapsed(period::interval) < shortest_interval)
			return true;
		intervals++;

		const interval_rates rates = rates_of(counters);

		for (const auto &[socket, rate] : rates.bytes_per_second)
			if (rate > most[socket]) {
				most[socket] = rate;
				if (socket == best.socket)
					computed = rates.computed.at(socket);
			}
		return true;
	};

	const run_end ended = cli::run(options, hooks);

	if (!ended || ended.status() >= by_signal)
		return ended;
	if (failed)
		return *failed;
	if (ended.status() != success)
		return error{errc::system,
			     fmt::format("{} ended with status {}: is its message above?",
					 kernel.name, ended.status())};
	if (intervals < least_intervals)
		return error{errc::system,
			     fmt::format("{} ended too soon to be measured", kernel.name)};
	for (const std::string &line : counters.news())
		return error{errc::gone,
			     fmt::format("{}: the socket's bandwidth is not known", line)};

	const double reached = most[best.socket];

	for (const auto &[socket, rate] : most)
		if (rate - before_[socket] > reached - before_[best.socket])
			return error{errc::system,
				     fmt::format("{} moved memory of socket {} and not of socket "
						 "{}: is the memory of socket {} full?",
						 kernel.name, socket, best.socket,
						 best.socket)};
	if (reached > best.bytes_per_second)
		best = {best.socket, reached, computed, kernel.name};
	return success;
}

run_end calibration::run()
{
	const auto packages = machine_.packages();

	if (auto measured = measure_others(); !measured)
		return measured.error();
	for (size_t i = 0; i < packages.size(); i++) {
		const auto kernels = stream_kernels(sysfs_, machine_, i);
		calibrated_socket best{packages[i].id};

		if (!kernels)
			return kernels.error();
		for (const stream_kernel &kernel : *kernels) {
			note(fmt::format("socket {}: {}, {:.0f} s", best.socket,
					 kernel.name,
					 warm_up_ms / 1000 + measured_seconds));
			const run_end ended = measure(kernel, best);

			if (!ended || ended.status() != success)
				return ended;
		}
		sockets_.push_back(std::move(best));
	}
	return success;
}

} // namespace cli
