/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"

#include "analyse/cache_counts.h"
#include "analyse/summary.h"
#include "analyse/names.h"
#include "analyse/words.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/name_table.h"
#include "base/saturate.h"
#include "recording/layout.h"
#include "recording/recipe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looking up */

void values_release(struct values *f)
{
	for (int c = 0; c < COLUMNS; c++)
		free(f->column[c]);
	for (enum metric m = 0; m < METRICS; m++)
		free(f->spread[m]);
	free_all(f->fact, f->task, f->package);
	arena_free(f->texts);
	*f = (struct values){ 0 };
}

double values_get(const struct values *f, size_t task, enum metric m)
{
	const enum value_column *c = metric_info[m].column;
	const int64_t *a = f->column[c[0]], *b = f->column[c[1]];

	if (!a || !b || a[task] < 0 || b[task] < 0)
		return NAN;
	return (double)(a == b ? a[task] : sat_add(a[task], b[task]));
}

const char *values_fact(const struct values *f, const char *key)
{
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	}
	return NULL;
}

static int by_package(const void *key, const void *item)
{
	return strcmp(key, ((const struct values_package *)item)->name);
}

const char *values_version(const struct values *f, size_t task)
{
	const char *name = f->task[task].name, *end = strstr(name, ": ");
	const struct values_package *found;
	char package[256];

	if (!f->n_packages || !end || (size_t)(end - name) >= sizeof package)
		return NULL;
	memcpy(package, name, (size_t)(end - name));
	package[end - name] = '\0';
	found = bsearch(package, f->package, f->n_packages, sizeof *f->package, by_package);
	return found ? found->version : NULL;
}

static int by_task(const void *key, const void *item)
{
	return strcmp(key, ((const struct values_task *)item)->name);
}

size_t values_find(const struct values *f, const char *name)
{
	const struct values_task *found;

	found = f->n_tasks ? bsearch(name, f->task, f->n_tasks, sizeof *f->task, by_task) : NULL;
	return found ? (size_t)(found - f->task) : f->n_tasks;
}

/* Making */

/* The rows while the tasks come, in the order of their first. */
struct rows {
	struct values *f;
	const struct summary *sum;
	struct name_table names;	/* of task */
	struct buf name;
	const char *kind, *kept_kind;	/* the last one */
	size_t n;
	struct values_task *task;	/* room for all, as the next */
	int64_t (*value)[COLUMNS];
};

static const char *keep_text(struct values *f, const char *text, size_t len)
{
	return arena_text(f->texts, text, len);
}

int values_add_fact(struct values *f, const char *key, const char *value)
{
	struct values_fact *grown;

	if (!value || !*value)
		return 0;
	grown = array_grow(f->fact, f->n_facts, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	f->fact = grown;
	grown += f->n_facts;
	*grown = (struct values_fact){ keep_text(f, key, strlen(key)),
					keep_text(f, value, strlen(value)) };
	if (!grown->key || !grown->value)
		return -ENOMEM;
	f->n_facts++;
	return 0;
}

/* The share of the compilations that came from a cache, as a text that small changes keep. */
static int add_cache_facts(struct values *f, const struct recording *rec)
{
	struct cache_counts c;
	char text[64];
	int r = 0;

	for (int i = 0; !r && i < CACHES; i++) {
		if (!cache_counts_get(&c, rec, i) || cache_counts_share(&c) < 0)
			continue;
		snprintf(text, sizeof text, "%.0f %% of compilations from the cache",
			 100 * cache_counts_share(&c));
		r = values_add_fact(f, cache_counts_name[i], text);
	}
	return r;
}

static bool has_fact(const struct values *f, const char *key, const char *value)
{
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, key) && !strcmp(f->fact[i].value, value))
			return true;
	}
	return false;
}

/* Lines of `build`, and each build tool that ran: "make 4.3". */
static int add_unaccounted(struct values *f, const struct recording *rec)
{
	struct buf text = BUF_INIT;
	int r;

	proof_add_processes(&text, &rec->proof, rec);
	if (!text.len)
		proof_add_unclosed(&text, &rec->proof);
	r = buf_error(&text);
	if (!r && text.len)
		r = values_add_fact(f, VALUES_UNACCOUNTED, buf_str(&text));
	buf_release(&text);
	return r;
}

