// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configurations that perf_event_open() must refuse with the right error and without a
 * register write: reserved bits, filters that the event ignores, groups whose members
 * can never count together, and features that an uncore does not have.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/c/catalogue.h"
#include "lib/c/generation.h"
#include "lib/c/harness.h"
#include "lib/c/perf.h"
#include "lib/c/sim.h"

/* Fixtures that load the simulator with other parameters come last. */
MACHINE_OF_ALL_TESTS("clock=manual", "");

/* --- refusals ------------------------------------------------------------ */

/* Open @attr; check that this fails with @error and writes no register. */
static bool refused(const struct perf_event_attr *attr, int pid, int cpu,
		    int group, int error, const char *label)
{
	bool ok;
	int fd;

	sim_trace_clear();
	fd = perf_open(attr, pid, cpu, group);
	ok = check(fd == -error, "%s: %s, expected %s", label,
		   fd >= 0 ? "opened" : strerror(-fd), strerror(error));
	ok &= check_eq(sim_trace_writes(), 0, "%s: register writes", label);
	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Set @bits to the bits of config, config1 and config2 that a field of the PMU's format
 * directory has.
 */
static void format_bits(const char *pmu, uint64_t bits[3])
{
	static const char *const fields[] = {
		"event", "umask", "edge", "inv", "thresh", "tid_en",
		"filter_tid", "filter_cid", "filter_link", "filter_state",
		"filter_nid", "filter_opc", "filter_opc0", "filter_opc1",
		"filter_rem", "filter_loc", "filter_all_op", "filter_nm",
		"filter_not_nm", "ch_mask", "fc_mask", "filter_c6", "filter_nc",
		"filter_isoc", "filter_addr", "occ_sel", "occ_invert",
		"occ_edge", "filter_band0", "filter_band1", "filter_band2",
		"filter_band3", "match_tx", "match0", "match1", "mask0", "mask1",
		"agent", "flow", "type", "snoop", "state", "core", "module",
		"fill", "cross", "block", "submask", "valid", "local",
	};

	memset(bits, 0, 3 * sizeof(*bits));
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		char file[64], text[64];
		unsigned int word = 0;
		char *p, *end;

		snprintf(file, sizeof(file), "format/%s", fields[i]);
		if (pmu_file(pmu, file, text, sizeof(text)))
			continue;
		sscanf(text, "config%u", &word);
		for (p = strchr(text, ':') + 1; *p; p = *end ? end + 1 : end) {
			unsigned int low = strtoul(p, &end, 10), high = low;

			if (*end == '-')
				high = strtoul(end + 1, &end, 10);
			for (; low <= high; low++)
				bits[word] |= 1ULL << low;
		}
	}
}

/*
 * Return the configuration of a valid event of a box type: 0, or the first event of the
 * catalogue if a control register of 0 turns the counter off, or there is none.
 */
static uint64_t right_config(const char *type)
{
	size_t n;
	const struct cat_event *e;

	if (!generation()->one_a_cycle && box_type(type)->general)
		return 0;
	e = catalogue(&n);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].box, type))
			return e[i].config;
	tap_bail("the catalogue has no event of %s", type);
}

FIXTURE(box)
{
	char pmu[PMU_NAME_MAX];
	int cpu;
	struct perf_event_attr base;	/* attributes of a valid event */
};

FIXTURE_VARIANT(box) { const char *type; };
VARIANTS_OF_ALL_TYPES(box);

FIXTURE_SETUP(box)
{
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->cpu = pmu_cpu(self->pmu, 0);
	ASSERT_EQ(0, -pmu_attr(&self->base, self->pmu, ""));
	self->base.config = right_config(variant->type);
}

FIXTURE_TEARDOWN(box) { }

