// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print libpfm4's uncore events for compare.py: a line "pmu event code" for each
 * event, and a line "pmu event code umask-name umask" for each of its unit masks.
 * The argument is the prefix of the names of the PMUs.
 */
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <string.h>

static void print_event(const pfm_pmu_info_t *pmu, int index)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	pfm_event_attr_info_t attr;
	int i;

	if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS)
		return;
	printf("%s %s 0x%llx\n", pmu->name, event.name,
	       (unsigned long long)event.code);
	for (i = 0; i < event.nattrs; i++) {
		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		if (pfm_get_event_attr_info(index, i, PFM_OS_NONE, &attr) !=
		    PFM_SUCCESS)
			continue;
		if (attr.type == PFM_ATTR_UMASK)
			printf("%s %s 0x%llx %s 0x%llx\n", pmu->name,
			       event.name, (unsigned long long)event.code,
			       attr.name, (unsigned long long)attr.code);
	}
}

int main(int argc, char **argv)
{
	pfm_pmu_info_t info;
	int pmu, event;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PMU-NAME-PREFIX\n", argv[0]);
		return 2;
	}
	if (pfm_initialize() != PFM_SUCCESS) {
		fprintf(stderr, "libpfm4 does not initialize\n");
		return 1;
	}
	for (pmu = 0; pmu < PFM_PMU_MAX; pmu++) {
		memset(&info, 0, sizeof(info));
		info.size = sizeof(info);
		if (pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS ||
		    strncmp(info.name, argv[1], strlen(argv[1])))
			continue;
		for (event = info.first_event; event != -1;
		     event = pfm_get_event_next(event))
			print_event(&info, event);
	}
	return 0;
}
