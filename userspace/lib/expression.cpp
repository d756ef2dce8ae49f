// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Metric expressions.  The parser turns an expression into steps for a stack
/// machine: a step pushes a value, or replaces the last values by a result.  So
/// evaluating or freeing a long expression takes no recursion, which a tree
/// would.

#include "expression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "text.hpp"

namespace uncore {

namespace {

/// Limits of an expression: length of the text in bytes, recursion depth of the
/// parser, number of different terms.
constexpr size_t most_text = 64 * 1024;
constexpr unsigned most_depth = 200;
constexpr size_t most_terms = 1024;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

enum class operation {
	number,
	value,
	sources,
	negate,
	add,
	subtract,
	multiply,
	divide,
	remainder,
	bit_and,
	bit_or,
	bit_xor,
	less,
	greater,
	less_equal,
	greater_equal,
	equal,
	unequal,
	minimum,
	maximum,
	ratio,
	choose, ///< operands: then, condition, else
};

struct binary_operator {
	std::string_view text;
	unsigned binding; ///< higher binds closer
	operation op;
};

/// Operators; a longer text precedes its prefixes.
constexpr binary_operator operators[] = {
	{"<=", 4, operation::less_equal}, {">=", 4, operation::greater_equal},
	{"==", 4, operation::equal},	  {"!=", 4, operation::unequal},
	{"|", 1, operation::bit_or},	  {"^", 2, operation::bit_xor},
	{"&", 3, operation::bit_and},	  {"<", 4, operation::less},
	{">", 4, operation::greater},	  {"+", 5, operation::add},
	{"-", 5, operation::subtract},	  {"*", 6, operation::multiply},
	{"/", 6, operation::divide},	  {"%", 6, operation::remainder},
};

/// Functions of two arguments; min and max may have more.
constexpr struct {
	std::string_view name;
	operation op;
	bool more;
} functions[] = {
	{"min", operation::minimum, true},
	{"max", operation::maximum, true},
	{"d_ratio", operation::ratio, false},
};

bool is_symbol(char c)
{
	return is_word(c) || c == '.' || c == ':' || c == '@' || c == '?' ||
	       c == '#' || c == '\\';
}

/// Measure the number at the beginning of @p text: 64, .5, 1e-3.
size_t number_length(std::string_view text)
{
	size_t length = 0, digits = 0;

	for (; length < text.size() && is_digit(text[length]); length++)
		digits++;
	if (length < text.size() && text[length] == '.')
		for (length++; length < text.size() && is_digit(text[length]);
		     length++)
			digits++;
	if (!digits)
		return 0;
	if (length < text.size() &&
	    (text[length] == 'e' || text[length] == 'E')) {
		size_t end = length + 1;

		if (end < text.size() && (text[end] == '-' || text[end] == '+'))
			end++;
		if (end < text.size() && is_digit(text[end])) {
			while (end < text.size() && is_digit(text[end]))
				end++;
			length = end;
		}
	}
	return length;
}

/// Measure the name at the beginning of @p text; any character but @ may occur
/// between two @ signs.
size_t symbol_length(std::string_view text)
{
	bool inside = false;
	size_t length = 0;

	while (length < text.size() && (inside || is_symbol(text[length]))) {
		if (text[length] == '\\') {
			length += 2;
			continue;
		}
		if (text[length] == '@')
			inside = !inside;
		length++;
	}
	return inside ? text.npos : std::min(length, text.size());
}

/// Measure an event with slashes at the beginning of @p text, "imc/event/";
/// @p letters is the length of its first name.  A slash is also the operator of
/// division: "a/b/c" is two divisions, because a value follows the second
/// slash, where an event would need an operator.  An event has no blanks.
/// @return 0 if @p text does not begin with an event.
size_t event_length(std::string_view text, size_t letters)
{
	if (text.substr(letters, 1) != "/" ||
	    text.substr(0, letters).find('@') != text.npos)
		return 0;

	const size_t end = text.find('/', letters + 1);

	if (end == text.npos || end == letters + 1)
		return 0;
	for (const char c : text.substr(letters + 1, end - letters - 1))
		if (!is_symbol(c) &&
		    std::string_view(",=+-~").find(c) == std::string_view::npos)
			return 0;

	std::string_view rest = text.substr(end + 1);

	while (!rest.empty() && is_space(rest.front()))
		rest.remove_prefix(1);

	const std::string_view word = rest.substr(0, symbol_length(rest));
	const bool value_follows =
		!word.empty() && word != "if" && word != "else";

	return value_follows || rest.starts_with('(') ? 0 : end + 1;
}

/// Apply a bitwise operator or % to the whole parts of two numbers.  Beyond
/// 2^53 a double does not represent all whole numbers: the result is not a
/// number.
double apply_to_integers(operation op, double left, double right)
{
	constexpr double most = 9007199254740992.0; // 2^53

	if (!(std::fabs(left) <= most) || !(std::fabs(right) <= most))
		return nan;
	const auto a = static_cast<int64_t>(left);
	const auto b = static_cast<int64_t>(right);

	switch (op) {
	case operation::bit_and:
		return static_cast<double>(a & b);
	case operation::bit_or:
		return static_cast<double>(a | b);
	case operation::bit_xor:
		return static_cast<double>(a ^ b);
	default:
		return b == 0 ? nan : static_cast<double>(a % b);
	}
}

double compare(operation op, double left, double right)
{
	if (std::isnan(left) || std::isnan(right))
		return nan;
	switch (op) {
	case operation::less:
		return left < right;
	case operation::greater:
		return left > right;
	case operation::less_equal:
		return left <= right;
	case operation::greater_equal:
		return left >= right;
	case operation::equal:
		return left == right;
	default:
		return left != right;
	}
}

double binary(operation op, double left, double right)
{
	switch (op) {
	case operation::add:
		return left + right;
	case operation::subtract:
		return left - right;
	case operation::multiply:
		return left * right;
	case operation::divide:
		return right == 0 ? nan : left / right;
	case operation::ratio:
		return right == 0 ? 0 : left / right;
	case operation::minimum:
		return std::isnan(left) || left < right ? left : right;
	case operation::maximum:
		return std::isnan(left) || left > right ? left : right;
	case operation::remainder:
	case operation::bit_and:
	case operation::bit_or:
	case operation::bit_xor:
		return apply_to_integers(op, left, right);
	default:
		return compare(op, left, right);
	}
}

} // namespace

struct expression::step {
	operation op = operation::number;
	double number = 0; ///< for operation::number
	size_t term = 0;   ///< for operation::value and sources
};

namespace {

class parser {
public:
	explicit parser(std::string_view text) : text_(text), rest_(text) {}