static int add_facts(struct values *f, const struct recording *rec)
{
	static const char *const wanted[] = {
		"host", "machine", "kernel", "cores", "memory_kb", "command", "cwd", "tool",
		"version", "source", "revision", "branch", "describe", "dirty", "commit_count",
	};
	struct buf text = BUF_INIT;
	int r = add_cache_facts(f, rec);

	r = r ? r : add_unaccounted(f, rec);
	for (size_t i = 0; !r && i < rec->n_build; i++) {
		for (size_t k = 0; !r && k < ARRAY_SIZE(wanted); k++) {
			if (!strcmp(rec->build[i].key, wanted[k]))
				r = values_add_fact(f, wanted[k], rec->build[i].value);
		}
	}
	for (size_t i = 0; !r && i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		if (!in->tool || !*in->tool)
			continue;
		buf_clear(&text);
		buf_adds(&text, in->tool);
		if (in->version && *in->version)
			buf_addf(&text, " %s", in->version);
		r = buf_error(&text);
		if (!r && !has_fact(f, "uses", buf_str(&text)))
			r = values_add_fact(f, "uses", buf_str(&text));
	}
	buf_release(&text);
	return r;
}

static void value_of(int64_t *v, const struct summary *sum, uint32_t task)
{
	const struct task *t = &sum->rec->task[task];
	const struct cost *cost = &sum->nest[task].cost;
	bool own = !t->hosts;

	v[COLUMN_START_US] = t->start_us;
	v[COLUMN_WALL_US] = value_get(VALUE_WALL, cost);
	v[COLUMN_USER_US] = cost->measured ? cost->user_us : -1;
	v[COLUMN_SYSTEM_US] = cost->measured ? cost->system_us : -1;
	v[COLUMN_MAX_RSS_KB] = own ? t->max_rss_kb :
			       cost->memory_kb && !cost->memory_summed ? cost->memory_kb : -1;
	v[COLUMN_PEAK_KB] = own && t->n_usage ? (int64_t)t->peak_kb : -1;
	v[COLUMN_READ_BYTES] = value_get(VALUE_READ, cost);
	v[COLUMN_WRITTEN_BYTES] = value_get(VALUE_WRITTEN, cost);
	v[COLUMN_RCHAR] = own ? t->rchar : -1;
	v[COLUMN_WCHAR] = own ? t->wchar : -1;
	v[COLUMN_MINOR_FAULTS] = own ? t->minor_faults : -1;
	v[COLUMN_MAJOR_FAULTS] = own ? t->major_faults : -1;
	v[COLUMN_VOLUNTARY_SWITCHES] = own ? t->voluntary_switches : -1;
	v[COLUMN_INVOLUNTARY_SWITCHES] = own ? t->involuntary_switches : -1;
	v[COLUMN_RUNS] = 1;
	v[COLUMN_INSTRUCTIONS] = value_get(VALUE_INSTRUCTIONS, cost);
	v[COLUMN_STATUS] = task_said_no(t) ? 0 : words_task_status(t);
}

static void merge(int64_t *to, const int64_t *v)
{
	for (int c = 0; c < COLUMNS; c++) {
		bool largest = c == COLUMN_MAX_RSS_KB || c == COLUMN_PEAK_KB ||
			       c == COLUMN_STATUS;

		if (v[c] < 0 || c == COLUMN_START_US)
			continue;
		if (to[c] < 0)
			to[c] = v[c];
		else if (!largest)
			to[c] = sat_add(to[c], v[c]);
		else if (v[c] > to[c])
			to[c] = v[c];
	}
}

static int add_task(struct rows *r, uint32_t task)
{
	const struct task *t = &r->sum->rec->task[task];
	int64_t v[COLUMNS];
	uint32_t row;

	buf_clear(&r->name);
	name_add_stable(&r->name, r->sum->rec, t);
	if (buf_error(&r->name) ||
	    name_table_add(&r->names, slice_of(buf_str(&r->name)), &row))
		return -ENOMEM;
	value_of(v, r->sum, task);
	if (row < r->n) {
		merge(r->value[row], v);
		return 0;
	}
	/* tasks of one kind have the same pointer, and most follow each other */
	if (t->kind != r->kind) {
		r->kind = t->kind;
		r->kept_kind = keep_text(r->f, t->kind, strlen(t->kind));
	}
	if (!r->kept_kind)
		return -ENOMEM;
	r->task[r->n] = (struct values_task){ r->names.name[r->n].p, r->kept_kind };
	memcpy(r->value[r->n++], v, sizeof *r->value);
	return 0;
}

