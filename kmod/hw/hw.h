/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generations that the driver knows; each has a file of tables beside
 * this one, and a line in main.c that binds it to a processor's model.
 */
#ifndef XEON_UNCORE_HW_H
#define XEON_UNCORE_HW_H

#include <linux/build_bug.h>

#include "../package.h"

extern const struct unc_generation unc_hswep;
extern const struct unc_generation unc_bdwep;
extern const struct unc_generation unc_bdwde;
extern const struct unc_generation unc_ivbep;
extern const struct unc_generation unc_snbep;
extern const struct unc_generation unc_xeon7100;
extern const struct unc_generation unc_xeon7400;

/* "SW must write to 1" in box controls; the kernel's driver does not. */
#define BOX_CTL_ONES	GENMASK(17, 16)

/* Bits of E5 and E7's counter control registers; the threshold's, by its width */
#define CTL_EVENT	GENMASK_ULL(7, 0)
#define CTL_EDGE	BIT_ULL(18)
#define CTL_EXT		BIT_ULL(21)
#define CTL_INV		BIT_ULL(23)
#define CTL_THRESH5	GENMASK_ULL(28, 24)
#define CTL_THRESH7	GENMASK_ULL(30, 24)
#define CTL_THRESH8	GENMASK_ULL(31, 24)

/* A type's free-running counters; the table's last row is its end. */
#define FREERUN(table)							\
	.freerun = (table) +						\
		   BUILD_BUG_ON_ZERO(ARRAY_SIZE(table) > UNC_MAX_FREERUN + 1)

/*
 * The generated tables of a box; OF(box, what) is the generation's.  NAMES_OF()
 * leaves out which counters may count what: any may.
 */
#define NAMES_OF(box)				\
	.events.fields = OF(box, fields),	\
	.events.named = OF(box, events),	\
	.events.num_named = ARRAY_SIZE(OF(box, events))
#define EVENTS_OF(box)			\
	NAMES_OF(box),			\
	.events.info = OF(box, info),	\
	.events.num_info = ARRAY_SIZE(OF(box, info))

#define BOX_PCI(device, type, index, role)	\
	{ PCI_VDEVICE(INTEL, device),		\
	  .driver_data = UNC_PCI_DATA(type, index, role) }

/* common.c: what several generations have alike */
extern const struct unc_layout unc_e5_layout, unc_e5_pcu_layout;
extern const struct unc_filter_reg unc_ha_filters[];
extern const struct unc_freerun unc_package_residencies[4];

/* bus.c */
int unc_ubox_package(struct pci_dev *pdev, u16 node_id, u16 node_map);
struct unc_package *unc_package_of_io_bus(struct pci_bus *bus);

/* die.c */
unsigned int unc_die_cboxes(const struct unc_package *pkg, u32 msr,
			    unsigned int most);
unsigned int unc_die_sboxes(const struct unc_package *pkg, u16 device,
			    unsigned int most, unsigned int least);

#endif
