// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Results of functions that can fail: a value or an error.  The library throws
/// no exceptions, except std::bad_alloc.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace uncore {

/// Codes of failure, for programs.  error::message has the details, for the
/// user.
enum class errc {
	invalid,     ///< a malformed string or argument
	not_found,   ///< no such event, metric, PMU, field or value
	conflict,    ///< events that can never be counted together
	permission,  ///< the kernel refuses the call to this user
	unsupported, ///< the driver or the hardware lacks the feature
	no_driver,   ///< no uncore PMU on this machine
	gone,	     ///< a CPU or a device disappeared
	system,	     ///< any other failed system call
	misuse,	     ///< a call in the wrong state, as read() before open()
};

/// A failure.  @c message is one line without a final full stop or newline: the
/// cause and, if known, the remedy.
struct error {
	errc code = errc::system;
	std::string message;
};

/// End the program, because it took the value of an error or the error of a
/// value. With NDEBUG, assert() would continue, with undefined behaviour.
[[noreturn]] inline void misused_result(const char *what, const char *message)
{
	std::fprintf(stderr, "libuncore: %s%s\n", what, message);
	std::abort();
}

/// Either a value or an error; test it before use.  Taking the value of an
/// error, or the error of a value, ends the program with a message.
template <class T> class [[nodiscard]] result {
public:
	result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
	result(uncore::error failure)
		: state_(std::in_place_index<1>, std::move(failure))
	{
	}

	explicit operator bool() const { return state_.index() == 0; }

	T &operator*() & { return const_cast<T &>(std::as_const(*this).get()); }
	const T &operator*() const & { return get(); }
	/// Return the value, not a reference: in "for (x : *function())" the
	/// result of the function is destroyed before the loop begins.
	T operator*() && { return std::move(**this); }
	T *operator->() { return &**this; }
	const T *operator->() const { return &get(); }

	/// The error; the result must not have a value.
	const uncore::error &error() const
	{
		if (const auto *failure = std::get_if<1>(&state_))
			return *failure;
		misused_result("error() of a result that has a value", "");
	}

private:
	const T &get() const
	{
		if (const auto *value = std::get_if<0>(&state_))
			return *value;
		misused_result("the value was taken of a result that is an "
			       "error: ",
			       std::get_if<1>(&state_)->message.c_str());
	}

	std::variant<T, uncore::error> state_;
};

/// Success or an error.
template <> class [[nodiscard]] result<void> {
public:
	result() = default;
	result(uncore::error failure)
		: failed_(true), failure_(std::move(failure))
	{
	}

	explicit operator bool() const { return !failed_; }
	const uncore::error &error() const
	{
		if (!failed_)
			misused_result("error() of a result that is none", "");
		return failure_;
	}

private:
	bool failed_ = false;
	uncore::error failure_;
};

} // namespace uncore
