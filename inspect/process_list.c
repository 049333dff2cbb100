/* SPDX-License-Identifier: MIT */
#include "inspect/process_list.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "command/redact.h"
#include "sampler/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_CAP 65536
#define WORDS_MAX 4096
#define DEPTH_MAX 256

int process_list_init(struct process_list *l)
{
	*l = (struct process_list){ .proc_fd = -1, .list_fd = -1, .text = malloc(TEXT_CAP) };
	if (!l->text)
		return -ENOMEM;
	l->proc_fd = file_open_at(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY);
	if (l->proc_fd >= 0)
		l->list_fd = file_open_at(l->proc_fd, ".", O_RDONLY | O_DIRECTORY);
	return l->proc_fd < 0 ? l->proc_fd : l->list_fd < 0 ? l->list_fd : 0;
}

void process_list_release(struct process_list *l)
{
	file_close(l->list_fd);
	file_close(l->proc_fd);
	free_all(l->process, l->before, l->text);
	*l = (struct process_list){ .proc_fd = -1, .list_fd = -1 };
}

/* Reading */

struct reading {
	struct process_list *list;
	struct root_text text;
	int64_t now_us;		/* CLOCK_BOOTTIME, as the starts of processes */
	int64_t tick_us;
	uint64_t page_kb;
	int error;
};

static int64_t boot_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void take_stat(const struct reading *d, struct listed *p, const struct pid_stat *s)
{
	*p = (struct listed){
		.pid = p->pid, .parent = s->parent, .start_ticks = s->start_ticks,
		.state = s->state, .kernel = s->kernel, .threads = s->threads, .pss_kb = -1,
		.cpu_ticks = s->user_ticks + s->system_ticks,
		.rss_kb = s->rss_pages % (UINT64_MAX >> 16) * d->page_kb,
		.faults = (int64_t)((s->minor_faults + s->major_faults) % INT64_MAX),
	};
	memcpy(p->name, s->name, sizeof p->name);
	p->age_us = d->now_us - (int64_t)(s->start_ticks % (UINT64_MAX >> 24)) * d->tick_us;
	if (p->age_us < 0)
		p->age_us = 0;
}

static bool take_process(void *ctx, const char *name)
{
	struct reading *d = ctx;
	struct process_list *l = d->list;
	int32_t pid = root_pid_of(name);
	struct pid_stat stat;
	struct listed *p;

	if (!pid || !root_read_process(l->proc_fd, pid, "stat", &d->text) ||
	    !parse_pid_stat(&d->text, &stat))
		return true;
	p = array_add(&l->process, &l->n, sizeof *p);
	if (!p) {
		d->error = -ENOMEM;
		return false;
	}
	p->pid = pid;
	take_stat(d, p, &stat);
	return true;
}

static int by_pid(const void *a, const void *b)
{
	const struct listed *p = a, *q = b;

	return array_order(p->pid, q->pid);
}

static struct listed *find_process(struct listed *process, size_t n, int32_t pid)
{
	struct listed key = { .pid = pid };

	return n ? bsearch(&key, process, n, sizeof *process, by_pid) : NULL;
}

struct listed *process_list_find(const struct process_list *l, int32_t pid)
{
	return find_process(l->process, l->n, pid);
}

/* Ticks are coarse: at most as many as there are threads. */
static void compute_cpu(struct process_list *l, struct listed *p, int64_t tick_us)
{
	const struct listed *before = find_process(l->before, l->n_before, p->pid);
	int64_t elapsed_us = p->age_us;
	uint64_t ticks = p->cpu_ticks;

	if (before && before->start_ticks == p->start_ticks) {
		elapsed_us = l->time_us - l->before_us;
		ticks -= MIN(before->cpu_ticks, ticks);
	}
	if (elapsed_us < tick_us)
		elapsed_us = tick_us;
	p->cpu_permille = (int64_t)((double)ticks * (double)tick_us * 1000 / (double)elapsed_us);
	if (p->threads && p->cpu_permille > 1000 * (int64_t)(p->threads % INT32_MAX))
		p->cpu_permille = 1000 * (int64_t)(p->threads % INT32_MAX);
}

static void keep_before(struct process_list *l)
{
	struct listed *old = l->before;

	l->before = l->process;
	l->n_before = l->n;
	l->before_us = l->time_us;
	l->process = old;
	l->n = 0;
}

int process_list_read(struct process_list *l)
{
	size_t half = TEXT_CAP / 2;
	struct root_text names = { l->text + half, 0, half };
	struct reading d = {
		.list = l, .text = { l->text, 0, half },
		.tick_us = 1000000 / sysconf(_SC_CLK_TCK),
		.page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
	};

	keep_before(l);
	l->time_us = clock_mono_ns() / 1000;
	d.now_us = boot_us();
	root_list_names(l->list_fd, &names, take_process, &d);
	qsort(l->process, l->n, sizeof *l->process, by_pid);
	for (size_t i = 0; i < l->n; i++)
		compute_cpu(l, &l->process[i], d.tick_us);
	return d.error;
}

/* Questions */

bool process_list_descends(const struct process_list *l, const struct listed *p, int32_t ancestor)
{
	for (int depth = 0; p && depth < DEPTH_MAX; depth++) {
		if (p->pid == ancestor)
			return true;
		p = p->parent ? process_list_find(l, p->parent) : NULL;
	}
	return false;
}

void process_list_read_pss(struct process_list *l)
{
	struct root_text text = { l->text, 0, TEXT_CAP };

	for (size_t i = 0; i < l->n; i++) {
		struct listed *p = &l->process[i];
		struct want pss = { .key = "Pss" };

		if (p->selected && !p->kernel && p->state != 'Z' &&
		    root_read_process(l->proc_fd, p->pid, "smaps_rollup", &text) &&
		    parse_keyed(&text, &pss, 1) && pss.value <= INT64_MAX / 1024)
			p->pss_kb = (int64_t)pss.value;
	}
}

void process_list_add_words(const struct process_list *l, const struct listed *p, struct buf *out)
{
	struct root_text words = { l->text, 0, WORDS_MAX };
	struct slice part[REDACT_PARTS_MAX];
	size_t n, start = out->len;

	if (!root_read_process(l->proc_fd, p->pid, "cmdline", &words))
		return;
	while (words.len && !words.data[words.len - 1])
		words.len--;
	n = words.len ? redact_split(part, words.data, words.len, words.len == WORDS_MAX) : 0;
	for (size_t i = 0; i < n; i++)
		buf_add(out, part[i].p, part[i].len);
	for (size_t i = start; i < out->len; i++) {
		if (!out->data[i])
			out->data[i] = ' ';
	}
}
