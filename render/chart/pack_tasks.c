/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_tasks.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "render/chart/pack_detail.h"
#include "render/chart/pack_other.h"
#include "render/chart/pulse.h"
#include "render/chart/spark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct pack_task_info pack_task_column[TASK_COLUMNS] = {
	[TASKS_START] = { "start", 's' },
	[TASKS_WALL] = { "wall", 'u' },
	[TASKS_LANE] = { "lane", 'u' },
	[TASKS_KIND] = { "kind", 'u' },
	[TASKS_MARKS] = { "marks", 'u' },
	[TASKS_STATUS] = { "status", 's' },
	[TASKS_CPU] = { "cpu", 'u' },
	[TASKS_CPU_HIGH] = { "cpu_high", 'u' },
	[TASKS_SYSTEM] = { "system", 'u' },
	[TASKS_SYSTEM_HIGH] = { "system_high", 'u' },
	[TASKS_MEMORY] = { "memory", 'u' },
	[TASKS_READ] = { "read", 'u' },
	[TASKS_WRITTEN] = { "written", 'u' },
	[TASKS_QUEUED] = { "queued", 'u' },
	[TASKS_READY] = { "ready", 'u' },
	[TASKS_PLACE] = { "place", 'u' },
	[TASKS_NAME] = { "name", 'u' },
	[TASKS_PROGRAM] = { "program", 'u' },
	[TASKS_PARENT] = { "parent", 'u' },
	[TASKS_WAIT] = { "wait", 'u' },
	[TASKS_BEFORE] = { "before", 's' },
	[TASKS_GHOST_START] = { "ghost_start", 's' },
	[TASKS_GHOST_WALL] = { "ghost_wall", 's' },
	[TASKS_SPARK_TASK] = { "spark_task", 'u' },
	[TASKS_SPARK_LENGTH] = { "spark_length", 'u' },
	[TASKS_SPARK] = { "spark", 'u' },
	[TASKS_PULSE_TASK] = { "pulse_task", 'u' },
	[TASKS_PULSE_LENGTH] = { "pulse_length", 'u' },
	[TASKS_PULSE] = { "pulse", 'u' },
	[TASKS_COMMAND_TASK] = { "command_task", 'u' },
	[TASKS_LINES_TASK] = { "lines_task", 'u' },
	[TASKS_LINES] = { "lines", 'u' },
	[TASKS_TOOL] = { "tool", 'u' },
	[TASKS_INSTANCE] = { "instance", 'u' },
	[TASKS_SEQ] = { "seq", 'd' },
	[WAITED_TASK] = { "waited_task", 'u' },
	[WAITED_WORKER] = { "waited_worker", 'u' },
	[WAITED_POOL] = { "waited_pool", 'u' },
	[WAITED_LOAD] = { "waited_load", 'u' },
	[WAITED_DELAYED] = { "waited_delayed", 'u' },
	[WAITED_OTHER] = { "waited_other", 'u' }, [WAITED_ORDER] = { "waited_order", 'u' },
	[DEPEND_TASK] = { "depend_task", 'u' },
	[DEPEND_ALL] = { "depend_all", 'u' },
	[DEPEND_LENGTH] = { "depend_length", 'u' },
	[DEPEND] = { "depend", 's' },
	[LOG_TASK] = { "log_task", 'd' },
	[TASKS_PATH] = { "path", 'd' },
	[TASKS_PATH_LINK] = { "path_link", 'u' },
	[TASKS_DEPENDENCY] = { "dependency", 'd' },
	[PHASES_TASK] = { "phase_task", 'd' },
	[PHASES_START] = { "phase_start", 'd' },
	[PHASES_WALL] = { "phase_wall", 'u' },
	[PHASES_NAME] = { "phase_name", 'u' },
	[TASKS_FILES] = { "files", 'u' },
	[TASKS_CACHE] = { "cache", 'u' },
	[TASKS_DIFFERENCE] = { "difference", 'u' },
	[OTHER_START] = { "other_start", 'd' },
	[OTHER_WALL] = { "other_wall", 'u' },
	[OTHER_LANE] = { "other_lane", 'u' },
	[OTHER_TASK] = { "other_task", 'u' },
	[OTHER_NAME] = { "other_name", 'u' },
};

/* Of a logarithm, as pack_chart.h says. */
#define READY_STEP 8

/* Names of nameless tasks are read from files; a chart needs no more than these. */
#define UNNAMED_MAX 5000

