/* SPDX-License-Identifier: MIT */
#include "tests/made_values.h"

#include "base/arena.h"
#include "base/cursor.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char *kept(struct values *f, struct slice s)
{
	const char *text = arena_text(f->texts, s.p, s.len);

	ck_assert_ptr_nonnull(text);
	return text;
}

static int64_t number(struct slice s)
{
	int64_t n;

	ck_assert_msg(cursor_slice_i64(s, &n), "%.*s is no number", (int)s.len, s.p);
	return n;
}

static void add_column(struct values *f, struct slice key, int64_t value)
{
	int c = 0;

	while (c < COLUMNS && !slice_is(key, metric_column_name[c]))
		c++;
	ck_assert_msg(c < COLUMNS, "%.*s is no column", (int)key.len, key.p);
	if (!f->column[c]) {
		f->column[c] = malloc(1000 * sizeof **f->column);
		ck_assert_ptr_nonnull(f->column[c]);
		memset(f->column[c], 0xff, 1000 * sizeof **f->column);
	}
	f->column[c][f->n_tasks - 1] = value;
}

static void add_total(struct values *f, struct slice key, int64_t value)
{
	int t = 0;

	while (t < TOTALS && !slice_is(key, metric_total_info[t].name))
		t++;
	ck_assert_msg(t < TOTALS, "%.*s is no total", (int)key.len, key.p);
	f->total[t] = value;
}

static void add_task(struct values *f, struct cursor *line)
{
	struct slice name, kind, key, value;

	ck_assert(f->n_tasks < 1000 && cursor_until(line, '|', &name));
	ck_assert(cursor_until(line, '|', &kind));
	f->task = realloc(f->task, ++f->n_tasks * sizeof *f->task);
	f->task[f->n_tasks - 1] = (struct values_task){ kept(f, name), kept(f, kind) };
	ck_assert(f->n_tasks < 2 || strcmp(f->task[f->n_tasks - 2].name,
					   f->task[f->n_tasks - 1].name) < 0);
	while (cursor_until(line, '=', &key)) {
		ck_assert(cursor_until(line, ' ', &value));
		add_column(f, key, number(value));
	}
}

static void add_line(struct values *f, struct slice text)
{
	struct slice key, value;
	struct cursor line;

	cursor_init(&line, text.p, text.len);
	if (!strchr("!@+", *text.p)) {
		add_task(f, &line);
		return;
	}
	line.p++;
	ck_assert(cursor_until(&line, '=', &key));
	value = (struct slice){ line.p, (size_t)(line.end - line.p) };
	if (*text.p == '+') {
		add_total(f, key, number(value));
	} else if (*text.p == '!') {
		f->fact = realloc(f->fact, (f->n_facts + 1) * sizeof *f->fact);
		f->fact[f->n_facts++] = (struct values_fact){ kept(f, key), kept(f, value) };
	} else {
		f->package = realloc(f->package, (f->n_packages + 1) * sizeof *f->package);
		f->package[f->n_packages++] = (struct values_package){ kept(f, key),
									 kept(f, value) };
	}
}

void made_values(struct values *f, const char *text)
{
	struct slice line;
	struct cursor c;
	bool complete;

	*f = (struct values){ .texts = arena_new(), .path = "made", .start_s = -1 };
	ck_assert_ptr_nonnull(f->texts);
	for (int t = 0; t < TOTALS; t++)
		f->total[t] = -1;
	cursor_init(&c, text, strlen(text));
	while (cursor_line(&c, &line, &complete))
		add_line(f, line);
}
