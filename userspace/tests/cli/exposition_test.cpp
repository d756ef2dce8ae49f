// SPDX-License-Identifier: GPL-2.0-or-later
// Test that names chosen by other users are safe in metrics and in JSON.
#include "exporter/exposition.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "output/document.hpp"

using namespace cli;

/// Make a gauge with a label.
static std::vector<family> labelled(const std::string &value)
{
	return {{"x",
		 family::kind::gauge,
		 "",
		 "A gauge.",
		 {{{{"a", value}}, 1}}}};
}

TEST(exposition, cleans_labels)
{
	const std::pair<const char *, const char *> labels[] = {
		{"/cg/bad\xffname", "/cg/bad?name"},
		{"/cg/cut\xe3\x80", "/cg/cut??"},
		{"/a\nx 1", "/a?x 1"},
		{"/\"q\\", "/\\\"q\\\\"},
		{"/日本語", "/日本語"},
	};

	for (const auto &[name, label] : labels)
		for (const exposition form :
		     {exposition::prometheus, exposition::openmetrics})
			EXPECT_NE(render(labelled(name), form)
					  .find(std::string("x{a=\"") + label +
						"\"} 1\n"),
				  std::string::npos)
				<< name;
}

TEST(exposition, keeps_long_labels)
{
	const std::string path(4000, 'p');

	EXPECT_NE(render(labelled(path), exposition::openmetrics).find(path),
		  std::string::npos);
}

TEST(document, cleans_strings_and_names)
{
	EXPECT_EQ(dump({{"bad\xff", {"\xc0\xaf", "a\nb", 1}}}, -1),
		  R"({"bad?":["??","a?b",1]})");
}
