// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metric expressions, in the syntax of perf's metrics:
///
/// - numbers, + - * / %, & | ^ of whole numbers, < > <= >= == !=, ( )
/// - min(a, b, ...), max(a, b, ...), d_ratio(a, b) (a / b, or 0 if b is 0)
/// - a if b else c
/// - events as PMU@EVENT@, with a backslash before , and =; or as PMU/EVENT/
/// - source_count(event): the number of counters whose sum is the event's value
/// - other names: events without a PMU (duration_time), other metrics, and
///   values that metric.cpp defines (#num_packages)
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
	/// An event or a name in an expression.
	struct term {
		/// "imc/cas_count.rd/", an event string without escapes; or
		/// a bare name, "duration_time".
		std::string name;
		bool is_event = false;	    ///< was written with @
		bool wants_sources = false; ///< appears in source_count()
		bool wants_value = false;   ///< appears outside source_count()
	};

	/// Parse an expression.  Errors: errc::invalid with the position.
	static result<expression> parse(std::string_view text);

	/// Replace names in the text of an expression by formulas, each in
	/// parentheses.
	/// @param replacement returns the formula; empty for a name that stays.
	/// Errors: of parse() and of @p replacement.
	static result<std::string>
	substitute(std::string_view text,
		   const std::function<result<std::string>(const term &)>
			   &replacement);

	/// Check for mistakes that parse() accepts: a division that is always
	/// by 0, and the product of source_count() and #num_packages, which
	/// perf needs.
	/// Errors: errc::invalid.
	result<void> check() const;

	/// List the distinct terms, in order of appearance.
	std::span<const term> terms() const;

	/// Evaluate the expression.
	/// @param values of the terms, in the order of terms().
	/// @param sources for each term, the number of counters whose sum is
	/// its value; for source_count().
	/// @return the value; not a number after a division by 0.
	double evaluate(std::span<const double> values,
			std::span<const double> sources = {}) const;

	struct step;

private:
	std::shared_ptr<const std::vector<step>> steps_;
	std::shared_ptr<const std::vector<term>> terms_;
};

} // namespace uncore
