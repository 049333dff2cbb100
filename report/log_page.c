/* SPDX-License-Identifier: MIT */
#include "report/log_page.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/array.h"
#include "base/text.h"
#include "report/page_static.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHART_NAME "bootchart.svg"
#define FAILED_SHOWN 200	/* in the list at the top */

static int begin(struct log_page *p, const struct summary *sum, const struct output_tasks *tasks, const char *chart)
{
	size_t n = sum->rec->n_tasks;

	*p = (struct log_page){ .chart = chart, .sum = sum, .tasks = tasks };
	p->number = array_new_zero(n, sizeof *p->number);
	p->shown = array_new_zero(n, sizeof *p->shown);
	if (!p->number || !p->shown)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		p->number[i] = NO_INDEX;
	for (size_t i = 0; i < sum->n_ran; i++)
		p->number[sum->order[i]] = (uint32_t)i;
	markup_init(&p->h, &p->body);
	p->h.html = true;
	markup_open(&p->h, *chart ? "main" : "div", "log");
	return 0;
}

static int find_end(struct log_page *p, struct output *o)
{
	struct output_line line;
	int r;

	output_rewind(o);
	while ((r = output_next(o, &line, true)) > 0)
		p->end = line.offset + line.text.len;
	output_rewind(o);
	return r;
}

int log_page_begin(struct log_page *p, const struct summary *sum, const struct output_tasks *tasks, struct output *o)
{
	int r = begin(p, sum, tasks, CHART_NAME);

	return r ? r : find_end(p, o);
}

/* Blocks */

static void add_status(struct buf *b, const struct task *t)
{
	int64_t end_us = t->end_us < 0 ? -1 : t->end_us - t->start_us;

	if (end_us >= 0)
		text_add_time(b, end_us);
	if (task_has_failed(t)) {
		buf_adds(b, ", ");
		words_add_status(b, words_task_status(t));
	}
}

static void add_link(struct markup *h, const char *page, const char *to, uint32_t number, const char *text)
{
	markup_begin(h, "a");
	markup_begin_attr(h, "href");
	buf_addf(h->out, "%s%s%u\"", page, to, number);
	markup_text(h, text);
	markup_end(h);
}

static void add_head(struct log_page *p, uint32_t task, const struct output_line *line)
{
	const struct recording *rec = p->sum->rec;
	struct buf text = BUF_PART_OF(&p->body);
	struct markup *h = &p->h;

	markup_open(h, "div", "who");
	name_add_task(&text, rec, &rec->task[task]);
	if (p->number[task] == NO_INDEX)
		markup_text(h, buf_str(&text));
	else
		add_link(h, p->chart, "#task=", p->number[task], buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, " ");
	add_status(&text, &rec->task[task]);
	if (line->first_us >= 0)
		buf_addf(&text, ", at %.3f s", (double)line->first_us / 1e6);
	markup_leaf(h, "span", "faint", buf_str(&text));
	markup_end(h);
	buf_release(&text);
}

static void end_block(struct log_page *p)
{
	if (!p->in_block)
		return;
	markup_end(&p->h);	/* pre */
	markup_end(&p->h);
	p->in_block = false;
}

static void begin_block(struct log_page *p, uint32_t task, const struct output_line *line)
{
	bool known = task != NO_INDEX, bad = known && task_has_failed(&p->sum->rec->task[task]);
	struct markup *h = &p->h;

	markup_open(h, "section", !known ? "u" : bad ? "bad" : "b");
	if (known && p->number[task] != NO_INDEX) {
		markup_attr_int(h, "data-t", p->number[task]);
		if (!p->shown[task]) {
			markup_begin_attr(h, "id");
			buf_addf(h->out, "t%u\"", p->number[task]);
		}
		p->shown[task] = true;
	}
	if (known)
		add_head(p, task, line);
	markup_begin(h, "pre");
	p->in_block = true;
	p->block_task = task;
}

/* Lines */

