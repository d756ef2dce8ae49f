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

/// The same for sums of counters, and for functions of several sums: rates are
/// added up first, and it is the sum's rate whose changes make its error. Boxes
/// that change in step so have the error of one large box, and boxes that do
/// not have what independent ones have.  Changes of two sums go together (or
/// against one another) in a function of both, if both are seen at the same
/// times.
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
			if (s.enabled && !s.running)
				return;

		bool unseen = false;

		for (sum &s : sums_) {
			s.last = s.now;
			s.now = {};
			for (const stratum &part : parts(s))
				if (part.running)
					s.now += point(part);
			s.weight += s.now.weight(s.counters);
			s.least += s.now.least;
			unseen |= s.now.unseen > 0;
		}
		open_.assign(open_.size(), {});
		if (unseen && flushed_)
			add_changes();
		flushed_ = true;
	}

	/// Standard error of the function that grows by @p gradient for each
	/// sum's 1, over all that was flushed.
	double error(std::span<const double> gradient) const
	{
		return combine(gradient, [](const sum &s) {
			return moment{s.weight, s.least};
		});
	}
	/// The same over one stratum: @p part gives counter @p c of sum @p s.
	template <class Part>
	double error_of(std::span<const double> gradient, Part &&part) const
	{
		return combine(gradient, [&](const sum &s) {
			size_t index = &s - sums_.data();
			totals all;

			for (size_t c = 0; c < s.counters; c++)
				if (stratum one = part(index, c); one.running)
					all += point(one);
			return moment{all.weight(s.counters), all.least};
		});
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
	struct sum {
		size_t first = 0, counters = 0;
		totals now, last;
		double weight = 0, least = 0, noise = 0;
	};
	struct moment {
		double weight, least;
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
		if (!pairs_ || together_[i] != together_[j])
			return 0;

		double mean = changes_[i * sums_.size() + j] / (2 * pairs_);

		return i == j ? std::max(0.0, mean - sums_[i].noise / pairs_)
			      : mean;
	}
	template <class Moment>
	double combine(std::span<const double> gradient, Moment &&of) const
	{
		double variance = 0, least = 0;

		for (size_t i = 0; i < sums_.size(); i++) {
			if (gradient[i] == 0)
				continue;

			const moment mi = of(sums_[i]);

			least += gradient[i] * gradient[i] * mi.least;
			for (size_t j = 0; j < sums_.size(); j++)
				if (gradient[j] != 0)
					variance +=
						gradient[i] * gradient[j] *
						std::sqrt(mi.weight *
							  of(sums_[j]).weight) *
						spread(i, j);
		}
		return std::sqrt(std::max(0.0, variance) + least);
	}

	std::vector<size_t> together_;
	std::vector<sum> sums_;
	std::vector<stratum> open_;
	std::vector<double> changes_;
	double pairs_ = 0;
	bool flushed_ = false;
};

} // namespace uncore
