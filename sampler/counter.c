/* SPDX-License-Identifier: MIT */
#include "sampler/counter.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "recording/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 512	/* numbers of our descriptors are below this */

/* The kernel's struct perf_event_attr in its first version, which every kernel accepts. Its header is not
 * installed everywhere. */
struct attributes {
	uint32_t type, size;
	uint64_t config, period, sample_type, read_format;
	uint64_t disabled : 1, inherit : 1, pinned : 1, exclusive : 1, exclude_user : 1,
		 exclude_kernel : 1, exclude_hypervisor : 1, exclude_idle : 1, mmap : 1, comm : 1,
		 frequency : 1, inherit_stat : 1, enable_on_exec : 1, other : 51;
	uint32_t wakeup, breakpoint;
	uint64_t more;
};

_Static_assert(sizeof(struct attributes) == 64, "PERF_ATTR_SIZE_VER0");

enum { TYPE_HARDWARE, TYPE_SOFTWARE };
enum { HARDWARE_INSTRUCTIONS = 1, SOFTWARE_PAGE_FAULTS = 2 };
enum { READ_ENABLED = 1, READ_RUNNING = 2 };
#define CLOSE_ON_EXEC 8
#define GET_ID _IOR('$', 7, uint64_t *)

const char *const counter_word[COUNTER_EVENTS] = {
	[COUNTER_INSTRUCTIONS] = "instructions",
	[COUNTER_PAGE_FAULTS] = "page-faults",
};

enum counter_event counter_event_of(unsigned store_flags)
{
	if (!(store_flags & STORE_INSTRUCTIONS))
		return COUNTER_OFF;
	return store_flags & STORE_COUNT_FAULTS ? COUNTER_PAGE_FAULTS : COUNTER_INSTRUCTIONS;
}

unsigned counter_flags(enum counter_event event)
{
	static const unsigned flags[COUNTER_EVENTS] = {
		[COUNTER_INSTRUCTIONS] = STORE_INSTRUCTIONS,
		[COUNTER_PAGE_FAULTS] = STORE_INSTRUCTIONS | STORE_COUNT_FAULTS,
	};

	return flags[event];
}

/* Hosts have descriptors of their own to open: half of what they may have is theirs. */
static bool is_too_high(int fd)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	return fd >= DESCRIPTORS_MAX || (rlim_t)fd >= limit.rlim_cur / 2;
}

int counter_adopt(struct counter *c, int fd)
{
	uint64_t id;

	c->fd = file_move_up(fd);
	if (!is_too_high(c->fd) && !ioctl(c->fd, GET_ID, &id)) {
		c->id = (uint32_t)id;
		return 0;
	}
	close(c->fd);
	c->fd = -1;
	return -EMFILE;
}

static int open_event(struct counter *c, enum counter_event event, pid_t pid, bool on_exec)
{
	bool faults = event == COUNTER_PAGE_FAULTS;
	struct attributes a = {
		.type = faults ? TYPE_SOFTWARE : TYPE_HARDWARE, .size = sizeof a,
		.config = faults ? SOFTWARE_PAGE_FAULTS : HARDWARE_INSTRUCTIONS,
		.read_format = READ_ENABLED | READ_RUNNING, .inherit = true, .exclude_kernel = true,
		.exclude_hypervisor = true, .disabled = on_exec, .enable_on_exec = on_exec,
	};
	long fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, CLOSE_ON_EXEC);

	if (fd < 0)
		return -errno;
	return counter_adopt(c, (int)fd);
}

int counter_open(struct counter *c, enum counter_event event, pid_t pid)
{
	*c = (struct counter)COUNTER_CLOSED;
	return open_event(c, event, pid, true);
}

/* Its descriptor, which the caller closes, or -1. */
static int take_descriptor(struct counter *c)
{
	uint64_t id;
	int fd = c->fd;

	c->fd = -1;
	return fd < 0 || ioctl(fd, GET_ID, &id) || (uint32_t)id != c->id ? -1 : fd;
}

void counter_close(struct counter *c)
{
	file_close(take_descriptor(c));
}

int64_t counter_take(struct counter *c, enum counter_event event)
{
	uint64_t value[3];	/* the count, the times for which it was wanted, and counted */
	uint64_t scale = event == COUNTER_PAGE_FAULTS ? COUNTER_FAULT : 1;
	int fd = take_descriptor(c);
	ssize_t n;

	if (fd < 0)
		return -EBADF;
	n = read(fd, value, sizeof value);
	close(fd);
	if (n != sizeof value)
		return -EIO;
	if (!value[1])
		return -ENODATA;
	if (value[2] < value[1])
		return -EBUSY;
	return (int64_t)(MIN(value[0], INT64_MAX / scale) * scale);
}

const char *counter_reason(int error)
{
	switch (error) {
	case -EBUSY:
		return "other events used the counters of the processor at the same time, or its cores differ";
	case -ENOTSUP:
		return "the build tool starts its processes in a way that cannot be followed";
	case -EMFILE:
		return "the build tool has too many open files";
	default:
		return strerror(-error);
	}
}

/* Causes both events. */
static void act(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	for (int i = 0; i < 1000; i++)
		page[0]++;
	munmap((void *)(uintptr_t)page, size);
}

int counter_try(enum counter_event event)
{
	struct counter c = COUNTER_CLOSED;
	int64_t n = open_event(&c, event, 0, false);

	if (n)
		return (int)n;
	act();
	n = counter_take(&c, event);
	return n > 0 ? 0 : n ? (int)n : -ENODATA;
}

int counter_paranoid(void)
{
	char line[32];
	uint64_t value;
	struct cursor c;
	ssize_t n = readfile_line(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", line, sizeof line);

	if (n <= 0)
		return n ? (int)n : -ENODATA;
	cursor_init(&c, line, strlen(line));
	return cursor_u64(&c, &value) ? (int)MIN(value, (uint64_t)INT32_MAX) : 0;
}

#define PARANOID_MOST 2		/* that lets every user count in user mode */

void counter_explain(struct counter_why *why, int error, int paranoid)
{
	why->remedy = NULL;
	if ((error == -EACCES || error == -EPERM) && paranoid > PARANOID_MOST) {
		snprintf(why->text, sizeof why->text, "kernel.perf_event_paranoid is %d: only root may "
			 "count", paranoid);
		why->remedy = "sudo sysctl kernel.perf_event_paranoid=2";
	} else if (error == -EACCES || error == -EPERM || (error == -ENOSYS && paranoid >= 0)) {
		snprintf(why->text, sizeof why->text, "perf_event_open() is forbidden, as containers do: %s",
			 strerror(-error));
		why->remedy = "docker run --cap-add PERFMON, or a seccomp profile that allows perf_event_open";
	} else if (error == -ENOSYS) {
		snprintf(why->text, sizeof why->text, "the kernel has no performance events");
		why->remedy = "use a kernel with CONFIG_PERF_EVENTS";
	} else if (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV || error == -ENODATA) {
		snprintf(why->text, sizeof why->text, "this machine has no counter of instructions, as most "
			 "virtual machines");
		why->remedy = "give the virtual machine the counters of its host (QEMU: -cpu host,pmu=on), "
			      "or build on a real machine";
	} else {
		snprintf(why->text, sizeof why->text, "perf_event_open(): %s", strerror(-error));
	}
}
