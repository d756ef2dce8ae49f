// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <uncore/catalogue.hpp>

#include "exporter/tables.hpp"
#include "output/number.hpp"
#include "places/pci_tree.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// A text names the fullest box if its share is this much larger than the share of all
/// boxes together.
constexpr double notable = 0.02;

/// Share of a PCIe link's bits that carries data.  The encoding is 8b/10b up to 5 GT/s,
/// 128b/130b above.
constexpr double slow_link = 5, slow_share = 8.0 / 10, fast_share = 128.0 / 130;

const json &limits()
{
	static const json parsed = json::parse(tables::limits);

	return parsed;
}

/// Read the number at the start of a file: "16", "8.0 GT/s PCIe".
std::optional<double> number_in(const std::filesystem::path &file)
{
	const std::string text = uncore::read_text(file).value_or("");
	double value = 0;
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value);

	if (error != std::errc() || value <= 0)
		return std::nullopt;
	return value;
}

/// Find the device at the other end of a port's link.
std::optional<std::filesystem::path> child_of(const std::filesystem::path &port)
{
	for (const std::string &name : uncore::list_folder(port))
		if (name.find(':') != name.npos &&
		    uncore::read_text(port / name / "current_link_width"))
			return port / name;
	return std::nullopt;
}

/// Return the capacity of a port's link in bytes a second, each way; 0 without a link.
double link_capacity(const std::filesystem::path &port)
{
	const auto child = child_of(port);
	const auto width = number_in(port / "current_link_width");
	const auto port_speed = number_in(port / "max_link_speed");

	if (!child || !width || !port_speed)
		return 0;

	const double speed = std::min(
		*port_speed,
		number_in(*child / "max_link_speed").value_or(*port_speed));

	return *width * speed * 1e9 / 8 *
	       (speed <= slow_link ? slow_share : fast_share);
}

} // namespace

json limits_of(std::string_view generation)
{
	return limits().value(std::string(generation), json::array());
}

std::optional<double> pcie_capacity(const std::filesystem::path &sysfs,
				    const uncore::package &socket)
{
	double sum = 0;

	if (socket.cpus.empty())
		return std::nullopt;
	for (const std::string &bus : uncore::list_folder(sysfs / "devices")) {
		if (!is_root_bus(bus))
			continue;
		for (const std::string &name :
		     uncore::list_folder(sysfs / "devices" / bus)) {
			const auto port = sysfs / "devices" / bus / name;
			const auto near_cpus = uncore::parse_cpu_list(
				uncore::read_text(port / "local_cpulist")
					.value_or(""));

			// A port that is near CPUs of several sockets belongs
			// to none of them.
			if (is_bridge(port) && near_cpus &&
			    std::find(near_cpus->begin(), near_cpus->end(),
				      socket.cpus.front()) !=
				    near_cpus->end() &&
			    near_cpus->size() <= socket.cpus.size())
				sum += link_capacity(port);
		}
	}
	if (sum <= 0)
		return std::nullopt;
	return sum;
}

// --- uses

namespace {

/// What a box has done between two reads, and could have done (capacity), in the limit's
/// unit.  Some limits apply to each way separately, such as reads and writes of PCIe.
struct box_use {
	std::map<std::string, double> used; ///< by way
	double capacity = 0;
	bool ever = false; ///< any count since the program started

	/// Return the used share of the capacity, of the fuller way; NaN if a
	/// count is missing.
	double share() const
	{
		double most = capacity > 0 ? 0 : std::nan("");

		for (const auto &[way, value] : used)
			if (value >= 0)
				most = std::max(most, value / capacity);
			else
				return std::nan("");
		return used.empty() ? std::nan("") : most;
	}
	double sum() const
	{
		double total = 0;

		for (const auto &[way, value] : used)
			total += value;
		return total;
	}
};

using box_uses = std::map<unsigned, box_use>;

/// A limit applied to a socket's boxes.  These keys of a limit are its formula:
/// "box" is the box type.  "used" lists the series that add up to the used part, each
/// with a factor, and with "value" only the samples with this label value.  "by" is the
/// label that tells the ways apart.  "capacity" is a series of clocks times a factor,
/// also of another box type; or a "fact", the PCIe links' capacity.  With "populated",
/// boxes that have never counted anything are left out.
class limit_at {
public:
	/// @param links capacity of the socket's PCIe links, see pcie_capacity()
	/// @param peak of the socket's memory in bytes a second, if it was measured
	/// @param seconds between @p last_counts and @p counts
	limit_at(const json &limit, int socket, double links,
		 std::optional<double> peak, double seconds, const collector &counters,
		 const std::vector<box_count> &last_counts,
		 const std::vector<box_count> &counts)
		: limit_(limit), socket_(socket), links_(links), peak_(peak),
		  seconds_(seconds), counters_(counters),
		  last_counts_(last_counts), counts_(counts)
	{
	}
	std::optional<limit_use> use() const;

private:
	void add_used(box_uses &boxes) const;
	void add_capacity(box_uses &boxes) const;
	bool is_dead(unsigned instance) const;

