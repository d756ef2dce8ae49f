// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes that are taken one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace cli {

/// Asking for more than there is makes it bad, and gives zeros.
class byte_reader {
public:
	byte_reader(const char *at, size_t size) : at_(at), left_(size) {}

	template <class T> T take()
	{
		T value{};

		if (left_ < sizeof(T)) {
			good_ = false;
			left_ = 0;
			return value;
		}
		std::memcpy(&value, at_, sizeof(T));
		skip(sizeof(T));
		return value;
	}
	/// Text up to a zero byte, in a field of @p most bytes.
	std::string text(size_t most)
	{
		size_t room = std::min(most, left_);
		std::string taken(at_, strnlen(at_, room));

		skip(room);
		return taken;
	}
	/// The rest, up to a zero.
	std::string text() { return text(left_); }
	void skip(size_t size)
	{
		good_ &= size <= left_;
		size = std::min(size, left_);
		at_ += size;
		left_ -= size;
	}
	/// The next ones, which are not taken.
	byte_reader first(size_t size) const
	{
		return {at_, std::min(size, left_)};
	}
	/// The last ones.
	byte_reader last(size_t size) const
	{
		size = std::min(size, left_);
		return {at_ + left_ - size, size};
	}
	bool good() const { return good_; }
	size_t left() const { return left_; }
	const char *data() const { return at_; }

private:
	const char *at_;
	size_t left_;
	bool good_ = true;
};

} // namespace cli
