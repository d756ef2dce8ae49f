// SPDX-License-Identifier: LGPL-2.1-or-later
// Scaling: estimate the count of a multiplexed counter over all of the time,
// and the error of the estimate.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace uncore {

/// Count between two reads; times in nanoseconds.
struct stratum {
	uint64_t raw = 0, enabled = 0, running = 0;

	bool operator==(const stratum &) const = default;
	stratum &operator+=(const stratum &addend)
	{
		raw += addend.raw;
		enabled += addend.enabled;
		running += addend.running;
		return *this;
	}
	double rate() const { return double(raw) / double(running); }
	/// Scale the count to all of the enabled time.
	double value() const
	{
		return running == enabled ? double(raw)
					  : double(raw) * double(enabled) /
						    double(running);
	}
	double unseen() const { return double(enabled) - double(running); }
};

/// Weight of the unseen part of a stratum, and its variance if events were
/// independent.
inline double weight_of(const stratum &s)
{
	return s.unseen() * double(s.enabled);
}
inline double least_of(const stratum &s)
{
	return weight_of(s) * double(s.raw) /
	       (double(s.running) * double(s.running));
}

/// Return the standard error of a scaled count, not a number for a variance of
/// 0: no event was seen, but the unseen part of the time may have had events.
inline double known_error(double variance)
{
	return variance > 0 ? std::sqrt(variance) : std::nan("");
}

/// Minimum number of changes for an estimate of a rate's variance.
constexpr double enough_pairs = 2;

/// Sum of the strata of a period.
struct tally {
	stratum all;
	/// Time in which the counter has not run: part of the next stratum.
	stratum open;
	double value = 0, weight = 0, least = 0;

	/// Add a stratum.
	/// @return the stratum that @p next completes; an empty stratum if the
	/// counter did not run.
	stratum add(const stratum &next)
	{
		all += next;
		open += next;
		if (!open.running)
			return {};

		const stratum seen = open;

		open = {};
		value += seen.value();
		if (seen.running != seen.enabled) {
			weight += weight_of(seen);
			least += least_of(seen);
		}
		return seen;
	}
	double scaled() const
	{
		if (!all.running)
			return all.enabled ? std::nan("") : 0;
		if (!open.enabled)
			return value;
		return value + double(open.enabled) * all.rate();
	}
	/// @param spread variance of the rates, not a number if unknown.
	double error(double spread) const
	{
		if (all.running >= all.enabled)
			return 0;
		return known_error((weight + weight_of(open)) * spread + least);
	}
};

/// Sum up strata, each scaled separately: a phase of a program without a count
/// is then filled in from its neighbours in time.
///
/// For a stratum of time t of which f was seen, the rate of the unseen part
/// differs from the seen rate with variance s^2/(1-f), where s^2 is the
/// variance of the seen rates; so the count's variance is (1-f) t^2 s^2.  s^2
/// is half of the mean squared difference of successive rates, which does not
/// take a slow drift for noise, and at least the variance of independent
/// events.  With fewer than two such differences s^2 is unknown.
class estimator {
public:
	void begin_interval() { interval_ = {}; }
	void add(const stratum &next)
	{
		const stratum seen = total_.add(next);

		interval_.add(next);
		if (!seen.running)
			return;
		if (seen.running != seen.enabled && last_.running)
			add_change(seen);
		last_ = seen;
	}

	const tally &total() const { return total_; }
	const tally &interval() const { return interval_; }
	double error() const { return total_.error(spread()); }
	/// Estimate the interval's error with the spread since the beginning.
	double interval_error() const { return interval_.error(spread()); }

private:
	/// Return the variance of the rates beyond that of independent events.
	double spread() const
	{
		if (pairs_ < enough_pairs)
			return std::nan("");
		return std::max(0.0, squares_ / (2 * pairs_) - noise_ / pairs_);
	}
	void add_change(const stratum &seen)
	{
		double step = seen.rate() - last_.rate();

		squares_ += step * step;
		noise_ += double(seen.raw) /
			  (double(seen.running) * double(seen.running));
		pairs_++;
	}

	tally total_, interval_;
	stratum last_;
	double squares_ = 0, noise_ = 0, pairs_ = 0;
};

/// Estimate errors of sums of counters, and of functions of several sums. Rates
/// are added up first: the changes of the sum's rate make its error.  Boxes
/// that change in step have the error of one large box; other boxes have the
/// error of independent boxes.
///
/// If two sums are counted at the same times, their changes add up (or cancel)
/// in a function of both sums.  If two sums are multiplexed against one
/// another, the first sum is seen while the second is not: an excess of the
/// first is a deficit of the second.  A ratio or difference of the two sums has
/// the error of the traffic's change from turn to turn.
class sum_estimator {
public:
	/// @param counters number of counters of each sum.
	/// @param together for each sum, the number of the first sum that is
	/// counted at the same times, possibly its own number.
	sum_estimator(std::span<const size_t> counters,
		      std::span<const size_t> together)
		: together_(together.begin(), together.end()),
		  sums_(counters.size()),
		  changes_(counters.size() * counters.size())
	{
		for (size_t i = 0, first = 0; i < sums_.size(); i++) {
			sums_[i].first = first;
			first += sums_[i].counters = counters[i];
			open_.resize(first);
		}
	}

