/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel files, and files of the build that tests read. */
#ifndef SELFTESTS_FILE_H
#define SELFTESTS_FILE_H

#include <stddef.h>

/* Write @text to a kernel file in one call. Return 0 or -errno. */
int file_write(const char *path, const char *text);

/*
 * Write the path of a table of the build, such as "catalogue.tsv", to @path: the file beside
 * an installed program, beside the folder of a program that was built here, or in the build
 * folder of the modules ($UNCORE_BUILD). The file need not exist.
 */
void file_of_build(char *path, size_t size, const char *name);

#endif