/* How many of the longest tasks have their memory over time, and a command. */
#define SPARKS_MAX 3000
#define PULSES_MAX 100000	/* levels of CPU over time, of all tasks */
#define COMMANDS_MAX 1000
#define COMMANDS_WHOLE (1 << 18)	/* bytes of commands: afterwards they are shortened */
#define COMMAND_MAX 4096	/* bytes of a command before that, and after it */
#define COMMAND_SHORT 400

/* How many phases a chart has in it, the longest; its picture has all. */
#define PHASES_MAX 20000

/* What was last in a lane. */
struct lane_state {
	uint32_t task;		/* position, NO_INDEX: none yet */
	int32_t end;
	uint32_t place;		/* 1 + index, 0: none yet */
	uint32_t parent;
};

struct walk {
	struct pack_tasks *p;
	struct lane_state *lane;
	uint32_t *place;	/* by instance, the same; 0: not known yet */
	size_t n_unnamed;
	const char *program;	/* of the task before, and its code; NULL: none yet */
	uint32_t program_code;
};

static bool is_bound(const struct cost *cost)
{
	return !cost->memory_kb && cost->memory_at_most_kb;
}

static uint32_t marks(const struct pack_tasks *p, uint32_t i, const struct task *t,
		      const struct nesting *nest)
{
	const struct cost *cost = &nest->cost;
	static const uint32_t state[] = {
		[TASK_FAILED] = 1, [TASK_KILLED] = 2, [TASK_UNFINISHED] = 3, [TASK_DONE] = 0,
		[TASK_QUEUED] = 0,
	};

	return state[t->state] | (t->hosts ? MARK_HOSTS : 0) |
	       (cost->memory_summed ? MARK_SUMMED : 0) | (p->critical[i] ? MARK_CRITICAL : 0) |
	       (cost->measured ? MARK_IO : 0) | (is_bound(cost) ? MARK_AT_MOST : 0) |
	       (t->end_at_most ? MARK_END_AT_MOST : 0) | (nest->cpu.at_least ? MARK_AT_LEAST : 0);
}

/* Few are as large as the second column needs. */
static void add_time(struct pack_tasks *p, enum pack_task_column low, enum pack_task_column high,
		     int64_t code)
{
	pack_column_add(&p->column[low], (uint32_t)code);
	pack_column_add(&p->column[high], (uint32_t)(code >> 32));
}

static void add_costs(struct pack_tasks *p, const struct nesting *nest)
{
	const struct cost *cost = &nest->cost;
	const struct cost_cpu *cpu = &nest->cpu;

	add_time(p, TASKS_CPU, TASKS_CPU_HIGH, cpu->user_us < 0 ? 0 :
		 1 + sat_add(cpu->user_us, cpu->system_us > 0 ? cpu->system_us : 0));
	add_time(p, TASKS_SYSTEM, TASKS_SYSTEM_HIGH, 1 + cpu->system_us);
	pack_column_add(&p->column[TASKS_MEMORY],
			pack_size(is_bound(cost) ? cost->memory_at_most_kb : cost->memory_kb));
	pack_column_add(&p->column[TASKS_READ], pack_size(cost->read_bytes / 1024));
	pack_column_add(&p->column[TASKS_WRITTEN], pack_size(cost->written_bytes / 1024));
}

static void add_name(struct walk *w, const struct task *t)
{
	struct pack_tasks *p = w->p;
	const struct recording *rec = p->chart->sum->rec;
	const char *name = name_relative(rec, t->name);

	if (!*name && w->n_unnamed++ < UNNAMED_MAX)
		name = recording_command(rec, t);
	pack_column_add(&p->column[TASKS_NAME], pack_dictionary_add(&p->names, *name ? name : "?"));
}

/* Most are like the one before; equal ones have the same pointer. */
static void add_program(struct walk *w, const struct task *t)
{
	struct pack_tasks *p = w->p;
	uint32_t code = w->program_code;

	if (t->program != w->program) {
		code = pack_dictionary_add(&p->programs, t->program);
		w->program = t->program;
		w->program_code = code ? code : (uint32_t)p->programs.n;
	}
	pack_column_add(&p->column[TASKS_PROGRAM], code);
}

/* Tasks of an instance ran in one place, except those of bitbake: their key is the place. */
static uint32_t place_of(struct walk *w, const struct task *t)
{
	const struct recording *rec = w->p->chart->sum->rec;
	uint32_t place = *t->key ? 0 : w->place[t->instance];

	if (place)
		return place;
	place = pack_dictionary_add(&w->p->places, name_place(rec, t));
	place = place ? place : (uint32_t)w->p->places.n;
	if (!*t->key)
		w->place[t->instance] = place;
	return place;
}

