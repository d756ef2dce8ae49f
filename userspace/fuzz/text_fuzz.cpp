// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzz the output of texts that other programs choose, such as names of cgroups and
// tasks: as labels and help texts in both exposition formats, in JSON, and in
// messages.
#include "fuzz.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "exporter/exposition.hpp"
#include "output/document.hpp"
#include "terminal/text.hpp"

using namespace cli;

namespace {

using json = nlohmann::ordered_json;

/// Check a text with the JSON library, which throws if the text is not UTF-8.
bool is_utf8(const std::string &text)
{
	try {
		(void)json(text).dump();
		return true;
	} catch (const json::exception &) {
		return false;
	}
}

/// Check that metrics have a number of lines, and no control characters.
void require_lines(const std::string &text, size_t lines)
{
	require(is_utf8(text), "metrics are UTF-8");
	require(size_t(std::count(text.begin(), text.end(), '\n')) == lines,
		"a text adds no line");
	for (const char c : text)
		require(c == '\n' || (static_cast<unsigned char>(c) >= ' ' &&
				      c != 0x7f),
			"metrics have no control characters");
}

/// Get the value of the only label of metrics in a text.
std::string label_in(const std::string &text)
{
	static constexpr std::string_view before = "\nx_total{name=\"";
	const size_t begin = text.find(before) + before.size();
	std::string value;

	for (size_t i = begin; i < text.size() && text[i] != '"'; i++) {
		if (text[i] == '\\')
			require(text[++i] == '\\' || text[i] == '"',
				"an escape is one of the format's");
		value += text[i];
	}
	return value;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const std::string text(as_text(data, size));
	const std::string clean = printable(text);
	const std::vector<family> families = {{"x",
					       family::kind::counter,
					       "",
					       text,
					       {{{{"name", text}}, 1}}}};

	require(is_utf8(clean), "a printable text is UTF-8");
	require(printable(clean) == clean, "a printable text stays as it is");

	const std::string plain = render(families, exposition::prometheus);
	const std::string open = render(families, exposition::openmetrics);

	require_lines(plain, 3);
	require_lines(open, 4);
	require(label_in(plain) == clean && label_in(open) == clean,
		"a label reads back as the printable text");

	const json document = json::parse(
		document_line({{"list", {text}}, {"members", {{text, text}}}}));

	require(document["list"][0] == clean &&
			document["members"][clean] == clean,
		"JSON has the printable text");
	return 0;
}