	const json &limit_;
	int socket_;
	double links_;
	std::optional<double> peak_;
	double seconds_;
	const collector &counters_;
	const std::vector<box_count> &last_counts_, &counts_;
};

/// Tell whether a box of the limit's type is not measured.
bool limit_at::is_dead(unsigned instance) const
{
	return std::any_of(counters_.down().begin(), counters_.down().end(),
			   [&](const auto &entry) {
				   const auto &[pmu, socket] = entry.first;

				   return socket == socket_ &&
					  limit_["box"] == pmu->box &&
					  pmu->instance.value_or(0) == instance;
			   });
}

void limit_at::add_used(box_uses &boxes) const
{
	const std::string box = limit_["box"], by = limit_.value("by", "");

	for (const json &part : limit_["used"]) {
		const std::string label_value = part.value("value", "");

		for (size_t i = 0; i < counts_.size(); i++) {
			const box_count &count = counts_[i];
			const unsigned number = count.pmu->instance.value_or(0);
			std::string way;

			if (count.package != socket_ || count.pmu->box != box ||
			    part["series"] != count.family->name ||
			    is_dead(number))
				continue;
			for (const label &entry : count.event->labels)
				if (entry.name == by)
					way = entry.value;
			if (!label_value.empty() &&
			    std::none_of(count.event->labels.begin(),
					 count.event->labels.end(),
					 [&label_value](const label &entry) {
						 return entry.value ==
							label_value;
					 }))
				continue;

			box_use &use = boxes[number];

			use.used[way] += (count.total - last_counts_[i].total) *
					 count.event->factor *
					 part["factor"].get<double>();
			use.ever |= count.total > 0;
		}
	}
}

void limit_at::add_capacity(box_uses &boxes) const
{
	const json &capacity = limit_["capacity"];

	// All links of the socket are the capacity of each box.
	if (capacity.contains("fact")) {
		for (auto &[number, use] : boxes)
			use.capacity = links_ * seconds_;
		return;
	}

	const std::string own_box = limit_["box"];
	const std::string box = capacity.value("box", own_box);
	const double factor = capacity["factor"];

	for (size_t i = 0; i < counts_.size(); i++) {
		const box_count &count = counts_[i];
		const double cycles = count.total - last_counts_[i].total;

		if (count.package != socket_ || count.pmu->box != box ||
		    capacity["series"] != count.family->name)
			continue;
		// The clock of another box type is the clock of all boxes.
		if (box != own_box)
			for (auto &[number, use] : boxes)
				use.capacity += cycles * factor;
		else if (const auto entry =
				 boxes.find(count.pmu->instance.value_or(0));
			 entry != boxes.end())
			entry->second.capacity += cycles * factor;
	}
}

std::optional<limit_use> limit_at::use() const
{
	box_uses boxes;
	std::map<unsigned, double> shares;

	add_used(boxes);
	add_capacity(boxes);
	for (const auto &[number, use] : boxes)
		shares[number] = use.share();
	if (limit_.contains("populated"))
		std::erase_if(boxes, [](const auto &entry) {
			return !entry.second.ever;
		});
	std::erase_if(boxes, [](const auto &entry) {
		return !std::isfinite(entry.second.share());
	});
	if (boxes.empty())
		return std::nullopt;

	limit_use summary{
		.name = limit_["name"],
		.box = limit_["box"],
		.one = limit_["one"],
		.unit = limit_["unit"],
		.from = limit_["from"],
		.busy = limit_["busy"],
		.named = limit_.value("named", false),
		.of = limit_.value("of", ""),
		.least = limit_.value("least", 0.0),
		.boxes = unsigned(boxes.size())};
	box_use total;
	const bool links = limit_["capacity"].contains("fact");

	summary.fullest_share = -1;
	for (const auto &[number, use] : boxes) {
		for (const auto &[way, value] : use.used)
			total.used[way] += value;
		// Do not add the capacity of links, which is the socket's.
		total.capacity = (links ? 0 : total.capacity) + use.capacity;
		if (use.share() > summary.fullest_share) {
			summary.fullest_share = use.share();
			summary.fullest = number;
		}
	}

	summary.each = std::move(shares);
	summary.box_busy = (1 + summary.busy) / 2;
	summary.computed = total.share();
	if (limit_.contains("measured")) {
		summary.known = peak_ ? "measured" : "computed";
		if (peak_) {
			summary.from = limit_["measured"]["from"];
			summary.busy = limit_["measured"]["busy"];
			total.capacity = *peak_ * seconds_;
		}
	}
	summary.together = total.share();
	summary.share = limit_["socket"] == "sum" ? summary.together
						  : summary.fullest_share;
	summary.capacity = seconds_ > 0 ? total.capacity / seconds_ : 0;
	return summary;
}

std::string percent(double part)
{
	return fmt::format("{:.{}f} %", 100 * part,
			   part > 0 && part < 0.0995 ? 1 : 0);
}

/// Tell whether the capacities of the boxes are added: bytes, not shares of time.
bool is_sum(const limit_use &use)
{
	return use.unit == "B/s";
}

/// Format a use: "72 % of 63.5 GiB/s, channel 2 is the fullest (75 %)".
std::string text_of(const limit_use &use)
{
	std::string text = percent(use.share);

	if (is_sum(use))
		text += fmt::format(" of {}{}{}", per_second(use.capacity, "B", true),
				    use.known.empty() ? "" : " ", use.known);
	if (!use.of.empty())
		return text + " of " + use.of;
	if (use.boxes < 2 || use.fullest_share <= 0 ||
	    (is_sum(use) && use.fullest_share - use.computed < notable))
		return text;
	if (is_sum(use))
		return text + fmt::format(", {} {} is the fullest ({}{})",
					  use.one, use.fullest,
					  percent(use.fullest_share),
					  use.known == "measured" ? " of what is computed"
								  : "");
	return text + fmt::format(" ({} {})", use.one, use.fullest);
}

/// Return the part of the total that a use needs, at most 1: see limit_use::least.
double weight(const limit_use &use)
{
	return use.least > 0 ? std::min(1.0, use.capacity / use.least) : 1;
}

/// Rate a use: 1 or more if it limits the socket.  All boxes together limit from a share
/// of use.busy on, a single box from half way between use.busy and 1.
double pressure(const limit_use &use)
{
	if (!use.of.empty())
		return weight(use) * use.share / use.busy;
	return std::max(use.share / use.busy, use.fullest_share / use.box_busy);
}

/// Tell whether the verdict names a use that does not limit.
bool is_notable(const limit_use &use)
{
	return use.named || weight(use) * use.share >= use.from;
}

} // namespace

