/* SPDX-License-Identifier: MIT */
#include "render/text_show.h"

#include "analyse/names.h"
#include "base/saturate.h"

#include <string.h>

#define NAME_COLUMNS_MIN 20
#define FIGURE_COLUMNS 7
#define KIND_COLUMNS 9

/* The columns in front of the name. */
enum figure { FIGURE_START, FIGURE_WALL, FIGURE_CPU, FIGURE_MEMORY, FIGURE_IO, FIGURE_KIND, FIGURES };

static const struct {
	const char *title;
	unsigned columns;
	int dropped;		/* where it gets narrow: the lowest first */
} figures[FIGURES] = {
	[FIGURE_START] = { "start", FIGURE_COLUMNS, 5 },
	[FIGURE_WALL] = { "wall", FIGURE_COLUMNS, 6 },
	[FIGURE_CPU] = { "CPU", FIGURE_COLUMNS, 3 },
	[FIGURE_MEMORY] = { "memory", FIGURE_COLUMNS, 4 },
	[FIGURE_IO] = { "disk", FIGURE_COLUMNS, 2 },
	[FIGURE_KIND] = { "kind", KIND_COLUMNS, 1 },
};

struct rows {
	struct buf *out;
	const struct view *v;
	const struct style *style;
	bool shown[FIGURES];
	unsigned name_columns;	/* 0: no limit */
};

struct row {
	int64_t start_us;
	const struct cost *cost;
	const struct task *task;	/* the one that gives name and kind */
	size_t n_tasks;
	bool ended_badly;
};

static enum figure figure_of(enum sort_key key)
{
	static const enum figure of[SORT_KEYS] = {
		[SORT_WALL] = FIGURE_WALL, [SORT_CPU] = FIGURE_CPU,
		[SORT_MEMORY] = FIGURE_MEMORY, [SORT_IO] = FIGURE_IO,
		[SORT_START] = FIGURE_START, [SORT_NAME] = FIGURE_WALL,
	};

	return of[key];
}

static unsigned columns_taken(const struct rows *r)
{
	unsigned n = 1;

	for (int i = 0; i < FIGURES; i++)
		n += r->shown[i] ? figures[i].columns + 2 : 0;
	return n;
}

/* Drop columns, the least important first, until a name has room. */
static void choose_columns(struct rows *r, enum sort_key key)
{
	unsigned width = r->style->width;

	for (int i = 0; i < FIGURES; i++)
		r->shown[i] = i != FIGURE_START || key == SORT_START;
	if (!view_cost(&r->v->cost, SORT_IO))
		r->shown[FIGURE_IO] = false;
	for (int next = 1; width && next <= 6; next++) {
		if (columns_taken(r) + NAME_COLUMNS_MIN <= width)
			break;
		for (int i = 0; i < FIGURES; i++) {
			if (figures[i].dropped == next && i != (int)figure_of(key))
				r->shown[i] = false;
		}
	}
	r->name_columns = !width ? 0 : width > columns_taken(r) + 6 ?
			  width - columns_taken(r) : 6;
}

static void add_right(struct buf *out, const struct buf *text, unsigned columns, char mark)
{
	text_add_blanks(out, text->len < columns ? columns - text->len : 0);
	buf_add(out, text->data, text->len);
	buf_addc(out, mark);
	buf_addc(out, ' ');
}

static void add_titles(struct rows *r)
{
	text_tone(r->out, r->style, TONE_FAINT);
	buf_addc(r->out, ' ');
	for (int i = 0; i < FIGURES; i++) {
		const char *title = figures[i].title;
		size_t n = strlen(title);

		if (!r->shown[i])
			continue;
		if (i != FIGURE_KIND)
			text_add_blanks(r->out, figures[i].columns - n);
		buf_adds(r->out, title);
		text_add_blanks(r->out, 2 + (i == FIGURE_KIND ? figures[i].columns - n : 0));
	}
	buf_adds(r->out, "name");
	text_tone(r->out, r->style, TONE_PLAIN);
	buf_addc(r->out, '\n');
}

/* An upper bound as "<412MiB", in the same columns. */
static void add_memory(struct buf *b, const struct cost *c)
{
	char memory[32];
	struct buf bound;

	if (c->memory_kb || !c->memory_at_most_kb) {
		text_add_bytes(b, c->memory_kb ? sat_mul(c->memory_kb, 1024) : -1);
		return;
	}
	buf_init_fixed(&bound, memory, sizeof memory);
	text_add_bytes(&bound, sat_mul(c->memory_at_most_kb, 1024));
	buf_addc(b, '<');
	for (size_t i = 0; i < bound.len; i++) {
		if (bound.data[i] != ' ')
			buf_addc(b, bound.data[i]);
	}
}

