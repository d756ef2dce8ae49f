// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes to files of procfs, sysfs and debugfs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	err = n < 0 ? -errno : n == (ssize_t)strlen(text) ? 0 : -EIO;
	close(fd);
	return err;
}
