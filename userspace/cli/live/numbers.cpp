// SPDX-License-Identifier: GPL-2.0-or-later
// From the counters of uncore serve to the numbers of uncore live.
#include "live/numbers.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <uncore/catalogue.hpp>

namespace cli {

namespace {

/// Intervals that are remembered: more than a terminal has columns.
constexpr size_t remembered = 600;

using sample_labels = decltype(sample::labels);

const std::string *label_value(const sample_labels &labels,
			       std::string_view name)
{
	for (const auto &[key, value] : labels)
		if (key == name)
			return &value;
	return nullptr;
}

bool has_labels(
	const sample &one, int socket,
	const std::vector<std::pair<std::string_view, std::string>> &all)
{
	const std::string *its = label_value(one.labels, "socket");

	if (!its || *its != std::to_string(socket))
		return false;
	return std::all_of(all.begin(), all.end(), [&](const auto &want) {
		const std::string *value = label_value(one.labels, want.first);

		return value && *value == want.second;
	});
}

const family *family_named(const std::vector<family> &all,
			   std::string_view name)
{
	const auto found =
		std::find_if(all.begin(), all.end(), [&](const family &one) {
			return one.name == name;
		});

	return found == all.end() ? nullptr : &*found;
}

/// Not a number rather than infinite.
double divided(double by_what, double what)
{
	return by_what > 0 ? what / by_what : std::nan("");
}

/// A label without its number.
std::string_view stem(std::string_view label)
{
	return label.substr(0, label.find_last_not_of("0123456789") + 1);
}

int number_of(const std::string &text)
{
	int number = 0;

	std::from_chars(text.data(), text.data() + text.size(), number);
	return number;
}

/// How full a box is; not a number where that is not known.
double share_of(const limit_use *use, const std::string &instance)
{
	if (!use)
		return std::nan("");

	const auto its = use->each.find(unsigned(number_of(instance)));

	return its == use->each.end() ? std::nan("") : its->second;
}

/// Is a box not measured?  What it does then is not known.
bool is_dead(const collector &of, std::string_view box,
	     const std::string &instance, int socket)
{
	return std::any_of(
		of.down().begin(), of.down().end(), [&](const auto &one) {
			const auto &[pmu, package] = one.first;

			return package == socket && pmu->box == box &&
			       int(pmu->instance.value_or(0)) ==
				       number_of(instance);
		});
}

} // namespace

bool live_numbers::has(std::string_view name) const
{
	return family_named(now_, name) || family_named(before_, name);
}

double live_numbers::grown(std::string_view name, int socket,
			   const wanted &labels) const
{
	const family *now = family_named(now_, name);
	const family *before = family_named(before_, name);
	double sum = 0;
	bool any = false;

	if (!now || !before)
		return std::nan("");
	for (const sample &one : now->samples) {
		if (!has_labels(one, socket, labels))
			continue;

		const auto old = std::find_if(
			before->samples.begin(), before->samples.end(),
			[&](const sample &other) {
				return other.labels == one.labels;
			});

		// It is new: since when it counts is not known.
		if (old == before->samples.end())
			return std::nan("");
		sum += one.value - old->value;
		any = true;
	}
	return any ? sum : std::nan("");
}

std::vector<std::string> live_numbers::labels_of(std::string_view name,
						 int socket,
						 std::string_view label)
{
	std::vector<std::string> all;

	// A box whose series has ended is shown as dead.
	for (const std::string &known : known_labels_[{name, socket}])
		all.push_back(known);
	if (const family *now = family_named(now_, name))
		for (const sample &one : now->samples) {
			const std::string *value =
				label_value(one.labels, label);

			if (value && has_labels(one, socket, {}) &&
			    std::find(all.begin(), all.end(), *value) ==
				    all.end())
				all.push_back(*value);
		}
	std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
		return number_of(a) < number_of(b);
	});
	known_labels_[{name, socket}] = all;
	return all;
}

live_cell &live_numbers::put(live_row of, int socket, double value,
			     double share)
{
	auto row = std::find_if(
		rows_.begin(), rows_.end(),
		[&](const live_row &one) { return one.label == of.label; });

	if (row == rows_.end()) {
		// Behind the other boxes of its kind, as a socket may have more
		// of them than the first one.
		const auto like = std::find_if(
			rows_.rbegin(), rows_.rend(), [&](const live_row &one) {
				return stem(one.label) == stem(of.label);
			});

		row = rows_.insert(like == rows_.rend() ? rows_.end()
							: like.base(),
				   std::move(of));
	}

	live_cell &cell = row->sockets[socket];

	cell.value = value;
	cell.share = share;
	return cell;
}

