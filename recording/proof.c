/* SPDX-License-Identifier: MIT */
#include "recording/proof.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"
#include "recording/reader.h"
#include "recording/recording.h"
#include "recording/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the tasks of one instance add up to. */
struct sum {
	int64_t cpu_us, n_ended;
	uint64_t n_unended, n_unstarted;
};

static bool has_children(const struct instance *i)
{
	return i->close_us >= 0 && i->children_user_us >= 0 && i->children_system_us >= 0;
}

static int64_t children_us(const struct instance *i)
{
	return sat_add(i->children_user_us, i->children_system_us);
}

/* A program that could not be executed ended without a process to wait for. */
static void add_task(struct sum *sum, const struct task *t)
{
	if (t->user_us >= 0) {
		sum->cpu_us = sat_add(sum->cpu_us, sat_add(t->user_us, MAX(t->system_us, 0)));
		sum->n_ended++;
	} else if (t->start_us >= 0 && t->end_us < 0) {
		sum->n_unended++;
	} else if (t->end_us >= 0) {
		sum->n_unstarted++;
	}
}

/*
 * The CPU time alone proves nothing: libc itself waits for a process that could not execute its
 * program, and make then tries another way.
 */
static bool differs(const struct instance *i, const struct sum *sum)
{
	return i->reaped < 0 || i->reaped > sum->n_ended || sum->n_unended ||
	       (!sum->n_ended && !sum->n_unstarted);
}

static void compare_cpu(struct proof *p, const struct instance *i, const struct sum *sum)
{
	int64_t cpu_us = children_us(i) - sum->cpu_us;

	if (cpu_us > 0 && differs(i, sum))
		p->cpu_us = sat_add(p->cpu_us, cpu_us);
	p->n_unended += sum->n_unended;
	if (i->parent_task == NO_INDEX)
		p->of_us = sat_add(p->of_us, children_us(i));
	if (i->reaped < 0)
		return;
	p->of_processes = sat_add(p->of_processes, i->reaped);
	if (i->reaped > sum->n_ended)
		p->processes = sat_add(p->processes, i->reaped - sum->n_ended);
}

static bool ended_well(const struct recording *rec)
{
	return recording_build_number(rec, "status") == 0 && rec->end_us >= 0 &&
	       !recording_build(rec, "imported");
}

/* Its writer always ends with a line "close", unless it is killed. */
static bool must_close(const struct recording *rec, const struct instance *i)
{
	return i->close_us < 0 && i->open_us >= 0 && !i->only_spans && follow_has_all_numbers(i) &&
	       (i->parent_task == NO_INDEX || rec->task[i->parent_task].state == TASK_DONE);
}

static void find_unclosed(struct proof *p, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (!must_close(rec, &rec->instance[i]))
			continue;
		if (!p->n_unclosed++)
			p->unclosed = rec->instance[i].tool;
	}
}

static int64_t launched_us(const struct recording *rec)
{
	int64_t user_us = recording_build_number(rec, "user_us");
	int64_t system_us = recording_build_number(rec, "system_us");

	return user_us < 0 || system_us < 0 ? 0 : sat_add(user_us, system_us);
}

int proof_make(struct proof *p, const struct recording *rec)
{
	struct sum *sum = rec->n_instances ? calloc(rec->n_instances, sizeof *sum) : NULL;
	int64_t all_us = launched_us(rec);

	*p = (struct proof){ .unclosed = "" };
	if (rec->n_instances && !sum)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++)
		add_task(&sum[rec->task[i].instance], &rec->task[i]);
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (!has_children(&rec->instance[i]))
			continue;
		compare_cpu(p, &rec->instance[i], &sum[i]);
		p->known = true;
	}
	free(sum);
	if (all_us > 0)
		p->of_us = all_us;
	p->ended = recording_build_number(rec, "status") >= 0;
	if (ended_well(rec))
		find_unclosed(p, rec);
	return 0;
}

bool proof_lacks_processes(const struct proof *p)
{
	return (p->cpu_us >= PROOF_LEAST_US && (double)p->cpu_us > PROOF_SHARE * (double)p->of_us) ||
	       (p->processes > 0 && (double)p->processes > PROOF_SHARE * (double)p->of_processes);
}

/* Notes of the plugin say why it did not record something. */
static const char *noted(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_notes; i++) {
		if (!strncmp(rec->note[i].text, STORE_NOTE_PREFIX, strlen(STORE_NOTE_PREFIX)))
			return rec->note[i].text + strlen(STORE_NOTE_PREFIX);
	}
	return NULL;
}

static void add_reason(struct buf *b, const struct proof *p, const struct recording *rec)
{
	const char *note = noted(rec);

	if (note)
		buf_adds(b, note);
	else if (p->n_unended)
		buf_addf(b, "the end of %llu task%s is missing", (unsigned long long)p->n_unended,
			 p->n_unended == 1 ? "" : "s");
	else
		buf_adds(b, "their lines are missing, or the build tool got them in a way that is not "
			 "followed");
}

void proof_add_processes(struct buf *b, const struct proof *p, const struct recording *rec)
{
	if (!p->ended || !proof_lacks_processes(p))
		return;
	text_add_time(b, p->cpu_us);
	buf_adds(b, " of CPU time");
	if (p->of_us > 0) {
		buf_adds(b, " (");
		text_add_percent(b, (double)p->cpu_us / (double)p->of_us);
		buf_addc(b, ')');
	}
	buf_adds(b, " ran in ");
	if (p->processes > 0)
		buf_addf(b, "%lld process%s", (long long)p->processes, p->processes == 1 ? "" : "es");
	else
		buf_adds(b, "processes");
	buf_adds(b, " that no task has: ");
	add_reason(b, p, rec);
}

void proof_add_unclosed(struct buf *b, const struct proof *p)
{
	if (!p->n_unclosed)
		return;
	if (p->n_unclosed > 1)
		buf_addf(b, "%llu build tools, the first is %s,", (unsigned long long)p->n_unclosed,
			 p->unclosed);
	else
		buf_addf(b, "a %s", *p->unclosed ? p->unclosed : "build tool");
	buf_adds(b, " never ended its part of the recording: it was killed, or it still ran, or its "
		 "last tasks are missing");
}