/* Each bit without a format field is refused when added to a valid event. */
TEST_F(box, bits_without_a_name_are_refused)
{
	unsigned int n = 0;
	uint64_t format[3];
	int fd;

	format_bits(self->pmu, format);
	for (unsigned int bit = 0; bit < 3 * 64; bit++) {
		struct perf_event_attr attr = self->base;
		unsigned int word = bit / 64;
		uint64_t set = 1ULL << bit % 64;

		if (format[word] & set)
			continue;
		attr.config |= word == 0 ? set : 0;
		attr.config1 = word == 1 ? set : 0;
		attr.config2 = word == 2 ? set : 0;
		EXPECT_TRUE(refused(&attr, -1, self->cpu, -1, EINVAL, self->pmu)) {
			TH_LOG("config%u bit %u", word, bit % 64);
		}
		n++;
	}
	EXPECT_GT(n, 0);
	fd = perf_open(&self->base, -1, self->cpu, -1);
	EXPECT_GE(fd, 0) {
		TH_LOG("without any the event does not open: %s", strerror(-fd));
	}
	close(fd);
}

/* Event strings that are refused with EINVAL */
PLAIN_FIXTURE(bad_event);
FIXTURE_VARIANT(bad_event) { const char *type, *event; };

#define BAD_EVENT(box, name, string)					\
	FIXTURE_VARIANT_ADD(bad_event, box##_##name) {			\
		.type = #box, .event = string,				\
	}

BAD_EVENT(cbox, opcode_of_a_clock, "event=0,filter_opc=0x182");
BAD_EVENT(cbox, opcode_of_a_lookup, "event=0x34,umask=0x11,filter_opc=0x182");
BAD_EVENT(cbox, opcode_without_the_opcode_subevent,
	  "event=0x35,umask=0x08,filter_opc=0x182");
BAD_EVENT(cbox, nc_without_the_opcode_subevent, "event=0x35,umask=0x08,filter_nc=1");
BAD_EVENT(cbox, isoc_without_the_opcode_subevent,
	  "event=0x36,umask=0x08,filter_isoc=1");
