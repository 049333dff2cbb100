/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_chart.h"

#include "base/json.h"
#include "command/build_tool.h"
#include "render/chart/pack_code.h"
#include "render/chart/pack_other.h"
#include "render/chart/pack_tasks.h"

#include <string.h>

/* The unit of time */

#define TIMES_MAX (1 << 26)

static int64_t unit_for(int64_t end_us)
{
	int64_t unit_us = 1;

	while (end_us / unit_us >= TIMES_MAX)
		unit_us *= 10;
	return unit_us;
}

/* The columns of one panel. */
struct pack_panel {
	uint32_t steps;		/* values are in 1/steps of their axis */
	struct pack_column time, gap;
	struct pack_column band[PANEL_BANDS_MAX];
};

/* The script makes the band of the running tasks from the tasks. */
static bool is_packed(const struct panel *p, size_t band)
{
	return p->id != PANEL_RUNNING || band;
}

/* Of waiting tasks, only the points at which their number changes. */
static bool is_point(const struct panel *p, size_t i)
{
	return p->id != PANEL_RUNNING || !i || i + 1 == p->n ||
	       p->band[1].value[i] != p->band[1].value[i + 1];
}

/* A plot is a hundred pixels high; many samples make do with less than few. */
#define STEPS_FINE 1000
#define STEPS_COARSE 250
#define FINE_MAX 10000

#define PANEL_TICKS 5		/* on an axis */

static inline uint32_t step_of(int64_t value, double per_value, uint32_t steps)
{
	double v = (double)value * per_value + .5;

	if (value == BAND_ABSENT)
		return 0;
	return 1 + (v < 0 ? 0 : v > steps ? steps : (uint32_t)v);
}

/* As they are and as changes; the shorter is kept, or the one with an error. */
static void pack_band(struct pack_column *c, const struct panel *p, const struct band *b,
		      uint32_t steps)
{
	int64_t ceiling = b->right ? p->right_ceiling : p->ceiling;
	double per_value = steps / (double)(ceiling > 0 ? ceiling : 1);
	struct pack_column changes;

	pack_column_init(&changes, 'd');
	for (size_t i = 0; i < p->n; i++) {
		uint32_t v = step_of(b->value[i], per_value, steps);

		if (!is_point(p, i))
			continue;

		pack_column_add(c, v);
		pack_column_adds(&changes, (int32_t)v);
	}
	pack_column_flush(c);
	pack_column_flush(&changes);
	if (buf_error(&changes.out) ||
	    (changes.out.len < c->out.len && !buf_error(&c->out))) {
		struct pack_column longer = *c;

		*c = changes;
		changes = longer;
	}
	pack_column_release(&changes);
}

static int pack_panel(struct pack_panel *out, const struct panel *p, double per_us)
{
	int r;

	out->steps = p->n > FINE_MAX ? STEPS_COARSE : STEPS_FINE;
	pack_column_init(&out->time, 'd');
	pack_column_init(&out->gap, 'd');
	for (size_t i = 0; i < PANEL_BANDS_MAX; i++)
		pack_column_init(&out->band[i], 'u');
	if (!is_packed(p, p->n_bands - 1))
		return 0;
	for (size_t i = 0; i < p->n; i++) {
		if (!is_point(p, i))
			continue;
		pack_column_adds(&out->time, to_unit(per_us, p->time_us[i]));
		if (p->gap[i])
			pack_column_adds(&out->gap, (int32_t)i);
	}
	pack_column_flush(&out->time);
	pack_column_flush(&out->gap);
	r = buf_error(&out->time.out);
	r = r ? r : buf_error(&out->gap.out);
	for (size_t i = 0; !r && i < p->n_bands; i++) {
		if (!is_packed(p, i))
			continue;
		pack_band(&out->band[i], p, &p->band[i], out->steps);
		r = buf_error(&out->band[i].out);
	}
	return r;
}

static void release_panel(struct pack_panel *p)
{
	pack_column_release(&p->time);
	pack_column_release(&p->gap);
	for (size_t i = 0; i < PANEL_BANDS_MAX; i++)
		pack_column_release(&p->band[i]);
}

/* Everything that is packed, and its place. */
struct pack {
	const struct chart *chart;
	int64_t unit_us;
	struct pack_tasks tasks;
	struct pack_panel panel[PANELS];
	struct buf bytes, texts, text;	/* text: the JSON */
	struct json json;
};

/* Numbers */

/* Its memory is not needed any more. */
static void add_column(struct pack *p, const char *name, struct pack_column *c)
{
	char type[2] = { c->type };

	json_array(&p->json, NULL);
	json_str(&p->json, NULL, name);
	json_str(&p->json, NULL, type);
	json_int(&p->json, NULL, c->any ? (int64_t)c->n : 0);
	json_array_end(&p->json);
	if (c->any)
		buf_add(&p->bytes, c->out.data, c->out.len);
	pack_column_release(c);
}

