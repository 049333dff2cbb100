/* SPDX-License-Identifier: MIT */
#include "report/idle_look.h"

#include "base/clock.h"
#include "base/text.h"
#include "inspect/process_list.h"
#include "inspect/waiting.h"
#include "recording/alive.h"
#include "recording/suspended.h"

#include <stdio.h>
#include <stdlib.h>

#define SLACK_US 2000000	/* a process begins with its task: ticks, and hosts that write late */
#define DISK_US INT64_C(300000000)	/* a process that waits for a disk longer than this hangs */

/* The process of a task, not a later one with its number. */
static const struct listed *process_of(const struct process_list *l, const struct recording *rec,
				       const struct task *t)
{
	int64_t age_us = suspended_since_start_us(rec, clock_mono_ns()) - t->start_us;
	const struct listed *p = t->pid > 0 ? process_list_find(l, t->pid) : NULL;

	return p && llabs(p->age_us - age_us) <= SLACK_US ? p : NULL;
}

static bool has_child(const struct process_list *l, const struct listed *p)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->process[i].parent == p->pid && l->process[i].state != 'Z')
			return true;
	}
	return false;
}

/* The oldest process below it that waits for none of its own. */
static const struct listed *leaf_of(const struct process_list *l, const struct listed *root)
{
	const struct listed *leaf = root;

	for (size_t i = 0; i < l->n; i++) {
		const struct listed *p = &l->process[i];

		if (p->state != 'Z' && p != root && process_list_descends(l, p, root->pid) &&
		    !has_child(l, p) && (leaf == root || p->start_ticks < leaf->start_ticks))
			leaf = p;
	}
	return leaf;
}

static bool works(const struct process_list *l, const struct listed *root, int64_t idle_us)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct listed *p = &l->process[i];

		if ((p->state == 'R' || (p->state == 'D' && idle_us < DISK_US)) &&
		    (p == root || process_list_descends(l, p, root->pid)))
			return true;
	}
	return false;
}

static void look(struct idle *i, const struct recording *rec, const struct process_list *l)
{
	struct buf b = BUF_INIT;
	const struct listed *p;
	struct waiting w;

	for (size_t k = 0; k < rec->n_tasks; k++) {
		p = idle_may_be(rec, &rec->task[k], false) ? process_of(l, rec, &rec->task[k]) : NULL;
		if (p && works(l, p, i->us)) {
			i->us = 0;
			return;
		}
	}
	p = process_of(l, rec, &rec->task[i->task]);
	if (!p)
		return;
	p = leaf_of(l, p);
	waiting_read(&w, l->proc_fd, p->pid);
	if (!w.state)
		return;
	text_add_name(&b, p->name, 0);
	buf_addc(&b, ' ');
	waiting_words(&b, &w);
	snprintf(i->process, sizeof i->process, "%s", buf_str(&b));
	buf_release(&b);
	i->pid = p->pid;
	i->start_ticks = p->start_ticks;
}

void idle_look(struct idle *i, const struct recording *rec)
{
	struct process_list l;

	idle_find(i, rec);
	if (!i->us || i->ended || !alive_same_boot(recording_build(rec, "boot_id")))
		return;
	if (!process_list_init(&l) && !process_list_read(&l))
		look(i, rec, &l);
	process_list_release(&l);
}
