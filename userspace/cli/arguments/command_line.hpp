// SPDX-License-Identifier: GPL-2.0-or-later
// The command line: options, subcommands and their help.  It is a layer on the library
// CLI11, so that only command_line.cpp includes CLI11: its header puts some 500 functions
// into each file and takes 7 seconds to compile.
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

/// An option or an argument, which lives as long as the command line.
class option {
public:
	explicit option(CLI::Option *cli_option) : cli_option_(cli_option) {}

	/// Set the value's name in help.
	option &type_name(const std::string &name);
	/// Leave the option out of help.
	option &hidden();
	/// For lists: take one value each time that the option is named.
	option &one_value();
	/// For lists: split values at a separator.
	option &delimiter(char separator);
	/// Refuse values out of range; for int, uint64_t and double.
	template <class T> option &range(T least, T most);
	/// Refuse an empty value.
	option &not_empty();
	/// Require the option, which help shows without brackets.
	option &required();
	option &one_of(const std::vector<std::string> &words);
	/// Refuse both options on one command line.
	option &excludes(const option &other);

	/// Return the first name, without hyphens.
	std::string name() const;
	/// "-d", "--duration"
	std::vector<std::string> spellings() const;
	std::string description() const;
	bool is_hidden() const;
	bool is_positional() const;
	bool takes_value() const;

private:
	CLI::Option *cli_option_;
};

/// Parser of a subcommand, or of the whole command.  A parser refers to a part
/// of the command line, and may be copied.
class parser {
public:
	explicit parser(CLI::App *app) : app_(app) {}

	/// @param names "-d,--duration", or an argument's name.
	/// @param value variable for the value, with the default.
	template <class T>
	option add_option(const char *names, T &value,
			  const std::string &description);
	/// Call @p action with each value, in the order of the options on the
	/// command line.
	option add_option(const char *names,
			  std::function<void(const std::string &)> action,
			  const std::string &description);
	option add_flag(const char *names, bool &value,
			const std::string &description);
	/// Call @p action if the flag is given.
	option add_flag(const char *names, std::function<void()> action,
			const std::string &description);

	/// Call @p action if the command line has the command.
	parser add_command(const char *name, const char *description,
			   std::function<void()> action);
	/// Put a text below the help, with the layout of the text.
	void footer(const std::string &text);

	std::string name() const;
	std::vector<option> options() const;
	/// Find an option by "name", "-n" or "--name".
	std::optional<option> find_option(const std::string &name) const;
	std::vector<parser> commands() const;
	std::optional<parser> find_command(std::string_view name) const;

protected:
	CLI::App *app_;
};

class command_line : public parser {
public:
	/// @param version text of --version.
	command_line(const char *name, const char *description,
		     const std::string &version);
	~command_line();

	/// Parse the arguments.
	/// @return false after printing help or the version.
	/// Errors: errc::invalid, with a reference to help.
	uncore::result<bool> parse(std::vector<std::string> arguments);

private:
	std::unique_ptr<CLI::App> owned_app_;
};

} // namespace cli
