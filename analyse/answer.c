/* SPDX-License-Identifier: MIT */
#include "analyse/answer.h"

#include "analyse/answer_times.h"
#include "analyse/names.h"
#include "analyse/words.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

const char *const answer_word[ANSWER_ABOUTS] = {
	[ANSWER_FAILED] = "failed", [ANSWER_IDLE] = "idle", [ANSWER_ALONE] = "alone", [ANSWER_NOTHING] = "nothing",
	[ANSWER_FEW] = "few", [ANSWER_LTO] = "lto", [ANSWER_OTHERS] = "others", [ANSWER_WORKERS] = "workers",
	[ANSWER_DEPENDENCIES] = "dependencies", [ANSWER_LOAD] = "load", [ANSWER_POOL] = "pool",
	[ANSWER_MEMORY] = "memory", [ANSWER_DISK] = "disk",
};

#define WALL_LEAST_US 2000000	/* a shorter build is not slow */
#define PART_LEAST 0.1		/* of the wall time: less explains nothing */
#define PART_MOST 0.75		/* of the wall time: more is nearly all of it */
#define PART_ONE 0.6		/* of several: it is most of them */
#define PART_NEARLY 0.95	/* of several: it is nearly all of them */
#define PART_SHORT 0.02		/* of the wall time in which tasks waited for memory */
#define CPU_FULL 0.9		/* at least this is busy */
#define CPU_FREE 0.75		/* of all cores: at most this is busy */
#define CPU_WANTED 0.02		/* of the time of tasks: those that use less wait, or sleep */
#define NAME_COLUMNS 60
#define STATUS_TIMEOUT 124	/* of timeout(1) */
#define END_US 1000000		/* in this time before the end, the build was being stopped */

struct work {
	const struct summary *s;
	const struct chain *c;
	const struct idle *idle;
	struct answer_times times;
	struct buf text;	/* of the sentence being made */
	struct answer *a;
	int error;
};

static bool is_part(const struct work *w, int64_t us)
{
	return w->s->wall_us >= WALL_LEAST_US &&
	       (double)us >= PART_LEAST * (double)w->s->wall_us;
}

/* Is one of two times most of the other. */
static bool is_most(int64_t us, int64_t of_us)
{
	return (double)us >= PART_ONE * (double)of_us;
}

static bool is_nearly(int64_t us, int64_t of_us)
{
	return (double)us >= PART_NEARLY * (double)of_us;
}

/* Words */

static void add_words(struct work *w, const char *words)
{
	buf_adds(&w->text, words);
}

static void add_number(struct work *w, const char *before, int64_t n, const char *after)
{
	buf_addf(&w->text, "%s%lld%s", before, (long long)n, after);
}

static void add_time(struct work *w, const char *before, int64_t us, const char *after)
{
	add_words(w, before);
	text_add_time(&w->text, us);
	add_words(w, after);
}

static void add_percent(struct work *w, const char *before, double share, const char *after)
{
	add_words(w, before);
	text_add_percent(&w->text, share);
	add_words(w, after);
}

static void add_of_build(struct work *w, int64_t us)
{
	add_time(w, "", us, " of ");
	text_add_time(&w->text, w->s->wall_us);
}

/* The file of a target, the recipe and task of BitBake; the link for a part of its link-time
 * optimisation. */
static void add_name(struct work *w, const char *before, uint32_t task, const char *after)
{
	const struct recording *rec = w->s->rec;
	bool lto = answer_times_is_lto(w->s, task);
	const struct task *t = &rec->task[lto ? w->s->nest[task].parent : task];
	const char *slash = strrchr(t->name, '/');
	struct buf name = BUF_PART_OF(&w->text);

	add_words(w, before);
	add_words(w, lto ? "the link of " : "");
	if (name_is_recipe(rec, t) || !*t->name)
		name_add_task(&name, rec, t);
	else
		buf_adds(&name, slash && slash[1] ? slash + 1 : t->name);
	text_add_name(&w->text, buf_str(&name), NAME_COLUMNS);
	buf_release(&name);
	add_words(w, after);
}

/* NULL: there is none so far. */
static const struct answer_sentence *sentence_about(const struct work *w, enum answer_about about)
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

