// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers of uncore top's table, from an account: the counts of each package
// since the last account, and the tasks' shares of these counts.  A share is a
// fixed-point number.  Shares are rounded to whole counts, and summed by task,
// process or cgroup.
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

/// Rounds the shares of one column in one package to whole counts, so that their sum is
/// exact.  It keeps the running sum of the shares.  The rounded share is the growth of
/// the rounded running sum, not the share rounded for itself.
///
/// A remainder is the part of the counts that the BPF programs have not divided
/// among tasks at the end of an account; they divide it in the next account.  So the
/// shares of an account add up to a whole number only with the difference of its two
/// remainders.  The running sum begins with this difference.
class rounding {
public:
	rounding(fixed_count remainder, fixed_count remainder_before)
		: sum_(static_cast<wide>(remainder) -
		       static_cast<wide>(remainder_before))
	{
	}

	/// Add a share.  @return the rounded share.
	uint64_t next(fixed_count share)
	{
		uint64_t before = whole_;

		sum_ += static_cast<wide>(share);
		// The difference of the remainders may be negative.
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
	uint64_t whole_ = 0; ///< sum_, rounded
};

// --- rows of the table

static void widen(top_row &row, size_t columns, size_t packages)
{
	row.counts.assign(columns, std::vector<uint64_t>(packages));
}

/// Identity of a row: start time of the task, cgroup, and pid of the task or
/// process; 0 for a part that does not tell rows apart.
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

/// Add the share of a task in one package to a row.  @p counts: the rounded share,
/// by column.
static void add_task(top_row &row, const task_share &task,
		     const std::vector<uint64_t> &counts, top_by by)
{
	bool leader = task.pid == task.tgid;

	// Count a task with shares in several packages once: account::tasks has
	// these shares one after the other.
	if (row.pid != task.pid || row.start_time != task.start_time)
		row.tasks++;
	row.pid = task.pid;
	row.start_time = task.start_time;
	row.cgroup = task.cgroup;
	row.tgid = task.tgid;
	// Name a process after its main thread.
	if (row.comm.empty() || leader || by == top_by::task)
		row.comm = task.comm;
	row.cpu_ns += task.cpu_ns;
	for (size_t c = 0; c < counts.size(); c++)
		row.counts[c][task.package] += counts[c];
}

using roundings = std::vector<std::vector<rounding>>; // [column][package]

/// Fill the table's rows.  The row "other" gets the tasks that the user did not
/// choose; sum_rest() adds account.other to the row.
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

/// Fill the totals and "idle", and add account.other to "other": the shares of tasks
/// for which the BPF programs or the account had no room.  Call after sum_rows(),
/// which passes the tasks' shares to the rounders.  account.other is the last share
/// of each column and package, and makes their sum a whole number.
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

// --- metrics of a row

double top_metric::value(const std::vector<std::vector<uint64_t>> &counts,
			 const std::vector<double> &seconds, int package) const
{
	std::vector<double> values, sources;
	double time = 0;

	// Each package has its own time, as the packages' counters are not read
	// at the same moment.  For all packages, duration_time is the mean.
	for (size_t p = 0; p < seconds.size(); p++)
		if (package < 0)
			time += seconds[p] / seconds.size();
		else if (p == size_t(package))
			time = seconds[p];

	// sources has for each operand the number of counters in its value, for
	// source_count() in the expression.  An operand without a column is
	// duration_time, which is a single value.
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

// --- the whole table

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
	table.unfollowed = a.unfollowed;
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
