/* SPDX-License-Identifier: MIT */
#include "analyse/profile.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/sort.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	struct profile *p;
	const struct summary *s;
	const struct recording *rec;
	const struct waits *queue;
	int64_t from_us, to_us;
	uint32_t none, alive, host;
	uint32_t unit[PROFILE_OWN_UNITS];
	uint32_t (*of_instance)[PROFILE_KEYS];
	uint32_t *worker;		/* of each task: the text of its number */
	const char *kind;		/* the last ones, and their numbers */
	uint32_t kind_number, file_number, line_number;
	const char *file;
	uint32_t file_instance;
	int32_t line;
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->rec->task[i];
}

static int number(struct work *w, const char *text, uint32_t *n)
{
	return profile_number(w->p, slice_of(text), n);
}

/* Workers */

/* The lowest of the free numbers, which have a 1. */
static uint32_t take_lowest(uint64_t **free_bits, size_t *n)
{
	uint64_t *more;

	for (size_t i = 0; i < *n; i++) {
		if ((*free_bits)[i]) {
			unsigned bit = (unsigned)__builtin_ctzll((*free_bits)[i]);

			(*free_bits)[i] &= ~(UINT64_C(1) << bit);
			return (uint32_t)(64 * i) + bit;
		}
	}
	more = array_add(free_bits, n, sizeof *more);
	if (!more)
		return NO_INDEX;
	*more = ~UINT64_C(1);
	return (uint32_t)(64 * (*n - 1));
}

/* Give each task that hosts none the lowest number that no task has at this time. */
static int number_workers(struct work *w, uint32_t *worker)
{
	size_t n = w->s->n_ran, n_bits = 0, at = 0;
	struct keyed *end = array_new(n, sizeof *end);
	uint64_t *free_bits = NULL;
	int r = end ? 0 : -ENOMEM;

	if (r)
		goto out;
	for (size_t i = 0; i < n; i++) {
		uint32_t t = w->s->order[i];

		end[i] = (struct keyed){ (uint64_t)recording_task_end_us(w->rec, task(w, t)), t };
		worker[t] = NO_INDEX;
	}
	r = sort_keyed(end, n);
	if (r)
		goto out;
	for (size_t i = 0; i < n; i++) {
		uint32_t t = w->s->order[i];

		for (; (int64_t)end[at].key <= task(w, t)->start_us && end[at].value != t &&
		     (worker[end[at].value] != NO_INDEX || task(w, (uint32_t)end[at].value)->hosts);
		     at++) {
			uint32_t ended = worker[end[at].value];

			if (ended != NO_INDEX)
				free_bits[ended / 64] |= UINT64_C(1) << ended % 64;
		}
		if (task(w, t)->hosts)
			continue;
		worker[t] = take_lowest(&free_bits, &n_bits);
		if (worker[t] == NO_INDEX)
			r = -ENOMEM;
		if (r)
			goto out;
	}
out:
	free(end);
	free(free_bits);
	return r;
}

static int name_workers(struct work *w)
{
	uint32_t *text = NULL;
	size_t n_texts = 0;
	int r = number_workers(w, w->worker);

	for (size_t i = 0; !r && i < w->s->n_ran; i++) {
		uint32_t t = w->s->order[i], of = w->worker[t];

		if (task(w, t)->slot >= 0)
			of = (uint32_t)task(w, t)->slot;
		while (!r && !task(w, t)->hosts && of >= n_texts && of < 1000000) {
			uint32_t *more = array_add(&text, &n_texts, sizeof *more);
			char name[32];

			snprintf(name, sizeof name, "worker-%zu", n_texts);
			r = more ? number(w, name, more) : -ENOMEM;
		}
		w->worker[t] = r || of >= n_texts ? w->none : text[of];
		if (task(w, t)->hosts)
			w->worker[t] = w->host;
	}
	free(text);
	return r;
}

/* Keys */

static int name_instance(struct work *w, uint32_t i)
{
	const struct instance *in = &w->rec->instance[i];
	const struct task probe = { .instance = i, .key = "" };
	const char *dir = name_place(w->rec, &probe);
	uint32_t *key = w->of_instance[i];
	struct buf born = BUF_INIT;
	char pid[16] = "";
	int r;

	if (in->pid > 0)
		snprintf(pid, sizeof pid, "%d", in->pid);
	buf_adds(&born, in->tool);
	if (in->level > 0)
		buf_addf(&born, "[%d]", in->level);
	if (*dir)
		buf_addf(&born, " %s", dir);
	r = buf_error(&born);
	if (!r)
		r = number(w, buf_str(&born), &key[PROFILE_BORN]);
	if (!r)
		r = number(w, in->tool, &key[PROFILE_HOST]);
	if (!r)
		r = number(w, pid, &key[PROFILE_PID]);
	if (!r)
		r = number(w, dir, &key[PROFILE_DIR]);
	key[PROFILE_PHASE] = w->none;
	buf_release(&born);
	return r;
}

