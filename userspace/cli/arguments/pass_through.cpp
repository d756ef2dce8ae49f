// SPDX-License-Identifier: GPL-2.0-or-later
#include "arguments/pass_through.hpp"

#include <algorithm>

namespace cli {

namespace {

class separator {
public:
	separator(const parser &command, const std::vector<std::string> &words,
		  const valued_options &foreign_options)
		: command_(command), words_(words),
		  foreign_options_(foreign_options)
	{
	}

	separated_words separate()
	{
		while (next_ < words_.size()) {
			const std::string &word = words_[next_];

			if (word == "--" || word.size() < 2 || word[0] != '-') {
				take_command();
				break;
			}
			next_++;
			if (word[1] == '-')
				take_long(word);
			else
				take_letters(word);
		}
		return std::move(separated_);
	}

private:
	void take_command()
	{
		if (words_[next_] == "--")
			next_++;
		separated_.own.push_back("--");
		separated_.own.insert(separated_.own.end(),
				      words_.begin() + next_, words_.end());
	}

	void take_value(std::vector<std::string> &target_words)
	{
		if (next_ < words_.size())
			target_words.push_back(words_[next_++]);
	}

	void take_long(const std::string &word)
	{
		const size_t equals = word.find('=');
		const std::string name = word.substr(0, equals);
		const auto option = command_.find_option(name);
		const bool has_value =
			option ? option->takes_value()
			       : std::find(foreign_options_.words.begin(),
					   foreign_options_.words.end(),
					   name.substr(2)) !=
					 foreign_options_.words.end();
		auto &target_words =
			option ? separated_.own : separated_.passed;

		target_words.push_back(word);
		if (has_value && equals == word.npos)
			take_value(target_words);
	}

	/// Take a word of letters, such as "-ag", "-c100" or "-ge" before a value.
	/// Letters may be options of either program; a letter with a value ends
	/// the word.
	void take_letters(const std::string &word)
	{
		std::string passed_letters = "-";

		for (size_t i = 1; i < word.size(); i++) {
			const std::string letter(1, word[i]);
			const bool last = i + 1 == word.size();

			if (const auto option =
				    command_.find_option("-" + letter)) {
				if (!option->takes_value()) {
					separated_.own.push_back("-" + letter);
					continue;
				}
				separated_.own.push_back("-" + word.substr(i));
				if (last)
					take_value(separated_.own);
				break;
			}

			const bool has_value =
				foreign_options_.letters.find(letter) !=
				std::string_view::npos;

			if (has_value ||
			    foreign_options_.optional_letters.find(letter) !=
				    std::string_view::npos) {
				separated_.passed.push_back(passed_letters +
							    word.substr(i));
				if (has_value && last)
					take_value(separated_.passed);
				return;
			}
			passed_letters += letter;
		}
		if (passed_letters.size() > 1)
			separated_.passed.push_back(passed_letters);
	}

	const parser &command_;
	const std::vector<std::string> &words_;
	const valued_options &foreign_options_;
	size_t next_ = 0;
	separated_words separated_;
};

} // namespace

separated_words separate_options(const parser &command,
				 const std::vector<std::string> &words,
				 const valued_options &foreign_options)
{
	return separator(command, words, foreign_options).separate();
}

} // namespace cli
