// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the tasks' shares out of the programs' maps, adds them up to accounts, and
// checks that the shares add up to the counters' counts.
//
// There are two maps of shares.  A flip makes the programs use the other map, so that
// the map that they used until then can be emptied.
#include "attribution/attribution_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace cli {

/// Attempts to flip while a package's lock is busy.  In each attempt the program
/// waits up to 10 ms for the lock.
static constexpr int flip_tries = 500;

static fixed_count fixed(uint64_t count)
{
	return static_cast<fixed_count>(count) << fixed_bits;
}

static fixed_count fixed(const attr_number &count)
{
	return fixed(count.whole) + count.fraction;
}

void attribution::state::poll_cpus()
{
	last_poll = std::chrono::steady_clock::now();
	// The run fails on a CPU that is offline by now.  No task runs there.
	for (auto [cpu, pkg] : cpus)
		run(programs->progs.look_here, cpu, 0);
}

/// Let the programs use the other map of shares from now on.  The map in use until
/// now has all counts up to each package's last read.
uncore::result<void> attribution::state::flip()
{
	for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
		int tries = 0, err;

		while ((err = run(programs->progs.flip, -1, pkg)) > 0)
			if (++tries == flip_tries)
				err = -EDEADLK;
		if (err < 0)
			return bpf_failure("closing the accounts", err);
	}
	epoch++;
	return {};
}

static void add(std::vector<fixed_count> &counts, const attr_share &share)
{
	for (size_t i = 0; i < counts.size(); i++)
		counts[i] += fixed(share.count[i]);
}

/// Add an entry of the programs' map to the account.
void attribution::state::add_share(const attr_key &key, const attr_share &share)
{
	if (key.package >= n_packages() || !share.stretches)
		return;
	task_share &task =
		tasks[{key.start_time, key.cgroup, key.pid, key.package}];

	task.start_time = key.start_time;
	task.cgroup = key.cgroup;
	task.pid = key.pid;
	task.tgid = share.tgid;
	task.package = key.package;
	if (share.comm[0])
		task.comm.assign(share.comm,
				 strnlen(share.comm, ATTR_COMM_LEN));
	task.cpu_ns += share.cpu_ns;
	task.counts.resize(n_columns());
	add(task.counts, share);
}

uncore::result<void> attribution::state::drain_map(bpf_map *map)
{
	// The kernel returns whole buckets of the hash map, and fails for a bucket
	// with more keys than the batch.  No bucket has so many.
	uint32_t batch = std::clamp<size_t>(options.max_tasks, 1, 1024);
	std::vector<attr_key> keys(batch);
	std::vector<attr_share> shares(batch);
	uint32_t place = 0, n;
	bool first = true;
	int err;

	do {
		n = batch;
		err = bpf_map_lookup_and_delete_batch(
			bpf_map__fd(map), first ? nullptr : &place, &place,
			keys.data(), shares.data(), &n, nullptr);
		if (err && err != -ENOENT)
			return bpf_failure("reading the accounts", err);
		for (uint32_t i = 0; i < n; i++)
			add_share(keys[i], shares[i]);
		first = false;
	} while (!err);
	return {};
}

/// Add to other the counts of tasks for which the programs had no room.
/// @param parity 0 for shares_even, 1 for shares_odd.
void attribution::state::drain_dropped(unsigned parity)
{
	for (unsigned pkg = 0; pkg < n_packages(); pkg++) {
		attr_share &share = programs->bss->packages[pkg].dropped[parity];
		package_account &p = packages[pkg];

		add(p.other, share);
		p.other_ns += share.cpu_ns;
		p.dropped += share.stretches;
		share = {};
		programs->bss->packages[pkg].entries[parity] = 0;
	}
}

/// Flip, and empty the map that was in use.
uncore::result<void> attribution::state::drain()
{
	unsigned parity = epoch & 1;
	auto outcome = flip();

	if (outcome)
		outcome = drain_map(parity ? programs->maps.shares_odd
					   : programs->maps.shares_even);
	if (!outcome)
		return outcome;
	drain_dropped(parity);
	// The shares of many drains may be kept until the next account: limit
	// their number.
	if (tasks.size() > 4 * options.max_tasks)
		merge(options.max_tasks);
	return {};
}

