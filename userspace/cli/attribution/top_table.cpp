// SPDX-License-Identifier: GPL-2.0-or-later
// uncore top's numbers: the shares of an account, summed by task, process or
// cgroup, and rounded so that they add up.
#include "attribution/top_table.hpp"

#include <algorithm>
#include <tuple>

namespace cli {

uint64_t sum_of(const std::vector<uint64_t> &counts)
{
	uint64_t sum = 0;

	for (uint64_t count : counts)
		sum += count;
	return sum;
}

// --- rounding

/// Rounds the shares of a package's counts in a column to whole counts that add
/// up: each share gets the growth of the rounded running sum.  Counts that are
/// not divided yet go with the first share.
class rounding {
public:
	rounding(fixed_count remainder, fixed_count remainder_before)
		: sum_(static_cast<wide>(remainder) -
		       static_cast<wide>(remainder_before))
	{
	}

	uint64_t next(fixed_count share)
	{
		uint64_t before = whole_;

		sum_ += static_cast<wide>(share);
		if (sum_ > 0)
			whole_ = std::max(whole_,
					  static_cast<uint64_t>((sum_ + half) >>
								fixed_bits));
		return whole_ - before;
	}

private:
	__extension__ typedef __int128 wide;
	static constexpr wide half = static_cast<wide>(1) << (fixed_bits - 1);
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

/// Add a task to a row.  @p counts: whole counts of the task, by column.
static void add_task(top_row &row, const task_share &task,
		     const std::vector<uint64_t> &counts, top_by by)
{
	bool leader = task.pid == task.tgid;

	// Shares come sorted: the shares of a task in several packages are
	// neighbours.
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

static void sum_rows(top_table &table, const account &a,
		     const top_settings &settings, roundings &rounders)
{
	const top_by by = settings.by;
	std::map<row_key, top_row> rows;
	std::vector<uint64_t> counts(rounders.size());

	widen(table.other, rounders.size(), a.packages.size());
	for (const auto &task : a.tasks) {
		for (size_t c = 0; c < rounders.size(); c++)
			counts[c] =
				rounders[c][task.package].next(task.counts[c]);
		if (settings.wanted && !settings.wanted(task)) {
			table.other.cpu_ns += task.cpu_ns;
			for (size_t c = 0; c < counts.size(); c++)
				table.other.counts[c][task.package] +=
					counts[c];
			continue;
		}

		top_row &row = rows[key_of(task, by)];

		if (row.counts.empty())
			widen(row, rounders.size(), a.packages.size());
		add_task(row, task, counts, by);
	}
	for (auto &[key, row] : rows) {
		if (by == top_by::process)
			row.pid = row.tgid;
		table.rows.push_back(std::move(row));
	}
}

static void sum_rest(top_table &table, const account &a, roundings &rounders)
{
	size_t packages = a.packages.size(), columns = rounders.size();

	widen(table.idle, columns, packages);
	table.other.comm = "other";
	table.idle.comm = "idle";
	table.totals.assign(columns, std::vector<uint64_t>(packages));
	for (size_t p = 0; p < packages; p++) {
		const package_account &account = a.packages[p];

		table.packages.push_back(account.id);
		table.other.cpu_ns += account.other_ns;
		table.idle.cpu_ns += account.idle_ns;
		table.merged += account.merged;
		table.dropped += account.dropped;
		for (size_t c = 0; c < columns; c++) {
			table.other.counts[c][p] +=
				rounders[c][p].next(account.other[c]);
			table.idle.counts[c][p] = account.idle[c];
			table.totals[c][p] = account.totals[c];
		}
	}
}

// --- rounding and summing

double top_metric::value(const std::vector<std::vector<uint64_t>> &counts,
			 const std::vector<double> &seconds, int package) const
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

		const std::vector<uint64_t> &package_counts = counts[*o.column];
		double n = 0;

		for (double counters : o.sources)
			n += counters;
		values.push_back(package < 0 ? sum_of(package_counts)
					     : package_counts[package]);
		sources.push_back(package < 0 ? n : o.sources[package]);
	}
	return expression.evaluate(values, sources) * scale;
}

top_table make_table(const account &a, const top_settings &settings)
{
	roundings rounders(settings.columns.size());
	top_table table;

	for (const auto &package : a.packages) {
		table.package_seconds.push_back(package.ns / 1e9);
		table.seconds =
			std::max(table.seconds, table.package_seconds.back());
	}
	table.missed = a.missed;
	table.looks = a.looks;
	table.reads = a.reads;
	table.warnings = a.warnings;
	for (size_t c = 0; c < rounders.size(); c++)
		for (const auto &package : a.packages)
			rounders[c].emplace_back(package.remainder[c],
						 package.remainder_before[c]);
	sum_rows(table, a, settings, rounders);
	sum_rest(table, a, rounders);
	sort_rows(table.rows, settings, table.package_seconds);
	return table;
}

} // namespace cli
