// SPDX-License-Identifier: LGPL-2.1-or-later
// Compare the library's catalogue with the driver's tables. Both are generated from the
// same files, but by different code, and must have the same events.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include <uncore/catalogue.hpp>
#include <uncore/event.hpp>
#include <uncore/topology.hpp>

#include "expression.hpp"
#include "tree.hpp"

// The structures of the driver that the generated tables use.
struct unc_event_info {
	unsigned code = 0, ctrs = 0, max_inc = 0;
	bool of_ctr0 = false;
};
struct unc_text {
	const char *name = nullptr, *text = nullptr;
	bool common = false;
};

namespace {

#include "hswep_events.h"

} // namespace

using namespace uncore;

namespace {

struct box_tables {
	std::span<const unc_text> events;
	std::span<const unc_event_info> info;
};

const std::map<std::string, box_tables> kernel = {
#define BOX(name)                                                  \
	{                                                          \
#name,                                             \
		{                                                  \
			hswep_##name##_events, hswep_##name##_info \
		}                                                  \
	}
	BOX(ubox), BOX(cbox), BOX(sbox), BOX(ha),     BOX(imc),
	BOX(irp),  BOX(pcu),  BOX(qpi),	 BOX(r2pcie), BOX(r3qpi),
#undef BOX
};

/// Converts an event's text, "event=0x34,umask=0x11", to config, config1 and config2,
/// with the driver's format files and without the library's code.
class plain_reader {
public:
	plain_reader(const tree &recorded, std::string folder)
		: recorded_(recorded), folder_(std::move(folder))
	{
	}

	std::array<uint64_t, 3> read(const std::string &text) const
	{
		std::array<uint64_t, 3> words = {0, 0, 0};
		std::istringstream terms(text);
		std::string term;

		while (std::getline(terms, term, ',')) {
			const size_t equals = term.find('=');
			const std::string value = term.substr(equals + 1);

			place(term.substr(0, equals),
			      std::stoull(value, nullptr, 0), words);
		}
		return words;
	}

private:
	void place(const std::string &field, uint64_t value,
		   std::array<uint64_t, 3> &words) const
	{
		const std::string format =
			recorded_.read(folder_ + "/format/" + field);
		const size_t colon = format.find(':');
		const size_t word =
			format[6] == ':' ? 0 : size_t(format[6] - '0');
		std::istringstream ranges(format.substr(colon + 1));
		std::string range;
		unsigned bit = 0;

		while (std::getline(ranges, range, ',')) {
			const size_t dash = range.find('-');
			const unsigned low = std::stoul(range);
			const unsigned high =
				dash == range.npos
					? low
					: std::stoul(range.substr(dash + 1));

			for (unsigned place = low; place <= high; place++, bit++)
				words[word] |= (value >> bit & 1) << place;
		}
		EXPECT_EQ(bit < 64 ? value >> bit : 0, 0u) << field;
	}

	const tree &recorded_;
	std::string folder_;
};

const pmu_info &first_of(const topology &machine, std::string_view box)
{
	for (const pmu_info &pmu : machine.pmus())
		if (pmu.box == box)
			return pmu;
	throw std::runtime_error("no box " + std::string(box));
}

/// Get a value for a field that sets no reserved bits. filter_addr has the address of a
/// cache line, and the lowest bits of match0 and mask0 are 0.
std::string some_value(std::string_view field)
{
	if (field == "filter_addr")
		return "0x40";
	return field == "match0" || field == "mask0" ? "8" : "1";
}

/// Replace the parameters in an event's text, "filter_opc=?", by values.
/// @return the event's name with these values, as a user writes the event
std::string with_values(const event_info &info, std::string &text)
{
	std::string terms(info.name);

	for (const std::string_view parameter : info.parameters) {
		const std::string open = std::string(parameter) + "=?";
		const std::string given =
			std::string(parameter) + '=' + some_value(parameter);

		text.replace(text.find(open), open.size(), given);
		terms += ',' + given;
	}
	return terms;
}

} // namespace