// --- the boxes

void live_numbers::take_memory(int socket, const collector &of,
			       const limit_uses &uses)
{
	static constexpr std::string_view moved = "uncore_memory_bytes";
	static constexpr std::string_view clock = "uncore_memory_clock_cycles";
	const double seconds = of.interval("imc", socket);
	const limit_use *full = uses.find(socket, "memory");

	if (!has(moved))
		return;
	put({"Memory", measure::bytes, row_room::any, true, true}, socket,
	    divided(seconds, grown(moved, socket)),
	    full ? full->together : std::nan(""));
	for (const char *way : {"read", "write"})
		put({fmt::format("  {}", way), measure::bytes}, socket,
		    divided(seconds,
			    grown(moved, socket, {{"direction", way}})));

	live_cell &all = put({"  channels", measure::share, row_room::small},
			     socket, std::nan(""), std::nan(""));

	all.parts.clear();
	for (const std::string &channel : labels_of(moved, socket, "channel")) {
		const bool dead = is_dead(of, "imc", channel, socket);
		const double use = share_of(full, channel);

		all.parts.push_back(use);

		put({fmt::format("  channel {}", channel), measure::bytes,
		     row_room::large, false, true},
		    socket,
		    dead ? std::nan("")
			 : divided(seconds, grown(moved, socket,
						  {{"channel", channel}})),
		    use)
			.dead = dead;
	}

	const double cycles = grown(clock, socket);

	put({"  throttled", measure::share, row_room::large}, socket,
	    divided(cycles, grown("uncore_memory_throttled_cycles", socket)));
	put({"  self-refresh", measure::share, row_room::large}, socket,
	    divided(cycles,
		    grown("uncore_memory_self_refresh_cycles", socket)));
}

void live_numbers::take_llc(int socket, const collector &of, const limit_uses &)
{
	// Xeon 7100 and 7400 have one cache, which is not in slices.
	const double slices = of.interval("cbox", socket);
	const double seconds =
		slices > 0 ? slices : of.interval("gbsq", socket);
	const double lookups = grown("uncore_llc_lookups", socket);
	const double misses = grown("uncore_llc_misses", socket);
	const double remote =
		grown("uncore_llc_misses", socket, {{"memory", "remote"}});

	if (has("uncore_llc_misses"))
		put({"LLC misses", measure::events, row_room::any, true, false},
		    socket, divided(seconds, misses));
	if (has("uncore_llc_misses") && slices > 0)
		put({"  remote", measure::events}, socket,
		    divided(seconds, remote), divided(misses, remote));
	// It is the heading where no misses are counted.
	if (has("uncore_llc_misses"))
		put({"  lookups", measure::events, row_room::large}, socket,
		    divided(seconds, lookups));
	else if (has("uncore_llc_lookups"))
		put({"LLC lookups", measure::events, row_room::any, true,
		     false},
		    socket, divided(seconds, lookups));
	if (has("uncore_llc_modified_victims"))
		put({"  written back", measure::events, row_room::large},
		    socket,
		    divided(seconds,
			    grown("uncore_llc_modified_victims", socket)));
}

void live_numbers::take_qpi(int socket, const collector &of,
			    const limit_uses &uses)
{
	static constexpr std::string_view data = "uncore_qpi_data_bytes";
	static constexpr std::string_view clock = "uncore_qpi_clock_cycles";
	const double seconds = of.interval("qpi", socket);
	const std::vector<std::string> links = labels_of(data, socket, "link");
	const limit_use *full = uses.find(socket, "QPI");

	if (links.empty())
		return;
	put({"QPI sent", measure::bytes, row_room::any, true, true}, socket,
	    divided(seconds, grown(data, socket)),
	    full ? full->together : std::nan(""));

	live_cell &all = put({"  links", measure::share, row_room::small},
			     socket, std::nan(""), std::nan(""));

	all.parts.clear();
	for (const std::string &link : links) {
		const wanted its = {{"link", link}};

		const bool dead = is_dead(of, "qpi", link, socket);
		const double use = share_of(full, link);

		all.parts.push_back(use);

		put({fmt::format("  link {}", link), measure::bytes,
		     row_room::large, false, true},
		    socket,
		    dead ? std::nan("")
			 : divided(seconds, grown(data, socket, its)),
		    use)
			.dead = dead;
	}
	put({"  shut down", measure::share, row_room::large}, socket,
	    divided(grown(clock, socket),
		    grown("uncore_qpi_l1_cycles", socket)));
}

