/* SPDX-License-Identifier: MIT */
#include "report/profile_output.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROWS 30			/* without groups */
#define ROWS_OF_GROUP 10
#define NAME_COLUMNS_MIN 16
#define THREAD_COLUMNS_MAX 24
#define TEXT_COLUMNS_MAX 60	/* where the output has no width */
#define GAP 2

/* A line is the title of a group, a node's values, or the number of rows of a node. */
enum line_kind { LINE_TITLE, LINE_VALUES, LINE_COUNT };

struct line {
	enum line_kind kind;
	uint32_t node;
	uint32_t n_hidden;
};

struct table {
	struct profile_view *v;
	struct doc *d;
	struct profile_list columns;
	struct doc_column column[PROFILE_COLUMNS];
	size_t n_lines;
	struct line *line;
	size_t most_rows, most_groups;
};

_Static_assert(PROFILE_COLUMNS <= DOC_COLUMNS, "all columns fit into a document");

/* Which columns */

/* In the order of what is wanted most, as long as there is room. REPEATED: if things run more than
 * once; CAUSES: what the queue time was spent on, the largest first. Columns that have nothing
 * are left out. */
#define REPEATED 0x40
#define CAUSES 0x80
_Static_assert(PROFILE_COLUMNS <= REPEATED, "the flags are above all columns");
static const uint8_t wanted[] = {
	PROFILE_C_COUNT, PROFILE_C_RUN, PROFILE_C_MEAN | REPEATED, PROFILE_C_QUEUE, CAUSES,
	PROFILE_C_LIVING, PROFILE_C_AMOUNT, PROFILE_C_P95 | REPEATED, PROFILE_C_MAX | REPEATED,
	PROFILE_C_VALUE(VALUE_CPU), PROFILE_C_VALUE(VALUE_MEMORY), CAUSES, PROFILE_C_QUEUE_MEAN | REPEATED, CAUSES,
};
static const uint8_t places[] = {
	PROFILE_C_COUNT, PROFILE_C_LIVING, PROFILE_C_RUN, PROFILE_C_MEAN, PROFILE_C_P95,
	PROFILE_C_MAX, PROFILE_C_QUEUE, PROFILE_C_QUEUE_MEAN, PROFILE_C_WORKER, PROFILE_C_POOL,
	PROFILE_C_LOAD, PROFILE_C_DELAYED, PROFILE_C_OTHER, PROFILE_C_ORDER, PROFILE_C_VALUE(VALUE_CPU),
	PROFILE_C_VALUE(VALUE_MEMORY), PROFILE_C_AMOUNT,
};

/* The one that cost most of those that are not in the bits, with a hundredth of the queue time at
 * least; 0: none. */
static uint8_t largest_cause(const struct table *t, uint64_t chosen)
{
	const int64_t *sum = t->v->node[0].sum->sum;
	int64_t most = sum[PROFILE_QUEUE] > 0 ? sum[PROFILE_QUEUE] / 100 : 0;
	uint8_t found = 0;

	for (uint8_t i = 0; i < QUEUE_CAUSES; i++) {
		uint8_t c = (uint8_t)(PROFILE_C_WORKER + i);

		if (!(chosen >> c & 1) && sum[PROFILE_WAIT + i] > most) {
			most = sum[PROFILE_WAIT + i];
			found = c;
		}
	}
	return found;
}

/* Is there nothing in the column, in all of the table? */
static bool is_empty(const struct table *t, uint8_t c)
{
	const struct profile_row *all = t->v->node[0].sum;
	bool is_difference = t->v->p->is_difference;

	switch (c) {
	case PROFILE_C_LIVING: return !all->sum[PROFILE_LIVING];
	case PROFILE_C_AMOUNT: return !(all->known & PROFILE_HAS_AMOUNT);
	case PROFILE_C_VALUE(VALUE_CPU): return !(all->known >> VALUE_CPU & 1);
	case PROFILE_C_VALUE(VALUE_MEMORY): return is_difference || !(all->known >> VALUE_MEMORY & 1);
	case PROFILE_C_P95: return is_difference;
	case PROFILE_C_MAX: return is_difference || all->max[PROFILE_RUN_MAX] < 0;
	default: return false;
	}
}

static void add_text_column(struct table *t, enum profile_key key)
{
	t->columns.column[t->columns.n++] = (uint8_t)key;
}

/* If its texts differ. */
static void add_different(struct table *t, enum profile_key key)
{
	size_t n;

	profile_view_text(t->v, &t->v->node[0], key, &n);
	if (n > 1)
		add_text_column(t, key);
}