TEST(catalogue, is_the_kernels)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	const catalogue &known = catalogue::standard();
	size_t checked = 0;

	for (const auto &[box, tables] : kernel) {
		const pmu_info &pmu = first_of(machine, box);
		const plain_reader reader(recorded, devices + pmu.name);

		std::map<std::string, std::string> texts;

		for (const unc_text &file : tables.events)
			EXPECT_TRUE(texts.emplace(file.name, file.text).second);

		for (const unc_text &event : tables.events) {
			const std::string name = event.name;

			if (name.ends_with(".unit") || name.ends_with(".scale"))
				continue;

			const event_info *info = known.event(box, name);

			ASSERT_TRUE(info) << box << '/' << name;
			EXPECT_EQ(info->terms, event.text);
			EXPECT_EQ(info->unit, texts[name + ".unit"]);

			const std::string scale = texts[name + ".scale"];

			EXPECT_DOUBLE_EQ(info->scale,
					 scale.empty() ? 1 : std::stod(scale));

			std::string text = event.text;
			const std::string terms = with_values(*info, text);
			const auto groups = parse_events(
				pmu.name + '/' + terms + '/', machine);

			ASSERT_TRUE(groups) << groups.error().message;

			const auto &parsed = groups->front().terms[0].events[0];
			const auto words = reader.read(text);

			EXPECT_EQ(parsed.config, words[0]) << terms;
			EXPECT_EQ(parsed.config1, words[1]) << terms;
			EXPECT_EQ(parsed.config2, words[2]) << terms;
			EXPECT_EQ(parsed.info, info) << terms;
			checked++;
		}
	}
	EXPECT_EQ(checked, known.events().size());
	EXPECT_GT(checked, 1000u);
}

/// The catalogue has config, config1 and config2 of events without parameters.
TEST(catalogue, has_the_words)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();

	for (const event_info &info : catalogue::standard().events()) {
		if (!info.parameters.empty())
			continue;

		const pmu_info &pmu = first_of(machine, info.box);
		const auto words = plain_reader(recorded, devices + pmu.name)
					   .read(std::string(info.terms));

		EXPECT_EQ(info.config, words[0]) << info.name;
		EXPECT_EQ(info.config1, words[1]) << info.name;
		EXPECT_EQ(info.config2, words[2]) << info.name;
	}
}

TEST(catalogue, has_the_counters)
{
	const catalogue &known = catalogue::standard();

	for (const event_info &info : known.events()) {
		if ((info.config & 0xff) == 0xff) {
			EXPECT_EQ(info.counters, 0u) << info.name;
			continue;
		}

		const uint64_t code =
			(info.config & 0xff) | (info.config >> 21 & 1) << 8;
		bool has_row = false;

		for (const unc_event_info &row :
		     kernel.at(std::string(info.box)).info) {
			if (row.code != code)
				continue;
			has_row = true;
			EXPECT_EQ(info.counters, row.ctrs) << info.name;
			EXPECT_LE(info.max_increment, row.max_inc) << info.name;
			EXPECT_GE(info.max_increment, 1u) << info.name;
		}
		EXPECT_TRUE(has_row) << info.box << '/' << info.name;
	}
	EXPECT_EQ(known.event("cbox", "tor_occupancy.opcode")->counters, 1u);
	EXPECT_EQ(known.event("ha", "conflict_cycles")->counters, 2u);
}

TEST(catalogue, has_the_fields_that_the_driver_publishes)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	size_t checked = 0;

	for (const field_info &info : catalogue::standard().fields()) {
		const pmu_info &pmu = first_of(machine, info.box);

		EXPECT_EQ(recorded.read(devices + pmu.name + "/format/" +
					std::string(info.name)),
			  std::string(info.bits) + "\n")
			<< info.box;
		checked++;
	}

	size_t published = 0;

	for (const box_info &box : catalogue::standard().boxes())
		published += first_of(machine, box.name).formats.size();
	EXPECT_EQ(checked, published);
}

TEST(catalogue, every_metrics_events_resolve)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	size_t checked = 0;

	for (const metric_info &metric : catalogue::standard().metrics()) {
		const auto formula = expression::parse(metric.expression);

		ASSERT_TRUE(formula) << formula.error().message;
		for (const expression::term &term : formula->terms()) {
			const auto groups = parse_events(term.name, machine);

			ASSERT_TRUE(groups) << metric.name << ": "
					    << groups.error().message;
			if (!term.is_event)
				continue;

			const auto &events = groups->front().terms[0].events;
			size_t boxes = 0;

			for (const pmu_info &pmu : machine.pmus())
				boxes += pmu.box == metric.box;
			EXPECT_EQ(events.size(), boxes) << term.name;
		}
		checked++;
	}
	EXPECT_EQ(checked, catalogue::standard().metrics().size());
	EXPECT_GT(checked, 100u);
}

