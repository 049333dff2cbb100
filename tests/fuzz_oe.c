/* SPDX-License-Identifier: MIT */
/*
 * The reader of OpenEmbedded's files on any bytes. An input is files, each after a
 * line "== NAME", where NAME is build_stats, RECIPE/TASK or that of a log.
 */
#include "convert/oe/oe_parts.h"
#include "tests/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The promises of recording.h, for any input. */

static void check_tasks(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		check(t->instance < rec->n_instances && t->seq == i + 1 && *t->kind && *t->key);
		check(!t->end_at_most || t->state == TASK_FAILED);
		check(t->start_us >= 0 && (t->end_us == -1 || t->end_us >= t->start_us));
		check(recording_task_end_us(rec, t) >= t->start_us);
		check(t->start_us <= rec->last_us && t->end_us <= rec->last_us);
		check(t->state == TASK_UNFINISHED || t->state == TASK_DONE ||
		      (t->state == TASK_FAILED && (t->status == -1 || t->status > 0)) ||
		      (t->state == TASK_KILLED && t->status > 0));
		check(t->user_us >= -1 && t->system_us >= -1 && t->max_rss_kb >= -1 &&
		      t->in_blocks >= -1 && t->out_blocks >= -1 && t->minor_faults >= -1);
		for (size_t k = 0; k < i && k < 64; k++)
			check(t->kind == rec->task[k].kind || strcmp(t->kind, rec->task[k].kind));
	}
}

static void check_series(const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_series; i++) {
		const struct series *s = &rec->series[i];

		check(s->interval_ms > 0 && *s->name && s->n_columns && s->n && !s->gap[0]);
		check(s->time_ms[0] >= 0 && s->time_ms[s->n - 1] * 1000 <= rec->last_us);
		for (size_t k = 1; k < s->n; k++)
			check(s->time_ms[k] > s->time_ms[k - 1]);
	}
}

struct pass {
	struct oe *o;
	bool logs;
	const char *recipe;
	size_t before;		/* tasks */
};

/* A file in the usual form is what is written from its values. */
static void check_form(const char *recipe, const char *name, const char *text, size_t len)
{
	struct oe_form form;
	struct buf again = BUF_INIT;

	if (!oe_form_parse(&form, slice_of(recipe), slice_of(name), text, len))
		return;
	oe_form_write(&again, &form, slice_of(recipe), slice_of(name));
	check(again.len == len && !memcmp(again.data, text, len));
	buf_release(&again);
}

static int give_task(struct pass *p, const char *name, const char *slash, const char *text,
		     size_t len)
{
	struct oe *o = p->o;
	const char *recipe = arena_text(o->r->rec->arena, name, (size_t)(slash - name));

	if (!p->recipe || strcmp(recipe, p->recipe)) {
		oe_finish_recipe(o, p->before);
		p->before = o->r->rec->n_tasks;
		p->recipe = recipe;
	}
	check_form(p->recipe, slash + 1, text, len);
	return oe_task_file(o, p->recipe, slash + 1, text, len);
}

static int give(struct pass *p, const char *name, const char *text, size_t len)
{
	const char *slash = strchr(name, '/');

	if (!strncmp(name, "reduced_", 8) || !strncmp(name, "proc_", 5) ||
	    !strncmp(name, "monitor_", 8))
		return p->logs ? oe_log(p->o, name, text, len, -1) : 0;
	if (p->logs)
		return 0;
	if (slash && slash > name && slash[1])
		return give_task(p, name, slash, text, len);
	return strcmp(name, "build_stats") ? 0 : oe_build_stats(p->o, text, len);
}

static int give_files(struct pass *p, const uint8_t *at, const uint8_t *end)
{
	struct fuzz_part part;
	int error = 0;

	while (!error && fuzz_part(&part, &at, end)) {
		char *text = calloc(1, part.len + 1);

		memcpy(text, part.p, part.len);
		error = give(p, part.name, text, part.len);
		free(text);
	}
	return error;
}

FUZZ_TARGET(oe)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	struct reader r;
	struct oe o;
	struct pass p = { .o = &o };
	struct buf kept = BUF_INIT;

	reader_init(&r, &rec, &err);
	rec.arena = arena_new();
	oe_init(&o, &r);
	o.kept = &kept;
	check(!give_files(&p, data, data + size));
	oe_finish_recipe(&o, p.before);
	check(!oe_finish_tasks(&o));
	p.logs = true;
	check(!give_files(&p, data, data + size));
	check(!oe_join_pressure(&o));
	check(!oe_finish_build(&o, false));
	check_tasks(&rec);
	check_series(&rec);
	check(!buf_error(&kept));
	buf_release(&kept);
	oe_release(&o);
	reader_release(&r);
	recording_release(&rec);
	return 0;
}