static void choose_columns(struct table *t)
{
	const struct profile_node *all = &t->v->node[0];
	unsigned width = t->d->style->width ? t->d->style->width : 120;
	size_t left = width > 52 ? (width - 52) / 10 + 2 : 2;
	bool repeated = t->v->wish.group.n || all->sum->sum[PROFILE_COUNT] / 3 * 2 > all->n_children;
	uint64_t chosen = 0;

	for (size_t i = 0; left && i < ARRAY_SIZE(wanted); i++) {
		uint8_t c = wanted[i] == CAUSES ? largest_cause(t, chosen) :
			    wanted[i] & REPEATED && !repeated ? 0 :
			    (uint8_t)(wanted[i] & ~REPEATED);

		if (!c || is_empty(t, c))
			continue;
		chosen |= UINT64_C(1) << c;
		left--;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (chosen >> places[i] & 1)
			t->columns.column[t->columns.n++] = places[i];
	}
	add_text_column(t, PROFILE_NAME);
	add_different(t, PROFILE_DIR);
	add_different(t, PROFILE_PHASE);
	add_text_column(t, PROFILE_BORN);
	add_text_column(t, PROFILE_DIED);
}

/* Which lines */

static int add_line(struct table *t, enum line_kind kind, uint32_t node, size_t n_hidden)
{
	struct line *line = array_add(&t->line, &t->n_lines, sizeof *line);

	if (line)
		*line = (struct line){ kind, node, (uint32_t)n_hidden };
	return line ? 0 : -ENOMEM;
}

static int add_children(struct table *t, uint32_t at)
{
	const struct profile_node *n = &t->v->node[at];
	bool rows = n->depth == t->v->wish.group.n;
	size_t shown = profile_view_sort(t->v, n, rows ? t->most_rows : t->most_groups);
	int r = 0;

	for (size_t i = 0; !r && i < shown; i++) {
		uint32_t child = t->v->child[n->first_child + i];

		if (!rows)
			r = add_line(t, LINE_TITLE, child, 0);
		if (!r)
			r = add_line(t, LINE_VALUES, child, 0);
		/* a single row has the values of its group */
		if (!r && !rows && (t->v->node[child].depth < t->v->wish.group.n ||
				    t->v->node[child].n_children > 1))
			r = add_children(t, child);
	}
	return r ? r : add_line(t, LINE_COUNT, at, n->n_children - shown);
}

/* Cells */

static void add_key(struct buf *b, struct table *t, const struct profile_node *n, uint8_t c)
{
	size_t n_unique;
	const char *text = profile_view_text(t->v, n, (enum profile_key)c, &n_unique);

	if (text)
		buf_adds(b, text);
	else
		buf_addf(b, "(%zu unique)", n_unique);
}

static void add_cell(struct buf *b, struct table *t, const struct profile_node *n, uint8_t c)
{
	if (c < PROFILE_FIRST_NUMBER)
		add_key(b, t, n, c);
	else
		profile_view_add(b, t->v, n, (enum profile_column)c);
}

static struct doc_column column_of(uint8_t c, size_t at)
{
	bool text = c < PROFILE_FIRST_NUMBER;

	return (struct doc_column){
		profile_column(c).title, .gap = at ? GAP : 0, .shorten = text, .right = !text,
		.width = !text ? 0 : c == PROFILE_NAME || c == PROFILE_FILE ? TEXT_COLUMNS_MAX : THREAD_COLUMNS_MAX,
	};
}

/* The name, or the first text, has what the other columns leave. */
static void make_columns(struct table *t)
{
	size_t name = t->columns.n;

	for (size_t i = 0; i < t->columns.n; i++) {
		uint8_t c = t->columns.column[i];

		t->column[i] = column_of(c, i);
		if (c < PROFILE_FIRST_NUMBER && (name == t->columns.n || c == PROFILE_NAME))
			name = i;
	}
	if (name < t->columns.n)
		t->column[name].least = NAME_COLUMNS_MIN;
}

/* Output */

static void put_values(struct table *t, const struct profile_node *n)
{
	doc_row(t->d);
	for (size_t i = 0; i < t->columns.n; i++)
		add_cell(doc_text(t->d, NAN), t, n, t->columns.column[i]);
}

/* "kind = compile and dir = src" */
static void put_title(struct table *t, const struct profile_node *n)
{
	struct buf b = BUF_PART_OF(t->d->out);
	size_t before;

	for (size_t i = 0; i < n->depth; i++) {
		uint8_t c = t->v->wish.group.column[i];

		buf_addf(&b, "%s%s = ", i ? " and " : "", profile_column_word[c]);
		before = b.len;
		add_key(&b, t, n, c);
		if (b.len == before)
			buf_adds(&b, "(none)");
	}
	doc_heading(t->d, buf_str(&b));
	buf_release(&b);
}

