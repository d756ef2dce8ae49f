// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "process/child.hpp"
#include "process/unique_fd.hpp"

namespace cli {

namespace {

struct file_closer {
	void operator()(FILE *file) const { std::fclose(file); }
};

struct text_freer {
	void operator()(char *text) const { std::free(text); }
};

std::vector<char *> words_of(const std::vector<std::string> &arguments)
{
	std::vector<char *> words = {const_cast<char *>("perf")};

	for (const std::string &argument : arguments)
		words.push_back(const_cast<char *>(argument.c_str()));
	words.push_back(nullptr);
	return words;
}

uncore::error not_executed(int error_number)
{
	if (error_number == ENOENT)
		return {uncore::errc::not_found,
			"perf is not installed: apt-get install linux-perf"};
	return {uncore::errc::system,
		fmt::format("perf: {}", std::strerror(error_number))};
}

uncore::error system_error(const char *call)
{
	return {uncore::errc::system,
		fmt::format("{}: {}", call, std::strerror(errno))};
}

std::string contents(int fd)
{
	std::string text;
	char buffer[4096];
	off_t offset = 0;

	for (ssize_t size;
	     (size = pread(fd, buffer, sizeof(buffer), offset)) > 0;
	     offset += size)
		text.append(buffer, size_t(size));
	return text;
}

std::string first_line(std::string_view text)
{
	const size_t begin = text.find_first_not_of('\n');

	if (begin == text.npos)
		return "perf failed without a message";
	return std::string(text.substr(begin, text.find('\n', begin) - begin));
}

/// Start perf with @p out as standard output and @p err as standard error.
/// @return 0, or an errno.
int start(const std::vector<std::string> &arguments, int out, int err,
	  pid_t &process)
{
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);

	const int error_number =
		posix_spawnp(&process, "perf", &actions, nullptr,
			     words_of(arguments).data(), environ);

	posix_spawn_file_actions_destroy(&actions);
	return error_number;
}

} // namespace

uncore::error become_perf(const std::vector<std::string> &arguments)
{
	restore_file_limit();
	execvp("perf", words_of(arguments).data());

	return not_executed(errno);
}

uncore::result<void>
read_perf(const std::vector<std::string> &arguments,
	  const std::function<void(std::string_view line)> &take)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC))
		return system_error("pipe");

	unique_fd reader(pipe_fds[0]), writer(pipe_fds[1]);
	const unique_fd errors(memfd_create("perf", MFD_CLOEXEC));
	pid_t process = 0;

	if (errors.get() < 0)
		return system_error("memfd_create");
	if (const int error_number =
		    start(arguments, writer.get(), errors.get(), process))
		return not_executed(error_number);
	writer = unique_fd();

	const std::unique_ptr<FILE, file_closer> file(
		fdopen(reader.release(), "r"));
	char *buffer = nullptr;
	size_t room = 0;

	for (ssize_t size; (size = getline(&buffer, &room, file.get())) > 0;) {
		std::string_view line(buffer, size_t(size));

		if (line.ends_with('\n'))
			line.remove_suffix(1);
		take(line);
	}

	const std::unique_ptr<char, text_freer> owner(buffer);
	int status = 0;

	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;

	const std::string text = contents(errors.get());

	if (status)
		return uncore::error{uncore::errc::invalid,
				     fmt::format("perf {}: {}",
						 arguments.front(),
						 first_line(text))};
	fmt::print(stderr, "{}", text);
	return {};
}

} // namespace cli