/* The numbers of "\033[1;31m": the colour 0 to 15 or -1, and bold. */
static bool read_colour(const char *p, const char *end, int *colour, bool *bold)
{
	struct cursor c;
	uint64_t n;

	if (end - p < 3 || p[1] != '[' || end[-1] != 'm')
		return false;
	cursor_init(&c, p + 2, (size_t)(end - p) - 3);
	do {
		if (!cursor_u64(&c, &n))
			n = 0;
		if (n == 0) {
			*colour = -1;
			*bold = false;
		} else if (n == 1) {
			*bold = true;
		} else if (n == 22) {
			*bold = false;
		} else if (n == 39) {
			*colour = -1;
		} else if (n >= 30 && n <= 37) {
			*colour = (int)n - 30;
		} else if (n >= 90 && n <= 97) {
			*colour = (int)n - 90;
		} else if (n == 38 || n == 48) {
			return true;	/* other colours follow in further numbers */
		}
	} while (cursor_byte(&c, ';'));
	return true;
}

/* One piece between escape sequences; a NUL ends a C string. */
static void add_piece(struct log_page *p, const char *text, size_t len, int colour, bool bold)
{
	bool marked = len && (colour >= 0 || bold);
	char copy[1024];

	if (marked) {
		markup_begin(&p->h, "span");
		markup_begin_attr(&p->h, "class");
		if (colour >= 0)
			buf_addf(p->h.out, "k%d", colour);
		buf_adds(p->h.out, bold ? colour >= 0 ? " s\"" : "s\"" : "\"");
	}
	while (len) {
		size_t n = len < sizeof copy - 1 ? len : sizeof copy - 1;
		const char *tab = memchr(text, '\t', n);

		if (tab == text) {
			buf_addc(markup_content(&p->h), '\t');
			text++;
			len--;
			continue;
		}
		n = tab ? (size_t)(tab - text) : n;
		while (n < len && n > sizeof copy - 5 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		memcpy(copy, text, n);
		for (char *nul; (nul = memchr(copy, 0, n)) != NULL;)
			*nul = '\001';
		copy[n] = '\0';
		markup_text(&p->h, copy);
		text += n;
		len -= n;
	}
	if (marked)
		markup_end(&p->h);
}

static void add_text(struct log_page *p, struct slice s)
{
	const char *at = s.p, *end = s.p + s.len;
	int colour = -1;
	bool bold = false;

	for (const char *cr; end > at && (cr = memrchr(at, '\r', (size_t)(end - at))) != NULL;) {
		if (cr + 1 < end) {
			at = cr + 1;
			break;
		}
		end = cr;
	}
	while (at < end) {
		const char *escape = memchr(at, '\033', (size_t)(end - at));
		const char *stop = escape ? escape : end, *next;

		add_piece(p, at, (size_t)(stop - at), colour, bold);
		if (!escape)
			return;
		next = output_after_escape(escape, end);
		read_colour(escape, next, &colour, &bold);
		at = next;
	}
}

static void add_gap(struct log_page *p)
{
	struct buf text = BUF_PART_OF(&p->body);

	if (!p->n_gap)
		return;
	end_block(p);
	buf_addf(&text, "%llu lines are left out here", (unsigned long long)p->n_gap);
	markup_leaf(&p->h, "p", "faint", buf_str(&text));
	buf_release(&text);
	p->n_gap = 0;
}

static bool is_left_out(const struct log_page *p, const struct output_line *line, uint32_t task)
{
	bool bad = task != NO_INDEX && task_has_failed(&p->sum->rec->task[task]);

	return p->body.len > LOG_PAGE_MAX * (bad ? 2 : 1) && line->offset + LOG_PAGE_END < p->end;
}

void log_page_add(struct log_page *p, const struct output_line *line, uint32_t task)
{
	if (line->begins) {
		p->skipped = is_left_out(p, line, task) || p->body.len > 8 * LOG_PAGE_MAX;
		p->n_omitted += p->skipped;
		p->n_gap += p->skipped;
	}
	if (p->skipped || p->body.len > 8 * LOG_PAGE_MAX)
		return;
	add_gap(p);
	if (!p->in_block || p->block_task != task) {
		end_block(p);
		begin_block(p, task, line);
	}
	add_text(p, line->text);
	if (line->ends)
		buf_addc(markup_content(&p->h), '\n');
}

static int add_all(struct log_page *p, struct output *o)
{
	struct output_line line;
	size_t at = 0;
	int r;

	while ((r = output_next(o, &line, true)) > 0)
		log_page_add(p, &line, output_task_of(p->tasks, line.number, &at));
	return r;
}

/* The page */

static void add_failed(struct markup *h, const struct log_page *p)
{
	const struct recording *rec = p->sum->rec;
	struct buf text = BUF_PART_OF(h->out);
	size_t n = 0;

	for (uint32_t i = 0; i < rec->n_tasks && n < FAILED_SHOWN; i++) {
		if (!task_has_failed(&rec->task[i]) || p->number[i] == NO_INDEX)
			continue;
		if (!n++)
			markup_open(h, "ul", "failed");
		markup_begin(h, "li");
		buf_clear(&text);
		name_add_task(&text, rec, &rec->task[i]);
		if (p->shown[i])
			add_link(h, "", "#t", p->number[i], buf_str(&text));
		else
			add_link(h, p->chart, "#task=", p->number[i], buf_str(&text));
		buf_clear(&text);
		buf_adds(&text, " ");
		add_status(&text, &rec->task[i]);
		if (!p->shown[i])
			buf_adds(&text, p->tasks->whole[i] ? ", it wrote nothing" : ", no line is known to come from it");
		markup_leaf(h, "span", "faint", buf_str(&text));
		markup_end(h);
	}
	if (n)
		markup_end(h);
	buf_release(&text);
}

static void add_facts(struct markup *h, const struct log_page *p)
{
	const struct output_tasks *t = p->tasks;
	const char *command = recording_build(p->sum->rec, "command");
	struct buf text = BUF_PART_OF(h->out);

	if (command && *p->chart) {
		markup_begin(h, "p");
		markup_leaf(h, "code", NULL, command);
		markup_end(h);
	}
	buf_addf(&text, "%llu lines, ", (unsigned long long)t->n_lines);
	text_add_percent(&text, t->n_lines ? (double)t->n_known / (double)t->n_lines : 0);
	buf_adds(&text, " of them with a known task.");
	if (p->n_omitted)
		buf_addf(&text, " %llu lines are left out; buildbeat log prints them.",
			 (unsigned long long)p->n_omitted);
	markup_leaf(h, "p", "faint", buf_str(&text));
	buf_release(&text);
}

static void add_tools(struct markup *h, const char *chart)
{
	markup_open(h, "p", "tools");
	markup_begin(h, "input");
	markup_attr(h, "type", "search");
	markup_attr(h, "id", "find");
	markup_attr(h, "placeholder", "show only blocks with this text");
	markup_attr(h, "aria-label", "Show only blocks with this text");
	markup_end(h);
	if (*chart) {
		markup_begin(h, "a");
		markup_attr(h, "href", chart);
		markup_text(h, "bootchart");
		markup_end(h);
	}
	markup_begin(h, "span");
	markup_attr(h, "id", "only");
	markup_end(h);
	markup_end(h);
}

/* What is above the lines, and these. */
static void add_lines(struct markup *h, struct log_page *p)
{
	add_gap(p);
	end_block(p);
	markup_end(&p->h);
	add_facts(h, p);
	add_failed(h, p);
	add_tools(h, p->chart);
}

int log_page_end(struct log_page *p, struct buf *out)
{
	struct markup h;

	html_document(&h, out, "Output of the build", NULL);
	html_more_style(&h, "log", page_log_css);
	markup_open(&h, "header", NULL);
	markup_leaf(&h, "h1", NULL, "Output of the build");
	add_lines(&h, p);
	markup_end(&h);
	buf_add(markup_content(&h), p->body.data, p->body.len);
	html_script(&h, "log", page_log_js);
	html_document_end(&h);
	return buf_error(&p->body) ? buf_error(&p->body) : buf_error(out);
}

void log_page_release(struct log_page *p)
{
	free(p->number);
	free(p->shown);
	buf_release(&p->body);
}

int log_page_write(struct buf *out, const struct summary *sum, const struct output_tasks *tasks,
		   struct output *o)
{
	struct log_page p;
	int r = log_page_begin(&p, sum, tasks, o);

	if (!r)
		r = add_all(&p, o);
	if (!r)
		r = log_page_end(&p, out);
	log_page_release(&p);
	return r;
}

int log_page_part(struct markup *h, const struct summary *sum, const struct output_tasks *tasks, struct output *o)
{
	struct log_page p;
	int r = begin(&p, sum, tasks, "");

	if (!r)
		r = find_end(&p, o);
	if (!r)
		r = add_all(&p, o);
	if (!r) {
		add_lines(h, &p);
		buf_add(markup_content(h), p.body.data, p.body.len);
		r = buf_error(&p.body);
	}
	log_page_release(&p);
	return r;
}
