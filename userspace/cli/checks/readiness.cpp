// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether this machine is ready to count uncore events, with advice.
#include "checks/readiness.hpp"

#include <cerrno>
#include <fstream>
#include <optional>

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>

#include "checks/counters.hpp"
#include "output/machine.hpp"
#include "output/message.hpp"
#include "perf_events.hpp"
#include "refusal.hpp"
#include "sysfs.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

std::optional<int> number_in(const fs::path &file)
{
	const auto line = uncore::read_text(file);
	int number = 0;

	if (!line || std::sscanf(line->c_str(), "%d", &number) != 1)
		return std::nullopt;
	return number;
}

/// Return whether a line of a file contains the text.
bool mentions(const fs::path &file, std::string_view text)
{
	std::ifstream stream(file);
	std::string line;

	while (std::getline(stream, line))
		if (line.find(text) != line.npos)
			return true;
	return false;
}

class checker {
public:
	checker(const machine_folders &folders, const uncore::topology &machine)
		: sys_(folders.sys), proc_(folders.proc), machine_(machine),
		  real_(folders.sys == "/sys" && folders.proc == "/proc")
	{
		utsname name;

		uname(&name);
		modules_ = folders.modules / name.release;
		release_ = name.release;
	}

	std::vector<finding> run()
	{
		check_processor();
		check_driver();
		check_boxes();
		check_permission();
		check_signatures();
		check_watchdog();
		check_cpus();
		return std::move(findings_);
	}

private:
	void good(const char *subject, std::string text)
	{
		findings_.push_back(
			{subject, verdict::good, std::move(text), {}});
	}

	void note(const char *subject, std::string text, std::string advice)
	{
		findings_.push_back({subject, verdict::note, std::move(text),
				     std::move(advice)});
	}

	void bad(const char *subject, std::string text, std::string advice)
	{
		findings_.push_back({subject, verdict::bad, std::move(text),
				     std::move(advice)});
	}

	bool has_driver() const { return !machine_.pmus().empty(); }

	bool has_xeon_uncore() const
	{
		return has_driver() && machine_.pmus().front().driver ==
					       uncore::pmu_driver::xeon_uncore;
	}

	bool is_loaded(const char *module) const
	{
		std::error_code err;

		return fs::is_directory(sys_ / "module" / module, err);
	}

	/// Search a file of the kernel's modules folder, such as modules.builtin,
	/// for a module whose name is spelled @p a or @p b, with - or _.
	bool is_installed(const char *list, const char *a, const char *b) const
	{
		return mentions(modules_ / list, fmt::format("/{}.ko", a)) ||
		       mentions(modules_ / list, fmt::format("/{}.ko", b));
	}

	void check_processor()
	{
		const auto model = cpuinfo_field(proc_, "model name");
		const std::string name = model ? *model : "unknown";

		if (!fs::exists(sys_ / "devices/system/cpu/modalias")) {
			bad("processor",
			    fmt::format(
				    "unknown: {}/devices/system/cpu is missing",
				    sys_.string()),
			    "mount sysfs: mount -t sysfs none /sys");
			return;
		}
		if (!machine_.generation().empty()) {
			good("processor", fmt::format("{}, generation {}", name,
						      machine_.generation()));
			return;
		}
		bad("processor",
		    fmt::format("{} is not supported by xeon_uncore", name),
		    "use a Xeon E5-2600, E5 or E7 v2 to v4, a Xeon Scalable of the first to third generation, a Xeon D-1500, D-1700, D-2700, 7100 or 7400, an Atom P5900 (family 6 models 29, 45, 62, 63, 79, 85, 86, 106, 108 and 134, family 15 model 6), or a simulated one: make vm");
	}