static void add_panel_column(struct pack *p, const char *word, const char *id,
			     struct pack_column *c)
{
	struct buf name = BUF_PART_OF(&p->bytes);

	buf_adds(&name, word);
	buf_addc(&name, '.');
	buf_adds(&name, id);
	add_column(p, buf_str(&name), c);
	buf_release(&name);
}

static void add_panel_columns(struct pack *p, const struct panel *panel,
			      struct pack_panel *packed)
{
	if (!is_packed(panel, panel->n_bands - 1))
		return;
	add_panel_column(p, panel->word, "time", &packed->time);
	add_panel_column(p, panel->word, "gap", &packed->gap);
	for (size_t i = 0; i < panel->n_bands; i++) {
		if (is_packed(panel, i))
			add_panel_column(p, panel->word, panel->band[i].id, &packed->band[i]);
	}
}

static void add_numbers(struct pack *p)
{
	json_array(&p->json, "numbers");
	for (int i = 0; i < TASK_COLUMNS; i++) {
		if (p->chart->served || (i != TASKS_INSTANCE && i != TASKS_SEQ))
			add_column(p, pack_task_column[i].name, &p->tasks.column[i]);
	}
	for (size_t i = 0; i < p->chart->panels.n; i++)
		add_panel_columns(p, &p->chart->panels.panel[i], &p->panel[i]);
	json_array_end(&p->json);
}

/* Texts */

static void add_text(struct pack *p, const char *name, const struct buf *text)
{
	json_array(&p->json, NULL);
	json_str(&p->json, NULL, name);
	json_int(&p->json, NULL, (int64_t)text->len);
	json_array_end(&p->json);
	buf_add(&p->texts, text->data, text->len);
}

static void add_texts(struct pack *p)
{
	json_array(&p->json, "texts");
	add_text(p, "names", &p->tasks.names.out);
	add_text(p, "places", &p->tasks.places.out);
	add_text(p, "programs", &p->tasks.programs.out);
	add_text(p, "phases", &p->tasks.phases.out);
	add_text(p, "commands", &p->tasks.commands);
	add_text(p, "log", &p->tasks.log);
	json_array_end(&p->json);
}

/* What else the script must know */

static void add_kinds(struct pack *p)
{
	json_array(&p->json, "kinds");
	for (size_t i = 0; i < p->chart->works.n; i++) {
		json_object(&p->json, NULL);
		json_str(&p->json, "name", p->chart->works.work[i].name);
		json_int(&p->json, "colour", p->chart->works.work[i].colour);
		json_object_end(&p->json);
	}
	json_array_end(&p->json);
}

static void add_tools(struct pack *p)
{
	json_array(&p->json, "tools");
	for (size_t i = 0; i < p->tasks.n_tools; i++)
		json_str(&p->json, NULL, p->tasks.tool[i]);
	json_array_end(&p->json);
}

/* Only where processes were inspected. */
static void add_inspected(struct pack *p)
{
	const struct inspected *x = p->chart->inspected;

	if (!x || !x->n)
		return;
	json_str(&p->json, "archives", p->chart->archives ? p->chart->archives : "");
	json_array(&p->json, "inspected");
	for (size_t i = 0; i < x->n; i++) {
		const struct inspected_process *q = &x->process[i];

		if (q->task == NO_INDEX || p->tasks.position[q->task] == NO_INDEX)
			continue;
		json_array(&p->json, NULL);
		json_int(&p->json, NULL, p->tasks.position[q->task]);
		json_str(&p->json, NULL, q->program);
		json_int(&p->json, NULL, q->pid);
		json_known(&p->json, NULL, q->n_snapshots);
		json_str(&p->json, NULL, q->archive);
		json_array_end(&p->json);
	}
	json_array_end(&p->json);
}

/* Only for the page of a server, which gets more data while the build runs. */
static void add_served(struct pack *p)
{
	const struct recording *rec = p->chart->sum->rec;

	if (!p->chart->served)
		return;
	json_bool(&p->json, "running", p->chart->running);
	json_array(&p->json, "instances");
	for (size_t i = 0; i < rec->n_instances; i++)
		json_str(&p->json, NULL, rec->instance[i].id);
	json_array_end(&p->json);
}

