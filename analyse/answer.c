/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "analyse/names.h"
#include "analyse/lto.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

const char *const answer_word[ANSWER_ABOUTS] = {
	[ANSWER_FAILED] = "failed", [ANSWER_CURRENT] = "current", [ANSWER_IDLE] = "idle", [ANSWER_ALONE] = "alone",
	[ANSWER_WAITED] = "waited", [ANSWER_LATE] = "late", [ANSWER_NOTHING] = "nothing",
	[ANSWER_FEW] = "few", [ANSWER_LTO] = "lto", [ANSWER_OTHERS] = "others", [ANSWER_CORES] = "cores",
	[ANSWER_WORKERS] = "workers",
	[ANSWER_DEPENDENCIES] = "dependencies", [ANSWER_LOAD] = "load", [ANSWER_POOL] = "pool",
	[ANSWER_MEMORY] = "memory", [ANSWER_DISK] = "disk", [ANSWER_UNUSED] = "unused", [ANSWER_ADVICE] = "advice",
};

#define WALL_LEAST_US 2000000	/* a shorter build is not slow */
#define PART_MOST 0.75		/* of the wall time: more is nearly all of it */
#define PART_NEARLY 0.95	/* of several: it is nearly all of them */

bool answer_is_part(const struct answer_work *w, int64_t us)
{
	return w->s->wall_us >= WALL_LEAST_US &&
	       (double)us >= ANSWER_PART_LEAST * (double)w->s->wall_us;
}

bool answer_is_most(int64_t us, int64_t of_us)
{
	return (double)us >= ANSWER_PART_ONE * (double)of_us;
}

bool answer_is_nearly(int64_t us, int64_t of_us)
{
	return (double)us >= PART_NEARLY * (double)of_us;
}

bool answer_is_bound(const struct answer_work *w)
{
	return (double)w->c->dependency_us >= PART_MOST * (double)w->s->wall_us;
}

/* Words */

void answer_add(struct answer_work *w, const char *words)
{
	buf_adds(&w->text, words);
}

void answer_add_number(struct answer_work *w, const char *before, int64_t n, const char *after)
{
	buf_addf(&w->text, "%s%lld%s", before, (long long)n, after);
}

void answer_add_time(struct answer_work *w, const char *before, int64_t us, const char *after)
{
	answer_add(w, before);
	text_add_time(&w->text, us);
	answer_add(w, after);
}

void answer_add_percent(struct answer_work *w, const char *before, double share, const char *after)
{
	answer_add(w, before);
	text_add_percent(&w->text, share);
	answer_add(w, after);
}

void answer_add_of_build(struct answer_work *w, int64_t us)
{
	answer_add_time(w, "", us, " of ");
	text_add_time(&w->text, w->s->wall_us);
}

void answer_add_name(struct answer_work *w, const char *before, uint32_t task, const char *after)
{
	const struct recording *rec = w->s->rec;
	bool lto = lto_is_part(w->s, task);
	const struct task *t = &rec->task[lto ? w->s->nest[task].parent : task];
	struct buf name = BUF_PART_OF(&w->text);

	answer_add(w, before);
	answer_add(w, lto ? "the link of " : "");
	name_add_file(&name, rec, t);
	text_add_name(&w->text, buf_str(&name), ANSWER_NAME_COLUMNS);
	buf_release(&name);
	answer_add(w, after);
}

const struct answer_sentence *answer_find(const struct answer_work *w, enum answer_about about)
{
	for (size_t i = 0; i < w->a->n; i++) {
		if (w->a->sentence[i].about == about)
			return &w->a->sentence[i];
	}
	return NULL;
}

static void drop_sentence(struct answer *a, size_t at)
{
	free(a->sentence[at].text);
	a->n--;
	memmove(&a->sentence[at], &a->sentence[at + 1], (a->n - at) * sizeof *a->sentence);
}

/* Of the sentences about one task that ran alone, waited, started late or is most of the longest chain, one
 * is enough: that with the cause, otherwise the one that explains more. */