	void check_driver()
	{
		if (has_xeon_uncore()) {
			good("driver",
			     fmt::format("xeon_uncore, {} PMUs named {}_*",
					 machine_.pmus().size(),
					 machine_.pmus().front().prefix));
			return;
		}
		const bool builtin = is_installed(
			"modules.builtin", "intel-uncore", "intel_uncore");
		if (has_driver()) {
			note("driver",
			     fmt::format(
				     "the kernel's own intel_uncore, {} PMUs; it lacks filters and sampling, and what it miscounts is refused",
				     machine_.pmus().size()),
			     builtin ? "it is built into this kernel, so that xeon_uncore cannot take its place"
				     : "for the rest: rmmod intel_uncore, then " +
					       load_advice());
			return;
		}
		if (is_loaded("xeon_uncore"))
			bad("driver", "xeon_uncore is loaded, but has no PMUs",
			    "dmesg | grep xeon_uncore says why");
		else if (is_loaded("intel_uncore"))
			bad("driver",
			    "intel_uncore is loaded and found no uncore here; xeon_uncore does not load beside it",
			    "rmmod intel_uncore, then " + load_advice());
		else if (builtin)
			bad("driver",
			    "intel_uncore is built into this kernel and found no uncore here",
			    "xeon_uncore needs a kernel that has intel_uncore as a module, or not at all");
		else
			bad("driver", "none is loaded", load_advice());
		check_virtual();
	}

	std::string load_advice() const
	{
		if (is_installed("modules.dep", "xeon_uncore", "xeon-uncore"))
			return "modprobe xeon_uncore";
		return fmt::format(
			"modprobe xeon_uncore, which is not installed for {}: make install",
			release_);
	}

	void check_virtual()
	{
		const auto flags = cpuinfo_field(proc_, "flags");

		if (flags && (*flags + ' ').find(" hypervisor ") != flags->npos)
			note("machine", "this is a virtual one",
			     "virtual machines show no uncore; try the simulated one: make vm");
	}

	/// Check that each package has boxes.  The boxes of a package that was
	/// offline when the driver was loaded may be missing.
	void check_boxes()
	{
		if (!has_driver())
			return;
		std::vector<int> bare_sockets;
		for (const auto &package : machine_.packages()) {
			bool has_boxes = false;

			for (const auto &pmu : machine_.pmus())
				for (const int cpu : pmu.cpus)
					has_boxes |= machine_.package_of(cpu) ==
						     package.id;
			if (!has_boxes)
				bare_sockets.push_back(package.id);
		}
		if (bare_sockets.empty())
			good("sockets",
			     fmt::format("{}, all of them with boxes",
					 machine_.packages().size()));
		else
			note("sockets",
			     fmt::format("socket {} has no boxes",
					 cpu_list(bare_sockets)),
			     "were its CPUs offline when the driver was loaded? rmmod xeon_uncore, modprobe xeon_uncore");
	}

	/// Open an event of a PMU, as counting does.
	uncore::result<void> try_event(const uncore::pmu_info &pmu) const
	{
		const auto *info = event_for_trial(machine_, pmu);
		uncore::event event;

		event.name = event.text = fmt::format(
			"{}/{}/", pmu.name, info ? info->name : "event=0");
		if (info)
			event.config = info->config;
		event.pmu = &pmu;
		event.type = pmu.type;

		perf_event_attr attr = uncore::attributes_of(event);

		attr.disabled = 1;
		if (auto opened = uncore::perf_events::open_on(event, attr,
							       pmu.cpus[0]);
		    !opened)
			return opened.error();
		return {};
	}

	/// Return advice as in the kernel's perf-security document.  The program
	/// gets the capability only together with a group that may run it: a
	/// capability of a program that every user may run protects nothing.
	static std::string permission_advice()
	{
		std::error_code err;
		fs::path command = fs::read_symlink("/proc/self/exe", err);

		if (err)
			command = "uncore";
		return fmt::format(
			"be root; or let a group run it: groupadd perf_users; chgrp perf_users {0}; chmod 0750 {0}; setcap cap_perfmon+ep {0}; or let all users count: sysctl kernel.perf_event_paranoid=0",
			command.string());
	}

	static bool can_count(const uncore::privileges &rights)
	{
		return rights.perfmon || rights.admin;
	}

	/// Open a software event for all tasks of a CPU.
	/// @return 0 or an errno.
	static int try_counting()
	{
		perf_event_attr attr{};

		attr.size = sizeof(attr);
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.disabled = 1;

		const long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
					PERF_FLAG_FD_CLOEXEC);