/* "mc:NAME" of a recipe's key: the multiconfig that queued it. */
static int name_recipe(struct work *w, const struct task *t, uint32_t key[PROFILE_KEYS])
{
	const char *end = !strncmp(t->key, "mc:", 3) ? strchr(t->key + 3, ':') : NULL;
	int r = number(w, t->key, &key[PROFILE_DIR]);

	if (!r && end)
		r = profile_number(w->p, (struct slice){ t->key, (size_t)(end - t->key) },
				   &key[PROFILE_BORN]);
	return r;
}

/* Relative to the build's directory. */
static int number_file(struct work *w, const struct task *t)
{
	const struct task probe = { .instance = t->instance, .key = "" };
	const char *dir = name_place(w->rec, &probe);
	struct buf path = BUF_INIT;
	int r;

	if (!*t->file) {
		w->file_number = w->none;
		return 0;
	}
	if (*t->file != '/' && *dir)
		buf_addf(&path, "%s/", dir);
	buf_adds(&path, name_relative(w->rec, t->file));
	r = buf_error(&path);
	if (!r)
		r = number(w, buf_str(&path), &w->file_number);
	buf_release(&path);
	return r;
}

/* make says it of the first line of a recipe. */
static int name_place_of(struct work *w, uint32_t i, uint32_t key[PROFILE_KEYS])
{
	uint32_t target = w->s->nest[i].target;
	const struct task *t = task(w, i);
	char line[16] = "";
	int r = 0;

	if (!*t->file && target != NO_INDEX)
		t = task(w, w->s->target[target].first_task);
	if (t->file != w->file || t->instance != w->file_instance) {
		w->file = t->file;
		w->file_instance = t->instance;
		r = number_file(w, t);
	}
	if (!r && t->line != w->line) {
		w->line = t->line;
		if (t->line > 0)
			snprintf(line, sizeof line, "%d", t->line);
		r = number(w, line, &w->line_number);
	}
	key[PROFILE_FILE] = w->file_number;
	key[PROFILE_LINE] = w->line_number;
	return r;
}

static int name_task(struct work *w, uint32_t i, uint32_t key[PROFILE_KEYS])
{
	const struct task *t = task(w, i);
	bool recipe = name_is_recipe(w->rec, t);
	int r;

	memcpy(key, w->of_instance[t->instance], sizeof w->of_instance[0]);
	r = number(w, *t->name ? name_relative(w->rec, t->name) : "?", &key[PROFILE_NAME]);
	if (!r && t->kind != w->kind) {
		w->kind = t->kind;
		r = number(w, t->kind, &w->kind_number);
	}
	key[PROFILE_KIND] = w->kind_number;
	key[PROFILE_RULE] = w->none;
	if (!r && *t->key)
		r = recipe ? name_recipe(w, t, key) : number(w, t->key, &key[PROFILE_RULE]);
	return r ? r : name_place_of(w, i, key);
}

/* Phases: the open spans of each instance, of which the newest counts. */

struct phases {
	size_t at;		/* the next span */
	uint32_t *newest;	/* of each instance: its newest span that may be open */
	uint32_t *before;	/* of each span: the newest when it began */
};

static int phases_init(struct work *w, struct phases *ph)
{
	ph->newest = array_new(w->rec->n_instances, sizeof *ph->newest);
	ph->before = array_new(w->rec->n_spans, sizeof *ph->before);
	if (!ph->newest || !ph->before)
		return -ENOMEM;
	memset(ph->newest, 0xff, w->rec->n_instances * sizeof *ph->newest);
	return 0;
}

/* Call in the order of starts. */
static int find_phase(struct work *w, struct phases *ph, const struct task *t, uint32_t *phase)
{
	const struct span *span = w->rec->span;
	uint32_t *newest = &ph->newest[t->instance];

	for (; ph->at < w->rec->n_spans && span[ph->at].begin_us <= t->start_us; ph->at++) {
		uint32_t *of = &ph->newest[span[ph->at].instance];

		if (span[ph->at].task != NO_INDEX)
			continue;
		ph->before[ph->at] = *of;
		*of = (uint32_t)ph->at;
	}
	while (*newest != NO_INDEX && span[*newest].end_us >= 0 &&
	       span[*newest].end_us <= t->start_us)
		*newest = ph->before[*newest];
	return *newest == NO_INDEX ? 0 : number(w, span[*newest].name, phase);
}

