/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"
#include "base/array.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/chart/chart.h"
#include "render/chart/pack_chart.h"
#include "render/chart/pack_code.h"
#include "render/chart/pack_tasks.h"
#include "render/chart/pulse.h"
#include "render/chart/spark.h"
#include "tests/compared.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "tests/unpack.h"

/* The data for the bootchart's script, read by a second reader. */

/* A chart of a recording, packed and read again */

struct packed {
	struct recorded r;
	struct panels panels;
	struct compared compared;
	struct chart chart;
	struct buf out;
	struct unpacked u;
};

static void pack_it(struct packed *p, const struct summary *ghost, enum lanes_by by)
{
	struct chart_input in = {
		.sum = &p->r.sum, .panels = &p->panels, .by = by,
		.other = compared_make(&p->compared, ghost, &p->r.sum),
	};

	p->out = (struct buf)BUF_INIT;
	ck_assert_int_eq(panels_make(&p->panels, &p->r.sum), 0);
	ck_assert_int_eq(chart_make(&p->chart, &in), 0);
	ck_assert_int_eq(pack_chart(&p->out, &p->chart), 0);
	for (const char *c = "<>&"; *c; c++)
		ck_assert_ptr_null(memchr(p->out.data, *c, p->out.len));
	unpack(&p->u, p->out.data, p->out.len);
}

static void packed_release(struct packed *p)
{
	unpacked_release(&p->u);
	buf_release(&p->out);
	chart_release(&p->chart);
	compared_release(&p->compared);
	panels_release(&p->panels);
	recorded_release(&p->r);
}

/* The values of a task that are stored as differences to the task before. */
struct lane_now {
	int64_t end;
	int64_t task, place, parent;	/* -1: none */
};

struct told {
	size_t i;
	int64_t start, wall, parent, before;
	const char *place, *name;
};

struct teller {
	struct packed *p;
	struct lane_now *lane;
	size_t n_names, n_before, n_status;
	uint32_t *position;
};

static struct told tell(struct teller *t, size_t i)
{
	const struct unpacked *u = &t->p->u;
	struct lane_now *l = &t->lane[unpacked_at(u, "lane", i)];
	int64_t place = unpacked_at(u, "place", i), parent = unpacked_at(u, "parent", i);
	int64_t name = unpacked_at(u, "name", i), how = unpacked_at(u, "wait", i) >> 4;
	struct told told = { .i = i };

	told.start = unpacked_at(u, "start", i) + l->end;
	told.wall = unpacked_at(u, "wall", i);
	l->place = place ? place - 1 : l->place;
	l->parent = parent ? parent - 2 : l->parent;
	told.parent = l->parent;
	told.before = how == 1 ? l->parent : how == 2 ? l->task : -1;
	if (how == 3)
		told.before = (int64_t)i - unpacked_at(u, "before", t->n_before++);
	told.place = l->place < 0 ? "" : unpacked_text(u, "places")->line[l->place];
	name = name ? name - 1 : (int64_t)t->n_names++;
	ck_assert_uint_lt((size_t)name, unpacked_text(u, "names")->n);
	told.name = unpacked_text(u, "names")->line[name];
	l->end = told.start + told.wall;
	l->task = (int64_t)i;
	return told;
}

/* Blanks for control characters, marks of the same length for other characters that control
 * a terminal or the direction of text; long texts are shortened. */
static void check_text(const char *told, const char *recorded)
{
	size_t n = strlen(told), more;
	bool cut = n > 190 && !strcmp(told + n - 3, "...") && strlen(recorded) > n;

	for (size_t i = 0; i < n - (cut ? 3 : 0); i += more) {
		uint32_t code;

		more = utf8_decode((const unsigned char *)recorded + i, strlen(recorded + i), &code);
		if (code >= UTF8_BAD_BYTE || !utf8_is_unsafe(code))
			ck_assert_mem_eq(told + i, recorded + i, more);
		else if (more == 3)
			ck_assert_mem_eq(told + i, UTF8_REPLACEMENT, more);
		else
			ck_assert_msg(strspn(told + i, code < 0x80 ? " " : "?") >= more, "%s", told);
	}
	ck_assert(cut || !recorded[n]);
}

