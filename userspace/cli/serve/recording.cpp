// SPDX-License-Identifier: GPL-2.0-or-later
// Reader of recordings of any size: checks line by line, and keeps only the
// offsets of the snapshots in memory.
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

/// Limit of the snapshots that a page gets, in bytes, as a browser holds them in memory.
/// Five hours of a machine with two sockets are about as large.
constexpr uint64_t usual_bytes = 64 << 20;
/// Limit of a decompressed recording in bytes: weeks of snapshots.
constexpr uint64_t most_unpacked = uint64_t(16) << 30;
/// Limit of a line in bytes.  The longest line, the first, is shorter on the largest
/// machine.
constexpr size_t most_line = 16 << 20;
constexpr size_t most_boxes = 4096, most_counters = 16384;

bool is_text(const json &object, const char *name)
{
	return object.is_object() && object.contains(name) &&
	       object[name].is_string();
}

bool is_number(const json &object, const char *name)
{
	return object.is_object() && object.contains(name) &&
	       object[name].is_number();
}

bool is_index(const json &object, const char *name, size_t end)
{
	return object.is_object() && object.contains(name) &&
	       object[name].is_number_unsigned() &&
	       object[name].get<size_t>() < end;
}

bool is_list(const json &object, const char *name, size_t most)
{
	return object.is_object() && object.contains(name) &&
	       object[name].is_array() && object[name].size() <= most;
}

bool is_box(const json &box)
{
	return is_number(box, "socket") && is_text(box, "pmu") &&
	       is_text(box, "box") && is_text(box, "title");
}

bool is_counter(const json &counter, size_t boxes, size_t series)
{
	return is_index(counter, "box", boxes) && is_text(counter, "event") &&
	       is_index(counter, "series", series) &&
	       is_number(counter, "factor") && is_number(counter, "most") &&
	       counter.contains("labels") && counter["labels"].is_object();
}

/// Check that a header, the first line of a recording, has all that the page needs to draw
/// the machine.
bool is_machine(const json &header)
{
	if (!header.contains("machine") || !header["machine"].is_object() ||
	    !is_list(header, "sockets", 64) ||
	    !is_list(header, "boxes", most_boxes) ||
	    !is_list(header, "series", 256) ||
	    !is_list(header, "counters", most_counters))
		return false;

	const auto every = [](const json &list, auto &&predicate) {
		return std::all_of(list.begin(), list.end(), predicate);
	};

	return every(header["sockets"],
		     [](const json &entry) {
			     return is_number(entry, "id");
		     }) &&
	       every(header["boxes"], is_box) &&
	       every(header["series"],
		     [](const json &entry) {
			     return is_text(entry, "name") &&
				    is_text(entry, "unit");
		     }) &&
	       every(header["counters"], [&header](const json &entry) {
		       return is_counter(entry, header["boxes"].size(),
					 header["series"].size());
	       });
}

/// Check a snapshot: it has a count or null for each counter, or a problem instead of
/// counts, and is later than the snapshot before.
/// @param seconds time of the snapshot before; set to the time of this snapshot.
bool is_snapshot(const json &document, size_t counters, double &seconds)
{
	if (!is_number(document, "seconds") || !is_number(document, "time") ||
	    document["seconds"].get<double>() <= seconds)
		return false;
	if (!is_text(document, "problem")) {
		if (!document.contains("counts") ||
		    !document["counts"].is_array() ||
		    document["counts"].size() != counters)
			return false;
		for (const json &count : document["counts"])
			if (!count.is_number() && !count.is_null())
				return false;
	}
	if (document.contains("shared") && !document["shared"].is_object())
		return false;
	seconds = document["seconds"];
	return true;
}

/// Copy the named values of an object, if they are numbers, texts, booleans or null.
/// Objects and lists, which could be nested deeply, are left out.
json copy_values(const json &source, std::initializer_list<const char *> names)
{
	json copy = json::object();

	for (const char *name : names)
		if (source.contains(name) && source[name].is_primitive())
			copy[name] = source[name];
	return copy;
}

json copy_list(const json &list, std::initializer_list<const char *> names)
{
	json copies = json::array();

	for (const json &entry : list)
		copies.push_back(copy_values(entry, names));
	return copies;
}