static void add_rows(struct pack *p)
{
	const struct chart *c = p->chart;

	json_str(&p->json, "by", lanes_word[c->lanes.by]);
	json_array(&p->json, "rows");
	for (size_t i = 0; i < c->lanes.n_rows; i++) {
		const struct row *row = &c->lanes.row[i];

		json_object(&p->json, NULL);
		json_str(&p->json, "label", row->label);
		json_bool(&p->json, "nest", row->nest);
		json_int(&p->json, "lanes", row->n_lanes);
		json_int(&p->json, "tasks", (int64_t)row->n_tasks);
		json_int(&p->json, "busy", to_unit(p->tasks.per_us, row->busy_us));
		json_object_end(&p->json);
	}
	json_array_end(&p->json);
}

/* Its index among those that ran, by start. */
static int64_t place_of_task(const struct summary *s, uint32_t task)
{
	size_t i = 0;

	while (i < s->n_ran && s->order[i] != task)
		i++;
	return (int64_t)i;
}

static void add_band(struct pack *p, const struct band *b)
{
	static const char *const mark_word[] = {
		[MARK_STACK] = "stack", [MARK_AREA] = "area", [MARK_LINE] = "line",
	};

	json_object(&p->json, NULL);
	json_str(&p->json, "id", b->id);
	json_str(&p->json, "label", b->label);
	json_str(&p->json, "meaning", b->meaning);
	json_str(&p->json, "mark", mark_word[b->mark]);
	json_bool(&p->json, "right", b->right);
	json_bool(&p->json, "held", b->held);
	json_int(&p->json, "colour", b->colour);
	if (b->task != NO_INDEX)
		json_int(&p->json, "task", place_of_task(p->chart->sum, b->task));
	json_int(&p->json, "max", b->max);
	json_int(&p->json, "max_at", to_unit(p->tasks.per_us, b->max_us));
	json_int(&p->json, "mean", b->mean);
	json_known(&p->json, "total", b->total);
	json_object_end(&p->json);
}

/* [value, label] of each. */
static void add_ticks(struct pack *p, const char *key, int64_t ceiling, enum axis_unit unit)
{
	struct tick tick[PANEL_TICKS];
	size_t n = ceiling > 0 ? axis_ticks(tick, PANEL_TICKS, ceiling, unit) : 0;

	json_array(&p->json, key);
	for (size_t i = 0; i < n; i++) {
		json_array(&p->json, NULL);
		json_int(&p->json, NULL, tick[i].value);
		json_str(&p->json, NULL, tick[i].label);
		json_array_end(&p->json);
	}
	json_array_end(&p->json);
}

static void add_panel(struct pack *p, const struct panel *panel, uint32_t steps)
{
	static const char *const unit_word[] = {
		[AXIS_SHARE] = "share", [AXIS_BYTES] = "bytes",
		[AXIS_BYTES_A_SECOND] = "bytes/s", [AXIS_COUNT] = "count",
		[AXIS_TIME] = "time",
	};

	json_object(&p->json, NULL);
	json_str(&p->json, "word", panel->word);
	json_str(&p->json, "title", panel->title);
	json_str(&p->json, "unit", unit_word[panel->unit]);
	json_int(&p->json, "ceiling", panel->ceiling);
	json_str(&p->json, "right_unit", unit_word[panel->right_unit]);
	json_int(&p->json, "right_ceiling", panel->right_ceiling);
	add_ticks(p, "ticks", panel->ceiling, panel->unit);
	add_ticks(p, "right_ticks", panel->right_ceiling, panel->right_unit);
	json_known(&p->json, "limit", panel->limit);
	json_str(&p->json, "limit_label", panel->limit_label);
	json_str(&p->json, "note", panel->note);
	json_int(&p->json, "steps", steps);
	json_array(&p->json, "bands");
	for (size_t i = 0; i < panel->n_bands; i++)
		add_band(p, &panel->band[i]);
	json_array_end(&p->json);
	json_object_end(&p->json);
}

static void add_panels(struct pack *p)
{
	json_array(&p->json, "panels");
	for (size_t i = 0; i < p->chart->panels.n; i++)
		add_panel(p, &p->chart->panels.panel[i], p->panel[i].steps);
	json_array_end(&p->json);
}

/* What the head of the page says */

static void add_facts(struct pack *p)
{
	json_array(&p->json, "facts");
	for (size_t i = 0; i < p->chart->n_facts; i++) {
		const struct fact *f = &p->chart->fact[i];

		json_object(&p->json, NULL);
		json_str(&p->json, "label", f->label);
		json_str(&p->json, "text", f->text);
		json_bool(&p->json, "alarm", f->alarm);
		json_object_end(&p->json);
	}
	json_array_end(&p->json);
}

static void add_moment(struct pack *p, const char *name, int64_t us)
{
	if (us < 0)
		json_null(&p->json, name);
	else
		json_int(&p->json, name, to_unit(p->tasks.per_us, us));
}

