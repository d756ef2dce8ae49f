// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <uncore/catalogue.hpp>

#include "exporter/limits_json.hpp"
#include "output/number.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

/// By how much a box is fuller than all together for it to be named.
constexpr double notable = 0.02;

/// A fraction of a transfer's bits carries data: 8b/10b up to 5 GT/s, then
/// 128b/130b.
constexpr double slow_link = 5, slow_share = 8.0 / 10, fast_share = 128.0 / 130;

const json &limits()
{
	static const json all = json::parse(limits_json);

	return all;
}

/// A number at the start of a file: "16", "8.0 GT/s PCIe".
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

/// The device at the other end of a port's link.
std::optional<std::filesystem::path> child_of(const std::filesystem::path &port)
{
	for (const std::string &name : uncore::list_folder(port))
		if (name.find(':') != name.npos &&
		    uncore::read_text(port / name / "current_link_width"))
			return port / name;
	return std::nullopt;
}

double link_capacity(const std::filesystem::path &port)
{
	const auto child = child_of(port);
	const auto width = number_in(port / "current_link_width");
	const auto here = number_in(port / "max_link_speed");

	if (!child || !width || !here)
		return 0;

	const double speed = std::min(
		*here, number_in(*child / "max_link_speed").value_or(*here));

	return *width * speed * 1e9 / 8 *
	       (speed <= slow_link ? slow_share : fast_share);
}

bool is_root_port(const std::filesystem::path &device)
{
	constexpr std::string_view bridge = "0x0604";
	const std::string kind =
		uncore::read_text(device / "class").value_or("");

	return kind.starts_with(bridge);
}

/// "pci0000:00", a bus that is below no port.
bool is_root_bus(std::string_view name)
{
	return name.starts_with("pci") && name.find(':') != name.npos;
}

} // namespace

json limits_of(std::string_view generation)
{
	return limits().value(std::string(generation), json::array());
}

std::optional<double> pcie_capacity(const std::filesystem::path &sysfs,
				    const uncore::package &of)
{
	double sum = 0;

	if (of.cpus.empty())
		return std::nullopt;
	for (const std::string &bus : uncore::list_folder(sysfs / "devices")) {
		if (!is_root_bus(bus))
			continue;
		for (const std::string &name :
		     uncore::list_folder(sysfs / "devices" / bus)) {
			const auto port = sysfs / "devices" / bus / name;
			const auto near = uncore::parse_cpu_list(
				uncore::read_text(port / "local_cpulist")
					.value_or(""));

			// One that is as near to CPUs of all sockets tells
			// nothing.
			if (is_root_port(port) && near &&
			    std::find(near->begin(), near->end(),
				      of.cpus.front()) != near->end() &&
			    near->size() <= of.cpus.size())
				sum += link_capacity(port);
		}
	}
	if (sum <= 0)
		return std::nullopt;
	return sum;
}

// --- uses

namespace {

/// What a box did between two reads, each way, and what it could have done.
struct box_use {
	std::map<std::string, double> used;
	double capacity = 0;
	bool ever = false; ///< did anything since it is counted

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
		double all = 0;

		for (const auto &[way, value] : used)
			all += value;
		return all;
	}
};

using box_uses = std::map<unsigned, box_use>;

/// A limit at a socket's boxes.
class limit_at {
public:
	/// @param links of the socket's PCIe links, see pcie_capacity()
	/// @param seconds between the two counts
	limit_at(const json &limit, int socket, double links, double seconds,
		 const collector &of, const std::vector<box_count> &before,
		 const std::vector<box_count> &now)
		: limit_(limit), socket_(socket), links_(links),
		  seconds_(seconds), of_(of), before_(before), now_(now)
	{
	}
	std::optional<limit_use> use() const;

private:
	void add_used(box_uses &to) const;
	void add_capacity(box_uses &to) const;
	bool is_dead(unsigned instance) const;

	const json &limit_;
	int socket_;
	double links_, seconds_;
	const collector &of_;
	const std::vector<box_count> &before_, &now_;
};

bool limit_at::is_dead(unsigned instance) const
{
	return std::any_of(
		of_.down().begin(), of_.down().end(), [&](const auto &one) {
			const auto &[pmu, socket] = one.first;

			return socket == socket_ && limit_["box"] == pmu->box &&
			       pmu->instance.value_or(0) == instance;
		});
}