static void check_name(const struct told *told, const struct recording *rec, const struct task *t)
{
	RELEASED(buf, name = BUF_INIT, expected = BUF_INIT);

	buf_addf(&name, "%s%s%s", told->place, *told->place ? ": " : "", told->name);
	name_add_task(&expected, rec, t);
	check_text(buf_str(&name), buf_str(&expected));
}

static void check_size(int64_t code, int64_t bytes)
{
	ck_assert_uint_eq((uint64_t)code, pack_size(bytes / 1024));
}

/* -1: not known. */
static int64_t time_at(const struct unpacked *u, const char *low, const char *high, size_t i)
{
	return unpacked_at(u, high, i) * (1ll << 32) + unpacked_at(u, low, i) - 1;
}

static void check_cpu(const struct unpacked *u, size_t i, const struct cost_cpu *cpu)
{
	ck_assert_int_eq(time_at(u, "cpu", "cpu_high", i), cpu->user_us < 0 ? -1 :
			 cpu->user_us + (cpu->system_us > 0 ? cpu->system_us : 0));
	ck_assert_int_eq(time_at(u, "system", "system_high", i), cpu->system_us);
	ck_assert_int_eq(!!(unpacked_at(u, "marks", i) & MARK_AT_LEAST), cpu->at_least);
}

static void check_state(struct teller *teller, int64_t marks, const struct task *t)
{
	static const enum task_state state[] = { TASK_DONE, TASK_FAILED, TASK_KILLED, TASK_UNFINISHED };

	ck_assert_int_eq(t->state, state[marks & 3]);
	ck_assert_int_eq(t->hosts, !!(marks & 4));
	if (t->state == TASK_FAILED || t->state == TASK_KILLED)
		ck_assert_int_eq(unpacked_at(&teller->p->u, "status", teller->n_status++), t->status);
}

static int64_t position_of(const struct teller *t, uint32_t task)
{
	return task == NO_INDEX || t->position[task] == NO_INDEX ? -1 : (int64_t)t->position[task];
}

static void check_task(struct teller *teller, size_t i, int64_t unit_us)
{
	const struct chart *c = &teller->p->chart;
	const struct unpacked *u = &teller->p->u;
	const struct recording *rec = c->sum->rec;
	uint32_t task = c->sum->order[i];
	const struct task *t = &rec->task[task];
	const struct cost *cost = &c->sum->nest[task].cost;
	int64_t end_us = recording_task_end_us(rec, t);
	struct told told = tell(teller, i);

	ck_assert_int_eq(unpacked_at(u, "lane", i), c->lanes.lane[i]);
	ck_assert_double_eq_tol((double)(told.start * unit_us), (double)t->start_us, (double)unit_us);
	ck_assert_double_eq_tol((double)((told.start + told.wall) * unit_us), (double)end_us,
				(double)unit_us);
	check_name(&told, rec, t);
	check_state(teller, unpacked_at(u, "marks", i), t);
	check_cpu(u, i, &c->sum->nest[task].cpu);
	check_size(unpacked_at(u, "memory", i),
		   (cost->memory_kb ? cost->memory_kb : cost->memory_at_most_kb) * 1024);
	ck_assert_int_eq(!!(unpacked_at(u, "marks", i) & MARK_END_AT_MOST), t->end_at_most);
	ck_assert_int_eq(!!(unpacked_at(u, "marks", i) & MARK_AT_MOST),
			 !cost->memory_kb && cost->memory_at_most_kb);
	check_size(unpacked_at(u, "read", i), cost->read_bytes);
	check_size(unpacked_at(u, "written", i), cost->written_bytes);
	ck_assert_int_eq(told.parent, position_of(teller, c->sum->nest[task].parent));
	ck_assert_int_eq(told.before, position_of(teller, c->chain.waits.task[task].before));
	ck_assert_int_eq(unpacked_at(u, "wait", i) & 15, c->chain.waits.task[task].why);
}

