/* SPDX-License-Identifier: MIT */
#include "sampler/census.h"

#include "base/clock.h"
#include "base/file.h"
#include "sampler/cputime.h"
#include "sampler/parse.h"
#include "sampler/tail.h"

#include <errno.h>
#include <fcntl.h>
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
	file_close(c->list_fd);
	free(c->text.data);
	free(c->names.data);
	*c = (struct census){ .proc_fd = -1, .list_fd = -1 };
}

static bool read_of(struct census *c, int32_t pid, const char *name)
{
	return root_read_process(c->proc_fd, pid, name, &c->text);
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

struct walk {
	struct census *census;
	struct family *family;
	int32_t parent;
	int64_t t_us;
};

static void adopt_child(void *ctx, int32_t pid)
{
	struct walk *w = ctx;

	if (!family_find(w->family, pid))
		adopt(w->census, w->family, pid, w->parent, w->t_us);
}

/* Of all processes, adopt those with a parent in the family. */
static bool each_process(void *ctx, const char *name)
{
	struct walk *w = ctx;
	struct pid_stat stat;
	int32_t pid = root_pid_of(name);

	if (!pid || family_find(w->family, pid))
		return true;
	if (read_of(w->census, pid, "stat") && parse_pid_stat(&w->census->text, &stat) &&
	    family_find(w->family, stat.parent))
		adopt(w->census, w->family, pid, stat.parent, w->t_us);
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
		root_list_children(c->proc_fd, m->pid, stat.threads, &c->text, &c->names,
				   adopt_child, &(struct walk){ c, f, m->pid, t_us });
}

/* The limit of the loop moves: processes that it adopts are polled too. */
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
