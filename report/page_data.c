/* SPDX-License-Identifier: MIT */
#include "report/page_parts.h"

#include "base/array.h"
#include "base/json.h"
#include "render/chart/pack_code.h"
#include "report/words_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 1000
#define KINDS_MAX 255		/* the last one is used for all further ones */
#define BUILD_ID 12
#define VALUE_BYTES 4

struct kinds {
	size_t n;
	const char *kind[KINDS_MAX];
};

struct columns {
	struct kinds kinds;
	size_t names;		/* bytes of all names */
	struct buf deflated;	/* the texts, then the numbers */
	size_t n_texts;		/* bytes of the texts in it */
};

static size_t metric_index(const struct trends *t, enum metric m)
{
	size_t i = 0;

	while (i < t->n_metrics && t->metric[i] != m)
		i++;
	return i;
}

static int64_t row_of(const struct page *p, uint32_t task)
{
	return task < p->builds->n_tasks ? task : task == TASK_TOTAL ? (int64_t)p->builds->n_tasks :
	       -1;
}

static void add_metrics(struct json *j, const struct trends *t)
{
	static const char *const unit[] = {
		[UNIT_US] = "us", [UNIT_KB] = "kb", [UNIT_BYTES] = "bytes",
		[UNIT_COUNT] = "count", [UNIT_STATUS] = "count",
	};

	json_array(j, "metrics");
	for (size_t i = 0; i < t->n_metrics; i++) {
		json_object(j, NULL);
		json_str(j, "name", metric_info[t->metric[i]].name);
		json_str(j, "title", metric_info[t->metric[i]].title);
		json_str(j, "unit", unit[metric_info[t->metric[i]].unit]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_builds(struct json *j, const struct builds *builds)
{
	struct buf text = BUF_PART_OF(j->out);

	json_array(j, "builds");
	for (uint32_t i = 0; i < builds->n; i++) {
		json_array(j, NULL);
		buf_clear(&text);
		words_add_day(&text, builds, i);
		json_str(j, NULL, buf_str(&text));
		json_strn(j, NULL, builds->build[i].id, strnlen(builds->build[i].id, BUILD_ID));
		buf_clear(&text);
		page_add_build_revisions(&text, builds, i);
		json_str(j, NULL, buf_str(&text));
		json_array_end(j);
	}
	json_array_end(j);
	buf_release(&text);
}

/* Begins [metric, row ...] if the page shows the series. */
static bool begin_series(struct json *j, const struct page *p, uint32_t task, enum metric m)
{
	size_t metric = metric_index(p->trends, m);

	if (metric == p->trends->n_metrics || row_of(p, task) < 0)
		return false;
	json_array(j, NULL);
	json_int(j, NULL, (int64_t)metric);
	json_int(j, NULL, row_of(p, task));
	return true;
}

/* [metric, row, at, first, last, before, after, creep] */
static void add_changes(struct json *j, const struct page *p)
{
	const struct history *h = p->history;

	json_array(j, "changes");
	for (size_t i = 0; i < h->n_changes; i++) {
		const struct history_change *c = &h->change[i];

		if (!begin_series(j, p, c->task, c->metric))
			continue;
		json_int(j, NULL, c->change.at);
		json_int(j, NULL, c->change.first);
		json_int(j, NULL, c->change.last);
		json_shortest(j, NULL, c->change.before);
		json_shortest(j, NULL, c->change.after);
		json_bool(j, NULL, c->creep);
		json_array_end(j);
	}
	json_array_end(j);
}

/* [metric, row, state, worse, since, before, now] */
static void add_findings(struct json *j, const struct page *p)
{
	const struct verdict *v = p->verdict;

	json_array(j, "findings");
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (!begin_series(j, p, f->task, f->metric))
			continue;
		json_int(j, NULL, f->state);
		json_bool(j, NULL, f->worse);
		json_int(j, NULL, f->since);
		json_shortest(j, NULL, f->before);
		json_shortest(j, NULL, f->now);
		json_array_end(j);
	}
	json_array_end(j);
}

static void add_head(struct buf *out, const struct page *p, const struct columns *c)
{
	const struct trends *t = p->trends;
	struct json j;

	json_init(&j, out, true);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat report 1");
	json_int(&j, "tasks", (int64_t)p->builds->n_tasks);
	json_int(&j, "names", (int64_t)c->names);
	json_array(&j, "deflated");
	json_int(&j, NULL, (int64_t)c->n_texts);
	json_int(&j, NULL, (int64_t)(c->deflated.len - c->n_texts));
	json_array_end(&j);
	json_int(&j, "bits", t->bits);
	json_int(&j, "fine", (int64_t)t->n_fine);
	json_int(&j, "fine_bits", TRENDS_BITS);
	json_int(&j, "fine_steps", TRENDS_FINE);
	json_int(&j, "octave", t->octave);
	json_int(&j, "even", TRENDS_EVEN);
	json_array(&j, "points");
	for (size_t i = 0; i < t->n_points; i++)
		json_int(&j, NULL, (int64_t)trends_first_build(t, i));
	json_array_end(&j);
	add_metrics(&j, t);
	json_array(&j, "kinds");
	for (size_t i = 0; i < c->kinds.n; i++)
		json_str(&j, NULL, c->kinds.kind[i]);
	json_array_end(&j);
	add_builds(&j, p->builds);
	add_changes(&j, p);
	add_findings(&j, p);
	json_object_end(&j);
}

static size_t kind_index(struct kinds *kinds, const char *kind)
{
	size_t i = 0;

	while (i < kinds->n && strcmp(kinds->kind[i], kind))
		i++;
	if (i < kinds->n)
		return i;
	if (kinds->n == KINDS_MAX)
		return KINDS_MAX - 1;
	kinds->kind[kinds->n++] = kind;
	return i;
}

/* Bytes of the same significance are adjacent, which compresses better. */
static void add_planes(struct buf *out, const uint32_t *v, size_t n)
{
	uint8_t *to;

	if (buf_reserve(out, n * VALUE_BYTES))
		return;
	to = (uint8_t *)out->data + out->len;
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < VALUE_BYTES; k++)
			to[(size_t)k * n + i] = (uint8_t)(v[i] >> (24 - 8 * k));
	}
	out->len += n * VALUE_BYTES;
}