static void add_place(struct walk *w, const struct task *t, uint32_t parent,
		      const struct lane_state *l, struct lane_state *now)
{
	struct pack_tasks *p = w->p;

	now->place = place_of(w, t);
	now->parent = parent == NO_INDEX ? NO_INDEX : p->position[parent];
	pack_column_add(&p->column[TASKS_PLACE], now->place == l->place ? 0 : now->place);
	pack_column_add(&p->column[TASKS_PARENT], now->parent == l->parent ? 0 :
		   now->parent == NO_INDEX ? 1 : now->parent + 2);
}

/* What it waited for: most often the task it runs in, or the one before it in its lane. */
static void add_wait(struct pack_tasks *p, uint32_t i, uint32_t task, const struct lane_state *l)
{
	uint32_t before = p->chart->chain.waits.task[task].before;
	uint32_t parent = p->chart->sum->nest[task].parent;
	uint32_t at = before == NO_INDEX ? NO_INDEX : p->position[before];
	uint32_t how = at == NO_INDEX ? 0 : before == parent ? 1 : at == l->task ? 2 : 3;

	pack_column_add(&p->column[TASKS_WAIT], (uint32_t)p->chart->chain.waits.task[task].why | how << 4);
	if (how == 3)
		pack_column_adds(&p->column[TASKS_BEFORE], (int32_t)(i - at));
}

/* True: the other build has the task. */
static bool add_ghost(struct pack_tasks *p, uint32_t task, int32_t start, int32_t wall)
{
	const struct chart *c = p->chart;
	uint32_t other = c->ghost ? c->other->same[task] : NO_INDEX;
	const struct task *t;
	int32_t other_start, other_end;

	if (other == NO_INDEX)
		return false;
	t = &c->ghost->rec->task[other];
	if (!task_ran(t))
		return false;
	other_start = to_unit(p->per_us, t->start_us);
	other_end = to_unit(p->per_us, recording_task_end_us(c->ghost->rec, t));
	pack_column_adds(&p->column[TASKS_GHOST_START], other_start - start);
	pack_column_adds(&p->column[TASKS_GHOST_WALL], other_end - other_start - wall);
	return true;
}

/* How long it could have run before it did: as exact times, these would be the largest column. */
static void add_ready(struct pack_tasks *p, uint32_t task, int32_t start)
{
	int64_t ready_us = p->chart->chain.waits.task[task].ready_us;
	int32_t ready = ready_us < 0 ? 0 : to_unit(p->per_us, ready_us);
	uint32_t size = pack_log(&p->logs, ready < start ? start - ready : 0);

	pack_column_add(&p->column[TASKS_READY],
			ready_us < 0 ? 0 : 1 + (size + READY_STEP / 2) / READY_STEP);
}

static void add_id(struct pack_tasks *p, const struct task *t)
{
	pack_column_add(&p->column[TASKS_INSTANCE], t->instance);
	pack_column_adds(&p->column[TASKS_SEQ], (int32_t)t->seq);
}

static void add_task(struct walk *w, uint32_t i)
{
	struct pack_tasks *p = w->p;
	const struct summary *s = p->chart->sum;
	uint32_t task = s->order[i];
	const struct task *t = &s->rec->task[task];
	uint32_t lane = p->chart->lanes.lane[i];
	struct lane_state *l = &w->lane[lane];
	int64_t end_us = recording_task_end_us(s->rec, t);
	int32_t start = to_unit(p->per_us, t->start_us), end = to_unit(p->per_us, end_us);
	struct lane_state now = { .task = i, .end = end };
	uint32_t m = marks(p, i, t, &s->nest[task]);

	if (add_ghost(p, task, start, end - start))
		m |= MARK_GHOST;
	pack_column_adds(&p->column[TASKS_START], start - l->end);
	pack_column_add(&p->column[TASKS_WALL], (uint32_t)(end - start));
	p->wall[i] = end - start;
	pack_column_add(&p->column[TASKS_LANE], lane);
	pack_column_add(&p->column[TASKS_KIND], p->chart->works.of[i]);
	pack_column_add(&p->column[TASKS_MARKS], m);
	if (task_has_failed(t))
		pack_column_adds(&p->column[TASKS_STATUS], t->status);
	add_costs(p, &s->nest[task]);
	pack_column_add(&p->column[TASKS_QUEUED],
		   t->queued_us < 0 ? 0 : (uint32_t)(start - to_unit(p->per_us, t->queued_us)));
	add_ready(p, task, start);
	add_place(w, t, s->nest[task].parent, l, &now);
	add_name(w, t);
	add_program(w, t);
	add_wait(p, i, task, l);
	if (p->chart->served)
		add_id(p, t);
	*l = now;
}

