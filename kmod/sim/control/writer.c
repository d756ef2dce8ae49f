// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control files that take lines of text: split the text of writes into lines, also if a C
 * library flushes its buffer in the middle of a line.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "sim.h"

#define SIM_LINE_SIZE		512
#define SIM_WRITE_SIZE		SZ_64K
/* Size of a C library's buffer, which it flushes when full at any position in a line */
#define SIM_STDIO_BUFFER	4096

/**
 * struct sim_writer - an open file that takes lines
 * @mutex: serialises writers
 * @line: handler of a line
 * @len: length of @carry
 * @carry: beginning of a line whose remainder comes with the next write
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

/* Handle a line of two parts: the carried beginning, and the rest from this write. */
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

/*
 * Handle the lines of a write. With @cut the last line is incomplete, and its beginning is
 * carried over to the next write.
 */
static int sim_writer_lines(struct sim_writer *w, char *text, bool cut)
{
	char *line;
	int ret;

	while ((line = strsep(&text, "\n"))) {
		if (!text && cut) {
			/* the incomplete line; all lines before end with a newline */
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

/*
 * Handle a write. A write of full C library buffers without a newline at its end was cut in
 * the middle of a line.
 */
static ssize_t sim_writer_take(struct sim_writer *w, const char __user *buf,
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
		ret = sim_writer_lines(w, text, cut);
		mutex_unlock(&w->mutex);
	}
	kfree(text);
	return ret ?: count;
}

/*
 * Free a writer, and handle the line that no newline has ended. An error of that line is in
 * the log only: close() reports none.
 */
static void sim_writer_free(struct sim_writer *w)
{
	if (w->len)
		sim_writer_join(w, "");
	kfree(w);
}

/**
 * sim_writer_open() - open a file that takes lines
 * @file: the file, whose private_data is set
 * @line: handler of a line; returns 0 or a negative error, which ends the write
 *
 * Return: 0 or -ENOMEM.
 */
int sim_writer_open(struct file *file, int (*line)(char *line))
{
	file->private_data = sim_writer_new(line);
	return file->private_data ? 0 : -ENOMEM;
}

/**
 * sim_writer_write() - write() of a file that sim_writer_open() opened
 * @file: the file
 * @buf: written text
 * @count: length of @buf
 * @pos: not used
 *
 * Return: number of bytes taken, or a negative error.
 */
ssize_t sim_writer_write(struct file *file, const char __user *buf,
			 size_t count, loff_t *pos)
{
	return sim_writer_take(file->private_data, buf, count);
}

/**
 * sim_writer_release() - release() of a file that sim_writer_open() opened
 * @inode: not used
 * @file: the file
 *
 * A line that no newline has ended is complete now.
 *
 * Return: 0.
 */
int sim_writer_release(struct inode *inode, struct file *file)
{
	sim_writer_free(file->private_data);
	return 0;
}

/**
 * sim_writer_text() - handle the lines of a single write
 * @line: handler of a line
 * @buf: written text
 * @count: length of @buf
 *
 * Return: number of bytes taken, or a negative error.
 */
ssize_t sim_writer_text(int (*line)(char *line), const char __user *buf,
			size_t count)
{
	struct sim_writer *w = sim_writer_new(line);
	ssize_t ret;

	if (!w)
		return -ENOMEM;
	ret = sim_writer_take(w, buf, count);
	sim_writer_free(w);
	return ret;
}