BAD_EVENT(cbox, c6_of_a_clock, "event=0,filter_c6=1");
BAD_EVENT(cbox, link_of_a_clock, "event=0,filter_link=1");
BAD_EVENT(cbox, state_of_a_TOR_event,
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_state=1");
BAD_EVENT(cbox, node_without_the_node_subevent, "event=0x35,umask=0x08,filter_nid=1");
BAD_EVENT(cbox, thread_without_tid_en, "event=0x35,umask=0x08,filter_tid=2");
BAD_EVENT(ubox, thread_of_another_event, "event=0x46,filter_tid=1");
BAD_EVENT(ubox, core_of_another_event, "event=0x46,filter_cid=1");
BAD_EVENT(ha, address_of_a_clock, "event=0,filter_addr=0x1000");
BAD_EVENT(ha, address_with_opcode_subevents_only,
	  "event=0x20,umask=0x02,filter_addr=0x1000");
BAD_EVENT(ha, opcode_with_the_address_subevent_only,
	  "event=0x20,umask=0x01,filter_addr=0x1000,filter_opc=1");
BAD_EVENT(ha, address_inside_a_cache_line, "event=0x20,umask=0x01,filter_addr=0x1020");
BAD_EVENT(pcu, band_of_a_clock, "event=0,filter_band0=20");
BAD_EVENT(pcu, another_events_band, "event=0x0b,filter_band1=20");
BAD_EVENT(pcu, umask_of_an_ordinary_event, "event=0x60,umask=1");
BAD_EVENT(qpi, match_of_a_clock, "event=0x14,match_mc=0xe");
BAD_EVENT(qpi, mask_of_a_clock, "event=0x14,mask0=0x1fe0");
BAD_EVENT(qpi, transmit_side_of_a_clock, "event=0x14,match_tx=1");
BAD_EVENT(qpi, match_of_event_0x38_without_the_extension, "event=0x38,match_mc=0xe");
BAD_EVENT(qpi, reserved_bits_of_match0, "event=0x138,match0=0x1,mask0=0x1");
BAD_EVENT(qpi, reserved_bits_of_mask1, "event=0x138,mask1=0x100000");
BAD_EVENT(ubox, threshold_of_a_fixed_counter, "event=0xff,thresh=1");
BAD_EVENT(ubox, edge_of_a_fixed_counter, "event=0xff,edge=1");
BAD_EVENT(imc, inv_of_a_fixed_counter, "event=0xff,inv=1");
BAD_EVENT(imc, threshold_of_a_fixed_counter, "event=0xff,thresh=1");
BAD_EVENT(imc, unknown_umask_of_a_fixed_counter, "event=0xff,umask=1");
BAD_EVENT(ubox, filter_of_a_fixed_counter, "event=0xff,filter_tid=1");
BAD_EVENT(cbox, fixed_counter_of_a_box_without_one, "event=0xff");
BAD_EVENT(sbox, fixed_counter_of_a_box_without_one, "event=0xff");
BAD_EVENT(ha, fixed_counter_of_a_box_without_one, "event=0xff");
BAD_EVENT(pcu, threshold_of_a_free_running_counter, "event=0xff,umask=0x12,thresh=1");
BAD_EVENT(pcu, edge_of_a_free_running_counter, "event=0xff,umask=0x12,edge=1");
BAD_EVENT(pcu, filter_of_a_free_running_counter,
	  "event=0xff,umask=0x13,filter_band0=20");
BAD_EVENT(pcu, C3_residency_of_a_core, "event=0xff,umask=0x10");
BAD_EVENT(pcu, C6_residency_of_a_core, "event=0xff,umask=0x11");
BAD_EVENT(pcu, unknown_free_running_counter, "event=0xff,umask=0x1f");
BAD_EVENT(qpi, threshold_of_a_free_running_counter, "event=0xff,umask=0x10,thresh=1");
BAD_EVENT(qpi, match_of_a_free_running_counter, "event=0xff,umask=0x11,match_mc=0xe");
BAD_EVENT(qpi, extension_of_a_free_running_counter, "event=0x1ff,umask=0x10");

/* All manuals: .thresh must not be 0 if edge detection or invert is set. */
#define SHAPELESS(box)							\
	BAD_EVENT(box, edge_without_a_threshold, "event=2,edge=1");	\
	BAD_EVENT(box, inv_without_a_threshold, "event=2,inv=1")

SHAPELESS(ubox);
SHAPELESS(cbox);
SHAPELESS(sbox);
SHAPELESS(ha);
SHAPELESS(imc);
SHAPELESS(irp);
SHAPELESS(pcu);
SHAPELESS(qpi);
SHAPELESS(r2pcie);
SHAPELESS(r3qpi);
BAD_EVENT(pcu, occ_edge_without_a_threshold, "event=0x80,occ_sel=1,occ_edge=1");
BAD_EVENT(pcu, occ_invert_without_a_threshold,
	  "event=0x80,occ_sel=1,occ_invert=1");
BAD_EVENT(gbsq, a_control_of_0_which_is_off, "config=0");
BAD_EVENT(gsnpq, a_control_of_0_which_is_off, "config=0");
BAD_EVENT(fsb, a_control_of_0_which_is_off, "config=0");
BAD_EVENT(fsb, the_bus_without_its_valid_bit, "submask=0x28000");
BAD_EVENT(gbsq, saturation, "lookups.any,config=0x083fffff00000000");
BAD_EVENT(gsnpq, saturation, "snoops.any,config=0x083fffff00000000");
BAD_EVENT(fsb, saturation, "config=0x0c02800000000000");

TEST_F(bad_event, is_refused)
{
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];

	if (generation_lacks(variant->type, variant->event))
		SKIP(return, "no such field");
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	ASSERT_EQ(0, -pmu_attr(&attr, pmu, variant->event));
	EXPECT_TRUE(refused(&attr, -1, pmu_cpu(pmu, 0), -1, EINVAL,
			    variant->event));
}

/* Groups whose last member is refused; the members before it fit. */
PLAIN_FIXTURE(bad_group);

FIXTURE_VARIANT(bad_group)
{
	const char *type;
	const char *event[6];
};

#define BAD_GROUP(box, name, ...)					\
	FIXTURE_VARIANT_ADD(bad_group, box##_##name) {			\
		.type = #box, .event = { __VA_ARGS__ },			\
	}

BAD_GROUP(cbox, five_different_events_on_four_counters,
	  "event=0", "event=0,thresh=1", "event=0,thresh=2", "event=0,thresh=3",
	  "event=0,thresh=4");
BAD_GROUP(imc, five_different_events_on_four_counters,
	  "event=0", "event=0,thresh=1", "event=0,thresh=2", "event=0,thresh=3",
	  "event=0,thresh=4");
BAD_GROUP(r3qpi, four_different_events_on_three_counters,
	  "event=1", "event=1,thresh=1", "event=1,thresh=2", "event=1,thresh=3");