/// Copy the parts of a header that the page reads.
json machine_of(const json &header)
{
	json machine = copy_values(header, {"format", "version", "program"});

	machine["machine"] =
		copy_values(header["machine"],
			    {"host", "model", "generation", "title", "driver"});
	machine["sockets"] = copy_list(header["sockets"],
				       {"id", "cpus", "pcie_bytes_per_second"});
	machine["boxes"] = copy_list(
		header["boxes"], {"socket", "pmu", "box", "title", "number"});
	machine["series"] =
		copy_list(header["series"], {"name", "unit", "help"});
	machine["counters"] =
		copy_list(header["counters"],
			  {"box", "event", "series", "factor", "most"});

	const std::string generation =
		is_text(machine["machine"], "generation")
			? machine["machine"]["generation"].get<std::string>()
			: "";

	machine["limits"] = limits_of(generation);
	add_roles(machine, generation);
	for (size_t i = 0; i < machine["counters"].size(); i++) {
		json &labels = machine["counters"][i]["labels"] =
			json::object();

		for (const auto &[name, value] :
		     header["counters"][i]["labels"].items())
			if (value.is_string())
				labels[name] = value;
	}
	return machine;
}

std::string text_of(const json &machine, const char *name)
{
	return is_text(machine, name) ? machine[name].get<std::string>() : "";
}

/// Return a notice if a recording is of another machine than this machine; else "".
std::string foreign_notice(const json &machine)
{
	const std::string generation = text_of(machine, "generation");
	const json this_machine = describe_host(generation);

	for (const char *name : {"host", "model"})
		if (text_of(machine, name) != text_of(this_machine, name))
			return fmt::format(
				"it was recorded on another machine: {}, {}",
				text_of(machine, "host"),
				text_of(machine, "model"));
	return "";
}

uncore::error no_recording(const std::string &path, const char *reason)
{
	return {errc::invalid,
		fmt::format(
			"{}: {}; 'uncore record --series FILE' makes recordings",
			path, reason)};
}

uncore::error file_error(const std::string &path)
{
	return {errc::system, fmt::format("{}: {}", path, strerror(errno))};
}

bool write_unpacked(int fd, const char *data, size_t size)
{
	while (size) {
		const ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		size -= size_t(n);
	}
	return true;
}

struct stream_closer {
	void operator()(ZSTD_DCtx *stream) const { ZSTD_freeDCtx(stream); }
};

/// Decompress a file into a file without a name.  A truncated or damaged file
/// yields the data before the damage.
uncore::result<unique_fd> unpack(int source_fd, const std::string &path)
{
	const char *folder = std::getenv("TMPDIR");
	const std::string directory = folder && *folder ? folder : "/var/tmp";
	unique_fd file(
		open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	std::unique_ptr<ZSTD_DCtx, stream_closer> stream(ZSTD_createDCtx());
	std::vector<char> in(ZSTD_DStreamInSize()), out(ZSTD_DStreamOutSize());
	uint64_t written = 0;

	if (!file)
		return file_error(directory);
	while (const ssize_t n = ::read(source_fd, in.data(), in.size())) {
		if (n < 0)
			return file_error(path);

		ZSTD_inBuffer input = {in.data(), size_t(n), 0};

		while (input.pos < input.size) {
			ZSTD_outBuffer output = {out.data(), out.size(), 0};
			const size_t rest = ZSTD_decompressStream(
				stream.get(), &output, &input);

			if (ZSTD_isError(rest))
				return file;
			written += output.pos;
			if (written > most_unpacked)
				return no_recording(
					path,
					"it has more than 16 GiB when it is decompressed");
			if (!write_unpacked(file.get(), out.data(), output.pos))
				return file_error(directory);
		}
	}
	return file;
}

bool is_zstd(int fd)
{
	static constexpr unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char begin[sizeof(magic)];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) &&
	       !std::memcmp(begin, magic, sizeof(magic));
}

/// Reader of the lines of a file.
class line_reader {
public:
	explicit line_reader(int fd) : fd_(fd), part_(1 << 20) {}

	/// Read the next line; a line that is too long is empty.
	/// @return whether there was a line.
	bool next(std::string &line)
	{
		line.clear();
		offset_ = read_;
		whole_ = too_long_ = false;
		for (;;) {
			if (used_ == size_ && !fill())
				return read_ > offset_;

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
	/// Offset of the last line, and whether the line ends with a newline.
	uint64_t offset() const { return offset_; }
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
	uint64_t read_ = 0, offset_ = 0;
	bool whole_ = false, too_long_ = false, failed_ = false;
};

} // namespace

/// Builder of a recording from the lines of a file.
class recording_reader {
public:
	uncore::result<recording> read(unique_fd file, const std::string &path);

private:
	void take(const std::string &line, const line_reader &reader);
	void choose_usual();
	void conclude(const std::string &path);

