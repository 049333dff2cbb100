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
	const struct build_output *kept;
	uint32_t task;		/* NO_INDEX: lines of any, or of none */
	const char *filter;	/* NULL: any */
	int64_t from, count;	/* in the lines that fit */
	int64_t n_fit;
	bool shown;		/* the line, of which parts follow */
	size_t text_size;
	struct buf text, plain;
};

static void release(void *value)
{
	build_output_release(value);
	free(value);
}

int api_log_output(struct source *s, struct build_output **output, struct error *err)
{
	struct source_kept *to = &s->kept[SOURCE_KEEPS_OUTPUT];
	struct build_output *k = to->value;
	int r = k ? 0 : source_need(s, SOURCE_SUMMARY, err);

	*output = k;
	if (k || r)
		return r;
	k = calloc(1, sizeof *k);
	if (!k)
		return error_sys(err, -ENOMEM, s->id, NULL);
	r = build_output_read(k, &s->summary, &zstd_codec, err);
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
	struct message_found m;

	buf_clear(&p->text);
	log_add_text(&p->text, line->text, LOG_PLAIN);
	json_object(&p->j, NULL);
	json_int(&p->j, "line", (int64_t)line->number + 1);
	json_known(&p->j, "time_us", line->first_us);
	json_str(&p->j, "stream", line->stream == OUTPUT_STDOUT ? "stdout" :
		 line->stream == OUTPUT_STDERR ? "stderr" : "both");
	task_json_ref(&p->j, "task", p->rec, task);
	if (line->begins && first_error_line(p->rec, task, line->text, &p->plain, &m))
		json_str(&p->j, "is", message_word[m.is]);
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
	struct build_output *output;
	struct page p = { .rec = &s->recording, .task = NO_INDEX,
			  .filter = query_text(q->query, "filter"), .text = BUF_INIT, .plain = BUF_INIT };
	int r = query_number(q->query, "from", 0, INT64_MAX / 2, 0, &p.from, err);

	if (!r)
		r = query_number(q->query, "count", 1, LINES_MAX, 200, &p.count, err);
	if (!r)
		r = api_log_output(s, &output, err);
	if (!r && task)
		r = source_task(s, task, &p.task, err);
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
	buf_release(&p.plain);
	out->keep = true;
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

const struct route api_log_routes[] = {
	{ "/api/log", "rec, task, filter, from, count",
	  "Lines of the build's output, with the task of each.", log_reply },
	{ 0 }
};
