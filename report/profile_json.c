/* SPDX-License-Identifier: MIT */
#include "report/profile_output.h"

#include "base/array.h"
#include "base/json.h"
#include "base/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Processes are those of the hosts, by pid and name. */

static const char *text(const struct profile *p, const struct profile_row *row,
			enum profile_key key)
{
	return profile_text(p, row->key[key]);
}

static void add_location(struct json *j, const char *name, const struct profile *p,
			 const struct profile_row *row)
{
	json_object(j, name);
	json_str(j, "function_name", text(p, row, PROFILE_NAME));
	json_str(j, "file_name", text(p, row, PROFILE_FILE));
	json_int(j, "line_number", atoll(text(p, row, PROFILE_LINE)));
	json_object_end(j);
}

/* Chromium's keys are whole milliseconds; those with another unit are ours. */
static void add_ms(struct json *j, const char *name, double ns)
{
	if (isnan(ns))
		json_null(j, name);
	else
		json_int(j, name, llround(ns / 1e6));
}

static void add_us(struct json *j, const char *name, double ns)
{
	json_real(j, name, ns / 1000, fmod(ns, 1000) != 0 ? 3 : 0);
}

/* A time in nanoseconds, NAN if the unit is another one. */
static double time_of(struct profile_view *v, const struct profile_node *n, uint8_t column)
{
	const char *unit = profile_view_unit(v, n, (enum profile_column)column);

	return unit && !strcmp(unit, "ns") ?
	       profile_view_number(v, n, (enum profile_column)column) : NAN;
}

/* In the units of the host's clocks. */
static void add_own(struct json *j, struct profile_view *v, const struct profile_node *n)
{
	static const struct { const char *name; uint8_t column; } own[] = {
		{ "run", PROFILE_C_RUN }, { "run_max", PROFILE_C_MAX }, { "run_p50", PROFILE_C_P50 },
		{ "run_p95", PROFILE_C_P95 }, { "run_sample", PROFILE_C_SAMPLE },
		{ "self", PROFILE_C_SELF }, { "amount", PROFILE_C_AMOUNT },
		{ "amount_max", PROFILE_C_AMOUNT_MAX },
	};
	bool has_amount = n->sum->known & PROFILE_HAS_AMOUNT;

	json_str(j, "unit", profile_view_unit(v, n, PROFILE_C_RUN));
	json_str(j, "amount_unit", has_amount ? profile_view_unit(v, n, PROFILE_C_AMOUNT) : NULL);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		json_real(j, own[i].name, profile_view_number(v, n, own[i].column), 0);
}

/* In the units of their keys; the view has ns and bytes. */
static void add_value(struct json *j, struct profile_view *v, const struct profile_node *n, enum value of)
{
	const struct value_info *i = &value_info[of];
	double number = profile_view_number(v, n, PROFILE_C_VALUE(of));

	if (i->unit == UNIT_US)
		add_us(j, i->key, number);
	else if (!i->needs || !isnan(number))
		json_real(j, i->key, i->unit == UNIT_KB ? number / 1024 : number, 0);
	if (of == VALUE_CPU && profile_view_bounds(v, n) >> VALUE_LAST_SAMPLE & 1)
		json_bool(j, "at_least", true);
	if (of == VALUE_DELAY && value_is_at_least(of, number > 0, profile_view_bounds(v, n)))
		json_bool(j, "delay_at_least", true);
}

static void add_times(struct json *j, struct profile_view *v, const struct profile_node *n)
{
	static const struct { const char *name; uint8_t column; } ms[] = {
		{ "run_ms", PROFILE_C_RUN }, { "run_ms_max", PROFILE_C_MAX },
		{ "run_ms_sample", PROFILE_C_SAMPLE }, { "queue_ms", PROFILE_C_QUEUE },
		{ "queue_ms_max", PROFILE_C_QUEUE_MAX },
		{ "queue_ms_sample", PROFILE_C_QUEUE_SAMPLE },
	}, us[] = {
		{ "run_us", PROFILE_C_RUN }, { "run_us_p50", PROFILE_C_P50 },
		{ "run_us_p95", PROFILE_C_P95 }, { "self_us", PROFILE_C_SELF },
		{ "queue_us", PROFILE_C_QUEUE }, { "queue_us_p50", PROFILE_C_QUEUE_P50 },
		{ "queue_us_p95", PROFILE_C_QUEUE_P95 }, { "queue_worker_us", PROFILE_C_WORKER },
		{ "queue_pool_us", PROFILE_C_POOL }, { "queue_load_us", PROFILE_C_LOAD },
		{ "queue_delayed_us", PROFILE_C_DELAYED }, { "queue_other_us", PROFILE_C_OTHER },
		{ "queue_order_us", PROFILE_C_ORDER },
	};

	json_object(j, "death_data");
	json_int(j, "count", n->sum->sum[PROFILE_COUNT]);
	for (size_t i = 0; i < sizeof ms / sizeof *ms; i++)
		add_ms(j, ms[i].name, time_of(v, n, ms[i].column));
	json_int(j, "living", n->sum->sum[PROFILE_LIVING]);
	for (size_t i = 0; i < sizeof us / sizeof *us; i++)
		add_us(j, us[i].name, time_of(v, n, us[i].column));
	for (enum value of = VALUE_CPU; of < VALUES; of++)
		add_value(j, v, n, of);
	add_own(j, v, n);
	json_object_end(j);
}

