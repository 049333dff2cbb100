/* SPDX-License-Identifier: MIT */
#include "render/chart/chart_facts.h"

#include "render/chart/label.h"
#include "render/facts.h"

#include <string.h>

#define FACT_COLUMNS 4
#define FACT_GAP 20
#define FACT_PITCH 38

static void write_fact(struct facts *f, const char *label, enum tone tone)
{
	struct chart *c = f->context;
	struct buf text = BUF_PART_OF(f->part.whole);

	if (c->n_facts == CHART_FACTS_MAX)
		return;
	for (const char *p = f->part.data; p < f->part.data + f->part.len; p += strlen(p) + 1) {
		buf_adds(&text, text.len ? " \xc2\xb7 " : "");
		buf_adds(&text, p);
	}
	c->fact[c->n_facts++] = (struct fact){ label, text.data, tone == TONE_ALARM, 0, 0, 0 };
}

static void add_headline(struct facts *f, const struct recording *rec)
{
	const char *command = recording_build(rec, "command");
	const char *name = rec->path ? strrchr(rec->path, '/') : NULL;

	if (!command && rec->source.system) {
		text_add_name(&f->part, rec->source.system, 0);
		buf_adds(&f->part, " build ");
		text_add_name(&f->part, name && name[1] ? name + 1 : "", 0);
	} else {
		fact_add_name(f, "", command ? command : "A build whose command was not recorded");
	}
	fact_end(f, NULL, TONE_PLAIN);
}

static void add_path(struct facts *f, const struct chart *c)
{
	if (!c->chain.n_path)
		return;
	fact_add_count(f, c->chain.n_path, c->chain.n_path == 1 ? " task" : " tasks");
	fact_add_time(f, c->chain.path_us, "");
	if (c->sum->wall_us > 0) {
		text_add_percent(&f->part, (double)c->chain.path_us / (double)c->sum->wall_us);
		buf_adds(&f->part, " of the build");
	}
	fact_end(f, "critical path", TONE_PLAIN);
}

static void add_other_build(struct facts *f, const struct chart *c)
{
	const char *command;

	if (!c->ghost)
		return;
	command = recording_build(c->ghost->rec, "command");
	fact_add_name(f, "", command ? command : "its command was not recorded");
	text_add_time(&f->part, c->ghost->wall_us);
	buf_adds(&f->part, " there, ");
	text_add_time(&f->part, c->sum->wall_us);
	buf_adds(&f->part, " here");
	if (c->ghost->wall_us > 0)
		buf_addf(&f->part, " (%+.1f %%)", 100 * ((double)c->sum->wall_us /
			 (double)c->ghost->wall_us - 1));
	fact_part(f);
	fact_add_count(f, c->match.n_common, c->match.n_common == 1 ? " task in both" :
		       " tasks in both");
	fact_add_count(f, c->match.n_only_a, " only here");
	fact_add_count(f, c->match.n_only_b, " only there");
	fact_end(f, "compared with", TONE_PLAIN);
}

int chart_facts(struct chart *c)
{
	const struct summary *s = c->sum;
	struct buf all = BUF_INIT;	/* empty: it takes over the errors of the facts */
	struct facts f = {
		.part = BUF_PART_OF(&all), .brief = true, .write = write_fact, .context = c,
	};

	add_headline(&f, s->rec);
	fact_result(&f, s);
	fact_cpu(&f, s);
	fact_tasks(&f, s);
	add_path(&f, c);
	fact_samples(&f, s);
	fact_memory(&f, s);
	fact_disk(&f, &s->host);
	fact_host(&f, s);
	fact_when(&f, s->rec);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	add_other_build(&f, c);
	fact_warnings(&f, s->rec);
	facts_release(&f);
	return buf_error(&all);
}

/* Places */

/* Each in the first line that has room for it. */
int chart_place_facts(struct chart *c, int top_y)
{
	int cell = (CHART_WIDTH - 2 * CHART_MARGIN + FACT_GAP) / FACT_COLUMNS;
	int taken[CHART_FACTS_MAX] = { 0 }, lines = 0;

	for (size_t i = 1; i < c->n_facts; i++) {
		struct fact *f = &c->fact[i];
		double width = label_width(f->text, FACT_SIZE) * (f->alarm ? LABEL_BOLD : 1) +
			FACT_GAP;
		int cells = width <= cell ? 1 : width <= 2 * cell ? 2 : FACT_COLUMNS;
		int line = 0;

		while (taken[line] + cells > FACT_COLUMNS)
			line++;
		f->x = CHART_MARGIN + taken[line] * cell;
		f->y = top_y + 2 * FACT_LABEL_RISE + 8 + line * FACT_PITCH;
		f->width = cells * cell - FACT_GAP;
		taken[line] += cells;
		lines = line >= lines ? line + 1 : lines;
	}
	return top_y + 2 * FACT_LABEL_RISE + lines * FACT_PITCH - FACT_PITCH / 2 + 8;
}
