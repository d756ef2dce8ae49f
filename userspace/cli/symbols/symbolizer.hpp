// SPDX-License-Identifier: GPL-2.0-or-later
// Names for addresses in processes that a file of samples describes.  A name is
// given when it is sure: build ids, where they are known, decide whether a file
// is the one that ran.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "symbols/elf_object.hpp"
#include "symbols/kallsyms.hpp"
#include "symbols/perf_map.hpp"
#include "symbols/process_maps.hpp"

namespace cli {

/// What is at an address, fit to be printed.
struct code_name {
	std::string function; ///< demangled; empty: not known
	std::string object; ///< "libc.so.6", "[vdso]", "[kernel]", "[xfs]", ...
};

class symbolizer {
public:
	/// Whether to ask the servers of DEBUGINFOD_URLS for missing debug
	/// files, which tells them what runs here.
	enum class debuginfod { never, ask };

	explicit symbolizer(debuginfod servers = debuginfod::never);
	symbolizer(const symbolizer &) = delete;

	// --- while processes run

	/// Keep the file of a mapping open if it is not the one that has its
	/// path here: a process in another mount namespace, a file that was
	/// deleted.  Or the process's list of functions made at run time.
	void keep(const code_mapping &mapping);
	/// Look again for lists that were not there.  To be called several
	/// times a second.
	void keep_lists();

	// --- what was recorded, maybe on another machine

	/// Where the kernel and its modules were.
	void set_recorded_kernel(std::span<const code_mapping> mappings,
				 const std::string &release);
	const code_name &recorded_kernel(uint64_t address);
	const code_name &recorded_user(const code_mapping &mapping,
				       uint64_t address);

	/// Why functions have no names: a line each, every reason once.
	std::vector<std::string> reasons() const;

private:
	/// The list of the functions that a process has made.
	struct perf_map_file {
		unique_fd file;
		std::string path;
		uid_t user = 0; ///< the process's
	};
	/// How recorded addresses of the kernel become those of a table.
	struct kernel_part : code_mapping {
		std::string module; ///< "" for the kernel's own
		bool matched = false, known = false;
		uint64_t shift = 0;		     ///< to be added
		std::shared_ptr<elf_object> vmlinux; ///< or today's kernel
	};

	const code_name &name(const void *of, uint64_t address,
			      std::string_view function,
			      const std::string &object);
	const kallsyms &kernel_symbols();
	std::shared_ptr<elf_object> vdso();
	bool keep_list(uint32_t process, const std::string &path);
	std::vector<unique_fd> candidates(const code_mapping &m);
	std::shared_ptr<elf_object> recorded_object(const code_mapping &m);
	const perf_map &made_by(uint32_t process);
	perf_map read_map(const perf_map_file &from);
	/// Read a source of symbols.  One that fails gives a reason and no
	/// names; the other sources are read all the same.
	template <class Read>
	auto guarded(const std::string &what, Read read) -> decltype(read())
	{
		try {
			return read();
		} catch (const std::exception &failure) {
			give_reason(fmt::format("cannot be read ({}), so its "
						"functions have no names",
						failure.what()),
				    what);
			return {};
		}
	}
	kernel_part *recorded_part(uint64_t address);
	bool same_kernel();
	void match(kernel_part &part);
	void match_kernel(kernel_part &part);
	void match_module(kernel_part &part);
	bool is_running_kernel(const kernel_part &part, uint64_t shift) const;
	std::shared_ptr<elf_object> vmlinux_of(const kernel_part &part);
	void give_reason(const std::string &why, const std::string &what);

	std::unique_ptr<kallsyms> kernel_;
	std::shared_ptr<elf_object> vdso_;
	bool vdso_read_ = false, same_kernel_ = false;
	/// Files by build id and path; none for those that are not kept.
	std::map<std::string, unique_fd> kept_;
	size_t n_kept_ = 0;
	std::map<uint32_t, perf_map_file> lists_; ///< by process
	/// Paths that lists would have, by process.
	std::map<uint32_t, std::string> without_list_;
	/// By build id, or by path.
	std::map<std::string, std::shared_ptr<elf_object>> recorded_;
	std::map<uint32_t, perf_map> made_;
	std::vector<kernel_part> kernel_parts_; ///< modules before the kernel
	std::string release_;			///< of the recorded kernel
	std::map<std::pair<const void *, uint64_t>, code_name> names_;
	std::map<std::string, std::vector<std::string>> reasons_;
};

} // namespace cli
