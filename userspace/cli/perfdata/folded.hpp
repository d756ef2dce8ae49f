// SPDX-License-Identifier: GPL-2.0-or-later
// Folded stacks: a line for each stack, "TASK;OUTER;INNER COUNT".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "perfdata/profile.hpp"
#include "symbols/symbolizer.hpp"

namespace cli {

/// The stack of samples that were lost; its count is an estimate, by the mean
/// of the others.
inline constexpr std::string_view lost_stack = "[lost samples]";

/// Functions of a stack; outer ones are left out of a longer one.
inline constexpr size_t most_frames = 1000;

/// Append a frame to a stack.  Names come from other users' tasks and programs:
/// a name cannot look like several frames, end the line, or control a terminal.
void add_frame(std::string &stack, std::string_view name);

/// Counts by stack: the task, then functions, outermost first, those of the
/// kernel with _[k] behind.  A sample without a call chain has one function.
/// Samples that the file lost are lost_stack.
std::map<std::string, long double> fold(const perf_file &file,
					const profile &samples,
					const profile_event &event,
					symbolizer &names);

/// The lines.  Counts are rounded so that their sum is the rounded sum.
std::string folded_text(const std::map<std::string, long double> &stacks);

} // namespace cli