	result<void> parse()
	{
		if (!parse_choice())
			return failure_;
		if (!rest_.empty())
			return fail("an operator is missing");
		return {};
	}

	std::vector<expression::step> steps;
	std::vector<expression::term> terms;

	/// A name in the text, and its position there.
	struct written_term {
		size_t begin, length, term;
		bool is_source; ///< in source_count()
	};
	std::vector<written_term> written_terms;

private:
	using term_use = bool expression::term::*;

	/// Count the recursion depth of the parser.
	class level {
	public:
		explicit level(unsigned &depth) : depth_(depth) { depth_++; }
		~level() { depth_--; }

	private:
		unsigned &depth_;
	};

	error fail(std::string_view problem)
	{
		const size_t column = text_.size() - rest_.size() + 1;

		failure_ = {errc::invalid,
			    std::string(problem) + " at column " +
				    std::to_string(column) +
				    " of the expression " + quote(text_)};
		return failure_;
	}

	bool failed(std::string_view problem)
	{
		fail(problem);
		return false;
	}

	void skip_space()
	{
		while (!rest_.empty() && is_space(rest_.front()))
			rest_.remove_prefix(1);
	}

	bool accept(std::string_view token)
	{
		skip_space();
		if (!rest_.starts_with(token))
			return false;
		rest_.remove_prefix(token.size());
		skip_space();
		return true;
	}

	/// Accept a whole word: "if" is not accepted from "iffy".
	bool accept_word(std::string_view word)
	{
		skip_space();
		if (rest_.substr(0, symbol_length(rest_)) != word)
			return false;
		rest_.remove_prefix(word.size());
		skip_space();
		return true;
	}

	void emit(operation op) { steps.push_back({op}); }

	/// Parse a, or a if b else c.
	bool parse_choice()
	{
		const level nesting(depth_);

		if (depth_ > most_depth)
			return failed("too many parentheses");
		if (!parse_binary(1))
			return false;
		if (!accept_word("if"))
			return true;
		if (!parse_binary(1))
			return false;
		if (!accept_word("else"))
			return failed("else is missing");
		if (!parse_choice())
			return false;
		emit(operation::choose);
		return true;
	}

