/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's state and the interfaces of its files.  A generation describes its
 * boxes in const tables (table.h); this directory is specific to no generation.
 */
#ifndef XEON_UNCORE_H
#define XEON_UNCORE_H

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/math64.h>

#include "state.h"

/*
 * --- interfaces, a part for each file, the lowest file first ---
 *
 * A file calls only what is above its own part here (scripts/check-layers checks
 * this): registers, then boxes, then counter assignment, then sampling, then what
 * perf and the kernel call.  Calls in the other direction go through pointers: the
 * timer's poll, a slot's arm, the PMI's handlers.
 */

/* --- package.c: which packages and boxes there are ----------------------- */

extern struct unc_machine unc;

struct unc_package *unc_package_of_id(int id);
struct unc_package *unc_package_of_cpu(unsigned int cpu);
unsigned int unc_package_pick_cpu(const struct unc_package *pkg, unsigned int but);
struct unc_package *unc_package_of_bus(struct pci_bus *bus);
struct unc_box **unc_package_box_place(const struct unc_package *pkg,
				       const struct unc_type *type, unsigned int index);
unsigned int unc_package_box_number(const struct unc_box *box);
bool unc_package_any_box(const struct unc_type *type, unsigned int index);
struct unc_box *unc_package_clock_box(const struct unc_package *pkg);
unsigned int unc_access_num_filters(const struct unc_type *type);
char *unc_pmu_name(const struct unc_type *type, unsigned int index);
void unc_report_init(struct unc_box *box);
void unc_report_exit(struct unc_box *box);
void unc_report_dead(struct unc_box *box);
void unc_report_foreign(struct unc_box *box);

/*
 * @a * @mul / @div, all of 64 bits, at most U64_MAX.  The kernel's own function
 * divides by hardware, which faults when the result does not fit.
 */
static inline u64 unc_mul_div(u64 a, u64 mul, u64 div)
{
	if (mul_u64_u64_shr(a, mul, 64) >= div)
		return U64_MAX;
	return mul_u64_u64_div_u64(a, mul, div);
}

/* --- lock.c: locks, and which contexts may wait for them ------------------ */

unsigned long unc_lock_box(struct unc_box *box) __acquires(&box->lock);
void unc_lock_release(struct unc_box *box, unsigned long flags)
	__releases(&box->lock);
bool unc_lock_to_read(struct unc_box *box, unsigned long *flags);
void unc_lock_raw(raw_spinlock_t *lock) __acquires(lock);
void unc_lock_raw_release(raw_spinlock_t *lock) __releases(lock);

/* --- space_msr.c --------------------------------------------------------- */

extern const struct unc_space unc_space_msr;

/* --- space_pci.c --------------------------------------------------------- */

extern const struct unc_space unc_space_pci;

const char *unc_pci_access(void);

/* --- access.c: registers; call with the box's lock held ------------------ */

bool unc_access_read_counter(struct unc_box *box, struct unc_slot *slot, u64 *value);
unsigned int unc_access_bits(const struct unc_box *box, unsigned int ctr);
bool unc_access_reachable(const struct unc_box *box);
bool unc_access_present(struct unc_box *box);
int unc_access_probe(struct unc_box *box);
u64 unc_access_read_ctl(struct unc_box *box, unsigned int ctr);
void unc_access_write_ctl(struct unc_box *box, unsigned int ctr, u64 value);
void unc_access_write_filter(struct unc_box *box, unsigned int i, u32 value);
void unc_access_write_box_ctl(struct unc_box *box, u32 value);
void unc_access_write_counter(struct unc_box *box, unsigned int ctr, u64 value);
void unc_access_clear_status(struct unc_box *box);

/* --- global.c: a package's registers ------------------------------------ */

bool unc_global_look(u64 *ctl, u64 *status);
u64 unc_global_status(void);
void unc_global_clear(u64 status);
void unc_global_freeze(void);
void unc_global_restart(u64 ctl);
void unc_global_select(u64 cores);
void unc_global_unfreeze(struct unc_overflow *ov);
void unc_global_select_core(struct unc_overflow *ov, int core, int users);
bool unc_global_deselect_core(struct unc_overflow *ov, int core);
int unc_global_init(struct unc_package *pkg);
void unc_global_exit(struct unc_package *pkg);

