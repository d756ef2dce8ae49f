// SPDX-License-Identifier: GPL-2.0-or-later
// The command line, on CLI11.
#include "arguments/command_line.hpp"

#include <algorithm>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text.hpp"

namespace cli {

namespace {

/// Formats options in the help as "-d,--duration SECONDS", without the C++ types and ranges
/// that CLI11 adds.
class plain_formatter : public CLI::Formatter {
public:
	plain_formatter()
	{
		column_width(34);
		label("OPTIONS", "OPTIONS");
		label("SUBCOMMAND", "SUBCOMMAND");
	}

	std::string make_option_opts(const CLI::Option *option) const override
	{
		static const std::string_view types[] = {"TEXT", "INT", "UINT",
							 "FLOAT"};
		std::string name = option->get_type_name();

		// CLI11 adds the texts of checks, such as a range, after a colon.
		name = name.substr(0, name.find(':'));
		if (option->get_items_expected_max() == 0)
			return {};
		if (std::find(std::begin(types), std::end(types), name) !=
		    std::end(types))
			name = name == "TEXT" ? "NAME" : "N";
		return name.empty() ? name : fmt::format(" {}", name);
	}

	/// Keep the layout of the footer's text.
	std::string make_footer(const CLI::App *app) const override
	{
		const std::string footer = app->get_footer();

		return footer.empty() ? footer : fmt::format("\n{}\n", footer);
	}
};

/// Name the missing required argument, with the argument's values.
std::string missing(const CLI::App &app)
{
	for (const CLI::App *command : app.get_subcommands())
		for (const CLI::Option *option : command->get_options())
			if (option->get_required() && option->empty())
				return fmt::format("{} is missing: {}",
						   option->get_type_name(),
						   option->get_description());
	return "an argument is missing";
}

/// Return CLI11's message on one line, with a reference to help.
std::string one_line(const CLI::App &app, const CLI::ParseError &error)
{
	std::string program = app.get_name();

	for (const CLI::App *command : app.get_subcommands())
		program += " " + command->get_name();

	std::string text = dynamic_cast<const CLI::RequiredError *>(&error)
				   ? missing(app)
				   : error.what();

	// CLI11 only converts the values of numeric options.
	static const std::string conversion = "Could not convert: ";
	if (const size_t position = text.find(" = ");
	    text.starts_with(conversion) && position != text.npos)
		text = fmt::format("{}: '{}' is not a valid number",
				   text.substr(conversion.size(),
					       position - conversion.size()),
				   text.substr(position + 3));
	static const std::string no_value =
		" was given a disallowed flag override";
	if (text.ends_with(no_value))
		text = fmt::format(
			"--{}: it takes no value",
			text.substr(0, text.size() - no_value.size()));
	// Remove a "--" that separate_command() has inserted, not the user.
	if (const size_t position = text.find(": -- "); position != text.npos)
		text.erase(position + 2, 3);
	return fmt::format("{} (see {} --help)", text, program);
}

} // namespace

// --- options

option &option::type_name(const std::string &name)
{
	cli_option_->type_name(name);
	return *this;
}

option &option::hidden()
{
	cli_option_->group("");
	return *this;
}

option &option::one_value()
{
	cli_option_->allow_extra_args(false);
	return *this;
}

option &option::delimiter(char separator)
{
	cli_option_->delimiter(separator);
	return *this;
}

template <class T> option &option::range(T least, T most)
{
	// CLI::Range accepts NaN, which is not less than any number.
	const CLI::Range within(least, most);

	cli_option_->check([within, least,
			    most](const std::string &text) -> std::string {
		std::string number = text;

		if (within(number).empty() &&
		    (std::is_integral_v<T> || uncore::parse_decimal(text)))
			return {};
		return fmt::format("invalid value '{}' (expected {} to {})",
				   text, least, most);
	});
	return *this;
}

template option &option::range(int, int);
template option &option::range(uint64_t, uint64_t);
template option &option::range(double, double);

option &option::not_empty()
{
	cli_option_->check([](const std::string &text) -> std::string {
		return text.empty() ? "it needs a text" : "";
	});
	return *this;
}

option &option::required()
{
	cli_option_->required();
	return *this;
}

option &option::one_of(const std::vector<std::string> &words)
{
	cli_option_->check([words](const std::string &text) -> std::string {
		if (std::find(words.begin(), words.end(), text) != words.end())
			return {};
		return fmt::format("invalid value '{}' (expected {})", text,
				   fmt::join(words, ", "));
	});
	return *this;
}

option &option::excludes(const option &other)
{
	cli_option_->excludes(other.cli_option_);
	return *this;
}

std::string option::name() const
{
	return cli_option_->get_single_name();
}

std::vector<std::string> option::spellings() const
{
	std::vector<std::string> names;

	for (const std::string &name : cli_option_->get_lnames())
		names.push_back("--" + name);
	for (const std::string &name : cli_option_->get_snames())
		names.push_back("-" + name);
	return names;
}

std::string option::description() const
{
	return cli_option_->get_description();
}

bool option::is_hidden() const
{
	return cli_option_->get_group().empty();
}

bool option::is_positional() const
{
	return cli_option_->get_positional();
}

bool option::takes_value() const
{
	return cli_option_->get_items_expected_max() > 0;
}

// --- parsers

template <class T>
option parser::add_option(const char *names, T &value,
			  const std::string &description)
{
	return option(app_->add_option(names, value, description));
}

template option parser::add_option(const char *, std::string &,
				   const std::string &);
template option parser::add_option(const char *, std::filesystem::path &,
				   const std::string &);
template option parser::add_option(const char *, unsigned &,
				   const std::string &);
template option parser::add_option(const char *, uint64_t &,
				   const std::string &);
template option parser::add_option(const char *, double &, const std::string &);
template option parser::add_option(const char *, std::vector<std::string> &,
				   const std::string &);
template option parser::add_option(const char *, std::vector<int> &,
				   const std::string &);

option parser::add_option(const char *names,
			  std::function<void(const std::string &)> action,
			  const std::string &description)
{
	return option(app_->add_option_function<std::string>(
				  names, std::move(action), description)
			      ->trigger_on_parse());
}

option parser::add_flag(const char *names, bool &value,
			const std::string &description)
{
	return option(app_->add_flag(names, value, description)
			      ->disable_flag_override());
}

option parser::add_flag(const char *names, std::function<void()> action,
			const std::string &description)
{
	return option(
		app_->add_flag_callback(names, std::move(action), description)
			->disable_flag_override());
}

parser parser::add_command(const char *name, const char *description,
			   std::function<void()> action)
{
	CLI::App *command = app_->add_subcommand(name, description);

	command->callback(std::move(action));
	return parser(command);
}

void parser::footer(const std::string &text)
{
	app_->footer(text);
}

std::string parser::name() const
{
	return app_->get_name();
}

std::vector<option> parser::options() const
{
	std::vector<option> option_list;

	for (CLI::Option *cli_option : app_->get_options())
		option_list.emplace_back(cli_option);
	return option_list;
}

std::optional<option> parser::find_option(const std::string &name) const
{
	CLI::Option *match = app_->get_option_no_throw(name);

	return match ? std::optional(option(match)) : std::nullopt;
}

std::vector<parser> parser::commands() const
{
	std::vector<parser> command_list;

	for (CLI::App *command : app_->get_subcommands({}))
		command_list.emplace_back(command);
	return command_list;
}

std::optional<parser> parser::find_command(std::string_view name) const
{
	for (const parser &command : commands())
		if (command.name() == name)
			return command;
	return std::nullopt;
}

// --- the command line

command_line::command_line(const char *name, const char *description,
			   const std::string &version)
	: parser(nullptr),
	  owned_app_(std::make_unique<CLI::App>(description, name))
{
	app_ = owned_app_.get();
	app_->set_version_flag("--version", version);
	app_->require_subcommand(0, 1);
	// Subcommands inherit the formatter.
	app_->formatter(std::make_shared<plain_formatter>());
}

command_line::~command_line() = default;

uncore::result<bool> command_line::parse(std::vector<std::string> arguments)
{
	// CLI11 takes arguments from the end.
	std::reverse(arguments.begin(), arguments.end());
	try {
		app_->parse(std::move(arguments));
	} catch (const CLI::ParseError &error) {
		if (error.get_exit_code() != 0)
			return uncore::error{uncore::errc::invalid,
					     one_line(*app_, error)};
		app_->exit(error);
		return false;
	}
	return true;
}

} // namespace cli