static void check_tasks(struct packed *p)
{
	const struct chart *c = &p->chart;
	size_t n = c->sum->n_ran, n_all = c->sum->rec->n_tasks;
	struct teller t = {
		.p = p, .lane = malloc((c->lanes.n_lanes + 1) * sizeof *t.lane),
		.position = malloc((n_all + 1) * sizeof *t.position),
	};

	memset(t.position, 0xff, n_all * sizeof *t.position);
	for (uint32_t i = 0; i < n; i++)
		t.position[c->sum->order[i]] = i;
	for (uint32_t i = 0; i < c->lanes.n_lanes; i++)
		t.lane[i] = (struct lane_now){ 0, -1, -1, -1 };
	ck_assert_int_eq(unpacked_json(&p->u, "tasks"), (int64_t)n);
	for (size_t i = 0; i < n; i++)
		check_task(&t, i, unpacked_json(&p->u, "unit_us"));
	free(t.lane);
	free(t.position);
}

/* All tasks of a small build have their command and their memory over time. */
static void check_longest(const struct packed *p)
{
	const struct unpacked *u = &p->u;
	const struct summary *s = p->chart.sum;
	const struct unpacked_text *commands = unpacked_text(u, "commands");
	size_t n_sparks = unpacked_numbers(u, "spark_length")->n, at = 0, sampled = 0;

	for (size_t i = 0; i < commands->n; i++) {
		const struct task *t = &s->rec->task[s->order[unpacked_at(u, "command_task", i)]];

		check_text(commands->line[i], recording_command(s->rec, t));
	}
	for (size_t i = 0; i < s->n_ran; i++)
		sampled += s->rec->task[s->order[i]].n_usage >= SPARK_SAMPLES_MIN;
	ck_assert_uint_le(n_sparks, sampled);
	for (size_t i = 0; i < n_sparks; i++) {
		const struct task *t = &s->rec->task[s->order[unpacked_at(u, "spark_task", i)]];
		uint8_t level[SPARK_MOST];
		size_t n = spark_fill(level, SPARK_MOST, s->rec, t);

		ck_assert_int_eq(unpacked_at(u, "spark_length", i), (int64_t)n);
		for (size_t k = 0; k < n; k++)
			ck_assert_int_eq(unpacked_at(u, "spark", at++), level[k]);
	}
}

/* And their CPU over time; one level where it does not change. */
static void check_pulses(const struct packed *p)
{
	const struct unpacked *u = &p->u;
	const struct summary *s = p->chart.sum;
	size_t n_pulses = unpacked_numbers(u, "pulse_length")->n, at = 0, known = 0;
	uint8_t level[PULSE_MOST];
	struct pulse_source pulses;
	size_t n;

	ck_assert_int_eq(pulse_init(&pulses, s), 0);
	for (size_t i = 0; i < s->n_ran; i++) {
		ck_assert_int_eq(pulse_fill(level, &n, PULSE_MOST, &pulses, s->order[i]), 0);
		known += n > 0;
	}
	ck_assert_uint_eq(n_pulses, known);
	for (size_t i = 0; i < n_pulses; i++) {
		uint32_t task = s->order[unpacked_at(u, "pulse_task", i)];
		int64_t length = unpacked_at(u, "pulse_length", i);

		ck_assert_int_eq(pulse_fill(level, &n, PULSE_MOST, &pulses, task), 0);
		ck_assert(length == (int64_t)n || length == 1);
		for (size_t k = 0; k < n; k++)
			ck_assert_int_eq(unpacked_at(u, "pulse", at + (length == 1 ? 0 : k)), level[k]);
		at += (size_t)length;
	}
	pulse_release(&pulses);
}

/* The parts of the queue time add up to it. */
static void check_waits(const struct packed *p)
{
	static const char *const part[] = {
		"waited_worker", "waited_pool", "waited_load", "waited_delayed", "waited_other",
	};
	const struct summary *s = p->chart.sum;
	const struct unpacked *u = &p->u;
	int64_t unit_us = unpacked_json(u, "unit_us");

	for (size_t i = 0; i < unpacked_numbers(u, "waited_task")->n; i++) {
		uint32_t task = s->order[unpacked_at(u, "waited_task", i)];
		int64_t sum = 0;

		for (size_t k = 0; k < ARRAY_SIZE(part); k++)
			sum += unpacked_at(u, part[k], i);
		ck_assert_double_eq_tol((double)(sum * unit_us),
					(double)wait_queue_us(&p->chart.chain.waits, s->rec, task),
					3 * (double)unit_us);
	}
}