BAD_GROUP(ubox, three_different_events_on_two_counters,
	  "event=0x46", "event=0x46,thresh=1", "event=0x46,thresh=2");
BAD_GROUP(cbox, two_events_that_need_counter_0,
	  "event=0x36,umask=0x08", "event=0x11,umask=0x01");
BAD_GROUP(cbox, two_opcodes,
	  "event=0x35,umask=0x01,filter_opc=0x182",
	  "event=0x35,umask=0x01,filter_opc=0x180");
BAD_GROUP(cbox, an_opcode_and_the_same_with_nc,
	  "event=0x35,umask=0x01,filter_opc=0x182",
	  "event=0x35,umask=0x01,filter_opc=0x182,filter_nc=1");
BAD_GROUP(cbox, two_states,
	  "event=0x34,umask=0x11,filter_state=1",
	  "event=0x34,umask=0x11,filter_state=2");
BAD_GROUP(cbox, two_nodes,
	  "event=0x35,umask=0x48,filter_nid=1",
	  "event=0x37,umask=0x41,filter_nid=2");
BAD_GROUP(cbox, two_threads,
	  "event=0,tid_en=1,filter_tid=1",
	  "event=0x35,umask=0x08,tid_en=1,filter_tid=2");
BAD_GROUP(ubox, two_cores,
	  "event=0x42,umask=0x08,filter_cid=1",
	  "event=0x45,umask=0x01,filter_cid=2");
BAD_GROUP(ha, two_addresses,
	  "event=0x20,umask=0x01,filter_addr=0x1000",
	  "event=0x20,umask=0x01,filter_addr=0x2000");
BAD_GROUP(ha, two_opcodes,
	  "event=0x20,umask=0x04,filter_opc=1",
	  "event=0x20,umask=0x08,filter_opc=2");
BAD_GROUP(pcu, two_values_of_one_band,
	  "event=0x0c,filter_band1=10", "event=0x0c,filter_band1=20");
BAD_GROUP(qpi, two_packet_filters,
	  "event=0x138,match_mc=0xe,mask_mc=0xf",
	  "event=0x138,match_mc=0xc,mask_mc=0xf");
BAD_GROUP(gbsq, three_different_events_on_two_counters,
	  "lookups.any", "lookups.demand", "lookups.prefetch");
BAD_GROUP(gsnpq, three_different_events_on_two_counters,
	  "snoops.any", "snoops.hit", "snoops.hitm");
BAD_GROUP(fsb, five_different_events_on_four_counters,
	  "dbsy", "drdy", "bnr", "l_hit", "l_hitm");
BAD_GROUP(qpi, receive_and_transmit_filter,
	  "event=0x138,match_mc=0xe,mask_mc=0xf",
	  "event=0x138,match_mc=0xe,mask_mc=0xf,match_tx=1");

TEST_F(bad_group, last_one_is_refused)
{
	int fd[ARRAY_SIZE(variant->event)], cpu;
	unsigned int n = 0, last = 0;
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];

	while (last < ARRAY_SIZE(variant->event) && variant->event[last])
		last++;
	ASSERT_GT(last, 1);
	last--;
	if (generation_lacks(variant->type, variant->event[last]))
		SKIP(return, "no such field");
	ASSERT_TRUE(pmu_name(pmu, variant->type, 0));
	cpu = pmu_cpu(pmu, 0);
	/* The leader is disabled: only perf_event_open() itself could write registers. */
	for (; n < last; n++) {
		ASSERT_EQ(0, -pmu_attr(&attr, pmu, variant->event[n]));
		attr.disabled = n == 0;
		fd[n] = perf_open(&attr, -1, cpu, n ? fd[0] : -1);
		ASSERT_GE(fd[n], 0) {
			TH_LOG("%s: %s", variant->event[n], strerror(-fd[n]));
		}
	}
	ASSERT_EQ(0, -pmu_attr(&attr, pmu, variant->event[last]));
	EXPECT_TRUE(refused(&attr, -1, cpu, fd[0], EINVAL, variant->event[last]));
	while (n--)
		close(fd[n]);
}

PLAIN_FIXTURE(group_of_two_boxes);

