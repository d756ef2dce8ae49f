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

/// "-d,--duration SECONDS", and nothing of C++'s types and ranges.
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

		// What validators add.
		name = name.substr(0, name.find(':'));
		if (option->get_items_expected_max() == 0)
			return {};
		if (std::find(std::begin(types), std::end(types), name) !=
		    std::end(types))
			name = name == "TEXT" ? "NAME" : "N";
		return name.empty() ? name : fmt::format(" {}", name);
	}

	/// Text that was laid out by hand stays as it is.
	std::string make_footer(const CLI::App *app) const override
	{
		const std::string footer = app->get_footer();

		return footer.empty() ? footer : fmt::format("\n{}\n", footer);
	}
};

/// The required argument that is missing, with its values.
std::string missing(const CLI::App &app)
{
	for (const CLI::App *command : app.get_subcommands())
		for (const CLI::Option *one : command->get_options())
			if (one->get_required() && one->empty())
				return fmt::format("{} is missing: {}",
						   one->get_type_name(),
						   one->get_description());
	return "an argument is missing";
}

/// What CLI11 says, with the help that says more.
std::string one_line(const CLI::App &app, const CLI::ParseError &error)
{
	std::string program = app.get_name();

	for (const CLI::App *command : app.get_subcommands())
		program += " " + command->get_name();

	std::string text = dynamic_cast<const CLI::RequiredError *>(&error)
				   ? missing(app)
				   : error.what();

	// Only numbers are converted.
	static const std::string conversion = "Could not convert: ";
	if (const size_t at = text.find(" = ");
	    text.starts_with(conversion) && at != text.npos)
		text = fmt::format(
			"{}: '{}' is not a valid number",
			text.substr(conversion.size(), at - conversion.size()),
			text.substr(at + 3));
	static const std::string no_value =
		" was given a disallowed flag override";
	if (text.ends_with(no_value))
		text = fmt::format(
			"--{}: it takes no value",
			text.substr(0, text.size() - no_value.size()));
	// Not typed: separate_command() has put it there.
	if (const size_t at = text.find(": -- "); at != text.npos)
		text.erase(at + 2, 3);
	return fmt::format("{} (see {} --help)", text, program);
}

} // namespace

// --- options

option &option::type_name(const std::string &name)
{
	made_->type_name(name);
	return *this;
}

option &option::hidden()
{
	made_->group("");
	return *this;
}

option &option::one_value()
{
	made_->allow_extra_args(false);
	return *this;
}

option &option::delimiter(char between)
{
	made_->delimiter(between);
	return *this;
}

template <class T> option &option::range(T least, T most)
{
	// It takes NaN, too, which is not less than any number.
	const CLI::Range within(least, most);

	made_->check([within, least,
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
	made_->check([](const std::string &text) -> std::string {
		return text.empty() ? "it needs a text" : "";
	});
	return *this;
}

option &option::required()
{
	made_->required();
	return *this;
}

option &option::one_of(const std::vector<std::string> &words)
{
	made_->check([words](const std::string &text) -> std::string {
		if (std::find(words.begin(), words.end(), text) != words.end())
			return {};
		return fmt::format("invalid value '{}' (expected {})", text,
				   fmt::join(words, ", "));
	});
	return *this;
}

option &option::excludes(const option &other)
{
	made_->excludes(other.made_);
	return *this;
}

std::string option::name() const
{
	return made_->get_single_name();
}

std::vector<std::string> option::spellings() const
{
	std::vector<std::string> found;

	for (const std::string &name : made_->get_lnames())
		found.push_back("--" + name);
	for (const std::string &name : made_->get_snames())
		found.push_back("-" + name);
	return found;
}

std::string option::description() const
{
	return made_->get_description();
}

bool option::is_hidden() const
{
	return made_->get_group().empty();
}

bool option::is_positional() const
{
	return made_->get_positional();
}

bool option::takes_value() const
{
	return made_->get_items_expected_max() > 0;
}

// --- where they are added

template <class T>
option parser::add_option(const char *names, T &to,
			  const std::string &description)
{
	return option(app_->add_option(names, to, description));
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

option parser::add_flag(const char *names, bool &to,
			const std::string &description)
{
	return option(app_->add_flag(names, to, description)
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
			   std::function<void()> chosen)
{
	CLI::App *command = app_->add_subcommand(name, description);

	command->callback(std::move(chosen));
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
	std::vector<option> found;

	for (CLI::Option *one : app_->get_options())
		found.emplace_back(one);
	return found;
}

std::optional<option> parser::find_option(const std::string &name) const
{
	CLI::Option *found = app_->get_option_no_throw(name);

	return found ? std::optional(option(found)) : std::nullopt;
}

std::vector<parser> parser::commands() const
{
	std::vector<parser> found;

	for (CLI::App *one : app_->get_subcommands({}))
		found.emplace_back(one);
	return found;
}

std::optional<parser> parser::find_command(std::string_view name) const
{
	for (const parser &one : commands())
		if (one.name() == name)
			return one;
	return std::nullopt;
}

// --- all of it

command_line::command_line(const char *name, const char *description,
			   const std::string &version)
	: parser(nullptr), whole_(std::make_unique<CLI::App>(description, name))
{
	app_ = whole_.get();
	app_->set_version_flag("--version", version);
	app_->require_subcommand(0, 1);
	// Subcommands take it from here.
	app_->formatter(std::make_shared<plain_formatter>());
}

command_line::~command_line() = default;

uncore::result<bool> command_line::parse(std::vector<std::string> arguments)
{
	// CLI11 takes them from the end.
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
