// SPDX-License-Identifier: GPL-2.0-only
/*
 * The simulated hardware's control files in debugfs: what each does when it
 * is read or written.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "sim.h"

#define SIM_NUMBER_SIZE		32
#define SIM_LINE_SIZE		512
#define SIM_WRITE_SIZE		SZ_64K
/* C libraries flush a full buffer wherever in a line it is full. */
#define SIM_STDIO_BUFFER	4096

static struct dentry *sim_dir;

/* --- files that take a number --------------------------------------------*/

static int sim_number_from_user(const char __user *buf, size_t count, u64 max,
				u64 *value)
{
	char text[SIM_NUMBER_SIZE];

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	return sim_parse_u64(strim(text), max, value);
}

/* --- stats ---------------------------------------------------------------*/

static int stats_show(struct seq_file *s, void *unused)
{
	sim_stats_show(s);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return single_open(file, stats_show, NULL);
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

static const struct file_operations stats_fops = {
	.owner = THIS_MODULE,
	.open = stats_open,
	.read = seq_read,
	.write = stats_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* --- trace ---------------------------------------------------------------*/

/* The accesses that were there when the file was opened: they move on. */
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

	raw_spin_lock_irqsave(&sim.lock, flags);
	sim_clock_sync();
	cycles = model_cycles(sim.model);
	raw_spin_unlock_irqrestore(&sim.lock, flags);

	seq_printf(s, "%llu\n", cycles);
	return 0;
}

static int advance_open(struct inode *inode, struct file *file)
{
	return single_open(file, advance_show, NULL);
}

static ssize_t advance_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	u64 cycles;
	int ret = sim_number_from_user(buf, count, U64_MAX, &cycles);

	ret = ret ?: sim_clock_advance(cycles);
	return ret ?: count;
}

static const struct file_operations advance_fops = {
	.owner = THIS_MODULE,
	.open = advance_open,
	.read = seq_read,
	.write = advance_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* --- files that take lines -----------------------------------------------*/

/**
 * struct sim_writer - an open file that takes lines
 * @mutex: against writers that share it
 * @line: what to do with a line
 * @len: of @carry
 * @carry: the beginning of a line that a full stdio buffer cut in two
 */
struct sim_writer {
	struct mutex mutex;
	int (*line)(char *line);
	size_t len;
	char carry[SIM_LINE_SIZE];
};

static struct sim_writer *sim_writer_new(int (*line)(char *line))
{
	struct sim_writer *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (w) {
		mutex_init(&w->mutex);
		w->line = line;
	}
	return w;
}

static int sim_writer_line(struct sim_writer *w, char *line)
{
	line = strim(line);
	return *line ? w->line(line) : 0;
}

/* The carried beginning with the rest that has come, one line. */
static int sim_writer_join(struct sim_writer *w, const char *rest)
{
	size_t size = sizeof(w->carry) - w->len;
	ssize_t len = strscpy(w->carry + w->len, rest, size);

	w->len = 0;
	if (len < 0) {
		pr_warn("a line is longer than %d characters\n", SIM_LINE_SIZE);
		return -EINVAL;
	}
	return sim_writer_line(w, w->carry);
}

static int sim_writer_text(struct sim_writer *w, char *text, bool cut)
{
	char *line;
	int ret;

	while ((line = strsep(&text, "\n"))) {
		if (!text && cut) {
			/* the last piece; the others ended with a newline */
			ssize_t len = strscpy(w->carry + w->len, line,
					      sizeof(w->carry) - w->len);

			if (len < 0)
				return sim_writer_join(w, line);
			w->len += len;
			return 0;
		}
		ret = w->len ? sim_writer_join(w, line) :
			       sim_writer_line(w, line);
		if (ret)
			return ret;
	}
	return 0;
}

static ssize_t sim_writer_write(struct sim_writer *w, const char __user *buf,
				size_t count)
{
	char *text;
	bool cut;
	int ret;

	count = min_t(size_t, count, SIM_WRITE_SIZE);
	if (!count)
		return 0;

	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);

	cut = text[count - 1] != '\n' && count % SIM_STDIO_BUFFER == 0;
	ret = -EINTR;
	if (!mutex_lock_killable(&w->mutex)) {
		ret = sim_writer_text(w, text, cut);
		mutex_unlock(&w->mutex);
	}
	kfree(text);
	return ret ?: count;
}

/* Nobody is left to hear of an error; the log has it. */
static void sim_writer_free(struct sim_writer *w)
{
	if (w->len)
		sim_writer_join(w, "");
	kfree(w);
}

/* --- traffic -------------------------------------------------------------*/

static int traffic_open(struct inode *inode, struct file *file)
{
	file->private_data = sim_writer_new(sim_traffic_line);
	return file->private_data ? 0 : -ENOMEM;
}

static ssize_t traffic_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return sim_writer_write(file->private_data, buf, count);
}

static int traffic_release(struct inode *inode, struct file *file)
{
	sim_writer_free(file->private_data);
	return 0;
}

static const struct file_operations traffic_fops = {
	.owner = THIS_MODULE,
	.open = traffic_open,
	.write = traffic_write,
	.release = traffic_release,
	.llseek = noop_llseek,
};

/* --- fault ---------------------------------------------------------------*/

static int fault_show(struct seq_file *s, void *unused)
{
	sim_fault_show(s);
	return 0;
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, NULL);
}

static ssize_t fault_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *pos)
{
	struct sim_writer *w = sim_writer_new(sim_fault_line);
	ssize_t ret;

	if (!w)
		return -ENOMEM;
	ret = sim_writer_write(w, buf, count);
	sim_writer_free(w);
	return ret;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = fault_open,
	.read = seq_read,
	.write = fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* --- registers -----------------------------------------------------------*/

static void register_show(void *arg, unsigned int pkg, const char *name,
			  u64 value)
{
	seq_printf(arg, "%u %s 0x%llx\n", pkg, name, value);
}

static int registers_show(struct seq_file *s, void *unused)
{
	unsigned long flags;

	/* A full buffer is enlarged and the file shown again, unlocked. */
	raw_spin_lock_irqsave(&sim.lock, flags);
	sim_clock_sync();
	model_show_dirty(sim.model, register_show, s);
	raw_spin_unlock_irqrestore(&sim.lock, flags);
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
 * sim_debugfs_init() - show the control files
 *
 * Return: always 0; as everywhere, a kernel without debugfs is no error.
 */
int sim_debugfs_init(void)
{
	sim_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("stats", 0644, sim_dir, NULL, &stats_fops);
	debugfs_create_file("trace", 0644, sim_dir, NULL, &trace_fops);
	debugfs_create_file("advance", 0644, sim_dir, NULL, &advance_fops);
	debugfs_create_file("traffic", 0200, sim_dir, NULL, &traffic_fops);
	debugfs_create_file("fault", 0644, sim_dir, NULL, &fault_fops);
	debugfs_create_file("registers", 0444, sim_dir, NULL, &registers_fops);
	return 0;
}

/**
 * sim_debugfs_exit() - remove them, and wait for those who use them
 */
void sim_debugfs_exit(void)
{
	debugfs_remove(sim_dir);
}
