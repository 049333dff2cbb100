/* SPDX-License-Identifier: MIT */
/* Tasks that a recording lacks, as the gaps in their numbers show. */
#include "base/array.h"
#include "recording/column.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What lost.log says about one instance. */
struct reported_lost {
	char inst[INSTANCE_ID_MAX];
	uint64_t tasks;
};

/* What tasks.log has of one instance. */
struct seen {
	uint64_t last;		/* the highest number that was used */
	uint64_t n;		/* tasks up to that number that have a first line */
	bool follows;		/* its writer numbers tasks in order without gaps */
};

static int add_reported_lost(struct reader *r, struct slice inst, uint64_t tasks)
{
	struct reported_lost *grown;

	if (inst.len >= INSTANCE_ID_MAX || !tasks)
		return 0;
	grown = array_grow(r->reported_lost, r->n_reported_lost, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	r->reported_lost = grown;
	grown += r->n_reported_lost++;
	*grown = (struct reported_lost){ .tasks = tasks };
	memcpy(grown->inst, inst.p, inst.len);
	return 0;
}

int reader_last_task(void *reader, uint32_t instance, int64_t last)
{
	struct reader *r = reader;
	uint64_t *added;

	if (last <= 0 || last > FOLLOW_NUMBER_MAX)
		return 0;
	while (r->n_last_task <= instance) {
		added = array_add(&r->last_task, &r->n_last_task, sizeof *added);
		if (!added)
			return -ENOMEM;
		*added = 0;
	}
	if ((uint64_t)last > r->last_task[instance])
		r->last_task[instance] = (uint64_t)last;
	return 0;
}

static void see(struct seen *s, const struct task *t)
{
	bool begun = t->start_us >= 0 || t->queued_us >= 0;

	if (s->follows && t->seq > s->last && t->seq <= FOLLOW_NUMBER_MAX &&
	    (begun || t->end_us >= 0))
		s->last = t->seq;
	s->n += begun && t->seq <= s->last;
}

static int by_inst(const void *a, const void *b)
{
	return strcmp(((const struct reported_lost *)a)->inst, ((const struct reported_lost *)b)->inst);
}

/* One entry of reported_lost for each instance, in order. */
static void sum_told(struct reader *r)
{
	struct reported_lost *all = r->reported_lost;
	size_t n = 0;

	if (r->n_reported_lost)
		qsort(all, r->n_reported_lost, sizeof *all, by_inst);
	for (size_t i = 0; i < r->n_reported_lost; i++) {
		if (n && !by_inst(&all[n - 1], &all[i]))
			all[n - 1].tasks += all[i].tasks;
		else
			all[n++] = all[i];
	}
	r->n_reported_lost = n;
}

/* The number of an instance's missing tasks that lost.log does not report. Several instances
 * with one id share the reported number. */
static uint64_t unreported(struct reader *r, const struct instance *i, uint64_t missing)
{
	struct reported_lost key = { .tasks = 0 }, *found = NULL;
	uint64_t known;

	strcpy(key.inst, i->id);
	if (r->n_reported_lost)
		found = bsearch(&key, r->reported_lost, r->n_reported_lost, sizeof key, by_inst);
	known = !found ? 0 : found->tasks < missing ? found->tasks : missing;
	if (found)
		found->tasks -= known;
	return missing - known;
}

/* A recording that was read and written again has the warning already. */
static int warn_once(struct reader *r, const char *text)
{
	const struct recording *rec = r->rec;

	for (size_t i = 0; i < rec->n_warnings; i++) {
		if (!strcmp(rec->warning[i].text, text))
			return 0;
	}
	return reader_warn(r, "%s", text);
}

int reader_count_missing(struct reader *r)
{
	struct recording *rec = r->rec;
	struct seen *seen = rec->n_instances ? calloc(rec->n_instances, sizeof *seen) : NULL;
	uint64_t n = 0;
	char text[80];

	if (!rec->n_instances)
		return 0;
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_instances; i++) {
		seen[i].follows = follow_has_all_numbers(&rec->instance[i]);
		seen[i].last = i < r->n_last_task ? r->last_task[i] : 0;
	}
	for (size_t i = 0; i < rec->n_tasks; i++)
		see(&seen[rec->task[i].instance], &rec->task[i]);
	sum_told(r);
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (seen[i].last > seen[i].n)
			n += unreported(r, &rec->instance[i], seen[i].last - seen[i].n);
	}
	free(seen);
	if (!n)
		return 0;
	rec->lost.tasks += n;
	rec->lost.lines += n;
	if (!rec->lost.reason)
		rec->lost.reason = LOST_UNTOLD;
	snprintf(text, sizeof text, "%llu task%s missing: gaps in the numbers of the tasks",
		 (unsigned long long)n, n == 1 ? " is" : "s are");
	return warn_once(r, text);
}

/* An empty text is no warning. */
static int warn_of(struct reader *r, struct buf *text)
{
	int error = buf_error(text);

	return error || !text->len ? error : warn_once(r, buf_str(text));
}

/* If lines were lost, that is the reason. */
int reader_prove(struct reader *r)
{
	struct recording *rec = r->rec;
	struct buf processes = BUF_INIT, unclosed = BUF_INIT;
	bool possible = !r->tasks_only || r->proof;
	int error = possible ? proof_make(&rec->proof, rec) : 0;

	if (error || !possible || rec->lost.reason)
		return error;
	proof_add_processes(&processes, &rec->proof, rec);
	proof_add_unclosed(&unclosed, &rec->proof);
	error = warn_of(r, &processes);
	if (!error)
		error = warn_of(r, &unclosed);
	buf_release(&processes);
	buf_release(&unclosed);
	return error;
}

int reader_lost(struct reader *r, const char *file, const char *text, size_t len)
{
	struct lost *l = &r->rec->lost;
	struct reader_damage damage = { 0 };
	struct slice line, rest, inst;
	struct cursor c;
	uint64_t before;
	char said[200];
	struct buf b;
	bool whole;
	int error;

	cursor_init(&c, text, len);
	whole = cursor_line(&c, &line, &whole) && whole;
	error = reader_header(r, whole ? &line : NULL, file, "lost", &rest);
	if (error <= 0)
		return error;
	while (reader_line(&c, &line, &damage)) {
		before = l->tasks;
		if (!lost_parse(l, line, &inst))
			reader_damaged(&damage, c.line);
		else if (inst.len && add_reported_lost(r, inst, l->tasks - before))
			return -ENOMEM;
	}
	/* half a line shows that something was lost, too */
	if (damage.torn && !l->reason)
		*l = (struct lost){ .parts = 1u << LOST_OTHER, .reason = -ENOSPC };
	buf_init_fixed(&b, said, sizeof said);
	lost_add_text(&b, l);
	error = l->reason ? reader_warn(r, "%s: %s", file, buf_str(&b)) : 0;
	return error ? error : reader_report_damage(r, &damage, file);
}