static void add_figure(struct buf *b, enum figure figure, const struct row *row)
{
	const struct cost *c = row->cost;

	switch (figure) {
	case FIGURE_START:
		text_add_time(b, row->start_us);
		break;
	case FIGURE_WALL:
		text_add_time(b, row->start_us < 0 ? -1 : c->wall_us);
		break;
	case FIGURE_CPU:
		text_add_time(b, c->measured ? c->cpu_us : -1);
		break;
	case FIGURE_MEMORY:
		add_memory(b, c);
		break;
	default:
		text_add_bytes(b, c->measured ? view_cost(c, SORT_IO) : -1);
		break;
	}
}

static void add_kind(struct buf *out, const char *kind)
{
	size_t n = text_add_name(out, kind, KIND_COLUMNS);

	text_add_blanks(out, 2 + (n < KIND_COLUMNS ? KIND_COLUMNS - n : 0));
}

static void add_row_name(struct rows *r, const struct row *row)
{
	char memory[32];
	struct buf more, name = BUF_PART_OF(r->out);
	unsigned left = r->name_columns;

	buf_init_fixed(&more, memory, sizeof memory);
	if (row->n_tasks > 1)
		buf_addf(&more, " (%zu tasks)", row->n_tasks);
	if (left && left > more.len + 6)
		left -= (unsigned)more.len;
	else if (left)
		buf_clear(&more);
	name_add_task(&name, r->v->sum->rec, row->task);
	if (row->ended_badly)
		text_tone(r->out, r->style, TONE_ALARM);
	text_add_name(r->out, buf_str(&name), left);
	text_tone(r->out, r->style, more.len ? TONE_FAINT : TONE_PLAIN);
	buf_add(r->out, more.data, more.len);
	if (more.len)
		text_tone(r->out, r->style, TONE_PLAIN);
	buf_addc(r->out, '\n');
	buf_release(&name);
}

/* Where some are sums over processes, those that are not are marked. */
static bool is_marked(struct rows *r, const struct cost *c)
{
	return r->v->sum->rec->n_memory && c->memory_kb && !c->memory_summed;
}

static void add_row(struct rows *r, const struct row *row)
{
	char memory[64];
	struct buf text;

	buf_init_fixed(&text, memory, sizeof memory);
	buf_addc(r->out, ' ');
	for (enum figure i = 0; i < FIGURE_KIND; i++) {
		if (!r->shown[i])
			continue;
		buf_clear(&text);
		add_figure(&text, i, row);
		add_right(r->out, &text, figures[i].columns,
			  i == FIGURE_MEMORY && is_marked(r, row->cost) ? '*' : ' ');
	}
	if (r->shown[FIGURE_KIND])
		add_kind(r->out, row->task->kind);
	add_row_name(r, row);
}

static bool ended_badly(const struct task *t)
{
	return t->state != TASK_DONE && t->state != TASK_QUEUED;
}

static void add_target(struct rows *r, const struct target *g)
{
	const struct summary *s = r->v->sum;
	const struct task *task = s->rec->task;
	struct cost cost = summary_target_cost(s, g);
	struct row row = {
		g->start_us, &cost, &task[summary_main_task(s, g)], g->n_tasks, false
	};

	for (uint32_t i = g->first_task; i != NO_INDEX; i = s->nest[i].next)
		row.ended_badly |= ended_badly(&task[i]);
	add_row(r, &row);
}

void text_targets(struct buf *out, const struct view *v, const uint32_t *index, size_t n,
		  enum sort_key key, const struct style *style)
{
	struct rows r = { .out = out, .v = v, .style = style };

	choose_columns(&r, key);
	add_titles(&r);
	for (size_t i = 0; i < n; i++)
		add_target(&r, &v->sum->target[index[i]]);
}

void text_tasks(struct buf *out, const struct view *v, const uint32_t *index, size_t n,
		enum sort_key key, const struct style *style)
{
	struct rows r = { .out = out, .v = v, .style = style };

	choose_columns(&r, key);
	add_titles(&r);
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &v->sum->rec->task[index[i]];

		add_row(&r, &(struct row){ t->start_us, &v->sum->nest[index[i]].cost, t, 1,
					   ended_badly(t) });
	}
}