static int cause_rank(enum answer_about about)
{
	switch (about) {
	case ANSWER_ALONE: case ANSWER_DEPENDENCIES: return 1;
	case ANSWER_LATE: return 2;
	case ANSWER_WAITED: return 3;
	case ANSWER_IDLE: return 4;
	default: return 0;
	}
}

static bool is_said(struct answer_work *w, enum answer_about about, const struct answer_span *span,
		    int64_t explains_us)
{
	int rank = cause_rank(about);

	for (size_t i = 0; rank && span && span->task != NO_INDEX && i < w->a->n; i++) {
		const struct answer_sentence *other = &w->a->sentence[i];
		int other_rank = cause_rank(other->about);

		if (!other_rank || other->task != span->task)
			continue;
		if (other_rank > rank || (other_rank == rank && other->explains_us >= explains_us))
			return true;
		drop_sentence(w->a, i);
		break;
	}
	return false;
}

/* Others' share of the CPU explains its part of the time, and what only takes long without the CPU does
 * not explain it again. */
static int64_t beside_others(const struct answer_work *w, enum answer_about about, int64_t us)
{
	switch (about) {
	case ANSWER_ALONE: case ANSWER_LATE: case ANSWER_NOTHING: case ANSWER_FEW: case ANSWER_LTO:
	case ANSWER_CORES: case ANSWER_WORKERS: case ANSWER_DEPENDENCIES:
		return MIN(us, w->s->wall_us - w->others_us);
	default:
		return us;
	}
}

void answer_end(struct answer_work *w, enum answer_about about, const struct answer_span *span, int64_t explains_us)
{
	struct answer *a = w->a;
	size_t at;

	explains_us = beside_others(w, about, explains_us);
	answer_add(w, ".");
	if (buf_error(&w->text)) {
		w->error = buf_error(&w->text);
		return;
	}
	/* a task may have outlived the build */
	if (span && span->until_us > w->s->wall_us)
		span = NULL;
	if (is_said(w, about, span, explains_us)) {
		buf_clear(&w->text);
		return;
	}
	at = a->n;
	while (at && a->sentence[at - 1].explains_us < explains_us &&
	       a->sentence[at - 1].about > ANSWER_IDLE)
		at--;
	if (at == ANSWER_MAX) {
		buf_clear(&w->text);
		return;
	}
	if (a->n == ANSWER_MAX)
		free(a->sentence[--a->n].text);
	memmove(&a->sentence[at + 1], &a->sentence[at], (a->n - at) * sizeof *a->sentence);
	a->sentence[at] = (struct answer_sentence){
		.about = about, .text = (char *)buf_str(&w->text), .from_us = span ? span->from_us : -1,
		.until_us = span ? span->until_us : -1, .task = span ? span->task : NO_INDEX,
		.explains_us = explains_us,
	};
	a->n++;
	w->text = (struct buf)BUF_INIT;
}

int answer_make(struct answer *a, const struct summary *s, const struct chain *c, const struct idle *idle)
{
	static void (*const say[])(struct answer_work *w) = {
		answer_say_failure, answer_say_current, answer_say_idle, answer_say_others, answer_say_late,
		answer_say_waited, answer_say_alone, answer_say_few, answer_say_lto, answer_say_nothing_ran,
		answer_say_cores, answer_say_workers, answer_say_dependencies, answer_say_load, answer_say_pool,
		answer_say_memory, answer_say_disk, answer_say_unused,
	};
	struct answer_work w = { .s = s, .c = c, .idle = idle, .a = a };

	*a = (struct answer){ 0 };
	w.error = answer_times_fill(&w.times, s, &c->waits);
	for (size_t i = 0; i < ARRAY_SIZE(say) && !w.error; i++)
		say[i](&w);
	buf_release(&w.text);
	return w.error;
}

void answer_release(struct answer *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->sentence[i].text);
	*a = (struct answer){ 0 };
}
