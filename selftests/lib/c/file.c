// SPDX-License-Identifier: GPL-2.0-or-later
/* Write kernel files; find files of the build that tests read. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
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

void file_of_build(char *path, size_t size, const char *name)
{
	static const char *const folders[] = { "", "/.." };
	const char *build = getenv("UNCORE_BUILD");
	char program[256];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		n = 0;
	program[n] = '\0';
	dirname(program);
	for (unsigned int i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, size, "%s%s/%s", program, folders[i], name);
		if (!access(path, R_OK))
			return;
	}
	snprintf(path, size, "%s%s%s", build ? build : "build", build ? "/../" : "/", name);
}
