// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metric expressions, in the syntax of perf's metrics: numbers, + - * / %, & |
/// ^ of whole numbers, < > <= >= == !=, ( ), min(a, b), max(a, b), d_ratio(a,
/// b) (0 where b is 0), a if b else c, events as PMU@EVENT@ with , and =
/// escaped by a backslash, source_count(event) (the number of counters that the
/// event's value is the sum of), and names of plain events (duration_time), of
/// other metrics, or of what the caller knows (#num_packages).
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
	/// Errors: errc::invalid with the position.
	static result<expression> parse(std::string_view text);

	/// What an expression's names stand for.
	struct term {
		/// "imc/cas_count.rd/", an event string without escapes; or
		/// a bare name, "duration_time".
		std::string name;
		bool is_event = false;	    ///< was written with @
		bool wants_sources = false; ///< appears in source_count()
		bool wants_value = false;
	};
	/// Each once, in order of appearance.
	std::span<const term> terms() const;

	/// @param values by index of terms().  @param sources likewise, how
	/// many counters each value is the sum of.
	/// @return the value; not a number where something is divided by 0.
	double evaluate(std::span<const double> values,
			std::span<const double> sources = {}) const;

	struct step;

private:
	std::shared_ptr<const std::vector<step>> steps_;
	std::shared_ptr<const std::vector<term>> terms_;
};

} // namespace uncore
