// SPDX-License-Identifier: GPL-2.0-or-later
// uncore check: is this machine ready to count uncore events, and what to do
// where it is not.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <uncore/topology.hpp>

#include "cli.hpp"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

namespace cli {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct check_options {
	fs::path proc = "/proc";
	fs::path modules = "/lib/modules";
	format form = format::human;
};

enum class verdict {
	good,
	note, ///< works, and is good to know
	bad,  ///< nothing can be counted like this
};

struct finding {
	const char *subject;
	verdict what;
	std::string text;
	std::string advice; ///< empty when nothing is to be done
};

std::optional<std::string> first_line(const fs::path &file)
{
	std::ifstream in(file);
	std::string line;

	if (!std::getline(in, line))
		return std::nullopt;
	return line;
}

std::optional<int> number_in(const fs::path &file)
{
	const auto line = first_line(file);
	int number = 0;

	if (!line || std::sscanf(line->c_str(), "%d", &number) != 1)
		return std::nullopt;
	return number;
}

/// Does any line of a file have that text?
bool mentions(const fs::path &file, std::string_view text)
{
	std::ifstream in(file);
	std::string line;

	while (std::getline(in, line))
		if (line.find(text) != line.npos)
			return true;
	return false;
}

bool has_capability(int capability)
{
	__user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	__user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[capability / 32].effective >> (capability % 32) & 1;
}

class checker {
public:
	checker(const context &shared, const check_options &options,
		const uncore::topology &machine)
		: sys_(shared.sysfs), proc_(options.proc), machine_(machine),
		  real_(shared.sysfs == "/sys" && options.proc == "/proc")
	{
		utsname name;

		uname(&name);
		modules_ = options.modules / name.release;
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

	bool is_ours() const
	{
		return has_driver() && machine_.pmus().front().driver ==
					       uncore::driver::xeon_uncore;
	}

	bool loaded(const char *module) const
	{
		std::error_code err;

		return fs::is_directory(sys_ / "module" / module, err);
	}

	/// The kernel writes its modules' names with - or with _.
	bool installed(const char *list, const char *a, const char *b) const
	{
		return mentions(modules_ / list, fmt::format("/{}.ko", a)) ||
		       mentions(modules_ / list, fmt::format("/{}.ko", b));
	}

	void check_processor()
	{
		const auto model = cpu_field("model name");
		const std::string name = model ? *model : "unknown";

		if (!machine_.generation().empty()) {
			good("processor", fmt::format("{}, generation {}", name,
						      machine_.generation()));
			return;
		}
		bad("processor",
		    fmt::format("{} is none that xeon_uncore knows", name),
		    "use a Xeon E5 or E7 v3 (family 6 model 63), or the "
		    "simulated one: make vm");
	}

	std::optional<std::string> cpu_field(std::string_view field) const
	{
		std::ifstream in(proc_ / "cpuinfo");
		std::string line;

		while (std::getline(in, line)) {
			const size_t colon = line.find(": ");

			if (colon != line.npos && line.starts_with(field))
				return line.substr(colon + 2);
		}
		return std::nullopt;
	}

	void check_driver()
	{
		if (is_ours()) {
			good("driver",
			     fmt::format("xeon_uncore, {} PMUs named {}_*",
					 machine_.pmus().size(),
					 machine_.pmus().front().prefix));
			return;
		}
		const bool builtin = installed("modules.builtin",
					       "intel-uncore", "intel_uncore");
		if (has_driver()) {
			note("driver",
			     fmt::format(
				     "the kernel's own intel_uncore, {} PMUs; "
				     "it lacks filters and sampling, and "
				     "what it miscounts is refused",
				     machine_.pmus().size()),
			     builtin ? "it is built into this kernel, so that "
				       "xeon_uncore cannot take its place"
				     : "for the rest: rmmod intel_uncore, "
				       "then " +
					       how_to_load());
			return;
		}
		if (loaded("xeon_uncore"))
			bad("driver", "xeon_uncore is loaded, but has no PMUs",
			    "dmesg | grep xeon_uncore says why");
		else if (loaded("intel_uncore"))
			bad("driver",
			    "intel_uncore is loaded and found no uncore here; "
			    "xeon_uncore does not load beside it",
			    "rmmod intel_uncore, then " + how_to_load());
		else if (builtin)
			bad("driver",
			    "intel_uncore is built into this kernel and found "
			    "no uncore here",
			    "xeon_uncore needs a kernel that has intel_uncore "
			    "as a module, or not at all");
		else
			bad("driver", "none is loaded", how_to_load());
		check_virtual();
	}

	std::string how_to_load() const
	{
		if (installed("modules.dep", "xeon_uncore", "xeon-uncore"))
			return "modprobe xeon_uncore";
		return fmt::format("modprobe xeon_uncore, which is not "
				   "installed for {}: make install",
				   release_);
	}

	void check_virtual()
	{
		const auto flags = cpu_field("flags");

		if (flags && (*flags + ' ').find(" hypervisor ") != flags->npos)
			note("machine", "this is a virtual one",
			     "virtual machines show no uncore; try the "
			     "simulated one: make vm");
	}

	/// Packages that were offline when the driver was loaded have no boxes.
	void check_boxes()
	{
		if (!has_driver())
			return;
		std::vector<int> without;
		for (const auto &package : machine_.packages()) {
			bool found = false;

			for (const auto &pmu : machine_.pmus())
				for (const int cpu : pmu.cpus)
					found |= machine_.package_of(cpu) ==
						 package.id;
			if (!found)
				without.push_back(package.id);
		}
		if (without.empty())
			good("packages",
			     fmt::format("{}, all of them with boxes",
					 machine_.packages().size()));
		else
			note("packages",
			     fmt::format("package {} has no boxes",
					 cpu_list(without)),
			     "were its CPUs offline when the driver was "
			     "loaded? rmmod xeon_uncore, modprobe xeon_uncore");
	}

	/// Opens an event, which is what it is all about.
	static int try_event(const uncore::pmu &pmu)
	{
		perf_event_attr attr = {};

		attr.size = sizeof(attr);
		attr.type = pmu.type;
		attr.disabled = 1;
		const long fd =
			syscall(SYS_perf_event_open, &attr, -1,
				pmu.cpus.front(), -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			return errno;
		close(static_cast<int>(fd));
		return 0;
	}

	void check_permission()
	{
		const auto level =
			number_in(proc_ / "sys/kernel/perf_event_paranoid");
		const bool privileged = has_capability(CAP_PERFMON) ||
					has_capability(CAP_SYS_ADMIN);
		const std::string shown =
			fmt::format("kernel.perf_event_paranoid is {}",
				    level ? std::to_string(*level) : "unknown");
		const char *const advice =
			"be root, or setcap cap_perfmon+ep on the command, or "
			"sysctl kernel.perf_event_paranoid=0";

		if (!level && !fs::exists(proc_ / "sys/kernel")) {
			bad("permission", "cannot be told without /proc", "");
			return;
		}
		if (!level) {
			bad("permission", "this kernel has no perf events",
			    "use one with CONFIG_PERF_EVENTS=y");
			return;
		}
		const int err = real_ && has_driver()
					? try_event(machine_.pmus().front())
					: 0;
		if (err == EACCES || err == EPERM ||
		    (!privileged && *level > 0))
			bad("permission",
			    fmt::format("{}, and this user has no CAP_PERFMON",
					shown),
			    advice);
		else if (err)
			bad("permission",
			    fmt::format("an event of {} cannot be opened: {}",
					machine_.pmus().front().name,
					std::strerror(err)),
			    "dmesg may say why");
		else
			good("permission",
			     fmt::format("{}, this user has {}", shown,
					 privileged ? "CAP_PERFMON"
						    : "no need of more"));
	}

	/// Secure Boot and lockdown matter as long as the module is not loaded.
	void check_signatures()
	{
		const bool secure = secure_boot();
		const auto lockdown =
			first_line(sys_ / "kernel/security/lockdown");
		const bool locked =
			lockdown && lockdown->find("[none]") == lockdown->npos;
		const auto enforced = first_line(
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
		if (is_ours())
			good("signatures", text + ", and this one is");
		else
			note("signatures", text,
			     "DKMS signs with its own key: mokutil --import "
			     "/var/lib/dkms/mok.pub, and reboot");
	}

	/// The last byte of the EFI variable, behind its four of attributes.
	bool secure_boot() const
	{
		std::ifstream in(sys_ / "firmware/efi/efivars/"
					"SecureBoot-8be4df61-93ca-11d2-aa0d-"
					"00e098032b8c",
				 std::ios::binary);
		char bytes[5] = {};

		return in.read(bytes, sizeof(bytes)) && bytes[4] == 1;
	}

	void check_watchdog()
	{
		const auto on = number_in(proc_ / "sys/kernel/nmi_watchdog");

		if (on && *on)
			note("NMI watchdog",
			     "on: it holds a counter of each core, none of the "
			     "uncore",
			     "for more core events beside uncore ones: sysctl "
			     "kernel.nmi_watchdog=0");
		else
			good("NMI watchdog", "off");
	}

	void check_cpus()
	{
		const auto offline =
			first_line(sys_ / "devices/system/cpu/offline");

		if (!offline || offline->empty())
			good("CPUs", "all online");
		else
			note("CPUs", fmt::format("{} offline", *offline),
			     "boxes are counted as long as their package has a "
			     "CPU online");
	}

	fs::path sys_, proc_, modules_;
	std::string release_;
	const uncore::topology &machine_;
	const bool real_; ///< not a recorded machine
	std::vector<finding> findings_;
};

const char *word_of(verdict what)
{
	switch (what) {
	case verdict::good:
		return "ok";
	case verdict::note:
		return "note";
	default:
		return "BAD";
	}
}

void print_human(const std::vector<finding> &findings, bool ready)
{
	for (const finding &one : findings) {
		const std::string word = fmt::format("{:4}", word_of(one.what));

		fmt::print("{}  {:12}  {}\n",
			   one.what == verdict::good   ? green(stdout, word)
			   : one.what == verdict::note ? yellow(stdout, word)
						       : red(stdout, word),
			   one.subject, one.text);
		if (!one.advice.empty())
			fmt::print("{:20}{}\n", "",
				   dim(stdout, "-> " + one.advice));
	}
	fmt::print("\n{}\n",
		   ready ? "This machine is ready."
			 : bold(stdout, "This machine is not ready."));
}

void print_csv(const std::vector<finding> &findings)
{
	fmt::print("subject,verdict,finding,advice\n");
	for (const finding &one : findings)
		fmt::print("{}",
			   csv_line({one.subject, lower(word_of(one.what)),
				     one.text, one.advice}));
}

void print_json(const std::vector<finding> &findings, bool ready)
{
	json checks = json::array();

	for (const finding &one : findings)
		checks.push_back({{"subject", one.subject},
				  {"verdict", lower(word_of(one.what))},
				  {"finding", one.text},
				  {"advice", one.advice}});
	const json all = {{"ready", ready}, {"checks", std::move(checks)}};
	fmt::print("{}\n",
		   all.dump(1, ' ', false, json::error_handler_t::replace));
}

int check(const context &shared, const check_options &options)
{
	const auto machine = uncore::topology::read(shared.sysfs);

	if (!machine)
		return fail(machine.error());
	const auto findings = checker(shared, options, *machine).run();
	bool ready = true;
	for (const finding &one : findings)
		ready &= one.what != verdict::bad;

	switch (options.form) {
	case format::human:
		print_human(findings, ready);
		break;
	case format::csv:
		print_csv(findings);
		break;
	case format::json:
		print_json(findings, ready);
		break;
	}
	return ready ? success : failure;
}

} // namespace

void add_check(CLI::App &app, context &shared)
{
	auto options = std::make_shared<check_options>();
	CLI::App *command = add_command(
		app, shared, "check", "Say whether this machine is ready",
		[options, &shared] { return check(shared, *options); });

	add_format(*command, options->form);
	command->add_option("--proc", options->proc, "Where proc is mounted")
		->group("");
	command->add_option("--modules", options->modules,
			    "Where the kernels' modules are")
		->group("");
}

} // namespace cli
