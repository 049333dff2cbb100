/* SPDX-License-Identifier: MIT */
#include "sampler/census.h"

#include "base/clock.h"
#include "base/file.h"
#include "sampler/cputime.h"
#include "sampler/parse.h"
#include "sampler/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_CAP 4096
#define NAMES_CAP 65536
#define NEW_POLLS 3

int census_init(struct census *c, int proc_fd, int64_t start_ns)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	*c = (struct census){ .proc_fd = proc_fd, .list_fd = -1 };
	c->boot_us = (int64_t)boot.tv_sec * 1000000 + boot.tv_nsec / 1000 -
		     (clock_mono_ns() - start_ns) / 1000;
	c->scans = !root_has(proc_fd, "thread-self/children");
	c->tick_us = 1000000 / sysconf(_SC_CLK_TCK);
	c->page_kb = sysconf(_SC_PAGESIZE) / 1024;
	c->text = (struct root_text){ malloc(TEXT_CAP), 0, TEXT_CAP };
	c->names = (struct root_text){ malloc(NAMES_CAP), 0, NAMES_CAP };
	if (c->text.data && c->names.data)
		return 0;
	census_release(c);
	return -ENOMEM;
}

void census_release(struct census *c)
{
	if (c->list_fd >= 0)
		close(c->list_fd);
	free(c->text.data);
	free(c->names.data);
	*c = (struct census){ .proc_fd = -1, .list_fd = -1 };
}

/* Every file here is small. */
static bool read_of(struct census *c, int32_t pid, const char *name)
{
	char path[96];
	ssize_t n;
	int fd;

	c->text.len = 0;
	snprintf(path, sizeof path, "%d/%s", (int)pid, name);
	fd = openat(c->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, c->text.data, c->text.cap);
	close(fd);
	c->text.len = n > 0 ? (size_t)n : 0;
	return n >= 0;
}

void census_words(struct census *c, int32_t pid)
{
	read_of(c, pid, "cmdline");
}

bool census_lives(struct census *c, int32_t pid)
{
	struct pid_stat stat;

	return read_of(c, pid, "stat") && parse_pid_stat(&c->text, &stat) &&
	       stat.state != 'Z' && stat.state != 'X';
}

/* Adoption */

static void adopt(struct census *c, struct family *f, int32_t pid, int32_t parent, int64_t t_us)
{
	struct member *m = family_birth(f, pid, parent, t_us);

	if (m) {
		m->adopted_us = t_us;
		m->round = c->round - 1;
	}
}

static void cut_last_word(struct root_text *t)
{
	while (t->len && t->data[t->len - 1] != ' ')
		t->len--;
}

static void adopt_children_of_thread(struct census *c, struct family *f, int32_t pid,
				     const char *tid, int64_t t_us)
{
	struct cursor list;
	char name[64];
	uint64_t child;

	snprintf(name, sizeof name, "task/%s/children", tid);
	if (!read_of(c, pid, name))
		return;
	/* truncated children are found by the next poll */
	if (c->text.len == c->text.cap)
		cut_last_word(&c->text);
	root_text_cursor(&c->text, &list);
	while (cursor_u64(&list, &child)) {
		if (child && child <= INT32_MAX && !family_find(f, (int32_t)child))
			adopt(c, f, (int32_t)child, pid, t_us);
		cursor_blanks(&list);
	}
}

struct walk {
	struct census *census;
	struct family *family;
	int32_t pid;
	int64_t t_us;
};

static bool each_thread(void *ctx, const char *name)
{
	struct walk *w = ctx;

	if (name[0] != '.')
		adopt_children_of_thread(w->census, w->family, w->pid, name, w->t_us);
	return true;
}

