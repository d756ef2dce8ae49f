// SPDX-License-Identifier: GPL-2.0-or-later
// The test for a difference between two measured numbers.
#pragma once

namespace cli {

/// A mean of several runs, or the number of one run.
struct measured_number {
	double value;
	/// Standard error; not a number if it is unknown.
	double error;
	/// Degrees of freedom of the error: runs - 1.  Infinite for an error
	/// that was not estimated from runs.
	double freedom;
};

/// Return the probability of a difference as large as that of @p a and @p b, or
/// larger, in measurements of the same quantity (Welch's t-test).
/// @return not a number if an error is unknown; 0 for any difference without an
/// error.
double probability_of(const measured_number &a, const measured_number &b);

} // namespace cli
