// SPDX-License-Identifier: LGPL-2.1-or-later
// Common base of the objects of uncore.h: a machine, the last message, and
// calls that catch all exceptions.
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

	int status(const result<void> &outcome)
	{
		if (outcome)
			return UNCORE_OK;
		message = outcome.error().message;
		return int(outcome.error().code) + 1;
	}
};

/// Run @p call, which returns a result<void>, and return an enum uncore_status.
/// The object keeps the message of an error.  No exception leaves the C
/// interface: if memory runs out, for example, the status is UNCORE_SYSTEM.
template <class Handle, class F> int guarded(Handle *object, F &&call)
{
	if (!object)
		return UNCORE_INVALID;
	try {
		object->message.clear();
		if (!object->machine)
			return object->status(object->machine.error());
		return object->status(call());
	} catch (const std::exception &problem) {
		try {
			object->message = problem.what();
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

/// Copy an element of a list to the caller's structure, which begins with its
/// size. The caller may be compiled with an older header, whose structure is
/// shorter: copy only as much as it has, and set the size to the number of
/// bytes copied.
template <class Handle, class T>
int copy_out(const Handle *object, const std::vector<T> Handle::*list,
	     size_t index, T *element)
{
	if (!object || !element)
		return UNCORE_INVALID;
	if (index >= (object->*list).size())
		return UNCORE_MISUSE;
	if (element->size < sizeof(element->size))
		return UNCORE_INVALID;

	const size_t size = std::min(element->size, sizeof(T));

	std::memcpy(element, &(object->*list)[index], size);
	element->size = size;
	return UNCORE_OK;
}

} // namespace uncore::c