		if (fd >= 0)
			close(int(fd));
		return fd < 0 ? errno : 0;
	}

	void check_permission()
	{
		const auto level =
			number_in(proc_ / "sys/kernel/perf_event_paranoid");
		const auto rights =
			uncore::privileges::read(real_ ? "/proc" : proc_, sys_);
		const std::string level_text =
			fmt::format("kernel.perf_event_paranoid is {}",
				    level ? std::to_string(*level) : "unknown");

		if (!level && !fs::exists(proc_ / "sys/kernel")) {
			bad("permission", "cannot be checked without /proc",
			    "mount -t proc none /proc");
			return;
		}
		if (!level) {
			bad("permission", "this kernel has no perf events",
			    "use one with CONFIG_PERF_EVENTS=y");
			return;
		}

		const int open_error = real_ ? try_counting() : 0;
		uncore::result<void> outcome;

		if (!open_error && real_ && has_driver())
			outcome = try_event(machine_.pmus().front());
		if (const auto refusal =
			    uncore::perf_refusal(rights, open_error))
			bad("permission",
			    fmt::format("{}, and this process may not count",
					level_text),
			    rights.may_count() || rights.user_namespace ||
					    open_error == ENOSYS ||
					    open_error == EPERM
				    ? *refusal
				    : permission_advice());
		else if (!real_ && *level > 0 && !can_count(rights))
			bad("permission",
			    fmt::format("{}, and this user has no CAP_PERFMON",
					level_text),
			    permission_advice());
		else if (!outcome)
			bad("permission", outcome.error().message,
			    "dmesg may say why");
		else
			good("permission",
			     fmt::format("{}, this user has {}", level_text,
					 can_count(rights)
						 ? "CAP_PERFMON"
						 : "no need of more"));
	}

	/// Check whether the kernel loads unsigned modules.  If xeon_uncore is
	/// loaded, it has passed the check of signatures.
	void check_signatures()
	{
		const bool secure = secure_boot();
		const auto lockdown =
			uncore::read_text(sys_ / "kernel/security/lockdown");
		const bool locked =
			lockdown && lockdown->find("[none]") == lockdown->npos;
		const auto enforced = uncore::read_text(
			sys_ / "module/module/parameters/sig_enforce");
		const bool enforce = enforced && *enforced == "Y";

		if (!secure && !locked && !enforce) {
			good("signatures", "unsigned modules may be loaded");
			return;
		}
		const std::string text =
			fmt::format("modules must be signed ({})",
				    locked   ? "kernel lockdown " + *lockdown
				    : secure ? "Secure Boot"
					     : "module.sig_enforce");
		if (has_xeon_uncore())
			good("signatures", text + ", and this one is");
		else
			note("signatures", text,
			     "DKMS signs with its own key: mokutil --import /var/lib/dkms/mok.pub, and reboot");
	}

	/// Read the EFI variable SecureBoot.  The file in efivarfs has four bytes
	/// of attributes, then the variable's only byte.
	bool secure_boot() const
	{
		std::ifstream variable(
			sys_ / "firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
			std::ios::binary);
		char bytes[5] = {};

		return variable.read(bytes, sizeof(bytes)) && bytes[4] == 1;
	}

	void check_watchdog()
	{
		const auto enabled =
			number_in(proc_ / "sys/kernel/nmi_watchdog");

		if (enabled && *enabled)
			note("NMI watchdog",
			     "on: it holds a counter of each core, none of the uncore",
			     "for more core events beside uncore ones: sysctl kernel.nmi_watchdog=0");
		else
			good("NMI watchdog", "off");
	}

	void check_cpus()
	{
		const auto offline =
			uncore::read_text(sys_ / "devices/system/cpu/offline");

		if (!offline || offline->empty())
			good("CPUs", "all online");
		else
			note("CPUs", fmt::format("{} offline", *offline),
			     "boxes are counted as long as their socket has a CPU online");
	}

	fs::path sys_, proc_, modules_;
	std::string release_;
	const uncore::topology &machine_;
	const bool real_; ///< false for a recorded machine
	std::vector<finding> findings_;
};

} // namespace

std::vector<finding> check_readiness(const machine_folders &folders,
				     const uncore::topology &machine)
{
	return checker(folders, machine).run();
}

} // namespace cli