/// Keep the @p max_rows shares with the largest counts in the first column, and
/// with equal counts those with the most CPU time.  Add the rest to other.
void attribution::state::merge(size_t max_rows)
{
	if (tasks.size() <= max_rows)
		return;
	std::vector<std::map<share_key, task_share>::iterator> order;

	for (auto task = tasks.begin(); task != tasks.end(); ++task)
		order.push_back(task);
	std::nth_element(
		order.begin(), order.begin() + max_rows, order.end(),
		[](const auto &a, const auto &b) {
			return std::tie(a->second.counts[0], a->second.cpu_ns) >
			       std::tie(b->second.counts[0], b->second.cpu_ns);
		});
	for (size_t i = max_rows; i < order.size(); i++) {
		const task_share &task = order[i]->second;
		package_account &p = packages[task.package];

		for (size_t c = 0; c < n_columns(); c++)
			p.other[c] += task.counts[c];
		p.other_ns += task.cpu_ns;
		p.merged++;
		tasks.erase(order[i]);
	}
}

void attribution::state::reset_accounts()
{
	packages.assign(n_packages(), {});
	for (unsigned i = 0; i < n_packages(); i++) {
		packages[i].id = machine->packages()[i].id;
		packages[i].other.assign(n_columns(), 0);
	}
	tasks.clear();
}

/// Set the counts of a package from the programs' state at the end of this account
/// (@p now) and of the account before (@p then).
static void fill_package(package_account &p, const attr_state &now,
			 const attr_state &then,
			 const std::vector<attribution_counter> &counters, size_t n_columns)
{
	p.totals.assign(n_columns, 0);
	for (size_t i = 0; i < counters.size(); i++)
		p.totals[counters[i].column] += now.seen[i] - then.seen[i];
	for (size_t i = 0; i < n_columns; i++) {
		p.idle.push_back(now.idle[i] - then.idle[i]);
		p.remainder.push_back(fixed(now.remainder[i]));
		p.remainder_before.push_back(fixed(then.remainder[i]));
	}
	p.idle_ns = now.idle_ns - then.idle_ns;
	p.ns = then.at ? now.at - then.at : 0;
}

/// Set the name of a tree's root: a root that waits for its descendants does not run, and
/// has no name in its share.
void attribution::state::name_root(task_share &root)
{
	std::string &name = root_names[{root.start_time, root.pid}];

	if (!root.comm.empty())
		name = root.comm;
	if (name.empty()) {
		std::ifstream file(fmt::format("/proc/{}/comm", root.pid));

		if (!std::getline(file, name))
			name = fmt::format("process {}", root.pid);
	}
	root.comm = name;
}

/// Warn of tasks that are in no tree or in a wrong one.
void attribution::state::warn_unfollowed()
{
	const uint64_t count = programs->bss->unfollowed;

	if (count > unfollowed)
		warnings.push_back(fmt::format(
			"{} tasks, and all that they start, are not counted for the tree of the task that started them, as more than {} exist at once: --max-tasks has room for more",
			count - unfollowed, options.max_followed));
	unfollowed = count;
}

/// Return the account of all drains since the last account.
uncore::result<account> attribution::state::settle()
{
	account a;

	merge(options.max_tasks);
	for (unsigned i = 0; i < n_packages(); i++) {
		const attr_state &flipped = programs->bss->packages[i].flipped;

		fill_package(packages[i], flipped, before[i], counters,
			     n_columns());
		before[i] = flipped;
		a.missed += programs->bss->packages[i].missed;
		a.reads += programs->bss->packages[i].reads;
	}
	for (unsigned i = 0; i < n_cpus; i++)
		a.looks += programs->bss->cpus[i].looks;
	warn_unfollowed();
	a.unfollowed = unfollowed;
	for (auto &[key, task] : tasks) {
		if (options.by == attribution_by::tree)
			name_root(task);
		a.tasks.push_back(std::move(task));
	}
	a.packages = std::move(packages);
	a.warnings = std::exchange(warnings, {});
	reset_accounts();
	auto outcome = check_sums(a);

	if (!outcome)
		return outcome.error();
	return a;
}

/// Check that the shares add up to the counters' counts.  On a wrong sum take()
/// fails, so that no wrong number is shown.
uncore::result<void> attribution::state::check_sums(const account &a) const
{
	for (unsigned i = 0; i < a.packages.size(); i++) {
		const package_account &p = a.packages[i];

		for (size_t c = 0; c < n_columns(); c++) {
			fixed_count sum = p.other[c] + fixed(p.idle[c]) +
					  p.remainder[c] -
					  p.remainder_before[c];

			for (const auto &task : a.tasks)
				if (task.package == i)
					sum += task.counts[c];
			if (sum != fixed(p.totals[c]))
				return uncore::error{
					uncore::errc::system,
					fmt::format(
						"{} of socket {}: the shares add up to {}, the counters saw {}",
						options.columns[c].name, p.id,
						to_double(sum), p.totals[c])};
		}
	}
	return {};
}

} // namespace cli