TEST_F(group_of_two_boxes, is_refused)
{
	char pmu[2][PMU_NAME_MAX];
	struct perf_event_attr attr;
	const char *type = box_type_of_many(), *other = type;
	int fd;

	/*
	 * also on Xeon 7100 and 7400, where one register freezes both boxes: perf has no
	 * groups across PMUs
	 */
	if (generation()->one_a_cycle) {
		type = "fsb";
		other = "gbsq";
	}
	ASSERT_TRUE(pmu_name(pmu[0], type, 0));
	ASSERT_TRUE(pmu_name(pmu[1], other, !strcmp(type, other)));
	pmu_attr(&attr, pmu[0], "");
	attr.config = right_config(type);
	attr.disabled = 1;
	fd = perf_open(&attr, -1, pmu_cpu(pmu[0], 0), -1);
	ASSERT_GE(fd, 0) {
		TH_LOG("leader: %s", strerror(-fd));
	}
	pmu_attr(&attr, pmu[1], "");
	attr.config = right_config(other);
	EXPECT_TRUE(refused(&attr, -1, pmu_cpu(pmu[0], 0), fd, EINVAL,
			    "member of another box"));
	close(fd);
}

/* --- features that an uncore does not have ------------------------------- */

FIXTURE(attributes)
{
	char pmu[PMU_NAME_MAX];
	int cpu;
	struct perf_event_attr base;	/* attributes of a valid event */
};

FIXTURE_VARIANT(attributes) { const char *type; };
VARIANT_OF_TYPE(attributes, cbox);
VARIANT_OF_TYPE(attributes, imc);
VARIANT_OF_TYPE(attributes, fsb);

FIXTURE_SETUP(attributes)
{
	ASSERT_TRUE(pmu_name(self->pmu, variant->type, 0));
	self->cpu = pmu_cpu(self->pmu, 0);
	ASSERT_EQ(0, -pmu_attr(&self->base, self->pmu, ""));
	self->base.config = right_config(variant->type);
}

FIXTURE_TEARDOWN(attributes) { }

#define REFUSED(field, value, error)					\
	do {								\
		struct perf_event_attr attr = self->base;		\
									\
		attr.field = value;					\
		EXPECT_TRUE(refused(&attr, -1, self->cpu, -1, error,	\
				    #field));				\
	} while (0)

TEST_F(attributes, exclude_is_refused)
{
	REFUSED(exclude_user, 1, EINVAL);
	REFUSED(exclude_kernel, 1, EINVAL);
	REFUSED(exclude_hv, 1, EINVAL);
	REFUSED(exclude_idle, 1, EINVAL);
	REFUSED(exclude_host, 1, EINVAL);
	REFUSED(exclude_guest, 1, EINVAL);
}

TEST_F(attributes, precise_ip_is_refused)
{
	REFUSED(precise_ip, 1, EOPNOTSUPP);
}

TEST_F(attributes, task_is_refused)
{
	struct perf_event_attr *attr = &self->base;

	EXPECT_TRUE(refused(attr, getpid(), -1, -1, EINVAL, "pid"));
	EXPECT_TRUE(refused(attr, getpid(), self->cpu, -1, EINVAL, "pid and CPU"));
	EXPECT_TRUE(refused(attr, 0, self->cpu, -1, EINVAL, "the caller itself"));
}

TEST_F(attributes, no_cpu_is_refused)
{
	EXPECT_TRUE(refused(&self->base, -1, -1, -1, EINVAL, "cpu=-1"));
}

/*
 * Kernels since 6.3 have config3. Older kernels refuse attributes that are larger than
 * their own struct perf_event_attr.
 */
TEST_F(attributes, bit_in_config3_is_refused)
{
	struct {
		struct perf_event_attr attr;
		uint64_t config3;
	} wide = { .attr = self->base, .config3 = 1 };
	int fd;

	wide.attr.size = PERF_ATTR_SIZE_VER7 + sizeof(wide.config3);
	memmove((char *)&wide + PERF_ATTR_SIZE_VER7, &wide.config3,
		sizeof(wide.config3));
	sim_trace_clear();
	fd = perf_open(&wide.attr, -1, self->cpu, -1);
	EXPECT_TRUE(fd == -EINVAL || fd == -E2BIG) {
		TH_LOG("%s", fd < 0 ? strerror(-fd) : "opened");
	}
	EXPECT_EQ(0, sim_trace_writes());
	if (fd >= 0)
		close(fd);
}

FIXTURE(user_without_cap_perfmon) {};

FIXTURE_SETUP(user_without_cap_perfmon)
{
	ASSERT_EQ(0, -file_write("/proc/sys/kernel/perf_event_paranoid", "2\n"));
}

FIXTURE_TEARDOWN(user_without_cap_perfmon) { }

TEST_F(user_without_cap_perfmon, gets_eacces)
{
	const char *type = generation()->one_a_cycle ? "fsb" : "imc";
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];
	int status = 0, cpu, child;

	ASSERT_TRUE(pmu_name(pmu, type, 0));
	cpu = pmu_cpu(pmu, 0);
	pmu_attr(&attr, pmu, "");
	attr.config = right_config(type);
	sim_trace_clear();
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(255);
		_exit(-perf_open(&attr, -1, cpu, -1));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EACCES, WEXITSTATUS(status));
	EXPECT_EQ(0, sim_trace_writes());
}

