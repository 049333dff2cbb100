/* SPDX-License-Identifier: MIT */
#include "cli/numberlines.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "cli/output_file.h"
#include "compare/lines.h"
#include "convert/infile.h"
#include "convert/json_reader.h"
#include "stats/changepoints.h"
#include "stats/samples.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The false discovery rates, and the relative change below which a result is ignored. */
#define DIFF_RATE 0.05
#define HISTORY_RATE 0.01
#define LEAST_EFFECT 0.01

#define LISTS 2

/* A file, and the results of the lines that were read so far. */
struct reading {
	const char *path;
	unsigned line;
	struct error *err;
	const char *name[LISTS];	/* of the lists in a line; NULL: there is none */
	struct {
		double *value;
		size_t n;
	} list[LISTS];			/* of the current line */
	int (*compute)(struct reading *in);	/* adds the result of the current line */

	struct arena *texts;
	struct line_id *id;
	size_t n;
	struct samples *samples;	/* diff: one result per line */
	struct changepoints *detector;
	struct change *change;		/* history: the changes of all lines */
	size_t n_changes;
	size_t *end;			/* history: index behind the last change of a line */
};

/* Reading */

static int no_memory(struct reading *in)
{
	return error_sys(in->err, -ENOMEM, in->path, NULL);
}

static int read_id(struct reading *in, const struct json_value *object)
{
	const struct json_value *value = json_member(object, "id");
	struct line_id *id = array_grow(in->id, in->n, sizeof *id);

	if (!id)
		return no_memory(in);
	in->id = id;
	if (!value || (value->type != JSON_TEXT && value->type != JSON_NUMBER))
		return error_set(in->err, -EINVAL, in->path, in->line, 0, "no \"id\"");
	id += in->n;
	*id = (struct line_id){
		.text = arena_text(in->texts, value->text, value->len), .len = value->len,
	};
	id->is_number = value->type == JSON_NUMBER &&
			cursor_slice_i64((struct slice){ value->text, value->len }, &id->number);
	return id->text ? 0 : no_memory(in);
}

static int read_list(struct reading *in, int k, const struct json_value *object)
{
	const struct json_value *list = json_member(object, in->name[k]);

	if (!list || list->type != JSON_LIST)
		return error_set(in->err, -EINVAL, in->path, in->line, 0, "no list \"%s\"",
				 in->name[k]);
	in->list[k].n = 0;
	for (const struct json_value *v = list->first; v; v = v->next) {
		double *value = array_grow(in->list[k].value, in->list[k].n, sizeof *value);
		double number = NAN;

		if (!value)
			return no_memory(in);
		in->list[k].value = value;
		if (v->type != JSON_NULL && !json_double(v, &number))
			return error_set(in->err, -EINVAL, in->path, in->line, 0,
					 "\"%s\" has an item that is not a number", in->name[k]);
		value[in->list[k].n++] = number;
	}
	return 0;
}

static int read_line(struct reading *in, struct slice text)
{
	struct json_document doc;
	int r = json_read_text(&doc, text.p, text.len, in->path, in->line, in->err);

	if (r)
		return r;
	r = read_id(in, doc.root);
	for (int k = 0; !r && k < LISTS && in->name[k]; k++)
		r = read_list(in, k, doc.root);
	if (!r && (r = in->compute(in)))
		error_sys(in->err, r, in->path, NULL);
	in->n += !r;
	json_document_release(&doc);
	return r;
}

static bool is_blank(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr(" \t\r", text.p[i]) || !text.p[i])
			return false;
	}
	return true;
}

static int read_file(struct reading *in, const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	struct slice line;
	struct cursor c;
	bool complete;
	int r;

	in->path = path;
	in->err = err;
	in->texts = arena_new();
	r = in->texts ? infile_read(&text, path, err) : no_memory(in);
	cursor_init(&c, buf_str(&text), r ? 0 : text.len);
	while (!r && cursor_line(&c, &line, &complete)) {
		in->line = c.line;
		if (!is_blank(line))
			r = read_line(in, line);
	}
	buf_release(&text);
	return r;
}

static void release(struct reading *in)
{
	for (int k = 0; k < LISTS; k++)
		free(in->list[k].value);
	free_all(in->id, in->samples, in->change, in->end);
	arena_free(in->texts);
	changepoints_free(in->detector);
}

/* diff --samples */

static int compare_samples(struct reading *in)
{
	struct samples *samples = array_grow(in->samples, in->n, sizeof *samples);

	if (!samples)
		return -ENOMEM;
	in->samples = samples;
	return samples_compare(&samples[in->n], in->list[0].value, in->list[0].n, in->list[1].value,
			       in->list[1].n);
}

int numberlines_diff(const char *path, struct error *err)
{
	static const struct samples_rules rules = {
		.rate = DIFF_RATE, .least_effect = LEAST_EFFECT,
	};
	struct reading in = { .name = { "base", "new" }, .compute = compare_samples };
	struct buf out = BUF_INIT;
	int r = read_file(&in, path, err);

	if (!r) {
		r = samples_judge(in.samples, in.n, &rules);
		for (size_t i = 0; !r && i < in.n; i++)
			line_samples(&out, &in.id[i], &in.samples[i]);
		r = output_end(&out, r, path, err);
	}
	release(&in);
	return r;
}

/* history --series */

static int find_changes(struct reading *in)
{
	size_t n, *end = array_grow(in->end, in->n, sizeof *end);
	const struct change *list;
	int r;

	if (!end)
		return -ENOMEM;
	in->end = end;
	r = changepoints_find(in->detector, &list, &n, in->list[0].value, in->list[0].n,
			      LEAST_EFFECT);
	for (size_t i = 0; !r && i < n; i++) {
		struct change *added = array_add(&in->change, &in->n_changes, sizeof *added);

		if (!added)
			return -ENOMEM;
		*added = list[i];
	}
	end[in->n] = in->n_changes;
	return r;
}

/* Adjusts for all tests: a series without changes was tested too. */
static int adjust(struct reading *in)
{
	size_t n = 0, first = 0;
	double *p = malloc((in->n + in->n_changes + 1) * sizeof *p);
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_changes; i++)
		p[n++] = in->change[i].p;
	for (size_t i = 0; i < in->n; first = in->end[i++]) {
		if (in->end[i] == first)
			p[n++] = 1;
	}
	r = stats_adjust(p, n);
	for (size_t i = 0; !r && i < in->n_changes; i++)
		in->change[i].p = p[i];
	free(p);
	return r;
}

int numberlines_history(const char *path, struct error *err)
{
	struct reading in = { .name = { "values" }, .compute = find_changes };
	struct buf out = BUF_INIT;
	size_t next = 0;
	int r;

	in.detector = changepoints_new();
	r = in.detector ? read_file(&in, path, err) : error_sys(err, -ENOMEM, path, NULL);
	if (!r) {
		r = adjust(&in);
		for (size_t i = 0; !r && i < in.n; i++) {
			struct change *change = in.change + next;
			size_t n = 0;

			for (; next < in.end[i]; next++) {
				if (in.change[next].p <= HISTORY_RATE)
					change[n++] = in.change[next];
			}
			line_changes(&out, &in.id[i], change, n);
		}
		r = output_end(&out, r, path, err);
	}
	release(&in);
	return r;
}
