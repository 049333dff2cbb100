/* SPDX-License-Identifier: MIT */
#include "report/inspect_page_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "report/html.h"
#include "report/page_static.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int inspect_page_new(struct inspect_page **page, const struct inspection *in,
		     const struct call_tree *tree, const struct class_rule_file *rules)
{
	struct inspect_page *p = calloc(1, sizeof *p);

	if (!p)
		return -ENOMEM;
	p->in = in;
	p->tree = tree;
	p->rules = rules;
	p->node = array_new_zero(tree->n, sizeof *p->node);
	p->kept = array_new_zero(tree->n, sizeof *p->kept);
	p->sum = array_new_zero(tree->n, sizeof *p->sum);
	if (!p->node || !p->kept || !p->sum) {
		inspect_page_free(p);
		return -ENOMEM;
	}
	*page = p;
	return 0;
}

void inspect_page_free(struct inspect_page *p)
{
	if (!p)
		return;
	index_release(&p->areas);
	free_all(p->time, p->node, p->kept, p->sum, p->live, p->area, p->change, p);
}

int inspect_page_add(struct inspect_page *p, const struct snapshot *s)
{
	struct page_time *t = array_add(&p->time, &p->n, sizeof *t);
	int r;

	if (!t)
		return -ENOMEM;
	*t = (struct page_time){ .time_us = s->time_us, .process = s->process };
	for (int v = 0; v < MAPPING_VALUES; v++)
		t->kb[v] = snapshot_sum_kb(s, v);
	r = inspect_maps_add(p, s);
	return r || !s->has_heap ? r : inspect_heap_add(p, s);
}

/* Names and parents of classes. */
static void add_classes(struct json *j, const char *key, const struct classes *c)
{
	json_array(j, key);
	for (size_t i = 0; c && i < c->n; i++) {
		json_array(j, NULL);
		json_str(j, NULL, c->item[i].name);
		json_int(j, NULL, c->item[i].parent == CLASSES_NONE ? -1 : (int64_t)c->item[i].parent);
		json_bool(j, NULL, c->item[i].other);
		json_array_end(j);
	}
	json_array_end(j);
}

static void add_snapshots(struct json *j, const struct inspect_page *p)
{
	json_array(j, "snapshots");
	for (size_t i = 0; i < p->n; i++) {
		const struct page_time *t = &p->time[i];

		json_object(j, NULL);
		json_int(j, "time_us", t->time_us);
		json_int(j, "rss_kb", (int64_t)t->kb[MAPPING_RSS]);
		json_int(j, "threads", t->process.threads);
		json_int(j, "faults", (int64_t)t->process.minor_faults);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_head(struct buf *out, const struct inspect_page *p, const struct classes *memory,
		     const struct classes *heap)
{
	static const char *const modes[] = { "off", "sampled", "exact" };
	struct json j;

	json_init(&j, out, true);
	json_object(&j, NULL);
	json_str(&j, "program", p->in->program);
	json_int(&j, "pid", p->in->pid);
	json_str(&j, "heap", modes[p->in->heap]);
	json_int(&j, "period", (int64_t)p->in->heap_period);
	json_array(&j, "values");
	for (int v = 0; v < MAPPING_VALUES; v++)
		json_str(&j, NULL, mapping_value_words[v]);
	json_array_end(&j);
	add_snapshots(&j, p);
	add_classes(&j, "memory_classes", memory);
	add_classes(&j, "heap_classes", heap);
	json_object_end(&j);
}

/* One value of all classes, plain or as the change since the snapshot before. */
static void add_values(struct packed *out, const struct classes *c, unsigned value, const char *name)
{
	struct pack_column column;
	int64_t most = 0;
	double unit;

	for (size_t i = 0; i < c->n; i++) {
		for (size_t s = 0; s < c->n_snapshots; s++) {
			int64_t v = classes_value(c, i, s, value);

			most = MAX(v, most);
		}
	}
	unit = packed_unit(most, 2);
	pack_column_init(&column, 'd');
	for (size_t i = 0; i < c->n; i++) {
		for (size_t s = 0; s < c->n_snapshots; s++) {
			double v = (double)classes_value(c, i, s, value) / unit;

			pack_column_adds(&column, v < 0 ? 0 : (int32_t)(v + .5));
		}
	}
	packed_column(out, &column, name, unit);
}

static int add_data(struct markup *h, const struct inspect_page *p, const struct classes *memory,
		    const struct classes *heap)
{
	struct packed data;
	char name[16];

	packed_init(&data);
	packed_columns(&data);
	for (unsigned v = 0; v < MAPPING_VALUES; v++) {
		snprintf(name, sizeof name, "class%u", v);
		add_values(&data, memory, v, name);
	}
	if (heap)
		add_values(&data, heap, HEAP_LIVE_BYTES, "heap");
	inspect_heap_write(&data, p);
	inspect_maps_write(&data, p);
	return packed_write(&data, h, "data");
}

static void add_page(struct markup *h, const struct inspect_page *p, const struct classes *memory,
		     const struct classes *heap)
{
	markup_begin(h, "header");
	inspect_header_write(h, p);
	markup_end(h);
	markup_begin(h, "main");
	inspect_answer_write(h, p, memory, heap);
	markup_begin(h, "div");
	markup_attr(h, "id", "inspection");
	markup_begin(h, "noscript");
	markup_leaf(h, "p", NULL, "The charts and tables need JavaScript.");
	markup_end(h);
	markup_end(h);
	markup_end(h);
}

int inspect_page_write(struct buf *out, const struct inspect_page *p, const struct classes *memory,
		       const struct classes *heap, const struct html_site *site)
{
	struct buf head = BUF_PART_OF(out), title = BUF_PART_OF(out);
	struct markup h;
	int r;

	buf_addf(&title, "Memory of %s %d", p->in->program, p->in->pid);
	html_document(&h, out, buf_str(&title), site);
	html_more_style(&h, "inspect", page_inspect_css);
	add_page(&h, p, memory, heap);
	add_head(&head, p, memory, heap);
	if (!buf_error(&head))
		html_json(&h, "head", &head);
	r = add_data(&h, p, memory, heap);
	html_script(&h, "inspect", page_inspect_js);
	html_document_end(&h);
	buf_release(&head);
	buf_release(&title);
	return r ? r : buf_error(out);
}
