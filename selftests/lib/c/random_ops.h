/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations (op_*) of the random worker, and the functions that they share. Each
 * operation chooses an event or a box at random.
 */
#ifndef SELFTESTS_RANDOM_OPS_H
#define SELFTESTS_RANDOM_OPS_H

#include "random_state.h"

/* random_choose.c */
struct model_event *free_event(void);
struct model_event *any_event(void);
struct model_box *any_box(void);
int perf_cpu(const struct model_box *box);
int package_cpu_of(const struct model_event *e);
int open_cpu(const struct model_event *e);
void sample_elsewhere(struct model_event *e);
void note_sharing(struct model_event *e);
void choose(struct model_event *e, struct model_box *box);
void choose_period(struct model_event *e);

/* random_check.c */
int read_event(const struct model_event *e, struct event_reading *r);
void check_exact(struct model_event *e);
void check_event(struct model_event *e);
void check_last_samples(struct model_event *e);
void op_read(void);

/* random_open.c */
void op_open(void);
void op_twin(void);
void op_group(void);
void op_join(void);
void op_mixed(void);
void op_nonsense(void);

/* random_control.c */
void op_enable(void);
void op_reset(void);
void op_period(void);
void op_refresh(void);
void op_map(void);

/* random_close.c */
void op_close(void);
void close_all(void);

#endif