/* Those of a task are different tasks that made something that it waited for, those that ended last
 * first. */
static void check_dependencies(const struct packed *p)
{
	const struct summary *s = p->chart.sum;
	const struct recording *rec = s->rec;
	const struct unpacked *u = &p->u;
	size_t n = unpacked_numbers(u, "depend_length")->n, at = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t place = unpacked_at(u, "depend_task", i), last_us = INT64_MAX;
		const struct task *t = &rec->task[s->order[place]];
		int64_t length = unpacked_at(u, "depend_length", i);

		ck_assert_int_ge(unpacked_at(u, "depend_all", i), length);
		for (int64_t k = 0; k < length; k++) {
			uint32_t maker = s->order[place - unpacked_at(u, "depend", at++)], found = 0;
			int64_t end_us = recording_task_end_us(rec, &rec->task[maker]);

			for (uint32_t j = 0; j < t->n_after; j++)
				found += p->chart.chain.waits.needs.maker[t->first_after + j] == maker;
			ck_assert_uint_gt(found, 0);
			ck_assert_int_le(end_us, last_us);
			last_us = end_us;
		}
	}
}

static const struct unpacked_numbers *panel_column(const struct unpacked *u,
						   const struct panel *p, const char *id)
{
	struct buf name = BUF_INIT;
	const struct unpacked_numbers *n;

	buf_addf(&name, "%s.%s", p->word, id);
	n = unpacked_numbers(u, buf_str(&name));
	buf_release(&name);
	return n;
}

static void check_band(const struct unpacked *u, const struct panel *p, const struct band *b)
{
	const struct unpacked_numbers *n = panel_column(u, p, b->id);
	double ceiling = (double)(b->right ? p->right_ceiling : p->ceiling);

	for (size_t i = 0; i < p->n; i++) {
		int64_t code = n->n ? n->value[i] : 0;

		ck_assert_int_eq(code == 0, b->value[i] == BAND_ABSENT);
		if (code && b->value[i] >= 0)
			ck_assert_double_eq_tol((double)(code - 1) / 1000 * ceiling,
						fmin((double)b->value[i], ceiling), ceiling / 1000);
	}
}

/* Waiting tasks: only the points at which their number changes. */
static void check_waiting(const struct packed *p, const struct panel *panel)
{
	double ceiling, unit_us = (double)unpacked_json(&p->u, "unit_us");
	const struct unpacked_numbers *time, *n;
	size_t at = 0;

	if (panel->n_bands < 2)
		return;
	ceiling = (double)(panel->band[1].right ? panel->right_ceiling : panel->ceiling);
	time = panel_column(&p->u, panel, "time");
	n = panel_column(&p->u, panel, "waiting");
	ck_assert_uint_le(n->n, panel->n);
	for (size_t i = 0; i < panel->n; i++) {
		int64_t now = llround((double)panel->time_us[i] / unit_us);

		while (at + 1 < time->n && time->value[at] < now)
			at++;
		if (i + 1 < panel->n && llround((double)panel->time_us[i + 1] / unit_us) == now)
			continue;
		ck_assert_double_eq_tol((double)(n->value[at] - 1) / 1000 * ceiling,
					(double)panel->band[1].value[i], ceiling / 1000);
	}
}

static void check_panels(const struct packed *p)
{
	int64_t unit_us = unpacked_json(&p->u, "unit_us");

	for (size_t k = 0; k < p->chart.panels.n; k++) {
		const struct panel *panel = &p->chart.panels.panel[k];
		const struct unpacked_numbers *time, *gap;
		size_t gaps = 0;

		if (panel->id == PANEL_RUNNING) {
			check_waiting(p, panel);
			continue;
		}
		time = panel_column(&p->u, panel, "time");
		gap = panel_column(&p->u, panel, "gap");
		for (size_t i = 0; i < panel->n; i++) {
			ck_assert_double_eq_tol((double)(time->value[i] * unit_us),
						(double)panel->time_us[i], (double)unit_us);
			if (panel->gap[i] && gap->n)
				ck_assert_int_eq(gap->value[gaps++], (int64_t)i);
		}
		ck_assert_uint_eq(gaps, gap->n);
		for (size_t i = 0; i < panel->n_bands; i++)
			check_band(&p->u, panel, &panel->band[i]);
	}
}

