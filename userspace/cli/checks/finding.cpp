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

const char *word_of(verdict what)
{
	switch (what) {
	case verdict::good:
		return "ok";
	case verdict::note:
		return "note";
	default:
		return "BAD";
	}
}

void print_human(const std::vector<finding> &findings, std::string_view last)
{
	const size_t columns = columns_of(stdout);

	for (const finding &one : findings) {
		const std::string word = fmt::format("{:4}", word_of(one.what));
		const std::string head = fmt::format(
			"{}  {:12}  ",
			one.what == verdict::good   ? green(stdout, word)
			: one.what == verdict::note ? yellow(stdout, word)
						    : red(stdout, word),
			one.subject);

		for (const auto &line : wrap(head, one.text, columns))
			fmt::print("{}\n", line);
		if (one.advice.empty())
			continue;
		for (const auto &line : wrap(std::string(20, ' '),
					     "-> " + one.advice, columns))
			fmt::print("{}\n", dim(stdout, line));
	}
	fmt::print("\n");
	for (const auto &line : wrap("", last, columns))
		fmt::print("{}\n", line);
}

void print_csv(const std::vector<finding> &findings)
{
	fmt::print("subject,verdict,finding,advice\n");
	for (const finding &one : findings)
		fmt::print("{}",
			   csv_line({one.subject, lower(word_of(one.what)),
				     one.text, one.advice}));
}

} // namespace

bool none_bad(const std::vector<finding> &findings)
{
	return std::none_of(
		findings.begin(), findings.end(),
		[](const finding &one) { return one.what == verdict::bad; });
}

json to_json(const std::vector<finding> &findings)
{
	json checks = json::array();

	for (const finding &one : findings)
		checks.push_back({{"subject", one.subject},
				  {"verdict", lower(word_of(one.what))},
				  {"finding", one.text},
				  {"advice", one.advice}});
	return checks;
}

void print(const std::vector<finding> &findings, format form,
	   const uncore::topology &machine, std::string_view last)
{
	json document;

	switch (form) {
	case format::human:
		print_human(findings, last);
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
