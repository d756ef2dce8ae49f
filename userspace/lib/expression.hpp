// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metric expressions, in the syntax of perf's metrics: numbers, + - * / %, & |
/// ^ of whole numbers, < > <= >= == !=, ( ), min(a, b), max(a, b), d_ratio(a,
/// b) (0 where b is 0), a if b else c, events as PMU@EVENT@ with , and =
/// escaped by a backslash, source_count(event) (the number of counters that the
/// event's value is the sum of), and names of plain events (duration_time), of
/// other metrics, or of values of the caller (#num_packages).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace uncore {

class expression {
public:
	/// Parse an expression.  Errors: errc::invalid with the position.
	static result<expression> parse(std::string_view text);

	/// An event or a name in an expression.
	struct term {
		/// "imc/cas_count.rd/", an event string without escapes; or
		/// a bare name, "duration_time".
		std::string name;
		bool is_event = false;	    ///< was written with @
		bool wants_sources = false; ///< appears in source_count()
		bool wants_value = false;
	};
	/// List the distinct terms, in order of appearance.
	std::span<const term> terms() const;

	/// Evaluate the expression.
	/// @param values of the terms, by index of terms().
	/// @param sources number of counters in each value, likewise.
	/// @return the value; not a number after a division by 0.
	double evaluate(std::span<const double> values,
			std::span<const double> sources = {}) const;

	struct step;

private:
	std::shared_ptr<const std::vector<step>> steps_;
	std::shared_ptr<const std::vector<term>> terms_;
};

} // namespace uncore