TEST(catalogue, every_value_fits)
{
	const tree recorded("hswep");
	const topology machine = recorded.topology();
	std::set<std::string> fields;

	for (const value_info &value : catalogue::standard().values()) {
		const pmu_info &pmu = first_of(machine, value.box);
		const format_field *field = pmu.field(value.field);

		ASSERT_TRUE(field) << value.field;
		EXPECT_LE(value.value, field->max()) << value.name;
		fields.insert(std::string(value.box) + '/' +
			      std::string(value.field));
		EXPECT_EQ(value.combines, value.field == "filter_state");
		EXPECT_FALSE(value.description.empty());
	}
	EXPECT_EQ(fields,
		  (std::set<std::string>{"cbox/filter_opc", "cbox/filter_state",
					 "ha/filter_opc", "qpi/match_mc",
					 "qpi/match_opc"}));
}

TEST(catalogue, look_ups)
{
	const catalogue &known = catalogue::standard();

	EXPECT_EQ(catalogue::find("hswep"), &known);
	EXPECT_EQ(catalogue::generations().front(), "hswep");
	EXPECT_EQ(known.title(), "Haswell-EP/EX");
	EXPECT_FALSE(catalogue::find("uncore"));
	EXPECT_FALSE(catalogue::find(""));
	EXPECT_EQ(known.generation(), "hswep");
	EXPECT_TRUE(known.event("CBOX", "LLC_LOOKUP.Any"));
	EXPECT_FALSE(known.event("cbox", "llc_lookup."));
	EXPECT_FALSE(known.event("cbox", ""));
	EXPECT_FALSE(known.event("", "clockticks"));
	EXPECT_FALSE(known.event("zbox", "clockticks"));
	ASSERT_TRUE(known.value("cbox", "filter_opc", "rfo"));
	EXPECT_EQ(known.value("cbox", "filter_opc", "rfo")->value, 0x180u);
	EXPECT_FALSE(known.value("imc", "filter_opc", "rfo"));
	EXPECT_TRUE(known.metric("mem_bw_reads"));
	EXPECT_FALSE(known.metric("mem_bw"));
	for (const char *group : {"memory", "llc", "qpi", "power", "pcie"})
		EXPECT_FALSE(known.metrics_of_group(group).empty()) << group;
	EXPECT_TRUE(known.metrics_of_group("nonsense").empty());
	EXPECT_EQ(known.metrics_of_group("memory").front()->name,
		  "mem_bw_reads_rate");
	EXPECT_EQ(known.nearest_metrics("mem_bw_raeds", 1),
		  std::vector<std::string_view>{"mem_bw_reads"});
	EXPECT_EQ(known.nearest_events("imc", "dclok", 1),
		  std::vector<std::string_view>{"dclk"});
	EXPECT_TRUE(known.nearest_events("imc", "").empty());
}

TEST(catalogue, metrics_are_whole)
{
	for (const metric_info &metric : catalogue::standard().metrics()) {
		EXPECT_FALSE(metric.groups.empty()) << metric.name;
		EXPECT_FALSE(metric.description.empty()) << metric.name;
		EXPECT_GT(metric.scale, 0) << metric.name;
	}

	const metric_info *share =
		catalogue::standard().metric("llc_drd_miss_pct");

	ASSERT_TRUE(share);
	EXPECT_EQ(share->scale, 100);
	EXPECT_EQ(share->unit, "%");
	// Hits and misses need different values of filter_state in the same register.
	EXPECT_FALSE(share->one_group);
	EXPECT_TRUE(catalogue::standard().metric("mem_bw_total")->one_group);
	EXPECT_FALSE(catalogue::standard()
			     .metric("avg_tor_drd_hit_latency")
			     ->one_group);
}

TEST(catalogue, generations)
{
	for (const std::string_view name : catalogue::generations()) {
		const catalogue *known = catalogue::find(name);

		ASSERT_TRUE(known) << name;
		EXPECT_EQ(known->generation(), name);
		EXPECT_FALSE(known->title().empty()) << name;
		EXPECT_FALSE(known->events().empty()) << name;
		EXPECT_EQ(&catalogue::of(topology::blank(name)), known);
		// The binary search of event() needs sorted events.
		for (const event_info &info : known->events())
			EXPECT_EQ(known->event(info.box, info.name), &info)
				<< name << ' ' << info.box << '/' << info.name;
	}
	EXPECT_EQ(&catalogue::of(topology::blank("skylake")),
		  &catalogue::standard());
	EXPECT_FALSE(catalogue::find("xeon7100")->box("cbox"));
	EXPECT_TRUE(catalogue::find("bdwep")->box("sbox"));
}