static int add_tasks(struct pack_tasks *p)
{
	const struct chart *c = p->chart;
	struct walk w = {
		.p = p,
		.lane = malloc((c->lanes.n_lanes + 1) * sizeof *w.lane),
		.place = calloc(c->sum->rec->n_instances + 1, sizeof *w.place),
	};
	int r = w.lane && w.place ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < c->lanes.n_lanes; i++)
		w.lane[i] = (struct lane_state){ .task = NO_INDEX, .parent = NO_INDEX };
	for (uint32_t i = 0; !r && i < c->sum->n_ran; i++)
		add_task(&w, i);
	free_all(w.lane, w.place);
	return r;
}

/* What only the longest tasks have */

/* CPU over time; a level that does not change is one. */
static int add_pulse(struct pack_tasks *p, struct pulse_source *pulses, uint32_t i)
{
	uint8_t level[PULSE_MOST];
	size_t n;
	bool flat = true;
	int r = pulse_fill(level, &n, PULSE_MOST, pulses, p->chart->sum->order[i]);

	if (r || !n || p->column[TASKS_PULSE].n + n > PULSES_MAX)
		return r;
	for (size_t k = 1; k < n; k++)
		flat &= level[k] == level[0];
	n = flat ? 1 : n;
	pack_column_add(&p->column[TASKS_PULSE_TASK], i);
	pack_column_add(&p->column[TASKS_PULSE_LENGTH], (uint32_t)n);
	for (size_t k = 0; k < n; k++)
		pack_column_add(&p->column[TASKS_PULSE], level[k]);
	return 0;
}

static bool longer(const void *ctx, uint32_t a, uint32_t b)
{
	const int32_t *wall = ctx;

	return wall[a] != wall[b] ? wall[a] > wall[b] : a < b;
}