/* --- under the names of the in-tree driver --------------------------------- */

FIXTURE_OF(drop_in, machine_setup("clock=manual", "pmu_prefix=uncore"),
	   EXPECT_TRUE(machine_leave()));

/*
 * intel_uncore writes edge and inv to the register unchanged, so under its PMU names the
 * driver accepts them without a threshold.
 */
TEST_F(drop_in, edge_needs_no_threshold)
{
	char slices[PMU_NAME_MAX];
	const char *const pmus[] = { slices, "uncore_imc_0", "uncore_pcu" };

	if (generation_lacks(box_type_of_many(), "edge"))
		SKIP(return, "no such field");
	snprintf(slices, sizeof(slices), "uncore_%s_0", box_type_of_many());
	for (unsigned int i = 0; i < ARRAY_SIZE(pmus); i++) {
		int fd = event_open(pmus[i], pmu_cpu(pmus[i], 0),
				    "event=2,edge=1");

		EXPECT_GE(fd, 0) {
			TH_LOG("%s: %s", pmus[i], strerror(-fd));
		}
		close(fd);
	}
}

/* --- a package without the box ------------------------------------------- */

FIXTURE(absent_package) {};

/* Simulate one package fewer than the machine has. */
FIXTURE_SETUP(absent_package)
{
	char params[64];

	if (packages() < 2)
		return;
	snprintf(params, sizeof(params), "clock=manual packages=%d",
		 packages() - 1);
	machine_setup(params, "");
}

FIXTURE_TEARDOWN(absent_package)
{
	EXPECT_TRUE(machine_leave());
}

TEST_F(absent_package, its_cpus_are_refused)
{
	int n = packages(), cpu = package_cpu(n - 1, 0), fd;
	struct perf_event_attr attr;
	char pmu[PMU_NAME_MAX];

	if (n < 2)
		SKIP(return, "one package only");
	for (unsigned int k = 0; *box_types[k]; k++) {
		ASSERT_TRUE(pmu_name(pmu, box_types[k], 0)) {
			TH_LOG("no %s", box_types[k]);
		}
		pmu_attr(&attr, pmu, "");
		attr.config = right_config(box_types[k]);
		EXPECT_EQ(-1, pmu_cpu(pmu, n - 1)) {
			TH_LOG("%s: cpumask", pmu);
		}
		sim_trace_clear();
		fd = perf_open(&attr, -1, cpu, -1);
		EXPECT_TRUE(fd == -EINVAL || fd == -ENODEV) {
			TH_LOG("%s on CPU %d: %s", pmu, cpu,
			       fd < 0 ? strerror(-fd) : "opened");
		}
		EXPECT_EQ(0, sim_trace_writes()) {
			TH_LOG("%s: register writes", pmu);
		}
		close(fd);
		fd = event_open(pmu, package_cpu(0, 0), "config=%#" PRIx64,
				right_config(box_types[k]));
		EXPECT_GE(fd, 0) {
			TH_LOG("%s on package 0: %s", pmu, strerror(-fd));
		}
		close(fd);
	}
}

TEST_HARNESS_MAIN
