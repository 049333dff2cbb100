/* SPDX-License-Identifier: MIT */
#include "report/profile_page.h"

#include "base/array.h"
#include "report/html.h"
#include "report/packed.h"
#include "report/page_static.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* One snapshot */

#define LOW_BITS 31

/* Numbers at a distance of `stride` bytes; plus 1, so that -1 is 0. The upper bits are a column of
 * their own, which usually has only zeros. Times of tasks are whole microseconds. */
static void add_numbers(struct packed *s, const char *name, unsigned number, const void *first,
			size_t n, size_t stride)
{
	const char *p = first;
	struct pack_column low, high;
	int64_t unit = 1000;
	char word[16];

	for (size_t i = 0; i < n && unit > 1; i++) {
		int64_t v = *(const int64_t *)(const void *)(p + i * stride);

		unit = v > 0 && v % unit ? 1 : unit;
	}
	pack_column_init(&low, 'u');
	pack_column_init(&high, 'u');
	for (size_t i = 0; i < n; i++) {
		int64_t v = *(const int64_t *)(const void *)(p + i * stride);
		uint64_t coded = v < 0 ? 0 : (uint64_t)(v / unit) + 1;

		pack_column_add(&low, (uint32_t)(coded & ((1u << LOW_BITS) - 1)));
		pack_column_add(&high, (uint32_t)(coded >> LOW_BITS & UINT32_MAX >> 1));
	}
	snprintf(word, sizeof word, "%s%u", name, number);
	packed_column(s, &low, word, (double)unit);
	snprintf(word, sizeof word, "%s%uh", name, number);
	packed_column(s, &high, word, (double)unit);
}

/* Small numbers of a row, each plus 1: NO_INDEX is 0. */
static void add_small(struct packed *s, const char *name, unsigned number, const struct profile *p,
		      size_t offset)
{
	struct pack_column c;
	char word[16];

	pack_column_init(&c, 'u');
	for (size_t i = 0; i < p->n_rows; i++) {
		const char *row = (const char *)&p->row[i];

		pack_column_add(&c, *(const uint32_t *)(const void *)(row + offset) + 1);
	}
	snprintf(word, sizeof word, "%s%u", name, number);
	packed_column(s, &c, word, 1);
}

static void add_keys(struct packed *s, const struct profile *p)
{
	char word[16];

	for (unsigned k = 0; k < PROFILE_KEYS; k++) {
		struct pack_column c;

		pack_column_init(&c, 'd');
		for (size_t i = 0; i < p->n_rows; i++)
			pack_column_adds(&c, (int32_t)p->row[i].key[k]);
		snprintf(word, sizeof word, "key%u", k);
		packed_column(s, &c, word, 1);
	}
}

/* A row with one run needs no list: its sum is the value. */
static bool needs_list(const struct profile *p, const struct profile_row *row, unsigned which)
{
	const struct profile_value *value = p->value[which] + row->first[which];

	return row->n[which] > 1 || (row->n[which] && (value->n != 1 ||
	       value->value != row->sum[which ? PROFILE_QUEUE : PROFILE_RUN]));
}

static void add_values(struct packed *s, const struct profile *p, unsigned which)
{
	struct profile_value *value = array_new(p->n_values[which], sizeof *value);
	struct pack_column c;
	char word[16];
	size_t n = 0;

	pack_column_init(&c, 'u');
	if (!value)
		s->r = -ENOMEM;
	for (size_t i = 0; i < p->n_rows; i++)
		pack_column_add(&c, p->row[i].n[which] + needs_list(p, &p->row[i], which));
	snprintf(word, sizeof word, "n%u", which);
	packed_column(s, &c, word, 1);
	for (size_t i = 0; value && i < p->n_rows; i++) {
		const struct profile_row *row = &p->row[i];

		for (uint32_t k = 0; k < row->n[which] && needs_list(p, row, which); k++)
			value[n++] = p->value[which][row->first[which] + k];
	}
	add_numbers(s, "value", which, value ? &value->value : NULL, n, sizeof *value);
	add_numbers(s, "times", which, value ? &value->n : NULL, n, sizeof *value);
	free(value);
}

