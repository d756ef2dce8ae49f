// SPDX-License-Identifier: GPL-2.0-or-later
// Reads recordings of any size: the lines are checked one by one, and where
// each snapshot is is all that is remembered.
#include "serve/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include "exporter/die_map.hpp"
#include "exporter/limits.hpp"
#include "output/document.hpp"

namespace cli {

using json = nlohmann::ordered_json;
using uncore::errc;

namespace {

/// What a browser can hold: some five hours of a machine of two sockets.
constexpr uint64_t usual_bytes = 64 << 20;
/// What a compressed recording may become: weeks.
constexpr uint64_t most_unpacked = uint64_t(16) << 30;
/// The first line of the largest machine has less.
constexpr size_t most_line = 16 << 20;
constexpr size_t most_boxes = 4096, most_counters = 16384;

bool is_text(const json &of, const char *name)
{
	return of.is_object() && of.contains(name) && of[name].is_string();
}

bool is_number(const json &of, const char *name)
{
	return of.is_object() && of.contains(name) && of[name].is_number();
}

bool is_index(const json &of, const char *name, size_t end)
{
	return of.is_object() && of.contains(name) &&
	       of[name].is_number_unsigned() && of[name].get<size_t>() < end;
}

bool is_list(const json &of, const char *name, size_t most)
{
	return of.is_object() && of.contains(name) && of[name].is_array() &&
	       of[name].size() <= most;
}

bool is_box(const json &one)
{
	return is_number(one, "socket") && is_text(one, "pmu") &&
	       is_text(one, "box") && is_text(one, "title");
}

bool is_counter(const json &one, size_t boxes, size_t series)
{
	return is_index(one, "box", boxes) && is_text(one, "event") &&
	       is_index(one, "series", series) && is_number(one, "factor") &&
	       is_number(one, "most") && one.contains("labels") &&
	       one["labels"].is_object();
}

/// Can the page draw a machine from that?
bool is_machine(const json &of)
{
	if (!of.contains("machine") || !of["machine"].is_object() ||
	    !is_list(of, "sockets", 64) || !is_list(of, "boxes", most_boxes) ||
	    !is_list(of, "series", 256) ||
	    !is_list(of, "counters", most_counters))
		return false;

	const auto all = [](const json &list, auto &&good) {
		return std::all_of(list.begin(), list.end(), good);
	};

	return all(of["sockets"],
		   [](const json &one) { return is_number(one, "id"); }) &&
	       all(of["boxes"], is_box) &&
	       all(of["series"],
		   [](const json &one) {
			   return is_text(one, "name") && is_text(one, "unit");
		   }) &&
	       all(of["counters"], [&of](const json &one) {
		       return is_counter(one, of["boxes"].size(),
					 of["series"].size());
	       });
}

/// A snapshot that comes after the one before, with a count or null for each
/// counter, or with a problem instead.
bool is_snapshot(const json &one, size_t counters, double &seconds)
{
	if (!is_number(one, "seconds") || !is_number(one, "time") ||
	    one["seconds"].get<double>() <= seconds)
		return false;
	if (!is_text(one, "problem")) {
		if (!one.contains("counts") || !one["counts"].is_array() ||
		    one["counts"].size() != counters)
			return false;
		for (const json &count : one["counts"])
			if (!count.is_number() && !count.is_null())
				return false;
	}
	if (one.contains("shared") && !one["shared"].is_object())
		return false;
	seconds = one["seconds"];
	return true;
}

/// Those of an object's parts that have no parts: what else there is may be
/// as deep as it likes, and is not looked at.
json only(const json &of, std::initializer_list<const char *> names)
{
	json made = json::object();

	for (const char *name : names)
		if (of.contains(name) && of[name].is_primitive())
			made[name] = of[name];
	return made;
}

json only_all(const json &list, std::initializer_list<const char *> names)
{
	json made = json::array();

	for (const json &one : list)
		made.push_back(only(one, names));
	return made;
}

/// What the page knows of a machine.
json known_of(const json &header)
{
	json made = only(header, {"format", "version", "program"});

	made["machine"] =
		only(header["machine"],
		     {"host", "model", "generation", "title", "driver"});
	made["sockets"] = only_all(header["sockets"],
				   {"id", "cpus", "pcie_bytes_per_second"});
	made["boxes"] = only_all(header["boxes"],
				 {"socket", "pmu", "box", "title", "number"});
	made["series"] = only_all(header["series"], {"name", "unit", "help"});
	made["counters"] =
		only_all(header["counters"],
			 {"box", "event", "series", "factor", "most"});
	made["limits"] = limits_of(
		is_text(made["machine"], "generation")
			? made["machine"]["generation"].get<std::string>()
			: "");
	for (size_t i = 0; i < made["counters"].size(); i++) {
		json &labels = made["counters"][i]["labels"] = json::object();

		for (const auto &[name, value] :
		     header["counters"][i]["labels"].items())
			if (value.is_string())
				labels[name] = value;
	}
	return made;
}

std::string text_of(const json &machine, const char *name)
{
	return is_text(machine, name) ? machine[name].get<std::string>() : "";
}

/// Of what it was recorded on, where that is not this machine.
std::string foreign(const json &machine)
{
	const std::string generation = text_of(machine, "generation");
	const json here = describe_host(generation);

	for (const char *name : {"host", "model"})
		if (text_of(machine, name) != text_of(here, name))
			return fmt::format(
				"it was recorded on another machine: {}, {}",
				text_of(machine, "host"),
				text_of(machine, "model"));
	return "";
}

uncore::error no_recording(const std::string &path, const char *why)
{
	return {errc::invalid,
		fmt::format(
			"{}: {}; 'uncore record --series FILE' makes recordings",
			path, why)};
}

uncore::error file_error(const std::string &path)
{
	return {errc::system, fmt::format("{}: {}", path, strerror(errno))};
}

bool write_unpacked(int fd, const char *from, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		size -= size_t(n);
	}
	return true;
}

struct stream_closer {
	void operator()(ZSTD_DCtx *stream) const { ZSTD_freeDCtx(stream); }
};

/// Unpacks a file into one without a name.  One that is cut short or damaged
/// gives what comes before.
uncore::result<unique_fd> unpack(int from, const std::string &path)
{
	const char *folder = std::getenv("TMPDIR");
	const std::string where = folder && *folder ? folder : "/var/tmp";
	unique_fd made(
		open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	std::unique_ptr<ZSTD_DCtx, stream_closer> stream(ZSTD_createDCtx());
	std::vector<char> in(ZSTD_DStreamInSize()), out(ZSTD_DStreamOutSize());
	uint64_t written = 0;

	if (!made)
		return file_error(where);
	while (const ssize_t n = ::read(from, in.data(), in.size())) {
		if (n < 0)
			return file_error(path);

		ZSTD_inBuffer given = {in.data(), size_t(n), 0};

		while (given.pos < given.size) {
			ZSTD_outBuffer taken = {out.data(), out.size(), 0};
			const size_t rest = ZSTD_decompressStream(
				stream.get(), &taken, &given);

			if (ZSTD_isError(rest))
				return made;
			written += taken.pos;
			if (written > most_unpacked)
				return no_recording(
					path,
					"it has more than 16 GiB when it is decompressed");
			if (!write_unpacked(made.get(), out.data(), taken.pos))
				return file_error(where);
		}
	}
	return made;
}

bool is_zstd(int fd)
{
	static constexpr unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char begin[sizeof(magic)];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) &&
	       !std::memcmp(begin, magic, sizeof(magic));
}

/// Goes through a file's lines.
class line_reader {
public:
	explicit line_reader(int fd) : fd_(fd), part_(1 << 20) {}

