// SPDX-License-Identifier: LGPL-2.1-or-later
// Scaling: estimate the count of a multiplexed counter over all of the time,
// and the error of the estimate.
//
// perf reports two times for a counter: enabled, the time for which the program
// wants it to count, and running, the time for which it did count.  A counter
// is multiplexed if it ran for less than its enabled time; the rest of the
// enabled time is unseen.  A stratum (the term of stratified sampling) is the
// growth of a counter between two reads.  The rate of a stratum is its count
// divided by its running time.
//
// The error of a scaled count is that of the unseen time.  Its variance is
//
//     weight * spread + least
//
// where spread is the variance of the counter's rate from read to read, weight
// follows from the enabled and unseen times, and least is the variance that
// remains at a constant rate, if events are independent of one another.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace uncore {

/// Growth of a counter between two reads: its count as the hardware counted it
/// (raw), and its times in nanoseconds.
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
	/// Counts per nanosecond of running time.
	double rate() const { return double(raw) / double(running); }
	/// Scale the count to all of the enabled time.
	double value() const
	{
		return running == enabled ? double(raw)
					  : double(raw) * double(enabled) /
						    double(running);
	}
	/// Enabled time in which the counter did not run.
	double unseen() const { return double(enabled) - double(running); }
};

/// Return the factor by which the spread (variance of the rate) contributes to
/// the variance of a stratum's scaled count.  The comment of class estimator
/// has the derivation.
inline double weight_of(const stratum &s)
{
	return s.unseen() * double(s.enabled);
}
/// Return the variance of a stratum's scaled count at a constant rate.  The
/// count of independent events has a variance equal to the count, so its rate
/// has the variance raw / running^2.
inline double least_of(const stratum &s)
{
	return weight_of(s) * double(s.raw) /
	       (double(s.running) * double(s.running));
}

/// Return the standard error of a scaled count.  A variance of 0 means that no
/// event was seen; the unseen time may have had events, so the error is
/// unknown: not a number.
inline double known_error(double variance)
{
	return variance > 0 ? std::sqrt(variance) : std::nan("");
}

/// Minimum number of pairs of successive rates for an estimate of the spread.
constexpr double enough_pairs = 2;

/// Sum of the strata of a period, the interval or the total.
///
/// A stratum in which the counter did not run has no rate.  It stays open: its
/// enabled time is added to the next stratum, until the counter has run.
struct tally {
	stratum all;  ///< all strata, the open ones included
	stratum open; ///< strata since the counter ran last
	/// Scaled count, and the sums of weight_of() and least_of(), of the
	/// complete strata.
	double value = 0, weight = 0, least = 0;

	/// Add a stratum.
	/// @return the complete stratum: @p next with the open strata before
	/// it; an empty stratum if the counter did not run.
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
	/// Return the scaled count of the period.  The open strata are scaled
	/// by the mean rate of the period, as they have no rate.
	/// @return not a number if the counter was enabled but never ran.
	double scaled() const
	{
		if (!all.running)
			return all.enabled ? std::nan("") : 0;
		if (!open.enabled)
			return value;
		return value + double(open.enabled) * all.rate();
	}
	/// Return the standard error of scaled(): 0 if the counter ran all the
	/// time, not a number if unknown.
	/// @param spread variance of the rate, not a number if unknown.
	double error(double spread) const
	{
		if (all.running >= all.enabled)
			return 0;
		return known_error((weight + weight_of(open)) * spread + least);
	}
};

/// Scaled counts of one counter in the interval and in total, with their
/// errors.  Each stratum is scaled separately: its unseen time gets the rate
/// that was seen in the same stratum, not the mean rate of the whole run.
///
/// Let a stratum have the enabled time t, of which the share f was seen.  The
/// rate of the unseen time differs from the seen rate with variance s^2/(1-f),
/// where s^2 is the variance of the seen rates.  The unseen time is (1-f) t, so
/// the count has the variance ((1-f) t)^2 s^2/(1-f) = (1-f) t^2 s^2.  The
/// factor (1-f) t^2 is weight_of().
///
/// s^2 is half of the mean squared difference of successive rates: a slow drift
/// of the rate changes these differences little.  s^2 is at least the variance
/// of independent events.  The class keeps this part separate, as least_of(),
/// and spread() is the rest of s^2.  With fewer than two differences s^2 is
/// unknown.
class estimator {
public:
	void begin_interval() { interval_ = {}; }
	/// Replace the interval by one stratum.
	void set_interval(const stratum &whole)
	{
		interval_ = {};
		interval_.add(whole);
	}
	/// Add a stratum to the interval and to the total.
	void add(const stratum &next)
	{
		const stratum seen = total_.add(next);

		interval_.add(next);
		// A counter that did not run has no rate to compare.
		if (!seen.running)
			return;
		if (seen.running != seen.enabled && last_.running)
			add_change(seen);
		last_ = seen;
	}

	const tally &total() const { return total_; }
	const tally &interval() const { return interval_; }
	double error() const { return total_.error(spread()); }
	/// Estimate the interval's error, with the spread of all strata since
	/// the session was enabled: an interval alone may have too few.
	double interval_error() const { return interval_.error(spread()); }

private:
	/// Return the variance of the rate without the variance of independent
	/// events; not a number if unknown.
	double spread() const
	{
		if (pairs_ < enough_pairs)
			return std::nan("");
		return std::max(0.0, squares_ / (2 * pairs_) - noise_ / pairs_);
	}
	/// Add the difference between the rates of the last stratum and of this
	/// one.
	void add_change(const stratum &seen)
	{
		double step = seen.rate() - last_.rate();

		squares_ += step * step;
		noise_ += double(seen.raw) /
			  (double(seen.running) * double(seen.running));
		pairs_++;
	}