	const binary_operator *peek_operator()
	{
		skip_space();
		for (const binary_operator &candidate : operators)
			if (rest_.starts_with(candidate.text))
				return &candidate;
		return nullptr;
	}

	/// Parse operators that bind at least as close as @p binding.
	bool parse_binary(unsigned binding)
	{
		if (!parse_unary())
			return false;
		for (;;) {
			const binary_operator *next = peek_operator();

			if (!next || next->binding < binding)
				return true;
			accept(next->text);
			if (!parse_binary(next->binding + 1))
				return false;
			emit(next->op);
		}
	}

	bool parse_unary()
	{
		const level nesting(depth_);

		if (depth_ > most_depth)
			return failed("too many parentheses");
		if (accept("-")) {
			if (!parse_unary())
				return false;
			emit(operation::negate);
			return true;
		}
		if (!accept("("))
			return parse_atom();
		if (!parse_choice())
			return false;
		return accept(")") || failed("a ) is missing");
	}

	bool parse_atom()
	{
		skip_space();
		if (rest_.empty())
			return failed("a value is missing");
		const size_t digits = number_length(rest_);
		const size_t letters = symbol_length(rest_);

		if (letters == rest_.npos)
			return failed("an @ is missing after what begins");
		if (const size_t length = event_length(rest_, letters)) {
			if (!add_term(rest_.substr(0, length), operation::value,
				      &expression::term::wants_value))
				return false;
			rest_.remove_prefix(length);
			return true;
		}
		if (digits && digits >= letters)
			return parse_constant(digits);
		if (!letters)
			return failed("a value is missing");
		return parse_name(letters);
	}

	bool parse_constant(size_t length)
	{
		const auto number = parse_decimal(rest_.substr(0, length));

		if (!number)
			return failed("a number is too large");
		rest_.remove_prefix(length);
		steps.push_back({operation::number, *number});
		return true;
	}

	bool parse_name(size_t length)
	{
		const std::string_view name = rest_.substr(0, length);

		if (name == "if" || name == "else")
			return failed("a value is missing");

		std::string_view behind = rest_.substr(length);

		while (!behind.empty() && is_space(behind.front()))
			behind.remove_prefix(1);
		if (!behind.starts_with('(') &&
		    !add_term(name, operation::value,
			      &expression::term::wants_value))
			return false;
		rest_ = behind;
		if (!rest_.starts_with('('))
			return true;
		if (name == "source_count")
			return parse_source_count();
		for (const auto &function : functions)
			if (name == function.name)
				return parse_call(function.op, function.more);
		return failed("there is no function " + quote(name));
	}

	bool parse_call(operation op, bool more)
	{
		if (!accept("(") || !parse_choice())
			return false;
		if (!accept(","))
			return failed("a second argument is missing");
		do {
			if (!parse_choice())
				return false;
			emit(op);
		} while (more && accept(","));
		return accept(")") || failed("a ) is missing");
	}

	bool parse_source_count()
	{
		accept("(");
		size_t length = symbol_length(rest_);

		if (!length || length == rest_.npos)
			return failed("source_count() takes an event");
		if (const size_t event = event_length(rest_, length))
			length = event;
		if (!add_term(rest_.substr(0, length), operation::sources,
			      &expression::term::wants_sources))
			return false;
		rest_.remove_prefix(length);
		return accept(")") || failed("a ) is missing");
	}

	/// Unescape a name: "imc@cas_count.rd\,edge\=1@" is the event
	/// imc/cas_count.rd,edge=1/.
	static expression::term read_term(std::string_view written)
	{
		expression::term term;

		for (size_t i = 0; i < written.size(); i++) {
			if (written[i] == '\\' && i + 1 < written.size()) {
				term.name += written[++i];
			} else if (written[i] == '@' || written[i] == '/') {
				term.name += '/';
				term.is_event = true;
			} else {
				term.name += written[i];
			}
		}
		return term;
	}