static void check_all(struct packed *p)
{
	check_tasks(p);
	check_longest(p);
	check_pulses(p);
	check_waits(p);
	check_dependencies(p);
	check_panels(p);
}

TEST_LOOP(any_build, 8)
{
	RELEASED(packed, p);

	recorded_random(&p.r, 10 + 150 * (unsigned)_i, (uint64_t)_i);
	if (p.r.rec.n_tasks)
		p.r.rec.task[p.r.rec.n_tasks / 2].end_at_most = true;
	pack_it(&p, NULL, (enum lanes_by)(_i % LANES_BY));
	check_all(&p);
}

static const char *const recordings[] = { "nested", "cut", "empty" };

TEST_EACH(recorded_builds, recordings)
{
	RELEASED(packed, p);

	recorded_read(&p.r, support_path(TOP_SRCDIR "/tests/data/recordings/%s", recordings[_i]));
	pack_it(&p, NULL, LANES_WORKER);
	check_all(&p);
}

/* The class of a pair, by its times alone; what is close to a threshold may be either. */
static void check_class(const struct differences *d, int64_t ours_us, int64_t theirs_us, int64_t is)
{
	int64_t change_us = ours_us - theirs_us, longer_us = change_us > 0 ? ours_us : theirs_us;
	double least = fmax((double)d->least_us, DIFFERENCES_SHARE * (double)longer_us);
	double by = fabs((double)change_us);

	if (by < 0.999 * least)
		ck_assert_int_eq(is, DIFFERENCE_NONE);
	else if (by > 1.001 * least && by > 1.001 * d->much_us)
		ck_assert_int_eq(is, change_us > 0 ? DIFFERENCE_MUCH_MORE : DIFFERENCE_MUCH_LESS);
	else if (by > 1.001 * least && by < 0.999 * d->much_us)
		ck_assert_int_eq(is, change_us > 0 ? DIFFERENCE_MORE : DIFFERENCE_LESS);
}

/* The lanes of the other build, and the classes of differences. */
static void check_other(struct packed *p, const struct recording *other, int64_t unit_us)
{
	const struct summary *ours = &p->r.sum, *theirs = p->compared.other.sum;
	const struct differences *d = &p->chart.differences;
	int64_t start = 0;

	for (size_t i = 0; i < ours->n_ran; i++) {
		const struct task *t = &p->r.rec.task[ours->order[i]];
		uint32_t twin = p->compared.pairs.same[ours->order[i]];
		int64_t is = unpacked_at(&p->u, "difference", i);
		const struct task *o = twin == NO_INDEX ? NULL : &other->task[twin];

		ck_assert_int_eq(is, d->here[i]);
		if (!o)
			ck_assert_int_eq(is, DIFFERENCE_ONLY);
		else
			check_class(d, recording_task_end_us(&p->r.rec, t) - t->start_us,
				    recording_task_end_us(other, o) - o->start_us, is);
	}
	for (size_t i = 0; i < theirs->n_ran; i++) {
		const struct task *o = &other->task[theirs->order[i]];
		int64_t at = unpacked_at(&p->u, "other_task", i);

		start = unpacked_at(&p->u, "other_start", i);
		ck_assert_int_le(llabs(start * unit_us - o->start_us), unit_us);
		ck_assert(!at || p->compared.pairs.same[ours->order[at - 1]] == theirs->order[i]);
	}
	for (size_t i = 1; i < d->n_top; i++)
		ck_assert_int_ge(llabs(d->top[i - 1].change_us), llabs(d->top[i].change_us));
}