	/// @return whether there was one.  One that is too long is empty.
	bool next(std::string &line)
	{
		line.clear();
		at_ = read_;
		whole_ = too_long_ = false;
		for (;;) {
			if (used_ == size_ && !fill())
				return read_ > at_;

			const char *begin = part_.data() + used_;
			const char *end = static_cast<const char *>(
				std::memchr(begin, '\n', size_ - used_));
			const size_t n =
				end ? size_t(end - begin) : size_ - used_;

			if (line.size() + n <= most_line)
				line.append(begin, n);
			else
				too_long_ = true;
			used_ += n + (end != nullptr);
			read_ += n + (end != nullptr);
			if (end) {
				whole_ = true;
				if (too_long_)
					line.clear();
				return true;
			}
		}
	}
	/// Of the last one: where it is, and whether it has an end.
	uint64_t at() const { return at_; }
	bool whole() const { return whole_; }
	bool too_long() const { return too_long_; }
	bool failed() const { return failed_; }

private:
	bool fill()
	{
		ssize_t n;

		do
			n = pread(fd_, part_.data(), part_.size(),
				  off_t(read_));
		while (n < 0 && errno == EINTR);
		failed_ |= n < 0;
		used_ = 0;
		size_ = n > 0 ? size_t(n) : 0;
		return n > 0;
	}

	int fd_;
	std::vector<char> part_;
	size_t used_ = 0, size_ = 0;
	uint64_t read_ = 0, at_ = 0;
	bool whole_ = false, too_long_ = false, failed_ = false;
};

} // namespace

/// What a recording is made of.
class recording_reader {
public:
	uncore::result<recording> read(unique_fd file, const std::string &path);

private:
	void take(const std::string &line, const line_reader &from);
	void choose_usual();
	void conclude(const std::string &path);

	recording made_;
	json topology_;
	double seconds_ = -1;
	uint64_t bytes_ = 0;
	size_t damaged_ = 0;
	bool ended_ = false, partial_ = false;
};

