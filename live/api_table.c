/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"
#include "base/array.h"
#include "base/sort.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The table of all tasks, a part of it at a time: sorted and filtered here, because a build has
 * 100,000 of them and a page shows 30.
 */

#define ROWS_MAX 1000

/* Columns beside the values and VALUE_NAME. */
enum { BY_KIND = VALUE_SORTS, BY_STATE, KEYS };

/* The last order asked for: the next request wants another part of it. */
struct order {
	int key;		/* enum value, or one of the above */
	bool down;
	char filter[256], state[16];
	uint32_t known;		/* bit of each value that some task has */
	size_t n;
	uint32_t task[];
};

/* What a column of texts sorts by: the shown name begins with the place. */
struct texts {
	const char *first, *second;
	uint32_t task;
};

static int order_of_texts(const void *a, const void *b)
{
	const struct texts *x = a, *y = b;
	int c = x->first == y->first ? 0 : strcmp(x->first, y->first);

	if (!c && x->second != y->second)
		c = strcmp(x->second, y->second);
	return c ? c : array_order(x->task, y->task);
}

static int sort_texts(uint32_t *task, size_t n, const struct source *s, int key, bool down)
{
	const struct recording *rec = &s->recording;
	struct texts *texts = malloc((n + 1) * sizeof *texts);

	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &rec->task[task[i]];

		texts[i] = key == VALUE_NAME ? (struct texts){ name_place(rec, t), t->name, task[i] } :
			   (struct texts){ t->kind, "", task[i] };
	}
	qsort(texts, n, sizeof *texts, order_of_texts);
	for (size_t i = 0; i < n; i++)
		task[i] = texts[down ? n - 1 - i : i].task;
	free(texts);
	return 0;
}

/* What is not known comes last, whichever way. */
static int sort_numbers(uint32_t *task, size_t n, const struct source *s, int key, bool down)
{
	struct keyed *k = malloc((n + 1) * sizeof *k);
	int r;

	if (!k)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int64_t v = key == BY_STATE ? s->recording.task[task[i]].state :
			    value_get((enum value)key, &s->summary.nest[task[i]].cost);

		k[i].key = v < 0 ? UINT64_MAX : down ? (uint64_t)INT64_MAX - (uint64_t)v : (uint64_t)v;
		k[i].value = task[i];
	}
	r = sort_keyed(k, n);
	for (size_t i = 0; i < n; i++)
		task[i] = (uint32_t)k[i].value;
	free(k);
	return r;
}

static int sort(uint32_t *task, size_t n, const struct source *s, int key, bool down)
{
	return key == VALUE_NAME || key == BY_KIND ? sort_texts(task, n, s, key, down) :
	       sort_numbers(task, n, s, key, down);
}

static bool is_state(const char *word)
{
	static const char *const states[] = { "failed", "running", "unfinished", "queued", "done" };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (!strcmp(states[i], word))
			return true;
	}
	return false;
}

static bool is_wanted(const struct source *s, const struct task *t, const char *filter, const char *state)
{
	const struct recording *rec = &s->recording;
	bool running = s->running && task_json_runs(rec, t);

	if ((!strcmp(state, "failed") && !task_has_failed(t)) ||
	    (!strcmp(state, "running") && !running) ||
	    (!strcmp(state, "unfinished") && (running || t->state != TASK_UNFINISHED)) ||
	    (!strcmp(state, "queued") && t->state != TASK_QUEUED) ||
	    (!strcmp(state, "done") && t->state != TASK_DONE))
		return false;
	return !*filter || strcasestr(t->name, filter) || strcasestr(t->kind, filter) ||
	       strcasestr(name_place(rec, t), filter) || strcasestr(t->program, filter);
}

/* The order as asked for in `o`, made anew if the last one was another. NULL without memory. */
static const struct order *find_order(struct source *s, const struct order *o)
{
	struct source_kept *kept = &s->kept[SOURCE_KEEPS_TABLE];
	const struct recording *rec = &s->recording;
	struct order *made = kept->value;

	if (made && made->key == o->key && made->down == o->down && !strcmp(made->filter, o->filter) &&
	    !strcmp(made->state, o->state))
		return made;
	free(made);
	kept->value = made = malloc(sizeof *made + (rec->n_tasks + 1) * sizeof *made->task);
	kept->release = free;
	if (!made)
		return NULL;
	*made = *o;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		if (is_wanted(s, &rec->task[i], o->filter, o->state))
			made->task[made->n++] = i;
		for (enum value v = 0; v < VALUES; v++)
			made->known |= (uint32_t)(value_get(v, &s->summary.nest[i].cost) >= 0) << v;
	}
	if (sort(made->task, made->n, s, o->key, o->down)) {
		free(made);
		kept->value = made = NULL;
	}
	return made;
}

static void add_row(struct json *j, const struct source *s, uint32_t task)
{
	json_object(j, NULL);
	task_json_task(j, &s->recording, task, s->running);
	task_json_values(j, &s->summary, task);
	json_object_end(j);
}

/* "-wall": the largest first. */
static int parse_sort(struct order *o, const char *text, struct error *err)
{
	o->down = *text == '-';
	for (o->key = 0; o->key < KEYS; o->key++) {
		const char *word = o->key == BY_KIND ? "kind" : o->key == BY_STATE ? "state" : value_word[o->key];

		if (!strcmp(word, text + o->down))
			return 0;
	}
	return error_say(err, -EINVAL, "no column '%s' to sort by", text);
}

static int parse_order(struct order *o, const struct query *q, struct error *err)
{
	const char *filter = query_text(q, "filter"), *state = query_text(q, "state");
	const char *by = query_text(q, "sort");

	if (filter && strlen(filter) >= sizeof o->filter)
		return error_say(err, -EINVAL, "the filter has more than %zu bytes",
				 sizeof o->filter - 1);
	if (state && *state && !is_state(state))
		return error_say(err, -EINVAL, "unknown state '%s'", state);
	strcpy(o->filter, filter ? filter : "");
	strcpy(o->state, state ? state : "");
	return parse_sort(o, by ? by : "start", err);
}

static int reply_table(struct reply *out, const struct request *q, struct error *err)
{
	struct order wanted = { 0 };
	const struct order *o;
	int64_t from = 0, count = 0;
	struct json j;
	int r = parse_order(&wanted, q->query, err);

	if (!r)
		r = query_number(q->query, "from", 0, UINT32_MAX, 0, &from, err);
	if (!r)
		r = query_number(q->query, "count", 0, ROWS_MAX, 100, &count, err);
	if (!r)
		r = source_need(q->source, SOURCE_CHAIN, err);
	if (r)
		return r;
	o = find_order(q->source, &wanted);
	if (!o)
		return -ENOMEM;
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "is_running", q->source->running);
	json_int(&j, "n_all", (int64_t)q->source->recording.n_tasks);
	json_int(&j, "n_tasks", (int64_t)o->n);
	json_int(&j, "from", from);
	json_array(&j, "known");
	for (enum value v = 0; v < VALUES; v++) {
		if (o->known >> v & 1)
			json_str(&j, NULL, value_word[v]);
	}
	json_array_end(&j);
	json_array(&j, "tasks");
	for (int64_t i = from; i < from + count && i < (int64_t)o->n; i++)
		add_row(&j, q->source, o->task[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(&out->body);
}

const struct route api_table_routes[] = {
	{ "/api/v1/table", "rec, filter, state, sort, from, count",
	  "Tasks, sorted by one of their values and filtered, a part at a time.", reply_table },
	{ 0 }
};