/* `of`: NULL, or values of about the same size, so that the differences are small. work has
 * room for n. */
static void add_codes(struct buf *out, uint32_t *work, const float *v, const float *of, size_t n,
		      unsigned bits)
{
	for (size_t i = 0; i < n; i++) {
		work[i] = trends_code(v[i], bits);
		if (of) {
			work[i] -= trends_code(of[i], bits);
			work[i] = work[i] << 1 ^ (work[i] >> 31 ? UINT32_MAX : 0);
		}
	}
	add_planes(out, work, n);
}

/* Of each name, how many bytes it shares with the name before, then the others. */
static int add_names(struct buf *out, const struct page *p, size_t *n_bytes)
{
	struct buf rest = BUF_PART_OF(out), name[2] = { BUF_PART_OF(out), BUF_PART_OF(out) };

	*n_bytes = 0;
	for (size_t i = 0; i < p->builds->n_tasks; i++) {
		struct buf *now = &name[i % 2], *before = &name[1 - i % 2];
		size_t same = 0;

		buf_clear(now);
		pack_text(now, p->builds->task[i].name, NAME_MAX_BYTES);
		while (same < UINT8_MAX && same < now->len && same < before->len &&
		       now->data[same] == before->data[same])
			same++;
		buf_addc(out, (char)same);
		buf_add(&rest, now->data + same, now->len - same);
		*n_bytes += now->len;
	}
	buf_add(out, rest.data, rest.len);
	buf_release(&rest);
	buf_release(&name[0]);
	buf_release(&name[1]);
	return buf_error(out);
}

static void add_fine(struct buf *out, uint32_t *work, const float *all, const struct trends *t)
{
	for (size_t i = 0; i < t->n_fine; i++)
		work[i] = trends_code(all[t->fine[i]], TRENDS_BITS);
	add_planes(out, work, t->n_fine);
}

static int add_numbers(struct buf *out, const struct trends *t)
{
	uint32_t *work = array_new(t->n_series, sizeof *work);

	if (!work)
		return -ENOMEM;
	add_codes(out, work, t->base, NULL, t->n_series, t->bits);
	add_codes(out, work, t->usual, t->base, t->n_series, t->bits);
	add_codes(out, work, t->newest, t->base, t->n_series, t->bits);
	add_planes(out, t->fine, t->n_fine);
	add_fine(out, work, t->usual, t);
	add_fine(out, work, t->newest, t);
	add_codes(out, work, t->low, NULL, t->n_fine, TRENDS_BITS);
	add_codes(out, work, t->high, NULL, t->n_fine, TRENDS_BITS);
	free(work);
	buf_add(out, t->values, t->n_fine * t->n_builds);
	buf_add(out, t->coarse, t->n_coarse * t->n_points);
	return buf_error(out);
}

static int make_columns(struct columns *c, const struct page *p)
{
	struct buf stream = BUF_INIT;
	int r = add_names(&stream, p, &c->names);

	for (size_t i = 0; i < p->builds->n_tasks; i++)
		buf_addc(&stream, (char)kind_index(&c->kinds, p->builds->task[i].kind));
	if (!r)
		r = pack_deflate(&c->deflated, stream.data, stream.len);
	c->n_texts = c->deflated.len;
	buf_clear(&stream);
	if (!r)
		r = add_numbers(&stream, p->trends);
	if (!r)
		r = pack_deflate_numbers(&c->deflated, stream.data, stream.len);
	buf_release(&stream);
	return r;
}

static int add_packed(struct markup *h, const struct buf *deflated)
{
	int r;

	markup_begin(h, "script");
	markup_attr(h, "type", "application/x-buildbeat");
	markup_attr(h, "id", "columns");
	r = pack_characters(markup_content(h), deflated->data, deflated->len);
	markup_end(h);
	return r;
}

static void add_picture(struct markup *h, const char *id, const struct picture *picture)
{
	if (!picture)
		return;
	markup_begin(h, "script");
	markup_attr(h, "type", "application/x-buildbeat");
	markup_attr(h, "id", id);
	buf_add(markup_content(h), picture->packed.data, picture->packed.len);
	markup_end(h);
}

int page_part_data(struct markup *h, const struct page *p)
{
	struct columns columns = { .deflated = BUF_INIT };
	struct buf head = BUF_INIT;
	int r = make_columns(&columns, p);

	if (!r) {
		add_head(&head, p, &columns);
		r = buf_error(&head);
	}
	if (!r) {
		html_json(h, "head", &head);
		r = add_packed(h, &columns.deflated);
		add_picture(h, "chart-0", p->chart[0].picture);
		add_picture(h, "chart-1", p->chart[1].picture);
	}
	buf_release(&columns.deflated);
	buf_release(&head);
	return r;
}