/* One sentence is enough for a task that ran alone and is most of the longest chain, or that hangs. */
static bool is_said(struct work *w, enum answer_about about, const struct answer_span *span,
		    int64_t explains_us)
{
	for (size_t i = 0; i < w->a->n; i++) {
		const struct answer_sentence *other = &w->a->sentence[i];

		if (!span || span->task == NO_INDEX || other->task != span->task ||
		    (about != ANSWER_ALONE && about != ANSWER_DEPENDENCIES) ||
		    (other->about != ANSWER_ALONE && other->about != ANSWER_DEPENDENCIES &&
		     other->about != ANSWER_IDLE))
			continue;
		if (other->about == ANSWER_IDLE || other->explains_us >= explains_us)
			return true;
		drop_sentence(w->a, i);
		break;
	}
	return false;
}

/* The text so far is a sentence, if it is one of the most important. A name begins it as it is
 * written. */
static void end_sentence(struct work *w, enum answer_about about, const struct answer_span *span,
			 int64_t explains_us)
{
	struct answer *a = w->a;
	size_t at;

	add_words(w, ".");
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

/* What went wrong */

/* Was it running when the build ended. */
static bool was_stopped(const struct summary *s, const struct task *t)
{
	return !t->hosts && !task_is_shell(t) && task_ran(t) &&
	       (t->state == TASK_UNFINISHED || t->state == TASK_KILLED) &&
	       recording_task_end_us(s->rec, t) >= s->wall_us - END_US;
}

#define STOPPED_MAX 2

/* The tasks that had run for longest when the build was stopped. Returns how many there were. */
static size_t find_stopped(const struct summary *s, uint32_t task[STOPPED_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ran; i++) {
		if (!was_stopped(s, &s->rec->task[s->order[i]]))
			continue;
		if (n < STOPPED_MAX)
			task[n] = s->order[i];
		n++;
	}
	return n;
}

/* A whole second is enough where two tasks began nearly together. */
static bool is_like(int64_t us, int64_t other_us)
{
	return us / 1000000 == other_us / 1000000 || is_nearly(MIN(us, other_us),
							       MAX(other_us, us));
}

static void add_stopped(struct work *w, const uint32_t *task, size_t n)
{
	int64_t us[STOPPED_MAX];

	for (size_t i = 0; i < n && i < STOPPED_MAX; i++)
		us[i] = cost_wall_us(w->s->rec, &w->s->rec->task[task[i]]);
	add_name(w, "; ", task[0], "");
	if (n == 2 && is_like(us[0], us[1])) {
		add_name(w, " and ", task[1], "");
		n = 1;
	}
	add_time(w, " had run for ", us[0], "");
	if (n == 2) {
		add_name(w, ", ", task[1], "");
		add_time(w, " for ", us[1], "");
	} else if (n > 2) {
		add_number(w, ", and ", (int64_t)n - 1, " others ran");
	}
}

/* Was the whole build ended, rather than one of its tasks? */
static bool is_stopped(const struct summary *s, const struct task *first)
{
	return s->result == BUILD_KILLED || !first ||
	       (first->state == TASK_KILLED && s->status == STATUS_TIMEOUT);
}

static void say_failure(struct work *w)
{
	const struct summary *s = w->s;
	struct answer_span span = { -1, -1, 0, summary_first_failure(s) };
	const struct task *t = span.task == NO_INDEX ? NULL : &s->rec->task[span.task];
	uint32_t stopped[STOPPED_MAX];
	size_t n_stopped = find_stopped(s, stopped);

	if (s->result != BUILD_FAILED && s->result != BUILD_KILLED)
		return;
	add_words(w, s->result == BUILD_KILLED ? "The build was " : "The build ");
	words_add_result(&w->text, s->result, s->status);
	add_time(w, " after ", s->wall_us, "");
	if (n_stopped && is_stopped(s, t)) {
		add_stopped(w, stopped, n_stopped);
		span.task = stopped[0];
		t = &s->rec->task[stopped[0]];
		span.from_us = t->start_us;
		span.until_us = recording_task_end_us(s->rec, t);
	} else if (t) {
		span.from_us = t->start_us;
		span.until_us = recording_task_end_us(s->rec, t);
		add_name(w, "; ", span.task, t->state == TASK_KILLED ? " was killed (" :
			 t->state == TASK_DONE ? " said no (" : " failed (");
		words_add_status(&w->text, words_task_status(t));
		add_time(w, t->end_at_most ? ") after at most " : ") after ", span.until_us, "");
	}
	end_sentence(w, ANSWER_FAILED, &span, s->wall_us);
}

static void say_idle(struct work *w)
{
	const struct idle *i = w->idle;
	const struct answer_span span = { i->since_us, i->since_us + i->us, i->us, i->task };

	if (!i->us)
		return;
	idle_words(&w->text, i, w->s->rec);
	end_sentence(w, ANSWER_IDLE, &span, MIN(i->us, w->s->wall_us));
}

/* Little to do at once */

static void say_alone(struct work *w)
{
	const struct answer_times *t = &w->times;
	const struct answer_span *alone = &t->alone;
	int64_t idle_us;

	if (w->s->running_max < 2 || w->s->cores < 2 || !is_part(w, t->alone_us))
		return;
	if (!is_most(alone->us, t->alone_us)) {
		add_time(w, "For ", t->alone_us, " of ");
		add_time(w, "", w->s->wall_us, " only one task ran at a time, ");
		add_name(w, "", alone->task, "");
		add_time(w, " for ", alone->us, " of that");
		end_sentence(w, ANSWER_ALONE, alone, t->alone_us);
		return;
	}
	add_name(w, "", alone->task, " ran alone for ");
	add_of_build(w, alone->us);
	idle_us = answer_times_idle_us(w->s, alone->from_us, alone->until_us);
	if (idle_us > alone->us / 2 && is_nearly(alone->us, alone->until_us - alone->from_us))
		buf_addf(&w->text, " while %.*f core-seconds were idle", idle_us < 10000000,
			 (double)idle_us / 1e6);
	end_sentence(w, ANSWER_ALONE, alone, alone->us);
}

static void say_nothing_ran(struct work *w)
{
	const struct answer_times *t = &w->times;
	const struct answer_span *gap = &t->nothing;

	/* a link works itself before and after its optimisation */
	if (!w->s->n_ran || !is_part(w, t->nothing_us) ||
	    (gap->from_us >= t->lto.from_us && gap->until_us <= t->lto.until_us))
		return;
	add_words(w, "No task ran for ");
	add_of_build(w, t->nothing_us);
	if (is_most(gap->us, t->nothing_us)) {
		add_time(w, ", ", gap->us, " of that ");
		if (!gap->from_us)
			add_words(w, "before the first one");
		else if (gap->until_us >= w->s->wall_us)
			add_words(w, "after the last one");
		else if (gap->task != NO_INDEX)
			add_name(w, "in ", gap->task, "");
		else
			add_words(w, "in one piece");
	}
	end_sentence(w, ANSWER_NOTHING, gap, t->nothing_us);
}

/* Whether these tasks waited for what others made is not known. */
static void say_few(struct work *w)
{
	const struct answer_times *t = &w->times;

	if (w->c->waits.has_dependencies || t->few.until_us < 0 || !is_part(w, t->few.us))
		return;
	if (sentence_about(w, ANSWER_ALONE))
		return;
	add_words(w, "At most ");
	if (t->few_most > 1)
		add_number(w, "", t->few_most, " tasks");
	else
		add_words(w, "one task");
	add_time(w, " ran at a time in the last ", t->few.until_us - t->few.from_us, " of ");
	text_add_time(&w->text, w->s->wall_us);
	add_number(w, "; before that, up to ", w->s->running_max, "");
	end_sentence(w, ANSWER_FEW, &t->few, t->few.us);
}

static void say_lto(struct work *w)
{
	const struct answer_span *lto = &w->times.lto;
	const struct task *t;

	if (!is_part(w, lto->us))
		return;
	t = &w->s->rec->task[lto->task];
	if (is_nearly(recording_task_end_us(w->s->rec, t) - t->start_us, lto->us)) {
		add_name(w, "The link of ", lto->task, " took ");
		add_of_build(w, lto->us);
		add_words(w, ", in link-time optimisation (lto1)");
	} else {
		add_words(w, "Links with link-time optimisation (lto1) took ");
		add_of_build(w, lto->us);
		add_name(w, ", that of ", lto->task, "");
		add_time(w, " ", recording_task_end_us(w->s->rec, t) - t->start_us, "");
	}
	end_sentence(w, ANSWER_LTO, lto, lto->us);
}

/* The machine */

static void say_others(struct work *w)
{
	const struct summary *s = w->s;
	int64_t others_us = summary_others_us(s), idle_us;
	double share = summary_host_share(s, others_us);

	if (others_us < 0 || share < PART_LEAST ||
	    (double)s->cpu_us < CPU_WANTED * (double)s->running_sum_us)
		return;
	/* what was idle, the build could have used, too */
	idle_us = answer_times_idle_us(s, 0, s->wall_us);
	if (idle_us < 0 || !is_part(w, (others_us - idle_us) / s->cores))
		return;
	add_percent(w, "Other processes used ", share, " of the CPU time, this build ");
	add_percent(w, "", summary_cpu_share(s), "");
	end_sentence(w, ANSWER_OTHERS, NULL, (others_us - idle_us) / s->cores);
}

static void say_memory(struct work *w)
{
	const struct host *h = &w->s->host;
	int64_t stalled_us = h->stalled_us[PRESSURE_MEMORY_SOME];
	bool stalled = h->pressure_span_us > 0 &&
		       (double)stalled_us >= PART_SHORT * (double)h->pressure_span_us;

	if (w->s->wall_us < WALL_LEAST_US || (h->oom_kills <= 0 && !stalled))
		return;
	if (h->oom_kills > 0)
		add_number(w, "Memory ran out: the kernel killed ", h->oom_kills,
			   h->oom_kills == 1 ? " process" : " processes");
	else
		add_words(w, "Memory was short");
	if (h->swapped_out_bytes > 0) {
		add_words(w, h->oom_kills > 0 ? "; " : ": ");
		text_add_bytes(&w->text, h->swapped_out_bytes);
		add_words(w, " were swapped out");
	}
	if (stalled)
		add_percent(w, h->swapped_out_bytes > 0 || h->oom_kills > 0 ?
			    ", and programs waited for memory " : ": programs waited for it ",
			    (double)stalled_us / (double)h->pressure_span_us, " of the time");
	end_sentence(w, ANSWER_MEMORY, NULL, h->oom_kills > 0 ? w->s->wall_us : stalled_us);
}

static void say_disk(struct work *w)
{
	const struct host *h = &w->s->host;
	int64_t stalled_us = h->stalled_us[PRESSURE_IO_SOME];
	double share = summary_host_share(w->s, h->iowait_us);

	if (h->pressure_span_us > 0 && stalled_us >= 0) {
		if (!is_part(w, stalled_us))
			return;
		add_percent(w, "Programs waited for disks ", (double)stalled_us /
			    (double)h->pressure_span_us, " of the time");
		end_sentence(w, ANSWER_DISK, NULL, stalled_us);
	} else if (share >= PART_LEAST && is_part(w, w->s->wall_us)) {
		add_percent(w, "The CPUs were idle and waited for disks ", share, " of the time");
		end_sentence(w, ANSWER_DISK, NULL, (int64_t)(share * (double)w->s->wall_us));
	}
}

/* What ready tasks waited for */

/* What a build that failed did not run any more may have needed more. */
static bool is_whole(const struct summary *s)
{
	return s->result == BUILD_OK || s->result == BUILD_ENDED;
}

/* With more workers the build would take nearly as long. */
static bool is_bound(const struct work *w)
{
	return (double)w->c->dependency_us >= PART_MOST * (double)w->s->wall_us;
}

/* Workers are missing; and cores too, if the CPU was busy. */
static void say_workers(struct work *w)
{
	const struct summary *s = w->s;
	const struct host *h = &s->host;
	const struct answer_span *wait = &w->times.waited[QUEUE_WORKER];
	int64_t spare_us = s->wall_us - w->c->dependency_us;
	double busy = h->user_us < 0 ? -1 :
		summary_host_share(s, sat_add(h->user_us, MAX(h->system_us, 0)));

	if (!w->c->waits.has_dependencies || !is_part(w, wait->us) || is_bound(w))
		return;
	add_percent(w, "Ready tasks waited for a free worker ", (double)wait->us /
		    (double)s->wall_us, " of the time, with ");
	if (s->running_max > 1)
		add_number(w, "", s->running_max, " tasks at once at most");
	else
		add_words(w, "one task at a time");
	if (s->cores > 0)
		add_number(w, " on ", s->cores, busy >= CPU_FULL ? " busy core" : " core");
	add_words(w, s->cores > 1 ? "s" : "");
	if (s->running_max < s->cores && busy >= 0 && busy < CPU_FREE)
		add_words(w, ": more workers (-j) would help");
	if (is_whole(s))
		add_time(w, "; the longest chain of dependencies takes ", w->c->dependency_us, "");
	end_sentence(w, ANSWER_WORKERS, NULL, MIN(wait->us, spare_us));
}

static uint32_t longest_of(const struct summary *s, const uint32_t *task, size_t n, int64_t *us)
{
	uint32_t most = NO_INDEX;

	*us = -1;
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &s->rec->task[task[i]];
		int64_t wall_us = recording_task_end_us(s->rec, t) - t->start_us;

		if (wall_us > *us) {
			*us = wall_us;
			most = task[i];
		}
	}
	return most;
}

