// SPDX-License-Identifier: GPL-2.0-or-later
// The command line: options, subcommands and their help.  It is CLI11
// underneath, which no other file includes: it puts some 500 functions into
// each that does, and takes 7 seconds to compile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <uncore/error.hpp>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace cli {

/// An option or an argument, that lives as long as its command line.
class option {
public:
	explicit option(CLI::Option *made) : made_(made) {}

	/// What help calls its value.
	option &type_name(const std::string &name);
	/// Leaves it out of help.
	option &hidden();
	/// For lists: a value each time that it is named.
	option &one_value();
	/// For lists: values with that between them.
	option &delimiter(char between);
	/// For int, uint64_t and double.
	template <class T> option &range(T least, T most);
	/// An empty value is invalid.
	option &not_empty();
	/// Help shows it without brackets.
	option &required();
	option &one_of(const std::vector<std::string> &words);
	/// The two are not for the same command line.
	option &excludes(const option &other);

	/// As it is named first, without hyphens.
	std::string name() const;
	/// "-d", "--duration"
	std::vector<std::string> spellings() const;
	std::string description() const;
	bool is_hidden() const;
	bool is_positional() const;
	bool takes_value() const;

private:
	CLI::Option *made_;
};

/// Where options are added: a subcommand, or the whole command.  It stands for
/// what belongs to the command line, and may be copied.
class parser {
public:
	explicit parser(CLI::App *app) : app_(app) {}

	/// @param names "-d,--duration", or an argument's name.
	/// @param to where the value goes; what it has is the default.
	template <class T>
	option add_option(const char *names, T &to,
			  const std::string &description);
	/// @p action is called with each value, in the order in which the
	/// command line has these options.
	option add_option(const char *names,
			  std::function<void(const std::string &)> action,
			  const std::string &description);
	option add_flag(const char *names, bool &to,
			const std::string &description);
	/// @p action is called when it is given.
	option add_flag(const char *names, std::function<void()> action,
			const std::string &description);

	/// @p chosen is called when it is the one of the command line.
	parser add_command(const char *name, const char *description,
			   std::function<void()> chosen);
	/// What stands below its help, as it is laid out.
	void footer(const std::string &text);

	std::string name() const;
	std::vector<option> options() const;
	/// By "name", "-n" or "--name".
	std::optional<option> find_option(const std::string &name) const;
	std::vector<parser> commands() const;
	std::optional<parser> find_command(std::string_view name) const;

protected:
	CLI::App *app_;
};

class command_line : public parser {
public:
	/// @param version what --version prints.
	command_line(const char *name, const char *description,
		     const std::string &version);
	~command_line();

	/// @return false when help or the version was asked for, and is
	/// printed.  Errors: errc::invalid, with what to read.
	uncore::result<bool> parse(std::vector<std::string> arguments);

private:
	std::unique_ptr<CLI::App> whole_;
};

} // namespace cli