static int add_longest(struct pack_tasks *p)
{
	const struct summary *s = p->chart->sum;
	size_t n = s->n_ran;
	uint32_t *longest = malloc((n + 1) * sizeof *longest);
	struct pulse_source pulses;
	int r = pulse_init(&pulses, s);

	if (!longest || r) {
		free(longest);
		pulse_release(&pulses);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		longest[i] = i;
	n = sort_top(longest, n, SPARKS_MAX, longer, p->wall);
	for (size_t i = 0; !r && i < n; i++) {
		const struct task *t = &s->rec->task[s->order[longest[i]]];
		const char *command = i < COMMANDS_MAX ? recording_command(s->rec, t) : "";
		uint8_t level[SPARK_MOST];
		size_t length = s->rec->n_usage ? spark_fill(level, SPARK_MOST, s->rec, t) : 0;

		if (*command) {
			pack_column_add(&p->column[TASKS_COMMAND_TASK], longest[i]);
			pack_text(&p->commands, command, p->commands.len < COMMANDS_WHOLE ?
				  COMMAND_MAX : COMMAND_SHORT);
		}
		r = add_pulse(p, &pulses, longest[i]);
		if (!length)
			continue;
		pack_column_add(&p->column[TASKS_SPARK_TASK], longest[i]);
		pack_column_add(&p->column[TASKS_SPARK_LENGTH], (uint32_t)length);
		for (size_t k = 0; k < length; k++)
			pack_column_add(&p->column[TASKS_SPARK], level[k]);
	}
	r = r ? r : pack_detail_waits(p, longest, n);
	free(longest);
	pulse_release(&pulses);
	return r;
}

static int64_t phase_end_us(const struct pack_tasks *p, const struct span *s)
{
	return s->end_us < 0 ? p->chart->end_us : s->end_us;
}

static bool longer_phase(const void *ctx, uint32_t a, uint32_t b)
{
	const struct pack_tasks *p = ctx;
	const struct span *span = p->chart->sum->rec->span;
	int64_t x = phase_end_us(p, &span[a]) - span[a].begin_us;
	int64_t y = phase_end_us(p, &span[b]) - span[b].begin_us;

	return x != y ? x > y : a < b;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* In their order: all or, where every process is one, the longest. */
static int add_phases(struct pack_tasks *p)
{
	const struct recording *rec = p->chart->sum->rec;
	size_t n = rec->n_spans;
	uint32_t *phase;

	if (!n)
		return 0;
	phase = malloc(n * sizeof *phase);
	if (!phase)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		phase[i] = i;
	if (n > PHASES_MAX) {
		n = sort_top(phase, n, PHASES_MAX, longer_phase, p);
		qsort(phase, n, sizeof *phase, by_number);
	}
	for (size_t i = 0; i < n; i++) {
		const struct span *span = &rec->span[phase[i]];
		uint32_t task = span->task < rec->n_tasks ? p->position[span->task] : NO_INDEX;
		int32_t start = to_unit(p->per_us, span->begin_us);
		int32_t end = to_unit(p->per_us, phase_end_us(p, span));

		pack_column_adds(&p->column[PHASES_TASK], task == NO_INDEX ? -1 : (int32_t)task);
		pack_column_adds(&p->column[PHASES_START], start);
		pack_column_add(&p->column[PHASES_WALL], (uint32_t)(end > start ? end - start : 0));
		pack_column_add(&p->column[PHASES_NAME],
				pack_dictionary_add(&p->phases, span->name));
	}
	free(phase);
	return 0;
}

static void add_lines(struct pack_tasks *p)
{
	const struct summary *s = p->chart->sum;
	const uint64_t *lines = p->chart->lines;

	for (uint32_t i = 0; lines && i < s->n_ran; i++) {
		uint64_t n = lines[s->order[i]];

		if (!n)
			continue;
		pack_column_add(&p->column[TASKS_LINES_TASK], i);
		pack_column_add(&p->column[TASKS_LINES], n < 1 << 30 ? (uint32_t)n : 1 << 30);
	}
}

static void add_paths(struct pack_tasks *p)
{
	const struct chain *c = &p->chart->chain;

	for (size_t i = 0; i < c->n_path; i++) {
		pack_column_adds(&p->column[TASKS_PATH], (int32_t)p->position[c->path[i]]);
		pack_column_add(&p->column[TASKS_PATH_LINK], c->path_link[i]);
	}
	for (size_t i = 0; i < c->n_dependency; i++)
		pack_column_adds(&p->column[TASKS_DEPENDENCY],
				 (int32_t)p->position[c->dependency[i]]);
}

static int find_positions(struct pack_tasks *p)
{
	const struct summary *s = p->chart->sum;
	const struct chain *chain = &p->chart->chain;

	p->position = malloc((s->rec->n_tasks + 1) * sizeof *p->position);
	p->critical = calloc(s->n_ran + 1, 1);
	p->wall = malloc((s->n_ran + 1) * sizeof *p->wall);
	if (!p->position || !p->critical || !p->wall)
		return -ENOMEM;
	memset(p->position, 0xff, s->rec->n_tasks * sizeof *p->position);
	for (uint32_t i = 0; i < s->n_ran; i++)
		p->position[s->order[i]] = i;
	for (size_t i = 0; i < chain->n_path; i++) {
		if (p->position[chain->path[i]] != NO_INDEX)
			p->critical[p->position[chain->path[i]]] = 1;
	}
	return 0;
}

int pack_tasks_make(struct pack_tasks *p, const struct chart *c, int64_t unit_us)
{
	int r;

	*p = (struct pack_tasks){ .chart = c, .per_us = 1 / (double)unit_us };
	for (int i = 0; i < TASK_COLUMNS; i++)
		pack_column_init(&p->column[i], pack_task_column[i].type);
	pack_logs_init(&p->logs);
	r = find_positions(p);
	r = r ? r : add_tasks(p);
	if (r)
		return r;
	add_lines(p);
	pack_detail_log(p);
	add_paths(p);
	r = add_phases(p);
	r = r ? r : add_longest(p);
	r = r ? r : pack_detail_tools(p);
	pack_detail_results(p);
	r = r ? r : pack_other_tasks(p);
	r = r ? r : buf_error(&p->names.out);
	r = r ? r : buf_error(&p->programs.out);
	r = r ? r : buf_error(&p->phases.out);
	r = r ? r : buf_error(&p->places.out);
	r = r ? r : buf_error(&p->commands);
	r = r ? r : buf_error(&p->log);
	for (int i = 0; !r && i < TASK_COLUMNS; i++) {
		pack_column_flush(&p->column[i]);
		r = buf_error(&p->column[i].out);
	}
	return r;
}

void pack_tasks_release(struct pack_tasks *p)
{
	for (int i = 0; i < TASK_COLUMNS; i++)
		pack_column_release(&p->column[i]);
	pack_dictionary_release(&p->names);
	pack_dictionary_release(&p->places);
	pack_dictionary_release(&p->programs);
	pack_dictionary_release(&p->phases);
	buf_release(&p->commands);
	buf_release(&p->log);
	free_all(p->position, p->critical, p->wall);
}
