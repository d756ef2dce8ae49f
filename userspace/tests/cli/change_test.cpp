// SPDX-License-Identifier: GPL-2.0-or-later
// Test the test for a difference between two measured numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "counting/change.hpp"

using namespace cli;

static constexpr double infinite = std::numeric_limits<double>::infinity();
static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

TEST(change, of_exact_numbers)
{
	EXPECT_EQ(probability_of({5, 0, 3}, {5, 0, 3}), 1);
	EXPECT_EQ(probability_of({5, 0, 3}, {6, 0, infinite}), 0);
	EXPECT_EQ(probability_of({0.1 + 0.2, 0, infinite}, {0.3, 0, infinite}),
		  1);
	EXPECT_EQ(probability_of({0, 0, infinite}, {1e-9, 0, infinite}), 0);
}

TEST(change, of_unknown_numbers)
{
	EXPECT_TRUE(std::isnan(probability_of({5, unknown, 3}, {6, 1, 3})));
	EXPECT_TRUE(std::isnan(probability_of({5, 1, 3}, {unknown, 1, 3})));
}

TEST(change, by_the_normal_distribution)
{
	const double sd = 1 / std::sqrt(2);

	EXPECT_NEAR(probability_of({0, sd, infinite}, {1.959964, sd, infinite}),
		    0.05, 1e-7);
	EXPECT_NEAR(probability_of({0, 1, infinite}, {-2.575829, 0, infinite}),
		    0.01, 1e-8);
}

TEST(change, by_students_distribution)
{
	// Quantiles of printed tables of Student's t, two-sided.
	static constexpr struct {
		double freedom, t, probability;
	} rows[] = {{1, 12.706, 0.05}, {1, 63.657, 0.01},  {2, 4.303, 0.05},
		    {4, 2.776, 0.05},  {4, 4.604, 0.01},   {10, 3.169, 0.01},
		    {30, 2.042, 0.05}, {120, 2.617, 0.01}, {4, 0.741, 0.5}};

	for (const auto &row : rows)
		EXPECT_NEAR(probability_of({10, 1, row.freedom},
					   {10 + row.t, 0, 1}) /
				    row.probability,
			    1, 2e-3)
			<< row.freedom;
	// Equal errors and freedoms: Welch's degrees of freedom are their sum.
	EXPECT_NEAR(probability_of({0, 1, 5}, {3.169 * std::sqrt(2), 1, 5}),
		    0.01, 1e-5);
	// Far from any doubt, without loss of all digits.
	const double tiny = probability_of({0, 1, 9}, {1000, 0, 9});

	EXPECT_GT(tiny, 0);
	EXPECT_LT(tiny, 1e-20);
}
