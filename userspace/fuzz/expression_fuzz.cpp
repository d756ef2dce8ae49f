// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzz metric expressions: parse the input, and evaluate the expression.
#include "fuzz.hpp"

#include <vector>

#include "expression.hpp"

using namespace uncore;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const auto parsed = expression::parse(as_text(data, size));

	if (!parsed) {
		require_clean(parsed.error());
		return 0;
	}

	const auto terms = parsed->terms();

	for (size_t i = 0; i < terms.size(); i++) {
		require(!terms[i].name.empty(), "a term has a name");
		require(terms[i].wants_value || terms[i].wants_sources,
			"a term is used");
		for (size_t j = 0; j < i; j++)
			require(terms[i].name != terms[j].name,
				"a term is there once");
	}
	for (const double value : {0.0, 1.0, -1e300, 3e9}) {
		const std::vector<double> values(terms.size(), value);

		parsed->evaluate(values, values);
	}
	parsed->evaluate({});
	return 0;
}
