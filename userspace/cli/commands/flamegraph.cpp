// SPDX-License-Identifier: GPL-2.0-or-later
// uncore flamegraph: draws stacks as one SVG file that needs no other files.  Input are
// folded stacks, lines of "OUTER;INNER COUNT", or the samples of a perf.data file, which
// perf script prints.  A script in the SVG zooms and searches.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/message.hpp"
#include "output/sink.hpp"
#include "perf/program.hpp"
#include "perf/script.hpp"
#include "process/output_file.hpp"
#include "terminal/text.hpp"

namespace cli {

struct flame_options {
	std::string input, output, event, title = "Flame graph";
};

/// A function in the graph, with the functions that it called.
struct frame {
	double count = 0; ///< of the function and its callees
	std::map<std::string, frame> callees;
};

/// Width of the picture, height of a function's row, and height of the title, in pixels.
static constexpr double page_width = 1200, row = 17, top_margin = 44;
/// Limit of a line of folded stacks, in bytes; longer lines are skipped.
static constexpr size_t longest_line = 1 << 20;
/// Width in pixels below which a function is not visible, and not drawn.
static constexpr double narrowest = 0.2;

// --- reading

/// Parse the count at the end of a line.
static std::optional<double> count_of(std::string_view digits)
{
	double count = 0;
	const auto [end, error] =
		std::from_chars(digits.data(), digits.data() + digits.size(),
				count, std::chars_format::fixed);

	if (digits.empty() || digits[0] == '-' || error != std::errc() ||
	    end != digits.data() + digits.size() || !std::isfinite(count))
		return std::nullopt;
	return count;
}

static void add_stack(frame &root, std::string_view stack, double count)
{
	frame *node = &root;

	node->count += count;
	for (;;) {
		const size_t next = stack.find(';');

		node = &node->callees[std::string(stack.substr(0, next))];
		node->count += count;
		if (next == std::string_view::npos)
			return;
		stack.remove_prefix(next + 1);
	}
}

/// Add a folded stack.  @return false if the line is not a folded stack.
static bool add_line(frame &root, std::string_view line)
{
	const size_t space = line.find_last_of(" \t");

	if (space == line.npos)
		return false;

	const auto count = count_of(line.substr(space + 1));

	line = line.substr(0, line.find_last_not_of(" \t", space) + 1);
	if (!count || line.empty() ||
	    std::count(line.begin(), line.end(), ';') > long(most_frames))
		return false;

	add_stack(root, line, *count);
	return true;
}

static uncore::result<frame> read_folded(std::istream &input, size_t &skipped)
{
	std::vector<char> buffer(longest_line);
	frame root;

	while (input.getline(buffer.data(), longest_line) || input.gcount()) {
		std::string_view line(buffer.data());

		if (input.fail() && !input.eof()) {
			input.clear();
			input.ignore(
				std::numeric_limits<std::streamsize>::max(),
				'\n');
			skipped++;
			continue;
		}
		if (line.ends_with('\r'))
			line.remove_suffix(1);
		if (!line.empty() && !add_line(root, line))
			skipped++;
	}
	if (input.bad())
		return uncore::error{uncore::errc::system,
				     std::strerror(errno)};
	if (!(root.count > 0))
		return uncore::error{
			uncore::errc::invalid,
			skipped ? "no folded stacks to draw: no line is STACK COUNT"
				: "no folded stacks to draw"};
	return root;
}

/// Return whether perf record wrote the file, in either byte order.
static bool is_perf_data(const std::string &path)
{
	std::ifstream file(path, std::ios::binary);
	std::string magic(8, '\0');

	file.read(magic.data(), 8);
	return magic == "PERFILE2" || magic == "2ELIFREP";
}

/// Choose the event to draw.  A graph has one event, as counts of different events cannot
/// be added.
static uncore::result<std::string>
choose_event(const std::map<std::string, frame> &events,
	     const std::string &name)
{
	std::string names;

	if (events.empty())
		return uncore::error{uncore::errc::invalid,
				     "no samples to draw"};
	if (name.empty() && events.size() == 1)
		return events.begin()->first;
	if (events.contains(name))
		return name;
	for (const auto &[event, root] : events)
		names += (names.empty() ? "" : ", ") + event;
	return uncore::error{
		uncore::errc::invalid,
		fmt::format("{}choose one event with -e: {}",
			    name.empty() ? "" : "no event '" + name + "'; ",
			    names)};
}

/// Read the stacks of one event of a perf.data file, by perf script.
static uncore::result<frame> read_samples(const flame_options &options)
{
	std::map<std::string, frame> events;
	script_reader script([&](const script_sample &sample) {
		add_stack(events[sample.event], sample.stack, sample.period);
	});
	auto words = perf_script_words();

	words.insert(words.end(), {"-i", options.input});

	const auto outcome = read_perf(
		words, [&](std::string_view line) { script.add(line); });

	if (!outcome)
		return uncore::error{outcome.error().code,
				     options.input + ": " +
					     outcome.error().message};
	script.end();

	const auto event = choose_event(events, options.event);

	if (!event)
		return uncore::error{event.error().code,
				     options.input + ": " +
					     event.error().message};
	return std::move(events[*event]);
}

/// Format a count.  Counts are whole numbers, unless another program has scaled them.
static std::string count_text(double count)
{
	return fmt::format("{:.{}f}", count,
			   count == std::floor(count) ? 0 : 2);
}

// --- drawing

/// Escape text for XML.
static std::string escaped(std::string_view text)
{
	std::string out;

	for (char c : printable(text))
		switch (c) {
		case '<':
			out += "&lt;";
			break;
		case '>':
			out += "&gt;";
			break;
		case '&':
			out += "&amp;";
			break;
		case '"':
			out += "&quot;";
			break;
		default:
			out += c;
		}
	return out;
}

/// Derive a function's colour from a hash (FNV-1a) of its name: a warm colour for
/// programs, a cold colour for the kernel, whose names end with _[k].
static std::string colour_of(std::string_view name)
{
	uint32_t hash = 2166136261u;

	for (unsigned char c : name)
		hash = (hash ^ c) * 16777619u;
	unsigned shade = hash % 60, tint = hash / 64 % 40;

	if (name.ends_with("_[k]"))
		return fmt::format("rgb({},{},{})", 90 + tint, 150 + tint,
				   190 + shade);
	return fmt::format("rgb({},{},{})", 215 + tint, 120 + shade + tint,
			   50 + tint);
}

static size_t depth_of(const frame &function)
{
	size_t depth = 0;

	for (const auto &[name, callee] : function.callees)
		depth = std::max(depth, depth_of(callee));
	return depth + 1;
}

namespace {

struct drawing {
	std::ostream &out;
	double scale; ///< width of a count
	double total;
	size_t depth;
	bool counts; ///< show counts beside the shares