void limit_at::add_used(box_uses &to) const
{
	const std::string box = limit_["box"], by = limit_.value("by", "");

	for (const json &part : limit_["used"]) {
		const std::string only = part.value("value", "");

		for (size_t i = 0; i < now_.size(); i++) {
			const box_count &one = now_[i];
			const unsigned number = one.pmu->instance.value_or(0);
			std::string way;

			if (one.package != socket_ || one.pmu->box != box ||
			    part["series"] != one.of->name || is_dead(number))
				continue;
			for (const label &each : one.event->labels)
				if (each.name == by)
					way = each.value;
			if (!only.empty() &&
			    std::none_of(one.event->labels.begin(),
					 one.event->labels.end(),
					 [&only](const label &each) {
						 return each.value == only;
					 }))
				continue;

			box_use &use = to[number];

			use.used[way] += (one.total - before_[i].total) *
					 one.event->factor *
					 part["factor"].get<double>();
			use.ever |= one.total > 0;
		}
	}
}

void limit_at::add_capacity(box_uses &to) const
{
	const json &capacity = limit_["capacity"];

	if (capacity.contains("fact")) {
		for (auto &[number, use] : to)
			use.capacity = links_ * seconds_;
		return;
	}

	const std::string own = limit_["box"];
	const std::string box = capacity.value("box", own);
	const double factor = capacity["factor"];

	for (size_t i = 0; i < now_.size(); i++) {
		const box_count &one = now_[i];
		const double cycles = one.total - before_[i].total;

		if (one.package != socket_ || one.pmu->box != box ||
		    capacity["series"] != one.of->name)
			continue;
		if (box != own)
			for (auto &[number, use] : to)
				use.capacity += cycles * factor;
		else if (const auto its =
				 to.find(one.pmu->instance.value_or(0));
			 its != to.end())
			its->second.capacity += cycles * factor;
	}
}

std::optional<limit_use> limit_at::use() const
{
	box_uses boxes;
	std::map<unsigned, double> each;

	add_used(boxes);
	add_capacity(boxes);
	for (const auto &[number, use] : boxes)
		each[number] = use.share();
	if (limit_.contains("populated"))
		std::erase_if(boxes,
			      [](const auto &one) { return !one.second.ever; });
	std::erase_if(boxes, [](const auto &one) {
		return !std::isfinite(one.second.share());
	});
	if (boxes.empty())
		return std::nullopt;

	limit_use made{
		.name = limit_["name"],
		.one = limit_["one"],
		.unit = limit_["unit"],
		.busy = limit_["busy"],
		.named = limit_.value("named", false),
		.of = limit_.value("of", ""),
		.with = limit_.value("with", std::map<std::string, double>()),
		.boxes = unsigned(boxes.size())};
	box_use all;
	const bool links = limit_["capacity"].contains("fact");

	made.fullest_share = -1;
	for (const auto &[number, use] : boxes) {
		for (const auto &[way, value] : use.used)
			all.used[way] += value;
		// Links are the socket's, not a box's.
		all.capacity = (links ? 0 : all.capacity) + use.capacity;
		if (use.share() > made.fullest_share) {
			made.fullest_share = use.share();
			made.fullest = number;
		}
	}

	made.each = std::move(each);
	made.together = all.share();
	made.share =
		limit_["socket"] == "sum" ? made.together : made.fullest_share;
	made.capacity = seconds_ > 0 ? all.capacity / seconds_ : 0;
	return made;
}

std::string percent(double part)
{
	return fmt::format("{:.{}f} %", 100 * part,
			   part > 0 && part < 0.0995 ? 1 : 0);
}

bool is_sum(const limit_use &of)
{
	return of.unit == "B/s";
}

/// "72 % of 63.5 GiB/s, channel 2 is the fullest (75 %)"
std::string text_of(const limit_use &of)
{
	std::string text = percent(of.share);

	if (is_sum(of))
		text += " of " + per_second(of.capacity, "B", true);
	if (!of.of.empty())
		return text + " of " + of.of;
	if (of.boxes < 2 || of.fullest_share <= 0 ||
	    (is_sum(of) && of.fullest_share - of.share < notable))
		return text;
	if (is_sum(of))
		return text + fmt::format(", {} {} is the fullest ({})", of.one,
					  of.fullest,
					  percent(of.fullest_share));
	return text + fmt::format(" ({} {})", of.one, of.fullest);
}