/* It explains what the build took longer than its CPU time on all cores. */
static void say_dependencies(struct work *w)
{
	const struct summary *s = w->s;
	const struct chain *c = w->c;
	const struct answer_sentence *alone = sentence_about(w, ANSWER_ALONE);
	struct answer_span span = { -1, -1, 0, NO_INDEX };
	int64_t explains_us = c->dependency_us - (s->cores > 0 ? s->cpu_us / s->cores : 0);

	if (!c->waits.has_dependencies || !c->n_dependency || !is_whole(s) || !is_bound(w) ||
	    !is_part(w, explains_us))
		return;
	span.task = longest_of(s, c->dependency, c->n_dependency, &span.us);
	span.from_us = s->rec->task[span.task].start_us;
	span.until_us = span.from_us + span.us;
	if (is_nearly(span.us, c->dependency_us)) {
		add_name(w, "", span.task, " takes ");
		add_of_build(w, span.us);
	} else {
		add_words(w, "The longest chain of dependencies takes ");
		add_of_build(w, c->dependency_us);
	}
	add_words(w, ", so more workers would help little");
	if (!is_part(w, span.us) || (alone && alone->task == span.task &&
				     !is_nearly(span.us, c->dependency_us))) {
		span = (struct answer_span){ -1, -1, 0, NO_INDEX };
	} else if (!is_nearly(span.us, c->dependency_us)) {
		add_name(w, "; ", span.task, "");
		add_time(w, " is ", span.us, " of it");
	}
	end_sentence(w, ANSWER_DEPENDENCIES, &span, explains_us);
}