static void put_count(struct table *t, const struct line *line)
{
	const struct profile_node *n = &t->v->node[line->node];
	bool rows = n->depth == t->v->wish.group.n;
	struct buf *b;

	if (!line->n_hidden && n->depth)
		return;
	b = doc_item(t->d, rows && n->depth ? 2 : 0);
	doc_line_tone(t->d, TONE_FAINT);
	buf_addf(b, "%u %s%s", n->n_children, rows ? "row" : "group", n->n_children == 1 ? "" : "s");
	if (line->n_hidden)
		buf_addf(b, " (%u hidden)", line->n_hidden);
}

static void put_lines(struct table *t)
{
	for (size_t i = 0; i < t->n_lines; i++) {
		const struct line *line = &t->line[i];

		if (line->kind == LINE_TITLE)
			put_title(t, &t->v->node[line->node]);
		else if (line->kind == LINE_VALUES)
			put_values(t, &t->v->node[line->node]);
		else
			put_count(t, line);
	}
}

/* "queue 12 s (worker 11 s, delayed 1.0 s)": the causes of a hundredth at least */
static void add_queue(struct buf *b, struct table *t)
{
	uint64_t named = 0;
	uint8_t c;

	buf_adds(b, ", queue ");
	add_cell(b, t, &t->v->node[0], PROFILE_C_QUEUE);
	for (; (c = largest_cause(t, named)); named |= UINT64_C(1) << c) {
		buf_addf(b, "%s%s ", named ? ", " : " (", profile_column_word[c]);
		add_cell(b, t, &t->v->node[0], c);
	}
	if (named)
		buf_addc(b, ')');
}

static void put_summary(struct table *t)
{
	const struct profile_node *all = &t->v->node[0];
	int64_t count = all->sum->sum[PROFILE_COUNT], living = all->sum->sum[PROFILE_LIVING];
	struct buf *b = doc_item(t->d, 0);

	buf_addf(b, "%lld %s", (long long)count, count == 1 ? "run" : "runs");
	if (living)
		buf_addf(b, ", %lld living", (long long)living);
	buf_adds(b, ", run ");
	add_cell(b, t, all, PROFILE_C_RUN);
	add_queue(b, t);
	buf_addf(b, t->v->p->seconds < 100 ? "; %.3g seconds worth of data" :
		 "; %.0f seconds worth of data", t->v->p->seconds);
}

/* What the table lacks, or has in another way than usual. */
static void put_notes(struct table *t)
{
	const struct profile *p = t->v->p;
	struct buf *b = doc_item(t->d, 0);

	if (p->n_lost)
		buf_addf(b, "%lld %s lost: there was no room in the tallies", (long long)p->n_lost,
			 p->n_lost == 1 ? "run was" : "runs were");
	b = doc_item(t->d, 0);
	if (p->n_unfinished)
		buf_addf(b, "%zu unfinished %s", p->n_unfinished, p->n_unfinished == 1 ? "host" : "hosts");
	if (p->n_incomplete)
		buf_addf(b, ", of which %zu lost the runs of the last seconds", p->n_incomplete);
	b = doc_item(t->d, 0);
	if (p->n_at_least)
		buf_addf(b, "CPU time and storage are %s: of %zu %s, they are the last sample",
			 p->is_difference ? "not exact" : "at least as shown", p->n_at_least,
			 p->n_at_least == 1 ? "task" : "tasks");
}

int profile_doc(struct doc *d, struct profile_view *v, const struct profile_list *columns, size_t most,
		bool all)
{
	struct table t = { .v = v, .d = d, .columns = *columns };
	struct doc_table table = { .column = t.column, .heads = true, .empty = true, .tone = TONE_FAINT };
	int r;

	t.most_rows = all ? SIZE_MAX : most ? most : v->wish.group.n ? ROWS_OF_GROUP : ROWS;
	t.most_groups = all ? SIZE_MAX : most ? most : ROWS;
	if (!t.columns.n)
		choose_columns(&t);
	make_columns(&t);
	table.n_columns = t.columns.n;
	r = add_children(&t, 0);
	if (!r) {
		put_summary(&t);
		put_notes(&t);
		if (doc_measure(d, &table))
			put_lines(&t);
		doc_table(d, &table);
		put_lines(&t);
		doc_table_end(d, 0);
	}
	free(t.line);
	return r ? r : v->no_memory ? -ENOMEM : buf_error(d->out);
}