/* --- freeze.c: freezing boxes within a budget ----------------------------- */

void unc_freeze_init(struct unc_package *pkg);
bool unc_freeze_allowed(struct unc_package *pkg);
void unc_freeze_charge(struct unc_package *pkg, u64 ns);
bool unc_freeze_get(struct unc_box *box, bool force);
void unc_freeze_put(struct unc_box *box);

/* --- box.c: counting; call with the box's lock held ---------------------- */

bool unc_box_signals(const struct unc_box *box);
int unc_box_start(struct unc_box *box, bool *found);
void unc_box_restore(struct unc_box *box);
void unc_box_lose_filters(struct unc_box *box);
bool unc_box_has_filters(const struct unc_box *box, const struct unc_slot *slot);
void unc_box_reprogram(struct unc_box *box);
void unc_box_begin(struct unc_box *box);
void unc_box_begin_forced(struct unc_box *box);
void unc_box_end(struct unc_box *box);
void unc_refresh_slot(struct unc_box *box, struct unc_slot *slot);
void unc_refresh_box(struct unc_box *box);
void unc_refresh_verify(struct unc_box *box);
void unc_refresh_verify_package(struct unc_box *box);
void unc_box_assign(struct unc_box *box, struct unc_slot *slot, int ctr);
void unc_box_leave(struct unc_box *box, struct unc_slot *slot);
void unc_box_release(struct unc_box *box, struct unc_slot *slot);
void unc_box_migrate(struct unc_box *box, struct unc_slot *slot);
void unc_box_end_migration(struct unc_box *box);
void unc_box_run(struct unc_box *box, struct unc_slot *slot, bool run);

/* --- timer.c ------------------------------------------------------------- */

void unc_timer_init(struct unc_package *pkg,
		    u64 (*poll)(struct unc_package *pkg));
void unc_timer_want(struct unc_package *pkg, u64 at);
void unc_timer_refresh_by(struct unc_package *pkg, bool narrow);
void unc_timer_online(struct unc_package *pkg);
void unc_timer_exit(struct unc_package *pkg);
void unc_csd_wait(call_single_data_t *csd);

/* --- slot.c: which counter counts what ---------------------------------- */

int unc_slot_describe(const struct unc_type *type, const u64 config[3],
		      struct unc_slot *slot);
bool unc_slot_equals(const struct unc_slot *a, const struct unc_slot *b);
struct unc_slot *unc_slot_find(struct unc_box *box, const struct unc_slot *like);
struct unc_slot *unc_slot_get(struct unc_box *box, const struct unc_slot *like);
bool unc_slot_fit_all(const struct unc_slot *slots, unsigned int n);

/* --- event.c: an event and its slot --------------------------------------- */

struct unc_slot *unc_event_slot(struct unc_event *ue);
void unc_event_join(struct unc_event *ue, const struct unc_slot *slot);
void unc_event_count(struct unc_event *ue, const struct unc_slot *slot);

/* --- pmi.c: the interrupt ------------------------------------------------ */

/**
 * struct unc_pmi_calls - what a PMI leads to
 * @handle: handles the overflows of a package, see unc_overflow_handle()
 * @deliver: delivers this CPU's samples, see unc_sampling_deliver()
 */
struct unc_pmi_calls {
	void (*handle)(struct unc_package *pkg, u64 status, u64 since,
		       u32 freeze);
	void (*deliver)(struct unc_package *pkg, struct pt_regs *regs);
};

void unc_pmi_init(const struct unc_pmi_calls *calls);
void unc_pmi_exit(void);
int unc_nmi_get(void);
void unc_nmi_put(void);
void unc_nmi_arm(void);
void unc_nmi_cpu_online(void);
void unc_pmi_raise(void);
void unc_pmi_kick(struct unc_package *pkg);
bool unc_pmi_in_handler(bool on);
bool unc_nmi_settle(void);
struct pt_regs *unc_pmi_regs(struct pt_regs *here);
void unc_pmi_caller(struct pt_regs *here);
void unc_nmi_measure_begin(struct unc_package *pkg, struct cpumask *answered);
void unc_nmi_measure_end(void);

