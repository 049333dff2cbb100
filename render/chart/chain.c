#include "chain.h"

#include "chain_names.h"
#include "name_table.h"
#include "saturate.h"
#include "sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct summary *s;
	struct chain *c;
	struct chain_names names;
	uint32_t *of_key;		/* OpenEmbedded: number of each task's recipe */
	int64_t *end_us;		/* of each task */
	/* The tasks that ended last, of those that ended so far: */
	uint32_t *of_target, *of_instance, *of_recipe, *inside;
	uint32_t *sibling;		/* of each instance, when it began; see first_seen */
	bool *first_seen;
	bool *begun;			/* those that stand before, of each task */
};

static const struct task *task(const struct work *w, uint32_t i)
{
	return &w->s->rec->task[i];
}

static uint32_t *indices(size_t n)
{
	uint32_t *p = malloc((n + 1) * sizeof *p);

	if (p)
		memset(p, 0xff, (n + 1) * sizeof *p);
	return p;
}

static void latest(const struct work *w, uint32_t *last, uint32_t i)
{
	if (*last == NO_INDEX || w->end_us[i] >= w->end_us[*last])
		*last = i;
}

static void ended(struct work *w, uint32_t i)
{
	const struct nesting *nest = &w->s->nest[i];
	uint32_t path = w->names.of_target[nest->target];

	latest(w, &w->of_target[nest->target], i);
	latest(w, &w->of_instance[task(w, i)->instance], i);
	if (w->of_key)
		latest(w, &w->of_recipe[w->of_key[i]], i);
	if (path != NO_INDEX)
		latest(w, chain_names_last(&w->names, path), i);
	if (nest->parent != NO_INDEX)
		latest(w, &w->inside[nest->parent], i);
}

static uint32_t last_target(const struct work *w, const struct task *t)
{
	uint32_t last = NO_INDEX;

	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		uint32_t path = w->names.of_after[k];
		uint32_t made = path == NO_INDEX ? NO_INDEX : *chain_names_last(&w->names, path);

		if (made != NO_INDEX)
			latest(w, &last, made);
	}
	return last;
}

/* The last of the instance that ran before this one in the task around both. */
static uint32_t last_of_sibling(struct work *w, uint32_t i)
{
	uint32_t instance = task(w, i)->instance, parent = w->s->nest[i].parent;
	const struct instance *list = w->s->rec->instance;

	if (!w->first_seen[instance] && parent != NO_INDEX) {
		uint32_t last = w->inside[parent];
		int64_t close_us = last == NO_INDEX ? -1 : list[task(w, last)->instance].close_us;

		if (close_us >= 0 && close_us <= list[instance].open_us)
			w->sibling[instance] = last;
	}
	w->first_seen[instance] = true;
	return w->sibling[instance];
}

static bool just_ended(const struct work *w, uint32_t before, const struct task *t)
{
	int64_t slack_us = w->of_key ? CHAIN_SLACK_OE_US : CHAIN_SLACK_US;

	return before != NO_INDEX && w->end_us[before] >= t->start_us - slack_us;
}

/* OpenEmbedded tells of no targets, but a recipe's tasks run one after the other. Where
 * one began long after the one before, it waited for another recipe. */
static enum wait decide_recipe(const struct work *w, uint32_t i, uint32_t *before)
{
	uint32_t of_recipe = w->of_recipe[w->of_key[i]];
	uint32_t of_worker = w->of_instance[task(w, i)->instance];

	*before = of_recipe;
	if (just_ended(w, of_recipe, task(w, i)))
		return WAIT_LINE;
	if (just_ended(w, of_worker, task(w, i))) {
		*before = of_worker;
		return WAIT_WORKER;
	}
	return of_recipe != NO_INDEX ? WAIT_LINE : WAIT_NONE;
}

/* Did the worker keep it longer than the target. What starts as soon as its target is
 * made may start after something else ended, too. */
static bool is_later(const struct work *w, uint32_t worker, uint32_t target, const struct task *t)
{
	int64_t ready_us = w->s->rec->instance[t->instance].open_us;

	if (target == NO_INDEX)
		return true;
	if (ready_us < w->end_us[target])
		ready_us = w->end_us[target];
	return w->end_us[worker] > ready_us && t->start_us - ready_us > CHAIN_REACTION_US;
}

static enum wait decide(struct work *w, uint32_t i, uint32_t *before)
{
	const struct task *t = task(w, i);
	uint32_t sibling = last_of_sibling(w, i);
	uint32_t target = last_target(w, t), worker = w->of_instance[t->instance];

	*before = w->of_target[w->s->nest[i].target];
	if (*before != NO_INDEX)
		return WAIT_LINE;
	*before = worker;
	if (just_ended(w, worker, t) && is_later(w, worker, target, t))
		return WAIT_WORKER;
	*before = target;
	if (target != NO_INDEX)
		return WAIT_TARGET;
	*before = sibling;
	if (sibling != NO_INDEX)
		return WAIT_LINE;
	*before = w->s->nest[i].parent;
	if (*before != NO_INDEX && w->begun[*before])
		return WAIT_HOST;
	*before = NO_INDEX;
	return WAIT_NONE;
}

/* When others may have waited for each task, by its place in the order. */
static struct keyed *ends_in_order(struct work *w)
{
	const struct summary *s = w->s;
	struct keyed *k = malloc((s->n_ran + 1) * sizeof *k);

