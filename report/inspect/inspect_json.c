/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_parts.h"

#include "base/array.h"
#include "base/json.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TREE_SHARE 0.001	/* of all: smaller nodes are left out */

static void add_process(struct json *j, const struct inspection *in)
{
	static const char *const modes[] = { "off", "sampled", "exact" };

	json_object(j, "process");
	json_str(j, "program", in->program);
	json_int(j, "pid", in->pid);
	json_int(j, "start_ticks", (int64_t)in->start_ticks);
	json_str(j, "command", in->command);
	json_str(j, "host", in->host);
	json_str(j, "task", in->task);
	json_object_end(j);
	json_str(j, "why", in->why);
	json_str(j, "end", in->end);
	json_int(j, "start_us", in->start_us);
	json_str(j, "heap_mode", modes[in->heap]);
	json_int(j, "heap_period_bytes", (int64_t)in->heap_period);
	json_str(j, "uncounted", in->uncounted && *in->uncounted ? in->uncounted : NULL);
	json_int(j, "named_percent", in->named_percent);
}

static void add_heap_values(struct json *j, const int64_t value[HEAP_VALUES], double variance)
{
	for (int v = 0; v < HEAP_VALUES; v++)
		json_int(j, heap_value_words[v], value[v]);
	json_int(j, "error_bytes", (int64_t)sqrt(MAX(variance, 0)));
}

static void add_kb(struct json *j, const int64_t *value)
{
	char name[40];

	for (int v = 0; v < MAPPING_VALUES; v++) {
		snprintf(name, sizeof name, "%s_kb", mapping_value_words[v]);
		json_int(j, name, value[v]);
	}
}

