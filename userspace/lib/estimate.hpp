// SPDX-License-Identifier: LGPL-2.1-or-later
// Scaling: what a counter would have counted, had it run all of the time, and
// how far off that may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace uncore {

/// What was counted between two reads; times in nanoseconds.
struct stratum {
	uint64_t raw = 0, enabled = 0, running = 0;

	bool operator==(const stratum &) const = default;
	stratum &operator+=(const stratum &more)
	{
		raw += more.raw;
		enabled += more.enabled;
		running += more.running;
		return *this;
	}
	double rate() const { return double(raw) / double(running); }
	/// Scaled to all of the time.
	double value() const
	{
		return running == enabled ? double(raw)
					  : double(raw) * double(enabled) /
						    double(running);
	}
	double unseen() const { return double(enabled) - double(running); }
};

/// Sums up strata, each of which is scaled by itself: a phase of a program that
/// went unseen is then filled in from its own neighbourhood.
///
/// For a stratum of time t of which f was seen, the rate of the unseen part
/// differs from that of the seen part with variance s^2/(1-f), where s^2 is the
/// variance of the seen rates; so the count's variance is (1-f) t^2 s^2.  s^2
/// is half of the mean squared difference of successive rates, which does not
/// take a slow drift for noise, and at least that of independent events.
class estimator {
public:
	void add(const stratum &next)
	{
		all_ += next;
		// Nothing seen: the time goes to the next stratum.
		open_ += next;
		if (!open_.running)
			return;
		value_ += open_.value();
		if (open_.running != open_.enabled)
			add_uncertainty();
		last_ = open_;
		open_ = {};
	}

	double value() const
	{
		if (!all_.running)
			return all_.enabled ? std::nan("") : 0;
		if (!open_.enabled)
			return value_;
		return value_ + double(open_.enabled) * all_.rate();
	}
	double error() const { return std::sqrt(weight_ * spread() + least_); }
	/// Of one stratum, with the spread that has been seen so far.
	double error_of(const stratum &s) const
	{
		if (!s.running || s.running >= s.enabled)
			return 0;
		return std::sqrt(weight(s) * spread() + least(s));
	}
	const stratum &all() const { return all_; }

private:
	static double weight(const stratum &s)
	{
		return s.unseen() * double(s.enabled);
	}
	/// The variance that independent events would have.
	static double least(const stratum &s)
	{
		return weight(s) * double(s.raw) /
		       (double(s.running) * double(s.running));
	}
	/// Variance of the rates, beyond that of independent events.
	double spread() const
	{
		double mean = pairs_ ? squares_ / (2 * pairs_) : 0;

		return std::max(0.0, mean - (pairs_ ? noise_ / pairs_ : 0));
	}
	void add_uncertainty()
	{
		weight_ += weight(open_);
		least_ += least(open_);
		if (!last_.running)
			return;

		double step = open_.rate() - last_.rate();

		squares_ += step * step;
		noise_ += double(open_.raw) /
			  (double(open_.running) * double(open_.running));
		pairs_++;
	}

	/// All of them, the one before, and the one that has not been seen yet.
	stratum all_, last_, open_;
	double value_ = 0;
	double weight_ = 0, least_ = 0, squares_ = 0, noise_ = 0;
	uint64_t pairs_ = 0;
};

} // namespace uncore
