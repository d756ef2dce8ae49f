// SPDX-License-Identifier: LGPL-2.1-or-later
// Scaling: what a counter would have counted, had it run all of the time, and
// how far off that may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

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

/// How much the unseen part of a stratum weighs, and the variance that
/// independent events would have in it.
inline double weight_of(const stratum &s)
{
	return s.unseen() * double(s.enabled);
}
inline double least_of(const stratum &s)
{
	return weight_of(s) * double(s.raw) /
	       (double(s.running) * double(s.running));
}

/// The standard error of a scaled count. A variance of 0 means that no event
/// was seen: the unseen part of the time may have had events, so that the error
/// is unknown.
inline double known_error(double variance)
{
	return variance > 0 ? std::sqrt(variance) : std::nan("");
}

/// As many changes as it takes to know how much a rate changes.
constexpr double enough_pairs = 2;

/// Strata of some time, added up.
struct tally {
	stratum all;
	/// Not seen yet: the time goes to the next stratum.
	stratum open;
	double value = 0, weight = 0, least = 0;

	/// @return the stratum that is complete with @p next, unless nothing of
	/// it was seen.
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
	/// @param spread variance of the rates, not a number where unknown.
	double error(double spread) const
	{
		if (all.running >= all.enabled)
			return 0;
		return known_error((weight + weight_of(open)) * spread + least);
	}
};

/// Sum up strata, each scaled separately: a phase of a program that was not counted
/// is then filled in from its neighbours in time.
///
/// For a stratum of time t of which f was seen, the rate of the unseen part
/// differs from that of the seen part with variance s^2/(1-f), where s^2 is the
/// variance of the seen rates; so the count's variance is (1-f) t^2 s^2.  s^2
/// is half of the mean squared difference of successive rates, which does not
/// take a slow drift for noise, and at least that of independent events.  With
/// fewer than two such differences it is unknown.
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
	/// With the spread that has been seen so far.
	double interval_error() const { return interval_.error(spread()); }

private:
	/// Variance of the rates, beyond that of independent events.
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

/// The same for sums of counters, and for functions of several sums: rates are
/// added up first, and it is the sum's rate whose changes make its error. Boxes
/// that change in step so have the error of one large box, and boxes that do
/// not have what independent ones have.  Changes of two sums go together (or
/// against one another) in a function of both, if both are seen at the same
/// times.  Where they are multiplexed against one another, one is seen while
/// the other is not: what the
/// first has too much the second has too little, and a ratio or difference of
/// them has the error of the traffic's change from turn to turn.
class sum_estimator {
public:
	/// @param counters how many counters each sum is of.
	/// @param together for each sum, the number of the first one that is
	/// counted at the same times; its own where there is none.
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
	/// A counter of a sum has been read.
	void add(size_t sum, size_t counter, const stratum &next)
	{
		open_[sums_[sum].first + counter] += next;
	}

	/// All counters have been added.
	void flush()
	{
		// Nothing seen of one: the time goes to the next stratum.
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

	/// Standard error of the function that grows by @p gradient for each
	/// sum's 1, over all that was flushed; not a number where unknown.
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
	/// Of a sum's counters at one time.
	struct totals {
		double rate = 0, noise = 0, enabled = 0, unseen = 0, least = 0;

		totals &operator+=(const totals &more)
		{
			rate += more.rate;
			noise += more.noise;
			enabled += more.enabled;
			unseen += more.unseen;
			least += more.least;
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

		moment &operator+=(const moment &more)
		{
			weight += more.weight;
			least += more.least;
			unseen += more.unseen;
			enabled += more.enabled;
			return *this;
		}
		/// Seen time for each unseen.
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
	/// Covariance of two sums' rates, without what independent events have.
	double spread(size_t i, size_t j) const
	{
		double mean = changes_[i * sums_.size() + j] / (2 * pairs_);

		return i == j ? std::max(0.0, mean - sums_[i].noise / pairs_)
			      : mean;
	}
	/// Of the product of two gradients.
	double covariance(double product, size_t i, size_t j, const moment &a,
			  const moment &b) const
	{
		const double weight = std::sqrt(a.weight * b.weight);

		if (together_[i] == together_[j])
			return product * weight * spread(i, j);
		// They are multiplexed against one another.  Sums that are
		// added up are not taken to be better for it.
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
