/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes to files of procfs, sysfs and debugfs. */
#ifndef SELFTESTS_FILE_H
#define SELFTESTS_FILE_H

/* Write @text to a kernel file in one call. Return 0 or -errno. */
int file_write(const char *path, const char *text);

#endif
