// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Bounded reading of sysfs, and the formats of its files.

#include "sysfs.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.hpp"

namespace uncore {

namespace {

namespace fs = std::filesystem;

constexpr size_t most_text = 64 * 1024;
constexpr size_t most_names = 16 * 1024;
constexpr uint64_t most_cpus = 8192;

class descriptor {
public:
	explicit descriptor(int fd) : fd_(fd) {}
	~descriptor()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;

	int get() const { return fd_; }

private:
	int fd_;
};

std::optional<unsigned> parse_bit(std::string_view text)
{
	const auto bit = parse_number(text);

	if (!bit || *bit > 63)
		return std::nullopt;
	return static_cast<unsigned>(*bit);
}

} // namespace

std::optional<std::string> read_text(const fs::path &file)
{
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	const descriptor fd(open(file.c_str(),
				 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	struct stat status;

	if (fd.get() < 0 || fstat(fd.get(), &status) < 0 ||
	    !S_ISREG(status.st_mode))
		return std::nullopt;

	std::string text;
	// A sysfs file has at most one page; larger files are read in parts.
	char part[4096];

	for (;;) {
		const ssize_t n = read(fd.get(), part, sizeof(part));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return std::nullopt;
		if (n == 0)
			break;
		text.append(part, static_cast<size_t>(n));
		if (text.size() > most_text)
			return std::nullopt;
	}
	while (!text.empty() && (is_space(text.back()) || text.back() == '\0'))
		text.pop_back();
	return text;
}

std::vector<std::string> list_folder(const fs::path &folder)
{
	std::vector<std::string> names;
	std::error_code err;

	for (fs::directory_iterator it(folder, err), end; !err && it != end;
	     it.increment(err)) {
		if (names.size() == most_names)
			break;
		names.push_back(it->path().filename().string());
	}
	std::sort(names.begin(), names.end());
	return names;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text)
{
	std::vector<int> cpus;

	text = trim(text);
	if (text.empty())
		return cpus;
	for (const std::string_view part : split(text, ',')) {
		const auto [begin, end] = cut(part, '-');
		const auto first = parse_number(begin);
		const auto last =
			part.find('-') == part.npos ? first : parse_number(end);

		if (!first || !last || *first > *last || *last >= most_cpus)
			return std::nullopt;
		for (uint64_t cpu = *first; cpu <= *last; cpu++)
			cpus.push_back(static_cast<int>(cpu));
		if (cpus.size() > most_cpus)
			return std::nullopt;
	}
	std::sort(cpus.begin(), cpus.end());
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
	return cpus;
}

std::optional<format_field> parse_format(std::string_view name,
					 std::string_view text)
{
	const auto [word, bits] = cut(trim(text), ':');
	uint64_t seen = 0;
	format_field field;

	field.name = name;
	if (word == "config1")
		field.word = 1;
	else if (word == "config2")
		field.word = 2;
	else if (word != "config")
		return std::nullopt;
	for (const std::string_view part : split(bits, ',')) {
		const auto [begin, end] = cut(part, '-');
		const auto low = parse_bit(begin);
		const auto high =
			part.find('-') == part.npos ? low : parse_bit(end);

		if (!low || !high || *low > *high)
			return std::nullopt;
		const uint64_t mask = (~uint64_t{0} >> (63 - (*high - *low)))
				      << *low;
		if (seen & mask)
			return std::nullopt;
		seen |= mask;
		field.bits.push_back({*low, *high});
	}
	return field;
}

uint64_t format_field::max() const
{
	unsigned width = 0;

	for (const range &part : bits)
		width += part.high - part.low + 1;
	return width == 0 ? 0 : ~uint64_t{0} >> (64 - std::min(width, 64u));
}

uint64_t format_field::place(uint64_t value) const
{
	uint64_t placed = 0;

	for (const range &part : bits) {
		const unsigned width = part.high - part.low + 1;
		const uint64_t mask = ~uint64_t{0} >> (64 - width);

		placed |= (value & mask) << part.low;
		value = width == 64 ? 0 : value >> width;
	}
	return placed;
}

} // namespace uncore