	void begin_interval()
	{
		for (sum &s : sums_)
			s.interval = {};
		interval_flushed_ = interval_open_ = false;
	}
	/// Add a stratum of a sum's counter.
	void add(size_t sum, size_t counter, const stratum &next)
	{
		open_[sums_[sum].first + counter] += next;
	}

	/// Complete a read, after all counters were added.
	void flush()
	{
		// A counter has not run: its time goes to the next stratum.
		for (const stratum &s : open_)
			if (s.enabled && !s.running) {
				interval_open_ = true;
				return;
			}

		bool unseen = false;

		for (sum &s : sums_) {
			s.last = s.now;
			s.now = {};
			for (const stratum &part : parts(s))
				if (part.running)
					s.now += point(part);
			s.total += {s.now.weight(s.counters), s.now.least,
				    s.now.unseen, s.now.enabled};
			s.interval += {s.now.weight(s.counters), s.now.least,
				       s.now.unseen, s.now.enabled};
			unseen |= s.now.unseen > 0;
		}
		open_.assign(open_.size(), {});
		if (unseen && flushed_)
			add_changes();
		flushed_ = interval_flushed_ = true;
	}

	/// Return the standard error of the function with this @p gradient by
	/// the sums, over all complete reads; not a number if unknown.
	double error(std::span<const double> gradient) const
	{
		return combine(gradient, &sum::total);
	}
	double interval_error(std::span<const double> gradient) const
	{
		if (interval_open_ && !interval_flushed_)
			return std::nan("");
		return combine(gradient, &sum::interval);
	}
	size_t size() const { return sums_.size(); }

private:
	/// Totals over a sum's counters at one read.
	struct totals {
		double rate = 0, noise = 0, enabled = 0, unseen = 0, least = 0;

		totals &operator+=(const totals &addend)
		{
			rate += addend.rate;
			noise += addend.noise;
			enabled += addend.enabled;
			unseen += addend.unseen;
			least += addend.least;
			return *this;
		}
		double weight(size_t counters) const
		{
			double n = double(std::max<size_t>(counters, 1));

			return unseen / n * enabled / n;
		}
	};
	struct moment {
		double weight = 0, least = 0, unseen = 0, enabled = 0;

		moment &operator+=(const moment &addend)
		{
			weight += addend.weight;
			least += addend.least;
			unseen += addend.unseen;
			enabled += addend.enabled;
			return *this;
		}
		/// Return the ratio of seen to unseen time.
		double odds() const
		{
			return unseen > 0 ? enabled / unseen - 1 : 0;
		}
	};
	struct sum {
		size_t first = 0, counters = 0;
		totals now, last;
		moment total, interval;
		double noise = 0;
	};

	std::span<const stratum> parts(const sum &s) const
	{
		return {open_.data() + s.first, s.counters};
	}
	static totals point(const stratum &s)
	{
		double noise =
			double(s.raw) / (double(s.running) * double(s.running));

		return {s.rate(), noise, double(s.enabled), s.unseen(),
			s.unseen() * double(s.enabled) * noise};
	}
	void add_changes()
	{
		for (size_t i = 0; i < sums_.size(); i++) {
			sums_[i].noise += sums_[i].now.noise;
			for (size_t j = 0; j < sums_.size(); j++)
				changes_[i * sums_.size() + j] +=
					(sums_[i].now.rate -
					 sums_[i].last.rate) *
					(sums_[j].now.rate -
					 sums_[j].last.rate);
		}
		pairs_++;
	}
	/// Return the covariance of two sums' rates, without the variance of
	/// independent events.
	double spread(size_t i, size_t j) const
	{
		double mean = changes_[i * sums_.size() + j] / (2 * pairs_);

		return i == j ? std::max(0.0, mean - sums_[i].noise / pairs_)
			      : mean;
	}
	/// Return the covariance for the product of two gradients.
	double covariance(double product, size_t i, size_t j, const moment &a,
			  const moment &b) const
	{
		const double weight = std::sqrt(a.weight * b.weight);

		if (together_[i] == together_[j])
			return product * weight * spread(i, j);
		// The sums are multiplexed against one another, which never
		// reduces the estimated error of their sum.
		return std::max(0.0, -product) * weight *
		       std::min(1.0, std::sqrt(a.odds() * b.odds())) *
		       std::sqrt(spread(i, i) * spread(j, j));
	}
	double combine(std::span<const double> gradient,
		       moment sum::*time) const
	{
		double variance = 0, least = 0;
		bool unseen = false;

		for (size_t i = 0; i < sums_.size(); i++) {
			if (gradient[i] == 0)
				continue;

			const moment &a = sums_[i].*time;

			unseen |= a.unseen > 0;
			least += gradient[i] * gradient[i] * a.least;
			for (size_t j = 0; j < sums_.size(); j++)
				if (gradient[j] != 0 && pairs_ >= enough_pairs)
					variance += covariance(
						gradient[i] * gradient[j], i, j,
						a, sums_[j].*time);
		}
		if (unseen && pairs_ < enough_pairs)
			return std::nan("");
		variance = std::max(0.0, variance) + least;
		return unseen ? known_error(variance) : std::sqrt(variance);
	}

	std::vector<size_t> together_;
	std::vector<sum> sums_;
	std::vector<stratum> open_;
	std::vector<double> changes_;
	double pairs_ = 0;
	bool flushed_ = false, interval_flushed_ = false,
	     interval_open_ = false;
};

} // namespace uncore