	for (size_t i = 0; k && i < s->n_ran; i++) {
		const struct task *t = task(w, s->order[i]);
		int64_t end_us = recording_task_end_us(s->rec, t);
		int64_t free_us = end_us - CHAIN_STAMP_US;

		w->end_us[s->order[i]] = end_us;
		if (free_us < t->start_us)
			free_us = t->start_us;
		k[i] = (struct keyed){ (uint64_t)free_us, (int64_t)i };
	}
	if (k && sort_keyed(k, s->n_ran)) {
		free(k);
		return NULL;
	}
	return k;
}

/* In time's order: each task when it starts, after those that had ended by then and
 * stand before it, so that nothing waits in a circle. */
static int sweep(struct work *w)
{
	const struct summary *s = w->s;
	struct keyed *end = ends_in_order(w);
	size_t at = 0;

	if (!end)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ran; i++) {
		uint32_t *before = &w->c->before[s->order[i]];
		uint64_t start_us = (uint64_t)task(w, s->order[i])->start_us;

		for (; end[at].key <= start_us && end[at].value < (int64_t)i; at++)
			ended(w, s->order[end[at].value]);
		w->c->why[s->order[i]] = (uint8_t)(w->of_key ? decide_recipe(w, s->order[i], before) :
							  decide(w, s->order[i], before));
		w->begun[s->order[i]] = true;
	}
	for (; at < s->n_ran; at++)
		ended(w, s->order[end[at].value]);
	free(end);
	return 0;
}

/* The critical path */

static uint32_t last_to_end(const struct work *w)
{
	uint32_t last = NO_INDEX;

	for (size_t i = 0; i < w->s->n_ran; i++) {
		if (!task(w, w->s->order[i])->hosts)
			latest(w, &last, w->s->order[i]);
	}
	return last;
}

/* The last to end inside a task, inside that ...; kept, as the way may be long. */
static uint32_t innermost(struct work *w, uint32_t i)
{
	uint32_t leaf = i;

	while (w->inside[leaf] != NO_INDEX)
		leaf = w->inside[leaf];
	while (i != leaf) {
		uint32_t next = w->inside[i];

		w->inside[i] = leaf;
		i = next;
	}
	return leaf;
}

/* place: of each task in the order. A path that would not lead back ends. */
static uint32_t step_back(struct work *w, const uint32_t *place, uint32_t i)
{
	for (uint32_t at = i, leaf; w->c->before[at] != NO_INDEX; at = w->c->before[at]) {
		if (w->c->why[at] == WAIT_HOST)
			continue;
		leaf = innermost(w, w->c->before[at]);
		if (place[leaf] < place[i])
			return leaf;
	}
	return NO_INDEX;
}

static void turn_round(uint32_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t t = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = t;
	}
}

static int find_path(struct work *w)
{
	struct chain *c = w->c;
	uint32_t *place = indices(w->s->rec->n_tasks);

	c->path = indices(w->s->n_ran);
	if (!place || !c->path) {
		free(place);
		return -ENOMEM;
	}
	for (size_t i = 0; i < w->s->n_ran; i++)
		place[w->s->order[i]] = (uint32_t)i;
	for (uint32_t i = last_to_end(w); i != NO_INDEX; i = step_back(w, place, i)) {
		c->path[c->n_path++] = i;
		c->path_us = sat_add(c->path_us, w->end_us[i] - task(w, i)->start_us);
	}
	turn_round(c->path, c->n_path);
	free(place);
	return 0;
}

static int number_recipes(struct work *w, size_t *n)
{
	const struct recording *rec = w->s->rec;
	struct name_table t = NAME_TABLE_INIT;
	int r = 0;

	*n = 0;
	if (rec->format != FORMAT_OE)
		return 0;
	w->of_key = indices(rec->n_tasks);
	for (size_t i = 0; !r && w->of_key && i < rec->n_tasks; i++) {
		struct slice key = { rec->task[i].key, strlen(rec->task[i].key) };

		r = name_table_add(&t, key, &w->of_key[i]);
	}
	*n = t.n;
	name_table_release(&t);
	return w->of_key ? r : -ENOMEM;
}

static int allocate(struct work *w)
{
	const struct recording *rec = w->s->rec;
	size_t n_recipes;

	if (number_recipes(w, &n_recipes))
		return -ENOMEM;
	w->end_us = calloc(rec->n_tasks + 1, sizeof *w->end_us);
	w->of_target = indices(w->s->n_targets);
	w->of_instance = indices(rec->n_instances);
	w->of_recipe = indices(n_recipes);
	w->inside = indices(rec->n_tasks);
	w->sibling = indices(rec->n_instances);
	w->first_seen = calloc(rec->n_instances + 1, sizeof *w->first_seen);
	w->begun = calloc(rec->n_tasks + 1, sizeof *w->begun);
	w->c->before = indices(rec->n_tasks);
	w->c->why = calloc(rec->n_tasks + 1, 1);
	return w->end_us && w->of_target && w->of_instance && w->of_recipe && w->inside &&
	       w->sibling && w->first_seen && w->begun && w->c->before && w->c->why ? 0 : -ENOMEM;
}

int chain_make(struct chain *c, const struct summary *s)
{
	struct work w = { .s = s, .c = c };
	int r;

	*c = (struct chain){ 0 };
	r = allocate(&w);
	if (!r)
		r = chain_names_make(&w.names, s);
	if (!r)
		r = sweep(&w);
	if (!r)
		r = find_path(&w);
	chain_names_release(&w.names);
	free(w.of_key);
	free(w.end_us);
	free(w.of_target);
	free(w.of_instance);
	free(w.of_recipe);
	free(w.inside);
	free(w.sibling);
	free(w.first_seen);
	free(w.begun);
	return r;
}

void chain_release(struct chain *c)
{
	free(c->before);
	free(c->why);
	free(c->path);
	*c = (struct chain){ 0 };
}
