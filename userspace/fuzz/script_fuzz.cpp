// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzz the reader of perf script's text, which has names of other users' tasks and
// programs.
#include "fuzz.hpp"
#include "perf/script.hpp"
#include "text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::string_view text = as_text(data, size);
	cli::script_reader script([](const cli::script_sample &sample) {
		require(!sample.event.empty(), "a sample has an event");
		require(sample.period >= 0, "a period is not negative");
		for (const char c : sample.stack)
			require(static_cast<unsigned char>(c) >= ' ' &&
					c != 0x7f,
				"a stack has no control characters");
	});

	while (!text.empty()) {
		const auto [line, rest] = uncore::cut(text, '\n');

		script.add(line);
		text = rest;
	}
	script.end();
	return 0;
}
