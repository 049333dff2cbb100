/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "convert/zstd.h"
#include "live/api_parts.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "report/log_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* /api/log: lines of the build's output, a page at a time. */

#define LINES_MAX 2000
#define TEXT_MAX ((size_t)4 << 20)	/* of a reply: longer lines make it shorter */

struct page {
	struct json j;
	const struct recording *rec;
	const struct api_output *kept;
	uint32_t task;		/* NO_INDEX: lines of any, or of none */
	const char *filter;	/* NULL: any */
	int64_t from, count;	/* in the lines that fit */
	int64_t n_fit;
	bool shown;		/* the line, of which parts follow */
	size_t text_size;
	struct buf text;
};

static void release(void *value)
{
	struct api_output *k = value;

	output_nearby_release(&k->nearby);
	output_tasks_release(&k->tasks);
	output_close(k->output);
	free(k);
}

int api_log_output(struct source *s, struct api_output **output, struct error *err)
{
	struct source_kept *to = &s->kept[SOURCE_KEEPS_OUTPUT];
	struct api_output *k;
	int r = 0;

	*output = to->value;
	if (*output)
		return 0;
	k = calloc(1, sizeof *k);
	if (!k)
		return error_sys(err, -ENOMEM, s->id, NULL);
	if (s->recording.path)
		r = output_open(&k->output, s->recording.path, &zstd_codec, err);
	if (r == -ENOENT)
		r = 0;
	else if (!r && k->output && ((r = output_find_tasks(&k->tasks, k->output, &s->recording)) ||
				   (r = output_nearby_find(&k->nearby, k->output, &k->tasks,
							   &s->recording))))
		error_sys(err, r, s->id, NULL);
	if (r) {
		release(k);
		return r;
	}
	*to = (struct source_kept){ k, release };
	*output = k;
	return 0;
}

static void add_line(struct page *p, const struct output_line *line, uint32_t task)
{
	buf_clear(&p->text);
	log_add_text(&p->text, line->text, LOG_PLAIN);
	json_object(&p->j, NULL);
	json_int(&p->j, "line", (int64_t)line->number + 1);
	json_known(&p->j, "time_us", line->first_us);
	json_str(&p->j, "stream", line->stream == OUTPUT_STDOUT ? "stdout" :
		 line->stream == OUTPUT_STDERR ? "stderr" : "both");
	task_json_ref(&p->j, "task", p->rec, task);
	json_strn(&p->j, "text", buf_str(&p->text), p->text.len);
	json_bool(&p->j, "continues", !line->ends);
	json_object_end(&p->j);
	p->text_size += p->text.len;
}

/* The filter sees the text as it is shown. */
static bool fits_page(struct page *p, const struct output_line *line, uint32_t task)
{
	if (p->task != NO_INDEX && task != p->task)
		return false;
	if (!p->filter)
		return true;
	buf_clear(&p->text);
	log_add_text(&p->text, line->text, LOG_PLAIN);
	return strcasestr(buf_str(&p->text), p->filter);
}

static int add_lines(struct page *p)
{
	struct output_line line;
	bool all = p->task == NO_INDEX && !p->filter;
	uint64_t last = p->task == NO_INDEX ? UINT64_MAX : 0;
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; p->task != NO_INDEX && i < p->kept->tasks.n_runs; i++) {
		if (p->kept->tasks.run[i].task == p->task)
			last = i + 1 < p->kept->tasks.n_runs ?
			       p->kept->tasks.run[i + 1].first_line : UINT64_MAX;
	}
	output_rewind(p->kept->output);
	while ((r = output_next(p->kept->output, &line, true)) > 0 && line.number < last) {
		uint32_t task = output_task_of(&p->kept->tasks, line.number, &at);

		if (line.begins) {
			bool fit = fits_page(p, &line, task);

			p->shown = fit && p->n_fit >= p->from && p->n_fit < p->from + p->count &&
				   p->text_size < TEXT_MAX;
			p->n_fit += fit;
		}
		if (p->shown && p->text_size < TEXT_MAX)
			add_line(p, &line, task);
		if (all && p->n_fit > p->from + p->count)
			break;	/* how many follow is known */
	}
	return r < 0 ? r : 0;
}

/* Lines that may be of other tasks. */
static void add_nearby(struct page *p)
{
	const struct output_nearby *near = p->task == NO_INDEX ? NULL :
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

static int log_lines(struct page *p)
{
	const struct output_tasks *t = &p->kept->tasks;
	bool all = p->task == NO_INDEX && !p->filter;
	int r = 0;

	json_object(&p->j, NULL);
	json_bool(&p->j, "recorded", p->kept->output);
	json_array(&p->j, "lines");
	if (p->kept->output)
		r = add_lines(p);
	json_array_end(&p->j);
	add_nearby(p);
	json_int(&p->j, "from", p->from);
	json_int(&p->j, "n_lines", all ? (int64_t)t->n_lines : p->n_fit);
	json_int(&p->j, "n_with_task", (int64_t)t->n_known);
	json_object_end(&p->j);
	return r;
}

static int log_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct source *s = q->source;
	const char *task = query_text(q->query, "task");
	struct api_output *output;
	struct page p = { .rec = &s->recording, .task = NO_INDEX,
			  .filter = query_text(q->query, "filter"), .text = BUF_INIT };
	int r = query_number(q->query, "from", 0, INT64_MAX / 2, 0, &p.from, err);

	if (!r)
		r = query_number(q->query, "count", 1, LINES_MAX, 200, &p.count, err);
	if (!r)
		r = source_need(s, SOURCE_RECORDING, err);
	if (!r && task)
		r = source_task(s, task, &p.task, err);
	if (!r)
		r = api_log_output(s, &output, err);
	if (r)
		return r;
	if (p.filter && !*p.filter)
		p.filter = NULL;
	p.kept = output;
	json_init(&p.j, &out->body, true);
	r = log_lines(&p);
	if (!r)
		r = buf_error(&p.text);
	buf_release(&p.text);
	out->keep = true;
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

const struct route api_log_routes[] = {
	{ "/api/log", "rec, task, filter, from, count",
	  "Lines of the build's output, with the task of each.", log_reply },
	{ 0 }
};
