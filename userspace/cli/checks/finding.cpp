// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks/finding.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "output/csv.hpp"
#include "output/document.hpp"
#include "terminal/colour.hpp"
#include "terminal/layout.hpp"
#include "terminal/text.hpp"

namespace cli {

namespace {

using json = nlohmann::ordered_json;

const char *word_of(verdict status)
{
	switch (status) {
	case verdict::good:
		return "ok";
	case verdict::note:
		return "note";
	default:
		return "BAD";
	}
}

void print_human(const std::vector<finding> &findings, std::string_view summary)
{
	const size_t columns = columns_of(stdout);

	for (const finding &entry : findings) {
		const std::string word =
			fmt::format("{:4}", word_of(entry.status));
		const std::string head = fmt::format(
			"{}  {:12}  ",
			entry.status == verdict::good	? green(stdout, word)
			: entry.status == verdict::note ? yellow(stdout, word)
							: red(stdout, word),
			entry.subject);

		for (const auto &line : wrap(head, entry.text, columns))
			fmt::print("{}\n", line);
		if (entry.advice.empty())
			continue;
		for (const auto &line :
		     wrap(std::string(20, ' '), "-> " + entry.advice, columns))
			fmt::print("{}\n", dim(stdout, line));
	}
	fmt::print("\n");
	for (const auto &line : wrap("", summary, columns))
		fmt::print("{}\n", line);
}

void print_csv(const std::vector<finding> &findings)
{
	fmt::print("subject,verdict,finding,advice\n");
	for (const finding &entry : findings)
		fmt::print("{}", csv_line({entry.subject,
					   lower(word_of(entry.status)),
					   entry.text, entry.advice}));
}

} // namespace

bool none_bad(const std::vector<finding> &findings)
{
	return std::none_of(findings.begin(), findings.end(),
			    [](const finding &entry) {
				    return entry.status == verdict::bad;
			    });
}

json to_json(const std::vector<finding> &findings)
{
	json checks = json::array();

	for (const finding &entry : findings)
		checks.push_back({{"subject", entry.subject},
				  {"verdict", lower(word_of(entry.status))},
				  {"finding", entry.text},
				  {"advice", entry.advice}});
	return checks;
}

void print(const std::vector<finding> &findings, format form,
	   const uncore::topology &machine, std::string_view summary)
{
	json document;

	switch (form) {
	case format::human:
		print_human(findings, summary);
		break;
	case format::csv:
		print_csv(findings);
		break;
	case format::json:
		document = begin_document("check", &machine);
		document["ready"] = none_bad(findings);
		document["checks"] = to_json(findings);
		fmt::print("{}", document_line(document));
		break;
	}
}

} // namespace cli