static void add_snapshots(struct json *j, const struct inspect_view *v)
{
	json_array(j, "snapshots");
	for (size_t i = 0; i < v->n; i++) {
		const struct inspect_view_line *line = &v->line[i];

		json_object(j, NULL);
		json_int(j, "number", (int64_t)i + 1);
		json_int(j, "time_us", line->time_us);
		json_int(j, "took_us", line->took_us);
		json_bool(j, "frozen", line->frozen);
		json_bool(j, "ended", line->ended);
		json_int(j, "threads", line->process.threads);
		json_int(j, "user_ticks", (int64_t)line->process.user_ticks);
		json_int(j, "system_ticks", (int64_t)line->process.system_ticks);
		json_int(j, "minor_faults", (int64_t)line->process.minor_faults);
		json_int(j, "major_faults", (int64_t)line->process.major_faults);
		json_int(j, "mappings", (int64_t)line->mappings);
		add_kb(j, line->kb);
		for (int h = 0; h < HEAP_VALUES && line->has_heap; h++) {
			char name[40];

			snprintf(name, sizeof name, "heap_%s", heap_value_words[h]);
			json_int(j, name, line->heap[h]);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

/* The values of a class in a snapshot, or the difference of two. */
static void add_class_values(struct json *j, const struct classes *c, uint32_t class, size_t a,
			     size_t base, bool difference)
{
	int64_t value[MAPPING_VALUES];
	double variance = 0;

	for (unsigned v = 0; v < c->n_values; v++)
		value[v] = classes_value(c, class, a, v) -
			   (difference ? classes_value(c, class, base, v) : 0);
	if (!c->variance) {
		add_kb(j, value);
		return;
	}
	variance = c->variance[class * c->n_snapshots + a];
	if (difference)
		variance += c->variance[class * c->n_snapshots + base];
	add_heap_values(j, value, variance);
}

static void add_class(struct json *j, const struct inspect_view *v, const struct classes *c,
		      uint32_t class)
{
	json_object(j, NULL);
	json_str(j, "name", c->item[class].name);
	json_bool(j, "other", c->item[class].other);
	json_array(j, "snapshots");
	for (size_t i = 0; i < c->n_snapshots; i++) {
		json_object(j, NULL);
		add_class_values(j, c, class, i, 0, false);
		json_object_end(j);
	}
	json_array_end(j);
	json_object(j, "difference");
	if (v->n)
		add_class_values(j, c, class, v->shown, v->base, true);
	json_object_end(j);
	json_array(j, "classes");
	for (uint32_t i = class + 1; i < c->n && c->item[i].depth > c->item[class].depth; i++) {
		if (c->item[i].parent == class)
			add_class(j, v, c, i);
	}
	json_array_end(j);
	json_object_end(j);
}

static void add_sites(struct json *j, const struct inspect_view *v)
{
	static const char *const columns[] = {
		[VIEW_SHOWN] = "shown", [VIEW_BASE] = "compared", [VIEW_LAST] = "last",
	};
	const struct name_table *names = &v->in->names;

	json_array(j, "functions");
	for (size_t i = 0; i < v->sites.n; i++) {
		const struct call_site *site = &v->sites.site[i];
		const struct call *call = &site->call;

		json_object(j, NULL);
		json_str(j, "function", call->function == CLASSES_NONE ? NULL :
			 calls_function(&v->calls, call->function));
		json_str(j, "source", call->source < names->n ? names->name[call->source].p : NULL);
		json_int(j, "line", call->line);
		json_bool(j, "mapped", site->mapped);
		for (int k = 0; k < CALL_SITES_SNAPSHOTS; k++) {
			json_object(j, columns[k]);
			add_heap_values(j, site->value[k], site->variance[k]);
			json_object_end(j);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

/* A list in which `parent` is an index, because a stack can be deeper than JSON readers nest. */
static void add_tree(struct json *j, const struct inspect_view *v, const struct heap_tree *t,
		     const char *name, int64_t *number)
{
	int64_t n = 0;

	json_array(j, name);
	for (size_t i = 0; i < t->n; i++) {
		const struct heap_node *node = &t->node[i];
		double all = (double)t->node[0].value[HEAP_LIVE_BYTES];

		number[i] = -1;
		if (i && (double)node->value[HEAP_LIVE_BYTES] < TREE_SHARE * all)
			continue;
		number[i] = n++;
		json_object(j, NULL);
		json_known(j, "parent", i ? number[node->parent] : -1);
		json_str(j, "function", i ? calls_function(&v->calls, node->function) : NULL);
		add_heap_values(j, node->value, node->variance);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_heap(struct json *j, const struct inspect_view *v, int64_t *number)
{
	json_array(j, "heap_classes");
	add_class(j, v, &v->heap, 0);
	json_array_end(j);
	add_sites(j, v);
	add_tree(j, v, &v->top_down, "top_down", number);
	add_tree(j, v, &v->bottom_up, "bottom_up", number);
}

/* Between the snapshots the process was looked at more often. */
static void add_history(struct json *j, const struct inspect_show_options *o)
{
	json_array(j, "history");
	for (size_t i = 0; i < o->n_looks; i++) {
		const struct process_values *p = &o->look[i].process;

		json_object(j, NULL);
		json_int(j, "time_us", o->look[i].time_us);
		json_int(j, "rss_kb", (int64_t)p->rss_kb);
		json_int(j, "threads", p->threads);
		json_int(j, "user_ticks", (int64_t)p->user_ticks);
		json_int(j, "system_ticks", (int64_t)p->system_ticks);
		json_int(j, "minor_faults", (int64_t)p->minor_faults);
		json_int(j, "major_faults", (int64_t)p->major_faults);
		json_known(j, "read_kb", p->has_io ? (int64_t)p->read_kb : -1);
		json_known(j, "written_kb", p->has_io ? (int64_t)p->written_kb : -1);
		json_object_end(j);
	}
	json_array_end(j);
}

int inspect_json(struct buf *out, const struct inspect_view *v,
		 const struct inspect_show_options *o)
{
	size_t nodes = MAX(v->top_down.n, v->bottom_up.n);
	int64_t *number = array_new(nodes, sizeof *number);
	struct buf sentence = BUF_PART_OF(out);
	struct maps_wish wish = inspect_maps_wish(v, o);
	struct json j;

	if (!number)
		return -ENOMEM;
	json_init(&j, out, false);
	json_object(&j, NULL);
	inspect_sentence(&sentence, v);
	json_strn(&j, "summary", buf_str(&sentence), sentence.len);
	add_process(&j, v->in);
	json_str(&j, "rules", v->wish.rules_name);
	json_known(&j, "shown", v->n ? (int64_t)v->shown + 1 : -1);
	json_known(&j, "compared", v->n ? (int64_t)v->base + 1 : -1);
	add_snapshots(&j, v);
	if (o->n_looks)
		add_history(&j, o);
	json_array(&j, "memory_classes");
	add_class(&j, v, &v->memory, 0);
	json_array_end(&j);
	if (v->has_heap)
		add_heap(&j, v, number);
	maps_json(&j, &v->snapshot, &wish);
	json_object_end(&j);
	free(number);
	buf_release(&sentence);
	return buf_error(out);
}