static int by_task_name(const void *a, const void *b, void *tasks)
{
	const struct values_task *task = tasks;

	return strcmp(task[*(const uint32_t *)a].name, task[*(const uint32_t *)b].name);
}

/* From rows, which are in the order of their first tasks, to columns by name. */
static int sort_rows(struct values *f, const struct rows *r)
{
	uint32_t *order = malloc((r->n + 1) * sizeof *order);
	int error = 0;

	f->task = malloc((r->n + 1) * sizeof *f->task);
	if (!order || !f->task) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, r->n, sizeof *order, by_task_name, r->task);
	for (size_t i = 0; i < r->n; i++)
		f->task[i] = r->task[order[i]];
	f->n_tasks = r->n;
	for (int c = 0; !error && c < COLUMNS; c++) {
		bool known = false;

		for (size_t i = 0; i < r->n; i++)
			known |= r->value[i][c] >= 0;
		if (!known)
			continue;
		f->column[c] = malloc(r->n * sizeof **f->column);
		error = f->column[c] ? 0 : -ENOMEM;
		for (size_t i = 0; !error && i < r->n; i++)
			f->column[c][i] = r->value[order[i]][c];
	}
	free(order);
	return error;
}

static int add_tasks(struct values *f, const struct summary *sum)
{
	struct rows r = { .f = f, .sum = sum, .names.arena = f->texts };
	int error;

	r.task = malloc((sum->n_ran + 1) * sizeof *r.task);
	r.value = malloc((sum->n_ran + 1) * sizeof *r.value);
	error = r.task && r.value ? 0 : -ENOMEM;
	for (size_t i = 0; !error && i < sum->n_ran; i++)
		error = add_task(&r, sum->order[i]);
	if (!error)
		error = sort_rows(f, &r);
	name_table_release(&r.names);
	buf_release(&r.name);
	free_all(r.task, r.value);
	return error;
}

static int compare_packages(const void *a, const void *b)
{
	const struct values_package *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->version, y->version);
}

static int add_package(struct values *f, struct buf *text, const struct task *t)
{
	struct values_package *grown = array_grow(f->package, f->n_packages, sizeof *grown);
	struct recipe recipe;

	if (!grown)
		return -ENOMEM;
	f->package = grown;
	recipe_parse(&recipe, t->key);
	buf_clear(text);
	if (recipe.epoch.len)
		buf_addf(text, "%.*s:", (int)recipe.epoch.len, recipe.epoch.p);
	buf_add(text, recipe.version.p, recipe.version.len);
	if (recipe.revision.len)
		buf_addf(text, "-%.*s", (int)recipe.revision.len, recipe.revision.p);
	grown[f->n_packages].name = keep_text(f, recipe.name.p, recipe.name.len);
	grown[f->n_packages].version = keep_text(f, buf_str(text), text->len);
	if (buf_error(text) || !grown[f->n_packages].name || !grown[f->n_packages].version)
		return -ENOMEM;
	f->n_packages++;
	return 0;
}

/* Of a recipe built in two versions the lower version is reported. */
static int add_packages(struct values *f, const struct summary *sum)
{
	const struct recording *rec = sum->rec;
	struct buf text = BUF_INIT;
	const char *last = "";
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; !r && i < sum->n_ran; i++) {
		const struct task *t = &rec->task[sum->order[i]];

		if (!name_is_recipe(rec, t) || !strcmp(t->key, last))
			continue;
		last = t->key;
		r = add_package(f, &text, t);
	}
	buf_release(&text);
	if (r || !f->n_packages)
		return r;
	qsort(f->package, f->n_packages, sizeof *f->package, compare_packages);
	for (size_t i = 0; i < f->n_packages; i++) {
		if (!n || strcmp(f->package[n - 1].name, f->package[i].name))
			f->package[n++] = f->package[i];
	}
	f->n_packages = n;
	return 0;
}

static int64_t largest(const struct values *f, enum value_column c)
{
	int64_t max = -1;

	for (size_t i = 0; f->column[c] && i < f->n_tasks; i++) {
		if (f->column[c][i] > max)
			max = f->column[c][i];
	}
	return max;
}