	void draw(const std::string &name, const frame &function, double x,
		  size_t level);
};

} // namespace

void drawing::draw(const std::string &name, const frame &function, double x,
		   size_t level)
{
	double width = function.count * scale;
	double y = top_margin + (depth - 1 - level) * row;
	std::string text = escaped(name);

	if (width < narrowest)
		return;
	out << fmt::format(
		"<g class=\"f\" data-x=\"{:.3f}\" data-w=\"{:.3f}\" data-n=\"{}\"><title>{}: {}{:.2f}%{}</title><rect x=\"{:.3f}\" y=\"{:.0f}\" width=\"{:.3f}\" height=\"{:.0f}\" fill=\"{}\"/><text x=\"{:.3f}\" y=\"{:.0f}\"></text></g>\n",
		x, width, text, text,
		counts ? count_text(function.count) + " (" : "",
		100 * function.count / total, counts ? ")" : "", x, y, width,
		row - 1, colour_of(name), x + 3, y + 12);
	for (const auto &[callee_name, callee] : function.callees) {
		draw(callee_name, callee, x, level + 1);
		x += callee.count * scale;
	}
}

/// Zoom: frames above and below the clicked frame get its width.  Search:
/// frames whose names contain a text are marked, and their share is shown.
static constexpr const char *script = R"js(
const frames = [...document.querySelectorAll('g.f')].map(g => ({
	g, x: +g.dataset.x, w: +g.dataset.w, n: g.dataset.n,
	rect: g.querySelector('rect'), text: g.querySelector('text') }));
const page = +document.documentElement.dataset.width;
const found = document.getElementById('found');
function place(f, x, w) {
	f.g.style.display = w > 0 ? '' : 'none';
	if (w <= 0) return;
	f.rect.setAttribute('x', x);
	f.rect.setAttribute('width', w);
	f.text.setAttribute('x', x + 3);
	const room = Math.floor((w - 6) / 7);
	f.text.textContent = room < 3 ? '' : f.n.length <= room ? f.n :
		f.n.slice(0, room - 1) + '…';
}
function zoom(to) {
	const k = page / to.w;
	for (const f of frames) {
		const left = Math.max(f.x, to.x);
		const right = Math.min(f.x + f.w, to.x + to.w);
		place(f, (left - to.x) * k, right - left > 1e-6 ? (right - left) * k : 0);
	}
}
function search() {
	const text = prompt('Search for functions whose name contains', '');
	if (text === null) return;
	let spans = [];
	for (const f of frames) {
		const hit = text !== '' && f.n.includes(text);
		f.rect.classList.toggle('hit', hit);
		if (hit) spans.push([f.x, f.x + f.w]);
	}
	spans.sort((a, b) => a[0] - b[0]);
	let sum = 0, end = 0;
	for (const [a, b] of spans) {
		sum += Math.max(0, b - Math.max(a, end));
		end = Math.max(end, b);
	}
	found.textContent = text === '' ? '' :
		`${text}: ${(100 * sum / page).toFixed(1)}%`;
}
for (const f of frames) f.g.addEventListener('click', () => zoom(f));
document.getElementById('reset').addEventListener('click', () => zoom(frames[0]));
document.getElementById('search').addEventListener('click', search);
zoom(frames[0]);
)js";