	recording recording_;
	json topology_;
	double seconds_ = -1;
	uint64_t bytes_ = 0;
	size_t damaged_ = 0;
	bool ended_ = false, partial_ = false;
};

void recording_reader::take(const std::string &line, const line_reader &reader)
{
	const json document = json::parse(line, nullptr, false);

	if (document.is_object() && document.contains("end")) {
		ended_ = reader.whole();
		return;
	}
	if (!is_snapshot(document, topology_["counters"].size(), seconds_)) {
		// The last line is incomplete if the recording was cut short.
		if (reader.whole())
			damaged_++;
		else
			partial_ = true;
		return;
	}
	recording_.lines_.push_back({reader.offset(), uint32_t(line.size())});
	bytes_ += line.size() + 1;
}

/// Choose the range that a browser can hold: of a long recording, each second, third, ...
/// snapshot.  Counts are totals since the start, so that without the other snapshots rates
/// are still right, over a longer time.
void recording_reader::choose_usual()
{
	const size_t step = size_t(bytes_ / usual_bytes) + 1;

	recording_.usual_ = {0, step, (recording_.size() + step - 1) / step};
	if (step > 1)
		recording_.notices_.push_back(fmt::format(
			"it has {} snapshots, of which one of {} is shown",
			recording_.size(), step));
}

void recording_reader::conclude(const std::string &path)
{
	auto &notices = recording_.notices_;
	const json &version = topology_["version"];

	if (!version.is_number() || version.get<double>() > series_version)
		notices.push_back(
			"a newer version of uncore has written it: only the parts that this version knows are shown");
	if (std::string notice = foreign_notice(topology_["machine"]);
	    !notice.empty())
		notices.push_back(std::move(notice));
	if (!ended_)
		notices.push_back(
			fmt::format("it is cut short{}: what there is is shown",
				    partial_ ? ", within a line" : ""));
	if (damaged_)
		notices.push_back(fmt::format("{} line{} damaged and left out",
					      damaged_,
					      damaged_ == 1 ? " is" : "s are"));
	if (!recording_.size())
		notices.push_back("there are no counts in it");
	choose_usual();
	topology_["replay"] = {
		{"file", std::filesystem::path(path).filename().string()},
		{"snapshots", recording_.usual_.count},
		{"recorded", recording_.size()},
		{"step", recording_.usual_.step},
		{"notices", notices}};
	recording_.topology_ = dump(topology_, -1);
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
	topology_ = machine_of(topology_);
	while (lines.next(line)) {
		if (!line.empty())
			take(line, lines);
		damaged_ += lines.too_long();
	}
	if (lines.failed())
		return file_error(path);
	recording_.file_ = std::move(file);
	conclude(path);
	return std::move(recording_);
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

/// Source of an answer that reads each snapshot from the file when the client receives it.
class snapshot_source : public http_source {
public:
	snapshot_source(const recording &source, recording::part range)
		: source_(source), next_(range.from),
		  step_(std::max<size_t>(range.step, 1)),
		  remaining_(range.count)
	{
	}

	ssize_t read(char *buffer, size_t capacity) override
	{
		size_t n = 0;

		while (n < capacity && (sent_ < line_.size() || begin_line()))
			while (n < capacity && sent_ < line_.size()) {
				const size_t part = line_.copy(
					buffer + n, capacity - n, sent_);

				n += part;
				sent_ += part;
			}
		return failed_ && !n ? -1 : ssize_t(n);
	}

private:
	bool begin_line()
	{
		if (!remaining_ || failed_ || next_ >= source_.lines_.size())
			return false;

		const auto &[offset, size] = source_.lines_[next_];

		line_.resize(size);
		sent_ = 0;
		// The read is short if the file was truncated meanwhile.
		failed_ = pread(source_.file_.get(), line_.data(), size,
				off_t(offset)) != ssize_t(size);
		if (failed_)
			line_.clear();
		else
			line_ += '\n';
		remaining_--;
		next_ += std::min(step_, source_.lines_.size());
		return !failed_;
	}

	const recording &source_;
	size_t next_, step_, remaining_, sent_ = 0;
	std::string line_;
	bool failed_ = false;
};

std::shared_ptr<http_source> recording::snapshots(part range) const
{
	return std::make_shared<snapshot_source>(*this, range);
}

} // namespace cli