static void say_load(struct work *w)
{
	const struct answer_span *wait = &w->times.waited[QUEUE_LOAD];

	if (wait->until_us < 0 || !is_part(w, wait->us))
		return;
	add_percent(w, "Ready tasks waited for the limit of the load average (-l) ",
		    (double)wait->us / (double)w->s->wall_us, " of the time");
	end_sentence(w, ANSWER_LOAD, &(struct answer_span){ wait->from_us, wait->until_us, 0,
							    NO_INDEX }, wait->us);
}

static void say_pool(struct work *w)
{
	const struct answer_span *wait = &w->times.waited[QUEUE_POOL];
	const struct recording *rec = w->s->rec;
	uint32_t pool;

	if (wait->until_us < 0 || !is_part(w, wait->us))
		return;
	pool = rec->task[wait->task].pool;
	add_percent(w, "Ready tasks waited for a pool ", (double)wait->us / (double)w->s->wall_us,
		    " of the time");
	if (pool != NO_INDEX) {
		add_words(w, ", longest for ");
		text_add_name(&w->text, rec->pool[pool].name, NAME_COLUMNS);
		add_number(w, " (depth ", rec->pool[pool].depth, ")");
	}
	end_sentence(w, ANSWER_POOL, wait, wait->us);
}

int answer_make(struct answer *a, const struct summary *s, const struct chain *c, const struct idle *idle)
{
	static void (*const say[])(struct work *w) = {
		say_failure, say_idle, say_others, say_alone, say_few, say_lto, say_nothing_ran,
		say_workers, say_dependencies, say_load, say_pool, say_memory, say_disk,
	};
	struct work w = { .s = s, .c = c, .idle = idle, .a = a };

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