/* Values */

static int64_t in_ns(int64_t us)
{
	return us < INT64_MAX / 1000 ? us * 1000 : INT64_MAX;
}

/* Without the tasks inside of one that hosts a build tool: they have rows of their own. */
static int64_t run_ns(const struct work *w, uint32_t i)
{
	return in_ns(w->s->nest[i].cost.wall_us);
}

/* -1: unknown */
static int64_t queue_ns(const struct work *w, uint32_t i)
{
	int64_t wait_us = w->queue ? wait_queue_us(w->queue, w->rec, i) : -1;

	return wait_us < 0 ? -1 : in_ns(wait_us);
}

static void add_values(struct work *w, uint32_t i, struct profile_row *one)
{
	/* to ns and bytes */
	static const int64_t scale[] = {
		[UNIT_US] = 1000, [UNIT_KB] = 1024, [UNIT_BYTES] = 1, [UNIT_COUNT] = 1,
	};
	const struct cost *c = &w->s->nest[i].cost;

	for (enum value v = VALUE_CPU; v < VALUES; v++) {
		int64_t n = value_get(v, c);

		if (n < 0)
			continue;
		one->known |= 1u << v;
		one->value[v - VALUE_CPU] = sat_mul(n, scale[value_info[v].unit]);
	}
	one->known |= PROFILE_BOUNDS(cost_bounds(c));
	if (!cost_knows(c, VALUE_DELAY))
		one->known |= PROFILE_BOUNDS(1u << VALUE_SEEN_DELAY);
	w->p->n_at_least += c->at_least;
}

static void add_ended(struct work *w, uint32_t i, struct profile_row *row)
{
	struct profile_row one = PROFILE_ROW_INIT;
	int64_t run = run_ns(w, i), wait = queue_ns(w, i);

	if (row->task == NO_INDEX || run_ns(w, row->task) < run)
		row->task = i;
	one.sum[PROFILE_COUNT] = 1;
	one.sum[PROFILE_RUN] = one.sum[PROFILE_SELF] = one.max[PROFILE_RUN_MAX] =
		one.sample[PROFILE_RUNS] = run;
	add_values(w, i, &one);
	if (wait >= 0) {
		one.sum[PROFILE_QUEUED] = 1;
		one.sum[PROFILE_QUEUE] = one.max[PROFILE_QUEUE_MAX] =
			one.sample[PROFILE_QUEUES] = wait;
		for (int k = 0; k < QUEUE_CAUSES; k++)
			one.sum[PROFILE_WAIT + k] = in_ns(w->queue->task[i].us[k]);
		row->n[PROFILE_QUEUES]++;
	}
	row->n[PROFILE_RUNS]++;
	profile_row_add(row, &one);
}

/* What it used later than the window is not known of a task that ended later. */
static void add_living(struct work *w, uint32_t i, struct profile_row *row)
{
	struct profile_row one = PROFILE_ROW_INIT;

	one.sum[PROFILE_LIVING] = 1;
	if (task(w, i)->end_us < 0 && w->to_us >= w->s->wall_us)
		add_values(w, i, &one);
	profile_row_add(row, &one);
}

/* Those that are not over at the end of the window are alive. */
static int add_task(struct work *w, uint32_t i, uint32_t phase)
{
	const struct task *t = task(w, i);
	bool ended = t->end_us >= 0 && t->end_us <= w->to_us;
	int64_t begun_us = t->queued_us >= 0 && (t->start_us < 0 || t->queued_us < t->start_us) ?
			   t->queued_us : t->start_us;
	uint32_t key[PROFILE_KEYS];
	struct profile_row *row;
	int r;

	if (begun_us < 0 || begun_us > w->to_us || (ended && t->end_us <= w->from_us))
		return 0;
	r = name_task(w, i, key);
	if (r)
		return r;
	key[PROFILE_DIED] = ended ? w->worker[i] : w->alive;
	key[PROFILE_PHASE] = phase;
	row = profile_find(w->p, key, w->unit);
	if (!row)
		return -ENOMEM;
	w->p->row_of[i] = (uint32_t)(row - w->p->row);
	if (ended)
		add_ended(w, i, row);
	else
		add_living(w, i, row);
	return 0;
}

static int add_all(struct work *w)
{
	struct phases ph = { .at = 0 };
	int r = phases_init(w, &ph);

	for (size_t i = 0; !r && i < w->rec->n_tasks; i++) {
		uint32_t phase = w->none;

		if (i < w->s->n_ran)
			r = find_phase(w, &ph, task(w, w->s->order[i]), &phase);
		if (!r)
			r = add_task(w, w->s->order[i], phase);
	}
	free(ph.newest);
	free(ph.before);
	return r;
}