void recording_reader::take(const std::string &line, const line_reader &from)
{
	const json one = json::parse(line, nullptr, false);

	if (one.is_object() && one.contains("end")) {
		ended_ = from.whole();
		return;
	}
	if (!is_snapshot(one, topology_["counters"].size(), seconds_)) {
		// The last one may just not have been written to its end.
		if (from.whole())
			damaged_++;
		else
			partial_ = true;
		return;
	}
	made_.lines_.push_back({from.at(), uint32_t(line.size())});
	bytes_ += line.size() + 1;
}

/// Counts are totals: where snapshots are left out, rates are of a longer time
/// and as right as before.
void recording_reader::choose_usual()
{
	const size_t step = size_t(bytes_ / usual_bytes) + 1;

	made_.usual_ = {0, step, (made_.size() + step - 1) / step};
	if (step > 1)
		made_.notices_.push_back(fmt::format(
			"it has {} snapshots, of which one of {} is shown",
			made_.size(), step));
}

void recording_reader::conclude(const std::string &path)
{
	auto &say = made_.notices_;
	const json &version = topology_["version"];

	if (!version.is_number() || version.get<double>() > series_version)
		say.push_back(
			"a newer version of uncore has written it: only the parts that this version knows are shown");
	if (std::string of = foreign(topology_["machine"]); !of.empty())
		say.push_back(std::move(of));
	if (!ended_)
		say.push_back(
			fmt::format("it is cut short{}: what there is is shown",
				    partial_ ? ", within a line" : ""));
	if (damaged_)
		say.push_back(fmt::format("{} line{} damaged and left out",
					  damaged_,
					  damaged_ == 1 ? " is" : "s are"));
	if (!made_.size())
		say.push_back("there are no counts in it");
	choose_usual();
	topology_["replay"] = {
		{"file", std::filesystem::path(path).filename().string()},
		{"snapshots", made_.usual_.count},
		{"recorded", made_.size()},
		{"step", made_.usual_.step},
		{"notices", say}};
	made_.topology_ = dump(topology_, -1);
}

uncore::result<recording> recording_reader::read(unique_fd file,
						 const std::string &path)
{
	line_reader lines(file.get());
	std::string line;

	lines.next(line);
	topology_ = json::parse(line, nullptr, false);
	if (!is_text(topology_, "format") ||
	    topology_["format"] != series_format ||
	    !is_number(topology_, "version"))
		return no_recording(path, "not a recording");
	if (!is_machine(topology_))
		return no_recording(
			path,
			"its first line, which has the machine, is damaged");
	topology_ = known_of(topology_);
	while (lines.next(line)) {
		if (!line.empty())
			take(line, lines);
		damaged_ += lines.too_long();
	}
	if (lines.failed())
		return file_error(path);
	made_.file_ = std::move(file);
	conclude(path);
	return std::move(made_);
}

uncore::result<recording> recording::read(const std::string &path)
{
	unique_fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
	struct stat status {};

	if (!file || fstat(file.get(), &status))
		return file_error(path);
	if (!S_ISREG(status.st_mode))
		return no_recording(path, "it is not a regular file");
	if (is_zstd(file.get())) {
		auto plain = unpack(file.get(), path);

		if (!plain)
			return plain.error();
		file = *std::move(plain);
	}
	return recording_reader().read(std::move(file), path);
}

/// Reads snapshots as they are taken.
class snapshot_source : public http_source {
public:
	snapshot_source(const recording &of, recording::part which)
		: of_(of), next_(which.from),
		  step_(std::max<size_t>(which.step, 1)), left_(which.count)
	{
	}

	ssize_t read(char *to, size_t most) override
	{
		size_t n = 0;

		while (n < most && (sent_ < line_.size() || begin_line()))
			while (n < most && sent_ < line_.size()) {
				const size_t part =
					line_.copy(to + n, most - n, sent_);

				n += part;
				sent_ += part;
			}
		return failed_ && !n ? -1 : ssize_t(n);
	}

private:
	bool begin_line()
	{
		if (!left_ || failed_ || next_ >= of_.lines_.size())
			return false;

		const auto &[at, size] = of_.lines_[next_];

		line_.resize(size);
		sent_ = 0;
		// The file may have become shorter since.
		failed_ = pread(of_.file_.get(), line_.data(), size,
				off_t(at)) != ssize_t(size);
		if (failed_)
			line_.clear();
		else
			line_ += '\n';
		left_--;
		next_ += std::min(step_, of_.lines_.size());
		return !failed_;
	}

	const recording &of_;
	size_t next_, step_, left_, sent_ = 0;
	std::string line_;
	bool failed_ = false;
};

std::shared_ptr<http_source> recording::snapshots(part which) const
{
	return std::make_shared<snapshot_source>(*this, which);
}

} // namespace cli
