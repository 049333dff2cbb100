/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "base/sort.h"
#include "convert/zstd.h"
#include "live/api_parts.h"
#include "live/log_lines.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "report/log_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* /api/v1/log: lines of the build's output, a page at a time; /api/v1/log/tasks: the tasks that wrote them. */

#define LINES_MAX 2000
#define TEXT_MAX ((size_t)4 << 20)	/* of a reply: longer lines make it shorter */
#define ESCAPE_MAX 24			/* bytes of a colour's escape sequence */

struct page {
	struct json j;
	const struct recording *rec;
	const struct build_output *kept;
	struct log_lines *lines;
	bool of_task;
	uint32_t task;		/* NO_INDEX: lines of no known task */
	int64_t from, count;	/* in the lines that fit */
	enum log_escapes escapes;
	int64_t width;		/* bytes of a line that are shown, 0: all, in parts */
	size_t text_size;
	struct buf text, plain;
};

/* What is kept of a recording. */
struct log_kept {
	struct build_output output;
	struct log_lines lines;
	struct log_writers {
		uint32_t *task;		/* failed ones first, then by their first lines */
		uint64_t *lines, *first;	/* of each task of the recording: lines, the first of them */
		size_t n, n_failed;
	} writers;
};

static void release(void *value)
{
	struct log_kept *k = value;

	free_all(k->writers.task, k->writers.lines, k->writers.first);
	log_lines_release(&k->lines);
	build_output_release(&k->output);
	free(k);
}

static int log_kept(struct source *s, struct log_kept **kept, struct error *err)
{
	struct source_kept *to = &s->kept[SOURCE_KEEPS_OUTPUT];
	struct log_kept *k = to->value;
	int r = k ? 0 : source_need(s, SOURCE_SUMMARY, err);

	*kept = k;
	if (k || r)
		return r;
	k = calloc(1, sizeof *k);
	if (!k)
		return error_sys(err, -ENOMEM, s->id, NULL);
	r = build_output_read(&k->output, &s->summary, &zstd_codec, err);
	if (r) {
		release(k);
		return r;
	}
	k->lines.output = k->output.output;
	*to = (struct source_kept){ k, release };
	*kept = k;
	return 0;
}

bool api_log_is_recorded(const struct source *s)
{
	struct output *output = NULL;
	struct error ignored;
	char path[PATH_MAX];

	if (!source_directory(s, path) || output_open(&output, path, &zstd_codec, &ignored))
		return false;
	output_close(output);
	return true;
}

int api_log_output(struct source *s, struct build_output **output, struct error *err)
{
	struct log_kept *k;
	int r = log_kept(s, &k, err);

	*output = r ? NULL : &k->output;
	return r;
}

/* Shortened between characters and escape sequences. */
static bool shorten(struct buf *text, size_t width)
{
	size_t n = width, from;
	const char *escape;

	if (!width || text->len <= width)
		return false;
	while (n && ((unsigned char)text->data[n] & 0xc0) == 0x80)
		n--;
	from = n > ESCAPE_MAX ? n - ESCAPE_MAX : 0;
	escape = memrchr(text->data + from, '\033', n - from);
	if (escape && !memchr(escape, 'm', (size_t)(text->data + n - escape)))
		n = (size_t)(escape - text->data);
	buf_cut(text, n);
	return true;
}

static void add_line(struct page *p, const struct output_line *line, uint32_t task)
{
	struct message_found m;
	bool short_of;

	buf_clear(&p->text);
	log_add_text(&p->text, line->text, p->escapes);
	short_of = shorten(&p->text, (size_t)p->width);
	json_object(&p->j, NULL);
	json_int(&p->j, "line", (int64_t)line->number + 1);
	json_known(&p->j, "time_us", line->first_us);
	json_str(&p->j, "stream", line->stream == OUTPUT_STDOUT ? "stdout" :
		 line->stream == OUTPUT_STDERR ? "stderr" : "both");
	task_json_ref(&p->j, "task", p->rec, task);
	if (line->begins && first_error_line(p->rec, task, line->text, &p->plain, &m))
		json_str(&p->j, "is", message_word[m.is]);
	json_strn(&p->j, "text", buf_str(&p->text), p->text.len);
	json_bool(&p->j, "continues", short_of || !line->ends);
	json_object_end(&p->j);
	p->text_size += p->text.len;
}

static uint32_t task_of(const struct page *p, uint64_t line, size_t *at)
{
	const struct output_tasks *t = &p->kept->tasks;

	return line < t->n_lines ? output_task_of(t, line, at) : NO_INDEX;
}

