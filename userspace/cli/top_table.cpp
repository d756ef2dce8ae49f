// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's numbers: summed, rounded, sorted and put into words.
#include "top_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bpf_support.hpp"
#include "cli.hpp"

namespace cli {

// --- rounding

/// A package's counts in one column, made whole so that they add up: each gets
/// by how much the rounded sum of all up to it grows.  What is not divided yet
/// goes with the first.
class rounding {
public:
	rounding(fixed_count left, fixed_count left_before)
		: sum_(static_cast<wide>(left) - static_cast<wide>(left_before))
	{
	}

	uint64_t next(fixed_count share)
	{
		uint64_t before = whole_;

		sum_ += static_cast<wide>(share);
		if (sum_ > 0)
			whole_ = std::max(whole_, static_cast<uint64_t>(
							  sum_ >> fixed_bits));
		return whole_ - before;
	}

private:
	__extension__ typedef __int128 wide;
	wide sum_;
	uint64_t whole_ = 0;
};

// --- summing

static void widen(top_row &row, size_t columns, size_t packages)
{
	row.counts.assign(columns, std::vector<uint64_t>(packages));
}

using row_key = std::tuple<uint64_t, uint64_t, uint32_t>;

static row_key key_of(const task_share &task, top_by by)
{
	switch (by) {
	case top_by::cgroup:
		return {0, task.cgroup, 0};
	case top_by::process:
		return {0, 0, task.tgid};
	default:
		return {task.start_time, 0, task.pid};
	}
}

/// @p counts are the task's, whole.
static void add_task(top_row &row, const task_share &task,
		     const std::vector<uint64_t> &counts, top_by by)
{
	bool leader = task.pid == task.tgid;

	// Shares come sorted: those of a task in several packages together.
	if (row.pid != task.pid || row.start_time != task.start_time)
		row.tasks++;
	row.pid = task.pid;
	row.start_time = task.start_time;
	row.cgroup = task.cgroup;
	row.tgid = task.tgid;
	if (row.comm.empty() || leader || by == top_by::task)
		row.comm = task.comm;
	row.cpu_ns += task.cpu_ns;
	for (size_t c = 0; c < counts.size(); c++)
		row.counts[c][task.package] += counts[c];
}

using roundings = std::vector<std::vector<rounding>>; // [column][package]

static void sum_rows(top_table &table, const account &a, top_by by,
		     roundings &whole)
{
	std::map<row_key, top_row> rows;
	std::vector<uint64_t> counts(whole.size());

	for (const auto &task : a.tasks) {
		top_row &row = rows[key_of(task, by)];

		if (row.counts.empty())
			widen(row, whole.size(), a.packages.size());
		for (size_t c = 0; c < whole.size(); c++)
			counts[c] = whole[c][task.package].next(task.counts[c]);
		add_task(row, task, counts, by);
	}
	for (auto &[key, row] : rows) {
		if (by == top_by::process)
			row.pid = row.tgid;
		table.rows.push_back(std::move(row));
	}
}

static void sum_rest(top_table &table, const account &a, roundings &whole)
{
	size_t packages = a.packages.size(), columns = whole.size();

	widen(table.other, columns, packages);
	widen(table.idle, columns, packages);
	table.other.comm = "other";
	table.idle.comm = "idle";
	table.totals.assign(columns, std::vector<uint64_t>(packages));
	for (size_t p = 0; p < packages; p++) {
		const package_account &account = a.packages[p];

		table.packages.push_back(account.id);
		table.other.cpu_ns += account.other_ns;
		table.idle.cpu_ns += account.idle_ns;
		table.folded += account.folded;
		table.unkept += account.unkept;
		for (size_t c = 0; c < columns; c++) {
			table.other.counts[c][p] =
				whole[c][p].next(account.other[c]);
			table.idle.counts[c][p] = account.idle[c];
			table.totals[c][p] = account.totals[c];
		}
	}
}

// --- sorting

static uint64_t sum_of(const std::vector<uint64_t> &counts)
{
	uint64_t sum = 0;

	for (uint64_t count : counts)
		sum += count;
	return sum;
}

double top_metric::value(const std::vector<std::vector<uint64_t>> &counts,
			 const std::vector<double> &seconds,
			 int package) const
{
	std::vector<double> values, sources;
	double time = 0;

	for (size_t p = 0; p < seconds.size(); p++)
		if (package < 0)
			time += seconds[p] / seconds.size();
		else if (p == size_t(package))
			time = seconds[p];

	for (const operand &o : operands) {
		if (!o.column) {
			values.push_back(time);
			sources.push_back(1);
			continue;
		}

		const std::vector<uint64_t> &all = counts[*o.column];
		double n = 0;

		for (double in_package : o.sources)
			n += in_package;
		values.push_back(package < 0 ? sum_of(all) : all[package]);
		sources.push_back(package < 0 ? n : o.sources[package]);
	}
	return expression.evaluate(values, sources) * scale;
}

static const top_metric *metric_named(std::string_view name,
				      const top_settings &settings)
{
	const auto &all = settings.metrics;
	auto found = std::find_if(all.begin(), all.end(), [&](auto &metric) {
		return metric.name == name;
	});

	return found == all.end() ? nullptr : &*found;
}

static const top_column *column_named(std::string_view name,
				      const top_settings &settings)
{
	const auto &all = settings.columns;
	auto found = std::find_if(all.begin(), all.end(), [&](auto &column) {
		return !column.hidden && column.name == name;
	});

	return found == all.end() ? nullptr : &*found;
}

bool is_shown(const top_settings &settings, std::string_view name)
{
	return column_named(name, settings) || metric_named(name, settings);
}

bool is_sort_key(std::string_view key, const top_settings &settings)
{
	return key == "cpu" || key == "pid" || key == "name" ||
	       is_shown(settings, key);
}

/// By what a row is sorted where that is a count or a metric; what has no value
/// comes last.
static double activity(const top_row &row, const top_settings &settings,
		       const std::vector<double> &seconds)
{
	if (const auto *metric = metric_named(settings.sort, settings)) {
		double value = metric->value(row.counts, seconds);

		return std::isnan(value) ? -INFINITY : value;
	}

	const auto *column = column_named(settings.sort, settings);

	return column ? sum_of(row.counts[column - settings.columns.data()])
		      : 0;
}

/// Most active first; names and numbers ascend.
static void sort_rows(std::vector<top_row> &rows, const top_settings &settings,
		      const std::vector<double> &seconds)
{
	std::stable_sort(rows.begin(), rows.end(), [&](auto &a, auto &b) {
		if (settings.sort == "cpu")
			return a.cpu_ns > b.cpu_ns;
		if (settings.sort == "pid")
			return a.pid < b.pid;
		if (settings.sort == "name")
			return a.comm < b.comm;
		return activity(a, settings, seconds) >
		       activity(b, settings, seconds);
	});
	if (settings.reverse)
		std::reverse(rows.begin(), rows.end());
}

top_table make_table(const account &a, const top_settings &settings)
{
	roundings whole(settings.columns.size());
	top_table table;

	for (const auto &package : a.packages) {
		table.package_seconds.push_back(package.ns / 1e9);
		table.seconds =
			std::max(table.seconds, table.package_seconds.back());
	}
	table.missed = a.missed;
	table.warnings = a.warnings;
	for (size_t c = 0; c < whole.size(); c++)
		for (const auto &package : a.packages)
			whole[c].emplace_back(package.left[c],
					      package.left_before[c]);
	sum_rows(table, a, settings.by, whole);
	sum_rest(table, a, whole);
	sort_rows(table.rows, settings, table.package_seconds);
	return table;
}

// --- names of cgroups

cgroup_names::cgroup_names()
{
	std::ifstream mounts("/proc/self/mounts");
	std::string line, device, folder, type;

	while (mount_.empty() && std::getline(mounts, line)) {
		std::istringstream words(line);

		words >> device >> folder >> type;
		if (type == "cgroup2")
			mount_ = folder;
	}
}

/// A cgroup's id is its file handle: no search through the tree.
static std::string path_of_cgroup(const std::string &mount, uint64_t id)
{
	struct {
		file_handle handle;
		char bytes[sizeof(id)];
	} file{};
	constexpr int kernfs_handle = 0xfe;
	std::array<char, 4096> path;

	unique_fd root(open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	file.handle.handle_bytes = sizeof(id);
	file.handle.handle_type = kernfs_handle;
	std::memcpy(file.handle.f_handle, &id, sizeof(id));
	unique_fd fd(open_by_handle_at(root.get(), &file.handle,
				       O_PATH | O_CLOEXEC));
	if (!fd)
		return {};
	ssize_t n = readlink(fmt::format("/proc/self/fd/{}", fd.get()).c_str(),
			     path.data(), path.size());
	std::string_view text(path.data(), std::max<ssize_t>(n, 0));

	if (!text.starts_with(mount))
		return {};
	text.remove_prefix(mount.size());
	return text.empty() ? "/" : std::string(text);
}

const std::string &cgroup_names::name(uint64_t id)
{
	auto known = names_.find(id);

	if (known != names_.end())
		return known->second;
	std::string path = mount_.empty() ? "" : path_of_cgroup(mount_, id);

	if (path.empty())
		path = fmt::format("cgroup {}", id);
	return names_.emplace(id, path).first->second;
}

// --- for people

namespace {

/// Bytes are shown as such, with binary prefixes, whatever their unit.
struct shown_unit {
	std::string name;
	double size = 1; ///< of the unit, in what is shown
	bool bytes = false;
};

} // namespace

static shown_unit shown_as(std::string_view unit)
{
	static constexpr std::pair<std::string_view, double> sizes[] = {
		{"Bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
	std::string_view per = unit.ends_with("/s") ? "/s" : "";
	std::string_view base = unit.substr(0, unit.size() - per.size());

	for (const auto &[name, size] : sizes)
		if (name == base)
			return {fmt::format("B{}", per), size, true};
	return {std::string(unit), 1, false};
}

/// 12.3M: three digits or so, and what they are thousands of.
static std::string short_number(double value, const shown_unit &unit)
{
	static constexpr std::array prefixes = {"", "k", "M", "G", "T", "P"};
	double thousand = unit.bytes ? 1024 : 1000;
	double size = std::fabs(value * unit.size);
	size_t i = 0;

	if (!std::isfinite(value))
		return "-";
	for (; size >= 999.5 && i + 1 < prefixes.size(); i++)
		size /= thousand;

	bool whole = i == 0 && size == std::floor(size);

	return fmt::format("{}{:.{}f}{}{}", value < 0 ? "-" : "", size,
			   whole	  ? 0
			   : size < 9.995 ? 2
			   : size < 99.95 ? 1
					  : 0,
			   prefixes[i], unit.bytes && i ? "i" : "");
}

static double rate(uint64_t count, const top_column &column, double seconds)
{
	return seconds > 0 ? count * column.scale / seconds : 0;
}

static std::string title_of(const top_column &column)
{
	return fmt::format("{} {}/s", column.name, shown_as(column.unit).name);
}

static std::string title_of(const top_metric &metric)
{
	return metric.unit.empty() ? metric.name
				   : fmt::format("{} {}", metric.name,
						 shown_as(metric.unit).name);
}

static std::vector<table::column> titles(const top_table &t,
					 const top_settings &settings)
{
	constexpr auto right = table::align::right;
	std::vector<table::column> all;

	if (settings.by != top_by::cgroup)
		all.push_back({"PID", right});
	else
		all.push_back({"TASKS", right});
	all.push_back({"CPU%", right});

	auto add = [&](std::string title) {
		if (settings.per_socket && t.packages.size() > 1)
			for (int id : t.packages)
				all.push_back({fmt::format("S{}", id), right});
		all.push_back({std::move(title), right});
	};

	for (const auto &column : settings.columns) {
		if (column.hidden)
			continue;
		add(title_of(column));
		all.push_back({"%", right});
	}
	for (const auto &metric : settings.metrics)
		add(title_of(metric));
	all.push_back({settings.by == top_by::cgroup ? "CGROUP" : "COMMAND"});
	return all;
}

static std::vector<std::string> cells(const top_table &t,
				      const top_settings &settings,
				      const top_row &row, std::string number,
				      std::string name)
{
	std::vector<std::string> all{std::move(number)};

	all.push_back(t.seconds > 0 ? fmt::format("{:.1f}",
						  row.cpu_ns / 1e7 / t.seconds)
				    : "");
	for (size_t c = 0; c < settings.columns.size(); c++) {
		const top_column &column = settings.columns[c];

		if (column.hidden)
			continue;
		uint64_t total = sum_of(t.totals[c]);
		uint64_t count = sum_of(row.counts[c]);

		shown_unit unit = shown_as(column.unit);
		double sum = 0;

		for (size_t p = 0; p < t.packages.size(); p++) {
			double part = rate(row.counts[c][p], column,
					   t.package_seconds[p]);

			if (settings.per_socket && t.packages.size() > 1)
				all.push_back(short_number(part, unit));
			sum += part;
		}
		all.push_back(short_number(sum, unit));
		all.push_back(
			total ? fmt::format("{:.1f}", 100.0 * count / total)
			      : "-");
	}
	for (const top_metric &metric : settings.metrics) {
		shown_unit unit = shown_as(metric.unit);

		if (settings.per_socket && t.packages.size() > 1)
			for (size_t p = 0; p < t.packages.size(); p++)
				all.push_back(short_number(
					metric.value(row.counts,
						     t.package_seconds, p),
					unit));
		all.push_back(short_number(
			metric.value(row.counts, t.package_seconds), unit));
	}
	all.push_back(std::move(name));
	return all;
}

/// A task may call itself anything; a terminal gets no control characters.
static std::string printable(std::string text)
{
	for (char &c : text)
		if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
			c = '?';
	return text;
}

static std::string rest_name(const top_table &t)
{
	if (!t.folded && !t.unkept)
		return "[other tasks]";
	return fmt::format(
		"[other: {} tasks folded{}]", t.folded,
		t.unkept ? fmt::format(", {} looks without room", t.unkept)
			 : "");
}

std::vector<std::string> show_table(const top_table &t,
				    const top_settings &settings,
				    cgroup_names &cgroups, size_t width)
{
	std::vector<std::string> lines;
	table text(titles(t, settings));
	size_t n = settings.rows ? std::min(settings.rows, t.rows.size())
				 : t.rows.size();
	top_row total;

	total.counts = t.totals;
	for (const auto &row : t.rows)
		total.cpu_ns += row.cpu_ns;
	total.cpu_ns += t.other.cpu_ns;
	text.add(cells(t, settings, total, "", "[total]"));
	text.add(cells(t, settings, t.idle, "", "[idle: no task ran]"));
	if (t.folded || t.unkept || t.other.cpu_ns)
		text.add(cells(t, settings, t.other, "", rest_name(t)));
	for (size_t i = 0; i < n; i++) {
		const top_row &row = t.rows[i];
		bool grouped = settings.by == top_by::cgroup;

		text.add(cells(t, settings, row,
			       std::to_string(grouped ? row.tasks : row.pid),
			       printable(grouped ? cgroups.name(row.cgroup)
						 : row.comm)));
	}
	lines = text.lines();
	for (auto &line : lines)
		if (width && line.size() > width)
			line.resize(width);
	return lines;
}

// --- for programs

/// A metric's values: all, and each package's.
static nlohmann::json metrics_json(const std::vector<std::vector<uint64_t>> &all,
				   const top_table &t,
				   const top_settings &settings)
{
	nlohmann::json values = nlohmann::json::object();

	for (const top_metric &metric : settings.metrics) {
		auto parts = nlohmann::json::array();

		for (size_t p = 0; p < t.packages.size(); p++)
			parts.push_back(
				metric.value(all, t.package_seconds, p));
		values[metric.name] = {
			{"value", metric.value(all, t.package_seconds)},
			{"packages", std::move(parts)}};
	}
	return values;
}

static nlohmann::json counts_json(const std::vector<std::vector<uint64_t>> &all,
				  const top_settings &settings)
{
	nlohmann::json counts = nlohmann::json::object();

	for (size_t c = 0; c < settings.columns.size(); c++)
		counts[settings.columns[c].name] = all[c];
	return counts;
}

nlohmann::json json_table(const top_table &t, const top_settings &settings,
			  cgroup_names &cgroups)
{
	nlohmann::json json{
		{"seconds", t.seconds},
		{"package_seconds", t.package_seconds},
		{"packages", t.packages},
		{"columns", nlohmann::json::array()},
		{"rows", nlohmann::json::array()},
		{"folded", t.folded},
		{"unkept", t.unkept},
		{"missed", t.missed},
	};

	for (const auto &column : settings.columns)
		json["columns"].push_back({{"name", column.name},
					   {"scale", column.scale},
					   {"unit", column.unit}});
	for (const auto &metric : settings.metrics)
		json["metrics"].push_back(
			{{"name", metric.name}, {"unit", metric.unit}});
	if (!settings.metrics.empty()) {
		json["total_metrics"] = metrics_json(t.totals, t, settings);
		json["idle_metrics"] =
			metrics_json(t.idle.counts, t, settings);
		json["other_metrics"] =
			metrics_json(t.other.counts, t, settings);
	}
	json["total"] = counts_json(t.totals, settings);
	json["idle"] = counts_json(t.idle.counts, settings);
	json["idle_ns"] = t.idle.cpu_ns;
	json["other"] = counts_json(t.other.counts, settings);
	json["other_ns"] = t.other.cpu_ns;
	for (const auto &row : t.rows) {
		nlohmann::json r{
			{"counts", counts_json(row.counts, settings)},
			{"cpu_ns", row.cpu_ns},
			{"tasks", row.tasks},
		};

		if (!settings.metrics.empty())
			r["metrics"] = metrics_json(row.counts, t, settings);
		if (settings.by == top_by::cgroup) {
			r["cgroup"] = cgroups.name(row.cgroup);
		} else {
			r["pid"] = row.pid;
			r["tgid"] = row.tgid;
			r["comm"] = row.comm;
			r["cgroup"] = cgroups.name(row.cgroup);
		}
		json["rows"].push_back(std::move(r));
	}
	return json;
}

} // namespace cli
