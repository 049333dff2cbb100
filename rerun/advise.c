/* SPDX-License-Identifier: MIT */
#include "rerun/advise.h"

#include "analyse/groups.h"
#include "analyse/lto.h"
#include "analyse/names.h"
#include "base/array.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/text.h"
#include "command/shell.h"
#include "recording/alive.h"
#include "rerun/curve.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_LEAST 0.15	/* of the wall time: others cost that much */
#define TASKS_TRIED 8		/* of the chain, the longest */
#define ALONE_LEAST 0.5		/* of a task's time: it runs alone */
#define KNEE 0.02		/* of the wall time: more workers gain no more than that */
#define JOBS_TRIED 512
#define NAME_COLUMNS 60
#define PROBES_LEAST 3		/* runs of the same command of $(shell) */
#define LINKER_FACTOR 3		/* how much faster mold and lld are than bfd, at least */

const char *const advise_word[ADVICE_ABOUTS] = {
	[ADVICE_QUIET] = "quiet", [ADVICE_WORKERS] = "workers", [ADVICE_FIRST] = "first", [ADVICE_LTO] = "lto",
	[ADVICE_LINKER] = "linker", [ADVICE_SPLIT] = "split", [ADVICE_PROBES] = "probes",
};

struct work {
	const struct rerun *r;
	const struct advise_tools *tools;
	struct advise *a;
	struct error *err;
	/* of the advice that is being tried */
	struct buf text, whatif;
	struct buf argument;	/* of whatif, as it is */
	size_t action;
};

static bool is_worth(const struct work *w, int64_t wall_us, double least)
{
	int64_t gain_us = w->r->s->wall_us - wall_us;

	return gain_us >= ADVICE_LEAST_US && (double)gain_us >= least * (double)w->r->s->wall_us;
}

/* The text and the arguments so far are an advice, if it gains enough. */
static int end_advice(struct work *w, enum advice_about about, uint32_t task, const struct rerun_wish *wish,
		      double least)
{
	struct advise *a = w->a;
	struct forecast f;
	size_t at = a->n;
	int e;

	if (buf_error(&w->text) || buf_error(&w->whatif) || buf_error(&w->argument))
		return error_sys(w->err, -ENOMEM, w->r->s->rec->path, NULL);
	e = forecast_make(&f, w->r, wish, false, w->err);
	while (at && a->item[at - 1].wall_us > f.wall_us)
		at--;
	if (!e && at < ADVICE_MOST && is_worth(w, f.wall_us, least)) {
		if (a->n == ADVICE_MOST) {
			a->n--;
			free_all(a->item[a->n].text, a->item[a->n].whatif);
		}
		memmove(&a->item[at + 1], &a->item[at], (a->n - at) * sizeof *a->item);
		buf_str(&w->text);
		buf_str(&w->whatif);
		a->item[at] = (struct advice){
			about, task, w->text.data, w->action, w->whatif.data, f.wall_us, f.low_us, f.high_us
		};
		a->n++;
		w->text = w->whatif = (struct buf)BUF_INIT;
	}
	buf_clear(&w->text);
	buf_clear(&w->whatif);
	buf_clear(&w->argument);
	forecast_release(&f);
	return e == -EINVAL ? 0 : e;	/* a name such as "link:app" is a pattern, and no task's */
}

static void add_name(struct work *w, uint32_t task)
{
	struct buf name = BUF_PART_OF(&w->text);

	name_add_file(&name, w->r->s->rec, &w->r->s->rec->task[task]);
	text_add_name(&w->text, buf_str(&name), NAME_COLUMNS);
	buf_release(&name);
}

/* The text so far says what to do, what follows says why. */
static void add_why(struct work *w, const char *words)
{
	w->action = w->text.len;
	buf_adds(&w->text, words);
}

static void add_time(struct work *w, const char *before, int64_t us, const char *after)
{
	buf_adds(&w->text, before);
	text_add_time(&w->text, us);
	buf_adds(&w->text, after);
}

