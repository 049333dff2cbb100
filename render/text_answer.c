/* SPDX-License-Identifier: MIT */
#include "render/text_answer.h"

#include "analyse/names.h"
#include "base/sort.h"
#include "render/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2		/* of the lines of a sentence after its first */
#define ROW_COLUMNS 38		/* in front of the name */
#define NAME_COLUMNS_MIN 6

/* Lines break at blanks. */
static void add_wrapped(struct buf *out, const char *text, unsigned width)
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
		add_wrapped(out, a->sentence[i].text, style->width);
		text_tone(out, style, TONE_PLAIN);
	}
	buf_addc(out, '\n');
}

struct path {
	const struct summary *s;
	const uint32_t *task;
	size_t n;
	const uint8_t *why;	/* NULL: not printed */
	uint32_t *shown;	/* places in the path */
};

static int64_t wall_us(const struct path *p, uint32_t at)
{
	const struct task *t = &p->s->rec->task[p->task[at]];

	return recording_task_end_us(p->s->rec, t) - t->start_us;
}

static bool is_longer(const void *ctx, uint32_t a, uint32_t b)
{
	const struct path *p = ctx;
	int64_t a_us = wall_us(p, a), b_us = wall_us(p, b);

	return a_us != b_us ? a_us > b_us : a < b;
}

static bool is_earlier(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < b;
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

static void add_row(struct buf *out, const struct style *style, const struct path *p, uint32_t at)
{
	const struct recording *rec = p->s->rec;
	const struct task *t = &rec->task[p->task[at]];
	unsigned taken = p->why ? ROW_COLUMNS : ROW_COLUMNS - 16;
	struct buf name = BUF_PART_OF(out);

	add_time(out, t->start_us, 8);
	add_time(out, wall_us(p, at), 10);
	if (p->why)
		buf_addf(out, "  %-14s", chain_link(p->why[at]) == LINK_NONE ? "-" :
			 chain_link_word[chain_link(p->why[at])]);
	buf_adds(out, "  ");
	name_add_task(&name, rec, t);
	text_add_name(out, buf_str(&name), !style->width ? 0 :
		      style->width > taken + NAME_COLUMNS_MIN ? style->width - taken :
		      NAME_COLUMNS_MIN);
	buf_addc(out, '\n');
	buf_release(&name);
}

static void add_path(struct buf *out, const struct style *style, struct path *p, const char *title,
		     size_t top)
{
	size_t shown;

	p->shown = malloc((p->n + 1) * sizeof *p->shown);
	if (!p->shown) {
		out->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < p->n; i++)
		p->shown[i] = (uint32_t)i;
	shown = sort_top(p->shown, p->n, top, is_longer, p);
	sort_top(p->shown, shown, shown, is_earlier, NULL);
	text_title(out, style, title);
	text_tone(out, style, TONE_FAINT);
	buf_addf(out, "   start      wall%s  name\n", p->why ? "  waited for    " : "");
	text_tone(out, style, TONE_PLAIN);
	for (size_t i = 0; i < shown; i++)
		add_row(out, style, p, p->shown[i]);
	if (shown < p->n)
		buf_addf(out, "  and %zu shorter ones\n", p->n - shown);
	free(p->shown);
}

void text_answer_add_paths(struct buf *out, const struct style *style, const struct summary *s,
			   const struct chain *c, size_t top)
{
	struct path path = { .s = s, .task = c->path, .n = c->n_path, .why = c->path_why };
	struct path chain = { .s = s, .task = c->dependency, .n = c->n_dependency };
	bool same = chain.n == path.n &&
		    !memcmp(chain.task, path.task, path.n * sizeof *path.task);

	if (path.n > 1)
		add_path(out, style, &path, "What the end of the build waited for", top);
	if (chain.n > 1 && !same)
		add_path(out, style, &chain, "Longest chain of dependencies", top);
}
