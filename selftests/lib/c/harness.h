/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's kselftest_harness.h, and fixtures for the machine under test. Each test is
 * a separate process, whose fixture loads the modules again. A program includes this
 * header once.
 */
#ifndef SELFTESTS_HARNESS_H
#define SELFTESTS_HARNESS_H

#include "kselftest_harness.h"

#include "file.h"
#include "machine.h"
#include "perf.h"
#include "sim.h"
#include "tap.h"

/*
 * Time limit of a test in seconds: as long as "make soak" allows for a VM. The runner
 * sets the real limit, because it knows the kernel and the host.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1000000

static void __attribute__((constructor)) harness_prepare_first(void)
{
	harness_prepare();
}

/*
 * Load the simulated hardware with @sim_params and a fault (or NULL), then the driver, which
 * must log @lines lines besides its summary.
 */
static inline void load_logging(struct __test_metadata *_metadata, const char *sim_params,
				const char *fault, int lines)
{
	machine_setup_sim("%s", sim_params);
	if (fault) {
		ASSERT_EQ(0, -sim_fault("%s", fault));
	}
	log_mark();
	ASSERT_EQ(0, -driver_load(""));
	EXPECT_EQ(1 + lines, log_count("xeon_uncore: ")) {
		log_show("xeon_uncore");
	}
}

/*
 * For a teardown: unload the driver, and expect all registers to have their reset values
 * and the log to have no fault, whatever the test did.
 */
static inline void expect_nothing_left(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, -driver_unload());
	EXPECT_EQ(0, sim_dirty_registers()) {
		sim_show_registers();
	}
	EXPECT_TRUE(machine_leave());
	EXPECT_TRUE(log_clean());
}

/*
 * For a teardown of tests that share the loaded modules: expect no fault in the log and
 * no undefined write.
 */
static inline void expect_no_complaint(struct __test_metadata *_metadata)
{
	EXPECT_EQ(0, sim_stat("undefined"));
	EXPECT_TRUE(log_clean());
}

/* A fixture without data, setup and teardown, for tests that need its variants only */
#define PLAIN_FIXTURE(fixture)						\
	FIXTURE(fixture) {};						\
	FIXTURE_SETUP(fixture) { }					\
	FIXTURE_TEARDOWN(fixture) { }					\
	struct harness_needs_a_semicolon

/* A fixture without data whose setup and teardown are one statement each */
#define FIXTURE_OF(fixture, setup, teardown)				\
	FIXTURE(fixture) {};						\
	FIXTURE_SETUP(fixture) { setup; }				\
	FIXTURE_TEARDOWN(fixture) { teardown; }				\
	struct harness_needs_a_semicolon

/* Setup and teardown of a fixture whose tests must not make undefined writes */
#define NO_UNDEFINED_WRITES(fixture)					\
	FIXTURE_SETUP(fixture) { }					\
	FIXTURE_TEARDOWN(fixture)					\
	{								\
		EXPECT_EQ(0, sim_stat("undefined"));			\
	}								\
	struct harness_needs_a_semicolon

/*
 * Leave out each fixture and each variant whose name is, or begins with, that of a box type
 * which this generation does not have, such as "cbox" and "cbox_two_opcodes".
 */
static inline void harness_leave_out_absent_types(void)
{
	for (struct __fixture_metadata *f = __fixture_list; f; f = f->next) {
		struct __fixture_variant_metadata *v = f->variant, *next;
		bool varied = v;

		for (f->variant = NULL; v; v = next) {
			next = v->next;
			if (!names_absent_type(v->name))
				__register_fixture_variant(f, v);
		}
		if (names_absent_type(f->name) || (varied && !f->variant))
			f->tests = NULL;
	}
}

#undef TEST_HARNESS_MAIN
#define TEST_HARNESS_MAIN						\
	int main(int argc, char **argv)					\
	{								\
		harness_leave_out_absent_types();			\
		return test_harness_run(argc, argv);			\
	}

/* main() of a program with arguments: @prepare gets the arguments, the harness does not. */
#define HARNESS_MAIN_AFTER(prepare)					\
	int main(int argc, char **argv)					\
	{								\
		prepare(argc, argv);					\
		harness_leave_out_absent_types();			\
		return test_harness_run(1, argv);			\
	}								\
	struct harness_needs_a_semicolon

/* Load the modules once for all tests of a program that do not change them. */
#define MACHINE_OF_ALL_TESTS(sim_params, driver_params)			\
	static void __attribute__((constructor)) harness_load(void)	\
	{								\
		machine_setup(sim_params, driver_params);		\
	}								\
	struct harness_needs_a_semicolon

/* A variant with the name of a box type, for a fixture whose only parameter is .type */
#define VARIANT_OF_TYPE(fixture, name)					\
	FIXTURE_VARIANT_ADD(fixture, name) { .type = #name }

/*
 * A variant with the name of each box type of the generation that has counters to program,
 * for a fixture whose only parameter is .type
 */
#define VARIANTS_OF_TYPES(fixture)	VARIANTS_OF(fixture, false)

/* The same with box types of which all counters run freely */
#define VARIANTS_OF_ALL_TYPES(fixture)	VARIANTS_OF(fixture, true)

#define VARIANTS_OF(fixture, all)					\
	static void __attribute__((constructor)) fixture##_of_types(void) \
	{								\
		static struct __fixture_variant_metadata object[BOX_TYPES]; \
		static FIXTURE_VARIANT(fixture) variant[BOX_TYPES];	\
									\
		for (unsigned int k = 0; *box_types[k]; k++) {		\
			if (!(all) && !box_type(box_types[k])->general) \
				continue;				\
			variant[k].type = box_types[k];			\
			object[k].name = box_types[k];			\
			object[k].data = &variant[k];			\
			__register_fixture_variant(&_##fixture##_fixture_object, \
						   &object[k]);		\
		}							\
	}								\
	struct harness_needs_a_semicolon

#endif