static int add_snapshot(struct markup *h, const struct profile *p, size_t number)
{
	const struct profile_row *row = p->row;
	struct buf texts = BUF_INIT;
	struct packed s;
	char id[32];

	packed_init(&s);
	json_int(&s.head, "rows", (int64_t)p->n_rows);
	packed_columns(&s);
	add_keys(&s, p);
	for (unsigned k = 0; k < PROFILE_SUMS; k++)
		add_numbers(&s, "sum", k, p->n_rows ? &row->sum[k] : NULL, p->n_rows, sizeof *row);
	for (unsigned k = 0; k < PROFILE_MAXES; k++)
		add_numbers(&s, "max", k, p->n_rows ? &row->max[k] : NULL, p->n_rows, sizeof *row);
	for (unsigned k = 0; k < PROFILE_TIMES; k++)
		add_numbers(&s, "sample", k, p->n_rows ? &row->sample[k] : NULL, p->n_rows,
			    sizeof *row);
	for (unsigned k = 0; k < PROFILE_OWN_UNITS; k++)
		add_small(&s, "unit", k, p, offsetof(struct profile_row, unit) + k * sizeof *row->unit);
	add_small(&s, "known", 0, p, offsetof(struct profile_row, known));
	for (unsigned k = 0; k < PROFILE_VALUES; k++)
		add_numbers(&s, "task", k, p->n_rows ? &row->value[k] : NULL, p->n_rows, sizeof *row);
	for (unsigned k = 0; k < PROFILE_TIMES; k++)
		add_values(&s, p, k);
	for (size_t i = 0; i < p->text.n; i++)
		pack_text(&texts, p->text.name[i].p, PACKED_TEXT_MAX);
	packed_texts(&s, "text", &texts);
	snprintf(id, sizeof id, "data-%zu", number);
	return packed_write(&s, h, id);
}

/* The page */

static void add_columns(struct json *j, const char *name, const struct profile_list *l)
{
	json_array(j, name);
	for (size_t i = 0; i < l->n; i++)
		json_str(j, NULL, profile_column_word[l->column[i]]);
	json_array_end(j);
}

static void add_head(struct buf *out, const struct profile_page *page)
{
	static const char *const units[] = {
		"text", "count", "ns", "bytes", "run", "amount"
	};
	struct json j;

	json_init(&j, out, true);
	json_object(&j, NULL);
	json_array(&j, "columns");
	for (int c = 0; c < PROFILE_COLUMNS; c++) {
		json_array(&j, NULL);
		json_str(&j, NULL, profile_column_word[c]);
		json_str(&j, NULL, profile_column(c).title);
		json_str(&j, NULL, units[profile_column(c).unit]);
		if (c >= PROFILE_C_VALUES) {
			json_int(&j, NULL, VALUE_CPU + c - PROFILE_C_VALUES);
			json_bool(&j, NULL, value_info[VALUE_CPU + c - PROFILE_C_VALUES].joined != VALUE_SUM);
			json_int(&j, NULL, value_info[VALUE_CPU + c - PROFILE_C_VALUES].sampled);
		}
		json_array_end(&j);
	}
	json_array_end(&j);
	json_int(&j, "amount", VALUES);		/* a bit of `known`; cost_bounds() follows it */
	json_array(&j, "snapshots");
	for (size_t i = 0; i < page->n_snapshots; i++) {
		json_object(&j, NULL);
		json_str(&j, "title", page->snapshot[i].title);
		json_real(&j, "seconds", page->snapshot[i].profile->seconds, 3);
		json_int(&j, "lost", page->snapshot[i].profile->n_lost);
		json_int(&j, "unfinished", (int64_t)page->snapshot[i].profile->n_unfinished);
		json_int(&j, "incomplete", (int64_t)page->snapshot[i].profile->n_incomplete);
		json_int(&j, "at_least", (int64_t)page->snapshot[i].profile->n_at_least);
		json_str(&j, "dir", page->snapshot[i].dir);
		json_str(&j, "chart", page->snapshot[i].chart);
		json_str(&j, "log", page->snapshot[i].log);
		json_object_end(&j);
	}
	json_array_end(&j);
	add_columns(&j, "group", &page->wish.group);
	add_columns(&j, "sort", &page->wish.sort);
	json_array(&j, "merged");
	for (int k = 0; k < PROFILE_KEYS; k++) {
		if (page->wish.merged >> k & 1)
			json_str(&j, NULL, profile_column_word[k]);
	}
	json_array_end(&j);
	json_bool(&j, "reverse", page->wish.reverse);
	json_bool(&j, "similar", page->wish.similar);
	json_str(&j, "filter", page->wish.filter ? page->wish.filter : "");
	json_object_end(&j);
}

int profile_page_write(struct buf *out, const struct profile_page *page)
{
	struct buf head = BUF_PART_OF(out);
	struct markup h;
	int r = 0;

	html_document(&h, out, page->title, page->site);
	markup_begin(&h, "header");
	markup_leaf(&h, "h1", NULL, page->title);
	markup_leaf(&h, "p", "facts", "Profile: what ran, for how long, and what it waited for");
	markup_end(&h);
	markup_begin(&h, "main");
	markup_begin(&h, "section");
	markup_attr(&h, "id", "profile");
	markup_begin(&h, "noscript");
	markup_leaf(&h, "p", NULL, "The table needs JavaScript.");
	markup_end(&h);
	markup_end(&h);
	markup_end(&h);
	add_head(&head, page);
	if (!buf_error(&head))
		html_json(&h, "head", &head);
	for (size_t i = 0; !r && i < page->n_snapshots; i++)
		r = add_snapshot(&h, page->snapshot[i].profile, i);
	html_script(&h, "profile", page_profile_js);
	html_document_end(&h);
	buf_release(&head);
	return r ? r : buf_error(out);
}