/* "--split NAME=4". A name is no pattern. */
static void add_argument(struct work *w, const char *option, const char *name, int64_t number)
{
	const bool escaped = strpbrk(name, "*?[");

	for (const char *p = name; *p; p++) {
		if (escaped && strchr("*?[\\", *p))
			buf_addc(&w->argument, '\\');
		buf_addc(&w->argument, *p);
	}
	if (number)
		buf_addf(&w->argument, "=%lld", (long long)number);
	buf_addf(&w->whatif, "%s ", option);
	shell_add_shown(&w->whatif, buf_str(&w->argument));
}

static void add_task_argument(struct work *w, const char *option, uint32_t task, int64_t number)
{
	const struct task *t = &w->r->s->rec->task[task];
	struct buf name = BUF_PART_OF(&w->argument);

	if (!*t->name)
		name_add_task(&name, w->r->s->rec, t);
	add_argument(w, option, *t->name ? t->name : buf_str(&name), number);
	buf_release(&name);
}

/* Others */

static int try_quiet(struct work *w)
{
	struct rerun_wish wish = RERUN_WISH_INIT;

	if (w->r->chain->free.others <= 0)
		return 0;
	wish.quiet = true;
	buf_adds(&w->text, "run it while nothing else uses the machine");
	add_why(w, ": other processes used ");
	text_add_percent(&w->text, w->r->chain->free.others / (double)w->r->s->cores);
	buf_adds(&w->text, " of its cores");
	buf_adds(&w->whatif, "--quiet-machine");
	return end_advice(w, ADVICE_QUIET, NO_INDEX, &wish, QUIET_LEAST);
}

/* Workers */

/* The fewest workers with which the build is nearly as fast as with any. */
static int try_workers(struct work *w)
{
	const int64_t cores = w->r->s->cores, recorded = w->r->jobs;
	const int64_t most = MIN(2 * cores, JOBS_TRIED);
	struct rerun_wish wish = RERUN_WISH_INIT;
	struct rerun_curve curve;
	int e;

	if (recorded >= most)
		return 0;
	e = rerun_curve_make(&curve, w->r, &wish, MAX(recorded, 1), most, KNEE, w->err);
	wish.jobs = e ? 0 : curve.point[curve.knee].jobs;
	rerun_curve_release(&curve);
	if (e || wish.jobs <= recorded)
		return e;
	buf_addf(&w->text, "use -j%lld", (long long)wish.jobs);
	add_why(w, recorded == 1 ? ": there was " : ": there were ");
	buf_addf(&w->text, "%lld worker%s for %lld cores", (long long)recorded, recorded == 1 ? "" : "s", (long long)cores);
	buf_addf(&w->whatif, "-j%lld", (long long)wish.jobs);
	return end_advice(w, ADVICE_WORKERS, NO_INDEX, &wish, ADVICE_LEAST);
}

/* Tasks of the chain */

static int64_t alone_us(const struct summary *s, const struct task *t)
{
	const struct curve *c = &s->running;
	int64_t end_us = recording_task_end_us(s->rec, t), sum_us = 0;

	for (size_t i = 0; i < c->n && c->time_us[i] < end_us; i++) {
		int64_t from_us = MAX(c->time_us[i], t->start_us);
		int64_t until_us = i + 1 < c->n ? MIN(c->time_us[i + 1], end_us) : end_us;

		if (c->value[i] == 1 && until_us > from_us)
			sum_us += until_us - from_us;
	}
	return sum_us;
}

static int try_first(struct work *w, uint32_t task)
{
	const struct task *t = &w->r->s->rec->task[task];
	struct rerun_wish wish = RERUN_WISH_INIT;
	int64_t ready_us = w->r->chain->waits.task[task].ready_us;

	buf_adds(&w->text, "start ");
	add_name(w, task);
	buf_adds(&w->text, " earlier");
	add_why(w, ": it took ");
	add_time(w, "", recording_task_end_us(w->r->s->rec, t) - t->start_us, "");
	add_time(w, ", began at ", t->start_us, "");
	if (ready_us >= 0)
		add_time(w, ", and was ready at ", ready_us, "");
	if (w->r->s->rec->instance[t->instance].level >= 0)
		buf_adds(&w->text, "; name it first among the prerequisites");
	add_task_argument(w, "--first", task, 0);
	wish.change.first = (struct word_list){ 1, { buf_str(&w->argument) } };
	return end_advice(w, ADVICE_FIRST, task, &wish, ADVICE_LEAST);
}

