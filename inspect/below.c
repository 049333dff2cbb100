/* SPDX-License-Identifier: MIT */
#include "inspect/below.h"

#include "base/array.h"
#include "sampler/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROOM ((size_t)64 << 10)	/* the numbers of some 10,000 children */

int below_init(struct below *b, bool all)
{
	int r;

	*b = (struct below){
		.page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024,
		.text = { malloc(TEXT_ROOM), 0, TEXT_ROOM },
		.names = { malloc(TEXT_ROOM), 0, TEXT_ROOM },
	};
	r = process_list_init(&b->all);
	if (!b->text.data || !b->names.data)
		r = -ENOMEM;
	if (!r)
		b->lists = all || !root_has(b->all.proc_fd, "thread-self/children");
	return r;
}

void below_release(struct below *b)
{
	process_list_release(&b->all);
	free_all(b->process, b->text.data, b->names.data);
}

static void add_process(struct below *b, const struct below_process *p)
{
	struct below_process *place = array_add(&b->process, &b->n, sizeof *place);

	if (place)
		*place = *p;
	else
		b->no_memory = true;
}

/* From parent to child */

struct walk {
	struct below *b;
	int32_t except;
	size_t n;		/* processes of which the children are not known yet */
	int32_t *pid;
};

static void on_child(void *context, int32_t pid)
{
	struct walk *w = context;
	int32_t *place;

	if (pid == w->except)
		return;
	place = array_add(&w->pid, &w->n, sizeof *place);
	if (place)
		*place = pid;
	else
		w->b->no_memory = true;
}

static void walk_down(struct below *b, int32_t root, int32_t except)
{
	struct walk w = { .b = b, .except = except };

	on_child(&w, root);
	for (size_t i = 0; i < w.n; i++) {
		int32_t pid = w.pid[i];
		struct below_process p = { .pid = pid };
		struct pid_stat s;

		if (!root_read_process(b->all.proc_fd, pid, "stat", &b->text) ||
		    !parse_pid_stat(&b->text, &s) || s.state == 'Z' || s.state == 'X')
			continue;
		p.start_ticks = s.start_ticks;
		p.rss_kb = s.rss_pages * b->page_kb;
		memcpy(p.name, s.name, sizeof p.name);
		add_process(b, &p);
		root_list_children(b->all.proc_fd, pid, s.threads, &b->text, &b->names, on_child,
				   &w);
	}
	free(w.pid);
}

/* From all processes */

static bool is_wanted(const struct below *b, const struct listed *p, int32_t root, int32_t except)
{
	if (p->kernel || p->state == 'Z' || p->state == 'X' ||
	    process_list_descends(&b->all, p, except))
		return false;
	return !root || process_list_descends(&b->all, p, root);
}

static int filter_all(struct below *b, int32_t root, int32_t except)
{
	int r = process_list_read(&b->all);

	if (r)
		return r;
	for (size_t i = 0; i < b->all.n; i++) {
		const struct listed *p = &b->all.process[i];
		struct below_process one = { p->pid, p->start_ticks, p->rss_kb, "" };

		memcpy(one.name, p->name, sizeof one.name);
		if (is_wanted(b, p, root, except))
			add_process(b, &one);
	}
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct below_process *p = a, *q = b;

	return array_order(p->pid, q->pid);
}

int below_read(struct below *b, int32_t root, int32_t except)
{
	int r = 0;

	free(b->process);
	b->process = NULL;
	b->n = 0;
	b->no_memory = false;
	if (b->lists)
		r = filter_all(b, root, except);
	else
		walk_down(b, root, except);
	if (b->n)
		qsort(b->process, b->n, sizeof *b->process, by_pid);
	return b->no_memory ? -ENOMEM : r;
}