/* --- pmi_map.c: which core each bit interrupts ---------------------------- */

void unc_pmi_map_measure(struct unc_package *pkg);
void unc_pmi_map_online(void);
int unc_pmi_map_core(const struct unc_package *pkg, unsigned int cpu);
void unc_pmi_map_exit(void);


/* --- sampling.c: events that sample, and their samples ------------------- */

int unc_sampling_init(void);
int unc_sampling_check(const struct perf_event *event,
		       const struct unc_box *box, const struct unc_slot *slot);
bool unc_sampling_fits(const struct unc_box *box, const struct unc_slot *slot,
		       u64 period);
void unc_sampling_describe(const struct perf_event *event, bool freq,
			   struct unc_slot *slot);
void unc_sampling_start(struct unc_box *box, struct unc_slot *slot, u64 carry);
bool unc_sampling_account(struct unc_box *box, struct unc_slot *slot,
			  u64 frozen_ns);
bool unc_sampling_has_pmi(const struct unc_box *box, const struct unc_slot *slot);
void unc_sampling_merge(struct unc_slot *slot);
void unc_sampling_arm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_rearm(struct unc_box *box, struct unc_slot *slot);
void unc_sampling_pace(struct unc_slot *slot, unsigned int bits);
u64 unc_sampling_take(struct unc_event *ue, const struct unc_slot *slot,
		      u64 *weight);
void unc_sampling_add(struct unc_event *ue);
void unc_sampling_del(struct unc_event *ue);
void unc_sampling_flush(struct unc_event *ue, u64 due, u64 weight);
void unc_sampling_deliver(struct unc_package *pkg, struct pt_regs *regs);

/* --- overflow.c: a package's overflows ----------------------------------- */

u64 unc_overflow_bits(const struct unc_box *box);
void unc_overflow_handle(struct unc_package *pkg, u64 status, u64 since,
			 u32 freeze);
u64 unc_overflow_poll(struct unc_package *pkg);

/* --- topology.c ---------------------------------------------------------- */

int unc_topology_init(void);
void unc_topology_exit(void);
struct unc_box *unc_topology_box(struct unc_package *pkg,
				 const struct unc_type *type, unsigned int index);
int unc_power_start(void);
void unc_power_stop(void);

/* --- pci.c --------------------------------------------------------------- */

int unc_pci_init(void);
void unc_pci_exit(void);

/* --- power.c: suspend, reboot, packages that come back ------------------- */

int unc_power_init(void);
void unc_power_exit(void);
void unc_power_suspend(struct unc_package *pkg);
void unc_power_resume(struct unc_package *pkg);

/* --- sysfs.c ------------------------------------------------------------- */

int unc_sysfs_init(void);
void unc_sysfs_exit(void);
const struct attribute_group **unc_sysfs_groups(const struct unc_type *type);

/* --- package_sysfs.c ----------------------------------------------------- */

int unc_package_sysfs_init(void);
void unc_package_sysfs_exit(void);

/* --- own_event.c: events that the driver opens --------------------------- */

bool unc_own_event_is(const struct perf_event *event);
struct unc_own_event *unc_own_event_get(struct perf_event *event, bool wait);
void unc_own_event_put(struct unc_own_event *own);
void unc_own_event_resched(struct unc_box *box);

/* --- open.c: opening an event --------------------------------------------- */

int unc_open_event(struct perf_event *event);
int unc_open_check_period(struct perf_event *event, u64 period);

/* --- pmu.c: what perf calls ----------------------------------------------- */

extern const struct pmu unc_pmu_template;

/* --- pmus.c: registration, and events of a CPU that goes offline ----------- */

int unc_pmus_register(void);
void unc_pmus_unregister(void);
void unc_pmus_migrate(struct unc_package *pkg, unsigned int from,
		      unsigned int to);

#endif