static void add_row(struct json *j, struct profile_view *v, const struct profile_node *n)
{
	size_t unused;
	const char *born = profile_view_text(v, n, PROFILE_BORN, &unused);
	const char *died = profile_view_text(v, n, PROFILE_DIED, &unused);

	json_object(j, NULL);
	json_str(j, "birth_thread", born ? born : "*");
	json_str(j, "death_thread", died ? died : "*");
	add_location(j, "location", v->p, n->sum);
	add_times(j, v, n);
	json_str(j, "rule", text(v->p, n->sum, PROFILE_RULE));
	json_str(j, "kind", text(v->p, n->sum, PROFILE_KIND));
	json_str(j, "directory", text(v->p, n->sum, PROFILE_DIR));
	json_str(j, "phase", text(v->p, n->sum, PROFILE_PHASE));
	json_object_end(j);
}

static void add_pair(struct json *j, const struct profile *p, const struct profile_pair *pair)
{
	const struct profile_row *parent = &p->row[pair->parent], *child = &p->row[pair->child];

	json_object(j, NULL);
	add_location(j, "parent_location", p, parent);
	json_str(j, "parent_thread", text(p, parent, PROFILE_BORN));
	add_location(j, "child_location", p, child);
	json_str(j, "child_thread", text(p, child, PROFILE_BORN));
	json_object_end(j);
}

/* The pairs are in the order of their children's processes. */
static void add_process(struct json *j, struct profile_view *v, const struct profile_node *n,
			size_t most, const struct profile_pair *pair,
			const struct profile_pair *end)
{
	size_t unused;
	const char *pid = profile_view_text(v, n, PROFILE_PID, &unused);
	const char *host = profile_view_text(v, n, PROFILE_HOST, &unused);
	size_t rows = profile_view_sort(v, n, most ? most : SIZE_MAX);

	json_object(j, NULL);
	if (pid && *pid)
		json_int(j, "process_id", atoll(pid));
	else
		json_null(j, "process_id");
	json_str(j, "process_type", host ? host : "*");
	json_array(j, "list");
	for (size_t i = 0; i < rows; i++)
		add_row(j, v, &v->node[v->child[n->first_child + i]]);
	json_array_end(j);
	json_array(j, "descendants");
	for (; pair < end; pair++)
		add_pair(j, v->p, pair);
	json_array_end(j);
	json_object_end(j);
}

static uint64_t process_of(const struct profile_row *row)
{
	return (uint64_t)row->key[PROFILE_HOST] << 32 | row->key[PROFILE_PID];
}

static int by_process(const void *a, const void *b, void *profile)
{
	const struct profile *p = profile;
	const struct profile_pair *x = a, *y = b;
	uint64_t one = process_of(&p->row[x->child]), two = process_of(&p->row[y->child]);

	if (one != two)
		return one < two ? -1 : 1;
	return x->child != y->child ? (x->child > y->child) - (x->child < y->child) :
	       (x->parent > y->parent) - (x->parent < y->parent);
}

static struct profile_pair *first_of(const struct profile *p, struct profile_pair *pair,
				     uint64_t process, bool behind)
{
	struct search_range s = search_all(p->n_pairs);

	while (search_next(&s)) {
		uint64_t of = process_of(&p->row[pair[s.at].child]);

		search_past(&s, of < process || (behind && of == process));
	}
	return pair + s.at;
}

int profile_json_write(struct buf *out, struct profile_view *v, const char *what, size_t most)
{
	struct profile_pair *pair = array_new(v->p->n_pairs, sizeof *pair);
	struct json j;

	if (!pair)
		return -ENOMEM;
	if (v->p->n_pairs)
		memcpy(pair, v->p->pair, v->p->n_pairs * sizeof *pair);
	qsort_r(pair, v->p->n_pairs, sizeof *pair, by_process, (void *)(uintptr_t)v->p);
	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat profile 1");
	json_str(&j, "recording", what);
	json_real(&j, "seconds", v->p->seconds, 3);
	json_bool(&j, "difference", v->p->is_difference);
	json_int(&j, "lost_runs", v->p->n_lost);
	json_int(&j, "unfinished_hosts", (int64_t)v->p->n_unfinished);
	json_int(&j, "incomplete_hosts", (int64_t)v->p->n_incomplete);
	json_bool(&j, "at_least", v->p->n_at_least);
	json_array(&j, "processes");
	for (const struct profile_node *n = v->node; n < v->node + v->n_nodes; n++) {
		uint64_t process = process_of(n->sum);

		if (n->depth == v->wish.group.n)
			add_process(&j, v, n, most, first_of(v->p, pair, process, false),
				    first_of(v->p, pair, process, true));
	}
	json_array_end(&j);
	json_object_end(&j);
	free(pair);
	return v->no_memory ? -ENOMEM : buf_error(out);
}