void live_numbers::take_pcie(int socket, const collector &of,
			     const limit_uses &)
{
	const double seconds = of.interval("irp", socket);

	if (!has("uncore_pcie_bytes"))
		return;
	for (const char *way : {"read", "write"})
		put({fmt::format("PCIe {}s", way), measure::bytes,
		     row_room::any, true, false},
		    socket,
		    divided(seconds, grown("uncore_pcie_bytes", socket,
					   {{"direction", way}})));
}

/// The front side bus of Xeon 7100 and 7400, which stands for memory, QPI and
/// PCIe.
void live_numbers::take_bus(int socket, const collector &of, const limit_uses &)
{
	static constexpr std::string_view busy = "uncore_bus_busy_cycles";
	const double seconds = of.interval("fsb", socket);
	const double clock = grown("uncore_bus_clock_cycles", socket);
	const double any =
		divided(clock, grown(busy, socket, {{"agent", "any"}}));

	if (!has(busy))
		return;
	put({"Bus busy", measure::share, row_room::any, true, true}, socket,
	    any, any);
	put({"  this socket", measure::share}, socket,
	    divided(clock, grown(busy, socket, {{"agent", "own"}})));
	put({"  transactions", measure::events}, socket,
	    divided(seconds, grown("uncore_bus_transactions", socket)));
	put({"Snoops", measure::events, row_room::any, true, false}, socket,
	    divided(of.interval("gsnpq", socket),
		    grown("uncore_snoops", socket)));
}

void live_numbers::take_power(int socket, const collector &of,
			      const limit_uses &)
{
	const double cycles = grown("uncore_pcu_clock_cycles", socket);

	if (!has("uncore_pcu_clock_cycles"))
		return;
	put({"Active cores", measure::cores, row_room::any, true, false},
	    socket,
	    divided(cycles, grown("uncore_active_core_cycles", socket)));
	put({"Uncore clock", measure::hertz, row_room::any, true, false},
	    socket,
	    divided(of.interval("ubox", socket),
		    grown("uncore_clock_cycles", socket)));
	for (const char *limit : {"power", "thermal"})
		put({fmt::format("Held by {}",
				 limit[0] == 'p' ? limit : "heat"),
		     measure::share, row_room::any, true, false},
		    socket,
		    divided(cycles, grown("uncore_frequency_limited_cycles",
					  socket, {{"limit", limit}})));
}

// --- all of it

void live_numbers::note_machine()
{
	const family *info = family_named(now_, "uncore");
	const family *shares =
		family_named(now_, "uncore_events_running_ratio");

	counted_ = 1;
	if (shares)
		for (const sample &one : shares->samples)
			counted_ = std::min(counted_, one.value);
	if (!info || info->samples.empty())
		return;

	const sample_labels &labels = info->samples.front().labels;

	if (const std::string *driver = label_value(labels, "driver");
	    driver && !driver->empty())
		driver_ = *driver;
	if (const std::string *name = label_value(labels, "machine")) {
		const auto *known = uncore::catalogue::find(*name);

		if (known)
			machine_ = known->title();
	}
}

void live_numbers::take(std::vector<family> families, const collector &of,
			const limit_uses &uses)
{
	before_ = std::move(now_);
	now_ = std::move(families);
	known_ = !before_.empty();
	note_machine();
	for (live_row &row : rows_)
		for (auto &[socket, cell] : row.sockets) {
			cell.value = cell.share = std::nan("");
			cell.dead = false;
			cell.parts.clear();
		}

	// All rows of a box stand together, whichever socket comes first.
	offline_.clear();
	if (const family *cpus = family_named(now_, "uncore_socket_cpus")) {
		offline_ = sockets_;
		for (const sample &one : cpus->samples) {
			const int socket =
				number_of(*label_value(one.labels, "socket"));

			sockets_.insert(socket);
			offline_.erase(socket);
		}
	}
	for (const auto part :
	     {&live_numbers::take_memory, &live_numbers::take_llc,
	      &live_numbers::take_qpi, &live_numbers::take_pcie,
	      &live_numbers::take_bus, &live_numbers::take_power})
		for (const int socket : sockets_)
			(this->*part)(socket, of, uses);
	if (!known_)
		return;
	for (live_row &row : rows_)
		for (auto &[socket, cell] : row.sockets) {
			cell.past.push_back(cell.value);
			if (cell.past.size() > remembered)
				cell.past.pop_front();
		}
}

} // namespace cli
