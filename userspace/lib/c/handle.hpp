// SPDX-License-Identifier: LGPL-2.1-or-later
// What the objects of uncore.h share: a machine, the last message, and calls
// that no exception leaves.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <uncore/counter_set.hpp>
#include <uncore/error.hpp>
#include <uncore/topology.hpp>
#include <uncore/uncore.h>

namespace uncore::c {

static_assert(int(errc::invalid) + 1 == UNCORE_INVALID);
static_assert(int(errc::no_driver) + 1 == UNCORE_NO_DRIVER);
static_assert(int(errc::system) + 1 == UNCORE_SYSTEM);
static_assert(int(errc::misuse) + 1 == UNCORE_MISUSE);

inline error null_argument(const char *name)
{
	return {errc::invalid, std::string(name) + " is NULL"};
}

/// The base of struct uncore_session and struct uncore_sampler.
struct handle {
	explicit handle(const char *sysfs)
		: machine(topology::read(sysfs ? sysfs : "/sys"))
	{
	}

	result<topology> machine;
	std::string message;

	int status(const result<void> &done)
	{
		if (done)
			return UNCORE_OK;
		message = done.error().message;
		return int(done.error().code) + 1;
	}
};

/// Runs @p call, which returns a result<void>; a failure's message is the
/// handle's, and no exception (memory may run out) leaves it.
template <class Handle, class F> int guarded(Handle *of, F &&call)
{
	if (!of)
		return UNCORE_INVALID;
	try {
		of->message.clear();
		if (!of->machine)
			return of->status(of->machine.error());
		return of->status(call());
	} catch (const std::exception &problem) {
		try {
			of->message = problem.what();
		} catch (const std::exception &) {
		}
		return UNCORE_SYSTEM;
	}
}

/// Make an object of uncore.h; nullptr if memory runs out.
template <class Handle> Handle *make(const char *sysfs)
{
	try {
		return new Handle(sysfs);
	} catch (const std::exception &) {
		return nullptr;
	}
}

/// Copy an element of a list to a caller whose header may be an older one: the
/// structure begins with its size.
template <class Handle, class T>
int copy_out(const Handle *of, const std::vector<T> Handle::*list, size_t index,
	     T *to)
{
	if (!of || !to)
		return UNCORE_INVALID;
	if (index >= (of->*list).size())
		return UNCORE_MISUSE;
	if (to->size < sizeof(to->size))
		return UNCORE_INVALID;

	const size_t size = std::min(to->size, sizeof(T));

	std::memcpy(to, &(of->*list)[index], size);
	to->size = size;
	return UNCORE_OK;
}

} // namespace uncore::c
