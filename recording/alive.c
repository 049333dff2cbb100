/* SPDX-License-Identifier: MIT */
#include "recording/alive.h"

#include "base/clock.h"
#include "base/cursor.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SLACK_NS 2000000000	/* of start times, which the kernel rounds */
#define FIELDS_BEFORE_START 19	/* of stat, behind the name */

static int64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* When the process started, in ns since the boot; 0: unknown, -1: it is a zombie. */
static int64_t start_of(const char *stat, char *state)
{
	const char *behind = strrchr(stat, ')');
	int64_t ticks, hz = sysconf(_SC_CLK_TCK);
	struct slice word;
	struct cursor c;

	if (!behind)
		return 0;
	cursor_init(&c, behind + 1, strlen(behind + 1));
	for (int i = 0; i < FIELDS_BEFORE_START; i++) {
		cursor_blanks(&c);
		if (!cursor_word(&c, &word, 32))
			return 0;
		if (!i)
			*state = *word.p;
		if (!i && (*word.p == 'Z' || *word.p == 'X'))
			return -1;
	}
	cursor_blanks(&c);
	return cursor_i64(&c, &ticks) && ticks >= 0 && hz > 0 && ticks < INT64_MAX / 1000000000 ?
	       ticks * (1000000000 / hz) : 0;
}

/* The monotonic clock stops while the machine is suspended, so the age of a moment may be too
 * small, never too large. *state gets that of /proc, if it can be read. */
static bool is_alive(int32_t pid, int64_t since_ns, char *state)
{
	char path[32], stat[1024];
	int64_t start_ns;

	if (pid <= 0 || (kill(pid, 0) && errno == ESRCH))
		return false;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (readfile_start(AT_FDCWD, path, stat, sizeof stat) <= 0)
		return !kill(pid, 0) || errno != ESRCH;
	start_ns = start_of(stat, state);
	if (start_ns <= 0)
		return !start_ns;
	return boot_ns() - start_ns + SLACK_NS >= clock_mono_ns() - since_ns;
}

bool alive_since(int32_t pid, int64_t since_ns)
{
	char state;

	return is_alive(pid, since_ns, &state);
}

bool alive_is_stopped(int32_t pid, int64_t since_ns)
{
	char state = 0;

	return is_alive(pid, since_ns, &state) && state == 'T';
}

bool alive_same_host(const char *host)
{
	struct utsname u;

	return host && !uname(&u) && !strcmp(u.nodename, host);
}

bool alive_same_boot(const char *boot_id)
{
	char text[64];

	return boot_id && readfile_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text,
					sizeof text) > 0 && !strcmp(text, boot_id);
}
