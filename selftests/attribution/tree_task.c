// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cause memory traffic from all kinds of descendants, for tests of the attribution of
 * traffic to process trees.  Each descendant writes a line of COUNT reads of memory to
 * /dev/xeon_uncore_sim.
 *
 * usage: tree_task COUNT short N	N processes, each of which ends at once; every
 *					second is a grandchild
 *        tree_task COUNT reparented FILE
 *					a daemon, after its parent has ended; it first
 *					moves to the cgroup of FILE (cgroup.procs)
 *        tree_task COUNT late MS	as reparented, MS milliseconds after its start
 *        tree_task COUNT threads N	N threads
 *        tree_task COUNT exec		a thread, which then replaces its process
 *        tree_task COUNT io_uring	a thread that the kernel starts
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *device = "/dev/xeon_uncore_sim";
static char line[128], *self, *count;

static void fail(const char *step)
{
	fprintf(stderr, "tree_task: %s: %s\n", step, strerror(errno));
	exit(1);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail(path);
	close(fd);
}

static void send_line(void)
{
	write_file(device, line);
}

static pid_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	return pid;
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		fail("a child");
}

static void run_short(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = start();

		if (!pid) {
			pid_t grandchild = i % 2 ? start() : 0;

			if (grandchild)
				wait_for(grandchild);
			else
				send_line();
			_exit(0);
		}
		wait_for(pid);
	}
}

static void pause_ms(long ms)
{
	struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

/*
 * Start a daemon: the parent of the daemon ends, so that the daemon gets another parent.
 * Wait for the daemon's end: then the pipe has no writer.
 */
static void run_reparented(const char *cgroup, long ms)
{
	pid_t pid, middle;
	int ends[2];
	char byte;

	if (pipe(ends))
		fail("pipe");
	pid = start();
	if (!pid) {
		middle = getpid();
		if (setsid() < 0)
			fail("setsid");
		if (start())
			_exit(0);
		while (getppid() == middle)
			pause_ms(1);
		pause_ms(ms);
		if (cgroup)
			write_file(cgroup, "0");
		send_line();
		_exit(0);
	}
	close(ends[1]);
	wait_for(pid);
	if (read(ends[0], &byte, 1))
		fail("the daemon");
}

static void *run_thread(void *context)
{
	(void)context;
	send_line();
	return NULL;
}

static void run_threads(int n)
{
	pthread_t threads[n];

	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL))
			fail("pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void *run_exec(void *context)
{
	send_line();
	execl(self, self, count, "short", "1", NULL);
	fail("execl");
	return context;
}

/* The thread gets the process's pid, and the leader of the process ends. */
static void become_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_exec, NULL))
		fail("pthread_create");
	pthread_join(thread, NULL);
}

/* Let a worker thread of io_uring write the line. */
static void run_io_uring(void)
{
	struct io_uring_params params = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &params);
	int fd = open(device, O_WRONLY | O_CLOEXEC);
	struct io_uring_sqe *entry;
	struct io_uring_cqe *result;
	char *queue, *results;

	if (ring < 0 || fd < 0)
		fail("io_uring_setup");
	queue = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
	results = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_CQ_RING);
	entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
	if (queue == MAP_FAILED || results == MAP_FAILED || entry == MAP_FAILED)
		fail("mmap");
	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_WRITE;
	entry->flags = IOSQE_ASYNC;
	entry->fd = fd;
	entry->addr = (uintptr_t)line;
	entry->len = strlen(line);
	((__u32 *)(queue + params.sq_off.array))[0] = 0;
	__atomic_store_n((__u32 *)(queue + params.sq_off.tail), 1,
			 __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		fail("io_uring_enter");
	result = (void *)(results + params.cq_off.cqes);
	if (result->res != (int)strlen(line)) {
		errno = -result->res;
		fail("io_uring");
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "";
	const char *argument = argc > 3 ? argv[3] : "0";

	self = argv[0];
	count = argc > 1 ? argv[1] : "0";
	snprintf(line, sizeof(line), "box=imc_0 event=0x4 umask=0x1 count=%s\n",
		 count);
	if (!strcmp(kind, "short"))
		run_short(atoi(argument));
	else if (!strcmp(kind, "reparented"))
		run_reparented(argument, 0);
	else if (!strcmp(kind, "late"))
		run_reparented(NULL, atol(argument));
	else if (!strcmp(kind, "threads"))
		run_threads(atoi(argument));
	else if (!strcmp(kind, "exec"))
		become_thread();
	else if (!strcmp(kind, "io_uring"))
		run_io_uring();
	else
		return 2;
	return 0;
}