/* A link that runs alone: with all cores, or with a faster linker. Another task: in parts. */
static int try_alone(struct work *w, uint32_t task)
{
	const struct task *t = &w->r->s->rec->task[task];
	struct rerun_wish wish = RERUN_WISH_INIT;
	int64_t cores = w->r->s->cores, us = alone_us(w->r->s, t);
	bool link = !strcmp(t->kind, "link"), lto = lto_is_serial(w->r->s, task);
	enum advice_about about = lto ? ADVICE_LTO : link ? ADVICE_LINKER : ADVICE_SPLIT;

	if (cores < 2 || w->r->chain->free.threads[task] >= 1.5f ||
	    (double)us < ALONE_LEAST * (double)(recording_task_end_us(w->r->s->rec, t) - t->start_us))
		return 0;
	if (about == ADVICE_LINKER && (!w->tools->linker || strstr(recording_command(w->r->s->rec, t), "-fuse-ld=")))
		return 0;
	if (link) {
		buf_addf(&w->text, "link with %s%s", lto ? "-flto=auto" : "-fuse-ld=", lto ? "" : w->tools->linker);
		add_why(w, lto ? ": the link-time optimisation of " : ": the link of ");
		add_name(w, task);
		add_time(w, lto ? " used one core, and ran alone for " : " ran alone for ", us, "");
	} else {
		buf_adds(&w->text, "split ");
		add_name(w, task);
		add_why(w, ": it used one core, and ran alone for ");
		add_time(w, "", us, "");
	}
	/* the threads of a link need no workers, parts of a task do */
	add_task_argument(w, link ? "--speedup" : "--split", task, about == ADVICE_LINKER ? LINKER_FACTOR : cores);
	if (link)
		wish.change.speedup = (struct word_list){ 1, { buf_str(&w->argument) } };
	else
		wish.change.split = (struct word_list){ 1, { buf_str(&w->argument) } };
	return end_advice(w, about, task, &wish, ADVICE_LEAST);
}

static int64_t link_us(const struct forecast_link *l)
{
	return l->end_us - l->start_us;
}

/* The longest tasks that the end of the build waited for. */
static int try_chain(struct work *w)
{
	const struct rerun_wish none = RERUN_WISH_INIT;
	struct forecast f;
	int e = forecast_make(&f, w->r, &none, true, w->err);

	for (size_t k = 0; k < TASKS_TRIED && k < f.n_chain && !e; k++) {
		size_t longest = k;
		struct forecast_link l;

		for (size_t i = k + 1; i < f.n_chain; i++)
			longest = link_us(&f.chain[i]) > link_us(&f.chain[longest]) ? i : longest;
		l = f.chain[longest];
		f.chain[longest] = f.chain[k];
		if ((double)link_us(&l) < ADVICE_LEAST * (double)w->r->s->wall_us)
			break;
		e = l.for_worker ? try_first(w, l.task) : 0;
		e = e ? e : try_alone(w, l.task);
	}
	forecast_release(&f);
	return e;
}

/* $(shell) */

/* N runs in a N-th of their time are one run. */
static int say_once(struct work *w, const struct group *g, bool several)
{
	struct rerun_wish wish = RERUN_WISH_INIT;

	buf_addf(&w->text, "set a variable with := from $(shell)%s", several ? ", and export it" : "");
	add_why(w, ": ");
	text_add_name(&w->text, g->name, NAME_COLUMNS);
	buf_addf(&w->text, " ran %llu times, which took ", (unsigned long long)g->n);
	add_time(w, "", g->cost.wall_us, "");
	add_argument(w, "--speedup", g->name, (int64_t)g->n);
	wish.change.speedup = (struct word_list){ 1, { buf_str(&w->argument) } };
	return end_advice(w, ADVICE_PROBES, NO_INDEX, &wish, ADVICE_LEAST);
}