static void adopt_children(struct census *c, struct family *f, int32_t pid, uint64_t threads,
			   int64_t t_us)
{
	struct walk w = { c, f, pid, t_us };
	char name[32];
	int fd;

	snprintf(name, sizeof name, "%d", (int)pid);
	if (threads <= 1) {
		adopt_children_of_thread(c, f, pid, name, t_us);
		return;
	}
	strcat(name, "/task");
	fd = openat(c->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	root_list_names(fd, &c->names, each_thread, &w);
	close(fd);
}

/* Of all processes, adopt those with a parent in the family. */
static bool each_process(void *ctx, const char *name)
{
	struct slice s = slice_of(name);
	struct walk *w = ctx;
	struct pid_stat stat;
	uint64_t pid;

	if (!cursor_slice_u64(s, &pid) || !pid || pid > INT32_MAX || family_find(w->family, (int32_t)pid))
		return true;
	if (read_of(w->census, (int32_t)pid, "stat") &&
	    parse_pid_stat(&w->census->text, &stat) && family_find(w->family, stat.parent))
		adopt(w->census, w->family, (int32_t)pid, stat.parent, w->t_us);
	return true;
}

static void scan(struct census *c, struct family *f, int64_t t_us)
{
	struct walk w = { c, f, 0, t_us };

	if (c->list_fd < 0)
		c->list_fd = file_open_at(c->proc_fd, ".", O_RDONLY | O_DIRECTORY);
	if (c->list_fd >= 0)
		root_list_names(c->list_fd, &c->names, each_process, &w);
}

/* A member */

/* /proc has the start in clock ticks. The parent was born before. */
static void take_start(const struct census *c, const struct family *f, struct member *m,
		       uint64_t ticks)
{
	const struct member *parent = family_find(f, m->parent);
	int64_t start_us = ticks > INT64_MAX / 1000000 ? m->start_us :
		(int64_t)ticks * c->tick_us - c->boot_us;

	if (parent && start_us < parent->start_us)
		start_us = parent->start_us;
	if (start_us >= 0 && start_us < m->start_us)
		m->start_us = start_us;
}

static void take_values(const struct census *c, struct member *m, const struct pid_stat *s)
{
	int64_t rss_kb = (int64_t)(s->rss_pages % (UINT64_MAX >> 16)) * c->page_kb;
	int64_t cpu_us;

	/* a new program has memory of its own; before, the process had its parent's */
	if (strncmp(m->name, s->name, sizeof m->name))
		m->sum.max_rss_kb = -1;
	m->sum.user_us = (int64_t)(s->user_ticks % (UINT64_MAX >> 24)) * c->tick_us;
	m->sum.system_us = (int64_t)(s->system_ticks % (UINT64_MAX >> 24)) * c->tick_us;
	cpu_us = cputime_of_process(m->pid);
	if (cpu_us > m->cpu_us)
		m->cpu_us = cpu_us;
	if (rss_kb > m->sum.max_rss_kb)
		m->sum.max_rss_kb = rss_kb;
}

/* In the middle of an exec there is a new name, and there are no words yet. */
static void read_words(struct census *c, struct member *m, const char *name)
{
	census_words(c, m->pid);
	if (!c->text.len)
		return;
	family_command(m, c->text.data, c->text.len);
	memcpy(m->name, name, sizeof m->name);
}

/* A zombie remains a member until its parent waits for it; otherwise it would be found again. */
static bool is_dead(struct family *f, struct member *m, const struct pid_stat *s, int64_t t_us,
		    bool bury)
{
	bool zombie = s && (s->state == 'Z' || s->state == 'X');

	if (zombie && m->zombie_us < 0)
		m->zombie_us = t_us;
	if (!s || (zombie && bury))
		family_death(f, m, m->zombie_us < 0 ? t_us : m->zombie_us, PROCESS_ENDED);
	return !s || zombie;
}

static void poll_member(struct census *c, struct family *f, struct member *m, int64_t t_us,
		    bool bury, bool columns)
{
	struct pid_stat stat;
	bool found = read_of(c, m->pid, "stat") && parse_pid_stat(&c->text, &stat);

	m->round = c->round;
	/* the end of a new zombie may already have been recorded */
	if (found && m->adopted_us >= 0 && !m->polls && !columns && stat.state == 'Z') {
		family_forget(f, m);
		return;
	}
	if (found && m->adopted_us >= 0 && !m->polls)
		take_start(c, f, m, stat.start_ticks);
	if (found && columns)
		take_values(c, m, &stat);
	if (is_dead(f, m, found ? &stat : NULL, t_us, bury))
		return;
	/* a new process may still run its parent's program, or another one with the same name */
	if (m->polls < NEW_POLLS || strncmp(m->name, stat.name, sizeof m->name))
		read_words(c, m, stat.name);
	m->polls += m->polls < NEW_POLLS;
	m->threads = stat.threads && stat.threads < UINT32_MAX ? (uint32_t)stat.threads : 1;
	if (!c->scans)
		adopt_children(c, f, m->pid, stat.threads, t_us);
}

/* Those adopted in the loop are polled too. */
void census_take(struct census *c, struct family *f, int64_t t_us, bool bury, bool columns)
{
	bool again = true;

	c->round++;
	if (c->scans)
		scan(c, f, t_us);
	while (again) {
		uint64_t born = f->n_born;

		for (uint32_t i = 0; i < f->top; i++) {
			struct member *m = &f->member[i];

			if (m->pid && m->round != c->round)
				poll_member(c, f, m, t_us, bury, columns);
		}
		again = f->n_born != born;
	}
}