/// Above 1 it limits: as a whole, or one box of it.
double pressure(const limit_use &of)
{
	if (!of.of.empty())
		return of.share / of.busy;
	return std::max(of.share / of.busy,
			of.fullest_share / ((1 + of.busy) / 2));
}

} // namespace

/// What does not change while the machine is the same.
struct limit_uses::capacities {
	explicit capacities(const collector &of)
		: limits(limits_of(of.machine()->generation()))
	{
		for (const uncore::package &one : of.machine()->packages())
			links[one.id] =
				pcie_capacity(of.sysfs(), one).value_or(0);
	}

	json limits;
	std::map<int, double> links; ///< of each socket
};

void limit_uses::take(const collector &of)
{
	auto now = of.counts();

	sockets_.clear();
	if (of.revision() != revision_)
		known_.reset();
	if (!known_ && of.machine())
		known_ = std::make_shared<const capacities>(of);
	if (of.revision() == revision_ && now.size() == before_.size() &&
	    of.machine() && of.problem().empty())
		for (const auto &[socket, links] : known_->links)
			for (const json &limit : known_->limits) {
				const std::string box = limit["box"];
				const double seconds = of.elapsed(box, socket) -
						       elapsed_[{box, socket}];

				if (auto use =
					    limit_at(limit, socket, links,
						     seconds, of, before_, now)
						    .use())
					sockets_[socket].push_back(
						*std::move(use));
			}
	if (known_)
		for (const auto &[socket, links] : known_->links)
			for (const json &limit : known_->limits)
				elapsed_[{limit["box"], socket}] =
					of.elapsed(limit["box"], socket);
	before_ = std::move(now);
	revision_ = of.revision();
}

const limit_use *limit_uses::find(int socket, std::string_view name) const
{
	const auto its = sockets_.find(socket);

	if (its == sockets_.end())
		return nullptr;
	for (const limit_use &one : its->second)
		if (one.name == name)
			return &one;
	return nullptr;
}

namespace {

/// Do the other uses make it matter?
bool matters(const limit_use &use, const std::vector<limit_use> &uses)
{
	return std::all_of(
		use.with.begin(), use.with.end(), [&uses](const auto &least) {
			return std::any_of(
				uses.begin(), uses.end(),
				[&least](const limit_use &other) {
					return other.name == least.first &&
					       other.share >= least.second;
				});
		});
}

} // namespace

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
	const auto full = [&uses](const limit_use &use) {
		return pressure(use) >= 1 && matters(use, uses);
	};

	// Boxes that are full come before a share of something.
	for (const limit_use &use : uses)
		if (full(use) &&
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
		if (&use != limiting &&
		    (use.named || (!use.of.empty() && full(use))))
			verdict.facts.push_back(
				fmt::format("{} {}", use.name, text_of(use)));
	verdict.facts.insert(verdict.facts.end(),
			     std::make_move_iterator(down.begin()),
			     std::make_move_iterator(down.end()));
	return verdict;
}

std::map<int, judgement> limit_uses::verdicts(const collector &of) const
{
	std::map<int, std::vector<std::string>> down;
	std::map<int, judgement> all;

	if (!of.machine())
		return all;
	for (const auto &[box, reason] : of.down()) {
		const auto &[pmu, socket] = box;
		const auto *info =
			uncore::catalogue::of(*of.machine()).box(pmu->box);
		std::string name(info ? info->title : pmu->box);

		if (pmu->instance)
			name += fmt::format(" {}", *pmu->instance);
		down[socket].push_back(fmt::format("{} is {}", name, reason));
	}
	for (const uncore::package &socket : of.machine()->packages()) {
		const auto uses = sockets_.find(socket.id);

		all[socket.id] =
			judge(uses == sockets_.end() ? std::vector<limit_use>()
						     : uses->second,
			      std::move(down[socket.id]));
	}
	return all;
}

json limit_uses::describe(const collector &of) const
{
	json all = json::object();

	for (const auto &[socket, said] : verdicts(of)) {
		json &verdict = all[std::to_string(socket)] = {
			{"limited", said.limited},
			{"head", said.head},
			{"facts", said.facts},
			{"told", said.told},
			{"uses", json::object()}};

		if (const auto uses = sockets_.find(socket);
		    uses != sockets_.end())
			for (const limit_use &use : uses->second)
				verdict["uses"][use.name] = use.share;
	}
	return all;
}

} // namespace cli