static void write_svg(std::ostream &out, const frame &root,
		      const std::string &title, bool counts)
{
	size_t depth = depth_of(root);
	double height = top_margin + depth * row + 8;
	drawing picture{out, page_width / root.count, root.count, depth,
			counts};

	out << fmt::format(
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" data-width=\"{0:.0f}\">\n"
		"<style>text{{font:11px monospace;pointer-events:none}}g.f{{cursor:pointer}}g.f:hover rect{{stroke:#000}}.hit{{fill:#c3f}}.b{{cursor:pointer;fill:#05a;pointer-events:auto}}</style>\n"
		"<rect width=\"100%\" height=\"100%\" fill=\"#fafafa\"/>\n"
		"<text x=\"{2:.0f}\" y=\"20\" text-anchor=\"middle\" style=\"font-size:15px\">{3}</text>\n"
		"<text id=\"reset\" class=\"b\" x=\"4\" y=\"20\">reset</text>\n"
		"<text id=\"search\" class=\"b\" x=\"50\" y=\"20\">search</text>\n<text id=\"found\" x=\"4\" y=\"36\"></text>\n",
		page_width, height, page_width / 2, escaped(title));
	picture.draw("all", root, 0, 0);
	out << "<script><![CDATA[" << script << "]]></script>\n</svg>\n";
}

// --- the command

static uncore::result<frame> read_stacks(const flame_options &options)
{
	const bool from_stdin = options.input.empty() || options.input == "-";
	const std::string name = from_stdin ? "standard input" : options.input;
	std::ifstream file;

	if (!from_stdin) {
		file.open(options.input);
		if (!file)
			return uncore::error{uncore::errc::system,
					     name + ": " +
						     std::strerror(errno)};
	}

	size_t skipped = 0;
	auto root = read_folded(from_stdin ? std::cin : file, skipped);

	if (!root)
		return uncore::error{root.error().code,
				     name + ": " + root.error().message};
	if (skipped)
		note(fmt::format("{} line{} not STACK COUNT, and skipped",
				 skipped, skipped == 1 ? " is" : "s are"));
	return root;
}

static int flamegraph(const flame_options &options)
{
	// All CPUs of a socket sample the counts of the same box, so the sum of all
	// periods has each count several times.  Show only shares, which are right.
	const bool counts = !is_perf_data(options.input);
	const auto root = counts ? read_stacks(options) : read_samples(options);

	if (!root)
		return fail(root.error());

	std::ostringstream picture;

	write_svg(picture, *root, options.title, counts);
	if (options.output.empty())
		return sink().write(picture.view()) ? success : failure;

	auto target = output_file::create(options.output, 0666);

	if (!target)
		return fail(target.error());
	target->write(picture.view());
	if (auto written = target->commit(); !written)
		return fail(written.error());
	return success;
}

void add_flamegraph(parser &app, context &shared)
{
	auto options = std::make_shared<flame_options>();
	parser command =
		add_command(app, shared, "flamegraph",
			    "Draw folded stacks, as one SVG file",
			    [options] { return flamegraph(*options); });

	add_examples(command, "uncore flamegraph perf.data -o stacks.svg",
		     "uncore flamegraph stacks.folded > stacks.svg");
	command.add_option(
		       "file", options->input,
		       "Folded stacks, or perf.data of record -g; - or none: folded stacks on standard input")
		.type_name("FILE");
	command.add_option("-e,--event", options->event,
			   "The event to draw of perf.data")
		.type_name("EVENT");
	command.add_option("-o,--output", options->output,
			   "A file to write to, not standard output")
		.not_empty()
		.type_name("FILE");
	command.add_option("--title", options->title, "What stands above it")
		.type_name("TITLE");
}

} // namespace cli