	bool add_term(std::string_view written, operation op, term_use use)
	{
		expression::term term = read_term(written);
		auto position =
			std::find_if(terms.begin(), terms.end(),
				     [&](const expression::term &candidate) {
					     return candidate.name == term.name;
				     });

		if (position == terms.end() && terms.size() == most_terms)
			return failed("too many names");
		if (position == terms.end())
			position = terms.insert(terms.end(), std::move(term));
		(*position).*use = true;

		const auto index =
			static_cast<size_t>(position - terms.begin());

		steps.push_back({op, 0, index});
		written_terms.push_back({text_.size() - rest_.size(),
					 written.size(), index,
					 op == operation::sources});
		return true;
	}

	std::string_view text_, rest_;
	unsigned depth_ = 0;
	error failure_;
};

} // namespace

result<expression> expression::parse(std::string_view text)
{
	if (text.size() > most_text)
		return error{errc::invalid, "the expression is longer than " +
						    std::to_string(most_text) +
						    " characters"};
	parser text_parser(text);
	const auto outcome = text_parser.parse();
	if (!outcome)
		return outcome.error();

	expression parsed;
	parsed.steps_ = std::make_shared<const std::vector<step>>(
		std::move(text_parser.steps));
	parsed.terms_ = std::make_shared<const std::vector<term>>(
		std::move(text_parser.terms));
	return parsed;
}

result<std::string> expression::substitute(
	std::string_view text,
	const std::function<result<std::string>(const term &)> &replacement)
{
	parser text_parser(text);

	if (const auto outcome = text_parser.parse(); !outcome)
		return outcome.error();

	std::string replaced;
	size_t end = 0; // of the text that is in the result

	for (const auto &written : text_parser.written_terms) {
		const term &name = text_parser.terms[written.term];
		const auto formula = replacement(name);

		if (!formula)
			return formula.error();
		if (formula->empty())
			continue;
		if (written.is_source)
			return error{
				errc::invalid,
				"source_count() takes an event, not the metric " +
					quote(name.name)};
		replaced += text.substr(end, written.begin - end);
		replaced += '(' + *formula + ')';
		end = written.begin + written.length;
		if (replaced.size() > most_text)
			return error{errc::invalid,
				     "the metrics in it make it longer than " +
					     std::to_string(most_text) +
					     " characters"};
	}
	replaced += text.substr(end);
	return replaced;
}

result<void> expression::check() const
{
	for (size_t i = 1; steps_ && i < steps_->size(); i++) {
		const step &left = (*steps_)[i - 1], &next = (*steps_)[i];

		if ((next.op == operation::divide ||
		     next.op == operation::remainder) &&
		    left.op == operation::number && left.number == 0)
			return error{
				errc::invalid,
				"it always divides by 0: write another divisor"};
		if (next.op != operation::multiply || i < 2)
			continue;
		// perf's source_count() is of one socket, so that perf's
		// metrics have this product.
		const step &first = (*steps_)[i - 2];
		const step &number = left.op == operation::value ? left : first;
		const step &count = left.op == operation::value ? first : left;

		if (count.op == operation::sources &&
		    number.op == operation::value &&
		    ((*terms_)[number.term].name == "#num_packages" ||
		     (*terms_)[number.term].name == "#num_dies"))
			return error{
				errc::invalid,
				"source_count() is of all sockets here, unlike perf's: leave out " +
					(*terms_)[number.term].name};
	}
	return {};
}

std::span<const expression::term> expression::terms() const
{
	if (!terms_)
		return {};
	return *terms_;
}

double expression::evaluate(std::span<const double> values,
			    std::span<const double> sources) const
{
	std::vector<double> stack;
	const auto pop = [&stack] {
		const double top = stack.back();

		stack.pop_back();
		return top;
	};

	if (!steps_)
		return nan;
	for (const step &next : *steps_) {
		double right, condition;

		switch (next.op) {
		case operation::number:
			stack.push_back(next.number);
			break;
		case operation::value:
			stack.push_back(next.term < values.size()
						? values[next.term]
						: nan);
			break;
		case operation::sources:
			stack.push_back(next.term < sources.size()
						? sources[next.term]
						: nan);
			break;
		case operation::negate:
			stack.back() = -stack.back();
			break;
		case operation::choose:
			right = pop();
			condition = pop();
			if (std::isnan(condition))
				stack.back() = nan;
			else if (condition == 0)
				stack.back() = right;
			break;
		default:
			right = pop();
			stack.back() = binary(next.op, stack.back(), right);
		}
	}
	return stack.back();
}

} // namespace uncore