/// Limits and link capacities of a machine, constant for one revision.
struct limit_uses::capacities {
	explicit capacities(const collector &counters)
		: limits(limits_of(counters.machine()->generation())),
		  peaks(memory_peaks::read(*counters.machine()))
	{
		for (const uncore::package &socket :
		     counters.machine()->packages())
			links[socket.id] =
				pcie_capacity(counters.sysfs(), socket)
					.value_or(0);
	}

	json limits;
	memory_peaks peaks;
	std::map<int, double> links; ///< capacity in bytes a second, by socket
};

void limit_uses::take(const collector &counters)
{
	auto counts = counters.counts();

	sockets_.clear();
	if (counters.revision() != revision_)
		capacities_.reset();
	if (!capacities_ && counters.machine())
		capacities_ = std::make_shared<const capacities>(counters);
	// Compare only counts of the same counters.
	if (counters.revision() == revision_ &&
	    counts.size() == last_counts_.size() && counters.machine() &&
	    counters.problem().empty())
		for (const auto &[socket, links] : capacities_->links)
			for (const json &limit : capacities_->limits) {
				const std::string box = limit["box"];
				const double seconds =
					counters.elapsed(box, socket) -
					elapsed_[{box, socket}];

				if (auto use = limit_at(limit, socket, links,
							capacities_->peaks.of(socket),
							seconds, counters,
							last_counts_, counts)
						       .use())
					sockets_[socket].push_back(
						*std::move(use));
			}
	if (capacities_)
		for (const auto &[socket, links] : capacities_->links)
			for (const json &limit : capacities_->limits)
				elapsed_[{limit["box"], socket}] =
					counters.elapsed(limit["box"], socket);
	last_counts_ = std::move(counts);
	revision_ = counters.revision();
}

