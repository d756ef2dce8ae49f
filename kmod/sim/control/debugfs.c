// SPDX-License-Identifier: GPL-2.0-only
/* The simulator's control files in debugfs: read() and write() of each file. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "sim.h"

#define SIM_WORD_SIZE		32

static struct dentry *sim_dir;

/* Define the file operations of a control file from NAME_show() and NAME_write(). */
#define SIM_SHOW_WRITE(name)						\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, NULL);			\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.write = name##_write,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

/* --- files that take a word or a number ----------------------------------*/

/* Copy the text of a write to @text. Return the word in it, or an ERR_PTR. */
static char *sim_word_from_user(char text[SIM_WORD_SIZE],
				const char __user *buf, size_t count)
{
	if (count >= SIM_WORD_SIZE)
		return ERR_PTR(-EINVAL);
	if (copy_from_user(text, buf, count))
		return ERR_PTR(-EFAULT);
	text[count] = '\0';
	return strim(text);
}

static int sim_number_from_user(const char __user *buf, size_t count, u64 max,
				u64 *value)
{
	char text[SIM_WORD_SIZE];
	char *word = sim_word_from_user(text, buf, count);

	if (IS_ERR(word))
		return PTR_ERR(word);
	return sim_parse_u64(word, max, value);
}

/* --- stats ---------------------------------------------------------------*/

static int stats_show(struct seq_file *s, void *unused)
{
	sim_stats_show(s);
	return 0;
}

static ssize_t stats_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	u64 zero;
	int ret = sim_number_from_user(buf, count, 0, &zero);

	if (ret)
		return ret;
	sim_stats_clear();
	return count;
}

SIM_SHOW_WRITE(stats);

/* --- trace ---------------------------------------------------------------*/

/**
 * struct sim_trace_window - position of a reader in the trace
 * @seq: number of the next access to print
 * @last: newest access at the begin of the read: later accesses are not printed, so that
 *	the read ends
 */
struct sim_trace_window {
	u64 seq, last;
};

static void *trace_start(struct seq_file *s, loff_t *pos)
{
	struct sim_trace_window *w = s->private;

	if (!*pos) {
		w->last = sim_trace_last();
		w->seq = sim_trace_first();
	}
	return w->seq <= w->last ? w : NULL;
}

static void *trace_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct sim_trace_window *w = v;

	++*pos;
	return ++w->seq <= w->last ? w : NULL;
}

static void trace_stop(struct seq_file *s, void *v)
{
}

static int trace_show(struct seq_file *s, void *v)
{
	struct sim_trace_window *w = v;

	sim_trace_show(s, w->seq);
	return 0;
}

static const struct seq_operations trace_seq_ops = {
	.start = trace_start,
	.next = trace_next,
	.stop = trace_stop,
	.show = trace_show,
};

static int trace_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &trace_seq_ops,
				sizeof(struct sim_trace_window));
}

static ssize_t trace_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	u64 zero;
	int ret = sim_number_from_user(buf, count, 0, &zero);

	if (ret)
		return ret;
	sim_trace_clear();
	return count;
}

static const struct file_operations trace_fops = {
	.owner = THIS_MODULE,
	.open = trace_open,
	.read = seq_read,
	.write = trace_write,
	.llseek = seq_lseek,
	.release = seq_release_private,
};

/* --- advance -------------------------------------------------------------*/

static int advance_show(struct seq_file *s, void *unused)
{
	unsigned long flags;
	u64 cycles;

	flags = sim_lock();
	sim_clock_sync();
	cycles = model_cycles(sim.model);
	sim_unlock(flags);

	seq_printf(s, "%llu\n", cycles);
	return 0;
}

static ssize_t advance_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	u64 cycles;
	int ret = sim_number_from_user(buf, count, U64_MAX, &cycles);

	ret = ret ?: sim_clock_advance(cycles);
	return ret ?: count;
}

SIM_SHOW_WRITE(advance);

/* --- clock ---------------------------------------------------------------*/

static int clock_show(struct seq_file *s, void *unused)
{
	seq_printf(s, "%s\n", sim_clock_name());
	return 0;
}

static ssize_t clock_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	char text[SIM_WORD_SIZE];
	char *word = sim_word_from_user(text, buf, count);
	int ret;

	if (IS_ERR(word))
		return PTR_ERR(word);
	ret = sim_clock_set(word);
	return ret ?: count;
}

SIM_SHOW_WRITE(clock);

/* --- uclk ----------------------------------------------------------------*/

static int uclk_show(struct seq_file *s, void *unused)
{
	sim_uclk_show(s);
	return 0;
}

static ssize_t uclk_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *pos)
{
	return sim_writer_text(sim_uclk_line, buf, count);
}

SIM_SHOW_WRITE(uclk);

/* --- reset ---------------------------------------------------------------*/

static ssize_t reset_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	u64 number;
	int ret = sim_number_from_user(buf, count, 1, &number);

	if (ret || !number)
		return ret ?: -EINVAL;
	sim_power_reset();
	return count;
}