/* The single times of the rows, after those that were there before. */
static int add_times(struct work *w, enum profile_time which, size_t first_row)
{
	struct profile *p = w->p;
	struct profile_value *value;
	size_t n = p->n_values[which], before = n;

	for (size_t i = first_row; i < p->n_rows; i++) {
		p->row[i].first[which] = (uint32_t)n;
		n += p->row[i].n[which];
		p->row[i].n[which] = 0;
	}
	value = realloc(p->value[which], (n + 1) * sizeof *value);
	if (!value)
		return -ENOMEM;
	p->value[which] = value;
	p->n_values[which] = n;
	for (size_t i = 0; n > before && i < w->rec->n_tasks; i++) {
		struct profile_row *row = p->row_of[i] == NO_INDEX ? NULL : &p->row[p->row_of[i]];
		int64_t ns = which == PROFILE_RUNS ? run_ns(w, (uint32_t)i) : queue_ns(w, (uint32_t)i);

		if (row && ns >= 0 && row->key[PROFILE_DIED] != w->alive)
			value[row->first[which] + row->n[which]++] = (struct profile_value){ ns, 1 };
	}
	return 0;
}

/* Each pair once. */
static int add_pair(struct profile *p, struct index *seen, uint32_t parent, uint32_t child)
{
	struct profile_pair *pair;
	uint32_t unused;

	if (parent == NO_INDEX || child == NO_INDEX || p->row_of[parent] == NO_INDEX ||
	    p->row_of[child] == NO_INDEX)
		return 0;
	parent = p->row_of[parent];
	child = p->row_of[child];
	if (index_find(seen, parent, child, &unused))
		return 0;
	pair = array_add(&p->pair, &p->n_pairs, sizeof *pair);
	if (!pair)
		return -ENOMEM;
	*pair = (struct profile_pair){ parent, child };
	return index_put(seen, parent, child, 0);
}

int profile_pair_tasks(struct profile *p, const struct summary *s, const struct chain *c)
{
	struct index seen = INDEX_INIT;
	int r = 0;

	for (uint32_t i = 0; !r && p->row_of && i < s->rec->n_tasks; i++) {
		r = add_pair(p, &seen, s->nest[i].parent, i);
		if (!r)
			r = add_pair(p, &seen, c->waits.task[i].before, i);
	}
	index_release(&seen);
	return r;
}

static int name_common(struct work *w)
{
	int r = number(w, "", &w->none);

	if (!r)
		r = number(w, PROFILE_ALIVE, &w->alive);
	if (!r)
		r = number(w, "host", &w->host);
	if (!r)
		r = number(w, "ns", &w->unit[PROFILE_OF_RUN]);
	w->unit[PROFILE_OF_AMOUNT] = PROFILE_NO_UNIT;
	w->file = "";
	w->file_instance = NO_INDEX;
	w->line = -1;
	w->file_number = w->line_number = w->kind_number = w->none;
	for (uint32_t i = 0; !r && i < w->rec->n_instances; i++)
		r = name_instance(w, i);
	return r;
}

int profile_add_tasks(struct profile *p, const struct summary *s, const struct waits *q,
		      int64_t from_us, int64_t to_us)
{
	const struct recording *rec = s->rec;
	struct work w = { .p = p, .s = s, .rec = rec, .queue = q, .from_us = from_us,
		.to_us = to_us };
	size_t first_row = p->n_rows;
	int64_t end_us = MIN(to_us, s->wall_us);
	int r = -ENOMEM;

	p->row = array_expect(p->row, &p->row_cap, rec->n_tasks, sizeof *p->row);
	w.of_instance = array_new_zero(rec->n_instances, sizeof *w.of_instance);
	w.worker = array_new(rec->n_tasks, sizeof *w.worker);
	p->row_of = array_new(rec->n_tasks, sizeof *p->row_of);
	if (w.of_instance && w.worker && p->row_of) {
		memset(p->row_of, 0xff, rec->n_tasks * sizeof *p->row_of);
		r = name_common(&w);
	}
	if (!r)
		r = name_workers(&w);
	if (!r)
		r = add_all(&w);
	for (int k = 0; !r && k < PROFILE_TIMES; k++)
		r = add_times(&w, (enum profile_time)k, first_row);
	from_us = MAX(from_us, 0);
	p->seconds = end_us > from_us ? (double)(end_us - from_us) / 1e6 : 0;
	free(w.of_instance);
	free(w.worker);
	return r;
}