std::vector<std::string> limit_uses::problems() const
{
	return capacities_ ? capacities_->peaks.problems()
			   : std::vector<std::string>{};
}

const limit_use *limit_uses::find(int socket, std::string_view box) const
{
	const auto uses = sockets_.find(socket);

	if (uses == sockets_.end())
		return nullptr;
	for (const limit_use &use : uses->second)
		if (use.box == box)
			return &use;
	return nullptr;
}

std::string judgement::text() const
{
	return facts.empty()
		       ? head
		       : fmt::format("{}: {}", head, fmt::join(facts, "; "));
}

judgement judge(const std::vector<limit_use> &uses,
		std::vector<std::string> down)
{
	const limit_use *limiting = nullptr;

	// A use of full boxes is preferred to a use that is a part of a total.
	for (const limit_use &use : uses)
		if (pressure(use) >= 1 &&
		    (!limiting || std::pair(use.of.empty(), pressure(use)) >
					  std::pair(limiting->of.empty(),
						    pressure(*limiting))))
			limiting = &use;

	judgement verdict{.limited = limiting ? limiting->name : "",
			  .head = limiting ? "limited by " + limiting->name
				  : uses.empty() ? "not measured"
						 : "nothing limits",
			  .told = limiting	 ? limiting->name
				  : uses.empty() ? ""
						 : uses.front().name};

	if (limiting)
		verdict.facts.push_back(text_of(*limiting));
	for (const limit_use &use : uses)
		if (&use != limiting && is_notable(use))
			verdict.facts.push_back(
				fmt::format("{} {}", use.name, text_of(use)));
	verdict.facts.insert(verdict.facts.end(),
			     std::make_move_iterator(down.begin()),
			     std::make_move_iterator(down.end()));
	return verdict;
}

std::map<int, judgement> limit_uses::verdicts(const collector &counters) const
{
	std::map<int, std::vector<std::string>> down;
	std::map<int, judgement> judgements;

	if (!counters.machine())
		return judgements;
	for (const auto &[box, reason] : counters.down()) {
		const auto &[pmu, socket] = box;
		const auto *info = uncore::catalogue::of(*counters.machine())
					   .box(pmu->box);
		std::string name(info ? info->title : pmu->box);

		if (pmu->instance)
			name += fmt::format(" {}", *pmu->instance);
		down[socket].push_back(fmt::format("{} is {}", name, reason));
	}
	for (const uncore::package &socket : counters.machine()->packages()) {
		const auto uses = sockets_.find(socket.id);

		judgements[socket.id] =
			judge(uses == sockets_.end() ? std::vector<limit_use>()
						     : uses->second,
			      std::move(down[socket.id]));
	}
	return judgements;
}

json limit_uses::describe(const collector &counters) const
{
	json document = json::object();

	for (const auto &[socket, judged] : verdicts(counters)) {
		json &verdict = document[std::to_string(socket)] = {
			{"limited", judged.limited},
			{"head", judged.head},
			{"facts", judged.facts},
			{"told", judged.told},
			{"uses", json::object()}};

		if (const auto uses = sockets_.find(socket);
		    uses != sockets_.end())
			for (const limit_use &use : uses->second)
				verdict["uses"][use.name] = use.share;
	}
	return document;
}

} // namespace cli
