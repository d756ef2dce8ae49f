// SPDX-License-Identifier: LGPL-2.1-or-later
// Run the fuzz targets on their seeds, and on parts of the seeds.  A broken promise or a
// crash ends the program.  "make fuzz" searches for more inputs, under sanitizers.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

// Each is LLVMFuzzerTestOneInput() of a file of userspace/fuzz.
extern "C" {
int event_fuzz(const uint8_t *data, size_t size);
int expression_fuzz(const uint8_t *data, size_t size);
int http_fuzz(const uint8_t *data, size_t size);
int script_fuzz(const uint8_t *data, size_t size);
int sysfs_fuzz(const uint8_t *data, size_t size);
int text_fuzz(const uint8_t *data, size_t size);
}

namespace {

struct target {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
};

class seeds : public testing::TestWithParam<target> {};

std::string replaced(std::string text, std::string_view from, char to)
{
	for (size_t at; (at = text.find(from)) != text.npos;)
		text.replace(at, from.size(), 1, to);
	return text;
}

TEST_P(seeds, keep_the_promises)
{
	constexpr size_t step = 5; // bytes between two cuts
	std::ifstream file(std::string(FUZZ_SEEDS "/") + GetParam().name + ".txt");
	std::string line;
	unsigned inputs = 0;
	const auto run = [&inputs](const std::string &input) {
		inputs++;
		return GetParam().run(reinterpret_cast<const uint8_t *>(input.data()),
				      input.size());
	};

	while (std::getline(file, line)) {
		const std::string seed = replaced(replaced(line, "\\n", '\n'), "\\r", '\r');

		EXPECT_EQ(run(seed), 0);
		for (size_t at = 0; at < seed.size(); at += step) {
			EXPECT_EQ(run(seed.substr(0, at)), 0);
			EXPECT_EQ(run(seed.substr(0, at) + seed.substr(at + 1)), 0);
			EXPECT_EQ(run(seed.substr(0, at) + '\xff' + seed.substr(at)), 0);
		}
	}
	EXPECT_GT(inputs, 30u) << "seeds are missing";
}

INSTANTIATE_TEST_SUITE_P(targets, seeds,
			 testing::Values(target{"event", event_fuzz},
					 target{"expression", expression_fuzz},
					 target{"http", http_fuzz},
					 target{"script", script_fuzz},
					 target{"sysfs", sysfs_fuzz},
					 target{"text", text_fuzz}),
			 [](const auto &info) { return std::string(info.param.name); });

} // namespace