static const struct file_operations reset_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = reset_write,
	.llseek = noop_llseek,
};

/* --- traffic -------------------------------------------------------------*/

static int traffic_open(struct inode *inode, struct file *file)
{
	return sim_writer_open(file, sim_traffic_line);
}

static const struct file_operations traffic_fops = {
	.owner = THIS_MODULE,
	.open = traffic_open,
	.write = sim_writer_write,
	.release = sim_writer_release,
	.llseek = noop_llseek,
};

/* --- rates ---------------------------------------------------------------*/

static int rates_show(struct seq_file *s, void *unused)
{
	sim_rate_show(s);
	return 0;
}

static ssize_t rates_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	return sim_writer_text(sim_rate_line, buf, count);
}

SIM_SHOW_WRITE(rates);

/* --- fault ---------------------------------------------------------------*/

static int fault_show(struct seq_file *s, void *unused)
{
	sim_fault_show(s);
	return 0;
}

static ssize_t fault_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	return sim_writer_text(sim_fault_line, buf, count);
}

SIM_SHOW_WRITE(fault);

/* --- core_pmu ------------------------------------------------------------*/

static int core_pmu_show(struct seq_file *s, void *unused)
{
	sim_core_pmu_show(s);
	return 0;
}

static ssize_t core_pmu_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *pos)
{
	return sim_writer_text(sim_core_pmu_line, buf, count);
}

SIM_SHOW_WRITE(core_pmu);

/* --- hold ----------------------------------------------------------------*/

static ssize_t hold_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *pos)
{
	return sim_writer_text(sim_hold_line, buf, count);
}

static const struct file_operations hold_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = hold_write,
	.llseek = noop_llseek,
};

/* --- nmi_listener --------------------------------------------------------*/

static int nmi_listener_show(struct seq_file *s, void *unused)
{
	sim_nmi_listener_show(s);
	return 0;
}

static ssize_t nmi_listener_write(struct file *file, const char __user *buf,
				  size_t count, loff_t *pos)
{
	return sim_writer_text(sim_nmi_listener_line, buf, count);
}

SIM_SHOW_WRITE(nmi_listener);

/* --- page_faults ---------------------------------------------------------*/

static int page_faults_show(struct seq_file *s, void *unused)
{
	sim_page_faults_show(s);
	return 0;
}

static ssize_t page_faults_write(struct file *file, const char __user *buf,
				 size_t count, loff_t *pos)
{
	u64 lines;
	int ret = sim_number_from_user(buf, count, U32_MAX, &lines);

	ret = ret ?: sim_page_faults_set(lines);
	return ret ?: count;
}

SIM_SHOW_WRITE(page_faults);

/* --- registers -----------------------------------------------------------*/

static void register_show(void *arg, unsigned int pkg, const char *name,
			  u64 value)
{
	seq_printf(arg, "%u %s 0x%llx\n", pkg, name, value);
}

static int registers_show(struct seq_file *s, void *unused)
{
	unsigned long flags;

	/*
	 * seq_printf() does not allocate memory under the lock. If the buffer is full,
	 * seq_read() enlarges it and calls this function again.
	 */
	flags = sim_lock();
	sim_clock_sync();
	model_show_dirty(sim.model, register_show, s);
	sim_unlock(flags);
	return 0;
}

static int registers_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, registers_show, NULL, SZ_64K);
}

static const struct file_operations registers_fops = {
	.owner = THIS_MODULE,
	.open = registers_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * sim_debugfs_init() - create the control files
 *
 * Return: 0, also if the kernel has no debugfs.
 */
int sim_debugfs_init(void)
{
	sim_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("stats", 0644, sim_dir, NULL, &stats_fops);
	debugfs_create_file("trace", 0644, sim_dir, NULL, &trace_fops);
	debugfs_create_file("advance", 0644, sim_dir, NULL, &advance_fops);
	debugfs_create_file("clock", 0644, sim_dir, NULL, &clock_fops);
	debugfs_create_file("uclk", 0644, sim_dir, NULL, &uclk_fops);
	debugfs_create_file("reset", 0200, sim_dir, NULL, &reset_fops);
	debugfs_create_file("traffic", 0200, sim_dir, NULL, &traffic_fops);
	debugfs_create_file("rates", 0644, sim_dir, NULL, &rates_fops);
	debugfs_create_file("fault", 0644, sim_dir, NULL, &fault_fops);
	debugfs_create_file("core_pmu", 0644, sim_dir, NULL, &core_pmu_fops);
	debugfs_create_file("hold", 0200, sim_dir, NULL, &hold_fops);
	debugfs_create_file("nmi_listener", 0644, sim_dir, NULL,
			    &nmi_listener_fops);
	debugfs_create_file("page_faults", 0644, sim_dir, NULL,
			    &page_faults_fops);
	debugfs_create_file("registers", 0444, sim_dir, NULL, &registers_fops);
	return 0;
}

/**
 * sim_debugfs_exit() - remove the control files, and wait for their readers and writers
 */
void sim_debugfs_exit(void)
{
	debugfs_remove(sim_dir);
}