static void add_verdict(struct pack *p)
{
	const struct answer *a = &p->chart->answer;

	json_array(&p->json, "verdict");
	for (size_t i = 0; i < a->n; i++) {
		const struct answer_sentence *s = &a->sentence[i];
		uint32_t at = s->task == NO_INDEX ? NO_INDEX : p->tasks.position[s->task];

		json_object(&p->json, NULL);
		json_str(&p->json, "about", answer_word[s->about]);
		json_str(&p->json, "text", s->text);
		add_moment(p, "from", s->from_us);
		add_moment(p, "until", s->until_us);
		json_known(&p->json, "task", at == NO_INDEX ? -1 : (int64_t)at);
		json_object_end(&p->json);
	}
	json_array_end(&p->json);
}

/* The tool of the first instance that ran tasks. */
static const char *host_of(const struct recording *rec)
{
	const char *version, *tool = recording_tool(rec, &version);

	return rec->source.recipe_keys ? "bitbake" : tool ? tool : "";
}

static void add_build(struct pack *p)
{
	const struct chart *c = p->chart;
	const struct recording *rec = c->sum->rec;

	json_int(&p->json, "tasks", (int64_t)c->sum->n_ran);
	json_str(&p->json, "host", host_of(rec));
	json_bool(&p->json, "recipes", build_tool_of(host_of(rec))->recipes);
	json_known(&p->json, "cores", c->sum->cores);
	json_known(&p->json, "cpu_us", c->sum->cpu_us);
	json_int(&p->json, "step_us", c->sum->step_us);
	json_int(&p->json, "critical_us", c->chain.path_us);
	json_bool(&p->json, "has_dependencies", c->chain.waits.has_dependencies);
	json_known(&p->json, "dependency_us", c->chain.dependency_us);
	json_str(&p->json, "bound", chain_bound_words(&c->chain));
}

static int add_json(struct pack *p)
{
	const struct chart *c = p->chart;
	size_t n;

	json_init(&p->json, &p->text, true);
	json_object(&p->json, NULL);
	json_str(&p->json, "format", "buildbeat chart 1");
	json_int(&p->json, "unit_us", p->unit_us);
	json_int(&p->json, "end", to_unit(p->tasks.per_us, c->end_us));
	add_build(p);
	add_facts(p);
	add_verdict(p);
	add_kinds(p);
	add_tools(p);
	add_served(p);
	add_inspected(p);
	add_rows(p);
	add_panels(p);
	pack_other_json(&p->json, &p->tasks);
	add_numbers(p);
	add_texts(p);
	n = p->bytes.len;
	json_array(&p->json, "packed");
	json_int(&p->json, NULL, (int64_t)n);
	if (!buf_error(&p->bytes) && !buf_error(&p->texts))
		pack_deflate(&p->bytes, p->texts.data, p->texts.len);
	json_int(&p->json, NULL, (int64_t)(p->bytes.len - n));
	json_array_end(&p->json);
	json_object_end(&p->json);
	return buf_error(&p->text);
}

/* Out of it what markup would see, and the two characters that XML forbids. */
static int add_escaped(struct buf *out, const char *text, size_t n)
{
	const char *end = text + n;

	for (const char *from = text;; from = ++text) {
		while (text < end && *text != '<' && *text != '>' && *text != '&' &&
		       *text != '\xef')
			text++;
		buf_add(out, from, (size_t)(text - from));
		if (text == end)
			return buf_error(out);
		if (*text != '\xef') {
			buf_addf(out, "\\u%04x", (unsigned)*text);
		} else if (end - text > 2 && text[1] == '\xbf' && (text[2] & '\xfe') == '\xbe') {
			buf_adds(out, "\xef\xbf\xbd");
			text += 2;
		} else {
			buf_addc(out, *text);
		}
	}
}

static int pack(struct pack *p, struct buf *out)
{
	int r = pack_tasks_make(&p->tasks, p->chart, p->unit_us);

	for (size_t i = 0; !r && i < p->chart->panels.n; i++)
		r = pack_panel(&p->panel[i], &p->chart->panels.panel[i], 1 / (double)p->unit_us);
	r = r ? r : add_json(p);
	r = r ? r : buf_error(&p->bytes);
	r = r ? r : buf_error(&p->texts);
	r = r ? r : add_escaped(out, p->text.data, p->text.len);
	return r ? r : pack_characters(out, p->bytes.data, p->bytes.len);
}

int pack_chart(struct buf *out, const struct chart *c)
{
	struct pack p = { .chart = c, .unit_us = unit_for(c->end_us) };
	int r = pack(&p, out);

	pack_tasks_release(&p.tasks);
	for (size_t i = 0; i < PANELS; i++)
		release_panel(&p.panel[i]);
	buf_release(&p.bytes);
	buf_release(&p.texts);
	buf_release(&p.text);
	return r;
}