	tally total_, interval_;
	stratum last_; ///< last complete stratum
	/// Sum of the squared differences of successive rates, sum of the
	/// variances that the rates of independent events have, and number of
	/// differences.
	double squares_ = 0, noise_ = 0, pairs_ = 0;
};

/// Estimate errors of sums of counters, and of functions of several sums, such
/// as a metric.
///
/// The rates of a sum's counters are added up first, and the spread is the
/// variance of this rate.  So boxes whose rates change together have the error
/// of one large box, and boxes that change independently have the smaller error
/// of independent boxes.
///
/// The error of a function of several sums depends on when the sums are
/// counted:
///
/// - Sums whose counters are in the same groups are counted at the same times.
///   Their rates have a covariance, which is estimated like the spread.
/// - Other sums are taken as multiplexed against one another: the first sum is
///   seen while the second is not.  If the traffic grows just when the first
///   sum is seen, the scaled first sum is too large and the scaled second sum
///   too small.  So the errors of the two sums add up in their ratio or
///   difference.
class sum_estimator {
public:
	/// @param counters number of counters of each sum.
	/// @param together for each sum, the index of the first sum that is
	/// counted at the same times; its own index if it is the first.
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
	/// Make the errors of the interval unknown.
	void forget_interval()
	{
		begin_interval();
		interval_open_ = true;
	}
	/// Add a stratum of a sum's counter; flush() takes it into account.
	void add(size_t sum, size_t counter, const stratum &next)
	{
		open_[sums_[sum].first + counter] += next;
	}

	/// Complete a read, after the strata of all counters were added.  If a
	/// counter did not run, the sums have no rate yet: the strata of all
	/// counters stay open, and the next read is added to them.
	void flush()
	{
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

	/// Return the standard error of a function of the sums since the
	/// session was enabled, without open strata; not a number if unknown.
	/// @param gradient derivative of the function by each sum.
	double error(std::span<const double> gradient) const
	{
		return combine(gradient, &sum::total);
	}
	/// Return the standard error of the function in the interval.  The
	/// error is unknown if every read of the interval left strata open.
	double interval_error(std::span<const double> gradient) const
	{
		if (interval_open_ && !interval_flushed_)
			return std::nan("");
		return combine(gradient, &sum::interval);
	}
	size_t size() const { return sums_.size(); }

private:
	/// Totals over the counters of a sum at one read: rate, variance of the
	/// rate for independent events (noise), enabled time, unseen time, and
	/// least_of() of the counters.
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
		/// Return weight_of() for the sum's rate.  The sum's count is
		/// its rate times the mean enabled time of its counters, so the
		/// mean times count here, not the added times.
		double weight(size_t counters) const
		{
			double n = double(std::max<size_t>(counters, 1));

			return unseen / n * enabled / n;
		}
	};
	/// Parts of a sum's variance in a period (see the head of the file),
	/// and the sums of its counters' unseen and enabled times.
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
		size_t first = 0, counters = 0; ///< its part of open_
		totals now, last; ///< last complete read, and the one before
		moment total, interval;
		double noise = 0; ///< sum of totals::noise, for spread()
	};

	std::span<const stratum> parts(const sum &s) const
	{
		return {open_.data() + s.first, s.counters};
	}
	/// Return the totals of a single counter.
	static totals point(const stratum &s)
	{
		double noise =
			double(s.raw) / (double(s.running) * double(s.running));

		return {s.rate(), noise, double(s.enabled), s.unseen(),
			s.unseen() * double(s.enabled) * noise};
	}
	/// Add the products of the changes of all pairs of sums' rates, from
	/// the last read to this one.
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
	/// Return the covariance of two sums' rates; for i == j the variance of
	/// the rate without the variance of independent events, which least
	/// has.
	double spread(size_t i, size_t j) const
	{
		double mean = changes_[i * sums_.size() + j] / (2 * pairs_);

		return i == j ? std::max(0.0, mean - sums_[i].noise / pairs_)
			      : mean;
	}
	/// Return the contribution of two sums to the variance of a function.
	/// @param product of the function's derivatives by the sums: negative
	/// if the function is their ratio or difference.
	double covariance(double product, size_t i, size_t j, const moment &a,
			  const moment &b) const
	{
		const double weight = std::sqrt(a.weight * b.weight);

		if (together_[i] == together_[j])
			return product * weight * spread(i, j);
		// The sums are multiplexed against one another, so their errors
		// have opposite signs and add up for a negative product.  For a
		// positive product they would cancel: the estimate is 0 there,
		// and never reduces the error.  sqrt(odds * odds) is the
		// correlation of two shares of time that exclude each other.
		return std::max(0.0, -product) * weight *
		       std::min(1.0, std::sqrt(a.odds() * b.odds())) *
		       std::sqrt(spread(i, i) * spread(j, j));
	}
	/// Return the standard error of the function with this gradient: the
	/// variance is the sum of covariance() over all pairs, plus least.
	/// @param time period: &sum::total or &sum::interval.
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
	/// Strata of all counters of all sums since the last complete read.
	std::vector<stratum> open_;
	/// Sums of add_changes(), a matrix of sums by sums.
	std::vector<double> changes_;
	double pairs_ = 0; ///< number of changes
	/// A read was complete, since the session was enabled and in the
	/// interval; a read of the interval left strata open.
	bool flushed_ = false, interval_flushed_ = false,
	     interval_open_ = false;
};

} // namespace uncore
