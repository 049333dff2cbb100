/* SPDX-License-Identifier: MIT */
#include "cli/numberlines.h"

#include "base/array.h"
#include "base/cursor.h"
#include "convert/infile.h"
#include "convert/json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The numbers of a line, one list behind the other. */
struct numbers {
	double *value;
	size_t n;
};

struct place {
	const char *path;
	unsigned line;
	struct error *err;
};

static int add_number(struct numbers *numbers, double number)
{
	double *value = array_grow(numbers->value, numbers->n, sizeof *value);

	if (!value)
		return -ENOMEM;
	numbers->value = value;
	value[numbers->n++] = number;
	return 0;
}

static int take_list(struct numbers *numbers, const struct json_value *object, const char *name,
		     const struct place *at)
{
	const struct json_value *list = json_member(object, name);
	int r = 0;

	if (!list || list->type != JSON_LIST)
		return error_set(at->err, -EINVAL, at->path, at->line, 0,
				 "no list \"%s\"", name);
	for (const struct json_value *v = list->first; v && !r; v = v->next) {
		double number = NAN;

		if (v->type != JSON_NULL && !json_double(v, &number))
			return error_set(at->err, -EINVAL, at->path, at->line, 0,
					 "\"%s\" has an item that is not a number", name);
		r = add_number(numbers, number);
	}
	return r ? error_sys(at->err, r, at->path, NULL) : 0;
}

static int take_id(struct line_id *id, const struct json_value *object, const struct place *at)
{
	const struct json_value *value = json_member(object, "id");

	if (!value || (value->type != JSON_TEXT && value->type != JSON_NUMBER))
		return error_set(at->err, -EINVAL, at->path, at->line, 0, "no \"id\"");
	*id = (struct line_id){ .text = value->text, .len = value->len };
	id->is_number = value->type == JSON_NUMBER &&
			cursor_slice_i64((struct slice){ value->text, value->len }, &id->number);
	return 0;
}

static int take_lists(struct numberline *line, struct numbers *numbers, const char *const *name,
		      const struct json_value *object, const struct place *at)
{
	size_t before = 0, at_list = 0;

	numbers->n = 0;
	for (size_t i = 0; name[i]; i++) {
		int r = take_list(numbers, object, name[i], at);

		if (r)
			return r;
		line->list[i].n = numbers->n - before;
		before = numbers->n;
	}
	for (size_t i = 0; name[i]; at_list += line->list[i++].n)
		line->list[i].value = numbers->value + at_list;
	return 0;
}

static bool is_blank(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr(" \t\r", text.p[i]) || !text.p[i])
			return false;
	}
	return true;
}

struct reading {
	const char *const *name;
	int (*each)(void *context, const struct numberline *line);
	void *context;
	struct numbers numbers;
};

static int read_line(struct reading *reading, struct slice text, const struct place *at)
{
	struct numberline line = { 0 };
	struct json_document doc;
	int r = json_read_text(&doc, text.p, text.len, at->path, at->line, at->err);

	if (r)
		return r;
	r = take_id(&line.id, doc.root, at);
	if (!r)
		r = take_lists(&line, &reading->numbers, reading->name, doc.root, at);
	if (!r && (r = reading->each(reading->context, &line)))
		error_sys(at->err, r, at->path, NULL);
	json_document_release(&doc);
	return r;
}

int numberlines_read(const char *path, const char *const *name,
		     int (*each)(void *context, const struct numberline *line), void *context,
		     struct error *err)
{
	struct reading reading = { .name = name, .each = each, .context = context };
	struct buf text = BUF_INIT;
	struct slice line;
	struct cursor c;
	bool complete;
	int r = infile_read(&text, path, err);

	cursor_init(&c, buf_str(&text), r ? 0 : text.len);
	while (!r && cursor_line(&c, &line, &complete)) {
		struct place at = { path, c.line, err };

		if (!is_blank(line))
			r = read_line(&reading, line, &at);
	}
	free(reading.numbers.value);
	buf_release(&text);
	return r;
}
