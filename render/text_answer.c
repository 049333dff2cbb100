/* SPDX-License-Identifier: MIT */
#include "render/text_answer.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2		/* of the lines of a sentence after its first */
#define ROW_COLUMNS 38		/* in front of the name */
#define NAME_COLUMNS_MIN 6

void text_answer_add_wrapped(struct buf *out, const char *text, unsigned width)
{
	size_t at = 0;

	while (*text) {
		size_t n = strcspn(text, " "), columns = text_columns(text, n);

		if (at && width && at + 1 + columns > width) {
			buf_addc(out, '\n');
			text_add_blanks(out, INDENT);
			at = INDENT;
		} else if (at) {
			buf_addc(out, ' ');
			at++;
		}
		buf_add(out, text, n);
		at += columns;
		text += n;
		text += *text == ' ';
	}
	buf_addc(out, '\n');
}

void text_answer_add(struct buf *out, const struct style *style, const struct answer *a)
{
	if (!a->n)
		return;
	buf_addc(out, '\n');
	for (size_t i = 0; i < a->n; i++) {
		text_tone(out, style, a->sentence[i].about == ANSWER_FAILED ? TONE_ALARM :
			  TONE_PLAIN);
		text_answer_add_wrapped(out, a->sentence[i].text, style->width);
		text_tone(out, style, TONE_PLAIN);
	}
	buf_addc(out, '\n');
}

/* One after the other, the lines of a recipe are one row. */
struct row {
	uint32_t first, n;	/* tasks in the path */
	int64_t start_us, wall_us;
};

struct path {
	const struct summary *s;
	const uint32_t *task;
	size_t n;
	const uint8_t *link;	/* enum chain_link; NULL: not printed */
	size_t n_rows;
	struct row *row;
	uint32_t *shown;
};

static bool is_longer(const void *ctx, uint32_t a, uint32_t b)
{
	const struct row *row = ctx;

	return row[a].wall_us != row[b].wall_us ? row[a].wall_us > row[b].wall_us : a < b;
}

static bool is_earlier(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < b;
}

static void make_rows(struct path *p)
{
	const struct summary *s = p->s;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct task *t = &s->rec->task[p->task[i]];
		struct row *last = p->n_rows ? &p->row[p->n_rows - 1] : NULL;

		if (!last || s->nest[p->task[i]].target != s->nest[p->task[last->first]].target) {
			last = &p->row[p->n_rows++];
			*last = (struct row){ .first = i, .start_us = t->start_us };
		}
		last->n++;
		last->wall_us = recording_task_end_us(s->rec, t) - last->start_us;
	}
	for (uint32_t i = 0; i < p->n_rows; i++)
		p->shown[i] = i;
}

/* Right-aligned. */
static void add_time(struct buf *out, int64_t us, unsigned columns)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	text_add_time(&b, us);
	text_add_blanks(out, b.len < columns ? columns - b.len : 0);
	buf_add(out, b.data, b.len);
}

static void add_row(struct buf *out, const struct style *style, const struct path *p,
		    const struct row *row)
{
	static const char *const word[LINKS] = {
		[LINK_NONE] = "-", [LINK_DEPENDENCY] = "a dependency", [LINK_WORKER] = "a free worker",
		[LINK_POOL] = "a pool", [LINK_LOAD] = "the load limit",
		[LINK_ORDER] = "host's order",
	};
	const struct recording *rec = p->s->rec;
	unsigned taken = p->link ? ROW_COLUMNS : ROW_COLUMNS - 16;
	unsigned link = p->link ? p->link[row->first] : LINK_NONE;
	struct buf name = BUF_PART_OF(out);

	add_time(out, row->start_us, 8);
	add_time(out, row->wall_us, 10);
	if (p->link)
		buf_addf(out, "  %-14s", word[link]);
	buf_adds(out, "  ");
	name_add_task(&name, rec, &rec->task[p->task[row->first]]);
	text_add_name(out, buf_str(&name), !style->width ? 0 :
		      style->width > taken + NAME_COLUMNS_MIN ? style->width - taken :
		      NAME_COLUMNS_MIN);
	buf_addc(out, '\n');
	buf_release(&name);
}

static void print_path(struct buf *out, const struct style *style, struct path *p,
		       const char *title, size_t top)
{
	size_t shown, tasks = 0;

	make_rows(p);
	shown = sort_top(p->shown, p->n_rows, top, is_longer, p->row);
	sort_top(p->shown, shown, shown, is_earlier, NULL);
	text_title(out, style, title);
	text_tone(out, style, TONE_FAINT);
	buf_addf(out, "   start      wall%s  name\n", p->link ? "  waited for    " : "");
	text_tone(out, style, TONE_PLAIN);
	for (size_t i = 0; i < shown; i++) {
		add_row(out, style, p, &p->row[p->shown[i]]);
		tasks += p->row[p->shown[i]].n;
	}
	if (tasks < p->n)
		buf_addf(out, "  and %zu shorter %s\n", p->n - tasks,
			 p->n - tasks == 1 ? "task" : "tasks");
}

static void add_path(struct buf *out, const struct style *style, struct path *p, const char *title,
		     size_t top)
{
	p->row = array_new(p->n, sizeof *p->row);
	p->shown = array_new(p->n + 1, sizeof *p->shown);
	if (p->row && p->shown)
		print_path(out, style, p, title, top);
	else
		out->error = -ENOMEM;
	free(p->row);
	free(p->shown);
}

void text_answer_add_paths(struct buf *out, const struct style *style, const struct summary *s,
			   const struct chain *c, size_t top)
{
	struct path path = { .s = s, .task = c->path, .n = c->n_path, .link = c->path_link };
	struct path chain = { .s = s, .task = c->dependency, .n = c->n_dependency };
	bool same = chain.n == path.n && chain.n &&
		    !memcmp(chain.task, path.task, path.n * sizeof *path.task);

	if (path.n > 1)
		add_path(out, style, &path, "What the end of the build waited for", top);
	if (chain.n > 1 && !same)
		add_path(out, style, &chain, "Longest chain of dependencies", top);
}
