/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "analyse/words.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <signal.h>
#include <string.h>

#define STATUS_INTERRUPTED (128 + SIGINT)	/* of a shell whose command was */
#define STATUS_TIMEOUT 124	/* of timeout(1) */
#define END_US 1000000		/* in this time before the end, the build was being stopped */

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
	return us / 1000000 == other_us / 1000000 || answer_is_nearly(MIN(us, other_us),
							       MAX(other_us, us));
}

static void add_stopped(struct answer_work *w, const uint32_t *task, size_t n)
{
	int64_t us[STOPPED_MAX];

	for (size_t i = 0; i < n && i < STOPPED_MAX; i++)
		us[i] = cost_wall_us(w->s->rec, &w->s->rec->task[task[i]]);
	answer_add_name(w, "; ", task[0], "");
	if (n == 2 && is_like(us[0], us[1])) {
		answer_add_name(w, " and ", task[1], "");
		n = 1;
	}
	answer_add_time(w, " had run for ", us[0], "");
	if (n == 2) {
		answer_add_name(w, ", ", task[1], "");
		answer_add_time(w, " for ", us[1], "");
	} else if (n > 2) {
		answer_add_number(w, ", and ", (int64_t)n - 1, " others ran");
	}
}

/* A user's Ctrl-C, as a rule. make and ninja fail then, and what they had started was killed. */
static bool is_interrupted(const struct summary *s, const struct task *first)
{
	if (s->result == BUILD_KILLED)
		return s->status == SIGINT;
	return s->status == STATUS_INTERRUPTED || (s->reason && !strcmp(s->reason, "interrupted")) ||
	       (first && first->state == TASK_KILLED && first->status == SIGINT);
}

/* Was the whole build ended, rather than one of its tasks? */
static bool is_stopped(const struct summary *s, const struct task *first)
{
	return s->result == BUILD_KILLED || !first || is_interrupted(s, first) ||
	       (first->state == TASK_KILLED && s->status == STATUS_TIMEOUT);
}

void answer_say_failure(struct answer_work *w)
{
	const struct summary *s = w->s;
	struct answer_span span = { -1, -1, 0, summary_first_failure(s) };
	const struct task *t = span.task == NO_INDEX ? NULL : &s->rec->task[span.task];
	uint32_t stopped[STOPPED_MAX];
	size_t n_stopped = find_stopped(s, stopped);

	if (s->result != BUILD_FAILED && s->result != BUILD_KILLED)
		return;
	answer_add(w, "The build ");
	if (is_interrupted(s, t)) {
		answer_add(w, "was interrupted");
	} else {
		answer_add(w, s->result == BUILD_KILLED ? "was " : "");
		words_add_result(&w->text, s->result, s->status);
	}
	answer_add_time(w, " after ", s->wall_us, "");
	if (n_stopped && is_stopped(s, t)) {
		add_stopped(w, stopped, n_stopped);
		span.task = stopped[0];
		t = &s->rec->task[stopped[0]];
		span.from_us = t->start_us;
		span.until_us = recording_task_end_us(s->rec, t);
	} else if (t) {
		span.from_us = t->start_us;
		span.until_us = recording_task_end_us(s->rec, t);
		answer_add_name(w, "; ", span.task, t->state == TASK_KILLED ? " was killed (" :
			 t->state == TASK_DONE ? " said no (" : " failed (");
		words_add_status(&w->text, words_task_status(t));
		answer_add_time(w, t->end_at_most ? ") after at most " : ") after ", span.until_us, "");
	}
	answer_end(w, ANSWER_FAILED, &span, s->wall_us);
}

/* Does a word of make's or ninja's command line have it run nothing: "-n", "-kq", "--version"? A word with one of
 * these letters that does not, such as "-Oline", only costs the sentence. */
static bool runs_nothing(const char *command)
{
	static const char *const words[] = { "--just-print", "--dry-run", "--recon", "--question", "--touch",
					     "--version", "--help" };

	for (const char *p = command; *p; p += strcspn(p, " "), p += *p == ' ') {
		size_t n = strcspn(p, " ");

		if (n > 1 && *p == '-' && p[1] != '-' && strcspn(p, "nqtvh ") < n)
			return true;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			if (n == strlen(words[i]) && !memcmp(p, words[i], n))
				return true;
		}
	}
	return false;
}

/* Did make or ninja find nothing to do? Not if processes ran that are no tasks. */
static bool is_current(const struct summary *s)
{
	const struct recording *rec = s->rec;
	int64_t reaped = 0;

	for (size_t i = 0; i < s->n_ran; i++) {
		if (!rec->task[s->order[i]].hosts && !task_is_shell(&rec->task[s->order[i]]))
			return false;
	}
	for (size_t i = 0; i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		if ((strcmp(in->tool, "make") && strcmp(in->tool, "ninja")) || runs_nothing(in->command))
			return false;
		reaped = sat_add(reaped, MAX(in->reaped, 0));
	}
	return s->result == BUILD_OK && rec->n_instances && !rec->lost.reason && s->n_tasks == s->n_ran &&
	       reaped <= (int64_t)s->n_ran;
}

void answer_say_current(struct answer_work *w)
{
	const struct summary *s = w->s;

	if (!is_current(s))
		return;
	answer_add(w, "Nothing was out of date: ");
	answer_add(w, s->rec->instance[0].tool);
	answer_add(w, s->n_hosting ? " ran only makes, and these ran no tasks" : " ran no tasks");
	answer_end(w, ANSWER_CURRENT, NULL, s->wall_us);
}

void answer_say_idle(struct answer_work *w)
{
	const struct idle *i = w->idle;
	const struct answer_span span = { i->since_us, i->since_us + i->us, i->us, i->task };

	if (!i->us)
		return;
	idle_words(&w->text, i, w->s->rec);
	answer_end(w, ANSWER_IDLE, &span, MIN(i->us, w->s->wall_us));
}

