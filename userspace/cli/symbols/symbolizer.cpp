// SPDX-License-Identifier: GPL-2.0-or-later
// Names for addresses.
#include "symbols/symbolizer.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "terminal/text.hpp"

namespace cli {

static std::string object_name(const std::string &path)
{
	if (path.empty())
		return "[anonymous]";
	if (is_anonymous(path))
		return printable(path);
	return printable(std::filesystem::path(path).filename().string());
}

static std::string perf_map_path(uint32_t process)
{
	return fmt::format("/tmp/perf-{}.map", process);
}

symbolizer::symbolizer(debuginfod servers)
{
	// elfutils asks wherever it finds this variable.  A program with file
	// capabilities does not act on its caller's environment.
	if (servers == debuginfod::never || !secure_getenv("DEBUGINFOD_URLS"))
		unsetenv("DEBUGINFOD_URLS");
}

/// Names are made once for an address.  @p of tells equal addresses of
/// different objects apart.
const code_name &symbolizer::name(const void *of, uint64_t address,
				  std::string_view function,
				  const std::string &object)
{
	auto [at, is_new] = names_.try_emplace({of, address});

	if (is_new)
		at->second = {printable(demangled(function)), object};
	return at->second;
}

const kallsyms &symbolizer::kernel_symbols()
{
	if (!kernel_)
		kernel_ = std::make_unique<kallsyms>(kallsyms::read());
	return *kernel_;
}

std::shared_ptr<elf_object> symbolizer::vdso()
{
	if (!vdso_read_)
		vdso_ = elf_object::vdso();
	vdso_read_ = true;
	return vdso_;
}

/// That of 32-bit processes is another one; theirs is below 4 GiB.
static bool is_vdso(const code_mapping &mapping)
{
	return mapping.path == "[vdso]" && mapping.start >> 32;
}

// --- while processes run

/// Other processes need descriptors as well.
static constexpr size_t most_kept = 256;

static std::string key_of(const code_mapping &m)
{
	return m.id ? m.id.hex() + m.path : m.path;
}

static bool same_file(int a, int b)
{
	struct stat one, other;

	return !fstat(a, &one) && !fstat(b, &other) &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Code of the kernel that each process has.
static bool is_kernels(const std::string &path)
{
	return path == "[vdso]" || path == "[vsyscall]" || path == "[uprobes]";
}

void symbolizer::keep(const code_mapping &m)
{
	if (is_kernels(m.path))
		return;
	if (is_anonymous(m.path)) {
		if (lists_.contains(m.pid) || without_list_.contains(m.pid))
			return;

		// As the process numbers itself.
		std::string path = perf_map_path(identity_of(m.pid).pid);

		if (!keep_list(m.pid, path))
			without_list_[m.pid] = std::move(path);
		return;
	}

	const std::string key = key_of(m);

	if (!m.id || n_kept_ >= most_kept || kept_.contains(key))
		return;

	unique_fd file = open_mapped(m);

	// The process has ended: another one may run the same file.
	if (!file)
		return;

	const unique_fd here = open_regular(m.path);

	if (here && same_file(file.get(), here.get()))
		file = {};
	n_kept_ += bool(file);
	kept_.emplace(key, std::move(file));
}

/// Opened while the process runs, read when it may have ended.
bool symbolizer::keep_list(uint32_t process, const std::string &path)
{
	unique_fd file = open_in_root_of(process, path);

	if (!file || n_kept_ >= most_kept)
		return false;
	n_kept_++;
	lists_[process] = {std::move(file), path, identity_of(process).user};
	return true;
}

void symbolizer::keep_lists()
{
	std::erase_if(without_list_, [this](const auto &entry) {
		const auto &[process, path] = entry;

		return keep_list(process, path) ||
		       access(fmt::format("/proc/{}", process).c_str(), F_OK);
	});
}

perf_map symbolizer::read_map(const perf_map_file &from)
{
	auto map = perf_map::read(from.file.get(), from.user);

	if (map)
		return *std::move(map);
	give_reason(map.error().message + ", so its functions have no names",
		    from.path);
	return {};
}

const perf_map &symbolizer::made_by(uint32_t process)
{
	auto [at, is_new] = made_.try_emplace(process);
	const auto kept = lists_.find(process);

	if (!is_new)
		return at->second;

	perf_map_file here;

	// The user of a process that has ended is not known.
	if (kept == lists_.end()) {
		here.path = perf_map_path(process);
		here.file = open_regular(here.path);
	}

	const perf_map_file &from = kept == lists_.end() ? here : kept->second;

	if (from.file)
		at->second = guarded(from.path, [&] { return read_map(from); });
	return at->second;
}

// --- what was recorded

void symbolizer::give_reason(const std::string &why, const std::string &what)
{
	auto &all = reasons_[why];

	if (std::find(all.begin(), all.end(), what) == all.end())
		all.push_back(what);
}

std::vector<std::string> symbolizer::reasons() const
{
	static constexpr size_t shown = 3;
	std::vector<std::string> lines;

	for (const auto &[why, all] : reasons_) {
		std::string list;

		for (size_t i = 0; i < all.size() && i < shown; i++)
			list += (i ? ", " : "") + printable(all[i]);
		if (all.size() > shown)
			list += fmt::format(" and {} more", all.size() - shown);
		lines.push_back(list + ": " + why);
	}
	return lines;
}

/// Files that may be the recorded one, the likeliest first.
std::vector<unique_fd> symbolizer::candidates(const code_mapping &m)
{
	static constexpr std::string_view deleted = " (deleted)";
	std::string path = m.path;
	std::vector<unique_fd> files;

	if (path.ends_with(deleted))
		path.resize(path.size() - deleted.size());
	if (const auto kept = kept_.find(key_of(m)); kept != kept_.end())
		files.push_back(std::move(kept->second));
	// A process of that number may be another one by now, so that only a
	// build id can tell.
	if (m.id)
		files.push_back(open_in_root_of(m.pid, path));
	files.push_back(open_regular(path));
	if (m.id) {
		const char *home = secure_getenv("HOME");
		std::string hex = m.id.hex();
		std::string place = hex.substr(0, 2) + "/" + hex.substr(2);

		// Where distributions and perf buildid-cache keep them.
		files.push_back(
			open_regular("/usr/lib/debug/.build-id/" + place));
		if (home)
			files.push_back(open_regular(fmt::format(
				"{}/.debug/.build-id/{}/elf", home, place)));
	}
	return files;
}

std::shared_ptr<elf_object> symbolizer::recorded_object(const code_mapping &m)
{
	auto [at, is_new] = recorded_.try_emplace(key_of(m));
	bool there = false;

	if (!is_new)
		return at->second;
	for (unique_fd &file : candidates(m)) {
		if (!file)
			continue;
		there = true;

		auto object = guarded(m.path, [&] {
			return elf_object::open(std::move(file), m.path);
		});

		if (object && (!m.id || object->id() == m.id)) {
			at->second = std::move(object);
			return at->second;
		}
	}
	if (m.id)
		give_reason(there ? "not what was sampled (another build id), "
				    "so its functions have no names"
				  : "not here, so its functions have no names",
			    m.path);
	return nullptr;
}

const code_name &symbolizer::recorded_user(const code_mapping &m,
					   uint64_t address)
{
	std::string object = object_name(m.path);

	if (is_vdso(m) && same_kernel() && vdso()) {
		uint64_t offset = address - m.start;

		return name(vdso().get(), offset, vdso()->function_at(offset),
			    object);
	}
	if (is_anonymous(m.path)) {
		const perf_map &made = made_by(m.pid);

		return name(&made, address, made.find(address), object);
	}

	auto known = recorded_object(m);
	uint64_t offset = address - m.start + m.offset;

	if (!known)
		return name(&m, address, {}, object);
	return name(known.get(), offset,
		    guarded(m.path, [&] { return known->function_at(offset); }),
		    object);
}

// --- the kernel, as recorded

/// "[xfs]", as this program names modules; perf also does by the file's path.
static std::string module_of(const std::string &path)
{
	std::string file = std::filesystem::path(path).filename().string();

	if (path.starts_with("[kernel.kallsyms]") ||
	    path.starts_with("[guest.kernel"))
		return "";
	if (file.starts_with('[') && file.ends_with(']'))
		return file.substr(1, file.size() - 2);
	file.resize(std::min(file.find(".ko"), file.size()));
	std::replace(file.begin(), file.end(), '-', '_');
	return file;
}

/// Without a build id, only what cannot be by chance: the same release at the
/// same random address.
bool symbolizer::is_running_kernel(const kernel_part &part,
				   uint64_t shift) const
{
	utsname system;

	if (part.id)
		return part.id == build_id::of_running_kernel();
	return !shift && !uname(&system) && release_ == system.release;
}

/// The file of a kernel that does not run, where distributions have it.
std::shared_ptr<elf_object> symbolizer::vmlinux_of(const kernel_part &part)
{
	for (const std::string &path :
	     {"/usr/lib/debug/boot/vmlinux-" + release_,
	      "/usr/lib/debug/lib/modules/" + release_ + "/vmlinux",
	      "/boot/vmlinux-" + release_}) {
		auto object = guarded(path, [&] {
			return elf_object::open(open_regular(path), path);
		});

		if (part.id && object && object->id() == part.id)
			return object;
	}
	return nullptr;
}

/// The kernel's own functions have moved together, by as much as the symbol
/// that the mapping is named after.
void symbolizer::match_kernel(kernel_part &part)
{
	size_t bracket = part.path.find(']');
	std::string reference = bracket == std::string::npos
					? ""
					: part.path.substr(bracket + 1);
	uint64_t there = kernel_symbols().address_of(reference);

	same_kernel_ = is_running_kernel(part, there - part.offset);
	if (!same_kernel_) {
		part.vmlinux = vmlinux_of(part);
		there = part.vmlinux ? part.vmlinux->address_of(reference) : 0;
	}
	part.known = there && part.offset;
	part.shift = there - part.offset;
	if (part.known)
		return;
	if (same_kernel_)
		give_reason("their addresses are hidden from this user, or "
			    "were when this was recorded "
			    "(kernel.kptr_restrict)",
			    "the kernel's functions");
	else
		give_reason("not the one that runs here, so its functions have "
			    "no names",
			    "the kernel that was sampled");
}

void symbolizer::match_module(kernel_part &part)
{
	bool same = same_kernel();

	for (const kernel_module &m : kernel_modules())
		if (m.name == part.module && m.start) {
			part.known =
				part.id ? build_id::of_module(m.name) == part.id
					: same && m.start == part.start;
			part.shift = m.start - part.start;
		}
	if (!part.known)
		give_reason("not loaded here as it was sampled, so its "
			    "functions have no names",
			    "[" + part.module + "]");
}

/// Only of what is asked for: there are many modules.
void symbolizer::match(kernel_part &part)
{
	if (part.matched)
		return;
	part.matched = true;
	if (part.module.empty())
		match_kernel(part);
	else
		match_module(part);
}

bool symbolizer::same_kernel()
{
	if (!kernel_parts_.empty() && kernel_parts_.back().module.empty())
		match(kernel_parts_.back());
	return same_kernel_;
}

void symbolizer::set_recorded_kernel(std::span<const code_mapping> mappings,
				     const std::string &release)
{
	kernel_parts_.clear();
	for (const code_mapping &m : mappings) {
		kernel_part part;

		static_cast<code_mapping &>(part) = m;
		part.module = module_of(m.path);
		kernel_parts_.push_back(std::move(part));
	}
	// perf's mapping of the kernel may span that of modules.
	std::stable_partition(
		kernel_parts_.begin(), kernel_parts_.end(),
		[](const kernel_part &part) { return !part.module.empty(); });
	release_ = release;
}

symbolizer::kernel_part *symbolizer::recorded_part(uint64_t address)
{
	for (kernel_part &part : kernel_parts_)
		if (part.contains(address)) {
			match(part);
			return &part;
		}
	return nullptr;
}

const code_name &symbolizer::recorded_kernel(uint64_t address)
{
	if (auto at = names_.find({this, address}); at != names_.end())
		return at->second;

	kernel_part *part = recorded_part(address);
	std::string_view function;

	if (part && part->known)
		function = guarded(part->path, [&] {
			return part->vmlinux
				       ? part->vmlinux->function_at_address(
						 address + part->shift)
				       : kernel_symbols().find(
						 address + part->shift,
						 part->module);
		});
	return name(this, address, function,
		    part && !part->module.empty()
			    ? printable("[" + part->module + "]")
			    : "[kernel]");
}

} // namespace cli