/* Times of the other build are differences to ours. */
TEST(compared)
{
	RELEASED(recorded, other);
	RELEASED(packed, p);
	int64_t unit_us;
	size_t n = 0;

	recorded_random(&p.r, 300, 7);
	recorded_random(&other, 300, 7);
	for (size_t i = 0; i < other.rec.n_tasks; i++) {
		if (other.rec.task[i].end_us >= 0 && i % 3)
			other.rec.task[i].end_us += i % 5 ? 1234567 : 12345;
	}
	pack_it(&p, &other.sum, LANES_WORKER);
	unit_us = unpacked_json(&p.u, "unit_us");
	for (size_t i = 0; i < p.r.sum.n_ran; i++) {
		uint32_t task = p.r.sum.order[i], twin = p.compared.pairs.same[task];
		const struct task *t = &p.r.rec.task[task];

		if (!(unpacked_at(&p.u, "marks", i) & 64))
			continue;
		ck_assert_uint_ne(twin, NO_INDEX);
		ck_assert_double_eq_tol((double)(unpacked_at(&p.u, "ghost_wall", n) * unit_us),
					(double)(recording_task_end_us(&other.rec, &other.rec.task[twin]) -
						 other.rec.task[twin].start_us -
						 recording_task_end_us(&p.r.rec, t) + t->start_us),
					2.0 * (double)unit_us);
		n++;
	}
	ck_assert_uint_eq(n, p.compared.pairs.n_same);
	check_other(&p, &other.rec, unit_us);
}

/* Names that are special in markup, JSON or the packing. */

static const struct { const char *recorded, *told; } hostile[] = {
	{ "</script><script>alert(1)</script>", "</script><script>alert(1)</script>" },
	{ "a&amp;b ]]> <!-- \"'`${x}", "a&amp;b ]]> <!-- \"'`${x}" },
	{ "two\\nlines", "two lines" },
	{ "tab\\tand\\x1b[31m", NULL },
	{ "\xff\xfe not UTF-8", "\xff\xfe not UTF-8" },
};

TEST_EACH(hostile_names, hostile)
{
	RELEASED(packed, p);
	RELEASED(buf, tasks = BUF_INIT);
	const char *name;

	buf_addf(&tasks, "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		 "start\t1000\tm.1\t11\t\t<kind>\t%s\t\t%s\ndone\t900000\tm.1\t0\n",
		 hostile[_i].recorded, hostile[_i].recorded);
	recorded_make(&p.r, "end_us: 1000000\n", buf_str(&tasks), NULL);
	pack_it(&p, NULL, LANES_KIND);
	name = unpacked_text(&p.u, "names")->line[0];
	ck_assert_uint_eq(unpacked_text(&p.u, "names")->n, 1);
	if (hostile[_i].told)
		ck_assert_str_eq(name, hostile[_i].told);
	for (; *name; name++)
		ck_assert((unsigned char)*name >= ' ');
	ck_assert_ptr_nonnull(strstr(p.u.json, "\\u003ckind\\u003e"));
}

/* Long names and commands are shortened between characters; many tasks take little room. */
TEST(bounded)
{
	enum { TASKS = 20000, LONG = 3000 };
	RELEASED(packed, p);
	RELEASED(buf, tasks = BUF_INIT);
	char name[LONG + 1] = { 0 };
	const char *told;

	for (size_t i = 0; i < LONG; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	buf_adds(&tasks, "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n");
	for (int i = 1; i <= TASKS; i++) {
		buf_addf(&tasks, "start\t%d\tm.%d\t11\t\t\t%s%d\t\tcc -c %d.c\n", i * 1000, i,
			 i == 1 ? name : "obj/file", i, i);
		buf_addf(&tasks, "done\t%d\tm.%d\t0\t%d\t50\t%d\n", i * 1000 + 900, i,
			 i % 850, 1000 + i % 700);
	}
	recorded_make(&p.r, "end_us: 60000000\n", buf_str(&tasks), NULL);
	pack_it(&p, NULL, LANES_WORKER);
	ck_assert_uint_eq(p.r.sum.n_ran, TASKS);
	told = unpacked_text(&p.u, "names")->line[0];
	ck_assert_uint_le(strlen(told), 200);
	ck_assert_str_eq(told + strlen(told) - 5, "\xc3\xa9...");
	ck_assert_uint_le(p.out.len, 15 * TASKS + 30000);
}

TEST_MAIN(pack);