/* The command of $(shell) that took the most time in all. */
static int try_probes(struct work *w)
{
	const struct summary *s = w->r->s;
	uint32_t *probe = array_new(s->n_ran + 1, sizeof *probe);
	const uint32_t *order;
	struct groups g = { 0 };
	bool several = false;	/* makes */
	size_t n = 0;
	int e = probe ? 0 : -ENOMEM;

	for (size_t i = 0; !e && i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		if (!task_is_shell(t))
			continue;
		several |= n && s->rec->task[probe[0]].instance != t->instance;
		probe[n++] = s->order[i];
	}
	if (!e && n >= PROBES_LEAST)
		e = groups_make(&g, s, probe, n, false, GROUPS_TARGET);
	if (e)
		error_sys(w->err, e, s->rec->path, NULL);
	else if (g.n && groups_top(&g, VALUE_WALL, 1, &order) && g.group[*order].n >= PROBES_LEAST)
		e = say_once(w, &g.group[*order], several);
	groups_release(&g);
	free(probe);
	return e;
}

int advise_make(struct advise *a, const struct rerun *r, const struct advise_tools *tools, struct error *err)
{
	struct work w = { .r = r, .tools = tools, .a = a, .err = err };
	int e;

	*a = (struct advise){ .whole = build_is_good(r->s->result) };
	if (!a->whole)
		return 0;
	e = try_quiet(&w);
	if (!e && !a->n) {
		e = try_workers(&w);
		e = e ? e : try_chain(&w);
		e = e ? e : try_probes(&w);
	}
	buf_release(&w.text);
	buf_release(&w.whatif);
	buf_release(&w.argument);
	return e;
}

void advise_find_tools(struct advise_tools *tools, const struct recording *rec)
{
	static const char *const linkers[][2] = { { "ld.mold", "mold" }, { "ld.lld", "lld" } };
	char path[PATH_MAX];

	*tools = (struct advise_tools){ NULL };
	if (!alive_same_host(recording_build(rec, "host")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(linkers) && !tools->linker; i++) {
		if (file_find_program(path, linkers[i][0]) && !access(path, X_OK))
			tools->linker = linkers[i][1];
	}
}

/* "To be faster, use -j2 (about 4.1 s instead of 8.0 s): there was 1 worker for 2 cores." The verdict speaks of
 * others already. */
static void add_advice(struct buf *text, const struct advice *i, const struct summary *s)
{
	const bool quiet = i->about == ADVICE_QUIET;

	if (quiet)
		buf_adds(text, "On a free machine it would take about ");
	else
		buf_addf(text, "To be faster, %.*s (about ", (int)i->action, i->text);
	text_add_time(text, i->wall_us);
	buf_adds(text, " instead of ");
	text_add_time(text, s->wall_us);
	buf_addf(text, "%s%s.", quiet ? "" : ")", quiet ? "" : i->text + i->action);
}

int advise_answer(struct answer *answer, const struct summary *s, const struct chain *c)
{
	struct buf text = BUF_INIT;
	struct advise_tools tools;
	struct rerun replay = { 0 };
	struct advise a = { 0 };
	int e;

	if (!build_is_good(s->result) || s->rec->n_tasks > ADVISE_TASKS_MOST)
		return 0;
	advise_find_tools(&tools, s->rec);
	e = rerun_make(&replay, s, c, NULL);
	e = e ? e : advise_make(&a, &replay, &tools, NULL);
	if (!e && a.n) {
		const struct advice *i = &a.item[0];

		add_advice(&text, i, s);
		e = buf_error(&text);
		if (!e)
			answer->sentence[answer->n++] = (struct answer_sentence){
				.about = ANSWER_ADVICE, .text = (char *)buf_str(&text), .from_us = -1, .until_us = -1,
				.task = i->task, .explains_us = -1,
			};
		else
			buf_release(&text);
	}
	advise_release(&a);
	rerun_release(&replay);
	return e == -ENODATA ? 0 : e;
}

void advise_release(struct advise *a)
{
	for (size_t i = 0; i < a->n; i++)
		free_all(a->item[i].text, a->item[i].whatif);
	*a = (struct advise){ .n = 0 };
}