/* The lines of the selection from number p->from on, at most p->count of them. */
static int add_lines(struct page *p)
{
	const struct log_selection *s = &p->lines->selection;
	size_t i = log_lines_find(p->lines, (uint64_t)p->from), at = 0;
	uint64_t left = (uint64_t)p->count, next = UINT64_MAX, skip;
	struct output_line line;
	int r = 0;

	for (; i < s->n_ranges && left && p->text_size < TEXT_MAX; i++) {
		const struct log_range *of = &s->range[i];
		uint64_t first, end;

		skip = (uint64_t)p->from > of->before ? (uint64_t)p->from - of->before : 0;
		first = of->line + skip;
		end = of->line + of->n;
		end = end - first > left ? first + left : end;
		left -= end - first;
		log_lines_go(p->lines, next, first);
		next = UINT64_MAX;
		/* parts of a long line can come behind the next line */
		while (p->text_size < TEXT_MAX && (r = output_next(p->lines->output, &line, true)) > 0 &&
		       line.number < end) {
			if (line.number >= first && (line.begins || !p->width))
				add_line(p, &line, task_of(p, line.number, &at));
			if (line.number + 1 == end && line.ends) {
				next = end;
				break;
			}
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Lines that may be of other tasks. */
static void add_nearby(struct page *p)
{
	const struct output_nearby *near = !p->of_task || p->task == NO_INDEX ? NULL :
		output_nearby_of(&p->kept->nearby, p->task);

	json_array(&p->j, "while_ran");
	for (size_t i = 0; near && i < near->n; i++) {
		const struct output_nearby_line *l = &near->line[i];

		buf_clear(&p->text);
		log_add_text(&p->text, (struct slice){ l->text.data, l->text.len }, LOG_PLAIN);
		json_object(&p->j, NULL);
		json_int(&p->j, "line", (int64_t)l->number + 1);
		json_strn(&p->j, "text", buf_str(&p->text), p->text.len);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
}

static int make_page(struct page *p)
{
	int r = 0;

	json_object(&p->j, NULL);
	json_bool(&p->j, "recorded", p->lines->output);
	json_array(&p->j, "lines");
	if (p->lines->output)
		r = add_lines(p);
	json_array_end(&p->j);
	add_nearby(p);
	json_int(&p->j, "from", p->from);
	json_int(&p->j, "n_lines", (int64_t)p->lines->selection.n);
	json_int(&p->j, "n_with_task", (int64_t)p->kept->tasks.n_known);
	json_object_end(&p->j);
	return r;
}

/* What is written while the build runs is read at once, also if its tasks are not yet known. */
static int prepare(struct log_kept **kept, struct source *s, struct error *err)
{
	struct log_kept *k;
	int r = log_kept(s, kept, err);

	if (r)
		return r;
	k = *kept;
	r = log_lines_update(&k->lines, !s->running);
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

static int find_selection(struct page *p, struct source *s, const struct query *q, struct error *err)
{
	const char *task = query_text(q, "task"), *filter = query_text(q, "filter");
	int r = 0;

	p->of_task = task;
	p->task = NO_INDEX;
	if (task && strcmp(task, "-") != 0)
		r = source_task(s, task, &p->task, err);
	if (r)
		return r;
	r = log_lines_select(p->lines, &p->kept->tasks, p->of_task, p->task, filter && *filter ? filter : NULL);
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

static int log_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct source *s = q->source;
	struct page p = { .rec = &s->recording, .text = BUF_INIT, .plain = BUF_INIT,
			  .escapes = query_flag(q->query, "colours") ? LOG_COLOURS : LOG_PLAIN };
	struct log_kept *kept;
	int r = query_number(q->query, "from", 0, INT64_MAX / 2, 0, &p.from, err);

	if (!r)
		r = query_number(q->query, "count", 1, LINES_MAX, 200, &p.count, err);
	if (!r)
		r = query_number(q->query, "width", 1, OUTPUT_PART_MAX, 0, &p.width, err);
	if (!r)
		r = prepare(&kept, s, err);
	if (r)
		return r;
	p.kept = &kept->output;
	p.lines = &kept->lines;
	r = find_selection(&p, s, q->query, err);
	if (r)
		return r;
	json_init(&p.j, &out->body, true);
	r = make_page(&p);
	if (!r)
		r = buf_error(&p.text);
	buf_release(&p.text);
	buf_release(&p.plain);
	out->keep = !s->running;
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

/* The tasks that wrote lines */

static int count_lines(struct log_kept *k, size_t n_tasks)
{
	const struct output_tasks *t = &k->output.tasks;
	struct log_writers *w = &k->writers;

	w->lines = array_new_zero(n_tasks, sizeof *w->lines);
	w->first = array_new_zero(n_tasks, sizeof *w->first);
	w->task = array_new_zero(n_tasks, sizeof *w->task);
	if (!w->lines || !w->first || !w->task)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_runs; i++) {
		uint64_t end = i + 1 < t->n_runs ? t->run[i + 1].first_line : t->n_lines;
		uint32_t task = t->run[i].task;

		if (task == NO_INDEX || end <= t->run[i].first_line)
			continue;
		if (!w->lines[task])
			w->first[task] = t->run[i].first_line;
		w->lines[task] += end - t->run[i].first_line;
	}
	return 0;
}

/* The one of the build's first error, then failed ones as they ended; those that run a build tool after
 * these, as another task failed in them. */
static uint64_t order_of(const struct log_kept *k, const struct task *t, uint32_t task)
{
	const struct first_error *e = first_error_of_build(&k->output.errors);
	uint64_t group = (uint64_t)1 << 60;

	if (e && e->task == task)
		return 0;
	if (task_has_failed(t))
		return group * (t->hosts ? 2 : 1) + (uint64_t)(t->end_us < 0 ? 0 : t->end_us);
	return group * 3 + k->writers.first[task];
}

static int find_writers(struct log_kept *k, const struct recording *rec)
{
	struct log_writers *w = &k->writers;
	struct keyed *order;
	int r = w->task ? 0 : count_lines(k, rec->n_tasks);

	if (r || w->n)
		return r;
	order = array_new(rec->n_tasks, sizeof *order);
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		bool failed = task_has_failed(&rec->task[i]);

		if (!w->lines[i] && !failed)
			continue;
		w->n_failed += failed;
		order[w->n++] = (struct keyed){ order_of(k, &rec->task[i], i), i };
	}
	r = sort_keyed(order, w->n);
	for (size_t i = 0; i < w->n; i++)
		w->task[i] = (uint32_t)order[i].value;
	free(order);
	return r;
}

static void add_writer(struct json *j, const struct source *s, const struct log_kept *k, uint32_t task)
{
	const struct first_error *e = first_error_of(&k->output.errors, task);

	json_object(j, NULL);
	task_json_task(j, &s->recording, task, s->running);
	json_int(j, "n_lines", (int64_t)k->writers.lines[task]);
	json_known(j, "first_line", k->writers.lines[task] ? (int64_t)k->writers.first[task] + 1 : -1);
	json_known(j, "error_line", e && e->how != FIRST_ERROR_NONE ? (int64_t)e->line + 1 : -1);
	json_object_end(j);
}

/* Where the messages of failed tasks are, that of the build first. */
static void add_errors(struct json *j, const struct first_errors *f)
{
	const struct first_error *whole = first_error_of_build(f);

	json_array(j, "error_lines");
	if (whole)
		json_int(j, NULL, (int64_t)whole->line + 1);
	for (size_t i = 0; i < f->n; i++) {
		if (&f->of[i] != whole && f->of[i].how != FIRST_ERROR_NONE)
			json_int(j, NULL, (int64_t)f->of[i].line + 1);
	}
	json_array_end(j);
}

static int tasks_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct source *s = q->source;
	struct log_kept *k;
	int64_t from, count;
	struct json j;
	int r = query_number(q->query, "from", 0, INT64_MAX / 2, 0, &from, err);

	if (!r)
		r = query_number(q->query, "count", 1, LINES_MAX, 200, &count, err);
	if (!r)
		r = prepare(&k, s, err);
	if (r)
		return r;
	r = find_writers(k, &s->recording);
	if (r)
		return error_sys(err, r, s->id, NULL);
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "recorded", k->lines.output);
	json_bool(&j, "is_running", s->running);
	json_array(&j, "tasks");
	for (size_t i = (size_t)from; i < k->writers.n && i < (size_t)(from + count); i++)
		add_writer(&j, s, k, k->writers.task[i]);
	json_array_end(&j);
	json_int(&j, "from", from);
	json_int(&j, "n_tasks", (int64_t)k->writers.n);
	json_int(&j, "n_failed", (int64_t)k->writers.n_failed);
	json_int(&j, "n_lines", (int64_t)k->lines.n);
	json_int(&j, "n_with_task", (int64_t)k->output.tasks.n_known);
	add_errors(&j, &k->output.errors);
	json_object_end(&j);
	out->keep = !s->running;
	return 0;
}

const struct route api_log_routes[] = {
	{ "/api/v1/log", "rec, task, filter, from, count, width, colours",
	  "Lines of the build's output, with the task of each.", log_reply },
	{ "/api/v1/log/tasks", "rec, from, count",
	  "The tasks that wrote lines of the build's output, failed ones first.", tasks_reply },
	{ 0 }
};
