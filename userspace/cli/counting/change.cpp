// SPDX-License-Identifier: GPL-2.0-or-later
#include "counting/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cli {

/// Return the regularized incomplete beta function I_x(a, b), from its
/// continued fraction (Abramowitz and Stegun 26.5.8), evaluated by Lentz's
/// method.  It converges fast for x < (a + 1) / (a + b + 2).
static double incomplete_beta(double a, double b, double x)
{
	constexpr double tiny = 1e-300, precision = 1e-14;
	const auto away_from_0 = [](double value) {
		return std::fabs(value) < tiny ? tiny : value;
	};

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	if (x >= (a + 1) / (a + b + 2))
		return 1 - incomplete_beta(b, a, 1 - x);

	const double front =
		std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
			 a * std::log(x) + b * std::log1p(-x)) /
		a;
	double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1));
	double fraction = d;

	for (int m = 1; m < 1000; m++) {
		const double even =
			m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x /
				   ((a + 2 * m) * (a + 2 * m + 1));

		for (const double term : {even, odd}) {
			d = 1 / away_from_0(1 + term * d);
			c = away_from_0(1 + term / c);
			fraction *= c * d;
		}
		if (std::fabs(c * d - 1) < precision)
			break;
	}
	return front * fraction;
}

/// Return the probability that Student's t is at least @p t away from 0.
static double student(double t, double freedom)
{
	if (std::isinf(freedom))
		return std::erfc(std::fabs(t) / std::sqrt(2));
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double probability_of(const measured_number &a, const measured_number &b)
{
	// Numbers with no error differ by rounding, at least.
	constexpr double rounding = 1e-12;
	const double difference = std::fabs(b.value - a.value);
	const double squares = a.error * a.error + b.error * b.error;

	if (std::isnan(squares) || std::isnan(difference))
		return std::numeric_limits<double>::quiet_NaN();
	if (difference <=
	    rounding * std::max(std::fabs(a.value), std::fabs(b.value)))
		return 1;
	if (squares == 0)
		return 0;

	// Welch and Satterthwaite's degrees of freedom of the sum.
	const double inverse = std::pow(a.error, 4) / a.freedom +
			       std::pow(b.error, 4) / b.freedom;

	return student(difference / std::sqrt(squares),
		       squares * squares / inverse);
}

} // namespace cli