static int64_t sum_of(const struct values *f, enum value_column c)
{
	int64_t sum = -1;

	for (size_t i = 0; f->column[c] && i < f->n_tasks; i++) {
		if (f->column[c][i] >= 0)
			sum = sum < 0 ? f->column[c][i] : sat_add(sum, f->column[c][i]);
	}
	return sum;
}

static void set_totals(struct values *f, const struct summary *sum)
{
	const struct host *h = &sum->host;
	const int64_t *stalled = h->stalled_us;
	int64_t *t = f->total;
	int64_t max_rss = recording_build_number(sum->rec, "max_rss_kb");

	t[TOTAL_WALL_US] = sum->wall_us;
	t[TOTAL_USER_US] = sum->user_us;
	t[TOTAL_SYSTEM_US] = sum->system_us;
	t[TOTAL_MAX_RSS_KB] = max_rss >= 0 ? max_rss : largest(f, COLUMN_MAX_RSS_KB);
	t[TOTAL_PEAK_KB] = sum->memory_peak_kb.value;
	t[TOTAL_READ_BYTES] = sum_of(f, COLUMN_READ_BYTES);
	t[TOTAL_WRITTEN_BYTES] = sum_of(f, COLUMN_WRITTEN_BYTES);
	t[TOTAL_TASKS] = (int64_t)sum->n_ran;
	t[TOTAL_FAILED] = (int64_t)(sum->n_state[TASK_FAILED] + sum->n_state[TASK_KILLED] +
				    sum->n_state[TASK_UNFINISHED]);
	t[TOTAL_RUNNING_MAX] = sum->running_max;
	t[TOTAL_STATUS] = words_build_status(sum->result, sum->status);
	t[TOTAL_HOST_USER_US] = h->user_us;
	t[TOTAL_HOST_SYSTEM_US] = h->system_us;
	t[TOTAL_HOST_IOWAIT_US] = h->iowait_us;
	t[TOTAL_HOST_STEAL_US] = h->steal_us;
	t[TOTAL_HOST_MEMORY_PEAK_BYTES] = h->memory_used_bytes.value;
	t[TOTAL_HOST_SWAP_PEAK_BYTES] = h->swap_used_bytes.value;
	t[TOTAL_HOST_OOM_KILLS] = h->oom_kills;
	t[TOTAL_HOST_DISK_READ_BYTES] = h->disk_read_bytes;
	t[TOTAL_HOST_DISK_WRITTEN_BYTES] = h->disk_written_bytes;
	t[TOTAL_HOST_NET_RECEIVED_BYTES] = h->net_received_bytes;
	t[TOTAL_HOST_NET_SENT_BYTES] = h->net_sent_bytes;
	t[TOTAL_HOST_STALLED_CPU_US] = stalled[PRESSURE_CPU_SOME];
	t[TOTAL_HOST_STALLED_IO_US] = stalled[PRESSURE_IO_SOME];
	t[TOTAL_HOST_STALLED_MEMORY_US] = stalled[PRESSURE_MEMORY_SOME];
	t[TOTAL_HOST_CALIBRATION_START_US] = h->start.least_ns;
	t[TOTAL_HOST_CALIBRATION_END_US] = h->end.least_ns;
	t[TOTAL_INSTRUCTIONS] = recording_build_number(sum->rec, LAYOUT_INSTRUCTIONS);
	if (t[TOTAL_INSTRUCTIONS] < 0)
		t[TOTAL_INSTRUCTIONS] = sum_of(f, COLUMN_INSTRUCTIONS);
}

static int fill_values(struct values *f, const struct summary *sum)
{
	const struct recording *rec = sum->rec;
	int r;

	f->texts = arena_new();
	if (!f->texts)
		return -ENOMEM;
	f->path = keep_text(f, rec->path ? rec->path : "", rec->path ? strlen(rec->path) : 0);
	f->start_s = rec->start_wall_ns > 0 ? rec->start_wall_ns / 1000000000 : -1;
	if (!f->path)
		return -ENOMEM;
	r = add_facts(f, rec);
	if (!r)
		r = add_tasks(f, sum);
	if (!r)
		r = add_packages(f, sum);
	if (!r)
		set_totals(f, sum);
	return r ? r : recording_command_error(rec);
}

int values_make(struct values *f, const struct recording *rec)
{
	struct summary sum;
	int r;

	*f = (struct values){ 0 };
	r = summary_make(&sum, rec);
	if (!r)
		r = fill_values(f, &sum);
	summary_release(&sum);
	return r;
}
